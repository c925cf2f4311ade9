"""The study of Davenport et al. (2010), `examples/papers/davenport2010.py`, at a small size: rows and tables."""

from __future__ import annotations

import csv
import dataclasses
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, rankdata

import paretoclf as pc

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from examples.papers import davenport2010 as study

SMALL = study.Protocol(("twonorm", "waveform"), 1, 5, 3, n_train=60)


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    folder = tmp_path_factory.mktemp("state")
    study.run(SMALL, None, folder)
    return folder


def test_every_method_has_a_row_in_every_realisation(state):
    rows = study.read(state)
    assert len(list(state.iterdir())) == 4
    methods = {"grid 5 taps", "grid median", "guaranteed", *(m for table in study.TABLES.values() for m in table)}
    for criterion in study.CRITERIA:
        for name in SMALL.sets:
            own = [r for r in rows if (r["set"], r["criterion"], r["unbalanced"]) == (name, criterion, 0)]
            assert {r["method"] for r in own} == methods - (set() if criterion == "np" else {"guaranteed"})


def test_rows_are_those_of_tune(state):
    rows = study.read(state)
    data = study.realisation("waveform", 0, False, None, SMALL)
    same = {"bandwidths": pc.tuning.bandwidth_grid(data.X, 3), "nu_plus": 5, "rng": 0}
    for method, row in (
        ("grid", "grid 3d"), ("coordinate-descent-2d", "cd2 3d"), ("coordinate-descent-3d", "cd3 3d"),
        ("balanced", "balanced 3d"), ("bias-shift", "bias-shift 3d"),
    ):  # fmt: skip
        for name, criterion in study.CRITERIA.items():
            tuned = pc.tune(data.X, data.y, criterion, method, **same)
            (own,) = [
                r for r in rows
                if (r["set"], r["criterion"], r["method"], r["unbalanced"]) == ("waveform", name, row, 0)
            ]  # fmt: skip
            assert (own["nu_plus"], own["nu_minus"]) == pytest.approx(
                (tuned.parameters["nu_plus"], tuned.parameters["nu_minus"])
            )
            assert own["cells"] == tuned.arrays.cells
            assert (own["test_fpr"], own["test_fnr"]) == pytest.approx(tuned.rates(data.X_test, data.y_test))


def test_what_is_finished_is_not_done_again(state, monkeypatch):
    monkeypatch.setattr("paretoclf.common.resume._one", lambda *a: pytest.fail("done again"))
    assert len(study.run(SMALL, None, state)) == len(study.read(state))
    other = dataclasses.replace(SMALL, bandwidths=SMALL.bandwidths + 1)
    with pytest.raises(pc.InputError, match=r"\.csv: no rows of this study \(it is of other data or options"):
        study.run(other, None, state)


def test_unbalanced_keeps_a_tenth_of_the_training_negatives_and_one_for_each_fold():
    for n_train, kept in ((60, 5), (400, 28)):
        protocol = study.Protocol(("waveform",), 1, 5, 3, n_train=n_train)
        whole, part = (study.realisation("waveform", 0, u, None, protocol) for u in (False, True))
        negatives = int((whole.y < 0).sum())
        assert int((part.y < 0).sum()) == max(5, round(0.1 * negatives)) == kept
        assert int((part.y > 0).sum()) == int((whole.y > 0).sum())
        assert part.y_test.size == whole.y_test.size


def test_tables_and_figures(state, tmp_path, capsys):
    study.report(study.read(state), SMALL, tmp_path)
    printed = capsys.readouterr().out
    for title in ("Tables 1 to 3", "Table 4", "Figure 2", "False positive rate above alpha"):
        assert title in printed
    with (tmp_path / "table_1_2_3.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    for table, methods in study.TABLES.items():
        own = [
            float(r["rank"]) for r in rows if (r["table"], r["criterion"], r["data"]) == (str(table), "np", "balanced")
        ]
        assert sum(own) == pytest.approx(len(methods) * (len(methods) + 1) / 2, abs=0.05)
    assert [file.name for file in tmp_path.glob("*.png")] == ["davenport_figure_2.png"]
    page = (tmp_path / "tables.md").read_text()
    assert "Finished: 4 of 4 (twonorm 1, waveform 1)" in page
    lines = [line.count("|") for line in page.splitlines() if line.startswith("| ")]
    assert min(lines) >= 6


def test_several_alphas_have_criteria_and_tables_of_their_own(tmp_path, capsys):
    protocol = dataclasses.replace(SMALL, alphas=(0.05, 0.1))
    assert str(protocol).endswith("alpha = 0.05, 0.1")
    rows = study.run(protocol, None, tmp_path / "state")
    assert study.criteria_in(rows) == ["minimax", "np", "np 0.05"]
    study.report(rows, protocol, tmp_path / "out")
    assert "False positive rate above alpha = 0.05 (NP)" in capsys.readouterr().out
    with (tmp_path / "out" / "violations_0.05.csv").open() as stream:
        strict = list(csv.DictReader(stream))
    with (tmp_path / "out" / "violations.csv").open() as stream:
        loose = list(csv.DictReader(stream))
    own = [r for r in rows if (r["criterion"], r["method"], r["unbalanced"]) == ("np 0.05", "grid 3d", 0)]
    assert float(strict[2]["above alpha"]) == np.mean([r["test_fpr"] > 0.05 for r in own])
    assert [line["method"] for line in strict] == [line["method"] for line in loose]
    page = (tmp_path / "out" / "tables.md").read_text()
    assert "np 0.05, unbalanced" in page


def test_tables_1_to_3_follow_from_the_file_of_scores(state, tmp_path):
    """From scores.csv alone: it has all digits, and so no ties that the counts have not."""
    study.report(study.read(state), SMALL, tmp_path)
    check_ranks(tmp_path)


def test_tables_1_to_3_of_the_page_follow_from_its_file_of_scores():
    check_ranks(Path(__file__).resolve().parents[2] / "docs" / "_static" / "davenport2010")


def check_ranks(folder):
    """Tables 1 to 3 of a folder against its scores, ranked anew with SciPy."""
    with (folder / "scores.csv").open() as stream:
        scores = list(csv.DictReader(stream))
    with (folder / "table_1_2_3.csv").open() as stream:
        tables = list(csv.DictReader(stream))
    assert tables
    for key in dict.fromkeys((line["table"], line["criterion"], line["data"]) for line in tables):
        own = [line for line in tables if (line["table"], line["criterion"], line["data"]) == key]
        table = [
            [float(line[each["method"]]) for each in own]
            for line in scores
            if (line["criterion"], line["data"]) == key[1:]
        ]
        ranks = rankdata(table, axis=1)
        assert [float(each["rank"]) for each in own] == pytest.approx(ranks.mean(axis=0), abs=0.0051), key
        if len(table) > 2:
            assert float(own[0]["p"]) == pytest.approx(friedmanchisquare(*np.transpose(table)).pvalue, rel=6e-3), key


def test_a_clock_that_has_not_moved_divides_nothing(state):
    still = {"exact_seconds": 0.0, "nusvc_seconds": 0.0}
    for line in study.table_4([{**row, **still} for row in study.read(state)]):
        assert (line["exact lines s"], line["exact, times faster"]) == (0.0, "")


def test_printed_ranks_add_up():
    for (table, _, _), ranks in study.PRINTED.items():
        k = len(study.TABLES[table])
        assert sum(ranks) == pytest.approx(k * (k + 1) / 2, abs=0.021)


@pytest.mark.skipif("PARETOCLF_DATA" not in os.environ, reason="needs the data folder")
def test_splits_are_the_official_ones_of_the_file():
    folder = os.environ["PARETOCLF_DATA"]
    file = Path(folder) / "raetsch" / "ringnorm.npz"
    with np.load(file) as arrays:
        data = study.realisation("ringnorm", 3, False, folder, study.FULL)
        train = arrays["X"][arrays["train_idx"][3]]
        assert np.allclose(data.X, (train - train.mean(axis=0)) / train.std(axis=0))
        assert np.array_equal(data.y_test, arrays["y"][arrays["test_idx"][3]])
    assert len(pc.datasets.load(file).splits) == 10
