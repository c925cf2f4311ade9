"""Small certificates of curves, of each cone, with their minima in closed form, and a solver's opinion of any."""

from __future__ import annotations

import copy
import json
import math

import numpy as np

from paretoclf.proof.cones.cone_kinds import Cone
from paretoclf.proof.curves.curve_certificate import curve_certificate
from paretoclf.proof.curves.curve_theorem import CurvePiece
from paretoclf.proof.curves.polynomials import evaluation
from tests.oracles import bands
from tests.oracles.array_lines import array_line

DEGREE = 8
NODES = (1 - np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))) / 2
TO_COEFFICIENTS = np.linalg.inv(evaluation(DEGREE, NODES))


def _moving_equation():
    """(1 + t) x = 1, and x <= 5."""
    cones = [Cone("zero", 1), Cone("nonnegative", 1)]
    line = array_line([[1.0], [1.0]], [1.0, 5.0], [1.0], cones=cones, A_stop=[[2.0], [1.0]])
    return line, lambda t: ([1 / (1 + t)], [-1 / (1 + t), 0.0]), ([0.7], [-2.0, 1.0]), lambda t: 1 / (1 + t)


def _rank_one():
    """The least x + y with [[x, 1 + t, c], [1 + t, 1, 1], [c, 1, y]] semidefinite, c free: (1 + t)^2 + 1."""
    root = 2**0.5
    A = np.zeros((6, 3))
    A[0, 0] = A[5, 1] = -1.0
    A[3, 2] = -root  # c
    b = np.array([[0.0, root * a, 1.0, 0.0, root, 0.0] for a in (1.0, 2.0)])
    line = array_line(A, b, [1.0, 1.0, 0.0], cones=[Cone("psd", 3)])

    def at(t):
        a = 1 + t
        return [a * a, 1.0, a], [1.0, -root * a, a * a + 1, 0.0, -root, 1.0]

    inner = [9.0, 9.0, 0.0], [1.0, 0.0, 9.0, 0.0, 0.0, 1.0]
    return line, at, inner, lambda t: (1 + t) ** 2 + 1


#: As `tests.oracles.bands.HONEST`, without powers, which curves have not.
HONEST = {name: make for name, make in bands.HONEST.items() if name != "power"} | {
    "moving equation": _moving_equation,
    "rank one": _rank_one,
}


def pieces_of(name, count=2):
    """The line, its pieces through closed forms at Chebyshev nodes, and the minimum as a function of t."""
    line, at, (x, z), truth = HONEST[name]()
    ends = np.linspace(0, 1, count + 1)
    deep = np.array([x], dtype=float), np.array([x], dtype=float), np.array([z], dtype=float)
    pieces = []
    for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        found = [at(t) for t in start + NODES * (stop - start)]
        points, multipliers = (TO_COEFFICIENTS @ np.array([each[k] for each in found], dtype=float) for k in (0, 1))
        pieces.append(CurvePiece(start, stop, points, multipliers, *deep))
    return line, pieces, truth


def curve_of(name, count=2):
    """A certificate as it is read from a file, and the minimum as a function of t."""
    line, pieces, truth = pieces_of(name, count)
    return json.loads(json.dumps(curve_certificate(line, pieces, progress=False))), truth


def half_line(**fields):
    """Minimise x where x >= 1 and x >= 2, at every t, as a file has it; with other fields of the problem."""
    content = bands.half_line(**fields)
    piece = [1, [[2.0], [2.0]], None, [[0.0, 1.0], [0.0, 1.0]], []]
    stretch = [content["B"], content["C"], content["scale"], [piece]]
    return {"format": "curve certificate 1", "problem": content["problem"], "sha256": "", "stretches": [stretch]}


def changed(content, **parts):
    """A copy with other parts of its only piece, of its stretch, or of its problem."""
    new = copy.deepcopy(content)
    piece, stretch = ["t", "x", "y", "z", "frames"], ["B", "C", "scale", "pieces"]
    for name, value in parts.items():
        if name in piece:
            new["stretches"][0][3][0][piece.index(name)] = value
        elif name in stretch:
            new["stretches"][0][stretch.index(name)] = value
        else:
            (new if name in new else new["problem"])[name] = value
    return new


def ends_of(content):
    """Ends of all pieces."""
    return [0.0, *(piece[0] for stretch in content["stretches"] for piece in stretch[3])]


def worst_distance(content, pieces, shares=(0.0, 0.5, 0.83)):
    """How far the minimum is outside of what is proved of a piece, relative to its size."""
    t = ends_of(content)
    worst = -math.inf
    for first, last, piece in zip(t, t[1:], pieces, strict=False):
        for share in shares:
            value = bands.value_of(content["problem"], first + share * (last - first))
            outside = max(float(piece.low) - value, value - float(piece.high))
            worst = max(worst, outside / (1 + abs(value)))
    return worst
