"""A foreign path between its knots: everything affine from one row to the next, proved or refuted for every point.

Each segment between two rows is handed to the proof of whole lines (`paretoclf.proof`). Where its bound does not close,
three points inside are judged one by one: one that is not optimal refutes the segment; otherwise it is cut in two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from paretoclf.checking.judging import best_margin, certificate_of, intercept
from paretoclf.checking.rows import Row
from paretoclf.common.checks import Array, check_number, check_vector
from paretoclf.common.errors import InputError
from paretoclf.problem.costs import SampleCosts, per_sample
from paretoclf.problem.lines import LineOfCosts, LineOfNu, LineOfTau
from paretoclf.problem.nu import caps_of
from paretoclf.problem.pieces import Pieces
from paretoclf.proof.lines.classifier_lines import prove_classifiers
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.segments.line_proof import LineProof
from paretoclf.proof.verdicts.certificate import Certificate

#: Number of times that a segment is cut in two before it is left undecided.
DEPTH = 8


@dataclass(frozen=True)
class Stretch:
    """Verdict on every point between two rows.

    Attributes
    ----------
    first, last : int
        Indices of the rows it begins and ends at.
    status : {"optimal", "not optimal", "undecided"}
        Undecided: neither a proof nor a point that fails was found.
    certificate : Certificate
        The proof with the largest residual or gap; of a segment that is not optimal that of the point that fails.
    share : float or None
        Position of the point that fails, from 0 at the row to 1 at the next.
    """

    first: int
    last: int
    status: str
    certificate: Certificate = field(repr=False)
    share: float | None = None


def stretches(formulation: Any, rows: Sequence[Row], tol: float) -> tuple[Stretch, ...]:
    """Prove or refute that everything between consecutive rows is optimal.

    Parameters
    ----------
    formulation : Formulation
        One with an exact path: of costs, of nu, or of tau.
    rows : sequence of Row
        The knots, at least two, each with alpha, and with b where there is an intercept.
    tol : float

    Raises
    ------
    InputError
        If there is no such proof for the formulation, or a number is missing.
    """
    if formulation.lines not in _ENDS:
        raise InputError(
            f"between must be False: {type(formulation).__name__} has no path that is affine between knots; "
            "that of TwoCSVM, TwoNuSVM or QuantileSVM is"
        )
    if len(rows) < 2:
        raise InputError(f"between needs at least two knots, got {len(rows)}")
    knots = [_complete(formulation, row, k) for k, row in enumerate(rows)]
    return tuple(_settled(formulation, *pair, k, tol) for k, pair in enumerate(pairwise(knots)))


def _complete(formulation: Any, row: Row, k: int) -> Row:
    """Complete a row by every number that the proof needs."""
    if row.numbers.get("alpha") is None:
        raise InputError(f"solutions[{k}]: alpha must be given for between=True")
    given = row.numbers.keys() & {"b", "b_at_origin"}
    if not given and formulation.lines is not LineOfTau:
        raise InputError(f"solutions[{k}]: b must be given for between=True")
    gram = formulation.gram
    numbers: dict[str, Any] = {"alpha": check_vector(row.numbers["alpha"], gram.n, "alpha")}
    if row.numbers.get("w") is not None and gram.quadratic.width:
        numbers["w"] = check_vector(row.numbers["w"], gram.quadratic.width, "w")
    if given:
        numbers["b_at_origin"] = intercept(gram, formulation.y * numbers["alpha"], numbers.get("w"), row.numbers)
    values = dict(row.values)
    if isinstance(values.get("costs"), SampleCosts):
        numbers["caps"] = per_sample(values["costs"], formulation.y)
    elif formulation.lines is LineOfNu and "nu" not in values:
        values = dict(zip(("nu", "asymmetry"), formulation.to_asymmetry(**values), strict=True))
    if formulation.lines is LineOfNu:
        rho = row.numbers.get("rho")
        found = best_margin(formulation, values, numbers)
        numbers["rho"] = found if rho is None else check_number(rho, "rho")
    return Row(values, numbers)


def _between(first: Row, last: Row, share: float) -> Row:
    """Interpolate linearly from one row to another."""

    def mixed(at_first: Mapping[str, Any], at_last: Mapping[str, Any]) -> dict[str, Any]:
        names = [name for name in at_first if name in at_last and name != "costs"]
        return {name: (1.0 - share) * at_first[name] + share * at_last[name] for name in names}

    values = mixed(first.values, last.values)
    numbers = mixed(first.numbers, last.numbers)
    if "caps" in numbers:
        values["costs"] = SampleCosts(numbers["caps"])
    return Row(values, numbers)


def _settled(formulation: Any, first: Row, last: Row, k: int, tol: float) -> Stretch:
    """Verdict on the segment from row k to the next."""
    worst: list[Certificate] = []
    for low, high, proof in _proofs(formulation, first, last, tol):
        if proof.passes(tol):
            worst.append(proof.worst)
            continue
        for part in (0.5, 0.25, 0.75):
            share = low + part * (high - low)
            found = certificate_of(formulation, _between(first, last, share))
            if found.verdict(tol) == "not optimal":
                return Stretch(k, k + 1, "not optimal", found, share)
        return Stretch(k, k + 1, "undecided", proof.worst)
    return Stretch(k, k + 1, "optimal", max(worst, key=lambda certificate: certificate.off_by))


def _proofs(formulation: Any, first: Row, last: Row, tol: float) -> Iterator[tuple[float, float, LineProof]]:
    """Proofs of parts that cover a segment; one that fails comes where a point refutes it, or cuts are used up."""
    parts = [(0.0, 1.0, DEPTH)]
    while parts:
        low, high, depth = parts.pop()
        ends = [_between(first, last, share) for share in (low, high)]
        problem = _ENDS[formulation.lines](formulation, *ends)
        proof = _without_value(prove_classifiers(problem, _knots(*ends)))
        if proof.holds(tol) or not depth:
            yield low, high, proof
            continue
        middle = 0.5 * (low + high)
        if not certificate_of(formulation, _between(first, last, middle)).passes(tol):
            yield low, high, proof
            continue
        parts += [(middle, high, depth - 1), (low, middle, depth - 1)]


def _knots(first: Row, last: Row) -> Pieces:
    """Two rows as the one piece of a line, every sample listed."""

    def at_ends(name: str) -> Array:
        return np.array([float(row.numbers.get(name, 0.0)) for row in (first, last)])

    slopes = [row.numbers["w"] for row in (first, last) if "w" in row.numbers]
    w = np.stack(slopes) if len(slopes) == 2 else None
    alpha, rho = first.numbers["alpha"], at_ends("rho")
    ends, none = np.array([0.0, 1.0]), np.zeros(alpha.size, dtype=np.int8)
    knot = Pieces.still(ends, np.arange(alpha.size), alpha, at_ends("b_at_origin"), 0.0, w, none)
    return replace(knot, a1=last.numbers["alpha"], rho0=rho[:1], rho1=rho[1:])


def _without_value(proof: LineProof) -> LineProof:
    """Drop the residual of optimal values from a proof: knots claim none."""
    residuals = {name: residual for name, residual in proof.residuals.items() if name != "value"}
    return replace(proof, residuals=residuals)


def _of_costs(formulation: Any, first: Row, last: Row) -> SoftMargin:
    """The 2C-SVM along a line of costs."""
    y = formulation.y
    weight = getattr(formulation, "sample_weight", 1.0)

    def caps(row: Row) -> Array:
        costs = row.numbers.get("caps")
        if costs is None:
            costs = np.where(y > 0, row.values["C_plus"], row.values["C_minus"])
        return np.asarray(weight * costs)

    return SoftMargin.of(formulation.gram, y, np.stack([caps(first), caps(last)]))


def _of_nu(formulation: Any, first: Row, last: Row) -> SoftMargin:
    """The 2nu-SVM along a line of nu and caps."""
    y = formulation.y
    caps = [caps_of(row.values["asymmetry"], y) for row in (first, last)]
    total = np.array([first.values["nu"], last.values["nu"]])
    return SoftMargin.of(formulation.gram, y, np.stack(caps), nu=total)


def _of_quantile(formulation: Any, first: Row, last: Row) -> SoftMargin:
    """The quantile SVM along a line of tau."""
    lam = first.values["lam"]
    other = last.values["lam"]
    if other != lam:
        raise InputError(f"lam must be the same at all knots for between=True, got {lam!r} and {other!r}")
    caps = np.stack([formulation.caps(row.values["tau"]) for row in (first, last)])
    problem: SoftMargin = formulation.soft_margin(first.values["tau"], lam)
    return replace(problem, caps=caps)


_ENDS = {LineOfCosts: _of_costs, LineOfNu: _of_nu, LineOfTau: _of_quantile}
