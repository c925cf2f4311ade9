"""Pictures of paths of programs beside the closed form of soft thresholding, and of a path with bounds."""

from __future__ import annotations

from types import SimpleNamespace

import cvxpy as cp
import matplotlib as mpl
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.plotting.base import GREY, NAMED
from paretoclf.plotting.problem import ProblemPathDisplay

mpl.use("Agg")
from matplotlib import pyplot as plt

TARGET = np.array([3.0, -1.0, 2.0])
w, lam = cp.Variable(3, name="w"), cp.Parameter(nonneg=True, name="lam")
LASSO = cp.Problem(
    cp.Minimize(cp.sum_squares(w - TARGET) / 2 + lam * cp.norm1(w)), [(cp.sum(w) <= 10).set_label("idle")]
)
PATH = pc.trace(LASSO, {lam: 4}, {lam: 0.5})


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def soft(level):
    """The optimum of each entry: the target moved towards 0."""
    return np.sign(TARGET)[:, None] * np.maximum(np.abs(TARGET)[:, None] - level, 0.0)


def drawn(ax):
    """Curves by their names."""
    return {line.get_label(): (line.get_xdata(), line.get_ydata()) for line in ax.lines if len(line.get_xdata()) > 2}


def test_variables_are_drawn_over_the_parameter_the_largest_change_first():
    display = ProblemPathDisplay.from_path(PATH)
    assert display.parameter == "lam"
    np.testing.assert_allclose(display.position(np.array([0.0, 0.5, 1.0])), [4, 2.25, 0.5])
    ax = display.plot(title="a lasso").ax_
    found = drawn(ax)
    assert list(found) == ["w[0]", "w[2]", "w[1]"]
    for k in range(3):
        x, values = found[f"w[{k}]"]
        np.testing.assert_allclose(values, soft(x)[k], atol=1e-9)
        assert {4.0, 0.5} <= set(x.tolist())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(found)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("lam", "variables", "a lasso")
    assert ax.get_xscale() == "linear"
    assert not ax.spines["top"].get_visible()


def test_a_light_line_stands_at_each_breakpoint_between_the_ends():
    ax = ProblemPathDisplay.from_path(PATH).plot().ax_
    lines = sorted(line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 2)
    np.testing.assert_allclose(lines, [1, 2, 3], atol=1e-9)


def test_multipliers_and_names_can_be_chosen():
    display = ProblemPathDisplay.from_path(PATH, "duals")
    ax = display.plot().ax_
    assert ax.get_ylabel() == "multipliers"
    (values,) = (values for name, _, values in display.curves() if name == "idle")
    assert np.abs(values).max() == 0.0
    assert [name for name, *_ in ProblemPathDisplay.from_path(PATH, "duals", ["idle"]).curves()] == ["idle"]


def test_the_value_is_a_parabola_between_breakpoints():
    display = ProblemPathDisplay.from_path(PATH, "value")
    ((name, t, values),) = display.curves()
    level = display.position(t)
    best = soft(level)
    expected = ((best - TARGET[:, None]) ** 2).sum(axis=0) / 2 + level * np.abs(best).sum(axis=0)
    assert name == "value"
    np.testing.assert_allclose(values, expected, atol=1e-8)
    pieces = len(PATH.t) - 1
    assert t.size == 8 * pieces + 1  # nine on each piece, the knots once
    ax = display.plot().ax_
    assert ax.get_ylabel() == "optimal value"
    assert ax.get_legend() is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("slopes",), "what must be 'variables', 'duals' or 'value', got 'slopes'"),
        (("variables", ["v"]), "names must be among w, got 'v'"),
        (("duals", ["w"]), "names must be among .*idle.*, got 'w'"),
        (("value", ["w"]), "names must be among none, got 'w'"),
    ],
)
def test_what_the_path_does_not_have_is_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        ProblemPathDisplay.from_path(PATH, *arguments)


class TestLogarithmic:
    path = pc.trace(LASSO, {lam: 4}, {lam: 0})

    def test_straight_pieces_are_curves_and_end_at_half_of_the_smallest_breakpoint(self):
        ax = ProblemPathDisplay.from_path(self.path).plot(xscale="log").ax_
        assert ax.get_xscale() == "log"
        for k in range(3):
            x, values = drawn(ax)[f"w[{k}]"]
            assert x.min() == pytest.approx(0.5)
            assert x.max() == pytest.approx(4)
            assert x.size % 16 == 0
            # At the last place, half of the smallest breakpoint, the piece that goes on to 0 is cut, not ended.
            np.testing.assert_allclose(values, soft(x)[k], atol=1e-9)
            inside = np.log(x[(x > 0.5) & (x < 1)])
            np.testing.assert_allclose(np.diff(inside), np.diff(inside)[0], rtol=1e-6)

    def test_two_decades_of_a_parameter_are_logarithmic(self):
        wide = pc.trace(LASSO, {lam: 2}, {lam: 0.01})
        assert ProblemPathDisplay.from_path(wide).plot().ax_.get_xscale() == "log"
        assert ProblemPathDisplay.from_path(wide).plot(xscale="linear").ax_.get_xscale() == "linear"


def fake(**changes):
    """A path with many entries, written by hand."""
    t = np.array([0.0, 0.5, 1.0])
    size = np.arange(1.0, 10.0)
    along = {"x": (t, np.outer(t, size)), "y": (t, 20.0 * t**2), "M": (t, t[:, None, None] * np.ones((1, 1, 2)))}
    asked = []

    def values(name, between=None):
        asked.append((name, between))
        return along[name]

    made = {
        "axis": ("t", 0.0, 1.0),
        "t": t,
        "breakpoints": t,
        "variables": ("x", "y", "M"),
        "duals": (),
        "parabolas": {"y"},
        "bent": {"M"},
        "along": values,
        "value": lambda at: at**2,
        "asked": asked,
    }
    return SimpleNamespace(**(made | changes))


class TestManyCurves:
    def test_the_largest_have_names_and_the_others_are_counted(self):
        ax = ProblemPathDisplay.from_path(fake()).plot().ax_
        names = [text.get_text() for text in ax.get_legend().get_texts()]
        assert len(NAMED) == 6
        assert names == ["y", "x[8]", "x[7]", "x[6]", "x[5]", "x[4]", "6 smaller ones"]
        colors = [line.get_color() for line in ax.lines if len(line.get_xdata()) > 2]
        assert colors == [*NAMED, *([GREY] * 6)]
        assert "path parameter" in ax.get_xlabel()

    def test_entries_of_matrices_have_both_indices(self):
        names = {name for name, *_ in ProblemPathDisplay.from_path(fake()).curves()}
        assert {"M[0, 0]", "M[0, 1]", "y", "x[0]"} <= names

    def test_what_is_bent_between_breakpoints_is_asked_for_more_points(self):
        path = fake()
        ProblemPathDisplay.from_path(path).curves()
        assert path.asked == [("x", None), ("y", 9), ("M", 9)]

    def test_over_t_itself_the_axis_is_linear(self):
        wide = fake(breakpoints=np.array([1e-3, 1.0]), axis=("t", 0.0, 1.0))
        assert ProblemPathDisplay.from_path(wide).plot().ax_.get_xscale() == "linear"

    def test_names_with_dollars_are_no_formulas(self):
        path = fake(axis=("$C$", 0.0, 1.0))
        assert ProblemPathDisplay.from_path(path).plot().ax_.get_xlabel() == r"\$C\$"


class TestBounds:
    path = fake(bounds=lambda at: (at**2 - 0.1, at**2 + 0.2), axis=("eps", 0.0, 2.0))

    def test_the_band_of_the_value_is_drawn_between_both(self):
        ax = ProblemPathDisplay.from_path(self.path, "value").plot().ax_
        (band,) = ax.collections
        vertices = band.get_paths()[0].vertices
        for x, y in vertices:
            assert min(abs(y - (x / 2) ** 2 + 0.1), abs(y - (x / 2) ** 2 - 0.2)) < 1e-12
        assert band.get_label() == "proved bounds"

    def test_ticks_stand_at_its_points_and_no_lines_at_breakpoints(self):
        ax = ProblemPathDisplay.from_path(self.path).plot().ax_
        (ticks,) = (line for line in ax.lines if line.get_marker() == "|")
        assert ticks.get_xdata().tolist() == [0.0, 1.0, 2.0]
        assert set(ticks.get_ydata()) == {0.0}
        assert ticks.get_transform() == ax.get_xaxis_transform()
        assert not ax.collections
        assert not [line for line in ax.lines if len(line.get_xdata()) == 2]


def test_the_axis_runs_as_t_does_in_every_picture():
    """From left to right, whichever end of the line is larger; twice on the same Axes, too."""
    back = pc.trace(LASSO, {lam: 0.5}, {lam: 4})
    svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    costs = [pc.trace(svm, *ends) for ends in (((0.5, 1.5), (1.5, 0.5)), ((1.5, 0.5), (0.5, 1.5)))]
    for path, falls in ((PATH, True), (back, False)):
        first = path.plot()
        assert first.ax_.xaxis_inverted() == falls
        assert ProblemPathDisplay.from_path(path, "value").plot(first.ax_).ax_.xaxis_inverted() == falls
    for path, falls in zip(costs, (False, True), strict=True):
        for kind in (pc.plotting.PathDisplay, pc.plotting.ValueDisplay):
            assert [ax.xaxis_inverted() for ax in kind.from_path(path).plot().axes_] == [falls, falls]
