"""The picture of ROC curves: points, envelopes, and the lines of equal cost, beside sums over samples."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest

from paretoclf.common.errors import InputError
from paretoclf.plotting.base import STYLES
from paretoclf.plotting.roc import RocDisplay, roc_axes
from paretoclf.roc import roc_of_scores

mpl.use("Agg")
from matplotlib import pyplot as plt

Y = np.array([-1, -1, 1, -1, 1, -1, 1, 1, -1, 1])
FIRST = roc_of_scores(np.arange(10.0), Y)
SECOND = roc_of_scores(np.array([5.0, 1, 2, 3, 9, 7, 6, 4, 0, 8]), Y)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def display():
    return RocDisplay.from_curves(one=FIRST, two=SECOND)


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def line_of(ax, beginning):
    (found,) = (line for line in ax.lines if str(line.get_label()).startswith(beginning))
    return found


def test_each_curve_is_drawn_through_its_points_with_its_area():
    ax = display().plot(title="held out").ax_
    for name, curve, (color, _) in (("one", FIRST, STYLES[0]), ("two", SECOND, STYLES[1])):
        line = line_of(ax, f"{name} (")
        assert line.get_xdata().tolist() == curve.fpr.tolist()
        assert line.get_ydata().tolist() == curve.tpr.tolist()
        assert line.get_label() == f"{name} (AUC {curve.auc:.3f})"
        assert line.get_color() == color
    assert len(ax.lines) == 3  # with that of chance
    assert ax.get_title() == "held out"
    assert labels(ax)[0] == "chance"


def test_curves_without_a_name_are_called_by_what_varies():
    made = RocDisplay.from_curves(FIRST, SimpleNamespace(vary=""), other=SECOND)
    assert list(made.curves) == ["varying intercept", "curve", "other"]
    with pytest.raises(InputError, match="curves must hold at least one curve"):
        RocDisplay.from_curves()


def test_options_of_lines_are_those_of_matplotlib():
    ax = display().plot(linewidth=5, color="black").ax_
    assert {line_of(ax, name).get_linewidth() for name in ("one", "two")} == {5}
    assert line_of(ax, "one").get_color() == "black"


def test_envelopes_are_those_of_the_curves_and_are_named_once():
    ax = display().plot(hull=True).ax_
    thin = [line for line in ax.lines if line.get_linewidth() == 0.8]
    for line, curve in zip(thin, (FIRST, SECOND), strict=True):
        assert line.get_xdata().tolist() == curve.hull().fpr.tolist()
        assert line.get_ydata().tolist() == curve.hull().tpr.tolist()
    assert [word for word in labels(ax) if "envelope" in word] == ["upper envelopes (optimistic)"]
    assert thin[0].get_label() == "upper envelopes (optimistic)"
    assert not [word for word in labels(display().plot().ax_) if "envelope" in word]


def test_what_its_own_labels_have_chosen_is_called_optimistic():
    made = RocDisplay.from_curves(chosen=FIRST.hull())
    assert made.curves["chosen"].chosen
    ax = made.plot(hull=True).ax_
    assert line_of(ax, "chosen").get_label() == f"chosen (AUC {FIRST.hull().auc:.3f}, optimistic)"
    assert not [line for line in ax.lines if line.get_linewidth() == 0.8]  # it is its own envelope


@pytest.mark.parametrize(("prior", "costs"), [(None, (1.0, 1.0)), (0.2, (3.0, 1.0)), (0.5, (1.0, 4.0))])
def test_the_line_of_equal_cost_touches_the_cheapest_classifier(prior, costs):
    miss, alarm = (0.5 if prior is None else prior) * costs[0], (0.5 if prior is None else 1 - prior) * costs[1]

    def cost(fpr, tpr):
        return miss * (1 - tpr) + alarm * fpr

    ax = display().plot(costs=costs, prior_plus=prior).ax_
    dashed = [line for line in ax.lines if line.get_color() == "0.35"]
    assert len(dashed) == 4
    of_lines = [cost(line.get_xdata(), line.get_ydata()) for line in dashed]
    for both in of_lines:
        assert both[0] == pytest.approx(both[1])
    everywhere = [cost(*point) for curve in (FIRST, SECOND) for point in zip(curve.fpr, curve.tpr, strict=True)]
    assert of_lines[0][0] == pytest.approx(min(everywhere))
    assert np.diff([both[0] for both in of_lines]).min() > 0  # larger below
    steps = np.diff([line.get_xdata().mean() for line in dashed]), np.diff([line.get_ydata().mean() for line in dashed])
    np.testing.assert_allclose(np.hypot(*steps), 0.12)
    dot = next(line for line in ax.lines if line.get_marker() == "o")
    assert cost(dot.get_xdata()[0], dot.get_ydata()[0]) == pytest.approx(min(everywhere))
    assert [word for word in labels(ax) if "cost" in word] == [f"equal cost {min(everywhere):.3g}, larger below"]
    ends = dashed[0]
    assert np.hypot(np.ptp(ends.get_xdata()), np.ptp(ends.get_ydata())) == pytest.approx(4)  # beyond the square
    assert ends.get_linewidth() > dashed[1].get_linewidth()


def test_the_prior_is_the_share_of_positives_behind_the_first_curve():
    rare = roc_of_scores(np.arange(5.0), np.array([-1, -1, 1, -1, -1]))
    ax = RocDisplay.from_curves(rare=rare).plot(costs=(1.0, 1.0)).ax_
    line = next(line for line in ax.lines if line.get_color() == "0.35")
    slope = np.diff(line.get_ydata())[0] / np.diff(line.get_xdata())[0]
    assert slope == pytest.approx(0.8 / 0.2)


def test_axes_show_the_square_of_rates():
    _, given = plt.subplots()
    ax = roc_axes(given)
    assert ax is given
    assert line_of(ax, "chance").get_xdata().tolist() == line_of(ax, "chance").get_ydata().tolist() == [0, 1]
    assert ax.get_xlim() == ax.get_ylim() == (-0.01, 1.01)
    assert ax.get_aspect() == 1.0
    assert all(line.get_visible() for line in [*ax.get_xgridlines(), *ax.get_ygridlines()])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("false positive rate", "true positive rate")
    assert roc_axes(None).figure.get_size_inches().tolist() == [6, 6]


def test_more_curves_than_styles_begin_again():
    many = RocDisplay.from_curves(**{f"c{k}": FIRST for k in range(6)}).plot().ax_
    assert line_of(many, "c5").get_color() == line_of(many, "c0").get_color()
    assert line_of(many, "c4").get_color() != line_of(many, "c0").get_color()
