"""What paths of programs say of samples, against the classifiers of a solver, LIBSVM, and the package's own paths."""

from functools import cached_property
from types import MappingProxyType

import cvxpy as cp
import numpy as np
import pytest
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.problem.classifiers import KernelRule, LinearRule
from paretoclf.roc import AreaCurve, roc_of_scores
from paretoclf.roc.scores import PathScores


class Sparse(pc.SampleFormulation):
    """Hinges, an l1 norm, and a little of a square, so that the optimum is unique."""

    domain = MappingProxyType({"lam": pc.POSITIVE})

    @cached_property
    def primal(self):
        w, b = cp.Variable(self.X.shape[1], name="w"), cp.Variable(name="b")
        xi = cp.Variable(self.n, nonneg=True, name="xi")
        margin = (self.signed @ w + cp.multiply(self.y, b) >= 1 - xi).set_label("margin")
        objective = cp.sum(xi) + self.parameters["lam"] * cp.norm1(w) + 0.1 * cp.sum_squares(w)
        return cp.Problem(cp.Minimize(objective), [margin])


class Kernelised(pc.SampleFormulation):
    """A 2C-SVM without an intercept, of which the classifier is read from the multipliers of its dual."""

    domain = MappingProxyType({"C": pc.POSITIVE})

    @cached_property
    def primal(self):
        a = cp.Variable(self.n, name="alpha")
        half = cp.sum_squares((self.gram.factor * self.y[:, None]).T @ a) / 2
        return cp.Problem(cp.Minimize(half - cp.sum(a)), [a >= 0, a <= self.parameters["C"]])

    def classifier(self, values, numbers):
        return KernelRule(self.gram, self.y * numbers["alpha"], 0.0)


class Unit(Sparse):
    """Its slope is scaled to unit length: not affine along a path."""

    def classifier(self, values, numbers):
        w = numbers["w"]
        return LinearRule(w / max(np.linalg.norm(w), 1e-9), 0.0)


class Shifted(Sparse):
    """Its threshold moves with its parameter."""

    def classifier(self, values, numbers):
        return LinearRule(numbers["w"], float(numbers["b"]) - values["lam"] / 10)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    y = np.repeat([1.0, -1.0], [12, 18])
    X = rng.normal(size=(30, 3)) + 0.7 * y[:, None]
    return X, y, X + rng.normal(size=X.shape)


@pytest.fixture(scope="module")
def path(data):
    return pc.trace(Sparse(*data[:2]), lam=(20.0, 0.2))


def test_scores_are_those_of_a_solver_everywhere(data, path):
    X, y, new = data
    scores, svm = path.scores(new), Sparse(X, y)
    for t in np.random.default_rng(0).uniform(size=6):
        solved = svm.solve(lam=float(path.parameters(t)["lam"])).classifier.decision_function(new)
        assert np.abs(scores(t) - solved).max() < 1e-6
        assert np.abs(path.rule(t).decision_function(new) - scores(t)).max() < 1e-12
    at = path.parameters(0.5)["lam"]
    assert path.rule(lam=at).w.shape == (3,)


def test_errors_are_those_that_are_counted(data, path):
    _, y, new = data
    curve, scores = path.error_curve(new, y), path.scores(new)
    for t in np.random.default_rng(1).uniform(size=40):
        labels = np.where(scores(t) >= 0, 1, -1)
        fpr, fnr = ((labels != y)[y == side].mean() for side in (-1, 1))
        assert curve.rates(t) == pytest.approx((fpr, fnr))


def test_roc_curves_of_the_path_of_a_problem(data, path):
    _, y, new = data
    one = pc.roc_of_path(path, new, y, t=0.7)
    alone = roc_of_scores(path.scores(new)(0.7), y)
    assert one.auc == pytest.approx(alone.auc)
    both = pc.roc_of_path(path, new, y, "both")
    assert both.auc >= max(one.hull().auc, pc.roc_of_path(path, new, y, "asymmetry").hull().auc) - 1e-12
    with pytest.raises(pc.InputError, match="t is required"):
        pc.roc_of_path(path, new, y)


def test_a_kernel_classifier_is_read_from_what_its_program_names(data):
    X, y, new = data
    path = pc.trace(Kernelised(X, y, pc.RBF(1.5)), C=(0.1, 5.0))
    K, cross = pc.RBF(1.5)(X, X), pc.RBF(1.5)(new, X)
    scores = path.scores(new)
    for t in (0.0, 0.3, 1.0):
        a = path.at(t).variables["alpha"]
        assert np.abs(scores(t) - cross @ (y * a)).max() < 1e-9
        gradient = y * (K @ (y * a)) - 1  # the conditions of the optimum, by hand
        C = path.parameters(t)["C"]
        assert (gradient[a < 1e-9] > -1e-7).all()
        assert (gradient[a > C - 1e-9] < 1e-7).all()


def test_the_path_of_a_two_c_svm_as_a_problem_is_that_of_the_package(data):
    X, y, new = data
    w, b, C = cp.Variable(3, name="w"), cp.Variable(name="b"), cp.Parameter(nonneg=True, name="C")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))))
    mine = pc.trace(problem, start={C: 0.05}, stop={C: 2.0})
    theirs = pc.trace(pc.TwoCSVM(X, y), (0.05, 0.05), (2.0, 2.0))
    t = np.linspace(0.02, 1.0, 9)
    own, other = mine.scores(new)(t), theirs.scores(new)(t)
    assert np.abs((own - other) - (own - other).mean(axis=0)).max() < 1e-9  # b need not be unique
    libsvm = SVC(kernel="linear", C=2.0, tol=1e-9).fit(X, y)
    assert np.abs(mine.scores(new)(1.0) - libsvm.decision_function(new)).max() < 1e-5


def test_within_eps_scores_are_those_of_the_points(data):
    X, y, new = data
    path = pc.trace(Sparse(X, y), lam=(20.0, 5.0), eps=1e-2)
    scores = path.scores(new)
    for t in (0.0, 0.37, 1.0):
        assert np.abs(scores(t) - path.rule(t).decision_function(new)).max() < 1e-9
    assert path.error_curve(new, y).minimax()


def test_a_classifier_may_ask_for_the_parameters(data, path):
    X, y, new = data
    shifted = pc.trace(Shifted(X, y), lam=(20.0, 0.2)).scores(new)
    for t in (0.0, 0.41, 1.0):
        assert np.abs(shifted(t) - (path.scores(new)(t) - path.parameters(t)["lam"] / 10)).max() < 1e-9


def test_scores_of_a_slope_of_zero_are_zero(data):
    X, y, new = data
    w, tau = cp.Variable(3, name="w"), cp.Parameter(nonneg=True, name="tau")
    gain = cp.sum(cp.minimum(1, cp.multiply(y, X @ w)))
    path = pc.trace(cp.Problem(cp.Maximize(gain), [cp.norm1(w) <= 1 - tau]), {tau: 0.0}, {tau: 2.0})
    scores = path.scores(new)
    assert path.status == "infeasible"
    assert scores.t[-1] == path.t[-1]
    assert not scores(path.t[-1]).any()


@pytest.mark.parametrize("seed", [9, 21, 25, 28])
def test_scores_of_whole_numbers_are_zero_or_far_from_it(seed):
    """Vertices of small whole numbers are small fractions: what is nearer to 0 is rounding, and would choose labels."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, (8, 2)).astype(float), np.where(np.arange(8) < 4, 1, -1)
    Z = np.vstack([np.zeros((1, 2)), rng.integers(-3, 4, (8, 2))])
    w, b, lam = cp.Variable(2, name="w"), cp.Variable(name="b"), cp.Parameter(nonneg=True, name="lam")
    hinges = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    scores = pc.trace(cp.Problem(cp.Minimize(hinges + lam * cp.norm1(w))), start={lam: 6.0}, stop={lam: 0.1}).scores(Z)
    values = np.abs(np.concatenate([scores.start.ravel(), scores.end.ravel()]))
    assert (values == 0).any()
    assert values[values > 0].min() > 1e-6


def test_what_has_no_classifier_says_what_to_name(data):
    X, y, _ = data
    v, lam = cp.Variable(3, name="v"), cp.Parameter(nonneg=True, name="lam")
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(X @ v - y) + lam * cp.norm1(v))), {lam: 9.0}, {lam: 1.0})
    with pytest.raises(pc.InputError, match=r"must name a variable of its primal w .*: its variables are v"):
        path.scores(X)
    raw = pc.trace(pc.QP(np.eye(1), [0.0], np.eye(1), [0.0], [1.0], moves={"s": {"q": [-1.0]}}), {"s": 0}, {"s": 1})
    with pytest.raises(pc.InputError, match="got that of a QP"):
        raw.scores(X)
    with pytest.raises(pc.InputError, match="SampleFormulation"):
        path.leave_one_out()


def test_a_classifier_that_bends_between_breakpoints_is_refused(data):
    X, y, new = data
    path = pc.trace(Unit(X, y), lam=(20.0, 0.2))
    assert path.rule(1.0).w @ path.rule(1.0).w == pytest.approx(1.0)
    with pytest.raises(pc.InputError, match="affine between breakpoints"):
        path.scores(new)


def bending(level=0.0):
    """A slope (w, u), where w = s (r - level) bends with s = t and r = 2 t, and u = 1e9 t, which is affine."""
    w, v, s, r = cp.Variable(2, name="w"), cp.Variable(name="v"), cp.Parameter(name="s"), cp.Parameter(name="r")
    objective = w[0] + cp.square(v + level - r) + cp.square(w[1] / 1e9 - r / 2)
    return cp.Problem(cp.Minimize(objective), [w[0] >= s * v]), {s: 0.0, r: 0.0}, {s: 1.0, r: 2.0}


@pytest.mark.parametrize("others", [[], [[0.0, 1.0]], [[0.0, 1e9]]])
def test_a_parabola_is_refused_however_large_other_scores_are(others):
    """Before: beside a score of 1e9 it was read as its chord."""
    path = pc.trace(*bending())
    for t in (0.25, 0.5):  # v = r - s / 2 is the best for w = s v
        assert path.rule(t).decision_function([[1.0, 0.0]])[0] == pytest.approx(t * (2 * t - t / 2))
    with pytest.raises(pc.InputError, match=rf"bends by 0\.375 for sample {len(others)}: use sweep"):
        path.scores([*others, [1.0, 0.0]])
    if others:  # what is affine itself is counted, whatever stands beside it
        assert path.scores(others)(0.3) == pytest.approx([path.rule(0.3).decision_function(others)[0]])
    labels = np.resize([1, -1], len(others) + 1)
    if others:
        with pytest.raises(pc.InputError, match="bends by"):
            path.error_curve([*others, [1.0, 0.0]], labels)


def test_a_parabola_is_refused_however_large_its_scores_are_elsewhere():
    """Two pieces: from t = 1/2 on a price of 1e9 moves w away, and the bend before it is 1e-9 of that."""
    w, v, s, r = cp.Variable(1, name="w"), cp.Variable(name="v"), cp.Parameter(name="s"), cp.Parameter(name="r")
    far = cp.Variable(name="far")
    rows = [w[0] >= s * v, far >= 1e10 * (r - 1), far >= 0, w[0] >= s * v + far]
    path = pc.trace(cp.Problem(cp.Minimize(w[0] + cp.square(v - r) + far), rows), {s: 0.0, r: 0.0}, {s: 1.0, r: 2.0})
    assert path.breakpoints.size > 2
    t = path.breakpoints[1]
    scores = [path.rule(share * t).decision_function([[1.0]])[0] for share in (0.0, 0.5, 1.0)]
    assert abs(scores[1] - (scores[0] + scores[2]) / 2) > 0.05
    with pytest.raises(pc.InputError, match="bends by"):
        path.scores([[1.0]])


def test_rounding_of_terms_is_no_bend(data):
    """Before: a score that is 0 but for the rounding of its terms was no affine function, unless beside others."""
    X, y, _ = data
    twice = np.column_stack([X, X[:, ::-1] / 3.0])  # so that w is (u, u[::-1] / 3), up to rounding
    w, lam = cp.Variable(6, name="w"), cp.Parameter(nonneg=True, name="lam")
    hinges = cp.sum(cp.pos(1 - cp.multiply(y, twice @ w)))
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + lam * hinges)), {lam: 0.1}, {lam: 1.0})
    still = np.array([[1.0, 0.0, 0.0, 0.0, 0.0, -3.0], [0.0, 1e3, 0.0, 0.0, -3e3, 0.0]])
    assert np.abs([path.rule(t).decision_function(still) for t in (0.1, 0.7)]).max() < 1e-11
    for samples in (still[:1], still, np.vstack([still, twice])):
        scores = path.scores(samples)
        for t in (0.1, 0.7):
            assert np.abs(scores(t) - path.rule(t).decision_function(samples)).max() < 1e-11


def test_terms_are_what_scores_are_sums_of(data):
    X, y, new = data
    rule = LinearRule([1.0, -2.0, 3.0], -0.5)
    assert rule.terms([[1.0, 1.0, -1.0]]).tolist() == [6.5]
    kernel = pc.TwoCSVM(X, y, pc.RBF(1.5)).solve(1.0, 2.0).classifier
    by_hand = pc.RBF(1.5)(new, X) @ np.abs(kernel.coef) + abs(kernel.b)
    np.testing.assert_allclose(kernel.terms(new), by_hand)
    linear = pc.TwoCSVM(X, y).solve(1.0, 2.0).classifier
    np.testing.assert_allclose(linear.terms(new), np.abs(new) @ np.abs(X).T @ np.abs(linear.coef) + abs(linear.b))


def test_a_path_from_a_file_has_no_classifier(path, tmp_path):
    path.save(tmp_path / "path.npz")
    with pytest.raises(pc.InputError, match="needs the problem"):
        pc.load(tmp_path / "path.npz").scores(np.zeros((1, 3)))


def test_scores_jump_where_the_optimum_does():
    w, a = cp.Variable(1, name="w"), cp.Parameter(name="a")
    path = pc.trace(cp.Problem(cp.Minimize((a - 1) * w[0]), [w >= -1, w <= 1]), {a: 0.0}, {a: 2.0})
    scores = path.scores([[1.0], [-2.0]])
    assert scores.t.tolist() == [0.0, 0.5, 1.0]
    assert scores.start.tolist() == scores.end.tolist() == [[1.0, -1.0], [-2.0, 2.0]]


def test_a_path_of_one_point_has_a_rule_and_no_scores():
    w, tau = cp.Variable(1, name="w"), cp.Parameter(nonneg=True, name="tau")
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(w - 1)), [cp.norm1(w) <= 1 - tau]), {tau: 1.0}, {tau: 2.0})
    assert path.rule(0.0).w.tolist() == [0.0]
    with pytest.raises(pc.InputError, match=r"read rule\(t\) there"):
        path.scores([[1.0]])


def test_within_eps_what_is_counted_says_that_it_is_of_the_paths_points():
    """Scores, counts, the best places and ROC curves; of an exact path nothing is said."""
    rng = np.random.default_rng(3)
    y = np.repeat([1.0, -1.0], 6)
    svm = Sparse(rng.normal(size=(12, 2)) + y[:, None], y)
    said = "; of the path's points, within 0.01 of optimal)"
    for how, noted in (({}, False), ({"eps": 1e-2}, True)):
        path = pc.trace(svm, lam=(3.0, 1.0), progress=False, **how)
        scores, curve = path.scores(svm.X), path.error_curve(svm.X, y)
        rows = [PathScores(scores.t, scores.start[[i]], scores.end[[i]], scores.note) for i in range(12)]
        found = [scores, curve, curve.best((1.0, 1.0))[0], curve.minimax()[0], AreaCurve.of_scores(rows, y)]
        for vary in ("intercept", "asymmetry", "both"):
            roc = pc.roc_of_path(path, svm.X, y, vary=vary, t=0.5)
            found += [roc, roc.hull()]
        found.append(roc_of_scores([scores, scores], [y, y], vary="asymmetry"))
        assert [repr(each).endswith(said) for each in found] == [noted] * len(found)
        assert path.rule(0.5).decision_function(svm.X) == pytest.approx(scores(0.5))
