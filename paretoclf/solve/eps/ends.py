"""Where a line leaves the set of t with a solution, the ray that proves it, and where it must be cut.

The set of t at which there are feasible points is an interval, as is that at which there are feasible multipliers. Its
end is the optimum of one more cone program with t for a variable, and the multipliers of that are the ray.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.engine.reduction.program import between
from paretoclf.proof.bands.band_proof import judge_cone_ray
from paretoclf.proof.bands.cone_line import GRID, ConeLine
from paretoclf.proof.bands.infeasible import ChainJudge
from paretoclf.proof.cones.cone_kinds import Cone, interior
from paretoclf.proof.cones.relaxation import relaxed
from paretoclf.solve.eps.interior import Inner, dual_cones, inner_points, touching
from paretoclf.solve.eps.solver import NONE, ConeSolver, solved
from paretoclf.solve.eps.solver_pairs import reaches, without
from paretoclf.solve.models.model import settings_at

#: A line is cut so far before the border of its solutions, in lengths of the line: the first that can be proved.
_BEFORE = (1e-7, 1e-6, 1e-5, 5e-5)

#: Where points end is found to so much of the line; a chain of rays begins no further from there, and has no more.
_CLOSE, _OPEN, _LINKS = 3e-7, 1e-4, 200

#: Multipliers of a ray below so much of the largest may be none.
_NONE = (1e-9, 1e-7, 1e-5, 0.0)

#: Coefficients of rows that keep a number at most and at least as large as their sides say.
_WITHIN = sp.csr_array([[1.0], [-1.0]])


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
        ends, names = touching(line, stop, reach)
        which, remedy = _without_inside(line, stop, ends)
        raise InputError(
            f"a path within eps needs a point inside all inequalities and cones of the problem {which}, and none was "
            f"found: see {', '.join(names[:5]) or 'rows that CVXPY added'}. Write what "
            f"holds with equality everywhere as equations, or {remedy}"
        )
    return found


def _without_inside(line: ConeLine, stop: float, ends: Sequence[float]) -> tuple[str, str]:
    """Where no point is inside, and what to do."""
    if line.A_stop is not None:
        return "with the coefficients of both ends of the line", "trace shorter lines"
    if len(ends) != 1:
        return "at both ends of the line", "begin and end further inside"
    if ends[0] == 0.0:
        return "at start (there is one at the other end)", "begin a little further on"
    where = "stop" if stop == 1.0 else f"t = {stop:.6g}"
    return f"at {where} (there is one at start)", "end a little earlier"


def last_inside(line: ConeLine, stop: float, reach: float, solver: ConeSolver) -> tuple[float, Inner]:
    """Where a line is cut, and points well inside the cones at both of its ends.

    That is as little before ``stop`` as leaves a point that is proved feasible.
    """
    for before in _BEFORE:
        end = float(on_grid(np.array([stop - before]))[0])
        if end <= 0.0:
            break
        x, _, word = solver(end)
        if word not in NONE and np.isfinite(x).all():  # points near the border may be larger than before
            reach = max(reach, 1.0 + float(np.abs(x).max(initial=0.0)))
            inner = inner_points(line, end, reach)
            if inner is not None and reaches(line, end, x, inner):
                return end, inner
    return end, inside(line, max(end, 0.0), reach)


def ending(line: ConeLine, words: Mapping[float, str]) -> tuple[str, Array | None, float]:
    """Whether the line ends early, the ray that says so, and where the last t with a solution is."""
    if words[0.0] in NONE:
        raise InputError(_no_start(line, NONE[words[0.0]]))
    claims = {t: NONE[word] for t, word in words.items() if word in NONE}
    if not claims:
        return "end", None, 1.0
    first, status = next(iter(claims.items()))
    stop, ray, why = 0.0, None, ""
    if status == "infeasible" and line.A_stop is not None:
        stop, ray, why = _chain(line, max(t for t in words if t < first), first)
    elif status == "infeasible" or line.stands:
        stop, ray = _border(line, status)
    else:
        why = ", as the direction would have to be one for every matrix on the way"
    if ray is None or not stop > 0.0:
        raise refused(f"it seems {status} there, and that is not proved{why}", first, "End the line before.")
    return status, ray, stop


def _chain(line: ConeLine, begin: float, end: float) -> tuple[float, Array | None, str]:
    """The last t with a feasible point, and rows t, z that prove that there is none from about there to 1."""
    judge = ChainJudge(line)
    if judge.why:
        return 0.0, None, f": {judge.why}"
    while end - begin > _CLOSE:
        middle = 0.5 * (begin + end)
        begin, end = (middle, end) if _violated(line, middle)[0] <= 0.0 else (begin, middle)
    t, rays = end, np.zeros((0, 0))
    while t - begin <= _OPEN and not (rays.size and judge.links(rays)[0][0] < 0.0):
        rays, t = _rays(line, [t, 1.0]), t + 2 * (t - begin)  # too near to the border nothing is proved
    while len(rays) < _LINKS:
        own, proved = judge.links(rays)
        at = np.flatnonzero(~proved)
        if not at.size:
            return begin, rays, ""
        if not (own < 0.0).all():
            k = int(np.argmax(own))
            return begin, None, f": at t = {rays[k, 0]:.7g} multipliers miss stationarity by more than they gain"
        ends = rays[at, 0] - begin, rays[at + 1, 0] - begin
        rays = np.insert(rays, at + 1, _rays(line, (begin + np.sqrt(ends[0] * ends[1])).tolist()), axis=0)
    return begin, None, f": {_LINKS} rays are not enough"


def _rays(line: ConeLine, at: list[float]) -> Array:
    """Rows t, z of multipliers that say best that there is no point at these t."""
    return np.stack([np.append(t, _violated(line, t)[1]) for t in at])


def _violated(line: ConeLine, t: float) -> tuple[float, Array]:
    """Distance by which points miss the cones, negative where some are inside, and multipliers that say so."""
    _, A = line.matrices(t)
    # One column more than the line's: how far slacks are outside, at least -1, as little as can be.
    outwards = sp.csr_array(-interior(line.cones)[:, None])
    rows = sp.block_array([[A, outwards], [None, sp.csr_array([[-1.0]])]])
    sides = np.append(between(line.b, t), 1.0)
    costs = np.append(np.zeros(line.n), 1.0)
    nothing = sp.csc_matrix((costs.size, costs.size))
    found = solved(nothing, costs, rows, sides, [*line.cones, Cone("nonnegative", 1)], settings_at(1e-11))
    distance = float(np.asarray(found.x)[-1])
    multipliers = np.nan_to_num(np.asarray(found.z))
    return distance if np.isfinite(distance) else np.inf, multipliers[:-1]


def _border(line: ConeLine, status: str) -> tuple[float, Array | None]:
    """The last t with a solution, and the ray that proves it from as early on as can be; None if none does."""
    stop, ray = (furthest_point if status == "infeasible" else furthest_multipliers)(line)
    best, since = None, np.inf
    if ray is None:
        return stop, None
    for tried in _on_faces(line, ray) if status == "infeasible" else [ray]:
        proof = judge_cone_ray(line, status, tried)
        if proof.passes() and proof.since < since:
            best, since = tried, proof.since
    return stop, best


def _on_faces(line: ConeLine, ray: Array) -> Iterator[Array]:
    """Multipliers without those that may be none, of whole cones first, and then also on faces of the dual cones."""
    yield from (without(line, ray, share) for share in _NONE)
    for share in _NONE[:-1]:
        least = share * float(np.abs(ray).max(initial=0.0))
        face = relaxed(line.base.grouped, ray, least)
        if face.weaker:
            yield face.back(face.kept(ray, least))


def _no_start(line: ConeLine, status: str) -> str:
    """Error for a line without a solution at its start, as far as that is proved."""
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
        f"there is one from about t = {1.0 - stop:.6g} on: start a little later"
        if stop > 0.0
        else "nor is there one at stop"
    )
    if status == "infeasible":
        return f"{said}, as is every t before {1.0 - since:.6g}; {there}"
    before = f"at no t before {1.0 - since:.6g} is there one, as the objective of any feasible point improves for ever"
    return f"the problem must have a solution at the start: {before}; {there}"


def furthest_point(line: ConeLine) -> tuple[float, Array | None]:
    """The largest t at which there is a feasible point, and multipliers that prove that there is none beyond."""
    speed = sp.csr_array((line.b[0] - line.b[1])[:, None])
    rows = sp.block_array([[sp.csr_array(line.A), speed], [None, _WITHIN]])
    sides = np.append(line.b[0], [1.0, 0.0])
    found = _furthest(rows, sides, [*line.cones, Cone("nonnegative", 2)])
    if found is None:
        return 0.0, None
    x, z = found
    return float(x[-1]), z[:-2]


def furthest_multipliers(line: ConeLine) -> tuple[float, Array | None]:
    """The largest t at which there are feasible multipliers, and a direction in which nothing bounds the objective."""
    A, P = sp.csr_array(line.A), sp.csr_array(line.P)
    speed = sp.csr_array((line.q[1] - line.q[0])[:, None])
    dual, cones = dual_cones(line)
    rows = sp.block_array([[P, A.T, speed], [None, None, _WITHIN], [None, -dual, None]])
    sides = np.concatenate([-line.q[0], [1.0, 0.0], np.zeros(dual.shape[0])])
    found = _furthest(rows, sides, [Cone("zero", line.n), Cone("nonnegative", 2), *cones])
    if found is None:
        return 0.0, None
    x, z = found
    d = z[: line.n]
    return float(x[-1]), d if float(line.q[1] @ d) < 0 else -d


def _furthest(rows: Any, sides: Array, cones: list[Cone]) -> tuple[Array, Array] | None:
    """Solution of the program whose last number, t, is as large as can be, and its multipliers; None without one."""
    size = rows.shape[1]
    costs = np.append(np.zeros(size - 1), -1.0)
    found = solved(sp.csc_matrix((size, size)), costs, rows, sides, cones, settings_at(1e-11))
    x, z = np.asarray(found.x), np.asarray(found.z)
    return None if str(found.status) in NONE or not (np.isfinite(x).all() and np.isfinite(z).all()) else (x, z)
