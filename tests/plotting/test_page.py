"""The page to play with: what it stores is the path, in Python, in Node, and in a browser."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

import paretoclf as pc
from tests.oracles.browser import BROWSER, needs_browser

NODE = shutil.which("node")


class Scripts(HTMLParser):
    """Texts of the scripts of a page by their ids, and everything that a page would load."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.loads, self._inside = {}, [], None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.loads += [attrs[name] for name in ("src", "href") if name in attrs]
        if tag == "script":
            self._inside = attrs.get("id", "main")
            self.texts[self._inside] = ""

    def handle_endtag(self, tag):
        if tag == "script":
            self._inside = None

    def handle_data(self, data):
        if self._inside is not None:
            self.texts[self._inside] += data


def problem(gaussians, case):
    X, y = gaussians(n=40, d=3 if case == "directions" else 2)
    if case.startswith("quantile"):
        svm = pc.QuantileSVM(X, y, kernel=pc.RBF(1.0) if "kernel" in case else None, bias="bias" in case)
        return pc.trace(svm, tau=(0.0, 1.0), lam=0.05), *gaussians(n=60, d=2, seed=1)
    far = 1e6 if case == "far" else 0.0
    path = pc.trace(pc.TwoCSVM(X + far, y, kernel=pc.RBF(1.0) if case == "kernel" else None), (0.2, 1.8), (1.8, 0.2))
    Z, z = gaussians(n=60, d=X.shape[1], seed=1)
    return path, Z + far, z


@pytest.fixture(
    params=["plain", "kernel", "directions", "far", "quantile, bias", "quantile, kernel, bias", "quantile, kernel"]
)
def made(request, gaussians, tmp_path):
    path, Z, z = problem(gaussians, request.param)
    names = [f"</script>&{j}" for j in range(Z.shape[1])]
    path.page(tmp_path / "page.html", X=Z, y=z, feature_names=names)
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    return path, Z, z, tmp_path / "page.html"


def scripts_of(file):
    return Scripts(file.read_text(encoding="utf-8"))


def times(n=12):
    return np.random.default_rng(3).uniform(0.0, 1.0, n)


def between(start, end, share):
    return (1 - share) * np.asarray(start) + share * np.asarray(end)


def test_what_is_embedded_is_the_path(made):
    path, Z, z, file = made
    page = scripts_of(file)
    assert page.loads == []
    d = json.loads(page.texts["data"])
    ends = np.array(d["t"])
    for t in times():
        j = int(np.searchsorted(ends, t, side="right")) - 1
        share = (t - ends[j]) / (ends[j + 1] - ends[j])
        state = np.array(d["state"])
        for piece, sample, new in zip(*d["changes"], strict=True):
            if piece <= j:
                state[sample] = new
        caps = between(*d["caps"], t)
        alpha = np.where(state == 1, caps, 0.0)
        part = slice(d["ptr"][j], d["ptr"][j + 1])
        alpha[d["index"][part]] = between(d["a0"][part], d["a1"][part], share)
        solution = path.at(t)
        np.testing.assert_allclose(alpha, solution.alpha, atol=1e-12)
        b = between(d["b0"][j], d["b1"][j], share)
        assert b == pytest.approx(solution.classifier.b, rel=1e-9, abs=1e-9)
        if d["parameter"] == "t":
            assert between(*d["costs"], t) == pytest.approx(list(solution.costs))
        if d["w"] is not None:
            np.testing.assert_allclose(between(d["w"][j], d["w"][j + 1], share), solution.classifier.w, atol=1e-9)
        number = int(np.searchsorted(d["roc"]["t"], t, side="right")) - 1
        predicted = solution.classifier.predict(Z)
        assert d["roc"]["fpr"][number] == pytest.approx((predicted[z < 0] > 0).mean())
        assert d["roc"]["fnr"][number] == pytest.approx((predicted[z > 0] < 0).mean())


RUN = """
const fs = require("fs"), [data, script, times] = JSON.parse(fs.readFileSync(0, "utf-8"));
const path = new Function("d", script + "; return makePath(d);")(JSON.parse(data));
console.log(JSON.stringify([times.map(t => ({...path.at(t), grid: path.grid(t), rates: path.rates(t)})), path.events]));
"""


def played(file, times):
    """What the script of a page says at these t, and its events."""
    page = scripts_of(file)
    sent = json.dumps([page.texts["data"], page.texts["path"], list(times)])
    done = subprocess.run([NODE, "-e", RUN], input=sent, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


@pytest.mark.skipif(NODE is None, reason="no node on this machine")
def test_the_script_interpolates_as_the_path_does(made):
    path, Z, z, file = made
    points, events = played(file, [0.0, *times(), *path.breakpoints[3:6], 1.0])
    d = json.loads(scripts_of(file).texts["data"])
    for point in points:
        t = point["t"]
        solution = path.at(t)
        np.testing.assert_allclose(point["alpha"], solution.alpha, atol=1e-12)
        assert point["value"] == pytest.approx(path.value(t), rel=1e-12)
        assert point["dual"] <= point["value"] + 1e-12 * abs(point["value"])
        assert point["primal"] >= solution.certificate.dual_value * (1 - 1e-9)
        assert point["dual"] == pytest.approx(solution.value, rel=1e-8)
        assert point["b"] == pytest.approx(solution.classifier.b, rel=1e-9, abs=1e-9)
        predicted = solution.classifier.predict(Z)
        assert point["rates"] == pytest.approx([(predicted[z < 0] > 0).mean(), (predicted[z > 0] > 0).mean()])
        if d["whole"]:  # of two features the points of the grid are samples
            at = [[x, y] for y in d["grid"]["y"] for x in d["grid"]["x"]]
            scores = solution.classifier.decision_function(at)
            off = 1e-9 if d["w"] is not None else 1e-3
            np.testing.assert_allclose(point["grid"], scores, atol=off * np.abs(scores).max() + 1e-9)
    assert [tuple(each.values()) for each in events] == [
        (each.t, each.sample, each.before, each.after) for each in path.events
    ]


DEGENERATE = {
    "out of the origin": ([[0, 0], [1, 2], [3, 1], [2, 2]], [-1, -1, 1, 1], (0, 0), (2, 1)),
    "axis to axis": ([[0, 0], [1, 2], [3, 1], [2, 2]], [-1, -1, 1, 1], (0, 1), (1, 0)),
    "both labels on one point": ([[0, 0], [0, 0], [1, 1], [1, 1], [0, 0]], [-1, 1, 1, 1, -1], (0.2, 1), (1, 0.2)),
    "a constant feature": ([[0, 5], [1, 5], [2, 5], [3, 5]], [-1, 1, -1, 1], (0.2, 1), (1, 0.2)),
    "one sample of a class": ([[0, 0], [1, 1], [0, 3], [2, 0], [1, 0.5]], [1, -1, -1, -1, -1], (0.1, 2), (4, 0.1)),
}


@pytest.mark.skipif(NODE is None, reason="no node on this machine")
@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)])
def test_degenerate_paths(case, kernel, tmp_path):
    X, y, start, stop = DEGENERATE[case]
    path = pc.trace(pc.TwoCSVM(X, y, kernel=kernel), start, stop)
    path.page(tmp_path / "page.html")
    for point in played(tmp_path / "page.html", [0.0, *times(6), 1.0])[0]:
        np.testing.assert_allclose(point["alpha"], path.alpha(point["t"]), atol=1e-12)
        assert point["value"] == pytest.approx(path.value(point["t"]), rel=1e-12, abs=1e-12)
        assert point["rates"] is None
        assert np.isfinite(point["grid"]).all()


@pytest.mark.skipif(NODE is None, reason="no node on this machine")
def test_costs_of_samples_are_not_called_costs_of_classes(gaussians, tmp_path):
    X, y = gaussians(n=12, d=2)
    costs = np.linspace(0.5, 1.5, 12)
    path = pc.trace(pc.TwoCSVM(X, y), pc.SampleCosts(costs), pc.SampleCosts(costs[::-1]))
    path.page(tmp_path / "page.html")
    for point in played(tmp_path / "page.html", times(6))[0]:
        np.testing.assert_allclose(point["alpha"], path.alpha(point["t"]), atol=1e-12)
        assert point["costs"] is None


@needs_browser
def test_a_browser_is_driven_by_keys_and_clicks(made):
    path, _, _, file = made
    drive = """<script>
      const press = key => document.dispatchEvent(new KeyboardEvent("keydown", {key, cancelable: true}));
      const seen = [window.now];
      for (const key of ["Home", "n", "n", "p", "ArrowRight", "End"]) { press(key); seen.push(window.now); }
      document.querySelectorAll("#events button")[4].click(); seen.push(window.now);
      const slider = document.getElementById("slider");
      slider.value = 0.3; slider.dispatchEvent(new Event("input")); seen.push(window.now);
      const out = document.createElement("pre"); out.id = "seen";
      out.textContent = JSON.stringify([seen, document.querySelectorAll("#plane circle, #plane g rect").length]);
      document.body.append(out);</script></body>"""
    driven = file.with_name("driven.html")
    driven.write_text(file.read_text(encoding="utf-8").replace("</body>", drive), encoding="utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", driven.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    seen, drawn = json.loads(html.unescape(re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)[1]))
    first, second = np.unique([each.t for each in path.events if each.t > 0])[:2]
    expected = [0.5, 0.0, first, second, first, first + 0.01, 1.0, path.events[4].t, 0.3]
    assert [each["t"] for each in seen] == pytest.approx(expected)
    for each in seen:
        np.testing.assert_allclose(each["alpha"], path.at(each["t"]).alpha, atol=1e-12)
    assert drawn == path.y.size


def test_wide_margins_of_two_features_are_small_files(gaussians, tmp_path):
    X, y = gaussians(n=200, d=2)
    pc.trace(pc.TwoCSVM(X, y), (0.2, 1.8), (1.8, 0.2)).page(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 500_000


def test_kinds_of_path_without_a_page_say_why(gaussians, tmp_path):
    X, y = gaussians(n=20, d=2)
    svm = pc.TwoNuSVM(X, y)
    hulls, nu = pc.trace(svm, (0.9, 0.9), (0.5, 0.5)), pc.trace(svm, nu=(None, None), asymmetry=0.5)
    with pytest.raises(pc.InputError, match=r"^no page for a NuPath, whose value .*; plot\(\) draws it$"):
        hulls.page(tmp_path / "page.html")
    with pytest.raises(
        pc.InputError, match=r"^X must be left out: no page shows samples for a path of nu, whose margins"
    ):
        nu.page(tmp_path / "page.html", X=X, y=y)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("file", "options", "said"),
    [
        ("page.txt", {}, "file must end in .html"),
        ("page.html", {"X": [[0.0, 0.0]]}, "X and y must be given together"),
        ("page.html", {"features": (0, 2)}, "features must be two different numbers"),
        ("page.html", {"feature_names": ["a"]}, "feature_names must have one name per feature"),
        ("no/page.html", {}, "cannot be written"),
    ],
)
def test_bad_input_is_refused_and_leaves_no_file(gaussians, tmp_path, file, options, said):
    path, _, _ = problem(gaussians, "plain")
    with pytest.raises(pc.InputError, match=said):
        path.page(tmp_path / file, **options)
    assert list(tmp_path.iterdir()) == []
