"""`verify` of whatever one has: fitted machines, model files, results of ours, every formulation, whole paths."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import cvxpy as cp
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

import paretoclf as pc
from paretoclf.checking import verification
from paretoclf.common.tables import rounded_up
from tests.oracles.formulation_cases import FORMULATIONS

MODELS = Path(__file__).parents[1] / "oracles" / "models"


@pytest.fixture(scope="module")
def train():
    X, y = load_svmlight_file(str(MODELS / "train.libsvm"))
    return X.toarray(), y


# ---- fitted machines ---------------------------------------------------------------------------------------------

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


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 2, 0, 1, 2], r"y must hold two labels, got \{0, 1, 2\}"),
        (["a"] * 6, "y must contain only the labels -1 and \\+1, got {'a'}"),
        ([1.0, np.nan, 1.0, 1.0, 1.0, 1.0], "y must hold two labels"),
        (["a", 1, "a", 1, "a", None], "y must hold labels of one kind"),
        ([[0, 1]] * 3, "y must be one-dimensional"),
    ],
)
def test_labels_that_are_not_two(y, message):
    y = np.array(y, dtype=object) if None in np.ravel(np.array(y, dtype=object)) else y
    with pytest.raises(pc.InputError, match=message):
        pc.verify(FOUR[0], y, [(1, 1, np.zeros(6))])


def test_intercept_and_slope_as_scikit_learn_keeps_them(train):
    X, y = train
    fit = SVC(kernel="linear", tol=1e-10).fit(X, y)
    alpha = np.zeros(y.size)
    alpha[fit.support_] = y[fit.support_] * fit.dual_coef_[0]
    rows = [(1.0, 1.0, alpha, fit.intercept_), {"C": 1.0, "alpha": alpha, "b": fit.intercept_}]
    report = pc.verify(X, y, [*rows, {"C": 1.0, "w": fit.coef_, "b": fit.intercept_}], tol=1e-6)
    assert report.passes(), report
    assert report.values[1] == {"C_plus": 1.0, "C_minus": 1.0}
    with pytest.raises(pc.InputError, match="C stands for C_plus and C_minus; there must not be C_minus too"):
        pc.verify(X, y, {"C": 1.0, "C_minus": 1.0, "alpha": alpha})


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
        (GridSearchCV(SVC(), {"C": [1.0, 2.0]}), "got GridSearchCV: give best_estimator_"),
        (LogisticRegression(), "must be one of the estimators SVC, NuSVC, LinearSVC, SGDClassifier, got LogisticRegr"),
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


def test_model_files_of_other_labels(train, tmp_path):
    X, y = train
    for name in ("c_rbf", "l2_dual"):
        text = (MODELS / f"{name}.model").read_text()
        line = next(line for line in text.splitlines() if line.startswith("label"))
        named = line.replace("-1", "0")
        (tmp_path / "named.model").write_text(text.replace(line, named))
        for labels in (y, (y + 1) / 2):
            assert pc.verify(X, labels, tmp_path / "named.model", tol=1e-5, **FILES[name]).passes()
        with pytest.raises(pc.InputError, match=r"y must hold the classes of the model, 0.0 and 1.0, or -1 and \+1"):
            pc.verify(X, y + 5, tmp_path / "named.model", **FILES[name])


# ---- model files -------------------------------------------------------------------------------------------------

COSTS = {"C_plus": 0.5, "C_minus": 0.5}
FILES = {
    "c_rbf": {"C_plus": 3.0, "C_minus": 2.0},
    "c_lin": COSTS,
    "c_poly": COSTS,
    "nu_rbf": {"nu": 0.4},
    "l2_dual": {"C_plus": 1.0, "C_minus": 0.5},
    "l2_primal": {"C_plus": 1.0, "C_minus": 0.5},
    "l1_dual": {"C_plus": 1.0, "C_minus": 0.5},
    "l1_without_bias": COSTS,
}


@pytest.mark.parametrize("name", FILES)
def test_model_files(train, name):
    report = pc.verify(*train, MODELS / f"{name}.model", tol=1e-5, **FILES[name])
    assert report.passes(), report
    wrong = {key: 0.2 * value for key, value in FILES[name].items()}
    assert not pc.verify(*train, MODELS / f"{name}.model", tol=1e-5, **wrong).passes()


def test_a_model_of_precomputed_kernel_values(train):
    X, y = train
    K = pc.RBF(1.0)(X, X)
    assert pc.verify(K, y, str(MODELS / "c_pre.model"), C_plus=2.0, C_minus=2.0, tol=1e-6).passes()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("c_rbf", {}, "C_plus must be given: a model file does not say it"),
        ("nu_rbf", COSTS, "nu must be given"),
        ("c_rbf", {**COSTS, "nu": 1}, "nu is no parameter of this model, only C_plus, C_minus"),
        ("c_rbf", {**COSTS, "kernel": pc.RBF(2.0)}, r"kernel must be that of the model, RBF\(bandwidth=1.0\)"),
        ("c_lin", {**COSTS, "kernel": pc.RBF(2.0)}, r"kernel must be that of the model, Linear\(\)"),
        ("l1_dual", {**COSTS, "kernel": pc.RBF(2.0)}, "LIBLINEAR's models are linear"),
        ("c_sig", COSTS, "the kernel sigmoid is not positive semidefinite"),
        ("logistic", COSTS, "must be one of L2R_L2LOSS_SVC_DUAL, .* got L2R_LR"),
    ],
)
def test_what_a_model_file_lacks(train, name, options, message):
    with pytest.raises(pc.InputError, match=message):
        pc.verify(*train, MODELS / f"{name}.model", **options)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (None, "there is no such file"),
        ("", "empty.model"),
        ("a,b\n1,2\n", "empty.model"),
        (bytes(range(256)), "empty.model"),
    ],
)
def test_a_file_that_is_no_model(train, tmp_path, written, message):
    """Before: "C_plus belongs to a model file only", whatever was wrong with the file."""
    file = tmp_path / "empty.model"
    if written is not None:
        file.write_bytes(written if isinstance(written, bytes) else written.encode())
    with pytest.raises(pc.InputError, match=message) as caught:
        pc.verify(*train, file, **COSTS)
    assert "belongs to a model file only" not in str(caught.value)


def test_a_model_file_of_other_data(train, tmp_path):
    X, y = train
    for name in ("c_rbf", "c_lin"):
        with pytest.raises(pc.InputError, match=r"X and y must be what the model was trained on: no sample is \("):
            pc.verify(X * 2, y, MODELS / f"{name}.model", **COSTS)
    with pytest.raises(pc.InputError, match="2 features, got 1"):
        pc.verify(X[:, :1], y, MODELS / "l1_dual.model", **COSTS)
    torn = tmp_path / "torn.model"
    torn.write_text((MODELS / "c_rbf.model").read_text()[:40])
    with pytest.raises(pc.InputError, match="cannot be read as a model"):
        pc.verify(X, y, torn, **COSTS)


# ---- every formulation -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", FORMULATIONS, ids=lambda case: case.id)
def test_our_own_solutions_of_every_formulation(case):
    made = case.make(np.random.default_rng(5))
    solution = made.solve(**case.values[0])
    report = pc.verify(made, solution, tol=1e-6)
    assert report.passes(), report
    assert report[0].primal_value == pytest.approx(solution.value, rel=1e-6, abs=1e-12)


FOUR = np.array([[2.0, 0.0], [0.5, 1.0], [-1.0, 0.5], [-0.5, -1.0], [0.2, 0.1], [-2.0, 1.0]]), [1, 1, -1, -1, 1, -1]
PROBLEMS = {
    "costs": (pc.TwoCSVM, {"C_plus": 1.0, "C_minus": 0.5}),
    "nu": (pc.TwoNuSVM, {"nu": 0.3, "asymmetry": 0.6}),
    "tau": (pc.QuantileSVM, {"tau": 0.3, "lam": 0.1}),
    "theta": (pc.BiobjectiveMargin, {"theta": 2.0, "C_plus": 1.0, "C_minus": 3.0}),
    "logistic": (lambda X, y: pc.SurrogateRisk(X, y, loss="logistic"), {"C_plus": 1.0, "C_minus": 2.0}),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_rows_mappings_slopes_and_faults_of_every_kind_of_problem(name):
    make, values = PROBLEMS[name]
    made = make(*FOUR)
    solution = made.solve(**values)
    alpha, b = solution.alpha, solution.classifier.b
    numbers = {"alpha": alpha} if name == "tau" else {"alpha": alpha, "b": b}
    w = solution.classifier.w
    values = made.check_values(values)
    given = [
        (*values.values(), *numbers.values()),
        {**values, **numbers},
        {**values, "w": w, **({} if name == "tau" else {"b": b})},
    ]
    report = pc.verify(made, given, tol=1e-6)
    assert report.passes(), report
    many = {key: np.array([value, value]) for key, value in {**values, **numbers}.items()}
    assert len(pc.verify(made, many, tol=1e-6)) == 2
    low = {**values, **numbers, "alpha": 0.9 * alpha}
    negative = {**values, **numbers, "alpha": np.where(np.arange(6) == 0, -0.1, alpha)}
    turned = {**values, "w": -w, **({} if name == "tau" else {"b": b})}
    assert pc.verify(made, [low, negative, turned], tol=1e-6).classes["not optimal"] == (0, 1, 2)
    if name not in ("tau", "logistic"):
        moved = {**values, **numbers, "b": b + 0.3}
        assert pc.verify(made, [moved], tol=1e-6).classes["not optimal"] == (0,)


class Hinge(pc.SampleFormulation):
    """The 2C-SVM as somebody's prototype, without a dual."""

    domain = MappingProxyType({"C_plus": pc.NONNEGATIVE, "C_minus": pc.NONNEGATIVE})

    @cached_property
    def primal(self):
        w, b, xi = cp.Variable(self.X.shape[1], name="w"), cp.Variable(name="b"), cp.Variable(self.n, name="xi")
        plus, minus = (cp.sum(xi[side]) for side in (self.y > 0, self.y < 0))
        loss = self.parameters["C_plus"] * plus + self.parameters["C_minus"] * minus
        margin = (self.signed @ w + cp.multiply(self.y, b) >= 1 - xi).set_label("margin")
        return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + loss), [margin, (xi >= 0).set_label("slack")])


class LeastSquares(pc.Formulation):
    """min v'Kv / 2 + h q'v, with a dual by hand; K has no full rank, and its rounding is not positive semidefinite."""

    domain = MappingProxyType({"h": pc.NONNEGATIVE})

    def __init__(self, K, q):
        self.K, self.q = cp.psd_wrap(K), q
        super().__init__()

    @cached_property
    def primal(self):
        v = cp.Variable(self.q.size, name="v")
        return cp.Problem(cp.Minimize(cp.quad_form(v, self.K) / 2 + self.parameters["h"] * (self.q @ v)))

    @cached_property
    def dual(self):
        u = cp.Variable(self.q.size, name="u")
        row = (self.K @ u + self.parameters["h"] * self.q == 0).set_label("gradient")
        return cp.Problem(cp.Minimize(cp.quad_form(u, self.K) / 2), [row])


@pytest.mark.parametrize("seed", range(3))
def test_where_the_compiled_program_proves_no_bound_the_dual_by_hand_does(seed):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(5, 2))
    K = factor @ factor.T
    K[0, 0] -= 1e-13  # so that no bound of this matrix is -inf by rounding alone
    q = K @ rng.normal(size=5)
    best = -0.7 * np.linalg.lstsq(K, q, rcond=1e-10)[0]
    value = 0.5 * best @ K @ best + 0.7 * q @ best
    for off in (0.0, 0.1):
        v = (1.0 + off) * best  # the value is that much less, squared
        judged = pc.verify(LeastSquares(K, q), [{"h": 0.7, "v": v}], tol=1e-6)[0]
        assert judged.dual_value == pytest.approx(value, rel=1e-9)
        assert judged.primal_value == pytest.approx(value * (1.0 - off**2), rel=1e-9)
        assert judged.gap * judged.scale == pytest.approx(-value * off**2, rel=1e-6, abs=1e-9)
        assert judged.scale >= abs(judged.primal_value)
        assert judged.passes(1e-6) == (off == 0.0)
        assert "Bound it" not in judged.explain()


def test_a_prototype_whose_optimum_is_zero():
    """Before: the exact optimum was undecided, with a gap of 4e248, as gaps were relative to a value of 0."""
    X, y = FOUR
    made = Hinge(X, y)
    for off, passes in ((0.0, True), (1e-12, True), (1e-2, False)):
        b = -1.0 + off
        row = {"C_plus": 0.0, "C_minus": 1.0, "w": np.zeros(2), "b": b, "xi": np.maximum(0.0, 1.0 - made.y * b)}
        report = pc.verify(made, [row])
        assert report.passes() == passes, report
        assert report[0].primal_value == pytest.approx(3 * off, rel=1e-3)


def test_hyperplanes_of_two_gaussians():
    moments = pc.Moments.from_covariances([2.0, 0.0], np.eye(2), [0.0, 1.0], np.diag([4.0, 1.0]))
    tradeoff = pc.gaussian_tradeoff(moments)
    curve = tradeoff.curve(9)
    assert pc.verify(tradeoff, curve).passes()
    rows = list(zip(curve.w, curve.b, strict=True))
    assert pc.verify(moments, rows).passes()
    w, b = rows[4]
    report = pc.verify(moments, [(w, b), (w + np.array([0.0, 0.3]), b), (5 * w, 5 * b)])
    assert report.classes["not optimal"] == (1,)
    pair = pc.ParetoGaussian.from_moments([2.0, 0.0], np.eye(2), [0.0, 1.0], np.diag([4.0, 1.0]))
    best = pair.solve(lam=0.5).classifier
    report = pc.verify(pair, [(0.5, best.w, best.b), (0.5, 3 * best.w, 3 * best.b), (0.5, best.w, best.b + 0.1)])
    assert report.classes["not optimal"] == (2,)
    assert "intercept" in report.verdict(2)


def test_results_of_ours():
    X, y = FOUR
    svm = pc.TwoCSVM(X, y)
    path = pc.trace(svm, (0.2, 1.0), (1.0, 0.2))
    sweep = pc.sweep(svm, C_plus=[0.5, 1.0], C_minus=1.0)
    for given in (sweep, sweep[0], list(sweep), path):
        assert pc.verify(X, y, given).passes()
    report = pc.verify(X, y, path, between=True)
    assert report.passes()
    assert len(report.stretches) == len(path.proof)
    nu = pc.TwoNuSVM(X, y)
    assert pc.verify(nu, pc.trace(nu, nu=(0.2, 0.5), asymmetry=0.5)).passes()
    tau = pc.QuantileSVM(X, y)
    assert pc.verify(tau, pc.trace(tau, tau=(0.1, 0.9), lam=0.1)).passes()
    theta = pc.BiobjectiveMargin(X, y)
    assert pc.verify(theta, pc.trace(theta, theta=(0.5, 2.0), C_plus=1.0, C_minus=1.0)).passes()
    with pytest.raises(pc.InputError, match="X and y must be what the Path was made for"):
        pc.verify(X + 1, y, path)
    with pytest.raises(pc.InputError, match="kernel must be that of the Path"):
        pc.verify(X, y, path, pc.RBF(1.0))


def test_a_path_of_ours_is_of_its_weights_and_its_variant():
    """Before: with between=True its own proof stood for the problem that was asked about."""
    X, y = FOUR
    weights = np.linspace(1.0, 2.0, 6)
    path = pc.trace(pc.TwoCSVM(X, y, sample_weight=weights), (0.2, 1.0), (1.0, 0.2))
    assert pc.verify(X, y, path, sample_weight=weights, between=True).passes()
    with pytest.raises(pc.InputError, match="sample_weight must be that of the Path"):
        pc.verify(X, y, path, between=True)
    path = pc.trace(pc.QuantileSVM(X, y, bias=True), tau=(0.1, 0.9), lam=0.1)
    with pytest.raises(pc.InputError, match="bias must be that of the QuantilePath, True, got False"):
        pc.verify(pc.QuantileSVM(X, y), path)


@pytest.mark.parametrize("name", ["C_plus", "C_minus"])
def test_costs_that_are_given_twice(name):
    """Before: what stood under one name was dropped."""
    with pytest.raises(pc.InputError, match=f"costs stands for C_plus and C_minus; there must not be {name} too"):
        pc.verify(*FOUR, {"costs": [1.0, 1.0], name: 2.0, "alpha": np.zeros(6)})


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


def test_the_table_as_a_frame():
    pd = pytest.importorskip("pandas")
    X, y = FOUR
    frame = pc.verify(X, y, pc.sweep(pc.TwoCSVM(X, y), C_plus=[0.5, 1.0], C_minus=1.0)).to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame["verdict"]) == ["optimal", "optimal"]
    assert list(frame["C_plus"]) == [0.5, 1.0]
    assert (frame["lower"] <= frame["upper"] + 1e-12).all()


def test_a_frame_without_pandas(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(pc.InputError, match=r"to_frame needs pandas: pip install 'paretoclf\[pandas\]'"):
        pc.verify(*FOUR, [(1, 1, np.zeros(6))]).to_frame()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "solutions must hold alpha, or w and b, got nothing"),
        ({"C_plus": 1.0, "C_minus": 1.0}, "solutions must hold alpha, or w and b, got C_plus, C_minus"),
        ({"C_plus": 1.0, "C_minus": 1.0, "alpha": np.zeros((2, 2, 6))}, "alpha has too many dimensions"),
        ({"C_plus": [1.0, 2.0], "C_minus": 1.0, "alpha": np.zeros((3, 6))}, "all arrays must have one row for each"),
        ({"costs": [1.0], "alpha": np.zeros(6)}, r"costs must have shape \(k, 2\), got \(1,\)"),
        ({"alpha": np.zeros(6)}, r"solutions\[0\]: C_plus must be given"),
        ({"C_plus": 1, "C_minus": 1, "w": np.zeros(3)}, r"solutions\[0\]: w must have shape \(2,\), got \(3,\)"),
        ([{"C_plus": 1, "C_minus": 1, "alpha": np.zeros((2, 6))}], r"solutions\[0\] must be one solution"),
        ((1 / 0 for _ in range(2)), "solutions cannot be read: ZeroDivisionError"),
        ("nowhere.csv", "no such file"),
        ("nowhere.txt", "must end in .csv or .npz, or be a model file of LIBSVM or LIBLINEAR"),
    ],
)
def test_bad_solutions(given, message):
    with pytest.raises(pc.InputError, match=message):
        pc.verify(*FOUR, given)


def test_bad_calls():
    svm = pc.TwoCSVM(*FOUR)
    with pytest.raises(pc.InputError, match=r"verify takes \(formulation, solutions\) or \(X, y, solutions\)"):
        pc.verify(svm, [(1, 1, np.zeros(6))], [1])
    with pytest.raises(pc.InputError, match="between must be True or False"):
        pc.verify(svm, [(1, 1, np.zeros(6))], between=3)
    with pytest.raises(pc.InputError, match=r"between needs at least two knots, got 1"):
        pc.verify(svm, [(1, 1, np.zeros(6), 0.0)], between=True)
    with pytest.raises(pc.InputError, match=r"solutions\[0\]: b must be given for between=True"):
        pc.verify(svm, [(1, 1, np.zeros(6))] * 2, between=True)
    with pytest.raises(pc.InputError, match="a slope w alone belongs to the linear kernel"):
        pc.verify(*FOUR, {"w": [1.0, 1.0], "b": 0.0, "C_plus": 1, "C_minus": 1}, pc.RBF(1.0))
    with pytest.raises(pc.InputError, match="BiobjectiveMargin has no path that is affine between knots"):
        pc.verify(pc.BiobjectiveMargin(*FOUR), [(1, 1, 1, np.ones(6), 0.0)] * 2, between=True)


# ---- whole foreign paths -----------------------------------------------------------------------------------------


def knots_of(path):
    """A path as its breakpoints, twice where b jumps."""
    P = path.pieces
    return [
        (*path.costs(t), path.alpha(t), (P.b0, P.b1)[end][j])
        for j in range(P.t.size - 1)
        for end, t in ((0, float(P.t[j])), (1, float(P.t[j + 1])))
    ]


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)], ids=["linear", "rbf"])
def test_a_foreign_path_is_proved_between_its_knots_and_refuted_where_one_is_left_out(gaussians, kernel):
    X, y = gaussians(10, 2, seed=4)
    path = pc.trace(pc.TwoCSVM(X, y, kernel), (0.3, 1.0), (1.0, 0.3))
    knots = knots_of(path)
    report = pc.verify(X, y, knots, kernel, between=True)
    assert report.passes(), report
    refuted = 0
    for j in range(1, len(path.pieces.t) - 1):  # without the breakpoint j: perfect at both ends
        fewer = [*knots[: 2 * j - 1], *knots[2 * j + 1 :]]
        report = pc.verify(X, y, fewer, kernel, between=True)
        assert report.first_failure() is None
        bad = [s for s in report.stretches if s.status != "optimal"]
        assert all(s.first == 2 * j - 2 and s.status == "not optimal" and 0 < s.share < 1 for s in bad)
        refuted += len(bad)
        if bad:
            assert not report.passes()
            assert f"first not optimal: from #{2 * j - 2} to #{2 * j - 1}" in repr(report)
    assert refuted > 2


def test_knots_of_nu_and_of_tau(gaussians):
    X, y = gaussians(14, 2, seed=1)
    nu = pc.TwoNuSVM(X, y, pc.RBF(1.0))
    path = pc.trace(nu, nu=(0.2, 0.4), asymmetry=0.5)
    knots = [path.at(float(t)) for t in path.pieces.t]
    rows = [{"nu": k.values["nu"], "asymmetry": 0.5, "alpha": k.alpha, "b": k.numbers["b"]} for k in knots]
    report = pc.verify(nu, rows, between=True)
    assert report.first_failure() is None
    jumps = path.pieces.b0[1:] != path.pieces.b1[:-1]
    proved = [s.status == "optimal" for s in report.stretches]
    assert sum(proved) >= len(proved) - 2 * jumps.sum()
    assert not pc.verify(nu, [rows[0], rows[-1]], between=True).passes()
    tau = pc.QuantileSVM(X, y)
    path = pc.trace(tau, tau=(0.2, 0.8), lam=0.1)
    rows = [(float(t), 0.1, path.at(float(t)).alpha) for t in path.pieces.t]
    assert pc.verify(tau, rows, between=True).passes()
    assert not pc.verify(tau, [rows[0], rows[-1]], between=True).passes()
    with pytest.raises(pc.InputError, match="lam must be the same at all knots"):
        pc.verify(tau, [rows[0], (0.8, 0.2, rows[-1][2])], between=True)


def test_a_slope_that_goes_its_own_way_between_knots_is_refuted():
    X, y = np.array([[-1.0], [1.0]]), [-1, 1]
    rows = [{"C_plus": c, "C_minus": c, "alpha": [c, c], "w": [2 * c], "b": 0.0} for c in (0.1, 0.2, 0.5)]
    assert pc.verify(X, y, rows, between=True).passes()
    rows[1]["w"] = [0.5]
    assert [s.status for s in pc.verify(X, y, rows, between=True).stretches] == ["not optimal", "not optimal"]


#: Which module judges what `verify` is given.
DOORS = {
    "problem": "of_problem",
    "arrays": "of_arrays",
    "path of a program": "strangers",
    "classifiers": "of_classifiers",
}


@pytest.mark.parametrize("kind", DOORS)
def test_what_is_given_opens_one_door(kind, monkeypatch):
    """A problem, the path of a program, classifiers: told apart once, and no other door is imported for it."""
    w, lam = cp.Variable(name="w"), cp.Parameter(nonneg=True, name="lam")
    problem = cp.Problem(cp.Minimize(cp.square(w - 3) / 2 + lam * cp.abs(w)))
    given = {
        "problem": lambda: (problem,),
        "arrays": lambda: (pc.QP([[2.0]], [-6.0]), [3.0]),
        "path of a program": lambda: (pc.trace(problem, {lam: 4}, {lam: 0}), {"lam": [4, 3, 0], "w": [0, 0, 3]}),
        "classifiers": lambda: (np.array([[-1.0], [1.0]]), [-1, 1], [(1, 1, [0.5, 0.5])]),
    }[kind]()
    opened, door = [], verification._door
    monkeypatch.setattr(verification, "_door", lambda one: opened.append(one) or door(one))
    if kind == "problem":
        problem.parameters()[0].value = 1.0
        problem.solve("CLARABEL")
    report = pc.verify(*given, tol=1e-6)
    assert opened == [kind]
    assert report.status == "optimal" if kind in ("problem", "arrays") else report.passes()
    assert door(kind).__module__ == f"paretoclf.checking.{DOORS[kind]}"
