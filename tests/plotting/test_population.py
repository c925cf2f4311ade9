"""Figures of populations: what they show, labels and legends."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.distributions.population import (
    Mixture,
    Population,
    intercept_curve,
    likelihood_ratio_curve,
    population_curve,
    population_solution,
)
from paretoclf.plotting import AsymmetryDisplay, DensityDisplay, PopulationRocDisplay
from tests.oracles.populations import mixtures, with_regime

mpl.use("Agg")
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def line(ax, label):
    return next(found for found in ax.lines if found.get_label() == label)


def test_asymmetries_are_solid_where_consistent_and_dotted_elsewhere():
    curve = population_curve(with_regime(-1.0), "square")
    display = AsymmetryDisplay.from_curves(curve, other=population_curve(with_regime(0.5), "square"))
    assert list(display.curves) == ["square loss", "other"]
    ax = display.plot(title="regimes").ax_
    assert legend_texts(ax) == ["testing = training", "square loss", "other"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("training asymmetry", "testing asymmetry", "regimes")
    solid = line(ax, "square loss").get_ydata()
    assert np.array_equal(np.isfinite(solid), curve.consistent)
    dotted = ax.lines[2]
    assert dotted.get_linestyle() == ":"
    shown = np.isfinite(dotted.get_ydata())
    assert shown[~curve.consistent].all()
    assert np.nanmax(np.abs(np.where(shown, dotted.get_ydata() - curve.testing_asymmetries, 0))) == 0
    display.figure_.canvas.draw()


def test_roc_curves_with_their_bound_and_the_chance_line():
    population = with_regime(0.5)
    curve = population_curve(population, "square")
    moved = intercept_curve(population, curve.w[70])
    bound = likelihood_ratio_curve(population, 51)
    display = PopulationRocDisplay.from_curves(curve, intercept=moved, bound=bound)
    ax = display.plot(title="all").ax_
    assert legend_texts(ax) == ["chance", "likelihood ratio", "square loss", "intercept"]
    assert line(ax, "likelihood ratio").get_ydata()[1:-1] == pytest.approx(bound.tpr)
    assert line(ax, "intercept").get_xdata() == pytest.approx(moved.fpr)
    assert ax.get_ylabel() == "true positive rate"
    near = PopulationRocDisplay.from_curves(curve).plot(corner=0.05).ax_
    assert near.get_xlim()[1] == 0.05
    assert near.get_ylim()[1] >= curve.tpr[curve.fpr <= 0.05].max()
    display.figure_.canvas.draw()


def test_contours_hold_the_shares_they_say():
    population = mixtures()
    rule = population_solution(population, 0.5).classifier
    display = DensityDisplay(population).plot(classifiers={"square": rule}, title="classes")
    ax = display.ax_
    assert legend_texts(ax) == ["positives", "negatives", "square"]
    assert ax.get_title() == "classes"
    sets = [c for c in ax.collections if isinstance(c, mpl.contour.QuadContourSet)]
    for mixture, drawn in zip((population.positives, population.negatives), sets, strict=True):
        X = mixture.draw(40_000, 3)
        density = np.exp(mixture.log_density(X))
        shares = [np.mean(density >= level) for level in drawn.levels]
        assert shares == pytest.approx([0.95, 0.8, 0.4], abs=0.02)
    flat = pc.results.LinearRule([1.0, 0.0], -0.5)  # a vertical line
    DensityDisplay(population).plot(classifiers={"upright": flat}).figure_.canvas.draw()


def test_bad_input_is_named():
    line = Population(Mixture([1.0], [[1.0]]), Mixture([0.0], [[1.0]]))
    with pytest.raises(pc.InputError, match="population must have two features to be drawn, got 1"):
        DensityDisplay(line)
    for display in (AsymmetryDisplay, PopulationRocDisplay):
        with pytest.raises(pc.InputError, match="curves must hold at least one curve"):
            display({})
