"""Samples far from 0 are the same problem: what is solved, traced, proved and predicted moves with them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc

N = 24
OFFSETS = [np.array([1.7e9, 0.0]), np.array([2.0**40, -(2.0**34)])]


def problem(offset, sparse=False):
    """Samples on a grid of eighths, so that moving them is exact; the first feature is far from 0."""
    rng = np.random.default_rng(3)
    y = np.where(np.arange(N) % 3 == 0, 1.0, -1.0)
    X = np.round(8 * (rng.normal(size=(N, 2)) + 0.7 * y[:, None])) / 8 + (1.0 if sparse else 0.0) * (offset == 0)
    X = X + offset
    return (sp.csr_array(X) if sparse else X), y


KINDS = {
    "costs": (pc.TwoCSVM, {"C_plus": 2.0, "C_minus": 0.7}, {"start": (0.0, 0.0), "stop": (3.0, 1.5)}),
    "nu": (pc.TwoNuSVM, {"nu": 0.3, "asymmetry": 0.6}, {"nu": (0.2, 0.35), "asymmetry": 0.6}),
    "margins": (pc.BiobjectiveMargin, {"theta": 2.0, "C_plus": 2.0, "C_minus": 0.7},
                {"theta": (0.5, 3.0), "C_plus": 2.0, "C_minus": 0.7}),
}  # fmt: skip


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("offset", OFFSETS)
def test_the_solution_moves_with_the_samples(offset, kind, sparse):
    """Before: at 1.7e9 the dual of the 2C-SVM had the value 2e17, and the 2nu-SVM's proof labelled every sample +1."""
    formulation, values, _ = KINDS[kind]
    (near, y), (far, _) = problem(np.zeros(2)), problem(offset, sparse)
    for form in ("primal", "dual"):
        here, there = formulation(near, y).solve(**values, form=form), formulation(far, y).solve(**values, form=form)
        assert there.certificate.passes(1e-9)
        assert there.value == pytest.approx(here.value, rel=1e-10)
        scores = here.classifier.decision_function(near)
        np.testing.assert_allclose(there.classifier.decision_function(far), scores, atol=1e-7)
        np.testing.assert_allclose(there.classifier.w, here.classifier.w, atol=1e-8)
        b = here.classifier.b - here.classifier.w @ offset
        assert there.classifier.b == pytest.approx(b, rel=1e-7)
        assert min(there.classifier.b_interval) <= there.classifier.b <= max(there.classifier.b_interval)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("offset", OFFSETS)
def test_the_path_moves_with_the_samples(offset, kind, sparse, tmp_path):
    formulation, _, line = KINDS[kind]
    (near, y), (far, _) = problem(np.zeros(2)), problem(offset, sparse)
    here, there = pc.trace(formulation(near, y), **line), pc.trace(formulation(far, y), **line)
    assert there.proof.passes()
    np.testing.assert_allclose(there.breakpoints, here.breakpoints, rtol=1e-9, atol=1e-12)
    there.save(tmp_path / "far.npz")
    again = pc.load(tmp_path / "far.npz")
    new = far[:7]
    for t in np.linspace(here.breakpoints[0], here.breakpoints[-1], 5)[1:-1]:
        scores = here.at(t).classifier.decision_function(near)
        for path in (there, again):
            np.testing.assert_allclose(path.at(t).classifier.decision_function(far), scores, atol=1e-7)
            np.testing.assert_allclose(path.scores(new)(t), scores[:7], atol=1e-7)
            assert path.at(t).value == pytest.approx(here.at(t).value, rel=1e-10)
            assert path.intercept(t) == pytest.approx(here.intercept(t) - here.slope(t) @ offset, rel=1e-7)
            assert path.intercept(t) == path.at(t).classifier.b
    if kind == "costs":
        t = 0.5
        assert there.shadow_prices(t).C_plus == pytest.approx(here.shadow_prices(t).C_plus, abs=1e-7)
        assert there.certificate(t, exact=True).passes()


def test_what_is_held_out_moves_with_the_samples():
    (near, y), (far, _) = problem(np.zeros(2)), problem(OFFSETS[0])
    here, there = (
        pc.cross_validated_errors(pc.TwoCSVM(X, y), start=(0.1, 0.1), stop=(3.0, 1.5), folds=3, rng=0)
        for X in (near, far)
    )
    np.testing.assert_allclose(there.t, here.t, atol=1e-9)
    np.testing.assert_array_equal(there.rates(0.37), here.rates(0.37))


def test_ordinary_samples_stay_where_they_are():
    X, y = problem(np.zeros(2))
    for moved in (X, X + 50.0, np.column_stack([X, np.ones(N)]), np.full((N, 1), 7.0)):
        assert pc.TwoCSVM(moved, y).gram.origin is None
    assert pc.QuantileSVM(X + OFFSETS[0], y).gram.origin is None  # its norm has no free intercept


@pytest.mark.parametrize(("X", "y", "distance"), [
    ([[0.0], [1e-9], [1.0]], [-1, 1, 1], 1e-9),
    ([[0.0], [1e-9], [1.0]], [1, -1, -1], 1e-9),
    ([[0.0], [1e-8], [-1.0], [1.0]], [-1, 1, -1, 1], 1e-8),
    ([[0.0, 0.0], [2.0**-30, 2.0**-30], [1.0, 5.0], [-1.0, -3.0]], [-1, 1, 1, -1], 2.0**-29.5),
])  # fmt: skip
def test_classes_that_nearly_touch_are_solved(X, y, distance):
    """Before: "no point satisfies its constraints". The first was even said to have a point in both hulls."""
    hard = pc.BiobjectiveMargin(X, y, soft=False)
    y, X = np.asarray(y), np.asarray(X)
    for theta in (1.0, 3.0):
        solution = hard.solve(theta=theta)
        assert solution.certificate.passes()
        np.testing.assert_array_equal(solution.classifier.predict(X), y)
        assert solution.value == pytest.approx((2.0 / distance) ** 2, rel=1e-9)
    path = pc.trace(hard, theta=(0.5, 3.0))
    assert path.proof.passes()
    assert path.at(0.5).value == pytest.approx(hard.solve(theta=1.0).value, rel=1e-9)
    assert sum(path.margins(0.5)) == pytest.approx(2.0 / np.sqrt(hard.solve(theta=1.0).value), rel=1e-9)


def test_a_certificate_of_far_samples_judges_what_the_multipliers_imply():
    """Before: optimal multipliers at 1.7e9 were "wrong by 1"; sums over the samples had no digit left."""
    (near, y), (far, _) = problem(np.zeros(2)), problem(OFFSETS[0])
    solution = pc.TwoCSVM(near, y).solve(C_plus=2.0, C_minus=0.7)
    caps = np.where(y > 0, 2.0, 0.7)
    b = solution.classifier.b - solution.classifier.w @ OFFSETS[0]
    found = pc.certify(y, caps, solution.alpha, b, X=far)
    assert found.passes(1e-6)  # b itself is rounded to 1e-7
    assert found.dual_value == pytest.approx(solution.dual_value, rel=1e-12)
    assert not pc.certify(y, caps, solution.alpha, b + 0.1, X=far).passes(1e-3)
    low, high = pc.certify(y, caps, solution.alpha, b, X=far, exact=True).bounds
    assert low <= high
    table = pc.verify(far, y, [(2.0, 0.7, solution.alpha)])
    assert table.passes()
    assert pc.verify(far, y, [(2.0, 0.7, solution.alpha, b)]).passes(1e-6)
