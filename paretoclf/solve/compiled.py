r"""A parametrised quadratic program, compiled once and moved inside the solver.

CVXPY compiles a DPP problem to :math:`\min \tfrac12 x^\top Px + q(\theta)^\top x` subject to
:math:`b(\theta) - Ax \in K`, with :math:`q` and :math:`b` affine in the parameters :math:`\theta`. The affine maps are
read off once; after that a new :math:`\theta` costs two thin products and an update in place of the vector that moved.
The tensors they are read from are not a documented interface of CVXPY, so the compiled problem checks itself: against
CVXPY's own data at a second parameter value.

Clarabel's stopping rule is absolute for objectives below 1, so small costs would come back with few correct digits.
Problems with small data are therefore handed over in a unit of their own: where only :math:`q` moves, the objective is
divided by the size :math:`u` of what moves; where only :math:`b` moves and is proportional to the parameters,
:math:`x = u\hat x` turns the problem into :math:`(uP, q, A, b/u)` with the same multipliers.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.common.errors import SolveError
from paretoclf.common.tolerances import SETUP_DRIFT
from paretoclf.solve.models.lazily import clarabel, cp
from paretoclf.solve.models.model import (
    Accuracy,
    Model,
    Numbers,
    conic_settings,
    having,
    problem_data,
    what_to_do,
)

if TYPE_CHECKING:
    from paretoclf.solve.judging.cone_proof import CompiledCone

#: Columns up to which an affine map is multiplied as an array: for a few parameters that takes a third of the time.
FEW = 8

#: Clarabel's words for a usable point, in CVXPY's.
CLAIMS = {"Solved": "optimal", "AlmostSolved": "optimal_inaccurate"}


class NotUpdatable(SolveError):
    """The matrices of a model move with its parameters, so that a solver cannot be moved in place.

    Attributes
    ----------
    names : tuple of str
        The parameters that move them.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        super().__init__(
            f"the matrices of this model depend on its parameters ({', '.join(names)}), so it cannot be updated in "
            "place; use the other form, or solve() at each value"
        )


@dataclass(frozen=True)
class Raw:
    """What the solver claims at one parameter value: numbers by name of variable or constraint."""

    numbers: Numbers
    status: str
    iterations: int
    seconds: float
    fresh: bool


class Compiled:
    """One model, compiled for Clarabel, to be solved at many parameter values.

    Parameters
    ----------
    model : Model
        Must be a DPP minimisation whose matrices do not depend on the parameters.
    parameters : mapping of str to cvxpy.Parameter
        Everything the model depends on, directly or through a ``cvxpy.CallbackParam``.
    accuracy : {"reference", "fast"}
        Tolerance of the solver.
    at : mapping of str to float, optional
        Parameter values at which to compile; by default all 1.

    Attributes
    ----------
    moving : tuple of str
        Which of the vectors ``"q"`` and ``"b"`` depend on the parameters.
    setups : int
        How often the solver was set up from scratch.

    Raises
    ------
    NotUpdatable
        If the matrices move with the parameters.
    SolveError
        If the maps do not reproduce CVXPY's data.
    """

    def __init__(
        self,
        model: Model,
        parameters: Mapping[str, cp.Parameter],
        accuracy: Accuracy = "reference",
        at: Mapping[str, float] | None = None,
    ) -> None:
        self._settings = conic_settings(accuracy)
        self._linear_algebra = "qdldl" if model.thin else "faer"
        first = dict(at) if at is not None else dict.fromkeys(parameters, 1.0)
        data, chain, inverse = _problem_data(model, parameters, first)
        tensors = data["param_prob"]
        self._parameters = dict(parameters)
        names = {parameter.id: name for name, parameter in parameters.items()}
        columns = [(p, tensors.param_id_to_col[p.id]) for p in model.problem.parameters()]
        self._given = [(names[p.id], column) for p, column in columns if p.id in names]
        self._following = [(p, column) for p, column in columns if p.id not in names]
        self._width = tensors.A.shape[1]
        fixed = _in_matrices(tensors)
        if fixed.size:
            theta = self._theta(first)
            changed = {name: self._theta({**first, name: 0.75 * value or 0.5}) for name, value in first.items()}
            raise NotUpdatable(tuple(name for name, new in changed.items() if (new[fixed] != theta[fixed]).any()))
        q_map, b_map, self._offset_map = _affine_maps(tensors)
        self._q, self._A, self._b = data["c"], sp.csc_array(data["A"]), data["b"]
        P = data["P"] if "P" in data else sp.csc_array((self._q.size, self._q.size))
        self._P = sp.csc_array(sp.triu(P))
        self._dims = data["dims"]
        self._origin: Any = model, (data, chain, inverse)
        self._cone: CompiledCone | None = None
        from paretoclf.solve.models.places import places_in  # only where something is compiled

        self._places = places_in(model, tensors, chain, inverse)
        moves = {"q": q_map, "b": b_map}
        self.moving: tuple[str, ...] = tuple(key for key, tensor in moves.items() if tensor[:, :-1].nnz)
        self._proportional = b_map[:, [-1]].nnz == 0
        self._moving_entries = {key: np.unique(tensor[:, :-1].nonzero()[0]) for key, tensor in moves.items()}
        self._q_map, self._b_map = (m.toarray() if m.shape[1] <= FEW else m for m in (q_map, b_map))
        self._solver: Any = None
        self._fit_for: tuple[Array, Array] = np.zeros(0), np.zeros(0)
        self._units = (1.0, 1.0)
        self.setups = 0
        self._check(model, parameters, first)

    def data(self, values: Mapping[str, float]) -> tuple[Array, Array]:
        """Return the vectors q and b at the given parameter values."""
        return self._at(self._theta(values))

    def _at(self, theta: Array) -> tuple[Array, Array]:
        q = self._q_map @ theta if "q" in self.moving else self._q
        return np.asarray(q), np.asarray(self._b_map @ theta if "b" in self.moving else self._b)

    def _theta(self, values: Mapping[str, float]) -> Array:
        """Vector that the affine maps are applied to: the parameters, those that follow from them, and 1."""
        theta = np.zeros(self._width)
        theta[-1] = 1.0
        for name, column in self._given:
            theta[column] = values[name]
        if self._following:
            with moved(self._parameters, values):
                for parameter, column in self._following:
                    entries = np.ravel(parameter.value, order="F")
                    theta[column : column + entries.size] = entries
        return theta

    def solve(self, values: Mapping[str, float]) -> Raw:
        """Solve at the given parameter values; SolveError if Clarabel returns no usable point, freshly set up."""
        started = time.perf_counter()
        theta = self._theta(values)
        q, b = self._at(theta)
        fresh = not self._update(q, b)
        solution: Any = None if fresh else self._solver.solve()
        # A claim other than "Solved" may be the fault of the scaling: try again from scratch, then in the other unit.
        tried: list[tuple[float, float]] = []
        for always in (False, True):
            units = self._units_at(q, b, always=always)
            if units not in tried and (solution is None or str(solution.status) != "Solved"):
                fresh = True
                tried.append(units)
                self._set_up(q, b, units)
                solution = self._solver.solve()
        status = str(solution.status)
        if status not in CLAIMS:
            raise SolveError(
                f"CLARABEL returned {status!r} at {dict(values)}: {what_to_do(status)}, accuracy='fast', or rescaled "
                "features"
            )
        objective, length = self._units
        x, z = length * np.asarray(solution.x), objective / length * np.asarray(solution.z)
        vectors = (x, z)
        taken = {name: _taken(vectors[which], places) for name, (which, places) in self._places.items()}
        numbers = Numbers(taken)
        if self._origin is not None and self._settings == conic_settings("reference"):
            numbers.cone = partial(self._proved, (q, b, float(self._offset_map @ theta)), solution, self._units)
        return Raw(numbers, CLAIMS[status], int(solution.iterations), time.perf_counter() - started, fresh)

    def _proved(self, there: tuple[Array, Array, float], solution: Any, units: tuple[float, float]) -> CompiledCone:
        """The cone program with the vectors of a point, and the solver's numbers there.

        It is moved from one point to the next: what a proof works out of the matrices serves the next one, too.
        """
        from paretoclf.solve.judging.cone_proof import CompiledCone

        objective, length = units
        self._cone = (self._cone or CompiledCone.of(*self._origin)).moved(*there)
        return self._cone.solved(solution, (length, objective / length))

    def _set_up(self, q: Array, b: Array, units: tuple[float, float]) -> None:
        from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import dims_to_solver_cones

        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.presolve_enable = False  # a presolved problem cannot be updated
        settings.direct_solve_method = self._linear_algebra
        for key, value in self._settings.items():
            setattr(settings, key, value)
        self._units = objective, length = units
        self._solver = clarabel.DefaultSolver(
            self._P * (length**2 / objective),
            q * (length / objective),
            self._A,
            b / length,
            dims_to_solver_cones(self._dims),
            settings,
        )
        size = self._moved(q, b)
        self._fit_for = size / SETUP_DRIFT, size * SETUP_DRIFT
        self.setups += 1

    def _update(self, q: Array, b: Array) -> bool:
        """Move the solver to q and b in place; False where it must be set up from scratch."""
        if self._solver is None or not self._solver.is_data_update_allowed() or self._drifted(q, b):
            return False
        objective, length = self._units
        if "q" in self.moving:
            self._solver.update(q=q * (length / objective))
        if "b" in self.moving:
            self._solver.update(b=b / length)
        return True

    def _units_at(self, q: Array, b: Array, *, always: bool) -> tuple[float, float]:
        """Units (of the objective, of x) in which nothing that moves is small, nor, on request, large."""
        size = float(self._moved(q, b).max(initial=0.0))
        if size == 0.0 or (size >= 1.0 and not always):
            return 1.0, 1.0
        if self.moving == ("q",):
            return size, 1.0
        if self.moving == ("b",) and self._proportional:
            return size, size
        return 1.0, 1.0

    def _moved(self, q: Array, b: Array) -> Array:
        entries = self._moving_entries
        return np.asarray(np.abs(np.concatenate([q[entries["q"]], b[entries["b"]]])))

    def _drifted(self, q: Array, b: Array) -> bool:
        """Whether an entry that moves has left the range for which the solver was scaled at its setup."""
        size, (low, high) = self._moved(q, b), self._fit_for
        return bool(((size < low) | (size > high)).any())

    def _check(self, model: Model, parameters: Mapping[str, cp.Parameter], first: Mapping[str, float]) -> None:
        rng = np.random.default_rng(0)
        values = {name: value * (0.5 + 0.5 * rng.random()) for name, value in first.items()}
        data, _, _ = _problem_data(model, parameters, values)
        q, b = self.data(values)
        P = data.get("P", self._P)
        same = (
            np.allclose(q, data["c"], rtol=1e-13, atol=0)
            and np.allclose(b, data["b"], rtol=1e-13, atol=0)
            and abs(self._A - sp.csc_array(data["A"])).sum() == 0
            and abs(self._P - sp.csc_array(sp.triu(P))).sum() == 0
        )
        if not same:
            raise SolveError(f"the compiled maps do not reproduce the data of cvxpy {cp.__version__}; use solve()")

    def __getstate__(self) -> dict[str, Any]:
        # Neither can be pickled: the next solve sets up a new solver, and a proof compiles again.
        return {**self.__dict__, "_solver": None, "_origin": None, "_cone": None}


def _problem_data(
    model: Model, parameters: Mapping[str, cp.Parameter], values: Mapping[str, float]
) -> tuple[dict[str, Any], Any, Any]:
    """CVXPY's data for Clarabel at the given values; the parameters are left as they were."""
    with moved(parameters, values):
        model.check_parameters()
        return problem_data(model.problem)


def moved(parameters: Mapping[str, cp.Parameter], values: Mapping[str, float]) -> AbstractContextManager[None]:
    """Give parameters other values for a while: of their range, as `Formulation.check_values` has seen to.

    CVXPY would look again, which takes longer than all the rest of moving a compiled problem.
    """
    return having({parameter: np.asarray(values[name], np.float64) for name, parameter in parameters.items()})


def _in_matrices(tensors: Any) -> Array:
    """Positions in theta of what A or P depend on."""
    A = sp.csc_array(tensors.A)[: tensors.constr_size * tensors.x.size, :-1]
    P = [] if tensors.P is None else [sp.csc_array(tensors.P)[:, :-1]]
    return np.unique(np.concatenate([np.unique(each.nonzero()[1]) for each in (A, *P)]))


def _affine_maps(tensors: Any) -> tuple[Any, Any, Array]:
    """Maps from (theta, 1) to q, to b and to the objective's constant."""
    n, m = tensors.x.size, tensors.constr_size
    A = sp.csc_array(tensors.A)
    q = sp.csr_array(sp.csc_array(tensors.q))
    return q[:n], sp.csr_array(A[m * n :]), q[[n]].toarray().ravel()


def _taken(vector: Array, places: Any) -> Any:
    """Entries of a vector in their shape; of a cone with several parts, of each."""
    if isinstance(places, list):
        return [_taken(vector, part) for part in places]
    found = places.factor * vector[places.at]
    return found.sum(axis=0) if np.iscomplexobj(found) else found
