"""Points of a curve as classifiers: a path at t, within a jump of its intercept or not, with another threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.problem.classifiers import Rule
from paretoclf.roc.crossings import scores_at
from paretoclf.roc.curve import RocPoint


@dataclass(frozen=True)
class PathRule(Rule):
    """The classifier of a path at t, with a shifted intercept: ``f(x) = f_t(x) + shift``.

    Parameters
    ----------
    path : Path
        An exact path, from `paretoclf.trace`.
    t : float
        Path parameter.
    swept : float
        Share of a jump of the intercept at t that is already behind.
    shift : float
        Number added to the score; infinite where every sample gets the same label.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.roc import PathRule
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]
    >>> path = pc.trace(pc.TwoCSVM(X, y), start=(0.1, 1.9), stop=(1.9, 0.1))
    >>> (point,) = pc.roc_of_path(path, X, y, vary="both").best((3.0, 1.0))
    >>> PathRule.of(path, point).predict(X)
    array([-1.,  1.,  1.,  1.])
    """

    path: Any = field(repr=False)
    t: float
    swept: float = 1.0
    shift: float = 0.0

    @classmethod
    def of(cls, path: Any, point: RocPoint) -> PathRule:
        """Return the classifier that a point of a curve of this path is."""
        if not hasattr(path, "intercept"):
            raise InputError(
                f"path must be an exact path, got {what_it_is(path)}; of a sweep it is sweep[int(point.t)].classifier, "
                "with point.shift added to its scores"
            )
        assert point.t is not None, "a curve of a path has a t for each point"
        return cls(path, point.t, point.swept, point.shift)

    @property
    def b(self) -> float:  # type: ignore[override]
        """Intercept of the classifier, its shift included."""
        after = self.path.intercept(self.t)
        before = after
        if self.swept != 1:
            before = self.path.intercept(math.nextafter(self.t, -math.inf))
        return float((1.0 - self.swept) * before + self.swept * after + self.shift)

    @property
    def w(self) -> Array:
        """Slope in the features, shape (d,), linear kernel only."""
        return np.asarray(self.path.slope(self.t))

    def decision_function(self, X: Any) -> Array:
        """Scores f of shape (m,)."""
        scores = scores_at(self.path.scores(X), self.t, self.swept)[:, 0]
        return np.asarray(scores + self.shift)
