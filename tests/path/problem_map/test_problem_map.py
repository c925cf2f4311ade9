"""Maps of programs in two parameters, against Clarabel, `trace`, and the map of the cost plane."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.problem_map.active_sets import ActiveSets, Singular
from paretoclf.path.problem_map.map_search import ProgramSearch
from paretoclf.path.problem_map.problem_map import check_map_proof
from paretoclf.plotting import ProblemMapDisplay
from tests.oracles import planar_programs as planar
from tests.oracles.stored_files import content_of_file, damaged, rewritten


def mapped(qp, **more):
    return pc.plane(qp, planar.SQUARE, progress=False, **more)


def mapped_or_not(qp):
    """The map; None where there is no optimum anywhere."""
    try:
        return mapped(qp)
    except pc.InputError as refused:
        if "must have an optimum somewhere in ranges" in str(refused):
            return None
        raise


def checked(qp, found, points, seed=0):
    """Areas, cover, and values at random points."""
    assert found.proof.passes(), found.proof.explain()
    assert abs(planar.area_of(found) - 4.0) <= 4e-9
    places = np.random.default_rng(seed).uniform(-1, 1, (points, 2))
    assert [planar.polygons_at(found, place) for place in places] == [1] * points
    worst, wrong = planar.value_errors(qp, found, places)
    assert (worst <= 1e-9, wrong) == (True, 0), (worst, wrong)


def lasso():
    """Sizes and differences of coefficients have prices of their own."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20, 5))
    y = X @ [1.0, 1.0, 1.0, -0.5, -0.5] + 0.5 * rng.normal(size=20)
    w, lam, mu = cp.Variable(5, name="w"), cp.Parameter(nonneg=True, name="lam"), cp.Parameter(nonneg=True, name="mu")
    loss = cp.sum_squares(X @ w - y) / 2 + lam * cp.norm1(w) + mu * cp.tv(w)
    return cp.Problem(cp.Minimize(loss), [(cp.sum(w) <= 2).set_label("budget")]), lam, mu


@pytest.fixture(scope="module")
def fused():
    problem, lam, mu = lasso()
    return problem, lam, mu, pc.plane(problem, {lam: (0.2, 12), mu: (0.2, 12)}, progress=False)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_random_programs_against_clarabel(seed, linear):
    qp = planar.ordinary(seed, 6, 10, linear)
    found = mapped(qp)
    assert len(found.regions) >= 5
    checked(qp, found, 40)


@pytest.mark.parametrize("seed", range(8))
def test_degenerate_linear_programs_against_clarabel(seed):
    qp = planar.degenerate_linear(seed, 5, 9)
    checked(qp, mapped(qp), 10)


def test_small_degenerate_programs_with_parts_without_an_optimum():
    kinds = {"infeasible": 0, "unbounded": 0, "none": 0, "whole": 0}
    for seed in range(50):
        qp = planar.degenerate(seed)
        found = mapped_or_not(qp)
        if found is None:
            places = np.random.default_rng(seed).uniform(-1, 1, (3, 2))
            assert all(isinstance(planar.solved(qp, dict(zip("ab", p, strict=True))), str) for p in places)
            kinds["none"] += 1
            continue
        checked(qp, found, 6, seed)
        for part in found.outside:
            kinds[part.status] += 1
            assert part.proof.passes()
            assert part.blame
        kinds["whole"] += not found.outside
    assert min(kinds.values()) >= 3, kinds


def test_edges_are_crossed_by_exchanges_alone(monkeypatch):
    def behind(self, cell, j, at, outwards):
        raise AssertionError("it was looked behind the edge")

    monkeypatch.setattr(ProgramSearch, "_behind", behind)
    for seed in range(24):
        mapped_or_not(planar.degenerate(seed))
        mapped(planar.degenerate_linear(seed, 4, 8))
    mapped(planar.degenerate_linear(318, 5, 9))  # the solution jumps on a line through the middle of an edge


def test_what_is_behind_an_edge_is_found_without_exchanges(monkeypatch):
    def across(self, *_):
        raise Singular

    qps = [planar.ordinary(0, 4, 6), *(planar.degenerate(seed) for seed in range(14))]
    usual = [mapped_or_not(qp) for qp in qps]
    monkeypatch.setattr(ActiveSets, "across", across)
    for qp, found in zip(qps, usual, strict=True):
        again = mapped_or_not(qp)
        assert (again is None) == (found is None)
        assert found is None or len(again.regions) == len(found.regions)


def test_where_there_is_an_optimum_on_a_line_only_there_is_none():
    rows = np.array([[1.0, 1.0], [2.0, 2.0]])
    moves = {"a": {"q": [1.0, 2.0]}, "b": {"q": [3.0, 2.0]}}
    P = 0.1 * rows.T @ rows
    assert mapped_or_not(pc.QP(P, [0.3, 0.3], rows, [-1.0, -2.0], None, moves=moves)) is None
    assert mapped_or_not(planar.degenerate(950)) is None


def test_copies_of_rows_change_nothing():
    qp = planar.ordinary(1, 5, 8)
    A, low, up = np.vstack([qp.A.toarray()] * 2), np.tile(qp.l, 2), np.tile(qp.u, 2)
    moves = {name: {"q": move["q"], "u": np.tile(move["u"], 2)} for name, move in qp.moves.items()}
    once, twice = mapped(qp), mapped(pc.QP(qp.P, qp.q, A, low, up, moves=moves))
    assert len(twice.regions) == len(once.regions)
    assert sorted(r.area for r in twice.regions) == pytest.approx(sorted(r.area for r in once.regions), abs=1e-9)


def test_equations_that_depend_on_each_other_and_columns_that_are_alike():
    A = np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    low, up = np.array([1.0, 2.0, 0.0, 0.0]), np.array([1.0, 2.0, np.inf, np.inf])
    moves = {"a": {"q": [1.0, 0.0, 0.0]}, "b": {"l": [1.0, 2.0, 0.0, 0.0], "u": [1.0, 2.0, 0.0, 0.0]}}
    qp = pc.QP(np.diag([1.0, 0.0, 0.0]), [0.0, 0.2, 0.2], A, low, up, moves=moves)
    found = pc.plane(qp, {"a": (-2, 2), "b": (-0.5, 1)}, progress=False)
    assert found.proof.passes()
    worst, wrong = planar.value_errors(qp, found, np.random.default_rng(0).uniform([-2, -0.5], [2, 1], (30, 2)))
    assert worst <= 1e-9
    assert wrong == 0


def test_a_linear_program_whose_value_is_known():
    # max i + j + k, each pair at most m, each at most n: 3 min(n, m / 2), of which other codes miss a fifth.
    A = np.array([[1.0, 1, 0], [1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    low = np.array([-np.inf] * 3 + [0.0] * 3)
    moves = {"m": {"u": [1.0, 1, 1, 0, 0, 0]}, "n": {"u": [0.0, 0, 0, 1, 1, 1]}}
    qp = pc.QP(None, [-1.0, -1, -1], A, low, np.zeros(6), moves=moves)
    found = pc.plane(qp, {"m": (0.5, 4), "n": (0.5, 4)}, progress=False)
    assert found.proof.passes()
    assert len(found.regions) == 2
    for m, n in np.random.default_rng(0).uniform(0.5, 4, (200, 2)):
        assert found.value(m=m, n=n) == pytest.approx(-3 * min(n, m / 2), abs=1e-12)
    assert sorted(region.area for region in found.regions) == pytest.approx([2.25, 10.0], abs=1e-9)


def test_a_problem_of_cvxpy_in_its_own_names(fused):
    problem, lam, mu, found = fused
    assert found.proof.passes()
    assert repr(found).startswith("ProblemMap(lam 0.2 to 12, mu 0.2 to 12, ")
    for a, b in np.random.default_rng(1).uniform(0.2, 12, (15, 2)):
        point = found.at(lam=a, mu=b)
        lam.value, mu.value = a, b
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
        assert point.value == pytest.approx(problem.value, rel=1e-9)
        assert found.value({lam: a, mu: b}) == point.value
        np.testing.assert_allclose(point.variables["w"], problem.variables()[0].value, atol=1e-6)
        assert point.duals["budget"] == pytest.approx(problem.constraints[0].dual_value, abs=1e-5)
        region = found.regions[point.region]
        one = np.array([1.0, a, b])
        np.testing.assert_allclose(region.variables["w"] @ one, point.variables["w"], atol=1e-12)
        np.testing.assert_allclose(region.duals["budget"] @ one, point.duals["budget"], atol=1e-10)
        assert one @ region.value_map @ one == pytest.approx(point.value, rel=1e-12)
        assert ("budget" in region.tight) == (point.duals["budget"] > 0)
    assert "optimum (lam = 1, mu = 2): value" in repr(found.at(lam=1, mu=2))
    assert "tight: " in repr(found.regions[0])


def test_lines_through_a_map_are_traces(fused):
    problem, lam, mu, found = fused
    rng, joints = np.random.default_rng(3), 0
    for first, last in rng.uniform(0.2, 12, (12, 2, 2)):
        ends = [dict(zip((lam, mu), point.tolist(), strict=True)) for point in (first, last)]
        theirs, own = pc.trace(problem, *ends), found.along(*ends)
        assert own.proof.passes()
        np.testing.assert_allclose(own.breakpoints, theirs.breakpoints, atol=1e-9)
        joints += own.breakpoints.size - 2
        for t in rng.random(3):
            assert own.value(t) == pytest.approx(theirs.value(t), rel=1e-12)
            np.testing.assert_allclose(own.at(t).variables["w"], theirs.at(t).variables["w"], atol=1e-10)
        assert own.parameters(1.0) == pytest.approx({"lam": last[0], "mu": last[1]})
    assert joints >= 12


def test_bounds_of_absolute_values_make_no_regions_for_signs():
    A, B = np.array([[1.0, 0.5], [0.0, 1.0]]), np.array([0.125, 0.5])
    s, u = cp.Variable((2, 6), name="s"), cp.Variable(5, name="u")
    a, b = cp.Parameter(name="a"), cp.Parameter(name="b")
    start = [s[0, 0] == a, s[1, 0] == b, *(s[:, k + 1] == A @ s[:, k] + B * u[k] for k in range(5))]
    loss = cp.Minimize(cp.sum_squares(s) + 0.1 * cp.sum_squares(u))
    bounds = [(cp.abs(u) <= 1).set_label("force"), cp.norm_inf(s[1]) <= 1.5]
    plainly = [u <= 1, u >= -1, s[1] <= 1.5, s[1] >= -1.5]
    problem, square = cp.Problem(loss, [*start, *bounds]), {a: (-4, 4), b: (-2, 2)}
    found = pc.plane(problem, square, progress=False)
    other = pc.plane(cp.Problem(loss, [*start, *plainly]), square, progress=False)
    assert len(found.regions) == len(other.regions)
    assert found.regions[found.region_at(a=0, b=0)].tight == ()
    assert found.regions[found.region_at(a=3.5, b=1)].tight[0] == "force[0] (u[0] at its lower bound)"
    ends = {a: -3, b: 0.2}, {a: 3, b: 1}
    np.testing.assert_allclose(found.along(*ends).breakpoints, pc.trace(problem, *ends).breakpoints, atol=1e-9)


def test_a_bound_of_what_an_equation_holds_is_not_tight_everywhere():
    """u is for nothing and only lets x grow, but v - u = a holds it: at its bound in one of two regions only."""
    x, u, v = (cp.Variable(name=name) for name in "xuv")
    a, b = cp.Parameter(name="a"), cp.Parameter(name="b")
    problem = cp.Problem(cp.Minimize(cp.square(x - 3) + cp.square(v - b)), [x <= u, u <= 1, v - u == a])
    found = pc.plane(problem, {a: (-2, 2), b: (-2, 2)}, progress=False)
    assert len(found.regions) == 2
    for a.value, b.value in [(0.5, -1.0), (-1.5, 1.5), (1.0, 1.0)]:
        assert found.value(a=a.value, b=b.value) == pytest.approx(problem.solve("CLARABEL"), rel=1e-6)


def test_a_line_that_leaves_what_has_an_optimum():
    x, a, b = cp.Variable(name="x"), cp.Parameter(name="a"), cp.Parameter(name="b")
    rows = [(x >= a).set_label("floor"), (x <= b).set_label("roof")]
    problem = cp.Problem(cp.Minimize(cp.square(x)), rows)
    found = pc.plane(problem, {a: (-2, 2), b: (-1, 1)}, progress=False)
    (outside,) = found.outside
    assert set(outside.blame) == {"floor", "roof"}
    assert outside.explain() == "no point satisfies floor, roof together"
    ends = {a: -1.5, b: 0.5}, {a: 1.5, b: 0.5}
    path, theirs = found.along(*ends), pc.trace(problem, *ends)
    assert path.status == theirs.status == "infeasible"
    np.testing.assert_allclose(path.breakpoints, theirs.breakpoints, atol=1e-9)
    assert path.beyond.proof.passes()
    assert set(path.beyond.blame) == {"floor", "roof"}
    with pytest.raises(pc.InputError, match=r"there is no optimum \(a = 1.5, b = 0.5\).*infeasible.*floor, roof"):
        found.at(a=1.5, b=0.5)
    with pytest.raises(pc.InputError, match="there is no optimum"):
        found.along(*ends[::-1])


def test_a_maximisation_and_unbounded_parts():
    x, a, b = cp.Variable(2, name="x"), cp.Parameter(name="a"), cp.Parameter(name="b")
    problem = cp.Problem(cp.Maximize(a * x[0] + b * x[1]), [x[0] + x[1] <= 1, x[1] >= 0, x[0] >= -1])
    found = pc.plane(problem, {a: (-2, 2), b: (-2, 2)}, progress=False)
    assert {part.status for part in found.outside} <= {"unbounded"}
    assert found.value(a=1.0, b=0.5) == pytest.approx(1.0)
    assert found.value(a=-1.0, b=0.5) == pytest.approx(2.0)
    assert np.isnan(found.values("value", [[1.0, 0.5], [-1.0, 0.5]])).sum() == 0


def test_many_values_are_those_at_each_point():
    """Of a maximisation of which the constant and the slope move, with a square, and nan where there is no optimum."""
    x, a, b = cp.Variable(name="x"), cp.Parameter(name="a"), cp.Parameter(name="b")
    problem = cp.Problem(cp.Maximize(5 + 2 * b + a * x - 0.1 * cp.square(x)), [x <= a, x >= b])
    found = pc.plane(problem, {a: (0, 2), b: (0, 2)}, progress=False)
    points = np.random.default_rng(0).uniform(0, 2, (20, 2))
    truth = np.where(points[:, 0] >= points[:, 1], 5 + 2 * points[:, 1] + 0.9 * points[:, 0] ** 2, np.nan)
    assert np.isnan(truth).sum() in range(5, 15)
    values = found.values("value", points)
    np.testing.assert_allclose(values, truth, rtol=1e-9)
    one_by_one = [found.value(a=a, b=b) for a, b in points[~np.isnan(truth)].tolist()]
    np.testing.assert_allclose(values[~np.isnan(truth)], one_by_one, rtol=1e-13)


def test_a_direction_proves_no_more_than_that_there_is_no_optimum():
    """Minimise (1 - s) x + y, s <= y <= 2 - u: beyond s = 1 a direction improves, beyond s = 2 nothing is feasible."""
    x, y, s, u = cp.Variable(name="x"), cp.Variable(name="y"), cp.Parameter(name="s"), cp.Parameter(name="u")
    rows = [(x >= 0).set_label("low"), (s <= y).set_label("up"), (y <= 2 - u).set_label("cap")]
    problem = cp.Problem(cp.Minimize((1 - s) * x + y), rows)
    found = pc.plane(problem, {s: (0, 4), u: (0, 1)}, progress=False)
    assert found.value(s=0.5, u=0.5) == pytest.approx(0.5)
    (part,) = [each for each in found.outside if each.status == "unbounded"]
    assert part.verdict == "no optimum"
    assert part.explain() == "from any point that is feasible the objective improves for ever, along x"
    for here in (1.1, 3.0):  # with a feasible point, and without one
        said = (
            r"there is no optimum \(s = .*\): from any point that is feasible the objective improves for ever, along x"
        )
        with pytest.raises(pc.InputError, match=said):
            found.value(s=here, u=0.5)
    with pytest.raises(pc.InputError, match=r"it is without bound from any feasible point \(x\) everywhere"):
        pc.plane(problem, {s: (3, 4), u: (0, 0.5)}, progress=False)


def test_the_plane_of_a_2c_svm_written_in_cvxpy():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(12) < 6, 1.0, -1.0)
    X = rng.normal(size=(12, 2)) + 0.5 * y[:, None]
    w, b, xi = cp.Variable(2, name="w"), cp.Variable(name="b"), cp.Variable(12, name="xi", nonneg=True)
    p, q = cp.Parameter(nonneg=True, name="p"), cp.Parameter(nonneg=True, name="q")
    loss = cp.sum_squares(w) / 2 + p * cp.sum(xi[y > 0]) + q * cp.sum(xi[y < 0])
    rows = [((y[:, None] * X) @ w + y * b >= 1 - xi).set_label("margin")]
    found = pc.plane(cp.Problem(cp.Minimize(loss), rows), {p: (0.05, 2), q: (0.05, 2)}, progress=False)
    svm = pc.plane(pc.TwoCSVM(X, y), (0.05, 2), (0.05, 2))
    assert found.proof.passes()
    # Where b is one of an interval the linear program chooses another end than the map of the SVM.
    ours, theirs = (np.array([r.centroid for r in each.regions]) for each in (found, svm))
    assert len(ours) == len(theirs)
    for centre in theirs:
        at = svm.at(*centre)
        assert found.value(p=centre[0], q=centre[1]) == pytest.approx(at.value, rel=1e-9)
        np.testing.assert_allclose(found.at(p=centre[0], q=centre[1]).variables["w"], at.classifier.w, atol=1e-8)


def test_formulations_by_their_own_names():
    svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    found = pc.plane(svm, {"C_plus": (0.05, 2), "C_minus": (0.05, 2)}, progress=False)
    assert len(found.regions) == len(pc.plane(svm, (0.05, 2), (0.05, 2)).regions)
    assert found.value(C_plus=1.0, C_minus=1.5) == pytest.approx(svm.solve(C_plus=1.0, C_minus=1.5).value, rel=1e-9)
    assert list(found.ranges) == ["C_plus", "C_minus"]


def test_parameters_that_are_arrays_move_from_one_to_the_other():
    s, u, state = cp.Variable((2, 6), name="s"), cp.Variable(5, name="u"), cp.Parameter(2, name="state")
    force = cp.Parameter(nonneg=True, name="force")
    A, B = np.array([[1.0, 0.2], [0.0, 1.0]]), np.array([0.02, 0.2])
    rules = [s[:, 0] == state, u <= force, u >= -force]
    rules += [s[:, k + 1] == A @ s[:, k] + B * u[k] for k in range(5)]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(s) + 0.1 * cp.sum_squares(u)), rules)
    found = pc.plane(problem, {state: ([-1, 0], [1, 2]), force: (0.1, 2)}, progress=False)
    point = found.at(state=0.75, force=0.5)
    assert point.parameters["state"].tolist() == [0.5, 1.5]
    state.value, force.value = [0.5, 1.5], 0.5
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    assert point.value == pytest.approx(problem.value, rel=1e-9)
    np.testing.assert_allclose(point.variables["s"], s.value, atol=1e-6)


def test_a_fixed_parameter_and_a_shifted_rectangle():
    x, a, b, c = cp.Variable(name="x"), *(cp.Parameter(name=name) for name in "abc")
    problem = cp.Problem(cp.Minimize(cp.square(x) + a * x), [x >= b, x <= c])
    found = pc.plane(problem, {a: (1e4, 1e4 + 1), b: (-3, -1), c: 5.0}, progress=False)
    assert found.at(a=1e4 + 0.5, b=-2).variables["x"] == pytest.approx(-2.0)
    np.testing.assert_allclose(found.regions[0].variables["x"], [0.0, 0.0, 1.0], atol=1e-8)
    c.value = 5.0
    assert len(pc.plane(problem, {a: (1e4, 1e4 + 1), b: (-3, -1)}, progress=False).regions) == 1


def falsified(found, what):
    pieces = list(found.pieces)
    k = int(np.argmax([len(each.polygon) for each in pieces]))
    own = pieces[k]
    if what == "a corner":
        middle = own.polygon.mean(axis=0)
        pieces[k] = own._replace(polygon=np.vstack([0.9 * own.polygon[0] + 0.1 * middle, own.polygon[1:]]))
    elif what == "all corners":
        pieces[k] = own._replace(polygon=own.polygon + np.array([1e-3, 0.0]))
    elif what == "a gain":
        x = own.x.copy()
        x[0, 1] += 1e-4
        pieces[k] = own._replace(x=x)
    elif what == "a multiplier":
        z = own.z.copy()
        z[np.flatnonzero(own.active)[0], 0] += 1e-4
        pieces[k] = own._replace(z=z)
    elif what == "a region":
        del pieces[k]
        keep = [c for c in found.contacts if k not in (c.first, c.second)]
        return replace(found, pieces=tuple(pieces), contacts=tuple(
            replace(c, first=c.first - (c.first > k), second=c.second - (c.second > k)) for c in keep))  # fmt: skip
    elif what == "twice":
        pieces.append(own)
    elif what == "another's laws":
        pieces[k] = own._replace(x=pieces[k - 1].x, z=pieces[k - 1].z)
    elif what == "all twice":
        size = len(pieces)
        more = [replace(c, first=c.first + size, second=c.second + size) for c in found.contacts]
        return replace(found, pieces=(*pieces, *pieces), contacts=(*found.contacts, *more))
    elif what == "turned round":  # a third time, clockwise: areas add up, and every edge has its other side
        size, turned = len(pieces), [each._replace(polygon=each.polygon[::-1]) for each in pieces]
        again = [replace(c, first=c.first + size, second=c.second + size) for c in found.contacts]
        back = [
            replace(c, first=c.first + 2 * size, second=c.second + 2 * size, start=c.stop, stop=c.start)
            for c in found.contacts
        ]
        return replace(found, pieces=(*pieces, *pieces, *turned), contacts=(*found.contacts, *again, *back))
    elif what == "an order":
        pieces[k] = own._replace(polygon=own.polygon[[0, 2, 1, *range(3, len(own.polygon))]])
    elif what == "a contact":
        return replace(found, contacts=found.contacts[1:])
    return replace(found, pieces=tuple(pieces))


@pytest.mark.parametrize(
    "what",
    [
        "a corner",
        "all corners",
        "a gain",
        "a multiplier",
        "a region",
        "twice",
        "all twice",
        "turned round",
        "an order",
        "another's laws",
        "a contact",
    ],
)
def test_what_is_falsified_is_not_proved(fused, what):
    wrong = falsified(fused[3], what)
    assert not wrong.proof.passes()
    assert wrong.proof.explain().startswith(("1 of 17 regions are not proved. Worst: Region 0: ", "Not proved: "))
    with pytest.raises(pc.DegeneratePathError, match=r"[nN]ot proved"):
        check_map_proof(wrong)


def test_rays_and_parts_without_an_optimum_are_judged():
    qp = planar.degenerate(next(s for s in range(100) if mixed(s)))
    found = mapped(qp)
    part = found.nowhere[0]
    assert part.status == "infeasible"
    unseen = np.linalg.svd(found.plane.b)[2][-1]  # of which no right hand side sees anything: not what is ruled out
    assert np.abs(found.plane.b @ unseen).max() < 1e-12
    for wrong in (
        replace(part, ray=part.ray + 0.01),
        replace(part, polygon=part.polygon * 0.9),
        replace(part, ray=-part.ray),
        replace(part, ray=part.ray + 1e-3 * unseen),
    ):
        assert not replace(found, nowhere=(wrong, *found.nowhere[1:])).proof.passes()
    assert not replace(found, nowhere=found.nowhere[1:]).proof.passes()
    assert "not proved" in repr(replace(found, nowhere=()).proof)


def mixed(seed):
    found = mapped_or_not(planar.degenerate(seed))
    return bool(found and found.nowhere)


def test_a_walk_that_crosses_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(ProgramSearch, "cross", lambda *_: iter(()))
    with pytest.raises(pc.DegeneratePathError, match=r"[nN]ot proved"):
        mapped(planar.ordinary(0, 4, 6))


def test_saved_and_loaded(fused, tmp_path):
    found = fused[3]
    found.save(tmp_path / "map.npz")
    again = pc.load(tmp_path / "map.npz")
    assert again.proof.passes()
    assert repr(again) == repr(found)
    assert again.at(lam=3, mu=1).variables["w"].tolist() == found.at(lam=3, mu=1).variables["w"].tolist()
    assert again.regions[1].tight == found.regions[1].tight
    qp = planar.degenerate(next(s for s in range(100) if mixed(s)))
    mapped(qp).save(tmp_path / "outside.npz")
    assert [part.blame for part in pc.load(tmp_path / "outside.npz").outside] == [p.blame for p in mapped(qp).outside]
    files = tmp_path / "map.npz", tmp_path / "wrong.npz"
    for name, change in (("x", 1e-3), ("polygon", 1e-3), ("plane_b", 1e-3), ("program_q", 1.0), ("range_0_1", 1.0)):
        with pytest.raises(pc.InputError, match="another hash"):
            pc.load(damaged(*files, **{name: content_of_file(files[0])[name] + change}))
    for name in ("x", "polygon"):
        with pytest.raises(pc.InputError, match="not proved"):
            pc.load(rewritten(*files, **{name: lambda each: each + 1e-3}))
    for name in ("x", "corners", "contacts", "active", "range_0_0", "contact_ends"):
        with pytest.raises(pc.InputError, match="not a saved map of a program"):
            pc.load(rewritten(*files, **{name: lambda each: np.append(each.ravel()[:1], each.ravel()[:1])}))
    with pytest.raises(pc.InputError, match="not a saved map of a program"):
        pc.load(rewritten(*files, of_map=lambda told: [told]))
    assert not pc.load(rewritten(*files, x=lambda x: x + 1e-3), prove=False).proof.passes()


def test_arrays_tables_and_pictures(fused):
    found = fused[3]
    arrays = found.arrays()
    k = found.region_at(lam=2, mu=3)
    own = arrays["offsets"]["w"][k] + arrays["gains"]["w"][k] @ [2, 3]
    np.testing.assert_allclose(own, found.at(lam=2, mu=3).variables["w"], atol=1e-12)
    assert len(arrays["polygons"]) == arrays["values"].shape[0] == len(found.regions)
    rows = found.records()
    assert list(rows[0]) == ["region", "lam", "mu", "area", "corners", "tight"]
    assert sum(row["area"] for row in rows) == pytest.approx(11.8**2, abs=1e-9)
    for display in (found.plot(), found.plot("value"), found.plot("w", 2), found.plot("budget")):
        assert display.ax_.get_xlabel() == "lam"
        plt.close(display.figure_)
    for wrong, match in (
        (("v",), "what must be one of"),
        (("w",), "index must be"),
        (("value", 1), "index must be left"),
        (("w[9]",), "index must be of an entry of w"),
        (("v[0]",), "what must be one of"),
    ):
        with pytest.raises(pc.InputError, match=match):
            found.plot(*wrong)
    entry, own = (ProblemMapDisplay.from_map(found, *words) for words in (("w[2]",), ("w", 2)))  # as of to_python
    assert entry.values([2.0], [3.0]).tolist() == own.values([2.0], [3.0]).tolist()


def refused(match, problem, ranges, **more):
    with pytest.raises(pc.InputError, match=match):
        pc.plane(problem, ranges, progress=False, **more)


def test_bad_input():
    x, a, b, c = cp.Variable(2, name="x"), *(cp.Parameter(nonneg=True, name=name) for name in "abc")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x) + a * x[0]), [cp.sum(x) >= b, x <= c])
    refused(r"two parameters, got 3 that move \(a, b, c\): fix", problem, {a: (0, 1), b: (0, 1), c: (1, 2)})
    refused("got 1 that move .a.: trace takes one", problem, {a: (0, 1), b: 1, c: 3})
    refused("parameter c must be in start and stop, or have a value|c must", problem, {a: (0, 1), b: (0, 1)})
    c.value = 9.0
    refused(
        r"ranges\[b\] must be a pair \(lo, hi\) with lo < hi, got \(1, 1\): the rectangle is empty",
        problem,
        {a: (0, 1), b: (1, 1)},
    )
    refused("rectangle is empty", problem, {a: (0, 1), b: (2, 1)})
    refused(r"ranges\[a\] must be nonneg, as the parameter promises", problem, {a: (-1, 1), b: (0, 1)})
    refused(r"ranges\[a\] must be finite", problem, {a: (0, np.inf), b: (0, 1)})
    refused(r"ranges\[a\] must be a number", problem, {a: (0, "x"), b: (0, 1)})
    refused("parameters of the problem, or their names, for keys, got 'e'", problem, {"e": (0, 1), b: (0, 1)})
    refused("ranges must have parameters of the problem", problem, {cp.Parameter(name="d"): (0, 1), b: (0, 1)})
    refused("C_minus must be left out", problem, {a: (0, 1), b: (0, 1)}, C_minus=(0, 1))
    refused(
        r"a is no argument of plane: two parameters .* stand in one mapping, as plane\(problem, \{'a': \(0, 10\)",
        problem,
        None,
        a=(0, 10),
    )
    refused("must be a formulation", "problem", {a: (0, 1), b: (0, 1)})
    refused("must map two parameters", problem, {})
    matrix = cp.Problem(cp.Minimize(a * cp.sum_squares(x) + b * x[0]), [x >= 1])
    refused(
        r"parameter a must not move the matrix P, but multiplies a quadratic term: .*sum_squares",
        matrix,
        {a: (1, 2), b: (0, 1)},
    )
    rows = cp.Problem(cp.Minimize(cp.sum_squares(x) + b * x[0]), [(a * x[0] >= 1).set_label("floor")])
    refused("parameter a must not move the matrix A.*floor", rows, {a: (1, 2), b: (0, 1)})
    pinball = cp.Problem(cp.Minimize(cp.maximum(a * x[0], (a - 1) * x[0]) + cp.sum_squares(x - b)))
    refused("parameter a must not move the matrix A", pinball, {a: (0.1, 0.9), b: (0, 1)})
    never = cp.Problem(cp.Minimize(x[0] + a * x[1]), [(x >= 3 + b).set_label("floor"), (x <= 1).set_label("roof")])
    refused(
        "must have an optimum somewhere in ranges, it is infeasible .*floor.* everywhere", never, {a: (0, 1), b: (0, 1)}
    )
    idle = cp.Problem(cp.Minimize(cp.sum_squares(x) + a * x[0] + 0 * b), [x >= 1])
    refused("b moves nothing", idle, {a: (0, 1), b: (0, 1)})
    product = cp.CallbackParam(lambda: a.value * b.value, name="product")
    bent = cp.Problem(cp.Minimize(cp.sum_squares(x) + product * x[0] + a * x[0] + b * x[1]))
    refused("affine", bent, {a: (0, 1), b: (0, 1)})
    apart = cp.CallbackParam(lambda: abs(a.value - b.value), name="apart")  # affine on both sides and the diagonal
    bent = cp.Problem(cp.Minimize(cp.sum_squares(x) + apart * x[0] + a * x[0] + b * x[1]))
    refused("must be affine in both parameters", bent, {a: (0, 1), b: (0, 1)})
    svm = pc.TwoCSVM([[0.0], [1.0]], [-1, 1])
    refused("ranges must have the parameters of TwoCSVM, C_plus, C_minus", svm, {"C_plus": (0, 1), "nu": (0, 1)})
    refused("ranges must have the parameters of TwoCSVM", svm, {"C_plus": (0, 1)})
    with pytest.raises(pc.InputError, match="C_plus must be given once"):
        pc.plane(svm, (0, 1), (0, 1), C_plus=(0, 1))
    qp = planar.ordinary(0, 3, 3)
    refused("start must have parameters of the QP|parameters of the QP", qp, {"a": (0, 1), "c": (0, 1)})


def test_points_that_are_not_on_the_map(fused):
    found = fused[3]
    for place, match in (
        ({"lam": 1.0}, "both parameters of the map must be given, lam and mu, got lam"),
        ({"lam": 1.0, "mu": 13.0}, r"mu must lie in \[0.2, 12\]"),
        ({"lam": "x", "mu": 1.0}, "lam must be a number"),
        (3.0, "place must map both parameters"),
    ):
        with pytest.raises(pc.InputError, match=match):
            found.at(place)
    with pytest.raises(pc.InputError, match="must be different points"):
        found.along({"lam": 1, "mu": 1}, {"lam": 1, "mu": 1})
    with pytest.raises(pc.InputError, match="name must be that of a variable"):
        found.values("v", [[1, 1]])


def test_random_programs_of_the_benchmark():
    """Its two hundred are those of `tests/benchmarks/maps.py`."""
    for seed in range(6):
        for qp in (planar.ordinary(seed, 8, 14, bool(seed % 2)), planar.degenerate_linear(seed, 8, 14)):
            checked(qp, mapped(qp), 100)


def test_what_others_ask_of_a_map_is_answered_in_words():
    qp = pc.QP([[1.0]], [0.0], [[1.0]], [0.0], None, moves={"a": {"q": [1.0]}, "b": {"l": [1.0]}})
    found = pc.plane(qp, {"a": (0, 1), "b": (0, 1)}, progress=False)
    for asked in (found.at, found.value, found.region_at):
        with pytest.raises(pc.InputError, match="place must map both parameters, a and b, to numbers, as at"):
            asked(1, 0.1)
    with pytest.raises(pc.InputError, match=r"eps must be left out, got 0\.1: maps are exact"):
        pc.plane(qp, {"a": (0, 1), "b": (0, 1)}, eps=0.1)


def test_a_place_without_an_optimum_is_told_from_one_with_an_optimum_beside_it():
    """x lies between a and 1: at a = 1 there is an optimum, at 1 + 1e-7 there is none."""
    x, a, b = cp.Variable(name="x"), cp.Parameter(name="a"), cp.Parameter(name="b")
    found = pc.plane(cp.Problem(cp.Minimize(x + b), [x >= a, x <= 1]), {a: (0, 2), b: (0, 1)}, progress=False)
    assert found.value(a=1.0, b=0.5) == pytest.approx(1.5)
    with pytest.raises(pc.InputError, match=r"there is no optimum \(a = 1\.0000001, b = 0\.5\)"):
        found.at(a=1.0000001, b=0.5)


def controller_of_norms(seed):
    """A double integrator with other numbers, and norms in place of squares: thin regions meet in the origin."""
    rng = np.random.default_rng(seed)
    A = np.array([[1.0, 0.5], [0.0, 1.0]]) + 0.1 * rng.normal(size=(2, 2))
    B = np.array([0.125, 0.5]) + 0.1 * rng.normal(size=2)
    steps = 5 + seed % 4
    x0, states = cp.Parameter(2, name="x0"), cp.Variable((2, steps + 1), name="states")
    u = cp.Variable(steps, name="u")
    rows = [states[:, 0] == x0, cp.abs(u) <= 1]
    rows += [states[:, k + 1] == A @ states[:, k] + B * u[k] for k in range(steps)]
    return cp.Problem(cp.Minimize(cp.norm1(cp.vec(states, order="F")) + 0.3 * cp.norm1(u)), rows), x0


@pytest.mark.parametrize("seed", [10, 14, 16, 20])
def test_controllers_of_norms_have_maps(seed):
    problem, x0 = controller_of_norms(seed)
    found = pc.plane(problem, {x0[0]: (-2, 2), x0[1]: (-2, 2)}, progress=False)
    assert found.proof.passes()
    for x0.value in np.random.default_rng(0).uniform(-2, 2, (3, 2)):
        problem.solve("CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        assert found.at({x0[0]: x0.value[0], x0[1]: x0.value[1]}).value == pytest.approx(problem.value, rel=1e-7)


def test_regions_with_several_optima_name_what_differs():
    """Two equal motors share what is to be done in any proportion, but where both are at a limit, or none moves."""
    x0, s, u = cp.Parameter(2, name="x0"), cp.Variable((2, 3), name="s"), cp.Variable((2, 2), name="u")
    rows = [s[:, 0] == x0, cp.abs(u) <= 0.5]
    step = np.array([[1.0, 0.5], [0.0, 1.0]])
    rows += [s[:, k + 1] == step @ s[:, k] + np.array([0.125, 0.5]) * cp.sum(u[:, k]) for k in range(2)]
    costs = [cp.norm1(s[0]) + 0.5 * cp.norm1(s[1]) + 0.2 * cp.sum(cp.abs(u)), cp.sum(cp.abs(u[1]))]
    problem = cp.Problem(cp.Minimize(costs[0]), rows)
    found = pc.plane(problem, {x0[0]: (1, 4), x0[1]: (-2, 2)}, progress=False)
    seen = set()
    for region in found.regions[::3]:
        x0.value = region.centroid
        differ = {f"u[{i}, {j}]" for _, (i, j) in ((r.name, r.index) for r in pc.unique(problem, of=u) if not r.one)}
        assert {name for name in region.several if name.startswith("u")} == differ
        seen.add(bool(differ))
    assert seen == {True, False}
    apart = cp.Problem(cp.Minimize(costs[0] + 0.01 * costs[1]), rows)
    assert not any(each.several for each in pc.plane(apart, {x0[0]: (1, 4), x0[1]: (-2, 2)}, progress=False).regions)


@pytest.mark.parametrize("shift", [0.0, 0.037])
def test_an_equation_may_be_written_as_two_inequalities(shift):
    """Whole numbers, and a corner of the box on the equation: what is 0 there is 0 but for roundings of roundings."""
    p, r = cp.Parameter(name="p"), cp.Parameter(name="r")
    x = cp.Variable(3, name="x", bounds=[np.array([1.0, 1.0, -1.0]), np.array([2.0, 3.0, 0.0])])
    B = np.array([[1.0, 0.0, -1.0], [2.0, 2.0, -1.0], [1.0, 0.0, 2.0]])
    cost = 3 * x[0] - 3 * x[2] + p * cp.sum(x) + r * x[0] + 2 * cp.sum_squares(B @ x - np.array([-1, 1, 2]))
    top, line = x[1] + 2 * x[2] <= 1 + p, 2 * x[0] - x[1]
    ranges = {p: (-3 + shift, 3), r: (-2 + shift, 3)}
    two = pc.plane(cp.Problem(cp.Minimize(cost), [line <= 1, line >= 1, top]), ranges, progress=False)
    problem = cp.Problem(cp.Minimize(cost), [line == 1, top])
    one = pc.plane(problem, ranges, progress=False)
    assert len(two.regions) == len(one.regions) == 2
    for p.value, r.value in ((-1.7, 2.5), (-0.3, 0.4), (0.5, -1.5), (2.9, 1.0)):
        value = problem.solve(solver="CLARABEL")
        assert two.at({p: p.value, r: r.value}).value == pytest.approx(value, rel=1e-6)
