"""A compiled program, the way back to it, and the path of what is left of it: content of a file, by name."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.reduced import WayBack
from paretoclf.problem.piecewise import Piecewise
from paretoclf.problem.stated_items import SIDES

#: Arrays on the convexity of a program, stored where it has them.
_SAID = ("shift", "lacks")


def packed(line: ProgramLine) -> dict[str, Any]:
    """A program as arrays by name."""
    arrays: dict[str, Any] = {f"program_{key}": getattr(line, key) for key in ("q", "b", "constant")}
    arrays["program_signs"] = np.array([line.equations, line.sense])
    for key in "PA":
        arrays |= packed_matrix(f"program_{key}", getattr(line, key))
    for key in ("variables", "multipliers", *(["attributes"] if line.attributes else [])):
        readings = getattr(line, key)
        shapes = {name: each.shape for name, each in readings.items()}
        places = _joined([each.place.ravel() for each in readings.values()])
        arrays[f"program_{key}"] = shapes
        arrays[f"program_{key}_place"] = places.astype(np.int64)
        arrays[f"program_{key}_factor"] = _joined([each.factor.ravel() for each in readings.values()])
    moved = line.moved
    heads = np.array([[each.column, each.places.size] for each in moved])
    arrays["program_moved"] = heads.reshape(-1, 2).astype(int)
    arrays["program_moved_places"] = _joined([each.places for each in moved]).astype(np.int64)
    arrays["program_moved_values"] = _joined([each.values for each in moved])
    arrays["program_moved_scale"] = np.array([each.scale for each in moved]).reshape(-1, 2)
    return arrays | {f"program_{key}": found for key in _SAID if (found := getattr(line, key)) is not None}


def packed_matrix(name: str, matrix: Any) -> dict[str, Any]:
    """A sparse matrix as arrays by name."""
    by_columns = sp.csc_array(matrix)
    return {f"{name}_{part}": getattr(by_columns, part) for part in ("data", "indices", "indptr")}


def packed_way(way: WayBack) -> dict[str, Any]:
    """The plan of a way back: its rules by name, and the fields of each, but for the program."""
    rules = way.chain.rules
    found: dict[str, Any] = {
        "reduced_columns": way.columns,
        "reduced_rows": way.rows,
        "rules": [type(rule).__name__ for rule in rules],
    }
    for number, rule in enumerate(rules):
        found |= _packed_fields(f"rule_{number}", rule)
    return found


def packed_path(path: Piecewise) -> dict[str, Any]:
    """A path without its problem, but with the bounds and prices of the items."""
    assert not path.stationary
    found = {f"reduced_{side}": getattr(path.problem, side) for side in SIDES}
    found |= {"first": path.first, "changes": np.stack(path.changes).astype(np.int32)}
    found |= {"ptr": path.ptr, "number": path.number}
    return found if path.place is None else {**found, "place": path.place}


def _packed_fields(name: str, rule: Any) -> dict[str, Any]:
    """Fields of a dataclass, but for a program; those of several of a kind are joined, with their sizes."""
    found: dict[str, Any] = {}
    for each in fields(rule):
        value, own = getattr(rule, each.name), f"{name}_{each.name}"
        if sp.issparse(value):
            found |= packed_matrix(own, value)
        elif isinstance(value, tuple):
            parts = [_packed_fields(own, part) for part in value]
            found |= {key: np.concatenate([np.atleast_1d(part[key]) for part in parts], axis=-1) for key in parts[0]}
            found[f"{own}_sizes"] = np.array([part.rows.size for part in value])
        elif is_dataclass(value) and not isinstance(value, ProgramLine):
            found |= _packed_fields(own, value)
        elif not isinstance(value, ProgramLine):
            found[own] = value
    return found


def _joined(parts: list[Any]) -> Array:
    """Join arrays, of which there may be none."""
    return np.concatenate([np.zeros(0), *parts])
