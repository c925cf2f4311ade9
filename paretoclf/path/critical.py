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
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from paretoclf.checks import Array, Index, Mask, State
from paretoclf.gram import Gram
from paretoclf.path.engines import add_product
from paretoclf.path.polygon import area, centroid, cut, extent, without_short_edges
from paretoclf.path.sets import LEFT, MARGIN, RIGHT
from paretoclf.tolerances import PLANE_PIVOT, PLANE_ROUNDING, PLANE_SLIVER, PLANE_ZERO, REFINED, UNREFINED

_REFINEMENTS = 20
_EPSILON = float(np.finfo(float).eps)
_ALL = slice(None)


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
        K, centre = centred(gram)
        self._shift = y * centre
        self.Q = y[:, None] * K * y
        self._reach = np.sqrt(np.maximum(np.diagonal(K), 0.0))
        self._furthest = float(self._reach.max())
        F = gram.features
        # What Q is a product of, and so is exact where Q itself is rounded; or Q.
        self._signed = None if F is None or sp.issparse(F) else np.ascontiguousarray(y[:, None] * (F - F.mean(axis=0)))
        self.y, self.frame = y, frame
        self.unit = weight[:, None] * np.stack([y > 0, y < 0], axis=1)  # caps per unit of either cost
        self._scale = max(float(np.diagonal(K).mean()), 1e-300)
        self._targets = 1.0 + np.random.default_rng(0).random(y.size)  # e of the module's docstring
        self._largest = np.array([1.0, *frame.max(axis=0)])
        self._cap = self.unit @ self._largest[1:]
        self._unit_shares = np.insert(self.unit.T, 0, 0.0, axis=0) / self._cap
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
        margin_system, invert = self._factored(F)
        at_cap = np.where(left[:, None], self.unit, 0.0)
        fixed = self.Q @ at_cap
        right = np.zeros((k + 1, 4))
        right[:k, 0], right[:k, 3] = 1.0, self._targets[F]
        right[:k, 1:3], right[k, 1:3] = -fixed[F], -(self.y @ at_cap)
        x = invert(right)
        correction = invert(right - margin_system @ x)
        x += correction
        if not self._sharp(F, left, x, correction):
            return self._in_extended_precision(F, at_cap, x, invert)
        g = self.Q[F].T @ x[:k] + self.y[:, None] * x[k]
        g[:, 1:3] += fixed
        g[:, 0] -= 1.0
        g[:, 3] -= self._targets
        return x[:k], x[k], g

    def _sharp(self, F: Index, left: Mask, x: Array, correction: Array) -> bool:
        """Whether double precision is enough: for the gradient, a sum of terms, and for the multipliers."""
        terms = np.where(left, self._cap, 0.0)
        terms[F] += np.abs(x[:-1, :3]) @ self._largest
        rounding = _EPSILON * self._furthest * float(self._reach @ terms)
        moved = np.abs(correction[:-1, :3]) @ self._largest
        return bool(rounding <= PLANE_ROUNDING and (moved <= PLANE_ROUNDING * self._cap[F]).all())

    def _in_extended_precision(
        self, F: Index, at_cap: Array, x: Array, invert: Callable[[Array], Array]
    ) -> tuple[Array, Array, Array]:
        """The same solution refined with residuals in double-double, and its gradient summed so.

        What the multipliers at their caps contribute to the residuals is summed once.
        """
        k, n = F.size, self.y.size
        hi, lo, b, b_lo, last = x[:k].copy(), np.zeros((k, 4)), x[k:].copy(), np.zeros((1, 4)), np.inf
        y = np.ascontiguousarray(self.y[F, None])
        at_caps = np.zeros((n, 4))
        at_caps[:, 1:3] = at_cap
        L = np.flatnonzero(at_cap.any(axis=1))
        fixed, left = (np.zeros((n, 4)), np.zeros((n, 4))), (np.zeros((1, 4)), np.zeros((1, 4)))
        fixed[0][:, 0], fixed[0][:, 3] = -1.0, -self._targets
        self._add_product(L, at_caps[L], np.zeros((L.size, 4)), *fixed)
        add_product(np.ascontiguousarray(self.y[None, L]), at_caps[L], np.zeros((L.size, 4)), *left)
        for _ in range(_REFINEMENTS):
            g, rest = (fixed[0][F], fixed[1][F]), (left[0].copy(), left[1].copy())
            add_product(y, b, b_lo, *g)
            self._add_product(F, hi, lo, *g, rows=F)
            add_product(np.ascontiguousarray(y.T), hi, lo, *rest)
            step = -invert(np.concatenate([sum(g), sum(rest)]))
            size = float((np.abs(step[:k, :3]) @ self._largest / self._cap[F]).max(initial=0.0))
            if not size < last:
                break
            last = size
            if size <= REFINED:
                break
            hi, lo = _two_sums(hi, lo + step[:k])
            b, b_lo = _two_sums(b, b_lo + step[k:])
        if not last <= UNREFINED:
            raise np.linalg.LinAlgError("the margin set is numerically dependent")
        add_product(np.ascontiguousarray(self.y[:, None]), b, b_lo, *fixed)
        self._add_product(F, hi, lo, *fixed)
        return hi, b[0], fixed[0] + fixed[1]

    def _add_product(
        self, columns: Index, hi: Array, lo: Array, out: Array, out_lo: Array, rows: Index | slice = _ALL
    ) -> None:
        """Add these columns of Q times ``hi + lo`` to ``out + out_lo``, in twice the precision; Q by its factors."""
        if self._signed is None:
            add_product(np.ascontiguousarray(self.Q[rows][:, columns]), hi, lo, out, out_lo)
        else:
            w, w_lo = np.zeros((self._signed.shape[1], 4)), np.zeros((self._signed.shape[1], 4))
            add_product(np.ascontiguousarray(self._signed[columns].T), hi, lo, w, w_lo)
            add_product(np.ascontiguousarray(self._signed[rows]), w, w_lo, out, out_lo)

    def _independent(self, F: Index) -> bool:
        """Whether the margin system of F is nonsingular."""
        try:
            self._factored(F)
        except np.linalg.LinAlgError:
            return False
        return True

    def _factored(self, F: Index) -> tuple[Array, Callable[[Array], Array]]:
        """The margin system, and what solves it for any right-hand sides.

        By a Cholesky factor of Q_FF plus a multiple of y y', which is positive definite exactly where the margin
        system is nonsingular: its last row fixes y'alpha, and with it what the multiple adds.

        Raises
        ------
        LinAlgError
            If the margin set is dependent.
        """
        k, y = F.size, self.y[F]
        system = np.zeros((k + 1, k + 1))
        system[:k, :k], system[:k, k], system[k, :k] = self.Q[F[:, None], F], y, y
        shift = self._scale * y
        shifted = system[:k, :k] + shift[:, None] * y
        R, info = lapack.dpotrf(shifted)
        if info != 0 or (R.diagonal() ** 2 <= PLANE_PIVOT * shifted.diagonal()).any():
            raise np.linalg.LinAlgError("the margin set is dependent")
        u = lapack.dpotrs(R, y)[0]
        pivot = float(y @ u)

        def invert(right: Array) -> Array:
            x = np.empty_like(right)
            alpha = lapack.dpotrs(R, right[:k] + shift[:, None] * right[k])[0]
            x[k] = (y @ alpha - right[k]) / pivot
            x[:k] = alpha - u[:, None] * x[k]
            return x

        return system, invert

    def region(self, basis: Sets) -> Region | None:
        """The region of a basis; None if it has no interior, or another optimum is the chosen one."""
        try:
            a, b, g = self.solve(basis)
        except np.linalg.LinAlgError:
            return None
        sets, F = basis
        k, left = F.size, sets == LEFT
        resting, sign = self._resting(sets, g), 1.0 - 2.0 * left
        if (resting & (sign * g[:, 3] < 0.0)).any():
            return None
        others = (~resting & (sets != MARGIN)).nonzero()[0]
        # In columns, and in natural units: a multiplier is measured against its cap, a margin against 1.
        conditions = np.empty((3, 2 * k + others.size))
        in_box = conditions[:, : 2 * k]
        np.divide(a.T[:3], self._cap[F], out=in_box[:, :k])
        np.subtract(self._unit_shares[:, F], in_box[:, :k], out=in_box[:, k:])
        conditions[:, 2 * k :] = (sign[others, None] * g[others, :3]).T
        at_bound = self._largest @ np.abs(in_box) <= PLANE_ZERO
        change = np.hypot(conditions[1], conditions[2])
        fixed = change <= PLANE_ZERO / self._largest[1:].max()  # they hold everywhere or nowhere
        if fixed.any():
            if (conditions[0, fixed] < -PLANE_ZERO).any():
                return None
            conditions[0, fixed], change[fixed] = np.inf, 1.0
        conditions /= change
        polygon, edge = cut(self.frame, conditions.T, 1e-3 * self.tol)
        polygon, edge = without_short_edges(polygon, edge, self.tol)
        if polygon.shape[0] < 3 or area(polygon) <= self.tol * extent(polygon):
            return None
        owner, to = (*F.tolist(), *F.tolist()), (RIGHT,) * k + (LEFT,) * k
        facets = tuple(
            None if e < 0 else Facet(owner[e], to[e]) if e < 2 * k else Facet(int(others[e - 2 * k]), MARGIN)
            for e in edge.tolist()
        )
        key = sets.copy()
        key[F[at_bound[:k]]], key[F[at_bound[k:]]] = RIGHT, LEFT
        shift = self._shift[F] @ a[:, :3]
        shift[1:] += self._shift[left] @ self.unit[left]
        return Region(polygon, facets, sets, F, a[:, :3], b[:3] - shift, key.tobytes())

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
            u = self._factored(F)[1](np.append(self.Q[F, j], self.y[j])[:, None])[:-1, 0]
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
        return Sets(sets, np.append(F, i) if to == MARGIN else F[i != F])


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
