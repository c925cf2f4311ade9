"""Certificates of many solutions of classifiers as one table, and the verdict on each in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.common.tables import SHOWN, and_more, rounded_up
from paretoclf.common.tolerances import CERTIFY, LOOSE
from paretoclf.problem.costs import Costs, SampleCosts
from paretoclf.proof.verdicts.certificate import VERDICTS, Certificate
from paretoclf.proof.verdicts.report import Certified

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
class Verification(Certified):
    """Certificates of a list of solutions, in the given order; prints as a table.

    Attributes
    ----------
    values : sequence of mapping
        Parameters of each solution.
    certificates : sequence of Certificate
    tol : float
        Largest residual and gap of a solution that counts as optimal.
    stretches : tuple of Stretch
        Verdicts on the segments between each solution and the next, where they were asked for.
    hint : str
        Another reason for a solution whose multipliers leave their box by far.
    kept : mapping of int to Kept
        For solutions that their code left with a gap above tol: what its own ``tol`` allows, such as LIBSVM's violation
        of margins.
    """

    values: Sequence[Mapping[str, Any]]
    certificates: Sequence[Certificate]
    tol: float = CERTIFY
    stretches: tuple[Stretch, ...] = ()
    hint: str = ""
    kept: Mapping[int, Kept] = field(default_factory=dict)

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

    @property
    def verdicts(self) -> list[str]:
        """Verdict on each solution; one that LIBSVM left as its own tol asks is optimal as such."""
        return [self._class(k) for k in range(len(self))]

    def first_failure(self, tol: float | None = None) -> int | None:
        """Index of the first solution that is not proved optimal to tol, or None."""
        if tol is None:
            return super().first_failure()
        return next((k for k, certificate in enumerate(self.certificates) if not certificate.passes(tol)), None)

    def _class(self, k: int) -> str:
        """The verdict on solution k in a word or two; at its own tol, where that is how it is judged."""
        return "optimal" if k in self.kept else self.certificates[k].verdict(self.tol)

    @property
    def summary(self) -> str:
        """Numbers of solutions of each verdict, the worst class first."""
        counts = {name: len(members) for name, members in self.classes.items()}
        number = counts.pop("optimal")
        own = len(self.kept)
        asked = f"{own} as {' and '.join(dict.fromkeys(each.code for each in self.kept.values()))}'s tol asks"
        how = f" to {self.tol:g}" if not own else f": {asked}"
        if 0 < own < number:
            how = f": {number - own} to {self.tol:g}, {asked}"
        others = (f"{count} {name}" for name, count in counts.items() if count)
        return ", ".join([*others, f"{number} of {len(self)} optimal{how}"])

    def verdict(self, k: int) -> str:
        """The verdict on solution k with its reason: the error of its value, or the condition and the sample."""
        certificate = self.certificates[k]
        if k in self.kept:
            return self.kept[k].verdict(at_most(certificate))
        outside = self.hint and outside_box(certificate) > max(self.tol, LOOSE)
        return verdict_of(certificate, self.tol) + (f", {self.hint}" if outside else "")

    def _title(self) -> str:
        return self.summary

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Parameters, bounds, gap, residual and verdict of each solution."""
        for k, (values, certificate) in enumerate(zip(self.values, self.certificates, strict=True)):
            verdict = self._class(k)
            row = {name: values.get(name) for name in self._names if not isinstance(values.get(name), SampleCosts)}
            row |= {
                "lower": certificate.dual_value,
                "upper": certificate.primal_value,
                "gap": certificate.gap,
                "residual": certificate.residual,
            }
            row |= {"optimal": verdict == "optimal", "verdict": verdict}
            yield row | {"off_by": certificate.off_by, "explanation": certificate.explain()}

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
        lines = [
            f"first {name}: {self._explained(members[0])}"
            for name, members in self.classes.items()
            if members and name != "optimal"
        ]
        if lines and self.worst != self.first_failure():
            lines.append(f"worst: #{self.worst}, off by {self[self.worst].off_by:.1e}")
        own = [f"first as its tol asks: {self._explained(k)}" for k in list(self.kept)[:1]]
        return "\n".join([head, *rows, self.summary, *lines, *own, *self._between()])

    def _explained(self, k: int) -> str:
        """Say the number of a solution, and explain its certificate."""
        return f"#{k}: {self.certificates[k].explain()}"

    def _between(self) -> list[str]:
        """Lines on the segments between solutions: counts of verdicts, and the first of each that is not optimal."""
        if not self.stretches:
            return []
        by_verdict = {name: [each for each in self.stretches if each.status == name] for name in VERDICTS}
        counts = ", ".join(f"{len(members)} {name}" for name, members in by_verdict.items() if members)
        lines = [f"between: {counts} of {len(self.stretches)} stretches"]
        for name in VERDICTS[:-1]:
            for first in by_verdict[name][:1]:
                where = "" if first.share is None else f", {100 * first.share:.3g} % of the way"
                explained = first.certificate.explain(self.tol)
                lines.append(f"first {name}: from #{first.first} to #{first.last}{where}: {explained}")
        return lines


def at_most(certificate: Certificate) -> str:
    """Say by how much a value is off at most, and what that is relative to."""
    return f"{rounded_up(certificate.gap)} of {certificate.scale:.3g}"


def verdict_of(certificate: Certificate, tol: float) -> str:
    """A verdict in three steps, the last two with their reason: optimal, not optimal, undecided.

    A point that is nearly optimal is told its own tolerance; another one the worst condition and its sample. A point
    that is optimal to a tolerance of more than 1e-8 only is told that tolerance, too.

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
        text = max(failing, key=lambda each: np.nan_to_num(failing[each], nan=np.inf))
        where = "" if text.startswith(_WITHOUT_SAMPLE) else place
        by = f" (by {failing[text]:.0e})" if failing[text] != np.inf else ""
        return f"{verdict}: {text}{by}{where}"
    if verdict == "undecided":
        return f"{verdict}: {certificate.missing()}"
    return f"{verdict}: value off by {abs(certificate.gap):.0e} of {certificate.scale:.3g}{place}"


def outside_box(certificate: Certificate) -> float:
    """The distance of multipliers from their box, relative to it: 0 where the certificate knows of none."""
    of_box = (size for name, size in certificate.dual.items() if name == "box" or name.endswith(": sign"))
    return max(of_box, default=0.0)
