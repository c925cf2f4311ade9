r"""The judge of any cone program: safe bounds on its optimal value, from raw arrays and the points of any solver.

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
known radius of it (`paretoclf.proof.points.enclosure`), all of its neighbours are in :math:`K^*`, and the bound is that
of the worst of them. Multipliers of constraints that are not active stay 0. What no enclosure proves, as multipliers
are smaller than its radius, fractions may (`paretoclf.proof.points.corner`). Where nothing helps, the bound is minus
infinity, and ``unabsorbed`` names the variables and their r.

**Convexity is proved, too**: with :math:`P-D` proved positive semidefinite for a diagonal D
(`paretoclf.problem.definite`), a negative entry of D costs :math:`\tfrac12|D_j|\max(x_j-y_j)^2` over the box, and
without a box everything; ``indefinite`` says how much of it there is.

**From above.** If only equations and inequalities are there, the equations and the inequalities that hold with
equality at x are enclosed in the same way; if all the others hold in the whole enclosure, the exact solution is
feasible. If some do not, a linear program finds those that hold with equality at every feasible point, and a direction
into the others.
Other cones: x is moved until s is a little inside them. In each case f is at most f(x) plus what the radius can make
of it. Dependent equations are decided in fractions. Where this fails, ``blocked`` says which block.

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
from paretoclf.proof.points.cone_box import implied_box
from paretoclf.proof.points.cone_lower import Below, Box, close, dual_value, lower_bound, refined
from paretoclf.proof.points.cone_program import ConeProgram as ConeProgram
from paretoclf.proof.points.cone_program import factor
from paretoclf.proof.points.cone_upper import upper_bound
from paretoclf.proof.points.cones import Cone, project, project_dual

_EPS = np.finfo(float).eps

#: Rounds of the alternating projections that choose multipliers.
_ROUNDS = 120

#: Stationarity to so much is that of a solver's best: multipliers that are chosen need not be better.
_STATIONARY = 1e-12

#: Rounds after which a choice of multipliers must have gained a tenth.
_STALLED = 10

#: Ceilings that are tried, each above the bound that the one before gave.
_CEILINGS = 3


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
    indefinite : float
        By how much P is not proved positive semidefinite; 0 where it is.
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
    """Safe bounds on the optimal value, whatever x and z are: the best of all points.

    Parameters
    ----------
    program : ConeProgram
        The problem.
    x, z : arrays of shape (n,) and (m,)
        What a solver calls a solution, and its multipliers; the better they are, the closer the bounds.
    more : iterable of pairs of arrays
        Other such points, asked for one by one as long as the lower bound is away from the upper one, or from the
        objective where there is none.
    tol : float
        By how much it may be, relative to its size.

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
    >>> from paretoclf.proof.points.cone import ConeProgram, cone_bounds
    >>> from paretoclf.proof.points.cones import Cone
    >>> program = ConeProgram([[0.0]], np.ones(1), [[-1.0]], np.array([-1.0]), [Cone("nonnegative", 1)])
    >>> found = cone_bounds(program, [0.999], [1.001])
    >>> bool(found.lower <= 1 <= found.upper)
    True
    >>> bool(found.upper - found.lower < 1e-11)
    True
    """
    x, z = _checked(program, x, z)
    above = upper_bound(program, x)
    below = _below(program, x, z, above.value, tol)
    goal, others = program.value(x), iter(more)
    while not close(below.value, above.value if np.isfinite(above.value) else goal, tol):
        if (point := next(others, None)) is None:
            break
        x, z = _checked(program, *point)
        above = min(above, upper_bound(program, x), key=lambda found: found.value)
        below = max(below, _below(program, x, z, above.value, tol), key=lambda found: found.rank)
    return ConeBounds(
        below.value, above.value, above.x, below.z, below.residual, below.unabsorbed, above.blocked, program.indefinite
    )


def _checked(program: ConeProgram, x: Any, z: Any) -> tuple[Array, Array]:
    return check_vector(x, program.q.size, "x"), check_vector(z, program.b.size, "z")


def _below(program: ConeProgram, x: Array, z: Array, upper: float, tol: float) -> Below:
    """The bound of multipliers, over a box under a proved upper bound, or else under a ceiling that is above it."""
    guess = program.value(x)
    ceiling = upper if np.isfinite(upper) else guess + max(1.0, abs(guess))
    for _ in range(_CEILINGS):
        found = lower_bound(program, x, z, _box(program, ceiling), upper if np.isfinite(upper) else guess, tol)
        if found.value < ceiling or np.isfinite(upper):
            return found
        ceiling = found.value + max(1.0, abs(found.value))
    return lower_bound(program, x, z, _box(program, np.inf), guess, tol)


def _box(program: ConeProgram, ceiling: float) -> Box:
    """Where the points are that matter. Bounds that contradict each other by their rounding hold both ends."""
    low, high = implied_box(program, ceiling)
    return Box(np.minimum(low, high), np.maximum(low, high))


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
    back = sp.csr_array(program.A.T)
    sizes, fixed = abs(back), np.append(1 + np.abs(gradient), 1 + np.abs(program.q) @ np.abs(x))
    normal = factor(system.T @ system)
    best = np.full(x.size + 1, np.inf)
    history: list[float] = []
    for _ in range(_ROUNDS):
        r = np.append(gradient + back @ z, slack @ z)
        terms = fixed + np.append(sizes @ np.abs(z), 0.0)
        if np.abs(r / terms).max() < best.max():
            best = np.abs(r / terms)
        history.append(float(best.max()))
        stalled = len(history) > 2 * _STALLED and history[-1] > 0.9 * history[-_STALLED]
        if history[-1] <= _STATIONARY or stalled or not chosen.any():
            break
        z = np.where(chosen, project_dual(z - system @ normal(r), cones), z)
    return best


def infeasibility(program: ConeProgram, z: Any) -> tuple[Array, float]:
    """Multipliers in the dual cones with ``b'z = -1``, and how far from the origin they exclude feasible points.

    Returns
    -------
    z : array of shape (m,)
        The certificate.
    reach : float
        No feasible point has every ``|x_j|`` below it; infinite where there is none at all, 0 where nothing is proved.
    """
    n = program.q.size
    nothing = ConeProgram(sp.csr_array((n, n)), np.zeros(n), program.A, program.b, program.cones)
    z = check_vector(z, program.b.size, "z")
    size = -float(program.b @ z)
    if not size > 0:
        return project_dual(z, program.cones), 0.0
    _, z = refined(nothing, np.zeros(n), z / size)
    size = -float(program.b @ z)
    if not size > float(np.abs(z).max()) / np.finfo(float).max:  # the quotients are none, either
        return z, 0.0
    z = project_dual(z / size, program.cones)
    found = lower_bound(nothing, np.zeros(n), z, _box(nothing, np.inf), 0.0)
    if found.value > 0:
        return found.z, np.inf
    everywhere = Box(np.full(n, -np.inf), np.full(n, np.inf))
    r = dual_value(nothing, np.zeros(n), z, everywhere).residual
    error = 2 * _EPS * program.b.size * (abs(program.A).T @ np.abs(z))
    total = float((np.abs(r) + error).sum())
    return z, (0.9 / total if total > 0 else 0.0)


def has_ray(program: ConeProgram, d: Any) -> bool:
    """Whether next to d there is a ray along which the objective falls by 1 a step, within all cones: proved.

    A ray that is nearly one decides nothing: the objective may turn, or a constraint be met, far out.

    Examples
    --------
    The smallest -x with 1e-10 x <= 1 is bounded, though a step of 1 misses the constraint by 1e-10 only:

    >>> import numpy as np
    >>> from paretoclf.proof.points.cone import ConeProgram, has_ray
    >>> from paretoclf.proof.points.cones import Cone
    >>> program = ConeProgram([[0.0]], np.array([-1.0]), [[1e-10]], np.array([1.0]), [Cone("nonnegative", 1)])
    >>> has_ray(program, [1.0])
    False
    """
    n, m = program.q.size, program.b.size
    nothing, falls = sp.csr_array((n, n)), sp.csr_array(program.q[None, :])
    rows = sp.csr_array(sp.vstack([program.P, falls, program.A]))
    sides = np.concatenate([np.zeros(n), [-1.0], np.zeros(m)])
    rays = ConeProgram(nothing, np.zeros(n), rows, sides, [Cone("zero", n + 1), *program.cones])
    return bool(np.isfinite(upper_bound(rays, check_vector(d, n, "d")).value))
