r"""The cones of a cone program: projection onto each and onto its dual, and points that are inside for sure.

A vector of a program is a stack of blocks, one a cone, in the order of a list of `Cone`. A symmetric matrix stands as
its upper triangle, column by column, with the entries off the diagonal times :math:`\sqrt2`, so that inner products are
those of matrices. The exponential cone is the closure of :math:`\{(x,y,z):y>0,\ ye^{x/y}\le z\}`, the power cone
:math:`\{(x,y,z):x^ay^{1-a}\ge|z|,\ x,y\ge0\}`.

Each projection onto a cone K gives that onto its dual by Moreau: :math:`\Pi_{K^*}(v)=v+\Pi_K(-v)`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from paretoclf.checks import Array
from paretoclf.errors import InputError

KINDS = ("zero", "nonnegative", "second-order", "psd", "exponential", "power")

#: A point is moved this far into its cone, relative to its size: projections are rounded at 1e-16 of it.
NUDGE = 4e-15

#: Steps of a bisection that ends where two doubles are neighbours.
_BISECTIONS = 100


@dataclass(frozen=True)
class Cone:
    """One block of a cone program.

    Parameters
    ----------
    kind : {"zero", "nonnegative", "second-order", "psd", "exponential", "power"}
        Which cone.
    order : int
        Number of entries; of a positive semidefinite matrix its number of rows.
    exponent : float
        Of a power cone, strictly between 0 and 1.

    Raises
    ------
    InputError
        If it is no such cone.

    Examples
    --------
    >>> from paretoclf.judges.cones import Cone
    >>> Cone("psd", 3).size
    6
    """

    kind: str
    order: int = 3
    exponent: float = 0.5

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        if self.order < 1 or (self.kind in ("exponential", "power") and self.order != 3):
            raise InputError(f"order must be at least 1, and 3 for exponential and power cones, got {self.order}")
        if not 0 < self.exponent < 1:
            raise InputError(f"exponent must be strictly between 0 and 1, got {self.exponent}")

    @property
    def size(self) -> int:
        """Number of entries of the vector."""
        return self.order * (self.order + 1) // 2 if self.kind == "psd" else self.order


def blocks(cones: Sequence[Cone]) -> Iterator[tuple[Cone, slice]]:
    """Each cone with its place in the stacked vector."""
    first = 0
    for cone in cones:
        yield cone, slice(first, first + cone.size)
        first += cone.size


def project(v: Array, cones: Sequence[Cone]) -> Array:
    """Nearest point of the product of the cones.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.judges.cones import Cone, project
    >>> project(np.array([3.0, -1.0, 0.0, 2.0]), [Cone("nonnegative", 2), Cone("second-order", 2)])
    array([3., 0., 1., 1.])
    """
    return np.concatenate([_PROJECT[c.kind](v[at], c) for c, at in blocks(cones)] or [np.zeros(0)])


def project_dual(v: Array, cones: Sequence[Cone]) -> Array:
    """Nearest point of the dual cone, moved inside it by `NUDGE`, so that it is in there whatever was rounded."""
    near = v + project(-v, cones)
    return np.concatenate([_INWARDS[c.kind](near[at], c) for c, at in blocks(cones)] or [np.zeros(0)])


def interior(cones: Sequence[Cone]) -> Array:
    """A point well inside each cone (0 for the zero cone, which has no inside)."""
    return np.concatenate([_inside(c) for c in cones] or [np.zeros(0)])


def contains(v: Array, radius: Array, cone: Cone) -> bool:
    """Whether every point within ``radius`` of v, entry by entry, is in the cone; never True by rounding alone."""
    radius = radius + NUDGE * np.abs(v)
    low, high = v - radius, v + radius
    if cone.kind == "zero":
        return bool((low == 0).all() and (high == 0).all())
    if cone.kind == "nonnegative":
        return bool((low >= 0).all())
    if cone.kind == "second-order":
        reach = float(np.linalg.norm(np.maximum(np.abs(low[1:]), np.abs(high[1:]))))
        return bool(low[0] >= reach * (1 + NUDGE * cone.order))
    if cone.kind == "psd":
        M = matrix(v, cone.order)
        rounding = NUDGE * cone.order * float(np.linalg.norm(M))
        return bool(np.linalg.eigvalsh(M)[0] >= float(np.linalg.norm(radius)) + rounding)
    if cone.kind == "exponential":
        if low[1] <= 0:
            return False
        with np.errstate(over="ignore"):  # for fixed x the function is convex in y, so the largest is at an end
            largest = max(y * np.exp(high[0] / y) for y in (low[1], high[1]))
        return bool(largest * (1 + 100 * NUDGE * (1 + abs(high[0]) / low[1])) <= low[2])
    if min(low[0], low[1]) <= 0:
        return False
    least = low[0] ** cone.exponent * low[1] ** (1 - cone.exponent)
    return bool(least * (1 - 100 * NUDGE) >= max(abs(low[2]), abs(high[2])))


def matrix(v: Array, order: int) -> Array:
    """The symmetric matrix that a vector stands for."""
    M = np.zeros((order, order))
    column, row = np.tril_indices(order)
    M[row, column] = M[column, row] = np.where(row == column, v, v / np.sqrt(2.0))
    return M


def vector(M: Array) -> Array:
    """The vector that stands for a symmetric matrix."""
    column, row = np.tril_indices(M.shape[0])
    return np.asarray(np.where(row == column, M[row, column], np.sqrt(2.0) * M[row, column]))


def project_zero(v: Array, cone: Cone) -> Array:
    """Onto {0}."""
    return np.zeros_like(v)


def project_nonnegative(v: Array, cone: Cone) -> Array:
    """Onto vectors without a negative entry."""
    return np.maximum(v, 0.0)


def project_second_order(v: Array, cone: Cone) -> Array:
    """Onto ``|v[1:]| <= v[0]``."""
    t, length = float(v[0]), float(np.linalg.norm(v[1:]))
    if length <= t:
        return v.copy()
    if length <= -t:
        return np.zeros_like(v)
    half = 0.5 * (t + length)
    return np.concatenate([[half], (half / length) * v[1:]])


def project_psd(v: Array, cone: Cone) -> Array:
    """Onto positive semidefinite matrices: negative eigenvalues become 0."""
    values, vectors = np.linalg.eigh(matrix(v, cone.order))
    return vector((vectors * np.maximum(values, 0.0)) @ vectors.T)


def project_exponential(v: Array, cone: Cone) -> Array:
    r"""Onto the exponential cone.

    Off the two cones and the quadrant where it is plain, the projection is a multiple of :math:`(\rho,1,e^\rho)` and
    its
    distance a multiple of :math:`(-1, \rho-1, e^{-\rho})` with the same :math:`\rho`, where the two are orthogonal: one
    equation in one unknown, monotone where both multiples are positive (Friberg 2023, "Projection onto the exponential
    cone: a univariate root-finding problem").
    """
    r, s, t = (float(a) for a in v)
    if s > 0 and r / s < 700 and s * math.exp(r / s) <= t:
        return v.copy()
    if s == 0 and r <= 0 and t >= 0:
        return v.copy()
    if _in_polar_exponential(r, s, t):
        return np.zeros(3)
    if r <= 0 and s <= 0:
        return np.array([r, 0.0, max(t, 0.0)])
    scale = float(np.max(np.abs(v)))
    r, s, t = r / scale, s / scale, t / scale

    def multiples(rho: float) -> tuple[float, float]:
        unit = rho * (rho - 1) + 1
        return ((rho - 1) * r + s) / unit, (r - rho * s) / unit

    def excess(rho: float) -> float:
        up, down = multiples(rho)
        return up * math.exp(rho) - down * math.exp(-rho) - t

    # v = up (rho, 1, e^rho) + down (1, 1 - rho, -e^-rho); both multiples must be positive.
    low = 1 - s / r if r > 0 else -700.0
    high = r / s if s > 0 else 700.0
    low, high = min(max(low, -700.0), 700.0), max(min(high, 700.0), -700.0)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    rho = 0.5 * (low + high)
    up = max(multiples(rho)[0], 0.0)
    found = scale * up * np.array([rho, 1.0, math.exp(rho)])
    # Points of the cone, too, and the better ones where rho is huge.
    candidates = [found, np.array([min(float(v[0]), 0.0), 0.0, max(float(v[2]), 0.0)])]
    if v[1] > 0 and v[0] < 700 * v[1]:
        candidates.append(np.array([v[0], v[1], max(float(v[2]), float(v[1]) * math.exp(v[0] / v[1]))]))
    return min(candidates, key=lambda point: math.dist(point, v))


def _in_polar_exponential(r: float, s: float, t: float) -> bool:
    """Whether minus the point is in the dual cone, which projects to 0."""
    if r == 0:
        return s <= 0 and t <= 0
    return r > 0 and t < 0 and s / r - 1 + math.log(r) <= math.log(-t)


def project_power(v: Array, cone: Cone) -> Array:
    r"""Onto :math:`x^ay^{1-a}\ge|z|`: one equation in the length of z (Hien 2015, Proposition 2.2)."""
    a = np.array([cone.exponent, 1 - cone.exponent])
    xy, z = np.asarray(v[:2], dtype=np.float64), float(v[2])
    length = abs(z)
    if (xy >= 0).all() and np.prod(xy**a) >= length:
        return v.copy()
    if (xy <= 0).all() and np.prod((-xy / a) ** a) >= length:
        return np.zeros(3)
    if length == 0:
        return np.append(np.maximum(xy, 0.0), 0.0)

    low, high = 0.0, length
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        first, second = (_root(float(u), float(w), middle, length) for u, w in zip(xy, a, strict=True))
        low, high = (middle, high) if first ** float(a[0]) * second ** float(a[1]) > middle else (low, middle)
    r = 0.5 * (low + high)
    return np.array([*(_root(float(u), float(w), r, length) for u, w in zip(xy, a, strict=True)), np.sign(z) * r])


def _root(v: float, a: float, r: float, length: float) -> float:
    """The larger root of ``u^2 - u v - a r (length - r)``, without cancellation for negative v."""
    product = a * r * (length - r)
    root = math.sqrt(v * v + 4 * product)
    return 0.5 * (v + root) if v > 0 else 2 * product / max(root - v, 1e-300)


def _as_it_is(v: Array, cone: Cone) -> Array:
    return v


def _inwards_second_order(v: Array, cone: Cone) -> Array:
    v = v.copy()
    v[0] = max(v[0], float(np.linalg.norm(v[1:])) * (1 + NUDGE * np.sqrt(cone.order)))
    return v


def _inwards_psd(v: Array, cone: Cone) -> Array:
    M = matrix(v, cone.order)
    return vector(M + NUDGE * cone.order * float(np.linalg.norm(M)) * np.eye(cone.order))


def _inwards_exponential(v: Array, cone: Cone) -> Array:
    # The dual cone: u < 0 and -u e^(v/u - 1) <= w, or u = 0 and v, w >= 0.
    u, w = min(float(v[0]), 0.0), max(float(v[2]), 0.0)
    s = float(v[1])
    if u < 0 and s / u < 700:
        return np.array([u, s, max(w, -u * float(np.exp(s / u - 1)) * (1 + 100 * NUDGE * (1 + abs(s / u))))])
    return np.array([0.0, max(s, 0.0), w])


def _inwards_power(v: Array, cone: Cone) -> Array:
    # The dual cone: (u / a)^a (v / (1 - a))^(1 - a) >= |w|.
    a = np.array([cone.exponent, 1 - cone.exponent])
    xy, size = np.maximum(v[:2], 0.0), abs(float(v[2])) * (1 + 100 * NUDGE)
    if np.prod((xy / a) ** a) >= size:
        return np.append(xy, v[2])
    if (xy == 0).any():
        xy = xy + 1e-17 * max(float(np.max(xy)), size)
    other = (xy / a)[::-1] ** a[::-1]
    needed = a * (size / other) ** (1 / a) * (1 + 100 * NUDGE / a)  # of each, with the other as it is
    k = int(np.argmin(needed - xy))
    xy[k] = max(xy[k], needed[k])
    return np.append(xy, v[2])


def _inside(cone: Cone) -> Array:
    if cone.kind == "zero":
        return np.zeros(cone.order)
    if cone.kind == "nonnegative":
        return np.ones(cone.order)
    if cone.kind == "second-order":
        return np.append(np.sqrt(2.0), np.zeros(cone.order - 1))
    if cone.kind == "psd":
        return vector(np.eye(cone.order))
    return np.array([-1.0, 1.0, 1.0]) if cone.kind == "exponential" else np.array([1.0, 1.0, 0.0])


_PROJECT = {
    "zero": project_zero,
    "nonnegative": project_nonnegative,
    "second-order": project_second_order,
    "psd": project_psd,
    "exponential": project_exponential,
    "power": project_power,
}
_INWARDS = {
    "zero": _as_it_is,
    "nonnegative": project_nonnegative,
    "second-order": _inwards_second_order,
    "psd": _inwards_psd,
    "exponential": _inwards_exponential,
    "power": _inwards_power,
}
