"""Families of data that are hard for path codes (ties, duplicates, singular margin sets, extreme scales), and lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import paretoclf as pc


def _labels(rng, n):
    return np.where(rng.permutation(n) < max(1, round(n * rng.uniform(0.2, 0.8))), 1.0, -1.0)


def grid(rng):
    return rng.integers(0, 4, (24, 2)).astype(float), _labels(rng, 24)


def duplicates(rng):
    X, y = rng.normal(size=(10, 2)), _labels(rng, 10)
    pick = rng.integers(0, 10, 25)
    pick[:10] = np.arange(10)
    return X[pick], y[pick]


def conflicts(rng):
    X = np.repeat(rng.normal(size=(9, 2)), 2, axis=0)
    y = _labels(rng, 18)
    y[:4] = [1, -1, 1, -1]
    return X, y


def constant_feature(rng):
    return np.column_stack([rng.normal(size=(20, 2)), np.full(20, 3.0)]), _labels(rng, 20)


def collinear(rng):
    return rng.integers(-3, 4, (20, 1)) * np.array([[1.0, 2.0, -1.0]]) + 1.0, _labels(rng, 20)


def one_sample(rng):
    return rng.normal(size=(15, 2)), np.where(np.arange(15) == 0, 1.0, -1.0)


def rare_class(rng):
    X, y = rng.normal(size=(101, 2)), np.where(np.arange(101) == 50, 1.0, -1.0)
    return np.round(X, 1), y


def separable(rng):
    y = _labels(rng, 20)
    return rng.uniform(-1, 1, (20, 2)) + 3 * y[:, None], y


def identical(rng):
    return np.tile(rng.normal(size=(1, 2)), (9, 1)), _labels(rng, 9)


def wide(rng):
    return rng.normal(size=(12, 30)), _labels(rng, 12)


def rank_deficient(rng):
    return rng.integers(-2, 3, (30, 2)) @ rng.integers(-1, 2, (2, 6)) * 1.0, _labels(rng, 30)


def balanced(rng):
    y = np.where(np.arange(20) < 10, 1.0, -1.0)
    return rng.normal(size=(20, 2)) + 0.7 * y[:, None], y


def rounded(rng):
    y = _labels(rng, 36)
    return np.round(2 * (rng.normal(size=(36, 3)) + 0.5 * y[:, None])) / 2, y


def overlapping(rng):
    y = _labels(rng, 30)
    return rng.normal(size=(30, 3)) + 0.5 * y[:, None], y


def near_separable(rng):
    """Separated by a gap of 1e-6, but for one sample on the wrong side."""
    y = _labels(rng, 24)
    y[:2] = 1, -1
    X = rng.normal(size=(24, 2))
    X[:, 0] = y * (5e-7 + abs(X[:, 0]) * rng.choice([1.0, 1e-6], 24))
    X[0, 0] *= -1
    return X, y


def mirrored(rng):
    """Each sample has a twin, mirrored in the origin, of the other class."""
    X, y = rng.integers(-3, 4, (12, 2)).astype(float), np.where(rng.random(12) < 0.7, 1.0, -1.0)
    return np.vstack([X + 0.5, -X - 0.5]), np.concatenate([y, -y])


def equal_centroids(rng):
    """Two classes around one point: w = 0 is optimal on a range of costs."""
    X = rng.integers(-3, 4, (12, 2)).astype(float)
    return np.vstack([X[:6], -X[:6], X[6:], -X[6:]]), np.repeat([1.0, -1.0], 12)


def binary(rng):
    return (rng.random((30, 8)) < 0.4).astype(float), _labels(rng, 30)


def xor(rng):
    X = rng.choice([-1.0, 1.0], (24, 2))
    X[:4] = [[-1, -1], [-1, 1], [1, -1], [1, 1]]
    y = X[:, 0] * X[:, 1]
    y[rng.integers(4, 24, 3)] *= -1
    return X, y


def outliers(rng):
    y = _labels(rng, 28)
    return rng.standard_cauchy((28, 2)) + 0.5 * y[:, None], y


def mixed_scales(rng):
    y = _labels(rng, 26)
    return (rng.normal(size=(26, 4)) + 0.4 * y[:, None]) * [1e-3, 1.0, 1e3, 1e4], y


def same_class_copies(rng):
    """Few points, each many times in its class: large margin sets in which only sums of multipliers matter."""
    X, y = rng.integers(-2, 3, (6, 2)).astype(float), np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    pick = np.concatenate([np.arange(6), rng.integers(0, 6, 26)])
    return X[pick], y[pick]


def offset(rng):
    """Data of spread 1 a distance of 1e4 away from the origin."""
    y = _labels(rng, 25)
    return np.round(rng.normal(size=(25, 2)) + 0.5 * y[:, None], 2) + 1e4, y


@dataclass(frozen=True)
class Family:
    """How to make instances of one kind of degeneracy, and with which kernels, scalings and costs to trace them."""

    make: Callable[[np.random.Generator], Any]
    kernels: tuple[str, ...] = ("linear", "rbf")
    scalings: tuple[str, ...] = ("raw", "standardised")
    features: float = 1.0
    costs: float = 1.0
    rbf_costs: float = 1.0  # bandwidths scale with the features: a kernel of its own scale asks for costs of its own
    weighted: bool = False
    per_sample: bool = False  # caps that move sample by sample, not by class
    instances: int = 20

    def instance(self, seed: int) -> tuple[Any, Any, Any]:
        """Samples, labels and weights (or None), the same for the same seed."""
        rng = np.random.default_rng(seed)
        X, y = self.make(rng)
        weight = None
        if self.weighted:  # every other instance: whole numbers, with ties; else over four orders of magnitude
            weight = rng.integers(1, 5, y.size).astype(float) if seed % 2 else 10 ** rng.uniform(-2, 2, y.size)
        return self.features * X, y, weight

    def factor(self, kernel: str) -> float:
        """What all costs are multiplied with."""
        return self.rbf_costs if kernel.startswith("rbf") else self.costs


FAMILIES = {
    "integer grid": Family(grid),
    "rounded": Family(rounded),
    "duplicates": Family(duplicates),
    "conflicting labels": Family(conflicts),
    "copies in a class": Family(same_class_copies),
    "collinear": Family(collinear),
    "constant feature": Family(constant_feature),
    "classes 1:100": Family(rare_class),
    "one sample": Family(one_sample),
    "separable": Family(separable),
    "near-separable": Family(near_separable),
    "rank-deficient": Family(rank_deficient),
    "wide": Family(wide),
    "all equal": Family(identical),
    "balanced": Family(balanced),
    "mirrored": Family(mirrored),
    "equal centroids": Family(equal_centroids),
    "binary": Family(binary),
    "xor": Family(xor),
    "outliers": Family(outliers),
    "mixed scales": Family(mixed_scales, scalings=("raw",), features=1e-3),
    "far from 0": Family(offset, scalings=("raw",)),
    "tiny bandwidth": Family(overlapping, ("rbf / 100",)),
    "huge bandwidth": Family(overlapping, ("rbf * 1000",)),
    "polynomial": Family(grid, ("poly 2", "poly 3")),
    "features * 1e-6": Family(overlapping, scalings=("raw",), features=1e-6, costs=1e12),
    "features * 1e6": Family(overlapping, scalings=("raw",), features=1e6, costs=1e-12),
    "costs * 1e-6": Family(rounded, features=1e3, costs=1e-6, rbf_costs=1e-6),
    "costs * 1e6": Family(rounded, features=1e-3, costs=1e6, rbf_costs=1e6),
    "weights": Family(rounded, weighted=True),
    "sample costs": Family(rounded, per_sample=True),
    "features only * 1e6": Family(overlapping, ("linear",), ("raw",), features=1e6, instances=6),
    "costs only * 1e6": Family(rounded, ("linear",), ("raw",), costs=1e6, instances=6),
    "polynomial, * 1e6": Family(grid, ("poly 2", "poly 3"), ("raw",), costs=1e6, instances=4),
    "mixed scales * 1e3": Family(mixed_scales, ("linear",), ("raw",), instances=6),
}


def kernel_of(name: str, X: Any) -> Any:
    """The kernel of that name for these samples; bandwidths are the median distance times or over a number."""
    if name == "linear":
        return None
    base, *factor = name.split(" ")
    if base == "poly":
        return pc.Polynomial(int(factor[0]))
    bandwidth = pc.RBF.median(X).bandwidth if np.ptp(X, axis=0).any() else 1.0
    scale = 1.0 if not factor else float(factor[1]) if factor[0] == "*" else 1 / float(factor[1])
    return pc.RBF(bandwidth * scale)


def standardised(X: Any) -> Any:
    """Mean 0 and standard deviation 1 in each feature that is not constant."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def main_lines(y: Any, s: Any) -> dict[str, Any]:
    """The ray (with weights: of balanced sums of weights) and the asymmetry line."""
    plus, minus = s[y > 0].sum(), s[y < 0].sum()
    top = 10.0 * y.size / np.array([plus, minus]) / 2
    return {"ray": ((0.0, 0.0), tuple(top)), "asymmetry": ((0.04, 1.96), (1.96, 0.04))}


def special_lines(y: Any, s: Any, smoke: bool) -> dict[str, Any]:
    """Lines that begin, end or lie where costs vanish, or reach far."""
    ray, asymmetry = main_lines(y, s).values()
    lines = {
        "into an axis": ((1.5, 0.5), (0.0, 2.0)),
        "into the origin": ((2.0, 1.0), (0.0, 0.0)),
    }
    if smoke:
        return lines
    return lines | {
        "ray to 1e6": ((0.0, 0.0), tuple(1e5 * c for c in ray[1])),
        "to 1e6": ((1, 1), (1e6, 1e6)),
        "ray back": ray[::-1],
        "asymmetry back": asymmetry[::-1],
        "along an axis": ((0.0, 0.5), (0.0, 2.0)),
        "axis to axis": ((0.0, 2.0), (2.0, 0.0)),
        "out of the origin": ((0.0, 0.0), (0.3, 3.0)),
        "no length": ((1.0, 0.7), (1.0, 0.7)),
    }


def sample_lines(y: Any, seed: int) -> dict[str, Any]:
    """Costs that move sample by sample, some of them zero."""
    rng = np.random.default_rng(seed)
    one, other = np.maximum(rng.uniform(-0.5, 2.0, (2, y.size)), 0.0)
    whole = rng.integers(0, 4, (2, y.size)).astype(float)
    return {
        "costs": (one, other),
        "whole costs": (whole[0], whole[1]),
        "out of the origin": (np.zeros(y.size), one),
        "into the origin": (other, np.zeros(y.size)),
        "into one class": (one, np.where(y > 0, one, 0.0)),
        "no length": (whole[0], whole[0]),
    }
