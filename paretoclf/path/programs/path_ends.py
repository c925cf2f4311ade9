"""Where the path of a program ends early, or has no start: what is proved of that, in the user's words."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.common.errors import DegeneratePathError, InputError, StoppedError
from paretoclf.common.tolerances import CERTIFY, ROUNDING
from paretoclf.engine.general import follow
from paretoclf.engine.reduction.presolve import reduce
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.reduced import Reduced
from paretoclf.engine.reduction.taken_back import taken_back
from paretoclf.path.programs.program_points import Beyond
from paretoclf.problem.trace import Trace
from paretoclf.proof.programs.program_lines import prove_program
from paretoclf.proof.programs.rays import RayProof, judge_ray


def ray_of(reduced: Reduced, found: Trace) -> Array:
    """The ray in terms of the compiled program."""
    if found.item >= 0:
        return reduced.ray_of_crossing(found.item)
    back = reduced.ray_of_values if found.status == "unbounded" else reduced.ray_of_multipliers
    ray = back(found.ray)
    # What rounding has left of 0 may be all that P, or a row, sees of a ray.
    plain = np.where(np.abs(ray) > ROUNDING * np.abs(ray).max(initial=0.0), ray, 0.0)
    return min(plain, ray, key=lambda r: judge_ray(reduced.program, found.status, r).residual)


def beyond_of(line: ProgramLine, status: str, ray: Array, t: float, proof: RayProof, least: float = CERTIFY) -> Beyond:
    """A ray in the user's words; who has no more than a share ``least`` of its largest entry has no part in it."""
    least = least * float(np.abs(ray).max(initial=0.0))
    part = np.abs(ray) > least
    if status == "infeasible":
        own = [_whose(line, int(i)) for i in np.flatnonzero(part)]
        named = line.duals(ray)
    else:
        named = line.values(ray, t)
        own = [name for name, value in named.items() if np.abs(value).max(initial=0.0) > least]
    blame = tuple(name for name in dict.fromkeys(own) if name)
    return Beyond(status, max(t, proof.since), named, blame, proof, t)


def _whose(line: ProgramLine, row: int) -> str:
    """The constraint or attribute that a row belongs to; empty where CVXPY added it for a term."""
    of_attributes = (name for name, each in line.attributes.items() if row in each.place[each.factor != 0.0])
    return line.label(row) or next(of_attributes, "")


def has_points(line: ProgramLine) -> bool:
    """Whether a feasible point at the start is proved: an optimum of the same program without an objective."""
    nothing = np.zeros_like(line.q)
    sides = np.stack([line.b[0], line.b[0]])
    still = replace(line, P=sp.csc_array(line.P.shape), q=nothing, b=sides, constant=np.zeros(2), moved=())
    with suppress(InputError, DegeneratePathError):
        reduced = reduce(still)
        found = follow(reduced.problem, progress=False)
        if found.segments:
            return prove_program(reduced.program, found.t, taken_back(reduced, found.path)).passes()
    return False


def refusal(
    why: str, t: float, remedy: str = "Rescale the data, or use a slightly different line."
) -> DegeneratePathError:
    """An error that has no costs to name."""
    return DegeneratePathError(why, t=t, costs="", n_margin=None, remedy=remedy)


def out_of_time(found: Trace) -> StoppedError:
    """Error for a path without an optimum at its start in the time that was given."""
    cause = f"no optimum was found at the start in {found.exchanges} exchanges, when no time was left"
    return StoppedError(cause, t=0.0, costs="", n_margin=None, remedy="Raise max_seconds.")


def out_of_exchanges(found: Trace) -> StoppedError:
    """Error for a path that was stopped by a limit."""
    why = "it has not come to its end after" if found.segments else "no optimum was found at the start in"
    cause, remedy = f"{why} {found.exchanges} exchanges", "Give max_events for as many as you want."
    return StoppedError(cause, t=float(found.t[-1]), costs="", n_margin=None, remedy=remedy)
