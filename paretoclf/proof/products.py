"""Scores of the moving samples of a block, from a kernel matrix or from features.

Between the two ends of a block (its anchors) a sample that keeps to its cap moves as its cap does: affinely. So the
slope is ``(1 - s) w_a + s w_z + v``, where v comes from the moving samples alone. What a block costs is what these do:
scores of all samples are computed at the anchors only, afresh from the raw arrays, and of all samples that are not
moving it is enough to know that ``|v . x_i| <= |v| |x_i|``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import ROUNDING
from paretoclf.problem.operator import Features
from paretoclf.problem.samples import Samples, dense, largest, squares
from paretoclf.proof.bernstein import columns
from paretoclf.proof.soft_margin import SoftMargin
from paretoclf.proof.stored import Group, Stored

#: Points of a line whose slopes are at hand at a time.
_POINTS = 256

#: Rows of the two ends of each segment.
Ends = tuple[Any, Any]


@dataclass(frozen=True)
class Anchors:
    """What is known at the g + 1 anchors of a group.

    Multipliers and scores (g + 1, n); where there are features, (g + 1, d) each, slopes that the multipliers imply,
    slopes that are judged, and what the absolute values of the terms of the former add up to.
    """

    alpha: Array
    scores: Array
    implied: Array | None = None
    judged: Array | None = None
    terms: Array | None = None

    def pair(self, k: int) -> Anchors:
        """Those at both ends of block k."""
        two, slopes = slice(k, k + 2), (self.implied, self.judged, self.terms)
        return Anchors(self.alpha[two], self.scores[two], *(None if each is None else each[two] for each in slopes))


@dataclass(frozen=True)
class BlockSlopes:
    """What is known of the slopes of a block of k segments, at each of its c columns (points of the line).

    Attributes
    ----------
    norm2 : array of shape (c,)
        ``lam |w|^2`` for the w that the multipliers imply.
    cross : array of shape (k,)
        ``lam w . w'`` of the two ends of each segment.
    apart : array of shape (c,)
        Residual of stationarity: of the slope that is judged to the one that the multipliers imply.
    distance : array of shape (c,)
        Distance of the two.
    """

    norm2: Array
    cross: Array
    apart: Array
    distance: Array

    def with_constant(self, constant: Array, b: Array, unit: Array, lam: float, ends: Ends) -> BlockSlopes:
        """The same of slopes with one weight more, of a feature 1: the implied one, the judged one and its unit."""
        off, (first, last) = np.abs(b - constant), ends
        return BlockSlopes(
            self.norm2 + lam * constant**2,
            self.cross + lam * constant[first] * constant[last],
            np.maximum(self.apart, off / unit),
            np.hypot(self.distance, off),
        )

    def norms(self, ends: Ends) -> Array:
        """Bernstein coefficients (k, 3) of ``lam |w|^2``."""
        return columns(self.norm2[ends[0]], self.cross, self.norm2[ends[1]])


@dataclass(frozen=True)
class BlockScores:
    """Scores in a block, a row for each of its columns.

    Attributes
    ----------
    of_moving : array of shape (c, u)
        Scores of the moving samples.
    others : callable
        Scores (c, k) of k other samples.
    deviation : array of shape (c,)
        ``|v|``, up to a shift of all scores by ``shift`` (c,).
    slopes : BlockSlopes
    """

    of_moving: Array
    others: Callable[[Index], Array]
    deviation: Array
    shift: Array
    slopes: BlockSlopes


class KernelProducts:
    """Scores ``K (y alpha) / lam``."""

    def __init__(self, K: Array, y: Array, lam: float = 1.0) -> None:
        self.K, self.y, self.lam = np.ascontiguousarray(K), y, lam
        self.reach = np.sqrt(np.maximum(np.diagonal(K), 0.0))
        self.largest2 = self.length2 = float(self.reach.max(initial=0.0)) ** 2

    def anchors(self, group: Group, stored: Stored) -> Anchors:
        """Scores at the anchors."""
        return Anchors(group.alpha, (group.alpha * self.y) @ self.K / self.lam)

    def part(self, rows: Index, columns: Index) -> Array:
        """Some rows of the kernel matrix, some columns of these: faster than `numpy.ix_`."""
        return np.asarray(self.K.ravel().take(rows[:, None] * self.K.shape[1] + columns))

    def block(self, anchors: Anchors, U: Index, coef: Array, share: Array, ends: Ends, w: Array | None) -> BlockScores:
        """Scores of a block between two anchors, in which the samples U move.

        ``coef`` (c, u) are their ``y alpha``, ``share`` (c,) says where between the anchors each column is, and ``w``
        (c, d) are the stored slopes. ``ends`` are the columns of the beginnings and of the ends of the segments.
        """
        K, lam, between = self.part(U, U), self.lam, columns(1.0 - share, share)
        at, full = anchors.scores, anchors.alpha * self.y
        mine, inner = full[:, U] @ K / lam, at[:, U]
        rest = inner - mine  # scores of the slope without the moving samples, at the anchors
        scores = coef @ K
        scores /= lam
        scores += between @ rest
        # Products of the two parts of the slope: of the anchors, of what is left there without the moving samples.
        whole = full @ at.T
        part = whole - full[:, U] @ inner.T
        left = whole - full[:, U] @ inner.T - inner @ full[:, U].T + full[:, U] @ mine.T
        of_rest, of_ends = coef @ rest.T, coef @ inner.T

        def cross(i: Any, j: Any) -> Array:
            p, q = between[i], between[j]
            return np.asarray(_rows(coef[i], scores[j]) + _rows(p, of_rest[j]) + _rows(p @ left, q))

        norm2, zero = cross(slice(None), slice(None)), np.zeros(share.size)
        chord2 = norm2 - 2 * _rows(between, of_ends + between @ part) + _rows(between @ whole, between)
        # A difference of sums that may cancel.
        most = anchors.alpha.sum(axis=1).max() + np.abs(coef).sum(axis=1).max()
        terms = float(np.square(most) * self.length2)  # infinite where Python's powers would raise
        deviation = np.sqrt(np.maximum(chord2, 0.0) / lam + ROUNDING * terms / lam**2)

        def others(W: Index) -> Array:
            B = self.part(U, W)
            scores = coef @ B
            scores /= lam
            scores += between @ (at[:, W] - full[:, U] @ B / lam)
            return np.asarray(scores)

        return BlockScores(scores, others, deviation, zero, BlockSlopes(norm2, cross(*ends), zero, zero))


class FeatureProducts:
    """Scores ``X w``: of stored slopes, or of those that multipliers imply, ``X' (y alpha) / lam``."""

    def __init__(self, X: Samples, y: Array, lam: float = 1.0) -> None:
        self.X, self.y, self.lam = X, y, lam
        # A common shift of all scores is no deviation: what counts are distances from the mean.
        self.mean = np.zeros(X.shape[1]) if sp.issparse(X) else X.mean(axis=0)
        self.reach = np.sqrt(squares(X if sp.issparse(X) else X - self.mean))
        self.size = largest(X)
        self.largest2 = float(squares(X).max(initial=0.0))
        self.length2 = float(self.size @ self.size)

    def anchors(self, group: Group, stored: Stored) -> Anchors:
        """Slopes and scores at the anchors."""
        coef = (group.alpha * self.y).T
        implied = np.asarray(self.X.T @ coef).T / self.lam
        judged = implied if stored.w is None else stored.w[group.ends]
        terms = np.asarray(abs(self.X).T @ np.abs(coef)).T / self.lam
        return Anchors(group.alpha, np.asarray(self.X @ judged.T).T, implied, judged, terms)

    def block(self, anchors: Anchors, U: Index, coef: Array, share: Array, ends: Ends, w: Array | None) -> BlockScores:
        """Scores of a block between two anchors, as for a kernel matrix."""
        assert anchors.implied is not None
        assert anchors.judged is not None
        assert anchors.terms is not None
        Z, lam, between = self.X[U], self.lam, columns(1.0 - share, share)
        inner = (anchors.alpha * self.y)[:, U]
        implied = between @ (anchors.implied - inner @ Z / lam)
        implied += coef @ Z / lam
        judged = implied if w is None else w
        v = judged - between @ anchors.judged
        apart = distance = np.zeros(share.size)
        if judged is not implied:
            wrong = np.abs(judged - implied)
            distance = np.sqrt(_rows(wrong, wrong))
            wrong *= self.size
            apart = (wrong / (1.0 + np.abs(implied) * self.size)).max(axis=1, initial=0.0)
            if apart.max(initial=0.0) > ROUNDING:  # w is a sum of terms that cancel: what they are rounded by
                absolute = abs(Z)
                terms = between @ (anchors.terms - np.abs(inner) @ absolute / lam)
                terms += np.abs(coef) @ absolute / lam
                apart = (wrong / (1.0 + np.maximum(terms, 0.0) * self.size)).max(axis=1, initial=0.0)

        def others(W: Index) -> Array:
            return _row_by_row(self.X[W], judged)

        norm2, cross = lam * _rows(implied, implied), lam * _rows(implied[ends[0]], implied[ends[1]])
        slopes = BlockSlopes(norm2, cross, apart, distance)
        return BlockScores(_row_by_row(Z, judged), others, np.sqrt(_rows(v, v)), v @ self.mean, slopes)


def products_of(problem: SoftMargin, stored: Stored) -> KernelProducts | FeatureProducts:
    """Products with a kernel matrix or with features.

    The kernel matrix is taken where there are so many features that the slopes of a few hundred points would be more
    numbers than it has, and no slopes are stored that could be judged.
    """
    Q, y, lam = problem.Q, problem.y, problem.lam
    if isinstance(Q, Features) and (stored.w is not None or Q.n**2 > _POINTS * Q.width):
        return FeatureProducts(Q.X, y, lam)
    return KernelProducts(Q.whole(), y, lam)


def _row_by_row(X: Samples, w: Array) -> Array:
    """Scores of samples, a row (in one piece of memory) for each slope."""
    return np.asarray(np.ascontiguousarray(dense(X @ w.T).T)) if sp.issparse(X) else w @ X.T


def _rows(a: Array, b: Array) -> Array:
    """Inner products of rows."""
    return np.asarray(np.vecdot(a, b))
