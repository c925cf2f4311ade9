"""Fitted machines of scikit-learn, judged as the problem that each solves, beside objectives of its documentation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

import paretoclf as pc
from paretoclf.common.tables import rounded_up

MODELS = Path(__file__).parents[1] / "oracles" / "models"


@pytest.fixture(scope="module")
def train():
    X, y = load_svmlight_file(str(MODELS / "train.libsvm"))
    return X.toarray(), y


KERNELS = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf", "gamma": 0.5},
    "scale": {},
    "poly": {"kernel": "poly", "degree": 2, "coef0": 1.0},
    "weighted": {"kernel": "linear", "class_weight": {1: 3.0}},
    "balanced": {"class_weight": "balanced"},
}


@pytest.mark.parametrize("name", KERNELS)
def test_svc_with_its_own_kernel_and_weights(train, name):
    X, y = train
    fit = SVC(C=2.0, tol=1e-9, **KERNELS[name]).fit(X, y)
    report = pc.verify(X, y, fit, tol=1e-6)
    assert report.verdict(0) == f"optimal to {rounded_up(report[0].off_by)}"
    assert not pc.verify(X, y, SVC(C=2.0, tol=0.5, **KERNELS[name]).fit(X, y)).passes()


@pytest.mark.parametrize("machine", [SVC(kernel="linear", tol=1e-9), LinearSVC(dual=False, tol=1e-12, max_iter=10**5)])
def test_balanced_classes_are_counted_as_the_machine_counts_them(train, machine):
    # SVC counts samples, LinearSVC adds up their weights: with the other rule the model misses by far.
    X, y = train
    weight = np.where(y > 0, 5.0, 1.0)
    fit = clone(machine).set_params(class_weight="balanced").fit(X, y, sample_weight=weight)
    counted = weight if isinstance(machine, LinearSVC) else np.ones(y.size)
    factors = {label: counted.sum() / (2 * counted[y == label].sum()) for label in (-1, 1)}
    by_hand = clone(machine).set_params(class_weight=factors).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(fit.coef_, by_hand.coef_, rtol=1e-6)
    assert pc.verify(X, y, fit, sample_weight=weight, tol=1e-6).passes()


def test_svc_of_other_labels_sample_weights_and_precomputed_kernels(train):
    X, y = train
    names = np.where(y > 0, "sick", "healthy")
    assert pc.verify(X, y, SVC(tol=1e-9).fit(X, names == "sick"), tol=1e-6).passes()
    weight = np.linspace(0.5, 2.0, y.size)
    fit = SVC(tol=1e-9).fit(X, y, sample_weight=weight)
    assert pc.verify(X, y, fit, sample_weight=weight, tol=1e-6).passes()
    assert not pc.verify(X, y, fit, tol=1e-6).passes()
    K = pc.RBF(1.0)(X, X)
    assert pc.verify(K, y, SVC(kernel="precomputed", tol=1e-9).fit(K, y), tol=1e-6).passes()
    assert pc.verify(X, y, SVC(kernel=lambda A, B: A @ B.T, tol=1e-9).fit(X, y), tol=1e-6).passes()


LABELS = {"0 and 1": (0, 1), "booleans": (False, True), "texts": ("healthy", "sick"), "1 and 2": (1, 2)}


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize(
    "machine", [SVC(C=2.0, tol=1e-9), LinearSVC(tol=1e-8, max_iter=10**5), NuSVC(nu=0.4, tol=1e-10)]
)
def test_any_two_labels_of_which_the_second_is_positive(train, name, machine):
    X, y = train
    named = np.array(LABELS[name])[(y > 0).astype(int)]
    fit = clone(machine).fit(X, named)
    report = pc.verify(X, named, fit, tol=1e-5)
    assert report.passes(), report
    usual = pc.verify(X, y, clone(machine).fit(X, y), tol=1e-5)
    assert report[0].primal_value == pytest.approx(usual[0].primal_value, rel=1e-9)
    assert pc.verify(X, y, fit, tol=1e-5).passes()  # -1 and +1 are understood of any model
    assert pc.verify(X, list(named), fit, tol=1e-5).passes()
    solution = pc.TwoCSVM(X, y).solve(1.0, 2.0)
    assert pc.verify(X, named, [(1.0, 2.0, solution.alpha)]).passes()
    with pytest.raises(
        pc.InputError, match=f"y must hold the classes of {type(machine).__name__}, .* or -1 and \\+1, got"
    ):
        pc.verify(X, np.where(y > 0, "b", "a"), fit)


def test_a_list_of_fitted_models_has_a_row_for_each(train):
    X, y = train
    grid = [(C, gamma) for C in (0.5, 2.0) for gamma in (0.2, 1.0)]
    fits = [SVC(C=C, gamma=gamma, tol=1e-9).fit(X, y) for C, gamma in grid]
    report = pc.verify(X, y, fits, tol=1e-6)
    assert len(report) == 4
    assert report.passes()
    assert [values["C_plus"] for values in report.values] == [C for C, _ in grid]
    for certificate, fit in zip(report, fits, strict=True):
        assert certificate.primal_value == pytest.approx(pc.verify(X, y, fit)[0].primal_value, rel=1e-12)
    fits[2] = SVC(C=2.0, gamma=0.2, tol=0.5).fit(X, y)
    assert pc.verify(X, y, tuple(fits), tol=1e-6).first_failure() == 2
    mixed = pc.verify(
        X, y, [fits[0], NuSVC(nu=0.4, tol=1e-10).fit(X, y), LinearSVC(tol=1e-9, max_iter=10**5).fit(X, y)]
    )
    lines = repr(mixed).splitlines()
    assert lines[0].split() == ["#", "C_plus", "C_minus", "nu", "asymmetry", "gap", "residual", "verdict"]
    assert [row["nu"] for row in mixed.records()] == [None, 0.2, None]
    with pytest.raises(pc.InputError, match=r"solutions\[1\] must be a fitted estimator like the others, got tuple"):
        pc.verify(X, y, [fits[0], (1, 1, np.zeros(y.size))])
    with pytest.raises(pc.InputError, match=r"solutions\[1\]: SVC must be fitted first"):
        pc.verify(X, y, [fits[0], SVC()])


def test_fitted_models_as_knots_of_a_path(train):
    """The path of the linear SVM is affine in C between two events; refits of one kernel are its knots."""
    X, y = train
    t = pc.trace(pc.TwoCSVM(X, y), (0.0, 0.0), (1.0, 1.0)).breakpoints
    ends = [t[1], 0.5 * (t[1] + t[2]), t[2]]
    fits = [SVC(kernel="linear", C=C, tol=1e-12).fit(X, y) for C in ends]
    assert pc.verify(X, y, fits, tol=1e-6, between=True).passes()
    other = SVC(kernel="rbf", C=ends[0]).fit(X, y)
    with pytest.raises(pc.InputError, match=r"between must be False: solutions\[2\] is of another problem"):
        pc.verify(X, y, [*fits[:2], other], between=True)


def test_a_pipeline_is_judged_by_its_last_step(train):
    X, y = train
    named = np.where(y > 0, "sick", "healthy")
    pipe = make_pipeline(StandardScaler(), PolynomialFeatures(2), SVC(kernel="linear", tol=1e-9)).fit(X, named)
    report = pc.verify(X, named, pipe, tol=1e-6)
    assert report.passes(), report
    Z = PolynomialFeatures(2).fit_transform((X - X.mean(0)) / X.std(0))
    assert report[0].primal_value == pytest.approx(pc.TwoCSVM(Z, y).solve(1.0, 1.0).value, rel=1e-6)
    assert pc.verify(X, y, make_pipeline(pipe[:-1], pipe[-1]), tol=1e-6).passes()
    assert pc.verify(X, y, make_pipeline(SVC(tol=1e-9)).fit(X, y), tol=1e-6).passes()
    with pytest.raises(pc.InputError, match="its support vectors are not the rows of X"):
        pc.verify(Z, y, pipe[-1:].fit(Z, y).fit(2 * Z, y))
    with pytest.raises(pc.InputError, match="X must be what the Pipeline was fitted on: "):
        pc.verify(X[:, :1], y, pipe)
    for last in (SVC(), LogisticRegression()):
        with pytest.raises(pc.InputError, match=r"must be fitted first|X must be what the Pipeline was fitted on"):
            pc.verify(X, y, make_pipeline(StandardScaler(), last))

    def scaled(X, y, C_plus, C_minus):
        return make_pipeline(StandardScaler(), SVC(kernel="linear", class_weight={1: C_plus, -1: C_minus})).fit(X, y)

    trial = pc.verify_solver(scaled, cases=pc.datasets.hard_cases()[2:3])[1]
    assert trial.end == "failed"
    assert "got one of transformed samples" in trial.words


def test_a_model_fitted_with_weights_that_were_not_given(train):
    X, y = train
    weights = np.linspace(0.5, 2.0, y.size)
    for fit in (SVC(tol=1e-9), make_pipeline(StandardScaler(), SVC(tol=1e-9))):
        name = "sample_weight" if isinstance(fit, SVC) else "svc__sample_weight"
        fit.fit(X, y, **{name: weights})
        report = pc.verify(X, y, fit)
        assert report.verdict(0).endswith(", or it was fitted with sample_weight: give it")
        assert report.verdict(0) in repr(report)
        assert pc.verify(X, y, fit, sample_weight=weights, tol=1e-6).passes()
        given = pc.verify(X, y, fit, sample_weight=weights[::-1])
        assert not given.passes()
        assert "sample_weight" not in given.verdict(0)
    loose = SVC(tol=1e-3).fit(X, y)
    assert "sample_weight" not in pc.verify(X, y, loose, tol=1e-12).verdict(0)
    assert "sample_weight" not in pc.verify(X, y, [(1, 1, np.ones(y.size))]).verdict(0)


def test_a_fitted_model_is_judged_at_its_own_tolerance(train):
    X, y = train
    fits = [SVC(tol=tol).fit(X, y) for tol in (1e-3, 1e-5, 1e-6)]
    for fit in fits:
        report = pc.verify(X, y, fit)
        assert report.tol == max(fit.tol, 1e-8)
        assert report.passes(), report
    loose = pc.verify(X, y, fits[0])
    assert 1e-8 < loose[0].off_by <= 1e-3
    assert loose.verdict(0) == f"optimal to {rounded_up(loose[0].off_by)}"
    assert not pc.verify(X, y, fits[0], tol=1e-8).passes()
    assert pc.verify(X, y, fits).tol == 1e-3
    assert pc.verify(X, y, make_pipeline(StandardScaler(), SVC(tol=1e-4)).fit(X, y)).tol == 1e-4
    assert pc.verify(X, y, [(1, 1, np.zeros(y.size))]).tol == 1e-8
    assert pc.verify(X, y, SVC(tol=0.5).fit(X, y)).tol == 1e-3  # a value that is off by 5 % is not optimal
    with pytest.warns(ConvergenceWarning):
        stopped = SVC(max_iter=3, C=100.0).fit(X, y)
    assert not pc.verify(X, y, stopped).passes()
    sgd = SGDClassifier(tol=None, max_iter=5).fit(X, y)
    assert pc.verify(X, y, sgd).tol == 1e-8


def test_the_gap_of_a_nu_svc_is_said_to_be_relative_to_the_sum_of_its_terms(train):
    """They have two signs: of the value it may be much more."""
    X, y = train
    certificate = pc.verify(X, y, NuSVC(nu=0.3, gamma=0.5, tol=1e-10).fit(X, y))[0]
    share = (certificate.primal_value - certificate.dual_value) / abs(certificate.primal_value)
    assert share > 5 * certificate.gap
    said = f"relative to {certificate.scale:.3g}, the sum of the sizes of the value's terms; the value is "
    assert f"{said}{abs(certificate.primal_value):.3g}." in certificate.explain()


@pytest.mark.parametrize("nu", [0.3, 0.6])
def test_nu_svc(train, nu):
    X, y = train
    fit = NuSVC(nu=nu, gamma=0.5, tol=1e-10).fit(X, y)
    report = pc.verify(X, y, fit, tol=1e-5)
    assert report.passes(), report
    assert report.values[0] == pytest.approx({"nu": nu / 2, "asymmetry": 0.5})
    weight = np.where(y > 0, 2.0, 1.0)
    fit = NuSVC(nu=nu, gamma=0.5, tol=1e-10).fit(X, y, sample_weight=weight)
    assert pc.verify(X, y, fit, sample_weight=weight, tol=1e-4).passes()
    with pytest.raises(pc.InputError, match="sample_weight must be one number for each class"):
        pc.verify(X, y, fit, sample_weight=np.linspace(1, 2, y.size))
    fit.dual_coef_ = -fit.dual_coef_  # as where the reduced hulls meet, and rounding makes the margin negative
    with pytest.raises(pc.InputError, match="NuSVC must have a positive margin"):
        pc.verify(X, y, fit)


def objective(X, y, w, b, loss, costs, in_norm):
    """Written from the documentation of LIBLINEAR and scikit-learn."""
    m = 1 - y * (X @ w + b)
    phi = {"hinge": np.maximum(0, m), "squared_hinge": np.maximum(0, m) ** 2, "log_loss": np.logaddexp(0, m - 1)}[loss]
    return 0.5 * (w @ w + in_norm * b**2) + costs @ phi


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("scaling", [None, 1.0, 3.0])
def test_the_gap_of_a_linear_svc_is_by_how_much_its_value_is_off(train, loss, scaling):
    X, y = train
    how = {"fit_intercept": False} if scaling is None else {"intercept_scaling": scaling}
    fit = LinearSVC(C=0.7, loss=loss, class_weight={1: 2.0}, tol=1e-10, max_iter=10**4, **how).fit(X, y)
    assert pc.verify(X, y, fit, tol=1e-6).passes()
    costs, in_norm = np.where(y > 0, 1.4, 0.7), 0.0 if scaling is None else scaling**-2
    best = objective(X, y, fit.coef_[0], np.ravel(fit.intercept_)[0], loss, costs, in_norm)
    fit.coef_ = fit.coef_ * 1.2
    worse = objective(X, y, fit.coef_[0], np.ravel(fit.intercept_)[0], loss, costs, in_norm)
    certificate = pc.verify(X, y, fit)[0]
    assert certificate.gap == pytest.approx(1 - best / worse, rel=1e-4)
    assert "No multipliers were given" in certificate.explain()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
def test_the_gap_of_an_sgd_classifier_is_honest(train, loss):
    X, y = train
    fit = SGDClassifier(loss, alpha=0.02, learning_rate="constant", eta0=0.01, max_iter=50, tol=None, random_state=0)
    fit.fit(X, y)
    costs = np.full(y.size, 1 / (y.size * 0.02))
    mine = objective(X, y, fit.coef_[0], fit.intercept_[0], loss, costs, 0.0)
    certificate = pc.verify(X, y, fit)[0]
    if loss == "hinge":
        best = pc.TwoCSVM(X, y).solve(costs[0], costs[0]).value
    elif loss == "log_loss":
        other = LogisticRegression(C=costs[0], tol=1e-12, max_iter=1000).fit(X, y)
        best = objective(X, y, other.coef_[0], other.intercept_[0], loss, costs, 0.0)
    else:  # a very large constant feature has no weight to speak of
        other = LinearSVC(C=costs[0], intercept_scaling=100.0, tol=1e-10, max_iter=10**4, random_state=0).fit(X, y)
        best = objective(X, y, other.coef_[0], other.intercept_[0], loss, costs, 0.0)
    assert certificate.gap == pytest.approx(1 - best / mine, abs=1e-4)
    assert certificate.verdict() == "not optimal"
    assert pc.verify(X, y, fit, tol=0.9).passes()


@pytest.mark.parametrize(
    ("machine", "change", "message"),
    [
        (SVC(), lambda X, y: (X + 1, y), "its support vectors are not the rows of X"),
        (SVC(), lambda X, y: (X[:-1], y[:-1]), "X must be what SVC was fitted on, 24 samples, got 23"),
        (SVC(), lambda X, y: (X, -y), "has another label there"),
        (NuSVC(nu=0.3), lambda X, y: (X[::-1], y), "its support vectors are not the rows of X"),
        (LinearSVC(), lambda X, y: (X[:, :1], y), "X must be what LinearSVC was fitted on, 2 features, got 1"),
    ],
)
def test_a_machine_of_other_data(train, machine, change, message):
    fit = machine.fit(*train)
    with pytest.raises(pc.InputError, match=message):
        pc.verify(*change(*train), fit)


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (SVC(kernel="sigmoid"), "kernel 'sigmoid' is not positive semidefinite"),
        (
            GridSearchCV(SVC(), {"C": [1.0, 2.0]}, refit=False),
            "got GridSearchCV: it must be fitted, with refit=True, to hold a model",
        ),
        (
            RidgeClassifier(),
            "must be one of the estimators SVC, NuSVC, LinearSVC, SGDClassifier, .*got RidgeClassifier",
        ),
        (LinearSVC(penalty="l1"), "LinearSVC must have penalty='l2', got 'l1'"),
        (SGDClassifier("perceptron"), "must have loss hinge, squared_hinge or log_loss, got 'perceptron'"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_machine_of_another_problem(train, machine, message):
    with pytest.raises(pc.InputError, match=message):
        pc.verify(*train, machine.fit(*train))


def test_a_machine_that_was_not_fitted_or_has_another_kernel_or_parameters(train):
    X, y = train
    with pytest.raises(pc.InputError, match=r"SVC must be fitted first: call fit\(X, y\)"):
        pc.verify(X, y, SVC())
    with pytest.raises(pc.InputError, match=r"kernel must be that of the model, RBF\(.*\), or left out, got RBF"):
        pc.verify(X, y, SVC().fit(X, y), kernel=pc.RBF(7.0))
    with pytest.raises(pc.InputError, match="SVC must be fitted on two classes, got 3"):
        pc.verify(X, y, SVC().fit(X, np.arange(24) % 3))
    with pytest.raises(pc.InputError, match="C_plus belongs to a model file only"):
        pc.verify(X, y, SVC().fit(X, y), C_plus=1.0)


def test_a_callable_kernel_must_be_the_one_that_is_given(train):
    X, y = train

    def mine(A, B):
        return A @ B.T

    fit = SVC(kernel=mine, tol=1e-9).fit(X, y)
    assert pc.verify(X, y, fit, mine, tol=1e-6).passes()
    assert pc.verify(X, y, SVC(kernel=pc.RBF(1.0), tol=1e-9).fit(X, y), pc.RBF(1.0), tol=1e-6).passes()
    for other in (pc.RBF(1.0), "linear", lambda A, B: A @ B.T):
        with pytest.raises(pc.InputError, match="kernel must be that of the model"):
            pc.verify(X, y, fit, other)


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
