"""Tests of `paretoclf.cli.model`."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.cli import main
from paretoclf.cli.model import TableClassifier
from paretoclf.common.errors import InputError
from paretoclf.datasets import load
from paretoclf.problem.kernels import kernel_spec
from paretoclf.roc.rules import PathRule


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
        {"positive": "1", "negative": "1"},
        {"positive": "1", "negative": "1.0"},
    ):
        good.write_text(json.dumps(stored | change))
        assert main(["predict", str(good), "twonorm"]) == 2, change
        assert "model.json: not a saved model" in capsys.readouterr().err
    w = [1e308, -1e308, *w[2:]]
    good.write_text(json.dumps(stored | {"rule": {"b": 0.0, "w": w}, "scale": [1e-3] * 20}))
    assert main(["predict", str(good), "twonorm"]) == 2
    assert "X must have finite scores, got" in capsys.readouterr().err
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
