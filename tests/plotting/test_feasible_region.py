"""The region of a program in two variables beside scipy's: its area, its points, and its optimum."""

from __future__ import annotations

import cvxpy as cp
import matplotlib as mpl
import numpy as np
import pytest
from scipy.optimize import linprog

import paretoclf as pc
from paretoclf.plotting import FeasibleRegionDisplay
from paretoclf.plotting.feasible_region import LinearRows

mpl.use("Agg")
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def workshop():
    x, hours = cp.Variable(2, nonneg=True, name="x"), cp.Parameter(name="hours", value=24.0)
    rows = [(6 * x[0] + 4 * x[1] <= hours).set_label("hours"), (x[0] + 2 * x[1] <= 6).set_label("planks")]
    return cp.Problem(cp.Maximize(5 * x[0] + 4 * x[1]), rows), hours


def test_the_picture_of_a_path_has_the_region_the_active_rows_and_the_optima():
    problem, hours = workshop()
    path = pc.trace(problem, {hours: 6}, {hours: 40})
    display = FeasibleRegionDisplay.from_path(path, t=(24 - 6) / 34)
    assert set(display.active) == {"hours", "planks"}
    np.testing.assert_allclose(display.optimum, [3, 1.5], atol=1e-9)
    corners = display.rows.within(np.array([[-1, 9], [-1, 9]]))
    assert {tuple(np.round(each, 6) + 0.0) for each in corners} == {(0, 0), (4, 0), (3, 1.5), (0, 3)}
    way = {tuple(np.round(each, 6) + 0.0) for each in display.path}
    assert way == {(0, 1.5), (0, 3), (6, 0)}  # with 12 hours planks end, with 36 chairs alone are made
    assert display.value(*display.optimum) == pytest.approx(21)
    ax = display.plot(title="a workshop").ax_
    shown = labels(ax)
    assert {"hours (active)", "planks (active)", "x: nonneg[0]", "optima along the path"} <= set(shown)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("x[0]", "x[1]", "a workshop")
    at_start = path.plot("region")
    assert set(at_start.active) == {"hours", "x: nonneg[0]"}


@pytest.mark.parametrize("seed", range(8))
def test_regions_are_those_of_linprog(seed):
    """Random rows: whether there is a point, whether it is bounded, and how far it reaches in a window."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 6))
    A, b = rng.integers(-4, 5, (m, 2)).astype(float), rng.integers(-4, 7, m).astype(float)
    A[~A.any(axis=1)] = [1.0, 0.0]
    equation = np.zeros(m, dtype=bool)
    equation[0] = seed % 4 == 3
    rows = LinearRows(tuple(map(str, range(m))), A, b, equation)
    how = {"A_ub": A[~equation], "b_ub": b[~equation]}
    how |= {"A_eq": A[equation], "b_eq": b[equation]} if equation.any() else {}
    free = [(None, None)] * 2
    assert rows.is_empty == (linprog([0, 0], bounds=free, **how).status == 2)
    if rows.is_empty:
        assert not len(rows.within(np.array([[-50.0, 50.0], [-50.0, 50.0]])))
        return
    directions = [np.array(each) for each in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    assert rows.is_unbounded == any(linprog(each, bounds=free, **how).status == 3 for each in directions)
    corners = rows.within(np.array([[-50.0, 50.0], [-50.0, 50.0]]))
    for each in directions:
        found = linprog(each, bounds=[(-50, 50)] * 2, **how)
        assert (corners @ each).min() == pytest.approx(found.fun, abs=1e-7)


def test_unbounded_and_empty_regions_are_drawn():
    x = cp.Variable(2, name="x")
    diet = cp.Problem(
        cp.Minimize(3 * x[0] + 2 * x[1]),
        [
            (2 * x[0] + x[1] >= 8).set_label("protein"),
            (x[0] + 2 * x[1] >= 7).set_label("fibre"),
            (x >= 0).set_label("s"),
        ],
    )
    before = FeasibleRegionDisplay.from_problem(diet)
    assert (before.optimum, before.active, before.rows.is_unbounded) == (None, (), True)
    assert "optimum" not in labels(before.plot().ax_)
    diet.solve("CLARABEL")
    display = FeasibleRegionDisplay.from_problem(diet).plot()
    assert set(display.active) == {"protein", "fibre"}
    np.testing.assert_allclose(x.value, [3, 2], atol=1e-6)  # as it was
    right, high = display.window[:, 1]
    assert display.rows.within(display.window).max(axis=0) == pytest.approx([right, high])
    rows = [(cp.sum(x) >= 10).set_label("loads"), (2 * x[0] + x[1] <= 12).set_label("fuel"), x[1] <= 7]
    empty = FeasibleRegionDisplay.from_problem(cp.Problem(cp.Minimize(x[0]), rows)).plot()
    assert empty.rows.is_empty
    assert not empty.ax_.patches
    assert [text.get_text() for text in empty.ax_.texts if text.get_text()] == ["no point satisfies all"]
    assert {"loads", "fuel", "constraint 2"} <= set(labels(empty.ax_))
    for rows in ([], [x[0] >= 0], [x[0] >= 0, x[0] <= -1], [x[0] == 1, x[1] >= 0]):
        FeasibleRegionDisplay.from_problem(cp.Problem(cp.Minimize(x[1]), rows)).plot()


def test_a_quadratic_is_read_and_bounds_have_names():
    x = cp.Variable(2, bounds=[0, [3, np.inf]], name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - [3, 2]) + x[0] * 4), [(cp.sum(x) == 2).set_label("sum")])
    display = FeasibleRegionDisplay.from_problem(problem)
    assert display.rows.names == ("sum", "x: lower bound[0]", "x: lower bound[1]", "x: upper bound[0]")
    P, q = display.objective
    np.testing.assert_allclose(P, 2 * np.eye(2), atol=1e-12)
    np.testing.assert_allclose(q, [-2, -4], atol=1e-12)
    assert not display.rows.is_unbounded
    assert len(display.plot().ax_.lines) > 3


def test_what_has_no_such_picture_is_refused():
    x, t = cp.Variable(3, name="x"), cp.Parameter(name="t")
    with pytest.raises(pc.InputError, match="two numbers as variables, got 3"):
        FeasibleRegionDisplay.from_problem(cp.Problem(cp.Minimize(cp.sum(x)), [x >= 0]))
    with pytest.raises(pc.InputError, match=r"in two variables, got 3 columns .*plot\('variables'\)"):
        pc.trace(cp.Problem(cp.Minimize(cp.sum(x)), [x >= t]), {t: 0}, {t: 1}).plot("region")
    y = cp.Variable(2, name="y")
    with pytest.raises(pc.InputError, match="constraints must be affine, disc is none"):
        FeasibleRegionDisplay.from_problem(cp.Problem(cp.Minimize(y[0]), [(cp.norm2(y) <= 1).set_label("disc")]))
    with pytest.raises(pc.InputError, match="objective must be affine or quadratic"):
        FeasibleRegionDisplay.from_problem(cp.Problem(cp.Minimize(cp.exp(y[0])), [y[1] >= 0]))
    with pytest.raises(pc.InputError, match="parameter t must have a value"):
        FeasibleRegionDisplay.from_problem(cp.Problem(cp.Minimize(y[0]), [y >= t]))
    disc = pc.trace(cp.Problem(cp.Minimize(y[0]), [cp.norm2(y) <= t]), {t: 1}, {t: 2}, eps=1e-3)
    with pytest.raises(pc.InputError, match="path must be of a program in two variables"):
        disc.plot("region")
