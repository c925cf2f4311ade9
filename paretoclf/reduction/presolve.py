r"""Fewer items for the same problem: the reduction of a compiled program, and the exact way back.

1. Epigraph variables become costs with kinks (`paretoclf.reduction.epigraphs`).
2. Rows of one entry become bounds.
3. Variables that are fixed all along, and those that cost nothing and only relax rows, are set to their bound.
4. A slack with a cost, alone in an equation, goes: the equation may be missed on that side, at its price.
5. Parallel inequalities become one row with two bounds.
6. Costs with kinks become soft bounds, of a variable where one is free to carry them, else of a row.
7. A free variable that stands in one equation only is substituted.

`Reduced.back` takes values and multipliers of the items to all columns x and multipliers z of the compiled program. No
search, no tolerance: each step is undone in the reverse order. What comes back is judged on the compiled program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.checks import Array, Index, Mask
from paretoclf.errors import InputError
from paretoclf.memory import require_memory
from paretoclf.problem import ParametricQP
from paretoclf.reduction.epigraphs import Epigraph, Kinked, epigraphs
from paretoclf.reduction.program import ProgramLine, at_each
from paretoclf.tolerances import PARALLEL, SAME_NUMBER, SUBSTITUTED


@dataclass
class Item:
    """A row of the reduced problem: ``lower <= a'x <= upper``, each of them soft where its slope is finite.

    Attributes
    ----------
    rows : list of (row, factor, side)
        Compiled rows that it stands for: their multiplier is y / factor, of one side or of both.
    title : str
        The user's name for it, where there is one.
    """

    a: Array
    lower: Array
    upper: Array
    below: Array
    above: Array
    rows: list[tuple[int, float, str]] = field(default_factory=list)
    title: str = ""

    @classmethod
    def of(cls, a: Array, lower: Any = None, upper: Any = None, below: Any = None, above: Any = None) -> Item:
        """Without a bound where none is given, hard where no slope is."""
        none = np.full(2, np.inf)
        up, down, over = (none if each is None else each for each in (upper, below, above))
        return cls(a, -none if lower is None else lower, up, down, over)

    def has(self, side: str) -> bool:
        """Whether it has a bound on this side."""
        return bool(np.isfinite(getattr(self, side)[0]))


@dataclass(frozen=True)
class Carried:
    """A cost with kinks, what of it is in q, and the items that carry the rest: their number, and which side of it."""

    cost: Kinked
    base: float
    on: tuple[tuple[str, int, str], ...]


@dataclass(frozen=True)
class Substituted:
    """Columns that were replaced by what their equations say, all at once."""

    rows: Index
    columns: Index
    factors: Array


@dataclass(frozen=True)
class Reduced:
    """A reduced problem and how its points become points of the compiled program.

    Attributes
    ----------
    problem : ParametricQP
        Its objective lacks a function of t: values are those of the program at the point that comes back.
    program : ProgramLine
    columns, kept : int arrays
        The column of each variable, and the number of each row among ``items``.
    """

    problem: ParametricQP
    program: ProgramLine
    columns: Index
    kept: Index
    items: tuple[Item, ...] = field(repr=False)
    carried: tuple[Carried, ...] = field(repr=False)
    fixed: tuple[tuple[int, Array], ...] = field(repr=False)
    substituted: tuple[Substituted, ...] = field(repr=False)
    slacks: tuple[tuple[int, tuple[int, ...]], ...] = field(repr=False)
    eliminated: tuple[Epigraph, ...] = field(repr=False)
    bounds: tuple[tuple[int, int, float, str], ...] = field(repr=False)

    def back(self, v: Array, y: Array, t: Array) -> tuple[Array, Array]:
        """Values x (k, n) and multipliers z (k, m) of the compiled program at k points.

        Parameters
        ----------
        v, y : arrays of shape (k, items)
            Values and multipliers of the items.
        t : array of shape (k,)
        """
        line = self.program
        x = self._columns(v, at_each(line.b, t), {j: at_each(value, t) for j, value in self.fixed})
        z = self._prices(y)
        for each in self.carried:
            cost = at_each(each.cost.cost, t)
            each.cost.spread(self._slope(each, cost, y), cost, z)
        return x, self._completed(z, (line.P @ x.T).T + at_each(line.q, t))

    def ray_of_values(self, v: Array) -> Array:
        """The direction of x that a direction of the items' values is: the same with data of 0."""
        none = np.zeros((1, self.program.m))
        return np.asarray(self._columns(v[None], none, {j: np.zeros(1) for j, _ in self.fixed})[0])

    def ray_of_multipliers(self, y: Array) -> Array:
        """The direction of z that a direction of the items' multipliers is; costs with kinks have no part in it."""
        return np.asarray(self._completed(self._prices(y[None]), np.zeros((1, self.program.n)))[0])

    def ray_of_crossing(self, item: int) -> Array:
        """The multipliers of the contradiction that the two bounds of one item are: one unit of each."""
        z = np.zeros((1, self.program.m))
        if item >= self.columns.size:
            for i, factor, _ in self.items[int(self.kept[item - self.columns.size])].rows:
                z[:, i] = 1.0 / abs(factor)
            return np.asarray(self._completed(z, np.zeros((1, self.program.n)))[0])
        for i, j, a, _ in self.bounds:
            if j == self.columns[item]:
                z[:, i] = 1.0 / abs(a)
        return np.asarray(z[0])

    @cached_property
    def _number(self) -> dict[tuple[str, int], int]:
        """Where variables (by column) and rows (by number among the items) stand among the items of the problem."""
        of = {("variable", int(j)): k for k, j in enumerate(self.columns)}
        return of | {("row", int(r)): self.columns.size + k for k, r in enumerate(self.kept)}

    def _columns(self, v: Array, b: Array, fixed: Mapping[int, Array]) -> Array:
        """All columns, in the reverse order in which they went."""
        A = sp.csr_array(self.program.A)
        x = np.zeros((self.program.n, v.shape[0]))  # transposed, so that products need no copy of it
        x[self.columns] = v[:, : self.columns.size].T
        for j, value in fixed.items():
            x[j] = value
        for each in reversed(self.substituted):
            x[each.columns] = ((b[:, each.rows] - (A[each.rows] @ x).T) / each.factors).T
        low = {j: (i, a) for i, j, a, side in self.bounds if side == "lower"}
        for i, slacks in self.slacks:
            row = A[[i]].toarray()[0]
            for j in slacks:
                k, a = low[j]
                x[j] = b[:, k] / a
            missing = b[:, i] - row @ x
            for j in slacks:
                x[j] += np.maximum(missing / row[j], 0.0)
        for epigraph in reversed(self.eliminated):
            x[epigraph.column] = 0.0
            rows = (A[epigraph.rows] @ x).T - b[:, epigraph.rows]
            x[epigraph.column] = (rows / epigraph.factors).max(axis=1)
        return np.ascontiguousarray(x.T)

    def _prices(self, y: Array) -> Array:
        """Multipliers of the rows that items stand for."""
        z = np.zeros((y.shape[0], self.program.m))
        for r in self.kept.tolist():
            own = y[:, self._number["row", r]]
            for i, factor, side in self.items[r].rows:
                z[:, i] = -own / factor if side == "both" else np.maximum(-own / factor, 0.0)
        return z

    def _slope(self, carried: Carried, cost: Array, y: Array) -> Array:
        """The slope of a cost with kinks where its items have these multipliers."""
        slope = cost * carried.base
        for kind, k, side in carried.on:
            own = y[:, self._number[kind, k]]
            slope -= {"both": own, "lower": np.maximum(own, 0.0), "upper": np.minimum(own, 0.0)}[side]
        return np.asarray(slope)

    def _completed(self, z: Array, slope: Array) -> Array:
        """With the multipliers that stationarity leaves: of equations that went with a variable, then of bounds."""
        A = self.program.A.T
        for each in self.substituted:
            left = slope + (A @ z.T).T
            z[:, each.rows] = -left[:, each.columns] / each.factors
        left = slope + (A @ z.T).T
        for i, j, a, side in self.bounds:
            own = -left[:, j] / a
            z[:, i] = own if side == "both" else np.maximum(own, 0.0)
        return z


def reduce(line: ProgramLine) -> Reduced:
    """Reduce a compiled program.

    Raises
    ------
    InputError
        If two bounds cross at the start of the line.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.reduction.presolve import reduce
    >>> from paretoclf.solve.to_qp import program_line
    >>> w, lam = cp.Variable(3, name="w"), cp.Parameter(nonneg=True)
    >>> lasso = cp.Problem(cp.Minimize(cp.sum_squares(w - 1) + lam * cp.norm1(w)))
    >>> line = program_line(lasso, {lam: 4}, {lam: 0})
    >>> line.n + line.m, reduce(line).problem.items
    (18, 3)
    """
    require_memory(
        8 * (3 * line.n + 4 * line.m) * line.n, "the compiled program as an array", "use fewer rows, or a sweep"
    )
    return _Reduction(line).result()


class _Reduction:
    """The program on its way: what is left of it after each step."""

    def __init__(self, line: ProgramLine) -> None:
        self.line, self.P, self.A = line, line.P.toarray(), line.A.toarray()
        self.q, self.b = line.q.copy(), line.b.copy()
        self.equation = np.arange(line.m) < line.equations
        self.flat = ~(self.P != 0).any(axis=0)
        found = epigraphs(self.flat, self.A, self.q, self.b, line.equations)
        self.eliminated, self.rows, self.columns = found.eliminated, found.rows.copy(), found.columns.copy()
        self.q[:, ~self.columns] = 0.0
        self.kinked = found.kinked
        self.kinked_columns = np.any([k.direction != 0 for k in self.kinked], axis=0) | np.zeros(line.n, dtype=np.bool_)
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
            given = [getattr(item, side) for item in rows]
            return np.hstack([getattr(self, side)[:, V], np.array(given).reshape(-1, 2).T])

        names = tuple(self.line.column_name(int(j)) for j in V)
        problem = ParametricQP(
            0.5 * (self.P + self.P.T)[np.ix_(V, V)],
            M[np.ix_(K, V)],
            self.q[:, V],
            both("lower"),
            both("upper"),
            both("below"),
            both("above"),
            names=(*names, *self._row_names(K)),
        )
        return Reduced(
            problem,
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

    def _bounds(self) -> None:
        """Rows of one entry. Of two the tighter one wins; where neither is all along, the second stays a row."""
        for i in np.flatnonzero(self.rows).tolist():
            places = np.flatnonzero(self.A[i])
            if places.size == 0 and not self.equation[i] and (self.b[:, i] >= 0).all():
                self.rows[i] = False
            if places.size != 1:
                continue
            j, a = int(places[0]), float(self.A[i, places[0]])
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
            raise InputError(
                f"the problem must have a solution at the start, where the bounds of {what} cross: at least "
                f"{lower[0]:.6g} and at most {upper[0]:.6g} ({' and '.join(names)}). Start where they do not"
            )
        upper[rounded] = np.maximum(lower, upper)[rounded]

    def _fixed(self) -> None:
        """Variables that are fixed all along, or relax their rows for nothing."""
        for j in np.flatnonzero(self.columns & np.isfinite(self.upper[0]) & ~self.kinked_columns).tolist():
            low, up = self.lower[:, j], self.upper[:, j]
            in_rows = self.rows & (self.A[:, j] != 0)
            relaxes = not (in_rows & (self.equation | (self.A[:, j] > 0))).any()
            free = self.flat[j] and (self.q[:, j] <= 0).all() and relaxes and (low <= up).all()
            if not ((low == up).all() or free):
                continue
            self.fixed.append((j, up.copy()))
            self.q += np.outer(up, self.P[j])
            self.b -= np.outer(up, self.A[:, j] * self.rows)
            self.P[j] = self.P[:, j] = self.q[:, j] = 0.0
            self.A[self.rows, j] = 0.0
            self.columns[j] = False

    def _rows_left(self) -> None:
        """Equations, softened by their slacks, and inequalities, two of one direction in one."""
        degree, where = (self.A[self.rows] != 0).sum(axis=0), dict[Any, int]()
        for i in np.flatnonzero(self.rows).tolist():
            a, at = self.A[i].copy(), self.b[:, i].copy()
            places = np.flatnonzero(a)
            if places.size == 0 and not self.equation[i]:
                if (at >= 0).all():
                    continue
                if at[0] < 0:
                    raise InputError(
                        f"the problem must have a solution at the start, where {self.line.row_name(i)} cannot hold: "
                        f"it says 0 <= {at[0]:.6g}. Start where it holds"
                    )
            if self.equation[i]:
                self.items.append(self._softened(i, a, at, degree))
                continue
            key = (tuple(places), tuple(np.round(a[places] / a[places[0]], 12))) if places.size else None
            old = self.items[where[key]] if key in where else None
            if old is not None:
                factor = float(a[places[0]] / old.a[places[0]])
                same = np.abs(a - factor * old.a).max() <= PARALLEL * np.abs(a).max()
                side = "upper" if factor > 0 else "lower"
                if same and not old.has(side):
                    setattr(old, side, at / factor)
                    old.rows.append((i, factor, side))
                    if (old.lower[0] > old.upper[0]).any():
                        names = [self.line.row_name(k) for k, _, _ in old.rows]
                        self._cross(self._expression(old.a), names, old.lower, old.upper)
                    continue
            elif key is not None:
                where[key] = len(self.items)
            self.items.append(replace(Item.of(a, upper=at), rows=[(i, 1.0, "upper")]))

    def _softened(self, i: int, a: Array, at: Array, degree: Index) -> Item:
        """An equation; a slack of it, one a side, goes, and missing it there costs what the slack does."""
        side: dict[bool, int] = {}
        for j in np.flatnonzero(a).tolist():
            price = self.flat[j] and degree[j] == 1 and not self.kinked_columns[j] and (self.q[:, j] >= 0).all()
            if price and np.isfinite(self.lower[0, j]) and np.isinf(self.upper[0, j]):
                side.setdefault(bool(a[j] > 0), j)
        if not side or np.count_nonzero(a) == len(side):
            return replace(Item.of(a, at, at), rows=[(i, 1.0, "both")])
        slopes: dict[bool, Array] = {}
        for positive, j in side.items():
            slopes[positive] = self.q[:, j] / abs(a[j])
            at = at - a[j] * self.lower[:, j]
            a[j], self.columns[j], self.q[:, j] = 0.0, False, 0.0
        self.slacks.append((i, tuple(side.values())))
        return replace(Item.of(a, at, at, slopes.get(True), slopes.get(False)), rows=[(i, 1.0, "both")])

    def _carry(self, cost: Kinked) -> None:
        """A cost with kinks becomes a slope in q and soft bounds, those nearest to its flattest piece first."""
        places = np.flatnonzero(cost.direction)
        j = int(places[0]) if places.size == 1 else -1
        cost = self._inside(cost, j) if j >= 0 else cost
        pieces, kinks, jumps = cost.pieces, cost.kinks, cost.jumps
        flattest = int(np.argmin([abs(p.slope) for p in pieces]))
        base, made = pieces[flattest].slope, []
        if len(pieces) == 2 and pieces[0].slope < 0 < pieces[1].slope:
            base = 0.0  # one kink, like that of an absolute value
            slopes = -cost.cost * pieces[0].slope, cost.cost * pieces[1].slope
            made = [Item.of(cost.direction, kinks[0], kinks[0], *slopes)]
        else:
            down = list(zip(kinks[:flattest], jumps[:flattest], strict=True))[::-1]
            up = list(zip(kinks[flattest:], jumps[flattest:], strict=True))
            for k in range(max(len(down), len(up))):
                (low, below), (high, above) = (e[k] if k < len(e) else (None, None) for e in (down, up))
                made.append(Item.of(cost.direction, low, high, below, above))
        titles = [self.line.row_name(i) for piece in pieces for i in piece.rows if self.line.label(i)]
        made = [replace(item, title=titles[0] if titles else "") for item in made]
        self.q += np.outer(cost.cost * base, cost.direction)
        self.carried.append(Carried(cost, base, tuple(self._place(item, j) for item in made)))

    def _inside(self, cost: Kinked, j: int) -> Kinked:
        """Without the pieces that lie beyond a hard bound of the variable."""
        pieces, kinks = list(cost.pieces), cost.kinks
        hard_low = np.isfinite(self.lower[0, j]) and np.isinf(self.below[0, j])
        hard_up = np.isfinite(self.upper[0, j]) and np.isinf(self.above[0, j])
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
            key = (item.a + 0.0).tobytes()
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
        if np.isfinite(self.below[0, j]) or np.isfinite(self.above[0, j]):
            return False
        low, up = self.lower[:, j], self.upper[:, j]
        taken = (item.has("lower") and np.isfinite(low[0])) or (item.has("upper") and np.isfinite(up[0]))
        return not taken and bool((np.maximum(item.lower, low) <= np.minimum(item.upper, up)).all())

    def _substitute(self) -> tuple[Array, Mask]:
        """Free variables that stand in one equation only, all at once, and again while there are any."""
        M = np.array([item.a for item in self.items]).reshape(len(self.items), self.line.n)
        kept = np.ones(len(self.items), dtype=np.bool_)
        plain = [
            bool(item.rows) and item.lower is item.upper and np.isinf(item.below[0]) and np.isinf(item.above[0])
            for item in self.items
        ]
        free = self.columns & np.isinf(self.lower[0]) & np.isinf(self.upper[0])
        while True:
            may = free & self.columns & ((M[kept] != 0).sum(axis=0) == 1)
            R, J = [], []
            for r in np.flatnonzero(kept & np.array(plain, dtype=np.bool_)).tolist():
                own = np.flatnonzero(may & (np.abs(M[r]) > SUBSTITUTED * np.abs(M[r]).max()))
                if own.size:
                    R.append(r)
                    J.append(min(own.tolist(), key=lambda j: (np.count_nonzero(self.P[j]), j)))
            if not R:
                return M, kept
            self._replace(M[R], np.array([self.items[r].lower for r in R]).T, np.array(J))
            rows = np.array([self.items[r].rows[0][0] for r in R])
            self.substituted.append(Substituted(rows, np.array(J), M[R, J]))
            kept[R], self.columns[J] = False, False

    def _replace(self, rows: Array, at: Array, J: Index) -> None:
        """Put ``x_J = D x + beta(t)`` into the objective."""
        factors = rows[np.arange(J.size), J]
        D, beta = -rows / factors[:, None], at / factors
        D[np.arange(J.size), J] = 0.0
        P, PJ = self.P, self.P[J].copy()
        self.q += (self.q[:, J] + beta @ PJ[:, J]) @ D + beta @ PJ
        P[J] = P[:, J] = 0.0
        cross = PJ.copy()
        cross[:, J] = 0.0
        self.q[:, J] = 0.0
        inner = PJ[:, J]
        off = inner - np.diag(inner.diagonal())
        P += D.T @ (inner @ D if off.any() else inner.diagonal()[:, None] * D)
        if cross.any():
            P += cross.T @ D + D.T @ cross

    def _row_names(self, kept: Index) -> tuple[str, ...]:
        """The user's constraint, or what a term of the objective is a function of."""
        names, met = [], dict[str, int]()
        for k in kept.tolist():
            item = self.items[k]
            titles = [self.line.row_name(i) for i, _, _ in item.rows if self.line.label(i)]
            if item.title or titles:
                names.append(item.title or titles[0])
                continue
            what = self._expression(item.a)
            if np.count_nonzero(item.a) > 2:
                met[what] = met.get(what, -1) + 1
                what = f"{what}, number {met[what]}"
            names.append(what)
        return tuple(names)

    def _expression(self, a: Array) -> str:
        """A direction in the user's words: ``u[0] - u[1]``, or of which variables it is."""
        places = np.flatnonzero(a).tolist()
        if len(places) > 2:
            of = dict.fromkeys(self.line.column_name(j).partition("[")[0] for j in places)
            return f"term of {', '.join(of)}"
        said = ""
        for j in places:
            sign = ("-" if a[j] < 0 else "") if not said else (" - " if a[j] < 0 else " + ")
            size = "" if abs(a[j]) == 1 else f"{abs(a[j]):.4g} "
            said += f"{sign}{size}{self.line.column_name(j)}"
        return said
