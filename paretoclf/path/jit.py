"""Compilation of the tracker's kernels: at first call, cached on disk, typed for the reader."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

#: Division by zero gives inf or nan, as in NumPy. And no counting of references: a row of an array is then a pointer,
#: not two atomic operations, which cost a quarter of the time of a step. Such a function cannot create arrays; it
#: works in those that it is given.
OPTIONS = {"error_model": "numpy", "fastmath": False, "_nrt": False}


def compiled(*, internal: bool = False, creates: bool = False, **options: Any) -> Callable[[F], F]:
    """Return numba's nopython compiler with the cache on; options are those of ``numba.njit``.

    ``internal`` functions are called by compiled code only: without the wrapper for Python they compile faster.
    A function that ``creates`` arrays must say so. All options are set, as those that are not are the caller's.
    """
    options = {**OPTIONS, "_nrt": creates, "no_cpython_wrapper": internal, "no_cfunc_wrapper": True, **options}

    def decorate(function: F) -> F:
        result: F = numba.njit(cache=True, **options)(function)
        return result

    return decorate
