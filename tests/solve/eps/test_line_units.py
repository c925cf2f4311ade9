"""Tests of `paretoclf.solve.eps.line_units`: what is right in common units is right in extreme ones."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.proof.bands.band_proof import prove_band
from paretoclf.solve.eps.line_units import LineUnits
from paretoclf.solve.sources.cone_problem_line import LineOfCones

TIGHT = {"solver": "CLARABEL", "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def norms(rng, price, length):
    """A sum of norms, with its data in units of a length and its value in units of a price."""
    A, b, x, t = rng.normal(size=(6, 3)), rng.normal(size=6), cp.Variable(3, name="x"), cp.Parameter(nonneg=True)
    loss = cp.norm(A @ x - length * b, float(rng.choice([1.5, 2.0, 3.0]))) + t * cp.norm(x, 3)
    return cp.Problem(cp.Minimize(price / length * loss)), t, (0.05, 1.0)


def eigenvalue(rng, price, length):
    """The largest eigenvalue, its weight from 0 on."""
    A, x, t = rng.normal(size=(3, 3)), cp.Variable(3, name="x"), cp.Parameter(nonneg=True)
    largest = cp.lambda_max(length * (A + A.T) + cp.diag(x))
    loss = t * largest + cp.norm(x - length, 2)
    return cp.Problem(cp.Minimize(price / length * loss)), t, (0.0, 1.0)


def bounded(rng, price, length):
    """Norms and squares under a bound on a sum."""
    a, x, t = rng.uniform(0.5, 2, size=3), cp.Variable(3, name="x"), cp.Parameter(nonneg=True)
    loss = (cp.norm(x - length * a, 2) + t * cp.norm(x, 1)) / length + cp.sum_squares(x) / length**2
    return cp.Problem(cp.Minimize(price * loss), [cp.sum(x) <= 3.5 * length, x[0] >= 0.1 * length]), t, (0.0, 1.0)


EXTREME = [(1e8, 1.0), (1e-8, 1.0), (1.0, 1e-6), (1.0, 1e6), (1e6, 1e-6), (1e-8, 1e6)]


@pytest.mark.parametrize("kind", [norms, eigenvalue, bounded])
@pytest.mark.parametrize(("price", "length"), EXTREME)
def test_lines_in_extreme_units_are_proved_and_their_values_are_those_of_common_ones(kind, price, length):
    problem, t, (start, stop) = kind(np.random.default_rng(1), price, length)
    path = pc.trace(problem, {t: start}, {t: stop}, eps=1e-4, progress=False)
    assert path.proof.passes()
    again = prove_band(path._judge, (path.t, path.x, path.y, path.z), 1e-4)
    assert again.passes(), "what is stored is proved of the line as it is"
    plain, common, _ = kind(np.random.default_rng(1), 1.0, 1.0)
    shares, best = (1.0, 0.37, 0.0), []
    for share in shares:
        common.value = (1 - share) * start + share * stop
        best.append(price * plain.solve(**TIGHT))
    size = max(map(abs, best))  # where the value is 0, eps is a share of this
    for share, value in zip(shares, best, strict=True):
        low, high = path.bounds(share)
        assert low - 1e-6 * size <= value <= high + 1e-6 * size
        assert high - low <= 1.01e-4 * size


@pytest.mark.parametrize(("price", "length"), [(1e8, 1e-6), (1e-8, 1e6)])
def test_what_is_wrong_in_extreme_units_is_not_proved(price, length):
    problem, t, (start, stop) = bounded(np.random.default_rng(0), price, length)
    path = pc.trace(problem, {t: start}, {t: stop}, eps=1e-4, progress=False)
    judge, points = path._judge, (path.t, path.x, path.y, path.z)
    for which in range(1, 4):
        for scale in (1.01, 0.9):
            wrong = [*points]
            wrong[which] = points[which].copy()
            wrong[which][len(path.t) // 2] *= scale
            assert not prove_band(judge, tuple(wrong), 1e-4).passes(), (which, scale)


def test_a_line_in_extreme_units_ends_where_it_has_no_solution_with_a_proof():
    """A norm that must be at most t, of what must be at least 1e-6: t falls from 2e-6 to 0."""
    x, t = cp.Variable(2, name="x"), cp.Parameter(nonneg=True)
    problem = cp.Problem(cp.Minimize(1e6 * cp.sum(x)), [cp.norm(x, 2) <= t, x[0] >= 1e-6])
    path = pc.trace(problem, {t: 2e-6}, {t: 0.0}, eps=1e-3, progress=False)
    assert path.status == "infeasible"
    assert path.t[-1] == pytest.approx(0.5, abs=1e-3)
    assert path.beyond.proof.passes()


def test_common_units_are_left_as_they_are_and_powers_of_two_go_there_and_back_exactly():
    problem, t, (start, stop) = norms(np.random.default_rng(0), 1.0, 1.0)
    line = LineOfCones(problem, {t: start}, {t: stop}).line
    assert LineUnits.of(line).plain
    problem, t, (start, stop) = bounded(np.random.default_rng(0), 1e8, 1e-6)
    line = LineOfCones(problem, {t: start}, {t: stop}).line
    units = LineUnits.of(line)
    assert units.points == 2.0 ** round(np.log2(units.points)) < 1e-4
    scaled, rng = units.scaled(line), np.random.default_rng(0)
    x, z = rng.normal(size=line.n), rng.normal(size=line.m)
    _, own, _, multipliers = units.back((np.zeros(1), x, x, z))
    assert units.values * scaled.value(x, 0.3) == pytest.approx(line.value(own, 0.3), rel=1e-13)
    here, there = scaled.at(0.3), line.at(0.3)
    np.testing.assert_allclose(units.points * (here.b - here.A @ x), there.b - there.A @ own, rtol=1e-12, atol=1e-20)
    gradient = here.P @ x + here.q + here.A.T @ z
    expected = there.P @ own + there.q + there.A.T @ multipliers
    np.testing.assert_allclose(units.values / units.points * gradient, expected, rtol=1e-10)
    for one, other in zip(units.into(units.back((np.zeros(1), x, x, z))), (np.zeros(1), x, x, z), strict=True):
        np.testing.assert_array_equal(one, other)
    moving = replace(line, lacks=np.ones(line.n))
    assert LineUnits.of(moving).plain
