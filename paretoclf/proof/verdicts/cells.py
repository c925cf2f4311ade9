"""Proofs of many cells at once: points of a grid, regions of a map (`paretoclf.proof.maps.cost_regions`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import UNDECIDED
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.proof import Proof


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
        return f"{self.cell}: primal and dual value differ by at most {self.difference:.1e}"


@dataclass(frozen=True, repr=False)
class CellsProof(Proof[CellCertificate]):
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
    places : mapping of str to array of shape (k,)
        A point of each cell, by its parameters.
    part, whole : str
        What a cell is called, and where all of them are.
    writer : callable, optional
        Writes the certificate file of what was proved.
    """

    gap: Array = field(repr=False)
    unexplained: Array = field(repr=False)
    difference: Array = field(repr=False)
    residuals: Mapping[str, Array] = field(repr=False)
    samples: Index | None = field(default=None, repr=False)
    note: str = ""
    kernel: Array | None = field(default=None, repr=False, kw_only=True)
    places: Mapping[str, Array] = field(default_factory=dict, repr=False, kw_only=True)
    part: str = field(default="cell", kw_only=True)
    whole: str = field(default="in every cell", kw_only=True)
    writer: Callable[..., None] | None = field(default=None, repr=False, compare=False, kw_only=True)

    def __getitem__(self, cell: int) -> CellCertificate:
        j = range(len(self))[cell]
        where = ", ".join(f"{name} = {values[j]:.6g}" for name, values in self.places.items())
        return CellCertificate(
            cell=f"{self.part.capitalize()} {j}" + (f" ({where})" if where else ""),
            scale=1.0,
            kernel_rounding=0.0 if self.kernel is None else float(self.kernel[j]),
            unexplained=float(self.unexplained[j]),
            difference=float(self.difference[j]),
            **self._fields(j),
        )


class PiecesProof(Proof[CellCertificate]):
    """Proof that two bounds of the optimal value are within eps of each other, piece by piece of a line."""

    eps: float
    difference: Array

    part, whole, residuals, samples, kernel = "piece", "", MappingProxyType[str, Array]({}), None, None

    @property
    def unexplained(self) -> Array:  # type: ignore[override]
        """Part of the gap that rounding does not explain: all of it, as rounding is part of the bounds."""
        return self.gap

    def _ends_of(self, piece: int) -> str:
        """Say from where to where a piece goes."""
        raise NotImplementedError

    def __getitem__(self, piece: int) -> CellCertificate:
        number = range(len(self))[piece]
        return CellCertificate(
            cell=f"Between {self._ends_of(number)}",
            scale=1.0,
            unexplained=float(self.gap[number]),
            difference=float(self.difference[number]),
            **self._fields(number),
        )

    def failures(self, tol: float | None = None) -> Index:
        """Numbers of the pieces on which the bounds are not within ``tol``, by default eps."""
        return super().failures(self.eps if tol is None else tol)
