"""Proofs of many cells at once: the points of a grid, or the regions of a map. What each of them consists of is arrays.

Of a cell there is one certificate. That of a point is about that point; that of a region about every point of it (see
`paretoclf.proof.regions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from paretoclf.checks import Array, Index
from paretoclf.proof.certificates import Certificate
from paretoclf.tolerances import CERTIFY, UNDECIDED

_SLACKNESS = ("complementarity",)


@dataclass(frozen=True, repr=False, kw_only=True)
class CellCertificate(Certificate):
    """What is proved of one cell: the largest gap and residuals. The two values, which differ all over it, are nan.

    ``kernel_rounding`` is relative to the value: ``scale`` is 1.

    Attributes
    ----------
    cell : str
        Which cell it is.
    unexplained : float
        The gap without what rounding alone can make.
    difference : float
        Largest difference of the primal and the dual value.
    """

    cell: str
    unexplained: float
    difference: float

    @property
    def _rounded(self) -> bool:
        return self.unexplained == 0.0

    def _closed(self, tol: float) -> bool:
        return self.unexplained <= tol and self.gap <= max(tol, UNDECIDED)

    def _bounds(self, tol: float) -> str:
        return f"{self.cell}, primal and dual value differ by at most {self.difference:.1e}"


@dataclass(frozen=True)
class CellsProof:
    """Bounds for each of k cells.

    Attributes
    ----------
    gap : array of shape (k,)
        Largest duality gap, relative to the size of the value.
    unexplained : array of shape (k,)
        The same without gaps that rounding alone can make; never more than ``gap``.
    difference : array of shape (k,)
        Largest difference of primal and dual value.
    residuals : mapping of str to array of shape (k,)
        Largest residual of each optimality condition.
    samples : int array of shape (k,), optional
        Where complementarity is worst.
    note : str
        What `explain` adds about the problem that was judged.
    kernel : array of shape (k,), optional
        What rounding of the kernel values can make of the value, relative to it. None where these are the data.
    """

    gap: Array = field(repr=False)
    unexplained: Array = field(repr=False)
    difference: Array = field(repr=False)
    residuals: Mapping[str, Array] = field(repr=False)
    samples: Index | None = field(default=None, repr=False)
    note: str = ""
    kernel: Array | None = field(default=None, repr=False, kw_only=True)

    #: What a cell is called, and what all of them are.
    _cell, _whole = "cell", "in every cell"

    def _where(self, j: int) -> str:
        """Which cell it is, in words."""
        return f"In {self._cell} {j}"

    @cached_property
    def residual(self) -> Array:
        """Largest residual of each cell, shape (k,)."""
        return np.asarray(np.max(list(self.residuals.values()), axis=0))

    def failures(self, tol: float = CERTIFY) -> Index:
        """Numbers of the cells that are not proved, of the kernel values as rounded."""
        closed = (self.unexplained <= tol) & (self.gap <= max(tol, UNDECIDED))
        return np.flatnonzero(~((self.residual <= tol) & closed))

    def passes(self, tol: float = CERTIFY) -> bool:
        """Whether every cell is proved optimal up to tol (see `Certificate.passes`)."""
        return self.holds(tol) and self.of_other_values(tol).size == 0

    def holds(self, tol: float = CERTIFY) -> bool:
        """Whether every cell is proved for the kernel values as they are rounded (see `Certificate.holds`)."""
        return self.failures(tol).size == 0

    def of_other_values(self, tol: float = CERTIFY) -> Index:
        """Numbers of the cells where the rounding of the kernel values decides."""
        return np.zeros(0, dtype=np.int64) if self.kernel is None else np.flatnonzero(self.kernel > tol)

    def __len__(self) -> int:
        return int(self.gap.size)

    def __getitem__(self, cell: int) -> CellCertificate:
        j = range(len(self))[cell]
        residuals = {name: float(values[j]) for name, values in self.residuals.items()}
        largest = max(residuals, key=lambda name: residuals[name])
        return CellCertificate(
            cell=self._where(j),
            primal_value=float("nan"),
            dual_value=float("nan"),
            gap=float(self.gap[j]),
            scale=1.0,
            kernel_rounding=0.0 if self.kernel is None else float(self.kernel[j]),
            dual={name: value for name, value in residuals.items() if name not in _SLACKNESS},
            slackness={name: value for name, value in residuals.items() if name in _SLACKNESS},
            unexplained=float(self.unexplained[j]),
            shortfall=0.0,  # the bound on the gap is one from above
            difference=float(self.difference[j]),
            worst=largest if self.samples is None else int(self.samples[j]),
            worst_side=f"largest residual: {largest}, {residuals[largest]:.1e}",
            note=self.note,
        )

    @cached_property
    def worst(self) -> CellCertificate:
        """The cell with the largest residual or gap that rounding does not explain."""
        size = np.maximum(self.residual, self.unexplained)
        size = size if self.kernel is None else np.maximum(size, self.kernel)
        return self[int(np.argmax(np.where(np.isnan(size), np.inf, size)))]

    def explain(self, tol: float = CERTIFY) -> str:
        """Say in words what was proved, and name the worst cell, condition and sample."""
        if len(self) == 0:
            return f"There is no {self._cell} to prove."
        bad = self.failures(tol).size
        others = self.of_other_values(tol).size
        of = f", of the kernel values as rounded; in {others} the kernel's own may decide otherwise" if others else ""
        verdict = f"Optimal {self._whole}, {len(self)} {self._cell}s{of}."
        if bad:
            verdict = f"{bad} of {len(self)} {self._cell}s are not proved."
        return f"{verdict} Worst: {self.worst.explain(tol)}"

    def __repr__(self) -> str:
        bad = np.union1d(self.failures(), self.of_other_values()).size
        verdict = f"{bad} {'undecided' if self.holds() else 'not proved'}" if bad else "optimal"
        worst = float(np.max(self.residual, initial=0.0)), float(np.max(self.gap, initial=0.0))
        return (
            f"{type(self).__name__}({len(self)} {self._cell}s, {verdict}, gap={worst[1]:.1e}, residual={worst[0]:.1e})"
        )
