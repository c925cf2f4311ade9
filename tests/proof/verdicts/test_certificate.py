"""Tests of `paretoclf.proof.verdicts.certificate`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paretoclf.proof.verdicts.certificate import VERDICTS
from tests.proof.verdicts.test_evidence import PAIR, POINT, opened


def test_there_are_three():
    assert VERDICTS == ("not optimal", "undecided", "optimal")
    assert PAIR.verdict() == POINT.verdict() == "optimal"


def test_verdicts_of_tolerances_are_ordered():
    rng = np.random.default_rng(0)
    for _ in range(500):
        size = 10.0 ** rng.uniform(-12, 1, 6)
        made = opened(PAIR, size[0], rounding=size[1], shortfall=None if rng.random() < 0.5 else size[0] * rng.random())
        made = replace(made, primal={"margin": size[2]}, dual={"box": size[3]}, slackness={"complementarity": size[4]})
        said = [VERDICTS.index(made.verdict(tol)) for tol in 10.0 ** np.arange(-13, 3)]
        assert said == sorted(said)
        assert made.verdict(made.off_by) == "optimal"
        assert made.refuted <= made.off_by
