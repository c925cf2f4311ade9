"""Constraints that contradict each other, by multipliers that prove it, in the names of their author."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import CERTIFY
from paretoclf.proof.cones.cone_judge import infeasibility
from paretoclf.proof.cones.cone_program import ConeProgram

#: Multipliers below this share of the largest are a solver's rounding.
_USED = 1e-6

#: What a row is called that CVXPY added for none of the constraints that contradict each other.
_ADDED = "a constraint that CVXPY added"


def together(names: Iterable[str]) -> str:
    """Names of what no point satisfies, of several together."""
    said = " and ".join(own := list(names))
    return f"{said} together" if len(own) > 1 else said


def contradiction(
    program: ConeProgram, z: Array, columns: Mapping[str, Index], constraint: Callable[[int], str]
) -> tuple[Literal["infeasible", "undecided"], str, dict[str, float]] | None:
    """Verdict by a solver's multipliers, in words, and the largest of each constraint; None where they prove nothing.

    Constraints must contradict each other by more than a point that counts as feasible may miss.
    """
    z, reach = infeasibility(program, z)
    if reach == 0:
        return None
    share = contradicting(program, z, columns, constraint)
    gain, terms = -float(program.b @ z), float(np.abs(program.b) @ np.abs(z))
    if gain <= CERTIFY * terms:
        said = f"{' and '.join(share)} contradict each other, but by no more than {gain / terms:.1e} of their terms"
        return "undecided", f"Undecided: {said}: by as much a point that counts as feasible may miss them.", share
    if np.isinf(reach):
        return "infeasible", f"Infeasible, proved: no point satisfies {together(share)}.", share
    words = (
        f"The solver says infeasible, which is proved of points with entries below {reach:.1e} only: "
        f"none of these satisfies {together(share)}."
    )
    return "undecided", words, share


def contradicting(
    program: ConeProgram, z: Array, columns: Mapping[str, Index], constraint: Callable[[int], str]
) -> dict[str, float]:
    """Find the largest multiplier of each constraint that has one, the largest first.

    Parameters
    ----------
    program : ConeProgram
    z : array of shape (m,)
        Multipliers of its rows with which no point satisfies them.
    columns : mapping of str to int array
        Columns of the user's variables.
    constraint : callable
        Gives the constraint of a row; an empty text where CVXPY added it.
    """
    sizes = np.abs(z)
    rows = np.argsort(-sizes)[: int((sizes > _USED * sizes.max()).sum())]
    names = [constraint(int(row)) for row in rows]
    parts = _connected(program, columns, rows)
    owned = {part for part, name in zip(parts, names, strict=True) if name}
    found: dict[str, float] = {}
    for row, part, name in zip(rows, parts, names, strict=True):
        if name or part not in owned:
            found.setdefault(name or _ADDED, float(sizes[row]))
    return found


def _connected(program: ConeProgram, columns: Mapping[str, Index], rows: Index) -> list[int]:
    """A number for each row: rows have the same that share a column that CVXPY added, or a cone, or do so by others."""
    count = np.arange(rows.size)
    own = np.concatenate([np.zeros(0, dtype=np.int64), *(np.ravel(at) for at in columns.values())])
    added = np.setdiff1d(np.arange(program.q.size), own)
    shared = abs(sp.csr_array(program.A)[rows][:, added])
    cones = sp.csr_array((np.ones(rows.size), (count, program.block_of_row[rows])))
    _, parts = connected_components(shared @ shared.T + cones @ cones.T, directed=False)
    return [int(each) for each in parts]
