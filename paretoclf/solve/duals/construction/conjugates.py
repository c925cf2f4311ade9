r"""The table of conjugates: of each convex atom a the function :math:`(wa)^*(y) = \sup_u y^\top u - w\,a(u)`.

Each row is the one fact that a dual needs of an atom: Fenchel-Young's inequality,

.. math:: y^\top u \le w\,a(u) + (wa)^*(y) \quad\text{for every } u \text{ in the domain of } a,\ w \ge 0.

A row has the function in words and in LaTeX, where it is finite, what is left of it at w = 0 (the support function of
the domain), and how CVXPY states it, convex in w and y together. Concave atoms stand with a minus: the row of
``-log`` is that of minus the logarithm.

In words ``<u>`` and ``<r>`` are the first and the second argument, ``<y>`` and ``<s>`` their multipliers, ``<w>`` the
weight; ``<p>``, ``<q>``, ``<k>``, ``<M>``, ``<P>`` numbers of the atom, with 1/p + 1/q = 1; ``<c>``, ``<d>``, ``<e>``
numbers that follow from them; ``<h>`` a variable of the row's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.solve.models.lazily import cp

#: Cost and constraints, as CVXPY states them.
Stated = tuple[Any, list[Any]]

#: Makes them of the weight, the multipliers of the arguments and the numbers of the atom.
Statement = Callable[[Any, Sequence[Any], "Mapping[str, Any]"], Stated]


@dataclass(frozen=True)
class RowText:
    """One row as a text: the atom, its conjugate, where that is finite, and what is left of it at w = 0."""

    atom: str
    cost: str
    domain: str
    at_zero: str


@dataclass(frozen=True)
class Conjugate:
    """One row of the table.

    Attributes
    ----------
    name : str
        That of the atom, with a minus for a concave one.
    plain, latex : RowText
    state : callable
        ``state(w, ys, numbers)`` is the conjugate as a convex cost and constraints of CVXPY.
    """

    name: str
    plain: RowText
    latex: RowText
    state: Statement = field(repr=False)


TABLE: dict[str, Conjugate] = {}

#: Rows of functions that are even in their first argument: the sign of its multiplier does not matter.
EVEN = ("abs", "norm1", "norm_inf", "norm2", "pnorm", "square", "sum_squares", "huber", "power even", "quad_over_lin")


def _row(name: str, plain: tuple[str, str, str, str], latex: tuple[str, str, str, str]) -> Callable[..., Statement]:
    """Put a statement into the table, with its words."""

    def entered(state: Statement) -> Statement:
        TABLE[name] = Conjugate(name, RowText(*plain), RowText(*latex), state)
        return state

    return entered


# --- What several rows share -------------------------------------------------------------------------------------


def is_number(expression: Any) -> bool:
    """Whether an expression of CVXPY holds neither variables nor parameters."""
    return not expression.variables() and not expression.parameters()


def number(expression: Any) -> Any:
    """The value of a constant expression, as an array."""
    value = expression.value
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=float)


def flat(expression: Any) -> Any:
    """The entries in a row, column by column."""
    return expression if expression.ndim == 1 else cp.reshape(expression, (expression.size,), order="F")


def spread(w: Any, shape: tuple[int, ...], axis: int | None) -> Any:
    """The weight of each slice at every entry of it."""
    if axis is None:
        return w * np.ones(shape)
    if axis == 0:
        return np.ones((shape[0], 1)) @ cp.reshape(w, (1, w.size), order="F")
    return cp.reshape(w, (w.size, 1), order="F") @ np.ones((1, shape[1]))


def _bound(condition: Any, w: Any) -> Stated:
    """A conjugate that is 0 on a set: the unit ball of a dual norm, w times as large."""
    return 0, [condition <= w]


def _same(w: Any) -> Any:
    """The weight that all entries have in common, or None."""
    if w.size == 1:
        return w
    if type(w).__name__ == "Promote":
        return w.args[0]
    if is_number(w) and np.ptp(number(w)) == 0:
        return cp.Constant(number(w).ravel()[0])
    return None


def squares_over(w: Any, y: Any, axis: int | None = None, *, elementwise: bool = False) -> Stated:
    """Sum of y^2 / (4 w), where w belongs to every entry, or to every slice of the axis."""
    one = _same(w)
    if one is not None and is_number(one):
        weight = float(number(one))
        return (cp.sum_squares(y) / (4 * weight), []) if weight > 0 else (0, [y == 0])
    if one is not None and one.ndim == 0:
        if not one.parameters():
            return cp.quad_over_lin(y, 4 * one), []
        # CVXPY does not take a parameter in the second place for DPP; a variable that is equal to it, it does.
        held = cp.Variable(nonneg=True)
        return cp.quad_over_lin(y, 4 * held), [held == one]
    # y^2 <= 4 w t says that (y, t - w) is no longer than t + w.
    w = flat(w)
    t = cp.Variable(w.size)
    columns = cp.reshape(y, (1, y.size), order="F") if elementwise else (y.T if axis == 1 else y)
    below = cp.reshape(t - w, (1, w.size), order="F")
    return cp.sum(t), [cp.SOC(t + w, cp.vstack([columns, below]), axis=0)]


def _square_of(y: Any, n: int) -> Any:
    """The multipliers of a matrix."""
    return y if y.shape == (n, n) else cp.reshape(y, (n, n), order="F")


def _symmetric(y: Any) -> Any:
    """The symmetric part: atoms of symmetric matrices leave the other free."""
    return y if isinstance(y, cp.Variable) and y.is_symmetric() else (y + y.T) / 2


# --- Entry by entry ----------------------------------------------------------------------------------------------


@_row(
    "abs",
    ("|<u>|", "", "|<y>| <= <w>", "<y> = 0"),
    (r"|<u>|", "", r"|<y>| \le <w>", "<y> = 0"),
)
def _abs(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Absolute values."""
    return _bound(cp.abs(ys[0]), w)


@_row(
    "maximum",
    ("max(<us>)", "", "<ys> >= 0, <sum> = <w>", "<ys> = 0"),
    (r"\max(<us>)", "", r"<ys> \ge 0,\ <sum> = <w>", "<ys> = 0"),
)
def _maximum(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """The largest of several, where a constant among them is one of them."""
    total = ys[0]
    for y in ys[1:]:
        total = total + y
    return 0, [*(y >= 0 for y in ys), total == w]


@_row(
    "pos",
    ("max(<u>, 0)", "", "0 <= <y> <= <w>", "<y> = 0"),
    (r"\max(<u>, 0)", "", r"0 \le <y> \le <w>", "<y> = 0"),
)
def _pos(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Positive parts: the multiplier of the 0 is what is left of w."""
    return 0, [ys[0] >= 0, ys[0] <= w]


@_row(
    "square",
    ("<u>^2", "<sum of><y>^2 / (4 <w>)", "", "<y> = 0"),
    (r"<u>^2", r"<sum of>\frac{<y>^2}{4 <w>}", "", "<y> = 0"),
)
def _square(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Squares."""
    one = _same(w)
    if one is None and is_number(w):
        weights = number(w)
        used = weights > 0
        scaled = np.where(used, 0.25 / np.where(used, weights, 1.0), 0.0)
        none = [cp.multiply(np.where(used, 0.0, 1.0), ys[0]) == 0] if not used.all() else []
        return cp.sum(cp.multiply(scaled, cp.square(ys[0]))), none
    return squares_over(w, ys[0], elementwise=True)


@_row(
    "huber",
    ("huber(<u>)", "<sum of><y>^2 / (4 <w>)", "|<y>| <= 2 <M> <w>", "<y> = 0"),
    (r"\operatorname{huber}_{<M>}(<u>)", r"<sum of>\frac{<y>^2}{4 <w>}", r"|<y>| \le 2 <M> <w>", "<y> = 0"),
)
def _huber(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Squares up to M, lines beyond."""
    M = numbers["M"]
    if w.parameters() and isinstance(M, cp.Expression):
        raise InputError(
            "huber with a Parameter for M must not be multiplied by another one: |y| <= 2 M w is not DPP; "
            "give one of the two as a number"
        )
    cost, more = _square(w, ys, numbers)
    return cost, [*more, cp.abs(ys[0]) <= 2 * M * w]


def power_constant(p: float) -> float:
    """The factor of the conjugate of a power."""
    if p > 1:
        return float((1 - 1 / p) * p ** (-1 / (p - 1)))
    if p > 0:
        return float((1 - p) * p ** (p / (1 - p)))
    return float((1 - 1 / p) * (-p) ** (1 / (1 - p)))


@_row(
    "power even",
    ("<u>^<p>", "<c> <sum of>|<y>|^(<q>) <w>^(<e>)", "", "<y> = 0"),
    (r"<u>^{<p>}", r"<c> <sum of>|<y>|^{<q>} <w>^{<e>}", "", "<y> = 0"),
)
def _power_even(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Powers 4, 8, ... of any number."""
    return _power_above(w, ys[0], cp.abs(ys[0]), numbers["p"])


@_row(
    "power above 1",
    ("<u>^<p>, <u> >= 0", "<c> <sum of>max(<y>, 0)^(<q>) <w>^(<e>)", "", "<y> <= 0"),
    (r"<u>^{<p>},\ <u> \ge 0", r"<c> <sum of>\max(<y>, 0)^{<q>} <w>^{<e>}", "", r"<y> \le 0"),
)
def _power_above_1(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Other powers above 1, which CVXPY takes of nonnegative numbers only."""
    return _power_above(w, ys[0], cp.pos(ys[0]), numbers["p"])


def _power_above(w: Any, y: Any, size: Any, p: float) -> Stated:
    """Cost c t with t >= size^q w^(1 - q)."""
    t, h = cp.Variable(y.size, nonneg=True), cp.Variable(y.size, nonneg=True)
    inside = cp.PowCone3D(t, flat(w), h, 1 - 1 / p)
    return power_constant(p) * cp.sum(t), [flat(size) <= h, inside]


@_row(
    "-power below 1",
    ("-<u>^<p>", "<c> <sum of>(-<y>)^(-<d>) <w>^(<e>)", "<y> < 0", "<y> <= 0"),
    (r"-<u>^{<p>}", r"<c> <sum of>(-<y>)^{-<d>} <w>^{<e>}", "<y> < 0", r"<y> \le 0"),
)
def _minus_power(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Roots."""
    p, y = numbers["p"], ys[0]
    t = cp.Variable(y.size, nonneg=True)
    inside = cp.PowCone3D(t, -flat(y), flat(w), 1 - p)
    return power_constant(p) * cp.sum(t), [inside]


@_row(
    "power below 0",
    ("<u>^<p>", "-<c> <sum of>(-<y>)^(<q>) <w>^(<e>)", "<y> <= 0", "<y> <= 0"),
    (r"<u>^{<p>}", r"-<c> <sum of>(-<y>)^{<q>} <w>^{<e>}", r"<y> \le 0", r"<y> \le 0"),
)
def _power_below_0(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Inverses of powers."""
    p, y = numbers["p"], ys[0]
    h = cp.Variable(y.size, nonneg=True)
    inside = cp.PowCone3D(-flat(y), flat(w), h, p / (p - 1))
    return -power_constant(p) * cp.sum(h), [inside]


@_row(
    "exp",
    ("exp(<u>)", "<sum of>(<y> log(<y>/<w>) - <y>)", "<y> >= 0", "<y> = 0"),
    (r"e^{<u>}", r"<sum of>(<y> \log(<y>/<w>) - <y>)", r"<y> \ge 0", "<y> = 0"),
)
def _exp(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Exponentials."""
    return cp.sum(cp.rel_entr(ys[0], w)) - cp.sum(ys[0]), []


@_row(
    "logistic",
    (
        "log(1 + exp(<u>))",
        "<sum of>(<y> log(<y>/<w>) + (<w> - <y>) log(1 - <y>/<w>))",
        "0 <= <y> <= <w>",
        "<y> = 0",
    ),
    (
        r"\log(1 + e^{<u>})",
        r"<sum of>(<y> \log(<y>/<w>) + (<w> - <y>) \log(1 - <y>/<w>))",
        r"0 \le <y> \le <w>",
        "<y> = 0",
    ),
)
def _logistic(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Logistic losses."""
    y = ys[0]
    below, above = cp.rel_entr(y, w), cp.rel_entr(w - y, w)
    return cp.sum(below) + cp.sum(above), []


@_row(
    "-log",
    ("-log(<u>)", "<sum of>(<w> log(<w>/(-<y>)) - <w>)", "<y> <= 0", "<y> <= 0"),
    (r"-\log <u>", r"<sum of>(<w> \log\frac{<w>}{-<y>} - <w>)", r"<y> \le 0", r"<y> \le 0"),
)
def _minus_log(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Logarithms."""
    return cp.sum(cp.rel_entr(w, -ys[0])) - cp.sum(w), []


@_row(
    "-log1p",
    ("-log(1 + <u>)", "<sum of>(<w> log(<w>/(-<y>)) - <w> - <y>)", "<y> <= 0", "<y> <= 0, and the cost is -<y>"),
    (
        r"-\log(1 + <u>)",
        r"<sum of>(<w> \log\frac{<w>}{-<y>} - <w> - <y>)",
        r"<y> \le 0",
        r"<y> \le 0, \text{ and the cost is } -<y>",
    ),
)
def _minus_log1p(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Logarithms of 1 and more."""
    cost, more = _minus_log(w, ys, numbers)
    return cost - cp.sum(ys[0]), more


@_row(
    "-entr",
    ("<u> log(<u>)", "<sum of><w> exp(<y>/<w> - 1)", "", "<y> <= 0"),
    (r"<u> \log <u>", r"<sum of><w> e^{<y>/<w> - 1}", "", r"<y> \le 0"),
)
def _minus_entr(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Entropies."""
    y = ys[0]
    if is_number(w) and np.all(number(w) > 0):
        weights = number(w)
        exponents = cp.multiply(1 / weights, y) - 1
        return cp.sum(cp.multiply(weights, cp.exp(exponents))), []
    t = cp.Variable(y.size)
    weight = flat(w)
    return cp.sum(t), [cp.ExpCone(flat(y) - weight, weight, t)]


@_row(
    "rel_entr",
    ("<u> log(<u>/<r>)", "", "<w> exp(<y>/<w> - 1) <= -<s>", "<y> <= 0, <s> <= 0"),
    (r"<u> \log(<u>/<r>)", "", r"<w> e^{<y>/<w> - 1} \le -<s>", r"<y> \le 0,\ <s> \le 0"),
)
def _rel_entr(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Relative entropies."""
    y, s, weight = (flat(each) for each in (*ys, w))
    return 0, [cp.ExpCone(y - weight, weight, -s)]


@_row(
    "kl_div",
    ("<u> log(<u>/<r>) - <u> + <r>", "", "<w> exp(<y>/<w>) <= <w> - <s>", "<y> <= 0, <s> <= 0"),
    (r"<u> \log(<u>/<r>) - <u> + <r>", "", r"<w> e^{<y>/<w>} \le <w> - <s>", r"<y> \le 0,\ <s> \le 0"),
)
def _kl_div(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Divergences of Kullback and Leibler."""
    y, s, weight = (flat(each) for each in (*ys, w))
    return 0, [cp.ExpCone(y, weight, weight - s)]


# --- Slice by slice: of all entries, or of each row or column -------------------------------------------------------


@_row(
    "norm1",
    ("|<u>|_1", "", "|<y>|_inf <= <w>", "<y> = 0"),
    (r"\|<u>\|_1", "", r"\|<y>\|_\infty \le <w>", "<y> = 0"),
)
def _norm1(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Sums of absolute values."""
    return _bound(cp.norm_inf(ys[0], axis=numbers["axis"]), w)


@_row(
    "norm_inf",
    ("|<u>|_inf", "", "|<y>|_1 <= <w>", "<y> = 0"),
    (r"\|<u>\|_\infty", "", r"\|<y>\|_1 \le <w>", "<y> = 0"),
)
def _norm_inf(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Largest absolute values."""
    return _bound(cp.norm1(ys[0], axis=numbers["axis"]), w)


@_row(
    "norm2",
    ("|<u>|", "", "|<y>| <= <w>", "<y> = 0"),
    (r"\|<u>\|", "", r"\|<y>\| \le <w>", "<y> = 0"),
)
def _norm2(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Lengths."""
    return _bound(cp.pnorm(ys[0], 2, axis=numbers["axis"]), w)


@_row(
    "pnorm",
    ("|<u>|_<p>", "", "|<y>|_<q> <= <w>", "<y> = 0"),
    (r"\|<u>\|_{<p>}", "", r"\|<y>\|_{<q>} \le <w>", "<y> = 0"),
)
def _pnorm(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Norms between those."""
    p = numbers["p"]
    return _bound(cp.pnorm(ys[0], p / (p - 1), axis=numbers["axis"], approx=False), w)


@_row(
    "-pnorm below 1",
    ("-|<u>|_<p>, <u> >= 0", "", "<y> <= 0, |-<y>|_<q> >= <w>", "<y> <= 0"),
    (r"-\|<u>\|_{<p>},\ <u> \ge 0", "", r"<y> \le 0,\ \|-<y>\|_{<q>} \ge <w>", r"<y> \le 0"),
)
def _minus_pnorm(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Powers below 1 in place of a norm, which are concave."""
    p, y = numbers["p"], ys[0]
    norms = cp.pnorm(-y, p / (p - 1), axis=numbers["axis"], approx=False)
    return 0, [y <= 0, norms >= w]


@_row(
    "max",
    ("max <u>", "", "<y> >= 0, 1'<y> = <w>", "<y> = 0"),
    (r"\max <u>", "", r"<y> \ge 0,\ 1^\top <y> = <w>", "<y> = 0"),
)
def _max(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Largest entries."""
    return 0, [ys[0] >= 0, cp.sum(ys[0], axis=numbers["axis"]) == w]


@_row(
    "sum_largest",
    ("sum of the <k> largest of <u>", "", "0 <= <y> <= <w>, 1'<y> = <k> <w>", "<y> = 0"),
    (r"\textstyle\sum_{i \le <k>} <u>_{[i]}", "", r"0 \le <y> \le <w>,\ 1^\top <y> = <k> <w>", "<y> = 0"),
)
def _sum_largest(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Sums of the largest entries."""
    y, axis = ys[0], numbers["axis"]
    top, total = spread(w, y.shape, axis), numbers["k"] * w
    return 0, [y >= 0, y <= top, cp.sum(y, axis=axis) == total]


@_row(
    "dotsort",
    ("sorted <u>' sorted c", "", "<y> = P c, P >= 0, rows and columns of P sum to <w>", "<y> = 0"),
    (
        r"\textstyle\sum_i <u>_{[i]} c_{[i]}",
        "",
        r"<y> = P c,\ P \ge 0,\ P 1 = P^\top 1 = <w> 1",
        "<y> = 0",
    ),
)
def _dotsort(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Weights for ranks: the hull of all orders of the weights."""
    y, c = flat(ys[0]), flat(numbers["c"])
    P = cp.Variable((y.size, y.size), nonneg=True)
    ones = np.ones(y.size)
    total = w * ones
    mixed = P[:, : c.size] @ c
    return 0, [P @ ones == total, P.T @ ones == total, y == mixed]


@_row(
    "cummax",
    ("cummax(<u>)", "", "<y> = P'1, P >= 0 lower triangular, P 1 = <w>", "<y> = 0"),
    (
        r"\operatorname{cummax}(<u>)",
        "",
        r"<y> = P^\top 1,\ P \ge 0 \text{ lower triangular},\ P 1 = <w>",
        "<y> = 0",
    ),
)
def _cummax(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Largest entries so far."""
    y = ys[0]
    columns = [(w, y)]
    if y.ndim > 1:
        columns = [(w[:, column], y[:, column]) for column in range(y.shape[1])]
    conditions = []
    for weight, each in columns:
        P = cp.Variable((each.size, each.size), nonneg=True)
        ones = np.ones(each.size)
        above = np.triu(np.ones((each.size, each.size)), 1)
        conditions += [P @ ones == weight, P.T @ ones == each]
        conditions.append(cp.multiply(above, P) == 0)
    return 0, conditions


@_row(
    "sum_squares",
    ("|<u>|^2", "|<y>|^2 / (4 <w>)", "", "<y> = 0"),
    (r"\|<u>\|^2", r"\frac{\|<y>\|^2}{4 <w>}", "", "<y> = 0"),
)
def _sum_squares(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Sums of squares."""
    y, axis = ys[0], numbers["axis"]
    if w.size > 1 and _same(w) is None and is_number(w):
        return _square(spread(w, y.shape, axis), ys, numbers)
    return squares_over(w, y, axis)


@_row(
    "quad_over_lin",
    ("|<u>|^2 / <r>", "", "|<y>|^2 / (4 <w>) <= -<s>", "<y> = 0, <s> <= 0"),
    (r"\frac{\|<u>\|^2}{<r>}", "", r"\frac{\|<y>\|^2}{4 <w>} \le -<s>", r"<y> = 0,\ <s> \le 0"),
)
def _quad_over_lin(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Squares over a denominator that moves."""
    y, s, axis = ys[0], ys[1], numbers["axis"]
    if axis is None:
        # |y|^2 <= 4 w (-s) is a cone: it needs no division where w is 0.
        below = cp.hstack([flat(y), flat(w + s)])
        return 0, [cp.SOC(flat(w - s)[0], below)]
    # One denominator for all slices: each takes its share of the multiplier.
    shares = cp.Variable(w.size)
    slices = y.T if axis == 1 else y
    columns = cp.vstack([slices, cp.reshape(w + shares, (1, w.size), order="F")])
    return 0, [cp.SOC(w - shares, columns, axis=0), cp.sum(shares) == s]


@_row(
    "log_sum_exp",
    ("log sum exp(<u>)", "1'(<y> log(<y>/<w>))", "<y> >= 0, 1'<y> = <w>", "<y> = 0"),
    (r"\log 1^\top e^{<u>}", r"1^\top (<y> \log(<y>/<w>))", r"<y> \ge 0,\ 1^\top <y> = <w>", "<y> = 0"),
)
def _log_sum_exp(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Logarithms of sums of exponentials."""
    y, axis = ys[0], numbers["axis"]
    entropies = cp.rel_entr(y, spread(w, y.shape, axis))
    return cp.sum(entropies), [cp.sum(y, axis=axis) == w]


@_row(
    "-geo_mean",
    ("-prod <u>^g", "", "<y> <= 0, prod (-<y>/g)^g >= <w>", "<y> <= 0"),
    (r"-\prod <u>^g", "", r"<y> \le 0,\ \prod (-<y>/g)^g \ge <w>", r"<y> \le 0"),
)
def _minus_geo_mean(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Geometric means, with weights g of sum 1: one power cone after another."""
    y, g, axis = ys[0], numbers["g"], numbers["axis"]
    y = y if axis is not None else cp.reshape(y, (1, y.size), order="F")
    y = y.T if axis == 0 else y
    w = flat(w) if w.ndim else cp.reshape(w, (1,), order="F")
    used = np.flatnonzero(g)
    columns = [-y[:, k] / g[k] for k in used]
    conditions = [y[:, k] == 0 for k in np.flatnonzero(g == 0)]
    mean, share = columns[0], g[used[0]]
    if used.size == 1:
        return 0, [*conditions, mean >= w, mean >= 0]
    for k, column in zip(used[1:], columns[1:], strict=True):
        before, share = share, share + g[k]
        next_mean = w if k == used[-1] else cp.Variable(w.size)
        conditions.append(cp.PowCone3D(mean, column, next_mean, before / share))
        mean = next_mean
    return 0, conditions


# --- Of matrices: y pairs as tr(Y'U) ---------------------------------------------------------------------------------


@_row(
    "quad_form",
    ("<u>'<P> <u>", "<h>'<P> <h> / (4 <w>)", "<y> = <P> <h>", "<y> = 0"),
    (r"<u>^\top <P> <u>", r"\frac{<h>^\top <P> <h>}{4 <w>}", r"<y> = <P> <h>", "<y> = 0"),
)
def _quad_form(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Quadratic forms, of a singular matrix, too, and of one with parameters."""
    P, y = numbers["P"], flat(ys[0])
    h = cp.Variable(y.size)
    if isinstance(P, cp.Expression) and not (is_number(w) and number(w) > 0):
        # No root of P is affine in its parameters; that y'(w P)^-1 y is at most 4 t is said by a matrix without one.
        t = cp.Variable()
        column = cp.reshape(y, (y.size, 1), order="F")
        corner = cp.reshape(t, (1, 1), order="F")
        return t, [cp.bmat([[4 * w * P, column], [column.T, corner]]) >> 0]
    if is_number(w) and number(w) > 0:
        weight = float(number(w))
        square = cp.quad_form(h, cp.psd_wrap(P))
        return square / (4 * weight), [P @ h == y]
    values, vectors = np.linalg.eigh(P)
    factor = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    cost, more = squares_over(w, factor @ h)
    return cost, [P @ h == y, *more]


@_row(
    "matrix_frac",
    ("tr(<u>'<r>^-1 <u>)", "", "[[-<s>, <y>], [<y>', 4 <w> I]] psd", "<y> = 0, -<s> psd"),
    (
        r"\operatorname{tr} <u>^\top <r>^{-1} <u>",
        "",
        r"\begin{bmatrix} -<s> & <y> \\ <y>^\top & 4 <w> I \end{bmatrix} \succeq 0",
        r"<y> = 0,\ -<s> \succeq 0",
    ),
)
def _matrix_frac(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Squares over a matrix that moves."""
    y = ys[0]
    if y.ndim != 2:
        y = cp.reshape(y, (y.size, 1), order="F")
    count = y.shape[1]
    corner = cp.multiply(np.eye(count), spread(w, (count, count), None) * 4)
    return 0, [cp.bmat([[-_symmetric(ys[1]), y], [y.T, corner]]) >> 0]


@_row(
    "lambda_max",
    ("lambda_max(<u>)", "", "<y> psd, tr <y> = <w>", "<y> = 0"),
    (r"\lambda_{\max}(<u>)", "", r"<y> \succeq 0,\ \operatorname{tr} <y> = <w>", "<y> = 0"),
)
def _lambda_max(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Largest eigenvalues."""
    return 0, [_symmetric(ys[0]) >> 0, cp.trace(ys[0]) == w]


@_row(
    "lambda_sum_largest",
    ("sum of the <k> largest eigenvalues of <u>", "", "0 <= <y> <= <w> I, tr <y> = <k> <w>", "<y> = 0"),
    (
        r"\textstyle\sum_{i \le <k>} \lambda_i(<u>)",
        "",
        r"0 \preceq <y> \preceq <w> I,\ \operatorname{tr} <y> = <k> <w>",
        "<y> = 0",
    ),
)
def _lambda_sum_largest(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Sums of the largest eigenvalues."""
    Y = _symmetric(ys[0])
    room = w * np.eye(Y.shape[0]) - Y
    return 0, [Y >> 0, room >> 0, cp.trace(Y) == numbers["k"] * w]


@_row(
    "normNuc",
    ("|<u>|_nuclear", "", "sigma_max(<y>) <= <w>", "<y> = 0"),
    (r"\|<u>\|_*", "", r"\sigma_{\max}(<y>) \le <w>", "<y> = 0"),
)
def _norm_nuc(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Sums of singular values."""
    return _bound(cp.sigma_max(ys[0]), w)


@_row(
    "sigma_max",
    ("sigma_max(<u>)", "", "|<y>|_nuclear <= <w>", "<y> = 0"),
    (r"\sigma_{\max}(<u>)", "", r"\|<y>\|_* \le <w>", "<y> = 0"),
)
def _sigma_max(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Largest singular values."""
    return _bound(cp.normNuc(ys[0]), w)


@_row(
    "-log_det",
    ("-log det <u>", "<const> - <w> log det(-<y>)", "-<y> pd", "-<y> psd"),
    (
        r"-\log\det <u>",
        r"<const> - <w> \log\det(-<y>)",
        r"-<y> \succ 0",
        r"-<y> \succeq 0",
    ),
)
def _minus_log_det(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Logarithms of determinants: of a triangular factor Z of -y, the sum of those of its diagonal."""
    Y = _symmetric(ys[0])
    n = Y.shape[0]
    Z, h = cp.Variable((n, n)), cp.Variable(n)
    above = np.triu(np.ones((n, n)), 1)
    block = cp.bmat([[-Y, Z], [Z.T, cp.diag(cp.diag(Z))]])
    cones = cp.ExpCone(h, w * np.ones(n), cp.diag(Z))
    triangular = cp.multiply(above, Z) == 0
    return -cp.sum(h) - n * w, [block >> 0, triangular, cones]


@_row(
    "tr_inv",
    ("tr <u>^-1", "-2 sqrt(<w>) tr (-<y>)^(1/2)", "-<y> psd", "-<y> psd"),
    (
        r"\operatorname{tr} <u>^{-1}",
        r"-2 \sqrt{<w>} \operatorname{tr} (-<y>)^{1/2}",
        r"-<y> \succeq 0",
        r"-<y> \succeq 0",
    ),
)
def _tr_inv(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Traces of inverses."""
    Y = _symmetric(ys[0])
    n = Y.shape[0]
    Z = cp.Variable((n, n))
    block = cp.bmat([[w * np.eye(n), Z], [Z.T, -Y]])
    return -2 * cp.trace(Z), [block >> 0]


@_row(
    "perspective",
    ("<r> f(<u>/<r>)", "", "(<w> f)*(<y>) <= -<s>", "the support function of the domain of f at <y> is at most -<s>"),
    (
        r"<r> f(<u>/<r>)",
        "",
        r"(<w> f)^*(<y>) \le -<s>",
        r"\sigma_{\operatorname{dom} f}(<y>) \le -<s>",
    ),
)
def _perspective(w: Any, ys: Sequence[Any], numbers: Mapping[str, Any]) -> Stated:
    """Perspectives: the conjugate of their function is that of its own tree."""
    s, *own = ys
    cost, more = numbers["conjugate"](w, own)
    return 0, [cost <= -s, *more]
