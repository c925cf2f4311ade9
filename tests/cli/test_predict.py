"""``paretoclf predict``: what was chosen, handed over as a file, against scikit-learn and the paths it came from."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.cli import main
from paretoclf.cli.model import TableClassifier
from paretoclf.common.errors import InputError
from paretoclf.datasets import load
from paretoclf.problem.kernels import kernel_spec
from paretoclf.roc.rules import PathRule

CITIES = ("Bonn", "Oslo", "Rome")


def people(file, n, seed, extra=""):
    """A messy file; ages and cities as texts, some missing, and whether somebody is ill."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    rows = []
    for i in range(n):
        age = f"{rng.normal(55 if ill[i] else 40, 10):.2f}".replace(".", ",") if rng.random() > 0.05 else ""
        city = CITIES[int(rng.choice(3, p=[0.2, 0.3, 0.5] if ill[i] else [0.5, 0.3, 0.2]))]
        rows.append([f"p{i}", age, city, f"{rng.normal():.3f}".replace(".", ","), ("no", "yes")[int(ill[i])]])
    header = ["id", "age", "city", "noise", "ill"]
    if extra:  # columns in another order, and one that nobody knows
        header, rows = ["x", *header[::-1]], [[extra, *row[::-1]] for row in rows]
    file.write_text("\n".join(";".join(row) for row in [header, *rows]) + "\n")
    return header, rows


READ = ("--label", "ill", "--positive", "yes", "--decimal", ",", "--missing", "median")
READ += ("--drop", "id", "--one-hot", "city")


def numbers(header, rows):
    """The same for scikit-learn."""
    place = [header.index(name) for name in ("age", "noise", "city")]
    cells = [[float(row[j].replace(",", ".") or "nan") for j in place[:2]] + [row[place[2]]] for row in rows]
    return np.array(cells, dtype=object)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_a_model_is_that_of_scikit_learn_at_the_costs_that_were_chosen(tmp_path, capsys, kernel):
    header, rows = people(tmp_path / "train.csv", 80, 0)
    out = tmp_path / "out"
    arguments = ["trace", str(tmp_path / "train.csv"), *READ, "--kernel", kernel, "--costs", "3", "1", "--repeats", "1"]
    assert main([*arguments, "--out", str(out)]) == 0
    printed = capsys.readouterr().out.splitlines()
    report = json.loads((out / "report.json").read_text())
    chosen = report["chosen"]
    costs = {name: at["cost"] for name, at in report["held_out"]["cost"]["chosen_elsewhere"].items()}
    assert chosen["cost"] == min(costs.values()) == costs[chosen["by"]]
    prior = report["held_out"]["cost"]["prior_plus"]
    rates = chosen["rates"]
    assert chosen["cost"] == pytest.approx(3 * prior * rates["fnr"] + (1 - prior) * rates["fpr"], abs=1e-12)
    [line] = [line for line in printed if line.startswith("chosen ")]
    assert f"by {chosen['by']}: t {chosen['t']:.6g}" in line
    assert f"held-out fpr {rates['fpr']:.4f}, fnr {rates['fnr']:.4f}" in line
    [use] = [line for line in printed if line.startswith("to use it ")]
    new_header, new_rows = people(tmp_path / "new.csv", 60, 1, extra="?")
    command = shlex.split(use.split(maxsplit=3)[3].replace("NEW.csv", shlex.quote(str(tmp_path / "new.csv"))))
    assert command[0] == "paretoclf"
    assert main([*command[1:], "--missing", "median", "--decimal", ",", "--label", "ill"]) == 0
    table, said = capsys.readouterr()
    found = list(csv.DictReader(io.StringIO(table)))
    assert [int(row["row"]) for row in found] == list(range(2, 62))

    trained = chosen["trained_at"]
    named = {"linear": {"kernel": "linear"}, "poly": {"kernel": "poly", "gamma": 1 / 4, "coef0": 1}}.get(
        kernel, {"kernel": "rbf", "gamma": 0.5 / report["kernel"].get("bandwidth", 1) ** 2}
    )
    plain = make_column_transformer(
        (SimpleImputer(strategy="median"), [0, 1]), (OneHotEncoder(drop="first", sparse_output=False), [2])
    )
    weight = {"yes": trained["C_plus"], "no": trained["C_minus"]}
    reference = make_pipeline(plain, StandardScaler(), SVC(**named, class_weight=weight, tol=1e-10))
    reference.fit(numbers(header, rows), [row[-1] for row in rows])
    scores = reference.decision_function(numbers(new_header, new_rows)) + float(chosen["shift"])
    np.testing.assert_allclose([float(row["score"]) for row in found], scores, atol=1e-6)
    assert [row["predicted"] for row in found] == ["yes" if score >= 0 else "no" for score in scores]
    truth = [row[1] for row in new_rows]
    misses = sum(t == "yes" and row["predicted"] == "no" for t, row in zip(truth, found, strict=True))
    assert said.startswith(f"judged         {misses} misses of {truth.count('yes')} positives, ")


@pytest.mark.parametrize(
    "command",
    [
        ("tune", "--method", "bias-shift", "--points", "5", "--bandwidths", "3", "--folds", "3"),
        ("tune", "--points", "5", "--bandwidths", "2", "--criterion", "np", "--alpha", ".2", "--delta", ".2"),
    ],
    ids=["shift", "with a guarantee"],
)  # fmt: skip
def test_what_tune_chose(tmp_path, capsys, command, monkeypatch):
    made = []
    whole = TableClassifier.of.__func__
    monkeypatch.setattr(TableClassifier, "of", classmethod(lambda cls, *a: made.append(a) or whole(cls, *a)))
    assert main([command[0], "twonorm", "--n", "60", *command[1:], "--out", str(tmp_path)]) == 0
    assert str(tmp_path / "model.json") in capsys.readouterr().out
    [(_, rule, _, *scaler)] = made
    data = load("twonorm", n=50, rng=7)
    samples = scaler[0].transform(data.X) if scaler and scaler[0] is not None else data.X
    model = TableClassifier.load(tmp_path / "model.json")
    np.testing.assert_allclose(model.scores(data.X), rule.decision_function(samples), rtol=1e-12, atol=1e-12)
    assert model.labels(model.scores(data.X)) == [
        model.positive if s > 0 else model.negative for s in rule.predict(samples)
    ]


def test_a_model_far_from_the_origin_and_one_that_labels_all_alike(tmp_path):
    data = load("twonorm", n=60, rng=0)
    far = pc.datasets.Dataset("far", data.X + 1e7, data.y, data.feature_names, "1", "-1")
    path = pc.trace(pc.TwoCSVM(far.X, far.y), (0.02, 1.98), (1.98, 0.02))
    for swept, shift in ((1.0, 0.25), (0.5, 0.0), (1.0, np.inf)):
        rule = PathRule(path, float(path.breakpoints[5]), swept, shift)
        model = TableClassifier.of(far, rule, {})
        model.save(tmp_path / "model.json")
        again = TableClassifier.load(tmp_path / "model.json")
        np.testing.assert_allclose(again.scores(far.X), rule.decision_function(far.X), atol=1e-9)
        assert again.chosen == {}


def test_labels_that_are_numbers_files_without_header_and_other_files(tmp_path, capsys):
    data = load("twonorm", n=60, rng=0)
    table = np.column_stack([data.X[:, :3], data.y])
    np.savetxt(tmp_path / "d.csv", table, delimiter=",")
    out = tmp_path / "out"
    arguments = ["--no-header", "--label", "4", "--quiet", "--repeats", "1", "--out", str(out)]
    assert main(["trace", str(tmp_path / "d.csv"), *arguments]) == 0
    model = [str(out / "model.json")]
    assert main(["predict", *model, str(tmp_path / "d.csv"), "--label", "4", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    scores = TableClassifier.load(out / "model.json").scores(data.X[:, :3])
    assert [row["score"] for row in report["rows"]] == scores.tolist()
    assert report["judged"]["misses"] == int(((scores < 0) & (data.y > 0)).sum())
    np.savez(tmp_path / "d.npz", X=data.X[:, :3], y=data.y)
    assert main(["predict", *model, str(tmp_path / "d.npz"), "--out", str(tmp_path / "labels.csv")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"wrote          {tmp_path / 'labels.csv'}"
    first = (tmp_path / "labels.csv").read_text().splitlines()[1]
    assert first == f"1,{float(scores[0])!r},{-1 if scores[0] < 0 else 1}"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of the messy file."""
    folder = tmp_path_factory.mktemp("model")
    people(folder / "train.csv", 40, 0)
    arguments = ["trace", str(folder / "train.csv"), *READ, "--quiet", "--repeats", "1", "--out", str(folder / "out")]
    assert main(arguments) == 0
    return folder / "out" / "model.json"


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("age;city\n30;Rome\n", [], "there is no column 'noise'; columns: age, city"),
        ("age;city;noise\n;Rome;1\n", [], "row 2, column 'age': the value is missing, got ''; ready: --missing median"),
        ("age;city;noise\n3;Lima;1\n", [], "row 2, column 'city': the value must be one of 'Bonn', 'Oslo', 'Rome'"),
        ("age;city;noise\n3;Rome;1\n", ["--label", "ill"], "there is no column 'ill'; columns: age, city, noise"),
        ("age;city;noise;ill\n3;Rome;1;?\n", ["--label", "ill"], "--label ill: must hold 'yes' or 'no', got '?'"),
    ],
)
def test_bad_new_samples(model, tmp_path, capsys, text, arguments, words):
    (tmp_path / "new.csv").write_text(text)
    assert main(["predict", str(model), str(tmp_path / "new.csv"), *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert words in printed.err


def test_bad_models(tmp_path, capsys):
    good = tmp_path / "model.json"
    data = load("twonorm", n=40, rng=0)
    rule = pc.trace(pc.TwoCSVM(data.X, data.y), (0.1, 1.9), (1.9, 0.1)).at(0.5).classifier
    TableClassifier.of(data, rule, {}).save(good)
    stored = json.loads(good.read_text())
    with pytest.raises(InputError, match="X must have the 20 features of the model"):
        TableClassifier.load(good).scores(np.zeros((2, 3)))
    w, first = stored["rule"]["w"], stored["columns"][0]
    kernel = {"kernel": kernel_spec(pc.RBF(1.0)), "samples": [[0.0] * 20], "coef": [1.0], "b": 0.0}
    for change in (
        {"kind": "other"},
        {"mean": [1.0]},
        {"mean": [float("nan")] * 20},
        {"scale": [0.0] * 20},
        {"scale": [-1.0] * 20},
        {"rule": {"b": 0.0, "w": [1.0]}},
        {"rule": {"b": 0.0, "w": [float("nan"), *w[1:]]}},
        {"rule": {"b": 0.0, "w": [w]}},
        {"rule": {"b": 0.0, "w": [[each] for each in w]}},
        {"rule": {"b": float("nan"), "w": w}},
        {"rule": {"b": "1", "w": w}},
        {"rule": {"b": [0.0], "w": w}},
        {"rule": kernel | {"coef": [float("inf")]}},
        {"rule": kernel | {"coef": [[1.0]]}},
        {"rule": kernel | {"samples": [[float("nan")] * 20]}},
        {"rule": kernel | {"samples": [[0.0]]}},
        {"shift": "far"},
        {"shift": "nan"},
        {"shift": float("nan")},
        {"shift": [0.0]},
        {"columns": 3},
        {"columns": [first | {"fill": "many"}, *stored["columns"][1:]]},
        {"columns": [first | {"fill": [1.0]}, *stored["columns"][1:]]},
        {"columns": [first | {"name": 3}, *stored["columns"][1:]]},
        {"columns": [first | {"decimal": ";"}, *stored["columns"][1:]]},
        {"columns": [first | {"categories": ["a", "b"], "fill": "c"}, *stored["columns"][1:]]},
        {"columns": [first | {"categories": ["a", 2], "fill": "a"}, *stored["columns"][1:]]},
        {"positive": 1},
    ):
        good.write_text(json.dumps(stored | change))
        assert main(["predict", str(good), "twonorm"]) == 2, change
        assert "model.json: not a saved model" in capsys.readouterr().err
    good.write_text(json.dumps(stored | {"rule": kernel}))  # which is right
    assert main(["predict", str(good), "twonorm"]) == 0
    capsys.readouterr()
    for text in ("", "[1]", "{}"):
        good.write_text(text)
        assert main(["predict", str(good), "twonorm"]) == 2
    assert main(["predict", str(tmp_path / "gone.json"), "twonorm"]) == 2
    assert "gone.json: no such file" in capsys.readouterr().err


@pytest.mark.parametrize("label", ["=1+1", "-1", "@home", "-yes", "+", "'=quoted", "''", "it's"])
def test_labels_that_look_like_formulas_are_texts_and_read_back_equal(tmp_path, capsys, label):
    """Begun with an apostrophe, which is taken off where a table is read; numbers are as they are."""
    rng = np.random.default_rng(0)
    said = [("1" if label == "-1" else "no", label)[k % 2] for k in range(40)]
    rows = [[f"{rng.normal(3 * (k % 2)):.3f}", f"{rng.normal():.3f}", text] for k, text in enumerate(said)]
    file, out = tmp_path / "train.csv", tmp_path / "out"
    with file.open("w", newline="") as stream:
        csv.writer(stream).writerows([["a", "b", "label"], *rows])
    held = load(file, positive=label.removeprefix("'") if "=" in label else label)
    assert (
        main(["trace", str(file), f"--positive={held.positive}", "--repeats", "1", "--out", str(out), "--quiet"]) == 0
    )
    ask = ["predict", str(out / "model.json"), str(file), "--label", "label"]
    assert main([*ask, "--out", str(tmp_path / "p.csv")]) == 0
    printed = capsys.readouterr().out
    cells = [row["predicted"] for row in csv.DictReader(io.StringIO((tmp_path / "p.csv").read_text()))]
    assert not any(cell[:1] in set("=+@-") and cell not in ("-1", "1") for cell in cells)
    back = load(tmp_path / "p.csv", label="predicted", positive=held.positive)
    model = TableClassifier.load(out / "model.json")
    expected = model.labels(model.scores(load(file, positive=held.positive).X))
    assert {back.positive, back.negative} == set(expected) == {held.positive, held.negative}
    assert [back.positive if y > 0 else back.negative for y in back.y] == expected
    assert "misses of 20 positives" in printed


def test_a_model_keeps_the_decimal_comma(tmp_path, capsys):
    header, rows = people(tmp_path / "train.csv", 60, 0)
    out = tmp_path / "out"
    assert main(["trace", str(tmp_path / "train.csv"), *READ, "--repeats", "1", "--out", str(out), "--quiet"]) == 0
    ask = ["predict", str(out / "model.json"), str(tmp_path / "train.csv"), "--missing", "median"]
    capsys.readouterr()
    assert main([*ask, "--decimal", ","]) == 0
    said = capsys.readouterr().out
    assert main(ask) == 0
    assert capsys.readouterr().out == said
    points = tmp_path / "points.csv"
    points.write_text("\n".join(";".join(row).replace(",", ".") for row in [header, *rows]) + "\n")
    ask[2] = str(points)
    assert main(ask) == 2
    assert "the value must be a number with a decimal comma" in (words := capsys.readouterr().err)
    assert words.strip().endswith("ready: --decimal .")
    assert main([*ask, "--decimal", "."]) == 0
    assert capsys.readouterr().out == said


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no such device")
def test_only_regular_files_are_read(capsys):
    """A device has no end."""
    for call in (lambda: pc.load("/dev/zero"), lambda: pc.verify([[0.0], [1.0]], [-1, 1], "/dev/zero")):
        with pytest.raises(InputError, match=r"^/dev/zero: (neither|.*no regular file|must end in)"):
            call()
    assert main(["predict", "/dev/zero", "twonorm"]) == 2
    assert "/dev/zero: not a saved model (it is no regular file)" in capsys.readouterr().err
