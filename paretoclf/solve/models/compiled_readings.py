"""Where the user's variables and multipliers stand in the vectors of a compiled program.

CVXPY's own way back into the problem is applied to vectors whose entries say where they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import InputError
from paretoclf.engine.reduction.program import Reading
from paretoclf.solve.models.model import Model, dense

#: Attributes that CVXPY does not compile entry by entry.
_OTHER = ("diag", "symmetric", "sparsity", "PSD", "NSD", "complex", "imag", "hermitian")


def readings_of_variables(model: Model, tensors: Any, chain: Any, inverse: Any) -> dict[str, Reading]:
    """Where the entries of each variable stand in x."""
    n, m = tensors.x.size, tensors.constr_size
    found = {
        name: Reading(place.shape, place.ravel(), np.ones(place.size))
        for name, place in whole_variables(model, tensors, chain).items()
    }
    others = {name: variable for name, variable in model.variables.items() if name not in found}
    if others:
        found |= readings(others, lambda x: _inverted(chain, inverse, x, np.zeros(m)).primal_vars, n)
    for name in others:
        if name not in found:
            raise InputError(f"variable {name} must stand entry by entry in the program that CVXPY compiles")
    return {name: found[name] for name in model.variables}


def whole_variables(model: Model, tensors: Any, chain: Any) -> dict[str, Index]:
    """Where variables stand in x that are compiled entry by entry: column by column, in their shape.

    CVXPY's way back moves values into bounds, and does not tell.
    """
    columns, renamed, found = tensors.var_id_to_col, chain.compose_var_id_map(), {}
    for name, variable in model.variables.items():
        own = [columns[i] for i in renamed.get(variable.id, [variable.id]) if i in columns]
        if not any(variable.attributes[kind] for kind in _OTHER) and len(own) == 1:
            found[name] = own[0] + np.arange(variable.size).reshape(variable.shape, order="F")
    return found


def readings_of_constraints(model: Model, chain: Any, inverse: Any, n: int, m: int) -> dict[str, Reading]:
    """Where the multipliers of each of the user's constraints stand in z, as far as they stand entry by entry."""
    return readings(model.constraints, lambda z: _inverted(chain, inverse, np.zeros(n), z).dual_vars, m)


def _inverted(chain: Any, inverse: Any, x: Array, z: Array) -> Any:
    """CVXPY's own way back from a solver's vectors."""
    return chain.invert(raw(x, z), inverse)


def raw(x: Array, z: Array) -> Any:
    """Vectors as Clarabel returns them."""
    return SimpleNamespace(x=x, z=z, status="Solved", obj_val=0.0, solve_time=0.0, iterations=0)


def readings(leaves: Mapping[str, Any], back: Any, size: int) -> dict[str, Reading]:
    """Where their entries stand in a vector: CVXPY's way back, applied to 1, ..., size; only what is so read."""
    probe = np.random.default_rng(0).normal(size=size)
    numbered, ones, tried = (back(v) or {} for v in (np.arange(1.0, size + 1), np.ones(size), probe))
    found = {}
    for name, leaf in leaves.items():
        if leaf.id not in numbered or isinstance(numbered[leaf.id], list | tuple):  # of a cone with several parts
            continue
        at, factor, there = (np.asarray(dense(each[leaf.id]), dtype=np.float64) for each in (numbered, ones, tried))
        used = factor != 0.0
        place = np.where(used, at / np.where(used, factor, 1.0), 1.0).round().astype(np.int64).ravel() - 1
        if at.size != leaf.size or place.min(initial=0) < 0 or place.max(initial=0) >= size:
            continue
        # A second-order cone has as many multipliers as entries, but the shape of its first argument.
        shape = tuple(leaf.shape) if math.prod(leaf.shape) == at.size else at.shape
        reading = Reading(shape, place, factor.ravel())
        if np.allclose(reading.of(probe).ravel(), there.ravel(), rtol=1e-14, atol=0.0):
            found[name] = reading
    return found
