r"""The minimum error minimax probability machine (MEMPM): the best weighted guarantee of two classes.

Only mean and covariance of each class are known; :math:`\Psi(u)=u^2/(1+u^2)` is the guaranteed rate of a class whose
mean stands u > 0 standard deviations on its own side of the hyperplane. For a weight :math:`\theta\in(0,1)` of the
negatives

.. math::

   \max_{a,b}\ \theta\,\Psi(u_-)+(1-\theta)\,\Psi(u_+),\qquad u_\pm>0 .

**Not convex, solved to a proof.** For a fixed :math:`u_+` the best :math:`u_-` is a second-order cone program, the
biased minimax probability machine, and it is a convex, decreasing function of :math:`u_+`. The outer search
(:mod:`paretoclf.distributions.gaussian.outer_search`) solves it at a few :math:`u_+`, each with its certificate, and
bounds the objective everywhere between them. The certificate of the answer is the value that its hyperplane reaches
against that bound: weak duality for a problem that has no dual of its own.

**Optimality.** Inside the segment :math:`\theta\Psi'(u_-)\|R_+a\|=(1-\theta)\Psi'(u_+)\|R_-a\|`,
:math:`\Psi'(u)=2u/(1+u^2)^2`. For weights near 0 or 1 the supremum lies at an end of the segment, where the mean of one
class is on the hyperplane: that class has no guarantee, and the problem as Kim et al. state it (:math:`u_\pm>0`) has no
solution. The end is returned, and a note says so. Another note says where predicting one class always would guarantee
more (:math:`\theta` or :math:`1-\theta`).

**Proposition 2** of Kim et al.: every solution is Pareto optimal for Gaussian classes with these moments, so it is the
solution of `ParetoGaussian` at :math:`\lambda=u_-/u_+`.

**References.** Huang, Yang, King, Lyu & Chan, JMLR 5 (2004). Kim et al. (2006), problem (9).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from scipy.optimize import brentq

from paretoclf.common.checks import check_pair
from paretoclf.common.errors import InputError
from paretoclf.distributions.gaussian.guarantee_path import GuaranteePath, trace_weights
from paretoclf.distributions.gaussian.moments import Distances, Moments
from paretoclf.distributions.gaussian.outer_search import Search, search, weighted_guarantee
from paretoclf.formulations.base import Range, within
from paretoclf.formulations.biased_minimax import BiasedMinimaxProbabilityMachine
from paretoclf.proof.verdicts.evidence import Evidence, judge
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.models.statement import Statement

PAGE = Statement(
    title="The minimum error minimax probability machine (MEMPM)",
    data=(
        "Means $\\mu_\\pm$ and covariances $\\Sigma_\\pm=R_\\pm^\\top R_\\pm\\succ0$ of otherwise unknown "
        "distributions; $\\delta=\\mu_+-\\mu_-\\ne0$; $\\Psi(u)=u^2/(1+u^2)$ for $u>0$. Parameter `theta`: "
        "$0<\\theta<1$, the weight of the negatives. Not convex; its inner problem is the biased minimax probability "
        "machine, whose value $u_-^*(u_+)$ is convex and decreasing."
    ),
    primal=r"\max_{0\le u_+\le r_1}\ \theta\,\Psi(u_-^*(u_+))+(1-\theta)\,\Psi(u_+)",
    lagrangian="",
    dual=(
        r"\max_k\ \max_{q_k\le q\le q_{k+1}}\ \theta\,\Psi\Big(\frac{q_{k+1}-q}{q_{k+1}-q_k}\bar u_k+"
        r"\frac{q-q_k}{q_{k+1}-q_k}\bar u_{k+1}\Big)+(1-\theta)\,\Psi(q),\qquad \bar u_k\ge u_-^*(q_k)"
    ),
    kkt={
        "point of the curve": r"u_-=u_-^*(u_+)",
        "stationarity": r"\theta\Psi'(u_-)\|R_+a\|=(1-\theta)\Psi'(u_+)\|R_-a\|\ (\text{inside the segment})",
    },
    signs={},
    recovery="That of the inner problem at the best $u_+$.",
    remarks=(
        "The bound in place of a dual: the curve lies below its chords, and $\\bar u_k$ comes from the dual of the "
        "inner problem.",
        "At an end of the segment the mean of one class lies on the hyperplane; problem (9) of Kim et al. excludes it.",
        "Every solution solves problem (3) of Kim et al. at $\\lambda=u_-/u_+$ (Proposition 2).",
    ),
    reference="Huang, Yang, King, Lyu & Chan (2004); Kim et al. (2006), problem (9).",
)


class MEMPM:
    r"""The classifier with the best weighted sum of the rates that are guaranteed for the two classes.

    Parameters
    ----------
    X, y, kernel, reg, shrinkage, low_rank
        Samples and how their moments are estimated; see `MomentFormulation`, and `from_moments` for known moments.

    Attributes
    ----------
    inner : BiasedMinimaxProbabilityMachine
        The family of second-order cone programs.
    domain : mapping of str to Range
        The one parameter, theta.

    References
    ----------
    Huang et al. (2004); Kim et al. (2006), problem (9).

    Examples
    --------
    >>> from paretoclf.formulations.mempm import MEMPM
    >>> machine = MEMPM.from_moments([4.0], [[1.0]], [0.0], [[1.0]])
    >>> solution = machine.solve(theta=0.5)
    >>> round(-solution.value, 9), round(solution.classifier.b, 9)
    (0.8, -2.0)
    """

    domain = MappingProxyType({"theta": Range(0, 1, closed=False)})
    page = PAGE
    lines = None
    searches = "biased minimax programs in u_plus"

    def __init__(
        self, X: Any, y: Any, kernel: Any = None, *, reg: Any = 0.0, shrinkage: Any = 0.0, low_rank: Any = None
    ) -> None:
        how: dict[str, Any] = {"reg": reg, "shrinkage": shrinkage, "low_rank": low_rank}
        self.inner = BiasedMinimaxProbabilityMachine(X, y, kernel, **how)

    @classmethod
    def from_moments(cls, mu_plus: Any, Sigma_plus: Any, mu_minus: Any, Sigma_minus: Any) -> Self:
        """Make the machine for moments that are known; see `MomentFormulation.from_moments`."""
        made = cls.__new__(cls)
        made.inner = BiasedMinimaxProbabilityMachine.from_moments(mu_plus, Sigma_plus, mu_minus, Sigma_minus)
        return made

    @property
    def moments(self) -> Moments:
        """Means and roots of the covariances."""
        return self.inner.moments

    def distances(self, solution: Solution) -> Distances:
        """Distances of the two means from the hyperplane of a solution, and with them its guarantees."""
        return self.inner.distances(solution)

    def solve(self, theta: float = 0.5, *, tol: float = 1e-9, most: int = 200, **options: Any) -> Solution:
        """Maximise the weighted guarantee.

        Parameters
        ----------
        theta : float
            Weight of the negatives' guarantee, strictly between 0 and 1.
        tol : float
            Largest difference of the proven bound and the value.
        most : int
            Largest number of second-order cone programs.
        **options
            Passed to `BiasedMinimaxProbabilityMachine.solve`: form, accuracy, solver, ...

        Returns
        -------
        Solution
            Solution of the minimisation of minus the weighted guarantee; ``notes`` say what is special.

        Raises
        ------
        InputError
            If an argument is not what it must be.
        SolveError
            If the solver returns no point.
        """
        theta = self.check_values({"theta": theta})["theta"]

        def inner(u_plus: float) -> tuple[float, float]:
            return self.point(u_plus, **options)

        found = search(theta, inner, self.inner.ends, tol=tol, most=most)
        return self.found(theta, found, **options)

    def point(self, q: float, **options: Any) -> tuple[float, float]:
        """Bounds of the largest u_minus at u_plus = q; the lower one is reached."""
        solved = self.inner.solve(u_plus=q, **options)
        return -solved.value, max(-solved.dual_value, -solved.value)

    def trace_within(self, eps: float, given: Mapping[str, Any], progress: bool | None = None) -> GuaranteePath:
        """The best weighted guarantee at every weight of an interval, within eps; `paretoclf.trace` calls it.

        Examples
        --------
        >>> import paretoclf as pc
        >>> machine = pc.MEMPM.from_moments([4.0], [[1.0]], [0.0], [[1.0]])
        >>> path = pc.trace(machine, theta=(0.2, 0.8), eps=1e-3)
        >>> low, high = path.bounds(0.5)
        >>> low <= -0.8 <= high <= 0.999 * low
        True

        Raises
        ------
        InputError
            If theta is no interval within (0, 1), or something else is given.
        DegeneratePathError
            If a search does not come as close as eps.
        """
        foreign = [name for name in given if name != "theta"]
        if foreign or "theta" not in given:
            raise InputError(f"MEMPM is traced with theta=(from, to), got {', '.join(given) or 'nothing'}")
        pair = check_pair(given["theta"], "theta")
        low, high = sorted(self.check_values({"theta": end})["theta"] for end in pair)
        if low == high:
            raise InputError(f"theta must be a pair with different ends, got {given['theta']!r:.100}")
        path = trace_weights(self.moments, (low, high), eps, progress)
        return replace(path, linear=self.inner.linear, machine=self)

    def check_values(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return theta as a float; InputError if it is missing, no number or out of its range."""
        return within(values, self.domain)

    def statement(self) -> str:
        """Markdown with LaTeX: the problem, its bound, conditions, recovery."""
        return self.describe()

    @classmethod
    def describe(cls) -> str:
        """Statement of the class, for which no data are needed."""
        return cls.page.markdown()

    def _repr_markdown_(self) -> str:
        return self.statement()

    def found(self, theta: float, found: Search, **options: Any) -> Solution:
        """Solution at the best point found, moved to where the objective is stationary, with the search as proof."""
        _, end = self.inner.ends
        solution = self._best_for_positives(end) if found.q == end else self.inner.solve(u_plus=found.q, **options)
        inside = 0.0 < found.q < end
        if inside:
            solution = self._moved(theta, solution, found, options)
        value = _value(theta, solution)
        stationarity = {
            "point of the curve": solution.certificate.residual,
            "stationarity": self._residual(theta, solution) if inside else 0.0,
        }
        numbers = {**solution.numbers, "theta": theta}
        judged = judge(-value, -max(found.bound, value), [], numbers, stationarity=stationarity, scale=1.0)
        programs = len(found.nodes) - 2
        return replace(
            solution,
            evidence=Evidence(judged.revised(shortfall=0.0)),
            status=f"{solution.status}, {programs} programs",
            values={"theta": theta},
            notes=(*solution.notes, *self._notes(theta, value, found.q)),
        )

    def _best_for_positives(self, end: float) -> Solution:
        """Solution at the end of the curve where the negatives have no guarantee."""
        slope = self.inner.slope_of(self.inner.family.of_ratio(0.0))
        how: dict[str, Any] = {"source": self.inner.direct, "status": self.inner.direct, "timing": {}}
        return self.inner.complete({"u_plus": end}, slope, polish=False, **how)

    def _moved(self, theta: float, solution: Solution, found: Search, options: Mapping[str, Any]) -> Solution:
        """Solution where the objective is stationary, between the neighbours of the best point; the better one."""
        distances = [node.q for node in found.nodes]
        best = distances.index(found.q)
        u_plus = self._stationary(theta, distances[best - 1], distances[best + 1], solution.numbers["t"])
        moved = self.inner.solve(u_plus=u_plus, **options)
        return moved if _value(theta, moved) >= _value(theta, solution) else solution

    def _stationary(self, theta: float, low: float, high: float, start: float) -> float:
        """Return the u_plus near the best one found at which the derivative along the curve vanishes."""
        family = self.inner.family

        def derivative(log_t: float) -> float:
            return self._derivative(theta, float(np.exp(log_t)))

        step = 1e-3
        for _ in range(12):
            first = np.log(start) - step
            last = np.log(start) + step
            if derivative(first) * derivative(last) < 0:
                root = brentq(derivative, first, last, xtol=1e-15, rtol=1e-15)
                return float(np.clip(family.of_ratio(np.exp(root)).plus, low, high))
            step *= 2
        return float(family.of_ratio(start).plus)

    def _derivative(self, theta: float, t: float) -> float:
        """Derivative of the objective along the curve, up to a positive factor."""
        at = self.inner.family.of_ratio(t)
        return _balance(theta, float(at.u_minus), float(at.u_plus), float(at.plus), float(at.minus))

    def _residual(self, theta: float, solution: Solution) -> float:
        """Residual of the optimality condition of a solution."""
        numbers = solution.numbers
        plus, minus = self.moments.spread(numbers["w"])
        return abs(_balance(theta, numbers["u_minus"], numbers["u_plus"], plus, minus))

    def _notes(self, theta: float, value: float, q: float) -> tuple[str, ...]:
        """Sentences on a supremum that no hyperplane attains, and on labels that guarantee more."""
        notes = []
        if not 0.0 < q < self.inner.ends[1]:
            which = "positives" if q == 0.0 else "negatives"
            notes.append(
                f"the supremum is at an end of the curve: the mean of the {which} lies on the hyperplane, they have no "
                "guarantee, and problem (9) of Kim et al. has no solution"
            )
        for guarantee, label in ((theta, -1), (1 - theta, 1)):
            if guarantee > value:
                notes.append(f"predicting {label:+d} always guarantees {guarantee:.6g}, more than {value:.6g}")
        return tuple(notes)

    def __repr__(self) -> str:
        return f"MEMPM({self.inner!r})"


def _value(theta: float, solution: Solution) -> float:
    """Weighted guarantee of the hyperplane of a solution."""
    return weighted_guarantee(theta, solution.numbers["u_minus"], solution.numbers["u_plus"])


def _balance(theta: float, u_minus: float, u_plus: float, plus: float, minus: float) -> float:
    """Difference of the two sides of the optimality condition, as a share of their sum."""
    gain = theta * _slope(u_minus) * plus
    loss = (1 - theta) * _slope(u_plus) * minus
    return (gain - loss) / (gain + loss)


def _slope(u: float) -> float:
    r"""Derivative of the Chebyshev guarantee, :math:`2u/(1+u^2)^2`."""
    return 2 * u / (1 + u**2) ** 2
