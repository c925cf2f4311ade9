"""Points and multipliers of a compiled program besides those of its one solve: the user's own, another solver's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.linear_programs import linprog
from paretoclf.proof.cones.cone_kinds import Cone, blocks, interior
from paretoclf.proof.cones.cone_program import ConeProgram, factor
from paretoclf.solve.judging.primal_and_dual import flat
from paretoclf.solve.models.lazily import clarabel
from paretoclf.solve.models.model import conic_settings

#: Rounds of SCS, which is asked last: a first-order method that goes on where interior points end.
_ROUNDS = 5000

#: Tolerance of SCS, absolute and relative.
_LOOSE = 1e-9

#: How far inside their cones the last points and multipliers are, each relative to 1 + its size.
_INSIDE = (1e-10, 1e-11, 1e-8)


def other_points(
    program: ConeProgram,
    found: tuple[Array, Array],
    numbers: Mapping[str, Any],
    columns: Mapping[str, Index],
    rows: Mapping[str, Index],
    stalled: bool,
) -> Iterator[tuple[Array, Array]]:
    """Pairs x, z for the bounds, the likeliest first; each is only made when it is asked for.

    The user's own values and multipliers, completed; those of HiGHS for a linear program; those of SCS where the first
    solver stalled; points and multipliers inside their cones, where there are cones besides inequalities.

    Parameters
    ----------
    program : ConeProgram
        What was compiled.
    found : pair of arrays
        The point and multipliers of the first solver.
    numbers : mapping of str to numbers
        Values and multipliers by the user's names.
    columns, rows : mappings of str to arrays
        Where these are in the program.
    stalled : bool
        Whether the first solver itself says that its point is inaccurate.
    """
    x, z = found[0].copy(), found[1].copy()
    given, known = np.zeros(x.size, dtype=bool), np.zeros(z.size, dtype=bool)
    for name, at in columns.items():
        value = numbers_of(numbers.get(name), at.size)
        if value is not None:
            x[at], given[at] = value, True
    for name, places in rows.items():
        value = numbers_of(numbers.get(name), places.size)
        if value is not None:
            z[places], known[places] = value, True
    x = _completed(program, x, given)
    yield x, _balanced(program, x, z, known)
    yield from _linear(program)
    if stalled and not program.indefinite and program.b.size:  # SCS takes no problem without rows
        yield from _first_order(program)
    yield from _inside(program, *found)


def _balanced(program: ConeProgram, x: Array, z: Array, given: Mask) -> Array:
    """Multipliers of equations that are not given are those with which the others come nearest to stationarity."""
    free = np.flatnonzero((program.kinds == "zero") & ~given)
    if free.size == 0:
        return z
    z, E = z.copy(), program.A[free]
    z[free] = 0.0
    z[free] = -factor(E @ E.T)(E @ (program.P @ x + program.q + program.A.T @ z))
    return z


def numbers_of(value: Any, size: int) -> Array | None:
    """The numbers of a value in CVXPY's order, if they are that many and finite."""
    if value is None or isinstance(value, list | tuple):
        return None
    numbers = flat(value)
    return numbers if numbers.size == size and np.isfinite(numbers).all() else None


def _completed(program: ConeProgram, x: Array, given: Mask) -> Array:
    """Complete given variables by the best of those that CVXPY added: one more solve, of the cones they are in."""
    added = np.flatnonzero(~given)
    if added.size == 0 or added.size == x.size:
        return x
    part = program.A[:, added]
    used = np.diff(sp.csr_array(part).indptr) > 0
    kept = [(cone, at) for cone, at in blocks(program.cones) if cone.kind in ("zero", "nonnegative") or used[at].any()]
    cones: list[Cone] = []
    rows: list[Array] = []
    for cone, at in kept:
        here = np.arange(at.start, at.stop)
        if cone.kind in ("zero", "nonnegative"):
            here = here[used[here]]
            cone = Cone(cone.kind, here.size) if here.size else cone
        if here.size:
            cones.append(cone)
            rows.append(here)
    at_rows = np.concatenate(rows) if rows else np.zeros(0, int)
    known = np.where(given, x, 0.0)
    rest = ConeProgram(
        program.P[added][:, added],
        (program.q + program.P @ known)[added],
        part[at_rows],
        (program.b - program.A @ known)[at_rows],
        cones,
    )
    found = _with_clarabel(rest)
    x = x.copy()
    if found is not None:
        x[added] = found[0]
    return x


def _inside(program: ConeProgram, x: Array, z: Array) -> Iterator[tuple[Array, Array]]:
    """Points and multipliers that are inside their cones by more than what a solver misses of the equations.

    Where every slack ``b - Ax`` is to be inside by e, and every multiplier by f, it is the program of ``b - e`` and
    ``q + A'f``; f is added to the multipliers of that.
    """
    curved = ~np.isin(program.kinds, ("zero", "nonnegative"))
    if not curved.any() or program.indefinite:
        return
    inwards = np.where(curved, interior(program.cones), 0.0)
    of_slacks, of_z = (1.0 + float(np.abs(v).max()) for v in (program.b - program.A @ x, z))
    for share in _INSIDE:
        e, f = share * of_slacks * inwards, share * of_z * inwards
        found = _with_clarabel(program.moved(program.q + program.A.T @ f, program.b - e))
        if found is not None:
            yield found[0], found[1] + f


def _with_clarabel(program: ConeProgram) -> tuple[Array, Array] | None:
    """Clarabel's point and multipliers, if it calls them a solution."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    for key, value in conic_settings("reference").items():
        setattr(settings, key, value)
    P, A = sp.csc_matrix(sp.triu(program.P)), sp.csc_matrix(program.A)
    cones = [CLARABEL_CONES[cone.kind](cone) for cone in program.cones]
    found = clarabel.DefaultSolver(P, program.q, A, program.b, cones, settings).solve()
    x, z = np.asarray(found.x), np.asarray(found.z)
    solved = str(found.status) in ("Solved", "AlmostSolved") and np.isfinite(x).all() and np.isfinite(z).all()
    return (x, z) if solved else None


CLARABEL_CONES = {
    "zero": lambda cone: clarabel.ZeroConeT(cone.order),
    "nonnegative": lambda cone: clarabel.NonnegativeConeT(cone.order),
    "second-order": lambda cone: clarabel.SecondOrderConeT(cone.order),
    "psd": lambda cone: clarabel.PSDTriangleConeT(cone.order),
    "exponential": lambda cone: clarabel.ExponentialConeT(),
    "power": lambda cone: clarabel.PowerConeT(cone.exponent),
}


def _linear(program: ConeProgram) -> Iterator[tuple[Array, Array]]:
    """A vertex and its multipliers, by the simplex method of HiGHS, of a linear program."""
    zero, plain = (np.flatnonzero(program.kinds == kind) for kind in ("zero", "nonnegative"))
    if program.P.nnz or zero.size + plain.size < program.b.size or not plain.size:
        return
    equations = {"A_eq": program.A[zero], "b_eq": program.b[zero]} if zero.size else {}
    found = linprog(
        program.q, A_ub=program.A[plain], b_ub=program.b[plain], bounds=(None, None), method="highs-ds", **equations
    )
    if found.x is None:
        return
    z = np.zeros(program.b.size)
    z[plain] = -found.ineqlin.marginals
    if zero.size:
        z[zero] = -found.eqlin.marginals
    yield found.x, z


def _first_order(program: ConeProgram) -> Iterator[tuple[Array, Array]]:
    """A point of SCS, which has its matrices by their lower triangles."""
    import scs

    order = np.arange(program.b.size)
    sizes: dict[str, list[Any]] = {kind: [] for kind in CLARABEL_CONES}
    for cone, at in blocks(program.cones):
        sizes[cone.kind].append(cone.exponent if cone.kind == "power" else cone.order)
        if cone.kind == "psd":
            i, j = np.triu_indices(cone.order)
            order[at] = at.start + j * (j + 1) // 2 + i
    if list(dict.fromkeys(cone.kind for cone in program.cones)) != [kind for kind in sizes if sizes[kind]]:
        return
    lengths = {
        "z": sum(sizes["zero"]),
        "l": sum(sizes["nonnegative"]),
        "q": sizes["second-order"],
        "s": sizes["psd"],
        "ep": len(sizes["exponential"]),
        "p": sizes["power"],
    }
    data = {"A": sp.csc_matrix(program.A[order]), "b": program.b[order], "c": program.q}
    if program.P.nnz:
        data["P"] = sp.csc_matrix(sp.triu(program.P))
    try:
        found = scs.SCS(data, lengths, verbose=False, eps_abs=_LOOSE, eps_rel=_LOOSE, max_iters=_ROUNDS).solve()
    except ValueError:  # what it cannot factor it does not solve
        return
    x, y = np.asarray(found["x"]), np.asarray(found["y"])
    if np.isfinite(x).all() and np.isfinite(y).all():
        z = np.empty_like(y)
        z[order] = y
        yield x, z
