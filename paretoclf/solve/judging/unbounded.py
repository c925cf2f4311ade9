"""Rays along which an objective has no bound; where all constraints are linear, from a linear program of its own.

A solver's status says that there is a ray, and its last iterate is only near one. Where all constraints are linear the
rays are a polyhedron, and a vertex of it has few digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import CERTIFY
from paretoclf.proof.cones.cone_judge import has_ray
from paretoclf.proof.cones.cone_kinds import project
from paretoclf.proof.cones.cone_program import ConeProgram
from paretoclf.solve.models.model import Model

#: Numbers of a ray that are told.
_SHOWN = 6

#: A variable stands still along a ray if it moves by less than this share of the one that moves most.
_STANDS = 1e-6


def linear_ray(P: Any, q: Array, equations: Any, above: Any) -> Array | None:
    r"""Direction along which a program falls by 1 a step for ever; None where HiGHS finds none.

    Of all d with :math:`Pd=0`, :math:`q^\top d=-1`, ``equations @ d == 0`` and ``above @ d <= 0`` it is one with the
    least sum of sizes. It is not proved: whoever takes it has it judged.

    Parameters
    ----------
    P : sparse array of shape (n, n)
    q : array of shape (n,)
    equations, above : sparse array of shape (k, n)

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from paretoclf.solve.judging.unbounded import linear_ray
    >>> none = sp.csr_array((0, 2))
    >>> linear_ray(sp.diags_array([0.0, 1.0]), np.array([2.0, -1.0]), none, none).tolist()
    [-0.5, 0.0]
    >>> linear_ray(sp.eye_array(2), np.array([2.0, -1.0]), none, none) is None
    True
    """
    held = sp.csr_array(sp.vstack([sp.csr_array(P), sp.csr_array(equations)]))
    held = held[np.diff(held.indptr) > 0]  # rows of zeros say nothing
    rows = sp.vstack([held, sp.csr_array(q[None])])
    sides = np.append(np.zeros(held.shape[0]), -1.0)
    above = sp.csr_array(above)
    # The sum of sizes is linear in what is up and what is down of a direction, neither of them negative.
    found = linprog(
        np.ones(2 * q.size),
        A_ub=sp.hstack([above, -above]) if above.shape[0] else None,
        b_ub=np.zeros(above.shape[0]) if above.shape[0] else None,
        A_eq=sp.hstack([rows, -rows]),
        b_eq=sides,
        method="highs",
    )
    if found.x is None:
        return None
    up, down = np.split(found.x, 2)
    return np.asarray(up - down + 0.0)  # no -0


@dataclass(frozen=True)
class ProvedRay:
    """Direction along which an objective has no bound from any feasible point: next to it there is such a ray.

    Attributes
    ----------
    direction : mapping of str to array
        By variables, in their shapes; of one that CVXPY does not compile entry by entry, as a complex one, the numbers
        that it compiles it to, in a row.
    missed : float
        The most by which a step leaves the constraints, or by which the objective's gradient turns.
    sense : {1, -1}
        -1 of a maximisation, whose objective rises.
    fall : float
        So much does the objective fall a step.
    """

    direction: Mapping[str, Array]
    missed: float
    sense: int
    fall: float = 1.0

    @property
    def side(self) -> str:
        """On which side the objective has no bound."""
        return "below" if self.sense > 0 else "above"

    @property
    def moving(self) -> list[str]:
        """Variables that move along it, those that move most first."""
        sizes = {name: float(np.abs(entries).max(initial=0.0)) for name, entries in self.direction.items()}
        least = _STANDS * max(sizes.values())
        return sorted((name for name, size in sizes.items() if size > least), key=lambda name: -sizes[name])

    def __str__(self) -> str:
        moves = "falls" if self.sense > 0 else "rises"
        along = f"along a ray in {', '.join(self.moving)} the objective {moves} by {self.fall:.4g} a step"
        told = few_numbers(self.direction)
        entries = f". The ray is {told}" if told else ""
        return f"{along}, and the constraints are kept to {self.missed:.1e}{entries}"


def proved_ray(program: ConeProgram, x: Array, columns: Mapping[str, Any], model: Model) -> ProvedRay | None:
    """Ray along which the objective falls by 1 a step; None where none is proved.

    Parameters
    ----------
    program : ConeProgram
    x : array of shape (n,)
        What the solver says to be a ray.
    columns : mapping of str to int array
        Where each variable stands in x.
    model : Model
    """
    d = _ray(program, x)
    fall = -float(program.q @ d)
    if not fall > 0:
        return None
    d = d / fall
    missed = max(_turn(program, d), _outside(program, d))
    if missed > CERTIFY or not has_ray(program, d):
        return None
    direction = {name: _in_shape(d[at], model.variables[name].shape) for name, at in columns.items()}
    return ProvedRay(direction, missed, model.sense)


def _ray(program: ConeProgram, x: Array) -> Array:
    """The solver's ray x, or where all constraints are linear and there is one, a vertex."""
    kinds = np.repeat([cone.kind for cone in program.cones], [cone.size for cone in program.cones])
    if not np.isin(kinds, ("zero", "nonnegative")).all():
        return x
    A = sp.csr_array(program.A)
    found = linear_ray(program.P, program.q, A[kinds == "zero"], A[kinds == "nonnegative"])
    return x if found is None else found


def _turn(program: ConeProgram, d: Array) -> float:
    """The most by which an entry of the objective's gradient changes in a step."""
    return float(np.abs(program.P @ d).max(initial=0.0))


def _outside(program: ConeProgram, d: Array) -> float:
    """The most by which a step from the tip of the cones leaves them."""
    s = -(program.A @ d)
    return float(np.abs(s - project(s, program.cones)).max(initial=0.0))


def _in_shape(numbers: Array, shape: tuple[int, ...]) -> Array:
    """The compiled numbers of a variable as its entries; in a row where they are not one for one."""
    return numbers.reshape(shape, order="F") if numbers.size == np.prod(shape) else numbers[None]


def few_numbers(parts: Mapping[str, Array]) -> str:
    """Return numbers and vectors by name in words; nothing where they are many, or one is a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.solve.judging.unbounded import few_numbers
    >>> few_numbers({"x": np.array([1.0, 0.5]), "y": np.array(-3.0)})
    'x = [1, 0.5], y = -3'
    >>> few_numbers({"x": np.ones(7)})
    ''
    """
    if sum(part.size for part in parts.values()) > _SHOWN or any(part.ndim > 1 for part in parts.values()):
        return ""
    return ", ".join(f"{name} = {_told(part)}" for name, part in parts.items())


def _told(part: Array) -> str:
    """A number, or a vector, in ten digits."""
    numbers = ", ".join(f"{number:.10g}" for number in part.ravel())
    return f"[{numbers}]" if part.ndim else numbers
