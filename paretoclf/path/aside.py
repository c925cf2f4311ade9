"""What is compiled aside: by a second process, while this one compiles the loop of the fast road.

The two meet in numba's cache on disk. A kernel matrix, dense and sparse features are compiled apart, so there is one
second process for each of these forms that a program uses, at most, and none once the disk has it.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import _dispatcher

from paretoclf.checks import Array
from paretoclf.gram import Gram
from paretoclf.path.afresh import begin_epoch
from paretoclf.path.jit import address, on_disk, prepare
from paretoclf.path.layout import Follower, Record, Room
from paretoclf.path.regular import run
from paretoclf.path.rows import DenseRows, GramRows, SparseRows

_processes: dict[str, subprocess.Popen[bytes] | None] = {}  # by form of Q; None: there is no need for one
_loops: dict[bytes, int] = {}  # by the types of what the loop works on


def share(first: Callable[..., Any], Q: Any, *arguments: Any) -> None:
    """Start the second process for this form of Q, if `first`, which is called first of all, is yet to be compiled."""
    form = type(Q).__name__
    if form not in _processes:
        _processes[form] = None
        if not on_disk(first, Q, *arguments) and _processors() > 1 and _is_python():
            _processes[form] = _start(form)


def loop_for(follower: Follower, room: Room, record: Record) -> int:
    """Compile the loop for arguments of these types; the address of `begin_epoch`, which it calls."""
    kind = _dispatcher.compute_fingerprint((follower, room, record))
    if kind not in _loops:
        prepare(run, follower, room, 0, record, 0)
        _finish(type(follower.Q).__name__)
        _loops[kind] = _beginning(follower, room, record)
    return _loops[kind]


def _beginning(follower: Follower, room: Room, record: Record) -> int:
    return address(begin_epoch, follower, room, 0, record, False, False, 1.0, 0, False, 0.0, 0)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _is_python() -> bool:
    """Whether `sys.executable` is an interpreter: it is not in a program that embeds one, or is frozen."""
    return Path(sys.executable or "").stem.startswith("python") and not getattr(sys, "frozen", False)


def _start(form: str) -> subprocess.Popen[bytes] | None:
    # The modules that this process would import, and none besides.
    command = [sys.executable, "-P", "-c", f"from paretoclf.path.aside import main; main({form!r})"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(entry or os.getcwd() for entry in sys.path)}
    quiet = subprocess.DEVNULL
    try:
        return subprocess.Popen(command, env=environment, stdin=quiet, stdout=quiet, stderr=quiet)
    except OSError:  # then this process compiles all
        return None


def _finish(form: str) -> None:
    """Wait until the second process for this form of Q has ended; whatever it did not do, this one will."""
    process, _processes[form] = _processes.get(form), None
    if process is not None:
        process.wait()


@atexit.register
def _finish_all() -> None:
    """What is begun is kept, for the next program."""
    for form in list(_processes):
        _finish(form)


# ---- the second process ------------------------------------------------------------------------------------------


class _Example(NamedTuple):
    gram: Gram
    y: Array
    sample_weight: Array


def _example(form: str) -> _Example:
    """Few samples, none of which depends on others: their path takes the usual kinds of careful steps, no rare ones."""
    X, y = np.diag([1.0, 2.0, 3.0, 5.0, 7.0]), np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    samples = {GramRows.__name__: X, DenseRows.__name__: X, SparseRows.__name__: sp.csr_array(X)}[form]
    return _Example(Gram(samples, "precomputed" if form == GramRows.__name__ else None), y, np.ones(y.size))


def main(form: str) -> None:
    """Compile for this form of Q what is called apart from the loop, on a path of careful steps only."""
    from paretoclf.path.box_qp import BoxQP
    from paretoclf.path.lines import trace_costs

    _processes.update(dict.fromkeys(kind.__name__ for kind in (GramRows, DenseRows, SparseRows)))

    def advance(self: BoxQP, t: float, limit: int) -> tuple[float, int, bool]:
        _beginning(*self.arrays(np.array([t, 0.0])))
        return t, 0, False

    BoxQP.advance = advance  # type: ignore[method-assign]
    trace_costs(_example(form), (1.0, 2.0), (2.0, 1.0), certify=False, progress=False)
