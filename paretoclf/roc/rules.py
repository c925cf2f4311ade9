"""Points of a curve as classifiers: a path at t, within a jump of its intercept, with another threshold; two, drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Rng, check_inside, check_rng, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.problem.classifiers import Rule
from paretoclf.roc.crossings import scores_at
from paretoclf.roc.points import RocPoint


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


@dataclass(frozen=True)
class RandomisedRule:
    """One of two classifiers, drawn anew for each sample: it attains every point between theirs in the ROC plane.

    No decision function, and better than either only where a rate is fixed, never for given costs (Bach, Heckerman
    & Horvitz 2006, section 2.2).

    Parameters
    ----------
    first, second : Rule
        The two.
    share : float
        Probability of the second, in [0, 1].

    Raises
    ------
    InputError
        If share is outside [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.results import LinearRule, RandomisedRule
    >>> rule = RandomisedRule(LinearRule([1.0], -2.0), LinearRule([1.0], 2.0), share=0.25)
    >>> float((rule.predict(np.zeros((1000, 1)), rng=0) > 0).mean())  # only the second says +1 here
    0.231
    """

    first: Rule
    second: Rule
    share: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", check_inside(self.share, "share"))

    def predict(self, X: Any, rng: Rng = 0) -> Array:
        """Labels -1 and +1 of shape (m,).

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            New samples.
        rng : int or numpy.random.Generator
            What draws; give a generator to draw anew at each call.
        """
        first, second = self.first.predict(X), self.second.predict(X)
        return np.where(check_rng(rng).random(first.size) < self.share, second, first)
