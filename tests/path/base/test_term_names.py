"""Names of terms in events beside the signs of the residuals that they name, at the points of the path."""

from __future__ import annotations

import itertools
import re

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(9, 2)), RNG.normal(size=9)
W, B = cp.Variable(2, name="w"), cp.Variable(name="b")
TAU, REST, LAM = (cp.Parameter(nonneg=True, name=name) for name in ("tau", "rest", "lam"))


def residual(w, b):
    return Y - X @ w - b


def checked(path, pattern, values, label=""):
    """Check each event of a name, "... 17 ...", against what it names in the middle of both segments; return names."""
    long, names = path.long_segments, set()
    middles = {
        float(path.t[after]): [path.t[[j, j + 1]].mean() for j in (before, after)]
        for before, after in itertools.pairwise(long)
    }
    for event in path.events:
        found = re.fullmatch(pattern, event.name)
        if found is None:
            continue
        names.add(event.name)
        for word, t in zip((event.before, event.after), middles[event.t], strict=True):
            values_there = np.asarray(values(**path.at(t).variables))
            value = values_there[tuple(int(each) for each in re.findall(r"\d+", found[1]))]
            expected = "at" if abs(value) < 1e-9 else "above" if value > 0 else "below"
            assert word == f"{expected} its kink", (event, value)
    return names


def traced(objective, start, stop, rows=()):
    kind = cp.Minimize if objective.is_convex() else cp.Maximize
    return pc.trace(cp.Problem(kind(objective), list(rows)), start, stop, progress=False)


R = Y - X @ W - B
BOTH = {TAU: 0.1, REST: 0.9}, {TAU: 0.9, REST: 0.1}
ONE = {TAU: 0.1}, {TAU: 0.9}


@pytest.mark.parametrize(
    ("objective", "ends", "pattern", "turned"),
    [
        (cp.sum(cp.maximum(TAU * R, (TAU - 1) * R)), ONE, r"term (\d) of maximum\(w, b\)", 1),
        (cp.sum(cp.maximum((TAU - 1) * R, TAU * R)), ONE, r"term (\d) of maximum\(w, b\)", -1),
        (cp.sum(TAU * cp.pos(R) + REST * cp.neg(R)), BOTH, r"term (\d) of pos\(w, b\)", 1),
        (cp.sum(TAU * cp.pos(-R) + REST * cp.pos(R)), BOTH, r"term (\d) of pos\(w, b\), number [01]", None),
        (-cp.sum(TAU * cp.pos(R) + REST * cp.neg(R)), BOTH, r"term (\d) of pos\(w, b\)", 1),
        (cp.sum(cp.maximum(0, R)) * 2 + TAU * cp.sum(X @ W + B), ONE, r"term (\d) of maximum\(w, b\)", 1),
        (TAU * cp.sum(R) - cp.sum(cp.minimum(R, 0)) * 2, ONE, r"term (\d) of minimum\(w, b\)", 1),
        (cp.norm1(R) + TAU * cp.sum(X @ W), ONE, r"term (\d) of abs\(w, b\)", 1),
    ],
    ids=["maximum", "turned", "pos and neg", "pos twice", "maximised", "constant first", "minimum", "norm1"],
)
def test_a_term_is_named_by_its_entry_and_lies_where_its_expression_does(objective, ends, pattern, turned):
    path = traced(objective, *ends)
    sign = turned or 1
    if turned is None:  # the first atom is that of -R
        sign = -1
    assert len(checked(path, pattern, lambda w, b: sign * residual(w, b))) > 2


def test_a_label_is_the_name():
    """Of the expression in both atoms, or of what stands in a product."""
    r = (Y - X @ W - B).set_label("residual")
    for objective, ends in [
        (cp.sum(TAU * cp.pos(r) + REST * cp.neg(r)), BOTH),
        (cp.sum(cp.maximum((TAU - 1) * r, TAU * r)), ONE),
        (cp.norm1(-2 * r) + TAU * cp.sum(X @ W), ONE),
    ]:
        assert len(checked(traced(objective, *ends), r"residual\[(\d)\]", residual)) > 1


def test_scalars_are_numbered_and_matrices_have_two_indices():
    one = [cp.maximum(TAU * (y - x @ W - B), (TAU - 1) * (y - x @ W - B)) for x, y in zip(X, Y, strict=True)]
    assert len(checked(traced(cp.sum(one), *ONE), r"term (\d) of maximum\(w, b\)", residual)) > 2
    V, targets = cp.Variable((2, 3), name="V"), RNG.normal(size=(6, 3))
    A = RNG.normal(size=(6, 2))
    r = targets - A @ V
    path = traced(cp.sum(cp.maximum(TAU * r, (TAU - 1) * r)), *ONE)
    assert len(checked(path, r"term (\[\d, \d\]) of maximum\(V\)", lambda V: targets - A @ V)) > 2


def test_one_feature_and_an_intercept_are_not_written_out():
    """Of 3.92 slope + 0.98 b nobody knows whose it is; one whose target is 0 has the words of the others."""
    slope, x = cp.Variable(name="slope"), np.array([1.0, 2.0, -1.5, 0.5, 3.0, 4.0])
    y = np.array([0.0, 1.0, 2.0, -1.0, 0.7, 0.3])
    r = (y - slope * x - B).set_label("residual")
    path = traced(cp.sum(cp.maximum(TAU * r, (TAU - 1) * r)), *ONE)
    found = checked(path, r"residual\[(\d)\]", lambda slope, b: y - slope * x - b)
    assert found == {event.name for event in path.events}


def test_rows_that_nobody_can_tell_apart_keep_their_words():
    """An observation twice is one kink; the others have their names."""
    A, y = np.vstack([X, X[:1]]), np.append(Y, Y[0])
    r = y - A @ W - B
    path = traced(cp.sum(cp.maximum(TAU * r, (TAU - 1) * r)), *ONE)
    found = checked(path, r"term (\d) of maximum\(w, b\)", lambda w, b: y - A @ w - b)
    assert found
    assert not {"term 0 of maximum(w, b)", "term 9 of maximum(w, b)"} & {event.name for event in path.events}


def test_a_kink_elsewhere_has_not_the_name_of_a_piece():
    """max(r, s) bends where r = s, and pos(r) where r = 0; pos(|r| - 1) where neither does."""
    s = 1 + 0.1 * X @ W - B
    path = traced(TAU * cp.sum(cp.pos(R)) + cp.sum(cp.maximum(R, s)) + 2 * cp.sum(cp.abs(R + 1)), *ONE)
    checked(path, r"term (\d) of pos\(w, b\)", residual)
    checked(path, r"term (\d) of abs\(w, b\)", lambda w, b: residual(w, b) + 1)
    checked(path, r"term (\d) of maximum\(w, b\)", lambda w, b: residual(w, b) - (1 + 0.1 * X @ w - b))
    nested = traced(cp.sum(cp.pos(cp.abs(R) - 1)) + TAU * cp.sum(R) / 2, *ONE)
    assert not [event.name for event in nested.events if event.name.startswith("term") and "abs(" in event.name]


U, P = cp.Variable(3, name="u"), np.array([[1.0, -1.0, 0.5], [0.0, 1.0, 2.0], [2.0, 0.3, -1.0]])
V = cp.Variable((2, 2), name="V")
SIDES = {
    f"{sign}u[{k}] of norm_inf(u)": (lambda u, s=sign, k=k: -u[k] if s else u[k])
    for k in range(3)
    for sign in ("", "-")
}


@pytest.mark.parametrize(
    ("atom", "named", "largest"),
    [
        (cp.max(U), {f"u[{k}] of max(u)": lambda u, k=k: u[k] for k in range(3)}, max),
        (-cp.min(U), {f"u[{k}] of min(u)": lambda u, k=k: u[k] for k in range(3)}, min),
        (cp.maximum(U[0], U[2], 0.25), {f"{name} of maximum(u[0], u[2], 0.25)": value for name, value in (
            ("u[0]", lambda u: u[0]), ("u[2]", lambda u: u[2]), ("0.25", lambda u: 0.25))}, max),
        (cp.maximum(U[0], U[1]), {f"u[{k}] of maximum(u[0], u[1])": lambda u, k=k: u[k] for k in (0, 1)}, max),
        (2 * cp.norm_inf(U) + 1, SIDES, max),
        (cp.max(P @ U), {f"entry[{k}] of max(u)": lambda u, k=k: P[k] @ u for k in range(3)}, max),
    ],
    ids=["max", "min", "maximum", "two", "norm_inf", "of expressions"],
)  # fmt: skip
@pytest.mark.parametrize("aim", [[1.0, 3.0, 2.0], [2.0, 1.5, -1.0]])
def test_of_a_maximum_it_is_said_which_are_among_the_largest(atom, named, largest, aim):
    path = traced(cp.sum_squares(U - aim) + LAM * atom, {LAM: 0.1}, {LAM: 9.0})
    found = [event for event in path.events if " of " in event.name]
    assert found
    assert not [event.name for event in path.events if "auxiliary" in event.name]
    cuts = [0.0, *sorted({event.t for event in path.events}), 1.0]
    for event in found:
        at = cuts.index(event.t)
        for word, t in ((event.before, np.mean(cuts[at - 1 : at + 1])), (event.after, np.mean(cuts[at : at + 2]))):
            u = path.at(t).variables["u"]
            apart = abs(named[event.name](u) - largest(each(u) for each in named.values()))
            other, among = ("below the", "largest") if largest is max else ("above the", "smallest")
            assert word == f"{'among the' if apart < 1e-9 else other} {among}"


def test_an_entry_of_sum_largest_lies_beside_the_others():
    """Above its kink it is one of the two largest of three, below it is not; and rows of a matrix have maxima apart."""
    path = traced(cp.sum_squares(U - [1, 3, 2]) + LAM * cp.sum_largest(U, 2), {LAM: 0.1}, {LAM: 9.0})
    cuts = [0.0, *sorted({event.t for event in path.events}), 1.0]
    for event in path.events:
        at = cuts.index(event.t)
        for word, t in ((event.before, np.mean(cuts[at - 1 : at + 1])), (event.after, np.mean(cuts[at : at + 2]))):
            u = path.at(t).variables["u"]
            own, (third, second, _) = u[int(event.name.removesuffix("] of sum_largest(u)")[2:])], np.sort(u)
            assert {"above": own > second - 1e-9, "below": own < third + 1e-9}.get(word.split()[0], own > third - 1e-9)
    assert len(path.events) == 2
    aim = np.array([[1, 3], [2, 2.5]])
    path = traced(cp.sum_squares(V - aim) + LAM * cp.sum(cp.max(V, axis=1)), {LAM: 0}, {LAM: 9})
    assert [event.name for event in path.events] == ["V[1, 0] of max(V)", "V[0, 0] of max(V)"]


def test_what_stands_inside_of_a_function_is_not_said_to_be_the_largest():
    """The column for max(u) may be more than each of its entries where 2 is more."""
    inside = cp.maximum(cp.max(U), 2)
    path = traced(cp.sum_squares(U - [1, 3, 2]) + LAM * inside, {LAM: 0.1}, {LAM: 9.0})
    assert not [event for event in path.events if "largest" in event.before + event.after]


def test_coefficients_and_differences_keep_their_names():
    u = cp.Variable(4, name="u")
    path = traced(cp.sum_squares(u - [3, 1, 4, 1]) + LAM * cp.norm1(u) + LAM * cp.norm1(cp.diff(u)), {LAM: 9}, {LAM: 0})
    assert {event.name for event in path.events} <= {*(f"u[{k}]" for k in range(4))} | {
        f"{sign}u[{k}] {'+-'[sign == '']} u[{k + 1}]" for k in range(3) for sign in ("", "-")
    }


@pytest.mark.parametrize("kind", ["max", "sum_largest", "deadzone", "tube", "huber"])
def test_atoms_with_more_pieces_keep_their_words(kind):
    cost = {
        "max": lambda r: cp.max(cp.hstack([r, -r])),
        "sum_largest": lambda r: cp.sum_largest(cp.abs(r), 3),
        "deadzone": lambda r: cp.sum(cp.pos(cp.abs(r) - 0.5)),
        "tube": lambda r: cp.sum(cp.maximum(r - 0.5, 0, -r - 0.5)),
        "huber": lambda r: cp.sum(cp.huber(r)),
    }[kind]
    path = traced(cost(R) + LAM * cp.norm1(W), {LAM: 9.0}, {LAM: 0.0})
    assert path.events
    assert {event.name for event in path.events if event.name.startswith("w")} == {"w[0]", "w[1]"}
    assert not [event.name for event in path.events if "abs(" in event.name]


@pytest.mark.parametrize("kind", ["max of two", "tube", "huber"])
def test_an_objective_without_such_an_atom_has_no_names(kind):
    tube = cp.sum(cp.maximum(R - 0.5, 0, -R - 0.5))
    costs = {"tube": tube, "huber": cp.sum(cp.huber(R))}
    costs["max of two"] = cp.sum([cp.max(cp.hstack([r, -2 * r])) for r in R])
    path = traced(costs[kind] + TAU * W[0], *ONE)
    assert not [event.name for event in path.events if "(" in event.name]


@pytest.mark.parametrize("lost", [None, 7.0])
def test_a_parameter_that_has_another_value_by_then_leaves_no_false_name(lost):
    scale = cp.Parameter(nonneg=True, name="scale", value=1.0)
    path = traced(cp.sum(cp.maximum(TAU * (R - scale), (TAU - 1) * (R - scale))), *ONE)
    scale.value = lost
    assert path.events
    assert {event.name.partition(" of ")[0] for event in path.events} == {"term"}


def test_a_file_has_the_names_and_the_problem_keeps_its_values(tmp_path):
    W.value, TAU.value = np.array([7.0, 8.0]), 0.25
    path = traced(cp.sum(cp.maximum(TAU * R, (TAU - 1) * R)), *ONE)
    found = path.events
    assert (W.value.tolist(), float(TAU.value)) == ([7.0, 8.0], 0.25)
    path.save(tmp_path / "path.npz")
    again = pc.load(tmp_path / "path.npz")
    assert again.events == found
    again.save(tmp_path / "again.npz")
    assert pc.load(tmp_path / "again.npz").events == found


def test_kinks_that_are_no_terms_of_the_objective_are_named_by_none():
    """Huber's loss of one residual, |x - 3| within its threshold or beyond: |x - 3| is 1.5 where it is no limit."""
    x, threshold = cp.Variable(name="x"), cp.Parameter(nonneg=True, name="threshold")
    loss = cp.huber(x - 3, threshold) + cp.square(x)
    path = pc.trace(cp.Problem(cp.Minimize(loss)), {threshold: 2}, {threshold: 0.5}, progress=False)
    assert [event.parameters["threshold"] for event in path.events] == pytest.approx([1.5])
    assert path.at(threshold=2.0).variables["x"] == pytest.approx(1.5)
    assert path.at(threshold=1.0).variables["x"] == pytest.approx(1.0)
