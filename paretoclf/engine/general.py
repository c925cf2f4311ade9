"""The one entry to engines: the exact path of any `ParametricQP`, in C++ or by `paretoclf.engine.textbook`.

A box whose P is an operator is followed by the core that is made for boxes, where there is one.

A problem in doubles is followed in units in which its numbers are of one size. Where rounding errors leave open how it
goes on, it is followed again: with every step computed afresh, with all solutions in twice the precision, from another
start, and with the basis in twice the precision, too. A small one goes from such solutions to fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import DegeneratePathError
from paretoclf.common.progress import meter, reaching
from paretoclf.engine.engines import SPARSE, WALKS, chosen, turns
from paretoclf.engine.in_fractions import in_doubles, in_fractions
from paretoclf.engine.log import Logged
from paretoclf.engine.reduction.products import blocks
from paretoclf.engine.squares import through_squares
from paretoclf.engine.start import Data, WalkOf, first_labels, shifted, without_inequalities
from paretoclf.engine.textbook import Walk
from paretoclf.problem.parametric_qp import ParametricQP, Trace

#: Rounds of scaling.
_ROUNDS = 8
#: Of the unit that the data have, what cancels in twice the precision leaves this share of, and not an exact 0.
_CANCELLED = 1e-25
#: What is tried before a path is refused.
_WAYS = "in doubles, with each step computed afresh, from another start, and in twice the precision"
#: Exchanges an item that the search for a start may take at least.
_SEARCH = 10
#: Starts that are tried where no engine has twice the precision.
_DRAWS = 4
#: Problems of no more items are followed in fractions where rounding errors leave open how they go on.
_SMALL = 30


def follow(
    problem: ParametricQP,
    labels: Index | None = None,
    max_events: int | None = None,
    progress: bool | Callable[[float], Any] | None = None,
    engine: str | None = None,
    precise: bool = False,
    scaled: bool = False,
) -> Trace:
    """Follow a problem from t = 0 to t = 1, or to where it has no optimum any more.

    Parameters
    ----------
    problem : ParametricQP
    labels : int array of shape (items,), optional
        A guess of where the items are at t = 0; a wrong one costs time only.
    max_events : int, optional
        Exchanges after which to stop, with status "limit"; by default 200 items + 10 000. The search for an optimum at
        t = 0 has as many of its own, and no fewer than 10 an item; where it ends so, there are no segments.
    progress : bool or callable, optional
        Whether to show a bar; by default on a terminal. Or who is told by how much each step has advanced.
    engine : "fast", "careful", "textbook" or None
        For doubles, as for `paretoclf.trace`; fractions are for the textbook's.
    precise : bool
        Whether to follow it in twice the precision from the beginning, where there is a compiled engine.
    scaled : bool
        Whether its numbers are of one size already, so that it is followed in the units that it has.

    Raises
    ------
    DegeneratePathError
        If rounding errors leave open how it goes on.
    """
    if hasattr(problem.P, "whole") and not precise:
        from paretoclf.engine.boxes import box_trace  # which no program needs

        for name in turns(engine):
            with suppress(DegeneratePathError):  # the engine of any program may know more remedies
                if (box := box_trace(name, problem, labels, max_events, progress)) is not None:
                    return box
    limit = 200 * problem.items + 10_000 if max_events is None else max_events
    if sp.issparse(problem.P) and not precise and SPARSE is not None and chosen(engine) != "textbook":
        with suppress(DegeneratePathError):
            stated, d = equilibrated(problem)
            return _restated(_followed(stated, labels, walk=SPARSE, limit=limit, progress=progress), stated, d)
    problem = problem.dense()
    if problem.P.dtype == object:
        return _followed(problem, labels, walk=Walk, limit=limit, progress=progress)
    stated, d = (problem, np.ones(problem.items)) if scaled else equilibrated(problem)
    *coarse, finest = WALKS[chosen(engine)]
    coarse = coarse or [finest]
    how: dict[str, Any] = {"limit": limit, "progress": progress}

    def plain(walk: WalkOf, draw: int) -> Trace:
        return _followed(stated, labels, walk=walk, draw=draw, **how)

    def finely(draw: int) -> Trace:
        return through_squares(partial(_followed, walk=finest, draw=draw, **how), stated, labels)

    ways: list[Callable[[], Trace]] = [partial(finely, 0), partial(finely, 1)]
    if not precise:
        draws = range(1, 2 if coarse[-1] is not finest else _DRAWS)  # without digits to spare, other starts have to do
        more = [partial(plain, coarse[-1], draw) for draw in draws]
        ways = [*(partial(plain, walk, 0) for walk in coarse), *more, partial(finely, 0)]
    way, *others = ways
    try:
        found = way()
    except DegeneratePathError as refused:
        if problem.items <= _SMALL and (same := in_fractions(problem)) is not None:
            if not precise and len(coarse) > 1:
                with suppress(DegeneratePathError):  # fractions may be slow
                    return _restated(plain(coarse[-1], 0), stated, d)
            return in_doubles(_followed(same, labels, walk=Walk, **how))
        tried = _WAYS if len(coarse) > 1 and not precise else f"from {_DRAWS if coarse[-1] is finest else 2} starts"
        found = _again(others, refused, tried)
    return _restated(found, stated, d)


def _restated(found: Trace, stated: ParametricQP, d: Array) -> Trace:
    """A path in the units that the problem has."""
    ray = found.ray if found.ray is None else found.ray * (d if found.status == "unbounded" else 1 / d)
    if found.log is not None:
        log = found.log.scaled(d)
        return replace(found, values=Logged(log, 0), multipliers=Logged(log, 1), log=log, ray=ray)
    bend = (float(abs(stated.P).max()) if stated.n else 0.0) or 1.0
    _clear_cancelled(found.values, stated.lower, stated.upper, stated.q / bend)
    _clear_cancelled(found.multipliers, stated.q, stated.below, stated.above)
    np.multiply(found.values, d, out=found.values)
    np.divide(found.multipliers, d, out=found.multipliers)
    return replace(found, ray=ray)


def _clear_cancelled(own: Array, *data: Array) -> None:
    """Put 0 for what is left of numbers that cancel, in units of the data: where all are 0, it is all of the value."""
    sizes = [size for each in data if (size := np.abs(each[np.isfinite(each)]).max(initial=0.0)) > 0.0]
    for part in blocks(len(own), own.shape[1]) if sizes else ():
        own[part][np.abs(own[part]) <= _CANCELLED * min(sizes)] = 0.0


def _again(ways: Sequence[Callable[[], Trace]], refused: DegeneratePathError, tried: str) -> Trace:
    """The path, in the first of some other ways that leads to its end; what refused it if none does."""
    for way in ways:
        with suppress(DegeneratePathError):
            return way()
    remedy = f"It was tried {tried}. Rescale the data, or use a slightly different line."
    raise DegeneratePathError(
        refused.cause, t=refused.t, costs=refused.costs, n_margin=None, remedy=remedy
    ) from refused


def _followed(
    problem: ParametricQP, labels: Index | None, *, walk: WalkOf, draw: int = 0, limit: int, progress: Any
) -> Trace:
    """The path in the units that a problem has."""
    data = Data.of(problem)
    begin, there = first_labels(data), None
    if labels is not None or sp.issparse(problem.P):
        with suppress(DegeneratePathError):  # it may be no basis
            guess = without_inequalities(data, walk) if labels is None else np.asarray(labels, dtype=np.int64)
            there, begin = shifted(data, guess, walk, draw), guess
    there = there or shifted(data, begin, walk, draw)
    first = walk(there, begin)
    most = min(200 * problem.items + 10_000, max(limit, _SEARCH * problem.items))
    with meter(False if callable(progress) else progress, "start") as update:
        found = first.follow(most, keep=False, report=reaching(update))
    if found.status != "end":
        return replace(found, t=np.zeros(1), exchanges=first.exchanges)
    with meter(progress) as update:
        return walk(data, first.labels).follow(limit, report=reaching(update))


def equilibrated(problem: ParametricQP) -> tuple[ParametricQP, Array]:
    """The problem in units d of its items, powers of two, in which no row of H is much larger than another (Ruiz)."""
    P, A, back = (abs(sp.csr_array(M)) if sp.issparse(M) else abs(M) for M in (problem.P, problem.A, problem.A.T))
    n = problem.n
    d: Array = np.ones(problem.items)
    for _ in range(_ROUNDS):
        columns = d[:n] * np.maximum(_largest(P, d[:n]), _largest(back, 1.0 / d[n:]))
        rows = _largest(A, d[:n]) / d[n:]
        d[:n] /= np.sqrt(np.where(columns > 0, columns, 1.0))
        d[n:] *= np.sqrt(np.where(rows > 0, rows, 1.0))
    d = np.asarray(2.0 ** np.round(np.log2(d)))
    x, r = d[:n], d[n:]
    return replace(
        problem,
        P=_scaled(problem.P, x, x),
        A=_scaled(problem.A, 1.0 / r, x),
        q=problem.q * x,
        **{side: getattr(problem, side) / d for side in ("lower", "upper")},
        **{side: getattr(problem, side) * d for side in ("below", "above")},
    ), d


def _scaled(M: Any, rows: Array, columns: Array) -> Any:
    """An array, sparse or not, in units of its rows and columns."""
    if sp.issparse(M):
        M = sp.csr_array(M)
        of_rows = np.repeat(rows, np.diff(M.indptr))
        entries = M.data * of_rows * columns[M.indices]
        return sp.csr_array((entries, M.indices, M.indptr), shape=M.shape)
    found = rows[:, None] * M
    found *= columns
    return found


def _largest(M: Any, units: Array) -> Array:
    """The largest entry of each row of an array, sparse or not, without negative ones, its columns in some units."""
    found = np.zeros(M.shape[0])
    if not sp.issparse(M):
        for part in blocks(*M.shape):
            np.max(M[part] * units, axis=1, initial=0.0, out=found[part])
        return found
    some = np.flatnonzero(np.diff(M.indptr))
    if some.size:
        found[some] = np.maximum.reduceat(M.data * units[M.indices], M.indptr[some])
    return found
