r"""Newton's method for a smooth branch of optima: :math:`Px+q+A^\top z=0` and complementarity, at one t after another.

Inside a piece x(t) and z(t) are analytic (strict complementarity, no degeneracy), so a polynomial through solutions at
Chebyshev nodes is near them everywhere. Nothing is believed of what is found here: the judge bounds it at every t
(`paretoclf.proof.curves.curve_theorem`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.engine.reduction.program import between
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.cones.cone_kinds import Cones
from paretoclf.proof.curves.curve_program import CurveProgram
from paretoclf.proof.curves.polynomials import evaluation
from paretoclf.solve.curves.complementarity import free_rows, products

#: Degree of the polynomials.
DEGREE = 8

#: Chebyshev nodes on [0, 1], and the map from values there to Bernstein coefficients.
NODES = 0.5 * (1.0 - np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1)))
TO_COEFFICIENTS = np.linalg.inv(evaluation(DEGREE, NODES))

#: Most steps at one t; a step of this size, relative to the point, ends it, as the next is tiny; and what may
#: be left where steps no longer shrink.
_STEPS, _SMALL, _LEFT = 12, 1e-9, 1e-9

#: A step of more than so many sizes of the point is that of a singular system; its rank is told by the second number.
_FAR, _RANK = 1e3, 1e-11

#: Systems with more unknowns are factored as sparse ones.
_DENSE = 250

#: Nearest nodes from which the next one is guessed.
_NEAREST = 3


@dataclass(frozen=True)
class CurvePoint:
    """Point and multipliers at one t."""

    t: float
    x: Array
    z: Array


@dataclass(frozen=True)
class Branch:
    """A solution to go on from, and which eigenvalues of its slack are positive."""

    pair: CurvePoint
    label: Mask


class NewtonLine:
    """A program along a line, and Newton's steps on it, which are counted."""

    def __init__(self, line: ConeLine) -> None:
        self.line, self.program = line, CurveProgram.of(line)
        self.cones: Cones = self.program.cones
        self.steps = 0

    def data(self, t: float) -> tuple[Array, Array, Array, Array]:
        """P, q, A, b at t."""
        program = self.program
        P, A = (ends[0] if ends[0] is ends[1] else between(ends, t) for ends in (program.P, program.A))
        return P, between(program.q, t), A, between(program.b, t)

    def slack(self, pair: CurvePoint) -> Array:
        """Slacks of a point."""
        _, _, A, b = self.data(pair.t)
        return np.asarray(b - A @ pair.x)

    def missed(self, pair: CurvePoint, label: Mask) -> float:
        """Largest residual of a pair, relative to the size of its entries."""
        P, q, A, b = self.data(pair.t)
        stationarity = P @ pair.x + q + A.T @ pair.z
        complementary = products(self.cones, b - A @ pair.x, pair.z, label).value
        largest = max(np.abs(stationarity).max(initial=0.0), np.abs(complementary).max(initial=0.0))
        return float(largest / _size(pair))

    def solved(self, t: float, x: Array, z: Array, label: Mask | None) -> CurvePoint | None:
        """Solution near a point and multipliers; None where Newton's method does not get there.

        With labels it is the one that has these, of whatever signs; else any.
        """
        free = np.zeros(z.size, dtype=bool) if label is None else free_rows(self.cones, label)
        data, before, pair = self.data(t), np.inf, CurvePoint(t, x, np.where(free, 0.0, z))
        kept = np.flatnonzero(~free)
        for number in range(_STEPS):
            with np.errstate(all="ignore"):  # where it goes nowhere numbers overflow
                step = self._step(data, pair, label, kept)
            if step is None:
                return None
            z = pair.z.copy()
            z[kept] += step[x.size :]
            pair = CurvePoint(t, pair.x + step[: x.size], z)
            size = float(np.abs(step).max()) / _size(pair)
            if size < _SMALL or (number and before / 2 < size < 1e-10):
                return pair
            if number and size > 1e3 * before + 1.0:
                return None
            before = size
        return pair if before < _LEFT else None

    def _step(
        self, data: tuple[Array, Array, Array, Array], pair: CurvePoint, label: Mask | None, kept: Index
    ) -> Array | None:
        """Newton's step, of points and of the multipliers that are kept, as they are not 0."""
        P, q, A, b = data
        found = products(self.cones, b - A @ pair.x, pair.z, label)
        left = np.concatenate([P @ pair.x + q + A.T @ pair.z, found.value[kept]])
        m, n = A.shape
        below, right = np.zeros((m, n)), np.zeros((m, m))
        for rows, block in found.in_slack:
            below[rows] = -(block @ A[rows])
        for rows, block in found.in_multiplier:
            right[rows[:, :, None], rows[:, None, :]] = block
        system = np.block([[P, A[kept].T], [below[kept], right[np.ix_(kept, kept)]]])
        rows = np.maximum(np.abs(system).max(axis=1), 1e-300)
        self.steps += 1
        return solved_or_nearest(system / rows[:, None], -left / rows, _FAR * _size(pair))

    def at_nodes(self, start: float, length: float, branch: Branch) -> list[CurvePoint] | None:
        """Solutions at the nodes of a piece, from the one next to the branch's outwards; None where one is lost."""
        places, reference = start + NODES * length, branch.pair
        first = int(np.abs(places - reference.t).argmin())
        done: dict[int, CurvePoint] = {}
        for i in sorted(range(DEGREE + 1), key=lambda i: abs(i - first)):
            near = sorted(done, key=lambda j: abs(j - i))[:_NEAREST]
            x, z = _guess(places, i, [(j, done[j]) for j in near]) if near else (reference.x, reference.z)
            found = self.solved(float(places[i]), x, z, branch.label)
            if found is None:
                return None
            done[i] = found
        return [done[i] for i in range(DEGREE + 1)]


def solved_or_nearest(system: Array, right: Array, most: float = np.inf) -> Array | None:
    """Solve a system of equations, as a sparse one where it is large; a singular one by the shortest step.

    Columns that nothing determines, such as a bound of a norm that is not tight, stay where they are. None where there
    is no step that is a number.
    """
    try:
        step = _solve(system, right, most)
    except (np.linalg.LinAlgError, ValueError):
        return None
    return step if np.isfinite(step).all() else None


def _solve(system: Array, right: Array, most: float) -> Array:
    try:
        if right.size <= _DENSE:
            found = np.asarray(np.linalg.solve(system, right))
        else:
            found = np.asarray(splu(sp.csc_matrix(system)).solve(right))
        if np.isfinite(found).all() and np.abs(found).max() <= most:
            return found
    except (np.linalg.LinAlgError, RuntimeError):
        pass
    if not np.isfinite(system).all():
        return np.full(right.size, np.nan)
    return np.asarray(np.linalg.lstsq(system, right, rcond=_RANK)[0])


def _size(pair: CurvePoint) -> float:
    """Size of the entries of a pair, and 1."""
    return 1.0 + max(float(np.abs(pair.x).max(initial=0.0)), float(np.abs(pair.z).max(initial=0.0)))


def _guess(places: Array, i: int, near: list[tuple[int, CurvePoint]]) -> tuple[Array, Array]:
    """Extrapolate x and z from other nodes."""
    weights = []
    for j, _ in near:
        others = [(places[i] - places[k]) / (places[j] - places[k]) for k, _ in near if k != j]
        weights.append(float(np.prod(others)))
    x = sum(weight * pair.x for weight, (_, pair) in zip(weights, near, strict=True))
    z = sum(weight * pair.z for weight, (_, pair) in zip(weights, near, strict=True))
    return np.asarray(x), np.asarray(z)
