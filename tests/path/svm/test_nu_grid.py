"""Tests of `paretoclf.path.svm.nu_grid`."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.engine.tracker import CoreTracker
from paretoclf.path.svm import nu_grid as nu_grid_module
from paretoclf.path.svm import nu_path as nu_module
from paretoclf.proof.verdicts.cells import CellsProof
from tests.path.svm.test_nu_path import blobs


def test_the_proof_of_a_grid_says_what_its_certificates_say():
    svm = pc.TwoNuSVM(*blobs(9), pc.RBF(1.0))
    values = np.array([0.2, 0.5, 0.8])
    grid = pc.nu_grid(svm, values, values)
    assert len(grid.proof) == 9
    assert grid.proof.passes(1e-9)
    np.testing.assert_array_equal(grid.proof.residual, grid.residual.ravel())
    assert grid.proof.explain().startswith("Optimal at every point of the grid")
    assert grid.proof[5].cell == "Point 5 (nu_plus = 0.5, nu_minus = 0.8)"
    wrong = nu_grid_module._grade(
        grid.gram, grid.y, *np.array([[0.3], [0.5]]), grid.alpha[0, 0][:, None], np.zeros(1, dtype=bool)
    )
    numbers = np.abs(wrong.gap), wrong.unexplained, np.abs(wrong.gap) * wrong.scale
    proof = CellsProof(*numbers, wrong.residuals, places={"nu_plus": np.array([0.3])}, part="point")
    assert not proof.passes()
    assert proof.worst.conditions["rho"] == pytest.approx(abs(grid.alpha[0, 0].sum() / 0.3 - 1), rel=1e-9)
    assert proof.explain().startswith("1 of 1 points are not proved. Worst: Point 0 (nu_plus = 0.3")


@pytest.mark.parametrize("fails", ["on a line", "on the edge"])
def test_a_grid_goes_on_where_a_line_cannot(fails, monkeypatch):
    svm, values = pc.TwoNuSVM(*blobs(9), pc.RBF(1.0)), np.array([0.3, 0.6, 1.0])
    whole_grid = pc.nu_grid(svm, values, values)
    follow, lines = CoreTracker.follow, []
    where = nu_grid_module if fails == "on a line" else nu_module

    def failing(self, *given):
        if sys._getframe(1).f_globals["__name__"] == where.__name__:
            lines.append(self)
            if len(lines) == 2:
                self._core.run(5, 60.0)
                raise pc.DegeneratePathError("as if", t=0.0, costs="", n_margin=0, remedy="")
        return follow(self, *given)

    monkeypatch.setattr(CoreTracker, "follow", failing)
    grid = pc.nu_grid(svm, values, values)
    assert grid.refused.any()
    assert not grid.refused[:, 2].any()  # the first line: nu_minus = 1, as the positives are fewer
    assert grid.refused[:, 0].all() == (fails == "on the edge")
    known = ~grid.refused
    np.testing.assert_allclose(grid.value[known], whole_grid.value[known], rtol=1e-10)
