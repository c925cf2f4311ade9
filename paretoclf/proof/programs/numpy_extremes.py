"""The pass of `paretoclf.proof.programs.extremes` in NumPy: where nothing is compiled, and the oracle of a test."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.engine.reduction.program import along


def extremes(
    t: Array, x: Array, z: Array, of_matrices: tuple[Any, ...], q: Array, b: Array
) -> tuple[tuple[Array, ...], tuple[Array, ...], tuple[Array, ...]]:
    """Return numbers of columns, of rows, and of points, in the order of the classes of `extremes`.

    ``of_matrices`` are Ax, which becomes the sizes of b - Ax; Px + A'z, which becomes those of Px + q + A'z; the
    columns that P has entries of, and Px / 2 of these.
    """
    slack, gradient, curved, half_P = of_matrices
    costs, bounds = along(q, t), along(b, t)
    np.subtract(bounds, slack, out=slack)
    gradient += costs
    least_slack = _least(slack)
    sizes, multipliers = np.abs(x), np.abs(z)
    for each in (slack, gradient):
        np.abs(each, out=each)
    columns = _least(sizes), _largest(gradient), _least(np.abs(costs))
    of_multipliers = _largest(multipliers), _least(multipliers), _least(z)
    rows = _largest(slack), least_slack, *of_multipliers, _least(np.abs(bounds))
    linear, quadratic = costs * x, x[curved] * half_P
    terms = (np.abs(each).max(axis=0, initial=0.0) for each in (linear, quadratic))
    points = (
        linear.sum(axis=0) + quadratic.sum(axis=0),
        np.maximum(*terms),
        (q[1] - q[0]) @ x,
        _dots(slack, multipliers) + _dots(gradient, sizes),
        _mixed(slack, multipliers) + _mixed(gradient, sizes),
        _dots(np.diff(x[curved]), np.diff(half_P)),
    )
    return columns, rows, points


def _largest(numbers: Array) -> Array:
    """The largest of each row, at least 0."""
    return np.asarray(numbers.max(axis=1, initial=0.0))


def _least(numbers: Array) -> Array:
    """The smallest of each row."""
    return np.asarray(numbers.min(axis=1, initial=np.inf))


def _dots(left: Array, right: Array) -> Array:
    """Products of columns."""
    return np.asarray(np.einsum("ij,ij->j", left, right))


def _mixed(left: Array, right: Array) -> Array:
    """Products of each column with the next one of the other."""
    return _dots(left[:, :-1], right[:, 1:]) + _dots(left[:, 1:], right[:, :-1])
