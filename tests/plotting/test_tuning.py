"""Pictures of tuning: panels, the chosen cell and the way of a descent, of a result that is written by hand."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.plotting.tuning import TuningDisplay

mpl.use("Agg")
from matplotlib import pyplot as plt

AXES = {"bandwidth": np.array([0.5, 2.0]), "nu_plus": np.array([0.1, 0.2, 0.4]), "nu_minus": np.array([0.3, 0.5])}
FPR = np.arange(12.0).reshape(2, 3, 2) / 12
FNR = 1 - FPR


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


class Larger:
    """The larger error rate."""

    level = None

    def score(self, fpr, fnr):
        return np.maximum(fpr, fnr)

    def __str__(self):
        return "Minimax()"


def tuned(**changes):
    made = {
        "arrays": SimpleNamespace(axes=AXES, fpr=FPR, fnr=FNR),
        "cell": (1, 2, 0),
        "criterion": Larger(),
        "window": None,
        "smoothed": (FPR / 2, FNR / 2),
        "held_out": lambda X, y: (np.full((3, 2), float(len(X))) / 10, np.zeros((3, 2))),
        "method": "grid",
        "parameters": {"bandwidth": 2.0, "nu_plus": 0.4, "nu_minus": 0.3},
        "trace": [],
    }
    return SimpleNamespace(**(made | changes))


def one_nu(**changes):
    size = 14
    axes = {"bandwidth": np.geomspace(0.1, 10, size), "nu": np.array([0.2, 0.4])}
    fpr = np.linspace(0, 1, 2 * size).reshape(size, 2)
    arrays = SimpleNamespace(axes=axes, fpr=fpr, fnr=0 * fpr)
    return tuned(**({"arrays": arrays, "cell": (3, 1), "parameters": {"bandwidth": axes["bandwidth"][3]}} | changes))


class TestPanels:
    def test_the_first_is_the_criterion_at_the_chosen_bandwidth(self):
        display = TuningDisplay.from_tuned(tuned())
        assert list(display.panels) == ["cross-validated"]
        np.testing.assert_array_equal(display.panels["cross-validated"], np.maximum(FPR, FNR)[1])
        assert (display.x[0], display.y[0]) == ("nu_plus", "nu_minus")
        assert display.x[1] is AXES["nu_plus"]

    def test_what_was_smoothed_and_what_test_samples_say_are_others(self):
        display = TuningDisplay.from_tuned(tuned(window="any"), np.ones((4, 2)), np.ones(4))
        assert list(display.panels) == ["cross-validated", "smoothed", "test samples"]
        np.testing.assert_array_equal(display.panels["smoothed"], np.maximum(FPR, FNR)[1] / 2)
        np.testing.assert_array_equal(display.panels["test samples"], np.full((3, 2), 0.4))
        width, height = display.size
        assert width == pytest.approx(1.2 + 3 * 3.4)
        assert height == 3.9

    def test_with_one_nu_all_bandwidths_are_shown(self):
        display = TuningDisplay.from_tuned(one_nu())
        assert display.panels["cross-validated"].shape == (14, 2)
        assert (display.x[0], display.y[0]) == ("bandwidth", "nu")

    @pytest.mark.parametrize(
        ("changes", "samples", "words"),
        [
            ({}, (np.ones(2), None), "X_test and y_test must be given both or neither"),
            ({}, (None, np.ones(2)), "X_test and y_test must be given both or neither"),
            (
                {"arrays": None, "method": "exact-lines"},
                (None, None),
                "no error arrays to draw for method 'exact-lines'",
            ),
            ({"cell": None}, (None, None), "no error arrays"),
        ],
    )
    def test_what_has_no_grid_is_refused(self, changes, samples, words):
        with pytest.raises(InputError, match=words):
            TuningDisplay.from_tuned(tuned(**changes), *samples)

    def test_a_result_of_tune_has_them(self):
        data = pc.datasets.load("twonorm", n=40)
        result = pc.tune(data.X, data.y, bandwidths=2, nu_plus=3)
        panels = TuningDisplay.from_tuned(result).panels
        assert {values.shape for values in panels.values()} == {(3, 3)}


class TestPicture:
    def test_cells_have_the_values_of_the_panel_around_their_parameters(self):
        display = TuningDisplay.from_tuned(tuned(window="any")).plot()
        for ax, values in zip(display.axes_, display.panels.values(), strict=True):
            (mesh,) = ax.collections
            np.testing.assert_array_equal(np.asarray(mesh.get_array()).reshape(2, 3), values.T)
            corners = mesh.get_coordinates()
            np.testing.assert_allclose(corners[0, :, 0], [0.05, 0.15, 0.3, 0.5])
            np.testing.assert_allclose(corners[:, 0, 1], [0.2, 0.4, 0.6])
        first, second = display.axes_
        assert (first.get_title(), second.get_title()) == ("cross-validated", "smoothed")
        assert first.get_ylabel() == r"$\nu_-$"
        assert second.get_ylabel() == ""
        assert first.get_xlabel() == second.get_xlabel() == r"$\nu_+$"
        assert display.figure_.get_suptitle() == "bandwidth 2"
        assert display.figure_.get_size_inches() == pytest.approx(display.size)

    def test_all_panels_have_one_scale_which_ends_at_1(self):
        scores = np.array([[0.2, 5.0], [0.4, 0.9], [0.3, np.nan]])
        display = TuningDisplay(
            tuned(), {"a": scores, "b": scores / 2}, ("nu_plus", AXES["nu_plus"]), ("nu_minus", AXES["nu_minus"])
        )
        display.plot()
        for ax in display.axes_:
            assert ax.collections[0].get_clim() == (0.1, 1.0)
        assert np.ma.getmaskarray(display.axes_[0].collections[0].get_array()).sum() == 1
        bar = display.figure_.axes[-1]
        assert bar.get_ylabel() == "larger error rate"
        assert display.axes_[-1].collections[0].colorbar.extend == "max"  # one score is larger
        assert TuningDisplay.from_tuned(tuned()).plot().axes_[0].collections[0].colorbar.extend == "neither"
        assert self.limits(scores / 10) == pytest.approx((0.02, 0.5))
        # Of limits that are one number matplotlib makes two, on both sides.
        assert np.mean(self.limits(scores + 2)) == pytest.approx(2.2)
        assert np.mean(self.limits(np.full((3, 2), 0.5))) == pytest.approx(0.5)

    def limits(self, values):
        sides = ("nu_plus", AXES["nu_plus"]), ("nu_minus", AXES["nu_minus"])
        return TuningDisplay(tuned(), {"a": values}, *sides).plot().axes_[0].collections[0].get_clim()

    def test_a_cross_marks_the_choice(self):
        for display, place in ((tuned(), (0.4, 0.3)), (one_nu(), (3.0, 0.4))):
            (cross,) = TuningDisplay.from_tuned(display).plot().axes_[0].lines
            assert (cross.get_xdata()[0], cross.get_ydata()[0]) == place
            assert cross.get_marker() == "x"

    def test_the_way_of_a_descent_is_that_of_its_steps_at_this_bandwidth(self):
        steps = [SimpleNamespace(cell=cell) for cell in ((0, 0, 0), (1, 0, 1), (1, 1, 1), (1, 2, 0))]
        way, _ = TuningDisplay.from_tuned(tuned(trace=steps)).plot().axes_[0].lines
        assert way.get_xdata().tolist() == [0.1, 0.2, 0.4]
        assert way.get_ydata().tolist() == [0.5, 0.5, 0.3]
        assert len(TuningDisplay.from_tuned(tuned(trace=steps[:2])).plot().axes_[0].lines) == 1  # one step is no way
        steps = [SimpleNamespace(cell=cell) for cell in ((0, 0), (3, 1))]
        way, _ = TuningDisplay.from_tuned(one_nu(trace=steps)).plot().axes_[0].lines
        assert way.get_xdata().tolist() == [0.0, 3.0]

    def test_bandwidths_stand_one_beside_the_other_and_some_are_named(self):
        ax = TuningDisplay.from_tuned(one_nu()).plot().axes_[0]
        assert ax.collections[0].get_coordinates()[0, :, 0].tolist() == [k - 0.5 for k in range(15)]
        assert ax.get_xticks().tolist() == [0, 3, 6, 9, 12]
        expected = [f"{np.geomspace(0.1, 10, 14)[k]:.2g}" for k in (0, 3, 6, 9, 12)]
        assert [label.get_text() for label in ax.get_xticklabels()] == expected
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("bandwidth", r"$\nu$")
        assert ax.figure.get_suptitle() == ""

    def test_a_level_is_a_neyman_pearson_score(self):
        criterion = Larger()
        criterion.level = 0.05
        bar = TuningDisplay.from_tuned(tuned(criterion=criterion)).plot().figure_.axes[-1]
        assert bar.get_ylabel() == "Neyman-Pearson score"

    def test_axes_can_be_given(self):
        figure, axes = plt.subplots(1, 2)
        display = TuningDisplay.from_tuned(tuned(window="any")).plot(axes)
        assert display.axes_ == list(axes)
        assert display.figure_ is figure
        one = TuningDisplay.from_tuned(tuned(parameters={})).plot(plt.subplots()[1])
        assert len(one.axes_) == 1
        assert one.figure_.get_suptitle() == ""
