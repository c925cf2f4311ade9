"""Expressions as a textbook writes them, in plain text and in LaTeX."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.solve.duals.notation import Speaker, joined

A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
K = np.array([[2.0, 1.0], [1.0, 3.0]])
B = np.array([1.0, -2.0, 0.5])
x, z, s, Y = cp.Variable(3, name="x"), cp.Variable(2, name="z"), cp.Variable(name="s"), cp.Variable((2, 2), name="Y")
lam = cp.Parameter(name="lambda_0", nonneg=True)
NAMES = {"A": A, "K": K, "b": B}
PLAIN, LATEX = Speaker(NAMES), Speaker(NAMES, latex=True)

SAID = [
    (x * 0, "0", "0"),
    (A @ x, "A x", "A x"),
    (A.T @ z, "A'z", r"A^\top z"),
    (-A @ x + z, "- A x + z", "- A x + z"),
    (z - A @ x, "z - A x", "z - A x"),
    (B @ x, "b'x", r"b^\top x"),
    (x @ B, "x'b", r"x^\top b"),
    (z @ A, "z'A", r"z^\top A"),
    (2 * s, "2 s", "2 s"),
    (1 * s, "s", "s"),
    (-s / 2, "- 1/2 s", r"- \tfrac{1}{2} s"),
    (lam * x, "lambda_0 x", r"\lambda_{0} x"),
    (lam * (x + 1), "lambda_0 (x + 1)", r"\lambda_{0} (x + 1)"),
    ((lam + 1) * x, "(lambda_0 + 1) x", r"(\lambda_{0} + 1) x"),
    (cp.multiply(B, x), "b.x", r"b \circ x"),
    (cp.multiply(x, B), "x.b", r"x \circ b"),
    (cp.multiply(np.full(3, 2.0), x), "2 x", "2 x"),
    (cp.sum(x), "1'x", r"1^\top x"),
    (cp.sum(x + B), "1'(x + b)", r"1^\top(x + b)"),
    (cp.sum(A @ x), "1'(A x)", r"1^\top(A x)"),
    (cp.sum(cp.multiply(B, x)), "b'x", r"b^\top x"),
    (cp.sum(cp.multiply(K, Y)), "tr(K Y)", r"\operatorname{tr}(K Y)"),
    (cp.sum(Y, axis=0), "sums of Y", r"\textstyle\sum Y"),
    (cp.trace(Y), "tr(Y)", r"\operatorname{tr}(Y)"),
    (cp.diag(x), "diag(x)", r"\operatorname{diag}(x)"),
    (cp.diag(Y), "diag(Y)", r"\operatorname{diag}(Y)"),
    (Y.T, "Y'", r"Y^\top"),
    (Y.T.T, "Y", "Y"),
    (cp.sum(Y + K, axis=0), "sums of (Y + K)", r"\textstyle\sum (Y + K)"),
    (x[1], "x[1]", "x_{1}"),
    ((x + B)[0:2], "(x + b)[0:2]", "(x + b)_{0:2}"),
    (cp.log_sum_exp(x), "log sum exp(x)", r"\log 1^\top e^{x}"),
    (cp.hstack([x, z]), "[x; z]", "[x; z]"),
    (s / 4, "1/4 s", r"\tfrac{1}{4} s"),
    (s / lam, "s/lambda_0", r"s/\lambda_{0}"),
    (x / lam, "x/lambda_0", r"x/\lambda_{0}"),
    ((x + B) / (2 * lam), "(x + b)/(2 lambda_0)", r"(x + b)/(2 \lambda_{0})"),
    (cp.Constant(np.ones(3)) / lam, "1/lambda_0 1", r"1/\lambda_{0} 1"),
    (cp.Constant(B) / lam, "b/lambda_0", r"b/\lambda_{0}"),
    (x / B, "x/b", "x/b"),
    (Y[np.eye(2, dtype=bool)], "Y[0, 0; 1, 1]", "Y_{0, 0; 1, 1}"),
    (cp.hstack([x, x])[np.ones(6, dtype=bool)], "[x; x][6 places]", "[x; x]_{6 places}"),
    (x[2] / (lam + 1), "x[2]/(lambda_0 + 1)", r"x_{2}/(\lambda_{0} + 1)"),
    (cp.Constant(np.eye(3)), "I", "I"),
    (cp.Constant(np.arange(6.0).reshape(2, 3)), "[2 x 3 numbers]", r"[2 x 3\text{ numbers}]"),
    (cp.Constant(-3 * np.ones(4)), "- 3", "- 3"),
    (cp.Constant(-B), "- b", "- b"),
    (cp.promote(s, (3,)), "s 1", "s 1"),
    (cp.reshape(x, (3, 1), order="F"), "x", "x"),
    (sp.csc_array(np.eye(5)[:, 1:4]) @ x, "(x at [1, 2, 3])", r"[x]_{\text{at }1, 2, 3}"),
]


@pytest.mark.parametrize("number", range(len(SAID)))
def test_it_is_said_as_in_a_textbook(number):
    expression, plain, latex = SAID[number]
    assert (PLAIN.sum(expression), LATEX.sum(expression)) == (plain, latex)


def shapes(*, latex):
    """What a matrix that puts entries at places says."""
    speaker = LATEX if latex else PLAIN
    put = sp.csc_array((np.ones(1), ([2], [0])), shape=(6, 1))
    far = sp.csc_array((np.ones(5), ([0, 1, 2, 4, 6], range(5))), shape=(8, 5))
    near = sp.csc_array(np.eye(8)[:, 1:6])
    u, v = cp.Variable(1, name="u"), cp.Variable(5, name="v")
    twice = sp.csc_array(2 * np.eye(5))
    two = sp.csc_array(np.eye(6)[:, [1, 4]])
    placed = cp.reshape(put @ u, (2, 3), order="F"), cp.reshape(two @ z, (2, 3), order="F")
    return [speaker.sum(e) for e in (*placed, far @ v, near @ v, far @ (v - 1), twice @ v, far @ (v * 0))]


def test_entries_at_their_places():
    assert shapes(latex=False) == [
        "(u at [0, 1])",
        "(z at [2 places])",
        "(v at [0, ..., 6])",
        "(v at [1:6])",
        "(v - 1 at [0, ..., 6])",
        "[5 x 5 numbers] v",
        "0",
    ]
    assert shapes(latex=True)[0] == r"[u]_{\text{at }0, 1}"
    assert shapes(latex=True)[3] == r"[v]_{\text{at }1:6}"


@pytest.mark.parametrize(
    ("name", "plain", "latex"),
    [
        ("y_1", "y_1", "y_{1}"),
        ("v_12a", "v_12a", r"v_{\text{12a}}"),
        ("lambda_top", "lambda_top", r"\lambda_{\text{top}}"),
        ("nu", "nu", r"\nu"),
        ("x0", "x0", "x_{0}"),
        ("x'", "x'", "x'"),
        ("x_1''", "x_1''", "x_{1}''"),
        ("cost", "cost", r"\text{cost}"),
        ("mu_l_x", "mu_l_x", r"\mu_{\text{l\_x}}"),
        ("x_i", "x_i", "x_{i}"),
        ("5% & #", "5% & #", r"\text{5\% \& \#}"),
    ],
)
def test_names(name, plain, latex):
    assert (PLAIN.leaf(name), LATEX.leaf(name)) == (plain, latex)


@pytest.mark.parametrize(
    ("value", "plain", "latex"),
    [
        (2.0, "2", "2"),
        (0.5, "1/2", r"\tfrac{1}{2}"),
        (5 / 12, "5/12", r"\tfrac{5}{12}"),
        (1 / 13, "0.0769231", "0.0769231"),
        (0.1, "0.1", "0.1"),
        (0.3, "0.3", "0.3"),
        (1234.0, "1234", "1234"),
        (12345.0, "12345", "12345"),
        (1e-7, "1e-07", r"1 \cdot 10^{-7}"),
        (2.5e9, "2.5e+09", r"2.5 \cdot 10^{9}"),
        (0.333333, "0.333333", "0.333333"),
    ],
)
def test_numbers(value, plain, latex):
    assert (PLAIN.digits(value), LATEX.digits(value)) == (plain, latex)


def test_arrays_are_known_by_their_numbers():
    given = Speaker({"A": sp.csc_array(A), "b": B, "K": K})
    assert given.named(A) == (1, "A")
    assert given.named(-A.T) == (-1, "A'")
    assert given.named(-B) == (-1, "b")
    assert given.named(K) == (1, "K")
    assert given.named(A + 1) is None
    assert given.named(B[:2]) is None


def test_factors_sums_and_products():
    assert PLAIN.factor(s) == "s"
    assert PLAIN.factor(-s) == "(- s)" == f"({PLAIN.sum(-s)})"
    assert PLAIN.factor(s + 1) == "(s + 1)"
    assert joined([]) == "0"
    assert joined([(1, "a"), (-1, "b"), (1, "c")]) == "a - b + c"
    a, two, one = [(1, "a")], [(-1, "2")], [(-1, "1")]
    assert PLAIN.times(two, a) == [(-1, "2 a")]
    assert PLAIN.times(one, [*a, (-1, "b")]) == [(-1, "a"), (1, "b")]
    assert PLAIN.times([*a, (1, "b")], one) == [(-1, "a"), (-1, "b")]
    assert PLAIN.times([*a, (1, "b")], two) == [(-1, "(a + b) 2")]
    assert PLAIN.times(two, [*a, (1, "b")]) == [(-1, "2 (a + b)")]
    assert PLAIN.times(two, []) == PLAIN.times([], a) == PLAIN.product([], a, "") == PLAIN.product(a, [], "") == []
    assert PLAIN.product(two, one, ".") == [(1, "2.1")]
    assert PLAIN.product(a, [(-1, "3/4 b")], "") == [(-1, "3/4 a b")]
    assert PLAIN.product([(1, "3 a")], [(1, "b")], "") == [(1, "(3 a) b")]
    assert PLAIN.product([(1, "(a + b)")], [(1, "c d")], ".") == [(1, "(a + b).(c d)")]
    assert PLAIN.product([(1, "(a) (b)")], [(1, "[2 numbers]")], "") == [(1, "((a) (b)) [2 numbers]")]
    assert PLAIN.product([(1, "a'")], [*a, (-1, "b")], "") == [(1, "a'(a - b)")]
    assert LATEX.product([(1, r"\tfrac{1}{2} a")], [(1, r"\tfrac{1}{3} b")], " ") == [
        (1, r"\tfrac{1}{3} (\tfrac{1}{2} a) b")
    ]


def test_equal_terms_are_collected_and_what_adds_up_to_0_is_left_out():
    x, c = cp.Variable(2, name="x"), cp.Parameter(2, name="c")
    speaker = Speaker()
    assert speaker.sum(x + x + c) == "2 x + c"
    assert speaker.sum(c @ x - x[0] + c @ x) == "2 c'x - x[0]"
    assert speaker.sum(x - c + x - x - x) == "- c"
    assert speaker.sum(x - x) == "0"
    assert speaker.factor(x + x + x) == "3 x"
    assert Speaker(latex=True).sum(-x - x) == "- 2 x"
    first, second = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 3.0], [3.0, 4.0]])
    both = speaker.sum(first @ x + second @ x)  # two arrays of one shape are written alike, and are not the same
    assert both == "[2 x 2 numbers] x + [2 x 2 numbers] x"
    square = cp.Variable((2, 2), name="Y")
    turned = cp.reshape(square, (2, 2), order="C") - cp.reshape(square, (2, 2), order="F")
    assert speaker.sum(turned) == "Y - Y"  # which of them is which is not said, and they are not the same
    assert speaker.sum(cp.sum(square, axis=0) - cp.sum(square, axis=1)) == "sums of Y - sums of Y"
