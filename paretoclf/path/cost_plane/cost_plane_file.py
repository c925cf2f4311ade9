"""The regions of a map as arrays that npz can hold, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from paretoclf.common.checks import Index
from paretoclf.common.errors import InputError
from paretoclf.common.storage import finite, whole
from paretoclf.engine.sets import MARGIN, RIGHT
from paretoclf.path.regions.critical_region import Facet, Region

_NO_FACET = (-1, -1)  # an edge on the border of the map


def pack(regions: Sequence[Region]) -> dict[str, Any]:
    """Arrays that hold all regions, one after the other.

    Parameters
    ----------
    regions : sequence of Region
        At least one.
    """
    return {
        "corners": np.array([r.polygon.shape[0] for r in regions]),
        "polygon": np.concatenate([r.polygon for r in regions]),
        "facets": np.array([facet or _NO_FACET for r in regions for facet in r.facets]),
        "sets": np.stack([r.sets for r in regions]).astype(np.int8),
        "sizes": np.array([r.margin.size for r in regions]),
        "margin": np.concatenate([r.margin for r in regions]),
        "alpha_map": np.concatenate([r.alpha_map for r in regions]),
        "b_map": np.stack([r.b_map for r in regions]),
    }


def unpack(stored: Mapping[str, Any], n: int) -> tuple[Region, ...]:
    """The regions of a map of n samples that `pack` was given; InputError if the arrays do not fit each other."""
    r = np.size(stored["corners"])
    if r == 0:
        raise InputError("there must be at least one region")
    counts = whole(stored["corners"], "corners", (r,), 3, np.iinfo(np.int32).max)
    corners = _slices(counts, finite(stored["polygon"], "polygon", (None, 2)), stored["facets"])
    of_margin = whole(stored["sizes"], "sizes", (r,), 0, n + 1)
    margin, alpha_map = stored["margin"], finite(stored["alpha_map"], "alpha_map", (None, 3))
    sizes = _slices(of_margin, whole(margin, "margin", (None,), 0, n), alpha_map)
    sets = whole(stored["sets"], "sets", (r, n), RIGHT, 3)
    for k, part in enumerate(sizes):
        if not np.array_equal(np.sort(margin[part]), np.flatnonzero(sets[k] == MARGIN)):
            raise InputError(f"the margin set of region {k} is not that of its sets")
    finite(stored["b_map"], "b_map", (r, 3))
    for column, stop in zip(whole(stored["facets"], "facets", (None, 2), -1, max(n, 3)).T, (n, 3), strict=True):
        whole(column, "facets", (None,), -1, stop)
    if ((stored["facets"] < 0).sum(axis=1) == 1).any():
        raise InputError("facets must be a sample and a set, or twice -1")
    facets = [None if sample < 0 else Facet(int(sample), int(to)) for sample, to in stored["facets"]]
    return tuple(
        Region(
            stored["polygon"][edges], tuple(facets[edges]), stored["sets"][k], stored["margin"][part],
            stored["alpha_map"][part], stored["b_map"][k],
        )
        for k, (edges, part) in enumerate(zip(corners, sizes, strict=True))
    )  # fmt: skip


def _slices(counts: Index, *counted: Any) -> list[slice]:
    ends = np.concatenate([[0], np.cumsum(counts)])
    if any(each.shape[0] != ends[-1] for each in counted):
        raise ValueError("arrays of different lengths")
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]
