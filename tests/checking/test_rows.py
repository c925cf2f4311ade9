"""Rows of numbers: in tuples, mappings and arrays, with everything that can be wrong in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.checking.rows import form_of, one_number, rows_of, with_both_costs

MODELS = Path(__file__).parents[1] / "oracles" / "models"


@pytest.fixture(scope="module")
def train():
    X, y = load_svmlight_file(str(MODELS / "train.libsvm"))
    return X.toarray(), y


def test_intercept_and_slope_as_scikit_learn_keeps_them(train):
    X, y = train
    fit = SVC(kernel="linear", tol=1e-10).fit(X, y)
    alpha = np.zeros(y.size)
    alpha[fit.support_] = y[fit.support_] * fit.dual_coef_[0]
    rows = [(1.0, 1.0, alpha, fit.intercept_), {"C": 1.0, "alpha": alpha, "b": fit.intercept_}]
    report = pc.verify(X, y, [*rows, {"C": 1.0, "w": fit.coef_, "b": fit.intercept_}], tol=1e-6)
    assert report.passes(), report
    assert report.values[1] == {"C_plus": 1.0, "C_minus": 1.0}
    with pytest.raises(pc.InputError, match="C stands for C_plus and C_minus; there must not be C_minus too"):
        pc.verify(X, y, {"C": 1.0, "C_minus": 1.0, "alpha": alpha})


FOUR = np.array([[2.0, 0.0], [0.5, 1.0], [-1.0, 0.5], [-0.5, -1.0], [0.2, 0.1], [-2.0, 1.0]]), [1, 1, -1, -1, 1, -1]


@pytest.mark.parametrize("name", ["C_plus", "C_minus"])
def test_costs_that_are_given_twice(name):
    """Before: what stood under one name was dropped."""
    with pytest.raises(pc.InputError, match=f"costs stands for C_plus and C_minus; there must not be {name} too"):
        pc.verify(*FOUR, {"costs": [1.0, 1.0], name: 2.0, "alpha": np.zeros(6)})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "solutions must hold alpha, or w and b, got nothing"),
        ({"C_plus": 1.0, "C_minus": 1.0}, "solutions must hold alpha, or w and b, got C_plus, C_minus"),
        ({"C_plus": 1.0, "C_minus": 1.0, "alpha": np.zeros((2, 2, 6))}, "alpha has too many dimensions"),
        ({"C_plus": [1.0, 2.0], "C_minus": 1.0, "alpha": np.zeros((3, 6))}, "all arrays must have one row for each"),
        ({"costs": [1.0], "alpha": np.zeros(6)}, r"costs must have shape \(k, 2\), got \(1,\)"),
        ({"alpha": np.zeros(6)}, r"solutions\[0\]: C_plus must be given"),
        ({"C_plus": 1, "C_minus": 1, "w": np.zeros(3)}, r"solutions\[0\]: w must have shape \(2,\), got \(3,\)"),
        ([{"C_plus": 1, "C_minus": 1, "alpha": np.zeros((2, 6))}], r"solutions\[0\] must be one solution"),
        ((1 / 0 for _ in range(2)), "solutions cannot be read: ZeroDivisionError"),
        ("nowhere.csv", "no such file"),
        ("nowhere.txt", "must end in .csv or .npz, or be a model file of LIBSVM or LIBLINEAR"),
    ],
)
def test_bad_solutions(given, message):
    with pytest.raises(pc.InputError, match=message):
        pc.verify(*FOUR, given)


# Two points at -1 and 1, costs 1: alpha = (1/2, 1/2), w = 1, b = 0; multipliers (1/2 - e, 1/2 - e) leave the margins
# 2 e short, and primal and dual values 2 e apart.
X, Y = np.array([[-1.0], [1.0]]), np.array([-1, 1])


def short(e, b=0.0):
    return 1.0, 1.0, [0.5 - e, 0.5 - e], b


@pytest.mark.parametrize(
    ("solutions", "message"),
    [
        ([], "solutions must hold at least one (C_plus, C_minus, alpha[, b]), got none"),
        (iter(()), "solutions must hold at least one"),
        (3, "solutions must be a list of (C_plus, C_minus, alpha[, b]), got int"),
        ([1.0], "solutions[0] must be (C_plus, C_minus, alpha[, b]), got 1.0"),
        (["abc"], "solutions[0] must be (C_plus, C_minus, alpha[, b]), got 'abc'"),
        ([short(0.0), (1, 1)], "solutions[1] must be (C_plus, C_minus, alpha[, b]), got 2 entries"),
        ([(1, -1, [0, 0])], "solutions[0]: C_minus must be a finite nonnegative number"),
        ([(1, 1, [0, np.nan])], "solutions[0]: alpha must be finite, got nan at index 1"),
        ([short(0.0, "x")], "solutions[0]: b must be a number, got 'x'"),
        ([short(0.0, np.inf)], "solutions[0]: b must be finite, got inf"),
    ],
)
def test_what_is_no_list_of_solutions(solutions, message):
    with pytest.raises(pc.InputError) as error:
        pc.verify(X, Y, solutions)
    assert message in str(error.value)


def test_rows_of_tuples_mappings_and_arrays():
    names = ("C_plus", "C_minus")
    alpha = [0.5, 0.25]
    rows = rows_of([(1, 2, alpha, np.array([0.75])), (1, 2, alpha), (1, 2, alpha, None), {"C": 3, "w": [1.0]}], names)
    assert rows[0].values == {"C_plus": 1, "C_minus": 2}
    assert rows[0].numbers == {"alpha": alpha, "b": 0.75}
    assert rows[1].numbers == rows[2].numbers == {"alpha": alpha}
    assert rows[3].values == {"C_plus": 3.0, "C_minus": 3.0}
    assert rows[3].numbers["w"].tolist() == [1.0]
    assert rows_of([(0.5, [1.0, 2.0], 3.0)], ("lam",), "w")[0].numbers == {"w": [1.0, 2.0], "b": 3.0}
    many = rows_of({"costs": [[1, 2], [3, 4]], "alpha": np.eye(2), "b": 5.0, "rho": [6, 7], "name": "mine"}, names)
    assert [row.values for row in many] == [{"C_plus": 1, "C_minus": 2}, {"C_plus": 3, "C_minus": 4}]
    assert [row.numbers["alpha"].tolist() for row in many] == [[1, 0], [0, 1]]
    assert [row.numbers["rho"] for row in many] == [6.0, 7.0]
    assert [(row.numbers["b"], row.numbers["name"]) for row in many] == [(5.0, "mine")] * 2
    assert isinstance(many[0].numbers["rho"], float)
    one = rows_of({"costs": [1.0, 2.0], "alpha": [0.0, 1.0], "xi": None}, names)
    assert len(one) == 1
    assert one[0].values == {"C_plus": 1.0, "C_minus": 2.0}
    assert one[0].numbers.keys() == {"alpha"}
    with pytest.raises(pc.InputError, match="solutions must hold at least one row, got none"):
        rows_of({"C_plus": [], "C_minus": [], "alpha": np.zeros((0, 2))}, names)
    with pytest.raises(pc.InputError, match=r"solutions\[1\]: costs stands for C_plus and C_minus"):
        rows_of([(1, 2, alpha), {"costs": [1, 2], "C_plus": 1, "alpha": alpha}], names)


def test_one_number_of_an_array_of_one():
    assert one_number(np.array([2.5])) == 2.5
    pair = np.array([1.0, 2.0])
    assert one_number(pair) is pair
    assert one_number(3) == 3
    assert one_number(np.array(4.0)).shape == ()
    assert form_of(("nu",), "w") == "(nu, w[, b])"


def test_one_cost_stands_for_both_where_there_are_two():
    assert with_both_costs({"C": 1, "alpha": 2}, ("C_plus", "C_minus")) == {"C_plus": 1, "C_minus": 1, "alpha": 2}
    assert with_both_costs({"C": 1}, ("nu",)) == {"C": 1}
    assert with_both_costs({"alpha": 2}, ("C_plus", "C_minus")) == {"alpha": 2}
    assert with_both_costs({"C": 1, "C_plus": None}, ("C_plus", "C_minus"))["C_minus"] == 1
    for other in ("costs", "C_plus", "C_minus", "lambda"):
        with pytest.raises(
            pc.InputError, match=f"file: C stands for C_plus and C_minus; there must not be {other} too"
        ):
            with_both_costs({"C": 1, other: 2}, ("C_plus", "C_minus"), "file: ")


def test_rows_of_solutions_of_ours():
    svm = pc.TwoCSVM(*FOUR)
    solution = svm.solve(1.0, 2.0)
    row = rows_of(solution, tuple(svm.domain))[0]
    assert row.values == {"C_plus": 1.0, "C_minus": 2.0}
    assert row.numbers["alpha"] is solution.numbers["alpha"]
    assert row.numbers["w"] == pytest.approx(solution.classifier.w)
    far = pc.TwoCSVM(FOUR[0] + 1e7, FOUR[1])
    assert "b_at_origin" in rows_of(far.solve(1.0, 2.0), tuple(far.domain))[0].numbers
    costs = pc.SampleCosts(np.linspace(1.0, 2.0, 6))
    path = pc.trace(svm, costs, costs)
    found = rows_of(path.at(0.0), tuple(svm.domain))[0].values
    assert list(found) == ["costs"]
    assert found["costs"].values == pytest.approx(costs.values)
    path = pc.trace(svm, (0.2, 1.0), (1.0, 0.2))
    assert len(rows_of(path, tuple(svm.domain))) == len(path.certificate_points)
    assert len(rows_of(pc.sweep(svm, C_plus=[0.5, 1.0], C_minus=1.0), tuple(svm.domain))) == 2
    assert len(rows_of([solution, solution], tuple(svm.domain))) == 2
