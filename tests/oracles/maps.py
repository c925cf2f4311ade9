"""Small maps with certificates, and whether letters are optimal at a point, in fractions."""

from __future__ import annotations

import json
from fractions import Fraction

import cvxpy as cp
import numpy as np

import paretoclf as pc
from paretoclf.proof import check
from paretoclf.proof.maps.map_certificate import between


def quadratic():
    """Six regions, and a corner where no point is feasible."""
    x, a, b = cp.Variable(3, name="x"), cp.Parameter(name="a"), cp.Parameter(name="b")
    rows = [cp.sum(x) <= 1 + a, x >= 0, x[0] - x[1] <= b, x[2] <= 2]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x) / 2 - a * x[0] - b * x[1]), rows)
    return pc.plane(problem, {a: (-1, 2), b: (-1, 2)}, progress=False)


def linear():
    """Two parts without a point, one after the other."""
    x, a, b = cp.Variable(3, name="x"), cp.Parameter(name="a"), cp.Parameter(name="b")
    rows = [x[0] + x[1] >= a, x[1] + x[2] >= b, x >= 0, cp.sum(x) <= 3]
    problem = cp.Problem(cp.Minimize(x[0] + 2 * x[1] + 3 * x[2]), rows)
    return pc.plane(problem, {a: (0, 4), b: (0, 4)}, progress=False)


def falling():
    """A part where the objective falls for ever."""
    x, a, b = cp.Variable(2, name="x"), cp.Parameter(name="a"), cp.Parameter(name="b")
    problem = cp.Problem(cp.Minimize(x[0] ** 2 / 2 - b * x[0] + a * x[1]), [x >= 0, x[0] <= 1])
    return pc.plane(problem, {a: (-1, 1), b: (-1, 2)}, progress=False)


def costs(kernel=None):
    """Five regions of four samples; with a kernel more."""
    svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1], kernel)
    return pc.plane(svm, (0.05, 2), (0.05, 2), progress=False)


MAPS = {"quadratic": quadratic, "linear": linear, "falling": falling, "costs": costs}


def content_of(found, folder):
    """The certificate of a map, as it is read from its file."""
    found.proof.save(folder / "map.json")
    return json.loads((folder / "map.json").read_text())


def letters_of(regions):
    """All letters of each region."""
    found = [list(regions[0])]
    for changes in regions[1:]:
        found.append(list(found[-1]))
        for item, letter in changes:
            found[-1][item] = letter
    return ["".join(each) for each in found]


def is_optimal(problem, letters, place):
    """Whether letters are optimal at one point, by `paretoclf.proof.check` in fractions."""
    try:
        check.check(between(problem, place, place), [letters], early=True)
    except ArithmeticError:
        return False
    return True


def places(rng, count):
    """Points of the unit square, as doubles."""
    return [np.array([float(Fraction(int(k), 997)) for k in rng.integers(0, 998, 2)]) for _ in range(count)]
