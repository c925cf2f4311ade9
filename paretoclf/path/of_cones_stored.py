"""A path within eps as arrays of an npz file, and back; the problem itself is not among them.

Pairs, ceiling and ray are judged anew when a file is read. The statement that they are judged of, names, constant,
parameters and all, is bound by a hash, and so is eps.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.common.storage import check_hash, finite, hash_of, whole
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.stored import packed, packed_matrix, unpacked, unpacked_matrix
from paretoclf.path.of_problem_stored import fields_of_line, of_line
from paretoclf.proof.cone_line import ConeLine
from paretoclf.proof.points.cones import KINDS, Cone, Cones

_PROVED = {"t", "x", "y", "z", "ceiling", "ray", "inside"}


def arrays_of(path: Any) -> dict[str, Any]:
    """What is stored of a `ConePath`."""
    arrays = {**packed(path.program), **{name: np.array(getattr(path, name)) for name in ("t", "x", "y", "z")}}
    arrays |= {"eps": np.array(path.eps), "ceiling": np.array(path.ceiling)}
    cones = path.program.cones
    arrays["cones"] = np.array([[KINDS.index(cone.kind), cone.order] for cone in cones]).reshape(-1, 2).astype(int)
    arrays["exponents"] = np.array([cone.exponent for cone in cones], dtype=float)
    arrays |= {name: getattr(path, name) for name in ("ray", "inside") if getattr(path, name) is not None}
    for key, M in (("P_stop", path.program.P_stop), ("A_stop", path.program.A_stop)):
        if M is not None:
            arrays |= packed_matrix(f"program_{key}", M)
    arrays |= of_line(path, "of_cones", {"solves": path.solves})
    return {**arrays, "sha256": np.array(hash_of(arrays, _PROVED))}


def fields_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """What a `ConePath` is made of; InputError, or what NumPy raises, where arrays do not fit each other."""
    line, told = unpacked(stored), json.loads(str(stored["of_cones"]))
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
    program = ConeLine(**{each.name: getattr(line, each.name) for each in fields(ProgramLine)}, cones=cones, **stops)
    along = fields_of_line(stored, told, program, chain="A_stop" in stops)
    shapes = {"x": line.n, "y": line.n, "z": line.m}
    pairs = {name: finite(stored[name], name, (along["t"].size, size)) for name, size in shapes.items()}
    inside = finite(stored["inside"], "inside", (2, line.n)) if "inside" in stored else None
    eps, ceiling = (float(finite(stored[name], name, ())) for name in ("eps", "ceiling"))
    if not 0.0 < eps < 1.0:
        raise InputError(f"eps must lie strictly between 0 and 1, got {eps!r}")
    check_hash(stored, hash_of(stored, _PROVED), "constant, parameters, program or eps")
    return {**along, **pairs, "eps": eps, "ceiling": ceiling, "inside": inside, "solves": int(told["solves"])}
