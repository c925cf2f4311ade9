"""What holds for every registered formulation: DCP, DPP, strong duality, stated signs, stated KKT, early refusal."""

from __future__ import annotations

import pickle

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.common.errors import InputError
from paretoclf.formulations.registry import OURS, formulations
from paretoclf.solve.sweep import sweep
from tests.oracles.formulation_cases import CASES

FORMS = ("primal", "dual")

case = pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)


def solve_program(formulation, form, values, tol=1e-11):
    """Solve one program of a formulation directly, as a reader of its `primal` and `dual` would."""
    for name, value in formulation.check_values(values).items():
        formulation.parameters[name].value = value
    problem = getattr(formulation, form)
    for each in (tol, 10 * tol):  # exponential cones stop short of the first now and then
        try:
            problem.solve(solver="CLARABEL", tol_gap_abs=each, tol_gap_rel=each, tol_feas=each)
        except cp.SolverError:
            continue
        if problem.status == "optimal":
            break
    assert problem.status == "optimal"
    return problem


@pytest.fixture
def rng():
    return np.random.default_rng(20)


def test_every_registered_formulation_has_a_case():
    assert {c.name for c in CASES} == set(OURS)
    for name, cls in formulations().items():
        if name in OURS:
            assert cls.__name__ == name
            assert cls.page is not None


@case
def test_both_programs_are_dcp_dpp_minimisations_of_scalar_parameters(case, rng):
    formulation = case.make(rng)
    assert type(formulation).__name__ == case.name
    assert list(formulation.parameters) == list(formulation.domain)
    n = getattr(formulation, "n", 0)
    for form in FORMS:
        problem = getattr(formulation, form)
        assert problem is getattr(formulation, form)
        assert isinstance(problem.objective, cp.Minimize)
        assert problem.is_dcp()
        assert problem.is_dpp()
        assert all(p.size == 1 or (p.ndim == 1 and p.size <= n) for p in problem.parameters())
        model = formulation.model(form)
        assert model.problem is problem
        assert not any(name.startswith(("var", "constraint ")) for name in (*model.variables, *model.constraints))


@case
@pytest.mark.parametrize("form", FORMS)
def test_the_second_solve_does_not_compile_again(case, form, rng):
    formulation = case.make(rng)
    problem = solve_program(formulation, form, case.values[0], case.tol)
    compiled = problem._cache.param_prog
    assert compiled is not None
    before = problem.value
    solve_program(formulation, form, case.values[-1], case.tol)
    assert problem._cache.param_prog is compiled
    assert problem.value != before or case.values == ({},)


@case
@pytest.mark.parametrize("seed", range(2))
def test_primal_value_is_dual_value_is_certified_value(case, seed):
    formulation = case.make(np.random.default_rng(seed))
    for values in case.values:
        scale = case.scale(values) * getattr(formulation, "unit", 1.0)
        primal = scale * solve_program(formulation, "primal", values, case.tol).value
        dual = -scale * solve_program(formulation, "dual", values, case.tol).value
        size = max(1e-3, abs(primal))
        assert abs(primal - dual) <= 1e-8 * size
        for form in FORMS:
            solution = formulation.solve(**values, form=form)
            assert abs(solution.value - primal) <= 1e-8 * size
            assert abs(solution.dual_value - primal) <= 1e-8 * size
            assert solution.certificate.passes(), solution.certificate.explain()
            assert dict(solution.values) == pytest.approx(formulation.check_values(values))


@case
def test_the_stated_signs_hold(case, rng):
    formulation = case.make(rng)
    largest = dict.fromkeys(case.nonnegative, 0.0)
    for values in case.values:
        for form in FORMS:
            solve_program(formulation, form, values, case.tol)
            model = formulation.model(form)
            numbers = {name: v.value for name, v in model.variables.items()}
            numbers |= {name: c.dual_value for name, c in model.constraints.items()}
            for name in (name for where, name in case.nonnegative if where == form):
                value = np.asarray(numbers[name])
                size = max(1e-3, float(np.max(np.abs(value))))
                assert np.min(value) >= -1e-6 * size, (form, name)
                largest[form, name] = max(largest[form, name], float(np.max(value)))
    assert all(value > 1e-6 for value in largest.values()), largest


@case
def test_the_stated_kkt_conditions_are_those_that_are_certified_and_hold(case, rng):
    formulation = case.make(rng)
    statement = formulation.statement()
    for form in FORMS:
        certificate = formulation.solve(**case.values[0], form=form).certificate
        assert set(certificate.conditions) == set(formulation.page.kkt)
        for name, residual in certificate.conditions.items():
            assert residual <= 1e-8, name
            assert f"| {name} |" in statement
    for part in ("## Primal", "## Lagrangian", "## Dual", "## KKT conditions", "## Signs", "## Recovery", "Reference:"):
        assert part in statement
    assert statement.count("$$") % 2 == 0
    assert statement.replace("$$", "").count("$") % 2 == 0
    assert formulation._repr_markdown_() == statement


@case
def test_bad_parameters_are_refused_before_anything_is_solved(case, rng, monkeypatch):
    formulation = case.make(rng)

    def forbidden(*args, **kwargs):
        raise AssertionError("a solver was called")

    monkeypatch.setattr(cp.Problem, "solve", forbidden)
    monkeypatch.setattr(cp.Problem, "get_problem_data", forbidden)
    for values in case.bad:
        known = {k: v for k, v in values.items() if k != "unknown"}
        if known == values:
            # A missing argument of an explicit signature is Python's own error.
            with pytest.raises(InputError if len(values) == len(case.values[0]) else (InputError, TypeError)):
                formulation.solve(**values)
        with pytest.raises(InputError):
            formulation.check_values(values)
        with pytest.raises(InputError):
            sweep(formulation, **values)
    assert case.bad


@case
def test_a_sweep_agrees_with_single_solves(case, rng):
    formulation = case.make(rng)
    columns = {name: [v[name] for v in case.values] for name in case.values[0]}
    for solution, values in zip(sweep(formulation, **columns), case.values, strict=True):
        single = formulation.solve(**values)
        assert solution.value == pytest.approx(single.value, rel=1e-8, abs=1e-11)
        assert solution.certificate.passes(), solution.certificate.explain()


@case
def test_a_solution_reads_as_a_classifier_and_as_a_duality_table(case, rng):
    formulation = case.make(rng)
    solution = formulation.solve(**case.values[0])
    labels = solution.classifier.predict(case.some(formulation))
    assert set(labels) <= {-1.0, 1.0}
    table = solution.duality_table()
    violations = [row.violation for row in table]
    assert violations == sorted(violations, reverse=True)
    assert violations[0] <= 1e-8
    assert abs(table.total) <= 1e-7 * max(1.0, abs(solution.value))
    assert "multiplier" in repr(table)


@case
def test_pickles(case, rng):
    formulation = case.make(rng)
    before = formulation.solve(**case.values[0])
    after = pickle.loads(pickle.dumps(formulation)).solve(**case.values[0])
    assert after.value == pytest.approx(before.value, rel=1e-10)
    assert pickle.loads(pickle.dumps(before)).value == before.value
