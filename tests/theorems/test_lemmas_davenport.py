"""Lemmas 1 to 3 of Davenport et al. (2010), appendix, on instances. Misprints of their proofs: eD4 in test_errata."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import paretoclf as pc


def overlapping(n_plus=9, n_minus=14, seed=0, d=2):
    rng = np.random.default_rng(seed)
    y = np.repeat([1.0, -1.0], [n_plus, n_minus])
    return np.round(rng.normal(size=(y.size, d)) + 0.4 * y[:, None], 1), y


def twins(seed=0):
    """Every sample twice: multipliers are not unique, so that there is more than one optimal solution."""
    X, y = overlapping(5, 7, seed)
    return np.concatenate([X, X]), np.concatenate([y, y])


def largest_sum(X, y, w, caps):
    """Largest sum of multipliers within the caps that have the slope w: a linear program."""
    equal = np.vstack([(X * y[:, None]).T, y])
    done = linprog(-np.ones(y.size), A_eq=equal, b_eq=[*w, 0.0], bounds=[(0, c) for c in caps], method="highs")
    assert done.status == 0
    return -done.fun


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("asymmetry", [0.35, 0.6])
def test_lemma_1_all_solutions_have_sum_nu_where_the_value_is_not_zero(seed, asymmetry):
    """Optimal are the multipliers of the optimal slope (it is unique) whose sum is at least nu: none has more."""
    X, y = twins(seed)
    svm = pc.TwoNuSVM(X, y)
    star, top = svm.nu_star(asymmetry), svm.nu_max(asymmetry)
    caps = np.where(y > 0, asymmetry, 1 - asymmetry) / y.size
    for share in (0.2, 0.7, 1.0):
        nu = (1 - share) * star + share * top
        solution = svm.solve(nu=nu, asymmetry=asymmetry)
        assert solution.value < -1e-6
        assert solution.alpha.sum() == pytest.approx(nu)
        assert largest_sum(X, y, solution.classifier.w, caps) == pytest.approx(nu, abs=1e-7)
    # Where the value is zero there is one of sum nu (a multiple of that of sum nu_star), but others have more.
    assert largest_sum(X, y, np.zeros(2), caps) == pytest.approx(star, abs=1e-7)
    assert star > 0


@pytest.mark.parametrize("seed", range(3))
def test_lemma_2_one_shared_solution_and_all_are_shared(seed):
    """Random multipliers of the optimal face of either problem have the optimal value of the other."""
    X, y = twins(seed)
    n, C, asymmetry = y.size, 0.4, 0.45
    svm = pc.TwoNuSVM(X, y)
    two_c = pc.TwoCSVM(X, y).solve(C * asymmetry, C * (1 - asymmetry))
    shared = two_c.alpha / (C * n)
    nu = shared.sum()
    two_nu = svm.solve(nu=nu, asymmetry=asymmetry)
    caps = np.where(y > 0, asymmetry, 1 - asymmetry) / n
    Q = (X @ X.T) * np.outer(y, y)
    rng = np.random.default_rng(seed)
    found = []
    for w in (X.T @ (y * shared), two_nu.classifier.w):
        equal = np.vstack([(X * y[:, None]).T, y, np.ones(n)])
        for _ in range(4):
            # The sum is the same for all optimal solutions of the 2C-SVM, as their slope and their value are.
            done = linprog(
                rng.normal(size=n), A_eq=equal, b_eq=[*w, 0.0, nu], bounds=[(0, c) for c in caps], method="highs"
            )  # fmt: skip
            assert done.status == 0
            found.append(done.x)
    for alpha in found:
        assert 0.5 * alpha @ Q @ alpha == pytest.approx(-two_nu.value, abs=1e-8)
        assert C * n * (0.5 * C * n * alpha @ Q @ alpha - alpha.sum()) == pytest.approx(-two_c.value, abs=1e-6)
    assert max(np.abs(a - b).max() for a in found for b in found) > 1e-3  # they are different solutions


def coinciding():
    """Class means that are the same point, of 2 positives and 4 negatives: w = 0 at nu_plus = nu_minus = 1."""
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.0, 2.0], [0.0, -2.0]])
    return X, np.array([1.0, 1.0, -1.0, -1.0, -1.0, -1.0])


def test_lemma_3_a_value_of_zero_at_the_nu_of_a_cost_is_the_largest_nu_at_every_cost():
    X, y = coinciding()
    n, n_plus, n_minus = 6, 2, 4
    gamma = n_minus / n  # both classes reach their caps
    svm = pc.TwoCSVM(X, y)
    top = pc.TwoNuSVM(X, y).nu_max(gamma)
    caps = np.where(y > 0, gamma, 1 - gamma) / n
    for C in (0.01, 1.0, 100.0):
        alpha = svm.solve(C * gamma, C * (1 - gamma)).alpha / (C * n)
        assert alpha == pytest.approx(caps, abs=1e-9)  # the same for all costs
        assert np.abs(X.T @ (y * alpha)).max() < 1e-9
        assert alpha.sum() == pytest.approx(top)
    assert top == pytest.approx(2 * gamma * n_plus / n)
