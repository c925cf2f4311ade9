"""Bounds of multipliers, rounded outwards: against the same bounds in fractions, and those of neighbours."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.proof.points import cone_lower
from paretoclf.proof.points.cone_lower import Box, dual_value, in_dual
from paretoclf.proof.points.cone_program import ConeProgram
from paretoclf.proof.points.cones import Cone, Cones
from paretoclf.solve import candidates


def fractions(values):
    """The numbers of an array as fractions, in an object array."""
    flat = [Fraction(float(v)) for v in np.ravel(values)]
    return np.array(flat, dtype=object).reshape(np.shape(values))


def exact_value(program, y, z, box):
    """``-y'Py/2 - b'z + min r'x`` over the box, r = Py + q + A'z, without rounding; y and z may be fractions."""
    P, A = fractions(program.P.toarray()), fractions(program.A.toarray())
    q, b = fractions(program.q), fractions(program.b)
    r = P @ y + q + A.T @ z
    value = -(y @ P @ y) / 2 - b @ z
    for j, slope in enumerate(r):
        if slope:
            value += min(slope * Fraction(float(edge[j])) for edge in (box.low, box.high))
    return value


def random_program(rng, bend=True):
    """Numbers of all sizes, a box, and multipliers in the dual cone."""
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    F = rng.standard_normal((n, n)) * 10.0 ** rng.integers(-2, 3)
    A = rng.standard_normal((m, n)) * 10.0 ** rng.integers(-2, 3, (m, 1))
    program = ConeProgram(
        F.T @ F * bend,
        rng.standard_normal(n) * 10.0 ** rng.integers(-2, 4),
        A,
        rng.standard_normal(m) * 100,
        [Cone("nonnegative", m)],
    )
    centre, half = rng.standard_normal(n), 10.0 ** rng.uniform(-6, 3, n)
    return (
        program,
        rng.standard_normal(n),
        rng.random(m) * 10.0 ** rng.integers(-2, 3),
        Box(centre - half, centre + half),
    )


def test_a_bound_is_below_its_own_value_in_fractions():
    rng, total = np.random.default_rng(1), 300
    for trial in range(total):
        program, y, z, box = random_program(rng, bend=trial % 3 > 0)
        found = dual_value(program, y, z, box)
        truth = exact_value(program, fractions(y), fractions(z), box)
        P, A = abs(program.P.toarray()), abs(program.A.toarray())
        far = np.maximum(abs(box.low), abs(box.high)) + abs(y)
        size = abs(y) @ P @ abs(y) + abs(program.q) @ abs(y) + abs(program.b) @ z + z @ A @ abs(y)
        size = float(size + (P @ abs(y) + abs(program.q) + A.T @ z) @ far)
        assert Fraction(found.value) < truth, trial
        assert float(truth - Fraction(found.value)) <= 1e-12 * size, trial
        assert not found.unabsorbed


def second_order(name, n=200, d=6):
    """Second-order cone problems of samples."""
    rng = np.random.default_rng(1)
    X, beta = rng.standard_normal((n, d)), rng.standard_normal(d)
    labels = np.sign(X @ beta + 2 * rng.standard_normal(n))
    w, b, xi = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="xi", nonneg=True)
    rows = [cp.multiply(labels, X @ w + b) >= 1 - xi]
    if name == "norm":
        return cp.Problem(cp.Minimize(cp.norm(w) + 0.1 * cp.sum(xi)), rows)
    if name == "ball":
        return cp.Problem(cp.Minimize(cp.sum(xi)), [*rows, cp.norm(w) <= 1])
    loss = cp.sum_squares(X @ w - X @ beta - rng.standard_normal(n)) / 2
    return cp.Problem(cp.Minimize(loss + 5 * sum(cp.norm(w[k : k + 2]) for k in range(0, d, 2))))


@pytest.mark.parametrize("name", ["norm", "ball", "group lasso"])
def test_where_every_variable_has_bounds_no_equations_are_solved(name, monkeypatch):
    """Residuals go to bounds, and projections do the rest; nor is the user's own point completed."""
    calls = []
    monkeypatch.setattr(cone_lower, "_solved", lambda *given: calls.append("solved"))
    monkeypatch.setattr(candidates, "_balanced", lambda *given: calls.append("balanced"))
    problem = second_order(name)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    proof = pc.verify(problem)
    assert proof.status == "optimal", proof.explain()
    assert proof.upper - proof.lower <= 1e-9 * proof.upper
    assert calls == []


@pytest.mark.parametrize(
    ("cone", "edge", "outside", "inside"),
    [
        (Cone("nonnegative", 2), [0.0, 1.0], [-1e-12, 1.0], [1e-3, 1.0]),
        (Cone("second-order", 3), [5.0, 3.0, 4.0], [5.0 - 1e-12, 3.0, 4.0], [5.1, 3.0, 4.0]),
        (Cone("psd", 2), [1.0, np.sqrt(2.0), 1.0], [1.0 - 1e-12, np.sqrt(2.0), 1.0], [1.1, np.sqrt(2.0), 1.0]),
        (Cone("exponential"), [-1.0, 1.0, np.exp(-2.0)], [-1.0, 1.0, np.exp(-2.0) - 1e-12], [-1.0, 1.0, 0.2]),
        (Cone("power", 3, 0.5), [0.5, 0.5, 1.0], [0.5, 0.5 - 1e-12, 1.0], [0.6, 0.6, 1.0]),
    ],
)
def test_multipliers_on_an_edge_are_taken_only_where_nothing_moved(cone, edge, outside, inside):
    """Those that are known to be in the dual cone, to the last bit, need not be proved to be in it again."""
    cones, still, moved = Cones([cone]), np.zeros(len(edge)), np.full(len(edge), 1e-6)
    edge, outside, inside = (np.array(each) for each in (edge, outside, inside))
    assert in_dual(edge, still, edge, cones)
    assert not in_dual(edge, moved, edge, cones)  # neighbours are outside
    assert not in_dual(outside, still, edge, cones)
    assert not in_dual(outside, moved, edge, cones)
    assert in_dual(inside, moved, edge, cones)


@pytest.mark.parametrize(("exponent", "over", "root"), [(0.25, 1, 4), (0.375, 3, 8), (0.75, 3, 4), (2.0**-9, 1, 512)])
def test_whatever_is_near_multipliers_of_a_power_cone_is_in_its_dual(exponent, over, root):
    """The corner that is farthest out, in whole powers of fractions: ``|w|`` from inside to outside by rounding."""
    rng, cones, taken = np.random.default_rng(4), Cones([Cone("power", 3, exponent)]), 0
    for _ in range(60):
        u, v = rng.random(2).tolist()
        radius = np.array([u, v, 1.0]) * rng.random(3) * 10.0 ** rng.integers(-6, 0)
        most = ((u - radius[0]) / exponent) ** exponent * ((v - radius[1]) / (1 - exponent)) ** (1 - exponent) - radius[
            2
        ]
        for share in (1e-6, 1e-11, 1e-13, *(2.0**-52 * np.arange(-8, 16, 2))):
            w = float(rng.choice([-1.0, 1.0])) * most * (1 - share)
            found = most > 0 and in_dual(np.array([u, v, w]), radius, np.zeros(3), cones)
            taken += found
            x, y = (Fraction(z) - Fraction(r) for z, r in zip((u, v), radius.tolist(), strict=False))
            a, size = Fraction(exponent), abs(Fraction(w)) + Fraction(radius[2])
            if found:
                assert (x / a) ** over * (y / (1 - a)) ** (root - over) >= size**root
    assert taken >= 2 * 40
