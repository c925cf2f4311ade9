"""``paretoclf tradeoff``: what it prints and writes, against the library, and bad input."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from paretoclf.cli import main


def run(capsys, *arguments):
    status = main(["tradeoff", *arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_files_and_report_are_those_of_the_library(tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["wdbc", "--rates", "gaussian", "chebyshev", "kl", "student", "--points", "31", "--out", str(out)]
    status, printed, said = run(capsys, *arguments, "--json")
    assert (status, said) == (0, "")
    assert {file.name for file in out.iterdir()} == {"tradeoff.png", "tradeoff.csv", "report.json"}
    report = json.loads(printed)
    assert report == json.loads((out / "report.json").read_text())
    data = pc.datasets.load("wdbc")
    tradeoff = pc.gaussian_tradeoff(StandardScaler().fit_transform(data.X), data.y)
    kinds = {
        "gaussian": pc.rates.GaussianRate(),
        "chebyshev": pc.rates.ChebyshevRate(),
        "kl": pc.rates.KLRate(0.1),
        "student": pc.rates.StudentRate(3.0),
    }
    assert list(report["curves"]) == list(kinds)
    for name, rate in kinds.items():
        found, same = report["curves"][name], tradeoff.judged_by(rate)
        assert found["area"] == pytest.approx(same.auc, rel=1e-12)
        assert found["minimax"]["tpr"] == pytest.approx(same.minimax().tpr, rel=1e-12)
        assert found["neyman_pearson"]["fpr"] == pytest.approx(0.05, abs=1e-11)
    assert report["worst_certificate"]["passes"]
    assert report["worst_certificate"]["points"] == 31


def test_rows_of_the_csv_are_classifiers_of_the_data_as_given(tmp_path, capsys):
    """Slope and intercept are in the units of the file; the shares of the samples are theirs."""
    assert run(capsys, "wdbc", "--points", "11", "--out", str(tmp_path))[0] == 0
    with (tmp_path / "tradeoff.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    data = pc.datasets.load("wdbc")
    m = pc.Moments.from_samples(data.X, data.y)  # the curve does not depend on the units
    assert len(rows) == 11
    for row in rows:
        w, b = np.array([float(row[f"w_{name}"]) for name in data.feature_names]), float(row["b"])
        positive = data.X @ w + b >= 0
        assert float(row["tpr_samples"]) == positive[data.y > 0].mean()
        assert float(row["fpr_samples"]) == positive[data.y < 0].mean()
        u = m.distances(w, b)
        assert (u.tnr, u.tpr) == pytest.approx((1 - float(row["fpr_gaussian"]), float(row["tpr_gaussian"])), abs=1e-8)


def test_text_for_people(tmp_path, capsys):
    status, printed, _ = run(capsys, "twonorm", "--n", "120", "--rates", "student", "--df", "4", "--out", str(tmp_path))
    assert status == 0
    assert "StudentRate(df=4.0)" in printed
    assert "Neyman-Pearson at 0.05" in printed
    assert printed.splitlines()[-1] == "wrote          " + ", ".join(
        str(tmp_path / name) for name in ("tradeoff.png", "tradeoff.csv", "report.json")
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rates", "laplace"], "invalid choice: 'laplace'"),
        (["--delta", "0.1"], "--delta goes with --rates kl"),
        (["--df", "3"], "--df goes with --rates student"),
        (["--rates", "kl", "--delta", "-1"], "delta must be a finite nonnegative number, got -1.0"),
        (["--rates", "student", "--df", "0"], "df must be a finite positive number, got 0.0"),
        (["--rates", "kl", "--delta", "50"], "no hyperplane has a positive worst-case rate for both classes"),
        (["--reg", "-1"], "--reg must be a finite nonnegative number, got -1.0"),
        (["--max-fpr", "1"], "--max-fpr must lie strictly between 0 and 1, got 1.0"),
        (["--points", "1"], "--points must be at least 2, got 1"),
        (["--n", "25"], "reg must be positive: the covariance of the positives"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(tmp_path, capsys, arguments, words):
    out = tmp_path / "out"
    status, printed, said = run(capsys, "wdbc", *arguments, "--out", str(out))
    assert (status, printed) == (2, "")
    assert said.count("\n") == 1
    assert words in said
    assert not out.exists()
