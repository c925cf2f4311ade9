r"""Parametric box QP: the one problem behind every path of the package.

.. math::

   \min_a \tfrac12 a^\top Q a - p^\top a \quad\text{s.t. } A a = e_0 + t e_1,\ 0 \le a \le c_0 + t c_1,

every index in at most one row of A, with coefficient :math:`\kappa_i=\pm1`. Gradient
:math:`g = Qa - p + A^\top\eta`; optimal iff :math:`g_i\ge0` where :math:`a_i=0`, :math:`g_i\le0` where
:math:`a_i=c_i`, :math:`g_i=0` between.

The state is a *basis*: a margin set F whose bordered system is nonsingular and which has a member in every group, and
the bound at which each other index sits. On a basis the solution is affine in t. An index on its margin that does not
need to move need not be in F, and one in F may sit at its bound, so ties, intervals of :math:`\eta` and empty sets of
free indices are all ordinary bases. Four exchanges cover every event (at a fixed t they are an active-set method for
the small QP whose solution is the right derivative):

* an index reaches its margin and joins F;
* the same, but it depends on F: the solution moves along the null direction at fixed t (the objective and g do not
  change) until something reaches a bound and leaves instead, or the index runs through to its other bound;
* an index of F reaches a bound and leaves;
* the same, but it is the last of its group: :math:`\eta` jumps at fixed t until another index of the group reaches
  its margin and takes the place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.checks import Array, Index
from paretoclf.errors import DegeneratePathError
from paretoclf.path import events, extended
from paretoclf.path.events import LEFT, MARGIN, RIGHT
from paretoclf.path.factor import Factor
from paretoclf.path.quadratic import FeatureForm, GramForm, Multipliers
from paretoclf.path.segments import Entering, Event, Line, Piece, Segment
from paretoclf.tolerances import (
    END_OF_LINE,
    EVENT_BOX,
    INFEASIBLE,
    REFINED,
    ROUNDING,
    SLOPE_NOISE,
    SLOPE_ZERO,
    UNREFINED,
)


class BoxQP:
    """Tracker of a parametric box QP along one line after another; implements the hooks of the engine.

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
        self.Q, self.p, self.kappa, self.group, self.m = quadratic, p, kappa, group, n_groups
        self.n = p.shape[0]
        self.state = np.full(self.n, RIGHT, dtype=np.int8)
        self.index: Index = np.empty(0, dtype=np.int64)
        self._reach = np.sqrt(quadratic.reach**2 + np.where(group >= 0, quadratic.shift, 0.0))
        self._factor = Factor()
        self._p_lo = np.zeros(self.n)  # see _enter
        self.segments: list[Segment] = []
        self._changes: list[tuple[int, int]] = []
        self.exchanges = {"simple": 0, "dependent": 0, "jump": 0, "zero": 0}

    # ---- the basis -------------------------------------------------------------------------------------------

    def start(self, state: Any, margin: Any, line: Line) -> None:
        """Take over a basis: states of all indices (LEFT or RIGHT outside margin), and the margin set."""
        self.state = np.array(state, dtype=np.int8)
        self.state[np.asarray(margin, dtype=np.int64)] = RIGHT
        self.set_line(line)
        self.index = np.empty(0, dtype=np.int64)
        self._factor = Factor()
        for i in margin:
            row, pivot, u = self._candidate(int(i))
            if pivot <= self._negligible(int(i), u):
                raise ValueError("the margin set to start from is dependent")
            self._append(int(i), row, pivot)
        self._changes = [(int(i), int(s)) for i, s in enumerate(self.state)]

    def set_line(self, line: Line, end_tolerance: float = END_OF_LINE) -> None:
        """Continue from the current basis along another line that starts where the solution is."""
        self.end_tolerance = end_tolerance
        self.line, self.c1 = line, line.c1
        self.segments = []
        self._t_lo = 0.0
        self.Q.begin(line.c0, self.c1, self.state == LEFT)
        e1 = line.e_end - line.e0
        self._e = np.stack([line.e0, np.zeros(self.m), e1, np.zeros(self.m)])
        for i in np.flatnonzero(self.state == LEFT):
            self._balance(int(i), 1.0)
        self._changes = [(int(i), int(s)) for i, s in enumerate(self.state)]
        self.rate_scale = float(max(np.abs(self.c1).max(initial=0.0), np.abs(e1).max(initial=0.0)))

    def _cap_changes(self, i: int, sign: float) -> None:
        """Index i joins (+1) or leaves (-1) those at their cap."""
        self.Q.cap_changes(i, sign)
        self._balance(i, sign)

    def _balance(self, i: int, sign: float) -> None:
        g = self.group[i]
        if g >= 0:
            one = np.array([self.kappa[i]])
            extended.accumulate(self._e[0, g : g + 1], self._e[1, g : g + 1], -sign * self.line.c0[i], one)
            extended.accumulate(self._e[2, g : g + 1], self._e[3, g : g + 1], -sign * self.c1[i], one)

    def _negligible(self, i: int, u: Array) -> float:
        """Squared pivot below which sample i, nearly ``u . F``, counts as dependent on the margin set."""
        size = self._reach[i] + np.abs(u) @ self._reach[self.index]
        return float(self.Q.pivot_noise * size**2)

    def _candidate(self, i: int) -> tuple[Array, float, Array]:
        return self.Q.new_row(self._factor, self.index, i, self.kappa, self.group)

    def _append(self, i: int, row: Array, pivot: float) -> None:
        self._factor.append(row, pivot)
        self.Q.enter(i, self.index.size)
        if self.state[i] == LEFT:
            self._cap_changes(i, -1.0)
        self._mark(i, MARGIN)
        self.index = np.append(self.index, i)

    def _drop(self, position: int, state: int) -> None:
        i, k = int(self.index[position]), self.index.size
        self._p_lo[i] = 0.0
        self._factor.delete(position)
        self.Q.leave(position, k)
        self.index = np.delete(self.index, position)
        self._mark(i, state)
        if state == LEFT:
            self._cap_changes(i, 1.0)

    def _mark(self, i: int, state: int) -> None:
        self.state[i] = state
        self._changes.append((i, state))

    # ---- hooks of the engine ---------------------------------------------------------------------------------

    def piece(self, t: float) -> Piece:
        """Value and rate of the solution on the current basis at t, refined to full precision."""
        k, m, F = self.index.size, self.m, self.index
        self.Q.at(t, self._t_lo)
        border = np.zeros((m, k))
        for g in range(m):
            border[g] = np.where(self.group[F] == g, self.kappa[F], 0.0)
        e = np.empty((2, m))
        extended.at_t(self._e, t, self._t_lo, e)
        solved = []
        U = self._factor.solve(border)
        for slope in (False, True):
            right = (np.zeros(k), np.zeros(k)) if slope else (self.p[F], self._p_lo[F])
            ends = (self._e[2], self._e[3]) if slope else (e[0], e[1])
            x, left = self._refined(slope, *right, *ends, border, U)
            if left > 0.0 and not self._factor.hard:
                if not self._factor.harden(*self.Q.system(F, self.kappa, self.group)):
                    raise self._refuse(t, "the margin system is indefinite: the kernel matrix is not PSD")
                U = self._factor.solve(border)
                x, left = self._refined(slope, *right, *ends, border, U)
            if left > UNREFINED:
                raise self._refuse(t, f"the margin system is too ill-conditioned (corrections stay at {left:.1e})")
            solved.append(x)
        value, rate = solved
        (q, dq), (size, dsize) = self.Q.products(F, value, rate)
        grouped = self.group >= 0
        eta, deta = np.zeros(self.n), np.zeros(self.n)
        if m:
            eta[grouped] = (self.kappa * value.eta[self.group])[grouped]
            deta[grouped] = (self.kappa * rate.eta[self.group])[grouped]
        g, dg = q + eta - self.p, dq + deta
        slopes = self.Q.slopes()
        return Piece(
            t, self._t_lo, value, rate, self.line.caps(t, self._t_lo), q, dq, g, dg, 1.0 + np.abs(q),
            ROUNDING * (1.0 + np.abs(eta) + size), ROUNDING * (np.abs(deta) + dsize),
            *(slopes if slopes is not None else (None, None)),
        )  # fmt: skip

    def _refined(
        self, slope: bool, right: Array, right_lo: Array, e: Array, e_lo: Array, border: Array, U: Array
    ) -> tuple[Multipliers, float]:
        """Solve the bordered system by refinement; also the last correction, relative, 0 where it is negligible.

        ``U`` is the factor's solution for the rows of ``border``, shared by value and slope.
        """
        k, m, F = self.index.size, self.m, self.index
        S = border @ U.T
        x = Multipliers(k, m)
        reach = self._reach[F]
        scale = self.rate_scale if slope else float(self.line.c0.max() + self.line.c_end.max())
        floor = 1e-14 * scale * float(reach.max(initial=0.0))  # multipliers that are zero need not be refined further
        last, terms = np.inf, floor
        for count in range(12):
            r = self.Q.residual(F, slope, right, right_lo, self.kappa, self.group, x)
            re = np.empty(m)
            extended.balance_residual(F, k, self.kappa, self.group, e, e_lo, x.a, x.a_lo, re)
            y = self._factor.solve(r + self.Q.shift * (re @ border))
            deta = np.asarray(np.linalg.solve(S, border @ y - re)) if m else np.zeros(0)
            da = y - deta @ U if m else y
            size = float((np.abs(da) * reach).max(initial=0.0))
            # The first solution may be all cancellation; from then on the corrections must shrink.
            if count > 1 and size > max(0.5 * last, REFINED * terms):
                break
            x.add(da, deta)
            last = size
            terms = max(float((np.abs(x.a) * reach).max(initial=0.0)), floor)
            settled = np.abs(deta).max(initial=0.0) <= REFINED * np.abs(x.eta).max(initial=0.0)
            if size <= REFINED * terms and settled:
                return x, 0.0
        return x, last / max(terms, 1e-300)

    def next_event(self, piece: Piece, t: float, careful: bool) -> tuple[float, Any]:
        """First index to change its set."""
        worst = self._violation(piece)
        if worst > INFEASIBLE:
            raise self._refuse(t, f"the solution left its sets by {worst:.1e}")
        horizon = 1.0 - t
        v, r = piece.value, piece.rate
        noise = SLOPE_NOISE * self.rate_scale
        position, kind, dt = events.first_exit(self.index, v.a, r.a, piece.cap, self.c1, horizon, noise, careful)
        arrival = self._first_arrival(piece, dt, horizon, careful, -1 if position < 0 else int(self.index[position]))
        entering: Entering | None = None
        if arrival is not None:
            kind, (position, dt, entering) = events.TO_MARGIN, arrival
        if kind == events.NONE or dt > horizon - self.end_tolerance:
            return np.inf, None
        if dt == 0.0:
            self.exchanges["zero"] += 1
        t_next = t + dt
        self._t_lo += (t - t_next) + dt
        return float(dt), Event(int(kind), int(position), float(dt), entering)

    def _first_arrival(
        self, piece: Piece, before: float, horizon: float, careful: bool, leaving: int
    ) -> tuple[int, float, Entering] | None:
        """First sample to reach its margin no later than `before`, when sample `leaving` leaves it.

        A sample whose gradient does not move, or moves by no more than what "dependent" neglects, rests where it is;
        then the others are looked at again without it.
        """
        fastest = max(float(np.abs(piece.rate.a).max(initial=0.0)), self.rate_scale)
        terms = np.abs(piece.rate.a) @ self._reach[self.index]
        resting = np.zeros(self.n, dtype=np.bool_)
        while True:
            near = events.contenders(
                self.state, resting, piece.g, piece.dg, piece.g_error, piece.dg_error, before, horizon
            )
            if near.size == 0:
                return None
            g, dg, size = self.Q.precise(
                near, self.index, self.p, self._p_lo, self.kappa, self.group, piece.value, piece.rate
            )
            moving = np.where(self.state[near] == RIGHT, -dg, dg) > SLOPE_ZERO * (size + self._reach[near] * terms)
            resting[near[~moving]] = True
            settled, found = bool(moving.all()), None
            near, g, dg = near[moving], g[moving], dg[moving]
            while near.size:
                at, dt = events.first_arrival(self.state, near, g, dg, horizon, careful)
                if at < 0 or dt > before or (dt == before and not (careful and near[at] < leaving)):
                    break
                i = int(near[at])
                row, pivot, u = self._candidate(i)
                negligible = self._negligible(i, u)
                if pivot > negligible or abs(dg[at]) > 10 * negligible * fastest:
                    found = i, float(dt), Entering(row, pivot, u, pivot <= negligible, float(g[at] + dt * dg[at]))
                    break
                resting[i], settled = True, False
                near, g, dg = np.delete(near, at), np.delete(g, at), np.delete(dg, at)
            if settled:
                return found

    def _violation(self, piece: Piece) -> float:
        """How far the recomputed solution is from its own sets, in units of cap and margin."""
        cap = piece.cap[self.index]
        unit = np.where(cap > 0, cap, np.inf)
        box = np.maximum(-piece.value.a, piece.value.a - cap) / unit
        outside = np.where(self.state == RIGHT, -piece.g, np.where(self.state == LEFT, piece.g, 0.0)) / piece.g_scale
        on = np.abs(piece.g[self.index]) / piece.g_scale[self.index]
        return float(max(box.max(initial=0.0), outside.max(initial=0.0), on.max(initial=0.0)))

    def record(self, piece: Piece, t: float, t_next: float) -> None:
        """Keep the piece over [t, t_next]."""
        # The solution is known at t + t_lo; both ends are kept at the doubles t and t_next.
        v, r, first, last = piece.value, piece.rate, -piece.t_lo, (t_next - t) - piece.t_lo
        w0 = w1 = None
        if piece.w is not None and piece.dw is not None:
            w0, w1 = piece.w + first * piece.dw, piece.w + last * piece.dw
        a0, a1 = v.a + first * r.a, v.a + last * r.a
        capped = self.state == LEFT
        full = np.where(capped, self.line.caps(t), 0.0)
        change = np.where(capped, self.line.caps(t_next), 0.0) - full
        full[self.index], change[self.index] = a0, a1 - a0
        q, dq = piece.q + first * piece.dq, (last - first) * piece.dq
        value = (float(self.p @ full - 0.5 * full @ q), float(self.p @ change - full @ dq), float(-0.5 * change @ dq))
        self.segments.append(
            Segment(
                t, t_next, self.index, a0, a1, v.eta + first * r.eta, v.eta + last * r.eta, w0, w1, value, self._changes
            )
        )
        self._changes = []

    def pivot(self, piece: Piece, event: Any, t: float) -> None:
        """One of the four exchanges."""
        a = piece.value.a + event.dt * piece.rate.a
        g = piece.g + event.dt * piece.dg
        if event.entering is not None:
            self._enter(event.position, event.entering, a, self.line.caps(t, self._t_lo), t)
        else:
            self._exit(event.position, LEFT if event.kind == events.TO_CAP else RIGHT, g, t)

    def _enter(self, i: int, new: Entering, a: Array, cap: Array, t: float) -> None:
        # What is left of g_i (rounding of dt; for a sample that rested, what was neglected) becomes a shift of its
        # target: the solution then continues from where it is, instead of moving by g_i over the pivot.
        self._p_lo[i] += new.g
        if not new.dependent:
            self.exchanges["simple"] += 1
            self._append(i, new.row, new.pivot)
            return
        # Dependent on F: move along the null direction, i inwards from its bound.
        self.exchanges["dependent"] += 1
        inwards = 1.0 if self.state[i] == RIGHT else -1.0
        position, kind, step = events.blocking_exchange(a, cap[self.index], -inwards * new.u, EVENT_BOX, False)
        if position < 0 or step >= cap[i]:
            self._p_lo[i] = 0.0
            self._flip(i)
            return
        self._p_lo[i] += inwards * step * new.pivot
        self._drop(position, RIGHT if kind == events.TO_ZERO else LEFT)
        row, pivot, u = self._candidate(i)
        if pivot <= self._negligible(i, u):
            raise self._refuse(t, f"sample {i} still depends on the margin set after an exchange")
        self._append(i, row, pivot)

    def _flip(self, i: int) -> None:
        to = LEFT if self.state[i] == RIGHT else RIGHT
        self._mark(i, to)
        self._cap_changes(i, 1.0 if to == LEFT else -1.0)

    def _exit(self, position: int, to: int, g: Array, t: float) -> None:
        i = int(self.index[position])
        k = int(self.group[i])
        if k < 0 or np.count_nonzero(self.group[self.index] == k) > 1:
            self.exchanges["simple"] += 1
            self._drop(position, to)
            return
        # Last of its group: its multiplier eta must jump to where another member takes over.
        self.exchanges["jump"] += 1
        sign = self.kappa[i] * (1.0 if to == RIGHT else -1.0)
        successor, _ = events.blocking_jump(self.state, g, self.kappa, self.group, k, sign, i)
        if successor < 0:
            raise self._refuse(t, "no sample can balance the two classes")
        self._drop(position, to)
        row, pivot, u = self._candidate(int(successor))
        if pivot <= self._negligible(int(successor), u):
            raise self._refuse(t, f"sample {successor} depends on the other group's margin set after a jump")
        self._append(int(successor), row, pivot)

    def describe(self, t: float) -> dict[str, Any]:
        """Where the tracker is, for messages."""
        cap = self.line.caps(t)
        return {
            "costs": f"costs {cap.min():.4g} to {cap.max():.4g}",
            "n_margin": self.index.size,
            "size": self.n,
        }

    def _refuse(self, t: float, cause: str) -> DegeneratePathError:
        where = self.describe(t)
        return DegeneratePathError(
            cause, t=t, costs=where["costs"], n_margin=where["n_margin"],
            remedy="Standardise the features or use a slightly different line; no doubtful path is returned.",
        )  # fmt: skip
