"""A problem that CVXPY has compiled once, and the data of its program wherever its parameters are.

CVXPY keeps the program as maps that are linear in the parameters, one number after the other, and a last 1. A product
with such a map has the entries of a matrix at places that are always the same, so that entries at several values of the
parameters are compared number by number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import AFFINE, SAME_NUMBER
from paretoclf.engine.reduction.program import Reading
from paretoclf.solve.models.attributes import readings_of_attributes
from paretoclf.solve.models.compiled_readings import readings_of_constraints, readings_of_variables
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Model, dense, having, problem_data

Values = Mapping[Any, Array]


@dataclass(frozen=True)
class MovingEntries:
    """Entries of a matrix by columns, at the same places for each of k values of the parameters.

    Attributes
    ----------
    shape : pair of int
    rows, begin : int arrays
        The row of each entry, and the first entry of each column.
    data : array of shape (k, entries)
    """

    shape: tuple[int, int]
    rows: Index
    begin: Index
    data: Array

    @classmethod
    def together(cls, found: Sequence[MovingEntries]) -> MovingEntries:
        """Entries at several values, at all places that one of them has."""
        first = found[0]
        if all(_same_places(first, each) for each in found):
            return cls(first.shape, first.rows, first.begin, np.concatenate([each.data for each in found]))
        every = [each.at(0) for each in found]
        places = sp.csc_array(sum(each != 0 for each in every))
        columns = np.repeat(np.arange(first.shape[1]), np.diff(places.indptr))
        data = [np.asarray(each[places.indices, columns]).ravel() for each in every]
        return cls(first.shape, places.indices, places.indptr, np.stack(data))

    def at(self, k: int) -> Any:
        """The matrix at one of the values."""
        return sp.csc_array((self.data[k], self.rows, self.begin), shape=self.shape, copy=True)

    def moves(self, rows: int | None = None) -> bool:
        """Whether an entry, or one in so many of the first rows, moves by more than its rounding."""
        data = self.data if rows is None else self.data[:, self.rows < rows]
        return any(differ(data[0], each) for each in data[1:])


@dataclass(frozen=True)
class DataAt:
    """The program at some values of the parameters, which are ``numbers``, one after the other, and a last 1."""

    numbers: Array
    q: Array
    b: Array
    constant: Array
    P: MovingEntries
    A: MovingEntries


@dataclass(frozen=True)
class CompiledProblem:
    """What CVXPY compiled of a problem: its data for Clarabel, and the way back into the problem."""

    model: Model
    options: Mapping[str, Any]
    data: Mapping[str, Any]
    chain: Any
    inverse: Any

    @classmethod
    def of(cls, model: Model, values: Values, options: Mapping[str, Any] | None = None) -> CompiledProblem:
        """Compile it at values of its parameters, which keep their own; InputError if CVXPY has no such program."""
        options = options or {}
        try:
            with having(values):
                _check_followers(model.problem, 0.0)
                return cls(model, options, *problem_data(model.problem, options))
        except cp.SolverError as error:
            raise InputError(f"problem must compile to a quadratic or linear program: {error}") from None

    @property
    def tensors(self) -> Any:
        """CVXPY's maps from parameters to data."""
        return self.data["param_prob"]

    @cached_property
    def names(self) -> tuple[dict[str, Reading], dict[str, Reading], dict[str, Reading]]:
        """Where the user's variables, the multipliers of constraints, and those of attributes stand."""
        n, m = self.data["c"].size, self.data["b"].size
        way = self.chain, self.inverse
        return (
            readings_of_variables(self.model, self.tensors, *way),
            readings_of_constraints(self.model, *way, n, m),
            readings_of_attributes(self.model, *way, n, m),
        )

    def at(self, values: Values, t: float) -> DataAt:
        """Read the program at values of the parameters, which keep their own."""
        problem, tensors = self.model.problem, self.tensors
        with having(values):
            _check_followers(problem, t)
            if problem.parameters() and not tensors.parameters:  # they are numbers in what was compiled
                tensors = problem_data(problem, self.options)[0]["param_prob"]
            for reduction in self.chain.reductions:
                reduction.update_parameters(problem)
            numbers = _numbers_of(tensors)
        return DataAt(numbers, *_parts(tensors, numbers))

    def terms(self, numbers: Array) -> tuple[Array, Array, Array, MovingEntries, MovingEntries]:
        """Sums of the absolute terms of q, b, the constant, P and A, where numbers have these sizes."""
        return _parts(self.tensors, numbers, absolute=True)

    def bent(self, bend: Array) -> tuple[bool, bool]:
        """Whether q, b or the constant, and whether A is off by more than rounding where numbers are off by so much."""
        if not bend.any():
            return False, False
        q, b, constant, _, A = _parts(self.tensors, bend)
        q_terms, b_terms, constant_terms, _, A_terms = self.terms(np.abs(bend))
        vectors = (q, q_terms), (b, b_terms), (constant, constant_terms)
        return any(_bends(*each) for each in vectors), _bends(A.data, A_terms.data)


def _bends(off: Array, terms: Array) -> bool:
    """Whether something is off by more than the rounding of its terms."""
    return bool((np.abs(off) > AFFINE * terms).any())


def differ(first: Array, last: Array) -> bool:
    """Whether entries differ by more than their rounding."""
    return bool((np.abs(first - last) > SAME_NUMBER * (np.abs(first) + np.abs(last))).any())


def _check_followers(problem: Any, t: float) -> None:
    """InputError if a parameter that follows others is not finite at t."""
    for p in problem.parameters():
        if isinstance(p, cp.CallbackParam) and not np.isfinite(dense(p.value)).all():
            raise InputError(f"parameter {p.name()} must be finite along the line, got {p.value!r:.60} at t = {t:g}")


def _numbers_of(tensors: Any) -> Array:
    """Vector that CVXPY's maps are multiplied by: the parameters, one after the other, and a last 1."""
    numbers: Array = np.ones(tensors.total_param_size + 1)
    for p in tensors.parameters:
        begin = tensors.param_id_to_col[p.id]
        numbers[begin : begin + p.size] = dense(p.value).ravel(order="F")
    return numbers


def _parts(
    tensors: Any, numbers: Array, absolute: bool = False
) -> tuple[Array, Array, Array, MovingEntries, MovingEntries]:
    """Products of the maps, or of their absolute values, with numbers: q, b, the constant, P and A."""
    n, m = tensors.x.size, tensors.constr_size
    objective = (abs(tensors.q) if absolute else tensors.q) @ numbers
    P, _ = _matrix(tensors.reduced_P, numbers, (n, n), absolute)
    rows, b = _matrix(tensors.reduced_A, numbers, (m, n), absolute)
    # In CVXPY's rows is Ax + b, and in Clarabel's b - Ax.
    A = rows if absolute else MovingEntries(rows.shape, rows.rows, rows.begin, -rows.data)
    return objective[:n], b, objective[n:], P, A


def _matrix(reduced: Any, numbers: Array, shape: tuple[int, int], absolute: bool) -> tuple[MovingEntries, Array]:
    """The product of a map with numbers as a matrix, and the column after its last one."""
    last = np.zeros(shape[0])
    if reduced.problem_data_index is None:
        nothing = np.zeros(0, dtype=np.int64), np.zeros(shape[1] + 1, dtype=np.int64)
        return MovingEntries(shape, *nothing, np.zeros((1, 0))), last
    rows, begin, _ = reduced.problem_data_index
    data = (abs(reduced.reduced_mat) if absolute else reduced.reduced_mat) @ numbers
    end = begin[shape[1]] if begin.size > shape[1] else data.size
    last[rows[end:]] = data[end:]
    return MovingEntries(shape, rows[:end], begin[: shape[1] + 1], data[None, :end]), last


def _same_places(one: MovingEntries, other: MovingEntries) -> bool:
    """Whether two matrices have their entries at the same places."""
    return np.array_equal(one.rows, other.rows) and np.array_equal(one.begin, other.begin)
