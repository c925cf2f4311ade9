"""Tests of `paretoclf.path.regions.critical_region`."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.regions.critical_region import Bases, Sets
from tests.oracles.exact import fractions
from tests.path.cost_plane.test_cost_plane import CASES, SQUARE, fingerprint, generic


@pytest.mark.parametrize("case", ["rbf", "linear", "equal classes"])
def test_crossing_every_edge_by_the_tracker_finds_the_same_map(monkeypatch, case):
    svm = generic(**CASES[case])
    usual = pc.plane(svm, SQUARE, SQUARE)
    monkeypatch.setattr(Bases, "beyond", lambda *_: None)
    assert fingerprint(pc.plane(svm, SQUARE, SQUARE)) == pytest.approx(fingerprint(usual), abs=1e-8)


def exact_solution(Q, y, F, at_cap, targets):
    """Margin multipliers, intercept and gradient of a basis in rationals, columns (1, C_plus, C_minus, epsilon)."""
    k, n = len(F), len(y)
    fixed = Q @ at_cap
    rows = [[*Q[i, F], y[i], 1, *(-fixed[i]), targets[i]] for i in F]
    rows.append([*y[F], 0, 0, *(-(y @ at_cap)), 0])
    M = np.array([[Fraction(v) for v in row] for row in rows], dtype=object)
    for c in range(k + 1):
        pivot = next(r for r in range(c, k + 1) if M[r, c] != 0)
        M[[c, pivot]] = M[[pivot, c]]
        M[c] = M[c] / M[c, c]
        for r in range(k + 1):
            if r != c:
                M[r] = M[r] - M[r, c] * M[c]
    x = M[:, k + 1 :]
    g = Q[:, F] @ x[:k] + np.outer(y, x[k])
    g[:, 1:3] += fixed
    g[:, 0] -= 1
    g[:, 3] -= targets
    assert n == g.shape[0]
    return x[:k].astype(float), x[k].astype(float), g.astype(float)


@pytest.mark.parametrize("kind", ["features", "gram"])
@pytest.mark.parametrize("size", [1e-2, 1e-4])
def test_a_nearly_dependent_basis_against_rationals(kind, size):
    """Four margin samples of three features, one of which is tiny: condition numbers up to 1e9."""
    rng = np.random.default_rng(4)
    X = rng.integers(-8, 9, (9, 3)) / 8.0 * np.array([1.0, 1.0, 2.0 ** np.round(np.log2(size))])
    X -= np.round(X.mean(axis=0) * 8) / 8
    y = np.array([1, 1, 1, 1, -1, -1, -1, -1, -1])
    sets = np.array([2, 2, 1, 0, 2, 2, 1, 1, 0], dtype=np.int8)
    gram = pc.Gram(X) if kind == "features" else pc.Gram(X @ X.T, "precomputed")
    bases = Bases(gram, y.astype(float), np.ones(9), np.array([[0.1, 0.1], [2, 0.1], [2, 2], [0.1, 2]]))
    solved = bases.solve([Sets(sets, np.flatnonzero(sets == 2))])
    assert solved.independent.all()
    a, b, g = solved.alpha[0].T, solved.b[0], solved.gradient[0].T
    F = [int(i) for i in np.flatnonzero(sets == 2)]
    signed = fractions(y)[:, None] * (fractions(X - X.mean(axis=0)))
    Q = signed @ signed.T if kind == "features" else sum(fractions(part[1:, 1:]) for part in bases._factors[0])
    at_cap = np.where((sets == 1)[:, None], np.stack([y > 0, y < 0], axis=1), 0).astype(object)
    exact = exact_solution(Q, fractions(y), F, at_cap, fractions(bases._targets))
    for ours, theirs in zip((a, b, g), exact, strict=True):
        scale = np.abs(exact[0]).max(axis=0)
        assert np.abs(ours - theirs).max() <= 1e-14 * scale.max()
    assert np.abs(g[F]).max() <= 1e-20 * np.abs(a).max()  # and those of the margin set are zero, not rounding


def test_a_first_basis_that_cannot_be_used_is_refused_as_degenerate(monkeypatch):
    monkeypatch.setattr(
        Bases,
        "_inverses",
        lambda self, rows, inside: (np.zeros((len(rows), *2 * [rows.shape[1]])), np.full(len(rows), False)),
    )
    with pytest.raises(pc.DegeneratePathError, match="the margin set is dependent"):
        pc.plane(generic(n=8), SQUARE, SQUARE)


def test_a_map_with_a_wrong_region_is_refused(monkeypatch):
    solve = Bases.solve

    def wrong(self, bases):
        solved = solve(self, bases)
        return solved._replace(alpha=solved.alpha + 1e-5 * solved.members[:, None])

    monkeypatch.setattr(Bases, "solve", wrong)
    with pytest.raises(pc.DegeneratePathError):
        pc.plane(generic(n=12), SQUARE, SQUARE)
