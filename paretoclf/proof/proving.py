"""The proof of a path: of its problem, and of what it has stored."""

from __future__ import annotations

from dataclasses import replace

from paretoclf.proof.hinge import prove_hinge
from paretoclf.proof.hulls import prove_hulls
from paretoclf.proof.line import LineProof
from paretoclf.proof.margins import prove_margins
from paretoclf.proof.refined import Refined, prove_refined
from paretoclf.proof.soft_margin import SoftMargin
from paretoclf.proof.stored import Stored


def prove(problem: SoftMargin, stored: Stored | Refined, parameter: str = "t") -> LineProof:
    """Prove what is stored of a line, as it is stored.

    Parameters
    ----------
    problem : SoftMargin
        Along the line.
    stored : Stored or Refined
        Segments with multipliers, intercepts, optimal values and, with features, slopes; or ends of segments in twice
        the precision, where there are costs of slacks and no nu.
    parameter : str
        What t is called.

    Returns
    -------
    LineProof

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from paretoclf.proof import SoftMargin, prove
    >>> from paretoclf.problem.operator import Features
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, 1.0, -1.0, 1.0])
    >>> path = pc.trace(pc.TwoCSVM(X, y), (0.5, 1.5), (1.5, 0.5))
    >>> caps = np.array([[1.5, 0.5, 1.5, 0.5], [0.5, 1.5, 0.5, 1.5]])
    >>> prove(SoftMargin(y, Features(X), caps), path.pieces).passes()
    True
    >>> prove(SoftMargin(y, Features(X), 1.01 * caps), path.pieces).passes()
    False
    """
    if isinstance(stored, Refined):
        unit = replace(stored, value=stored.value / problem.lam)
        return prove_refined(problem.unit, unit, parameter).times(problem.lam)
    if problem.nu is not None:
        return prove_hulls(problem, stored, parameter)
    if problem.caps is not None:
        return prove_hinge(problem, stored, parameter)
    return prove_margins(problem, stored, parameter)
