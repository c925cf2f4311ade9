"""A plane through samples of many features, in which they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from paretoclf.common.checks import Array, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.problem.gram import Gram
from paretoclf.problem.kernels import Precomputed
from paretoclf.problem.samples import dense


@dataclass(frozen=True)
class Slice:
    """The points ``origin + a directions[0] + b directions[1]`` of the space of features.

    The directions, shape (2, d), are orthonormal, and the two axes have names; it is whole where there is nothing
    outside the plane: two features.
    """

    origin: Array
    directions: Array
    names: tuple[str, str]
    whole: bool

    @classmethod
    def through(cls, gram: Gram, features: Sequence[int] | None, names: Sequence[str] | None) -> Self:
        """Through two features of samples, the others at their mean, or by default through the leading directions."""
        X = dense(gram.X)
        d = X.shape[1]
        if d < 2 or isinstance(gram.kernel, Precomputed):
            raise InputError("a boundary is drawn over two features, and these samples have fewer, or only a kernel")
        names = gram.names if names is None else names
        if names is not None and len(names) != d:
            raise InputError(f"feature_names must have one name per feature ({d}), got {len(names)}")
        if features is None and d > 2:
            mean = X.mean(axis=0)
            directions = np.linalg.svd(X - mean, full_matrices=False)[2]
            if directions.shape[0] < 2:
                raise InputError("features must be given where there is one sample only")
            # A direction has no sign of its own: its largest entry is positive.
            largest = np.take_along_axis(directions[:2], np.abs(directions[:2]).argmax(axis=1)[:, None], axis=1)
            return cls(mean, directions[:2] * np.sign(largest), ("first direction", "second direction"), False)
        pair = _pair(range(d) if features is None else features, d)
        origin, directions = X.mean(axis=0), np.eye(d)[pair]
        origin[pair] = 0.0
        called = [f"x{j + 1}" if names is None else str(names[j]) for j in pair]
        return cls(origin, directions, (called[0], called[1]), d == 2)

    def place(self, X: Any) -> Array:
        """Coordinates of samples, shape (m, 2): of those outside the plane, where they fall on it."""
        return np.asarray((dense(X) - self.origin) @ self.directions.T)

    def samples(self, points: Array) -> Array:
        """Samples of shape (m, d) at coordinates of shape (m, 2)."""
        return np.asarray(self.origin + points @ self.directions)

    def grid(self, X: Any, size: int) -> tuple[Array, Array]:
        """Horizontal and vertical coordinates, shape (size,), over samples of shape (m, d) and a little beyond."""
        low, high = (getattr(self.place(X), side)(axis=0) for side in ("min", "max"))
        margin = np.where(high > low, 0.08 * (high - low), 1.0)
        first, second = np.linspace(low - margin, high + margin, size, axis=1)
        return first, second


def points_of(first: Array, second: Array) -> Array:
    """All points of a grid, row by row from the smallest of the second, shape (m, 2)."""
    return np.stack([each.ravel() for each in np.meshgrid(first, second)], axis=1)


def _pair(features: Any, d: int) -> list[int]:
    try:
        pair = [int(j) for j in features]
        whole = all(0 <= j < d and j == k for j, k in zip(pair, features, strict=True))
        fits = whole and len(set(pair)) == len(pair) == 2
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise InputError(f"features must be two different numbers from 0 to {d - 1}, got {what_it_is(features)}")
    return pair
