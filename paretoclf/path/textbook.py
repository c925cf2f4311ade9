r"""The tracker to be read: the solution of a box QP along a line, in floats or in fractions.

**The problem.** For t from 0 to 1,

.. math::

   \min_a \tfrac12 a^\top Q a - p^\top a \quad\text{s.t. } A a = e(t),\ 0 \le a \le c(t),

with Q positive semidefinite, e and c moving on straight lines, and every index in at most one row of A (the rows are
the *groups*). With :math:`g = Qa - p + A^\top\eta` a point is optimal iff :math:`g_i\ge0` where :math:`a_i=0`,
:math:`g_i\le0` where :math:`a_i=c_i`, and :math:`g_i=0` between. The 2C-SVM has a = alpha, p = 1, A = y', e = 0 and
:math:`\eta=b`; then -g_i is how far sample i misses its margin.

**The basis**, as in the simplex method: a label for every index. RIGHT: a_i = 0. LEFT: a_i = c_i. MARGIN: g_i = 0; the
set of these is F. (OUT: cap 0 all along, no part in it.) As many equations as unknowns,

.. math::

   \begin{pmatrix}Q_{FF}&A_F^\top\\A_F&0\end{pmatrix}\begin{pmatrix}a_F\\\eta\end{pmatrix}
   =\begin{pmatrix}p_F-Q_{FL}c_L\\e-A_Lc_L\end{pmatrix},

and the matrix is kept nonsingular: every group has a member in F, and no index of F depends on the others. The right
side is affine in t, so on a basis the solution is, too. It is optimal until the first inequality would be violated. A
basis may have a_i at a bound for i in F, and g_i = 0 outside F: ties, duplicates and intervals of eta are nothing
special.

**The exchanges** restore optimality beyond that t. There are four:

1. An index outside F reaches its margin: it joins F.
2. The same, but it depends on F: a moves along the null direction, at fixed t, until something else reaches a bound and
   leaves F for it. (In fractions this never happens: what depends on F does not move. In floats, a small pivot is.)
3. An index of F reaches a bound: it leaves F.
4. The same, but it is the last of its group: eta jumps, at fixed t, until another of the group reaches its margin.

**Ties** are steps of length zero. The lowest index goes first, so the exchanges at one t cannot cycle
(docs/explanation/tracker.md).

**Numbers.** In fractions (object arrays) every comparison is exact; what rounding can do to floats is in ``FLOATS``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from paretoclf.errors import DegeneratePathError
from paretoclf.path.sets import LEFT, MARGIN, RIGHT
from paretoclf.tolerances import DEPENDENT_GRAM, END_OF_LINE, END_TIE, INFEASIBLE, ROUNDING, SLOPE_NOISE

Vector = Any  # an array of float64, or an object array of Fractions
Number = Any  # a float or a Fraction


class Rounding(NamedTuple):
    """What rounding can do, relative to the numbers that are computed with; reasons in ``paretoclf.tolerances``."""

    sums: float  # a gradient, against its terms
    rates: float  # rates of multipliers, against the largest
    pivot: float  # a pivot, against the diagonal it is a remainder of
    inside: float  # violated by more than this, an inequality was lost, not tied
    late: float  # before the end of the line: what happens this late happens there
    tie: float  # relative to a step: where eta vanishes, everything happens at once


FRACTIONS = Rounding(0, 0, 0, 0, 0, 0)
FLOATS = Rounding(ROUNDING, SLOPE_NOISE, DEPENDENT_GRAM, INFEASIBLE, END_OF_LINE, END_TIE)


@dataclass(frozen=True)
class BoxProblem:
    """A parametric box QP: ``Q`` (n, n), ``p`` (n,), ``A`` (m, n); ``c`` (2, n) and ``e`` (2, m) at t = 0 and t = 1.

    With ``to_zero`` it is left where the multipliers eta add up to 0. What happens after ``1 - late``, or in floats
    after ``1 - FLOATS.late``, happens at the end.
    """

    Q: Vector
    p: Vector
    A: Vector
    c: Vector
    e: Vector
    to_zero: bool = False
    late: Number = 0

    @property
    def rounding(self) -> Rounding:
        """None at all in fractions."""
        return FRACTIONS if self.Q.dtype == object else FLOATS


@dataclass(frozen=True)
class BasisSolution:
    """Multipliers a (2, n), eta (2, m) and gradient g (2, n) on a basis: at one t, and their rates."""

    a: Vector
    eta: Vector
    g: Vector

    def after(self, dt: Number) -> tuple[Vector, Vector, Vector]:
        """The same three after a step."""
        return self.a[0] + dt * self.a[1], self.eta[0] + dt * self.eta[1], self.g[0] + dt * self.g[1]


@dataclass(frozen=True)
class Segment:
    """A basis and its solution from t0 to t1 (or at t0 == t1): labels (n,), multipliers (2, n), eta (2, m) at both."""

    t0: Number
    t1: Number
    basis: Any
    a: Vector
    eta: Vector


class Exchange(NamedTuple):
    """At t an inequality of index `who` becomes tight, and it goes to another set. Nobody: the end of the line."""

    t: Number
    who: int = -1
    to: int = MARGIN


def follow(problem: BoxProblem, basis: Any) -> Iterator[Segment]:
    """Follow the solution from t = 0, where it has this basis, to t = 1: one segment for each basis on the way.

    Raises
    ------
    DegeneratePathError
        If the basis is not optimal at t = 0, the line leaves what is feasible, or Q is not positive semidefinite.

    Examples
    --------
    Two samples at 0 and 1 of a line, costs from 0 to 4: w grows until no margin is violated.

    >>> from paretoclf.path.textbook import BoxProblem, exact, follow
    >>> y = exact([1, -1])
    >>> Q, caps = exact([[0, 0], [0, 1]]), exact([[0, 0], [4, 4]])
    >>> problem = BoxProblem(Q, exact([1, 1]), y[None], caps, exact([[0], [0]]))
    >>> for segment in follow(problem, [MARGIN, LEFT]):
    ...     print(segment.t0, segment.t1, segment.basis, *segment.a[1])
    0 1/2 [2 1] 2 2
    1/2 1 [2 2] 2 2
    """
    basis = np.array(basis, dtype=np.int8)
    t: Number = 0 * problem.p[0]
    while True:
        solution = solve_on(problem, basis, t)
        event = first_event(problem, basis, solution, t)
        a, eta, g = solution.after(event.t - t)
        yield Segment(t, event.t, basis, np.stack([solution.a[0], a]), np.stack([solution.eta[0], eta]))
        if event.who < 0:
            return
        t, basis = event.t, exchange(problem, basis, event, a, g)


def solve_on(problem: BoxProblem, basis: Any, t: Number) -> BasisSolution:
    """The solution on a basis at t, and its rate: one matrix, two right sides."""
    P, F = problem, np.flatnonzero(basis == MARGIN)
    caps, e = (np.stack([(1 - t) * x[0] + t * x[1], x[1] - x[0]]) for x in (P.c, P.e))
    a = np.where(basis == LEFT, caps, 0 * caps)
    p = np.stack([P.p - (origin := _origin(P, F)) @ P.A, 0 * P.p])
    x = solve(P, F, np.hstack([(p - a @ P.Q)[:, F], e - a @ P.A.T]).T).T
    a[:, F], eta = x[:, : F.size], x[:, F.size :]
    g = a @ P.Q - p + eta @ P.A
    g[:, F] = 0 * g[:, F]
    return BasisSolution(a, np.stack([eta[0] + origin, eta[1]]), g)


def _origin(P: BoxProblem, F: Any) -> Vector:
    """Where eta is measured from: where F is in one class its b = 1 or -1, so that nothing cancels next to an axis."""
    origin = np.array([next((P.p[j] / row[j] for j in F if row[j] != 0), 0 * P.p[0]) for row in P.A], P.p.dtype)
    return origin if all(origin @ P.A[:, F] == P.p[F]) else 0 * origin


def solve(problem: BoxProblem, F: Any, B: Vector) -> Vector:
    """``X`` with ``M X = B``, M the matrix of the basis with margin set F; of fractions by elimination."""
    A = problem.A[:, F]
    M = np.block([[problem.Q[np.ix_(F, F)], A.T], [A, 0 * problem.e[0][:, None] * problem.e[0]]])
    if M.dtype != object:
        return np.linalg.solve(M, B)
    T, m = np.hstack([M, B]), M.shape[0]
    for k in range(m):
        row = k + int(np.argmax(T[k:, k] != 0))  # of a singular matrix: then the division fails
        T[[k, row]] = T[[row, k]]
        T[k] = T[k] / T[k, k]
        for i in range(m):
            if i != k and T[i, k] != 0:
                T[i] = T[i] - T[i, k] * T[k]
    return T[:, m:]


def first_event(problem: BoxProblem, basis: Any, solution: BasisSolution, t: Number) -> Exchange:
    """The first inequality to be violated after t, of ties that of the lowest index; or the end of the line."""
    P, rounding, free = problem, problem.rounding, basis == MARGIN
    (a, da), (eta, deta), (g, dg) = solution.a, solution.eta, solution.g
    c, dc = (1 - t) * P.c[0] + t * P.c[1], P.c[1] - P.c[0]
    # What must not become negative, and how fast it does: a_i and c_i - a_i in F, g_i on the right, -g_i on the left.
    slack = np.stack([np.where(free, a, g), np.where(free, c - a, -g)])
    speed = np.stack([np.where(free, -da, -dg), np.where(free, da - dc, dg)])
    asked = np.stack([free | (basis == RIGHT), free | (basis == LEFT)])
    noise = 0 * dg
    if rounding is FLOATS:
        terms = abs(P.Q) @ abs(da) + abs(deta) @ abs(P.A)
        noise = np.where(free, rounding.rates * max(abs(da)), rounding.sums * terms)
    unit = np.where(free, max(P.c.max(axis=1)), 1 + abs(g + P.p - eta @ P.A))
    if (asked & (slack < -rounding.inside * unit)).any():
        raise _refuse(t, basis, "the solution left its sets")
    end, before = _end(problem, solution, t)
    events = []
    for where, i in np.argwhere(asked & (speed > noise)):
        at = t + max(slack[where, i], 0 * t) / speed[where, i]
        if at < before:
            events.append(Exchange(at, int(i), MARGIN if not free[i] else (RIGHT, LEFT)[where]))
    for event in sorted(events):
        if free[event.who]:
            return event
        # A newcomer that depends on F rests on its margin: that it moves is rounding.
        pivot, _, negligible = column(problem, basis, event.who)
        if pivot > negligible or abs(dg[event.who]) > 10 * negligible * max(abs(np.append(da, dc))):
            return event
    return Exchange(end)


def _end(problem: BoxProblem, solution: BasisSolution, t: Number) -> tuple[Number, Number]:
    """Where the line is left if nothing happens before, and before what it must happen."""
    rounding, one, late = problem.rounding, 1 + 0 * t, max(problem.late, problem.rounding.late)
    if problem.to_zero:
        total, rate = solution.eta.sum(axis=1)
        if total == 0 or total * (total + (1 + rounding.tie) * (1 - t) * rate) <= 0:
            step = -total / rate if rate != 0 else 0 * t
            # Where e vanishes at the end, so do all multipliers, and this sum with them.
            early = t + step < 1 - (late if any(problem.e[1] != 0) else rounding.tie)
            return t + step if early else one, t + step * (1 - rounding.tie)
    return one, one - late


def column(problem: BoxProblem, basis: Any, i: int) -> tuple[Number, Vector, Number]:
    """How index i depends on F: its pivot, the combination u of F that is nearest, and what of the pivot is noise."""
    F, Q = np.flatnonzero(basis == MARGIN), problem.Q
    right = np.concatenate([Q[F, i], problem.A[:, i]])
    x = solve(problem, F, right[:, None])[:, 0]
    size = (1 + sum(abs(x[: F.size]))) ** 2 * max(Q.diagonal()[[i, *F]])
    return Q[i, i] - right @ x, x[: F.size], problem.rounding.pivot * size


def exchange(problem: BoxProblem, basis: Any, event: Exchange, a: Vector, g: Vector) -> Any:
    """The basis after one of the four exchanges, given multipliers and gradient at the event."""
    i, basis = event.who, basis.copy()
    if basis[i] != MARGIN:
        pivot, u, negligible = column(problem, basis, i)
        if pivot < -negligible:
            raise _refuse(event.t, basis, "the margin system is indefinite: the kernel matrix is not PSD")
        if pivot > negligible:
            basis[i] = MARGIN  # 1
        else:
            _enter_dependent(problem, basis, event, u, a)  # 2
        return basis
    row = next((r for r in range(len(problem.A)) if problem.A[r, i] != 0), None)
    basis[i] = event.to  # 3
    if row is not None and not ((basis == MARGIN) & (problem.A[row] != 0)).any():
        basis[_successor(problem, basis, event, row, g)] = MARGIN  # 4
    return basis


def _enter_dependent(problem: BoxProblem, basis: Any, event: Exchange, u: Vector, a: Vector) -> None:
    """Exchange 2: i moves inwards, F by -u for each unit of it; neither g nor the objective changes."""
    i, F = event.who, np.flatnonzero(basis == MARGIN)
    c = (1 - event.t) * problem.c[0] + event.t * problem.c[1]
    inwards = 1 if basis[i] == RIGHT else -1
    steps = [(c[i], i, LEFT if basis[i] == RIGHT else RIGHT)]  # right through to its own other bound
    for j, v in zip(F, -inwards * u, strict=True):
        if abs(v) > problem.rounding.rates * max(abs(u)):
            room = a[j] if v < 0 else c[j] - a[j]
            steps.append((max(room, 0 * room) / abs(v), int(j), RIGHT if v < 0 else LEFT))
    _, first, bound = min(steps)
    basis[i], basis[first] = MARGIN, bound


def _successor(problem: BoxProblem, basis: Any, event: Exchange, row: int, g: Vector) -> int:
    """Exchange 4: eta takes g of the leaver up if a is 0, down if at its cap; the first on its margin takes over."""
    kappa = problem.A[row]
    moves = kappa * kappa[event.who] * (1 if event.to == RIGHT else -1)
    nearing = np.where(basis == LEFT, moves > 0, (basis == RIGHT) & (moves < 0))
    nearing[event.who] = False
    if not nearing.any():
        raise _refuse(event.t, basis, "no sample can balance the group")
    return min(np.flatnonzero(nearing).tolist(), key=lambda j: (abs(g[j] / kappa[j]), j))


def _refuse(t: Number, basis: Any, cause: str) -> DegeneratePathError:
    remedy, n = "Standardise the features or use a slightly different line.", int((basis == MARGIN).sum())
    return DegeneratePathError(cause, t=float(t), costs="", n_margin=n, remedy=remedy)


def exact(values: Any) -> Vector:
    """Numbers as the fractions that they are: a float is a whole number times a power of two."""
    return np.vectorize(Fraction, otypes=[object])(np.asarray(values).astype(object))
