"""A problem's numbers as fractions, for paths that rounding leaves open."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from paretoclf.common.checks import Index
from paretoclf.problem.parametric_qp import ParametricQP, Trace

#: A diagonal pivot of P below this share of the diagonal it came from is rounding.
SEMIDEFINITE = 1e-13


def in_fractions(problem: ParametricQP) -> ParametricQP | None:
    """The problem of the same numbers as fractions; None if its P is not semidefinite up to rounding."""
    if (P := semidefinite(problem.P)) is None:
        return None
    sides = {each: as_fractions(getattr(problem, each)) for each in ("lower", "upper", "below", "above")}
    return replace(problem, P=P, A=as_fractions(problem.A), q=as_fractions(problem.q), **sides)


def in_doubles(found: Trace) -> Trace:
    """The path in doubles; segments that are shorter than doubles can tell are left out."""
    t, v, y = (np.asarray(each, dtype=np.float64) for each in (found.t, found.values, found.multipliers))
    keep, ray = np.diff(t) > 0, None if found.ray is None else np.asarray(found.ray, dtype=np.float64)
    if keep.any():
        t, found = np.append(t[0], t[1:][keep]), replace(found, labels=found.labels[keep], ends=found.ends[keep])
    return replace(found, t=t, values=v, multipliers=y, ray=ray)


def as_fractions(numbers: Any) -> Any:
    """The same numbers as fractions; what is infinite stays."""
    flat = [Fraction(x) if np.isfinite(x) else x for x in np.ravel(numbers).tolist()]
    made = np.empty(len(flat), dtype=object)
    made[:] = flat
    return made.reshape(np.shape(numbers))


def semidefinite(P: Any) -> Any:
    """A symmetric matrix in fractions: as it is if that is semidefinite, else without what rounding made indefinite.

    A scale times a matrix of low rank is rounded entry by entry, so that it is off by some ulps. An elimination with
    the largest pivots first leaves those to its end, where they are taken off. None if what it leaves is more.
    """
    whole = as_fractions(P)
    if not _eliminated(whole, 0)[1].any():
        return whole
    items, left = _eliminated(whole, SEMIDEFINITE)
    scale = np.sqrt(np.abs(np.diagonal(P)[items]))
    if (abs(left).astype(np.float64) > SEMIDEFINITE * np.multiply.outer(scale, scale)).any():
        return None
    whole[np.ix_(items, items)] -= left
    return whole


def _eliminated(P: Any, least: float) -> tuple[Index, Any]:
    """What pivots larger than some share of the diagonal they come from leave of a matrix, and where."""
    items, left = np.arange(P.shape[0]), P
    units = np.where(P.diagonal() > 0, P.diagonal(), 1)
    while items.size and (shares := left.diagonal() / units[items])[k := int(np.argmax(shares))] > least:
        rest = np.arange(items.size) != k
        row = left[k, rest]
        items, left = items[rest], left[np.ix_(rest, rest)] - np.multiply.outer(row, row) / left[k, k]
    return items, left
