r"""Critical regions: where in the cost plane one basis is optimal, and the affine solution there.

On a basis (margin set F, every other multiplier at 0 or at its cap) the 2C-SVM's multipliers and intercept are affine
in :math:`C=(C_+,C_-)`: the solution of

.. math::

   \begin{pmatrix}Q_{FF}&y_F\\y_F^\top&0\end{pmatrix}\begin{pmatrix}\alpha_F\\b\end{pmatrix}
   =\begin{pmatrix}1-Q_{FL}c_L(C)\\-y_L^\top c_L(C)\end{pmatrix},\qquad c_i(C)=s_iC_{y_i}.

It is optimal exactly where :math:`0\le\alpha_F\le c_F` and :math:`g_i=y_if(x_i)-1` is nonnegative where
:math:`\alpha_i=0` and nonpositive where :math:`\alpha_i=c_i`: a convex polygon.

Where samples depend on each other (duplicates, margin sets larger than the dimension), multipliers are not unique, and
the polygons of different bases would overlap. So one optimum is chosen everywhere: the limit of those of targets
:math:`1+\epsilon e_i` with :math:`\epsilon\downarrow0` and fixed numbers :math:`e_i` in general position, which is the
optimum with the largest :math:`e^\top\alpha`. The polygons of the chosen optima do not overlap. What depends on
:math:`e` is one more column of the solution, and only its sign is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from paretoclf.checks import Array, Index, Mask, State
from paretoclf.gram import Gram
from paretoclf.path.engines import add_product
from paretoclf.path.polygon import area, centroid, cut, without_short_edges
from paretoclf.path.sets import LEFT, MARGIN, RIGHT
from paretoclf.tolerances import PLANE_PIVOT, PLANE_ROUNDING, PLANE_SLIVER, PLANE_ZERO, REFINED, UNREFINED

_REFINEMENTS = 20


class Sets(NamedTuple):
    """A basis: the set of each sample, shape (n,), and the margin set."""

    sets: State
    margin: Index


class Facet(NamedTuple):
    """What holds with equality on an edge: a sample, and the set that it goes to beyond."""

    sample: int
    to: int


@dataclass(frozen=True, eq=False)
class Region:
    """A critical region: a convex polygon of the cost plane on which the solution is affine in both costs.

    Attributes
    ----------
    polygon : array of shape (k, 2)
        Vertices ``(C_plus, C_minus)``, counterclockwise.
    facets : tuple of (sample, set) or None, one per edge
        Which sample leaves its set across the edge from vertex j to vertex j + 1, and to which set it goes:
        0 right, 1 left, 2 margin. None where the edge is on the border of the map.
    sets : array of shape (n,)
        Set of each sample: 0 right (multiplier 0), 1 left (at its cap), 2 margin set.
    margin : array of shape (m,)
        The margin set.
    alpha_map : array of shape (m, 3)
        Multipliers of the margin set: ``alpha_map @ (1, C_plus, C_minus)``.
    b_map : array of shape (3,)
        Intercept: ``b_map @ (1, C_plus, C_minus)``.
    """

    polygon: Array
    facets: tuple[Facet | None, ...] = field(repr=False)
    sets: State = field(repr=False)
    margin: Index
    alpha_map: Array = field(repr=False)
    b_map: Array = field(repr=False)
    key: bytes = field(repr=False)

    @property
    def area(self) -> float:
        """Area of the polygon."""
        return area(self.polygon)

    @property
    def centroid(self) -> Array:
        """Centre of mass of the polygon, a pair of costs."""
        return centroid(self.polygon)

    def coefficients(self, caps: Array) -> Array:
        """All multipliers as ``coefficients @ (1, C_plus, C_minus)``, shape (n, 3); caps (n, 2) per unit of cost."""
        out = np.zeros((self.sets.size, 3))
        left = self.sets == LEFT
        out[left, 1:] = caps[left]
        out[self.margin] = self.alpha_map
        return out


class Bases:
    """The bases of one problem on one rectangle of costs: their affine solutions and polygons.

    With a free intercept samples may be centred in feature space, which makes margin systems better conditioned. The
    intercepts of `solve` are those of centred samples; of `region`, the true ones.

    Parameters
    ----------
    gram : Gram
    y, weight : arrays of shape (n,)
    frame : array of shape (4, 2)
        The rectangle.
    """

    def __init__(self, gram: Gram, y: Array, weight: Array, frame: Array) -> None:
        K, self._centre = centred(gram)
        self.Q = y[:, None] * K * y
        self._reach = np.sqrt(np.maximum(np.diagonal(K), 0.0))
        F = gram.features
        # What Q is a product of, and so is exact where Q itself is rounded; or Q.
        self._signed = None if F is None or sp.issparse(F) else np.ascontiguousarray(y[:, None] * (F - F.mean(axis=0)))
        self.y, self.frame = y, frame
        self.unit = weight[:, None] * np.stack([y > 0, y < 0], axis=1)  # caps per unit of either cost
        self._scale = max(float(np.diagonal(K).mean()), 1e-300)
        self._targets = 1.0 + np.random.default_rng(0).random(y.size)  # e of the module's docstring
        self._largest = np.array([1.0, *frame.max(axis=0)])
        self._cap = self.unit @ self._largest[1:]
        self.tol = PLANE_SLIVER * float(np.hypot(*np.ptp(frame, axis=0)))

    def solve(self, basis: Sets) -> tuple[Array, Array, Array]:
        """Margin multipliers (m, 4), intercept (4,) and gradient (n, 4), by ``(1, C_plus, C_minus, epsilon)``.

        Raises
        ------
        LinAlgError
            If the margin set is dependent.
        """
        sets, F = basis
        k, left = F.size, sets == LEFT
        at_cap = np.where(left[:, None], self.unit, 0.0)
        fixed = self.Q @ at_cap
        right = np.empty((k + 1, 4))
        right[:k, 0], right[:k, 1:3], right[:k, 3] = 1.0, -fixed[F], self._targets[F]
        right[k, 0], right[k, 1:3], right[k, 3] = 0.0, -(self.y @ at_cap), 0.0
        invert = self._inverse(F)
        x = invert(right)
        correction = invert(right - self._margin_system(F) @ x)
        x = x + correction
        if not self._sharp(F, at_cap, x, correction):
            return self._in_extended_precision(F, at_cap, x, invert)
        g = self.Q[:, F] @ x[:k] + np.outer(self.y, x[k])
        g[:, 1:3] += fixed
        g[:, 0] -= 1.0
        g[:, 3] -= self._targets
        return x[:k], x[k], g

    def _sharp(self, F: Index, at_cap: Array, x: Array, correction: Array) -> bool:
        """Whether double precision is enough: for the gradient, a sum of terms, and for the multipliers."""
        terms = np.abs(at_cap @ self._largest[1:])
        terms[F] += np.abs(x[:-1, :3]) @ self._largest
        rounding = np.finfo(float).eps * float(self._reach.max() * (self._reach @ terms))
        moved = np.abs(correction[:-1, :3]) @ self._largest
        return bool(rounding <= PLANE_ROUNDING and (moved <= PLANE_ROUNDING * self._cap[F]).all())

    def _in_extended_precision(
        self, F: Index, at_cap: Array, x: Array, invert: Callable[[Array], Array]
    ) -> tuple[Array, Array, Array]:
        """The same solution refined with residuals in double-double, and its gradient summed so."""
        k, n = F.size, self.y.size
        hi, lo, b, b_lo = np.zeros((n, 4)), np.zeros((n, 4)), x[k:].copy(), np.zeros((1, 4))
        hi[:, 1:3], hi[F] = at_cap, x[:k]
        y, last = self.y[:, None].copy(), np.inf
        for _ in range(_REFINEMENTS):
            g, g_lo, left, left_lo = np.zeros((n, 4)), np.zeros((n, 4)), np.zeros((1, 4)), np.zeros((1, 4))
            g[:, 0], g[:, 3] = -1.0, -self._targets
            add_product(y, b, b_lo, g, g_lo)
            if self._signed is None:
                add_product(self.Q, hi, lo, g, g_lo)
            else:
                w, w_lo = np.zeros((self._signed.shape[1], 4)), np.zeros((self._signed.shape[1], 4))
                add_product(np.ascontiguousarray(self._signed.T), hi, lo, w, w_lo)
                add_product(self._signed, w, w_lo, g, g_lo)
            add_product(np.ascontiguousarray(y.T), hi, lo, left, left_lo)
            step = -invert(np.concatenate([g[F] + g_lo[F], left + left_lo]))
            size = float((np.abs(step[:k, :3]) @ self._largest / self._cap[F]).max(initial=0.0))
            if not size < last:
                break
            last = size
            if size <= REFINED:
                break
            hi[F], lo[F] = _two_sums(hi[F], lo[F] + step[:k])
            b, b_lo = _two_sums(b, b_lo + step[k:])
        if not last <= UNREFINED:
            raise np.linalg.LinAlgError("the margin set is numerically dependent")
        return hi[F], b[0], g + g_lo

    def _independent(self, F: Index) -> bool:
        """Whether the margin system of F is nonsingular: Q_FF plus a multiple of y y' is positive definite then."""
        shifted = self.Q[np.ix_(F, F)] + self._scale * np.outer(self.y[F], self.y[F])
        R, info = lapack.dpotrf(shifted)
        return bool(info == 0 and (np.diagonal(R) ** 2 > PLANE_PIVOT * np.diagonal(shifted)).all())

    def _margin_system(self, F: Index) -> Array:
        k = F.size
        M = np.zeros((k + 1, k + 1))
        M[:k, :k], M[:k, k], M[k, :k] = self.Q[np.ix_(F, F)], self.y[F], self.y[F]
        return M

    def _inverse(self, F: Index) -> Callable[[Array], Array]:
        """The margin system, factored: what solves it for any right-hand side."""
        if not self._independent(F):
            raise np.linalg.LinAlgError("the margin set is dependent")
        lu, pivots, _ = lapack.dgetrf(self._margin_system(F))
        return lambda right: np.asarray(lapack.dgetrs(lu, pivots, right)[0])

    def region(self, basis: Sets) -> Region | None:
        """The region of a basis; None if it has no interior, or another optimum is the chosen one."""
        try:
            a, b, g = self.solve(basis)
        except np.linalg.LinAlgError:
            return None
        sets, F = basis
        resting = self._resting(sets, g)
        sign = np.where(sets == LEFT, -1.0, 1.0)
        if (sign * g[:, 3] < 0.0)[resting].any():
            return None
        others = np.flatnonzero((sets != MARGIN) & ~resting)
        room = -a[:, :3]
        room[:, 1:] += self.unit[F]
        conditions = np.concatenate([a[:, :3], room, sign[others, None] * g[others, :3]])
        owner = np.concatenate([F, F, others])
        to = np.repeat([RIGHT, LEFT, MARGIN], [F.size, F.size, others.size])
        # Natural units: a margin is measured against 1, a multiplier against its cap.
        conditions /= np.where(to == MARGIN, 1.0, self._cap[owner])[:, None]
        change = np.hypot(conditions[:, 1], conditions[:, 2])
        fixed = change * self._largest[1:].max() <= PLANE_ZERO  # holds everywhere or nowhere
        if (conditions[fixed, 0] < -PLANE_ZERO).any():
            return None
        which = np.flatnonzero(~fixed)
        polygon, edge = cut(self.frame, conditions[which] / change[which, None], 1e-3 * self.tol)
        polygon, edge = without_short_edges(polygon, edge, self.tol)
        if polygon.shape[0] < 3 or area(polygon) <= self.tol * float(np.ptp(polygon, axis=0).max()):
            return None
        facets = tuple(Facet(int(owner[which[e]]), int(to[which[e]])) if e >= 0 else None for e in edge)
        key = sets.copy()
        for bound, held in ((RIGHT, a[:, :3]), (LEFT, room)):
            key[F[np.abs(held) @ self._largest <= PLANE_ZERO * self._cap[F]]] = bound
        found = Region(polygon, facets, sets, F, a[:, :3], b[:3], key.tobytes())
        shift = (self.y * self._centre) @ found.coefficients(self.unit)
        return replace(found, b_map=found.b_map - shift)

    def _resting(self, sets: State, g: Array) -> Mask:
        """Samples outside the margin set that are on their margin whatever the costs."""
        return np.asarray((sets != MARGIN) & (np.abs(g[:, :3]) @ self._largest <= PLANE_ZERO))

    def chosen(self, basis: Sets, costs: Array) -> Sets:
        """From an optimal basis at some costs to that of the chosen optimum there.

        The simplex method for the largest ``e' alpha`` over all optimal multipliers, lowest index first. Only samples
        that rest on their margin take part.

        Raises
        ------
        LinAlgError
            If the margin set is dependent, or no sample limits an exchange.
        """
        sets, F = basis[0].copy(), basis[1].copy()
        at = np.array([1.0, *costs])
        cap = self.unit @ costs
        for _ in range(50 * self.y.size):
            a, _b, g = self.solve(Sets(sets, F))
            wrong = self._resting(sets, g) & (np.where(sets == LEFT, -1.0, 1.0) * g[:, 3] < 0.0)
            if not wrong.any():
                return Sets(sets, F)
            j = int(np.argmax(wrong))
            u = self._inverse(F)(np.append(self.Q[F, j], self.y[j])[:, None])[:-1, 0]
            if self._independent(np.append(F, j)):
                sets[j], F = MARGIN, np.append(F, j)
                continue
            inwards = 1.0 if sets[j] == RIGHT else -1.0
            step, leaving, to = _first_at_bound(F, a[:, :3] @ at, cap[F], -inwards * u)
            if step >= cap[j]:
                sets[j] = LEFT if sets[j] == RIGHT else RIGHT
                continue
            sets[F[leaving]], sets[j], F[leaving] = to, MARGIN, j
        raise np.linalg.LinAlgError("no end of exchanges at one point")

    def beyond(self, region: Region, facet: Facet) -> Sets | None:
        """The basis across a facet where one exchange suffices; None where the last of the margin set leaves."""
        i, to = facet
        sets, F = region.sets.copy(), region.margin
        if to != MARGIN and F.size == 1:
            return None
        sets[i] = to
        return Sets(sets, np.append(F, i) if to == MARGIN else np.delete(F, np.argmax(i == F)))


def _two_sums(a: Array, b: Array) -> tuple[Array, Array]:
    """Sums and their rounding errors (Knuth)."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


def centred(gram: Gram) -> tuple[Array, Array]:
    """Kernel matrix of the samples less their mean in feature space, and the score of the mean for each sample.

    For multipliers that balance, scores for one and for the other differ by ``centre @ (y * alpha)``.
    """
    F = gram.features
    if F is not None and not sp.issparse(F):
        mean = F.mean(axis=0)
        return (F - mean) @ (F - mean).T, np.asarray(F - mean) @ mean
    K = gram.matrix
    rows = K.mean(axis=0)
    return K - rows - rows[:, None] + rows.mean(), np.asarray(rows - rows.mean())


def _first_at_bound(F: Index, a: Array, cap: Array, rate: Array) -> tuple[float, int, int]:
    """Step at which the first multiplier that moves at these rates is at a bound, its position, and which bound."""
    moving = np.abs(rate) > 1e-9 * np.abs(rate).max(initial=0.0)
    left = np.where(rate < 0.0, a, cap - a)
    steps = np.divide(np.maximum(left, 0.0), np.abs(rate), out=np.full(F.size, np.inf), where=moving)
    step = float(steps.min(initial=np.inf))
    if not np.isfinite(step):
        return np.inf, -1, RIGHT
    tied = np.flatnonzero(steps <= step * (1 + 1e-12))
    position = int(tied[np.argmin(F[tied])])
    return step, position, RIGHT if rate[position] < 0.0 else LEFT
