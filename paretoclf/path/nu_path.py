"""NuPath: the 2nu-SVM for every nu at one asymmetry, or along a line of reduced hulls, as data."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from paretoclf.checks import Array
from paretoclf.classifiers import KernelRule, NoRule, Rule, linear_or_kernel
from paretoclf.costs import Costs
from paretoclf.errors import InputError
from paretoclf.evidence import Deferred, Judged
from paretoclf.gram import Gram
from paretoclf.judges.two_nu import Graded, grade_two_nu
from paretoclf.nu import caps_of, equivalent_costs, to_asymmetry, to_classes
from paretoclf.path.pieces import OnPieces, Pieces
from paretoclf.path.scores import PathScores, settle
from paretoclf.path.sets import LEFT
from paretoclf.path.storage import write
from paretoclf.proof import Certificate, LineProof, prove_nu
from paretoclf.proof.exact import ExactBounds, exact_nu_bounds
from paretoclf.solution import Solution
from paretoclf.tolerances import WHOLE_RANK

_BLOCK = 256  # columns of multipliers expanded at a time


@dataclass(frozen=True)
class NuStar:
    r"""The largest nu whose solution is trivial, proved by a pair of points of the linear program that defines it.

    :math:`\nu_*=\max1^\top\alpha` over :math:`0\le\alpha_i\le c_i` with :math:`\sum_i\alpha_iy_ix_i=0` and
    :math:`y^\top\alpha=0`; the dual is :math:`\min_{w,b}\sum_ic_i\max(0,1-y_i(w\cdot x_i+b))`.

    Attributes
    ----------
    nu : float
        Where the path found it.
    lower : float
        Sum of multipliers that cancel: at every nu up to it w = 0.
    upper : float
        Hinge loss of `rule`: above it no such multipliers exist.
    residual : float
        ``|w|`` of the cancelling multipliers, relative to what they would reach if they did not cancel.
    rule : Rule
        With ``kind="trivial"`` the limit of the classifiers above nu, scaled to margin 1; with ``kind="separating"``
        (nu = 0) one that separates the classes.
    """

    nu: float
    lower: float
    upper: float
    residual: float
    rule: Rule = field(repr=False)

    @property
    def kind(self) -> str:
        """``"separating"`` if nu_star is 0, else ``"trivial"``."""
        return "separating" if self.nu == 0.0 else "trivial"


@dataclass(frozen=True)
class FixedAsymmetry:
    """The parameter is nu; multipliers are those of the 2nu-SVM."""

    asymmetry: float
    n_plus: int
    n_minus: int

    def classes(self, t: float) -> tuple[float, float]:
        """``(nu_plus, nu_minus)`` at t."""
        return to_classes(t, self.asymmetry, self.n_plus, self.n_minus)

    def nu(self, t: float) -> tuple[float, float]:
        """``(nu, asymmetry)`` at t."""
        return t, self.asymmetry


@dataclass(frozen=True)
class HullLine:
    """The parameter runs from 0 to 1 while 1/nu_plus and 1/nu_minus move linearly; multipliers are hull weights.

    ``start`` and ``stop`` are pairs (nu_plus, nu_minus).
    """

    start: tuple[float, float]
    stop: tuple[float, float]
    n_plus: int
    n_minus: int

    def classes(self, t: float) -> tuple[float, float]:
        """``(nu_plus, nu_minus)`` at t."""
        plus, minus = (1.0 / ((1.0 - t) / a + t / c) for a, c in zip(self.start, self.stop, strict=True))
        return plus, minus

    def nu(self, t: float) -> tuple[float, float]:
        """``(nu, asymmetry)`` at t."""
        return to_asymmetry(*self.classes(t), self.n_plus, self.n_minus)


@dataclass(frozen=True)
class NuPath(OnPieces):
    r"""Solutions of the 2nu-SVM along a line of its parameters, down to where the solution is trivial.

    Attributes
    ----------
    gram : Gram
    y : array of shape (n,)
    along : FixedAsymmetry or HullLine
        What the parameter t is: nu itself, or the position on a line in (1/nu_plus, 1/nu_minus).
    pieces : Pieces
        The stored solution. On a HullLine it is that of the reduced hulls, whose multipliers are affine in t: those of
        the 2nu-SVM times :math:`2/\nu`.
    seconds : float
        Time that tracing took, certificates excluded.

    Notes
    -----
    Multipliers and w are continuous and piecewise affine in t; b and rho are too, with jumps where
    ``nu_plus n_plus`` or ``nu_minus n_minus`` is a whole number and all values in between are optimal. On a whole range
    of such t (an edge ``nu_plus = 1``, a line with one of the two fixed) the path takes the end of the interval that
    is affine there; `at` gives the interval.

    References
    ----------
    Davenport, Baraniuk & Scott (2010), section 2, Theorem 3.
    """

    gram: Gram = field(repr=False)
    y: Array = field(repr=False)
    along: FixedAsymmetry | HullLine
    pieces: Pieces = field(repr=False)
    seconds: float = 0.0

    def __repr__(self) -> str:
        lo, hi = self.breakpoints[[0, -1]]
        what = (
            f"nu {lo:g} to {hi:g}, asymmetry={self.along.asymmetry:g}"
            if isinstance(self.along, FixedAsymmetry)
            else f"t {lo:g} to {hi:g}, (nu_plus, nu_minus) {_pair(self.along.start)} to {_pair(self.along.stop)}"
        )
        return (
            f"NuPath({what}, {self.y.size} samples, {self.breakpoints.size} breakpoints, "
            f"margin sets of up to {int(self.n_margin.max())})"
        )

    no_page = "whose margins are at distances that move with nu, not at f = 1 and f = -1"

    @property
    def parameter(self) -> str:
        """What messages call t."""
        return "nu" if isinstance(self.along, FixedAsymmetry) else "t"

    @cached_property
    def star(self) -> NuStar | None:
        """At fixed asymmetry: the largest nu whose solution is trivial; None if the path does not get that far."""
        if not isinstance(self.along, FixedAsymmetry):
            return None
        low, above = (float(t) for t in self.pieces.t[:2])
        trivial = low > 0.0 and self.rho(low) == 0.0
        if not trivial and max(nu * n for nu, n in zip(self.along.classes(low), self._sizes, strict=True)) > 1.0:
            return None
        at = 0.5 * (low + above) if trivial or low == 0.0 else low  # inside the last piece: w, b and rho go to 0 there
        coef, b = self.y * self.alpha(at), self._intercept(at)
        yf = self.y * (self.gram.matvec(coef) + b)
        unit = self.rho(at) if trivial else float(yf.min())
        alpha = self.alpha(low) if trivial else np.zeros(self.y.size)
        left = float(alpha * self.y @ self.gram.matvec(alpha * self.y))
        reach = float(alpha.sum()) * float(np.sqrt(np.max(self.gram.diagonal())))
        return NuStar(
            nu=low if trivial else 0.0,
            lower=float(alpha.sum()),
            upper=float(self.caps(low) @ np.maximum(0.0, 1.0 - yf / unit)),
            residual=float(np.sqrt(max(left, 0.0))) / reach if reach > 0.0 else 0.0,
            rule=KernelRule(self.gram, coef / unit, b / unit),
        )

    @property
    def _sizes(self) -> tuple[int, int]:
        return self.along.n_plus, self.along.n_minus

    def _unit(self, t: float) -> float:
        """What the stored multipliers are to be multiplied by."""
        return 0.5 * self.along.nu(t)[0] if isinstance(self.along, HullLine) else 1.0

    def costs(self, t: float) -> Costs | None:
        """Costs at which the 2C-SVM has the same classifier up to scale (Theorem 2); None where rho = 0."""
        rho = self.rho(t)
        return equivalent_costs(self.along.nu(t)[1], rho, self.y.size)

    def caps(self, t: float) -> Array:
        """Upper bounds of the multipliers, shape (n,)."""
        return caps_of(self.along.nu(self._inside(t))[1], self.y)

    def alpha(self, t: float) -> Array:
        """Multipliers of the 2nu-SVM at t, shape (n,), in O(n)."""
        return np.clip(self._multipliers(t), 0.0, self.caps(t))

    def _multipliers(self, t: float) -> Array:
        """Multipliers as they are stored: their sums and margins are exact, at bounds they may be off by rounding."""
        j, share = self._locate(t)
        alpha = np.where(self._state(j) == LEFT, self.caps(t), 0.0)
        index, a = self._margin(j, share)
        alpha[index] = self._unit(t) * a
        return alpha

    def _affine(self, x0: Array, x1: Array, t: float) -> float:
        j, share = self._locate(t)
        return self._unit(t) * float(share.between(x0[j], x1[j]))

    def _intercept(self, t: float) -> float:
        return self._affine(self.pieces.b0, self.pieces.b1, t)

    def rho(self, t: float) -> float:
        """The path's margin at t; where the hulls meet it is 0."""
        return max(0.0, self._affine(self.pieces.rho0, self.pieces.rho1, t))

    def slope(self, t: float) -> Array:
        """The slope w at t, shape (d,), linear kernel only."""
        if self.gram.features is None:
            raise InputError("w exists for the linear kernel only")
        if self.pieces.w is None:
            return np.asarray(self.gram.features.T @ (self.y * self.alpha(t)))
        j, share = self._locate(t)
        return np.asarray(self._unit(t) * share.between(self.pieces.w[j], self.pieces.w[j + 1]))

    def _value(self, t: float) -> float:
        """Minus half the squared norm of w."""
        return self._unit(t) ** 2 * super()._value(t)

    def at(self, t: float) -> Solution:
        """Solution at t; its certificate is computed when asked for.

        Parameters
        ----------
        t : float
            Of the range of the path: nu, or the position on the line.
        """
        t = self._inside(t)
        evidence, rho = Deferred(partial(self._judged, t)), self.rho(t)
        interval, notes = None, tuple[str, ...]()
        if self._whole(t):
            best = evidence.numbers["thresholds"]
            if not best.unique:
                interval = best.b_interval
                notes = (f"Not unique: every intercept in [{interval[0]:.6g}, {interval[1]:.6g}] is optimal.",)
        nu, asymmetry = self.along.nu(t)
        w = None if self.pieces.w is None else self.slope(t)
        rule: Rule = linear_or_kernel(self.gram, self.y * self.alpha(t), w, self._intercept(t), interval)
        if rho == 0.0:
            reason = f"trivial: w = 0 at nu = {nu:.6g}, and there is no classifier"
            rule, notes = NoRule(reason), (reason,)
        return Solution(
            classifier=rule,
            evidence=evidence,
            source="path",
            values={"nu": nu, "asymmetry": asymmetry},
            costs=self.costs(t),
            notes=notes,
        )

    def _whole(self, t: float) -> bool:
        """Whether nu_plus n_plus or nu_minus n_minus is a whole number, so that intercepts may not be unique."""
        ranks = [nu * size for nu, size in zip(self.along.classes(t), self._sizes, strict=True)]
        return any(abs(r - round(r)) <= WHOLE_RANK * size for r, size in zip(ranks, self._sizes, strict=True))

    def scores(self, X: Any) -> PathScores:
        """Scores of new samples as an exact piecewise affine function of t.

        On a HullLine they are those of the stored solution: ``2 / nu`` times the decision function of `at`.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            For a precomputed kernel their values against the training samples, shape (m, n).
        """
        P, features = self.pieces, self.gram.features
        Z = self.gram.cross(X) if features is None else self.gram.cross_features(X)
        if P.w is not None:
            knots = np.asarray(Z @ P.w.T)
        else:
            knots = np.empty((Z.shape[0], P.t.size))
            for first in range(0, P.t.size, _BLOCK):
                here = [float(t) for t in P.t[first : first + _BLOCK]]
                coef = np.stack([self.y * self._multipliers(t) / self._unit(t) for t in here], axis=1)
                knots[:, first : first + _BLOCK] = Z @ coef if features is None else Z @ (features.T @ coef)
        multipliers = np.array([self._multipliers(float(t)).sum() / self._unit(float(t)) for t in P.t])
        settle(knots, self._largest_value(Z) * multipliers)
        return PathScores(P.t, knots[:, :-1] + P.b0, knots[:, 1:] + P.b1)

    def graded(self, points: Array) -> Graded:
        """What the judge of the 2nu-SVM says of the solutions at some points."""
        pairs = [self.along.nu(float(t)) for t in points]
        nu, asymmetry = (np.array(x) for x in zip(*pairs, strict=True))
        alpha = np.stack([self._multipliers(float(t)) for t in points], axis=1)
        W = None if self.pieces.w is None else np.stack([self.slope(float(t)) for t in points], axis=1)
        own = np.array([[self._intercept(float(t)), self.rho(float(t))] for t in points]).T
        caps = asymmetry / self.y.size, (1 - asymmetry) / self.y.size
        return grade_two_nu(self.gram, self.y, nu, caps, alpha, W=W, own=(own[0], own[1]), zero=own[1] == 0.0)

    def _judged(self, t: float) -> Judged:
        return self.graded(np.array([t])).judged(0)

    def _exact_bounds(self, t: float) -> ExactBounds:
        nu, asymmetry = self.along.nu(t)
        w, b, rho = None if self.pieces.w is None else self.slope(t), self._intercept(t), self.rho(t)
        return exact_nu_bounds(
            self.y, caps_of(asymmetry, self.y), nu, self._multipliers(t), (b, rho), w=w, **self._data
        )

    @cached_property
    def proof(self) -> LineProof:
        """What is proved of every t, segment by segment. On a HullLine it is about the stored hull weights."""
        if isinstance(self.along, HullLine):  # multipliers are 2 / nu times those of the 2nu-SVM, and so are their caps
            caps = np.stack([caps_of(self.along.nu(t)[1], self.y) / self._unit(t) for t in (0.0, 1.0)])
            total = np.array([2.0, 2.0])
        else:
            caps, total = np.stack([caps_of(self.along.asymmetry, self.y)] * 2), np.array([0.0, 1.0])
        note = self.gram.note
        return prove_nu(self.pieces, self.y, caps, total, parameter=self.parameter, note=note, **self._data)

    @cached_property
    def _certificates(self) -> list[Certificate]:
        points, out = self.certificate_points, []
        for first in range(0, points.size, _BLOCK):
            graded = self.graded(points[first : first + _BLOCK])
            out += [graded.judged(j).certificate for j in range(graded.b.size)]
        return out

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the path to an npz file (to a temporary name first, then renamed); `load_path` reads it."""
        line = self.along
        own: dict[str, Any] = (
            {"asymmetry": np.array(line.asymmetry)}
            if isinstance(line, FixedAsymmetry)
            else {"hulls": np.array([line.start, line.stop])}
        )
        write(file, self.gram, self.y, self.pieces, self.seconds, own)


def _pair(pair: tuple[float, float]) -> str:
    return f"({pair[0]:g}, {pair[1]:g})"
