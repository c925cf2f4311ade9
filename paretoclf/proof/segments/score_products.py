"""Scores of the moving samples of a block, from a kernel matrix or from features.

Between the two ends of a block (its anchors) a sample that keeps to its cap moves as its cap does: affinely. So the
slope is ``(1 - s) w_a + s w_z + v``, where v comes from the moving samples alone. A block costs what these cost:
scores of all samples are computed at the anchors only, anew from the raw arrays, and for the samples that do not move
it is enough to know that ``|v . x_i| <= |v| |x_i|``.
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
from paretoclf.problem.pieces import Pieces
from paretoclf.problem.samples import Samples, dense, largest, squares
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.segments.bernstein import columns
from paretoclf.proof.segments.stored_segments import Group

#: Points of a line whose slopes are at hand at a time.
_POINTS = 256

#: Rows of the two ends of each segment.
Ends = tuple[Any, Any]


@dataclass(frozen=True)
class Anchors:
    """Multipliers and scores (g + 1, n) at the g + 1 anchors of a group.

    Where there are features, also (g + 1, d) each: slopes that the multipliers imply, slopes that are judged, and sums
    of the absolute values of the terms of the former.
    """

    alpha: Array
    scores: Array
    implied: Array | None = None
    judged: Array | None = None
    terms: Array | None = None

    def pair(self, k: int) -> Anchors:
        """Take the two anchors of block k."""
        two = slice(k, k + 2)
        slopes = (None if each is None else each[two] for each in (self.implied, self.judged, self.terms))
        return Anchors(self.alpha[two], self.scores[two], *slopes)


@dataclass(frozen=True)
class BlockSlopes:
    """Norms and residuals of the slopes of a block of k segments, at each of its c columns (points of the line).

    Attributes
    ----------
    norm2 : array of shape (c,)
        ``lam |w|^2`` for the w that the multipliers imply.
    cross : array of shape (k,)
        ``lam w . w'`` of the two ends of each segment.
    stationarity : array of shape (c,)
        Residual of stationarity: of the slope that is judged to the one that the multipliers imply.
    distance : array of shape (c,)
        Distance of the two.
    """

    norm2: Array
    cross: Array
    stationarity: Array
    distance: Array

    def with_constant(self, constant: Array, b: Array, unit: Array, lam: float, ends: Ends) -> BlockSlopes:
        """Add the weight of a constant feature 1: ``constant`` is implied, ``b`` is judged, in its unit."""
        first, last = ends
        residual = np.abs(b - constant)
        norm2 = self.norm2 + lam * constant**2
        cross = self.cross + lam * constant[first] * constant[last]
        stationarity = np.maximum(self.stationarity, residual / unit)
        return BlockSlopes(norm2, cross, stationarity, np.hypot(self.distance, residual))

    def norms(self, ends: Ends) -> Array:
        """Bernstein coefficients (k, 3) of ``lam |w|^2``."""
        first, last = ends
        return columns(self.norm2[first], self.cross, self.norm2[last])


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
    """Scores ``K (y alpha) / lam``; ``lengths`` (n,) of the samples, and the largest squared one.

    ``length2`` bounds the squared lengths as rounding leaves them, ``largest2`` the kernel values.
    """

    def __init__(self, K: Array, y: Array, lam: float = 1.0) -> None:
        self.K, self.y, self.lam = np.ascontiguousarray(K), y, lam
        self.lengths = np.sqrt(np.maximum(np.diagonal(K), 0.0))
        self.largest2 = self.length2 = float(self.lengths.max(initial=0.0)) ** 2

    def anchors(self, group: Group, stored: Pieces) -> Anchors:
        """Scores at the anchors."""
        return Anchors(group.alpha, (group.alpha * self.y) @ self.K / self.lam)

    def part(self, rows: Index, columns: Index) -> Array:
        """Some rows of the kernel matrix, some columns of these: faster than `numpy.ix_`."""
        place = rows[:, None] * self.K.shape[1] + columns
        return np.asarray(self.K.ravel().take(place))

    def block(
        self, anchors: Anchors, moving: Index, coef: Array, share: Array, ends: Ends, w: Array | None
    ) -> BlockScores:
        """Scores of a block between two anchors, in which only some samples move.

        ``coef`` (c, u) are ``y alpha`` of the ``moving`` samples, ``share`` (c,) says where between the anchors each
        column is, and ``w`` (c, d) are the stored slopes. ``ends`` are the columns of the beginnings and of the ends of
        the segments.
        """
        lam, between = self.lam, columns(1.0 - share, share)
        kernel_of_moving = self.part(moving, moving)
        at_moving = _AtMoving.of(self, anchors, moving, kernel_of_moving)
        scores = coef @ kernel_of_moving
        scores /= lam
        scores += between @ at_moving.rest
        norm2, cross, chord2 = at_moving.products(coef, scores, between, ends)
        # A difference of sums that may cancel.
        largest_sum = anchors.alpha.sum(axis=1).max()
        largest_sum = largest_sum + np.abs(coef).sum(axis=1).max()
        terms = float(np.square(largest_sum) * self.length2)  # infinite where Python's powers would raise
        rounding = ROUNDING * terms / lam**2
        deviation = np.sqrt(np.maximum(chord2, 0.0) / lam + rounding)

        def others(samples: Index) -> Array:
            kernel = self.part(moving, samples)
            scores = coef @ kernel
            scores /= lam
            scores += between @ (anchors.scores[:, samples] - at_moving.coef @ kernel / lam)
            return np.asarray(scores)

        zero = np.zeros(share.size)
        return BlockScores(scores, others, deviation, zero, BlockSlopes(norm2, cross, zero, zero))


@dataclass(frozen=True)
class _AtMoving:
    """Products at two anchors: scores of the samples that move in a block, and slopes with and without these samples.

    Attributes
    ----------
    coef, scores : array of shape (2, u)
        ``y alpha`` of the moving samples, and their scores.
    rest : array of shape (2, u)
        Their scores by the slope without the moving samples.
    whole, part, without : array of shape (2, 2)
        lam times the products of the slope, of the slope with that part of it which is not of the moving samples, and
        of this part.
    """

    coef: Array
    scores: Array
    rest: Array
    whole: Array
    part: Array
    without: Array

    @classmethod
    def of(cls, products: KernelProducts, anchors: Anchors, moving: Index, kernel: Array) -> _AtMoving:
        """Compute them for the samples that move between two anchors, with the kernel values of these."""
        signed = anchors.alpha * products.y
        coef, scores = signed[:, moving], anchors.scores[:, moving]
        own = coef @ kernel / products.lam
        whole = signed @ anchors.scores.T
        part = whole - coef @ scores.T
        without = part - scores @ coef.T + coef @ own.T
        return cls(coef, scores, scores - own, whole, part, without)

    def products(self, coef: Array, scores: Array, between: Array, ends: Ends) -> tuple[Array, Array, Array]:
        """Compute ``lam |w|^2`` at each column, ``lam w . w'`` of both ends of segments, and lam |v|^2 at each column.

        v is the slope less its chord between the two anchors; ``coef`` and ``scores`` are those of the moving samples.
        """
        of_rest, of_ends = coef @ self.rest.T, coef @ self.scores.T

        def cross(one: Any, other: Any) -> Array:
            of_moving = _rows(coef[one], scores[other])
            mixed = _rows(between[one], of_rest[other])
            of_others = _rows(between[one] @ self.without, between[other])
            return np.asarray(of_moving + mixed + of_others)

        norm2 = cross(slice(None), slice(None))
        with_chord = _rows(between, of_ends + between @ self.part)
        chord2 = norm2 - 2 * with_chord + _rows(between @ self.whole, between)
        return norm2, cross(*ends), chord2


class FeatureProducts:
    """Scores ``X w``: of stored slopes, or of those that multipliers imply, ``X' (y alpha) / lam``.

    ``lengths`` (n,) are distances of the samples from their mean, ``size`` (d,) the largest absolute values of the
    features, ``length2`` that of a sample with all of them, and ``largest2`` the largest squared length of a sample.
    """

    def __init__(self, X: Samples, y: Array, lam: float = 1.0) -> None:
        self.X, self.y, self.lam = X, y, lam
        # A common shift of all scores is no deviation: what counts are distances from the mean.
        if sp.issparse(X):  # without its mean it is dense
            self.mean = np.zeros(X.shape[1])
            self.lengths = np.sqrt(squares(X))
        else:
            self.mean = X.mean(axis=0)
            self.lengths = np.sqrt(squares(X - self.mean))
        self.size = largest(X)
        self.largest2 = float(squares(X).max(initial=0.0))
        self.length2 = float(self.size @ self.size)

    def anchors(self, group: Group, stored: Pieces) -> Anchors:
        """Slopes and scores at the anchors."""
        coef = (group.alpha * self.y).T
        implied = np.asarray(self.X.T @ coef).T / self.lam
        judged = implied if stored.w is None else stored.w[group.ends]
        absolute_terms = abs(self.X).T @ np.abs(coef)
        terms = np.asarray(absolute_terms).T / self.lam
        scores = np.asarray(self.X @ judged.T).T
        return Anchors(group.alpha, scores, implied, judged, terms)

    def block(
        self, anchors: Anchors, moving: Index, coef: Array, share: Array, ends: Ends, w: Array | None
    ) -> BlockScores:
        """Scores of a block between two anchors, with arguments as for a kernel matrix."""
        assert anchors.implied is not None
        assert anchors.judged is not None
        lam, between = self.lam, columns(1.0 - share, share)
        features = self.X[moving]
        coef_at_anchors = (anchors.alpha * self.y)[:, moving]
        implied = between @ (anchors.implied - coef_at_anchors @ features / lam)
        implied += coef @ features / lam
        judged = implied if w is None else w
        off_chord = judged - between @ anchors.judged
        stationarity = distance = np.zeros(share.size)
        if judged is not implied:
            difference = np.abs(judged - implied)
            distance = np.sqrt(_rows(difference, difference))
            difference *= self.size
            stationarity = _largest_share(difference, np.abs(implied) * self.size)
            if stationarity.max(initial=0.0) > ROUNDING:  # w is a sum of terms that cancel: these are what is rounded
                terms = self._terms(anchors, features, coef_at_anchors, coef, between)
                stationarity = _largest_share(difference, np.maximum(terms, 0.0) * self.size)

        def others(samples: Index) -> Array:
            return _row_by_row(self.X[samples], judged)

        first, last = ends
        norm2 = lam * _rows(implied, implied)
        cross = lam * _rows(implied[first], implied[last])
        slopes = BlockSlopes(norm2, cross, stationarity, distance)
        deviation, shift = np.sqrt(_rows(off_chord, off_chord)), off_chord @ self.mean
        return BlockScores(_row_by_row(features, judged), others, deviation, shift, slopes)

    def _terms(self, anchors: Anchors, features: Samples, at_anchors: Array, coef: Array, between: Array) -> Array:
        """Sums (c, d) of the absolute values of the terms of the slopes that multipliers imply."""
        assert anchors.terms is not None
        absolute = abs(features)
        terms = between @ (anchors.terms - np.abs(at_anchors) @ absolute / self.lam)
        terms += np.abs(coef) @ absolute / self.lam
        return np.asarray(terms)


def _largest_share(difference: Array, terms: Array) -> Array:
    """Largest quotient of differences and 1 + terms in each row, (c,)."""
    return np.asarray((difference / (1.0 + terms)).max(axis=1, initial=0.0))


def products_of(problem: SoftMargin, stored: Pieces) -> KernelProducts | FeatureProducts:
    """Products with a kernel matrix or with features.

    The kernel matrix is taken where there are so many features that the slopes of a few hundred points would be more
    numbers than it has, and no slopes are stored that could be judged.
    """
    Q = problem.Q
    if isinstance(Q, Features) and (stored.w is not None or Q.n**2 > _POINTS * Q.width):
        return FeatureProducts(Q.X, problem.y, problem.lam)
    return KernelProducts(Q.whole(), problem.y, problem.lam)


def _row_by_row(X: Samples, w: Array) -> Array:
    """Scores of samples, a row (in one piece of memory) for each slope."""
    if sp.issparse(X):
        return np.asarray(np.ascontiguousarray(dense(X @ w.T).T))
    return np.asarray(w @ X.T)


def _rows(first: Array, second: Array) -> Array:
    """Inner products of rows."""
    return np.asarray(np.vecdot(first, second))
