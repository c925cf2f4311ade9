"""What every solver of ours returns: a classifier with what stands behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.common.tables import Tabular
from paretoclf.problem.classifiers import Rule
from paretoclf.problem.gram import Gram
from paretoclf.problem.low_rank import Approximation
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.evidence import DualityTable, Evidence


@dataclass(frozen=True, repr=False)
class Solution(Tabular):
    """A solved problem, whoever solved it.

    Attributes
    ----------
    classifier : Rule
        Decision function, with w, b and the interval of all optimal b.
    evidence : Evidence
        Certificate, optimality conditions and named numbers.
    source : str
        Who computed it: ``"path"``, ``"CLARABEL"``, ...
    status : str
        What the source claimed about it. Never trusted; see the certificate.
    timing : mapping
        Seconds by stage, such as ``build``, ``solve``, ``polish``.
    values : mapping of str to float
        Parameters of the formulation.
    costs : Costs, optional
        Where in the cost plane: for the 2C-SVM, and for solutions that are one of it too.
    notes : tuple of str
        What a reader must know of this solution, such as that it is not the only one.
    """

    classifier: Rule
    evidence: Evidence = field(repr=False)
    source: str
    status: str = "optimal"
    timing: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    costs: Any = None
    notes: tuple[str, ...] = ()

    @property
    def certificate(self) -> Certificate:
        """The proof: bounds on the optimal value and KKT residuals."""
        return self.evidence.certificate

    @property
    def numbers(self) -> Mapping[str, Any]:
        """Variables and multipliers by name."""
        return self.evidence.numbers

    @property
    def alpha(self) -> Array:
        """Multipliers of the margin constraints, shape (n,), as they were judged.

        The formulations of samples that stand here put those that a solver left outside their box at its end first.
        """
        found = self.evidence.alpha
        return np.asarray(self._number("alpha") if found is None else found)

    @property
    def xi(self) -> Array:
        """Slacks, shape (n,)."""
        return np.asarray(self._number("xi"))

    @property
    def approximation(self) -> Approximation | None:
        """Note on what the approximated kernel gives up, with ``low_rank``; None where it is the kernel itself."""
        gram: Gram | None = getattr(self.classifier, "gram", None)
        return None if gram is None else gram.approximation

    @property
    def value(self) -> float:
        """Primal objective at a feasible point (an upper bound on the optimal value)."""
        return self.evidence.primal_value

    @property
    def dual_value(self) -> float:
        """Dual objective at a feasible point (a lower bound on the optimal value)."""
        return self.certificate.dual_value

    def __repr__(self) -> str:
        c, at = self.certificate, ", ".join(f"{name}={value:g}" for name, value in self.values.items())
        return (
            f"Solution({at + ': ' if at else ''}value {c.primal_value:.10g}, optimal value in "
            f"[{c.dual_value:.10g}, {c.primal_value:.10g}], gap {c.gap:.1e}, by {self.source})"
        )

    def summary(self) -> dict[str, Any]:
        """Parameters, value with its proved bounds, gap, largest residual, intercept, and who found it."""
        c = self.certificate
        proved = {"lower": c.dual_value, "upper": c.primal_value, "gap": c.gap, "residual": c.residual}
        return {**self.values, **proved, "b": self.classifier.b, "source": self.source}

    def _rows(self) -> Iterator[dict[str, Any]]:
        """One row: the summary."""
        yield self.summary()

    def duality_table(self) -> DualityTable:
        """Tabulate slack, multiplier and product of every primal constraint, the largest violation first."""
        return DualityTable.of(self.evidence.conditions)

    def _number(self, name: str) -> Any:
        if name not in self.numbers:
            raise InputError(f"this solution has no {name}, only {', '.join(self.numbers)}")
        return self.numbers[name]
