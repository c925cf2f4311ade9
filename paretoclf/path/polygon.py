"""Convex polygons of the cost plane: cut by half-planes, measured, and laid side by side. Pure functions.

A polygon is an array (k, 2) of vertices, counterclockwise; edge j goes from vertex j to vertex j + 1. A half-plane is
a row ``(d, u, v)`` with ``u**2 + v**2 = 1`` and holds the points at which ``d + u x + v y >= 0``, which is then their
distance from its border.
"""

from __future__ import annotations

import numpy as np

from paretoclf.checks import Array, Index


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
    edge = np.full(polygon.shape[0], -1, dtype=np.int64)
    which = np.arange(half_planes.shape[0])
    while True:
        distances = half_planes[which, :1] + half_planes[which, 1:] @ polygon.T
        lowest = distances.min(axis=1)
        cutting = np.flatnonzero(lowest < -tol)  # the others hold all that will be left
        if cutting.size == 0:
            break
        deepest = int(np.argmin(lowest))
        inside = distances[deepest]
        if inside.max() <= tol:
            return np.empty((0, 2)), np.empty(0, dtype=np.int64)
        polygon, edge = _cut_once(polygon, edge, inside, int(which[deepest]))
        which = which[cutting]
    return polygon, edge


def _next(polygon: Array) -> Index:
    """Number of the vertex after each."""
    return np.asarray(np.arange(1, polygon.shape[0] + 1) % polygon.shape[0])


def _cut_once(polygon: Array, edge: Index, distances: Array, label: int) -> tuple[Array, Index]:
    """Cut off the vertices at negative distance; the new edge gets the label."""
    inside = distances.tolist()
    k = len(inside)
    points, labels = [], []
    for j in range(k):
        here, there = inside[j], inside[(j + 1) % k]
        if here >= 0.0:
            points.append(polygon[j])
            labels.append(edge[j] if here > 0.0 or there >= 0.0 else label)
        if (here > 0.0 > there) or (here < 0.0 < there):
            share = here / (here - there)
            points.append(polygon[j] + share * (polygon[(j + 1) % k] - polygon[j]))
            labels.append(label if here > 0.0 else edge[j])
    return np.array(points), np.array(labels, dtype=np.int64)


def without_short_edges(polygon: Array, edge: Index, tol: float) -> tuple[Array, Index]:
    """The polygon without edges shorter than tol, and what the others lie on."""
    if polygon.shape[0] < 3:
        return polygon, edge
    step = polygon[_next(polygon)] - polygon
    keep = np.hypot(step[:, 0], step[:, 1]) > tol
    return polygon[keep], edge[keep]


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
    x, y = (polygon - polygon[0]).T
    return 0.5 * float(x[1:-1] @ y[2:] - x[2:] @ y[1:-1])


def centroid(polygon: Array) -> Array:
    """Centre of mass of a polygon of positive area."""
    d = polygon - polygon[0]
    doubled = d[1:-1, 0] * d[2:, 1] - d[2:, 0] * d[1:-1, 1]
    return np.asarray(polygon[0] + doubled @ (d[1:-1] + d[2:]) / (3.0 * doubled.sum()))


def borders(polygon: Array) -> Array:
    """The edges as half-planes that hold the polygon, shape (k, 3); an edge without length holds everything."""
    step = polygon[_next(polygon)] - polygon
    length = np.hypot(step[:, 0], step[:, 1])
    safe = np.where(length > 0.0, length, 1.0)
    u, v = -step[:, 1] / safe, step[:, 0] / safe
    return np.stack([-(u * polygon[:, 0] + v * polygon[:, 1]), u, v], axis=1)


def share_inside(start: Array, stop: Array, half_planes: Array, tol: float) -> tuple[float, float]:
    """Shares of the segment from start to stop between which it is inside, up to tol; the first is larger if none is.

    Examples
    --------
    >>> import numpy as np
    >>> square = borders(rectangle((0.0, 1.0), (0.0, 1.0)))
    >>> share_inside(np.array([-1.0, 0.5]), np.array([3.0, 0.5]), square, 0.0)
    (0.25, 0.5)
    """
    at = half_planes[:, 0] + half_planes[:, 1:] @ start
    rate = half_planes[:, 1:] @ (stop - start)
    along = np.abs(rate) <= tol
    if (np.maximum(at, at + rate)[along] < -2 * tol).any():
        return 1.0, 0.0
    # Relaxed by tol only for those it runs along: the ends that the others set are to be sharp.
    crossing = np.divide(-at, rate, out=np.zeros_like(at), where=~along)
    first = float(crossing[~along & (rate > 0)].max(initial=0.0))
    last = float(crossing[~along & (rate < 0)].min(initial=1.0))
    return first, last
