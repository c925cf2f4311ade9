"""What every path can be asked, whatever its kind: its parameter t goes over segments, and all is affine between two.

A kind of path says what t is called and what moves with it, reads its variables and multipliers on a segment, and says
how fast they move there; what is asked of all kinds, in the same words and types, is here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from paretoclf.common.checks import Array, Index, Rng, check_count, check_rng, real_number
from paretoclf.common.errors import InputError
from paretoclf.common.files import AnyFile, write_file
from paretoclf.common.tables import Tabular
from paretoclf.common.tolerances import AFFINE
from paretoclf.engine.reduction.program import between, meant_by
from paretoclf.path.along import Event, PriceAlong, Shares, Slope, Slopes, SolverComparison

if TYPE_CHECKING:
    from paretoclf.problem.classifiers import Rule
    from paretoclf.roc.error_curve import ErrorCurve
    from paretoclf.roc.scores import PathScores

#: Rates of the value, of variables and of multipliers.
Rates = tuple[float, Mapping[str, Any], Mapping[str, Any]]


class OnSegments(Tabular):
    """A path over the segments between ``t[0]``, ``t[1]``, ..., on each of which variables and multipliers are affine.

    Attributes
    ----------
    t : array of shape (k + 1,)
        Ends of the segments.
    status : str
        ``"end"``, or why the path ends early.
    beyond : Beyond or None
        Why there is no optimum after the end; None where it is not so.
    """

    t: Array
    status: Any
    beyond: Any
    proof: Any

    #: What `plot` draws of curves unless it is told.
    _shown = "variables"
    #: How near to a breakpoint t is at it: no shorter segment is a side of `slopes`.
    _least: float = 0.0

    #: Other names of variables or multipliers, and what they are called here.
    _aliases: ClassVar[Mapping[str, str]] = {}

    # ---- what each kind of path says of itself ----------------------------------------------------------------

    @property
    def parameter(self) -> str:
        """What messages and pictures call t."""
        return "t"

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables, as `along` takes them."""
        raise NotImplementedError

    @property
    def duals(self) -> tuple[str, ...]:
        """Names of the multipliers, as `along` takes them."""
        raise NotImplementedError

    @property
    def parabolas(self) -> tuple[str, ...]:
        """Names of what is a parabola on a segment, and not affine."""
        return ()

    @property
    def bent(self) -> tuple[str, ...]:
        """Names of what is neither on a segment; ``"value"`` is among them where that is no parabola."""
        return ()

    @property
    def events(self) -> tuple[Event, ...]:
        """Every change of a variable, a constraint or a sample, in order."""
        raise NotImplementedError

    @property
    def _moves(self) -> Mapping[str, tuple[Any, Any]]:
        """The parameters that move and are affine in t, by name: what each is at t = 0 and at t = 1."""
        raise NotImplementedError

    def parameters(self, t: float) -> dict[str, Any]:
        """The parameters that move, at t."""
        return {name: plain(between(ends, t)) for name, ends in self._moves.items()}

    def at(self, t: Any = None, /, **parameter: float) -> Any:
        """The optimum at t, or where one number that moves has a value, as in ``path.at(lam=0.5)``."""
        raise NotImplementedError

    def rule(self, t: Any = None, /, **parameter: float) -> Rule:
        """The classifier at t; where as for `at`."""
        raise NotImplementedError

    def _value(self, t: float) -> float:
        """The optimal value at t."""
        raise NotImplementedError

    def _read(self, name: str, j: int, share: Array, t: Array) -> list[Any]:
        """A variable or multiplier at some shares of segment j, which are these t."""
        raise NotImplementedError

    def _rates(self, j: int, t: float) -> Rates:
        """How fast all move at t, on segment j."""
        raise NotImplementedError

    def _by_a_solver(self, t: Array) -> Array:
        """Optimal values at some t by an independent solver."""
        raise NotImplementedError

    def _arrays(self) -> Mapping[str, Any]:
        """What is stored of it."""
        raise NotImplementedError

    def scores(self, X: Any) -> PathScores:
        """Scores of samples as an exact piecewise affine function of t."""
        raise NotImplementedError

    # ---- where ------------------------------------------------------------------------------------------------

    @property
    def breakpoints(self) -> Array:
        """Where it bends, and its two ends, increasing."""
        return np.unique(self.t)

    @cached_property
    def stretches(self) -> Index:
        """The segments that are longer than what the data that move can tell from a point."""
        return np.flatnonzero(np.diff(self.t) > self._least)

    def _piece(self, t: float) -> int:
        """The segment at t, in the range of the path; at an end of two the later one."""
        return self._locate(t)[0]

    def _locate(self, t: float, j: int | None = None) -> tuple[int, Shares]:
        """The segment at t (or the one that is given), and where on it."""
        ends = self.t
        if j is None:
            j = min(int(ends.searchsorted(t, side="right")) - 1, ends.size - 2)
        return j, Shares.of(t, float(ends[j]), float(ends[j + 1]))

    def _inside(self, t: Any) -> float:
        """One number in the range of the path."""
        raise NotImplementedError

    def _where(self, t: Any, parameter: Mapping[str, Any]) -> float:
        """The t that is meant, within the path: t itself, or where one number that moves has a value."""
        if not parameter and not isinstance(t, Mapping):
            return self._inside(t)
        if isinstance(t, Mapping):
            named = {each if isinstance(each, str) else each.name(): value for each, value in t.items()}
            t, parameter = None, {**parameter, **named}
        ranges = {"t": (0.0, 1.0), **self._moving}  # of t, unless a parameter is called so
        if len(parameter) + (t is not None) != 1 or not set(ranges).issuperset(parameter):
            given = ", ".join([*([] if t is None else ["t"]), *parameter]) or "none"
            raise InputError(f"one of {', '.join(ranges)} must be given, got {given}")
        name, number = next(iter(parameter.items()))
        return self._at_number(number, name, *ranges[name])

    def _at_number(self, number: Any, name: str, first: float, stop: float) -> float:
        """The t, within the path, at which what goes from first to stop along t = 0 to 1 is a number."""
        try:
            number = real_number(number)
        except (TypeError, ValueError):
            raise InputError(f"{name} must be a number, got {number!r:.100}") from None
        at, (low, high) = (number - first) / (stop - first), (float(self.t[0]), float(self.t[-1]))
        if not low - AFFINE <= at <= high + AFFINE:  # an end, up to rounding, is one
            why = "" if self.status == "end" else f", where the path ends: {self._ending}"
            ends = [float(first + (stop - first) * end) for end in (low, high)]
            raise InputError(f"{name} must lie between {ends[0]:.10g} and {ends[1]:.10g}{why}, got {number!r}")
        return float(np.clip(at, low, high))

    @property
    def _ending(self) -> str:
        """Why it ends where it does."""
        return str(self.status)

    @property
    def axis(self) -> tuple[str, float, float]:
        """What pictures have for t: the one number that moves, and what it is at t = 0 and t = 1; or t itself."""
        if len(self._moves) != 1 or not self._moving:
            return self.parameter, 0.0, 1.0
        ((name, ends),) = self._moving.items()
        return name, *ends

    @property
    def _moving(self) -> dict[str, tuple[float, float]]:
        """The numbers among the parameters that move."""
        return {name: (float(first), float(last)) for name, (first, last) in self._moves.items() if not np.ndim(first)}

    def _per(self, name: str | None) -> tuple[float, float]:
        """What a number that moves is at t = 0 and at t = 1; without a name that of t."""
        if name is None:
            return 0.0, 1.0
        if name not in self._moving:
            known = ", ".join(self._moving) or "none"
            raise InputError(f"per must be a parameter that is a number and moves, one of {known}, got {name!r:.100}")
        return self._moving[name]

    # ---- what is there ----------------------------------------------------------------------------------------

    def value(self, t: Any = None, /, **parameter: Any) -> Any:
        """Optimal value at t: quadratic between breakpoints. An array of t gives an array of values.

        Parameters
        ----------
        t : float or array
            In the range of the path; or one number that moves, by its name, as for `at`.

        Returns
        -------
        float or array of the shape of t

        Examples
        --------
        >>> import numpy as np
        >>> import paretoclf as pc
        >>> path = pc.trace(pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]), start=(0, 0), stop=(1, 1))
        >>> np.round(path.value([0.5, 1.0]), 6)
        array([1.555556, 2.888889])
        >>> round(path.value(C_plus=0.5), 6)
        1.555556
        """
        if not parameter and not np.ndim(t):
            return self._value(self._where(t, parameter))
        named = next(iter(parameter), None)
        many = t if named is None or t is not None else parameter[named]
        if not np.ndim(many) or len(parameter) + (t is not None) > 1:
            return self._value(self._where(t, parameter))
        each = (self._where(u, {}) if named is None else self._where(None, {named: u}) for u in np.ravel(many))
        return np.array([self._value(u) for u in each]).reshape(np.shape(many))

    def slopes(self, t: Any = None, /, *, per: str | None = None, **parameter: float) -> Slopes:
        """Right and left derivatives of the value, of every variable and of every dual, and how far they hold.

        Parameters
        ----------
        t, **parameter
            Where, as for `at`.
        per : str, optional
            A number that moves, for a unit of which rates (and ``until``) are given; by default for t.

        Returns
        -------
        Slopes
            A side where there is no path is None.

        Notes
        -----
        Breakpoints are known as well as the data that move (`paretoclf.problem.parametric_qp.shortest_stretch`): no
        nearer to one than that is t beside it, and no stretch that is shorter is a side.

        Examples
        --------
        >>> import paretoclf as pc
        >>> path = pc.trace(pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]), start=(0, 0), stop=(1, 1))
        >>> right = path.slopes(0.5).right
        >>> round(right.value, 6), right.variables["w"].round(6).tolist(), right.until
        (2.666667, [0.0], 1.0)
        """
        t = self._where(t, parameter)
        (first, last), pieces, ends = self._per(per), self.stretches, self.t
        after = int(np.searchsorted(ends[pieces + 1], t + self._least, side="right"))
        before = int(np.searchsorted(ends[pieces], t - self._least, side="left")) - 1

        def side(k: int, end: int) -> Slope | None:
            if not 0 <= k < pieces.size:
                return None
            j, unit = int(pieces[k]), last - first
            part = ends[j : j + 2].tolist()
            value, *others = self._rates(j, min(max(t, part[0]), part[1]))
            variables, duals = ({name: plain(each / unit) for name, each in rates.items()} for rates in others)
            return Slope(value / unit, variables, duals, float((1.0 - part[end]) * first + part[end] * last))

        return Slopes(float((1.0 - t) * first + t * last), side(before, 0), side(after, 1))

    def along(self, name: str, points: int | None = None) -> tuple[Array, Array]:
        """A variable, or the multipliers of a constraint, at some points of each segment.

        Parameters
        ----------
        name : str
            One of `variables` or `duals`.
        points : int, optional
            How many, from one end of a segment to the other; by default both ends, between which it is affine, and 3
            of one of `parabolas`, which go through them.

        Returns
        -------
        t, values : arrays of shape (points k,), (points k, ...)

        Examples
        --------
        >>> import paretoclf as pc
        >>> path = pc.trace(pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]), start=(0, 0), stop=(1, 1))
        >>> t, w = path.along("w")
        >>> t.size, w[-1].round(6).tolist()
        (4, [0.666667])
        """
        name = self._named(name)
        usual = 3 if name in self.parabolas else 2
        share = np.linspace(0.0, 1.0, usual if points is None else check_count(points, "points", 2))
        t = (1.0 - share) * self.t[:-1, None] + share * self.t[1:, None]
        return t.ravel(), np.array([value for j, part in enumerate(t) for value in self._read(name, j, share, part)])

    def _named(self, name: Any) -> str:
        """The name of a variable or of multipliers, or an error that says which there are."""
        name = self._aliases.get(name, name) if isinstance(name, str) else name
        key = meant_by(name, self.variables, self.duals)
        if key is None:
            known = ", ".join([*self.variables, *self.duals])
            raise InputError(f"name must be that of a variable or constraint, one of {known}, got {name!r:.100}")
        return key

    def shadow_price(self, constraint: Any) -> PriceAlong:
        """The multiplier of a constraint as a function of t.

        Parameters
        ----------
        constraint : str or cvxpy constraint
            One of `duals`, or the constraint itself where the path is that of a ``cvxpy.Problem``.
        """
        name = self._aliases.get(constraint, constraint) if isinstance(constraint, str) else self._called(constraint)
        key = meant_by(name, (), self.duals)
        if key is None:
            known = ", ".join(self.duals) or "none"
            raise InputError(f"constraint must be one whose multiplier is known, one of {known}, got {name!r:.100}")
        t, price = self.along(key, 2)
        ends = (2 * self.stretches[:, None] + np.arange(2)).ravel() if self.stretches.size else slice(None)
        return PriceAlong(key, t[ends], price[ends], self._least)

    def _called(self, constraint: Any) -> str:
        """The name of a constraint of the problem."""
        raise InputError(f"constraint must be one of {', '.join(self.duals)}, got {constraint!r:.100}")

    def compare(self, n: int = 20, rng: Rng = 0) -> SolverComparison:
        """Values of the path and of Clarabel at its reference accuracy, at n random t of the path.

        Parameters of a ``cvxpy.Problem`` have other values after that.

        Examples
        --------
        >>> import paretoclf as pc
        >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
        >>> pc.trace(svm, start=(0.5, 1.5), stop=(1.5, 0.5)).compare(3).agrees(1e-8)
        True
        """
        n = check_count(n, "n", 1)
        t = np.sort(check_rng(rng).uniform(self.t[0], self.t[-1], n))
        return SolverComparison(t, np.asarray(self.value(t)), self._by_a_solver(t))

    def error_curve(self, X: Any, y: Any) -> ErrorCurve:
        """False positives and false negatives on (held-out) samples as exact step functions of t.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            Samples as for `scores`.
        y : array of shape (m,)
            Labels -1 and +1, both present.

        Raises
        ------
        InputError
            As for `scores`, or if the labels do not fit.

        Examples
        --------
        >>> import paretoclf as pc
        >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
        >>> pc.trace(svm, start=(0.4, 1.6), stop=(1.6, 0.4)).error_curve([[0.5], [2.5]], [-1, 1]).minimax()
        (Optimum(t in [0.277778, 0.722222), fpr 0, fnr 0, objective 0),)
        """
        from paretoclf.roc.error_curve import ErrorCurve  # only when errors are counted

        return ErrorCurve.of_scores(self.scores(X), y, getattr(self, "line", None), self.parameter)

    # ---- files, pictures, tables ------------------------------------------------------------------------------

    def save(self, file: AnyFile) -> None:
        """Write the path to an npz file, complete or not at all, for `paretoclf.load`.

        The ``cvxpy.Problem`` of a path is no part of it.
        """
        write_file(file, self._arrays())

    def plot(
        self, what: Any = None, names: Sequence[str] | None = None, ax: Any = None, *, xscale: str | None = None
    ) -> Any:
        """Draw it: ``"variables"``, ``"duals"`` or the ``"value"``, or by default what shows most of its kind.

        Parameters
        ----------
        what : str, optional
            By default the value between its bounds for a path within eps, coefficients or multipliers above the
            proved gap for a path of samples (`paretoclf.plotting.PathDisplay`), and else variables.
        names : sequence of str, optional
            Which variables or multipliers; see `paretoclf.plotting.ProblemPathDisplay`.
        ax : Axes, optional
            Where; ``plot(ax)`` is the same.
        xscale : {"linear", "log"}, optional
            The scale of the parameter.
        """
        if what is not None and not isinstance(what, str):
            what, ax = None, what
        if what is None and names is None:
            return self._plot(ax, xscale)
        return self._curves(self._shown if what is None else what, names, ax, xscale)

    def _plot(self, ax: Any, xscale: str | None) -> Any:
        """The picture that shows most of this kind of path."""
        return self._curves(self._shown, None, ax, xscale)

    def _curves(self, what: str, names: Sequence[str] | None, ax: Any, xscale: str | None) -> Any:
        from paretoclf.plotting.problem import ProblemPathDisplay  # matplotlib only when a picture is wanted

        return ProblemPathDisplay.from_path(self, what, names).plot(ax=ax, xscale=xscale)

    def page(self, file: AnyFile, title: str | None = None) -> None:
        """Write the path as a page to play with: one HTML file, which needs no server and no network.

        A slider moves along the path: variables, multipliers and the value there, their rates and how far they hold,
        the events, the proof, and why the path ends where it does.

        Parameters
        ----------
        file : path
            Ends in ``.html``.
        title : str, optional
            Default: what the path prints as.

        Raises
        ------
        InputError
            If the file has another ending or cannot be written.
        """
        from paretoclf.plotting.program_page import write_program_page  # only when a page is wanted

        write_program_page(self, file, title)

    def _rows(self) -> Iterator[dict[str, Any]]:
        """One for each event: t, the numbers that move, and what changes."""
        for event in self.events:
            yield {**self._row(event.t), "name": event.name, "before": event.before, "after": event.after}

    def _row(self, t: float) -> dict[str, Any]:
        """What a row begins with: t, and the numbers that move."""
        return {"t": t, **{name: value for name, value in self.parameters(t).items() if np.ndim(value) == 0}}


def plain(value: Any) -> Any:
    """A number where there is one entry without an axis."""
    return float(value) if np.ndim(value) == 0 else np.array(value)
