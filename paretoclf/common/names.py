"""Public names: each stands once, in the stub beside its room, and is imported when it is first used.

CVXPY and the tracker take seconds to import, and most work needs only one of the two.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from typing import Any


def attach(room: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make ``__getattr__``, ``__dir__`` and ``__all__`` of a module, from its stub.

    Parameters
    ----------
    room, file : str
        ``__name__`` and ``__file__`` of the module.
    """
    homes = _homes(room, file)

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        home = homes[name]
        module = import_module(home)
        value = getattr(module, name) if home != room and hasattr(module, name) else import_module(f"{home}.{name}")
        setattr(sys.modules[room], name, value)
        return value

    return get, lambda: sorted(homes), sorted(homes)


def _homes(room: str, file: str) -> dict[str, str]:
    """Map each name to its module, or to the room itself for a module of it, by the imports of a stub."""
    package = room if Path(file).stem == "__init__" else room.rpartition(".")[0]
    found = {}
    for node in ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            home = resolve_name("." * node.level + (node.module or ""), package)
            found.update({alias.name: home for alias in node.names})
    return found
