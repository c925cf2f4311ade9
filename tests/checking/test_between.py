"""Segments between the rows of a path: proved where the path is affine, refuted where a knot is left out."""

from __future__ import annotations

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.checking.between import DEPTH, _complete, _proofs, stretches
from paretoclf.checking.rows import Row


def knots_of(path):
    """A path as its breakpoints, twice where b jumps."""
    P = path.pieces
    return [
        (*path.costs(t), path.alpha(t), (P.b0, P.b1)[end][j])
        for j in range(P.t.size - 1)
        for end, t in ((0, float(P.t[j])), (1, float(P.t[j + 1])))
    ]


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)], ids=["linear", "rbf"])
def test_a_foreign_path_is_proved_between_its_knots_and_refuted_where_one_is_left_out(gaussians, kernel):
    X, y = gaussians(10, 2, seed=4)
    path = pc.trace(pc.TwoCSVM(X, y, kernel), (0.3, 1.0), (1.0, 0.3))
    knots = knots_of(path)
    report = pc.verify(X, y, knots, kernel, between=True)
    assert report.passes(), report
    refuted = 0
    for j in range(1, len(path.pieces.t) - 1):  # without the breakpoint j: perfect at both ends
        fewer = [*knots[: 2 * j - 1], *knots[2 * j + 1 :]]
        report = pc.verify(X, y, fewer, kernel, between=True)
        assert report.first_failure() is None
        bad = [s for s in report.stretches if s.status != "optimal"]
        assert all(s.first == 2 * j - 2 and s.status == "not optimal" and 0 < s.share < 1 for s in bad)
        refuted += len(bad)
        if bad:
            assert not report.passes()
            assert f"first not optimal: from #{2 * j - 2} to #{2 * j - 1}" in repr(report)
    assert refuted > 2


def test_knots_of_nu_and_of_tau(gaussians):
    X, y = gaussians(14, 2, seed=1)
    nu = pc.TwoNuSVM(X, y, pc.RBF(1.0))
    path = pc.trace(nu, nu=(0.2, 0.4), asymmetry=0.5)
    knots = [path.at(float(t)) for t in path.pieces.t]
    rows = [{"nu": k.values["nu"], "asymmetry": 0.5, "alpha": k.alpha, "b": k.numbers["b"]} for k in knots]
    report = pc.verify(nu, rows, between=True)
    assert report.first_failure() is None
    jumps = path.pieces.b0[1:] != path.pieces.b1[:-1]
    proved = [s.status == "optimal" for s in report.stretches]
    assert sum(proved) >= len(proved) - 2 * jumps.sum()
    assert not pc.verify(nu, [rows[0], rows[-1]], between=True).passes()
    tau = pc.QuantileSVM(X, y)
    path = pc.trace(tau, tau=(0.2, 0.8), lam=0.1)
    rows = [(float(t), 0.1, path.at(float(t)).alpha) for t in path.pieces.t]
    assert pc.verify(tau, rows, between=True).passes()
    assert not pc.verify(tau, [rows[0], rows[-1]], between=True).passes()
    with pytest.raises(pc.InputError, match="lam must be the same at all knots"):
        pc.verify(tau, [rows[0], (0.8, 0.2, rows[-1][2])], between=True)


def test_a_slope_that_goes_its_own_way_between_knots_is_refuted():
    X, y = np.array([[-1.0], [1.0]]), [-1, 1]
    rows = [{"C_plus": c, "C_minus": c, "alpha": [c, c], "w": [2 * c], "b": 0.0} for c in (0.1, 0.2, 0.5)]
    assert pc.verify(X, y, rows, between=True).passes()
    rows[1]["w"] = [0.5]
    assert [s.status for s in pc.verify(X, y, rows, between=True).stretches] == ["not optimal", "not optimal"]


TWO = np.array([[-1.0], [1.0]]), [-1, 1]


def rows_of_two(costs, bend=0.0):
    """The path of two samples at distance 2: alpha = c up to c = 1/2, b = 0; bent by a share of its multipliers."""
    rows = []
    for k, cost in enumerate(costs):
        alpha = np.full(2, min(cost, 0.5)) * (1.0 - bend * (k % 2))
        rows.append(Row({"C_plus": cost, "C_minus": cost}, {"alpha": alpha, "b": 0.0}))
    return rows


def test_segments_by_hand():
    svm = pc.TwoCSVM(*TWO)
    found = stretches(svm, rows_of_two([0.1, 0.3, 0.5, 2.0]), 1e-8)
    assert [(s.first, s.last, s.status, s.share) for s in found] == [(k, k + 1, "optimal", None) for k in range(3)]
    assert all(s.certificate.passes(1e-8) for s in found)
    (skipped,) = stretches(svm, rows_of_two([0.1, 1.0]), 1e-8)  # without the event at 1/2
    assert (skipped.status, skipped.share) == ("not optimal", 0.5)
    t = skipped.share
    cost, alpha = 0.1 + 0.9 * t, 0.1 + 0.4 * t
    value = 2 * alpha**2 + 2 * cost * max(0.0, 1 - 2 * alpha)
    assert skipped.certificate.primal_value == pytest.approx(value, rel=1e-12)
    assert not skipped.certificate.passes(1e-3)
    assert [s.status for s in stretches(svm, rows_of_two([0.1, 0.2, 0.4], bend=0.1), 1e-8)] == ["not optimal"] * 2


def test_a_tolerance_between_rows():
    svm = pc.TwoCSVM(*TWO)
    near = rows_of_two([0.1, 0.2], bend=1e-6)
    assert stretches(svm, near, 1e-3)[0].status == "optimal"
    assert stretches(svm, near, 1e-9)[0].status != "optimal"


def test_costs_of_samples_and_weights_are_caps():
    weight = np.array([1.0, 2.0])
    svm = pc.TwoCSVM(*TWO, sample_weight=weight)
    costs = [pc.SampleCosts(c / weight) for c in (np.array([0.1, 0.1]), np.array([0.4, 0.4]))]
    rows = [Row({"costs": each}, {"alpha": each.values * weight, "b": 0.0}) for each in costs]
    assert stretches(svm, rows, 1e-8)[0].status == "optimal"
    assert stretches(pc.TwoCSVM(*TWO), rows, 1e-8)[0].status == "not optimal"


def test_slopes_that_only_one_row_has_are_not_used():
    svm = pc.TwoCSVM(*TWO)
    rows = rows_of_two([0.1, 0.3])
    one = [rows[0], Row(rows[1].values, {**rows[1].numbers, "w": np.array([0.6])})]
    assert stretches(svm, one, 1e-8)[0].status == "optimal"
    both = [Row(row.values, {**row.numbers, "w": np.array([w])}) for row, w in zip(rows, (0.2, 0.7), strict=True)]
    assert stretches(svm, both, 1e-8)[0].status == "not optimal"


def test_margins_of_nu_are_given_or_the_best():
    svm = pc.TwoNuSVM(*TWO)
    rows = []
    for nu in (0.2, 0.4):
        alpha = np.full(2, nu / 2)
        rows.append(Row({"nu": nu, "asymmetry": 0.5}, {"alpha": alpha, "b": 0.0}))
    assert stretches(svm, rows, 1e-8)[0].status == "optimal"
    with_rho = [Row(row.values, {**row.numbers, "rho": 2 * row.values["nu"] / 2}) for row in rows]
    assert stretches(svm, with_rho, 1e-8)[0].status == "optimal"
    wrong = [Row(row.values, {**row.numbers, "rho": 2.0}) for row in rows]
    assert stretches(svm, wrong, 1e-8)[0].status == "not optimal"
    classes = pc.TwoNuSVM(*TWO, by="classes")
    same = [
        Row(dict(zip(("nu_plus", "nu_minus"), svm.to_classes(**row.values), strict=True)), row.numbers) for row in rows
    ]
    assert stretches(classes, same, 1e-8)[0].status == "optimal"


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"b": 0.0}, r"solutions\[1\]: alpha must be given for between=True"),
        ({"alpha": [0.1, 0.1]}, r"solutions\[1\]: b must be given for between=True"),
        ({"alpha": [0.1], "b": 0.0}, r"alpha must have shape \(2,\), got \(1,\)"),
        ({"alpha": [0.1, 0.1], "b": 0.0, "w": [1.0, 2.0]}, r"w must have shape \(1,\), got \(2,\)"),
    ],
)
def test_rows_that_lack_a_number(numbers, message):
    svm = pc.TwoCSVM(*TWO)
    with pytest.raises(pc.InputError, match=message):
        stretches(svm, [*rows_of_two([0.1]), Row({"C_plus": 0.2, "C_minus": 0.2}, numbers)], 1e-8)
    with pytest.raises(pc.InputError, match="between needs at least two knots, got 1"):
        stretches(svm, rows_of_two([0.1]), 1e-8)
    with pytest.raises(pc.InputError, match="between must be False: BiobjectiveMargin has no path"):
        stretches(pc.BiobjectiveMargin(*TWO), rows_of_two([0.1, 0.2]), 1e-8)


@pytest.mark.parametrize(("last", "parts", "status"), [(0.55, 1, "optimal"), (0.6, 2, "optimal"), (0.8, 4, "optimal")])
def test_a_segment_is_cut_where_its_proof_does_not_close(last, parts, status):
    """Beyond the event at 1/2 the line is nearly optimal: proofs of short parts show it, that of the whole does not."""
    svm = pc.TwoCSVM(*TWO)
    rows = [_complete(svm, row, k) for k, row in enumerate(rows_of_two([0.4, last]))]
    found = list(_proofs(svm, *rows, 0.1))
    assert len(found) == parts
    assert [low for low, _, _ in found] == [0.0, *(high for _, high, _ in found[:-1])]
    assert found[-1][1] == 1.0
    assert all(proof.passes(0.1) for _, _, proof in found)
    assert stretches(svm, rows_of_two([0.4, last]), 0.1)[0].status == status


def test_cuts_are_used_up():
    svm = pc.TwoCSVM(*TWO)
    rows = [_complete(svm, row, k) for k, row in enumerate(rows_of_two([0.4, 1.0]))]
    widths = [high - low for low, high, _ in _proofs(svm, *rows, 0.1)]
    assert min(widths) == 2.0**-DEPTH
    assert sum(widths) == 1.0
    assert stretches(svm, rows_of_two([0.4, 1.0]), 0.1)[0].status == "undecided"
