"""Where named numbers stand in a solver's vectors, variables that CVXPY splits into parts among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.solve.models.compiled_readings import raw, whole_variables
from paretoclf.solve.models.model import Model, dense


@dataclass(frozen=True)
class Places:
    """Where the entries of a variable, or of multipliers, stand in a vector, and the factor that each has there.

    An entry that an attribute of its variable makes 0 (``diag=True``, ``sparsity=``) has the factor 0. Complex entries
    are sums over the first axis, of their real and their imaginary part.
    """

    at: Index
    factor: Array


def places_in(model: Model, tensors: Any, chain: Any, inverse: Any) -> dict[str, tuple[int, Any]]:
    """Where in the solver's (x, z) each named number stands.

    Of variables that are not compiled entry by entry, and of multipliers, CVXPY's own inverse tells. It is applied to
    the vectors (1, ..., n) and (1, ..., m), and to vectors of ones: each entry that it returns is then its factor times
    the position from which it was read, and its factor.
    """
    n, m = tensors.x.size, tensors.constr_size

    def back(x: Array, z: Array) -> Any:
        return chain.invert(raw(x, z), inverse)

    numbered = back(np.arange(1.0, n + 1.0), np.arange(1.0, m + 1.0))
    ones = back(np.ones(n), np.ones(m))
    whole = whole_variables(model, tensors, chain)
    found: dict[str, tuple[int, Any]] = {name: (0, Places(at, np.ones(at.shape))) for name, at in whole.items()}
    for name, v in model.variables.items():
        if name not in whole:
            found[name] = 0, _places_of(numbered.primal_vars[v.id], ones.primal_vars[v.id])
    for name, c in model.constraints.items():
        found[name] = 1, _places_of(numbered.dual_vars[c.id], ones.dual_vars[c.id])
    return found


def _places_of(numbered: Any, ones: Any) -> Places | list[Any]:
    """The places that are read off what became of positions, and of ones."""
    if isinstance(numbered, list):
        return [_places_of(*parts) for parts in zip(numbered, ones, strict=True)]
    product, factor = dense(numbered), dense(ones)
    if np.iscomplexobj(product):
        real, imaginary = _places_of(product.real, factor.real), _places_of(product.imag, factor.imag)
        assert isinstance(real, Places)
        assert isinstance(imaginary, Places)
        return Places(np.stack([real.at, imaginary.at]), np.stack([real.factor, 1j * imaginary.factor]))
    used = factor != 0.0
    position = np.where(used, product / np.where(used, factor, 1.0), 1.0)
    return Places(position.round().astype(np.int64) - 1, factor)
