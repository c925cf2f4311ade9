"""Every kind of path: what it implements, and all that is derived from that for each of them.

A path is the optimum of a problem along a line of its parameters. Its parameter t goes over segments; on a segment all
variables and multipliers are affine in t. What a path can be asked (`value`, `slopes`, `along`, `shadow_price`,
`compare`, `save`, `plot`, ...) is written once, in `OnSegments`.

A new kind of path implements these names, and nothing else:

===================  =================================================================================================
``t``                ends of the segments, increasing, shape (k + 1,)
``variables``        names of the variables
``duals``            names of the multipliers
``events``           every change of a variable, a constraint or a sample, in order: a tuple of `Event`
``proof``            proof of every t: has ``passes(tol)``, ``explain()``, ``gap``
``_moves``           parameters that move: a mapping from a name to its values at t = 0 and t = 1, affine between
``_at(t)``           optimum at t: what `at` returns
``_value(t)``        optimal value at t
``_read(...)``       variable or multipliers, by name, at some points of a segment
``_rates(j, t)``     rates of the value, of all variables and of all multipliers at t on segment j
``_arrays()``        content of a file, by name: arrays, and what JSON can say
``_by_a_solver(t)``  optimal values at an array of t by an independent solver, for `compare`
===================  =================================================================================================

A path of a support vector machine derives from `paretoclf.path.svm_lines.svm_path.OnPieces`, which stores the optimum
as `Pieces` and implements all of the above but ``_at(t)``. Such a kind implements that, and

===================  =================================================================================================
``caps(t)``          upper bounds of the multipliers at t, shape (n,)
``soft_margin``      problem that the proof is about: a `SoftMargin` whose caps are those at t = 0 and at t = 1
``_whole_line``      line of parameters from one end of the path to the other: a `SampleLine`, which has the problem
``_arrays()``        arrays of the pieces (``super()._arrays()``), and what only this kind has
===================  =================================================================================================

These are 15 names. All others have a default here, or in `OnPieces`, that is right where the name of t is ``"t"``, and
where what is stored is what the user asks for. A kind replaces a default only where that is not so.

Defaults of `OnSegments` that a kind may replace, and when:

===============  =================================================================================================
``at``           there is more to say about what it returns
``slopes``       only bounds of the rates are known
``parameter``    t is called something else, such as tau
``parameters``   a parameter that moves is not affine in t
``parabolas``    a variable is a parabola on a segment
``bent``         something is neither affine nor a parabola on a segment
``status``       the path may end before t = 1
``beyond``       the path may end before t = 1
``breakpoints``  nothing changes at some ends of segments
``scores``       there is a classifier at every t
``rule``         there is a classifier at every t, and `at` returns something else
``page``         there is a page that shows samples
``_shown``       `plot` shows more of the value, or of the multipliers, than of the variables
``page_parts``   variables are more bent than a parabola on a segment
``_aliases``     a variable, or a multiplier, has a second name
``_least``       the data that move tell short segments from a point
``_locate``      shares of a segment are to add up to exactly 1
``_inside``      messages about t name its range
``_where``       another number than one of `_moves` may say where
``_ending``      there is more to say about an early end
``_called``      constraints themselves, and not only names, may be given
``_plot``        there is a picture of this kind alone
``_rows``        a table has more columns
===============  =================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from paretoclf.common.checks import Array, Index, Rng, check_count, check_rng, real_number
from paretoclf.common.errors import InputError
from paretoclf.common.files import AnyFile, write_file
from paretoclf.common.tables import Tabular
from paretoclf.common.tolerances import AFFINE
from paretoclf.engine.reduction.program import between, meant_by
from paretoclf.path.base.points import Event, PriceAlong, Slope, Slopes, SolverComparison
from paretoclf.problem.shares import Shares

if TYPE_CHECKING:
    from paretoclf.problem.classifiers import Rule
    from paretoclf.roc.error_curve import ErrorCurve
    from paretoclf.roc.scores import PathScores

#: Rates of the value, of variables and of multipliers.
Rates = tuple[float, Mapping[str, Any], Mapping[str, Any]]


class OnSegments(Tabular):
    """Path over the segments between ``t[0]``, ``t[1]``, ..., on each of which variables and multipliers are affine.

    Attributes
    ----------
    t : array of shape (k + 1,)
        Ends of the segments.
    status : str
        ``"end"``, or why the path ends early.
    beyond : Beyond or None
        Why there is no optimum after the end; None where it is not so.
    """

    # ---- what each kind of path implements (the page above) -----------------------------------------------------

    t: Array
    proof: Any

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables, as `along` takes them."""
        raise NotImplementedError

    @property
    def duals(self) -> tuple[str, ...]:
        """Names of the multipliers, as `along` takes them."""
        raise NotImplementedError

    @property
    def events(self) -> tuple[Event, ...]:
        """Every change of a variable, a constraint or a sample, in order."""
        raise NotImplementedError

    @property
    def _moves(self) -> Mapping[str, tuple[Any, Any]]:
        """Values at t = 0 and at t = 1 of the parameters that move and are affine in t, by name."""
        raise NotImplementedError

    def _at(self, t: float) -> Any:
        """Optimum at t, a number in the range of the path."""
        raise NotImplementedError

    def _value(self, t: float) -> float:
        """Optimal value at t, a number in the range of the path."""
        raise NotImplementedError

    def _read(self, name: str, j: int, share: Array, t: Array) -> list[Any]:
        """Read a variable or multipliers at some points of a segment.

        Parameters
        ----------
        name : str
            One of `variables` or `duals`.
        j : int
            The segment, from ``self.t[j]`` to ``self.t[j + 1]``.
        share : array of shape (m,)
            Position of each point on the segment: 0 at its start, 1 at its end.
        t : array of shape (m,)
            The parameter there.
        """
        raise NotImplementedError

    def _rates(self, j: int, t: float) -> Rates:
        """Derivatives of the value, of all variables and of all multipliers at t, on segment j."""
        raise NotImplementedError

    def _arrays(self) -> Mapping[str, Any]:
        """Arrays that a file of the path holds, by name."""
        raise NotImplementedError

    def _by_a_solver(self, t: Array) -> Array:
        """Optimal values at an array of t, found by an independent solver."""
        raise NotImplementedError

    # ---- defaults that a kind may replace (the page above) ---------------------------------------------------------

    status: str = "end"
    beyond: Any = None

    #: What `plot` draws unless it is told.
    _shown = "variables"
    #: Distance from a breakpoint below which t is taken for it: no shorter segment is a side of `slopes`.
    _least: float = 0.0
    #: Parts of a segment on which a page shows parabolas.
    page_parts: int = 1
    #: Second names of variables or multipliers, with the names that they stand for.
    _aliases: ClassVar[Mapping[str, str]] = {}

    @property
    def parameter(self) -> str:
        """Name of t in messages and pictures."""
        return "t"

    @property
    def parabolas(self) -> tuple[str, ...]:
        """Names of the variables that are parabolas on a segment, and not affine."""
        return ()

    @property
    def bent(self) -> tuple[str, ...]:
        """Names of variables and multipliers that are neither affine nor parabolas on a segment.

        ``"value"`` is among them where the optimal value is no parabola.
        """
        return ()

    def parameters(self, t: float) -> dict[str, Any]:
        """Values at t of the parameters that move."""
        return {name: plain(between(ends, t)) for name, ends in self._moves.items()}

    def scores(self, X: Any) -> PathScores:
        """Scores of samples as an exact piecewise affine function of t."""
        raise InputError(f"scores needs a classifier at every t, and a {type(self).__name__} has none")

    # ---- where ------------------------------------------------------------------------------------------------

    @property
    def breakpoints(self) -> Array:
        """Points at which the path bends, and its two ends, increasing."""
        return np.unique(self.t)

    @cached_property
    def long_segments(self) -> Index:
        """Segments that are longer than what the data that move can tell from a point."""
        return np.flatnonzero(np.diff(self.t) > self._least)

    def _piece(self, t: float) -> int:
        """Segment at t, a number in the range of the path; at a breakpoint the one to the right."""
        return self._locate(t)[0]

    def _locate(self, t: float, j: int | None = None) -> tuple[int, Shares]:
        """Segment at t (or the given one), and the position of t on it."""
        ends = self.t
        if j is None:
            after = int(ends.searchsorted(t, side="right"))
            j = min(after - 1, ends.size - 2)
        start, end = float(ends[j]), float(ends[j + 1])
        return j, Shares.of(t, start, end)

    def _inside(self, t: Any) -> float:
        """Check that t is a number in the range of the path."""
        if t is None:
            choices = dict.fromkeys(["t", *self._moving])
            raise InputError(f"one of {', '.join(choices)} must be given, got none")
        return self._at_number(t, "t", 0.0, 1.0)

    def _where(self, t: Any, parameter: Mapping[str, Any]) -> float:
        """Find the t that is meant, within the path: t itself, or where one number that moves has a value."""
        if not parameter and not isinstance(t, Mapping):
            return self._inside(t)
        if isinstance(t, Mapping):
            named = {_name_of(each): value for each, value in t.items()}
            parameter = {**parameter, **named}
            t = None
        ranges = {"t": (0.0, 1.0), **self._moving}  # of t, unless a parameter is called so
        one_given = len(parameter) + (t is not None) == 1
        if not one_given or not set(ranges).issuperset(parameter):
            given = ", ".join(["t"] * (t is not None) + [*parameter])
            raise InputError(f"one of {', '.join(ranges)} must be given, got {given}")
        name, number = next(iter(parameter.items()))
        return self._at_number(number, name, *ranges[name])

    def _at_number(self, number: Any, name: str, first: float, stop: float) -> float:
        """Find the t, within the path, at which a parameter that goes from first to stop on [0, 1] is a number."""
        try:
            number = real_number(number)
        except (TypeError, ValueError):
            raise InputError(f"{name} must be a number, got {number!r:.100}") from None
        at = (number - first) / (stop - first)
        low, high = float(self.t[0]), float(self.t[-1])
        if not low - AFFINE <= at <= high + AFFINE:  # an end, up to rounding, is one
            why = "" if self.status == "end" else f", where the path ends: {self._ending}"
            least, most = (float(first + (stop - first) * end) for end in (low, high))
            raise InputError(f"{name} must lie between {least:.10g} and {most:.10g}{why}, got {number!r}")
        return float(np.clip(at, low, high))

    @property
    def _ending(self) -> str:
        """Reason why the path ends where it does."""
        return str(self.status)

    @property
    def axis(self) -> tuple[str, float, float]:
        """Name of the axis of pictures, and its values at t = 0 and t = 1: the one number that moves, or t itself."""
        if len(self._moves) != 1 or not self._moving:
            return self.parameter, 0.0, 1.0
        ((name, ends),) = self._moving.items()
        return name, *ends

    @property
    def _moving(self) -> dict[str, tuple[float, float]]:
        """Values at t = 0 and at t = 1 of the parameters that move and are numbers."""
        numbers = {name: ends for name, ends in self._moves.items() if not np.ndim(ends[0])}
        return {name: (float(first), float(last)) for name, (first, last) in numbers.items()}

    def _per(self, name: str | None) -> tuple[float, float]:
        """Values at t = 0 and at t = 1 of a number that moves; without a name (0, 1), those of t."""
        if name is None:
            return 0.0, 1.0
        if name not in self._moving:
            known = ", ".join(self._moving) or "none"
            raise InputError(f"per must be a parameter that is a number and moves, one of {known}, got {name!r:.100}")
        return self._moving[name]

    # ---- what can be asked ------------------------------------------------------------------------------------

    def at(self, t: Any = None, /, **parameter: Any) -> Any:
        """Optimum at t, or where one number that moves has a value, as in ``path.at(lam=0.5)``.

        An array of either gives an array of optima, of its shape.
        """
        return self._each(self._at, t, parameter)

    def _each(self, ask: Callable[[float], Any], t: Any, parameter: Mapping[str, Any]) -> Any:
        """Ask where `_where` says; at each of an array of t or of one number, for an array of answers of its shape."""
        name, many = next(iter(parameter.items()), (None, t))
        if not np.ndim(many) or len(parameter) + (t is not None) > 1:
            return ask(self._where(t, parameter))
        found = np.empty(np.shape(many), dtype=object)
        for place, each in np.ndenumerate(many):
            found[place] = ask(self._where(each, {}) if name is None else self._where(None, {name: each}))
        return found

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Refuse in words: a path is asked by `at`."""
        raise InputError(
            "a path is asked by name: path.at(t) is the optimum there, path.value(t) its value, "
            "path.at(path.breakpoints[k]) that at the k-th breakpoint"
        )

    __getitem__ = __call__

    def __getattr__(self, name: str) -> Any:
        # Only for what is not there: whoever knows scikit-learn asks for it.
        if name in ("predict", "decision_function"):
            raise AttributeError(
                f"a path has no {name}, as it is many classifiers: path.at(t).classifier.predict(X) is that of one, "
                "path.scores(X) has the scores of all"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def rule(self, t: Any = None, /, **parameter: float) -> Rule:
        """Classifier at t; where as for `at`."""
        rule: Rule = self._at(self._where(t, parameter)).classifier
        return rule

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
        found = self._each(self._value, t, parameter)
        return found.astype(np.float64) if np.ndim(found) else found

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
            Left is towards smaller t, whatever ``per`` is: where a parameter falls along the path, that is the
            parameter from above. A side where there is no path is None.

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
        ends = self._per(per)
        starts = self.t[self.long_segments]
        stops = self.t[self.long_segments + 1]
        after = int(stops.searchsorted(t + self._least, "right"))
        before = int(starts.searchsorted(t - self._least)) - 1
        return Slopes(
            plain(between(ends, t)),
            self._slope_on(before, t, ends, until=0),
            self._slope_on(after, t, ends, until=1),
            per or "t",
        )

    def _slope_on(self, k: int, t: float, ends: tuple[float, float], until: int) -> Slope | None:
        """Rates at t on stretch k, for a unit of a number that goes from one of two ends to the other.

        They hold until the start (0) or the end (1) of the stretch. There are none where there is no such stretch.
        """
        if not 0 <= k < self.long_segments.size:
            return None
        j = int(self.long_segments[k])
        limits = self.t[j : j + 2].tolist()
        nearest = min(max(t, limits[0]), limits[1])
        value, variables, duals = self._rates(j, nearest)
        unit = ends[1] - ends[0]
        variables, duals = (_over(rates, unit) for rates in (variables, duals))
        return Slope(value / unit + 0.0, variables, duals, plain(between(ends, limits[until])))

    def along(self, name: str, points: int | None = None) -> tuple[Array, Array]:
        """Read a variable, or the multipliers of a constraint, at some points of each segment.

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
        count = usual if points is None else check_count(points, "points", 2)
        share = np.linspace(0.0, 1.0, count)
        t = (1.0 - share) * self.t[:-1, None] + share * self.t[1:, None]
        values = [value for j, part in enumerate(t) for value in self._read(name, j, share, part)]
        return t.ravel(), np.array(values)

    def _named(self, name: Any) -> str:
        """Name of a variable or of multipliers, or an error that lists all names."""
        name = self._aliases.get(name, name) if isinstance(name, str) else name
        key = meant_by(name, self.variables, self.duals)
        if key is None:
            known = ", ".join([*self.variables, *self.duals])
            raise InputError(f"name must be that of a variable or constraint, one of {known}, got {name!r:.100}")
        return key

    def shadow_price(self, constraint: Any) -> PriceAlong:
        """Multiplier of a constraint as a function of t, with the sign that CVXPY gives it.

        Of an inequality it is what a unit of relaxation is worth. The rate of the value in the right-hand side, as
        `paretoclf.ranges` has it, is minus that of ``<=`` and ``==`` in a minimisation, and of
        ``>=`` in a maximisation.

        Parameters
        ----------
        constraint : str or cvxpy constraint
            One of `duals`, or the constraint itself where the path is that of a ``cvxpy.Problem``.
        """
        named = isinstance(constraint, str)
        name = self._aliases.get(constraint, constraint) if named else self._called(constraint)
        key = meant_by(name, (), self.duals)
        if key is None:
            known = ", ".join(self.duals) or "none"
            raise InputError(f"constraint must be one whose multiplier is known, one of {known}, got {name!r:.100}")
        t, price = self.along(key, 2)
        if self.long_segments.size:  # rows 2 j and 2 j + 1 are the two ends of segment j
            both_ends = 2 * self.long_segments[:, None] + np.arange(2)
            rows = both_ends.ravel()
            t, price = t[rows], price[rows]
        return PriceAlong(key, t, price, self._least)

    def _called(self, constraint: Any) -> str:
        """Name of a constraint of the problem."""
        raise InputError(f"constraint must be one of {', '.join(self.duals)}, got {constraint!r:.100}")

    def compare(self, n: int = 20, rng: Rng = 0) -> SolverComparison:
        """Compare the path with Clarabel, at its reference accuracy, at n random t of the path.

        Parameters of a ``cvxpy.Problem`` have other values after that.

        Examples
        --------
        >>> import paretoclf as pc
        >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
        >>> pc.trace(svm, start=(0.5, 1.5), stop=(1.5, 0.5)).compare(3).agrees(1e-8)
        True
        """
        n = check_count(n, "n", 1)
        drawn = check_rng(rng).uniform(self.t[0], self.t[-1], n)
        t = np.sort(drawn)
        return SolverComparison(t, np.asarray(self.value(t)), self._by_a_solver(t))

    def error_curve(self, X: Any, y: Any, *, pos_label: Any = None) -> ErrorCurve:
        """False positives and false negatives on (held-out) samples as exact step functions of t.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            Samples as for `scores`.
        y : array of shape (m,)
            Labels -1 and +1, or any two with pos_label; both present.
        pos_label : object, optional
            Which of the two labels of y is positive, where they are not -1 and +1.

        Raises
        ------
        InputError
            As for `scores`, or if the labels do not fit.

        Examples
        --------
        >>> import paretoclf as pc
        >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
        >>> curve = pc.trace(svm, start=(0.4, 1.6), stop=(1.6, 0.4)).error_curve([[0.5], [2.5]], [-1, 1])
        >>> curve.where(max_fpr=0, max_fnr=0)
        (PathInterval(t in [0.277778, 0.722222), C_plus 0.733333 to 1.26667, C_minus 1.26667 to 0.733333),)
        """
        from paretoclf.roc.error_curve import errors_along  # only when errors are counted

        return errors_along(self, X, y, pos_label)

    # ---- files, pictures, tables ------------------------------------------------------------------------------

    def save(self, file: AnyFile) -> None:
        """Write the path to an npz file, complete or not at all, for `paretoclf.load`.

        The ``cvxpy.Problem`` of a path is no part of it.
        """
        write_file(file, self._arrays())

    def plot(
        self, what: Any = None, names: Sequence[str] | None = None, ax: Any = None, *, xscale: str | None = None
    ) -> Any:
        """Draw ``"variables"``, ``"duals"`` or the ``"value"``, or by default what shows most of this kind of path.

        Of a program in two variables ``"region"`` is the plane itself: `paretoclf.plotting.FeasibleRegionDisplay`.

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
        if what == "region":
            from paretoclf.plotting.feasible_region import FeasibleRegionDisplay  # few programs have two variables

            return FeasibleRegionDisplay.from_path(self).plot(ax)
        return self._curves(self._shown if what is None else what, names, ax, xscale)

    def _plot(self, ax: Any, xscale: str | None) -> Any:
        """Draw the picture that shows most of this kind of path."""
        return self._curves(self._shown, None, ax, xscale)

    def _curves(self, what: str, names: Sequence[str] | None, ax: Any, xscale: str | None) -> Any:
        """Draw variables, multipliers or the value as curves over the parameter."""
        from paretoclf.plotting.problem import ProblemPathDisplay  # matplotlib only when a picture is wanted

        return ProblemPathDisplay.from_path(self, what, names).plot(ax=ax, xscale=xscale)

    def page(self, file: AnyFile, title: str | None = None, certificate: bool | None = None) -> None:
        """Write the path as a page to play with: one HTML file, which needs no server and no network.

        A slider moves along the path: variables, multipliers and the value there, their rates and how far they hold,
        the events, the proof, and why the path ends where it does.

        Parameters
        ----------
        file : path
            Ends in ``.html``.
        title : str, optional
            Default: what the path prints as.
        certificate : bool, optional
            Whether the page has the certificate file of the path, of up to 1 MB, and a button that checks it in the
            reader's browser; by default where the path is small. Without one the page says why.

        Raises
        ------
        InputError
            If the file has another ending or cannot be written, or there is no certificate that is asked for.
        """
        from paretoclf.plotting.program_page import write_program_page  # only when a page is wanted

        write_program_page(self, file, title, certificate)

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Rows of the table: one for each event, with t, the numbers that move, and the change."""
        for event in self.events:
            change = {"name": event.name, "before": event.before, "after": event.after}
            yield {**self._row(event.t), **change}

    def _row(self, t: float) -> dict[str, Any]:
        """First columns of a row of the table: t, and the numbers that move."""
        moved = self.parameters(t).items()
        numbers = {name: value for name, value in moved if np.ndim(value) == 0}
        return {"t": t, **numbers}


def _name_of(parameter: Any) -> str:
    """Name of a parameter that is given by name or as a ``cvxpy.Parameter``."""
    return parameter if isinstance(parameter, str) else parameter.name()


def plain(value: Any) -> Any:
    """Float for an array without axes; else the array, as a copy."""
    return float(value) if np.ndim(value) == 0 else np.array(value)


def _over(rates: Mapping[str, Any], unit: float) -> dict[str, Any]:
    """Rates for a unit of another parameter, by name."""
    return {name: plain(rate / unit) for name, rate in rates.items()}
