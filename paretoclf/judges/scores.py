"""Slope and scores of a point: from w itself where there is one, else from the multipliers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from paretoclf.checks import Array
from paretoclf.gram import Gram
from paretoclf.samples import largest


@dataclass(frozen=True)
class Slope:
    """A slope in the feature space of a Gram.

    Attributes
    ----------
    scores : array of shape (n,)
        ``w . x_i``.
    norm2 : float
        Squared norm.
    apart : float
        Distance of a separately given w from ``sum_i coef_i x_i``, as its effect on the scores relative to 1 + the
        terms of that sum; 0 if w is that sum.
    """

    scores: Array = field(repr=False)
    norm2: float
    apart: float = 0.0


@dataclass(frozen=True)
class Slopes:
    """Several slopes: `Slope` with scores of shape (n, k), the others (k,)."""

    scores: Array = field(repr=False)
    norm2: Array
    apart: Array

    def __getitem__(self, j: int) -> Slope:
        return Slope(self.scores[:, j], float(self.norm2[j]), float(self.apart[j]))


def slope_of(gram: Gram, coef: Array, w: Array | None = None) -> Slope:
    """Slope ``sum_i coef_i x_i``, or w, which should equal it.

    Parameters
    ----------
    gram : Gram
        Samples and kernel.
    coef : array of shape (n,)
        Coefficients that the multipliers imply.
    w : array of shape (d,), optional
        A separate primal point; for a Gram with features.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf import Gram
    >>> from paretoclf.judges.scores import slope_of
    >>> slope_of(Gram(np.array([[1.0], [2.0]])), np.array([1.0, 1.0])).norm2
    9.0
    """
    return slopes_of(gram, coef[:, None], None if w is None else np.asarray(w, dtype=np.float64)[:, None])[0]


def slopes_of(gram: Gram, coef: Array, W: Array | None = None) -> Slopes:
    """`slope_of` for each column of coef (n, k), and of W (d, k), with one product for all."""
    features, apart = gram.features, np.zeros(coef.shape[1])
    if features is None:
        scores = gram.matvec(coef)
        return Slopes(scores, np.einsum("nk,nk->k", coef, scores), apart)
    slope = implied = np.asarray(features.T @ coef)
    if W is not None:
        slope, reach = W, largest(features)[:, None]
        terms = np.asarray(abs(features).T @ np.abs(coef))
        apart = np.max(np.abs(slope - implied) * reach / (1.0 + terms * reach), axis=0, initial=0.0)
    return Slopes(np.asarray(features @ slope), np.einsum("dk,dk->k", slope, slope), apart)


def balanced(y: Array, alpha: Array) -> Array:
    """Scale the class with the larger sum down until ``sum_i y_i alpha_i = 0``; alpha must be nonnegative."""
    out = alpha.astype(np.float64)
    sums = [float(out[y == sign].sum()) for sign in (1, -1)]
    for sign, total in zip((1, -1), sums, strict=True):
        if total > 0:
            out[y == sign] *= min(sums) / total
    return out
