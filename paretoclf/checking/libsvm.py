r"""What LIBSVM promises: it stops where no margin condition is violated by more than its ``tol``, whatever the gap.

Let :math:`f` be the scores of the multipliers :math:`\alpha` with intercept b, and :math:`\rho` the margin (1 for a
C-SVC). LIBSVM stops as soon as :math:`y_if(x_i)\ge\rho-\varepsilon` wherever :math:`\alpha_i` is below its cap and
:math:`y_if(x_i)\le\rho+\varepsilon` wherever it is above 0 (Fan, Chen & Lin, JMLR 6 (2005); of a nu-SVC class by
class, before it divides by the margin). The relative gap is what this adds up to over all multipliers, and may be far
larger. LIBSVM keeps its kernel values in single precision, so that its scores are off by up to
:math:`2^{-24}\max_i\sum_j\alpha_j|K_{ij}|`; what it keeps is

.. math:: \varepsilon+2^{-23}\max_i\sum_j\alpha_j|K_{ij}|.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
class Kept:
    """By how much the margin conditions of LIBSVM's solution are violated, and how much its ``tol`` allows.

    Attributes
    ----------
    tol : float
        At which it stopped.
    violation : float
        The largest violation, in the unit of tol.
    allowed : float
        tol, and what the single precision of its kernel values can add.
    """

    tol: float
    violation: float
    allowed: float

    @property
    def holds(self) -> bool:
        """Whether LIBSVM kept what it promises."""
        return self.violation <= self.allowed

    def verdict(self, off_by: str) -> str:
        """What it is, in a line; the value is off by at most off_by."""
        return f"optimal as its tol of {self.tol:g} asks, with a value that is off by at most {off_by}"

    def explain(self, off_by: str) -> str:
        """The same with all numbers."""
        single = "" if self.violation <= self.tol else f" and its kernel values in single precision {self.allowed:.4g}"
        return (
            f"LIBSVM stops at the largest violation of a margin, not at a gap: it is {self.violation:.4g}, and its tol "
            f"allows {self.tol:g}{single}. So the solution is optimal as its tol asks, and not optimal to "
            f"{CERTIFY:.0e}: the value is off by at most {off_by} of itself."
        )


def kept(formulation: Any, row: Row, certificate: Certificate) -> Kept | None:
    """What LIBSVM kept; None where the row is not its solution, or its multipliers leave their box.

    Parameters
    ----------
    formulation : TwoCSVM or TwoNuSVM
    row : Row
        With multipliers and intercept, and with the ``stop`` of the code that it is from.
    certificate : Certificate
        That of this row.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from paretoclf.checking.libsvm import kept
    >>> from paretoclf.checking.rows import Row, Stop
    >>> svm = pc.TwoCSVM([[-1.0], [1.0]], [-1, 1])
    >>> row = Row({"C_plus": 1.0, "C_minus": 1.0}, {"alpha": np.full(2, 0.4999), "b": 0.0}, Stop(1e-3))
    >>> kept(svm, row, pc.certify([-1, 1], [1.0, 1.0], row.numbers["alpha"], 0.0, X=[[-1.0], [1.0]])).holds
    True
    """
    if row.stop is None or not certificate.dual_residual <= AT_CAP:  # box, balance, and that w is what they imply
        return None
    gram, y, alpha = formulation.gram, formulation.y, np.asarray(row.numbers["alpha"])
    nu = "nu" in row.values
    caps = caps_of(row.values["asymmetry"], y) if nu else formulation.caps(**row.values)
    f = gram.quadratic.scores(y * alpha) + intercept(gram, y * alpha, None, row.numbers)
    over = y * f - (row.numbers["rho"] if nu else 1.0)
    below, above = -over[alpha < caps * (1.0 - AT_CAP)], over[alpha > 0.0]
    tol, violation = row.stop.tol, max(below.max(initial=0.0), above.max(initial=0.0)) / row.stop.unit
    allowed = tol if violation <= tol else tol + SINGLE * _largest_terms(gram, alpha) / row.stop.unit
    return Kept(tol, float(violation), float(allowed))


def _largest_terms(gram: Gram, alpha: Array) -> float:
    """The largest sum of absolute terms of a score, of the kernel values as LIBSVM has them: of samples not moved."""
    support, largest = np.flatnonzero(alpha), 0.0
    for first in range(0, gram.n, BLOCK_ROWS):
        rows = slice(first, first + BLOCK_ROWS)
        values = gram.kernel(gram.X[rows], gram.X[support]) if gram.linear else gram.matrix[rows][:, support]
        largest = max(largest, float((np.abs(values) @ alpha[support]).max()))
    return largest
