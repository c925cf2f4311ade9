"""Paths of support vector machines, stored in pieces: all that is derived for each kind, and how it is proved.

What a new kind implements stands on the page of `paretoclf.path.base.path`.

Defaults of `OnPieces` that a kind may replace, beside those of `OnSegments`, and when:

=====================  ===========================================================================================
``variables``          there are more of them than w and b, or fewer
``costs``              the problem has costs
``equations``          the multipliers obey none, or two
``no_page``            the page would show samples at wrong distances
``_about``             a certificate file must say more of its two ends, or less
``_unit``              stored numbers are a multiple of the user's
``_value_unit``        the value is another multiple of that of `problem`
``_coef``              the slope is not the sum of y alpha x
``_knot_coef``         the slope is not the sum of y alpha x
``alpha``              multipliers are not affine in t
``slope``              the slope is the same everywhere
``_rates``             multipliers are not affine in t
``_trivial``           no multiplier may differ from 0 somewhere
``_intercept``         the intercept is not stored, or is known exactly somewhere
``_knot_intercepts``   the intercept is not stored
``_knot_margins``      the margin is not 1
``_most_multipliers``  there is a bound on the sum of the multipliers
``_caps_at``           the caps at many t can be computed at once
``_multipliers``       multipliers are judged within their caps
``_value_rounding``    more is known of the rounding of stored values
``_proved``            its slacks have no costs, or it is proved in twice the precision
``_judge``             many points can be judged at once
``_exact_bounds``      the objectives need more than multipliers, slope and intercept
=====================  ===========================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, TypeVar, overload

import numpy as np

from paretoclf.common.checks import Array, Index, State, check_inside
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.common.files import AnyFile
from paretoclf.common.tolerances import BOUND_ROUNDING, CERTIFY
from paretoclf.engine.sets import LEFT, MARGIN, RIGHT
from paretoclf.path.base.path import OnSegments, Rates
from paretoclf.path.base.points import Event
from paretoclf.path.base.stored_samples import arrays_with
from paretoclf.problem.classifiers import KernelRule, LinearRule, Rule
from paretoclf.problem.costs import Costs
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import SampleLine
from paretoclf.problem.parametric_qp import INSIDE, LOWER, UPPER, ParametricQP, shortest_stretch
from paretoclf.problem.pieces import Pieces
from paretoclf.problem.shares import Shares
from paretoclf.proof.lines.refined_lines import prove_costs
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.segments.line_proof import LineProof
from paretoclf.proof.segments.stored_values import outside
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.exact_bounds import ExactBounds, exactly
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.roc.scores import PathScores

_SETS = {RIGHT: "R", LEFT: "L", MARGIN: "M"}

_BLOCK = 256  # columns of multipliers expanded at a time


@dataclass(frozen=True)
class OnPieces(OnSegments):
    """Path of a support vector machine, from ``pieces.t[0]`` to ``pieces.t[-1]``.

    Attributes
    ----------
    gram : Gram
    y : array of shape (n,)
    pieces : Pieces
        The stored solution.
    seconds : float
        Time that tracing took, certificates excluded.
    """

    gram: Gram = field(repr=False)
    y: Array = field(repr=False)
    pieces: Pieces = field(repr=False, kw_only=True)
    seconds: float = field(default=0.0, kw_only=True)

    # ---- what each kind of path implements, beside _at and _arrays (the page of base.path) ----------------------

    def caps(self, t: float) -> Array:
        """Upper bounds of the multipliers at t, shape (n,)."""
        raise NotImplementedError

    @property
    def soft_margin(self) -> SoftMargin:
        """Problem of the samples along the path, which the proof is about; its parameter is the path's."""
        raise NotImplementedError

    @property
    def _whole_line(self) -> SampleLine:
        """Line of parameters from one end of the path to the other."""
        raise NotImplementedError

    # ---- defaults that a kind may replace (the page above) ---------------------------------------------------------

    #: Why `page` shows no samples of this kind of path; empty where it does.
    no_page: ClassVar[str] = ""
    #: Number of equations that the multipliers obey.
    equations: ClassVar[int] = 1

    def costs(self, t: float) -> Any:
        """Costs at t; None where there are none."""
        return None

    @property
    def _about(self) -> str:
        """Sentence of a certificate file about its two ends, beside its problem."""
        return f"t = 0 and t = 1 are {self.parameter} = {self._range[0]!r} and {self._range[1]!r}"

    def _unit(self, t: float) -> float:
        """Factor from stored multipliers, slopes and intercepts to the user's. Its inverse is affine in t."""
        return 1.0

    def _value_unit(self, t: float) -> float:
        """Factor from minus the value of `problem` to the user's value."""
        return self._unit(t) ** 2

    def _trivial(self, t: float) -> bool:
        """Whether no multiplier may differ from 0 at t: then w = 0 exactly, where rounding would count infinitely."""
        return False

    def _coef(self, t: float) -> Array:
        """Coefficients of the samples in the slope at t, shape (n,)."""
        return self.y * self.alpha(t)

    def _knot_coef(self, knots: Array) -> Array:
        """Coefficients of the samples in the stored slopes at some knots, shape (n, k)."""
        alpha, _ = self._multipliers(knots)
        units = np.array([self._unit(float(t)) for t in knots])
        return np.asarray(self.y[:, None] * alpha / units)

    def _knot_intercepts(self) -> tuple[Array, Array]:
        """Stored intercepts at both ends of each piece, shape (k,) each."""
        return self.pieces.b0, self.pieces.b1

    def _knot_margins(self) -> tuple[Array | float, Array | float]:
        """Stored scores on the margin at both ends of each piece."""
        return 1.0, 1.0

    def _most_multipliers(self) -> Array:
        """Bound on the sum of the multipliers at each knot; 0 where scores are never taken for rounding."""
        return np.zeros(self.pieces.t.size)

    def _caps_at(self, points: Array) -> Array:
        """Caps at some points, shape (n, k)."""
        return np.stack([self.caps(float(t)) for t in points], axis=1)

    def _multipliers(self, points: Array) -> tuple[Array, Array]:
        """Multipliers that are judged, and caps, at increasing points, (n, k) each."""
        return self._expand(points)

    def _value_rounding(self) -> Array:
        """Bound on the rounding of the stored values of each piece, shape (k,)."""
        return np.asarray(self.proof.rounding.max(axis=1))

    def _proved(self) -> LineProof:
        """Prove every t, without a way to write the proof to a file."""
        return prove_costs(self.soft_margin, self.pieces, self.parameter)

    def _judge(self, points: Array) -> list[Certificate]:
        """Certificates of some points."""
        return [self._at(float(t)).certificate for t in points]

    def _exact_bounds(self, t: float) -> ExactBounds:
        """Primal and dual objective at t, in rational arithmetic."""
        problem = replace(self.soft_margin, caps=self.caps(t))
        alpha, b = self._stored(t), self._intercept(t)
        return problem.bounds(alpha[None], b, self._stored_slope(t))

    # ---- what OnSegments asks for -------------------------------------------------------------------------------

    _aliases: ClassVar[Mapping[str, str]] = {"margin": "alpha"}  # the label of their constraint in the formulation

    @property
    def t(self) -> Array:  # type: ignore[override]
        """Ends of the pieces, increasing, shape (k + 1,)."""
        return self.pieces.t

    @property
    def variables(self) -> tuple[str, ...]:
        """``"w"`` where the kernel is linear, and ``"b"``."""
        return ("w", "b") if self.gram.linear else ("b",)

    @property
    def duals(self) -> tuple[str, ...]:
        """Multipliers of the samples: ``"alpha"``; the label of their constraint, ``"margin"``, means the same."""
        return ("alpha",)

    @property
    def _moves(self) -> Mapping[str, tuple[Any, Any]]:
        return {} if self.parameter == "t" else {self.parameter: (0.0, 1.0)}

    @cached_property
    def _least(self) -> float:  # type: ignore[override]
        """Length of the shortest piece that the data that move tell from a point; 0 where none is as long."""
        problem = self.problem
        low, high = self._range
        least = (high - low) * shortest_stretch(problem.q, problem.upper)
        return least if (np.diff(self.t) > least).any() else 0.0

    def _inside(self, t: Any) -> float:
        number = t.item() if isinstance(t, np.generic) else t  # as messages show it
        return check_inside(number, self.parameter, *self._range)

    @cached_property
    def _range(self) -> tuple[float, float]:
        """First and last t of the path."""
        return float(self.pieces.t[0]), float(self.pieces.t[-1])

    @property
    def problem(self) -> ParametricQP:
        """Problem that the path follows; along tau its multipliers are over lam, along theta it is one half."""
        return self._whole_line.problem

    @overload
    def at(self, t: float | None = None, /, **parameter: float) -> Solution: ...

    @overload
    def at(self, t: Any = None, /, **parameter: Any) -> Any: ...

    def at(self, t: Any = None, /, **parameter: Any) -> Any:
        """Solution at t; its certificate is computed when asked for.

        Where costs times kernel values are so large, or one cost against the other so small, that rounding shows, the
        certificate is computed at once, with sums in twice the precision; if it fails, so is the solution. Its numbers
        have the second half of the multipliers, ``alpha_lo``.

        Parameters
        ----------
        t : float or array
            In the range of the path.
        **parameter
            In place of t one number that moves, as in ``path.at(C_plus=0.5)``.

        Returns
        -------
        Solution, or array of them of the shape of t

        Examples
        --------
        >>> import paretoclf as pc
        >>> path = pc.trace(pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]), start=(0, 0), stop=(1, 1))
        >>> [round(solution.value, 6) for solution in path.at([0.5, 1.0])]
        [1.555556, 2.888889]
        """
        return super().at(t, **parameter)

    def _rule_at(self, t: float, interval: tuple[float, float] | None = None) -> Rule:
        """Rule with the stored numbers at t, and an interval of intercepts where more than one is optimal."""
        w = self.slope(t) if self.gram.linear else None
        b = self._intercept(t)
        if w is not None and self.gram.origin is None:
            return LinearRule(w, b, interval, self.gram.names)
        return KernelRule(self.gram, self._coef(t), b, interval, w)

    def _printed(self, where: str, bends: str | None = None) -> str:
        """Text for ``repr``: from where to where the path goes, and how large it is."""
        bends = bends or f"{self.breakpoints.size} breakpoints"
        sizes = f"{self.y.size} samples, {bends}, margin sets of up to {int(self.n_margin.max())}"
        return f"{type(self).__name__}({where}, {sizes})"

    # ---- multipliers, slope, intercept, value -----------------------------------------------------------------

    def alpha(self, t: float) -> Array:
        """Multipliers at t, shape (n,), in O(n)."""
        caps = self.caps(t)
        if self._trivial(t):
            return np.zeros_like(caps)
        return np.clip(self._stored(t), 0.0, caps)

    def _stored(self, t: float, j: int | None = None) -> Array:
        """Stored multipliers at t, on piece j (by default that at t). Rounding may put them outside of their box.

        These are the ones that are judged.
        """
        return self._within(t, self.caps(t), self._locate(t, j))

    def _within(self, t: float, caps: Array, at: tuple[int, Shares]) -> Array:
        """Stored multipliers at t, given the caps there, the piece, and the position of t on it."""
        j, share = at
        index, multipliers = self._margin(j, share)
        alpha = np.where(self._state(j) == LEFT, caps, 0.0)
        alpha[index] = self._unit(t) * multipliers
        return alpha

    def _expand(self, points: Array) -> tuple[Array, Array]:
        """Stored multipliers and caps at increasing points, (n, k) each, in one walk over the pieces."""
        ends = self.pieces.t
        caps = self._caps_at(points)
        pieces = np.minimum(np.searchsorted(ends, points, side="right") - 1, ends.size - 2)
        changed, sample, new = self.pieces.changes
        until = np.searchsorted(changed, pieces, side="right")
        state = self._state(int(pieces[0]))
        alpha = np.zeros(caps.shape[::-1])
        for k, (t, j) in enumerate(zip(points.tolist(), pieces.tolist(), strict=True)):
            part = slice(until[max(k - 1, 0)], until[k])
            state[sample[part]] = new[part]  # of repeated samples the last assignment stands
            np.multiply(state == LEFT, caps[:, k], out=alpha[k])
            start, end = float(ends[j]), float(ends[j + 1])
            index, multipliers = self._margin(j, Shares.of(t, start, end))
            alpha[k, index] = self._unit(t) * multipliers
        return np.ascontiguousarray(alpha.T), caps

    def _between(self, start: Array, end: Array, t: float, j: int | None = None) -> Any:
        """Interpolate at t what goes from ``start[j]`` to ``end[j]`` on piece j (by default that at t)."""
        j, share = self._locate(t, j)
        return self._unit(t) * share.between(start[j], end[j])

    def _intercept(self, t: float, j: int | None = None) -> float:
        """Intercept at t, on piece j (by default that at t), for features as the Gram measures them."""
        return float(self._between(self.pieces.b0, self.pieces.b1, t, j))

    def intercept(self, t: float) -> float:
        """Intercept of the path at t."""
        return self._plain_intercept(self._inside(t))

    def slope(self, t: float) -> Array:
        """Slope w at t, shape (d,), linear kernel only."""
        w = self.pieces.w
        if w is None:
            return self.gram.quadratic.slope(self._coef(t))
        t = self._inside(t)
        if self._trivial(t):
            return np.zeros(w.shape[1])
        return np.asarray(self._between(w[:-1], w[1:], t))

    def _stored_slope(self, t: float) -> Array | None:
        """Slope at t where it is stored; None where it is that of the multipliers."""
        return None if self.pieces.w is None else self.slope(t)

    def _stored_slopes(self, points: Array) -> Array | None:
        """Slopes at some points, shape (d, k), where they are stored; None where they are those of the multipliers."""
        if self.pieces.w is None:
            return None
        return np.stack([self.slope(float(t)) for t in points], axis=1)

    def _value(self, t: float) -> float:
        if self._trivial(t):
            return 0.0
        j, share = self._locate(t)
        stored = share.parabola(*self.pieces.value[j].tolist())
        return float(self._unit(t) ** 2 * stored)

    def _read(self, name: str, j: int, share: Array, t: Array) -> list[Any]:
        points = t.tolist()
        if name == "w":
            return [self.slope(u) for u in points]
        if name == "b":  # it may jump where two pieces meet
            return [self._plain_intercept(u, j) for u in points]
        if name == "rho":  # as b
            return [float(self._between(self.pieces.rho0, self.pieces.rho1, u, j)) for u in points]
        return [self.alpha(u) for u in points]

    def _plain_intercept(self, t: float, j: int | None = None) -> float:
        """Intercept at t, on piece j (by default that at t), for features as they were given."""
        return self.gram.intercept(self._intercept(t, j), partial(self.slope, t))

    def _rates(self, j: int, t: float) -> Rates:
        growth = self._growth(t)
        variables = {name: self._rate(name, j, t, growth) for name in self.variables}
        duals = {name: self._rate(name, j, t, growth) for name in self.duals}
        return self._value_rate(j, t, growth), variables, duals

    def _value_rate(self, j: int, t: float, growth: float) -> float:
        """Derivative of the optimal value at t, on piece j, given the growth of the unit."""
        _, share = self._locate(t, j)
        length = float(self.t[j + 1] - self.t[j])
        start, end, bend = self.pieces.value[j].tolist()
        stored = share.parabola(start, end, bend)
        rate = (end - start - (share.before - share.after) * bend) / length
        # The value is unit^2 times what is stored, and both factors move.
        of_stored = rate + 2.0 * growth * stored
        return float(self._unit(t) ** 2 * of_stored)

    def _rate(self, name: str, j: int, t: float, growth: float) -> Any:
        """Derivative of a variable or of multipliers at t, on piece j, given the growth of the unit."""
        ends = self.t[j : j + 2]
        length = float(ends[1] - ends[0])
        first, last = self._read(name, j, np.array([0.0, 1.0]), ends)
        first = first / self._unit(float(ends[0]))
        last = last / self._unit(float(ends[1]))
        of_stored = self._unit(t) * (last - first) / length
        if not growth:
            return of_stored + 0.0  # no -0.0
        _, share = self._locate(t, j)
        (here,) = self._read(name, j, np.array([share.after]), np.array([t]))
        return of_stored + growth * here

    def _growth(self, t: float) -> float:
        """Derivative of `_unit` at t, as a share of it: the inverse of the unit is affine in t."""
        return self._unit(t) * (1.0 / self._unit(0.0) - 1.0 / self._unit(1.0))

    def scores(self, X: Any) -> PathScores:
        """Scores of new samples as an exact piecewise affine function of t.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            As for `Classifier.decision_function`; for a precomputed kernel the values against the training samples,
            shape (m, n).
        """
        return self._scores_of(self.gram.mapped(X))

    def training_scores(self, samples: Index) -> PathScores:
        """Scores of some of the training samples as an exact piecewise affine function of t."""
        return self._scores_of(self.gram.mapped_rows(samples))

    def _scores_of(self, Z: Any) -> PathScores:
        """Scores of samples that are given as the quadratic term takes them."""
        from paretoclf.roc.rounded_scores import with_intercepts, zero_rounding  # of scores only

        knots = self.pieces.t
        Q, w = self.gram.quadratic, self.pieces.w
        if w is not None:
            scores = np.asarray(Z @ w.T)
        else:
            scores = np.empty((Z.shape[0], knots.size))
            for first in range(0, knots.size, _BLOCK):
                part = slice(first, first + _BLOCK)
                scores[:, part] = Q.scores_of(Z, self._knot_coef(knots[part]))
        zero_rounding(scores, Q.largest_value(Z) * self._most_multipliers())
        b0, b1 = self._knot_intercepts()
        start, end = self._knot_margins()
        return PathScores(knots, with_intercepts(scores[:, :-1], b0, start), with_intercepts(scores[:, 1:], b1, end))

    # ---- what is proved ---------------------------------------------------------------------------------------

    @cached_property
    def proof(self) -> LineProof:
        """Proof of every t, segment by segment."""
        return self._writing(self._proved())

    def _writing(self, proof: LineProof) -> LineProof:
        """Give a proof of this path a way to write it to a file."""
        return replace(proof, writer=self._write_certificate)

    def _write_certificate(self, file: AnyFile, *how: Any, **named: Any) -> None:
        """Write the certificate file: `save_certificate`, imported when a certificate is written."""
        from paretoclf.proof.files.certificate_file import save_certificate

        save_certificate(self, self.equations, file, *how, **named)

    @cached_property
    def _certificates(self) -> list[Certificate]:
        """List of one certificate per certificate point."""
        points, out = self.certificate_points, list[Certificate]()
        for first in range(0, points.size, _BLOCK):
            out += self._judge(points[first : first + _BLOCK])
        return out

    def _arrays(self) -> Mapping[str, Any]:
        stored = {name: value for name, value in vars(self.pieces).items() if value is not None}
        return arrays_with(self.gram, self.y, self.seconds, stored)

    def _by_a_solver(self, t: Array) -> Array:
        from paretoclf.solve.sources.item_line import LineOfItems  # few paths are compared with a solver

        low, high = self._range
        line = LineOfItems(self.problem)
        minima = [line.solve((u - low) / (high - low)) for u in t.tolist()]
        units = [self._value_unit(u) for u in t.tolist()]
        return np.array([-unit * minimum for unit, minimum in zip(units, minima, strict=True)])

    # ---- breakpoints, events and sets -------------------------------------------------------------------------

    @cached_property
    def breakpoints(self) -> Array:
        """Points at which a set changes (`events`), and the two ends, increasing.

        Pieces (`certificate_points`) also end where two traced stretches meet, at which nothing happens.
        """
        t = self.pieces.t
        changed, _, _ = self.pieces.changes
        return np.unique(np.concatenate([t[:1], t[changed], t[-1:]]))

    @property
    def n_margin(self) -> Index:
        """Size of the margin set from each breakpoint to the next, shape (k,)."""
        first = np.searchsorted(self.pieces.t, self.breakpoints[:-1])
        return np.asarray(np.diff(self.pieces.ptr)[first])

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Every change of set, in order."""
        state = self.pieces.state.copy()
        pieces, samples, sets = self.pieces.changes
        found = []
        for t, i, new in zip(self.t[pieces].tolist(), samples.tolist(), sets.tolist(), strict=True):
            before, after = _SETS[int(state[i])], _SETS[new]
            found.append(Event(t, f"alpha[{i}]", before, after, i))
            state[i] = new
        return tuple(found)

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Rows of the table: one for each event, with costs where there are any, and the sample."""
        for event, row in zip(self.events, super()._rows(), strict=True):
            costs = self.costs(event.t)
            numbers = vars(costs) if isinstance(costs, Costs) else {}
            yield {**self._row(event.t), **numbers, **row, "sample": event.sample}

    def sets(self, t: float) -> State:
        """Set of each sample on the piece that begins at or contains t: 0 right, 1 left, 2 margin; shape (n,)."""
        return self._state(self._locate(self._inside(t))[0])

    @cached_property
    def _states(self) -> State:
        """Sets before every n-th change: with them `_state` needs O(n), however long the path is."""
        n = self.y.size
        _, sample, new = self.pieces.changes
        states = np.empty((new.size // n + 1, n), dtype=np.int8)
        states[0] = self.pieces.state
        for j in range(1, states.shape[0]):
            part = slice((j - 1) * n, j * n)
            states[j] = states[j - 1]
            states[j][sample[part]] = new[part]
        return states

    def _state(self, j: int) -> State:
        """Set of each sample on piece j, shape (n,)."""
        piece, sample, new = self.pieces.changes
        until = int(piece.searchsorted(j, side="right"))
        block = until // self.y.size
        state: State = self._states[block].copy()
        part = slice(block * self.y.size, until)
        state[sample[part]] = new[part]  # of repeated samples the last assignment stands
        return state

    def basis(self, t: float) -> tuple[State, Index]:
        """Basis at t: set of each sample, shape (n,), and the margin set, shape (k,)."""
        j, _ = self._locate(self._inside(t))
        return self._basis(j)

    def _basis(self, j: int) -> tuple[State, Index]:
        """Basis on piece j: set of each sample, shape (n,), and the margin set, shape (k,)."""
        return self._state(j), self.pieces.index[self._entries(j)]

    def _entries(self, j: int) -> slice:
        """Entries of piece j in ``pieces.index``, ``pieces.a0`` and ``pieces.a1``."""
        ptr = self.pieces.ptr
        return slice(ptr[j], ptr[j + 1])

    def _labels(self, equations: int = 1) -> Iterator[Index]:
        """Labels of the multipliers and of some equations on each piece, as `ParametricQP` has them."""
        label_of_set = np.array([LOWER, UPPER, INSIDE, LOWER])
        of_equations = np.full(equations, LOWER)
        for j in range(self.pieces.t.size - 1):
            yield np.append(label_of_set[self._state(j)], of_equations)

    def _margin(self, j: int, share: Shares) -> tuple[Index, Array]:
        """Margin set of piece j, and its stored multipliers at a position on the piece."""
        stored = self.pieces
        part = self._entries(j)
        return stored.index[part], share.between(stored.a0[part], stored.a1[part])

    @property
    def certificate_points(self) -> Array:
        """Points of `certificates`, increasing: ends of pieces, all breakpoints among them, and their middles."""
        ends = self.pieces.t
        points = np.empty(2 * ends.size - 1)
        points[::2] = ends
        points[1::2] = 0.5 * (ends[:-1] + ends[1:])
        return points

    def certificate(self, t: float, *, exact: bool = False) -> Certificate:
        """Certificate of one point.

        Parameters
        ----------
        t : float
            In the range of the path.
        exact : bool
            Whether its two bounds are to be computed in exact rational arithmetic: an `ExactCertificate` (see
            `certify`).

        Raises
        ------
        InputError
            If t is out of range.
        """
        certificate = self.at(t).certificate
        return exactly(certificate, self._exact_bounds(self._inside(t))) if exact else certificate

    def certificates(self) -> list[Certificate]:
        """List one certificate per breakpoint and per middle of a piece, in the order of `certificate_points`."""
        return list(self._certificates)

    @property
    def worst_certificate(self) -> Certificate:
        """Certificate of the worst piece (``proof.worst``), of every t on it: where it passes, all do."""
        return self.proof.worst

    def page(
        self,
        file: AnyFile,
        title: str | None = None,
        certificate: bool | None = None,
        *,
        X: Any = None,
        y: Any = None,
        features: Sequence[int] | None = None,
        feature_names: Sequence[str] | None = None,
        rates: str = "given samples",
    ) -> None:
        """Write the path as a page to play with: one HTML file, which needs no server and no network.

        A slider (or the keyboard) moves along the path. The page shows decision boundary, margins and sets, over two
        features; multipliers; coefficients; the optimal value with its proved bounds and the duality gap; the events;
        and, of samples that are given, the rates. Everything is interpolated between the knots of the path, and that
        is exact, but for the boundary of a kernel, which is drawn from scores on a grid. At an end where a cost is
        zero the intercept is the limit of those before it. The page of a path of nu, or of margins, has variables,
        multipliers, value, rates and events, and no samples.

        Parameters
        ----------
        file : path
            Ends in ``.html``.
        title : str, optional
            Default: what the path prints as.
        certificate : bool, optional
            Whether the page has the certificate file of the path, of up to 1 MB, and a button that checks it in the
            reader's browser; by default where the path is small. Without one the page says why.
        X, y : arrays of shape (m, d) and (m,), optional
            Samples and labels for the rates, best held out; by default there are none.
        features : pair of int, optional
            The two features to show, the others at their mean. Default: both of two; of more, the two leading
            principal directions, through the mean.
        feature_names : sequence of str, optional
            Default: those of the frame, or x1, x2, ...
        rates : str, optional
            What the page calls the samples of the rates; default: "given samples".

        Raises
        ------
        InputError
            If there are no two features to show, an argument does not fit, the file cannot be written, or there is no
            certificate that is asked for.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import paretoclf as pc
        >>> svm = pc.TwoCSVM([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 2.0]], [-1, 1, -1, 1])
        >>> with TemporaryDirectory() as folder:
        ...     pc.trace(svm, (0, 0), (1, 1)).page(Path(folder) / "page.html")
        ...     [file.name for file in Path(folder).iterdir()]
        ['page.html']
        """
        options = {"features": features, "feature_names": feature_names}
        if self.no_page:
            given = [name for name, value in {"X": X, "y": y, **options}.items() if value is not None]
            if given:
                raise InputError(f"{given[0]} must be left out: no page shows samples for a path {self.no_page}")
            return super().page(file, title, certificate)
        from paretoclf.plotting.certificate_panel import certificate_panel  # only when a page is wanted
        from paretoclf.plotting.page import write_page

        panel = certificate_panel(self, certificate)
        write_page(self, file, X, y, certificate=panel, title=title, rates=rates, **options)

    def _plot(self, ax: Any, xscale: str | None) -> Any:
        from paretoclf.plotting.path import PathDisplay  # matplotlib only when a picture is wanted

        return PathDisplay.from_path(self).plot(ax=ax, xscale=xscale)


Kind = TypeVar("Kind", bound=OnPieces)


def proved(path: Kind) -> Kind:
    """Prove a path that was just traced, and check it; its values are those of `with_proved_values`."""
    path = with_proved_values(path)
    check_certificates(path)
    return path


def with_proved_values(path: Kind) -> Kind:
    """Replace stored values that rounding has put outside their proved bounds by the dual values.

    The tracker adds up costs times slacks, where the largest cost multiplies the rounding of a slack that is zero; the
    dual objective has no such terms. What is further off than by that rounding stays, and is an error. The new values
    are held against the same bounds.
    """
    proof = path.proof
    value = path.pieces.value.copy()
    residual = proof.residuals["value"]
    outside_by = outside(value, proof.duals, proof.gaps).max(axis=1)
    is_rounding = outside_by <= path._value_rounding()
    which = np.flatnonzero((residual > BOUND_ROUNDING) & is_rounding)
    if which.size == 0:
        return path
    start, middle, end = proof.duals[which].T
    bend = start + end - 2.0 * middle
    value[which] = np.stack([start, end, bend], axis=1)
    made = replace(path, pieces=replace(path.pieces, value=value))
    known = proof.with_values(value)
    if known is not None:
        vars(made)["proof"] = made._writing(known)  # as if it had been asked for: nothing else of it is other
    return made


_REMEDY = "Standardise the features, or use a slightly different line."
_NEAR_ONE = 1e-6  # so many digits less are left of 1 - t, to which costs that vanish at t = 1 are proportional
_OTHER_WAY = "Trace the line from its other end: what vanishes at t = 0 loses no digits."


def _vanishes_behind(path: OnPieces, t: float) -> bool:
    """Whether costs vanish, or all but vanish, at the end t = 1 of a line, and t is next to it."""
    next_to_one = path.pieces.t[-1] == 1.0 and 1.0 - t < _NEAR_ONE
    if path.parameter != "t" or not next_to_one:
        return False
    first, last = path.caps(0.0), path.caps(1.0)
    return not last.all() or bool((last < _NEAR_ONE * first).any())


def check_certificates(path: OnPieces) -> None:
    """DegeneratePathError unless the whole line is proved, with the values that the path stores."""
    proof = path.proof
    failed = proof.failures(CERTIFY)
    if failed.size == 0:
        return
    worst = proof[proof.most(failed)]
    t = 0.5 * sum(worst.interval)
    costs = path.costs(t)
    _, margin = path.basis(t)
    remedy = _OTHER_WAY if _vanishes_behind(path, worst.interval[1]) else _REMEDY
    how_far = _longest_proved(path, failed)
    raise DegeneratePathError(
        f"the certificate fails ({_reason(worst)})",
        t=t,
        costs="" if costs is None else str(costs),
        n_margin=int(margin.size),
        remedy=f"{how_far}{remedy}",
        parameter=path.parameter,
    )


def _longest_proved(path: OnPieces, failed: Index) -> str:
    """Sentence on the longest run of pieces that are proved; empty where all fail."""
    knots = path.proof.t
    ends = np.append(failed, knots.size - 1)  # each run goes from behind a piece that fails to the next one
    runs = np.diff(np.concatenate([[-1], ends])) - 1
    if not runs.any():
        return ""
    end = ends[runs.argmax()]
    start = end - runs.max()
    return f"It is proved from {path.parameter} = {knots[start]:.9g} to {knots[end]:.9g}. "


def _reason(worst: Any) -> str:
    """Reason why the certificate of a piece fails."""
    residuals = {name: value for name, value in worst.primal.items() if name != "value"}
    others = replace(worst, primal=residuals)
    if others.passes():
        return f"the stored value is off by {worst.primal['value']:.1e}"
    return str(worst.explain())
