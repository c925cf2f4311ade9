"""What the default run leaves out: few tests that have a name, and the run says which, and how to run them."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent

#: Test functions that may be marked slow, each counted once, whatever its parameters.
MOST = 25


def is_slow(marks: list[ast.expr]) -> bool:
    """Whether one of some decorators, or of the marks of a file, is that."""
    return any("pytest.mark.slow" in ast.unparse(mark) or "mostly_slow(" in ast.unparse(mark) for mark in marks)


def slow_tests(source: str) -> list[str]:
    """Names of the test functions of a file that are marked slow: by a decorator, with their class, with the file.

    A family of which the default run takes a few cases (`mostly_slow`) is one, too.
    """
    tree = ast.parse(source)
    of_file = [each.value for each in tree.body if isinstance(each, ast.Assign) and "pytestmark" in ast.unparse(each)]
    found = []
    for top in tree.body:
        inner = top.body if isinstance(top, ast.ClassDef) else []
        for each in (top, *inner):
            if isinstance(each, ast.FunctionDef) and each.name.startswith("test_"):
                own = each.decorator_list + (top.decorator_list if inner else [])
                found += [each.name] if is_slow(own + of_file) else []
    return found


def test_few_tests_are_left_out():
    sources = {file.name: file.read_text(encoding="utf-8") for file in sorted(TESTS.rglob("test_*.py"))}
    found = [f"{name}::{test}" for name, source in sources.items() for test in slow_tests(source)]
    assert 0 < len(found) <= MOST, "\n".join(found)
    # A mark on one set of parameters would not be counted.
    assert not [name for name, source in sources.items() if re.search(r"marks=[^)]*mark\.slow", source)]


def test_each_function_is_counted_once():
    assert slow_tests(SOME) == ["test_long", "test_family", "test_longer"]
    every = ["test_long", "test_family", "test_longer", "test_short"]
    assert slow_tests("pytestmark = pytest.mark.slow\n" + SOME) == every


SOME = """
import pytest
from tests.oracles.mostly_slow import mostly_slow

@pytest.mark.slow
@pytest.mark.parametrize("k", range(3))
def test_long(k):
    pass

@pytest.mark.parametrize("k", mostly_slow(range(9), 2))
def test_family(k):
    pass

@pytest.mark.slow
class TestAll:
    def test_longer(self):
        pass

def test_short():
    pass
"""


@pytest.mark.parametrize("how", [[], ["-n", "2"]], ids=["one process", "two workers"])
def test_the_run_says_what_it_left_out(how, tmp_path):
    shutil.copy(TESTS / "conftest.py", tmp_path)
    (tmp_path / "test_some.py").write_text(SOME)
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\naddopts = -m 'not slow'\npythonpath = {TESTS.parent}\nmarkers = slow: long\n"
    )

    def run(*arguments, **extra):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *how, *arguments]
        given = {name: value for name, value in os.environ.items() if name != "PARETOCLF_EXAMPLES"} | extra
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, env=given).stdout

    said = run()
    assert "3 passed" in said
    assert "11 slow tests, of 3 functions: test_some.py (11)." in said
    assert "Property tests tried 10 examples each in place of 25." in said
    assert "python -m pytest -q -n auto -m ''" in said
    if not how:
        everything = run("-m", "")
        assert "14 passed" in everything
        assert "slow tests" not in everything
        assert "11 passed" in run("-m", "slow")
        many = run(PARETOCLF_EXAMPLES="everything")
        assert "11 slow tests" in many
        assert "Property tests tried" not in many
