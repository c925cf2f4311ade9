"""A compiled program of the arrays of a file, as `paretoclf.engine.reduction.packed` has made them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.errors import InputError
from paretoclf.common.storage import check_parts, finite, whole
from paretoclf.engine.reduction.program import Moved, ProgramLine, Reading


def unpacked(stored: Mapping[str, Any]) -> ProgramLine:
    """Make a program of the arrays of a file; InputError or ValueError if they do not fit each other."""
    q, b = (finite(stored[f"program_{key}"], f"{key} of a program") for key in "qb")
    columns, rows = q.shape[1], b.shape[1]
    P, A = (
        unpacked_matrix(stored, f"program_{key}", shape)
        for key, shape in (("P", (columns, columns)), ("A", (rows, columns)))
    )
    equations, sense = (int(number) for number in stored["program_signs"])
    if not 0 <= equations <= rows or sense not in (-1, 1) or q.shape[0] != 2 or b.shape[0] != 2:
        raise InputError(f"a program of {rows} rows must have that many equations at most, got {equations}")
    variables, multipliers = _readings(stored, "variables", columns), _readings(stored, "multipliers", rows)
    constant = finite(stored["program_constant"], "constant of a program").reshape(2)
    shift = lacks = None
    if "program_shift" in stored:
        shift = finite(stored["program_shift"], "shift of a program", (2, columns))
    if "program_lacks" in stored:
        lacks = finite(stored["program_lacks"], "lacks of a program", (columns,))
    if any(each is not None and (each < 0.0).any() for each in (shift, lacks)):
        raise InputError("shift and lacks of a program must not be negative")
    named = variables, multipliers, _moved(stored, columns)
    attributes = _readings(stored, "attributes", rows) if "program_attributes" in stored else {}
    return ProgramLine(P, A, q, b, constant, equations, sense, *named, shift=shift, lacks=lacks, attributes=attributes)


def unpacked_matrix(stored: Mapping[str, Any], name: str, shape: tuple[int, int]) -> Any:
    """Make a sparse matrix of the arrays of a file."""
    data, indices, indptr = (stored[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    key = name.removeprefix("program_")
    check_parts(indptr, indices, data.size, f"columns of {key}")
    matrix = sp.csc_array((finite(data, f"{key} of a program"), indices, indptr), shape=shape)
    matrix.check_format()  # of an empty matrix it looks at nothing
    return matrix


def _readings(stored: Mapping[str, Any], key: str, size: int) -> dict[str, Reading]:
    """Make the readings of variables or multipliers of the arrays of a file, checked against the size of a vector."""
    place, factor = (
        np.asarray(stored[f"program_{key}_place"]),
        finite(stored[f"program_{key}_factor"], f"{key} of a program"),
    )
    whole(place, f"places of {key}", (None,), 0, max(size, 1))
    if size == 0 and factor.any():
        raise InputError(f"factors of {key} must be 0 where a program has none")
    found, at = {}, 0
    shapes = {str(name): tuple(map(int, shape)) for name, shape in stored[f"program_{key}"].items()}
    total = sum(int(np.prod(shape)) for shape in shapes.values())
    each = (1, 2)[place.size == 2 * total > 0]  # of raw arrays the multipliers of both bounds of a row
    if not place.shape == factor.shape == (each * total,):
        raise InputError(f"{key} must have {total} places and factors, got {place.size} and {factor.size}")
    for name, shape in shapes.items():
        entries = int(np.prod(shape))
        part, own = slice(at, at + each * entries), (entries,) if each == 1 else (entries, 2)
        own_place, own_factor = place[part].reshape(own), factor[part].reshape(own)
        found[name] = Reading(shape, own_place, own_factor)
        at += each * entries
    return found


def _moved(stored: Mapping[str, Any], columns: int) -> tuple[Moved, ...]:
    """Make the shifted columns of the arrays of a file."""
    heads = whole(stored["program_moved"], "moved", (None, 2), 0, np.iinfo(np.int64).max)
    total = int(heads[:, 1].sum())
    whole(heads[:, 0], "places of moved", (None,), 0, columns)
    places = whole(stored["program_moved_places"], "places of moved", (total,), 0, columns)
    values = finite(stored["program_moved_values"], "values of a program", (total,))
    scale = finite(stored["program_moved_scale"], "scale of a program", (heads.shape[0], 2))
    found, begin = [], 0
    for (column, size), ends in zip(heads.tolist(), scale, strict=True):
        part = slice(begin, begin + size)
        found.append(Moved(int(column), places[part], values[part], ends))
        begin += size
    return tuple(found)
