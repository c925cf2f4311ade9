"""A problem compiled once, read anywhere: against CVXPY's own compilation there, number by number."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from cvxpy.reductions.utilities import ReducedMat

import paretoclf as pc
from paretoclf.solve.models.model import Model
from paretoclf.solve.sources import compiled_data
from paretoclf.solve.sources.compiled_data import CompiledProblem, MovingEntries
from paretoclf.solve.sources.problem_line import program_line
from tests.oracles.cone_lines import LINES
from tests.oracles.lines import FAMILIES


def with_attributes():
    """A problem whose variables and parameters have fewer numbers than entries, one a function of another."""
    S, M = cp.Variable((3, 3), symmetric=True, name="S"), cp.Parameter((3, 3), symmetric=True, name="M")
    d, half = cp.Variable((2, 2), diag=True, name="d"), cp.Parameter(name="half")
    twice = cp.CallbackParam(lambda: 2 * half.value)
    rows = [cp.trace(S) == half, S >= -1, cp.diag(d) >= twice]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(S - M) + cp.sum_squares(d) + twice * d[0, 0]), rows)
    first, last = np.diag([1.0, 2.0, 3.0]), np.ones((3, 3))
    return problem, {M: first, half: 0.5}, {M: last, half: 2.0}


def with_a_form():
    """A problem whose parameter is the matrix of a quadratic form; where it is diagonal it has fewer entries."""
    x, P = cp.Variable(2, name="x"), cp.Parameter((2, 2), PSD=True, name="P")
    problem = cp.Problem(cp.Minimize(cp.quad_form(x, P) + cp.sum(x)), [x <= 1])
    return problem, {P: np.eye(2)}, {P: np.array([[2.0, 1.0], [1.0, 3.0]])}


def theirs(problem, values):
    """What CVXPY compiles anew at these values: q, b, the constant, P and A."""
    for p, value in values.items():
        p.value = value
    data, _, inverse = cp.Problem(problem.objective, problem.constraints).get_problem_data("CLARABEL")
    P = data["P"].toarray() if "P" in data else np.zeros((data["c"].size,) * 2)
    return data["c"], data["b"], np.atleast_1d(inverse[-1]["offset"]), P, data["A"].toarray()


CASES = {**FAMILIES, **LINES, "attributes": with_attributes, "form": with_a_form}


@pytest.mark.parametrize("name", CASES)
def test_data_are_those_that_cvxpy_compiles_anew_to_the_bit(name):
    problem, start, stop = CASES[name]()
    first, last = ({p: np.asarray(value, dtype=float) for p, value in end.items()} for end in (start, stop))
    compiled = CompiledProblem.of(Model.of(problem, maximise=True, forms=True), first)
    for t in (0.0, 0.3, 1.0):
        values = {p: (1 - t) * first[p] + t * last[p] for p in first}
        found = compiled.at(values, t)
        own = found.q, found.b, found.constant, found.P.at(0).toarray(), found.A.at(0).toarray()
        for ours, other in zip(own, theirs(problem, values), strict=True):
            np.testing.assert_array_equal(ours, other)


def test_a_line_compiles_once_and_a_map_too(monkeypatch):
    calls, compiling = [], cp.Problem.get_problem_data
    monkeypatch.setattr(
        cp.Problem, "get_problem_data", lambda *given, **how: calls.append(1) or compiling(*given, **how)
    )
    problem, start, stop = FAMILIES["lasso"]()
    program_line(problem, start, stop)
    assert len(calls) == 1
    x, s, u = cp.Variable(2, name="x"), cp.Parameter(name="s"), cp.Parameter(name="u")
    two = cp.Problem(cp.Minimize(cp.sum_squares(x) + s * x[0]), [cp.sum(x) >= u])
    found = pc.plane(two, {s: (-1.0, 1.0), u: (0.0, 1.0)}, progress=False)
    assert len(calls) == 2
    two.parameters()[0].value, two.parameters()[1].value = 0.4, 0.7
    two.solve("CLARABEL")
    assert found.at({s: s.value, u: u.value}).value == pytest.approx(two.value, abs=1e-7)


def test_what_has_no_maps_is_compiled_at_each_value(monkeypatch):
    """As where CVXPY has put the numbers of parameters into a program: it is another one at each of their values."""
    x, p = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="p")
    problem = cp.Problem(cp.Minimize(p * cp.sum_squares(x)), [cp.sum(x) >= p])
    model = Model.of(problem)
    fixed = {p: np.array(1.0)}
    monkeypatch.setattr(
        compiled_data, "problem_data", lambda given, how: given.get_problem_data("CLARABEL", ignore_dpp=True)
    )
    compiled = CompiledProblem.of(model, fixed)
    assert not compiled.tensors.parameters
    for value in (1.0, 3.0):
        found = compiled.at({p: np.array(value)}, 0.0)
        assert found.b.tolist() == [-value]
        assert found.P.at(0).diagonal().tolist() == [2 * value] * 2


def test_entries_at_different_places_have_all_places_together():
    rng = np.random.default_rng(0)
    matrices = [sp.random_array((4, 3), density=share, format="csc", rng=rng) for share in (0.2, 0.5, 0.0)]
    found = MovingEntries.together([MovingEntries(M.shape, M.indices, M.indptr, M.data[None]) for M in matrices])
    for k, M in enumerate(matrices):
        np.testing.assert_array_equal(found.at(k).toarray(), M.toarray())
    assert found.moves()
    assert found.moves(4) == found.moves()
    assert not MovingEntries.together([found, found]).moves(0)


@pytest.mark.parametrize("shape", [(4, 3, 5), (1, 1, 1), (7, 2, 4), (0, 2, 3)])
@pytest.mark.parametrize("absolute", [False, True])
def test_entries_are_those_of_the_product_with_the_map(shape, absolute):
    """Column by column, with several entries of a map at one place, and numbers that are 0."""
    rows, columns, width = shape
    rng = np.random.default_rng(0)
    count = 30 if rows else 0
    place, of = rng.integers(0, max(rows * columns, 1), count), rng.integers(0, width, count)
    tensor = sp.csc_array((rng.normal(size=count), (place, of)), shape=(rows * columns, width))
    numbers = np.where(np.arange(width) % 3 == 2, 0.0, rng.normal(size=width))
    full = abs(tensor) if absolute else tensor
    expected = (full @ numbers).reshape((rows, columns), order="F")
    reduced = ReducedMat(tensor, columns - 1)
    reduced.cache()
    found, last = compiled_data._matrix(reduced, numbers, (rows, columns - 1), absolute)
    np.testing.assert_allclose(found.at(0).toarray(), expected[:, :-1], atol=1e-15)
    np.testing.assert_allclose(last, expected[:, -1], atol=1e-15)


def test_what_bends_is_told_from_rounding():
    """A number that is off by a share of itself bends what it stands in, and by less than rounding nothing."""
    x, p, f = cp.Variable(name="x"), cp.Parameter(name="p"), cp.Parameter(name="f")
    problem = cp.Problem(cp.Minimize(cp.square(x) + p * x), [f * x <= 2 + p])
    compiled = CompiledProblem.of(Model.of(problem), {p: np.array(1.0), f: np.array(1.0)})
    column = compiled.tensors.param_id_to_col
    bend = np.zeros(3)
    assert compiled.bent(bend) == (False, False)
    bend[column[p.id]] = 0.1
    assert compiled.bent(bend) == (True, False)
    bend[:] = 0.0
    bend[column[f.id]] = 0.1
    assert compiled.bent(bend) == (False, True)
