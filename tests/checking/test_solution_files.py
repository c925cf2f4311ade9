"""Files of solutions: npz and CSV, with costs or lambda, with and without a header, and everything wrong in them."""

from __future__ import annotations

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.checking.solution_files import read_solutions

ALPHA = np.array([[0.5, 0.25, 0.75], [1.0, 0.0, 1.0]])


def written(folder, text):
    file = folder / "some.csv"
    file.write_text(text)
    return file


def stored(folder, **arrays):
    np.savez(folder / "some.npz", **arrays)
    return str(folder / "some.npz")


def same(found, **wanted):
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        assert found[name] == pytest.approx(np.array(value)), name


def test_costs_by_their_names_and_one_for_both(tmp_path):
    text = "C_plus,a,b,C_minus,c,d\n1,.5,.1,2,.25,.75\n3,1,-.2,4,0,1\n"
    same(read_solutions(written(tmp_path, text), 3), C_plus=[1, 3], C_minus=[2, 4], b=[0.1, -0.2], alpha=ALPHA)
    text = "C, x1 ,x2,x3\n2,.5,.25,.75\n\n5,1,0,1\n"
    same(read_solutions(written(tmp_path, text), 3), C_plus=[2, 5], C_minus=[2, 5], alpha=ALPHA)
    same(read_solutions(stored(tmp_path, C=[2, 5], alpha=ALPHA), 3), C_plus=[2, 5], C_minus=[2, 5], alpha=ALPHA)
    costs = np.array([[1.0, 2.0], [3.0, 4.0]])
    found = read_solutions(stored(tmp_path, costs=costs, alpha=ALPHA, b=[0.1, 0.2], more=[1]), 3)
    same(found, C_plus=[1, 3], C_minus=[2, 4], b=[0.1, 0.2], alpha=ALPHA)


def test_lambda_is_one_over_both_costs_and_the_factor_of_the_multipliers(tmp_path):
    text = "lambda,alpha0,a1,a2,a3\n2,.5,.5,.25,.75\n4,1,1,0,1\n"
    halves = {"C_plus": [0.5, 0.25], "C_minus": [0.5, 0.25], "alpha": ALPHA / [[2], [4]]}
    same(read_solutions(written(tmp_path, text), 3), **halves, b=[0.25, 0.25])
    same(read_solutions(stored(tmp_path, alpha=ALPHA, b=[1, 3], **{"lambda": [2, 4]}), 3), **halves, b=[1, 3])
    same(read_solutions(stored(tmp_path, alpha=ALPHA, **{"lambda": [2, 4]}), 3), **halves)
    found = read_solutions(stored(tmp_path, w=ALPHA, b=[1, 3], **{"lambda": [2, 4]}), 5)
    same(found, C_plus=[0.5, 0.25], C_minus=[0.5, 0.25], b=[1, 3], w=ALPHA)  # a slope is as it is


def test_beside_lambda_or_costs_a_sample_may_be_called_C(tmp_path):
    same(read_solutions(written(tmp_path, "C_plus,C_minus,C,a,b1\n1,2,.5,.25,.75\n"), 3),
         C_plus=[1], C_minus=[2], alpha=ALPHA[:1])  # fmt: skip


def test_slopes_are_known_by_their_names(tmp_path):
    found = read_solutions(written(tmp_path, "C_plus,C_minus,w1,w2,b\n1,2,.5,.25,3\n"), 7)
    same(found, C_plus=[1], C_minus=[2], b=[3], w=[[0.5, 0.25]])
    same(read_solutions(written(tmp_path, "C_plus,C_minus,w\n1,2,.5\n"), 7), C_plus=[1], C_minus=[2], w=[[0.5]])


@pytest.mark.parametrize(
    ("rows", "names", "wanted"),
    [
        ("1,2,.5,.25,.75\n3,4,1,0,1", ("C_plus", "C_minus"), {"C_plus": [1, 3], "C_minus": [2, 4]}),
        ("1,2,.5,.25,.75,9\n3,4,1,0,1,8", ("C_plus", "C_minus"), {"C_plus": [1, 3], "C_minus": [2, 4], "b": [9, 8]}),
        ("1,.5,.25,.75\n3,1,0,1", ("C_plus", "C_minus"), {"C_plus": [1, 3], "C_minus": [1, 3]}),
        ("1,2,.5,.25,.75,9\n3,4,1,0,1,8", ("nu", "asymmetry"), {"nu": [1, 3], "asymmetry": [2, 4], "b": [9, 8]}),
    ],
)
def test_a_file_of_numbers_only(tmp_path, rows, names, wanted):
    same(read_solutions(written(tmp_path, rows + "\n"), 3, names, np.array([1.0, 1.0, -1.0])), **wanted, alpha=ALPHA)


def test_parameters_of_another_formulation(tmp_path):
    file = stored(tmp_path, nu=[0.1, 0.2], asymmetry=[0.5, 0.5], alpha=ALPHA, rho=[1, 2], C=[7, 7])
    same(read_solutions(file, 3, ("nu", "asymmetry")), nu=[0.1, 0.2], asymmetry=[0.5, 0.5], rho=[1, 2], alpha=ALPHA)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("C_plus,C_minus,a,b1,c\n", r"alpha must have one row per solution and 3 columns, got shape \(0, 3\)"),
        ("C_plus,C_plus,C_minus,a,b1,c\n1,1,1,0,0,0\n", "a column name occurs twice in C_plus, C_plus, C_minus"),
        ("C_plus,C_minus,a,b1\n1,1,0,0\n", "must have 3 columns of multipliers besides C_plus, C_minus, got 2"),
        ("p,q\n1,1\n", "must have 3 columns of multipliers besides costs, got 2"),
        ("C_plus,C_minus,a,b1,c\n1,1,0,0\n", "row 2 must have 5 cells like the header, got 4"),
        ("C_plus,C_minus,a,b1,c\n\n1,1,0,zero,0\n", "row 3: could not convert string to float: 'zero'"),
        ("C_plus,C_minus,a,b1,c\n1,1,0,0,0\n1,1,0,nan,0\n", "alpha must be finite, got nan in row 1, sample 1"),
        ("C_plus,C_minus,w1,w2\n1,1,0,inf\n", "w must be finite, got inf in row 0, feature 1"),
        ("C_plus,a,b1,c\n1,0,0,0\n", "must have C_plus and C_minus, or lambda, got C_plus"),
        ("lambda,C_plus,a,b1,c\n1,1,0,0,0\n", "must have C_plus and C_minus, or lambda, got C_plus, lambda"),
        ("a,b1,c\n0,0,0\n", "must have C_plus and C_minus, or lambda, got none of them"),
        ("C,C_minus,x,y,z\n1,1,0,0,0\n", "must have 3 columns of multipliers besides C_minus, got 4"),
        ("lambda,a,b1,c\n0,0,0,0\n", "lambda must be positive, got 0 in row 0"),
        ("lambda,alpha0,b,a1,a2,a3\n1,1,1,0,0,0\n", "alpha0 belongs to lambda, in place of b, got"),
        ("C_plus,C_minus,alpha0,a1,a2,a3\n1,1,1,0,0,0\n", "alpha0 belongs to lambda, in place of b, got"),
        ("C_plus,C_minus,b,a1,a2,a3\n1,1,inf,0,0,0\n", "b must be finite, got inf"),
        ("1,2,3\n", "must have the columns C_plus, C_minus, 3 multipliers and, if given, b, or one cost and the mult"),
    ],
)
def test_what_is_wrong_in_a_csv_file(tmp_path, text, message):
    with pytest.raises(pc.InputError, match=message) as caught:
        read_solutions(written(tmp_path, text), 3)
    assert "some.csv: " in str(caught.value)


def test_two_numbers_more_than_samples_are_told_apart_by_the_balance(tmp_path):
    y = np.array([1.0, 1.0, -1.0])
    same(
        read_solutions(written(tmp_path, "2,1,.25,.25,.5\n"), 3, y=y),
        C_plus=[2],
        C_minus=[1],
        alpha=[[0.25, 0.25, 0.5]],
    )
    both = {"C_plus": [2], "C_minus": [2]}
    same(read_solutions(written(tmp_path, "2,.25,.25,.5,.1\n"), 3, y=y), **both, alpha=[[0.25, 0.25, 0.5]], b=[0.1])
    for text, labels in (("2,0,0,0,0\n", y), ("2,1,.25,.5,.5\n", y), ("2,1,.25,.25,.5\n", None)):
        with pytest.raises(pc.InputError, match=r"begin it with a line C_plus,C_minus,a1,a2,... or C,a1,a2,...,b"):
            read_solutions(written(tmp_path, text), 3, y=labels)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"C": [1, 2]}, "there is no array 'alpha'; arrays: C"),
        ({"alpha": ALPHA[0], "C": [1, 2]}, r"alpha must have one row per solution and 3 columns, got shape \(3,\)"),
        ({"alpha": ALPHA[:, :2], "C": [1, 2]}, r"got shape \(2, 2\)"),
        ({"alpha": ALPHA, "C": [1, 2, 3]}, r"C_plus must have shape \(2,\), got \(3,\)"),
        ({"alpha": ALPHA, "costs": [1, 2]}, r"costs must have shape \(k, 2\), got \(2,\)"),
        ({"alpha": ALPHA, "costs": np.ones((2, 3))}, r"costs must have shape \(k, 2\), got \(2, 3\)"),
        (
            {"alpha": ALPHA, "costs": np.ones((2, 2)), "C_plus": [1, 1]},
            "costs stands for C_plus and C_minus; there must",
        ),
        (
            {"alpha": ALPHA, "C": [1, 2], "C_minus": [1, 2]},
            "C stands for C_plus and C_minus; there must not be C_minus",
        ),
        ({"alpha": ALPHA, "lambda": [1, -2]}, "lambda must be positive, got -2 in row 1"),
    ],
)
def test_what_is_wrong_in_an_npz_file(tmp_path, arrays, message):
    with pytest.raises(pc.InputError, match=message):
        read_solutions(stored(tmp_path, **arrays), 3)


def test_a_file_that_is_none(tmp_path):
    with pytest.raises(pc.InputError, match=r"path.txt: must end in .csv or .npz.*; there is no such file"):
        read_solutions(tmp_path / "path.txt", 3)
    (tmp_path / "path.txt").write_text("C")
    with pytest.raises(pc.InputError, match=r"LIBLINEAR$"):
        read_solutions(tmp_path / "path.txt", 3)
    with pytest.raises(pc.InputError, match="no such file"):
        read_solutions(tmp_path / "path.csv", 3)
    with pytest.raises(pc.InputError, match="must have the columns nu, asymmetry, 3 multipliers and, if"):
        read_solutions(written(tmp_path, "1,2,3\n"), 3, ("nu", "asymmetry"))
