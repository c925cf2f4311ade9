"""A problem's numbers as fractions, for paths that rounding leaves open."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.problem.piecewise import Piecewise
from paretoclf.problem.trace import Trace

#: A diagonal pivot of P below this share of the diagonal it came from is rounding.
SEMIDEFINITE = 1e-13


def in_fractions(problem: ParametricQP) -> ParametricQP | None:
    """The problem of the same numbers as fractions; None if its P is not semidefinite up to rounding."""
    P = semidefinite(problem.P)
    if P is None:
        return None
    sides = {each: as_fractions(getattr(problem, each)) for each in ("lower", "upper", "below", "above")}
    return replace(problem, P=P, A=as_fractions(problem.A), q=as_fractions(problem.q), **sides)


def in_doubles(found: Trace, problem: ParametricQP) -> Trace:
    """The path in doubles, of the problem in doubles; segments that are shorter than doubles can tell are left out."""
    t, path = _as_doubles(found.t), found.path
    ray = None if found.ray is None else _as_doubles(found.ray)
    x, y = (_as_doubles(each) for each in path.spread())
    labels, long = path.labels(), np.diff(t) > 0
    if long.any():
        t = np.append(t[0], t[1:][long])
        x, y, labels = x[long], y[long], labels[long]
    return replace(found, path=Piecewise.of(problem, t, x, y, labels), ray=ray)


def _as_doubles(numbers: Any) -> Array:
    """Numbers of any kind as doubles."""
    return np.asarray(numbers, dtype=np.float64)


def as_fractions(numbers: Any) -> Any:
    """Numbers as fractions, exactly; infinite ones stay."""
    given = np.ravel(numbers).tolist()
    flat = [Fraction(number) if np.isfinite(number) else number for number in given]
    made = np.empty(len(flat), dtype=object)
    made[:] = flat
    return made.reshape(np.shape(numbers))


def semidefinite(P: Any) -> Any:
    """A symmetric matrix in fractions: as it is if that is semidefinite, else without what rounding made indefinite.

    A scale times a matrix of low rank is rounded entry by entry: it has errors of some ulps. An elimination with the
    largest pivots first leaves them to its end, where they are subtracted. None if it leaves more than rounding.
    """
    whole = as_fractions(P)
    if not _eliminated(whole, 0)[1].any():
        return whole
    items, left = _eliminated(whole, SEMIDEFINITE)
    scale = np.sqrt(np.abs(np.diagonal(P)[items]))
    rounding = SEMIDEFINITE * np.multiply.outer(scale, scale)
    if (abs(left).astype(np.float64) > rounding).any():
        return None
    whole[np.ix_(items, items)] -= left
    return whole


def _eliminated(P: Any, least: float) -> tuple[Index, Any]:
    """Eliminate a symmetric matrix while a pivot is more than some share of the diagonal entry that it comes from.

    Returns
    -------
    The items without a pivot, and what the elimination leaves of their rows and columns.
    """
    items, left = np.arange(P.shape[0]), P
    units = np.where(P.diagonal() > 0, P.diagonal(), 1)
    while items.size:
        shares = left.diagonal() / units[items]
        pivot = int(np.argmax(shares))
        if shares[pivot] <= least:
            break
        rest = np.arange(items.size) != pivot
        row = left[pivot, rest]
        product = np.multiply.outer(row, row) / left[pivot, pivot]
        items, left = items[rest], left[np.ix_(rest, rest)] - product
    return items, left
