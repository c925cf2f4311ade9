r"""Artificial data with published generators and known Bayes errors.

In all of them labels are drawn independently (drawn anew in the unlikely case that only one class occurs), and ``rng``
is a seed or a `numpy.random.Generator`: equal seeds give equal data.

=========  ==  ==============================================  ==================================================
name       d   +1                                              -1
=========  ==  ==============================================  ==================================================
twonorm    20  N(a 1, I)                                       N(-a 1, I)
ringnorm   20  N(0, 4 I)                                       N(a 1, I)
threenorm  20  half N(a 1, I), half N(-a 1, I)                 N((a, -a, a, -a, ...), I)
waveform   21  class 1 of three                                classes 2 and 3 (or one of them)
gaussians  d   N(mean_plus, cov_plus)                          N(mean_minus, cov_minus)
bimodal    d   mixture of Gaussians                            mixture of Gaussians
=========  ==  ==============================================  ==================================================

References
----------
L. Breiman, Bias, variance, and arcing classifiers, report 460, Statistics, Berkeley 1996 (twonorm, ringnorm,
threenorm). L. Breiman, J. Friedman, R. Olshen and C. Stone, Classification and Regression Trees, 1984 (waveform).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paretoclf.common.checks import (
    Array,
    Rng,
    check_count,
    check_matrix,
    check_positive_number,
    check_rng,
    check_share,
    check_vector,
)
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import GRAM_PSD
from paretoclf.datasets.dataset import Dataset

#: Distance parameter of threenorm: each mean is 2 from the origin.
A_TWO = 2 / np.sqrt(20)


def make_twonorm(n: int = 400, rng: Rng = 0, *, a: float | None = None, d: int = 20) -> Dataset:
    """Twonorm: N(a 1, I) against N(-a 1, I). Bayes error 2.275 % at the default a = 2/sqrt(d), for every d.

    Parameters
    ----------
    n : int
        Number of samples, at least 2.
    rng : int or numpy.random.Generator
        Source of randomness.
    a : float, optional
        Distance parameter. Default: 2/sqrt(d), each mean at a distance of 2 from the origin.
    d : int
        Number of features; 20 in the benchmarks, 2 in Bach et al. 2006.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If n < 2, a is not positive or d < 1.

    Examples
    --------
    >>> from paretoclf.datasets import make_twonorm
    >>> make_twonorm(100)
    Dataset('twonorm': 100 samples, 20 features, 44 of +1 (mean +a), 56 of -1 (mean -a))
    """
    a, d = _distance(a, d)
    rng = check_rng(rng)
    y = _labels(n, 0.5, rng)
    X = rng.standard_normal((n, d)) + a * y[:, None]
    return _dataset("twonorm", X, y, "mean +a", "mean -a", f"Breiman 1996, a = {a:.6g}")


def make_ringnorm(n: int = 400, rng: Rng = 0, *, a: float | None = None, d: int = 20) -> Dataset:
    """Ringnorm: N(0, 4 I), which is +1, against N(a 1, I).

    Two values of a are in use in 20 dimensions. The default a = 2/sqrt(d), Bayes error 1.24 %, is that of the benchmark
    files (DELVE, IDA, KEEL); Breiman's report and R's mlbench have a = 1/sqrt(20), Bayes error 1.51 %.

    Parameters
    ----------
    n, rng, a, d
        As in `make_twonorm`.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If n < 2, a is not positive or d < 1.

    Examples
    --------
    >>> from paretoclf.datasets import make_ringnorm
    >>> make_ringnorm(100, a=1 / 20**0.5).notes
    'Breiman 1996, a = 0.223607'
    """
    a, d = _distance(a, d)
    rng = check_rng(rng)
    y = _labels(n, 0.5, rng)
    noise = rng.standard_normal((n, d))
    X = np.where(y[:, None] > 0, 2 * noise, a + noise)
    return _dataset("ringnorm", X, y, "N(0, 4 I)", "N(a 1, I)", f"Breiman 1996, a = {a:.6g}")


def make_threenorm(n: int = 400, rng: Rng = 0, *, a: float = A_TWO) -> Dataset:
    """Threenorm: half N(a 1, I), half N(-a 1, I), which are +1, against N((a, -a, a, ...), I) in 20 dimensions.

    Bayes error 10.5 % at the default a = 2/sqrt(20).

    Parameters
    ----------
    n, rng, a
        As in `make_twonorm`.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If n < 2 or a is not positive.

    Examples
    --------
    >>> from paretoclf.datasets import make_threenorm
    >>> make_threenorm(100).X.shape
    (100, 20)
    """
    a, rng = check_positive_number(a, "a"), check_rng(rng)
    y = _labels(n, 0.5, rng)
    side = rng.choice([-1.0, 1.0], n)
    alternating = np.where(np.arange(20) % 2 == 0, 1.0, -1.0)
    means = np.where(y[:, None] > 0, side[:, None], alternating)
    X = rng.standard_normal((n, 20)) + a * means
    return _dataset("threenorm", X, y, "means +a and -a", "alternating mean", f"Breiman 1996, a = {a:.6g}")


def make_waveform(
    n: int = 400, rng: Rng = 0, *, positive: int = 1, against: int | Sequence[int] | None = None
) -> Dataset:
    r"""Waveform: random mixtures of two of three triangular waves at 21 points, with unit noise.

    With :math:`h_1(i)=\max(6-|i-11|,0)`, :math:`h_2(i)=h_1(i-4)`, :math:`h_3(i)=h_1(i+4)`, :math:`i=1,\dots,21`, and
    u uniform on [0, 1]: class 1 is :math:`uh_1+(1-u)h_2+\varepsilon`, class 2 :math:`uh_1+(1-u)h_3+\varepsilon`,
    class 3 :math:`uh_2+(1-u)h_3+\varepsilon`.

    Parameters
    ----------
    n, rng
        As in `make_twonorm`.
    positive : {1, 2, 3}
        Class that is +1.
    against : int or sequence of int, optional
        Class or classes that are -1. Default: the two others, as in the IDA benchmark, which makes a third of the
        samples positive; all classes that take part are equally likely.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If n < 2 or the classes are not different ones of 1, 2, 3.

    Examples
    --------
    >>> from paretoclf.datasets import make_waveform
    >>> make_waveform(300)
    Dataset('waveform': 300 samples, 21 features, 84 of +1 (class 1), 216 of -1 (class 2 or 3))
    """
    if against is None:
        against = [c for c in (1, 2, 3) if c != positive]
    others = [against] if isinstance(against, int) else list(against)
    classes = [positive, *others]
    if len(set(classes)) != len(classes) or not set(classes) <= {1, 2, 3} or not others:
        raise InputError(f"positive and against must be different classes out of 1, 2, 3, got {positive} and {others}")
    rng = check_rng(rng)
    y = _labels(n, 1 / len(classes), rng)
    class_of = np.where(y > 0, positive, rng.choice(others, n))
    i = np.arange(1, 22)
    h1, h2, h3 = (np.maximum(6 - np.abs(i - centre), 0.0) for centre in (11, 15, 7))
    first, second = np.array([h1, h1, h2]), np.array([h2, h3, h3])
    u = rng.random((n, 1))
    first, second = first[class_of - 1], second[class_of - 1]
    X = u * first + (1 - u) * second + rng.standard_normal((n, 21))
    negative = "class " + " or ".join(str(c) for c in others)
    return _dataset("waveform", X, y, f"class {positive}", negative, "Breiman, Friedman, Olshen & Stone 1984")


def make_gaussians(
    n: int = 400,
    rng: Rng = 0,
    *,
    mean_plus: Any = (1.0, 0.0),
    mean_minus: Any = (-1.0, 0.0),
    cov_plus: Any = None,
    cov_minus: Any = None,
    prior_plus: float = 0.5,
) -> Dataset:
    """One Gaussian for each class.

    Parameters
    ----------
    n, rng
        As in `make_twonorm`.
    mean_plus, mean_minus : array of shape (d,)
        Means.
    cov_plus, cov_minus : array of shape (d, d) or float, optional
        Covariances, positive semidefinite; a number stands for that multiple of I. Default: I.
    prior_plus : float
        Probability of a positive, strictly between 0 and 1.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If n < 2, shapes do not fit, a covariance is not symmetric positive semidefinite or the prior out of range.

    Examples
    --------
    >>> from paretoclf.datasets import make_gaussians
    >>> make_gaussians(50, mean_plus=[2, 0, 0], mean_minus=[0, 0, 0], cov_minus=4.0)
    Dataset('gaussians': 50 samples, 3 features, 21 of +1 (plus), 29 of -1 (minus))
    """
    plus = [(1.0, mean_plus, cov_plus)]
    return _mixtures("gaussians", n, rng, plus, [(1.0, mean_minus, cov_minus)], prior_plus)


def make_bimodal(
    n: int = 400,
    rng: Rng = 0,
    *,
    plus: Sequence[tuple[float, Any, Any]] = ((0.5, (-1.0, 3.0), None), (0.5, (1.0, 0.0), None)),
    minus: Sequence[tuple[float, Any, Any]] = ((0.5, (-3.0, 0.0), None), (0.5, (0.0, -3.0), 2.0)),
    prior_plus: float = 0.5,
) -> Dataset:
    """Two classes, each a mixture of Gaussians, by default of two in the plane.

    Bach et al. 2006 show in figure 4 that on bimodal classes varying the asymmetry may be worse than varying the
    intercept. They do not print their parameters; the defaults here are ours.

    Parameters
    ----------
    n, rng, prior_plus
        As in `make_gaussians`.
    plus, minus : sequence of (weight, mean, covariance)
        Components of each class; weights are positive and sum to 1, covariances as in `make_gaussians`.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        As in `make_gaussians`, and if weights are not as above.

    Examples
    --------
    >>> from paretoclf.datasets import make_bimodal
    >>> make_bimodal(100, plus=[(0.9, [0.0], 1.0), (0.1, [5.0], 0.1)], minus=[(1.0, [2.0], 1.0)]).X.shape
    (100, 1)
    """
    return _mixtures("bimodal", n, rng, plus, minus, prior_plus)


def _mixtures(
    name: str,
    n: int,
    rng: Rng,
    plus: Sequence[tuple[float, Any, Any]],
    minus: Sequence[tuple[float, Any, Any]],
    prior_plus: float,
) -> Dataset:
    """Data set of two classes, each a mixture of Gaussians."""
    d = np.asarray(plus[0][1], dtype=float).size if len(plus) else 0
    parts = {side: _components(given, d, side) for side, given in (("plus", plus), ("minus", minus))}
    rng = check_rng(rng)
    y = _labels(n, prior_plus, rng)
    noise = rng.standard_normal((n, d))
    uniform = rng.random(n)
    X = np.empty((n, d))
    for label, side in ((1, "plus"), (-1, "minus")):
        weights, means, factors = parts[side]
        mine = np.flatnonzero(y == label)
        last = len(weights) - 1  # rounding may leave the sum of the weights below 1
        which = np.minimum(np.searchsorted(np.cumsum(weights), uniform[mine], side="right"), last)
        coloured = np.einsum("ijk,ik->ij", factors[which], noise[mine])
        X[mine] = means[which] + coloured
    return _dataset(name, X, y, "plus", "minus", f"prior of +1: {prior_plus:g}")


def _components(given: Sequence[tuple[float, Any, Any]], d: int, side: str) -> tuple[Array, Array, Array]:
    """Weights, means and factors (covariance = factor factor') of a mixture."""
    weights = np.array([float(weight) for weight, _, _ in given])
    if not (len(weights) and (weights > 0).all() and np.isclose(weights.sum(), 1.0)):
        raise InputError(f"{side}: weights must be positive and sum to 1, got {weights.tolist()}")
    means = np.array([check_vector(mean, d, f"mean of {side}") for _, mean, _ in given])
    return weights, means, np.array([_factor(cov, d, f"covariance of {side}") for _, _, cov in given])


def _factor(cov: Any, d: int, name: str) -> Array:
    """Square root F of a covariance, F F' = cov, also of a singular one."""
    if cov is None or np.ndim(cov) == 0:
        variance = 1.0 if cov is None else check_positive_number(cov, name)
        return np.asarray(np.eye(d) * np.sqrt(variance))
    matrix = check_matrix(cov, name, n_features=d)
    if matrix.shape != (d, d) or not np.allclose(matrix, matrix.T):
        raise InputError(f"{name} must be a symmetric matrix of shape ({d}, {d}), got shape {matrix.shape}")
    values, vectors = np.linalg.eigh(matrix)
    if values[0] < -GRAM_PSD * max(values[-1], 0.0) or values[-1] < 0:
        raise InputError(f"{name} must be positive semidefinite, got an eigenvalue {values[0]:g}")
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _distance(a: float | None, d: int) -> tuple[float, int]:
    """Distance parameter and dimension; each mean is 2 from the origin by default."""
    d = check_count(d, "d", 1)
    return (2 / float(np.sqrt(d)) if a is None else check_positive_number(a, "a")), d


def _labels(n: int, prior_plus: float, rng: np.random.Generator) -> Array:
    """Independent labels with both classes present."""
    n = check_count(n, "n", 2)
    prior_plus = check_share(prior_plus, "prior_plus")
    while True:
        y = np.where(rng.random(n) < prior_plus, 1.0, -1.0)
        if abs(y.sum()) < n:
            return y


def _dataset(name: str, X: Array, y: Array, positive: str, negative: str, notes: str) -> Dataset:
    """Data set with features x1, x2, ..."""
    features = tuple(f"x{j + 1}" for j in range(X.shape[1]))
    return Dataset(name, X, y, features, positive, negative, notes)
