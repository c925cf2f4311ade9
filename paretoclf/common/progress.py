"""Progress of long work: a bar on a terminal, and lines in the log "paretoclf"."""

from __future__ import annotations

import logging
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple, TypeVar

from tqdm import tqdm

from paretoclf.common.checks import check_positive_number

T = TypeVar("T")

logger = logging.getLogger("paretoclf")

#: Seconds between two lines in the log about the same work.
_PAUSE = 1.0


class PathLimits(NamedTuple):
    """Limits of following a path: exchanges on one line, and when it must end, by ``time.monotonic()``."""

    events: int | None = None
    deadline: float = math.inf

    @classmethod
    def of(cls, max_events: int | None, max_seconds: float | None) -> PathLimits:
        """Make limits that begin now."""
        if max_seconds is None:
            return cls(max_events)
        return cls(max_events, time.monotonic() + check_positive_number(max_seconds, "max_seconds"))


NO_LIMITS = PathLimits()


def shows_progress(progress: bool | None) -> bool:
    """Whether to show a progress bar: by default on a terminal."""
    return sys.stderr.isatty() if progress is None else progress


def counted(pieces: Iterable[T], name: str, total: int, progress: bool | None, done: int = 0) -> Iterator[T]:
    """Hand on the pieces of long work, with a bar, and with a line in the log at most once a second and at the end.

    Parameters
    ----------
    pieces : iterable
        Results of long work, or its arguments.
    name : str
        Name of the pieces: "sweep", "outer folds".
    total : int
        Number of pieces.
    progress : bool, optional
        Whether to show the bar; by default on a terminal.
    done : int
        Number of pieces that were finished before.

    Examples
    --------
    >>> list(counted("ab", "letters", 2, progress=False))
    ['a', 'b']
    """
    began = said = time.perf_counter()
    hidden = not shows_progress(progress)
    for k, piece in enumerate(tqdm(pieces, name, total, initial=done, disable=hidden, leave=False), done + 1):
        yield piece
        now = time.perf_counter()
        if now - said >= _PAUSE or k == total:
            said = now
            logger.info("%s: %d of %d after %.1f s", name, k, total, now - began)


def meter(
    progress: bool | Callable[[float], Any] | None, name: str = "trace", pieces: float | None = None
) -> AbstractContextManager[Callable[[float], Any] | None]:
    """Make a progress bar to update, or None; by default on a terminal. A function to be called is kept as it is.

    The bar goes to 1, and shows the percentage; or to about so many pieces, and shows these.
    """
    if callable(progress):
        return nullcontext(progress)
    return _bar(name, pieces) if shows_progress(progress) else nullcontext()


def reaching(update: Callable[[float], Any] | None, width: float = 1.0) -> Callable[[float], Any] | None:
    """Make a function of the position, in units of a width, from a function of the advance; None from None."""
    if update is None:
        return None
    seen = 0.0

    def reached(t: float) -> None:
        nonlocal seen
        update(width * (t - seen))
        seen = t

    return reached


@contextmanager
def _bar(name: str, pieces: float | None) -> Iterator[Callable[[float], Any]]:
    """Show a progress bar; the function that is given advances it."""
    said = "{percentage:3.0f}%" if pieces is None else "{n:.0f} of about {total:.0f} pieces"
    layout = f"{{desc}}: {said}|{{bar}}| {{elapsed}}"
    with tqdm(total=pieces or 1.0, desc=name, leave=False, bar_format=layout) as bar:
        yield bar.update
