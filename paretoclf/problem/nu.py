r"""Both pairs of parameters of the 2nu-SVM, with caps and costs that belong to them: numbers of two class sizes.

Davenport, Baraniuk & Scott (2010), Propositions 2 and 3. In place of :math:`\nu` and the asymmetry :math:`\gamma`:

.. math:: \nu_+=\frac{\nu n}{2\gamma n_+},\qquad\nu_-=\frac{\nu n}{2(1-\gamma)n_-} .
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.problem.costs import Costs


def to_classes(nu: float, asymmetry: float, n_plus: int, n_minus: int) -> tuple[float, float]:
    """Convert ``(nu, asymmetry)`` to ``(nu_plus, nu_minus)``."""
    total = nu * (n_plus + n_minus)
    return total / (2 * asymmetry * n_plus), total / (2 * (1 - asymmetry) * n_minus)


def to_asymmetry(nu_plus: Any, nu_minus: Any, n_plus: int, n_minus: int) -> tuple[Any, Any]:
    """Convert ``(nu_plus, nu_minus)``, numbers or arrays, to ``(nu, asymmetry)``."""
    plus, minus = nu_plus * n_plus, nu_minus * n_minus
    both = plus + minus
    nu = 2 * plus * minus / (both * (n_plus + n_minus))
    return nu, minus / both


def caps_of(asymmetry: float | Array, y: Array) -> Array:
    """Upper bounds of the multipliers, shape (n,); at k asymmetries (n, k)."""
    positive = (y > 0).reshape(-1, *[1] * np.ndim(asymmetry))
    return np.where(positive, asymmetry, 1 - asymmetry) / y.size


def nu_max(asymmetry: float, n_plus: int, n_minus: int) -> float:
    """Largest feasible ``nu`` (Proposition 2)."""
    return 2 * min(asymmetry * n_plus, (1 - asymmetry) * n_minus) / (n_plus + n_minus)


def equivalent_costs(asymmetry: float, rho: float, n: int) -> Costs | None:
    """Costs at which the 2C-SVM has the same classifier, divided by rho (Theorem 2); None where rho is 0."""
    unit = rho * n
    return Costs(asymmetry / unit, (1 - asymmetry) / unit) if rho > 0 else None
