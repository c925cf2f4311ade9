"""One thread of BLAS within a door, and as many as before after it."""

import os
import subprocess
import sys
import threading

import cvxpy as cp
import numpy as np
import pytest
import threadpoolctl

import paretoclf as pc
from paretoclf.common import threads
from paretoclf.common.threads import on_one_thread, one_thread


def of_blas():
    """How many threads the libraries of BLAS have that are loaded; a solver's own may be built without."""
    found = [each for each in threadpoolctl.threadpool_info() if each["user_api"] == "blas"]
    return [each["num_threads"] for each in found if each["threading_layer"] != "disabled"]


@pytest.fixture(autouse=True)
def two_threads():
    """Two of each, whatever the machine has."""
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        assert set(of_blas()) == {2}, "BLAS whose threads nobody can set"
        yield
        assert set(of_blas()) == {2}


def test_there_is_one_inside_and_as_many_as_before_outside():
    with one_thread():
        assert set(of_blas()) == {1}
        with one_thread(100):
            assert set(of_blas()) == {1}
        assert set(of_blas()) == {1}
    assert set(of_blas()) == {2}


def test_large_matrices_keep_their_threads():
    with one_thread(5000):
        assert set(of_blas()) == {2}


def test_an_error_leaves_as_many_as_before():
    with pytest.raises(ZeroDivisionError):
        on_one_thread(lambda x: 1 / x)(0)
    assert set(of_blas()) == {2}


def test_who_has_set_the_limit_lifts_it_whoever_is_inside():
    """Two threads that overlap: the second one relies on the limit of the first, and leaves later."""
    entered, gone, seen = threading.Event(), threading.Event(), []

    def late():
        with one_thread():
            seen.extend(of_blas())
            entered.set()
            gone.wait(10)

    other = threading.Thread(target=late)
    with one_thread():
        other.start()
        assert entered.wait(10)
    assert set(of_blas()) == {2}
    gone.set()
    other.join()
    assert (set(seen), set(of_blas())) == ({1}, {2})


def test_a_function_keeps_its_name_and_text():
    assert pc.trace.__name__ == "trace"
    assert on_one_thread(of_blas).__doc__ == of_blas.__doc__


def lasso():
    X, w, lam = np.random.default_rng(0).normal(size=(12, 3)), cp.Variable(3), cp.Parameter(nonneg=True)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - 1) + lam * cp.norm1(w))), lam


def classes():
    X = np.random.default_rng(1).normal(size=(16, 2))
    return X, np.where(np.arange(16) < 8, 1.0, -1.0)


def box():
    x, a, b = cp.Variable(2), cp.Parameter(), cp.Parameter()
    return cp.Problem(cp.Minimize(cp.sum_squares(x) - a * x[0]), [cp.sum(x) >= b]), a, b


def along():
    problem, lam = lasso()
    return pc.trace(problem, {lam: 9.0}, {lam: 1.0}, progress=False)


def within():
    problem, lam = lasso()
    return pc.trace(problem, {lam: 9.0}, {lam: 1.0}, eps=1e-2, progress=False)


def of_two():
    problem, a, b = box()
    return pc.plane(problem, {a: (0.0, 1.0), b: (0.0, 1.0)}, progress=False)


def judged():
    problem, lam = lasso()
    lam.value = 1.0
    problem.solve("CLARABEL")
    return pc.verify(problem)


def held_out():
    X, y = classes()
    path = pc.trace(pc.TwoCSVM(X, y), (0.1, 1.0), (1.0, 0.1), progress=False)
    return lambda: pc.roc_of_path(path, X, y, vary="asymmetry")


DOORS = {
    "trace, costs": lambda: pc.trace(pc.TwoCSVM(*classes()), (0.1, 1.0), (1.0, 0.1), progress=False),
    "trace, program": along,
    "trace, within eps": within,
    "plane, costs": lambda: pc.plane(pc.TwoCSVM(*classes()), (0.1, 1.0), (0.1, 1.0), progress=False),
    "plane, program": of_two,
    "leave_one_out": lambda: pc.leave_one_out(pc.TwoCSVM(*classes()), (1.0, 1.0)),
    "verify": judged,
    "roc_of_path": held_out(),
    "cross_validated_roc": lambda: pc.cross_validated_roc(
        pc.TwoCSVM(*classes()), (0.1, 1.0), (1.0, 0.1), folds=2, inner=2, repeats=1, progress=False
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_doors_work_on_one_thread(door, monkeypatch):
    """The limit is set, to one, and lifted."""
    set_to, usual = [], threads._libraries().limit
    monkeypatch.setattr(threads._libraries(), "limit", lambda **how: set_to.append(how) or usual(**how))
    DOORS[door]()
    assert set_to
    assert all(how == {"limits": 1} for how in set_to)


def test_nothing_is_looked_for_before_a_door_is_entered():
    """Importing the package loads no library that the limit would need."""
    command = "import sys, paretoclf; sys.exit('threadpoolctl' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], env=dict(os.environ), check=False).returncode == 0
