"""Classifiers of the 2C-SVM, judged: from a decision function to a solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.problem.classifiers import Classifier
from paretoclf.problem.costs import Costs
from paretoclf.proof.points.hinge import certify_hinge, certify_hinges, hinge_value, judge_hinge
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.evidence import Evidence, Judged
from paretoclf.proof.verdicts.solution import Solution


def judge_rule(rule: Classifier, alpha_lo: Array | None = None, certificate: Certificate | None = None) -> Judged:
    """Judge a classifier; ``alpha_lo`` and ``certificate`` as in `judge_hinge`."""
    return judge_hinge(_problem(rule), rule.alpha, rule.b_at_origin, rule.slope, alpha_lo, certificate)


@dataclass(frozen=True)
class RuleEvidence(Evidence):
    """Evidence for a classifier: multipliers, value, certificate and conditions, each computed when asked for.

    Parameters
    ----------
    known : Certificate, optional
    rule : Classifier
    alpha_lo : array of shape (n,), optional
        As for `judge_rule`.
    """

    source: Any = field(default=None, init=False, repr=False)
    rule: Classifier = field(kw_only=True, repr=False)
    alpha_lo: Array | None = field(default=None, kw_only=True, repr=False)

    @cached_property
    def judged(self) -> Judged:
        """Certificate and conditions, as the judge gives them."""
        return judge_rule(self.rule, self.alpha_lo, self.certificate)

    @cached_property
    def certificate(self) -> Certificate:
        """The proof: bounds on the optimal value and KKT residuals."""
        if self.known is not None:
            return self.known
        rule = self.rule
        return certify_hinge(self._problem, rule.alpha, rule.b_at_origin, rule.slope, self.alpha_lo)

    @cached_property
    def _problem(self) -> SoftMargin:
        """The problem that the classifier is to solve."""
        return _problem(self.rule)

    @property
    def alpha(self) -> Array:
        """Multipliers of the margin constraints."""
        return self.rule.alpha

    @cached_property
    def primal_value(self) -> float:
        """Objective at a feasible primal point, as the certificate has it."""
        rule, value = self.rule, None
        if "certificate" not in vars(self) and self.known is None and self.alpha_lo is None:
            value = hinge_value(self._problem, rule.alpha, rule.b_at_origin, rule.slope)
        return self.certificate.primal_value if value is None else value


def _problem(rule: Classifier) -> SoftMargin:
    """The problem that a classifier is to solve."""
    return SoftMargin.of(rule.gram, rule.y, rule.caps)


def certify_rules(rules: Sequence[Classifier]) -> list[Certificate]:
    """Certificates of classifiers of the same samples, all with a slope of their own or none, computed together."""
    if not rules:
        return []
    caps, alpha = (np.stack([getattr(rule, name) for rule in rules], axis=1) for name in ("caps", "alpha"))
    slopes = [rule.slope for rule in rules if rule.slope is not None]
    problem = SoftMargin.of(rules[0].gram, rules[0].y, caps)
    intercepts = np.array([rule.b_at_origin for rule in rules])
    return certify_hinges(problem, alpha, intercepts, np.stack(slopes, axis=1) if slopes else None)


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
        Costs it was trained for.
    alpha_lo : array of shape (n,), optional
        Part of its multipliers that doubles do not hold; the certificate is for both parts.
    certificate : Certificate, optional
        Its certificate, where that is known; by default computed when first asked for.
    source, status, timing
        Passed on.
    """
    return Solution(
        classifier=classifier,
        evidence=RuleEvidence(certificate, rule=classifier, alpha_lo=alpha_lo),
        source=source,
        status=status,
        timing=dict(timing or {}),
        values={name: float(cost) for name, cost in vars(costs).items()} if isinstance(costs, Costs) else {},
        costs=costs,
    )
