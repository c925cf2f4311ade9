"""`verify`: verdicts in classes with by how much, the tolerance, and what it says of solutions in the wrong form."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.checking.verification import rounded_up

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


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.5)], ids=["linear", "rbf"])
def test_libsvm_is_nearly_optimal_and_its_signed_coefficients_get_a_hint(gaussians, kernel):
    X, y = gaussians(60, 2, seed=2)
    K = pc.Gram(X, kernel).matrix
    fits = {tol: SVC(kernel="precomputed", C=1.0, tol=tol).fit(K, y) for tol in (1e-3, 1e-10)}

    def alpha(fit, signed):
        out = np.zeros(60)
        out[fit.support_] = fit.dual_coef_[0] * (1 if signed else y[fit.support_])
        return out

    rows = [(1.0, 1.0, alpha(fit, signed), fit.intercept_[0]) for fit in fits.values() for signed in (False, True)]
    report = pc.verify(X, y, rows, kernel, tol=1e-6)
    said = [report.verdict(k).split(":")[0] for k in range(4)]
    assert said == ["not optimal to 1e-06", "not optimal", f"optimal to {rounded_up(report[2].off_by)}", "not optimal"]
    for k in range(4):
        assert ("These look like y * alpha" in report[k].explain()) == (k % 2 == 1)
    assert "look like y * alpha" in pc.certify(y, np.ones(60), rows[1][2], 0.0, K=K).explain()


def test_a_negative_multiplier_alone_gets_no_hint():
    for alpha in ([-0.5, -0.5], [0.5, -0.5], [-1e-9, 0.5]):
        assert "look like" not in pc.verify(X, Y, [(1, 1, alpha, 0.0)])[0].explain()


@pytest.mark.parametrize(
    ("solutions", "message"),
    [
        ([], "solutions must hold at least one (C_plus, C_minus, alpha[, b]), got none"),
        (iter(()), "solutions must hold at least one"),
        (3, "solutions must be a list of (C_plus, C_minus, alpha[, b]), got int"),
        ([1.0], "solutions[0] must be (C_plus, C_minus, alpha[, b]), got 1.0"),
        (["abc"], "solutions[0] must be (C_plus, C_minus, alpha[, b]), got 'abc'"),
        ([short(0.0), (1, 1)], "solutions[1] must be (C_plus, C_minus, alpha[, b]), got 2 entries"),
        ([(1, -1, [0, 0])], "solutions[0]: C_minus must be a finite nonnegative number"),
        ([(1, 1, [0, np.nan])], "solutions[0]: alpha must be finite, got nan at index 1"),
        ([short(0.0, "x")], "solutions[0]: b must be a number, got 'x'"),
        ([short(0.0, np.inf)], "solutions[0]: b must be finite, got inf"),
    ],
)
def test_what_is_no_list_of_solutions(solutions, message):
    with pytest.raises(pc.InputError) as error:
        pc.verify(X, Y, solutions)
    assert message in str(error.value)


def test_an_svc_that_left_out_samples_of_weight_0_says_what_its_support_vectors_may_be():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y, weight = np.where(X[:, 0] > 0, 1, -1), np.arange(30) % 3
    with pytest.raises(pc.InputError, match="samples of weight 0"):  # LIBSVM counts the others only
        pc.verify(X, y, SVC(kernel="linear").fit(X, y, weight.astype(float)))


def test_a_gap_that_rounding_makes_is_named_in_the_verdict():
    """Costs 1e13 apart: a margin that is met up to rounding costs its rounding times the larger one."""
    X, y = np.array([[0.67], [0.08], [0.49], [0.25], [1.42]]), [1, -1, 1, -1, 1]
    report = pc.verify(X, y, [(1e-8, 1e5, [1e-8, 0.0, 1e-8, 3.0000000000000004e-08, 1e-8], -1.000000004575)])
    assert report.passes()
    assert report.verdict(0).startswith("optimal up to rounding, which makes a gap of ")  # of 2e-04 or so
    assert "optimal up to rounding" in repr(report)
