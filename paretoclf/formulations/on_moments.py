"""Formulations of two classes that are known by their means and covariances, or by samples through a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from paretoclf.common.checks import Array, check_labels
from paretoclf.distributions.gaussian.estimation import Estimate, check_reg, check_shrinkage, estimates
from paretoclf.distributions.gaussian.family import Family, Members
from paretoclf.distributions.gaussian.moments import Distances, Moments
from paretoclf.distributions.gaussian.span import coefficients
from paretoclf.formulations.base import Formulation
from paretoclf.problem.classifiers import KernelRule, LinearRule, Rule
from paretoclf.problem.gram import Gram
from paretoclf.problem.samples import Samples
from paretoclf.proof.verdicts.evidence import Judged
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.models.model import Form


@dataclass(frozen=True, eq=False)
class MomentSlope:
    """Slope that is read from a solved program, with a kernel also the coefficients that imply it."""

    a: Array = field(repr=False)
    tau: float | None = None
    coef: Array | None = field(default=None, repr=False)


class MomentFormulation(Formulation):
    r"""A formulation in the means and covariances of two classes.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d), or array of shape (n, n) if kernel is "precomputed"
        Samples. `from_moments` takes moments instead.
    y : array of shape (n,)
        Labels -1 and +1, both present.
    kernel : optional
        None (linear), ``"rbf"`` (`RBF.scale`), ``"precomputed"``, another scikit-learn kernel name, a callable
        ``f(X, Z)``, or a kernel object.
    reg : float or pair of floats
        Ridges :math:`\delta_+,\delta_-\ge0` added to the diagonals of the two sample covariances (one number: the same
        for both). With a kernel it must usually be positive: there are more features than samples.
    low_rank : int, float or sequence of int, optional
        Replace the kernel by features; see `paretoclf.problem.low_rank`.

    Attributes
    ----------
    moments : Moments
        Means and roots of the covariances; with a kernel, of the rows of a factor of the Gram.
    gram : Gram or None
        The kernel values; None with `from_moments`.
    X, y : array
        Copies of what was given, checked; None with `from_moments`.
    reg : (float, float)
        The two ridges.

    Raises
    ------
    InputError
        If an argument is not what it must be; a covariance is singular; or the two means are equal (except for
        `SProcedure`).
    """

    default_form: Form = "dual"
    #: End of the message where the two means are equal; None for a formulation that has something to solve even then.
    without_difference: str | None = (
        ": no slope has a . (mu_plus - mu_minus) = 1, so the problem has no solution. Problems (4) and (5) of Kim et "
        "al., where one rate is below one half, have one: SProcedure.at_rate, and gaussian_tradeoff the whole curve"
    )
    _estimates: tuple[Estimate, Estimate]

    def __init__(
        self, X: Any, y: Any, kernel: Any = None, *, reg: Any = 0.0, shrinkage: Any = 0.0, low_rank: Any = None
    ) -> None:
        self.gram: Gram | None = Gram(X, kernel, low_rank)
        self.X: Samples = self.gram.X
        self.y: Array | None = check_labels(y, self.gram.n, of=X)
        self.reg = check_reg(reg)
        if self.gram.linear:
            self.moments = Moments.from_samples(self.gram.factor, self.y, self.reg, shrinkage)
        else:  # more features than samples are the rule here: nothing to warn of
            self._estimates = estimates(self.gram.factor, self.y, self.reg, check_shrinkage(shrinkage))
            self.moments = Moments.from_estimates(*self._estimates)
        self._require_difference()

    @classmethod
    def from_moments(cls, mu_plus: Any, Sigma_plus: Any, mu_minus: Any, Sigma_minus: Any) -> Self:
        """Make the formulation for moments that are known.

        Parameters
        ----------
        mu_plus, mu_minus : array of shape (d,)
            Means; they must differ, except for `SProcedure`.
        Sigma_plus, Sigma_minus : array of shape (d, d)
            Covariances, symmetric and positive definite.
        """
        made = cls.__new__(cls)
        made.gram, made.X, made.y, made.reg = None, None, None, (0.0, 0.0)
        made.moments = Moments.from_covariances(mu_plus, Sigma_plus, mu_minus, Sigma_minus)
        made._require_difference()
        return made

    def _require_difference(self) -> None:
        """InputError where the two means are equal and nothing can be solved then."""
        if self.without_difference is not None:
            self.moments.require_difference(self.without_difference)

    @cached_property
    def family(self) -> Family:
        """Every Pareto-optimal slope of these moments, in closed form."""
        return Family.of(self.moments)

    @property
    def linear(self) -> bool:
        """Whether slopes are vectors in the features that were given."""
        return self.gram is None or self.gram.linear

    def ratio(self, values: Mapping[str, float], a: Array) -> float:
        r"""Return the t with :math:`(\Sigma_++t\Sigma_-)a\propto\delta` at an optimal slope."""
        raise NotImplementedError

    def read(self, found: Mapping[Form, Mapping[str, Any]]) -> MomentSlope:
        """Read the slope from the whitened z of the primal, a multiple of the multiplier of the balance in the dual."""
        z = found["dual"]["balance"] if "dual" in found else found["primal"]["z"]
        return MomentSlope(self.moments.white.slope(z))

    def slope_of(self, member: Members) -> MomentSlope:
        """Return the slope of a member of the family."""
        return MomentSlope(self.family.slopes(member.y))

    def distances(self, solution: Solution) -> Distances:
        """Distances of the two means from the hyperplane of a solution, and with them its rates."""
        return Distances(solution.numbers["u_minus"], solution.numbers["u_plus"])

    def classifier(self, values: Mapping[str, float], numbers: Mapping[str, Any]) -> Rule:
        """Return the linear rule of the slope, or the kernel rule of its coefficients."""
        if self.gram is None or self.gram.linear:
            return LinearRule(numbers["w"], numbers["b"], names=self.names)
        return KernelRule(self.gram, numbers["coef"], numbers["b"])

    def certified(self, values: Mapping[str, float], point: MomentSlope, **how: Any) -> Solution:
        """Certify the point: with a kernel, the slope that its coefficients imply."""
        return super().certified(values, self._implied(values, point), **how)

    def _implied(self, values: Mapping[str, float], point: MomentSlope) -> MomentSlope:
        """Return a slope with its coefficients, as the coefficients imply it; without a kernel the slope itself."""
        if self.gram is None or self.y is None or self.gram.linear:
            return point
        a = point.a / float(point.a @ self.moments.delta)
        t = self.ratio(values, a)
        weights = (1.0, t) if t < np.inf else (0.0, 1.0)
        plus, minus = self.moments.spread(a)
        k = weights[0] * plus**2 + weights[1] * minus**2  # a . delta = 1
        of_plus, of_minus = self._estimates
        ridge = of_plus.ridge, of_minus.ridge
        kept = of_plus.kept, of_minus.kept
        coef = coefficients(self.gram, self.y, a, k, weights, ridge, kept)
        return MomentSlope(np.asarray(self.gram.factor.T @ coef), point.tau, coef)

    def __repr__(self) -> str:
        data = "moments" if self.gram is None else f"{self.gram.n} samples, {self.gram.kernel}, reg={self.reg}"
        return f"{type(self).__name__}({data}, {self.moments.d} features)"


def with_coefficients(judged: Judged, point: MomentSlope) -> Judged:
    """Add the coefficients of a slope, in the scale it was judged in, to the numbers of its judgement."""
    if point.coef is None:
        return judged
    slope = point.a
    scale = float(judged.numbers["w"] @ slope) / float(slope @ slope)
    return replace(judged, numbers={**judged.numbers, "coef": scale * point.coef})
