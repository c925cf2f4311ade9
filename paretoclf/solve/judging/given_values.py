"""Values of variables, given for a while: what a problem holds is left as it was."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from paretoclf.common.errors import InputError, SolveError
from paretoclf.solve.judging.cone_proof import ProblemProof, certify_problem
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import dense, without_values


@contextmanager
def kept(*problems: cp.Problem) -> Iterator[None]:
    """Give variables and multipliers of these problems what they held back at the end."""
    leaves: dict[int, Any] = {}
    for problem in problems:
        own = [*problem.variables(), *(v for c in problem.constraints for v in c.dual_variables)]
        leaves |= {leaf.id: leaf for leaf in own}
    sparse = {key: leaf.sparse_idx is not None for key, leaf in leaves.items()}
    before = {key: leaf.value_sparse if sparse[key] else leaf.value for key, leaf in leaves.items()}
    try:
        yield
    finally:
        for key, leaf in leaves.items():
            leaf.save_value(before[key], sparse[key])


def solved(problem: cp.Problem) -> cp.Problem:
    """A problem with the same variables, solved; its status is its own."""
    own = cp.Problem(problem.objective, problem.constraints)
    _solve(own)
    return own


def _solve(own: cp.Problem) -> None:
    """Solve a problem; what is DPP is compiled the first time only."""
    tight = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
    how = {"solver": "CLARABEL", "ignore_dpp": not own.is_dcp(dpp=True), "warm_start": False}
    with warnings.catch_warnings():
        # Whoever takes the numbers has them judged.
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        try:
            own.solve(**how, **tight)
        except cp.SolverError:
            own.solve(**how)


def proved(problem: cp.Problem, tol: float) -> ProblemProof:
    """The judge's word on a problem, which is solved for it; values and multipliers are left as they were."""
    return proved_again(cp.Problem(problem.objective, problem.constraints), tol)


def proved_again(own: cp.Problem, tol: float) -> ProblemProof:
    """The judge's word on a problem that nobody else reads the status of; what is DPP is compiled the first time."""
    with kept(own), without_values(own):
        try:
            _solve(own)
        except cp.SolverError as error:
            return _undecided(f"The solver found no point: {error}", tol)
        try:
            return certify_problem(own, tol)
        except SolveError as error:
            return _undecided(f"The solver found no point: {error}", tol)
        except InputError:
            if own.status not in _OPEN_CLAIMS:
                raise
            return _undecided(f"The solver says {own.status}, which is not proved.", tol)


#: What a solver says without a point, where another of its runs may not say so.
_OPEN_CLAIMS = ("infeasible", "unbounded", "infeasible_inaccurate", "unbounded_inaccurate", "infeasible_or_unbounded")


def _undecided(words: str, tol: float) -> ProblemProof:
    """A proof of nothing."""
    return ProblemProof("undecided", -np.inf, np.inf, words=words, tol=tol)


def by_name(given: Any, known: Mapping[str, Any], argument: str) -> dict[str, Any]:
    """Arrays that were given by variables or by their names, as arrays of the right shapes by name.

    Raises
    ------
    InputError
        If a name is unknown, or an array has another shape or no numbers.
    """
    if not isinstance(given, Mapping):
        raise InputError(f"{argument} must be a dict by variables or names, got {given!r:.200}")
    own = {id(part): name for name, part in known.items()}
    found: dict[str, Any] = {}
    for key, value in given.items():
        name = own.get(id(key), str(key))
        if name not in known:
            raise InputError(f"{argument} must be of {', '.join(known)}, got {name}")
        array = _numbers(value, known[name])
        if np.squeeze(array).shape != tuple(n for n in known[name].shape if n != 1) or not np.isfinite(array).all():
            raise InputError(
                f"{argument} must have finite numbers of shape {known[name].shape} for {name}, got {value!r:.100}"
            )
        found[name] = array.reshape(known[name].shape)
    return found


def _numbers(value: Any, of: Any) -> Any:
    """An array of real numbers, or of complex ones where they are of a complex variable; nan for what is no number."""
    try:
        return np.asarray(dense(value), dtype=np.complex128 if of.is_complex() else np.float64)
    except (TypeError, ValueError):
        return np.array(np.nan)
