"""A compiled program as arrays of an npz file, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.common.storage import check_parts, finite, whole
from paretoclf.engine.reduction.program import Moved, ProgramLine, Reading

#: What is said of the convexity of a program, where something is.
_SAID = ("shift", "lacks")


def packed(line: ProgramLine) -> dict[str, Any]:
    """A program as arrays by name."""
    arrays: dict[str, Any] = {f"program_{key}": getattr(line, key) for key in ("q", "b", "constant")}
    arrays["program_signs"] = np.array([line.equations, line.sense])
    for key in "PA":
        arrays |= packed_matrix(f"program_{key}", getattr(line, key))
    for key in ("variables", "multipliers"):
        readings = getattr(line, key)
        arrays[f"program_{key}"] = np.array(json.dumps({name: each.shape for name, each in readings.items()}))
        arrays[f"program_{key}_place"] = _joined([each.place.ravel() for each in readings.values()]).astype(np.int64)
        arrays[f"program_{key}_factor"] = _joined([each.factor.ravel() for each in readings.values()])
    moved = line.moved
    arrays["program_moved"] = np.array([[each.column, each.places.size] for each in moved]).reshape(-1, 2).astype(int)
    arrays["program_moved_places"] = _joined([each.places for each in moved]).astype(np.int64)
    arrays["program_moved_values"] = _joined([each.values for each in moved])
    arrays["program_moved_scale"] = np.array([each.scale for each in moved]).reshape(-1, 2)
    return arrays | {f"program_{key}": found for key in _SAID if (found := getattr(line, key)) is not None}


def unpacked(stored: Mapping[str, Any]) -> ProgramLine:
    """The program that arrays of a file are; InputError or ValueError if they do not fit each other."""
    q, b = (finite(stored[f"program_{key}"], f"{key} of a program") for key in "qb")
    n, m = q.shape[1], b.shape[1]
    P, A = (unpacked_matrix(stored, f"program_{key}", shape) for key, shape in (("P", (n, n)), ("A", (m, n))))
    equations, sense = (int(number) for number in stored["program_signs"])
    if not 0 <= equations <= m or sense not in (-1, 1) or q.shape[0] != 2 or b.shape[0] != 2:
        raise InputError(f"a program of {m} rows must have that many equations at most, got {equations}")
    variables, multipliers = _readings(stored, "variables", n), _readings(stored, "multipliers", m)
    constant = finite(stored["program_constant"], "constant of a program").reshape(2)
    shift = lacks = None
    if "program_shift" in stored:
        shift = finite(stored["program_shift"], "shift of a program", (2, n))
    if "program_lacks" in stored:
        lacks = finite(stored["program_lacks"], "lacks of a program", (n,))
    if any(each is not None and (each < 0.0).any() for each in (shift, lacks)):
        raise InputError("shift and lacks of a program must not be negative")
    named = variables, multipliers, _moved(stored, n)
    return ProgramLine(P, A, q, b, constant, equations, sense, *named, shift=shift, lacks=lacks)


def packed_matrix(name: str, matrix: Any) -> dict[str, Any]:
    """A sparse matrix as arrays by name."""
    M = sp.csc_array(matrix)
    return {f"{name}_{part}": getattr(M, part) for part in ("data", "indices", "indptr")}


def unpacked_matrix(stored: Mapping[str, Any], name: str, shape: tuple[int, int]) -> Any:
    """The sparse matrix that arrays of a file are."""
    data, indices, indptr = (stored[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    key = name.removeprefix("program_")
    check_parts(indptr, indices, data.size, f"columns of {key}")
    M = sp.csc_array((finite(data, f"{key} of a program"), indices, indptr), shape=shape)
    M.check_format()  # of an empty matrix it looks at nothing
    return M


def _readings(stored: Mapping[str, Any], key: str, size: int) -> dict[str, Reading]:
    place, factor = (
        np.asarray(stored[f"program_{key}_place"]),
        finite(stored[f"program_{key}_factor"], f"{key} of a program"),
    )
    whole(place, f"places of {key}", (None,), 0, max(size, 1))
    if size == 0 and factor.any():
        raise InputError(f"factors of {key} must be 0 where a program has none")
    found, at = {}, 0
    shapes = {str(name): tuple(map(int, shape)) for name, shape in json.loads(str(stored[f"program_{key}"])).items()}
    total = sum(int(np.prod(shape)) for shape in shapes.values())
    each = (1, 2)[place.size == 2 * total > 0]  # of raw arrays the multipliers of both bounds of a row
    if not place.shape == factor.shape == (each * total,):
        raise InputError(f"{key} must have {total} places and factors, got {place.size} and {factor.size}")
    for name, shape in shapes.items():
        entries = int(np.prod(shape))
        part, own = slice(at, at + each * entries), (entries,) if each == 1 else (entries, 2)
        found[name] = Reading(shape, place[part].reshape(own), factor[part].reshape(own))
        at += each * entries
    return found


def _moved(stored: Mapping[str, Any], n: int) -> tuple[Moved, ...]:
    heads = whole(stored["program_moved"], "moved", (None, 2), 0, np.iinfo(np.int64).max)
    total = int(heads[:, 1].sum())
    whole(heads[:, 0], "places of moved", (None,), 0, n)
    places = whole(stored["program_moved_places"], "places of moved", (total,), 0, n)
    values = finite(stored["program_moved_values"], "values of a program", (total,))
    scale = finite(stored["program_moved_scale"], "scale of a program", (heads.shape[0], 2))
    ends = np.cumsum(heads[:, 1])
    return tuple(
        Moved(int(column), places[end - size : end], values[end - size : end], scale[k])
        for k, ((column, size), end) in enumerate(zip(heads.tolist(), ends.tolist(), strict=True))
    )


def _joined(parts: list[Any]) -> Array:
    return np.concatenate([np.zeros(0), *parts])
