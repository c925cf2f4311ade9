"""The command line, in process: what it prints, what it writes, and what it says when the input is bad."""

from __future__ import annotations

import html
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.cli import duration, main, study
from paretoclf.cli.files import staged, to_json
from paretoclf.cli.study import lines_of
from paretoclf.common.errors import DegeneratePathError
from paretoclf.datasets import load

FILES = {"roc.png", "path.png", "path.npz", "ray.npz", "model.json", "report.json"}


def write_csv(file, n=40, seed=0, labels=("no", "yes"), header="a,b,c,outcome", change=None):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 5 < 2
    X = rng.normal(size=(n, 3)) + 0.8 * np.where(positive, 1, -1)[:, None]
    rows = [[f"{v:.6f}" for v in x] + [labels[int(p)]] for x, p in zip(X, positive, strict=True)]
    if change is not None:
        row, column, text = change
        rows[row][column] = text
    file.write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n")
    return X, np.where(positive, 1.0, -1.0)


@pytest.fixture
def csv(tmp_path):
    file = tmp_path / "small.csv"
    write_csv(file)
    return file


@pytest.fixture(scope="module")
def wdbc(tmp_path_factory):
    """One run that many tests look at: (output folder, report)."""
    out = tmp_path_factory.mktemp("wdbc") / "out"
    assert main(["trace", "wdbc", "--n", "80", "--seed", "3", "--out", str(out), "--quiet"]) == 0
    return out, json.loads((out / "report.json").read_text())


def names(folder):
    return {file.name for file in folder.iterdir()}


def test_trace_prints_what_it_found_and_writes_all_files(csv, tmp_path, capsys):
    out = tmp_path / "deep" / "out"
    arguments = ["--label", "outcome", "--positive", "yes", "--out", str(out)]
    assert main(["trace", str(csv), *arguments]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert names(out) == FILES
    assert names(tmp_path) == {"small.csv", "deep"}  # no temporary folder stays
    assert names(tmp_path / "deep") == {"out"}
    report = json.loads((out / "report.json").read_text())
    lines = printed.out.splitlines()
    assert lines[0].split(maxsplit=1)[1] == "small: 40 samples, 3 features, 16 positive (yes), 24 negative (no)"
    assert "linear; features standardised" in lines[1]
    for name in ("ray", "asymmetry line"):
        [row] = [line for line in lines if line.startswith(name)]
        assert int(row.removeprefix(name).split()[0]) == report["lines"][name]["breakpoints"]
    for vary, curve in report["held_out"]["curves"].items():
        [row] = [line for line in lines if line.startswith(f"  {vary} ")]
        assert row.index(f"{curve['nested']['auc']:.4f}") < row.rindex(f"{curve['envelope']['auc']:.4f}")
        assert curve["envelope"]["optimistic"]
        assert len(curve["nested"]["areas"]) == report["held_out"]["repeats"] == 3
    assert report["held_out"]["curves"]["both"]["every_point"] is None
    [heading] = [line for line in lines if "chosen here (optimistic)" in line]
    assert heading.index("chosen elsewhere") < heading.index("chosen here (optimistic)")
    assert "on validation folds inside each training part" in printed.out
    assert "at 20 costs" in printed.out
    cost, proof, wrote = lines[-3:]  # what to take away stands last
    at = report["held_out"]["cost"]
    assert cost.startswith("held-out cost  ")
    assert cost.endswith(" a sample; a miss costs 1, a false alarm 1")
    for vary, chosen in at["chosen_elsewhere"].items():
        assert f"{chosen['cost']:.4f} ({vary})" in cost
        errors = 0.4 * (1 - chosen["tpr"]) + 0.6 * chosen["fpr"]  # 16 of 40 are positive
        assert chosen["cost"] == pytest.approx(errors, abs=1e-12)
    assert proof.startswith("worst proof    gap ")
    assert f"every point of {sum(line['segments'] for line in report['lines'].values())} segments is proved" in proof
    assert all(str(out / name) in wrote for name in FILES)


def test_the_cost_to_expect_is_that_of_the_costs_of_use(csv, tmp_path, capsys):
    arguments = ["--label", "outcome", "--positive", "yes", "--repeats", "1", "--costs", "5", "0.5"]
    assert main(["trace", str(csv), *arguments, "--json", "--out", str(tmp_path / "out")]) == 0
    at = json.loads(capsys.readouterr().out)["held_out"]["cost"]
    assert (at["C_plus"], at["C_minus"], at["prior_plus"]) == (5.0, 0.5, 0.4)
    data = load(csv, label="outcome", positive="yes")
    start, stop = (pc.Costs.from_asymmetry(g, 2.0) for g in (0.02, 0.98))
    nested = pc.cross_validated_roc(
        pc.TwoCSVM(data.X, data.y), start, stop, "both", folds=5, repeats=1, transformer=StandardScaler()
    )
    expected = nested.select((5.0, 0.5))
    assert at["chosen_elsewhere"]["both"]["cost"] == pytest.approx(expected.cost, abs=1e-12)


def test_a_report_for_people(csv, tmp_path, capsys):
    arguments = ["--label", "outcome", "--positive", "yes", "--repeats", "1", "--html", "--out", str(tmp_path / "out")]
    assert main(["trace", str(csv), *arguments]) == 0
    printed = capsys.readouterr().out
    assert names(tmp_path / "out") == {*FILES, "report.html", "page.html"}
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 2
    assert 'href="page.html"' in page
    assert "http" not in page
    for line in printed.splitlines():
        assert html.escape(line) in page
    assert (tmp_path / "out" / "page.html").stat().st_size > 10_000


def test_report_agrees_with_the_saved_paths(wdbc):
    out, report = wdbc
    data = load("wdbc", n=80, rng=3)
    assert report["data"]["samples"] == 80
    assert report["data"]["features"] == 30
    assert report["data"]["positive"] == {"label": "malignant", "samples": data.n_plus}
    assert report["data"]["negative"] == {"label": "benign", "samples": data.n_minus}
    scaler = StandardScaler().fit(data.X)
    for name, file in (("asymmetry line", "path.npz"), ("ray", "ray.npz")):
        path, line = pc.load(out / file), report["lines"][name]
        np.testing.assert_allclose(path.gram.X, scaler.transform(data.X), atol=1e-12)
        assert line["breakpoints"] == path.breakpoints.size
        assert line["segments"] == len(path.proof)
        assert line["worst_residual"] == path.proof.residual.max()
        assert line["worst_residual"] <= 1e-8
        assert line["worst_gap"] <= 1e-9
        assert line["cvxpy"]["worst_relative_difference"] <= 1e-9
        assert line["seconds"] == path.seconds
    assert report["cvxpy"]["costs"] == 20
    assert report["held_out"]["folds"] == 5


def test_held_out_auc_is_that_of_libsvm(wdbc):
    # "intercept": SVC(C=1) on each training part, scores of all folds pooled.
    _, report = wdbc
    data = load("wdbc", n=80, rng=3)
    scores = np.empty(data.n)
    for train, test in StratifiedKFold(5, shuffle=True, random_state=3).split(data.X, data.y):
        model = make_pipeline(StandardScaler(), SVC(kernel="linear", C=1.0, tol=1e-8))
        scores[test] = model.fit(data.X[train], data.y[train]).decision_function(data.X[test])
    curves = report["held_out"]["curves"]
    assert curves["intercept"]["every_point"]["auc"] == pytest.approx(roc_auc_score(data.y, scores), abs=1e-9)
    both = curves["both"]["envelope"]["auc"]
    assert all(both >= curve["envelope"]["auc"] - 1e-12 for curve in curves.values())


def test_the_command_does_not_call_noise_separable(tmp_path, capsys):
    rng = np.random.default_rng(2)
    rows = [[*(f"{v:.6f}" for v in x), ("no", "yes")[int(rng.random() < 0.5)]] for x in rng.normal(size=(60, 2))]
    file = tmp_path / "noise.csv"
    file.write_text("\n".join(["a,b,outcome", *(",".join(row) for row in rows)]) + "\n")
    arguments = ["--label", "outcome", "--positive", "yes", "--json", "--repeats", "2", "--out", str(tmp_path / "out")]
    assert main(["trace", str(file), *arguments]) == 0
    both = json.loads(capsys.readouterr().out)["held_out"]["curves"]["both"]
    assert abs(both["nested"]["auc"] - 0.5) < 0.15
    assert both["envelope"]["auc"] > both["nested"]["auc"] + 0.05


def test_lines_end_where_the_help_says():
    data = load("wdbc")
    lines = lines_of(data, total=3.0)
    top = lines["ray"].stop
    assert top.C_plus * data.n_plus == pytest.approx(top.C_minus * data.n_minus)
    assert (top.C_plus * data.n_plus + top.C_minus * data.n_minus) / data.n == pytest.approx(10.0)
    ends = lines["asymmetry line"].start, lines["asymmetry line"].stop
    assert [c.total for c in ends] == pytest.approx([3.0, 3.0])
    assert [c.asymmetry for c in ends] == pytest.approx([0.02, 0.98])


@pytest.mark.parametrize(
    ("kernel", "expected", "printed"),
    [
        (["--kernel", "rbf"], {"kernel": "RBF"}, "gamma='scale' on the whole data set"),
        (["--kernel", "rbf", "--bandwidth", "median"], {"kernel": "RBF"}, "median distance"),
        (["--kernel", "rbf", "--bandwidth", "1.5"], {"kernel": "RBF", "bandwidth": 1.5}, "bandwidth 1.5 (given)"),
        (["--kernel", "poly", "--degree", "2", "--no-standardize"], {"kernel": "Polynomial", "degree": 2}, "as given"),
    ],
)
def test_kernels(csv, tmp_path, capsys, kernel, expected, printed):
    out = tmp_path / "out"
    arguments = [
        "--label",
        "outcome",
        "--positive",
        "yes",
        "--total",
        "5",
        "--repeats",
        "1",
        "--out",
        str(out),
        *kernel,
    ]
    assert main(["trace", str(csv), *arguments]) == 0
    assert printed in capsys.readouterr().out
    report = json.loads((out / "report.json").read_text())
    assert expected.items() <= report["kernel"].items()
    assert report["total"] == 5.0
    assert (report["scaling"] is None) == ("--no-standardize" in kernel)
    assert max(line["worst_gap"] for line in report["lines"].values()) <= 1e-9
    if kernel[-1] in ("rbf", "median"):
        gram = pc.load(out / "path.npz").gram
        meant = pc.RBF.median(gram.X) if kernel[-1] == "median" else pc.Gram(gram.X, "rbf").kernel
        assert gram.kernel == pc.RBF(report["kernel"]["bandwidth"]) == meant  # what Python means by the name


def test_json_is_all_that_is_printed_and_the_same_seed_gives_the_same(csv, tmp_path, capsys):
    reports = []
    for name in ("one", "two"):
        arguments = [
            "--label",
            "outcome",
            "--positive",
            "yes",
            "--json",
            "--repeats",
            "2",
            "--out",
            str(tmp_path / name),
        ]
        assert main(["trace", str(csv), *arguments]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        reports.append(json.loads(printed.out))
        assert json.loads((tmp_path / name / "report.json").read_text()) == reports[-1]
    for report in reports:
        del report["files"]
        for line in report["lines"].values():
            del line["seconds"]
    assert reports[0] == reports[1]


def test_the_smallest_data_and_odd_names(tmp_path, capsys):
    file = tmp_path / "odd $name$.csv"
    write_csv(file, n=4, header="_a,$b$,c d,outcome")
    assert main(["trace", str(file), "--label", "outcome", "--positive", "yes", "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "2 stratified folds" in printed
    assert "Too few samples of a class" in printed
    assert "held-out cost  unknown (too few samples of a class)" in printed
    assert "chosen elsewhere" not in printed
    assert "to use it" not in printed
    assert names(tmp_path / "out") == FILES - {"model.json"}


def test_progress_is_for_terminals_only(csv, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    arguments = ["--label", "outcome", "--positive", "yes", "--repeats", "1", "--out", str(tmp_path / "out")]
    assert main(["trace", str(csv), *arguments]) == 0
    shown = capsys.readouterr().err
    assert "fold 5 of 5; next: held-out choices" in shown
    assert "trace the ray; next: trace the asymmetry line" in shown
    assert "pictures and files" in shown
    assert "outer folds" in shown
    for silent in ("--quiet", "--json"):
        assert main(["trace", str(csv), *arguments, silent]) == 0
        assert capsys.readouterr().err == ""


def test_quiet_prints_nothing(csv, tmp_path, capsys):
    arguments = ["--label", "outcome", "--positive", "yes", "--quiet", "--repeats", "1", "--out", str(tmp_path / "out")]
    assert main(["trace", str(csv), *arguments]) == 0
    assert capsys.readouterr() == ("", "")


def change_csv(**options):
    return lambda folder: write_csv(folder / "small.csv", **options)


@pytest.mark.parametrize(
    ("prepare", "arguments", "words"),
    [
        (None, ["gone.csv"], ["gone.csv", "not found"]),
        (None, ["nosuchdata"], ["nosuchdata", "wdbc"]),
        (change_csv(change=(6, 1, "nan")), ["small.csv"], ["small.csv", "row 8", "'b'", "nan"]),
        (change_csv(change=(6, 1, "1e300")), ["small.csv"], ["features of small", "1e+300", "other units"]),
        (change_csv(change=(6, 2, "x")), ["small.csv"], ["small.csv", "row 8", "'c'", "'x'"]),
        (change_csv(change=(6, 3, "maybe")), ["small.csv"], ["small.csv", "'outcome'", "two values", "maybe"]),
        (None, ["small.csv", "--label", "diagnosis"], ["small.csv", "'diagnosis'", "outcome"]),
        (None, ["small.csv", "--positive", "maybe"], ["small.csv", "'maybe'"]),
        (change_csv(n=3), ["small.csv"], ["small", "at least 2 samples"]),
        (None, ["small.csv", "--kernel", "rbf", "--bandwidth", "-1"], ["--bandwidth", "-1"]),
        (None, ["small.csv", "--kernel", "rbf", "--bandwidth", "nan"], ["--bandwidth", "nan"]),
        (
            None,
            ["small.csv", "--kernel", "rbf", "--bandwidth", "wide"],
            ["number or 'median'", "wide"],
        ),
        (None, ["small.csv", "--bandwidth", "1"], ["--bandwidth", "rbf"]),
        (None, ["small.csv", "--bandwidth", "median"], ["--bandwidth", "rbf"]),
        (None, ["small.csv", "--kernel", "poly", "--degree", "0"], ["--degree", "0"]),
        (None, ["small.csv", "--kernel", "sigmoid"], ["--kernel", "sigmoid"]),
        (None, ["small.csv", "--total", "0"], ["--total", "0"]),
        (None, ["small.csv", "--total", "-2"], ["--total", "-2"]),
        (None, ["small.csv", "--total", "inf"], ["--total", "inf"]),
        (None, ["small.csv", "--total", "much"], ["--total", "much"]),
        (None, ["small.csv", "--seed", "-1"], ["--seed", "-1"]),
        (None, ["small.csv", "--repeats", "0"], ["--repeats", "0"]),
        (None, ["small.csv", "--costs", "0", "0"], ["--costs", "0 0"]),
        (None, ["small.csv", "--costs", "1", "-2"], ["--costs", "1 -2"]),
        (None, ["small.csv", "--costs", "inf", "1"], ["--costs", "inf 1"]),
        (None, ["small.csv", "--n", "1000"], ["n must", "1000"]),
        (None, ["small.csv", "--data-dir", "nowhere"], ["data_dir", "nowhere"]),
        (None, ["small.csv", "--colour", "red"], ["--colour"]),
        (lambda folder: (folder / "out" / "file").write_text("x"), ["small.csv", "--out", "out/file"], ["out/file"]),
        (
            lambda folder: (folder / "out" / "file").write_text("x"),
            ["small.csv", "--out", "out/file/deep"],
            ["out/file", "not a folder"],
        ),
    ],
)
def test_bad_input_is_one_line_and_leaves_the_output_folder_alone(
    tmp_path, monkeypatch, capsys, prepare, arguments, words
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARETOCLF_DATA", raising=False)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.json").write_text("earlier")
    write_csv(tmp_path / "small.csv")
    if prepare is not None:
        prepare(tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    defaults = [] if "--label" in arguments or not Path(arguments[0]).exists() else ["--label", "outcome"]
    defaults += [] if "--positive" in arguments or not Path(arguments[0]).exists() else ["--positive", "yes"]
    assert main(["trace", *arguments, *defaults]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.startswith("paretoclf: error: ")
    for word in words:
        assert word in printed.err
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


def fail_with(error):
    def fail(*args, **kwargs):
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (pc.DegeneratePathError("stuck", t=0.5, costs="1, 1", n_margin=2, remedy="Scale."), 1, "stuck, at t = 0.5"),
        (pc.errors.SolveError("no\npoint"), 1, "no point"),
        (OSError(28, "No space left on device", "out/x"), 2, "out/x: No space left on device"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_a_failure_half_way_leaves_nothing_behind(csv, tmp_path, monkeypatch, capsys, error, status, words):
    monkeypatch.setattr("paretoclf.cli.study._held_out", fail_with(error))
    arguments = ["--label", "outcome", "--positive", "yes", "--out", str(tmp_path / "out")]
    assert main(["trace", str(csv), *arguments]) == status
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", f"paretoclf: error: {printed.err[18:].strip()}\n")
    assert words in printed.err
    assert names(tmp_path) == {"small.csv"}


def test_a_failure_while_files_are_written_leaves_earlier_ones(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_text("earlier")

    def write_half():
        with staged(tmp_path / "out") as folder:
            (folder / "a").write_text("half")
            raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        write_half()
    assert (tmp_path / "out" / "a").read_text() == "earlier"
    assert names(tmp_path) == {"out"}


def test_json_has_no_nan():
    assert json.loads(to_json({"a": float("nan"), "b": np.array([1.0, np.inf]), "c": (np.int64(2),)})) == {
        "a": None,
        "b": [1.0, None],
        "c": [2],
    }


def test_roc_of_a_saved_path(wdbc, tmp_path, capsys):
    out, report = wdbc
    picture = tmp_path / "roc.png"
    assert main(["roc", str(out / "path.npz"), "wdbc", "--json", "--out", str(picture)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert names(tmp_path) == {"roc.png"}
    assert found["scaled_as_in_training"]
    assert found["columns"] == "by name"
    assert not found["training_samples"]
    data, path = load("wdbc"), pc.load(out / "path.npz")
    X = (data.X - np.array(report["scaling"]["mean"])) / np.array(report["scaling"]["scale"])
    scores = path.at(0.5).classifier.decision_function(X)
    curves = found["curves"]
    assert curves["intercept"]["every_point"]["auc"] == pytest.approx(roc_auc_score(data.y, scores), abs=1e-9)
    asymmetry, both = (pc.roc_of_path(path, X, data.y, vary=vary, t=0.5) for vary in ("asymmetry", "both"))
    assert curves["asymmetry"]["every_point"]["auc"] == pytest.approx(asymmetry.auc, abs=1e-12)
    assert curves["both"]["envelope"]["auc"] == pytest.approx(both.auc, abs=1e-12)
    assert curves["both"]["nested"]["auc"] < curves["both"]["envelope"]["auc"]


@pytest.fixture
def shops(tmp_path):
    """A path of ages and cities, with the report of its columns; new samples: a table and their features."""
    rng = np.random.default_rng(1)
    age, city = rng.normal(40, 10, 80), rng.choice(["Bonn", "Oslo", "Rome"], 80)
    X = np.column_stack([age, city == "Oslo", city == "Rome"]).astype(float)
    y = np.where(age / 10 + 2 * (city == "Rome") + rng.normal(size=80) > 4.5, 1.0, -1.0)
    mean, scale = X[:40].mean(axis=0), X[:40].std(axis=0)
    Z = (X - mean) / scale
    path = pc.trace(pc.TwoCSVM(Z[:40], y[:40]), (0.1, 1.9), (1.9, 0.1))
    path.save(tmp_path / "path.npz")
    ages = {"name": "age", "categories": None, "fill": 40.0}
    cities = {"name": "city", "categories": ["Bonn", "Oslo", "Rome"], "fill": "Rome"}
    report = {"columns": [ages, cities], "scaling": {"mean": mean.tolist(), "scale": scale.tolist()}}
    (tmp_path / "report.json").write_text(json.dumps(report))
    table = [(repr(a), c, "yes" if s > 0 else "no") for a, c, s in zip(age.tolist(), city, y, strict=True)][40:]
    auc = roc_auc_score(y[40:], path.at(0.5).classifier.decision_function(Z[40:]))
    return tmp_path, table, auc


def _roc_of(folder, header, rows, *options):
    file = folder / "new.csv"
    file.write_text("\n".join(map(",".join, [header, *rows])) + "\n")
    return main(["roc", str(folder / "path.npz"), str(file), "--label", "bought", "--positive", "yes", *options])


def test_roc_finds_columns_by_their_names(shops, capsys):
    folder, table, auc = shops
    turned = [("7", label, city, age) for age, city, label in table]
    assert _roc_of(folder, ["shop", "bought", "city", "age"], turned, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["columns"] == "by name"
    assert found["curves"]["intercept"]["every_point"]["auc"] == pytest.approx(auc, abs=1e-12)
    assert _roc_of(folder, ["age", "city", "bought"], table, "--one-hot", "city", "--missing", "drop") == 0
    assert "columns        by name" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("header", "city", "options", "words"),
    [
        (["years", "city", "bought"], None, [], "there is no column 'age'; columns: years, city, bought"),
        (
            ["age", "city", "bought"],
            "Wien",
            [],
            "row 2, column 'city': the value must be one of 'Bonn', 'Oslo', 'Rome'",
        ),
        (["age", "city", "bought"], None, ["--drop", "city"], "--drop: differs from training in city"),
        (["age", "city", "bought"], None, ["--one-hot", "age"], "--one-hot: differs from training in age, city"),
    ],
)
def test_roc_refuses_other_columns(shops, capsys, header, city, options, words):
    folder, table, _ = shops
    table[0] = (table[0][0], city or table[0][1], table[0][2])
    assert _roc_of(folder, header, table, *options) == 2
    assert words in capsys.readouterr().err


def test_roc_says_that_columns_have_no_names(shops, capsys):
    folder, table, _ = shops
    (folder / "report.json").unlink()
    assert _roc_of(folder, ["age", "city", "bought"], table, "--one-hot", "city") == 0
    assert "columns        by position: the path keeps no names" in capsys.readouterr().out


def test_roc_says_when_it_sees_the_training_samples(wdbc, capsys):
    out, _ = wdbc
    assert main(["roc", str(out / "path.npz"), "wdbc", "--n", "80", "--seed", "3"]) == 0
    printed = capsys.readouterr().out
    assert "the training samples themselves" in printed
    assert "every number is optimistic" in printed
    assert "scaled as the training samples were" in printed
    assert all(f"  {vary} " in printed for vary in ("intercept", "asymmetry", "both"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gone.npz", "wdbc"], ["gone.npz", "no such file"]),
        (["broken.npz", "wdbc"], ["broken.npz", "not a saved path"]),
        (["PATH", "twonorm"], ["twonorm", "20 features", "30"]),
        (["PATH", "wdbc", "--out", "roc.doc"], ["roc.doc", ".png"]),
        (["PATH", "wdbc", "--out", "nowhere/roc.png"], ["nowhere/roc.png"]),
        (["PATH", "wdbc", "--seed", "-3"], ["--seed", "-3"]),
    ],
)
def test_bad_input_of_roc(wdbc, tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04nothing")
    arguments = [str(wdbc[0] / "path.npz") if word == "PATH" else word for word in arguments]
    assert main(["roc", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.startswith("paretoclf: error: ")
    assert all(word in printed.err for word in words)
    assert names(tmp_path) == {"broken.npz"}


@pytest.mark.parametrize("arguments", [[], ["trace"], ["roc"], ["wander"]])
def test_missing_and_unknown_words_are_bad_input(arguments, capsys):
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("paretoclf: error: ")
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--help"], ["trace", "--help"], ["roc", "--help"], ["tune", "--help"]])
def test_help_has_examples(arguments, capsys):
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "usage: paretoclf" in printed
    assert ("examples:\n  paretoclf" in printed) == (len(arguments) == 2)


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_of_every_shell_knows_commands_and_options(shell, capsys):
    pytest.importorskip("shtab")
    assert main(["--print-completion", shell]) == 0
    printed = capsys.readouterr().out
    for word in ("trace", "formulations", "--kernel", "--costs", "rbf"):
        assert word.removeprefix("--") in printed


def test_bash_completes_words(capsys):
    pytest.importorskip("shtab")
    assert main(["--print-completion", "bash"]) == 0
    script = (
        capsys.readouterr().out
        + """
COMP_WORDS=(paretoclf tr); COMP_CWORD=1; _shtab_paretoclf paretoclf tr paretoclf; echo "${COMPREPLY[@]}"
COMP_WORDS=(paretoclf trace --kernel p); COMP_CWORD=3; _shtab_paretoclf paretoclf p --kernel; echo "${COMPREPLY[@]}"
"""
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["trace tradeoff", "poly"], done.stderr


def test_completion_without_its_package_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["--print-completion", "bash"]) == 2
    assert "pip install 'paretoclf[completion]'" in capsys.readouterr().err


def test_version_loads_nothing_heavy():
    code = (
        "import sys; sys.argv = ['paretoclf', '--version']\n"
        "from paretoclf.cli import main\n"
        "assert main() == 0\n"
        "heavy = {'cvxpy', 'clarabel', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"paretoclf {pc.__version__}\n"


def test_python_dash_m():
    done = subprocess.run(
        [sys.executable, "-m", "paretoclf", "trace", "nosuchdata"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert done.stderr.startswith("paretoclf: error: 'nosuchdata'")
    assert done.stdout == ""


MINE = """
from functools import cached_property
import cvxpy as cp
import paretoclf as pc

class Mine(pc.SampleFormulation):
    \"\"\"A formulation of one's own.\"\"\"

    domain = {"C": pc.POSITIVE}

    @cached_property
    def primal(self):
        return cp.Problem(cp.Minimize(self.parameters["C"] * cp.Variable(name="b")))
"""


def test_formulations_are_listed(capsys):
    assert main(["formulations"]) == 0
    out = capsys.readouterr().out
    for name in ("TwoCSVM", "TwoNuSVM", "QuantileSVM", "BiobjectiveMargin", "SurrogateRisk"):
        assert f"\n{name} " in f"\n{out}"
    assert "tau: in [0, 1]" in out
    assert main(["formulations", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["formulations"]
    assert {"name", "summary", "parameters", "module", "reference"} == set(listed[0])
    assert next(e for e in listed if e["name"] == "QuantileSVM")["parameters"]["tau"] == "in [0, 1]"


def test_the_statement_of_a_formulation_is_printed(capsys):
    assert main(["formulations", "mempm"]) == 0
    assert "Not convex" in capsys.readouterr().out
    assert main(["formulations", "twonusvm"]) == 0
    assert capsys.readouterr().out == pc.TwoNuSVM.describe()
    assert main(["formulations", "BiobjectiveMargin", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["name"] == "BiobjectiveMargin"
    assert report["statement"].count("## Primal") == 2  # hard and soft


def test_formulations_of_ones_own_are_listed_from_a_file(tmp_path, capsys, monkeypatch):
    file = tmp_path / "mine_on_file.py"
    file.write_text(MINE)
    assert main(["formulations", "--from", str(file)]) == 0
    assert "Mine " in capsys.readouterr().out
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["formulations", "Mine", "--from", "mine_on_file"]) == 0
    assert "`C`: a finite positive number" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], "NAME must be one of the formulations"),
        (["--from", "missing.py"], "no such file"),
        (["--from", "no_such_module_at_all"], "cannot be loaded: ModuleNotFoundError"),
        (["--nonsense"], "see paretoclf --help"),
    ],
)
def test_bad_formulations_options(arguments, words, capsys):
    assert main(["formulations", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


# ---- how long it will take ---------------------------------------------------------------------------------------


def test_the_pace_of_the_first_hundred_breakpoints_is_taken_without_what_comes_before(monkeypatch):
    """A clock that runs by the exchanges that were asked for: 3 seconds before the first, a tenth for each."""
    now, asked = [0.0], []

    def trace(svm, start, stop, *, max_events, certify, progress):
        asked.append((svm, start, stop, max_events))
        now[0] += 3.0 + 0.1 * max_events
        raise DegeneratePathError("more than that", t=0.0, costs="", n_margin=0, remedy="")

    monkeypatch.setattr(pc, "trace", trace)
    line = pc.results.CostLine(pc.Costs(0.0, 0.0), pc.Costs(1.0, 1.0))
    assert duration.seconds_of_first("svm", line, clock=lambda: now[0]) == pytest.approx(10.0)
    assert asked == [("svm", line.start, line.stop, k) for k in (1, 101)]


def test_a_real_line_is_traced_no_further_than_a_hundred_breakpoints(gaussians):
    X, y = gaussians(300, 2, seed=0)
    svm = pc.TwoCSVM(X, y)
    line = pc.results.CostLine(pc.Costs(0.0, 0.0), pc.Costs(10.0, 10.0))
    ticks = iter([0.0, 1.0, 10.0, 14.0])
    assert duration.seconds_of_first(svm, line, clock=lambda: next(ticks)) == 3.0
    short = pc.results.CostLine(pc.Costs(0.0, 0.0), pc.Costs(1e-9, 1e-9))  # which ends before a hundred
    ticks = iter([0.0, 1.0, 10.0, 10.5])
    assert duration.seconds_of_first(svm, short, clock=lambda: next(ticks)) == 0.0


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(9.9, ""), (10.0, "10 s"), (89.0, "89 s"), (90.0, "2 min"), (240.0, "4 min"), (7000.0, "2 h"), (36000.0, "10 h")],
)
def test_only_what_is_long_is_foretold(seconds, said):
    assert duration.foretold(500, 7, seconds) == (said and f"500 samples of 7 features: this takes about {said}")


def test_the_estimate_grows_with_samples_their_pace_and_the_partitions():
    one = duration.expected_seconds(1000, 0.01, 3)
    assert duration.expected_seconds(2000, 0.02, 3) == pytest.approx(4 * one)
    assert one < duration.expected_seconds(1000, 0.01, 6) < 2 * one


@pytest.mark.parametrize("quiet", [False, True])
def test_a_trace_that_will_be_long_says_so_before_it_starts(csv, tmp_path, capsys, monkeypatch, quiet):
    said = []

    def foretell(svm, line):
        said.append(capsys.readouterr())
        return 100.0

    monkeypatch.setattr(study, "seconds_of_first", foretell)
    monkeypatch.setattr("paretoclf.cli.study._held_out", fail_with(pc.InputError("enough")))
    label = ["--label", "outcome", "--positive", "yes", *["--quiet"] * quiet]
    assert main(["trace", str(csv), *label, "--out", str(tmp_path / "out")]) == 2
    assert [each.err for each in said] == [""]
    words = f"paretoclf: {duration.foretold(40, 3, duration.expected_seconds(40, 100.0, 3))}\n"
    assert capsys.readouterr().err == ("" if quiet else words) + "paretoclf: error: enough\n"
