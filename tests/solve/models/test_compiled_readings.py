"""Multipliers of attributes are read from compiled programs: against CVXPY's of the same constraints, written out."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.solve.grading.written_attributes import written_out
from paretoclf.solve.models.attributes import bounded_entries, readings_of_attributes
from paretoclf.solve.models.compiled_readings import (
    readings_of_constraints,
    readings_of_variables,
)
from paretoclf.solve.models.model import Model, problem_data

TIGHT = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
LOW, HIGH = np.array([[-np.inf, -0.4], [0.1, -np.inf]]), np.array([[0.2, np.inf], [0.6, np.inf]])
level = cp.Parameter(name="level", value=0.5)


def problems():
    """Problems whose attributes hold with strict complementarity, by what they are of."""
    rng = np.random.default_rng(3)
    A, B = 2 * rng.normal(size=(2, 2)), 2 * rng.normal(size=(3, 3))
    x, s, t = cp.Variable(4, nonneg=True, name="x"), cp.Variable(neg=True, name="s"), cp.Variable(3, name="t")
    box, P, N = (
        cp.Variable((2, 2), bounds=[LOW, HIGH], name="box"),
        cp.Variable((3, 3), PSD=True, name="P"),
        cp.Variable((2, 2), NSD=True, name="N"),
    )
    S = cp.Variable((2, 2), symmetric=True, nonneg=True, name="S")
    top = cp.Variable(3, bounds=[-1, level], name="top")
    c = rng.normal(size=4)
    # A goal that CVXPY compiles to variables of its own, which may have attributes, too.
    return {
        "signs": cp.Problem(cp.Minimize(cp.sum_squares(x - c) + cp.square(s - level) + cp.norm1(t - 1)), [t <= 0.5]),
        "bounds": cp.Problem(cp.Minimize(cp.sum_squares(box - A) + level * cp.sum(box)), [cp.sum(box) <= 9]),
        "a bound that moves": cp.Problem(cp.Minimize(cp.sum_squares(top - [2.0, -3, 0]))),
        "a linear program": cp.Problem(cp.Maximize(c @ x), [(cp.sum(x) <= level).set_label("mass")]),
        "semidefinite": cp.Problem(cp.Minimize(cp.sum_squares(P - level * B) + cp.norm2(x - c)), [cp.sum(x) >= 0.1]),
        "negative": cp.Problem(cp.Maximize(-cp.sum_squares(N - A))),
        "symmetric": cp.Problem(cp.Minimize(cp.sum_squares(S - A))),
    }


def attributes_of(problem):
    return [name for name in pc.dual(problem).multipliers if ": " in name]


def theirs(problem):
    """CVXPY's multipliers of the constraints that the attributes are."""
    again = written_out(problem, attributes_of(problem))
    again.solve("CLARABEL", **TIGHT)
    return {c.label: np.asarray(c.dual_value) for c in again.constraints if ": " in (c.label or "")}


@pytest.mark.parametrize("name", problems())
def test_multipliers_of_attributes_are_those_of_constraints(name):
    problem = problems()[name]
    expected = theirs(problem)
    model = Model.of(problem, maximise=True)
    data, chain, inverse = problem_data(problem)
    n, m = data["c"].size, data["b"].size
    found = readings_of_attributes(model, chain, inverse, n, m)
    raw = chain.solver.solve_via_data(data, False, False, TIGHT)
    x, z = np.asarray(raw.x), np.asarray(raw.z)
    assert set(found) == set(expected)
    for label, reading in found.items():
        variable = model.variables[label.rpartition(": ")[0]]
        own, entries = reading.of(z), bounded_entries(variable, label)
        assert own.shape == variable.shape
        known = np.ravel(own)[entries]
        apart = known - np.ravel(expected[label])
        if "symmetric" in name:  # two entries are one number, whose multiplier they share
            apart = (own + own.T - expected[label] - expected[label].T).ravel()
        assert np.abs(apart).max() <= 2e-5
        assert np.abs(np.delete(np.ravel(own), entries)).max(initial=0) == 0
    assert max(np.abs(each).max() for each in expected.values()) > 0.1
    problem.solve("CLARABEL", **TIGHT)
    for label, reading in readings_of_variables(model, data["param_prob"], chain, inverse).items():
        assert reading.of(x) == pytest.approx(model.variables[label].value, abs=1e-5)
    for label, reading in readings_of_constraints(model, chain, inverse, n, m).items():
        assert reading.of(z) == pytest.approx(model.constraints[label].dual_value, abs=1e-5)


@pytest.mark.parametrize("name", [name for name in problems() if name != "symmetric"])  # whose multipliers are many
def test_paths_duals_and_verify_say_the_same(name):
    problem = problems()[name]
    expected = theirs(problem)
    variables = {v.name(): v for v in problem.variables()}
    dual = pc.dual(problem)
    dual.problem.solve("CLARABEL", **TIGHT)
    problem.solve("CLARABEL", **TIGHT)
    table = pc.verify(problem, tol=1e-5).duality_table()
    path = None
    if level in problem.parameters():
        is_cone = name == "semidefinite"
        path = pc.trace(problem, start={level: 0.25}, stop={level: 0.75}, **({"eps": 1e-7} if is_cone else {}))
    for label, own in expected.items():
        multiplier = dual.multipliers[label].value
        assert np.ravel(multiplier) == pytest.approx(np.ravel(own), abs=2e-4)
        entries = bounded_entries(variables[label.rpartition(": ")[0]], label)
        rows = {row.index: row.multiplier for row in table if row.constraint == label}
        if label.endswith("SD"):
            assert rows == {0: pytest.approx(np.linalg.eigvalsh(own)[0], abs=1e-4)}
        else:
            assert [rows[k] for k in range(len(rows))] == pytest.approx(np.ravel(own), abs=2e-4)
        if path is not None:
            there = path.at(0.5).duals[label]
            assert np.ravel(there)[entries] == pytest.approx(
                np.ravel(own), abs=2e-3 if name == "semidefinite" else 1e-5
            )
            assert label in path.duals
            assert label not in path.program.multipliers


def test_of_a_name_that_is_a_label_too_the_label_is_meant():
    x = cp.Variable(2, nonneg=True, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum(x) * level), [(cp.sum(x) >= 1).set_label("x: nonneg")])
    path = pc.trace(problem, start={level: 1}, stop={level: 2})
    assert path.at(0.0).duals == {"x: nonneg": pytest.approx(1.0)}
    assert pc.grade(problem, {"x": [0.5, 0.5]}, {"x: nonneg": 0.5}).verdict == "right"
    with pytest.raises(pc.InputError, match="name of an attribute, got 'x: nonneg'"):
        pc.dual(problem)


def test_variables_without_attributes_have_none():
    problem = cp.Problem(cp.Minimize(cp.norm1(cp.Variable(2, name="x") - level)))
    assert pc.trace(problem, start={level: 1}, stop={level: 2}).duals == ()


def test_a_saved_path_knows_them_and_its_page_shows_them(tmp_path):
    x = cp.Variable(2, nonneg=True, name="x")
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(x - level))), start={level: -1}, stop={level: 1})
    assert path.at(0.25).duals["x: nonneg"] == pytest.approx([1, 1])
    assert path.at(0.75).duals["x: nonneg"] == pytest.approx([0, 0])
    file = tmp_path / "path.npz"
    path.save(file)
    again = pc.load(file)
    assert again.duals == ("x: nonneg",)
    assert again.at(0.25).duals["x: nonneg"] == pytest.approx([1, 1])
    assert [again.program.row_name(row) for row in range(again.program.m)][-2:] == ["x: nonneg[0]", "x: nonneg[1]"]
    path.page(tmp_path / "page.html")
    assert "x: nonneg" in (tmp_path / "page.html").read_text()
    # Events name the variable, and say that it is free or at its bound.
    assert path.events
    assert not any("nonneg" in str(event) for event in path.events)


def test_who_contradicts_whom_is_told_by_their_names():
    x = cp.Variable(2, bounds=[0, 1], name="x")
    enough = (cp.sum(x) >= level).set_label("enough")
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum(x)), [enough]), start={level: 0}, stop={level: 4})
    assert set(path.beyond.blame) == {"enough", "x: upper bound"}
    assert path.at(0.25).duals["enough"] == pytest.approx(1)


def test_multipliers_of_a_stranger_are_judged_by_their_names():
    x = cp.Variable(2, nonneg=True, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - level)), [(cp.sum(x) <= 9).set_label("top")])
    path = pc.trace(problem, start={level: -1}, stop={level: 1})
    given = {"t": [0.0, 0.25], "x": np.zeros((2, 2)), "x: nonneg": np.array([[2.0, 2], [1, 1]])}
    assert pc.verify(path, given).passes()
    assert not pc.verify(path, given | {"x: nonneg": np.array([[2.0, 2], [1, 2]])}).passes()
    assert pc.verify(path, (given["t"], given["x"], np.zeros(2))).passes()
