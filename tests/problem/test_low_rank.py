"""Low-rank features for a kernel: the factor, its error bounds, and every answer for the approximated kernel."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.problem.gram import Gram
from paretoclf.problem.kernels import RBF, Polynomial
from paretoclf.problem.low_rank import Approximation

KERNELS = [RBF(1.0), Polynomial(2), "laplacian", lambda A, B: A @ B.T + 1.0]


def samples(n=40, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


class TestFactor:
    @pytest.mark.parametrize("kernel", KERNELS)
    def test_at_full_rank_it_is_the_kernel(self, kernel):
        X, new = samples(), samples(7, seed=1)
        exact, gram = Gram(X, kernel), Gram(X, kernel, low_rank=40)
        np.testing.assert_allclose(gram.features @ gram.features.T, exact.matrix, atol=2e-9 * exact.matrix.max())
        np.testing.assert_allclose(gram.cross(new), exact.cross(new), atol=1e-4 * exact.matrix.max())
        assert gram.approximation.largest <= 1e-10 * exact.matrix.max()
        assert gram.approximation.rank == gram.features.shape[1] == gram.pivots.size

    @given(st.integers(0, 10**6), st.integers(1, 12), st.floats(0.3, 3.0))
    def test_errors_are_what_is_reported(self, seed, rank, bandwidth):
        X = np.random.default_rng(seed).integers(-3, 4, size=(15, 2)).astype(float)  # duplicates occur
        kernel = RBF(bandwidth)
        gram, K = Gram(X, kernel, low_rank=rank), kernel(X, X)
        R = K - gram.features @ gram.features.T
        said = gram.approximation
        assert said.rank <= rank
        assert np.abs(R).max() <= said.largest + 1e-12
        assert np.diagonal(R).max() == pytest.approx(said.largest, abs=1e-12)
        assert np.trace(R) / np.trace(K) == pytest.approx(said.remainder, abs=1e-12)
        assert np.linalg.eigvalsh(R)[0] >= -1e-11
        np.testing.assert_allclose(R[gram.pivots], 0.0, atol=1e-11)  # pivots are reproduced

    @pytest.mark.parametrize("tolerance", [0.3, 1e-2, 1e-6])
    def test_a_tolerance_takes_no_pivot_too_many(self, tolerance):
        X = samples(100, 2)
        gram = Gram(X, RBF(1.0), low_rank=tolerance)
        said = gram.approximation
        assert said.remainder <= tolerance
        assert Gram(X, RBF(1.0), low_rank=said.rank - 1).approximation.remainder > tolerance
        assert Gram(X, RBF(1.0), low_rank=said.rank).approximation == said

    def test_pivots_are_greedy_and_the_first_of_equals(self):
        X = np.array([[0.0], [0.1], [5.0], [9.0]])
        np.testing.assert_array_equal(Gram(X, RBF(1.0), low_rank=3).pivots, [0, 3, 2])
        doubled = Gram(np.repeat(samples(5), 6, axis=0), RBF(1.0), low_rank=30)
        assert doubled.approximation.rank == 5
        assert (doubled.pivots % 6 == 0).all()

    def test_ranks_beyond_the_first_allocation(self):
        X = samples(200, 3)
        gram = Gram(X, RBF(0.2), low_rank=1e-9)
        assert gram.approximation.rank > 128
        np.testing.assert_allclose(gram.features @ gram.features.T, RBF(0.2)(X, X), atol=1e-8)

    def test_only_columns_of_the_kernel_are_computed(self):
        shapes = []

        def kernel(A, B):
            shapes.append((len(A), len(B)))
            return RBF(1.0)(A, B)

        gram = Gram(samples(500, 2), kernel, low_rank=10)
        assert max(rows * columns for rows, columns in shapes) <= 32 * 32
        gram.matvec(np.ones(500))
        gram.diagonal()
        gram.cross(samples(9, 2))
        assert max(rows * columns for rows, columns in shapes) <= 32 * 32
        assert "matrix" not in gram.__dict__

    @pytest.mark.parametrize("kernel", KERNELS)
    def test_all_views_agree(self, kernel):
        gram = Gram(samples(), kernel, low_rank=6)
        G, v = gram.features, np.random.default_rng(1).normal(size=40)
        K = G @ G.T
        np.testing.assert_allclose(gram.matrix, K, atol=1e-12)
        np.testing.assert_allclose(gram.matvec(v), K @ v, atol=1e-10)
        np.testing.assert_allclose(gram.rows([3, 1]), K[[3, 1]], atol=1e-12)
        np.testing.assert_allclose(gram.block([3, 1]), K[[3, 1]][:, [3, 1]], atol=1e-12)
        np.testing.assert_allclose(gram.diagonal(), K.diagonal(), atol=1e-12)
        np.testing.assert_allclose(gram.cross_features(samples()), G, atol=1e-9)
        assert gram.factor is G
        assert not gram.linear

    @pytest.mark.parametrize("kernel", KERNELS)
    def test_new_samples_follow_the_nystroem_formula(self, kernel):
        X, new = samples(), samples(9, seed=3)
        exact, gram = Gram(X, kernel), Gram(X, kernel, low_rank=6)
        C, block = exact.cross(new)[:, gram.pivots], exact.matrix[np.ix_(gram.pivots, gram.pivots)]
        expected = C @ np.linalg.solve(block, exact.matrix[gram.pivots])
        np.testing.assert_allclose(gram.cross(new), expected, atol=1e-8 * np.abs(expected).max())
        with pytest.raises(InputError, match="3 columns"):
            gram.cross(new[:, :2])

    def test_precomputed(self):
        X, new, kernel = samples(), samples(9, seed=3), RBF(1.0)
        direct, gram = Gram(X, kernel, low_rank=8), Gram(kernel(X, X), "precomputed", low_rank=8)
        np.testing.assert_array_equal(gram.pivots, direct.pivots)
        np.testing.assert_allclose(gram.features, direct.features, atol=1e-10)
        np.testing.assert_allclose(gram.cross(kernel(new, X)), direct.cross(new), atol=1e-10)

    def test_sparse_samples(self):
        X = sp.random_array((80, 300), density=0.05, format="csr", rng=np.random.default_rng(0))
        one, other = Gram(X, RBF(1.0), low_rank=20), Gram(X.toarray(), RBF(1.0), low_rank=20)
        np.testing.assert_array_equal(one.pivots, other.pivots)
        np.testing.assert_allclose(one.features, other.features, atol=1e-10)
        np.testing.assert_allclose(one.cross(X[:5]), other.cross(X[:5].toarray()), atol=1e-10)

    @pytest.mark.parametrize("low_rank", [12, 1e-3])
    def test_the_pivots_make_the_same_gram_again(self, low_rank):
        gram = Gram(samples(), RBF(1.0), low_rank)
        for again in (Gram(samples(), RBF(1.0), low_rank), Gram(samples(), RBF(1.0), gram.pivots)):
            np.testing.assert_array_equal(again.features, gram.features)
            assert again.approximation == gram.approximation

    def test_pivots_of_ones_own_choice(self):
        gram = Gram(samples(), RBF(1.0), low_rank=(7, 3, 11))
        np.testing.assert_array_equal(gram.pivots, [7, 3, 11])
        np.testing.assert_allclose(gram.matrix[[7, 3, 11]], RBF(1.0)(samples()[[7, 3, 11]], samples()), atol=1e-12)

    def test_a_gram_without_low_rank_gives_up_nothing(self):
        gram = Gram(samples(), RBF(1.0))
        assert (gram.approximation, gram.pivots, gram.note) == (None, None, "")


def indefinite(A, B):
    return -(A @ B.T) + 4.0 * (np.abs(A[:, :1] - B[:, 0]) < 1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((samples(), None, 5), ["low_rank", "linear kernel"]),
        ((samples(), RBF(1.0), 0), ["low_rank", ">= 1", "got 0"]),
        ((samples(), RBF(1.0), True), ["low_rank", "True"]),
        ((samples(), RBF(1.0), 1.0), ["low_rank", "between 0 and 1", "1.0"]),
        ((samples(), RBF(1.0), np.nan), ["low_rank", "nan"]),
        ((samples(), RBF(1.0), "all"), ["low_rank", "all"]),
        ((samples(), RBF(1.0), []), ["low_rank", "from 0 to 39"]),
        ((samples(), RBF(1.0), [0, 0]), ["low_rank", "distinct"]),
        ((samples(), RBF(1.0), [40]), ["low_rank", "from 0 to 39"]),
        ((samples(), RBF(1.0), [[1, 2]]), ["low_rank", "[[1, 2]]"]),
        ((np.zeros((3, 1)), RBF(1.0), [0, 1]), ["low_rank", "sample 1 depends"]),
        ((np.zeros((3, 3)), "precomputed", 2), ["Precomputed", "not zero"]),
        ((samples(), lambda A, B: A @ B.T - 50.0, 5), ["Function", "nonnegative diagonal"]),
        ((samples(), lambda A, B: A @ B.T + A[:, :1] ** 2, 5), ["Function", "symmetric"]),
        ((samples(5), lambda A, B: np.full((len(A), len(B)), np.nan), 5), ["Function", "finite"]),
        (([[1.0, 2.0], [2.0, 1.0]], "precomputed", 2), ["Precomputed", "positive semidefinite", "sample 1"]),
    ],
)
def test_bad_input(arguments, words):
    with pytest.raises(InputError) as error:
        Gram(*arguments)
    for word in words:
        assert word in str(error.value)


def test_a_column_that_is_not_finite():
    def kernel(A, B):
        K = A @ B.T + np.eye(1)
        return np.where(np.abs(K) > 0, np.nan, K) if A.shape[0] != B.shape[0] else K

    with pytest.raises(InputError, match="must be finite, got nan for the samples 0 and"):
        Gram(samples(), kernel, low_rank=3)


class TestSolve:
    @pytest.mark.parametrize("form", ["dual", "primal"])
    def test_at_a_small_tolerance_it_is_the_full_kernel(self, gaussians, form):
        X, y = gaussians(60, 2)
        exact = pc.TwoCSVM(X, y, RBF(1.0)).solve(1.0, 2.0)
        svm = pc.TwoCSVM(X, y, RBF(1.0), low_rank=1e-9)
        solution = svm.solve(1.0, 2.0, form)
        assert solution.certificate.passes(1e-10)
        assert solution.value == pytest.approx(exact.value, rel=1e-6)
        new = samples(20, 2, seed=4)
        np.testing.assert_allclose(
            solution.classifier.decision_function(new), exact.classifier.decision_function(new), atol=1e-3
        )

    @pytest.mark.parametrize("rank", [2, 8, 30])
    @pytest.mark.parametrize("form", ["dual", "primal"])
    def test_it_is_the_linear_problem_in_the_features(self, gaussians, form, rank):
        X, y = gaussians(60, 2)
        svm = pc.TwoCSVM(X, y, RBF(0.5), low_rank=rank)
        solution, linear = svm.solve(1.0, 2.0, form), pc.TwoCSVM(svm.gram.features, y).solve(1.0, 2.0, form)
        assert solution.certificate.passes(1e-10)
        assert solution.value == pytest.approx(linear.value, rel=1e-10)
        np.testing.assert_allclose(solution.classifier.w, linear.classifier.w, atol=1e-7)
        new = samples(9, 2, seed=4)
        np.testing.assert_allclose(
            solution.classifier.decision_function(new),
            linear.classifier.decision_function(svm.gram.cross_features(new)),
            atol=1e-7,
        )
        # The same scores through the Nystroem formula and the multipliers.
        scores = svm.gram.cross(new) @ (y * solution.alpha) + solution.classifier.b
        np.testing.assert_allclose(solution.classifier.decision_function(new), scores, atol=1e-7)

    @given(st.integers(0, 10**6), st.integers(1, 15), st.sampled_from([0.1, 1.0, 10.0]))
    def test_the_optimal_value_moves_by_no_more_than_the_bound(self, seed, rank, cost):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(20, 2)), np.where(np.arange(20) < 8, 1, -1)
        exact = pc.TwoCSVM(X, y, RBF(0.7)).solve(cost, 2 * cost)
        close = pc.TwoCSVM(X, y, RBF(0.7), low_rank=rank).solve(cost, 2 * cost)
        bound = 0.5 * close.approximation.largest * close.alpha.sum() ** 2
        assert -1e-9 * exact.value <= close.value - exact.value <= bound + 1e-9 * exact.value

    def test_everything_says_that_the_kernel_is_approximated(self, gaussians):
        X, y = gaussians(60, 2)
        svm = pc.TwoCSVM(X, y, RBF(1.0), low_rank=5)
        solution = svm.solve(1.0, 2.0)
        said = "pivoted Cholesky, rank 5, relative trace of the remainder"
        assert said in repr(svm)
        assert f"For the approximated kernel ({said}" in solution.certificate.explain()
        assert solution.approximation == svm.gram.approximation
        exact = pc.TwoCSVM(X, y, RBF(1.0))
        assert "approximated" not in repr(exact) + exact.solve(1.0, 2.0).certificate.explain()
        assert exact.solve(1.0, 2.0).approximation is None
        assert str(Approximation(3, 0.25, 0.5)).endswith("rank 3, relative trace of the remainder 2.5e-01")

    def test_sweeps_and_pickles(self, gaussians):
        X, y = gaussians(60, 2)
        svm = pickle.loads(pickle.dumps(pc.TwoCSVM(X, y, RBF(1.0), low_rank=5)))
        swept = pc.sweep(svm, C_plus=[0.1, 1.0], C_minus=0.5)
        assert swept.worst < 1e-9
        assert swept[1].value == pytest.approx(svm.solve(1.0, 0.5).value, rel=1e-10)


class TestPaths:
    """The tracker takes `Gram.features` in place of the kernel matrix."""

    @pytest.mark.parametrize("rank", [5, 40])
    def test_a_path_is_that_of_the_features(self, gaussians, rank):
        X, y = gaussians(60, 2)
        svm = pc.TwoCSVM(X, y, RBF(0.5), low_rank=rank)
        one, other = (pc.trace(s, (0.1, 1.9), (1.9, 0.1)) for s in (svm, pc.TwoCSVM(svm.gram.features, y)))
        assert one.worst_certificate.passes(1e-9)
        np.testing.assert_allclose(one.breakpoints, other.breakpoints, atol=1e-9)
        new = samples(9, 2, seed=4)
        for t in (0.0, 0.3, 1.0):
            expected = other.at(t).classifier.decision_function(svm.gram.cross_features(new))
            np.testing.assert_allclose(one.at(t).classifier.decision_function(new), expected, atol=1e-8)
            np.testing.assert_allclose(one.scores(new)(t), expected, atol=1e-8)
        assert "approximated kernel" in one.at(0.3).certificate.explain()
        assert "approximated kernel" in one.worst_certificate.explain()

    def test_against_cvxpy(self, gaussians):
        X, y = gaussians(60, 2)
        svm = pc.TwoCSVM(X, y, RBF(0.5), low_rank=10)
        path = pc.trace(svm, (0, 0), (1.2, 0.8))
        assert pc.compare(path, svm, n=6, rng=0).agrees()
        with pytest.raises(InputError, match="low_rank"):
            pc.compare(path, pc.TwoCSVM(X, y, RBF(0.5)), n=3)
