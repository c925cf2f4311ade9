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

from collections.abc import Callable
from typing import Any

import numpy as np

from paretoclf.checks import Array, Mask
from paretoclf.errors import DegeneratePathError
from paretoclf.exact_sums import inner
from paretoclf.path import events, extended
from paretoclf.path.aside import loop_for
from paretoclf.path.basis import Basis
from paretoclf.path.engine import follow
from paretoclf.path.exchange import ends_at_zero
from paretoclf.path.layout import BLOCK, CARE, END, ROOM, Follower, Record, Room, make_room
from paretoclf.path.quadratic import Multipliers
from paretoclf.path.refine import refine
from paretoclf.path.regular import run
from paretoclf.path.segments import Entering, Event, Piece
from paretoclf.path.sets import LEFT, MARGIN, RIGHT
from paretoclf.tolerances import (
    END_TIE,
    EVENT_BOX,
    INFEASIBLE,
    MARGIN_NOISE,
    ROUNDING,
    SETTLED,
    SLOPE_NOISE,
    SLOPE_ZERO,
    UNREFINED,
    VALUE_ERROR,
)


class BoxQP(Basis):
    """Tracker of a parametric box QP along one line after another: a basis with the hooks of the engine."""

    def advance(self, t: float, limit: int) -> tuple[float, int, bool]:
        """Regular steps from t: where they end, how many exchanges were made, and whether the line is at its end."""
        if self._waited < min(2 ** max(self._idle - 1, 0) - 1, 31) or self._factor.hard:
            self._waited += 1
            return t, 0, False
        at, k, done, why, log = np.array([t, self.t_lo + self.ahead]), self.index.size, 0, ROOM, self.log
        while why not in (CARE, END) and done < limit:
            if why == ROOM:
                follower, room, record = self.arrays(at)
                follower = follower._replace(begin=loop_for(follower, room, record))
            why, k, more = run(follower, room, k, record, limit - done)
            done += more
            if not self._keep:
                log.count[:] = 0
            self.index, self._factor.k = follower.margin[:k].copy(), k
        if at[0] > t:  # else the solution was looked at ahead of t only
            self.t_lo = float(at[1])
        self.ahead = 0.0
        self.exchanges["regular"] += done
        # Where care is needed again and again, try the fast road less often.
        self._idle, self._waited = (self._idle + 1 if done == 0 else 0), 0
        return float(at[0]), done, why == END

    def arrays(self, at: Array) -> tuple[Follower, Room, Record]:
        """What the fast road works on, from t and its low part on, with room for more; without the address."""
        k, log = self.index.size, self.log
        self._factor.reserve(k + 32)
        log.reserve(256, 256 * (k + 32), 512)
        room = self._make_room()
        index = np.empty(self._factor.R.shape[0], dtype=np.int64)
        index[:k] = self.index
        follower = Follower(
            self.Q.rows, self._samples, self.group, self._phi, self._e, self.state, index, self._factor.R,
            self.Q.sums, self._fixed, at, self._tune, self.end_tolerance, self.line.to_zero, 0,
        )  # fmt: skip
        record = Record(log.t, log.ptr, log.eta, log.value, log.w, log.index, log.a, log.changes, log.count)
        return follower, room, record

    def _make_room(self) -> Room:
        """Working arrays of the fast road, made anew where they have become too small."""
        room, rows, block = self._room, self._factor.R.shape[0], int(self._tune[BLOCK])
        if room is None or room.first.size < rows:
            room = make_room(self.n, self.m, self.Q.sums.shape[2], self.Q.features, rows)._replace(
                block=np.empty(0) if room is None else room.block
            )
        if room.block.size < block:
            room = room._replace(block=np.empty(2 * block))
        self._room = room
        return room

    def follow(self, max_events: int | None = None, progress: Callable[[float], None] | None = None) -> int:
        """Follow the line to its end; the number of exchanges."""
        return follow(self, max_events=max_events, progress=progress)

    def quiet(self) -> bool:
        """Whether nothing happens any more on the line."""
        return self.next_event(self.settle(), 0.0, False)[1] is None

    def weights(self, t: float) -> Array:
        """Multipliers at t on the current basis, shape (n,)."""
        weights = np.where(self.state == LEFT, self.caps(t), 0.0)
        weights[self.index] = self.piece(t).value.a[0]
        return weights

    def piece(self, t: float) -> Piece:
        """Value and rate of the solution on the current basis at t, refined to full precision."""
        k, m, F = self.index.size, self.m, self.index
        phi, line_e, e = np.empty((2, 2)), np.empty((2, m)), np.empty((2, 2, m))
        extended.line_at(self._phi, t, self.t_lo, phi)
        extended.right_sides(
            self._e, t, self.t_lo, phi, self._phi_slope, self._fixed, self.Q.sums, line_e, e, self.Q.at_cap
        )
        cap = np.asarray(phi[0] @ self.line.bases)
        border = np.zeros((m, k))
        for g in range(m):
            border[g] = np.where(self.group[F] == g, self.kappa[F], 0.0)
        solved = []
        U = self._factor.solve(border)
        for slope in (False, True):
            right = np.zeros((2, k)) if slope else np.stack([self.p[F], self._p_lo[F]])
            ends = e[int(slope)]
            scale = self._rate_scale if slope else float(cap.max() + np.abs(self.c1).max())
            x, left = self._refined(slope, right, ends, U, scale)
            if not left <= 0.0 and not self._factor.hard:  # not a number is no solution either
                if not self._factor.harden(*self.Q.precise_system(F, self.kappa, self.group)):
                    raise self._refuse(t, "the margin system is indefinite: the kernel matrix is not PSD")
                U = self._factor.solve(border)
                x, left = self._refined(slope, right, ends, U, scale)
            if not left <= UNREFINED:
                raise self._refuse(t, f"the margin system is too ill-conditioned (corrections stay at {left:.1e})")
            solved.append(x)
        value, rate = solved
        (q, dq), (size, dsize) = self.Q.products(F, value, rate)
        eta, deta = self._of_each(value.eta[0]), self._of_each(rate.eta[0])
        g, dg = q + eta - self.p, dq + deta
        slopes = self.Q.slopes()
        return Piece(
            t, self.t_lo, value, rate, cap, q, dq, g, dg, 1.0 + np.abs(q),
            ROUNDING * (1.0 + np.abs(eta) + size), ROUNDING * (np.abs(deta) + dsize),
            *(slopes if slopes is not None else (None, None)),
        )  # fmt: skip

    def _of_each(self, eta: Array) -> Array:
        """``A' eta``."""
        out = np.zeros(self.n)
        grouped = self.group >= 0
        out[grouped] = self.kappa[grouped] * eta[self.group[grouped]]
        return out

    def settle(self) -> Piece:
        """Piece at the beginning of a line, with the targets of the margin set where they belong, if its sets allow it.

        What rounding left of a margin when its sample entered (see `_enter`) is too much where caps have vanished.
        """
        shifts = self._p_lo.copy()
        self._p_lo[:] = 0.0
        piece = self.piece(0.0)
        if self._violation(piece) <= SETTLED:
            return piece
        self._p_lo[:] = shifts
        return self.piece(0.0)

    def _refined(self, slope: bool, right: Array, e: Array, U: Array, scale: float) -> tuple[Multipliers, float]:
        """Solve the bordered system by refinement; also the last correction, relative, 0 where it is negligible."""
        k, m, Q = self.index.size, self.m, self.Q
        x = Multipliers(k, m)
        left = refine(
            Q.rows, self._factor.best, self.index, right, e, self.kappa, self.group,
            Q.at_cap[int(slope)], U, scale, x.a, x.eta, Q.w[int(slope)], np.empty((3, k)), np.empty((m + 2, m)),
        )  # fmt: skip
        return x, float(left)

    def next_event(self, piece: Piece, t: float, careful: bool) -> tuple[float, Any]:
        """First index to change its set."""
        worst = self._violation(piece)
        if not worst <= INFEASIBLE:
            raise self._refuse(t, f"the solution left its sets by {worst:.1e}")
        horizon = 1.0 - t
        v, r = piece.value, piece.rate
        reach = np.maximum(self._reach[self.index], 1e-300)
        noise = SLOPE_NOISE * float((np.abs(r.a[0]) * reach).max(initial=0.0)) / reach
        position, kind, dt = events.first_exit(self.index, v.a[0], r.a[0], piece.cap, self.c1, horizon, noise, careful)
        arrival = self._first_arrival(piece, dt, horizon, careful, -1 if position < 0 else int(self.index[position]))
        entering: Entering | None = None
        if arrival is not None:
            kind, (position, dt, entering) = events.TO_MARGIN, arrival
        if self.line.to_zero:
            total, speed = float(v.eta[0].sum()), float(r.eta[0].sum())
            if ends_at_zero(total, speed, min(dt, horizon)):
                dt = -total / speed if speed else 0.0
                # Where all multipliers vanish at the end of the line, this sum does.
                tie = self.end_tolerance if self.line.e_end.any() else END_TIE
                return dt if dt < horizon - tie else np.inf, None
        if kind == events.NONE or dt > horizon - self.end_tolerance:
            return np.inf, None
        if dt == 0.0:
            self.exchanges["zero"] += 1
        t_next = t + dt
        added = t_next - t
        self.t_lo += (t - (t_next - added)) + (dt - added)  # exactly what the sum was rounded by
        if kind != events.TO_MARGIN:
            self.t_lo += self._rest_of_exit(piece, int(position), kind == events.TO_CAP, float(dt), t_next)
        return float(dt), Event(int(kind), int(position), float(dt), entering)

    def _rest_of_exit(self, piece: Piece, position: int, to_cap: bool, dt: float, t_next: float) -> float:
        """What dt misses of the time to an exit, where the rounding of a multiplier would show in the margins."""
        i = int(self.index[position])
        if dt == 0.0 or np.finfo(float).eps * piece.cap[i] * self._reach[i] ** 2 < MARGIN_NOISE:
            return 0.0
        phi = np.zeros((2, 2))
        if to_cap:
            extended.line_at(self._phi, t_next, self.t_lo, phi)
        a, da = piece.value.a[:, position], piece.rate.a[:, position]
        slack = inner(np.column_stack([phi, a, da]), np.append(self.line.bases[:, i], [-1.0, -dt]))
        rest = slack / float(da[0] - (self.c1[i] if to_cap else 0.0))
        return rest if abs(rest) < dt else 0.0

    def _first_arrival(
        self, piece: Piece, before: float, horizon: float, careful: bool, leaving: int
    ) -> tuple[int, float, Entering] | None:
        """First sample to reach its margin no later than `before`, when sample `leaving` leaves it.

        A sample whose gradient does not move, or moves by no more than what "dependent" neglects, rests where it is;
        then the others are looked at again without it.
        """
        moving_caps = np.abs(self.c1[self.state == LEFT]).max(initial=0.0)
        fastest = max(float(np.abs(piece.rate.a[0]).max(initial=0.0)), float(moving_caps))
        terms = np.abs(piece.rate.a[0]) @ self._reach[self.index]
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
        """How far the recomputed solution is from its own sets, beyond rounding, in units of cap and margin."""
        cap = piece.cap[self.index]
        unit = np.where(cap > 0, cap, np.inf)
        box = np.maximum(-piece.value.a[0], piece.value.a[0] - cap) / unit
        wrong = np.where(self.state == RIGHT, -piece.g, np.where(self.state == LEFT, piece.g, np.abs(piece.g)))
        wrong = np.where(self.state <= MARGIN, wrong - piece.g_error, 0.0) / piece.g_scale
        return float(np.max([box.max(initial=0.0), wrong.max(initial=0.0)]))

    def record(self, piece: Piece, t: float, t_next: float) -> None:
        """Keep the piece over [t, t_next]."""
        if not self._keep:
            return
        v, r, log, k = piece.value, piece.rate, self.log, self.index.size
        # The solution is known at t + t_lo, and kept at the doubles t and t_next; but where multipliers move so fast
        # that this takes them out of their box, as it was at the event itself.
        first, last = -piece.t_lo, (t_next - t) - piece.t_lo
        if not self._inside(v.a[0] + first * r.a[0], t):
            first = 0.0
        if not self._inside(v.a[0] + last * r.a[0], t_next):
            last += self.t_lo
        log.reserve(1, k, 0)
        s, used = int(log.count[0]), int(log.count[1])
        log.t[:, s] = t, t_next
        log.index[used : used + k] = self.index
        for end, step in enumerate((first, last)):
            log.a[end, used : used + k] = v.a[0] + step * r.a[0]
            log.eta[s, end] = v.eta[0] + step * r.eta[0]
            if log.w.shape[2] and piece.w is not None and piece.dw is not None:
                log.w[s, end] = piece.w + step * piece.dw
        capped = self.state == LEFT
        full = np.where(capped, self.caps(t), 0.0)
        change = np.where(capped, self.caps(t_next), 0.0) - full
        full[self.index] = log.a[0, used : used + k]
        change[self.index] = log.a[1, used : used + k] - full[self.index]
        q, dq = self._products(piece, capped, full)
        q, dq = q + first * dq, (last - first) * dq
        log.value[s] = self.p @ full - 0.5 * full @ q, self.p @ change - full @ dq, -0.5 * change @ dq
        log.ptr[s + 1] = used + k
        log.count[:2] += (1, k)

    def _products(self, piece: Piece, capped: Mask, full: Array) -> tuple[Array, Array]:
        """``Q a`` and its derivative; in extended precision where rounding would show in the optimal value."""
        cap = full[capped]
        value = abs(self.p @ full - 0.5 * full @ piece.q)
        if cap @ piece.g_error[capped] <= VALUE_ERROR * value:
            return piece.q, piece.dq
        q, dq, F, L = piece.q.copy(), piece.dq.copy(), self.index, np.flatnonzero(capped)
        eta, deta = self._of_each(piece.value.eta[0]), self._of_each(piece.rate.eta[0])
        g, dg, _ = self.Q.precise(L, F, self.p, self._p_lo, self.kappa, self.group, piece.value, piece.rate)
        q[L], dq[L] = g + self.p[L] - eta[L], dg - deta[L]
        q[F], dq[F] = self.p[F] - eta[F], -deta[F]
        return q, dq

    def _inside(self, a: Array, t: float) -> bool:
        cap = self.caps(t)[self.index]
        return bool((np.minimum(a, cap - a) >= -ROUNDING * cap).all())

    def pivot(self, piece: Piece, event: Any, t: float) -> None:
        """One of the four exchanges."""
        a = piece.value.a[0] + event.dt * piece.rate.a[0]
        g = piece.g + event.dt * piece.dg
        if event.entering is not None:
            self._enter(event.position, event.entering, a, self.caps(t, self.t_lo), t)
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
        cap = self.caps(t)
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
