r"""Judge of any cone program: safe bounds on its optimal value, from raw arrays and the points of any solver.

.. math::

   f^*=\inf_x\ f(x)=\tfrac12x^\top Px+q^\top x\quad\text{s.t.}\quad s=b-Ax\in K,\qquad
   \sup_{y,z}\ -\tfrac12y^\top Py-b^\top z\quad\text{s.t.}\quad Py+q+A^\top z=0,\ z\in K^*.

**From below.** Take any y and any :math:`z\in K^*` and let :math:`r=Py+q+A^\top z`. For a feasible x, convexity gives
:math:`\tfrac12x^\top Px\ge(Py)^\top x-\tfrac12y^\top Py`, and :math:`z^\top(b-Ax)\ge0`. Added up,

.. math:: f(x)\ \ge\ -\tfrac12y^\top Py-b^\top z+r^\top x .

So dual infeasibility r costs :math:`\min r^\top x` over any box that holds the points that matter: those with
:math:`f(x)\le U`, U a proved upper bound, or where there is none a ceiling that is above what comes out. A box that
holds those is found by propagating bounds through the constraints and the objective (`implied_box`). Where a variable
has no bound, r must be 0 *exactly*. So the pair (y, z) is enclosed: some solution of the equations r = 0 is within a
known radius of it (`paretoclf.proof.cones.enclosure`), all of its neighbours are in :math:`K^*`, and the bound is that
of the worst of them. Multipliers of constraints that are not active stay 0. What no enclosure proves, as multipliers
are smaller than its radius, fractions may (`paretoclf.proof.cones.exact_corner`). Where nothing helps, the bound is
minus infinity, and ``unabsorbed`` names the variables and their r.

**Convexity is proved, too**: with :math:`P-D` proved positive semidefinite for a diagonal D
(`paretoclf.problem.definite`), a negative entry of D costs :math:`\tfrac12|D_j|\max(x_j-y_j)^2` over the box, and
without a box everything; ``indefinite`` says how much of it there is.

**From above.** If only equations and inequalities are there, the equations and the inequalities that hold with
equality at x are enclosed in the same way; if all the others hold in the whole enclosure, the exact solution is
feasible. If some do not, a linear program finds those that hold with equality at every feasible point, and a direction
into the others. For other cones x is moved until s is a little inside them. In each case f is at most f(x) plus the
change that the radius allows. Dependent equations are decided in fractions. Where this fails, ``blocked`` is the number
of the block.

**Infeasible.** A :math:`z\in K^*` with :math:`b^\top z=-1` says :math:`(A^\top z)^\top x\le-1` of every feasible x.
With :math:`A^\top z=0`, enclosed as above, there is none; with a rest, none in a box where the rest cannot reach -1.

Assumptions: the arrays are the problem (they are rounded by whoever compiled them), and arithmetic is double precision
rounded to nearest; its errors are bounded by the usual :math:`k\,\varepsilon\sum|\text{terms}|`, terms before they
cancel, and go into r, into s and into the values. Equations that contradict each other by their rounding have no point,
and so no upper bound.

Source: C. Jansson, D. Chaykin, C. Keil, *Rigorous error bounds for the optimal value in semidefinite programming*, SIAM
J. Numer. Anal. 46 (2007), Theorems 3.1 and 4.1; here for every cone, and with boxes found rather than given.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Mask, check_vector
from paretoclf.common.tolerances import CERTIFY
from paretoclf.proof.cones.cone_kinds import Cone, project, project_dual
from paretoclf.proof.cones.cone_program import ConeProgram as ConeProgram
from paretoclf.proof.cones.cone_program import factor
from paretoclf.proof.cones.implied_bounds import implied_box
from paretoclf.proof.cones.lower_bound import Below, Box, close, dual_value, lower_bound, refined
from paretoclf.proof.cones.upper_bound import upper_bound

_EPS = np.finfo(float).eps

#: Rounds of the alternating projections that choose multipliers.
_ROUNDS = 120

#: A stationarity residual this small is that of a solver's best: multipliers that are chosen need not be better.
_STATIONARY = 1e-12

#: Rounds in which a choice of multipliers must gain a tenth: as long as it is to get better, and from half of tol on.
_STALLED, _REACHED = 10, 2

#: Ceilings that are tried, each above the bound that the one before gave.
_CEILINGS = 3


@dataclass(frozen=True)
class ConeBounds:
    """Bounds on the optimal value of a cone program, and the points that prove them.

    Attributes
    ----------
    lower, upper : float
        The optimal value is between them; infinite where that was not proved.
    x, z : arrays of shape (n,) and (m,)
        The points that prove it, as far as they do.
    residual : array of shape (n,)
        Dual residual of the multipliers z.
    unabsorbed : mapping of int to float
        Variables without a bound, with their part of the residual, for which there is no lower bound.
    blocked : int or None
        The first block whose slack is not certainly in its cone, for which there is no upper bound.
    indefinite : float
        Size of the negative curvature of P that is not excluded; 0 where P is proved positive semidefinite.
    """

    lower: float
    upper: float
    x: Array = field(repr=False)
    z: Array = field(repr=False)
    residual: Array = field(repr=False)
    unabsorbed: dict[int, float]
    blocked: int | None
    indefinite: float = 0.0


def cone_bounds(
    program: ConeProgram, x: Any, z: Any, more: Iterable[tuple[Any, Any]] = (), tol: float = CERTIFY
) -> ConeBounds:
    """Prove bounds on the optimal value, whatever x and z are: the best of all points.

    Parameters
    ----------
    program : ConeProgram
        The problem.
    x, z : arrays of shape (n,) and (m,)
        A solver's solution and its multipliers; the better they are, the closer the bounds.
    more : iterable of pairs of arrays
        Other such points, asked for one by one as long as the lower bound is not within tol of the upper one, or of
        the objective where there is none.
    tol : float
        Distance of the bounds, relative to their size, that is close enough.

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
    >>> from paretoclf.proof.cones.cone_judge import ConeProgram, cone_bounds
    >>> from paretoclf.proof.cones.cone_kinds import Cone
    >>> program = ConeProgram([[0.0]], np.ones(1), [[-1.0]], np.array([-1.0]), [Cone("nonnegative", 1)])
    >>> found = cone_bounds(program, [0.999], [1.001])
    >>> bool(found.lower <= 1 <= found.upper)
    True
    >>> bool(found.upper - found.lower < 1e-11)
    True
    """
    primal, dual = _checked(program, x, z)
    above = upper_bound(program, primal)
    below = _lower_bound(program, primal, dual, above.value, tol)
    objective, others = program.value(primal), iter(more)
    while True:
        goal = above.value if np.isfinite(above.value) else objective
        if close(below.value, goal, tol):
            break
        point = next(others, None)
        if point is None:
            break
        primal, dual = _checked(program, *point)
        above = min(above, upper_bound(program, primal), key=lambda found: found.value)
        other = _lower_bound(program, primal, dual, above.value, tol)
        below = max(below, other, key=lambda found: found.rank)
    points = above.x, below.z, below.residual
    return ConeBounds(below.value, above.value, *points, below.unabsorbed, above.blocked, program.indefinite)


def _checked(program: ConeProgram, x: Any, z: Any) -> tuple[Array, Array]:
    """Point and multipliers as arrays of the right size, or an `InputError`."""
    return check_vector(x, program.q.size, "x"), check_vector(z, program.b.size, "z")


def _lower_bound(program: ConeProgram, x: Array, z: Array, upper: float, tol: float) -> Below:
    """Bound of multipliers over a box under a proved upper bound, or else under a ceiling that is above the bound."""
    guess = program.value(x)
    if np.isfinite(upper):
        return lower_bound(program, x, z, _box(program, upper), upper, tol)
    ceiling = guess + max(1.0, abs(guess))
    for _ in range(_CEILINGS):
        found = lower_bound(program, x, z, _box(program, ceiling), guess, tol)
        if found.value < ceiling:
            return found
        ceiling = found.value + max(1.0, abs(found.value))
    return lower_bound(program, x, z, _box(program, np.inf), guess, tol)


def _box(program: ConeProgram, ceiling: float) -> Box:
    """Box of the points that matter: feasible ones with an objective of at most the ceiling."""
    return Box.of(*implied_box(program, ceiling))


def chosen_multipliers(
    program: ConeProgram, x: Array, z: Array, given: Mask, tol: float = CERTIFY
) -> tuple[Array, Array]:
    """Multipliers with ``Px + q + A'z = 0``, as nearly as can be, where those in the mask ``given`` stay as they are.

    The others are chosen: alternating projections move them from z towards points of the dual cones that are stationary
    and orthogonal to their slacks, while that pays: residuals need not be far below tol. There are some if those given
    belong to an optimal solution.

    Returns
    -------
    z : array of shape (m,)
    missed : array of shape (n + 1,)
        Residual relative to the terms; the last entry is the product of the chosen multipliers and their slacks.
    """
    chosen = ~given
    nearest = project(program.b - program.A @ x, program.cones)
    slack = np.where(chosen, nearest, 0.0)
    gradient = program.P @ x + program.q
    # Stationarity, and one more equation that makes the product with slacks 0.
    mask = sp.diags_array(chosen.astype(float))
    of_slacks = sp.csr_array(slack[:, None])
    system = sp.csr_array(sp.hstack([mask @ program.A, of_slacks]))
    normal = factor(system.T @ system)
    objective_terms = 1 + np.abs(program.q) @ np.abs(x)
    fixed_terms = np.append(1 + np.abs(gradient), objective_terms)
    best, best_z = np.full(x.size + 1, np.inf), z
    history: list[float] = []
    for _ in range(_ROUNDS):
        residual = np.append(gradient + program.back @ z, slack @ z)
        terms = fixed_terms + np.append(program.sizes[2] @ np.abs(z), 0.0)
        relative = np.abs(residual / terms)
        if relative.max() < best.max():
            best, best_z = relative, z
        history.append(float(best.max()))
        rounds = _REACHED if history[-1] <= 0.5 * tol else _STALLED
        stalled = len(history) > 2 * rounds and history[-1] > 0.9 * history[-rounds]
        if history[-1] <= _STATIONARY or stalled or not chosen.any():
            break
        moved = z - system @ normal(residual)
        z = np.where(chosen, project_dual(moved, program.cones), z)
    return best_z, best


def infeasibility(program: ConeProgram, z: Any) -> tuple[Array, float]:
    """Multipliers in the dual cones with ``b'z = -1``, and how far from the origin they exclude feasible points.

    Returns
    -------
    z : array of shape (m,)
        The certificate.
    reach : float
        No feasible point has every ``|x_j|`` below it; infinite where there is none at all, 0 where nothing is proved.
    """
    columns = program.q.size
    origin, nothing = np.zeros(columns), sp.csr_array((columns, columns))
    no_objective = ConeProgram(nothing, origin, program.A, program.b, program.cones)
    multipliers = check_vector(z, program.b.size, "z")
    size = -float(program.b @ multipliers)
    if not size > 0:
        return project_dual(multipliers, program.cones), 0.0
    _, multipliers = refined(no_objective, origin, multipliers / size)
    size = -float(program.b @ multipliers)
    if not size > float(np.abs(multipliers).max()) / np.finfo(float).max:  # else quotients are not finite
        return multipliers, 0.0
    multipliers = project_dual(multipliers / size, program.cones)
    found = lower_bound(no_objective, origin, multipliers, _box(no_objective, np.inf), 0.0)
    if found.value > 0:
        return found.z, np.inf
    everywhere = Box(np.full(columns, -np.inf), np.full(columns, np.inf))
    residual = dual_value(no_objective, origin, multipliers, everywhere).residual
    terms = program.sizes[2] @ np.abs(multipliers)
    rounding = 2 * _EPS * program.b.size * terms
    total = float((np.abs(residual) + rounding).sum())
    return multipliers, (0.9 / total if total > 0 else 0.0)


def has_ray(program: ConeProgram, d: Any) -> bool:
    """Whether next to d there is a ray along which the objective falls by 1 a step, within all cones: proved.

    A ray that is nearly one decides nothing: the objective may turn, or a constraint be met, far out.

    Examples
    --------
    The smallest -x with 1e-10 x <= 1 is bounded, though a step of 1 misses the constraint by 1e-10 only:

    >>> import numpy as np
    >>> from paretoclf.proof.cones.cone_judge import ConeProgram, has_ray
    >>> from paretoclf.proof.cones.cone_kinds import Cone
    >>> program = ConeProgram([[0.0]], np.array([-1.0]), [[1e-10]], np.array([1.0]), [Cone("nonnegative", 1)])
    >>> has_ray(program, [1.0])
    False
    """
    columns = program.q.size
    # Rows Pd = 0 and q'd = -1, and -Ad in the cones.
    falls = sp.csr_array(program.q[None, :])
    rows = sp.csr_array(sp.vstack([program.P, falls, program.A]))
    sides = np.concatenate([np.zeros(columns), [-1.0], np.zeros(program.b.size)])
    cones = [Cone("zero", columns + 1), *program.cones]
    rays = ConeProgram(sp.csr_array((columns, columns)), np.zeros(columns), rows, sides, cones)
    return bool(np.isfinite(upper_bound(rays, check_vector(d, columns, "d")).value))
