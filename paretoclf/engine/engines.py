"""The choice of the tracker that follows a path, in one place, and what is asked of each."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from paretoclf.common.checks import Array, Index, State
from paretoclf.common.errors import DegeneratePathError, InputError, SlowTrackerWarning
from paretoclf.engine.segments import Line, Log, OnBasis
from paretoclf.engine.start import WalkOf
from paretoclf.engine.textbook import Walk
from paretoclf.engine.textbook_tracker import TextbookTracker
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import ParametricQP

Found = TypeVar("Found")


class Tracker(Protocol):
    """What the journeys ask of a tracker: begin on a basis, go along lines, and say what there was to see."""

    holds_until: float  # how far from the beginning of its line the basis is known to hold

    @property
    def Q(self) -> Signed:
        """The quadratic term."""
        ...

    @property
    def m(self) -> int:
        """Number of groups."""
        ...

    @property
    def line(self) -> Line:
        """The line it is on."""
        ...

    @property
    def state(self) -> State:
        """Set of each index."""
        ...

    @property
    def index(self) -> Index:
        """The margin set."""
        ...

    def start(self, state: Any, margin: Any, line: Line) -> None:
        """Take over a basis: sets of all indices (LEFT, RIGHT or OUT outside margin), and the margin set."""
        ...

    def start_on(self, state: Any, margin: Any, line: Line) -> bool:
        """`start` with a basis that a tracker was on; False if that fails."""
        ...

    def set_line(self, line: Line, still: bool = False) -> None:
        """Go on from the current basis along another line, which begins where the solution is.

        With ``still`` nothing happens on it (`quiet`): what looks like an event is rounding.
        """
        ...

    def follow(self, max_events: int | None = None, progress: Callable[[float], Any] | None = None) -> int:
        """Follow the line to its end; the number of exchanges."""
        ...

    def quiet(self) -> bool:
        """Whether nothing happens any more on the line."""
        ...

    def solution(self, t: float) -> OnBasis:
        """The solution of the current basis at t, as precisely as the tracker can."""
        ...

    def weights(self, t: float) -> Array:
        """Multipliers at t on the basis it is on, shape (n,)."""
        ...

    def snapshot(self) -> Any:
        """The basis, to come back to."""
        ...

    def restore(self, snapshot: Any) -> None:
        """Come back to a basis; `set_line` must follow."""
        ...

    def record_from_here(self, keep: bool = True, at: Array | None = None) -> None:
        """Begin a new log (or none); it may leave out segments without any of the parameters `at`, but not the last."""
        ...

    @property
    def segments(self) -> int:
        """How many segments the log holds."""
        ...

    @property
    def log(self) -> Log:
        """What was found since the last `record_from_here`."""
        ...


ENGINES: dict[str, Callable[..., Tracker]] = {"textbook": TextbookTracker}
#: For any program, the engines to try one after the other.
WALKS: dict[str, tuple[WalkOf, ...]] = {"textbook": (Walk,)}
DEFAULT = "textbook"
#: What to try where a path of an engine is refused.
_NEXT = {"fast": "careful"}
try:
    from paretoclf.engine.core_walk import CoreWalk, TwiceWalk
    from paretoclf.engine.tracker import CarefulTracker, CoreTracker
    from paretoclf.engine.tracker import add_product as add_product

    ENGINES = {"fast": CoreTracker, "careful": CarefulTracker, **ENGINES}
    WALKS, DEFAULT = {"fast": (CoreWalk, TwiceWalk), "careful": (TwiceWalk,), **WALKS}, "fast"
except ImportError:  # installed without a C++ compiler
    from paretoclf.problem.exact_sums import add_product as add_product


def make_tracker(engine: str | None, problem: ParametricQP) -> Tracker:
    """A tracker of multipliers in a box, each in at most one equation.

    Parameters
    ----------
    engine : "fast", "careful", "textbook" or None
        None is `DEFAULT`: "fast", unless the package was installed without a C++ compiler.
    problem : ParametricQP
        Its P is a `Signed`. Bounds and right-hand sides are those of the lines that the tracker is put on.
    """
    return ENGINES[chosen(engine)](problem)


def turns(engine: str | None) -> list[str]:
    """Names of engines to try one after the other: steps in double are right to 1e-10 of a margin of 1 only."""
    name = chosen(engine)
    return [name, _NEXT[name]] if name in _NEXT else [name]


def first_found(attempts: Iterable[Callable[[], Found]]) -> Found:
    """What the first attempt finds that is not refused; the last one may be."""
    *before, last = attempts
    for attempt in before:
        with suppress(DegeneratePathError):
            return attempt()
    return last()


def chosen(engine: str | None) -> str:
    """The name of an engine, `DEFAULT` for None; InputError if there is none of that name."""
    if engine is not None and engine not in ENGINES:
        raise InputError(f"engine must be one of {', '.join(map(repr, ENGINES))}, got {engine!r}")
    if engine is None and DEFAULT == "textbook":  # by default Python says the same thing once
        warnings.warn(
            "paretoclf was installed without a C++ compiler: the textbook tracker serves, which is slower; with GCC or "
            "Clang, install it again",
            SlowTrackerWarning,
            stacklevel=3,
        )
    return engine or DEFAULT
