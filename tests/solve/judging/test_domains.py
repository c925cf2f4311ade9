"""Values beyond the domains of atoms: those at the nearest arguments, and no point far beyond is optimal."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.solve.judging.domains import in_domain

BESIDE = np.array([-3e-16, 4.0])

#: Atoms, with the value at (0, 4).
ATOMS = {
    "power": (lambda v: cp.power(v, 1.5), [0, 8]),
    "root": (cp.sqrt, [0, 2]),
    "mean": (cp.geo_mean, 0),
    "entropy": (cp.entr, [0, -4 * np.log(4)]),
    "divergence": (lambda v: cp.kl_div(v, np.ones(2)), [1, 4 * np.log(4) - 3]),
    "norm": (lambda v: cp.pnorm(v, 0.5), 4),
    "one entry": (lambda v: cp.sqrt(v[0]), 0),
    "below others": (lambda v: 2 * cp.sum(cp.square(1 + cp.sqrt(v))), 2 * (1 + 9)),
    "a logarithm": (cp.log, [-np.inf, np.log(4)]),
    "none is outside": (lambda v: cp.sqrt(1 + v), [1, np.sqrt(5)]),
}


@pytest.mark.parametrize("name", ATOMS)
def test_values_are_those_at_the_nearest_arguments(name):
    made, value = ATOMS[name]
    with np.errstate(divide="ignore"):
        found = in_domain(made(cp.Constant(BESIDE))).value
    np.testing.assert_allclose(found, value, atol=1e-12)


def test_constraints_have_both_sides_moved():
    moved = in_domain(cp.sqrt(cp.Constant(-3e-16)) >= cp.power(cp.Constant(-1e-12), 1.5) - 1)
    assert [float(side.value) for side in moved.args] == [-1, 0]


def test_what_is_not_moved_into_its_domain_stays_as_it_is():
    """CVXPY has another entry's gradient for means along an axis: nothing is moved that does not help."""
    columns = cp.Constant(np.array([[1.0, -1e-17], [4.0, 1.0]]))
    with np.errstate(invalid="ignore"):
        value = in_domain(cp.geo_mean(columns, axis=0)).value
    assert np.isnan(value[1]) or value[1] == 0


X = cp.Variable(2, name="x")
PROBLEMS = {
    "power": (cp.Problem(cp.Minimize(1 + cp.sum(cp.power(X, 1.5)) + X[0])), 0.0),
    "mean": (cp.Problem(cp.Maximize(1 + cp.geo_mean(X) - 4 * X[1]), [X <= 1, X[0] <= 0]), 0.0),
    "entropy": (cp.Problem(cp.Minimize(1 + cp.sum(X) - cp.sum(cp.entr(X))), [cp.sum(X) <= 0.0]), 0.0),
    "a constraint": (cp.Problem(cp.Minimize(1 + cp.sum(X)), [cp.power(X, 1.5) <= 1]), 0.0),
    "a steep one": (cp.Problem(cp.Minimize(1 + X[0] - 1e-3 * cp.sqrt(X[0])), [X[1] == 0]), 5e-7),
}


@pytest.mark.parametrize("beyond", [3e-16, 1e-10, 1e-7, 1e-2])
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_point_beside_the_domain_is_judged_by_the_nearest_in_it(name, beyond):
    """Beyond the tolerance it is a violation, and what is not optimal at the edge is not beside it."""
    problem, missed = PROBLEMS[name]
    with np.errstate(invalid="ignore"):  # the solver's own point may be beside the domain, too
        problem.solve("CLARABEL")
    X.save_value(np.array([-beyond, 0.0]))
    proof = pc.verify(problem)
    assert proof.status == ("optimal" if beyond < 1e-8 and missed == 0.0 else "not optimal"), proof.explain()
    if beyond > 1e-8:
        assert "does not hold" in proof.explain()
