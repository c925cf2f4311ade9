"""The judge of the limit problem of the erf loss, from the numbers of a mixture alone."""

from __future__ import annotations

import numpy as np
from scipy.special import entr, logsumexp

from paretoclf.common.checks import Array
from paretoclf.distributions.population.classes import Mixture
from paretoclf.proof.evidence import Condition, Judged, judge


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
        p.
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
    centre, S = weights @ means, np.einsum("i,iab->ab", weights, mixture.covariances)
    # KL, with 0 log 0 = 0.
    primal = float(-entr(weights).sum() - weights @ np.log(mixture.weights) + 0.5 * centre @ np.linalg.solve(S, centre))
    logs = np.log(mixture.weights) - means @ theta + 0.5 * (mixture.covariances @ theta) @ theta
    log_total = float(logsumexp(logs))
    deviation = np.sqrt(np.diagonal(S))
    numbers = {"xi": weights, "theta": theta, "a": -theta, "nu": log_total - 1.0, "S": S}
    numbers["v"] = weights[:, None] * (mixture.roots @ theta)
    return judge(
        primal,
        -log_total,
        [
            Condition("sum", np.array([1.0 - total]), np.array([log_total - 1.0]), equation=True),
            Condition("weights", xi, np.zeros_like(xi)),
        ],
        numbers,
        stationarity={
            "tilted mean": float(np.max(np.abs(centre - S @ theta) / deviation)),
            "tilted weights": float(np.max(np.abs(weights - np.exp(logs - log_total)))),
        },
        scale=max(1.0, abs(primal)),
    )
