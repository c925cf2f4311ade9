"""docs/errata.md: every command in it exists; and those errata that belong to no one formulation's tests."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import paretoclf as pc

ROOT = Path(__file__).resolve().parents[1]
ERRATA = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
ROWS = [line for line in ERRATA.splitlines() if re.match(r"\| e[A-Z]\d+ ", line)]


def test_every_erratum_has_a_command():
    assert len(ROWS) >= 14
    assert len({row.split("|")[1] for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert re.search(r"`tests/\w+\.py::\w+` \|$", row), row


@pytest.mark.parametrize("node", sorted(set(re.findall(r"`(tests/\w+\.py::\w+)`", ERRATA))))
def test_the_command_of_an_erratum_exists(node):
    file, name = node.split("::")
    source = (ROOT / file).read_text(encoding="utf-8")
    assert re.search(rf"^def {name}\(", source, re.MULTILINE), node


def test_the_slackness_condition_of_bach(gaussians):
    """Erratum eB7: alpha_i (1 - xi_i - y_i f_i) = 0; the paper's sign leaves 2 on every margin sample."""
    X, y = gaussians(40, 3, seed=2)
    solution = pc.TwoCSVM(X, y).solve(1.0, 0.6)
    margins = y * solution.classifier.decision_function(X)
    corrected = solution.alpha * (1 - solution.xi - margins)
    printed = solution.alpha * (1 - solution.xi + margins)
    assert np.abs(corrected).max() < 1e-12
    assert np.abs(printed).max() > 0.5


def test_the_asymmetry_weighs_false_negatives():
    """Erratum eD1: raising gamma lowers the rate of false negatives, so it is their weight."""
    data = pc.datasets.load("twonorm", n=300, rng=3)
    svm = pc.TwoCSVM(0.4 * data.X, data.y)
    rates = []
    for gamma in (0.2, 0.5, 0.8):
        predicted = svm.solve(0.02 * gamma, 0.02 * (1 - gamma)).classifier.predict(0.4 * data.X)
        rates.append((np.mean(predicted[data.y < 0] > 0), np.mean(predicted[data.y > 0] < 0)))
    false_positive, false_negative = np.transpose(rates)
    assert np.all(np.diff(false_positive) > 0)
    assert np.all(np.diff(false_negative) < 0)
