"""From a solver's point of the 2C-SVM to the vertex next to it, where that is better."""

from __future__ import annotations

import time
from dataclasses import replace

from paretoclf.solution import Classifier, Solution, make_solution
from paretoclf.solve.model import worst
from paretoclf.solve.polish import polish
from paretoclf.tolerances import POLISH_MARGIN


def or_vertex(conic: Solution) -> Solution:
    """The better of a solution of the 2C-SVM and the vertex next to it (`paretoclf.solve.polish`).

    What came of it is added to the status, its seconds to the timing.
    """
    started, given = time.perf_counter(), conic.classifier
    assert isinstance(given, Classifier)
    refined = polish(given.gram, given.y, given.caps, given.alpha, given.b_at_origin)
    classifier = Classifier.best(given.gram, given.y, given.caps, refined.alpha, refined.w)
    status = f"{conic.status}, polished"
    vertex = make_solution(classifier, conic.costs, source=conic.source, status=status)
    off = worst(vertex.certificate)
    # Where only rounding is left, no interior point is better: its certificate is not asked for.
    better = off <= POLISH_MARGIN or off <= worst(conic.certificate)
    seconds = {**conic.timing, "polish": time.perf_counter() - started}
    if better:
        return replace(vertex, timing=seconds)
    reason = "no better than the solver's point" if refined.settled else "the margin set did not settle"
    return replace(conic, status=f"{conic.status}, not polished: {reason}", timing=seconds)
