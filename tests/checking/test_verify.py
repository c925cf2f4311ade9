"""`verify`: verdicts in classes with by how much, the tolerance, and what it says of solutions in the wrong form."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.common.tables import rounded_up

# Two points at -1 and 1, costs 1: alpha = (1/2, 1/2), w = 1, b = 0; multipliers (1/2 - e, 1/2 - e) leave the margins
# 2 e short, and primal and dual values 2 e apart.
X, Y = np.array([[-1.0], [1.0]]), np.array([-1, 1])


def short(e, b=0.0):
    return 1.0, 1.0, [0.5 - e, 0.5 - e], b


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.5)], ids=["linear", "rbf"])
def test_libsvm_is_nearly_optimal_and_its_signed_coefficients_get_a_hint(gaussians, kernel):
    X, y = gaussians(60, 2, seed=2)
    K = pc.Gram(X, kernel).matrix
    fits = {tol: SVC(kernel="precomputed", C=1.0, tol=tol).fit(K, y) for tol in (1e-3, 1e-10)}

    def alpha(fit, signed):
        out = np.zeros(60)
        out[fit.support_] = fit.dual_coef_[0] * (1 if signed else y[fit.support_])
        return out

    rows = [(1.0, 1.0, alpha(fit, signed), fit.intercept_[0]) for fit in fits.values() for signed in (False, True)]
    report = pc.verify(X, y, rows, kernel, tol=1e-6)
    said = [report.verdict(k).split(":")[0] for k in range(4)]
    assert said == ["not optimal to 1e-06", "not optimal", f"optimal to {rounded_up(report[2].off_by)}", "not optimal"]
    for k in range(4):
        assert ("These look like y * alpha" in report[k].explain()) == (k % 2 == 1)
    assert "look like y * alpha" in pc.certify(y, np.ones(60), rows[1][2], 0.0, K=K).explain()


def test_a_negative_multiplier_alone_gets_no_hint():
    for alpha in ([-0.5, -0.5], [0.5, -0.5], [-1e-9, 0.5]):
        assert "look like" not in pc.verify(X, Y, [(1, 1, alpha, 0.0)])[0].explain()


@pytest.fixture
def partly():
    """Samples, labels, and weights of which a third are 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(45, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=45) > 0, 1, -1)
    return X, y, (np.arange(45) % 3).astype(float)


def test_rows_and_paths_of_samples_of_which_some_have_weight_0(partly, tmp_path):
    X, y, weight = partly
    svm, used = pc.TwoCSVM(X, y, pc.RBF(1.0), weight), weight > 0
    others = pc.TwoCSVM(X[used], y[used], pc.RBF(1.0), weight[used])
    path, same = (pc.trace(each, (1.0, 0.2), (0.2, 1.0)) for each in (svm, others))
    assert path.proof.passes()
    assert path.breakpoints == pytest.approx(same.breakpoints, rel=1e-9)
    path.save(tmp_path / "path.npz")
    assert pc.load(tmp_path / "path.npz").value(0.3) == path.value(0.3)
    for t in (0.0, 0.3, 1.0):
        solution = path.at(t)
        assert solution.value == pytest.approx(same.at(t).value, rel=1e-12)
        assert not solution.alpha[~used].any()
        row = (*path.costs(t), solution.alpha, solution.classifier.b)
        assert pc.verify(X, y, [row], pc.RBF(1.0), weight).passes()
        for form in ("primal", "dual"):
            assert svm.solve(*path.costs(t), form=form).value == pytest.approx(solution.value, rel=1e-8)
    wrong = solution.alpha.copy()
    wrong[~used] = 1e-3
    report = pc.verify(X, y, [(*path.costs(1.0), wrong, solution.classifier.b)], pc.RBF(1.0), weight)
    assert report.verdict(0).startswith("not optimal")


def test_of_the_others_one_left_out_and_where_samples_of_weight_0_would_count(partly):
    X, y, weight = partly
    used = weight > 0
    svm, others = pc.TwoCSVM(X, y, sample_weight=weight), pc.TwoCSVM(X[used], y[used], sample_weight=weight[used])
    out, fewer = (pc.leave_one_out(each, (0.5, 0.8)) for each in (svm, others))
    assert out.scores[used] == pytest.approx(fewer.scores, abs=1e-9)
    assert out.scores[~used] == pytest.approx(out.own[~used], abs=1e-12)
    calls = (
        ("for a map", lambda: pc.plane(svm, (0.1, 1.0), (0.1, 1.0))),
        ("where errors on samples that are held out", lambda: pc.cross_validated_roc(svm, (0.1, 1.0), (1.0, 0.1))),
        ("where errors on samples that are held out", lambda: pc.cross_validated_surface(svm, (0.1, 1.0), (1.0, 0.1))),
    )
    for where, call in calls:
        with pytest.raises(pc.InputError, match=f"sample_weight must be positive {where}.* leave out the 15 samples"):
            call()
