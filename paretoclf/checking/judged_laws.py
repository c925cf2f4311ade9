"""Somebody's control law beside a map: how much worse the best plan is that begins as the law says.

A law names some entries of the variables, such as the first control, at some places. They are held there, to
rounding, and the rest is chosen anew: an optimum of the map's own program with two more rows for each entry, proved as
every optimum. What it is worse than that of the map is the price of the law at that place. Between the places nothing
is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, real_array
from paretoclf.common.errors import InputError
from paretoclf.common.tables import SHOWN, listing
from paretoclf.common.tolerances import STRANGERS
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.path.base.points import those
from paretoclf.path.problem_map.problem_map import ProblemMap
from paretoclf.path.programs.optimum import optimum
from paretoclf.proof.verdicts.report import Report
from paretoclf.proof.verdicts.scale import Objective, Scale, largest_of_rows

#: Where a function is asked in each region: in its middle, and so far from there to each corner.
_OUT = 0.9


@dataclass(frozen=True, repr=False)
class JudgedLaw(Report):
    """A law beside a map, at some places; prints as a table.

    Attributes
    ----------
    points : array of shape (k, 2)
        Values of both parameters.
    names : tuple of str
        The parameters.
    excess : array of shape (k,)
        By how much the best plan that begins as the law says is worse than the optimum, relative to ``scales``; inf
        where there is none; nan where the problem itself has no optimum, and where the law says nothing.
    scales : tuple of Scale
        What the excess is relative to at each place, as for the points beside a path.
    reasons : tuple of str
        Reason why the law is not optimal at a place; empty where it is.
    tol : float
        The largest excess that counts as optimal. The law's numbers are held within it, and no less closely than
        1e-6, relative to 1 + their sizes.
    """

    points: Array
    names: tuple[str, ...]
    excess: Array
    scales: tuple[Scale, ...] = field(repr=False)
    reasons: tuple[str, ...]
    tol: float

    def __len__(self) -> int:
        return len(self.reasons)

    @property
    def verdicts(self) -> list[str]:
        """Verdict on each place: ``"optimal"`` or ``"not optimal"``."""
        return ["not optimal" if reason else "optimal" for reason in self.reasons]

    @property
    def worst(self) -> int:
        """Index of the place where the law is furthest from optimal."""
        return int(np.argmax(np.where(np.isnan(self.excess) & self._failed, np.inf, np.nan_to_num(self.excess))))

    @property
    def _failed(self) -> Array:
        return np.array([bool(reason) for reason in self.reasons])

    def explain(self, k: int | None = None) -> str:
        """Say in words what was found at one place; by default where the law is worst."""
        k = range(len(self))[self.worst if k is None else k]
        at = those(dict(zip(self.names, self.points[k].tolist(), strict=True))).strip(" ()")
        said = f"At {at} the law is {self.verdicts[k]} (tolerance {self.tol:.0e})"
        if not np.isfinite(self.excess[k]):
            return f"{said}: {self.reasons[k]}." if self.reasons[k] else f"{said}: there is no optimum, nor a control."
        return (
            f"{said}. The best plan that begins as it says is worse than the optimum by {self.excess[k]:.1e} of "
            f"{self.scales[k].size:.3g}. That is relative to {self.scales[k]}."
        )

    def __repr__(self) -> str:
        head = " ".join([*(f"{name:>12}" for name in self.names), f"{'excess':>10}", " verdict"])
        rows = []
        for point, excess, verdict, reason in zip(
            self.points[:SHOWN], self.excess, self.verdicts, self.reasons, strict=False
        ):
            numbers = " ".join(f"{number:12.6g}" for number in point)
            rows.append(f"{numbers} {excess:10.1e}  {': '.join(filter(None, (verdict, reason)))}")
        return listing(head, rows, len(self), self._title())

    def _title(self) -> str:
        said = f"the law is optimal at {self.verdicts.count('optimal')} of {len(self)} places, to {self.tol:g}"
        return said if self.passes() else f"{said}; the worst: {self.explain()}"

    def _rows(self) -> Iterator[dict[str, Any]]:
        for k, (verdict, reason) in enumerate(zip(self.verdicts, self.reasons, strict=True)):
            at = dict(zip(self.names, self.points[k].tolist(), strict=True))
            yield {**at, "excess": float(self.excess[k]), "verdict": verdict, "reason": reason}


def judge_law(found: ProblemMap, law: Any, tol: float = STRANGERS) -> JudgedLaw:
    """Judge a law beside a map, where both parameters are numbers.

    Parameters
    ----------
    found : ProblemMap
    law : callable, mapping or DataFrame
        A function of both parameters, in their order, that returns a mapping of variables or entries, as ``u`` or
        ``u[0]``, to numbers, or None where it has no control; it is asked in the middle of every region and near its
        corners. Or a table: columns of both parameters, and of variables or entries, nan where there is none.
    tol : float
        The largest excess that counts as optimal.

    Raises
    ------
    InputError
        If a name is none of the problem's, a place is outside of the map, or nothing is given.
    """
    if any(np.ndim(end) for pair in found.ranges.values() for end in pair):
        raise InputError(f"a law is judged where both parameters are numbers, got {', '.join(found.ranges)}")
    places, answers = _asked(found, law) if callable(law) else _of_table(found, law)
    if not len(places):
        raise InputError("law must have at least one place, got an empty table")
    judged = [_judged(found, place, answer, tol) for place, answer in zip(places, answers, strict=True)]
    excess, scales, reasons = zip(*judged, strict=True)
    return JudgedLaw(places, tuple(found.ranges), np.array(excess), scales, reasons, tol)


def _asked(found: ProblemMap, law: Callable[..., Any]) -> tuple[Array, list[Any]]:
    """Where a function is asked, and its answers."""
    places = []
    for region in found.regions:
        middle = region.centroid
        places += [middle, *(middle + _OUT * (region.polygon - middle))]
    answers = [law(*place.tolist()) for place in places]
    for answer in answers:
        if not (answer is None or isinstance(answer, Mapping)):
            names = ", ".join(found.plane.line.variables)
            raise InputError(
                f"law must return a mapping of variables or their entries to numbers, as {{'u[0]': 1.0}}, or None; "
                f"got {answer!r:.100}; the variables are {names}"
            )
    return np.array(places), answers


def _of_table(found: ProblemMap, law: Any) -> tuple[Array, list[Any]]:
    """Rows of a table: places, and what it says there."""
    names = [str(name) for name in getattr(law, "columns", law if isinstance(law, Mapping) else [])]
    if not set(found.ranges) <= set(names):
        own = " and ".join(found.ranges)
        raise InputError(f"law must be a function of {own}, or a table with columns of these names, got {law!r:.100}")
    columns = {name: real_array(np.asarray(law[name]), name) for name in names}
    sizes = {len(each) if each.ndim else 1 for each in columns.values()}
    if len(sizes) > 1:
        raise InputError(f"columns of law must be of one length, got {sorted(sizes)}")
    places = np.stack([columns.pop(name).ravel() for name in found.ranges], axis=1)
    rows = ({name: each[k] for name, each in columns.items()} for k in range(len(places)))
    return places, [None if any(np.isnan(each).any() for each in row.values()) else row for row in rows]


def _judged(found: ProblemMap, place: Array, answer: Any, tol: float) -> tuple[float, Scale, str]:
    """Excess of the law at a place, the scale of it, and why it is not optimal."""
    if np.isnan(found.values("value", place[None])[0]):
        _refuse_outside(found, place)
        said = "" if answer is None else "there is no optimum here, and the law has a control"
        return np.nan, Scale.of(0.0, 0.0, 1.0), said
    line, best = _optimum_at(found, place)
    objective = Objective(line.P, line.q[0], float(line.constant[0]), largest_of_rows(line.A), line.b[0])
    scale = objective.scale(best)
    if answer is None:
        return np.nan, scale, "the law has no control, and there is an optimum here"
    plan, why = _best_plan(line, best, _held(line, answer), min(tol, STRANGERS))
    if plan is None:
        return np.inf, scale, why
    excess = max(0.0, objective.value(plan) - objective.value(best)) / scale.size
    return excess, scale, "there is a better plan" if excess > tol else ""


def _refuse_outside(found: ProblemMap, place: Array) -> None:
    """InputError if a place is outside of a map."""
    square = (place - found.frame[0]) / found.frame[1]
    if (np.abs(square - 0.5) > 0.5).any():
        at = those(_named(found, place)).strip(" ()")
        raise InputError(f"law must be asked within the map, {found!r}, got {at}")


def _named(found: ProblemMap, place: Array) -> dict[str, float]:
    """Both parameters of a map by name."""
    return dict(zip(found.ranges, place.tolist(), strict=True))


def _optimum_at(found: ProblemMap, place: Array) -> tuple[ProgramLine, Array]:
    """The program at a place of a map, as a line that does not move, and the map's optimum of it."""
    square = np.clip((place - found.frame[0]) / found.frame[1], 0.0, 1.0)
    best, _ = found.regions[found.region_at(_named(found, place))].at(square)
    return found.plane.between(square, square), best


def _best_plan(
    line: ProgramLine, best: Array, held: list[tuple[int, float, float]], tol: float
) -> tuple[Array | None, str]:
    """The best plan that has these entries, to tol; where there is none, None and the constraints that say so."""
    size = np.array([tol * (1.0 + abs(value)) for _, _, value in held])
    apart = np.array([factor * best[column] - value for column, factor, value in held])
    if (np.abs(apart) <= size).all():
        return best, ""
    try:
        plan, _ = optimum(_with_rows(line, held, size))
    except InputError as error:
        if "infeasible" not in str(error):
            raise
        blame = str(error).partition("no point satisfies ")[2].partition(";")[0]
        return None, f"no plan that begins so satisfies {blame or 'the constraints'}"
    return plan, ""


def _held(line: ProgramLine, answer: Mapping[Any, Any]) -> list[tuple[int, float, float]]:
    """Columns that are given, the factor of each that makes it the user's entry, and the numbers."""
    entries = {
        name + entry: (int(place), float(factor))
        for name, reading in line.variables.items()
        for entry, place, factor in zip(reading.entries, reading.place, reading.factor, strict=True)
    }
    found = []
    for key, given in answer.items():
        name, values = key if isinstance(key, str) else str(key), real_array(np.asarray(given), str(key))
        reading = line.variables.get(name)
        if reading is not None and values.shape == reading.shape:
            own = zip([name + entry for entry in reading.entries], values.ravel(), strict=True)
        elif name in entries and values.size == 1:
            own = zip([name], values.ravel(), strict=True)
        else:
            known = ", ".join(f"{each} of shape {of.shape}" for each, of in line.variables.items())
            raise InputError(f"law must be of variables, {known}, or their entries, got {name} of shape {values.shape}")
        for entry, value in own:
            if not np.isfinite(value):
                raise InputError(f"law must have finite numbers, got {value} for {entry}")
            found.append((*entries[entry], float(value)))
    return found


def _with_rows(line: ProgramLine, held: list[tuple[int, float, float]], size: Array) -> ProgramLine:
    """The program with rows that hold entries within some distance of numbers."""
    count = np.arange(len(held))
    columns, factors, values = (np.array(each) for each in zip(*held, strict=True))
    rows = sp.csc_array((factors, (count, columns.astype(np.int64))), shape=(count.size, line.n))
    b = np.concatenate([line.b[0], values + size, size - values])
    return replace(line, A=sp.csc_array(sp.vstack([line.A, rows, -rows])), b=np.stack([b, b]))
