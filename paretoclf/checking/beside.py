"""Somebody's path of a program beside a proved one: every knot, and what is between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from paretoclf.checking.multipliers import OPPOSITE, dual_error
from paretoclf.common.checks import Array, Index, Mask, real_array
from paretoclf.common.errors import InputError
from paretoclf.common.tables import SHOWN, listing, rounded_up
from paretoclf.common.tolerances import AFFINE, CERTIFY, STRANGERS
from paretoclf.engine.reduction.program import between as between_ends
from paretoclf.path.base.points import those
from paretoclf.path.programs.eps_path import ConePath
from paretoclf.path.programs.problem_path import ProblemPath
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.report import Certified
from paretoclf.proof.verdicts.scale import Objective, Scale, largest_of_rows

#: Where a path is judged: t, the piece (-1 - k at knot k itself), and the share of the piece before t.
Place = tuple[float, int, float]

#: Times that a stretch is halved at a kink of the objective.
_DEPTH = 6


def column_of_t(parameters: Mapping[str, Any]) -> str:
    """Head of the column of t, beside those of parameters: one may be called t, too."""
    return "t, 0 to 1" if "t" in parameters else "t"


@dataclass(frozen=True, repr=False)
class JudgedPoints(Certified):
    """Somebody's path beside a proved one, at its knots and between them; prints as a table.

    Attributes
    ----------
    t : array of shape (k,)
    excess : array of shape (k,)
        Difference of its objective and the proved optimal value, positive where it is worse, relative to ``scales``.
    violation : array of shape (k,)
        The largest violation of a constraint, relative to 1 + the larger of its sides.
    tol : float
    dual : array of shape (k,)
        Residual of the multipliers; 0 where none are given, nan where it is not known.
    scales : tuple of Scale
        Scale of the excess at each t, whatever happens at others: the largest of the size of the optimal value, a
        thousandth of the largest term of the objective, and a hundredth of its unit.
    left : array of shape (k,)
        Uncertainty of the optimal value, as far as the path is proved, relative to ``scales``.
    best : array of shape (k,)
        The path's own optimal value at each t.
    proved : bool
        Whether the path is proved, if only within its own eps.
    parameters : mapping of str to array of shape (k,)
        The numbers among the parameters that move, at each t.
    knots : int array of shape (k,)
        Which of the solutions that were given each point is, from 0 on; -1 of one between two of them, and of a start
        that was put before them.
    sense : {1, -1}
        -1 where the objective is maximised.
    opposite : bool
        Whether multipliers that are wrong are right with the opposite sign.
    note : str
        What was assumed, in words.
    """

    t: Array
    excess: Array
    violation: Array
    tol: float
    dual: Array
    scales: tuple[Scale, ...] = field(repr=False)
    left: Array = field(repr=False)
    best: Array = field(repr=False)
    proved: bool = True
    parameters: Mapping[str, Array] = field(default_factory=dict)
    knots: Index = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    sense: int = field(default=1, repr=False)
    opposite: bool = field(default=False, repr=False)
    note: str = field(default="", repr=False)

    @property
    def given(self) -> Mask:
        """Whether each point was given."""
        return np.asarray(self.knots >= 0)

    @property
    def open(self) -> float:
        """The most that the proof of the path leaves open, relative to the scale there."""
        return float(np.max(self.left))

    @cached_property
    def certificates(self) -> tuple[Certificate, ...]:
        """Certificate of each point, against what is proved of the optimal value there."""
        return tuple(self._certificate(k) for k in range(self.t.size))

    def _certificate(self, k: int) -> Certificate:
        """Certificate of a point whose excess is known up to what the proof of the path leaves open."""
        excess, left, dual = float(self.excess[k]), float(self.left[k]), float(self.dual[k])
        scale, best = self.scales[k], float(self.best[k])
        violation = float(np.nan_to_num(self.violation[k], nan=np.inf))
        certain = abs(excess) - left
        if excess < 0.0 and violation <= CERTIFY:
            certain = 0.0  # violations that a solver leaves may buy a better value: that refutes nothing
        return Certificate(
            primal_value=best + self.sense * excess * scale.size,
            dual_value=best - self.sense * left * scale.size,
            gap=excess + left,
            scale=scale.size,
            primal={"constraints": violation},
            dual={"multipliers": dual, "dual program: multipliers": max(0.0, dual - left)},
            shortfall=max(0.0, certain) * scale.size,
            relative_to=scale,
            tol=self.tol,
        )

    @cached_property
    def verdicts(self) -> list[str]:
        """Verdict on each point: ``"optimal"``, ``"not optimal"``, or ``"undecided"``, and `reasons` has why."""
        return [certificate.verdict(self.tol) for certificate in self.certificates]

    @cached_property
    def reasons(self) -> list[str]:
        """Reason why a point is not optimal, or undecided; an empty text where it is optimal.

        ``"infeasible"``: a constraint is violated; ``"there is a better point"``, that of the path; ``"no feasible
        point is that good"``: the value is beyond the optimal one, by small violations; ``"wrong dual"``: a multiplier
        contradicts the optimal point of the path. Undecided: ``"violations within 1e-08 buy that value"``, as a solver
        leaves them; ``"known within 1e-02 only: refine it"``: so far the path is proved, and no further; ``"the path is
        not proved"``; ``"the multipliers could not be judged"``.
        """
        return [self._reason(k, verdict) for k, verdict in enumerate(self.verdicts)]

    def _reason(self, k: int, verdict: str) -> str:
        """Reason of the verdict on point k; empty where it is optimal."""
        if verdict == "optimal":
            return ""
        return self._refuted(k) if verdict == "not optimal" else self._unknown(k)

    def _refuted(self, k: int) -> str:
        """Reason why point k is not optimal."""
        certificate = self.certificates[k]
        if certificate.primal_residual > self.tol:
            return "infeasible"
        if certificate.shortfall and certificate.shortfall > self.tol * certificate.scale:
            return "there is a better point" if self.excess[k] > 0.0 else "no feasible point is that good"
        return "wrong dual"

    def _unknown(self, k: int) -> str:
        """Reason why nothing is decided of point k."""
        uncertainty = float(self.left[k])
        if self.excess[k] < -self.tol - uncertainty:
            return f"violations within {CERTIFY:.0e} buy that value"
        if np.isnan(self.dual[k]):
            return "the multipliers could not be judged"
        return f"known within {rounded_up(uncertainty)} only: refine it" if self.proved else "the path is not proved"

    def explain(self, k: int | None = None) -> str:
        """Say in words what was found at one point, and what its numbers are relative to.

        Parameters
        ----------
        k : int, optional
            Which point; by default the first that is not proved optimal, or else the one with the largest excess.
        """
        if k is None:
            first = self.first_failure()
            k = int(np.argmax(np.abs(self.excess))) if first is None else first
        k = range(self.t.size)[k]
        at = {name: each[k] for name, each in self.parameters.items()}
        scale, verdict = self.scales[k], self._said[k]
        excess = self.excess[k]
        worse = "better" if excess < 0 else "worse"
        share, size = abs(excess), scale.size
        by = f"{share:.1e} of {size:.3g}, that is by {share * size:.1e}"
        knot = f", which is knot {self.knots[k]}," if self.given[k] else ""
        head = f"At t = {self.t[k]:.6g}{those(at)}{knot} {verdict} (tolerance {self.tol:.0e})."
        said = (
            f"{head} The objective is {worse} than the optimal value by {by}. That is relative to {scale}. The largest "
            f"violation of a constraint is {self.violation[k]:.1e}, relative to 1 + the larger of its sides."
        )
        return f"{said} {self.note}".rstrip()

    def __repr__(self) -> str:
        names = (column_of_t(self.parameters), *self.parameters, "excess", "violation")
        head = " ".join([f"{'knot':>5}", *(f"{name:>10}" for name in names), f"{'relative to':>16}", " verdict"])
        rows = []
        for k, (row, said) in enumerate(zip(self.records()[:SHOWN], self._said, strict=False)):
            knot = "" if row["knot"] is None else row["knot"]
            moving = " ".join(f"{each[k]:10.6g}" for each in self.parameters.values())
            numbers = f"{row['excess']:10.1e} {row['violation']:10.1e} {self.scales[k].briefly:>16}"
            rows.append(f"{knot:>5} {row['t']:10.6f} {moving}{' ' if moving else ''}{numbers}  {said}")
        return listing(head, rows, self.t.size, ". ".join(filter(None, (self._title(), self.note))))

    @cached_property
    def _said(self) -> list[str]:
        """Verdict and reason of each point, as they are printed."""
        pairs = zip(self.verdicts, self.reasons, strict=True)
        return [": ".join(filter(None, pair)) for pair in pairs]

    def _title(self) -> str:
        first = self.first_failure()
        said = f"{self.verdicts.count('optimal')} of {self.t.size} points are optimal to {self.tol:g}"
        if first is None:
            return f"{said}; {self._largest()}"
        at = {name: each[first] for name, each in self.parameters.items()}
        knot = f", knot {self.knots[first]}" if self.given[first] else ""
        where = f"t = {self.t[first]:.6g}{those(at)}{knot}"
        if self.worst != first:
            said = f"{said}; the worst, at t = {self.t[self.worst]:.6g}, is off by {self[self.worst].off_by:.1e}"
        said = f"{said}; the first that is not, at {where}: {self._said[first]}"
        if self.opposite and self.reasons[first] == "wrong dual":
            said = f"{said}. {OPPOSITE}"
        if not self._all_given_are_optimal():
            return said
        return (
            f"{said}. All that were given are optimal, and straight lines between them are not: between=False judges "
            "the given ones alone"
        )

    def _largest(self) -> str:
        """Say how large the largest errors are of all points, and what they are relative to."""
        k = int(np.argmax(np.abs(self.excess)))
        excess = (
            f"the largest difference from the optimal value is {abs(self.excess[k]):.1e} of {self.scales[k].number}"
        )
        violation = f"the largest violation {self.violation.max():.1e} of 1 + the larger side"
        dual = f", that of multipliers {self.dual.max():.1e} of their terms" if self.dual.any() else ""
        return f"{excess}, at t = {self.t[k]:.6g}, {violation}{dual}"

    def _all_given_are_optimal(self) -> bool:
        """Whether every point that was given is optimal."""
        pairs = zip(self.verdicts, self.given.tolist(), strict=False)
        of_given = [verdict for verdict, given in pairs if given]
        return bool(of_given) and all(verdict == "optimal" for verdict in of_given)

    def _rows(self) -> Iterator[dict[str, Any]]:
        for k, (verdict, reason) in enumerate(zip(self.verdicts, self.reasons, strict=True)):
            named: dict[str, Any] = {}
            for name in ("t", "excess", "violation", "dual"):
                named[name] = float(getattr(self, name)[k])
            named["scale"] = self.scales[k].size
            moving = {name: float(each[k]) for name, each in self.parameters.items()}
            named["knot"] = int(self.knots[k]) if self.given[k] else None
            yield {**moving, **named, "verdict": verdict, "reason": reason}


def judge_beside(
    path: ProblemPath | ConePath,
    t: Any,
    variables: Mapping[str, Any],
    duals: Mapping[str, Any] | None = None,
    *,
    tol: float = STRANGERS,
    between: bool = True,
    numbers: Index | None = None,
) -> JudgedPoints:
    """Judge somebody's path of the same problem beside a proved one.

    Parameters
    ----------
    path : ProblemPath or ConePath
        The proved one.
    t : array of shape (k,)
        Knots of the judged path, as t of the proved one; of two at one t the first is the end of the piece before.
    variables : mapping of str to array of shape (k, ...)
        Every variable of the problem at the knots.
    duals : mapping of str to array of shape (k, ...), optional
        Multipliers of constraints, by their names, with CVXPY's signs.
    tol : float
        Largest residual of objective, multipliers and each constraint, relative to their size. Beside a path within
        eps, points that are closer than that to its own are undecided where tol is smaller than eps.
    between : bool
        Whether it is linear between knots, and judged there: at every breakpoint of the proved path and in the middle
        of each two points. The excess is a parabola between them, so that no more than a quarter of what is found
        can hide. Where the other path goes through a kink of the objective, it is none: there more points are judged.
    numbers : int array of shape (k,), optional
        Numbers of the knots as their author counts them; by default from 0 on. One of -1 is none of the author's, and
        is judged only with what is between.

    Raises
    ------
    InputError
        If a variable is missing or has another shape, or a knot is not on the path.
    """
    source = path.source
    if source is None:
        raise InputError(
            "judging points beside a path needs the problem, which a file does not hold: trace it again; values of the "
            "objective alone, {'t': t, 'value': values}, are judged without it"
        )
    if duals and isinstance(path, ConePath):
        raise InputError(f"duals must be left out beside a path within eps, got {', '.join(duals)}: values are judged")
    knots = real_array(t, "t").ravel()
    numbers = np.arange(knots.size) if numbers is None else numbers
    if not knots.size or not ((knots >= 0) & (knots <= path.t[-1])).all() or (np.diff(knots) < 0).any():
        raise InputError(f"t must hold increasing numbers from 0 to {path.t[-1]:.10g}")
    given = {}
    for name, reading in path.program.variables.items():
        if name not in variables:
            raise InputError(f"variables must have {name}, got {', '.join(variables) or 'none'}")
        given[name] = _at_knots(variables[name], name, (knots.size, *reading.shape))
    theirs = {}
    for name, value in (duals or {}).items():
        if name not in path.program.all_multipliers:
            known = ", ".join(path.program.all_multipliers) or "none"
            raise InputError(f"duals must be of constraints whose multiplier is known, {known}, got {name!r:.100}")
        theirs[name] = _at_knots(value, name, (knots.size, *path.program.all_multipliers[name].shape))
    places = _places(knots, path.breakpoints if between else None)
    if not between:
        places = [place for place in places if numbers[-1 - place[1]] >= 0]

    @cache
    def tried_at(place: Place) -> tuple[float, float]:
        """Objective and largest violation of the judged path; a place is looked at more than once."""
        t_here, piece, share = place
        objective, violation = source.tried(t_here, _on_piece(given, piece, share))
        return objective, violation

    places = _TheirPath(path, tried_at, tol).with_kinks(places)
    tried, dual = [tried_at(place) for place in places], []
    for t_here, piece, share in places:
        dual.append(_dual_error(path, t_here, _on_piece(theirs, piece, share)) if theirs else 0.0)
    objective, violation = np.array(tried).T
    at = np.array([t_here for t_here, _, _ in places])
    best = np.array([path.value(t_here) for t_here, _, _ in places])
    scales = scales_along(path, at, best)
    sizes = np.array([scale.size for scale in scales])
    with np.errstate(over="ignore"):  # where the value is 0 all along
        excess = path.program.sense * (source.sign * objective - best) / sizes
    wrong = [place for place, off in zip(places, dual, strict=True) if off > tol]
    return JudgedPoints(
        t=at,
        excess=excess,
        violation=violation,
        tol=tol,
        dual=np.array(dual),
        scales=scales,
        left=open_along(path, at, scales),
        best=best,
        proved=path.proof.passes(),
        parameters=numbers_along(path, at),
        knots=np.array([-1 if piece >= 0 else numbers[-1 - piece] for _, piece, _ in places]),
        sense=path.program.sense,
        opposite=_right_with_opposite_sign(path, theirs, wrong, tol),
    )


def numbers_along(path: ProblemPath | ConePath, at: Array) -> dict[str, Array]:
    """The numbers among the parameters that depend on t, at each t."""
    parameters = [path.parameters(t) for t in at]
    names = [name for name, value in parameters[0].items() if np.ndim(value) == 0]
    return {name: np.array([each[name] for each in parameters]) for name in names}


def scales_along(path: ProblemPath | ConePath, at: Array, values: Array) -> tuple[Scale, ...]:
    """The scales of differences from the optimal value at each t, by the path's own point there."""
    line = path.program
    sizes = largest_of_rows(line.A)
    found = []
    for t, value in zip(at.tolist(), values.tolist(), strict=True):
        P, A = line.matrices(t)
        rows = sizes if A is line.A else largest_of_rows(A)
        q, b, constant = (between_ends(ends, t) for ends in (line.q, line.b, line.constant))
        objective = Objective(P, q, float(constant), rows, b)
        point, _ = path.compiled(t)
        found.append(objective.scale(point, value))
    return tuple(found)


def open_along(path: ProblemPath | ConePath, at: Array, scales: Sequence[Scale]) -> Array:
    """The most that the proof of a path leaves open of the optimal value at each t, relative to the scale there."""
    left = np.asarray(_uncertainty(path, at) / np.array([scale.size for scale in scales]))
    return left if isinstance(path, ConePath) else np.maximum(left, float(path.proof.residual.max(initial=0.0)))


def _uncertainty(path: ProblemPath | ConePath, at: Array) -> Array:
    """Bound on the difference of the optimal value and the path's at each t, as far as that is proved."""
    if isinstance(path, ConePath):
        if path.proof.why:
            return np.full(at.size, np.inf)
        return np.array([high - low for low, high in map(path.bounds, at.tolist())])
    proof = path.proof
    segment = np.clip(np.searchsorted(proof.t, at, side="right") - 1, 0, len(proof) - 1)
    return np.asarray(np.maximum(proof.gaps[segment].max(axis=1), 0.0))


def _dual_error(path: ProblemPath | ConePath, t: float, duals: Mapping[str, Array]) -> float:
    """Residual of multipliers as those of an optimum, beside the path's own."""
    x, own = path.compiled(t)
    return dual_error(path.program, t, x, duals, own)


def _right_with_opposite_sign(
    path: ProblemPath | ConePath, duals: Mapping[str, Array], wrong: Sequence[Place], tol: float
) -> bool:
    """Whether minus the multipliers pass at every place where they themselves are wrong."""
    minus = {name: -value for name, value in duals.items()}
    for t, piece, share in wrong:
        if not _dual_error(path, t, _on_piece(minus, piece, share)) <= tol:
            return False
    return bool(wrong)


def _at_knots(value: Any, name: str, shape: tuple[int, ...]) -> Array:
    """Values at knots, of the shape that they must have."""
    found = real_array(value, name)
    if found.shape != shape:
        values = "; values of the objective alone are {'t': t, 'value': values}" if found.shape == shape[:1] else ""
        raise InputError(f"{name} must have shape {shape}, got {found.shape}{values}")
    if not np.isfinite(found).all():
        raise InputError(f"{name} must be finite at every knot, got {float(found[~np.isfinite(found)][0])}")
    return found


def _places(knots: Array, breakpoints: Array | None) -> list[Place]:
    """Places at which a path is judged: t, the piece (-1 - k at knot k itself), and the share of the piece before t."""
    found = []
    for k, knot in enumerate(knots.tolist()):
        found.append((knot, -1 - k, 0.0))
        if breakpoints is None or k + 1 == knots.size or knots[k + 1] <= knot:
            continue
        following = float(knots[k + 1])
        is_inside = (breakpoints > knot + AFFINE) & (breakpoints < following - AFFINE)
        inside = breakpoints[is_inside]
        ends = np.array([knot, *inside, following])
        middles = 0.5 * (ends[:-1] + ends[1:])
        for t in np.sort(np.concatenate([inside, middles])).tolist():
            found.append((t, k, (t - knot) / (following - knot)))
    return found


class _TheirPath(NamedTuple):
    """Path of somebody beside a proved one: its excess, not relative to anything, and where it has kinks."""

    path: ProblemPath | ConePath
    tried_at: Callable[[Place], tuple[float, float]]
    tol: float

    def excess(self, place: Place) -> float:
        """Difference of the objective and the path's optimal value."""
        objective, _ = self.tried_at(place)
        return float(self.path.program.sense * (self.path.source.sign * objective - self.path.value(place[0])))

    def unseen(self, t: float) -> float:
        """Return what is within the tolerance at t, or unknown."""
        at = np.array([t])
        (scale,) = scales_along(self.path, at, np.array([self.path.value(t)]))
        return self.tol * scale.size + 2.0 * float(_uncertainty(self.path, at)[0])

    def with_kinks(self, places: list[Place]) -> list[Place]:
        """Places, and more of them where the excess is no parabola from one place, by the next, to the one after."""
        found = places[:1]
        breakpoints = frozenset(self.path.breakpoints.tolist())
        for before, middle, after in zip(places, places[1:], places[2:], strict=False):
            piece = middle[1]
            is_middle = piece >= 0 and middle[0] not in breakpoints  # which the path's own parabolas do not pass
            if is_middle and before[0] < middle[0] < after[0]:
                begin = before if before[1] == piece else (before[0], piece, 0.0)
                end = after if after[1] == piece else (after[0], piece, 1.0)
                found += self._divided(begin, end, _DEPTH)
            else:
                found.append(middle)
        return [*found, *places[max(1, len(places) - 1) :]]

    def _divided(self, begin: Place, end: Place, depth: int) -> list[Place]:
        """The middle of two places, and those of its halves, if the excess is not the parabola through all three."""
        first, middle, last = (_along(begin, end, share) for share in (0.25, 0.5, 0.75))
        a, b, c = (self.excess(place) for place in (begin, middle, end))
        off = abs(self.excess(first) - (3 * a + 6 * b - c) / 8), abs(self.excess(last) - (3 * c + 6 * b - a) / 8)
        if not depth or max(off) <= self.unseen(middle[0]):
            return [middle]
        before, behind = (self._divided(*half, depth - 1) for half in ((begin, middle), (middle, end)))
        return [*before, middle, *behind]


def _along(begin: Place, end: Place, share: float) -> Place:
    """Place on a piece between two others on it."""
    (t, piece, first), (t_end, _, last) = begin, end
    return t + share * (t_end - t), piece, first + share * (last - first)


def _on_piece(values: Mapping[str, Array], piece: int, share: float) -> dict[str, Any]:
    """Interpolate between knots j and j + 1 of piece j; a piece of -1 - k means knot k itself."""
    if piece < 0:
        return {name: each[-1 - piece] for name, each in values.items()}
    return {name: between_ends(each[piece : piece + 2], share) for name, each in values.items()}
