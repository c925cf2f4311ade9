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
from paretoclf.path import jit
from paretoclf.path.jit import by_class, compiled


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


def test_what_compiled_code_calls_is_compiled_into_it(python):
    code = (
        "import paretoclf as pc\nsvm = pc.TwoCSVM([[0.0], [1.0], [2.0], [4.0]], [-1, 1, -1, 1], kernel=pc.RBF(1.0))\n"
    )
    _, _, cached = python("-c", code + "pc.trace(svm, (0, 0), (1, 1), progress=False)")
    names = {name.split("-")[0] for name in cached if name.endswith(".nbi")}
    assert "regular.run" in names
    inside = {
        "vectors.fill",
        "vectors.dot",
        "exchange.enter",
        "exchange.leave",
        "afresh.solve_afresh",
        "extended.two_sum",
    }
    assert not names & inside
    assert len(names) <= 20  # one for each function that Python calls


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
    translated, compile_internal = [], jit.compile_internal

    def counting(typing, target, library, function, *rest):
        translated.append(function.__name__)
        return compile_internal(typing, target, library, function, *rest)

    monkeypatch.setattr(jit, "compile_internal", counting)

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
