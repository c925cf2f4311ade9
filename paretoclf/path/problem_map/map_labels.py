"""What a map in doubles tells the writer of its certificate: labels of its regions, and where rays are met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import PLANE_TOUCH
from paretoclf.engine.reduction.plane import ProgramPlane
from paretoclf.path.base.uniqueness import tight_in_units
from paretoclf.path.problem_map.map_search import AffinePiece, NoOptimum
from paretoclf.path.regions.polygon import centroid
from paretoclf.proof.files.tight_labels import labels_of_rows
from paretoclf.proof.programs.row_units import Sizes, Units


def map_labels(plane: ProgramPlane, pieces: Sequence[AffinePiece]) -> list[Index]:
    """Label columns and rows of a compiled program on each region, by rows that are tight on all of it.

    All corners are looked at. In the middle alone a multiplier may be 0 by symmetry. And ``abs(u) <= 1`` has a column
    of its own that rests at 1: its row is tight and has no multiplier, and without it nothing would hold that column.
    """
    sizes = Sizes(plane.line)
    return [_labels(plane, piece, sizes) for piece in pieces]


def _labels(plane: ProgramPlane, piece: AffinePiece, sizes: Sizes) -> Index:
    """Label columns and rows on a region."""
    line = plane.line
    by_corners = np.column_stack([np.ones(len(piece.polygon)), piece.polygon])
    x, z = by_corners @ piece.x.T, by_corners @ piece.z.T
    q, b, _ = plane.data(piece.polygon)
    most = (np.abs(each).max(axis=0, keepdims=True) for each in (q, b, x, z))
    units = Units.of(sizes, *most, none=1.0)
    tight, priced = tight_in_units(units, b - x @ line.A.T, z)
    return labels_of_rows(line, priced, tight)


def ways_out(
    plane: ProgramPlane, pieces: Sequence[AffinePiece], nowhere: Sequence[NoOptimum]
) -> Iterator[tuple[Array, Array, int]]:
    """Yield for each ray a line on which it is the first that is met: from where, to where, and in which region.

    The line leaves the middle of a region through that of its edge on which the ray begins. A ray on which no region
    ends is left out: what it rules out is ruled out by others.
    """
    for part in nowhere:
        edges = [(each, k) for k, piece in enumerate(pieces) if (each := _edge_on(plane, piece, part)) is not None]
        if not edges:
            continue
        (first, last), k = max(edges, key=lambda each: float(np.linalg.norm(each[0][1] - each[0][0])))
        inside = centroid(pieces[k].polygon)
        yield inside, first + last - inside, k


def _edge_on(plane: ProgramPlane, piece: AffinePiece, part: NoOptimum) -> Array | None:
    """The edge of a region, shape (2, 2), on the line on which a ray begins; None where it has none."""
    gain = plane.gain(part.status, part.ray)
    size = float(np.hypot(*gain[1:]))
    corners = piece.polygon
    on_line = np.abs(gain[0] + corners @ gain[1:]) <= PLANE_TOUCH * size
    both = np.flatnonzero(on_line & np.roll(on_line, -1))
    return np.stack([corners[both[0]], corners[(both[0] + 1) % len(corners)]]) if both.size else None
