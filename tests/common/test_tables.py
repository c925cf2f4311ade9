"""What results show of themselves: short texts, tables for notebooks, frames of pandas."""

from __future__ import annotations

import sys
from html.parser import HTMLParser

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.common.tables import SHOWN, Tabular, html_table
from paretoclf.path.deletion.conformal_labels import conformal_ranks
from paretoclf.path.deletion.conformal_targets import target_p_values
from tests.oracles.public import classes


def strangers_points():
    """A path of two absolute values, and somebody's points on it."""
    x, lam = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="lam")
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(x - [3, -1]) / 2 + lam * cp.norm1(x))), {lam: 0}, {lam: 4})
    t = np.array([0.0, 0.25, 0.75, 1.0])
    return path, (t, np.array([[3.0, -1.0], [2.0, 0.0], [0.0, 0.0], [0.0, 0.0]]))


def within_eps():
    """The distance of a ball from a point, by its radius."""
    x, tau = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="tau")
    return pc.trace(cp.Problem(cp.Minimize(cp.norm2(x - [3, 4])), [cp.norm2(x) <= tau]), {tau: 1}, {tau: 2}, eps=1e-3)


def curve():
    """A ridge that grows, as a curve: one variable."""
    x, mu = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="mu")
    ridge = cp.sum_squares(x - [3, 4]) + mu * cp.sum_squares(x)
    return pc.trace(cp.Problem(cp.Minimize(ridge)), {mu: 1}, {mu: 2}, curve=True)


def two_prices():
    """A lasso of two numbers at all pairs of two prices."""
    x = cp.Variable(2, name="x")
    one, other = (cp.Parameter(nonneg=True, name=name) for name in ("one", "other"))
    price = one * cp.abs(x[0]) + other * cp.abs(x[1])
    return pc.plane(cp.Problem(cp.Minimize(cp.sum_squares(x - [3, -1]) / 2 + price)), {one: (0, 4), other: (0, 2)})


def conditions():
    """The KKT conditions at a student's wrong answer, of thirty constraints."""
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - [3, 4])), [cp.sum(x) <= 5 + k for k in range(30)])
    return pc.grade(problem, {"x": [2.0, 3.0]}, {f"constraint {k}": 2.0 * (k == 1) for k in range(30)}).kkt()


def guarantees():
    """The best weighted guarantee of two classes at every weight between two."""
    return pc.trace(pc.MEMPM.from_moments([4.0], [[1.0]], [0.0], [[1.0]]), theta=(0.4, 0.6), eps=1e-2)


def targets():
    """P-values of the target of a third sample, by ridge regression through the origin."""
    b, y, x = cp.Variable(name="b"), cp.Parameter(3, name="y"), np.array([1.0, 2.0, 3.0])
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(y - x * b) + b**2)), {y: [1, 3, -9]}, {y: [1, 3, 9]})
    return target_p_values(path, lambda at: at.parameters["y"] - x * at.variables["b"])


@pytest.fixture(scope="module")
def results():
    """A small one of each public class."""
    data = pc.datasets.make_gaussians(60, rng=0, mean_plus=[1.0, 0.5], mean_minus=[-1.0, -0.5])
    X, y = data.X, data.y
    svm = pc.TwoCSVM(X, y)
    path = pc.trace(svm, (0.02, 0.98), (0.98, 0.02))
    quantile = pc.QuantileSVM(X, y)
    margins, nu = pc.BiobjectiveMargin(X, y, soft=False), pc.TwoNuSVM(X, y)
    weighted = pc.trace(svm, pc.SampleCosts(np.full(60, 0.1)), pc.SampleCosts(np.linspace(0.1, 1, 60)))
    solution = path.at(0.3)
    swept = pc.sweep(svm, C_plus=[0.1, 0.5, 1.0], C_minus=[1.0, 0.5, 0.1], progress=False)
    soft = pc.BiobjectiveMargin(X, y)
    many = pc.verify(X, y, [(0.5, 0.5, np.zeros(60), 0.0)] * 50)

    def lazy(X, y, C_plus, C_minus):
        return np.zeros(len(y))

    return {
        "Solution": solution,
        "Classifier": solution.classifier,
        "Certificate": solution.certificate,
        "DualityTable": solution.duality_table(),
        "Path": path,
        "Path of sample costs": weighted,
        "QuantilePath": pc.trace(quantile, tau=(0.1, 0.9), lam=0.1),
        "NuPath": pc.trace(nu, nu=(0.2, 0.45), asymmetry=0.5),
        "MarginPath": pc.trace(soft, theta=(0.001, 1000.0), C_plus=1.0, C_minus=1.0),
        "Sweep": swept,
        "Agreement": pc.compare(path, svm, n=30, rng=0),
        "ValueAgreement": pc.compare(swept, svm),
        "Verification": many,
        "SuiteReport": pc.verify_solver(lazy, cases=pc.datasets.hard_cases()[:2]),
        "RocCurve": pc.roc_of_path(path, X, y, vary="asymmetry"),
        "RocCurve without a path": pc.roc_of_path(path, X, y, vary="asymmetry").hull(),
        "NestedRoc": pc.cross_validated_roc(
            svm, (0.02, 0.98), (0.98, 0.02), vary="asymmetry", folds=3, inner=2, repeats=1
        ),
        "ErrorCurve": path.error_curve(X, y),
        "GridErrorCurve": swept.error_curve(X, y),
        "Dataset": data,
        "PathScores": path.scores(X),
        "LabelChanges": pc.roc.label_changes(path.scores(X)),
        "BestRanges": pc.roc_of_path(path, X, y, vary="asymmetry").best_ranges(),
        "Moments": pc.Moments.from_samples(X, y),
        "formulation": margins,
        "LeaveOneOut": (held_out := pc.leave_one_out(svm, (0.5, 0.5))),
        "Proofs of LeaveOneOut": held_out.proof,
        "LeaveOneOutPath": path.leave_one_out(),
        "TargetPValues": targets(),
        "ConformalRanks": conformal_ranks(svm, (0.5, 0.5), svm.gram.X[:2]),
        "Regimes": pc.population.population_regimes(pc.population.Population.fit(X, y)),
        "Influence": pc.deletion.influence(svm, (0.5, 0.5)),
        "JudgedPoints": pc.verify(*strangers_points()),
        "JudgedValues": pc.verify(strangers_points()[0], {"t": np.linspace(0, 1, 30), "value": np.zeros(30)}),
        "Conflict": pc.conflict(pc.QP(None, np.ones(2), np.eye(2)[[0, 0]], [3, -np.inf], [np.inf, 1])),
        "OptimalSet": pc.unique(pc.QP(None, np.zeros(30), np.eye(30), np.zeros(30), np.ones(30)), progress=False),
        "Ranges": pc.ranges(pc.QP(None, np.ones(30), np.eye(30), np.zeros(30)), progress=False),
        "ConePath": within_eps(),
        "CurvePath": curve(),
        "ProblemPath": strangers_points()[0],
        "ProblemMap": two_prices(),
        "GuaranteePath": guarantees(),
        "KKTTable": conditions(),
    }


NAMES = (
    "Solution", "Classifier", "Certificate", "DualityTable", "Path", "Path of sample costs", "QuantilePath", "NuPath",
    "MarginPath", "Regimes", "Sweep", "Agreement", "ValueAgreement", "Verification", "SuiteReport", "RocCurve",
    "RocCurve without a path", "NestedRoc", "ErrorCurve", "GridErrorCurve", "Dataset", "PathScores", "Moments",
    "formulation", "LeaveOneOut", "Proofs of LeaveOneOut", "LeaveOneOutPath", "LabelChanges", "BestRanges",
    "TargetPValues", "ConformalRanks", "Influence", "JudgedPoints", "JudgedValues", "KKTTable", "Conflict",
    "OptimalSet", "Ranges", "ConePath", "CurvePath", "ProblemPath", "ProblemMap", "GuaranteePath",
)  # fmt: skip


class Table(HTMLParser):
    """Rows of cells; tags must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.title = [], [], ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] == "p":
            self.title += data
        else:
            self.rows[-1][-1] += data


def test_every_table_is_tried(results):
    assert set(results) == set(NAMES)

    def below(cls):
        return {cls} | {each for sub in cls.__subclasses__() for each in below(sub)}

    concrete = {cls for cls in below(Tabular) if cls.__name__ in classes()}
    assert concrete <= {type(each) for each in results.values()}


@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_short_and_prints_no_array(results, name):
    text = repr(results[name])
    assert len(text.splitlines()) <= SHOWN + 8
    assert "array(" not in text
    assert "[0." not in text.replace("value in [0.", "")


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_a_title_and_the_first_rows(results, name):
    shown = results[name]
    assert hasattr(shown, "_repr_html_") or not isinstance(shown, Tabular)
    if not hasattr(shown, "_repr_html_"):
        return  # a text only
    table = Table(shown._repr_html_())
    assert table.title
    head, *rows = table.rows
    assert all(len(row) == len(head) for row in rows[:SHOWN])
    if isinstance(shown, Tabular):
        count = len(shown.records())
        assert len(rows) == min(count, SHOWN) + (count > SHOWN)
        assert count <= SHOWN or f"{count - SHOWN} more" in rows[-1][0]


@pytest.mark.parametrize("name", NAMES)
def test_the_frame_has_every_row(results, name):
    pytest.importorskip("pandas")
    shown = results[name]
    if isinstance(shown, Tabular):
        frame = shown.to_frame()
        assert len(frame) == len(shown.records())
        assert list(frame.columns) == list(next(iter(shown.records()), {}))


def test_the_numbers_are_those_of_the_result(results):
    pytest.importorskip("pandas")
    path, data, roc, errors = (results[name] for name in ("Path", "Dataset", "RocCurve", "ErrorCurve"))
    events = path.to_frame()
    np.testing.assert_array_equal(np.unique(np.r_[0.0, events["t"], 1.0]), path.breakpoints)
    np.testing.assert_allclose(events["C_plus"] + events["C_minus"], 1.0, rtol=1e-12)
    # From where samples are at first, the events lead to where they are at last.
    sets = {i: "RLM"[s] for i, s in enumerate(path.sets(0.0))}
    for row in events.itertuples():
        assert sets[row.sample] == row.before or row.t == 0.0
        sets[row.sample] = row.after
    assert [sets[i] for i in range(60)] == ["RLM"[s] for s in path.sets(1.0)]
    assert {"sample", "t"} <= set(results["Path of sample costs"].to_frame().columns)
    assert results["QuantilePath"].to_frame().columns[:2].tolist() == ["t", "tau"]
    np.testing.assert_array_equal(data.to_frame()[list(data.feature_names)], data.X)
    np.testing.assert_array_equal(data.to_frame()["label"] == data.positive, data.y > 0)
    np.testing.assert_array_equal(roc.to_frame()[["fpr", "tpr", "t"]], np.c_[roc.fpr, roc.tpr, roc.t])
    middle = errors.to_frame()[["start", "stop"]].mean(axis=1)
    assert [errors.rates(t) for t in middle] == list(zip(*errors.to_frame()[["fpr", "fnr"]].T.to_numpy(), strict=True))
    sweep = results["Sweep"]
    np.testing.assert_array_equal(sweep.to_frame()["upper"], sweep.values)
    np.testing.assert_array_equal(sweep.to_frame()["lower"], sweep.dual_values)
    certificate = results["Certificate"]
    assert dict(certificate.to_frame()[["condition", "residual"]].to_numpy()) == certificate.conditions


def test_a_solution_says_value_bounds_and_gap(results):
    solution = results["Solution"]
    text, c = repr(solution), solution.certificate
    assert f"value {solution.value:.10g}" in text
    assert f"[{c.dual_value:.10g}, {c.primal_value:.10g}]" in text
    assert f"gap {c.gap:.1e}" in text
    assert "C_plus=0.308" in text


def test_what_is_written_is_escaped():
    table = Table(html_table("a < b & c", [{"<x>": "1 < 2"}], 1))
    assert table.title == "a < b & c"
    assert table.rows == [["<x>"], ["1 < 2"]]
    assert Table(html_table("nothing", [], 0)).rows == [[]]


@pytest.mark.parametrize("name", ["Path", "Dataset"])
def test_without_pandas_it_says_what_to_install(results, name, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"to_frame needs pandas: pip install 'paretoclf\[pandas\]'"):
        results[name].to_frame()
