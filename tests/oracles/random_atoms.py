"""Random CVXPY problems along a line, of every atom that compiles to a QP or LP: whole numbers, tenths, and doubles."""

from __future__ import annotations

import cvxpy as cp
import numpy as np


def numbers(rng, shape):
    """Whole, in tenths, or any."""
    kind = rng.integers(3)
    if kind == 0:
        return rng.integers(-2, 3, shape).astype(float)
    return np.round(rng.normal(size=shape), 1) if kind == 1 else rng.normal(size=shape)


def atom(rng, x, rows):
    """One term of an objective in x, of affine expressions of up to so many rows."""
    A = numbers(rng, (int(rng.integers(1, rows)), x.size))
    b, k = numbers(rng, A.shape[0]), A.shape[0]
    e, M, weights = A @ x - b, numbers(rng, (2, x.size)), np.abs(numbers(rng, k)) + 0.5
    terms = [
        lambda: cp.norm1(e),
        lambda: cp.norm_inf(e),
        lambda: cp.sum_squares(e),
        lambda: cp.sum(cp.pos(e)),
        lambda: cp.max(e),
        lambda: cp.sum(cp.huber(e, float(rng.choice([0.5, 1, 2])))),
        lambda: cp.sum(cp.abs(e)) + cp.sum(e),
        lambda: cp.tv(x) if x.size > 1 else cp.abs(x[0]),
        lambda: cp.sum_largest(e, int(rng.integers(1, k))) if k > 1 else cp.max(e),
        lambda: cp.sum(cp.maximum(e, 0.5 * e - 1, -e)),
        lambda: cp.quad_form(x, M.T @ M, assume_PSD=True),
        lambda: cp.sum(cp.pos(1 - e)) + cp.sum(cp.neg(e)),
        lambda: cp.pos(cp.norm1(e) - 1),
        lambda: cp.sum(cp.multiply(weights, cp.abs(e))),
    ]
    return terms[int(rng.integers(len(terms)))]()


def random_atoms(seed, largest=5):
    """A problem in x of up to so many entries, its start and its stop; nothing moves where these are equal."""
    rng = np.random.default_rng(seed)
    n, rows = int(rng.integers(1, largest + 1)), largest + 1
    kinds = [{"nonneg": True}, {"nonpos": True}, {"bounds": [-1.0, 2.0]}, {}, {}, {}]
    x = cp.Variable(n, name="x", **kinds[int(rng.integers(6))])
    lam, v, r = cp.Parameter(nonneg=True, name="lam"), cp.Parameter(n, name="v"), cp.Parameter(name="r")
    ends = {}
    loss = sum(atom(rng, x, rows) for _ in range(int(rng.integers(1, 3))))
    if rng.random() < 0.6:
        while not (term := atom(rng, x, rows)).is_pwl():
            pass
        loss, ends[lam] = loss + lam * term, (float(rng.choice([0, 0.5, 2, 4])), float(rng.choice([0, 0.1, 1, 3])))
    if rng.random() < 0.4:
        loss, ends[v] = loss + v @ x, (numbers(rng, n), numbers(rng, n))
    limits = [
        lambda: numbers(rng, n) @ x <= float(rng.integers(0, 4)),
        lambda: numbers(rng, n) @ x == float(rng.integers(-1, 2)),
        lambda: cp.norm1(x) <= float(rng.integers(1, 5)),
        lambda: numbers(rng, n) @ x <= r,
        lambda: numbers(rng, (2, n)) @ x >= -np.abs(numbers(rng, 2)),
    ]
    chosen = rng.integers(5, size=int(rng.integers(0, 2 + largest // 2)))
    constraints = [limits[i]().set_label(f"c{k}") for k, i in enumerate(chosen.tolist())]
    if 3 in chosen:
        ends[r] = (float(rng.integers(0, 4)), float(rng.integers(-1, 3)))
    problem = cp.Problem(cp.Minimize(loss) if rng.random() < 0.8 else cp.Maximize(-loss), constraints)
    return problem, {p: a for p, (a, _) in ends.items()}, {p: b for p, (_, b) in ends.items()}
