"""Paths of other codes, in the forms in which they have them: right ones pass, and wrong ones are refuted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import ElasticNet, LassoLars, lars_path

import paretoclf as pc
from paretoclf.engine.reduction.points import ProgramPoints
from tests.benchmarks import census

RNG = np.random.default_rng(0)
X, NOISE = RNG.normal(size=(30, 4)), RNG.normal(size=30)
Y = X @ [2.0, -1.0, 0.5, 0.0] + NOISE


@pytest.fixture(scope="module")
def soft():
    """min |w - c|^2 / 2 + lam |w|_1 with c = (3, -1): the soft threshold; and a constraint that binds above lam = 2.

    Its multiplier there is lam - 2: with w_0 = 1 stationarity says 1 - 3 + lam - y = 0.
    """
    w, lam = cp.Variable(2, name="w"), cp.Parameter(nonneg=True, name="lam")
    loss = cp.sum_squares(w - np.array([3.0, -1.0])) / 2 + lam * cp.norm1(w)
    return pc.trace(cp.Problem(cp.Minimize(loss), [(w[0] >= 1).set_label("least")]), {lam: 4.0}, {lam: 0.0})


LAM = np.array([4.0, 2.0, 1.0, 0.0])
W = np.array([[1.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, -1.0]])
LEAST = np.array([2.0, 0.0, 0.0, 0.0])


def forms(folder):
    """The same knots in every form that plain arrays have."""
    table = "lam,w[0],w[1],least\n" + "\n".join(f"{a},{w[0]},{w[1]},{y}" for a, w, y in zip(LAM, W, LEAST, strict=True))
    (folder / "path.csv").write_text(table)
    return {
        "t, x": ((4.0 - LAM) / 4.0, W),
        "t, x, y": ((4.0 - LAM) / 4.0, W, LEAST),
        "by names": {"lam": LAM, "w": W, "least": LEAST},
        "the other way round": {"lam": LAM[::-1], "w": W[::-1]},
        "a file": folder / "path.csv",
    }


@pytest.mark.parametrize("form", ["t, x", "t, x, y", "by names", "the other way round", "a file"])
def test_plain_arrays_of_any_problem(soft, form, tmp_path):
    found = pc.verify(soft, forms(tmp_path)[form])
    assert found.passes()
    assert found.first_failure() is None
    assert found.open < 1e-12


def test_right_points_at_which_nothing_bends_are_judged_alone_on_request(soft):
    """Twelve optima of a grid, with kinks between them."""
    t = np.linspace(0.0, 1.0, 12)
    given = (t, np.array([soft.at(s).variables["w"] for s in t]))
    assert not pc.verify(soft, given).passes()
    assert not pc.verify(soft, given, between=True).passes()
    alone = pc.verify(soft, given, between=False)
    assert alone.passes()
    assert alone.t.tolist() == t.tolist()


def test_what_is_between_somebodys_knots_may_be_left_out():
    alphas, active, coefs = lars_path(X, Y, method="lasso")
    some = [0, 1, 3, 4]  # a knot is missing
    assert not pc.verify(X, Y, (alphas[some], active, coefs[:, some])).passes()
    assert pc.verify(X, Y, (alphas[some], active, coefs[:, some]), between=False).passes()


def test_points_that_were_given_are_numbered_as_their_author_counts_them(soft):
    """The start that is put before the knots of lars_path is none of them."""
    alphas, active, coefs = lars_path(X, Y, method="lasso")
    wrong = np.array(coefs)
    wrong[:, 2] *= 1.5
    alone = pc.verify(X, Y, (alphas, active, wrong), between=False)
    assert alone.knots.tolist() == list(range(alphas.size))
    assert alone.first_failure() == 2
    assert "knot 2: not optimal" in repr(alone)
    assert "knot 2" in alone.explain()
    between = pc.verify(X, Y, (alphas, active, wrong))
    assert between.knots[between.knots >= 0].tolist() == list(range(alphas.size))
    at = 1.0 - alphas / (2.0 * alphas[0])
    assert between.t[between.given] == pytest.approx(at)
    assert [row["knot"] for row in between.records()][:3] == [None, None, 0]
    t = (4.0 - LAM) / 4.0
    assert pc.verify(soft, (t[::-1], W[::-1]), between=False).knots.tolist() == list(range(t.size))[::-1]


def test_what_is_wrong_is_refuted(soft):
    t = (4.0 - LAM) / 4.0
    for change, reason in (
        ((1, 0, 0.5), "infeasible"),
        ((2, 1, 0.3), "there is a better point"),
        ((3, 0, -0.2), "there is a better point"),
    ):
        k, j, by = change
        moved = W.copy()
        moved[k, j] += -by if reason == "infeasible" else by
        found = pc.verify(soft, (t, moved))
        at = int(np.flatnonzero(found.t == t[k])[0])
        assert (found.verdicts[at], found.reasons[at]) == ("not optimal", reason)
        assert f"{t[k]:10.6f} {LAM[k]:10.6g} " in repr(found)  # t, and lam beside it
        assert f"  not optimal: {reason}\n" in repr(found)
        assert [v for v, s in zip(found.verdicts, found.t, strict=True) if s in np.delete(t, k)] == ["optimal"] * 3
    assert pc.verify(soft, (t, W + 1e-8)).passes()  # within the tolerance
    assert not pc.verify(soft, (t, W + 1e-8), tol=1e-13).passes()


def test_a_value_that_no_feasible_point_has_is_refuted():
    """The constraint is missed by less than the tolerance, and the value by far more."""
    x, th = cp.Variable(name="x"), cp.Parameter(name="th")
    path = pc.trace(cp.Problem(cp.Minimize(1e3 * x), [x >= th]), {th: 1e-3}, {th: 1.0})
    found = pc.verify(path, {"th": [1e-3, 1.0], "x": [1e-3 - 5e-7, 1.0]})
    assert found.violation.max() < 1e-6
    assert found.reasons == ["no feasible point is that good", "", ""]
    assert found.excess[0] == pytest.approx(-5e-4, rel=1e-6)


def test_nothing_is_decided_beside_a_path_that_is_not_proved(soft):
    """Multipliers that are a little off leave a gap; what is further off than that is refuted all the same."""
    t = (4.0 - LAM) / 4.0
    rough = replace(soft, points=ProgramPoints.known(soft.points.x, soft.points.z * (1 + 1e-5), soft.points.begin))
    assert rough.proof.worst.off_by > 1e-6
    assert set(pc.verify(rough, (t, W)).verdicts) == {"undecided"}
    assert "not optimal" in pc.verify(rough, (t, np.where(np.arange(8).reshape(4, 2) == 3, 0.3, W))).verdicts


@pytest.mark.parametrize("by", [(0, -0.5), (0, 0.5), (2, 0.1), (3, -0.1), (3, 0.2)])
def test_multipliers_that_contradict_the_optimal_point_are_refuted(soft, by):
    """Too small or too large where it binds; of the other sign, or not 0, where it is loose.

    In the column w[0] rows of the l1 norm stand, too, which CVXPY has added and nobody gave.
    """
    k, size = by
    moved = LEAST.copy()
    moved[k] += size
    found = pc.verify(soft, ((4.0 - LAM) / 4.0, W, moved))
    at = int(np.flatnonzero(found.t == (4.0 - LAM[k]) / 4.0)[0])
    assert (found.verdicts[at], found.reasons[at]) == ("not optimal", "wrong dual")


def test_multipliers_are_wholly_judged_where_all_are_given():
    x, level = cp.Variable(2, name="x"), cp.Parameter(name="level")
    path = pc.trace(
        cp.Problem(cp.Minimize(cp.sum_squares(x)), [(cp.sum(x) >= level).set_label("mass")]), {level: 1}, {level: 3}
    )
    t, points = np.array([0.0, 1.0]), np.array([[0.5, 0.5], [1.5, 1.5]])
    assert pc.verify(path, (t, points, [1.0, 3.0])).passes()
    assert pc.verify(path, (t, points, [1.0, 2.5])).reasons == ["", "wrong dual", "wrong dual"]


@pytest.mark.parametrize("price", [1.0, 1e12])
@pytest.mark.parametrize("wrong", [[0.5, 0.5], [0.0, 0.0], [1.5, -0.5], [1.0, 0.25]])
def test_another_price_hides_no_wrong_multiplier(price, wrong):
    """``min price x0 + x1``, x0 >= 1 and 1 <= x1 <= 5: what x0 costs had been the unit of the prices of x1, too."""
    x, th = cp.Variable(2, name="x"), cp.Parameter(name="th")
    rows = [(x[0] >= 1).set_label("other"), (x[1] >= th).set_label("least"), (x[1] <= 5).set_label("most")]
    path = pc.trace(cp.Problem(cp.Minimize(price * x[0] + x[1]), rows), {th: 1.0}, {th: 2.0})
    right = {"th": [1.0, 2.0], "x": [[1.0, 1.0], [1.0, 2.0]], "other": [price, price], "least": [1, 1], "most": [0, 0]}
    assert pc.verify(path, right).passes()
    least, most = np.reshape(wrong, (2, 1))
    found = pc.verify(path, right | {"least": [*least, 1.0], "most": [*most, 0.0]})
    assert found.reasons[0] == "wrong dual"


@pytest.mark.parametrize("intercept", [False, True])
def test_scikit_learns_lasso(intercept):
    data = X + 3.0 if intercept else X
    given = LassoLars(alpha=0.0).fit(data, Y) if intercept else lars_path(X, Y, method="lasso")
    assert pc.verify(data, Y, given).passes()


def test_a_lasso_that_shrinks_too_much_is_refuted():
    alphas, active, coefs = lars_path(X, Y, method="lasso")
    found = pc.verify(X, Y, (alphas, active, 0.9 * coefs))
    assert set(found.verdicts) == {"optimal", "not optimal"}
    assert found.verdicts[0] == "optimal"  # nothing is in the model yet


def critical_line(package, kind, **fields):
    """An object of another code's class, as far as it is read."""
    made = type(kind, (SimpleNamespace,), {})
    made.__module__ = f"{package}.cla"
    return made(**fields)


MEAN, COVARIANCE = np.array([1.0, 2.0]), np.diag([1.0, 3.0])
NONE = dict.fromkeys(("g", "h", "q", "leverage", "stop"))


def two_assets(package, second=0.75):
    """w_1 = (1 + lam) / 4, from lam = 3 on 1: the frontier of two assets without covariance."""
    weights = [np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([second, 1 - second])]
    if package == "cvxcla":
        points = [SimpleNamespace(lamb=a, weights=w) for a, w in zip((np.inf, 3.0, 0.0), weights, strict=True)]
        bounds = {"lower_bounds": np.zeros(2), "upper_bounds": np.ones(2), "a": np.ones((1, 2)), "b": np.ones(1)}
        return critical_line(package, "CLA", mean=MEAN, covariance=COVARIANCE, turning_points=points, **bounds, **NONE)
    columns = [w[:, None] for w in weights]
    bounds = {"lB": np.zeros((2, 1)), "uB": np.ones((2, 1))}
    return critical_line(
        package, "CLA", mean=MEAN[:, None], cov_matrix=COVARIANCE, w=columns, ls=[None, 3.0, 0], **bounds
    )


@pytest.mark.parametrize("package", ["cvxcla", "pypfopt"])
def test_critical_lines(package):
    assert pc.verify(two_assets(package)).passes()
    wrong = pc.verify(two_assets(package, second=0.7))
    assert wrong.verdicts[-1] == "not optimal"
    assert wrong.verdicts[0] == "optimal"


def test_the_real_critical_lines_if_they_are_installed():
    cvxcla = pytest.importorskip("cvxcla")
    S, mu = np.cov(X.T), Y[:4]
    rows = {"a": np.ones((1, 4)), "b": np.ones(1)}
    assert pc.verify(cvxcla.CLA(mu, S, np.zeros(4), np.full(4, 0.4), **rows)).passes()
    assert pc.verify(cvxcla.Lasso(X, Y)).passes()


@pytest.mark.parametrize("code", ["lars_path", "LassoLars"])
def test_the_census_prints_ten_lines_that_run(code):
    """What they find hangs on the version of scikit-learn, and is not asserted."""
    lines = census.script(code, "integer", 2)
    assert len(lines.splitlines()) <= 10
    room = {"print": lambda report: None}
    exec(lines, room)
    assert set(room["report"].verdicts) <= {"optimal", "not optimal"}
    assert census.outcome(code, "plain", 0) == census.ours("lasso", "plain", 0) == "right"


def two_samples():
    """Two groups: the quantiles of each, which hold from one multiple of 1/3 or 1/4 to the next."""
    y = np.array([1.0, 2.0, 4.0, 3.0, 5.0, 8.0, 9.0])
    group = np.array([0, 0, 0, 1, 1, 1, 1])
    taus = np.array([0, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 3 / 4, 1])
    first, second = ([np.sort(y[group == k])[min(int(t * n + 1e-9), n - 1)] for t in taus] for k, n in ((0, 3), (1, 4)))
    return group[:, None].astype(float), y, taus, np.array(first), np.array(second) - np.array(first)


@pytest.mark.parametrize("fault", [None, 2])
def test_rs_quantreg(tmp_path, fault):
    groups, y, taus, b, w = two_samples()
    w = w + (0.5 if fault is not None else 0.0) * (np.arange(taus.size) == fault)
    lines = [f'"{k}",{t!r},0,0,{a!r},{c!r}' for k, (t, a, c) in enumerate(zip(taus.tolist(), b, w, strict=True), 1)]
    lines = [line.replace("np.float64(", "").replace(")", "") for line in lines]
    (tmp_path / "rq.csv").write_text("\n".join(['"","tau","Qbar","Obj.Fun","(Intercept)","x"', *lines]))
    found = pc.verify(groups, y, tmp_path / "rq.csv", of="quantreg")
    if fault is None:
        assert found.passes()
    else:
        bad = {s for v, s in zip(found.verdicts, found.t, strict=True) if v != "optimal"}
        assert bad
        assert all(taus[fault] - 1e-12 <= s <= taus[fault + 1] + 1e-12 for s in bad)


def test_rs_quantreg_at_some_quantiles_says_nothing_of_those_between(tmp_path):
    groups, y, taus, b, w = two_samples()
    some = [1, 4]
    rows = [f"{taus[k]:.17g},{b[k]:g},{w[k]:g}" for k in some]
    (tmp_path / "rq.csv").write_text("\n".join(["tau,(Intercept),x", *rows]))
    assert pc.verify(groups, y, tmp_path / "rq.csv", of="quantreg").t.size == 2
    assert not pc.verify(groups, y, tmp_path / "rq.csv", of="quantreg", between=True).passes()


@pytest.mark.parametrize("standardize", [True, False])
def test_rs_glmnet(tmp_path, standardize):
    """Orthogonal columns: soft thresholds of correlations, in units of standard deviations if these are asked for."""
    Q = np.linalg.qr(np.c_[np.ones(12), RNG.normal(size=(12, 3))])[0][:, 1:] * np.array([1.0, 5.0, 0.3])
    y = RNG.normal(size=12)
    s = Q.std(axis=0)
    lam = np.array([0.3, 0.1, 0.01])
    size = s if standardize else np.ones(3)
    c = (Q / s).T @ (y - y.mean()) / 12  # of u = s w
    u = np.sign(c) * np.maximum(np.abs(c) - lam[:, None] * size / s, 0.0)
    rows = [",".join(f"{v:.17g}" for v in (a, y.mean(), *each)) for a, each in zip(lam, u / s, strict=True)]
    (tmp_path / "fit.csv").write_text("\n".join(["lambda,X.Intercept.,V1,V2,V3", *rows]))
    found = pc.verify(Q, y, tmp_path / "fit.csv", of="glmnet", standardize=standardize)
    assert found.passes()
    assert found.t.size == 3
    assert not pc.verify(Q, y, tmp_path / "fit.csv", of="glmnet", standardize=not standardize).passes()


def glmnets(file, lams, alpha=1.0, standardize=True, scaled=True, line="{}".format):
    """Fits as glmnet makes them: columns and y are scaled to variance 1, lambda with y, and all is scaled back."""
    s, size = (X.std(axis=0) if standardize else np.ones(4)), (Y.std() if scaled else 1.0)
    rows = []
    for lam in lams:
        fit = ElasticNet(lam / size, l1_ratio=alpha, tol=1e-13, max_iter=10**6).fit(X / s, Y / size)
        rows.append((lam, size * fit.intercept_, *(size * fit.coef_ / s)))
    lines = ["lambda,X.Intercept.,V1,V2,V3,V4", *(",".join(f"{v:.17g}" for v in row) for row in rows)]
    file.write_text("\n".join(map(line, lines)))
    return file


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("scaled", [True, False])
def test_an_elastic_net_of_glmnet_is_judged_row_by_row(tmp_path, standardize, scaled):
    """glmnet's ridge is divided by the standard deviation of y, by which it scales y."""
    lams = [0.6, 0.2, 0.05]
    file = glmnets(tmp_path / "net.csv", lams, 0.5, standardize, scaled)
    flags = {"standardize": standardize, "standardize_response": scaled}
    found = pc.verify(X, Y, file, of="glmnet", alpha=0.5, **flags)
    assert found.passes()
    assert found.parameters["lambda"].tolist() == lams
    w, b, lam = cp.Variable(4), cp.Variable(), lams[1]
    s = X.std(axis=0) if standardize else np.ones(4)
    squares = s / np.sqrt(Y.std() if scaled else 1.0)
    penalty = lam * (cp.norm1(cp.multiply(s, w)) + cp.sum_squares(cp.multiply(squares, w)) / 2) / 2
    value = cp.Problem(cp.Minimize(cp.sum_squares(Y - b - X @ w) / 60 + penalty)).solve("CLARABEL")
    assert found.best[1] == pytest.approx(value, rel=1e-7)
    said = repr(pc.verify(X, Y, file, of="glmnet"))
    options = ", ".join(["alpha=0.5", *(f"{name}=False" for name, value in flags.items() if not value)])
    assert "0 of 3 points are optimal to 1e-06" in said
    assert "The objective is the lasso's (alpha=1, standardize=True): |y - b - X w|^2 / (2n) + lambda sum_j s_j" in said
    assert f"With {options} 3 of 3 are optimal." in said


def test_a_wrong_row_of_glmnet_is_not_made_right_by_other_options(tmp_path):
    file = glmnets(tmp_path / "fit.csv", [0.6, 0.2, 0.05])
    lines = file.read_text().splitlines()
    row = lines[2].split(",")
    lines[2] = ",".join([row[0], str(float(row[1]) + 0.01), *row[2:]])
    file.write_text("\n".join(lines))
    found = pc.verify(X, Y, file, of="glmnet")
    assert found.verdicts == ["optimal", "not optimal", "optimal"]
    assert "With " not in repr(found)
    standardised = glmnets(tmp_path / "raw.csv", [0.6, 0.2], standardize=False)
    assert "With standardize=False 2 of 2 are optimal." in repr(pc.verify(X, Y, standardised, of="glmnet"))


def test_columns_are_taken_by_their_names(tmp_path):
    file = glmnets(tmp_path / "fit.csv", [0.2])
    rows = [line.split(",") for line in file.read_text().splitlines()]
    turned = tmp_path / "turned.csv"
    turned.write_text("\n".join(",".join([*row[:2], *row[:1:-1]]) for row in rows))
    frame = pd.DataFrame(X, columns=["V1", "V2", "V3", "V4"])
    for given in (X, frame, frame[["V3", "V1", "V4", "V2"]]):
        assert pc.verify(given, Y, turned, of="glmnet").passes()
        assert pc.verify(given, Y, file, of="glmnet").passes()
    others = frame.rename(columns=dict(zip(frame, "abcd", strict=True)))
    found = pc.verify(others, Y, file, of="glmnet")
    assert found.passes()
    assert "V1, V2, V3, V4 were taken for the columns a, b, c, d of X in their order" in repr(found)
    named = tmp_path / "named.csv"
    named.write_text(file.read_text().replace("V1,V2", "my.sum,V2"))
    assert pc.verify(
        frame.rename(columns={"V1": "my sum"})[["V2", "my sum", "V3", "V4"]], Y, named, of="glmnet"
    ).passes()


def test_one_row_and_a_row_twice_are_judged(tmp_path):
    for lams in ([0.2], [0.2, 0.2], [1e-9]):
        assert pc.verify(X, Y, glmnets(tmp_path / "fit.csv", lams), of="glmnet").verdicts == ["optimal"] * len(lams)
    groups, y, _, b, w = two_samples()
    for tau, k, verdict in ((0.4, 2, "optimal"), (0.0, 0, "optimal"), (1.0, -1, "optimal"), (0.4, 4, "not optimal")):
        (tmp_path / "rq.csv").write_text(f"tau,(Intercept),x\n{tau},{b[k]:g},{w[k]:g}\n")
        assert pc.verify(groups, y, tmp_path / "rq.csv", of="quantreg").verdicts == [verdict]


def test_semicolons_and_decimal_commas_are_read(tmp_path):
    """As write.csv2 has them."""
    file = glmnets(tmp_path / "fit.csv", [0.6, 0.2], line=lambda text: text.replace(",", ";"))
    head, *rows = file.read_text().splitlines()
    file.write_text("\n".join([head, *(row.replace(".", ",") for row in rows)]))
    assert pc.verify(X, Y, file, of="glmnet").passes()


@dataclass
class Bad:
    call: object
    message: str
    extra: dict = field(default_factory=dict)


BAD = {
    "no such name": ({"lam": LAM, "v": W}, "must have one of lam, t and variables or constraints .* got lam, v"),
    "no knots": ({"w": W}, "must have one of lam, t"),
    "two kinds of knots": ({"lam": LAM, "t": LAM, "w": W}, "must have one of lam, t"),
    "no arrays": (3.0, r"must be \(t, x\), \(t, x, y\), a mapping, a table, a function of t or a file"),
    "shape": ((LAM / 4, W.T), r"w must have shape \(4, 2\)"),
    "nan": (([0.0, 1.0], [[1.0, np.nan], [3.0, -1.0]]), "w must be finite at every knot, got nan"),
    "beyond": (([0.0, 2.0], W[:2]), "t must hold increasing numbers from 0 to 1"),
    "back and forth": (([0.0, 0.5, 0.2], W[:3]), "t must hold increasing numbers"),
    "no dual of that": ({"lam": LAM, "w": W, "most": LEAST}, "got lam, w, most"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arrays(soft, name):
    given, message = BAD[name]
    with pytest.raises(pc.InputError, match=message):
        pc.verify(soft, given)


def test_bad_calls(soft, tmp_path):
    alphas, active, coefs = lars_path(X, Y, method="lasso")
    (tmp_path / "path.csv").write_text("lam,w[0],w[1],other\n4,1,0,2\n")
    (tmp_path / "torn.csv").write_text("lam,w[0]\n4\n")
    (tmp_path / "words.csv").write_text("lambda,(Intercept),a,b,c,d\n1,2,3,much,5,6\n")
    (tmp_path / "groups.csv").write_text("lambda,(Intercept),a,b,c,d\n1,2,3,1_5e-1,5,6\n")
    (tmp_path / "few.csv").write_text("lambda,(Intercept),a\n1,2,3\n")
    (tmp_path / "right.csv").write_text("lambda,(Intercept),a,b,c,d\n1,2,3,4,5,6\n")
    (tmp_path / "tau.csv").write_text("tau,(Intercept),a,b,c,d\n1.5,2,3,4,5,6\n")
    for call, message in (
        (lambda: pc.verify(soft, (LAM / 4, W), of="glmnet"), "of does not belong to a path of a program"),
        (lambda: pc.verify(soft, (LAM / 4, W), kernel=pc.RBF(1.0)), "kernel and sample_weight belong to classifiers"),
        (lambda: pc.verify(soft, tmp_path / "path.csv"), "column 'other' is no entry of a variable or constraint"),
        (lambda: pc.verify(soft, tmp_path / "torn.csv"), "every row must have 2 entries"),
        (lambda: pc.verify(soft, tmp_path / "none.csv"), "none.csv"),
        (lambda: pc.verify(X, Y, (alphas, active, coefs[:2])), r"coefs must have shape \(4, "),
        (lambda: pc.verify(X, Y, (1 + np.sin(np.arange(alphas.size)), active, coefs)), "alphas must fall"),
        (lambda: pc.verify(X, Y[:5], (alphas, active, coefs)), r"y must have shape \(30,\)"),
        (lambda: pc.verify(X, Y, "x.csv", of="glmpath"), "of must be one of 'quantreg', 'glmnet', got 'glmpath'"),
        (lambda: pc.verify(X, Y, 3, of="glmnet"), "solutions must be the name of a CSV file"),
        (lambda: pc.verify(X, Y, tmp_path / "words.csv", of="glmnet"), "must hold numbers below its header"),
        (lambda: pc.verify(X, Y, tmp_path / "groups.csv", of="glmnet"), "must hold numbers .* '1_5e-1'"),
        (lambda: pc.verify(X, Y, tmp_path / "few.csv", of="glmnet"), "must have a column .* 4 of coefficients"),
        (lambda: pc.verify(X, Y, tmp_path / "few.csv", of="quantreg"), "must have a column tau"),
        (
            lambda: pc.verify(X, Y, tmp_path / "few.csv", of="glmnet", alpha=0.0),
            "alpha must be more than 0 and at most",
        ),
        (
            lambda: pc.verify(X, Y, tmp_path / "right.csv", of="glmnet", alpha=0.5, between=True),
            "between must be left out with alpha < 1: .* curve=True",
        ),
        (lambda: pc.verify(X, Y, tmp_path / "none.csv", of="quantreg", alpha=0.5), "alpha does not belong to quantreg"),
        (lambda: pc.verify(X, Y, tmp_path / "tau.csv", of="quantreg"), "tau must be from 0 to 1, got 1.5"),
        (lambda: pc.verify(pd.DataFrame(X, columns=list("abce")), Y, tmp_path / "right.csv", of="glmnet"), "got 'd'"),
        (
            lambda: pc.verify(X, Y, tmp_path / "few.csv", of="glmnet", standardize=1),
            "standardize must be True or False",
        ),
        (lambda: pc.verify(X, Y, tmp_path / "few.csv", of="glmnet", family=1), "family does not belong to glmnet"),
        (lambda: pc.verify(critical_line("pypfopt", "CLA", w=[])), "must be a CLA that was solved"),
        (lambda: pc.verify(critical_line("cvxcla", "CLA", leverage=2.0, stop=None)), "a CLA without leverage"),
        (lambda: pc.verify(critical_line("elsewhere", "CLA", w=[])), "problem must be a cvxpy.Problem"),
    ):
        with pytest.raises(pc.InputError, match=message):
            call()


def test_no_other_entry_of_a_constraint_hides_a_violation():
    """A bound of 1e7 beside one of 1 was the size that both were missed by."""
    x, th = cp.Variable(2, name="x"), cp.Parameter(name="th")
    problem = cp.Problem(cp.Minimize(cp.square(x[0] - 1e7 - th)), [x <= np.array([2e7, 1.0])])
    path = pc.trace(problem, {th: 0.0}, {th: 0.5})
    right, wrong = (np.array([[1e7, x1], [1e7 + 0.5, x1]]) for x1 in (1.0, 1.001))
    t = np.array([0.0, 1.0])
    assert set(pc.verify(path, (t, right)).verdicts) == {"optimal"}
    assert set(pc.verify(path, (t, wrong)).reasons) == {"infeasible"}


def test_a_path_within_eps_judges_points_and_itself():
    """The least norm on a plane that moves away: x is the level times c over 9, of value level over 3."""
    x, level, c = cp.Variable(3, name="x"), cp.Parameter(name="level"), np.array([1.0, 2.0, 2.0])
    problem = cp.Problem(cp.Minimize(cp.norm2(x)), [(c @ x == level).set_label("plane")])
    path = pc.trace(problem, {level: 1}, {level: 4}, eps=1e-4, progress=False)
    t = np.array([0.0, 0.5, 1.0])
    right = (1 + 3 * t)[:, None] * c / 9
    judged = pc.verify(path, (t, right), tol=1e-3)
    assert judged.passes()
    assert judged.t.size > 3  # between its knots, too
    assert set(pc.verify(path, {"level": 1 + 3 * t, "x": right}).verdicts) <= {"optimal", "undecided"}
    worse = right + np.array([[0.0, 0.0, 0.0], [1.0, 0.5, -1.0], [0.0, 0.0, 0.0]])
    assert "there is a better point" in pc.verify(path, (t, worse), tol=1e-3).reasons
    assert "infeasible" in pc.verify(path, (t, 0.9 * right), tol=1e-3).reasons
    with pytest.raises(pc.InputError, match=r"duals must be left out beside a path within eps, got plane"):
        pc.verify(path, {"t": t, "x": right, "plane": np.full(3, -1 / 3)})
    own = pc.verify(path)
    assert own is not path.proof
    assert own.worst.off_by == path.proof.worst.off_by
    assert not pc.verify(replace(path, z=1.01 * path.z)).passes()
    with pytest.raises(pc.InputError, match=r"tol and between belong to points beside a path"):
        pc.verify(path, tol=1e-3)


def test_an_exact_path_alone_is_judged_anew(soft):
    assert pc.verify(soft).passes()
    assert not pc.verify(
        replace(soft, points=ProgramPoints.known(soft.points.x + 0.1, soft.points.z, soft.points.begin))
    ).passes()


@pytest.fixture
def pair():
    """A lasso of two coefficients, whose optimum is that of soft thresholds."""
    w, lam = cp.Variable(2, name="w"), cp.Parameter(nonneg=True, name="lam")
    goal = cp.Minimize(cp.sum_squares(w - [3, -1]) / 2 + lam * cp.norm1(w))
    return pc.trace(cp.Problem(goal), {lam: 3}, {lam: 0})


def thresholds(lam):
    return np.array([max(3 - lam, 0.0), -max(1 - lam, 0.0)])


def test_a_path_written_as_a_table_is_judged_as_it_was_written(pair, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pair.to_frame()
    frame.to_csv(tmp_path / "path.csv", index=False)
    for table in (frame, frame.set_index("t"), tmp_path / "path.csv", pandas.read_csv(tmp_path / "path.csv")):
        assert pc.verify(pair, table).verdicts == ["optimal"] * 5
    frame.loc[1, "w[0]"] += 1e-2
    assert pc.verify(pair, frame).verdicts.count("not optimal") == 3  # the knot, and what is beside it


def test_a_frame_of_somebody_else_is_judged_at_its_knots(pair):
    pandas = pytest.importorskip("pandas")
    lam = np.array([3.0, 1.0, 0.5, 0.0])
    w = np.array([thresholds(each) for each in lam])
    frame = pandas.DataFrame({"lam": lam, "w[0]": w[:, 0], "w[1]": w[:, 1]})
    assert set(pc.verify(pair, frame).verdicts) == {"optimal"}
    with pytest.raises(pc.InputError, match="solutions: column 'v' is no entry of a variable or constraint"):
        pc.verify(pair, frame.assign(v=1.0))
    with pytest.raises(pc.InputError, match=r"solutions\['w\[1\]'\] must be numeric and real"):
        pc.verify(pair, frame.astype({"w[1]": object}).replace({"w[1]": {0.0: "none"}}))
    with pytest.raises(pc.InputError, match="must be a DataFrame with a row for each knot, got an empty one"):
        pc.verify(pair, frame[:0])


def test_a_function_is_asked_at_breakpoints_and_between(pair):
    right = pc.verify(pair, lambda t: thresholds(3 - 3 * t))
    assert right.t.tolist() == pytest.approx([0, 1 / 3, 2 / 3, 5 / 6, 1])
    assert right.passes()
    affine = pc.verify(pair, lambda t: {"w": np.array([3 * t, -t])})  # right at both ends alone
    assert affine.verdicts == ["optimal", "not optimal", "not optimal", "not optimal", "optimal"]


def test_a_function_of_several_variables_returns_them_by_name():
    x, y, a = cp.Variable(name="x"), cp.Variable(name="y"), cp.Parameter(name="a")
    path = pc.trace(cp.Problem(cp.Minimize(x + y), [x >= a, y >= 2 * a]), {a: 0}, {a: 1})
    assert pc.verify(path, lambda t: {"x": t, "y": 2 * t}).passes()
    with pytest.raises(pc.InputError, match="must return a mapping of names to values, as there are x, y, got 3"):
        pc.verify(path, lambda t: 3)


def values_of(lam):
    """The optimal value of the lasso of `pair`, in closed form."""
    w = thresholds(lam)
    return float(np.sum((w - [3.0, -1.0]) ** 2) / 2 + lam * np.abs(w).sum())


def test_values_without_points_are_judged_beside_the_proved_ones(pair, tmp_path):
    pandas = pytest.importorskip("pandas")
    lam = np.array([3.0, 2.0, 0.5, 0.0])
    right = np.array([values_of(each) for each in lam])
    (tmp_path / "values.csv").write_text(
        "lam,value\n" + "".join(f"{a!r},{b!r}\n" for a, b in zip(lam.tolist(), right.tolist(), strict=True))
    )
    for given in (
        {"lam": lam, "value": right},
        {"t": (3 - lam) / 3, "objective": right},
        {"lam": lam[::-1], "value": right[::-1]},
        pandas.DataFrame({"lam": lam, "value": right}),
        tmp_path / "values.csv",
    ):
        found = pc.verify(pair, given)
        assert found.verdicts == ["optimal"] * 4
        assert "nothing is said of points that have them" in repr(found)
    for error, tol, verdict in ((1e-4, 1e-6, "not optimal"), (-1e-4, 1e-6, "not optimal"), (1e-4, 1e-3, "optimal")):
        found = pc.verify(pair, {"lam": lam, "value": right + error * np.eye(4)[1]}, tol=tol)
        assert (found.verdicts[1], found.worst) == (verdict, 1)
        assert found.off[1] == pytest.approx(error / right[1], rel=1e-6)
        assert f"at most {1e-4 / right[1]:.1e} of {right[1]:.3g}, at t = 0.333333 (lam = 2)" in repr(found)
        assert 1 in found.classes[verdict]
    with pytest.raises(pc.InputError, match="value must have one finite number for each t, 4"):
        pc.verify(pair, {"lam": lam, "value": right[:2]})
    with pytest.raises(pc.InputError, match="between must be left out beside values alone"):
        pc.verify(pair, {"lam": lam, "value": right}, between=True)
    with pytest.raises(pc.InputError, match=r"got \(4,\); values of the objective alone are {'t': t, 'value': values}"):
        pc.verify(pair, ((3 - lam) / 3, right))


def test_values_beside_a_path_of_bounds_are_undecided_where_it_knows_no_more():
    """The least norm on a plane that moves away: level over 3."""
    x, level, c = cp.Variable(3, name="x"), cp.Parameter(name="level"), np.array([1.0, 2.0, 2.0])
    problem = cp.Problem(cp.Minimize(cp.norm2(x)), [c @ x == level])
    level_at = np.array([1.0, 2.5, 4.0])
    given = {"level": level_at, "value": level_at / 3}
    rough = pc.trace(problem, {level: 1}, {level: 4}, eps=1e-2, progress=False)
    assert pc.verify(rough, given, tol=1e-1).passes()
    assert "not optimal" not in pc.verify(rough, given, tol=1e-12).verdicts
    assert pc.verify(rough, {**given, "value": level_at / 2.8}, tol=1e-6).verdicts == ["not optimal"] * 3
    curve = pc.trace(problem, {level: 1}, {level: 4}, curve=True, progress=False)
    assert pc.verify(curve, given).passes()
    with pytest.raises(pc.InputError, match=r"verify\(path, {'t': t, 'value': values}\) judges values"):
        pc.verify(curve, ([0.0, 1.0], np.ones((2, 3))))


def test_a_last_alpha_that_is_rounding_is_0():
    """With more columns than rows the last coefficients interpolate, and their alpha is 0 but for rounding."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 8))
    y = X[:, 0] - X[:, 1] + rng.normal(size=6)
    alphas, active, coefs = lars_path(X, y, method="lasso")
    assert 0.0 < alphas[-1] < 1e-14
    assert np.allclose(X @ coefs[:, -1], y)
    assert pc.verify(X, y, (alphas, active, coefs)).passes()
    assert not pc.verify(X, y, (alphas, active, np.column_stack([coefs[:, :-1], 1.01 * coefs[:, -1]]))).passes()


def test_a_path_of_lars_with_signs_and_one_that_rises():
    """With orthogonal columns coefficients are the positive parts of X'y / n - alpha."""
    X, y = np.sqrt(3.0) * np.eye(3), np.sqrt(3.0) * np.array([3.0, -2.0, 1.0])
    alphas = np.array([3.0, 1.0, 0.0])
    coefs = np.maximum(np.array([3.0, -2.0, 1.0])[:, None] - alphas, 0.0)
    right, plain = (pc.verify(X, y, (alphas, [0, 2], coefs), **how) for how in ({"positive": True}, {}))
    assert right.passes()
    assert not plain.passes()
    assert "Objective: mean of r^2/2 + alpha |w|_1 over w >= 0, r = y - X w" in repr(right)
    assert "over w of any sign" in repr(plain)
    hint = "All coefficients are at least 0: with positive=True 3 of 3 are optimal."
    assert repr(plain).endswith(hint)
    wrong = alphas, [0, 2], coefs + np.array([0.0, 0.1, 0.1])
    assert "positive=True" not in repr(pc.verify(X, y, wrong))
    with pytest.raises(pc.InputError, match="positive must be True or False, got 1"):
        pc.verify(X, y, (alphas, [0, 2], coefs), positive=1)
    with pytest.raises(pc.InputError, match=r"alphas must fall .*, got \[0. 1. 3.\]"):
        pc.verify(X, y, (alphas[::-1], [0, 2], coefs[:, ::-1]))


def test_a_parameter_that_is_called_t_is_meant():
    x, t = cp.Variable(2, name="x"), cp.Parameter(name="t")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - np.array([1, 2]))), [cp.sum(x) == t])
    path = pc.trace(problem, {t: 1}, {t: 3})
    assert pc.verify(path, {"t": [1, 3], "x": [[0, 1], [1, 2]]}).passes()
    with pytest.raises(pc.InputError, match=r"t is the parameter here, from 1 to 3: got \[0. 1.\]"):
        pc.verify(path, {"t": [0, 1], "x": [[0, 1], [1, 2]]})
