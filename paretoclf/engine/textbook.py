r"""The exact path of any `ParametricQP`: the whole algorithm in one file, to be read.

It runs in doubles or, on arrays of fractions, in fractions, where no number is rounded and no tolerance exists.
`paretoclf.problem.parametric_qp` states the problem, its items (variables and rows) and their five labels;
docs/explanation/tracker.md explains the algorithm where the variables are multipliers of samples in a box.

**Two vectors.** With

.. math::

   H=\begin{pmatrix}P&A^\top\\A&0\end{pmatrix},\qquad
   u=\begin{pmatrix}x\\-y_{\text{rows}}\end{pmatrix},\qquad
   w=Hu+\begin{pmatrix}q\\0\end{pmatrix}=\begin{pmatrix}y_{\text{variables}}\\v_{\text{rows}}\end{pmatrix}

u and w hold the value and the multiplier of every item. Its label says which of the two is known: an odd label its
value (a bound), an even one its multiplier (0, or a slope).

**A basis** B holds the variables with even and the rows with odd labels: outside of B u is known, in B w is. One
solution with the block of H in B gives the rest, affine in t. All of it is read from T, the *principal pivot transform*
of H on B; the part of T inside B, which is the inverse of that block, is kept.

**An event** is the first t at which an item leaves the piece of its staircase that its label names.

**An exchange** takes that item to the next piece. The basis changes by this item alone or, where its pivot
:math:`T_{ii}` is 0, by it and the first item that blocks its way. Where nothing blocks it, its way is a *ray*: there is
no optimum at any later t.

**Rounding.** In doubles every number comes with a bound on its rounding error. What is below that counts as zero;
solutions are refined, and one that leaves its sets by more is refused. Nothing found here is trusted:
`paretoclf.proof.programs.program_lines` proves it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.errors import DegeneratePathError
from paretoclf.engine.start import Data
from paretoclf.problem.parametric_qp import ABOVE, BELOW, INSIDE, LOWER, UPPER
from paretoclf.problem.piecewise import Piecewise
from paretoclf.problem.trace import Trace

#: Relative changes of the data of this size cannot be told from rounding.
_ROUNDING = 1e-14
#: An event later than 1 minus this is taken to happen at the end.
_LAST = 1e-11
#: Events that follow the first one within this are taken to happen at the same t.
_TIED = 1e-14
#: A solution that leaves its sets by more than this, beyond its error bound, is refused.
_OUTSIDE = 1e-6
#: How far items may exceed their bounds so that a larger pivot can be taken (Harris).
_HARRIS = 1e-12
#: Steps that differ by no more than this count as equally short.
_SAME_STEP = 1e-13
#: Where rounding may change a solution by more, relative to 1 + its size, it is solved with sharper residuals.
_SHARPEN = 1e-10
#: The most rounds of sharper residuals.
_SHARPER = 8
#: Pivots smaller than this share of the column's largest entry are what refinement left of a zero.
_ZERO = 1e-17
#: Two ways of computing one pivot must agree to this share of it.
_PIVOTS_AGREE = 1e-3
#: An item that will exceed its bound at t = 1 by no more than this, relative to its kind, may stay where it is.
_REST = 1e-10

#: Ends of a piece of a staircase, and the event that the two bounds of an item cross.
_LEFT, _RIGHT, _CROSSING = 0, 1, 2


class _Departure(NamedTuple):
    """An item that leaves its piece at time t through its left or right end; item -1 where none does before t = 1."""

    t: Any
    item: int
    side: int


class _Blocking(NamedTuple):
    """An item that stops an exchange: after how long a step, how fast it moves, and which label it gets."""

    length: Any
    speed: Any
    item: int
    label: int


class _BasisSolution(NamedTuple):
    """A basis and its solution: from which t on, and values and multipliers there with their rates, (2, items) each."""

    since: Any
    labels: Index
    values: Any
    multipliers: Any

    def until(self, t: Any) -> tuple[Index, Any, Any]:
        """Labels, and values and multipliers at both ends of the segment up to t."""
        step = t - self.since
        return self.labels, _ends(self.values, step), _ends(self.multipliers, step)


class _Blocks(NamedTuple):
    """The matrix H, of which only the blocks P and A are stored."""

    P: Any
    A: Any

    def times(self, u: Any) -> Any:
        """Multiply a vector, or each row of an array, by H."""
        columns = self.P.shape[0]
        if u.dtype != object:
            return _product(u[..., :columns], u[..., columns:], self.P, self.A, self.A)
        if u.ndim > 1:
            return np.stack([self.times(row) for row in u])
        # A fraction that is 0 takes as long to multiply as any other: entries that are 0 are left out.
        variables = np.flatnonzero(u[:columns])
        rows = np.flatnonzero(u[columns:])
        x, rest = u[:columns][variables], u[columns:][rows]
        A_of_x = self.A[:, variables]
        return _product(x, rest, self.P[variables], self.A[rows], A_of_x)

    def block(self, items: Index) -> Any:
        """Rows and columns of some items, which increase."""
        variables, rows = self.parted(items)
        A = self.A[np.ix_(rows, variables)]
        nothing = np.zeros((rows.size, rows.size))
        return np.block([[self.P[np.ix_(variables, variables)], A.T], [A, nothing]])

    def rows(self, items: Index) -> Any:
        """Whole rows of some items, which increase."""
        variables, rows = self.parted(items)
        nothing = np.zeros((rows.size, self.A.shape[0]))
        of_variables = [self.P[variables], self.A[:, variables].T]
        return np.block([of_variables, [self.A[rows], nothing]])

    def parted(self, items: Index) -> tuple[Index, Index]:
        """Part increasing items into variables and rows, each counted from 0."""
        columns = self.P.shape[0]
        first_row = np.searchsorted(items, columns)
        return items[:first_row], items[first_row:] - columns


def _product(x: Any, rest: Any, P: Any, A_of_rest: Any, A_of_x: Any) -> Any:
    """``(P x + A' rest, A x)``, with those parts of P and A that belong to the given entries."""
    if not A_of_x.shape[0]:
        return x @ P
    return np.concatenate([x @ P + rest @ A_of_rest, x @ A_of_x.T], axis=-1)


def halves(numbers: Array) -> tuple[Array, Array]:
    """Split doubles into sums of two of 26 bits, whose products are exact (Dekker 1971)."""
    large = 134217729.0 * numbers
    high = large - (large - numbers)
    return high, numbers - high


def _residuals(wanted: Array, rows: Array, halves_of_rows: tuple[Array, Array], u: Array) -> Array:
    """Compute ``wanted - rows @ u``, each entry a sum of exact terms that is rounded once."""
    high, low = halves_of_rows
    u_high, u_low = halves(u)
    products = rows * u
    lost = high * u_high - products  # what rounding has taken from the products (Dekker)
    lost = lost + high * u_low + low * u_high
    lost = lost + low * u_low
    terms = np.hstack([wanted[:, None], -products, -lost])
    return np.array([math.fsum(each) for each in terms.tolist()])


def _inverse(block: Any) -> Any:
    """Invert a matrix of fractions of one row or two."""
    if len(block) == 1:
        return np.array([[1 / block[0, 0]]], dtype=object)
    (a, b), (c, d) = block
    adjugate = np.array([[d, -b], [-c, a]], dtype=object)
    return adjugate / (a * d - b * c)


def _along(ends: Any, t: Any) -> Any:
    """Value at t, and rate, of numbers that are affine in t."""
    start, stop = ends
    return np.stack([(1 - t) * start + t * stop, stop - start])


def _ends(moving: Any, step: Any) -> Any:
    """Values at both ends of a step, of a value and its rate."""
    value, rate = moving
    return np.stack([value, value + step * rate])


def _later(moving: Any, step: Any) -> Any:
    """Value and rate at the end of a step."""
    value, rate = moving
    return np.stack([value + step * rate, rate])


class Walk:
    """Follows a problem from event to event, from labels that are optimal at its beginning."""

    def __init__(self, data: Data, labels: Index) -> None:
        self.data, self.labels = data, np.array(labels)
        problem = data.problem
        n, items = problem.n, self.labels.size
        self.n = n
        self.zero = abs(problem.q.ravel()[:1].sum()) * 0 if n else 0.0  # as a double or as a fraction
        self.variable = np.arange(items) < n
        self.kind = problem.P.dtype
        self.H = _Blocks(problem.P, problem.A)
        self.absolute = _Blocks(abs(problem.P), abs(problem.A))
        self.exchanges = 0
        self.standing = 0  # steps of length zero in a row
        self.patience = 200 + 2 * items  # steps of length zero before the lowest index goes first
        self.resting = np.zeros(items, dtype=bool)  # what exceeds its bound by no more than rounding up to t = 1
        self.t: Any = self.zero
        self.last = 0 if data.exact else _LAST
        self.slip: Any = self.zero  # how much rounding can do to t, the time of the last event
        if not data.exact:
            bounds = data.low, data.up, data.below, data.above
            self.terms = sum(abs(ends).sum(axis=0) for ends in bounds)
            self.terms[:n] += abs(data.q).sum(axis=0)
        self.factor()

    # ---- the transform ----

    @property
    def basis(self) -> Mask:
        """Items whose multiplier (variables) or value (rows) is known."""
        multiplier_known = self.labels % 2 == 0
        return np.asarray(multiplier_known == self.variable)

    def factor(self) -> None:
        """Compute the transform from nothing: in doubles by an inverse, in fractions pivot by pivot."""
        items = np.flatnonzero(self.basis)
        if not self.data.exact:
            self.invert(items)
            return
        self.members = items[:0]
        self.inverse: Any = np.zeros((0, 0), dtype=self.kind)
        waiting = items.tolist()
        while waiting:
            entering = self.first_pivot(waiting)
            self.pivot(entering)
            waiting = [item for item in waiting if item not in entering]

    def first_pivot(self, waiting: list[int]) -> list[int]:
        """One item whose pivot is not 0; where there is none, two whose pivot block is not singular."""
        for item in waiting:
            if self.column(item)[0][item] != 0:
                return [item]
        first = waiting[0]
        column, _ = self.column(first)
        for second in waiting:
            if column[second] != 0:
                return [first, second]
        raise self.refused("the basis is singular")

    def invert(self, items: Index) -> None:
        """Compute the transform on a basis in doubles."""
        try:
            inverse = np.linalg.inv(self.H.block(items))
        except np.linalg.LinAlgError:
            raise self.refused("the basis is singular") from None
        self.members = items
        self.inverse = (inverse + inverse.T) / 2

    def column(self, item: int) -> tuple[Any, Any]:
        """Column of T: how u in the basis and w outside of it move with what is known of an item; and its errors."""
        members = self.members
        u = np.full((1, self.labels.size), self.zero, dtype=self.kind)
        wanted = u.copy()
        (wanted if item in members else u)[0, item] = 1 + self.zero
        u, errors = self.completed(u, wanted, (0.0,))
        column = self.H.times(u[0])
        column[members] = u[0, members]
        return column, errors[0]

    def completed(self, u: Any, wanted: Any, terms: tuple[Any, ...]) -> tuple[Any, Any]:
        """Fill in u in the basis so that Hu is as wanted there.

        Parameters
        ----------
        u, wanted : arrays of shape (k, items)
            Rows u, known outside of the basis, and rows of what Hu is to be in it.
        terms : tuple of k arrays
            Sizes of the numbers that ``wanted`` is a sum of, for its rounding.

        Returns
        -------
        The rows u, and what rounding can have done to each entry of u in the basis and of Hu outside of it.
        """
        u = self.refined(u, wanted)
        if self.data.exact:
            return u, 0 * u
        if not np.isfinite(u).all():
            raise self.refused("the solution is not finite")
        errors = np.stack([self.error(row, more) for row, more in zip(u, terms, strict=True)])
        unsure = errors > _SHARPEN * (1 + abs(u))
        if unsure[0, self.members].any():
            u, inside = self.sharpened(u, wanted)
            sharper = [self.error(*each) for each in zip(u, terms, inside, strict=True)]
            errors = np.minimum(errors, np.stack(sharper))
        return u, errors

    def refined(self, u: Any, wanted: Any) -> Any:
        """Fill in u in the basis by a few rounds of refinement in the precision of the data."""
        members, found = self.members, u.copy()
        for _ in range(1 if self.data.exact else 3):
            residuals = (wanted - self.H.times(found))[..., members]
            found[..., members] += residuals.dot(self.inverse.T)
        return found

    def sharpened(self, u: Any, wanted: Any) -> tuple[Any, Any]:
        """Refine u with residuals that are rounded once; return it, and its errors in the basis.

        A residual, solved for, is the error as long as each round leaves a small part of it; else errors are infinite.
        """
        members, found = self.members, u.copy()
        rows = self.H.rows(members)
        halves_of_rows = halves(rows)
        errors = np.full((len(u), members.size), np.inf)
        for row, goal, error in zip(found, wanted, errors, strict=True):
            before = np.inf
            for _ in range(_SHARPER):
                step = self.inverse @ _residuals(goal[members], rows, halves_of_rows, row)
                size = float(abs(step).max(initial=0.0))
                inside = abs(row[members])
                if size <= _ROUNDING * inside.max(initial=0.0):
                    error[:] = 2 * abs(step) + _ROUNDING * inside
                if size > before / 4:
                    break
                row[members] += step
                before = size
        return found, errors

    def pivot(self, items: list[int]) -> None:
        """Change the roles of one item or two: who is in the basis leaves it, who is not enters."""
        self.resting[:] = False
        if self.data.exact:
            self.pivot_exactly(items)
        else:
            self.invert(np.setxor1d(self.members, items))

    def pivot_exactly(self, items: list[int]) -> None:
        """Update the transform by a pivot on one item or two, in fractions.

        Rows of T are its columns within the basis and outside of it, and minus its columns between the two.
        """
        members = self.members
        columns = np.stack([self.column(item)[0] for item in items], axis=1)
        pivots = _inverse(columns[items])
        leaving = np.array([item in members for item in items])
        entering = np.flatnonzero(~leaving)
        staying = np.flatnonzero(~np.isin(members, items))
        of_members = columns[members[staying]]
        rows = np.where(leaving, of_members, -of_members)
        multiples = of_members.dot(pivots)
        kept, size = staying.size, staying.size + entering.size
        inverse = np.empty((size, size), dtype=self.kind)
        before = self.inverse[np.ix_(staying, staying)]
        inverse[:kept, :kept] = before - multiples.dot(rows.T)
        inverse[:kept, kept:] = multiples[:, entering]
        inverse[kept:, :kept] = multiples[:, entering].T
        inverse[kept:, kept:] = pivots[np.ix_(entering, entering)]
        self.members = np.concatenate([members[staying], np.array(items)[entering]])
        self.inverse = inverse

    # ---- the solution on a basis ----

    def solve(self, t: Any) -> tuple[Any, Any]:
        """Values and multipliers of all items at t, and their rates, shape (2, items) each; their errors are kept."""
        data, labels, basis, variable = self.data, self.labels, self.basis, self.variable
        bounds = data.low, data.up, data.below, data.above
        self.now = tuple(_along(ends, t) for ends in bounds)
        low, up, below, above = self.now
        of_rows = np.full((2, labels.size - self.n), self.zero, dtype=self.kind)
        linear = np.hstack([_along(data.q, t), of_rows])
        # What the labels say: odd ones a value, even ones a multiplier.
        value = np.where(labels >= UPPER, up, low)
        beyond = np.where(labels == ABOVE, -above, 0 * below)
        multiplier = np.where(labels == BELOW, below, beyond)
        in_basis = np.where(variable, multiplier - linear, value)
        known = np.where(basis, in_basis, np.where(variable, value, -multiplier))
        outside = np.where(basis, 0 * known, known)
        sizes: tuple[Any, Any] = (0, 0)
        if not data.exact:
            of_values = abs(linear[0]) + abs(known[0]) + abs(value[0])
            sizes = of_values, self.terms
        u, self.errors = self.completed(outside, known, sizes)
        w = self.H.times(u) + linear
        value_known = labels % 2 != 0
        values = np.where(value_known, value, np.where(variable, u, w))
        multipliers = np.where(value_known, np.where(variable, w, -u), multiplier)
        return values, multipliers

    def error(self, u: Array, more: Any, inside: Array | None = None) -> Array:
        """Bound what rounding can have done to each item, in the basis by what is given, if it is."""
        rounded = _ROUNDING * (self.absolute.times(abs(u)) + more)
        moved = np.zeros(u.size)
        moved[self.members] = self.amplified(rounded) if inside is None else inside
        outside = self.absolute.times(moved) + rounded
        return np.asarray(np.where(self.basis, moved, outside))

    def amplified(self, errors: Array) -> Array:
        """Bound what errors of the equations do to the solution in the basis."""
        return np.asarray(abs(self.inverse) @ errors[self.members])

    def slacks(self, labels: Index, values: Any, multipliers: Any, row: int) -> tuple[Any, Mask]:
        """Distance of each item to the left and right end of its piece (row 1: its rate); and which ends there are."""
        data = self.data
        low, up, below, above = (ends[row] for ends in self.now)
        fixed, free = data.fixed, data.free
        nothing = 0 * values
        nowhere = np.zeros(labels.size, dtype=bool)
        piece = labels - BELOW  # 0 to 4: BELOW, LOWER, INSIDE, UPPER, ABOVE
        to_left = [nothing, below - multipliers, values - low, -multipliers, values - up]
        left = np.choose(piece, to_left)
        left = np.where(free & (labels == LOWER), -multipliers, left)
        # The lower bound of a fixed item is the upper one, too: its multiplier has both signs there.
        of_lower = np.where(fixed, multipliers + above, multipliers)
        to_right = [low - values, of_lower, up - values, multipliers + above, nothing]
        right = np.choose(piece, to_right)
        ends_left = [nowhere, data.soft_low | free, data.has_low, ~fixed, data.has_up]
        ends_right = [data.has_low, ~fixed | data.soft_up, data.has_up, data.soft_up, nowhere]
        has_ends = [np.choose(piece, ends_left), np.choose(piece, ends_right)]
        return np.stack([left, right]), np.stack(has_ends)

    def beyond(self, item: int, label: int, side: int) -> int:
        """Label of the piece next to one of an item, on the left or on the right."""
        if label == LOWER and self.data.free[item]:
            return INSIDE
        if self.data.fixed[item]:
            outer = BELOW if side == _LEFT else ABOVE
            return outer if label == LOWER else LOWER
        return label - 1 if side == _LEFT else label + 1

    # ---- events ----

    def event(self, values: Any, multipliers: Any) -> _Departure:
        """Find the first item that leaves its piece after the present t, or whose bounds cross."""
        t, exact = self.t, self.data.exact
        slack, speed, asked = self.approach(values, multipliers)
        asked = asked & ~self.resting
        noise = 0 * speed[0]
        if not exact:
            error, noise = self.errors
            allowed = _OUTSIDE * (1 + abs(values[0]) + abs(multipliers[0]))
            excess = -slack - error - allowed
            if np.where(asked, excess, -np.inf).max(initial=-np.inf) > 0:
                raise self.refused(f"the solution left its sets by {-slack[asked].min():.1e}")
            slack = np.where(slack <= error, 0.0, slack)
        self.speed = speed
        end = 1 + self.zero
        when = end if t > 1 - self.last else 1 - self.last
        first = _Departure(end, -1, _LEFT)
        sides, items = np.nonzero(asked & (speed > noise))
        speeds = speed[sides, items]
        times = t + np.maximum(slack[sides, items], self.zero) / speeds
        near = np.flatnonzero(times < when)
        if near.size:
            first_near = self.first_of(times[near], items[near], speeds[near], noise)
            place = near[first_near]
            item, when = int(items[place]), times[place]
            first = _Departure(when, item, int(sides[place]))
            if not exact:
                slip = float(error[item] / speeds[place])
                self.slip = max(self.slip if when <= t else 0.0, slip)
        return self.first_crossing(first, when)

    def approach(self, values: Any, multipliers: Any) -> tuple[Any, Any, Mask]:
        """Distance of each item to both ends of its piece, how fast it goes there, and which ends there are."""
        slack, asked = self.slacks(self.labels, values[0], multipliers[0], 0)
        rate, _ = self.slacks(self.labels, values[1], multipliers[1], 1)
        return slack, -rate, asked

    def first_of(self, times: Any, items: Index, speeds: Any, noise: Any) -> int:
        """Place of the first event; of those at one t that of the lowest item or, in doubles, of the surest rate."""
        first = times.min()
        if self.data.exact or self.standing >= self.patience:
            tied = np.flatnonzero(times == first)
            return int(tied[np.argmin(items[tied])])
        tied = np.flatnonzero(times <= first + _TIED)
        never_zero = noise[items[tied]] + 1e-300
        return int(tied[np.argmax(speeds[tied] / never_zero)])

    def first_crossing(self, first: _Departure, when: Any) -> _Departure:
        """The given event, or the crossing of an item's two bounds if one is before ``when``."""
        data, (low, up) = self.data, self.now[:2]
        two_bounds = data.has_low & data.has_up & ~data.fixed
        for item in np.flatnonzero(two_bounds & (up[1] < low[1])):
            room = max(up[0, item] - low[0, item], self.zero)
            crossing = self.t + room / (low[1, item] - up[1, item])
            if crossing < when:
                when = crossing
                first = _Departure(crossing, int(item), _CROSSING)
        return first

    def late(self, values: Any, multipliers: Any) -> Any:
        """How much later it was when the basis changed, where the new one tells that better than the old one did.

        An item that has just come in is outside its piece before that t, and comes back: in an ill-conditioned basis at
        a rate so high that the rounding of t shows.
        """
        if self.data.exact or self.t == 0:
            return self.zero
        fastest = max(abs(values[1]).max(), abs(multipliers[1]).max())
        if self.slip * fastest <= _SHARPEN:
            return self.zero
        slack, speed, asked = self.approach(values, multipliers)
        error, noise = self.errors
        back = asked & (slack < -error) & (speed < -noise)
        late = float((slack[back] / speed[back]).max(initial=0.0))
        return late if late <= min(self.slip, 1 - self.t) else 0.0

    # ---- exchanges ----

    def exchange(self, item: int, side: int, values: Any, multipliers: Any) -> tuple[str, Any] | None:
        """Take an item to its next piece, at a fixed t; a status and a ray where there is no way."""
        labels = self.labels
        label = int(labels[item])
        target = self.beyond(item, label, side)
        released = label % 2 != 0  # from a bound: then its value moves, else its multiplier
        rightwards = 1 if side == _RIGHT else -1
        forward = rightwards if released else -rightwards  # to the right values grow and multipliers fall
        unit = forward if released or self.variable[item] else -forward
        du, dw, pivots, noise = self.response(item, unit)
        if pivots:
            self.pivot([item])
            labels[item] = target
            return None
        dv = np.where(self.variable, du, dw)
        dy = np.where(self.variable, dw, -du)
        move = dv if released else -dy
        # Who may block: items that are not at a bound while values move, those at a bound while multipliers do.
        others = labels % 2 == (0 if released else 1)
        moving = np.flatnonzero(others & (abs(move) > noise))
        steps = self.blocking(item, moving, move, values, multipliers)
        steps += self.own_end(item, side, target, values, multipliers)
        if steps:
            first = self.first_blocking(steps, abs(values[0]) + abs(multipliers[0]))
            if first.item != item:
                self.pivot([item, first.item])
                labels[item] = target
            labels[first.item] = first.label
            return None
        _, has_ends = self.slacks(labels, values[0], multipliers[0], 0)
        noise_of_others = noise[others & has_ends.any(axis=0)]
        fastest = max(abs(du).max(), abs(dw).max())
        if (noise_of_others > _OUTSIDE * fastest).any():
            raise self.refused("rounding errors leave open whether anything is in the way")
        return ("unbounded", dv) if released else ("infeasible", dy)

    def blocking(self, item: int, moving: Index, move: Any, values: Any, multipliers: Any) -> list[_Blocking]:
        """List where each of the other items that move reaches an end of its piece."""
        slack, has_ends = self.slacks(self.labels, values[0], multipliers[0], 0)
        steps = []
        for other in moving.tolist():
            end = _RIGHT if move[other] > 0 else _LEFT
            if other == item or not has_ends[end, other]:
                continue
            room = slack[end, other]
            if not self.data.exact and room <= self.errors[0, other]:
                room = self.zero
            speed = abs(move[other])
            label = self.beyond(other, int(self.labels[other]), end)
            steps.append(_Blocking(max(room, self.zero) / speed, speed, other, label))
        return steps

    def own_end(self, item: int, side: int, target: int, values: Any, multipliers: Any) -> list[_Blocking]:
        """List where the item itself reaches the end of its next piece, and runs through to the one after that."""
        after = self.labels.copy()
        after[item] = target
        slack, has_ends = self.slacks(after, values[0], multipliers[0], 0)
        if not has_ends[side, item] or self.data.free[item]:
            return []
        room = max(slack[side, item], self.zero)
        return [_Blocking(room, 1 + self.zero, item, self.beyond(item, target, side))]

    def first_blocking(self, steps: list[_Blocking], sizes: Any) -> _Blocking:
        """Choose the shortest step; in doubles the surest pivot of those that are short enough (Harris)."""
        if self.data.exact or self.standing >= self.patience:
            return min(steps, key=lambda step: (step.length, step.item))
        shortest = min(step.length for step in steps)
        longest = shortest + _SAME_STEP * (1 + shortest)
        allowed = {step.item: _HARRIS * (1 + sizes[step.item]) for step in steps}
        within = min(step.length + allowed[step.item] / step.speed for step in steps)
        longest = max(within, longest)
        short_enough = [step for step in steps if step.length <= longest]
        return max(short_enough, key=lambda step: float(step.speed))

    def response(self, item: int, unit: int) -> tuple[Any, Any, bool, Any]:
        """How u and w move with an item, whether its pivot is not 0, and what of it is rounding."""
        basis = self.basis
        column, noise = self.column(item)
        u = np.where(basis, column * unit, self.zero)
        w = np.where(basis, self.zero, column * unit)
        (w if basis[item] else u)[item] = unit + self.zero
        if self.data.exact:
            if (column[item] if self.variable[item] else -column[item]) < 0:
                raise self.refused("P is not positive semidefinite")
            return u, w, bool(column[item] != 0), self.zero * w
        fastest = max(abs(u).max(), abs(w).max())
        noise = np.maximum(noise, _ZERO * fastest)
        energy, rounding = self.energy(u[: self.n], noise[: self.n])
        agree = abs(abs(column[item]) - energy) <= _PIVOTS_AGREE * energy
        return u, w, bool(energy > rounding and agree), noise

    def energy(self, x: Array, wrong: Array) -> tuple[Any, Any]:
        """The pivot as ``x'Px``, by terms that do not cancel, and what may be rounding of it."""
        P, absolute = self.H.P, self.absolute.P
        rounding = 3 * _ROUNDING * (abs(x) @ absolute @ abs(x))
        return x @ P @ x, rounding + 1e-2 * (wrong @ absolute @ wrong)

    # ---- the walk ----

    def follow(
        self,
        limit: int,
        keep: bool = True,
        report: Callable[[float], Any] | None = None,
        deadline: float | None = None,
    ) -> Trace:
        """Go on to t = 1, or to where there is no optimum any more.

        Parameters
        ----------
        limit : int
            Exchanges after which to stop.
        keep : bool
            Whether the trace has the segments; without, only where the walk ends counts.
        report : callable, optional
            Told each t that is reached.
        deadline : float, optional
            When to stop, by ``time.monotonic()``.
        """
        segments = _Recorded(self.t) if keep else None
        before: _BasisSolution | None = None
        stopped: tuple[str, Any, int] | None = None
        while stopped is None:
            values, multipliers = self.solve(self.t)
            if late := self.late(values, multipliers):
                self.t += late
                if segments is not None and before is not None:
                    segments.prolong(before, self.t)
                values, multipliers = self.solve(self.t)
            event = self.event(values, multipliers)
            step = event.t - self.t
            before = _BasisSolution(self.t, self.labels.copy(), values, multipliers)
            if segments is not None and step > 0:
                segments.add(before, event.t)
            self.standing = self.standing + 1 if step == 0 else 0
            if self.standing > 20 * self.patience:
                raise self.refused("no progress after very many exchanges at one point")
            self.t = event.t
            if report is not None:
                report(float(event.t))
            self.now = tuple(_later(bound, step) for bound in self.now)
            values, multipliers = _later(values, step), _later(multipliers, step)
            stopped = self.passed(event, limit, values, multipliers)
            if stopped is None and deadline is not None and time.monotonic() >= deadline:
                stopped = "limit", None, -1
        status, ray, crossed = stopped
        found: list[Any] = []
        times = [self.t]
        if segments is not None:
            if not self.data.exact:
                self.check_kept(values[0], multipliers[0])
            times, found = segments.all(before)
        t = np.array(times, dtype=self.kind)
        problem = self.data.problem
        labels, values, multipliers = self.as_arrays(found)
        path = Piecewise.of(problem, t, values[:, :, : problem.n], multipliers, labels)
        return Trace(path, status, ray, self.exchanges, crossed)

    def passed(self, event: _Departure, limit: int, values: Any, multipliers: Any) -> tuple[str, Any, int] | None:
        """Make the exchange of an event; where the walk ends there, return its status, ray and item that crosses."""
        if event.item < 0:
            return "end", None, -1
        if event.side == _CROSSING:
            return "infeasible", None, event.item
        if self.exchanges >= limit:
            return "limit", None, -1
        stopped = self.exchange(event.item, event.side, values, multipliers)
        self.exchanges += 1
        if stopped is None:
            return None
        alike = multipliers[0] if self.labels[event.item] % 2 else values[0]
        excess = self.speed[event.side, event.item] * (1 - event.t)
        if not self.data.exact and excess <= _REST * (1 + abs(alike).max()):
            self.resting[event.item] = True
            return None
        return *stopped, -1

    def as_arrays(self, found: list[tuple[Index, Any, Any]]) -> tuple[Index, Any, Any]:
        """Labels, values and multipliers of all segments, shapes (k, items) and (k, 2, items)."""
        segments, items = len(found), self.labels.size
        labels = np.array([each[0] for each in found], dtype=np.int64).reshape(segments, items)
        values = np.array([each[1] for each in found], dtype=self.kind).reshape(segments, 2, items)
        multipliers = np.array([each[2] for each in found], dtype=self.kind).reshape(segments, 2, items)
        return labels, values, multipliers

    def check_kept(self, values: Array, multipliers: Array) -> None:
        """Raise unless all items are on their pieces where it ends: a rate within its error was taken for 0."""
        slack, asked = self.slacks(self.labels, values, multipliers, 0)
        of_values = self.labels % 2 == 0
        largest_value = abs(values[of_values]).max(initial=0.0)
        largest_multiplier = abs(multipliers[~of_values]).max(initial=0.0)
        largest = np.where(of_values, largest_value, largest_multiplier)
        allowed = _OUTSIDE * (1 + abs(values) + abs(multipliers)) + _REST * largest
        outside = asked & ~self.resting & (-slack > allowed)
        if outside.any():
            raise self.refused(f"the solution left its sets by {-slack[outside].min():.1e}")

    def refused(self, why: str) -> DegeneratePathError:
        """Make the error that rounding leaves open how the path goes on."""
        remedy = "Rescale the data, or use a slightly different line."
        return DegeneratePathError(why, t=float(self.t), costs="", n_margin=None, remedy=remedy)


class _Recorded:
    """The segments of a path, one after the other."""

    def __init__(self, t: Any) -> None:
        self.times: list[Any] = [t]
        self.found: list[tuple[Index, Any, Any]] = []

    def add(self, solved: _BasisSolution, until: Any) -> None:
        """Add the segment of a basis."""
        self.times.append(until)
        self.found.append(solved.until(until))

    def prolong(self, solved: _BasisSolution, until: Any) -> None:
        """Let the segment of the last basis end later, or add it if it had no length."""
        if self.times[-1] > solved.since:
            self.times.pop()
            self.found.pop()
        self.add(solved, until)

    def all(self, last: _BasisSolution | None) -> tuple[list[Any], list[tuple[Index, Any, Any]]]:
        """Times and segments; where there is no segment, the point of the last basis with both its ends."""
        if self.found or last is None:
            return self.times, self.found
        return [last.since, last.since], [last.until(last.since)]
