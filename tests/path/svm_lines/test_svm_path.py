"""Tests of `paretoclf.path.svm_lines.svm_path`: what is read along small paths, in fractions and by brute force."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.engine.sets import LEFT, MARGIN, RIGHT
from paretoclf.path.svm_lines import svm_path
from paretoclf.path.svm_lines.svm_path import check_certificates, proved, with_proved_values
from tests.oracles.exact import fractions
from tests.oracles.exact_criss_cross import criss_cross

RNG = np.random.default_rng(2)
Y = np.where(np.arange(14) < 6, 1.0, -1.0)
X = RNG.integers(-6, 7, (14, 2)) / 2 + 0.5 * Y[:, None]
NEW = RNG.normal(size=(5, 2))
INNER = np.linspace(0.013, 0.987, 23)
KINDS = {
    "linear": lambda: pc.trace(pc.TwoCSVM(X, Y), (0.3, 0.6), (1.7, 1.1)),
    "kernel": lambda: pc.trace(pc.TwoCSVM(X, Y, pc.RBF(1.0)), (0.3, 0.6), (1.7, 1.1)),
    "origin": lambda: pc.trace(pc.TwoCSVM(X, Y), (0, 0), (1.5, 1.0)),
    "nu": lambda: pc.trace(pc.TwoNuSVM(X, Y), nu=(0.25, 0.42), asymmetry=0.5),
    "hulls": lambda: pc.trace(pc.TwoNuSVM(X, Y), (1, 1), (0.8, 0.9)),
    "quantile": lambda: pc.trace(pc.QuantileSVM(X, Y), tau=(0.2, 0.8), lam=0.1),
}
every = pytest.mark.parametrize("kind", KINDS)
MADE = {}


def path_of(kind):
    if kind not in MADE:
        MADE[kind] = KINDS[kind]()
    return MADE[kind]


def places(path):
    """Places inside its pieces and on its knots, increasing."""
    low, high = path.t[0], path.t[-1]
    return np.unique(np.concatenate([path.t, low + (high - low) * INNER]))


def replayed(path):
    """Sets on each piece, by all changes one after the other."""
    state, sets = path.pieces.state.copy(), []
    changes = list(zip(*path.pieces.changes, strict=True))
    for j in range(path.t.size - 1):
        for piece, sample, new in changes:
            if piece == j:
                state[sample] = new
        sets.append(state.copy())
    return sets


def test_all_that_is_stored_is_what_fractions_say():
    path = path_of("linear")
    exact = criss_cross(
        fractions(X) @ fractions(X).T, Y, fractions(path.caps(0.0)), fractions(path.caps(1.0) - path.caps(0.0))
    )
    for t in INNER:
        at = Fraction(float(t))
        alpha = exact.alpha(at)
        w = (alpha * fractions(Y)) @ fractions(X)
        np.testing.assert_allclose(path.slope(t), w.astype(float), atol=1e-12)
        assert path.value(t) == pytest.approx(float(exact.value(at)), rel=1e-12)
        low, high = exact.intercepts(at)
        assert float(low) - 1e-9 <= path.intercept(t) <= float(high) + 1e-9
        np.testing.assert_allclose(path.slope(t), (Y * path.alpha(t)) @ X, atol=1e-12)
        assert abs(Y @ path.alpha(t)) < 1e-12
        margins = Y * (X @ path.slope(t) + path.intercept(t))
        sets = path.sets(float(t))
        assert (margins[sets == LEFT] <= 1 + 1e-9).all()
        assert (margins[sets == RIGHT] >= 1 - 1e-9).all()
        np.testing.assert_allclose(margins[sets == MARGIN], 1.0, atol=1e-9)
        np.testing.assert_array_equal(path.alpha(t)[sets == LEFT], path.caps(float(t))[sets == LEFT])


@every
def test_sets_are_those_of_all_changes_one_after_the_other(kind):
    path = path_of(kind)
    sets = replayed(path)
    for j, (state, (start, end)) in enumerate(zip(sets, pairwise(path.t.tolist()), strict=True)):
        np.testing.assert_array_equal(path._state(j), state)
        found, margin = path.basis(0.5 * (start + end))
        np.testing.assert_array_equal(found, state)
        np.testing.assert_array_equal(np.sort(margin), np.flatnonzero(state == MARGIN))
        np.testing.assert_array_equal(path.sets(start), state)
    names = {RIGHT: "R", LEFT: "L", MARGIN: "M"}
    events = iter(path.events)
    state = path.pieces.state.copy()
    for piece, sample, new in zip(*path.pieces.changes, strict=True):
        event = next(events)
        assert (event.t, event.name, event.sample) == (path.t[piece], f"alpha[{sample}]", sample)
        assert (event.before, event.after) == (names[int(state[sample])], names[int(new)])
        state[sample] = new
    assert next(events, None) is None
    expected = sorted({path.t[0], path.t[-1], *(event.t for event in path.events)})
    assert path.breakpoints.tolist() == expected
    sizes = [int((path.sets(t) == MARGIN).sum()) for t in expected[:-1]]
    assert path.n_margin.tolist() == sizes
    assert f"margin sets of up to {max(sizes)}" in repr(path)
    assert [row["sample"] for row in path._rows()] == [event.sample for event in path.events]
    first = next(path._rows())
    costs = path.costs(first["t"])
    assert ("C_plus" in first) is (costs is not None)
    assert costs is None or first["C_minus"] == costs.C_minus


@every
def test_one_walk_over_the_pieces_is_many_points(kind):
    path = path_of(kind)
    points = places(path)
    alpha, caps = path._expand(points)
    for k, t in enumerate(points.tolist()):
        np.testing.assert_allclose(alpha[:, k], path._stored(t), rtol=1e-14, atol=1e-300)
        np.testing.assert_allclose(caps[:, k], path.caps(t), rtol=1e-14)
    middle = path.t[-2]
    later = points[points > middle]  # sets at the first point are not those of the beginning
    np.testing.assert_allclose(path._expand(later)[0], alpha[:, points > middle], rtol=1e-14)
    some = points[::7]
    np.testing.assert_allclose(path._expand(some)[0], alpha[:, ::7], rtol=1e-14)


@every
def test_multipliers_are_within_their_box(kind):
    path = path_of(kind)
    for t in places(path).tolist():
        assert (path.alpha(t) >= 0.0).all()
        assert (path.alpha(t) <= path.caps(t)).all()
        np.testing.assert_allclose(path.alpha(t), path._stored(t), atol=1e-9 * (1 + path.caps(t).max()))
    # What rounding has put outside is put back where it is read, and judged as it is.
    pieces = path.pieces
    off = replace(path, pieces=replace(pieces, a0=pieces.a0 - 10.0, a1=pieces.a1 - 10.0))
    t = float(0.5 * (path.t[0] + path.t[1]))
    if path.basis(t)[1].size:
        assert off.alpha(t).min() == 0.0
        assert off._stored(t).min() < 0.0


@every
def test_rates_are_differences(kind):
    path = path_of(kind)
    lengths = np.diff(path.t)
    for j in np.argsort(lengths)[-3:]:
        t, h = float(path.t[j] + 0.4 * lengths[j]), 1e-4 * float(lengths[j])
        side = path.slopes(t).right

        def difference(read, t=t, h=h):
            return (read(t + h) - read(t - h)) / (2 * h)

        scale = 1e-6 * (1 + abs(side.value))
        assert side.value == pytest.approx(difference(path.value), rel=1e-5, abs=scale)
        for name in path.variables if kind in ("linear", "kernel", "origin") else ():
            expected = difference(path.slope if name == "w" else path.intercept)
            np.testing.assert_allclose(side.variables[name], expected, rtol=1e-4, atol=1e-5)
        expected = difference(path.alpha)
        np.testing.assert_allclose(side.duals["alpha"], expected, rtol=1e-4, atol=1e-5 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("kind", ["linear", "kernel", "origin"])
def test_scores_are_those_of_the_solutions(kind):
    path = path_of(kind)
    scores = path.scores(NEW)
    own = path.training_scores(np.arange(3))
    for t in INNER[::4].tolist():
        rule = path.at(t).classifier
        j = int(np.searchsorted(path.t, t, side="right")) - 1
        share = (t - path.t[j]) / (path.t[j + 1] - path.t[j])
        for found, points in ((scores, NEW), (own, X[:3])):
            ours = (1 - share) * found.start[:, j] + share * found.end[:, j]
            np.testing.assert_allclose(ours, rule.decision_function(points), atol=1e-9)
    compared = path.compare(3)
    assert compared.agrees(1e-7)


def test_certificates_are_of_knots_and_middles():
    path = path_of("linear")
    expected = sorted([*path.t.tolist(), *(0.5 * (path.t[:-1] + path.t[1:])).tolist()])
    assert path.certificate_points.tolist() == expected
    assert len(path.certificates()) == len(expected)
    assert all(each.passes(1e-9) for each in path.certificates())
    assert path.worst_certificate.passes(1e-9)
    assert path.certificate(0.3, exact=True).passes(1e-9)
    assert type(path.certificate(0.3, exact=True)) is not type(path.certificate(0.3))
    assert path.variables == ("w", "b")
    assert path_of("kernel").variables == ("b",)
    assert path.duals == ("alpha",)


# ---- how it is proved ------------------------------------------------------------------------------------------------


def moved(path, by):
    value = path.pieces.value.copy()
    value[1] = value[1] * [1 + by, 1 + by, 1.0]
    return replace(path, pieces=replace(path.pieces, value=value))


def test_stored_values_outside_their_bounds_by_rounding_are_those_that_are_proved(monkeypatch):
    path = path_of("linear")
    assert with_proved_values(path) is path
    wrong = moved(path, 1e-6)
    assert with_proved_values(wrong) is wrong  # more than rounding: an error
    with pytest.raises(pc.DegeneratePathError, match="the stored value is off by") as error:
        proved(wrong)
    assert f"{0.5 * (path.t[1] + path.t[2]):.4g}"[:5] in str(error.value)
    assert "It is proved from t = " in str(error.value)
    monkeypatch.setattr(type(path), "_value_rounding", lambda self: np.full(self.t.size - 1, 1.0))
    mended = proved(moved(path, 1e-6))
    np.testing.assert_allclose(mended.pieces.value, path.pieces.value, rtol=1e-9, atol=1e-9)
    assert mended.value(float(path.t[1])) == pytest.approx(path.value(float(path.t[1])), rel=1e-10)


def test_the_longest_run_that_is_proved_is_said():
    knots = np.arange(9) / 8

    def said(*failed):
        return svm_path._longest_proved(
            SimpleNamespace(proof=SimpleNamespace(t=knots), parameter="tau"), np.array(failed, dtype=int)
        )

    assert said(2) == "It is proved from tau = 0.375 to 1. "
    assert said(5) == "It is proved from tau = 0 to 0.625. "
    assert said(1, 6) == "It is proved from tau = 0.25 to 0.75. "
    assert said(0, 7) == "It is proved from tau = 0.125 to 0.875. "
    assert said(*range(8)) == ""


@pytest.mark.parametrize(
    ("t", "end", "last", "parameter", "behind"),
    [
        (1 - 1e-7, 1.0, 0.0, "t", True),
        (1 - 1e-5, 1.0, 0.0, "t", False),
        (1 - 1e-7, 0.9, 0.0, "t", False),
        (1 - 1e-7, 1.0, 1.0, "t", False),
        (1 - 1e-7, 1.0, 0.0, "nu", False),
    ],
)
def test_the_other_way_helps_where_costs_vanish_behind(t, end, last, parameter, behind):
    path = SimpleNamespace(
        pieces=SimpleNamespace(t=np.array([0.0, end])), parameter=parameter, caps=lambda t: np.array([1.0, last])
    )
    assert bool(svm_path._vanishes_behind(path, t)) is behind


def test_a_path_that_is_proved_is_not_refused():
    for kind in KINDS:
        assert check_certificates(path_of(kind)) is None


@every
def test_a_solver_finds_the_values_of_the_path_wherever_it_begins(kind):
    path = path_of(kind)
    found = path.compare(2)
    np.testing.assert_allclose(found.path, found.solver, rtol=1e-6)
    assert ((found.t >= path.t[0]) & (found.t <= path.t[-1])).all()


@every
def test_no_piece_is_shorter_than_what_the_data_tell_from_a_point(kind):
    path = path_of(kind)
    assert 0.0 < path._least < 1e-9
