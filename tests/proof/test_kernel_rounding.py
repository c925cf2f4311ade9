"""Every proof says what the rounding of kernel values can do: compared with the kernel in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.problem.gram import Gram
from paretoclf.problem.kernels import Polynomial
from paretoclf.proof.segments.stored_segments import totals

POLYNOMIAL = Polynomial(2)


def samples(unit, n=12):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return unit * (rng.normal(0, 1, (n, 2)) + 0.5 * y[:, None]), y


def paths(X, y, kernel=POLYNOMIAL):
    """A path of every kind, and what `alpha' K alpha / 2` counts in its objective."""
    big = float(np.max(np.diagonal(Gram(X, kernel).matrix)))
    svm = pc.TwoCSVM(X, y, kernel)
    lam = big / y.size
    yield "costs", pc.trace(svm, (0.0, 0.0), (100 / big, 100 / big)), 1.0
    yield "nu", pc.trace(pc.TwoNuSVM(X, y, kernel), nu=(0.25, None), asymmetry=0.5), 1.0
    for bias in (False, True):
        yield f"quantile {bias}", pc.trace(pc.QuantileSVM(X, y, kernel, bias=bias), tau=(0.1, 0.9), lam=lam), 1 / lam
    yield (
        "margins",
        pc.trace(pc.BiobjectiveMargin(X, y, kernel), theta=(0.5, 2.0), C_plus=1 / big, C_minus=1 / big),
        0.5,
    )


def off_by(path, t, X, weight):
    """By how much the term of the norm differs for the kernel itself, exactly."""
    rows = [[Fraction(float(v)) for v in row] for row in X]
    alpha, y, rounded = path.at(t).numbers["alpha"], path.y, path.gram.matrix
    if isinstance(path, pc.results.MarginPath):  # of the paper's scaled labels
        alpha = alpha * np.where(y > 0, 1.0, path.theta(t))
    a = [Fraction(float(v)) for v in alpha * y]
    off = sum(
        a[i] * a[j] * ((1 + sum(u * v for u, v in zip(rows[i], rows[j], strict=True))) ** 2 - Fraction(rounded[i, j]))
        for i in range(y.size)
        for j in range(y.size)
    )
    return float(abs(off) / 2) * weight


@pytest.mark.parametrize("unit", [1.0, 30.0])
def test_every_kind_of_path_says_what_rounding_of_the_kernel_can_do(unit):
    X, y = samples(unit)
    for name, path, weight in paths(X, y):
        assert path.proof.holds(), name
        ends = path.proof.t
        for j in (0, len(path.proof) // 2, len(path.proof) - 1):
            t = 0.3 * ends[j] + 0.7 * ends[j + 1]
            point, segment = path.certificate(t), path.proof[j]
            exact = off_by(path, t, X, weight)
            assert exact <= point.kernel_rounding * (1 + 1e-12), name
            assert 0.0 < point.kernel_rounding <= segment.kernel_rounding * (1 + 1e-9), name
            assert segment.kernel_rounding <= 1e3 * max(exact, 1e-15 * segment.scale), name


@pytest.mark.parametrize("kind", range(5))
def test_where_it_can_do_more_than_the_tolerance_nothing_is_decided(kind):
    """Costs that large, and values of 1e12 that cancel to a handful: the kernel's own optimum is not known to 1e-8."""
    X, y = samples(1.0)
    name, path, _ = list(paths(X, y))[kind]
    proof = path.proof
    assert proof.passes(), name
    small = float((proof.kernel_rounding / proof.sizes.max(axis=1)).max())
    tol = 0.5 * small  # a tolerance that rounding decides
    loose = max(tol, 1e-300)
    assert proof.of_other_values(loose).size > 0
    assert not proof.passes(loose)
    if proof.holds(loose):
        assert "of the kernel values as rounded" in proof.explain(loose)


def test_steep_costs_of_a_polynomial_kernel_are_undecided_and_not_refused():
    X, y = samples(1e3)
    path = pc.trace(pc.TwoCSVM(X, y, POLYNOMIAL), (0, 0), (1, 1))
    proof = path.proof
    assert proof.holds()
    assert not proof.passes()
    assert proof.worst.verdict() == "undecided"
    assert "undecided" in repr(proof)
    assert "of the kernel values as rounded; on " in proof.explain()


@pytest.mark.parametrize("kernel", [None, "precomputed"])
def test_values_that_are_the_data_are_not_rounded(kernel):
    X, y = samples(1.0)
    for _, path, _ in paths(X @ X.T + np.eye(y.size) if kernel else X, y, kernel):
        assert path.proof.kernel_rounding is None
        assert path.certificate(float(path.proof.t[0])).kernel_rounding == 0.0


def test_powers_of_whole_numbers_are_not_rounded():
    X, y = np.array([[100.0, -3.0], [7.0, 250.0], [-31.0, 4.0], [12.0, 1.0]]), np.array([1.0, -1.0, 1.0, -1.0])
    exact = [[(int(u @ v) + 1) ** 3 for v in X] for u in X]
    K = Polynomial(3)(X, X)
    assert [[int(v) for v in row] for row in K] == exact
    path = pc.trace(pc.TwoCSVM(X, y, Polynomial(3)), (0, 0), (1e6, 1e6))
    assert path.certificate(0.5).kernel_rounding == 0.0
    large = Gram(1e3 * X, Polynomial(3))  # the values no longer fit a double
    assert large.rounding is not None


@pytest.mark.parametrize("kernel", [POLYNOMIAL, pc.RBF(1.0)])
def test_a_plane_and_a_grid_say_it_too(kernel):
    X, y = samples(1.0)
    plane = pc.plane(pc.TwoCSVM(X, y, kernel), C_plus=(0.1, 1.0), C_minus=(0.1, 1.0))
    corners = plane.certificates("vertices")
    for j, of_region in enumerate(corners):
        most = max(c.kernel_rounding / c.scale for c in of_region)
        assert 0 < plane.proof.kernel[j] <= 1e3 * most
        assert plane.proof.kernel[j] >= 0.5 * min(c.kernel_rounding / c.scale for c in of_region)
    assert plane.proof.passes()
    assert not plane.proof.passes(0.5 * plane.proof.kernel.min())
    grid = pc.nu_grid(pc.TwoNuSVM(X, y, kernel), nu_plus=[0.5, 0.9], nu_minus=[0.6, 0.9])
    for k in range(len(grid.proof)):
        i, j = divmod(int(np.flatnonzero(~grid.refused.ravel())[k]), 2)
        point = grid.at(i, j).certificate
        np.testing.assert_allclose(grid.proof.kernel[k], point.kernel_rounding / point.scale, rtol=1e-9)


def test_the_judges_of_other_losses_say_it():
    X, y = samples(1.0)
    for loss in ("hinge", "square", "logistic"):
        solution = pc.SurrogateRisk(X, y, kernel=POLYNOMIAL, loss=loss).solve(C_plus=1.0, C_minus=1.0)
        assert solution.certificate.kernel_rounding > 0.0


def test_sums_of_multipliers_at_the_ends_of_segments():
    """By hand, from the path's own multipliers."""
    X, y = samples(1.0, n=30)
    path = pc.trace(pc.TwoCSVM(X, y, pc.RBF(1.0)), (0.2, 1.0), (3.0, 0.4))
    weight, caps = np.random.default_rng(1).uniform(0.5, 2.0, 30), np.stack([path.caps(0.0), path.caps(1.0)])
    found = totals(path.pieces, caps, weight)
    for j in range(found.shape[0]):
        t0, t1 = path.pieces.t[j : j + 2]
        for share in (0.25, 0.75):
            t = (1 - share) * t0 + share * t1
            np.testing.assert_allclose(
                (1 - share) * found[j, 0] + share * found[j, 1], weight @ path.alpha(t), rtol=1e-9
            )
