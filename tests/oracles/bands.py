"""Small band certificates of each cone, with their minima in closed form, and a solver's opinion of any."""

from __future__ import annotations

import json
import math

import cvxpy as cp
import numpy as np

from paretoclf.proof.bands.band_certificate import Insides, band_certificate
from paretoclf.proof.cones.cone_kinds import Cone
from tests.oracles.array_lines import array_line


def half_line(**fields):
    """Minimise x where x >= 1 and x >= 2, at every t, as a file has it; with other fields of the problem."""
    problem = {
        "kind": "cone program",
        "P": [[]],
        "A": [[[0, -1.0]], [[0, -1.0]]],
        "q": [[1.0], [1.0]],
        "b": [[-1.0, -2.0], [-1.0, -2.0]],
        "constant": [0, 0],
        "cones": [["nonnegative", 2]],
        "until": 1,
    }
    points = [[0, [2.0], None, [0.0, 1.0]], [1, [2.0], None, [0.0, 1.0]]]
    content = {"format": "band certificate 1", "problem": {**problem, **fields}, "sha256": ""}
    return {**content, "B": [[], [[0, -1]], []], "C": [[]], "scale": [1], "points": points}


def _line(rows, sides, costs, cones, **more):
    return array_line(rows, sides, costs, cones=cones, **more)


#: Of each: the line, x and z (and y) at t, points and multipliers inside at every t, and V(t).
def _nonnegative():
    line = _line([[-1.0]], [[-1.0], [-2.0]], [1.0], [Cone("nonnegative", 1)])
    return line, lambda t: ([1 + t], [1.0]), ([3.0], [1.0]), lambda t: 1 + t


def _zero():
    """x = 1 + t, and x <= 5."""
    cones = [Cone("zero", 1), Cone("nonnegative", 1)]
    line = _line([[1.0], [1.0]], [[1.0, 5.0], [2.0, 5.0]], [1.0], cones)
    return line, lambda t: ([1 + t], [-1.0, 0.0]), ([1.5], [-2.0, 1.0]), lambda t: 1 + t


def _second_order():
    """The least x above the length of (1 + 2 t, 3)."""
    cones = [Cone("second-order", 3)]
    line = _line([[-1.0], [0.0], [0.0]], [[0.0, 1.0, 3.0], [0.0, 3.0, 3.0]], [1.0], cones)

    def at(t):
        length = math.hypot(1 + 2 * t, 3)
        return [length], [1.0, -(1 + 2 * t) / length, -3 / length]

    return line, at, ([9.0], [1.0, 0.0, 0.0]), lambda t: math.hypot(1 + 2 * t, 3)


def _semidefinite():
    """The least x with [[x, 1 + t], [1 + t, 1]] semidefinite: the square."""
    root = 2**0.5
    line = _line([[-1.0], [0.0], [0.0]], [[0.0, root, 1.0], [0.0, 2 * root, 1.0]], [1.0], [Cone("psd", 2)])

    def at(t):
        return [(1 + t) ** 2], [1.0, -root * (1 + t), (1 + t) ** 2]

    return line, at, ([9.0], [1.0, -root * 1.5, 9.0]), lambda t: (1 + t) ** 2


def _exponential():
    """The least x with e^t <= x."""
    line = _line([[0.0], [0.0], [-1.0]], [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0]], [1.0], [Cone("exponential", 3)])

    def at(t):
        return [math.exp(t)], [-math.exp(t), (t - 1) * math.exp(t), 1.0]

    return line, at, ([9.0], [-0.5, 1.0, 1.0]), math.exp


def _power():
    """The least x with x^(1/3) >= 1 + t."""
    cones = [Cone("power", 3, 1 / 3)]
    line = _line([[-1.0], [0.0], [0.0]], [[0.0, 1.0, 1.0], [0.0, 1.0, 2.0]], [1.0], cones)

    def at(t):
        return [(1 + t) ** 3], [1.0, 2 * (1 + t) ** 3, -3 * (1 + t) ** 2]

    return line, at, ([20.0], [1.0, 20.0, 0.0]), lambda t: (1 + t) ** 3


def _square():
    """Minimise (1 + t) x^2 / 2 - x."""
    line = _line([[-1.0]], [5.0], [-1.0], [Cone("nonnegative", 1)], P=[[1.0]], P_stop=[[2.0]])
    return line, lambda t: ([1 / (1 + t)], [0.0]), ([2.0], [1.0]), lambda t: -1 / (2 * (1 + t))


def _moving():
    """Minimise x where (1 + t) x >= 1."""
    line = _line([[-1.0], [1.0]], [-1.0, 5.0], [1.0], [Cone("nonnegative", 2)], A_stop=[[-2.0], [1.0]])
    return line, lambda t: ([1 / (1 + t)], [1 / (1 + t), 0.0]), ([2.0], [2.0, 1.0]), lambda t: 1 / (1 + t)


HONEST = {
    "nonnegative": _nonnegative,
    "zero": _zero,
    "second-order": _second_order,
    "semidefinite": _semidefinite,
    "exponential": _exponential,
    "power": _power,
    "square": _square,
    "moving": _moving,
}


def band_of(name, pieces=8):
    """A certificate as it is read from a file, and the minimum as a function of t."""
    line, at, (x, z), truth = HONEST[name]()
    grid = np.linspace(0, 1, 2 if name == "nonnegative" else pieces + 1)
    rows = [[np.array(each, dtype=float) for each in at(t)] for t in grid]
    points, multipliers = (np.array(each) for each in zip(*rows, strict=True))
    inner_x, inner_z = (np.array([each, each], dtype=float) for each in (x, z))
    insides = Insides(inner_x, inner_x, inner_z, np.ones(len(z)))
    content = band_certificate(line, (grid, points, points, multipliers), insides, progress=False)
    return json.loads(json.dumps(content)), truth


def value_of(problem, t):
    """The minimum at t, by a solver; infinite where there is none."""
    P, A, q, b = (dense(problem, name, t) for name in "PAqb")
    x = cp.Variable(len(q))
    slack = b - A @ x
    constraints, row = [], 0
    for kind, order in problem["cones"]:
        size = order * (order + 1) // 2 if kind == "semidefinite" else 3 if kind == "power" else order
        constraints += _constraints(kind, order, slack[row : row + size])
        row += size
    quadratic = cp.quad_form(x, cp.psd_wrap((P + P.T) / 2)) / 2
    found = cp.Problem(cp.Minimize(quadratic + q @ x), constraints)
    found.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    first, last = problem["constant"]
    return float(found.value) + first + t * (last - first)


def _constraints(kind, order, v):
    if kind == "zero":
        return [v == 0]
    if kind == "nonnegative":
        return [v >= 0]
    if kind == "second-order":
        return [cp.SOC(v[0], v[1:])]
    if kind == "exponential":
        return [cp.ExpCone(v[0:1], v[1:2], v[2:3])]
    if kind == "power":
        p, q = map(int, order.split("/"))
        return [cp.PowCone3D(v[0:1], v[1:2], v[2:3], p / q)]
    matrix = [[None] * order for _ in range(order)]
    place = 0
    for column in range(order):
        for row in range(column + 1):
            entry = v[place] if row == column else v[place] / 2**0.5
            matrix[row][column] = matrix[column][row] = cp.reshape(entry, (1, 1), order="F")
            place += 1
    return [cp.bmat(matrix) >> 0]


def dense(problem, name, t):
    """A matrix or vector of a problem at t; of P both triangles."""
    stated = problem[name]
    if name in "qb":
        first, last = (np.array(each, dtype=float) for each in stated)
        return first + t * (last - first)
    matrix = np.zeros((len(stated), len(problem["q"][0])))
    for row, entries in enumerate(stated):
        for column, first, *last in entries:
            matrix[row, column] = first + t * ((last[0] if last else first) - first)
    return matrix + np.tril(matrix, -1).T if name == "P" else matrix


def worst_distance(content, pieces):
    """How far the minimum is outside of what is proved of a piece, relative to its size: at an end, in the middle."""
    t = [point[0] for point in content["points"]]
    worst = -math.inf
    for first, last, piece in zip(t, t[1:], pieces, strict=False):
        for share in (0.0, 0.5):
            value = value_of(content["problem"], first + share * (last - first))
            outside = max(float(piece.low) - value, value - float(piece.high))
            worst = max(worst, outside / (1 + abs(value)))
    return worst
