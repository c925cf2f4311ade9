"""The page that recomputes: its tracker against fractions; what it shows of a change, in Node and in a browser."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from fractions import Fraction
from importlib.resources import files

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.engine.start import Data
from paretoclf.engine.textbook import Walk
from paretoclf.problem.parametric_qp import INSIDE, LOWER, UPPER, ParametricQP
from tests.oracles.browser import BROWSER, Browser, needs_browser
from tests.oracles.exact import fractions
from tests.plotting.test_page import scripts_of

NODE = shutil.which("node")
TRACKER = files("paretoclf.plotting").joinpath("tracker.js").read_text(encoding="utf-8")
RUN = """
const out = sets.map(s => trace(s.X, s.y, null, s.start, s.stop).segments.map(each => each.t1));
"""


def random_set(seed):
    """Few integers in the plane: ties, duplicates, both labels on one point."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    y = np.where(rng.random(n) < rng.uniform(0.2, 0.8), 1, -1)
    y[:2] = 1, -1
    X = rng.integers(-2, 3, (n, 2)) if seed % 2 else rng.integers(-50, 51, (n, 2))
    if seed % 3 == 0:
        X[n // 2 :] = X[: n - n // 2]
    ends = rng.integers(1, 9, 4) / np.array([8, 8, 4, 4])
    return {"X": X.tolist(), "y": y.tolist(), "start": ends[:2].tolist(), "stop": ends[2:].tolist()}


def exact_breakpoints(given):
    """Of the same three lines, from the same basis, by the textbook tracker in fractions."""
    X, y = fractions(given["X"]), fractions(given["y"])
    n, n_plus = len(y), sum(label > 0 for label in given["y"])
    start, stop = ([Fraction(cost) for cost in given[name]] for name in ("start", "stop"))
    hub = [Fraction(n - n_plus, n) * sum(start), Fraction(n_plus, n) * sum(start)]

    def caps(costs):
        return np.array([costs[0] if label > 0 else costs[1] for label in given["y"]], dtype=object)

    labels = np.array([UPPER] * n + [LOWER])
    labels[given["y"].index(1)] = INSIDE
    for a, b in (([Fraction(0)] * 2, hub), (hub, start), (start, stop)):
        line = np.stack([caps(a), caps(b)])
        walk = Walk(Data.of(ParametricQP.box(np.outer(y, y) * (X @ X.T), 0 * y + 1, y[None], line)), labels)
        found, labels = walk.follow(10_000), walk.labels
        assert found.status == "end"
    return [float(t) for t in found.t[1:]]


def in_node(code, given):
    script = f"{code}\nconsole.log(JSON.stringify(out));"
    done = subprocess.run(
        [NODE, "-e", f'const sets = JSON.parse(require("fs").readFileSync(0, "utf-8"));{script}'],
        input=json.dumps(given), capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def in_browser(page):
    """What a page leaves in the element `seen`."""
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return json.loads(html.unescape(re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)[1]))


SHOW = """
const pre = document.createElement("pre");
pre.id = "seen";
pre.textContent = JSON.stringify(out);
document.body.append(pre);
"""


def agree(found, sets):
    for given, mine in zip(sets, found, strict=True):
        theirs = exact_breakpoints(given)
        assert len(mine) == len(theirs), given
        np.testing.assert_allclose(mine, theirs, atol=1e-9)


@pytest.mark.skipif(NODE is None, reason="no node on this machine")
def test_breakpoints_are_those_of_fractions():
    sets = [random_set(seed) for seed in range(80)]
    agree(in_node(TRACKER + RUN, sets), sets)


@pytest.mark.slow
@needs_browser
def test_breakpoints_are_those_of_fractions_in_a_browser(tmp_path):
    sets = [random_set(seed) for seed in range(1000)]
    page = tmp_path / "sets.html"
    code = f"const sets = {json.dumps(sets)};{TRACKER}{RUN}{SHOW}"
    page.write_text(f"<!DOCTYPE html><html><body><script>{code}</script></body></html>", encoding="utf-8")
    agree(in_browser(page), sets)


def samples(n=16, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    return rng.normal(size=(n, 2)) + 0.6 * y[:, None], y


EDIT = """
const path = (d, edit) => {
  const next = pathData(d, edit), found = makePath(next);
  const points = times.map(t => ({...found.at(t), grid: found.grid(t)}));
  return [points, ratesAlong(next, found, edit.held, ""), next.residual];
};
const [data, edit, times] = sets, out = path(data, edit);
"""


@pytest.mark.skipif(NODE is None, reason="no node on this machine")
@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)])
def test_a_change_shows_what_python_finds_of_the_changed_samples(kernel, tmp_path):
    X, y = samples()
    Z, z = samples(40, seed=1)
    pc.trace(pc.TwoCSVM(X, y, kernel), (0.2, 1.8), (1.8, 0.2)).page(tmp_path / "page.html", X=Z, y=z)
    page = scripts_of(tmp_path / "page.html")
    data = json.loads(page.texts["data"])
    edit = data["edit"]
    assert (edit["bandwidth"], edit["start"]) == (None if kernel is None else 1.0, pytest.approx([0.2, 1.8]))
    edit["X"][3], edit["y"][5], edit["stop"] = [0.25, -0.5], -edit["y"][5], [3.0, 0.5]
    times = [0.0, *np.random.default_rng(2).uniform(size=8), 1.0]
    points, rates, residual = in_node(page.texts["tracker"] + page.texts["path"] + EDIT, [data, edit, times])
    X[3], y[5] = edit["X"][3], edit["y"][5]
    path = pc.trace(pc.TwoCSVM(X, y, kernel), (0.2, 1.8), (3.0, 0.5))
    assert residual < 1e-9
    for point in points:
        t = point["t"]
        solution = path.at(t)
        assert point["value"] == pytest.approx(path.value(t), rel=1e-9)
        assert point["dual"] <= point["value"] * (1 + 1e-9) <= point["primal"] * (1 + 1e-8)
        assert point["gap"] < 1e-9
        low, high = solution.classifier.b_interval
        assert low - 1e-7 <= point["b"] <= high + 1e-7
        assert point["costs"] == pytest.approx(list(path.costs(t)))
        at = [[u, v] for v in data["grid"]["y"] for u in data["grid"]["x"]]
        scores = solution.classifier.decision_function(at) - solution.classifier.b
        np.testing.assert_allclose(np.array(point["grid"]) - point["b"], scores, atol=1e-6)
    for k in range(0, len(rates["t"]), 60):
        predicted = path.at(rates["t"][k]).classifier.predict(Z)
        assert rates["fpr"][k] == pytest.approx(np.mean(predicted[z < 0] > 0), abs=1 / 20 + 1e-9)  # ties of rounding


def test_what_the_page_does_not_follow_it_does_not_offer(tmp_path):
    X, y = samples(40)
    few = slice(0, 12)
    cases = {
        "many samples": (pc.TwoCSVM(X, y), (0.2, 1.8), (1.8, 0.2)),
        "a cost of zero": (pc.TwoCSVM(X[few], y[few]), (0.0, 1.8), (1.8, 0.2)),
        "weights": (pc.TwoCSVM(X[few], y[few], sample_weight=np.linspace(1, 2, 12)), (0.2, 1.8), (1.8, 0.2)),
        "another kernel": (pc.TwoCSVM(X[few], y[few], pc.Polynomial(2)), (0.2, 1.8), (1.8, 0.2)),
        "three features": (pc.TwoCSVM(np.c_[X, X[:, 0] ** 2][few], y[few]), (0.2, 1.8), (1.8, 0.2)),
    }
    for name, (svm, start, stop) in cases.items():
        pc.trace(svm, start, stop).page(tmp_path / "page.html")
        page = scripts_of(tmp_path / "page.html")
        assert json.loads(page.texts["data"])["edit"] is None, name
        assert page.texts["tracker"].strip() == ""


@needs_browser
def test_a_browser_drags_flips_and_asks_for_other_costs(tmp_path):
    X, y = samples()
    pc.trace(pc.TwoCSVM(X, y), (0.2, 1.8), (1.8, 0.2)).page(tmp_path / "page.html")
    drive = (
        """<script>
      const out = [], plane_ = document.getElementById("plane");
      const pointer = (type, target, x, y) => target.dispatchEvent(
        new PointerEvent(type, {bubbles: true, pointerId: 1, clientX: x, clientY: y}));
      plane_.setPointerCapture = () => {};
      const dot_ = plane_.querySelector('[data-hold="4"]'), r = dot_.getBoundingClientRect();
      pointer("pointerdown", dot_, r.x + r.width / 2, r.y + r.height / 2);
      pointer("pointermove", plane_, r.x + 30, r.y + 20); pointer("pointerup", plane_, r.x + 30, r.y + 20);
      out.push({...window.now, X: d.edit.X, y: d.edit.y, costs: [d.edit.start, d.edit.stop]});
      document.getElementById("flip").click();
      out.push({...window.now, X: d.edit.X, y: d.edit.y, costs: [d.edit.start, d.edit.stop]});
      const field = document.querySelector('#edit input[data-end="stop"]');
      field.value = "4"; field.dispatchEvent(new Event("change"));
      out.push({...window.now, X: d.edit.X, y: d.edit.y, costs: [d.edit.start, d.edit.stop]});
      field.value = "-1"; field.dispatchEvent(new Event("change"));
      out.push(document.getElementById("trouble").textContent);
      document.getElementById("undo").click();
      out.push(window.now.value);"""
        + SHOW
        + "</script></body>"
    )
    driven = tmp_path / "driven.html"
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    driven.write_text(text.replace("</body>", drive), encoding="utf-8")
    *seen, trouble, value = in_browser(driven)
    assert trouble == "costs must be positive"
    assert value == pytest.approx(pc.trace(pc.TwoCSVM(X, y), (0.2, 1.8), (1.8, 0.2)).value(0.5), rel=1e-9)
    assert np.abs(np.array(seen[0]["X"]) - X).max(axis=1).nonzero()[0].tolist() == [4]
    assert seen[1]["y"][4] == -y[4]
    assert seen[2]["costs"][1] == [4, 0.2]
    for each in seen:
        path = pc.trace(pc.TwoCSVM(each["X"], each["y"]), *each["costs"])
        assert each["value"] == pytest.approx(path.value(0.5), rel=1e-9)


# Where a sample is, in the units of its picture, and where that is in the window.
CENTRE = """(i => { const svg = document.getElementById("plane"), [u, v] = d.at[i],
  p = new DOMPoint(plane.X(u), plane.Y(v)).matrixTransform(svg.getScreenCTM()); return [p.x, p.y]; })"""


@needs_browser
@pytest.mark.parametrize("touch", [False, True], ids=["mouse", "touch"])
def test_every_sample_follows_the_pointer_that_presses_it(touch, tmp_path):
    X, y = samples(19)
    pc.trace(pc.TwoCSVM(X, y), (0.2, 1.8), (1.8, 0.2)).page(tmp_path / "page.html")
    with Browser(tmp_path / "profile", touch) as browser:
        browser.open(tmp_path / "page.html")
        browser.value('document.getElementById("plane").scrollIntoView({block: "center"})')
        hollow = browser.value("window.now.state.filter(set => set === 0).length")
        assert hollow >= 5
        for i in range(19):
            before = np.array(browser.value("d.at"))
            x, v = browser.value(f"{CENTRE}({i})")
            towards = [12 if X[i, 0] < 0 else -12, -9 if X[i, 1] < 0 else 9]  # to the middle of the picture
            off = np.array([0, 0] if i % 2 else [3, -2])  # beside the centre a press counts, too
            browser.drag([x + off[0], v + off[1]], [x + off[0] + towards[0], v + off[1] + towards[1]])
            moved = np.abs(np.array(browser.value("d.at")) - before).max(axis=1).nonzero()[0]
            assert moved.tolist() == [i]
            np.testing.assert_allclose(browser.value(f"{CENTRE}({i})"), [x + towards[0], v + towards[1]], atol=0.6)
        changed = np.array(browser.value("d.at"))
        path = pc.trace(pc.TwoCSVM(changed, y), (0.2, 1.8), (1.8, 0.2))
        assert browser.value("window.now.value") == pytest.approx(path.value(0.5), rel=1e-9)
        assert browser.value('document.getElementById("title").textContent') == repr(path)
        assert browser.value('document.getElementById("rochead").textContent').endswith("these samples")
        browser.value('document.getElementById("undo").click()')
        np.testing.assert_allclose(browser.value("d.at"), X, atol=1e-12)
