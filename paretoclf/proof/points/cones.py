r"""The cones of a cone program: projection onto each and onto its dual, and points that are inside for sure.

A vector of a program is a stack of blocks, one a cone, in the order of a list of `Cone`. A symmetric matrix stands as
its upper triangle, column by column, with the entries off the diagonal times :math:`\sqrt2`, so that inner products are
those of matrices. The exponential cone is the closure of :math:`\{(x,y,z):y>0,\ ye^{x/y}\le z\}`, the power cone
:math:`\{(x,y,z):x^ay^{1-a}\ge|z|,\ x,y\ge0\}`.

Each projection onto a cone K gives that onto its dual by Moreau: :math:`\Pi_{K^*}(v)=v+\Pi_K(-v)`. Cones of one kind
and order are treated together, as the rows of an array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.errors import InputError

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
        A power cone's exponent, strictly between 0 and 1.

    Raises
    ------
    InputError
        If it is no such cone.

    Examples
    --------
    >>> from paretoclf.proof.points.cones import Cone
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


@dataclass(frozen=True)
class Alike:
    """Cones of one kind and order: which of the program's, and where their entries stand, a row for each."""

    kind: str
    order: int
    which: Index = field(repr=False)
    rows: Index = field(repr=False)
    exponent: Array = field(repr=False)

    def taken(self, v: Array) -> Array:
        """The entries of these cones in a vector, a row for each; in several vectors, one after the other."""
        return np.take(v, self.rows, axis=-1).reshape(-1, self.rows.shape[1])

    def repeated(self, v: Array) -> Alike:
        """These cones as often as there are vectors."""
        if v.ndim == 1 or self.kind != "power":
            return self
        return replace(self, exponent=np.tile(self.exponent, len(v)))


class Cones(tuple[Cone, ...]):
    """The cones of a program in their order, and those that are alike together.

    Examples
    --------
    >>> from paretoclf.proof.points.cones import Cone, Cones
    >>> [(each.order, each.rows.tolist()) for each in Cones([Cone("zero", 1), *[Cone("second-order", 2)] * 2]).alike]
    [(1, [[0]]), (2, [[1, 2], [3, 4]])]
    """

    @cached_property
    def alike(self) -> tuple[Alike, ...]:
        """Cones that are alike."""
        found: dict[tuple[str, int], list[tuple[int, int, float]]] = {}
        for k, (cone, at) in enumerate(blocks(self)):
            found.setdefault((cone.kind, cone.order), []).append((k, at.start, cone.exponent))
        groups = []
        for (kind, order), members in found.items():
            which, first, exponent = (np.array(column) for column in zip(*members, strict=True))
            rows = first[:, None] + np.arange(Cone(kind, order).size)
            groups.append(Alike(kind, order, which, rows, exponent.astype(float)))
        return tuple(groups)

    def apply(self, does: Callable[[Array, Alike], Array], v: Array) -> Array:
        """Apply to the entries of cones that are alike, a row for each, group by group; of one vector or of several."""
        out = np.zeros_like(v)
        for each in self.alike:
            found = does(each.taken(v), each.repeated(v))
            out[..., each.rows] = found.reshape(*v.shape[:-1], *each.rows.shape)
        return out


def blocks(cones: Sequence[Cone]) -> Iterator[tuple[Cone, slice]]:
    """Each cone with its place in the stacked vector."""
    first = 0
    for cone in cones:
        yield cone, slice(first, first + cone.size)
        first += cone.size


def _grouped(cones: Sequence[Cone]) -> Cones:
    return cones if isinstance(cones, Cones) else Cones(cones)


def project(v: Array, cones: Sequence[Cone]) -> Array:
    """Nearest point of the product of the cones.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.points.cones import Cone, project
    >>> project(np.array([3.0, -1.0, 0.0, 2.0]), [Cone("nonnegative", 2), Cone("second-order", 2)])
    array([3., 0., 1., 1.])
    """
    return _grouped(cones).apply(lambda V, each: _PROJECT[each.kind](V, each), np.asarray(v, dtype=np.float64))


def project_dual(v: Array, cones: Sequence[Cone]) -> Array:
    """Nearest point of the dual cone, moved inside it by `NUDGE`, so that it is in there whatever was rounded."""
    cones = _grouped(cones)
    return cones.apply(lambda V, each: _INWARDS[each.kind](V, each), v + project(-v, cones))


def interior(cones: Sequence[Cone]) -> Array:
    """A point well inside each cone (0 for the zero cone, which has no inside)."""
    cones = _grouped(cones)
    return cones.apply(lambda V, each: V + _inside(each), np.zeros(sum(cone.size for cone in cones)))


def contains(v: Array, radius: Array, cones: Sequence[Cone]) -> Mask:
    """Whether all within ``radius`` of v, entry by entry, are in each cone; never True by rounding alone.

    Of several vectors, rows of an array, there is a row of answers for each.
    """
    cones = _grouped(cones)
    radius = radius + NUDGE * np.abs(v)
    found = np.zeros((*v.shape[:-1], len(cones)), dtype=bool)
    for each in cones.alike:
        fine = _CONTAINS[each.kind](each.taken(v), each.taken(radius), each.repeated(v))
        found[..., each.which] = fine.reshape(*v.shape[:-1], -1)
    return found


def _zero_contains(V: Array, radius: Array, each: Alike) -> Mask:
    return np.asarray(((V == 0) & (radius == 0)).all(axis=1))


def _nonnegative_contains(V: Array, radius: Array, each: Alike) -> Mask:
    return np.asarray((V - radius >= 0).all(axis=1))


def _second_order_contains(V: Array, radius: Array, each: Alike) -> Mask:
    reach = np.linalg.norm(np.abs(V[:, 1:]) + radius[:, 1:], axis=1)
    return np.asarray(V[:, 0] - radius[:, 0] >= reach * (1 + NUDGE * each.order))


def _psd_contains(V: Array, radius: Array, each: Alike) -> Mask:
    M = matrix(V, each.order)
    rounding = NUDGE * each.order * np.linalg.norm(V, axis=1)
    return np.asarray(np.linalg.eigvalsh(M)[:, 0] >= np.linalg.norm(radius, axis=1) + rounding)


def _exponential_contains(V: Array, radius: Array, each: Alike) -> Mask:
    low, high = V - radius, V + radius
    inside = low[:, 1] > 0
    x, y = high[:, 0], np.where(inside[:, None], np.stack([low[:, 1], high[:, 1]], axis=1), 1.0)
    with np.errstate(over="ignore"):  # for fixed x the function is convex in y, so the largest is at an end
        largest = (y * np.exp(x[:, None] / y)).max(axis=1)
        return np.asarray(inside & (largest * (1 + 100 * NUDGE * (1 + np.abs(x) / y[:, 0])) <= low[:, 2]))


def _power_contains(V: Array, radius: Array, each: Alike) -> Mask:
    low = V - radius
    x, y = np.maximum(low[:, 0], 0.0), np.maximum(low[:, 1], 0.0)
    least = x**each.exponent * y ** (1 - each.exponent)
    reach = np.abs(V[:, 2]) + radius[:, 2]
    return np.asarray((x > 0) & (y > 0) & (least * (1 - 100 * NUDGE) >= reach))


def matrix(v: Array, order: int) -> Array:
    """The symmetric matrix that a vector stands for, or those of the rows of an array."""
    M = np.zeros((*v.shape[:-1], order, order))
    column, row = np.tril_indices(order)
    M[..., row, column] = M[..., column, row] = np.where(row == column, v, v / np.sqrt(2.0))
    return M


def vector(M: Array) -> Array:
    """The vector that stands for a symmetric matrix, or a row for each of many."""
    column, row = np.tril_indices(M.shape[-1])
    entries = M[..., row, column]
    return np.asarray(np.where(row == column, entries, np.sqrt(2.0) * entries))


def _project_zero(V: Array, each: Alike) -> Array:
    """Onto {0}."""
    return np.zeros_like(V)


def _project_nonnegative(V: Array, each: Alike) -> Array:
    """Onto vectors without a negative entry."""
    return np.maximum(V, 0.0)


def _project_second_order(V: Array, each: Alike) -> Array:
    """Onto ``|v[1:]| <= v[0]``."""
    t, length = V[:, :1], np.linalg.norm(V[:, 1:], axis=1, keepdims=True)
    half = 0.5 * (t + length)
    near = np.concatenate([half, half / np.where(length > 0, length, 1.0) * V[:, 1:]], axis=1)
    return np.where(length <= t, V, np.where(length <= -t, 0.0, near))


def _project_psd(V: Array, each: Alike) -> Array:
    """Onto positive semidefinite matrices: negative eigenvalues become 0."""
    values, vectors = np.linalg.eigh(matrix(V, each.order))
    return vector((vectors * np.maximum(values, 0.0)[:, None, :]) @ np.swapaxes(vectors, 1, 2))


def _project_exponential(V: Array, each: Alike) -> Array:
    r"""Onto the exponential cone.

    Off the two cones and the quadrant where it is plain, the projection is a multiple of :math:`(\rho,1,e^\rho)` and
    its
    distance a multiple of :math:`(1, 1-\rho, -e^{-\rho})` with the same :math:`\rho`, where the two are orthogonal: one
    equation in one unknown, monotone where both multiples are positive (Friberg 2023, "Projection onto the exponential
    cone: a univariate root-finding problem").
    """
    r, s, t = V.T
    positive = s > 0
    with np.errstate(over="ignore"):
        ratio = np.divide(r, s, out=np.full_like(r, np.inf), where=positive)
        needed = s * np.exp(np.minimum(ratio, 700.0))  # of the third entry, where the second is positive
    inside = (positive & (ratio < 700) & (needed <= t)) | ((s == 0) & (r <= 0) & (t >= 0))
    polar = ~inside & _in_polar_exponential(r, s, t)
    flat = ~inside & ~polar & (r <= 0) & (s <= 0)
    out = np.where(inside[:, None], V, 0.0)
    out[flat] = np.stack([r, np.zeros_like(r), np.maximum(t, 0.0)], axis=1)[flat]
    rest = np.flatnonzero(~(inside | polar | flat))
    if rest.size:
        out[rest] = _off_exponential(V[rest], needed[rest], (positive & (ratio < 700))[rest])
    return out


def _off_exponential(V: Array, needed: Array, raised: Mask) -> Array:
    """Nearest points where the one equation decides; ``raised``: points of the cone are above, ``needed`` up."""
    scale = np.abs(V).max(axis=1)
    r, s, t = (V / scale[:, None]).T

    def parts(rho: Array) -> tuple[Array, Array, Array]:
        unit = rho * (rho - 1) + 1
        return unit, ((rho - 1) * r + s) / unit, (r - rho * s) / unit

    def excess(rho: Array) -> tuple[Array, Array]:
        unit, up, down = parts(rho)
        high, low, bend = np.exp(rho), np.exp(-rho), 2 * rho - 1
        slope = high * (up + (r - up * bend) / unit) + low * (down + (s + down * bend) / unit)
        return up * high - down * low - t, slope

    # v = up (rho, 1, e^rho) + down (1, 1 - rho, -e^-rho); both multiples must be positive.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        low = np.clip(np.where(r > 0, 1 - s / r, -700.0), -700.0, 700.0)
        high = np.clip(np.where(s > 0, r / s, 700.0), -700.0, 700.0)
        rho = _root_between(excess, low, high)
        _, up, _ = parts(rho)
        found = (scale * np.maximum(up, 0.0))[:, None] * np.stack([rho, np.ones_like(rho), np.exp(rho)], axis=1)
    # Points of the cone, too, and the better ones where rho is huge.
    edge = np.stack([np.minimum(V[:, 0], 0.0), np.zeros_like(rho), np.maximum(V[:, 2], 0.0)], axis=1)
    above = np.stack([V[:, 0], V[:, 1], np.maximum(V[:, 2], needed)], axis=1)
    candidates = np.stack([found, edge, np.where(raised[:, None], above, edge)])
    with np.errstate(over="ignore"):
        away = np.linalg.norm(candidates - V, axis=2)
    return np.asarray(candidates[np.argmin(away, axis=0), np.arange(rho.size)])


def _root_between(excess: Callable[[Array], tuple[Array, Array]], low: Array, high: Array) -> Array:
    """Roots of increasing functions between two ends: Newton's steps, and halves where these are no faster."""
    x = np.clip(0.0, low, high)
    before = step = high - low
    done = np.zeros(x.shape, dtype=bool)
    for _ in range(_BISECTIONS):
        value, slope = excess(x)
        low, high = np.where(value < 0, x, low), np.where(value < 0, high, x)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = x - value / slope
            fast = (newton >= low) & (newton <= high) & (np.abs(2 * value) < np.abs(before * slope))
        new = np.where(fast, newton, 0.5 * (low + high))
        new = np.where(done | (value == 0), x, new)
        before, step = step, np.abs(new - x)
        done |= step <= np.finfo(float).eps * np.maximum(np.abs(new), 1.0)
        x = new
        if done.all():
            break
    return np.asarray(x)


def _in_polar_exponential(r: Array, s: Array, t: Array) -> Mask:
    """Whether minus the point is in the dual cone, which projects to 0."""
    sided = (r > 0) & (t < 0)
    a, b = np.where(sided, r, 1.0), np.where(sided, -t, 1.0)
    with np.errstate(over="ignore"):
        return np.where(r == 0, (s <= 0) & (t <= 0), sided & (s / a - 1 + np.log(a) <= np.log(b)))


def _project_power(V: Array, each: Alike) -> Array:
    r"""Onto :math:`x^ay^{1-a}\ge|z|`: one equation in the length of z (Hien 2015, Proposition 2.2)."""
    a = np.stack([each.exponent, 1 - each.exponent], axis=1)
    xy, z = V[:, :2], V[:, 2]
    length = np.abs(z)
    inside = (xy >= 0).all(axis=1) & (np.prod(np.maximum(xy, 0.0) ** a, axis=1) >= length)
    polar = (xy <= 0).all(axis=1) & (np.prod((np.maximum(-xy, 0.0) / a) ** a, axis=1) >= length)
    low, high = np.zeros_like(length), length.copy()
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if not ((low < middle) & (middle < high)).any():
            break
        more = np.prod(_root(xy, a, middle[:, None], length[:, None]) ** a, axis=1) > middle
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    r = 0.5 * (low + high)
    near = np.concatenate([_root(xy, a, r[:, None], length[:, None]), (np.sign(z) * r)[:, None]], axis=1)
    near = np.where((length == 0)[:, None], np.concatenate([np.maximum(xy, 0.0), z[:, None]], axis=1), near)
    return np.where(inside[:, None], V, np.where(polar[:, None], 0.0, near))


def _root(v: Array, a: Array, r: Array, length: Array) -> Array:
    """The larger root of ``u^2 - u v - a r (length - r)``, without cancellation for negative v."""
    product = a * r * (length - r)
    root = np.sqrt(v * v + 4 * product)
    return np.where(v > 0, 0.5 * (v + root), 2 * product / np.maximum(root - v, 1e-300))


def _as_it_is(V: Array, each: Alike) -> Array:
    return V


def _inwards_second_order(V: Array, each: Alike) -> Array:
    least = np.linalg.norm(V[:, 1:], axis=1) * (1 + NUDGE * np.sqrt(each.order))
    return np.concatenate([np.maximum(V[:, 0], least)[:, None], V[:, 1:]], axis=1)


def _inwards_psd(V: Array, each: Alike) -> Array:
    shift = NUDGE * each.order * np.linalg.norm(V, axis=1)
    return vector(matrix(V, each.order) + shift[:, None, None] * np.eye(each.order))


def _inwards_exponential(V: Array, each: Alike) -> Array:
    # The dual cone: u < 0 and -u e^(v/u - 1) <= w, or u = 0 and v, w >= 0.
    u, s, w = np.minimum(V[:, 0], 0.0), V[:, 1], np.maximum(V[:, 2], 0.0)
    with np.errstate(over="ignore"):
        ratio = np.divide(s, u, out=np.full_like(s, np.inf), where=u < 0)
    use = ratio < 700
    ratio = np.where(use, ratio, 0.0)
    least = -u * np.exp(ratio - 1) * (1 + 100 * NUDGE * (1 + np.abs(ratio)))
    columns = np.where(use, u, 0.0), np.where(use, s, np.maximum(s, 0.0)), np.where(use, np.maximum(w, least), w)
    return np.stack(columns, axis=1)


def _inwards_power(V: Array, each: Alike) -> Array:
    # The dual cone: (u / a)^a (v / (1 - a))^(1 - a) >= |w|.
    a = np.stack([each.exponent, 1 - each.exponent], axis=1)
    xy, size = np.maximum(V[:, :2], 0.0), np.abs(V[:, 2]) * (1 + 100 * NUDGE)
    enough = np.prod((xy / a) ** a, axis=1) >= size
    lifted = xy + 1e-17 * np.maximum(xy.max(axis=1), size)[:, None] * (xy == 0).any(axis=1)[:, None]
    other = ((lifted / a) ** a)[:, ::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = a * (size[:, None] / other) ** (1 / a) * (1 + 100 * NUDGE / a)  # of each, with the other as it is
    short = needed - lifted
    cheaper = np.argmin(short, axis=1)[:, None] == np.arange(2)
    grown = np.where(cheaper, np.maximum(lifted, needed), lifted)
    return np.concatenate([np.where(enough[:, None], xy, grown), V[:, 2:]], axis=1)


def _inside(each: Alike) -> Array:
    if each.kind == "zero":
        return np.zeros(each.order)
    if each.kind == "nonnegative":
        return np.ones(each.order)
    if each.kind == "second-order":
        return np.append(np.sqrt(2.0), np.zeros(each.order - 1))
    if each.kind == "psd":
        return vector(np.eye(each.order))
    return np.array([-1.0, 1.0, 1.0]) if each.kind == "exponential" else np.array([1.0, 1.0, 0.0])


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
