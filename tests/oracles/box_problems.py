"""Small parametric box QPs with 0, 1 and 2 equality constraints, their independent solution, and what a log says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import piqp
import scipy.sparse as sp

from paretoclf.engine.segments import Line
from paretoclf.engine.sets import LEFT
from paretoclf.engine.tracker import CoreTracker
from paretoclf.problem.operator import Features, Matrix
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import ParametricQP

FORMS = ("gram", "dense", "sparse")


@dataclass(frozen=True)
class Problem:
    """``min a'Qa/2 - p'a`` subject to ``A a = e``, ``0 <= a <= c``, with Q = diag(sign) X X' diag(sign) (+ an RBF)."""

    X: Any
    sign: Any
    p: Any
    kappa: Any
    group: Any
    rbf: bool = False

    @property
    def m(self):
        return int(self.group.max(initial=-1)) + 1

    @property
    def A(self):
        return np.array([np.where(self.group == g, self.kappa, 0.0) for g in range(self.m)]).reshape(
            self.m, self.p.size
        )

    @property
    def K(self):
        K = self.X @ self.X.T
        square = np.diag(K)
        return K if not self.rbf else np.exp(-0.5 * np.maximum(square[:, None] + square - 2 * K, 0.0))

    @property
    def Q(self):
        return self.sign[:, None] * self.K * self.sign

    def tracker(self, form):
        """A tracker of it, with a Gram or with features."""
        if form == "gram":
            quadratic: Any = Signed(Matrix(np.ascontiguousarray(self.K)), self.sign)
        else:
            quadratic = Signed(Features(sp.csr_array(self.X) if form == "sparse" else self.X), self.sign)
        return CoreTracker(ParametricQP.box(quadratic, self.p, self.A, np.ones((2, self.p.size))))

    def minimum(self, e, cap):
        """The optimal ``p'a - a'Qa/2`` by an interior-point method that knows nothing of paths."""
        unit = float(cap.max())  # multipliers of size 1
        solver = piqp.DenseSolver()
        solver.settings.eps_abs = solver.settings.eps_rel = 1e-12
        solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = 1e-13
        solver.settings.max_iter = 500
        A, b = (np.asfortranarray(self.A), e / unit) if self.m else (None, None)
        P = np.asfortranarray(unit * self.Q)
        solver.setup(P, -self.p, A, b, None, None, None, np.zeros(cap.size), cap / unit)
        status = solver.solve()
        assert status == piqp.PIQP_SOLVED, status
        return -unit * float(solver.result.info.primal_obj)

    def terms(self, a):
        """A bound on the size of the terms of the objective: their rounding remains where they cancel."""
        return float(np.abs(self.p) @ a + 0.5 * np.diag(self.Q).max() * a.sum() ** 2)

    def violation(self, e, cap, a, eta):
        """The largest violation of the optimality conditions, by hand: multipliers against caps, g against 1 + |Qa|."""
        q, unit = self.Q @ a, max(float(cap.max()), 1e-30)
        g = (q - self.p + self.A.T @ eta) / (1.0 + np.abs(q) + np.abs(self.A.T @ eta))
        up, down = a / unit, (cap - a) / unit
        worst = [
            -up, -down, np.minimum(g, up), np.minimum(-g, down), np.abs(self.A @ a - e) / (unit * cap.size),
        ]  # fmt: skip
        return float(max(x.max(initial=0.0) for x in worst))


def ray(problem, r):
    """Out of the origin along c = t r, e = t A r: everything is at its cap. State and margin set to start from.

    A group is held by its member with kappa = 1 and the largest (Q r)_i - p_i: the first to leave its cap for every
    multiplier of the group at which the others are on the right side.
    """
    push = problem.Q @ r
    holders = []
    for g in range(problem.m):
        own = np.flatnonzero((problem.group == g) & (problem.kappa > 0))
        holders.append(int(own[np.lexsort((push[own], -problem.p[own]))[-1]]))
    return np.full(r.size, LEFT), holders


def line(bases, start, stop, e0=(), e_end=()):
    """A line; rows of bases are combined with the numbers start and stop."""
    return Line(np.ascontiguousarray(bases), *(np.array(x, dtype=float) for x in (start, stop, e0, e_end)))


@dataclass(frozen=True)
class Traced:
    """A line and its log."""

    problem: Problem
    line: Line
    log: Any

    @property
    def ends(self):
        """Ends of the segments, increasing."""
        t = self.log.t
        assert t[0, 0] == 0.0
        assert t[1, -1] == 1.0
        assert (t[0] < t[1]).all()
        np.testing.assert_array_equal(t[0, 1:], t[1, :-1])
        return np.append(t[0], 1.0)

    def e(self, t):
        return (1 - t) * self.line.e0 + t * self.line.e_end

    def solution(self, t):
        """Multipliers, eta and optimal value at t, from the log."""
        log, ends = self.log, self.ends
        s = min(int(np.searchsorted(ends, t, side="right")) - 1, ends.size - 2)
        share = (t - ends[s]) / (ends[s + 1] - ends[s])
        state, cap = log.state.copy(), self.line.caps(t)
        for segment, sample, _, new in log.changes.T:
            if segment <= s:
                state[sample] = new
        a = np.where(state == LEFT, cap, 0.0)
        part = slice(log.ptr[s], log.ptr[s + 1])
        a[log.index[part]] = (1 - share) * log.a0[part] + share * log.a1[part]
        eta = (1 - share) * log.eta[s, 0] + share * log.eta[s, 1]
        return a, eta, float(log.value[s] @ share ** np.arange(3))

    def check(self, times, solve=()):
        """Optimality conditions at these t by hand, and the optimal value from an independent solver at some."""
        p = self.problem
        for t in times:
            a, eta, value = self.solution(t)
            assert p.violation(self.e(t), self.line.caps(t), a, eta) < 1e-9
            want, size = p.p @ a - 0.5 * a @ p.Q @ a, p.terms(a)
            # At the origin multipliers are 0, or what is left of a difference of numbers that are: 1e-98 was seen.
            np.testing.assert_allclose(value, want, rtol=1e-10, atol=1e-13 * size + 1e-60)
        for t in solve:
            a, _, value = self.solution(t)
            want = p.minimum(self.e(t), self.line.caps(t))
            np.testing.assert_allclose(value, want, rtol=1e-8, atol=1e-12 * p.terms(a))

    def same_values(self, other, times):
        """Whether another log of the line has the same optimal values."""
        for t in times:
            (a, _, value), (_, _, want) = self.solution(t), other.solution(t)
            np.testing.assert_allclose(value, want, rtol=1e-10, atol=1e-14 * self.problem.terms(a))


def trace(tracker, problem, to, begin=None):
    """Follow a line from where the tracker is, or from the basis `begin`, and keep what was found."""
    if begin is not None:
        tracker.start(*begin, to)
    else:
        tracker.set_line(to)
    tracker.record_from_here()
    tracker.follow()
    return Traced(problem, to, tracker.log)


def careful_steps(monkeypatch):
    """How many exchanges in twice the precision each tracker has made by the end of each of its lines, from now on."""
    found: list[int] = []
    follow = CoreTracker.follow

    def counted(self, *given):
        made = follow(self, *given)
        found.append(sum(count for kind, count in self.exchanges.items() if kind in ("simple", "dependent", "jump")))
        return made

    monkeypatch.setattr(CoreTracker, "follow", counted)
    return found
