"""Lowering the margin rho of paths of the 2nu-SVM, so that no rounding puts it above those of the samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paretoclf.common.checks import Array, Mask
from paretoclf.common.tolerances import AT_BOUND, CERTIFY, LOOSE, SLACK_ROUNDING
from paretoclf.engine.reduction.program import between
from paretoclf.path.svm_lines.svm_path import Kind, OnPieces

_SLACK = 10.0  # times the sum of the multipliers: rounding of a margin is about a tenth of what is allowed for it
_BLOCK = 256  # ends of pieces whose margins are computed at a time


def with_lower_rho(path: Kind) -> Kind:
    """Lower rho on pieces on which slacks would cost much, so that no rounding puts it above a margin.

    A margin that is below rho by rounding costs its cap, less the multiplier; a rho that is below all margins costs the
    sum of the multipliers. So next to nu = 0, where the value is of order nu squared, and where one class is nearly all
    that counts, some distance is left between the two. Where that is too large a part of rho nothing is changed.
    """
    P, costly = path.pieces, _costly(path)
    rho, lowered = np.array([P.rho0, P.rho1]), np.zeros((2, costly.size))
    from_zero = between(path.soft_margin.nu, P.t[:-1]) == 0.0
    share = np.where(costly, LOOSE, CERTIFY)
    most = np.where(from_zero, 0.5, 0.1 * share)  # of rho: next to others it is for free
    touched = np.append(costly, False) | np.append(False, costly)  # knots
    each = [(j, end) for j in range(costly.size) for end in (0, 1) if touched[j + end]]
    for first in range(0, len(each), _BLOCK):
        at = each[first : first + _BLOCK]
        piece, end = np.array(at).T
        least, rounding = _least_margins(path, at)
        fits = rounding <= most[piece] * least
        too_high = fits & (least - rho[end, piece] < 0.5 * rounding)
        rho[end[too_high], piece[too_high]] = (least - rounding)[too_high]
        lowered[end, piece] = np.where(fits, rounding, 0.0)
    before, after = rho[1, :-1], rho[0, 1:]  # views
    by_both = np.minimum(lowered[1, :-1], lowered[0, 1:])
    one = np.abs(before - after) <= 4.0 * by_both  # no jump
    before[one] = after[one] = np.minimum(before, after)[one]
    return replace(path, pieces=replace(P, rho0=rho[0], rho1=rho[1])) if each else path


def _costly(path: OnPieces) -> Mask:
    """Pieces on which the free multipliers are so far below their caps that slacks cost more than a lower rho."""
    P = path.pieces
    row = np.repeat(np.arange(P.t.size - 1), np.diff(P.ptr))
    caps = _caps(path)[:, P.index]
    costly = np.zeros(P.t.size - 1, dtype=np.bool_)
    for t, multipliers in ((P.t[:-1], P.a0), (P.t[1:], P.a1)):
        below_cap = between(caps, t[row]) - multipliers
        sums = between(path.soft_margin.nu, t)
        costly |= np.bincount(row, below_cap, t.size) > _SLACK * sums
    return costly


def _least_margins(path: OnPieces, ends: list[tuple[int, int]]) -> tuple[Array, Array]:
    """Smallest margins of free samples at some ends (k) of pieces, and bounds on their rounding; (k,) each."""
    P, Q, y = path.pieces, path.gram.quadratic, path.y
    t = np.array([P.t[j + end] for j, end in ends])
    b = np.array([(P.b0, P.b1)[end][j] for j, end in ends])
    w = None if P.w is None else np.stack([P.w[j + end] for j, end in ends], axis=1)
    pieces = [j for j, _ in ends]
    stored = [path._stored(u, j) / path._unit(u) for u, j in zip(t.tolist(), pieces, strict=True)]
    alpha = np.array(stored)
    first, last = caps = _caps(path)
    below = 1.0 - AT_BOUND
    free = below * (np.outer(1.0 - t, first) + np.outer(t, last)) > alpha
    for row, (j, end) in zip(free, ends, strict=True):  # and those that are so at the other end
        entries = path._entries(j)
        samples = P.index[entries]
        multipliers = (P.a1, P.a0)[end][entries]
        cap = between(caps, float(P.t[j + 1 - end]))
        row[samples] |= multipliers < below * cap[samples]
    coef = (y * alpha).T
    slopes = Q.slopes(coef, w)
    sums = np.abs(coef).sum(axis=0)
    terms = Q.length2 * sums if w is None else np.sqrt(Q.length2 * slopes.norm2)
    margins = y * (slopes.scores.T + b[:, None])
    of_free = np.where(free, margins, np.inf)
    return of_free.min(axis=1), SLACK_ROUNDING * (terms + np.abs(b))


def _caps(path: OnPieces) -> Array:
    """Caps of the stored multipliers at t = 0 and at t = 1, shape (2, n)."""
    caps = path.soft_margin.caps
    assert caps is not None
    return caps
