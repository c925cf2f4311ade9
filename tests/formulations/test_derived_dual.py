"""The dual that is derived of a formulation's primal has the value of the one that was written by hand."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.solve.formulation import Formulation
from tests.oracles.formulation_cases import CASES


def places(formulation, case, rng, count=20):
    """Values of the parameters: those of the case, and others between and around them."""
    found = [dict(values) for values in case.values]
    while len(found) < count and found[0]:
        share, (first, last) = rng.uniform(0, 1), rng.choice(len(case.values), 2)
        ends = case.values[first], case.values[last]
        found.append({name: share * ends[0][name] + (1 - share) * ends[1][name] for name in ends[0]})
    return found[:count]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_the_derived_dual_has_the_value_of_the_written_one_at_twenty_places(case):
    rng = np.random.default_rng(20)
    formulation = case.make(rng)
    assert formulation.states_dual
    derived = Formulation.dual.func(formulation)
    assert isinstance(derived.objective, cp.Minimize)
    assert derived.is_dcp()
    for values in places(formulation, case, rng):
        for name, value in formulation.check_values(values).items():
            formulation.parameters[name].value = value
        written = formulation.dual
        for program in (written, derived):
            program.solve(solver="CLARABEL")
        assert derived.value == pytest.approx(written.value, rel=1e-5, abs=1e-6), values
