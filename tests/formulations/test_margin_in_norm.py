"""Margins in a norm: closed forms, theta by a shift, noise at its worst, and paths within eps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

import paretoclf as pc
from paretoclf.formulations import MarginInNorm

NORMS = ("l1", "l2", "linf")
SLOPE = {"l1": np.inf, "l2": 2, "linf": 1}


def two_classes(seed=0):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(12, 3)) + 1.0, rng.normal(size=(15, 3)) - 1.0])
    return X, np.append(np.ones(12), -np.ones(15))


@pytest.mark.parametrize("norm", NORMS)
def test_theta_shifts_the_intercept_and_nothing_else(norm):
    margins = MarginInNorm(*two_classes(), norm=norm)
    others = {"radius": 0.1, "C_plus": 0.3, "C_minus": 0.2}
    first = margins.solve(theta=1.0, **others)
    for theta in (0.2, 5.0):
        at = margins.solve(theta=theta, **others)
        assert at.value == pytest.approx(first.value, rel=1e-9)
        b = margins.intercept(first.classifier.b, theta)
        x = {"w": first.classifier.w, "b": b}
        targets = np.where(margins.y > 0, 2 * theta / (1 + theta), 2 / (1 + theta))
        size = np.linalg.norm(x["w"], SLOPE[norm])
        slack = np.maximum(targets - margins.y * (margins.X @ x["w"] + b) + 0.1 * size, 0)
        value = size + np.where(margins.y > 0, 0.3, 0.2) @ slack
        assert value == pytest.approx(at.value, rel=1e-7)


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_two_norms_are_linear_programs_that_a_simplex_code_solves(norm):
    X, y = two_classes(1)
    n, d = X.shape
    theta, radius, costs = 2.0, 0.15, np.where(y > 0, 0.4, 0.25)
    targets = np.where(y > 0, 2 * theta / (1 + theta), 2 / (1 + theta))
    # columns: w+, w-, b, s, xi
    size = np.ones((1, 2 * d)) if norm == "linf" else np.hstack([np.eye(d), np.eye(d)])
    rows = np.hstack([-y[:, None] * X, y[:, None] * X, -y[:, None], np.full((n, 1), radius), -np.eye(n)])
    caps = np.hstack([size, np.zeros((len(size), 1)), -np.ones((len(size), 1)), np.zeros((len(size), n))])
    costs_of = np.concatenate([np.zeros(2 * d + 1), [1.0], costs])
    free = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * (n + 1)
    found = linprog(costs_of, np.vstack([rows, caps]), np.append(-targets, np.zeros(len(size))), bounds=free)
    solution = MarginInNorm(X, y, norm=norm).solve(theta=theta, radius=radius, C_plus=0.4, C_minus=0.25)
    assert solution.value == pytest.approx(found.fun, rel=1e-9)


@pytest.mark.parametrize(("norm", "corners"), [("linf", [*itertools.product((-1, 1), repeat=3)]), ("l1", None)])
def test_the_radius_is_the_worst_that_noise_of_that_size_can_do(norm, corners):
    """No more than the value is lost if every sample moves to the corner of its ball that is worst."""
    corners = np.array(corners if corners else np.vstack([np.eye(3), -np.eye(3)]), dtype=float)
    X, y = two_classes(2)
    solution = MarginInNorm(X, y, norm=norm).solve(theta=1.0, radius=0.2, C_plus=0.5, C_minus=0.5)
    w, b = solution.classifier.w, solution.classifier.b
    worst = np.min([y * ((X + 0.2 * corner) @ w + b) for corner in corners], axis=0)
    value = np.linalg.norm(w, SLOPE[norm]) + 0.5 * np.maximum(1 - worst, 0).sum()
    assert value == pytest.approx(solution.value, rel=1e-8)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("what", ["radius", "C_plus"])
def test_its_path_within_eps_holds_single_solutions(norm, what, tmp_path):
    margins = MarginInNorm(*two_classes(3), norm=norm)
    given = {"theta": 2.0, "radius": 0.1, "C_plus": 0.3, "C_minus": 0.2}
    ends = {"radius": (0.02, 0.5), "C_plus": (0.05, 1.0)}[what]
    path = pc.trace(margins, eps=1e-3, progress=False, **{**given, what: ends})
    assert path.proof.passes()
    for at in np.linspace(*ends, 5).tolist():
        low, high = path.bounds(**{what: at})
        value = margins.solve(**{**given, what: at}).value
        assert low - 1e-9 <= value <= high + 1e-9
        w = path.at(**{what: at}).variables["w"]
        assert np.linalg.norm(w, SLOPE[norm]) <= path.at(**{what: at}).variables["s"] + 1e-12
    path.page(tmp_path / "page.html")
    assert "margin" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_what_is_no_norm_is_refused():
    with pytest.raises(pc.InputError, match=r"^norm must be one of l1, l2, linf, got 'nuclear'"):
        MarginInNorm(*two_classes(), norm="nuclear")
    with pytest.raises(pc.InputError, match=r"^radius must"):
        MarginInNorm(*two_classes()).solve(theta=1.0, radius=-0.1, C_plus=1.0, C_minus=1.0)
    with pytest.raises(pc.InputError, match=r"^theta must"):
        MarginInNorm.intercept(0.0, theta=0.0)
