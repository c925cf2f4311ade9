"""The regions of a map as arrays that npz can hold, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from paretoclf.checks import Array
from paretoclf.path.critical import Facet, Region

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
        "key": np.stack([np.frombuffer(r.key, dtype=r.sets.dtype) for r in regions]),
    }


def unpack(stored: Mapping[str, Any]) -> tuple[Region, ...]:
    """The regions that `pack` was given; ValueError if the arrays do not fit each other."""
    corners = _slices(stored["corners"], stored["polygon"], stored["facets"])
    sizes = _slices(stored["sizes"], stored["margin"], stored["alpha_map"])
    facets = [None if sample < 0 else Facet(int(sample), int(to)) for sample, to in stored["facets"]]
    return tuple(
        Region(
            stored["polygon"][edges], tuple(facets[edges]), stored["sets"][k], stored["margin"][part],
            stored["alpha_map"][part], stored["b_map"][k], stored["key"][k].tobytes(),
        )
        for k, (edges, part) in enumerate(zip(corners, sizes, strict=True))
    )  # fmt: skip


def _slices(counts: Array, *counted: Array) -> list[slice]:
    ends = np.concatenate([[0], np.cumsum(counts)])
    if any(each.shape[0] != ends[-1] for each in counted):
        raise ValueError("arrays of different lengths")
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]
