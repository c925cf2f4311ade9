"""Pieces of lines whose matrices are constant: against the polynomial that they bound, in closed form."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from paretoclf.proof.bands import line_judge
from paretoclf.proof.bands.line_judge import ConeJudge
from paretoclf.proof.bands.moving_matrix import NOTHING
from paretoclf.proof.bands.pairs import StackedPairs
from tests.oracles.array_lines import SHARES, array_line


def fractions(values):
    """The numbers of an array as fractions, in an object array."""
    flat = [Fraction(float(v)) for v in np.ravel(values)]
    return np.array(flat, dtype=object).reshape(np.shape(values))


def parabola(rng, columns=3):
    """Minimise x'Px / 2 + q(t)'x + d(t) in the box [-2, 2], with numbers of both signs."""
    factor = rng.normal(size=(columns, columns))
    A = np.vstack([np.eye(columns), -np.eye(columns)])
    q, constant = 5 * rng.normal(size=(2, columns)), 3 * rng.normal(size=2)
    return array_line(A, np.full(2 * columns, 2.0), q, P=factor @ factor.T, constant=constant)


def pairs(rng, judge, line):
    """Pairs at t = 1/8 and t = 1/2 with a point, an y and multipliers that have nothing to do with each other."""
    found = []
    for t in (0.125, 0.5):
        x, y = rng.uniform(-1.9, 1.9, size=(2, line.n))
        found.append(judge.pair(t, x, y, rng.uniform(0, 1, size=line.m)))
    return found


def gap(line, k, j, u):
    """Primal less dual objective at interpolated pairs, and the largest cost of the residual over the box."""
    x, y, z = ((1 - u) * getattr(k, name) + u * getattr(j, name) for name in ("x", "y", "z"))
    now = line.at((1 - u) * k.t + u * j.t)
    residual = now.P @ y + now.q + now.A.T @ z
    e, s = x - y, now.b - now.A @ x
    cost = np.abs(residual) @ np.abs(x) + 2 * np.abs(residual).sum()
    return 0.5 * e @ (now.P @ e) + z @ s, cost


@pytest.mark.parametrize("seed", range(8))
def test_a_piece_bounds_the_gap_and_is_reached_without_residuals(seed):
    rng = np.random.default_rng(seed)
    line = parabola(rng)
    judge = ConeJudge(line, np.inf)
    k, j = pairs(rng, judge, line)
    piece = judge.piece(k, j)
    own = gap(line, k, j, 0.0)[0]
    assert piece.a == pytest.approx(k.own, rel=1e-12)
    assert piece.b == pytest.approx(j.own, rel=1e-12)
    # Each product by itself: energies, slacks and residuals.
    mid = gap(line, k, j, 0.5)[0]
    energies = 0.5 * (k.x - k.y) @ line.P @ (k.x - k.y) + 0.5 * (j.x - j.y) @ line.P @ (j.x - j.y)
    slacks = k.z @ j.s + j.z @ k.s
    residuals = k.missed @ j.reach + j.missed @ k.reach
    assert piece.c == pytest.approx(energies + slacks + residuals, rel=1e-5)
    assert piece.c >= energies + slacks + residuals
    for u in (0.0, *SHARES, 1.0):
        assert gap(line, k, j, u)[0] <= piece.at(u) * (1 + 1e-12)
    assert own <= piece.a
    assert mid <= piece.at(0.5)


@pytest.mark.parametrize("seed", range(16))
def test_objectives_are_between_the_coefficients_of_a_parabola(seed):
    """Minimum and maximum of both ends and of the middle coefficient, 2 f(1/2) - (f(0) + f(1)) / 2, hardly more."""
    rng = np.random.default_rng([1, seed])
    line = parabola(rng)
    judge = ConeJudge(line, np.inf)
    k, j = pairs(rng, judge, line)
    piece = judge.piece(k, j)
    values = [line.value((1 - u) * k.x + u * j.x, (1 - u) * k.t + u * j.t) for u in (0.0, 0.5, 1.0)]
    middle = 2 * values[1] - 0.5 * (values[0] + values[2])
    coefficients = [values[0], middle, values[2]]
    assert piece.low <= min(coefficients)
    assert piece.high >= max(coefficients)
    assert piece.low == pytest.approx(min(coefficients), abs=1e-10)
    assert piece.high == pytest.approx(max(coefficients), abs=1e-10)


def middle(judge, k, j):
    """The middle coefficient between two pairs, and how far off it is at most."""
    value, off = judge._middle_coefficient(StackedPairs.of([k]), StackedPairs.of([j]))
    return float(value[0]), float(off[0])


def test_radii_widen_the_middle_coefficient_by_no_more_than_they_can():
    """The bilinear form at all corners of both radii: it is largest at one of them."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        line = parabola(rng)
        judge = ConeJudge(line, np.inf)
        k, j = (replace(pair, x_radius=rng.uniform(0, 0.5, size=3)) for pair in pairs(rng, judge, line))
        value, off = middle(judge, k, j)
        signs = np.array(list(product((-1.0, 1.0), repeat=3)))
        P, q = line.P.toarray(), line.q
        first_q, last_q = ((1 - each.t) * q[0] + each.t * q[1] for each in (k, j))
        mean = 0.5 * (k.t + j.t)
        constant = (1 - mean) * line.constant[0] + mean * line.constant[1]
        exact = 0.5 * (k.x @ P @ j.x + first_q @ j.x + last_q @ k.x) + constant
        assert value == pytest.approx(exact, rel=1e-12)
        first, last = k.x + signs * k.x_radius, j.x + signs * j.x_radius
        corners = 0.5 * (first @ P @ last.T + last @ first_q + (first @ last_q)[:, None]) + constant
        assert np.abs(corners - value).max() <= off
        sizes = [np.abs(P) @ (np.abs(each.x) + 0.5 * each.x_radius) for each in (k, j)]
        q_sizes = [(1 - each.t) * np.abs(q[0]) + each.t * np.abs(q[1]) for each in (k, j)]
        of_radii = (sizes[0] + q_sizes[0]) @ j.x_radius + (sizes[1] + q_sizes[1]) @ k.x_radius
        assert 0.5 * of_radii <= off <= 0.5 * of_radii * (1 + 1e-5)


def test_the_rounding_of_the_middle_coefficient_is_bounded():
    """In fractions, with terms that cancel; the bound is a few roundings of each term."""
    rng = np.random.default_rng(4)
    for _ in range(40):
        line = parabola(rng)
        judge = ConeJudge(line, np.inf)
        k, j = pairs(rng, judge, line)
        value, off = middle(judge, k, j)
        P, q, d = (fractions(each) for each in (line.P.toarray(), line.q, line.constant))
        x, other = fractions(k.x), fractions(j.x)
        first, last = ((1 - Fraction(each.t)) * q[0] + Fraction(each.t) * q[1] for each in (k, j))
        mean = (Fraction(k.t) + Fraction(j.t)) / 2
        exact = (x @ P @ other + first @ other + last @ x) / 2 + (1 - mean) * d[0] + mean * d[1]
        assert abs(Fraction(value) - exact) <= Fraction(off)
        terms = np.abs(line.constant).sum() + sum(
            (0.5 * np.abs(line.P.toarray()) @ np.abs(a.x) + (1 - a.t) * np.abs(line.q[0]) + a.t * np.abs(line.q[1]))
            @ np.abs(b.x)
            for a, b in ((k, j), (j, k))
        )
        count = 3 + int(np.diff(line.P.indptr).max() + np.diff(line.A.indptr).max() + 3 + 5)
        assert off == pytest.approx(4 * count * np.finfo(float).eps * terms, rel=1e-6, abs=0)


def test_many_pieces_are_made_in_parts_and_in_order(monkeypatch):
    rng = np.random.default_rng(7)
    line = parabola(rng)
    judge = ConeJudge(line, np.inf)
    every = [pairs(rng, judge, line) for _ in range(7)]
    firsts, lasts = [each[0] for each in every], [each[1] for each in every]
    outside = judge.pair(0.0, np.full(3, 5.0), np.zeros(3), np.zeros(6))
    assert outside.why
    firsts[2], lasts[5] = outside, outside
    alone = [judge.piece(k, j) for k, j in zip(firsts, lasts, strict=True)]
    monkeypatch.setattr(line_judge, "AT_ONCE", 2 * line.m)
    assert judge.pieces(firsts, lasts) == alone
    assert alone[2] is alone[5] is NOTHING
    assert all(np.isfinite(piece.gap) for i, piece in enumerate(alone) if i not in (2, 5))
    monkeypatch.setattr(line_judge, "AT_ONCE", 1)
    assert judge.pieces(firsts, lasts) == alone
    with pytest.raises(ValueError, match="zip"):
        judge.pieces(firsts, lasts[:-1])
