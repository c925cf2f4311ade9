"""The map of the cost plane against solvers, paths, exact enumeration, and its own symmetries."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations, product

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.path.cost_plane.explore import RegionSearch
from paretoclf.path.load import load_path, load_plane
from paretoclf.path.regions.critical_region import Bases
from tests.benchmarks import plane as benchmark
from tests.oracles.exact import integer_kernel
from tests.oracles.exact_enumeration import inverse
from tests.oracles.families import FAMILIES, kernel_of, standardised
from tests.oracles.stored_files import rewritten

SQUARE = (0.05, 2.0)


def generic(n=20, kernel="rbf", weighted=False, seed=0, positives=0.4):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < round(positives * n), 1.0, -1.0)
    X = rng.normal(size=(n, 2)) + 0.5 * y[:, None]
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    return pc.TwoCSVM(X, y, kernel=pc.RBF(1.0) if kernel == "rbf" else None, sample_weight=weight)


CASES = {
    "rbf": {},
    "linear": {"kernel": "linear"},
    "weighted": {"weighted": True},
    "unequal classes": {"positives": 0.15, "n": 24},
    "equal classes": {"positives": 0.5, "n": 14, "seed": 3},
}


@pytest.fixture(scope="module", params=CASES)
def mapped(request):
    svm = generic(**CASES[request.param])
    return svm, pc.plane(svm, SQUARE, SQUARE)


def objections(svm, found):
    """What is wrong with a map, in words: areas, certificates, and what neighbours say about their common edges."""
    out = []
    (a, b), (c, d) = found.C_plus, found.C_minus
    if abs(found.areas.sum() / ((b - a) * (d - c)) - 1) > 1e-9 or found.areas.min() <= 0:
        out.append("areas")
    inner = 0.0
    for region in found.regions:
        ends = np.roll(region.polygon, -1, axis=0)
        lengths = np.linalg.norm(ends - region.polygon, axis=1)
        inner += sum(length for length, facet in zip(lengths, region.facets, strict=True) if facet is not None)
    shared = sum(2 * np.linalg.norm(each.stop - each.start) for each in found.contacts)
    if abs(shared - inner) > 1e-7 * max(inner, 1.0):
        out.append(f"contacts of {shared}, edges of {inner}")
    for where in ("vertices", "centroids"):
        worst = max((proof.residual, abs(proof.gap)) for proofs in found.certificates(where) for proof in proofs)
        if max(worst) > 1e-8:
            out.append(f"certificates {worst}")
    K = svm.gram.matrix
    for each in found.contacts:
        step, towards = each.stop - each.start, found.regions[each.first].centroid - each.start
        if step[0] * towards[1] < step[1] * towards[0]:
            out.append("the first region of a contact is not to the left")
        first, second = (found.regions[k].coefficients(found.unit_caps) for k in (each.first, each.second))
        for costs in (each.start, 0.5 * (each.start + each.stop), each.stop):
            at = np.array([1.0, *costs])
            scale = max(1.0, float(np.abs(K).max() * np.abs(first @ at).sum()))
            if np.abs(K @ (svm.y * ((first - second) @ at))).max() > 1e-9 * scale:
                out.append(f"w is not continuous at {costs}")
    return out


def test_the_regions_cover_the_rectangle_and_their_neighbours_agree(mapped):
    assert objections(*mapped) == []


def test_an_intercept_jumps_only_where_all_between_are_optimal(mapped):
    svm, found = mapped
    jumps = 0
    for each in found.contacts:
        costs = 0.5 * (each.start + each.stop)
        b = [float(found.regions[k].b_map @ [1.0, *costs]) for k in (each.first, each.second)]
        if abs(b[0] - b[1]) > 1e-9:
            jumps += 1
            alpha = found.alpha(*costs)
            caps = found.caps(*costs)
            assert np.minimum(alpha, caps - alpha).max() < 1e-9 * caps.max()
            for between in np.linspace(*b, 5):
                assert pc.certify(svm.y, caps, alpha, between, K=svm.gram.matrix).passes(1e-9)
    assert jumps or svm.sample_weight.std() > 0


def test_multipliers_agree_across_edges_and_sets_differ_by_what_the_facet_says():
    svm = generic()
    found = pc.plane(svm, SQUARE, SQUARE)
    simple = 0
    for each in found.contacts:
        at = np.array([1.0, *(0.5 * (each.start + each.stop))])
        one, other = found.regions[each.first], found.regions[each.second]
        assert np.abs((one.coefficients(found.unit_caps) - other.coefficients(found.unit_caps)) @ at).max() < 1e-10
        changed = np.flatnonzero(one.sets != other.sets)
        if changed.size == 1:
            simple += 1
            assert (int(changed[0]), int(other.sets[changed[0]])) in one.facets
    assert simple > 0.9 * len(found.contacts)


def test_random_points_against_cvxpy_and_trace(mapped):
    svm, found = mapped
    rng = np.random.default_rng(1)
    for C_plus, C_minus in rng.uniform(*SQUARE, (6, 2)):
        ours, theirs = found.at(C_plus, C_minus), svm.solve(C_plus=C_plus, C_minus=C_minus)
        assert ours.certificate.passes(1e-10)
        assert ours.value == pytest.approx(theirs.value, rel=1e-9)
        path = pc.trace(svm, (C_plus, C_minus), (C_plus, 2.0))
        if svm.gram.features is None:  # else multipliers need not be unique
            assert np.abs(ours.alpha - path.alpha(0.0)).max() < 1e-9
        assert np.abs(ours.classifier.training_scores - path.at(0.0).classifier.training_scores).max() < 1e-9
        assert ours.source == "plane"
        assert ours.costs == pc.Costs(C_plus, C_minus)


def cross(u, v):
    return u[0] * v[1] - u[1] * v[0]


@pytest.mark.parametrize(
    ("start", "stop"), [((0.06, 1.9), (1.95, 0.07)), ((0.3, 0.05), (1.1, 2.0)), ((2, 1.3), (0.05, 0.9))]
)
def test_a_line_through_the_map_breaks_where_it_crosses_edges(mapped, start, stop):
    svm, found = mapped
    path = pc.trace(svm, start, stop)
    a, step = np.array(start, dtype=float), np.array(stop, dtype=float) - np.array(start, dtype=float)
    crossed, choice = [], []  # choice: where multipliers are not unique, the path may make another one
    for region in found.regions:
        first, last = 0.0, 1.0
        for p, q in zip(region.polygon, np.roll(region.polygon, -1, axis=0), strict=True):
            inside, rate = cross(q - p, a - p), cross(q - p, step)
            if rate > 0:
                first = max(first, -inside / rate)
            elif rate < 0:
                last = min(last, -inside / rate)
            elif inside < 0:
                last = -1.0
        if last - first > 1e-9:
            crossed += [first, last]
            middle = 0.5 * (first + last)
            scores = found.score_maps(svm.X, [found.regions.index(region)])[0] @ [1, *(a + middle * step)]
            assert path.at(middle).classifier.training_scores + path.intercept(middle) == pytest.approx(
                scores, abs=1e-9
            )
            if (np.abs(svm.y * scores - 1) < 1e-9).sum() == region.margin.size:
                assert np.array_equal(path.sets(middle), region.sets)
            else:
                choice.append((first, last))
            assert found.regions[found.region_at(*(a + middle * step))] is region
    crossed = np.sort(crossed)
    crossed = crossed[(crossed > 1e-9) & (crossed < 1 - 1e-9)]
    assert np.abs(crossed[::2] - crossed[1::2]).max() < 1e-9  # where one region ends the next begins
    breaks = np.unique([event.t for event in path.events])
    breaks = breaks[(breaks > 1e-9) & (breaks < 1 - 1e-9)]

    def without_choice(points):
        return [t for t in points if not any(lo - 1e-9 < t < hi + 1e-9 for lo, hi in choice)]

    assert without_choice(crossed[::2]) == pytest.approx(without_choice(breaks), abs=1e-9)
    assert len(without_choice(breaks)) > 5


# ---- the same regions found in other ways ------------------------------------------------------------------------


def exact_cut(polygon, h):
    """A polygon of rationals cut by ``h[0] + h[1] x + h[2] y >= 0``."""
    out = []
    values = [h[0] + h[1] * x + h[2] * y for x, y in polygon]
    for k, (p, v) in enumerate(zip(polygon, values, strict=True)):
        q, w = polygon[(k + 1) % len(polygon)], values[(k + 1) % len(polygon)]
        if v >= 0:
            out.append(p)
        if (v > 0 > w) or (v < 0 < w):
            out.append(tuple(a + v / (v - w) * (b - a) for a, b in zip(p, q, strict=True)))
    return out


def exact_area(polygon):
    return sum((p[0] * q[1] - q[0] * p[1]) for p, q in zip(polygon, polygon[1:] + polygon[:1], strict=True)) / 2


def exact_regions(K, y, lo, hi):
    """Every partition into R, L and M whose optimality conditions hold on more than a line: sets and exact area."""
    n = y.size
    Q = y[:, None] * K * y
    frame = [(lo, lo), (hi, lo), (hi, hi), (lo, hi)]
    zero, found = Fraction(0), {}
    for sets in product((0, 1, 2), repeat=n):
        F = [i for i in range(n) if sets[i] == 2]
        if not F:
            continue
        at_cap = np.array([[int(sets[i] == 1 and y[i] == sign) for sign in (1, -1)] for i in range(n)], dtype=object)
        M = np.zeros((len(F) + 1, len(F) + 1), dtype=object)
        M[:-1, :-1], M[:-1, -1], M[-1, :-1] = Q[np.ix_(F, F)], y[F], y[F]
        adjugate, det = inverse(M)
        if det == 0:
            continue
        fixed = Q @ at_cap
        right = np.vstack([np.column_stack([np.ones(len(F), dtype=int), -fixed[F]]), [[0, *(-(y @ at_cap))]]])
        x = np.array([[Fraction(int(v), int(det)) for v in row] for row in adjugate @ right], dtype=object)
        g = Q[:, F] @ x[:-1] + np.outer(y, x[-1]) + np.column_stack([-np.ones(n, dtype=int), fixed])
        polygon = frame
        conditions = [*x[:-1]]
        conditions += [np.array([zero, int(y[i] > 0), int(y[i] < 0)]) - a for i, a in zip(F, x[:-1], strict=True)]
        conditions += [g[i] if sets[i] == 0 else -g[i] for i in range(n) if sets[i] != 2]
        for h in conditions:
            polygon = exact_cut(polygon, h)
            if len(polygon) < 3:
                break
        if len(polygon) >= 3 and exact_area(polygon) > 0:
            found[sets] = exact_area(polygon)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_against_all_partitions_in_exact_arithmetic(seed):
    rng = np.random.default_rng(seed)
    n, degree = 6, 2
    X = rng.permutation(np.array(list(product(range(-3, 4), repeat=2))))[:n]
    y = np.where(np.arange(n) < 2 + seed % 3, 1, -1)
    lo, hi = Fraction(1, 1024), Fraction(1, 8)
    exact = exact_regions(integer_kernel(X, degree), y.astype(object), lo, hi)
    assert sum(exact.values()) == (hi - lo) ** 2  # no optimum is left out, and none counted twice
    found = pc.plane(pc.TwoCSVM(X, y, kernel=pc.Polynomial(degree)), (float(lo), float(hi)), (float(lo), float(hi)))
    assert len(exact) > 8
    ours = {tuple(int(s) for s in region.sets): region.area for region in found.regions}
    assert ours.keys() == exact.keys()
    for sets, area in ours.items():
        assert area == pytest.approx(float(exact[sets]), rel=1e-8, abs=1e-16)


def fingerprint(found, swapped=False):
    """Area, centroid and sizes of all regions, in an order that does not depend on how they were found."""
    rows = []
    for region in found.regions:
        centre = region.centroid[::-1] if swapped else region.centroid
        rows.append([*centre, region.area, region.margin.size, (region.sets == 1).sum()])
    rows = np.array(rows)
    return rows[np.lexsort(np.round(rows[:, :3], 9).T)]


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_swapping_the_classes_mirrors_the_map(kernel):
    svm = generic(kernel=kernel, weighted=True)
    other = pc.TwoCSVM(svm.X, -svm.y, kernel=svm.gram.kernel, sample_weight=svm.sample_weight)
    one, two = pc.plane(svm, (0.1, 2), (0.2, 1)), pc.plane(other, (0.2, 1), (0.1, 2))
    assert fingerprint(one) == pytest.approx(fingerprint(two, swapped=True), abs=1e-9)
    assert one.at(0.7, 0.4).classifier.b == pytest.approx(-two.at(0.4, 0.7).classifier.b)


@pytest.mark.parametrize("kind", ["sparse", "low_rank", "precomputed"])
def test_other_forms_of_the_samples_have_the_same_map(kind):
    svm = generic(n=16, kernel="linear" if kind == "sparse" else "rbf")
    if kind == "sparse":
        other = pc.TwoCSVM(sp.csr_array(svm.X), svm.y)
    elif kind == "low_rank":
        other = pc.TwoCSVM(svm.X, svm.y, kernel=svm.gram.kernel, low_rank=16)
    else:
        other = pc.TwoCSVM(svm.gram.matrix, svm.y, kernel="precomputed")
    one, two = pc.plane(svm, SQUARE, SQUARE), pc.plane(other, SQUARE, SQUARE)
    assert objections(other, two) == []
    assert fingerprint(one) == pytest.approx(fingerprint(two), abs=1e-7)
    assert two.at(0.8, 0.3).certificate.passes(1e-9)


def test_a_part_of_the_rectangle_has_the_part_of_the_map():
    svm = generic(n=14)
    whole, part = pc.plane(svm, SQUARE, SQUARE), pc.plane(svm, (0.5, 0.9), (0.3, 1.2))
    for costs in np.random.default_rng(2).uniform((0.5, 0.3), (0.9, 1.2), (50, 2)):
        one, other = (m.regions[m.region_at(*costs)] for m in (whole, part))
        assert np.array_equal(one.sets, other.sets)
        assert one.b_map == pytest.approx(other.b_map, abs=1e-9)


# ---- degenerate data ---------------------------------------------------------------------------------------------

HARD = [
    *("integer grid", "rounded", "duplicates", "conflicting labels", "copies in a class", "collinear"),
    *("constant feature", "one sample", "separable", "rank-deficient", "wide", "all equal", "balanced", "mirrored"),
    *(
        "equal centroids",
        "binary",
        "xor",
        "classes 1:100",
        "weights",
        "polynomial",
        "tiny bandwidth",
        "far from 0",
        "costs * 1e-6",
    ),
]


@pytest.mark.parametrize("name", HARD)
def test_degenerate_data(name):
    family = FAMILIES[name]
    for kernel in family.kernels:
        X, y, weight = family.instance(1)
        X = X if family.scalings == ("raw",) else standardised(X)
        svm = pc.TwoCSVM(X, y, kernel=kernel_of(kernel, X), sample_weight=weight)
        top = 1.5 * family.factor(kernel)
        found = pc.plane(svm, (0.05 * top, top), (0.05 * top, top))
        assert objections(svm, found) == []
        for C_plus, C_minus in np.random.default_rng(0).uniform(0.05 * top, top, (2, 2)):
            path = pc.trace(svm, (C_plus, C_minus), (top, C_minus))
            assert found.at(C_plus, C_minus).value == pytest.approx(path.value(0.0), rel=1e-9)


BEYOND = [("costs * 1e6", 2), ("costs * 1e6", 4), ("costs only * 1e6", 4), ("near-separable", 5)]


@pytest.mark.parametrize(("name", "number"), BEYOND)
def test_margin_systems_that_double_precision_does_not_solve_well_enough(name, number):
    family = FAMILIES[name]
    X, y, weight = family.instance(number)
    X = X if family.scalings == ("raw",) else standardised(X)
    kernel = "linear" if "costs" in name else "rbf"
    svm = pc.TwoCSVM(X, y, kernel=kernel_of(kernel, X), sample_weight=weight)
    top = 1.5 * family.factor(kernel)
    found = pc.plane(svm, (0.05 * top, top), (0.05 * top, top))
    assert max(proof.residual for proofs in found.certificates() for proof in proofs) < 1e-8
    for C_plus, C_minus in np.random.default_rng(0).uniform(0.05 * top, top, (4, 2)):
        value = pc.trace(svm, (C_plus, C_minus), (top, C_minus)).value(0.0)
        assert found.at(C_plus, C_minus).value == pytest.approx(value, rel=1e-8)


def rounded_otherwise(monkeypatch, size):
    """Every inverse, all that double precision is used for, is off by a share of it: far more than by another order."""
    inverses, rng = Bases._inverses, np.random.default_rng(0)

    def off(self, rows, inside):
        found, *rest = inverses(self, rows, inside)
        return found * (1 + rng.uniform(-size, size, found.shape)), *rest

    monkeypatch.setattr(Bases, "_inverses", off)


@pytest.mark.parametrize(("name", "number"), BEYOND)
def test_no_map_hangs_on_the_order_in_which_products_are_summed(monkeypatch, name, number):
    """Borders known to 1e-11 only met at angles of 1e-4 a million times as far apart: refused on some processors."""
    family = FAMILIES[name]
    X, y, weight = family.instance(number)
    X = X if family.scalings == ("raw",) else standardised(X)
    kernel = "linear" if "costs" in name else "rbf"
    svm = pc.TwoCSVM(X, y, kernel=kernel_of(kernel, X), sample_weight=weight)
    top = 1.5 * family.factor(kernel)
    usual = pc.plane(svm, (0.05 * top, top), (0.05 * top, top))
    rounded_otherwise(monkeypatch, 1e-9)
    other = pc.plane(svm, (0.05 * top, top), (0.05 * top, top))
    assert [region.key for region in other.regions] == [region.key for region in usual.regions]
    for one, two in zip(usual.regions, other.regions, strict=True):
        assert np.abs(one.polygon - two.polygon).max() <= 1e-11 * top


def test_copies_of_eight_points_on_a_line():
    """Which multiplier leaves when another enters was read off noise: a bare error about a dependent margin set."""
    rng = np.random.default_rng(180)
    X = rng.normal(size=8)[rng.integers(0, 8, 18)][:, None]
    y = np.where(rng.random(18) < 0.5, 1.0, -1.0)
    y[:2] = 1, -1
    svm = pc.TwoCSVM(X, y, kernel=pc.RBF(1.0))
    assert objections(svm, pc.plane(svm, (0.05, 1), (0.05, 1))) == []


def test_samples_that_are_all_the_same_under_a_kernel_whose_values_are_rounded():
    """Twelve equal kernel values less their mean left its rounding, of either sign."""
    svm = pc.TwoCSVM(np.full((12, 2), 0.3), np.repeat([1.0, -1.0], 6), kernel=pc.Polynomial(2))
    assert objections(svm, pc.plane(svm, (0.05, 1), (0.05, 1))) == []


def test_where_multipliers_are_not_unique_one_choice_is_made_everywhere():
    # Three copies of one positive: only the sum of their multipliers matters, and no two of them share it at once.
    X, y = np.array([[0.0], [0.0], [0.0], [1.0], [2.5]]), [1, 1, 1, -1, -1]
    found = pc.plane(pc.TwoCSVM(X, y), (0.05, 2), (0.05, 2))
    assert objections(pc.TwoCSVM(X, y), found) == []
    filled = []  # one fixed order: a copy gets a multiplier once those before it are at their cap
    for costs in np.random.default_rng(0).uniform(0.1, 2, (80, 2)):
        copies, cap = found.alpha(*costs)[:3], costs[0]
        fits = {
            order
            for order in permutations(range(3))
            if all(copies[j] < 1e-9 or copies[i] > cap - 1e-9 for i, j in pairwise(order))
        }
        filled.append(fits)
    assert len(set.intersection(*filled)) == 1


# ---- the object --------------------------------------------------------------------------------------------------


def test_at_the_axes_there_is_no_multiplier():
    svm = generic(n=12)
    found = pc.plane(svm, (0.0, 1.0), (0.0, 1.0))
    assert objections(svm, found) == []
    for costs, b in (((0.0, 0.5), -1.0), ((0.5, 0.0), 1.0), ((0.0, 0.0), 0.0)):
        solution = found.at(*costs)
        assert not solution.alpha.any()
        assert solution.classifier.b == b
        assert solution.certificate.passes(1e-12)


@pytest.mark.parametrize(
    ("seed", "upto", "bandwidth"),
    [(5, (1.0, 1.0), None), (8, (1.0, 1.0), None), (47, (100.0, 1.0), None), (6, (0.01, 0.01), 1.0)],
    ids=["1e-17", "1e-33", "negative", "an edge on an axis"],
)
def test_a_map_from_the_origin_has_no_cost_of_the_size_of_rounding(seed, upto, bandwidth):
    """Vertices on an axis came out at 1e-17 to one side or the other: no certificate there, or a negative cost.

    And an edge on an axis could belong to a multiplier whose cap vanishes there: a region beyond it was looked for.
    """
    rng = np.random.default_rng(seed)
    if upto == (1.0, 1.0):
        y = np.repeat([-1.0, 1.0], 12)
        X = rng.normal(size=(24, 2)) + 0.7 * y[:, None]
    else:
        n, d = int(rng.integers(6, 18)), int(rng.integers(1, 4))
        y = np.where(rng.random(n) < rng.uniform(0.2, 0.6), 1.0, -1.0)
        y[:2] = 1, -1
        X = rng.normal(size=(n, d)) + 0.5 * y[:, None]
    svm = pc.TwoCSVM(X, y, kernel=None if bandwidth is None else pc.RBF(bandwidth))
    found = pc.plane(svm, (0, upto[0]), (0, upto[1]))
    assert objections(svm, found) == []
    costs = np.concatenate([region.polygon for region in found.regions])
    assert costs[costs != 0.0].min() > 1e-9 * max(upto)


def test_lookup_on_a_grid_is_the_lookup_at_its_points(mapped):
    _, found = mapped
    x, z = np.linspace(*SQUARE, 13), np.linspace(*SQUARE, 7)
    numbers = found.region_numbers(x, z)
    for (i, v), (j, u) in product(enumerate(z), enumerate(x)):
        one, other = found.regions[numbers[i, j]], found.regions[found.region_at(u, v)]
        assert one is other or found.alpha(u, v) == pytest.approx(
            np.clip(one.coefficients(found.unit_caps) @ [1, u, v], 0, None), abs=1e-9
        )


def test_maps_of_slope_and_scores():
    svm = generic(kernel="linear")
    found = pc.plane(svm, SQUARE, SQUARE)
    k, at, new = found.region_at(0.7, 1.1), np.array([1.0, 0.7, 1.1]), np.array([[0.3, -2.0], [1.0, 4.0]])
    classifier = svm.solve(C_plus=0.7, C_minus=1.1).classifier
    assert found.w_map(k) @ at == pytest.approx(classifier.w, abs=1e-8)
    assert found.score_maps(new)[k] @ at == pytest.approx(classifier.decision_function(new), abs=1e-7)
    assert found.score_maps(new, [k])[0] @ at == pytest.approx(found.at(0.7, 1.1).classifier.decision_function(new))
    with pytest.raises(pc.InputError, match="linear kernel"):
        pc.plane(generic(n=6), SQUARE, SQUARE).w_map(0)


def test_it_says_what_it_is():
    found = pc.plane(generic(n=10), SQUARE, (0.1, 1))
    assert repr(found).startswith(f"CostPlane([0.05, 2] x [0.1, 1], 10 samples, {len(found.regions)} regions")
    assert found.seconds >= 0
    with pytest.raises(pc.InputError, match=r"C_plus must lie in \[0.05, 2\]"):
        found.region_at(3.0, 0.5)
    with pytest.raises(pc.InputError, match=r"C_minus must lie in \[0.1, 1\]"):
        found.at(1.0, 0.05)
    with pytest.raises(pc.InputError, match="rectangle"):
        found.region_numbers(np.array([0.5, 3.0]), np.array([0.5]))
    with pytest.raises(pc.InputError, match="'vertices' or 'centroids'"):
        found.certificates("edges")


@pytest.mark.parametrize("kind", ["linear", "rbf", "sparse", "low_rank", "precomputed", "weighted", "one region"])
def test_a_map_is_saved_and_loaded(kind, tmp_path):
    svm, square = generic(n=12, kernel="linear" if kind == "sparse" else kind, weighted=kind == "weighted"), SQUARE
    if kind == "sparse":
        svm = pc.TwoCSVM(sp.csr_array(svm.X), svm.y)
    elif kind == "low_rank":
        svm = pc.TwoCSVM(svm.X, svm.y, pc.RBF(1.0), low_rank=8)
    elif kind == "precomputed":
        svm = pc.TwoCSVM(svm.gram.matrix, svm.y, "precomputed")
    elif kind == "one region":
        square = (1e-4, 2e-4) if kind == "one region" else square
        svm = pc.TwoCSVM([[1.0], [-1.0]], [1, -1])
    found = pc.plane(svm, square, square)
    found.save(tmp_path / "map")
    again = pc.load(tmp_path / "map.npz")
    assert repr(again) == repr(found)
    assert again.seconds == found.seconds
    assert objections(svm, again) == []
    for one, other in zip(again.regions, found.regions, strict=True):
        assert one.facets == other.facets
        for name in ("polygon", "sets", "margin", "alpha_map", "b_map"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for one, other in zip(again.contacts, found.contacts, strict=True):
        assert (one.first, one.second) == (other.first, other.second)
        np.testing.assert_array_equal([one.start, one.stop], [other.start, other.stop])
    costs = tuple(np.random.default_rng(3).uniform(*square, 2))
    np.testing.assert_array_equal(again.at(*costs).alpha, found.at(*costs).alpha)
    assert again.at(*costs).certificate.passes(1e-9)


def test_a_file_that_is_no_map_is_refused(tmp_path):
    svm = generic(n=8)
    pc.trace(svm, (0, 0), (1, 1)).save(tmp_path / "path.npz")
    pc.plane(svm, (0.5, 1), (0.5, 1)).save(tmp_path / "map.npz")
    with pytest.raises(pc.InputError, match="not a saved map"):
        load_plane(tmp_path / "path.npz")
    with pytest.raises(pc.InputError, match="not a saved path"):
        load_path(tmp_path / "map.npz")
    with pytest.raises(pc.InputError, match="no such file"):
        pc.load(tmp_path / "nothing.npz")
    for name, cut_off in (("polygon", 5), ("facets", 5), ("sets", 1), ("alpha_map", 0), ("contact_ends", 0)):
        file = rewritten(tmp_path / "map.npz", tmp_path / "cut.npz", **{name: lambda each, to=cut_off: each[:to]})
        with pytest.raises(pc.InputError, match="not a saved map"):
            pc.load(file)


@pytest.mark.parametrize("wrong", [(1, 1), (2, 1), (-1, 1), (0, np.inf), (0, np.nan), 3, (1, 2, 3), "ab"])
def test_ranges_that_are_none_are_refused(wrong):
    with pytest.raises(pc.InputError, match="C_minus must be a pair"):
        pc.plane(generic(n=6), SQUARE, wrong)


def test_a_map_that_misses_something_is_refused(monkeypatch):
    svm = generic(n=6, seed=1)
    monkeypatch.setattr(RegionSearch, "cross", lambda *_: iter(()))
    with pytest.raises(pc.DegeneratePathError, match="miss or overlap") as refused:
        pc.plane(svm, SQUARE, SQUARE)
    assert ", at C_plus=1.53" in str(refused.value)  # centroid of the only region; not at some t: a map has none
    assert refused.value.t is None


def test_the_benchmark_runs(capsys):
    assert benchmark.main(["--smoke"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [int(line.split()[0]) for line in lines[1:]] == [10, 20]
    assert benchmark.main(["--sizes", "12", "--json"]) == 0
