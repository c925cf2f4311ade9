"""Somebody's path of a program beside a proved one: every knot, and what is between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.checking.multipliers import dual_error
from paretoclf.common.checks import Array, Mask, real_array
from paretoclf.common.errors import InputError
from paretoclf.common.tables import SHOWN, Tabular, listing, rounded_up
from paretoclf.common.tolerances import AFFINE, CERTIFY, STRANGERS
from paretoclf.engine.reduction.program import between as between_ends
from paretoclf.path.along import those
from paretoclf.path.of_cones import ConePath
from paretoclf.path.of_problem import ProblemPath
from paretoclf.proof.cone_line import ConeLine
from paretoclf.proof.scale import Objective, Scale, largest_of_rows


@dataclass(frozen=True, repr=False)
class JudgedPoints(Tabular):
    """Somebody's path beside a proved one, at its knots and between them; prints as a table.

    Attributes
    ----------
    t : array of shape (k,)
    excess : array of shape (k,)
        By how much its objective is worse than the proved optimal value, relative to ``scales``.
    violation : array of shape (k,)
        The largest violation of a constraint, relative to 1 + the larger of its sides.
    tol : float
    dual : array of shape (k,)
        How far multipliers are from optimal ones; 0 where none are given, nan where that is not known.
    scales : tuple of Scale
        What the excess at each t is relative to, whatever happens at others: the largest of the size of the optimal
        value, a thousandth of the largest term of the objective, and a hundredth of its unit.
    left : array of shape (k,)
        What the proof of the path leaves open there, relative to the same.
    proved : bool
        Whether the path is proved, if only within its own eps.
    parameters : mapping of str to array of shape (k,)
        The numbers among the parameters that move, at each t.
    given : array of shape (k,)
        Which of the points were given. The others lie between two of them.
    """

    t: Array
    excess: Array
    violation: Array
    tol: float
    dual: Array
    scales: tuple[Scale, ...] = field(repr=False)
    left: Array = field(repr=False)
    proved: bool = True
    parameters: Mapping[str, Array] = field(default_factory=dict)
    given: Mask = field(default_factory=lambda: np.zeros(0, dtype=np.bool_), repr=False)

    @property
    def open(self) -> float:
        """The most that the proof of the path leaves open, relative to the scale there."""
        return float(np.max(self.left))

    @property
    def verdicts(self) -> list[str]:
        """The verdict on each point: ``"optimal"``, ``"not optimal"``, or ``"undecided"``, and `reasons` has why."""
        return [verdict for verdict, _ in self._judged]

    @property
    def reasons(self) -> list[str]:
        """Why a point is not optimal, or undecided; an empty text where it is optimal.

        ``"infeasible"``: a constraint is violated; ``"there is a better point"``, that of the path; ``"no feasible
        point is that good"``: the value is beyond the optimal one, by small violations; ``"wrong dual"``: a multiplier
        contradicts the optimal point of the path. Undecided: ``"violations within 1e-08 buy that value"``, as a solver
        leaves them; ``"known within 1e-02 only: refine it"``: so far the path is proved, and no further; ``"the path is
        not proved"``; ``"the multipliers could not be judged"``.
        """
        return [reason for _, reason in self._judged]

    @property
    def _judged(self) -> list[tuple[str, str]]:
        return [self._verdict(k) for k in range(self.t.size)]

    def _verdict(self, k: int) -> tuple[str, str]:
        """Verdict and reason of a point."""
        excess, violation = float(self.excess[k]), float(self.violation[k])
        dual, left = float(self.dual[k]), float(self.left[k])
        if not violation <= self.tol:
            return "not optimal", "infeasible"
        if excess > self.tol + left:
            return "not optimal", "there is a better point"
        if excess < -self.tol - left:
            if violation <= CERTIFY:
                return "undecided", f"violations within {CERTIFY:.0e} buy that value"
            return "not optimal", "no feasible point is that good"
        if dual > self.tol + left:
            return "not optimal", "wrong dual"
        if max(abs(excess), left) <= self.tol and dual <= self.tol:
            return "optimal", ""
        return "undecided", self._unknown(dual, left)

    def _unknown(self, dual: float, left: float) -> str:
        """Why nothing is decided."""
        if np.isnan(dual):
            return "the multipliers could not be judged"
        return f"known within {rounded_up(left)} only: refine it" if self.proved else "the path is not proved"

    def first_failure(self) -> int | None:
        """Index of the first point that is not proved optimal, or None."""
        return next((k for k, verdict in enumerate(self.verdicts) if verdict != "optimal"), None)

    def passes(self) -> bool:
        """Whether it is optimal everywhere."""
        return self.first_failure() is None

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
        scale, verdict = self.scales[k], ": ".join(filter(None, self._judged[k]))
        excess = self.excess[k]
        worse = "better" if excess < 0 else "worse"
        share, size = abs(excess), scale.size
        by = f"{share:.1e} of {size:.3g}, that is by {share * size:.1e}"
        head = f"At t = {self.t[k]:.6g}{those(at)} {verdict} (tolerance {self.tol:.0e})."
        return (
            f"{head} The objective is {worse} than the optimal value by {by}. That is relative to {scale}. The largest "
            f"violation of a constraint is {self.violation[k]:.1e}, relative to 1 + the larger of its sides."
        )

    def __repr__(self) -> str:
        names = ("t", *self.parameters, "excess", "violation")
        head = " ".join([*(f"{name:>10}" for name in names), f"{'relative to':>16}", " verdict"])
        rows = []
        for k, (row, verdict) in enumerate(zip(self.records()[:SHOWN], self._judged, strict=False)):
            moving = " ".join(f"{each[k]:10.6g}" for each in self.parameters.values())
            numbers = f"{row['excess']:10.1e} {row['violation']:10.1e} {self.scales[k].briefly:>16}"
            said = ": ".join(filter(None, verdict))
            rows.append(f"{row['t']:10.6f} {moving}{' ' if moving else ''}{numbers}  {said}")
        return listing(head, rows, self.t.size, self._title())

    def _title(self) -> str:
        judged, first = self._judged, self.first_failure()
        said = f"{self.verdicts.count('optimal')} of {self.t.size} points are optimal to {self.tol:g}"
        if first is None:
            return said
        at = {name: each[first] for name, each in self.parameters.items()}
        where = f"t = {self.t[first]:.6g}{those(at)}"
        said = f"{said}; the first that is not, at {where}: {': '.join(judged[first])}"
        if not self._all_given_are_optimal():
            return said
        return (
            f"{said}. All that were given are optimal, and straight lines between them are not: between=False judges "
            "the given ones alone"
        )

    def _all_given_are_optimal(self) -> bool:
        """Whether what was given is optimal, point by point."""
        pairs = zip(self.verdicts, self.given.tolist(), strict=False)
        of_given = [verdict for verdict, given in pairs if given]
        return bool(of_given) and all(verdict == "optimal" for verdict in of_given)

    def _rows(self) -> Iterator[dict[str, Any]]:
        for k, (verdict, reason) in enumerate(self._judged):
            named = {name: float(getattr(self, name)[k]) for name in ("t", "excess", "violation", "dual")}
            named["scale"] = self.scales[k].size
            moving = {name: float(each[k]) for name, each in self.parameters.items()}
            yield {**moving, **named, "verdict": verdict, "reason": reason}


def judge_beside(
    path: ProblemPath | ConePath,
    t: Any,
    variables: Mapping[str, Any],
    duals: Mapping[str, Any] | None = None,
    *,
    tol: float = STRANGERS,
    between: bool = True,
) -> JudgedPoints:
    """Judge somebody's path of the same problem beside a proved one.

    Parameters
    ----------
    path : ProblemPath or ConePath
        The proved one.
    t : array of shape (k,)
        Its knots, in that path; of two at one t the first is the end of the piece before.
    variables : mapping of str to array of shape (k, ...)
        Every variable of the problem at the knots.
    duals : mapping of str to array of shape (k, ...), optional
        Multipliers of constraints, by their names, with CVXPY's signs.
    tol : float
        How far objective, multipliers and each constraint may be off, relative to their size. Beside a path within
        eps, what is closer than that to its points is undecided where tol is smaller than eps.
    between : bool
        Whether it is linear between knots, and judged there: at every breakpoint of the proved path and in the middle
        of each two points. The excess is a parabola between them, so that no more than a quarter of what is found
        can hide, but where the other path goes through a kink of the objective.

    Raises
    ------
    InputError
        If a variable is missing or has another shape, or a knot is not on the path.
    """
    source = path.source
    if source is None:
        raise InputError("judging points beside a path needs the problem, which a file does not hold: trace it again")
    if duals and isinstance(path, ConePath):
        raise InputError(f"duals must be left out beside a path within eps, got {', '.join(duals)}: values are judged")
    knots = real_array(t, "t").ravel()
    if not knots.size or not ((knots >= 0) & (knots <= path.t[-1])).all() or (np.diff(knots) < 0).any():
        raise InputError(f"t must hold increasing numbers from 0 to {path.t[-1]:.10g}")
    given = {}
    for name, reading in path.program.variables.items():
        if name not in variables:
            raise InputError(f"variables must have {name}, got {', '.join(variables) or 'none'}")
        given[name] = _at_knots(variables[name], name, (knots.size, *reading.shape))
    theirs = {}
    for name, value in (duals or {}).items():
        if name not in path.program.multipliers:
            known = ", ".join(path.program.multipliers) or "none"
            raise InputError(f"duals must be of constraints whose multiplier is known, {known}, got {name!r:.100}")
        theirs[name] = _at_knots(value, name, (knots.size, *path.program.multipliers[name].shape))
    where = _places(knots, path.breakpoints if between else None)
    found, wrong = [], []
    for s, j, share in where:
        found.append(source.tried(s, _on_piece(given, j, share)))
        wrong.append(_dual_error(path, s, _on_piece(theirs, j, share)) if theirs else 0.0)
    at, tried = np.array([s for s, _, _ in where]), np.array(found)
    best = np.array([path.value(s) for s, _, _ in where])
    scales = scales_along(path, at, best)
    sizes = np.array([scale.size for scale in scales])
    with np.errstate(over="ignore"):  # where the value is 0 all along
        excess = path.program.sense * (source.sign * tried[:, 0] - best) / sizes
    there = [path.parameters(s) for s in at]
    moving = {name: np.array([p[name] for p in there]) for name, value in there[0].items() if np.ndim(value) == 0}
    left, proved = _left_open(path, at) / sizes, path.proof.passes()
    if not isinstance(path, ConePath):
        left = np.maximum(left, path.proof.residual.max(initial=0.0))
    violation, dual = tried[:, 1], np.array(wrong)
    given_there = np.isin(at, knots)
    return JudgedPoints(at, excess, violation, tol, dual, scales, left, proved, moving, given_there)


def scales_along(path: ProblemPath | ConePath, at: Array, values: Array) -> tuple[Scale, ...]:
    """The scales of differences from the optimal value at each t, by the path's own point there."""
    line, found = path.program, []
    sizes = largest_of_rows(line.A)
    for t, value in zip(at.tolist(), values.tolist(), strict=True):
        P, A = line.matrices(t) if isinstance(line, ConeLine) else (line.P, line.A)
        rows = sizes if A is line.A else largest_of_rows(A)
        q, b, constant = (between_ends(ends, t) for ends in (line.q, line.b, line.constant))
        objective = Objective(P, q, float(constant), rows, b)
        found.append(objective.scale(path.compiled(t)[0], value))
    return tuple(found)


def _left_open(path: ProblemPath | ConePath, at: Array) -> Array:
    """How far the optimal value at each t may be from the path's, as far as that is proved."""
    if isinstance(path, ConePath):
        if path.proof.why:
            return np.full(at.size, np.inf)
        return np.array([high - low for low, high in map(path.bounds, at.tolist())])
    proof = path.proof
    segment = np.clip(np.searchsorted(proof.t, at, side="right") - 1, 0, len(proof) - 1)
    return np.asarray(np.maximum(proof.gaps[segment].max(axis=1), 0.0))


def _dual_error(path: ProblemPath | ConePath, t: float, duals: Mapping[str, Array]) -> float:
    """How far multipliers are from those of any optimum, beside the path's own."""
    x, own = path.compiled(t)
    return dual_error(path.program, t, x, duals, own)


def _at_knots(value: Any, name: str, shape: tuple[int, ...]) -> Array:
    """Values at knots, of the shape that they must have."""
    found = real_array(value, name)
    if found.shape != shape:
        raise InputError(f"{name} must have shape {shape}, got {found.shape}")
    if not np.isfinite(found).all():
        raise InputError(f"{name} must be finite at every knot, got {float(found[~np.isfinite(found)][0])}")
    return found


def _places(knots: Array, breakpoints: Array | None) -> list[tuple[float, int, float]]:
    """Where a path is judged: t, the piece (-1 - k at knot k itself), and how far along it."""
    found = []
    for k, knot in enumerate(knots.tolist()):
        found.append((knot, -1 - k, 0.0))
        if breakpoints is None or k + 1 == knots.size or knots[k + 1] <= knot:
            continue
        inside = breakpoints[(breakpoints > knot + AFFINE) & (breakpoints < knots[k + 1] - AFFINE)]
        ends = np.array([knot, *inside, knots[k + 1]])
        for at in np.sort(np.concatenate([inside, 0.5 * (ends[:-1] + ends[1:])])).tolist():
            found.append((at, k, (at - knot) / (float(knots[k + 1]) - knot)))
    return found


def _on_piece(values: Mapping[str, Array], j: int, share: float) -> dict[str, Any]:
    """What is linear between knots j and j + 1, so far along; of a negative j at knot -1 - j."""
    return {name: each[-1 - j] if j < 0 else between_ends(each[j : j + 2], share) for name, each in values.items()}
