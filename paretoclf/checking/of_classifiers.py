"""`verify` of classifiers: a certificate for each solution, and of what is between them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from paretoclf.checking.between import Stretch, stretches
from paretoclf.checking.given import one_problem, read_given
from paretoclf.checking.judged_solutions import Verification
from paretoclf.checking.judging import certificate_of
from paretoclf.checking.libsvm import kept
from paretoclf.common.errors import InputError
from paretoclf.common.tables import rounded_up


def judge_classifiers(given: tuple[Any, ...], chosen: float | None, between: bool) -> Verification:
    """Judge what `read_given` reads; ``chosen`` is the tolerance that was asked for.

    Raises
    ------
    InputError
        If there is no solution, or one has the wrong form, naming its index.
    """
    read = read_given(*given)
    tol = read.tol if chosen is None else chosen
    rows, certificates, first, own = [], [], None, {}
    for k, (formulation, row) in enumerate(read.rows):
        try:
            certificates.append(certificate_of(formulation, row))
        except InputError as error:
            raise InputError(f"solutions[{k}]: {error}") from None
        notes = [certificates[k].note, row.note]
        if chosen is None and not certificates[k].passes(tol):
            promise = kept(formulation, row, certificates[k])
            if promise is not None and promise.holds:
                own[k] = promise
                notes.append(promise.explain(rounded_up(certificates[k].gap)))
        certificates[k] = replace(certificates[k], note=" ".join(filter(None, notes)))
        first = formulation if first is None else first
        if between and not one_problem(first, formulation):
            raise InputError(f"between must be False: solutions[{k}] is of another problem than solutions[0]")
        rows.append(row)
    found: tuple[Stretch, ...] = ()
    if between:
        found = stretches(first, rows, tol) if read.path is None else stretches_of(read.path)
    return Verification(tuple(row.values for row in rows), tuple(certificates), tol, found, read.hint, own)


def stretches_of(path: Any) -> tuple[Stretch, ...]:
    """A path of ours has its proof; its rows are ends and middles of segments."""
    proof = path.proof
    bad = set(proof.failures().tolist())
    return tuple(Stretch(2 * k, 2 * k + 2, "undecided" if k in bad else "optimal", proof[k]) for k in range(len(proof)))
