"""The picture of a map: what is drawn where."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.plotting import PlaneDisplay

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, PolyCollection


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def found(gaussians):
    X, y = gaussians(n=20, d=2)
    return pc.plane(pc.TwoCSVM(X, y, kernel=pc.RBF(1.0)), (0.05, 2), (0.1, 1.5))


def test_regions_are_coloured_by_their_margin_sets(found):
    display = found.plot()
    polygons = next(each for each in display.ax_.collections if isinstance(each, PolyCollection))
    assert np.array_equal(polygons.get_array(), found.n_margin)
    assert len(polygons.get_paths()) == len(found.regions)
    assert display.ax_.get_xlim() == (0.05, 2)
    assert display.ax_.get_ylim() == (0.1, 1.5)
    assert f"{len(found.regions)} optimal pieces" in display.ax_.get_title()
    assert "false negative" in display.ax_.get_xlabel()
    assert display.figure_ is display.ax_.figure
    assert any("margin set" in ax.get_ylabel() for ax in display.figure_.axes)
    display.figure_.canvas.draw()


def test_the_lines_are_the_ray_and_the_asymmetry_line(found):
    lines = {line.get_label(): line.get_xydata() for line in found.plot().ax_.lines}
    ray = lines["balanced ray"]
    n_plus = (found.y > 0).sum()
    assert ray[:, 0] * n_plus == pytest.approx(ray[:, 1] * (20 - n_plus))
    asymmetry = next(data for name, data in lines.items() if name.startswith("asymmetry"))
    assert asymmetry.sum(axis=1) == pytest.approx([1.825, 1.825])
    for data in (ray, asymmetry):
        assert (data >= [0.05 - 1e-12, 0.1 - 1e-12]).all()
        assert (data <= [2 + 1e-12, 1.5 + 1e-12]).all()


def test_errors_are_those_of_the_classifiers(found, gaussians):
    X, y = gaussians(n=30, d=2, seed=5)
    display = PlaneDisplay.from_plane(found, X, y)
    x, z = np.linspace(0.05, 2, 5), np.linspace(0.1, 1.5, 4)
    expected = [[(found.at(u, v).classifier.predict(X) != y).mean() for u in x] for v in z]
    assert display.errors(x, z) == pytest.approx(np.array(expected))
    ax = plt.figure().subplots()
    drawn = display.plot(ax, title="a map")
    assert drawn.ax_ is ax
    assert ax.get_title() == "a map"
    exact = [
        tuple(np.round(piece, 9).ravel())
        for level in np.arange(0.5, 30) / 30
        for piece in found.error_map(X, y).level(level)
    ]
    lines = [line for line in ax.collections if isinstance(line, LineCollection)]
    segments = [tuple(np.round(segment, 9).ravel()) for line in lines for segment in line.get_segments()]
    assert len(segments) > 10
    assert set(segments) <= set(exact)
    assert "held-out error" in [text.get_text() for text in ax.get_legend().get_texts()]
    drawn.figure_.canvas.draw()


def test_held_out_samples_come_with_labels(found):
    with pytest.raises(pc.InputError, match="X and y must be given together"):
        PlaneDisplay(found, np.zeros((3, 2)))
    with pytest.raises(pc.InputError, match="one label per sample"):
        PlaneDisplay(found, np.zeros((3, 2)), [1, -1])
    with pytest.raises(pc.InputError, match="held-out"):
        PlaneDisplay(found).errors([0.1], [0.2])


def test_an_error_that_never_changes_has_no_levels(found):
    X = np.array([[9.0, 9.0], [-9.0, -9.0]])
    display = PlaneDisplay.from_plane(found, X, [1, -1])
    assert display.plot().ax_.get_legend() is not None
