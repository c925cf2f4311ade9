"""Tests of `paretoclf.path.tracing`: which path is traced of what is given, and what is refused."""

from __future__ import annotations

import json
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path import tracing
from paretoclf.path.tracing import save_point, source_between, source_here
from paretoclf.problem.lines import LineOfCosts, LineOfNu, LineOfTau, LineOfTheta
from paretoclf.proof import check

X = np.array([[2.0], [1.0], [-0.5], [0.0], [-1.0], [-3.0]])
Y = np.array([1, 1, 1, -1, -1, -1])
SVM = pc.TwoCSVM(X, Y)
V, TH = cp.Variable(name="v"), cp.Parameter(nonneg=True, name="th")
PROBLEM = cp.Problem(cp.Minimize(cp.square(V - 3) / 2 + TH * V), [V >= 1])  # the least at 3 - th, or 1
ENDS = {TH: 0.0}, {TH: 4.0}
QP = pc.QP([[1.0]], [-3.0], [[1.0]], [1.0], None, moves={"th": {"q": [1.0]}})
QP_ENDS = {"th": 0.0}, {"th": 4.0}


@pytest.mark.parametrize(
    ("svm", "given", "kind"),
    [
        (SVM, {"start": (0.5, 1.5), "stop": (1.5, 0.5)}, "Path"),
        (SVM, {"C_plus": (0.5, 1.5), "C_minus": 1.0}, "ProblemPath"),
        (pc.QuantileSVM(X, Y), {"tau": (0.2, 0.8), "lam": 0.1}, "QuantilePath"),
        (pc.BiobjectiveMargin(X, Y), {"theta": (0.5, 2), "C_plus": 1.0, "C_minus": 1.0}, "MarginPath"),
        (pc.TwoNuSVM(X, Y), {"nu": (0.3, None), "asymmetry": 0.5}, "NuPath"),
        (pc.TwoNuSVM(X, Y), {"start": (1, 1), "stop": (0.9, 0.9)}, "NuPath"),
        (PROBLEM, dict(zip(("start", "stop"), ENDS, strict=True)), "ProblemPath"),
        (QP, dict(zip(("start", "stop"), QP_ENDS, strict=True)), "ProblemPath"),
    ],
)
def test_a_formulation_has_the_path_that_it_declares(svm, given, kind, caplog):
    with caplog.at_level("INFO"):
        path = pc.trace(svm, **given)
    assert type(path).__name__ == kind
    assert path.proof.passes(1e-8)
    assert (
        f"traced in {sum(path.seconds.values()) if isinstance(path.seconds, dict) else path.seconds:.2f} s"
        in caplog.text
    )


@pytest.mark.parametrize(("problem", "ends"), [(PROBLEM, ENDS), (QP, QP_ENDS)])
def test_a_program_and_the_same_in_arrays_have_the_closed_form(problem, ends):
    path = pc.trace(problem, *ends)
    constant = 4.5 if problem is PROBLEM else 0.0
    for t in np.linspace(0, 1, 9):
        v = max(3 - 4 * t, 1.0)
        assert path.value(float(t)) == pytest.approx((v - 3) ** 2 / 2 + 4 * t * v - 4.5 + constant, rel=1e-12)
    still = source_between(problem, ends[0], ends[0], True)
    assert (still.line.q[0] == still.line.q[1]).all()
    with pytest.raises(pc.InputError):
        source_between(problem, ends[0], ends[0])
    TH.value = 0.0
    here = source_here(problem).line
    assert (here.q[0] == here.q[1]).all()


@pytest.mark.parametrize(
    ("lines", "way", "name"),
    [
        (LineOfCosts, 0, "trace_costs"),
        (LineOfTau, 0, "trace_quantile"),
        (LineOfTheta, 0, "trace_margins"),
        (LineOfNu, 1, "trace_nu"),
        (LineOfNu, 0, "trace_hulls"),
    ],
)
def test_each_kind_of_line_is_followed_by_its_own(lines, way, name):
    assert tracing._follower(lines, way).__name__ == name


def test_options_arrive_where_the_path_is_traced():
    ends = (0.5, 1.5), (1.5, 0.5)
    with pytest.raises(pc.DegeneratePathError):
        pc.trace(SVM, *ends, max_events=0)
    assert pc.trace(PROBLEM, *ENDS, max_events=0).status == "limit"
    readable = pc.trace(SVM, *ends, engine="textbook")
    usual = pc.trace(SVM, *ends, hub=pc.trace(SVM, (0.1, 0.1), (2, 2)))
    assert readable.value(0.3) == pytest.approx(usual.value(0.3), rel=1e-12)


EPS = {"start": ENDS[0], "stop": ENDS[1], "eps": 1e-3}


@pytest.mark.parametrize(
    ("svm", "given", "said"),
    [
        (SVM, {}, "start must be given for a TwoCSVM, which is traced with start and stop, got None"),
        (SVM, {"start": (1, 1)}, "stop must be given for a TwoCSVM"),
        (SVM, {"start": (1, 1), "stop": (2, 2), "tau": 0.5}, "tau must be left out for a TwoCSVM"),
        (SVM, {"start": (1, 1), "stop": (2, 2), "foo": 3}, "foo must be left out for a TwoCSVM.*got 3"),
        (SVM, {"start": (1, 1), "stop": (2, 2), "n_jobs": 2}, "n_jobs must be left out for an exact path, got 2"),
        (pc.TwoNuSVM(X, Y), {"nu": (0.5, 1)}, "asymmetry must be given for a TwoNuSVM, which is traced with nu and a"),
        (pc.TwoNuSVM(X, Y), {"nu": (0, 1), "start": (1, 1)}, "start must be left out for a TwoNuSVM.*, or with start"),
        (pc.TwoNuSVM(X, Y), {"start": (1, 1)}, "stop must be given for a TwoNuSVM"),
        (pc.TwoNuSVM(X, Y), {"start": (1, 1), "stop": (1, 0.9), "hub": 1}, "hub must be left out for a TwoNuSVM"),
        (3, {}, "problem must be a formulation of your samples"),
        (PROBLEM, {"start": ENDS[0], "stop": ENDS[1], "lam": 1}, r"lam must be left out for a cvxpy\.Problem, .*got 1"),
        (QP, {"start": QP_ENDS[0], "stop": QP_ENDS[1], "lam": 1}, "lam must be left out for a QP"),
        (PROBLEM, {**EPS, "certify": False}, "certify must be left out with eps, got False"),
        (PROBLEM, {**EPS, "max_events": 9}, "max_events must be left out with eps, got 9"),
        (PROBLEM, {**EPS, "eps": 2.0}, "eps must"),
        (3, {"eps": 1e-3}, "problem must be a cvxpy.Problem or a formulation where eps is given, got"),
        (pc.TwoCSVM, {"eps": 1e-3}, "problem must be a cvxpy.Problem or a formulation where eps is given, got"),
        (SVM, {"start": (1, 1), "stop": (2, 2), "parts": 0}, "parts must be .*, got 0"),
        (SVM, {"start": (1, 1), "stop": (2, 2), "parts": 2.5}, "parts must be .*, got 2.5"),
        (SVM, {"start": (1, 1), "stop": (2, 2), "parts": 2, "max_events": 9}, "max_events must be left out with parts"),
        (QP, {"start": QP_ENDS[0], "stop": QP_ENDS[1], "parts": 2, "max_seconds": 9}, "max_seconds must be left out w"),
        (pc.TwoNuSVM(X, Y), {"nu": (0.5, 1), "asymmetry": 0.5, "parts": 2}, "parts must be left out for this kind"),
        (pc.QuantileSVM(X, Y), {"tau": (0, 1), "lam": 1, "parts": 2}, "parts must be left out .*trace shorter lines"),
        (PROBLEM, {**EPS, "parts": 2}, "parts must be left out with eps, got 2: n_jobs alone"),
        (pc.MEMPM(X, Y), {"eps": 1e-2, "theta": (0.2, 0.5), "parts": 2}, "parts must be left out with eps"),
        (pc.MEMPM(X, Y), {"eps": 1e-2, "theta": (0.2, 0.5), "n_jobs": 2}, "n_jobs must be left out for MEMPM, got 2"),
    ],
)
def test_what_does_not_fit_is_refused(svm, given, said):
    with pytest.raises(pc.InputError, match=said):
        pc.trace(svm, **given)


def test_a_path_within_eps_is_within_it():
    path = pc.trace(PROBLEM, *ENDS, eps=1e-3)
    assert type(path).__name__ == "ConePath"
    for t in np.linspace(0, 1, 7):
        v = max(3 - 4 * t, 1.0)
        assert path.value(float(t)) == pytest.approx((v - 3) ** 2 / 2 + 4 * t * v, rel=1e-3, abs=1e-2)
    assert type(pc.trace(SVM, C_plus=(0.5, 1.5), C_minus=1.0, eps=1e-2)).__name__ == "ConePath"


def test_what_is_no_quadratic_program_has_a_remedy():
    x = cp.Variable(2, name="x")
    curved = cp.Problem(cp.Minimize(cp.norm2(x - 1) + TH * x[0]), [x >= 0])
    with pytest.raises(pc.InputError, match=r"that needs a cone\. Pass eps=1e-4"):
        pc.trace(curved, *ENDS)
    equation = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(1 + TH) * x[0] + x[1] == 1])
    with pytest.raises(pc.InputError, match=r"Pass eps=1e-4 for .*curve=True for .* or use sweep"):
        pc.trace(equation, *ENDS)
    power = cp.sum(cp.power(x, 1.5, approx=False))
    neither = cp.Problem(cp.Minimize(power), [(1 + TH) * x[0] + x[1] == 1])
    with pytest.raises(pc.InputError, match="Use sweep, which solves it at values of its parameters"):
        pc.trace(neither, *ENDS)


def test_what_is_a_problem_of_cvxpy_and_what_has_paths_in_its_own_names():
    assert tracing._of_cvxpy(PROBLEM)
    assert tracing._of_cvxpy(type("Own", (cp.Problem,), {})(cp.Minimize(V)))
    assert not any(tracing._of_cvxpy(each) for each in (cp.Problem, QP, SVM, V, 3))
    own = {"C_plus": 1, "C_minus": (1, 2), "start": None}
    assert tracing._by_its_own_names(SVM, own)
    assert not tracing._by_its_own_names(SVM, own | {"start": (1, 1)})
    assert not tracing._by_its_own_names(SVM, {"C_plus": 1})
    assert not tracing._by_its_own_names(pc.QuantileSVM(X, Y), {"tau": (0, 1), "lam": 0.1})
    assert not any(tracing._by_its_own_names(each, own) for each in (pc.TwoCSVM, PROBLEM, SimpleNamespace(lines=None)))
    undeclared = type("Undeclared", (), {"lines": None, "primal_model": None})()
    assert tracing._by_its_own_names(undeclared, {})


@pytest.mark.parametrize(
    ("problem", "values", "value"),
    [(PROBLEM, {}, 2.5), (QP, {}, -4.5), (SVM, {"C_plus": 1.0, "C_minus": 1.0}, None)],
)
def test_the_certificate_of_one_program_proves_its_optimum(problem, values, value, tmp_path):
    TH.value = 1.0
    save_point(problem, tmp_path / "point.json", **values)
    content = json.loads((tmp_path / "point.json").read_text())
    expected = SVM.solve(**values).value if value is None else value
    assert check.check(content["problem"], content["segments"])[0][0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(
    ("problem", "values", "said"),
    [
        (PROBLEM, {"th": 1}, r"th must be left out: parameters of a cvxpy\.Problem have values"),
        (QP, {"th": 1}, "th must be left out"),
        (3, {}, "problem must be a cvxpy.Problem or a formulation, got"),
        (pc.TwoCSVM, {}, "problem must be a cvxpy.Problem or a formulation, got"),
    ],
)
def test_no_certificate_is_written_of_anything_else(problem, values, said, tmp_path):
    with pytest.raises(pc.InputError, match=said):
        save_point(problem, tmp_path / "point.json", **values)
