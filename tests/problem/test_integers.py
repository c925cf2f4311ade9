"""Integers of a file: relaxed or fixed, beside the mixed program and its relaxation as SciPy's HiGHS solves them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, milp

import paretoclf as pc
from paretoclf.checking.program_solutions import read_solution
from paretoclf.cli import main
from tests.problem.test_mps import FILE

pytest.importorskip("highspy")

COST, ROWS, SIDES = [5, 4, 3], [[2, 3, 1], [4, 1, 2], [3, 4, 2]], [5, 11, 8]
LP = """Maximize
 profit: 5 a + 4 b + 3 c
Subject To
 m1: 2 a + 3 b + c <= {side}
 m2: 4 a + b + 2 c <= 11
 m3: 3 a + 4 b + 2 c <= 8
Bounds
 a <= 9
 b <= 9
General
 a b
End
"""


def by_scipy(side, integers):
    """The optimum with a and b whole, or with none."""
    sides = [side, *SIDES[1:]]
    found = milp([-c for c in COST], constraints=LinearConstraint(ROWS, ub=sides), integrality=integers)
    return found.x, -found.fun


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mixed.lp").write_text(LP.format(side=5.5))
    x, _ = by_scipy(5.5, [1, 1, 0])
    (tmp_path / "mixed.csv").write_text("".join(f"{name},{value}\n" for name, value in zip("abc", x, strict=True)))
    return tmp_path / "mixed.lp"


def test_relaxed_integers_are_any_numbers_between_their_bounds(file):
    x, value = by_scipy(5.5, [0, 0, 0])
    qp = pc.QP.from_file(file, integers="relax")
    assert pc.verify(qp, x).status == "optimal"
    assert pc.verify(qp, x).upper == pytest.approx(value)
    assert (x != np.rint(x)).any()


def test_fixed_integers_stay_where_a_solution_has_them(file):
    x, value = by_scipy(5.5, [1, 1, 0])
    qp = pc.QP.from_file(file, {"m1": "rhs:m1"}, {"a": x[0] + 1e-7, "b": x[1], "c": 0.123})
    assert pc.verify(qp, np.rint(x)).status == "optimal"
    path = pc.trace(qp, {"m1": 5.5}, {"m1": 6.5})
    assert path.value(m1=5.5) == pytest.approx(value)
    assert {tuple(np.round([path.at(t).variables[n] for n in "ab"], 9)) for t in (0, 0.5, 1)} == {tuple(np.rint(x[:2]))}


@pytest.mark.parametrize(
    ("integers", "said"),
    [
        (None, "got the integer a in .*mixed.lp: from_file.*integers='relax'. or --integers relax"),
        ("fix", "integers must be 'relax', or map their names to values, got 'fix'"),
        ({"a": 1}, "integers must have a value of each integer, got none of b"),
        ({"a": 1.5, "b": 0}, "integers must have whole numbers, got 1.5 of a"),
        ({"a": 10, "b": 0}, "integers must be between their bounds, 0 and 9, got 10 of a"),
        ({"a": "one", "b": 0}, r"integers\['a'\] must be a"),
    ],
)
def test_what_is_said_of_integers_is_checked(file, integers, said):
    with pytest.raises(pc.InputError, match=said):
        pc.QP.from_file(file, integers=integers)


def test_integers_of_markers_without_a_bound_are_not_relaxed(tmp_path):
    """HiGHS takes them for binary, and others do not; that of Y has a bound."""
    marked = FILE.replace("COLUMNS\n", "COLUMNS\n    M1        'MARKER'   'INTORG'\n")
    marked = marked.replace("RHS\n    RHS", "    M2        'MARKER'   'INTEND'\nRHS\n    RHS", 1)
    (tmp_path / "p.mps").write_text(marked)
    with pytest.raises(pc.InputError, match="file must say a bound of the integer X to relax it"):
        pc.QP.from_file(tmp_path / "p.mps", integers="relax")
    (tmp_path / "p.mps").write_text(marked.replace("BOUNDS\n", "BOUNDS\n PL BND       X\n"))
    qp = pc.QP.from_file(tmp_path / "p.mps", integers="relax")
    assert pc.verify(qp, {"X": 4, "Y": 2, "Z": 3.5}).status == "optimal"
    (tmp_path / "p.mps").write_text(FILE.replace("BOUNDS\n", "BOUNDS\n SC BND       X         3\n"))
    with pytest.raises(pc.InputError, match="got the semi-continuous X"):
        pc.QP.from_file(tmp_path / "p.mps", integers="relax")


def test_verdicts_say_what_became_of_integers(file):
    """The best integers are not optimal in the relaxation, and nobody is told that they are not the best integers."""
    relaxed = pc.QP.from_file("mixed.lp", integers="relax")
    values, _ = read_solution("mixed.csv", relaxed)
    found = pc.verify(relaxed, values)
    assert repr(relaxed).endswith(", 2 integers relaxed)")
    assert repr(found).startswith("ProblemProof(not optimal of the relaxation to 1e-08")
    assert "the integers a, b may be any numbers between their bounds" in found.explain()
    fixed = pc.QP.from_file("mixed.lp", integers=values)
    found = pc.verify(fixed, values)
    assert found.passes()
    assert repr(fixed).endswith(", 2 integers fixed)")
    assert "This is with the integers fixed, a = " in found.explain()
    assert "of the relaxation" in repr(pc.verify(relaxed, "infeasible"))


def test_paths_ranges_and_conflicts_say_what_became_of_integers(file):
    relaxed = "this is of the relaxation, in which the integers a, b may be any numbers between their bounds"
    qp = pc.QP.from_file("mixed.lp", moves={"m1": "rhs:m1"}, integers="relax")
    path = pc.trace(qp, {"m1": qp.values["m1"]}, {"m1": qp.values["m1"] + 0.5})
    assert relaxed in repr(path)
    assert relaxed[1:] in path.proof.explain()
    assert relaxed in repr(pc.ranges(qp, progress=False))
    assert relaxed in repr(pc.ranges(qp, progress=False)["m1"])
    assert relaxed in repr(pc.derivatives(qp, {"m1": 1.0}))
    assert repr(pc.conflict(qp)) == f"no conflict: there is a point that satisfies all constraints; {relaxed}"
    values, _ = read_solution("mixed.csv", qp)
    fixed = pc.QP.from_file("mixed.lp", integers=values)
    assert "this is with the integers fixed, a = " in repr(pc.ranges(fixed, progress=False))
    file.write_text(LP.format(side=-1))
    found = pc.conflict(pc.QP.from_file("mixed.lp", integers="relax"))
    assert "m1" in found.constraints
    assert repr(found).endswith(f"{relaxed}: what contradicts itself there does so with integers, too")
    assert "integers" not in repr(pc.ranges(replace(qp, integers={}), progress=False))


def test_commands_say_what_became_of_integers(file, capsys):
    assert main(["verify", "mixed.lp", "mixed.csv", "--integers", "mixed.csv"]) == 0
    assert "mixed.lp, integers fixed at mixed.csv: LP(" in capsys.readouterr().out
    assert main(["verify", "mixed.lp", "mixed.csv", "--integers", "relax"]) == 1  # the relaxation has a better point
    assert "mixed.lp, integers relaxed: LP(" in capsys.readouterr().out
    assert main(["ranges", "mixed.lp", "--of", "m1", "--integers", "relax"]) == 0
    assert main(["trace", "mixed.lp", "--move", "rhs:m1=5..6", "--integers", "mixed.csv"]) == 0
    assert "integers fixed at" in capsys.readouterr().out
    assert main(["ranges", "mixed.lp"]) == 2
    assert "--integers relax lets integers be any numbers" in capsys.readouterr().err
    assert main(["verify", "mixed.csv", "--integers", "relax"]) == 2
