"""What long work says of itself: nothing unless asked, then lines in the log "paretoclf"."""

from __future__ import annotations

import logging
import subprocess
import sys

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common import progress
from paretoclf.common.progress import counted
from paretoclf.engine.general import follow

LINE = (0.02, 0.98), (0.98, 0.02)


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.INFO, logger="paretoclf")

    def lines():
        assert {record.name for record in caplog.records} <= {"paretoclf"}
        found = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return found

    return lines


def work(X, y):
    """Long work by its name, on few samples, and how its line in the log begins."""
    svm = pc.TwoCSVM(X, y)
    shares = np.linspace(0.3, 0.9, 3)
    return {
        "trace": (lambda: pc.trace(svm, *LINE), "traced in"),
        "plane": (lambda: pc.plane(svm, (0.1, 1.0), (0.1, 1.0)), "mapped in"),
        "sweep": (lambda: pc.sweep(svm, C_plus=[0.1, 1.0], C_minus=1.0), "sweep: 2 of 2 after"),
        "nu_grid": (lambda: pc.nu_grid(pc.TwoNuSVM(X, y), shares, shares), "lines of the grid: 3 of 3 after"),
        "cross-validation": (
            lambda: pc.cross_validated_roc(svm, *LINE, folds=3, inner=2, repeats=1),
            "outer folds: 3 of 3",
        ),
        "tune": (
            lambda: pc.tune(X, y, pc.tuning.Minimax(), bandwidths=[1.0, 2.0], nu_plus=shares, folds=2),
            "bandwidths: 2 of 2",
        ),
    }


@pytest.mark.parametrize("name", list(work([[0.0], [1.0]], [-1, 1])))
def test_long_work_says_what_it_does(name, gaussians, said, capfd):
    X, y = gaussians(n=30)
    do, begins = work(X, y)[name]
    do()
    assert any(begins in line for line in said()), begins
    assert capfd.readouterr().err == ""  # no bar where there is no terminal


def test_it_is_silent_unless_asked():
    code = "import paretoclf as pc; pc.trace(pc.TwoCSVM([[0.0], [1.0]], [-1, 1]), (0, 0), (1, 1))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_fast_pieces_are_not_all_told(said, monkeypatch):
    clock = iter(np.arange(0.0, 100.0, 0.25))
    monkeypatch.setattr(progress.time, "perf_counter", lambda: float(next(clock)))
    assert list(counted(range(3, 10), "pieces", 10, progress=False, done=3)) == list(range(3, 10))
    assert said() == ["pieces: 7 of 10 after 1.0 s", "pieces: 10 of 10 after 1.8 s"]


def test_a_bar_where_it_is_wanted(capfd):
    assert list(counted("ab", "letters", 2, progress=True)) == ["a", "b"]
    assert "letters" in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["any problem", "any problem, to be read", "costs"])
def test_a_bar_ends_where_the_path_does(kind, gaussians, monkeypatch):
    bars = []  # the search for a start has one of its own

    def bar(*arguments, **options):
        bars.append([])
        return Bar(bars[-1])

    monkeypatch.setattr(progress, "tqdm", bar)
    X, y = gaussians(30, 2, seed=0)
    line = pc.TwoCSVM(X, y).line(*LINE)
    if kind == "costs":
        pc.trace(pc.TwoCSVM(X, y), *LINE, progress=True)
    else:
        follow(line.problem, engine="fast" if kind == "any problem" else "textbook", progress=True)
    assert 1 <= len(bars) <= 2
    for told in bars:
        assert sum(told) == pytest.approx(1.0)
        assert min(told) >= 0.0


class Bar:
    def __init__(self, told):
        self.update = told.append

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None
