r"""Fewer items for the same problem: the reduction of a compiled program, and the exact way back.

1. Epigraph variables become costs with kinks (`paretoclf.engine.reduction.epigraphs`).
2. Rows of one entry become bounds.
3. Variables that are fixed all along, and those that cost nothing and only relax rows, are set to their bound.
4. A slack with a cost, alone in an equation, goes: the equation may be missed on that side, at its price.
5. Parallel inequalities become one row with two bounds.
6. Costs with kinks become soft bounds, of a variable where one is free to carry them, else of a row.
7. A free variable that stands in one equation only is substituted; one whose square costs only where that leaves fewer
   entries to read (`paretoclf.engine.reduction.fill`): squares of long rows are never made.

`paretoclf.engine.reduction.reduced` takes values and multipliers of the items to all columns x and multipliers z of the
compiled program. No search, no tolerance: each step is undone in the reverse order. What comes back is judged on the
compiled program.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import PARALLEL, SAME_NUMBER, SUBSTITUTED
from paretoclf.engine.reduction.entries import entries_of, for_products, placed, squared, without
from paretoclf.engine.reduction.epigraphs import Kinked, epigraphs
from paretoclf.engine.reduction.fill import worth_squaring
from paretoclf.engine.reduction.products import plainly
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.reduced import Carried, Item, Reduced, Substituted
from paretoclf.problem.parametric_qp import ParametricQP

#: A program of so many columns and rows, and of no more entries than this share of all, is reduced so that it stays so.
_LARGE, _THIN = 1500, 0.01
#: What is left of any is followed on sparse bases from so many items, and up to this share of entries, on. Arrays of
#: many items are slow to read: then the share may be larger.
_SPARSE, _MANY = (350, 0.02), (_LARGE, 0.05)
#: Chains of so many free variables, each in the equation of the next, stay where a problem without them would have so
#: many times the entries that CVXPY compiled: sums that cancel along them lose the digits of what is last.
_CHAIN, _FILLED = 8, 2


def reduce(line: ProgramLine, *, squares: bool = True) -> Reduced:
    """Reduce a compiled program.

    Parameters
    ----------
    line : ProgramLine
    squares : bool
        Whether variables that the objective squares may be substituted, too. What they are put into is the product of
        their rows, entry by entry rounded: where these have no full rank, it may bend where the program does not.

    Raises
    ------
    InputError
        If two bounds cross at the start of the line.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.engine.reduction.presolve import reduce
    >>> from paretoclf.solve.to_qp import program_line
    >>> w, lam = cp.Variable(3, name="w"), cp.Parameter(nonneg=True)
    >>> lasso = cp.Problem(cp.Minimize(cp.sum_squares(w - 1) + lam * cp.norm1(w)))
    >>> line = program_line(lasso, {lam: 4}, {lam: 0})
    >>> line.n + line.m, reduce(line).problem.items
    (18, 3)
    """
    entries = line.P.nnz + line.A.nnz
    if not _is_thin(entries, line.n, line.m, _LARGE, _THIN):
        return _Reduction(line, squares).result()
    try:
        return _Reduction(line, squares, _FILLED * entries).result()
    except _Filled:
        return _Reduction(line, squares, 0).result()


class _Filled(Exception):
    """Who is substituted leaves more entries than there were."""


class _Reduction:
    """The program on its way: what is left of it after each step."""

    def __init__(self, line: ProgramLine, squares: bool, most: float = np.inf) -> None:
        self.most, self.squares = most, squares
        self.line = line
        self.P, self.A = entries_of(sp.csr_array(line.given)), entries_of(line.rows)
        self.arrays: list[tuple[Index, Array]] = []  # what has still to be added to P, at which columns
        self.by_columns = entries_of(sp.csc_array(line.A))
        self.sizes = np.diff(self.A.indptr)
        self.q, self.b = line.q.copy(), line.b.copy()
        self.equation = np.arange(line.m) < line.equations
        self.flat = np.bincount(self.P.indices, minlength=line.n) == 0
        found = epigraphs(self.flat, (self.by_columns, self.A), self.q, self.b, line.equations)
        self.eliminated, self.rows, self.columns = found.eliminated, found.rows.copy(), found.columns.copy()
        self.q[:, ~self.columns] = 0.0
        self.kinked = found.kinked
        self.kinked_columns = np.zeros(line.n, dtype=np.bool_)
        for cost in self.kinked:
            self.kinked_columns[cost.a[0]] = True
        self.lower, self.upper = np.full((2, line.n), -np.inf), np.full((2, line.n), np.inf)
        self.below, self.above = np.full((2, line.n), np.inf), np.full((2, line.n), np.inf)
        self.bounds: dict[tuple[int, str], tuple[int, int, float, str]] = {}
        self.fixed: list[tuple[int, Array]] = []
        self.slacks: list[tuple[int, tuple[int, ...]]] = []
        self.items: list[Item] = []
        self.one_sided: dict[tuple[str, bytes], list[int]] = {}  # of those that costs made: by their side and direction
        self.carried: list[Carried] = []
        self.substituted: list[Substituted] = []

    def result(self) -> Reduced:
        """All steps in order."""
        self._bounds()
        self._fixed()
        self._rows_left()
        for cost in self.kinked:
            self._carry(cost)
        M, kept = self._substitute()
        V, K = np.flatnonzero(self.columns), np.flatnonzero(kept)
        rows = [self.items[k] for k in K]

        def both(side: str) -> Array:
            given = np.concatenate([np.zeros(0), *(getattr(item, side) for item in rows)])
            return np.hstack([getattr(self, side)[:, V], given.reshape(-1, 2).T])

        A, names = M[K][:, V], tuple(self.line.column_name(int(j)) for j in V)
        most = max([self.P.nnz, *(np.count_nonzero(each) for _, each in self.arrays)])
        thin = _stays_sparse(most + A.nnz, V.size, K.size)
        if thin:
            self._added()
        P = self.P[V][:, V]
        problem = ParametricQP(
            sp.csr_array(0.5 * (P + P.T)) if thin else P,
            sp.csr_array(A),
            self.q[:, V],
            both("lower"),
            both("upper"),
            both("below"),
            both("above"),
            names=(*names, *self._row_names(K)),
        )
        return Reduced(
            problem if thin and _stays_sparse(P.nnz + A.nnz, V.size, K.size) else self._dense(problem, V),
            self.line,
            V,
            K,
            tuple(self.items),
            tuple(self.carried),
            tuple(self.fixed),
            tuple(self.substituted),
            tuple(self.slacks),
            self.eliminated,
            tuple(self.bounds.values()),
        )

    def _dense(self, problem: ParametricQP, V: Index) -> ParametricQP:
        """The problem in columns V with P and A as arrays, and with all of P."""
        problem, place = problem.dense(), np.full(self.line.n, -1)
        place[V] = np.arange(V.size)
        P = problem.P + problem.P.T
        P *= 0.5
        for columns, more in self.arrays:
            at = plainly(place[columns])
            P[(at, at) if isinstance(at, slice) else np.ix_(at, at)] += more
        return replace(problem, P=P)

    def _added(self) -> None:
        """Add to P what is apart."""
        for columns, more in self.arrays:
            self.P = self.P + placed(more, columns, columns, self.line.n)
            self.P.eliminate_zeros()
        self.arrays.clear()

    def _bounds(self) -> None:
        """Rows of one entry. The tighter one of two wins; where neither is all along, the second stays a row."""
        own = np.flatnonzero(self.rows & (self.sizes == 1))
        j, a = (each[self.A.indptr[own]] for each in (self.A.indices, self.A.data))
        kinds = np.where(self.equation[own], 2, np.where(a > 0, 1, 0))
        count = np.bincount(3 * j.astype(np.int64) + kinds, minlength=3 * self.line.n).reshape(-1, 3)[j]
        alone = (kinds < 2) & (count[:, 2] == 0) & (np.take_along_axis(count, kinds[:, None], axis=1)[:, 0] == 1)
        for kind, side, now in ((0, "lower", self.lower), (1, "upper", self.upper)):  # of these there is no other
            which = np.flatnonzero(alone & (kinds == kind))
            now[:, j[which]] = self.b[:, own[which]] / a[which]
            entries = zip(own[which].tolist(), j[which].tolist(), a[which].tolist(), strict=True)
            self.bounds.update({(column, side): (i, column, value, side) for i, column, value in entries})
        self.rows[own[alone]] = False
        for i in np.flatnonzero(self.rows & (self.sizes <= 1)).tolist():
            places, values = self._row(i)
            if places.size == 0 and not self.equation[i] and (self.b[:, i] >= 0).all():
                self.rows[i] = False
            if places.size != 1:
                continue
            j, a = int(places[0]), float(values[0])
            at, equation = self.b[:, i] / a, (j, "both") in self.bounds
            if self.equation[i]:
                if not equation and np.isinf(self.lower[0, j]) and np.isinf(self.upper[0, j]):
                    self.lower[:, j] = self.upper[:, j] = at
                    self.bounds[j, "both"] = (i, j, a, "both")
                    self.rows[i] = False
                continue
            side = "upper" if a > 0 else "lower"
            now = getattr(self, side)
            tighter = at < now[:, j] if a > 0 else at > now[:, j]
            if not tighter.any():
                self.rows[i] = False  # its multiplier is 0
            elif tighter.all() and not equation:
                now[:, j] = at
                self.bounds[j, side] = (i, j, a, side)
                self.rows[i] = False
        for j in np.flatnonzero((self.lower > self.upper).any(axis=0)).tolist():
            names = [self.line.row_name(i) for i, k, _, _ in self.bounds.values() if k == j]
            self._cross(f"variable {self.line.column_name(j)}", names, self.lower[:, j], self.upper[:, j])

    def _cross(self, what: str, names: list[str], lower: Array, upper: Array) -> None:
        """InputError where bounds cross at the start; where it is by rounding, at either end, they are made equal."""
        rounded = lower - upper <= SAME_NUMBER * (np.abs(lower) + np.abs(upper))
        if not rounded[0]:
            low, high = lower[0] + 0.0, upper[0] + 0.0
            crossed = f"the bounds of {what} cross: at least {low:.6g} and at most {high:.6g} ({' and '.join(names)})"
            if upper[1] >= lower[1]:
                raise self._no_solution(crossed, "Start where they do not")
            raise self._no_solution(crossed, "They do all along the line")
        upper[rounded] = np.maximum(lower, upper)[rounded]

    def _no_solution(self, why: str, remedy: str) -> InputError:
        """Return the error that there is no solution at the start; where nothing moves there is no other place."""
        if all(np.array_equal(*ends) for ends in (self.line.q, self.line.b)):
            return InputError(f"the problem must have a solution, and has none: {why}")
        return InputError(f"the problem must have a solution at the start, where {why}. {remedy}")

    def _fixed(self) -> None:
        """Variables that are fixed all along, or relax their rows for nothing."""
        M, n = self.by_columns, self.line.n
        tightens = self.rows[M.indices] & (self.equation[M.indices] | (M.data > 0))
        free = np.bincount(np.repeat(np.arange(n), np.diff(M.indptr))[tightens], minlength=n) == 0
        free &= self.flat & ((self.q <= 0) & (self.lower <= self.upper)).all(axis=0)
        free |= (self.lower == self.upper).all(axis=0)
        gone = np.zeros(n, dtype=np.bool_)
        for j in np.flatnonzero(free & self.columns & np.isfinite(self.upper[0]) & ~self.kinked_columns).tolist():
            up, part = self.upper[:, j], slice(M.indptr[j], M.indptr[j + 1])
            left = self.rows[M.indices[part]]
            rows, values = M.indices[part][left], M.data[part][left]
            self.fixed.append((j, up.copy()))
            part = slice(self.P.indptr[j], self.P.indptr[j + 1])
            still = ~gone[self.P.indices[part]]
            self.q[:, self.P.indices[part][still]] += np.outer(up, self.P.data[part][still])
            self.b[:, rows] -= np.outer(up, values)
            self.q[:, j] = 0.0
            gone[j], self.columns[j] = True, False
        if gone.any():
            self.A, self.P = without(self.A, gone), without(without(self.P, gone).T.tocsr(), gone)

    def _row(self, i: int) -> tuple[Index, Array]:
        """Places and values of a row of A."""
        part = slice(self.A.indptr[i], self.A.indptr[i + 1])
        return self.A.indices[part].astype(np.int64), self.A.data[part]

    def _rows_left(self) -> None:
        """Equations, softened by their slacks, and inequalities, two of one direction in one."""
        where, n = dict[Any, int](), self.line.n
        slack = self.flat & ~self.kinked_columns & (self.q >= 0).all(axis=0)
        slack &= np.isfinite(self.lower[0]) & np.isinf(self.upper[0])
        of = np.repeat(np.arange(self.line.m), np.diff(self.A.indptr))
        slack &= np.bincount(self.A.indices[self.rows[of]], minlength=n) == 1  # alone
        softened = np.zeros(self.line.m, dtype=np.bool_)
        softened[of[slack[self.A.indices]]] = True
        for i in np.flatnonzero(self.rows).tolist():
            (places, a), at = self._row(i), self.b[:, i].copy()
            if places.size == 0 and not self.equation[i]:
                if (at >= 0).all():
                    continue
                if at[0] < 0:
                    wrong = f"{self.line.row_name(i)} cannot hold: it says 0 <= {at[0]:.6g}"
                    remedy = "Start where it holds" if at[1] >= 0 else "It cannot all along the line"
                    raise self._no_solution(wrong, remedy)
            if self.equation[i]:
                plain = Item.of((places, a), at, at, rows=[(i, 1.0, "both")])
                self.items.append(self._softened(i, plain, slack) if softened[i] else plain)
                continue
            key = (places.tobytes(), (np.round(a / a[0], 12) + 0.0).tobytes()) if places.size else None
            old = self.items[where[key]] if key in where else None
            if old is not None:
                factor = float(a[0] / old.values[0])
                same = np.abs(a - factor * old.values).max() <= PARALLEL * np.abs(a).max()
                side = "upper" if factor > 0 else "lower"
                if same and not old.has(side):
                    setattr(old, side, at / factor)
                    old.rows.append((i, factor, side))
                    if (old.lower[0] > old.upper[0]).any():
                        names = [self.line.row_name(k) for k, _, _ in old.rows]
                        self._cross(self._expression(old), names, old.lower, old.upper)
                    continue
            elif key is not None:
                where[key] = len(self.items)
            self.items.append(Item.of((places, a), upper=at, rows=[(i, 1.0, "upper")]))

    def _softened(self, i: int, plain: Item, slack: Mask) -> Item:
        """An equation; a slack of it, one a side, goes, and missing it there costs what the slack does."""
        side, places, values, at = dict[bool, tuple[int, float]](), plain.places, plain.values, plain.lower
        for j, value in zip(places[slack[places]].tolist(), values[slack[places]].tolist(), strict=True):
            side.setdefault(value > 0, (j, value))
        if places.size == len(side):
            return plain
        slopes: dict[bool, Array] = {}
        for positive, (j, value) in side.items():
            slopes[positive] = self.q[:, j] / abs(value)
            at = at - value * self.lower[:, j]
            self.columns[j], self.q[:, j] = False, 0.0
        self.slacks.append((i, tuple(j for j, _ in side.values())))
        left = self.columns[places]
        return Item.of((places[left], values[left]), at, at, slopes.get(True), slopes.get(False), rows=plain.rows)

    def _carry(self, cost: Kinked) -> None:
        """A cost with kinks becomes a slope in q and soft bounds, those nearest to its flattest piece first."""
        places, values = cost.a
        j = int(places[0]) if places.size == 1 else -1
        cost = self._inside(cost, j) if j >= 0 else cost
        pieces, kinks, jumps = cost.pieces, cost.kinks, cost.jumps
        flattest = min(range(len(pieces)), key=lambda k: abs(pieces[k].slope))
        titles = [self.line.row_name(i) for piece in pieces for i in piece.rows if self.line.label(i)]
        base, made, title = pieces[flattest].slope, [], titles[0] if titles else ""
        if len(pieces) == 2 and pieces[0].slope < 0 < pieces[1].slope:
            base = 0.0  # one kink, like that of an absolute value
            slopes = -cost.cost * pieces[0].slope, cost.cost * pieces[1].slope
            made = [Item.of(cost.a, kinks[0], kinks[0], *slopes, title=title)]
        else:
            down = list(zip(kinks[:flattest], jumps[:flattest], strict=True))[::-1]
            up = list(zip(kinks[flattest:], jumps[flattest:], strict=True))
            for k in range(max(len(down), len(up))):
                (low, below), (high, above) = (e[k] if k < len(e) else (None, None) for e in (down, up))
                made.append(Item.of(cost.a, low, high, below, above, title=title))
        if base:
            self.q[:, places] += np.outer(cost.cost * base, values)
        self.carried.append(Carried(cost, base, tuple(self._place(item, j) for item in made)))

    def _inside(self, cost: Kinked, j: int) -> Kinked:
        """Without the pieces that lie beyond a hard bound of the variable."""
        hard_low = isfinite(self.lower[0, j]) and not isfinite(self.below[0, j])
        hard_up = isfinite(self.upper[0, j]) and not isfinite(self.above[0, j])
        if not hard_low and not hard_up:
            return cost
        pieces, kinks = list(cost.pieces), cost.kinks
        while kinks and hard_low and (kinks[0] <= self.lower[:, j]).all():
            pieces, kinks = pieces[1:], kinks[1:]
        while kinks and hard_up and (kinks[-1] >= self.upper[:, j]).all():
            pieces, kinks = pieces[:-1], kinks[:-1]
        return replace(cost, pieces=tuple(pieces))

    def _place(self, item: Item, j: int) -> tuple[str, int, str]:
        """Who carries an item: a variable that is free to, a row that lacks this side, or a row of its own."""
        sides = [side for side in ("lower", "upper") if item.has(side)]
        if j >= 0 and self._fits(item, j):
            for side, slope in (("lower", "below"), ("upper", "above")):
                if item.has(side):
                    getattr(self, side)[:, j], getattr(self, slope)[:, j] = getattr(item, side), getattr(item, slope)
            # A variable may have a soft side and a hard one: only the soft one's multiplier is the cost's.
            return "variable", j, "both" if len(sides) == 2 else sides[0]
        if len(sides) == 1:
            side, other = sides[0], "upper" if sides[0] == "lower" else "lower"
            key = item.places.tobytes() + item.values.tobytes()
            for r in self.one_sided.get((other, key), []):
                row = self.items[r]
                low, up = (item.lower, row.upper) if side == "lower" else (row.lower, item.upper)
                if (low <= up).all():
                    slope = "below" if side == "lower" else "above"
                    setattr(row, side, getattr(item, side))
                    setattr(row, slope, getattr(item, slope))
                    self.one_sided[other, key].remove(r)
                    return "row", r, side
            self.one_sided.setdefault((side, key), []).append(len(self.items))
        self.items.append(item)
        return "row", len(self.items) - 1, "both" if len(sides) == 2 else sides[0]

    def _fits(self, item: Item, j: int) -> bool:
        """Whether a variable has no soft bound yet, and its own bounds leave room for those of the item."""
        if isfinite(self.below[0, j]) or isfinite(self.above[0, j]):
            return False
        low, up = self.lower[:, j].tolist(), self.upper[:, j].tolist()
        if (item.has("lower") and isfinite(low[0])) or (item.has("upper") and isfinite(up[0])):
            return False
        ends = zip(item.lower.tolist(), low, item.upper.tolist(), up, strict=True)
        return all(max(a, b) <= min(c, d) for a, b, c, d in ends)

    def _substitute(self) -> tuple[Any, Mask]:
        """Free variables that stand in one equation only, all at once, and again while there are any."""
        kept, n = np.ones(len(self.items), dtype=np.bool_), self.line.n
        sizes = [item.places.size for item in self.items]
        places, values = (
            np.concatenate([np.zeros(0, dtype=kind), *(getattr(item, each) for item in self.items)])
            for each, kind in (("places", np.int64), ("values", np.float64))
        )
        M = sp.csr_array((values, places, np.concatenate([[0], np.cumsum(sizes)])), shape=(len(sizes), n))
        plain = np.array([item.is_equation for item in self.items], dtype=np.bool_)
        if not (self.most and plain.any()):
            return M, kept
        free = self.columns & np.isinf(self.lower[0]) & np.isinf(self.upper[0]) & (self.flat | self.squares)
        own = np.flatnonzero((free & self.columns)[places] & (values != 0))  # entries of these columns, and their items
        of = np.searchsorted(M.indptr, own, side="right") - 1
        most = np.zeros(len(sizes))
        some = np.flatnonzero(sizes)
        most[some] = np.maximum.reduceat(np.abs(values), M.indptr[some])
        large = plain[of] & (np.abs(values[own]) > SUBSTITUTED * most[of])
        level = 0
        while True:
            left = kept[of]
            may = self.columns & (np.bincount(places[own[left]], minlength=n) == 1)
            found = np.flatnonzero(large & left & may[places[own]])
            if not found.size:
                return M, kept
            self._added()
            rank = np.empty(n, dtype=np.int64)
            rank[np.argsort(np.bincount(self.P.indices, minlength=n), kind="stable")] = np.arange(n)
            found = found[np.lexsort((rank[places[own[found]]], of[found]))]  # the one with the fewest terms in P
            R, first = np.unique(of[found], return_index=True)
            J, pivots = places[own[found[first]]], values[own[found[first]]]
            goes = self.flat[J]
            if (curved := ~goes).any():
                goes[curved] = worth_squaring(self.P, M[R[curved]], J[curved])
            if not goes.any():
                return M, kept
            R, J, pivots = R[goes], J[goes], pivots[goes]
            self._replace(M[R], np.array([self.items[r].lower for r in R.tolist()]).T, J, pivots)
            rows = np.array([self.items[r].rows[0][0] for r in R.tolist()])
            self.substituted.append(Substituted(rows, J, pivots))
            kept[R], self.columns[J] = False, False
            level += 1
            if level > _CHAIN:
                self._added()
                if self.P.nnz > self.most:
                    raise _Filled

    def _replace(self, rows: Any, at: Array, J: Index, pivots: Array) -> None:
        """Put ``x_J = D x + beta(t)`` into the objective."""
        n, beta = self.line.n, at / pivots
        own, place = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.int64)
        own[J] = True
        D = without(rows, own)
        used = np.flatnonzero(np.bincount(D.indices, minlength=n))
        place[used] = np.arange(used.size)
        scale = np.repeat(-1.0 / pivots, np.diff(D.indptr))
        D = for_products(sp.csr_array((D.data * scale, place[D.indices], D.indptr), shape=(J.size, used.size)))
        cross = self.P[J]
        inner, cross = sp.csr_array(cross[:, J]), without(cross, own)
        self.P = without(without(self.P, own).T.tocsr(), own)
        self.q[:, used] += (self.q[:, J] + (inner.T @ beta.T).T) @ D
        self.q[:, J] = 0.0
        if inner.nnz:
            self.arrays.append((used, squared(D, inner)))
        if cross.nnz:
            self.q += (cross.T @ beta.T).T
            beside = placed(cross.T @ D, np.arange(n), used, n)
            self.P = self.P + beside + beside.T.tocsr()
        if sp.issparse(D):
            self._added()

    def _row_names(self, kept: Index) -> tuple[str, ...]:
        """The user's constraint, or what a term of the objective is a function of."""
        names, met = [], dict[str, int]()
        for k in kept.tolist():
            item = self.items[k]
            titles = [self.line.row_name(i) for i, _, _ in item.rows if self.line.label(i)]
            if item.title or titles:
                names.append(item.title or titles[0])
                continue
            what = self._expression(item)
            if item.places.size > 2:
                met[what] = met.get(what, -1) + 1
                what = f"{what}, number {met[what]}"
            names.append(what)
        return tuple(names)

    def _expression(self, item: Item) -> str:
        """A direction in the user's words: ``u[0] - u[1]``, or of which variables it is."""
        if item.places.size > 2:
            names, of = self._stems
            which, first = np.unique(of[item.places], return_index=True)
            return f"term of {', '.join(names[k] for k in which[np.argsort(first)].tolist())}"
        said = ""
        for j, a in zip(item.places.tolist(), item.values.tolist(), strict=True):
            sign = ("-" if a < 0 else "") if not said else (" - " if a < 0 else " + ")
            size = "" if abs(a) == 1 else f"{abs(a):.4g} "
            said += f"{sign}{size}{self.line.column_name(j)}"
        return said

    @cached_property
    def _stems(self) -> tuple[list[str], Index]:
        """Names of variables, and which one each column is an entry of."""
        number = dict[str, int]()
        stems = (self.line.column_name(j).partition("[")[0] for j in range(self.line.n))
        of = np.array([number.setdefault(stem, len(number)) for stem in stems], dtype=np.int64)
        return list(number), of


def _stays_sparse(entries: int, n: int, m: int) -> bool:
    """Whether so many columns and rows with so many entries are followed on sparse bases."""
    return any(_is_thin(entries, n, m, *how) for how in (_SPARSE, _MANY))


def _is_thin(entries: int, n: int, m: int, least: int, share: float) -> bool:
    """Whether a program has at least so many columns and rows, and no more entries than this share of all."""
    return n + m >= least and entries <= share * (n + m) * n
