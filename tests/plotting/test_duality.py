"""The duality picture: its bounds against fractions, its steps against the optimum, and what hands do in a browser."""

from __future__ import annotations

import json
from fractions import Fraction
from importlib.resources import files

import numpy as np
import pytest

import paretoclf as pc
from tests.oracles.browser import Browser, needs_browser
from tests.plotting.test_page import NODE, scripts_of
from tests.plotting.test_page_tracker import SHOW, in_browser, in_node

DUALITY = files("paretoclf.plotting").joinpath("duality.js").read_text(encoding="utf-8")
RUN = """
const out = sets.map(({X, y, costs, w, b, alpha}) => {
  const P = {X, y, c: capsOf(y, costs)}, used = balanced(P, alpha), near = back(P, alpha);
  const terms = threeTerms(P, w, b, used), best = bestIntercept(P, w);
  return {used, near, P: primal(P, w, b), D: dual(P, used), terms, best};
});
"""
STEPS = """
const out = sets.map(({X, y, costs}) => {
  const P = {X, y, c: capsOf(y, costs)}, seen = [];
  let alpha = P.c.map(() => 0);
  for (let k = 0; k < 400; k++) {
    const next = step(P, alpha);
    alpha = next.alpha;
    seen.push([dual(P, alpha), primal(P, next.w, next.b)]);
  }
  return {seen, alpha};
});
"""


def random_set(seed):
    """Few samples in the plane, with ties, duplicates, both labels on one point, a class of one sample."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 13))
    y = np.where(rng.random(n) < rng.uniform(0.1, 0.9), 1, -1)
    y[:2] = 1, -1
    X = rng.integers(-3, 4, (n, 2)) / 2 if seed % 2 else rng.normal(size=(n, 2)) + 10 * (seed % 3)
    if seed % 5 == 0:
        X[n // 2 :] = X[: n - n // 2]
    given = {"X": X.tolist(), "y": y.tolist(), "costs": rng.uniform(0.05, 2.0, 2).tolist()}
    return {**given, "w": rng.normal(size=2).tolist(), "b": rng.normal(), "alpha": rng.uniform(-0.5, 2, n).tolist()}


def exact(given, alpha):
    """Price and value in fractions."""
    X = [[Fraction(v) for v in row] for row in given["X"]]
    w, b, y = [Fraction(v) for v in given["w"]], Fraction(given["b"]), given["y"]
    caps = [Fraction(given["costs"][0 if label > 0 else 1]) for label in y]
    slacks = [max(Fraction(0), 1 - k * (w[0] * x[0] + w[1] * x[1] + b)) for k, x in zip(y, X, strict=True)]
    price = (w[0] ** 2 + w[1] ** 2) / 2 + sum(c * s for c, s in zip(caps, slacks, strict=True))
    a = [Fraction(v) for v in alpha]
    slope = [sum(ai * k * x[j] for ai, k, x in zip(a, y, X, strict=True)) for j in range(2)]
    return float(price), float(sum(a) - (slope[0] ** 2 + slope[1] ** 2) / 2), np.array([float(c) for c in caps])


@pytest.mark.skipif(NODE is None, reason="no node on this machine")
def test_price_value_and_the_three_terms_are_those_of_fractions():
    sets = [random_set(seed) for seed in range(200)]
    for given, found in zip(sets, in_node(DUALITY + RUN, sets), strict=True):
        price, value, caps = exact(given, found["used"])
        y = np.array(given["y"])
        for alpha in (found["used"], found["near"]):
            assert np.all(np.array(alpha) >= 0)
            assert np.all(np.array(alpha) <= caps)
            assert y @ alpha == pytest.approx(0, abs=1e-12)
        assert found["P"] == pytest.approx(price, rel=1e-12)
        assert found["D"] == pytest.approx(value, rel=1e-11, abs=1e-11)
        terms = [found["terms"]["turn"], *found["terms"]["beyond"], *found["terms"]["short"]]
        assert min(terms) >= -1e-12
        assert sum(terms) == pytest.approx(price - value, rel=1e-9, abs=1e-9)
        # The best intercept of these is best of many.
        f = np.array(given["X"]) @ given["w"]
        cost = [caps @ np.maximum(0, 1 - y * (f + b)) for b in (found["best"], *np.linspace(-20, 20, 401))]
        assert cost[0] <= min(cost) + 1e-9


@pytest.mark.skipif(NODE is None, reason="no node on this machine")
def test_steps_close_on_the_optimum():
    sets = [random_set(seed) for seed in range(40)]
    for given, found in zip(sets, in_node(DUALITY + STEPS, sets), strict=True):
        low, high = np.array(found["seen"]).T
        path = pc.trace(pc.TwoCSVM(given["X"], given["y"]), (0.0, 0.0), given["costs"])  # the value, not by steps
        optimum = path.value(1.0)
        assert np.all(np.diff(low) >= -1e-10)
        assert low.max() <= optimum + 1e-9 <= high.min() + 2e-9
        assert optimum - low[-1] <= 0.05 * optimum + 1e-9  # 400 steps of the simplest method


def test_the_page_loads_nothing_and_holds_the_samples(tmp_path):
    pc.plotting.duality_page(tmp_path / "page.html", feature_names=["</script>", "b"])
    page = scripts_of(tmp_path / "page.html")
    assert page.loads == []
    assert json.loads(page.texts["data"])["names"] == ["</script>", "b"]
    assert len(json.loads(page.texts["data"])["X"]) == 6
    assert len(DUALITY.splitlines()) < 100


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"X": [[0, 1]]}, "X and y must be given together"),
        ({"X": [[0, 1, 2], [1, 2, 3]], "y": [1, -1]}, "2 features"),
        ({"X": np.zeros((31, 2)), "y": [1] * 30 + [-1]}, "at most 30 samples"),
        ({"costs": (1, 0)}, "costs must be a finite positive number, got 0"),
        ({"costs": 3}, "costs must be a pair"),
        ({"feature_names": ["a"]}, "feature_names must be two names"),
    ],
)
def test_bad_input_is_refused_and_leaves_no_file(given, words, tmp_path):
    with pytest.raises(pc.InputError, match=words):
        pc.plotting.duality_page(tmp_path / "page.html", **given)
    with pytest.raises(pc.InputError, match=r"file must end in \.html"):
        pc.plotting.duality_page(tmp_path / "page.txt")
    assert not list(tmp_path.iterdir())


@needs_browser
def test_hands_move_classifier_multipliers_samples_and_costs(tmp_path):
    pc.plotting.duality_page(tmp_path / "page.html")
    drive = f"""<script>
      const out = [], pointer = (type, target, x, y) => target.dispatchEvent(
        new PointerEvent(type, {{bubbles: true, pointerId: 1, clientX: x, clientY: y}}));
      for (const id of ["plane", "alpha"]) $(id).setPointerCapture = () => {{}};
      const middle = e => {{ const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }};
      const pull = (id, part, dx, dy) => {{
        const [x, y] = middle($(id).querySelector(part));
        pointer("pointerdown", $(id).querySelector(part), x, y);
        pointer("pointermove", $(id), x + dx / 2, y + dy / 2);
        pointer("pointermove", $(id), x + dx, y + dy);
        pointer("pointerup", $(id), x + dx, y + dy);
        out.push(window.now);
      }};
      out.push(window.now);
      pull("plane", '[data-hold="tip"]', 20, 30);
      pull("plane", '[data-hold="foot"]', -25, 5);
      pull("alpha", '[data-a="2"]', 0, -20);
      pull("alpha", '[data-a="4"]', 0, 10);
      $("step").click(); out.push(window.now);
      for (let k = 0; k < 300; k++) $("step").click();
      out.push(window.now);
      pull("plane", '[data-hold="1"]', 40, 60);
      $("flip").click(); out.push(window.now);
      const field = document.querySelector('#costs input[data-k="0"]');
      field.value = "2"; field.dispatchEvent(new Event("change")); out.push(window.now);
      field.value = "-1"; field.dispatchEvent(new Event("change")); out.push($("trouble").textContent);
      $("again").click(); out.push(window.now);
      {SHOW}</script></body>"""
    text = (tmp_path / "page.html").read_text(encoding="utf-8").replace("</body>", drive)
    (tmp_path / "driven.html").write_text(text, encoding="utf-8")
    *seen, trouble, again = in_browser(tmp_path / "driven.html")
    assert trouble == "costs must be positive"
    assert (again["w"], again["moves"]) == (seen[0]["w"], 1)
    start, turned, shifted, one, two, stepped, closed, dragged, flipped, dearer = seen
    assert turned["w"] != start["w"]
    assert shifted["w"] == turned["w"]
    assert shifted["b"] != turned["b"]
    assert [each["moves"] for each in seen[:7]] == [1, 2, 3, 4, 5, 6, 306]  # a drag is one move
    assert start["D"] == turned["D"] == 0.0
    assert one["alpha"] != two["alpha"]
    assert stepped["P"] - stepped["D"] > closed["P"] - closed["D"]
    assert closed["high"] - closed["low"] < 1e-4
    assert dragged["problem"]["X"][1] != start["problem"]["X"][1]
    assert flipped["problem"]["y"][1] == -start["problem"]["y"][1]
    assert dearer["problem"]["costs"] == [2, 0.9]
    for each in (dragged, flipped, dearer):
        assert each["moves"] == 1  # of another problem no bound is kept
    for each in seen:
        problem = each["problem"]
        price, value, _ = exact({**problem, "w": each["w"], "b": each["b"]}, each["alpha"])
        assert each["P"] == pytest.approx(price, rel=1e-12)
        assert each["D"] == pytest.approx(value, rel=1e-12, abs=1e-12)
        assert sum(each["terms"]) == pytest.approx(each["P"] - each["D"], abs=1e-10)
        optimum = pc.trace(pc.TwoCSVM(problem["X"], problem["y"]), (0.0, 0.0), problem["costs"]).value(1.0)
        assert each["low"] <= optimum + 1e-9 <= each["high"] + 2e-9


@needs_browser
@pytest.mark.parametrize("touch", [False, True], ids=["mouse", "touch"])
def test_every_sample_and_both_handles_follow_the_pointer_that_presses_them(touch, tmp_path):
    pc.plotting.duality_page(tmp_path / "page.html")
    place_of = """(name => { const [x, y] = handles().find(each => each[0] === name).slice(1),
      p = new DOMPoint(x, y).matrixTransform($("plane").getScreenCTM()); return [p.x, p.y]; })"""
    with Browser(tmp_path / "profile", touch) as browser:
        browser.open(tmp_path / "page.html")
        browser.value('$("plane").scrollIntoView({block: "center"})')
        for name in (*range(6), '"foot"', '"tip"'):
            x, y = browser.value(f"{place_of}({name})")
            browser.drag([x + 3, y], [x + 13, y - 8])
            np.testing.assert_allclose(browser.value(f"{place_of}({name})"), [x + 10, y - 8], atol=0.1)
            assert browser.value("moves.length") == (1 if isinstance(name, int) else {'"foot"': 2, '"tip"': 3}[name])


@needs_browser
def test_what_is_beyond_the_picture_of_the_bounds_is_cut_off_and_not_drawn_at_its_edge(tmp_path):
    pc.plotting.duality_page(tmp_path / "page.html")
    with Browser(tmp_path / "profile") as browser:
        browser.open(tmp_path / "page.html")
        heights = browser.value(
            """(() => { setClassifier([30, 0], 0); moved(); for (let k = 0; k < 40; k++) once();
            return document.querySelector("#bounds g path[stroke='#009E73']").getAttribute("d").slice(1).split("L")
              .map(p => Number(p.split(" ")[1])); })()"""
        )
        prices = np.array(browser.value("moves.map(each => each[0])"))
        top = browser.value("Number(document.querySelector('#bounds clipPath rect').getAttribute('y'))")
        assert min(heights) < top - 1000  # far above the picture, and not on its upper edge
        scale = (heights[1] - heights[-1]) / (prices[1] - prices[-1])
        np.testing.assert_allclose(heights, heights[-1] + scale * (prices - prices[-1]), atol=0.02)
        # The arrow is drawn before the samples.
        order = browser.value(
            "[...document.querySelectorAll('#plane g > [data-hold]:not(.area)')].map(e => e.dataset.hold)"
        )
        assert order == ["tip", "foot", *map(str, range(6))]
