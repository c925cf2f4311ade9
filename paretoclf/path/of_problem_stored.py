"""The path of a program as arrays of an npz file, and back; the problem itself is not among them.

Points, multipliers and a ray are proved when a file is read. The statement that they are proved of, names, constant,
parameters and all, is bound by a hash; in files of versions before that it is said, and not checked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.common.files import InParts
from paretoclf.engine.reduction.on_demand import PointsOnDemand
from paretoclf.engine.reduction.program import Points
from paretoclf.engine.reduction.stored import packed, unpacked
from paretoclf.path.storage import finite, whole
from paretoclf.problem.parametric_qp import ABOVE, BELOW


def arrays_of(path: Any) -> dict[str, Any]:
    """What is stored of a `ProblemPath`."""
    points, line, k = path.points, path.program, len(path.labels)
    arrays = {**packed(line), **{name: getattr(path, name) for name in ("t", "labels", "kinks")}}
    for which, (name, size) in enumerate({"x": line.n, "z": line.m}.items()):
        large = isinstance(points, PointsOnDemand)
        arrays[name] = InParts((k, 2, size), partial(points.in_parts, which)) if large else getattr(path, name)
    if path.ray is not None:
        arrays["ray"] = path.ray
    for k, end in enumerate(path.ends):
        arrays |= {f"end_{k}_{i}": value for i, value in enumerate(end.values())}
    told = {name: getattr(path, name) for name in ("items", "status", "max_events")}
    told |= {"parameters": [*path.ends[0]], "seconds": dict(path.seconds)}
    arrays["of_problem"] = np.array(json.dumps(told))
    return arrays if path.unchecked else {**arrays, "sha256": np.array(_hash(arrays))}


def _hash(arrays: Mapping[str, Any]) -> str:
    """That of all that is no part of what is proved; where a path was stopped, that is said, and nothing proves it."""
    stopped = json.loads(str(arrays["of_problem"]))["status"] == "limit"
    return hash_of(arrays, {"x", "z", "ray"} if stopped else {"x", "z", "ray", "t"})


def hash_of(arrays: Mapping[str, Any], proved: set[str]) -> str:
    """The hash of arrays and texts by name, but for those that a proof looks at."""
    found = hashlib.sha256()
    for name in sorted({*arrays} - {*proved, "sha256"}):
        array = np.asarray(arrays[name])
        text = array.dtype.kind == "U"
        found.update(json.dumps([name, array.shape, str(array) if text else array.dtype.kind]).encode())
        found.update(b"" if text else array.astype("<f8" if array.dtype.kind == "f" else "<i8").tobytes())
    return found.hexdigest()


def fields_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """What a `ProblemPath` is made of; InputError, or what NumPy raises, where arrays do not fit each other."""
    program, told = unpacked(stored), json.loads(str(stored["of_problem"]))
    t = finite(stored["t"], "t", (None,))
    k, items = t.size - 1, tuple(str(name) for name in told["items"])
    x, z = (finite(stored[key], key, (k, 2, size)) for key, size in (("x", program.n), ("z", program.m)))
    labels = whole(stored["labels"], "labels", (k, len(items)), BELOW, ABOVE + 1)
    status, ray = told["status"], None
    if status in ("infeasible", "unbounded"):
        ray = finite(stored["ray"], "ray", (program.m if status == "infeasible" else program.n,))
    elif status not in ("end", "limit"):
        raise InputError(f"status must be end, limit, infeasible or unbounded, got {status!r:.100}")
    at_once = status != "end" and t.tolist() == [0.0, 0.0]
    if k < 1 or t[0] != 0.0 or t[-1] > 1.0 or not (at_once or (np.diff(t) > 0.0).all()):
        raise InputError("t must hold increasing ends of segments, from 0 to at most 1")
    if status == "end" and t[-1] != 1.0:
        raise InputError(f"t must go to 1 where the status is 'end', got {t[-1]!r}")
    ends = ends_of(stored, told["parameters"])
    bound, stopped = "sha256" in stored, told.get("max_events")
    if bound and str(stored["sha256"]) != _hash(stored):
        raise InputError("its names, constant, parameters or program were changed after it was saved: another hash")
    if bound and status == "limit" and (type(stopped) is not int or stopped < 0):
        raise InputError(f"max_events must be what ended it where the status is 'limit', got {stopped!r:.100}")
    return {
        "program": program,
        "ends": ends,
        "t": t,
        "points": Points.of(x, z),
        "labels": labels.astype(np.int8),
        "items": items,
        "kinks": np.asarray(stored["kinks"], dtype=np.bool_).reshape(len(items)),
        "status": status,
        "ray": ray,
        "seconds": {str(name): float(value) for name, value in told["seconds"].items()},
        "max_events": stopped if bound else None,
        "unchecked": "" if bound else f"names and constant{', and that it was stopped' * (status == 'limit')}",
    }


def ends_of(stored: Mapping[str, Any], names: Any) -> tuple[dict[str, Any], ...]:
    """The parameters at both ends, by name."""
    ends = tuple(
        {str(name): _any_shape(stored[f"end_{end}_{i}"], str(name)) for i, name in enumerate(names)} for end in (0, 1)
    )
    if any(first.shape != ends[1][name].shape for name, first in ends[0].items()):
        raise InputError("parameters must have the same shape at both ends")
    return ends


def _any_shape(given: Any, name: str) -> Any:
    return finite(given, name, np.shape(given))
