"""``paretoclf page``."""

from __future__ import annotations

import json
import re

import pytest

from paretoclf.cli import main

ARGUMENTS = ["page", "wdbc", "--features", "mean_radius,mean_texture", "--n", "80"]


def data_of(file):
    text = file.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)[1])


@pytest.mark.parametrize(("more", "held_out"), [([], 24), (["--held-out", "0"], 0), (["--kernel", "rbf"], 24)])
def test_the_file_has_what_the_report_says(more, held_out, tmp_path, capsys):
    out = tmp_path / "page.html"
    assert main([*ARGUMENTS, *more, "--json", "--out", str(out)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["held_out_samples"] == held_out
    assert report["traced_samples"] == 80 - held_out
    assert report["bytes"] == out.stat().st_size
    data = data_of(out)
    assert len(data["y"]) == 80 - held_out
    assert data["names"] == ["mean_radius", "mean_texture"]
    assert (data["roc"] is None) == (held_out == 0)
    assert [sum(costs) for costs in data["costs"]] == pytest.approx([2, 2])
    assert (data["w"] is None) == ("rbf" in more)


def test_two_features_of_wdbc_are_less_than_a_megabyte(tmp_path, capsys):
    out = tmp_path / "page.html"
    assert main([*ARGUMENTS[:4], "--out", str(out)]) == 0
    assert out.stat().st_size < 1_000_000
    assert "kB" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--held-out", "1"], "--held-out must be at least 0 and below 1"),
        (["--held-out", "0.999"], "leaves a class without samples"),
        (["--out", "page.txt"], "file must end in .html"),
        (["--bandwidth", "2"], "--bandwidth belongs to --kernel rbf"),
        (["--features", "mean_radius"], "over two features"),
    ],
)
def test_bad_input_is_one_line_and_no_file(more, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([*ARGUMENTS, *more]) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
