r"""The whole optimal trade-off curve of two classes known by means and covariances, in closed form.

Kim et al. (2006) solve one convex problem for every point; Anderson & Bahadur (1962) have all of them in one family of
slopes (:mod:`paretoclf.distributions.gaussian.family`): one decomposition, then O(d) a point. The curve runs from (true
negative rate 0, true positive rate 1) over A (true negative rate of a Gaussian class 1/2) and B (true positive rate
1/2) to (1, 0). Between A and B both rates are above 1/2; the two outer segments are the non-convex problems (4) and (5)
of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoclf.common.checks import (
    check_count,
    check_inside,
    check_number,
    check_positive_number,
    check_share,
    the_one_given,
)
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import FARTHEST
from paretoclf.distributions.gaussian.along import area, evenly, positive_part
from paretoclf.distributions.gaussian.cheapest import cheapest
from paretoclf.distributions.gaussian.family import Family, Members
from paretoclf.distributions.gaussian.judges import judge_pareto, largest_distances
from paretoclf.distributions.gaussian.moments import Moments
from paretoclf.distributions.gaussian.operating import OperatingPoint, TradeoffCurve
from paretoclf.distributions.gaussian.rates import GAUSSIAN, Rate, Rates, check_rates, said
from paretoclf.problem.costs import Costs, as_costs
from paretoclf.proof.verdicts.certificate import Certificate

if TYPE_CHECKING:
    from paretoclf.plotting.tradeoff import TradeoffDisplay


@dataclass(frozen=True, eq=False, repr=False)
class GaussianTradeoff:
    r"""The optimal trade-off curve between the true negative and the true positive rate of linear classifiers.

    Made by `gaussian_tradeoff`.

    Attributes
    ----------
    moments : Moments
        Means and roots of the covariances.
    rates : (Rate, Rate)
        How positives and negatives are judged; the classifiers are the same for all (see `judged_by`).
    """

    moments: Moments
    rates: Rates = GAUSSIAN

    @cached_property
    def family(self) -> Family:
        """The decomposition."""
        return Family.of(self.moments)

    @cached_property
    def _largest(self) -> tuple[float, float]:
        return largest_distances(self.moments)

    @property
    def r1(self) -> float:
        r"""Largest distance of the positives at A, :math:`\sqrt{\delta^\top\Sigma_+^{-1}\delta}`: equation (2)."""
        return self._largest[0]

    @property
    def r2(self) -> float:
        r"""Largest distance of the negatives at B, :math:`\sqrt{\delta^\top\Sigma_-^{-1}\delta}`: equation (2)."""
        return self._largest[1]

    @property
    def A(self) -> OperatingPoint:
        r"""The end of the middle segment where the negatives' mean is on the hyperplane: t = 0.

        Gaussian rates: :math:`(\frac12,\Phi(r_1))`; Chebyshev bounds: the point C of Kim et al., :math:`(0,\Psi(r_1))`.
        """
        return self._point(self.family.of_ratio(0.0))

    @property
    def B(self) -> OperatingPoint:
        r"""The end of the middle segment where the positives' mean is on the hyperplane: t is infinite.

        Gaussian rates: :math:`(\Phi(r_2),\frac12)`; Chebyshev bounds: the point D of Kim et al., :math:`(\Psi(r_2),0)`.
        """
        return self._point(self.family.of_negatives())

    def judged_by(self, rates: Rate | Rates) -> GaussianTradeoff:
        """Return the same curve of classifiers, judged by other rates.

        Parameters
        ----------
        rates : Rate or (Rate, Rate)
            For both classes, or for positives and negatives.
        """
        made = replace(self, rates=check_rates(rates))
        made.__dict__["family"] = self.family  # the decomposition is the same
        return made

    @cached_property
    def positions(self) -> tuple[float, float]:
        """Ends of the part of the curve on which both rates are positive; infinite where no rate has a threshold.

        Raises
        ------
        InputError
            If there is no such part: worst-case rates of both classes are not positive together.
        """
        start, stop = positive_part(self.family, self.rates)
        if not start < stop:
            raise InputError(
                f"rates: no hyperplane has a positive worst-case rate for both classes under {said(self.rates)}"
            )
        return start, stop

    def curve(self, n: int = 201, *, rates: Rate | Rates | None = None) -> TradeoffCurve:
        """Points of the curve, evenly spaced along it in the plane of the two rates.

        Parameters
        ----------
        n : int
            How many, at least 2.
        rates : Rate or (Rate, Rate), optional
            How to judge; by default as this trade-off does. With worst-case rates that are 0 up to a threshold the
            points are on the part of the curve where both rates are positive.

        Returns
        -------
        TradeoffCurve
            From where the true negative rate is about 1e-6 (or, after a threshold, positive) to where the true positive
            rate is. The limits (0, 1) and (1, 0) are no hyperplanes.
        """
        if rates is not None:
            return self.judged_by(rates).curve(n)
        count = check_count(n, "n", 2)
        positions = evenly(self.family, self.rates, self.positions, count)
        return self._curve(self.family.at(positions))

    def at_t(self, t: float) -> OperatingPoint:
        r"""Return the point with :math:`w\propto(\Sigma_++t\Sigma_-)^{-1}\delta`.

        Parameters
        ----------
        t : float
            From 0 to infinity along the middle segment, A to B. Negative values near 0 are on the segment of true
            negative rates below 1/2 of Gaussian classes, those near minus infinity on that of true positive rates.

        Raises
        ------
        InputError
            If no hyperplane of the curve has this t.
        """
        value = check_number(t, "t")
        if value == np.inf:
            return self.B
        if value >= 0:
            return self._point(self.family.of_ratio(value))
        family = self.family
        first = np.tan(family.start)
        last = np.tan(family.start + family.width)
        if not (value > first or value < last):
            raise InputError(f"t must be above {first:.6g}, or below {last:.6g}, got {t!r}")
        angle = float(np.arctan(value))
        if not value > first:
            angle += np.pi
        return self._point(family.at(family.position(angle)))

    def at_weight(self, lam: float) -> OperatingPoint:
        r"""Return the solution of problem (3) of Kim et al.: :math:`u_-=\lambda u_+`, both positive.

        Parameters
        ----------
        lam : float
            :math:`\lambda>0`.

        Raises
        ------
        InputError
            If lam is not positive, or the means are equal.
        """
        value = check_positive_number(lam, "lam")
        self.moments.require_difference(": problem (3) has no solution then; at_rate has the points of (4) and (5)")
        return self._point(self.family.of_weight(value))

    def at_rate(
        self, *, tnr: float | None = None, tpr: float | None = None, fpr: float | None = None, fnr: float | None = None
    ) -> OperatingPoint:
        """Return the best classifier where one rate is fixed: problems (4) and (5) of Kim et al., and the middle.

        Parameters
        ----------
        tnr, tpr, fpr, fnr : float
            Exactly one of the four, strictly between 0 and 1.

        Raises
        ------
        InputError
            If not exactly one rate is given, it is not between 0 and 1, or no hyperplane has it.
        """
        name, given = the_one_given(tnr=tnr, tpr=tpr, fpr=fpr, fnr=fnr)
        value = check_share(given, name)
        of_positives = name in ("tpr", "fnr")
        rate = self.rates[0] if of_positives else self.rates[1]
        distance = rate.at_error(value) if name in ("fpr", "fnr") else rate.at_correct(value)
        position = self.family.at_u_plus(distance) if of_positives else self.family.at_u_minus(distance)
        if abs(position) == FARTHEST:
            raise InputError(
                f"{name} = {value!r} asks for a mean {abs(distance):.3g} standard deviations from the hyperplane"
            )
        return self._point(self.family.at(position))

    def neyman_pearson(self, max_fpr: float) -> OperatingPoint:
        """Return the classifier with the largest true positive rate at a false positive rate of at most max_fpr."""
        return self.at_rate(fpr=check_share(max_fpr, "max_fpr"))

    def minimax(self) -> OperatingPoint:
        """Return the classifier with the smallest larger error: both rates are equal.

        With Chebyshev bounds this is the minimax probability machine.
        """
        plus, minus = self.rates
        start, stop = np.clip(self.positions, -FARTHEST, FARTHEST)

        def excess(at: Members) -> float:
            """Logarithm of the false negative over the false positive rate, which increases along the curve."""
            fnr = max(float(plus.error(at.u_plus)), 1e-300)
            fpr = max(float(minus.error(at.u_minus)), 1e-300)
            return float(np.log(fnr / fpr))

        def difference(at: Members) -> float:
            """Difference of the distances: where both are judged alike, it vanishes where the rates are equal."""
            return float(at.u_minus - at.u_plus)

        position = self.family.where(difference if plus == minus else excess, start, stop)
        return self._point(self.family.at(position))

    def best(self, costs: Costs | tuple[float, float], prior_plus: float = 0.5) -> OperatingPoint:
        """Return the classifier with the smallest expected cost.

        It is ``prior_plus C_plus fnr + (1 - prior_plus) C_minus fpr``. The search covers the outer segments, where the
        optimum can lie, and the two classifiers that give every sample one label. Its lower bound is proved
        (``OperatingPoint.bound``): within 1e-7 of the sum of the two weights, unless the cost hardly varies along the
        curve. With Chebyshev bounds this is MEMPM: theta and 1 - theta are the weights of fpr and of fnr.

        Parameters
        ----------
        costs : Costs or (C_plus, C_minus)
            Costs of a false negative and of a false positive; not both zero.
        prior_plus : float
            Probability of a positive.

        Raises
        ------
        InputError
            If a cost is negative, both are zero, or the prior is outside [0, 1].
        """
        at = as_costs(costs)
        prior = check_inside(prior_plus, "prior_plus")
        miss = prior * at.C_plus
        alarm = (1 - prior) * at.C_minus
        if miss + alarm == 0:
            raise InputError(f"costs times priors must not both be zero, got {at} with prior_plus = {prior:g}")
        found = cheapest(self.family, self.rates, miss, alarm)
        if np.isinf(found.position):
            return self._trivial(1 if found.position < 0 else -1, found.cost, found.bound)
        point = self._point(self.family.at(found.position))
        return replace(point, cost=found.cost, bound=found.bound)

    def certificate(self, point: OperatingPoint) -> Certificate:
        """Prove that a point is Pareto optimal, from its w and b alone, by weak duality.

        Raises
        ------
        InputError
            For a classifier that gives every sample one label: it is no hyperplane.
        """
        if not point.w.any():
            raise InputError("point must be a hyperplane, got a classifier that gives every sample one label")
        return judge_pareto(self.moments, point.w, point.b).certificate

    @cached_property
    def auc(self) -> float:
        r"""Area under the curve of the true positive over the false positive rate.

        With worst-case rates the area under the part of the curve where both are positive.
        """
        return area(self.family, self.rates, self.positions)

    def plot(self, ax: Any = None, **line: Any) -> TradeoffDisplay:
        """Draw the curve; see `paretoclf.plotting.tradeoff.TradeoffDisplay`."""
        from paretoclf.plotting.tradeoff import TradeoffDisplay  # matplotlib only when a picture is wanted

        return TradeoffDisplay.from_tradeoff(self).plot(ax=ax, **line)

    def __repr__(self) -> str:
        return f"GaussianTradeoff({self.moments.d} features, r1={self.r1:.6g}, r2={self.r2:.6g}, {said(self.rates)})"

    def _point(self, at: Members) -> OperatingPoint:
        """Return the point of one member of the family."""
        row = Members(*(np.asarray(entry)[None] for entry in vars(at).values()))
        return self._curve(row).point(0)

    def _curve(self, at: Members) -> TradeoffCurve:
        """Return the points of a row of members of the family."""
        size = np.linalg.norm(at.y, axis=-1)
        slopes = self.family.slopes(at.y)
        slopes /= size[:, None]
        # Take each intercept from the mean that is nearer to the hyperplane: fewer digits cancel.
        score_plus = at.u_plus * at.plus
        score_minus = -at.u_minus * at.minus
        from_plus = score_plus / size - slopes @ self.moments.mu_plus
        from_minus = score_minus / size - slopes @ self.moments.mu_minus
        nearer = np.abs(score_plus) < np.abs(score_minus)
        intercepts = np.where(nearer, from_plus, from_minus)
        return TradeoffCurve(slopes, intercepts, at.t, at.u_minus, at.u_plus, self.rates)

    def _trivial(self, label: int, cost: float, bound: float) -> OperatingPoint:
        """The classifier that gives every sample one label."""
        far = label * np.inf
        return OperatingPoint(
            w=np.zeros(self.moments.d),
            b=float(label),
            t=np.nan,
            u_minus=-far,
            u_plus=far,
            rates=self.rates,
            cost=cost,
            bound=bound,
        )
