"""Reading paths and maps back from npz files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from zipfile import BadZipFile
from zlib import error as DamagedError

import numpy as np

from paretoclf.checks import Array
from paretoclf.costs import CostLine, Costs, SampleCosts
from paretoclf.errors import InputError
from paretoclf.gram import Gram
from paretoclf.kernels import kernel_from_spec
from paretoclf.path.margin_path import MarginPath
from paretoclf.path.nu_path import FixedAsymmetry, HullLine, NuPath
from paretoclf.path.pieces import Pieces
from paretoclf.path.plane import Contact, CostPlane
from paretoclf.path.quantile_path import QuantilePath
from paretoclf.path.result import Path
from paretoclf.path.storage import take_samples
from paretoclf.path.stored_regions import unpack

AnyPath = Path | QuantilePath | MarginPath | NuPath


def load_path(file: str | os.PathLike[str], kernel: Any = None) -> AnyPath:
    """Read a path written by `save` of any path.

    Parameters
    ----------
    file : path
    kernel : callable, optional
        Needed only for a path that was traced with a user's own kernel function.

    Returns
    -------
    Path, QuantilePath, MarginPath or NuPath
        Whichever was saved.

    Raises
    ------
    InputError
        If the file does not hold a path.
    """
    with _reading(file, "path"):
        stored, make_gram = _read(file)
        y, seconds = stored.pop("y"), float(stored.pop("seconds"))
        make = _take_own(stored)
        pieces = Pieces(**{"w": None, **stored})
    return make(gram=make_gram(kernel), y=y, pieces=pieces, seconds=seconds)


def load_plane(file: str | os.PathLike[str], kernel: Any = None) -> CostPlane:
    """Read a map of the cost plane written by `CostPlane.save`.

    Parameters
    ----------
    file : path
    kernel : callable, optional
        Needed only for a map that was made with a user's own kernel function.

    Raises
    ------
    InputError
        If the file does not hold a map.
    """
    with _reading(file, "map of the cost plane"):
        stored, make_gram = _read(file)
        frame = [(float(lo), float(hi)) for lo, hi in stored["rectangle"]]
        regions, ends = unpack(stored), stored["contact_ends"]
        contacts = tuple(Contact(int(i), int(j), *e) for (i, j), e in zip(stored["contacts"], ends, strict=True))
        own = {"y": stored["y"], "sample_weight": stored["sample_weight"], "seconds": float(stored["seconds"])}
    return CostPlane(
        gram=make_gram(kernel), C_plus=frame[0], C_minus=frame[1], regions=regions, contacts=contacts, **own
    )


@contextmanager
def _reading(file: str | os.PathLike[str], what: str) -> Iterator[None]:
    """InputError for whatever is wrong with a file."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{file}: no such file") from None
    except (
        KeyError, IndexError, ValueError, TypeError, AttributeError, OSError, EOFError, BadZipFile, DamagedError
    ) as error:  # fmt: skip
        raise InputError(f"{file}: not a saved {what} ({error})") from None


def _read(file: str | os.PathLike[str]) -> tuple[dict[str, Any], Callable[[Any], Gram]]:
    """What a file holds, and how the Gram is made of it, given a user's kernel function."""
    with open(file, "rb") as stream, np.load(stream) as data:
        stored = {name: data[name] for name in data.files}
    spec = json.loads(str(stored.pop("kernel")))
    X, pivots = take_samples(stored), stored.pop("pivots", None)
    return stored, lambda kernel: Gram(X, kernel_from_spec(spec, kernel), low_rank=pivots)


def _take_own(stored: dict[str, Any]) -> Callable[..., AnyPath]:
    """What kind of path this is, with what only this kind has."""
    if "lam" in stored:
        return partial(QuantilePath, lam=float(stored.pop("lam")), bias=bool(stored.pop("bias")))
    if "slack_costs" in stored:
        costs = stored.pop("slack_costs")
        return partial(MarginPath, slack_costs=Costs(*costs) if costs.size else None)
    if "asymmetry" in stored or "hulls" in stored:
        return partial(_nu_path, stored.pop("asymmetry", None), stored.pop("hulls", None))
    ends = (
        [SampleCosts(costs) for costs in stored.pop("sample_costs")]
        if "sample_costs" in stored
        else [Costs(*costs) for costs in stored.pop("line")]
    )
    return partial(Path, line=CostLine(*ends), sample_weight=stored.pop("sample_weight"))


def _nu_path(asymmetry: Any, hulls: Any, y: Array, **others: Any) -> NuPath:
    sizes = (int(np.count_nonzero(y > 0)), int(np.count_nonzero(y < 0)))
    if asymmetry is not None:
        return NuPath(along=FixedAsymmetry(float(asymmetry), *sizes), y=y, **others)
    start, stop = ((float(a), float(b)) for a, b in hulls)
    return NuPath(along=HullLine(start, stop, *sizes), y=y, **others)
