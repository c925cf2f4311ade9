"""The proof of a path: of its problem, and of what it has stored. Its theorem is that of `paretoclf.proof.theorem`."""

from __future__ import annotations

from dataclasses import replace

from paretoclf.problem.parametric_qp import ParametricQP, Trace
from paretoclf.proof.hinge import prove_hinge
from paretoclf.proof.hulls import prove_hulls
from paretoclf.proof.items import prove_items
from paretoclf.proof.line import LineProof
from paretoclf.proof.margins import prove_margins
from paretoclf.proof.refined import Refined, prove_refined
from paretoclf.proof.soft_margin import SoftMargin
from paretoclf.proof.stored import Stored


def prove(problem: SoftMargin | ParametricQP, stored: Stored | Refined | Trace, parameter: str = "t") -> LineProof:
    """Prove what is stored of a line, as it is stored.

    Parameters
    ----------
    problem : SoftMargin or ParametricQP
        Along the line.
    stored : Stored, Refined or Trace
        Segments with multipliers, intercepts, optimal values and, with features, slopes; or ends of segments in twice
        the precision, where there are costs of slacks and no nu. Of a ``ParametricQP`` what an engine has found, or
        whoever: values and multipliers of all items. They are proved from t = 0 to where the trace ends.
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

    The point of a box that is nearest to (3 t, -1), with values and multipliers from t = 0 to 1/3, and from there to 1:

    >>> from paretoclf.problem.parametric_qp import ParametricQP, Trace
    >>> q, none = np.array([[0.0, 1.0], [-3.0, 1.0]]), np.zeros((2, 2))
    >>> problem = ParametricQP.hard(np.eye(2), np.zeros((0, 2)), q, none, none + 1.0)
    >>> values, multipliers = np.array([[0.0, 0], [1, 0], [1, 0]]), np.array([[0.0, 1], [0, 1], [-2, 1]])
    >>> knots, labels, ends = np.array([0.0, 1 / 3, 1.0]), np.array([[0, -1], [1, -1]]), np.array([[0, 1], [1, 2]])
    >>> prove(problem, Trace(knots, labels, ends, values, multipliers, "end")).passes()
    True
    """
    if isinstance(problem, ParametricQP):
        assert isinstance(stored, Trace)
        return prove_items(problem, stored, parameter)
    assert not isinstance(stored, Trace)
    if isinstance(stored, Refined):
        unit = replace(stored, value=stored.value / problem.lam)
        return prove_refined(problem.unit, unit, parameter).times(problem.lam)
    if problem.nu is not None:
        return prove_hulls(problem, stored, parameter)
    if problem.caps is not None:
        return prove_hinge(problem, stored, parameter)
    return prove_margins(problem, stored, parameter)
