"""Small files of ranges and of derivatives, and what Clarabel says of the programs that they state."""

from __future__ import annotations

import json
from fractions import Fraction

import cvxpy as cp
import numpy as np

import paretoclf as pc
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.proof import check_ranges
from paretoclf.proof.files.ranges_certificate import FoundMove, SideInDoubles, ranges_certificate, stated_point

#: A side of which nothing is compared.
ANY = SideInDoubles(np.nan)


def goods():
    """Two goods that are sold, a budget and a cap."""
    x = cp.Variable(2, nonneg=True, name="x")
    rows = [(x[0] + x[1] <= 6).set_label("budget"), (x[0] <= 4).set_label("cap")]
    return pc.ranges(cp.Problem(cp.Maximize(3 * x[0] + 2 * x[1] + 1), rows), progress=False)


def degenerate():
    """Three rows meet where there would be two: prices differ to both sides."""
    x = cp.Variable(2, name="x")
    rows = [x[0] + x[1] <= 2, x[0] <= 1, x[1] <= 1, x[0] - x[1] == 0, x >= -3]
    return pc.ranges(cp.Problem(cp.Minimize(-x[0] - 2 * x[1]), rows), progress=False)


def flat():
    """A value that goes on where its basis ends: z gives way before x does."""
    x, z = cp.Variable(name="x"), cp.Variable(name="z")
    rows = [x >= 1, z >= 0, z <= 3, (x + z >= 0.5).set_label("need"), x <= 9]
    return pc.ranges(cp.Problem(cp.Minimize(x), rows), progress=False)


def curved():
    """A portfolio of three."""
    rng = np.random.default_rng(3)
    A, x = rng.integers(-3, 4, (3, 3)), cp.Variable(3, name="x")
    rows = [(cp.sum(x) == 1).set_label("all"), (x <= 0.75).set_label("most"), (x >= 0).set_label("least")]
    mean = rng.integers(0, 9, 3) / 8
    return pc.ranges(cp.Problem(cp.Minimize(cp.sum_squares(A @ x) / 8 - mean @ x), rows), progress=False)


def jump():
    """An optimum that jumps where its cost changes sign."""
    x, a = cp.Variable(name="x"), cp.Parameter(name="a", value=1.0)
    return pc.derivatives(cp.Problem(cp.Minimize((a - 1) * x + a), [x >= 0, x <= 1]), {a: 1.0})


def least_squares():
    """Two parameters that move together, in the objective and in a row."""
    A, p, x = np.random.default_rng(0).integers(-4, 5, (3, 3)), cp.Parameter(2, name="p"), cp.Variable(3, name="x")
    p.value = [0.5, 0.75]
    objective = cp.Maximize(-cp.sum_squares(A @ x - 1) + p[0] * x[1] + p[1])
    return pc.derivatives(cp.Problem(objective, [cp.sum(x) == p[1], x >= p[0] - 1]), {p: [1.0, -2.0]})


def priced():
    """Kinks and prices: two absolute values, a row that may be left at a price, a bound that no one has."""
    P, A = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[1.0, -1.0]])
    lower, upper = np.array([[0.0, -np.inf, -1.0]]), np.array([[0.0, 0.5, 1.0]])
    below, above = np.array([[0.25, np.inf, 2.0]]), np.array([[0.5, np.inf, 0.75]])
    q = np.array([[-1.0, -2.0]])
    line = ParametricQP(P, A, *(np.repeat(each, 2, axis=0) for each in (q, lower, upper, below, above)))
    one = Fraction(1)
    moves = [
        FoundMove("cost", [("q", 0, one), ("q", 1, Fraction(-1, 3))], ANY, ANY),
        FoundMove("kink", [("lower", 0, one), ("upper", 0, one), ("constant", 0, 2 * one)], ANY, ANY),
        FoundMove("bound", [("upper", 1, -one)], ANY, None),
        FoundMove("row", [("upper", 2, one)], None, ANY),
    ]
    return ranges_certificate(stated_point(line, 0.5, 1), np.array([0, 1, 0]), moves, False)


MADE = {
    "goods": goods,
    "degenerate": degenerate,
    "flat": flat,
    "curved": curved,
    "jump": jump,
    "least squares": least_squares,
    "priced": priced,
}


def content_of_ranges(name):
    """A content, as it is read from its file."""
    found = MADE[name]()
    content = found if isinstance(found, dict) else found.proof.make(False)
    return json.loads(json.dumps(content))


def value(problem, entries, s):
    """The value of a stated program, s units along a movement, by Clarabel; infinite where there is none."""
    numbers = {name: [None if v is None else float(Fraction(v)) for v in problem[name][0]] for name in ("q", *SIDES)}
    constant = float(Fraction(problem.get("constant", 0)))
    for field, item, rate in entries:
        if field == "constant":
            constant += s * float(Fraction(rate))
        else:
            numbers[field][item] += s * float(Fraction(rate))
    size = len(problem["K"])
    P = np.zeros((size, size))
    for i, row in enumerate(problem["K"]):
        P[i, : i + 1] = P[: i + 1, i] = [float(Fraction(v)) for v in row]
    P += np.diag([float(Fraction(v)) for v in problem.get("diagonal", [0] * size)])
    A = np.array([[float(Fraction(v)) for v in row] for row in problem["A"]]).reshape(-1, size)
    x = cp.Variable(size)
    items, rows, penalties = cp.hstack([x, A @ x]) if len(A) else x, [], []
    for side, price, sign in (("lower", "below", -1), ("upper", "above", 1)):
        for item, (bound, cost) in enumerate(zip(numbers[side], numbers[price], strict=True)):
            if bound is not None and cost is None:
                rows.append(sign * (items[item] - bound) <= 0)
            elif bound is not None:
                penalties.append(cost * cp.pos(sign * (items[item] - bound)))
    objective = cp.quad_form(x, cp.psd_wrap(P)) / 2 + numbers["q"] @ x + sum(penalties)
    solved = cp.Problem(cp.Minimize(objective), rows)
    solved.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    if solved.status not in ("optimal", "optimal_inaccurate"):
        return np.inf
    return problem.get("sign", 1) * (solved.value + constant)


SIDES = ("lower", "upper", "below", "above")


def objections(content, tol=1e-6):
    """What Clarabel has against what is proved of a content: at the point, on both sides, and beyond the ends."""
    problem = content["problem"]
    proved = check_ranges.check_ranges(problem, content["letters"], content["sides"])
    here, found = float(proved.value), []

    def differs(one, other):
        if np.isinf(one) or np.isinf(other):
            return one != other and not (np.isinf(one) and np.isinf(other))
        return abs(one - other) > tol * (1 + abs(one) + abs(here))

    for (name, entries), both in zip(problem["moves"], proved.sides, strict=True):
        for direction, side in zip((-1, 1), both, strict=True):
            if side is None:
                continue
            end = None if side.until is None else float(side.until)
            at = [] if side.price is None else [0.0, *(s * (8.0 if end is None else end) for s in (0.3, 0.999))]
            for s in at:
                stated = here + s * float(side.price) + s**2 * float(side.bend) / 2
                if differs(stated, value(problem, entries, direction * s)):
                    found.append(f"{name} at {direction * s}: not {stated}")
            if end is None:
                continue
            far = value(problem, entries, direction * (end + max(1.0, end)))
            stated = np.nan
            if side.price is not None:
                s = end + max(1.0, end)
                stated = here + s * float(side.price) + s**2 * float(side.bend) / 2
            if "no minimum" in side.after and np.isfinite(far):
                found.append(f"{name}: there is a minimum beyond {direction * end}")
            if "no minimum" not in side.after and abs(stated - far) <= 1e-9:
                found.append(f"{name}: the value goes on beyond {direction * end}")
    return found
