"""``paretoclf trace``: the text of a report that is written by hand, and the files of one small study."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import pytest

import paretoclf as pc
from paretoclf.cli import trace
from paretoclf.cli.options import build_parser
from paretoclf.cli.study import Options, run_study, stages

mpl.use("Agg")


def line(breakpoints, residual, gap, segments, where):
    worst = {"residual": residual, "gap": gap, "C_plus": where[0], "C_minus": where[1]}
    return {
        **{"breakpoints": breakpoints, "seconds": 0.1234, "largest_margin_set": 7, "segments": segments},
        **{"worst_residual": residual, "worst_gap": gap, "worst_certificate": worst},
    }


def curve(auc):
    nested = {"auc": auc, "areas": [auc - 0.01, auc + 0.01]}
    return {"nested": nested, "every_point": {"auc": 0.9, "points": 3}, "envelope": {"auc": 0.95, "points": 3}}


def report(**changes):
    chosen = {
        **{"by": "both", "t": 0.25, "shift": 0.5, "trained_at": {"C_plus": 0.4, "C_minus": 1.6}},
        "rates": {"fpr": 0.125, "fnr": 0.0625},
    }
    made = {
        "data": {
            **{"name": "patients", "samples": 40, "features": 3},
            **{"positive": {"label": "ill", "samples": 16}, "negative": {"label": "well", "samples": 24}},
        },
        "kernel": {"kernel": "Linear", "chosen": "given"},
        "scaling": {"mean": [0.0], "scale": [1.0]},
        "total": 2.5,
        "lines": {"ray": line(12, 1e-13, 2e-12, 11, (0.5, 0.25)), "asymmetry line": line(5, 3e-12, 1e-14, 4, (1, 2))},
        "cvxpy": {"costs": 20, "worst_relative_difference": 1.5e-11},
        "chosen": chosen,
        "held_out": {
            **{"folds": 5, "repeats": 2, "scaling": "fitted on the training part of each fold"},
            "curves": {"intercept": curve(0.9), "both": curve(0.8)},
            "cost": {
                **{"C_plus": 20.0, "C_minus": 1.0},
                "chosen_elsewhere": {"intercept": {"cost": 0.5}, "both": {"cost": 0.25}},
            },
        },
        "files": ["out/roc.png", "my folder/model.json"],
    }
    return made | changes


class TestText:
    def test_both_lines_are_rows_of_a_table(self):
        rows = trace.text(report()).splitlines()
        assert rows[:3] == [
            "data           patients: 40 samples, 3 features, 16 positive (ill), 24 negative (well)",
            "kernel         linear; features standardised",
            "",
        ]
        head = rows[3]
        for row, numbers in ((rows[4], "12 0.123 <= 7 1.0e-13 2.0e-12"), (rows[5], "5 0.123 <= 7 3.0e-12 1.0e-14")):
            assert row[15:].split() == numbers.split()
            assert len(row) == len(head)
            for title in ("breakpoints", "seconds", "margin set", "residual"):  # columns end below their titles
                end = head.index(title) + len(title)
                assert row[end - 1] != " "
                assert row[end] == " "
        assert "up to mean cost 10; the asymmetry line has C_plus + C_minus = 2.5." in rows[6]
        assert "at 20 costs: 1.5e-11" in rows[8]
        assert rows[10].startswith(
            "held-out AUC   5 stratified folds; scaling fitted on the training part of each fold"
        )

    def test_the_last_lines_are_what_to_take_away(self):
        rows = trace.text(report()).splitlines()
        assert rows[-6:] == ["", *trace.headlines(report())]
        assert trace.headlines(report()) == [
            "chosen         by both: t 0.25 (C_plus 0.4, C_minus 1.6), score shifted by 0.5; held-out fpr 0.1250, "
            "fnr 0.0625",
            "to use it      paretoclf predict 'my folder/model.json' NEW.csv",
            "held-out cost  0.5000 (intercept), 0.2500 (both) a sample; a miss costs 20, a false alarm 1",
            "worst proof    gap 2.0e-12, residual 3.0e-12; every point of 15 segments is proved",
            "wrote          out/roc.png, my folder/model.json",
        ]

    def test_the_worst_proof_has_the_largest_gap_and_the_largest_residual(self):
        lines = {"ray": line(2, 1e-13, 4e-12, 1, (0.5, 0.25)), "asymmetry line": line(2, 3e-12, 1e-14, 1, (1, 2))}
        assert "gap 4.0e-12, residual 3.0e-12; every point" in trace.headlines(report(lines=lines))[3]

    def test_without_a_choice_there_is_none_to_use(self):
        held_out = report()["held_out"] | {"cost": {"C_plus": 1.0, "C_minus": 1.0, "chosen_elsewhere": {}}}
        said = trace.headlines(report(chosen=None, held_out=held_out))
        assert [row.split("  ")[0] for row in said] == ["held-out cost", "worst proof", "wrote"]
        assert said[0] == (
            "held-out cost  unknown (too few samples of a class) a sample; a miss costs 1, a false alarm 1"
        )

    @pytest.mark.parametrize(
        ("kernel", "words", "note"),
        [
            ({"kernel": "RBF", "bandwidth": 2.5, "chosen": "median"}, "RBF, bandwidth 2.5 (median)", True),
            ({"kernel": "Polynomial", "scale": 0.5, "offset": 1.0, "degree": 3}, "polynomial (0.5 x.z + 1)^3", False),
            ({"kernel": "Linear"}, "linear", False),
        ],
    )
    def test_the_kernel_is_said_and_whether_its_width_was_chosen_inside(self, kernel, words, note):
        said = trace.text(report(kernel=kernel, scaling=None))
        assert f"kernel         {words}; features as given" in said
        assert ("bandwidth fixed from the whole data set" in said) == note


@pytest.fixture(scope="module")
def study():
    """One small study, with its data and options."""
    data = pc.datasets.load("twonorm", n=20)
    options = Options("linear", None, None, 2.0, True, 0, 1, (1.0, 1.0))
    return run_study(data, options, progress=False, stage=lambda name: None, foretell=lambda words: None)


@pytest.fixture
def run(study, monkeypatch, tmp_path, capsys):
    """Run the subcommand on that study; returns what was printed, and what the study was asked with."""
    asked = SimpleNamespace(stages=stages(study.data))

    def known(data, options, progress, stage, foretell):
        asked.options, asked.progress = options, progress
        for name in asked.stages[:-1]:
            stage(name)
        foretell("this takes a while")
        return study

    def run(line=""):
        monkeypatch.setattr(trace, "run_study", known)
        args = build_parser("1").parse_args(["trace", "twonorm", "--n", "20", *shlex.split(line)])
        assert trace.run_trace(args) == 0
        asked.out, asked.err = capsys.readouterr()
        return asked

    monkeypatch.chdir(tmp_path)
    return run


FILES = {"roc.png", "path.png", "path.npz", "ray.npz", "report.json", "model.json"}


def test_files_are_written_and_named_and_the_report_is_printed(run):
    asked = run("--out deep/out --costs 3 2 --seed 5 --total 4 --repeats 2")
    folder = Path("deep/out")
    assert {file.name for file in folder.iterdir()} == FILES
    written = json.loads((folder / "report.json").read_text())
    assert {Path(name).name for name in written["files"]} == FILES
    assert all(Path(name).parent == folder for name in written["files"])
    assert asked.out == trace.text(written) + "\n"
    assert asked.err == "paretoclf: this takes a while\n"
    assert asked.options == Options("linear", None, None, 4.0, True, 5, 2, (3.0, 2.0))
    assert asked.progress is False  # nobody looks
    path, ray = pc.load(folder / "path.npz"), pc.load(folder / "ray.npz")
    assert path.breakpoints.size == written["lines"]["asymmetry line"]["breakpoints"]
    assert ray.breakpoints.size == written["lines"]["ray"]["breakpoints"]
    assert json.loads((folder / "model.json").read_text())


def test_with_html_there_are_two_pages_more(run, study):
    run("--html --quiet")
    assert {file.name for file in Path("out").iterdir()} == FILES | {"report.html", "page.html"}
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 2
    assert 'href="page.html"' in page
    assert f"paretoclf trace {study.data.name}" in page
    assert "20 samples, C_plus + C_minus = 2" in Path("out/page.html").read_text(encoding="utf-8")


def test_quiet_prints_nothing(run, monkeypatch):
    monkeypatch.setattr(trace, "_write", lambda study, report, folder: None)
    asked = run("--quiet")
    assert (asked.out, asked.err) == ("", "")


def test_a_bar_shows_the_stage_and_the_next_where_somebody_looks(run, monkeypatch):
    told = []

    class Bar:
        def __init__(self, total, disable, **how):
            self.n = 0
            told.append((total, disable))

        def __enter__(self):
            return self

        def __exit__(self, *why):
            pass

        def update(self, steps):
            self.n += steps

        def set_description_str(self, words):
            told.append((self.n, words))

        def write(self, words, file):
            told.append(words)

    monkeypatch.setattr(trace, "_write", lambda study, report, folder: None)
    monkeypatch.setattr(trace, "tqdm", Bar)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for options, hidden in (("", False), ("--quiet", True), ("--json", True)):
        told.clear()
        asked = run(options)
        count = len(asked.stages)
        assert told[0] == (count, hidden)
        steps = [each for each in told[1:] if isinstance(each, tuple)]
        assert [k for k, _ in steps] == list(range(count))
        assert steps[0][1] == f"{asked.stages[0]}; next: {asked.stages[1]}"
        assert steps[-1][1] == asked.stages[-1]
        assert asked.progress == (not hidden)


def test_json_is_the_report_and_nothing_else_and_without_a_choice_there_is_no_model(run, study, monkeypatch):
    monkeypatch.setattr(type(study), "model", None)
    asked = run("--json")
    assert json.loads(asked.out) == json.loads(Path("out/report.json").read_text())
    assert {file.name for file in Path("out").iterdir()} == FILES - {"model.json"}
    assert not any("model" in name for name in json.loads(asked.out)["files"])


def test_arguments_are_those_of_the_parser():
    args = build_parser("1").parse_args(["trace", "wdbc"])
    assert isinstance(args, argparse.Namespace)
    assert args.out is None  # the folder of a data set, and of a program a file that nobody asked for
