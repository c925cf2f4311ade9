"""``paretoclf explore``."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.cli import main

ARGUMENTS = ["explore", "twonorm", "--n", "40", "--costs", "3", "1"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("explored") / "new"
    assert main([*ARGUMENTS, "--out", str(out)]) == 0
    return out


def test_the_files_agree_and_the_rows_are_classifiers(made, capsys):
    assert sorted(file.name for file in made.iterdir()) == ["explore.png", "model.json", "points.csv", "report.json"]
    report = json.loads((made / "report.json").read_text(encoding="utf-8"))
    with (made / "points.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == report["envelope"]["points"] == len(report["points"])
    ratios = np.array([[float(row["cost_ratio_from"]), float(row["cost_ratio_to"])] for row in rows])
    assert np.array_equal(ratios[1:, 0], ratios[:-1, 1])
    row = rows[report["chosen"]["point"]]
    assert float(row["cost_ratio_from"]) <= 3 <= float(row["cost_ratio_to"])
    data = pc.datasets.load("twonorm", n=40, rng=0)
    w = np.array([float(row[f"w_{name}"]) for name in data.feature_names])
    again = pc.TwoCSVM((data.X - data.X.mean(axis=0)) / data.X.std(axis=0), data.y)
    slope = again.solve(float(row["C_plus"]), float(row["C_minus"])).classifier.w / data.X.std(axis=0)
    assert np.allclose(w, slope, atol=1e-5 * np.abs(slope).max())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--costs", "0", "0"], "costs must not both be zero"),
        (["--prior", "1"], "prior_plus must lie strictly between 0 and 1"),
        (["--bandwidth", "2"], "--bandwidth belongs to --kernel rbf"),
        (["--n", "6"], "needs at least 4 samples of each class"),
    ],
)
def test_bad_input_is_one_line_and_no_file(more, said, tmp_path, capsys):
    assert main([*ARGUMENTS, *more, "--out", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
