"""Certificates: how far a pair of points is from optimal, in numbers and in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.tables import Tabular
from paretoclf.tolerances import CERTIFY, LOOSE, UNDECIDED

#: What `Certificate.verdict` says, the worst first.
VERDICTS = ("wrong", "undecided", "loose", "optimal")


#: What a condition would say if it failed; of others the name has to do.
FAILURES = {
    "stationarity in w": "w is not the combination of samples that the multipliers imply",
    "box": "a multiplier leaves its box",
    "balance": "the two classes' multipliers do not balance",
    "rho": "the sum of the multipliers is not the one that rho goes with",
    "margin": "a margin constraint is violated",
    "stationarity in xi": "a slack is not the one that its multiplier implies",
    "complementarity": "a sample off its margin is not at its bound",
    "value": "the stored value is not the optimal one",
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
    primal, dual, slackness : mapping of str to float
        Residuals of primal feasibility, of dual feasibility (signs, stationarity) and of complementary slackness, by
        the names that the formulation's statement gives the conditions.
    rounding : float
        What rounding alone can make of ``primal_value - dual_value``.
    worst : int or str
        Where the largest violation is: a sample, or a condition.
    worst_side : str
        The numbers there.
    note : str
        What `explain` adds about the problem that was judged, such as that its kernel is an approximation.
    """

    primal_value: float
    dual_value: float
    gap: float
    scale: float
    primal: Mapping[str, float] = field(default_factory=dict)
    dual: Mapping[str, float] = field(default_factory=dict)
    slackness: Mapping[str, float] = field(default_factory=dict)
    rounding: float = 0.0
    worst: Any = ""
    worst_side: str = ""
    note: str = ""

    @property
    def conditions(self) -> dict[str, float]:
        """Residual of every condition, by the name that the formulation's statement gives it."""
        return {**self.primal, **self.dual, **self.slackness}

    @property
    def checks(self) -> dict[str, float]:
        """Every residual, by what it would say if it were large."""
        failures = {name: FAILURES.get(name, f"the condition '{name}' does not hold") for name in self.conditions}
        return {failures[name]: value for name, value in self.conditions.items()}

    @property
    def primal_residual(self) -> float:
        """Largest violation of a primal constraint."""
        return _largest(self.primal)

    @property
    def dual_residual(self) -> float:
        """Largest violation of a sign, of stationarity or of a dual constraint."""
        return _largest(self.dual)

    @property
    def complementarity(self) -> float:
        """Largest violation of complementary slackness."""
        return _largest(self.slackness)

    @property
    def residual(self) -> float:
        """Largest scaled KKT residual."""
        return float(np.max([self.primal_residual, self.dual_residual, self.complementarity]))

    @property
    def where(self) -> str:
        """Where the largest violation is, such as ``"sample 3"``; empty where that is no one place."""
        return self._where().removeprefix("worst").lstrip(": ").replace(":", "")

    @property
    def off_by(self) -> float:
        """The smallest tolerance at which this passes: the largest residual, or the gap; infinite for nan.

        A gap that rounding makes does not count, unless it is so large that nothing is decided.
        """
        gap = abs(self.gap)
        size = float(np.max([self.residual, 0.0 if self._rounded and gap <= UNDECIDED else gap]))
        return float("inf") if np.isnan(size) else size

    def _closed(self, tol: float) -> bool:
        return abs(self.gap) <= tol or (self._rounded and abs(self.gap) <= UNDECIDED)

    @property
    def _rounded(self) -> bool:
        """Whether rounding alone can make the gap."""
        return abs(self.gap * self.scale) <= self.rounding

    def passes(self, tol: float = CERTIFY) -> bool:
        """Whether every residual is at most tol, and the gap too or what rounding explains of it (never for nan)."""
        return bool(self.residual <= tol and self._closed(tol))

    def verdict(self, tol: float = CERTIFY) -> str:
        """Sort into one of the classes of `VERDICTS`.

        ``"optimal"`` to tol; ``"loose"``: off by no more than LOOSE, as solvers leave it that stop early;
        ``"undecided"``: the conditions hold, but rounding alone can make a gap as large as the value; or ``"wrong"``.
        """
        if self.passes(tol):
            return "optimal"
        if self.off_by <= LOOSE:
            return "loose"
        return "undecided" if self.residual <= tol and self._rounded else "wrong"

    def explain(self, tol: float = CERTIFY) -> str:
        """Say in words what was checked and what is worst."""
        lines = [f"{self._bounds(tol)} (relative gap {self.gap:.1e})."]
        failed = {text: value for text, value in self.checks.items() if not value <= tol}
        if not failed and self._closed(tol):
            how = "Optimal" if abs(self.gap) <= tol else "Optimal up to rounding, which makes the gap"
            lines.append(f"{how}: every KKT residual is at most {self.residual:.1e} (tolerance {tol:.0e}).")
        else:
            for text, value in sorted(failed.items(), key=lambda kv: -kv[1]):
                lines.append(f"Not optimal: {text} (by {value:.1e}, tolerance {tol:.0e}).")
            if not failed and self._rounded:
                lines.append("Not decidable in double precision: rounding of the margins alone can make this gap.")
            elif not failed:
                lines.append(f"Not optimal: {self._open_gap(tol)}.")
        where = self._where()
        if where:
            lines.append(f"{where[0].upper()}{where[1:]} ({self.worst_side}).")
        if self.note:
            lines.append(self.note)
        return " ".join(lines)

    def _bounds(self, tol: float) -> str:
        if np.isnan(self.dual_value):
            return f"The primal value is {self.primal_value:.10g}"
        if self.gap < 0 and not self._closed(tol):
            return f"The primal value is {self.primal_value:.10g}, the dual value {self.dual_value:.10g}"
        return f"The optimal value lies in [{self.dual_value:.10g}, {self.primal_value:.10g}]"

    def _open_gap(self, tol: float) -> str:
        if np.isnan(self.gap):
            return "nothing bounds the optimal value from below"
        if self.gap < 0:
            return (
                "the dual value is above the primal one, although both points are feasible; "
                "weak duality forbids that, so one of the two programs is wrong"
            )
        return f"the duality gap exceeds the tolerance {tol:.0e}, although both points are feasible"

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
        verdict = {"optimal": "optimal", "undecided": "NOT decidable"}.get(self.verdict(), "NOT optimal")
        where = self._where().replace(":", "")
        tail = f", {where}" if where else ""
        return f"Certificate({verdict}, gap={self.gap:.1e}, residual={self.residual:.1e}{tail})"


def _largest(residuals: Mapping[str, float]) -> float:
    return float(np.max([0.0, *residuals.values()]))
