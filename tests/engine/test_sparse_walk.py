"""The walk on sparse bases against the dense engines, and against solves of the programs."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.common.errors import DegeneratePathError
from paretoclf.engine import general
from paretoclf.engine.general import equilibrated, follow
from paretoclf.engine.reduction.presolve import reduce
from paretoclf.engine.start import Data, first_labels, shifted
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.solve.sources.problem_line import LineOfPrograms, program_line
from tests.engine.test_general import drawn
from tests.oracles import lines
from tests.oracles.sized_programs import controller, portfolio, signal

sparse_walk = pytest.importorskip("paretoclf.engine.sparse_walk", reason="installed without a C++ compiler")
from paretoclf.engine.core_walk import CoreWalk, TwiceWalk  # noqa: E402

SparseWalk = sparse_walk.SparseWalk


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
    return general._restated(found, stated, d, problem)


def value_at(trace, problem, t):
    """The objective along a path."""
    j = min(max(int(np.searchsorted(trace.t, t, side="right")) - 1, 0), len(trace.labels) - 1)
    share = (t - trace.t[j]) / ((trace.t[j + 1] - trace.t[j]) or 1.0)
    v = (1 - share) * trace.v[j, 0] + share * trace.v[j, 1]
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


@pytest.mark.parametrize("border", [0, 1, 5])
def test_a_border_of_any_size_finds_the_same(border, monkeypatch):
    problem = reduce(program_line(*signal(40, 2, 30.0))).problem
    usual, began = walked(problem), SparseWalk.__init__

    def narrow(self, data, labels):
        began(self, data, labels)
        self._walk.border = border

    monkeypatch.setattr(SparseWalk, "__init__", narrow)
    other = walked(problem)
    assert np.abs(usual.t - other.t).max() < 1e-14
    assert (usual.labels == other.labels).all()


def test_a_solution_on_an_ill_conditioned_basis_is_known_to_its_last_digit():
    """Second differences of 200 numbers: where all are 0, the basis has a condition of 1e7."""
    problem = reduce(program_line(*signal(200, 2, 5000.0))).problem
    dense, sparse = follow(problem), walked(problem)
    assert sparse.t.size == dense.t.size
    assert np.abs(sparse.t - dense.t).max() < 1e-9
    stated = equilibrated(as_sparse(problem))[0]
    data, whole = Data.of(stated), Data.of(stated.dense())
    labels = np.concatenate([np.zeros(problem.n), -np.ones(problem.items - problem.n)]).astype(np.int64)
    found, other = (walk(each, labels).solve(0.3) for walk, each in ((SparseWalk, data), (TwiceWalk, whole)))
    H = stated.dense()
    assert np.linalg.cond(np.block([[H.P, H.A.T], [H.A, np.zeros((len(H.A),) * 2)]])) > 1e7
    for one, two in zip(found, other, strict=True):
        assert np.abs(one - two).max() <= 1e-15 * np.abs(two).max()


@pytest.mark.parametrize("large", [False, True])
def test_a_solution_that_is_carried_on_is_the_one_that_is_computed_afresh(large, monkeypatch):
    """Each step is compared with a fresh solution; programs of any rank, and ties, end as by the dense engine."""
    began, walks, rng = SparseWalk.__init__, [], np.random.default_rng(2)

    def compared(self, data, labels):
        began(self, data, labels)
        self._walk.compared = True
        walks.append(self._walk)

    monkeypatch.setattr(SparseWalk, "__init__", compared)
    how = {"labels": None, "limit": 10**5, "progress": False, "deadline": np.inf}
    for _ in range(25):
        problem = equilibrated(drawn(rng, large))[0]
        dense = general._followed(problem, walk=CoreWalk, **how)
        sparse = general._followed(as_sparse(problem), walk=SparseWalk, **how)
        assert sparse.status == dense.status
        assert sparse.t[-1] == pytest.approx(dense.t[-1], abs=1e-12)
        for t in np.linspace(0, dense.t[-1], 7)[1:-1].tolist() if len(dense.labels) else ():
            one, other = (value_at(each, problem, t) for each in (dense, sparse))
            assert abs(one - other) <= 1e-10 * (1 + abs(one))
    assert max(walk.worst for walk in walks) <= 1.0
    assert 2 * sum(walk.solved for walk in walks) < sum(walk.exchanges for walk in walks) or not large


def test_a_basis_that_no_factor_in_doubles_resolves_is_refused():
    """Three equations in two directions, but for rounding: what is missed does not tell what is wrong."""
    n, rng = 6, np.random.default_rng(0)
    P, rows = sp.csr_array(np.eye(n)), rng.normal(size=(2, n))
    A = sp.csr_array(np.vstack([rows, 0.3 * rows[0] + 0.7 * rows[1]]))
    fixed, none = np.concatenate([np.full(n, -np.inf), np.ones(3)]), np.full((2, n + 3), np.inf)
    upper = np.concatenate([np.full(n, np.inf), np.ones(3)])
    q = np.stack([np.arange(n), np.arange(n)[::-1]]).astype(float)
    problem = ParametricQP(P, A, q, np.stack([fixed] * 2), np.stack([upper] * 2), none, none)
    data, labels = Data.of(problem), np.concatenate([np.zeros(n), -np.ones(3)]).astype(np.int64)
    with pytest.raises(DegeneratePathError, match="singular"):
        SparseWalk(data, labels).solve(0.0)


@pytest.mark.parametrize(
    ("stop", "said"), [(KeyboardInterrupt, KeyboardInterrupt), (RuntimeError, DegeneratePathError)]
)
def test_a_walk_that_is_broken_off_while_it_makes_a_factor_goes_on_anew(stop, said, monkeypatch):
    """By who waits, or where SuperLU finds a block singular."""
    problem = equilibrated(as_sparse(reduce(program_line(*signal(40, 2, 30.0))).problem))[0]
    data, labels = Data.of(problem), first_labels(Data.of(problem))
    there, usual = shifted(data, labels, SparseWalk), sparse_walk.splu
    whole, calls = SparseWalk(there, labels), []
    whole._walk.border = 4
    assert whole.follow(10**5, keep=False).status == "end"

    def breaks(*block):
        calls.append(1)
        if len(calls) == 5:
            raise stop
        return usual(*block)

    monkeypatch.setattr(sparse_walk, "splu", breaks)
    walk = SparseWalk(there, labels)
    walk._walk.border = 4
    with pytest.raises(said):
        walk.follow(10**5, keep=False)
    assert walk.follow(10**5, keep=False).status == "end"
    assert (walk.labels == whole.labels).all()


def test_a_large_sparse_problem_is_followed_on_sparse_bases(monkeypatch):
    source = LineOfPrograms(*signal(760, 1, 2.0))
    problem = reduce(source.line).problem
    assert sp.issparse(problem.P)
    path = pc.trace(*signal(760, 1, 2.0), progress=False)
    assert path.proof.passes(1e-10)

    def refuses(*_):
        raise DegeneratePathError("no", t=0.0, costs="", n_margin=None, remedy="")

    monkeypatch.setattr(general, "SPARSE", refuses)  # the dense engines then have to do
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


def test_a_factor_model_keeps_its_factors():
    """Their square would be all of P; own variances are substituted. What is left is small enough for arrays."""
    reduced = reduce(program_line(*portfolio(420, 15))).problem
    assert isinstance(reduced.P, np.ndarray)
    assert reduced.items == 420 + 15 + 15 + 1
    assert np.count_nonzero(reduced.P) == 420 + 15


def test_a_path_whose_proof_fails_is_followed_again_by_the_dense_engines(monkeypatch):
    """As where a factor has lost its digits: what the sparse walk found is off by 1e-6."""
    found, usual = [], general._restated

    def spoilt(trace, stated, d, problem):
        if sp.issparse(stated.P):
            found.append(trace)
            trace = replace(trace, path=replace(trace.path, number=trace.path.number * (1 + 1e-6)))
        return usual(trace, stated, d, problem)

    monkeypatch.setattr(general, "_restated", spoilt)
    path = pc.trace(*signal(760, 1, 0.02), progress=False)
    assert len(found) == 1
    assert path.proof.passes(1e-10)
