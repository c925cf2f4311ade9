r"""The stopping rule of LIBSVM: no margin condition is violated by more than its ``tol``, whatever the gap.

Let :math:`f` be the scores of the multipliers :math:`\alpha` with intercept b, and :math:`\rho` the margin (1 for a
C-SVC). LIBSVM stops as soon as :math:`y_if(x_i)\ge\rho-\varepsilon` wherever :math:`\alpha_i` is below its cap and
:math:`y_if(x_i)\le\rho+\varepsilon` wherever it is above 0 (Fan, Chen & Lin, JMLR 6 (2005); of a nu-SVC class by
class, before it divides by the margin). The relative gap sums these violations over all multipliers, and may be far
larger. LIBSVM keeps its kernel values in single precision, so that its scores have errors of up to
:math:`2^{-24}\max_i\sum_j\alpha_j|K_{ij}|`; the largest violation that it can promise is

.. math:: \varepsilon+2^{-23}\max_i\sum_j\alpha_j|K_{ij}|.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from paretoclf.checking.judging import intercept
from paretoclf.checking.rows import Row
from paretoclf.common.checks import Array
from paretoclf.common.memory import BLOCK_ROWS
from paretoclf.common.tolerances import CERTIFY
from paretoclf.problem.gram import Gram
from paretoclf.problem.nu import caps_of
from paretoclf.proof import Certificate

#: A multiplier this close to its cap is at it: model files have 8 digits.
AT_CAP = 1e-7

#: Two roundings to single precision: of either end of the interval in which the intercept is.
SINGLE = 2.0**-23


@dataclass(frozen=True)
class Stop:
    """Stopping rule of LIBSVM: violations of at most tol times ``unit``, the size of a margin of its own in the row."""

    tol: float
    unit: float = 1.0

    def kept(self, formulation: Any, row: Row, certificate: Certificate) -> Kept | None:
        """Violation of the margin conditions of a machine of two classes (`kept`)."""
        return kept(formulation, row, certificate)


@dataclass(frozen=True)
class Kept:
    """Violation of the margin conditions by LIBSVM's solution, and the violation that its ``tol`` allows.

    Attributes
    ----------
    tol : float
        Tolerance at which it stopped.
    violation : float
        The largest violation, in the unit of tol.
    allowed : float
        Sum of tol and the error from the single precision of its kernel values.
    """

    tol: float
    violation: float
    allowed: float
    code: ClassVar[str] = "LIBSVM"

    @property
    def holds(self) -> bool:
        """Whether LIBSVM kept what it promises."""
        return self.violation <= self.allowed

    def verdict(self, off_by: str) -> str:
        """Say in a line that the solution keeps its tol; its value is off by at most off_by."""
        return f"optimal as its tol of {self.tol:g} asks, with a value that is off by at most {off_by}"

    def explain(self, off_by: str) -> str:
        """Say with all numbers that the solution keeps its tol; its value is off by at most off_by."""
        single = "" if self.violation <= self.tol else f" and its kernel values in single precision {self.allowed:.4g}"
        return (
            f"LIBSVM stops at the largest violation of a margin, not at a gap: it is {self.violation:.4g}, and its tol "
            f"allows {self.tol:g}{single}. So the solution is optimal as its tol asks, and not optimal to "
            f"{CERTIFY:.0e}: the value is off by at most {off_by}."
        )


def kept(formulation: Any, row: Row, certificate: Certificate) -> Kept | None:
    """Violation of LIBSVM's margin conditions; None where the row is not its solution, or multipliers leave their box.

    Parameters
    ----------
    formulation : TwoCSVM or TwoNuSVM
    row : Row
        Solution with multipliers and intercept, and with the ``stop`` of the code that it is from.
    certificate : Certificate
        Certificate of the row.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from paretoclf.checking.libsvm import Stop, kept
    >>> from paretoclf.checking.rows import Row
    >>> svm = pc.TwoCSVM([[-1.0], [1.0]], [-1, 1])
    >>> row = Row({"C_plus": 1.0, "C_minus": 1.0}, {"alpha": np.full(2, 0.4999), "b": 0.0}, Stop(1e-3))
    >>> kept(svm, row, pc.certify([-1, 1], [1.0, 1.0], row.numbers["alpha"], 0.0, X=[[-1.0], [1.0]])).holds
    True
    """
    if row.stop is None or not certificate.dual_residual <= AT_CAP:  # box, balance, and that w is what they imply
        return None
    gram, y = formulation.gram, formulation.y
    alpha = np.asarray(row.numbers["alpha"])
    coef = y * alpha
    nu = "nu" in row.values
    caps = caps_of(row.values["asymmetry"], y) if nu else formulation.caps(**row.values)
    margin = row.numbers["rho"] if nu else 1.0
    scores = gram.quadratic.scores(coef) + intercept(gram, coef, None, row.numbers)
    excess = y * scores - margin
    too_small = -excess[alpha < caps * (1.0 - AT_CAP)]
    too_large = excess[alpha > 0.0]
    violation = float(max(too_small.max(initial=0.0), too_large.max(initial=0.0)))
    return violation_kept(row.stop, violation, gram, alpha)


def violation_kept(stop: Stop, violation: float, gram: Gram, coef: Array) -> Kept:
    """Violation of margins by coefficients of the kernel, beside what the tolerance and single precision allow."""
    share, allowed = violation / stop.unit, stop.tol
    if share > stop.tol:
        allowed += SINGLE * _largest_terms(gram, np.abs(coef)) / stop.unit
    return Kept(stop.tol, share, float(allowed))


def _largest_terms(gram: Gram, alpha: Array) -> float:
    """The largest sum of absolute terms of a score, of the kernel values as LIBSVM has them: of samples not moved."""
    support = np.flatnonzero(alpha)
    largest = 0.0
    for first in range(0, gram.n, BLOCK_ROWS):
        rows = slice(first, first + BLOCK_ROWS)
        values = gram.kernel(gram.X[rows], gram.X[support]) if gram.linear else gram.matrix[rows][:, support]
        sums = np.abs(values) @ alpha[support]
        largest = max(largest, float(sums.max()))
    return largest
