"""The basis at which HiGHS ends, as a start: optimal by its own equations; paths are the same with it and without."""

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.engine import vertex as module
from paretoclf.engine.start import Data
from paretoclf.engine.vertex import vertex
from paretoclf.path.programs import problem_path
from paretoclf.problem.parametric_qp import ABOVE, BELOW, INSIDE, LOWER, UPPER, ParametricQP
from tests.oracles.sized_programs import planning

pytest.importorskip("highspy")


def drawn(seed, n=12, m=20):
    """A linear program with an optimum whose items are hard, soft, fixed, free, or a kink, in columns and in rows."""
    rng = np.random.default_rng(seed)
    A, x, inf = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.4), rng.normal(size=n), np.inf
    values, kind = np.append(x, A @ x), rng.integers(0, 6, n + m)
    gap = rng.uniform(0.1, 1.0, (2, n + m))
    low, up = values - gap[0], values + gap[1]
    low[kind == 3] = up[kind == 3] = values[kind == 3]
    low[kind == 5] = up[kind == 5]  # a kink beside the point
    soft = np.isin(kind, (2, 4, 5)) & ((kind != 2) | (rng.random(n + m) < 0.5))
    below, above = (np.where(soft, rng.uniform(0.5, 2.0, n + m), inf) for _ in range(2))
    low[kind == 4], below[kind == 4] = -inf, inf
    low[0], up[0] = -inf, inf
    y = rng.normal(size=n + m) * (rng.random(n + m) < 0.5)
    y[0] = 0.0
    allowed = np.clip(y, np.where(np.isinf(up), 0.0, -above), np.where(np.isinf(low), 0.0, below))
    q = allowed[:n] + A.T @ allowed[n:]
    twice = [np.stack([each, each]) for each in (q, low, up, below, above)]
    return ParametricQP(sp.csr_array((n, n)), sp.csr_array(A), *twice)


def residual(problem, labels):
    """By how much the basic solution of some labels leaves its pieces, from the equations of the basis alone."""
    A, n = problem.A.toarray(), problem.n
    items, q = problem.items, problem.q[0]
    low, up, below, above = (each[0] for each in (problem.lower, problem.upper, problem.below, problem.above))
    H = np.block([[np.zeros((n, n)), A.T], [A, np.zeros((items - n,) * 2)]])
    # Unknown: x, and the multipliers of rows with their sign changed. Each label gives one equation.
    bound = np.where(labels == LOWER, np.where(np.isfinite(low), low, 0.0), up)
    price = np.where(labels == BELOW, below, np.where(labels == ABOVE, -above, 0.0))
    at_bound, equations, right = np.isin(labels, (LOWER, UPPER)), np.zeros((items, items)), np.zeros(items)
    for i in range(items):
        if i < n:
            equations[i], right[i] = (np.eye(items)[i], bound[i]) if at_bound[i] else (H[i], price[i] - q[i])
        else:
            equations[i], right[i] = (H[i], bound[i]) if at_bound[i] else (np.eye(items)[i], -price[i])
    u = np.linalg.solve(equations, right)
    x, z = u[:n], u[n:]
    values, multipliers = np.append(x, A @ x), np.append(q + A.T @ z, -z)
    most = np.where(np.isfinite(low), np.where(np.isfinite(below), below, np.inf), 0.0)
    least = np.where(np.isfinite(up), np.where(np.isfinite(above), -above, -np.inf), 0.0)
    off = [np.maximum(multipliers - most, 0.0), np.maximum(least - multipliers, 0.0)]
    off += [np.where(np.isinf(below), np.maximum(low - values, 0.0), 0.0)]
    off += [np.where(np.isinf(above), np.maximum(values - up, 0.0), 0.0)]
    sides = (values < low - 1e-9) & (labels != BELOW), (values > up + 1e-9) & (labels != ABOVE)
    return max(float(each.max()) for each in off), any(each.any() for each in sides)


@pytest.mark.parametrize("seed", range(25))
def test_labels_are_of_an_optimal_basis(seed, monkeypatch):
    monkeypatch.setattr(module, "_MANY", 0)
    problem = drawn(seed)
    labels = vertex(problem)
    assert set(labels) <= {BELOW, LOWER, INSIDE, UPPER, ABOVE}
    off, wrong_side = residual(problem, labels)
    assert off < 1e-8
    assert not wrong_side


def test_all_kinds_of_labels_occur(monkeypatch):
    monkeypatch.setattr(module, "_MANY", 0)
    found = np.concatenate([vertex(drawn(seed)) for seed in range(25)])
    assert set(found) == {BELOW, LOWER, INSIDE, UPPER, ABOVE}


def planned(m, seed=0):
    """A sparse linear program whose costs move."""
    data, move = planning(m, seed)
    return pc.QP(None, *data, moves={"share": {"q": move}})


def quantiles(n):
    """All quantiles of a regression: both sides of a sample are soft bounds."""
    rng = np.random.default_rng(n)
    X = np.column_stack([np.ones(n), rng.normal(size=(n, 3))])
    y = X @ rng.normal(size=4) + rng.normal(size=n)
    w, tau = cp.Variable(4, name="w"), cp.Parameter(nonneg=True, name="tau")
    up, down = cp.Variable(n, nonneg=True, name="up"), cp.Variable(n, nonneg=True, name="down")
    problem = cp.Problem(cp.Minimize(tau * cp.sum(up) + (1 - tau) * cp.sum(down)), [X @ w + up - down == y])
    return problem, {tau: 0.02}, {tau: 0.98}


def in_equal_boxes(m):
    """A program all of whose numbers are whole: its start is degenerate."""
    rng, n = np.random.default_rng(m), m
    places = np.repeat(np.arange(m), 3), rng.integers(0, n, 3 * m)
    A = sp.csr_array((np.ones(3 * m), places), shape=(m, n))
    rows, low = sp.csr_array(sp.vstack([A, sp.eye_array(n)])), np.append(np.ones(m), np.zeros(n))
    up = np.append(np.full(m, np.inf), np.full(n, 2.0))
    move = rng.integers(-1, 2, n) * 0.5
    return pc.QP(None, np.ones(n), rows, low, up, moves={"share": {"q": move}}), {"share": 0.0}, {"share": 1.0}


ENDS = {"share": 0.0}, {"share": 1.0}
PROGRAMS = {
    "planning": lambda: (planned(240), *ENDS),
    "costs all down": lambda: (planned(240, 1), {"share": 0.0}, {"share": -1.0}),
    "quantiles": lambda: quantiles(400),
}


def both(make, monkeypatch):
    """The path with the start that HiGHS finds, and with the own one."""
    begun = []
    monkeypatch.setattr(problem_path, "vertex", lambda *given: begun.append(vertex(*given)) or begun[-1])
    with_it = pc.trace(*make(), progress=False)
    assert begun
    assert begun[0] is not None
    monkeypatch.setattr(problem_path, "vertex", lambda *given: None)
    return with_it, pc.trace(*make(), progress=False)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_breakpoints_are_the_same_with_and_without(name, monkeypatch):
    with_it, without = both(PROGRAMS[name], monkeypatch)
    t = np.linspace(0.0, 1.0, 31)
    ours, theirs = (np.array([path.value(each) for each in t]) for path in (with_it, without))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    np.testing.assert_allclose(with_it.breakpoints, without.breakpoints, rtol=0.0, atol=1e-12)
    assert with_it.proof.passes()


def test_values_are_the_same_where_many_bases_are_optimal(monkeypatch):
    """Whole numbers: what is no kink of the value depends on the basis."""
    with_it, without = both(lambda: in_equal_boxes(200), monkeypatch)
    t = np.union1d(with_it.breakpoints, without.breakpoints)
    ours, theirs = (np.array([path.value(each) for each in t]) for path in (with_it, without))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert with_it.proof.passes()


def test_it_is_found_after_somebody_has_used_other_threads():
    """HiGHS has one number of threads in a process: asked for another, it solves nothing."""
    code = """
import highspy
first = highspy.Highs()
first.setOptionValue("output_flag", False)
first.setOptionValue("threads", 2)
first.setOptionValue("solver", "ipm")
first.addVar(0.0, 1.0)
first.run()
from paretoclf.engine import vertex
from tests.engine.test_vertex import drawn
vertex._MANY = 0
assert vertex.vertex(drawn(0)) is not None
"""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_where_there_is_no_highspy_or_no_optimum_there_is_no_guess(monkeypatch):
    problem = drawn(0)
    assert vertex(problem) is None  # it is small
    monkeypatch.setattr(module, "_MANY", 0)
    assert vertex(problem) is not None
    curved = replace(problem, P=sp.eye_array(problem.n, format="csr"))
    assert vertex(curved) is None
    assert vertex(curved.dense()) is None
    far = ParametricQP.hard(
        sp.csr_array((1, 1)), sp.csr_array((0, 1)), -np.ones((2, 1)), np.zeros((2, 1)), np.full((2, 1), np.inf)
    )
    assert vertex(far) is None
    monkeypatch.setitem(sys.modules, "highspy", None)
    assert vertex(problem) is None
    path = pc.trace(planned(200), *ENDS, progress=False)
    assert path.proof.passes()


def test_the_solver_has_no_more_time_than_the_path(monkeypatch):
    asked = []
    monkeypatch.setattr(problem_path, "vertex", lambda *given: asked.append(given))
    before = time.monotonic()
    pc.trace(planned(240), *ENDS, progress=False, max_seconds=1000.0)
    problem, deadline = asked[0]
    assert before + 1000.0 <= deadline <= time.monotonic() + 1000.0
    assert vertex(problem, deadline) is not None
    assert vertex(problem, before) is None  # that is over: HiGHS stops before it ends
    pc.trace(planned(240), *ENDS, progress=False)
    assert asked[1][1] == np.inf


def test_labels_of_a_fixed_item_are_at_its_lower_bound():
    """Whichever of its two bounds the solver names; others are where it says."""
    two = np.array([[0.0, 0.0], [0.0, 0.0]])
    problem = ParametricQP.hard(
        sp.csr_array((2, 2)), sp.csr_array([[1.0, 1.0]]), two, np.zeros((2, 3)), np.array([[0.0, 1.0, 0.0]] * 2)
    )
    stated = module._Stated(Data.of(problem))
    assert stated.labels(np.array([2, 2]), np.array([2])).tolist() == [LOWER, UPPER, LOWER]


def test_nothing_is_printed():
    """The banner of HiGHS comes with the first solver of a process."""
    code = (
        "import numpy as np, scipy.sparse as sp\n"
        "from paretoclf.engine import vertex\n"
        "from paretoclf.problem.parametric_qp import ParametricQP\n"
        "vertex._MANY = 0\n"
        "box = np.zeros((2, 1)), np.ones((2, 1))\n"
        "program = ParametricQP.hard(sp.csr_array((1, 1)), sp.csr_array((0, 1)), np.ones((2, 1)), *box)\n"
        "assert vertex.vertex(program).tolist() == [-1]\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert (done.stdout, done.stderr) == ("", "")
