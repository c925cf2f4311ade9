"""A margin rho that no rounding puts above those of the samples: of paths of the 2nu-SVM."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paretoclf.common.checks import Array, Mask
from paretoclf.common.tolerances import AT_BOUND, CERTIFY, LOOSE, SLACK_ROUNDING
from paretoclf.path.on_pieces import Kind, OnPieces

_ROOM = 10.0  # times what multipliers add up to: rounding of a margin is about a tenth of what is allowed for it
_BLOCK = 256  # ends of pieces whose margins are computed at a time


def with_room(path: Kind) -> Kind:
    """The path with a rho that no rounding puts above a margin, on pieces on which slacks would cost much.

    What is short of rho by rounding costs its cap, less the multiplier; a rho that is below all margins costs what
    multipliers add up to. So next to nu = 0, where the value is of order nu squared, and where one class is nearly all
    that counts, there is room between the two. Where rho is less than it loses by that nothing is changed.
    """
    P, costly = path.pieces, _costly(path)
    rho, room = np.array([P.rho0, P.rho1]), np.zeros((2, costly.size))
    total = path.soft_margin.nu
    from_zero = (1.0 - P.t[:-1]) * total[0] + P.t[:-1] * total[1] == 0.0
    most = np.where(from_zero, 0.5, 0.1 * np.where(costly, LOOSE, CERTIFY))  # of rho: next to others it is for free
    touched = np.append(costly, False) | np.append(False, costly)  # knots
    each = [(j, end) for j in range(costly.size) for end in (0, 1) if touched[j + end]]
    for first in range(0, len(each), _BLOCK):
        at = each[first : first + _BLOCK]
        piece, end = np.array(at).T
        least, rounding = _least_margins(path, at)
        fits = rounding <= most[piece] * least
        short = fits & (least - rho[end, piece] < 0.5 * rounding)
        rho[end[short], piece[short]] = (least - rounding)[short]
        room[end, piece] = np.where(fits, rounding, 0.0)
    before, after = rho[1, :-1], rho[0, 1:]  # views
    one = np.abs(before - after) <= 4.0 * np.minimum(room[1, :-1], room[0, 1:])  # no jump
    before[one] = after[one] = np.minimum(before, after)[one]
    return replace(path, pieces=replace(P, rho0=rho[0], rho1=rho[1])) if each else path


def _costly(path: OnPieces) -> Mask:
    """Pieces on which the free multipliers have so much room to their caps that slacks cost more than room for rho."""
    P, caps, row = path.pieces, _caps(path), np.repeat(np.arange(path.t.size - 1), np.diff(path.pieces.ptr))
    costly = np.zeros(path.t.size - 1, dtype=np.bool_)
    for t, a in ((P.t[:-1], P.a0), (P.t[1:], P.a1)):
        cap = (1.0 - t[row]) * caps[0, P.index] + t[row] * caps[1, P.index]
        first, last = path.soft_margin.nu
        costly |= np.bincount(row, cap - a, t.size) > _ROOM * ((1.0 - t) * first + t * last)
    return costly


def _least_margins(path: OnPieces, ends: list[tuple[int, int]]) -> tuple[Array, Array]:
    """Smallest margins of free samples at some ends (k) of pieces, and what rounding can make of them; (k,) each."""
    P, Q, y = path.pieces, path.gram.quadratic, path.y
    t, b = np.array([(P.t[j + end], (P.b0, P.b1)[end][j]) for j, end in ends]).T
    alpha = np.array([path._stored(u, j) / path._unit(u) for u, (j, _) in zip(t.tolist(), ends, strict=True)])
    caps, w = _caps(path), None if P.w is None else np.stack([P.w[j + end] for j, end in ends], axis=1)
    free = (1.0 - AT_BOUND) * (np.outer(1.0 - t, caps[0]) + np.outer(t, caps[1])) > alpha
    for row, (j, end) in zip(free, ends, strict=True):  # and those that are so at the other end
        listed, u = slice(P.ptr[j], P.ptr[j + 1]), float(P.t[j + 1 - end])
        other, cap = (P.a1, P.a0)[end][listed], (1.0 - u) * caps[0] + u * caps[1]
        row[P.index[listed]] |= other < (1.0 - AT_BOUND) * cap[P.index[listed]]
    coef = (y * alpha).T
    slopes = Q.slopes(coef, w)
    terms = Q.length2 * np.abs(coef).sum(axis=0) if w is None else np.sqrt(Q.length2 * slopes.norm2)
    margins = np.where(free, y * (slopes.scores.T + b[:, None]), np.inf)
    return margins.min(axis=1), SLACK_ROUNDING * (terms + np.abs(b))


def _caps(path: OnPieces) -> Array:
    """Caps of the stored multipliers at t = 0 and at t = 1, shape (2, n)."""
    caps = path.soft_margin.caps
    assert caps is not None
    return caps
