"""The basis of a parametric box QP: which index is where, the factor of its margin system, and the line it is on."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.checks import Array, Index
from paretoclf.path import extended
from paretoclf.path.exchange import fix_some
from paretoclf.path.factor import Factor
from paretoclf.path.layout import BASE_0, CAP_RATE, PER_STEP_CENTRE, PER_STEP_T, Room
from paretoclf.path.quadratic import FeatureForm, GramForm
from paretoclf.path.segments import Line, Log
from paretoclf.path.sets import LEFT, MARGIN, RIGHT
from paretoclf.tolerances import END_OF_LINE


class Basis:
    """A basis of a parametric box QP, the line it is on, and the log of what was found.

    Parameters
    ----------
    quadratic : GramForm or FeatureForm
    p : array of shape (n,)
        Linear term.
    kappa : array of shape (n,)
        Coefficient of each index in its equality constraint.
    group : array of shape (n,), int
        Row of A that the index belongs to, -1 for none.
    n_groups : int
    """

    def __init__(self, quadratic: GramForm | FeatureForm, p: Array, kappa: Array, group: Index, n_groups: int) -> None:
        self.Q, self.group, self.m = quadratic, group, n_groups
        self.n = p.shape[0]
        self._samples = np.zeros((6, self.n))  # as the fast road wants them
        self.p, self._p_lo, self.kappa, self.c1 = self._samples[: CAP_RATE + 1]  # _p_lo: see _enter
        self.p[:], self.kappa[:] = p, kappa
        self.state = np.full(self.n, RIGHT, dtype=np.int8)
        self.index: Index = np.empty(0, dtype=np.int64)
        self._reach = np.sqrt(quadratic.reach**2 + np.where(group >= 0, quadratic.shift, 0.0))
        self._factor = Factor()
        self._fixed = np.zeros((2, 2, n_groups))  # base, hi and lo: what those at their cap add to A a
        self.bases: Array | None = None
        self.log, self._keep = Log(self.state, n_groups, 0), False
        self._tune = np.array([16.0, 0.0, 0.0, 0.0, 0.0])
        self._room: Room | None = None
        self._idle = self._waited = 0  # attempts of the fast road in vain, and careful steps since the last
        self.exchanges = {"regular": 0, "simple": 0, "dependent": 0, "jump": 0, "zero": 0}

    # ---- the basis -------------------------------------------------------------------------------------------

    def start(self, state: Any, margin: Any, line: Line) -> None:
        """Take over a basis: states of all indices (LEFT or RIGHT outside margin), and the margin set."""
        self.state = np.array(state, dtype=np.int8)
        self.state[np.asarray(margin, dtype=np.int64)] = RIGHT
        self.bases = None
        self.set_line(line)
        self.index = np.empty(0, dtype=np.int64)
        self._factor = Factor()
        self._p_lo[:] = 0.0
        for i in margin:
            row, pivot, u = self._candidate(int(i))
            if pivot <= self._negligible(int(i), u):
                raise ValueError("the margin set to start from is dependent")
            self._append(int(i), row, pivot)

    def start_on(self, state: Any, margin: Any, line: Line) -> bool:
        """`start` with a margin set that a tracker was on, factored at once; False if that fails."""
        self.start(state, [], line)
        F = np.asarray(margin, dtype=np.int64)
        try:
            R = np.asarray(np.linalg.cholesky(self.Q.system(F, self.kappa, self.group), upper=True))
        except np.linalg.LinAlgError:
            return False
        self.state[F], self.index = MARGIN, F.copy()
        self._factor.take(R)
        return True

    def set_line(self, line: Line, end_tolerance: float = END_OF_LINE) -> None:
        """Continue from the current basis along another line that starts where the solution is."""
        self.end_tolerance = end_tolerance
        self.line = line
        self.c1[:] = line.c1
        self._samples[BASE_0:] = line.bases
        self.t_lo = self.ahead = 0.0  # low part of t; and how far ahead of it the basis is known to hold
        self._tune[PER_STEP_T : PER_STEP_CENTRE + 1] = 0.0
        self._phi, self._e = line.affine()
        self._phi_slope = self._phi[1:].copy()
        if self.bases is not line.bases:
            self.bases = line.bases
            self.Q.begin(self.bases, self.state == LEFT)
            self._fixed[:] = 0.0
            fix_some(self.bases, self._fixed, self.group, self.kappa, np.flatnonzero(self.state == LEFT), 1.0)

    @property
    def _rate_scale(self) -> float:
        """Size of the rates of the multipliers."""
        e1 = np.abs(self.line.e_end - self.line.e0).max(initial=0.0)
        return float(max(np.abs(self.c1).max(initial=0.0), e1))

    def record_from_here(self, keep: bool = True) -> None:
        """Begin a new log (or none); what was recorded before belongs to whoever took it."""
        self.log = Log(self.state, self.m, self.Q.stored_width)
        self._keep = keep

    def record_over(self) -> None:
        """Begin a new log in the memory of the last one, which nobody took."""
        if self.log.w.shape[2] == self.Q.stored_width:
            self.log.begin_again(self.state)
            self._keep = True
        else:
            self.record_from_here()

    def caps(self, t: float, t_lo: float = 0.0) -> Array:
        """Caps at ``t + t_lo``: exact at both ends, and accurate relative to caps that vanish there."""
        phi = np.empty((2, 2))
        extended.line_at(self._phi, t, t_lo, phi)
        return np.asarray(phi[0] @ self.line.bases)

    @property
    def segments(self) -> int:
        """How many segments the log holds."""
        return int(self.log.count[0])

    def snapshot(self) -> Any:
        """The basis, to come back to."""
        Q, f = self.Q, self._factor
        return (
            self.bases, self.state.copy(), self.index.copy(), f.R[: f.k, : f.k].copy(), self._p_lo.copy(),
            self._fixed.copy(), Q.sums.copy(),
        )  # fmt: skip

    def restore(self, snapshot: Any) -> None:
        """Come back to a basis; `set_line` must follow."""
        self.bases, self.state, self.index, R, self._p_lo[:], self._fixed, self.Q.sums = snapshot
        self._factor = Factor()
        self._factor.take(R)

    def _cap_changes(self, i: int, sign: float) -> None:
        """Index i joins (+1) or leaves (-1) those at their cap."""
        self.Q.cap_changes(i, sign)
        fix_some(self.line.bases, self._fixed, self.group, self.kappa, np.array([i]), sign)

    def _negligible(self, i: int, u: Array) -> float:
        """Squared pivot below which sample i, nearly ``u . F``, counts as dependent on the margin set."""
        size = self._reach[i] + np.abs(u) @ self._reach[self.index]
        return float(self.Q.pivot_noise * size**2)

    def _candidate(self, i: int) -> tuple[Array, float, Array]:
        return self.Q.new_row(self._factor, self.index, i, self.kappa, self.group)

    def _append(self, i: int, row: Array, pivot: float) -> None:
        self._factor.append(row, pivot)
        if self.state[i] == LEFT:
            self._cap_changes(i, -1.0)
        self._mark(i, MARGIN)
        self.index = np.append(self.index, i)

    def _drop(self, position: int, state: int) -> None:
        i = int(self.index[position])
        self._p_lo[i] = 0.0
        self._factor.delete(position)
        self.index = np.delete(self.index, position)
        self._mark(i, state)
        if state == LEFT:
            self._cap_changes(i, 1.0)

    def _mark(self, i: int, state: int) -> None:
        if self._keep:
            log = self.log
            log.reserve(0, 0, 1)
            log.changes[:, log.count[2]] = log.count[0], i, self.state[i], state
            log.count[2] += 1
        self.state[i] = state
