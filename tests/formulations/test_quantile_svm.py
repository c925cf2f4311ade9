"""The quantile SVM: its equivalence with the 2C-SVM, its lemma as corrected, sparse samples."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.formulations.quantile_svm import QuantileSVM, minimiser

KERNELS = {"linear": None, "rbf": pc.RBF(1.5)}
kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
problems = given(seed=st.integers(0, 10**6), tau=st.floats(0.0, 1.0), log_lam=st.floats(-3.0, 1.0))


def data(seed, n=26, d=3):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < rng.integers(5, n - 5), 1.0, -1.0)
    return rng.normal(size=(n, d)) + 0.5 * y[:, None], y


@kernel
@problems
def test_values_and_conditions_by_hand(kernel, seed, tau, log_lam):
    """Primal and dual objectives as the paper has them, in plain numpy."""
    X, y = data(seed)
    lam, n = 10**log_lam, y.size
    svm = QuantileSVM(X, y, kernel)
    solution = svm.solve(tau=tau, lam=lam)
    assert solution.certificate.passes(1e-7), solution.certificate.explain()
    alpha, K = solution.alpha, svm.gram.matrix
    c = np.where(y > 0, 2 * (1 - tau) / n, 2 * tau / n)
    assert np.all((alpha >= 0) & (alpha <= c))
    f = K @ (y * alpha) / lam
    primal = 0.5 * (y * alpha) @ f + c @ np.maximum(0, 1 - y * f)
    dual = alpha.sum() - 0.5 * (y * alpha) @ f
    size = max(primal, 1e-6)
    assert abs(solution.value - primal) <= 1e-7 * size
    assert abs(primal - dual) <= 1e-7 * size
    np.testing.assert_allclose(solution.classifier.decision_function(X), f, atol=1e-9 * (1 + np.abs(f).max()))


@problems
def test_equivalence_with_the_2c_svm_without_intercept(seed, tau, log_lam):
    """LIBLINEAR's hinge without intercept, at C_plus = 2 (1 - tau) / (n lam), C_minus = 2 tau / (n lam)."""
    tau, lam = 0.05 + 0.9 * tau, 10 ** (0.5 * log_lam)
    X, y = data(seed)
    svm = QuantileSVM(X, y)
    solution = svm.solve(tau=tau, lam=lam)
    C_plus, C_minus = solution.costs
    assert C_plus == pytest.approx(2 * (1 - tau) / (y.size * lam))
    assert C_minus == pytest.approx(2 * tau / (y.size * lam))
    assert solution.costs.asymmetry == pytest.approx(1 - tau)
    model = LinearSVC(
        C=1.0, loss="hinge", fit_intercept=False, class_weight={1: C_plus, -1: C_minus}, tol=1e-10, max_iter=10**6
    ).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], solution.classifier.w, atol=1e-5)
    # In the paper's own notation C_plus is the cost of a false positive: exchanged, the solution is another one.
    if abs(tau - 0.5) > 0.1:
        exchanged = svm.solve(tau=1 - tau, lam=lam)
        assert np.abs(exchanged.classifier.w - model.coef_[0]).max() > 1e-4


@kernel
@problems
def test_the_constant_feature_is_the_kernel_plus_1(kernel, seed, tau, log_lam):
    X, y = data(seed)
    lam = 10**log_lam
    K = X @ X.T if kernel is None else kernel(X, X)
    augmented = QuantileSVM(K + 1.0, y, "precomputed").solve(tau=tau, lam=lam)
    solution = QuantileSVM(X, y, kernel, bias=True).solve(tau=tau, lam=lam)
    assert solution.value == pytest.approx(augmented.value, rel=1e-7, abs=1e-12)
    assert solution.dual_value == pytest.approx(augmented.value, rel=1e-7, abs=1e-12)
    scores = augmented.classifier.decision_function(K + 1.0)
    np.testing.assert_allclose(solution.classifier.decision_function(X), scores, atol=2e-5 * (1 + np.abs(scores).max()))
    assert solution.classifier.b == pytest.approx((y @ solution.alpha) / lam, abs=1e-9 * (1 + 1 / lam))


def test_the_constant_feature_is_a_column_of_ones():
    X, y = data(3)
    solution = QuantileSVM(X, y, bias=True).solve(tau=0.3, lam=0.1)
    column = QuantileSVM(np.column_stack([X, np.ones(y.size)]), y).solve(tau=0.3, lam=0.1)
    np.testing.assert_allclose(np.append(solution.classifier.w, solution.classifier.b), column.classifier.w, atol=1e-7)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("form", ["primal", "dual"])
def test_sparse_samples_stay_sparse(bias, form, monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 400), density=0.03, rng=rng, format="csr")
    X.data = rng.normal(size=X.nnz)
    y = np.where(rng.permutation(60) < 25, 1.0, -1.0)
    dense = QuantileSVM(X.toarray(), y, bias=bias).solve(tau=0.4, lam=0.01, form=form)
    for method in ("toarray", "todense"):
        real = getattr(sp.csr_array, method)

        def guarded(self, *args, real=real, **kwargs):
            assert self.shape[0] * self.shape[1] < 60 * 400, "made dense"
            return real(self, *args, **kwargs)

        monkeypatch.setattr(sp.csr_array, method, guarded)
    svm = QuantileSVM(X, y, bias=bias)
    solution = svm.solve(tau=0.4, lam=0.01, form=form)
    assert sp.issparse(svm.X)
    assert "matrix" not in svm.gram.__dict__
    assert solution.value == pytest.approx(dense.value, rel=1e-9)
    np.testing.assert_allclose(
        solution.classifier.decision_function(X), dense.classifier.decision_function(X.todok()), atol=1e-6
    )


# Lemma 2.2


def risk(f, eta, tau):
    return tau * (1 - eta) * np.maximum(0, 1 + f) + (1 - tau) * eta * np.maximum(0, 1 - f)


RATES = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0.01, 0.99))


@given(eta=RATES, tau=RATES)
def test_the_lemma_corrected(eta, tau):
    """All minimisers of the pointwise risk, against a grid; the corrected condition for uniqueness."""
    low, high = minimiser(eta, tau)
    grid = np.unique(np.concatenate([np.linspace(-3, 3, 241), [-1, 1]]))
    values = risk(grid, eta, tau)
    best = values.min()
    inside = (grid >= low) & (grid <= high)
    assert values[inside] == pytest.approx(best, abs=1e-15)
    slope = min(abs(s) for s in (-(1 - tau) * eta, tau - eta, tau * (1 - eta)) if s) if eta not in (tau,) else 1.0
    if slope > 1e-9:
        assert np.all(values[~inside] > best)
    unique = 0 < tau < 1 and eta not in (0.0, tau, 1.0)
    assert (low == high) == unique
    if unique:
        assert low == np.sign(eta - tau)


@pytest.mark.parametrize(("eta", "tau"), [(0.4, 0.4), (1.0, 0.3), (0.0, 0.3), (0.6, 0.0), (0.6, 1.0)])
def test_the_lemma_as_printed_fails(eta, tau):
    """Erratum eY2: "the minimiser is sign(eta - tau) for any tau in [0, 1]". Here another function is as good."""
    printed = np.sign(eta - tau)
    low, high = minimiser(eta, tau)
    other = max(low, -5.0) if printed != max(low, -5.0) else min(high, 5.0)
    assert other != printed
    assert risk(other, eta, tau) == pytest.approx(risk(printed, eta, tau), abs=1e-15)
    if eta == tau:
        assert risk(0.3, eta, tau) == pytest.approx(risk(-1.0, eta, tau), abs=1e-15)


def test_the_lemma_on_a_discrete_distribution():
    """Atoms as indicator features: with a vanishing ridge each weight goes to the minimiser that is nearest to 0."""
    shares = [(1, 8), (3, 8), (4, 8), (6, 8), (8, 8), (0, 8)]
    atom = np.repeat(np.arange(len(shares)), [n for _, n in shares])
    y = np.concatenate([np.where(np.arange(n) < m, 1.0, -1.0) for m, n in shares])
    X = sp.csr_array(np.eye(len(shares))[atom])
    for tau in (0.3, 0.5, 0.6):
        w = QuantileSVM(X, y).solve(tau=tau, lam=1e-4).classifier.w
        for value, (m, n) in zip(w, shares, strict=True):
            low, high = minimiser(m / n, tau)
            assert value == pytest.approx(min(max(0.0, low), high), abs=1e-6)
            if 0 < m < n and m / n != tau:
                assert value == pytest.approx(np.sign(m / n - tau), abs=1e-6)


def test_at_tau_0_negatives_are_not_labelled_positive():
    """Erratum eY3: at tau = 0 all points are labelled +1 in the authors' runs; in one dimension, no negative is."""
    X = np.array([[1.0], [2.0], [-1.0], [-2.0]])
    svm = QuantileSVM(X, [1, 1, -1, -1])
    for tau in (0.0, 1.0):
        predicted = svm.solve(tau=tau, lam=0.01).classifier.predict(X)
        np.testing.assert_array_equal(predicted, [1, 1, -1, -1])


def test_tau_is_the_share_of_the_false_positive_cost():
    """A larger tau makes false positives dearer: fewer positives are predicted."""
    X, y = data(1, n=80)
    svm = QuantileSVM(X, y, bias=True)
    predicted = [np.mean(s.classifier.predict(X) > 0) for s in pc.sweep(svm, tau=[0.1, 0.3, 0.5, 0.7, 0.9], lam=0.01)]
    assert predicted[0] > predicted[2] > predicted[4]


@problems
def test_against_coordinate_descent(seed, tau, log_lam):
    """The dual by exact minimisation over one multiplier at a time, which knows neither cones nor CVXPY."""
    X, y = data(seed)
    lam, n = 10 ** (0.3 * log_lam), y.size
    Z = y[:, None] * X / np.sqrt(lam)
    caps = np.where(y > 0, 2 * (1 - tau) / n, 2 * tau / n)
    alpha, w = np.zeros(n), np.zeros(3)
    for _ in range(20000):
        moved = 0.0
        for i in range(n):
            new = min(max(alpha[i] + (1 - Z[i] @ w) / (Z[i] @ Z[i]), 0.0), caps[i])
            moved = max(moved, abs(new - alpha[i]))
            w, alpha[i] = w + (new - alpha[i]) * Z[i], new
        if moved < 1e-11 / n:
            break
    value = alpha.sum() - 0.5 * w @ w
    assert QuantileSVM(X, y).solve(tau=tau, lam=lam).value == pytest.approx(value, rel=1e-7, abs=1e-10)


@pytest.mark.parametrize(
    ("values", "word"), [({"tau": 1.2, "lam": 1.0}, "tau"), ({"tau": 0.5, "lam": 0.0}, "lam"), ({"tau": 0.5}, "lam")]
)
def test_bad_parameters(values, word):
    with pytest.raises(InputError, match=word):
        QuantileSVM(*data(1)).solve(**values)


def test_bad_bias_and_rates():
    with pytest.raises(InputError, match="bias must be True or False"):
        QuantileSVM(*data(1), bias=1.0)
    with pytest.raises(InputError, match="eta must lie in"):
        minimiser(1.5, 0.5)
