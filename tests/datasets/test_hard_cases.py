"""The hard cases: their optima proved by weak duality in fractions; and the suite, with right and wrong solvers."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.cli import main
from tests.oracles.exact_criss_cross import criss_cross

CASES = {case.name: case for case in pc.datasets.hard_cases()}
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


def knots(X, y, start, stop):
    path = pc.trace(pc.TwoCSVM(X, y), start, stop)
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
    counts = pc.verify_solver(libsvm, cases=QUICK[1:2], tol=1e-6).counts()
    assert counts["optimal"] + counts["loose"] == 9
    report = pc.verify_solver(wrong, cases=QUICK)
    assert report.counts()["wrong"] > 10
    assert report.counts("two points") == {"wrong": 0, "failed": 0, "undecided": 0, "loose": 0, "optimal": 9}
    assert "wrong: " in repr(report)


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
    assert [trial.end for trial in report] == ["wrong"] * 4
    assert report[1].words.startswith("between knots 0 and 1: wrong")
    report = pc.verify_solver(short, path=True, cases=QUICK[1:2])
    assert report[0].words.startswith("the path goes from ")


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
    assert json.loads(capsys.readouterr().out)["counts"]["wrong"] == 17
    for given, message in (
        ("nowhere.py:solve", "--suite must be a Python file or a module, got nowhere.py: no such file"),
        (f"{tmp_path / 'mine.py'}:best", "there is no function best in"),
        ("solve", "--suite must be MODULE:FUNCTION or FILE.py:FUNCTION, got solve"),
    ):
        assert main(["verify", "--suite", given]) == 2
        assert message in capsys.readouterr().err
    assert main(["verify"]) == 2
    assert "FILE and --data must be given, or --suite" in capsys.readouterr().err
