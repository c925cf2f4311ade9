"""CVXPY, imported when a program is first built: it takes two seconds, and exact paths do without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["cp"]

if TYPE_CHECKING:
    import cvxpy as cp
else:

    class _Later:
        """The module, imported with its first attribute (in threads, too: Python's import waits)."""

        def __getattr__(self, name: str) -> Any:
            import cvxpy

            return getattr(cvxpy, name)

    cp = _Later()
