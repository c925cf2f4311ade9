"""The path of a program from the content of a file, as `paretoclf.path.base.path_content` has made it.

Points, multipliers and a ray are proved when a file is read. The statement that they are proved of, names, constant,
parameters and all, is bound by a hash; in the first files it is said, and not checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.common.storage import finite, whole
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.stored import unpacked
from paretoclf.engine.reduction.stored_path import read_points
from paretoclf.path.base.path_content import PLAIN


def kind_of(stored: Mapping[str, Any]) -> str:
    """Name the class whose path was stored; empty where it is no path of a program."""
    return str(stored["of_problem"].get("kind", PLAIN)) if "of_problem" in stored else ""


def fields_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a `ProblemPath` from stored content; InputError, or NumPy's errors, where it does not fit."""
    program, told = unpacked(stored), stored["of_problem"]
    along = fields_of_line(stored, told, program, exact=True)
    items, unchecked, stopped = tuple(map(str, told["items"])), str(told.get("unchecked", "")), told.get("max_events")
    points, labels = read_points(stored, program, along["t"], len(items))
    if not unchecked and along["status"] == "limit" and (type(stopped) is not int or stopped < 0):
        raise InputError(f"max_events must be what ended it where the status is 'limit', got {stopped!r:.100}")
    return {
        **along,
        "points": points,
        "labels": labels,
        "items": items,
        "kinks": whole(stored["kinks"] * 1, "kinks", (len(items),), 0, 3).astype(np.int8),
        "max_events": None if unchecked else stopped,
        "unchecked": unchecked,
        "terms": _terms(told.get("terms", []), len(items)),
    }


def _terms(told: Any, items: int) -> dict[int, tuple[str, int]]:
    """Names of items that are terms of the objective, each with the side of its kink where it is positive."""
    for item, name, sign in told:
        if type(item) is not int or not 0 <= item < items or sign not in (-1, 1):
            raise InputError(f"terms must be items below {items}, a name and 1 or -1, got {[item, name, sign]!r:.100}")
    return {item: (str(name), int(sign)) for item, name, sign in told}


def fields_of_line(
    stored: Mapping[str, Any],
    told: Mapping[str, Any],
    program: ProgramLine,
    exact: bool = False,
    chain: bool = False,
) -> dict[str, Any]:
    """Fields of every path of a program: the line, its ends, t, and why it ends; a ray may be a ``chain``.

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
