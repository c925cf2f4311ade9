"""Proofs of many parts: which are proved, which is worst, and what is said of them, for numbers of every kind."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.common.tolerances import CERTIFY, UNDECIDED
from paretoclf.proof.verdicts.cells import CellsProof


def cells(gap, unexplained=None, *, difference=None, kernel=None, samples=None, note="", **residuals):
    """A proof from lists, a number for each cell."""
    gap = np.array(gap, dtype=float)
    return CellsProof(
        gap,
        gap if unexplained is None else np.array(unexplained, dtype=float),
        np.zeros(gap.shape) if difference is None else np.array(difference, dtype=float),
        {name.replace("_", " "): np.array(values, dtype=float) for name, values in residuals.items()},
        None if samples is None else np.array(samples),
        note,
        kernel=None if kernel is None else np.array(kernel, dtype=float),
        places={"s": np.arange(gap.size) / 2},
    )


#: Gap, the same without what rounding explains, residual: and whether a part is proved.
ONE = {
    "exact": (0.0, 0.0, 0.0, True),
    "at the tolerance": (CERTIFY, CERTIFY, CERTIFY, True),
    "a gap above it": (2 * CERTIFY, 2 * CERTIFY, 0.0, False),
    "a gap that rounding explains": (1e-3, 0.0, 0.0, True),
    "as large a gap as may be explained": (UNDECIDED, 0.0, 0.0, True),
    "a gap that is too large to be explained": (UNDECIDED * 1.001, 0.0, 0.0, False),
    "a gap of which something is left": (1e-3, 2 * CERTIFY, 0.0, False),
    "a residual above it": (0.0, 0.0, 2 * CERTIFY, False),
    "a gap that is no number": (np.nan, np.nan, 0.0, False),
    "of which nothing is known": (np.inf, np.inf, 0.0, False),
    "a residual that is no number": (0.0, 0.0, np.nan, False),
}


@pytest.mark.parametrize("name", ONE)
def test_a_part_is_proved_by_its_gap_and_every_residual(name):
    gap, left, residual, proved = ONE[name]
    for place in ("stationarity", "complementarity"):
        proof = cells([0, gap, 0], [0, left, 0], **{place: [0, residual, 0], "margin": [0, 0, 0]})
        assert proof.failures().tolist() == ([] if proved else [1])
        assert (proof.holds(), proof.passes()) == (proved, proved)
        assert proof[1].passes() is proved
        assert ("optimal" in repr(proof)) is proved
        assert proof.explain().startswith(
            "Optimal in every cell, 3 cells." if proved else "1 of 3 cells are not proved."
        )
    alone = cells([gap], [left], stationarity=[residual])
    assert alone.passes() is proved


def test_every_tolerance_may_be_asked_for():
    proof = cells([1e-6, 1e-4, 0.5], [1e-6, 1e-4, 1e-4], stationarity=[0, 1e-3, 0])
    assert [proof.failures(tol).tolist() for tol in (1e-7, 1e-5, 2e-4, 2e-3, 0.6)] == [
        [0, 1, 2],
        [1, 2],
        [1, 2],
        [2],
        [],
    ]
    assert [proof.closed(tol).tolist() for tol in (1e-7, 1e-4)] == [[False] * 3, [True, True, False]]
    assert proof.closed(0.6).all()
    assert proof.residual.tolist() == [0, 1e-3, 0]
    assert cells([0.0, 0.0]).residual.tolist() == [0, 0]
    assert len(proof) == 3


def test_rounding_of_kernel_values_leaves_it_undecided():
    proof = cells([0, 0, 0], kernel=[0, 1e-7, CERTIFY], stationarity=[0, 0, 0])
    assert proof.of_other_values().tolist() == [1]
    assert proof.of_other_values(1e-6).size == 0
    assert proof.holds()
    assert not proof.passes()
    assert proof.passes(1e-6)
    assert "1 undecided" in repr(proof)
    assert "of the kernel values as rounded; on 1 the kernel's own may decide otherwise" in proof.explain()
    assert proof.worst.cell == "Cell 1 (s = 0.5)"
    assert not proof[1].passes()
    assert proof[2].passes()
    assert cells([0, 1.0], kernel=[1.0, 0.0]).__repr__().startswith("CellsProof(2 cells, 2 not proved")


def test_the_worst_part_has_the_largest_residual_or_gap():
    proof = cells([1e-9, 3e-4, 2e-4], [1e-9, 0, 2e-4], stationarity=[1e-6, 0, 0], difference=[1, 2, 3])
    assert proof.worst.cell == "Cell 2 (s = 1)"  # the gap of the second is explained
    assert proof.worst.difference == 3
    assert [proof.most(np.array(each)) for each in ([0, 1, 2], [0, 1], [0, 2], [0])] == [1, 1, 2, 0]
    assert cells([1e-3, 2e-3, 0], [0, 0, 0]).worst.cell == "Cell 1 (s = 0.5)"  # of equals the one with the larger gap
    odd = cells([1e-3, np.nan, 0], stationarity=[0, 0, np.inf])
    assert odd.most(np.array([0, 1])) == 1
    assert odd.worst.cell in ("Cell 1 (s = 0.5)", "Cell 2 (s = 1)")
    assert cells([0.1, np.nan]).worst.cell == "Cell 1 (s = 0.5)"
    assert "gap=3.0e-04, residual=1.0e-06" in repr(proof)
    assert proof.explain().startswith("2 of 3 cells are not proved. Worst: Cell 2")


def test_a_certificate_says_which_condition_is_worst():
    proof = cells([0, 0], margin=[1e-3, 0], stationarity=[1e-4, 0], complementarity=[1e-2, 0], samples=None)
    first = proof[0]
    assert first.primal == {"margin": 1e-3}
    assert first.dual == {"stationarity": 1e-4}
    assert first.slackness == {"complementarity": 1e-2}
    assert (first.worst, first.worst_side) == ("complementarity", "largest residual: complementarity, 1.0e-02")
    assert cells([0], samples=[7], stationarity=[1.0])[0].worst == 7
    assert cells([0])[0].worst_side == ""
    assert proof[-1].cell == "Cell 1 (s = 0.5)"
    with pytest.raises(IndexError):
        proof[2]


def test_nothing_to_prove_is_no_proof_that_fails():
    none = cells([])
    assert none.passes()
    assert none.explain() == "There is no cell to prove."
    assert repr(none) == "CellsProof(0 cells, optimal, gap=0.0e+00, residual=0.0e+00)"


def test_parts_are_replaced_by_those_of_another_proof():
    mine = cells(
        [1, 2, 3], [1, 2, 3], difference=[4, 5, 6], samples=[7, 8, 9], kernel=[1, 1, 1], stationarity=[1, 2, 3]
    )
    theirs = cells([0, 0], [0, 0], difference=[1, 1], samples=[0, 1], kernel=[0, 0], stationarity=[0, 0], note="Again.")
    joined = mine.with_parts([0, 2], theirs)
    assert joined.gap.tolist() == joined.unexplained.tolist() == [0, 2, 0]
    assert joined.difference.tolist() == [1, 5, 1]
    assert joined.samples.tolist() == [0, 8, 1]
    assert joined.kernel.tolist() == [0, 1, 0]
    assert joined.residuals["stationarity"].tolist() == [0, 2, 0]
    assert joined.note == "Again."
    assert mine.gap.tolist() == [1, 2, 3]  # as it was
    noted = cells([1.0], stationarity=[1], note="First.")
    both = noted.with_parts([0], cells([0.0], stationarity=[0], note="Second."))
    assert both.note == "Second. First."
    assert both.kernel is None
    assert both.samples is None
    same = noted.with_parts([0], cells([0.0], stationarity=[0], note="First."))
    assert same.note == "First."
