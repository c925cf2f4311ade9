"""Figures 4 (bottom) to 8 of Bach et al. (2006), as `examples/papers/bach2006_population.py` draws them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from examples.papers.bach2006_population import (
    PAIRS,
    beyond,
    figure_4,
    figures_5_and_6,
    figures_7_and_8,
    scale_mixtures,
)


def test_the_densities_have_the_printed_numbers():
    assert list(PAIRS) == [0.12, -6.0, 3.0, -0.96]
    for A, population in PAIRS.items():
        m, S = population.moments.delta, population.moments.Sigma_plus
        assert 1 / (m @ m) - 1 / (m @ S @ m) == pytest.approx(A, rel=1e-12)


@pytest.mark.slow
def test_figure_4(tmp_path):
    numbers = figure_4(tmp_path)
    assert (tmp_path / "bach_figure_4_population.png").stat().st_size > 10_000
    for row in ("densities 1", "densities 2"):
        areas = [
            numbers[f"{row}: area{kind}"] for kind in (", intercept", " of the hull, asymmetry", " of the hull, both")
        ]
        assert areas[2] > max(areas[:2])
        assert numbers[f"{row}: asymmetry behind intercept by up to"] > 1e-3  # the paper's point: no fixed order
        assert numbers[f"{row}: share of ROC-consistent asymmetries"] < 0.95


def test_figures_5_and_6(tmp_path):
    numbers = figures_5_and_6(tmp_path)
    assert (tmp_path / "bach_figures_5_6.png").stat().st_size > 10_000
    assert numbers["Figure 5: smallest ROC-consistent training asymmetry"] > 0.4
    assert numbers["Figure 5: training asymmetries below the diagonal up to"] > 0.25
    assert numbers["Figure 5: testing asymmetry at training asymmetry 0.05"] == pytest.approx(1)
    assert numbers["Figure 6: training asymmetries below the diagonal up to"] == 0
    assert numbers["Figure 6: testing asymmetry at training asymmetry 0.05"] < 1e-4


@pytest.mark.slow
def test_figures_7_and_8(tmp_path):
    found = figures_7_and_8(tmp_path)
    assert list(found) == ["Figure 7, square loss", "Figure 8, erf loss"]
    assert (tmp_path / "bach_figures_7_8.png").stat().st_size > 10_000
    for numbers in found.values():
        for A in PAIRS:
            assert numbers[f"A = {A:g}: computed"] == pytest.approx(A, rel=1e-12)
            assert (numbers[f"A = {A:g}: ROC-consistent from"] < 0.1) == (A > 0)
            other = numbers[f"A = {A:g}: at the other end"]
            assert (numbers[f"A = {A:g}: ROC-consistent to"] > 0.99) == (other > 0)


@pytest.mark.slow
def test_beyond_the_paper(tmp_path):
    numbers = beyond(tmp_path)
    assert (tmp_path / "bach_beyond.png").stat().st_size > 10_000
    assert numbers["A = 0, square loss: B"] == pytest.approx(-0.5)
    assert numbers["A = 0, erf loss: B"] == pytest.approx(1)
    assert numbers["A at twice the distance"] == pytest.approx(numbers["A divided by four"])


def test_scale_mixtures(tmp_path):
    numbers = scale_mixtures(tmp_path)
    assert (tmp_path / "bach_scale_mixtures.png").stat().st_size > 10_000
    for name in ("Gaussian", "heavy tails"):
        found = [value for key, value in numbers.items() if key.startswith(name)]
        assert np.argmax(found) == 0
        assert found[0] > found[1] + 0.02
