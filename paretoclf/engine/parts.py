"""A path in parts, which are followed side by side: each from an optimum of its own, joined where labels agree.

Two parts that meet are one path where the labels of the last segment of one are those of the first of the other: then
both are affine pieces of the same solution, and become one segment. Else the path is gone on with from the labels of
the earlier part, which is what a path in one does, until it is on the labels of the later part somewhere. At a
breakpoint that is soon; where optima are degenerate it may be never, and the part is then followed a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from paretoclf.common.checks import Index, State, check_count
from paretoclf.common.errors import InputError
from paretoclf.common.progress import counted
from paretoclf.common.threads import on_one_thread
from paretoclf.engine.general import follow, go_on
from paretoclf.engine.reduction.program import between, side_at
from paretoclf.engine.vertex import vertex
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.problem.piecewise import Piecewise
from paretoclf.problem.stated_items import StatedItems
from paretoclf.problem.trace import Trace

#: Exchanges after which it is looked for the first time whether the path is on the labels of the later part; then after
#: so many times as many.
_SOON, _LATER = 8, 8


def split_of(parts: Any, n_jobs: Any, max_events: Any, max_seconds: Any) -> tuple[int, int | None]:
    """Return the number of parts and ``n_jobs``, as they are given to `paretoclf.trace`; InputError if they do not fit.

    Examples
    --------
    >>> from paretoclf.engine.parts import split_of
    >>> split_of(4, 2, None, None)
    (4, 2)
    """
    if parts is None:
        raise InputError(
            f"n_jobs must be left out for an exact path, got {n_jobs!r:.100}: without parts= one comes after the other"
        )
    for name, value in (("max_events", max_events), ("max_seconds", max_seconds)):
        if value is not None:
            raise InputError(
                f"{name} must be left out with parts, got {value!r:.100}: what a limit leaves is the beginning of a "
                "line; trace that in one, or a shorter line in parts"
            )
    return check_count(parts, "parts", 1), n_jobs


def follow_in_parts(
    problem: ParametricQP, parts: int, n_jobs: int | None, progress: bool | None = None, **finer: Any
) -> Trace:
    """Follow a problem from t = 0 to t = 1 in parts of equal length.

    Parameters
    ----------
    problem : ParametricQP
        Its P is no operator.
    parts : int
    n_jobs : int, optional
        Processes at work, as for joblib. The result does not depend on it.
    progress : bool, optional
        Whether to show a bar; by default on a terminal.
    **finer
        How `paretoclf.engine.general.follow` is to follow each part.

    Returns
    -------
    Trace
        With status "interrupted" where the keyboard interrupted it when the first part, at least, was there.
    """
    ends = np.linspace(0.0, 1.0, parts + 1).tolist()
    spans = list(pairwise(ends))
    pieces = [_stretch(problem, *span) for span in spans]
    work = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(_part)(each, finer) for each in pieces)
    found: list[Trace] = []
    stopped = False
    try:
        for each in counted(work, "parts", parts, progress):
            found.append(each)
    except KeyboardInterrupt:
        if not found:
            raise
        stopped = True
    path = _placed(found[0], problem, spans[0])
    for stretch, span, own in zip(pieces[1:], spans[1:], found[1:], strict=False):
        if path.status != "end":
            break
        path = _continued(path, _placed(own, problem, span), stretch, span)
    return replace(path, status="interrupted") if stopped and path.status == "end" else path


@on_one_thread
def _part(problem: ParametricQP, finer: dict[str, Any]) -> Trace:
    """The path of one part, without its problem: who asked has that."""
    found = follow(problem, vertex(problem), progress=False, **finer)
    return replace(found, path=replace(found.path, problem=None))  # type: ignore[arg-type]


def _stretch(problem: ParametricQP, start: float, stop: float) -> ParametricQP:
    """The problem on a stretch of its line."""
    t = np.array([[start], [stop]])
    moved: dict[str, Any] = {name: side_at(getattr(problem, name), t) for name in ("lower", "upper", "below", "above")}
    return replace(problem, q=between(problem.q, t), constant=between(problem.constant, t[:, 0]), **moved)


def _placed(found: Trace, problem: ParametricQP | StatedItems, span: tuple[float, float]) -> Trace:
    """A path on a stretch as one of the whole line."""
    t = np.asarray(found.path.t)
    on_line = np.where(t == 1.0, span[1], span[0] + t * (span[1] - span[0]))
    return replace(found, path=replace(found.path, problem=problem, t=on_line))


# ---- joining ---------------------------------------------------------------------------------------------------------


def _continued(path: Trace, own: Trace, stretch: ParametricQP, span: tuple[float, float]) -> Trace:
    """The path as far as a stretch is long, of which a path of its own is known: both are of the whole line."""
    labels = path.path.labels_at(path.segments - 1)
    if own.segments and np.array_equal(own.path.first, labels):
        return _behind(path, own)
    most: int | None = _SOON if own.segments else None
    while True:
        ahead = _placed(go_on(stretch, labels.astype(np.int64), most), path.path.problem, span)
        meeting = _meeting(ahead.path, own.path) if own.segments else None
        if meeting is not None:
            joined = _merged(ahead.path, meeting[0], own.path, meeting[1])
            return _behind(path, replace(own, path=joined))
        if ahead.status != "limit" or most is None:
            return _behind(path, ahead)
        most *= _LATER


def _behind(path: Trace, later: Trace) -> Trace:
    """A path that goes on with a later one: on the same segment where labels agree."""
    last, first = path.segments - 1, later.path
    if later.segments and np.array_equal(path.path.labels_at(last), first.first):
        joined = _merged(path.path, last, first, 0)
    else:
        joined = _appended(path.path, first)
    return replace(later, path=joined, exchanges=path.exchanges + later.exchanges)


def _meeting(ahead: Piecewise, own: Piecewise) -> tuple[int, int] | None:
    """Segments of two paths with the same labels at the same t; None where there are none."""
    labels = ahead.labels()
    middles = 0.5 * (ahead.t[:-1] + ahead.t[1:])
    there = np.searchsorted(own.t, middles, side="right") - 1
    for segment in np.flatnonzero((np.diff(ahead.t) > 0.0) & (there < own.segments)).tolist():
        other = int(there[segment])
        if np.array_equal(labels[segment], own.labels_at(other)):
            return segment, other
    return None


def _merged(left: Piecewise, segment: int, right: Piecewise, other: int) -> Piecewise:
    """The segments of one path up to one, and those of another from one on, which are the same segment."""
    points, first = int(left.begin[segment]) + 1, int(right.begin[other]) + 1
    before = left.changes[0] <= segment
    behind = right.changes[0] > other
    changes = _one_after_the_other(
        [each[before] for each in left.changes], [each[behind] for each in right.changes], segment - other
    )
    begin = np.concatenate([left.begin[: segment + 1], right.begin[other + 1 :] + (points - first)])
    t = np.concatenate([left.t[: segment + 1], right.t[other + 1 :]])
    return replace(left, t=t, begin=begin, changes=changes, **_numbers(left, points, right, first))


def _appended(left: Piecewise, right: Piecewise) -> Piecewise:
    """The segments of two paths, one behind the other; one without a length, where a path ends, is left out."""
    if right.segments == 0 or right.t[-1] == right.t[0]:
        return left
    step = right.first - left.labels_at(left.segments - 1)
    items = np.flatnonzero(step)
    there = np.full(items.size, left.segments), items, step[items]
    changes = _one_after_the_other(_one_after_the_other(left.changes, there, 0), right.changes, left.segments)
    begin = np.concatenate([left.begin, right.begin + left.count])
    t = np.concatenate([left.t, right.t[1:]])
    return replace(left, t=t, begin=begin, changes=changes, **_numbers(left, left.count, right, 0))


def _one_after_the_other(first: Sequence[Any], second: Sequence[Any], later: int) -> tuple[Index, Index, State]:
    """Changes of labels of two paths, the second so many segments later."""
    before, item, step = second
    pairs = zip(first, (before + later, item, step), strict=True)
    segments, items, steps = (np.concatenate(pair) for pair in pairs)
    return segments, items, steps


def _numbers(left: Piecewise, points: int, right: Piecewise, first: int) -> dict[str, Any]:
    """Numbers of the points of one path up to some, and of another from one on, as `Piecewise` has them."""
    assert not left.stationary
    assert not right.stationary
    stop, start = int(left.ptr[points]), int(right.ptr[first])
    place = None
    if left.place is not None or right.place is not None:
        place = np.concatenate([left.places[:stop], right.places[start:]])
    ptr = np.concatenate([left.ptr[: points + 1], right.ptr[first + 1 :] + (stop - start)])
    return {"ptr": ptr, "place": place, "number": np.concatenate([left.number[:stop], right.number[start:]])}
