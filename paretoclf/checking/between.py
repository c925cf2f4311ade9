"""A foreign path between its knots: everything affine from one row to the next, proved or refuted for every point.

Each stretch between two rows is handed to the proof of whole lines (`paretoclf.proof`). Where its bound does not close,
three points inside are judged one by one: one that is not optimal refutes the stretch; otherwise it is cut in two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from paretoclf.checking.judging import best_margin, certificate_of, intercept
from paretoclf.checking.rows import Row
from paretoclf.common.checks import Array, Index, check_number, check_vector
from paretoclf.common.errors import InputError
from paretoclf.problem.costs import SampleCosts, per_sample
from paretoclf.problem.lines import LineOfCosts, LineOfNu, LineOfTau
from paretoclf.problem.nu import caps_of
from paretoclf.proof.certificates import Certificate
from paretoclf.proof.line import LineProof
from paretoclf.proof.proving import prove
from paretoclf.proof.soft_margin import SoftMargin

#: How often a stretch is cut in two before it is left open.
DEPTH = 8


@dataclass(frozen=True)
class Stretch:
    """What is known of every point between two rows.

    Attributes
    ----------
    first, last : int
        Indices of the rows it begins and ends at.
    status : {"optimal", "not optimal", "undecided"}
        Undecided: neither a proof nor a point that fails was found.
    certificate : Certificate
        The proof with the largest residual or gap; of a stretch that is not optimal that of the point that fails.
    share : float or None
        Where that point is, from 0 at the row to 1 at the next.
    """

    first: int
    last: int
    status: str
    certificate: Certificate = field(repr=False)
    share: float | None = None


def stretches(formulation: Any, rows: Sequence[Row], tol: float) -> tuple[Stretch, ...]:
    """Prove or refute what lies between consecutive rows.

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
    """The row with every number that the proof needs."""
    if row.numbers.get("alpha") is None:
        raise InputError(f"solutions[{k}]: alpha must be given for between=True")
    given = row.numbers.keys() & {"b", "b_at_origin"}
    if not given and formulation.lines is not LineOfTau:
        raise InputError(f"solutions[{k}]: b must be given for between=True")
    n, gram = formulation.gram.n, formulation.gram
    numbers: dict[str, Any] = {"alpha": check_vector(row.numbers["alpha"], n, "alpha")}
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


def _between(a: Row, b: Row, share: float) -> Row:
    """Everything affine from one row to another."""

    def mixed(x: Mapping[str, Any], z: Mapping[str, Any]) -> dict[str, Any]:
        return {name: (1.0 - share) * x[name] + share * z[name] for name in x if name in z and name != "costs"}

    values, numbers = mixed(a.values, b.values), mixed(a.numbers, b.numbers)
    if "caps" in numbers:
        values["costs"] = SampleCosts(numbers["caps"])
    return Row(values, numbers)


def _settled(formulation: Any, a: Row, b: Row, k: int, tol: float) -> Stretch:
    worst: list[Certificate] = []
    for low, high, proof in _proofs(formulation, a, b, tol):
        if proof.passes(tol):
            worst.append(proof.worst)
            continue
        for part in (0.5, 0.25, 0.75):
            share = low + part * (high - low)
            found = certificate_of(formulation, _between(a, b, share))
            if found.verdict(tol) == "not optimal":
                return Stretch(k, k + 1, "not optimal", found, share)
        return Stretch(k, k + 1, "undecided", proof.worst)
    return Stretch(k, k + 1, "optimal", max(worst, key=lambda c: c.off_by))


def _proofs(formulation: Any, a: Row, b: Row, tol: float) -> Iterator[tuple[float, float, LineProof]]:
    """Proofs of parts that cover a stretch; one that fails comes where a point refutes it, or cuts are used up."""
    parts = [(0.0, 1.0, DEPTH)]
    while parts:
        low, high, depth = parts.pop()
        ends = [_between(a, b, s) for s in (low, high)]
        problem = _ENDS[formulation.lines](formulation, *ends)
        proof = _without_value(prove(problem, _knots(*ends)))
        if proof.holds(tol) or not depth:
            yield low, high, proof
            continue
        middle = 0.5 * (low + high)
        if not certificate_of(formulation, _between(a, b, middle)).passes(tol):
            yield low, high, proof
            continue
        parts += [(middle, high, depth - 1), (low, middle, depth - 1)]


@dataclass(frozen=True)
class _Knots:
    """Two rows as the one segment of a line, every sample listed."""

    a0: Array
    a1: Array
    b0: Array
    b1: Array
    w: Array | None
    rho0: Array
    rho1: Array

    t: Array = field(default_factory=lambda: np.array([0.0, 1.0]))
    value: Array = field(default_factory=lambda: np.zeros((1, 3)))
    changes: Index = field(default_factory=lambda: np.zeros((3, 0), dtype=np.int64))

    @property
    def index(self) -> Index:
        return np.arange(self.a0.size)

    @property
    def ptr(self) -> Index:
        return np.array([0, self.a0.size])

    @property
    def state(self) -> Any:
        return np.zeros(self.a0.size, dtype=np.int8)


def _knots(a: Row, b: Row) -> _Knots:
    def at(row: Row, name: str) -> Array:
        return np.array([float(row.numbers.get(name, 0.0))])

    w = np.stack([a.numbers["w"], b.numbers["w"]]) if "w" in a.numbers and "w" in b.numbers else None
    return _Knots(
        a.numbers["alpha"],
        b.numbers["alpha"],
        at(a, "b_at_origin"),
        at(b, "b_at_origin"),
        w,
        at(a, "rho"),
        at(b, "rho"),
    )


def _without_value(proof: LineProof) -> LineProof:
    """Knots claim no optimal values."""
    return replace(proof, residuals={name: r for name, r in proof.residuals.items() if name != "value"})


def _of_costs(formulation: Any, a: Row, b: Row) -> SoftMargin:
    y, weight = formulation.y, getattr(formulation, "sample_weight", 1.0)

    def caps(row: Row) -> Array:
        costs = row.numbers.get("caps")
        return np.asarray(
            weight * (np.where(y > 0, row.values["C_plus"], row.values["C_minus"]) if costs is None else costs)
        )

    return SoftMargin.of(formulation.gram, y, np.stack([caps(a), caps(b)]))


def _of_nu(formulation: Any, a: Row, b: Row) -> SoftMargin:
    y = formulation.y
    caps = [caps_of(r.values["asymmetry"], y) for r in (a, b)]
    total = np.array([a.values["nu"], b.values["nu"]])
    return SoftMargin.of(formulation.gram, y, np.stack(caps), nu=total)


def _of_quantile(formulation: Any, a: Row, b: Row) -> SoftMargin:
    lam = a.values["lam"]
    if b.values["lam"] != lam:
        raise InputError(f"lam must be the same at all knots for between=True, got {lam!r} and {b.values['lam']!r}")
    caps = np.stack([formulation.caps(r.values["tau"]) for r in (a, b)])
    problem: SoftMargin = formulation.soft_margin(a.values["tau"], lam)
    return replace(problem, caps=caps)


_ENDS = {LineOfCosts: _of_costs, LineOfNu: _of_nu, LineOfTau: _of_quantile}
