"""From a solver's points of the 2C-SVM to the vertices next to them, where those are better."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import POLISH_MARGIN
from paretoclf.problem.classifiers import Classifier
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import problem_of_costs
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.units import balanced_units
from paretoclf.proof.points.judged_classifiers import certify_rules, make_solution
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.models.model import worst
from paretoclf.solve.polish import Polished, polish


def or_vertices(conic: Sequence[Solution]) -> list[Solution]:
    """The better of each solution of one 2C-SVM and the vertex next to it (`paretoclf.solve.polish`).

    What came of it is added to the status; the seconds, an equal share of all, to the timing.
    """
    started = time.perf_counter()
    given = [_rule(solution) for solution in conic]
    refined = [vertex_of(rule.gram, rule.y, rule.caps, rule.alpha, rule.b_at_origin) for rule in given]
    vertices = [
        Classifier.best(rule.gram, rule.y, rule.caps, vertex.alpha, vertex.w)
        for rule, vertex in zip(given, refined, strict=True)
    ]
    kept = [_better(*each) for each in zip(conic, refined, vertices, certify_rules(vertices), strict=True)]
    seconds = (time.perf_counter() - started) / max(len(kept), 1)
    return [replace(solution, timing={**solution.timing, "polish": seconds}) for solution in kept]


def vertex_of(gram: Gram, y: Array, caps: Array, alpha: Array, b: float) -> Polished:
    """The vertex next to multipliers and intercept of a 2C-SVM. All caps must be positive."""
    problem = problem_of_costs(Signed(gram.quadratic, y), np.stack([caps, caps]))
    return polish(problem, alpha, np.array([b]), balanced_units(y, caps))


def _rule(solution: Solution) -> Classifier:
    assert isinstance(solution.classifier, Classifier)
    return solution.classifier


def _better(conic: Solution, refined: Polished, vertex: Classifier, certificate: Certificate) -> Solution:
    off = worst(certificate)
    # Where only rounding is left, no interior point is better: its certificate is not asked for.
    if off <= POLISH_MARGIN or off <= worst(conic.certificate):
        status, timing = f"{conic.status}, polished", conic.timing
        return make_solution(
            vertex, conic.costs, certificate=certificate, source=conic.source, status=status, timing=timing
        )
    reason = "no better than the solver's point" if refined.settled else "the margin set did not settle"
    return replace(conic, status=f"{conic.status}, not polished: {reason}")
