"""Sweeps in parts, which are solved side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from joblib import Parallel, delayed

from paretoclf.common.progress import counted

#: Values that a process solves one after the other.
_TOGETHER = 8


def side_by_side(
    task: Callable[..., Any], points: Sequence[Mapping[str, float]], n_jobs: int | None, progress: bool | None
) -> Any:
    """Solve at all values, some at a time, and put the sweeps together.

    Parameters
    ----------
    task : callable
        Returns the `paretoclf.solve.sweep.Sweep` of some values.
    points : sequence of mappings
        All values.
    n_jobs : int, optional
        As for joblib.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal.
    """
    parts = [points[first : first + _TOGETHER] for first in range(0, len(points), _TOGETHER)]
    work = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(task)(part) for part in parts)
    found = list(counted(work, "parts of the sweep", len(parts), progress))
    solutions, missing = list[Any](), list[Any]()
    for sweep, first in zip(found, range(0, len(points), _TOGETHER), strict=True):
        solutions += sweep.solutions
        missing += (replace(each, number=first + each.number) for each in sweep.missing)
    timing = {stage: sum(sweep.timing[stage] for sweep in found) for stage in found[0].timing}
    setups = sum(sweep.setups for sweep in found)
    recompiled = max((sweep.recompiled for sweep in found), key=len)
    whole = {"solutions": tuple(solutions), "missing": tuple(missing), "timing": timing}
    return replace(found[0], **whole, setups=setups, recompiled=recompiled)
