"""Compilation of the tracker's kernels: at first call, cached on disk, typed for the reader."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(**options: Any) -> Callable[[F], F]:
    """Return numba's nopython compiler with the cache on; options are those of ``numba.njit``."""

    def decorate(function: F) -> F:
        result: F = numba.njit(cache=True, **options)(function)
        return result

    return decorate
