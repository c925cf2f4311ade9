"""Figures 1 to 4 (top) of Bach et al. (2006), as `examples/papers/bach2006_roc.py` draws them."""

from __future__ import annotations

import numpy as np
import pytest

from examples.papers.bach2006_roc import density_based, figure_1, figure_2, figure_4


def test_the_losses_at_zero(tmp_path):
    found = figure_1(tmp_path)
    expected = {"hinge": 1.0, "erf": 1 / np.sqrt(2 * np.pi), "square": 0.5, "probit": np.log(2), "logistic": np.log(2)}
    assert found == pytest.approx({f"{name} at 0": value for name, value in expected.items()})
    assert (tmp_path / "bach_figure_1.png").stat().st_size > 10_000


def test_some_points_of_the_asymmetry_curve_are_optimal_for_no_costs():
    found = figure_2(None)
    assert 2 < found["ROC-consistent"] < found["points"]


def test_varying_both_is_best_and_many_asymmetries_are_optimal_for_no_costs():
    found = figure_4(None)
    for j in (1, 2):
        areas = {vary: found[f"samples {j}: area, varying {vary}"] for vary in ("intercept", "asymmetry", "both")}
        assert areas["both"] > max(areas["intercept"], areas["asymmetry"])
        assert found[f"samples {j}: share of ROC-consistent asymmetries"] < 0.6


def test_the_density_based_alternative_finds_the_direction_of_two_gaussians():
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], 200)
    X = rng.normal(size=(400, 2)) + y[:, None] * [1.0, 0.0]
    Z = rng.normal(size=(400, 2)) + y[:, None] * [1.0, 0.0]
    fpr, tpr = density_based(X, y, Z, y)
    assert (np.diff(fpr) >= 0).all()
    assert np.trapezoid(tpr, fpr) == pytest.approx(0.921, abs=0.03)  # Phi(2 / sqrt(2)): two unit Gaussians 2 apart
