"""The page of a program's path: what it stores is the path, in Python, in Node, and in a browser."""

from __future__ import annotations

import json
import subprocess

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.plotting import ProblemPathDisplay
from tests.oracles.browser import BROWSER, Browser, needs_browser
from tests.oracles.cone_lines import LINES
from tests.oracles.lines import FAMILIES
from tests.plotting.test_page import NODE, scripts_of

RUN = """
const [data, script, times] = JSON.parse(require("fs").readFileSync(0, "utf8"));
const path = new Function("d", script + "; return makePath(d);")(JSON.parse(data));
console.log(JSON.stringify(times.map(t => path.at(t))));
"""


def short():
    """A path that ends early, with a name that would end a script."""
    x, th = cp.Variable(2, name="x"), cp.Parameter(name="th")
    rows = [(x <= 3).set_label("cap</script>"), (cp.sum(x) >= th).set_label("mass")]
    return cp.Problem(cp.Minimize(cp.sum_squares(x)), rows), {th: 0.0}, {th: 8.0}


def parabola():
    """A variable next to which a moving parameter stands."""
    x, v, s = cp.Variable(name="x"), cp.Variable(name="v"), cp.Parameter(name="s")
    return cp.Problem(cp.Minimize(v + cp.square(x - 3) / 2), [v >= s * x, v >= (s - 1) * x]), {s: 0.0}, {s: 1.0}


CASES = {
    "lasso": FAMILIES["lasso"],
    "maximise": FAMILIES["frontier, maximise"],
    "svm": FAMILIES["svm, slacks"],
    "short": short,
    "parabola": parabola,
}


@pytest.fixture(params=CASES)
def made(request, tmp_path):
    path = pc.trace(*CASES[request.param]())
    path.page(tmp_path / "page.html")
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    return path, tmp_path / "page.html"


def data_of(file):
    page = scripts_of(file)
    assert page.loads == []
    return json.loads(page.texts["data"])


def test_it_holds_the_path(made):
    path, file = made
    d = data_of(file)
    assert d["title"] == repr(path)
    np.testing.assert_array_equal(d["t"], path.t)
    assert [each["t"] for each in d["events"]] == sorted({event.t for event in path.events})
    assert ("mass" in d["ending"]) == (path.status == "infeasible")
    for kind in ("variables", "duals"):
        assert len(d[kind]["names"]) <= 60
        assert np.shape(d[kind]["start"]) == (len(path.labels), len(d[kind]["names"]))


@pytest.mark.skipif(NODE is None, reason="no node on this machine")
def test_the_script_interpolates_as_the_path_does(made):
    path, file = made
    d, page = data_of(file), scripts_of(file)
    last = float(path.breakpoints[-1])
    times = [share * last for share in (0.0, 0.123, 0.5, 0.789, 1.0)]
    sent = json.dumps([page.texts["data"], page.texts["path"], times])
    done = subprocess.run([NODE, "-e", RUN], input=sent, capture_output=True, text=True, timeout=60, check=True)
    for t, point in zip(times, json.loads(done.stdout), strict=True):
        assert point["value"] == pytest.approx(path.value(t), rel=1e-9, abs=1e-9)
        at = path.at(t)
        for kind, ours in (("variables", at.variables), ("duals", at.duals)):
            entries = {}
            for name, value in ours.items():
                for index in np.ndindex(*np.shape(value)):
                    called = f"{name}[{', '.join(map(str, index))}]" if index else name
                    entries[called] = float(np.asarray(value)[index])
            found = dict(zip(d[kind]["names"], point[kind], strict=True))
            assert found == pytest.approx({name: entries[name] for name in found}, rel=1e-9, abs=1e-9)
    per = d["parameter"] if d["parameter"] != "t" else None
    slope, inside = path.slopes(times[1], per=per).right, json.loads(done.stdout)[1]
    found = dict(zip(d["variables"]["names"], inside["rates"]["variables"], strict=True))
    for name, rate in found.items():
        if "[" not in name:
            assert rate == pytest.approx(slope.variables[name], rel=1e-9, abs=1e-9)


@needs_browser
def test_a_browser_shows_it(tmp_path):
    path = pc.trace(*short())
    path.page(tmp_path / "page.html", title="a <b> title")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--dump-dom"]
    done = subprocess.run(
        [BROWSER, *flags, (tmp_path / "page.html").as_uri()], capture_output=True, text=True, timeout=60, check=True
    )
    assert "a &lt;b&gt; title" in done.stdout
    assert "th = 3" in done.stdout  # the middle of a path that ends at th = 6
    assert "dual of mass" in done.stdout
    assert "no point satisfies" in done.stdout


def geometric():
    """A lasso along three decades of its penalty."""
    rng = np.random.default_rng(0)
    X, beta, lam = rng.standard_normal((20, 4)), cp.Variable(4, name="beta"), cp.Parameter(nonneg=True, name="lam")
    target = X @ [2.0, -1.0, 0.5, 0.0] + 0.3 * rng.standard_normal(20)
    loss = cp.sum_squares(X @ beta - target) / 2
    return cp.Problem(cp.Minimize(loss + lam * cp.norm1(beta))), {lam: 50.0}, {lam: 0.05}


@needs_browser
def test_axis_and_slider_are_logarithmic_where_the_path_spans_two_decades(tmp_path):
    path = pc.trace(*geometric())
    path.page(tmp_path / "page.html")
    with Browser(tmp_path / "profile") as browser:
        browser.open(tmp_path / "page.html")
        middle = np.sqrt(50.0 * 0.05)
        assert browser.value("window.now.parameter") == pytest.approx(middle)
        browser.value("""(() => { const s = document.getElementById("slider");
          s.value = .25; s.dispatchEvent(new Event("input")); })()""")
        assert browser.value("window.now.parameter") == pytest.approx(50.0 * 1000.0**-0.25)
        points = browser.value("""document.querySelector("#value path[stroke='#000']").getAttribute("d").slice(1)
          .split("L").map(p => p.split(" ").map(Number))""")
    x, y = np.array(points).T
    where = 50.0 * 1000.0 ** -((x - 48) / 360)
    values = np.array([path.value(float(np.clip((50.0 - v) / 49.95, 0, 1))) for v in where])
    scale = (y[-1] - y[0]) / (values[-1] - values[0])
    np.testing.assert_allclose(y, y[0] + scale * (values - values[0]), atol=0.05)
    assert np.diff(x).max() < 2.5  # a parabola is drawn as one


@needs_browser
def test_a_parabola_of_a_variable_is_drawn_as_one(tmp_path):
    path = pc.trace(*parabola())
    path.page(tmp_path / "page.html")
    with Browser(tmp_path / "profile") as browser:
        browser.open(tmp_path / "page.html")
        name, points = (
            browser.value("""[d.variables.names[0], document.querySelectorAll("#variables path[stroke='#0072B2']")[0]
          .getAttribute("d").slice(1).split("L").map(p => p.split(" ").map(Number))]""")
        )
    x, y = np.array(points).T
    values = np.array([path.at(float((u - 48) / 360)).variables[name] for u in x])
    low, high = values.argmin(), values.argmax()
    scale = (y[high] - y[low]) / (values[high] - values[low])
    np.testing.assert_allclose(y, y[low] + scale * (values - values[low]), atol=0.05)
    assert x.size > 100


@pytest.mark.parametrize("name", ["robust_svm", "exponents", "group_lasso"])
def test_points_between_pairs_are_those_of_the_path_where_coefficients_move(name, tmp_path):
    """Within eps points are bent between two pairs; a straight line would miss them by more than what is allowed."""
    path = pc.trace(*LINES[name](), eps=1e-2, progress=False)
    path.page(tmp_path / "page.html")
    data = data_of(tmp_path / "page.html")
    part, rng = data["variables"], np.random.default_rng(0)
    t, bent = np.array(data["t"]), part["middle"] is not None
    assert bent == (name != "group_lasso")
    largest = max(np.abs(path.along(each)[1]).max() for each in path.program.variables)
    worst = straight = 0.0
    for at in rng.uniform(0, 1, 60).tolist():
        j = min(int(np.searchsorted(t, at, side="right")) - 1, t.size - 2)
        f, point = (at - t[j]) / (t[j + 1] - t[j]), path.at(at)
        values = {name: np.ravel(value) for name, value in point.variables.items()}
        own = {f"{key}[{i}]" if each.size > 1 else key: v for key, each in values.items() for i, v in enumerate(each)}
        first, last = (np.array(part[key][j]) for key in ("start", "end"))
        shown = (1 - f) * first + f * last
        if bent:
            middle = np.array(part["middle"][j])
            shown = first * (1 - f) * (1 - 2 * f) + 4 * middle * f * (1 - f) + last * f * (2 * f - 1)
        worst = max(worst, *(abs(own[each] - value) for each, value in zip(part["names"], shown, strict=True)))
        k = path._piece(at)
        share = path.proof.point(k, at)[0]
        line = path.program.values((1 - share) * path._points[k] + share * path._points[k + 1], at)
        straight = max(straight, *(np.abs(line[key] - point.variables[key]).max() for key in line))
    assert worst <= 1e-5 * largest
    assert not bent or straight > 1e-4 * largest
    _, shown_t, _ = ProblemPathDisplay.from_path(path, "variables").curves()[0]
    assert (shown_t.size > 2 * (path.t.size - 1)) == bent


def test_files_that_are_no_pages(tmp_path):
    path = pc.trace(*short())
    with pytest.raises(pc.InputError, match=r"file must end in \.html"):
        path.page(tmp_path / "page.txt")
    with pytest.raises(pc.InputError, match="none"):
        path.page(tmp_path / "none" / "page.html")


def test_the_panel_has_duality_by_the_names_of_constraints(made):
    path, file = made
    d = data_of(file)
    names = d["duality"]["names"]
    assert names == list(path.program.all_multipliers)[:30]
    for j in range(len(d["t"]) - 1):
        t = 0.5 * (d["t"][j] + d["t"][j + 1])
        x, z = path.compiled(t)
        slack = (1 - t) * path.program.b[0] + t * path.program.b[1] - path.program.A @ x
        dual = path.program.sense * path.proof.duals[path.long_segments[j]] @ [0.25, 0.5, 0.25]
        assert d["dual"][j][1] == pytest.approx(dual, rel=1e-12)
        assert d["dual"][j][1] == pytest.approx(path.value(t), rel=1e-8, abs=1e-8)
        for k, name in enumerate(names):
            reading = path.program.all_multipliers[name]
            rows = reading.place[reading.factor != 0]
            assert d["duality"]["products"][j][k][1] == pytest.approx(slack[rows] @ z[rows], abs=1e-12)
            theirs = np.sum(path.at(t).duals[name])
            assert d["duality"]["multipliers"][j][k][1] == pytest.approx(theirs, rel=1e-9, abs=1e-12)
            middle = np.mean([d["duality"]["multipliers"][j][k][0], d["duality"]["multipliers"][j][k][2]])
            if not path.parabolas:
                assert d["duality"]["multipliers"][j][k][1] == pytest.approx(middle, rel=1e-8, abs=1e-9)


def test_the_panel_of_a_path_within_eps_has_its_lower_bound_for_a_dual_value(tmp_path):
    w, lam = cp.Variable(2, name="w"), cp.Parameter(nonneg=True, name="lam")
    rows = [(cp.sum(w) <= 1).set_label("cap"), (cp.norm2(w) <= 2).set_label("ball")]
    problem = cp.Problem(cp.Minimize(cp.norm2(w - 3) + lam * cp.norm1(w)), rows)
    band = pc.trace(problem, {lam: 0.1}, {lam: 0.5}, eps=1e-2, progress=False)
    band.page(tmp_path / "page.html")
    d = data_of(tmp_path / "page.html")
    assert d["dual"] is None
    assert d["duality"]["names"] == ["cap", "ball"]
    t = 0.5 * (d["t"][0] + d["t"][1])
    low, high = band.bounds(t)
    assert sorted([d["value"][0][1], d["other"][0][1]]) == pytest.approx([low, high])
    cap = [each[0][0][1] for each in (d["duality"][kind] for kind in ("slacks", "multipliers", "products"))]
    assert cap[0] == pytest.approx(1 - band.at(t).variables["w"].sum(), abs=1e-9)
    assert cap[1] == pytest.approx(float(band.at(t).duals["cap"]), rel=1e-9)
    assert cap[2] == pytest.approx(cap[0] * cap[1], abs=1e-9)
