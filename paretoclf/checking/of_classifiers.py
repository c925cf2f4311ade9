"""`verify` of classifiers: a certificate for each solution, and for the segments between them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from paretoclf.checking.between import Stretch, stretches
from paretoclf.checking.given import Given, one_problem, read_given
from paretoclf.checking.judged_solutions import Verification, at_most
from paretoclf.checking.libsvm import Kept
from paretoclf.checking.rows import Row
from paretoclf.common.errors import InputError
from paretoclf.proof.verdicts.certificate import Certificate


def judge_classifiers(given: tuple[Any, ...], chosen: float | None, between: bool) -> Verification:
    """Judge the solutions that `read_given` reads; ``chosen`` is the tolerance that was asked for."""
    return judge_rows(read_given(*given), chosen, between)


def judge_rows(read: Given, chosen: float | None, between: bool) -> Verification:
    """Judge solutions, each of the problem that it comes with.

    Raises
    ------
    InputError
        If there is no solution, or one has the wrong form, naming its index.
    """
    tol = read.tol if chosen is None else chosen
    rows: list[Row] = []
    certificates: list[Certificate] = []
    promises: dict[int, Kept] = {}
    first: Any = None
    for k, (formulation, row) in enumerate(read.rows):
        try:
            certificate = read.judge(formulation, row)
        except InputError as error:
            raise InputError(f"solutions[{k}]: {error}") from None
        notes = [certificate.note, row.note]
        if chosen is None and row.stop is not None and not certificate.passes(tol):
            promise = row.stop.kept(formulation, row, certificate)
            if promise is not None and promise.holds:
                promises[k] = promise
                notes.append(promise.explain(at_most(certificate)))
        first = formulation if first is None else first
        if between and not one_problem(first, formulation):
            raise InputError(f"between must be False: solutions[{k}] is of another problem than solutions[0]")
        rows.append(row)
        at = max(tol, certificate.off_by) if k in promises else tol
        certificates.append(replace(certificate, note=" ".join(filter(None, notes)), tol=at))
    segments: tuple[Stretch, ...] = ()
    if between:
        segments = stretches(first, rows, tol) if read.path is None else stretches_of(read.path)
    values = tuple(row.values for row in rows)
    return Verification(values, tuple(certificates), tol, segments, read.hint, promises)


def stretches_of(path: Any) -> tuple[Stretch, ...]:
    """Verdicts of the proof that a path of ours has; its rows are ends and middles of segments."""
    proof = path.proof
    unproved = set(proof.failures().tolist())
    found = []
    for k in range(len(proof)):
        status = "undecided" if k in unproved else "optimal"
        found.append(Stretch(2 * k, 2 * k + 2, status, proof[k]))
    return tuple(found)
