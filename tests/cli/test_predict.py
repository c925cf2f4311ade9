"""``paretoclf predict``: what was chosen, handed over as a file, against scikit-learn and the paths it came from."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.cli import data, main
from paretoclf.common.errors import InputError

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
    assert said.startswith(f"judged         {misses} misses of {truth.count('yes')} positives (")
    ends = beta.ppf(
        [0.025, 0.975], [misses, misses + 1], [truth.count("yes") + 1 - misses, truth.count("yes") - misses]
    )
    low, high = 100 * np.nan_to_num(ends, nan=0.0)
    assert f" %, 95 % interval {low:.1f} to {high:.1f} %), " in said


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


def test_a_category_that_training_had_not_is_left_out_or_the_most_frequent_one(model, tmp_path, capsys):
    rows = ["age;city;noise", "30;Rome;1", "30;Lima;1", "30;Quito;1", "30;Oslo;1"]
    new = tmp_path / "new.csv"
    new.write_text("\n".join(rows) + "\n")
    ask = ["predict", str(model), str(new)]
    assert main(ask) == 2
    said = capsys.readouterr().err.strip()
    assert "row 3, column 'city': the value must be one of 'Bonn', 'Oslo', 'Rome', got 'Lima' (and 1 row more)" in said
    assert said.endswith("ready: --unseen drop")
    assert main([*ask, *shlex.split(said.partition("ready: ")[2])]) == 0
    kept = list(csv.reader(io.StringIO(capsys.readouterr().out)))[1:]
    assert [row[0] for row in kept] == ["2", "5"]
    columns = json.loads(model.read_text())["columns"]
    frequent = next(column["fill"] for column in columns if column["name"] == "city")
    assert main([*ask, "--unseen", "frequent"]) == 0
    filled = list(csv.reader(io.StringIO(capsys.readouterr().out)))[1:]
    new.write_text("\n".join(rows).replace("Lima", frequent).replace("Quito", frequent) + "\n")
    assert main(ask) == 0
    assert filled == list(csv.reader(io.StringIO(capsys.readouterr().out)))[1:]
    for text in ("\n;Rome;1\n30;Lima;1\n", "\n30;Lima;1\n30;;1\n"):  # two cells at fault: no flag alone reads the file
        new.write_text(f"age;city;noise{text}")
        assert main(ask) == 2
        said = capsys.readouterr().err.strip()
        assert "the value must be one of 'Bonn', 'Oslo', 'Rome', got 'Lima'" in said
        assert "the value is missing, got ''" in said
        assert said.endswith("ready: --missing median --unseen drop")
        assert main([*ask, *shlex.split(said.partition("ready: ")[2])]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 2
    new.write_text("age;city;noise\n30;Lima;1\nx;Rome;1\n")
    assert main(ask) == 2
    assert "ready" not in capsys.readouterr().err


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


def test_a_column_is_kept_and_one_that_numbers_the_samples_is_told(tmp_path, capsys):
    header, rows = people(tmp_path / "train.csv", 40, 0)
    customers = np.random.default_rng(0).permutation(40) + 1001
    rows = [[str(customer), *row[1:]] for customer, row in zip(customers, rows, strict=True)]
    header[0] = "customer no"
    train, out = tmp_path / "train.csv", tmp_path / "out"
    train.write_text("\n".join(";".join(row) for row in [header, *rows]) + "\n")
    traced = ["trace", str(train), *READ[:-4], "--one-hot", "city", "--repeats", "1", "--out", str(out)]
    assert main(traced) == 0
    said = capsys.readouterr().out.splitlines()[0]
    assert said.endswith("; customer no numbers the samples: --drop 'customer no' leaves it out")
    remedy = said.partition("samples: ")[2].removesuffix(" leaves it out")
    flag, name = shlex.split(remedy)
    how = {"label": "ill", "positive": "yes", "decimal": ",", "missing": "median", "one_hot": ["city"]}
    assert flag == "--drop"
    assert "numbers" not in data.said(data.describe(pc.datasets.load(str(train), **how, drop=[name])))
    ask = ["predict", str(out / "model.json"), str(train), "--missing", "median"]
    assert main([*ask, "--keep", "customer no"]) == 0
    kept = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["customer no"] for row in kept] == [str(customer) for customer in customers]
    assert main(ask) == 0
    assert list(csv.DictReader(io.StringIO(capsys.readouterr().out))) == [
        {name: cell for name, cell in row.items() if name != "customer no"} for row in kept
    ]
    for file, name, message in ((train, "x", "there is no column 'x'"), ("twonorm", "x", "has no names of columns")):
        assert main([*ask[:2], str(file), "--missing", "median", "--keep", name]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no such device")
def test_only_regular_files_are_read(capsys):
    """A device has no end."""
    for call in (lambda: pc.load("/dev/zero"), lambda: pc.verify([[0.0], [1.0]], [-1, 1], "/dev/zero")):
        with pytest.raises(InputError, match=r"^/dev/zero: (neither|.*no regular file|must end in)"):
            call()
    assert main(["predict", "/dev/zero", "twonorm"]) == 2
    assert "/dev/zero: not a saved model (it is no regular file)" in capsys.readouterr().err
