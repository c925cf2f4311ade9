"""QuantilePath: the quantile SVM for every tau, as data."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from paretoclf.checks import Array, Index
from paretoclf.classifiers import KernelRule, LinearRule, Rule
from paretoclf.costs import Costs
from paretoclf.errors import InputError
from paretoclf.evidence import Deferred, Judged
from paretoclf.gram import Gram
from paretoclf.judges.quantile import judge_quantile, judge_quantiles
from paretoclf.path.pieces import OnPieces, Pieces
from paretoclf.path.scores import PathScores
from paretoclf.path.sets import LEFT
from paretoclf.path.storage import write
from paretoclf.proof import Certificate, LineProof, prove_quantile
from paretoclf.proof.exact import ExactBounds, exact_quantile_bounds
from paretoclf.solution import Solution
from paretoclf.tolerances import VALUE_ROUNDING

_BLOCK = 256  # columns of multipliers expanded at a time
_ENTRIES = 1 << 24  # numbers in a matrix of scores held at a time

#: What `QuantilePath.at` says of the classifiers at the two ends.
END_NOTES = {
    0.0: "tau = 0: the negative samples cost nothing, so only the positive ones are fitted: not a constant label",
    1.0: "tau = 1: the positive samples cost nothing, so only the negative ones are fitted: not a constant label",
}


@dataclass(frozen=True)
class ConditionalProbability:
    """Estimates of P(y = 1 | x) for m samples.

    Attributes
    ----------
    probability : array of shape (m,)
        Length of the set of tau in [0, 1] at which the sample is labelled +1.
    crossings : int array of shape (m,)
        How often its label changes on the way. At most 1 where the label is monotone in tau; beyond that the set is not
        an interval, and its length is a convention.
    """

    probability: Array
    crossings: Index


@dataclass(frozen=True)
class QuantilePath(OnPieces):
    """The solution of the quantile SVM at every tau of an interval, for one lam.

    Attributes
    ----------
    gram : Gram
    y : array of shape (n,)
    lam : float
        Weight of the squared norm.
    bias : bool
        Whether there is a constant feature 1, whose weight b is part of the norm.
    pieces : Pieces
        The stored solution; its ``t`` is tau.
    seconds : float
        Time that tracing took, certificates excluded.

    Notes
    -----
    Multipliers, w and b are continuous and piecewise affine in tau, the optimal value is concave and piecewise
    quadratic. At the ends only one class has a cost. The other class is not fitted, and the path ends in the limit of
    the classifiers before it: w is unique, so that is the solution there, and in general no constant one.

    References
    ----------
    Yu et al., section 3 and Algorithm 1; section 6 overstates what the classifier is at the ends.
    """

    gram: Gram = field(repr=False)
    y: Array = field(repr=False)
    lam: float
    bias: bool
    pieces: Pieces = field(repr=False)
    seconds: float = 0.0

    @property
    def parameter(self) -> str:
        """What messages call t."""
        return "tau"

    def __repr__(self) -> str:
        lo, hi = self.breakpoints[[0, -1]]
        return (
            f"QuantilePath(tau {lo:g} to {hi:g}, lam={self.lam:g}, {self.y.size} samples, "
            f"{self.kinks.size} kinks, margin sets of up to {int(self.n_margin.max())})"
        )

    @property
    def kinks(self) -> Array:
        """Where a set changes, increasing: all breakpoints but those where two traced stretches meet."""
        return np.asarray(self.pieces.t[np.unique(self.pieces.changes[0])])

    def costs(self, tau: float) -> Costs:
        """Costs at which the 2C-SVM without intercept has the same solution."""
        tau, total = self._inside(tau), 2 / (self.y.size * self.lam)
        return Costs((1 - tau) * total, tau * total)

    def caps(self, tau: float) -> Array:
        """Upper bounds of the multipliers, ``2 (1 - tau) / n`` or ``2 tau / n``, shape (n,)."""
        tau = self._inside(tau)
        return np.where(self.y > 0, 2 * (1 - tau) / self.y.size, 2 * tau / self.y.size)

    def alpha(self, tau: float) -> Array:
        """Multipliers at tau, shape (n,), in O(n)."""
        return np.clip(self._multipliers(tau), 0.0, self.caps(tau))

    def _multipliers(self, tau: float) -> Array:
        """`alpha` as stored, outside its bounds by rounding: near an end they move by 1e3 and more per unit of tau.

        Certificates judge these: one multiplier clipped by 1e-13 while the others are not would show in a tiny w.
        """
        j, share = self._locate(tau)
        alpha = np.where(self._state(j) == LEFT, self.caps(tau), 0.0)
        index, a = self._margin(j, share)
        alpha[index] = a
        return alpha

    def intercept(self, tau: float) -> float:
        """Weight of the constant feature at tau; 0 where there is none."""
        tau = self._inside(tau)
        if not self.bias:
            return 0.0
        if self.pieces.w is None:
            return float(self.y @ self.alpha(tau)) / self.lam
        j, share = self._locate(tau)
        return float(share.between(self.pieces.b0[j], self.pieces.b1[j]))

    def slope(self, tau: float) -> Array:
        """The slope w at tau, shape (d,), linear kernel only."""
        if self.gram.features is None:
            raise InputError("w exists for the linear kernel only")
        if self.pieces.w is None:
            return np.asarray(self.gram.features.T @ (self.y * self.alpha(tau))) / self.lam
        j, share = self._locate(tau)
        return np.asarray(share.between(self.pieces.w[j], self.pieces.w[j + 1]))

    def rule(self, tau: float) -> Rule:
        """The classifier at tau."""
        if self.gram.linear:
            return LinearRule(self.slope(tau), self.intercept(tau), names=self.gram.names)
        return KernelRule(self.gram, self.y * self.alpha(tau) / self.lam, self.intercept(tau))

    def at(self, tau: float) -> Solution:
        """Solution at tau; its certificate is computed when asked for.

        Parameters
        ----------
        tau : float
            In the interval of the path.
        """
        tau = self._inside(tau)
        return Solution(
            classifier=self.rule(tau),
            evidence=Deferred(partial(self.judged, tau)),
            source="path",
            values={"tau": tau, "lam": self.lam},
            costs=self.costs(tau),
            notes=(END_NOTES[tau],) if tau in END_NOTES else (),
        )

    def scores(self, X: Any) -> PathScores:
        """Scores of new samples as an exact, continuous, piecewise affine function of tau.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            For a precomputed kernel their values against the training samples, shape (m, n).
        """
        P = self.pieces
        if P.w is not None:
            b = np.append(P.b0, P.b1[-1:])
            knots = np.asarray(self.gram.cross_features(X) @ P.w.T) + b
            return PathScores(P.t, knots[:, :-1], knots[:, 1:])
        features = self.gram.features
        Z = self.gram.cross(X) if features is None else self.gram.cross_features(X)
        knots = np.empty((Z.shape[0], P.t.size))
        for first in range(0, P.t.size, _BLOCK):
            coef = self.y[:, None] * self._expand(P.t[first : first + _BLOCK])[0] / self.lam
            direct = Z @ coef if features is None else Z @ (features.T @ coef)
            knots[:, first : first + _BLOCK] = direct + (coef.sum(axis=0) if self.bias else 0.0)
        return PathScores(P.t, knots[:, :-1], knots[:, 1:])

    def conditional_probability(self, X: Any) -> ConditionalProbability:
        """Estimate P(y = 1 | x) by the length of the set of tau at which x is labelled +1.

        In the population sign f_tau(x) = sign(P(y = 1 | x) - tau) is optimal (`minimiser`). On a sample, and in a class
        of functions that does not hold all, the sign need not be monotone in tau; the crossings say where it is not.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            As for `scores`.

        Raises
        ------
        InputError
            If the path does not go from tau = 0 to tau = 1.
        """
        lo, hi = self.breakpoints[[0, -1]]
        if (lo, hi) != (0.0, 1.0):
            raise InputError(f"tau must go from 0 to 1 for probabilities, got a path from {lo:g} to {hi:g}")
        new = self.gram.check_new(X)
        rows = max(1, _ENTRIES // self.breakpoints.size)
        parts = [self.scores(new[first : first + rows]).positive() for first in range(0, new.shape[0], rows)]
        probability, crossings = (np.concatenate(part) for part in zip(*parts, strict=True))
        return ConditionalProbability(probability, crossings)

    def _expand(self, points: Array) -> tuple[Array, Array]:
        """Multipliers and caps at some points, shape (n, k) each."""
        alpha = np.stack([self._multipliers(float(tau)) for tau in points], axis=1)
        return alpha, np.stack([self.caps(float(tau)) for tau in points], axis=1)

    def judged(self, tau: float) -> Judged:
        """What the judge of the quantile SVM says of the solution at tau."""
        caps, alpha = self.caps(tau), self._multipliers(tau)
        w = None if self.pieces.w is None else self.slope(tau)
        b = self.intercept(tau) if self.bias else None
        judged = judge_quantile(self.gram, self.y, caps, self.lam, alpha, w=w, b=b)
        return replace(judged, numbers={**judged.numbers, "alpha": np.clip(alpha, 0.0, caps)})

    def _exact_bounds(self, tau: float) -> ExactBounds:
        w, b = None if self.pieces.w is None else self.slope(tau), self.intercept(tau) if self.bias else None
        return exact_quantile_bounds(self.y, self.caps(tau), self._multipliers(tau), self.lam, b, w=w, **self._data)

    def _value_rounding(self) -> Array:
        """What rounding may make of the stored values: the tracker adds up costs times slacks."""
        ends = np.array([VALUE_ROUNDING * self.caps(float(tau)).sum() for tau in self.pieces.t[[0, -1]]])
        return np.full(self.pieces.t.size - 1, ends.max())

    @cached_property
    def proof(self) -> LineProof:
        """What is proved of every tau of the interval, segment by segment."""
        caps = (2 / self.y.size) * np.stack([self.y > 0, self.y < 0]).astype(np.float64)
        return prove_quantile(self.pieces, self.y, caps, self.lam, self.bias, note=self.gram.note, **self._data)

    @cached_property
    def _certificates(self) -> list[Certificate]:
        points, out = self.certificate_points, []
        for first in range(0, points.size, _BLOCK):
            here = [float(tau) for tau in points[first : first + _BLOCK]]
            alpha, caps = self._expand(np.array(here))
            W = None if self.pieces.w is None else np.stack([self.slope(tau) for tau in here], axis=1)
            b = [self.intercept(tau) for tau in here] if self.bias else None
            out += [j.certificate for j in judge_quantiles(self.gram, self.y, caps, self.lam, alpha, W=W, b=b)]
        return out

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the path to an npz file (to a temporary name first, then renamed); `load_path` reads it."""
        own = {"lam": np.array(self.lam), "bias": np.array(self.bias)}
        write(file, self.gram, self.y, self.pieces, self.seconds, own)
