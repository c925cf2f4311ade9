"""How many entries of constraints a point violates, and which one most; and why bounds may not close."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from paretoclf.solve.judging.cone_proof import ProblemProof
from paretoclf.solve.judging.slater import no_slater_point
from paretoclf.solve.models.model import Model

#: Name of an entry of a constraint, which has a name itself.
Named = Callable[[str, int], str]


def in_shapes_of(problem: Any, proof: ProblemProof) -> Named:
    """Name entries of the constraints of a ``cvxpy.Problem``: ``budget``, ``cap[2]``, ``cap[0, 1]``."""
    sizes = {each.name: each.infeasibility.size for each in proof.conditions}
    shapes = {each.label or f"constraint {k}": each.shape for k, each in enumerate(problem.constraints)}

    def named(name: str, entry: int) -> str:
        """Name an entry by its place in the shape of its constraint, if each of its entries is judged by itself."""
        shape = shapes.get(name, ())
        if math.prod(shape) != sizes[name]:  # a cone, or what a variable says of itself
            shape = (sizes[name],)
        places = np.unravel_index(entry, shape) if sizes[name] > 1 else ()
        return f"{name}[{', '.join(str(int(place)) for place in places)}]" if places else name

    return named


def with_violations(proof: ProblemProof, named: Named) -> ProblemProof:
    """Add to what a proof says how many entries of constraints its point violates, and which one most."""
    sizes = [np.nan_to_num(np.ravel(each.infeasibility), nan=np.inf) for each in proof.conditions]
    violated = sum(int((each > proof.tol).sum()) for each in sizes)
    if not violated:
        return proof
    number = sum(each.size for each in sizes)
    k = int(np.argmax([each.max(initial=0.0) for each in sizes]))
    entry = int(np.argmax(sizes[k]))
    worst = proof.conditions[k]
    most = f"{named(worst.name, entry)} (by {sizes[k][entry]:.1e})"
    said = f"Violated by more than {proof.tol:.0e} of their sizes: {violated} of {number} rows, most of all {most}."
    size = np.broadcast_to(worst.slack_unit, np.shape(worst.slack)).ravel()[entry]
    said += f" There it is off by {abs(np.ravel(worst.slack)[entry]):.4g}, beside its size of {size:.4g}."
    return replace(proof, words=f"{proof.words} {said}".lstrip())


def with_reasons(proof: ProblemProof, problem: Any) -> ProblemProof:
    """Add to a proof that is undecided which constraints leave no Slater point, if any."""
    if proof.status != "undecided":
        return proof
    words = no_slater_point(Model.of(problem, maximise=True, moving=False))
    return replace(proof, words=f"{proof.words} {words}".strip())
