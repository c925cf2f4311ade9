"""``paretoclf verify PAIRS.py``: a verdict for each pair, and the exit status of the whole list."""

from __future__ import annotations

import json
import sys

import pytest

from paretoclf.cli import main

HEAD = """
import cvxpy as cp
import numpy as np
import paretoclf as pc

x, lam = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="lam")
mass, low = (cp.sum(x) == 1).set_label("mass"), (x[0] >= 0.75).set_label("low")
split = cp.Problem(cp.Minimize(cp.sum_squares(x)), [mass, low])
never = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, cp.sum(x) <= 1])
away = cp.Problem(cp.Minimize(cp.sum(x)), [x <= 1])
held = cp.Problem(cp.Minimize(cp.sum_squares(x - 1)), [x >= 0])
held.solve("CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
lasso = cp.Problem(cp.Minimize(cp.sum_squares(x - np.array([3, -1])) / 2 + lam * cp.norm1(x)))
path = pc.trace(lasso, {lam: 3}, {lam: 0})
X, y = np.array([[-1.0], [1.0]]), [-1, 1]
"""

RIGHT = {
    "values": "(split, {x: [0.75, 0.25]})",
    "names": "(split, {'x': [0.75, 0.25]})",
    "multipliers": "(split, {x: [0.75, 0.25]}, {mass: -0.5, low: 1.0})",
    "held": "(held,)",
    "nothing": "(held, None)",
    "infeasible": "(never, 'infeasible')",
    "unbounded": "(away, 'unbounded')",
    "path": "(path, {'lam': [3, 1, 0], 'x': [[0, 0], [2, 0], [3, -1]]})",
    "machine": "(X, y, [(1.0, 1.0, [0.5, 0.5], 0.0)])",
    "arrays": "(pc.QP(np.eye(2), [-1.0, 0.0]), [1.0, 0.0])",
    "formulation": "(pc.TwoNuSVM(X, y), [(0.5, 0.5, [0.25, 0.25], 0.0)])",
    "arrays none": "(pc.QP(None, [1.0], [[1.0], [1.0]], [1.0, -np.inf], [np.inf, 0.0]), 'infeasible')",
}
WRONG = {
    "values": ("(split, {x: [1.0, 0.0]})", "Not optimal: the value is 1, and 0.625 is possible."),
    "violation": ("(split, {x: [0.5, 0.5]})", "Infeasible: low is violated by 0.25."),
    "multipliers": (
        "(split, {x: [0.75, 0.25]}, {mass: -0.5, low: 2.0})",
        "the multiplier of low is twice the solver's",
    ),
    "solution of none": "(never, {x: [1, 1]})",
    "none of a solution": ("(split, 'infeasible')", "claimed to be infeasible: "),
    "the other none": ("(never, 'unbounded')", "claimed to be unbounded: "),
    "path": ("(path, {'lam': [3, 0], 'x': [[0, 0], [3, -1]]})", "the first that is not, at t = 0.333333 (lam = 2)"),
    "machine": ("(X, y, [(1.0, 1.0, [0.4, 0.4], 0.0)])", "1 not optimal, 0 of 1 optimal"),
    "arrays": ("(pc.QP(np.eye(2), [-1.0, 0.0]), [1.5, 0.0])", "Not optimal"),
    "claims of arrays": ("(pc.QP(np.eye(2), [-1.0, 0.0]), 'infeasible')", "claimed to be infeasible: Not infeasible"),
    "bounded arrays": ("(pc.QP(np.eye(2), [-1.0, 0.0]), 'unbounded')", "claimed to be unbounded: Not unbounded"),
}


@pytest.fixture
def verify(tmp_path, capsys):
    def run(pairs, *more, name="pairs", file="pairs.py"):
        (tmp_path / "pairs.py").write_text(f"{HEAD}\n{name} = {pairs}\n")
        status = main(["verify", str(tmp_path / file), *more])
        return status, capsys.readouterr()

    return run


def test_a_list_of_right_ones_passes(verify):
    status, printed = verify("{" + ", ".join(f"{name!r}: {pair}" for name, pair in RIGHT.items()) + "}")
    assert status == 0
    assert printed.err == ""
    lines = printed.out.splitlines()
    assert [line.rstrip() for line in lines[:-1]] == [f"{name:<11}  optimal" for name in RIGHT]
    assert lines[-1] == f"{len(RIGHT)} of {len(RIGHT)} optimal"


@pytest.mark.parametrize("name", WRONG)
def test_one_wrong_pair_among_right_ones_is_exit_status_1_and_says_why(verify, name):
    wrong = WRONG[name]
    pair, words = wrong if isinstance(wrong, tuple) else (wrong, "no point satisfies")
    status, printed = verify(f"[{RIGHT['values']}, {pair}]", "--json")
    found = json.loads(printed.out)
    assert status == 1
    assert [row["verdict"] for row in found["pairs"]] == ["optimal", "not optimal"]
    assert found["counts"] == {"not optimal": 1, "undecided": 0, "optimal": 1}
    assert words in found["pairs"][1]["explanation"]


def test_undecided_alone_is_exit_status_3(verify):
    """The infimum of 1 / z is attained nowhere: the solver stops at z = 1e4, which is neither near it nor refuted."""
    pair = "(cp.Problem(cp.Minimize(cp.quad_over_lin(1, z)), [z >= 1]),)"
    made = f"(z := cp.Variable(name='z')) and None or [{RIGHT['values']}, {pair}]"
    status, printed = verify(f"{made}\npairs[1][0].solve('CLARABEL')")
    assert status == 3, printed
    assert printed.out.splitlines()[-1] == "1 undecided, 1 of 2 optimal"


def test_the_tolerance_and_another_name(verify):
    rough = "(split, {x: [0.7501, 0.2499]})"
    assert verify(f"[{rough}]")[0] == 1
    assert verify(f"[{rough}]", "--tol", "1e-3")[0] == 0
    assert verify(f"lambda: iter([{rough}])", "--tol", "1e-3", name="mine", file="pairs.py:mine")[0] == 0


@pytest.mark.parametrize(
    ("pairs", "name", "words"),
    [
        ("[1]", "pairs", "pair 0: it must be (problem, solution), or what else verify takes, got 1"),
        ("[(split, 1)]", "pairs", "pair 0: the solution of a cvxpy.Problem must be values by variable"),
        ("{'a': (split, {})}", "pairs", "pair a: values must have all variables, x: x is missing"),
        ("3", "pairs", "pairs must be a list of (problem, solution), or a dict by their names"),
        ("[]", "pairs", "pairs must hold at least one (problem, solution), got none"),
        ("[]", "others", "FILE must define pairs, a list of (problem, solution), got"),
        ("1 / 0", "pairs", "cannot be loaded: ZeroDivisionError"),
    ],
)
def test_what_is_no_list_of_pairs_is_exit_status_2(verify, pairs, name, words):
    status, printed = verify(pairs, name=name)
    assert status == 2
    assert printed.err.startswith("paretoclf: error: ")
    assert words in printed.err


def test_a_pair_that_cannot_be_judged_hides_no_other(verify):
    pairs = f"[(split, {{x: [np.nan, 1]}}), {RIGHT['values']}, {WRONG['values'][0]}]"
    status, printed = verify(pairs, "--json")
    found = json.loads(printed.out)
    assert [row["verdict"] for row in found["pairs"]] == ["unreadable", "optimal", "not optimal"]
    assert found["counts"] == {"unreadable": 1, "not optimal": 1, "undecided": 0, "optimal": 1}
    assert status == 2
    assert "pair 0: values must have finite numbers of shape (2,) for x, got [nan, 1]" in printed.err


def test_values_that_are_told_apart_have_digits_that_differ(verify):
    """At (0.5001, 1.4999) of (x - 1)^2 + (y - 2)^2 over x + y <= 2 the value is 0.5 + 2e-8."""
    pair = "(cp.Problem(cp.Minimize(cp.sum_squares(x - np.array([1, 2]))), [cp.sum(x) <= 2]), {x: [0.5001, 1.4999]})"
    assert "Not optimal: the value is 0.50000002, and 0.5 is possible" in verify(f"[{pair}]")[1].out


@pytest.mark.parametrize("late", [False, True])
def test_a_file_imports_what_stands_beside_it_as_python_has_it(tmp_path, capsys, late):
    name = f"beside_{late}".lower()
    (tmp_path / f"{name}.py").write_text(f"{HEAD}\nright = (split, {{x: [0.75, 0.25]}})\n", encoding="utf-8")
    pairs = f"from {name} import right\npairs = [right]\n"
    if late:
        pairs = f"def pairs():\n    from {name} import right\n    return [right]\n"
    file = tmp_path / "pairs.py"
    file.write_text(pairs, encoding="utf-8")
    before = list(sys.path)
    assert main(["verify", str(file)]) == 0
    assert "1 of 1 optimal" in capsys.readouterr().out
    assert sys.path == before
