"""What is compiled and when: nothing before a path is traced; then kernels, which the next process finds again."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import paretoclf as pc


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
