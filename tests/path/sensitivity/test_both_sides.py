"""What one basis says of both sides, beside what a path says, and what it leaves open."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.engine.reduction.of_arrays import line_of
from paretoclf.path.programs.optimum import optimum
from paretoclf.path.sensitivity.both_sides import sides
from paretoclf.path.sensitivity.one_sided import beside
from paretoclf.path.sensitivity.optimal_basis import basis_at


def said(qp, q=None, b=None, unit=1.0):
    """Both sides of one movement of the compiled data."""
    line = line_of(qp, {}, {})
    q = np.zeros(line.n) if q is None else np.array(q, dtype=float)
    b = np.zeros(line.m) if b is None else np.array(b, dtype=float)
    (found,) = sides(basis_at(line, *optimum(line)), q[:, None], b[:, None], np.array([unit]))
    return found


def traced(qp, q, b, sign):
    line = line_of(qp, {}, {})

    def source_at(begin, end):
        moved = {
            name: np.stack([getattr(line, name)[0] + sign * s * by for s in (begin, end)])
            for name, by in (("q", q), ("b", b))
        }
        return SimpleNamespace(line=replace(line, **moved), ends=({}, {}), seconds=0.0)

    return beside(source_at, 1.0)


@pytest.mark.parametrize("seed", range(6))
def test_a_direction_of_all_data_is_that_of_a_path(seed):
    rng = np.random.default_rng(seed)
    n, m = 5, 8
    F = rng.normal(size=(n, n))
    P = F.T @ F if seed % 2 else None
    A = np.vstack([rng.normal(size=(m, n)), np.eye(n)])
    low = np.append(np.full(m, -np.inf), np.full(n, -1.0))
    qp = pc.QP(P, rng.normal(size=n), A, low, np.append(rng.uniform(0.1, 1, m), np.full(n, 1.0)))
    line = line_of(qp, {}, {})
    q, b = rng.normal(size=line.n), rng.normal(size=line.m)
    for sign, side in zip((-1.0, 1.0), said(qp, q, b), strict=True):
        path = traced(qp, q, b, sign)
        assert (side.rate, side.bend, side.until) == pytest.approx((path.rate, path.bend, path.until), rel=1e-7)
        assert set(side.after.split("; ")) == set(path.after.split("; "))


def test_a_multiplier_that_passes_to_another_row_is_left_open():
    """The least |x|^2 / 2 on x0 - x1 = s, x >= 0: at s = 0 one bound lets go, and the other is met."""
    qp = pc.QP(np.eye(2), [0, 0], [[1, -1], [1, 0], [0, 1]], [-1, 0, 0], [-1, np.inf, np.inf])
    below, above = said(qp, b=[1, 0, 0])
    assert above is None
    assert (below.rate, below.bend, below.until) == pytest.approx((1, 1, np.inf))


def test_what_rounding_could_end_within_reach_is_left_open():
    """A slack of 1e-3 beside terms of 1e9 whose rates cancel."""
    qp = pc.QP(None, [1.0, 1.0], [[1, 0], [0, 1], [1e9 / 3, -1e9 / 3]], [1, 1, -np.inf], [np.inf, np.inf, 1e-3])
    both = said(qp, b=[0, -1, -1], unit=1e9)
    assert any(side is None or side.until < np.inf for side in both)


def test_a_row_that_repeats_a_tight_one_concerns_only_itself():
    """x >= 1 twice, y >= 0: the cost of y is decided, and whether a floor can be raised."""
    qp = pc.QP(None, [1.0, 2.0], [[1.0, 0], [1, 0], [0, 1]], [1, 1, 0], None)
    below, above = said(qp, q=[0, 1])
    assert (below.until, below.after) == (2, "unbounded (x)")
    assert above.until == np.inf
    raised = said(qp, b=[-1, 0, 0])[1]
    assert raised is None or (raised.rate, raised.until) == (1, np.inf)


def test_of_rows_of_one_variable_it_is_said_which_gives_way_to_which():
    """The least x with x >= 1 and x >= 0, the second moved: it takes over from the first at 1."""
    qp = pc.QP(None, [1], [[1], [1]], [1, 0], [np.inf, np.inf])
    _, above = said(qp, b=[0, -1])
    assert (above.until, above.after) == (1.0, "y[1] at its lower bound; y[0] free")
    (row,) = pc.ranges(qp)["y[1]"].rows
    assert row.enters_above == "y[1] at its lower bound; y[0] free"
