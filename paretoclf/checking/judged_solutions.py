"""Certificates of many solutions of classifiers as one table, and the verdict on each in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.common.tables import SHOWN, Tabular, and_more, rounded_up
from paretoclf.common.tolerances import CERTIFY, LOOSE
from paretoclf.problem.costs import Costs, SampleCosts
from paretoclf.proof.certificates import VERDICTS, Certificate

if TYPE_CHECKING:
    from paretoclf.checking.between import Stretch
    from paretoclf.checking.libsvm import Kept

#: Failing conditions that belong to no one sample begin with these words.
_WITHOUT_SAMPLE = (
    "the two classes",
    "w is not",
    "the sum of",
    "the condition 'stationarity",
    "the condition 'intercept",
)


@dataclass(frozen=True, repr=False)
class Verification(Tabular):
    """Certificates of a list of solutions, in the given order; prints as a table.

    Attributes
    ----------
    values : sequence of mapping
        Parameters of each solution.
    certificates : sequence of Certificate
    tol : float
        Largest residual and gap of a solution that counts as optimal.
    stretches : tuple of Stretch
        What is proved between each solution and the next, where that was asked for.
    hint : str
        What a solution whose multipliers leave their box by far may be instead.
    kept : mapping of int to Kept
        For solutions that LIBSVM left with a gap above tol: what the ``tol`` of their own asks, and that they have it.
    """

    values: Sequence[Mapping[str, Any]]
    certificates: Sequence[Certificate]
    tol: float = CERTIFY
    stretches: tuple[Stretch, ...] = ()
    hint: str = ""
    kept: Mapping[int, Kept] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.certificates)

    def __getitem__(self, k: int) -> Certificate:
        return self.certificates[k]

    @property
    def _names(self) -> tuple[str, ...]:
        """Parameters of any solution: fitted models may be of several problems."""
        return tuple(dict.fromkeys(name for values in self.values for name in values))

    @property
    def costs(self) -> tuple[Costs, ...]:
        """Costs of each solution, for problems in ``C_plus`` and ``C_minus``."""
        for values in self.values:
            if not {"C_plus", "C_minus"} <= values.keys():
                raise InputError(f"these solutions have no costs but {', '.join(values) or 'no parameters'}")
        return tuple(Costs(values["C_plus"], values["C_minus"]) for values in self.values)

    def passes(self, tol: float | None = None) -> bool:
        """Whether every solution is optimal to tol, and everything between them, where that was asked for."""
        return self.first_failure(tol) is None and all(stretch.status == "optimal" for stretch in self.stretches)

    def first_failure(self, tol: float | None = None) -> int | None:
        """Index of the first solution that is not proved optimal to tol, or None."""
        if tol is None:
            return next((k for k in range(len(self)) if self._class(k) != "optimal"), None)
        return next((k for k, c in enumerate(self.certificates) if not c.passes(tol)), None)

    @property
    def classes(self) -> dict[str, tuple[int, ...]]:
        """Indices of the solutions by their verdict (`Certificate.verdict`), the worst class first."""
        verdicts = [self._class(k) for k in range(len(self))]
        return {name: tuple(k for k, v in enumerate(verdicts) if v == name) for name in VERDICTS}

    def _class(self, k: int) -> str:
        """The verdict on solution k in a word or two; at its own tol, where that is how it is judged."""
        return "optimal" if k in self.kept else self.certificates[k].verdict(self.tol)

    @property
    def summary(self) -> str:
        """How many there are of each verdict, the worst class first."""
        counts = {name: len(members) for name, members in self.classes.items()}
        number, own = counts.pop("optimal"), len(self.kept)
        asked = f"{own} as LIBSVM's tol asks"
        how = f" to {self.tol:g}" if not own else f": {asked}"
        if 0 < own < number:
            how = f": {number - own} to {self.tol:g}, {asked}"
        others = (f"{count} {name}" for name, count in counts.items() if count)
        return ", ".join([*others, f"{number} of {len(self)} optimal{how}"])

    def verdict(self, k: int) -> str:
        """The verdict on solution k, and why: by how much it is off, or which condition, and which sample."""
        certificate = self.certificates[k]
        if k in self.kept:
            return self.kept[k].verdict(rounded_up(certificate.gap))
        outside = self.hint and outside_box(certificate) > max(self.tol, LOOSE)
        return verdict_of(certificate, self.tol) + (f", {self.hint}" if outside else "")

    def _title(self) -> str:
        return self.summary

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Parameters, bounds, gap, residual and verdict of each solution."""
        for k, (values, certificate) in enumerate(zip(self.values, self.certificates, strict=True)):
            verdict = self._class(k)
            parameters = {name: values.get(name) for name in self._names}
            numbers = {name: value for name, value in parameters.items() if not isinstance(value, SampleCosts)}
            yield {
                **numbers,
                "lower": certificate.dual_value,
                "upper": certificate.primal_value,
                "gap": certificate.gap,
                "residual": certificate.residual,
                "optimal": verdict == "optimal",
                "verdict": verdict,
                "off_by": certificate.off_by,
                "explanation": certificate.explain(self.tol),
            }

    def __repr__(self) -> str:
        names = [name for name in self._names if name != "costs"]
        head = " ".join([f"{'#':>5}", *(f"{name:>11}" for name in names), f"{'gap':>9} {'residual':>9}  verdict"])
        rows = []
        shown = zip(self.values[:SHOWN], self.certificates[:SHOWN], strict=True)
        for k, (values, certificate) in enumerate(shown):
            numbers = [f"{values[name]:11.5g}" if name in values else f"{'-':>11}" for name in names]
            judged = f"{certificate.gap:9.1e} {certificate.residual:9.1e}  {self.verdict(k)}"
            rows.append(" ".join([f"{k:5d}", *numbers, judged]))
        if len(self) > SHOWN:
            rows.append(and_more(len(self) - SHOWN))
        worst = []
        for name, members in self.classes.items():
            if members and name != "optimal":
                worst.append(f"first {name}: {self._explained(members[0])}")
        own = [f"first as its tol asks: {self._explained(k)}" for k in list(self.kept)[:1]]
        return "\n".join([head, *rows, self.summary, *worst, *own, *self._between()])

    def _explained(self, k: int) -> str:
        """The number of a solution, and what was found of it."""
        return f"#{k}: {self.certificates[k].explain(self.tol)}"

    def _between(self) -> list[str]:
        if not self.stretches:
            return []
        counts = {name: [s for s in self.stretches if s.status == name] for name in VERDICTS}
        said = ", ".join(f"{len(members)} {name}" for name, members in counts.items() if members)
        lines = [f"between: {said} of {len(self.stretches)} stretches"]
        for name in VERDICTS[:-1]:
            for s in counts[name][:1]:
                where = "" if s.share is None else f", {100 * s.share:.3g} % of the way"
                lines.append(f"first {name}: from #{s.first} to #{s.last}{where}: {s.certificate.explain(self.tol)}")
        return lines


def verdict_of(certificate: Certificate, tol: float) -> str:
    """A verdict in three steps, the last two with their reason: optimal, not optimal, undecided.

    What is nearly optimal is said to be so: to which tolerance it is. Else it is the worst condition and its sample.
    What is optimal to a tolerance of more than 1e-8 only is said to be so, too.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from paretoclf.checking.judged_solutions import verdict_of
    >>> X = np.array([[-1.0], [1.0]])
    >>> verdict_of(pc.certify([-1, 1], [1.0, 1.0], [0.4, 0.4], 0.0, X=X), 1e-8)
    'not optimal: a sample off its margin is not at its bound (by 1e-01), sample 0'
    >>> verdict_of(pc.certify([-1, 1], [1.0, 1.0], [0.49999, 0.49999], 0.0, X=X), 1e-8)
    'not optimal to 1e-08: optimal to 4e-05'
    >>> verdict_of(pc.certify([-1, 1], [1.0, 1.0], [0.49999, 0.49999], 0.0, X=X), 1e-3)
    'optimal to 4e-05'
    """
    verdict = certificate.verdict(tol)
    if verdict == "optimal":
        if abs(certificate.gap) > tol:
            return f"{verdict} up to rounding, which makes a gap of {abs(certificate.gap):.0e}"
        off_by = certificate.off_by
        return verdict if off_by <= CERTIFY else f"{verdict} to {rounded_up(off_by)}"
    if certificate.off_by <= LOOSE:
        return f"{verdict} to {tol:.0e}: optimal to {rounded_up(certificate.off_by)}"
    failing = {text: size for text, size in certificate.checks.items() if not size <= tol}
    place = f", {certificate.where}" if certificate.where else ""
    if not max(failing.values(), default=0.0) <= LOOSE:
        sizes = {text: np.inf if np.isnan(size) else size for text, size in failing.items()}
        text = max(sizes, key=lambda each: sizes[each])
        where = "" if text.startswith(_WITHOUT_SAMPLE) else place
        return f"{verdict}: {text} (by {failing[text]:.0e}){where}"
    if verdict == "undecided":
        return f"{verdict}: {certificate.missing()}"
    return f"{verdict}: value off by {abs(certificate.gap):.0e}{place}"


def outside_box(certificate: Certificate) -> float:
    """The distance of multipliers from their box, relative to it: 0 where the certificate knows of none."""
    of_box = (size for name, size in certificate.dual.items() if name == "box" or name.endswith(": sign"))
    return max(of_box, default=0.0)
