"""What is compiled and when: nothing before a path is traced; then kernels, which the next process finds again."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from typing import NamedTuple

import numba
import pytest

import paretoclf as pc
from paretoclf.path import aside, jit
from paretoclf.path.aside import _processors
from paretoclf.path.jit import address, by_class, compiled, compiled_apart


class Wide(NamedTuple):
    factor: float


class Narrow(NamedTuple):
    offset: float


class Silent(NamedTuple):
    nothing: float


@pytest.fixture
def python(tmp_path):
    """Run an interpreter of its own with an empty cache of compiled code: its output, errors, and what it cached."""
    cache = tmp_path / "cache"
    cache.mkdir()

    def run(*arguments):
        environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
        done = subprocess.run(
            [sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr, sorted(file.name for file in cache.rglob("*") if file.is_file())

    return run


@pytest.mark.parametrize(
    "use",
    ["", "pc.TwoCSVM", "pc.SampleCosts([1.0, 2.0]); pc.Gram([[1.0], [2.0]], pc.RBF(1.0)).matrix"],
    ids=["import", "formulation", "small things"],
)
def test_nothing_is_compiled_on_import(python, use):
    out, _, cached = python("-c", f"import sys\nimport paretoclf as pc\nprint('numba' in sys.modules)\n{use}")
    assert out == "False\n"
    assert cached == []


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_the_command_line_answers_without_compiling(python, argument):
    out, imported, cached = python("-X", "importtime", "-m", "paretoclf", argument)
    assert pc.__version__ in out if argument == "--version" else "usage" in out
    modules = {line.rsplit("|", 1)[-1].strip() for line in imported.splitlines()}
    assert "paretoclf.cli" in modules
    assert not {name for name in modules if name.split(".")[0] in ("numba", "llvmlite", "cvxpy", "matplotlib")}
    assert cached == []


def test_importing_the_tracker_compiles_nothing_and_calling_it_does(python):
    _, _, cached = python("-c", "import paretoclf.path.lines, paretoclf.path.regular, paretoclf.path.refine")
    assert cached == []
    use = "print(two_sum(1.0, 1e-20), len(two_sum.dispatcher.stats.cache_hits))"
    code = f"from paretoclf.path.extended import two_sum\n{use}"
    first, _, cached = python("-c", code)
    assert first == "(1.0, 1e-20) 0\n"
    assert any(name.startswith("extended.two_sum") and name.endswith(".nbi") for name in cached)
    again, _, still = python("-c", code)
    assert again == "(1.0, 1e-20) 1\n"  # found, not compiled again
    assert still == cached


HERE = {"_change_caps", "fix_some", "line_at", "run"}  # all that this process compiles, where there are two processors

TRACE = """
import scipy.sparse as sp
from numba.core.event import install_recorder
import paretoclf as pc
from paretoclf.datasets import make_gaussians
from paretoclf.path import aside
if {alone}:
    aside._processors = lambda: 1
data = make_gaussians(40, rng=1)
X, y = data.X, data.y
svm = pc.TwoCSVM({samples}, y, kernel={kernel})
with install_recorder("numba:compile") as recorder:
    ray = pc.trace(svm, (0, 0), (5, 5), progress=False)
    line = pc.trace(svm, (0.04, 1.96), (1.96, 0.04), hub=ray, progress=False)
done = [event.data["dispatcher"].py_func for _, event in recorder.buffer if event.is_start]
print(*sorted({{f.__name__ for f in done if f.__module__.startswith("paretoclf")}}))
print(repr(list(ray.breakpoints)), repr(list(line.breakpoints)))
"""


def test_two_processes_compile_the_tracker_and_find_what_the_other_compiled(python):
    out, _, cached = python("-c", TRACE.format(alone=_processors() < 2, samples="X", kernel="None"))
    compiled_here, path = out.splitlines()
    if _processors() > 1:
        assert set(compiled_here.split()) == HERE
    names = {name.split("-")[0] for name in cached if name.endswith(".nbi")}
    assert {"regular.run", "afresh.begin_epoch", "refine.refine"} <= names
    inside = {
        "vectors.fill",
        "vectors.dot",
        "exchange.enter",
        "exchange.leave",
        "afresh._solve_afresh",
        "extended.two_sum",
    }
    assert not names & inside  # what compiled code calls is compiled into it
    assert len(names) <= 20  # one for each function that Python calls
    again, _, still = python("-c", TRACE.format(alone=False, samples="X", kernel="None"))
    assert again.splitlines() == ["", path]
    assert still == cached


@pytest.mark.parametrize(("samples", "kernel"), [("sp.csr_array(X)", "None"), ("X", "pc.RBF(2.0)")])
def test_what_the_second_process_compiles_is_of_the_types_that_the_first_wants(python, samples, kernel):
    if _processors() < 2:
        pytest.skip("one processor: all is compiled in one process")
    out, _, _ = python("-c", TRACE.format(alone=False, samples=samples, kernel=kernel))
    assert set(out.split("\n")[0].split()) == HERE


def test_without_a_second_process_all_is_compiled_in_the_first(monkeypatch):
    started = []
    monkeypatch.setattr(aside, "_processes", {})
    monkeypatch.setattr(aside, "_start", started.append)
    monkeypatch.setattr(aside, "on_disk", lambda *arguments: False)
    Q = Silent(0.0)
    monkeypatch.setattr(aside, "_processors", lambda: 1)
    aside.share(nothing, Q, 1.0)
    assert started == []
    aside._processes.clear()
    monkeypatch.setattr(aside, "_processors", lambda: 2)
    monkeypatch.setattr(sys, "frozen", True, raising=False)  # sys.executable is then the program itself
    aside.share(nothing, Q, 1.0)
    assert started == []
    aside._processes.clear()
    monkeypatch.delattr(sys, "frozen")
    aside.share(nothing, Q, 1.0)
    aside.share(nothing, Q, 1.0)
    assert started == ["Silent"]  # once
    aside._processes.clear()
    monkeypatch.setattr(aside, "on_disk", lambda *arguments: True)
    aside.share(nothing, Q, 1.0)
    assert started == ["Silent"]


def test_a_second_process_that_cannot_start_or_fails_is_done_without(monkeypatch, tmp_path):
    start = aside._start
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert start("DenseRows") is None
    monkeypatch.undo()
    failing = start("no such form")
    monkeypatch.setattr(aside, "_processes", {"no such form": failing})
    aside._finish("no such form")
    assert failing.returncode == 1
    assert aside._processes == {"no such form": None}
    aside._finish("no such form")  # nothing left to wait for


def _one(Q: Wide, x: float) -> float:
    return Q.factor * x


def _two(Q: Narrow, x: float) -> float:
    return x - Q.offset


pick = by_class({Wide: _one, Narrow: _two, Silent: None})


@compiled()
def both(Q: Wide, x: float) -> tuple[float, bool]:
    """A number and whether it is positive."""
    y = pick(Q, x)
    return y, y > 0.0


@compiled()
def twice(Q: Wide, x: float) -> float:
    """Calls a compiled function that calls one by class, two times."""
    y, positive = both(Q, x)
    z, _ = both(Q, -y)
    return z if positive else 0.0


@compiled()
def nothing(Q: Silent, x: float) -> float:
    """Calls what does nothing."""
    pick(Q, x)
    return x


@compiled_apart
def halved(Q: Wide, x: float, times: int, up: bool) -> tuple[float, bool]:
    """Compiled apart: numbers are of the types that its annotations say, whatever its caller has."""
    for _ in range(times):
        x *= 0.5 * Q.factor
    return x + (1.0 if up else 0.0), up


@compiled()
def at_its_address(where: int, Q: Wide, x: float) -> float:
    """Calls it."""
    y, up = halved(where, Q, x, 2, x > 1.0)
    return -y if up else y


def test_functions_compiled_apart_are_called_at_their_address():
    where = address(halved, Wide(3.0), 1.0, 1, True)
    assert where == address(halved, Wide(5.0), 2.0, 0, False)  # that of the types, compiled once
    assert at_its_address(where, Wide(3.0), 4.0) == -10.0
    assert at_its_address(where, Wide(2.0), 1.0) == 1.0
    with pytest.raises(NotImplementedError, match="compiled code"):
        halved(where, Wide(3.0), 1.0, 1, True)


def test_compiled_functions_choose_by_the_class_of_their_first_argument():
    assert both(Wide(2.0), 3.0) == (6.0, True)
    assert both(Narrow(5.0), 3.0) == (-2.0, False)
    assert twice(Wide(2.0), 3.0) == -12.0
    assert twice(Wide(2.0), -3.0) == 0.0
    assert twice(Narrow(1.0), 3.0) == -3.0
    assert nothing(Silent(1.0), 4.0) == 4.0
    with pytest.raises(NotImplementedError, match="compiled code"):
        pick(Wide(2.0), 3.0)


def test_what_several_call_is_translated_once(monkeypatch):
    translated, compile_extra = [], jit._Compiler.compile_extra

    def counting(compiler, function):
        translated.append(function.__name__)
        return compile_extra(compiler, function)

    monkeypatch.setattr(jit._Compiler, "compile_extra", counting)

    def square(x: float) -> float:
        return x * x

    def inner(x: float) -> float:
        return shared(x) + max(x, 1.0)

    shared, middle = compiled()(square), compiled()(inner)

    def one(x: float) -> float:
        return middle(x) - shared(x)

    def other(x: float) -> float:
        return 2.0 * middle(x)

    # Not cached on disk, or the second run of this test would translate nothing.
    first, second = (numba.njit(_nrt=False)(function) for function in (one, other))
    assert (first(3.0), second(3.0), first(0.5)) == (3.0, 24.0, 1.0)
    assert sorted(translated) == ["inner", "square"]


def test_the_collector_of_garbage_is_on_again_after_a_compilation():
    assert gc.isenabled()

    @compiled()
    def half(x: float) -> float:
        return 0.5 * x

    assert half(3.0) == 1.5
    assert gc.isenabled()
    gc.disable()
    try:

        @compiled()
        def third(x: float) -> float:
            return x / 3.0

        assert third(3.0) == 1.0
        assert not gc.isenabled()
    finally:
        gc.enable()
