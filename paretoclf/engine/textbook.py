r"""The exact path of any `ParametricQP`: one algorithm, in doubles or, on arrays of fractions, in fractions.

With :math:`H=\begin{pmatrix}P&A^\top\\A&0\end{pmatrix}`, u = (x, -y of rows) and w = Hu + (q, 0) = (y of variables, v
of rows), every item is known in one of two ways: at an even label its multiplier, at an odd one its value. A *basis* B
holds the variables with even and the rows with odd labels: outside B u is known, in B w is, and one solution with
:math:`H_{BB}` gives the rest, affine in t. All is read from T, the *principal pivot transform* of H on B, of which the
part in B is kept. From a point on, the first item to leave its piece of the staircase moves to the next one; the basis
changes by that item, or, where the pivot :math:`T_{ii}` is 0, by it and the first that blocks the way; where nothing
blocks, the way is a *ray*: there is no optimum at any later t. In an SVM the variables are multipliers in a box: INSIDE
is its margin set, UPPER those at their cap, LOWER those at 0, and the equation of the classes is always in the basis
(docs/explanation/tracker.md).

In doubles every number has a bound on its rounding error; what is below it counts as zero, solutions are refined, and
one that leaves its sets by more is refused. Nothing found is trusted: `paretoclf.proof.programs` proves it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.errors import DegeneratePathError
from paretoclf.engine.start import Data
from paretoclf.problem.parametric_qp import ABOVE, BELOW, INSIDE, LOWER, UPPER, Trace

#: Relative changes of the data of this size cannot be told from rounding.
_ROUNDING = 1e-14
#: What happens later than this is taken to happen at the end.
_LAST = 1e-11
#: A solution that misses its sets by more than this, beyond its error bound, is refused.
_OUTSIDE = 1e-6
#: By how much items may miss their bounds so that a larger pivot can be taken (Harris).
_HARRIS = 1e-12
#: Where rounding may move a solution by more than this, relative to 1 + its size, it is solved with sharper residuals.
_SHARPEN = 1e-10
#: The most rounds of that.
_SHARPER = 8
#: Pivots smaller than this share of the column's largest entry are what refinement left of a zero.
_ZERO = 1e-17
#: What an item violates at the end by no more than this, relative to its kind, needs no repair that does not exist.
_REST = 1e-10


def rounded(terms: Any) -> Any:
    """What cannot be told from rounding of so large terms."""
    return _ROUNDING * terms


class _Blocks(NamedTuple):
    """The matrix H, by its blocks."""

    P: Any
    A: Any

    def times(self, u: Any) -> Any:
        """H u, for a vector or for rows."""
        n, P, A = self.P.shape[0], self.P, self.A
        x, r = u[..., :n], u[..., n:]
        across = A
        if u.dtype == object:  # a fraction that is 0 takes as long as any other
            if u.ndim > 1:
                return np.stack([self.times(each) for each in u])
            V, R = np.flatnonzero(x), np.flatnonzero(r)
            x, r, P, A, across = x[V], r[R], P[V], A[:, V], A[R]
        if not A.shape[0]:
            return x @ P
        return np.concatenate([x @ P + r @ across, x @ A.T], axis=-1)

    def block(self, B: Index) -> Any:
        """Rows and columns B, which increase."""
        n = self.P.shape[0]
        V, R = B[: np.searchsorted(B, n)], B[np.searchsorted(B, n) :] - n
        A = self.A[np.ix_(R, V)]
        return np.block([[self.P[np.ix_(V, V)], A.T], [A, np.zeros((R.size, R.size))]])

    def rows(self, B: Index) -> Any:
        """Some of its rows, by increasing items."""
        n = self.P.shape[0]
        V, R = B[: np.searchsorted(B, n)], B[np.searchsorted(B, n) :] - n
        return np.block([[self.P[V], self.A[:, V].T], [self.A[R], np.zeros((R.size, self.A.shape[0]))]])


def halves(x: Array) -> tuple[Array, Array]:
    """Numbers as sums of two of 26 bits, whose products are exact (Dekker 1971)."""
    large = 134217729.0 * x
    high = large - (large - x)
    return high, x - high


def _along(ends: Any, t: Any) -> Any:
    """Value at t, and rate."""
    return np.stack([(1 - t) * ends[0] + t * ends[1], ends[1] - ends[0]])


class Walk:
    """From event to event along a line, from labels that are optimal at its beginning."""

    def __init__(self, data: Data, labels: Index) -> None:
        self.data, self.labels = data, np.array(labels)
        problem = data.problem
        n, N = problem.n, self.labels.size
        self.n, self.zero = n, abs(problem.q.ravel()[:1].sum()) * 0 if n else 0.0
        self.variable, self.kind = np.arange(N) < n, problem.P.dtype
        self.H, self.size = self.blocks(problem.P, problem.A)
        self.exchanges = self.standing = 0
        self.patience = 200 + 2 * N  # steps of length zero before the lowest index goes first
        self.resting = np.zeros(N, dtype=bool)
        self.t: Any = self.zero
        self.last = 0 if data.exact else _LAST
        self.slip: Any = self.zero  # how much rounding can do to t, the time of the last event
        if not data.exact:
            self.terms = sum(abs(each).sum(axis=0) for each in (data.low, data.up, data.below, data.above))
            self.terms[:n] += abs(data.q).sum(axis=0)
        self.factor()

    def blocks(self, P: Any, A: Any) -> Any:
        """H, and its absolute values."""
        return _Blocks(P, A), _Blocks(abs(P), abs(A))

    # ---- the transform ----

    @property
    def basis(self) -> Mask:
        """Items whose multiplier (variables) or value (rows) is known."""
        return np.asarray((self.labels % 2 == 0) == self.variable)

    def factor(self) -> None:
        """T on the basis afresh: by an inverse in doubles, by pivots in fractions."""
        B = np.flatnonzero(self.basis)
        if not self.data.exact:
            return self.invert(B)
        self.members, self.K = B[:0], np.zeros((0, 0), dtype=self.kind)
        left = B.tolist()
        while left:
            columns = ((i, self.column(i)[0]) for i in left)
            first, own = next(((i, T) for i, T in columns if T[i] != 0), (left[0], None))
            if own is None:
                own = self.column(first)[0]
            pair = [first] if own[first] != 0 else [first, *[j for j in left if own[j] != 0][:1]]
            if own[pair[-1]] == 0:
                raise self.refused("the basis is singular")
            self.pivot(pair)
            left = [j for j in left if j not in pair]

    def invert(self, B: Index) -> None:
        """T on some basis, in doubles."""
        try:
            inverse = np.linalg.inv(self.H.block(B))
        except np.linalg.LinAlgError:
            raise self.refused("the basis is singular") from None
        self.members, self.K = B, (inverse + inverse.T) / 2

    def column(self, i: int) -> tuple[Any, Any]:
        """Column i of T: how u in the basis and w outside move with what is known of item i; what rounding can do."""
        B = self.members
        u, wanted = (np.full((1, self.labels.size), self.zero, dtype=self.kind) for _ in range(2))
        (wanted if i in B else u)[0, i] = 1 + self.zero
        u, errors = self.completed(u, wanted, (0.0,))
        w = self.H.times(u[0])
        w[B] = u[0, B]
        return w, errors[0]

    def completed(self, u: Any, wanted: Any, terms: tuple[Any, ...]) -> tuple[Any, Any]:
        """Complete rows u in the basis so that w is as wanted there; and what rounding can do, with the terms of h."""
        u = self.refined(u, wanted)
        if self.data.exact:
            return u, 0 * u
        if not np.isfinite(u).all():
            raise self.refused("the solution is not finite")
        errors = np.stack([self.error(each, more) for each, more in zip(u, terms, strict=True)])
        if (errors > _SHARPEN * (1 + abs(u)))[0, self.members].any():
            u, inside = self.sharpened(u, wanted)
            sharper = [self.error(*each) for each in zip(u, terms, inside, strict=True)]
            errors = np.minimum(errors, np.stack(sharper))
        return u, errors

    def refined(self, u: Any, wanted: Any) -> Any:
        """That, by a few rounds in the precision of the data."""
        B, found = self.members, u.copy()
        for _ in range(1 if self.data.exact else 3):
            found[..., B] += (wanted - self.H.times(found))[..., B].dot(self.K.T)
        return found

    def sharpened(self, u: Any, wanted: Any) -> tuple[Any, Any]:
        """The same with residuals that are rounded once, until that is all that is wrong; and errors in the basis.

        A residual, solved for, is the error as long as each round leaves a small part of it; else errors are infinite.
        """
        B, found = self.members, u.copy()
        rows, errors = self.H.rows(B), np.full((len(u), B.size), np.inf)
        high, low = halves(rows)
        for each, to, error in zip(found, wanted, errors, strict=True):
            before = np.inf
            for _ in range(_SHARPER):
                terms, (a, b) = rows * each, halves(each)
                rest = ((high * a - terms) + high * b + low * a) + low * b  # what rounding has left of the products
                parts = np.hstack([to[B, None], -terms, -rest]).tolist()
                step = self.K @ np.array([math.fsum(part) for part in parts])
                size = float(abs(step).max(initial=0.0))
                if size <= _ROUNDING * abs(each[B]).max(initial=0.0):
                    error[:] = 2 * abs(step) + _ROUNDING * abs(each[B])
                if size > before / 4:
                    break
                each[B] += step
                before = size
        return found, errors

    def pivot(self, items: list[int]) -> None:
        """One item or two change their roles."""
        self.resting[:] = False
        if not self.data.exact:
            return self.invert(np.setxor1d(self.members, items))
        B, T = self.members, np.stack([self.column(i)[0] for i in items], axis=1)
        block = T[items]
        (a, b), (c, d) = block if len(items) == 2 else ((block[0, 0], self.zero), (self.zero, 1 + self.zero))
        inverse = (np.array([[d, -b], [-c, a]], dtype=self.kind) / (a * d - b * c))[: len(items), : len(items)]
        leaving = np.array([i in B for i in items])
        kept, entering = np.flatnonzero(~np.isin(B, items)), np.flatnonzero(~leaving)
        k, left = kept.size, T[B[kept]].dot(inverse)
        K = np.empty((k + entering.size,) * 2, dtype=self.kind)
        # Of T, rows are columns within the basis and within the rest, and minus columns between the two.
        K[:k, :k] = self.K[np.ix_(kept, kept)] - left.dot(np.where(leaving, T[B[kept]], -T[B[kept]]).T)
        K[:k, k:], K[k:, :k] = left[:, entering], left[:, entering].T
        K[k:, k:] = inverse[np.ix_(entering, entering)]
        self.members, self.K = np.concatenate([B[kept], np.array(items)[entering]]), K

    # ---- the solution on a basis ----

    def solve(self, t: Any) -> tuple[Any, Any]:
        """Values and multipliers of all items at t, and their rates, shape (2, items) each; their errors are kept."""
        data, basis, labels, variable = self.data, self.basis, self.labels, self.variable
        self.now = tuple(_along(each, t) for each in (data.low, data.up, data.below, data.above))
        low, up, below, above = self.now
        q = _along(data.q, t)
        h = np.hstack([q, np.full((2, labels.size - self.n), self.zero, dtype=self.kind)])
        bound = np.where(labels >= UPPER, up, low)
        level = np.where(labels == BELOW, below, np.where(labels == ABOVE, -above, 0 * below))
        known = np.where(basis, np.where(variable, level - h, bound), np.where(variable, bound, -level))
        terms = (0, 0) if data.exact else (abs(h[0]) + abs(known[0]) + abs(bound[0]), self.terms)
        u, self.errors = self.completed(np.where(basis, 0 * known, known), known, terms)
        w = self.H.times(u) + h
        odd = labels % 2 != 0
        return np.where(odd, bound, np.where(variable, u, w)), np.where(odd, np.where(variable, w, -u), level)

    def error(self, u: Array, more: Any, inside: Array | None = None) -> Array:
        """What rounding can do to each item, of those in the basis no more than is given."""
        B, each = self.members, _ROUNDING * (self.size.times(abs(u)) + more)
        moved = np.zeros(u.size)
        moved[B] = self.amplified(each) if inside is None else inside
        return np.asarray(np.where(self.basis, moved, self.size.times(moved) + each))

    def amplified(self, each: Array) -> Array:
        """What so large errors of the equations can do to the items in the basis."""
        return np.asarray(abs(self.K) @ each[self.members])

    def slacks(self, labels: Index, v: Any, y: Any, row: int) -> tuple[Any, Mask]:
        """How far the two ends of each item's piece are (row 1: the rates of that), and whether there are such."""
        data, (low, up, below, above) = self.data, (each[row] for each in self.now)
        fixed, free, nothing = data.fixed, data.free, 0 * v
        piece, none = labels - BELOW, np.zeros(labels.size, dtype=bool)
        left = np.choose(piece, [nothing, below - y, v - low, -y, v - up])
        right = np.choose(piece, [low - v, np.where(fixed, y + above, y), up - v, y + above, nothing])
        left = np.where(free & (labels == LOWER), -y, left)
        has_left = np.choose(piece, [none, data.soft_low | free, data.has_low, ~fixed, data.has_up])
        has_right = np.choose(piece, [data.has_low, ~fixed | data.soft_up, data.has_up, data.soft_up, none])
        return np.stack([left, right]), np.stack([has_left, has_right])

    def beyond(self, i: int, label: int, side: int) -> int:
        """The piece next to one of item i: on the left (side 0) or on the right."""
        if label == LOWER and self.data.free[i]:
            return INSIDE
        if self.data.fixed[i]:
            return (ABOVE if side else BELOW) if label == LOWER else LOWER
        return label + (1 if side else -1)

    # ---- events ----

    def event(self, v: Any, y: Any) -> tuple[Any, int, int]:
        """When the first item leaves its piece, which (-1: none), and on which side (2: its bounds cross)."""
        t, data, one = self.t, self.data, 1 + self.zero
        slack, asked = self.slacks(self.labels, v[0], y[0], 0)
        speed, asked = -self.slacks(self.labels, v[1], y[1], 1)[0], asked & ~self.resting
        noise = 0 * speed[0]
        if not data.exact:
            error, noise = self.errors
            outside = np.where(asked, -slack - error - _OUTSIDE * (1 + abs(v[0]) + abs(y[0])), -np.inf)
            if outside.max(initial=-np.inf) > 0:
                raise self.refused(f"the solution left its sets by {-slack[asked].min():.1e}")
            slack = np.where(slack <= error, 0.0, slack)
        self.speed = speed
        when = one if t > 1 - self.last else 1 - self.last
        found: tuple[Any, int, int] = (one, -1, 0)
        sides, items = np.nonzero(asked & (speed > noise))
        times = t + np.maximum(slack[sides, items], self.zero) / speed[sides, items]
        near = np.flatnonzero(times < when)
        if near.size:
            first = times[near].min()
            if data.exact or self.standing >= self.patience:
                tied = near[times[near] == first]
                j = int(tied[np.argmin(items[tied])])
            else:
                tied = near[times[near] <= first + 1e-14]
                j = int(tied[np.argmax(speed[sides[tied], items[tied]] / (noise[items[tied]] + 1e-300))])
            when, found = times[j], (times[j], int(items[j]), int(sides[j]))
            if not data.exact:
                self.slip = max(self.slip if when <= t else 0.0, float(error[items[j]] / speed[sides[j], items[j]]))
        low, up = self.now[:2]
        for i in np.flatnonzero(data.has_low & data.has_up & ~data.fixed & (up[1] < low[1])):
            crossing = t + max(up[0, i] - low[0, i], self.zero) / (low[1, i] - up[1, i])
            if crossing < when:
                when, found = crossing, (crossing, int(i), 2)
        return found

    def late(self, v: Any, y: Any) -> Any:
        """How much later it was when the basis changed, where the new one tells that better than the old one did.

        What has just come in is outside its piece before that, and comes back: in an ill-conditioned basis by a rate so
        high that the rounding of t shows.
        """
        if self.data.exact or self.t == 0 or self.slip * max(abs(v[1]).max(), abs(y[1]).max()) <= _SHARPEN:
            return self.zero
        slack, asked = self.slacks(self.labels, v[0], y[0], 0)
        speed, (error, noise) = -self.slacks(self.labels, v[1], y[1], 1)[0], self.errors
        back = asked & (slack < -error) & (speed < -noise)
        late = float((slack[back] / speed[back]).max(initial=0.0))
        return late if late <= min(self.slip, 1 - self.t) else 0.0

    def exchange(self, i: int, side: int, v: Any, y: Any) -> tuple[str, Any] | None:
        """Take item i into its next piece, at a fixed t; a status and a ray where there is no way."""
        data, labels = self.data, self.labels
        released, to = bool(labels[i] % 2), self.beyond(i, int(labels[i]), side)
        forward = (1 if side else -1) if released else (-1 if side else 1)  # the sign of its dv, or of its dy
        du, dw, pivots, noise = self.response(i, forward if released or self.variable[i] else -forward)
        if pivots:
            self.pivot([i])
            labels[i] = to
            return None
        dv, dy = np.where(self.variable, du, dw), np.where(self.variable, dw, -du)
        move = dv if released else -dy
        slack, has = self.slacks(labels, v[0], y[0], 0)
        steps: list[tuple[Any, Any, int, int]] = []
        for j in np.flatnonzero((labels % 2 == (0 if released else 1)) & (abs(move) > noise)).tolist():
            end = 1 if move[j] > 0 else 0
            if j != i and has[end, j]:
                room = slack[end, j] if data.exact or slack[end, j] > self.errors[0, j] else self.zero
                steps.append(
                    (max(room, self.zero) / abs(move[j]), abs(move[j]), j, self.beyond(j, int(labels[j]), end))
                )
        after = labels.copy()
        after[i] = to
        slack, has = self.slacks(after, v[0], y[0], 0)
        if has[side, i] and not data.free[i]:
            steps.append((max(slack[side, i], self.zero), 1 + self.zero, i, self.beyond(i, to, side)))
        if not steps:
            others = (labels % 2 == (0 if released else 1)) & has.any(axis=0)
            if (noise[others] > _OUTSIDE * max(abs(du).max(), abs(dw).max())).any():
                raise self.refused("rounding errors leave open whether anything is in the way")
            return ("unbounded", dv) if released else ("infeasible", dy)
        least = min(step[0] for step in steps)
        if data.exact or self.standing >= self.patience:
            _, _, j, end_label = min(steps, key=lambda step: (step[0], step[2]))
        else:
            sizes = abs(v[0]) + abs(y[0])
            late = min(step[0] + _HARRIS * (1 + sizes[step[2]]) / step[1] for step in steps)
            _, _, j, end_label = max(
                (s for s in steps if s[0] <= max(late, least + 1e-13 * (1 + least))), key=lambda s: float(s[1])
            )
        if j != i:
            self.pivot([i, j])
            labels[i] = to
        labels[j] = end_label
        return None

    def response(self, i: int, unit: int) -> tuple[Any, Any, bool, Any]:
        """How u and w move with item i, whether its pivot is not 0, and what is rounding."""
        basis, (T, noise) = self.basis, self.column(i)
        u, w = np.where(basis, T * unit, self.zero), np.where(basis, self.zero, T * unit)
        (w if basis[i] else u)[i] = unit + self.zero
        if self.data.exact:
            if (T[i] if self.variable[i] else -T[i]) < 0:
                raise self.refused("P is not positive semidefinite")
            return u, w, bool(T[i] != 0), self.zero * w
        x, noise = u[: self.n], np.maximum(noise, _ZERO * max(abs(u).max(), abs(w).max()))
        wrong = noise[: self.n]
        energy = x @ self.H.P @ x  # the pivot, by terms that do not cancel
        least = 3 * _ROUNDING * (abs(x) @ self.size.P @ abs(x)) + 1e-2 * (wrong @ self.size.P @ wrong)
        return u, w, bool(energy > least and abs(abs(T[i]) - energy) <= 1e-3 * energy), noise

    # ---- the walk ----

    def follow(self, limit: int, keep: bool = True, report: Callable[[float], Any] | None = None) -> Trace:
        """Go on to the end, or to where there is none."""
        times, found, status, ray, crossed = [self.t], [], "end", None, -1
        here: tuple[Any, ...] = ()  # the basis before: since when, its labels and its solution

        def add(when: Any, since: Any, labels: Index, *solution: Any) -> None:
            times.append(when)
            found.append((labels, *(np.stack([each[0], each[0] + (when - since) * each[1]]) for each in solution)))

        while True:
            v, y = self.solve(self.t)
            if late := self.late(v, y):
                self.t += late
                if keep:
                    if times[-1] > here[0]:
                        times.pop(), found.pop()
                    add(self.t, *here)
                v, y = self.solve(self.t)
            when, i, side = self.event(v, y)
            step = when - self.t
            here = (self.t, self.labels.copy(), v, y)
            if keep and step > 0:
                add(when, *here)
            v_end, y_end = v[0] + step * v[1], y[0] + step * y[1]
            self.standing = self.standing + 1 if step == 0 else 0
            if self.standing > 20 * self.patience:
                raise self.refused("no progress after very many exchanges at one point")
            self.t = when
            if report is not None:
                report(float(when))
            self.now = tuple(np.stack([each[0] + step * each[1], each[1]]) for each in self.now)
            if i < 0:
                break
            if side == 2:
                status, crossed = "infeasible", i
                break
            if self.exchanges >= limit:
                status = "limit"
                break
            stopped = self.exchange(i, side, (v_end, v[1]), (y_end, y[1]))
            self.exchanges += 1
            if stopped is None:
                continue
            kind = y_end if self.labels[i] % 2 else v_end
            if not self.data.exact and self.speed[side, i] * (1 - when) <= _REST * (1 + abs(kind).max()):
                self.resting[i] = True  # to the end it is violated by no more than rounding
                continue
            status, ray = stopped
            break
        if keep and not self.data.exact:
            self.check_kept(v_end, y_end)
        if keep and not found:  # it ends where it starts: that point is all there is
            times, found = [self.t, self.t], [(self.labels.copy(), np.stack([v[0], v[0]]), np.stack([y[0], y[0]]))]
        k, items, kind = len(found), self.labels.size, self.kind
        labels = np.array([each[0] for each in found], dtype=np.int64).reshape(k, items)
        points = [np.array([each[part] for each in found], dtype=kind).reshape(k, 2, items) for part in (1, 2)]
        return Trace.of(np.array(times, dtype=kind), labels, *points, status, ray, self.exchanges, crossed)

    def check_kept(self, v: Array, y: Array) -> None:
        """Raise unless all items are on their pieces where it ends: a rate within its error was taken for 0."""
        slack, asked = self.slacks(self.labels, v, y, 0)
        of_values = self.labels % 2 == 0
        largest = np.where(of_values, abs(v[of_values]).max(initial=0.0), abs(y[~of_values]).max(initial=0.0))
        outside = asked & ~self.resting & (-slack > _OUTSIDE * (1 + abs(v) + abs(y)) + _REST * largest)
        if outside.any():
            raise self.refused(f"the solution left its sets by {-slack[outside].min():.1e}")

    def refused(self, why: str) -> DegeneratePathError:
        """Rounding errors leave open how it goes on."""
        remedy = "Rescale the data, or use a slightly different line."
        return DegeneratePathError(why, t=float(self.t), costs="", n_margin=None, remedy=remedy)
