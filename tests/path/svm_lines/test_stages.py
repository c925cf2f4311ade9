"""Tests of `paretoclf.path.svm_lines.stages`."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from examples.papers.bach2006_population import PAIRS
from paretoclf.common.tolerances import SEEN_OUTSIDE
from paretoclf.path.svm_lines import stages
from paretoclf.path.svm_lines.stages import CapsWalk, within_box
from paretoclf.problem.pieces import Pieces
from paretoclf.roc.folds import outer_folds, validation_folds
from tests.oracles.exact import fractions, intercepts
from tests.oracles.exact_criss_cross import criss_cross


def test_a_multiplier_beyond_its_box_takes_the_end_of_the_piece_that_it_enters_from():
    """At the bound alone it would move the balance: 3e-9 of caps of 1e-3, which a certificate sees."""
    n, off = 4, 3e-9
    pieces = Pieces(
        t=np.array([0.0, 0.5, 1.0]),
        ptr=np.array([0, 3, 5]),
        index=np.array([0, 1, 2, 0, 1]),
        a0=np.array([4e-4, 5e-4, 1e-4, 6e-4 + off, 6e-4 + off]),
        a1=np.array([6e-4, 6e-4 + off, -off, 7e-4, 7e-4]),
        b0=np.zeros(2),
        b1=np.zeros(2),
        value=np.zeros((2, 3)),
        w=None,
        state=np.array([2, 2, 2, 0], dtype=np.int8),
        changes=np.array([[1], [2], [0]]),
    )
    y, caps = np.array([1.0, -1.0, 1.0, -1.0]), np.full((2, n), 1e-3)
    found = within_box(pieces, caps, np.ones(n))
    np.testing.assert_array_equal(found.a1, [6e-4 + off, 6e-4 + off, 0.0, 7e-4, 7e-4])
    np.testing.assert_array_equal(found.a0, pieces.a0)
    for ends, F in ((found.a0[:3], [0, 1, 2]), (found.a1[:3], [0, 1, 2]), (found.a0[3:], [0, 1])):
        assert abs(y[F] @ ends) < 1e-15
    # Where the other piece is further off than the multiplier itself, only that one is moved.
    apart = replace(pieces, a0=np.array([4e-4, 5e-4, 1e-4, 6e-4 + 5 * off, 6e-4 + off]))
    np.testing.assert_array_equal(within_box(apart, caps, np.ones(n)).a1, [6e-4, 6e-4 + off, 0.0, 7e-4, 7e-4])
    np.testing.assert_array_equal(within_box(pieces, caps, 100 * np.ones(n)).a1, pieces.a1)  # it would move a margin


def _boxes(pieces, caps):
    """How far multipliers are outside their box at both ends of each piece, and their caps."""
    row = np.repeat(np.arange(pieces.t.size - 1), np.diff(pieces.ptr))
    for t, a in ((pieces.t[row], pieces.a0), (pieces.t[row + 1], pieces.a1)):
        cap = (1 - t) * caps[0, pieces.index] + t * caps[1, pieces.index]
        yield np.maximum(-a, a - cap), cap


@pytest.mark.parametrize("engine", ["fast", "careful"])
def test_the_core_says_where_a_multiplier_may_be_outside_its_box(engine, monkeypatch):
    """Who is not asked to mend a path has nothing to mend; below small caps there is something (here 3e-8 of one)."""
    asked, real = [], stages.within_box
    monkeypatch.setattr(stages, "within_box", lambda *given: asked.append(given) or real(*given))
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(6, 40))
        X = rng.normal(size=(n, 2)) if seed % 3 else rng.integers(0, 3, (n, 2)).astype(float)
        svm = pc.TwoCSVM(X, np.where(np.arange(n) % 2 == 0, 1.0, -1.0), None if seed % 2 else pc.RBF(1.0))
        for ends in (((0.02, 3.0), (3.0, 0.02)), ((1e-5, 1e-5), (1.0, 1e3))):
            asked.clear()
            path = pc.trace(svm, *ends, engine=engine, certify=False)
            if not asked:
                caps = np.stack([path.caps(0.0), path.caps(1.0)])
                assert all((off <= SEEN_OUTSIDE * cap).all() for off, cap in _boxes(path.pieces, caps))
    X, y = PAIRS[0.12].draw(600, rng=1)
    asked.clear()
    svm = pc.TwoCSVM(StandardScaler().fit_transform(X), y)
    pc.trace(svm, (0, 0), (50 * svm.n_minus / svm.n, 50 * svm.n_plus / svm.n), engine=engine, certify=False)
    assert not asked  # all multipliers are 0 at the beginning, which is known, whatever rounding has found there


def test_the_pieces_of_a_path_are_looked_at_once_more_where_the_core_asks_for_it(monkeypatch):
    X, y = PAIRS[0.12].draw(2000, rng=0)  # as in the test of a multiplier that enters below a small cap
    outer, _, seed = outer_folds(y, 10, 1, 0)[0][0]
    train, _ = validation_folds(y, outer, 10, seed)[2]
    svm = pc.TwoCSVM(StandardScaler().fit_transform(X[train]), y[train])
    costs = np.bincount(y[outer] > 0) / outer.size
    monkeypatch.setattr(stages, "within_box", lambda pieces, caps, diagonal: pieces)
    pieces = pc.trace(svm, 1e-4 * costs, 100.0 * costs, certify=False).pieces
    caps = np.stack([np.where(svm.y > 0, *(c * costs)) for c in (1e-4, 100.0)])
    outside = max(float((off - SEEN_OUTSIDE * cap).max()) for off, cap in _boxes(pieces, caps))
    monkeypatch.undo()
    mended = pc.trace(svm, 1e-4 * costs, 100.0 * costs, certify=False).pieces
    assert outside > 0.0
    assert all((off <= SEEN_OUTSIDE * cap).all() for off, cap in _boxes(mended, caps))


def far_features(seed):
    """Whole numbers whose features are powers of two apart, up to 2^30: no score of these is rounded."""
    rng = np.random.default_rng([3, seed])
    n, d = int(rng.integers(6, 13)), int(rng.integers(2, 4))
    X = rng.integers(-4, 5, (n, d)).astype(float)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    powers = rng.permutation([0, 30, int(rng.integers(0, 30))])
    return X * np.resize(2.0**powers, d) / 2.0 ** int(rng.integers(0, 16)), y


@pytest.mark.parametrize("seed", [61, 96, 100, 105, 111, 145, 162, 169, 218])
@pytest.mark.parametrize("back", [False, True], ids=["at the end", "at the start"])
def test_next_to_a_cost_that_vanishes_multipliers_below_the_digits_of_t_decide(seed, back):
    """Where a sample on its margin would leave it at costs of 1e-17, b is what fractions say, up to the last double."""
    X, y = far_features(seed)
    K = fractions(X) @ fractions(X).T
    for axis, inner in (((0.0, 3.0), (1.0, 2.0)), ((3.0, 0.0), (2.0, 1.0))):
        path = pc.trace(pc.TwoCSVM(X, y), *((axis, inner) if back else (inner, axis)))
        assert path.proof.passes()
        for near in (2.0**-53, 2.0**-45, 2.0**-38):
            t = near if back else 1.0 - near
            exact = criss_cross(K, y, fractions(path.caps(t)), fractions(np.zeros(y.size)))
            alpha = exact.alpha(exact.ends[0])
            scores = exact.scores_of(alpha)
            whole = np.array([int(v) for v in y], dtype=object)
            low, high = intercepts(whole, alpha < fractions(path.caps(t)), alpha > 0, scores)
            assert float(low) - 1e-9 <= path.intercept(t) <= float(high) + 1e-9, (axis, near)


def test_a_sample_that_stays_at_its_cap_is_no_reason_to_go_on_next_to_the_end():
    """Of two on their margins one is at its cap, up to rounding: with nothing else to come, the line ends there."""
    X, y = far_features(362)
    for line in (((1.0, 2.0), (0.0, 3.0)), ((0.0, 3.0), (1.0, 2.0))):
        path = pc.trace(pc.TwoCSVM(X, y), *line)
        assert path.pieces.t.size == 5
        assert np.diff(path.pieces.t).min() > 1e-7


def test_a_sample_without_a_cost_of_a_class_that_has_some_may_stay_on_its_margin_to_the_end():
    """Only those of the class that has none are beyond."""
    stayed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(-2, 3, (8, 2)).astype(float), np.where(np.arange(8) % 2 == 0, 1.0, -1.0)
        last = np.where(y > 0, 0.0, 1.0 + rng.random(8))
        last[rng.choice(np.flatnonzero(y < 0), 2, replace=False)] = 0.0
        for ends in ((0.5 + rng.random(8), last), (last, 0.5 + rng.random(8))):
            path = pc.trace(pc.TwoCSVM(X, y), *map(pc.SampleCosts, ends))
            P, j = path.pieces, -2 if ends[1] is last else 0
            listed = P.index[P.ptr[j] : P.ptr[j + 1]]
            stayed += bool(((y[listed] < 0) & (last[listed] == 0.0)).any())
            assert np.diff(P.t)[j + 1 if j else 0] > 1e-12
    assert stayed > 10


def test_what_is_known_is_put_in_together_and_changes_no_multiplier_between(gaussians):
    """Settled once more a path is what it was; only what is known at its ends, and of b and of margins, was put in."""
    X, y = gaussians(24, 2, seed=3, positives=0.4)
    for kernel in (None, pc.RBF(1.0)):
        for start, stop in (((0.0, 1.0), (1.0, 0.0)), ((0.0, 0.0), (3.0, 2.0)), ((0.5, 1.5), (1.5, 0.5))):
            svm = pc.TwoCSVM(X, y, kernel)
            path = pc.trace(svm, start, stop)
            caps = np.stack([path.caps(0.0), path.caps(1.0)])
            signs = [float(np.sign(y @ cap)) for cap in caps]
            alone = [
                None if cost[0] and cost[1] else y * sign < 0 for cost, sign in zip((start, stop), signs, strict=True)
            ]
            known = stages.Known(svm.gram.quadratic, caps, svm.gram.diagonal(), tuple(alone), tuple(signs), False)
            again = known.settle(path.pieces, True)
            for name in ("t", "ptr", "index", "a0", "a1", "value", "state", "changes"):
                np.testing.assert_array_equal(getattr(again, name), getattr(path.pieces, name), err_msg=name)
            np.testing.assert_allclose(again.b0, path.pieces.b0, atol=1e-12)
            np.testing.assert_allclose(again.b1, path.pieces.b1, atol=1e-12)
            if kernel is None:
                np.testing.assert_allclose(again.w, path.pieces.w, rtol=1e-13, atol=0)
            for end, mask in zip((0, -1), alone, strict=True):
                if mask is not None:
                    t = float(path.pieces.t[end])
                    assert path.value(t) == 0.0
                    assert not path.alpha(t).any()
                    assert not signs[end] or path.intercept(t) == signs[end]


def walk_at(before, after, margin=(1, 2), state=(1, 2, 2), diagonal=1.0):
    """A walk of three samples, the first alone in its class, whose multipliers go from ``before`` to ``after``."""
    at = {0.0: np.array([before, before]), 1.0: np.array([after, after])}
    quadratic = SimpleNamespace(diagonal=lambda: np.full(3, diagonal))
    problem = SimpleNamespace(
        index=np.array(margin, dtype=int),
        state=np.array(state),
        solution=lambda t: SimpleNamespace(a=at[t][None]),
        Q=SimpleNamespace(quadratic=quadratic),
    )
    return CapsWalk(problem, np.array([[1.0, 0, 0], [0, 1.0, 1.0]]))


FIRST = np.array([True, False, False])


@pytest.mark.parametrize(
    ("walk", "alone", "nothing"),
    [
        (walk_at(1e-11, -1e-27), FIRST, True),
        (walk_at(1e-11, 0.0), FIRST, True),
        (walk_at(1e-11, 1e-13), FIRST, False),  # something is left
        (walk_at(1e-11, 0.0, state=(0, 2, 2)), FIRST, False),  # it has to come back to its margin before
        (walk_at(1e-11, 0.0, margin=()), FIRST, False),  # nobody holds the intercept
        (walk_at(1e-11, 0.0), None, False),
        (walk_at(1e-11, 0.0), np.zeros(3, dtype=bool), False),
    ],
)
def test_what_goes_to_nothing_on_its_basis_has_no_event_before(walk, alone, nothing):
    assert walk._goes_to_nothing(alone) == nothing


@pytest.mark.parametrize(
    ("cost", "diagonal", "none"), [(1e-27, 1.0, True), (1e-27, 1e6, False), (1e-20, 1.0, False), (1e-20, 0.0, False)]
)
def test_a_cost_that_moves_no_margin_is_none(cost, diagonal, none):
    walk = walk_at(0.0, 0.0, diagonal=diagonal)
    assert walk._is_none(np.array([cost, 1.0]), np.array([0.0, 1.0])) == none
    assert not walk._is_none(np.array([cost, 1.0]), np.array([cost, 1.0]))  # nothing vanishes
