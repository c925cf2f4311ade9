"""Kernel values and distances far from the origin, against exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from statistics import median

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.problem.distances import squared_distances

RNG = np.random.default_rng(15)
EPS = np.finfo(float).eps


def plain(d):
    """Multiples of 2^-10: they stay exact at every offset below."""
    return np.round(1024 * RNG.normal(size=(30, d))) / 1024


PLACES = {
    "at the origin": lambda X: X,
    "map coordinates": lambda X: X + np.resize([4.4e5, 5.4e6], X.shape[1]),
    "time stamps": lambda X: X + 1.7e9,
    "far": lambda X: X + 2.0**42,
    "an outlier": lambda X: np.vstack([X[:-1], X[-1:] + 1e12]),
    "two clusters": lambda X: X + np.where(np.arange(len(X)) % 2, 1e9, -1e9)[:, None],
    "three scales": lambda X: X * np.resize([1.0, 2.0**-20, 2.0**20], len(X))[:, None],
    "duplicates": lambda X: np.vstack([X[:15], X[:15]]) + 1e8,
}
FORMS = {"dense": np.asarray, "sparse": sp.csr_array}


def exact(X, Z):
    """Squared distances, rounded once."""
    rows = [[[Fraction(v) for v in x] for x in A] for A in (X, Z)]
    return np.array([[float(sum((a - b) ** 2 for a, b in zip(x, z, strict=True))) for z in rows[1]] for x in rows[0]])


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("d", [1, 4, 25])
@pytest.mark.parametrize("place", PLACES)
def test_every_distance_and_kernel_value_is_right_relatively(place, d, form):
    X = PLACES[place](plain(d))
    new = X[::3] + 0.25
    # As many roundings as a sum of d squares has, and the bits that products may lose (tolerances.CANCELLED).
    allowed = 32 * (d + 4) * EPS
    for Z in (X, new):
        A, B = form(X), form(Z)
        B = A if Z is X else B
        D = exact(X, Z)
        np.testing.assert_allclose(squared_distances(A, B), D, rtol=allowed, atol=0)
        for bandwidth in (0.05, 1.0, 30.0, 1e9):
            E = D / (2 * bandwidth**2)
            K = pc.RBF(bandwidth)(A, B)
            assert (np.abs(K - np.exp(-E)) <= allowed * (1 + E) * np.exp(-E) + 1e-300).all()
    K = pc.RBF(1.0)(form(X), form(X))
    np.testing.assert_allclose(K, pc.Gram(form(X), pc.RBF(1.0)).matrix, rtol=1e-13, atol=1e-300)
    A = form(X)
    K = pc.RBF(1.0)(A, A)
    assert (K == K.T).all()
    assert (np.diagonal(K) == 1).all()


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("place", PLACES)
def test_the_median_of_distances(place, form):
    X = PLACES[place](plain(3))
    distances = np.sqrt(exact(X, X)[np.tril_indices(len(X), -1)])
    assert pc.RBF.median(form(X)).bandwidth == pytest.approx(median(distances[distances > 0]), rel=1e-14)


def test_many_samples_in_blocks():
    X = np.vstack([plain(2) for _ in range(30)]) + 1e7
    D = squared_distances(X, X)
    rows = RNG.integers(0, len(X), 20)
    np.testing.assert_allclose(D[rows], exact(X[rows], X), rtol=200 * EPS, atol=0)
    K = pc.Gram(X, pc.RBF(0.7)).matrix
    np.testing.assert_allclose(K[rows], np.exp(-exact(X[rows], X) / 0.98), rtol=1e-13, atol=1e-300)
    assert np.linalg.eigvalsh(K)[0] > -1e-12  # before: -0.16


@pytest.mark.parametrize(
    ("X", "bandwidth", "value"),
    [
        ([[1e200], [-1e200]], 1e200, np.exp(-2.0)),
        ([[1e200], [-1e200]], 1.0, 0.0),
        ([[1e200], [1e200]], 1e-200, 1.0),
        ([[1e-200], [-1e-200]], 1e-200, np.exp(-2.0)),
    ],
)
def test_squares_beyond_double_precision(X, bandwidth, value):
    assert pc.RBF(bandwidth)(np.array(X), np.array(X))[0, 1] == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("offset", [1e6, 1e7, 1e9])
def test_a_path_knows_no_origin(offset):
    """Same samples, same path: moved by 1e6 the gap was 1e-15 and the value wrong by 4e-5."""
    X = plain(2)
    y = np.where(X[:, 0] + 0.5 * RNG.normal(size=len(X)) > 0, 1.0, -1.0)
    here, there = (pc.trace(pc.TwoCSVM(Z, y, pc.RBF(1.0)), (0.1, 0.1), (5, 2)) for Z in (X, X + offset))
    for t in np.linspace(0, 1, 9):
        assert there.value(t) == pytest.approx(here.value(t), rel=1e-11)
        scores = there.at(t).classifier.decision_function(X[::2] + offset + 0.5)
        np.testing.assert_allclose(scores, here.at(t).classifier.decision_function(X[::2] + 0.5), atol=1e-8)


def test_features_of_a_far_kernel():
    X = plain(2) + 1e8
    gram = pc.Gram(X, pc.RBF(1.0), low_rank=1e-12)
    np.testing.assert_allclose(gram.features @ gram.features.T, np.exp(-exact(X, X) / 2), atol=1e-9)
