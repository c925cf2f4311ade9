"""Whether regions, and parts without an optimum, cover a square once: from their polygons, rays and contacts alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import PLANE_TOUCH
from paretoclf.engine.reduction.plane import ProgramPlane
from paretoclf.path.problem_map.map_search import SQUARE, AffinePiece, NoOptimum, ruled_out
from paretoclf.path.regions.edges import Contact, contradiction
from paretoclf.path.regions.polygon import area, borders


def domain_of(plane: ProgramPlane, nowhere: Sequence[NoOptimum]) -> tuple[Array | None, str]:
    """Part of the square that rays leave, cut off one after the other; and what contradicts the stored polygons."""
    left: Array | None = SQUARE
    for k, each in enumerate(nowhere):
        out, left = (None, None) if left is None else ruled_out(left, plane.gain(each.status, each.ray))
        if out is None or not _same(out, each.polygon):
            return left, f"part {k} without an optimum is not what its ray rules out"
    return left, ""


def objection_to(
    plane: ProgramPlane, pieces: Sequence[AffinePiece], nowhere: Sequence[NoOptimum], contacts: Sequence[Contact]
) -> tuple[float, str]:
    """The share of the square by which areas miss it, and what contradicts that it is covered once; empty for nothing.

    Every inner edge must be shared with another region on its other side, once all along: then each point is covered as
    often as any other, and areas that add up leave once.
    """
    domain, wrong = domain_of(plane, nowhere)
    polygons = [each.polygon for each in pieces]
    whole = 0.0 if domain is None else float(area(domain))
    missed = abs(sum(float(area(each)) for each in polygons) - whole)
    if wrong or domain is None or not polygons:
        return missed, wrong
    frame = np.array(borders(domain))
    for k, each in enumerate(polygons):
        own = np.array(borders(each))
        corners = np.insert(each, 0, 1.0, axis=1)
        if not (corners @ own.T).min() >= -PLANE_TOUCH:
            return missed, f"region {k} is no convex polygon"
        if not (corners @ frame.T).min() >= -PLANE_TOUCH:
            return missed, f"region {k} leaves what has an optimum"
    found = contradiction(pieces, contacts, domain, PLANE_TOUCH)
    if found is not None:
        return missed, f"{found.cause}, of region {found.region}"
    return missed, ""


def _same(first: Array, second: Any) -> bool:
    """Whether two polygons are one, corner by corner, wherever they begin."""
    if len(first) != len(second):
        return False
    turns = (np.roll(second, k, axis=0) for k in range(len(second)))
    return any(bool((np.abs(first - each) <= PLANE_TOUCH).all()) for each in turns)
