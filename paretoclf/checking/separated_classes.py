r"""Logistic regressions without a penalty, of separated classes: no minimum is attained, as a direction proves.

Let :math:`z_k(x)` be the scores of the classes along a direction of coefficients. Where
:math:`z_{y_i}(x_i)\ge z_k(x_i)` for all samples i and all other classes k, and one of these is strict, every step along
it lowers the sum of the losses, from wherever it starts: no coefficients are the best. Where all are strict the losses
tend to 0. R's detectseparation finds such directions by the same linear program (Konis, 2007); here each is then proved
of the given numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.checking.fitted_problems import FittedProblem
from paretoclf.common.checks import Array, Index
from paretoclf.common.linear_programs import linprog
from paretoclf.common.tolerances import CERTIFY
from paretoclf.problem.samples import Samples, dense
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.solve.judging.primal_and_dual import evaluate
from paretoclf.solve.models.model import Model

#: Digits of the entries of a direction, beside its largest: those of a vertex of the linear program are few.
DIGITS = 9

#: Features that are told.
SHOWN = 6


@dataclass(frozen=True)
class OfClasses:
    """Samples, and the class of each: a number below ``classes``; with a free intercept or without."""

    X: Samples
    which: Index
    classes: int
    intercept: bool

    @property
    def pairs(self) -> PairsOfClasses:
        """Each sample with each class that it is not of."""
        every = np.arange(self.which.size * self.classes)
        sample, other = np.divmod(every, self.classes)
        own = self.which[sample]
        kept = own != other
        return PairsOfClasses(sample[kept], own[kept], other[kept])


@dataclass(frozen=True)
class PairsOfClasses:
    """Samples, with the class of each and another one."""

    sample: Index
    own: Index
    other: Index


@dataclass(frozen=True)
class ProvedSeparation:
    """A direction that separates classes: its features where they are few, and how many samples are on a border."""

    features: tuple[int, ...]
    on_border: int

    @property
    def words(self) -> str:
        """Say why there is no minimum."""
        side = "every sample on the side of its class"
        if self.on_border:
            side = f"no sample on the side of another class, {self.on_border} of them on a border"
        several = "s" if len(self.features) > 1 else ""
        of = f" of feature{several} {', '.join(map(str, self.features))}" if self.features else ""
        return (
            f"The classes are separated: there are coefficients{of} that put {side}, and adding them to any others, "
            "again and again, lowers the losses for ever. With a finite C there is a minimum."
        )


@dataclass(frozen=True, repr=False, kw_only=True)
class WithoutMinimum(Certificate):
    """The certificate of a point of a problem without a minimum: it is not optimal at any tolerance."""

    @property
    def checks(self) -> dict[str, float]:
        """The one thing that is wrong."""
        return {"no minimum is attained": np.inf}

    def explain(self, tol: float | None = None) -> str:
        """Say in words why nothing is optimal."""
        return f"Not optimal: no minimum is attained. The value here is {self.primal_value:.10g}. {self.note}"


@dataclass(frozen=True)
class SeparatedClasses(FittedProblem):
    """A logistic regression without a penalty, of classes that are separated."""

    separation: ProvedSeparation = ProvedSeparation((), 0)

    def certificate(self, numbers: Mapping[str, Any], tol: float = CERTIFY) -> Certificate:
        """Certify that a point is not optimal, as none is; losses are at least 0."""
        value, _ = evaluate(Model.of(self.problem), numbers)
        return WithoutMinimum(
            primal_value=value,
            dual_value=0.0,
            gap=1.0,
            scale=value,
            primal={"a minimum": np.inf},
            shortfall=0.0,
            note=self.separation.words,
        )


def separation(given: OfClasses, coef: Array, b: Array) -> ProvedSeparation | None:
    """Direction that separates the classes: that of a model, or one that HiGHS finds; None where none is proved.

    Parameters
    ----------
    given : OfClasses
    coef : array of shape (classes, d)
    b : array of shape (classes,)
        Coefficients of a model; of two classes those of the second alone will do.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.checking.separated_classes import OfClasses, separation
    >>> X, none = np.array([[0.0], [1.0], [1.0], [2.0]]), (np.zeros((1, 1)), np.zeros(1))
    >>> separation(OfClasses(X, np.array([0, 0, 1, 1]), 2, True), *none)
    ProvedSeparation(features=(), on_border=2)
    >>> separation(OfClasses(X, np.array([0, 1, 1, 0]), 2, True), *none) is None
    True
    """
    if len(coef) < given.classes:
        coef, b = np.vstack([np.zeros_like(coef), coef]), np.append(0.0, b)
    found = _proved(given, coef, b)
    if found is not None:
        return found
    direction = _direction(given)
    if direction is None:
        return None
    largest = np.abs(direction).max()
    for each in (direction, np.round(direction / largest, DIGITS)):
        found = _proved(given, each[:, :-1], each[:, -1])
        if found is not None:
            return found
    return None


def _proved(given: OfClasses, coef: Array, b: Array) -> ProvedSeparation | None:
    """The separation along a direction, proved: what rounding leaves open is computed in fractions."""
    pairs = given.pairs
    scores, rounding = _rounded_scores(given.X, coef, b)
    margins = scores[pairs.sample, pairs.own] - scores[pairs.sample, pairs.other]
    known = rounding[pairs.sample, pairs.own] + rounding[pairs.sample, pairs.other]
    if (margins < -known).any():
        return None
    clear = margins > known
    moved, border = bool(clear.any()), set()
    for k in np.flatnonzero(~clear).tolist():
        sample = int(pairs.sample[k])
        own, other = (_exact_score(given.X, sample, coef[c], b[c]) for c in (pairs.own[k], pairs.other[k]))
        if own < other:
            return None
        if own == other:
            border.add(sample)
        moved |= own > other
    used = np.flatnonzero(coef.any(axis=0)).tolist()
    few = len(used) <= min(SHOWN, coef.shape[1] - 1)
    return ProvedSeparation(tuple(used) if few else (), len(border)) if moved else None


def _rounded_scores(X: Samples, coef: Array, b: Array) -> tuple[Array, Array]:
    """Scores of the classes, and bounds on their rounding."""
    scores = X @ coef.T + b
    sizes = abs(X) @ np.abs(coef).T + np.abs(b)
    share = (coef.shape[1] + 3) * np.finfo(float).eps
    return np.asarray(scores), share * np.asarray(sizes) + np.finfo(float).tiny


def _exact_score(X: Samples, sample: int, w: Array, b: float) -> Fraction:
    """The score of a sample, without rounding."""
    used = np.flatnonzero(w)
    x = np.ravel(dense(X[[sample]]))
    products = map(mul, map(Fraction, x[used].tolist()), map(Fraction, w[used].tolist()))
    return sum(products, Fraction(b))


def _direction(given: OfClasses) -> Array | None:
    """Coefficients, and intercepts in the last column, of as many samples on the side of their class as there can be.

    Those of the first class are 0, as all may be moved together.
    """
    pairs = given.pairs
    X, units = _in_units(sp.csr_array(given.X))
    constant = np.full((X.shape[0], 1), float(given.intercept))
    rows = sp.csr_array(sp.hstack([X, constant]))[pairs.sample]
    of_classes = []
    for k in range(1, given.classes):
        signs = (pairs.own == k).astype(float) - (pairs.other == k)
        of_classes.append(sp.diags_array(signs) @ rows)
    margins = sp.hstack(of_classes)
    n, size = margins.shape
    found = linprog(
        np.concatenate([np.zeros(size), -np.ones(n)]),
        A_ub=sp.hstack([-margins, sp.eye_array(n)]),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * size + [(0.0, 1.0)] * n,
        method="highs",
    )
    if found.x is None or not -found.fun > 0.5:
        return None
    direction = found.x[:size].reshape(given.classes - 1, -1) / np.append(units, 1.0)
    return np.vstack([np.zeros(direction.shape[1]), direction])


def _in_units(X: Any) -> tuple[Any, Array]:
    """Sparse samples with features of size about 1, and the units of these, powers of two."""
    largest = abs(X).max(axis=0).toarray().ravel()
    _, powers = np.frexp(largest)
    units = np.exp2(powers)
    return X @ sp.diags_array(1.0 / units), units
