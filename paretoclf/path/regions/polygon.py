"""Convex polygons of the cost plane: cut by half-planes, and measured. Pure functions.

A polygon is an array (k, 2) of vertices, counterclockwise; edge j goes from vertex j to vertex j + 1. A half-plane is
a row ``(d, u, v)`` with ``u**2 + v**2 = 1`` and holds the points at which ``d + u x + v y >= 0``, which is then their
distance from its border. Polygons have a handful of vertices: many are cut at once, and what is done with one at a
time is done in plain Python, which is several times as fast on them as NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask

Point = tuple[float, float]
HalfPlane = tuple[float, float, float]


def rectangle(x: tuple[float, float], y: tuple[float, float]) -> Array:
    """The rectangle ``x[0] <= x <= x[1]``, ``y[0] <= y <= y[1]``."""
    return np.array([[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]])


def cut(polygon: Array, half_planes: Array, tol: float) -> tuple[Array, Index]:
    """Cut a polygon by several families of half-planes; return what is left, and on which half-plane each edge lies.

    The deepest cut of a family comes first, so that few are made; a half-plane that would cut off less than `tol` is
    left out. A polygon with fewer vertices than another repeats its last one; where nothing is left, all are one.

    Parameters
    ----------
    polygon : array of shape (k, 2)
    half_planes : array of shape (r, 3, m)
        d, u and v of the m half-planes of each family.
    tol : float

    Returns
    -------
    polygons : array of shape (r, l, 2)
    edges : array of shape (r, l), int
        Numbers of half-planes; -1 for an old edge.

    Examples
    --------
    >>> import numpy as np
    >>> square = rectangle((0.0, 1.0), (0.0, 1.0))
    >>> polygons, edges = cut(square, np.array([[[0.5], [-1.0], [0.0]]]), 1e-12)
    >>> polygons[0], edges[0]
    (array([[0. , 0. ],
           [0.5, 0. ],
           [0.5, 1. ],
           [0. , 1. ]]), array([-1,  0, -1, -1]))
    """
    r = half_planes.shape[0]
    corners = np.repeat(np.insert(polygon, 0, 1.0, axis=1)[None], r, axis=0)
    edges = np.full(corners.shape[:2], -1, dtype=np.int64)
    uncut = np.arange(r)
    while uncut.size:
        distances = corners[uncut] @ half_planes[uncut]
        lowest = distances.min(axis=1)
        deepest = lowest.argmin(axis=1)
        left = np.flatnonzero(lowest[np.arange(uncut.size), deepest] < -tol)
        uncut, deepest, inside = uncut[left], deepest[left], distances[left, :, deepest[left]]
        inside[inside.max(axis=1) <= tol] = -1.0
        found, labels = _cut_each(corners[uncut], edges[uncut], inside, deepest)
        if found.shape[1] > corners.shape[1]:
            corners, edges = (np.concatenate([x, x[:, -1:]], axis=1) for x in (corners, edges))
        last = np.minimum(np.arange(corners.shape[1]), found.shape[1] - 1)
        corners[uncut], edges[uncut] = found[:, last], labels[:, last]
        uncut = uncut[inside.max(axis=1) > 0.0]
    return corners[:, :, 1:], edges


def _cut_each(corners: Array, edges: Index, inside: Array, labels: Index) -> tuple[Array, Index]:
    """Cut off the vertices ``(1, x, z)`` at negative distance; the new edge of each polygon gets its label.

    Each edge leaves the vertex that it begins at, if that is inside, and one where it is cut, if it is.
    """
    r, k = inside.shape
    labels = labels[:, None]
    following, beyond = _following(corners), _following(inside)
    crossed = ((inside > 0.0) & (beyond < 0.0)) | ((inside < 0.0) & (beyond > 0.0))
    share = np.divide(inside, inside - beyond, out=np.zeros((r, k)), where=crossed)
    vertices = np.empty((r, k, 2, 3))
    vertices[:, :, 0] = corners
    vertices[:, :, 1] = corners + share[:, :, None] * (following - corners)
    wanted = np.empty((r, k, 2), np.bool_)
    wanted[:, :, 0] = (inside >= 0.0) & (corners != following).any(axis=2)
    wanted[:, :, 1] = crossed
    # A vertex on the border, behind which its edge is cut off, begins the new edge; so does one where an edge leaves.
    on = np.empty((r, k, 2), np.int64)
    on[:, :, 0] = np.where((inside > 0.0) | (beyond >= 0.0), edges, labels)
    on[:, :, 1] = np.where(inside > 0.0, labels, edges)
    return _those(wanted.reshape(r, 2 * k), vertices.reshape(r, 2 * k, 3), on.reshape(r, 2 * k))


def _those(wanted: Mask, polygons: Array, edges: Index) -> tuple[Array, Index]:
    """The wanted vertices of each polygon, the last one repeated."""
    sizes = np.maximum(wanted.sum(axis=1), 1)[:, None]
    place = np.minimum(np.arange(sizes.max(initial=1)), sizes - 1)
    each = np.arange(len(wanted))[:, None]
    order = np.argsort(~wanted, axis=1, kind="stable")[each, place]
    return polygons[each, order], edges[each, order]


def _following(x: Array) -> Array:
    """For each vertex of each polygon what belongs to the next one: `np.roll`, three times as fast on small arrays."""
    return np.concatenate([x[:, 1:], x[:, :1]], axis=1)


def without_short_edges(polygons: Array, edges: Index, tol: float) -> tuple[Array, Index]:
    """The polygons without edges that are not longer than tol, and what the others lie on; as `cut` has them."""
    step = _following(polygons) - polygons
    return _those(np.hypot(step[:, :, 0], step[:, :, 1]) > tol, polygons, edges)


def onto_axes(polygons: Array, edges: Index, tol: float) -> tuple[Array, Index]:
    """The polygons with vertices no further than tol from an axis moved onto it, and edges on an axis old ones.

    Vertices are intersections: next to an axis a cost may come out negative, or so small that the rounding of the
    multipliers counts. On the axis the solution is known, and beyond it there is no region.

    Examples
    --------
    >>> import numpy as np
    >>> onto_axes(np.array([[[-2.8e-17, 1e-18], [1.0, 1e-16], [0.5, 1.0]]]), np.array([[3, 4, 5]]), 1e-10)
    (array([[[0. , 0. ],
            [1. , 0. ],
            [0.5, 1. ]]]), array([[-1,  4,  5]]))
    """
    polygons = np.where(np.abs(polygons) <= tol, 0.0, polygons)
    outer = ((polygons == 0.0) & (_following(polygons) == 0.0)).any(axis=2)
    return polygons, np.where(outer, -1, edges)


def split(polygon: Array, half_plane: Array, tol: float) -> tuple[Array | None, Array | None]:
    """Both sides of a line through a polygon, ``(d, u, v)``, that on which it is positive first; None without area.

    Parameters
    ----------
    polygon : array of shape (k, 2)
    half_plane : array of shape (3,)
        In any unit.
    tol : float
        Edges that are not longer are left out, and sides that are no larger than its square.

    Examples
    --------
    >>> import numpy as np
    >>> split(rectangle((0.0, 1.0), (0.0, 1.0)), np.array([-1.0, 2.0, 0.0]), 1e-12)[0].tolist()
    [[0.5, 0.0], [1.0, 0.0], [1.0, 1.0], [0.5, 1.0]]
    """
    size = float(np.hypot(*half_plane[1:]))
    if size == 0.0:
        return (polygon, None) if half_plane[0] > 0.0 else (None, polygon)
    found: list[Array | None] = []
    for sign in (1.0, -1.0):
        parts = without_short_edges(*cut(polygon, (sign * half_plane / size)[None, :, None], tol), tol)[0]
        found.append(parts[0] if len(parts[0]) > 2 and area(parts[0]) > tol**2 else None)
    return found[0], found[1]


def area(polygon: Array) -> Any:
    """Area of a polygon (k, 2), or of each of several (..., k, 2); accurate for a small one far from the origin.

    Examples
    --------
    >>> float(area(rectangle((0.0, 2.0), (0.0, 3.0))))
    6.0
    """
    d = polygon[..., 1:, :] - polygon[..., :1, :]
    return 0.5 * (d[..., :-1, 0] * d[..., 1:, 1] - d[..., 1:, 0] * d[..., :-1, 1]).sum(axis=-1)


def centroid(polygon: Array) -> Array:
    """Centre of mass of a polygon of positive area."""
    d = polygon - polygon[0]
    doubled = d[1:-1, 0] * d[2:, 1] - d[2:, 0] * d[1:-1, 1]
    return np.asarray(polygon[0] + doubled @ (d[1:-1] + d[2:]) / (3.0 * doubled.sum()))


def lookup(polygons: Sequence[Array]) -> tuple[Array, Array]:
    """Bounding boxes (r, 4), and borders as half-planes (r, k, 3), padded with such that hold everything."""
    boxes = np.array([[*each.min(axis=0), *each.max(axis=0)] for each in polygons])
    planes = np.zeros((len(polygons), max(len(each) for each in polygons), 3))
    planes[:, :, 0] = np.inf
    for k, each in enumerate(polygons):
        planes[k, : len(each)] = borders(each)
    return boxes, planes


def deepest(found: tuple[Array, Array], at: Array, slack: float, by: float = 0.0) -> Index:
    """Numbers of the polygons of a `lookup` that a point lies in, deepest first, and of those no further than ``by``.

    The first one is there even if the point is outside of it by more; none where it is outside of all boxes by slack.
    """
    boxes, planes = found
    near = np.flatnonzero(((boxes[:, :2] <= at + slack) & (boxes[:, 2:] >= at - slack)).all(axis=1))
    depth = (planes[near] @ np.array([1.0, *at])).min(axis=1)
    order = np.argsort(-depth, kind="stable")
    return np.asarray(near[order][: max(1, int((depth >= -by).sum()))])


def borders(polygon: Array) -> list[HalfPlane]:
    """The edges as half-planes that hold the polygon, one an edge; an edge without length holds everything."""
    corners, out = polygon.tolist(), []
    for (x, y), (x_next, y_next) in zip(corners, corners[1:] + corners[:1], strict=True):
        length = hypot(x_next - x, y_next - y) or 1.0
        u, v = (y - y_next) / length, (x_next - x) / length
        out.append((-(u * x + v * y), u, v))
    return out
