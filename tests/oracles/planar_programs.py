"""Random programs in two parameters, degenerate more often than not, and an independent look at their maps."""

from __future__ import annotations

import clarabel
import numpy as np
import scipy.sparse as sp

import paretoclf as pc

SQUARE = {"a": (-1.0, 1.0), "b": (-1.0, 1.0)}


def ordinary(seed, n, m, linear=False):
    """Rows and costs of random size, all in a box."""
    rng = np.random.default_rng(seed)
    A, F = rng.normal(size=(m, n)), rng.normal(size=(n, n))
    rows, zero = np.vstack([A, np.eye(n)]), np.zeros(n)
    low, up = np.concatenate([np.full(m, -np.inf), -2 - zero]), np.concatenate([1 + rng.random(m), 2 + zero])
    moves = {name: {"q": rng.normal(size=n), "u": np.concatenate([0.3 * rng.normal(size=m), zero])} for name in SQUARE}
    return pc.QP(None if linear else F.T @ F, rng.normal(size=n), rows, low, up, moves=moves)


def degenerate_linear(seed, n, m):
    """A linear program in small whole numbers, in a box."""
    rng = np.random.default_rng(seed)
    A, zero = rng.integers(-2, 3, (m, n)).astype(float), np.zeros(n)
    rows = np.vstack([A, np.eye(n)])
    low = np.concatenate([np.full(m, -np.inf), -2 - zero])
    up = np.concatenate([rng.integers(1, 4, m).astype(float), 2 + zero])
    moves = {
        "a": {"q": rng.integers(-2, 3, n).astype(float)},
        "b": {"u": np.concatenate([rng.integers(0, 3, m).astype(float), zero])},
    }
    return pc.QP(None, rng.integers(-3, 4, n).astype(float), rows, low, up, moves=moves)


def degenerate(seed):
    """Small whole numbers, copies of rows, columns alike, rows of zeros, P singular or 0; parts have no optimum."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 7)), int(rng.integers(1, 12))
    A = rng.integers(-2, 3, (m, n)).astype(float)
    if m > 2 and rng.random() < 0.4:
        A[-1] = A[0] * rng.integers(1, 3)
    if rng.random() < 0.2:
        A[0] = 0
    B = rng.integers(-2, 3, (int(rng.integers(0, n + 1)), n))
    P = (B.T @ B).astype(float)
    if n > 1 and rng.random() < 0.3:
        A[:, -1], P[:, -1], P[-1] = A[:, 0], P[:, 0], P[0]
        P[-1, -1] = P[0, 0]
    point, kind = rng.integers(-2, 3, n), rng.integers(0, 6, m)
    low = A @ point - rng.integers(0, 3, m)
    up = low + rng.integers(0, 5, m)
    low[(kind == 1) | (kind == 3)] = -np.inf
    up[(kind == 2) | (kind == 3)] = np.inf
    q = rng.integers(-3, 4, n).astype(float)
    if rng.random() < 0.7:  # an optimum in the middle, or nearly so
        prices = rng.integers(0, 3, (2, m)) * np.isfinite([up, low])
        q = -P @ point - (prices[0] - prices[1]) @ A
    moves = {}
    for name in SQUARE:
        down, over = (rng.integers(-1, 2, m) * np.isfinite(each) for each in (low, up))
        moves[name] = {"q": rng.integers(-2, 3, n), "l": down, "u": np.where(low == up, down, over)}
    return pc.QP(P, q, A, low, up, moves=moves)


def solved(qp, values):
    """The optimal value at values of the parameters by Clarabel; its status where there is none."""
    data = qp.at(values)
    equal, up, low = data["l"] == data["u"], np.isfinite(data["u"]), np.isfinite(data["l"])
    up, low = up & ~equal, low & ~equal
    A = sp.vstack([qp.A.tocsr()[equal], qp.A.tocsr()[up], -qp.A.tocsr()[low]]).tocsc()
    b = np.concatenate([data["u"][equal], data["u"][up], -data["l"][low]])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.ZeroConeT(int(equal.sum())), clarabel.NonnegativeConeT(int(up.sum() + low.sum()))]
    found = clarabel.DefaultSolver(
        sp.csc_matrix(sp.triu(qp.P)), data["q"], sp.csc_matrix(A), b, cones, settings
    ).solve()
    status = str(found.status)
    return found.obj_val + qp.constant if status == "Solved" else status


def polygons_at(found, place, slack=1e-9):
    """How many polygons of a map, those without an optimum included, hold a point, up to their borders."""
    count = 0
    for each in (*found.regions, *found.outside):
        step = np.roll(each.polygon, -1, axis=0) - each.polygon
        side = step[:, 0] * (place[1] - each.polygon[:, 1]) - step[:, 1] * (place[0] - each.polygon[:, 0])
        count += bool((side >= -slack * np.hypot(*step.T)).all())
    return count


def area_of(found):
    """The area of all polygons of a map, by the shoelace formula."""
    every = [each.polygon for each in (*found.regions, *found.outside)]
    return sum(0.5 * float(p[:, 0] @ np.roll(p[:, 1], -1) - p[:, 1] @ np.roll(p[:, 0], -1)) for p in every)


def value_errors(qp, found, points):
    """Largest difference from Clarabel's values, relative to 1 + these; and points on whose status both disagree."""
    worst, wrong = 0.0, 0
    for place in points:
        values = dict(zip(found.ranges, place.tolist(), strict=True))
        theirs = solved(qp, values)
        try:
            own = found.value(values)
        except pc.InputError as error:
            kinds = ("PrimalInfeasible", "DualInfeasible")
            known = isinstance(theirs, str) and any(kind in theirs for kind in kinds)
            wrong += not known or "there is no optimum" not in str(error)
            continue
        if isinstance(theirs, str):
            wrong += "Infeasible" in theirs
        else:
            worst = max(worst, abs(own - theirs) / (1.0 + abs(theirs)))
    return worst, wrong
