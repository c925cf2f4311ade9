"""Proofs of many parts at once: segments of a line, points of a grid, regions of a map. They consist of arrays.

Each part has one certificate. That of a point is about that point; that of a region about every point of it (see
`paretoclf.proof.maps.cost_regions`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Generic, Self, TypeVar

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import CERTIFY, UNDECIDED
from paretoclf.proof.verdicts.certificate import Certificate

_PRIMAL, _SLACKNESS = ("margin", "value", "rows"), ("complementarity", "slackness")

Part = TypeVar("Part", bound=Certificate)


def refuse_labels(positive: object) -> None:
    """Raise InputError where a label is given for the certificate file of a program, which has none."""
    if positive is not None:
        raise InputError(f"positive is what y = +1 stands for; a program has no labels, got {positive!r:.100}")


class Proof(Generic[Part]):
    """Bounds for each of k parts, arrays with a row for each; of a part there is one certificate."""

    #: The largest gap of each part, relative to the value; the same without what rounding explains.
    gap: Array
    unexplained: Array
    #: What rounding of the kernel values can make of the value, relative to it; None where these are the data.
    kernel: Array | None
    #: Largest residual of each condition, where complementarity is worst, and what `explain` adds.
    residuals: Mapping[str, Array]
    samples: Index | None
    note: str
    #: What writes the certificate file of a path or a map, where the proof belongs to one.
    writer: Callable[..., None] | None = None

    #: What a part is called, where all of them are, and names of the arrays that have a row for each.
    part: str
    whole: str
    _rows: tuple[str, ...] = ("gap", "unexplained", "difference", "samples", "kernel")

    def __len__(self) -> int:
        return int(self.gap.size)

    def __getitem__(self, part: int) -> Part:
        """The certificate of a part."""
        raise NotImplementedError

    def closed(self, tol: float = CERTIFY) -> Mask:
        """Whether the gap of each part is at most tol, or what rounding explains of it, everywhere on it."""
        return np.asarray((self.unexplained <= tol) & (self.gap <= max(tol, UNDECIDED)))

    @cached_property
    def residual(self) -> Array:
        """Largest residual of each part, shape (k,)."""
        return np.asarray(np.max([np.zeros(len(self)), *self.residuals.values()], axis=0))

    def failures(self, tol: float = CERTIFY) -> Index:
        """Numbers of the parts that are not proved, of the kernel values as rounded."""
        return np.flatnonzero(~((self.residual <= tol) & self.closed(tol)))

    def holds(self, tol: float = CERTIFY) -> bool:
        """Whether every part is proved for the kernel values as they are rounded (`Certificate.holds`)."""
        return self.failures(tol).size == 0

    def passes(self, tol: float = CERTIFY) -> bool:
        """Whether every part is proved optimal up to tol (see `Certificate.passes`)."""
        return self.holds(tol) and self.of_other_values(tol).size == 0

    def save(
        self,
        file: str | os.PathLike[str],
        level: str | None = None,
        progress: bool | None = None,
        n_jobs: int | None = None,
        positive: str | float | None = None,
    ) -> None:
        """Write the certificate file of what was proved, which a plain script checks without rounding.

        The formats, and what each proves: docs/reference/certificate_files.md. The points in the file of a path within
        eps, or of a curve, are a little beside those of the path, and so is the band that the checker states.

        Parameters
        ----------
        file : path
            Compressed if its name ends in ``.gz``.
        level : str, optional
            None, or the one level that there is: ``"band"`` of a path within eps, ``"curve"`` of a curve, ``"exact"``
            of a map.
        progress : bool, optional
            Whether to show a bar; by default on a terminal.
        n_jobs : int, optional
            Not used: parts are taken one after the other.
        positive : str or number, optional
            Of a map of costs the label that y = +1 stands for in the reader's data; default ``"1"``. Of a program,
            which has no labels, None.

        Raises
        ------
        InputError
            If no certificate can be written: the message says why. There is no file then.
        """
        if self.writer is None:
            raise InputError(
                f"no certificate file can be written of a {type(self).__name__}, but of a path or a map that there is, "
                "by path.proof.save. Save the path or map itself, with its save(file): it is proved again from the "
                "file when its proof is asked for"
            )
        self.writer(file, level=level, progress=progress, n_jobs=n_jobs, positive=positive)

    def of_other_values(self, tol: float = CERTIFY) -> Index:
        """Numbers of the parts where the rounding of the kernel values decides."""
        return np.zeros(0, dtype=np.int64) if self.kernel is None else np.flatnonzero(self.kernel > tol)

    def _fields(self, part: int) -> dict[str, Any]:
        """Fields that certificates of all parts share; the two values, which differ all over a part, are nan."""
        residuals = {name: float(values[part]) for name, values in self.residuals.items()}
        largest = max(residuals, key=lambda name: residuals[name], default="")
        return {
            "primal_value": float("nan"),
            "dual_value": float("nan"),
            "gap": float(self.gap[part]),
            "primal": {name: residuals[name] for name in residuals if name in _PRIMAL},
            "dual": {name: residuals[name] for name in residuals if name not in (*_PRIMAL, *_SLACKNESS)},
            "slackness": {name: residuals[name] for name in residuals if name in _SLACKNESS},
            "shortfall": 0.0,  # the bound on the gap is one from above
            "worst": largest if self.samples is None else int(self.samples[part]),
            "worst_side": f"largest residual: {largest}, {residuals[largest]:.1e}" if largest else "",
            "note": self.note,
        }

    def most(self, among: Index) -> int:
        """Which of some parts has the largest residual or gap."""
        size = np.maximum(self.residual[among], self.gap[among])
        return int(among[np.argmax(np.where(np.isnan(size), np.inf, size))])

    @cached_property
    def worst(self) -> Part:
        """The certificate of the part with the largest residual or gap that rounding does not explain."""
        size = np.maximum(self.residual, self.unexplained)
        size = size if self.kernel is None else np.maximum(size, self.kernel)
        return self[int(np.lexsort((self.gap, np.where(np.isnan(size), np.inf, size)))[-1])]

    def _everywhere(self) -> str:
        """Where it is proved, in words."""
        return f"{self.whole}, {len(self)} {self.part}s"

    def _besides(self, tol: float) -> str:
        """A sentence on what is so up to rounding, if anything is."""
        return ""

    def explain(self, tol: float = CERTIFY) -> str:
        """Say in words what was proved, and name the worst part, condition and sample."""
        if len(self) == 0:
            return f"There is no {self.part} to prove."
        bad, others = self.failures(tol), self.of_other_values(tol).size
        if bad.size:
            verdict = f"{bad.size} of {len(self)} {self.part}s are not proved."
            return f"{verdict} Worst: {self[self.most(bad)].explain(tol)}"
        of = f", of the kernel values as rounded; on {others} the kernel's own may decide otherwise" if others else ""
        return f"Optimal {self._everywhere()}{of}.{self._besides(tol)} Worst: {self.worst.explain(tol)}"

    def with_parts(self, which: Any, other: Self) -> Self:
        """Take the bounds on some parts from another proof, which consists of these."""

        def put(mine: Any, theirs: Any) -> Any:
            out = mine.copy()
            out[which] = theirs
            return out

        changed: dict[str, Any] = {
            name: put(getattr(self, name), getattr(other, name))
            for name in self._rows
            if getattr(self, name) is not None
        }
        changed["residuals"] = {name: put(values, other.residuals[name]) for name, values in self.residuals.items()}
        changed["note"] = other.note if self.note in other.note else f"{other.note} {self.note}".lstrip()
        proof: Any = self
        out: Self = replace(proof, **changed)
        return out

    def __repr__(self) -> str:
        bad = np.union1d(self.failures(), self.of_other_values()).size
        verdict = (
            "optimal" if self.passes() else f"{bad or ''} {'undecided' if self.holds() else 'not proved'}".lstrip()
        )
        worst = float(np.max(self.residual, initial=0.0)), float(np.max(self.gap, initial=0.0))
        kind = type(self).__name__
        return f"{kind}({len(self)} {self.part}s, {verdict}, gap={worst[1]:.1e}, residual={worst[0]:.1e})"
