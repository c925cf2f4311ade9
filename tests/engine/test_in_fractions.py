"""Tests of `paretoclf.engine.in_fractions`."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from paretoclf.engine import general
from paretoclf.engine.general import follow
from paretoclf.engine.in_fractions import in_doubles, in_fractions, semidefinite
from paretoclf.problem.parametric_qp import ParametricQP
from tests.engine.test_general import along, at, objective
from tests.oracles.random_programs import fractions


@pytest.mark.parametrize(
    ("P", "known"), [([[1, 2], [2, 4]], True), ([[0, 1], [1, 4]], False), ([[1, 2], [2, 3]], False)]
)
def test_fractions_are_for_matrices_that_are_semidefinite_as_they_are(P, known):
    found = semidefinite(np.array(P, dtype=float))
    assert (found is not None) is known
    assert not known or (found == np.array(P)).all()


def determinant(M):
    """By Laplace's expansion."""
    if len(M) == 0:
        return 1
    return sum((-1) ** k * M[0, k] * determinant(np.delete(M[1:], k, axis=1)) for k in range(len(M)))


@pytest.mark.parametrize("seed", range(20))
def test_what_rounding_made_indefinite_is_taken_off(seed):
    """Integers of rank 2 times a scale: the nearest matrix of rank 2 is a few ulps away, and exactly semidefinite."""
    rng = np.random.default_rng(seed)
    root = rng.integers(-3, 4, (5, 2))
    P = root @ root.T * rng.uniform(0.1, 10.0)
    made = semidefinite(P)
    assert (abs(made - fractions(P)) <= 4e-15 * np.abs(P).max()).all()
    minors = [determinant(made[np.ix_(each, each)]) for size in range(1, 6) for each in combinations(range(5), size)]
    assert min(minors) >= 0


def test_curvature_of_an_ulp_is_kept():
    P = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-15]])
    assert (semidefinite(P) == fractions(P)).all()


def of_low_rank(seed):
    """Two squares for eight variables in a box: of the six 0 of P, doubles have ulps of either sign."""
    rng = np.random.default_rng(seed)
    P = sum(np.multiply.outer(row, row) for row in rng.normal(size=(2, 8)))
    A, q = rng.integers(-2, 3, (4, 8)).astype(float), np.round(rng.normal(size=(2, 8)), 1)
    upper = np.tile(np.repeat([1.0, 2.0], [8, 4]), (2, 1))
    slopes = np.tile(np.concatenate([np.full(8, np.inf), rng.choice([0.5, 1.0], 4)]), (2, 1))
    return ParametricQP(P, A, q, -upper, upper, slopes, slopes)


@pytest.mark.parametrize("block", range(3))
def test_in_twice_the_precision_curvature_of_some_ulps_is_none(block, monkeypatch):
    """Followed as curvature, it led 53 of 60 such paths off their sets."""
    for seed in range(6 * block, 6 * (block + 1)):
        problem = of_low_rank(seed)
        whole = in_doubles(follow(in_fractions(problem), progress=False), problem)
        with monkeypatch.context() as patch:
            patch.setattr(general, "in_fractions", lambda _: None)
            found = follow(problem, progress=False, precise=True)
        assert found.status == whole.status == "end"
        assert found.labels.shape[1] == found.v.shape[2] == problem.items
        assert along(problem, found, (0.0, 0.4, 1.0)) <= 1e-14
        for t in (0.0, 0.31, 0.77, 1.0):
            mine, exact = (objective(problem, t, at(each, t)) for each in (found, whole))
            assert mine == pytest.approx(exact, abs=1e-13), seed
