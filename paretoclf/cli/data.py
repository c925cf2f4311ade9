"""From options to samples."""

from __future__ import annotations

import argparse

from paretoclf.datasets import Dataset, load
from paretoclf.errors import InputError


def load_data(args: argparse.Namespace) -> Dataset:
    """Load the data set that the options name.

    Raises
    ------
    InputError
        If it cannot be loaded, or the seed is negative.
    """
    if args.seed < 0:
        raise InputError(f"--seed must be at least 0, got {args.seed}")
    features, drop, one_hot = (
        [name.strip() for name in given.split(",")] if given else None
        for given in (args.features, args.drop, args.one_hot)
    )
    return load(
        args.source, label=_label(args), positive=args.positive, data_dir=args.data_dir, n=args.n, rng=args.seed,
        features=features, drop=drop or (), separator=_character(args.separator), encoding=args.encoding,
        one_hot=one_hot or (),
    )  # fmt: skip


def _label(args: argparse.Namespace) -> str | int | None:
    """The label column: by its name, or without a header by its number."""
    if not args.no_header:
        return args.label and str(args.label)
    if args.label is None or not args.label.isdecimal():
        raise InputError(f"--no-header: --label must be the number of a column, from 1, got {args.label}")
    return int(args.label)


def _character(separator: str | None) -> str | None:
    """Return a tab for its name, which is hard to type in a shell."""
    return "\t" if separator in ("tab", "\\t") else separator


def describe(data: Dataset) -> dict[str, object]:
    """Sizes of a data set, for reports."""
    return {
        "name": data.name,
        "samples": data.n,
        "features": data.d,
        "positive": {"label": data.positive, "samples": data.n_plus},
        "negative": {"label": data.negative, "samples": data.n_minus},
    }
