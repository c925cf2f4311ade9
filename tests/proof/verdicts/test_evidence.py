"""Three verdicts: what is proved, what is refuted, and what is neither; from a certificate's numbers alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.evidence import Condition, DualityTable, judge

PAIR = Certificate(primal_value=1.0, dual_value=1.0, gap=0.0, scale=1.0, primal={"margin": 0.0}, dual={"box": 0.0})
POINT = replace(PAIR, dual={}, shortfall=0.0)


def opened(certificate, gap, **more):
    return replace(certificate, dual_value=certificate.primal_value - gap, gap=gap, **more)


@pytest.mark.parametrize("gap", [2e-8, 1e-3, 0.5, 100.0])
def test_the_gap_of_a_pair_refutes_it_and_a_bound_of_ours_refutes_nothing(gap):
    assert opened(PAIR, gap).verdict(1e-8) == "not optimal"
    assert opened(POINT, gap).verdict(1e-8) == "undecided"
    assert f"off by at most {gap:.1e}" in opened(POINT, gap).explain(1e-8)
    assert opened(POINT, gap, shortfall=gap / 2).verdict(gap / 4) == "not optimal"  # a better point in hand
    assert opened(POINT, gap, shortfall=gap / 2).verdict(gap * 0.75) == "undecided"
    assert "a feasible point is known that is better by" in opened(POINT, gap, shortfall=gap / 2).explain(gap / 4)
    assert opened(POINT, gap, shortfall=gap / 2).verdict(2 * gap) == "optimal"


def test_a_gap_that_rounding_may_make_refutes_nothing():
    assert opened(PAIR, 0.3, rounding=0.4).verdict() == "undecided"
    assert opened(PAIR, 0.3, rounding=0.25).verdict(0.04) == "not optimal"
    assert opened(PAIR, 0.3, rounding=0.25).verdict(0.06) == "undecided"
    assert opened(PAIR, 0.3, rounding=0.4, certain=0.1).verdict(0.04) == "not optimal"


@pytest.mark.parametrize("base", [PAIR, POINT], ids=["pair", "point"])
def test_a_violated_constraint_refutes_and_other_residuals_do_not(base):
    assert replace(base, primal={"margin": 1e-3}).verdict() == "not optimal"
    for name in ("box", "balance", "slack: sign", "dual program: cap"):
        assert replace(base, dual={name: 1e-3}).verdict() == "not optimal"
    for name in ("stationarity in w", "gradient"):
        assert replace(base, dual={name: 1e-3}).verdict() == "undecided"
    assert replace(base, slackness={"complementarity": 1e-3}).verdict() == "undecided"
    assert replace(base, primal={"value": 1e-3}).verdict() == "undecided"
    assert replace(base, primal={"margin": 1e-3}).verdict(1e-3) == "optimal"


@pytest.mark.parametrize("field", ["gap", "primal", "dual", "slackness"])
@pytest.mark.parametrize("base", [PAIR, POINT], ids=["pair", "point"])
def test_nan_decides_nothing(field, base):
    nan = float("nan")
    broken = replace(base, **{field: nan if field == "gap" else {"margin": nan}})
    for tol in (1e-8, 1.0, np.inf):
        assert broken.verdict(tol) == "undecided"
        assert broken.explain(tol)
    assert "Certificate(undecided, " in repr(broken)


def test_values_in_the_wrong_order_refute_no_point():
    for base in (PAIR, POINT):
        assert opened(base, -0.5).verdict() == "undecided"
        assert "weak duality forbids" in opened(base, -0.5).explain()


def test_a_value_that_is_better_than_possible_refutes_a_point():
    """Weak duality: it is off by what no feasible point reaches, however small the residuals are."""
    beyond = opened(POINT, -0.5, shortfall=0.5)
    assert beyond.verdict(0.4) == "not optimal"
    assert beyond.verdict(0.6) == "optimal"
    assert "the value is better than any feasible point's by 5.0e-01" in beyond.explain()
    assert "is known" not in beyond.explain()
    assert opened(POINT, -0.5, shortfall=0.3).verdict(0.4) == "undecided"


def test_it_is_said_what_a_violation_buys():
    bought = replace(opened(POINT, -1e-9, shortfall=0.0), primal={"mass": 2e-10})
    value, bound = f"{bought.primal_value:.10g}", f"{bought.dual_value:.10g}"
    said = f"The value is {value}, and no feasible point has a better one than {bound}: "
    by = bought.dual_value - bought.primal_value
    assert bought.explain(1e-8).startswith(f"{said}constraints that are violated by up to 2.0e-10 buy {by:.1e} (")
    assert "buy" not in replace(bought, primal={"mass": 0.0}).explain(1e-8)
    assert "buy" not in replace(bought, rounding=1.0).explain(1e-8)
    worse = replace(opened(POINT, 1e-9, shortfall=0.0), primal={"mass": 2e-10})
    assert "no feasible point has a better one than" in worse.explain(1e-8)
    assert "buy" not in worse.explain(1e-8)


def test_without_a_bound_only_a_better_point_refutes():
    blind = opened(POINT, np.inf)
    assert blind.verdict() == "undecided"
    assert "nothing bounds the optimal value" in blind.explain()
    assert replace(blind, shortfall=0.1).verdict() == "not optimal"


def test_multipliers_of_a_point_are_told_apart():
    told = replace(POINT, multipliers={"stationarity in x": 0.1})
    assert told.verdict() == "optimal"
    assert "multipliers that came with the point do not prove it: the condition 'stationarity in x'" in told.explain()
    assert "multipliers that came" not in told.explain(0.2)


def test_a_slack_that_is_rounding_is_printed_as_0():
    slack = np.array([1.42109e-14, 1e-12, -1.4e-14, 0.5])
    row = Condition("row", slack=slack, multiplier=np.ones(4), slack_unit=100.0)
    table = DualityTable.of([row])
    assert sorted(float(line.split()[2]) for line in repr(table).splitlines()[1:5]) == [0.0, 0.0, 1e-12, 0.5]
    assert sorted(each.slack for each in table) == sorted(slack.tolist())  # in print only
    assert list(table.to_frame().columns) == ["constraint", "index", "slack", "multiplier", "product", "violation"]


def test_a_judge_that_is_told_of_a_better_point():
    margin = Condition("margin", slack=np.zeros(1), multiplier=np.ones(1))
    assert judge(2.0, 1.0, [margin], {}).certificate.verdict() == "not optimal"
    assert judge(2.0, 1.0, [margin], {}).revised(shortfall=0.0).certificate.verdict() == "undecided"
    assert judge(2.0, 1.0, [margin], {}).revised(shortfall=0.5).certificate.verdict() == "not optimal"
