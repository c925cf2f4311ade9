"""Leave one out of the 2nu-SVM and of the quantile SVM, whose caps are shares of the number of samples.

The problem without a sample is that of the others with the same parameters, as a user would fit it: its caps have n - 1
in place of n, so that everybody moves, not only who has a multiplier. All of it is affine on one line: the cap of the
sample goes to 0, those of the others to their shares of n - 1, and the sums of the two classes stand still. Each line
leaves from the basis of all, and each end is judged as a solution of the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask, State
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.common.progress import PathLimits
from paretoclf.common.tolerances import NU_ROUNDING
from paretoclf.engine.boxes import make_tracker
from paretoclf.engine.general import follow
from paretoclf.engine.segments import Line
from paretoclf.engine.sets import LABELS, MARGIN
from paretoclf.path.svm.nu_path import trace_nu
from paretoclf.path.svm.quantile_path import trace_quantile
from paretoclf.problem.lines import LineOfNu, LineOfTau, by_class, sides_of, sizes_of
from paretoclf.problem.nu import caps_of, nu_max, to_asymmetry
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import LOWER, ParametricQP
from paretoclf.proof.points.hinge import judge_hinge
from paretoclf.proof.points.hulls import judge_hulls
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.verdicts.certificate import Certificate


class CapShares(ABC):
    """A formulation at a point, of all samples or of some of them.

    Parameters
    ----------
    svm : TwoNuSVM or QuantileSVM
    values : mapping of str to float
        Its parameters.
    """

    def __init__(self, svm: Any, values: Mapping[str, float]) -> None:
        self.svm, self.gram, self.y = svm, svm.gram, svm.y
        svm.check_values(values)
        self.values = dict(values)

    @abstractmethod
    def problem(self, caps: Array) -> ParametricQP:
        """The dual along a line of caps (2, n), in the tracker's units."""

    @abstractmethod
    def caps(self, there: Mask) -> Array:
        """Caps of those who are there, 0 of the others; InputError where these have no solution."""

    @abstractmethod
    def unit(self, there: Mask) -> float:
        """Factor from multipliers in the tracker's units to the coefficients of scores."""

    @abstractmethod
    def basis(self, engine: str | None, max_events: int | None) -> tuple[State, Index]:
        """Sets and margin set of the solution of all."""

    @abstractmethod
    def judged(self, there: Index, alpha: Array) -> tuple[Certificate, Array]:
        """Certificate of multipliers of those who are there, and the intercept, its least and its largest value."""


class NuShares(CapShares):
    """The 2nu-SVM: hull weights, twice the multipliers over nu, of which either class has the sum 1."""

    def pair(self, there: Mask) -> tuple[float, float]:
        """``(nu, asymmetry)`` of those who are there: as given, or of the nu_plus and nu_minus that are given."""
        sizes, values = sizes_of(self.y[there]), self.values
        if "nu" in values:
            nu, asymmetry = values["nu"], values["asymmetry"]
        else:
            nu, asymmetry = to_asymmetry(values["nu_plus"], values["nu_minus"], *sizes)
        most = nu_max(asymmetry, *sizes)
        if nu > most * (1 + NU_ROUNDING):
            out = np.flatnonzero(~there).tolist()
            raise InputError(f"nu must be at most {most:.9g}, the largest that is feasible without {out}, got {nu:.9g}")
        return min(nu, most), asymmetry

    def caps(self, there: Mask) -> Array:
        """Shares of nu / 2."""
        (nu, asymmetry), n = self.pair(there), int(there.sum())
        return by_class(self.y, asymmetry, 1.0 - asymmetry) * there * (2.0 / (nu * n))

    def unit(self, there: Mask) -> float:
        """Half of nu."""
        return 0.5 * self.pair(there)[0]

    def problem(self, caps: Array) -> ParametricQP:
        """Two equations; samples in a unit in which their lengths are about 1."""
        Q = self.gram.quadratic
        form = Signed(Q.over(2.0 ** np.floor(np.log2(Q.length2))) if Q.length2 > 0.0 else Q, self.y)
        rows = sides_of(self.y)
        return ParametricQP.box(form, np.zeros(self.y.size), rows, caps, 1.0)

    def basis(self, engine: str | None, max_events: int | None) -> tuple[State, Index]:
        """Basis at the largest nu at this asymmetry."""
        nu, asymmetry = self.pair(np.ones(self.y.size, dtype=np.bool_))
        path = trace_nu(
            self.svm, (nu, None), asymmetry, engine=engine, limits=PathLimits(max_events), certify=False, progress=False
        )
        return path.basis(nu)

    def judged(self, there: Index, alpha: Array) -> tuple[Certificate, Array]:
        """InputError where w = 0: then there is no classifier."""
        mask = np.isin(np.arange(self.y.size), there)
        (nu, asymmetry), y = self.pair(mask), self.y[there]
        caps = caps_of(asymmetry, y)
        problem = SoftMargin.of(self.gram.part(there), y, caps, nu=nu)
        found = judge_hulls(problem, np.clip(0.5 * nu * alpha, 0.0, caps))
        best = found.numbers["thresholds"]
        if found.certificate.holds() and best.rho == 0.0:
            out = np.flatnonzero(~mask).tolist()
            raise InputError(f"nu must be above nu_star, or there is no classifier (w = 0), got {nu:.9g} without {out}")
        return found.certificate, np.array([best.b, *best.b_interval])


class TauShares(CapShares):
    """The quantile SVM, without an equation; multipliers over lam."""

    def caps(self, there: Mask) -> Array:
        """Shares of 2 / lam."""
        tau, lam = self.values["tau"], self.values["lam"]
        return by_class(self.y, 1.0 - tau, tau) * there * (2.0 / (int(there.sum()) * lam))

    def unit(self, there: Mask) -> float:
        """1: they are over lam."""
        return 1.0

    def problem(self, caps: Array) -> ParametricQP:
        """No equation; the bias is a feature."""
        Q = self.gram.quadratic
        form = Signed(Q.plus_constant() if self.svm.bias else Q, self.y)
        return ParametricQP.box(form, np.ones(self.y.size), np.zeros((0, self.y.size)), caps)

    def basis(self, engine: str | None, max_events: int | None) -> tuple[State, Index]:
        """Basis at tau = 1/2."""
        tau, lam = self.values["tau"], self.values["lam"]
        ends = (tau, 0.5) if tau < 0.5 else (0.5, tau) if tau > 0.5 else (0.25, 0.5)
        path = trace_quantile(
            self.svm, ends, lam, engine=engine, limits=PathLimits(max_events), certify=False, progress=False
        )
        return path.basis(tau)

    def judged(self, there: Index, alpha: Array) -> tuple[Certificate, Array]:
        """The intercept is what the multipliers imply."""
        lam, mask = self.values["lam"], np.isin(np.arange(self.y.size), there)
        caps, kind = lam * self.caps(mask)[there], "feature" if self.svm.bias else "none"
        problem = SoftMargin.of(self.gram.part(there), self.y[there], caps, lam=lam, intercept=kind)
        found = judge_hinge(problem, np.clip(lam * alpha, 0.0, caps), np.nan if self.svm.bias else 0.0)
        return found.certificate, np.full(3, found.numbers["b"])


#: By the lines that a formulation declares.
_KINDS: dict[Any, type[CapShares]] = {LineOfNu: NuShares, LineOfTau: TauShares}


def shares_of(svm: Any, values: Any) -> CapShares | None:
    """A 2nu-SVM or quantile SVM at a point; None of any other problem."""
    kind = _KINDS.get(getattr(svm, "lines", None))
    if kind is None:
        return None
    if not isinstance(values, Mapping):
        raise InputError(f"costs must be the parameters of {type(svm).__name__}, a mapping by name, got {values!r:.80}")
    return kind(svm, values)


class ShareDepartures:
    """Lines from the solution of all to those of others, and what they end at."""

    def __init__(self, shares: CapShares, engine: str | None, max_events: int | None) -> None:
        self.shares, self.engine, self.max_events = shares, engine, max_events
        self.all = np.ones(shares.y.size, dtype=np.bool_)
        self.caps = shares.caps(self.all)
        self.state, self.margin = shares.basis(engine, max_events)
        self.tracker = make_tracker(engine, shares.problem(np.stack([self.caps, self.caps])))

    def without(self, samples: Index) -> tuple[Array, Certificate]:
        """Scores of all, shape (3, n): with the intercept, the least and the largest; and their certificate."""
        there = self.all.copy()
        there[samples] = False
        bases, who = np.stack([self.caps, self.shares.caps(there)]), np.flatnonzero(there)
        for way in (self._anew,) if self.tracker is None else (self._along, self._anew):
            try:
                alpha = way(bases)
            except (DegeneratePathError, ValueError):
                continue
            certificate, b = self.shares.judged(who, alpha[who])
            if certificate.holds():
                slopes = self.shares.gram.quadratic.times(self.shares.y * alpha * self.shares.unit(there))
                return slopes + b[:, None], certificate
        raise DegeneratePathError(
            f"the solution without {samples.tolist()} is not proved",
            t=1.0,
            costs=str(self.shares.values),
            n_margin=int(self.margin.size),
            remedy="Standardise the features, or use slightly different parameters.",
        )

    def _along(self, bases: Array) -> Array:
        """Continue from the basis of all samples, by the tracker of boxes."""
        assert self.tracker is not None
        problem, sums = self.tracker, np.ones(self.tracker.m)
        line = Line(bases, np.array([1.0, 0.0]), np.array([0.0, 1.0]), sums, sums)
        if not problem.start_on(self.state, self.margin, line):
            raise DegeneratePathError("the basis of all is singular", t=0.0, costs="", n_margin=0, remedy="")
        problem.record_from_here(keep=False)
        problem.follow(self.max_events)
        return problem.weights(1.0)

    def _anew(self, bases: Array) -> Array:
        """Solve by the engine for any program, guided by the basis of all samples."""
        problem = self.shares.problem(bases)
        labels = np.append(LABELS[self._sets], np.full(problem.A.shape[0], LOWER))
        found = follow(problem, labels, self.max_events, False, self.engine)
        return np.asarray(found.path.points(slice(-1, None))[0][0])

    @property
    def _sets(self) -> State:
        sets = self.state.copy()
        sets[self.margin] = MARGIN
        return sets
