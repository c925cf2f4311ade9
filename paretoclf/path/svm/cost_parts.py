"""Paths of costs in parts, which are traced side by side and joined where the sets of the samples agree.

Each part is traced from a point of its own to its two ends. Where there is no warm start, all set out from one solution
on the balanced ray, at a hundredth of the costs: from there, the straight line to a point of the cost plane has as many
exchanges as a quarter of a line across the ray. Two parts that end and begin on the same sets are one path. Else the
second is traced once more, from the sets on which the first one ends: that is what a path in one does.

Where multipliers, or intercepts, are not unique the parts may have others than the path in one, as has a line that is
traced from its other end: slopes and values are the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from paretoclf.common.checks import Index, State
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.common.progress import NO_LIMITS, counted
from paretoclf.common.threads import one_thread
from paretoclf.engine.engines import first_found, turns
from paretoclf.engine.reduction.program import between
from paretoclf.path.svm.cost_path import CostTracer, Path, trace_costs
from paretoclf.path.svm_lines.stages import unsettled
from paretoclf.path.svm_lines.stopping import finished
from paretoclf.path.svm_lines.warm_start import WarmStart, warm_start_of
from paretoclf.problem.costs import CostLine, Costs
from paretoclf.problem.lines import LabelledSamples, LineOfCosts, SampleLine, Weighted
from paretoclf.problem.pieces import Pieces

#: Share of the costs of a line at which all parts set out from the balanced ray.
_FROM = 0.01

Span = tuple[float, float]


def follower_in_parts(lines: type[SampleLine]) -> Callable[..., Path]:
    """Function that follows a kind of line in parts; InputError if there is none."""
    if lines is LineOfCosts:
        return trace_costs_in_parts
    raise InputError(
        "parts must be left out for this kind of path: programs and lines of costs have parts; trace shorter lines"
    )


def trace_costs_in_parts(
    svm: Weighted,
    start: Any,
    stop: Any,
    *,
    split: tuple[int, int | None],
    hub: Any = None,
    engine: str | None = None,
    certify: bool = True,
    progress: bool | None = None,
) -> Path:
    """Trace every optimal classifier on a segment of the cost plane, in parts.

    Parameters
    ----------
    split : pair
        The number of parts, and ``n_jobs``, as for `paretoclf.trace`.
    svm, start, stop, hub, engine, certify, progress
        As for `paretoclf.path.svm.cost_path.trace_costs`.
    """
    line = LineOfCosts.of(svm, start, stop)
    if _nothing_happens(line):
        return trace_costs(svm, start, stop, hub=hub, engine=engine, certify=certify, progress=progress)
    known = None if hub is None else warm_start_of(hub, line)
    began = time.perf_counter()

    def traced(name: str) -> Path:
        """Path by one engine, proved if that is asked for."""
        return _traced(line, known or _on_the_ray(line, name), name, split, (began, certify, progress))

    return first_found(partial(traced, name) for name in turns(engine))


def _nothing_happens(line: LineOfCosts) -> bool:
    """Whether a line is a point, or one class has no cost all along."""
    return np.array_equal(*line.caps) or CostTracer(line, None, None, NO_LIMITS, None).on_axis


def _traced(
    line: LineOfCosts, known: WarmStart | None, engine: str, split: tuple[int, int | None], how: tuple[float, bool, Any]
) -> Path:
    """The path by one engine; as far as parts were there where the keyboard interrupted it."""
    parts, n_jobs = split
    began, certify, progress = how
    ends = np.linspace(0.0, 1.0, parts + 1).tolist()
    spans = list(pairwise(ends))
    work = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(_part)(line, known, engine, span) for span in spans)
    found: list[_SpanPieces] = []
    stopped: KeyboardInterrupt | None = None
    try:
        for each in counted(work, "parts", parts, progress):
            found.append(each)
    except KeyboardInterrupt as interrupt:
        if not found:
            raise
        stopped = interrupt
    joined = _joined(line, engine, list(zip(spans, found, strict=False)))
    whole, last = line, spans[len(found) - 1][1]
    if stopped is not None:
        part = CostLine(line.ends.at(0.0), line.ends.at(last))
        whole = LineOfCosts(line.gram, line.y, line.sample_weight, part)
        joined = replace(joined, pieces=replace(joined.pieces, t=joined.pieces.t / last))
    pieces = CostTracer(whole, None, None, NO_LIMITS, None).known().settle(joined.pieces, joined.outside)
    seconds = time.perf_counter() - began
    path = Path(line.gram, line.y, line.sample_weight, whole.ends, pieces=pieces, seconds=seconds)
    return finished(path, certify, stopped)


@dataclass(frozen=True)
class _SpanPieces:
    """Pieces of a span of the line, and whether a multiplier may be outside of its box."""

    pieces: Pieces
    outside: bool


def _part(line: LineOfCosts, known: WarmStart | None, engine: str, span: Span) -> _SpanPieces:
    """The pieces of a span."""
    with one_thread(line.y.size):
        tracer = CostTracer(line, known, engine, NO_LIMITS, None, span)
        found = tracer.follow()
        return _SpanPieces(*unsettled(found, tracer.mean, bool(line.gram.quadratic.width), tracer.known()))


def _on_the_ray(line: LineOfCosts, engine: str) -> WarmStart | None:
    """The solution on the balanced ray from which all parts set out; None on a line of costs per sample."""
    first, last = line.ends.start, line.ends.stop
    if not (isinstance(first, Costs) and isinstance(last, Costs)):
        return None
    positive = line.y > 0
    weights = np.array([line.sample_weight[positive].sum(), line.sample_weight[~positive].sum()])
    largest = max(float(np.array(tuple(costs)) @ weights) for costs in (first, last))
    there = Costs(*(0.5 * _FROM * largest / weights).tolist())
    samples = LabelledSamples(line.gram, line.y, line.sample_weight)
    with suppress(DegeneratePathError):
        hub = trace_costs(samples, Costs(0.0, 0.0), there, engine=engine, certify=False, progress=False)
        return warm_start_of(hub, line)
    return None


# ---- joining ---------------------------------------------------------------------------------------------------------


def _joined(line: LineOfCosts, engine: str, found: list[tuple[Span, _SpanPieces]]) -> _SpanPieces:
    """All parts as one, in their order."""
    (_, joined), *others = found
    for span, part in others:
        state, margin = _last_basis(joined.pieces)
        same = np.array_equal(state, part.pieces.state) and set(margin) == set(_first_margin(part.pieces))
        if not same:
            known = WarmStart(span[0], between(line.caps, span[0]), state, margin)
            part = _part(line, known, engine, span)
        joined = _SpanPieces(_behind(joined.pieces, part.pieces), joined.outside or part.outside)
    return joined


def _last_basis(pieces: Pieces) -> tuple[State, Index]:
    """Sets of all samples on the last piece, and its margin set."""
    state = pieces.state.copy()
    state[pieces.changes[1]] = pieces.changes[2]  # of repeated samples the last assignment stands
    return state, pieces.index[pieces.ptr[-2] :]


def _first_margin(pieces: Pieces) -> Index:
    """Margin set of the first piece."""
    return pieces.index[: pieces.ptr[1]]


def _behind(first: Pieces, second: Pieces) -> Pieces:
    """Pieces of two parts, one behind the other, with the changes of sets where they meet."""
    state, _ = _last_basis(first)
    changed = np.flatnonzero(state != second.state)
    there = np.stack([np.zeros_like(changed), changed, second.state[changed].astype(np.int64)])
    return first.joined(replace(second, changes=np.concatenate([there, second.changes], axis=1)))
