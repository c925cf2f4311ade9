"""CVXPY and Clarabel, imported when a program is first built: it takes two seconds, and exact paths need neither."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["clarabel", "cp"]

if TYPE_CHECKING:
    import clarabel
    import cvxpy as cp
else:

    class _Later:
        """The module, imported with its first attribute (in threads, too: Python's import waits)."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            try:
                return self.__dict__.setdefault(name, getattr(import_module(self._name), name))
            except ModuleNotFoundError as error:
                if error.name != self._name:
                    raise
                words = f"models need {self._name} (pip install cvxpy clarabel); paths and their proofs do not"
                raise ModuleNotFoundError(words, name=self._name) from None

    cp, clarabel = _Later("cvxpy"), _Later("clarabel")
