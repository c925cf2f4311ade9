"""Paths as the package gives them, by whichever tracker it was built with; .ci/run runs this without a compiler too."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import SlowTrackerWarning
from paretoclf.engine import engines

pytestmark = pytest.mark.filterwarnings("ignore::paretoclf.common.errors.SlowTrackerWarning")
KERNELS = {"linear": None, "rbf": pc.RBF(1.5)}


def data(kind):
    rng = np.random.default_rng(3)
    y = np.where(np.arange(30) < (4 if kind == "unequal" else 12), 1.0, -1.0)
    X = rng.normal(size=(30, 2)) + 0.7 * y[:, None]
    if kind == "duplicates":
        X, y = np.repeat(X[:15], 2, axis=0), np.append(np.repeat(y[:14], 2), [1.0, -1.0])
    return X, y


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", ["plain", "unequal", "duplicates"])
def test_a_line_of_costs_against_cvxpy(kind, kernel):
    X, y = data(kind)
    svm = pc.TwoCSVM(X, y, KERNELS[kernel])
    path = pc.trace(svm, start=(0.2, 1.8), stop=(1.8, 0.2))
    assert path.breakpoints.size > 5
    assert pc.compare(path, svm, n=3, rng=0).agrees()


@pytest.mark.parametrize("kernel", KERNELS)
def test_other_paths_against_cvxpy(kernel):
    X, y = data("plain")
    paths = {
        pc.QuantileSVM(X, y, KERNELS[kernel]): {"tau": (0.1, 0.9), "lam": 0.1},
        pc.TwoNuSVM(X, y, KERNELS[kernel]): {"nu": (0.3, None), "asymmetry": 0.5},
    }
    for svm, how in paths.items():
        assert pc.compare(pc.trace(svm, **how), svm, n=3, rng=0).agrees()


def test_which_tracker_serves_is_said(capsys):
    pc.show_versions()
    assert capsys.readouterr().out.split()[-1] == engines.DEFAULT
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        pc.trace(pc.TwoCSVM([[0.0], [1.0], [2.0]], [-1, 1, 1]), (0.5, 1.0), (1.0, 0.5))
    slow = [warning for warning in said if issubclass(warning.category, SlowTrackerWarning)]
    assert bool(slow) == (engines.DEFAULT == "textbook")


def test_it_is_said_once_whoever_changes_the_filters(monkeypatch):
    """Python's own "default" begins anew whenever somebody changes the filters of warnings, as scikit-learn does."""
    monkeypatch.setattr(engines, "DEFAULT", "textbook")
    monkeypatch.setattr(engines, "_said", False)
    svm = pc.TwoCSVM([[0.0], [1.0], [2.0]], [-1, 1, 1])
    with warnings.catch_warnings(record=True) as said:
        warnings.resetwarnings()
        for _ in range(3):
            warnings.filterwarnings("ignore", category=DeprecationWarning)
            pc.trace(svm, (0.5, 1.0), (1.0, 0.5))
    assert [each.category for each in said] == [SlowTrackerWarning]


@pytest.mark.parametrize("seed", range(3))
def test_tiny_costs_of_features_that_nearly_depend_on_each_other(seed):
    """Margin sets whose systems are so ill-conditioned that doubles alone leave multipliers unbalanced."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(40) < 15, 1.0, -1.0)
    X = rng.normal(size=(40, 3)) + 0.5 * y[:, None]
    X = np.column_stack([X, X @ [1.0, -2.0, 0.5] + 1e-3 * rng.normal(size=40)])
    svm = pc.TwoCSVM(X, y)
    path = pc.trace(svm, (1e-6, 9.9e-5), (9.9e-5, 1e-6), engine="textbook")
    assert path.worst_certificate.passes(1e-8)
    fast = pc.trace(svm, (1e-6, 9.9e-5), (9.9e-5, 1e-6))
    for t in (0.1, 0.4, 0.8):
        assert path.value(t) == pytest.approx(fast.value(t), rel=1e-9)
