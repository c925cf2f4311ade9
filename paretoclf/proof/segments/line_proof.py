r"""The proof of a whole line: bounds for *every* parameter t, segment by segment.

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

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import CERTIFY, UNDECIDED
from paretoclf.proof.segments import bernstein
from paretoclf.proof.segments.stored_values import value_residual
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.proof import Proof

_TINY = float(np.finfo(float).tiny)
_SHOWN = 3  # stretches that are named


@dataclass(frozen=True, repr=False)
class LineProof(Proof["SegmentCertificate"]):
    """Bounds for every parameter t of a line, an entry for each of its m segments.

    Attributes
    ----------
    t : array of shape (m + 1,)
        Ends of the segments.
    gaps : array of shape (m, 3)
        Bernstein coefficients of a quadratic polynomial that is nowhere on its segment below the duality gap, the
        objective at the stored primal point minus that at a feasible dual point.
    sizes : array of shape (m, 3)
        Bernstein coefficients of a polynomial nowhere above the size that the gap is relative to.
    rounding : array of shape (m, 3)
        Bernstein coefficients of a polynomial nowhere above the gap that rounding alone can make.
    duals : array of shape (m, 3)
        Bernstein coefficients of the dual objective.
    residuals : mapping of str to array of shape (m,)
        Largest residual of each optimality condition on each segment, and ``"value"``: how far the stored optimal value
        is from the proved one, relative to it.
    samples : int array of shape (m,), optional
        Where the complementarity of each segment is worst. None where it is not about samples.
    parameter : str
        Name of t.
    note : str
        Note on the problem that was judged, for `explain`.
    kernel_rounding : array of shape (m,), optional
        As in a certificate: the largest on each segment. None where kernel values are the data.
    writer : callable, optional
        Writes the certificate file of what was proved.
    allowed : three arrays of shape (m, 3), optional
        Bounds on the optimal values (`paretoclf.proof.segments.stored_values.value_residual`): lower bounds, how far
        above these the values may be, and sizes. None where not all segments were proved together.
    gap : array of shape (m,)
        Largest duality gap on each segment, relative to ``sizes``: the value, and for a 2nu-SVM nu times rho, its
        largest term. Where rounding explains all of it, and that may vanish, relative to the largest on the segment.
    unexplained : array of shape (m,)
        Largest gap of each segment, but 0 where rounding alone can make it.
    kernel : array of shape (m,), optional
        `kernel_rounding`, relative to the largest size of the segment.
    """

    t: Array = field(repr=False)
    gaps: Array = field(repr=False)
    sizes: Array = field(repr=False)
    rounding: Array = field(repr=False)
    duals: Array = field(repr=False)
    residuals: Mapping[str, Array] = field(repr=False)
    samples: Index | None = field(repr=False)
    parameter: str = "t"
    note: str = ""
    kernel_rounding: Array | None = field(default=None, repr=False)
    writer: Callable[..., None] | None = field(default=None, repr=False, compare=False)
    allowed: tuple[Array, Array, Array] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        t: Array,
        bounds: tuple[Array, Array, Array, Array],
        residuals: Mapping[str, Array],
        samples: Index | None = None,
        stored: tuple[Array, tuple[Array, Array, Array]] | None = None,
        ends: tuple[float, float] = (0.0, 1.0),
        **named: Any,
    ) -> LineProof:
        """Make the proof of segments from ``t[:, 0]`` to ``t[:, 1]``, of a path that begins and ends exactly at ends.

        ``bounds`` are gaps, sizes, rounding and duals; ``stored`` are optimal values (m, 3) and what they are held
        against (``allowed``); ``named`` are other attributes.
        """
        knots, allowed = np.append(t[:, 0], t[-1:, 1]), None
        if stored is not None:
            value, allowed = stored
            residuals = {**residuals, "value": value_residual(t, value, *allowed, ends)}
        return cls(knots, *bounds, residuals, samples, allowed=allowed, **named)

    part, _rows = "segment", ("gaps", "sizes", "rounding", "duals", "samples")

    def __len__(self) -> int:
        return int(self.gaps.shape[0])

    @cached_property
    def gap(self) -> Array:  # type: ignore[override]  # computed, where others store it
        """The largest gap of each segment."""
        # sum_k g_k B_k(t) / sum_k s_k B_k(t) is a mean of the three quotients.
        explained = (self.gaps <= self.rounding).all(axis=1, keepdims=True)
        most = self.sizes.max(axis=1, keepdims=True)
        with np.errstate(over="ignore"):
            quotients = self.gaps / np.maximum(np.where(explained, most, self.sizes), _TINY)
        return np.asarray(np.where(self.gaps > 0.0, quotients, 0.0).max(axis=1))

    @cached_property
    def unexplained(self) -> Array:  # type: ignore[override]
        """Largest gap of each segment, and 0 where rounding alone can make it."""
        rounded = (self.gaps <= np.minimum(self.rounding, UNDECIDED * self.sizes)).all(axis=1)
        return np.where(rounded, 0.0, self.gap)

    @cached_property
    def kernel(self) -> Array | None:  # type: ignore[override]
        """Bound on what rounding of the kernel values does to the value on each segment, relative to it."""
        if self.kernel_rounding is None:
            return None
        return np.asarray(self.kernel_rounding / np.maximum(self.sizes.max(axis=1), _TINY))

    def save(
        self,
        file: str | os.PathLike[str],
        level: str | None = None,
        progress: bool | None = None,
        n_jobs: int | None = None,
        positive: str | float | None = None,
    ) -> None:
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
        n_jobs : int, optional
            Processes that try labels, where the certificate is exact; the file is the same.
        positive : str or number, optional
            The label that y = +1 stands for in the reader's data, such as ``"malignant"``; default ``"1"``.
            The checker compares it with the labels of the data that are given to it.

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
        super().save(file, level, progress, n_jobs, positive)

    def closed(self, tol: float = CERTIFY) -> Mask:
        """Whether the gap of each segment is at most tol, or what rounding explains of it, everywhere on it."""
        tolerated, rounding = tol * self.sizes, np.minimum(self.rounding, UNDECIDED * self.sizes)
        # The mean of the two is at most the larger: it suffices where each is the larger on a part of the segment.
        allowed = [tolerated, rounding, 0.5 * (tolerated + rounding)]
        return np.array([(self.gaps <= bound).all(axis=1) for bound in allowed]).any(axis=0).reshape(-1)

    def rounded(self, tol: float = CERTIFY) -> list[tuple[float, float]]:
        """Stretches on which gap and rounding together may be more than tol of what the gap is relative to.

        There the proof holds up to rounding: next to where the hulls of a 2nu-SVM meet nothing else is left of
        the value, and certificates of single points are undecided.

        Returns
        -------
        list of pairs of float
            From where to where, in order.

        Examples
        --------
        >>> import paretoclf as pc
        >>> svm = pc.TwoNuSVM([[2.0], [1.0], [-0.5], [0.0], [-1.0], [-3.0]], [1, 1, 1, -1, -1, -1])
        >>> path = pc.trace(svm, nu=(0, None), asymmetry=0.5)
        >>> ((low, high),) = path.proof.rounded()
        >>> low == path.star.nu, high - low < 1e-4, path.at(high).certificate.passes()
        (True, True, True)
        """
        slack = tol * self.sizes - self.gaps - self.rounding
        found: list[tuple[float, float]] = []
        for j in np.flatnonzero(~(slack >= 0.0).all(axis=1)).tolist():
            start, stop = (float(t) for t in self.t[j : j + 2])
            for shares in bernstein.negative(slack[j]):
                low, high = (share * stop + (1.0 - share) * start for share in shares)
                if found and found[-1][1] >= low:  # one stretch, across a breakpoint
                    low = found.pop()[0]
                found.append((low, high))
        return found

    def __getitem__(self, segment: int) -> SegmentCertificate:
        j = range(len(self))[segment]
        start, end = self.t[j : j + 2].tolist()
        gaps, sizes, rounding = self.gaps[j], self.sizes[j], self.rounding[j]
        kernel_rounding = 0.0 if self.kernel_rounding is None else float(self.kernel_rounding[j])
        return SegmentCertificate(
            segment=j,
            interval=(start, end),
            parameter=self.parameter,
            bounds=(gaps, sizes, rounding),
            scale=float(sizes.max()),
            rounding=float(rounding.min()),
            kernel_rounding=kernel_rounding,
            **self._fields(j),
        )

    def _everywhere(self) -> str:
        """Say at which t the proof holds."""
        return f"at every {self.parameter} in [{self.t[0]:.6g}, {self.t[-1]:.6g}], on each of {len(self)} segments"

    def _besides(self, tol: float) -> str:
        """Say where the proof holds up to rounding only."""
        found = self.rounded(tol)
        if not found:
            return ""
        where = ", ".join(f"[{low:.10g}, {high:.10g}]" for low, high in found[:_SHOWN])
        more = f" and on {len(found) - _SHOWN} more stretches" if len(found) > _SHOWN else ""
        said = f"With {self.parameter} in {where}{more} that is so up to rounding"
        return f" {said}, which may be more than {tol:.0e} of what the gap is relative to."

    def times(self, unit: float) -> LineProof:
        """Multiply all objective values by a factor."""
        values = {name: unit * getattr(self, name) for name in ("gaps", "sizes", "rounding", "duals")}
        return replace(self, allowed=None, **values)

    def with_parts(self, which: Any, other: LineProof) -> LineProof:
        """Take the bounds on some segments from another proof, which consists of these."""
        return replace(super().with_parts(which, other), allowed=None)

    def with_values(self, value: Array) -> LineProof | None:
        """Prove other stored values (m, 3), on which only their own residual depends; None if bounds are unknown."""
        if self.allowed is None:
            return None
        t, ends = bernstein.pairs(self.t), (self.t[0], self.t[-1])
        residual = value_residual(t, value, *self.allowed, ends)
        return replace(self, residuals={**self.residuals, "value": residual})


@dataclass(frozen=True, repr=False, kw_only=True)
class SegmentCertificate(Certificate):
    """Certificate of every point of one segment.

    Attributes
    ----------
    segment : int
    interval : pair of float
        Its two ends.
    parameter : str
        Name of t.
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
        """Whether rounding explains the gap, all along the segment."""
        return bool((self.bounds[0] <= self.bounds[2]).all())

    def _closed(self, tol: float) -> bool:
        """Whether the gap is at most tol, or what rounding explains of it, all along the segment."""
        gaps, sizes, rounding = (bound[None] for bound in self.bounds)
        t, samples = np.array(self.interval), np.zeros(1, dtype=np.int64)
        proof = LineProof(t, gaps, sizes, rounding, duals=gaps, residuals={}, samples=samples)
        return bool(proof.closed(tol).all())

    def _amount(self, share: float) -> str:
        """Say how much a share is: of the value at a point of the segment that is not known."""
        return f"{share:.1e} of the value there"

    def _bounds(self, tol: float) -> str:
        """Say how far primal and dual value may differ on the segment."""
        start, end = self.interval
        where = f"segment {self.segment}, {self.parameter} in [{start:.6g}, {end:.6g}]"
        if f"{start:.6g}" == f"{end:.6g}":
            where += f", {end - start:.1e} long"
        gaps, sizes, rounding = self.bounds
        more = f", and by rounding of {rounding.max():.1e}" if (rounding > tol * sizes).any() else ""
        return f"On {where}, primal and dual value differ by at most {gaps.max():.1e}{more}"
