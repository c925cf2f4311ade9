"""The judge of the limit problem of the erf loss, from the numbers of a mixture alone."""

from __future__ import annotations

import numpy as np
from scipy.special import entr, logsumexp

from paretoclf.common.checks import Array
from paretoclf.distributions.population.classes import Mixture
from paretoclf.proof.verdicts.evidence import Condition, Judged, judge


def judge_tilt(mixture: Mixture, point: Array, xi: Array, theta: Array) -> Judged:
    r"""Judge weights and multipliers for :math:`\min_\xi\mathrm{KL}(\xi\|\pi)+\frac12\bar\mu^\top S^{-1}\bar\mu`.

    :math:`\bar\mu=\sum\xi_i(\mu_i-p)`, :math:`S=\sum\xi_i\Sigma_i`. The weights are made feasible by dividing them by
    their sum; every :math:`\theta` is feasible for the dual :math:`\max_\theta-\log\sum_i\pi_ie^{-k_i(\theta)}`,
    :math:`k_i=\theta\cdot(\mu_i-p)-\frac12\theta^\top\Sigma_i\theta`.

    Parameters
    ----------
    mixture : Mixture
        The class.
    point : array of shape (d,)
        The point p, which is subtracted from the means.
    xi : array of shape (k,)
        Weights, not negative.
    theta : array of shape (d,)
        Multipliers of :math:`\sum_iR_i^\top v_i=\bar\mu`.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.distributions.population.classes import Mixture
    >>> from paretoclf.distributions.population.judges import judge_tilt
    >>> judge_tilt(Mixture([0.0], [[1.0]]), np.array([2.0]), np.ones(1), np.array([-2.0])).certificate.passes(1e-15)
    True
    """
    total = float(xi.sum())
    weights = np.maximum(xi, 0.0) / total
    means = mixture.means - point
    centre = weights @ means
    S = np.einsum("i,iab->ab", weights, mixture.covariances)
    log_weights = np.log(mixture.weights)
    # The divergence is -entr(weights).sum() - weights @ log_weights, with 0 log 0 = 0.
    quadratic = 0.5 * centre @ np.linalg.solve(S, centre)
    primal = float(-entr(weights).sum() - weights @ log_weights + quadratic)
    logs = log_weights - means @ theta + 0.5 * (mixture.covariances @ theta) @ theta
    log_total = float(logsumexp(logs))
    nu = log_total - 1.0
    tilted_mean = np.abs(centre - S @ theta) / np.sqrt(np.diagonal(S))
    tilted_weights = np.abs(weights - np.exp(logs - log_total))
    numbers = {"xi": weights, "theta": theta, "a": -theta, "nu": nu, "S": S}
    numbers["v"] = weights[:, None] * (mixture.roots @ theta)
    sum_is_one = Condition("sum", np.array([1.0 - total]), np.array([nu]), equation=True)
    not_negative = Condition("weights", xi, np.zeros_like(xi))
    return judge(
        primal,
        -log_total,
        [sum_is_one, not_negative],
        numbers,
        stationarity={"tilted mean": float(tilted_mean.max()), "tilted weights": float(tilted_weights.max())},
        scale=max(1.0, abs(primal)),
    )
