"""`verify` of whatever one has: fitted machines, model files, results of ours, every formulation, whole paths."""

from __future__ import annotations

from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.checking import verification

MODELS = Path(__file__).parents[1] / "oracles" / "models"


@pytest.fixture(scope="module")
def train():
    X, y = load_svmlight_file(str(MODELS / "train.libsvm"))
    return X.toarray(), y


# ---- fitted machines ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 2, 0, 1, 2], r"y must hold two labels, got \{0, 1, 2\}"),
        (["a"] * 6, "y must contain only the labels -1 and \\+1, got {'a'}"),
        ([1.0, np.nan, 1.0, 1.0, 1.0, 1.0], "y must hold two labels"),
        (["a", 1, "a", 1, "a", None], "y must hold labels of one kind"),
        ([[0, 1]] * 3, "y must be one-dimensional"),
    ],
)
def test_labels_that_are_not_two(y, message):
    y = np.array(y, dtype=object) if None in np.ravel(np.array(y, dtype=object)) else y
    with pytest.raises(pc.InputError, match=message):
        pc.verify(FOUR[0], y, [(1, 1, np.zeros(6))])


def test_labels_in_a_column_are_told_their_shape(train):
    X, y = train
    for labels in (y, np.where(y > 0, "a", "b")):
        fitted = SVC().fit(X, labels)
        with pytest.raises(pc.InputError, match=r"y must be one-dimensional, got shape \(\d+, 1\)"):
            pc.verify(X, labels[:, None], fitted)


# ---- model files -------------------------------------------------------------------------------------------------


# ---- every formulation -------------------------------------------------------------------------------------------


FOUR = np.array([[2.0, 0.0], [0.5, 1.0], [-1.0, 0.5], [-0.5, -1.0], [0.2, 0.1], [-2.0, 1.0]]), [1, 1, -1, -1, 1, -1]


def test_the_table_as_a_frame():
    pd = pytest.importorskip("pandas")
    X, y = FOUR
    frame = pc.verify(X, y, pc.sweep(pc.TwoCSVM(X, y), C_plus=[0.5, 1.0], C_minus=1.0)).to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame["verdict"]) == ["optimal", "optimal"]
    assert list(frame["C_plus"]) == [0.5, 1.0]
    assert (frame["lower"] <= frame["upper"] + 1e-12).all()


def test_a_frame_without_pandas(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(pc.InputError, match=r"to_frame needs pandas: pip install 'paretoclf\[pandas\]'"):
        pc.verify(*FOUR, [(1, 1, np.zeros(6))]).to_frame()


# ---- whole foreign paths -----------------------------------------------------------------------------------------


#: Which module judges what `verify` is given.
DOORS = {
    "problem": "of_problem",
    "arrays": "of_arrays",
    "of another code": "strangers",
    "classifiers": "of_classifiers",
}


@pytest.mark.parametrize("kind", DOORS)
def test_what_is_given_opens_one_door(kind, monkeypatch):
    """A problem, what another code returned, classifiers: told apart once, and no other door is imported for it."""
    w, lam = cp.Variable(name="w"), cp.Parameter(nonneg=True, name="lam")
    problem = cp.Problem(cp.Minimize(cp.square(w - 3) / 2 + lam * cp.abs(w)))
    given = {
        "problem": lambda: (problem,),
        "arrays": lambda: (pc.QP([[2.0]], [-6.0]), [3.0]),
        "of another code": lambda: (pc.trace(problem, {lam: 4}, {lam: 0}), {"lam": [4, 3, 0], "w": [0, 0, 3]}),
        "classifiers": lambda: (np.array([[-1.0], [1.0]]), [-1, 1], [(1, 1, [0.5, 0.5])]),
    }[kind]()
    opened, door = [], verification._door
    monkeypatch.setattr(verification, "_door", lambda one: opened.append(one) or door(one))
    if kind == "problem":
        problem.parameters()[0].value = 1.0
        problem.solve("CLARABEL")
    report = pc.verify(*given, tol=1e-6)
    assert opened == [kind]
    assert report.status == "optimal" if kind in ("problem", "arrays") else report.passes()
    assert door(kind).__module__ == f"paretoclf.checking.{DOORS[kind]}"
