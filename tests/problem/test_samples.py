"""Sparse samples: the check, every view of the Gram, solvers, certificates and paths, against the dense answer."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.problem.gram import Gram
from paretoclf.problem.kernels import RBF, Named, Polynomial, median_bandwidth
from paretoclf.problem.operator import Features, Matrix
from paretoclf.problem.samples import check_samples, same_samples
from paretoclf.proof.points import hinge
from paretoclf.proof.points.hinge import certify_hinges
from paretoclf.proof.points.judged_classifiers import make_solution
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.points.two_c import certify
from paretoclf.solve import polish

KERNELS = [None, RBF(1.0), Polynomial(2), "laplacian", lambda A, B: (A @ B.T).toarray() + 1.0]


def sparse(n, d, density, seed=0):
    return sp.random_array((n, d), density=density, format="csr", rng=np.random.default_rng(seed))


def problem(n, d, density, seed=0):
    """Samples, and labels that a plane explains but for some noise."""
    X = sparse(n, d, density, seed)
    rng = np.random.default_rng(seed + 1)
    scores = X @ rng.normal(size=d)
    noisy = scores + 0.5 * scores.std() * rng.normal(size=n)
    return X, np.where(noisy > np.median(noisy), 1, -1)


@st.composite
def matrices(draw):
    """Small sparse matrices in any format, with empty rows and columns as the rule."""
    n, d = draw(st.integers(1, 8)), draw(st.integers(1, 12))
    values = st.one_of(st.just(0.0), st.just(0.0), st.integers(-3, 3).map(float))
    dense = np.array(draw(st.lists(values, min_size=n * d, max_size=n * d))).reshape(n, d)
    return dense, sp.coo_array(dense).asformat(draw(st.sampled_from(["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])))


class TestCheck:
    @given(matrices())
    def test_every_format_becomes_the_same_canonical_array(self, pair):
        dense, given_matrix = pair
        A = check_samples(given_matrix)
        assert isinstance(A, sp.csr_array)
        assert A.has_canonical_format
        assert A.data.all()
        assert (A.dtype, A.indices.dtype, A.indptr.dtype) == (np.float64, np.int32, np.int32)
        np.testing.assert_array_equal(A.toarray(), dense)
        assert same_samples(A, check_samples(sp.csr_array(dense)))
        assert same_samples(A, dense)
        assert not same_samples(A, dense + 1.0)

    def test_duplicates_zeros_and_order_and_what_was_given_stays(self):
        data, indices = np.array([1.0, 2.0, 0.0, 5.0, 3.0]), np.array([2, 0, 1, 1, 1], dtype=np.int64)
        X = sp.csr_array((data, indices, np.array([0, 3, 5], dtype=np.int64)), shape=(2, 3))
        A = check_samples(X)
        np.testing.assert_array_equal(A.toarray(), [[2.0, 0.0, 1.0], [0.0, 8.0, 0.0]])
        np.testing.assert_array_equal(A.indices, [0, 2, 1])
        assert A.indices.dtype == np.int32
        np.testing.assert_array_equal(X.data, [1.0, 2.0, 0.0, 5.0, 3.0])
        np.testing.assert_array_equal(X.indices, [2, 0, 1, 1, 1])

    @pytest.mark.parametrize("kind", [np.int64, np.float32, np.bool_])
    def test_numbers_of_other_kinds(self, kind):
        assert check_samples(sp.csr_matrix(np.eye(3, dtype=kind))).dtype == np.float64

    @pytest.mark.parametrize(
        ("X", "words"),
        [
            (sp.coo_array(([1.0, np.nan], ([0, 2], [1, 3])), shape=(3, 4)), ["finite", "nan", "row 2", "column 3"]),
            (sp.csc_array(([np.inf], ([1], [0])), shape=(3, 4)), ["finite", "inf", "row 1", "column 0"]),
            (sp.csr_array((0, 4)), ["at least one row", "(0, 4)"]),
            (sp.csr_array((4, 0)), ["at least one row", "(4, 0)"]),
            (sp.coo_array(np.ones(3)), ["shape (3,)"]),
            (sp.csr_array(1j * np.eye(2)), ["real", "complex128"]),
        ],
    )
    def test_bad(self, X, words):
        for word in ["X", *words]:
            with pytest.raises(InputError) as error:
                check_samples(X)
            assert word in str(error.value)

    def test_broken_indices(self):
        X = sp.csr_array(np.eye(3))
        X.indices = np.array([0, 1, 7], dtype=np.int32)
        with pytest.raises(InputError, match="valid sparse matrix"):
            check_samples(X)

    def test_wrong_number_of_columns(self):
        with pytest.raises(InputError, match="new must have 3 columns as in training, got 2"):
            check_samples(sp.csr_array(np.eye(2)), "new", n_features=3)


class TestGram:
    @pytest.mark.parametrize("kernel", KERNELS)
    def test_all_views_are_those_of_the_dense_samples(self, kernel):
        X = sparse(30, 50, 0.1)
        dense_kernel = (lambda A, B: A @ B.T + 1.0) if callable(kernel) and not hasattr(kernel, "psd") else kernel
        one, other = Gram(X, kernel), Gram(X.toarray(), dense_kernel)
        v = np.random.default_rng(1).normal(size=(30, 2))
        new = sparse(7, 50, 0.1, seed=5)
        for name, argument in [("matvec", v), ("rows", [3, 1]), ("block", [3, 1])]:
            np.testing.assert_allclose(getattr(one, name)(argument), getattr(other, name)(argument), atol=1e-12)
        np.testing.assert_allclose(one.matrix, other.matrix, atol=1e-12)
        assert (one.matrix == one.matrix.T).all()
        np.testing.assert_allclose(one.diagonal(), other.diagonal(), atol=1e-12)
        np.testing.assert_allclose(one.cross(new), other.cross(new.toarray()), atol=1e-12)
        for matrix in (one.matrix, one.cross(new), one.matvec(v), one.rows([0]), one.block([0]), one.diagonal()):
            assert type(matrix) is np.ndarray

    @pytest.mark.parametrize("kernel", [None, RBF(1.0), Polynomial(2), "laplacian"], ids=str)
    def test_new_samples_need_not_be_as_the_training_samples_were(self, kernel):
        X, new = sparse(20, 30, 0.2), sparse(6, 30, 0.2, seed=2)
        expected = Gram(X.toarray(), kernel).cross(new.toarray())
        np.testing.assert_allclose(Gram(X, kernel).cross(new.toarray()), expected, atol=1e-12)
        np.testing.assert_allclose(Gram(X.toarray(), kernel).cross(new), expected, atol=1e-12)

    def test_features_are_the_samples_themselves(self):
        gram = Gram(sparse(20, 30, 0.2))
        assert gram.features is gram.X
        assert gram.factor is gram.X
        assert isinstance(gram.cross_features(sparse(5, 30, 0.2)), sp.csr_array)
        assert Gram(sparse(20, 30, 0.2), RBF(1.0)).features is None
        with pytest.raises(InputError, match="linear kernel and with low_rank only"):
            Gram(sparse(20, 30, 0.2), RBF(1.0)).cross_features(sparse(5, 30, 0.2))

    def test_what_cannot_be_sparse_says_so(self):
        with pytest.raises(InputError, match="X must be a dense array, got a sparse matrix"):
            Gram(sp.csr_array(np.eye(4)), "precomputed")
        with pytest.raises(InputError, match="kernel 'chi2' must be given dense samples"):
            Gram(sparse(4, 4, 0.5), Named("chi2"))
        with pytest.raises(InputError, match="K must be a dense array"):
            certify([1, -1], [1.0, 1.0], [0.5, 0.5], 0.0, K=sp.csr_array(np.eye(2)))

    def test_median_bandwidth(self):
        X = sparse(300, 40, 0.2)  # more samples than one block of rows
        assert median_bandwidth(X) == pytest.approx(median_bandwidth(X.toarray()), rel=1e-12)


@pytest.mark.parametrize("form", ["dual", "primal"])
@pytest.mark.parametrize(("n", "d"), [(80, 30), (50, 200)], ids=["tall", "wide"])
class TestSolve:
    def test_the_answer_is_that_of_the_dense_samples(self, form, n, d):
        X, y = problem(n, d, 0.1)
        one, other = pc.TwoCSVM(X, y), pc.TwoCSVM(X.toarray(), y)
        a, b = one.solve(1.0, 0.5, form), other.solve(1.0, 0.5, form)
        assert a.certificate.passes(1e-10)
        assert a.value == pytest.approx(b.value, rel=1e-10)
        np.testing.assert_allclose(a.classifier.w, b.classifier.w, atol=1e-8)
        new = sparse(9, d, 0.1, seed=7)
        expected = b.classifier.decision_function(new.toarray())
        for given_new in (new, new.tocsc(), new.toarray()):
            np.testing.assert_allclose(a.classifier.decision_function(given_new), expected, atol=1e-7)
        np.testing.assert_array_equal(a.classifier.predict(new), np.where(expected >= 0, 1, -1))

    def test_models_hold_sparse_constants_and_are_swept(self, form, n, d):
        X, y = problem(n, d, 0.1)
        svm = pc.TwoCSVM(X, y)
        shapes = [c.shape for c in svm.model(form).problem.constants() if not sp.issparse(c.value)]
        assert (n, d) not in shapes
        assert (d, n) not in shapes
        swept = pc.sweep(svm, form=form, C_plus=[0.1, 1.0], C_minus=0.5)
        assert swept.worst < 1e-9
        assert swept[1].value == pytest.approx(svm.solve(1.0, 0.5).value, rel=1e-10)

    def test_wide_features_are_polished_through_the_multipliers(self, form, n, d, monkeypatch):
        X, y = problem(n, d, 0.1)
        monkeypatch.setattr(polish, "WIDE", 10)
        solution = pc.TwoCSVM(X, y).solve(1.0, 0.5, form)
        assert solution.certificate.passes(1e-10)


def test_a_kernel_on_sparse_samples_is_solved():
    X, y = problem(60, 40, 0.1)
    one, other = pc.TwoCSVM(X, y, RBF(1.0)).solve(1.0, 2.0), pc.TwoCSVM(X.toarray(), y, RBF(1.0)).solve(1.0, 2.0)
    assert one.value == pytest.approx(other.value, rel=1e-10)


def test_pickles_and_verifies():
    X, y = problem(40, 60, 0.1)
    svm = pickle.loads(pickle.dumps(pc.TwoCSVM(X, y)))
    solution = svm.solve(1.0, 2.0)
    claim = (1.0, 2.0, solution.alpha, solution.classifier.b)
    assert pc.verify(X.tocoo(), y, [claim]).passes()
    assert not pc.verify(X, y, [(1.0, 2.0, 0.9 * solution.alpha)]).passes()


def numbers(c):
    return {"primal value": c.primal_value, "dual value": c.dual_value, "gap": c.gap, **c.conditions}


class TestCertificate:
    @pytest.mark.parametrize("d", [8, 60])
    def test_same_as_for_the_dense_samples(self, d):
        X, y = problem(30, d, 0.2)
        rng = np.random.default_rng(0)
        caps, alpha, b, w = np.ones(30), rng.uniform(-0.1, 1.1, 30), 0.3, rng.normal(size=d)
        for extra in ({}, {"w": w}, {"w": w, "xi": rng.uniform(size=30)}):
            one, other = (certify(y, caps, alpha, b, X=A, **extra) for A in (X, X.toarray()))
            assert one.worst == other.worst
            assert numbers(one) == pytest.approx(numbers(other), abs=1e-12)

    @pytest.mark.parametrize("separate", [False, True])
    @pytest.mark.parametrize("kind", ["sparse", "dense", "kernel"])
    def test_blocks_change_nothing(self, kind, separate, monkeypatch):
        X, y = problem(30, 50, 0.2)
        rng = np.random.default_rng(0)
        caps, alpha, b = np.ones((30, 7)), rng.uniform(-0.1, 1.1, (30, 7)), rng.normal(size=7)
        made = {"sparse": Features(X), "dense": Features(X.toarray()), "kernel": Matrix((X @ X.T).toarray())}
        given = SoftMargin(y.astype(float), made[kind], caps), alpha, b
        W = rng.normal(size=(50, 7)) if separate and kind != "kernel" else None
        whole = certify_hinges(*given, W)
        monkeypatch.setattr(hinge, "_WORK", 1)  # one column at a time
        for one, other in zip(certify_hinges(*given, W), whole, strict=True):
            assert one.worst == other.worst
            assert numbers(one) == pytest.approx(numbers(other), abs=1e-12)

    def test_without_w_it_is_the_implied_one(self):
        X, y = problem(30, 50, 0.2)
        alpha = np.random.default_rng(0).uniform(size=30)
        one = certify(y, np.ones(30), alpha, 0.1, X=X)
        other = certify(y, np.ones(30), alpha, 0.1, X=X, w=X.T @ (y * alpha))
        assert one.primal_value == pytest.approx(other.primal_value, rel=1e-14)
        assert one.conditions["stationarity in w"] == 0.0


def test_memory_grows_with_the_stored_numbers_only():
    """Samples that would fill a gigabyte, and a kernel matrix of 50 megabytes: nothing of either is formed."""
    n, d, k = 2500, 48_784, 256
    rows, columns = np.repeat(np.arange(n), 146), np.random.default_rng(0).integers(0, d, size=146 * n)
    X = sp.coo_array((np.ones(146 * n), (rows, columns)), shape=(n, d))  # 99.7 % zeros
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    alpha, caps = np.random.default_rng(1).uniform(size=(n, k)), np.ones((n, k))
    tracemalloc.start()
    try:
        svm = pc.TwoCSVM(X, y)
        svm.gram.matvec(alpha[:, 0])
        svm.gram.rows([0, 1])
        svm.gram.diagonal()
        svm.gram.cross_features(X)
        classifier = pc.results.Classifier.best(svm.gram, svm.y, caps[:, 0], alpha[:, 0])
        solution = make_solution(classifier, pc.Costs(1, 1), source="test")
        assert solution.classifier.w.shape == (d,)
        solution.classifier.predict(X)
        assert not solution.certificate.passes()
        certify_hinges(SoftMargin(svm.y, Features(svm.X), caps), alpha, np.zeros(k))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 45e6


SHAPES = [(60, 12), (40, 90)]


def distinct(path):
    """Breakpoints, of which rounding may have made two of one."""
    t = path.breakpoints
    return t[np.diff(t, prepend=-1.0) > 1e-9]


class TestPaths:
    """The tracker takes `Gram.features`, dense or CSR."""

    @staticmethod
    def lines(y):
        share = np.mean(y > 0)
        return {"ray": ((0, 0), (2 * (1 - share), 2 * share)), "asymmetry": ((0.02, 0.98), (0.98, 0.02))}

    @pytest.mark.parametrize("line", ["ray", "asymmetry"])
    @pytest.mark.parametrize(("n", "d"), SHAPES, ids=["tall", "wide"])
    def test_a_path_is_that_of_the_dense_samples(self, n, d, line):
        X, y = problem(n, d, 0.25)
        start, stop = self.lines(y)[line]
        one = pc.trace(pc.TwoCSVM(X, y), start, stop)
        other = pc.trace(pc.TwoCSVM(X.toarray(), y), start, stop)
        assert one.worst_certificate.passes(1e-9)
        np.testing.assert_allclose(distinct(one), distinct(other), atol=1e-9)
        new = sparse(7, d, 0.25, seed=9)
        for t in (0.0, 0.1, 0.5, 0.77, 1.0):
            assert one.value(t) == pytest.approx(other.value(t), rel=1e-9, abs=1e-12)
            np.testing.assert_allclose(one.alpha(t), other.alpha(t), atol=1e-8)
            np.testing.assert_allclose(one.slope(t), other.slope(t), atol=1e-8)
            expected = other.at(t).classifier.decision_function(new.toarray())
            np.testing.assert_allclose(one.at(t).classifier.decision_function(new), expected, atol=1e-8)
            np.testing.assert_allclose(one.scores(new)(t), expected, atol=1e-8)
            np.testing.assert_allclose(one.scores(new.toarray())(t), expected, atol=1e-8)

    def test_against_cvxpy_and_in_roc_curves(self):
        X, y = problem(60, 12, 0.25)
        svm = pc.TwoCSVM(X, y)
        path = pc.trace(svm, (0.1, 0.9), (0.9, 0.1))
        assert pc.compare(path, svm, n=6, rng=0).agrees()
        assert pc.compare(path, pc.TwoCSVM(X.toarray(), y), n=3, rng=0).agrees()
        with pytest.raises(InputError, match="svm must hold the samples"):
            pc.compare(path, pc.TwoCSVM(2 * X, y), n=3)
        for vary in ("intercept", "asymmetry", "both"):
            one, other = (pc.roc_of_path(path, new, y, vary=vary) for new in (X, X.toarray()))
            assert one.auc == pytest.approx(other.auc, abs=1e-9)
