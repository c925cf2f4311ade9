"""The hard cases: their optima proved by weak duality in fractions; and the suite, with right and wrong solvers."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC, NuSVC

import paretoclf as pc
from paretoclf.cli import main
from tests.oracles.exact_criss_cross import criss_cross

CASES = {case.name: case for case in pc.datasets.hard_cases()}
NOT = "not optimal"
QUICK = [CASES[name] for name in ("two points", "jumps of b", "all on one point", "from an axis")]


def bounds(case, t):
    """Primal and dual objective of what a case calls the optimum at t; nothing of the package computes them."""
    t, best = Fraction(t), case.optimum(t)
    ends = [(Fraction(c.C_plus), Fraction(c.C_minus)) for c in (case.line.start, case.line.stop)]
    plus, minus = ((1 - t) * a + t * b for a, b in zip(*ends, strict=True))
    X, y = [[Fraction(v) for v in row] for row in case.X], [int(v) for v in case.y]
    w = [sum(a * c * row[j] for a, c, row in zip(best.alpha, y, X, strict=True)) for j in range(len(X[0]))]
    scores = [sum(u * v for u, v in zip(w, row, strict=True)) + best.b for row in X]
    caps = [plus if label > 0 else minus for label in y]
    assert all(0 <= a <= c for a, c in zip(best.alpha, caps, strict=True))
    assert sum(a * label for a, label in zip(best.alpha, y, strict=True)) == 0
    half = sum(v * v for v in w) / 2
    paid = sum(c * max(Fraction(0), 1 - label * f) for c, label, f in zip(caps, y, scores, strict=True))
    return half + paid, sum(best.alpha) - half


@pytest.mark.parametrize("name", CASES)
def test_optima_are_exact(name):
    """A primal and a dual point with one value, in fractions: no tracker need be believed."""
    case = CASES[name]
    points = [*case.t, *case.breakpoints[1:4], Fraction(1, 3)]
    for t in points if name != "one against a hundred" else points[::4]:
        primal, dual = bounds(case, t)
        assert primal == dual == case.optimum(t).value


@pytest.mark.parametrize("name", ["jumps of b", "both labels on one point", "collinear"])
def test_optima_are_those_of_another_exact_method(name):
    case = CASES[name]
    Z = np.array([[Fraction(v) for v in row] for row in case.X], dtype=object)
    start, stop = (np.where(case.y > 0, *map(Fraction, end)) for end in (case.line.start, case.line.stop))
    other = criss_cross(Z @ Z.T, case.y, start, stop - start)
    for t in [Fraction(float(t)) for t in case.t]:
        assert other.value(t) == case.optimum(t).value


def test_the_collection_has_what_it_says():
    for name, case in CASES.items():
        assert case.costs.shape == (9, 2)
        assert {-1.0, 1.0} == set(case.y)
        for t, costs in zip(case.t, case.costs, strict=True):  # doubles, exactly on the line
            for k, end in enumerate(("C_plus", "C_minus")):
                a, b = Fraction(getattr(case.line.start, end)), Fraction(getattr(case.line.stop, end))
                assert Fraction(costs[k]) == (1 - Fraction(t)) * a + Fraction(t) * b, name
    assert (CASES["one against a hundred"].y < 0).sum() == 100
    jumps = CASES["empty margin sets"].segments
    assert any(a.eta[1][0] != b.eta[0][0] for a, b in pairwise(jumps))
    assert len({tuple(x) for x in CASES["duplicates"].X}) < CASES["duplicates"].y.size
    assert abs(CASES["huge features"].X).max() > 1e6
    assert abs(CASES["tiny features"].X).max() < 1e-5


def test_our_paths_are_proved_on_all_of_them():
    def ours(X, y, start, stop):
        return pc.trace(pc.TwoCSVM(X, y), start, stop)

    report = pc.verify_solver(ours, path=True, cases=list(CASES.values()))
    assert report.passes(), report
    assert max(abs(trial.value_error) for trial in report) < 1e-9


# ---- the suite ---------------------------------------------------------------------------------------------------


def conic(X, y, C_plus, C_minus):
    return pc.TwoCSVM(X, y).solve(C_plus, C_minus)


def libsvm(X, y, C_plus, C_minus):
    return SVC(kernel="linear", class_weight={1: C_plus, -1: C_minus}, max_iter=10_000).fit(X, y)


def wrong(X, y, C_plus, C_minus):
    """The costs the other way round."""
    return conic(X, y, C_minus, C_plus).alpha


def raising(X, y, C_plus, C_minus):
    raise ZeroDivisionError("no luck")


def garbage(X, y, C_plus, C_minus):
    return "alpha"


def slope(X, y, C_plus, C_minus):
    rule = conic(X, y, C_plus, C_minus).classifier
    return {"w": rule.w, "b": rule.b}


def knots(X, y, start, stop, svm=None):
    path = pc.trace(svm or pc.TwoCSVM(X, y), start, stop)
    P = path.pieces
    return [
        (*path.costs(t), path.alpha(t), (P.b0, P.b1)[end][j])
        for j in range(P.t.size - 1)
        for end, t in ((0, float(P.t[j])), (1, float(P.t[j + 1])))
    ]


def two_knots(X, y, start, stop):
    """A line that knows of no event."""
    found = knots(X, y, start, stop)
    return [found[0], found[-1]]


def short(X, y, start, stop):
    return knots(X, y, start, stop)[:2]


def test_solvers_of_points():
    assert pc.verify_solver(conic, cases=QUICK).passes()
    assert pc.verify_solver(slope, cases=QUICK[:1]).passes()
    nearly = pc.verify_solver(libsvm, cases=QUICK[1:2], tol=1e-6)
    assert all(trial.words == "optimal" or ": optimal to " in trial.words for trial in nearly)
    report = pc.verify_solver(wrong, cases=QUICK)
    assert report.counts()["not optimal"] > 10
    assert report.counts("two points") == {"not optimal": 0, "failed": 0, "undecided": 0, "optimal": 9}
    assert "not optimal: " in repr(report)


def test_a_callable_that_raises_or_returns_nothing_to_judge():
    for solver, words in ((raising, "ZeroDivisionError: no luck"), (garbage, "InputError: ")):
        report = pc.verify_solver(solver, cases=QUICK[:1])
        assert report.counts()["failed"] == 9
        assert report[0].words.startswith(words)
        assert np.isnan(report[0].value_error)
    with pytest.raises(pc.InputError, match=r"solver must be a callable, .* got int"):
        pc.verify_solver(3)
    for cases in ([], [1], "two points", 5):  # no case at all was passed by every solver
        with pytest.raises(pc.InputError, match=r"cases must be some of paretoclf\.datasets\.hard_cases\(\)"):
            pc.verify_solver(conic, cases=cases)
    with pytest.raises(pc.InputError, match=r"tol must be .*positive"):
        pc.verify_solver(conic, tol=0)


def test_solvers_of_paths():
    assert pc.verify_solver(knots, path=True, cases=QUICK).passes()
    report = pc.verify_solver(two_knots, path=True, cases=QUICK)
    assert [trial.end for trial in report] == ["not optimal"] * 4
    assert report[1].words.startswith("between knots 0 and 1: not optimal")
    report = pc.verify_solver(short, path=True, cases=QUICK[1:2])
    assert report[0].words.startswith("the path goes from ")


# ---- answers to another question ----------------------------------------------------------------------------------


def line_of(case):
    return tuple(case.line.start), tuple(case.line.stop)


def tracked(X, y, C_plus, C_minus):
    return pc.trace(pc.TwoCSVM(X, y), (C_plus, C_minus), (C_plus, C_minus)).at(0.0)


def swapped(X, y, C_plus, C_minus):
    return tracked(X, y, C_minus, C_plus)


def always_one(X, y, C_plus, C_minus):
    return tracked(X, y, 1.0, 1.0)


def machine_of_one(X, y, C_plus, C_minus):
    return SVC(kernel="linear", C=1.0, tol=1e-10, max_iter=10_000).fit(X, y)


def of_other_weights(X, y, C_plus, C_minus):
    """Costs of samples, each three times the one asked for."""
    costs = pc.SampleCosts(3.0 * np.where(y > 0, C_plus, C_minus))
    return pc.trace(pc.TwoCSVM(X, y), costs, costs).at(0.0)


def numbers_of(solver):
    """The same answers as bare numbers, which never said what they are for."""

    def bare(X, y, C_plus, C_minus):
        given = solver(X, y, C_plus, C_minus)
        if isinstance(given, SVC):
            alpha = np.zeros(y.size)
            alpha[given.support_] = y[given.support_] * given.dual_coef_[0]
            return {"alpha": alpha, "b": given.intercept_[0]}
        return {"alpha": given.alpha, "b": given.classifier.b}

    return bare


def objective(case, t, w, b):
    """Of a slope and an intercept at t, in fractions."""
    t, w, b = Fraction(t), [Fraction(v) for v in w], Fraction(b)
    ends = zip(*line_of(case), strict=True)
    plus, minus = ((1 - t) * Fraction(u) + t * Fraction(v) for u, v in ends)
    slacks = [
        max(Fraction(0), 1 - int(c) * (sum(Fraction(u) * v for u, v in zip(row, w, strict=True)) + b))
        for row, c in zip(case.X, case.y, strict=True)
    ]
    return sum(v * v for v in w) / 2 + sum(
        (plus if c > 0 else minus) * xi for c, xi in zip(case.y, slacks, strict=True)
    )


@pytest.mark.parametrize("solver", [swapped, always_one, machine_of_one, of_other_weights])
def test_answers_for_other_costs_are_judged_at_the_costs_asked_for(solver):
    """Before: 135 of 135 optimal, with values off by up to 61 times the optimum."""
    report, bare = (pc.verify_solver(each, cases=QUICK) for each in (solver, numbers_of(solver)))
    assert not report.passes()
    assert [trial.end for trial in report] == [trial.end for trial in bare]
    for trial in report:
        assert trial.end != "optimal" or abs(trial.value_error) <= 1e-8
    worst = max(report, key=lambda trial: trial.value_error)
    assert worst.value_error > 0.1
    assert worst.end == NOT
    if solver is not of_other_weights:
        assert "(its own costs are " in worst.words


@pytest.mark.parametrize("key", ["costs", "C_plus"])
def test_a_mapping_cannot_choose_its_costs(key):
    def solver(X, y, C_plus, C_minus):
        found = tracked(X, y, C_minus, C_plus)
        costs = {"costs": (C_minus, C_plus)} if key == "costs" else {"C_plus": C_minus, "C_minus": C_plus}
        return {"alpha": found.alpha, "b": found.classifier.b, **costs}

    ends = [trial.end for trial in pc.verify_solver(solver, cases=QUICK)]
    assert ends == [trial.end for trial in pc.verify_solver(numbers_of(swapped), cases=QUICK)]


def test_answers_to_another_problem_have_failed():
    def several(X, y, C_plus, C_minus):
        return {"alpha": np.stack([tracked(X, y, C_plus, C_minus).alpha, np.ones(y.size)])}

    def curved(X, y, C_plus, C_minus):
        return SVC(kernel="rbf", class_weight={1: C_plus, -1: C_minus}).fit(X, y)

    def callable_kernel(X, y, C_plus, C_minus):
        return SVC(kernel=lambda A, B: (1 + A @ B.T) ** 2, class_weight={1: C_plus, -1: C_minus}).fit(X, y)

    def of_nu(X, y, C_plus, C_minus):
        return NuSVC(kernel="linear", nu=0.2).fit(X, y)

    def without_intercept(X, y, C_plus, C_minus):
        return LinearSVC(class_weight={1: C_plus, -1: C_minus}).fit(X, y)

    def shifted(X, y, C_plus, C_minus):
        return tracked(X + 1.0, y, C_plus, C_minus)

    words = {
        several: "must return one solution, got 2",
        curved: "kernel must be that of the model",
        callable_kernel: "kernel must be that of the model",
        of_nu: "must solve the TwoCSVM it was given, got a TwoNuSVM",
        without_intercept: "must solve the TwoCSVM it was given, got a ThroughTheOrigin",
        shifted: "X and y must be what the Solution was made for",
    }
    for solver, wanted in words.items():
        for trial in pc.verify_solver(solver, cases=[CASES["unequal classes"]])[1:3]:
            assert trial.end == "failed"
            assert wanted in trial.words


def test_values_are_compared_with_the_exact_optimum_whatever_the_certificate_says():
    """Large features and costs: slacks that double precision calls 0 are all of the objective."""
    X = np.round(np.random.default_rng(0).normal(size=(6, 2)) * 1e6)
    costs = pc.Costs(0.5e6, 0.5e6)
    case = pc.datasets.HardCase("large", "", X, np.sign(X[:, 0]), pc.results.CostLine(costs, costs))
    given = {}

    def rounded(X, y, C_plus, C_minus):
        best = case.optimum(0)
        given["alpha"], given["b"] = np.array([float(a) for a in best.alpha]), float(best.b)
        given["w"] = X.T @ (y * given["alpha"])
        return given

    for trial in pc.verify_solver(rounded, cases=[case])[:1]:
        best = case.optimum(0).value
        error = objective(case, 0, given["w"], given["b"]) / best - 1
        assert error > 1
        assert trial.value_error == pytest.approx(float(error), rel=1e-12)
        assert trial.end == NOT


def test_where_the_optimum_is_zero_errors_are_relative_to_the_costs():
    """A positive costs nothing: w = 0, b = -1. Before: "value off by 1e+00" for an intercept of -1 + 8e-11."""
    case = CASES["from an axis"]

    def solver(b):
        return lambda X, y, C_plus, C_minus: {"alpha": np.zeros(y.size), "b": b}

    for off, end in ((8e-11, "optimal"), (1e-3, NOT)):
        trial = pc.verify_solver(solver(-1.0 + off), cases=[case])[0]
        assert trial.costs[0] == 0.0
        assert trial.end == end
        assert trial.value_error == pytest.approx(off, rel=1e-3)  # of three costs of 1, each pays this
        row = (*trial.costs, np.zeros(case.y.size), -1.0 + off)
        assert pc.verify(case.X, case.y, [row]).passes() == (end == "optimal")


def through(middle):
    """Exact knots of the two lines from the start to a point and from there to the stop."""

    def solver(X, y, start, stop):
        svm = pc.TwoCSVM(X, y)
        return [*knots(X, y, start, middle, svm), *knots(X, y, middle, stop, svm)]

    return solver


@pytest.mark.parametrize("name", CASES)
def test_a_path_that_is_bent_off_its_line_is_not_that_path(name):
    """Before: optimal on 9 of 16, as both ends are right."""
    case = CASES[name]
    a, b = (np.array(end) for end in line_of(case))
    on, off = 0.25 * a + 0.75 * b, (0.25 * a + 0.75 * b) * np.array([1.5, 0.75])
    assert pc.verify_solver(through(tuple(on)), path=True, cases=[case])[0].end == "optimal"
    trial = pc.verify_solver(through(tuple(off)), path=True, cases=[case])[0]
    assert trial.end == NOT
    assert "is off the line" in trial.words


def test_a_path_that_returns_beyond_its_end_or_has_costs_of_samples():
    case = CASES["from an axis"]
    a, b = (np.array(end) for end in line_of(case))
    beyond = through(tuple(a + 1.25 * (b - a)))
    assert pc.verify_solver(beyond, path=True, cases=[case])[0].end == NOT

    def of_samples(X, y, start, stop):
        ends = (pc.SampleCosts(np.where(y > 0, *end)) for end in (start, stop))
        return pc.trace(pc.TwoCSVM(X, y), *ends)

    trial = pc.verify_solver(of_samples, path=True, cases=[case])[0]
    assert trial.end == "failed"
    assert "solutions of the costs C_plus and C_minus, got costs of the samples" in trial.words


def test_the_value_error_of_a_path_is_the_largest_of_all_its_knots():
    case = QUICK[1]

    def pushed(X, y, start, stop):
        found = knots(X, y, start, stop)
        plus, minus, alpha, b = found[2]
        return [*found[:2], (plus, minus, alpha, b + 0.5), *found[3:]]

    trial = pc.verify_solver(pushed, path=True, cases=[case])[0]
    plus, minus, alpha, b = knots(case.X, case.y, *line_of(case))[2]
    t = next(i for i, (u, v) in enumerate(zip(*line_of(case), strict=True)) if u != v)
    at = (Fraction((plus, minus)[t]) - Fraction(line_of(case)[0][t])) / (
        Fraction(line_of(case)[1][t]) - Fraction(line_of(case)[0][t])
    )
    error = objective(case, at, case.X.T @ (case.y * alpha), b + 0.5) / case.optimum(at).value - 1
    assert trial.value_error == pytest.approx(float(error), rel=1e-9)
    assert trial.end == NOT


def test_the_report_as_a_frame():
    pytest.importorskip("pandas")
    frame = pc.verify_solver(conic, cases=QUICK[:1]).to_frame()
    assert list(frame["end"]) == ["optimal"] * 9


SOLVERS = """
import paretoclf as pc
def good(X, y, C_plus, C_minus):
    return pc.TwoCSVM(X, y).solve(C_plus, C_minus).alpha
def lazy(X, y, C_plus, C_minus):
    return 0.0 * y
"""


def test_the_suite_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("paretoclf.checking.suite.hard_cases", lambda: QUICK[:2])
    (tmp_path / "mine.py").write_text(SOLVERS)
    assert main(["verify", "--suite", f"{tmp_path / 'mine.py'}:good"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "good: 18 trials at tolerance 1e-08: 18 optimal"
    assert main(["verify", "--suite", f"{tmp_path / 'mine.py'}:lazy", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["counts"]["not optimal"] == 17
    for given, message in (
        ("nowhere.py:solve", "--suite must be a Python file or a module, got nowhere.py: no such file"),
        (f"{tmp_path / 'mine.py'}:best", "there is no function best in"),
        ("solve", "--suite must be MODULE:FUNCTION or FILE.py:FUNCTION, got solve"),
    ):
        assert main(["verify", "--suite", given]) == 2
        assert message in capsys.readouterr().err
    assert main(["verify"]) == 2
    assert "FILE and --data must be given, or PAIRS.py, or MODEL.mps, or --suite" in capsys.readouterr().err
