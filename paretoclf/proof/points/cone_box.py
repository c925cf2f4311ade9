r"""Numbers between which the constraints of a cone program, and a ceiling on its objective, hold every variable.

Each cone is replaced by half-spaces that contain it: :math:`t\pm v_k\ge0` of a second-order cone,
:math:`S_{ii}+S_{jj}\pm2S_{ij}\ge0` of a matrix, tangents :math:`z\ge e^cx+(1-c)e^cy` of an exponential cone,
:math:`ax+(1-a)y\pm z\ge0` of a power cone. Then the bounds of all other variables in a row give one of each variable,
again and again. What no single row bounds, rows together may: where the values :math:`s` of some rows are bounded and
these determine :math:`x`, then :math:`x=A^+(b-s)`. Every bound is moved outwards by more than its rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.proof.points.cones import Cone, blocks
from paretoclf.proof.points.half_spaces import HalfSpaces

if TYPE_CHECKING:
    from paretoclf.proof.points.cone_program import ConeProgram

#: Bounds are moved outwards by this share of the terms they are made of.
OUTWARDS = 1e-9

#: Rounds of propagation. Bounds that are still moving after so many move by little, or for ever.
_ROUNDS = 40

#: Rows and variables up to which systems of several rows are solved, and the curvature of a quadratic is computed.
_DENSE = 1500


def implied_box(program: ConeProgram, ceiling: float = np.inf) -> tuple[Array, Array]:
    r"""Lower and upper bounds of every x with ``b - A x`` in the cones and objective at most the ceiling.

    Parameters
    ----------
    program : ConeProgram
        The constraints and the objective.
    ceiling : float
        Of ``x'Px/2 + q'x``.

    Returns
    -------
    lower, upper : arrays of shape (n,)
        Infinite where nothing bounds a variable. ``lower > upper`` somewhere: there is no such x.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.points.cone import ConeProgram
    >>> from paretoclf.proof.points.cone_box import implied_box
    >>> from paretoclf.proof.points.cones import Cone
    >>> rows = [[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]]
    >>> program = ConeProgram(np.zeros((2, 2)), np.zeros(2), rows, [0.0, 0, 3], [Cone("nonnegative", 3)])
    >>> implied_box(program)[1].round(6)
    array([3., 3.])
    """
    A, b, q, cones, rows = program.A, program.b, program.q, program.cones, program.half_spaces
    h, n = rows.at(b), q.size
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    curvature = program.curvature
    for _ in range(_ROUNDS):
        before = lower, upper
        lower, upper = _of_rows(rows, h, lower, upper)
        if np.isfinite(ceiling):
            lower, upper = _of_objective(curvature, q, ceiling, lower, upper)
        if (lower > upper).any():
            break
        if (np.isfinite(lower) & np.isfinite(upper)).all() or _stalled(before, (lower, upper)):
            solved = _of_systems(A, b, cones, lower, upper)
            if (solved[0] > solved[1]).any() or _stalled((lower, upper), solved):
                lower, upper = solved
                break
            lower, upper = solved
    return lower, upper


def _stalled(before: tuple[Array, Array], after: tuple[Array, Array]) -> bool:
    """Whether no bound became finite, or smaller by a tenth."""
    for old, new in zip(before, after, strict=True):
        if (np.isfinite(new) & ~np.isfinite(old)).any():
            return False
        known = np.isfinite(old)
        if (np.abs(new[known] - old[known]) > 0.1 * (1 + np.abs(new[known]))).any():
            return False
    return True


def _of_rows(rows: HalfSpaces, h: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """What the bounds of the others in a row leave to each."""
    i, j, value = rows.row, rows.column, rows.value
    with np.errstate(invalid="ignore"):
        around = np.where(rows.spread > 0, rows.spread * np.maximum(np.abs(lower[j]), np.abs(upper[j])), 0.0)
        least = np.where(value == 0, 0.0, value * np.where(value > 0, lower[j], upper[j]))
    infinite = ~np.isfinite(least) | ((value == 0) & ~np.isfinite(around))
    finite = np.where(infinite, 0.0, np.where(value == 0, -around, least))
    total = np.bincount(i, finite, h.size)
    terms = np.bincount(i, np.abs(finite), h.size) + np.abs(h)
    missing = np.bincount(i, infinite, h.size)
    use = (missing[i] - infinite == 0) & (value != 0)  # the others are all bounded
    i, j, value = i[use], j[use], value[use]
    bound = (h[i] - (total[i] - finite[use])) / value
    bound = bound + np.sign(value) * OUTWARDS * terms[i] / np.abs(value)
    lower, upper = lower.copy(), upper.copy()
    np.minimum.at(upper, j[value > 0], bound[value > 0])
    np.maximum.at(lower, j[value < 0], bound[value < 0])
    return lower, upper


def _of_objective(curvature: Array, q: Array, ceiling: float, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Each term ``c x^2 / 2 + q x`` is at most the ceiling less what the others are at least."""
    bent, hollow = curvature > 0, curvature < 0
    c = np.where(bent, curvature, 1.0)
    nearest = np.clip(-q / c, lower, upper)
    with np.errstate(invalid="ignore", over="ignore"):  # a term beyond all doubles counts as one without a bound
        line = np.where(q == 0, 0.0, np.where(q > 0, q * lower, q * upper))
        least = np.where(bent, 0.5 * c * nearest**2 + q * nearest, line)
        ends = [0.5 * curvature * edge**2 + q * edge for edge in (lower, upper)]
        least = np.where(hollow, np.minimum(*np.where(np.isfinite(ends), ends, -np.inf)), least)
    infinite = ~np.isfinite(least)
    if infinite.sum() > 1:
        return lower, upper
    room = ceiling - (np.where(infinite, 0.0, least).sum() - np.where(infinite, 0.0, least))
    room = room + OUTWARDS * (abs(ceiling) + float(np.abs(np.where(infinite, 0.0, least)).sum()))
    room = np.where(infinite | (infinite.sum() == 0), room, np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        reach = np.sqrt(np.maximum((q / c) ** 2 + 2 * room / c, 0.0)) * (1 + OUTWARDS)
        high = np.where(bent, -q / c + reach, np.where((q > 0) & ~hollow, room / np.where(q > 0, q, 1.0), np.inf))
        low = np.where(bent, -q / c - reach, np.where((q < 0) & ~hollow, room / np.where(q < 0, q, -1.0), -np.inf))
    return np.maximum(lower, low), np.minimum(upper, high)


def _of_systems(A: Any, b: Array, cones: Sequence[Cone], lower: Array, upper: Array) -> tuple[Array, Array]:
    """Bounds of the variables that several rows of bounded value determine together."""
    free = np.flatnonzero(~(np.isfinite(lower) & np.isfinite(upper)))
    if free.size == 0 or free.size > _DENSE:
        return lower, upper
    s_low, s_high = _row_values(A, b, cones, lower, upper)
    rows = np.flatnonzero(np.isfinite(s_low) & np.isfinite(s_high))
    if rows.size == 0 or rows.size > 4 * _DENSE:
        return lower, upper
    known = np.setdiff1d(np.arange(lower.size), free)
    part = sp.csr_array(A)[rows]
    M, N = part[:, free].toarray(), part[:, known]
    centre, spread = 0.5 * (lower[known] + upper[known]), 0.5 * (upper[known] - lower[known])
    middle = b[rows] - 0.5 * (s_low[rows] + s_high[rows]) - N @ centre
    radius = 0.5 * (s_high[rows] - s_low[rows]) + abs(N) @ spread + OUTWARDS * (np.abs(b[rows]) + abs(N) @ abs(centre))
    inverse = np.linalg.pinv(M)
    undetermined = np.abs(inverse @ M - np.eye(free.size)).max(axis=1) > 1e-8
    touching = (M[:, undetermined] != 0).any(axis=1)
    M, middle, radius, free = M[~touching][:, ~undetermined], middle[~touching], radius[~touching], free[~undetermined]
    if M.shape[1] == 0 or M.shape[0] == 0:
        return lower, upper
    inverse = np.linalg.pinv(M)
    contraction = float(np.abs(inverse @ M - np.eye(M.shape[1])).sum(axis=1).max())
    if not contraction < 1e-6:
        return lower, upper
    at, reach = inverse @ middle, np.abs(inverse) @ (radius + OUTWARDS * np.abs(middle))
    # x = inverse (middle +- radius) + (1 - inverse M) x, and |x| is at most its bound over 1 - contraction.
    reach = reach + contraction * float(np.max(np.abs(at) + reach)) / (1 - contraction) + OUTWARDS * np.abs(at)
    lower, upper = lower.copy(), upper.copy()
    lower[free] = np.maximum(lower[free], at - reach)
    upper[free] = np.minimum(upper[free], at + reach)
    return lower, upper


def _row_values(A: Any, b: Array, cones: Sequence[Cone], lower: Array, upper: Array) -> tuple[Array, Array]:
    """Bounds of every entry of ``b - A x``: those of the box, and what the cones make of them."""
    low, high = _interval(A, b, lower, upper)
    for cone, at in blocks(cones):
        if cone.kind == "zero":
            low[at], high[at] = 0.0, 0.0
        elif cone.kind == "nonnegative":
            low[at] = np.maximum(low[at], 0.0)
        elif cone.kind == "second-order":
            low[at] = np.maximum(low[at], np.append(0.0, np.full(cone.order - 1, -high[at.start])))
            high[at] = np.minimum(high[at], high[at.start])
        elif cone.kind == "psd":
            size = max(float(high[at.start + k * (k + 3) // 2]) for k in range(cone.order)) * np.sqrt(2.0)
            low[at], high[at] = np.maximum(low[at], -size), np.minimum(high[at], size)
        elif cone.kind == "exponential":
            low[at] = np.maximum(low[at], [-np.inf, 0.0, 0.0])
        else:
            size = max(float(high[at.start]), float(high[at.start + 1]))
            low[at] = np.maximum(low[at], [0.0, 0.0, -size])
            high[at] = np.minimum(high[at], [np.inf, np.inf, size])
    return low, high


def _interval(A: Any, b: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    A = sp.coo_array(A)
    at_low = A.data * np.where(A.data > 0, lower[A.col], upper[A.col])
    at_high = A.data * np.where(A.data > 0, upper[A.col], lower[A.col])
    return b - np.bincount(A.row, at_high, b.size), b - np.bincount(A.row, at_low, b.size)
