"""Engines of boxes with an operator, each multiplier in at most one equation: the trackers of the core."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paretoclf.common.progress import meter, reaching
from paretoclf.engine.engines import chosen
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.problem.trace import Trace

if TYPE_CHECKING:
    from paretoclf.engine.tracker import CoreTracker

#: Their names, as those of the engines of any program, where there are any.
BOXES: dict[str, Callable[[ParametricQP], CoreTracker]] = {}
try:
    from paretoclf.engine.tracker import CarefulTracker, CoreTracker, follow_box, is_box
    from paretoclf.engine.tracker import add_product as add_product

    BOXES = {"fast": CoreTracker, "careful": CarefulTracker}
except ImportError:  # installed without a C++ compiler
    from paretoclf.problem.exact_sums import add_product as add_product


def make_tracker(engine: str | None, problem: ParametricQP, deadline: float | None = None) -> CoreTracker | None:
    """The tracker of multipliers in a box, each in at most one equation; None where the engine of any program serves.

    Parameters
    ----------
    engine : "fast", "careful", "textbook" or None
        None is `DEFAULT`: "fast", unless the package was installed without a C++ compiler.
    problem : ParametricQP
        Its P is a `Signed`. Bounds and right-hand sides are those of the lines that the tracker is put on.
    deadline : float, optional
        When it stops, by ``time.monotonic()``.
    """
    name = chosen(engine)
    return _made(name, problem, deadline) if name in BOXES else None


def _made(engine: str, problem: ParametricQP, deadline: float | None) -> CoreTracker:
    """The tracker of an engine of boxes, which stops at a time."""
    tracker = BOXES[engine](problem)
    tracker.deadline = deadline
    return tracker


def box_trace(
    engine: str, problem: ParametricQP, labels: Any, max_events: int | None, progress: Any, deadline: float | None
) -> Trace | None:
    """The path of a box whose P is an operator, by the core for boxes; None for other problems, and without one."""
    if engine not in BOXES or not is_box(problem):
        return None
    with meter(progress) as update:
        return follow_box(_made(engine, problem, deadline), problem, labels, max_events, reaching(update))
