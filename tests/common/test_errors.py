"""Tests of `paretoclf.common.errors`."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from joblib import Parallel, delayed

from paretoclf.common import errors

STOPPED = errors.StoppedError("no time is left", t=0.25, costs="costs 1 to 2", n_margin=3, remedy="Raise max_seconds.")
STOPPED.path = "what there is"
APART = errors.InseparableError("no", weights_plus=np.ones(2), weights_minus=np.ones(3), distance=0.5)


@pytest.mark.parametrize(
    "error",
    [errors.InputError("eps must be"), STOPPED, errors.InterruptedPath("a path"), APART, errors.SolveError("nothing")],
    ids=lambda error: type(error).__name__,
)
def test_what_is_raised_in_another_process_arrives_as_it_is(error):
    there = pickle.loads(pickle.dumps(error))
    assert type(there) is type(error)
    assert str(there) == str(error)
    assert there.args == error.args
    assert set(vars(there)) == set(vars(error))
    for name, value in vars(error).items():
        np.testing.assert_array_equal(getattr(there, name), value)


def _refuse():
    raise errors.DegeneratePathError("too flat", t=0.5, costs="", n_margin=None, remedy="Standardise the features.")


def test_a_path_that_is_refused_in_another_process_says_why():
    """Errors with arguments of their own once ended joblib's workers by "failed to un-serialize"."""
    with pytest.raises(errors.DegeneratePathError, match=r"too flat, at t = 0.5\. Standardise") as caught:
        Parallel(n_jobs=2)(delayed(_refuse)() for _ in range(2))
    assert caught.value.where == "too flat, at t = 0.5"
