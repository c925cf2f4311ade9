"""What is said of one cell: it is where its proof says, and passes as its row of the proof does."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.common.tolerances import CERTIFY, UNDECIDED
from paretoclf.proof.verdicts.cells import CellCertificate, CellsProof


def cell(gap, unexplained, difference=0.0, **more):
    return CellCertificate(
        primal_value=np.nan, dual_value=np.nan, gap=gap, scale=1.0, shortfall=0.0, cell="Cell 0",
        unexplained=unexplained, difference=difference, **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("gap", "left", "closed", "off_by"),
    [
        (0.0, 0.0, True, 0.0),
        (CERTIFY, CERTIFY, True, CERTIFY),
        (1e-3, 1e-3, False, 1e-3),
        (1e-3, 0.0, True, 0.0),
        (UNDECIDED, 0.0, True, 0.0),
        (0.3, 0.0, False, 0.3),
        (1e-3, 1e-4, False, 1e-3),
        (np.nan, np.nan, False, np.inf),
        (np.inf, 0.0, False, np.inf),
    ],
)
def test_a_gap_is_closed_if_rounding_explains_it_and_it_is_not_too_large(gap, left, closed, off_by):
    found = cell(gap, left, 0.5)
    assert found.passes() is closed
    assert found.off_by == off_by
    assert found.verdict() == ("optimal" if closed else "undecided")
    assert found.explain().startswith("Cell 0: primal and dual value differ by at most 5.0e-01 (relative gap ")


def test_a_larger_tolerance_may_be_asked_for():
    assert cell(0.4, 0.3).passes(0.4)
    assert not cell(0.4, 0.3).passes(0.35)
    assert not cell(0.4, 0.3).passes(0.2)
    assert not cell(1e-9, 0.0, kernel_rounding=1e-6).passes()
    assert cell(1e-9, 0.0, kernel_rounding=1e-6).holds()


def test_a_cell_of_a_proof_has_its_numbers():
    numbers = np.array([1e-9, 2e-3])
    proof = CellsProof(
        numbers, 0.5 * numbers, 3 * numbers, {"margin": 4 * numbers}, None, "Note.", kernel=5 * numbers,
        places={"s": np.array([0.5, 1.5]), "t": np.array([2.0, 3.0])}, part="region", whole="in every region",
    )  # fmt: skip
    last = proof[1]
    assert last.cell == "Region 1 (s = 1.5, t = 3)"
    assert (last.gap, last.unexplained, last.difference) == (2e-3, 1e-3, 6e-3)
    assert (last.kernel_rounding, last.scale, last.primal) == (1e-2, 1.0, {"margin": 8e-3})
    assert last.note == "Note."
    bare = CellsProof(numbers, numbers, numbers, {})
    assert bare[0].cell == "Cell 0"
    assert bare[0].kernel_rounding == 0.0
    assert bare.explain().startswith("1 of 2 cells are not proved.")
