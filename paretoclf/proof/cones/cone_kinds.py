r"""The cones of a cone program: projection onto each and onto its dual, and points that are inside for sure.

A vector of a program is a stack of blocks, one a cone, in the order of a list of `Cone`. A symmetric matrix stands as
its upper triangle, column by column, with the entries off the diagonal times :math:`\sqrt2`, so that inner products are
those of matrices. The exponential cone is the closure of :math:`\{(x,y,z):y>0,\ ye^{x/y}\le z\}`, the power cone
:math:`\{(x,y,z):x^ay^{1-a}\ge|z|,\ x,y\ge0\}`.

Each projection onto a cone K gives that onto its dual by Moreau: :math:`\Pi_{K^*}(v)=v+\Pi_K(-v)`. Cones of one kind
and order are treated together, as the rows of an array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.errors import InputError

_EPS = float(np.finfo(float).eps)

KINDS = ("zero", "nonnegative", "second-order", "psd", "exponential", "power")

#: Points are moved into their cones by this share of their size: projections are rounded at 1e-16 of it.
NUDGE = 4e-15

#: Steps of a bisection that ends where two doubles are neighbours.
_BISECTIONS = 100


@dataclass(frozen=True)
class Cone:
    """Cone of one block of a cone program.

    Parameters
    ----------
    kind : {"zero", "nonnegative", "second-order", "psd", "exponential", "power"}
        Name of the cone.
    order : int
        Number of entries; for a positive semidefinite matrix the number of its rows.
    exponent : float
        Exponent of a power cone, strictly between 0 and 1.

    Raises
    ------
    InputError
        If there is no such cone.

    Examples
    --------
    >>> from paretoclf.proof.cones.cone_kinds import Cone
    >>> Cone("psd", 3).size
    6
    """

    kind: str
    order: int = 3
    exponent: float = 0.5

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        of_three = self.kind in ("exponential", "power")
        if self.order < 1 or (of_three and self.order != 3):
            raise InputError(f"order must be at least 1, and 3 for exponential and power cones, got {self.order}")
        if not 0 < self.exponent < 1:
            raise InputError(f"exponent must be strictly between 0 and 1, got {self.exponent}")

    @property
    def size(self) -> int:
        """Number of entries of the vector."""
        return self.order * (self.order + 1) // 2 if self.kind == "psd" else self.order


@dataclass(frozen=True)
class Alike:
    """Cones of one kind and order: their numbers in the program, and the places of their entries, a row for each."""

    kind: str
    order: int
    which: Index = field(repr=False)
    rows: Index = field(repr=False)
    exponent: Array = field(repr=False)

    def taken(self, vectors: Array) -> Array:
        """Entries of these cones in a vector, a row for each cone; in several vectors, one vector after the other."""
        return np.take(vectors, self.rows, axis=-1).reshape(-1, self.rows.shape[1])

    def repeated(self, vectors: Array) -> Alike:
        """Repeat these cones for each of several vectors, so that rows of `taken` have an exponent each."""
        if vectors.ndim == 1 or self.kind != "power":
            return self
        return replace(self, exponent=np.tile(self.exponent, len(vectors)))


class Cones(tuple[Cone, ...]):
    """Cones of a program in their order, with groups of those that are alike.

    Examples
    --------
    >>> from paretoclf.proof.cones.cone_kinds import Cone, Cones
    >>> [(each.order, each.rows.tolist()) for each in Cones([Cone("zero", 1), *[Cone("second-order", 2)] * 2]).alike]
    [(1, [[0]]), (2, [[1, 2], [3, 4]])]
    """

    @cached_property
    def alike(self) -> tuple[Alike, ...]:
        """Groups of cones of one kind and order."""
        found: dict[tuple[str, int], list[tuple[int, int, float]]] = {}
        for number, (cone, at) in enumerate(blocks(self)):
            members = found.setdefault((cone.kind, cone.order), [])
            members.append((number, at.start, cone.exponent))
        groups = []
        for (kind, order), members in found.items():
            which, first, exponent = (np.array(column) for column in zip(*members, strict=True))
            rows = first[:, None] + np.arange(Cone(kind, order).size)
            groups.append(Alike(kind, order, which, rows, exponent.astype(float)))
        return tuple(groups)

    def apply(self, does: Mapping[str, Callable[[Array, Alike], Array]], vectors: Array) -> Array:
        """Apply the function of each kind to the entries of alike cones, a row for each, of one vector or several."""
        out = np.zeros_like(vectors)
        for each in self.alike:
            found = does[each.kind](each.taken(vectors), each.repeated(vectors))
            out[..., each.rows] = found.reshape(*vectors.shape[:-1], *each.rows.shape)
        return out


def blocks(cones: Sequence[Cone]) -> Iterator[tuple[Cone, slice]]:
    """Each cone with its place in the stacked vector."""
    first = 0
    for cone in cones:
        yield cone, slice(first, first + cone.size)
        first += cone.size


def _grouped(cones: Sequence[Cone]) -> Cones:
    """Cones with their groups, which are computed once."""
    return cones if isinstance(cones, Cones) else Cones(cones)


def project(v: Array, cones: Sequence[Cone]) -> Array:
    """Nearest point of the product of the cones.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.cones.cone_kinds import Cone, project
    >>> project(np.array([3.0, -1.0, 0.0, 2.0]), [Cone("nonnegative", 2), Cone("second-order", 2)])
    array([3., 0., 1., 1.])
    """
    return _grouped(cones).apply(_PROJECT, np.asarray(v, dtype=np.float64))


def project_dual(v: Array, cones: Sequence[Cone]) -> Array:
    """Nearest point of the dual cone, moved inside it by `NUDGE`, so that it is in there whatever was rounded."""
    cones = _grouped(cones)
    return cones.apply(_INWARDS, v + project(-v, cones))


def interior(cones: Sequence[Cone]) -> Array:
    """A point well inside each cone (0 for the zero cone, which has no inside)."""
    found = np.zeros(sum(cone.size for cone in cones))
    for each in _grouped(cones).alike:
        found[each.rows] = _inside(each)
    return found


def contains(v: Array, radius: Array, cones: Sequence[Cone]) -> Mask:
    """Whether all points within ``radius`` of v, entry by entry, are in each cone; never True by rounding alone.

    For several vectors, rows of an array, there is a row of answers for each.
    """
    cones = _grouped(cones)
    radius = radius + NUDGE * np.abs(v)
    found = np.zeros((*v.shape[:-1], len(cones)), dtype=bool)
    for each in cones.alike:
        is_inside = _CONTAINS[each.kind]
        fine = is_inside(each.taken(v), each.taken(radius), each.repeated(v))
        found[..., each.which] = fine.reshape(*v.shape[:-1], -1)
    return found


def _zero_contains(points: Array, radius: Array, each: Alike) -> Mask:
    """Whether points are 0 exactly."""
    exact = (points == 0) & (radius == 0)
    return np.asarray(exact.all(axis=1))


def _nonnegative_contains(points: Array, radius: Array, each: Alike) -> Mask:
    """Whether no entry of neighbours is negative."""
    return np.asarray((points - radius >= 0).all(axis=1))


def _second_order_contains(points: Array, radius: Array, each: Alike) -> Mask:
    """Whether the norm of all neighbours is below their first entry."""
    largest = np.abs(points[:, 1:]) + radius[:, 1:]
    norm = np.linalg.norm(largest, axis=1)
    least = points[:, 0] - radius[:, 0]
    return np.asarray(least >= norm * (1 + NUDGE * each.order))


def _psd_contains(points: Array, radius: Array, each: Alike) -> Mask:
    """Whether the smallest eigenvalue is above the Frobenius norm of the radius."""
    eigenvalues = np.linalg.eigvalsh(matrix(points, each.order))
    rounding = NUDGE * each.order * np.linalg.norm(points, axis=1)
    return np.asarray(eigenvalues[:, 0] >= np.linalg.norm(radius, axis=1) + rounding)


def _exponential_contains(points: Array, radius: Array, each: Alike) -> Mask:
    """Whether ``y e^(x/y)`` of all neighbours is below their z."""
    low, high = points - radius, points + radius
    inside = low[:, 1] > 0
    ends = np.stack([low[:, 1], high[:, 1]], axis=1)
    x, y = high[:, 0], np.where(inside[:, None], ends, 1.0)
    with np.errstate(over="ignore"):  # for fixed x the function is convex in y, so the largest is at an end
        largest = (y * np.exp(x[:, None] / y)).max(axis=1)
        rounding = 1 + 100 * NUDGE * (1 + np.abs(x) / y[:, 0])
        return np.asarray(inside & (largest * rounding <= low[:, 2]))


def _power_contains(points: Array, radius: Array, each: Alike) -> Mask:
    """Whether ``x^a y^(1-a)`` of all neighbours is above their z in absolute value."""
    low = np.maximum(points - radius, 0.0)
    x, y = low[:, 0], low[:, 1]
    least = x**each.exponent * y ** (1 - each.exponent)
    reach = np.abs(points[:, 2]) + radius[:, 2]
    above = least * (1 - 100 * NUDGE) >= reach
    return np.asarray((x > 0) & (y > 0) & above)


def matrix(v: Array, order: int) -> Array:
    """Symmetric matrix of a vector, or one for each row of an array."""
    found = np.zeros((*v.shape[:-1], order, order))
    column, row = np.tril_indices(order)
    entries = np.where(row == column, v, v / np.sqrt(2.0))
    found[..., row, column] = entries
    found[..., column, row] = entries
    return found


def vector(M: Array) -> Array:
    """Vector of a symmetric matrix, or a row for each of many matrices."""
    column, row = np.tril_indices(M.shape[-1])
    entries = M[..., row, column]
    return np.asarray(np.where(row == column, entries, np.sqrt(2.0) * entries))


def _project_zero(points: Array, each: Alike) -> Array:
    """Project onto {0}."""
    return np.zeros_like(points)


def _project_nonnegative(points: Array, each: Alike) -> Array:
    """Project onto vectors without a negative entry."""
    return np.maximum(points, 0.0)


def _project_second_order(points: Array, each: Alike) -> Array:
    """Project onto ``|v[1:]| <= v[0]``."""
    height, tail = points[:, :1], points[:, 1:]
    length = np.linalg.norm(tail, axis=1, keepdims=True)
    half = 0.5 * (height + length)
    shrunk = half / np.where(length > 0, length, 1.0) * tail
    near = np.concatenate([half, shrunk], axis=1)
    outside = np.where(length <= -height, 0.0, near)
    return np.where(length <= height, points, outside)


def _project_psd(points: Array, each: Alike) -> Array:
    """Project onto positive semidefinite matrices: negative eigenvalues become 0."""
    values, vectors = np.linalg.eigh(matrix(points, each.order))
    scaled = vectors * np.maximum(values, 0.0)[:, None, :]
    return vector(scaled @ np.swapaxes(vectors, 1, 2))


def _project_exponential(points: Array, each: Alike) -> Array:
    r"""Project onto the exponential cone.

    Off the cone, its polar cone and the quadrant of its flat face the projection is a multiple of
    :math:`(\rho,1,e^\rho)` and its distance a multiple of :math:`(1, 1-\rho, -e^{-\rho})` with the same :math:`\rho`,
    where the two are orthogonal: one equation in one unknown, monotone where both multiples are positive (Friberg 2023,
    "Projection onto the exponential cone: a univariate root-finding problem").
    """
    x, y, z = points.T
    positive = y > 0
    with np.errstate(over="ignore"):
        ratio = np.divide(x, y, out=np.full_like(x, np.inf), where=positive)
        needed = y * np.exp(np.minimum(ratio, 700.0))  # the least third entry, where the second is positive
    representable = positive & (ratio < 700)
    on_flat_face = (y == 0) & (x <= 0) & (z >= 0)
    inside = (representable & (needed <= z)) | on_flat_face
    polar = ~inside & _in_polar_exponential(x, y, z)
    flat = ~inside & ~polar & (x <= 0) & (y <= 0)
    out = np.where(inside[:, None], points, 0.0)
    to_flat_face = np.stack([x, np.zeros_like(x), np.maximum(z, 0.0)], axis=1)
    out[flat] = to_flat_face[flat]
    rest = np.flatnonzero(~(inside | polar | flat))
    if rest.size:
        out[rest] = _off_exponential(points[rest], needed[rest], representable[rest])
    return out


@dataclass(frozen=True)
class _OffExponential:
    """Points off the exponential cone as ``up (rho, 1, e^rho) + down (1, 1 - rho, -e^-rho)``.

    Both multiples are determined by the first two entries; the third is the equation for rho.
    """

    x: Array
    y: Array
    z: Array

    def multiples(self, rho: Array) -> tuple[Array, Array, Array]:
        """Squared length that both multiples share, and the multiples up and down."""
        unit = rho * (rho - 1) + 1
        up = ((rho - 1) * self.x + self.y) / unit
        down = (self.x - rho * self.y) / unit
        return unit, up, down

    def excess(self, rho: Array) -> tuple[Array, Array]:
        """Third entry less that of the point, which increases with rho, and its derivative."""
        unit, up, down = self.multiples(rho)
        high, low = np.exp(rho), np.exp(-rho)
        unit_slope = 2 * rho - 1
        up_slope = (self.x - up * unit_slope) / unit
        down_slope = (self.y + down * unit_slope) / unit
        slope = high * (up + up_slope) + low * (down + down_slope)
        return up * high - down * low - self.z, slope


def _off_exponential(points: Array, needed: Array, raised: Mask) -> Array:
    """Nearest points of the exponential cone where the one equation decides.

    Where ``raised``, the point with ``needed`` as third entry is in the cone.
    """
    scale = np.abs(points).max(axis=1)
    x, y, z = (points / scale[:, None]).T
    system = _OffExponential(x, y, z)
    # Both multiples must be positive.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        low = np.clip(np.where(x > 0, 1 - y / x, -700.0), -700.0, 700.0)
        high = np.clip(np.where(y > 0, x / y, 700.0), -700.0, 700.0)
        rho = _root_between(system.excess, low, high)
        _, up, _ = system.multiples(rho)
        direction = np.stack([rho, np.ones_like(rho), np.exp(rho)], axis=1)
        found = (scale * np.maximum(up, 0.0))[:, None] * direction
    # Two other points of the cone, which are the better ones where rho is huge.
    x, y, z = points.T
    on_flat_face = np.minimum(x, 0.0), np.zeros_like(x), np.maximum(z, 0.0)
    flat = np.stack(on_flat_face, axis=1)
    above = np.stack([x, y, np.maximum(z, needed)], axis=1)
    candidates = np.stack([found, flat, np.where(raised[:, None], above, flat)])
    with np.errstate(over="ignore"):
        distance = np.linalg.norm(candidates - points, axis=2)
    return np.asarray(candidates[np.argmin(distance, axis=0), np.arange(rho.size)])


def _root_between(excess: Callable[[Array], tuple[Array, Array]], low: Array, high: Array) -> Array:
    """Roots of increasing functions between two ends: Newton's steps, and halves where these are no faster."""
    root = np.clip(0.0, low, high)
    before = step = high - low
    done = np.zeros(root.shape, dtype=bool)
    for _ in range(_BISECTIONS):
        value, slope = excess(root)
        low = np.where(value < 0, root, low)
        high = np.where(value < 0, high, root)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = root - value / slope
            faster = np.abs(2 * value) < np.abs(before * slope)
            between = (newton >= low) & (newton <= high)
        new = np.where(between & faster, newton, 0.5 * (low + high))
        new = np.where(done | (value == 0), root, new)
        before, step = step, np.abs(new - root)
        done |= step <= _EPS * np.maximum(np.abs(new), 1.0)
        root = new
        if done.all():
            break
    return np.asarray(root)


def _in_polar_exponential(x: Array, y: Array, z: Array) -> Mask:
    """Whether minus the point is in the dual cone, so that the point projects to 0."""
    sided = (x > 0) & (z < 0)
    positive, depth = np.where(sided, x, 1.0), np.where(sided, -z, 1.0)
    with np.errstate(over="ignore"):
        below = y / positive - 1 + np.log(positive) <= np.log(depth)
    return np.where(x == 0, (y <= 0) & (z <= 0), sided & below)


def _exponents(each: Alike) -> Array:
    """Exponents a and 1 - a of power cones, a row for each."""
    return np.stack([each.exponent, 1 - each.exponent], axis=1)


def _project_power(points: Array, each: Alike) -> Array:
    r"""Project onto :math:`x^ay^{1-a}\ge|z|`: one equation in the length of z (Hien 2015, Proposition 2.2)."""
    exponents = _exponents(each)
    xy, z = points[:, :2], points[:, 2]
    length = np.abs(z)
    product = np.prod(np.maximum(xy, 0.0) ** exponents, axis=1)
    inside = (xy >= 0).all(axis=1) & (product >= length)
    dual_product = np.prod((np.maximum(-xy, 0.0) / exponents) ** exponents, axis=1)
    polar = (xy <= 0).all(axis=1) & (dual_product >= length)
    size = _length_on_power(xy, exponents, length)
    nearest = _root(xy, exponents, size[:, None], length[:, None])
    near = np.concatenate([nearest, (np.sign(z) * size)[:, None]], axis=1)
    without_z = np.concatenate([np.maximum(xy, 0.0), z[:, None]], axis=1)
    near = np.where((length == 0)[:, None], without_z, near)
    outside = np.where(polar[:, None], 0.0, near)
    return np.where(inside[:, None], points, outside)


def _length_on_power(xy: Array, exponents: Array, length: Array) -> Array:
    """Length of z of the nearest point of a power cone, between 0 and that of the point, by bisection."""
    low, high = np.zeros_like(length), length.copy()
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if not ((low < middle) & (middle < high)).any():
            break
        nearest = _root(xy, exponents, middle[:, None], length[:, None])
        more = np.prod(nearest**exponents, axis=1) > middle
        low = np.where(more, middle, low)
        high = np.where(more, high, middle)
    return np.asarray(0.5 * (low + high))


def _root(v: Array, exponent: Array, size: Array, length: Array) -> Array:
    """The larger root of ``u^2 - u v - a r (length - r)``, r the size, without cancellation for negative v."""
    product = exponent * size * (length - size)
    root = np.sqrt(v * v + 4 * product)
    other = 2 * product / np.maximum(root - v, 1e-300)
    return np.where(v > 0, 0.5 * (v + root), other)


def _as_it_is(points: Array, each: Alike) -> Array:
    """Leave multipliers of equations as they are: all are in the dual cone."""
    return points


def _inwards_second_order(points: Array, each: Alike) -> Array:
    """Raise the first entry to more than the norm of the others."""
    norm = np.linalg.norm(points[:, 1:], axis=1)
    least = norm * (1 + NUDGE * np.sqrt(each.order))
    height = np.maximum(points[:, 0], least)
    return np.concatenate([height[:, None], points[:, 1:]], axis=1)


def _inwards_psd(points: Array, each: Alike) -> Array:
    """Add a multiple of the identity to a matrix, by which its smallest eigenvalue is positive."""
    shift = NUDGE * each.order * np.linalg.norm(points, axis=1)
    identities = shift[:, None, None] * np.eye(each.order)
    return vector(matrix(points, each.order) + identities)


def _inwards_exponential(points: Array, each: Alike) -> Array:
    """Raise w so that a point is in the dual cone: ``u < 0`` and ``-u e^(v/u - 1) <= w``, or u = 0 and v, w >= 0."""
    u, v, w = np.minimum(points[:, 0], 0.0), points[:, 1], np.maximum(points[:, 2], 0.0)
    with np.errstate(over="ignore"):
        ratio = np.divide(v, u, out=np.full_like(v, np.inf), where=u < 0)
    representable = ratio < 700
    ratio = np.where(representable, ratio, 0.0)
    rounding = 1 + 100 * NUDGE * (1 + np.abs(ratio))
    least = -u * np.exp(ratio - 1) * rounding
    raised = np.stack([u, v, np.maximum(w, least)], axis=1)
    flat = np.stack([np.zeros_like(u), np.maximum(v, 0.0), w], axis=1)
    return np.where(representable[:, None], raised, flat)


def _inwards_power(points: Array, each: Alike) -> Array:
    """Raise x or y so that a point is in the dual cone: ``(x / a)^a (y / (1 - a))^(1 - a) >= |z|``."""
    exponents = _exponents(each)
    xy = np.maximum(points[:, :2], 0.0)
    size = np.abs(points[:, 2]) * (1 + 100 * NUDGE)
    enough = np.prod((xy / exponents) ** exponents, axis=1) >= size
    # A point on an axis is lifted off it first, so that there is a quotient.
    largest = np.maximum(xy.max(axis=1), size)
    on_axis = (xy == 0).any(axis=1)
    lifted = xy + 1e-17 * largest[:, None] * on_axis[:, None]
    other = ((lifted / exponents) ** exponents)[:, ::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = (size[:, None] / other) ** (1 / exponents)
        needed = exponents * quotient * (1 + 100 * NUDGE / exponents)  # of each, with the other as it is
    short = needed - lifted
    cheaper = np.argmin(short, axis=1)[:, None] == np.arange(2)
    grown = np.where(cheaper, np.maximum(lifted, needed), lifted)
    raised = np.where(enough[:, None], xy, grown)
    return np.concatenate([raised, points[:, 2:]], axis=1)


def _inside(each: Alike) -> Array:
    """A point well inside a cone, the same for all that are alike."""
    if each.kind == "zero":
        return np.zeros(each.order)
    if each.kind == "nonnegative":
        return np.ones(each.order)
    if each.kind == "second-order":
        return np.append(np.sqrt(2.0), np.zeros(each.order - 1))
    if each.kind == "psd":
        return vector(np.eye(each.order))
    if each.kind == "exponential":
        return np.array([-1.0, 1.0, 1.0])
    return np.array([1.0, 1.0, 0.0])


_PROJECT = {
    "zero": _project_zero,
    "nonnegative": _project_nonnegative,
    "second-order": _project_second_order,
    "psd": _project_psd,
    "exponential": _project_exponential,
    "power": _project_power,
}
_INWARDS = {
    "zero": _as_it_is,
    "nonnegative": _project_nonnegative,
    "second-order": _inwards_second_order,
    "psd": _inwards_psd,
    "exponential": _inwards_exponential,
    "power": _inwards_power,
}
_CONTAINS = {
    "zero": _zero_contains,
    "nonnegative": _nonnegative_contains,
    "second-order": _second_order_contains,
    "psd": _psd_contains,
    "exponential": _exponential_contains,
    "power": _power_contains,
}
