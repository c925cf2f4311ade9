"""ROC curves against scikit-learn, brute force on a grid of t, and exhaustive searches."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretoclf.common.errors import InputError
from paretoclf.plotting import RocDisplay
from paretoclf.problem.costs import Costs
from paretoclf.roc.crossings import label_changes
from paretoclf.roc.curve import RocCurve
from paretoclf.roc.scores import PathScores
from paretoclf.tuning import ExpectedCost, Minimax, NeymanPearson, NeymanPearsonScore


def path_scores(knots, start, end):
    return PathScores(np.array(knots, float), np.array(start, float), np.array(end, float))


def random_scores(rng, m, k, *, jumps=0.3, drift=1.0, whole=False):
    """Continuous piecewise affine scores with jumps common to all samples."""
    knots = np.concatenate([[0.0], np.sort(rng.random(k - 1)), [1.0]])
    draw = (lambda *size: rng.integers(-2, 3, size).astype(float)) if whole else (lambda *size: rng.normal(size=size))
    values = draw(m, k + 1)
    if not whole:
        values = values + drift * 3 * np.linspace(-1, 1, k + 1)
    jump = np.cumsum(np.where(rng.random(k) < jumps, draw(k), 0.0))
    return PathScores(knots, values[:, :-1] + jump, values[:, 1:] + jump)


def random_labels(rng, m):
    y = np.where(rng.random(m) < 0.4, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return y


def exhaustive_hull(points, n_minus, n_plus):
    """Vertices of the upper hull: points strictly above every chord, in fractions. O(n^3)."""
    points = {*points, (0, 0), (n_minus, n_plus)}
    highest = {}
    for x, y in points:
        highest[x] = max(y, highest.get(x, 0))
    vertices = {(0, 0), (n_minus, n_plus)}
    for x, y in highest.items():
        below = False
        for (a, ya), (b, yb) in combinations(sorted(points), 2):
            if a < x < b and ya + Fraction(yb - ya, b - a) * (x - a) >= y:
                below = True
        if not below and not (x == n_minus and y < n_plus):
            vertices.add((x, y))
    return sorted(vertices)


# --- Curves of scores ------------------------------------------------------------------------------------------------


def test_auc_of_a_curve_that_runs_backwards_is_signed():
    there_and_back = RocCurve([0, 0.5, 1, 0.5, 1], [0, 1, 1, 1, 1], 2, 2)
    assert there_and_back.auc == RocCurve([0, 0.5, 1], [0, 1, 1], 2, 2).auc == 0.75


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"fpr": [0, 2]}, "fpr must lie in"),
        ({"fpr": [0, np.nan]}, "fpr must lie in"),
        ({"tpr": [0.3, 1]}, "whole number of 2 samples"),
        ({"tpr": [0, 0.5, 1]}, "tpr must have one value per point"),
        ({"t": [0.0]}, "t must have one value per point"),
        ({"fpr": [], "tpr": []}, "non-empty"),
        ({"n_plus": 0}, "n_plus must be at least 1"),
    ],
)
def test_bad_curves_are_refused(change, words):
    with pytest.raises(InputError, match=words):
        RocCurve(**{"fpr": [0, 1], "tpr": [0, 1], "n_plus": 2, "n_minus": 2, **change})


# --- Hull and selection ----------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), min_size=1, max_size=9))
def test_hull_is_the_exhaustive_one(points):
    fp, tp = np.array(points).T
    curve = RocCurve(fp / 6, tp / 5, 5, 6)
    hull = curve.hull()
    assert list(zip(*(c.tolist() for c in hull.counts), strict=True)) == exhaustive_hull(points, 6, 5)
    for j, original in enumerate(hull.index):
        if original < 0:
            assert (hull.fpr[j], hull.tpr[j], hull.shift[j]) in ((0, 0, -np.inf), (1, 1, np.inf))
        else:
            assert points.index((round(hull.fpr[j] * 6), round(hull.tpr[j] * 5))) == original
    again = hull.hull()
    assert (again.fpr.tolist(), again.tpr.tolist()) == (hull.fpr.tolist(), hull.tpr.tolist())


def test_hull_drops_collinear_points_exactly():
    thirds = np.arange(4) / 3  # 1/3 and 2/3 are not exact in binary
    assert len(RocCurve(thirds, thirds, 3, 3).hull()) == 2


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 5)), min_size=1, max_size=10),
    st.floats(0, 10),
    st.floats(0.1, 10),
    st.one_of(st.none(), st.floats(0.01, 0.99)),
)
def test_selection_is_the_brute_force_minimum(points, C_plus, C_minus, prior):
    fp, tp = np.array([*points, (0, 0), (7, 5)]).T
    p = 5 / 12 if prior is None else prior
    cost = p * C_plus * (1 - tp / 5) + (1 - p) * C_minus * fp / 7
    curve = RocCurve(fp / 7, tp / 5, 5, 7)
    chosen = curve.select(Costs(C_plus, C_minus), prior_plus=prior)
    assert len(chosen) in (1, 2)
    for point in chosen:
        assert point.cost == pytest.approx(cost.min(), abs=1e-11)
        assert point.cost == pytest.approx(cost[point.index], abs=1e-11)
        assert point.rates == (fp[point.index] / 7, 1 - tp[point.index] / 5)


def test_selection_returns_both_ends_of_an_edge_parallel_to_the_costs():
    curve = RocCurve([0, 0.2, 0.6, 1], [0, 0.6, 0.9, 1], n_plus=10, n_minus=10)
    # Slope of the middle edge: 0.3 / 0.4 = p_minus C_minus / (p_plus C_plus). 0.1 * 3 != 0.3 in binary.
    assert [point.index for point in curve.select((0.4, 0.3))] == [1, 2]
    assert [point.index for point in curve.select((0.4 * 7, 0.1 * 3 * 7))] == [1, 2]
    assert [point.index for point in curve.select((0.4, 0.3001))] == [1]
    assert [point.index for point in curve.select((0.4, 0.2999))] == [2]
    assert [point.index for point in curve.select((1.0, 1.0), prior_plus=4 / 7)] == [1, 2]
    assert [point.index for point in curve.select((1.0, 0.0))] == [3]  # only (1, 1) misses nobody
    assert [point.index for point in curve.select((0.0, 1.0))] == [0]


def test_selection_with_a_vertical_edge_and_free_misses_is_tied():
    curve = RocCurve([0, 0, 1], [0, 0.5, 1], 2, 2)
    assert [point.index for point in curve.select((0.0, 1.0))] == [0, 1]


@pytest.mark.parametrize(
    ("costs", "prior", "words"),
    [
        ((0.0, 0.0), None, "must not both be zero"),
        ((0.0, 1.0), 1.0, "must not both be zero"),
        ((1.0, -1.0), None, "C_minus"),
        ((1.0, 1.0), 1.5, "prior_plus"),
    ],
)
def test_bad_selections_are_refused(costs, prior, words):
    with pytest.raises(InputError, match=words):
        RocCurve([0, 1], [0, 1], 1, 1).select(costs, prior)


# --- Crossings -------------------------------------------------------------------------------------------------------


def found_of(scores):
    c = label_changes(scores)
    order = np.lexsort((c.swept, c.t))
    return [(c.t[j], c.swept[j], bool(c.up[j])) for j in order]


@pytest.mark.parametrize(
    ("knots", "start", "end", "expected"),
    [
        ([0, 1], [[-1]], [[3]], [(0.25, 1, True)]),
        ([0, 1], [[3]], [[-1]], [(0.75, 1, False)]),
        ([0, 0.5, 1], [[-1, 1]], [[1, -3]], [(0.25, 1, True), (0.625, 1, False)]),  # there and back
        ([0, 0.5, 1], [[-1, 1]], [[-1, 1]], [(0.5, 0.5, True)]),  # in a jump
        ([0, 0.5, 1], [[-1, 3]], [[-1, 3]], [(0.5, 0.25, True)]),
        ([0, 0.5, 1], [[3, -1]], [[3, -1]], [(0.5, 0.75, False)]),
        ([0, 0.5, 1], [[-1, 0]], [[0, -1]], []),  # touches zero from below
        ([0, 0.5, 1], [[1, 0]], [[0, 1]], []),  # and from above
        ([0, 0.5, 1], [[-1, 0]], [[0, 1]], [(0.5, 1, True)]),  # passes through zero at a breakpoint
        ([0, 0.5, 1], [[1, 0]], [[0, -1]], [(0.5, 1, False)]),
        ([0, 0.5, 1], [[-1, 0]], [[-1, 1]], [(0.5, 1, True)]),  # a jump that ends at zero
        ([0, 0.5, 1], [[-1, 1]], [[0, 1]], [(0.5, 0, True)]),  # a jump that begins there
        ([0, 0.25, 0.5, 1], [[-1, 0, 0]], [[0, 0, -1]], [(0.25, 1, True), (0.5, 1, False)]),  # rests at zero: +1
        ([0, 1], [[0]], [[0]], []),
        ([0, 1], [[0]], [[-1]], []),  # -1 on all of (0, 1]
        ([0, 1], [[-1]], [[0]], []),  # +1 at t = 1 only
    ],
)
def test_crossings_of_one_score(knots, start, end, expected):
    assert found_of(path_scores(knots, start, end)) == expected


def test_crossings_do_not_depend_on_the_block_size(monkeypatch):
    scores = random_scores(np.random.default_rng(3), 20, 40)
    whole = found_of(scores)
    monkeypatch.setattr("paretoclf.roc.crossings.BLOCK", 60)
    assert found_of(scores) == whole


# --- Varying the asymmetry -------------------------------------------------------------------------------------------


# --- Varying both ----------------------------------------------------------------------------------------------------


# --- Paths and folds -------------------------------------------------------------------------------------------------


# --- Pictures --------------------------------------------------------------------------------------------------------


# --- Rounding is no ranking ------------------------------------------------------------------------------------------


def random_curve(rng):
    """Points in any order, with repetitions, with the corners or without."""
    n_plus, n_minus, p = rng.integers(1, 7), rng.integers(1, 7), rng.integers(1, 12)
    fp, tp = rng.integers(0, n_minus + 1, p), rng.integers(0, n_plus + 1, p)
    return RocCurve(fp / n_minus, tp / n_plus, int(n_plus), int(n_minus))


def counts_with_corners(curve):
    fp, tp = curve.counts
    return [*zip(fp.tolist(), tp.tolist(), strict=True), (0, 0), (curve.n_minus, curve.n_plus)]


@given(st.integers(0, 2**32 - 1))
def test_operating_points_against_every_point(seed):
    rng = np.random.default_rng(seed)
    curve = random_curve(rng)
    n_plus, n_minus = curve.n_plus, curve.n_minus
    points = counts_with_corners(curve)
    worst = {(fp, tp): max(Fraction(fp, n_minus), 1 - Fraction(tp, n_plus)) for fp, tp in points}
    least = {p for p, value in worst.items() if value == min(worst.values())}
    efficient = {p for p in least if not any(q != p and q[0] <= p[0] and q[1] >= p[1] for q in least)}
    found = curve.minimax()
    assert {(round(p.fpr * n_minus), round(p.tpr * n_plus)) for p in found} == efficient
    assert len(found) == len(efficient)
    assert all(p.cost == float(min(worst.values())) for p in found)
    limit = rng.integers(0, n_minus + 1) / n_minus
    allowed = [(tp, -fp) for fp, tp in points if fp / n_minus <= limit]
    (point,) = curve.neyman_pearson(limit)
    assert (round(point.tpr * n_plus), -round(point.fpr * n_minus)) == max(allowed)
    for p in (*found, point):
        assert p.index < 0 or (curve.fpr[p.index], curve.tpr[p.index]) == (p.fpr, p.tpr)


@given(st.integers(0, 2**32 - 1))
def test_a_mixture_is_the_best_of_all_mixtures_of_two_points(seed):
    rng = np.random.default_rng(seed)
    curve = random_curve(rng)
    points = [(fp / curve.n_minus, tp / curve.n_plus) for fp, tp in counts_with_corners(curve)]
    rate = rng.choice([0.0, 1.0, rng.random(), points[0][0], points[0][1]])
    pairs = [(p, q) for p in points for q in points]
    for name, axis, best in (("fpr", 0, max), ("tpr", 1, min)):
        reached = []
        for p, q in pairs:
            if p[axis] == rate == q[axis]:
                reached += [p[1 - axis], q[1 - axis]]
            elif p[axis] <= rate <= q[axis] and p[axis] < q[axis]:
                share = (rate - p[axis]) / (q[axis] - p[axis])
                reached.append((1 - share) * p[1 - axis] + share * q[1 - axis])
        mixture = curve.at_rate(**{name: rate})
        assert getattr(mixture, name) == pytest.approx(rate, abs=1e-12)
        other = mixture.tpr if name == "fpr" else mixture.fpr
        assert other == pytest.approx(best(reached), abs=1e-12)
        opposite = curve.at_rate(**{{"fpr": "tnr", "tpr": "fnr"}[name]: 1 - rate})
        assert opposite.rates == pytest.approx(mixture.rates, abs=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_consistent_points_are_those_that_some_costs_make_best(seed):
    curve = random_curve(np.random.default_rng(seed))
    points = [(Fraction(fp, curve.n_minus), Fraction(tp, curve.n_plus)) for fp, tp in counts_with_corners(curve)]
    # The weights of a false negative at which two points cost the same, and those between them, are all that matter.
    at = {Fraction(0), Fraction(1)}
    for (a, b), (c, d) in combinations(set(points), 2):
        if (c - a) + (d - b) != 0 and 0 <= (g := (c - a) / ((c - a) + (d - b))) <= 1:
            at.add(g)
    best = set()
    for g in at:
        cost = [g * (1 - v) + (1 - g) * u for u, v in points]
        best |= {p for p, value in zip(points, cost, strict=True) if value == min(cost)}
    assert curve.consistent.tolist() == [p in best for p in points[:-2]]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "exactly one of tnr, tpr, fpr and fnr must be given, got none"),
        ({"fpr": 0.1, "tpr": 0.9}, "exactly one of tnr, tpr, fpr and fnr must be given, got tpr, fpr"),
        ({"fpr": 1.1}, r"fpr must lie in \[0, 1\], got 1.1"),
        ({"fnr": "a"}, "fnr must be a number, got 'a'"),
    ],
)
def test_a_rate_that_there_is_not(asked, said):
    with pytest.raises(InputError, match=said):
        RocCurve([0, 1], [0, 1], 2, 2).at_rate(**asked)


def test_lines_of_equal_cost_touch_the_curve_at_its_best_point():
    curve = RocCurve([0, 0.25, 0.5, 1], [0, 0.75, 1, 1], 4, 4)
    (point,) = curve.best((1.0, 2.0))
    ax = RocDisplay.from_curves(curve).plot(costs=(1.0, 2.0)).ax_
    (line,) = [each for each in ax.lines if str(each.get_label()).startswith("equal cost")]
    u, v = line.get_xydata().T
    assert np.allclose(0.5 * (1 - v) + 0.5 * 2 * u, point.cost)
    assert np.ptp(u) > 0


def test_a_point_shows_its_cost_where_costs_were_given():
    curve = RocCurve([0, 0.25, 0.5, 1], [0, 0.75, 1, 1], 4, 4)
    shown = "RocPoint(fpr 0.2500, fnr 0.2500, cost 0.375, threshold 0)"  # (0.25 + 2 * 0.25) / 2
    assert [repr(point) for point in curve.best((1.0, 2.0), 0.5)] == [shown]
    assert [repr(point) for point in curve.best(ExpectedCost(1.0, 2.0, 0.5))] == [shown]
    for other in (curve.minimax(), curve.neyman_pearson(0.25), [curve.at_rate(fpr=0.25).first]):
        assert [repr(point) for point in other] == [shown.replace("cost 0.375, ", "")]


def test_costs_that_differ_by_one_sample_pair_are_no_tie():
    """1 / (n_plus n_minus) apart, which is less than any tolerance; in fractions they differ."""
    n_plus, n_minus = 2_000_000, 2_000_003
    alarms = pow(n_plus, -1, n_minus)  # alarms / n_minus - hits / n_plus = 1 / (n_plus n_minus)
    hits = (alarms * n_plus - 1) // n_minus
    assert Fraction(alarms, n_minus) - Fraction(hits, n_plus) == Fraction(1, n_plus * n_minus)
    curve = RocCurve([0, 0, alarms / n_minus, 1], [0, 0.2, 0.2 + hits / n_plus, 1], n_plus, n_minus)
    assert [point.index for point in curve.best((1.0, 1.0), 0.5)] == [1]


@given(st.integers(0, 2**32 - 1))
def test_any_criterion_against_every_point(seed):
    rng = np.random.default_rng(seed)
    curve = random_curve(rng)
    n_plus, n_minus = curve.n_plus, curve.n_minus
    points = {(Fraction(fp, n_minus), 1 - Fraction(tp, n_plus)) for fp, tp in counts_with_corners(curve)}
    alpha, prior = Fraction(int(rng.integers(1, 6)), 6), Fraction(int(rng.integers(1, 10)), 10)
    costs = [int(c) for c in rng.integers(1, 10, 2)]
    for criterion, objective in (
        (Minimax(), max),
        (
            NeymanPearson(float(alpha)) if alpha < 1 else Minimax(),
            (lambda u, v: v if u <= alpha else 9) if alpha < 1 else max,
        ),
        (
            NeymanPearsonScore(float(alpha * prior)),
            lambda u, v: max(u - alpha * prior, 0) / (alpha * prior) + v,
        ),
        (ExpectedCost(*costs, float(prior)), lambda u, v: prior * costs[0] * v + (1 - prior) * costs[1] * u),
    ):
        least = min(objective(*p) for p in points)
        ties = {p for p in points if objective(*p) == least}
        efficient = {p for p in ties if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in ties)}
        found = curve.best(criterion)
        assert {
            (Fraction(round(p.fpr * n_minus), n_minus), 1 - Fraction(round(p.tpr * n_plus), n_plus)) for p in found
        } == efficient
        assert all(p.cost == float(least) for p in found)
    with pytest.raises(InputError, match="prior_plus must be left out for Minimax"):
        curve.best(Minimax(), 0.5)
