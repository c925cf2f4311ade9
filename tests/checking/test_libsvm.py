"""What LIBSVM promises by its tol: its own fits have it, whatever their gap; and what is spoilt has not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC, NuSVC

import paretoclf as pc

KERNELS = (
    {"kernel": "linear"},
    {"kernel": "rbf"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0},
    {"kernel": "rbf", "gamma": 0.5},
)


def made(seed):
    """Samples of features of different scales, labels with some noise."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 80)), int(rng.integers(2, 7))
    Z, slope = rng.normal(size=(n, d)), rng.normal(size=d)
    s = Z @ slope + 0.3 * rng.normal(size=n)
    return Z * 10.0 ** rng.uniform(-1, 1, d), np.where(s > np.median(s), 1, -1)


def kernel_of(seed):
    """Each in its turn, the one of wiggly classifiers every other time: their gaps are the largest."""
    return KERNELS[3] if seed % 2 else KERNELS[seed // 2 % 3]


def weights(seed, y, classes):
    rng = np.random.default_rng(seed)
    return np.where(y > 0, *rng.uniform(0.5, 2, 2)) if classes else rng.uniform(0.2, 3.0, y.size)


def violation(fit, X, y, caps):
    """The largest violation of a margin of 1, and the largest sum of absolute terms of a score, from sklearn alone."""
    how = {"linear": (), "rbf": ("gamma",), "poly": ("gamma", "degree", "coef0")}[fit.kernel]
    given = {"gamma": fit._gamma, "degree": fit.degree, "coef0": fit.coef0}
    K = pairwise_kernels(X, X, metric=fit.kernel, **{name: given[name] for name in how})
    coef = np.zeros(y.size)
    coef[fit.support_] = fit.dual_coef_[0]
    over = y * (K @ coef + fit.intercept_[0]) - 1.0
    inside, used = np.abs(coef) < caps * (1 - 1e-9), coef != 0
    return max((-over[inside]).max(initial=0), over[used].max(initial=0)), float((np.abs(K) @ np.abs(coef)).max())


@pytest.mark.parametrize("weighted", [False, True])
def test_svc_at_its_own_tol_is_optimal_as_its_tol_asks(weighted):
    gaps = []
    for seed in range(14):
        X, y = made(seed)
        weight = weights(seed, y, classes=False) if weighted else None
        fit = SVC(C=100.0, **kernel_of(seed)).fit(X, y, weight)
        report = pc.verify(X, y, fit, sample_weight=weight)
        assert report.passes(), (seed, report)
        assert report.first_failure() is None
        assert report.classes["optimal"] == (0,)
        assert report.records()[0]["optimal"]
        assert "sample_weight" not in report.verdict(0)
        if 0 in report.kept:
            found, terms = violation(fit, X, y, 100.0 * (1.0 if weight is None else weight))
            assert report.kept[0].violation == pytest.approx(found, rel=1e-6)
            assert report.kept[0].allowed <= 1e-3 + 2.0**-23 * terms * (1 + 1e-9)
            gaps.append(report[0].gap)
    assert len(gaps) >= 3  # else nothing was tried
    assert max(gaps) > 1e-3


@pytest.mark.parametrize("weighted", [False, True])
def test_nu_svc_at_its_own_tol_is_optimal_as_its_tol_asks(weighted):
    seen = 0
    for seed in range(12):
        X, y = made(seed)
        weight = weights(seed, y, classes=True) if weighted else np.ones(y.size)
        fit = NuSVC(nu=0.2, **kernel_of(seed)).fit(X, y, weight)
        margin = 0.2 * weight.sum() / np.abs(fit.dual_coef_).sum()  # by which LIBSVM divided
        report = pc.verify(X, y, fit, sample_weight=weight if weighted else None)
        assert report.passes(), (seed, report)
        if 0 in report.kept:
            seen += 1
            found = violation(fit, X, y, weight / margin)[0]
            assert report.kept[0].violation == pytest.approx(found * margin, rel=1e-6)
    assert seen >= 6


def test_the_certificate_says_by_how_much_the_value_is_off_and_that_it_is_not_optimal():
    X, y = made(9)
    fit = SVC(C=100.0, **KERNELS[3]).fit(X, y)
    report = pc.verify(X, y, fit)
    best = pc.TwoCSVM(X, y, pc.RBF(1.0)).solve(100.0, 100.0).value
    certificate = report[0]
    assert certificate.gap > 1e-3
    assert (
        certificate.primal_value * (1 - certificate.gap) * (1 - 1e-9) <= best <= certificate.primal_value * (1 + 1e-9)
    )
    assert report.verdict(0) == (
        f"optimal as its tol of 0.001 asks, with a value that is off by at most {pc_rounded(certificate.gap)} "
        f"of {certificate.primal_value:.3g}"
    )
    assert report.summary == "1 of 1 optimal: 1 as LIBSVM's tol asks"
    for said in (certificate.explain(), repr(report)):
        assert "optimal as its tol asks, and not optimal to 1e-08: the value is off by at most" in said
    assert not report.passes(1e-3)
    assert not pc.verify(X, y, fit, tol=1e-3).passes()  # who gives tol speaks of the gap
    exact = SVC(C=100.0, **KERNELS[3], tol=1e-10).fit(X, y)
    both = pc.verify(X, y, [fit, exact])
    assert both.summary == "2 of 2 optimal: 1 to 0.001, 1 as LIBSVM's tol asks"
    assert both.passes()


def pc_rounded(size):
    """One digit, rounded up."""
    power = int(np.floor(np.log10(size)))
    return f"{np.ceil(size / 10.0**power) * 10.0**power:.0e}"


@pytest.mark.parametrize("machine", [SVC(C=100.0, **KERNELS[3]), NuSVC(nu=0.2, **KERNELS[3])])
def test_what_is_spoilt_is_not_optimal_by_any_tol(machine):
    X, y = made(9)
    fit = machine.fit(X, y)
    assert pc.verify(X, y, fit).passes()
    scale = 1.0 if isinstance(machine, SVC) else np.abs(fit.dual_coef_).sum() / (0.2 * y.size)
    kept = fit.intercept_[0]
    for by in (-3e-3, 3e-3):  # margins of LIBSVM's own
        fit.intercept_ = np.array([kept + by * scale])
        report = pc.verify(X, y, fit)
        assert report.verdict(0).startswith("not optimal")
        assert "sample_weight" not in report.verdict(0)  # each multiplier is in its box
        assert not report.kept
    fit.intercept_ = np.array([kept])
    coef = fit.dual_coef_.copy()
    two = [np.flatnonzero(coef[0] > 0)[0], np.flatnonzero(coef[0] < 0)[0]]
    coef[0, two] *= 0.5
    fit.dual_coef_ = coef
    assert not pc.verify(X, y, fit).passes()


def test_a_multiplier_that_leaves_its_box_asks_for_the_weights():
    X, y = made(9)
    classes = np.where(y > 0, 3.0, 1.0)
    for machine in (SVC(**KERNELS[1]), NuSVC(nu=0.5, **KERNELS[1])):
        fit = machine.fit(X, y, classes)
        report = pc.verify(X, y, fit)
        assert report.verdict(0).endswith(", or it was fitted with sample_weight: give it")
        assert not report.kept
        assert pc.verify(X, y, fit, sample_weight=classes).passes()
        longer = machine.fit(X, y)
        coef = longer.dual_coef_.copy()
        coef[0, np.argmax(np.abs(coef))] *= 1 + 1e-6  # within any tol, but outside
        longer.dual_coef_ = coef
        assert not pc.verify(X, y, longer).kept


def test_a_tol_above_a_thousandth_makes_nothing_optimal():
    X, y = made(9)
    assert not pc.verify(X, y, SVC(C=100.0, **KERNELS[3], tol=0.1).fit(X, y)).passes()


def test_features_far_from_0_are_as_rough_as_single_precision_makes_them():
    """The kernel values that LIBSVM rounds are of the samples as they are, around 1e4, not of moved ones."""
    X, y = made(4)
    X = X / X.std(axis=0) + 1e2
    fit = SVC(C=10.0, kernel="linear", max_iter=10**5).fit(X, y)
    report = pc.verify(X, y, fit)
    found, terms = violation(fit, X, y, 10.0)
    assert found > 1e-3  # LIBSVM's own conditions, without the rounding of its kernel values, do not hold
    assert report.passes(), report
    assert report.kept[0].allowed == pytest.approx(1e-3 + 2.0**-23 * terms, rel=1e-6)
