"""Programs in MPS, QPS and LP files: what each section means, beside what is computed by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc

pytest.importorskip("highspy")

#: max 3 x + 2 y - z, less 7, in a file of sections that readers get wrong.
FILE = """NAME          GOODS
OBJSENSE
    MAX
ROWS
 N  PROFIT
 L  BUDGET
 G  NEED
 E  TIE
 L  SPAN
COLUMNS
    X         PROFIT    3.0        BUDGET    1.0
    X         TIE       1.0        SPAN      1.0
    Y         PROFIT    2.0        BUDGET    1.0
    Y         NEED      1.0
    Z         PROFIT    -1.0       TIE       -1.0
RHS
    RHS       PROFIT    7.0        BUDGET    6.0
    RHS       NEED      1.0        TIE       0.5
    RHS       SPAN      4.0
RANGES
    RNG       SPAN      3.0
BOUNDS
 UP BND       Y         5.0
 FR BND       Z
ENDATA
"""

QUADRATIC = """NAME          CURVED
ROWS
 N  COST
 G  SUM
COLUMNS
    X         COST      -1.0       SUM       1.0
    Y         SUM       1.0
RHS
    RHS       SUM       2.0
BOUNDS
 UP BND       X         10.0
QUADOBJ
    X         X         4.0
    X         Y         1.0
    Y         Y         2.0
ENDATA
"""


@pytest.fixture
def read(tmp_path):
    def reading(text, name="program.mps"):
        file = tmp_path / name
        file.write_text(text)
        return pc.QP.from_file(file)

    return reading


def test_every_section_is_read(read):
    qp = read(FILE)
    assert qp.maximise
    assert qp.constant == -7.0  # what stands on the right of the objective is taken from it
    assert qp.q.tolist() == [3, 2, -1]
    assert qp.names[0] == ("X", "Y", "Z")
    assert qp.names[1] == ("BUDGET", "NEED", "TIE", "SPAN", "bound of X", "bound of Y")
    assert qp.l.tolist() == [-np.inf, 1, 0.5, 1, 0, 0]  # SPAN: from 4 - 3
    assert qp.u.tolist() == [6, np.inf, 0.5, 4, np.inf, 5]
    assert qp.A.toarray().tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, -1], [1, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_a_solution_is_verified_by_names(read):
    """X + Y = 6, Z = X - 1/2: 3 X + 2 (6 - X) - X + 1/2 - 7 = 5.5 whatever X is; X = 4 and Y = 2 is one optimum."""
    qp = read(FILE)
    proof = pc.verify(qp, {"X": 4, "Y": 2, "Z": 3.5})
    assert (proof.status, proof.upper) == ("optimal", pytest.approx(5.5))
    assert pc.verify(qp, {"X": 4, "Y": 1, "Z": 3.5}).status == "not optimal"
    wrong = pc.verify(qp, {"X": 5, "Y": 1, "Z": 4.5})
    assert "SPAN (upper bound)" in wrong.explain()
    budget = pc.ranges(qp, progress=False)["BUDGET"].rows[0]
    assert (budget.price, budget.lower, budget.upper) == pytest.approx((2, 2, 9))


@pytest.mark.parametrize("name", ["SPAN", "BUDGET", "NEED"])
@pytest.mark.parametrize("more", ["", "    NEED    2.0"])
def test_a_set_of_ranges_may_have_the_name_of_a_row(read, name, more):
    """It stands in every line, so that the fields say what is meant; of right-hand sides HiGHS reads something else."""
    qp = read(FILE.replace("RNG       SPAN      3.0", f"{name}       SPAN      3.0{more}"))
    assert qp.l[:4].tolist() == [-np.inf, 1, 0.5, 1]
    assert qp.u[:4].tolist() == [6, 3 if more else np.inf, 0.5, 4]


def test_a_right_hand_side_whose_set_has_a_rows_name_is_read_after_the_remedy(read):
    wrong = FILE.replace("    RHS   ", "    SPAN  ")
    with pytest.raises(pc.errors.InputError, match="Call the set RHS in all lines"):
        read(wrong)
    assert read(re.sub(r"(?m)^    SPAN  ", "    RHS   ", wrong)).u[0] == 6


@pytest.mark.parametrize("ending", ["mps", "qps", "QPS"])
def test_a_quadratic_objective_is_symmetric_and_has_its_half(read, ending):
    """The half is HiGHS's and CPLEX's: x'Qx / 2, of which the file has one triangle."""
    qp = read(QUADRATIC, f"curved.{ending}")
    assert qp.P.toarray().tolist() == [[4, 1], [1, 2]]
    x = np.linalg.solve([[4, 1, -1], [1, 2, -1], [1, 1, 0]], [1, 0, 2])
    assert pc.verify(qp, x[:2], [-x[2], 0, 0]).status == "optimal"


def test_an_upper_bound_below_0_needs_a_lower_one(read):
    """CPLEX takes the lower bound away, HiGHS leaves it at 0: nobody knows what was meant."""
    with pytest.raises(pc.errors.InputError, match="file must say both bounds of X, got 0 and -1: readers differ"):
        read(QUADRATIC.replace("10.0", "-1.0"))
    both = QUADRATIC.replace(" UP BND       X         10.0", " UP BND       X         -1.0\n MI BND       X")
    qp = read(both)
    at = qp.names[1].index("bound of X")
    assert (qp.l[at], qp.u[at]) == (-np.inf, -1.0)


def test_an_lp_file_is_read(read):
    qp = read("Minimize\n obj: 2 x + 3 y\nSubject To\n c1: x + y >= 4\nBounds\n x <= 3\nEnd\n", "two.lp")
    assert pc.verify(qp, {"x": 3, "y": 1}).status == "optimal"


LINES = {  # what is changed in FILE, and what the refusal says of the line
    "a direction in words of no reader": ("    MAX\n", "    LARGEST\n", "line 3: OBJSENSE must be one of"),
    "no direction": ("    MAX\n", "", "line 2: OBJSENSE must be followed by"),
    "a direction of another reader": ("OBJSENSE\n    MAX", "OBJMAX", "line 2: 'OBJMAX' is in no section"),
    "two directions": ("OBJSENSE\n", "OBJSENSE MIN\n", "line 3: OBJSENSE says MAX after the contrary"),
    "a section that is not read": ("RANGES", "LAZYCONS\nRANGES", "line 20: RHS must have a set"),
    "a section twice": ("RANGES", "RHS\nRANGES", "line 20: RHS is there a second time"),
    "two rows of one name": (" L  SPAN", " L  NEED", "line 9: the row NEED has the same name"),
    "a row without a type": (" E  TIE", "    TIE", "line 8: ROWS must have one of N, L, G, E"),
    "a comment": (" L  BUDGET", " L  BUDGET  $ weekly", r"line 6: .* \(a comment after \$ is not read\)"),
    "a column in two blocks": (
        "    Z         PROFIT    -1.0",
        "    Z         NEED      1.0\n    X         NEED      1.0\n    Z         PROFIT    -1.0",
        "line 16: the column X has been there before",
    ),
    "an entry twice": (
        "Y         NEED      1.0",
        "Y         BUDGET    1.0",
        "line 14: a duplicate of line 13, Y BUDGET",
    ),
    "an entry twice in a line": ("1.0        SPAN", "1.0        TIE", "line 12: a duplicate of line 12, X TIE"),
    "a misspelt row": ("X         TIE", "X         TYE", "line 12: the row TYE in COLUMNS is not defined"),
    "a comma": ("PROFIT    7.0 ", "PROFIT    7,5 ", "line 17: '7,5' is no number"),
    "an underscore": ("PROFIT    7.0 ", "PROFIT    7_5 ", "line 17: '7_5' is no number"),
    "a field too many": ("6.0\n", "6.0  NEED\n", "line 17: RHS must have a set"),
    "a misspelt right-hand side": ("RHS       SPAN", "RHS       SPAM", "line 19: the row SPAM in RHS is not defined"),
    "a right-hand side twice": ("RHS       SPAN", "RHS       TIE", "line 19: a duplicate of line 18, TIE"),
    "two sets": ("RHS       SPAN", "RHS2      SPAN", "line 19: RHS has two sets, RHS and RHS2"),
    "a set of a row's name": ("RHS       SPAN", "TIE       SPAN", "line 19: the set TIE has the name of a row"),
    "a range of the objective": ("RNG       SPAN", "RNG       PROFIT", "line 21: the row PROFIT is no constraint"),
    "a misspelt bound": ("FR BND       Z", "FR BND       W", "line 24: the column W in BOUNDS is not defined"),
    "a bound twice": ("FR BND       Z", "FR BND       Y", "line 24: .*Y"),
    "a bound of no type": ("FR BND       Z", "FREE BND     Z", "line 24: BOUNDS must have one of"),
    "no end": ("ENDATA\n", "", "the file ends before ENDATA"),
}


@pytest.mark.parametrize("case", LINES)
def test_what_readers_understand_differently_is_refused_with_its_line(read, case):
    before, after, said = LINES[case]
    assert FILE.count(before) == 1
    with pytest.raises(pc.errors.InputError, match=f"file must be a program that HiGHS reads as it stands, .*{said}"):
        read(FILE.replace(before, after))


def test_the_direction_is_read_in_each_of_its_spellings(read):
    for words in (
        "OBJSENSE MAXIMIZE",
        "OBJSENSE  MAXIMISE",
        "OBJSENSE Max",
        "OBJSENSE\n    MAXIMIZE",
        "objsense\n max",
    ):
        assert read(FILE.replace("OBJSENSE\n    MAX", words)).maximise, words
    for words in ("OBJSENSE MINIMIZE", "OBJSENSE\n    MIN", "OBJSENSE MINIMISE"):
        assert not read(FILE.replace("OBJSENSE\n    MAX", words)).maximise, words


def test_a_second_row_without_bounds_has_no_part_in_the_objective(read):
    """HiGHS takes its right-hand side for the constant of the objective."""
    free = FILE.replace(" L  BUDGET", " N  OTHER\n L  BUDGET")
    assert read(free).constant == -7.0
    with pytest.raises(pc.errors.InputError, match="line 20: the row OTHER is no constraint"):
        read(free.replace("RHS       SPAN      4.0", "RHS       OTHER     4.0"))


def test_a_triangle_is_one(read):
    """QUADOBJ has one triangle, either of them or parts of both; QMATRIX has all entries."""
    part = "    X         Y         1.0\n"
    assert read(QUADRATIC.replace(part, "    Y         X         1.0\n")).P.toarray().tolist() == [[4, 1], [1, 2]]
    both = QUADRATIC.replace(part, part + "    Y         X         1.0\n")
    with pytest.raises(
        pc.errors.InputError, match="line 15: QUADOBJ has one triangle, and line 14 has the mirror image"
    ):
        read(both)
    assert read(both.replace("QUADOBJ", "QMATRIX")).P.toarray().tolist() == [[4, 1], [1, 2]]
    for wrong, said in (
        (QUADRATIC.replace(part, part + part), "line 15: a duplicate of line 14, X Y"),
        (QUADRATIC.replace(part, "    X         Z         1.0\n"), "line 14: the column Z in QUADOBJ is not defined"),
        (QUADRATIC.replace("ENDATA", "QMATRIX\n    X         X         4.0\nENDATA"), "line 16: a second section"),
        (QUADRATIC.replace("QUADOBJ", "QSECTION SUM"), "line 12: QSECTION must be that of the objective COST"),
    ):
        with pytest.raises(pc.errors.InputError, match=said):
            read(wrong)


def test_a_variable_without_coefficients_is_named_where_others_are(read):
    """A name of which only a bound or a quadratic term is said may be another one's, misspelt."""
    bound, term = " UP BND       X         10.0\n", "    Y         Y         2.0\n"
    for more in ((bound, bound.replace("X  ", "Z  ")), (term, term + "    Z         Z         6.0\n")):
        text = QUADRATIC.replace(*more)
        with pytest.raises(
            pc.errors.InputError, match="not defined; one without coefficients has a 0 in the objective"
        ):
            read(text)
        qp = read(text.replace("RHS\n", "    Z         COST      0.0\nRHS\n", 1))
        assert qp.names[0] == ("X", "Y", "Z")
    text = LP.replace("x <= 3", "x <= 3\n z <= 2")
    with pytest.raises(pc.errors.InputError, match="one without coefficients has a term there, 0 z"):
        read(text, "two.lp")
    assert read(text.replace("2 x", "0 z + 2 x"), "two.lp").names[0] == ("z", "x", "y")


def test_what_highs_writes_is_read_as_it_was(tmp_path):
    """Random programs: free, fixed and shifted variables, ranges, both directions, a quadratic objective."""
    highspy = pytest.importorskip("highspy")
    rng, inf = np.random.default_rng(0), highspy.kHighsInf
    sides, bounds = (
        [(-inf, 1.0), (2.0, inf), (1.0, 1.0), (-1.0, 3.0)],
        [(0.0, inf), (-inf, inf), (-3.5, 2.5), (2.0, 2.0)],
    )
    for k in range(30):
        n, m = int(rng.integers(2, 6)), int(rng.integers(1, 5))
        A, q, F = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.6), rng.normal(size=n), rng.normal(size=(n, n))
        rows, columns = rng.integers(0, 4, m), rng.integers(0, 4, n)
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        for j in range(n):
            solver.addVar(*bounds[columns[j]])
            solver.changeColCost(j, q[j])
            solver.passColName(j, f"v{j}")
        for i in range(m):
            used = np.flatnonzero(A[i]).astype(np.int32)
            solver.addRow(*sides[rows[i]], used.size, used, A[i, used])
            solver.passRowName(i, f"r{i}")
        solver.changeObjectiveOffset(1.5)
        solver.changeObjectiveSense(highspy.ObjSense.kMaximize if k % 2 else highspy.ObjSense.kMinimize)
        P = np.zeros((n, n)) if k % 3 else F @ F.T
        lower = sp.csc_array(np.tril(P))
        hessian = highspy.HighsHessian()
        hessian.dim_, hessian.format_ = n, highspy.HessianFormat.kTriangular
        hessian.start_, hessian.index_, hessian.value_ = lower.indptr, lower.indices, lower.data
        if lower.nnz:
            solver.passHessian(hessian)
        for ending in ("mps", "lp"):
            solver.writeModel(str(tmp_path / f"written.{ending}"))
            qp = pc.QP.from_file(tmp_path / f"written.{ending}")
            order = [qp.names[0].index(f"v{j}") for j in range(n)]
            own = [qp.names[1].index(f"r{i}") for i in range(m) if f"r{i}" in qp.names[1]]
            kept = [int(qp.names[1][i][1:]) for i in own]
            assert (qp.maximise, qp.constant) == (bool(k % 2), pytest.approx(1.5))
            assert qp.q[order] == pytest.approx(q)
            assert qp.P.toarray()[np.ix_(order, order)] == pytest.approx(P, abs=1e-9)
            assert qp.A.toarray()[np.ix_(own, order)] == pytest.approx(A[kept])
            assert [(qp.l[i], qp.u[i]) for i in own] == [sides[rows[i]] for i in kept]
            lost = [i for i in range(m) if i not in kept]  # rows of 0, and of an LP file ranges, which are two rows
            assert not A[lost].any() or (ending == "lp" and {sides[i] for i in rows[lost]} <= {(-1.0, 3.0)})


def test_names_with_blanks_are_read_by_their_columns(read):
    text = (
        "NAME          BLANKS\nROWS\n N  MY COST\n L  ROW ONE\n G  ROW TWO\nCOLUMNS\n"
        "    COL A     MY COST            2.0   ROW ONE            1.0\n    COL A     ROW TWO            1.0\n"
        "    COL B     MY COST            1.0   ROW ONE            4.0\n"
        "RHS\n    RHS       ROW ONE            5.0\nBOUNDS\n UP BND       COL A              7.0\nENDATA\n"
    )
    qp = read(text)
    assert qp.names == (("COL A", "COL B"), ("ROW ONE", "ROW TWO", "bound of COL A", "bound of COL B"))
    assert (qp.q.tolist(), qp.u.tolist()) == ([2, 1], [5, np.inf, 7, np.inf])
    with pytest.raises(pc.errors.InputError, match="line 8: the row ROW TOO in COLUMNS is not defined"):
        read(text.replace("COL A     ROW TWO", "COL A     ROW TOO"))


def test_small_coefficients_are_read_or_refused(read):
    """HiGHS leaves out what is below 1e-9, if one lets it, and below 1e-12 in any case."""
    assert read(FILE.replace("Z         PROFIT    -1.0       TIE       -1.0", "Z   TIE   -1e-11")).A[2, 2] == -1e-11
    with pytest.raises(pc.errors.InputError, match=r"reads as it stands, .*1e-13.*: ignored"):
        read(FILE.replace("Z         PROFIT    -1.0       TIE       -1.0", "Z   TIE   -1e-13"))


def test_bounds_that_cross_are_both_named(read):
    for lines, said in (
        (" UP BND       Y         5.0\n LO BND       Y         6.0", "got 6 and 5 of Y in .*, lines 24 and 23"),
        (" UP BND       Y         -5.0\n LO BND       Y         -1.0", "got -1 and -5 of Y in .*, lines 24 and 23"),
    ):
        with pytest.raises(
            pc.errors.InputError, match=f"must have lower bounds that are at most the upper ones, {said}"
        ):
            read(FILE.replace(" UP BND       Y         5.0", lines))
    with pytest.raises(
        pc.errors.InputError, match=r"lower bounds that are at most the upper ones, got 5 and 3 of x in"
    ):
        read(LP.replace("x <= 3", "5 <= x <= 3"), "two.lp")


LP = "Minimize\n obj: 2 x + 3 y\nSubject To\n c1: x + y >= 4\nBounds\n x <= 3\nEnd\n"

LP_WRONG = {
    "a constant on the left": ("x + y >= 4", "x + y - 3 >= 4", r":4:12 .*move the constant to the right"),
    "brackets in a name": ("2 x + 3 y", "2 x[1] + 3 y", r"found `\[` .*:2:10"),
    "a range": ("x + y >= 4", "1 <= x + y <= 4", r"expected a number, found `x` .*:4:11"),
    "a variable on the right": ("x + y >= 4", "x >= 4 - y", r"expected a new line, found `-` .*:4:13"),
    "a misspelt variable": ("x <= 3", "z <= 3", "line 6: the variable z is in no row and not in the objective"),
    "no end": ("End\n", "", "expected `end`"),
}


@pytest.mark.parametrize("case", LP_WRONG)
def test_what_highs_says_of_an_lp_file_is_passed_on_with_line_and_column(read, case):
    before, after, said = LP_WRONG[case]
    with pytest.raises(pc.errors.InputError, match=f"file must be a program that HiGHS reads.*two.lp.*{said}"):
        read(LP.replace(before, after), "two.lp")


@pytest.mark.parametrize(
    ("row", "written"),
    [
        ("c1: 1 <= x + y <= 4", "c1: x + y >= 1\nc1_other: x + y <= 4"),
        ("  -4.5e0>=x - 2 y >= -5 \\ why", "x - 2 y <= -4.5e0\nx - 2 y >= -5"),
        ("c1: 1 <= x + y", "c1: x + y >= 1"),
        ("c1: 4 = x + y", "c1: x + y = 4"),
    ],
)
def test_a_row_that_begins_with_its_number_is_refused_with_the_row_to_write(read, row, written):
    """HiGHS stops there; what is to be written instead means the same, by the values of the rows."""
    with pytest.raises(pc.errors.InputError, match="a row has one side, and its number last: write ") as caught:
        read(LP.replace("c1: x + y >= 4", row), "two.lp")
    said = str(caught.value).partition("number last: write ")[2].removesuffix(", as two rows")
    assert said.split(" and ") == written.split("\n")
    qp = read(LP.replace("c1: x + y >= 4", said.replace(" and ", "\n")), "two.lp")
    numbers = {"4.5": (-np.inf, -4.5, -5, np.inf), "<= 4": (1, np.inf, -np.inf, 4), ": 1": (1, np.inf), "4 =": (4, 4)}
    expected = next(value for key, value in numbers.items() if key in row)
    sides = np.stack([qp.l[: len(expected) // 2], qp.u[: len(expected) // 2]], axis=1)
    assert sides.ravel().tolist() == list(expected)


def test_an_lp_file_that_says_things_twice_is_read_as_their_sum(read):
    qp = read(LP.replace("x + y >= 4", "x + 2 y + x - 1.5e0y >= 4"), "two.lp")
    assert qp.A.toarray()[0].tolist() == [2, 0.5]
    qp = read(LP.replace("3 y\n", "3 y + [ x * y + y * x + 4 y^2 ] / 2\n"), "two.lp")
    assert qp.P.toarray().tolist() == [[0, 1], [1, 4]]


def test_an_lp_file_needs_a_highspy_that_says_what_it_leaves_out(read, monkeypatch):
    highspy = pytest.importorskip("highspy")
    monkeypatch.setattr(highspy.Highs, "versionMinor", lambda self: 15)
    with pytest.raises(pc.errors.InputError, match=r"from_file needs highspy 1\.16 or later for an LP file, got"):
        read(LP, "two.lp")
    assert read(FILE).maximise


def test_what_is_no_program_is_refused(read, tmp_path):
    marked = FILE.replace(
        "    X         PROFIT    3.0        BUDGET    1.0",
        "    M1        'MARKER'   'INTORG'\n    X         PROFIT    3.0        BUDGET    1.0",
    ).replace("    Y         PROFIT    2.0", "    M2        'MARKER'   'INTEND'\n    Y         PROFIT    2.0")
    with pytest.raises(pc.errors.InputError, match="got the integer X in"):
        read(marked)
    with pytest.raises(pc.errors.InputError, match="file must be a program that HiGHS reads"):
        read("no such thing\n")
    endings = r"\.mps, \.qps, \.lp, or one of these and \.gz"
    with pytest.raises(pc.errors.InputError, match=rf"file must end in {endings}, got program\.txt"):
        read(FILE, "program.txt")
    with pytest.raises(pc.errors.InputError, match="file must be there"):
        pc.QP.from_file(tmp_path / "missing.mps")
