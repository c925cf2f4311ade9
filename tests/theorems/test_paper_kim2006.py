"""Figures 1 and 2 of Kim et al. (2006), as `examples/papers/kim2006.py` draws them: its checks hold."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from examples.papers.kim2006 import DRAWS, figure_1, figure_2


def test_figure_1(tmp_path, capsys):
    numbers = figure_1(tmp_path)
    assert (tmp_path / "kim_figure_1.png").stat().st_size > 10_000
    assert numbers["worst gap of the certificates"] < 1e-12
    assert numbers["middle segment, difference from problem (3)"] < 1e-8
    assert numbers["outer segments, difference from the S-procedure"] < 1e-8
    assert numbers["difference from the shares of draws"] < 4 * 0.5 / DRAWS**0.5
    assert (numbers["A tpr"], numbers["B tnr"]) == pytest.approx((0.843449, 0.962204), abs=1e-6)
    assert "Figure 1" in capsys.readouterr().out


def test_figure_2(tmp_path, capsys):
    numbers = figure_2(tmp_path)
    assert (tmp_path / "kim_figure_2.png").stat().st_size > 10_000
    assert numbers["difference from the minimax probability machine"] < 1e-8
    assert numbers["difference from the rates of two atoms"] < 1e-12
    assert numbers["C tpr"] == pytest.approx(1.008734**2 / (1 + 1.008734**2), abs=1e-5)
    assert "Figure 2" in capsys.readouterr().out
