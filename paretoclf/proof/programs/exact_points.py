"""Points that miss no row of a program at all, in fractions: next to a point in doubles, which misses some by rounding.

Doubles are fractions, and so are the rows: what a point in fractions is proved to satisfy holds without a tolerance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.problem.exact_sums import product

#: Denominators of fractions next to a point that are tried.
_DENOMINATORS = 10**6, 10**3

#: Columns, and entries of rows, up to which fractions are worth their time.
_COLUMNS, _ENTRIES = 60, 4000

#: A row whose slack is below this share of its terms is tight.
_TIGHT = 1e-9


def exact_point(line: ProgramLine, x: Array) -> Array | None:
    """A point, rounded to doubles, that misses no row at the start of a line; None where none is found next to x.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.engine.reduction.of_arrays import line_of
    >>> from paretoclf.problem.qp import QP
    >>> from paretoclf.proof.programs.exact_points import exact_point
    >>> thirds = line_of(QP(None, [0.0], [[3.0]], [1.0], [1.0]), {}, {})  # 1/3 is no double
    >>> exact_point(thirds, np.array([1 / 3]))
    array([0.33333333])
    """
    rows, b, equations = sp.csr_array(line.A), line.b[0], line.equations
    if _hold(product(rows, np.stack([x, np.zeros_like(x)]), -b[:, None]), equations):
        return x
    if line.n > _COLUMNS or rows.nnz > _ENTRIES:
        return None
    for point in _near(rows, b, equations, x):
        if _hold(_excess(rows, b, point), equations):
            return np.array(point, dtype=np.float64)
    return None


def _hold(excess: Iterable[Any], equations: int) -> bool:
    """Whether no row is more than its right-hand side, nor an equation less."""
    return all(more <= 0 and (i >= equations or more == 0) for i, more in enumerate(excess))


def _excess(rows: Any, b: Array, x: list[Fraction]) -> Iterator[Fraction]:
    """Amounts by which rows are more than their right-hand sides."""
    for i, side in enumerate(b.tolist()):
        own = slice(*rows.indptr[i : i + 2])
        factors = zip(rows.data[own].tolist(), rows.indices[own].tolist(), strict=True)
        yield sum((Fraction(factor) * x[column] for factor, column in factors), -Fraction(side))


def _near(rows: Any, b: Array, equations: int, x: Array) -> Iterator[list[Fraction]]:
    """Points of small denominators, and one at which the rows that seem tight are."""
    exactly = [Fraction(value) for value in x.tolist()]
    for most in _DENOMINATORS:
        yield [value.limit_denominator(most) for value in exactly]
    slack, terms = np.abs(b - rows @ x), np.abs(b) + abs(rows) @ np.abs(x)
    tight = (slack <= _TIGHT * terms) | (np.arange(b.size) < equations)
    own = np.flatnonzero(tight)
    yield _moved(rows[own], b[own], exactly)


def _moved(rows: Any, b: Array, x: list[Fraction]) -> list[Fraction]:
    """The point moved so that rows hold with equality, but for those that depend on earlier ones (Gauss and Jordan)."""
    solved: dict[int, list[Fraction]] = {}  # by the column of its pivot
    for entries, more in zip(rows.toarray().tolist(), list(_excess(rows, b, x)), strict=True):
        row = [*map(Fraction, entries), -more]
        for column, other in solved.items():
            row = _without(row, column, other)
        pivot = max(range(len(x)), key=lambda column: abs(row[column]), default=0)
        if not x or not row[pivot]:
            continue
        row = [entry / row[pivot] for entry in row]
        solved = {column: _without(other, pivot, row) for column, other in solved.items()} | {pivot: row}
    return [value + solved[column][-1] if column in solved else value for column, value in enumerate(x)]


def _without(row: list[Fraction], column: int, other: list[Fraction]) -> list[Fraction]:
    """A row less as much of another, whose entry there is 1, as takes away a column."""
    factor = row[column]
    return [mine - factor * theirs for mine, theirs in zip(row, other, strict=True)] if factor else row
