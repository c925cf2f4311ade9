"""The map of a program as arrays of an npz file, and back; the problem itself is not among them.

Regions, rays and contacts are proved when a file is read. The statement that they are proved of, names and ranges
included, is bound by a hash.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.common.storage import finite, whole
from paretoclf.engine.reduction.packed import packed
from paretoclf.engine.reduction.plane import ProgramPlane
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.stored import unpacked
from paretoclf.path.problem_map.map_search import AffinePiece, NoOptimum
from paretoclf.path.programs.problem_path_file import seconds_of
from paretoclf.path.regions.edges import Contact

#: Third rows of what is affine in two parameters.
_THIRD = ("q", "b", "constant")


def arrays_of(found: Any) -> dict[str, Any]:
    """Arrays to store of a `ProblemMap`."""
    plane, pieces, nowhere = found.plane, found.pieces, found.nowhere
    third_rows = {f"plane_{key}": getattr(plane, key)[2] for key in _THIRD}
    of_pieces = {
        "corners": np.array([len(each.polygon) for each in pieces]),
        "polygon": np.concatenate([each.polygon for each in pieces]),
        "active": np.stack([each.active for each in pieces]),
        "x": np.stack([each.x for each in pieces]),
        "z": np.stack([each.z for each in pieces]),
    }
    of_nowhere = {
        "none_corners": np.array([len(each.polygon) for each in nowhere], dtype=np.int64),
        "none_polygon": np.concatenate([np.zeros((0, 2)), *(each.polygon for each in nowhere)]),
        "rays": np.concatenate([np.zeros(0), *(each.ray for each in nowhere)]),
    }
    of_contacts = {
        "contacts": np.array([(each.first, each.second) for each in found.contacts], dtype=np.int64).reshape(-1, 2),
        "contact_ends": np.array([(each.start, each.stop) for each in found.contacts]).reshape(-1, 2, 2),
    }
    of_ranges = {
        f"range_{k}_{i}": np.asarray(end) for k, pair in enumerate(found.ranges.values()) for i, end in enumerate(pair)
    }
    told = {
        "parameters": [*found.ranges],
        "status": [each.status for each in nowhere],
        "seconds": dict(found.seconds),
        "texts": dict(found.texts),
    }
    return {**packed(plane.line), **third_rows, **of_pieces, **of_nowhere, **of_contacts, **of_ranges, "of_map": told}


def fields_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a `ProblemMap` from stored arrays; InputError, or NumPy's errors, where they do not fit each other."""
    line, told = unpacked(stored), stored["of_map"]
    plane = _plane_of(stored, line)
    pieces = _pieces_of(stored, line)
    nowhere = _nowhere_of(stored, line, told["status"])
    contacts = _contacts_of(stored, len(pieces))
    return {
        "plane": plane,
        "ranges": _ranges_of(stored, told["parameters"]),
        "pieces": pieces,
        "nowhere": nowhere,
        "contacts": contacts,
        "seconds": seconds_of(told),
        "texts": {str(name): str(value) for name, value in told["texts"].items()},
    }


def _plane_of(stored: Mapping[str, Any], line: ProgramLine) -> ProgramPlane:
    """The program in two parameters: its line, and third rows."""
    rows = []
    for key in _THIRD:
        ends = getattr(line, key)
        third = finite(stored[f"plane_{key}"], key, np.shape(ends[0]))
        rows.append(np.stack([*ends, third]))
    return ProgramPlane(line, *rows)


def _pieces_of(stored: Mapping[str, Any], line: ProgramLine) -> tuple[AffinePiece, ...]:
    """The regions, at least one."""
    corners = _corners(stored, "corners")
    count = corners.size
    if count == 0:
        raise InputError("there must be at least one region")
    x, z = (finite(stored[key], key, (count, size, 3)) for key, size in (("x", line.n), ("z", line.m)))
    active = np.asarray(stored["active"], dtype=np.bool_).reshape(count, line.m)
    return tuple(map(AffinePiece, _split(stored["polygon"], corners), active, x, z))


def _nowhere_of(stored: Mapping[str, Any], line: ProgramLine, statuses: Any) -> tuple[NoOptimum, ...]:
    """The parts without an optimum, each with its ray: multipliers where it is infeasible, else a direction."""
    corners = _corners(stored, "none_corners")
    if len(statuses) != corners.size or not set(statuses) <= {"infeasible", "unbounded"}:
        raise InputError(
            f"status must be infeasible or unbounded for each of {corners.size} parts, got {statuses!r:.100}"
        )
    sizes = np.array([line.m if status == "infeasible" else line.n for status in statuses], dtype=np.int64)
    every = finite(stored["rays"], "rays", (int(sizes.sum()),))
    rays = np.split(every, np.cumsum(sizes)[:-1]) if sizes.size else []
    return tuple(map(NoOptimum, _split(stored["none_polygon"], corners), statuses, rays))


def _contacts_of(stored: Mapping[str, Any], regions: int) -> tuple[Contact, ...]:
    """Pairs of so many regions that have an edge in common, and its ends."""
    ends = finite(stored["contact_ends"], "contact_ends", (None, 2, 2))
    pairs = whole(stored["contacts"], "contacts", (len(ends), 2), 0, regions)
    return tuple(Contact(int(i), int(j), *each) for (i, j), each in zip(pairs, ends, strict=True))


def _ranges_of(stored: Mapping[str, Any], names: Any) -> dict[str, Any]:
    """Values of both parameters at the ends of their ranges."""
    ranges = {}
    for k, name in enumerate(names):
        first, last = (finite(stored[f"range_{k}_{i}"], str(name)) for i in (0, 1))
        if first.shape != last.shape:
            raise InputError(f"{name} must have the same shape at both ends of its range")
        ranges[str(name)] = (float(first), float(last)) if first.ndim == last.ndim == 0 else (first, last)
    if len(ranges) != 2:
        raise InputError(f"parameters must be two, got {names!r:.100}")
    return ranges


def _corners(stored: Mapping[str, Any], key: str) -> Any:
    """Numbers of corners of polygons, at least three each."""
    return whole(stored[key], key, (None,), 3, np.iinfo(np.int32).max)


def _split(points: Any, counts: Any) -> list[Any]:
    """Polygons that stand one after the other."""
    every = finite(points, "polygon", (int(counts.sum()), 2))
    ends = np.concatenate([[0], np.cumsum(counts)]).tolist()
    return [every[a:b] for a, b in pairwise(ends)]
