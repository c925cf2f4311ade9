"""Fingerprints of Python objects: equal for equal ones, in every process, and different for all others.

Long work that goes on from a file must know that the file is of the same work. So nothing is left out here: objects are
walked as `pickle` would walk them; what a user wrote (functions, classes) goes by its code and by what that refers to,
what is installed by its name and version. What cannot be walked to its end has no fingerprint.
"""

from __future__ import annotations

import copyreg
import dis
import hashlib
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

from paretoclf.common.errors import InputError


@cache
def _places() -> tuple[Path, ...]:
    """Folders of packages: Python's own, and those on the path that were installed into (``--target``, system-wide)."""
    others = [place for place in sys.path if place and any(Path(place).glob("*.dist-info"))]
    return tuple(Path(place) for place in {*sysconfig.get_paths().values(), *others})


def fingerprint(*objects: Any) -> str:
    """Fingerprint of everything that these objects are.

    Parameters
    ----------
    *objects
        Numbers, texts, containers, arrays, functions, classes, and instances that could be pickled.

    Raises
    ------
    InputError
        If one of them refers to something that cannot be told from another one of its kind, such as an open file.

    Examples
    --------
    >>> from functools import partial
    >>> from paretoclf.common.fingerprints import fingerprint
    >>> def power(x, degree):
    ...     return x**degree
    >>> fingerprint(partial(power, degree=2)) == fingerprint(partial(power, degree=2))
    True
    >>> fingerprint(partial(power, degree=2)) == fingerprint(partial(power, degree=3))
    False
    """
    return _Visit().of(objects).hex()


class _Visit:
    """One walk over objects that may refer to each other, in circles too."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, bytes]] = {}  # with the objects, so that no other one gets their ids

    def of(self, x: Any) -> bytes:
        """Fingerprint of one object."""
        if id(x) not in self.known:
            self.known[id(x)] = x, f"circle {len(self.known)}".encode()  # what is met again inside of itself
            self.known[id(x)] = x, self._new(x)
        return self.known[id(x)][1]

    def _all(self, kind: Any, parts: Iterable[Any]) -> bytes:
        return _joined(str(kind), map(self.of, parts))

    def _new(self, x: Any) -> bytes:
        match x:
            case np.generic() if not x.dtype.hasobject and x.dtype.kind in "biufcSU":
                return self.of(x.item())
            case None | bool() | int() | float() | complex() | str() | bytes() if type(x).__module__ == "builtins":
                return _joined(type(x).__name__, [repr(x).encode("utf-8", "surrogatepass")])
            case tuple() | list() if type(x) in (tuple, list):
                return self._all(type(x).__name__, x)
            case set() | frozenset() if type(x) in (set, frozenset):
                return _joined(type(x).__name__, sorted(map(self.of, x)))
            case dict() | MappingProxyType() if type(x) in (dict, MappingProxyType):
                return _joined("dict", sorted(self.of(key) + self.of(value) for key, value in x.items()))
            case np.ndarray():
                if x.dtype.hasobject:
                    return self._all(f"objects {x.shape}", x.ravel().tolist())
                return _joined(f"{type(x).__name__} {x.dtype.str} {x.shape}", [x.tobytes()])
            case ModuleType():
                return _joined("module", [_installed(x.__name__).encode()])
            case FunctionType():
                return self._function(x)
            case CodeType():
                return self._code(x)
            case type():
                return self._class(x)
            case property():
                return self._all("property", (x.fget, x.fset, x.fdel))
            case classmethod() | staticmethod():
                return self._all(type(x).__name__, (x.__func__,))
            case cached_property():
                return self._all("cached property", (x.func,))
        if hasattr(x, "__wrapped__") and isinstance(x.__wrapped__, FunctionType):  # a function that remembers results
            return self._all(_name(type(x)), (x.__wrapped__,))
        return self._instance(x)

    def _function(self, f: FunctionType) -> bytes:
        if _is_installed(f.__module__) and "<locals>" not in f.__qualname__ and f.__name__ != "<lambda>":
            return _joined("function", [_name(f).encode()])
        names = sorted(set(_globals_of(f.__code__)) & f.__globals__.keys())
        cells = [_contents(cell) for cell in f.__closure__ or ()]
        parts = (f.__defaults__, f.__kwdefaults__, cells, names, [f.__globals__[name] for name in names])
        return _joined("function", [self._code(f.__code__, f.__doc__), *map(self.of, parts)])

    def _code(self, code: CodeType, doc: str | None = None) -> bytes:
        constants = code.co_consts[1:] if doc is not None and code.co_consts[:1] == (doc,) else code.co_consts
        arguments = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
        names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
        return self._all("code", (code.co_code, constants, arguments, names))

    def _class(self, kind: type) -> bytes:
        if _is_installed(kind.__module__) and "<locals>" not in kind.__qualname__:
            return _joined("class", [_name(kind).encode()])
        methods = (FunctionType, property, classmethod, staticmethod, cached_property)
        own = {
            name: value
            for name, value in vars(kind).items()
            if isinstance(value, methods) or not (name.startswith("__") or name == "_abc_impl")
        }
        return self._all(f"class {kind.__qualname__}", (kind.__bases__, own))

    def _instance(self, x: Any) -> bytes:
        """Of anything else, by what `pickle` would make it anew from."""
        try:
            registered = copyreg.dispatch_table.get(type(x))
            found: Any = x.__reduce_ex__(4) if registered is None else registered(x)
        except Exception as error:  # of the object's own making
            raise InputError(
                f"{_name(type(x))} cannot be told from another one, so that no file can be known to be of it ({error})"
            ) from None
        if isinstance(found, str):
            return _joined("global", [_installed(getattr(x, "__module__", None) or "").encode(), found.encode()])
        # How it is made, with what, its state; then items and pairs of what is a list or a mapping as well.
        listed = [part if part is None or k < 3 else [*part] for k, part in enumerate(found)]
        return self._all("instance", (type(x), *listed))


def _joined(kind: str, parts: Iterable[bytes]) -> bytes:
    """One digest of several, in their order."""
    code = hashlib.sha256(kind.encode("utf-8", "surrogatepass"))
    for part in parts:
        code.update(len(part).to_bytes(8, "little") + part)
    return code.digest()


def _contents(cell: Any) -> Any:
    try:
        return (cell.cell_contents,)
    except ValueError:  # nothing yet
        return ()


def _globals_of(code: CodeType) -> Iterator[str]:
    """Names that code looks up outside of itself, inner functions included."""
    yield from (x.argval for x in dis.get_instructions(code) if x.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _globals_of(each)


def _is_installed(module: str | None) -> bool:
    """Whether a module belongs to Python, to an installed package or to this one: it is known by its name."""
    if module is None or module == "__main__":
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    if module.partition(".")[0] == "paretoclf" or file is None:
        return True
    place = Path(file)
    return any(place.is_relative_to(folder) for folder in _places())


def _installed(module: str) -> str:
    """Name of a module, with the version of its package."""
    version = getattr(sys.modules.get(module.partition(".")[0]), "__version__", "")
    return f"{module} {version}"


def _name(x: Any) -> str:
    return f"{_installed(x.__module__)} {x.__qualname__}"
