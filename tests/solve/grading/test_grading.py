"""Homework, graded: 300 planted answers whose truth is known in fractions, and none of them judged wrongly."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction as F

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from tests.oracles.mostly_slow import mostly_slow


def product(A, x):
    return [sum((F(a) * v for a, v in zip(row, x, strict=True)), F(0)) for row in A]


def dot(a, b):
    return sum((F(x) * y for x, y in zip(a, b, strict=True)), F(0))


def solved(A, b):
    """The solution of a regular system, in fractions."""
    n = len(b)
    rows = [[F(v) for v in row] + [F(v)] for row, v in zip(A, b, strict=True)]
    for j in range(n):
        k = next(i for i in range(j, n) if rows[i][j])
        rows[j], rows[k] = rows[k], [v / rows[k][j] for v in rows[k]] if k == j else rows[j]
        rows[j] = [v / rows[j][j] for v in rows[j]]
        rows = [
            row if i == j else [a - row[j] * c for a, c in zip(row, rows[j], strict=True)] for i, row in enumerate(rows)
        ]
    return [row[-1] for row in rows]


class Exercise:
    """Minimise x'Px/2 + c'x over Ax <= b, e'x = d: made around its optimum, all in whole numbers and halves."""

    def __init__(self, seed, quadratic, maximise):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(2, 4)), 4
        L = np.tril(rng.integers(-1, 2, size=(n, n)), -1) + np.eye(n, dtype=int)
        self.P = (L @ L.T if quadratic else np.zeros((n, n), dtype=int)).tolist()
        self.x = [F(int(v), 2) for v in rng.integers(1, 7, size=n) * rng.choice([-1, 1], size=n)]
        active = int(rng.integers(1, n)) if quadratic else n - 1
        self.A = rng.integers(-3, 4, size=(m, n)).tolist()
        while not all(any(row) for row in self.A):
            self.A = rng.integers(-3, 4, size=(m, n)).tolist()
        self.e = [1] * n
        self.lam = [F(int(v), 2) for v in rng.integers(1, 6, size=active)] + [F(0)] * (m - active)
        self.nu = F(int(rng.integers(1, 5)) * int(rng.choice([-1, 1])), 2)
        room = [0] * active + rng.integers(1, 5, size=m - active).tolist()
        self.b = [v + r for v, r in zip(product(self.A, self.x), room, strict=True)]
        self.d = sum(self.x)
        pull = self.residual(self.lam, self.nu, [F(0)] * n)
        self.c = [-p - q for p, q in zip(pull, product(self.P, self.x), strict=True)]
        self.best = self.value(self.x)
        self.quadratic, self.maximise = quadratic, maximise

    def residual(self, lam, nu, c):
        columns = list(zip(*self.A, strict=True))
        return [ci + dot(column, lam) + ei * nu for ci, column, ei in zip(c, columns, self.e, strict=True)]

    def value(self, x):
        return dot(x, product(self.P, x)) / 2 + dot(self.c, x)

    def truth_of(self, x):
        """What these values are, and whether by a margin that nobody calls rounding."""
        over = max([0, *(a - b for a, b in zip(product(self.A, x), self.b, strict=True)), abs(sum(x) - self.d)])
        if over:
            return "infeasible", over > F(1, 10)
        lost = self.value(x) - self.best
        return ("not optimal", lost > F(1, 10) * (1 + abs(self.best))) if lost else ("right", True)

    def multipliers_are_right(self, lam, nu):
        """Whether the dual function is the optimal value there."""
        if min(lam) < 0:
            return False
        r = self.residual(lam, nu, self.c)
        if not self.quadratic:
            return not any(r) and -dot(self.b, lam) - self.d * nu == self.best
        return -dot(r, solved(self.P, r)) / 2 - dot(self.b, lam) - self.d * nu == self.best

    @property
    def problem(self):
        x = cp.Variable(len(self.x), name="x")
        P, A, b, c = (np.array(each, dtype=float) for each in (self.P, self.A, self.b, self.c))
        objective = c @ x + (cp.quad_form(x, P) / 2 if self.quadratic else 0)
        constraints = [(A @ x <= b).set_label("limits"), (cp.sum(x) == float(self.d)).set_label("sum")]
        return cp.Problem(cp.Maximize(-objective) if self.maximise else cp.Minimize(objective), constraints)


def answers(exercise, rng):
    """Answers of pupils: what they did, values, multipliers."""
    x, lam, nu = exercise.x, exercise.lam, exercise.nu
    k = int(rng.choice(np.flatnonzero([bool(v) for v in lam])))

    def changed(v, how):
        return [how(each) if i == k else each for i, each in enumerate(v)]

    yield "right", x, lam, nu
    yield "sign of x", [-v for v in x], lam, nu
    yield "factor of x", [2 * v for v in x], lam, nu
    for _ in range(50):  # a feasible point, if one of these is
        v = [F(int(each), 2) for each in rng.integers(-3, 4, size=len(x))]
        inside = [a + b - sum(v) / len(x) for a, b in zip(x, v, strict=True)]
        if exercise.truth_of(inside)[0] == "not optimal":
            yield "inside", inside, lam, nu
            break
    step = solved([[F(i == j) * 2 + (i + j == 1) for j in range(len(x))] for i in range(len(x))], exercise.A[k])
    yield "beyond a limit", [v + s for v, s in zip(x, step, strict=True)], lam, nu
    yield "sign of a multiplier", x, changed(lam, lambda v: -v), nu
    yield "sign of the equation's", x, lam, -nu
    yield "factor of a multiplier", x, changed(lam, lambda v: 2 * v), nu
    yield "half of the equation's", x, lam, nu / 2
    yield "one too many", x, [*lam[:-1], lam[-1] + 1], nu
    yield "both", [2 * v for v in x], changed(lam, lambda v: v / 2), nu
    yield "forgotten", x, [F(0)] * len(lam), nu


@pytest.mark.parametrize("part", mostly_slow(range(5), 1))
def test_planted_answers_without_a_wrong_verdict(part):
    """Sixty of 300."""
    rng = np.random.default_rng(part)
    seen, done, wrong = Counter(), 0, []
    seed = 1000 * part
    while done < 60:
        exercise = Exercise(seed, quadratic=seed % 3 != 0, maximise=seed % 2 == 1)
        problem = exercise.problem
        seed += 1
        for what, x, lam, nu in answers(exercise, rng):
            truth, clear = exercise.truth_of(x)
            proves = exercise.multipliers_are_right(lam, nu)
            if not clear:
                continue
            if truth == "right" and not proves:
                truth = "wrong multipliers"
            said = pc.grade(problem, {"x": np.array(x, float)}, {"limits": np.array(lam, float), "sum": float(nu)})
            seen[truth] += 1
            done += 1
            right = {"right": True, "wrong multipliers": True}.get(truth, False)
            if (said.verdict, said.values, said.multipliers) != (truth, right, proves):
                wrong.append((seed, what, truth, proves, said))
            assert re.fullmatch(r"[^\n]+\.", said.sentence)
    assert not wrong
    assert min(seen[truth] for truth in ("right", "infeasible", "not optimal", "wrong multipliers")) >= 4, seen


# ---- exercises with a closed form: 140 answers, right or wrong by a margin that is known ---------------------------


def on_a_line(total=1.0):
    """Minimise |x|^2 where sum x is given: two halves; the multiplier is minus the total."""
    x = cp.Variable(2, name="x")
    half = total / 2
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(cp.sum(x) == total).set_label("mass")])
    return problem, {"x": [half, half]}, {"mass": -total}, {"x": [1.02 * half, 0.98 * half]}


def above_a_line():
    """The point of x + 2 y >= 5 that is nearest to 0."""
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(x[0] + 2 * x[1] >= 5).set_label("line")])
    return problem, {"x": [1.0, 2.0]}, {"line": 2.0}, {"x": [1.03, 1.985]}


def workshop():
    """A linear program with a corner that is its only optimum: 3 . 16 + 4 . 12."""
    x = cp.Variable(2, name="x", nonneg=True)
    rows = [(x[0] + 2 * x[1] <= 40).set_label("labour"), (x[0] <= 16).set_label("wood")]
    return (
        cp.Problem(cp.Maximize(3 * x[0] + 4 * x[1]), rows),
        {"x": [16.0, 12.0]},
        {"labour": 2.0, "wood": 1.0},
        {"x": [15.9, 12.05]},
    )


def on_a_disc():
    """The furthest point of a disc in a direction; the multiplier is the length of the direction."""
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Maximize(3 * x[0] + 4 * x[1]), [(cp.norm(x) <= 1).set_label("disc")])
    turned = np.arctan2(0.8, 0.6) + 0.01
    return problem, {"x": [0.6, 0.8]}, {"disc": 5.0}, {"x": [np.cos(turned), np.sin(turned)]}


def above_a_matrix():
    """The least trace above a matrix; the multiplier is the identity."""
    Z, low = cp.Variable((2, 2), name="Z", symmetric=True), np.array([[1.0, 0.5], [0.5, 1.0]])
    problem = cp.Problem(cp.Minimize(cp.trace(Z) + cp.sum_squares(Z - low)), [(Z >> low).set_label("above")])
    return problem, {"Z": low}, {"above": np.eye(2)}, {"Z": low + 0.01 * np.eye(2)}


def most_even():
    """The distribution of the largest entropy."""
    x = cp.Variable(4, name="x")
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [(cp.sum(x) == 1).set_label("mass")])
    return problem, {"x": np.full(4, 0.25)}, {"mass": np.log(4) - 1}, {"x": [0.252, 0.248, 0.25, 0.25]}


def water_filling():
    """Power for three channels; the water stands at 4/3."""
    x, noise = cp.Variable(3, name="x", nonneg=True), np.array([0.8, 1.0, 1.2])
    problem = cp.Problem(cp.Maximize(cp.sum(cp.log(x + noise))), [(cp.sum(x) == 1).set_label("power")])
    best = 4 / 3 - noise
    return problem, {"x": best}, {"power": 0.75}, {"x": best + np.array([0.01, -0.01, 0])}


def least_variance():
    """Shares of three independent assets: as the inverse of their variances."""
    x = cp.Variable(3, name="x")
    risk = cp.quad_form(x, np.diag([1.0, 2.0, 4.0]))
    problem = cp.Problem(cp.Minimize(risk), [(cp.sum(x) == 1).set_label("all")])
    return problem, {"x": np.array([4, 2, 1]) / 7}, {"all": -8 / 7}, {"x": np.array([4.07, 1.93, 1]) / 7}


def in_a_box():
    """The point of a box that is nearest to another, of 20 entries."""
    x, c = cp.Variable(20, name="x"), np.linspace(-1.9, 1.9, 20)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - c) / 2), [(x <= 1).set_label("box")])
    best = np.minimum(c, 1.0)
    near = best.copy()
    near[9] *= 1.1  # one entry of 20, by a tenth
    return problem, {"x": best}, {"box": np.maximum(c - 1, 0.0)}, {"x": near}


def two_variables():
    """Two variables that meet on a line, one dearer than the other."""
    x, y = cp.Variable(name="x"), cp.Variable(name="y")
    problem = cp.Problem(cp.Minimize(cp.square(x) + 3 * cp.square(y)), [(x + y == 4).set_label("sum")])
    return problem, {"x": 3.0, "y": 1.0}, {"sum": -6.0}, {"x": 3.03, "y": 0.97}


def with_a_room():
    """A limit that holds, and one with room, whose multiplier is 0."""
    x = cp.Variable(2, name="x")
    rows = [(x[0] >= 0.75).set_label("low"), (x[1] <= 1).set_label("high"), (cp.sum(x) == 1).set_label("mass")]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), rows)
    return problem, {"x": [0.75, 0.25]}, {"low": 1.0, "high": 0.0, "mass": -0.5}, {"x": [0.76, 0.24]}


def geometric():
    """The largest product of two sides."""
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Maximize(cp.geo_mean(x)), [(x[0] + 4 * x[1] <= 8).set_label("fence")])
    return problem, {"x": [4.0, 1.0]}, {"fence": 0.25}, {"x": [4.08, 0.98]}


EXERCISES = {
    "line": on_a_line,
    "line, tiny": lambda: on_a_line(2e-4),
    "line, huge": lambda: on_a_line(2e6),
    **{made.__name__: made for made in (above_a_line, workshop, on_a_disc, above_a_matrix, most_even, water_filling)},
    **{made.__name__: made for made in (least_variance, in_a_box, two_variables, with_a_room, geometric)},
}


def each(answer, how):
    return {name: how(np.asarray(value, dtype=float)) for name, value in answer.items()}


def four_digits(value):
    return np.vectorize(lambda number: float(f"{number:.4g}"))(value)


def one_entry(share):
    """The largest entry is off by a share."""

    def how(value):
        changed = value.copy()
        place = np.unravel_index(np.argmax(np.abs(value)), value.shape)
        changed[place] *= 1.0 + share
        return changed

    return how


@pytest.mark.parametrize("name", EXERCISES)
def test_answers_of_exercises_with_a_closed_form(name):
    """Before: 21 of the 140 had another verdict, most of them "Right ... and the multipliers prove it"."""
    problem, values, duals, near = EXERCISES[name]()
    wrong = {"not optimal", "infeasible"}
    answers = [
        (values, None, {"right"}),
        (each(values, four_digits), None, {"right"}),
        (near, None, wrong),  # feasible, and next to the optimum
        (each(values, one_entry(0.1)), None, wrong),
        (each(values, lambda v: 2 * v), None, wrong),
        (values, duals, {"right"}),
        (values, each(duals, four_digits), {"right"}),
        (values, each(duals, one_entry(0.01)), {"wrong multipliers"}),
        (values, each(duals, lambda v: -v), {"wrong multipliers"}),
        (each(values, four_digits), each(duals, lambda v: v / 2), {"wrong multipliers"}),
    ]
    assert 10 * len(EXERCISES) == 140
    for number, (x, multipliers, verdicts) in enumerate(answers):
        said = pc.grade(problem, x, multipliers)
        assert said.verdict in verdicts, (number, said)
        assert said.values is (verdicts in ({"right"}, {"wrong multipliers"})), (number, said)
        expected = None if multipliers is None else verdicts == {"right"}
        assert said.multipliers is expected, (number, said)


@pytest.mark.parametrize(
    ("name", "x", "duals", "sentence"),
    [
        ("line", [0.515, 0.485], None, "Not optimal: x[1] is 0.485, and 0.5 at the optimum, though the value, 0.50045, "
         "is right to three digits."),
        ("line", [0.5, 0.5], -1.01, "Wrong multipliers: the values are optimal, but the multiplier of mass is -1.01, "
         "and -1 at the optimum."),
        ("line", [0.5, 0.4996], -1.0, "Right: the values are optimal to three digits (value 0.4996, where 0.5 is the "
         "best; mass is violated by 0.0004), and the multipliers prove it."),
        ("workshop", [16, 12.01], None, "Right: the values are optimal to three digits (value 96.04, where 96 is the "
         "best; labour is violated by 0.02)."),
        ("workshop", [16, 11.99], None, "Right: the values are optimal to three digits (value 95.96, where 96 is the "
         "best)."),
        ("workshop", [16, 12.1], None, "Infeasible: labour is violated by 0.2."),
    ],
)  # fmt: skip
def test_three_digits_are_those_of_the_answer(name, x, duals, sentence):
    problem = EXERCISES[name]()[0]
    said = pc.grade(problem, {"x": x}, None if duals is None else {"mass": duals})
    assert said.sentence == sentence


def test_a_value_that_is_too_good_is_none():
    x = cp.Variable(name="x")
    low = cp.Problem(cp.Minimize(cp.square(x)), [(x >= 0.5).set_label("low")])
    said = pc.grade(low, {"x": 0.4993})
    assert said.sentence == "Infeasible: low is violated by 0.0007, and the value, 0.2493, is better than the best."
    assert said.values is False


def test_a_matrix_multiplier_is_symmetric_and_right_in_each_entry():
    problem, values, _, _ = above_a_matrix()
    for Z, words in (
        ([[1, 0.3], [-0.3, 1]], "the multiplier of above must be symmetric"),
        ([[1, 0.01], [0.01, 1]], "the multiplier of above[0, 1] is 0.01, and 0 at the optimum"),
    ):
        said = pc.grade(problem, values, {"above": Z})
        assert str(said) == f"Wrong multipliers: the values are optimal, but {words}."


def test_where_optima_are_many_three_digits_are_those_of_the_value():
    x = cp.Variable(2, name="x", nonneg=True)
    twice = [(cp.sum(x) >= 1).set_label("a"), (2 * cp.sum(x) >= 2).set_label("b")]
    problem = cp.Problem(cp.Minimize(cp.sum(x)), twice)
    said = pc.grade(problem, {"x": [0.25, 0.7502]}, {"a": 0.25, "b": 0.3751})
    assert (said.verdict, said.values, said.multipliers) == ("right", True, True)
    assert said.sentence == (
        "Right: the values are optimal to three digits of the value (value 1.0002, where 1 is the best), and the "
        "multipliers prove it to three digits of the value."
    )
    z = cp.Variable(2, name="z")  # z[0] is unique and z[1] is not
    half = cp.Problem(cp.Minimize(cp.square(z[0] - 1) + 1), [cp.abs(z[1]) <= 1])
    assert pc.grade(half, {"z": [1.0, 0.9]}).verdict == "right"
    assert str(pc.grade(half, {"z": [1.02, 0.9]})).startswith("Not optimal: z[0] is 1.02, and 1 at the optimum")
    assert pc.grade(half, {"z": [1.02, 0.9]}, tol=3e-2).verdict == "right"


@pytest.mark.parametrize("atom", [lambda loss: cp.cvar(loss, 0.9), lambda loss: cp.sum_largest(loss, 2.5)])
def test_a_solved_problem_is_graded_whatever_cvxpy_compiles_it_to(atom):
    """Before: TypeError, as CVXPY compiles these atoms only while variables hold no values."""
    losses = np.random.default_rng(0).normal(size=(20, 3))
    x, lam = cp.Variable(3, name="x", nonneg=True), cp.Parameter(nonneg=True, name="lam", value=0.1)
    problem = cp.Problem(cp.Minimize(atom(losses @ x) + lam * x[0]), [(cp.sum(x) == 1).set_label("all")])
    problem.solve("CLARABEL", tol_gap_rel=1e-11, tol_gap_abs=1e-11)
    best, value = x.value.copy(), problem.value
    assert pc.grade(problem, {"x": best}).verdict == "right"
    assert pc.grade(problem, {"x": np.roll(best, 1)}).verdict == "not optimal"
    assert x.value.tolist() == best.tolist()
    anew = cp.Problem(problem.objective, problem.constraints)  # not compiled yet, and its variables hold values
    assert pc.trace(anew, {lam: 0.1}, {lam: 1.0}).value(0.0) == pytest.approx(value, rel=1e-7)
    anew = cp.Problem(problem.objective, problem.constraints)
    assert pc.sweep(anew, {lam: [0.1]}, progress=False).values[0] == pytest.approx(value, rel=1e-7)
    assert x.value.tolist() == best.tolist()


def test_a_perspective_is_verified_and_graded():
    """Minimise z^2 / s + s, z >= 1: at z = s = 1. Before: AssertionError."""
    z, s = cp.Variable(name="z"), cp.Variable(name="s", nonneg=True)
    low = (z >= 1).set_label("low")
    problem = cp.Problem(cp.Minimize(cp.perspective(cp.square(z), s) + s), [low])
    assert pc.grade(problem, {"z": 1, "s": 1}, {"low": 2}).verdict == "right"
    problem.solve("CLARABEL", tol_gap_rel=1e-12, tol_gap_abs=1e-12, tol_feas=1e-12)
    proof = pc.verify(problem)
    assert proof.status == "optimal"
    assert proof.certificate.primal_value == pytest.approx(z.value**2 / s.value + s.value)
    assert pc.grade(problem, {"z": 1, "s": 1.02}).verdict == "not optimal"
    assert pc.grade(problem, {"z": 1, "s": 1}, {"low": 1.9}).verdict == "wrong multipliers"
    assert pc.grade(problem, {"z": 1, "s": 0}).verdict in ("infeasible", "undecided")  # no value was given for s = 0
    bound = cp.Problem(cp.Maximize(cp.perspective(cp.log(z), s) - z), [(s == 1).set_label("one")])
    assert pc.grade(bound, {"z": 1, "s": 1}).verdict == "right"


def exercise():
    x = cp.Variable(2, name="x")
    low = (x[0] >= 0.7).set_label("low")
    return cp.Problem(cp.Minimize(cp.sum_squares(x)), [(cp.sum(x) == 1).set_label("mass"), low])


RIGHT = "Right: the values are optimal to three digits (value 0.58008, where 0.58 is the best), and"
TOO = "; the multipliers are right."
WRONG = "Wrong multipliers: the values are optimal, but"


@pytest.mark.parametrize(
    ("x", "duals", "sentence"),
    [
        ([0.7, 0.3], None, "Right: the values are optimal (value 0.58)."),
        ([0.7001, 0.2999], [-0.6001, 0.8001], "RIGHT the multipliers prove it."),
        ([0.7, 0.3], [0.6, 0.8], "WRONG the multiplier of mass has the opposite sign of the solver's."),
        ([0.7, 0.3], [-0.6, 0.4], "WRONG the multiplier of low is half the solver's."),
        ([0.7, 0.3], [-1.2, 1.6], "WRONG the multiplier of mass and low is twice the solver's."),
        ([0.7, 0.3], [-0.6, 0.5], "WRONG the Lagrangian is not stationary in x at the optimum."),
        ([1.4, 0.6], [-0.6, 0.8], "Infeasible: mass is violated by 1 (x is twice the solver's)" + TOO),
        ([0.5, 0.5], None, "Infeasible: low is violated by 0.2."),
        ([1, 0], [-0.6, 0.8], "Not optimal: the value is 1, and 0.58 is possible; the multipliers are right; "
                              "low has 0.3 to spare, yet its multiplier is 0.8."),
        ([1, 0], [-0.6, -0.8], "Not optimal: the value is 1, and 0.58 is possible."),
    ],
)  # fmt: skip
def test_the_sentence(x, duals, sentence):
    said = pc.grade(exercise(), {"x": x}, None if duals is None else dict(zip(("mass", "low"), duals, strict=True)))
    assert str(said) == said.sentence == sentence.replace("RIGHT", RIGHT).replace("WRONG", WRONG)


def plants():
    doors, windows = (cp.Variable(name=name, nonneg=True) for name in ("doors", "windows"))
    rows = {"plant1": doors <= 4, "plant2": 2 * windows <= 12, "plant3": 3 * doors + 2 * windows <= 18}
    constraints = [row.set_label(name) for name, row in rows.items()]
    return cp.Problem(cp.Maximize(3 * doors + 5 * windows), constraints)


def test_a_value_that_is_0_but_for_rounding_is_0():
    """(0.1 + 0.2 - x)^2 is 3e-33 at x = 0.3 in doubles, and 1e6 x - 3e5 is 6e-11 at 0.1 + 0.2; 4e-4 is no rounding."""
    z = cp.Variable(name="z")
    low = (z >= 0.3).set_label("low")
    square = cp.Problem(cp.Minimize(cp.square(z - (0.1 + 0.2))), [low])
    far = cp.Problem(cp.Minimize(1e6 * z - 3e5), [low])
    assert str(pc.grade(square, {"z": 0.3})) == "Right: the values are optimal (value 0)."
    assert str(pc.grade(square, {"z": 0.32})) == "Not optimal: the value is 0.0004, and 0 is possible."
    assert str(pc.grade(far, {"z": 0.1 + 0.2})) == "Right: the values are optimal (value 0)."


def test_room_with_a_multiplier_is_told_of_a_point_that_is_not_optimal():
    """At (4, 3) two windows of plant 2 are not used, so that it has 12 - 2 * 3 to spare."""
    corner, duals = {"doors": 4, "windows": 3}, {"plant1": 0, "plant2": 1, "plant3": 1}
    said = "Not optimal: the value is 27, and 36 is possible"
    reason = "; plant2 has 6 to spare, yet its multiplier is 1."
    assert str(pc.grade(plants(), corner, duals)) == f"{said}{reason}"
    assert str(pc.grade(plants(), corner, duals | {"plant2": 0})) == f"{said}."
    assert str(pc.grade(plants(), corner)) == f"{said}."
    full = pc.grade(plants(), {"doors": 2, "windows": 6}, duals)
    assert "to spare" not in str(full)
    M, low = cp.Variable((2, 3), name="M"), np.array([[1.0, 2, 3], [4, 5, 6]])
    squares = cp.Problem(cp.Minimize(cp.sum_squares(M)), [(low <= M).set_label("low")])
    more = low + 6 * (low == 3)
    assert "low[0, 2] has 6 to spare, yet its multiplier is 6." in str(pc.grade(squares, {"M": more}, {"low": 2 * low}))


def test_the_proof_of_an_answer_says_whose_multipliers_it_has():
    corner = {"doors": 4, "windows": 3}
    for duals in (None, {"plant1": 0, "plant2": 1, "plant3": 1}):
        told = pc.grade(plants(), corner, duals).proof.explain()
        assert "plant2 0 (slack 6, the solver's multiplier 1.5)" in told
        assert "The solver's multipliers, which are of an optimum, do not fit these values" in told
        assert "came with the point" not in told
    right = pc.grade(plants(), {"doors": 2, "windows": 6}).proof.explain()
    assert "do not fit" not in right
    assert "the solver's multiplier" in right


def several():
    """Three variables, each with a constraint of its own; its optimum and multipliers are whole numbers by hand."""
    x, y, Z = cp.Variable(2, name="x"), cp.Variable(name="y"), cp.Variable((2, 2), name="Z", PSD=True)
    own = [cp.sum(x) == 2, y <= -1, cp.trace(Z) >= 1]
    constraints = [c.set_label(name) for c, name in zip(own, ("mass", "top", "trace"), strict=True)]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x) + y**2 + 2 * cp.trace(Z) + Z[0, 0]), constraints)
    return problem, {x: [1, 1], y: -1, Z: [[0, 0], [0, 1]]}, dict(zip(constraints, (-2, 2, 2), strict=True))


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"mass": -2.5}, "x"),
        ({"top": 1.5}, "y"),
        ({"trace": 2.5}, "Z"),  # then it falls without end
        ({"trace": 1.5}, "Z"),
        ({"mass": -1.5, "trace": 1.5}, "x and Z"),
    ],
)
def test_it_is_said_in_which_variable_the_lagrangian_is_not_stationary(changed, where):
    problem, values, duals = several()
    assert pc.grade(problem, values, duals).verdict == "right"
    said = pc.grade(problem, values, {c: changed.get(c.label, value) for c, value in duals.items()})
    assert str(said) == f"{WRONG} the Lagrangian is not stationary in {where} at the optimum."


def test_keys_are_variables_and_constraints_or_their_names():
    problem, values, duals = several()
    x, y, Z = values
    mixed = {c if c.label == "top" else c.label: 1.5 if c.label == "top" else v for c, v in duals.items()}
    said = pc.grade(problem, {"x": values[x], y: values[y], "Z": values[Z]}, mixed)
    assert str(said).endswith("the Lagrangian is not stationary in y at the optimum.")
    for given, words in (
        (
            {x: [1, 1], "x": [1, 1], y: -1, Z: np.eye(2)},
            "values must have each of the variables once: x is given twice",
        ),
        ({x: [1, 1], y: -1}, "values must have all variables, x, y, Z: Z is missing"),
        ({**values, cp.Variable(name="other"): 0}, "values must have all variables, x, y, Z: other is none"),
        ({**values, x[0]: 0}, "values must have all variables, x, y, Z: x[0] is none"),
    ):
        with pytest.raises(pc.InputError, match=re.escape(words)):
            pc.grade(problem, given)
    unlabelled = cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) >= 2])
    assert pc.grade(unlabelled, {x: [1, 1]}, {unlabelled.constraints[0]: 2}).verdict == "right"


def test_the_problem_is_left_as_it_was():
    problem = exercise()
    x, mass = problem.variables()[0], problem.constraints[0]
    pc.grade(problem, {"x": [1, 0]}, {"mass": 0, "low": 0})
    assert (problem.status, problem.value, x.value, mass.dual_value) == (None, None, None, None)
    problem.solve("CLARABEL")
    before = problem.value, x.value.tolist(), float(mass.dual_value)
    pc.grade(problem, {"x": [1, 0]}, {"mass": 0, "low": 0})
    assert (problem.value, x.value.tolist(), float(mass.dual_value)) == before


def test_where_optima_or_multipliers_are_many_each_is_right():
    x = cp.Variable(2, name="x", nonneg=True)
    twice = [(cp.sum(x) >= 1).set_label("a"), (2 * cp.sum(x) >= 2).set_label("b")]
    problem = cp.Problem(cp.Minimize(cp.sum(x)), twice)
    for share in (0.0, 0.25, 1.0):
        said = pc.grade(problem, {"x": [share, 1 - share]}, {"a": share, "b": 0.5 - 0.5 * share})
        assert said.verdict == "right"
    assert pc.grade(problem, {"x": [0, 1]}, {"a": 1, "b": 0.5}).verdict == "wrong multipliers"
    assert pc.grade(problem, {"x": [-1, 2]}).verdict == "infeasible"  # what attributes say, too


def test_cones_and_maxima():
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Maximize(3 * x[0] + 4 * x[1]), [(cp.norm(x) <= 1).set_label("disc")])
    assert pc.grade(problem, {"x": [0.6, 0.8]}, {"disc": 5}).verdict == "right"
    assert pc.grade(problem, {"x": [0.6, 0.8]}, {"disc": 10}).verdict == "wrong multipliers"
    assert pc.grade(problem, {"x": [0.8, 0.6]}, {"disc": 5}).verdict == "not optimal"
    corner = cp.Problem(cp.Minimize(cp.norm1(x)), [(x[0] + 2 * x[1] == 2).set_label("line")])
    for nu, verdict in ((-0.5, "right"), (0.5, "wrong multipliers"), (-0.25, "wrong multipliers")):
        assert pc.grade(corner, {"x": [0, 1]}, {"line": nu}).verdict == verdict
    Z = cp.Variable((2, 2), name="Z", symmetric=True)
    least = cp.Problem(cp.Minimize(cp.trace(Z)), [(Z >> np.eye(2)).set_label("above")])
    assert pc.grade(least, {"Z": np.eye(2)}, {"above": np.eye(2)}).verdict == "right"
    assert pc.grade(least, {"Z": np.eye(2)}, {"above": 2 * np.eye(2)}).verdict == "wrong multipliers"
    assert pc.grade(least, {"Z": np.eye(2)}, {"above": -np.eye(2)}).verdict == "wrong multipliers"
    cone = cp.Problem(cp.Maximize(3 * x[0] + 4 * x[1]), [cp.SOC(cp.Constant(1), x).set_label("disc")])
    held = cone.solve("CLARABEL") and cone.constraints[0].dual_value
    assert pc.grade(cone, {"x": [0.6, 0.8]}, {"disc": held}).verdict == "right"
    assert pc.grade(cone, {"x": [0.6, 0.8]}, {"disc": [2 * part for part in held]}).verdict == "wrong multipliers"


def test_what_cannot_be_graded():
    x = cp.Variable(2, name="x")
    never = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, cp.sum(x) <= 1])
    said = pc.grade(never, {"x": [1, 0]})
    assert (said.verdict, said.values) == ("undecided", None)
    assert said.sentence == "Undecided: the problem itself is infeasible."
    for values, duals, words in (
        ({}, None, "values must have all variables, x: x is missing"),
        ({"x": [1, 0], "z": 1}, None, "values must have all variables, x: z is none"),
        ([1, 0], None, "values must be a dict by the variables or their names, got [1, 0]"),
        ({"x": [1, 0, 2]}, None, "x must be finite numbers of shape (2,), got [1, 0, 2]"),
        ({"x": [1, "a"]}, None, "x must be numbers, got [1, 'a']"),
        ({"x": [1, 0]}, {"mass": 1}, "duals must have all constraints, mass, low: low is missing"),
    ):
        with pytest.raises(pc.InputError, match=re.escape(words)):
            pc.grade(exercise(), values, duals)


def bounded():
    """|box - (2, 2, 1)|^2 + |plus + 1|^2 + |P - C|^2 in bounds, at signs and in the cone: all multipliers by hand."""
    low, high = np.array([0.0, -np.inf, 0.0]), np.array([1.0, 1.0, np.inf])
    box, plus = cp.Variable(3, bounds=[low, high], name="box"), cp.Variable(2, nonneg=True, name="plus")
    P = cp.Variable((2, 2), PSD=True, name="P")
    squares = (
        cp.sum_squares(box - [2.0, 2, 1]) + cp.sum_squares(plus + 1) + cp.sum_squares(P - np.array([[1.0, 2], [2, 1]]))
    )
    problem = cp.Problem(cp.Minimize(squares), [(cp.sum(box) <= 9).set_label("top")])
    values = {"box": [1, 1, 1], plus: [0, 0], "P": [[1.5, 1.5], [1.5, 1.5]]}
    duals = {
        "box: upper bound": [2, 2],
        "box: lower bound": [0, 0],
        "plus: nonneg": [2, 2],
        "P: PSD": [[1, -1], [-1, 1]],
    }
    return problem, values, {problem.constraints[0]: 0} | duals


def test_multipliers_of_attributes_are_graded_where_they_are_given():
    problem, values, duals = bounded()
    assert pc.grade(problem, values, duals).verdict == "right"
    assert pc.grade(problem, values, {"top": 0}).verdict == "right"
    for name in list(duals)[1:]:
        assert pc.grade(problem, values, {"top": 0, name: duals[name]}).verdict == "right"
    # Of entries without a bound nothing is read.
    assert pc.grade(problem, values, {**duals, "box: upper bound": [2, 2, 0]}).verdict == "right"
    wrong = {
        "plus: nonneg": ([1, 1], "the multiplier of plus: nonneg is half the solver's"),
        "box: upper bound": ([-2, -2], "the multiplier of box: upper bound has the opposite sign of the solver's"),
        "box: lower bound": ([0, 0.5], "the multiplier of box: lower bound must be 0 where there is room"),
        "P: PSD": ([[2, -2], [-2, 2]], "the multiplier of P: PSD is twice the solver's"),
    }
    for name, (multiplier, words) in wrong.items():
        found = pc.grade(problem, values, {**duals, name: multiplier})
        assert found.verdict == "wrong multipliers"
        assert words in str(found), (name, str(found))
    with pytest.raises(pc.InputError, match="plus: pos is none"):
        pc.grade(problem, values, {"top": 0, "plus: pos": [2, 2]})
    with pytest.raises(pc.InputError, match=r"box: lower bound must be finite numbers of shape \(2,\)"):
        pc.grade(problem, values, {"top": 0, "box: lower bound": [0]})
    with pytest.raises(pc.InputError, match="top is missing"):
        pc.grade(problem, values, {"plus: nonneg": [2, 2]})


def test_a_value_beyond_a_bound_is_told_by_the_name_of_the_attribute():
    problem, values, _ = bounded()
    assert "box: upper bound is violated by 1" in str(pc.grade(problem, {**values, "box": [2, 1, 1]}))
    assert "P: PSD is violated by 1" in str(pc.grade(problem, {**values, "P": [[1, 2], [2, 1]]}))


# --- Signs that are left out, and rounded numbers ---------------------------------------------------------------------


def diet(prices=(3, 2)):
    x = cp.Variable(2, name="x")
    protein, fibre = (2 * x[0] + x[1] >= 8).set_label("protein"), (x[0] + 2 * x[1] >= 7).set_label("fibre")
    return cp.Problem(cp.Minimize(np.array(prices) @ x), [protein, fibre, (x >= 0).set_label("signs")])


@pytest.mark.parametrize(
    ("prices", "x", "protein", "fibre", "verdict"),
    [
        ((3, 2), [3, 2], 4 / 3, 1 / 3, "right"),  # the reduced costs are 0
        ((3, 2), [3, 2], 1.5, 0, "wrong multipliers"),  # of bread 1/2, and bread is eaten
        ((3, 9), [7, 0], 0, 3, "right"),  # of bread 3, and none is eaten
        ((3, 9), [7, 0], 0, 4, "wrong multipliers"),  # of beans -1
        ((3, 9), [7, 0], 0, 2, "wrong multipliers"),  # of beans 1, and they are eaten
    ],
)
def test_multipliers_of_signs_may_be_left_out(prices, x, protein, fibre, verdict):
    said = pc.grade(diet(prices), {"x": x}, {"protein": protein, "fibre": fibre})
    assert (said.verdict, said.values) == (verdict, True)
    assert said.multipliers is (verdict == "right")
    if verdict != "right":
        assert "no multipliers of signs make the Lagrangian stationary in x" in said.sentence


def test_only_signs_may_be_left_out():
    with pytest.raises(pc.InputError, match=r'signs may be left out\): fibre is missing, add \{"fibre": ...\}'):
        pc.grade(diet(), {"x": [3, 2]}, {"protein": 4 / 3})
    x = cp.Variable(name="x")
    bounded = cp.Problem(cp.Minimize(x), [(x >= 2).set_label("least")])
    with pytest.raises(pc.InputError, match="least is missing"):
        pc.grade(bounded, {"x": 2}, {})
    signed = cp.Problem(cp.Minimize(cp.square(x - 1)), [(-x <= 0).set_label("sign")])
    assert pc.grade(signed, {"x": 1}, {}).multipliers is None


def steep():
    """The optimum solves 300 a - 299 b = 1 and a + 2 b = 100: (29902, 29999) / 899."""
    x = cp.Variable(2, name="x")
    rows = [(300 * x[0] - 299 * x[1] == 1).set_label("eq"), (x[0] + 2 * x[1] >= 100).set_label("need")]
    return cp.Problem(cp.Minimize(3 * x[0] + x[1]), rows)


@pytest.mark.parametrize(
    ("x", "verdict", "words"),
    [
        ([33.26, 33.37], "right", "Right to the digits given: an optimum has these values to four digits (as they"),
        ([33.2614, 33.3693], "right", "Right: "),
        ([33, 33], "infeasible", "; to two digits the values are those of an optimum."),
        ([33.36, 33.27], "infeasible", "violated by 59.27"),
        ([33.25, 33.37], "infeasible", "violated by 3.6"),
        ([33.2514, 33.3693], "infeasible", "violated by "),
    ],
)
def test_rounded_values_are_told_from_wrong_ones(x, verdict, words):
    said = pc.grade(steep(), {"x": x})
    assert said.verdict == verdict
    assert words in said.sentence
    assert ("to two digits" in said.sentence) == (x == [33, 33])


def test_rounded_multipliers_are_told_from_wrong_ones():
    """The prices are (5, -297) / 899 and 1196 / 899: u + 300 v = 3 and 2 u - 299 v = 1."""
    x, (v, u) = [33.3, 33.4], (5 / 899, 1197 / 899)
    assert np.allclose([u + 300 * v, 2 * u - 299 * v], [3, 1])
    rounded = pc.grade(steep(), {"x": [33.26, 33.37]}, {"eq": float(f"{-v:.3g}"), "need": float(f"{u:.3g}")})
    assert rounded.multipliers is True
    wrong = pc.grade(steep(), {"x": x}, {"eq": float(f"{-v:.3g}"), "need": float(f"{u - 0.02:.3g}")})
    assert wrong.multipliers is False
