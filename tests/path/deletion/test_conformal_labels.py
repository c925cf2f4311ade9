"""Full conformal prediction of labels: against optima in fractions, refits in LIBSVM, and samples in another order."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.path.deletion.conformal_labels import conformal_ranks
from paretoclf.problem.kernels import Precomputed
from tests.oracles.exact import fractions, integer_kernel, intercepts
from tests.oracles.exact_criss_cross import criss_cross
from tests.oracles.mostly_slow import mostly_slow


def exact_ranks(K, y, costs, by_label):
    """How many of the others are stranger than the last sample, and how many as strange, in fractions."""
    caps = fractions(np.where(y > 0, *costs))
    path = criss_cross(K, y, caps, fractions(np.zeros(y.size)))
    alpha = path.alpha(path.ends[0])
    scores, exact_y = path.scores_of(alpha), np.array([int(v) for v in y], dtype=object)
    ends = intercepts(exact_y, alpha < caps, alpha > 0, scores)
    finite = [b for b in ends if np.isfinite(float(b))]
    b = sum(finite) / len(finite) if finite else 0  # the convention for one that is not unique
    margins = exact_y * (scores + b)
    others = margins[:-1][y[:-1] == y[-1]] if by_label else margins[:-1]
    return int(np.sum(others < margins[-1])), int(np.sum(others == margins[-1])) + 1


def instance(seed):
    """Whole numbers with copies of samples, of either label, ties, classes of few; new ones are copies at times."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 8)), int(rng.integers(1, 4))
    X = rng.integers(-2, 3, size=(n + 3, d)).astype(float)
    X[1] = X[0]
    X[n] = X[rng.integers(n)]
    plus = 1 if rng.random() < 0.2 else int(rng.integers(1, n))
    y = rng.permutation(np.where(np.arange(n) < plus, 1.0, -1.0))
    return X, y, tuple(rng.choice([0.25, 0.5, 1.0, 1.0, 2.0, 8.0], size=2))


@pytest.mark.parametrize("part", mostly_slow(range(4), 1))
@pytest.mark.parametrize("degree", [1, 2])
def test_ranks_are_those_in_fractions(part, degree):
    for seed in range(1000 * degree + 25 * part, 1000 * degree + 25 * part + 25):
        X, y, costs = instance(seed)
        K, n = integer_kernel(X, degree), y.size
        svm = pc.TwoCSVM(X[:n], y, None if degree == 1 else pc.Polynomial(degree))
        by_label = bool(seed % 2)
        found = conformal_ranks(svm, costs, X[n:], by_label=by_label)
        for j in range(3):
            rows = [*range(n), n + j]
            for column, z in enumerate((-1.0, 1.0)):
                wanted = exact_ranks(K[np.ix_(rows, rows)], np.append(y, z), costs, by_label)
                assert (found.greater[j, column], found.tied[j, column]) == wanted, (seed, j, z)
        assert found.worst.passes()
        assert found.among.tolist() == ([np.sum(y < 0) + 1, np.sum(y > 0) + 1] if by_label else [n + 1] * 2)


def test_a_new_sample_bounds_the_interval_of_intercepts():
    # The first two are at their caps, w = 1/4. Without the new one b lies in [-1, -1/16], with it in [-7/8, -1/16]: in
    # the middle of that its margin is as large as that of the third, which bounds b from above.
    svm = pc.TwoCSVM([[0.0], [4.0], [-3.75]], [-1, 1, -1])
    found = conformal_ranks(svm, (0.0625, 0.0625), [[7.5], [5.0]])
    for j, x in enumerate((7.5, 5.0)):
        K = fractions(4 * np.array([0.0, 4.0, -3.75, x]))
        for column, z in enumerate((-1.0, 1.0)):
            wanted = exact_ranks(np.outer(K, K) / 16, np.array([-1.0, 1.0, -1.0, z]), (0.0625, 0.0625), False)
            assert (found.greater[j, column], found.tied[j, column]) == wanted
    assert (found.greater[0, 1], found.tied[0, 1]) == (2, 2)


@pytest.mark.parametrize("kernel", [None, "sparse", pc.RBF(1.5)], ids=["dense", "sparse", "rbf"])
@pytest.mark.parametrize("what", ["margin", "multiplier"])
def test_ranks_are_those_of_refits(gaussians, kernel, what):
    X, y = gaussians(70, 3, seed=4)
    X, y, new = X[::2], y[::2], X[1::2][:8]
    shape = kernel if isinstance(kernel, pc.RBF) else pc.Linear()
    sparse = isinstance(kernel, str)
    svm = pc.TwoCSVM(sp.csr_array(X) if sparse else X, y, None if sparse else kernel)
    found = conformal_ranks(svm, (0.7, 1.3), sp.csr_array(new) if sparse else new, nonconformity=what)
    for j in range(8):
        for column, z in enumerate((-1.0, 1.0)):
            Z, labels = np.vstack([X, new[j]]), np.append(y, z)
            K, costs = shape(Z, Z), np.where(labels > 0, 0.7, 1.3)
            model = SVC(kernel="precomputed", tol=1e-12, C=1.0).fit(K, labels, sample_weight=costs)
            if what == "margin":
                strange = -labels * model.decision_function(K)
            else:
                strange = np.zeros(labels.size)
                strange[model.support_] = np.abs(model.dual_coef_[0]) / costs[model.support_]
            apart = strange[:-1] - strange[-1]
            assert found.greater[j, column] == np.sum(apart > 1e-6)
            assert found.tied[j, column] == np.sum(np.abs(apart) <= 1e-6) + 1


@pytest.mark.parametrize("what", ["margin", "multiplier"])
@pytest.mark.parametrize("by_label", [False, True])
def test_the_order_of_all_samples_with_the_new_one_is_of_no_account(what, by_label):
    rng = np.random.default_rng(8)
    X = rng.integers(-2, 3, size=(24, 2)).astype(float)
    X[8:12] = X[:4]  # copies, of the same and of the other label
    y = np.where(rng.random(24) < 0.4, 1.0, -1.0)
    for last in range(24):
        # Whoever of a set of samples is the new one, its rank is that among the nonconformities of the set: those of
        # copies with one label are equal.
        same = np.flatnonzero((X[last] == X).all(axis=1) & (y == y[last]))
        of = []
        for i in same:
            rest = np.delete(np.arange(24), i)[:: -1 if i % 2 else 1]
            svm = pc.TwoCSVM(X[rest], y[rest], pc.RBF(1.3))
            found = conformal_ranks(svm, (1.0, 2.0), X[[i]], nonconformity=what, by_label=by_label)
            column = int(y[i] > 0)
            of.append((found.greater[0, column], found.tied[0, column]))
        assert len(set(of)) == 1
        assert of[0][1] >= same.size


@pytest.mark.parametrize("what", ["margin", "multiplier"])
@pytest.mark.parametrize("by_label", [False, True])
def test_the_guarantee_is_exact_on_every_set_of_samples(what, by_label):
    # Exchangeable: each of N samples is the new one with the same probability. Then the true label is in the set with
    # probability 1 - alpha, of these very samples, and of either class.
    N, alpha = 14, 0.15
    for seed in range(2):
        rng = np.random.default_rng(seed)
        y = np.where(np.arange(N) < 5, 1.0, -1.0)
        X = np.round(rng.standard_cauchy((N, 2)) + y[:, None])
        inside = np.zeros(N)
        for i in range(N):
            rest, column = np.arange(N) != i, int(y[i] > 0)
            svm = pc.TwoCSVM(X[rest], y[rest], pc.RBF(1.0))
            found = conformal_ranks(svm, (1.0, 1.0), X[[i]], nonconformity=what, by_label=by_label)
            greater, tied = found.greater[0, column], found.tied[0, column]
            inside[i] = np.clip((greater + tied - alpha * found.among[column]) / tied, 0.0, 1.0)  # over random ties
        for part in (y > 0, y < 0) if by_label else (y != 0,):
            assert inside[part].mean() == pytest.approx(1 - alpha, abs=1e-12)


@pytest.mark.parametrize("kernel", [None, pc.Polynomial(2, offset=0.0)], ids=["features", "kernel matrix"])
@pytest.mark.parametrize("what", ["margin", "multiplier"])
@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_the_unit_of_the_features_is_of_no_account(gaussians, kernel, what, unit):
    """Features times s and costs over s squared: the same margins and shares, and the same ties."""
    X, y = gaussians(40, 2, seed=9)
    X[30:35] = X[:5]  # new samples that are copies
    ranks = []
    for s in (1.0, unit):
        svm = pc.TwoCSVM(s * X[:30], y[:30], kernel)
        size = s**2 if kernel is None else s**4  # of the kernel values
        ranks.append(conformal_ranks(svm, (1.0 / size, 2.0 / size), s * X[30:], nonconformity=what))
    for name in ("greater", "tied"):
        np.testing.assert_array_equal(getattr(ranks[1], name), getattr(ranks[0], name))
    if what == "margin" and kernel is None:
        assert ranks[0].tied[:5].max(axis=1).tolist() == [2] * 5  # with the label of what it is a copy of
        assert ranks[0].tied[5:].tolist() == [[1, 1]] * 5


def test_where_the_origin_is_is_of_no_account(gaussians):
    """Far from it the intercept is large, and copies are ties all the same."""
    X, y = gaussians(40, 2, seed=9)
    X[30:35] = X[:5]
    near, far = (
        conformal_ranks(pc.TwoCSVM(X[:30] + shift, y[:30]), (1.0, 2.0), X[30:] + shift) for shift in (0.0, 64.0)
    )
    np.testing.assert_array_equal(far.greater, near.greater)
    np.testing.assert_array_equal(far.tied, near.tied)
    assert (near.tied == 2).any()


def test_without_random_ties_they_count_whole():
    svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, -1, 1, 1])
    found = conformal_ranks(svm, (1.0, 1.0), [[0.5], [1.4]])
    np.testing.assert_array_equal(found.p_values(), (found.greater + found.tied) / 5)
    drawn = found.p_values(np.random.default_rng(0))
    assert (drawn > found.greater / 5).all()
    assert (drawn <= found.p_values()).all()
    np.testing.assert_array_equal(drawn, found.p_values(0))


def test_blocks_and_processes_do_not_matter(gaussians):
    X, y = gaussians(230, 2, seed=6)
    order = np.random.default_rng(0).permutation(230)
    X, y = X[order], y[order]
    svm = pc.TwoCSVM(X[:40], y[:40], pc.RBF(1.0))
    whole = conformal_ranks(svm, (1.0, 1.0), X[40:], n_jobs=2)
    one = [conformal_ranks(svm, (1.0, 1.0), X[[i]]) for i in range(40, 230, 37)]
    np.testing.assert_array_equal(whole.greater[::37], np.concatenate([each.greater for each in one]))
    np.testing.assert_array_equal(whole.tied[::37], np.concatenate([each.tied for each in one]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"costs": (0.0, 1.0)}, "costs must both be positive"),
        ({"costs": 3.0}, "costs must be a pair"),
        ({"nonconformity": "score"}, "nonconformity must be 'margin' or 'multiplier'"),
        ({"X": [[1.0, 2.0]]}, "X must have 1 "),
        ({"svm": pc.TwoCSVM(np.eye(2), [1, -1], Precomputed())}, "a precomputed kernel"),
        ({"svm": pc.TwoCSVM([[0.0], [1.0]], [1, -1], pc.RBF(1.0), low_rank=1)}, "low_rank"),
        ({"svm": pc.TwoCSVM([[0.0], [1.0]], [1, -1], sample_weight=[1, 2])}, "equal weights"),
        ({"svm": 3}, "svm must be a formulation"),
    ],
)
def test_what_cannot_be_ranked(change, message):
    given = {"svm": pc.TwoCSVM([[0.0], [1.0]], [1, -1]), "costs": (1.0, 1.0), "X": [[0.5]]} | change
    svm, costs, X = (given.pop(name) for name in ("svm", "costs", "X"))
    with pytest.raises(InputError, match=message):
        conformal_ranks(svm, costs, X, **given)
