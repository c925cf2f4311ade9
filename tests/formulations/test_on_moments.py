"""Formulations on moments: what they take from samples, what a kernel changes, and what they cannot be made of."""

from __future__ import annotations

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.distributions.gaussian.moments import Distances
from paretoclf.formulations.on_moments import MomentFormulation, MomentSlope, with_coefficients

RNG = np.random.default_rng(1)
Y = np.repeat([1, -1], [9, 12])
X = RNG.normal(size=(21, 3)) @ np.diag([1.0, 2.0, 0.5]) + 0.6 * Y[:, None]


def sample_moments(sign, ridge=0.0):
    """Mean and covariance of a class, over n and not n - 1."""
    rows = X[sign == Y]
    return rows.mean(axis=0), np.cov(rows.T, bias=True) + ridge * np.eye(3)


def same(found, mean, covariance):
    np.testing.assert_allclose(found[0], mean, atol=1e-12)
    np.testing.assert_allclose(found[1].T @ found[1], covariance, atol=1e-12)


def test_moments_are_those_of_the_samples_of_each_class():
    made = pc.ParetoGaussian(X, Y, reg=(0.1, 0.2))
    same((made.moments.mu_plus, made.moments.root_plus), *sample_moments(1, 0.1))
    same((made.moments.mu_minus, made.moments.root_minus), *sample_moments(-1, 0.2))
    assert made.reg == (0.1, 0.2)
    assert made.linear
    assert np.array_equal(made.X, X)
    assert np.array_equal(made.y, Y)
    assert repr(made) == "ParetoGaussian(21 samples, Linear(), reg=(0.1, 0.2), 3 features)"


def test_a_covariance_is_shrunk_towards_a_multiple_of_the_identity():
    made = pc.ParetoGaussian(X, Y, shrinkage=(0.25, 0.0))
    mean, S = sample_moments(1)
    same((made.moments.mu_plus, made.moments.root_plus), mean, 0.75 * S + 0.25 * np.trace(S) / 3 * np.eye(3))


def test_moments_that_are_known_need_no_samples():
    made = pc.ParetoGaussian.from_moments(*sample_moments(1), *sample_moments(-1))
    same((made.moments.mu_plus, made.moments.root_plus), *sample_moments(1))
    assert (made.gram, made.X, made.y, made.reg) == (None, None, None, (0.0, 0.0))
    assert made.linear
    assert repr(made) == "ParetoGaussian(moments, 3 features)"
    assert made.solve(1.3).value == pytest.approx(pc.ParetoGaussian(X, Y).solve(1.3).value, rel=1e-9)


def test_the_distances_of_a_solution_are_those_of_its_hyperplane():
    made = pc.ParetoGaussian(X, Y)
    solution = made.solve(0.7)
    w, b = solution.classifier.w, solution.classifier.b
    found = made.distances(solution)
    assert isinstance(found, Distances)
    (mean, S), (other, T) = sample_moments(1), sample_moments(-1)
    assert found.u_plus == pytest.approx((w @ mean + b) / np.sqrt(w @ S @ w), rel=1e-8)
    assert found.u_minus == pytest.approx(-(w @ other + b) / np.sqrt(w @ T @ w), rel=1e-8)


def test_a_member_of_the_family_solves_its_equation():
    made = pc.ParetoGaussian(X, Y)
    a = made.slope_of(made.family.of_weight(0.7)).a
    t = made.ratio({"lam": 0.7}, a)
    pull = (sample_moments(1)[1] + t * sample_moments(-1)[1]) @ a
    delta = sample_moments(1)[0] - sample_moments(-1)[0]
    np.testing.assert_allclose(pull / np.linalg.norm(pull), delta / np.linalg.norm(delta), atol=1e-9)


@pytest.mark.parametrize("form", ["primal", "dual"])
def test_the_slope_is_read_from_either_program(form):
    made = pc.ParetoGaussian(X, Y)
    a = made.solve(0.7).classifier.w
    read = made.solve(0.7, form=form, polish=False).classifier.w
    np.testing.assert_allclose(read / np.linalg.norm(read), a / np.linalg.norm(a), atol=1e-5)


class TestKernels:
    def made(self, **how):
        return pc.ParetoGaussian(X, Y, pc.RBF(1.5), **({"reg": (0.05, 0.2)} | how))

    def test_the_classifier_is_the_sum_of_kernels_that_its_coefficients_say(self):
        made = self.made()
        assert not made.linear
        solution = made.solve(0.7)
        coef = solution.numbers["coef"]
        squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
        scores = np.exp(-squares / (2 * 1.5**2)) @ coef + solution.classifier.b
        np.testing.assert_allclose(solution.classifier.decision_function(X), scores, atol=1e-8)
        assert solution.certificate.passes(1e-8)

    @pytest.mark.parametrize("shrinkage", [0.0, (0.3, 0.0)])
    def test_its_scores_have_the_distances_that_are_proved(self, shrinkage):
        """Mean and variance of the scores of each class, with the ridge times the squared length of the slope."""
        made = self.made(shrinkage=shrinkage)
        solution = made.solve(0.7)
        coef, b = solution.numbers["coef"], solution.classifier.b
        squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
        K = np.exp(-squares / (2 * 1.5**2))
        scores, length2 = K @ coef + b, coef @ K @ coef
        shares = shrinkage if isinstance(shrinkage, tuple) else (shrinkage, shrinkage)
        for sign, ridge, share, name in zip((1, -1), (0.05, 0.2), shares, ("u_plus", "u_minus"), strict=True):
            own = scores[sign == Y]
            features = made.moments.d
            trace = np.trace(K[np.ix_(sign == Y, sign == Y)] - K[np.ix_(sign == Y, sign == Y)].mean(axis=0))
            added = ridge + share * trace / own.size / features
            variance = (1 - share) * own.var() + added * length2
            assert sign * own.mean() / np.sqrt(variance) == pytest.approx(solution.numbers[name], rel=1e-6)

    def test_coefficients_imply_the_slope_that_was_read_with_means_one_apart(self):
        made = self.made()
        a = made.slope_of(made.family.of_weight(0.7)).a
        for length in (1.0, 5.0):
            implied = made._implied({"lam": 0.7}, MomentSlope(length * a))
            np.testing.assert_allclose(implied.a, a / (a @ made.moments.delta), atol=1e-8)
        made = pc.formulations.BiasedMinimaxProbabilityMachine(X, Y, pc.RBF(1.5), reg=(0.05, 0.2))
        a = made.slope_of(made.family.of_negatives()).a
        implied = made._implied({"u_plus": 0.0}, MomentSlope(a))
        np.testing.assert_allclose(implied.a, a / (a @ made.moments.delta), atol=1e-8)

    def test_a_linear_kernel_that_is_precomputed_gives_the_same_scores(self):
        ours = pc.ParetoGaussian(X, Y, reg=0.1).solve(0.7)
        other = pc.ParetoGaussian(X @ X.T, Y, "precomputed", reg=0.1).solve(0.7)
        assert other.value == pytest.approx(ours.value, rel=1e-8)
        scores = ours.classifier.decision_function(X)
        np.testing.assert_allclose(other.classifier.decision_function(X @ X.T), scores, rtol=1e-6, atol=1e-8)

    def test_where_the_positives_ask_for_nothing_the_negatives_decide_alone(self):
        """The weight of the negatives is infinite: a is a multiple of Sigma_minus^-1 delta."""
        made = pc.formulations.BiasedMinimaxProbabilityMachine(X @ X.T, Y, "precomputed", reg=0.1)
        linear = pc.formulations.BiasedMinimaxProbabilityMachine(X, Y, reg=0.1)
        found, expected = made.solve(0.0), linear.solve(0.0)
        assert found.value == pytest.approx(expected.value, rel=1e-8)
        np.testing.assert_allclose(
            found.classifier.decision_function(X @ X.T), expected.classifier.decision_function(X), rtol=1e-6, atol=1e-8
        )


def test_coefficients_are_in_the_scale_in_which_their_slope_was_judged():
    made = pc.ParetoGaussian(X, Y)
    point = made.slope_of(made.family.of_weight(0.7))
    longer = MomentSlope(3 * point.a, coef=np.arange(21.0))
    judged = made.judge({"lam": 0.7}, longer)
    scale = judged.numbers["w"][0] / longer.a[0]
    np.testing.assert_allclose(judged.numbers["coef"], scale * np.arange(21.0), rtol=1e-12)
    assert with_coefficients(judged, point) is judged
    assert "coef" not in made.judge({"lam": 0.7}, point).numbers


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pc.ParetoGaussian(X, np.ones(21)), "y must"),
        (lambda: pc.ParetoGaussian(X, Y, reg=-1.0), "reg must be nonnegative"),
        (lambda: pc.ParetoGaussian(X, Y, shrinkage=2.0), "shrinkage must"),
        (lambda: pc.ParetoGaussian(X, Y, pc.RBF(1.0)), "reg must be positive"),
        (lambda: pc.ParetoGaussian(np.column_stack([X, X[:, 0]]), Y), "reg must be positive"),
        (lambda: pc.ParetoGaussian.from_moments([1.0], [[1.0]], [1.0], [[2.0]]), "no slope has a"),
        (lambda: pc.ParetoGaussian(np.vstack([X[:4], X[:4]]), np.repeat([1, -1], 4)), "no slope has a"),
    ],
)
def test_what_has_no_solution_is_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_equal_means_are_something_to_solve_for_the_s_procedure():
    made = pc.SProcedure.from_moments([1.0, 0.0], np.eye(2), [1.0, 0.0], np.diag([2.0, 0.5]))
    assert made.without_difference is None


def test_names_of_features_are_kept():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    rule = pc.ParetoGaussian(frame, Y).solve(1.0).classifier
    with pytest.raises(InputError, match="c"):
        rule.decision_function(frame[["a", "b"]])
    np.testing.assert_allclose(rule.decision_function(frame), rule.decision_function(X))


def test_a_formulation_must_say_its_ratio():
    class Bare(MomentFormulation):
        primal = None

    made = Bare.from_moments(*sample_moments(1), *sample_moments(-1))
    with pytest.raises(NotImplementedError):
        made.ratio({}, np.ones(3))
