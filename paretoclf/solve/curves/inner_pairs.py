"""Points and multipliers well inside their cones at one t, for the means by which a curve is mended."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.engine.reduction.program import between
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.cones.cone_kinds import Cone, interior
from paretoclf.solve.eps.interior import deepest, dual_cones
from paretoclf.solve.eps.solver import NONE, conic
from paretoclf.solve.models.model import settings_at

#: Multipliers are at most this many times as large as those of solutions.
_FARTHER = 10.0

#: Share of the largest depth that is asked of the best multipliers.
_SHARE = 0.1

#: Tolerance of the solver: any point that is inside will do.
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class InnerPair:
    """A point inside the cones, and multipliers inside the dual cones that are stationary with y, at one t."""

    t: float
    x: Array = field(repr=False)
    y: Array = field(repr=False)
    z: Array = field(repr=False)

    def mixed(self, other: InnerPair, t: float) -> InnerPair:
        """The pair at t on the straight line to another one."""
        if other.t == self.t:
            return self
        share = (t - self.t) / (other.t - self.t)
        x, y, z = (between((getattr(self, name), getattr(other, name)), share) for name in "xyz")
        return InnerPair(t, x, y, z)


class InnerPairs:
    """Inner pairs of a line at some t, found when they are asked for, and straight lines between them.

    Where no matrix moves, a straight line between two is inside, too, and stationary.

    Parameters
    ----------
    line : ConeLine
    reach, reach_z : float
        How large the entries of solutions, and of multipliers, are.
    """

    def __init__(self, line: ConeLine, reach: float, reach_z: float) -> None:
        self.line, self._reach, self._reach_z = line, reach, reach_z
        self._known: dict[float, InnerPair | None] = {}

    @property
    def solves(self) -> int:
        """How often a solver was called."""
        return 4 * len(self._known)

    def around(self, start: float, stop: float) -> tuple[InnerPair, InnerPair] | None:
        """Pairs at both ends of a piece, by those nearest to it on both sides; None where there are none."""
        known = [pair for pair in self._known.values() if pair is not None]
        before = max((pair for pair in known if pair.t <= start), key=lambda pair: pair.t, default=None)
        after = min((pair for pair in known if pair.t >= stop), key=lambda pair: pair.t, default=None)
        if before is None or after is None:
            return None
        return before.mixed(after, start), before.mixed(after, stop)

    def closer(self, start: float, stop: float) -> tuple[InnerPair, InnerPair] | None:
        """Pairs at both ends of a piece, found there; None where they are known, or where there are none."""
        if start in self._known and stop in self._known:
            return None
        first, last = self.at(start), self.at(stop)
        return None if first is None or last is None else (first, last)

    def at(self, t: float) -> InnerPair | None:
        """A pair at t; None where no point, or no multiplier, is inside."""
        if t not in self._known:
            x, both = deepest(self.line.at(t), self._reach), self._multipliers(t)
            if x is None or both is None:
                self._known[t] = None
            else:
                self._known[t] = InnerPair(t, x, both[: self.line.n], both[self.line.n :])
        return self._known[t]

    def _multipliers(self, t: float) -> Array | None:
        """Multipliers y, z as good as they can be at a share of the largest depth."""
        deep = self._phase(t, None)
        if deep is None or not deep[-1] > 1e-9 * self._reach_z:
            return None
        best = self._phase(t, _SHARE * float(deep[-1]))
        return (deep if best is None else best)[:-1]

    def _phase(self, t: float, depth: float | None) -> Array | None:
        """Multipliers of the largest depth, or the best ones of a given depth, with the depth behind them."""
        line, now = self.line, self.line.at(t)
        n, m, limit = line.n, line.m, _FARTHER * self._reach_z
        into, cones = dual_cones(line)
        one = sp.eye_array(m)
        rows = [
            [now.P, now.A.T, None],
            [None, None, sp.csr_array([[1.0], [-1.0]])],
            [None, one, None],
            [None, -one, None],
            [sp.csr_array((into.shape[0], n)), -into, sp.csr_array(interior(cones)[:, None])],
        ]
        matrix = sp.block_array(rows)
        most = self._reach_z if depth is None else depth
        least = 0.0 if depth is None else depth
        sides = [-between(line.q, t), [most, -least], np.full(2 * m, limit), np.zeros(into.shape[0])]
        kinds = [Cone("zero", n), Cone("nonnegative", 2 + 2 * m), *cones]
        if depth is None:
            quadratic, costs = sp.csc_array((n + m + 1, n + m + 1)), np.append(np.zeros(n + m), -1.0)
        else:
            quadratic = sp.block_diag([now.P, sp.csc_array((m + 1, m + 1))])
            costs = np.concatenate([np.zeros(n), between(line.b, t), [0.0]])
        how = settings_at(_TOLERANCE)
        found = conic(sp.triu(quadratic), costs, matrix, np.concatenate(sides), kinds, how).solve()
        x = np.asarray(found.x)
        return None if str(found.status) in NONE or not np.isfinite(x).all() else x
