"""The public names: those at the top, and those of the rooms that are public."""

from __future__ import annotations

from types import ModuleType

import paretoclf as pc

ROOMS = sorted(name for name in pc.__all__ if isinstance(getattr(pc, name), ModuleType))


def of_room(room):
    """Name -> value of what a room has: what it lists, or the functions and classes of ours that stand in it."""
    module = getattr(pc, room)
    names = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if name[0] != "_" and callable(value) and str(getattr(value, "__module__", "")).startswith("paretoclf")
    ]
    return {name: getattr(module, name) for name in names}


def everything():
    """Name, with its room, -> value: each thing once, at the top where it stands there."""
    top = {name: getattr(pc, name) for name in pc.__all__ if name not in ROOMS}
    known = {id(value) for value in top.values()}
    for room in ROOMS:
        top |= {f"{room}.{name}": value for name, value in of_room(room).items() if id(value) not in known}
    return top


def classes():
    """Name, without its room, -> public class, but those of the data sets and of the pictures."""
    return {
        name.rpartition(".")[2]: value
        for name, value in everything().items()
        if isinstance(value, type) and not name.startswith(("datasets.", "plotting."))
    }
