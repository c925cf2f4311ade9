"""Duration of ``paretoclf trace``, foretold from the pace of its first hundred breakpoints."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import paretoclf as pc
from paretoclf.common.errors import DegeneratePathError

#: Number of breakpoints on which the pace is measured.
FIRST = 100

#: The whole command in units of n breakpoints at that pace: a part that is there always, and one for each partition
#: into folds. With three of these 104 and 119 were measured, in seconds of the processor, on twonorm (1000 x 20) and
#: wdbc (569 x 30), and 197 on 300 samples, which take no time. With kernels it is only the order of magnitude.
ALWAYS, EACH_PARTITION = 50, 22

#: Seconds from which on something is said.
LONG = 10.0


def expected_seconds(n: int, first: float, repeats: int) -> float:
    """Foretell the seconds of ``paretoclf trace`` of n samples, whose first hundred breakpoints took ``first`` seconds.

    Examples
    --------
    >>> from paretoclf.cli.duration import expected_seconds
    >>> round(expected_seconds(n=20_000, first=0.008, repeats=3))
    186
    """
    return (ALWAYS + EACH_PARTITION * repeats) * n * first / FIRST


def seconds_of_first(svm: Any, line: Any, clock: Callable[[], float] = time.process_time) -> float:
    """Measure the seconds of the first hundred breakpoints of a line, without those before the first."""

    def until(k: int) -> float:
        began = clock()
        with suppress(DegeneratePathError):  # it needs more than k
            pc.trace(svm, line.start, line.stop, certify=False, max_events=k, progress=False)
        return clock() - began

    before = until(1)
    return max(until(1 + FIRST) - before, 0.0)


def foretold(n: int, d: int, seconds: float) -> str:
    """Announce a study that will be long; nothing for others.

    Examples
    --------
    >>> from paretoclf.cli.duration import foretold
    >>> foretold(20_000, 20, 216.0)
    '20000 samples of 20 features: this takes about 4 min'
    """
    if seconds < LONG:
        return ""
    unit, name = next((u, name) for u, name in ((3600.0, "h"), (60.0, "min"), (1.0, "s")) if seconds >= 1.5 * u)
    return f"{n} samples of {d} features: this takes about {seconds / unit:.0f} {name}"
