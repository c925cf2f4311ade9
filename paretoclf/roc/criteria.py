"""Criteria to be minimised: minimax, Neyman-Pearson, the Neyman-Pearson score, expected cost. Each of two error rates.

Rates are counts over sizes, and weights are fractions, so what is compared is compared in fractions: `exactly`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from numbers import Rational
from typing import Any, Protocol

import numpy as np

from paretoclf.common.checks import Array, check_nonnegative_number, check_share
from paretoclf.common.errors import InputError

#: Decimals of what has no exact value, a smoothed rate or the objective of a user: more would let rounding break ties.
DECIMALS = 12

#: Whether a classifier is not allowed, and its objective: the smaller the better.
Key = tuple[bool, Fraction]

_DENOMINATOR = 10**6


@lru_cache(maxsize=4096)
def as_fraction(x: float) -> Fraction:
    """Return the fraction (of at most 1e6 parts) that a float came of, as 0.1 + 0.2 of 3/10; else what it prints as."""
    near = Fraction(x).limit_denominator(_DENOMINATOR)
    rounded = abs(float(near) - x) <= math.ulp(x)
    return near if rounded else Fraction(repr(float(x)))


class Criterion(Protocol):
    """Interface of a criterion: the searches ask for nothing else."""

    @property
    def level(self) -> float | None:
        """False positive rate at which the objective has a kink or jumps, if there is one."""
        ...

    def __call__(self, fpr: Any, fnr: Any) -> Array:
        """Objective, the smaller the better; inf where a constraint is violated, nan where there is no classifier."""
        ...

    def score(self, fpr: Any, fnr: Any) -> Array:
        """Finite measure by which a classifier is judged, and which is minimised where no classifier is allowed."""
        ...


def exactly(criterion: Any) -> Callable[[Fraction, Fraction], Key]:
    """Return a criterion as a function of two fractions: ours in fractions, that of a user in floats, rounded."""

    def rounded(fpr: Fraction, fnr: Fraction) -> Key:
        rates = float(fpr), float(fnr)
        value = float(criterion(*rates))
        allowed = math.isfinite(value)
        if not allowed:
            value = float(criterion.score(*rates))
        return not allowed, as_fraction(round(value, DECIMALS))

    for cls in type(criterion).__mro__:  # a subclass with an objective of its own has no use for its parent's fractions
        if "exact" in vars(cls):
            return partial(_checked, criterion)
        if not vars(cls).keys().isdisjoint(("__call__", "score")):
            break
    return rounded


def _checked(criterion: Any, fpr: Fraction, fnr: Fraction) -> Key:
    """Ask the exact of a criterion, and check that it returns a pair."""
    key = criterion.exact(fpr, fnr)
    if not (isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], Rational)):
        raise InputError(
            "exact of a criterion must return whether it is not allowed, and the objective as a Fraction, "
            f"(False, Fraction(1, 3)), got {key!r}; it may be left out: then __call__ is asked"
        )
    return key


@dataclass(frozen=True)
class Minimax:
    """The larger of the two error rates; Davenport, Baraniuk & Scott (2010), equation (3).

    Examples
    --------
    >>> import paretoclf as pc
    >>> float(pc.tuning.Minimax()(0.1, 0.3))
    0.3
    """

    level = None

    def __call__(self, fpr: Any, fnr: Any) -> Array:
        """The larger rate."""
        return np.asarray(np.maximum(fpr, fnr))

    def exact(self, fpr: Fraction, fnr: Fraction) -> Key:
        """The larger of two fractions."""
        return False, max(fpr, fnr)

    def score(self, fpr: Any, fnr: Any) -> Array:
        """Evaluate the criterion at rates (alias of ``__call__``)."""
        return self(fpr, fnr)


@dataclass(frozen=True)
class NeymanPearsonScore:
    r"""The Neyman-Pearson score :math:`\frac1\alpha\max(P_F-\alpha,0)+P_M`; equation (6), Scott (2007).

    Parameters
    ----------
    alpha : float
        In (0, 1).

    Examples
    --------
    >>> import paretoclf as pc
    >>> pc.tuning.NeymanPearsonScore(0.1)([0.1, 0.2], [0.3, 0.0])
    array([0.3, 1. ])
    """

    alpha: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_share(self.alpha, "alpha"))

    @property
    def level(self) -> float:
        """False positive rate at which the score has a kink: alpha."""
        return self.alpha

    def __call__(self, fpr: Any, fnr: Any) -> Array:
        """Neyman-Pearson score of rates."""
        return self.score(fpr, fnr)

    def exact(self, fpr: Fraction, fnr: Fraction) -> Key:
        """Neyman-Pearson score of two fractions."""
        alpha = as_fraction(self.alpha)
        return False, max(fpr - alpha, Fraction(0)) / alpha + fnr

    def score(self, fpr: Any, fnr: Any) -> Array:
        """Neyman-Pearson score of rates."""
        excess = np.maximum(np.asarray(fpr) - self.alpha, 0.0)
        return np.asarray(excess / self.alpha + np.asarray(fnr))


@dataclass(frozen=True)
class NeymanPearson(NeymanPearsonScore):
    """The false negative rate where the false positive rate is at most alpha; equation (4).

    Where no classifier is allowed, and on test samples, its `score` is what counts.

    Parameters
    ----------
    alpha : float
        In (0, 1).

    Examples
    --------
    >>> import paretoclf as pc
    >>> pc.tuning.NeymanPearson(0.1)([0.1, 0.2], [0.3, 0.0])
    array([0.3, inf])
    """

    def __call__(self, fpr: Any, fnr: Any) -> Array:
        """The false negative rate, inf where the false positive rate is above alpha."""
        fpr, fnr = np.asarray(fpr, dtype=np.float64), np.asarray(fnr, dtype=np.float64)
        # Rates as they were counted, up to the rounding of a mean of them.
        forbidden = np.round(fpr, DECIMALS) > self.alpha
        return np.where(forbidden, np.inf, fnr + 0 * fpr)  # nan where fpr is

    def exact(self, fpr: Fraction, fnr: Fraction) -> Key:
        """The false negative rate, or the score of what is not allowed: 3 of 30 are not more than 0.1."""
        return (False, fnr) if float(fpr) <= self.alpha else (True, super().exact(fpr, fnr)[1])


@dataclass(frozen=True)
class ExpectedCost:
    """``prior_plus C_plus fnr + (1 - prior_plus) C_minus fpr``.

    Parameters
    ----------
    C_plus, C_minus : float
        Costs of a false negative and of a false positive where the classifier is used; nonnegative, not both 0.
    prior_plus : float
        Probability of a positive there, in (0, 1).

    Examples
    --------
    >>> import paretoclf as pc
    >>> round(float(pc.tuning.ExpectedCost(C_plus=10, C_minus=1, prior_plus=0.1)(0.2, 0.1)), 12)
    0.28
    """

    C_plus: float
    C_minus: float
    prior_plus: float
    level = None

    def __post_init__(self) -> None:
        for name in ("C_plus", "C_minus"):
            object.__setattr__(self, name, check_nonnegative_number(getattr(self, name), name))
        if self.C_plus == self.C_minus == 0:
            raise InputError("C_plus and C_minus must not both be 0")
        object.__setattr__(self, "prior_plus", check_share(self.prior_plus, "prior_plus"))

    def __call__(self, fpr: Any, fnr: Any) -> Array:
        """Expected cost of rates."""
        fpr, fnr = np.asarray(fpr), np.asarray(fnr)
        plus, minus = self.prior_plus * self.C_plus, (1 - self.prior_plus) * self.C_minus
        return np.asarray(plus * fnr + minus * fpr)

    def exact(self, fpr: Fraction, fnr: Fraction) -> Key:
        """Expected cost of two fractions."""
        prior = as_fraction(self.prior_plus)
        plus = prior * as_fraction(self.C_plus)
        minus = (1 - prior) * as_fraction(self.C_minus)
        return False, plus * fnr + minus * fpr

    def score(self, fpr: Any, fnr: Any) -> Array:
        """Evaluate the criterion at rates (alias of ``__call__``)."""
        return self(fpr, fnr)
