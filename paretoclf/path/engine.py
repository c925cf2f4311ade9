"""The loop: from event to event along a line, for any problem that offers six hooks.

The engine knows nothing of SVMs. A problem keeps a *basis* (which variable is where); on a basis its solution is an
affine function of t. The loop asks how far that function stays optimal, records the piece, and exchanges the basis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from paretoclf.errors import DegeneratePathError

_REPORT = 1000  # exchanges between two reports of progress
_PATIENCE = 50  # steps of length zero before the lowest index goes first


class ParametricProblem(Protocol):
    """What the loop needs. ``Piece`` and ``Event`` are the problem's own types, only handed back to it."""

    def advance(self, t: float, limit: int) -> tuple[float, int, bool]:
        """Take steps that need no care, at most so many: the new t, their number, and whether t = 1 is reached."""
        ...

    def piece(self, t: float) -> Any:
        """Solution on the current basis, as an affine function around t."""
        ...

    def next_event(self, piece: Any, t: float, careful: bool) -> tuple[float, Any]:
        """Step to the first event after t and the event; ``(inf, None)`` if there is none before t = 1."""
        ...

    def pivot(self, piece: Any, event: Any, t: float) -> None:
        """Exchange the basis at t so that the solution can go on."""
        ...

    def record(self, piece: Any, t: float, t_next: float) -> None:
        """Keep the piece over [t, t_next]."""
        ...

    def describe(self, t: float) -> dict[str, Any]:
        """``costs``, ``n_margin`` and ``size`` (number of variables) for messages and limits."""
        ...


def follow(
    problem: ParametricProblem,
    *,
    max_events: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> int:
    """Follow the problem from t = 0 to t = 1; return the number of basis exchanges.

    Zero-length steps are legitimate (ties). After 50 careful ones in a row only careful steps are taken, and the
    problem is told to be careful: lowest index first among all that are tied, which cannot cycle (proof in
    docs/tracker.md). That it stalls all the same after very many more can only be due to rounding; then the path is
    refused.

    Raises
    ------
    DegeneratePathError
        If the path stalls at one t, or needs more than max_events exchanges.
    """
    size = int(problem.describe(0.0)["size"])
    limit = 200 * size + 10_000 if max_events is None else max_events
    t, stalled, count = 0.0, 0, 0
    while count <= limit:
        t_next, exchanges, finished = t, 0, False
        if stalled <= _PATIENCE:  # the proof against cycling is for careful steps only
            t_next, exchanges, finished = problem.advance(t, min(limit + 1 - count, _REPORT))
        count += exchanges
        if t_next > t:
            stalled, t = 0, t_next
            if progress is not None:
                progress(t)
        else:
            stalled += exchanges
        if finished:
            return count
        if exchanges == _REPORT or count > limit:
            continue
        piece = problem.piece(t)
        dt, event = problem.next_event(piece, t, stalled > _PATIENCE)
        t_next = min(t + dt, 1.0)
        if t_next > t:
            problem.record(piece, t, t_next)
            stalled, t = 0, t_next
            if progress is not None:
                progress(t)
        else:
            stalled += 1
        if event is None or t >= 1.0:
            return count
        if stalled > 20 * size + 1000:
            raise _refuse(
                problem, t, f"no progress after {stalled} exchanges at one point", "Use a slightly different line."
            )
        problem.pivot(piece, event, t)
        count += 1
    raise _refuse(problem, t, f"more than {limit} exchanges", "Raise max_events, or trace the line in parts.")


def _refuse(problem: ParametricProblem, t: float, cause: str, remedy: str) -> DegeneratePathError:
    where = problem.describe(t)
    return DegeneratePathError(cause, t=t, costs=where["costs"], n_margin=where["n_margin"], remedy=remedy)
