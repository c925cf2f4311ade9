"""Random cone programs whose optimal value is known, and solver points that are off. Run as a script it is a fuzz.

A primal point s and a dual point z are chosen complementary first; then b = s + A x and q = -Px - A'z make x and z
optimal, so the optimal value is known without a solver.
"""

from __future__ import annotations

import argparse

import numpy as np

from paretoclf.judges.cone import ConeProgram, cone_bounds
from paretoclf.judges.cones import Cone, project


def known(rng):
    """A program, its optimal x and z, its optimal value and the size of the terms of it."""
    n = int(rng.integers(1, 8))
    cones = [Cone("zero", int(rng.integers(1, 3)))] if n > 3 and rng.random() < 0.5 else []
    cones.append(Cone("nonnegative", int(rng.integers(1, 2 * n + 2))))
    cones += [Cone("second-order", int(rng.integers(1, 5))) for _ in range(rng.integers(0, 3))]
    cones += [Cone("psd", int(rng.integers(1, 4)))] if rng.random() < 0.3 else []
    cones += [Cone("exponential")] if rng.random() < 0.2 else []
    cones += [Cone("power", 3, float(rng.uniform(0.1, 0.9)))] if rng.random() < 0.2 else []
    if rng.random() < 0.7:  # a box, so that bounds can be found
        cones.insert(bool(cones[0].kind == "zero"), Cone("nonnegative", 2 * n))
        boxed = True
    else:
        boxed = False
    m = sum(c.size for c in cones)
    A = rng.integers(-3, 4, (m, n)).astype(float)
    if boxed:
        first = cones[0].size if cones[0].kind == "zero" else 0
        A[first : first + 2 * n] = np.vstack([np.eye(n), -np.eye(n)])
    v = rng.standard_normal(m) * 10 ** rng.uniform(-1, 1)
    s = project(v, cones)
    z = s - v  # complementary, by Moreau
    x = rng.standard_normal(n)
    F = rng.integers(-2, 3, (int(rng.integers(0, n + 1)), n)).astype(float)
    P = F.T @ F if rng.random() < 0.5 else np.diag(rng.integers(0, 3, n).astype(float))
    program = ConeProgram(P, -P @ x - A.T @ z, A, s + A @ x, cones)
    size = abs(program.value(x)) + np.abs(program.q) @ np.abs(x) + np.abs(z) @ np.abs(program.b) + 1
    return program, x, z, program.value(x), size


def trial(seed):
    """Safe (lower, upper), the optimal value, and what the construction rounds."""
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--smoke", action="store_true", help="100 programs: seconds")
    args = parser.parse_args()
    n = 100 if args.smoke else args.n
    wrong, bounded, above, close, accurate = [], 0, 0, 0, 0
    for seed in range(n):
        found, value, rounding, off = trial(seed)
        if found.lower > value + rounding or found.upper < value - rounding:
            wrong.append(seed)
        bounded += np.isfinite(found.lower)
        above += np.isfinite(found.upper)
        accurate += off < 1e-10
        close += off < 1e-10 and found.upper - found.lower <= 1e-7 * (1 + abs(value))
    print(f"{n} programs: {bounded} with a lower bound, {above} with an upper one, {len(wrong)} wrong {wrong[:5]}")
    print(f"{accurate} from points good to 1e-10: bounds within 1e-7 of each other in {close}")


if __name__ == "__main__":
    main()
