r"""A mixture of Gaussians from the samples of one class: maximum likelihood, by scikit-learn's EM.

Samples are whitened by the covariance of the whole class first, so that a change of units, or of axes, changes nothing:
with :math:`x=\hat\mu+R^\top z`, :math:`R^\top R=\hat\Sigma`, a component :math:`N(m,S)` of :math:`z` is
:math:`N(\hat\mu+R^\top m,R^\top SR)` of :math:`x`.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import solve_triangular

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import COVARIANCE_RANK

#: EM ends where a step gains less than this in the mean log likelihood of a sample; scikit-learn's own 1e-3 ends early.
GAIN = 1e-7
#: Steps of EM, and starts of which the most likely end is taken.
STEPS, STARTS = 1000, 3


def fit_gaussians(A: Array, components: int, reg: float, seed: int, name: str) -> tuple[Array, Array, Array]:
    """Means, covariances and weights of a mixture of Gaussians that is fitted to samples.

    Parameters
    ----------
    A : array of shape (n, d)
        Samples of one class.
    components : int
        How many Gaussians.
    reg : float
        With more than one: ridge of each component, in units of the covariance of all samples.
    seed : int
        Seed of the starts.
    name : str
        Name of the samples, for messages.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.distributions.population.estimation import fit_gaussians
    >>> means, covariances, weights = fit_gaussians(np.array([[0.0], [2.0]]), 1, 0.0, 0, "samples")
    >>> means, covariances, weights
    (array([[1.]]), array([[[1.]]]), array([1.]))
    """
    n, d = A.shape
    if n < components * (d + 1):
        raise InputError(
            f"components must leave {d + 1} samples for each Gaussian of {d} features: {components} of them need "
            f"{components * (d + 1)} {name}, got {n}"
        )
    mean = A.mean(axis=0)
    centred = A - mean
    root = np.asarray(np.linalg.qr(centred / np.sqrt(n), mode="r"))
    scale = np.linalg.norm(root, axis=0)
    if not (scale > 0).all() or np.linalg.svd(root / scale, compute_uv=False)[-1] ** 2 <= COVARIANCE_RANK * d:
        raise InputError(
            f"X must have no feature that is constant, or depends linearly on others, among the {name}: their "
            "covariance is singular. Leave such features out"
        )
    if components == 1:
        return mean[None], (root.T @ root)[None], np.ones(1)
    white = solve_triangular(root, centred.T, trans=1).T
    means, covariances, weights = _em(white, components, reg, seed, name)
    return mean + means @ root, np.einsum("ka,ikl,lb->iab", root, covariances, root), weights


def _em(Z: Array, components: int, reg: float, seed: int, name: str) -> tuple[Array, Array, Array]:
    """Run EM on whitened samples; the components come by decreasing weight."""
    from sklearn.mixture import GaussianMixture  # here, since it takes half a second to import

    model = GaussianMixture(
        components, tol=GAIN, reg_covar=reg, max_iter=STEPS, n_init=STARTS, random_state=seed, covariance_type="full"
    )
    singular = InputError(
        f"components: {components} Gaussians do not fit the {len(Z)} {name}, as one of them would have a singular "
        "covariance. Take fewer, or a larger reg"
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of starts that do not end; whether the best one did is asked below
            model.fit(Z)
    except ValueError as error:  # a covariance that is not positive
        raise singular from error
    if np.linalg.eigvalsh(model.covariances_).min() <= COVARIANCE_RANK * Z.shape[1]:  # or is by rounding
        raise singular
    if not model.converged_:
        raise InputError(
            f"components: the likelihood of {components} Gaussians still grows after {STEPS} steps on the {len(Z)} "
            f"{name}. Take fewer"
        )
    order = np.argsort(-model.weights_, kind="stable")
    means = np.asarray(model.means_[order])
    covariances = np.asarray(model.covariances_[order])
    weights = np.asarray(model.weights_[order] / model.weights_.sum())
    return means, covariances, weights
