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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from paretoclf.common.checks import Array, Index, Mask, State
from paretoclf.common.tolerances import (
    CERTIFY,
    DEPENDENT_GRAM,
    PLANE_PIVOT,
    PLANE_REST,
    PLANE_SLIVER,
    PLANE_ZERO,
    REFINED,
    STEEP,
    UNREFINED,
)
from paretoclf.engine.boxes import add_product
from paretoclf.engine.sets import LEFT, MARGIN, RIGHT
from paretoclf.path.regions.centred_kernel import centred, definite, two_sums
from paretoclf.path.regions.polygon import area, centroid, cut, onto_axes, without_short_edges
from paretoclf.problem.gram import Gram

_REFINEMENTS = 20
_TINY = np.finfo(float).tiny
_BLOCK = 2**19  # numbers in the conditions of the bases that are solved together


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
    key : bytes
        What the exploration knows it by; empty in a map that was read from a file.
    """

    polygon: Array
    facets: tuple[Facet | None, ...] = field(repr=False)
    sets: State = field(repr=False)
    margin: Index
    alpha_map: Array = field(repr=False)
    b_map: Array = field(repr=False)
    key: bytes = field(default=b"", repr=False)

    @property
    def area(self) -> float:
        """Area of the polygon."""
        return float(area(self.polygon))

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


class Solved(NamedTuple):
    """Affine solutions on r bases, by ``(1, C_plus, C_minus, epsilon)``.

    Margin sets smaller than the largest one, k, are filled up with multipliers that are 0.
    """

    independent: Mask  # (r,); of the others numbers mean nothing
    F: Index  # (r, k)
    members: Mask  # (r, k)
    alpha: Array  # (r, 4, k)
    b: Array  # (r, 4)
    gradient: Array  # (r, 4, n)
    inverse: Array  # (r, k + 1, k + 1), of the margin systems, the intercept first


class Bases:
    """The bases of one problem on one rectangle of costs: their affine solutions and polygons, many at a time.

    With a free intercept samples may be centred in feature space, which makes margin systems better conditioned. The
    intercepts of `solve` are those of centred samples; of `regions`, the true ones.

    Parameters
    ----------
    gram : Gram
    y, weight : arrays of shape (n,)
    frame : array of shape (4, 2)
        The rectangle.
    """

    def __init__(self, gram: Gram, y: Array, weight: Array, frame: Array) -> None:
        K, rest, centre = centred(gram)
        Q = gram.quadratic
        self._shift = y * centre
        self.y, self.frame = y, frame
        self.unit = weight[:, None] * np.stack([y > 0, y < 0], axis=1)  # caps per unit of either cost
        # How far from 1 a margin must be somewhere on the rectangle. It moves by multipliers times kernel values, which
        # may be far less than 1; it is known to many digits of that, where no rounded value pretends to be a direction.
        self.kernel = K if Q.width else gram.matrix
        caps = self.unit @ frame.max(axis=0)
        moves, share = 2.0 * min(float(caps[y > 0].sum()), float(caps[y < 0].sum())), 1.0
        if not Q.width and STEEP * caps.max() * gram.diagonal().max() <= CERTIFY:
            K, rest = definite(gram.matrix, DEPENDENT_GRAM * float(np.abs(gram.matrix).max())) or (K, rest)
            self.kernel, share = K, PLANE_REST
        moves *= float(np.diagonal(K).max())
        self._zero_margin = PLANE_ZERO * min(1.0, share * moves or 1.0)
        # The intercept in a unit that makes margin systems even: a power of two, so nothing is rounded by it.
        size = float(np.diagonal(K).mean())
        self._unit_b = 2.0 ** np.round(np.log2(size)) if size > 0.0 else 1.0
        # Of all samples, the intercept first: every margin system is a part of it.
        row = self._unit_b * y
        self.system = np.block([[np.zeros((1, 1)), row], [row[:, None], y[:, None] * K * y]])
        # What it is a sum of, or the product of, and so is exact where its entries are rounded.
        low = np.pad(y[:, None] * rest * y, (1, 0))
        self._factors = (
            [np.stack([self.system, low])] if Q.middle is None else _factors(row, Q.centred(Q.middle).signed(y))
        )
        self._targets = 1.0 + np.random.default_rng(0).random(y.size)  # e of the module's docstring
        self._largest = np.array([1.0, *frame.max(axis=0)])
        self._cap = self.unit @ self._largest[1:]
        self._caps = np.insert(self.unit.T, 0, 0.0, axis=0)
        self._facets = [[Facet(i, to) for to in range(3)] for i in range(y.size)]  # many regions share few of them
        self.tol = PLANE_SLIVER * float(np.hypot(*np.ptp(frame, axis=0)))

    def solve(self, bases: Sequence[Sets]) -> Solved:
        """Margin multipliers, intercept and gradient on each basis.

        Double precision only inverts the margin systems; what it solves is refined with residuals in double-double, and
        gradients are summed so: a border where a gradient moves little is as sharp as any other, and none hangs on the
        order in which products are summed. What the multipliers at their caps contribute is summed once. A margin set
        for which this does not converge is numerically dependent.
        """
        F, members = _filled_up([basis.margin for basis in bases])
        left = np.stack([basis.sets for basis in bases]) == LEFT
        rows, inside = _in_system(F, members)
        inverse, independent = self._inverses(rows, inside)
        fixed = np.zeros((2, len(bases), 4, self.y.size + 1))
        fixed[0, :, 0, 1:], fixed[0, :, 3, 1:] = -1.0, -self._targets
        at_cap = np.zeros(fixed.shape[1:])
        at_cap[:, 1:3, 1:] = left[:, None] * self.unit.T
        self._add_product(at_cap, np.zeros(at_cap.shape), fixed)
        hi, lo, converged = self._response(fixed, rows, inverse)
        self._add_product(hi, lo, fixed, rows)
        x, g = hi, fixed.sum(axis=0)
        independent &= converged
        return Solved(independent, F, members, x[:, :, 1:], x[:, :, 0] * self._unit_b, g[:, :, 1:], inverse)

    def _response(self, fixed: Array, rows: Index, inverse: Array) -> tuple[Array, Array, Mask]:
        """Intercepts and margin multipliers that make gradients 0 on the margin set, in two parts; which converge."""
        here = np.take_along_axis(fixed, rows[None, :, None], axis=3)
        hi, lo = np.zeros(here.shape[1:]), np.zeros(here.shape[1:])
        going, last = np.arange(len(rows)), np.full(len(rows), np.inf)
        for k in range(_REFINEMENTS):
            residual = np.take(here, going, axis=1)
            if k:  # before there is nothing to multiply
                self._add_product(hi[going], lo[going], residual, rows[going], rows[going])
            step = -residual.sum(axis=0) @ inverse[going]
            hi[going], lo[going] = two_sums(hi[going], lo[going] + step)
            size = self._size(step[:, :, 1:]) / np.maximum(self._size(hi[going, :, 1:]), _TINY)
            closer = size < last[going]
            last[going[closer]] = size[closer]
            going = going[closer & (size > REFINED)]
            if not going.size:
                break
        return hi, lo, last <= UNREFINED

    def _size(self, alpha: Array) -> Array:
        """The largest multiplier of each basis anywhere on the rectangle."""
        return np.asarray((self._largest @ np.abs(alpha[:, :3])).max(axis=1, initial=0.0))

    def _add_product(
        self, hi: Array, lo: Array, out: Array, rows: Index | None = None, columns: Index | None = None
    ) -> None:
        """Add ``(hi + lo) M`` to ``out[0] + out[1]``, in twice the precision; M by its factors.

        M is the system of all samples, or, for each basis of its own, those rows and columns of it.
        """
        *first, last = self._factors
        for factor in first:
            within = np.zeros((2, *hi.shape[:2], factor.shape[2]))
            for part in factor:
                add_product(hi, lo, _part(part, rows, None), *within)
            (hi, lo), rows = within, None
        for part in last:
            add_product(hi, lo, _part(part, rows, columns), *out)

    def _inverses(self, rows: Index, inside: Mask) -> tuple[Array, Mask]:
        """Inverses (r, k + 1, k + 1) of margin systems, the intercept first, and which sets are independent.

        A set is not where the squared distance of a sample from the span of the others, the inverse of a diagonal
        element of the inverse, is too small a share of the square of its length. Its inverse is given as 0.
        """
        systems = self.system[rows[:, :, None], rows[:, None, :]] * (inside[:, :, None] & inside[:, None, :])
        at = np.arange(1, rows.shape[1])  # the diagonal of Q
        lengths = systems[:, at, at] + self._unit_b
        systems[:, at, at] += np.where(inside[:, 1:], 0.0, self._unit_b)
        inverses, exists = _inverses(systems)
        independent = exists & np.all(np.abs(inverses[:, at, at]) * lengths * PLANE_PIVOT < 1.0, axis=1)
        inverses[~independent] = 0.0
        return inverses * inside[:, :, None] * inside[:, None, :], independent

    def regions(self, bases: Sequence[Sets]) -> list[Region | None]:
        """The region of each basis; None if it has no interior, or another optimum is the chosen one."""
        width = max(1, _BLOCK // (3 * self.y.size))
        return [each for j in range(0, len(bases), width) for each in self._regions(bases[j : j + width])]

    def _regions(self, bases: Sequence[Sets]) -> Iterator[Region | None]:
        """Critical regions of one block of bases."""
        solved, sets = self.solve(bases), np.stack([basis.sets for basis in bases])
        F, k, g = solved.F, solved.F.shape[1], solved.gradient
        left, resting = sets == LEFT, self._resting(sets, g)
        sign = 1.0 - 2.0 * left
        possible = solved.independent & ~(resting & (sign * g[:, 3] < 0.0)).any(axis=1)
        # In columns, and in natural units: a multiplier is measured against its cap, or where that is far away, against
        # the largest multiplier; a margin against 1.
        largest = self._size(solved.alpha)[:, None]
        size = np.where(largest > 0.0, np.minimum(self._cap[F], largest), self._cap[F])[:, None]
        shares = solved.alpha[:, :3] / size
        rest = (np.moveaxis(self._caps[:, F], 0, 1) - solved.alpha[:, :3]) / size
        unit = self._zero_margin / PLANE_ZERO
        conditions = np.concatenate([shares, rest, sign[:, None] * g[:, :3] / unit], axis=2)
        change = np.hypot(conditions[:, 1], conditions[:, 2])
        fixed = change <= PLANE_ZERO / self._largest[1:].max()  # they hold everywhere or nowhere
        none = np.concatenate([~solved.members, ~solved.members, resting | (sets == MARGIN)], axis=1)
        possible &= ~(fixed & ~none & (conditions[:, 0] < -PLANE_ZERO)).any(axis=1)
        np.divide(conditions, change[:, None], out=conditions, where=~(fixed | none)[:, None])
        np.copyto(conditions, np.array([[1.0], [0.0], [0.0]]), where=(fixed | none)[:, None])
        polygons, edges = cut(self.frame, conditions[possible], 1e-3 * self.tol)
        polygons, edges = without_short_edges(*onto_axes(polygons, edges, self.tol), self.tol)
        found = area(polygons) > self.tol * np.ptp(polygons, axis=1).max(axis=1)
        counts = 1 + (polygons[:, 1:] != polygons[:, :-1]).any(axis=2).sum(axis=1)
        leaving = np.where(edges < 2 * k, np.take_along_axis(F[possible], edges % k, axis=1), edges - 2 * k).tolist()
        to = np.array([RIGHT, LEFT, MARGIN])[np.minimum(edges // k, 2)].tolist()
        keys = sets.copy()
        for bound, name in ((shares, RIGHT), (rest, LEFT)):
            row, at = np.nonzero(solved.members & (self._largest @ np.abs(bound) <= PLANE_ZERO))
            keys[row, F[row, at]] = name
        b = solved.b[:, :3] - (solved.alpha[:, :3] @ self._shift[F][:, :, None])[:, :, 0]
        b[:, 1:] -= (left * self._shift) @ self.unit
        place = np.full(len(bases), -1)
        place[np.flatnonzero(possible)[found]] = np.flatnonzero(found)
        for j, (basis, c) in enumerate(zip(bases, place.tolist(), strict=True)):
            if c < 0:
                yield None
                continue
            m, own = counts[c], solved.alpha[j, :3, : basis.margin.size].T.copy()
            across = zip(leaving[c], to[c], edges[c, :m].tolist(), strict=False)
            facets = tuple(None if e < 0 else self._facets[i][beyond] for i, beyond, e in across)
            yield Region(polygons[c, :m].copy(), facets, *basis, own, b[j], keys[j].tobytes())

    def _resting(self, sets: State, g: Array) -> Mask:
        """Samples outside the margin set that are on their margin whatever the costs."""
        return np.asarray((sets != MARGIN) & (self._largest @ np.abs(g[..., :3, :]) <= self._zero_margin))

    def chosen(self, basis: Sets, costs: Array) -> Sets:
        """Exchange from an optimal basis at some costs to that of the chosen optimum there.

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
            solved = self.solve([Sets(sets, F)])
            if not solved.independent[0]:
                raise np.linalg.LinAlgError("the margin set is dependent")
            a, g = solved.alpha[0], solved.gradient[0]
            wrong = self._resting(sets, g) & (np.where(sets == LEFT, -1.0, 1.0) * g[3] < 0.0)
            if not wrong.any():
                return Sets(sets, F)
            j = int(np.argmax(wrong))
            more = np.append(F, j)
            if self._inverses(*_in_system(*_filled_up([more])))[1][0]:
                sets[j], F = MARGIN, more
                continue
            rates = self._rates(solved, j, 1.0 if sets[j] == RIGHT else -1.0)
            step, leaving, to = _first_at_bound(F, at @ a[:3], cap[F], rates)
            if step >= cap[j]:
                sets[j] = LEFT if sets[j] == RIGHT else RIGHT
                continue
            sets[F[leaving]], sets[j], F[leaving] = to, MARGIN, j
        raise np.linalg.LinAlgError("no end of exchanges at one point")

    def _rates(self, solved: Solved, j: int, rate: float) -> Array:
        """How the margin multipliers of one basis move while that of sample j moves at a rate."""
        rows, moved = np.insert(solved.F + 1, 0, 0, axis=1), np.zeros((1, 4, self.y.size + 1))
        moved[:, :3, j + 1] = rate
        fixed = np.zeros((2, *moved.shape))
        self._add_product(moved, np.zeros(moved.shape), fixed)
        return self._response(fixed, rows, solved.inverse)[0][0, 0, 1:]

    def beyond(self, region: Region, edge: int) -> Sets | None:
        """The basis across an edge where one exchange suffices; None where the last of the margin set leaves."""
        facet = region.facets[edge]
        assert facet is not None
        i, to = facet
        sets, F = region.sets.copy(), region.margin
        if to != MARGIN and F.size == 1:
            return None
        sets[i] = to
        return Sets(sets, np.concatenate([F, [i]]) if to == MARGIN else F[i != F])


def _filled_up(sets: Sequence[Index]) -> tuple[Index, Mask]:
    """Margin sets as rows of the same length, and which entries are members."""
    F = np.zeros((len(sets), max(each.size for each in sets)), dtype=np.int64)
    members = np.arange(F.shape[1]) < np.array([each.size for each in sets])[:, None]
    F[members] = np.concatenate(sets)
    return F, members


def _in_system(F: Index, members: Mask) -> tuple[Index, Mask]:
    """Rows of the margin set in the system of all samples, where the intercept is the first."""
    return np.insert(F + 1, 0, 0, axis=1), np.insert(members, 0, True, axis=1)


def _part(A: Array, rows: Index | None, columns: Index | None) -> Array:
    """Rows and columns of a matrix, those of each basis (r, k), or all: (r, k, k), or (1, ...) for all bases."""
    if columns is None:
        return A[None] if rows is None else A[rows]
    return A[np.arange(len(A))[None, :, None] if rows is None else rows[:, :, None], columns[:, None, :]]


def _factors(row: Array, signed: Array) -> list[Array]:
    """Two matrices whose product is the system of all samples, whose Q is ``signed @ signed.T``.

    The first makes of an intercept and multipliers the intercept, the balance of the multipliers, and w.
    """
    n, d = signed.shape
    first, last = np.zeros((n + 1, d + 2)), np.zeros((d + 2, n + 1))
    first[0, 0] = last[1, 0] = 1.0
    first[1:, 1], last[0, 1:] = row, row
    first[1:, 2:], last[2:, 1:] = signed, signed.T
    return [first[None], last[None]]


def _inverses(stack: Array) -> tuple[Array, Mask]:
    """Inverses of symmetric matrices (r, k, k), 0 for one that is singular; and which are not."""
    try:
        return np.asarray(np.linalg.inv(stack)), np.full(stack.shape[0], True)
    except np.linalg.LinAlgError:  # of all, if one is singular
        if stack.shape[0] == 1:
            return np.zeros(stack.shape), np.full(1, False)
        half = stack.shape[0] // 2
        (one, first), (other, last) = _inverses(stack[:half]), _inverses(stack[half:])
        return np.concatenate([one, other]), np.concatenate([first, last])


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
