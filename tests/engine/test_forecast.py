"""What a long run will take, said before it begins: from sizes alone, and without a word about short ones."""

from __future__ import annotations

import logging
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.engine.forecast import LARGE, LONG, Forecast, foretell, of_program, of_samples
from paretoclf.engine.general import follow
from paretoclf.engine.reduction.presolve import reduce
from paretoclf.path import tracing
from paretoclf.path.programs import problem_path
from paretoclf.solve.sources.array_line import LineOfArrays


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.INFO, logger="paretoclf")
    return lambda: [record.getMessage() for record in caplog.records if "a long run" in record.getMessage()]


def linear_program(rows, seed=0):
    """A random sparse linear program with an optimum, half as many columns as rows, and right-hand sides that move."""
    rng = np.random.default_rng(seed)
    columns = rows // 2
    places = np.repeat(np.arange(rows), 4), rng.integers(0, columns, 4 * rows)
    A = sp.csr_array((rng.normal(size=4 * rows), places), shape=(rows, columns))
    point, prices = rng.uniform(size=columns), rng.uniform(size=rows) * (rng.random(rows) < 0.5)
    upper = np.append(A @ point + rng.uniform(size=rows) * (rng.random(rows) < 0.7), np.full(columns, 5.0))
    lower = np.append(np.full(rows, -np.inf), np.zeros(columns))
    moves = {"share": {"u": np.append(rng.uniform(size=rows), np.zeros(columns))}}
    both = sp.vstack([A, sp.eye_array(columns)], format="csr")
    return pc.QP(None, -(A.T @ prices), both, lower, upper, moves=moves)


def reduced(qp):
    return reduce(LineOfArrays(qp, {"share": 0.0}, {"share": 1.0}, False).line).problem


class BegunError(Exception):
    """Raised where the run would begin."""


def begun(*given, **named):
    raise BegunError


@pytest.fixture
def nothing_runs(monkeypatch):
    monkeypatch.setattr(problem_path, "vertex", begun)
    monkeypatch.setattr(tracing, "_follower", lambda *given: begun)


def test_a_linear_program_of_10_000_rows_says_before_it_begins_what_it_will_take(nothing_runs, said, capfd):
    with pytest.raises(BegunError):
        pc.trace(linear_program(10_000), {"share": 0.0}, {"share": 1.0})
    (line,) = said()
    assert line.startswith("a long run: 1")
    assert "rows), sparse; an estimate: some " in line
    assert line.endswith("GiB, in the order of 100 s")
    assert capfd.readouterr().err == "", "there is no terminal"


@pytest.mark.parametrize(("progress", "shown"), [(None, True), (True, True), (False, False)])
def test_on_a_terminal_it_is_shown_unless_progress_is_hidden(nothing_runs, said, capsys, monkeypatch, progress, shown):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    svm = pc.TwoCSVM(np.random.default_rng(0).normal(size=(60_000, 20)), np.repeat([-1, 1], 30_000))
    with pytest.raises(BegunError):
        pc.trace(svm, (0, 0), (1, 1), progress=progress)
    line = "a long run: 60000 samples, 20 features, dense; an estimate: some 100000 exchanges, 0.3 GiB, in the order of"
    assert said()[0].startswith(line)
    assert capsys.readouterr().err.count(line) == shown


def test_short_runs_say_nothing(said, gaussians):
    pc.trace(pc.TwoCSVM(*gaussians(600, 2)), (0.2, 0.8), (0.8, 0.2))
    pc.trace(linear_program(450), {"share": 0.0}, {"share": 1.0}, max_events=5)
    assert said() == []


def test_it_is_about_what_is_there(said):
    kernel = pc.Gram(np.arange(40_000.0)[:, None], pc.RBF(1.0))
    assert "40000 samples with a kernel matrix" in str(of_samples(kernel))
    assert of_samples(kernel).bytes > 8 * 40_000**2
    assert "matrix" not in vars(kernel), "it is not made to say how large it will be"
    words = sp.random_array((50_000, 3_000), density=1e-3, rng=np.random.default_rng(0), format="csr")
    assert "50000 samples, 3000 features, sparse" in str(of_samples(pc.Gram(words)))
    dense = pc.QP(
        np.eye(30), np.zeros(30), np.ones((40, 30)), -np.ones(40), np.ones(40), moves={"share": {"q": [1.0] * 30}}
    )
    assert str(of_program(reduced(dense))).startswith("a long run: ")
    assert "columns, " in str(of_program(reduced(dense)))
    assert "), dense; " in str(of_program(reduced(dense)))


def test_expected_exchanges_are_within_a_factor_of_ten(gaussians):
    for rows in (200, 600):
        problem = reduced(linear_program(rows))
        found = follow(problem, progress=False)
        assert 0.1 < of_program(problem).exchanges / found.exchanges < 10.0
    for n, d in ((200, 2), (600, 10)):
        X, y = gaussians(n, d)
        for line in (((0, 0), (1, 1)), ((0.2, 0.8), (0.8, 0.2))):
            svm = pc.TwoCSVM(X, y)
            assert 0.1 < of_samples(svm.gram).exchanges / pc.trace(svm, *line).breakpoints.size < 10.0


def test_more_takes_longer():
    grams = [pc.Gram(np.ones(shape)) for shape in ((5_000, 20), (50_000, 20), (50_000, 60))]
    seconds = [of_samples(gram).seconds for gram in grams]
    assert seconds == sorted(seconds)
    assert seconds[0] < LONG < seconds[1]
    programs = [of_program(reduced(linear_program(rows))) for rows in (500, 2_000, 8_000)]
    assert [each.seconds > LONG for each in programs] == [False, False, True]
    assert sorted(programs, key=lambda each: each.bytes) == programs


@pytest.mark.parametrize(("seconds", "memory", "is_long"), [(9.0, 0.9, False), (11.0, 0.1, True), (1.0, 1.1, True)])
def test_ten_seconds_or_a_gibibyte_are_long(monkeypatch, said, seconds, memory, is_long):
    found = Forecast("a test", 12_345, seconds, memory * LARGE)
    monkeypatch.setattr("paretoclf.engine.forecast.of_samples", lambda work: found)
    foretell(pc.Gram(np.ones((2, 1))), progress=False)
    assert found.is_long == is_long
    assert len(said()) == is_long
    assert "some 10000 exchanges" in str(found)
