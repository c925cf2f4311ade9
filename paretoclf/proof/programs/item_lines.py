"""The proof of values and multipliers of any parametric program: each bound of an item is proved as a row."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Mask
from paretoclf.common.tolerances import POINT
from paretoclf.engine.reduction.of_items import RowsOfItems
from paretoclf.engine.reduction.points import ProgramPoints
from paretoclf.problem.convex import Convexity
from paretoclf.problem.definite import least_curvature
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import ParametricQP, shortest_stretch
from paretoclf.problem.piecewise import Piecewise
from paretoclf.proof.programs.clear_items import ItemJudge
from paretoclf.proof.programs.clear_segments import SegmentBounds
from paretoclf.proof.programs.item_blocks import PathOfItems
from paretoclf.proof.programs.program_lines import CONDITIONS, bounds_of
from paretoclf.proof.programs.row_units import Sizes
from paretoclf.proof.segments import bernstein
from paretoclf.proof.segments.line_proof import LineProof

_TINY = float(np.finfo(float).tiny)

#: Segments of a block, if these have no more numbers than that.
_TOGETHER, _NUMBERS = 128, 2**21


def prove_items(problem: ParametricQP, path: Piecewise, parameter: str = "t") -> LineProof:
    """Prove values and multipliers of all items, as `paretoclf.proof.lines.prove.prove` says."""
    t = np.asarray(path.t, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):  # what is not a number is not proved
        proved, curvature = _rounded(problem)
        found, free = _judged(proved, path, t)
    residuals = dict(zip(CONDITIONS, found.residuals.T, strict=True))
    residuals |= {"curvature": np.full(len(free), curvature), "free": free}
    bounds = found.gaps, found.sizes, np.zeros_like(found.gaps), found.duals
    return LineProof.of(bernstein.pairs(t), bounds, residuals, parameter=parameter)


def _rounded(problem: ParametricQP) -> tuple[ParametricQP, float]:
    """The problem with P made semidefinite up to rounding, and 0 where that is proved; else 1.

    A product of features with themselves is: nothing is added to it.
    """
    if isinstance(problem.P, Signed) and problem.P.quadratic.width:
        return problem, 0.0
    whole = problem if sp.issparse(problem.P) else problem.dense()
    found = Convexity.of(sp.csr_array(whole.P))
    if found.shift is None:
        return problem, float(found.lacks is not None)
    proved = (least_curvature(found.P, signs=True) >= 0.0).all()
    return replace(problem, P=found.P if sp.issparse(problem.P) else found.P.toarray()), float(not proved)


def _judged(problem: ParametricQP, path: Piecewise, t: Array) -> tuple[SegmentBounds, Array]:
    """Bounds on all segments, and the residual ``free``: of many at once, and of each alone where that is not clear."""
    judge, of_path = ItemJudge(problem), PathOfItems(problem, path)
    line, k = judge.rows.line, path.segments
    alone = np.diff(t) <= min(shortest_stretch(line.q, line.b), POINT)
    found = SegmentBounds(*(np.zeros((k, size)) for size in (4, 3, 3, 3)))
    free, clear = np.zeros(k), np.zeros(k, dtype=np.bool_)
    step = max(1, min(_TOGETHER, _NUMBERS // (2 * problem.items)))
    parts = [slice(begin, min(begin + step, k)) for begin in range(0, k, step)]
    for part, block in zip(parts, of_path.blocks(parts), strict=True):
        bounds = judge.bounds(block, alone[part])
        if bounds is not None:
            _write(found, part, bounds)
            clear[part] = judge.are_clear(bounds)
    by_rows = ByRows(problem, path)
    for part in _runs(~clear):
        bounds, free[part] = by_rows.bounds(part, t)
        _write(found, part, bounds)
    return found, free


def _write(found: SegmentBounds, part: slice, bounds: SegmentBounds) -> None:
    """Write bounds on some segments among those on all."""
    for of_all, own in zip(found, bounds, strict=True):
        of_all[part] = own


def _runs(mask: Mask) -> list[slice]:
    """Where a mask is true: each run of neighbours."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    return [slice(first, last) for first, last in edges.reshape(-1, 2).tolist()]


class ByRows:
    """The judge of segments in units of their own, which looks at all rows; what it needs is made when it is asked."""

    def __init__(self, problem: ParametricQP, path: Piecewise) -> None:
        self.problem, self.path = problem, path

    @cached_property
    def rows(self) -> RowsOfItems:
        """The program with a row for each bound."""
        return RowsOfItems.of(self.problem)

    @cached_property
    def sizes(self) -> Sizes:
        """The sizes of its coefficients."""
        return Sizes(self.rows.line)

    def bounds(self, part: slice, t: Array) -> tuple[SegmentBounds, Array]:
        """Bounds on some segments, and their residuals ``free``."""
        begin = self.path.begin[part]
        x, y = self.path.points(slice(int(begin[0]), int(begin[-1]) + 2))
        own = begin - begin[0]
        points = ProgramPoints.known(x, self.rows.multipliers(y), own)
        residuals, *bounds = bounds_of(
            self.rows.line, t[part.start : part.stop + 1], points, self.rows.prices, self.sizes
        )
        return SegmentBounds(np.stack([*residuals.values()], axis=1), *bounds), self._free(y[own[:, None] + [0, 1]])

    def _free(self, y: Array) -> Array:
        """Size (k,) of the multipliers of items without a bound, relative to the largest of all, and to q."""
        problem = self.problem
        free = np.isinf(problem.lower[0]) & np.isinf(problem.upper[0])
        of_rows = abs(sp.csr_array(problem.A)).max(axis=1).toarray()
        sizes = np.append(np.ones(problem.n), of_rows)
        in_gradient = np.abs(y) * sizes  # at most
        most = in_gradient.max(axis=(1, 2), initial=0.0) + np.abs(problem.q).max(initial=0.0)
        of_free = in_gradient[..., free].max(axis=(1, 2), initial=0.0)
        return np.asarray(of_free / np.maximum(most, _TINY))
