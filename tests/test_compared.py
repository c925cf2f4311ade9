"""docs/reference/compared.md: its tables are those of the numbers beside it, and what it says of others is so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC, NuSVC

from tests.benchmarks import compared

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_the_tables_of_the_page_are_those_of_its_numbers():
    text = (DOCS / "reference" / "compared.md").read_text(encoding="utf-8")
    made = compared.tables(compared.read(DOCS / "_static" / "compared" / "costs.csv"))
    assert compared.page_with(text, made) == text


def test_a_miss_costs_the_first_and_a_false_alarm_the_second():
    y, said = np.array([1, 1, -1, -1]), np.array([1, -1, 1, 1])
    assert compared.cost(y, said, (5.0, 1.0)) == pytest.approx((5.0 + 2.0) / 4)


def test_the_interval_allows_for_overlapping_training_parts():
    d = np.array([1.0, 2.0, 3.0, 4.0, 5.0])  # variance 2.5; t of 4 degrees of freedom
    half = 2.776445 * np.sqrt((1 / 5 + 1 / 4) * 2.5)
    assert compared.interval(d) == pytest.approx((3 - half, 3 + half), abs=1e-5)


def test_nu_svc_does_not_use_class_weight_and_svc_does(gaussians):
    X, y = gaussians(40, 2, seed=1, positives=0.4)
    for kind, same in ((NuSVC, True), (SVC, False)):
        plain, weighted = (kind(class_weight=w).fit(X, y).decision_function(X) for w in (None, {1: 10.0, -1: 0.1}))
        assert np.allclose(plain, weighted) == same
