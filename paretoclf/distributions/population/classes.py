r"""Classes whose distributions are known: mixtures of Gaussians, :math:`\sum_i\pi_iN(\mu_i,\Sigma_i)`.

Bach, Heckerman & Horvitz (2006), section 4.1. One component is a Gaussian; components of one mean and of proportional
covariances are a scale mixture (Kim et al. 2006, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import logsumexp, ndtr

from paretoclf.common.checks import (
    Array,
    Rng,
    check_count,
    check_labels,
    check_nonnegative_number,
    check_positive_number,
    check_rng,
    check_seed,
    check_share,
    real_array,
    what_it_is,
)
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import COMPONENT_WEIGHTS
from paretoclf.distributions.gaussian.moments import Moments, check_mean, covariance_root
from paretoclf.distributions.population.estimation import fit_gaussians
from paretoclf.problem.samples import check_samples, dense


@dataclass(frozen=True, eq=False)
class Mixture:
    r"""A mixture of Gaussians, :math:`\sum_i\pi_iN(\mu_i,\Sigma_i)`.

    Parameters
    ----------
    means : array of shape (k, d), or (d,) for one component
        :math:`\mu_i`.
    covariances : array of shape (k, d, d), or (d, d) for one component
        :math:`\Sigma_i`, symmetric and positive definite.
    weights : array of shape (k,), optional
        :math:`\pi_i`, positive, of sum 1. Default: all equal.

    Raises
    ------
    InputError
        If a mean is no finite vector, a covariance is not symmetric or singular, the numbers of components or of
        features differ, or the weights are not positive with sum 1.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.distributions.population.classes import Mixture
    >>> two = Mixture([[-1.0, 0.0], [1.0, 0.0]], [np.eye(2), np.eye(2)])
    >>> two.mean, two.covariance.tolist()
    (array([0., 0.]), [[2.0, 0.0], [0.0, 1.0]])
    """

    means: Array
    covariances: Array = field(repr=False)
    weights: Array = None  # type: ignore[assignment]  # filled below
    roots: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        one = not np.iterable(self.means) or not any(np.iterable(mean) for mean in self.means)
        given_means = [self.means] if one else list(self.means)
        given = [self.covariances] if one else list(self.covariances)
        if len(given) != len(given_means) or not given:
            raise InputError(
                f"covariances must be as many as means ({len(given_means)}, at least one), got {len(given)}"
            )

        def name(what: str, i: int) -> str:
            return what if one else f"{what}[{i}]"

        means: list[Array] = []
        for i, mean in enumerate(given_means):
            means.append(check_mean(mean, name("means", i), means[0].size if means else None))
        roots = [covariance_root(S, name("covariances", i), means[0].size) for i, S in enumerate(given)]
        k = len(means)
        weights = np.full(k, 1.0 / k) if self.weights is None else real_array(self.weights, "weights", copy=True)
        if weights.shape != (k,):
            raise InputError(f"weights must have shape ({k},), got {weights.shape}")
        if not (weights > 0).all() or not abs(weights.sum() - 1.0) <= COMPONENT_WEIGHTS:
            raise InputError(f"weights must be positive and add up to 1, got {np.array2string(weights, threshold=6)}")
        object.__setattr__(self, "means", np.array(means))
        object.__setattr__(self, "roots", np.array(roots))
        object.__setattr__(self, "covariances", np.array([R.T @ R for R in roots]))
        object.__setattr__(self, "weights", weights)

    @classmethod
    def of_scales(cls, mean: Any, dispersion: Any, scales: Any, weights: Any = None) -> Self:
        r"""Scale mixture :math:`\sum_i\pi_iN(\mu,\lambda_i\Sigma)`: heavier tails than the Gaussian, the same shape.

        Parameters
        ----------
        mean : array of shape (d,)
            :math:`\mu`.
        dispersion : array of shape (d, d)
            :math:`\Sigma`.
        scales : array of shape (k,)
            :math:`\lambda_i`, positive.
        weights : array of shape (k,), optional
            As of a `Mixture`.

        Examples
        --------
        >>> import numpy as np
        >>> from paretoclf.distributions.population.classes import Mixture
        >>> Mixture.of_scales([0.0], [[1.0]], scales=[1.0, 9.0], weights=[0.9, 0.1]).covariance
        array([[1.8]])
        """
        factors = [check_positive_number(v, f"scales[{i}]") for i, v in enumerate(np.atleast_1d(scales))]
        Sigma = np.atleast_2d(real_array(dispersion, "dispersion"))
        centre = np.atleast_1d(real_array(mean, "mean"))
        return cls([centre for _ in factors], [v * Sigma for v in factors], weights)  # type: ignore[arg-type]

    @classmethod
    def fit(cls, X: Any, components: int = 1, *, reg: float = 1e-6, rng: Rng = 0) -> Self:
        r"""Fit a mixture to the samples of one class, by maximum likelihood; `Population.fit` takes both classes.

        One component has the mean and the covariance (divided by n) of the samples. More are fitted by scikit-learn's
        ``GaussianMixture``, in coordinates in which the class has the covariance I: units of features do not matter.
        They come by decreasing weight.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Samples, at least d + 1 for each component.
        components : int
            How many Gaussians. More of them fit better, and new samples not: compare the mean ``log_density`` of
            samples that were left out.
        reg : float
            With more than one component: ridge of each, in units of the covariance of the class. With 0 a component
            may shrink to a sample.
        rng : int or numpy.random.Generator
            Seed of the three starts of which the best is taken.

        Raises
        ------
        InputError
            If an argument is not what it must be, the samples are too few, their covariance is singular, or the fit
            does not end.

        Examples
        --------
        >>> from paretoclf.distributions.population import Mixture
        >>> two = Mixture([[-2.0, 0.0], [2.0, 1.0]], [[[1.0, 0.0], [0.0, 1.0]]] * 2, [0.25, 0.75])
        >>> Mixture.fit(two.draw(2000, rng=0), components=2).weights.round(2)
        array([0.76, 0.24])
        """
        A = dense(check_samples(X))
        return cls._fitted(A, check_count(components, "components", 1), reg, check_seed(rng), "samples")

    @classmethod
    def _fitted(cls, A: Array, components: int, reg: Any, seed: int, name: str) -> Self:
        """Fit a mixture to checked samples, called so in messages."""
        return cls(*fit_gaussians(A, components, check_nonnegative_number(reg, "reg"), seed, name))

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.means.shape[1])

    @property
    def k(self) -> int:
        """Number of components."""
        return int(self.means.shape[0])

    @cached_property
    def mean(self) -> Array:
        r"""Mean :math:`\sum_i\pi_i\mu_i`."""
        return np.asarray(self.weights @ self.means)

    @cached_property
    def covariance(self) -> Array:
        r"""Covariance :math:`\sum_i\pi_i\Sigma_i+M(\mathrm{diag}\,\pi-\pi\pi^\top)M^\top`, M the columns of means."""
        within = np.einsum("i,iab->ab", self.weights, self.covariances)
        offsets = self.means - self.mean
        return np.asarray(within + (offsets.T * self.weights) @ offsets)

    @cached_property
    def deviations(self) -> Array:
        """Standard deviations of the features in each component, shape (k, d)."""
        return np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))

    def spreads(self, w: Array) -> Array:
        r"""Standard deviations :math:`\sqrt{w^\top\Sigma_iw}` of the components along slopes: (..., d) to (..., k)."""
        return np.asarray(np.linalg.norm(np.einsum("iab,...b->...ia", self.roots, w), axis=-1))

    def share(self, w: Any, b: Any, label: int = 1) -> Array:
        """Probability of a label, +1 where ``w . x + b >= 0``; slopes of shape (..., d), intercepts of shape (...)."""
        slope = np.asarray(w, dtype=np.float64)
        intercept = np.asarray(b, dtype=np.float64)
        scores = slope @ self.means.T + intercept[..., None]
        spread = self.spreads(slope)
        constant = np.where(scores >= 0, np.inf, -np.inf)  # w = 0: every sample has the score b
        with np.errstate(divide="ignore", invalid="ignore"):
            distances = np.where(spread > 0, scores / spread, constant)
        return np.asarray(ndtr(label * distances) @ self.weights)

    def log_density(self, X: Any) -> Array:
        """Logarithm of the density at samples of shape (m, d), shape (m,)."""
        points = dense(check_samples(X, n_features=self.d))
        terms = []
        for mean, root, weight in zip(self.means, self.roots, self.weights, strict=True):
            white = solve_triangular(root, (points - mean).T, trans=1)
            half_squares = 0.5 * (white**2).sum(axis=0)
            log_volume = np.log(np.diagonal(root)).sum()
            terms.append(np.log(weight) - half_squares - log_volume)
        constant = 0.5 * self.d * np.log(2 * np.pi)
        return np.asarray(logsumexp(terms, axis=0) - constant)

    def draw(self, n: int, rng: Rng = 0) -> Array:
        """Draw n samples, shape (n, d); ``rng`` is a seed or a generator."""
        n = check_count(n, "n", 1)
        source = check_rng(rng)
        component = source.choice(self.k, size=n, p=self.weights / self.weights.sum())
        noise = source.standard_normal((n, self.d))
        deviations = np.einsum("na,nab->nb", noise, self.roots[component])
        return np.asarray(self.means[component] + deviations)

    def at(self, mean: Array) -> Mixture:
        """Return the same class moved to another mean."""
        return Mixture(self.means + (mean - self.mean), self.covariances, self.weights)

    def __repr__(self) -> str:
        kind = "Gaussian" if self.k == 1 else f"{self.k} Gaussians, weights {np.round(self.weights, 4).tolist()}"
        return f"Mixture({kind}, {self.d} features, mean {np.round(self.mean, 4).tolist()})"


@dataclass(frozen=True, eq=False)
class Population:
    """Two classes with known distributions, and how frequent they are.

    Parameters
    ----------
    positives, negatives : Mixture
        Distributions of the two classes.
    prior_plus : float
        Probability of a positive, strictly between 0 and 1.

    Raises
    ------
    InputError
        If the classes have unequal numbers of features, or the prior is outside (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.distributions.population.classes import Mixture, Population
    >>> pair = Population(Mixture([1.0, 0.0], np.eye(2)), Mixture([0.0, 0.0], np.eye(2)))
    >>> [float(rate.round(6)) for rate in pair.rates(np.array([1.0, 0.0]), -0.5)]
    [0.308538, 0.308538]
    """

    positives: Mixture
    negatives: Mixture
    prior_plus: float = 0.5

    def __post_init__(self) -> None:
        for name, given in (("positives", self.positives), ("negatives", self.negatives)):
            if not isinstance(given, Mixture):
                raise InputError(f"{name} must be a Mixture, got {what_it_is(given)}")
        if self.positives.d != self.negatives.d:
            raise InputError(
                f"negatives must have as many features as positives ({self.positives.d}), got {self.negatives.d}"
            )
        object.__setattr__(self, "prior_plus", check_share(self.prior_plus, "prior_plus"))

    @classmethod
    def fit(
        cls,
        X: Any,
        y: Any,
        components: int | tuple[int, int] = 1,
        *,
        prior_plus: float | None = None,
        reg: float = 1e-6,
        rng: Rng = 0,
    ) -> Self:
        """Fit a mixture of Gaussians to each class; `population_regimes` and its neighbours take the result.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Samples.
        y : array of shape (n,)
            Labels -1 and +1, both present.
        components : int or pair of int
            How many Gaussians the positives and the negatives have; one number: both as many.
        prior_plus : float, optional
            Probability of a positive; by default their share of the samples.
        reg : float
            As of `Mixture.fit`.
        rng : int or numpy.random.Generator
            As of `Mixture.fit`.

        Raises
        ------
        InputError
            If an argument is not what it must be, or a class is none for `Mixture.fit`.

        Examples
        --------
        >>> import paretoclf as pc
        >>> data = pc.datasets.load("wdbc")
        >>> found = pc.population.Population.fit(data.X[:, :2], data.y, components=(1, 2))
        >>> found.positives.k, found.negatives.k, round(found.prior_plus, 4)
        (1, 2, 0.3726)
        """
        A = dense(check_samples(X))
        labels = check_labels(y, len(A))
        both = (components, components) if np.ndim(components) == 0 else tuple(components)  # type: ignore[arg-type]
        if len(both) != 2:
            raise InputError(f"components must be one number or a pair (positives, negatives), got {components!r}")
        n_plus, n_minus = (check_count(each, "components", 1) for each in both)
        seed = check_seed(rng)
        plus = Mixture._fitted(A[labels == 1], n_plus, reg, seed, "positives")
        minus = Mixture._fitted(A[labels == -1], n_minus, reg, seed, "negatives")
        return cls(plus, minus, float((labels > 0).mean()) if prior_plus is None else prior_plus)

    @property
    def d(self) -> int:
        """Number of features."""
        return self.positives.d

    @property
    def log_prior_odds(self) -> float:
        r"""Logarithm of :math:`p_+/p_-`."""
        return float(np.log(self.prior_plus) - np.log1p(-self.prior_plus))

    @cached_property
    def moments(self) -> Moments:
        """Means and covariances of the two classes."""
        plus, minus = self.positives, self.negatives
        return Moments.from_covariances(plus.mean, plus.covariance, minus.mean, minus.covariance)

    @cached_property
    def centre(self) -> Array:
        """Middle of the two means."""
        return 0.5 * (self.positives.mean + self.negatives.mean)

    @cached_property
    def centred(self) -> Population:
        """Population moved so that the middle is at the origin: far from it, products of means lose their digits."""
        half = 0.5 * self.moments.delta
        return Population(self.positives.at(half), self.negatives.at(-half), self.prior_plus)

    @property
    def gaussian(self) -> bool:
        """Whether each class is one Gaussian."""
        return self.positives.k == 1 and self.negatives.k == 1

    def rates(self, w: Any, b: Any) -> tuple[Array, Array]:
        """False positive and false negative rate of hyperplanes, slopes of shape (..., d) and intercepts (...)."""
        return self.negatives.share(w, b), self.positives.share(w, b, label=-1)

    def swapped(self) -> Population:
        """Population with the names of the two classes exchanged."""
        return Population(self.negatives, self.positives, 1.0 - self.prior_plus)

    def moved(self, factor: float) -> Population:
        """Return the positives moved along the line of the means, to ``factor`` times their distance."""
        factor = check_positive_number(factor, "factor")
        middle = self.negatives.mean + factor * self.moments.delta
        return Population(self.positives.at(middle), self.negatives, self.prior_plus)

    def log_ratio(self, X: Any) -> Array:
        """Logarithm of the density of the positives over that of the negatives, shape (m,)."""
        return self.positives.log_density(X) - self.negatives.log_density(X)

    def draw(self, n: int, rng: Rng = 0) -> tuple[Array, Array]:
        """Draw n samples with their labels: X of shape (n, d), y of shape (n,)."""
        source = check_rng(rng)
        n = check_count(n, "n", 1)
        y = np.where(source.random(n) < self.prior_plus, 1.0, -1.0)
        X = np.empty((n, self.d))
        for label, mixture in ((1.0, self.positives), (-1.0, self.negatives)):
            here = y == label
            if here.any():
                X[here] = mixture.draw(int(np.count_nonzero(here)), source)
        return X, y

    def __repr__(self) -> str:
        return f"Population({self.positives!r}, {self.negatives!r}, prior_plus={self.prior_plus:g})"
