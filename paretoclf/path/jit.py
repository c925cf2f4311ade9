"""Compilation of the tracker's kernels: at first call, cached on disk, typed for the reader.

A function that calls others would be compiled by numba as one library per function, each translated to machine code
of its own and optimised anew in every caller; that is half of the time a first path waits. Here what compiled code
calls is compiled straight into the library of the caller, once. It takes numba's own tools for that
(``compile_internal`` and the typing of a call), which its documentation does not promise: tests/test_compiled.py
tells when a version of numba no longer has them.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numba
from numba import types
from numba.core.compiler import Flags, compile_internal
from numba.core.registry import cpu_target
from numba.core.typing.templates import AbstractTemplate, infer, infer_global, signature
from numba.extending import lower_builtin

F = TypeVar("F", bound=Callable[..., Any])

#: Division by zero gives inf or nan, as in NumPy. And no counting of references: a row of an array is then a pointer,
#: not two atomic operations, which cost a quarter of the time of a step. So compiled functions cannot create arrays;
#: they work in those that they are given.
_OPTIONS = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_RETURNS = {"None": types.none, "float": types.float64, "int": types.int64, "bool": types.boolean}


def compiled(*, fastmath: frozenset[str] = frozenset()) -> Callable[[F], F]:
    """Return a decorator for functions of arrays and numbers that Python and compiled code may call.

    The annotation of what is returned counts: None, float, int, bool or a tuple of these.

    Parameters
    ----------
    fastmath : frozenset of str
        Liberties of the compiler, as for ``numba.njit``.
    """

    def decorate(function: F) -> F:
        dispatcher = numba.njit(cache=True, fastmath=set(fastmath), **_OPTIONS)(function)

        @functools.wraps(function)
        def call(*arguments: Any) -> Any:
            if dispatcher.overloads:
                return dispatcher(*arguments)
            with _no_collection():
                return dispatcher(*arguments)

        call.dispatcher = dispatcher  # type: ignore[attr-defined]
        _compile_into_callers(call, lambda Q: function, _flags(fastmath))
        return call  # type: ignore[return-value]

    return decorate


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without passes for unreachable cycles: a tenth of the time of a compilation, which has very many objects."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def by_class(implementations: Mapping[type, Callable[..., Any] | None]) -> Callable[..., Any]:
    """One function for compiled code: that for the class of its first argument, a named tuple.

    None does nothing.
    """

    def call(*arguments: Any) -> Any:
        raise NotImplementedError("to be called by compiled code")

    _compile_into_callers(call, lambda Q: implementations[Q.instance_class], _flags(frozenset()))
    return call


class _Flags(Flags):  # type: ignore[misc]
    """Options of a compilation, told apart as objects: numba compares them at every element of an array it meets."""

    __eq__, __hash__ = object.__eq__, object.__hash__

    def copy(self) -> _Flags:
        """Nothing changes them."""
        return self


@functools.cache
def _flags(fastmath: frozenset[str]) -> _Flags:
    flags = _Flags()
    options = {"nopython": True, "no_cpython_wrapper": True, "fastmath": set(fastmath), **_OPTIONS}
    cpu_target.options.parse_as_flags(flags, options)
    flags.no_compile = True  # to machine code: that is left to the caller
    return flags


@dataclass(frozen=True)
class _Part:
    """One function for one tuple of argument types: its code, before machine code, and what it calls."""

    descriptor: Any
    library: Any
    calls: list[_Part]


_parts: WeakKeyDictionary[Any, _Part] = WeakKeyDictionary()  # by the library that a part is compiled in
_taken: WeakKeyDictionary[Any, set[int]] = WeakKeyDictionary()  # which parts a library has already


def _compile_into_callers(
    call: Callable[..., Any], choose: Callable[[Any], Callable[..., Any] | None], flags: _Flags
) -> None:
    """Let compiled code call `call`: the function that `choose` takes, by the type of the first argument."""
    known: dict[Any, _Part] = {}

    class Call(AbstractTemplate):  # type: ignore[misc]
        key = call

        def generic(self, arguments: Any, keywords: Any) -> Any:
            function = None if keywords else choose(arguments[0])
            return signature(types.none if function is None else _returned(function), *arguments)

    infer(Call)
    infer_global(call, types.Function(Call))

    @lower_builtin(call, types.VarArg(types.Any))  # type: ignore[untyped-decorator]
    def lower(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        function, library = choose(sig.args[0]), context.active_code_library
        if function is None:
            return context.get_dummy_value()
        part = known.get(sig.args)
        if part is None:
            own = library.codegen.create_library(function.__name__)
            part = _parts[own] = known[sig.args] = _Part(None, own, [])
            descriptor = compile_internal(
                cpu_target.typing_context,
                cpu_target.target_context,
                own,
                function,
                sig.args,
                sig.return_type,
                flags,
                {},
            ).fndesc
            part = _parts[own] = known[sig.args] = _Part(descriptor, own, part.calls)
        caller = _parts.get(library)
        if caller is not None:
            caller.calls.append(part)
        else:
            _take(library, part)
        return context.call_internal(builder, part.descriptor, sig, arguments)


def _take(library: Any, part: _Part) -> None:
    """Link a part, and what it calls, into a library that becomes machine code."""
    taken = _taken.setdefault(library, set())
    if id(part) not in taken:
        taken.add(id(part))
        library._final_module.link_in(part.library._final_module, preserve=True)
        for other in part.library._linking_libraries:  # numba's own functions
            library.add_linking_library(other)
        for called in part.calls:
            _take(library, called)


def _returned(function: Callable[..., Any]) -> Any:
    """Type of what a function returns, from its annotation."""
    annotation = str(function.__annotations__["return"])
    parts = [_RETURNS[part.strip()] for part in annotation.removeprefix("tuple[").removesuffix("]").split(",")]
    return types.BaseTuple.from_types(parts) if annotation.startswith("tuple[") else parts[0]
