r"""The problems that fitted models of scikit-learn solve, each stated as its documentation does, and judged as such.

With weights :math:`s_i` of the samples (all 1 by default), :math:`S=\sum_is_i`, residuals :math:`r=y-Xw-b` and margins
:math:`m_i=y_i(w\cdot x_i+b)`:

.. math::

   \text{SVC:}\quad&\tfrac12\|w\|^2+C\sum_is_i\max(0,1-m_i)\\
   \text{LinearSVC:}\quad&\tfrac12\|w\|^2+\tfrac12b^2+C\sum_is_i\max(0,1-m_i)^p\\
   \text{SGDClassifier:}\quad&\tfrac\alpha2\|w\|^2+\tfrac1n\sum_is_i\ell(m_i)\\
   \text{Lasso, ElasticNet:}\quad&\tfrac1{2S}\sum_is_ir_i^2+\alpha\bigl(\rho\|w\|_1+\tfrac{1-\rho}2\|w\|^2\bigr)\\
   \text{MultiTaskElasticNet:}\quad&\tfrac1{2n}\|R\|_F^2+
   \alpha\bigl(\rho{\textstyle\sum_j}\|W_{j\cdot}\|_2+\tfrac{1-\rho}2\|W\|_F^2\bigr)\\
   \text{QuantileRegressor:}\quad&\tfrac1S\sum_is_i\max(qr_i,(q-1)r_i)+\alpha\|w\|_1\\
   \text{SVR:}\quad&\tfrac12\|w\|^2+C\sum_is_i\max(0,|r_i|-\varepsilon)\\
   \text{OneClassSVM:}\quad&\tfrac12\|w\|^2-\nu S\varrho+\sum_is_i\max(0,\varrho-w\cdot x_i)\\
   \text{LogisticRegression:}\quad&\text{penalty}+C\sum_is_i\log{\textstyle\sum_k}\exp(z_{ik}-z_{iy_i}),\ z=XW^\top+b

A penalty is :math:`\tfrac12\|W\|^2`, the mixture with :math:`\rho` above (without :math:`\alpha`), or none, and then C
is 1. Intercepts are free, but for LIBLINEAR (``LinearSVC``, and ``LogisticRegression`` with that solver): there they
are the weight of a constant feature, ``intercept_scaling``, which is 1 above. p is 1 for the hinge loss and 2 for its
square; :math:`\ell` is the loss of the classifier. ``class_weight`` multiplies the weights. Classifiers of margins are
stated by `TwoCSVM`, by `TwoNuSVM` (what a ``NuSVC`` solves, which ignores ``class_weight``) and by
``paretoclf.checking.machines``. A report names the objective of each model (``paretoclf.checking.fitted_objectives``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import CERTIFY, LOOSE
from paretoclf.problem.samples import Samples
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.solve.judging.cone_proof import judge_alone
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Model

#: What a row of a sample is called, by the label of its constraint.
ROWS = {
    "residuals": "its residual",
    "above the tube": "above the tube",
    "below the tube": "below the tube",
    "margin": "its margin",
    "slack": "its slack",
}


def _named(worst: str) -> str:
    """Name a row of samples as people do, by its sample."""
    label, _, number = worst.rpartition(" ")
    return f"sample {number}, {ROWS[label]}" if label in ROWS and number.isdecimal() else worst


@dataclass(frozen=True)
class FittedProblem:
    """A problem, whose points are judged by their values.

    Attributes
    ----------
    problem : cvxpy.Problem
        A minimisation without parameters.
    kernel_rounding : float
        What rounding of kernel values can do to the dual value.
    hint : str
        What explains a point that is off by far, besides that it is.
    """

    problem: cp.Problem
    kernel_rounding: float = 0.0
    hint: str = ""
    lines: ClassVar[None] = None  # it is a point alone

    def certificate(self, numbers: Mapping[str, Any], tol: float = CERTIFY) -> Certificate:
        """Certify a point, given by the names of the variables, by safe bounds on the optimal value.

        Multipliers beside it, by the labels of constraints, are tried for the bounds; no verdict is about them. Bounds
        need be no closer than tol.

        Examples
        --------
        >>> import numpy as np
        >>> from paretoclf.checking.fitted_problems import FittedProblem, elastic_net
        >>> y, half = np.array([1.0, 0.5]), np.full(2, 0.5)
        >>> problem = elastic_net(np.eye(2), y, half, (0.25, 1.0), intercept=False, positive=False)
        >>> FittedProblem(problem).certificate({"w": np.array([0.5, 0.0]), "r": np.array([0.5, 0.5])}).passes()
        True
        """
        found = judge_alone(Model.of(self.problem), numbers, tol).certificate
        found = replace(found, multipliers={}, kernel_rounding=self.kernel_rounding, worst=_named(str(found.worst)))
        if not found.off_by > LOOSE:
            return found
        return replace(found, note=f"{found.note} {self.hint}".strip())


def penalty(W: Any, alpha: float, l1_ratio: float, *, rows: bool = False) -> Any:
    """The mixed penalty, without the terms that are 0; with ``rows`` lengths of rows in place of absolute values."""
    sizes = cp.norm(W, axis=1) if rows else cp.abs(W)
    of_sizes, of_squares = alpha * l1_ratio, alpha * (1.0 - l1_ratio)
    total = cp.Constant(0.0)
    if of_sizes:
        total = total + of_sizes * cp.sum(sizes)
    if of_squares:
        total = total + of_squares * cp.sum_squares(W) / 2.0
    return total


def elastic_net(
    X: Samples, y: Array, shares: Array, mixture: tuple[float, float], *, intercept: bool, positive: bool
) -> cp.Problem:
    """State the lasso or the elastic net, of samples with ``shares`` of the loss; the mixture is alpha and l1_ratio."""
    w = cp.Variable(X.shape[1], nonneg=positive, name="w")
    r = cp.Variable(y.size, name="r")
    b = cp.Variable(name="b") if intercept else 0.0
    residuals = r == y - X @ w - b
    loss = cp.sum_squares(cp.multiply(np.sqrt(shares), r)) / 2.0
    return cp.Problem(cp.Minimize(loss + penalty(w, *mixture)), [residuals.set_label("residuals")])


def multi_task(X: Samples, Y: Array, mixture: tuple[float, float], *, intercept: bool) -> cp.Problem:
    """State the elastic net of several targets that share their features."""
    W = cp.Variable((X.shape[1], Y.shape[1]), name="W")
    R = cp.Variable(Y.shape, name="R")
    scores = X @ W
    if intercept:
        scores = scores + cp.reshape(cp.Variable(Y.shape[1], name="b"), (1, Y.shape[1]), order="F")
    residuals = Y - scores == R
    loss = cp.sum_squares(R) / (2.0 * Y.shape[0])
    return cp.Problem(cp.Minimize(loss + penalty(W, *mixture, rows=True)), [residuals.set_label("residuals")])


def quantile_regression(
    X: Samples, y: Array, shares: Array, quantile: float, alpha: float, *, intercept: bool
) -> cp.Problem:
    """State the quantile regression, with the two parts u and v of each residual."""
    w = cp.Variable(X.shape[1], name="w")
    u = cp.Variable(y.size, name="u")
    v = cp.Variable(y.size, name="v")
    b = cp.Variable(name="b") if intercept else 0.0
    residuals = u - v == y - X @ w - b
    above, below = u >= 0, v >= 0
    labelled = [
        residuals.set_label("residuals"),
        above.set_label("above the plane"),
        below.set_label("below the plane"),
    ]
    loss = quantile * (shares @ u) + (1.0 - quantile) * (shares @ v)
    return cp.Problem(cp.Minimize(loss + penalty(w, alpha, 1.0)), labelled)


def support_vector_regression(F: Samples, y: Array, caps: Array, epsilon: float) -> cp.Problem:
    """State the support vector regression, of features F."""
    w = cp.Variable(F.shape[1], name="w")
    b = cp.Variable(name="b")
    xi = cp.Variable(y.size, name="xi")
    residuals = y - F @ w - b
    reach, slack = epsilon + xi, xi >= 0
    above, below = residuals <= reach, -residuals <= reach
    labelled = [above.set_label("above the tube"), below.set_label("below the tube"), slack.set_label("slack")]
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2.0 + caps @ xi), labelled)


def one_class(F: Samples, weight: Array, nu: float) -> cp.Problem:
    """State the machine of one class, of features F, in the units of LIBSVM."""
    w = cp.Variable(F.shape[1], name="w")
    rho = cp.Variable(name="rho")
    xi = cp.Variable(weight.size, name="xi")
    margin, slack = F @ w >= rho - xi, xi >= 0
    share = nu * float(weight.sum())
    objective = cp.sum_squares(w) / 2.0 + weight @ xi - share * rho
    return cp.Problem(cp.Minimize(objective), [margin.set_label("margin"), slack.set_label("slack")])


def logistic_regression(
    X: Samples, y: Array, costs: Array, mixture: tuple[float, float], *, intercept: bool
) -> cp.Problem:
    """State the logistic regression of labels -1 and +1, with the cost of each sample."""
    w = cp.Variable(X.shape[1], name="w")
    b = cp.Variable(name="b") if intercept else 0.0
    losses = cp.logistic(-cp.multiply(y, X @ w + b))
    return cp.Problem(cp.Minimize(penalty(w, *mixture) + costs @ losses))


def multinomial(X: Samples, which: Index, costs: Array, mixture: tuple[float, float], *, intercept: bool) -> cp.Problem:
    """State the logistic regression of several classes; ``which`` is that of each sample.

    All scores of a sample may be moved together. So intercepts add up to 0, and where no penalty decides that, slopes.
    """
    classes = int(which.max()) + 1
    W = cp.Variable((classes, X.shape[1]), name="W")
    scores, constraints = X @ W.T, []
    if intercept:
        b = cp.Variable(classes, name="b")
        scores = scores + cp.reshape(b, (1, classes), order="F")
        centred = cp.sum(b) == 0
        constraints.append(centred.set_label("intercepts"))
    if not mixture[0]:
        balanced = cp.sum(W, axis=0) == 0
        constraints.append(balanced.set_label("slopes"))
    own = cp.sum(cp.multiply(np.eye(classes)[which], scores), axis=1)
    losses = cp.log_sum_exp(scores, axis=1) - own
    return cp.Problem(cp.Minimize(penalty(W, *mixture) + costs @ losses), constraints)
