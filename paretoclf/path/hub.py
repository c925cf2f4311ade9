"""A path as the hub that other lines set out from: whether it can be one, and where."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.checks import Array, what_it_is
from paretoclf.costs import CostLine, SampleCosts
from paretoclf.errors import InputError
from paretoclf.gram import Gram
from paretoclf.path.result import Path
from paretoclf.samples import same_samples


def check_hub(hub: Path, gram: Gram, y: Array, weight: Array, line: CostLine) -> None:
    """InputError unless a line of this problem can set out from this path."""
    if not isinstance(hub, Path):
        raise InputError(f"hub must be a Path, as trace returns it, got {what_it_is(hub)}")
    a, b = hub.gram, gram
    same = a is b or (a.kernel == b.kernel and same_samples(a.X, b.X) and _same(a.pivots, b.pivots))
    if not (same and _same(hub.y, y) and _same(hub.sample_weight, weight)):
        raise InputError("hub must be a path of the same samples, labels, kernel and weights")
    if isinstance(line.start, SampleCosts) or isinstance(hub.line.start, SampleCosts):
        raise InputError("hub must be None where costs are per sample")


def _same(a: Any, b: Any) -> bool:
    return (a is None and b is None) or np.array_equal(a, b)


def crossing(a: CostLine, b: CostLine) -> tuple[float, float]:
    """Parameters on two segments of the cost plane where they cross, or else come closest."""
    (p, q), (r, s) = ((np.array(tuple(x.start)), np.array(tuple(x.stop))) for x in (a, b))
    u, v, w = q - p, s - r, r - p
    det = u[1] * v[0] - u[0] * v[1]
    if abs(det) > 1e-12 * np.linalg.norm(u) * np.linalg.norm(v):
        x, z = (w[1] * v[0] - w[0] * v[1]) / det, (w[1] * u[0] - w[0] * u[1]) / det
        if 0 <= x <= 1 and 0 <= z <= 1:
            return float(x), float(z)
    pairs = []
    for x in (0.0, 1.0):
        pairs += [(x, _nearest(p + x * u, r, v)), (_nearest(r + x * v, p, u), x)]
    return min(pairs, key=lambda xz: float(np.linalg.norm(p + xz[0] * u - r - xz[1] * v)))


def _nearest(point: Array, start: Array, direction: Array) -> float:
    square = float(direction @ direction)
    return float(np.clip((point - start) @ direction / square, 0.0, 1.0)) if square > 0 else 0.0
