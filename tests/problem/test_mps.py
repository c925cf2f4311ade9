"""Programs in MPS, QPS and LP files: what each section means, beside what is computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

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


def test_what_is_no_program_is_refused(read, tmp_path):
    marked = FILE.replace(
        "    X         PROFIT    3.0        BUDGET    1.0",
        "    M1        'MARKER'   'INTORG'\n    X         PROFIT    3.0        BUDGET    1.0",
    ).replace("    Y         PROFIT    2.0", "    M2        'MARKER'   'INTEND'\n    Y         PROFIT    2.0")
    with pytest.raises(pc.errors.InputError, match="got the integer X in"):
        read(marked)
    with pytest.raises(pc.errors.InputError, match="file must be a program that HiGHS reads"):
        read("no such thing\n")
    with pytest.raises(pc.errors.InputError, match=r"file must end in \.mps, \.qps, \.lp, got program\.txt"):
        read(FILE, "program.txt")
    with pytest.raises(pc.errors.InputError, match="file must be there"):
        pc.QP.from_file(tmp_path / "missing.mps")
