"""Slips of one term: each is the problem that one would write, and all of them are DPP where the problem is."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.solve.grading.slips import FACTORS, slips_of

TIGHT = {"solver": "CLARABEL", "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
A, B = np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.3]]), np.array([1.0, -0.5, 2.0])
y, lam = cp.Variable(3, name="y"), cp.Parameter(pos=True, name="lam")
box = cp.norm_inf(A.T @ y)

#: Terms of the objective and of the constraint ``sum >= 0``, whose factors are all 1.
PROBLEMS = {
    "plain": ([-B @ y, -cp.sum_squares(y) / 2], [np.ones(3) @ y, cp.Constant(1.0)]),
    "a parameter beside a term": ([-lam * (B @ y), -cp.sum_squares(y)], [2 * lam, -box]),
    "a parameter below": ([-B @ y, -cp.sum_squares(y) / (4 * lam)], [lam, -box]),
    "a square of a parameter": ([-B @ y - lam * cp.sum(y), -lam * cp.sum_squares(y)], [lam + 1, -box]),
}


def problem_of(objective, constraint):
    return cp.Problem(cp.Maximize(sum(objective)), [(sum(constraint) >= 0).set_label("room")])


@pytest.mark.parametrize("name", PROBLEMS)
def test_each_slip_has_the_value_of_the_problem_that_one_would_write(name):
    objective, constraint = PROBLEMS[name]
    slips = slips_of(problem_of(objective, constraint))
    assert slips.problem.is_dcp(dpp=True)
    seen = set()
    for lam.value in (0.7, 1.9):
        plain = problem_of(objective, constraint).solve(**TIGHT, ignore_dpp=True)
        assert slips.problem.solve(**TIGHT) == pytest.approx(plain, rel=1e-7)
        values = {}
        for words, parameter, factor in slips.changes:
            with slips.made(parameter, factor) as changed:
                try:
                    values[words] = changed.solve(**TIGHT)
                except cp.SolverError:
                    values[words] = np.nan
            assert parameter.value == 1.0
        for k, term in enumerate(objective):
            if term.is_affine() or "square" not in name:
                continue
            for factor, word in FACTORS.items():
                written = problem_of([*objective[:k], factor * term, *objective[k + 1 :]], constraint)
                said = next((words for words in values if words.startswith(word) and "sum_squares" in words), None)
                assert (said is None) == (not written.is_dcp())
                if said is not None:
                    seen.add(factor)
                    expected = written.solve(**TIGHT, ignore_dpp=True)
                    # Without the square there is no bound, and a solver may find no ray.
                    assert values[said] == pytest.approx(expected, rel=1e-6) or not np.isfinite(expected)
    assert seen == ({0.5, 2.0, 0.0} if "square" in name else set())


def test_words_say_which_term_and_where():
    words = [each for each, _, _ in slips_of(problem_of(*PROBLEMS["plain"])).changes]
    assert any(each.startswith("With half of") and "sum_squares(y)" in each for each in words)
    assert not any("other sign of sum_squares" in each for each in words)
    assert any(each.startswith("With the other sign of") and each.endswith("in room") for each in words)
