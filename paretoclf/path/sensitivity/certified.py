"""The optimum around which ranges and derivatives are, for their certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paretoclf.common.checks import Array
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.path.sensitivity.optimal_basis import labels_at
from paretoclf.proof.files.ranges_certificate import FoundMove, ranges_certificate, stated_point


@dataclass(frozen=True)
class ProvedOptimum:
    """A proved optimum of a compiled program.

    Attributes
    ----------
    line : ProgramLine
        Whose beginning is the program.
    x, z : arrays of shape (n,), (m,)
    """

    line: ProgramLine
    x: Array
    z: Array

    def certificate(self, moves: Sequence[FoundMove], progress: bool | None = None) -> dict[str, Any]:
        """Make the content of the certificate file of some movements of its data."""
        line = self.line
        problem = stated_point(line.problem, float(line.constant[0]), line.sense)
        return ranges_certificate(problem, labels_at(line, self.x, self.z), moves, progress)
