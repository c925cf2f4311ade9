"""`population_regimes`: what it says is what training at extreme asymmetries does, by exact costs; nothing expanded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

import paretoclf as pc
from paretoclf.distributions.population import Mixture, Population, population_expansion, population_regimes
from paretoclf.distributions.population.solution import solution_at
from tests.oracles.populations import mixtures, with_regime

CASES = {
    "A > 0": lambda: with_regime(0.5),
    "A < 0": lambda: with_regime(-0.96),
    "mixtures": lambda: mixtures(prior_plus=0.5),
    "equal covariances": lambda: Population(Mixture([1.0, 0.0], np.eye(2)), Mixture([0.0, 0.0], np.eye(2))),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("loss", ["square", "erf"])
def test_the_cheapest_training_asymmetry_is_as_extreme_as_it_says(name, loss):
    """At an extreme testing asymmetry, by exact rates, the gain over one label for all. Where it says "less extreme",
    training so gains more than training at the testing asymmetry, and that more than beyond; else nothing gains."""
    for end in (0, 1):
        population = CASES[name]() if end == 0 else CASES[name]().swapped()
        testing = -2.0 if loss == "square" else -8.0  # log-odds
        beta, prior = expit(testing), population.prior_plus
        gains = []
        for odds in (0.75 * testing, testing, 1.15 * testing):
            at = solution_at(population, odds, loss)
            fpr, tpr = population.rates(at.w, at.b)[0], population.positives.share(at.w, at.b)
            gains.append(float(beta * prior * tpr - (1 - beta) * (1 - prior) * fpr))
        said = population_regimes(CASES[name]()).at(loss, end).training
        if said == "less extreme":
            assert gains[0] > gains[1] > gains[2] > 0
        else:
            assert said == "less extreme, or one label"
            assert max(gains) < 0


@pytest.mark.parametrize("name", CASES)
def test_the_slope_at_the_corner_is_where_the_exact_slopes_go(name):
    population = CASES[name]()
    for each in population_regimes(population).expansions:
        sign = -1 if each.end == 0 else 1
        exact = [solution_at(population, sign * odds, each.loss).log_slope for odds in (8.0, 16.0, 32.0)]
        assert each.roc_slope in (0.0, np.inf)
        rising = each.roc_slope == np.inf
        assert np.all(np.diff(exact) > 0) == rising
        assert (exact[-1] > 5) == rising


def test_powers_decide_where_only_the_erf_loss_has_them():
    """beta is about gamma ** (2 B): the same at B = 1/2, more extreme below."""
    erf = population_expansion(CASES["equal covariances"](), "erf")
    assert erf.A == 0
    assert pytest.approx(1.0) == erf.B
    said = [replace(erf, B=B).training for B in (-1.0, 0.0, 0.25, 0.5, 0.75)]
    assert said == ["less extreme, or one label", "undecided", "more extreme", "the same", "less extreme"]
    assert replace(erf, B=0.25, loss="square").training == "less extreme"
    assert np.isnan(replace(erf, B=0.0).roc_slope)


def test_what_is_printed_and_tabulated():
    found = population_regimes(with_regime(-0.96))
    first = str(found).splitlines()[0]
    assert first.startswith("square loss, asymmetry to 0: A = -0.96, B = ")
    assert "ROC curve horizontal at (0, 0); the testing asymmetry tends to 1" in first
    assert first.endswith("train less extreme, or one label")
    assert [(row["loss"], row["asymmetry to"]) for row in found.records()] == [
        (loss, end) for loss in ("square", "erf") for end in (0, 1)
    ]
    assert not found.follow
    assert replace(found, expansions=tuple(replace(e, A=0.0, B=0.5, loss="erf") for e in found.expansions)).follow


def test_from_samples_in_one_line():
    data = pc.datasets.load("wdbc")
    found = population_regimes(Population.fit(data.X[:, :4], data.y))
    for each in found.expansions:
        here = {0: (data.y < 0, data.y > 0), 1: (data.y > 0, data.y < 0)}[each.end]
        S, other = (np.cov(data.X[some, :4].T, bias=True) for some in here)
        if each.loss == "square":
            m = data.X[here[1], :4].mean(axis=0) - data.X[here[0], :4].mean(axis=0)
            a = np.linalg.solve(S, m)
            assert pytest.approx(1 / (a @ S @ a) - 1 / (a @ other @ a), rel=1e-8) == each.A


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: population_regimes("wdbc"), "population must be a Population, got str"),
        (lambda: population_regimes(with_regime(1 / 2)).at("hinge", 0), "loss and end must be of square, erf and 0, 1"),
        (
            lambda: population_regimes(Population(Mixture([0.0], [[1.0]]), Mixture([0.0], [[2.0]]))),
            "mu_plus and mu_minus must differ",
        ),
    ],
)
def test_bad_input_is_refused(ask, said):
    with pytest.raises(pc.InputError, match=said):
        ask()
