"""Adaptive quadrature of several functions at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import roots_legendre

from paretoclf.common.checks import Array
from paretoclf.common.errors import SolveError

_NODES, _WEIGHTS = roots_legendre(16)
#: Halvings of a panel; a double has no more digits than these.
_ROUNDS = 50
#: Largest difference of a panel and its halves, relative to the largest integral.
_AGREE = 1e-13


def integrate(functions: Callable[[Array], Array], edges: Array) -> Array:
    """Integrals of functions over [edges[0], edges[-1]].

    Sixteen nodes of Gauss and Legendre on each panel between two edges; a panel is halved until its halves agree with
    it, within 1e-13 of the largest of the integrals.

    Parameters
    ----------
    functions : callable
        From points of shape (n,) to values of shape (m, n).
    edges : array of shape (p,)
        Ends of the panels, increasing; where the functions change fast there should be one.

    Returns
    -------
    array of shape (m,)

    Raises
    ------
    SolveError
        If some panel does not converge.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.distributions.population.quadrature import integrate
    >>> integrate(lambda x: np.array([np.exp(-np.abs(x)), x**2]), np.array([-1.0, 2.0])).round(12)
    array([1.49678528, 3.        ])
    """

    def panels(low: Array, high: Array) -> Array:
        """Integrals over each panel, shape (m, number of panels)."""
        half = 0.5 * (high - low)
        points = 0.5 * (low + high)[:, None] + half[:, None] * _NODES
        values = np.asarray(functions(points.ravel()))
        return np.asarray(values.reshape(len(values), *points.shape) @ _WEIGHTS * half)

    low = edges[:-1]
    high = edges[1:]
    whole = panels(low, high)
    total = np.zeros(len(whole))
    for _ in range(_ROUNDS):
        middle = 0.5 * (low + high)
        left = panels(low, middle)
        right = panels(middle, high)
        both = left + right
        size = np.max(np.abs(total) + np.abs(both).sum(axis=1))
        converged = np.max(np.abs(both - whole), axis=0) <= _AGREE * size
        total = total + both[:, converged].sum(axis=1)
        if converged.all():
            return np.asarray(total)
        rest = ~converged
        cuts = middle[rest]
        low = np.concatenate([low[rest], cuts])
        high = np.concatenate([cuts, high[rest]])
        whole = np.concatenate([left[:, rest], right[:, rest]], axis=1)
    raise SolveError(f"an integral over [{edges[0]:.6g}, {edges[-1]:.6g}] does not converge")
