from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.problem.nu import caps_of
from paretoclf.proof.points.hulls import grade_hulls
from paretoclf.proof.soft_margin import SoftMargin

X = np.random.default_rng(0).normal(size=(12, 2)) + 0.4 * np.repeat([1.0, -1.0], [5, 7])[:, None]
Y = np.repeat([1.0, -1.0], [5, 7])


def optimal_value(nu, cap_plus, cap_minus):
    alpha = cp.Variable(Y.size)
    within = [alpha >= 0, alpha <= np.where(Y > 0, cap_plus, cap_minus), Y @ alpha == 0, cp.sum(alpha) == nu]
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares((Y[:, None] * X).T @ alpha)), within)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return -problem.value


def test_points_judged_together_are_bounded_one_by_one_where_some_have_wrong_sums():
    svm, values = pc.TwoNuSVM(X, Y), np.array([0.6, 0.9])
    pairs = [svm.to_asymmetry(plus, minus) for plus in values for minus in values]
    nu, asymmetry = (np.array(x) for x in zip(*pairs, strict=True))
    caps = asymmetry / Y.size, (1 - asymmetry) / Y.size
    alpha = pc.nu_grid(svm, values, values).alpha.reshape(4, -1).T.copy()
    alpha[:, 1] *= 0.999  # too little: moved up, towards the caps
    alpha[:, 3] *= 1.001  # too much, and beyond the caps
    graded = grade_hulls(SoftMargin.of(svm.gram, Y, caps_of(asymmetry, Y), nu=nu), alpha)
    best = np.array([optimal_value(nu[j], caps[0][j], caps[1][j]) for j in range(4)])
    assert graded.dual_value[[0, 2]] == pytest.approx(best[[0, 2]], rel=1e-9)
    assert graded.primal_value[[0, 2]] == pytest.approx(best[[0, 2]], rel=1e-9)
    for j in (1, 3):  # bounds, and not far off
        assert 1.01 * best[j] < graded.dual_value[j] < best[j] * (1 + 1e-9)
        assert best[j] < graded.primal_value[j]
    assert list(graded.passes()) == [True, False, True, False]
    assert list(graded.residuals["complementarity"] > 1e-4) == [False, True, False, False]
    assert list(graded.residuals["box"] > 1e-4) == [False, False, False, True]
