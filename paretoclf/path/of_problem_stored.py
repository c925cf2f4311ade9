"""The path of a program as arrays of an npz file, and back; the problem itself is not among them.

Points, multipliers and a ray are proved when a file is read. The statement that they are proved of, names, constant,
parameters and all, is bound by a hash; in files of versions before that it is said, and not checked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.common.files import InParts
from paretoclf.common.storage import check_hash, finite, hash_of, whole
from paretoclf.engine.reduction.on_demand import PointsOnDemand
from paretoclf.engine.reduction.program import Points, ProgramLine
from paretoclf.engine.reduction.stored import packed, unpacked
from paretoclf.problem.parametric_qp import ABOVE, BELOW


def arrays_of(path: Any) -> dict[str, Any]:
    """What is stored of a `ProblemPath`."""
    points, line, k = path.points, path.program, len(path.labels)
    arrays = {**packed(line), **{name: getattr(path, name) for name in ("t", "labels", "kinks")}}
    large = isinstance(points, PointsOnDemand)
    for which, (name, size) in enumerate({"x": line.n, "z": line.m}.items()):
        arrays[name] = InParts((k, 2, size), partial(points.in_parts, which)) if large else getattr(path, name)
    if path.ray is not None:
        arrays["ray"] = path.ray
    arrays |= of_line(path, "of_problem", {"items": path.items, "max_events": path.max_events})
    return arrays if path.unchecked else {**arrays, "sha256": np.array(_hash(arrays))}


def of_line(path: Any, kind: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """What is stored of every path of a program: the parameters at both ends, and by its kind what else is told."""
    arrays = {f"end_{k}_{i}": value for k, end in enumerate(path.ends) for i, value in enumerate(end.values())}
    told = {**told, "status": path.status, "parameters": [*path.ends[0]], "seconds": dict(path.seconds)}
    return {**arrays, kind: np.array(json.dumps(told))}


def _hash(arrays: Mapping[str, Any]) -> str:
    """That of all that is no part of what is proved; where a path was stopped, that is said, and nothing proves it."""
    stopped = json.loads(str(arrays["of_problem"]))["status"] == "limit"
    return hash_of(arrays, {"x", "z", "ray"} if stopped else {"x", "z", "ray", "t"})


def fields_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """What a `ProblemPath` is made of; InputError, or what NumPy raises, where arrays do not fit each other."""
    program, told = unpacked(stored), json.loads(str(stored["of_problem"]))
    along = fields_of_line(stored, told, program, exact=True)
    k, items, status = along["t"].size - 1, tuple(str(name) for name in told["items"]), along["status"]
    x, z = (finite(stored[key], key, (k, 2, size)) for key, size in (("x", program.n), ("z", program.m)))
    labels = whole(stored["labels"], "labels", (k, len(items)), BELOW, ABOVE + 1)
    bound, stopped = "sha256" in stored, told.get("max_events")
    if bound:
        check_hash(stored, _hash(stored), "constant, parameters or program")
    if bound and status == "limit" and (type(stopped) is not int or stopped < 0):
        raise InputError(f"max_events must be what ended it where the status is 'limit', got {stopped!r:.100}")
    return {
        **along,
        "points": Points.of(x, z),
        "labels": labels.astype(np.int8),
        "items": items,
        "kinks": np.asarray(stored["kinks"], dtype=np.bool_).reshape(len(items)),
        "max_events": stopped if bound else None,
        "unchecked": "" if bound else f"names and constant{', and that it was stopped' * (status == 'limit')}",
    }


def fields_of_line(
    stored: Mapping[str, Any],
    told: Mapping[str, Any],
    program: ProgramLine,
    exact: bool = False,
    chain: bool = False,
) -> dict[str, Any]:
    """What every path of a program is made of: the line, its ends, t, and why it ends; a ray may be a ``chain``.

    An ``exact`` one may have been stopped, or have an optimum at its start and none beyond.
    """
    t, status, ray = finite(stored["t"], "t", (None,)), told["status"], None
    if status in ("infeasible", "unbounded"):
        size = program.m if status == "infeasible" else program.n
        ray = finite(stored["ray"], "ray", (None, 1 + size) if chain else (size,))
    elif status != "end" and not (exact and status == "limit"):
        others = "end, limit" if exact else "end"
        raise InputError(f"status must be {others}, infeasible or unbounded, got {status!r:.100}")
    at_once = exact and status != "end" and t.tolist() == [0.0, 0.0]
    if t.size < 2 or t[0] != 0.0 or t[-1] > 1.0 or not (at_once or (np.diff(t) > 0.0).all()):
        raise InputError(f"t must {'hold increasing ends of segments,' if exact else 'increase'} from 0 to at most 1")
    if status == "end" and t[-1] != 1.0:
        raise InputError(f"t must go to 1 where the status is 'end', got {t[-1]!r}")
    ends = tuple(
        {str(name): finite(stored[f"end_{end}_{i}"], str(name)) for i, name in enumerate(told["parameters"])}
        for end in (0, 1)
    )
    if any(first.shape != ends[1][name].shape for name, first in ends[0].items()):
        raise InputError("parameters must have the same shape at both ends")
    seconds = seconds_of(told)
    return {"program": program, "ends": ends, "t": t, "status": status, "ray": ray, "seconds": seconds}


def seconds_of(told: Mapping[str, Any]) -> dict[str, float]:
    """The time that each part took."""
    return {str(name): float(value) for name, value in told["seconds"].items()}
