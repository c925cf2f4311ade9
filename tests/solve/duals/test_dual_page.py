"""Pages of duals: costs and conditions read as numbers are suprema, and small problems have the page one derives."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.solve.duals.construction.conjugates import TABLE
from paretoclf.solve.duals.construction.dual_parts import parts_of
from paretoclf.solve.duals.construction.tree import Occurrence
from paretoclf.solve.duals.dual_page import (
    conditions_of,
    derivation_of,
    filled,
    lagrangian_of,
    latex_of,
    letters_of,
    objective_of,
    shown,
    text_of,
)
from paretoclf.solve.duals.notation import Speaker
from paretoclf.solve.models.model import Model

PLAIN, LATEX = Speaker({}), Speaker({}, latex=True)

# --- Words as numbers, beside a supremum over a fine grid ---------------------------------------------------------

ALL, ABOVE = np.linspace(-60, 60, 20_001), np.geomspace(1e-9, 1e5, 20_001)

#: A row, its numbers, the function and its domain, and multipliers at which the conjugate is finite.
SCALAR: dict[str, tuple[str, dict[str, float], Any, Any, Any]] = {
    "square": ("square", {"p": 2.0}, np.square, ALL, (-3.0, 0.5)),
    "huber": ("huber", {"M": 1.5}, lambda u: np.where(abs(u) <= 1.5, u**2, 3 * abs(u) - 2.25), ALL, (-1.4, 0.5)),
    "fourth": ("power even", {"p": 4.0}, lambda u: u**4, ALL, (-3.0, 0.5)),
    "cube": ("power above 1", {"p": 3.0}, lambda u: u**3, ABOVE, (-3.0, 0.5)),
    "1.5": ("power above 1", {"p": 1.5}, lambda u: u**1.5, ABOVE, (-3.0, 0.5)),
    "root": ("-power below 1", {"p": 0.5}, lambda u: -np.sqrt(u), ABOVE, (-3.0, -0.5)),
    "quarter": ("-power below 1", {"p": 0.25}, lambda u: -(u**0.25), ABOVE, (-3.0, -0.5)),
    "inverse": ("power below 0", {"p": -1.0}, lambda u: 1 / u, ABOVE, (-3.0, -0.5)),
    "exp": ("exp", {}, np.exp, np.linspace(-60, 20, 20_001), (0.2, 3.0)),
    "logistic": ("logistic", {}, lambda u: np.logaddexp(0, u), ALL, (0.1, 0.4)),
    "log": ("-log", {}, lambda u: -np.log(u), ABOVE, (-3.0, -0.5)),
    "log1p": ("-log1p", {}, lambda u: -np.log1p(u), ABOVE - 1, (-3.0, -0.5)),
    "entropy": ("-entr", {}, lambda u: u * np.log(u), ABOVE, (-3.0, 0.5)),
}

lam = cp.Parameter(nonneg=True, value=0.7, name="lam")
free = cp.Variable(name="w", value=0.9)
y = cp.Variable(name="y")

#: Weights as they occur: numbers, a parameter, a multiplier, sums and products of them.
WEIGHTS = {
    "1": cp.Constant(1.0),
    "2": cp.Constant(2.0),
    "0.5": cp.Constant(0.5),
    "a parameter": lam,
    "a multiplier": free,
    "a sum": lam + free,
    "a product": 3 * lam,
}


def braces(text: str, begin: int) -> int:
    """Where the brace closes that opens at ``begin``."""
    depth = 0
    for k in range(begin, len(text)):
        depth += (text[k] == "{") - (text[k] == "}")
        if depth == 0:
            return k
    raise AssertionError(text)


def without_latex(text: str) -> str:
    """A formula in LaTeX as a plain one, in parentheses."""
    while (at := text.find(r"\frac{")) >= 0 or (at := text.find(r"\tfrac{")) >= 0:
        first = text.index("{", at)
        middle = braces(text, first)
        last = braces(text, middle + 1)
        text = f"{text[:at]}(({text[first + 1 : middle]})/({text[middle + 2 : last]})){text[last + 1 :]}"
    while (at := text.find("^{")) >= 0:
        last = braces(text, at + 1)
        text = f"{text[:at]}^({text[at + 2 : last]}){text[last + 1 :]}"
    text = re.sub(r"(?<![\w.])e\^\(", "exp(", text)
    for old, new in ((r"\|", "|"), (r"\le", "<="), (r"\ge", ">="), (r"\ ", " "), ("\\", "")):
        text = text.replace(old, new)
    text = re.sub(r"text\{(\w+)\}", r"\1", text)
    return re.sub(r"log (\w+)", r"log(\1)", text)


def number_of(text: str, **values: float) -> Any:
    """A formula of numbers: factors side by side are multiplied."""
    text = re.sub(r"\|([^|]*)\|", r"abs(\1)", text.replace("^", "**"))
    text = re.sub(r"(?<=[\w)])\s+(?=[\w(])", "*", text)
    names = {"log": np.log, "exp": np.exp, "abs": abs, "max": max, "sqrt": np.sqrt}
    return eval(text or "0", names | values)


def occurrence(name: str, w: Any, arguments: Any) -> Occurrence:
    row, numbers, *_ = SCALAR[name]
    variables = tuple(cp.Variable(name=f"u{k}") for k in range(len(arguments)))
    return Occurrence(TABLE[row], None, None, variables, tuple(arguments), w, numbers)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("name", SCALAR)
def test_a_cost_that_is_read_as_a_number_is_the_supremum(name, weight):
    """sup over u of y u - w a(u), of y as it stands, of a multiple, and of a sum."""
    _, _, function, domain, (low, high) = SCALAR[name]
    w = WEIGHTS[weight]
    for at in (low, high):
        target = at * float(w.value)
        supremum = (target * domain - float(w.value) * function(domain)).max()
        for argument, value in ((y, target), (2 * y, target / 2), (-y, -target), (y - 1, target + 1)):
            one = occurrence(name, w, [argument])
            for speaker, read in ((PLAIN, str), (LATEX, without_latex)):
                words = one.row.latex if speaker.latex else one.row.plain
                told = filled(words.cost, one, speaker)
                found = number_of(read(told), y=value, lam=0.7, w=0.9)
                assert found == pytest.approx(supremum, rel=2e-3, abs=2e-3), told


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize(
    ("row", "numbers", "inside", "outside"),
    [
        ("abs", {}, (-0.9, 0.9), (-1.1, 1.1)),
        ("pos", {}, (0.0, 0.9), (-0.1, 1.1)),
        ("huber", {"M": 1.5}, (-2.9, 2.9), (-3.1, 3.1)),
        ("exp", {}, (0.0, 5.0), (-0.1,)),
        ("logistic", {}, (0.0, 0.9), (-0.1, 1.1)),
        ("-log", {}, (-5.0, -0.1), (0.1,)),
    ],
)
def test_a_domain_that_is_read_as_a_condition_is_where_the_supremum_is_finite(row, numbers, inside, outside, weight):
    w = WEIGHTS[weight]
    for shares, expected in ((inside, True), (outside, False)):
        for share in shares:
            value = share * float(w.value)
            for argument, at in ((y, value), (y + 1, value - 1), (2 * y, value / 2)):
                one = Occurrence(TABLE[row], None, None, (y,), (argument,), w, numbers)
                for speaker, read in ((PLAIN, str), (LATEX, without_latex)):
                    words = one.row.latex if speaker.latex else one.row.plain
                    told = filled(words.domain, one, speaker)
                    assert number_of(read(told), y=at, lam=0.7, w=0.9) == expected, told


@pytest.mark.parametrize(
    ("row", "numbers", "w", "ys", "plain"),
    [
        ("square", {"p": 2.0}, cp.Constant(1.0), [y], "y^2 / 4"),
        ("square", {"p": 2.0}, cp.Constant(0.5), [y - 1], "(y - 1)^2 / 2"),
        ("square", {"p": 2.0}, cp.Constant(0.25), [y], "y^2"),
        ("square", {"p": 2.0}, lam, [-y], "y^2 / (4 lam)"),
        ("exp", {}, cp.Constant(1.0), [y], "(y log(y) - y)"),
        ("exp", {}, cp.Constant(2.0), [y], "(y log(y/2) - y)"),
        ("-log", {}, cp.Constant(1.0), [y], "(log(1/(-y)) - 1)"),
        ("-log", {}, cp.Constant(1.0), [-y], "(log(1/(y)) - 1)"),
        ("-entr", {}, cp.Constant(1.0), [y], "exp(y - 1)"),
        ("-entr", {}, cp.Constant(3.0), [y], "3 exp(y/3 - 1)"),
        ("logistic", {}, cp.Constant(1.0), [y], "(y log(y) + (1 - y) log(1 - y))"),
        ("power even", {"p": 4.0}, cp.Constant(1.0), [y], "0.4725 |y|^(4/3)"),
        ("power below 0", {"p": -1.0}, cp.Constant(1.0), [y], "-2 (-y)^(1/2)"),
    ],
)
def test_a_weight_of_1_is_not_said_and_numbers_are_multiplied_out(row, numbers, w, ys, plain):
    one = Occurrence(TABLE[row], None, None, (y,), tuple(ys), w, numbers)
    assert filled(one.row.plain.cost, one, PLAIN) == plain


def test_arguments_have_letters():
    a, b = cp.Variable(name="a"), cp.Variable(name="b")
    of_two = Occurrence(TABLE["maximum"], None, None, (a, b), (a, b), cp.Constant(2.0))
    assert letters_of(of_two, PLAIN) == ["u_1", "u_2"]
    assert letters_of(of_two, LATEX) == ["u_{1}", "u_{2}"]
    assert filled(of_two.row.plain.atom, of_two, PLAIN) == "max(u_1, u_2)"
    assert filled(of_two.row.plain.domain, of_two, PLAIN) == "a, b >= 0, a + b = 2"
    turned = Occurrence(TABLE["maximum"], None, None, (a, b), (a, -b), cp.Constant(2.0))
    assert filled(turned.row.plain.domain, turned, PLAIN) == "a, - b >= 0, a - b = 2"
    over = Occurrence(TABLE["quad_over_lin"], None, None, (a, b), (a, b), cp.Constant(1.0))
    assert letters_of(over, PLAIN) == ["u", "r"]
    assert filled(over.row.plain.domain, over, PLAIN) == "|a|^2 / 4 <= -b"
    assert filled("", over, PLAIN) == ""


# --- Pages --------------------------------------------------------------------------------------------------------

x, v = cp.Variable(name="x"), cp.Variable(3, name="v")
A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
M = cp.Variable((2, 3), name="M")
S = cp.Variable((2, 2), symmetric=True, name="S")


def parts(objective, *constraints):
    objective = objective if isinstance(objective, cp.Minimize | cp.Maximize) else cp.Minimize(objective)
    return parts_of(Model.of(cp.Problem(objective, list(constraints)), maximise=True, moving=False))


def labelled(constraint, label):
    return constraint.set_label(label)


def test_a_page_has_the_objective_the_multipliers_and_the_conditions_with_their_sources():
    made = parts(cp.sum_squares(v), labelled(cp.sum(v) == 1, "mass"), labelled(A @ v >= 1, "cover"))
    assert text_of(made, {"A": A}).splitlines() == [
        "maximise    - nu_mass + 1'lambda_cover - |y_1|^2 / 4",
        "over        nu_mass, lambda_cover, y_1",
        "subject to  nu_mass 1 - A'lambda_cover + y_1 = 0    (coefficient of v)",
        "            lambda_cover >= 0                       (cover)",
    ]
    assert latex_of(made, {"A": A}).splitlines() == [
        r"\begin{aligned}",
        r"\text{maximise} \quad & - \nu_{\text{mass}} + 1^\top \lambda_{\text{cover}} - \frac{\|y_{1}\|^2}{4} \\",
        r"\text{subject to} \quad & \nu_{\text{mass}} 1 - A^\top \lambda_{\text{cover}} + y_{1} = 0 \\",
        r"& \lambda_{\text{cover}} \ge 0",
        r"\end{aligned}",
    ]
    assert shown(made, {"A": A}) == f"$$\n{latex_of(made, {'A': A})}\n$$"


def test_of_a_maximisation_the_dual_is_minimised_with_the_signs_turned():
    made = parts(cp.Maximize(2 * x - cp.square(x)), labelled(x <= 3, "top"))
    page = text_of(made, {})
    assert page.splitlines()[0] == "minimise    3 lambda_top + y_1^2 / 4"
    assert "- 2 + lambda_top + y_1 = 0" in page


def test_a_dual_without_anything_says_so():
    page = text_of(parts(x - x), {})
    assert page.splitlines() == ["maximise    0", "over        nothing"]


def test_each_row_and_each_column_has_its_condition():
    assert conditions_of(parts(cp.sum(cp.norm(M, 2, axis=1))), PLAIN)[1] == ("|y_1| <= 1 (each row)", "norm2")
    assert conditions_of(parts(cp.sum(cp.norm(M, 2, axis=0))), PLAIN)[1] == ("|y_1| <= 1 (each column)", "norm2")
    assert conditions_of(parts(cp.sum(cp.norm(M, 2, axis=1))), LATEX)[1][0].endswith(r"\quad \text{(each row)}")
    assert conditions_of(parts(cp.norm(M, "fro")), PLAIN)[1] == ("|y_1| <= 1", "norm2")
    of_rows = parts(cp.sum(cp.sum_squares(M, axis=1)))
    assert objective_of(of_rows, PLAIN) == "- sum over rows |y_1|^2 / 4"
    assert objective_of(of_rows, LATEX) == r"- \textstyle\sum_{\text{rows}} \frac{\|y_{1}\|^2}{4}"
    assert objective_of(parts(cp.sum(cp.sum_squares(M, axis=0))), PLAIN) == "- sum over columns |y_1|^2 / 4"


@pytest.mark.parametrize(
    ("constraint", "plain", "latex"),
    [
        (v <= 1, "lambda_c >= 0", r"\lambda_{c} \ge 0"),
        (v == 1, None, None),
        (S >> np.eye(2), "Z_c psd", r"Z_{c} \succeq 0"),
        (cp.SOC(x, v), "|z_c| <= s_c", r"\|z_{c}\| \le s_{c}"),
        (
            cp.ExpCone(v[0], v[1], v[2]),
            "(s_c, z_c, r_c) in the dual exponential cone",
            r"(s_{c}, z_{c}, r_{c}) \in K^*_{\text{exponential}}",
        ),
        (
            cp.PowCone3D(v[0], v[1], v[2], 0.3),
            "(s_c, z_c, r_c) in the dual power cone",
            r"(s_{c}, z_{c}, r_{c}) \in K^*_{\text{power}}",
        ),
    ],
)
def test_a_multiplier_is_said_to_lie_in_its_cone(constraint, plain, latex):
    made = parts(x + cp.sum(v) + cp.trace(S), labelled(constraint, "c"))
    for speaker, words in ((PLAIN, plain), (LATEX, latex)):
        found = [condition for condition, source in conditions_of(made, speaker) if source == "c"]
        assert found == ([] if words is None else [words])


def test_a_weight_that_may_be_negative_must_not_be():
    """The multiplier of v_1 <= x is the weight of the norm; one that is a parameter has its sign already."""
    t = cp.Variable(name="t")
    held = parts(t, labelled(cp.exp(x) <= t, "top"))
    assert ("y_1 >= 0", "exp") in conditions_of(held, PLAIN)
    assert ("lambda_top >= 0", "top") in conditions_of(held, PLAIN)
    weighed = Occurrence(TABLE["square"], None, x, (x,), (y,), cp.Variable(name="w"), {"p": 2.0})
    for speaker, words in ((PLAIN, "w >= 0"), (LATEX, r"w \ge 0")):
        assert (words, "square") in conditions_of(replace(held, atoms=(weighed,)), speaker)
    moved = replace(weighed, w=lam)
    assert not [c for c, source in conditions_of(replace(held, atoms=(moved,)), PLAIN) if source == "square"]


def test_what_nothing_asks_for_leaves_its_domain_only():
    made = parts(x, labelled(x >= 1, "c"))
    none = Occurrence(TABLE["-log"], None, x, (x,), (y,), cp.Constant(0.0))
    bare = replace(made, atoms=(none,), multipliers=(), equations={})
    assert conditions_of(bare, PLAIN) == [("y <= 0", "-log")]
    assert "log" not in objective_of(bare, PLAIN)


def test_a_sum_that_is_subtracted_stands_in_parentheses():
    made = parts(cp.exp(x) + cp.inv_pos(x) - x)
    assert objective_of(made, PLAIN) == "- (y_1 log(y_1) - y_1) + 2 (-y_2)^(1/2)"
    assert objective_of(parts(cp.sum(cp.exp(v))), PLAIN) == "- sum (y_1 log(y_1) - y_1)"


def test_constants_of_determinants_are_numbers_where_the_weight_is():
    assert objective_of(parts(-cp.log_det(S) + cp.trace(S)), PLAIN).startswith("- (-2")
    two = objective_of(parts(-2 * cp.log_det(S) + cp.trace(S)), PLAIN)
    assert f"{2 * (2 * np.log(2) - 2):.6g}" in two
    moving = objective_of(parts(-lam * cp.log_det(S) + cp.trace(S)), PLAIN)
    assert "2 lam log lam - 2 lam" in moving
    assert r"2 \text{lam} \log \text{lam} - 2 \text{lam}" in objective_of(parts(-lam * cp.log_det(S)), LATEX)


def test_the_lagrangian_is_a_product_a_line():
    made = parts(cp.exp(x) + x, labelled(x <= 3, "top"), labelled(v == 1, "all"))
    assert lagrangian_of(made, PLAIN) == [
        "v_1 + x",
        "+ lambda_top (x - 3)    (top)",
        "+ nu_all'(v - 1)    (all)",
        "+ w_1'(exp(u_1) - v_1)",
        "+ y_1'(x - u_1)",
    ]


def test_a_derivation_goes_step_by_step_to_the_page():
    made = parts(cp.exp(x) - x)
    told = derivation_of(made, {}).splitlines()
    assert [line[:2] for line in told if line[1:2] == "."] == ["1.", "2.", "3.", "4."]
    assert told[1] == "   v_1 >= exp(u_1), u_1 = x"
    assert "   exp:  y_1'u_1 <= 1 [exp(u_1)] + (y_1 log(y_1) - y_1)  if y_1 >= 0, else there is no bound" in told
    assert "   v_1:  w_1 = 1" in told
    assert "   x:  - 1 + y_1 = 0" in told
    assert "\n".join(told).endswith("What is left is the dual:\n\n" + text_of(made, {}))
    unbounded = derivation_of(parts((lam + 1) * cp.square(x)), {})
    assert "y_1'u_1 <= (lam + 1) [u_1^2] + y_1^2 / (4 (lam + 1))" in unbounded
    assert "else there is no bound" not in unbounded


def test_each_copy_has_a_name_of_its_own():
    """x - 1 and z - 2 are two copies, u_1 and u_2, and each weight is a line."""
    z = cp.Variable(name="z")
    told = derivation_of(parts(cp.square(x - 1) + cp.square(z - 2), labelled(x + z >= 4, "sum")), {}).splitlines()
    for line in (
        "v_1 >= u_1^2, u_1 = x - 1",
        "v_2 >= u_2^2, u_2 = z - 2",
        "+ y_2'(z - 2 - u_2)",
        "v_2:  w_2 = 1",
        "square:  y_2'u_2 <= 1 [u_2^2] + y_2^2 / 4",
        "what is left:  4 lambda_sum - y_1 - 2 y_2 - y_1^2 / 4 - y_2^2 / 4",
    ):
        assert f"   {line}" in told, told
    several = derivation_of(parts(cp.maximum(x, z, 1) + cp.quad_over_lin(x, z)), {})
    assert "v_1 >= max(u_1a, u_1b, u_1c), u_1a = x, u_1b = z, u_1c = 1" in several
    assert "v_2 >= |u_2|^2 / r_2, u_2 = x, r_2 = z" in several


def test_a_maximisation_says_where_its_signs_turn_and_a_linear_one_has_no_step_of_atoms():
    z = cp.Variable(name="z")
    made = parts(cp.Maximize(3 * x + 5 * z + 7), labelled(x <= 4, "a"), labelled(2 * z <= 12, "b"))
    told = derivation_of(made, {})
    heads = [line for line in told.splitlines() if line[1:2] == "."]
    assert [head[:3] for head in heads] == ["1. ", "2. ", "3. "]
    assert "maximise f = - minimise - f" in heads[0]
    assert "   what is left:  - 7 - 4 lambda_a - 12 lambda_b\n" in told
    assert told.endswith("and minus it is the dual:\n\n" + text_of(made, {}))
    assert "affine gets" not in told
    assert "Fenchel" not in told
    fewer = derivation_of(made, {}, replace(made, eliminated=(("lambda_a", cp.Constant(3.0), "x"),)))
    assert "4. Eliminated, since one of these equations gives it:\n   lambda_a = 3    (x)" in fewer


def test_names_of_the_user_are_not_taken_for_new_letters():
    """Every name of the derivation stands for one thing: variables y1, u2, w_1, the parameter v3 and the array h1."""
    own = [cp.Variable(name=name) for name in ("y1", "u2", "w_1")]
    scale = cp.Parameter(nonneg=True, value=2.0, name="v3")
    price = cp.Parameter(nonneg=True, value=2.0, name="lambda_cap")
    held = cp.Variable(name="held", nonneg=True)
    limit = cp.Parameter(value=1.0, name="mu_held")
    goal = sum(cp.exp(each) for each in own) + scale * cp.square(held) + cp.quad_form(cp.hstack(own), np.eye(3) * 2)
    cap = labelled(price * cp.sum(cp.hstack(own)) >= limit, "cap")
    model = Model.of(cp.Problem(cp.Minimize(goal), [cap]), maximise=True, moving=False)
    made = parts_of(model, ["h1"])
    theirs = {"y1", "u2", "w_1", "v3", "lambda_cap", "held", "mu_held", "h1"}
    ours = {v.name() for v in made.built().variables()}
    assert not theirs & ours
    assert {"lambda_of_cap", "mu_of_held", "q_1"} <= ours
    told = derivation_of(made, {"h1": np.array([3.0, 4.0])})
    assert "t_1 >= exp(a_1), a_1 = y1" in told
    assert "+ k_1'(exp(a_1) - t_1)" in told
    assert "+ q_2'(u2 - a_2)" in told
    assert "g_5'P g_5 / 4" in told
    assert "+ mu_of_held (- held)" in told
    latex = latex_of(made, {})
    assert "q_{1}" in latex
    assert "y_{1}" not in latex
    values = made.built().solve("CLARABEL"), model.problem.solve("CLARABEL")
    assert values[0] == pytest.approx(values[1], abs=1e-5)


def test_where_the_lagrangian_is_least_is_told_as_on_a_board():
    """Of the point of least norm with A x = b it is x = - A'nu / 2, and A x = b gives nu = - 2 inv(A A') b."""
    A, b = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 1.0]]), np.array([1.0, 2.0])
    x = cp.Variable(3, name="x")
    rows = [(A @ x == b).set_label("eq")]
    told = pc.dual(cp.Problem(cp.Minimize(cp.sum_squares(x)), rows), names={"A": A, "b": b}).simplified().derivation()
    assert "   The Lagrangian is least where x = - 1/2 A'nu_eq." in told
    assert told.endswith("maximise    - b'nu_eq - |A'nu_eq|^2 / 4\nover        nu_eq")
    nu = -2 * np.linalg.solve(A @ A.T, b)
    assert np.allclose(-0.5 * A.T @ nu, np.linalg.pinv(A) @ b)
    scaled = cp.Problem(cp.Minimize(3 * cp.sum_squares(x - 1) + cp.sum(x)), rows)
    told = pc.dual(scaled, names={"A": A, "b": b}).simplified().derivation()
    assert "The Lagrangian is least where x - 1 = 1/6 (- 1 - A'nu_eq)." in told
    beside = cp.Problem(cp.Minimize(cp.square(x[0] - 2) + cp.norm1(x)), rows)  # y_1 is not known by nu alone
    assert "is least where" not in pc.dual(beside, names={"A": A, "b": b}).simplified().derivation()
