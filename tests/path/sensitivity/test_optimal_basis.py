"""Certified bases, against solutions in fractions."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.engine.reduction.of_arrays import line_of
from paretoclf.path.sensitivity.optimal_basis import Core, Within, basis_at, times
from paretoclf.problem.qp import QP
from tests.oracles.small_programs import solved


def exact(numbers):
    return [[Fraction(float(v)) for v in row] for row in np.atleast_2d(numbers)]


def within(found, column, true):
    """Whether an exact column is within its radii, and these are small."""
    off = [abs(Fraction(float(a)) - b) for a, b in zip(found.middle[:, column], true, strict=True)]
    assert all(each <= Fraction(float(r)) for each, r in zip(off, found.radius[:, column], strict=True))
    assert found.radius[:, column].max() <= 1e-9 * max(1.0, np.abs(found.middle[:, column]).max())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("spread", [0, 4])
def test_a_core_encloses_the_solution_in_fractions(seed, spread):
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(6, 6)) * 10.0 ** rng.uniform(-spread, spread, 6)
    core = Core.of(F + F.T)
    right = rng.normal(size=(6, 2)) * 10.0 ** rng.uniform(-spread, spread, (6, 1))
    found = core.solve(Within.of(right))
    for column in range(2):
        true = solved(exact(F + F.T), [Fraction(float(v)) for v in right[:, column]])
        off = [abs(Fraction(float(a)) - b) for a, b in zip(found.middle[:, column], true, strict=True)]
        assert all(each <= Fraction(float(r)) for each, r in zip(off, found.radius[:, column], strict=True))
    if not spread:
        assert found.radius.max() <= 1e-10 * np.abs(found.middle).max()


def test_what_is_singular_has_no_inverse():
    assert Core.of(np.ones((2, 2))) is None
    assert Core.of(np.zeros((1, 1))) is None
    assert Core.of(np.diag([1.0, 1e-200])) is not None  # a unit is no rank
    assert Core.of(np.array([[1.0, 1.0], [1.0, 1.0 + 1e-13]])) is None


def test_radii_of_what_goes_in_come_out():
    found = times(sp.csr_array([[2.0, -3.0]]), Within(np.ones((2, 1)), np.array([[0.5], [0.25]])))
    assert found.radius[0, 0] == pytest.approx(1.75)
    core = Core.of(np.array([[4.0]]))
    assert core.solve(Within(np.array([[1.0]]), np.array([[0.5]]))).radius[0, 0] == pytest.approx(0.125, rel=1e-3)


def test_an_optimum_is_known_with_its_radius():
    """The least |x|^2 / 2 - x0 / 3 with 3 x0 + x1 = 1, x2 >= 1/7 and a loose row, in fractions."""
    qp = QP(np.eye(3), [-1 / 3, 0, 0], [[3.0, 1, 0], [0, 0, 7], [1, 1, 1]], [1, 1, -np.inf], [1, np.inf, 9])
    line = line_of(qp, {}, {})
    third = Fraction(1 / 3)
    y = (Fraction(1) - 3 * third) / 10
    x = [third + 3 * y, y, Fraction(1, 7)]
    basis = basis_at(line, np.array([float(v) for v in x]), np.array([-float(y), 0.0, float(x[2]) / 7]))
    within(basis.optimum.x, 0, x)
    within(basis.optimum.rates[[1]], 0, [9 - sum(x)])
    assert not basis.is_degenerate
    assert basis.active.tolist() == [True, False, True]


def test_what_is_degenerate_is_told():
    """A twin of a tight row; a tight row without a multiplier; an equation that is said twice."""
    rows, one = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.ones(3)
    x = np.ones(2)
    twin = basis_at(line_of(QP(None, [1.0, 1], rows, one, None), {}, {}), x, np.array([1.0, 1, 0]))
    assert (twin.weak.tolist(), twin.active.tolist()) == ([False, False, True], [True, True, False])
    flat = basis_at(line_of(QP(None, [1.0, 0], rows[:2], one[:2], None), {}, {}), x, np.array([1.0, 0]))
    assert flat.weak.tolist() == [False, True]
    equations = QP(None, [1.0, 1], np.vstack([rows, [[1.0, 1]]]), [1, 1, -1, 2], [1, 1, np.inf, 2])
    said = basis_at(line_of(equations, {}, {}), x, np.array([-1.0, -1, 0, 0]))
    assert said.dependent.sum() == 1
    assert said.is_degenerate
    assert basis_at(flat.line, np.array([2.0, 3.0]), np.zeros(2)) is None  # no row is tight
