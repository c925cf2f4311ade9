r"""The judge of any cone program: safe bounds on its optimal value, from raw arrays and the points of any solver.

.. math::

   f^*=\inf_x\ f(x)=\tfrac12x^\top Px+q^\top x\quad\text{s.t.}\quad s=b-Ax\in K,\qquad
   \sup_{y,z}\ -\tfrac12y^\top Py-b^\top z\quad\text{s.t.}\quad Py+q+A^\top z=0,\ z\in K^*.

**From below.** Take any y and any :math:`z\in K^*` and let :math:`r=Py+q+A^\top z`. For a feasible x, convexity gives
:math:`\tfrac12x^\top Px\ge(Py)^\top x-\tfrac12y^\top Py`, and :math:`z^\top(b-Ax)\ge0`. Added up,

.. math:: f(x)\ \ge\ -\tfrac12y^\top Py-b^\top z+r^\top x .

So dual infeasibility r costs :math:`\min r^\top x` over any box that holds the points that matter. Which box? Choose
any
ceiling U. Either :math:`f^*\ge U`, or only points with :math:`f(x)\le U` matter, and a box that holds those is found by
propagating bounds through the constraints and the objective (`implied_box`). The lower bound is the smaller of U and
what the box gives; nothing is assumed of U. Where a variable has no bound and r is not 0 there, the bound is minus
infinity, and ``unabsorbed`` names the variable and its r. Alternating projections between
:math:`\{Py+q+A^\top z=0\}` and :math:`K^*` make r small first; the last one is onto the cone, slightly inwards.

**From above.** The solver's x is moved until s is a little inside the cones. Let B be an approximate right inverse of
the
equations E among the rows. If :math:`\kappa=\|1-A_EB\|<1`, a point :math:`\tilde x` exists that solves them exactly,
with :math:`|\tilde x-x|\le|B|\,\|b_E-A_Ex\|/(1-\kappa)`. If every s that this allows is in its cone, it is feasible,
and f
there is at most f(x) plus what the distance can make of it. Programs without strictly feasible points have no such
bound; ``blocked`` says which block.

**Infeasible.** A :math:`z\in K^*` with :math:`b^\top z=-1` says :math:`(A^\top z)^\top x\le-1` of every feasible x.
With
:math:`A^\top z=0` there is none; with a rest, none in a box where the rest cannot reach -1.

Assumptions: P is positive semidefinite, the arrays are the problem (they are rounded by whoever compiled them), and
arithmetic is double precision rounded to nearest; its errors are bounded by the usual
:math:`k\,\varepsilon\sum|\text{terms}|` and go into r, into s and into the values.

Source: C. Jansson, D. Chaykin, C. Keil, *Rigorous error bounds for the optimal value in semidefinite programming*, SIAM
J. Numer. Anal. 46 (2007), Theorems 3.1 and 4.1; here for every cone, and with boxes found rather than given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from paretoclf.checks import Array, Mask, check_vector
from paretoclf.errors import InputError
from paretoclf.judges.cone_box import implied_box
from paretoclf.judges.cones import Cone, Cones, contains, interior, project, project_dual

_EPS = np.finfo(float).eps

#: Alternating projections end after so many rounds, or when a round gains less than a tenth.
_ROUNDS = 30

#: Stationarity to so much is that of a solver's best: multipliers that are chosen need not be better.
_STATIONARY = 1e-12

#: Rounds after which a choice of multipliers must have gained a tenth.
_STALLED = 10

#: Rounds in which a point is moved into its cones, for each depth.
_INWARDS = 60

#: How far inside its cones a point is moved, relative to 1 + its size, until it is there for sure.
_DEPTHS = (0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6)

#: Equations beyond this number are not proved solvable: it takes a dense inverse.
_DENSE = 2000


@dataclass(frozen=True)
class ConeProgram:
    """``min x'Px/2 + q'x`` subject to ``b - A x`` in the cones.

    Parameters
    ----------
    P, A : arrays or sparse matrices of shape (n, n) and (m, n)
        P symmetric and positive semidefinite.
    q, b : arrays of shape (n,) and (m,)
        Costs and right-hand sides.
    cones : sequence of Cone
        Of the m rows, from the first.

    Raises
    ------
    InputError
        If shapes do not fit, or a number is not finite.
    """

    P: Any = field(repr=False)
    q: Array = field(repr=False)
    A: Any = field(repr=False)
    b: Array = field(repr=False)
    cones: Sequence[Cone] = field(repr=False)

    def __post_init__(self) -> None:
        n, m = np.size(self.q), np.size(self.b)
        for name, shape in (("P", (n, n)), ("A", (m, n))):
            value = sp.csr_array(getattr(self, name), dtype=np.float64)
            if value.shape != shape or not np.isfinite(value.data).all():
                raise InputError(f"{name} must be finite and of shape {shape}, got shape {value.shape}")
            object.__setattr__(self, name, value)
        object.__setattr__(self, "q", check_vector(self.q, n, "q"))
        object.__setattr__(self, "b", check_vector(self.b, m, "b"))
        object.__setattr__(self, "cones", Cones(self.cones))
        if sum(cone.size for cone in self.cones) != m:
            raise InputError(f"cones must have {m} entries together, got {sum(cone.size for cone in self.cones)}")

    def value(self, x: Array) -> float:
        """The objective."""
        return float(0.5 * x @ (self.P @ x) + self.q @ x)

    def moved(self, q: Any, b: Any) -> ConeProgram:
        """The program with other vectors."""
        return ConeProgram(self.P, q, self.A, b, self.cones)


@dataclass(frozen=True)
class ConeBounds:
    """What `cone_bounds` proves.

    Attributes
    ----------
    lower, upper : float
        The optimal value is between them; infinite where that was not proved.
    x, z : arrays of shape (n,) and (m,)
        The points that prove it, as far as they do.
    residual : array of shape (n,)
        What the multipliers z miss of dual feasibility.
    unabsorbed : mapping of int to float
        Variables without a bound, with their part of the residual, for which there is no lower bound.
    blocked : int or None
        The first block whose slack is not certainly in its cone, for which there is no upper bound.
    """

    lower: float
    upper: float
    x: Array = field(repr=False)
    z: Array = field(repr=False)
    residual: Array = field(repr=False)
    unabsorbed: dict[int, float]
    blocked: int | None


def cone_bounds(program: ConeProgram, x: Any, z: Any) -> ConeBounds:
    """Safe bounds on the optimal value, whatever x and z are.

    Parameters
    ----------
    program : ConeProgram
        The problem.
    x, z : arrays of shape (n,) and (m,)
        What a solver calls a solution, and its multipliers; the better they are, the closer the bounds.

    Returns
    -------
    ConeBounds

    Raises
    ------
    InputError
        If a point has another shape, or is not finite.

    Examples
    --------
    The smallest x with x >= 1, from a rough point and a rough multiplier:

    >>> import numpy as np
    >>> from paretoclf.judges.cone import ConeProgram, cone_bounds
    >>> from paretoclf.judges.cones import Cone
    >>> program = ConeProgram([[0.0]], np.ones(1), [[-1.0]], np.array([-1.0]), [Cone("nonnegative", 1)])
    >>> found = cone_bounds(program, [0.999], [1.001])
    >>> bool(found.lower <= 1 <= found.upper)
    True
    >>> bool(found.upper - found.lower < 1e-11)
    True
    """
    x = check_vector(x, program.q.size, "x")
    z = check_vector(z, program.b.size, "z")
    guess = program.value(x)
    lower, z, residual, unabsorbed = _lower(program, x, z, guess + max(1.0, abs(guess)))
    upper, x, blocked = _upper(program, x)
    return ConeBounds(lower, upper, x, z, residual, unabsorbed, blocked)


def refined(program: ConeProgram, y: Array, z: Array) -> tuple[Array, Array]:
    """Alternating projections between ``Py + q + A'z = 0`` and the dual cones; the last is onto the cones."""
    P, A = program.P, program.A
    normal = _factor(P @ P + A.T @ A)
    z = project_dual(z, program.cones)
    best_y, best_z, best = y, z, np.inf
    history: list[float] = []
    for _ in range(_ROUNDS):
        r = P @ y + program.q + A.T @ z
        size = float(np.max(np.abs(r), initial=0.0))
        if size < best:
            best_y, best_z, best = y, z, size
        history.append(best)
        if len(history) > 5 and history[-1] > 0.9 * history[-5]:
            break
        step = normal(r)
        y, z = y - P @ step, project_dual(z - A @ step, program.cones)
    return best_y, best_z


def missed_stationarity(program: ConeProgram, x: Array, z: Array, given: Mask) -> Array:
    """What multipliers miss of ``Px + q + A'z = 0``, where only those in the mask ``given`` are to be judged.

    The others are chosen: alternating projections move them from z towards points of the dual cones that are stationary
    and orthogonal to their slacks. There are some if those given belong to an optimal solution.

    Returns
    -------
    array of shape (n + 1,)
        Relative to the terms; the last entry is the product of the chosen multipliers and their slacks.
    """
    cones, chosen = program.cones, ~given
    slack = np.where(chosen, project(program.b - program.A @ x, cones), 0.0)
    mask = sp.diags_array(chosen.astype(float))
    system = sp.csr_array(sp.hstack([mask @ program.A, sp.csr_array(slack[:, None])]))
    gradient = program.P @ x + program.q
    normal = _factor(system.T @ system)
    best = np.full(x.size + 1, np.inf)
    history: list[float] = []
    for _ in range(4 * _ROUNDS):
        r = np.append(gradient + program.A.T @ z, slack @ z)
        terms = np.append(1 + np.abs(gradient) + abs(program.A).T @ np.abs(z), 1 + np.abs(program.q) @ np.abs(x))
        if np.abs(r / terms).max() < best.max():
            best = np.abs(r / terms)
        history.append(float(best.max()))
        if history[-1] <= _STATIONARY or (len(history) > 2 * _STALLED and history[-1] > 0.9 * history[-_STALLED]):
            break
        z = np.where(chosen, project_dual(z - system @ normal(r), cones), z)
    return best


def _factor(N: Any) -> Any:
    """Solve with a positive semidefinite matrix, regularised at its rounding; projections repeat, so that is enough."""
    diagonal = N.diagonal()
    shift = 1e-13 * float(np.max(diagonal, initial=0.0)) + np.finfo(float).tiny
    return splu(sp.csc_array(N + sp.diags_array(np.full(diagonal.size, shift)))).solve


def _lower(program: ConeProgram, x: Array, z: Array, ceiling: float) -> tuple[float, Array, Array, dict[int, float]]:
    box = implied_box(program.P, program.q, program.A, program.b, program.cones, ceiling)
    if (box[0] > box[1]).any():  # no feasible point below the ceiling at all
        z = project_dual(z, program.cones)
        return ceiling, z, program.P @ x + program.q + program.A.T @ z, {}
    found = [_at(program, *_with_best_y(program, *point), box) for point in ((x, z), refined(program, x, z))]
    value, z, residual, unabsorbed = max(
        found, key=lambda each: (each[0], -float(np.max(np.abs(each[2]), initial=0.0)))
    )
    return min(value, ceiling), z, residual, unabsorbed


def _with_best_y(program: ConeProgram, y: Array, z: Array) -> tuple[Array, Array]:
    """Z in the dual cones, and where P is diagonal the y that leaves no residual there."""
    z = project_dual(z, program.cones)
    diagonal = program.P.diagonal()
    if (program.P - sp.diags_array(diagonal)).nnz == 0:
        bent = diagonal > 0
        g = program.q + program.A.T @ z
        y = np.where(bent, -g / np.where(bent, diagonal, 1.0), 0.0)
    return y, z


def _at(
    program: ConeProgram, y: Array, z: Array, box: tuple[Array, Array]
) -> tuple[float, Array, Array, dict[int, float]]:
    """The bound of one y and one z in the dual cones."""
    P, q, A, b = program.P, program.q, program.A, program.b
    r = P @ y + q + A.T @ z
    long = np.diff(sp.csc_array(A).indptr) + np.diff(sp.csc_array(P).indptr) + 3
    error = long * _EPS * (abs(P) @ np.abs(y) + np.abs(q) + abs(A).T @ np.abs(z))
    corners = [_product(r + e, edge) for e in (-error, error) for edge in box]
    cost = np.minimum.reduce(corners)
    unbounded = np.flatnonzero(~np.isfinite(cost))
    if unbounded.size:
        return -np.inf, z, r, {int(j): float(r[j]) for j in unbounded}
    Py = P @ y
    terms = np.concatenate([-0.5 * y * Py, -b * z, cost])
    inner = float(np.abs(y) @ (abs(P) @ np.abs(y)))
    rounding = 4 * _EPS * (terms.size + long.max(initial=0)) * (float(np.abs(terms).sum()) + inner)
    return float(terms.sum() - rounding), z, r, {}


def _product(r: Array, edge: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.where(r == 0, 0.0, r * edge)


def _upper(program: ConeProgram, x: Array) -> tuple[float, Array, int | None]:
    A, b, cones = program.A, program.b, program.cones
    equations = np.concatenate([np.full(c.size, c.kind == "zero") for c in cones] or [np.zeros(0, bool)]).astype(bool)
    E = A[np.flatnonzero(equations)]
    if E.shape[0] > _DENSE:
        return np.inf, x, 0
    right = np.linalg.pinv(E.toarray()) if E.shape[0] else np.zeros((x.size, 0))
    defect = float(np.abs(E @ right - np.eye(E.shape[0])).sum(axis=1).max(initial=0.0)) + E.shape[0] * x.size * _EPS
    if not defect < 0.5:
        return np.inf, x, 0
    normal, inside = _factor(A.T @ A), interior(cones)
    solved = np.array([cone.kind == "zero" for cone in cones], dtype=bool)
    blocked: int | None = None
    for depth in _DEPTHS:
        x = _deeper(program, x, depth * (1 + np.abs(b - A @ x).max(initial=0.0)) * inside, normal)
        for _ in range(3):
            x = x - right @ (E @ x - b[equations])
        rounded = (np.diff(A.indptr) + 2) * _EPS * (np.abs(b) + abs(A) @ np.abs(x))
        miss = float((np.abs(E @ x - b[equations]) + rounded[equations]).max(initial=0.0)) / (1 - defect)
        away = np.abs(right).sum(axis=1) * miss * (1 + 1e-6)
        s, radius = b - A @ x, (abs(A) @ away) * (1 + 1e-6) + rounded
        wrong = np.flatnonzero(~(contains(s, radius, cones) | solved))
        blocked = int(wrong[0]) if wrong.size else None
        if not wrong.size:
            slope = program.P @ x + program.q
            moved = float(np.abs(slope) @ away + 0.5 * away @ (abs(program.P) @ away))
            terms = float(np.abs(program.q) @ np.abs(x) + np.abs(x) @ (abs(program.P) @ np.abs(x)))
            return program.value(x) + moved * (1 + 1e-6) + 4 * x.size * _EPS * terms, x, None
    return np.inf, x, blocked


def _deeper(program: ConeProgram, x: Array, depth: Array, normal: Any) -> Array:
    """Alternating projections of the slacks onto the cones, shifted inwards, and onto what a point can have.

    Each step goes as far as the distance to the cones allows (Pierra's extrapolation), every third half as far, so that
    it does not zigzag: where faces meet at a sharp angle plain projections take thousands of rounds.
    """
    for k in range(_INWARDS):
        s = program.b - program.A @ x
        gap = s - (project(s - depth, program.cones) + depth)
        if np.abs(gap).max(initial=0.0) <= 0.1 * np.abs(depth).max(initial=0.0):
            break
        step = normal(program.A.T @ gap)
        moved = program.A @ step
        size = float(moved @ moved)
        if size <= np.finfo(float).tiny:
            break
        x = x + float(gap @ gap) / size * (0.5 if k % 3 == 2 else 1.0) * step
    return x


def infeasibility(program: ConeProgram, z: Any) -> tuple[Array, float]:
    """Multipliers in the dual cones with ``b'z = -1``, and how far from the origin they exclude feasible points.

    Returns
    -------
    z : array of shape (m,)
        The certificate.
    reach : float
        No feasible point has every ``|x_j|`` below it; infinite where there is none at all, 0 where nothing is proved.
    """
    nothing = ConeProgram(sp.csr_array(program.P.shape), np.zeros_like(program.q), program.A, program.b, program.cones)
    z = check_vector(z, program.b.size, "z")
    size = -float(program.b @ z)
    if not size > 0:
        return project_dual(z, program.cones), 0.0
    _, z = refined(nothing, np.zeros_like(program.q), z / size)
    size = -float(program.b @ z)
    if not size > 0:
        return z, 0.0
    z = project_dual(z / size, program.cones)
    box = implied_box(nothing.P, nothing.q, nothing.A, nothing.b, nothing.cones)
    if (box[0] > box[1]).any():
        return z, np.inf
    value, _, r, unabsorbed = _at(nothing, np.zeros_like(program.q), z, box)
    if value > 0:
        return z, np.inf
    error = 2 * _EPS * program.b.size * (abs(program.A).T @ np.abs(z))
    total = float((np.abs(r) + error).sum())
    return z, (0.9 / total if unabsorbed and total > 0 else 0.0)
