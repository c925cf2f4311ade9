"""The certificates of many optima, as one answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import Index, keep
from paretoclf.common.tables import Tabular
from paretoclf.common.tolerances import CERTIFY
from paretoclf.proof.verdicts.certificate import Certificate


@dataclass(frozen=True, repr=False)
class Proofs(Tabular):
    """One certificate for each optimum.

    Attributes
    ----------
    certificates : tuple of Certificate
    samples : int array of shape (k,)
        The sample (or group) that each goes without; -1 for none.
    """

    certificates: tuple[Certificate, ...] = field(repr=False)
    samples: Index = field(repr=False)

    def __post_init__(self) -> None:
        keep(self, "samples")

    def __repr__(self) -> str:
        failed = sum(not each.passes() for each in self.certificates)
        verdict = f"{failed} not proved" if failed else "all optimal"
        return f"Proofs({len(self.certificates)} optima, {verdict}, gap={self.worst.gap:.1e})"

    def passes(self, tol: float = CERTIFY) -> bool:
        """Whether every optimum is proved up to tol (`Certificate.passes`)."""
        return all(each.passes(tol) for each in self.certificates)

    def holds(self, tol: float = CERTIFY) -> bool:
        """Whether every optimum is proved for the kernel values as they are rounded (`Certificate.holds`)."""
        return all(each.holds(tol) for each in self.certificates)

    @property
    def worst(self) -> Certificate:
        """The certificate with the largest residual or gap; one that fails comes before those that pass."""
        size = [(not each.passes(), max(each.gap, each.residual)) for each in self.certificates]
        return self.certificates[max(range(len(size)), key=size.__getitem__)]

    def explain(self, tol: float = CERTIFY) -> str:
        """Say in words what was proved, and of which sample the proof is worst."""
        failed = [int(i) for i, each in zip(self.samples, self.certificates, strict=True) if not each.passes(tol)]
        if failed:
            return f"{len(failed)} of {len(self.certificates)} optima are not proved, without {failed[:5]}."
        return f"Each of {len(self.certificates)} optima is proved. Worst: {self.worst.explain(tol)}"

    def _rows(self) -> Iterator[dict[str, Any]]:
        for i, each in zip(self.samples, self.certificates, strict=True):
            without = int(i) if i >= 0 else np.nan
            yield {"without": without, "value": each.primal_value, "gap": each.gap, "residual": each.residual}
