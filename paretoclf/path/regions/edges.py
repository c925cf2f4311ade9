"""Whether what a map stores of the edges of its regions is so: which regions touch where, and who leaves its set there.

Error maps read the contacts: at one that is missing, or is said to be elsewhere, a border of theirs would be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.tolerances import CERTIFY, PLANE_TOUCH
from paretoclf.engine.sets import LEFT, MARGIN
from paretoclf.path.regions.critical_region import Region
from paretoclf.path.regions.polygon import borders
from paretoclf.problem.gram import Gram

_TINY = float(np.finfo(float).tiny)

#: Numbers in an array of multipliers of several regions.
_NUMBERS = 2**20


@dataclass(frozen=True)
class Contact:
    """Two regions share the segment from start to stop of their borders; going there, the first is to the left."""

    first: int
    second: int
    start: Array
    stop: Array


class Objection(NamedTuple):
    """What is wrong, of which region, and where."""

    cause: str
    region: int
    costs: Array


class _Edges(NamedTuple):
    """All edges, region after region: where each begins and ends, its length and direction, and whose it is.

    ``inner``: not on the border of the map. ``first`` (r + 1,): the number of the first edge of each region.
    """

    start: Array
    stop: Array
    length: Array
    along: Array
    region: Index
    inner: Mask
    first: Index


class HasPolygon(Protocol):
    """A region, of whatever it may be."""

    @property
    def polygon(self) -> Array:
        """Its corners, counterclockwise."""
        ...


def contradiction(
    regions: Sequence[HasPolygon], contacts: Sequence[Contact], frame: Array, slack: float | None = None
) -> Objection | None:
    """Contradiction among the contacts of a map: they must lie on edges of both regions, and cover inner edges once.

    Parameters
    ----------
    regions : sequence of Region
    contacts : sequence of Contact
    frame : array of shape (k, 2)
        The convex polygon that is covered, such as a rectangle.
    slack : float, optional
        What is no further from a line is on it; by default a share of the frame's diagonal.
    """
    slack = _slack(frame) if slack is None else slack
    edges = _edges(regions, frame, slack)
    ends = np.array([point for each in contacts for point in (each.start, each.stop)]).reshape(-1, 2, 2)
    pairs = np.array([(each.first, each.second) for each in contacts], dtype=np.int64).reshape(-1, 2)
    same = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if same.size:
        return Objection("a contact is of a region with itself", int(pairs[same[0], 0]), ends[same[0], 0])
    covered, count = np.zeros(edges.length.size), np.zeros(edges.length.size)
    for owner, (start, stop) in ((pairs[:, 0], ends.swapaxes(0, 1)), (pairs[:, 1], ends[:, ::-1].swapaxes(0, 1))):
        sizes = np.diff(edges.first)[owner]
        c = np.repeat(np.arange(owner.size), sizes)
        e = np.arange(c.size) - np.repeat(np.cumsum(sizes) - sizes, sizes) + edges.first[owner].repeat(sizes)
        inside = [_depth(edges, e, point[c]) for point in (start, stop)]
        on = np.abs(inside).max(axis=0) <= slack
        a, z = (
            np.clip(np.vecdot(point[c] - edges.start[e], edges.along[e]), 0.0, edges.length[e])
            for point in (start, stop)
        )
        reach = np.where(on, np.maximum(z - a, 0.0), 0.0)  # 0 where the region is on the other side
        share = np.zeros(owner.size)
        np.add.at(share, c, reach)
        off = np.flatnonzero(np.abs(share - np.hypot(*(stop - start).T)) > slack)
        if off.size:
            k = off[0]
            return Objection("a contact does not lie on an edge of its region", int(owner[k]), ends[k].mean(axis=0))
        np.add.at(covered, e, reach)
        np.add.at(count, e, reach > 0.0)
    wrong = np.flatnonzero(np.abs(covered - edges.length * edges.inner) > slack * (1.0 + count))
    if wrong.size:
        k = wrong[0]
        return Objection("the contacts do not cover an edge once", int(edges.region[k]), edges.start[k])
    return None


def _slack(frame: Array) -> float:
    """How far apart two regions of a rectangle may be that touch."""
    return PLANE_TOUCH * float(np.hypot(*np.ptp(frame, axis=0)))


def _edges(regions: Sequence[HasPolygon], frame: Array, slack: float) -> _Edges:
    sizes = np.array([region.polygon.shape[0] for region in regions])
    first = np.append(0, np.cumsum(sizes))
    following = np.arange(1, first[-1] + 1)
    following[first[1:] - 1] = first[:-1]
    start = np.concatenate([region.polygon for region in regions])
    stop = start[following]
    step = stop - start
    length = np.hypot(*step.T)
    along = step / np.where(length > 0.0, length, 1.0)[:, None]
    away = [np.abs(np.insert(points, 0, 1.0, axis=1) @ np.array(borders(frame)).T) for points in (start, stop)]
    outer = (np.maximum(*away) <= slack).any(axis=1)
    return _Edges(start, stop, length, along, np.repeat(np.arange(sizes.size), sizes), ~outer, first)


def _depth(edges: _Edges, e: Index, points: Array) -> Array:
    """How far inside of edges points are."""
    (u, v), (x, z) = edges.along[e].T, (points - edges.start[e]).T
    return np.asarray(u * z - v * x)


def wrong_facet(regions: Sequence[Region], frame: Array, gram: Gram, y: Array, unit_caps: Array) -> Objection | None:
    """Contradiction among the facets: the sample that is said to leave its set on an edge must be at its bound there.

    Parameters
    ----------
    regions : sequence of Region
    frame : array of shape (4, 2)
        The rectangle.
    gram, y
        Samples and labels.
    unit_caps : array of shape (n, 2)
        Caps per unit of either cost.
    """
    slack = _slack(frame)
    edges = _edges(regions, frame, slack)
    none = np.array([facet is None for region in regions for facet in region.facets])
    width = max(1, _NUMBERS // (4 * y.size))
    blocks = (regions[k : k + width] for k in range(0, len(regions), width))
    conditions = np.concatenate([_conditions(some, frame, gram, y, unit_caps) for some in blocks])
    ends = [np.abs(conditions[:, 0] + np.vecdot(conditions[:, 1:], points)) for points in (edges.start, edges.stop)]
    near = np.maximum(*ends) <= slack * np.hypot(*conditions[:, 1:].T) + CERTIFY
    wrong = np.flatnonzero(~np.where(none, ~edges.inner, near))
    if wrong.size:
        k = wrong[0]
        return Objection(
            "it is another sample that leaves its set across an edge", int(edges.region[k]), edges.start[k]
        )
    return None


def _conditions(regions: Sequence[Region], frame: Array, gram: Gram, y: Array, unit_caps: Array) -> Array:
    """Function of the costs that vanishes on each edge (m, 3): a multiplier's share of its cap, or a margin.

    nan where the sample cannot leave its set so.
    """
    facets = np.array([facet or (0, 0) for region in regions for facet in region.facets])
    of, (samples, to) = np.repeat(np.arange(len(regions)), [len(region.facets) for region in regions]), facets.T
    sets, margins = np.stack([region.sets for region in regions]), [region.margin for region in regions]
    coef = np.zeros((*sets.shape, 3))
    coef[:, :, 1:] = (sets == LEFT)[:, :, None] * unit_caps
    rows = np.repeat(np.arange(len(regions)), [margin.size for margin in margins])
    coef[rows, np.concatenate(margins)] = np.concatenate([region.alpha_map for region in regions])
    out, cap = coef[of, samples], unit_caps[samples]
    out[:, 1:] -= (to == LEFT)[:, None] * cap
    out /= np.maximum(cap @ frame.max(axis=0), _TINY)[:, None]
    entering = np.flatnonzero(to == MARGIN)
    who, there = samples[entering], of[entering]
    scores = ((gram.quadratic.rows(who) * y)[:, None] @ coef[there])[:, 0]
    out[entering] = y[who, None] * (scores + np.stack([region.b_map for region in regions])[there])
    out[entering, 0] -= 1.0
    out[(to == MARGIN) == (sets[of, samples] == MARGIN)] = np.nan
    return np.asarray(out)
