"""Paths of costs in parts: breakpoints, sets, multipliers, intercepts and values of the path in one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.common.errors import InterruptedPath
from paretoclf.path.svm import cost_parts

SHARES = np.linspace(0.0, 1.0, 41)
ACROSS, FROM_AXIS, RAY, OUT = ((0.2, 1.0), (1.0, 0.3)), ((0.0, 1.0), (1.0, 0.2)), ((0, 0), (1, 1)), ((0, 0), (0.3, 1))


def assert_same(one, other, unique=True):
    """Two paths, both proved, as one; with other multipliers where these are not unique."""
    t = SHARES
    np.testing.assert_allclose(other.value(t), one.value(t), rtol=1e-11, atol=1e-12 * one.value(t).max())
    assert one.proof.passes(1e-8)
    assert other.proof.passes(1e-8)
    assert other.pieces.t[0] == 0.0
    assert other.pieces.t[-1] == 1.0
    assert (np.diff(other.pieces.t) > 0.0).all()
    if not unique:
        return
    np.testing.assert_allclose(other.breakpoints, one.breakpoints, rtol=0, atol=1e-12)
    middles = 0.5 * (one.breakpoints[:-1] + one.breakpoints[1:])
    for u in middles[np.diff(one.breakpoints) > 1e-6].tolist():
        np.testing.assert_array_equal(other.sets(u), one.sets(u))
        np.testing.assert_allclose(other.alpha(u), one.alpha(u), rtol=0, atol=1e-9)
        assert_same_intercept(one.at(u).classifier, other.at(u).classifier)


def assert_same_intercept(one, other):
    """Where there is only one that is optimal; else within the interval of all."""
    low, high = one.b_interval
    assert other.b_interval == pytest.approx((low, high), abs=1e-8)
    assert low - 1e-8 <= other.b <= high + 1e-8
    assert low - 1e-8 <= one.b <= high + 1e-8


def formulation(kind, gaussians, n=60):
    X, y = gaussians(n, 3, seed=2, positives=0.4)
    if kind == "sparse":
        return pc.TwoCSVM(sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0)), y)
    return pc.TwoCSVM(X, y, pc.RBF(1.5) if kind == "rbf" else None)


@pytest.mark.parametrize("kind", ["linear", "rbf", "sparse"])
@pytest.mark.parametrize("line", [ACROSS, RAY, OUT, ((1.0, 2.0), (2.0, 2.0))])
def test_parts_are_the_path_in_one(kind, line, gaussians):
    svm = formulation(kind, gaussians)
    one = pc.trace(svm, *line)
    for parts in (1, 2, 5):
        assert_same(one, pc.trace(svm, *line, parts=parts))


def test_a_line_from_an_axis_has_the_values_of_the_path_in_one(gaussians):
    """Multipliers of a linear kernel are not unique next to it, and are others from the other end, too."""
    for kind in ("linear", "rbf"):
        svm = formulation(kind, gaussians)
        one, other = pc.trace(svm, *FROM_AXIS), pc.trace(svm, *FROM_AXIS, parts=3)
        assert_same(one, other, unique=kind == "rbf")
        assert other.at(0.0).classifier.b == one.at(0.0).classifier.b == -1.0
        assert other.value(0.0) == 0.0


def test_a_breakpoint_exactly_where_parts_meet(gaussians):
    svm = formulation("rbf", gaussians)
    path = pc.trace(svm, *ACROSS)
    for k in (5, 12, 20):
        at = float(path.breakpoints[k])
        length = 0.9 * min(at, 1.0 - at)
        line = path.line.at(at - length), path.line.at(at + length)
        one = pc.trace(svm, *line)
        assert np.abs(one.breakpoints - 0.5).min() < 1e-12
        assert_same(one, pc.trace(svm, *line, parts=2))


def test_duplicates_where_parts_meet(gaussians):
    """Twins share a multiplier as they like: values are the same, and both are proved."""
    X, y = gaussians(20, 2, seed=4)
    svm = pc.TwoCSVM(np.vstack([X, X, X[:5]]), np.concatenate([y, y, y[:5]]))
    one = pc.trace(svm, *ACROSS)
    for parts in (2, 3, 4):
        assert_same(one, pc.trace(svm, *ACROSS, parts=parts), unique=False)


def test_where_the_intercept_is_not_unique_on_a_range_it_is_a_chord_wherever_parts_meet():
    """The chord between the ends of the range, as of the path in one, and not between those of its parts."""
    svm = pc.TwoCSVM(np.array([[0.0], [1.0], [2.0], [3.0]]), [-1, 1, -1, 1])
    for line in (RAY, ((0.1, 0.1), (2.0, 2.0))):
        one = pc.trace(svm, *line)
        for parts in (2, 3, 7):
            other = pc.trace(svm, *line, parts=parts)
            assert_same(one, other, unique=False)
            for t in SHARES.tolist():
                assert other.at(t).classifier.b == pytest.approx(one.at(t).classifier.b, abs=1e-9)


def test_lines_of_other_kinds(gaussians):
    svm = formulation("linear", gaussians, 40)
    rng = np.random.default_rng(1)
    costs = [pc.SampleCosts(rng.uniform(0.2, 1.0, 40)) for _ in range(2)]
    assert_same(pc.trace(svm, *costs), pc.trace(svm, *costs, parts=3))
    for line in (((0.0, 1.0), (0.0, 2.0)), ((1.0, 2.0), (1.0, 2.0))):
        one, other = pc.trace(svm, *line), pc.trace(svm, *line, parts=3)
        assert repr(other) == repr(one)
        np.testing.assert_array_equal(other.value(SHARES), one.value(SHARES))


@pytest.mark.parametrize("engine", ["careful", "textbook"])
def test_other_engines_and_a_hub(engine, gaussians):
    svm = formulation("rbf", gaussians, 24)
    hub = pc.trace(svm, (0, 0), (0.5, 0.5))
    one = pc.trace(svm, *ACROSS)
    assert_same(one, pc.trace(svm, *ACROSS, parts=3, engine=engine))
    assert_same(one, pc.trace(svm, *ACROSS, parts=3, hub=hub))


def test_processes_find_the_same_numbers(gaussians):
    svm = formulation("rbf", gaussians)
    one, other = (pc.trace(svm, *ACROSS, parts=3, n_jobs=n_jobs) for n_jobs in (None, 2))
    for name, value in vars(one.pieces).items():
        np.testing.assert_array_equal(getattr(other.pieces, name), value, err_msg=name)


def test_where_sets_differ_a_part_is_traced_from_the_end_of_the_one_before(gaussians, monkeypatch):
    svm = formulation("linear", gaussians)
    one = pc.trace(svm, *ACROSS)
    traced, original = [], cost_parts._part
    monkeypatch.setattr(cost_parts, "_part", lambda *given: traced.append(given[1]) or original(*given))
    assert_same(one, pc.trace(svm, *ACROSS, parts=3))
    assert len(traced) == 3, "sets agree"
    monkeypatch.setattr(cost_parts, "_first_margin", lambda pieces: np.array([-1]))
    traced.clear()
    assert_same(one, pc.trace(svm, *ACROSS, parts=3))
    assert [known.t for known in traced[3:]] == pytest.approx([1 / 3, 2 / 3])


def test_an_interrupt_keeps_the_parts_that_are_there(gaussians, monkeypatch):
    def interrupted(pieces, *given):
        pieces = iter(pieces)
        yield next(pieces)
        yield next(pieces)
        raise KeyboardInterrupt

    svm = formulation("linear", gaussians)
    one = pc.trace(svm, *ACROSS)
    monkeypatch.setattr(cost_parts, "counted", interrupted)
    with pytest.raises(InterruptedPath) as caught:
        pc.trace(svm, *ACROSS, parts=4)
    part = caught.value.path
    assert tuple(part.line.stop) == tuple(one.line.at(0.5))
    assert part.value(1.0) == pytest.approx(one.value(0.5), rel=1e-12)
    assert part.proof.passes(1e-10)
    monkeypatch.undo()
    rest = pc.trace(svm, part.line.stop, ACROSS[1], hub=part)
    assert rest.value(1.0) == pytest.approx(one.value(1.0), rel=1e-12)
