"""The records that a tracker and its users pass around: a line, and the log of the path along it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from paretoclf.common.checks import Array, Index, Mask, State
from paretoclf.common.tolerances import ROUNDING


def most_exchanges(items: int, given: int | None = None) -> int:
    """The limit that was given, or far more exchanges than any line has needed."""
    return 200 * items + 10_000 if given is None else given


@dataclass(frozen=True)
class Line:
    """A line of caps and right-hand sides, with t from 0 to 1.

    Caps are ``phi_0(t) bases[0] + phi_1(t) bases[1]`` with phi affine from ``start`` to ``stop`` (2,): for a line of
    the cost plane the bases are the weights of either class and phi its two costs. The right-hand sides e (m,) go from
    e0 to e_end. With ``to_zero`` it is followed no further than to where the multipliers eta add up to 0.
    """

    bases: Array
    start: Array
    stop: Array
    e0: Array
    e_end: Array
    to_zero: bool = False

    def caps(self, t: float) -> Array:
        """Caps at t: exact at both ends, and accurate relative to caps that vanish at t = 1."""
        weights = (1.0 - t) * self.start + t * self.stop
        return np.asarray(weights @ self.bases)


@dataclass(frozen=True)
class Log:
    """The path of a tracker, segment by segment.

    Attributes
    ----------
    state : array of shape (n,)
        Set of each sample at the beginning.
    t : array of shape (2, s)
        Both ends of each segment.
    ptr, index, a0, a1 : arrays of shape (s + 1,) and (e,)
        The margin set of segment j is ``index[ptr[j]:ptr[j + 1]]``, with multipliers ``a0`` and ``a1`` at its two ends.
    eta : array of shape (s, 2, m)
    value : array of shape (s, 3)
        The optimal value is ``v0 + v1 f + v2 f**2`` at the share f of the segment.
    w : array of shape (s, 2, d)
        If kept (d = 0: not).
    changes : array of shape (4, c)
        Segment before which a sample changed its set, sample, old and new set.
    outside : int array
        Segments with a multiplier that may be so far outside its box that it shows
        (``tolerances.SEEN_OUTSIDE``).
    """

    state: State
    t: Array
    ptr: Index
    index: Index
    a0: Array
    a1: Array
    eta: Array
    value: Array
    w: Array
    changes: Index
    outside: Index

    @property
    def segments(self) -> int:
        """Number of segments."""
        return int(self.t.shape[1])

    def until(self, last: int) -> Log:
        """The log of the segments before this one."""
        if last == self.segments:
            return self
        entries, changes = slice(int(self.ptr[last])), self.changes[0].searchsorted(last)
        return replace(
            self,
            t=self.t[:, :last],
            ptr=self.ptr[: last + 1],
            index=self.index[entries],
            a0=self.a0[entries],
            a1=self.a1[entries],
            eta=self.eta[:last],
            value=self.value[:last],
            w=self.w[:last],
            changes=self.changes[:, :changes],
            outside=self.outside[self.outside < last],
        )

    def moved(self, first: int, last: int, shares: Array) -> Log:
        """The log with both ends of segments ``first`` to ``last - 1`` moved by shares (2, last - first) of them."""
        segments, entries = slice(first, last), slice(int(self.ptr[first]), int(self.ptr[last]))
        sizes = np.diff(self.ptr[first : last + 1])
        change = self.a1[entries] - self.a0[entries]
        a0, a1 = self.a0.copy(), self.a1.copy()
        a0[entries] += np.repeat(shares[0], sizes) * change
        a1[entries] += np.repeat(shares[1], sizes) * change
        eta, w = self.eta.copy(), self.w.copy()
        for moved, known in ((eta, self.eta), (w, self.w)):
            length = known[segments, 1:] - known[segments, :1]
            moved[segments] += shares.T[:, :, None] * length
        outside = np.union1d(self.outside, np.arange(first, last))
        return replace(self, a0=a0, a1=a1, eta=eta, w=w, outside=outside)

    def from_nothing(self, cap: Array) -> Log:
        """The log of a path out of zero costs, with what is known of its first segment written into its arrays.

        There are no multipliers at its beginning, and at its end those are at their cap that are so up to rounding;
        ``cap`` are the caps at t = 1.
        """
        first = slice(0, int(self.ptr[1]))
        full = self.t[1, 0] * cap[self.index[first]]
        a1 = self.a1[first]
        rounding = 8 * ROUNDING * full
        a1[:] = np.where(np.abs(a1 - full) <= rounding, full, a1)
        self.a0[first] = self.w[0, 0] = self.value[0, 0] = 0.0
        if not self.outside.size or (np.minimum(a1, full - a1) < -rounding).any():
            return self
        return replace(self, outside=self.outside[self.outside > 0])


@dataclass(frozen=True)
class OnBasis:
    """Solution on a basis: multipliers of the margin set and eta (rows hi and lo), and w where there are features."""

    a: Array
    eta: Array
    w: Array | None


@dataclass(frozen=True)
class LineEnds:
    """Solutions at the ends of k lines: multipliers (k, n), eta (k, m), w (k, d) if kept; which lines failed (k,)."""

    alpha: Array
    eta: Array
    w: Array
    failed: Mask


@dataclass(frozen=True)
class ManyLines:
    """The paths of k lines of caps between two ends, on each of which some samples are out.

    Attributes
    ----------
    lines : int array of shape (k + 1,)
        Line j has the segments ``lines[j]`` to ``lines[j + 1]`` of all s; one that failed has none.
    failed : bool array of shape (k,)
    first : int array of shape (s,)
        Each segment goes from this knot, of all c, to the next one: there another may begin.
    free : bool array of shape (s,)
        Whether in the middle of the segment a multiplier is off both of its bounds.
    u : array of shape (c,)
        Place of each knot, from 0 to 1 along its line.
    sets, alpha : arrays of shape (c, n)
        Set of each sample on the segment that begins there, or that ends there if none does, and its multiplier.
    eta, w : arrays of shape (c, m) and (c, d)
        If kept (d = 0: not).
    """

    lines: Index
    failed: Mask
    first: Index
    free: Mask
    u: Array
    sets: State
    alpha: Array
    eta: Array
    w: Array
