"""Which costs and priors make which threshold best, against every threshold of tied scores in fractions."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from paretoclf.common.errors import InputError
from paretoclf.roc import RocCurve, roc_of_scores
from paretoclf.tuning import ExpectedCost

SEEDS = 30  # 300 pass, too


def scored(rng):
    """Tied scores of some samples, and their labels."""
    y = np.where(rng.random(rng.integers(4, 25)) < rng.uniform(0.2, 0.8), 1, -1)
    y[:2] = 1, -1
    return rng.integers(0, 8, y.size) / 4 + 0.25 * (y > 0), y


def counts_of(scores, y, threshold):
    """False and true positives where the score is at least a threshold."""
    return int(np.sum((scores >= threshold) & (y < 0))), int(np.sum((scores >= threshold) & (y > 0)))


def every_rule(scores, y):
    """Counts, which nobody and everybody have, too -> a threshold; and the two errors in fractions."""
    n_minus, n_plus = counts_of(scores, y, -math.inf)
    rules = {counts_of(scores, y, threshold): threshold for threshold in [*np.unique(scores), math.inf]}
    rules |= {(n_minus, n_plus): -math.inf}
    return rules, {(fp, tp): (Fraction(fp, n_minus), 1 - Fraction(tp, n_plus)) for fp, tp in rules}


def where_least(errors, alarm, miss):
    """Rule -> ends of the shares g at which ``(1 - g) alarm fpr + g miss fnr`` is the least of all rules."""
    found = {}
    for rule, (fpr, fnr) in errors.items():
        low, high = Fraction(0), Fraction(1)
        for other_fpr, other_fnr in errors.values():
            at_0, at_1 = alarm * (fpr - other_fpr), miss * (fnr - other_fnr)  # (1 - g) at_0 + g at_1 <= 0 is asked for
            if at_0 > 0 >= at_1:
                low = max(low, at_0 / (at_0 - at_1))
            elif at_0 <= 0 < at_1:
                high = min(high, at_0 / (at_0 - at_1))
            elif at_0 > 0:
                high = Fraction(-1)
        if low <= high:
            found[rule] = low, high
    return found


def ratio(share):
    """Ratio of costs at a share of both; infinite where the other is free."""
    return math.inf if share == 1 else float(share / (1 - share))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_ranges_are_those_of_all_thresholds_in_fractions(seed):
    rng = np.random.default_rng(seed)
    scores, y = scored(rng)
    rules, errors = every_rule(scores, y)
    curve = roc_of_scores(scores, y)
    share, other = Fraction(curve.n_plus, y.size), Fraction(int(rng.integers(1, 20)), 20)
    plus, minus = (int(each) for each in rng.integers(1, 50, 2))
    for ranges, alarm, miss, to_float in (
        (curve.best_ranges(), 1 - share, share, ratio),
        (curve.best_ranges(prior_plus=float(other)), 1 - other, other, ratio),
        (curve.best_ranges((plus / 10, minus / 10)), minus, plus, float),
    ):
        least = where_least(errors, alarm, miss)
        corners = min(rules), max(rules)
        listed = {rule: ends for rule, ends in least.items() if ends[0] < ends[1] or rule in corners}
        assert [(row.false_positives, row.true_positives) for row in ranges] == sorted(listed)
        assert [(row.start, row.stop) for row in ranges] == [tuple(map(to_float, listed[r])) for r in sorted(listed)]
        assert [row.point.threshold for row in ranges] == [rules[r] for r in sorted(listed)]
        assert (ranges[0].positive, ranges[-1].positive) == ("nobody", "everybody")
        names = [*ranges.records()[0]][-2:]
        assert names == (["prior_from", "prior_to"] if to_float is float else ["ratio_from", "ratio_to"])


@pytest.mark.parametrize("seed", range(SEEDS))
def test_best_inside_a_range_is_its_row_and_costs_what_all_samples_cost(seed):
    rng = np.random.default_rng(seed)
    scores, y = scored(rng)
    curve = roc_of_scores(scores, y)
    for row in curve.best_ranges():
        if row.start < row.stop:
            (best,) = curve.best((row.start + 1 if math.isinf(row.stop) else (row.start + row.stop) / 2, 1))
            assert best.index == row.point.index
    costs, prior = tuple(float(each) for each in rng.integers(0, 9, 2)), int(rng.integers(0, 21)) / 20
    for threshold in (-math.inf, math.inf, *rng.uniform(-0.5, 3, 5), *scores[:3]):
        point = curve.at_threshold(threshold)
        fp, tp = counts_of(scores, y, threshold)
        assert (point.threshold, point.fpr, point.tpr) == (threshold, fp / curve.n_minus, tp / curve.n_plus)
        fnr = 1 - Fraction(tp, curve.n_plus)
        share = Fraction(round(20 * prior), 20)
        expected = share * int(costs[0]) * fnr + (1 - share) * int(costs[1]) * Fraction(fp, curve.n_minus)
        assert point.expected_cost(costs, prior) == float(expected)
    if sum(costs) and 0 < prior < 1:
        for point in curve.best(costs, prior):
            assert point.expected_cost(costs, prior) == point.cost
    mixture = curve.at_rate(fpr=0.3)
    parts = [point.expected_cost((2, 3), 0.25) for point in (mixture.first, mixture.second)]
    mean = (1 - mixture.share) * parts[0] + mixture.share * parts[1]
    assert mixture.expected_cost((2, 3), 0.25) == pytest.approx(mean, rel=1e-12)


def test_a_table_of_ranges_prints_and_names_t_where_there_is_one():
    curve = RocCurve([0, 0.25, 0.5, 1], [0, 0.75, 1, 1], 4, 4, t=[0.0, 0.25, 0.5, 1.0])
    shown = repr(curve.best_ranges()).splitlines()
    assert shown[0].split() == ["t", "threshold", "false", "positives", "true", "positives", "C_plus", "/", "C_minus"]
    assert shown[2].split() == ["0.25", "0", "1", "3", "0.333333", "to", "1"]
    assert shown[-1] == "BestRanges(share of positives 0.5; chosen on these labels, optimistic)"
    assert [*curve.best_ranges((1, 1)).records()[1]][:4] == ["positive", "t", "swept", "threshold"]


def test_three_tied_classifiers_are_two_ends_of_an_edge_or_all_of_a_criterion():
    curve = RocCurve([0, 0.25, 0.5, 0.75, 1], [0, 0.5, 0.75, 1, 1], 4, 4)
    assert [point.index for point in curve.best((1, 1))] == [1, 3]
    assert [point.index for point in curve.best(ExpectedCost(1, 1, 0.5))] == [1, 2, 3]
    assert curve.consistent.tolist() == [True] * 5


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda curve: curve.best_ranges((1, 0)), "costs must both be positive where the prior moves"),
        (lambda curve: curve.best_ranges((1, 1), 0.5), "prior_plus must be left out where costs are given"),
        (lambda curve: curve.best_ranges(prior_plus=1), "prior_plus must lie strictly between 0 and 1"),
        (lambda curve: curve.hull().at_threshold(0.5), "threshold must be infinite unless all thresholds"),
        (lambda curve: curve.at_threshold(math.nan), "threshold must be a number, .*got nan"),
        (lambda curve: curve.at_threshold(0.5).expected_cost((1, 1), 2), "prior_plus must lie in"),
    ],
)
def test_what_cannot_be_answered_is_refused(call, said):
    with pytest.raises(InputError, match=said):
        call(roc_of_scores([0.1, 0.4, 0.4, 0.8], [-1, 1, -1, 1]))


def test_the_page_on_another_prevalence_shows_what_its_code_prints(capsys):
    """And what it says of costs and of the range of the prior holds for the counts of all samples, in fractions."""
    text = (Path(__file__).resolve().parents[2] / "docs" / "how_to" / "roc.md").read_text(encoding="utf-8")
    before, _, section = text.partition("## Another prevalence in use\n")
    code = re.findall(r"^```python\n(.*?)^```", before, re.MULTILINE | re.DOTALL)
    names = {}
    exec("".join([code[0], *(each for each in code if "halfway" in each)]), names)
    capsys.readouterr()
    block, shown = re.search(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", section, re.MULTILINE | re.DOTALL).groups()
    exec(block, names)
    assert capsys.readouterr().out == shown

    scores, y, chosen = names["halfway"], names["labels"], names["best"]
    rules, errors = every_rule(scores, y)
    prior = Fraction(1, 25)
    costs = {rule: prior * 400 * fnr + (1 - prior) * 25 * fpr for rule, (fpr, fnr) in errors.items()}
    best = min(costs, key=costs.get)
    assert (rules[best], float(costs[best])) == (chosen.threshold, chosen.expected_cost((400, 25), 0.04))
    assert [float(costs[rule]) for rule in (min(rules), max(rules))] == [16.0, 24.0]
    assert counts_of(scores, y, names["mistaken"].threshold) == (19, 40)
    low, high = where_least(errors, 25, 400)[best]
    said = (
        f"threshold {chosen.threshold:.4f} is best for {100 * float(low):.1f} to {100 * float(high):.1f} % of positives"
    )
    assert said in section
