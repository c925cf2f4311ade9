"""Rays along which an objective has no bound; where all constraints are linear, from a linear program of its own.

A solver's status says that there is a ray, and its last iterate is only near one. Where all constraints are linear the
rays are a polyhedron, and a vertex of it has few digits.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    flat = sp.vstack([sp.csr_array(P), sp.csr_array(equations), sp.csr_array(q.reshape(1, -1))], format="csr")
    used = np.diff(flat.indptr) > 0
    used[-1] = True
    sides = np.zeros(flat.shape[0])
    sides[-1] = -1.0
    flat, above = flat[used], sp.csr_array(above)
    found = linprog(
        np.ones(2 * q.size),
        A_ub=sp.hstack([above, -above]) if above.shape[0] else None,
        b_ub=np.zeros(above.shape[0]) if above.shape[0] else None,
        A_eq=sp.hstack([flat, -flat]),
        b_eq=sides[used],
        method="highs",
    )
    return None if found.x is None else found.x[: q.size] - found.x[q.size :] + 0.0


def words_of_ray(program: ConeProgram, x: Array, columns: Mapping[str, Any], model: Model) -> str:
    """Say along which ray the objective falls, and how nearly it stays in the cones; nothing where none is proved.

    Parameters
    ----------
    program : ConeProgram
    x : array of shape (n,)
        What the solver says to be a ray.
    columns : mapping of str to int array
        Where each variable stands in x.
    model : Model
    """
    side, moves = ("below", "falls") if model.sense > 0 else ("above", "rises")
    d = _ray(program, x)
    fall = -float(program.q @ d)
    if not fall > 0:
        return ""
    d = d / fall
    s = -(program.A @ d)
    off = [float(np.abs(program.P @ d).max(initial=0.0)), float(np.abs(s - project(s, program.cones)).max(initial=0.0))]
    moving = {name: float(np.abs(d[at]).max(initial=0.0)) for name, at in columns.items()}
    along = [name for name, size in sorted(moving.items(), key=lambda kv: -kv[1]) if size > 1e-6 * max(moving.values())]
    if max(off) > CERTIFY or not has_ray(program, d):
        return ""
    return (
        f"Unbounded {side} if feasible: along a ray in {', '.join(along)} the objective {moves} by 1 a step, "
        f"and the constraints are kept to {max(off):.1e}.{_entries(columns, d, model)}"
    )


def _ray(program: ConeProgram, x: Array) -> Array:
    """The solver's ray x, or where all constraints are linear and there is one, a vertex."""
    kinds = np.repeat([cone.kind for cone in program.cones], [cone.size for cone in program.cones])
    if not np.isin(kinds, ("zero", "nonnegative")).all():
        return x
    A = sp.csr_array(program.A)
    found = linear_ray(program.P, program.q, A[kinds == "zero"], A[kinds == "nonnegative"])
    return x if found is None else found


def _entries(columns: Mapping[str, Any], d: Array, model: Model) -> str:
    """A ray of few entries in words, where all variables are numbers or vectors."""
    parts = {name: d[at] for name, at in columns.items()}
    shapes = {name: model.variables[name].shape for name in parts}
    if any(part.size != np.prod(shapes[name]) for name, part in parts.items()):
        return ""
    told = few_numbers({name: part.reshape(shapes[name], order="F") for name, part in parts.items()})
    return f" The ray is {told}." if told else ""


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
