"""One thread of BLAS while small matrices are worked on: threads that wait for each other cost more than they save.

How many threads BLAS has is one number of the process. While a door of this package has it at one, other threads of the
same process, ours or not, see that, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from threading import RLock
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Found = TypeVar("Found")

#: Matrices of so many rows are worth more than one thread.
_LARGE = 3000
#: Held by the thread that has set the limit, and will lift it.
_LIMITED = RLock()


@contextmanager
def one_thread(rows: int = 0) -> Iterator[None]:
    """Limit BLAS to one thread, unless matrices have very many rows.

    It may be entered within itself. Other threads of the process see the limit, too, while it lasts; who enters
    meanwhile from another thread relies on it, and sets none.

    Parameters
    ----------
    rows : int
        Of the largest matrix, where that is known. From 3 000 on nothing is limited.

    Examples
    --------
    >>> import threadpoolctl
    >>> from paretoclf.common.threads import one_thread
    >>> with one_thread():
    ...     {each["num_threads"] for each in threadpoolctl.threadpool_info() if each["user_api"] == "blas"}
    {1}
    """
    if rows >= _LARGE or not _LIMITED.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1):
            yield
    finally:
        _LIMITED.release()


def count(labels: Any) -> int:
    """Count labels, as rows for `one_thread`; 0 for what has no length, and is refused in its own words.

    Examples
    --------
    >>> from paretoclf.common.threads import count
    >>> count([-1, 1]), count(None)
    (2, 0)
    """
    try:
        return len(labels)
    except TypeError:
        return 0


def on_one_thread(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Make a function work within `one_thread`.

    Examples
    --------
    >>> from paretoclf.common.threads import on_one_thread
    >>> on_one_thread(max)(2, 3)
    3
    """

    @wraps(function)
    def limited(*args: Given.args, **named: Given.kwargs) -> Found:
        with one_thread():
            return function(*args, **named)

    return limited


@cache
def _libraries() -> Any:
    """Libraries that set the threads of BLAS: NumPy's, and SciPy's, which may be another. Finding them takes time."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
