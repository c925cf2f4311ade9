"""The one entry to engines: the exact path of any `ParametricQP`, in C++ or by `paretoclf.engine.textbook`.

A box whose P is an operator is followed by the core that is made for boxes, where there is one; so is a large problem
that is a box in another form (``engine/hidden_boxes.py``).

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
from paretoclf.engine.engines import SPARSE, chosen, textbook_walk, turns, walks_of
from paretoclf.engine.in_fractions import in_doubles, in_fractions
from paretoclf.engine.reduction.products import blocks
from paretoclf.engine.squares import through_squares
from paretoclf.engine.start import Data, WalkOf, first_labels, shifted, without_inequalities
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.problem.piecewise import Piecewise
from paretoclf.problem.trace import Trace

#: Rounds of scaling.
_ROUNDS = 8
#: Numbers that cancel in twice the precision leave this share of the unit of the data, and not an exact 0.
_CANCELLED = 1e-25
#: Ways that are tried before a path is refused.
_WAYS = "in doubles, with each step computed afresh, from another start, and in twice the precision"
#: Exchanges an item that the search for a start may take at least.
_SEARCH = 10
#: Starts that are tried where no engine has twice the precision.
_DRAWS = 4
#: From so many items on it is looked whether a problem is a box; who asks for another engine after that means another.
_HIDDEN = 100
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
    deadline: float | None = None,
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
        Whether to show a bar; by default on a terminal. Or a function that is told how far each step has advanced.
    engine : "fast", "careful", "textbook" or None
        For doubles, as for `paretoclf.trace`; fractions are for the textbook's.
    precise : bool
        Whether to follow it in twice the precision from the beginning, where there is a compiled engine.
    scaled : bool
        Whether its numbers are of one size already, so that it is followed in the units that it has.
    deadline : float, optional
        When to stop, by ``time.monotonic()``, with status "limit". Where it is given, infinite or not, an interrupt
        from the keyboard ends the path, too, with status "interrupted"; else it goes on to who called.

    Raises
    ------
    DegeneratePathError
        If rounding errors leave open how it goes on.
    """
    plain = isinstance(problem.P, np.ndarray) and problem.P.dtype == np.float64
    may_be_box = plain and problem.items >= _HIDDEN and labels is None and not scaled and engine in (None, "fast")
    if not precise and (may_be_box or hasattr(problem.P, "whole")):
        box = _as_box(problem, labels, engine, (max_events, progress, deadline))
        if box is not None:
            return box
    limit = 200 * problem.items + 10_000 if max_events is None else max_events
    how: dict[str, Any] = {"limit": limit, "progress": progress, "deadline": deadline}
    if sp.issparse(problem.P) and not precise and SPARSE is not None and chosen(engine) != "textbook":
        with suppress(DegeneratePathError):
            stated, units = equilibrated(problem)
            return _restated(_followed(stated, labels, walk=SPARSE, **how), stated, units, problem)
    problem = problem.dense()
    if problem.P.dtype == object:
        return _followed(problem, labels, walk=textbook_walk(), **how)
    stated, units = (problem, np.ones(problem.items)) if scaled else equilibrated(problem)
    walks = walks_of(chosen(engine))
    first, *others = _ways(walks, stated, labels, precise, how)
    try:
        found = first()
    except DegeneratePathError as refused:
        several = len(walks) > 2 and not precise  # in doubles, too
        exact = in_fractions(problem) if problem.items <= _SMALL else None
        if exact is not None:
            if several:
                with suppress(DegeneratePathError):  # fractions may be slow
                    return _restated(_followed(stated, labels, walk=walks[-2], **how), stated, units, problem)
            return in_doubles(_followed(exact, labels, walk=textbook_walk(), **how), problem)
        starts = _DRAWS if len(walks) == 1 else 2
        found = _first_to_end(others, refused, _WAYS if several else f"from {starts} starts")
    return _restated(found, stated, units, problem)


def go_on(problem: ParametricQP, labels: Index, max_events: int | None = None) -> Trace:
    """Follow a problem whose P is no operator from labels that are optimal at t = 0: as a path that comes from before.

    Nothing is shifted, so that it stays on them where others are optimal, too; where that fails, they are a guess.
    """
    limit = 200 * problem.items + 10_000 if max_events is None else max_events
    stated, units = equilibrated(problem)
    walk = SPARSE if sp.issparse(problem.P) and SPARSE is not None else walks_of(chosen(None))[0]
    with suppress(DegeneratePathError):
        return _restated(walk(Data.of(stated), labels).follow(limit), stated, units, problem)
    return follow(problem, labels, max_events, progress=False)


def _as_box(
    problem: ParametricQP, labels: Index | None, engine: str | None, how: tuple[Any, Any, float | None]
) -> Trace | None:
    """The path by the core for boxes; None where it is refused: the engine of any program may know more remedies."""
    from paretoclf.engine.hidden_boxes import box_path  # which few programs need

    for name in turns(engine):
        with suppress(DegeneratePathError):
            box = box_path(name, problem, labels, *how)
            if box is not None:
                return box
    return None


def _ways(
    walks: Sequence[WalkOf], stated: ParametricQP, labels: Index | None, precise: bool, how: dict[str, Any]
) -> list[Callable[[], Trace]]:
    """Ways to follow a problem in doubles, to be tried one after the other; the last walk is the finest."""
    *coarse, finest = walks

    def plainly(walk: WalkOf, draw: int) -> Callable[[], Trace]:
        """Follow the problem as it is."""
        return partial(_followed, stated, labels, walk=walk, draw=draw, **how)

    def finely(draw: int) -> Callable[[], Trace]:
        """Follow it as squares, where its P is singular."""
        follow_squares = partial(_followed, walk=finest, draw=draw, **how)
        return partial(through_squares, follow_squares, stated, labels)

    if precise:
        return [finely(0), finely(1)]
    if not coarse:  # without digits to spare, other starts have to do
        return [*(plainly(finest, draw) for draw in range(_DRAWS)), finely(0)]
    return [*(plainly(walk, 0) for walk in coarse), plainly(coarse[-1], 1), finely(0)]


def _restated(found: Trace, stated: ParametricQP, units: Array, problem: ParametricQP) -> Trace:
    """A path in the units that the problem has."""
    ray = found.ray
    if ray is not None:
        ray = ray * (units if found.status == "unbounded" else 1 / units)
    path = _without_cancelled(found.path, stated).scaled(problem, units[: problem.n], 1.0 / units)
    return replace(found, path=path, ray=ray)


def _without_cancelled(path: Piecewise, stated: ParametricQP) -> Piecewise:
    """The path with 0 for what is left of numbers that cancel."""
    curvature = (float(abs(stated.P).max()) if stated.n else 0.0) or 1.0
    least_value = _least(stated.lower, stated.upper, stated.q / curvature)
    least_multiplier = _least(stated.q, stated.below, stated.above)
    small = np.flatnonzero(np.abs(path.number) <= max(least_value, least_multiplier))
    least = np.where(path.places[small] < stated.n, least_value, least_multiplier)
    number = path.number.copy()
    number[small[np.abs(number[small]) <= least]] = 0.0
    return replace(path, number=number)


def _least(*data: Array) -> float:
    """Size up to which numbers are rounding of 0, in units of the data; -1 where all are 0: it is all of the value."""
    largest = [np.abs(each[np.isfinite(each)]).max(initial=0.0) for each in data]
    sizes = [size for size in largest if size > 0.0]
    return _CANCELLED * min(sizes) if sizes else -1.0


def _first_to_end(ways: Sequence[Callable[[], Trace]], refused: DegeneratePathError, tried: str) -> Trace:
    """The path, in the first of some ways that leads to its end; the error of the first one tried if none does."""
    for way in ways:
        with suppress(DegeneratePathError):
            return way()
    remedy = f"It was tried {tried}. Rescale the data, or use a slightly different line."
    raise DegeneratePathError(
        refused.cause, t=refused.t, costs=refused.costs, n_margin=None, remedy=remedy
    ) from refused


def _followed(
    problem: ParametricQP,
    labels: Index | None,
    *,
    walk: WalkOf,
    draw: int = 0,
    limit: int,
    progress: Any,
    deadline: float | None = None,
) -> Trace:
    """Follow a problem in the units that it has: first to an optimum at t = 0, from there along the line."""
    data = Data.of(problem)
    begin, line_to_start = first_labels(data), None
    if labels is not None or sp.issparse(problem.P):
        with suppress(DegeneratePathError):  # it may be no basis
            guess = without_inequalities(data, walk) if labels is None else np.asarray(labels, dtype=np.int64)
            line_to_start, begin = shifted(data, guess, walk, draw), guess
    if line_to_start is None:
        line_to_start = shifted(data, begin, walk, draw)
    first = walk(line_to_start, begin)
    most = min(200 * problem.items + 10_000, max(limit, _SEARCH * problem.items))
    with meter(False if callable(progress) else progress, "start") as update:
        found = first.follow(most, keep=False, report=reaching(update), deadline=deadline)
    if found.status != "end":
        return replace(found, path=Piecewise.nowhere(problem, np.zeros(1)), exchanges=first.exchanges)
    with meter(progress) as update:
        return walk(data, first.labels).follow(limit, report=reaching(update), deadline=deadline)


def equilibrated(problem: ParametricQP) -> tuple[ParametricQP, Array]:
    """Scale a problem so that no row of H is much larger than another (Ruiz).

    Returns
    -------
    The problem in units of its items, and these, powers of two.
    """
    P, A, transposed = (_absolute(matrix) for matrix in (problem.P, problem.A, problem.A.T))
    n = problem.n
    units: Array = np.ones(problem.items)
    of_columns, of_rows = units[:n], units[n:]
    for _ in range(_ROUNDS):
        in_rows = _largest(transposed, 1.0 / of_rows)
        columns = of_columns * np.maximum(_largest(P, of_columns), in_rows)
        rows = _largest(A, of_columns) / of_rows
        of_columns /= np.sqrt(np.where(columns > 0, columns, 1.0))
        of_rows *= np.sqrt(np.where(rows > 0, rows, 1.0))
    units = np.asarray(2.0 ** np.round(np.log2(units)))
    of_columns, of_rows = units[:n], units[n:]
    scaled = replace(
        problem,
        P=_scaled(problem.P, of_columns, of_columns),
        A=_scaled(problem.A, 1.0 / of_rows, of_columns),
        q=problem.q * of_columns,
        lower=problem.lower / units,
        upper=problem.upper / units,
        below=problem.below * units,
        above=problem.above * units,
    )
    return scaled, units


def _absolute(matrix: Any) -> Any:
    """Absolute values of an array, sparse or not."""
    return abs(sp.csr_array(matrix)) if sp.issparse(matrix) else abs(matrix)


def _scaled(matrix: Any, rows: Array, columns: Array) -> Any:
    """An array, sparse or not, in units of its rows and columns."""
    if not sp.issparse(matrix):
        found = rows[:, None] * matrix
        found *= columns
        return found
    matrix = sp.csr_array(matrix)
    of_rows = np.repeat(rows, np.diff(matrix.indptr))
    entries = matrix.data * of_rows * columns[matrix.indices]
    return sp.csr_array((entries, matrix.indices, matrix.indptr), shape=matrix.shape)


def _largest(sizes: Any, units: Array) -> Array:
    """The largest entry of each row of an array without negative ones, sparse or not, its columns in some units."""
    found = np.zeros(sizes.shape[0])
    if not sp.issparse(sizes):
        for part in blocks(*sizes.shape):
            np.max(sizes[part] * units, axis=1, initial=0.0, out=found[part])
        return found
    some = np.flatnonzero(np.diff(sizes.indptr))
    if some.size:
        entries = sizes.data * units[sizes.indices]
        found[some] = np.maximum.reduceat(entries, sizes.indptr[some])
    return found
