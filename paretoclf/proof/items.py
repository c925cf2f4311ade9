"""The proof of a line of any parametric program: `paretoclf.proof.theorem` as it stands, item by item.

Every bound of every item is looked at, with arrays that are not sparse. The other proofs of lines are for problems that
are too large for that, and leave out what is known not to count.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Mask
from paretoclf.common.tolerances import CERTIFY, PRODUCT_ROUNDING
from paretoclf.engine.reduction.products import Products
from paretoclf.problem.parametric_qp import ParametricQP, Trace, points_of
from paretoclf.proof import bernstein
from paretoclf.proof.line import LineProof
from paretoclf.proof.programs import Sizes, Units, indefinite
from paretoclf.proof.theorem import Entries, complementarity, concluded, gap_of

_TINY = float(np.finfo(float).tiny)

#: Numbers in the values of the items that are looked at together.
_NUMBERS = 2**18


def prove_items(problem: ParametricQP, found: Trace, parameter: str = "t") -> LineProof:
    """Prove values and multipliers of all items, as `paretoclf.proof.proving.prove` says."""
    QP, t = problem.dense(), bernstein.pairs(np.asarray(found.t, dtype=np.float64))
    sizes, order = _sizes(QP)
    v, y, step = found.v, found.y, max(1, _NUMBERS // QP.items)
    with np.errstate(invalid="ignore", over="ignore"):  # what is not a number is not proved
        parts = [
            _Items(QP, t[a : a + step], v[a : a + step], y[a : a + step]).looked_at(sizes, order)
            for a in range(0, max(len(t), 1), step)
        ]
    F: dict[str, Any] = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    bounds = F.pop("gaps"), F.pop("sizes"), F.pop("rounding"), F.pop("duals")
    F["curvature"] = np.full(len(t), indefinite(sp.csc_array(QP.P)))
    return concluded(t, bounds, F, parameter=parameter)


def _sizes(QP: ParametricQP) -> tuple[Sizes, Any]:
    """What units are made of: all items are rows, equations first; and the places of the items there."""
    order = np.argsort(~QP.fixed, kind="stable")
    rows = sp.csr_array(np.vstack([np.eye(QP.n), QP.A])[order])
    P, A = (Products.of(M) for M in (sp.csr_array(QP.P), rows))
    count = {"n": QP.n, "m": QP.items, "equations": int(np.count_nonzero(QP.fixed))}
    stated: Any = SimpleNamespace(products=(P, A, A.T), rows=rows, A=rows, **count)
    return Sizes(stated), np.argsort(order)


@dataclass(frozen=True)
class _Items:
    """Values v and multipliers y of all items at both ends of k segments, t (k, 2), of a problem with arrays."""

    QP: ParametricQP
    t: Array
    v: Array
    y: Array

    def at(self, ends: Array) -> Array:
        """What is affine in t at both ends of each segment, (k, 2, size); infinite where it is."""
        known = np.where(np.isfinite(ends), ends, 0.0)
        here = (1.0 - self.t)[:, :, None] * known[0] + self.t[:, :, None] * known[1]
        return np.asarray(np.where(np.isfinite(ends[0]), here, ends[0]))

    def looked_at(self, sizes: Sizes, order: Any) -> dict[str, Array]:
        """What goes into the proof."""
        QP, n, y = self.QP, self.QP.n, self.y
        x, q = self.v[..., :n], self.at(QP.q)
        v, Px = np.concatenate([x, x @ QP.A.T], axis=2), x @ QP.P
        missed = Px + q - y[..., :n] - y[..., n:] @ QP.A
        given = [self.at(side) for side in (QP.lower, QP.upper)]
        # The distance to each bound, from within, its price, and its multiplier.
        room = np.concatenate([v - given[0], given[1] - v], axis=2)
        price = np.concatenate([self.at(QP.below), self.at(QP.above)], axis=2)
        z = np.maximum(np.concatenate([y, -y], axis=2), 0.0)
        there = np.isfinite(np.append(QP.lower[0], QP.upper[0]))
        hard, most = np.isinf(np.append(QP.below[0], QP.above[0])), np.where(there, price, 0.0)
        # Units of items, and of the gradient.
        largest = [np.abs(each).max(axis=1) for each in (q, x, y)]
        b = np.max([np.where(np.isfinite(each), np.abs(each), 0.0).max(axis=1) for each in given], axis=0)
        back = np.argsort(order)
        units = Units.of(sizes, largest[0], b[:, back], largest[1], largest[2][:, back], none=1.0)
        rows, slacks = units.rows[:, order], np.tile(units.slacks[:, order], 2)
        prices = np.tile(units.prices(np.ones(units.rows.shape, dtype=np.bool_))[:, order], 2)
        paid = np.minimum(z, most)
        beyond, wrong = np.where(there & hard, -room, 0.0), z - paid
        apart = np.abs(self.v - v)
        residuals = {
            "bounds and rows": np.maximum(_most(beyond / np.tile(rows, 2)[:, None]), _most(apart / rows[:, None])),
            "stationarity": _most(np.abs(missed) / units.gradient[:, None]),
            "signs": _most(wrong * prices[:, None]),
        }
        E = self._entries(np.where(hard, np.abs(room), room), paid, most, there)
        off, unit = (self._kept(each[:, None], there) for each in (slacks, 1.0 / np.maximum(prices, _TINY)))
        residuals["slackness"] = complementarity(E, E.margin * off, unit)[0]
        gaps, k = gap_of(E), len(self.t)
        # Where a multiplier changes its sign this is below the dual objective.
        bound = np.where(there, np.concatenate([given[0], -given[1]], axis=2), 0.0)
        duals = bernstein.inner(bound, paid) - 0.5 * bernstein.inner(x, Px)
        excess = np.where(there & ~hard, np.maximum(-room, 0.0), 0.0) * np.where(hard, 0.0, most)
        terms, constant = (0.5 * x * Px, x * q, excess), self.at(QP.constant[:, None])[..., 0]
        value, size = (
            constant + sum(each.sum(axis=2) for each in terms),
            sum(np.abs(each).sum(axis=2) for each in terms),
        )
        size = np.maximum(np.abs(value), 1e-3 * size).max(axis=1)
        rounding = np.einsum("ij,ij->i", largest[2][:, back], units.largest) + units.squares
        size = np.maximum(size, PRODUCT_ROUNDING / CERTIFY * rounding)
        return {
            **residuals,
            "gaps": gaps,
            "sizes": np.repeat(size[:, None], 3, axis=1),
            "rounding": np.zeros((k, 3)),
            "duals": duals + bernstein.line(constant),
        }

    def _kept(self, each: Array, there: Mask) -> Array:
        """Numbers of all bounds, (k, 2, 2 items) or (k, 1, 2 items), as those of entries, (2, e)."""
        both = np.broadcast_to(each, (len(self.t), 2, there.size))
        return np.ascontiguousarray(both[:, :, there].transpose(1, 0, 2).reshape(2, -1))

    def _entries(self, room: Array, z: Array, most: Array, there: Mask) -> Entries:
        """All bounds that there are; what is hard has no price."""
        k, bounds = len(self.t), np.flatnonzero(there)
        sides = self.QP.lower, self.QP.upper, self.QP.below, self.QP.above
        finite = (np.where(np.isfinite(side), side, 0.0) for side in sides)
        return Entries(
            ptr=bounds.size * np.arange(k + 1),
            row=np.repeat(np.arange(k), bounds.size),
            sample=np.tile(bounds, k),
            caps=self._kept(np.where(np.isinf(most), z, most), there),
            alpha=self._kept(z, there),
            margin=self._kept(room, there),
            apart=points_of(self.t, self.QP.q, *finite) if k else None,
        )


def _most(values: Array) -> Array:
    """The largest number of each segment, at both ends, (k, 2, size); at least 0."""
    return np.asarray(values.max(axis=(1, 2), initial=0.0))
