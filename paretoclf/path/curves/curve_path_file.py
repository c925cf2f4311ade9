"""A curve as arrays of an npz file, and back; the problem itself is not among them.

Pieces are judged anew when a file is read: what is proved of them must be as close as the file says. The
statement that they are judged of, names, constant, parameters and all, is bound by a hash, and so is eps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.common.storage import finite, whole
from paretoclf.path.base.path_content import of_line
from paretoclf.path.programs.eps_path_file import arrays_of_program, program_of
from paretoclf.path.programs.problem_path_file import fields_of_line
from paretoclf.proof.curves.curve_theorem import CurvePiece
from paretoclf.proof.curves.polynomials import GRID
from paretoclf.solve.curves.complementarity import CurveEvent

#: Coefficients of pieces, by the name of the field, and whether they are points or multipliers.
_COEFFICIENTS = {"x": "n", "z": "m", "inner": "n", "inner_y": "n", "inner_z": "m"}

#: Degrees of polynomials are below this.
_DEGREES = 30


def arrays_of(path: Any) -> dict[str, Any]:
    """Arrays to store of a `CurvePath`: coefficients one piece below the other, and how many rows each has."""
    arrays = {**arrays_of_program(path.program), "t": path.t, "eps": np.array(path.eps)}
    for name in _COEFFICIENTS:
        parts = [getattr(piece, name) for piece in path.pieces]
        arrays |= {name: np.concatenate(parts), f"{name}_rows": np.array([len(part) for part in parts])}
    arrays["smooth"] = np.array(path.smooth, dtype=int)
    arrays["changes_t"] = np.array([change.t for change in path.changes], dtype=float)
    changed = [[change.row, change.before, change.after] for change in path.changes]
    arrays["changes"] = np.array(changed, dtype=int).reshape(-1, 3)
    return arrays | of_line(path, "of_curve", {"solves": path.solves, "inner_solves": path.inner_solves})


def fields_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a `CurvePath` from stored arrays; InputError, or NumPy's errors, where they do not fit each other."""
    program, told = program_of(stored), stored["of_curve"]
    along = fields_of_line(stored, told, program)
    t, count = along.pop("t"), np.size(stored["t"]) - 1
    if along.pop("status") != "end" or along.pop("ray") is not None:
        raise InputError("status must be end: a curve goes from 0 to 1")
    columns: list[list[Array]] = []
    for name, size in _COEFFICIENTS.items():
        rows = whole(stored[f"{name}_rows"], f"{name}_rows", (count,), 1, _DEGREES)
        values = finite(stored[name], name, (int(rows.sum()), getattr(program, size)))
        columns.append(np.split(values, np.cumsum(rows)[:-1]))
    ends = zip(t[:-1].tolist(), t[1:].tolist(), strict=True)
    pieces = [CurvePiece(start, stop, *parts) for (start, stop), *parts in zip(ends, *columns, strict=True)]
    smooth = whole(stored["smooth"], "smooth", (count,), 0, 2)
    changes = whole(stored["changes"], "changes", (None, 3), 0, program.m)
    at = finite(stored["changes_t"], "changes_t", (len(changes),))
    if not np.isin(at, t).all() or any(not (each / GRID).is_integer() for each in t.tolist()):
        raise InputError("changes_t must hold ends of pieces, which are whole multiples of the grid of t")
    counts = {name: int(told[name]) for name in ("solves", "inner_solves")}
    events = [CurveEvent(when, *each) for when, each in zip(at.tolist(), changes.tolist(), strict=True)]
    found = {"pieces": tuple(pieces), "smooth": tuple(map(bool, smooth.tolist())), "changes": tuple(events)}
    return {**along, **counts, **found, "claimed": float(finite(stored["eps"], "eps", ()))}
