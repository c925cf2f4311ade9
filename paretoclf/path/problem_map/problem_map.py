"""The map of a program: its optimum at every pair of two parameters, as data.

Along a line of parameters the optimum is affine between breakpoints; in the plane it is affine on convex polygons.
`paretoclf.path.problem_map.map_search` finds them all.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from tqdm import tqdm

from paretoclf.common.checks import Array, check_number
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.common.files import AnyFile, write_file
from paretoclf.common.progress import shows_progress
from paretoclf.common.tables import Tabular
from paretoclf.common.tolerances import CERTIFY, PLANE_TOUCH
from paretoclf.engine.reduction.plane import ProgramPlane
from paretoclf.engine.reduction.points import ProgramPoints
from paretoclf.engine.reduction.program import between
from paretoclf.path.base.path import plain
from paretoclf.path.base.points import those
from paretoclf.path.problem_map.cover import objection_to
from paretoclf.path.problem_map.map_parts import MapPoint, MapRegion, Outside
from paretoclf.path.problem_map.map_search import AffinePiece, NoOptimum, ProgramSearch
from paretoclf.path.problem_map.problem_map_file import arrays_of
from paretoclf.path.problem_map.strips import guided
from paretoclf.path.programs.path_ends import beyond_of
from paretoclf.path.programs.problem_path import ProblemPath
from paretoclf.path.programs.program_path import in_words
from paretoclf.path.regions.edges import Contact
from paretoclf.path.regions.explicit_law import c_law, python_law
from paretoclf.path.regions.polygon import centroid, deepest, lookup
from paretoclf.problem.parametric_qp import INSIDE, LOWER, UPPER
from paretoclf.proof.files.stated_problems import program_problem
from paretoclf.proof.maps.program_regions import MapProof, judge_polygons
from paretoclf.proof.programs.convexity import refused_for
from paretoclf.proof.programs.rays import RayProof, judge_ray
from paretoclf.proof.verdicts.proof import refuse_labels
from paretoclf.solve.sources.problem_plane import PlaneSource

#: From one region to the next along a line there is no stretch that is shorter.
_SHORTEST = 1e-12


@dataclass(frozen=True, repr=False)
class ProblemMap(Tabular):
    """The optimum of a quadratic or linear program at every pair of two of its parameters.

    Attributes
    ----------
    plane : ProgramPlane
        The compiled program on the unit square, which the rectangle is.
    ranges : mapping of str to (first, last)
        The two parameters, with both ends; of one that is no number the coordinate is the share of the way, 0 to 1.
    pieces : tuple of AffinePiece
        What `regions` are made of, in the unit square.
    nowhere : tuple of NoOptimum
        What `outside` is made of.
    contacts : tuple of Contact
        Which regions touch along which segment of the unit square.
    seconds : mapping of str to float
        Time that it took to ``"compile"`` the problem and to find the regions (``"map"``), proof excluded.
    texts : mapping of str to str
        Constraints without a label with their text.

    Notes
    -----
    Where optima are not unique, one is chosen everywhere, and it may jump from region to region; the value is
    continuous. Regions do not overlap.

    References
    ----------
    Bemporad, Morari, Dua & Pistikopoulos (2002), "The explicit linear quadratic regulator for constrained systems",
    Automatica 38; Gal & Nedoma (1972).
    """

    plane: ProgramPlane
    ranges: Mapping[str, tuple[Any, Any]]
    pieces: tuple[AffinePiece, ...]
    nowhere: tuple[NoOptimum, ...]
    contacts: tuple[Contact, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        (low, width), line = self.frame, self.plane.line
        ends = (
            f"{name} {a:g} to {a + w:g}" for name, a, w in zip(self.ranges, low.tolist(), width.tolist(), strict=True)
        )
        none = f", {len(self.nowhere)} parts without an optimum" if self.nowhere else ""
        return f"ProblemMap({', '.join(ends)}, {len(self.pieces)} regions{none}, {line.n} columns and {line.m} rows)"

    @cached_property
    def frame(self) -> Array:
        """The first values of both coordinates, and their widths, shape (2, 2)."""
        ends = np.array([pair if np.ndim(pair[0]) == 0 else (0.0, 1.0) for pair in self._pairs], dtype=np.float64)
        return np.stack([ends[:, 0], ends[:, 1] - ends[:, 0]])

    @property
    def _pairs(self) -> list[tuple[Any, Any]]:
        """Both ends of each parameter; of one that is no number as arrays."""
        return [
            (first, last) if np.ndim(first) == np.ndim(last) == 0 else (np.asarray(first), np.asarray(last))
            for first, last in self.ranges.values()
        ]

    @cached_property
    def regions(self) -> tuple[MapRegion, ...]:
        """The regions: with `outside` they cover the rectangle, and do not overlap."""
        return tuple(
            MapRegion(self.plane, self.frame, each.polygon, each.x, each.z, each.active) for each in self.pieces
        )

    @cached_property
    def outside(self) -> tuple[Outside, ...]:
        """Parts of the rectangle without an optimum, each with why."""
        found = []
        for each in self.nowhere:
            middle = centroid(each.polygon)
            line = self.plane.between(middle, middle)
            why = beyond_of(line, each.status, each.ray, 0.0, judge_ray(line, each.status, each.ray, 0.0))
            blame = tuple(self.texts.get(name, name) for name in why.blame)
            found.append(Outside(self._outwards(each.polygon), each.status, blame, why.ray, why.proof))
        return tuple(found)

    def _outwards(self, square: Array) -> Array:
        """Points of the unit square as values of the parameters."""
        return np.asarray(self.frame[0] + self.frame[1] * square)

    @cached_property
    def proof(self) -> MapProof:
        """Proof of the map at every pair, from the arrays that it consists of."""
        found = judge_polygons(
            self.plane, *([getattr(each, key) for each in self.pieces] for key in ("polygon", "x", "z"))
        )
        rays = tuple(self._judged(each) for each in self.nowhere)
        missed, objection = objection_to(self.plane, self.pieces, self.nowhere, self.contacts)
        return replace(found, rays=rays, missed=missed, objection=objection, writer=self._write_certificate)

    def _write_certificate(
        self,
        file: AnyFile,
        level: str | None = None,
        progress: bool | None = None,
        n_jobs: int | None = None,
        positive: str | float | None = None,
    ) -> None:
        """Write the certificate file of the compiled program, guided by the active rows of the regions."""
        from paretoclf.path.problem_map.map_labels import map_labels, ways_out  # few maps have a certificate written
        from paretoclf.proof.maps.map_certificate import map_certificate, save_map

        refuse_labels(positive)

        def make() -> dict[str, Any]:
            problem = program_problem(self.plane.problem)
            outside = ways_out(self.plane, self.pieces, self.nowhere)
            return map_certificate(problem, map_labels(self.plane, self.pieces), outside, progress)

        save_map(make, file, level)

    def _judged(self, each: NoOptimum) -> RayProof:
        middle = centroid(each.polygon)
        return judge_ray(self.plane.between(middle, middle), each.status, each.ray)

    def at(self, place: Any = None, second: Any = None, /, **parameters: float) -> MapPoint:
        """The optimum where the two parameters have these values.

        That is written as ``found.at(a=0.3, b=2.5)``, or with CVXPY's parameters as ``found.at({a: 0.3, b: 2.5})``.

        Raises
        ------
        InputError
            If that is outside of the rectangle, or there is no optimum there: with why.
        """
        here = self._place(place if second is None else (place, second), parameters)
        k = self._region_at(here)
        x, z = self.regions[k].at(here)
        line = self.plane.between(here, here)
        return MapPoint(line.value(x, 0.0), self._parameters(here), *in_words(line, x, z, 0.0), k)

    def value(self, place: Any = None, second: Any = None, /, **parameters: float) -> float:
        """The optimal value; where as for `at`."""
        here = self._place(place if second is None else (place, second), parameters)
        return self.plane.between(here, here).value(self.regions[self._region_at(here)].at(here)[0], 0.0)

    def region_at(self, place: Any = None, second: Any = None, /, **parameters: float) -> int:
        """Number of the region that a point lies in; of one of them, on a common border. Where as for `at`."""
        return self._region_at(self._place(place if second is None else (place, second), parameters))

    def values(self, name: str, points: Any) -> Array:
        """A variable, multipliers of a constraint, or the value (``"value"``) at points (k, 2); nan without optimum.

        Parameters
        ----------
        name : str
        points : array of shape (k, 2)
            Values of the two parameters, in the order of ``ranges``.
        """
        line = self.plane.line
        readings = line.readings
        if name not in readings:
            known = ", ".join(readings)
            raise InputError(
                f"name must be that of a variable or constraint, or value, one of {known}, got {name!r:.100}"
            )
        square = (np.asarray(points, dtype=np.float64) - self.frame[0]) / self.frame[1]
        reading = readings[name]
        of_variable = any(reading is each for each in line.variables.values())
        found = np.full((len(square), *(reading.shape if reading else ())), np.nan)
        q, _, constant = self.plane.data(square)
        for k, place in enumerate(square):
            number = self._number(place)
            if number < 0:
                continue
            x, z = self.regions[number].at(place)
            if reading:
                found[k] = reading.of(x if of_variable else z)
            else:
                found[k] = line.sense * (0.5 * x @ (line.P @ x) + q[k] @ x + constant[k]) + 0.0
        return found

    def _region_at(self, here: Array) -> int:
        found = self._number(here)
        if found < 0:
            deep = deepest(lookup([each.polygon for each in self.nowhere]), here, np.inf)
            why = self.outside[int(deep[0])]
            where = those(self._parameters(here), digits=10)  # in fewer digits it may be a place that has one
            infeasible = ", where the problem is infeasible" if why.status == "infeasible" else ""
            raise InputError(f"there is no optimum{where}{infeasible}: {why.explain()}")
        return found

    def _number(self, here: Array) -> int:
        """Number of the region at a point of the unit square; -1 where there is none."""
        if not self.pieces:
            return -1
        inside = deepest(self._lookup, here, _NEAR)
        if not inside.size:
            return -1
        k = int(inside[0])
        depth = float((self._lookup[1][k] @ np.array([1.0, *here])).min())
        return k if depth >= -_NEAR else -1

    @cached_property
    def _lookup(self) -> tuple[Array, Array]:
        """Where each region is, for `deepest`."""
        return lookup([each.polygon for each in self.pieces])

    def _place(self, place: Any, named: Mapping[str, Any]) -> Array:
        """The point of the unit square that is meant."""
        given = dict(named)
        if isinstance(place, Mapping):
            given |= {each if isinstance(each, str) else each.name(): value for each, value in place.items()}
        elif place is not None:
            words = " and ".join(self.ranges)
            pair = ", ".join(f"{name!r}: ..." for name in self.ranges)
            raise InputError(
                f"place must map both parameters, {words}, to numbers, as at({{{pair}}}), got {place!r:.100}"
            )
        if set(given) != set(self.ranges):
            names = " and ".join(self.ranges)
            raise InputError(f"both parameters of the map must be given, {names}, got {', '.join(given) or 'none'}")
        found = []
        for name, low, width in zip(self.ranges, *self.frame.tolist(), strict=True):
            number = check_number(given[name], name)
            share = (number - low) / width
            if not -_NEAR <= share <= 1.0 + _NEAR:
                raise InputError(
                    f"{name} must lie in [{low:g}, {low + width:g}], its range in this map, got {number!r}"
                )
            found.append(min(max(share, 0.0), 1.0))
        return np.array(found)

    def _parameters(self, here: Array) -> dict[str, Any]:
        """Both parameters at a point of the unit square."""
        return {
            name: plain(between(pair, s)) for name, pair, s in zip(self.ranges, self._pairs, here.tolist(), strict=True)
        }

    def where(self, here: Array) -> str:
        """A point of the unit square in words."""
        return those(self._parameters(here)).strip(" ()")

    def along(self, start: Any, stop: Any) -> ProblemPath:
        """The path between two points of the map: what `paretoclf.trace` finds, read off the regions.

        Parameters
        ----------
        start, stop : mapping
            Both parameters to their values.

        Returns
        -------
        ProblemPath
            It ends early where the line leaves what has an optimum.

        Raises
        ------
        InputError
            If there is no optimum at the start.
        """
        first, last = self._place(start, {}), self._place(stop, {})
        if np.array_equal(first, last):
            raise InputError("start and stop must be different points of the map")
        self._region_at(first)
        numbers, t = self._crossed(first, last)
        points = [first + share * (last - first) for share in t]
        own = [[self.regions[k].at(points[j + i]) for i in (0, 1)] for j, k in enumerate(numbers)]
        x, z = (np.array([[end[i] for end in pair] for pair in own]) for i in (0, 1))
        line, status, ray = self.plane.between(first, last), "end", None
        if t[-1] < 1.0:
            each = max(self.nowhere, key=lambda part: self._gain(part, points[-1] + 1e-6 * (last - first)))
            status, ray = each.status, each.ray
        active = np.array([self.pieces[k].active for k in numbers])
        tight = np.where(np.arange(line.m) < line.equations, LOWER, UPPER)
        labels = np.hstack([np.full((len(numbers), line.n), INSIDE), np.where(active, tight, INSIDE)]).astype(np.int8)
        ends = self._parameters(first), self._parameters(last)
        named = tuple({name: np.array(value) for name, value in end.items()} for end in ends)
        names, none = line.problem.names, np.zeros(line.n + line.m, dtype=np.int8)
        return ProblemPath(line, (named[0], named[1]), t, ProgramPoints.of(x, z), labels, names, none, status, ray)

    def _gain(self, part: NoOptimum, here: Array) -> float:
        """Gain of a ray at a point, relative to its rate."""
        gain = self.plane.gain(part.status, part.ray)
        return float(gain @ np.array([1.0, *here])) / (float(np.hypot(*gain[1:])) or 1.0)

    def _crossed(self, first: Array, last: Array) -> tuple[list[int], Array]:
        """Numbers of the regions along a segment, in order, and where each begins; then where the last one ends."""
        planes = self._lookup[1]
        depth, rate = planes @ np.array([1.0, *first]), planes[:, :, 1:] @ (last - first)
        when = np.divide(-depth, rate, out=np.zeros(rate.shape), where=rate != 0.0)
        beside = ((rate == 0.0) & (depth < -_NEAR)).any(axis=1)
        enter = np.where(beside, 1.0, np.where(rate > 0.0, when, 0.0).max(axis=1))
        leave = np.where(rate < 0.0, when, 1.0).min(axis=1)
        t, numbers = [0.0], list[int]()
        order = np.argsort(enter, kind="stable")
        order = order[(leave - enter)[order] > _SHORTEST]
        while t[-1] < 1.0 - _SHORTEST:
            here = [k for k in order.tolist() if enter[k] <= t[-1] + _LEAP and leave[k] > t[-1] + _SHORTEST]
            if not here:
                break
            k = max(here, key=lambda k: leave[k])
            numbers.append(int(k))
            t.append(float(leave[k]))
        if t[-1] >= 1.0 - _SHORTEST:
            t[-1] = 1.0
        return numbers, np.array(t)

    def arrays(self) -> dict[str, Any]:
        """The map as plain arrays: its explicit law.

        Returns
        -------
        dict
            ``"polygons"``, a list of arrays (k, 2); ``"gains"`` and ``"offsets"``, of each variable by name, shapes
            (regions, ..., 2) and (regions, ...): on region r it is ``offsets[name][r] + gains[name][r] @ (a, b)``;
            ``"values"``, shape (regions, 3, 3), as ``value_map`` of a region.
        """
        own = {name: np.stack([each.variables[name] for each in self.regions]) for name in self.plane.line.variables}
        return {
            "polygons": [each.polygon for each in self.regions],
            "gains": {name: each[..., 1:] for name, each in own.items()},
            "offsets": {name: each[..., 0] for name, each in own.items()},
            "values": np.stack([each.value_map for each in self.regions]),
        }

    def to_python(self, of: Any = None, function: str = "law") -> str:
        """Source text of a function of both parameters that needs nothing else (`path.regions.explicit_law`).

        Parameters
        ----------
        of : sequence of str or of CVXPY's own, optional
            Which variables it returns, or which entries, as ``"u[0]"``; by default all.
        function : str
            What it is called.

        Raises
        ------
        InputError
            If a variable is not known, or the name is none of Python's.
        """
        return python_law(self, of, function)

    def to_c(self, of: Any = None, function: str = "law") -> str:
        """Source text in C of a function of both parameters, for a controller (`path.regions.explicit_law`).

        Parameters
        ----------
        of
            As for `to_python`.
        function : str
            What it is called.

        Raises
        ------
        InputError
            If a variable is not known, or the name is none of C's.
        """
        return c_law(self, of, function)

    def _rows(self) -> Iterator[dict[str, Any]]:
        first, second = self.ranges
        for k, each in enumerate(self.regions):
            middle = each.centroid
            own = {first: float(middle[0]), second: float(middle[1])}
            yield {"region": k, **own, "area": each.area, "corners": len(each.square), "tight": ", ".join(each.tight)}

    def plot(self, what: str = "regions", index: Any = None, ax: Any = None) -> Any:
        """Draw the regions, or level lines over them; see `paretoclf.plotting.ProblemMapDisplay`.

        Parameters
        ----------
        what : str
            ``"regions"``, ``"value"``, the name of a variable, or the label of a constraint, whose multiplier is drawn,
            or one entry of either, ``"u[0]"``.
        index : int or tuple of int, optional
            Which entry of it.
        """
        from paretoclf.plotting.problem_map import ProblemMapDisplay  # matplotlib only when a picture is wanted

        return ProblemMapDisplay.from_map(self, what, index).plot(ax=ax)

    def save(self, file: AnyFile) -> None:
        """Write the map to an npz file, for `paretoclf.load`; the problem itself is not part of it."""
        write_file(file, arrays_of(self))


#: A point this near to a region, in the unit square, is in it.
_NEAR = PLANE_TOUCH
#: Along a line one region begins this near to where the last one ends.
_LEAP = 1e-6


def map_problem(
    source: PlaneSource, *, certify: bool = True, progress: bool | None = None, n_jobs: int | None = None
) -> ProblemMap:
    """Find every region of a program in two parameters.

    Parameters
    ----------
    source : PlaneSource
    certify, progress, n_jobs
        As for `paretoclf.plane`.

    Raises
    ------
    InputError
        If there is no optimum anywhere.
    DegeneratePathError
        If a region cannot be found, or the map fails its proof.
    """
    try:
        return _mapped(source, certify, progress, n_jobs)
    except DegeneratePathError as error:
        raise refused_for(source.line, error) from error.__cause__


def _mapped(source: PlaneSource, certify: bool, progress: bool | None, n_jobs: int | None) -> ProblemMap:
    """The map, or why there is none."""
    began = time.perf_counter()
    empty, shown = ProblemMap(source.plane, source.ranges, (), (), ()), shows_progress(progress)
    if n_jobs is None:
        search = ProgramSearch(source.plane, empty.where)
    else:
        search = guided(source.plane, empty.where, n_jobs, progress)
    with tqdm(total=1.0, desc="plane", leave=False, disable=not shown, bar_format=_BAR) as meter:
        search.run(meter.update if shown else None)
    pieces = tuple(search.piece(each) for each in search.regions)
    contacts = tuple(Contact(*each) for each in search.contacts)
    seconds = {"compile": source.seconds, "map": time.perf_counter() - began}
    found = ProblemMap(source.plane, source.ranges, pieces, tuple(search.outside), contacts, seconds, source.texts)
    if not pieces:
        words = {"infeasible": "infeasible", "no optimum": "without bound from any feasible point"}
        said = "; ".join(
            f"{words[each.verdict]} ({', '.join(each.blame) or 'what CVXPY added'})" for each in found.outside
        )
        raise InputError(f"the problem must have an optimum somewhere in ranges, it is {said} everywhere")
    if certify:
        check_map_proof(found)
    return found


_BAR = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}"


def check_map_proof(found: ProblemMap) -> None:
    """DegeneratePathError unless all of it is proved."""
    if not found.proof.passes():
        failed = found.proof.failures(CERTIFY)
        where = found.where(centroid(found.pieces[failed[0]].polygon)) if failed.size else ""
        remedy = "Rescale the data, or use a slightly different rectangle; no doubtful map is returned."
        raise DegeneratePathError(found.proof.explain(), t=None, costs=where, n_margin=None, remedy=remedy)
