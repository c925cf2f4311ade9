"""Faces of dual cones: points of the cones satisfy the weaker rows, and multipliers of these are in the dual cones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.proof.cones.cone_kinds import Cone, Cones, contains, project, project_dual
from paretoclf.proof.cones.cone_program import ConeProgram
from paretoclf.proof.cones.relaxation import relaxed

#: Multipliers on a face of a dual cone, with the cones of the weaker rows.
FACES = {
    "an exponential": (Cone("exponential"), [0, 2, 1], [Cone("nonnegative", 2)]),
    "an exponential off its face": (Cone("exponential"), [-1, 2, 1], [Cone("exponential")]),
    "no exponential": (Cone("exponential"), [0, 0, 0], []),
    "a power": (Cone("power", 3, 0.3), [1, 2, 0], [Cone("nonnegative", 2)]),
    "a power off its face": (Cone("power", 3, 0.3), [1, 2, 0.5], [Cone("power", 3, 0.3)]),
    "no power": (Cone("power", 3, 0.3), [0, 0, 0], []),
    "a side": (Cone("second-order", 4), [2, 0, -2, 0], [Cone("nonnegative", 1)]),
    "a shorter vector": (Cone("second-order", 4), [2, 1, -1, 0], [Cone("second-order", 3)]),
    "no vector": (Cone("second-order", 4), [0, 0, 0, 0], []),
    "a submatrix": (Cone("psd", 3), [2, 0, 0, 1, 0, 3], [Cone("psd", 2)]),
    "a matrix with a 0 on its diagonal alone": (Cone("psd", 3), [2, 1, 0, 1, 0, 3], [Cone("psd", 3)]),
    "no matrix": (Cone("psd", 3), np.zeros(6), []),
}


@pytest.mark.parametrize("name", FACES)
def test_what_is_in_a_cone_satisfies_the_weaker_rows(name):
    """And multipliers of the weaker rows come back to the dual cone."""
    cone, z, weaker = FACES[name]
    z, rng = np.asarray(z, dtype=float), np.random.default_rng(0)
    found = relaxed(Cones([cone]), z)
    assert list(found.cones) == weaker
    assert found.weaker == (weaker != [cone])
    np.testing.assert_array_equal(found.back(found.taken(z)), z)
    for _ in range(50):
        slack = project(3 * rng.normal(size=cone.size), [cone])
        own = found.rows @ slack
        assert np.abs(own - project(own, weaker)).max(initial=0.0) <= 1e-9
        back = found.back(project_dual(rng.normal(size=own.size), weaker))
        assert np.abs(back - project_dual(back, [cone])).max() <= 1e-9


def test_no_weaker_rows_hold_outside_the_cone_for_every_face():
    """Rows that all faces share would be the cone itself: each leaves something out that the cone does not."""
    for cone, z, weaker in FACES.values():
        found = relaxed(Cones([cone]), np.asarray(z, dtype=float))
        if not found.weaker:
            continue
        rng = np.random.default_rng(1)
        points = 3 * rng.normal(size=(400, cone.size))
        inside = np.array(
            [contains(found.rows @ point, np.zeros(found.rows.shape[0]), weaker).all() for point in points]
        )
        in_cone = contains(points, np.zeros(points.shape), [cone])[:, 0]
        assert (inside >= in_cone).all()
        assert inside.sum() > in_cone.sum()


def test_places_of_several_cones_and_of_small_entries():
    cones = Cones([Cone("zero", 1), Cone("exponential"), Cone("nonnegative", 2), Cone("psd", 2)])
    z = np.array([5.0, -1e-9, 2, 1e-9, 1e-9, 4, 1e-9, 1e-9, 3])
    found = relaxed(cones, z, 1e-8)
    assert list(found.cones) == [Cone("zero", 1), Cone("nonnegative", 2), Cone("nonnegative", 2), Cone("psd", 1)]
    assert found.first.tolist() == [0, 2, 3, 4, 5, 8]
    assert found.kept(z, 1e-8).tolist() == [5, 2, 0, 0, 4, 3]
    assert found.back(found.kept(z, 1e-8)).tolist() == [5, 0, 2, 0, 0, 4, 0, 0, 3]
    assert not relaxed(cones, z).weaker


def test_a_sum_of_rows_that_would_be_rounded_is_none():
    cones = Cones([Cone("second-order", 3)])
    face = relaxed(cones, np.array([1.0, -1, 0]))
    assert face.of(np.array([[-1.0, 0], [0, -1], [0, 0]])).toarray().tolist() == [[-1, 1]]
    assert face.of(np.array([[0.75, 0.1], [-0.5, -1], [0, 0]])) is None
    assert face.of(np.array([[0.75, 1e-9], [-0.5, 0], [0, 0]])).toarray().tolist() == [[1.25, 1e-9]]
    assert face.of(np.array([[0.1, 0], [0.2, -1], [0, 0]])).toarray().tolist() == [[-0.1, 1]]
    apart, sides = np.array([[-1.0, 0], [0, -1], [0, 0]]), np.array([1.0, 1.0, 0])
    nothing = sp.csr_array((2, 2))
    assert face.program(ConeProgram(nothing, np.ones(2), apart, sides, cones)).b.tolist() == [0]
    assert face.program(ConeProgram(nothing, np.ones(2), apart, 0.1 * np.arange(1, 4), cones)).b.tolist() == [-0.1]
    assert face.program(ConeProgram(nothing, np.ones(2), apart, np.array([1e-20, 1.0, 0]), cones)) is None
