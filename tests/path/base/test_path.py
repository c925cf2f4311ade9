"""One face: every kind of path is asked the same words, with the same arguments, and answers in the same types."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import ClassVar

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.engine.box import log_of
from paretoclf.engine.general import follow
from paretoclf.path.base import path as page
from paretoclf.path.base.path import OnSegments
from paretoclf.path.base.points import Event, PriceAlong, Slopes, SolverComparison
from paretoclf.path.programs.problem_path import trace_problem
from paretoclf.path.programs.program_path import OnLine
from paretoclf.path.programs.program_points import ProblemPoint
from paretoclf.path.svm_lines import svm_path
from paretoclf.path.svm_lines.stages import Stage, assemble
from paretoclf.path.svm_lines.svm_path import OnPieces, proved
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.proof.points.hinge import judge_hinge
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.verdicts.evidence import Evidence
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.sources.item_line import LineOfItems


def data(n=18, d=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 0.4 * n, 1.0, -1.0)
    return rng.normal(size=(n, d)) + 0.6 * y[:, None], y


X, Y = data()
APART = np.array([[2.0, 0.0], [1.0, 1.5], [-1.0, 0.0], [-2.0, 1.0]]), np.array([1.0, 1.0, -1.0, -1.0])


def lasso():
    w, lam = cp.Variable(2, name="w"), cp.Parameter(nonneg=True, name="lam")
    rule = (cp.sum(w) <= 2.5).set_label("sum")
    loss = cp.sum_squares(X @ w - Y) / 2 + cp.sum_squares(w) / 2 - 20 * cp.sum(w)
    return pc.trace(cp.Problem(cp.Minimize(loss + lam * cp.norm1(w)), [rule]), {lam: 60.0}, {lam: 0.0})


def portfolio():
    """A maximisation."""
    x, risk = cp.Variable(4, name="x"), cp.Parameter(nonneg=True, name="risk")
    gain = np.array([1.0, 0.7, 0.4, 0.1]) @ x - risk * cp.sum(x) * 0.1 - cp.sum_squares(x)
    return pc.trace(cp.Problem(cp.Maximize(gain), [(x >= 0).set_label("long"), cp.sum(x) <= 1]), {risk: 0}, {risk: 9})


def items():
    """A box, a soft row and an equation, of arrays."""
    rng = np.random.default_rng(1)
    B, n = rng.normal(size=(6, 5)), 5
    none, zero = np.full((2, n + 2), np.inf), np.zeros((2, n + 2))
    low, high = zero.copy(), zero + 1.0
    low[:, n], high[:, n], low[:, n + 1], high[:, n + 1] = -np.inf, [0.2, 0.1], 1.0, 1.0
    above = none.copy()
    above[:, n] = [0.5, 3.0]
    A, q = np.stack([np.arange(5.0), np.ones(5)]), rng.normal(size=(2, n))
    return trace_problem(LineOfItems(ParametricQP(B.T @ B, A, q, low, high, none, above)))


KINDS = {
    "ray": lambda: pc.trace(pc.TwoCSVM(X, Y), (0, 0), (3, 2)),
    "into an axis": lambda: pc.trace(pc.TwoCSVM(X, Y), (0, 1), (1, 0)),
    "kernel": lambda: pc.trace(pc.TwoCSVM(X, Y, kernel=pc.RBF(1.0)), (0.1, 1.9), (1.9, 0.1)),
    "costs of samples": lambda: pc.trace(
        pc.TwoCSVM(X, Y), pc.SampleCosts(np.ones(18)), pc.SampleCosts(np.linspace(1, 2, 18))
    ),
    "far samples": lambda: pc.trace(pc.TwoCSVM(X + 1e3, Y), (0.5, 1.5), (1.5, 1.5)),
    "quantile": lambda: pc.trace(pc.QuantileSVM(X, Y), tau=(0, 1), lam=0.1),
    "quantile, kernel": lambda: pc.trace(pc.QuantileSVM(X, Y, pc.RBF(1.0)), tau=(0.2, 0.9), lam=0.1),
    "quantile, bias": lambda: pc.trace(pc.QuantileSVM(X, Y, pc.RBF(1.0), bias=True), tau=(0.2, 0.9), lam=0.1),
    "nu": lambda: pc.trace(pc.TwoNuSVM(X, Y), nu=(0, None), asymmetry=0.5),
    "hulls": lambda: pc.trace(pc.TwoNuSVM(X, Y), (1, 1), (0.8, 0.9)),
    "soft margins": lambda: pc.trace(pc.BiobjectiveMargin(X, Y), theta=(0.5, 2), C_plus=1.0, C_minus=1.0),
    "hard margins": lambda: pc.trace(pc.BiobjectiveMargin(*APART, soft=False), theta=(0.5, 2)),
    "a formulation": lambda: pc.trace(pc.TwoCSVM(X, Y), C_plus=(0.5, 1.5), C_minus=1.5),
    "lasso": lasso,
    "portfolio": portfolio,
    "items": items,
}
WITHIN = {"within eps": lambda: pc.trace(pc.TwoCSVM(X, Y), C_plus=(0.5, 1.5), C_minus=1.5, eps=1e-4)}
ALL = KINDS | WITHIN


@pytest.fixture(scope="module")
def paths():
    return {}


@pytest.fixture
def path(paths, kind):
    if kind not in paths:
        paths[kind] = ALL[kind]()
    return paths[kind]


exact, every = pytest.mark.parametrize("kind", KINDS), pytest.mark.parametrize("kind", ALL)


def inner(path, k=5):
    """Points of the path that are no breakpoints."""
    ends = path.breakpoints
    j = np.linspace(0, ends.size - 2, min(k, ends.size - 1)).astype(int)
    return (ends[j] + 0.37 * (ends[j + 1] - ends[j])).tolist()


@every
@pytest.mark.parametrize("word", ["value", "along", "shadow_price", "slopes", "compare", "save", "plot"])
def test_a_word_has_the_same_arguments(path, word):
    own, ours = (inspect.signature(getattr(cls, word)) for cls in (type(path), OnSegments))
    assert [(p.name, p.kind, p.default) for p in own.parameters.values()] == [
        (p.name, p.kind, p.default) for p in ours.parameters.values()
    ]


@every
def test_at_and_page_begin_with_the_same_arguments(path):
    own, ours = (inspect.signature(cls.at).parameters.values() for cls in (type(path), OnSegments))
    assert [(p.kind, p.default) for p in own] == [(p.kind, p.default) for p in ours]
    assert list(inspect.signature(type(path).page).parameters)[:3] == ["self", "file", "title"]


@every
def test_where_it_is_and_what_it_is_called(path):
    assert np.array_equal(path.breakpoints, np.unique(path.breakpoints))
    assert path.breakpoints[0] == path.t[0]
    assert path.breakpoints[-1] == path.t[-1]
    assert set(path.breakpoints) <= set(path.t)
    name, first, last = path.axis
    assert name in ("t", *path.parameters(float(path.t[0])))
    low = float(path.t[0])
    if name != "t":
        assert path.parameters(low)[name] == pytest.approx(first + low * (last - first))
    assert path.status == "end"
    assert path.beyond is None
    assert not {*path.variables} & {*path.duals}


@pytest.mark.parametrize("kind", ["ray", "far samples", "kernel", "quantile, bias", "nu", "soft margins", "within eps"])
def test_the_rule_is_that_of_the_point(path):
    new = X[:5] + 0.1
    for t in inner(path, 2):
        assert path.rule(t).decision_function(new) == pytest.approx(path.scores(new)(t), abs=1e-8)


@every
def test_a_value_is_that_of_the_point(path):
    t = np.array(inner(path))
    values = path.value(t)
    assert values.shape == t.shape
    np.testing.assert_array_equal(path.value(np.stack([t, t])), np.stack([values, values]))
    for at, value in zip(t.tolist(), values.tolist(), strict=True):
        assert isinstance(path.value(at), float)
        assert path.value(at) == value == pytest.approx(path.at(at).value, rel=1e-8, abs=1e-12)


def points(path):
    t = np.array(inner(path))
    both = path.at(np.stack([t, t[::-1]]))
    assert both.shape == (2, t.size)
    assert path.at(t.tolist()).shape == t.shape
    assert path.at([]).shape == (0,)
    for k, at in enumerate(t.tolist()):
        alone = path.at(at)
        for each in (both[0, k], both[1, t.size - 1 - k]):
            assert type(each) is type(alone)
            assert each.value == alone.value
    for name, (first, last) in path._moving.items():
        there = first + t * (last - first)
        values = [each.value for each in path.at(**{name: there})]
        np.testing.assert_allclose(values, path.value(t), rtol=1e-7, atol=1e-12)
    beyond = float(path.t[-1]) + 3.0
    with pytest.raises(pc.InputError, match=rf"must lie (between|in) .*, got {re.escape(repr(beyond))}$"):
        path.at([*t, beyond])
    with pytest.raises(pc.InputError, match=r"must be a number.*'half'"):
        path.at(["half"])
    with pytest.raises(pc.InputError, match=r"must be given, got none$|must be a number, got None$"):
        path.at()


@every
def test_an_array_of_t_gives_an_array_of_points_of_its_shape(path):
    points(path)


def test_an_array_of_t_along_a_curve():
    w, mu = cp.Variable(2, name="w"), cp.Parameter(nonneg=True, name="mu")
    ridge = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - Y) / 2 + mu * cp.sum_squares(w) / 2))
    points(pc.trace(ridge, {mu: 1.0}, {mu: 5.0}, curve=True))


@every
def test_a_number_that_moves_may_stand_in_place_of_t(path):
    t = inner(path)[0]
    for name in ("t", *path._moving, *(["theta"] if "theta" in path.parameters(t) else [])):
        there = t if name == "t" else path.parameters(t)[name]
        assert path.value(**{name: there}) == pytest.approx(path.value(t), rel=1e-12)
        assert path.at(**{name: there}).value == pytest.approx(path.at(t).value, rel=1e-9)
        np.testing.assert_allclose(path.value(**{name: [there, there]}), path.value([t, t]), rtol=1e-12)
    with pytest.raises(pc.InputError, match=r"^one of .* must be given, got nothing_such$"):
        path.value(nothing_such=1.0)
    with pytest.raises(pc.InputError, match=r"^one of .* must be given, got "):
        path.at(t, nothing_such=1.0)


@every
def test_events_are_changes_where_it_bends(path):
    assert isinstance(path.events, tuple)
    for event in path.events:
        assert isinstance(event, Event)
        assert event.t in path.breakpoints
        assert event.before != event.after
        assert str(event).endswith(f": {event.name} {event.before} -> {event.after}")
        name = event.name.partition("[")[0]
        assert name in (*path.variables, *path.duals) or event.name in getattr(path, "items", ())
    assert list(path.events) == sorted(path.events, key=lambda event: event.t)


@exact
def test_a_table_begins_with_t_and_what_moves(path):
    rows = path.records()
    if isinstance(path, OnLine):
        assert list(dict.fromkeys(row["t"] for row in rows)) == path.breakpoints.tolist()
        assert [row["value"] for row in rows] == [path.value(row["t"]) for row in rows]
        for row in rows:
            changes = [f"{event.name} {event.after}" for event in path.events if event.t == row["t"]]
            assert row["events"] == "; ".join(dict.fromkeys(changes))
            numbers = [name for name, value in path.parameters(row["t"]).items() if np.ndim(value) == 0 and name != "t"]
            assert list(row)[: 2 + len(numbers)] == ["t", *numbers, "value"]
        return
    assert len(rows) == len(path.events)
    for row, event in zip(rows, path.events, strict=True):
        numbers = [name for name, value in path.parameters(event.t).items() if np.ndim(value) == 0 and name != "t"]
        assert list(row)[: 1 + len(numbers)] == ["t", *numbers]
        assert (row["t"], row["name"], row["before"], row["after"]) == (event.t, event.name, event.before, event.after)


@exact
def test_rates_are_those_of_differences(path):
    """Between breakpoints, on both sides; what is read at t is what `along` has."""
    for t in inner(path):
        slopes = path.slopes(t)
        assert isinstance(slopes, Slopes)
        assert slopes.t == t
        k = int(np.searchsorted(path.t, t, side="right"))
        assert (slopes.left.until, slopes.right.until) == (path.t[k - 1], path.t[k])
        h = 1e-3 * (path.t[k] - path.t[k - 1])
        rate = (path.value(t + h) - path.value(t - h)) / (2.0 * h)
        scale = abs(path.value(t)) / h
        for side in (slopes.left, slopes.right):
            assert side.value == pytest.approx(rate, rel=1e-5, abs=1e-13 * scale + 1e-12)
            assert list(side.variables) == list(path.variables)
            assert list(side.duals) == list(path.duals)
        for name, rate in {**slopes.right.variables, **slopes.right.duals}.items():
            first, last = (
                np.asarray(path._read(name, k - 1, np.array([0.37]), np.array([at]))[0]) for at in (t - h, t + h)
            )
            if path.events and not hasattr(path, "program"):
                np.testing.assert_allclose(
                    rate, (last - first) / (2.0 * h), rtol=1e-5, atol=1e-12 * np.abs(last).max(initial=1.0) / h
                )
            at, values = path.along(name, 3)
            piece = slice(3 * (k - 1), 3 * k)
            low, middle, high = values[piece]
            length = at[piece][-1] - at[piece][0]
            size = max(float(np.abs(values[piece]).max(initial=0.0)), 1e-3)
            if name not in path.bent:
                np.testing.assert_allclose(rate, (high - low) / length, atol=1e-9 * size / length)
                np.testing.assert_allclose(middle, 0.5 * (low + high), atol=1e-9 * size)


@exact
def test_rates_for_a_unit_of_what_moves(path):
    t = inner(path)[0]
    for name, (first, last) in path._moving.items():
        one, per = path.slopes(t).right, path.slopes(t, per=name)
        assert per.right.value == pytest.approx(one.value / (last - first), rel=1e-12, abs=1e-300)
        assert per.t == pytest.approx(path.parameters(t)[name])
        assert per.right.until == pytest.approx(path.parameters(one.until)[name])
    with pytest.raises(pc.InputError, match=r"^per must be a parameter that is a number and moves"):
        path.slopes(t, per="nothing")


@exact
def test_there_is_no_side_beyond_an_end(path):
    first, last = path.breakpoints[[0, -1]]
    assert path.slopes(float(first)).left is None
    assert path.slopes(float(first)).right is not None
    assert path.slopes(float(last)).right is None


@every
def test_a_price_is_the_multiplier_at_the_point(path):
    for name in path.duals:
        price = path.shadow_price(name)
        assert isinstance(price, PriceAlong)
        assert price.constraint == name
        for t in inner(path) if name not in path.bent else ():
            point = path.at(t)
            own = point.duals[name] if hasattr(point, "duals") else point.alpha
            np.testing.assert_allclose(price(t), own, atol=1e-9 * (1.0 + np.abs(own).max()))
    with pytest.raises(pc.InputError, match=r"^constraint must be one whose multiplier is known, one of"):
        path.shadow_price("nothing")
    with pytest.raises(pc.InputError, match=r"^name must be that of a variable or constraint, one of"):
        path.along("nothing")


@every
def test_it_is_proved(path):
    assert path.proof.passes()
    assert isinstance(path.proof.explain(), str)
    assert path.proof.gap.shape == (path.t.size - 1,)


@every
def test_a_file_holds_it(path, tmp_path):
    path.save(tmp_path / "path")
    again = pc.load(tmp_path / "path.npz")
    assert type(again) is type(path)
    assert again.events == path.events
    t = np.array(inner(path))
    np.testing.assert_array_equal(again.value(t), path.value(t))


@every
def test_pictures_and_a_page(path, tmp_path):
    for what in (None, "value", *(["variables"] if path.variables else []), *(["duals"] if path.duals else [])):
        path.plot(what)
    ax = plt.figure().add_subplot()
    assert path.plot("value", ax=ax).ax_ is ax
    plt.close("all")
    if "value" in path.bent:
        with pytest.raises(pc.InputError, match=r"^no page for a NuPath"):
            path.page(tmp_path / "page.html", "a title")
        return
    path.page(tmp_path / "page.html", "a title")
    assert "a title" in (tmp_path / "page.html").read_text(encoding="utf-8")


@every
def test_clarabel_finds_the_same_values(path, kind):
    found = path.compare(4, rng=3)
    assert isinstance(found, SolverComparison)
    assert found.t.shape == found.path.shape == found.solver.shape == (4,)
    largest = float(np.abs(path.value(path.breakpoints)).max())
    assert np.abs(found.path - found.solver).max() <= (2e-4 if kind in WITHIN else 1e-8) * max(largest, 1e-2)


# ---- two public answers about one thing ----------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.0, 30.0])
def test_the_path_of_costs_and_the_path_of_its_model_are_one(offset):
    """The same line, by the tracker of samples and by the engine of any program, in the same words."""
    svm = pc.TwoCSVM(X + offset, Y)
    costs, model = pc.trace(svm, (0.5, 1.5), (1.5, 1.5)), pc.trace(svm, C_plus=(0.5, 1.5), C_minus=1.5)
    assert costs.axis == model.axis == ("C_plus", 0.5, 1.5)
    for t in np.linspace(0.013, 0.987, 7).tolist():
        assert costs.value(t) == pytest.approx(model.value(t), rel=1e-9)
        one, other = costs.slopes(t, per="C_plus").right, model.slopes(t, per="C_plus").right
        assert one.value == pytest.approx(other.value, rel=1e-7)
        assert one.value == pytest.approx(costs.shadow_prices(t).C_plus, rel=1e-7)
        np.testing.assert_allclose(one.variables["w"], other.variables["w"], atol=1e-6)
        np.testing.assert_allclose(one.duals["alpha"], other.duals["margin"], atol=1e-6)
        np.testing.assert_allclose(costs.shadow_price("margin")(t), model.shadow_price("margin")(t), atol=1e-7)
    for path in (costs, model):
        assert path.along("w")[1].shape[1:] == (2,)
        assert path.along("margin")[1].shape[1:] == Y.shape


@pytest.mark.parametrize("kind", ["ray", "kernel", "costs of samples"])
def test_the_slope_of_the_value_is_the_price_of_the_costs(path):
    """On the right of every breakpoint, kinks included: the weighted slacks times how fast the costs move."""
    for t in path.breakpoints[1:-1].tolist():
        prices, (first, last) = path.shadow_prices(t), (path.costs(0.0), path.costs(1.0))
        if isinstance(first, pc.SampleCosts):
            expected = float(prices.samples @ (last.values - first.values))
        else:
            expected = prices.C_plus * (last.C_plus - first.C_plus) + prices.C_minus * (last.C_minus - first.C_minus)
        assert path.slopes(t).right.value == pytest.approx(expected, rel=1e-8, abs=1e-9)


def test_no_side_is_shorter_than_what_the_costs_can_tell():
    """Next to t = 1 a piece of one double is known by its ends only; the side is the piece before it."""
    rng = np.random.default_rng([3, 105])
    n, d = int(rng.integers(6, 13)), int(rng.integers(2, 4))
    A, y = rng.integers(-4, 5, (n, d)).astype(float), np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    powers = rng.permutation([0, 30, int(rng.integers(0, 30))])
    A = A * np.resize(2.0**powers, d) / 2.0 ** int(rng.integers(0, 16))
    path = pc.trace(pc.TwoCSVM(A, y), (1.0, 2.0), (0.0, 3.0))
    assert np.diff(path.t)[-1] == 2.0**-53
    left = path.slopes(1.0).left
    assert 1.0 - left.until > 1e-13
    u = 0.5 * (1.0 + left.until)
    assert left.value == pytest.approx((path.value(1.0) - path.value(u)) / (1.0 - u), rel=1e-5)
    assert path.shadow_price("alpha").t.size == 2 * path.long_segments.size < 2 * (path.t.size - 1)


def test_what_stands_still_is_read_as_it_stands():
    """x goes up at the price 1, y stays at 1: no rounding of shares shows, wherever between two breakpoints t is."""
    x, y, th = cp.Variable(name="x"), cp.Variable(name="y"), cp.Parameter(name="th")
    rows = [(x >= th).set_label("low"), x >= 1 / 3, y >= 1]
    path = pc.trace(cp.Problem(cp.Minimize(x + y), rows), {th: 0.0}, {th: 1.0}, progress=False)
    price, t = path.shadow_price("low"), np.random.default_rng(0).uniform(0.34, 1.0, 200).tolist()
    assert {path.at(u).variables["y"] for u in t} == {price(u) for u in t} == {1.0}
    assert set(path.along("y", 50)[1].tolist()) == {1.0}


# ---- what a new kind of path implements ----------------------------------------------------------------------------


def implemented(cls):
    """Names that a class leaves to its kinds: what raises NotImplementedError, or is declared without a value."""
    members = {name: getattr(member, "fget", member) for name, member in vars(cls).items()}
    functions = {name: member for name, member in members.items() if inspect.isfunction(member)}
    asked = {name for name, member in functions.items() if "NotImplementedError" in member.__code__.co_names}
    declared = {n for n in cls.__annotations__ if n not in vars(cls)} if cls is OnSegments else set()
    return asked | declared


def listed(text):
    """Names in the first column of tables."""
    return set(re.findall(r"^``(\w+)", text, re.MULTILINE))


IMPLEMENT, REPLACE = map(listed, page.__doc__.split("Defaults of"))
REPLACE_ON_PIECES = listed(svm_path.__doc__)


def test_a_kind_implements_at_most_15_names_and_the_page_lists_them():
    asked = implemented(OnSegments) | implemented(OnPieces)
    assert asked == IMPLEMENT
    assert len(asked) <= 15
    assert implemented(OnPieces) == {"caps", "soft_margin", "_whole_line"}  # the others are implemented there


def replaced(cls, base):
    """Names of a base that a class, or one between the two, gives a meaning of its own."""
    between = cls.__mro__[: cls.__mro__.index(base)]
    own = {name for each in between for name in (*vars(each), *inspect.get_annotations(each))}
    return {name for name in own & set(vars(base)) if not name.startswith("__")}


def test_a_kind_replaces_only_the_defaults_that_are_listed(paths):
    kinds = {type(paths.get(kind) or ALL[kind]()) for kind in ALL}
    on_pieces = {kind for kind in kinds if issubclass(kind, OnPieces)}
    by_all = set().union(*(replaced(kind, OnSegments) for kind in (*kinds, OnPieces)))
    by_samples = set().union(*(replaced(kind, OnPieces) for kind in on_pieces))
    assert by_all - IMPLEMENT <= REPLACE
    assert by_samples - IMPLEMENT <= REPLACE | REPLACE_ON_PIECES
    # Nothing is listed that nobody replaces.
    assert by_all >= REPLACE
    assert by_samples | by_all >= REPLACE_ON_PIECES


class Tracking(OnSegments):
    """min (x - s)^2 / 2 over x <= 1, s from 0 to 2: x follows s up to the cap, whose multiplier is s - 1 from there."""

    t = np.array([0.0, 0.5, 1.0])
    variables, duals = ("x",), ("cap",)
    events = (Event(0.5, "x", "free", "at its upper bound"),)
    proof = None
    _moves: ClassVar = {"s": (0.0, 2.0)}

    def _at(self, t):
        x, multiplier = (self._read(name, 0, None, np.array([t]))[0] for name in ("x", "cap"))
        return ProblemPoint(t, self._value(t), self.parameters(t), {"x": x}, {"cap": multiplier})

    def _value(self, t):
        return max(2 * t - 1, 0.0) ** 2 / 2

    def _read(self, name, j, share, t):
        return [min(2 * u, 1.0) if name == "x" else max(2 * u - 1, 0.0) for u in t.tolist()]

    def _rates(self, j, t):
        return 2 * max(2 * t - 1, 0.0), {"x": 2.0 * (j == 0)}, {"cap": 2.0 * (j == 1)}

    def _arrays(self):
        return {"t": self.t}

    def _by_a_solver(self, t):
        x, s = cp.Variable(), cp.Parameter()
        problem = cp.Problem(cp.Minimize(cp.square(x - s) / 2), [x <= 1])
        values = []
        for s.value in 2 * t:
            values.append(problem.solve(solver=cp.CLARABEL))
        return np.array(values)


def test_a_new_kind_can_be_asked_everything(tmp_path):
    path = Tracking()
    assert path.breakpoints.tolist() == [0.0, 0.5, 1.0]
    assert path.axis == ("s", 0.0, 2.0)
    assert (path.at(s=1.5).variables, path.at(0.75).duals, path.value(s=1.5)) == ({"x": 1.0}, {"cap": 0.5}, 0.125)
    np.testing.assert_array_equal(path.value([0.5, 1.0]), [0.0, 0.5])
    slopes = path.slopes(s=1.0, per="s")
    assert (slopes.left.variables, slopes.right.duals, slopes.right.until) == ({"x": 1.0}, {"cap": 1.0}, 2.0)
    assert path.along("x")[1].tolist() == [0.0, 1.0, 1.0, 1.0]
    assert path.shadow_price("cap")(0.75) == 0.5
    assert path.records() == [{"t": 0.5, "s": 1.0, "name": "x", "before": "free", "after": "at its upper bound"}]
    assert np.abs(path.compare(3).path - path.compare(3).solver).max() < 1e-8
    path.save(tmp_path / "path.npz")
    assert np.load(tmp_path / "path.npz")["t"].tolist() == path.t.tolist()
    path.plot()
    plt.close("all")
    with pytest.raises(pc.InputError, match=r"^s must lie between 0 and 2, got 3.0$"):
        path.at(s=3.0)
    with pytest.raises(pc.InputError, match=r"^scores needs a classifier at every t, and a Tracking has none$"):
        path.scores(X)


@dataclass(frozen=True, repr=False)
class Homogeneous(OnPieces):
    """The SVM without intercept, from one cost of all samples to another."""

    ends: tuple[float, float]

    equations = 0

    @property
    def variables(self):
        return super().variables[:-1]  # no intercept

    @property
    def _whole_line(self):
        return SimpleNamespace(problem=problem_without_intercept(self.gram, self.y, self.ends))

    @property
    def soft_margin(self):
        return SoftMargin.of(self.gram, self.y, np.outer(self.ends, np.ones(self.y.size)), intercept="none")

    def caps(self, t):
        return np.full(self.y.size, (1 - t) * self.ends[0] + t * self.ends[1])

    def _at(self, t):
        problem = replace(self.soft_margin, caps=self.caps(t))
        judged = judge_hinge(problem, self._stored(t), self._intercept(t), self._stored_slope(t))
        return Solution(self._rule_at(t), Evidence(judged), "path")

    def _arrays(self):
        return {**super()._arrays(), "ends": np.array(self.ends)}


def problem_without_intercept(gram, y, ends):
    caps, no_rows = np.outer(ends, np.ones(y.size)), np.zeros((0, y.size))
    return ParametricQP.box(Signed(gram.quadratic, y), np.ones(y.size), no_rows, caps)


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)], ids=["linear", "rbf"])
def test_a_new_kind_of_samples_is_proved(kernel):
    gram, ends = pc.Gram(X, kernel), (0.05, 3.0)
    problem = problem_without_intercept(gram, Y, ends)
    log = log_of(follow(problem, progress=False).path)
    found = log, [Stage(0, log.segments, 0.0, 1.0)], log, []
    path = proved(Homogeneous(gram, Y, ends, pieces=assemble(found, None, bool(gram.quadratic.width))))
    assert path.breakpoints.size > 5
    assert path.proof.passes()
    assert path.certificate(0.3, exact=True).passes()
    assert path.compare(3).agrees(1e-7)
    for t in inner(path):
        assert path.at(t).certificate.passes()
        assert path.at(t).classifier.decision_function(X) == pytest.approx(path.scores(X)(t), abs=1e-12)
        h = 1e-6
        assert path.slopes(t).right.value == pytest.approx((path.value(t + h) - path.value(t)) / h, rel=1e-4)
