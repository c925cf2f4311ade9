"""Figures of paths: what they show, labels and legends."""

from __future__ import annotations

import cvxpy as cp
import matplotlib as mpl
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.plotting import PathDisplay, RocDisplay, SweepDisplay, ValueDisplay, plot_hulls, plot_paths, plot_sweep
from paretoclf.plotting.base import FLOOR, NAMED
from paretoclf.plotting.path import REQUIRED

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.patches import StepPatch


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def make_paths(gaussians, kernel=None, d=3):
    X, y = gaussians(n=30, d=d)
    svm = pc.TwoCSVM(X, y, kernel=kernel)
    top = (5.0 * y.size / svm.n_plus, 5.0 * y.size / svm.n_minus)
    return pc.trace(svm, (0, 0), top), pc.trace(svm, (0.04, 1.96), (1.96, 0.04)), pc.trace(svm, (0.5, 0.1), (2, 3))


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_horizontal_axis_follows_the_line(gaussians):
    expected = [("mean cost", "log", "mean cost"), ("asymmetry", "linear", "asymmetry"), ("t", "linear", "parameter")]
    for path, (parameter, scale, label) in zip(make_paths(gaussians), expected, strict=True):
        display = PathDisplay.from_path(path)
        assert display.parameter == parameter
        upper, lower = display.plot().axes_
        assert upper.get_xscale() == lower.get_xscale() == scale
        assert label in lower.get_xlabel()
        assert "coefficient" in upper.get_ylabel()
        assert "gap" in lower.get_ylabel()
        assert lower.get_yscale() == "log"
        assert display.figure_ is upper.figure
        assert upper.get_xlim() == lower.get_xlim()
        display.figure_.canvas.draw()


def test_positions(gaussians):
    ray, line, other = make_paths(gaussians)
    assert PathDisplay(ray).position([0.0, 0.5, 1.0]) == pytest.approx([0, 5, 10])
    assert PathDisplay(line).position([0.0, 0.5, 1.0]) == pytest.approx([0.02, 0.5, 0.98])
    assert PathDisplay(other).position([0.25]) == pytest.approx([0.25])


def test_costs_of_samples_have_no_asymmetry(gaussians):
    X, y = gaussians(n=12)
    costs = np.linspace(0.5, 1.5, 12)
    path = pc.trace(pc.TwoCSVM(X, y), pc.SampleCosts(costs), pc.SampleCosts(costs[::-1]))  # of the same total
    display = PathDisplay.from_path(path).plot()
    assert display.parameter == "t"
    display.figure_.canvas.draw()


def test_coefficients_are_those_of_the_path(gaussians):
    _, line, _ = make_paths(gaussians)
    upper, _ = PathDisplay.from_path(line, ["red", "green", "blue"]).plot().axes_
    drawn = {each.get_label(): each for each in upper.lines}
    assert sorted(legend_texts(upper)) == ["blue", "green", "red"]
    for j, name in enumerate(["red", "green", "blue"]):
        g, w = drawn[name].get_data()
        t = (g - 0.02) / 0.96
        np.testing.assert_allclose(w, [line.slope(float(np.clip(u, 0, 1)))[j] for u in t], atol=1e-9)


def test_names_are_shown_as_they_are(gaussians):
    _, line, _ = make_paths(gaussians)
    display = PathDisplay.from_path(line, ["_hidden", "$x_$", "a $ b"]).plot()
    assert sorted(legend_texts(display.axes_[0])) == sorted([" _hidden", r"\$x_\$", r"a \$ b"])
    display.figure_.canvas.draw()


def test_many_coefficients_share_one_legend_entry(gaussians):
    _, line, _ = make_paths(gaussians, d=12)
    upper, _ = PathDisplay.from_path(line).plot().axes_
    assert len(legend_texts(upper)) == len(NAMED) + 1
    assert "6 smaller ones" in legend_texts(upper)


def test_multipliers_lie_between_zero_and_their_cap(gaussians):
    ray, line, _ = make_paths(gaussians, kernel=pc.RBF(1.5))
    for path in (ray, line):
        upper, _ = PathDisplay.from_path(path).plot(title="multipliers").axes_
        assert upper.get_title() == "multipliers"
        assert "multiplier" in upper.get_ylabel()
        assert [text.split()[0] for text in legend_texts(upper)] == ["positives", "negatives"]
        assert {each.get_linestyle() for each in upper.lines} == {"-", "--"}  # not told apart by colour alone
        drawn = np.concatenate([each.get_ydata() for each in upper.lines])
        assert np.isfinite(drawn).all()
        assert drawn.min() >= 0.0
        assert drawn.max() <= 1.0 + 1e-12


def test_gap_shows_the_bound_of_every_segment_and_the_required_one(gaussians):
    ray, line, _ = make_paths(gaussians)
    svm = pc.TwoCSVM(*gaussians(n=30, d=3))
    for path in (ray, line, pc.trace(svm, (1.96, 0.04), (0.04, 1.96))):
        _, lower = PathDisplay.from_path(path).plot().axes_
        (drawn,), (required,) = (each for each in lower.patches if isinstance(each, StepPatch)), lower.lines
        bounds, edges, _ = drawn.get_data()
        assert bounds.size == path.pieces.t.size - 1
        assert np.isfinite(bounds).all()
        assert (np.diff(edges) >= 0.0).all()
        assert edges[0] > 0.0  # zero cost has no place on a logarithmic axis
        assert bounds.min() >= FLOOR
        assert set(required.get_ydata()) == {REQUIRED}
        assert bounds.max() < REQUIRED
        assert legend_texts(lower)[0] == "proved bound, at every point"
        # No certificate of a single point is above the bound that is drawn there.
        for t in path.certificate_points[1::2][::5]:
            place = float(PathDisplay.from_path(path).position(t)[0])
            assert path.certificate(float(t)).gap <= bounds[np.searchsorted(edges, place) - 1] + 1e-14


def test_given_axes_are_used(gaussians):
    _, line, _ = make_paths(gaussians)
    figure, pair = plt.subplots(2)
    assert PathDisplay.from_path(line).plot(pair).axes_ == tuple(pair)
    figure, single = plt.subplots()
    display = line.plot(single)
    assert display.figure_ is figure
    assert not single.axison
    with pytest.raises(pc.InputError, match="pair"):
        PathDisplay.from_path(line).plot([single])
    with pytest.raises(pc.InputError, match="feature_names"):
        PathDisplay.from_path(line, ["one"])


def test_paths_side_by_side(gaussians):
    ray, line, _ = make_paths(gaussians)
    figure = plot_paths({"ray": ray, "asymmetry line": line})
    assert len(figure.axes) == 4
    assert [ax.get_title() for ax in figure.axes[:2]] == [
        f"ray: {ray.breakpoints.size} breakpoints",
        f"asymmetry line: {line.breakpoints.size} breakpoints",
    ]
    with pytest.raises(pc.InputError, match="at least one"):
        plot_paths({})


def test_the_sets_of_samples_are_drawn_a_row_a_sample(gaussians):
    for path in make_paths(gaussians)[:2]:
        display = PathDisplay.from_path(path)
        display.plot(title="a title", sets=True)
        upper = display.axes_[0]
        drawn = np.asarray(upper.collections[0].get_array()).reshape(path.y.size, -1)
        knots = display.knots()
        for column in (3, drawn.shape[1] // 2, -2):
            alpha = path.at(float(0.5 * (knots[:-1] + knots[1:])[column])).alpha
            caps = path.caps(float(0.5 * (knots[:-1] + knots[1:])[column]))
            for sign, rows in ((1, slice(None, (path.y > 0).sum())), (-1, slice((path.y > 0).sum(), None))):
                ours = path.y == sign
                expected = [
                    (alpha[ours] == 0).sum(),
                    ((alpha > 0) & (alpha < caps))[ours].sum(),
                    (alpha >= caps)[ours].sum(),
                ]
                assert np.bincount(drawn[rows, column].astype(int), minlength=3).tolist() == expected
        assert [text.get_text() for text in upper.get_legend().get_texts()][1] == "margin set"
        display.figure_.canvas.draw()


def test_a_line_without_breakpoints_can_be_drawn():
    svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, -1, 1, 1])
    path = pc.trace(svm, (0, 0), (1e-3, 1e-3))
    PathDisplay.from_path(path).plot().figure_.canvas.draw()


def test_roc_of_a_path(gaussians):
    X, y = gaussians(n=30)
    path = make_paths(gaussians)[1]
    display = RocDisplay.from_curves(*(pc.roc_of_path(path, X, y, vary) for vary in ("intercept", "asymmetry", "both")))
    ax = display.plot().ax_
    assert "false positive" in ax.get_xlabel()
    assert "true positive" in ax.get_ylabel()
    assert len(legend_texts(ax)) == 4
    assert len({(line.get_color(), str(line.get_linestyle())) for line in ax.lines[1:]}) == 3


def test_a_sweep_is_drawn_over_the_parameter_that_moves(gaussians):
    svm = pc.QuantileSVM(*gaussians(n=30, d=3))
    sweep = pc.sweep(svm, tau=[0.7, 0.2, 0.4], lam=0.1)
    display = plot_sweep(sweep)
    assert isinstance(display, SweepDisplay)
    upper, lower = display.axes_
    assert display.figure_ is upper.figure
    assert SweepDisplay.from_sweep(sweep).plot((upper, lower), title="again").axes_ == (upper, lower)
    assert upper.get_title() == "again"
    upper, lower = plot_sweep(sweep).axes_
    assert lower.get_xlabel() == "tau"
    assert len(upper.lines) == 3
    x, values = upper.lines[1].get_data()
    np.testing.assert_array_equal(x, [0.2, 0.4, 0.7])
    np.testing.assert_allclose(values, [sweep[k].classifier.w[1] for k in (1, 2, 0)])
    assert plot_sweep(sweep, "lam").axes_[1].get_xlabel() == "lam"
    for bad in ("theta",):
        with pytest.raises(pc.InputError, match="parameter must be one of tau, lam"):
            plot_sweep(sweep, bad)
    with pytest.raises(pc.InputError, match="at least one solution"):
        plot_sweep(sweep[:0])
    kernel = pc.sweep(pc.QuantileSVM(*gaussians(n=30, d=3), pc.RBF(1.0)), tau=0.5, lam=[0.01, 1.0, 100.0])
    upper, _ = plot_sweep(kernel).axes_
    assert upper.get_ylabel() == "optimal value"
    assert upper.get_xscale() == "log"
    np.testing.assert_allclose(upper.lines[0].get_ydata(), kernel.values)


def test_reduced_hulls_are_drawn_with_their_nearest_points(gaussians):
    X, y = gaussians(n=30, d=2)
    hulls = pc.TwoNuSVM(3 * X, y).hulls(0.8, 0.8)
    display = plot_hulls(hulls)
    ax = display.ax_
    assert display.figure_ is ax.figure
    dashed = next(line for line in ax.lines if line.get_linestyle() == "--")
    np.testing.assert_allclose(np.array(dashed.get_data()).T, [hulls.point_plus, hulls.point_minus])
    assert "reduced hull, nu = 0.8" in legend_texts(ax)
    # The classifier's line passes between the two points, at a right angle.
    normal = hulls.point_plus - hulls.point_minus
    w = hulls.solution.classifier.w
    assert abs(normal[0] * w[1] - normal[1] * w[0]) < 1e-7 * np.linalg.norm(normal) * np.linalg.norm(w)
    with pytest.raises(pc.InputError, match="two features"):
        plot_hulls(pc.TwoNuSVM(*gaussians(n=30, d=3)).hulls(0.8, 0.8))
    overlapping = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], 2, axis=0)
    meeting = pc.TwoNuSVM(overlapping, np.tile([1.0, -1.0], 4)).hulls(0.6, 0.6)
    assert "no classifier" in plot_hulls(meeting).ax_.get_title()


def shrinkage(start, stop):
    """The path of a soft threshold: w is max(3 - lam, 0), in closed form."""
    w, lam = cp.Variable(name="w"), cp.Parameter(nonneg=True, name="lam")
    problem = cp.Problem(cp.Minimize(cp.square(w - 3) / 2 + lam * cp.abs(w)))
    return pc.trace(problem, {lam: start}, {lam: stop})


def test_the_axis_of_a_program_is_logarithmic_where_it_spans_two_decades_and_curves_bend_on_it():
    for (start, stop), asked, scale in [
        ((100.0, 0.1), None, "log"),
        ((0.1, 100.0), None, "log"),
        ((100.0, 2.0), None, "linear"),
        ((100.0, 0.0), None, "linear"),
        ((100.0, 0.1), "linear", "linear"),
        ((100.0, 0.0), "log", "log"),
    ]:
        ax = shrinkage(start, stop).plot(xscale=asked).ax_
        assert ax.get_xscale() == scale
        x, w = ax.lines[0].get_data()
        np.testing.assert_allclose(w, np.maximum(3 - x, 0), atol=1e-9)
        if scale == "log":
            assert np.abs(np.diff(np.log(x))).max() < 0.3  # a straight line bends here
            assert x.min() == pytest.approx(min(start, stop) or 1.5)


def test_a_short_logarithmic_axis_has_numbers_at_1_2_and_5_that_do_not_overlap():
    ax = shrinkage(0.5, 0.02).plot(xscale="log").ax_
    ax.figure.canvas.draw()
    labels = [each for each in ax.get_xticklabels(which="both") if each.get_text()]
    low, high = sorted(ax.get_xlim())  # it runs from 0.5 to 0.02, as the path does
    shown = [each.get_text() for each in labels if low <= each.get_position()[0] <= high]
    assert sorted(shown, key=float) == ["0.02", "0.05", "0.1", "0.2", "0.5"]


def test_every_plot_along_a_line_takes_xscale(gaussians):
    X, y = gaussians(n=20)
    path = pc.trace(pc.TwoCSVM(X, y), (0.02, 0.98), (0.98, 0.02))
    sweep = pc.sweep(pc.TwoCSVM(X, y), C_plus=[0.001, 0.1, 1.0], C_minus=1.0)
    errors, grid = path.error_curve(X, y), sweep.error_curve(X, y)
    for usual, each in {"linear": path, "log": sweep}.items():
        for asked in (None, "log", "linear"):
            assert each.plot(xscale=asked).axes_[1].get_xscale() == (asked or usual)
            of_errors = (errors if each is path else grid).plot(xscale=asked)
            assert of_errors.ax_.get_xscale() == (asked or usual)
            if each is path:
                assert ValueDisplay.from_path(path).plot(xscale=asked).axes_[0].get_xscale() == (asked or usual)
    for each in (path, sweep, errors, grid, shrinkage(3.0, 1.0)):
        with pytest.raises(pc.InputError, match=r"xscale must be 'linear' or 'log', got 'logit'"):
            each.plot(xscale="logit")
    w, a = cp.Variable(name="w"), cp.Parameter(name="a")
    below = pc.trace(cp.Problem(cp.Minimize(cp.square(w)), [w >= a]), {a: -3.0}, {a: -1.0})
    with pytest.raises(pc.InputError, match="where nothing is positive"):
        below.plot(xscale="log")
