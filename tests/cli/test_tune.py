"""``paretoclf tune``: what it prints and writes, against the library, and bad input."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from paretoclf.cli import main

SMALL = ("twonorm", "--n", "80", "--points", "5", "--bandwidths", "3", "--folds", "3")


def run(capsys, *arguments):
    status = main(["tune", *arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_files_and_report_are_those_of_the_library(tmp_path, capsys):
    out = tmp_path / "out"
    status, printed, said = run(capsys, *SMALL, "--criterion", "np", "--alpha", "0.2", "--out", str(out), "--json")
    assert (status, said) == (0, "")
    assert {file.name for file in out.iterdir()} == {"tuning.png", "errors.csv", "model.json", "report.json"}
    report = json.loads(printed)
    assert report == json.loads((out / "report.json").read_text())
    data = pc.datasets.load("twonorm", n=80, rng=0)
    how = {"bandwidths": 3, "nu_plus": 5, "folds": 3}
    tuned = pc.tune(data.X, data.y, pc.tuning.NeymanPearson(0.2), transformer=StandardScaler(), **how)
    assert report["parameters"] == tuned.parameters
    assert (report["cross_validated"]["fpr"], report["smoothed"]["fnr"]) == (tuned.raw_fpr, tuned.fnr)
    assert report["cells"]["evaluated"] == 75
    assert report["certificate"]["passes"]
    with (out / "errors.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 75
    fpr = np.array([float(row["fpr"] or "nan") for row in rows]).reshape(3, 5, 5)
    assert np.array_equal(fpr, tuned.arrays.fpr, equal_nan=True)


def test_text_for_people_with_the_guarantee_and_a_file_to_resume(tmp_path, capsys):
    options = (*SMALL, "--criterion", "np", "--alpha", "0.2", "--delta", "0.2", "--method", "coordinate-descent-3d")
    first = run(capsys, *options, "--out", str(tmp_path), "--resume", str(tmp_path / "errors.npz"))
    assert first[0] == 0
    assert "guarantee       P(fpr > 0.2) <= " in first[1]
    assert first[1].splitlines()[-1].startswith("wrote           ")
    again = run(capsys, *options, "--out", str(tmp_path), "--resume", str(tmp_path / "errors.npz"))
    assert again[1] == first[1]


def test_methods_without_a_grid_write_a_report_only(tmp_path, capsys):
    status, printed, _ = run(capsys, *SMALL, "--method", "exact-lines", "--out", str(tmp_path))
    assert status == 0
    assert {file.name for file in tmp_path.iterdir()} == {"model.json", "report.json"}
    assert "nu_plus" in printed


def test_useless_bandwidths_are_named(tmp_path, capsys):
    status, printed, _ = run(capsys, *SMALL, "--bandwidth", "0.001", "3", "--out", str(tmp_path))
    assert status == 0
    assert "warning         bandwidth 0.001 makes an identity of the Gram" in printed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--criterion", "np"), "--alpha goes with --criterion np"),
        (("--alpha", "0.1"), "--alpha goes with --criterion np"),
        (("--criterion", "np", "--alpha", "1.5"), "alpha must lie strictly between 0 and 1, got 1.5"),
        (("--criterion", "cost"), "--costs C_PLUS C_MINUS PRIOR goes with"),
        (("--criterion", "np", "--alpha", "0.05", "--delta", "0.05"), "needs at least 59 left-out negatives, got"),
        (("--delta", "0.1"), "delta must be left out for Minimax"),
        (("--folds", "70"), "folds must be at least 2 and at most the size"),
        (("--points", "0"), "nu_plus must be at least 1"),
    ],
)
def test_bad_input(arguments, words, tmp_path, capsys):
    status, printed, said = run(capsys, *SMALL, *arguments, "--out", str(tmp_path / "out"))
    assert (status, printed) == (2, "")
    assert words in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()
