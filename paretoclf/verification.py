"""Judging somebody else's solutions: certificates for each, and the first that is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.certificate import Certificate, certify_many
from paretoclf.checks import check_labels, check_vector, check_weights, real_number
from paretoclf.costs import Costs
from paretoclf.errors import InputError
from paretoclf.gram import Gram
from paretoclf.solution import best_intercepts, point_of
from paretoclf.tolerances import CERTIFY


@dataclass(frozen=True, repr=False)
class Verification:
    """Certificates of a list of solutions, in the given order; prints as a table.

    Attributes
    ----------
    costs : sequence of Costs
    certificates : sequence of Certificate
    """

    costs: Sequence[Costs]
    certificates: Sequence[Certificate]

    def __len__(self) -> int:
        return len(self.certificates)

    def __getitem__(self, k: int) -> Certificate:
        return self.certificates[k]

    def passes(self, tol: float = CERTIFY) -> bool:
        """Whether every solution is optimal to tol."""
        return self.first_failure(tol) is None

    def first_failure(self, tol: float = CERTIFY) -> int | None:
        """Index of the first solution that is not optimal to tol, or None."""
        return next((k for k, c in enumerate(self.certificates) if not c.passes(tol)), None)

    def __repr__(self) -> str:
        head = f"{'#':>5} {'C_plus':>11} {'C_minus':>11} {'gap':>9} {'residual':>9}  verdict"
        rows = [
            f"{k:5d} {c.C_plus:11.5g} {c.C_minus:11.5g} {v.gap:9.1e} {v.residual:9.1e}  "
            + ("optimal" if v.passes() else "NOT optimal")
            for k, (c, v) in enumerate(zip(self.costs, self.certificates, strict=True))
        ]
        first = self.first_failure()
        tail = "all optimal" if first is None else f"first failure: #{first}: {self.certificates[first].explain()}"
        return "\n".join([head, *rows, tail])


def verify(
    X: Any, y: Any, solutions: Iterable[Sequence[Any]], kernel: Any = None, sample_weight: Any = None
) -> Verification:
    """Certify solutions of the 2C-SVM that somebody else computed.

    Parameters
    ----------
    X, y, kernel, sample_weight
        The problem, as for `TwoCSVM`.
    solutions : iterable of (C_plus, C_minus, alpha) or (C_plus, C_minus, alpha, b)
        Where b is missing (or None), the best one for the given alpha is used.

    Returns
    -------
    Verification

    Raises
    ------
    InputError
        If a solution has the wrong form, naming its index.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> X, y = np.array([[-1.0], [1.0]]), [-1, 1]
    >>> pc.verify(X, y, [(1.0, 1.0, [0.5, 0.5]), (1.0, 1.0, [0.4, 0.4])]).first_failure()
    1
    """
    gram = Gram(X, kernel)
    labels = check_labels(y, gram.n)
    weight = check_weights(sample_weight, gram.n)
    costs, certificates = [], []
    for k, row in enumerate(solutions):
        if len(row) not in (3, 4):
            raise InputError(f"solutions[{k}] must be (C_plus, C_minus, alpha[, b]), got {len(row)} entries")
        try:
            c = Costs(row[0], row[1])
            alpha = check_vector(row[2], gram.n, "alpha")
        except InputError as error:
            raise InputError(f"solutions[{k}]: {error}") from None
        caps = weight * np.where(labels > 0, c.C_plus, c.C_minus)
        b = row[3] if len(row) == 4 else None
        if b is None:
            b = point_of(best_intercepts(labels, caps, gram.matvec(labels * alpha)))
        try:
            b = real_number(b)
        except (TypeError, ValueError):
            raise InputError(f"solutions[{k}]: b must be a number, got {b!r}") from None
        if not np.isfinite(b):
            raise InputError(f"solutions[{k}]: b must be finite, got {b!r}")
        data = {"K": gram.matrix} if gram.features is None else {"X": gram.features}
        certificates += certify_many(labels, caps[:, None], alpha[:, None], np.array([b]), **data)
        costs.append(c)
    if not costs:
        raise InputError("solutions must hold at least one (C_plus, C_minus, alpha[, b]), got none")
    return Verification(tuple(costs), tuple(certificates))
