"""What long work says while it runs: a progress bar on a terminal, and lines in the log "paretoclf"."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

from tqdm import tqdm

T = TypeVar("T")

logger = logging.getLogger("paretoclf")

#: Seconds between two lines in the log about the same work.
_PAUSE = 1.0


def shows_progress(progress: bool | None) -> bool:
    """Whether to show a progress bar: by default on a terminal."""
    return sys.stderr.isatty() if progress is None else progress


def counted(pieces: Iterable[T], name: str, total: int, progress: bool | None, done: int = 0) -> Iterator[T]:
    """Hand on the pieces of long work, with a bar, and with a line in the log at most once a second and at the end.

    Parameters
    ----------
    pieces : iterable
        Results of long work, or what it is done for.
    name : str
        What they are: "sweep", "outer folds".
    total : int
        How many there are.
    progress : bool, optional
        Whether to show the bar; by default on a terminal.
    done : int
        How many of them were there before.

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
    """Progress bar to update, or None; by default on a terminal. What is there to be updated stays as it is.

    It goes to 1, and shows the percentage; or to about so many pieces, and shows these.
    """
    if callable(progress):
        return nullcontext(progress)
    return _bar(name, pieces) if shows_progress(progress) else nullcontext()


def reaching(update: Callable[[float], Any] | None, width: float = 1.0) -> Callable[[float], Any] | None:
    """What is told how far one is, in units of a width, from what is told by how much further; None from None."""
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
    said = "{percentage:3.0f}%" if pieces is None else "{n:.0f} of about {total:.0f} pieces"
    layout = f"{{desc}}: {said}|{{bar}}| {{elapsed}}"
    with tqdm(total=pieces or 1.0, desc=name, leave=False, bar_format=layout) as bar:
        yield bar.update
