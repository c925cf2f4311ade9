r"""Proof of a map of the cost plane: residuals and gaps at *every* pair of costs, region by region.

On a region, a polygon with vertices :math:`v`, multipliers, caps, intercept and margins :math:`g_i=y_if(x_i)-1` are
affine in the costs :math:`C=\sum_v\lambda_vv`. So

* residuals that are affine are largest at a vertex: those of the box of multipliers and of the balance of classes;
* a multiplier and a margin that must not both be positive may be so inside although they are not at any vertex; but the
  smaller of the two is nowhere above the smaller of their largest values at vertices;
* :math:`P-D=\sum_i\alpha_i(g_i)_++\sum_i(c_i-\alpha_i)(-g_i)_+` is a sum of products of two nonnegative convex
  functions, nowhere above :math:`\sum_{vu}\lambda_v\lambda_uG_{vu}` with :math:`G_{vu}` the same sum for multipliers at
  v and margins at u;
* the optimal value is concave in the costs, so nowhere below :math:`\sum_v\lambda_vS_v`, S its lower bounds at v.

With that the relative gap is nowhere above the largest of :math:`(G_{vu}+G_{uv})/(S_v+S_u)`
(docs/explanation/duality.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.tolerances import UNDECIDED
from paretoclf.problem.exact_sums import inner
from paretoclf.problem.operator import Quadratic
from paretoclf.problem.units import balanced_units, largest_sum, margin_rounding
from paretoclf.proof.verdicts.cells import CellsProof

_TINY = float(np.finfo(float).tiny)

#: Numbers in the multipliers of the regions that are judged together.
_BLOCK = 2**17


@dataclass(frozen=True)
class Corners:
    """Vertices of some regions that have the same number m of them, and the solutions there.

    Attributes
    ----------
    which : int array of shape (r,)
        Numbers of the regions.
    costs : array of shape (r, m, 2)
        Vertices.
    alpha : array of shape (r, m, n)
        Multipliers at the vertices.
    b : array of shape (r, m)
        Intercepts at the vertices.
    low : array of shape (r, m, n), optional
        Low parts of multipliers in twice the precision: scores are then summed in twice the precision, too.
    """

    which: Index
    costs: Array
    alpha: Array
    b: Array
    low: Array | None = None


def blocks(sizes: Sequence[int] | Index, n: int) -> Iterator[Index]:
    """Numbers of the regions that are judged together, given how many vertices each has."""
    counts = np.asarray(sizes)
    for count in np.unique(counts).tolist():
        same = np.flatnonzero(counts == count)
        width = max(1, _BLOCK // (count * n))
        for first in range(0, same.size, width):
            yield same[first : first + width]


@dataclass(frozen=True)
class _CostMap:
    """Problem of a map: labels, caps per unit of both costs, and the kernel."""

    y: Array
    unit_caps: Array
    kernel: Quadratic
    rounding: Array | None


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
        Number of regions.
    y : array of shape (n,)
        Labels -1 and +1.
    unit_caps : array of shape (n, 2)
        Caps of the multipliers per unit of C_plus and of C_minus.
    Q : Quadratic
        Kernel values and labels of the samples.
    note : str
        Remark on the problem, for the proof's `explain`.
    kernel_rounding : array of shape (n,), optional
        `Gram.rounding`.

    Examples
    --------
    Two samples: the only region is the square, with both multipliers at their cap and b = 0.

    >>> import numpy as np
    >>> from paretoclf.proof.maps.cost_regions import Corners, prove_regions
    >>> from paretoclf.problem.operator import Features
    >>> y, X = np.array([1.0, -1.0]), np.array([[1.0], [-1.0]])
    >>> costs = np.array([[[0.1, 0.1], [0.4, 0.4], [0.1, 0.4]]])
    >>> alpha = np.repeat(costs[:, :, :1], 2, axis=2)
    >>> part = Corners(np.array([0]), costs, alpha, alpha[:, :, 0] * 2 - 1)
    >>> prove_regions([part], 1, y, np.eye(2), Features(X)).passes()
    True
    """
    samples = _CostMap(y, unit_caps, Q, kernel_rounding)
    gap, unexplained, difference = np.full((3, k), np.inf)
    residuals = {name: np.full(k, np.inf) for name in ("box", "balance", "complementarity")}
    kernel = None if kernel_rounding is None else np.full(k, np.inf)
    worst, centres = np.zeros(k, dtype=np.int64), np.full((k, 2), np.nan)
    with np.errstate(invalid="ignore", over="ignore"):  # a number that is not finite is not proved
        for part in parts:
            here, state = part.which, _State.of(part, samples)
            residuals["box"][here] = state.box()
            residuals["balance"][here] = state.relative_balance()
            residuals["complementarity"][here], worst[here] = state.complementarity()
            found = _gaps(state)
            gap[here], unexplained[here], difference[here] = found.gap, found.unexplained, found.difference
            if kernel is not None:
                kernel[here] = state.kernel_share(found.largest)
            centres[here] = part.costs.mean(axis=1)
    return CellsProof(
        gap, unexplained, difference, residuals, worst, note, kernel=kernel,
        places={"C_plus": centres[:, 0], "C_minus": centres[:, 1]}, part="region", whole="at every pair of costs",
    )  # fmt: skip


@dataclass(frozen=True)
class _State:
    """Solutions at the vertices of r regions, as arrays of shape (r, m) and (r, m, n).

    Attributes
    ----------
    part : Corners
        Costs, multipliers and intercepts as they are stored.
    samples : _CostMap
        The problem.
    alpha, caps, units : arrays of shape (r, m, n)
        Multipliers that are judged, their upper bounds, and the scales of their residuals.
    empty : array of shape (r, m)
        Vertices at which a class has no costs.
    scores, margin : arrays of shape (r, m, n)
        Values of the classifier on the samples, and y times these less 1.
    norm2 : array of shape (r, m)
        Squared norms of the classifiers.
    """

    part: Corners
    samples: _CostMap
    alpha: Array
    caps: Array
    units: Array
    empty: Mask
    scores: Array
    margin: Array
    norm2: Array

    @classmethod
    def of(cls, part: Corners, samples: _CostMap) -> _State:
        """Compute caps, scores and margins at the vertices of some regions."""
        count = part.alpha.shape[2]
        caps = part.costs @ samples.unit_caps.T
        units = balanced_units(samples.y, caps.reshape(-1, count).T).T.reshape(caps.shape)
        # Where a class has no costs no sample has a multiplier, and so it is given out; what is stored is rounding,
        # of multipliers as large as they are elsewhere on the region.
        empty = part.costs.min(axis=2) == 0.0
        alpha = np.where(empty[:, :, None], 0.0, part.alpha)
        units = np.where(empty[:, :, None], units.max(axis=1, keepdims=True), units)
        scores, margin, norm2 = _classifiers(part, samples, alpha)
        return cls(part, samples, alpha, caps, units, empty, scores, margin, norm2)

    @cached_property
    def outside(self) -> Array:
        """Residuals of the box, and of multipliers that should be 0."""
        stored = self.part.alpha
        box = np.maximum(stored - self.caps, -stored)
        return np.maximum(box, np.abs(stored - self.alpha))

    @cached_property
    def class_sums(self) -> Array:
        """Sums of the multipliers of the positive and of the negative class."""
        positive, negative = self.samples.y > 0, self.samples.y < 0
        return np.stack([self.alpha @ positive, self.alpha @ negative])

    @cached_property
    def balance(self) -> Array:
        """Differences of the sums of both classes."""
        positive, negative = self.class_sums
        return np.asarray(np.abs(positive - negative))

    @cached_property
    def load(self) -> Array:
        """Multipliers, at least 0."""
        return np.maximum(self.alpha, 0.0)

    @cached_property
    def slack(self) -> Array:
        """Distances of the multipliers to their caps, at least 0."""
        return np.maximum(self.caps - self.alpha, 0.0)

    @cached_property
    def right(self) -> Array:
        """Positive parts of the margins, which must not meet a multiplier."""
        return np.maximum(self.margin, 0.0)

    @cached_property
    def left(self) -> Array:
        """Negative parts of the margins, the slacks of the samples, which must not meet a multiplier below its cap."""
        return np.maximum(-self.margin, 0.0)

    def box(self) -> Array:
        """The largest relative residual of the box on each region."""
        return np.asarray((self.outside / self.units).max(axis=(1, 2)))

    def relative_balance(self) -> Array:
        """The largest relative residual of the balance on each region."""
        count = self.caps.shape[2]
        largest = largest_sum(self.samples.y, self.caps.reshape(-1, count).T)
        return np.asarray((self.balance / largest.reshape(self.balance.shape)).max(axis=1))

    def complementarity(self) -> tuple[Array, Index]:
        """The largest relative residual of complementarity on each region, and its sample."""
        size = 1.0 + np.abs(self.scores)
        load = (self.load / self.units).max(axis=1)
        slack = (self.slack / self.units).max(axis=1)
        right = (self.right / size).max(axis=1)
        left = (self.left / size).max(axis=1)
        wrong = np.maximum(np.minimum(load, right), np.minimum(slack, left))
        return wrong.max(axis=1), wrong.argmax(axis=1)

    def kernel_share(self, largest: Array) -> Array:
        """Bound on the effect of rounded kernel values, relative to the largest value of each region."""
        assert self.samples.rounding is not None
        squares = (self.alpha @ self.samples.rounding) ** 2
        return np.asarray(0.5 * squares.max(axis=1) / np.maximum(largest, _TINY))

    def rounding(self) -> Array:
        """Bound on the rounding of each margin that may hide a slack, (r, n, m); 0 where it cannot."""
        error = margin_rounding(self.scores, self.part.b[:, :, None])
        return np.where(self.margin <= error, error, 0.0).transpose(0, 2, 1)


@dataclass(frozen=True)
class _Gaps:
    """Gaps of some regions: relative, the part that rounding does not explain, absolute; and their largest values."""

    gap: Array
    unexplained: Array
    difference: Array
    largest: Array


def _gaps(state: _State) -> _Gaps:
    """Bound the gap on each region by its products at pairs of vertices."""
    products = _symmetric(_products(state))
    error = state.rounding()
    # The product of a multiplier at one vertex and a margin at another: caps there times the rounding here.
    explained = products <= _symmetric(state.caps @ error)
    share, moved = _scaling(state)
    hinge = np.einsum("rmn,rmn->rm", state.caps, state.left)
    extra = share[:, None] * hinge + moved
    own = np.einsum("rmm->rm", products)
    low = np.maximum(0.5 * state.norm2 + hinge - own - extra, 0.0)
    sizes = 0.5 * (low[:, :, None] + low[:, None, :])
    # Where rounding explains a product, and the value may vanish, it is relative to the largest of the region.
    largest = sizes.max(axis=(1, 2))
    scales = np.where(explained, largest[:, None, None], sizes)
    relative = products / np.maximum(scales, _TINY)
    own_scales = np.where(state.empty, largest[:, None], low)
    more = share + (moved / np.maximum(own_scales, _TINY)).max(axis=1)
    gap = relative.max(axis=(1, 2)) + more
    # A slack that rounds to 0 shows in no product: where all that rounding may hide is as large as the value,
    # nothing is decided.
    hidden = (state.slack @ error).min(axis=(1, 2)) / np.maximum(largest, _TINY)
    hidden *= hidden > UNDECIDED
    unexplained = np.where(explained, 0.0, relative).max(axis=(1, 2)) + more + hidden
    difference = products.max(axis=(1, 2)) + extra.max(axis=1)
    return _Gaps(gap + hidden, unexplained, difference, largest)


def _products(state: _State) -> Array:
    """Duality gaps of multipliers at one vertex and margins at another, (r, m, m)."""
    right, left = state.right.transpose(0, 2, 1), state.left.transpose(0, 2, 1)
    return np.asarray(state.load @ right + state.slack @ left)


def _symmetric(products: Array) -> Array:
    """Mean of each matrix and its transpose: the coefficients of a quadratic on a polygon."""
    return np.asarray(0.5 * (products + products.transpose(0, 2, 1)))


def _scaling(state: _State) -> tuple[Array, Array]:
    """Cost of making multipliers feasible: a share of the slacks of each region, and a number at each vertex.

    The class with the larger sum is scaled down until the two balance: by this share, which costs no more than the same
    share of its slacks. The change moves the classifier, whose norm then differs.
    """
    # Balanced multipliers do not see where the origin is: w is sharper for features less their mean.
    length2 = state.samples.kernel.balanced2
    balance, least = state.balance, state.class_sums.min(axis=0)
    relative = balance / np.maximum(least, _TINY)
    share = np.where(balance > 0.0, relative, 0.0).max(axis=1)
    moved = 0.5 * length2 * (balance + state.outside.sum(axis=2)) ** 2
    return share, moved


def _classifiers(part: Corners, samples: _CostMap, alpha: Array) -> tuple[Array, Array, Array]:
    """Scores, margins and squared norms of the classifiers at the vertices of some regions."""
    y, kernel, shape = samples.y, samples.kernel, alpha.shape
    coef = (y * alpha).reshape(-1, shape[2])
    if part.low is not None:
        return _precise(y, coef, (y * part.low).reshape(-1, shape[2]), part.b, kernel)
    slopes = kernel.balanced(coef.T)
    norm2 = slopes.norm2.reshape(shape[:2])
    scores = slopes.scores.T.reshape(shape) + part.b[:, :, None]
    return scores, y * scores - 1.0, norm2


def _precise(y: Array, coef: Array, low: Array, b: Array, Q: Quadratic) -> tuple[Array, Array, Array]:
    """Scores, margins and squared norms of coefficients (p, n) in two parts, with sums in twice the precision."""
    found = Q.twice(coef.T, low.T)
    scores, rest = found.scores, found.rest
    intercepts = b.reshape(-1)
    total = scores + intercepts
    # The rounding of this sum (Knuth).
    part = total - scores
    rest = rest + ((scores - (total - part)) + (intercepts - part))
    margin = y * ((total.T - y) + rest.T)
    both_parts = np.stack([coef, low], axis=1)
    norm2 = np.array([inner(*each) for each in zip(both_parts, scores.T, strict=True)])
    shape = *b.shape, -1
    return total.T.reshape(shape), margin.reshape(shape), norm2.reshape(b.shape)
