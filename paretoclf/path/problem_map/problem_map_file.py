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
from paretoclf.engine.reduction.stored import unpacked
from paretoclf.path.problem_map.map_search import AffinePiece, NoOptimum
from paretoclf.path.programs.problem_path_file import seconds_of
from paretoclf.path.regions.edges import Contact

#: Third rows of what is affine in two parameters.
_THIRD = ("q", "b", "constant")


def arrays_of(found: Any) -> dict[str, Any]:
    """Arrays to store of a `ProblemMap`."""
    plane, pieces, nowhere = found.plane, found.pieces, found.nowhere
    arrays = {**packed(plane.line), **{f"plane_{key}": getattr(plane, key)[2] for key in _THIRD}}
    arrays |= {
        "corners": np.array([len(each.polygon) for each in pieces]),
        "polygon": np.concatenate([each.polygon for each in pieces]),
        "active": np.stack([each.active for each in pieces]),
        "x": np.stack([each.x for each in pieces]),
        "z": np.stack([each.z for each in pieces]),
        "none_corners": np.array([len(each.polygon) for each in nowhere], dtype=np.int64),
        "none_polygon": np.concatenate([np.zeros((0, 2)), *(each.polygon for each in nowhere)]),
        "rays": np.concatenate([np.zeros(0), *(each.ray for each in nowhere)]),
        "contacts": np.array([(each.first, each.second) for each in found.contacts], dtype=np.int64).reshape(-1, 2),
        "contact_ends": np.array([(each.start, each.stop) for each in found.contacts]).reshape(-1, 2, 2),
    }
    arrays |= {
        f"range_{k}_{i}": np.asarray(end) for k, pair in enumerate(found.ranges.values()) for i, end in enumerate(pair)
    }
    told: dict[str, Any] = {"parameters": [*found.ranges], "status": [each.status for each in nowhere]}
    told |= {"seconds": dict(found.seconds), "texts": dict(found.texts)}
    return {**arrays, "of_map": told}


def fields_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a `ProblemMap` from stored arrays; InputError, or NumPy's errors, where they do not fit each other."""
    line, told = unpacked(stored), stored["of_map"]
    third = [finite(stored[f"plane_{key}"], key, np.shape(getattr(line, key)[0])) for key in _THIRD]
    plane = ProgramPlane(
        line,
        *(
            np.vstack([getattr(line, key).reshape(2, -1), row]).reshape(3, *row.shape)
            for key, row in zip(_THIRD, third, strict=True)
        ),
    )
    corners = whole(stored["corners"], "corners", (None,), 3, np.iinfo(np.int32).max)
    r = corners.size
    if r == 0:
        raise InputError("there must be at least one region")
    x, z = (finite(stored[key], key, (r, size, 3)) for key, size in (("x", line.n), ("z", line.m)))
    active = np.asarray(stored["active"], dtype=np.bool_).reshape(r, line.m)
    pieces = tuple(map(AffinePiece, _split(stored["polygon"], corners), active, x, z))
    none, statuses = whole(stored["none_corners"], "none_corners", (None,), 3, np.iinfo(np.int32).max), told["status"]
    if len(statuses) != none.size or not set(statuses) <= {"infeasible", "unbounded"}:
        raise InputError(f"status must be infeasible or unbounded for each of {none.size} parts, got {statuses!r:.100}")
    sizes = np.array([line.m if status == "infeasible" else line.n for status in statuses], dtype=np.int64)
    rays = finite(stored["rays"], "rays", (int(sizes.sum()),))
    own = np.split(rays, np.cumsum(sizes)[:-1]) if sizes.size else []
    nowhere = tuple(map(NoOptimum, _split(stored["none_polygon"], none), statuses, own))
    ends = finite(stored["contact_ends"], "contact_ends", (None, 2, 2))
    pairs = whole(stored["contacts"], "contacts", (len(ends), 2), 0, r)
    contacts = tuple(Contact(int(i), int(j), *each) for (i, j), each in zip(pairs, ends, strict=True))
    ranges = {}
    for k, name in enumerate(told["parameters"]):
        first, last = (finite(stored[f"range_{k}_{i}"], str(name)) for i in (0, 1))
        if first.shape != last.shape:
            raise InputError(f"{name} must have the same shape at both ends of its range")
        ranges[str(name)] = (float(first), float(last)) if first.ndim == last.ndim == 0 else (first, last)
    if len(ranges) != 2:
        raise InputError(f"parameters must be two, got {told['parameters']!r:.100}")
    texts = {str(name): str(value) for name, value in told["texts"].items()}
    return {
        "plane": plane,
        "ranges": ranges,
        "pieces": pieces,
        "nowhere": nowhere,
        "contacts": contacts,
        "seconds": seconds_of(told),
        "texts": texts,
    }


def _split(points: Any, counts: Any) -> list[Any]:
    """Polygons that stand one after the other."""
    every = finite(points, "polygon", (int(counts.sum()), 2))
    ends = np.concatenate([[0], np.cumsum(counts)]).tolist()
    return [every[a:b] for a, b in pairwise(ends)]
