"""The picture of one classifier: boundary, margins, sets; and the enlarged corner of a ROC picture."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.cli.curves import CORNER, roc_figure
from paretoclf.plotting import BoundaryDisplay
from paretoclf.roc.of_path import roc_of_scores

mpl.use("Agg")
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def traced(gaussians, d=2, kernel=None):
    X, y = gaussians(n=40, d=d)
    return pc.trace(pc.TwoCSVM(X, y, kernel=kernel), (0.2, 1.8), (1.8, 0.2))


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)])
@pytest.mark.parametrize("t", [0.4, 0.5, 0.91])
def test_the_sets_are_those_of_the_path_and_so_are_the_numbers_in_the_legend(gaussians, kernel, t):
    path = traced(gaussians, kernel=kernel)
    display = BoundaryDisplay.from_solution(path.at(t)).plot()
    sets = display.sets()
    for number, name in enumerate("RLM"):
        assert np.array_equal(sets[name], path.sets(t) == number), name
    shown = sum(int(text.rsplit(": ", 1)[1]) for text in legend(display) if " in " in text)
    assert shown == path.y.size


def test_no_boundary_is_drawn_of_rounding(gaussians):
    path = traced(gaussians)
    assert np.abs(path.slope(0.13)).max() < 1e-14
    display = BoundaryDisplay.from_solution(path.at(0.13)).plot()
    sets = display.sets()
    assert np.array_equal(sets["L"], path.y > 0)
    assert not any("f =" in text for text in legend(display))


def test_the_lines_are_where_the_scores_say(gaussians):
    solution = traced(gaussians).at(0.4)
    display = BoundaryDisplay.from_solution(solution).plot()
    w, b = solution.classifier.w, solution.classifier.b
    levels = {}
    for each in display.ax_.collections:
        if getattr(each, "levels", None) is not None and len(each.levels) == 1:
            points = np.vstack([path.vertices for path in each.get_paths() if len(path.vertices)])
            np.testing.assert_allclose(points @ w + b, each.levels[0], atol=1e-9)
            levels[float(each.levels[0])] = len(points)
    assert set(levels) == {-1.0, 0.0, 1.0}


def test_a_plane_through_many_features_has_the_scores_of_its_points(gaussians):
    solution = traced(gaussians, d=4, kernel=pc.RBF(2.0)).at(0.4)
    display = BoundaryDisplay.from_solution(solution).plot()
    assert "projected" in display.ax_.get_title()
    assert display.ax_.get_xlabel() == "first direction"
    X, cut = solution.classifier.gram.X, display.slice
    np.testing.assert_allclose(cut.directions @ cut.directions.T, np.eye(2), atol=1e-12)
    eigenvalues = np.linalg.eigvalsh(np.cov(X.T))[::-1][:2]  # the variances along principal directions
    np.testing.assert_allclose(cut.place(X).var(axis=0, ddof=1), eigenvalues)
    points = np.array([[0.3, -0.2], [1.0, 2.0]])
    np.testing.assert_allclose(cut.place(cut.samples(points)), points)

    pair = BoundaryDisplay.from_solution(solution, (3, 1), list("abcd")).plot()
    assert (pair.ax_.get_xlabel(), pair.ax_.get_ylabel()) == ("d", "b")
    mean = X.mean(axis=0)
    np.testing.assert_allclose(pair.slice.samples(points)[:, [0, 2]], np.tile(mean[[0, 2]], (2, 1)))
    np.testing.assert_allclose(pair.slice.samples(points)[:, [3, 1]], points)


def test_the_legend_is_outside_the_axes(gaussians):
    display = BoundaryDisplay.from_solution(traced(gaussians).at(0.4)).plot()
    display.figure_.canvas.draw()
    box, axes = display.ax_.get_legend().get_window_extent(), display.ax_.get_window_extent()
    assert box.x0 > axes.x1
    assert box.x1 <= display.figure_.bbox.x1


def test_degenerate_samples_are_drawn():
    X = [[0.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.0, 1.0]]  # one constant feature, both labels on a point
    path = pc.trace(pc.TwoCSVM(X, [-1, 1, 1, 1, -1]), (0, 0), (1, 1))
    for t in (0.0, 0.5, 1.0):
        display = BoundaryDisplay.from_solution(path.at(t)).plot()
        display.figure_.canvas.draw()
        assert sum(mask.sum() for mask in display.sets().values()) == 5


@pytest.mark.parametrize(
    ("features", "names", "said"),
    [
        ((0, 3), None, "features must be two different numbers from 0 to 2"),
        ((1, 1), None, "features must be two different numbers from 0 to 2"),
        ((0.5, 1), None, "features must be two different numbers from 0 to 2"),
        ("ab", None, "features must be two different numbers from 0 to 2"),
        (None, ["a"], "feature_names must have one name per feature"),
    ],
)
def test_bad_features_are_refused(gaussians, features, names, said):
    with pytest.raises(pc.InputError, match=said):
        BoundaryDisplay.from_solution(traced(gaussians, d=3).at(0.5), features, names)


def test_what_has_no_plane_is_refused(gaussians):
    with pytest.raises(pc.InputError, match="over two features"):
        BoundaryDisplay.from_solution(traced(gaussians, d=1).at(0.5))
    X, y = gaussians(n=20, d=2)
    own = pc.TwoCSVM(X @ X.T, y, kernel="precomputed")
    with pytest.raises(pc.InputError, match="over two features"):
        BoundaryDisplay.from_solution(pc.trace(own, (0, 0), (1, 1)).at(0.5))
    with pytest.raises(pc.InputError, match="solution must be one of a 2C-SVM"):
        BoundaryDisplay.from_solution(X)


def test_the_enlarged_corner_is_shaded_and_no_line_leads_to_it():
    y = np.repeat([1.0, -1.0], 50)
    figure = roc_figure({"intercept": roc_of_scores(3 * y + np.linspace(-3.2, 3.2, 100), y)}, {}, "corner")
    (ax,) = figure.axes
    (inset,) = ax.child_axes
    assert "shaded" in inset.get_title()
    assert {line.get_label() for line in ax.lines} == {line.get_label() for line in inset.lines}
    (corner,) = ax.patches
    assert corner.get_facecolor() == inset.get_facecolor()
    assert corner.get_linewidth() == 0 or corner.get_edgecolor()[3] == 0
    figure.canvas.draw()
    low, high = corner.get_window_extent().corners()[[0, 3]]
    np.testing.assert_allclose(ax.transData.inverted().transform(low), [-0.01, 1 - CORNER], atol=2e-3)
    np.testing.assert_allclose(ax.transData.inverted().transform(high), [CORNER, 1.003], atol=2e-3)
    assert not [
        child for child in ax.get_children() if "Connection" in type(child).__name__ or "Inset" in type(child).__name__
    ]
