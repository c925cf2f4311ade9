"""`verify`: verdicts in classes with by how much, the tolerance, and what it says of solutions in the wrong form."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.svm import SVC, LinearSVC, NuSVC

import paretoclf as pc
from paretoclf.common.tables import rounded_up

# Two points at -1 and 1, costs 1: alpha = (1/2, 1/2), w = 1, b = 0; multipliers (1/2 - e, 1/2 - e) leave the margins
# 2 e short, and primal and dual values 2 e apart.
X, Y = np.array([[-1.0], [1.0]]), np.array([-1, 1])


def short(e, b=0.0):
    return 1.0, 1.0, [0.5 - e, 0.5 - e], b


def test_verdicts_are_classes_that_say_by_how_much():
    report = pc.verify(X, Y, [short(0.0), short(0.2), short(1e-5), short(0.1), short(1e-12)])
    assert report.classes == {"not optimal": (1, 2, 3), "undecided": (), "optimal": (0, 4)}
    assert [report.verdict(k) for k in (0, 2)] == ["optimal", "not optimal to 1e-08: optimal to 4e-05"]
    assert report.verdict(1) == "not optimal: a sample off its margin is not at its bound (by 2e-01), sample 0"
    assert report[2].off_by == pytest.approx(4e-5, rel=1e-3)  # the gap 2 e, relative to the value 1/2
    assert report.first_failure() == 1
    assert not report.passes()
    lines = repr(report).splitlines()
    assert [line.split("  ")[-1] for line in lines[1:6]] == [report.verdict(k) for k in range(5)]
    assert lines[6] == "3 not optimal, 2 of 5 optimal to 1e-08"
    assert lines[7].startswith("first not optimal: #1: ")
    assert len(lines) == 8


def test_the_tolerance():
    solutions = [short(0.0), short(1e-5)]
    assert pc.verify(X, Y, solutions, tol=1e-3).passes()
    assert pc.verify(X, Y, solutions, tol=1e-3).classes["optimal"] == (0, 1)
    assert pc.verify(X, Y, solutions, tol=1e-3).first_failure(1e-6) == 1
    assert not pc.verify(X, Y, solutions, tol=1e-5).passes()
    assert "tolerance 1e-05)" in repr(pc.verify(X, Y, solutions, tol=1e-5))
    for bad in (0, -1.0, np.nan, "small"):
        with pytest.raises(pc.InputError, match=r"tol must be .*positive"):
            pc.verify(X, Y, solutions, tol=bad)


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


@pytest.mark.parametrize(
    ("solutions", "message"),
    [
        ([], "solutions must hold at least one (C_plus, C_minus, alpha[, b]), got none"),
        (iter(()), "solutions must hold at least one"),
        (3, "solutions must be a list of (C_plus, C_minus, alpha[, b]), got int"),
        ([1.0], "solutions[0] must be (C_plus, C_minus, alpha[, b]), got 1.0"),
        (["abc"], "solutions[0] must be (C_plus, C_minus, alpha[, b]), got 'abc'"),
        ([short(0.0), (1, 1)], "solutions[1] must be (C_plus, C_minus, alpha[, b]), got 2 entries"),
        ([(1, -1, [0, 0])], "solutions[0]: C_minus must be a finite nonnegative number"),
        ([(1, 1, [0, np.nan])], "solutions[0]: alpha must be finite, got nan at index 1"),
        ([short(0.0, "x")], "solutions[0]: b must be a number, got 'x'"),
        ([short(0.0, np.inf)], "solutions[0]: b must be finite, got inf"),
    ],
)
def test_what_is_no_list_of_solutions(solutions, message):
    with pytest.raises(pc.InputError) as error:
        pc.verify(X, Y, solutions)
    assert message in str(error.value)


@pytest.fixture
def partly():
    """Samples, labels, and weights of which a third are 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(45, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=45) > 0, 1, -1)
    return X, y, (np.arange(45) % 3).astype(float)


def test_an_svc_that_left_out_samples_of_weight_0_says_what_its_support_vectors_may_be(partly):
    X, y, weight = partly
    fit, used = SVC(kernel="linear").fit(X, y, weight), weight > 0
    with pytest.raises(pc.InputError, match=r"samples of weight 0.*give sample_weight"):  # LIBSVM counts the others
        pc.verify(X, y, fit)
    with pytest.raises(pc.InputError, match="those of weight 0 belong to them, and sample_weight says which"):
        pc.verify(X[used], y[used], fit)
    K = X @ X.T
    with pytest.raises(pc.InputError, match="or some had weight 0: give sample_weight"):
        pc.verify(K, y, SVC(kernel="precomputed").fit(K, y, weight))


MACHINES = {
    "linear": SVC(kernel="linear", C=2.0, tol=1e-9),
    "rbf": SVC(C=2.0, tol=1e-9),
    "balanced": SVC(class_weight="balanced", tol=1e-9),
    "precomputed": SVC(kernel="precomputed", tol=1e-9),
    "callable": SVC(kernel=lambda A, B: A @ B.T, tol=1e-9),
    "nu": NuSVC(nu=0.4, tol=1e-10),
    "nu, precomputed": NuSVC(nu=0.4, kernel="precomputed", tol=1e-10),
    "LIBLINEAR": LinearSVC(tol=1e-9, max_iter=10**6),
    "LIBLINEAR, hinge": LinearSVC(loss="hinge", tol=1e-9, max_iter=10**6),
}


@pytest.mark.parametrize("name", MACHINES)
def test_a_machine_that_was_fitted_with_samples_of_weight_0(partly, name):
    X, y, weight = partly
    if "nu" in name:
        weight = np.minimum(weight, 1.0)
    Z = X @ X.T if "precomputed" in name else X
    fit = MACHINES[name].fit(Z, y, sample_weight=weight)
    report = pc.verify(Z, y, fit, sample_weight=weight, tol=1e-5)
    assert report.passes(), report
    assert not report.values[0].keys() ^ ({"nu", "asymmetry"} if "nu" in name else {"C_plus", "C_minus"})
    numbered = "Samples are numbered among the 30 of positive weight" in report[0].explain()
    assert numbered == ("nu" in name or "LIBLINEAR" in name)
    others = np.where(weight > 0, weight[::-1] + 0.5, 0.0)
    if "nu" not in name:
        assert not pc.verify(Z, y, fit, sample_weight=others, tol=1e-5).passes()


def test_stochastic_gradients_with_samples_of_weight_0(partly):
    """Shares of the loss are of all samples, those of weight 0 included."""
    X, y, weight = partly
    for loss in ("hinge", "log_loss", "squared_hinge"):
        mine = np.minimum(weight, 1.0)
        fit = SGDClassifier(loss, alpha=0.05, tol=None, max_iter=3000, random_state=0).fit(X, y, sample_weight=mine)
        assert pc.verify(X, y, fit, sample_weight=mine, tol=1e-3).passes()
        assert not pc.verify(X, y, fit, tol=1e-2).passes()


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


def test_a_gap_that_rounding_makes_is_named_in_the_verdict():
    """Costs 1e13 apart: a margin that is met up to rounding costs its rounding times the larger one."""
    X, y = np.array([[0.67], [0.08], [0.49], [0.25], [1.42]]), [1, -1, 1, -1, 1]
    report = pc.verify(X, y, [(1e-8, 1e5, [1e-8, 0.0, 1e-8, 3.0000000000000004e-08, 1e-8], -1.000000004575)])
    assert report.passes()
    assert report.verdict(0).startswith("optimal up to rounding, which makes a gap of ")  # of 2e-04 or so
    assert "optimal up to rounding" in repr(report)
