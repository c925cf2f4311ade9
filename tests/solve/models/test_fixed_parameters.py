"""Parameters that do not move are numbers: what DPP refuses only because of them is traced, mapped and ranged."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.solve.models.fixed_parameters import with_numbers


@pytest.fixture
def product():
    """A lasso whose weight is a product of two parameters, and a cap whose coefficient is a square."""
    x = cp.Variable(3, name="x")
    a, lam = cp.Parameter(nonneg=True, name="a", value=2.0), cp.Parameter(nonneg=True, name="lam", value=1.0)
    cap = (a * a * x[0] <= 8).set_label("cap")
    return cp.Problem(cp.Minimize(cp.sum_squares(x - [3, 1, -2]) + lam * a * cp.norm1(x)), [cap]), x, a, lam


def value(a, lam):
    """The optimum in closed form: soft thresholds, the first no more than 8 / a**2."""
    x = np.sign([3, 1, -2]) * np.maximum(np.abs([3.0, 1.0, 2.0]) - lam * a / 2, 0)
    x[0] = min(x[0], 8 / a**2)
    return ((x - [3, 1, -2]) ** 2).sum() + lam * a * np.abs(x).sum()


def test_a_path_in_one_of_two_that_are_multiplied(product):
    problem, x, a, lam = product
    path = pc.trace(problem, {lam: 0}, {lam: 4})
    for at in (0.0, 0.7, 3.0):
        assert path.value(lam=at) == pytest.approx(value(2.0, at), abs=1e-10)
    assert path.compare(3).agrees(1e-8)
    path.assign(lam=0.5)
    assert lam.value == 0.5
    np.testing.assert_allclose(x.value, path.at(lam=0.5).variables["x"])
    assert problem.constraints[0].dual_value == pytest.approx(path.at(lam=0.5).duals["cap"])
    assert path.shadow_price(problem.constraints[0]).constraint == "cap"
    a.value = 1.0  # a path that is there stays as it was traced
    assert pc.trace(problem, {lam: 0}, {lam: 4}).value(lam=2.0) == pytest.approx(value(1.0, 2.0), abs=1e-10)


def test_everywhere_else(product):
    problem, _, a, lam = product
    assert pc.ranges(problem, of="cap").value == pytest.approx(value(2.0, 1.0))
    assert pc.derivatives(problem, {lam: 1.0}).value == pytest.approx(value(2.0, 1.0))
    assert pc.unique(problem)
    level = cp.Parameter(name="level", value=3.0)
    two = cp.Problem(problem.objective, [*problem.constraints, (cp.sum(problem.variables()[0]) <= level)])
    found = pc.plane(two, {lam: (0, 2), level: (-1, 3)}, progress=False)
    assert found.value(lam=1.0, level=3.0) == pytest.approx(value(2.0, 1.0))
    cone = cp.Problem(cp.Minimize(cp.norm2(problem.variables()[0] - 1) + lam * a * cp.norm1(problem.variables()[0])))
    assert pc.trace(cone, {lam: 0}, {lam: 1}, eps=1e-2).proof.passes(1e-2)


def test_both_that_move_are_refused_as_before(product):
    problem, _, a, lam = product
    with pytest.raises(pc.InputError, match="a model must be DPP in its parameters, which it is not in: objective"):
        pc.trace(problem, {lam: 0, a: 1}, {lam: 4, a: 2})


def test_one_that_is_the_same_at_both_ends_is_a_number_of_that_value():
    """What it holds is another number, which is kept."""
    w = cp.Variable(3, name="w")
    lam, share, rest = (cp.Parameter(nonneg=True, name=name) for name in ("lam", "share", "rest"))
    share.value = 0.9
    fit = cp.sum_squares(w - [3, 1, -2]) / 2
    problem = cp.Problem(cp.Minimize(fit + lam * share * cp.norm1(w) + rest * cp.sum_squares(w)))
    ends = {lam: 4, share: 0.25, rest: 1.5}, {lam: 0.4, share: 0.25, rest: 0.15}
    for how in ({"curve": True}, {"eps": 1e-6}):
        path = pc.trace(problem, *ends, **how)
        for at in (4.0, 1.3, 0.4):
            shrunk = np.maximum(np.array([3.0, 1.0, 2.0]) - at / 4, 0)
            optimum = (14 - (shrunk**2).sum() / (1 + 0.75 * at)) / 2
            low, high = path.bounds(lam=at)
            assert low <= optimum * (1 + 1e-12)
            assert high >= optimum * (1 - 1e-12)
            assert high - low <= 3e-6 * optimum
    assert share.value == 0.9


def test_the_line_that_a_refusal_prescribes_is_traced():
    w = cp.Variable(2, name="w")
    b, a = (cp.Parameter(nonneg=True, name=name) for name in "ba")
    fit = cp.sum_squares(w - 1)
    mixed = cp.Problem(cp.Minimize(fit + b * a * cp.norm1(w) + b * (1 - a) / 2 * cp.sum_squares(w)))
    with pytest.raises(pc.InputError) as error:
        pc.trace(mixed, {b: 2, a: 0.5}, {b: 1, a: 0.6}, curve=True)
    start = "start={b: c, a: d, rest: c * (1 - d) / 2}"  # no letter that is a parameter's name
    assert start in str(error.value)
    rest = cp.Parameter(nonneg=True, name="rest")
    apart = cp.Problem(cp.Minimize(fit + b * a * cp.norm1(w) + rest * cp.sum_squares(w)))
    path = pc.trace(apart, {b: 2, a: 0.5, rest: 0.5}, {b: 1, a: 0.5, rest: 0.25}, curve=True)
    assert path.value(b=2) == pytest.approx(2 - 0.5**2 / 1.5 * 2)
    still = pc.trace(mixed, {b: 2, a: 0.5}, {b: 1, a: 0.5}, curve=True)  # where a stands still it is a number
    assert still.value(0.5) == pytest.approx(path.value(0.5), abs=1e-8)
    with pytest.raises(pc.InputError, match=r"Here that is b \* a: write a Parameter in its place"):
        pc.trace(apart, {b: 2, a: 0.5, rest: 0.5}, {b: 1, a: 0.6, rest: 0.2}, curve=True)
    product = cp.Parameter(nonneg=True, name="product")
    third = cp.Problem(cp.Minimize(fit + product * cp.norm1(w) + rest * cp.sum_squares(w)))
    assert pc.trace(third, {product: 1, rest: 0.5}, {product: 0.6, rest: 0.2}, curve=True).eps < 1e-6


def test_what_is_dpp_is_left_alone(product):
    problem, x, a, lam = product
    own = cp.Problem(cp.Minimize(cp.sum_squares(x) + lam * cp.sum(x)))
    assert with_numbers(own, [lam]) is own
    assert with_numbers(own, []) is own
    a.value = None
    assert with_numbers(problem, [lam]) is problem


def test_what_is_left_of_a_share_that_stands_is_a_number():
    """1 - share has no sign that CVXPY knows; its value has one: soft thresholds at lam (1 - share) / 2."""
    x, lam = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="lam")
    share, T = cp.Parameter(name="share", value=0.25), cp.Parameter((2, 2), symmetric=True, value=np.diag([0.0, 1.0]))
    rows = [((1 - share) * cp.abs(x[1]) <= 0.75).set_label("room")]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - [3, 2]) + lam * (1 - share) * cp.norm1(x)), rows)
    path = pc.trace(problem, {lam: 0}, {lam: 4}, progress=False)
    np.testing.assert_allclose(path.at(lam=2.0).variables["x"], [3 - 0.75, 1.0], atol=1e-9)
    path.assign(lam=2.0)
    assert problem.constraints[0].dual_value == pytest.approx(path.at(lam=2.0).duals["room"])
    np.testing.assert_allclose(pc.sweep(problem, {lam: [2.0]}).values, [path.value(lam=2.0)], rtol=1e-9)
    promised = cp.Problem(cp.Minimize(cp.quad_form(x, cp.psd_wrap(np.eye(2) + lam * T)) + (1 - share) * x[0]))
    along = pc.trace(promised, {lam: 0}, {lam: 1}, curve=True, progress=False)  # no constraint at all
    assert along.value(1.0) == pytest.approx(-(0.75**2) / 4, abs=1e-8)
    with pytest.raises(pc.InputError, match=r"neither convex nor concave: eigenvalues .* go from -1\.0e\+00 to 3"):
        pc.trace(cp.Problem(cp.Minimize(cp.quad_form(x, np.diag([-1.0, 3.0])) + lam * x[0])), {lam: 0}, {lam: 1})
