"""Judging somebody else's solutions: certificates for each, and the first that is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.certificate import Certificate, certify_many, sign_hint
from paretoclf.checks import check_labels, check_number, check_positive_number, check_vector, check_weights
from paretoclf.classifiers import gram_slope
from paretoclf.costs import Costs
from paretoclf.errors import InputError
from paretoclf.gram import Gram
from paretoclf.proof import VERDICTS
from paretoclf.solution import best_intercepts, point_of
from paretoclf.tolerances import CERTIFY


@dataclass(frozen=True, repr=False)
class Verification:
    """Certificates of a list of solutions, in the given order; prints as a table.

    Attributes
    ----------
    costs : sequence of Costs
    certificates : sequence of Certificate
    tol : float
        Largest residual and gap of a solution that counts as optimal.
    """

    costs: Sequence[Costs]
    certificates: Sequence[Certificate]
    tol: float = CERTIFY

    def __len__(self) -> int:
        return len(self.certificates)

    def __getitem__(self, k: int) -> Certificate:
        return self.certificates[k]

    def passes(self, tol: float | None = None) -> bool:
        """Whether every solution is optimal to tol."""
        return self.first_failure(tol) is None

    def first_failure(self, tol: float | None = None) -> int | None:
        """Index of the first solution that is not optimal to tol, or None."""
        tol = self.tol if tol is None else tol
        return next((k for k, c in enumerate(self.certificates) if not c.passes(tol)), None)

    @property
    def classes(self) -> dict[str, tuple[int, ...]]:
        """Indices of the solutions by their verdict (`Certificate.verdict`), the worst class first."""
        verdicts = [c.verdict(self.tol) for c in self.certificates]
        return {name: tuple(k for k, v in enumerate(verdicts) if v == name) for name in VERDICTS}

    @property
    def summary(self) -> str:
        """How many there are of each verdict, the worst class first."""
        counts = {name: len(members) for name, members in self.classes.items()}
        optimal = f"{counts.pop('optimal')} of {len(self)} optimal to {self.tol:g}"
        return ", ".join([*(f"{count} {name}" for name, count in counts.items() if count), optimal])

    def verdict(self, k: int) -> str:
        """The verdict on solution k, with by how much it is off."""
        certificate = self.certificates[k]
        name = certificate.verdict(self.tol)
        return name if name in ("optimal", "undecided") else f"{name}, by {certificate.off_by:.0e}"

    def __repr__(self) -> str:
        head = f"{'#':>5} {'C_plus':>11} {'C_minus':>11} {'gap':>9} {'residual':>9}  verdict"
        rows = [
            f"{k:5d} {c.C_plus:11.5g} {c.C_minus:11.5g} {v.gap:9.1e} {v.residual:9.1e}  {self.verdict(k)}"
            for k, (c, v) in enumerate(zip(self.costs, self.certificates, strict=True))
        ]
        worst = [
            f"first {name}: #{members[0]}: {self.certificates[members[0]].explain(self.tol)}"
            for name, members in self.classes.items()
            if members and name != "optimal"
        ]
        return "\n".join([head, *rows, self.summary, *worst])


def verify(
    X: Any,
    y: Any,
    solutions: Iterable[Sequence[Any]],
    kernel: Any = None,
    sample_weight: Any = None,
    *,
    tol: float = CERTIFY,
) -> Verification:
    """Certify solutions of the 2C-SVM that somebody else computed.

    Parameters
    ----------
    X, y, kernel, sample_weight
        The problem, as for `TwoCSVM`.
    solutions : iterable of (C_plus, C_minus, alpha) or (C_plus, C_minus, alpha, b)
        At least one. Multipliers alpha are nonnegative. Where b is missing (or None), the best one for the given alpha
        is used.
    tol : float
        Largest residual and gap of a solution that counts as optimal.

    Returns
    -------
    Verification

    Raises
    ------
    InputError
        If there is no solution, or one has the wrong form, naming its index; or tol is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> X, y = np.array([[-1.0], [1.0]]), [-1, 1]
    >>> report = pc.verify(X, y, [(1, 1, [0.5, 0.5]), (1, 1, [0.4, 0.4]), (1, 1, [0.49999, 0.49999])])
    >>> report.first_failure(), report.classes["wrong"], report.summary
    (1, (1,), '1 wrong, 1 loose, 1 of 3 optimal to 1e-08')
    """
    gram = Gram(X, kernel, free_origin=True)
    labels = check_labels(y, gram.n)
    weight = check_weights(sample_weight, gram.n)
    tol = check_positive_number(tol, "tol")
    data = {"K": gram.matrix} if gram.features is None else {"X": gram.features}
    costs: list[Costs] = []
    certificates: list[Certificate] = []
    for k, row in enumerate(_rows(solutions)):
        try:
            c = Costs(row[0], row[1])
            alpha = check_vector(row[2], gram.n, "alpha")
            caps = weight * np.where(labels > 0, c.C_plus, c.C_minus)
            given = row[3] if len(row) == 4 else None
            if given is None:
                b = point_of(best_intercepts(labels, caps, gram.matvec(labels * alpha)))
            else:
                b = check_number(given, "b")
                if not np.isfinite(b):
                    raise InputError(f"b must be finite, got {b!r}")
                if gram.origin is not None:
                    b += float(gram_slope(gram, labels * alpha) @ gram.origin)
        except InputError as error:
            raise InputError(f"solutions[{k}]: {error}") from None
        note = " ".join(filter(None, (gram.note, sign_hint(labels, alpha))))
        certificates += certify_many(labels, caps[:, None], alpha[:, None], np.array([b]), note=note, **data)
        costs.append(c)
    return Verification(tuple(costs), tuple(certificates), tol)


def _rows(solutions: Any) -> list[Sequence[Any]]:
    """Solutions as rows of 3 or 4 entries, or what is wrong with them."""
    form = "(C_plus, C_minus, alpha[, b])"
    try:
        rows = list(solutions)
    except TypeError:
        raise InputError(f"solutions must be a list of {form}, got {type(solutions).__name__}") from None
    if not rows:
        raise InputError(f"solutions must hold at least one {form}, got none: nothing would be verified")
    for k, row in enumerate(rows):
        size = len(row) if hasattr(row, "__len__") and not isinstance(row, str) else None
        if size not in (3, 4):
            got = f"{size} entries" if size is not None else repr(row)
            raise InputError(f"solutions[{k}] must be {form}, got {got}")
    return rows
