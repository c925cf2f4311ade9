"""Weak and strong duality, refusals, recovery, the compiled dual: what is said is what is true."""

from __future__ import annotations

import re

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from tests.solve.duals.textbook import apart_along, examples, quadratic_programs

x, s = cp.Variable(name="x"), cp.Variable(name="s")
v = cp.Variable(3, name="v")
TIGHT = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}

#: Problems by what holds of them.
HOLDS = {
    "an LP": (cp.Problem(cp.Minimize(cp.sum(v)), [v >= 1]), "equal"),
    "a QP": (cp.Problem(cp.Minimize(cp.sum_squares(v)), [cp.sum(v) == 1]), "equal"),
    "a Slater point": (cp.Problem(cp.Minimize(cp.exp(x)), [cp.square(x) <= 1]), "equal"),
    "the primal is not attained": (cp.Problem(cp.Minimize(cp.exp(x))), "equal"),
    "at the border of a domain": (cp.Problem(cp.Minimize(-cp.sqrt(x)), [x <= 0]), "open"),
    "a gap of 1": (cp.Problem(cp.Minimize(cp.exp(-x)), [cp.quad_over_lin(x, s) <= 0, s >= 1e-3]), "open"),
    "a dual that is not attained": (cp.Problem(cp.Minimize(x), [cp.square(x) <= 0]), "open"),
    "unbounded": (cp.Problem(cp.Minimize(x), [x <= 1]), "unbounded"),
    "unbounded above": (cp.Problem(cp.Maximize(x), [x >= 1]), "unbounded"),
    "infeasible": (cp.Problem(cp.Minimize(x), [x >= 1, x <= 0]), "infeasible"),
}


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("name", HOLDS)
def test_a_theorem_is_named_only_where_its_conditions_were_checked(name):
    problem, kind = HOLDS[name]
    before = [v.value for v in problem.variables()]
    found = pc.dual(problem).holds(1e-6)
    assert found.kind == kind
    assert [v.value for v in problem.variables()] == before
    if kind == "equal":
        assert "equal, and the dual is attained" in str(found)
    if kind == "open":
        assert "No theorem is known to hold" in str(found)
        assert "may be real" in str(found)


RESIDUAL = np.random.default_rng(5).normal(size=(4, 3)) @ v - np.random.default_rng(6).normal(size=4)

#: Finite convex functions of v whose atoms have domains that their arguments cannot leave.
FINITE = {
    "abs^1.5": cp.sum(cp.power(cp.abs(RESIDUAL), 1.5)),
    "pos^3": cp.sum(cp.power(cp.pos(RESIDUAL), 3)) + cp.sum_squares(v),
    "norm^1.5": cp.power(cp.norm2(RESIDUAL), 1.5),
    "the largest^3": cp.power(cp.norm_inf(RESIDUAL), 3),
}


@pytest.mark.parametrize("name", FINITE)
def test_a_finite_convex_function_has_no_gap(name):
    problem = cp.Problem(cp.Minimize(FINITE[name]))
    found = pc.dual(problem).holds()
    value = problem.solve("CLARABEL", **TIGHT)
    assert (found.kind, found.primal, found.dual) == (
        "equal",
        pytest.approx(value, rel=1e-5),
        pytest.approx(value, rel=1e-5),
    )


def test_a_domain_that_can_be_left_is_still_looked_at():
    """abs(x)^1.5 keeps its own, and sqrt(x) does not where x <= 0 leaves it no room."""
    problem = cp.Problem(cp.Minimize(cp.power(cp.abs(x), 1.5) - cp.sqrt(x)), [x <= 0])
    assert pc.dual(problem).holds(1e-6).kind == "open"
    below = cp.Problem(cp.Minimize(cp.power(x, 1.5)), [x <= 0])
    assert pc.dual(below).holds(1e-6).kind == "open"


def test_a_slater_point_is_one():
    problem = cp.Problem(cp.Minimize(cp.sum(v)), [cp.norm2(v) <= 1, cp.sum(v) == 0.5, v[0] >= 0])
    point = pc.dual(problem).holds().point["v"]
    assert np.linalg.norm(point) < 1
    assert point.sum() == pytest.approx(0.5)
    assert point[0] >= -1e-7


def test_the_dual_of_an_unbounded_problem_is_infeasible():
    for problem in (HOLDS["unbounded"][0], HOLDS["unbounded above"][0]):
        dual = pc.dual(problem).problem
        dual.solve("CLARABEL")
        assert dual.status == "infeasible"


REFUSED = {
    "xexp": (lambda: cp.Problem(cp.Minimize(cp.xexp(cp.Variable(nonneg=True)))), "xexp"),
    "von Neumann": (
        lambda: cp.Problem(cp.Maximize(cp.von_neumann_entr(cp.Variable((2, 2), symmetric=True)))),
        "von_neumann_entr",
    ),
    "integers": (lambda: cp.Problem(cp.Minimize(cp.Variable(name="k", integer=True))), "k is integer"),
    "booleans": (lambda: cp.Problem(cp.Minimize(cp.Variable(name="k", boolean=True))), "k is boolean"),
    "complex": (lambda: cp.Problem(cp.Minimize(cp.abs(cp.Variable(complex=True)))), "complex"),
    "not convex": (lambda: cp.Problem(cp.Minimize(cp.sqrt(x))), "DCP"),
    "two parameters": (
        lambda: cp.Problem(
            cp.Minimize(cp.Parameter(nonneg=True) * cp.huber(x - 1, cp.Parameter(nonneg=True, value=1.0)) + cp.abs(x))
        ),
        "huber",
    ),
    "no problem": (lambda: 3, "cvxpy.Problem"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_dual_here_is_refused_by_name(name):
    make, words = REFUSED[name]
    with pytest.raises(pc.InputError, match=words):
        pc.dual(make())


def test_names_are_of_arrays():
    problem = HOLDS["a QP"][0]
    for names in ([1], {1: np.ones(3)}, {"X": "text"}):
        with pytest.raises(pc.InputError, match="names must be"):
            pc.dual(problem, names=names)


def test_where_there_is_no_conjugate_there_is_the_compiled_dual():
    u = cp.Variable(2, nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.xexp(u)) - 3 * cp.sum(u)))
    dual = pc.dual(problem, compiled=True)
    assert dual.problem.is_dcp()
    assert dual.problem.solve("CLARABEL") == pytest.approx(problem.solve("CLARABEL"), abs=1e-6)
    with pytest.raises(pc.InputError, match="no names"):
        dual.text()


@pytest.mark.parametrize("name", ["lasso", "LP", "portfolio", "SOC", "PowCone", "largest entropy", "SDP", "log det"])
def test_compiled_duals_are_equal(name):
    problem = examples()[name].problem
    compiled = pc.dual(problem, compiled=True).problem
    assert compiled.solve("CLARABEL") == pytest.approx(problem.solve("CLARABEL"), rel=1e-5, abs=1e-6)


def lasso():
    rng = np.random.default_rng(0)
    X, b, w = rng.normal(size=(8, 3)), rng.normal(size=8), cp.Variable(3, name="w")
    return X, b, w, cp.Problem(cp.Minimize(cp.sum_squares(X @ w - b) / 2 + 0.5 * cp.norm1(w)))


def test_any_pair_of_feasible_points_bounds_the_optimal_value():
    X, b, w, problem = lasso()
    dual = pc.dual(problem)
    best = problem.solve("CLARABEL")
    kept = w.value.copy()
    found = dual.bound({"w": np.zeros(3)}, {"y_1": np.zeros(8), "y_2": np.zeros(3)})
    assert found.dual_value == pytest.approx(0)
    assert found.primal_value == pytest.approx(b @ b / 2)
    assert found.dual_value <= best <= found.primal_value
    assert found.gap == pytest.approx(b @ b / 2)
    assert "lies between" in str(found)
    assert np.array_equal(w.value, kept)
    far = dual.bound({"w": np.zeros(3)}, {"y_1": 10 * b, "y_2": -10 * X.T @ b})
    assert not far.dual_feasible
    assert far.gap == np.inf
    assert "the multipliers are not feasible" in str(far)
    with pytest.raises(pc.InputError, match="shape"):
        dual.bound({"w": np.zeros(2)}, {})
    with pytest.raises(pc.InputError, match="got z"):
        dual.bound({"w": np.zeros(3)}, {"z": 1})


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize(
    "name", ["lasso", "ridge", "hinge", "logistic", "LP", "QP", "largest entropy", "log det", "SDP", "SOC", "Chebyshev"]
)
def test_the_primal_from_its_dual(name):
    problem = examples()[name].problem
    problem.solve("CLARABEL", **TIGHT)
    for dual in (pc.dual(problem), pc.dual(problem).simplified()):
        dual.problem.solve("CLARABEL", **TIGHT)
        found = dual.primal_from()
        assert found.missed < 1e-3
        for variable in problem.variables():
            ours, theirs = found.values[variable.name()], np.asarray(variable.value)
            known = ~np.isnan(ours)
            assert np.allclose(ours[known], theirs[known], atol=2e-3)
            assert known.all() == found.unique or not found.unique


def test_what_is_not_determined_is_said():
    problem = cp.Problem(cp.Minimize(cp.sum_squares(v[:2] - 1) + cp.pos(v[2])))
    dual = pc.dual(problem)
    dual.problem.solve("CLARABEL", **TIGHT)
    found = dual.primal_from()
    assert not found.unique
    assert "1 of 3 entries of v" in str(found)
    assert np.allclose(found.values["v"][:2], 1, atol=1e-5)
    with pytest.raises(pc.InputError, match="has none"):
        pc.dual(problem).primal_from()


PAGES = {
    "lasso": ["maximise    - b'y_1 - |y_1|^2 / 2", "X'y_1 + y_2 = 0", "|y_2|_inf <= 1/2"],
    "hinge": ["1'y_2 - |y_1|^2 / 2", "y_1 - X'(y.y_2) = 0", "- y'y_2 = 0", "0 <= y_2 <= 2"],
    "entropy": ["minimise    nu_0 + sum exp(y_1 - 1)", "nu_0 1 + y_1 = 0"],
    "maximum": ["y_1a, y_1b >= 0, y_1a + y_1b = 1"],
    "LP": ["maximise    b'lambda_0", "c - A'lambda_0 - lambda_1 = 0"],
    "eigenvalue": ["tr(C y_1)", "y_1 psd, tr y_1 = 1"],
    "log": ["- sum (log(1/(-y_1)) - 1)"],
    "parameter": ["|y_1|^2 / (4 lam)"],
    "power": ["0.25 (-y_1)^-1"],
    "forms": [
        "- 1'y_2 - h_1'C h_1 / 2 - h_2'P h_2 / 4",
        "over        y_1, y_2, h_1, h_2\n",
        "y_1 = C h_1 ",
        "y_2 = P h_2 ",
    ],
    "form with a parameter": [
        "minimise    1'y_2 + h_1'(- N) h_1 / (4 lam)",
        "over        y_1, y_2, h_1\n",
        "y_1 = (- N) h_1 ",
    ],
}


def pages():
    rng = np.random.default_rng(0)
    X, b, w, first = lasso()
    y = np.where(rng.normal(size=8) > 0, 1.0, -1.0)
    C = (lambda M: M + M.T)(rng.normal(size=(3, 3)))
    S = cp.Variable((3, 3), symmetric=True, name="S")
    c, lam = cp.Variable(name="c"), cp.Parameter(nonneg=True, name="lam")
    hinge = cp.sum_squares(w) / 2 + 2 * cp.sum(cp.pos(1 - cp.multiply(y, X @ w + c)))
    names = {"X": X, "b": b, "y": y, "C": C}
    A, cost, right = np.abs(rng.normal(size=(2, 3))), np.array([1.0, 3, 2]), np.array([1.0, 2])
    N = cp.Parameter((3, 3), NSD=True, name="N")
    twice = cp.quad_form(w, C @ C) / 2 + cp.quad_form(w - 1, np.diag([1.0, 2, 0]))
    problems = {
        "forms": cp.Problem(cp.Minimize(twice)),
        "form with a parameter": cp.Problem(cp.Maximize(lam * cp.quad_form(w, N) - cp.norm1(w - 1))),
        "lasso": first,
        "hinge": cp.Problem(cp.Minimize(hinge)),
        "entropy": cp.Problem(cp.Maximize(cp.sum(cp.entr(w))), [cp.sum(w) == 1]),
        "maximum": cp.Problem(cp.Minimize(cp.sum(cp.maximum(2 * (X @ w), -(X @ w))))),
        "LP": cp.Problem(cp.Minimize(cost @ w), [A @ w >= right, w >= 0]),
        "eigenvalue": cp.Problem(cp.Minimize(cp.lambda_max(S - C) + cp.sum_squares(S))),
        "log": cp.Problem(cp.Minimize(cp.sum(w) - cp.sum(cp.log(w)))),
        "parameter": cp.Problem(cp.Minimize(lam * cp.sum_squares(w) + cp.norm1(w - 1))),
        "power": cp.Problem(cp.Maximize(cp.sqrt(c) - c)),
    }
    return problems, names | {"A": A, "c": cost}, {"LP": {"b": right}, "forms": {"C": C @ C}}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_a_textbook_does(name):
    problems, names, own = pages()
    text = pc.dual(problems[name], names=names | own.get(name, {})).text()
    for words in PAGES[name]:
        assert words in text, text


def test_the_pages_of_simplified_duals():
    problems, names, _ = pages()
    told = {name: pc.dual(problem, names=names).simplified().text() for name, problem in problems.items()}
    assert "maximise    - b'y_1 - |y_1|^2 / 2" in told["lasso"]
    assert "|X'y_1|_inf <= 1/2" in told["lasso"]
    assert "1'y_2 - |X'(y.y_2)|^2 / 2" in told["hinge"]
    assert "over        y_2\n" in told["hinge"]
    assert told["entropy"].startswith("minimise    1.09861")  # log 3: nothing is left to choose
    assert "lambda_1" not in told["LP"]


def test_latex_has_every_sign_of_the_text():
    problems, names, _ = pages()
    dual = pc.dual(problems["lasso"], names=names)
    assert dual.latex().splitlines() == [
        r"\begin{aligned}",
        r"\text{maximise} \quad & - b^\top y_{1} - \frac{\|y_{1}\|^2}{2} \\",
        r"\text{subject to} \quad & X^\top y_{1} + y_{2} = 0 \\",
        r"& \|y_{2}\|_\infty \le \tfrac{1}{2}",
        r"\end{aligned}",
    ]
    assert dual._repr_latex_().startswith("$$")
    for name, problem in problems.items():
        made = pc.dual(problem, names=names)
        goal = made.text().splitlines()[0].split(maxsplit=1)[1]
        tex = made.latex().splitlines()[1].split("&", 1)[1]
        assert re.findall(r"[+-](?= )", goal) == re.findall(r"[+-](?= )", tex), name


def test_a_derivation_tells_every_step():
    problems, names, _ = pages()
    told = pc.dual(problems["hinge"], names=names).simplified().derivation()
    for words in (
        "v_2 >= max(u_2, 0), u_2 = 1 - y.(X w + c 1)",
        "+ y_1'(w - u_1)",
        "y_2'u_2 <= 2 [max(u_2, 0)] + 0  if 0 <= y_2 <= 2, else there is no bound",
        "4. Least over w, c: the Lagrangian is affine in them",
        "5. Eliminated, since one of these equations gives it:",
        "y_1 = X'(y.y_2)",
    ):
        assert words in told, told


def test_attributes_have_multipliers_of_their_own_name():
    box = cp.Variable(2, bounds=[0, 1], name="box")
    P = cp.Variable((2, 2), PSD=True, name="P")
    nonneg = cp.Variable(2, nonneg=True, name="plus")
    goal = cp.sum_squares(box - 2) + cp.sum_squares(P - np.diag([1.0, -1])) + cp.sum_squares(nonneg + 1)
    dual = pc.dual(cp.Problem(cp.Minimize(goal)))
    assert set(dual.multipliers) == {"box: lower bound", "box: upper bound", "P: PSD", "plus: nonneg"}
    dual.problem.solve("CLARABEL")
    assert np.allclose(dual.multipliers["box: upper bound"].value, 2, atol=1e-5)
    assert np.allclose(dual.multipliers["plus: nonneg"].value, 2, atol=1e-5)


def test_traces_of_duals_of_qps_are_those_of_the_primal():
    for problem, lam in quadratic_programs(20):
        values, breakpoints = apart_along(problem, lam)
        assert values <= 1e-7
        assert breakpoints <= 1e-7


def test_duals_that_are_written_by_hand_are_equal():
    rng = np.random.default_rng(0)
    y = np.repeat([1, -1], 6)
    X = rng.normal(size=(12, 2)) + 1.2 * y[:, None]
    cases = [
        (pc.TwoCSVM(X, y), lambda r: {"C_plus": r.uniform(0.1, 3), "C_minus": r.uniform(0.1, 3)}),
        (pc.TwoNuSVM(X, y), lambda r: {"nu": r.uniform(0.2, 0.7), "asymmetry": r.uniform(0.4, 0.6)}),
        (pc.QuantileSVM(X, y), lambda r: {"tau": r.uniform(0.1, 0.9), "lam": r.uniform(0.05, 2)}),
        (
            pc.BiobjectiveMargin(X, y),
            lambda r: {"theta": r.uniform(0.1, 3), "C_plus": r.uniform(1, 3), "C_minus": r.uniform(1, 3)},
        ),
        (
            pc.SurrogateRisk(X, y, loss="logistic"),
            lambda r: {"C_plus": r.uniform(0.1, 3), "C_minus": r.uniform(0.1, 3), "ridge": 1.0},
        ),
    ]
    for formulation, draw in cases:
        dual = None
        for _ in range(20):
            for name, value in draw(rng).items():
                formulation.parameters[name].value = value
            dual = dual or pc.dual(formulation.primal)
            written = formulation.dual.solve("CLARABEL")
            # Theirs is a minimisation, of minus the objective.
            assert dual.problem.solve("CLARABEL") == pytest.approx(-written, rel=1e-6, abs=1e-6)
