"""Content of the file of a path of a program; the problem itself is no part of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from paretoclf.engine.reduction.packed import packed

#: The class that is meant where a file names none.
PLAIN = "ProblemPath"


def content_of_path(path: Any, terms: Mapping[int, Any]) -> dict[str, Any]:
    """Content of the file of a `ProblemPath`: the program, its points, or the way to them, and what items do."""
    points, own = path.points.content(), type(path).__name__
    labels = {} if "first" in points else {"labels": path.labels}
    ray = {} if path.ray is None else {"ray": path.ray}
    told = {
        "items": [*path.items],
        "terms": [[item, *term] for item, term in terms.items()],
        "max_events": path.max_events,
        "unchecked": path.unchecked,
        "kind": own,
    }
    content = {**packed(path.program), **points, **labels, **ray, "t": path.t, "kinks": path.kinks.astype(np.int8)}
    return content | of_line(path, "of_problem", told)


def of_line(path: Any, kind: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """Content of the file of every path of a program: the parameters at both ends, and what else its kind tells."""
    ends = {f"end_{k}_{i}": value for k, end in enumerate(path.ends) for i, value in enumerate(end.values())}
    told = {**told, "status": path.status, "parameters": [*path.ends[0]], "seconds": dict(path.seconds)}
    return {**ends, kind: told}
