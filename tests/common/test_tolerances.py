"""Tolerances: each has its reason, keeps the order that the reasons claim, and lies between rounding and faults."""

from __future__ import annotations

import ast
import inspect

import numpy as np
import pytest

from paretoclf.common import tolerances as tol

EPSILON = float(np.finfo(float).eps)
SOURCE = inspect.getsource(tol)
VALUES = {name: value for name, value in vars(tol).items() if name.isupper()}

#: Shares that are larger than a fault, and numbers that are no shares: all others are below a thousandth.
LARGE = {
    *("CANCELLED", "LARGEST_SQUARE", "LARGEST_COST", "LARGEST_PULL", "FAR", "PIVOT_AGAIN", "PSD_SHARE", "OFF_CENTRE"),
    *("TOGETHER", "UNDECIDED", "SETUP_DRIFT", "FEW_DIGITS", "FARTHEST", "OF_UNIT"),
}

#: Rounding of one number, or of a sum of few.
OF_NUMBERS = (
    *("SAME_MIRRORED", "KERNEL_ROUNDING", "SLACK_ROUNDING", "DEPENDENT_GRAM", "COVARIANCE_RANK", "EQUAL_MEANS"),
    "SAME_NUMBER",
)

#: Rounding of sums of many terms.
OF_SUMS = (
    *("STEEP", "ROUNDING", "BOUND_ROUNDING", "END_OF_LINE", "SCORE_TIE", "POLISH_RANK", "POLISH_MARGIN"),
    *("SCORE_ROUNDING", "MEETING", "PLAIN_RANK", "HARD_CASE", "PARALLEL", "PRODUCT_ROUNDING"),
)

#: Rounding of what was solved for, or was computed in several steps.
OF_RESULTS = (
    *("GRAM_SYMMETRY", "IMPLIED", "FLAT", "RESIDUAL_ROUNDING", "VALUE_ROUNDING", "PLANE_PIVOT", "SOLVER_REFERENCE"),
    *("AT_BOUND", "ROC_TIE", "TINY_CAP", "OVERESTIMATED", "WHOLE_RANK", "NU_ROUNDING", "COVARIANCE_SYMMETRY"),
    *("TAU_NUDGE", "ONE_COLUMN", "COMPONENT_WEIGHTS", "HULL_ROUNDING", "SAME_VARIANCE", "AFFINE", "TIED_SCORES"),
    *("SLOPE_ROUNDING", "POLISH_EXCHANGE", "FACTOR_RANK", "GRAM_PSD", "TIED_RESIDUALS", "OUTWARDS", "SLOPE_NOISE"),
    *("PLANE_SLIVER", "SOLVER_MIDDLE", "FAST_ERROR", "PRICE_TIE", "RATE_ROUNDING", "MARGIN_KEPT"),
)

#: Faults, or what is no longer told apart from one: about what certificates ask for, or more.
FAULTS = (
    *("COLUMN_NOISE", "CERTIFY", "UNREFINED", "END_TIE", "PLANE_ZERO", "PLANE_AREA", "PLANE_TOUCH", "SOLVER_FAST"),
    *("SEEN_OUTSIDE", "ENTERED", "AGREE_OBJECTIVE", "WEIGHTED", "MIXING_MASS", "POINT", "RECOVERED_RANK"),
)


def test_every_tolerance_has_its_reason():
    lines = SOURCE.splitlines()
    for statement in ast.parse(SOURCE).body:
        if isinstance(statement, ast.Assign):
            above = lines[statement.lineno - 2]
            shared = above.split(" = ")[0] in VALUES  # with the tolerance on the line before
            assert shared or above.startswith("#: "), statement.lineno
    assert sorted(VALUES) == sorted(
        name.id for node in ast.walk(ast.parse(SOURCE)) if isinstance(name := node, ast.Name) and name.id.isupper()
    )


def test_shares_are_small_and_the_others_are_known():
    assert {name for name, value in VALUES.items() if value > 1e-3} == LARGE
    assert all(0 < value < np.inf for value in VALUES.values())


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_a_number_is_rounded_by_some_units_in_the_last_place(name):
    assert EPSILON <= VALUES[name] <= 10 * EPSILON


@pytest.mark.parametrize("name", OF_SUMS)
def test_a_sum_of_a_thousand_terms_is_rounded_less_and_four_digits_below_a_certificate(name):
    assert 10 * EPSILON < VALUES[name] <= 1e-4 * tol.CERTIFY


@pytest.mark.parametrize("name", OF_RESULTS)
def test_rounding_of_a_result_is_two_digits_below_a_certificate(name):
    assert 1e3 * EPSILON < VALUES[name] <= 1e-2 * tol.CERTIFY


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_about_what_certificates_ask_for(name):
    assert 0.1 * tol.CERTIFY <= VALUES[name] <= tol.CERTIFY


def test_certificates_ask_for_half_of_the_digits():
    assert pytest.approx(np.sqrt(EPSILON), rel=0.5) == tol.CERTIFY
    # What somebody else's code, and then a reader with a pencil, is asked for.
    assert tol.CERTIFY < tol.STRANGERS == 1e-6 < tol.HOMEWORK == tol.LOOSE == 1e-3


def test_costs_and_their_products_with_samples_are_numbers():
    largest = np.sqrt(tol.LARGEST_SQUARE)
    assert largest == pytest.approx(tol.LARGEST_COST)
    with np.errstate(over="raise", under="raise"):
        square = np.float64(tol.LARGEST_PULL) ** 2
        assert square * 1e6 < np.finfo(float).max
        assert 1e6 * np.float64(tol.LARGEST_SQUARE) < np.finfo(float).max
        assert (1 / np.float64(largest)) ** 2 >= np.finfo(float).tiny
    assert pytest.approx(1e10 * tol.LARGEST_COST) == tol.LARGEST_PULL


def test_digits_that_are_lost_are_as_many_as_the_reasons_say():
    assert tol.FAR**2 == tol.OFF_CENTRE == 1e4  # 4 digits of the 16
    assert np.log2(tol.CANCELLED) == 4  # bits
    assert pytest.approx(4 * EPSILON) == tol.SAME_MIRRORED
    assert tol.SUBSTITUTED == tol.OWN_SIZE == tol.OF_TERMS == 1e-3  # three digits
    assert tol.OF_TERMS < tol.OF_UNIT < 0.1
    # An exact optimum leaves 1e-16 of the largest column, a hundredth of what a certificate asks of this unit.
    assert pytest.approx(1e-2 * tol.CERTIFY) == 1e-16 / tol.OWN_TERMS
    assert pytest.approx(tol.SCORE_ROUNDING / tol.CERTIFY) == tol.SCORE_DIGITS
    assert pytest.approx(1 / tol.FEW_DIGITS, rel=1e-9) == tol.FAST_ERROR


def test_what_a_sample_that_enters_may_be_wrong_by_leaves_room_in_a_certificate():
    assert tol.SEEN_OUTSIDE < tol.ENTERED < 0.5 * tol.CERTIFY
    assert tol.FAST_ERROR < tol.SEEN_OUTSIDE
    assert tol.AT_BOUND < tol.SEEN_OUTSIDE


def test_a_second_try_asks_for_less_than_the_first():
    assert tol.SOLVER_REFERENCE < tol.SOLVER_MIDDLE < tol.SOLVER_FAST
    assert np.sqrt(tol.SOLVER_REFERENCE * tol.SOLVER_FAST) == pytest.approx(tol.SOLVER_MIDDLE)
    assert 0 < tol.PIVOT_AGAIN < 1
    # Looked at together: a part of what is allowed; rounding beyond this says nothing of half the value.
    assert tol.TOGETHER == tol.UNDECIDED == 0.5**2


def test_a_factor_in_double_double_is_refined_below_double_and_a_failure_is_far_above():
    assert 1e-32 < tol.REFINED <= 1e-2 * EPSILON
    assert tol.UNREFINED <= 1e-2 * tol.INFEASIBLE
    assert tol.INFEASIBLE == tol.ROUNDED == tol.PLANE_REST == 1e2 * tol.CERTIFY


def test_regions_touch_within_ten_times_of_what_they_are_looked_for_in():
    assert pytest.approx(10 * tol.PLANE_AREA) == tol.PLANE_TOUCH
    assert tol.PLANE_SLIVER < tol.PLANE_ZERO < tol.PLANE_REST


def test_a_nudge_moves_no_rate_and_its_powers_are_numbers():
    assert tol.NUDGE < EPSILON
    with np.errstate(over="raise", under="raise"):
        distance = tol.NUDGE * np.exp(np.float64(tol.FARTHEST))
        assert distance == pytest.approx(1e35, rel=0.5)
        assert np.isfinite(distance**3)
        assert np.isfinite((2 * distance) ** 3)
        assert np.exp(-np.float64(tol.FARTHEST)) * tol.NUDGE > np.finfo(float).tiny


def test_squares_show_half_of_the_digits():
    # A solver's 1e-12 is the square of a distance; that of hulls is relative to the largest norm.
    assert pytest.approx(tol.SOLVER_REFERENCE) == tol.TOUCHING**2
    assert pytest.approx(tol.CERTIFY) == tol.HULLS_MEET**2
    assert pytest.approx(tol.AWAY_FROM_ZERO) == tol.OF_TERMS**2


def test_a_slater_point_is_inside_by_more_than_what_a_solver_leaves():
    solver = 1e-2 * tol.SLATER_STRICT
    assert solver < tol.SLATER_AFFINE < tol.SLATER_STRICT
    assert pytest.approx(1e2 * tol.CERTIFY) == tol.SLATER_STRICT
    assert tol.SLATER_STRICT < tol.ACTIVE_MULTIPLIER < np.sqrt(tol.RECOVERED_RANK)
    assert tol.CERTIFY < tol.CHEAPEST < tol.STRANGERS


def test_a_matrix_of_rounded_entries_is_semidefinite_with_the_share_that_is_added():
    """What 16 units in the last place times k squared make good is more than rounding takes from an eigenvalue."""
    rng = np.random.default_rng(0)
    for k in (2, 5, 20):
        B = rng.normal(size=(k, 1))
        B *= 10.0 ** rng.integers(-4, 5, size=(k, 1))  # rank 1, on scales that are far apart
        P = B @ B.T
        lift = tol.PSD_SHARE * EPSILON / 2 * k**2 * np.diag(P)
        scaled = (P + np.diag(lift)) / np.sqrt(np.outer(np.diag(P), np.diag(P)))
        assert np.linalg.eigvalsh(scaled)[0] > 0
        assert lift.max() < 1e-10 * P.max()
    assert 1 < tol.PSD_SHARE < 100


def test_a_solver_is_set_up_anew_within_the_digits_that_it_has_to_spare():
    assert 10 < tol.SETUP_DRIFT < 1e3
    assert tol.SETUP_DRIFT * tol.SOLVER_REFERENCE <= tol.SOLVER_MIDDLE
