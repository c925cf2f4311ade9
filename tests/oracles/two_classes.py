"""Small samples of two unequal classes, with ties and copies in every second draw."""

from __future__ import annotations

import numpy as np


def samples(seed):
    """Two overlapping classes, 1:2; every second draw is of small whole numbers with copies, one of either label."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(18) < 6, 1.0, -1.0)
    X = rng.normal(size=(18, 2)) + 0.7 * y[:, None]
    if seed % 2:
        X = np.round(X)
        X[1], X[7] = X[0], X[0]
    return X, y
