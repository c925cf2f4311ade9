from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.distributions.gaussian.moments import Moments
from paretoclf.formulations.two_c_svm import TwoCSVM
from paretoclf.problem.gram import Gram, nearest_psd
from paretoclf.problem.kernels import (
    RBF,
    Function,
    Linear,
    Named,
    Polynomial,
    Precomputed,
    as_kernel,
    kernel_from_spec,
    kernel_spec,
    median_bandwidth,
)


def samples(n=20, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


class TestKernels:
    @pytest.mark.parametrize("bandwidth", [0.1, 1.0, 7.0])
    def test_rbf_against_scikit_learn(self, bandwidth):
        X, Z = samples(), samples(7, seed=1)
        gamma = 1 / (2 * bandwidth**2)
        K = RBF(bandwidth)(X, X)
        # The rounding of an exponent x is relative to the squares it is a difference of, and exp turns it into x eps.
        terms = gamma * (np.sum(X**2, axis=1).max() + np.sum(Z**2, axis=1).max())
        for got, want in ((RBF(bandwidth)(X, Z), rbf_kernel(X, Z, gamma=gamma)), (K, rbf_kernel(X, X, gamma=gamma))):
            np.testing.assert_allclose(got, want, rtol=1e-15 * (1 + terms), atol=1e-300)
        assert (np.diagonal(K) == 1).all()
        assert (K == K.T).all()

    def test_duplicates_have_rbf_value_one(self):
        X = np.repeat(100 + samples(4), 2, axis=0)
        np.testing.assert_allclose(RBF(0.5)(X, X)[::2, 1::2].diagonal(), 1.0, atol=1e-9)

    @pytest.mark.parametrize("sparse", [False, True])
    @pytest.mark.parametrize("kernel", [RBF(0.7), Polynomial(3, 0.5, 2.0), "laplacian"])
    def test_equal_samples_have_equal_values(self, kernel, sparse):
        # By its place in a product of matrices, the same row is rounded otherwise.
        if sparse and kernel == "laplacian":
            pytest.skip("takes dense samples only")
        X = np.random.default_rng(0).standard_normal((40, 7))[np.random.default_rng(1).integers(0, 40, 333)]
        K = Gram(csr_array(X) if sparse else X, kernel).matrix
        _, first, which = np.unique(X, axis=0, return_index=True, return_inverse=True)
        np.testing.assert_array_equal(K, K[np.ix_(first, first)][np.ix_(which.ravel(), which.ravel())])

    def test_polynomial_against_scikit_learn(self):
        X = samples()
        expected = polynomial_kernel(X, degree=3, gamma=0.5, coef0=2.0)
        np.testing.assert_allclose(Polynomial(3, 0.5, 2.0)(X, X), expected, rtol=1e-13)

    def test_linear(self):
        np.testing.assert_array_equal(Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])), [[11.0]])

    def test_what_a_user_may_write(self):
        assert as_kernel(None) == Linear()
        assert as_kernel("linear") == Linear()
        assert as_kernel("precomputed") == Precomputed()
        assert as_kernel("laplacian") == Named("laplacian")
        assert as_kernel(RBF(2.0)) == RBF(2.0)
        np.testing.assert_allclose(as_kernel("laplacian")(samples(), samples()), laplacian_kernel(samples()))
        f = as_kernel(lambda A, B: A @ B.T)
        assert isinstance(f, Function)
        np.testing.assert_allclose(f(samples(), samples()), samples() @ samples().T)

    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (lambda: RBF(0.0), ["bandwidth", "positive"]),
            (lambda: RBF(-1.0), ["bandwidth", "positive"]),
            (lambda: RBF(np.nan), ["bandwidth", "positive"]),
            (lambda: RBF("wide"), ["bandwidth", "wide"]),
            (lambda: Polynomial(0), ["degree", ">= 1"]),
            (lambda: Polynomial(1.5), ["degree", "1.5"]),
            (lambda: Polynomial(2, scale=-1.0), ["scale", "positive"]),
            (lambda: Polynomial(2, offset=-1.0), ["offset", "nonnegative"]),
            (lambda: as_kernel("nonsense"), ["kernel", "rbf", "nonsense"]),
            (lambda: as_kernel(RBF), ["kernel", "RBF(...)"]),
            (lambda: as_kernel(3), ["kernel", "3"]),
            (lambda: Function(lambda A, B: A)(samples(4, 2), samples(4, 2)), ["kernel", "(4, 4)", "(4, 2)"]),
            (lambda: median_bandwidth(np.ones((4, 2))), ["X", "two different samples"]),
        ],
    )
    def test_bad_kernels(self, make, words):
        with pytest.raises(InputError) as error:
            make()
        for word in words:
            assert word in str(error.value)

    def test_median_bandwidth(self):
        assert median_bandwidth([[0.0], [1.0], [3.0]]) == 2.0  # distances 1, 2, 3
        assert median_bandwidth([[0.0], [0.0], [3.0]]) == 3.0  # the pair at distance 0 does not count
        assert RBF.median([[0.0], [1.0], [3.0]]) == RBF(2.0)

    @pytest.mark.parametrize("kernel", [Linear(), RBF(0.3), Polynomial(2, 0.5, 0.0), Named("laplacian"), Precomputed()])
    def test_kernels_survive_being_described(self, kernel):
        assert kernel_from_spec(kernel_spec(kernel)) == kernel

    def test_a_users_function_must_be_given_again(self):
        f = as_kernel(lambda A, B: A @ B.T)
        with pytest.raises(InputError, match="kernel must be given"):
            kernel_from_spec(kernel_spec(f))
        assert kernel_from_spec(kernel_spec(f), f) == f


KERNELS = [None, RBF(1.0), Polynomial(2), "laplacian", lambda A, B: A @ B.T + 1]


class TestGram:
    @pytest.mark.parametrize("kernel", KERNELS)
    def test_all_views_agree(self, kernel):
        X = samples()
        gram = Gram(X, kernel)
        K, v = gram.matrix, np.random.default_rng(1).normal(size=20)
        np.testing.assert_allclose(gram.matvec(v), K @ v, atol=1e-12)
        np.testing.assert_allclose(gram.matvec(np.outer(v, [1, 2])), np.outer(K @ v, [1, 2]), atol=1e-12)
        np.testing.assert_allclose(gram.rows([3, 1]), K[[3, 1]], atol=1e-13)
        np.testing.assert_allclose(gram.diagonal(), K.diagonal(), atol=1e-13)
        np.testing.assert_allclose(gram.cross(X[:4]), K[:4], atol=1e-13)
        np.testing.assert_allclose(gram.factor @ gram.factor.T, K, atol=1e-9 * np.abs(K).max())

    def test_the_linear_kernel_is_never_squared(self):
        gram = Gram(samples())
        gram.matvec(np.ones(20))
        gram.rows([0])
        gram.diagonal()
        assert gram.factor is gram.X
        assert gram.thin
        assert "matrix" not in gram.__dict__

    @given(st.integers(0, 10**6), st.integers(1, 6), st.integers(6, 15))
    def test_pivoted_cholesky_finds_the_rank(self, seed, rank, n):
        B = np.random.default_rng(seed).integers(-3, 4, size=(n, rank)).astype(float)
        K = B @ B.T
        L = Gram(K, "precomputed").factor
        np.testing.assert_allclose(L @ L.T, K, atol=1e-9 * max(1.0, np.abs(K).max()))
        assert L.shape[1] == max(1, np.linalg.matrix_rank(K))

    def test_duplicates_lower_the_rank(self):
        gram = Gram(np.repeat(samples(5), 6, axis=0), RBF(1.0))
        assert gram.factor.shape == (30, 5)
        assert gram.thin

    def test_a_narrow_kernel_has_no_thin_factor(self):
        assert not Gram(samples(), RBF(0.1)).thin

    def test_the_zero_kernel(self):
        gram = Gram(np.zeros((3, 3)), "precomputed")
        np.testing.assert_array_equal(gram.factor, np.zeros((3, 1)))

    def test_precomputed_columns_of_new_samples(self):
        X = samples()
        gram = Gram(X @ X.T, "precomputed")
        new = samples(4, seed=5) @ X.T
        np.testing.assert_array_equal(gram.cross(new), new)
        with pytest.raises(InputError, match="20 columns"):
            gram.cross(new[:, :5])

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (([[1.0, 2.0]], "precomputed"), ["X", "square", "(1, 2)"]),
            (([[1.0, 2.0], [3.0, 1.0]], "precomputed"), ["symmetric", "(0, 1)"]),
            (([[1.0, 2.0], [2.0, 1.0]], "precomputed"), ["positive semidefinite", "-1"]),
            (([[1.0, np.nan], [np.nan, 1.0]], "precomputed"), ["X", "finite", "row 0"]),
            (([[1.0], [2.0]], lambda A, B: -(A @ B.T)), ["Function", "positive semidefinite"]),
            (([[1.0], [2.0]], lambda A, B: A + 0 * B.T), ["Function", "symmetric"]),
            (([1.0, 2.0], None), ["X", "shape (2,)"]),
        ],
    )
    def test_bad_input(self, arguments, words):
        with pytest.raises(InputError) as error:
            Gram(*arguments)
        for word in words:
            assert word in str(error.value)

    def test_a_kernel_that_is_not_finite(self):
        with pytest.raises(InputError, match="finite"):
            Gram([[1.0], [2.0]], lambda A, B: np.full((2, 2), np.nan))

    def test_overflow_of_a_kernel_is_said(self):
        with pytest.raises(InputError, match="finite"):  # and by nothing else: a warning is an error here
            _ = Gram([[1e200], [2.0]], Polynomial(3)).matrix


class TestNames:
    """``kernel="rbf"`` has one meaning: that of scikit-learn's SVC."""

    @pytest.mark.parametrize("sparse", [False, True])
    def test_rbf_is_that_of_svc(self, sparse):
        X = samples(40, 4) * 3 + 7
        X[X < 5] = 0
        y = np.where(np.arange(40) < 15, 1.0, -1.0)
        given = csr_array(X) if sparse else X
        svm, theirs = TwoCSVM(given, y, "rbf"), SVC(C=2.0, tol=1e-9).fit(given, y)
        assert 1 / (2 * svm.kernel.bandwidth**2) == pytest.approx(theirs._gamma, rel=1e-14)
        assert svm.kernel == RBF.scale(given)
        assert f"RBF(bandwidth={svm.kernel.bandwidth!r})" in repr(svm)
        scores = svm.solve(2.0, 2.0).classifier.decision_function(given)
        np.testing.assert_allclose(scores, theirs.decision_function(given), atol=1e-5)

    def test_where_nothing_varies(self):
        assert 1 / (2 * RBF.scale(np.full((4, 3), 7.0)).bandwidth ** 2) == pytest.approx(1.0)  # as in SVC

    @pytest.mark.parametrize("name", ["poly", "polynomial"])
    def test_poly_shows_its_parameters(self, name):
        X = samples(10, 5)
        gram = Gram(X, name)
        assert gram.kernel == Polynomial(3, scale=0.2, offset=1.0)
        np.testing.assert_allclose(gram.matrix, polynomial_kernel(X), rtol=1e-13)

    def test_a_name_without_samples(self):
        with pytest.raises(InputError, match="depends on the samples"):
            as_kernel("rbf")

    def test_a_matrix_in_place_of_a_kernel(self):
        with pytest.raises(InputError, match="kernel must be None, a name"):
            Gram(samples(), np.eye(20))


class TestRoundedKernelMatrices:
    def single(self):
        return rbf_kernel(samples(60), gamma=0.05).astype(np.float32)

    def test_single_precision_is_refused_with_a_remedy(self):
        with pytest.raises(InputError, match=r"positive semidefinite, .* float64 or take paretoclf.nearest_psd"):
            Gram(self.single(), "precomputed")
        K = rbf_kernel(samples(60), gamma=0.05)
        K[0, 1] += 1e-7
        with pytest.raises(InputError, match=r"symmetric, .* float64 or take paretoclf.nearest_psd"):
            Gram(K, "precomputed")

    def test_the_nearest_matrix_is_accepted_and_is_the_nearest(self):
        K = self.single().astype(float)
        P = nearest_psd(K)
        assert Gram(P, "precomputed").n == 60
        assert np.abs(P - K).max() < 1e-6
        # Optimality of a projection onto a cone: in it, the rest in the polar cone, the two orthogonal.
        S = 0.5 * (K + K.T)
        assert np.linalg.eigvalsh(P)[0] > -1e-13
        assert np.linalg.eigvalsh(P - S)[0] > -1e-13
        assert abs(np.sum(P * (P - S))) < 1e-11

    def test_bad_matrices(self):
        with pytest.raises(InputError, match="square"):
            nearest_psd([[1.0, 2.0]])


@pytest.mark.parametrize("size", [1e200, 1e-200])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_features_whose_squares_are_no_numbers(size, form):
    """Was a bare ValueError of the tracker, after warnings of NumPy."""
    X = form(np.array([[size], [-size]]))
    with pytest.raises(InputError, match=r"X must be 0, or its largest number between 1e-140 and 1e\+140"):
        TwoCSVM(X, [1, -1])
    with pytest.raises(InputError, match="X must be 0, or"):
        RBF.scale(X)
    with pytest.raises(InputError, match="X must be 0, or"):
        Moments.from_samples(X, [1, -1], reg=1.0)


def test_kernel_values_that_add_up_to_no_number():
    with pytest.raises(InputError, match="the diagonal of X must be 0, or"):
        Gram(1e290 * np.eye(2), "precomputed")
    with pytest.raises(InputError, match=r"diagonal of the kernel matrix \(Polynomial\)"):
        _ = Gram([[1e47], [2.0]], Polynomial(3)).matrix


def _cube(A, B):
    return (1.0 + A @ B.T) ** 3


@pytest.mark.parametrize(
    "kernel", [pc.Polynomial(2), pc.Polynomial(3), "polynomial", _cube], ids=["square", "cube", "named", "function"]
)
@pytest.mark.parametrize("low_rank", [None, 5])
def test_new_samples_whose_kernel_values_overflow_are_named(kernel, low_rank):
    """The scores were nan, and every label +1 or -1, without a word."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(12) % 2, 1.0, -1.0)
    X = rng.normal(0.3 * y[:, None], 1.0, (12, 2))
    new = np.array([[1.0, 1.0], [1e200, -1e200]])
    gram = pc.Gram(X, kernel, low_rank)
    with pytest.raises(pc.InputError, match=r"new samples\) must be finite, got .* at \(1, "):
        (gram.cross if low_rank is None else gram.cross_features)(new)
    path = pc.trace(pc.TwoCSVM(X, y, kernel, low_rank=low_rank), (0, 0), (1, 1))
    for ask in (path.scores, path.at(0.5).classifier.predict, path.at(0.5).classifier.decision_function):
        with pytest.raises(pc.InputError, match="must be finite"):
            ask(new)


@pytest.mark.parametrize("low_rank", [None, 5])
@pytest.mark.parametrize("kernel", [pc.Polynomial(2), _cube], ids=["polynomial", "callable"])
def test_training_samples_whose_kernel_values_overflow_are_refused_without_a_warning(kernel, low_rank):
    with pytest.raises(pc.InputError, match="finite"):
        _ = pc.Gram(1e200 * np.eye(6), kernel, low_rank).matrix
