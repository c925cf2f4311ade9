"""Programs whose data are affine in t, pieces through solutions of Clarabel, and pieces that are falsified."""

from __future__ import annotations

from dataclasses import dataclass, replace

import clarabel
import numpy as np
import scipy.sparse as sp

from paretoclf.proof.cones.cone_kinds import Cone, Cones, vector
from paretoclf.proof.curves.curve_program import CurveProgram
from paretoclf.proof.curves.curve_theorem import CurvePiece, ValueBox
from paretoclf.proof.curves.polynomials import GRID, evaluation
from paretoclf.solve.judging.candidates import CLARABEL_CONES

DEGREE = 8
NODES = (1 - np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))) / 2
TO_COEFFICIENTS = np.linalg.inv(evaluation(DEGREE, NODES))
KINDS = ("lp", "qp", "second-order", "semidefinite", "exponential", "equations")


def mix(ends, t):
    first, last = ends
    with np.errstate(invalid="ignore"):  # an infinite price, at both ends
        return np.where(np.isinf(first), first, (1 - t) * first + t * last)


def settings(tol):
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = tol
    return options


def conic(P, q, A, b, cones, tol=1e-11):
    kinds = [CLARABEL_CONES[cone.kind](cone) for cone in cones]
    solver = clarabel.DefaultSolver(sp.triu(P, format="csc"), q, sp.csc_matrix(A), b, kinds, settings(tol))
    return solver.solve()


def solved(program, t):
    """Point, multipliers, and the interval from the dual value to the primal one; soft rows get a variable each."""
    P, q, A, b = (mix(each, t) for each in (program.P, program.q, program.A, program.b))
    soft, n, m = program.soft, program.n, program.m
    count = len(soft)
    missed = np.zeros((m, count))
    missed[soft, np.arange(count)] = -1
    matrix = np.block([[A, missed], [np.zeros((count, n)), -np.eye(count)]])
    quadratic = np.zeros((n + count, n + count))
    quadratic[:n, :n] = P
    costs = np.append(q, mix(program.prices, t)[soft]) if count else q
    cones = [*program.cones, *([Cone("nonnegative", count)] if count else [])]
    found = conic(quadratic, costs, matrix, np.append(b, np.zeros(count)), cones)
    value = sorted((found.obj_val, found.obj_val_dual))
    fine = str(found.status) in ("Solved", "AlmostSolved")
    return np.array(found.x)[:n], np.array(found.z)[:m], value, fine


def inside(program, t):
    """Deepest point, and deepest multipliers with a y for which they are stationary, in a box of size 10."""
    P, q, A, b = (mix(each, t) for each in (program.P, program.q, program.A, program.b))
    n, m = program.n, program.m
    direction, dual_rows, dual_cones = np.zeros(m), [], []
    first = 0
    for cone in program.cones:
        rows = slice(first, first + cone.size)
        direction[rows] = _inner(cone)
        first += cone.size
        if cone.kind == "zero":
            continue
        map_ = np.eye(cone.size)
        if cone.kind == "exponential":
            map_ = np.array([[1.0, -1, 0], [-1, 0, 0], [0, 0, 1]])
        block = np.zeros((cone.size, m))
        block[:, rows] = map_
        dual_rows.append((block, map_ @ (_inner(cone) if cone.kind != "exponential" else [-1.0, 0.0, 1.0])))
        dual_cones.append(cone)
    soft = np.zeros(m, dtype=bool)
    soft[program.soft] = True
    # max d: b - A x - d e in K, |x| <= 10, d <= 1; soft rows are left out (they are moved up)
    lift = np.where(soft, 100.0, 0.0)
    matrix = np.block([[A, direction[:, None]], [np.eye(n), np.zeros((n, 1))], [-np.eye(n), np.zeros((n, 1))]])
    matrix = np.vstack([matrix, np.eye(n + 1)[-1:]])
    sides = np.concatenate([b + lift, np.full(2 * n, 10.0), [1.0]])
    costs = np.append(np.zeros(n), -1.0)
    found = conic(1e-6 * np.eye(n + 1), costs, matrix, sides, [*program.cones, Cone("nonnegative", 2 * n + 1)], 1e-9)
    x = np.array(found.x)[:n]
    # max d: P y + q + A'z = 0, z - d e in K*, z <= c - d, |y|, |z| <= 10
    cost_rows = [np.hstack([P, A.T, np.zeros((n, 1))])]
    costs_sides, cones = [-q], [Cone("zero", n)]
    for (block, into), cone in zip(dual_rows, dual_cones, strict=True):
        cost_rows.append(np.hstack([np.zeros((len(block), n)), -block, np.asarray(into)[:, None]]))
        costs_sides.append(np.zeros(len(block)))
        cones.append(cone)
    if program.soft.size:
        top = np.zeros((len(program.soft), n + m + 1))
        top[np.arange(len(program.soft)), n + program.soft] = 1
        top[:, -1] = 1
        cost_rows.append(top)
        costs_sides.append(mix(program.prices, t)[program.soft])
        cones.append(Cone("nonnegative", len(program.soft)))
    size = n + m + 1
    cost_rows += [np.eye(size), -np.eye(size)]
    costs_sides += [np.full(2 * size, 10.0)]
    cones.append(Cone("nonnegative", 2 * size))
    weights = np.append(np.zeros(n + m), -1.0)
    found = conic(1e-6 * np.eye(size), weights, np.vstack(cost_rows), np.concatenate(costs_sides), cones, 1e-9)
    both = np.array(found.x)
    return x, both[:n], both[n : n + m]


def _inner(cone):
    if cone.kind == "zero":
        return np.zeros(cone.size)
    if cone.kind == "second-order":
        return np.append(1.0, np.zeros(cone.size - 1))
    if cone.kind == "psd":
        return vector(np.eye(cone.order))
    if cone.kind == "exponential":
        return np.array([-1.0, 1.0, 1.0])
    return np.ones(cone.size)


def random_program(kind, rng, n=4):
    """A bounded program with 0 well inside; its P or A moves, and a box of its points."""
    roots = rng.normal(size=(2, n, n))
    P = [M @ M.T * (kind != "lp") for M in roots]
    q = rng.normal(size=(2, n))
    box = np.vstack([np.eye(n), -np.eye(n)])
    rows = rng.normal(size=(5, n))
    moved = rows + 0.3 * rng.normal(size=(5, n)) * (kind == "lp")
    missed = rng.normal(size=(4, n))
    A = [np.vstack([box, each, missed]) for each in (rows, moved)]
    room = 0.5 + rng.random(5)
    goals = rng.normal(size=(2, 4))
    b = [np.concatenate([np.full(2 * n, 3.0), room + k * rng.random(5), goals[k]]) for k in (0, 1)]
    prices = [np.concatenate([np.full(2 * n + 5, np.inf), 0.2 + rng.random(4)]) for _ in (0, 1)]
    cones = [Cone("nonnegative", 2 * n + 9)]
    more, sides = _curved(kind, rng, n)
    if kind == "equations":
        A = [np.vstack([row, each]) for row, each in zip(more, A, strict=True)]
        b = [np.concatenate([side, each]) for side, each in zip(sides, b, strict=True)]
        cones, prices = [Cone("zero", 1), *cones], [np.append(np.inf, each) for each in prices]
    elif more:
        A = [np.vstack([each, row]) for row, each in zip(more, A, strict=True)]
        b = [np.concatenate([each, side]) for side, each in zip(sides, b, strict=True)]
        prices = [np.concatenate([each, np.full(len(sides[0]), np.inf)]) for each in prices]
        order = {"semidefinite": 2, "second-order": 3, "exponential": 3}[kind]
        cones = [*cones, Cone("psd" if kind == "semidefinite" else kind, order)]
    same = kind != "lp" and kind != "equations"
    matrices = (A[0], A[0]) if same else tuple(A)
    quadratics = (P[0], P[0]) if kind == "lp" else tuple(P)
    program = CurveProgram(quadratics, matrices, q, np.array(b), np.zeros(2), Cones(cones), np.array(prices))
    return program, ValueBox(np.full(n, -3.0), np.full(n, 3.0), np.inf)


def _curved(kind, rng, n):
    """Rows of a cone that holds the slacks of 0."""
    if kind == "second-order":
        row = np.vstack([np.zeros(n), rng.normal(size=(2, n))])
        return [row, row], [np.append(1 + 0.5 * k, 0.3 * rng.normal(size=2)) for k in (0, 1)]
    if kind == "semidefinite":
        row = rng.normal(size=(3, n))
        return [row, row], [vector(np.eye(2) * (1 + k)) for k in (0, 1)]
    if kind == "exponential":
        row = rng.normal(size=(3, n)) * np.array([[1.0], [0.0], [1.0]])
        return [row, row], [np.array([-0.5 + k, 1.0, 1.5 + k]) for k in (0, 1)]
    if kind == "equations":
        row = rng.normal(size=(1, n))
        return [row, row + 0.2 * rng.normal(size=(1, n))], [0.2 * rng.normal(size=1) for _ in (0, 1)]
    return [], []


@dataclass(frozen=True)
class Honest:
    """A program with points inside at the ends of the line."""

    program: CurveProgram
    box: ValueBox
    ends: tuple

    @classmethod
    def of(cls, kind, rng):
        program, box = random_program(kind, rng)
        return cls(program, box, (inside(program, 0.0), inside(program, 1.0)))

    def piece(self, start, stop):
        """Polynomials through solutions at Chebyshev nodes; None where Clarabel has none."""
        start, stop = (float(np.round(t / GRID) * GRID) for t in (start, stop))
        found = [solved(self.program, t) for t in start + NODES * (stop - start)]
        if not all(each[3] for each in found):
            return None
        x, z = (TO_COEFFICIENTS @ np.array([each[k] for each in found]) for k in (0, 1))
        if self.program.A[0] is not self.program.A[1]:
            deep = [inside(self.program, t) for t in (start, stop)]
        else:
            deep = [[mix((first, last), t) for first, last in zip(*self.ends, strict=True)] for t in (start, stop)]
        return CurvePiece(start, stop, x, z, *(np.stack([one, other]) for one, other in zip(*deep, strict=True)))


FALSE = ("honest", "x moved", "z moved", "z negative", "stretched", "inner point outside")


def falsified(piece, how, rng):
    """The piece, with one thing wrong."""
    if how == "x moved":
        return replace(piece, x=piece.x + 1e-2 * rng.normal(size=piece.x.shape))
    if how == "z moved":
        return replace(piece, z=piece.z + 1e-2 * rng.normal(size=piece.z.shape))
    if how == "z negative":
        return replace(piece, z=-piece.z)
    if how == "stretched":
        more = np.round(0.5 * (piece.stop - piece.start) / GRID) * GRID
        return replace(piece, stop=min(1.0, piece.stop + more))
    if how == "inner point outside":
        return replace(piece, inner=piece.inner + rng.normal(size=piece.inner.shape))
    return piece


def beyond(judge, piece, shares):
    """By how much bounds at some shares are beyond the truth, relative to 1 + its size, and how far apart they are."""
    bounds = judge.bounds(piece)
    if isinstance(bounds, str):
        return None
    worst, widths = -np.inf, []
    for share in shares:
        low, high = bounds.at(share)
        *_, (least, most), fine = solved(judge.program, piece.start + share * (piece.stop - piece.start))
        if fine:
            worst = max(worst, max(low - most, least - high) / (1 + abs(most)))
            widths.append((high - low) / (1 + abs(most)))
    return worst, widths
