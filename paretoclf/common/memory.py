"""Memory: how much there is, so that work that cannot fit is refused before; and arrays that begin at a cache line."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError

#: Rows of a matrix of kernel values that are worked on at a time.
BLOCK_ROWS = 256

if sys.platform != "win32":
    import resource

_NEGLIGIBLE = 2**24  # bytes that are not worth asking the system about
_LINE = 64  # bytes of a line of the cache


def empty_on_line(*shape: int) -> Array:
    """Array without values that begins at a line of the cache, so that few loads of vectors take two lines.

    Examples
    --------
    >>> from paretoclf.common.memory import empty_on_line
    >>> empty_on_line(3, 5).ctypes.data % 64
    0
    """
    size = math.prod(shape)
    longer = np.empty(size + _LINE // 8 - 1)
    first = -int(longer.__array_interface__["data"][0]) % _LINE // 8
    return longer[first : first + size].reshape(shape)


def require_memory(needed: float, what: str, remedy: str) -> None:
    """Raise InputError if more bytes are needed than are available; where that is not known, do nothing."""
    if needed < _NEGLIGIBLE:
        return
    available = available_memory()
    if available is not None and needed > available:
        raise InputError(
            f"{what} needs {needed / 2**30:.3g} GiB of memory, and {available / 2**30:.3g} GiB are available; {remedy}"
        )


def available_memory() -> int | None:
    """Bytes that this process can still allocate, or None where the system does not say."""
    groups = _of_groups(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))
    found = [*_of_machine(Path("/proc/meminfo")), *groups, *_of_process(Path("/proc/self/statm"))]
    return max(0, min(found)) if found else None


def _of_machine(meminfo: Path) -> Iterator[int]:
    """Available memory as Linux says; elsewhere all memory, since free pages alone say too little."""
    try:
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
        yield int(lines["MemAvailable"].split()[0]) * 1024
        return
    except (OSError, KeyError, ValueError):
        pass
    try:
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return


def _of_process(statm: Path) -> Iterator[int]:
    """Address space that is left to a process (``ulimit -v``); nothing where there is no limit."""
    if sys.platform == "win32":
        return
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return
    with suppress(OSError, ValueError):
        yield most - int(statm.read_text().split()[0]) * resource.getpagesize()


def _of_groups(groups: Path, root: Path) -> Iterator[int]:
    """Memory left within the limits of the control groups of this process (Linux, versions 1 and 2)."""
    try:
        lines = [line.split(":", 2) for line in groups.read_text().splitlines()]
    except OSError:
        return
    for _, controllers, path in (line for line in lines if len(line) == 3):
        if controllers == "":
            top, names = root, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            top, names = root / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        inner = top / path.lstrip("/")
        for folder in (inner, *inner.parents):
            if folder == top or top in folder.parents:
                yield from _of_group(folder, *names)


def _of_group(folder: Path, limit: str, used: str, cache: str) -> Iterator[int]:
    """Limit minus use of one group, its inactive file cache counted as free; nothing where there is no limit."""
    try:
        statistics = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        most, now = (int((folder / name).read_text()) for name in (limit, used))  # "max" is no number
        yield most - now + int(statistics.get(cache, "0"))
    except (OSError, ValueError):
        return
