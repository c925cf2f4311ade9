"""Samples that the options name."""

from __future__ import annotations

import argparse
import csv
import io
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.datasets import Dataset, load
from paretoclf.datasets.cells import Column, ColumnsError, listed
from paretoclf.problem.samples import require_scale


def load_data(args: argparse.Namespace, recipe: Sequence[Column] = ()) -> Dataset:
    """Load the data set that the options name.

    Parameters
    ----------
    args : argparse.Namespace
    recipe : sequence of Column
        The columns of a training set, as which a table is read.

    Raises
    ------
    InputError
        If it cannot be loaded, the seed is negative, or options choose other columns than the recipe.
    """
    if args.seed < 0:
        raise InputError(f"--seed must be at least 0, got {args.seed}")
    features, drop, one_hot = (_names(given) for given in (args.features, args.drop, args.one_hot))
    if recipe:
        _agree(recipe, features, drop, one_hot)
    try:
        data = load(
            args.source, label=_label(args), positive=args.positive, data_dir=args.data_dir, n=args.n, rng=args.seed,
            features=features, drop=drop or (), separator=character(args.separator), encoding=args.encoding,
            one_hot=one_hot or (), missing=args.missing, decimal=args.decimal, thousands=args.thousands, recipe=recipe,
        )  # fmt: skip
    except ColumnsError as error:
        raise InputError(with_flags(error)) from None
    require_scale(
        data.X, f"features of {data.name}"
    )  # before they are scaled: what overflows there is no number any more
    return data


def _agree(
    recipe: Sequence[Column], features: list[str] | None, drop: list[str] | None, one_hot: list[str] | None
) -> None:
    """Refuse options that choose other columns than the training samples have."""
    names = {column.name for column in recipe}
    hot = {column.name for column in recipe if column.categories is not None}
    wrong = {
        "features": set(features or names) ^ names,
        "drop": set(drop or ()) & names,
        "one-hot": set(one_hot or hot) ^ hot,
    }
    for option, found in wrong.items():
        if found:
            raise InputError(f"--{option}: differs from training in {listed(sorted(found))}; leave the option out")


def with_flags(error: ColumnsError) -> str:
    """Message on wrong columns, with the options that read them."""
    flags = []
    for name, way in error.ways.items():
        names = io.StringIO()
        csv.writer(names, lineterminator="").writerow(way)  # a name with a comma is quoted
        value = way if isinstance(way, str) else names.getvalue()
        flags += [f"--{name.replace('_', '-')}", shlex.quote(value)]
    return f"{error.found}; ready: {' '.join(flags)}" if flags else error.found


def _names(given: str | None) -> list[str] | None:
    """Read names with a comma between two; a name with a comma is quoted."""
    return [name.strip() for name in next(csv.reader([given], skipinitialspace=True))] if given else None


def _label(args: argparse.Namespace) -> str | int | None:
    """Label column: by its name, or without a header by its number."""
    if not args.no_header:
        return args.label and str(args.label)
    if args.label is None or not args.label.isdecimal():
        raise InputError(f"--no-header: --label must be the number of a column, from 1, got {args.label}")
    return int(args.label)


def character(separator: str | None) -> str | None:
    """Return a tab for its name, which is hard to type in a shell."""
    return "\t" if separator in ("tab", "\\t") else separator


def said(data: Mapping[str, Any]) -> str:
    """Describe a data set, as of `describe`, in words."""
    sides = ", ".join(f"{data[side]['samples']} {side} ({data[side]['label']})" for side in ("positive", "negative"))
    count = "".join(
        f"; {name} numbers the samples: --drop {shlex.quote(name)} leaves it out" for name in data.get("numbering", ())
    )
    return f"{data['name']}: {data['samples']} samples, {data['features']} features, {sides}{count}"


def scaling(scaler: Any) -> dict[str, Any] | None:
    """Mean and scale of a StandardScaler, for reports; None without one."""
    return None if scaler is None else {"mean": scaler.mean_, "scale": scaler.scale_}


def describe(data: Dataset) -> dict[str, object]:
    """Sizes of a data set, for reports."""
    return {
        "name": data.name,
        "samples": data.n,
        "features": data.d,
        "positive": {"label": data.positive, "samples": data.n_plus},
        "negative": {"label": data.negative, "samples": data.n_minus},
        "numbering": _numbering(data),
    }


def _numbering(data: Dataset) -> list[str]:
    """Names of the features that hold consecutive whole numbers, each once: identifiers do, measurements hardly."""
    ordered = np.sort(data.X, axis=0)
    consecutive = (np.diff(ordered, axis=0) == 1).all(axis=0) & (ordered[0] == np.round(ordered[0]))
    return [name for name, found in zip(data.feature_names, consecutive, strict=True) if found and data.n > 2]
