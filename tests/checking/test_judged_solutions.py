"""Verdicts on many solutions: classes, tolerance, words and the table."""

from __future__ import annotations

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.checking.between import Stretch
from paretoclf.checking.judged_solutions import Verification, outside_box, verdict_of
from paretoclf.checking.libsvm import Kept
from paretoclf.common.tables import SHOWN, and_more, rounded_up
from paretoclf.proof.verdicts.certificate import Certificate

# Two points at -1 and 1, costs 1: alpha = (1/2, 1/2), w = 1, b = 0; multipliers (1/2 - e, 1/2 - e) leave the margins
# 2 e short, and primal and dual values 2 e apart.
X, Y = np.array([[-1.0], [1.0]]), np.array([-1, 1])


def short(e, b=0.0):
    return 1.0, 1.0, [0.5 - e, 0.5 - e], b


def test_verdicts_are_classes_that_say_by_how_much():
    report = pc.verify(X, Y, [short(0.0), short(0.2), short(1e-5), short(0.1), short(1e-12)])
    assert report.classes == {"not optimal": (1, 2, 3), "undecided": (), "optimal": (0, 4)}
    assert [report.verdict(k) for k in (0, 2)] == ["optimal", "not optimal to 1e-08: optimal to 4e-05"]
    assert report.verdict(1) == "not optimal: a sample off its margin is not at its bound (by 2e-01), sample 0"
    assert report[2].off_by == pytest.approx(4e-5, rel=1e-3)  # the gap 2 e, relative to the value 1/2
    assert report.first_failure() == 1
    assert not report.passes()
    lines = repr(report).splitlines()
    assert [line.split("  ")[-1] for line in lines[1:6]] == [report.verdict(k) for k in range(5)]
    assert lines[6] == "3 not optimal, 2 of 5 optimal to 1e-08"
    assert lines[7].startswith("first not optimal: #1: ")
    assert len(lines) == 8


def test_the_worst_solution_is_named_with_its_distance_where_it_is_not_the_first_that_fails():
    report = pc.verify(X, Y, [short(0.0), short(1e-5), short(0.2), short(0.1)])
    assert report.worst == 2
    assert report[2].off_by == max(each.off_by for each in report) > 10 * report[1].off_by
    lines = repr(report).splitlines()
    assert lines[-2].startswith("first not optimal: #1: ")
    assert lines[-1] == f"worst: #2, off by {report[2].off_by:.1e}"
    assert "worst: #" not in repr(pc.verify(X, Y, [short(0.0), short(1e-12)]))


def test_the_tolerance():
    solutions = [short(0.0), short(1e-5)]
    assert pc.verify(X, Y, solutions, tol=1e-3).passes()
    assert pc.verify(X, Y, solutions, tol=1e-3).classes["optimal"] == (0, 1)
    assert pc.verify(X, Y, solutions, tol=1e-3).first_failure(1e-6) == 1
    assert not pc.verify(X, Y, solutions, tol=1e-5).passes()
    assert "tolerance 1e-05)" in repr(pc.verify(X, Y, solutions, tol=1e-5))
    for bad in (0, -1.0, np.nan, "small"):
        with pytest.raises(pc.InputError, match=r"tol must be .*positive"):
            pc.verify(X, Y, solutions, tol=bad)


def test_a_gap_that_rounding_makes_is_named_in_the_verdict():
    """Costs 1e13 apart: a margin that is met up to rounding costs its rounding times the larger one."""
    X, y = np.array([[0.67], [0.08], [0.49], [0.25], [1.42]]), [1, -1, 1, -1, 1]
    report = pc.verify(X, y, [(1e-8, 1e5, [1e-8, 0.0, 1e-8, 3.0000000000000004e-08, 1e-8], -1.000000004575)])
    assert report.passes()
    assert report.verdict(0).startswith("optimal up to rounding, which makes a gap of ")  # of 2e-04 or so
    assert "optimal up to rounding" in repr(report)


def certificate(gap=0.0, value=1.0, **more):
    """A certificate with no residuals, of a point that is feasible."""
    zeros = {"primal": {}, "dual": {}, "slackness": {}}
    bounds = {"primal_value": value, "dual_value": value - gap, "gap": gap, "scale": max(value, 1.0)}
    return Certificate(**{**bounds, **zeros, **more})


def test_costs_are_those_of_each_solution():
    report = pc.verify(X, Y, [(1, 2, [0.5, 0.5], 0.0), (3, 4, [0.5, 0.5], 0.0)])
    assert report.costs == (pc.Costs(1, 2), pc.Costs(3, 4))
    report = pc.verify(pc.TwoNuSVM(X, Y), [(0.5, 0.5, [0.25, 0.25], 0.0)])
    with pytest.raises(pc.InputError, match="these solutions have no costs but nu, asymmetry"):
        _ = report.costs


def test_the_rows_of_the_table():
    report = pc.verify(X, Y, [short(0.0), short(0.1)])
    rows = report.records()
    for k, row in enumerate(rows):
        judged = report[k]
        assert (row["C_plus"], row["C_minus"]) == (1.0, 1.0)
        assert (row["lower"], row["upper"]) == (judged.dual_value, judged.primal_value)
        assert (row["gap"], row["residual"], row["off_by"]) == (judged.gap, judged.residual, judged.off_by)
        assert row["optimal"] == (row["verdict"] == "optimal") == (k == 0)
        assert row["explanation"] == judged.explain(1e-8)
    costs = pc.SampleCosts(np.array([1.0, 2.0]))
    path = pc.trace(pc.TwoCSVM(X, Y), costs, costs)
    table = pc.verify(X, Y, path.at(0.0))
    assert "costs" not in table.records()[0]
    assert repr(table).splitlines()[0].split() == ["#", "gap", "residual", "verdict"]


def test_a_long_table_is_cut():
    report = pc.verify(X, Y, [short(0.0)] * (SHOWN + 3))
    lines = repr(report).splitlines()
    assert len(lines) == SHOWN + 3
    assert lines[SHOWN + 1] == and_more(3)
    assert lines[SHOWN].split()[0] == str(SHOWN - 1)
    assert "more" not in repr(pc.verify(X, Y, [short(0.0)] * SHOWN))


def test_segments_are_counted_by_their_verdict():
    good, bad = certificate(), certificate(0.5)
    segments = (
        Stretch(0, 1, "optimal", good),
        Stretch(1, 2, "not optimal", bad, 0.25),
        Stretch(2, 3, "undecided", bad),
        Stretch(3, 4, "not optimal", bad, 0.5),
    )
    report = Verification(({},) * 5, (good,) * 5, 1e-8, segments)
    assert report.first_failure() is None
    assert not report.passes()
    assert Verification(({},) * 2, (good,) * 2, 1e-8, segments[:1]).passes()
    lines = repr(report).splitlines()
    assert lines[-3] == "between: 2 not optimal, 1 undecided, 1 optimal of 4 stretches"
    assert lines[-2] == f"first not optimal: from #1 to #2, 25 % of the way: {bad.explain(1e-8)}"
    assert lines[-1] == f"first undecided: from #2 to #3: {bad.explain(1e-8)}"


def test_solutions_that_keep_a_tolerance_of_their_own():
    kept = Kept(1e-3, 5e-4, 1e-3)
    near = certificate(1e-5)
    report = Verification(({},) * 3, (near, certificate(), near), 1e-8, kept={0: kept, 2: kept})
    assert report.passes()
    assert report.classes["optimal"] == (0, 1, 2)
    assert report.verdict(0) == kept.verdict(f"{rounded_up(1e-5)} of 1")
    assert report.verdict(1) == "optimal"
    assert report.summary == "3 of 3 optimal: 1 to 1e-08, 2 as LIBSVM's tol asks"
    assert repr(report).splitlines()[-1].startswith("first as its tol asks: #0: ")
    alone = Verification(({},), (near,), 1e-8, kept={0: kept})
    assert alone.summary == "1 of 1 optimal: 1 as LIBSVM's tol asks"
    assert alone.first_failure(1e-8) == 0
    assert Verification(({},), (near,), 1e-8).summary.endswith("0 of 1 optimal to 1e-08")


def test_a_hint_is_for_multipliers_that_leave_their_box_by_far():
    for size, hinted in ((0.5, True), (1e-4, False)):
        judged = certificate(dual={"box": size})
        assert outside_box(judged) == size
        report = Verification(({},), (judged,), 1e-8, hint="or weighted")
        assert report.verdict(0).endswith(", or weighted") == hinted
        assert not Verification(({},), (judged,), 1e-8).verdict(0).endswith("or weighted")
    assert outside_box(certificate(dual={"stationarity": 0.5, "upper: sign": 0.25})) == 0.25
    assert outside_box(certificate()) == 0.0


def test_words_of_a_verdict():
    assert verdict_of(certificate(), 1e-8) == "optimal"
    assert verdict_of(certificate(1e-6), 1e-5) == f"optimal to {rounded_up(1e-6)}"
    assert verdict_of(certificate(1e-5), 1e-8).endswith(f" to 1e-08: optimal to {rounded_up(1e-5)}")
    assert verdict_of(certificate(0.5, shortfall=0.5), 1e-8) == "not optimal: value off by 5e-01 of 1"
    assert verdict_of(certificate(0.5, shortfall=0.0), 1e-8).startswith("undecided: ")
    infeasible = certificate(primal={"margin": 0.3, "other": 0.1}, worst="margin 4", worst_side="")
    text = max(infeasible.checks, key=infeasible.checks.get)
    assert verdict_of(infeasible, 1e-8) == f"not optimal: {text} (by 3e-01), {infeasible.where}"
    nan = certificate(primal={"margin": np.nan, "other": 0.1})
    assert "(by nan)" in verdict_of(nan, 1e-8)
