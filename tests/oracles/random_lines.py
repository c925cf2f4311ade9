"""Random small CVXPY problems along a line: all that epigraphs, slacks and bounds are written as, with ties."""

from __future__ import annotations

import cvxpy as cp
import numpy as np


def random_line(seed):
    """A problem, start and stop; whole numbers throughout, so that ties and degenerate bases are common."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 5)), int(rng.integers(2, 6))
    x, th, lam = cp.Variable(n, name="x"), cp.Parameter(name="th"), cp.Parameter(nonneg=True, name="lam")

    def whole(*shape, low=-2, high=3):
        return rng.integers(low, high, shape).astype(float)

    def affine(size):
        moved = th if rng.random() < 0.5 and not still else 1.0
        return whole(size, n) @ x + whole(size, low=-3, high=4) + moved * whole(size)

    still = False  # a parameter that multiplies a term cannot stand in it, too

    up, down = cp.Variable(k, nonneg=True, name="up"), cp.Variable(k, name="down")
    equations, limits = [], []

    def slacks():
        equations.append(affine(k) == up - down)
        limits.append(down >= 0)
        return cp.sum(up) + 2 * cp.sum(down)

    single = x[: int(rng.integers(1, n + 1))]
    terms = [
        lambda: cp.norm1(affine(k)),
        lambda: cp.norm1(single),
        lambda: cp.sum(cp.pos(affine(k))) + 0.5 * cp.sum(cp.neg(affine(k))),
        lambda: cp.sum(cp.pos(single - 1)),
        lambda: cp.sum(cp.pos(cp.abs(affine(k)) - 1)),
        lambda: cp.sum(cp.maximum(0, (r := affine(k)) - 1, 2 * r - 3, -r)),
        lambda: cp.sum(cp.maximum(0.3 * (r := affine(k)), -0.7 * r)),
        lambda: cp.sum(cp.huber(affine(k), 1.0)),
        lambda: cp.norm_inf(affine(k)),
        lambda: cp.max(affine(k)),
        lambda: cp.tv(x),
        lambda: cp.sum_largest(affine(k), 2),
        lambda: cp.sum_squares(affine(k)),
        slacks,
    ]
    chosen = rng.choice(len(terms), int(rng.integers(1, 5)), replace=False)
    loss = 0.0
    for i in chosen:
        still = rng.random() < 0.4
        loss += (lam if still else float(rng.integers(0, 4))) * terms[i]()
    still = False
    if rng.random() < 0.5:
        loss = loss + whole(n) @ x + th * (whole(n) @ x)
    constraints = [*equations, *limits]
    more = [
        lambda: x >= -whole(n, low=0, high=3),
        lambda: x <= whole(n, low=1, high=4) + th * whole(n, low=0, high=2),
        lambda: cp.abs(affine(2)) <= 3 + th,
        lambda: cp.sum(x) == 1 + th,
        lambda: affine(2) <= 4,
        lambda: x[0] == float(rng.integers(0, 2)),
        lambda: cp.norm1(x) <= 3 + lam,
    ]
    constraints += [more[i]() for i in rng.choice(len(more), int(rng.integers(0, 4)), replace=False)]
    start = {th: 0.0, lam: float(rng.integers(0, 3))}
    stop = {th: float(rng.integers(-2, 3)), lam: float(rng.integers(1, 4))}
    problem = cp.Problem(cp.Minimize(loss), constraints)
    own = {p.id for p in problem.parameters()}
    return problem, {p: v for p, v in start.items() if p.id in own}, {p: v for p, v in stop.items() if p.id in own}
