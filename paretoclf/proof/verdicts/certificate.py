"""Certificates: how far a pair of points is from optimal, in numbers and in words.

There are three verdicts. Nothing unproved is called false, and nothing false is called proved: what is neither proved
nor refuted is undecided, and the certificate says what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoclf.common.tables import Tabular
from paretoclf.common.tolerances import CERTIFY, RESIDUAL_ROUNDING, UNDECIDED

if TYPE_CHECKING:
    from paretoclf.proof.verdicts.scale import Scale

#: What `Certificate.verdict` says, the worst first.
VERDICTS = ("not optimal", "undecided", "optimal")

#: Names of conditions that are constraints: one that is violated refutes. In the others (stationarity, complementary
#: slackness, a stored value) small gaps leave large residuals.
_CONSTRAINTS = ("box", "balance")


#: What a condition would say if it failed; of others the name has to do.
FAILURES = {
    "stationarity in w": "w is not the combination of samples that the multipliers imply",
    "box": "a multiplier leaves its box",
    "balance": "the two classes' multipliers do not balance",
    "rho": "the sum of the multipliers is not the one that rho goes with",
    "margin": "a margin constraint is violated",
    "one solution": "multipliers or slopes differ from one end to the other",
    "stationarity in xi": "a slack is not the one that its multiplier implies",
    "complementarity": "a sample off its margin is not at its bound",
    "value": "the stored value is not the optimal one",
    "rows": "a row is violated",
    "stationarity": "the gradient is not the one that the multipliers imply",
    "signs": "a multiplier has the wrong sign",
    "slackness": "a row that is not tight has a multiplier",
    "curvature": "P is not proved positive semidefinite",
}


@dataclass(frozen=True, repr=False, kw_only=True)
class Certificate(Tabular):
    """How far a (primal, dual) pair is from optimal. Residuals and gap are dimensionless; 0 is perfect.

    Attributes
    ----------
    primal_value : float
        Objective at a feasible primal point: an upper bound on the optimal value.
    dual_value : float
        Objective at a feasible dual point: a lower bound on the optimal value.
    gap : float
        Their difference, relative to the size of the problem (0 when both are 0).
    scale : float
        What the gap is relative to.
    relative_to : Scale, optional
        The three numbers of which that is the largest, where a point is judged against bounds.
    primal, dual, slackness : mapping of str to float
        Residuals of primal feasibility, of dual feasibility (signs, stationarity) and of complementary slackness, by
        the names that the formulation's statement gives the conditions.
    rounding : float
        What rounding alone can make of ``primal_value - dual_value``.
    kernel_rounding : float
        Values and residuals are of the kernel values as they are rounded. For the kernel itself the dual value may be
        lower by as much: where that exceeds the tolerance the verdict is at most undecided. 0 where kernel values are
        the data (features of a linear kernel, a precomputed matrix, values of a function, of which nothing is known).
    residual_rounding : mapping of str to float
        What rounding alone can make of residuals of primal feasibility, where that is known.
    certain : float or None
        For a pair: how much of the gap no rounding can make; None for what ``rounding`` leaves of it.
    shortfall : float or None
        Where a point is judged against bounds that are not made of its own multipliers: by how much its value is off
        for certain, in the unit of the values and with rounding taken off, because a feasible point in hand is better,
        or because no feasible point is as good (then the gap is negative). 0 where neither is so, None where a pair is
        judged: then its gap speaks for itself.
    multipliers : mapping of str to float
        Residuals of multipliers that came with a point that is judged alone; the verdict is not about them.
    worst : int or str
        Where the largest violation is: a sample, or a condition.
    worst_side : str
        The numbers there.
    note : str
        What `explain` adds about the problem that was judged, such as that its kernel is an approximation.
    tol : float
        Tolerance of the verdict, unless another one is asked for.
    """

    primal_value: float
    dual_value: float
    gap: float
    scale: float
    primal: Mapping[str, float] = field(default_factory=dict)
    dual: Mapping[str, float] = field(default_factory=dict)
    slackness: Mapping[str, float] = field(default_factory=dict)
    rounding: float = 0.0
    kernel_rounding: float = 0.0
    residual_rounding: Mapping[str, float] = field(default_factory=dict)
    certain: float | None = None
    shortfall: float | None = None
    multipliers: Mapping[str, float] = field(default_factory=dict)
    relative_to: Scale | None = None
    worst: Any = ""
    worst_side: str = ""
    note: str = ""
    tol: float = CERTIFY

    def times(self, unit: float) -> Certificate:
        """A certificate with all values in another unit."""
        names = ("primal_value", "dual_value", "scale", "rounding", "kernel_rounding", "certain", "shortfall")
        changed: dict[str, Any] = {}
        for name in names:
            value = getattr(self, name)
            if value is not None:
                changed[name] = unit * value
        if self.relative_to is not None:
            changed["relative_to"] = self.relative_to.times(unit)
        return replace(self, **changed)

    @property
    def conditions(self) -> dict[str, float]:
        """Residual of every condition, by the name that the formulation's statement gives it."""
        return {**self.primal, **self.dual, **self.slackness}

    @property
    def checks(self) -> dict[str, float]:
        """Every residual, by what it would say if it were large."""
        return _failures(self.conditions)

    @property
    def primal_residual(self) -> float:
        """Largest violation of a primal constraint."""
        return _most(self.primal.values())

    @property
    def dual_residual(self) -> float:
        """Largest violation of a sign, of stationarity or of a dual constraint."""
        return _most(self.dual.values())

    @property
    def complementarity(self) -> float:
        """Largest violation of complementary slackness."""
        return _most(self.slackness.values())

    @property
    def residual(self) -> float:
        """Largest scaled KKT residual."""
        return _most([self.primal_residual, self.dual_residual, self.complementarity])

    @property
    def where(self) -> str:
        """Where the largest violation is, such as ``"sample 3"``; empty where that is no one place."""
        return self._where().removeprefix("worst").lstrip(": ").replace(":", "")

    @property
    def off_by(self) -> float:
        """The smallest tolerance at which this passes: the largest residual, or the gap; infinite for nan.

        A gap that rounding makes does not count, unless it is so large that nothing is decided.
        """
        open_gap = 0.0 if self._closed(0.0) else abs(self.gap)
        unknown = self.kernel_rounding / max(self.scale, np.finfo(float).tiny)
        size = float(np.max([self.residual, self._primal_at_most, open_gap, self.refuted, unknown]))
        return np.inf if np.isnan(size) else size

    @property
    def refuted(self) -> float:
        """Below this tolerance it is refuted: the largest violation of a constraint, or by how much its value is off.

        For a pair the value of the point, or that of the multipliers, is off by at least half of it: by their own gap,
        less what rounding can make of it. For a point alone there is a feasible one that is better by so much,
        or none that is nearly as good.
        """
        known = (self._worse, *self._violated.values())
        return max((float(value) - RESIDUAL_ROUNDING for value in known if value > RESIDUAL_ROUNDING), default=0.0)

    @property
    def _violated(self) -> dict[str, float]:
        """Residual of each constraint, of the point and of the multipliers."""
        both = {
            **{name: size - self.residual_rounding.get(name, 0.0) for name, size in self.primal.items()},
            **self.dual,
        }
        return {name: size for name, size in both.items() if _is_constraint(name, name in self.primal)}

    @property
    def _primal_at_most(self) -> float:
        """Bound on every violation of a primal constraint, whatever is rounded."""
        return _most(size + self.residual_rounding.get(name, 0.0) for name, size in self.primal.items())

    @property
    def _worse(self) -> float:
        """Error of the value that is certain, relative to the scale."""
        if not self.scale > 0:
            return 0.0
        if self.shortfall is not None:
            return float(self.shortfall) / float(self.scale)
        return max(self.gap - self.rounding / self.scale, (self.certain or 0.0) / self.scale)

    def _closed(self, tol: float) -> bool:
        return abs(self.gap) <= tol or (self._rounded and abs(self.gap) <= UNDECIDED)

    @property
    def _rounded(self) -> bool:
        """Whether rounding alone can make the gap."""
        return abs(self.gap * self.scale) <= self.rounding

    def passes(self, tol: float | None = None) -> bool:
        """Whether every residual is at most tol, and the gap too or what rounding explains of it (never for nan).

        What rounding of the kernel values can make of the dual value must be at most tol as well.
        """
        tol = self.tol if tol is None else tol
        return self.holds(tol) and not self._of_other_values(tol)

    def holds(self, tol: float = CERTIFY) -> bool:
        """Whether this passes for the kernel values as they are rounded: no better numbers are to be had of these."""
        return bool(self.residual <= tol and self._primal_at_most <= tol and self._closed(tol) and self.refuted <= tol)

    def _of_other_values(self, tol: float) -> bool:
        """Whether the rounding of the kernel values decides."""
        return self.kernel_rounding > tol * self.scale

    def verdict(self, tol: float | None = None) -> str:
        """Sort into one of the classes of `VERDICTS`.

        ``"optimal"``: proved to tol. ``"not optimal"``: refuted, because a constraint is violated by more than tol, or
        the value is off by more (`refuted`). ``"undecided"``: neither, and `explain` says what is missing.
        """
        tol = self.tol if tol is None else tol
        if self.passes(tol):
            return "optimal"
        return "not optimal" if self.refuted > tol else "undecided"  # rounding of kernel values refutes nothing

    def explain(self, tol: float | None = None) -> str:
        """Say in words what was checked and what is worst."""
        tol = self.tol if tol is None else tol
        lines = [f"{self._bounds(tol)} (relative gap {self.gap:.1e})."]
        failed = {text: value for text, value in self.checks.items() if not value <= tol}
        verdict = self.verdict(tol)
        allowed = f"{tol:.1e}".replace(".0e", "e")  # as many digits as residuals have: what is within it is printed so
        if verdict == "optimal":
            how = "Optimal" if abs(self.gap) <= tol else "Optimal up to rounding, which makes the gap"
            what = "every KKT residual" if self.dual or self.slackness else "every violation of a constraint"
            lines.append(f"{how}: {what} is at most {self.residual:.1e} (tolerance {allowed}).")
            if self.off_by > CERTIFY:
                lines.append(f"It is proved to {self.off_by:.1e}, and no closer.")
        else:
            said = verdict.capitalize()
            of = "" if self.shortfall is None else " of its size"
            for text, value in sorted(failed.items(), key=lambda kv: -kv[1]):
                lines.append(f"{said}: {text} (by {value:.1e}{of}, tolerance {allowed}).")
            if verdict == "not optimal" and self._worse > tol:
                lines.append(f"{said}: {self._off_for_certain(tol)}.")
            elif verdict == "undecided" and not self._closed(tol):
                lines.append(f"{said}: {self.missing()}.")
            if verdict == "undecided" and self.primal_residual <= tol < self._primal_at_most:
                lines.append(f"{said}: rounding can hide violations of {self._primal_at_most:.1e}.")
        off = {text: value for text, value in _failures(self.multipliers).items() if not value <= tol}
        if off:
            text = max(off, key=lambda each: off[each])
            lines.append(
                f"The multipliers that came with the point do not prove it: {text} (by {off[text]:.1e} of 1 + terms)."
            )
        if where := self._where():
            lines.append(f"{where[0].upper()}{where[1:]} ({self.worst_side}).")
        if self._of_other_values(tol):
            lines.append(
                "All this is of the kernel values as rounded: for the kernel itself the dual value is known to "
                f"{self.kernel_rounding / max(self.scale, np.finfo(float).tiny):.1e} of its size only."
            )
        if self.relative_to is not None and self.scale < np.inf:
            lines.append(f"The gap is relative to {self.relative_to}.")
        if self.note:
            lines.append(self.note)
        return " ".join(lines)

    def _bounds(self, tol: float) -> str:
        if not np.isfinite(self.dual_value):
            return f"The primal value is {self.primal_value:.10g}"
        if self.gap < 0 and not self._closed(tol):
            return f"The primal value is {self.primal_value:.10g}, the dual value {self.dual_value:.10g}"
        if self.shortfall is not None and (self.gap < 0 or self.primal_residual > 0):  # it is no bound
            bound = f"no feasible point has a better one than {self.dual_value:.10g}"
            bought = self.dual_value - self.primal_value  # against a bound that may itself be rounded
            if not (bought > self.rounding and self.primal_residual > 0):
                return f"The value is {self.primal_value:.10g}, and {bound}"
            broken = f"constraints that are violated by up to {self.primal_residual:.1e} buy {bought:.1e}"
            return f"The value is {self.primal_value:.10g}, and {bound}: {broken}"
        low, high = sorted((self.dual_value, self.primal_value))
        return f"The optimal value lies in [{low:.10g}, {high:.10g}]"

    def _off_for_certain(self, tol: float) -> str:
        """Say why the value is off for certain."""
        if self.shortfall is None:
            return (
                f"the duality gap exceeds the tolerance {tol:.0e} by more than rounding, so that the value of the "
                f"point or of the multipliers is off by at least {self._amount(0.5 * self._worse)}"
            )
        if self.gap < 0:
            return f"the value is better than any feasible point's by {self._amount(self._worse)}"
        return f"a feasible point is known that is better by {self._amount(self._worse)}"

    def _amount(self, share: float) -> str:
        """A share of what the gap is relative to, and the amount that this is."""
        if self.scale == 1.0:
            return f"{share:.1e}"
        return f"{share:.1e} of {self.scale:.3g}, that is {share * self.scale:.1e}"

    def missing(self) -> str:
        """Say why an open gap decides nothing, and how large it is."""
        if np.isnan(self.gap):
            return "the gap is not a number"
        if np.isinf(self.gap):
            return "nothing bounds the optimal value on that side" if self.gap > 0 else "no point is feasible"
        if self._rounded:
            return "rounding of the margins alone can make this gap; double precision cannot decide"
        if self.gap > 0:
            return f"the duality gap exceeds the tolerance; the value is off by at most {self._amount(self.gap)}"
        if self.shortfall is not None and self.primal_residual > 0.0:
            return (
                f"the value is better than any feasible point's by {self._amount(-self.gap)}, which violations of up "
                f"to {self.primal_residual:.1e} buy: what a solver leaves of a constraint refutes nothing"
            )
        return (
            "weak duality forbids that the dual value is better than the primal one; some constraint is violated more "
            "than its residual shows, or one of the two programs is wrong"
        )

    def _where(self) -> str:
        if self.worst == "":
            return ""
        return f"worst: {self.worst}" if isinstance(self.worst, str) else f"worst sample: {self.worst}"

    def _title(self) -> str:
        return self.explain()

    def _rows(self) -> Iterator[dict[str, Any]]:
        """One for each condition."""
        blocks = {"primal": self.primal, "dual": self.dual, "slackness": self.slackness}
        for block, residuals in blocks.items():
            for name, value in residuals.items():
                yield {"condition": name, "of": block, "residual": value}

    def __repr__(self) -> str:
        where = self._where().replace(":", "")
        tail = f", {where}" if where else ""
        return f"Certificate({self.verdict()}, gap={self.gap:.1e}, residual={self.residual:.1e}{tail})"


def _most(sizes: Iterable[float]) -> float:
    """The largest of some numbers, and at least 0; nan if any is nan."""
    found = [0.0, *map(float, sizes)]
    return np.nan if any(map(isnan, found)) else max(found)


def _failures(residuals: Mapping[str, float]) -> dict[str, float]:
    """Residuals by what they would say if they were large."""
    return {FAILURES.get(name, f"the condition '{name}' does not hold"): value for name, value in residuals.items()}


def _is_constraint(name: str, of_point: bool) -> bool:
    """Whether a condition is a constraint of the point or of the multipliers, and no condition on both together."""
    if of_point:
        return name != "value"
    return name in _CONSTRAINTS or name.endswith(": sign") or name.startswith("dual program: ")
