"""A program of raw arrays: traced, verified and refused, beside CVXPY and OSQP's rule of signs."""

from __future__ import annotations

import copy
import pickle

import cvxpy as cp
import numpy as np
import pytest
import scipy
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.cli.pairs import judged
from tests.oracles.stored_files import rewritten


def random_qp(seed, n=5, m=7):
    """With rows that have one bound, two, none, or are equations; q and bounds move."""
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, n - 1))
    A = rng.normal(size=(m, n))
    middle = A @ rng.normal(size=n)
    low, high = middle - rng.uniform(0.1, 1, m), middle + rng.uniform(0.1, 1, m)
    low[0] = high[0] = middle[0]
    low[1], high[2], low[3], high[3] = -np.inf, np.inf, -np.inf, 1e30
    box = np.vstack([A, np.eye(n)])
    low, high = np.append(low, np.full(n, -5.0)), np.append(high, np.full(n, 5.0))
    dq, d = rng.normal(size=n), 0.1 * rng.normal(size=m + n)
    moves = {"cost": {"q": dq}, "level": {"l": np.where(np.isfinite(low), d, 0), "u": np.where(high < 1e30, d, 0)}}
    return (F @ F.T, rng.normal(size=n), box, low, high), moves


@pytest.mark.parametrize("seed", range(6))
def test_a_path_is_that_of_cvxpy_and_its_multipliers_have_osqps_signs(seed):
    (P, q, A, low, high), moves = random_qp(seed)
    qp = pc.QP(sp.csc_matrix(P), q, sp.csr_array(A), low, high, moves=moves)
    path = pc.trace(qp, start={"cost": -1, "level": 0}, stop={"cost": 1, "level": 1})
    assert path.proof.passes()
    assert path.compare(5).agrees()
    for t in (0.0, 0.37, 1.0):
        point = path.at(t)
        x, y = point.variables["x"], point.duals["y"]
        cost, level = float(point.parameters["cost"]), float(point.parameters["level"])
        own, lo, hi = (
            q + cost * moves["cost"]["q"],
            low + level * moves["level"]["l"],
            high + level * moves["level"]["u"],
        )
        assert np.abs(P @ x + own + A.T @ y).max() < 1e-8
        v = A @ x
        assert (v >= lo - 1e-8).all()
        assert (v <= hi + 1e-8).all()
        assert np.abs(np.maximum(y, 0) * np.where(hi < 1e30, hi - v, 0)).max() < 1e-7
        assert np.abs(np.minimum(y, 0) * np.where(np.isfinite(lo), v - lo, 0)).max() < 1e-7
        w = cp.Variable(q.size)
        rows = [A[np.isfinite(lo)] @ w >= lo[np.isfinite(lo)], A[hi < 1e30] @ w <= hi[hi < 1e30]]
        value = cp.Problem(cp.Minimize(cp.quad_form(w, cp.psd_wrap(P)) / 2 + own @ w), rows).solve("CLARABEL")
        assert point.value == pytest.approx(value, rel=1e-6, abs=1e-6)


def test_a_saved_path_reads_both_multipliers_of_a_row(tmp_path):
    (P, q, A, low, high), moves = random_qp(3)
    path = pc.trace(pc.QP(P, q, A, low, high, moves=moves), {"cost": 0}, {"cost": 1})
    path.save(tmp_path / "qp.npz")
    again = pc.load(tmp_path / "qp.npz")
    assert np.array_equal(again.at(0.4).duals["y"], path.at(0.4).duals["y"])
    assert again.proof.passes()


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("rows", [0, 2])
def test_rows_without_a_bound_have_multipliers_of_0(rows, named, tmp_path):
    """Before: an IndexError at every point, and a file of its own that was refused."""
    names = (["a", "b"], [f"r{i}" for i in range(rows)]) if named else None
    more = {"moves": {"s": {"q": [1.0, -1.0]}}, "names": names}
    qp = pc.QP(np.diag([1.0, 4.0]), [0.0, 0.0], np.ones((rows, 2)) if rows else None, **more)
    path = pc.trace(qp, {"s": 0}, {"s": 2})
    assert path.proof.passes()
    path.save(tmp_path / "path.npz")
    path.page(tmp_path / "path.html")
    x, duals = (["a", "b"], [f"r{i}" for i in range(rows)]) if named else (["x"], ["y"] * (rows > 0))
    for each in (path, pc.load(tmp_path / "path.npz")):
        for t in (0.0, 0.3, 1.0):
            point, best = each.at(t), np.array([-2.0 * t, 0.5 * t])  # -q / P
            found = np.concatenate([np.atleast_1d(point.variables[name]) for name in x])
            np.testing.assert_allclose(found, best, atol=1e-12)
            assert point.value == pytest.approx(-((2.0 * t) ** 2) / 2.0 * 1.25)
            assert list(point.duals) == duals
            assert not any(np.any(multiplier) for multiplier in point.duals.values())
        right = each.slopes(0.5).right
        assert right.value == pytest.approx(-2.5)
        assert not any(np.any(rate) for rate in right.duals.values())
        for name in duals:
            assert not np.any(each.along(name)[1])
            assert not np.any(each.shadow_price(name)(0.5))
    rates = pc.derivatives(qp, {"s": 1.0})
    assert (rates.right.value, list(rates.right.duals)) == (0.0, duals)
    assert np.concatenate([np.atleast_1d(rates.right.variables[name]) for name in x]).tolist() == [-1.0, 0.25]


def test_a_file_in_which_a_multiplier_has_no_place_is_refused(tmp_path):
    qp = pc.QP(np.eye(1), [0.0], [[1.0]], moves={"s": {"q": [1.0]}})
    pc.trace(qp, {"s": 0}, {"s": 1}).save(tmp_path / "path.npz")
    factors = {"program_multipliers_factor": lambda _: np.array([1.0, 0.0])}
    changed = rewritten(tmp_path / "path.npz", tmp_path / "changed.npz", **factors)
    with pytest.raises(pc.InputError, match="factors of multipliers must be 0 where a program has none"):
        pc.load(changed)


def test_somebodys_path_is_judged_with_its_multipliers():
    (P, q, A, low, high), moves = random_qp(4)
    path = pc.trace(pc.QP(P, q, A, low, high, moves=moves), {"cost": 0}, {"cost": 1})
    t = path.breakpoints
    points = {"t": t, "x": [path.at(s).variables["x"] for s in t], "y": [path.at(s).duals["y"] for s in t]}
    assert pc.verify(path, points).passes()
    points["y"] = -np.array(points["y"])
    report = pc.verify(path, points)
    assert "not optimal" in report.verdicts
    assert "wrong dual" in report.reasons
    assert repr(report).endswith("wrong dual. With the opposite sign they are right")
    points["y"][0] = 2.0 * points["y"][0]
    assert "opposite" not in repr(pc.verify(path, points))


def test_a_maximisation_has_the_users_value():
    qp = pc.QP(
        None,
        [3.0, 2.0],
        [[1.0, 1.0], [1, 0], [0, 1]],
        [-np.inf, 0, 0],
        [6.0, 4.0, np.inf],
        maximise=True,
        constant=10.0,
        moves={"budget": {"u": [1.0, 0, 0]}},
    )
    path = pc.trace(qp, {"budget": 0}, {"budget": 2})
    assert [path.value(budget=b) for b in (0, 2)] == pytest.approx([26, 30])
    assert path.slopes(budget=1, per="budget").right.value == pytest.approx(2)
    assert path.at(0.0).duals["y"] == pytest.approx([2, 1, 0])
    assert pc.verify(qp, [4.0, 2.0], [2.0, 1.0, 0.0]).status == "optimal"


def test_a_multiplier_of_the_wrong_sign_is_shown_as_it_was_given():
    """|x - (3, 2)|^2 with x1 + 2 x2 <= 4 is least at (2.4, 0.8), with the multiplier 1.2."""
    for side in (1.0, -1.0):
        low, high = ([-np.inf], [4.0]) if side > 0 else ([-4.0], [np.inf])
        qp = pc.QP(2 * np.eye(2), [-6.0, -4.0], side * np.array([[1.0, 2.0]]), low, high)
        assert pc.verify(qp, [2.4, 0.8], [1.2 * side]).passes()
        wrong = pc.verify(qp, [2.4, 0.8], [-2.0 * side])
        row = wrong.duality_table()[0]
        assert row.multiplier == -2.0  # of its side, where it must not be negative
        assert row.violation == pytest.approx(2 / 3)
        assert wrong.status == "not optimal"
        sign, other = ("negative", "lower") if side > 0 else ("positive", "upper")
        said = wrong.explain()
        assert said.endswith(
            f"The multiplier of row 0 is {-2 * side:g} and must not be {sign}: the row has no {other} side."
        )
        assert said.startswith("Of the point alone: The optimal value lies in [-11.2, -11.2]")
        assert "Of both: Not optimal: wrong dual" in said
    both = pc.QP(2 * np.eye(2), [-6.0, -4.0], [[1.0, 2.0]], [0.0], [4.0])
    assert [row.multiplier for row in pc.verify(both, [2.4, 0.8], [-2.0]).duality_table()] == [2.0, 0.0]
    assert "must not be" not in pc.verify(both, [2.4, 0.8], [-2.0]).explain()


def test_verify_tells_right_points_from_wrong_ones():
    (P, q, A, low, high), moves = random_qp(0)
    qp = pc.QP(P, q, A, low, high, moves=moves)
    path = pc.trace(qp, {"cost": 0}, {"cost": 1})
    x, y = path.at(0.0).variables["x"], path.at(0.0).duals["y"]
    right = pc.verify(qp, x, y)
    assert right.status == "optimal"
    assert max(right.certificate.multipliers.values()) < 1e-8
    assert pc.verify(qp, x).status == "optimal"
    wrong = pc.verify(qp, x, -y)
    assert (wrong.status, wrong.passes(), right.passes()) == ("not optimal", False, True)
    assert "not optimal to 1e-08: wrong dual" in repr(wrong)
    assert "Not optimal: wrong dual, multipliers that were given are off by" in wrong.explain()
    assert wrong.explain().endswith(
        "With the opposite sign they are right: OSQP's sign is meant, positive where an upper side holds."
    )
    assert "opposite" not in pc.verify(qp, x, -2.0 * y).explain() + right.explain()
    assert max(wrong.certificate.multipliers.values()) > 1e-3
    inside = np.linalg.lstsq(A[:7], (np.maximum(low, -9) + np.minimum(high, 9))[:7] / 2, rcond=None)[0]
    assert pc.verify(qp, inside).status == "not optimal"
    beyond = pc.verify(qp, x + 100.0)
    assert beyond.status == "not optimal"
    assert "row" in beyond.explain()


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("right", [True, False])
def test_multipliers_are_judged_by_one_rule_at_every_door(size, right):
    """``min size x`` with x >= 1: the multiplier is size; seven times that is wrong, whoever asks."""
    own = size * (1.0 if right else 7.0)
    qp = pc.QP(None, [size], [[1.0]], [1.0], [np.inf], moves={"th": {"l": [1.0]}}, names=(["x"], ["least"]))
    x, th = cp.Variable(name="x"), cp.Parameter(name="th")
    least = (x >= th).set_label("least")
    path = pc.trace(cp.Problem(cp.Minimize(size * x), [least]), {th: 1.0}, {th: 2.0}, progress=False)
    pair = cp.Problem(cp.Minimize(size * x), [(x >= 1).set_label("least")])
    beside = pc.verify(path, {"th": [1.0], "x": [1.0], "least": [own]})
    along = pc.verify(pc.trace(qp, {"th": 0}, {"th": 1}), {"th": [0.0], "x": [1.0], "least": [-own]})
    doors = {
        "arrays": pc.verify(qp, [1.0], [-own]).status,
        "names": pc.verify(qp, {"x": 1.0}, {"least": -own}).status,
        "beside a path": beside.verdicts[0],
        "beside that of a QP": along.verdicts[0],
        "a pair": judged((pair, {"x": 1.0}, {"least": own}), None)[0],
        "a pair of arrays": judged((qp, [1.0], [-own]), None)[0],
    }
    assert set(doors.values()) == {"optimal" if right else "not optimal"}, doors


def test_multipliers_that_are_left_out_are_not_judged():
    """``min x0 + 2 x1`` with x >= 0 by rows: of x0 + x1 >= 1 alone 1 is right, and 2 is not."""
    rows, low = [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]], [1.0, 0.0, 0.0]
    qp = pc.QP(None, [1.0, 2.0], rows, low, np.full(3, np.inf), names=(["a", "b"], ["sum", "low a", "low b"]))
    point = {"a": 1.0, "b": 0.0}
    assert pc.verify(qp, point, {"sum": -1.0}).passes()
    assert pc.verify(qp, point, {"sum": -1.0, "low b": -1.0}).passes()
    assert not pc.verify(qp, point, {"sum": -2.0}).passes()
    assert not pc.verify(qp, point, {"low b": 0.0}).passes()
    assert pc.verify(qp, point, {}).passes()


def test_multipliers_of_many_optima_are_each_right():
    """x0 + x1 >= 1 and the same row twice: any shares of 1; and the optimal points are many."""
    qp = pc.QP(None, [1.0, 1.0], [[1.0, 1.0], [1.0, 1.0], [1, 0], [0, 1]], [1.0, 1.0, 0, 0], np.full(4, np.inf))
    for x in ([1.0, 0.0], [0.5, 0.5]):
        for share in (0.0, 0.3, 1.0):
            assert pc.verify(qp, x, [-share, share - 1.0, 0.0, 0.0]).passes()
        assert not pc.verify(qp, x, [-0.6, -0.6, 0.0, 0.0]).passes()
        assert not pc.verify(qp, x, [0.5, -1.5, 0.0, 0.0]).passes()
        assert not pc.verify(qp, x, [-0.5, 0.0, -0.5, -0.5]).passes()  # a row with room in some optimum


def test_names_are_those_of_results():
    A, low, high = [[1.0, 1.0], [1.0, -1.0]], [1.0, -np.inf], [np.inf, 2.0]
    qp = pc.QP(
        np.eye(2), [0.0, 0.0], A, low, high, moves={"need": {"l": [1.0, 0.0]}}, names=(["a", "b"], ["sum", "gap"])
    )
    path = pc.trace(qp, {"need": 0}, {"need": 1})
    point = path.at(1.0)
    assert point.variables == pytest.approx({"a": 1.0, "b": 1.0})
    assert point.duals == pytest.approx({"sum": -1.0, "gap": 0.0})
    assert pc.verify(qp, {"a": 0.5, "b": 0.5}, {"sum": -0.5}).status == "optimal"
    wrong = pc.verify(qp, {"a": 0.1, "b": 0.5})
    assert "Worst: sum (lower bound)" in wrong.explain()
    with pytest.raises(pc.errors.InputError, match="x must have a number for each variable, got none for 'b'"):
        pc.verify(qp, {"a": 0.5})
    with pytest.raises(pc.errors.InputError, match="y must have names of the QP, got 'slack'"):
        pc.verify(qp, {"a": 0.5, "b": 0.5}, {"slack": 1})


BOTH = """NAME plant
ROWS
 N cost
 G steel
 L hours
COLUMNS
 steel cost 2 steel 1
 steel hours 1
 coal cost 1 steel 1
 coal hours 3
RHS
 RHS steel 4 hours 6
BOUNDS
ENDATA
"""


@pytest.fixture(params=["arrays", "file"])
def of_one_name(request, tmp_path):
    """A row and a variable that are both called steel: minimise 2 steel + coal, steel + coal >= 4 + s, ... <= 6."""
    if request.param == "arrays":
        A, low, high = (
            [[1.0, 1.0], [1.0, 3.0], [1.0, 0.0], [0.0, 1.0]],
            [4.0, -np.inf, 0, 0],
            [np.inf, 6.0, *[np.inf] * 2],
        )
        names = ["steel", "coal"], ["steel", "hours", "bound of steel", "bound of coal"]
        return pc.QP(None, [2.0, 1.0], A, low, high, names=names)
    (tmp_path / "plant.mps").write_text(BOTH)
    return pc.QP.from_file(tmp_path / "plant.mps")


def test_a_row_and_a_variable_of_one_name_are_told_apart(of_one_name):
    """Before: the multiplier was given for the variable, and the optimum convicted.

    The corner is steel = 3, coal = 1, price of steel: 2 - y + h = 0, 1 - y + 3 h = 0, y = 5/2, h = 1/2.
    """
    qp = of_one_name
    own = {key: getattr(qp, key) for key in ("P", "q", "A", "l", "u", "names")}
    moving = pc.QP(**own, moves={"s": {"l": [1.0, 0, 0, 0]}})
    path = pc.trace(moving, {"s": 0}, {"s": 1})
    assert path.at(0.0).variables == pytest.approx({"x:steel": 3.0, "coal": 1.0})
    assert path.at(0.0).duals["row:steel"] == pytest.approx(-2.5)
    np.testing.assert_allclose(path.along("x:steel")[1], [3.0, 4.5])
    np.testing.assert_allclose(path.along("x:coal")[1], path.along("coal")[1])
    np.testing.assert_allclose(path.along("row:steel")[1], [-2.5, -2.5])
    assert path.shadow_price("steel")(0.5) == path.shadow_price("row:steel")(0.5) == pytest.approx(-2.5)
    with pytest.raises(pc.InputError, match="one of x:steel, coal, row:steel, hours"):
        path.along("steel")
    rates = pc.derivatives(moving, {"s": 1.0})
    jacobian = rates.jacobian()["s"]
    assert [float(jacobian[key]) for key in ("value", "x:steel", "row:steel")] == pytest.approx([2.5, 1.5, 0.0])
    assert rates.judge({"x:steel": 1.5, "row:steel": 0.0, "value": 2.5}).passes()
    points = {"s": [0.0, 1.0], "x:steel": [3.0, 4.5], "coal": [1.0, 0.5]}
    assert pc.verify(path, points).passes()
    assert pc.verify(path, {**points, "row:steel": [-2.5, -2.5]}).passes()
    assert not pc.verify(path, {**points, "row:steel": [-2.4, -2.5]}).passes()
    with pytest.raises(pc.InputError, match="x:steel, coal, row:steel"):
        pc.verify(path, {"s": [0.0, 1.0], "steel": [3.0, 4.5], "coal": [1.0, 0.5]})
    point = path.at(0.0)
    for duals in (point.duals, {"steel": -2.5, "hours": 0.5}):
        assert pc.verify(qp, {"steel": 3.0, "coal": 1.0}, duals).status == "optimal"
        assert pc.verify(qp, point.variables, duals).status == "optimal"


def test_names_that_are_those_of_results_twice_are_refused():
    with pytest.raises(pc.InputError, match="names must tell variables from rows, got 'x:a' beside one"):
        pc.QP(None, [1.0, 1.0], [[1.0, 1.0]], names=(["a", "x:a"], ["a"]))


def test_it_says_what_it_is():
    qp = pc.QP(None, [1.0], [[1.0], [2.0]], [0, 1], [3, 1], moves={"m": {"q": [1.0]}})
    assert repr(qp) == "LP(1 variables, 2 rows, 1 of them equations, moved by m)"
    most = pc.QP([[-1.0]], [1.0], [[1.0], [2.0]], [0, 1], [3, 1], moves={"m": {"q": [1.0]}}, maximise=True)
    assert repr(most) == "QP(1 variables, 2 rows, 1 of them equations, maximised, moved by m)"
    assert qp.equations.tolist() == [False, True]
    assert qp.at({"m": 2.0})["q"].tolist() == [3.0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"q": []}, "q must have an entry for each variable, got none"),
        ({"q": [1.0, np.nan]}, "q"),
        ({"P": np.eye(3)}, r"P must have shape \(2, 2\), got \(3, 3\)"),
        ({"P": [[1.0, 2.0], [0.0, 1.0]]}, "P must be symmetric, got entries that differ by 2.0e"),
        ({"P": [[np.inf, 0], [0, 1]]}, "P must be finite, got inf"),
        ({"A": np.ones((3, 3))}, r"A must have shape \(m, 2\), got \(3, 3\)"),
        ({"l": [0.0]}, r"l must have shape \(3,\), got \(1,\)"),
        ({"l": [9, 9, 9]}, "l must be at most u, got 9 and 1 in row 0"),
        ({"u": [np.nan, 1, 1]}, "u must be finite or inf, got nan in row 0"),
        ({"u": [-np.inf, 1, 1]}, "u must be finite or inf, got -inf in row 0"),
        ({"moves": {"t": {"q": [1, 1]}}}, "other than t, got 't'"),
        ({"moves": {"m": {"A": [1, 1]}}}, r"moves\['m'\] must map some of q, l and u to vectors, got A"),
        ({"moves": {"m": {"l": [1, 1, 1]}}}, r"moves\['m'\]\['l'\] must be 0 in row 0, which has no such bound"),
        ({"moves": {"m": {"q": [1]}}}, r"moves\['m'\]\['q'\]"),
        ({"names": "ab"}, "names must be a pair"),
        ({"names": (["a", "a"], ["1", "2", "3"])}, "names of variables must be different, got a twice"),
        ({"names": (["a", "b"], ["1"])}, "names must have 3 rows, got 1"),
        ({"maximise": 1}, "maximise must be True or False, got 1"),
        ({"constant": np.inf}, "constant"),
    ],
)
def test_bad_input_is_refused(changes, said):
    given = {"P": np.eye(2), "q": [1.0, 1.0], "A": np.ones((3, 2)), "u": [1.0, 1.0, 1.0]}
    with pytest.raises(pc.errors.InputError, match=said):
        pc.QP(**{**given, **changes})


def test_what_rounding_made_of_mirror_images_is_their_mean():
    """`np.corrcoef` rounds each entry by itself."""
    rng, unequal = np.random.default_rng(0), 0
    for _ in range(20):
        C = np.corrcoef(rng.normal(size=(20, 30)))
        unequal += bool((C != C.T).any())
        P = pc.QP(C, np.zeros(20)).P.toarray()
        np.testing.assert_array_equal(P, P.T)
        np.testing.assert_array_equal(P, 0.5 * (C + C.T))
    assert unequal
    far = np.diag([1e8, 1e-8]) + np.array([[0.0, 5e-16], [0.0, 0.0]])  # of what the entry can be at most, two units
    assert pc.QP(far, np.zeros(2)).P[0, 1] == 2.5e-16
    with pytest.raises(pc.errors.InputError, match=r"P must be symmetric, got entries that differ by 1\.0e-14"):
        pc.QP(np.diag([1e8, 1e-8]) + np.array([[0.0, 1e-14], [2e-14, 0.0]]), np.zeros(2))


@pytest.mark.parametrize("triangle", [np.triu, np.tril])
@pytest.mark.parametrize("made", [np.array, sp.csc_array])
def test_a_triangle_is_named_and_the_line_makes_it_whole(triangle, made):
    whole = np.array([[2.0, 1.0, 0.5], [1.0, 2.0, 0.0], [0.5, 0.0, 1.0]])
    P = made(triangle(whole))
    which = "an upper" if triangle is np.triu else "a lower"
    with pytest.raises(
        pc.errors.InputError, match=rf"it is {which} triangle\. Pass P \+ P\.T - diag, with diag = "
    ) as refused:
        pc.QP(P, np.zeros(3))
    dense, sparse = str(refused.value).split("diag = ")[1].removesuffix(" of a sparse P").split(", or ")
    diag = eval(sparse, {"scipy": scipy, "P": P}) if sp.issparse(P) else eval(dense, {"np": np, "P": P})
    found = pc.QP(P + P.T - diag, np.zeros(3)).P
    np.testing.assert_array_equal(found.toarray(), whole)


def test_bad_lines_and_points_are_refused():
    qp = pc.QP(np.eye(2), [1.0, 1.0], np.ones((1, 2)), [0.0], moves={"m": {"q": [1, 0]}, "k": {"q": [0, 1]}})
    for start, stop, said in (
        (None, {"m": 1}, "start must map parameters of the QP to numbers"),
        ({"m": 0}, {"k": 1}, "start and stop must have the same parameters"),
        ({"z": 0}, {"z": 1}, "start must have parameters of the QP for keys, got 'z'; it has m, k"),
        ({"m": 0}, {"m": "a"}, r"stop\['m'\] must be a number, got 'a'"),
        ({"m": 0}, {"m": np.inf}, r"stop\['m'\] must be finite"),
        ({"m": 1}, {"m": 1}, "nothing moves"),
    ):
        with pytest.raises(pc.errors.InputError, match=said):
            pc.trace(qp, start, stop)
    with pytest.raises(pc.errors.InputError, match="tau must be left out for a QP"):
        pc.trace(qp, {"m": 0}, {"m": 1}, tau=(0, 1))
    with pytest.raises(pc.errors.InputError, match="takes nothing else"):
        pc.verify(qp, [0, 0], kernel="rbf")
    with pytest.raises(pc.errors.InputError, match="x"):
        pc.verify(qp, [0, 0, 0])
    with pytest.raises(pc.errors.InputError, match="this QP has no names"):
        pc.verify(qp, {"a": 0})
    with pytest.raises(pc.errors.InputError, match="not semidefinite by more than rounding"):
        pc.trace(pc.QP([[-1.0]], [0.0], [[1.0]], [-1], [1], moves={"m": {"q": [1.0]}}), {"m": 0}, {"m": 1})
    with pytest.raises(pc.errors.InputError, match=r"assign writes into a cvxpy\.Problem"):
        pc.trace(qp, {"m": 0}, {"m": 1}).assign(0.5)


def test_bounds_that_cross_end_the_path():
    qp = pc.QP(np.eye(1), [0.0], [[1.0]], [0.0], [1.0], moves={"rise": {"l": [1.0]}})
    path = pc.trace(qp, {"rise": 0}, {"rise": 2})
    assert (path.status, path.breakpoints[-1]) == ("infeasible", pytest.approx(0.5))
    assert path.beyond.proof.passes()


def test_moves_are_checked_when_a_qp_is_made_and_not_changed_later():
    qp = pc.QP(None, [1.0], [[1.0]], [0.0], None, moves={"r": {"l": [1.0]}})
    with pytest.raises(pc.InputError, match=r"moves must be given to QP.* dataclasses\.replace"):
        qp.moves["s"] = 1
    for change in ({"s": 1}, {"r": 2}, [("s", 1)]):
        with pytest.raises(pc.InputError, match="moves must be given to QP"):
            qp.moves.update(change)
        with pytest.raises(pc.InputError, match="moves must be given to QP"):
            qp.moves |= change  # what dict does in place
    for change in (lambda: qp.moves.setdefault("s", 1), lambda: qp.moves.update(s=1)):
        with pytest.raises(pc.InputError, match=r"got .*'s'.* later"):
            change()
    assert list(qp.moves) == ["r"]
    copied = pickle.loads(pickle.dumps(copy.deepcopy(qp)))
    assert copied.moves["r"]["l"].tolist() == [1.0]
