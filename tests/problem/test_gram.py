"""Grams of samples against plain products, scikit-learn's kernels and eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.common.memory import BLOCK_ROWS
from paretoclf.problem import gram as module
from paretoclf.problem.gram import Gram, nearest_psd
from paretoclf.problem.kernels import RBF, Polynomial
from paretoclf.problem.operator import Features, Matrix

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 3))
NEW = RNG.normal(size=(4, 3))
COEF = RNG.normal(size=(12, 2))


def rbf(A, B):
    return rbf_kernel(A, B, gamma=0.5)


def square(A, B):
    return polynomial_kernel(A, B, degree=2, gamma=1.0, coef0=1.0)


def own(A, B):
    return A @ B.T + 1.0


#: Kernel, low_rank -> the same kernel, independently; whether there are features.
CASES = {
    "linear": (X, None, None, lambda A, B: A @ B.T, True),
    "sparse": (sp.csr_array(X), None, None, lambda A, B: A @ B.T, True),
    "rbf": (X, RBF(1.0), None, rbf, False),
    "function": (X, own, None, own, False),
    "low rank": (X, RBF(1.0), 12, rbf, True),
    "low rank of a function": (X, own, 12, own, True),
}


@pytest.fixture(params=CASES)
def case(request):
    samples, kernel, low_rank, plain, features = CASES[request.param]
    return Gram(samples, kernel, low_rank), plain, features


def test_all_answers_are_of_one_kernel_matrix(case):
    gram, plain, features = case
    K, near = plain(X, X), {"atol": 1e-7, "rtol": 1e-9}
    np.testing.assert_allclose(gram.matrix, K, **near)
    np.testing.assert_allclose(gram.matvec(COEF), K @ COEF, **near)
    np.testing.assert_allclose(gram.rows([4, 1]), K[[4, 1]], **near)
    np.testing.assert_allclose(gram.block([4, 1]), K[[4, 1]][:, [4, 1]], **near)
    np.testing.assert_allclose(gram.diagonal(), K.diagonal(), **near)
    np.testing.assert_allclose(gram.cross(NEW), plain(NEW, X), **near)
    np.testing.assert_allclose(gram.scores(NEW, COEF), plain(NEW, X) @ COEF, atol=1e-6)
    L = gram.factor.toarray() if sp.issparse(gram.factor) else gram.factor
    np.testing.assert_allclose(L @ L.T, K, atol=1e-7)
    assert isinstance(gram.quadratic, Features if features else Matrix)
    assert (gram.features is not None) == features
    part = gram.part([4, 1, 7])
    np.testing.assert_allclose(part.matrix, K[[4, 1, 7]][:, [4, 1, 7]], **near)
    np.testing.assert_allclose(part.cross(gram.part_of_new([4, 1, 7], [0, 2])), K[[0, 2]][:, [4, 1, 7]], **near)
    assert (part.n, part.note, part.origin, part.names) == (3, "", None, None)
    assert part.pivots is None
    mapped = gram.mapped_rows([3, 5])
    np.testing.assert_allclose(gram.quadratic.scores_of(mapped, COEF), (K @ COEF)[[3, 5]], atol=1e-6)


class TestPrecomputed:
    gram = Gram(rbf(X, X), "precomputed")

    def test_it_is_the_given_matrix(self):
        np.testing.assert_array_equal(self.gram.matrix, rbf(X, X))
        np.testing.assert_array_equal(self.gram.cross(rbf(NEW, X)), rbf(NEW, X))
        assert self.gram.names is None
        assert not self.gram.linear

    def test_low_rank(self):
        gram = Gram(rbf(X, X), "precomputed", 12)
        np.testing.assert_allclose(gram.cross(rbf(NEW, X)), rbf(NEW, X), atol=1e-7)
        np.testing.assert_allclose(gram.matrix, rbf(X, X), atol=1e-9)
        assert gram.note.startswith("For the approximated kernel (")
        assert self.gram.note == ""

    def test_refused(self):
        with pytest.raises(InputError, match="square kernel matrix"):
            Gram(np.ones((2, 3)), "precomputed")
        with pytest.raises(InputError, match="12"):
            self.gram.cross(np.ones((2, 5)))
        with pytest.raises(InputError, match="diagonal of X"):
            Gram(np.diag([1e-305, 0.0]), "precomputed")
        skew = np.eye(3)
        skew[0, 1] = 1e-6
        with pytest.raises(InputError, match=r"symmetric.*nearest_psd"):
            Gram(skew, "precomputed")

    @pytest.mark.parametrize("size", [1.0, 1e6, 1e-6])
    def test_negative_eigenvalues_are_rounding_or_refused(self, size):
        vectors = np.linalg.qr(RNG.normal(size=(6, 6)))[0]

        def of(least):
            K = vectors @ np.diag([1.0, 1.0, 1.0, 0.5, 0.5, least]) @ vectors.T
            return size * (K + K.T) / 2

        Gram(of(-1e-10), "precomputed")
        with pytest.raises(InputError, match=r"positive semidefinite, got smallest eigenvalue -.*nearest_psd"):
            Gram(of(-1e-9), "precomputed")


class TestOrigin:
    offset = np.array([0.0, 1e9, 0.0])
    far = X + offset

    @pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
    def test_features_are_measured_from_it(self, form):
        gram = Gram(form(self.far), free_origin=True)
        assert gram.origin[0] == gram.origin[2] == 0.0
        assert gram.origin[1] == pytest.approx(1e9, rel=1e-6)
        F, Z = gram.features, gram.cross_features(form(NEW + self.offset))
        F, Z = (each.toarray() if sp.issparse(each) else each for each in (F, Z))
        np.testing.assert_array_equal(F, self.far - gram.origin)
        np.testing.assert_array_equal(Z, NEW + self.offset - gram.origin)

    def test_intercepts(self):
        gram, w = Gram(self.far, free_origin=True), np.array([1.0, 1e-9, 2.0])
        there = gram.intercept(5.0, lambda: w)
        np.testing.assert_allclose(self.far @ w + there, gram.features @ w + 5.0, rtol=1e-12)
        assert gram.at_origin(there, lambda: w) == pytest.approx(5.0, abs=1e-14)
        plain = Gram(X)
        assert plain.intercept(5.0, None) == plain.at_origin(5.0, None) == 5.0

    def test_there_is_none(self):
        for gram in (Gram(self.far), Gram(X, free_origin=True), Gram(self.far, RBF(1.0), free_origin=True)):
            assert gram.origin is None


class TestBlocks:
    wide = RNG.normal(size=(2 * BLOCK_ROWS + 5, 2))

    @pytest.mark.parametrize(("kernel", "plain"), [(RBF(1.0), rbf), (Polynomial(2), square), (None, np.inner)])
    def test_symmetric_to_the_last_bit(self, kernel, plain):
        K = Gram(self.wide, kernel).matrix
        np.testing.assert_array_equal(K, K.T)
        np.testing.assert_allclose(K, plain(self.wide, self.wide), rtol=1e-9, atol=1e-12)

    def test_equal_samples_have_equal_rows(self):
        doubled = np.vstack([self.wide, self.wide[::-1]])
        K, n = Gram(doubled, RBF(0.7)).matrix, len(self.wide)
        np.testing.assert_array_equal(K[:n], K[n:][::-1])
        np.testing.assert_array_equal(K, K.T)
        A = np.arange(25.0).reshape(5, 5)
        found = module._equal_for_equals(A.copy(), np.array([0, 1, 0, 2, 1]))
        np.testing.assert_array_equal(found, A[np.ix_([0, 1, 0, 3, 1], [0, 1, 0, 3, 1])])

    def test_not_finite(self):
        K = np.zeros((3, 4))
        K[1, 2] = K[2, 1] = np.nan
        with pytest.raises(InputError, match=r"\(name\) must be finite, got nan at \(11, 2\)"):
            module._finite(K, "name", 10)
        with pytest.raises(InputError, match=r"finite, got inf at \(300, 300\)"):
            module._in_blocks(lambda A, B: np.where(A[:, :1] * B[:, 0] > 50, np.inf, 0), np.eye(400)[:, 300:301] * 9)
        with pytest.raises(InputError, match=r"finite, got nan at \(0, 0\)"):
            Gram(X, lambda A, B: np.full((len(A), len(B)), np.nan))

    def test_diagonals_of_blocks(self):
        gram = Gram(self.wide[:70], own, 5)
        np.testing.assert_allclose(gram._kernel_diagonal(), (self.wide[:70] ** 2).sum(axis=1) + 1)


@pytest.mark.parametrize(("kernel", "copies"), [(None, 1), (RBF(1.0), 1), (own, 2)])
def test_memory_is_asked_for_before(kernel, copies, monkeypatch):
    asked = []
    monkeypatch.setattr(module, "require_memory", lambda *words: asked.append(words))
    assert Gram(X, kernel).matrix.shape == (12, 12)
    ((size, what, remedy),) = asked
    assert size == 8 * 12 * 12 * copies + 8 * 12 * 2 * BLOCK_ROWS
    assert ("12 samples" in what, "low_rank" in remedy) == (True, True)


def test_the_scale_of_numbers():
    for samples, kernel, what in ((1e160 * X, None, "X must"), (X, lambda A, B: 1e-305 * own(A, B), "the diagonal of")):
        with pytest.raises(InputError, match=what):
            _ = Gram(samples, kernel).matrix


def test_features_there_are_not():
    with pytest.raises(InputError, match="left out for the linear kernel"):
        Gram(X, None, 3)
    with pytest.raises(InputError, match="use cross"):
        Gram(X, RBF(1.0)).cross_features(NEW)
    with pytest.raises(InputError, match="new samples"):
        Gram(X, lambda A, B: own(A, B) * np.where(np.abs(A[:, :1]) < 50, 1.0, np.nan)).mapped(100 * NEW[:1])


def test_names_of_features():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    gram = Gram(frame)
    assert tuple(gram.names) == ("a", "b", "c")
    np.testing.assert_array_equal(gram.cross_features(frame[:2]), X[:2])
    with pytest.raises(InputError, match="b"):
        gram.check_new(frame[["b", "a", "c"]])


class TestFactor:
    def test_of_a_matrix_of_rank_two(self):
        F = RNG.normal(size=(12, 2)) * [1.0, 1e-3]
        gram = Gram(F @ F.T, "precomputed")
        assert gram.factor.shape == (12, 2)
        np.testing.assert_allclose(gram.factor @ gram.factor.T, F @ F.T, atol=1e-14)
        assert gram.thin
        assert gram.by_factor
        rows, scale = gram.coordinates()
        np.testing.assert_array_equal(rows, gram.factor)
        assert scale.shape == (2,)

    @pytest.mark.parametrize("size", [1e-8, 1e8])
    def test_its_rank_has_no_unit(self, size):
        F = RNG.normal(size=(12, 2)) * [1.0, 1e-3]
        assert Gram(size * (F @ F.T), "precomputed").factor.shape == (12, 2)

    def test_of_full_rank(self):
        gram = Gram(X, RBF(0.1))
        assert (gram.thin, gram.by_factor, gram.strict) == (False, False, True)
        assert (Gram(X).by_factor, Gram(X).strict, Gram(X, RBF(1.0), 3).strict) == (True, False, False)

    def test_a_quarter_of_the_columns_is_not_thin(self):
        assert not Gram(X).thin  # 3 of 12
        assert Gram(np.vstack([X, NEW])).thin

    def test_of_zero(self):
        gram = Gram(np.zeros((4, 4)), "precomputed")
        np.testing.assert_array_equal(gram.factor, np.zeros((4, 1)))


def test_rounding_of_kernel_values():
    assert Gram(X).rounding is None
    assert Gram(X, RBF(1.0), 3).rounding is None
    assert Gram(rbf(X, X), "precomputed").rounding is None
    gram = Gram(X, RBF(1.0))
    np.testing.assert_array_equal(gram.rounding, RBF(1.0).rounding(X, gram.diagonal()))
    assert gram.rounding.max() > 0


def test_the_samples_are_copied():
    given = X.copy()
    gram = Gram(given)
    given[:] = 0.0
    np.testing.assert_array_equal(gram.X, X)


def test_a_gram_of_a_quadratic():
    of_matrix, of_features = Gram.of(Matrix(rbf(X, X))), Gram.of(Features(X))
    assert (of_matrix.n, of_features.n) == (12, 12)
    assert of_features.linear
    assert (of_matrix.approximation, of_matrix.pivots, of_matrix.features) == (None, None, None)
    np.testing.assert_array_equal(of_matrix.cross(rbf(NEW, X)), rbf(NEW, X))


class TestNearest:
    def test_negative_eigenvalues_become_0(self):
        K = RNG.normal(size=(6, 6))
        found = nearest_psd(K)
        values, vectors = np.linalg.eigh((K + K.T) / 2)
        expected = sum(v * np.outer(u, u) for v, u in zip(values, vectors.T, strict=True) if v > 0)
        np.testing.assert_allclose(found, expected, atol=1e-13)
        np.testing.assert_allclose(pc.nearest_psd(found), found, atol=1e-13)

    def test_refused(self):
        with pytest.raises(InputError, match=r"K must be a square matrix, got shape \(2, 3\)"):
            nearest_psd(np.ones((2, 3)))
        with pytest.raises(InputError, match="K"):
            nearest_psd([[np.nan]])
