"""The proof of lines of the 2nu-SVM: two reduced hulls, and a margin that moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paretoclf.checks import Array
from paretoclf.proof import bernstein
from paretoclf.proof.block import Question, blocks, proved
from paretoclf.proof.entries import Entries, complementarity, gap_of
from paretoclf.proof.line import LineProof
from paretoclf.proof.products import FeatureProducts, KernelProducts
from paretoclf.proof.stored import Stored
from paretoclf.proof.values import value_residual
from paretoclf.samples import Samples
from paretoclf.tolerances import SCORE_ROUNDING

_TINY = float(np.finfo(float).tiny)


def prove_nu(
    stored: Stored, y: Array, caps: Array, total: Array, *,
    K: Array | None = None, X: Samples | None = None, parameter: str = "t", note: str = "",
) -> LineProof:  # fmt: skip
    """Prove a line of the 2nu-SVM; the arguments are as for `prove_costs`.

    Parameters
    ----------
    total : array of shape (2,)
        The least sum of the multipliers, nu, at t = 0 and t = 1.
    parameter : str
        What t is called.
    """
    products = KernelProducts(K, y) if X is None and K is not None else FeatureProducts(X, y)
    q = Question(stored, y, caps, products, clip=False, free_margin=True)
    return proved(q, lambda q: _prove_nu(q, total, parameter, note))


def _prove_nu(q: Question, total: Array, parameter: str, note: str) -> LineProof:
    S, lam = q.stored, q.products.lam
    m, reach = S.t.size - 1, float(q.products.reach.max(initial=0.0))
    gaps, norms = np.empty((m, 3)), np.empty((m, 3))
    names = ("stationarity in w", "box", "balance", "rho", "complementarity", "value")
    residuals = {name: np.zeros(m) for name in names}
    samples = np.zeros(m, dtype=np.int64)
    costs, nu = (bernstein.pairs((1.0 - S.t) * x[0] + S.t * x[1]) for x in (q.caps.sum(axis=1), total))
    largest2 = q.products.largest2
    for here, K in blocks(q):
        i, j, E = K.first, K.last, K.entries
        norms[here] = np.stack([K.scores.norm2[i], K.scores.cross, K.scores.norm2[j]], axis=1)
        stationarity = np.maximum(K.scores.apart[i], K.scores.apart[j]) + (0.0 if S.w is None else K.jump)
        residuals["stationarity in w"][here] = stationarity
        balance, missing = np.abs(K.both(K.balance)), np.abs(K.both(K.sums) - nu[here])
        residuals["balance"][here] = bernstein.quotient(balance, nu[here])
        residuals["rho"][here] = bernstein.quotient(missing, nu[here])
        residuals["box"][here] = K.box
        # Where rho vanishes, at one end of the path, margins are the rounding of scores.
        trivial = K.both(K.target).min(axis=1) == 0.0
        allowed = (SCORE_ROUNDING * largest2 * nu[here].max(axis=1) * trivial)[E.row]
        off = np.sign(E.margin) * np.maximum(np.abs(E.margin) - allowed, 0.0) / np.maximum(K.size.T[:, E.row], _TINY)
        unit = np.minimum(E.caps, 0.5 * nu[here][E.row].T)
        most, samples[here] = complementarity(E, off, unit)
        residuals["complementarity"][here] = most + K.noise / np.maximum(K.size[:, 1], _TINY)
        # Multipliers that are feasible, next to those stored, move w by no more than this.
        moved = reach * (balance + missing + 2.0 * K.outside)
        if not nu[here].all():
            E = _without_slack(E, nu[here])
        gaps[here] = (
            gap_of(E)
            + bernstein.product(K.both(K.target), missing)
            + bernstein.product(np.abs(K.both(K.b)), balance)
            + bernstein.product(np.sqrt(np.maximum(K.both(K.scores.norm2), 0.0)), moved)
            + 0.5 * bernstein.product(moved, moved)
            + bernstein.product(costs[here], bernstein.late(K.noise))
            + bernstein.product(K.outside, E.at_ends(np.abs(E.margin)))
            + 0.5 * lam * bernstein.square(K.both(K.scores.distance))
        )
    rho = np.maximum(np.stack([S.rho0, S.rho1], axis=1), 0.0)  # rounding below 0 is 0
    sizes, rounding = bernstein.product(nu, rho), SCORE_ROUNDING * largest2 * bernstein.square(nu)
    sizes = np.where(sizes.min(axis=1, keepdims=True) > 0.0, sizes, 0.5 * (sizes + rounding))  # where rho vanishes
    residuals["value"] = value_residual(
        np.diff(S.t), S.value, -0.5 * norms, gaps + rounding, 0.5 * np.maximum(norms, 0)
    )
    return LineProof(S.t, gaps, sizes, rounding, -0.5 * norms, residuals, samples, parameter, note)


def _without_slack(E: Entries, nu: Array) -> Entries:
    """The same with smaller rho on segments that begin or end at nu = 0, where nobody is at its cap.

    Slacks cost the more there the smaller nu is, against a value of order nu squared. So rho gives way.
    """
    give = E.at_ends(np.where((E.alpha < E.caps).any(axis=0), -E.margin, 0.0))
    give[nu.all(axis=1)] = 0.0
    return replace(E, margin=E.margin + give[E.row].T)
