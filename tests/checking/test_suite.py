"""A solver against hard cases: ends of trials, exact errors of values, lines that are not followed, and the table."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.svm import SVC, NuSVC

import paretoclf as pc

CASES = {case.name: case for case in pc.datasets.hard_cases()}
TWO, JUMPS, AXIS = (CASES[name] for name in ("two points", "jumps of b", "from an axis"))


def right(X, y, C_plus, C_minus):
    return pc.trace(pc.TwoCSVM(X, y), (C_plus, C_minus), (C_plus, C_minus)).at(0.0)


def numbers(X, y, C_plus, C_minus):
    found = right(X, y, C_plus, C_minus)
    return found.alpha, found.classifier.b


def swapped(X, y, C_plus, C_minus):
    return right(X, y, C_minus, C_plus)


def knots(X, y, start, stop):
    path = pc.trace(pc.TwoCSVM(X, y), start, stop)
    P = path.pieces
    ends = [(j, end) for j in range(P.t.size - 1) for end in (0, 1)]
    return [
        (*path.costs(float(P.t[j + end])), path.alpha(float(P.t[j + end])), (P.b0, P.b1)[end][j]) for j, end in ends
    ]


def values_of(case, t, w, b):
    """Objective of a slope and an intercept at t, in fractions, from the definition."""
    ends = zip(tuple(case.line.start), tuple(case.line.stop), strict=True)
    plus, minus = ((1 - Fraction(t)) * Fraction(u) + Fraction(t) * Fraction(v) for u, v in ends)
    total = sum(Fraction(v) ** 2 for v in w) / 2
    for row, label in zip(case.X, case.y, strict=True):
        score = sum(Fraction(u) * Fraction(v) for u, v in zip(row, w, strict=True)) + Fraction(b)
        total += (plus if label > 0 else minus) * max(Fraction(0), 1 - int(label) * score)
    return total


@pytest.mark.parametrize("solver", [right, numbers, lambda *given: numbers(*given)[0]])
def test_solvers_that_are_right_in_every_form(solver):
    report = pc.verify_solver(solver, cases=[JUMPS])
    assert report.passes(), report
    assert len(report) == 9
    assert [trial.costs for trial in report] == [tuple(costs) for costs in JUMPS.costs.tolist()]
    assert {trial.case for trial in report} == {"jumps of b"}
    assert all(abs(trial.value_error) < 1e-9 for trial in report)


def test_an_error_of_the_value_is_exact():
    def worse(X, y, C_plus, C_minus):
        rule = right(X, y, C_plus, C_minus).classifier
        return {"w": 1.1 * rule.w, "b": rule.b}

    report = pc.verify_solver(worse, cases=[TWO])
    for t, trial in list(zip(TWO.t, report, strict=True))[1::3]:
        rule = right(TWO.X, TWO.y, *trial.costs).classifier
        best = TWO.optimum(float(t)).value
        error = values_of(TWO, float(t), 1.1 * rule.w, rule.b) / best - 1
        assert trial.value_error == pytest.approx(float(error), rel=1e-9)
        assert trial.end == "not optimal"


def test_costs_that_a_solution_has_itself_are_said_where_it_is_wrong():
    report = pc.verify_solver(swapped, cases=[JUMPS])
    wrong = [trial for trial in report if trial.end != "optimal"]
    assert wrong
    for trial in wrong:
        plus, minus = trial.costs
        assert trial.words.endswith(f"(its own costs are ({minus:.6g}, {plus:.6g}))")
    assert not any("its own costs" in trial.words for trial in report if trial.end == "optimal")


def test_where_the_optimum_is_zero_errors_are_relative_to_the_costs():
    trial = pc.verify_solver(lambda X, y, C_plus, C_minus: {"alpha": 0.0 * y, "b": -0.999}, cases=[AXIS])[0]
    assert trial.costs[0] == 0.0
    assert trial.value_error == pytest.approx(1e-3, rel=1e-9)  # three costs of 1, and each pays this
    assert trial.end == "not optimal"


def test_solvers_that_fail_are_told_apart():
    def raising(X, y, C_plus, C_minus):
        raise ZeroDivisionError("no  luck\n" + 300 * "x")

    def several(X, y, C_plus, C_minus):
        return {"alpha": np.zeros((2, y.size))}

    words = {
        raising: "ZeroDivisionError: no luck xxx",
        several: "InputError: solver must return one solution, got 2",
        (lambda *given: "alpha"): "InputError: ",
        (
            lambda X, y, *costs: NuSVC(kernel="linear", nu=0.9).fit(X, y)
        ): "InputError: solver must solve the TwoCSVM it was",
        (lambda X, y, *costs: right(X + 1.0, y, *costs)): "InputError: X and y must be what the Solution was made for",
    }
    for solver, begin in words.items():
        report = pc.verify_solver(solver, cases=[TWO])
        assert report.counts() == {"not optimal": 0, "failed": 9, "undecided": 0, "optimal": 0}
        assert report[3].words.startswith(begin)
        assert len(report[3].words) <= 219
        assert np.isnan(report[3].value_error)
        assert not report.passes()


def test_lines_that_are_followed():
    for solver in (knots, lambda X, y, start, stop: pc.trace(pc.TwoCSVM(X, y), start, stop)):
        report = pc.verify_solver(solver, path=True, cases=[JUMPS, TWO, AXIS])
        assert report.passes(), report
        assert len(report) == 3
        assert report[0].costs == tuple(JUMPS.line.start)
        assert report[0].words == "optimal"
        assert max(abs(trial.value_error) for trial in report) < 1e-9


def test_lines_that_are_not_followed():
    def bent(X, y, start, stop):
        middle = tuple((0.5 * (np.array(start) + np.array(stop)) * [1.5, 0.75]).tolist())
        return [*knots(X, y, start, middle), *knots(X, y, middle, stop)]

    def begun(X, y, start, stop):
        return knots(X, y, start, tuple((0.75 * np.array(start) + 0.25 * np.array(stop)).tolist()))

    def ended(X, y, start, stop):
        return knots(X, y, tuple((0.25 * np.array(start) + 0.75 * np.array(stop)).tolist()), stop)

    def sparse(X, y, start, stop):
        found = knots(X, y, start, stop)
        return [found[0], found[-1]]

    def pushed(X, y, start, stop):
        found = knots(X, y, start, stop)
        plus, minus, alpha, b = found[2]
        return [*found[:2], (plus, minus, alpha, b + 0.5), *found[3:]]

    def of_samples(X, y, start, stop):
        ends = [pc.SampleCosts(np.where(y > 0, *end)) for end in (start, stop)]
        return pc.trace(pc.TwoCSVM(X, y), *ends)

    words = {
        bent: "is off the line: its costs (",
        begun: "the path goes from (",
        ended: "the path goes from (",
        sparse: "between knots 0 and 1: not optimal",
        pushed: "knot 2: not optimal",
    }
    for solver, said in words.items():
        trial = pc.verify_solver(solver, path=True, cases=[JUMPS])[0]
        assert trial.end == "not optimal", solver
        assert said in trial.words
    row = knots(JUMPS.X, JUMPS.y, tuple(JUMPS.line.start), tuple(JUMPS.line.stop))[2]
    w = JUMPS.X.T @ (JUMPS.y * row[2])
    k = next(k for k in (0, 1) if tuple(JUMPS.line.start)[k] != tuple(JUMPS.line.stop)[k])
    first, last = Fraction(tuple(JUMPS.line.start)[k]), Fraction(tuple(JUMPS.line.stop)[k])
    t = (Fraction(row[k]) - first) / (last - first)
    error = values_of(JUMPS, t, w, row[3] + 0.5) / JUMPS.optimum(t).value - 1
    assert trial.value_error == pytest.approx(float(error), rel=1e-6)  # of the worst knot
    trial = pc.verify_solver(of_samples, path=True, cases=[JUMPS])[0]
    assert (trial.end, trial.words) == (
        "failed",
        "InputError: solver must return solutions of the costs C_plus and C_minus, got costs of the samples",
    )


def test_the_table():
    report = pc.verify_solver(swapped, cases=[TWO, JUMPS])
    lines = repr(report).splitlines()
    assert lines[0].split()[:5] == ["case", "optimal", "undecided", "failed", "not"]
    counts = report.counts("jumps of b")
    assert lines[1].split()[:6] == ["two", "points", "9", "0", "0", "0"]
    assert lines[2].split()[3:7] == [str(counts[end]) for end in ("optimal", "undecided", "failed", "not optimal")]
    first = next(trial for trial in report if trial.end == "not optimal")
    assert lines[2].endswith(f"  at {first.costs}: {first.words}")
    largest = max(abs(trial.value_error) for trial in report if trial.case == "jumps of b")
    assert f" {largest:.1e} " in lines[2]
    total = sum(counts.values())
    assert lines[3] == report.summary
    assert report.summary.startswith(f"swapped: 18 trials at tolerance 1e-08: {counts['not optimal']} not optimal, ")
    assert total == 9
    assert [row["end"] for row in report.records()] == [trial.end for trial in report]
    failed = pc.verify_solver(lambda *given: 3, cases=[TWO])
    assert "            -" in repr(failed)
    assert failed.name == "<lambda>"


def test_what_is_refused():
    with pytest.raises(pc.InputError, match=r"solver must be a callable, .* got int"):
        pc.verify_solver(3)
    for cases in ([], [1], "two points", 5):
        with pytest.raises(pc.InputError, match=r"cases must be some of paretoclf\.datasets\.hard_cases\(\)"):
            pc.verify_solver(right, cases=cases)
    with pytest.raises(pc.InputError, match=r"tol must be .*positive"):
        pc.verify_solver(right, cases=[TWO], tol=0)
    assert pc.verify_solver(lambda X, y, *costs: SVC(kernel="linear", C=0.5).fit(X, y), cases=[TWO], tol=9.0).tol == 9.0
