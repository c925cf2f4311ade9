"""Compilation of the tracker's kernels: at first call, cached on disk, typed for the reader.

A function that calls others would be compiled by numba as one library per function, each translated to machine code
of its own and optimised anew in every caller; that is half of the time a first path waits. Here what compiled code
calls is compiled straight into the library of the caller, once. It takes numba's own tools for that
(a compiler of its own passes, the typing of a call, the linking of libraries), which its documentation does not
promise: tests/test_compiled.py tells when a version of numba no longer has them.
"""

from __future__ import annotations

import copy
import functools
import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import llvmlite.binding as llvm
import numba
from numba import types
from numba.core import cgutils, typed_passes, untyped_passes
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import PassManager
from numba.core.registry import cpu_target
from numba.core.typing.templates import AbstractTemplate, infer, infer_global, signature
from numba.extending import lower_builtin

F = TypeVar("F", bound=Callable[..., Any])

#: Division by zero gives inf or nan, as in NumPy. And no counting of references: a row of an array is then a pointer,
#: not two atomic operations, which cost a quarter of the time of a step. So compiled functions cannot create arrays;
#: they work in those that they are given.
_OPTIONS = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_NEEDLESS = {
    typed_passes.DumpParforDiagnostics,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
    untyped_passes.DeadBranchPrune,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.InlineClosureLikes,
    untyped_passes.InlineInlinables,
    untyped_passes.LiteralPropagationSubPipelinePass,
    untyped_passes.LiteralUnroll,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.RewriteSemanticConstants,
    untyped_passes.WithLifting,
}
_NUMBERS = {"None": types.none, "float": types.float64, "int": types.int64, "bool": types.boolean}


class _Compiler(CompilerBase):  # type: ignore[misc]
    """Only those steps of a compilation that the kernels need: no closures, no array expressions, no options."""

    def define_pipelines(self) -> list[Any]:
        """What numba is to do."""
        steps = PassManager("kernel")
        for step, name in DefaultPassBuilder.define_nopython_pipeline(self.state).passes:
            if step not in _NEEDLESS:
                steps.add_pass(step, name)
        steps.finalize()
        return [steps]


def compiled(*, fastmath: frozenset[str] = frozenset()) -> Callable[[F], F]:
    """Return a decorator for functions of arrays and numbers that Python and compiled code may call.

    The annotation of what is returned counts: None, float, int, bool or a tuple of these.

    Parameters
    ----------
    fastmath : frozenset of str
        Liberties of the compiler, as for ``numba.njit``.
    """

    def decorate(function: F) -> F:
        dispatcher = numba.njit(cache=True, pipeline_class=_Compiler, fastmath=set(fastmath), **_OPTIONS)(function)

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


def compiled_apart(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for functions that compiled code calls at their `address`: an argument more, before all others.

    So callers need not wait for it to be compiled. Python cannot call it.
    """
    dispatcher = numba.njit(cache=True, pipeline_class=_Compiler, no_cpython_wrapper=True, **_OPTIONS)(function)

    def call(*arguments: Any) -> Any:
        raise NotImplementedError("to be called by compiled code")

    call.dispatcher = dispatcher  # type: ignore[attr-defined]

    class Call(AbstractTemplate):  # type: ignore[misc]
        key = call

        def generic(self, arguments: Any, keywords: Any) -> Any:
            return signature(_returned(function), types.int64, *_taken_by(function, arguments[1:]))

    infer(Call)
    infer_global(call, types.Function(Call))

    @lower_builtin(call, types.VarArg(types.Any))  # type: ignore[untyped-decorator]
    def lower(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        convention, (where, *given) = context.call_conv, arguments
        kind = convention.get_function_type(sig.return_type, sig.args[1:])
        callee = builder.inttoptr(where, kind.as_pointer())
        status, result = convention.call_function(builder, callee, sig.return_type, sig.args[1:], given)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return result

    return call


def address(function: Callable[..., Any], *arguments: Any) -> int:
    """Where the machine code of a function compiled apart is, for arguments of these types; compiled if need be."""
    wanted = prepare(function, *arguments)
    made = function.dispatcher.overloads[wanted]  # type: ignore[attr-defined]
    return int(made.library.get_pointer_to_function(made.fndesc.llvm_func_name))


def prepare(function: Callable[..., Any], *arguments: Any) -> tuple[Any, ...]:
    """Compile a function for arguments of these types, or take it from the disk; what the types are."""
    dispatcher, wanted = _wanted(function, arguments)
    with _no_collection():
        dispatcher.compile(wanted)
    return wanted


def on_disk(function: Callable[..., Any], *arguments: Any) -> bool:
    """Whether an earlier process has compiled a function for arguments of these types."""
    dispatcher, wanted = _wanted(function, arguments)
    return dispatcher._cache.load_overload(wanted, dispatcher.targetctx) is not None


def _wanted(function: Any, arguments: Iterable[Any]) -> tuple[Any, tuple[Any, ...]]:
    dispatcher = function.dispatcher
    return dispatcher, _taken_by(dispatcher.py_func, map(numba.typeof, arguments))


def _taken_by(function: Callable[..., Any], arguments: Iterable[Any]) -> tuple[Any, ...]:
    """Types of parameters: numbers as annotated, all else as given."""
    annotations = function.__annotations__.values()
    return tuple(_NUMBERS.get(str(a), given) for a, given in zip(annotations, arguments, strict=False))


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


class _Typing(type(cpu_target.typing_context)):  # type: ignore[misc]
    """Types of calls, found once for the same function and arguments: numba tries all it knows at each `+`."""

    known: dict[Any, Any]

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """Signature of a call."""
        if kws or isinstance(func, str):  # names are for arguments that are no types
            return super().resolve_function_type(func, args, kws)
        found = self.known.get((func, args))
        if found is None:
            found = self.known[func, args] = super().resolve_function_type(func, args, kws)
        return found


@functools.cache
def _typing() -> _Typing:
    typing = copy.copy(cpu_target.typing_context)
    typing.__class__, typing.known = _Typing, {}
    return typing  # type: ignore[no-any-return]


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
_taken: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()  # parts that a library has already, by name
_INLINED = 40  # instructions of the largest part that is copied to where it is called; others stand in a library once


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
            compiler = _Compiler(_typing(), cpu_target.target_context, own, sig.args, sig.return_type, flags, {})
            descriptor = compiler.compile_extra(function).fndesc
            part = _parts[own] = known[sig.args] = _Part(descriptor, own, part.calls)
        caller = _parts.get(library)
        if caller is not None:
            caller.calls.append(part)
        else:
            _take(library, part)
        return context.call_internal(builder, part.descriptor, sig, arguments)


def _take(library: Any, part: _Part) -> None:
    """Link a part, and what it calls, into a library that becomes machine code."""
    taken = _taken.get(library)
    if taken is None:
        taken = _taken[library] = set()
        library._optimize_final_module = functools.partial(_optimise, library)
    if part.descriptor.llvm_func_name not in taken:
        taken.add(part.descriptor.llvm_func_name)
        library._final_module.link_in(part.library._final_module, preserve=True)
        for other in part.library._linking_libraries:  # numba's own functions
            library.add_linking_library(other)
        for called in part.calls:
            _take(library, called)


@functools.cache
def _may_stay_apart() -> bool:
    """Whether llvmlite can forbid to inline a function; 0.44 says it of what the function returns."""
    module = llvm.parse_assembly("define i32 @f() {\n ret i32 0\n}")
    module.get_function("f").add_function_attribute("noinline")
    try:
        module.verify()
    except RuntimeError:
        return False
    return True


def _optimise(library: Any) -> None:
    """Optimise a library; its parts are called from nowhere else."""
    for name in _taken[library]:
        function = library._final_module.get_function(name)
        function.linkage = "internal"
        if _may_stay_apart() and sum(1 for block in function.blocks for _ in block.instructions) > _INLINED:
            function.add_function_attribute("noinline")
    type(library)._optimize_final_module(library)


def _returned(function: Callable[..., Any]) -> Any:
    """Type of what a function returns, from its annotation."""
    annotation = str(function.__annotations__["return"])
    parts = [_NUMBERS[part.strip()] for part in annotation.removeprefix("tuple[").removesuffix("]").split(",")]
    return types.BaseTuple.from_types(parts) if annotation.startswith("tuple[") else parts[0]
