"""Mean scores of folds along t, beside scikit-learn's scores of the labels at many t."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, make_scorer, roc_auc_score

from paretoclf.common.errors import InputError
from paretoclf.roc.score_curve import SCORED_AT, ScoreCurve, Scorer, score_curve
from paretoclf.roc.scores import PathScores


class TestCurve:
    steps = ScoreCurve([0.0, 0.25, 0.5, 1.0], [0.1, 0.9, 0.4, 0.2], [0.3, 0.6, 0.5])
    asked = ScoreCurve([0.0, 0.25, 0.5, 1.0], [0.1, 0.9, 0.9, 0.2])

    @pytest.mark.parametrize(
        ("t", "score"), [(0.0, 0.1), (0.1, 0.3), (0.25, 0.9), (0.3, 0.6), (0.5, 0.4), (0.99, 0.5), (1.0, 0.2)]
    )
    def test_a_step_function_has_one_value_at_each_t(self, t, score):
        assert self.steps(t) == score

    def test_where_it_was_asked_it_is_known_and_elsewhere_not(self):
        assert [self.asked(t) for t in (0.0, 0.25, 0.5, 1.0)] == [0.1, 0.9, 0.9, 0.2]
        with pytest.raises(InputError, match=r"t must be one of the 4 at which the scorer was asked, got 0.3"):
            self.asked(0.3)

    @pytest.mark.parametrize("t", [-0.1, 1.1])
    def test_beyond_its_ends_there_is_nothing(self, t):
        with pytest.raises(InputError, match="t must"):
            self.steps(t)

    def test_the_best_is_the_middle_of_the_longest_interval(self):
        assert self.steps.best() == (0.25, 0.9)  # one point
        assert ScoreCurve([0.0, 0.25, 1.0], [0.9, 0.1, 0.9], [0.9, 0.9]).best() == (0.625, 0.9)
        assert ScoreCurve([0.0, 0.5, 1.0], [0.1, 0.9, 0.9], [0.9, 0.9]).best() == (0.5, 0.9)  # an end's point adds none
        assert ScoreCurve([0.0, 0.5, 0.75, 1.0], [0.9, 0.1, 0.2, 0.3], [0.1, 0.9, 0.1]).best() == (0.625, 0.9)

    def test_of_points_alone_it_is_the_one_in_the_middle(self):
        assert self.asked.best() == (0.25, 0.9)
        assert ScoreCurve([0.0, 0.1, 0.2, 0.9, 1.0], [0.9, 0.9, 0.9, 0.1, 0.9]).best() == (0.1, 0.9)
        assert ScoreCurve([0.0, 0.1, 0.5, 0.9, 1.0], [0.9, 0.1, 0.9, 0.9, 0.2]).best() == (0.5, 0.9)

    def test_it_says_what_it_is(self):
        assert repr(self.steps) == "ScoreCurve(2 changes, best 0.9000 at t = 0.25)"
        assert repr(self.asked) == "ScoreCurve(asked at 4 points, best 0.9000 at t = 0.25)"


def fold(seed, m=9, k=5):
    """Scores of m samples on k pieces, with a jump at every knot, and which are positive."""
    rng = np.random.default_rng(seed)
    t = np.concatenate([[0.0], np.sort(rng.uniform(size=k - 1)), [1.0]])
    return PathScores(t, rng.normal(size=(m, k)), rng.normal(size=(m, k))), np.arange(m) % 3 == 0


FOLDS = [fold(seed) for seed in range(3)]


def scorers(scoring, classes=("no", "yes"), sign=1):
    X = np.zeros((9, 2))
    return [Scorer(scoring, np.array(classes), sign, X, positive) for _, positive in FOLDS]


def words(mask, classes=("no", "yes"), sign=1):
    return np.array(classes)[::sign][np.asarray(mask, dtype=int)]


@pytest.mark.parametrize(
    ("scoring", "metric"),
    [
        ("accuracy", lambda truth, labels: np.mean(truth == labels)),
        ("balanced_accuracy", balanced_accuracy_score),
        (make_scorer(f1_score, pos_label="yes"), lambda truth, labels: f1_score(truth, labels, pos_label="yes")),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_score_of_labels_is_known_at_every_t(scoring, metric, sign):
    curve = score_curve(scorers(scoring, sign=sign), [scores for scores, _ in FOLDS])
    ts = np.random.default_rng(9).uniform(size=40)
    for t in ts:
        each = [metric(words(p, sign=sign), words(scores(t) >= 0, sign=sign)) for scores, p in FOLDS]
        assert curve(float(t)) == pytest.approx(np.mean(each))
    best = curve.best()
    assert best[1] >= max(curve(float(t)) for t in ts) - 1e-12
    assert curve(best[0]) == pytest.approx(best[1])
    assert curve.after is not None


def test_jumps_that_rounding_has_put_apart_are_one():
    after = np.nextafter(0.5, 1.0)
    up = PathScores(np.array([0.0, 0.5, 1.0]), np.array([[-1.0, 1.0]]), np.array([[-1.0, 1.0]]))
    down = PathScores(np.array([0.0, after, 1.0]), np.array([[1.0, -1.0]]), np.array([[1.0, -1.0]]))
    asked = [Scorer("accuracy", np.array(["no", "yes"]), 1, np.zeros((1, 1)), np.array([True]))] * 2
    curve = score_curve(asked, [up, down])
    np.testing.assert_allclose(curve.t, [0, 0.5, 1], rtol=1e-15)
    assert (curve.at.tolist(), curve.after.tolist()) == ([0.5, 0.5, 0.5], [0.5, 0.5])


def test_a_score_of_scores_is_known_where_it_was_asked():
    """Evenly over pieces, not over t: as many between any two breakpoints."""
    curve = score_curve(scorers("roc_auc", sign=-1)[:2], [scores for scores, _ in FOLDS[:2]])
    assert curve.t.size == SCORED_AT == 201
    assert curve.after is None
    knots = np.unique(np.concatenate([scores.t for scores, _ in FOLDS[:2]]))
    counts = np.histogram(curve.t, knots)[0]
    assert counts.max() - counts.min() <= 1 or counts.max() - counts[:-1].min() <= 1
    for k in (0, 17, 100, 200):
        each = [roc_auc_score(positive, scores(curve.t[k])) for scores, positive in FOLDS[:2]]
        assert curve.at[k] == pytest.approx(np.mean(each))


def test_labels_of_numbers_are_those_that_were_given():
    (one, *_) = scorers("accuracy", classes=(-1, 1))
    assert one.of_labels(one.positive) == 1.0
    assert one.of_labels(~one.positive) == 0.0
    assert one.of_scores(np.where(one.positive, 0.0, -1.0)) == 1.0  # a score of 0 is positive


def test_a_scorer_of_probabilities_is_refused():
    with pytest.raises(InputError, match=r"scoring must be a scorer of labels or of scores, .* CalibratedClassifierCV"):
        score_curve(scorers("neg_log_loss"), [scores for scores, _ in FOLDS])


def test_a_score_that_is_no_number_is_refused():
    def nothing(estimator, X, y):
        estimator.predict(X)
        return np.nan

    with pytest.raises(
        InputError, match=r"finite number on each fold, got nan from .* on 9 samples, 3 of them positive"
    ):
        score_curve(scorers(nothing), [scores for scores, _ in FOLDS])
