"""Convex polygons of the cost plane: cut by half-planes, measured, and laid side by side. Pure functions.

A polygon is an array (k, 2) of vertices, counterclockwise; edge j goes from vertex j to vertex j + 1. A half-plane is
a row ``(d, u, v)`` with ``u**2 + v**2 = 1`` and holds the points at which ``d + u x + v y >= 0``, which is then their
distance from its border. Polygons have a handful of vertices: what is done vertex by vertex is done in plain Python,
which is several times as fast on them as NumPy.
"""

from __future__ import annotations

from itertools import pairwise
from math import dist, hypot

import numpy as np

from paretoclf.checks import Array, Index

Point = tuple[float, float]
HalfPlane = tuple[float, float, float]
_Vertex = tuple[float, float, float]


def rectangle(x: tuple[float, float], y: tuple[float, float]) -> Array:
    """The rectangle ``x[0] <= x <= x[1]``, ``y[0] <= y <= y[1]``."""
    return np.array([[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]])


def cut(polygon: Array, half_planes: Array, tol: float) -> tuple[Array, Index]:
    """What is left of a polygon in all of the half-planes, and which of them each edge lies on (-1: an old edge).

    The deepest cut comes first, so that few are made; a half-plane that would cut off less than `tol` is left out.

    Parameters
    ----------
    polygon : array of shape (k, 2)
    half_planes : array of shape (m, 3)
    tol : float

    Returns
    -------
    polygon : array of shape (l, 2)
        Empty where nothing is left.
    edge : array of shape (l,), int

    Examples
    --------
    >>> import numpy as np
    >>> square = rectangle((0.0, 1.0), (0.0, 1.0))
    >>> cut(square, np.array([[0.5, -1.0, 0.0]]), 1e-12)
    (array([[0. , 0. ], [0.5, 0. ], [0.5, 1. ], [0. , 1. ]]), array([-1,  0, -1, -1]))
    """
    if half_planes.shape[0] == 0:
        return polygon, np.full(polygon.shape[0], -1, dtype=np.int64)
    corners, edge, planes = [(1.0, x, z) for x, z in polygon.tolist()], [-1] * polygon.shape[0], half_planes.T
    while True:
        distances = np.array(corners) @ planes
        lowest = np.minimum.reduce(distances)
        deepest = int(lowest.argmin())
        if lowest[deepest] >= -tol:
            return np.array(corners)[:, 1:], np.array(edge, dtype=np.int64)
        inside = distances[:, deepest].tolist()
        if max(inside) <= tol:
            return np.empty((0, 2)), np.empty(0, dtype=np.int64)
        corners, edge = _cut_once(corners, edge, inside, deepest)


def _cut_once(
    polygon: list[_Vertex], edge: list[int], inside: list[float], label: int
) -> tuple[list[_Vertex], list[int]]:
    """Cut off the vertices ``(1, x, z)`` at negative distance; the new edge gets the label."""
    k = len(inside)
    points, labels = [], []
    for j in range(k):
        here, there = inside[j], inside[(j + 1) % k]
        if here >= 0.0:
            points.append(polygon[j])
            labels.append(edge[j] if here > 0.0 or there >= 0.0 else label)
        if (here > 0.0 > there) or (here < 0.0 < there):
            share = here / (here - there)
            (_, x, z), (_, x_next, z_next) = polygon[j], polygon[(j + 1) % k]
            points.append((1.0, x + share * (x_next - x), z + share * (z_next - z)))
            labels.append(label if here > 0.0 else edge[j])
    return points, labels


def without_short_edges(polygon: Array, edge: Index, tol: float) -> tuple[Array, Index]:
    """The polygon without edges shorter than tol, and what the others lie on."""
    if polygon.shape[0] < 3:
        return polygon, edge
    corners = polygon.tolist()
    keep = [dist(a, b) > tol for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
    return (polygon, edge) if all(keep) else (polygon[keep], edge[keep])


def onto_axes(polygon: Array, tol: float) -> Array:
    """The polygon with vertices no further than tol from an axis moved onto it.

    Examples
    --------
    >>> import numpy as np
    >>> onto_axes(np.array([[-2.8e-17, 1e-18], [1.0, 1e-16], [0.5, 1.0]]), 1e-10)
    array([[0. , 0. ],
           [1. , 0. ],
           [0.5, 1. ]])
    """
    return np.where(np.abs(polygon) <= tol, 0.0, polygon)


def area(polygon: Array) -> float:
    """Area of a polygon; accurate for a small one far from the origin.

    Examples
    --------
    >>> area(rectangle((0.0, 2.0), (0.0, 3.0)))
    6.0
    """
    if polygon.shape[0] < 3:
        return 0.0
    (x0, y0), *others = polygon.tolist()
    doubled = 0.0
    for (x1, y1), (x2, y2) in pairwise(others):
        doubled += (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    return 0.5 * doubled


def extent(polygon: Array) -> float:
    """The longer side of the rectangle around a polygon."""
    return float(max(max(x) - min(x) for x in polygon.T.tolist()))


def centroid(polygon: Array) -> Array:
    """Centre of mass of a polygon of positive area."""
    d = polygon - polygon[0]
    doubled = d[1:-1, 0] * d[2:, 1] - d[2:, 0] * d[1:-1, 1]
    return np.asarray(polygon[0] + doubled @ (d[1:-1] + d[2:]) / (3.0 * doubled.sum()))


def borders(polygon: Array) -> list[HalfPlane]:
    """The edges as half-planes that hold the polygon, one an edge; an edge without length holds everything."""
    corners, out = polygon.tolist(), []
    for (x, y), (x_next, y_next) in zip(corners, corners[1:] + corners[:1], strict=True):
        length = hypot(x_next - x, y_next - y) or 1.0
        u, v = (y - y_next) / length, (x_next - x) / length
        out.append((-(u * x + v * y), u, v))
    return out


def share_inside(start: Point, stop: Point, half_planes: list[HalfPlane], tol: float) -> tuple[float, float]:
    """Shares of the segment from start to stop between which it is inside, up to tol; the first is larger if none is.

    Examples
    --------
    >>> import numpy as np
    >>> square = borders(rectangle((0.0, 1.0), (0.0, 1.0)))
    >>> share_inside((-1.0, 0.5), (3.0, 0.5), square, 0.0)
    (0.25, 0.5)
    """
    (x, y), (dx, dy) = start, (stop[0] - start[0], stop[1] - start[1])
    first, last = 0.0, 1.0
    for d, u, v in half_planes:
        at, rate = d + u * x + v * y, u * dx + v * dy
        if abs(rate) <= tol:
            # Relaxed by tol only for those it runs along: the ends that the others set are to be sharp.
            if max(at, at + rate) < -2 * tol:
                return 1.0, 0.0
        elif rate > 0.0:
            first = max(first, -at / rate)
        else:
            last = min(last, -at / rate)
    return first, last
