"""A path within eps as arrays of an npz file, and back; the problem itself is not among them.

Pairs, ceiling and ray are judged anew when a file is read. The statement that they are judged of, names, constant,
parameters and all, is bound by a hash, and so is eps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.common.storage import finite, whole
from paretoclf.engine.reduction.packed import packed, packed_matrix
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.stored import unpacked, unpacked_matrix
from paretoclf.path.base.path_content import of_line
from paretoclf.path.programs.problem_path_file import fields_of_line
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.cones.cone_kinds import KINDS, Cone, Cones


def arrays_of(path: Any) -> dict[str, Any]:
    """Arrays to store of a `ConePath`."""
    arrays = {**arrays_of_program(path.program), **{name: np.array(getattr(path, name)) for name in "txyz"}}
    arrays |= {"eps": np.array(path.eps), "ceiling": np.array(path.ceiling)}
    arrays |= {name: getattr(path, name) for name in ("ray", "inside") if getattr(path, name) is not None}
    return arrays | of_line(path, "of_cones", {"solves": path.solves})


def arrays_of_program(line: ConeLine) -> dict[str, Any]:
    """Arrays to store of a compiled line, its cones, and the matrices that move."""
    arrays, cones = packed(line), line.cones
    arrays["cones"] = np.array([[KINDS.index(cone.kind), cone.order] for cone in cones]).reshape(-1, 2).astype(int)
    arrays["exponents"] = np.array([cone.exponent for cone in cones], dtype=float)
    for key, M in (("P_stop", line.P_stop), ("A_stop", line.A_stop)):
        if M is not None:
            arrays |= packed_matrix(f"program_{key}", M)
    return arrays


def program_of(stored: Mapping[str, Any]) -> ConeLine:
    """The compiled line from stored arrays; InputError, or NumPy's errors, where they do not fit each other."""
    line = unpacked(stored)
    kinds = whole(stored["cones"], "cones", (None, 2), 0, np.iinfo(np.int64).max)
    exponents = finite(stored["exponents"], "exponents", (len(kinds),))
    if kinds[:, 0].max(initial=0) >= len(KINDS):
        raise InputError(f"cones must be of {len(KINDS)} kinds, got number {kinds[:, 0].max()}")
    each = zip(kinds.tolist(), exponents.tolist(), strict=True)
    cones = Cones(Cone(KINDS[kind], order, exponent) for (kind, order), exponent in each)
    zero = [cone.size for cone in cones if cone.kind == "zero"]
    first = bool(zero) and cones[0].kind == "zero"
    if (
        sum(cone.size for cone in cones) != line.m
        or sum(zero) != line.equations
        or len(zero) > 1
        or bool(zero) != first
    ):
        raise InputError(f"cones must have the {line.m} rows of the program, its {line.equations} equations first")
    stops = {
        f"{key}_stop": unpacked_matrix(stored, f"program_{key}_stop", shape)
        for key, shape in (("P", (line.n, line.n)), ("A", (line.m, line.n)))
        if f"program_{key}_stop_data" in stored
    }
    return ConeLine(**{each.name: getattr(line, each.name) for each in fields(ProgramLine)}, cones=cones, **stops)


def fields_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a `ConePath` from stored arrays; InputError, or NumPy's errors, where they do not fit each other."""
    program, told = program_of(stored), stored["of_cones"]
    along = fields_of_line(stored, told, program, chain=program.A_stop is not None)
    shapes = {"x": program.n, "y": program.n, "z": program.m}
    pairs = {name: finite(stored[name], name, (along["t"].size, size)) for name, size in shapes.items()}
    inside = finite(stored["inside"], "inside", (2, program.n)) if "inside" in stored else None
    eps, ceiling = (float(finite(stored[name], name, ())) for name in ("eps", "ceiling"))
    if not 0.0 < eps < 1.0:
        raise InputError(f"eps must lie strictly between 0 and 1, got {eps!r}")
    return {**along, **pairs, "eps": eps, "ceiling": ceiling, "inside": inside, "solves": int(told["solves"])}
