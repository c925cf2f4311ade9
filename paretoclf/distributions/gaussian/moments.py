r"""Means and covariances of two classes, given or estimated, and where a hyperplane stands between them.

A covariance is kept as its root: :math:`R` with :math:`R^\top R=\Sigma`, so that :math:`\sqrt{a^\top\Sigma a}=\|Ra\|`.
Roots of samples come from a QR decomposition of the samples themselves: nothing is squared that is square-rooted later.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import ndtr

from paretoclf.common.checks import Array, check_labels, check_matrix, check_symmetric, keep
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import COVARIANCE_RANK, COVARIANCE_SYMMETRY, EQUAL_MEANS
from paretoclf.distributions.gaussian.estimation import (
    Estimate,
    check_reg,
    check_shrinkage,
    estimates,
    warn_of_small_samples,
)
from paretoclf.problem.samples import check_samples, dense, require_scale


@dataclass(frozen=True)
class Distances:
    r"""Signed distances of the two means from a hyperplane, each in standard deviations of its class along the normal.

    Kim et al. (2006), equation (1): positive where the mean is on its own side.

    Attributes
    ----------
    u_minus : float
        :math:`u_-=-(w\cdot\mu_-+b)/\sqrt{w^\top\Sigma_-w}`.
    u_plus : float
        :math:`u_+=(w\cdot\mu_++b)/\sqrt{w^\top\Sigma_+w}`.

    Examples
    --------
    >>> at_the_mean = Distances(u_minus=0.0, u_plus=1.0)
    >>> at_the_mean.tnr, at_the_mean.worst_case
    (0.5, (0.0, 0.5))
    """

    u_minus: float
    u_plus: float

    @property
    def tnr(self) -> float:
        """True negative rate if the negatives are Gaussian."""
        return float(ndtr(self.u_minus))

    @property
    def tpr(self) -> float:
        """True positive rate if the positives are Gaussian."""
        return float(ndtr(self.u_plus))

    @property
    def rates(self) -> tuple[float, float]:
        """False positive and false negative rate of Gaussian classes."""
        return float(ndtr(-self.u_minus)), float(ndtr(-self.u_plus))

    @property
    def worst_case(self) -> tuple[float, float]:
        """Smallest true negative and true positive rate over all distributions with these moments (Chebyshev)."""
        return chebyshev(self.u_minus), chebyshev(self.u_plus)


def chebyshev(u: float) -> float:
    r"""Smallest probability of the right side of a hyperplane: :math:`\Psi(u)=u^2/(1+u^2)` for u > 0, else 0.

    Kim et al. (2006), equation (8); Marshall & Olkin (1960). Attained by two atoms.

    Examples
    --------
    >>> chebyshev(2.0), chebyshev(-2.0)
    (0.8, 0.0)
    """
    if not u > 0:
        return 0.0
    square = float(u) ** 2
    return square / (1.0 + square)


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    r"""Means :math:`\mu_\pm` and roots :math:`R_\pm` of the covariances :math:`\Sigma_\pm=R_\pm^\top R_\pm`.

    Make one with `from_covariances` or `from_samples`, which check what they are given.

    Attributes
    ----------
    mu_plus, mu_minus : array of shape (d,)
        Means of the positives and of the negatives.
    root_plus, root_minus : array of shape (d, d)
        Upper triangular roots of the covariances.

    Examples
    --------
    >>> import numpy as np
    >>> m = Moments.from_covariances([1.0, 0.0], np.eye(2), [0.0, 0.0], 4 * np.eye(2))
    >>> m.distances(np.array([1.0, 0.0]), -0.5)
    Distances(u_minus=0.25, u_plus=0.5)
    """

    mu_plus: Array
    root_plus: Array
    mu_minus: Array
    root_minus: Array

    def __post_init__(self) -> None:
        keep(self, "mu_plus", "root_plus", "mu_minus", "root_minus")

    def __repr__(self) -> str:
        distance = np.linalg.norm(self.mu_plus - self.mu_minus)
        return f"Moments({self.mu_plus.size} features, means {distance:.4g} apart)"

    @classmethod
    def from_covariances(cls, mu_plus: Any, Sigma_plus: Any, mu_minus: Any, Sigma_minus: Any) -> Moments:
        """Moments that are known.

        Parameters
        ----------
        mu_plus, mu_minus : array of shape (d,)
            Means.
        Sigma_plus, Sigma_minus : array of shape (d, d)
            Covariances, symmetric and positive definite.

        Raises
        ------
        InputError
            If a mean is no finite vector, or a covariance not symmetric or not positive definite.
        """
        plus = check_mean(mu_plus, "mu_plus", None)
        minus = check_mean(mu_minus, "mu_minus", plus.size)
        root_plus = covariance_root(Sigma_plus, "Sigma_plus", plus.size)
        root_minus = covariance_root(Sigma_minus, "Sigma_minus", plus.size)
        return cls(plus, root_plus, minus, root_minus)

    @classmethod
    def from_samples(cls, X: Any, y: Any, reg: Any = 0.0, shrinkage: Any = 0.0) -> Moments:
        r"""Moments of samples.

        Kim et al. (2006), section 6.1, and shrunk (see `paretoclf.distributions.gaussian.estimation`):
        :math:`\Sigma_\pm=(1-s_\pm)S_\pm+(s_\pm\mathrm{tr}S_\pm/d+\delta_\pm)I`, :math:`S_\pm` the sample covariance
        :math:`\frac1{n_\pm}\sum(x_i-\mu_\pm)(x_i-\mu_\pm)^\top`.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Samples.
        y : array of shape (n,)
            Labels -1 and +1.
        reg : float or pair of floats
            :math:`\delta`, nonnegative, added to the diagonal of both covariances; or :math:`(\delta_+,\delta_-)`.
        shrinkage : float, "ledoit-wolf", "oas", or a pair of them
            Number s in [0, 1], or name of the estimate of s, for each class.

        Raises
        ------
        InputError
            If an argument is not what it must be, or a covariance is singular: then reg must be positive.

        Warns
        -----
        SmallSampleWarning
            If a sample covariance is singular and only reg or shrinkage makes the estimate regular.

        Examples
        --------
        >>> import numpy as np
        >>> X, y = np.array([[0.0], [2.0], [5.0], [5.0], [8.0]]), np.array([-1, -1, 1, 1, 1])
        >>> Moments.from_samples(X, y, reg=0.5).Sigma_plus
        array([[2.5]])
        """
        A = dense(check_samples(X))
        require_scale(A)
        labels = check_labels(y, len(A), of=X)
        found = estimates(A, labels, check_reg(reg), check_shrinkage(shrinkage))
        warn_of_small_samples(A, labels)
        return cls.from_estimates(*found)

    @classmethod
    def from_estimates(cls, plus: Estimate, minus: Estimate) -> Moments:
        """Moments of two classes that have been estimated, without a warning."""
        return cls(plus.mean, plus.root, minus.mean, minus.root)

    @property
    def d(self) -> int:
        """Number of features."""
        return self.mu_plus.size

    @cached_property
    def Sigma_plus(self) -> Array:
        """Covariance of the positives."""
        return np.asarray(self.root_plus.T @ self.root_plus)

    @cached_property
    def Sigma_minus(self) -> Array:
        """Covariance of the negatives."""
        return np.asarray(self.root_minus.T @ self.root_minus)

    @cached_property
    def delta(self) -> Array:
        r"""Difference of the means, :math:`\mu_+-\mu_-`."""
        return self.mu_plus - self.mu_minus

    @property
    def equal_means(self) -> bool:
        """Whether the two means are equal, up to rounding: no hyperplane has both on the right side."""
        size_plus = float(np.abs(self.mu_plus).max())
        size_minus = float(np.abs(self.mu_minus).max())
        return float(np.abs(self.delta).max()) <= EQUAL_MEANS * max(size_plus, size_minus)

    def require_difference(self, remedy: str = "") -> None:
        """InputError where the two means are equal; ``remedy`` ends its message."""
        if self.equal_means:
            raise InputError(
                f"mu_plus and mu_minus must differ, got two equal means {np.array2string(self.mu_plus, threshold=5)}"
                f"{remedy}"
            )

    def spread(self, w: Array) -> tuple[float, float]:
        r"""Standard deviations along a slope, :math:`(\sqrt{w^\top\Sigma_+w},\sqrt{w^\top\Sigma_-w})`."""
        plus = float(np.linalg.norm(self.root_plus @ w))
        minus = float(np.linalg.norm(self.root_minus @ w))
        return plus, minus

    def distances(self, w: Array, b: float) -> Distances:
        """Distances of the means from the hyperplane ``w . x + b = 0``."""
        plus, minus = self.spread(w)
        score_plus = float(w @ self.mu_plus) + b
        score_minus = float(w @ self.mu_minus) + b
        return Distances(u_minus=-score_minus / minus, u_plus=score_plus / plus)

    def swapped(self) -> Moments:
        """Moments of the two classes with their names exchanged."""
        return Moments(self.mu_minus, self.root_minus, self.mu_plus, self.root_plus)

    @cached_property
    def white(self) -> White:
        """Coordinates in which both covariances are diagonal and add up to the identity."""
        Q, P = np.linalg.qr(np.vstack([self.root_plus, self.root_minus]))
        of_plus = Q[: self.d]
        of_minus = Q[self.d :]
        V = np.linalg.svd(of_plus)[2].T
        # Where the share of the positives is large, that of the negatives is resolved by a decomposition of its own.
        large = np.linalg.norm(of_plus @ V, axis=0) > np.sqrt(0.5)
        _, _, axes = np.linalg.svd(of_minus @ V[:, large], full_matrices=False)
        V[:, large] = V[:, large] @ axes.T
        plus = np.linalg.norm(of_plus @ V, axis=0)
        minus = np.linalg.norm(of_minus @ V, axis=0)
        direction = V.T @ solve_triangular(P, self.delta, trans=1)
        length = float(np.linalg.norm(direction))
        return White(P, V, plus, minus, direction / (length or 1.0), length)


@dataclass(frozen=True, eq=False)
class White:
    r"""Whitened coordinates :math:`z=\ell V^\top Pa`, :math:`P^\top P=\Sigma_++\Sigma_-`: what solvers are given.

    In them the covariances are diagonal and add up to the identity, :math:`\ell\|R_\pm a\|=\|q_\pm\circ z\|` with
    :math:`q_+^2+q_-^2=1` entry by entry, and :math:`a\cdot\delta=e\cdot z`, :math:`|e|=1`; however badly scaled or
    correlated the features are. (A cosine-sine decomposition of the two roots, stacked.)

    Attributes
    ----------
    P : array of shape (d, d)
        Upper triangular root of the sum of the covariances.
    V : array of shape (d, d)
        Orthogonal.
    plus, minus : array of shape (d,)
        Standard deviations q_plus and q_minus of the classes along the axes.
    direction : array of shape (d,)
        Unit vector e of the difference of the means; 0 for equal means.
    length : float
        Distance of the two means in the norm of the pooled covariance.
    """

    P: Array
    V: Array
    plus: Array
    minus: Array
    direction: Array
    length: float

    def slope(self, z: Any) -> Array:
        """Return the slope a of a point z."""
        turned = self.V @ np.asarray(z, dtype=np.float64)
        return np.asarray(solve_triangular(self.P, turned)) / self.length


def check_mean(mean: Any, name: str, d: int | None) -> Array:
    """Return a mean as a finite vector, of length d unless that is None."""
    matrix = np.atleast_1d(mean)[None] if np.ndim(mean) < 2 else mean
    row: Array = check_matrix(matrix, name, copy=True)
    if np.ndim(mean) > 1 or (d is not None and row.shape[1] != d):
        length = "d" if d is None else d
        raise InputError(f"{name} must have shape ({length},), got {np.shape(mean)}")
    return np.asarray(row[0])


def covariance_root(Sigma: Any, name: str, d: int) -> Array:
    r"""Return the upper triangular R with :math:`R^\top R=\Sigma`, or say why there is none."""
    given = check_matrix(np.reshape(Sigma, (1, 1)) if np.ndim(Sigma) == 0 else Sigma, name)
    if given.shape != (d, d):
        raise InputError(f"{name} must have shape ({d}, {d}), got {given.shape}")
    check_symmetric(given, name, COVARIANCE_SYMMETRY * float(np.abs(given).max()))
    covariance = 0.5 * (given + given.T)
    # Judged after scaling every feature to variance 1: a unit of measurement makes no covariance singular.
    scale = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    correlation = covariance / np.outer(scale, scale) if (scale > 0).all() else None
    if correlation is None or np.linalg.eigvalsh(correlation)[0] <= COVARIANCE_RANK * d:
        values = np.linalg.eigvalsh(covariance)
        raise InputError(
            f"{name} must be positive definite, got smallest eigenvalue {values[0]:.3g} (largest {values[-1]:.3g})"
        )
    return np.asarray(scale * np.linalg.cholesky(correlation).T)
