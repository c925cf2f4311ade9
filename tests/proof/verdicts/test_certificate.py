"""Tests of `paretoclf.proof.verdicts.certificate`."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from paretoclf.proof.verdicts.certificate import VERDICTS, Certificate
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


def test_what_is_within_its_tolerance_is_printed_so():
    """A residual of 3.2e-07 was "at most 3.2e-07 (tolerance 3e-07)"."""
    for tol in (3.24e-7, 3.26e-7, 1e-8, 4.97e-5, 0.0349, 1e-3):
        found = Certificate(primal_value=1.0, dual_value=1.0, gap=0.0, scale=1.0, primal={"box": tol}, tol=tol)
        most, tolerance = re.search(r"is at most (\S+) \(tolerance (\S+)\)", found.explain()).groups()
        assert float(most) <= float(tolerance)
