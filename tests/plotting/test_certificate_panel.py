"""The certificate in a page: a script of the page checks it, as Python does, and says what it has not checked."""

from __future__ import annotations

import html
import json
import subprocess
import time

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.plotting import certificate_panel as panel
from paretoclf.proof import check, check_band, check_curve
from tests.oracles.browser import Browser, needs_browser
from tests.plotting.test_page import NODE, scripts_of

#: Presses the buttons of a page whose elements, worker and files are made of nothing else than this.
PRESS = """
const vm = require("vm");
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
const elements = {};
const element = (id) => elements[id] ??= { textContent: texts[id] ?? "", hidden: true, listeners: {}, click() {
  this.listeners.click?.();
  saved.push([this.download, this.href]);
}, addEventListener(name, call) { this.listeners[name] = call; } };
const shares = [], saved = [];
class Worker {
  constructor(url) {
    this.inner = vm.createContext({ TextEncoder, postMessage: (data) => {
      if (data.share !== undefined) shares.push(data.share);
      this.onmessage({ data });
    } });
    vm.runInContext(url, this.inner);
  }
  terminate() {}
  postMessage(data) { this.inner.onmessage({ data }); }
}
const page = vm.createContext({
  document: { getElementById: element, createElement: () => element("link") },
  Worker, Blob: class { constructor(parts) { this.text = parts.join(""); } },
  URL: { createObjectURL: (blob) => blob.text },
});
vm.runInContext(texts.worker, page);
vm.runInContext(texts["check-button"], page);
element("check").listeners.click();
element("keep").listeners.click();
const { textContent, className, hidden } = element("checked");
console.log(JSON.stringify({ said: textContent, className, hidden, unchecked: element("unchecked").hidden, shares,
  saved: saved[0][1], bar: element("checking").hidden }));
"""


def pressed(texts):
    """What a page shows after its button was pressed."""
    done = subprocess.run([NODE, "-e", PRESS], input=json.dumps(texts), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def lasso():
    w, lam = cp.Variable(2, name="w"), cp.Parameter(nonneg=True, name="lam")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w - [3, -1]) / 2 + lam * cp.norm1(w)))
    return pc.trace(problem, {lam: 4}, {lam: 0}, progress=False)


def infeasible():
    x, th = cp.Variable(2, name="x"), cp.Parameter(name="th")
    rows = [(x <= 3).set_label("cap</script>"), (cp.sum(x) >= th).set_label("mass")]
    return pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(x)), rows), {th: 0.0}, {th: 8.0}, progress=False)


def within_eps():
    x, t = cp.Variable(2, name="x"), cp.Parameter(name="t")
    return pc.trace(cp.Problem(cp.Minimize(cp.norm2(x - 1) + t * x[0])), {t: 0.1}, {t: 0.5}, eps=1e-2, progress=False)


def curve():
    x, t = cp.Variable(2, name="x"), cp.Parameter(name="t")
    problem = cp.Problem(cp.Minimize(cp.norm2(x - 1) + t * x[0]))
    return pc.trace(problem, {t: 0.1}, {t: 0.5}, curve=True, progress=False)


X, Y = np.array([[0.0, 0.1], [1.0, 0.0], [0.5, 1.0], [1.0, 2.0]]), np.array([-1, 1, -1, 1])
PATHS = {
    "costs": lambda: pc.trace(pc.TwoCSVM(X, Y), (0.1, 0.1), (1, 1), progress=False),
    "kernel": lambda: pc.trace(pc.TwoCSVM(X, Y, pc.RBF(1.0)), (0.1, 0.1), (1, 1), progress=False),
    "nu": lambda: pc.trace(pc.TwoNuSVM(X, Y), nu=(0.2, 0.45), asymmetry=0.5, progress=False),
    "lasso": lasso,
    "infeasible": infeasible,
    "within eps": within_eps,
    "curve": curve,
}


@pytest.mark.skipif(NODE is None, reason="no node on this machine")
@pytest.mark.parametrize("name", PATHS)
def test_a_page_checks_its_own_certificate(name, tmp_path):
    path = PATHS[name]()
    path.page(tmp_path / "page.html", "a title </script>")
    page = scripts_of(tmp_path / "page.html")
    assert page.loads == []
    shown = pressed(page.texts)
    assert shown["said"].startswith("PROVED without rounding: ")
    assert "Not compared: data of your own" in shown["said"]
    assert (shown["className"], shown["hidden"], shown["unchecked"], shown["bar"]) == ("proved", False, False, True)
    assert shown["shares"][-1] == 1
    saved = json.loads(shown["saved"])
    path.proof.save(tmp_path / "own.json", progress=False)
    assert saved == json.loads((tmp_path / "own.json").read_text())
    (tmp_path / "saved.json").write_text(shown["saved"])
    script = {"within eps": check_band, "curve": check_curve}.get(name, check)
    assert saved["sha256"] in script.main(str(tmp_path / "saved.json"))


@pytest.mark.skipif(NODE is None, reason="no node on this machine")
def test_a_page_whose_certificate_was_changed_says_what_fails(tmp_path):
    lasso().page(tmp_path / "page.html")
    texts = scripts_of(tmp_path / "page.html").texts
    content = json.loads(texts["proof-file"])
    content["segments"].pop()
    shown = pressed({**texts, "proof-file": json.dumps(content)})
    assert shown["said"].startswith("NOT PROVED: the segments cover t up to 0.7")
    assert (shown["className"], shown["unchecked"]) == ("refused", True)
    content["problem"]["about"] = "another"
    assert pressed({**texts, "proof-file": json.dumps(content)})["said"] == "NOT PROVED: another hash"


def test_a_page_has_no_certificate_where_none_is_asked_for_or_the_path_is_large(tmp_path, monkeypatch):
    path = lasso()
    path.page(tmp_path / "page.html", certificate=False)
    assert "certificate" not in (tmp_path / "page.html").read_text()
    monkeypatch.setattr(panel, "SMALL", 10)
    path.page(tmp_path / "page.html")
    assert "None is in this page: the path is large." in (tmp_path / "page.html").read_text()
    path.page(tmp_path / "page.html", certificate=True)
    assert "checkText" in scripts_of(tmp_path / "page.html").texts["checker"]
    monkeypatch.setattr(panel, "MOST_BYTES", 100)
    with pytest.raises(InputError, match="certificate must take no more than 100 bytes in a page, and this one"):
        path.page(tmp_path / "page.html", certificate=True)
    with pytest.raises(InputError, match="certificate must be True, False or None, got"):
        path.page(tmp_path / "page.html", certificate="yes")


def test_a_page_says_why_there_is_no_certificate(tmp_path):
    """A power cone whose exponent is no fraction."""
    x, t = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="t")
    irrational = cp.PowCone3D(x[0:1], np.ones(1), cp.reshape(t * np.ones(1), (1,), order="F"), 1 / np.pi)
    problem = cp.Problem(cp.Minimize(x[0] + x[1]), [irrational, x >= 0.1, cp.sum(x) <= 40])
    path = pc.trace(problem, {t: 1.0}, {t: 1.5}, eps=1e-2, progress=False)
    with pytest.raises(InputError) as refused:
        path.page(tmp_path / "page.html", certificate=True)
    assert not list(tmp_path.iterdir())
    path.page(tmp_path / "page.html")
    said = f"None is in this page: {refused.value}."
    assert said in html.unescape((tmp_path / "page.html").read_text())


@needs_browser
def test_the_button_of_a_page_in_a_browser(tmp_path):
    lasso().page(tmp_path / "page.html")
    with Browser(tmp_path / "profile") as page:
        page.open(tmp_path / "page.html")
        page.value("document.getElementById('check').click() || 0")
        deadline = time.monotonic() + 60
        while page.value("document.getElementById('checked').hidden") and time.monotonic() < deadline:
            time.sleep(0.05)
        assert page.value("document.getElementById('checked').textContent").startswith("PROVED without rounding")
