"""Proof of a path: of its problem, and of what it has stored, by the theorem of `paretoclf.proof.segments.theorem`."""

from __future__ import annotations

from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.problem.pieces import Pieces
from paretoclf.problem.piecewise import Piecewise
from paretoclf.proof.lines.classifier_lines import prove_classifiers
from paretoclf.proof.lines.refined_lines import Refined
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.programs.item_lines import prove_items
from paretoclf.proof.segments.line_proof import LineProof


def prove(problem: SoftMargin | ParametricQP, stored: Pieces | Refined | Piecewise, parameter: str = "t") -> LineProof:
    """Prove what is stored of a line, as it is stored.

    Parameters
    ----------
    problem : SoftMargin or ParametricQP
        Along the line.
    stored : Pieces, Refined or Piecewise
        Segments with multipliers, intercepts, optimal values and, with features, slopes; or ends of segments in twice
        the precision, where there are costs of slacks and no nu. Of a ``ParametricQP`` the path that an engine has
        found, or whoever: values of variables and multipliers of all items. It is proved from t = 0 to its end.
    parameter : str
        Name of t.

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

    >>> from paretoclf.problem.parametric_qp import ParametricQP
    >>> from paretoclf.problem.piecewise import Piecewise
    >>> q, none = np.array([[0.0, 1.0], [-3.0, 1.0]]), np.zeros((2, 2))
    >>> problem = ParametricQP.hard(np.eye(2), np.zeros((0, 2)), q, none, none + 1.0)
    >>> x = np.array([[[0.0, 0], [1, 0]], [[1, 0], [1, 0]]])
    >>> y = np.array([[[0.0, 1], [0, 1]], [[0, 1], [-2, 1]]])
    >>> prove(problem, Piecewise.of(problem, np.array([0.0, 1 / 3, 1.0]), x, y)).passes()
    True
    """
    if isinstance(problem, ParametricQP):
        assert isinstance(stored, Piecewise)
        return prove_items(problem, stored, parameter)
    assert not isinstance(stored, Piecewise)
    return prove_classifiers(problem, stored, parameter)
