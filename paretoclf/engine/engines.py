"""The choice of the engine that follows a path, in one place; `paretoclf.engine.boxes` has those of boxes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import TypeVar

from paretoclf.common.errors import DegeneratePathError, InputError, SlowTrackerWarning, StoppedError
from paretoclf.engine.start import WalkOf

Found = TypeVar("Found")


#: For any program, the walks of the compiled engines, to try one after the other.
COMPILED: dict[str, tuple[WalkOf, ...]] = {}
#: For sparse ones.
SPARSE: WalkOf | None = None
DEFAULT = "textbook"
_said = False  # that there is no compiled engine
#: What to try where a path of an engine is refused.
_NEXT = {"fast": "careful"}
try:
    from paretoclf.engine.core_walk import AfreshWalk, CoreWalk, FineWalk, TwiceWalk
    from paretoclf.engine.sparse_walk import SparseWalk

    _CAREFUL = FineWalk, TwiceWalk
    COMPILED, DEFAULT = {"fast": (CoreWalk, AfreshWalk, *_CAREFUL), "careful": _CAREFUL}, "fast"
    SPARSE = SparseWalk
except ImportError:  # installed without a C++ compiler
    pass


ENGINES = (*COMPILED, "textbook")


def walks_of(engine: str) -> tuple[WalkOf, ...]:
    """Walks of an engine for any program, to try one after the other."""
    return (textbook_walk(),) if engine == "textbook" else COMPILED[engine]


def textbook_walk() -> WalkOf:
    """Walk of the textbook: the one that knows fractions, and that serves where nothing is compiled."""
    from paretoclf.engine.textbook import Walk  # it is long, and few paths need it

    return Walk


def turns(engine: str | None) -> list[str]:
    """Names of engines to try one after the other: steps in double are right to 1e-10 of a margin of 1 only."""
    name = chosen(engine)
    return [name, _NEXT[name]] if name in _NEXT else [name]


def first_found(attempts: Iterable[Callable[[], Found]]) -> Found:
    """Return the result of the first attempt that is not refused; the last one may be, and who is stopped."""
    *before, last = attempts
    for attempt in before:
        try:
            return attempt()
        except StoppedError:
            raise
        except DegeneratePathError:
            continue
    return last()


def chosen(engine: str | None) -> str:
    """The name of an engine, `DEFAULT` for None; InputError if there is none of that name."""
    if engine is not None and engine not in ENGINES:
        raise InputError(f"engine must be one of {', '.join(map(repr, ENGINES))}, got {engine!r}")
    if engine is None and DEFAULT == "textbook":
        _say_that_it_is_slow()
    return engine or DEFAULT


def _say_that_it_is_slow() -> None:
    """Warn that there is no compiled engine: once, unless the user's own filters ask for more.

    Python's own "once" and "default" begin anew whenever anybody changes the filters.
    """
    global _said
    plain = (each for each in warnings.filters if each[1] is None and each[3] is None and not each[4])
    action = next((action for action, _, kind, *_ in plain if issubclass(SlowTrackerWarning, kind)), "default")
    if _said and action not in ("always", "error"):
        return
    _said = _said or action != "ignore"
    warnings.warn(
        "paretoclf was installed without a C++ compiler: the textbook's engine serves, which is slower; with GCC or "
        "Clang, install it again",
        SlowTrackerWarning,
        stacklevel=4,
    )
