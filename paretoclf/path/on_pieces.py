"""What every path can be asked, whatever its parameter is, and how it is held against its proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, TypeVar

import numpy as np

from paretoclf.common.checks import Array, Index, State, check_inside
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.common.files import AnyFile
from paretoclf.common.tolerances import BOUND_ROUNDING, CERTIFY
from paretoclf.engine.sets import LEFT, MARGIN, RIGHT
from paretoclf.path.along import Event, Shares
from paretoclf.path.on_segments import OnSegments, Rates
from paretoclf.path.pieces import Pieces
from paretoclf.path.stored_samples import arrays_with
from paretoclf.problem.classifiers import KernelRule, LinearRule, Rule
from paretoclf.problem.costs import Costs
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import SampleLine
from paretoclf.problem.parametric_qp import INSIDE, LOWER, UPPER, ParametricQP, shortest_stretch
from paretoclf.proof.certificates import Certificate
from paretoclf.proof.exact import ExactBounds, exactly
from paretoclf.proof.line import LineProof
from paretoclf.proof.proving import prove
from paretoclf.proof.soft_margin import SoftMargin
from paretoclf.proof.solution import Solution
from paretoclf.proof.values import outside
from paretoclf.roc.scores import PathScores, zero_rounding

_SETS = {RIGHT: "R", LEFT: "L", MARGIN: "M"}


_BLOCK = 256  # columns of multipliers expanded at a time


@dataclass(frozen=True)
class OnPieces(OnSegments):
    """What is common to paths whatever their parameter t is, from ``pieces.t[0]`` to ``pieces.t[-1]``.

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

    status = "end"
    beyond = None

    #: Why `page` shows no samples of this kind of path; empty where it does.
    no_page: ClassVar[str] = ""
    #: How many equations the multipliers obey.
    equations: ClassVar[int] = 1
    #: The label of the constraint that the multipliers are of, in the model of the formulation.
    _aliases: ClassVar[Mapping[str, str]] = {"margin": "alpha"}

    # ---- what each kind of path says of itself ----------------------------------------------------------------

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
        """The multipliers of the samples, ``"alpha"``; the label of their constraint, ``"margin"``, says so, too."""
        return ("alpha",)

    @property
    def _moves(self) -> Mapping[str, tuple[Any, Any]]:
        return {} if self.parameter == "t" else {self.parameter: (0.0, 1.0)}

    @cached_property
    def _least(self) -> float:  # type: ignore[override]
        """No piece that is shorter can be told from a point by what moves; 0 where all are."""
        problem, (low, high) = self.problem, self._range
        least = (high - low) * shortest_stretch(problem.q, problem.upper)
        return least if (np.diff(self.t) > least).any() else 0.0

    def _printed(self, where: str, bends: str | None = None) -> str:
        """How it prints: where it goes, and how large it is."""
        bends = bends or f"{self.breakpoints.size} breakpoints"
        sizes = f"{self.y.size} samples, {bends}, margin sets of up to {int(self.n_margin.max())}"
        return f"{type(self).__name__}({where}, {sizes})"

    def costs(self, t: float) -> Any:
        """Costs at t; None where there are none."""
        raise NotImplementedError

    def caps(self, t: float) -> Array:
        """Upper bounds of the multipliers at t, shape (n,)."""
        raise NotImplementedError

    def at(self, t: Any = None, /, **parameter: float) -> Solution:
        """Solution at t; its certificate is computed when asked for.

        Where costs times kernel values are so large, or one cost against the other so small, that rounding shows, the
        certificate is computed at once, with sums in twice the precision; if it fails, so is the solution. Its numbers
        have the second half of the multipliers, ``alpha_lo``.

        Parameters
        ----------
        t : float
            In the range of the path.
        **parameter
            In place of t one number that moves, as in ``path.at(C_plus=0.5)``.
        """
        return self._at(self._where(t, parameter))

    def _at(self, t: float) -> Solution:
        """Solution at t, which is in the range of the path."""
        raise NotImplementedError

    def rule(self, t: Any = None, /, **parameter: float) -> Rule:
        """The classifier at t; where as for `at`."""
        return self.at(t, **parameter).classifier

    def _rule_at(self, t: float, interval: tuple[float, float] | None = None) -> Rule:
        """The rule of what is stored at t."""
        w, b = self.slope(t) if self.gram.linear else None, self._intercept(t)
        if w is not None and self.gram.origin is None:
            return LinearRule(w, b, interval, self.gram.names)
        return KernelRule(self.gram, self._coef(t), b, interval, w)

    def _unit(self, t: float) -> float:
        """What stored multipliers, slopes and intercepts are to be multiplied by."""
        return 1.0

    def _bent(self, t: float) -> float:
        """How fast that grows, as a share of it."""
        return 0.0

    def _value_unit(self, t: float) -> float:
        """What minus the value of `problem` is to be multiplied by."""
        return self._unit(t) ** 2

    def _trivial(self, t: float) -> bool:
        """Whether no multiplier may differ from 0 at t: then w = 0 exactly, where rounding would count infinitely."""
        return False

    def _coef(self, t: float) -> Array:
        """Coefficients of the samples in the slope at t, shape (n,)."""
        return self.y * self.alpha(t)

    def _caps_at(self, points: Array) -> Array:
        """Caps at some points, shape (n, k)."""
        return np.stack([self.caps(float(t)) for t in points], axis=1)

    @property
    def soft_margin(self) -> SoftMargin:
        """What is proved: the problem of the samples along the path, whose parameter is the path's."""
        raise NotImplementedError

    def _proved(self) -> LineProof:
        """What is proved of every t, without a way to write it to a file."""
        return prove(self.soft_margin, self.pieces, self.parameter)

    @property
    def _whole_line(self) -> SampleLine:
        """The line of parameters from one end of the path to the other."""
        raise NotImplementedError

    @property
    def _about(self) -> str:
        """What a certificate file says of the two ends, beside its problem."""
        return f"t = 0 and t = 1 are {self.parameter} = {self._range[0]!r} and {self._range[1]!r}"

    @property
    def problem(self) -> ParametricQP:
        """The problem that the path follows; along tau its multipliers are over lam, along theta it is one half."""
        return self._whole_line.problem

    def _exact_bounds(self, t: float) -> ExactBounds:
        """Both objectives at t, without rounding."""
        raise NotImplementedError

    def _judge(self, points: Array) -> list[Certificate]:
        """Certificates of some points."""
        return [self._at(float(t)).certificate for t in points]

    def _own(self) -> dict[str, Any]:
        """What only this kind of path stores, by its name in a file."""
        raise NotImplementedError

    # ---- multipliers, slope, intercept, value -----------------------------------------------------------------

    def alpha(self, t: float) -> Array:
        """Multipliers at t, shape (n,), in O(n)."""
        caps = self.caps(t)
        return np.zeros_like(caps) if self._trivial(t) else np.clip(self._stored(t), 0.0, caps)

    def _stored(self, t: float, j: int | None = None) -> Array:
        """Multipliers as piece j (by default that at t) has them, by rounding outside their box: what is judged."""
        return self._within(t, self.caps(t), self._locate(t, j))

    def _within(self, t: float, caps: Array, at: tuple[int, Shares]) -> Array:
        """The same with what is known of t: caps, piece and share of it."""
        alpha = np.where(self._state(at[0]) == LEFT, caps, 0.0)
        index, a = self._margin(*at)
        alpha[index] = self._unit(t) * a
        return alpha

    def _expand(self, points: Array) -> tuple[Array, Array]:
        """`_stored` and `caps` at increasing points, (n, k) each, in one walk."""
        P, caps = self.pieces, self._caps_at(points)
        pieces = np.minimum(np.searchsorted(P.t, points, side="right") - 1, P.t.size - 2)
        changed, sample, new = P.changes
        until = np.searchsorted(changed, pieces, side="right")
        state, alpha = self._state(int(pieces[0])), np.zeros(caps.shape[::-1])
        for k, (t, j) in enumerate(zip(points.tolist(), pieces.tolist(), strict=True)):
            part = slice(until[max(k - 1, 0)], until[k])
            state[sample[part]] = new[part]  # of repeated samples the last assignment stands
            np.multiply(state == LEFT, caps[:, k], out=alpha[k])
            index, a = self._margin(j, Shares.of(t, float(P.t[j]), float(P.t[j + 1])))
            alpha[k, index] = self._unit(t) * a
        return np.ascontiguousarray(alpha.T), caps

    def _multipliers(self, points: Array) -> tuple[Array, Array]:
        """Multipliers that are judged, and caps, at increasing points, (n, k) each."""
        return self._expand(points)

    def _between(self, start: Array, end: Array, t: float, j: int | None = None) -> Any:
        """What goes from ``start[j]`` to ``end[j]`` on piece j, at t."""
        j, share = self._locate(t, j)
        return self._unit(t) * share.between(start[j], end[j])

    def _intercept(self, t: float, j: int | None = None) -> float:
        """Intercept at t (of piece j) of features as the Gram measures them."""
        return float(self._between(self.pieces.b0, self.pieces.b1, t, j))

    def intercept(self, t: float) -> float:
        """The path's intercept at t."""
        t = self._inside(t)
        return self.gram.intercept(self._intercept(t), lambda: self.slope(t))

    def slope(self, t: float) -> Array:
        """The slope w at t, shape (d,), linear kernel only."""
        w = self.pieces.w
        if w is None:
            return self.gram.quadratic.slope(self._coef(t))
        t = self._inside(t)
        return np.zeros(w.shape[1]) if self._trivial(t) else np.asarray(self._between(w[:-1], w[1:], t))

    def _stored_slope(self, t: float) -> Array | None:
        """The slope at t where it is stored; None where it is that of the multipliers."""
        return None if self.pieces.w is None else self.slope(t)

    def _stored_slopes(self, points: Array) -> Array | None:
        """The same at some points, shape (d, k)."""
        return None if self.pieces.w is None else np.stack([self.slope(float(t)) for t in points], axis=1)

    def _read(self, name: str, j: int, share: Array, t: Array) -> list[Any]:
        points = t.tolist()
        if name == "b":  # it may jump where two pieces meet
            return [self.gram.intercept(self._intercept(u, j), partial(self.slope, u)) for u in points]
        return [self.slope(u) if name == "w" else self.alpha(u) for u in points]

    def _rates(self, j: int, t: float) -> Rates:
        ends, share, bent = self.t[j : j + 2], self._locate(t, j)[1], self._bent(t)
        length, here, units = float(ends[1] - ends[0]), np.array([t]), [self._unit(float(end)) for end in ends]

        def rate(name: str) -> Any:
            first, last = self._read(name, j, np.array([0.0, 1.0]), ends)
            return self._unit(t) * (last / units[1] - first / units[0]) / length + (
                bent * self._read(name, j, np.array([share.after]), here)[0] if bent else 0.0
            )

        start, end, bend = self.pieces.value[j].tolist()
        value, speed = share.parabola(start, end, bend), (end - start - (share.before - share.after) * bend) / length
        grows = self._unit(t) ** 2 * (speed + 2.0 * bent * value)
        return grows, {name: rate(name) for name in self.variables}, {name: rate(name) for name in self.duals}

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
        """The same of some of the training samples."""
        return self._scores_of(self.gram.mapped_rows(samples))

    def _scores_of(self, Z: Any) -> PathScores:
        """Scores of samples as the quadratic takes them."""
        P, Q = self.pieces, self.gram.quadratic
        if P.w is not None:
            knots = np.asarray(Z @ P.w.T)
        else:
            knots = np.empty((Z.shape[0], P.t.size))
            for first in range(0, P.t.size, _BLOCK):
                part = slice(first, first + _BLOCK)
                knots[:, part] = Q.scores_of(Z, self._knot_coef(P.t[part]))
        zero_rounding(knots, Q.largest_value(Z) * self._most_multipliers())
        b0, b1 = self._knot_intercepts()
        return PathScores(P.t, knots[:, :-1] + b0, knots[:, 1:] + b1)

    def _knot_coef(self, knots: Array) -> Array:
        """Coefficients of the stored slopes at some knots, shape (n, k)."""
        units = np.array([self._unit(float(t)) for t in knots])
        return np.asarray(self.y[:, None] * self._multipliers(knots)[0] / units)

    def _knot_intercepts(self) -> tuple[Array, Array]:
        """Intercepts at both ends of each piece, shape (k,) each."""
        return self.pieces.b0, self.pieces.b1

    def _most_multipliers(self) -> Array:
        """A bound on the sum of the multipliers at each knot; 0 where scores are never taken for rounding."""
        return np.zeros(self.pieces.t.size)

    # ---- what is proved ---------------------------------------------------------------------------------------

    @cached_property
    def proof(self) -> LineProof:
        """What is proved of every t, segment by segment."""
        return self._writing(self._proved())

    def _writing(self, proof: LineProof) -> LineProof:
        """A proof of this path with a way to write it to a file."""
        return replace(proof, writer=self._write_certificate)

    def _write_certificate(self, file: AnyFile, *how: Any, **named: Any) -> None:
        """Write the certificate file: `save_certificate`, imported when a certificate is written."""
        from paretoclf.proof.files.file import save_certificate

        save_certificate(self, self.equations, file, *how, **named)

    @cached_property
    def _certificates(self) -> list[Certificate]:
        """One certificate per certificate point."""
        points, out = self.certificate_points, list[Certificate]()
        for first in range(0, points.size, _BLOCK):
            out += self._judge(points[first : first + _BLOCK])
        return out

    def _arrays(self) -> Mapping[str, Any]:
        stored = {name: value for name, value in vars(self.pieces).items() if value is not None}
        return arrays_with(self.gram, self.y, self.seconds, {**stored, **self._own()})

    def _by_a_solver(self, t: Array) -> Array:
        from paretoclf.solve.of_items import LineOfItems  # few paths are compared with a solver

        (low, high), line = self._range, LineOfItems(self.problem)
        return np.array([-self._value_unit(u) * line.solve((u - low) / (high - low)) for u in t.tolist()])

    # ---- breakpoints, events and sets -------------------------------------------------------------------------

    @cached_property
    def breakpoints(self) -> Array:
        """Where a set changes (`events`), and the two ends, increasing.

        Pieces (`certificate_points`) also end where two traced stretches meet, at which nothing happens.
        """
        t = self.pieces.t
        return np.unique(np.concatenate([t[:1], t[self.pieces.changes[0]], t[-1:]]))

    @property
    def n_margin(self) -> Index:
        """Size of the margin set from each breakpoint to the next, shape (k,)."""
        first = np.searchsorted(self.pieces.t, self.breakpoints[:-1])
        return np.asarray(np.diff(self.pieces.ptr)[first])

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Every change of set, in order."""
        state, out = self.pieces.state.copy(), []
        for t, i, new in zip(self.t[self.pieces.changes[0]].tolist(), *self.pieces.changes[1:].tolist(), strict=True):
            out.append(Event(t, f"alpha[{i}]", _SETS[int(state[i])], _SETS[new], i))
            state[i] = new
        return tuple(out)

    def _rows(self) -> Iterator[dict[str, Any]]:
        """One for each event: the breakpoints are where they are."""
        for event, row in zip(self.events, super()._rows(), strict=True):
            costs = self.costs(event.t)
            start = {**self._row(event.t), **(vars(costs) if isinstance(costs, Costs) else {})}
            yield {**start, **row, "sample": event.sample}

    def _inside(self, t: Any) -> float:
        """One number in the range of the path."""
        return check_inside(t, self.parameter, *self._range)

    @cached_property
    def _range(self) -> tuple[float, float]:
        """From where to where the path goes."""
        return float(self.pieces.t[0]), float(self.pieces.t[-1])

    def _value(self, t: float) -> float:
        return self._value_on(*self._locate(t))

    def _value_on(self, j: int, share: Shares) -> float:
        """The same at a share of a piece."""
        return float(share.parabola(*self.pieces.value[j].tolist()))

    def sets(self, t: float) -> State:
        """Set of each sample on the piece that begins at or contains t: 0 right, 1 left, 2 margin; shape (n,)."""
        return self._state(self._locate(self._inside(t))[0])

    @cached_property
    def _states(self) -> State:
        """The sets before every n-th change: with them `_state` needs O(n) however long the path."""
        n, (_, sample, new) = self.y.size, self.pieces.changes
        states = np.empty((new.size // n + 1, n), dtype=np.int8)
        states[0] = self.pieces.state
        for j in range(1, states.shape[0]):
            part = slice((j - 1) * n, j * n)
            states[j] = states[j - 1]
            states[j][sample[part]] = new[part]
        return states

    def _state(self, j: int) -> State:
        piece, sample, new = self.pieces.changes
        until = int(piece.searchsorted(j, side="right"))
        block = until // self.y.size
        state: State = self._states[block].copy()
        part = slice(block * self.y.size, until)
        state[sample[part]] = new[part]  # of repeated samples the last assignment stands
        return state

    def basis(self, t: float) -> tuple[State, Index]:
        """The basis at t: set of each sample, shape (n,), and the margin set, shape (k,)."""
        return self._basis(self._locate(self._inside(t))[0])

    def _basis(self, j: int) -> tuple[State, Index]:
        return self._state(j), self.pieces.index[self.pieces.ptr[j] : self.pieces.ptr[j + 1]]

    def _labels(self, equations: int = 1) -> Iterator[Index]:
        """Labels of the multipliers on each piece, as `ParametricQP` has them, and of so many equations."""
        of = np.array([LOWER, UPPER, INSIDE, LOWER])
        for j in range(self.pieces.t.size - 1):
            yield np.append(of[self._state(j)], np.full(equations, LOWER))

    def _margin(self, j: int, share: Shares) -> tuple[Index, Array]:
        P, part = self.pieces, slice(self.pieces.ptr[j], self.pieces.ptr[j + 1])
        return P.index[part], share.between(P.a0[part], P.a1[part])

    @property
    def certificate_points(self) -> Array:
        """Where `certificates` looks: ends of pieces, all breakpoints among them, and their middles; increasing."""
        ends = self.pieces.t
        points = np.empty(2 * ends.size - 1)
        points[::2] = ends
        points[1::2] = 0.5 * (ends[:-1] + ends[1:])
        return points

    def _value_rounding(self) -> Array:
        """What rounding may make of the stored values of each piece, shape (k,)."""
        return np.asarray(self.proof.rounding.max(axis=1))

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
        """One certificate per breakpoint and per middle of a piece, in the order of `certificate_points`."""
        return list(self._certificates)

    @property
    def worst_certificate(self) -> Certificate:
        """What is proved of the worst piece (``proof.worst``), at every t on it: where it passes, all do."""
        return self.proof.worst

    def page(
        self,
        file: AnyFile,
        title: str | None = None,
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
            If there are no two features to show, an argument does not fit, or the file cannot be written.

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
            return super().page(file, title)
        from paretoclf.plotting.page import write_page  # only when a page is wanted

        write_page(self, file, X, y, title=title, rates=rates, **options)

    def _plot(self, ax: Any, xscale: str | None) -> Any:
        from paretoclf.plotting.path import PathDisplay  # matplotlib only when a picture is wanted

        return PathDisplay.from_path(self).plot(ax=ax, xscale=xscale)


Kind = TypeVar("Kind", bound=OnPieces)


def proved(path: Kind) -> Kind:
    """A path that was just traced, with `with_proved_values`, held against its proof by `check_certificates`."""
    path = with_proved_values(path)
    check_certificates(path)
    return path


def with_proved_values(path: Kind) -> Kind:
    """The path with the dual values in place of stored ones that rounding has put outside their proved bounds.

    The tracker adds up costs times slacks, where the largest cost multiplies the rounding of a slack that is zero; the
    dual objective has no such terms. What is further off than by that rounding stays, and is an error. The new values
    are held against the same bounds.
    """
    proof, value = path.proof, path.pieces.value.copy()
    off = proof.residuals["value"]
    apart = outside(value, proof.duals, proof.gaps).max(axis=1)
    which = np.flatnonzero((off > BOUND_ROUNDING) & (apart <= path._value_rounding()))
    if which.size == 0:
        return path
    start, middle, end = proof.duals[which].T
    value[which] = np.stack([start, end, start + end - 2.0 * middle], axis=1)
    made, known = replace(path, pieces=replace(path.pieces, value=value)), proof.with_values(value)
    if known is not None:
        vars(made)["proof"] = made._writing(known)  # as if it had been asked for: nothing else of it is other
    return made


_REMEDY = "Standardise the features, or use a slightly different line."
_NEAR_ONE = 1e-6  # so many digits less are left of 1 - t, to which costs that vanish at t = 1 are proportional
_OTHER_WAY = "Trace the line from its other end: what vanishes at t = 0 loses no digits."


def _vanishes_behind(path: OnPieces, t: float) -> bool:
    """Whether costs vanish at the end t = 1 of a line, and t is next to it."""
    return path.parameter == "t" and path.pieces.t[-1] == 1.0 and 1.0 - t < _NEAR_ONE and not path.caps(1.0).all()


def check_certificates(path: OnPieces) -> None:
    """DegeneratePathError unless the whole line is proved, with the values that the path stores."""
    failed = path.proof.failures(CERTIFY)
    if failed.size == 0:
        return
    worst, knots = path.proof[path.proof.most(failed)], path.proof.t
    t = 0.5 * sum(worst.interval)
    costs, runs = path.costs(t), np.diff(np.concatenate([[-1], failed, [knots.size - 1]])) - 1
    end = np.append(failed, knots.size - 1)[runs.argmax()]
    remedy = _OTHER_WAY if _vanishes_behind(path, worst.interval[1]) else _REMEDY
    if runs.any():
        remedy = f"It is proved from {path.parameter} = {knots[end - runs.max()]:.9g} to {knots[end]:.9g}. {remedy}"
    raise DegeneratePathError(
        f"the certificate fails ({_said(worst)})",
        t=t,
        costs="" if costs is None else str(costs),
        n_margin=int(path.basis(t)[1].size),
        remedy=remedy,
        parameter=path.parameter,
    )


def _said(worst: Any) -> str:
    """What is wrong with a piece."""
    others = replace(worst, primal={name: v for name, v in worst.primal.items() if name != "value"})
    return f"the stored value is off by {worst.primal['value']:.1e}" if others.passes() else str(worst.explain())
