"""Boxes by the engine of any program: their logs against an interior-point method, and refusals by their cause."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.common.errors import DegeneratePathError
from paretoclf.engine.box import AnyBox, log_of, no_log
from paretoclf.engine.sets import LEFT, MARGIN, OUT
from paretoclf.problem.operator import Features, Matrix
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import ParametricQP
from tests.oracles.box_problems import Problem, Traced, line

TIMES = np.linspace(0.017, 0.983, 7)


def drawn(m, seed=0, n=10, d=2):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 4, 1.0, -1.0)
    X = rng.normal(size=(n, d)) + 0.6 * y[:, None]
    group = {0: np.full(n, -1), 1: np.zeros(n, dtype=int), 2: np.where(y > 0, 0, 1)}[m]
    return Problem(X, y, np.ones(n), y if m == 1 else np.ones(n), group)


def box(p, form="dense", engine="textbook", **how):
    quadratic = Matrix(np.ascontiguousarray(p.K)) if form == "gram" else Features(p.X)
    return AnyBox(ParametricQP.box(Signed(quadratic, p.sign), p.p, p.A, np.ones((2, p.p.size))), engine, **how)


def crosswise(p, unit=1.0, out=()):
    """Caps of two parts move in opposite directions; some samples have none. Groups take what fits at both ends."""
    part = np.arange(p.p.size) % 2 == 0
    bases = unit * np.stack([1.0 * part, 1.0 * ~part])
    bases[:, list(out)] = 0.0
    e = unit * (0.3 if p.m == 2 else 0.0) * np.ones(p.m)
    return line(bases, (1.0, 0.2), (0.3, 1.5), e, 1.5 * e)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e4])
@pytest.mark.parametrize("form", ["gram", "dense"])
@pytest.mark.parametrize("m", [0, 1, 2])
def test_every_solution_of_a_log_is_optimal_and_has_its_value(m, form, unit):
    p = drawn(m)
    if unit != 1.0:  # the same multipliers in other units
        p = Problem(p.X / np.sqrt(unit), p.sign, p.p, p.kappa, p.group)
    along = crosswise(p, unit, out=[3])
    engine = box(p, form)
    log = engine.along(along)
    traced = Traced(p, along, log)
    assert log.segments > 2
    for t in TIMES:
        a, eta, value = traced.solution(t)
        assert p.violation(traced.e(t), along.caps(t), a, eta) < 1e-9
        assert value == pytest.approx(p.p @ a - 0.5 * a @ p.Q @ a, rel=1e-9, abs=1e-12 * unit)
        assert value == pytest.approx(p.minimum(traced.e(t), along.caps(t)), rel=1e-7)
        np.testing.assert_allclose(engine.weights(t), a, rtol=0, atol=1e-12 * unit)
    assert log.state[3] == OUT
    assert 3 not in log.index
    assert 3 not in log.changes[1]
    np.testing.assert_array_equal(log.outside, np.arange(log.segments))
    np.testing.assert_array_equal(log.ptr[-1], log.index.size)
    state, margin = engine.basis
    np.testing.assert_array_equal(margin, np.flatnonzero(state == MARGIN))
    assert state[3] == OUT
    np.testing.assert_array_equal(margin, np.sort(log.index[log.ptr[-2] :]))
    now = log.state.copy()
    for _, sample, old, new in log.changes.T:
        assert now[sample] == old
        now[sample] = new
    np.testing.assert_array_equal(now, state)
    if form == "gram":
        assert log.w.shape == (log.segments, 2, 0)
        return
    for j in range(log.segments):
        for end in (0, 1):
            a = engine.path.at(log.t[end, j])[0]
            np.testing.assert_allclose(log.w[j, end], p.X.T @ (p.sign * a), atol=1e-9 * np.sqrt(unit))


def test_the_log_of_a_path_is_the_same_whether_P_is_known_or_not():
    p = drawn(1)
    engine = box(p)
    log, again = engine.along(crosswise(p)), log_of(engine.path)
    for name, array in vars(log).items():
        np.testing.assert_allclose(getattr(again, name), array, atol=1e-13, err_msg=name)


def test_before_there_is_a_path_weights_are_the_caps():
    assert box(drawn(1)).weights(0.3).tolist() == [1.0] * 10


def test_a_guess_of_the_basis_leads_to_the_same_log():
    p = drawn(1)
    along, engine = crosswise(p), box(p)
    log = engine.along(along)
    begin = log.state.copy(), log.index[: log.ptr[1]]
    for guess in (begin, (np.full(10, LEFT, dtype=np.int8), np.zeros(0, dtype=int))):
        again = engine.along(along, guess)
        np.testing.assert_allclose(again.t, log.t, atol=1e-12)
        np.testing.assert_array_equal(again.index, log.index)
        np.testing.assert_allclose(again.value, log.value, atol=1e-11)
    told = []
    engine.along(along, begin, told.append)
    assert sum(told) > 0.0


def test_too_many_exchanges_are_refused_with_the_place_and_a_remedy():
    p = drawn(1)
    with pytest.raises(DegeneratePathError, match=r"more than \d+ exchanges") as caught:
        box(p, max_events=1).along(crosswise(p))
    assert "Raise max_events" in str(caught.value)


def test_groups_that_cannot_be_balanced_are_refused():
    p = drawn(2)
    bases = np.ones((2, 10))
    with pytest.raises(DegeneratePathError, match="no sample can balance the group") as caught:
        box(p).along(line(bases, (0.5, 0.5), (0.5, 0.5), (1.0, 1.0), (9.0, 1.0)))
    assert "fast engine" in str(caught.value)
    assert 0.3 < caught.value.t < 0.4  # four samples with a cap of 1 balance up to 4: 1 + 8 t = 4


def test_a_line_to_zero_ends_where_the_multipliers_of_the_groups_add_up_to_nothing():
    """Two samples a class, apart from each other, until their hulls meet."""
    X, y = np.array([[0.0], [4.0], [1.0], [5.0]]), np.array([1.0, 1.0, -1.0, -1.0])
    p = Problem(X, y, np.zeros(4), np.ones(4), np.where(y > 0, 0, 1))
    bases = np.stack([np.full(4, 1.0), np.zeros(4)])
    whole = line(bases, (0.5, 0.0), (1.0, 0.0), (1.0, 1.0), (1.0, 1.0))
    to_zero = type(whole)(*[getattr(whole, name) for name in ("bases", "start", "stop", "e0", "e_end")], to_zero=True)
    all_of_it, until = box(p).along(whole), box(p).along(to_zero)
    total = -all_of_it.eta.sum(axis=2)
    assert until.segments > 0
    assert total[until.segments - 1, 1] <= 1e-12
    assert (total[: until.segments, 0] > 0.0).all()
    far = Problem(X + 20.0 * (y > 0)[:, None], y, p.p, p.kappa, p.group)
    assert box(far).along(to_zero).segments == box(far).along(whole).segments
    met = Problem(0.0 * X, y, p.p, p.kappa, p.group)
    assert box(met).along(to_zero).segments == 0


def test_a_log_without_segments_has_arrays_of_all_shapes():
    log = no_log(3, 2)
    assert log.segments == 0
    assert log.state.tolist() == [0, 0, 0]
    assert log.ptr.tolist() == [0]
    shapes = {name: array.shape for name, array in vars(log).items()}
    assert shapes == {
        "state": (3,), "t": (2, 0), "ptr": (1,), "index": (0,), "a0": (0,), "a1": (0,), "eta": (0, 2, 2),
        "value": (0, 3), "w": (0, 2, 0), "changes": (4, 0), "outside": (0,),
    }  # fmt: skip
