"""Proof of a line of classifiers: by the family that its problem belongs to."""

from __future__ import annotations

from paretoclf.problem.pieces import Pieces
from paretoclf.proof.lines.hull_lines import prove_hulls
from paretoclf.proof.lines.margin_lines import prove_margins
from paretoclf.proof.lines.refined_lines import Refined, prove_costs
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.segments.line_proof import LineProof


def prove_classifiers(problem: SoftMargin, stored: Pieces | Refined, parameter: str = "t") -> LineProof:
    """Prove what is stored of a line of classifiers, as `paretoclf.proof.lines.prove.prove` says."""
    if isinstance(stored, Refined) or (problem.nu is None and problem.caps is not None):
        return prove_costs(problem, stored, parameter)
    prove_family = prove_margins if problem.nu is None else prove_hulls
    return prove_family(problem, stored, parameter)
