"""The value function and its shadow prices: against exact rationals, CVXPY and its finite differences."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.svm import nu_path
from paretoclf.path.svm_lines import svm_path
from paretoclf.path.svm_lines.svm_path import check_certificates
from paretoclf.plotting import ValueDisplay
from tests.oracles.exact import fractions, integer_kernel
from tests.oracles.exact_criss_cross import criss_cross

mpl.use("Agg")
from matplotlib import pyplot as plt

LINES = {"ray": ((0, 0), (3, 2)), "asymmetry": ((0.1, 1.9), (1.9, 0.1)), "axis to axis": ((0, 2), (2, 0))}
BY_LINE = pytest.mark.parametrize("line", LINES.values(), ids=LINES)


@pytest.fixture(params=[None, pc.RBF(1.0)], ids=["linear", "rbf"])
def svm(request, gaussians):
    weight = np.random.default_rng(2).uniform(0.5, 2.0, 30)
    return pc.TwoCSVM(*gaussians(30, 2, seed=5, positives=0.3), request.param, sample_weight=weight)


def along(path, prices):
    """Prices times the direction of the line."""
    direction = np.subtract(tuple(path.line.stop), tuple(path.line.start))
    return direction @ [prices.C_plus, prices.C_minus]


@BY_LINE
def test_prices_are_the_derivative_from_the_right_at_every_breakpoint_and_midpoint(svm, line):
    path = pc.trace(svm, *line)
    ends, V = path.pieces.t, path.pieces.value
    for j, (low, high) in enumerate(pairwise(ends)):
        for share in (0.0, 0.5):
            t = (1 - share) * low + share * high
            slope = (V[j, 1] - V[j, 0] - (1 - 2 * share) * V[j, 2]) / (high - low)
            scale = 1.0 + abs(slope)
            assert along(path, path.shadow_prices(t)) == pytest.approx(slope, abs=1e-7 * scale), t


@BY_LINE
def test_the_value_is_quadratic_on_a_piece_and_concave_across_pieces(svm, line):
    path = pc.trace(svm, *line)
    last = np.inf
    for low, high in pairwise(path.breakpoints):
        width = high - low
        if width < 1e-6:
            continue
        at = low + width * np.array([0.0, 0.2, 0.45, 0.7, 0.95])
        values = [path.value(t) for t in at]
        cubic = np.polynomial.polynomial.polyfit((at - low) / width, values, 3)
        assert abs(cubic[3]) <= 1e-11 * max(values[-1], values[0])
        slopes = [along(path, path.shadow_prices(t)) for t in at]
        tol = 1e-8 * np.abs(slopes).max()
        assert (np.diff([last, *slopes]) <= tol).all()  # concave: slopes never grow, within pieces and across them
        middle = 0.5 * (slopes[0] + slopes[-1])  # affine on the piece, so the mean of its ends times the width
        assert values[-1] - values[0] == pytest.approx(middle * (at[-1] - at[0]), abs=1e-11 * np.abs(values).max())
        last = slopes[-1]


def test_prices_are_the_slopes_of_cvxpys_values(svm):
    path = pc.trace(svm, (0.1, 1.9), (1.9, 0.1))
    h = 1e-4
    for t in (0.13, 0.37, 0.62, 0.88):
        C, prices = path.costs(t), path.shadow_prices(t)
        assert prices.unique

        def value(plus, minus, C=C):
            return svm.solve(C_plus=C.C_plus + plus, C_minus=C.C_minus + minus).value

        assert path.value(t) == pytest.approx(value(0, 0), rel=1e-9)
        assert prices.C_plus == pytest.approx((value(h, 0) - value(-h, 0)) / (2 * h), rel=1e-3, abs=1e-4)
        assert prices.C_minus == pytest.approx((value(0, h) - value(0, -h)) / (2 * h), rel=1e-3, abs=1e-4)


def test_every_supergradient_bounds_cvxpys_values_from_above(svm):
    """Concavity over the whole plane: V(D) <= V(C) + prices . (D - C), for each end of the segment."""
    path = pc.trace(svm, (0, 0), (3, 2))
    others = np.array([[0.1, 0.1], [2.0, 0.3], [0.3, 2.0], [3.0, 3.0]])
    values = [svm.solve(C_plus=p, C_minus=m).value for p, m in others]
    for t in [*path.breakpoints[1::3], 0.3, 0.8]:
        C, prices = np.array(tuple(path.costs(t))), path.shadow_prices(t)
        for gradient in (*prices.ends, (prices.C_plus, prices.C_minus)):
            bounds = path.value(t) + (others - C) @ gradient
            assert (np.array(values) <= bounds + 1e-9).all()


def test_slacks_and_costs_make_the_value(svm):
    """Bach et al. section 3: V = |w|^2 / 2 + C . prices."""
    path = pc.trace(svm, (0.1, 1.9), (1.9, 0.1))
    for t in (0.0, 0.21, 0.77, 1.0):
        c, prices = path.at(t).classifier, path.shadow_prices(t)
        norm = c.coef @ c.gram.matvec(c.coef)
        assert np.dot(tuple(path.costs(t)), (prices.C_plus, prices.C_minus)) == pytest.approx(path.value(t) - norm / 2)


@pytest.mark.parametrize("seed", range(6))
def test_both_ends_against_exact_rationals(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, (7, 2)), np.where(np.arange(7) < 1 + seed % 3, 1, -1)
    start, stop = (Fraction(1, 8), Fraction(3, 2)), (Fraction(2), Fraction(1, 4))
    caps = [np.array([c[0] if label > 0 else c[1] for label in y], dtype=object) for c in (start, stop)]
    judge = criss_cross(integer_kernel(X), fractions(y), caps[0], caps[1] - caps[0])
    path = pc.trace(pc.TwoCSVM(X.astype(float), y), [float(c) for c in start], [float(c) for c in stop])
    for t in [*judge.ends[1:-1], *(Fraction(k, 17) for k in range(1, 17))]:
        scores, interval = judge.scores_of(judge.alpha(t)), judge.intercepts(t)
        exact = []
        for b in interval:
            slacks = np.array([max(Fraction(0), 1 - label * (s + b)) for s, label in zip(scores, y, strict=True)])
            exact.append((float(slacks[y > 0].sum()), float(slacks[y < 0].sum())))
        prices = path.shadow_prices(float(t))
        if t in judge.ends and prices.unique != (interval[0] == interval[1]):
            continue  # float(t) is not t: beside a jump the interval is a point
        np.testing.assert_allclose(prices.ends, exact, atol=1e-9)
        assert prices.unique == (exact[0] == pytest.approx(exact[1], abs=1e-12))
        low, high = np.sort(exact, axis=0)
        assert (np.array([prices.C_plus, prices.C_minus]) >= low - 1e-9).all()
        assert (np.array([prices.C_plus, prices.C_minus]) <= high + 1e-9).all()


def test_five_points_by_hand():
    """Spec 12b: on the ray to (3, 2), w = 2/3 and b = -1/3 from t = 2/21 to 1/6; only x = 1 and x = 0 have slack."""
    X, y = np.array([[2.0], [1.0], [0.0], [-1.0], [-3.0]]), np.array([1, 1, -1, -1, -1.0])
    prices = pc.trace(pc.TwoCSVM(X, y), (0, 0), (3, 2)).shadow_prices(0.5 * (2 / 21 + 1 / 6))
    assert (prices.C_plus, prices.C_minus) == pytest.approx((2 / 3, 2 / 3))
    assert prices.unique


def test_at_an_axis_the_price_is_the_derivative_into_the_quadrant():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), [-1, 1, -1, 1, 1]
    svm = pc.TwoCSVM(X, y)
    prices = pc.trace(svm, (0, 1), (1, 0)).shadow_prices(0.0)
    assert (prices.C_plus, prices.C_minus) == (6.0, 0.0)  # w = 0, b = -1: each positive misses its margin by 2
    assert prices.ends == ((np.inf, 0.0), (6.0, 0.0))
    assert not prices.unique
    h = 1e-5
    assert svm.solve(C_plus=h, C_minus=1.0).value / h == pytest.approx(6.0, rel=1e-3)


def test_prices_of_samples_are_the_gradient_on_a_line_of_sample_costs(gaussians):
    X, y = gaussians(16, 2, seed=3)
    rng = np.random.default_rng(0)
    start, stop = rng.uniform(0.2, 2.0, (2, 16))
    svm = pc.TwoCSVM(X, y)
    path = pc.trace(svm, pc.SampleCosts(start), pc.SampleCosts(stop))
    t = 0.43
    prices = path.shadow_prices(t)
    assert prices.C_plus == prices.samples[y > 0].sum()
    h = 1e-4
    for i in range(16):
        moved = [(1 - t) * start + t * stop + step * h * (np.arange(16) == i) for step in (1, -1)]
        up, down = (pc.TwoCSVM(X, y, sample_weight=c).solve(C_plus=1.0, C_minus=1.0).value for c in moved)
        assert prices.samples[i] == pytest.approx((up - down) / (2 * h), rel=1e-3, abs=1e-4)


def test_t_is_checked(svm):
    with pytest.raises(pc.InputError, match=r"t must lie in \[0, 1\], got 1.5"):
        pc.trace(svm, (0, 0), (1, 1)).shadow_prices(1.5)


@BY_LINE
def test_the_picture_shows_value_and_prices(svm, line):
    path = pc.trace(svm, *line)
    display = ValueDisplay.from_path(path).plot(title="value")
    upper, lower = display.axes_
    times = display.times()
    value, plus, minus = (each.get_ydata() for each in (upper.lines[0], *lower.lines))
    assert value.size == plus.size == minus.size == times.size
    for k in range(0, times.size, 5):
        prices = path.shadow_prices(times[k])
        assert (value[k], plus[k], minus[k]) == (path.value(times[k]), prices.C_plus, prices.C_minus)
    assert [text.get_text() for text in lower.get_legend().get_texts()] == [
        r"$\partial V/\partial C_+$",
        r"$\partial V/\partial C_-$",
    ]
    display.figure_.canvas.draw()
    plt.close("all")
    with pytest.raises(pc.InputError, match="pair of Axes"):
        display.plot(plt.subplots()[1])
    plt.close("all")


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)], ids=["linear", "rbf"])
@pytest.mark.parametrize("stop", [(1e8, 1e6), (1e6, 1e8), (1e8, 1e-4)])
@pytest.mark.parametrize("X", [[[0.0], [1.0]], [[0.0], [1.0], [1.5], [-3.0]]], ids=["two", "four"])
def test_the_value_is_within_its_proved_bounds(X, stop, kernel):
    """Separable classes and large costs: every slack is zero, and its rounding times its cost is not."""
    path = pc.trace(pc.TwoCSVM(X, [1, -1, -1, 1][: len(X)], kernel), (1, 1), stop)
    for t, proof in zip(path.certificate_points, path.certificates(), strict=True):
        value = path.value(float(t))
        assert proof.dual_value * (1 - 1e-12) <= value <= proof.primal_value * (1 + 1e-12)
    assert path.proof.residuals["value"].max() <= 1e-12


def test_the_value_of_two_points_at_large_costs_is_that_of_the_hard_margin():
    path = pc.trace(pc.TwoCSVM([[0.0], [1.0]], [1, -1]), (1, 1), (1e8, 1e6))
    assert path.value(1.0) == pytest.approx(2.0, rel=1e-14)  # w = -2
    assert path.value(0.5) == pytest.approx(2.0, rel=1e-14)


@pytest.mark.parametrize(
    "X",
    [
        [[2, 3], [0, 3], [2, 2], [1, 1], [1, 2], [3, 0], [3, 3], [2, 3]],  # the last step in twice the precision
        [[3, 0], [3, 0], [3, 2], [2, 0], [0, 3], [3, 0]],  # in double
    ],
    ids=["precise", "double"],
)
def test_the_value_of_a_last_piece_on_which_costs_grow_by_1e11_is_that_of_its_bounds_in_fractions(X):
    """w is at rest on it, and only errors of two equal samples grow: rounding of w' must not be multiplied by t^2."""
    path = pc.trace(pc.TwoCSVM(X, np.repeat([1, -1], len(X) // 2), pc.Polynomial(2)), (0, 0), (2e12, 2e12))
    assert path.breakpoints[-2] < 1e-11
    for t in (1e-3, 0.5, 1.0):
        dual, primal = path.certificate(t, exact=True).bounds
        assert float(primal - dual) <= 1e-12 * float(dual)
        assert path.value(t) == pytest.approx(float(dual), rel=1e-13)


@pytest.mark.parametrize("column", [0, 1, 2])
@pytest.mark.parametrize("off", [1e-6, np.nan])
def test_a_stored_value_outside_its_bounds_is_an_error(svm, column, off):
    path = pc.trace(svm, (0.5, 0.5), (2, 1))
    value = path.pieces.value.copy()
    value[value.shape[0] // 2, column] += off
    wrong = replace(path, pieces=replace(path.pieces, value=value))
    with pytest.raises(pc.DegeneratePathError, match=r"the stored value is off by .* It is proved from t = "):
        check_certificates(wrong)


def test_values_outside_their_bounds_by_rounding_are_replaced_once_and_nothing_else_changes(gaussians, monkeypatch):
    traced, real = [], svm_path.with_proved_values
    monkeypatch.setattr(svm_path, "with_proved_values", lambda path: traced.append(path) or real(path))
    X, y = gaussians(80, 3, seed=0, positives=0.5)
    path = pc.trace(pc.TwoCSVM(X, y, pc.RBF(3.0)), (0, 2e3), (2e3, 0))
    (before,) = traced
    other = (path.pieces.value != before.pieces.value).any(axis=1)
    assert other.any()
    assert not other.all()
    assert real(path) is path
    np.testing.assert_array_equal(before.proof.gaps, path.proof.gaps)
    np.testing.assert_array_equal(before.proof.duals, path.proof.duals)
    np.testing.assert_allclose(path.value(path.pieces.t[:-1][other]), path.proof.duals[other, 0], rtol=1e-12)


@pytest.mark.parametrize("kind", ["costs", "nu"])
def test_replaced_values_are_proved_once_and_as_a_proof_from_the_beginning_proves_them(kind, gaussians, monkeypatch):
    """Nothing but their own residual hangs on them: all was proved twice, which took half the time of a path of nu."""
    module, name = {"costs": (svm_path, "prove_costs"), "nu": (nu_path, "prove_hulls")}[kind]
    proofs, real = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given: proofs.append(given) or real(*given))
    if kind == "costs":
        X, y = gaussians(80, 3, seed=0, positives=0.5)
        path = pc.trace(pc.TwoCSVM(X, y, pc.RBF(3.0)), (0, 20), (20, 0))
    else:
        X, y = gaussians(60, 3, seed=0, positives=0.5)
        path = pc.trace(pc.TwoNuSVM(X, y, pc.RBF(3.0)), nu=(0, None), asymmetry=0.5)
    # Below what is proved, by rounding: where the tracker's own values stand hangs on the sums of the processor.
    value = path.pieces.value.copy()
    value[3, 0] = path.proof.duals[3, 0] - 2e-13 * abs(path.proof.duals[3, 0])
    proofs.clear()
    path = svm_path.with_proved_values(replace(path, pieces=replace(path.pieces, value=value)))
    assert path.pieces.value[3, 0] == path.proof.duals[3, 0]
    known = path.proof
    assert len(proofs) == 1
    anew = replace(path)
    assert "proof" not in vars(anew)
    for name in ("gaps", "sizes", "rounding", "duals"):
        np.testing.assert_array_equal(getattr(known, name), getattr(anew.proof, name))
    for name, values in anew.proof.residuals.items():
        np.testing.assert_array_equal(known.residuals[name], values)
    wrong = path.pieces.value.copy()
    wrong[1] *= 1.001
    assert anew.proof.with_values(wrong).failures().tolist() == [1]
