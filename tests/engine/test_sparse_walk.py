"""The walk on sparse bases against the dense engines, and against solves of the programs."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.common.errors import DegeneratePathError
from paretoclf.engine import general, sparse_walk
from paretoclf.engine.general import equilibrated, follow
from paretoclf.engine.reduction.presolve import reduce
from paretoclf.engine.sparse_walk import SparseWalk
from paretoclf.engine.start import Data, first_labels, shifted
from paretoclf.solve.to_qp import LineOfPrograms, program_line
from tests.oracles import lines
from tests.oracles.sized_programs import controller, portfolio, signal


def as_sparse(problem):
    return replace(problem, P=sp.csr_array(problem.P), A=sp.csr_array(problem.A))


def walked(problem, draw=0):
    """The path by the sparse walk alone; from other starts, as the textbook's, where the first is refused."""
    stated, d = equilibrated(as_sparse(problem))
    data, labels = Data.of(stated), first_labels(Data.of(stated))
    try:
        first = SparseWalk(shifted(data, labels, SparseWalk, draw), labels)
        assert first.follow(10_000, keep=False).status == "end"
        found = SparseWalk(data, first.labels).follow(10_000)
    except DegeneratePathError:
        if draw == 1:
            raise
        return walked(problem, draw + 1)
    return general._restated(found, stated, d)


def value_at(trace, problem, t):
    """The objective along a path."""
    j = min(max(int(np.searchsorted(trace.t, t, side="right")) - 1, 0), len(trace.labels) - 1)
    share = (t - trace.t[j]) / ((trace.t[j + 1] - trace.t[j]) or 1.0)
    v = (1 - share) * trace.values[trace.ends[j, 0]] + share * trace.values[trace.ends[j, 1]]
    x, total = v[: problem.n], 0.0
    for bound, slope, sign in ((problem.lower, problem.below, 1), (problem.upper, problem.above, -1)):
        soft = np.isfinite(bound[0]) & np.isfinite(slope[0])
        at, price = ((1 - t) * each[0, soft] + t * each[1, soft] for each in (bound, slope))
        total += price @ np.maximum(sign * (at - v[soft]), 0.0)
    q = (1 - t) * problem.q[0] + t * problem.q[1]
    return 0.5 * x @ problem.P @ x + q @ x + total


def test_families_have_the_path_of_the_dense_engines():
    """A walk that is refused is none that is wrong: the dense engines follow then."""
    refused = []
    for name, make in lines.FAMILIES.items():
        problem = reduce(program_line(*make())).problem
        dense = follow(problem)
        try:
            sparse = walked(problem)
        except DegeneratePathError:
            refused.append(name)
            continue
        assert sparse.status == dense.status, name
        assert abs(sparse.t[-1] - dense.t[-1]) < 1e-9, name
        for t in np.linspace(0, dense.t[-1], 7)[1:-1].tolist():
            one, other = (value_at(each, problem, t) for each in (dense, sparse))
            assert abs(one - other) <= 1e-9 * (1 + abs(one)), (name, t)
    assert len(refused) <= 2, refused


@pytest.mark.parametrize("border", [1, 5])
def test_a_border_of_any_size_finds_the_same(border, monkeypatch):
    problem = reduce(program_line(*signal(40, 2, 30.0))).problem
    usual = walked(problem)
    monkeypatch.setattr(sparse_walk, "_BORDER", border)
    other = walked(problem)
    assert np.abs(usual.t - other.t).max() < 1e-11
    assert (usual.labels == other.labels).all()


def test_an_ill_conditioned_basis_is_solved_in_twice_the_precision(monkeypatch):
    """Second differences of 200 numbers: where all are 0, the basis has a condition of 1e8."""
    problem = reduce(program_line(*signal(200, 2, 5000.0))).problem
    dense, sparse = follow(problem), walked(problem)
    assert sparse.t.size == dense.t.size
    assert np.abs(sparse.t - dense.t).max() < 1e-9
    u, wanted = np.random.default_rng(0).normal(size=(2, 1, problem.items))
    H = SparseWalk(Data.of(as_sparse(problem)), first_labels(Data.of(as_sparse(problem)))).H
    exact = [
        wanted[0, i]
        - sum(x.astype(np.longdouble) * v for x, v in zip(H.whole[[i]].data, u[0, H.whole[[i]].indices], strict=True))
        for i in range(0, problem.items, 17)
    ]
    assert np.abs(H.missed(u, wanted)[0, ::17] - np.array(exact, dtype=float)).max() <= 1e-15 * max(map(abs, exact))


def test_a_large_sparse_problem_is_followed_on_sparse_bases(monkeypatch):
    source = LineOfPrograms(*signal(760, 1, 2.0))
    problem = reduce(source.line).problem
    assert sp.issparse(problem.P)
    path = pc.trace(*signal(760, 1, 2.0), progress=False)
    assert path.proof.passes(1e-10)

    def refuses(*_):
        raise DegeneratePathError("no", t=0.0, costs="", n_margin=None, remedy="")

    monkeypatch.setattr(general, "SparseWalk", refuses)  # the dense engines then have to do
    other = pc.trace(*signal(760, 1, 2.0), progress=False)
    assert other.breakpoints.size == path.breakpoints.size
    assert np.abs(other.breakpoints - path.breakpoints).max() < 1e-9


def test_states_of_a_controller_are_not_substituted_into_each_other():
    """Late states are 1e-30 of the first: sums that cancel over 40 steps do not know them."""
    line = controller(40)
    assert sp.issparse(reduce(program_line(*line)).problem.P)
    path = pc.trace(*line, progress=False)
    assert path.proof.passes(1e-11)
    for t in (0.3, 1.0):
        theirs = lines.solved(*line, t)
        assert path.value(t) == pytest.approx(theirs, rel=1e-8)


def test_what_becomes_dense_is_still_reduced_where_that_is_small():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(900, 3)), rng.normal(size=900)
    w, lam = cp.Variable(3, name="w"), cp.Parameter(nonneg=True, name="lam")
    lasso = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) / 2 + lam * cp.norm1(w)))
    problem = reduce(program_line(lasso, {lam: 9.0}, {lam: 0.0})).problem
    assert problem.items == 3
    assert isinstance(problem.P, np.ndarray)


def test_a_factor_model_is_substituted():
    """One level of equations, no chain: a small dense problem is better than a large sparse one."""
    reduced = reduce(program_line(*portfolio(420, 15))).problem
    assert isinstance(reduced.P, np.ndarray)
    assert reduced.items == 420 + 1


def test_a_path_whose_proof_fails_is_followed_again_by_the_dense_engines(monkeypatch):
    """As where a factor has lost its digits: what the sparse walk found is off by 1e-6."""
    found, usual = [], general._restated

    def spoilt(trace, stated, d):
        if sp.issparse(stated.P):
            found.append(trace)
            trace = replace(trace, values=trace.values * (1 + 1e-6))
        return usual(trace, stated, d)

    monkeypatch.setattr(general, "_restated", spoilt)
    path = pc.trace(*signal(760, 1, 0.02), progress=False)
    assert len(found) == 1
    assert path.proof.passes(1e-10)
