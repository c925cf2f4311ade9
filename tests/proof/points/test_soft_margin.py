"""Tests of `paretoclf.proof.points.soft_margin`."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import paretoclf as pc
from paretoclf.problem.operator import Features, Matrix
from paretoclf.problem.operator.fractions import exact
from paretoclf.proof.lines.prove import prove
from paretoclf.proof.points.soft_margin import SoftMargin
from tests.proof.lines.test_prove import BY_KERNEL, traced


@BY_KERNEL
def test_a_sample_that_is_listed_nowhere_counts(kernel):
    """A copy of a sample with the other label, far on the wrong side of its margin, said to need no multiplier."""
    path = traced(kernel)
    middle, ends = path.at(0.5).classifier, path.pieces.t
    i = int(np.argmax(middle.decision_function(path.gram.X)))
    more = replace(path.pieces, state=np.append(path.pieces.state, 0).astype(np.int8))
    costs = [path.costs(float(t)) for t in (0.0, 1.0)]
    y = np.append(path.y, -1.0)
    caps = np.array([np.where(y > 0, c.C_plus, c.C_minus) for c in costs])
    X = np.vstack([path.gram.X, path.gram.X[i]])
    data = Features(X) if kernel is None else Matrix(kernel(X, X))
    proof = prove(SoftMargin(y, data, caps), more)
    score = np.array([path.at(float(t)).classifier.decision_function(X[-1:])[0] for t in ends])
    slack = ((1.0 - ends) * caps[0, -1] + ends * caps[1, -1]) * np.maximum(0.0, 1.0 + score)
    np.testing.assert_allclose(proof.gaps[:, 0], slack[:-1], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(proof.gaps[:, 2], slack[1:], rtol=1e-7, atol=1e-9)
    assert not proof.passes()
    assert set(proof.samples[slack[:-1] > 1e-3]) == {y.size - 1}


@given(st.integers(0, 10**6))
def test_exact_bounds_of_the_other_problems_are_those_of_fractions(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    y, K = np.where(np.arange(n) % 2, 1.0, -1.0), pc.RBF(1.0)(*[rng.normal(size=(n, 2))] * 2)
    caps, alpha, b, lam = rng.random(n) + 0.1, rng.normal(size=n) * 0.5, float(rng.normal()), float(rng.random() + 0.1)
    Q, a, c, s, B, L = (
        np.array([*map(Fraction, np.ravel(x).tolist())], dtype=object) for x in (K, alpha, caps, y, b, lam)
    )
    Q, zero = s[:, None] * Q.reshape(n, n) * s, Fraction(0)
    inside = np.minimum(np.maximum(a, zero), c)
    found = SoftMargin(y, Matrix(K), caps, lam=lam, intercept="feature").bounds(alpha[None], b)
    slack = np.maximum(1 - Q @ a / L[0] - s * B[0], zero)
    assert found.primal == (a @ Q @ a / L[0] + L[0] * B[0] ** 2) / 2 + c @ slack
    assert found.dual == sum(inside) - (inside @ Q @ inside + (s @ inside) ** 2) / (2 * L[0])
    assert found.dual <= found.primal
    nu, rho = float(min(caps[y > 0].sum(), caps[y < 0].sum())), float(rng.random())
    meeting = SoftMargin(y, Matrix(K), caps, nu=nu).bounds(alpha[None], b, target=rho)
    slack = np.maximum(Fraction(rho) - Q @ a - s * B[0], zero)
    assert meeting.primal == a @ Q @ a / 2 + c @ slack - Fraction(nu) * Fraction(rho)
    assert meeting.dual <= meeting.primal


@given(st.integers(0, 10**6))
def test_multipliers_are_made_feasible_in_doubles_as_in_fractions(seed):
    """In fractions they keep every condition exactly; feasible ones stay; doubles, in one part or two, are the same."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(3, 9)), 3
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    caps, alpha = rng.random((n, k)) + 0.1, 1.2 * rng.random((n, k)) - 0.1
    alpha[rng.random((n, k)) < 0.3] = 0.0
    problem = SoftMargin(y, Matrix(np.eye(n)), caps[:, 0])
    totals = rng.random() * np.minimum(*(caps[side].sum(axis=0) for side in (y > 0, y < 0)))
    for total in (None, totals):
        found = problem.feasible(alpha, caps, total)
        for j in range(k):
            given_, most = exact(alpha[:, j]), exact(caps[:, j])
            wanted = None if total is None else Fraction(float(total[j]))
            made = problem.feasible(given_, most, wanted)
            up, down = (sum(made[side]) for side in (y > 0, y < 0))
            assert all(0 <= a <= c for a, c in zip(made, most, strict=True))
            assert up == down
            assert total is None or up == wanted
            assert total is not None or up == min(sum(np.clip(given_, 0, most)[side]) for side in (y > 0, y < 0))
            assert (problem.feasible(made, most, wanted) == made).all()
            np.testing.assert_allclose(found[:, j], made.astype(float), atol=1e-14)
    nearly = problem.feasible(alpha, caps)[:, 0]
    both = exact(problem.feasible_parts(np.stack([nearly, 1e-17 * nearly * rng.normal(size=n)]))).sum(axis=0)
    assert abs(sum(exact(y) * both)) <= 1e-30
    np.testing.assert_allclose(both.astype(float), nearly, atol=1e-15)
    alone = replace(problem, intercept="none")
    assert np.array_equal(alone.feasible(alpha, caps), np.clip(alpha, 0.0, caps))
    assert np.array_equal(alone.feasible(alpha), np.maximum(alpha, 0.0))


@pytest.mark.parametrize("seed", range(5))
def test_bounds_of_squared_and_of_no_slacks_are_those_of_fractions(seed):
    rng = np.random.default_rng(seed)
    n = 6
    y, X = np.where(np.arange(n) < 2, 1.0, -1.0), rng.normal(size=(n, 2))
    X[:, 0] += 4.0 * y
    costs, alpha, b, lam = rng.random(n) + 0.25, rng.random(n), float(rng.normal()), 2.0
    s, x, a, c = (np.vectorize(Fraction, otypes=[object])(each) for each in (y, X, alpha, costs))
    up, down = (sum(a[s == side]) for side in (1, -1))
    made = a * np.where(s == 1, min(Fraction(1), down / up), min(Fraction(1), up / down))
    w, own = (s * a) @ x / 2, (s * made) @ x / 2
    scores = x @ w
    slack = np.maximum(1 - s * (scores + Fraction(b)), Fraction(0))
    soft = SoftMargin(y, Features(X), squares=costs, lam=lam).bounds(alpha[None], b)
    assert soft.primal == w @ w + sum(c * slack**2)
    assert soft.dual == sum(made) - own @ own - sum(made**2 / c) / 4
    hard = SoftMargin(y, Features(X), lam=lam).bounds(alpha[None], b)
    apart = min(scores[s == 1]) - max(scores[s == -1])
    assert apart > 0
    assert hard.primal == w @ w * (2 / apart) ** 2
    assert hard.dual == sum(made) - own @ own
    with pytest.raises(ValueError, match="separates nothing"):
        SoftMargin(y, Features(X), lam=lam).bounds(alpha[None], b, np.array([-1.0, 0.0]))


def test_rounding_of_kernel_values_is_half_the_square_of_weighted_sizes_over_lam():
    y, weight = np.array([1.0, -1.0, 1.0]), np.array([0.5, 0.25, 2.0])
    problem = SoftMargin(y, Matrix(np.eye(3)), np.ones(3), lam=0.25, kernel_rounding=weight)
    alpha = np.array([[1.0, 0.0], [-2.0, 4.0], [0.5, 1.0]])
    np.testing.assert_allclose(problem.value_rounding(alpha), 2.0 * np.array([2.0, 3.0]) ** 2)
    assert problem.value_rounding(alpha[:, 0]) == 8.0
    plain = replace(problem, kernel_rounding=None)
    assert plain.value_rounding(alpha).tolist() == [0.0, 0.0]
    assert plain.value_rounding(alpha[:, 0]) == 0.0
    unit = problem.unit
    assert (unit.lam, unit.caps.tolist()) == (1.0, [4.0] * 3)
    assert replace(problem, caps=None).unit.lam == 0.25


def test_multipliers_in_two_parts_are_clipped_by_their_sum_and_balanced_by_the_second():
    y = np.array([1.0, 1.0, -1.0])
    problem = SoftMargin(y, Matrix(np.eye(3)), np.array([1.0, 2.0, 4.0]))
    found = problem.feasible_parts(np.array([[1.0, 1.0, 3.0], [1e-20, -1e-20, 0.0]]))
    assert found[0].tolist() == [1.0, 1.0, 3.0]
    np.testing.assert_allclose(found[1], [0.0, -1e-20, -1.0])  # the negative class is heavier by 1
    below = problem.feasible_parts(np.array([[0.0, 0.5, 0.5], [-1e-20, 0.0, 0.0]]))
    assert below.tolist() == [[0.0, 0.5, 0.5], [0.0, 0.0, 0.0]]
    alone = replace(problem, intercept="none", caps=None)
    assert alone.feasible_parts(np.array([[9.0, -1.0, 0.0], [0.5, 0.5, 1e-20]])).tolist() == [
        [9.0, 0.0, 0.0],
        [0.5, 0.0, 1e-20],
    ]
