"""Where a line leaves the set of t with a solution, the ray that proves it, and where it must be cut.

The set of t at which there are feasible points is an interval, as is that at which there are feasible multipliers. Its
end is the optimum of one more cone program with t for a variable, and the multipliers of that are the ray.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.proof.cone_band import judge_cone_ray
from paretoclf.proof.cone_line import GRID, ConeLine
from paretoclf.proof.points.cones import Cone
from paretoclf.solve.cone_inside import Inner, dual_cones, inner_points, touching
from paretoclf.solve.cone_pairs import reaches, without
from paretoclf.solve.cone_solver import NONE, ConeSolver, conic
from paretoclf.solve.model import settings_at

#: A line is cut so far before the border of its solutions, in lengths of the line: the first that can be proved.
_BEFORE = (1e-7, 1e-6, 1e-5, 5e-5)

#: Multipliers of a ray below so much of the largest may be none.
_NONE = (1e-9, 1e-7, 1e-5, 0.0)


def on_grid(t: Array) -> Array:
    """Multiples of the grid on which 1 - t is a double, too: downwards."""
    return np.asarray(np.floor(np.asarray(t) / GRID) * GRID)


def refused(why: str, t: float, remedy: str = "Ask for a larger eps, or rescale the data.") -> DegeneratePathError:
    """An error that has no costs to name."""
    return DegeneratePathError(why, t=t, costs="", n_margin=None, remedy=remedy)


def inside(line: ConeLine, stop: float, reach: float) -> Inner:
    """Points well inside the cones at both ends; InputError that names what keeps them from being so."""
    found = inner_points(line, stop, reach)
    if found is None:
        names = ", ".join(touching(line, reach)[:5]) or "rows that CVXPY added"
        which, remedy = "at both ends of the line", "begin and end further inside"
        if line.A_stop is not None:
            which, remedy = "with the coefficients of both ends of the line", "trace shorter lines"
        raise InputError(
            f"the problem must have a point inside all of its inequalities and cones {which}, which was not found: see "
            f"{names}. Write what holds with equality everywhere as equations, or {remedy}"
        )
    return found


def last_inside(line: ConeLine, stop: float, reach: float, solver: ConeSolver) -> tuple[float, Inner]:
    """Where a line is cut, and points well inside the cones at both of its ends.

    That is as little before ``stop`` as leaves a point that is proved feasible.
    """
    for before in _BEFORE:
        end = float(on_grid(np.array([stop - before]))[0])
        inner = inner_points(line, end, reach) if end > 0.0 else None
        if inner is not None and reaches(line, end, solver(end)[0], inner):
            return end, inner
    return end, inside(line, max(end, 0.0), reach)


def ending(line: ConeLine, words: list[str]) -> tuple[str, Array | None, float]:
    """Whether the line ends early, the ray that says so, and where the last t with a solution is."""
    if words[0] in NONE:
        raise InputError(_no_start(line, NONE[words[0]]))
    claims = [NONE[word] for word in words if word in NONE]
    if not claims:
        return "end", None, 1.0
    status = claims[0]
    stop, ray = _border(line, status) if line.stands else (0.0, None)
    if ray is None or not stop > 0.0:
        first = next(k for k, word in enumerate(words) if word in NONE)
        raise refused(
            f"it seems {status} there, and that is not proved", first / (len(words) - 1), "End the line before."
        )
    return status, ray, stop


def _border(line: ConeLine, status: str) -> tuple[float, Array | None]:
    """The last t with a solution, and the ray that proves it from as early on as can be; None if none does."""
    stop, ray = (furthest_point if status == "infeasible" else furthest_multipliers)(line)
    best, since = None, np.inf
    if ray is None:
        return stop, None
    for share in _NONE:
        tried = without(line, ray, share) if status == "infeasible" else ray
        proof = judge_cone_ray(line, status, tried)
        if proof.passes() and proof.since < since:
            best, since = tried, proof.since
    return stop, best


def _no_start(line: ConeLine, status: str) -> str:
    """What to say where there is no solution at the start, as far as that is proved."""
    said = f"the problem must have a solution at the start, where it is {status}"
    if not line.stands:
        return f"{said}, as the solver says"
    ends = {"q": line.q[::-1], "b": line.b[::-1], "constant": line.constant[::-1]}
    back = ConeLine(**{**{each.name: getattr(line, each.name) for each in fields(line)}, **ends})
    stop, ray = _border(back, status)
    if ray is None:
        return f"{said}, as the solver says"
    since = judge_cone_ray(back, status, ray).since
    there = (
        f"there is one from about t = {1.0 - stop:.6g} on: start there" if stop > 0.0 else "nor is there one at stop"
    )
    return f"{said}, as is every t before {1.0 - since:.6g}; {there}"


def furthest_point(line: ConeLine) -> tuple[float, Array | None]:
    """The largest t at which there is a feasible point, and multipliers that prove that there is none beyond."""
    n = line.n
    speed = sp.csr_array((line.b[0] - line.b[1])[:, None])
    rows = sp.block_array([[sp.csr_array(line.A), speed], [None, sp.csr_array(np.array([[1.0], [-1.0]]))]])
    cones = [*line.cones, Cone("nonnegative", 2)]
    sides = np.append(line.b[0], [1.0, 0.0])
    found = conic(
        sp.csc_matrix((n + 1, n + 1)), np.append(np.zeros(n), -1.0), rows, sides, cones, settings_at(1e-11)
    ).solve()
    x, z = np.asarray(found.x), np.asarray(found.z)
    if str(found.status) in NONE or not (np.isfinite(x).all() and np.isfinite(z).all()):
        return 0.0, None
    return float(x[-1]), z[:-2]


def furthest_multipliers(line: ConeLine) -> tuple[float, Array | None]:
    """The largest t at which there are feasible multipliers, and a direction in which nothing bounds the objective."""
    n, m = line.n, line.m
    A, P = sp.csr_array(line.A), sp.csr_array(line.P)
    speed = sp.csr_array((line.q[1] - line.q[0])[:, None])
    dual, cones = dual_cones(line)
    kept = dual.shape[0]
    rows = sp.vstack(
        [
            sp.hstack([P, A.T, speed]),
            sp.csr_array(([1.0, -1.0], ([0, 1], [n + m, n + m])), shape=(2, n + m + 1)),
            sp.hstack([sp.csr_array((kept, n)), -dual, sp.csr_array((kept, 1))]),
        ]
    )
    sides = np.concatenate([-line.q[0], [1.0, 0.0], np.zeros(kept)])
    costs = np.append(np.zeros(n + m), -1.0)
    everything = [Cone("zero", n), Cone("nonnegative", 2), *cones]
    found = conic(sp.csc_matrix((n + m + 1, n + m + 1)), costs, rows, sides, everything, settings_at(1e-11)).solve()
    x, z = np.asarray(found.x), np.asarray(found.z)
    if str(found.status) in NONE or not (np.isfinite(x).all() and np.isfinite(z).all()):
        return 0.0, None
    d = z[:n]
    return float(x[-1]), d if float(line.q[1] @ d) < 0 else -d
