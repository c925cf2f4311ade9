"""Classifiers of the 2C-SVM, judged: from a decision function to a solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from paretoclf.checks import Array
from paretoclf.classifiers import Classifier
from paretoclf.costs import Costs
from paretoclf.judges.hinge import certify_hinges, judge_hinge
from paretoclf.proof.certificates import Certificate
from paretoclf.proof.evidence import Evidence, Judged
from paretoclf.proof.soft_margin import SoftMargin
from paretoclf.solution import Solution


def judge_rule(rule: Classifier, alpha_lo: Array | None = None, certificate: Certificate | None = None) -> Judged:
    """Judge a classifier; ``alpha_lo`` and ``certificate`` as in `judge_hinge`."""
    problem = SoftMargin.of(rule.gram, rule.y, rule.caps)
    return judge_hinge(problem, rule.alpha, rule.b_at_origin, rule.slope, alpha_lo, certificate)


def certify_rules(rules: Sequence[Classifier]) -> list[Certificate]:
    """Certificates of classifiers of the same samples, all with a slope of their own or none, computed together."""
    if not rules:
        return []
    caps, alpha = (np.stack([getattr(rule, name) for rule in rules], axis=1) for name in ("caps", "alpha"))
    slopes = [rule.slope for rule in rules if rule.slope is not None]
    problem, b = SoftMargin.of(rules[0].gram, rules[0].y, caps), np.array([rule.b_at_origin for rule in rules])
    return certify_hinges(problem, alpha, b, np.stack(slopes, axis=1) if slopes else None)


def make_solution(
    classifier: Classifier,
    costs: Any,
    *,
    alpha_lo: Array | None = None,
    certificate: Certificate | None = None,
    source: str,
    status: str = "optimal",
    timing: Mapping[str, float] | None = None,
) -> Solution:
    """Complete a classifier to a Solution.

    Parameters
    ----------
    classifier : Classifier
    costs : Costs or SampleCosts
        Those it was trained for.
    alpha_lo : array of shape (n,), optional
        What its multipliers miss of those that the certificate is for.
    certificate : Certificate, optional
        Its certificate, where that is known; by default computed when first asked for.
    source, status, timing
        Passed on.
    """
    return Solution(
        classifier=classifier,
        evidence=Evidence(partial(judge_rule, classifier, alpha_lo, certificate), certificate),
        source=source,
        status=status,
        timing=dict(timing or {}),
        values={name: float(cost) for name, cost in vars(costs).items()} if isinstance(costs, Costs) else {},
        costs=costs,
    )
