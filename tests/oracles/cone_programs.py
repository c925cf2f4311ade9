"""Random cone programs whose optimal value is known, and solver points that are off.

A primal point s and a dual point z are chosen complementary first; then b = s + A x and q = -Px - A'z make x and z
optimal, so the optimal value is known without a solver. Of four programs three have strictly feasible points, along a
direction that is chosen with them: rows of A that would forbid it change their signs.
"""

from __future__ import annotations

import numpy as np

from paretoclf.proof.cones.cone_judge import ConeProgram, cone_bounds
from paretoclf.proof.cones.cone_kinds import Cone, blocks, project


def known(rng):
    """A program, its optimal x and z, its optimal value and the size of the terms of it."""
    n = int(rng.integers(1, 8))
    cones = [Cone("zero", int(rng.integers(1, 3)))] if n > 3 and rng.random() < 0.5 else []
    cones.append(Cone("nonnegative", int(rng.integers(1, 2 * n + 2))))
    cones += [Cone("second-order", int(rng.integers(1, 5))) for _ in range(rng.integers(0, 3))]
    cones += [Cone("psd", int(rng.integers(1, 4)))] if rng.random() < 0.3 else []
    cones += [Cone("exponential")] if rng.random() < 0.2 else []
    cones += [Cone("power", 3, float(rng.uniform(0.1, 0.9)))] if rng.random() < 0.2 else []
    boxed = rng.random() < 0.7  # so that bounds can be found
    if boxed:
        cones.insert(bool(cones[0].kind == "zero"), Cone("nonnegative", 2 * n))
    first = cones[0].size if cones[0].kind == "zero" else 0
    box = slice(first, first + 2 * n) if boxed else slice(0, 0)
    m = sum(c.size for c in cones)
    A = rng.integers(-3, 4, (m, n)).astype(float)
    A[box] = np.vstack([np.eye(n), -np.eye(n)])[: box.stop - box.start]
    v = rng.standard_normal(m) * 10 ** rng.uniform(-1, 1)
    if rng.random() < 0.75:
        _make_room(rng, A, v, cones, box)
    s = project(v, cones)
    z = s - v  # complementary, by Moreau
    x = rng.standard_normal(n)
    F = rng.integers(-2, 3, (int(rng.integers(0, n + 1)), n)).astype(float)
    P = F.T @ F if rng.random() < 0.5 else np.diag(rng.integers(0, 3, n).astype(float))
    program = ConeProgram(P, -P @ x - A.T @ z, A, s + A @ x, cones)
    size = abs(program.value(x)) + np.abs(program.q) @ np.abs(x) + np.abs(z) @ np.abs(program.b) + 1
    return program, x, z, program.value(x), size


def _make_room(rng, A, v, cones, box):
    """Change A and v so that from the optimal point there is a direction into the cones, as far as that can be."""
    n = A.shape[1]
    d = rng.integers(1, 4, n) * rng.choice([-1.0, 1.0], n)
    if box.stop:  # of the two ends of an interval at most one is active, and d leads away from it
        upper, lower = v[box][:n], v[box][n:]
        lower[(upper < 0) & (lower < 0)] *= -1
        d = np.where(upper < 0, -np.abs(d), np.where(lower < 0, np.abs(d), d))
        v[box] = np.concatenate([upper, lower])
    for cone, at in blocks(cones):
        if cone.kind == "zero":
            A[at] -= np.outer(A[at] @ d, d) / (d @ d)
        elif cone.kind == "nonnegative":
            if at != box:
                A[at] *= np.where(A[at] @ d > 0, -1.0, 1.0)[:, None]
        else:  # z is the normal of the face that s is on
            z = project(v[at], [cone]) - v[at]
            A[at] *= -1.0 if z @ (A[at] @ d) > 0 else 1.0


def trial(seed):
    """Safe (lower, upper), the optimal value, what the construction rounds, and how far off the points were."""
    rng = np.random.default_rng(seed)
    program, x, z, value, size = known(rng)
    off = 10 ** rng.uniform(-14, 0) * (rng.random() < 0.95)
    scale = 1 + np.abs(x).max(), 1 + np.abs(z).max()
    found = cone_bounds(
        program,
        x + off * scale[0] * rng.standard_normal(x.size),
        z + off * scale[1] * rng.standard_normal(z.size),
    )
    return found, value, 1e-13 * size, off
