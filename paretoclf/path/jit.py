"""Compilation of the tracker's kernels: at first call, cached on disk, typed for the reader."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(*, internal: bool = False, **options: Any) -> Callable[[F], F]:
    """Return numba's nopython compiler with the cache on; options are those of ``numba.njit``.

    ``internal`` functions are called by compiled code only: without the wrappers for Python they compile faster.
    Division by zero gives inf or nan, as in NumPy.
    """
    if internal:
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

    def decorate(function: F) -> F:
        result: F = numba.njit(cache=True, error_model="numpy", **options)(function)
        return result

    return decorate
