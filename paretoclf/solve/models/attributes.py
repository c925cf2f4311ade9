"""Attributes of a variable as constraints with names: ``x: nonneg``, ``x: lower bound``, ``M: PSD``.

CVXPY compiles them to constraints of its own, whose multipliers it does not keep: they are read on its way back. That a
matrix is symmetric, diagonal or has a pattern of zeros leaves it fewer numbers, and is no constraint of these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index
from paretoclf.engine.reduction.program import Reading
from paretoclf.solve.models.compiled_readings import raw, readings
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Model

#: Attributes that say a sign: those of at least 0, and of at most 0. CVXPY makes one constraint of each kind.
SIGNS = (("nonneg", "pos"), ("nonpos", "neg"))

#: Bounds, as they are called in names.
SIDES = ("lower bound", "upper bound")


def attribute_constraints(variable: Any) -> dict[str, Any]:
    """The constraints that a variable's attributes are, by name; signs and bounds before a semidefinite one.

    Of bounds some of which are infinite, the constraint is of the other entries.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.models.attributes import attribute_constraints
    >>> x = cp.Variable(2, bounds=[0, 1], name="x")
    >>> [f"{name}: {constraint}" for name, constraint in attribute_constraints(x).items()]
    ['x: lower bound: 0.0 <= x', 'x: upper bound: x <= 1.0']
    """
    kinds = [*_entry_by_entry(variable), *_semidefinite(variable)]
    names = [f"{variable.name()}: {kind}" for kind in kinds]
    return dict(zip(names, variable.domain, strict=True))


def as_compiled(variable: Any) -> list[str]:
    """Names of the same constraints in the order in which CVXPY compiles them."""
    return [f"{variable.name()}: {kind}" for kind in (*_semidefinite(variable), *_entry_by_entry(variable))]


def _entry_by_entry(variable: Any) -> list[str]:
    """Attributes that bound entries."""
    said = variable.attributes
    found = [next(kind for kind in kinds if said[kind]) for kinds in SIGNS if any(said[kind] for kind in kinds)]
    if said["bounds"]:
        found += [side for side, bound in zip(SIDES, variable.bounds, strict=True) if _is_a_bound(bound)]
    return found


def _semidefinite(variable: Any) -> list[str]:
    """Attributes that bound eigenvalues."""
    return [kind for kind in ("PSD", "NSD") if variable.attributes[kind]]


def _is_a_bound(bound: Any) -> bool:
    """Whether an entry of a bound is finite; one that moves counts as finite."""
    return isinstance(bound, cp.Expression) or bool(np.isfinite(_numbers(bound)).any())


def _numbers(bound: Any) -> Any:
    """The numbers of a bound, which may be a sparse array."""
    return bound.data if sp.issparse(bound) else np.asarray(bound, dtype=float)


def bounded_entries(variable: Any, name: str) -> Index:
    """Places, in NumPy's order, of the entries that a constraint of a variable's attributes is of."""
    every = np.arange(variable.size)
    kind = name.removeprefix(f"{variable.name()}: ")
    if kind not in SIDES:
        return every
    bound = variable.bounds[SIDES.index(kind)]
    if isinstance(bound, cp.Expression) or np.ndim(bound) == 0:
        return every
    if sp.issparse(bound):
        entries = sp.coo_array(bound)
        places = np.ravel_multi_index(entries.coords, variable.shape)
        return np.asarray(places[np.isfinite(entries.data)])
    return np.flatnonzero(np.isfinite(_numbers(bound)))


# --- Their multipliers in a compiled program --------------------------------------------------------------------------


def readings_of_attributes(model: Model, chain: Any, inverse: Any, n: int, m: int) -> dict[str, Reading]:
    """Where the multipliers of what attributes of variables say stand in z, by the names of these constraints.

    They have the shapes of the variables; an entry without a bound has the multiplier 0.
    """
    compiled = _attributes_as_compiled(model, chain, inverse)
    if not compiled:
        return {}
    found = readings(compiled, lambda z: _multipliers_before(chain, inverse, np.zeros(n), z), m)
    whole = {}
    for name, reading in found.items():
        variable = model.variables[name.rpartition(": ")[0]]
        whole[name] = _of_all_entries(reading, variable, name)
    return {name: reading for name, reading in whole.items() if name not in model.constraints}


def _of_all_entries(reading: Reading, variable: Any, name: str) -> Reading:
    """A reading in the shape of a variable, of multipliers that some of its entries have."""
    entries = bounded_entries(variable, name)
    place, factor = np.zeros(variable.size, dtype=np.int64), np.zeros(variable.size)
    place[entries] = reading.place
    factor[entries] = reading.factor
    return Reading(tuple(variable.shape), place, factor)


def _attributes_as_compiled(model: Model, chain: Any, inverse: Any) -> dict[str, Any]:
    """The constraints that CVXPY made of attributes, by their names."""
    steps = list(zip(chain.reductions, inverse, strict=True))
    at = [k for k, (step, known) in enumerate(steps) if _is_of_attributes(step) and known]
    if not at:
        return {}
    of_new, _, kept = steps[at[0]][1]
    after = next(known for _, known in steps[at[0] + 1 :] if hasattr(known, "id2cons"))
    theirs = set(kept.values())
    name_of = {v.id: name for name, v in model.variables.items()}
    old_of = {new.id: old for old, new in of_new.items()}
    made: dict[str, list[Any]] = {}
    for constraint in after.id2cons.values():  # in their order
        if constraint.id not in theirs:
            (variable,) = constraint.variables()
            name = name_of.get(old_of.get(variable.id, -1))
            if name is not None:
                made.setdefault(name, []).append(constraint)
    found: dict[str, Any] = {}
    for name, constraints in made.items():
        found |= zip(as_compiled(model.variables[name]), constraints, strict=True)
    return found


def _is_of_attributes(step: Any) -> bool:
    """Whether a step of CVXPY's makes constraints of attributes."""
    return type(step).__name__ == "CvxAttr2Constr"


def _multipliers_before(chain: Any, inverse: Any, x: Array, z: Array) -> dict[int, Any]:
    """Multipliers of the problem whose attributes have become constraints, by the ids of these."""
    solution = raw(x, z)
    for step, known in reversed(list(zip(chain.reductions, inverse, strict=True))):
        if _is_of_attributes(step):
            break
        solution = step.invert(solution, known)
    return dict(solution.dual_vars or {})
