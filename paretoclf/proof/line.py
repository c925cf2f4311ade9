r"""The proof of a whole line: what is known of *every* parameter t, segment by segment.

On a segment multipliers, caps, intercept and scores are affine in t, so every residual that a certificate measures is
largest at an end, and the duality gap is a sum of products of two affine functions. Its three Bernstein coefficients
bound it between the ends, too (docs/explanation/duality.md has the theorem).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.checks import Array, Index, Mask
from paretoclf.errors import InputError
from paretoclf.proof.certificates import Certificate
from paretoclf.proof.stored import Stored, totals
from paretoclf.tolerances import CERTIFY, UNDECIDED

_TINY = float(np.finfo(float).tiny)

_PRIMAL, _SLACKNESS = ("margin", "value"), ("complementarity",)


@dataclass(frozen=True)
class LineProof:
    """Bounds for every parameter t of a line, an entry for each of its m segments.

    Attributes
    ----------
    t : array of shape (m + 1,)
        Ends of the segments.
    gaps : array of shape (m, 3)
        Bernstein coefficients of a quadratic polynomial that is nowhere on its segment below the duality gap, the
        objective at the stored primal point minus that at a feasible dual point.
    sizes : array of shape (m, 3)
        Bernstein coefficients of a polynomial nowhere above what the gap is relative to.
    rounding : array of shape (m, 3)
        The same for what rounding alone can make of the gap.
    duals : array of shape (m, 3)
        Bernstein coefficients of the dual objective.
    residuals : mapping of str to array of shape (m,)
        Largest residual of each optimality condition on each segment, and ``"value"``: how far the stored optimal value
        is from the proved one, relative to it.
    samples : int array of shape (m,)
        Where the complementarity of each segment is worst.
    parameter : str
        What t is called.
    note : str
        What `explain` adds about the problem that was judged.
    kernel_rounding : array of shape (m,), optional
        As in a certificate: the largest on each segment. None where kernel values are the data.
    writer : callable, optional
        Writes the certificate file of what was proved.
    """

    t: Array = field(repr=False)
    gaps: Array = field(repr=False)
    sizes: Array = field(repr=False)
    rounding: Array = field(repr=False)
    duals: Array = field(repr=False)
    residuals: Mapping[str, Array] = field(repr=False)
    samples: Index = field(repr=False)
    parameter: str = "t"
    note: str = ""
    kernel_rounding: Array | None = field(default=None, repr=False)
    writer: Callable[..., None] | None = field(default=None, repr=False, compare=False)

    def save(self, file: str | os.PathLike[str], level: str | None = None, progress: bool | None = None) -> None:
        """Write a certificate file, which anybody can check without this library.

        Parameters
        ----------
        file : path
            Such as ``"wdbc.proof.json.gz"``; compressed if its name ends in ``.gz``.
        level : str, optional
            ``"exact"``: optimal without any rounding, for the numbers of the problem as the fractions that they are;
            ``python check.py FILE``. ``"bounded"``: the path as it is stored, and how far it is from optimal at any t,
            without rounding; ``python check_gap.py FILE``. By default exact where that is expected to take no more
            than a minute. The file says which it is.
        progress : bool, optional
            Whether to show a bar; by default on a terminal.

        Raises
        ------
        InputError
            If no such certificate can be written: the message says why. There is no file then.

        Examples
        --------
        >>> import subprocess, sys, tempfile
        >>> import paretoclf as pc
        >>> from paretoclf.proof import check
        >>> path = pc.trace(pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]), start=(0, 0), stop=(1, 1))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path.proof.save(f"{folder}/four.proof.json.gz")
        ...     command = [sys.executable, check.__file__, f"{folder}/four.proof.json.gz"]
        ...     print(subprocess.run(command, capture_output=True, text=True).stdout[:46])
        PROVED without rounding: for every t in [0, 1]
        """
        if self.writer is None:
            raise InputError("no certificate file can be written of this proof: it does not belong to a path")
        self.writer(file, level=level, progress=progress)

    @cached_property
    def gap(self) -> Array:
        """Largest duality gap on each segment, relative to the value, shape (m,).

        Where rounding explains all of it, and the value may vanish, it is relative to the largest value of the segment.
        """
        # sum_k g_k B_k(t) / sum_k s_k B_k(t) is a mean of the three quotients.
        explained = (self.gaps <= self.rounding).all(axis=1, keepdims=True)
        unit = np.where(explained, self.sizes.max(axis=1, keepdims=True), self.sizes)
        with np.errstate(over="ignore"):
            return np.asarray(np.where(self.gaps > 0.0, self.gaps / np.maximum(unit, _TINY), 0.0).max(axis=1))

    @cached_property
    def residual(self) -> Array:
        """Largest residual on each segment, shape (m,)."""
        return np.asarray(np.max(list(self.residuals.values()), axis=0))

    def closed(self, tol: float = CERTIFY) -> Mask:
        """Whether the gap of each segment is at most tol, or what rounding explains of it, everywhere on it."""
        room, rounding = tol * self.sizes, np.minimum(self.rounding, UNDECIDED * self.sizes)
        # The mean of the two is at most the larger: that does where each of them is on another part of the segment.
        allowed = [room, rounding, 0.5 * (room + rounding)]
        return np.array([(self.gaps <= bound).all(axis=1) for bound in allowed]).any(axis=0).reshape(-1)

    def failures(self, tol: float = CERTIFY) -> Index:
        """Numbers of the segments that are not proved, of the kernel values as rounded."""
        return np.flatnonzero(~((self.residual <= tol) & self.closed(tol)))

    def holds(self, tol: float = CERTIFY) -> bool:
        """Whether every t of the line is proved for the kernel values as they are rounded (`Certificate.holds`)."""
        return self.failures(tol).size == 0

    def passes(self, tol: float = CERTIFY) -> bool:
        """Whether every t of the line is proved optimal up to tol (see `Certificate.passes`)."""
        return self.holds(tol) and self.of_other_values(tol).size == 0

    def of_other_values(self, tol: float = CERTIFY) -> Index:
        """Numbers of the segments where the rounding of the kernel values decides."""
        return np.flatnonzero(self._unknown > tol)

    @property
    def _unknown(self) -> Array:
        """Relative to the value, what rounding of the kernel values can make of it, shape (m,)."""
        if self.kernel_rounding is None:
            return np.zeros(len(self))
        return np.asarray(self.kernel_rounding / np.maximum(self.sizes.max(axis=1), _TINY))

    def of_kernel(self, rounding: Array | None, stored: Stored, caps: Array, lam: float = 1.0) -> LineProof:
        """The same with what rounding of the kernel values can do.

        Parameters
        ----------
        rounding : array of shape (n,), optional
            `Gram.rounding`.
        stored : Stored
            What was proved.
        caps : array of shape (2, n)
            Caps of the multipliers at t = 0 and t = 1.
        lam : float
            The squared norm counts ``|sum_i y_i alpha_i x_i|^2 / (2 lam)``.
        """
        if rounding is None:
            return self
        return replace(self, kernel_rounding=(0.5 / lam) * totals(stored, caps, rounding).max(axis=1) ** 2)

    def __len__(self) -> int:
        return int(self.t.size - 1)

    def __getitem__(self, segment: int) -> SegmentCertificate:
        j = range(len(self))[segment]
        residuals = {name: float(values[j]) for name, values in self.residuals.items()}
        largest = max(residuals, key=lambda name: residuals[name], default="")
        return SegmentCertificate(
            segment=j,
            interval=(float(self.t[j]), float(self.t[j + 1])),
            parameter=self.parameter,
            bounds=(self.gaps[j], self.sizes[j], self.rounding[j]),
            primal_value=float("nan"),
            dual_value=float("nan"),
            gap=float(self.gap[j]),
            scale=float(self.sizes[j].max()),
            primal={name: residuals[name] for name in residuals if name in _PRIMAL},
            dual={name: residuals[name] for name in residuals if name not in (*_PRIMAL, *_SLACKNESS)},
            slackness={name: residuals[name] for name in residuals if name in _SLACKNESS},
            rounding=float(self.rounding[j].min()),
            kernel_rounding=0.0 if self.kernel_rounding is None else float(self.kernel_rounding[j]),
            shortfall=0.0,  # the bound on the gap is one from above
            worst=int(self.samples[j]),
            worst_side=f"largest residual: {largest}, {residuals[largest]:.1e}" if largest else "",
            note=self.note,
        )

    @cached_property
    def worst(self) -> SegmentCertificate:
        """The segment with the largest residual or gap that rounding does not explain."""
        explained = (self.gaps <= np.minimum(self.rounding, UNDECIDED * self.sizes)).all(axis=1)
        size = np.maximum(np.maximum(self.residual, self._unknown), np.where(explained, 0.0, self.gap))
        size = np.where(np.isnan(size), np.inf, size)
        return self[int(np.lexsort((self.gap, size))[-1])]

    def explain(self, tol: float = CERTIFY) -> str:
        """Say in words what was proved, and name the worst segment, condition and sample."""
        lo, hi = self.t[0], self.t[-1]
        bad = self.failures(tol)
        if bad.size:
            verdict = f"{bad.size} of {len(self)} segments are not proved."
            return f"{verdict} {self[self.most(bad)].explain(tol)}"
        verdict = f"Optimal at every {self.parameter} in [{lo:.6g}, {hi:.6g}], on each of {len(self)} segments"
        others = self.of_other_values(tol).size
        of = f", of the kernel values as rounded; on {others} the kernel's own may decide otherwise" if others else ""
        return f"{verdict}{of}. Worst: {self.worst.explain(tol)}"

    def most(self, among: Index) -> int:
        """Which of some segments has the largest residual or gap."""
        size = np.maximum(self.residual[among], self.gap[among])
        return int(among[np.argmax(np.where(np.isnan(size), np.inf, size))])

    def times(self, unit: float) -> LineProof:
        """The same with all values in another unit."""
        values = {name: unit * getattr(self, name) for name in ("gaps", "sizes", "rounding", "duals")}
        return replace(self, **values)

    def with_segments(self, which: Index, other: LineProof) -> LineProof:
        """Take the bounds on some segments from another proof, which consists of these."""

        def put(mine: Any, theirs: Any) -> Any:
            out = mine.copy()
            out[which] = theirs
            return out

        return replace(
            self,
            gaps=put(self.gaps, other.gaps),
            sizes=put(self.sizes, other.sizes),
            rounding=put(self.rounding, other.rounding),
            duals=put(self.duals, other.duals),
            residuals={name: put(values, other.residuals[name]) for name, values in self.residuals.items()},
            samples=put(self.samples, other.samples),
            note=" ".join(dict.fromkeys(filter(None, (other.note, self.note)))),
        )

    def __repr__(self) -> str:
        open_ = np.union1d(self.failures(), self.of_other_values()).size
        verdict = f"{open_} {'undecided' if self.holds() else 'not proved'}" if open_ else "optimal"
        worst = float(np.max(self.residual)), float(np.max(self.gap))
        return f"LineProof({len(self)} segments, {verdict}, gap={worst[1]:.1e}, residual={worst[0]:.1e})"


@dataclass(frozen=True, repr=False, kw_only=True)
class SegmentCertificate(Certificate):
    """What is proved of every point of one segment: a certificate of all of them.

    Attributes
    ----------
    segment : int
    interval : pair of float
        Its two ends.
    parameter : str
        What t is called.
    bounds : three arrays of shape (3,)
        ``gaps``, ``sizes`` and ``rounding`` of `LineProof`; gap and scale are the largest on the segment, rounding is
        the least. The two values differ from point to point; they are nan.
    """

    segment: int
    interval: tuple[float, float]
    parameter: str = "t"
    bounds: tuple[Array, Array, Array] = field(repr=False)

    @property
    def _rounded(self) -> bool:
        return bool((self.bounds[0] <= self.bounds[2]).all())

    def _closed(self, tol: float) -> bool:
        gaps, sizes, rounding = (x[None] for x in self.bounds)
        t, none = np.array(self.interval), np.zeros(1, dtype=np.int64)
        return bool(LineProof(t, gaps, sizes, rounding, gaps, {}, none).closed(tol).all())

    def _bounds(self, tol: float) -> str:
        lo, hi = self.interval
        where = f"segment {self.segment}, {self.parameter} in [{lo:.6g}, {hi:.6g}]"
        return f"On {where}, primal and dual value differ by at most {self.bounds[0].max():.1e}"
