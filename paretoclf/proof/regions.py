r"""The proof of a map of the cost plane: what is known of *every* pair of costs, region by region.

On a region, a polygon with vertices :math:`v`, multipliers, caps, intercept and margins :math:`g_i=y_if(x_i)-1` are
affine in the costs :math:`C=\sum_v\lambda_vv`. So

* whatever is at most 0 and affine is largest at a vertex: how far multipliers leave their box, and how far the classes
  are from balance;
* a multiplier and a margin that must not both be positive may be so inside although they are not at any vertex; but the
  smaller of the two is nowhere above the smaller of their largest values at vertices;
* :math:`P-D=\sum_i\alpha_i(g_i)_++\sum_i(c_i-\alpha_i)(-g_i)_+` is a sum of products of two nonnegative convex
  functions, nowhere above :math:`\sum_{vu}\lambda_v\lambda_uG_{vu}` with :math:`G_{vu}` the same sum for multipliers at
  v and margins at u;
* the optimal value is concave in the costs, so nowhere below :math:`\sum_v\lambda_vS_v`, S its lower bounds there.

With that the relative gap is nowhere above the largest of :math:`(G_{vu}+G_{uv})/(S_v+S_u)`
(docs/explanation/duality.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import UNDECIDED
from paretoclf.problem.exact_sums import inner
from paretoclf.problem.operator import Quadratic
from paretoclf.problem.units import balanced_units, largest_sum, margin_rounding
from paretoclf.proof.cells import CellsProof

_TINY = float(np.finfo(float).tiny)

#: Numbers in the multipliers of the regions that are looked at together.
_BLOCK = 2**17


@dataclass(frozen=True)
class Corners:
    """Some regions with the same number m of vertices.

    Attributes
    ----------
    which : int array of shape (r,)
        Their numbers.
    costs : array of shape (r, m, 2)
        Vertices.
    alpha : array of shape (r, m, n)
        Multipliers there.
    b : array of shape (r, m)
        Intercepts there.
    low : array of shape (r, m, n), optional
        What the multipliers miss: scores are then summed in twice the precision.
    """

    which: Index
    costs: Array
    alpha: Array
    b: Array
    low: Array | None = None


def blocks(sizes: Sequence[int] | Index, n: int) -> Iterator[Index]:
    """Numbers of the regions that are to be looked at together, given how many vertices each has."""
    counts = np.asarray(sizes)
    for m in np.unique(counts):
        same = np.flatnonzero(counts == m)
        width = max(1, _BLOCK // (int(m) * n))
        yield from (same[first : first + width] for first in range(0, same.size, width))


def prove_regions(
    parts: Iterable[Corners],
    k: int,
    y: Array,
    unit_caps: Array,
    Q: Quadratic,
    note: str = "",
    kernel_rounding: Array | None = None,
) -> CellsProof:
    """Prove k regions of the cost plane of a 2C-SVM.

    Parameters
    ----------
    parts : iterable of Corners
        All regions, each once.
    k : int
        How many there are.
    y : array of shape (n,)
        Labels -1 and +1.
    unit_caps : array of shape (n, 2)
        Caps of the multipliers per unit of C_plus and of C_minus.
    Q : Quadratic
        Kernel values and labels of the samples.
    note : str
        Passed on.
    kernel_rounding : array of shape (n,), optional
        `Gram.rounding`.

    Examples
    --------
    Two samples: the only region is the square, with both multipliers at their cap and b = 0.

    >>> import numpy as np
    >>> from paretoclf.proof.regions import Corners, prove_regions
    >>> from paretoclf.problem.operator import Features
    >>> y, X = np.array([1.0, -1.0]), np.array([[1.0], [-1.0]])
    >>> costs = np.array([[[0.1, 0.1], [0.4, 0.4], [0.1, 0.4]]])
    >>> alpha = np.repeat(costs[:, :, :1], 2, axis=2)
    >>> part = Corners(np.array([0]), costs, alpha, alpha[:, :, 0] * 2 - 1)
    >>> prove_regions([part], 1, y, np.eye(2), Features(X)).passes()
    True
    """
    gap, unexplained, difference = np.full((3, k), np.inf)
    residuals = {name: np.full(k, np.inf) for name in ("box", "balance", "complementarity")}
    kernel = None if kernel_rounding is None else np.full(k, np.inf)
    samples, centres = np.zeros(k, dtype=np.int64), np.full((k, 2), np.nan)
    # Balanced multipliers do not see where the origin is: w is sharper for features less their mean.
    length2 = Q.balanced2
    with np.errstate(invalid="ignore", over="ignore"):  # what is not a number is not proved
        for part in parts:
            here, (r, m, n) = part.which, part.alpha.shape
            caps = part.costs @ unit_caps.T
            units = balanced_units(y, caps.reshape(-1, n).T).T.reshape(caps.shape)
            # Where a class has no costs no sample has a multiplier, and so it is given out; what is stored is rounding,
            # of multipliers as large as they are elsewhere on the region.
            axis = part.costs.min(axis=2) == 0.0
            judged = np.where(axis[:, :, None], 0.0, part.alpha)
            units = np.where(axis[:, :, None], units.max(axis=1, keepdims=True), units)
            sums = np.stack([judged @ (y > 0), judged @ (y < 0)])
            coef = (y * judged).reshape(-1, n)
            if part.low is not None:
                f, margin, norm2 = _precise(y, coef, (y * part.low).reshape(-1, n), part.b, Q)
            else:
                slopes = Q.balanced(coef.T)
                norm2 = slopes.norm2.reshape(r, m)
                f = slopes.scores.T.reshape(caps.shape) + part.b[:, :, None]
                margin = y * f - 1.0
            load, room = np.maximum(judged, 0.0), np.maximum(caps - judged, 0.0)
            right, left = np.maximum(margin, 0.0), np.maximum(-margin, 0.0)
            outside = np.maximum(np.maximum(part.alpha - caps, -part.alpha), np.abs(part.alpha - judged))
            balance = np.abs(sums[0] - sums[1])

            residuals["box"][here] = (outside / units).max(axis=(1, 2))
            both = largest_sum(y, caps.reshape(-1, n).T).reshape(r, m)
            residuals["balance"][here] = (balance / both).max(axis=1)
            size = 1.0 + np.abs(f)
            wrong = np.maximum(
                np.minimum((load / units).max(axis=1), (right / size).max(axis=1)),
                np.minimum((room / units).max(axis=1), (left / size).max(axis=1)),
            )
            samples[here] = wrong.argmax(axis=1)
            residuals["complementarity"][here] = wrong.max(axis=1)

            products = load @ right.transpose(0, 2, 1) + room @ left.transpose(0, 2, 1)
            products = 0.5 * (products + products.transpose(0, 2, 1))
            # Of a product of multipliers at one vertex and margins at another: caps there times the rounding here.
            error = margin_rounding(f, part.b[:, :, None])
            error = np.where(margin <= error, error, 0.0).transpose(0, 2, 1)
            rounding = caps @ error
            rounding = 0.5 * (rounding + rounding.transpose(0, 2, 1))
            # The class with the larger sum is scaled down until the two balance: by this share, which costs no more
            # than the same share of its slacks.
            least = sums.min(axis=0)
            share = np.where(balance > 0.0, balance / np.maximum(least, _TINY), 0.0).max(axis=1)
            moved = 0.5 * length2 * (balance + outside.sum(axis=2)) ** 2
            hinge = np.einsum("rmn,rmn->rm", caps, left)
            extra = share[:, None] * hinge + moved
            own = np.einsum("rmm->rm", products)
            low = np.maximum(0.5 * norm2 + hinge - own - extra, 0.0)
            sizes = 0.5 * (low[:, :, None] + low[:, None, :])
            explained = products <= rounding
            # Where rounding explains a product, and the value may vanish, it is relative to the largest of the region.
            most = sizes.max(axis=(1, 2))
            relative = products / np.maximum(np.where(explained, most[:, None, None], sizes), _TINY)
            more = share + (moved / np.maximum(np.where(axis, most[:, None], low), _TINY)).max(axis=1)
            gap[here] = relative.max(axis=(1, 2)) + more
            if kernel is not None and kernel_rounding is not None:
                kernel[here] = 0.5 * ((judged @ kernel_rounding) ** 2).max(axis=1) / np.maximum(most, _TINY)
            # A slack that rounds to 0 shows in no product: where all that rounding may hide is as large as the value,
            # nothing is decided.
            hidden = (room @ error).min(axis=(1, 2)) / np.maximum(most, _TINY)
            hidden *= hidden > UNDECIDED
            gap[here] += hidden
            unexplained[here] = np.where(explained, 0.0, relative).max(axis=(1, 2)) + more + hidden
            difference[here] = products.max(axis=(1, 2)) + extra.max(axis=1)
            centres[here] = part.costs.mean(axis=1)
    return CellsProof(
        gap, unexplained, difference, residuals, samples, note, kernel=kernel,
        places={"C_plus": centres[:, 0], "C_minus": centres[:, 1]}, part="region", whole="at every pair of costs",
    )  # fmt: skip


def _precise(y: Array, coef: Array, low: Array, b: Array, Q: Quadratic) -> tuple[Array, Array, Array]:
    """Scores, margins and squared norms of coefficients (p, n) in two parts, with sums in twice the precision."""
    found = Q.twice(coef.T, low.T)
    scores, rest = found.scores, found.rest
    at = b.reshape(-1)
    f, part = scores + at, (scores + at) - scores
    rest = rest + ((scores - (f - part)) + (at - part))  # what f is rounded by (Knuth)
    margin = y * ((f.T - y) + rest.T)
    norm2 = np.array([inner(np.stack(pair), v) for *pair, v in zip(coef, low, scores.T, strict=True)])
    return f.T.reshape(*b.shape, -1), margin.reshape(*b.shape, -1), norm2.reshape(b.shape)
