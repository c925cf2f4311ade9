"""Stopping rules of scikit-learn, and what a solution that keeps its own is told: it is optimal as its tol asks.

Coordinate descent stops at a small duality gap, smooth solvers at a small gradient, LIBSVM at small violations of
margins (`paretoclf.checking.libsvm`): each in a unit of its own, whatever the value is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from paretoclf.checking.libsvm import Kept, Stop, violation_kept
from paretoclf.checking.rows import Row
from paretoclf.common.checks import Array
from paretoclf.common.tolerances import CERTIFY, LOOSE
from paretoclf.problem.gram import Gram
from paretoclf.proof.verdicts.certificate import Certificate


@dataclass(frozen=True)
class RuleKept:
    """The number at which scikit-learn stopped, beside what its ``tol`` allows.

    Attributes
    ----------
    tol : float
    found, allowed : float
        That number, and the largest one that keeps the rule.
    rule : str
        What scikit-learn stops at, in words.
    """

    tol: float
    found: float
    allowed: float
    rule: str
    code: ClassVar[str] = "scikit-learn"

    @property
    def holds(self) -> bool:
        """Whether the rule is kept."""
        return self.found <= self.allowed

    def verdict(self, off_by: str) -> str:
        """Say in a line that the solution keeps its tol; its value is off by at most off_by."""
        return f"optimal as its tol of {self.tol:g} asks, with a value that is off by at most {off_by}"

    def explain(self, off_by: str) -> str:
        """Say with all numbers that the solution keeps its tol; its value is off by at most off_by."""
        return (
            f"scikit-learn stops at {self.rule}, whatever the value is: it is {self.found:.4g}, and its tol of "
            f"{self.tol:g} allows {self.allowed:.4g}. So the solution is optimal as its tol asks, and not optimal to "
            f"{CERTIFY:.0e}: the value is off by at most {off_by}."
        )


@dataclass(frozen=True)
class GapStop:
    """Stopping rule of coordinate descent: a duality gap of at most tol times the mean square of the targets.

    The targets are less their mean where there is an intercept; the value is off by no more than such a gap.
    """

    tol: float
    mean_square: float

    def kept(self, formulation: Any, row: Row, certificate: Certificate) -> RuleKept | None:
        """Gap of the certificate, beside what is allowed; None where a constraint is violated."""
        if certificate.primal_residual > CERTIFY:
            return None
        gap = max(0.0, certificate.primal_value - certificate.dual_value)
        allowed = min(self.tol, LOOSE) * self.mean_square
        return RuleKept(self.tol, gap, allowed, "a duality gap of tol times the mean square of y")


@dataclass(frozen=True)
class GradientStop:
    """Stopping rule of smooth solvers: no derivative of the mean loss, with its penalty, is larger than tol."""

    tol: float
    largest: float

    def kept(self, formulation: Any, row: Row, certificate: Certificate) -> RuleKept | None:
        """The largest derivative, beside what is allowed; None where nothing bounds the optimal value."""
        if not np.isfinite(certificate.gap):
            return None
        return RuleKept(self.tol, self.largest, min(self.tol, LOOSE), "a largest derivative of the mean loss")


@dataclass(frozen=True)
class ViolationStop:
    """Stopping rule of LIBSVM, and the violation of margins by a machine without classes, of its coefficients."""

    stop: Stop
    violation: float
    gram: Gram
    coef: Array

    def kept(self, formulation: Any, row: Row, certificate: Certificate) -> Kept | None:
        """Violation beside what is allowed; None where nothing bounds the optimal value."""
        if not np.isfinite(certificate.gap):
            return None
        return violation_kept(self.stop, self.violation, self.gram, self.coef)
