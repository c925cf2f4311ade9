"""`paretoclf trace MODEL.mps --move ...`: what is printed and written, beside HiGHS and the path in Python."""

from __future__ import annotations

import csv
import gzip
import json

import pytest
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.cli import main
from tests.problem.test_moved_numbers import by_highs
from tests.problem.test_mps import FILE

pytest.importorskip("highspy")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "goods.mps").write_text(FILE)

    def running(*words):
        status = main(["trace", *words])
        found = capsys.readouterr()
        return status, found.out, found.err

    return running


def test_a_row_a_breakpoint_with_the_value_and_what_changes(run):
    status, out, _ = run("goods.mps", "--move", "rhs:BUDGET=2..12")
    assert status == 0
    head, names, *rows = out.splitlines()
    assert head == "goods.mps: LP(3 variables, 6 rows, 1 of them equations, maximised, moved by rhs:BUDGET)"
    assert names.split() == ["t", "rhs:BUDGET", "value", "slope", "left", "slope", "right", "events"]
    assert rows[-2] == "slopes: rates of the value for a unit of rhs:BUDGET, towards smaller and larger t"
    for row in rows[:-2]:
        number, value = map(float, row.split()[1:3])
        assert value == pytest.approx(by_highs("goods.mps", [(("row", 0, "u"), number)]), abs=1e-4)
    assert rows[-1].startswith("Optimal at every t in [0, 1]")


def test_tables_paths_and_pages_are_written(run, tmp_path):
    status, out, _ = run("goods.mps", "--move", "rhs:BUDGET=2..12", "--csv", "p.csv", "--out", "o", "--html")
    assert (status, out.splitlines()[-1]) == (0, "wrote p.csv, o/path.npz, o/page.html")
    path = pc.load(tmp_path / "o" / "path.npz")
    with open(tmp_path / "p.csv", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert list(dict.fromkeys(float(row["t"]) for row in rows)) == path.breakpoints.tolist()
    for row in {row["t"]: row for row in rows}.values():  # of two with one t the second is to the right
        point = path.at(float(row["t"]))
        assert float(row["value"]) == point.value
        assert {name: float(row[name]) for name in point.variables} == point.variables
        assert {name: float(row[name]) for name in point.duals} == point.duals
    assert "rhs:BUDGET" in (tmp_path / "o" / "page.html").read_text()


def test_json_has_the_table_the_proof_and_why_it_ends(run):
    status, out, _ = run("goods.mps", "--move", "rhs:BUDGET=6..-4", "--json")
    found = json.loads(out)
    assert (status, found["status"], found["proof"]["passes"]) == (0, "infeasible", True)
    assert "no point satisfies BUDGET, NEED" in found["beyond"]
    assert found["breakpoints"][0]["X"] + found["breakpoints"][0]["Y"] == pytest.approx(6)


def test_a_compressed_file_is_a_program_too(run, tmp_path):
    (tmp_path / "packed.mps.gz").write_bytes(gzip.compress(FILE.encode()))
    status, out, _ = run("packed.mps.gz", "--move", "cost:X=1..5", "--move", "cost:Y=5..1")
    assert (status, out.splitlines()[1].split()[:3]) == (0, ["t", "cost:X", "cost:Y"])


def test_several_numbers_move_in_a_direction(run, tmp_path):
    moves = ["--move", "rhs:BUDGET=4", "--move", "cost:X=-50%", "--by=-0.5..1"]
    status, out, _ = run("goods.mps", *moves, "--out", "o")
    assert (status, out.splitlines()[1].split()[:3]) == (0, ["t", "units", "value"])
    qp = pc.QP.from_file("goods.mps")
    here, cost = float(qp.u[0]), float(qp.q[0])
    path = pc.load(tmp_path / "o" / "path.npz")
    for by in (-0.5, 0.0, 0.7):
        own = [(("row", 0, "u"), here + 4 * by), (("cost", 0, ""), cost * (1 - by / 2))]
        assert path.value(units=by) == pytest.approx(by_highs("goods.mps", own), abs=1e-9)
    assert main(["prove", "o/path.npz", "--level", "exact", "--out", "goods.proof.json", "--quiet"]) == 0
    assert main(["check", "goods.proof.json", "--model", "goods.mps", *moves]) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["goods.mps", "--move", "rhs:TIE=1..2", "--by", "0..1"], "--move must have numbers, got '1..2'"),
        (["goods.mps", "--move", "rhs:TIE=1", "--by", "1"], "--by must be FROM..TO, as 0..1 or, with an equals sign"),
        (["goods.mps", "--move", "rhs:TIE=1", "--by", "0..x"], "--by must have numbers, got 'x' in 0..x"),
        (["wdbc", "--by", "0..1"], "--by belongs to a program: .mps, .qps or .lp, got wdbc"),
        (["goods.mps"], "--move must say which number of the program moves, as rhs:CAP1=100..300, got none"),
        (["goods.mps", "--move", "rhs:TIE=3"], "--move must be WHAT=FROM..TO, as rhs:CAP1=100..300, got rhs:TIE=3"),
        (
            ["goods.mps", "--move", "rhs:TIE=1...3"],
            "--move must be WHAT=FROM..TO, as rhs:CAP1=100..300, got rhs:TIE=1.",
        ),
        (["goods.mps", "--move", "rhs:BUDGET=a..3"], "--move must have numbers, got 'a' in rhs:BUDGET=a..3"),
        (["goods.mps", *2 * ["--move", "rhs:TIE=0..3"]], "--move must name each number once, got rhs:TIE twice"),
        (["goods.mps", "--move", "rhs:B=0..3"], "--move must name a row of the program, got 'rhs:B'"),
        (["goods.mps", "--move", "rhs:TIE=0..3", "--label", "y"], "--label belongs to samples, and SOURCE"),
        (["wdbc", "--move", "rhs:TIE=0..3"], "--move belongs to a program: .mps, .qps or .lp, got wdbc"),
        (["none.mps", "--move", "rhs:TIE=0..3"], "file must be there, got none.mps"),
    ],
)
def test_bad_input_is_one_line_and_exit_status_2(run, words, said):
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert said in err


def test_a_saved_path_is_exported_as_pandas_reads_it(run, tmp_path, capsys):
    pandas = pytest.importorskip("pandas")
    run("goods.mps", "--move", "rhs:BUDGET=2..12", "--csv", "traced.csv", "--out", "o")
    assert main(["export", "o/path.npz", "--csv", "exported.csv"]) == 0
    assert (tmp_path / "exported.csv").read_text() == (tmp_path / "traced.csv").read_text()
    frame = pandas.read_csv(tmp_path / "exported.csv")
    path = pc.load("o/path.npz")
    qp = pc.QP.from_file("goods.mps", moves={"rhs:BUDGET": "rhs:BUDGET"})
    anew = pc.trace(qp, start={"rhs:BUDGET": 2}, stop={"rhs:BUDGET": 12})
    assert set(pc.verify(anew, frame).verdicts) == {"optimal"}
    capsys.readouterr()
    assert main(["export", "o/path.npz", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["breakpoints"][0]["X"] == path.at(0.0).variables["X"]
    assert main(["export", "o/path.npz"]) == 0
    assert "rhs:BUDGET" in capsys.readouterr().out
    assert main(["export", "goods.mps"]) == 2


def test_a_map_is_no_path_and_its_table_is_written_elsewhere(run, tmp_path, capsys):
    words = ["goods.mps", "--move", "rhs:BUDGET=2..12", "--move", "cost:Y=0..3"]
    assert main(["plane", *words, "--out", "map.npz"]) == 0
    assert main(["export", "map.npz"]) == 2
    assert "with a ProblemMap: to_frame() in Python and plane --csv write its table" in capsys.readouterr().err
    assert main(["plane", *words, "--csv", "map.csv"]) == 0
    assert len((tmp_path / "map.csv").read_text().splitlines()) == 1 + len(pc.load("map.npz").regions)


def test_a_path_of_costs_is_exported_too(tmp_path, capsys):
    svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    path = pc.trace(svm, start=(0, 0), stop=(1, 1))
    path.save(tmp_path / "svm.npz")
    assert main(["export", str(tmp_path / "svm.npz"), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["breakpoints"]
    assert [row["value"] for row in rows] == [path.value(row["t"]) for row in rows]
    assert rows[-1]["w[0]"] == pytest.approx(path.at(1.0).classifier.w[0])


def test_the_model_at_one_cost_is_exported(tmp_path, capsys):
    """The row is the machine that scikit-learn fits at these costs."""
    X, y = [[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]
    pc.trace(pc.TwoCSVM(X, y), start=(0.1, 1), stop=(1, 0.1)).save(tmp_path / "svm.npz")
    ask = ["export", str(tmp_path / "svm.npz"), "--at", "C_plus=0.7", "--at", "0"]
    assert main([*ask, "--csv", str(tmp_path / "models.csv")]) == 0
    for row in csv.DictReader((tmp_path / "models.csv").read_text().splitlines()):
        cost = {1: float(row["C_plus"]), -1: float(row["C_minus"])}
        fitted = SVC(kernel="linear", C=1.0, class_weight=cost, tol=1e-12).fit(X, y)
        assert [float(row["w[0]"]), float(row["b"])] == pytest.approx([*fitted.coef_[0], *fitted.intercept_])
    assert float(row["t"]) == 0.0
    assert main(ask) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[1].split() == ["optimum", "1", "optimum", "2"]
    assert said[3].split() == ["C_plus", "0.7", "0.1"]
    for wrong, told in (
        ("x", "--at must be a t or NAME=VALUE, as 0.5 or t=0.5, got 'x'"),
        ("C=1", "--at C=1: one of t, C_plus, C_minus must be given, got C"),
        ("C_plus=3", "--at C_plus=3: C_plus must lie between 0.1 and 1, got 3.0"),
    ):
        assert main(["export", str(tmp_path / "svm.npz"), "--at", wrong]) == 2
        assert told in capsys.readouterr().err


def test_the_plan_at_one_number_has_two_columns_where_a_price_jumps(run, capsys):
    assert run("goods.mps", "--move", "rhs:BUDGET=2..12", "--out", "o")[0] == 0
    path = pc.load("o/path.npz")
    inner = float(path.breakpoints[2])
    assert main(["export", "o/path.npz", "--at", "rhs:BUDGET=3.5", "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["breakpoints"]
    there = path.at(**{"rhs:BUDGET": 3.5})
    assert {name: row[name] for name in there.variables} == there.variables
    assert main(["export", "o/path.npz", "--at", repr(inner), "--json"]) == 0
    both = json.loads(capsys.readouterr().out)["breakpoints"]
    assert len(both) == 2
    assert both[0]["BUDGET"] != both[1]["BUDGET"]


def test_a_certificate_is_compared_with_the_model(run, capsys):
    assert run("goods.mps", "--move", "rhs:BUDGET=2..12", "--out", "traced")[0] == 0
    assert main(["prove", "traced/path.npz", "--level", "exact", "--out", "goods.proof.json", "--quiet"]) == 0
    own = ["check", "goods.proof.json", "--model", "goods.mps", "--move"]
    assert main([*own, "rhs:BUDGET=2..12"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("PROVED")
    assert "goods.mps: It states this model: 3 columns, " in said
    assert main([*own, "rhs:BUDGET=2..11"]) == 2
    assert "the upper bound of BUDGET at t = 1 is 12.0 there, and 11.0 in the model" in capsys.readouterr().err
    assert main(["check", "goods.proof.json", "--move", "rhs:BUDGET=2..12"]) == 2
    assert "say how a model is read: give it by --model" in capsys.readouterr().err
