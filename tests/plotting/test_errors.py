"""Pictures of held-out errors: what is drawn, at which places, of curves that are written by hand."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest

from paretoclf.common.errors import InputError
from paretoclf.plotting.errors import ErrorCurveDisplay, GridErrorsDisplay
from paretoclf.problem.costs import CostLine, Costs

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.patches import StepPatch

T = np.array([0.0, 0.25, 0.5, 1.0])
ASYMMETRY = CostLine(Costs(0.4, 1.6), Costs(1.6, 0.4))
RAY = CostLine(Costs(0.0, 0.0), Costs(2.0, 1.0))


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def curve(line=ASYMMETRY, parameter="t", best=((0.25, 0.5), (1.0, 1.0))):
    """Four negatives and two positives; at t = 0.25 one false positive more than on either side."""
    return SimpleNamespace(
        t=T,
        fpr=np.array([0.5, 0.5, 1.0]),
        fnr=np.array([1.0, 0.5, 0.0]),
        false_positives_at=np.array([2.0, 3.0, 4.0, 4.0]),
        false_negatives_at=np.array([2.0, 1.0, 0.0, 0.0]),
        n_minus=4,
        n_plus=2,
        line=line,
        parameter=parameter,
        minimax=lambda: [SimpleNamespace(objective=0.5, start=a, stop=b) for a, b in best],
    )


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def asymmetry(t):
    return (0.4 + 1.2 * t) / 2.0


class TestErrorCurve:
    def test_on_a_line_of_fixed_total_the_axis_is_the_asymmetry(self):
        display = ErrorCurveDisplay.from_curve(curve())
        assert display.parameter == "asymmetry"
        np.testing.assert_allclose(display.position(T), asymmetry(T))
        for line, parameter in ((RAY, "t"), (None, "tau")):
            other = ErrorCurveDisplay.from_curve(curve(line, parameter))
            assert other.parameter == parameter
            assert other.position(T).tolist() == T.tolist()

    def test_both_rates_are_steps_at_the_places_where_they_change(self):
        ax = ErrorCurveDisplay.from_curve(curve()).plot().ax_
        steps = {patch.get_label(): patch.get_data() for patch in ax.patches if isinstance(patch, StepPatch)}
        assert steps["false positive rate"].values.tolist() == [0.5, 0.5, 1.0]
        assert steps["false negative rate"].values.tolist() == [1.0, 0.5, 0.0]
        for each in steps.values():
            np.testing.assert_allclose(each.edges, asymmetry(T))

    def test_a_dot_is_a_rate_at_one_place_alone(self):
        ax = ErrorCurveDisplay.from_curve(curve()).plot().ax_
        positives, negatives = (line for line in ax.lines if line.get_marker() == ".")
        assert positives.get_xdata() == pytest.approx([asymmetry(0.25)])
        assert positives.get_ydata() == pytest.approx([0.75])
        assert negatives.get_xdata().size == 0  # at every change it has the value of one side

    def test_dots_at_the_ends_are_beside_the_one_stretch_there(self):
        made = curve(RAY)
        made.false_negatives_at = np.array([1.0, 1.0, 0.0, 2.0])
        negatives = [line for line in ErrorCurveDisplay(made).plot().ax_.lines if line.get_marker() == "."][1]
        assert negatives.get_xdata().tolist() == [0.0, 1.0]
        assert negatives.get_ydata().tolist() == [0.5, 1.0]

    def test_the_best_intervals_are_shaded_and_named_once(self):
        ax = ErrorCurveDisplay.from_curve(curve()).plot().ax_
        spans = [patch for patch in ax.patches if not isinstance(patch, StepPatch)]
        found = [(span.get_x(), span.get_x() + span.get_width()) for span in spans]
        np.testing.assert_allclose(found, [(asymmetry(0.25), asymmetry(0.5)), (asymmetry(1.0), asymmetry(1.0))])
        assert [word for word in legend(ax) if "minimax" in word] == ["minimax, chosen here: 0.5"]
        assert spans[0].get_label() == "minimax, chosen here: 0.5"
        # On a line that goes down the ends of an interval change their places.
        down = CostLine(Costs(1.6, 0.4), Costs(0.4, 1.6))
        spans = [p for p in ErrorCurveDisplay(curve(down)).plot().ax_.patches if not isinstance(p, StepPatch)]
        assert spans[0].get_width() == pytest.approx(asymmetry(0.5) - asymmetry(0.25))

    def test_axes_have_names_and_limits(self):
        _, ax = plt.subplots()
        display = ErrorCurveDisplay.from_curve(curve())
        assert display.plot(ax, title="on new samples") is display
        assert display.ax_ is ax
        assert ax.get_title() == "on new samples"
        assert "asymmetry" in ax.get_xlabel()
        assert ax.get_ylabel() == "rate of errors"
        assert ax.get_xlim() == pytest.approx((0.2, 0.8))
        low, high = ax.get_ylim()
        assert -0.05 < low < 0 < 1 < high < 1.05
        assert ax.get_xscale() == "linear"
        assert not ax.spines["top"].get_visible()
        assert display.figure_ is ax.figure

    def test_a_logarithmic_axis_begins_at_the_first_place_above_0(self):
        ax = ErrorCurveDisplay.from_curve(curve(RAY)).plot(xscale="log").ax_
        assert ax.get_xscale() == "log"
        assert ax.get_xlim() == pytest.approx((0.25, 1.0))
        assert ErrorCurveDisplay.from_curve(curve(RAY)).plot().ax_.get_xlim() == (0.0, 1.0)
        with pytest.raises(InputError, match="xscale must be"):
            ErrorCurveDisplay.from_curve(curve()).plot(xscale="cubic")

    def test_a_fitted_estimator_brings_its_own(self):
        made = curve()
        assert ErrorCurveDisplay.from_estimator(SimpleNamespace(errors_=made)).curve is made
        with pytest.raises(InputError, match="must be fitted and have errors_"):
            ErrorCurveDisplay.from_estimator(SimpleNamespace())


def grid(**parameters):
    given = parameters or {"C_plus": np.array([0.4, 1.0, 1.6]), "C_minus": np.ones(3)}
    best = [SimpleNamespace(objective=0.25, values={name: column[k] for name, column in given.items()}) for k in (1, 2)]
    rates = {"fpr": np.array([0.0, 0.25, 0.5]), "fnr": np.array([1.0, 0.25, 0.0])}
    return SimpleNamespace(parameters=given, minimax=lambda: best, **rates)


class TestGridErrors:
    def test_the_axis_is_the_first_parameter_that_moves_or_the_one_asked_for(self):
        assert GridErrorsDisplay.from_curve(grid()).parameter == "C_plus"
        assert GridErrorsDisplay.from_curve(grid(C_minus=np.ones(3), C_plus=np.arange(3.0))).parameter == "C_plus"
        assert GridErrorsDisplay.from_curve(grid(), "C_minus").parameter == "C_minus"
        with pytest.raises(InputError, match="parameter must be one of C_plus, C_minus, got 'nu'"):
            GridErrorsDisplay.from_curve(grid(), "nu")

    def test_points_are_not_joined(self):
        ax = GridErrorsDisplay.from_curve(grid()).plot().ax_
        for name, values in (("false positive rate", [0, 0.25, 0.5]), ("false negative rate", [1, 0.25, 0])):
            (line,) = (line for line in ax.lines if line.get_label() == name)
            assert line.get_linestyle() == "None"
            assert line.get_xdata().tolist() == [0.4, 1.0, 1.6]
            assert line.get_ydata().tolist() == values

    def test_the_best_places_have_a_line_and_one_name(self):
        ax = GridErrorsDisplay.from_curve(grid()).plot().ax_
        lines = [line for line in ax.lines if len(set(line.get_xdata())) == 1]
        assert [line.get_xdata()[0] for line in lines] == [1.0, 1.6]
        assert lines[0].get_label() == "minimax, chosen here: 0.25"
        points = [line.get_zorder() for line in ax.lines if line not in lines]
        assert max(line.get_zorder() for line in lines) < 1 <= min(points)  # behind the points and the grid
        assert [word for word in legend(ax) if "minimax" in word] == ["minimax, chosen here: 0.25"]

    def test_two_decades_are_logarithmic(self):
        wide = grid(lam=np.array([1e-3, 1e-2, 1.0]))
        ax = GridErrorsDisplay.from_curve(wide).plot(title="a sweep").ax_
        assert ax.get_xscale() == "log"
        assert ax.get_xlabel() == "lam"
        assert ax.get_title() == "a sweep"
        assert GridErrorsDisplay.from_curve(wide).plot(xscale="linear").ax_.get_xscale() == "linear"
        assert GridErrorsDisplay.from_curve(grid()).plot().ax_.get_xscale() == "linear"
        assert "quantile" in GridErrorsDisplay.from_curve(grid(tau=np.arange(3.0))).plot().ax_.get_xlabel()
        assert ax.get_ylim()[0] < 0
        assert 1 < ax.get_ylim()[1] < 1.05
        assert not ax.spines["right"].get_visible()
