"""Points of a program as solvers and SciPy hand them over: optimal as they stand, refuted where a number is changed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import OptimizeResult, linprog

import paretoclf as pc
from paretoclf.checking.program_solutions import of_result, read_solution

pytest.importorskip("highspy")

#: Files that HiGHS 1.16, Gurobi 13.0.3, CPLEX 22.2, CBC of PuLP 2.9, GLPK 5.0 and SCIP (pyscipopt 6.3) wrote.
STORED = Path(__file__).resolve().parents[1] / "stored" / "solutions"
WITH_DUALS = ["highs.sol", "highs_pretty.sol", "cbc_all.sol", "glpk.sol", "glpk_raw.sol", "gurobi.json", "cplex.sol"]
MINIMISED = [
    "highs_min.sol",
    "highs_pretty_min.sol",
    "cbc_all_min.sol",
    "glpk_min.sol",
    "glpk_raw_min.sol",
    "cplex_min.sol",
]
WITHOUT = ["highs_sparse.sol", "cbc.sol", "scip.sol", "gurobi.sol"]

#: The optimum and its multipliers, by hand: a unit of BUDGET is X, 3 - 1; of the bound of Y it is 2.5 - 2.
VALUES = {"X": 1.0, "Y": 5.0, "Z": 0.5, "W": 0.0}
DUALS = {
    "BUDGET": 2.0,
    "NEED": 0.0,
    "TIE": 1.0,
    "A_VERY_LONG_NAME_OF_A_ROW": 0.0,
    "bound of Y": 0.5,
    "bound of W": -1.0,
}


@pytest.fixture(scope="module")
def goods():
    return pc.QP.from_file(STORED / "goods.lp")


@pytest.mark.parametrize("name", [*WITH_DUALS, *MINIMISED, *WITHOUT])
def test_what_a_solver_wrote_is_read(goods, name):
    qp = pc.QP.from_file(STORED / "goods_min.lp") if "_min" in name else goods
    values, duals = read_solution(STORED / name, qp)
    assert values == VALUES
    if name in WITHOUT:
        assert not {each for each, number in duals.items() if number}
    else:  # multipliers of minus the objective are those of the minimised one
        assert {each: number for each, number in duals.items() if each in DUALS} == DUALS
        assert not {each for each, number in duals.items() if each not in DUALS and number}
    assert pc.verify(qp, STORED / name).status == "optimal"


@pytest.mark.parametrize("last", [False, True])
def test_the_row_of_the_objective_stands_where_the_solver_has_it(goods, tmp_path, last):
    """HiGHS writes GLPK's short form, with that row last: it was taken for the first, and prices were wrong."""
    own, objective = ["i {} u 6 2", "i {} b 5 0", "i {} s 0.5 1", "i {} b 1 0"], "i {} b 15 0"
    rows = [*own, objective] if last else [objective, *own]
    numbered = [row.format(k) for k, row in enumerate(rows, 1)]
    columns = ["j 1 b 1 0", "j 2 u 5 0.5", "j 3 b 0.5 0", "j 4 l 0 -1"]
    file = tmp_path / "highs.sol"
    file.write_text("\n".join(["c Problem:    ", "s bas 5 4 f f 15", *numbered, *columns, "e o f"]))
    _, duals = read_solution(file, goods)
    assert {each: number for each, number in duals.items() if each in DUALS} == DUALS
    assert pc.verify(goods, file).status == "optimal"


def test_where_it_is_open_which_row_is_the_objective_no_prices_are_read(goods, tmp_path):
    rows = ["i 1 b 15 0", "i 2 u 6 2", "i 3 b 15 0", "i 4 s 0.5 1", "i 5 b 1 0"]
    columns = ["j 1 b 1 0", "j 2 u 5 0.5", "j 3 b 0.5 0", "j 4 l 0 -1"]
    file = tmp_path / "glpk.sol"
    file.write_text("\n".join(["c Problem:    ", "s bas 5 4 f f 15", *rows, *columns, "e o f"]))
    assert not any(read_solution(file, goods)[1].values())


@pytest.mark.parametrize("name", WITH_DUALS)
def test_a_dual_that_is_changed_is_wrong(goods, tmp_path, name):
    text = (STORED / name).read_text()
    changed = {
        "gurobi.json": (r'"Pi": 2\b', '"Pi": 2.5'),
        "glpk_raw.sol": (r"i 1 u 6 2", "i 1 u 6 2.5"),
        "highs.sol": (r"BUDGET 2\nNEED 0", "BUDGET 2.5\nNEED 0"),
        "highs_pretty.sol": (r" 2  BUDGET", " 2.5  BUDGET"),
        "cbc_all.sol": (r"(BUDGET +6 +)2\n", r"\g<1>2.5\n"),
        "glpk.sol": (r"(BUDGET .*)  2 \n", r"\g<1>2.5 \n"),
        "cplex.sol": (r'dual="2"', 'dual="2.5"'),
    }[name]
    assert len(re.findall(changed[0], text)) == 1
    (tmp_path / name).write_text(re.sub(*changed, text))
    assert pc.verify(goods, tmp_path / name).status == "not optimal"


@pytest.mark.parametrize("name", ["highs.sol", "cbc.sol", "scip.sol", "gurobi.sol", "glpk.sol"])
def test_a_value_that_is_changed_is_not_optimal(goods, tmp_path, name):
    lines = (STORED / name).read_text().splitlines()
    number = next(k for k, line in enumerate(lines) if re.search(r"\bY\b.* 5\b|^Y 5$", line))
    lines[number] = re.sub(r"\b5\b", "4", lines[number], count=1)
    (tmp_path / name).write_text("\n".join(lines))
    assert pc.verify(goods, tmp_path / name).status == "not optimal"


def test_cplex_leaves_out_zeros_where_its_write_level_says_so(goods, tmp_path):
    """The reduced cost of W is -1, and left out with its value: no row says anything of it."""
    values, duals = read_solution(STORED / "cplex_sparse.sol", goods)
    assert (values, duals["BUDGET"], "bound of W" in duals) == (VALUES, 2.0, False)
    assert pc.verify(goods, STORED / "cplex_sparse.sol").status == "optimal"
    text = (STORED / "cplex_sparse.sol").read_text()
    (tmp_path / "p.sol").write_text(text.replace('writeLevel="3"', 'writeLevel="1"'))
    with pytest.raises(pc.InputError, match="must have a number for each variable, got none for 'W'"):
        pc.verify(goods, tmp_path / "p.sol")
    (tmp_path / "p.sol").write_text(text.replace('dual="1"', 'dual="3"'))
    assert pc.verify(goods, tmp_path / "p.sol").status == "not optimal"


def test_cplex_writes_minus_a_maximised_objective_into_mps_and_its_duals_are_of_the_objective(goods, tmp_path):
    """By the value in the file: at a value of 0 nobody knows, and the duals are those of the program."""
    minimised = pc.QP.from_file(STORED / "goods_min.lp")  # as in the MPS file beside the solution of the maximisation
    found = pc.verify(minimised, STORED / "cplex.sol")
    assert found.passes()
    assert pc.verify(goods, STORED / "cplex_min.sol").passes()
    assert read_solution(STORED / "cplex.sol", minimised) == read_solution(STORED / "cplex_min.sol", minimised)
    text = (STORED / "cplex.sol").read_text()
    (tmp_path / "p.sol").write_text(text.replace('objectiveValue="15"', 'objectiveValue="14"'))
    assert "With the opposite sign they are right" in pc.verify(minimised, tmp_path / "p.sol").explain()


def test_rows_with_two_sides_and_names_of_both_kinds(tmp_path):
    """Gurobi adds a variable to a row with two sides, and says it."""
    text = "Minimize\n obj: a + b\nSubject To\n both: a + b >= 1\nEnd\n"
    (tmp_path / "p.lp").write_text(text)
    (tmp_path / "p.sol").write_text("# Solution for model p\n# Objective value = 1\na 1\nb 0\nMPS_Rgboth 0\n")
    assert pc.verify(pc.QP.from_file(tmp_path / "p.lp"), tmp_path / "p.sol").status == "optimal"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Model status\nInfeasible\n\n# Primal solution values\nNone\n",
            "a file without one: its model status is Infe",
        ),
        ("Infeasible - objective value 3\n      0 X   1   0\n", "a file without one: Infeasible - objective value 3"),
        ("solution status: infeasible\nno solution available\n", "a file without one: no solution available"),
        ("# Objective value = 2\nX 1\nY 5\nZ 0.5\n", "must have a number for each variable, got none for 'W'"),
        ("# Objective value = 2\nX 1\nV 5\n", "must have variables of the program, got 'V'"),
        ("objective value: 2\nX one\n", "must have numbers, got 'one' in 'X one'"),
        ("Optimal - objective value 2\n 0 X 1\n", "must have a number, a name, a value and a dual in each line"),
        ("s bas 1 1 f f 5\nj 1 b 2 0\n", "must have the 4 variables of the program, got 1"),
        ("Problem: goods\nRows: 4\n", "a file without one: it has no table of columns"),
        (
            "<?xml version='1.0'?>\n<osrl/>",
            "a solver that is known, got XML of <osrl>; read are solution files of HiGHS",
        ),
        ("<CPLEXSolution>\n <variables>\n", "must be whole, got XML that ends or breaks: no element found"),
        (
            '<CPLEXSolution>\n <header solutionStatusString="infeasible"/>\n</CPLEXSolution>',
            "a file without one: its status is infeasible",
        ),
        (
            "<CPLEXSolutions><CPLEXSolution/><CPLEXSolution/></CPLEXSolutions>",
            "must be one, got a pool of 2: keep one <CPLEXSolution> in the file",
        ),
        ("X,1\nX,2\n", "must have each name once, got 'X' twice"),
        ("X,1\nQ,2\n", "must have names of the program, got 'Q'"),
    ],
)
def test_what_holds_no_solution_of_the_program_is_refused(goods, tmp_path, text, said):
    (tmp_path / "p.sol").write_text(text)
    with pytest.raises(pc.InputError, match=said) as caught:
        pc.verify(goods, tmp_path / "p.sol")
    assert "p.sol" in str(caught.value)


@pytest.mark.parametrize(
    ("header", "sign", "program"),
    [
        ("name,value,dual", 1, "goods.lp"),
        (",x,Shadow Price", 1, "goods.lp"),  # it is maximised: both conventions are one
        ("name,value,dual", 1, "goods_min.lp"),
        ("Name,Final Value,reduced_cost", -1, "goods_min.lp"),
    ],
)
def test_a_table_may_have_a_column_of_multipliers(tmp_path, header, sign, program):
    qp = pc.QP.from_file(STORED / program)
    lines = [header, "X,1,0", f"Y,5,{0.5 * sign}", "Z,0.5,", f"W,0,{-1 * sign}"]
    lines += [f"BUDGET,6,{2 * sign}", "NEED,5,0", f"TIE,0.5,{sign}", "A_VERY_LONG_NAME_OF_A_ROW,,0"]
    file = tmp_path / "table.csv"
    file.write_text("\n".join(lines))
    values, duals = read_solution(file, qp)
    assert values == VALUES
    assert {name: number for name, number in duals.items() if number} == {k: v for k, v in DUALS.items() if v}
    assert pc.verify(qp, file).status == "optimal"
    file.write_text("\n".join(lines).replace(f"BUDGET,6,{2 * sign}", f"BUDGET,6,{3 * sign}"))
    assert pc.verify(qp, file).status == "not optimal"


def test_a_file_of_solvers_signs_has_them_read_where_its_column_says_price(tmp_path):
    qp = pc.QP.from_file(STORED / "goods_min.lp")
    file = tmp_path / "table.csv"
    lines = "X,1,\nY,5,-0.5\nZ,0.5,\nW,0,1\nBUDGET,,-2\nTIE,,-1\nNEED,,0\n"
    file.write_text("name,value,dual\n" + lines)
    assert "wrong dual" in repr(pc.verify(qp, file))
    assert "With the opposite sign they are right" in pc.verify(qp, file).explain()
    file.write_text("name,value,price\n" + lines)
    assert pc.verify(qp, file).passes()


@pytest.mark.parametrize(
    ("header", "flipped", "number", "meant", "change"),
    [
        ("price", "all", "2 and must not be positive", "rates of the value, as solvers print them", "dual"),
        ("marginal", "all", "2 and must not be positive", "rates of the value, as solvers print them", "dual"),
        ("dual", "all", "-2 and must not be negative", "OSQP's sign is meant, positive where an upper side", "price"),
        ("price", "rows", "2 and must not be positive", "rates of the value, as solvers print them", "the rows"),
        ("price", "bounds", "-1 and must not be negative", "rates of the value", "the bounds of variables"),
    ],
)
def test_the_advice_on_signs_names_the_column_and_a_change_that_works(tmp_path, header, flipped, number, meant, change):
    """Prices of the rows are -2 and -1, and W has a reduced cost of 1: all as solvers print them."""
    qp = pc.QP.from_file(STORED / "goods_min.lp")
    given = -1 if header == "dual" else 1

    def write(rows, bounds, header):
        lines = f"X,1,\nY,5,{-0.5 * bounds}\nZ,0.5,\nW,0,{bounds}\nBUDGET,,{-2 * rows}\nTIE,,{-rows}\nNEED,,0\n"
        (tmp_path / "table.csv").write_text(f"name,value,{header}\n{lines}")
        return pc.verify(qp, tmp_path / "table.csv")

    turn = {"rows": -1 if flipped != "bounds" else 1, "bounds": -1 if flipped != "rows" else 1}
    assert write(given, given, header).passes()
    said = write(given * turn["rows"], given * turn["bounds"], header).explain()
    assert f"in the column `{header}` is {number}" in said
    assert f"Column `{header}`: {meant}" in said
    if flipped == "all":
        assert f"With the opposite sign they are right: under the header `{change}` as they stand." in said
        assert write(-given, -given, change).passes()
    else:
        assert f"With the opposite sign of those of {change} they are right" in said


def test_tables_and_series_of_pandas_are_read_by_their_names(goods):
    """A Series was taken for an array, whatever its labels said."""
    pandas = pytest.importorskip("pandas")
    values = pandas.Series({"W": 0.0, "Z": 0.5, "Y": 5.0, "X": 1.0})
    duals = pandas.Series({"TIE": 1.0, "BUDGET": 2.0, "NEED": 0.0, "A_VERY_LONG_NAME_OF_A_ROW": 0.0})
    assert pc.verify(goods, values, duals).passes()
    assert not pc.verify(goods, values, 2.0 * duals).passes()
    assert pc.verify(
        goods, pandas.Series([1.0, 5.0, 0.5, 0.0])
    ).passes()  # without names its order is all that there is
    columns = {"name": [*values.index, *duals.index], "value": [*values, 0.5, 6.0, 5.0, 1.0]}
    table = pandas.DataFrame(columns | {"price": [-1.0, 0.0, 0.5, 0.0, *duals]})
    assert pc.verify(goods, table).passes()
    assert pc.verify(goods, table.set_index("name")).passes()
    assert not pc.verify(goods, table.assign(price=-table["price"])).passes()
    qp = pc.QP(None, [1.0], [[1.0]], [1.0])
    with pytest.raises(pc.InputError, match="must be arrays for a QP without names, got a table"):
        pc.verify(qp, table)
    with pytest.raises(pc.InputError, match="this QP has no names, got a mapping"):
        pc.verify(qp, pandas.Series({"x": 1.0, "z": 2.0}))


def test_names_of_both_kinds_are_told_apart_in_a_table(tmp_path):
    (tmp_path / "p.lp").write_text("Minimize\n obj: a + 2 b\nSubject To\n a: a + b >= 3\nEnd\n")
    qp = pc.QP.from_file(tmp_path / "p.lp")
    file = tmp_path / "table.csv"
    file.write_text("x:a,3\nb,0\nrow:a,-1\n")
    assert read_solution(file, qp) == ({"a": 3.0, "b": 0.0}, {"a": -1.0})
    assert pc.verify(qp, file).passes()
    file.write_text("a,3\nb,0\n")
    with pytest.raises(pc.InputError, match="must say x:a or row:a, which are two, got 'a'"):
        pc.verify(qp, file)


def test_reduced_costs_that_are_missing_are_worked_out(goods, tmp_path):
    file = tmp_path / "table.csv"
    values = "X,1\nY,5\nZ,.5\nW,0\n"
    file.write_text(values + "BUDGET,2\nTIE,1\nNEED,0\nA_VERY_LONG_NAME_OF_A_ROW,0\n")
    found = pc.verify(goods, file)
    said = "Reduced costs that were not given, 3, are worked out from the duals of the rows."
    assert (found.status, found.explain().endswith(said)) == ("optimal", True)
    assert max(found.certificate.multipliers.values(), default=0.0) < 1e-9
    of_bounds = [np.abs(row.multiplier).tolist() for row in found.conditions if "bound" in row.name]
    assert np.sort(np.concatenate(of_bounds))[-2:].tolist() == [1.0, 2.0]
    file.write_text(values + "BUDGET,2.9\nTIE,1\nNEED,0\nA_VERY_LONG_NAME_OF_A_ROW,0\n")
    assert pc.verify(goods, file).status == "not optimal"  # of X nothing but 0 would do
    file.write_text(values + "BUDGET,2\n")
    said = pc.verify(goods, file).explain()
    assert ("Multipliers of NEED, TIE, A_VERY_LONG_NAME_OF_A_ROW, ... were not" in said, "prove" in said) == (
        True,
        False,
    )
    file.write_text(values)
    assert "not given" not in pc.verify(goods, file).explain()


@pytest.mark.parametrize(
    "lines", ["X,1\nY,5\nZ,0.5\n*,0\n", "*,0\nX,1\nY,5\nZ,0.5\n", "name,value,dual\n*,0,\nX,1,\nY,5,\nZ,.5,\n"]
)
def test_a_table_that_leaves_out_zeros_says_so(goods, tmp_path, lines):
    file = tmp_path / "table.csv"
    file.write_text(lines)
    assert read_solution(file, goods) == (VALUES, {})
    assert pc.verify(goods, file).status == "optimal"
    file.write_text(re.sub(r"\*,0,?\n", "", lines))
    with pytest.raises(
        pc.InputError, match=r"got none for 'W': where variables that are 0 are left out, a line '\*,0'"
    ):
        pc.verify(goods, file)


@pytest.mark.parametrize(
    "text",
    [
        "name;value\nX;1\nY;5\nZ;0.5\nW;0\n",
        "X\t1\nY\t5\nZ\t0.5\nW\t0\n",
        "index,name,value\n0,X,1\n1,Y,5\n2,Z,0.5\n3,W,0\n",
        "name,value,status\nX,1,B\nY,5,U\nZ,0.5,B\nW,0,L\nBUDGET,6,U\n",  # of rows it has values, and no multipliers
    ],
)
def test_tables_as_others_write_them(goods, tmp_path, text):
    (tmp_path / "table.csv").write_text(text)
    assert read_solution(tmp_path / "table.csv", goods) == (VALUES, {})


def test_a_table_in_another_encoding_says_so(goods, tmp_path):
    (tmp_path / "table.csv").write_bytes("größe,1\n".encode("latin-1"))
    with pytest.raises(pc.InputError, match="save it as UTF-8"):
        pc.verify(goods, tmp_path / "table.csv")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("X,1,0\nY,5,0\n", r"in each line, got 'X,1,0'; a third column needs a header, name,value,dual"),
        ("name,number,status\nX,1,B\n", "must have columns name,value,dual .* got 'name,number,status'"),
        ("name,value,dual,price\nX,1,0,0\n", "must have columns name,value,dual .* got 'name,value,dual,price'"),
        ("name,value,dual\nX,1\n", "must have a name and a number in each line, got 'X,1'"),
        ("name,value,dual\nX,1,B\n", "must have a name and a number in each line, got 'X,1,B'"),
        ("name,value,dual\nX,1,0\nX,1,0\n", "must have each name once, got 'X' twice"),
    ],
)
def test_a_table_that_is_torn_is_refused(goods, tmp_path, text, said):
    (tmp_path / "table.csv").write_text(text)
    with pytest.raises(pc.InputError, match=said):
        pc.verify(goods, tmp_path / "table.csv")


def test_a_file_needs_names(tmp_path):
    shutil.copy(STORED / "highs.sol", tmp_path)
    with pytest.raises(pc.InputError, match="must be arrays for a QP without names, got a file"):
        pc.verify(pc.QP(None, [1.0], [[1.0]], [0.0], None), tmp_path / "highs.sol")


def random_linprog(seed):
    """A feasible, bounded program as linprog states it."""
    rng = np.random.default_rng(seed)
    n = 6
    inside = rng.uniform(1, 2, n)
    ub, eq = rng.normal(size=(5, n)), rng.normal(size=(2, n))
    return {
        "c": rng.normal(size=n),
        "A_ub": ub,
        "b_ub": ub @ inside + rng.uniform(0.1, 1, 5),
        "A_eq": eq,
        "b_eq": eq @ inside,
        "bounds": [(0, 5)] * (n - 1) + [(1.0, None)],
    }


@pytest.mark.parametrize("seed", range(8))
def test_a_result_of_linprog_is_judged_with_its_marginals(seed):
    given = random_linprog(seed)
    found = linprog(**given)
    n = given["c"].size
    bounds = np.array([[low, np.inf if high is None else high] for low, high in given["bounds"]])
    A = np.vstack([given["A_eq"], -given["A_ub"], np.eye(n)])
    low = np.concatenate([given["b_eq"], -given["b_ub"], bounds[:, 0]])
    high = np.concatenate([given["b_eq"], np.full(5, np.inf), bounds[:, 1]])
    qp = pc.QP(None, given["c"], A, low, high)  # rows from above are minus those from below
    assert pc.verify(qp, found).status == "optimal"
    _, y = of_result(found, qp)
    assert np.abs(given["c"] + A.T @ y).max() < 1e-9
    worse = OptimizeResult(found | {"x": np.array(found.x) + 0.01})
    assert pc.verify(qp, worse).status == "not optimal"
    marginals = OptimizeResult(found | {"eqlin": {"marginals": found.eqlin.marginals + 1}})
    assert pc.verify(qp, marginals).status == "not optimal"


def test_results_that_do_not_fit_are_refused_and_points_alone_are_judged():
    qp = pc.QP(None, [1.0, 1.0], [[1.0, 1.0]], [1.0], None)
    assert pc.verify(qp, OptimizeResult(x=np.array([0.5, 0.5]))).status == "optimal"
    with pytest.raises(pc.InputError, match="got an OptimizeResult without x: The problem is infeasible"):
        pc.verify(qp, linprog([1.0], A_ub=[[1.0], [-1.0]], b_ub=[1.0, -2.0]))
    with pytest.raises(pc.InputError, match=r"rows must be those of linprog in their order .* got 2 and 0 marginals"):
        pc.verify(qp, linprog([1.0, 1.0], A_ub=[[-1.0, -1.0], [1.0, 0.0]], b_ub=[-1.0, 3.0]))
