"""The parametric QP that a path states of itself has, at any t, the optimal value of the formulation's CVXPY model.

A problem stated wrongly would be proved wrongly: here Clarabel solves what the certificate file states, and CVXPY what
the formulation does, with no path between.
"""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.proof import check
from paretoclf.proof.files.certificate_file import integer_data
from paretoclf.proof.files.stated_problems import (
    UNTOUCHED,
    _at_most_all_caps,
    by_entries,
    labelled,
    labels_of,
    path_problem,
    point_problem,
    program_problem,
    stated,
)
from tests.oracles.parametric import solve_at
from tests.oracles.two_classes import samples

STORED = Path(__file__).resolve().parents[2] / "stored"
SIDES = ("lower", "upper", "below", "above")
SHARE = 0.375


def stated_value(problem, t):
    """The optimal value at t of what a certificate file states, in the units of its formulation."""
    whole = integer_data(problem).problem
    *_, (U, H, R) = check.program(dict(problem))
    unit = U * (H * R) ** 2
    # Integers of a hundred digits: variables in units of the largest bound, or of what q and P make of them.
    steep = max(Fraction(v) for v in whole.P.diagonal())
    bounds = [Fraction(v) for side in SIDES[:2] for v in np.ravel(getattr(whole, side)) if abs(v) != np.inf]
    x = max(map(abs, bounds)) or max(abs(Fraction(v)) for v in np.ravel(whole.q)) / steep
    worth = x * x * steep

    def scaled(numbers, by):
        flat = [float(Fraction(v) * by) if abs(v) != np.inf else float(v) for v in np.ravel(numbers)]
        return np.array(flat).reshape(np.shape(numbers))

    sides = [scaled(getattr(whole, side), 1 / x) for side in SIDES[:2]]
    prices = [scaled(getattr(whole, side), x / worth) for side in SIDES[2:]]
    program = ParametricQP(
        scaled(whole.P, x * x / worth), scaled(whole.A, 1), scaled(whole.q, x / worth), *sides, *prices
    )
    found = solve_at(program, t)[0]
    return check.value(problem, found * float(worth / unit))


def between(lo, hi):
    return (1 - SHARE) * lo + SHARE * hi


def costs(X, y, kernel):
    svm = pc.TwoCSVM(X, y, kernel, np.where(np.arange(y.size) % 3 == 0, 2.0, 1.0))
    return svm, pc.trace(svm, (0.25, 2.0), (1.5, 0.5)), {"C_plus": between(0.25, 1.5), "C_minus": between(2.0, 0.5)}


def nu(X, y, kernel):
    svm = pc.TwoNuSVM(X, y, kernel)
    path = pc.trace(svm, nu=(0.1, 0.9 * 2 * 0.4 * 6 / 18), asymmetry=0.4)  # begins where the hulls part
    return svm, path, {"nu": between(*path.pieces.t[[0, -1]]), "asymmetry": 0.4}


def quantile(X, y, kernel):
    svm = pc.QuantileSVM(X, y, kernel, bias=True)
    return svm, pc.trace(svm, tau=(0.1, 0.8), lam=0.25), {"tau": between(0.1, 0.8), "lam": 0.25}


def quantile_through_the_origin(X, y, kernel):
    svm = pc.QuantileSVM(X, y, kernel)
    return svm, pc.trace(svm, tau=(0, 1), lam=0.5), {"tau": between(0, 1), "lam": 0.5}


def soft_margins(X, y, kernel):
    svm = pc.BiobjectiveMargin(X, y, kernel)
    path = pc.trace(svm, theta=(0.25, 4), C_plus=0.7, C_minus=3.0)
    theta = path.theta(between(*path.pieces.t[[0, -1]]))
    return svm, path, {"theta": theta, "C_plus": 0.7, "C_minus": 3.0}


def hard_margins(X, y, kernel):
    svm = pc.BiobjectiveMargin(np.where(X * y[:, None] > 0, X, -X) + 0.5 * y[:, None], y, kernel, soft=False)
    path = pc.trace(svm, theta=(0.25, 4))
    return svm, path, {"theta": path.theta(between(*path.pieces.t[[0, -1]]))}


@pytest.mark.filterwarnings("ignore::paretoclf.common.errors.HomogeneousWarning")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kernel", [None, pc.RBF(0.7)], ids=["linear", "rbf"])
@pytest.mark.parametrize(
    ("kind", "factor"),
    [(costs, 1), (nu, 1), (quantile, 1), (quantile_through_the_origin, 1), (soft_margins, 2), (hard_margins, 2)],
)
def test_a_path_states_the_problem_of_its_formulation(kind, factor, kernel, seed):
    svm, path, values = kind(*samples(seed), kernel)
    stated = factor * stated_value(path_problem(path), SHARE)
    for form in ("primal", "dual"):
        solved = svm.solve(**values, form=form, polish=False).value
        assert stated == pytest.approx(solved, rel=1e-6, abs=1e-9), form


@pytest.mark.parametrize(
    "name",
    [
        "costs_from_0",
        "costs_of_samples",
        "costs_rbf",
        "hulls",
        "margins",
        "margins_hard",
        "nu",
        "quantile",
        "quantile_bias",
    ],
)
def test_a_path_states_what_an_older_version_wrote_to_its_file(name):
    """Number by number and letter by letter; since then a file says which label is positive, too.

    Kernel values are computed again, and rounded as this processor does.
    """
    content = json.loads(gzip.decompress((STORED / f"{name}.exact.json.gz").read_bytes()))
    stated = path_problem(pc.load(STORED / f"{name}.npz", prove=False))
    written = {"positive": "1"} | content["problem"]
    for own, theirs in zip(stated.get("K", []), written.get("K", []), strict=True):
        np.testing.assert_allclose(own, theirs, rtol=1e-14)
        own[:] = theirs
    assert json.dumps(stated, sort_keys=True) == json.dumps(written, sort_keys=True)


# ---- single points, programs, and their parts ------------------------------------------------------------------------


POINTS = {
    "costs": lambda X, y: (pc.TwoCSVM(X, y), {"C_plus": 0.75, "C_minus": 2.0}),
    "nu": lambda X, y: (pc.TwoNuSVM(X, y), {"nu": 0.125, "asymmetry": 0.5}),
    "two nus": lambda X, y: (pc.TwoNuSVM(X, y), {"nu_plus": 0.5, "nu_minus": 0.25}),
    "quantile": lambda X, y: (pc.QuantileSVM(X, y, bias=True), {"tau": 0.25, "lam": 0.5}),
    "soft margins": lambda X, y: (pc.BiobjectiveMargin(X, y), {"theta": 0.5, "C_plus": 0.75, "C_minus": 2.0}),
}


@pytest.mark.parametrize("kind", POINTS)
def test_a_point_states_a_line_on_which_nothing_moves_with_its_optimal_value(kind):
    svm, values = POINTS[kind](*samples(0))
    solution = svm.solve(**values)
    problem, alpha, equations = point_problem(svm, solution)
    assert equations == {"costs": 1, "nu": 2, "two nus": 2, "quantile": 0, "soft margins": 1}[kind]
    for name in ("caps", "sums", "q"):
        assert name not in problem or problem[name][0] == problem[name][1]
    factor = 2 if kind == "soft margins" else 1
    assert factor * stated_value(problem, 0.5) == pytest.approx(solution.value, rel=1e-6)
    theta = np.where(svm.y > 0, 1.0, values["theta"]) if "theta" in values else 1.0
    np.testing.assert_array_equal(alpha, theta * solution.alpha)
    if kind != "costs":
        assert all(f"{name} = " in problem["about"] for name in solution.values)
    assert ("twice the value" in problem.get("about", "")) == (kind == "soft margins")
    labels = labels_of(problem, alpha, equations)
    assert (labels[svm.y.size :] == -1).all()
    if "caps" in problem:
        caps = np.array(problem["caps"][0])
        inside = np.where(alpha > (1 - 1e-6) * caps, 1, 0)
        assert (labels[: svm.y.size] == np.where(alpha < 1e-6 * caps, -1, inside)).all()


def test_a_solution_of_something_else_is_refused():
    X, y = samples(0)
    solution = pc.QuantileSVM(X, y).solve(tau=0.25, lam=0.5)
    for svm in (pc.TwoNuSVM(X, y), pc.BiobjectiveMargin(X, y)):
        with pytest.raises(pc.InputError, match=f"one of the {type(svm).__name__}"):
            point_problem(svm, solution)


def test_labels_are_taken_from_how_near_multipliers_are_to_their_bounds():
    near = UNTOUCHED
    problem = {"caps": [[1.0, 1.0, 2.0, 2.0, 4.0]] * 2}
    alpha = np.array([0.5 * near, 1.0 - 0.5 * near, 2.0 * (1 - 2 * near), 4 * near, 2.0])
    assert labels_of(problem, alpha, 2).tolist() == [-1, 1, 0, 0, 0, -1, -1]
    assert labels_of({}, np.array([2 * near, 0.5 * near * 8.0, 8.0]), 0).tolist() == [-1, -1, 0]
    assert labels_of({}, np.array([2 * near, 2 * near * 8.0, 8.0]), 1).tolist() == [-1, 0, 0, -1]


def test_numbers_are_stated_as_json_has_them():
    numbers = Fraction(3), Fraction(1, 3), np.int64(2), 0.5, np.float64(0.25), np.inf, -np.inf
    assert [stated(v) for v in numbers] == [3, "1/3", 2, 0.5, 0.25, None, None]
    assert [type(stated(v)) for v in (np.int64(2), np.float64(0.5), Fraction(4))] == [int, float, int]
    P, A = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[1.0, -1.0]])
    bounds = np.array([[0.0, -np.inf, 1.0]] * 2), np.array([[np.inf, 2.0, 1.0]] * 2)
    found = program_problem(ParametricQP.hard(P, A, np.array([[1.0, 2.0], [3.0, 4.0]]), *bounds))
    assert found["kind"] == "program"
    assert found["K"] == [[2.0], [1.0, 3.0]]
    assert found["A"] == [[1.0, -1.0]]
    assert found["q"] == [[1.0, 2.0], [3.0, 4.0]]
    assert found["lower"] == [[0.0, None, 1.0]] * 2
    assert found["upper"] == [[None, 2.0, 1.0]] * 2
    assert found["below"] == [[None] * 3] * 2


def test_the_sum_of_the_multipliers_is_no_more_than_the_caps_of_either_class():
    """0.1 + 0.1 + 0.1 is more than a double of 0.3 in doubles, and in fractions more by another amount."""
    y, caps = np.array([1, 1, 1, -1]), np.array([0.1, 0.1, 0.1, 0.25])
    whole = sum(map(Fraction, [0.1] * 3))
    assert _at_most_all_caps(np.array([0.125, 0.25]), caps, y) == ["1/8", "1/4"]
    assert _at_most_all_caps(np.array([0.5]), caps, y) == ["1/4"]
    assert _at_most_all_caps(np.array([0.5]), np.array([0.1, 0.1, 0.1, 0.75]), y) == [str(whole)]


@pytest.mark.parametrize("positive", ["malignant", 1, 2.5, np.float64(3.0), " M "])
def test_the_label_of_the_positives_is_a_text(positive):
    problem = {"kind": "2C-SVM", "positive": "1"}
    assert labelled(problem, positive) == {"kind": "2C-SVM", "positive": str(positive).strip()}
    assert labelled(problem, None) is problem


@pytest.mark.parametrize("positive", ["", "  ", "a\nb", [1], ("x",)])
def test_a_label_that_can_not_be_printed_is_refused(positive):
    with pytest.raises(pc.InputError, match="a text that can be printed or a number"):
        labelled({}, positive)


def test_kernel_values_say_of_which_kernel_they_are():
    X, y = samples(0)
    path = pc.trace(pc.TwoCSVM(X, y, pc.RBF(0.5)), (0.25, 1.0), (1.0, 0.25))
    about = path_problem(path)["about"]
    assert "K are the values of the kernel RBF(bandwidth=0.5)" in about
    assert "from the kernel's own" in about
    linear = path_problem(pc.trace(pc.TwoCSVM(X, y), (0.25, 1.0), (1.0, 0.25)))
    assert linear["X"] == np.asarray(X).tolist()
    assert linear["y"] == y.astype(int).tolist()
    given = path_problem(pc.trace(pc.TwoCSVM(X @ X.T + np.eye(y.size), y, "precomputed"), (0.25, 1.0), (1.0, 0.25)))
    assert "from the kernel's own" not in given["about"]
    assert [len(row) for row in given["K"]] == list(range(1, y.size + 1))


def test_matrices_that_are_mostly_0_are_stated_by_their_entries():
    """The text is shorter, and states the same program; that of a small matrix, or of a full one, stays."""
    n, rng = 40, np.random.default_rng(0)
    full, ends = rng.normal(size=(n, n)), np.zeros((2, n))
    line = ParametricQP.hard(np.eye(n), full, ends, -np.full((2, 2 * n), np.inf), np.ones((2, 2 * n)))
    given = program_problem(line)
    found = by_entries(given)
    assert found["K"] == [[[k, 1]] for k in range(n)]
    assert found["A"] is given["A"]
    assert check.program(found) == check.program(given)
    small = program_problem(
        ParametricQP.hard(np.eye(2), np.zeros((0, 2)), ends[:, :2], -np.ones((2, 2)), np.ones((2, 2)))
    )
    assert by_entries(small) == small


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (3.0, "3"),
        (-(2.0**53), "-9007199254740992.0"),
        (2.0**53 - 1, "9007199254740991"),
        (0.5, "0.5"),
    ],
)
def test_whole_doubles_are_stated_as_integers(number, text):
    assert json.dumps(stated(number)) == text
