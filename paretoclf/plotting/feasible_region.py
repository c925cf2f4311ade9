"""The picture of a linear or quadratic program in two variables: its region, level lines, and the path of optima."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Self

import numpy as np

from paretoclf.common.checks import Array, Mask
from paretoclf.common.errors import InputError
from paretoclf.plotting.base import NAMED, Display, new_axes, plain

#: A row holds at a point that misses it by this share of its terms.
_HOLDS = 1e-6

#: Colours of rows, and their line styles after these.
_LINES = ("-", "--", "-.", ":")

#: The objective is evaluated at so many points of each axis, and drawn at so many levels.
_GRID, _LEVELS = 101, 7


@dataclass(frozen=True)
class LinearRows:
    """Rows ``A x <= b`` of two variables, some of them equations, with a name each.

    Attributes
    ----------
    names : tuple of str
    A : array of shape (m, 2)
    b : array of shape (m,)
    equation : array of shape (m,), bool
    """

    names: tuple[str, ...]
    A: Array
    b: Array
    equation: Mask

    def hold(self, point: Array) -> Mask:
        """Which rows hold at a point."""
        slack = self._slack(point)
        return np.where(self.equation, np.abs(slack) <= self._unit(point), slack >= -self._unit(point))

    def active(self, point: Array) -> Mask:
        """Which rows hold with equality at a point."""
        return np.asarray(np.abs(self._slack(point)) <= self._unit(point))

    def _slack(self, point: Array) -> Array:
        return np.asarray(self.b - self.A @ point)

    def _unit(self, point: Array) -> Array:
        return np.asarray(_HOLDS * (1.0 + np.abs(self.b) + np.abs(self.A) @ np.abs(point)))

    @property
    def corners(self) -> Array:
        """Where two lines meet and, of each line, the point next to 0: a region that has a point has one of these."""
        found = list[Any]()
        for i, j in combinations(range(len(self.b)), 2):
            pair = self.A[[i, j]]
            lengths = np.prod(np.linalg.norm(pair, axis=1))
            if abs(np.linalg.det(pair)) > 1e-12 * lengths:
                found.append(np.asarray(np.linalg.solve(pair, self.b[[i, j]])))
        squares = np.sum(self.A**2, axis=1)
        found += [b / square * a for a, b, square in zip(self.A, self.b, squares, strict=True) if square > 0.0]
        return np.array(found).reshape(-1, 2)

    @property
    def feasible_corners(self) -> Array:
        """Corners at which all rows hold."""
        return np.array([point for point in self.corners if self.hold(point).all()]).reshape(-1, 2)

    @property
    def is_empty(self) -> bool:
        """Whether no point satisfies all rows."""
        used = self.A.any(axis=1)
        if not self.hold(np.zeros(2))[~used].all():
            return True
        return bool(used.any()) and not len(self.feasible_corners)

    @property
    def is_unbounded(self) -> bool:
        """Whether there is a direction in which no row is ever left; of a region with a point."""
        if not self.A.any():
            return True
        for a in self.A[self.A.any(axis=1)]:
            for along in (np.array([-a[1], a[0]]), np.array([a[1], -a[0]])):
                rise = self.A @ along
                small = _HOLDS * np.linalg.norm(self.A, axis=1) * np.linalg.norm(along)
                if (np.where(self.equation, np.abs(rise), rise) <= small).all():
                    return True
        return False

    def within(self, window: Array) -> Array:
        """Corners of the part of the region in a window, ``[[left, right], [low, high]]``, in their order."""
        (left, right), (low, high) = window
        polygon = [np.array(each) for each in ((left, low), (right, low), (right, high), (left, high))]
        for a, b, equation in zip(self.A, self.b, self.equation, strict=True):
            polygon = _cut(polygon, a, b)
            if equation:
                polygon = _cut(polygon, -a, -b)
        return np.array(polygon).reshape(-1, 2)

    def chord(self, k: int, window: Array) -> Array:
        """Ends of the part of a row's line that is in a window, shape (2, 2); empty where it is not seen."""
        a, b = self.A[k], self.b[k]
        if not a.any():
            return np.zeros((0, 2))
        line = LinearRows(("",), a[None], np.array([b]), np.array([True])).within(window)
        if not len(line):
            return line
        along = line @ np.array([-a[1], a[0]])
        return np.array([line[along.argmin()], line[along.argmax()]])


def _cut(polygon: list[Array], a: Array, b: float) -> list[Array]:
    """Corners of what is left of a polygon where ``a x <= b``."""
    unit = _HOLDS * (abs(b) + max((float(np.abs(a) @ np.abs(point)) for point in polygon), default=0.0)) * 1e-3
    kept = list[Array]()
    for first, second in zip(polygon, [*polygon[1:], *polygon[:1]], strict=True):
        here, there = b - a @ first, b - a @ second
        if here >= -unit:
            kept.append(first)
        if (here > unit and there < -unit) or (here < -unit and there > unit):
            kept.append(first + here / (here - there) * (second - first))
    return kept


@dataclass(eq=False)
class FeasibleRegionDisplay(Display):
    """The region of a program in two variables, with the objective's level lines and the rows that are active.

    The region is filled; each row is a line with its name, an arrow to the side on which it holds, and a thick line
    where it is active at the optimum. An unbounded region is filled to the border of the picture, and of an empty one
    there are the lines alone. Of a path the optimum at each t is drawn, too, with a dot where its pieces meet, and
    rows that move once more, thin, where the path ends.

    Attributes
    ----------
    rows : LinearRows
        The rows at the place that is shown.
    axes : pair of str
        Names of the two variables.
    objective : tuple of array of shape (2, 2) and array of shape (2,)
        P and q of ``x'P x / 2 + q'x``, as the user has it.
    sense : int
        -1 where it is maximised.
    optimum : array of shape (2,), optional
        None where none is known.
    path : array of shape (k, 2)
        Optima one after another; empty without a path.
    last : LinearRows, optional
        The rows where the path ends.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import paretoclf as pc
    >>> from paretoclf.plotting import FeasibleRegionDisplay
    >>> x, hours = cp.Variable(2, nonneg=True, name="x"), cp.Parameter(name="hours", value=8.0)
    >>> rows = [(x[0] + x[1] <= hours).set_label("oven"), (x[0] <= 5).set_label("flour")]
    >>> bakery = cp.Problem(cp.Maximize(3 * x[0] + 2 * x[1]), rows)
    >>> display = FeasibleRegionDisplay.from_path(pc.trace(bakery, {hours: 2}, {hours: 8}), t=1.0)
    >>> display.active  # display.plot() draws it; so does path.plot("region")
    ('oven', 'flour')
    >>> display.rows.is_unbounded, display.rows.is_empty
    (False, False)
    """

    rows: LinearRows
    axes: tuple[str, str]
    objective: tuple[Array, Array]
    sense: int = 1
    optimum: Array | None = None
    path: Array = field(default_factory=lambda: np.zeros((0, 2)))
    last: LinearRows | None = None

    @classmethod
    def from_path(cls, path: Any, t: float = 0.0) -> Self:
        """Make the display of a `ProblemPath` of a program in two variables, with its region at t.

        Raises
        ------
        InputError
            If it has not two variables, or CVXPY had to add one to its program.
        """
        program = path.program
        names = tuple(program.column_name(column) for column in range(program.n))
        if program.n != 2 or not all(map(program.is_named, range(program.n))):
            raise InputError(
                f"path must be of a program in two variables, got {program.n} columns ({', '.join(names[:4])}): "
                "path.plot('variables') draws any path, FeasibleRegionDisplay.from_problem a problem without its path"
            )
        last = float(path.t[-1])
        rows = [_rows_at(program, at) for at in (t, last)]
        q = program.sense * ((1.0 - t) * program.q[0] + t * program.q[1])
        objective = program.sense * program.P.toarray(), q
        moves = not np.array_equal(rows[0].b, rows[1].b)
        optima = np.reshape(path.x, (-1, 2))
        optimum = path.compiled(t)[0]
        return cls(rows[0], (names[0], names[1]), objective, program.sense, optimum, optima, rows[1] if moves else None)

    @classmethod
    def from_problem(cls, problem: Any) -> Self:
        """Make the display of a ``cvxpy.Problem`` in two variables, at the values that its parameters have.

        Where it was solved, what its variables hold is the optimum.

        Raises
        ------
        InputError
            If it has not two numbers as variables, its objective is neither affine nor quadratic, a constraint is not
            affine, or a parameter has no value.

        Examples
        --------
        >>> import cvxpy as cp
        >>> from paretoclf.plotting import FeasibleRegionDisplay
        >>> x = cp.Variable(2, name="x")
        >>> rows = [(x >= 0).set_label("signs"), (x[0] + x[1] <= -1).set_label("sum")]
        >>> display = FeasibleRegionDisplay.from_problem(cp.Problem(cp.Minimize(x[0]), rows))
        >>> display.rows.names, display.rows.is_empty
        (('signs[0]', 'signs[1]', 'sum'), True)
        """
        return cls(*_read(problem))

    @property
    def active(self) -> tuple[str, ...]:
        """Names of the rows that are active at the optimum."""
        if self.optimum is None:
            return ()
        shown = zip(self.rows.names, self.rows.active(self.optimum), strict=True)
        return tuple(name for name, holds in shown if holds)

    def value(self, x: Array, y: Array) -> Array:
        """The objective at points, without what is constant in it."""
        P, q = self.objective
        squares = P[0, 0] * x**2 + 2 * P[0, 1] * x * y + P[1, 1] * y**2
        return np.asarray(0.5 * squares + q[0] * x + q[1] * y)

    @property
    def window(self) -> Array:
        """The part of the plane that is shown, ``[[left, right], [low, high]]``."""
        points = [self.rows.feasible_corners, self.path]
        points += [] if self.last is None else [self.last.feasible_corners]
        points += [] if self.optimum is None else [self.optimum[None]]
        found = np.concatenate(points)
        found = found if len(found) else np.concatenate([self.rows.corners, np.zeros((1, 2))])
        low, high = found.min(axis=0), found.max(axis=0)
        span = high - low
        span = np.where(span > 0.0, span, np.max(span) or 1.0 + np.abs(found).max())
        room = (0.6 if self.rows.is_unbounded else 0.2) * span
        return np.stack([low - room, high + room], axis=1)

    def plot(self, ax: Any = None, *, title: str | None = None) -> Self:
        """Draw it."""
        ax, window = new_axes(ax, 6.4, 4.4), self.window
        region = self.rows.within(window)
        if self.rows.is_empty:
            ax.text(0.5, 1.0, "no point satisfies all", transform=ax.transAxes, ha="center", va="bottom", color="0.4")
        elif len(region):
            ax.fill(*region.T, color="#009E73", alpha=0.18, linewidth=0, zorder=0)
        self._draw_levels(ax, window)
        for k, name in enumerate(self.rows.names):
            self._draw_row(ax, window, k, name)
        self._draw_path(ax)
        ax.set(xlim=window[0], ylim=window[1], xlabel=plain(self.axes[0]), ylabel=plain(self.axes[1]))
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(fontsize="x-small", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
        return self._drawn(ax, title)

    def _draw_row(self, ax: Any, window: Array, k: int, name: str) -> None:
        """Draw the line of a row, its feasible side, and the same line where the path ends."""
        style = {"color": NAMED[k % len(NAMED)], "linestyle": _LINES[k // len(NAMED) % len(_LINES)]}
        line = self.rows.chord(k, window)
        is_active = name in self.active
        if len(line):
            label = plain(f"{name} (active)" if is_active else name)
            ax.plot(*line.T, linewidth=2.4 if is_active else 1.1, label=label, **style)
        if len(line) and not self.rows.equation[k]:
            middle, span = line.mean(axis=0), window[:, 1] - window[:, 0]
            inward = -self.rows.A[k] * span**2  # at a right angle to the line as it is seen
            inward = 0.05 * inward / np.linalg.norm(inward / span)
            arrow = {"arrowstyle": "->", "color": style["color"]}
            ax.annotate("", middle + inward, middle, arrowprops=arrow)
        if self.last is not None and self.last.b[k] != self.rows.b[k]:
            ax.plot(*self.last.chord(k, window).T, linewidth=0.7, alpha=0.8, **style)

    def _draw_levels(self, ax: Any, window: Array) -> None:
        """Draw lines of equal objective, that of the optimum among them, and an arrow to better values."""
        (left, right), (low, high) = window.tolist()
        X, Y = np.meshgrid(np.linspace(left, right, _GRID), np.linspace(low, high, _GRID))
        values = self.value(X, Y)
        if not np.ptp(values):
            return
        ax.contour(X, Y, values, levels=_LEVELS, colors="0.75", linewidths=0.7, linestyles="dashed", zorder=0)
        ax.plot([], [], "--", color="0.75", linewidth=0.7, label="level lines of the objective")
        if self.optimum is None:
            return
        ax.contour(X, Y, values, levels=[self.value(*self.optimum)], colors="0.35", linewidths=1.2, linestyles="dashed")
        P, q = self.objective
        span = window[:, 1] - window[:, 0]
        better = -self.sense * (P @ self.optimum + q) * span**2
        if better.any():
            better = 0.12 * better / np.linalg.norm(better / span)
            ax.annotate("", self.optimum + better, self.optimum, arrowprops={"arrowstyle": "-|>", "color": "0.35"})

    def _draw_path(self, ax: Any) -> None:
        """Draw the optima along the path, and the one that is shown."""
        if len(self.path):
            ax.plot(*self.path.T, ".-", color="black", linewidth=1.6, markersize=6, label="optima along the path")
        if self.optimum is not None:
            ax.plot(*self.optimum, "o", color="black", markersize=8, zorder=3, label="optimum")


def _rows_at(program: Any, t: float) -> LinearRows:
    """The rows of a compiled program at t."""
    names = tuple(program.row_name(row) for row in range(program.m))
    b = (1.0 - t) * program.b[0] + t * program.b[1]
    return LinearRows(names, program.rows.toarray(), b, np.arange(program.m) < program.equations)


# --- A problem of CVXPY, read without compiling it --------------------------------------------------------------------


def _read(problem: Any) -> tuple[LinearRows, tuple[str, str], tuple[Array, Array], int, Array | None]:
    """Rows, axes, objective, sense and optimum of a ``cvxpy.Problem``, by its values at a few points."""
    variables = problem.variables()
    entries = [f"{v.name()}{_place(at)}" for v in variables for at in np.ndindex(*v.shape)]
    if len(entries) != 2:
        raise InputError(f"problem must have two numbers as variables, got {len(entries)} ({', '.join(entries[:4])})")
    unset = [parameter.name() for parameter in problem.parameters() if parameter.value is None]
    if unset:
        raise InputError(f"parameter {unset[0]} must have a value, as {unset[0]}.value = 1.0")
    goal = problem.objective.expr
    if not goal.is_quadratic():
        raise InputError(f"objective must be affine or quadratic, got {goal}")
    held = [v.value for v in variables]
    known = [np.ravel(value) for value in held if value is not None]
    optimum = np.concatenate(known) if len(known) == len(held) and problem.status == "optimal" else None

    def at(expression: Any, point: Array) -> Array:
        ends = np.cumsum([v.size for v in variables])[:-1]
        for variable, part in zip(variables, np.split(point, ends), strict=True):
            variable.save_value(part.reshape(variable.shape))
        return np.ravel(expression.value)

    try:
        rows = _joined([_row(name, c, at) for name, c in _constraints(problem)])
        objective = _quadratic(lambda point: float(at(goal, point)[0]))
    finally:
        for variable, value in zip(variables, held, strict=True):
            variable.save_value(value)
    sense = 1 if type(problem.objective).__name__ == "Minimize" else -1
    return rows, (entries[0], entries[1]), objective, sense, optimum


def _place(at: tuple[int, ...]) -> str:
    """Index of an entry."""
    return f"[{', '.join(map(str, at))}]" if at else ""


def _constraints(problem: Any) -> Iterator[tuple[str, Any]]:
    """The constraints by name, then what attributes of variables say."""
    for k, constraint in enumerate(problem.constraints):
        yield constraint.label or f"constraint {k}", constraint
    for variable in problem.variables():
        kinds = [kind for kind in ("nonneg", "pos", "nonpos", "neg") if variable.attributes[kind]]
        for constraint in variable.domain:
            side = "lower bound" if constraint.args[0].is_constant() else "upper bound"
            yield f"{variable.name()}: {kinds[0] if kinds else side}", constraint


def _row(name: str, constraint: Any, at: Any) -> LinearRows:
    """The rows of one constraint; infinite bounds have none."""
    kind = type(constraint).__name__
    if kind not in ("Equality", "Zero", "Inequality", "NonPos", "NonNeg") or not constraint.expr.is_affine():
        raise InputError(f"constraints must be affine, {name} is none: {constraint}")
    sign = -1.0 if kind == "NonNeg" else 1.0
    none, *units = (sign * at(constraint.expr, point) for point in (np.zeros(2), *np.eye(2)))
    names = [f"{name}{_place(place)}" for place in np.ndindex(*constraint.expr.shape)]
    finite = np.isfinite(none)
    A = np.stack([unit[finite] - none[finite] for unit in units], axis=1)
    named = tuple(each for each, kept in zip(names, finite, strict=True) if kept)
    return LinearRows(named, A, -none[finite], np.full(len(A), kind in ("Equality", "Zero")))


def _joined(parts: list[LinearRows]) -> LinearRows:
    """Rows of several constraints."""
    names = tuple(name for part in parts for name in part.names)
    A = np.concatenate([part.A for part in parts] or [np.zeros((0, 2))])
    b = np.concatenate([part.b for part in parts] or [np.zeros(0)])
    return LinearRows(names, A, b, np.concatenate([part.equation for part in parts] or [np.zeros(0, dtype=bool)]))


def _quadratic(f: Any) -> tuple[Array, Array]:
    """P and q of a quadratic function of two numbers, by its values at six points."""
    zero, e, g = np.zeros(2), *np.eye(2)
    none = f(zero)
    first, second = ((f(each) - f(-each)) / 2.0 for each in (e, g))
    squares = [f(each) + f(-each) - 2.0 * none for each in (e, g)]
    mixed = f(e + g) - f(e) - f(g) + none
    return np.array([[squares[0], mixed], [mixed, squares[1]]]), np.array([first, second])
