"""Somebody's path of a program beside a proved one: every knot, and what is between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, real_array
from paretoclf.common.errors import InputError
from paretoclf.common.linear_programs import linprog
from paretoclf.common.tables import SHOWN, Tabular, listing
from paretoclf.common.tolerances import AFFINE, CERTIFY, STRANGERS
from paretoclf.engine.reduction.program import between as between_ends
from paretoclf.path.along import those
from paretoclf.path.of_cones import ConePath
from paretoclf.path.of_problem import ProblemPath
from paretoclf.proof.row_units import Units


@dataclass(frozen=True, repr=False)
class JudgedPoints(Tabular):
    """Somebody's path beside a proved one, at its knots and between them; prints as a table.

    Attributes
    ----------
    t : array of shape (k,)
    excess : array of shape (k,)
        By how much its objective is worse than the proved optimal value, relative to that.
    violation : array of shape (k,)
        The largest violation of a constraint, relative to 1 + the larger of its sides.
    tol : float
    dual : array of shape (k,)
        How far multipliers are from optimal ones; 0 where none are given, nan where that is not known.
    open : float
        What the proof of the path leaves open, relative to the value.
    parameters : mapping of str to array of shape (k,)
        The numbers among the parameters that move, at each t.
    """

    t: Array
    excess: Array
    violation: Array
    tol: float
    dual: Array
    open: float = 0.0
    parameters: Mapping[str, Array] = field(default_factory=dict)

    @property
    def verdicts(self) -> list[str]:
        """The verdict on each point: ``"optimal"``, ``"not optimal"``, or ``"undecided"``, and `reasons` has why."""
        return [verdict for verdict, _ in self._judged]

    @property
    def reasons(self) -> list[str]:
        """Why a point is not optimal, or undecided; an empty text where it is optimal.

        ``"infeasible"``: a constraint is violated; ``"there is a better point"``, that of the path; ``"no feasible
        point is that good"``: the value is beyond the optimal one, by small violations; ``"wrong dual"``: a multiplier
        contradicts the optimal point of the path; ``"the path is not proved"`` well enough to say.
        """
        return [reason for _, reason in self._judged]

    @property
    def _judged(self) -> list[tuple[str, str]]:
        return [self._verdict(*each) for each in zip(self.excess, self.violation, self.dual, strict=True)]

    def _verdict(self, excess: float, violation: float, dual: float) -> tuple[str, str]:
        """Verdict and reason of a point."""
        if not violation <= self.tol:
            return "not optimal", "infeasible"
        if not abs(excess) <= self.tol + self.open:
            return "not optimal", "there is a better point" if excess > 0 else "no feasible point is that good"
        if dual > self.tol + self.open:
            return "not optimal", "wrong dual"
        if max(abs(excess), self.open) <= self.tol and dual <= self.tol:
            return "optimal", ""
        return "undecided", "the path is not proved"

    def first_failure(self) -> int | None:
        """Index of the first point that is not proved optimal, or None."""
        return next((k for k, verdict in enumerate(self.verdicts) if verdict != "optimal"), None)

    def passes(self) -> bool:
        """Whether it is optimal everywhere."""
        return self.first_failure() is None

    def __repr__(self) -> str:
        names = ("t", *self.parameters, "excess", "violation")
        head = " ".join([*(f"{name:>10}" for name in names), " verdict"])
        rows = []
        for k, (row, verdict) in enumerate(zip(self.records()[:SHOWN], self._judged, strict=False)):
            moving = " ".join(f"{each[k]:10.6g}" for each in self.parameters.values())
            numbers = f"{row['excess']:10.1e} {row['violation']:10.1e}  {': '.join(filter(None, verdict))}"
            rows.append(f"{row['t']:10.6f} {moving}{' ' if moving else ''}{numbers}")
        return listing(head, rows, self.t.size, self._title())

    def _title(self) -> str:
        judged, first = self._judged, self.first_failure()
        said = f"{self.verdicts.count('optimal')} of {self.t.size} points are optimal to {self.tol:g}"
        if first is None:
            return said
        at = {name: each[first] for name, each in self.parameters.items()}
        where = f"t = {self.t[first]:.6g}{those(at)}"
        return f"{said}; the first that is not, at {where}: {': '.join(judged[first])}"

    def _rows(self) -> Iterator[dict[str, Any]]:
        for k, (verdict, reason) in enumerate(self._judged):
            named = {name: float(getattr(self, name)[k]) for name in ("t", "excess", "violation", "dual")}
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
    unit = np.maximum(np.abs(best), 1e-3 * max(float(np.abs(best).max()), np.finfo(float).tiny))
    with np.errstate(over="ignore"):  # where the value is 0 all along
        excess = path.program.sense * (source.sign * tried[:, 0] - best) / unit
    there = [path.parameters(s) for s in at]
    moving = {name: np.array([p[name] for p in there]) for name, value in there[0].items() if np.ndim(value) == 0}
    return JudgedPoints(at, excess, tried[:, 1], tol, np.array(wrong), path.proof.worst.off_by, moving)


def _dual_error(path: ProblemPath | ConePath, t: float, duals: Mapping[str, Array]) -> float:
    """How far multipliers are from those of any optimum: signs, products with slacks, stationarity.

    Those of rows that are not given are chosen as well as can be, by a linear program.
    """
    line, (x, own) = path.program, path.compiled(t)
    z, known = np.zeros(line.m), np.zeros(line.m, dtype=bool)
    equation = np.arange(line.m) < line.equations
    for name, value in duals.items():
        place, entries = line.multipliers[name].spread(value, equation)
        z[place], known[place] = entries, True
    slack, gradient = between_ends(line.b, t) - line.A @ x, line.P @ x + between_ends(line.q, t)
    units = Units.at(line, np.array([t]), x[None], np.stack([z, own]))
    price, room = units.prices(z[None] != 0.0)[0], units.slacks[0] * np.abs(slack)
    sign = float((price * np.maximum(-z, 0.0))[~equation].max(initial=0.0))
    products = float((room * price * np.abs(z))[~equation].max(initial=0.0))
    chosen = ~known & (equation | (room <= CERTIFY))
    missed = _missed(gradient + line.A.T @ z, line.A[chosen], equation[chosen], units.gradient[0])
    return max(sign, products, missed)


def _missed(gradient: Array, A: Any, free: Any, terms: Array) -> float:
    """The least of max |gradient + A'z| / terms over z, nonnegative but where free."""
    if not A.shape[0]:
        return float(np.abs(gradient / terms).max(initial=0.0))
    B, r = sp.csc_array(sp.diags_array(1.0 / terms) @ A.T), gradient / terms
    size = abs(B).max(axis=0).toarray().ravel()
    B = B @ sp.diags_array(1.0 / np.where(size > 0.0, size, 1.0))  # HiGHS drops what is small: z in units of its rows
    one = np.ones((r.size, 1))
    rows = sp.vstack([sp.hstack([B, -one]), sp.hstack([-B, -one])])
    bounds = [(None if each else 0.0, None) for each in free.tolist()] + [(0.0, None)]
    found = linprog(np.append(np.zeros(A.shape[0]), 1.0), A_ub=rows, b_ub=np.append(-r, r), bounds=bounds)
    return float(found.fun) if found.status == 0 else float("nan")


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
