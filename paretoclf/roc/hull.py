"""The upper convex hull of points with whole coordinates."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.int64]


def upper_hull(fp: Whole, tp: Whole, n_minus: int, n_plus: int) -> tuple[Whole, Whole, npt.NDArray[np.intp]]:
    """Vertices of the upper hull of the points (fp, tp), with (0, 0) and (n_minus, n_plus), by increasing fp.

    Andrew's monotone chain on one point (the highest) for each fp. Coordinates are whole numbers and the cross products
    Python's, so collinear points are recognised, and dropped, exactly.

    Returns
    -------
    fp, tp : int array of shape (vertices,)
    index : int array of shape (vertices,)
        Positions among the points, the first of several equal ones; -1 for a corner that is none of them.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.roc.hull import upper_hull
    >>> upper_hull(np.array([1, 2, 3]), np.array([2, 1, 3]), 4, 4)
    (array([0, 1, 4]), array([0, 2, 4]), array([-1,  0, -1]))
    """
    order = np.lexsort((-tp, fp))  # stable: the first of equal points comes first
    ordered = fp[order]
    highest = order[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
    columns = [column.tolist() for column in (fp[highest], tp[highest], highest)]
    points = list(zip(*columns, strict=True))
    if points[0][:2] != (0, 0):
        points.insert(0, (0, 0, _first_origin(fp, tp)))
    if points[-1][:2] != (n_minus, n_plus):
        points.append((n_minus, n_plus, -1))
    chain: list[tuple[int, int, int]] = []
    for point in points:
        while len(chain) > 1 and _turns_left_or_straight(chain[-2], chain[-1], point):
            chain.pop()
        chain.append(point)
    vertices = np.array(chain, dtype=np.int64).reshape(-1, 3)
    return vertices[:, 0], vertices[:, 1], vertices[:, 2].astype(np.intp)


def _turns_left_or_straight(*points: tuple[int, int, int]) -> bool:
    """Whether the way over three points (fp, tp, position) has no right turn in the second of them."""
    (fp, tp, _), (second_fp, second_tp, _), (third_fp, third_tp, _) = points
    to_second = second_fp - fp, second_tp - tp
    to_third = third_fp - fp, third_tp - tp
    return to_second[0] * to_third[1] >= to_second[1] * to_third[0]


def _first_origin(fp: Whole, tp: Whole) -> int:
    """Position of the first point at (0, 0); -1 if there is none."""
    found = np.flatnonzero((fp == 0) & (tp == 0))
    return int(found[0]) if found.size else -1
