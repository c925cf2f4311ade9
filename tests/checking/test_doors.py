"""One point of one problem, right or wrong, at every door: the same verdict, the same scale, the same number.

The table of docs/explanation/verdicts.md is what these tests hold.
"""

from __future__ import annotations

import json
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.cli import main

#: By how much a wrong slope or intercept is off: the value then is by some 1e-4.
OFF = {"right": 0.0, "wrong": 0.02}

X = np.random.default_rng(0).standard_normal((20, 2))
Y = np.where(X[:, 0] + 0.5 * np.random.default_rng(1).standard_normal(20) > 0, 1, -1)


def number(certificate):
    """The verdict in three digits: what it is, what it is relative to, and by how much the value is off."""
    return certificate.verdict(), f"{certificate.scale:.2e}", f"{max(certificate.gap, 0.0):.2e}"


# ---- a program ----------------------------------------------------------------------------------------------------


def lasso():
    x, lam = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="lam", value=1.0)
    return cp.Problem(cp.Minimize(cp.sum_squares(x - np.array([3, -1])) + lam * cp.norm1(x))), x, lam


def doors_of_a_program(off, folder):
    """Name of a door -> what it says of x, off by so much, where lam = 1."""
    problem, x, lam = lasso()
    path = pc.trace(problem, {lam: 0.5}, {lam: 1.5}, progress=False)
    problem.solve("CLARABEL")
    point = np.array([2.5, -0.5]) + np.array([off, 0.0])
    x.value = point
    table = folder / "path.csv"
    table.write_text(f"lam,x[0],x[1]\n1,{float(point[0])!r},{float(point[1])!r}\n")
    return {
        "verify(problem)": pc.verify(problem).certificate,
        "grade(problem, values)": pc.grade(problem, {"x": point}, tol=1e-6).proof.certificate,
        "verify(path, (t, x))": pc.verify(path, ([0.5], point[None]))[0],
        "verify(path, file)": pc.verify(path, table)[0],
    }


@pytest.mark.parametrize("which", OFF)
def test_a_point_of_a_program_is_judged_alike_at_every_door(which, tmp_path):
    found = {door: number(each) for door, each in doors_of_a_program(OFF[which], tmp_path).items()}
    (said,) = {(verdict, scale) for verdict, scale, _ in found.values()}
    assert said == ("optimal" if which == "right" else "not optimal", "3.50e+00")
    off = {float(size) for _, _, size in found.values()}
    if which == "wrong":  # |x - (2.5, -.5)|^2, as |x|_1 and the rest cancel, of 3.5
        assert off == {float(f"{OFF[which] ** 2 / 3.5:.2e}")}
    else:
        assert max(off) < 1e-8


def test_the_certificate_of_a_maximisation_has_the_users_values():
    """The point that is too dear has the smaller value, and what is proved of the optimum is above it."""
    x, hours = cp.Variable(2, name="x", nonneg=True), cp.Parameter(name="hours", value=3.0)
    plan = cp.Problem(cp.Maximize(3 * x[0] + 2 * x[1] - cp.square(x[1]) / 4), [cp.sum(x) <= hours, x[0] <= 2])
    path = pc.trace(plan, {hours: 2.5}, {hours: 3.5}, progress=False)
    certificate = pc.verify(path, ([0.5], np.array([[1.9, 1.0]])))[0]
    assert certificate.verdict() == "not optimal"
    assert certificate.primal_value == pytest.approx(7.45, rel=1e-12)
    assert certificate.dual_value == pytest.approx(7.75, rel=1e-12)
    assert certificate.gap * certificate.scale == pytest.approx(0.3, rel=1e-9)


# ---- a machine ----------------------------------------------------------------------------------------------------


def doors_of_a_machine(off, folder, capsys):
    """Name of a door -> what it says of multipliers and an intercept, off by so much, where both costs are 1."""
    svm = pc.TwoCSVM(X, Y)
    path = pc.trace(svm, (0.5, 1.5), (1.5, 0.5), progress=False)
    solution = path.at(0.5)
    alpha, b = solution.alpha, float(path.intercept(0.5)) + off
    wrong = replace(path, pieces=replace(path.pieces, b0=path.pieces.b0 + off, b1=path.pieces.b1 + off))
    np.savez(folder / "rows.npz", C_plus=[1.0], C_minus=[1.0], alpha=alpha[None], b=[b])
    np.savez(folder / "data.npz", X=X, y=Y)
    capsys.readouterr()
    main(["verify", str(folder / "rows.npz"), "--data", str(folder / "data.npz"), "--json"])
    told = json.loads(capsys.readouterr().out)["rows"][0]
    certificates = {
        "certify": pc.certify(Y, np.ones(20), alpha, b, X=X),
        "verify(X, y, rows)": pc.verify(X, Y, [(1.0, 1.0, alpha, b)])[0],
        "verify(formulation, rows)": pc.verify(svm, [(1.0, 1.0, alpha, b)])[0],
        "verify(X, y, file)": pc.verify(X, Y, folder / "rows.npz")[0],
        "path.certificate(t)": wrong.certificate(0.5),
        "verify(X, y, path)": pc.verify(X, Y, wrong.at(0.5))[0],
    }
    return certificates, told


@pytest.mark.parametrize("which", OFF)
def test_a_point_of_a_machine_is_judged_alike_at_every_door(which, tmp_path, capsys):
    certificates, told = doors_of_a_machine(0.01 * OFF[which], tmp_path, capsys)
    found = [number(each) for each in certificates.values()]
    (said,) = {(verdict, scale) for verdict, scale, _ in found}
    assert said[0] == told["verdict"] == ("optimal" if which == "right" else "not optimal")
    gaps = {float(gap) for _, _, gap in found} | {float(f"{max(told['gap'], 0.0):.2e}")}
    if which == "wrong":
        assert len(gaps) == 1
        assert {each.explain() for each in certificates.values()} == {told["explanation"]}
    else:
        assert max(gaps) < 1e-14


def test_the_proof_of_a_path_speaks_of_segments_and_is_never_milder_than_its_points():
    path = pc.trace(pc.TwoCSVM(X, Y), (0.5, 1.5), (1.5, 0.5), progress=False)
    wrong = replace(path, pieces=replace(path.pieces, b0=path.pieces.b0 + 1e-3, b1=path.pieces.b1 + 1e-3))
    proof = wrong.proof
    assert not proof.passes()
    for k in range(len(proof)):
        middle = wrong.certificate(float(proof.t[k : k + 2].mean()))
        assert middle.verdict() == "not optimal"
        assert proof[k].verdict() != "optimal"
        assert proof.gap[k] >= middle.gap


def test_rates_are_judged_by_the_same_rule_and_say_what_they_are_relative_to():
    problem, x, lam = lasso()
    rates = pc.derivatives(problem, {lam: 1.0})
    for fault, verdict in ((0.0, "right"), (1e-3, "wrong")):
        judged = rates.judge({x: np.array([-0.5, 0.5]) * (1.0 + fault)})
        assert judged.verdicts == [verdict]
        assert judged.passes() == (fault == 0.0)
        assert judged.first_failure() == (0 if fault else None)
        # relative to the largest entry at the point over the size of what moves, here 2.5 / 1
        assert judged.rows[0].error == pytest.approx(0.5 * fault / 2.5, rel=1e-6)


def test_a_comparison_gives_the_number_of_the_certificates():
    svm = pc.TwoCSVM(X, Y)
    path = pc.trace(svm, (0.5, 1.5), (1.5, 0.5), progress=False)
    wrong = replace(path, pieces=replace(path.pieces, b0=path.pieces.b0 + 2e-4, b1=path.pieces.b1 + 2e-4))
    (point, *_) = pc.compare(wrong, svm, n=3, rng=0).points
    certificate = wrong.certificate(point.t)
    assert f"{point.difference:.2e}" == f"{certificate.gap:.2e}"
