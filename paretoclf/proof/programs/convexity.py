"""The convexity of a program along a line, proved by the rule of `paretoclf.problem.convex`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import CERTIFY
from paretoclf.engine.reduction.products import blocks
from paretoclf.engine.reduction.program import ProgramLine, between
from paretoclf.problem.convex import Convexity, not_convex, said_of_lack, said_of_shift
from paretoclf.problem.definite import least_curvature

if TYPE_CHECKING:
    from paretoclf.engine.reduction.points import ProgramPoints

AnyLine = TypeVar("AnyLine", bound=ProgramLine)


def convex_line(line: AnyLine, tol: float = CERTIFY) -> AnyLine:
    """Return the line with P made semidefinite up to rounding: the one that is followed, proved and stored.

    Parameters
    ----------
    line : ProgramLine or ConeLine
        As it was compiled.
    tol : float
        Largest cost of a negative curvature, relative to the value.

    Raises
    ------
    InputError
        If it is not convex by more than rounding, and that may cost more.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.engine.reduction.of_arrays import line_of
    >>> from paretoclf.problem.qp import QP
    >>> from paretoclf.proof.programs.convexity import convex_line
    >>> r = 1 + 1e-15  # a correlation of 1, rounded
    >>> line = convex_line(line_of(QP([[1.0, r], [r, 1.0]], [0.0, 0.0]), {}, {}))
    >>> line.shift[0].tolist()
    [1.7763568394002505e-15, 1.7763568394002505e-15]
    """
    ends = [Convexity.of(matrix) for matrix in line.quadratics]
    shifts = [np.zeros(line.n) if end.shift is None else end.shift for end in ends]
    lacks = [end.lacks for end in ends if end.lacks is not None]
    if any(end.shift is not None for end in ends):
        last = {"P_stop": ends[-1].P} if len(ends) > 1 else {}
        line = replace(line, P=ends[0].P, shift=np.stack([shifts[0], shifts[-1]]), **last)
    if lacks:
        line = replace(line, lacks=np.max(lacks, axis=0))
        check_cost(line, tol)
    return line


def check_cost(line: ProgramLine, tol: float) -> None:
    """InputError where a negative curvature certainly costs more than ``tol`` of the value."""
    if line.lacks is not None:
        from paretoclf.proof.bands.negative_curvature import costs_more  # boxes, which few programs need

        if costs_more(line, tol):
            raise refusal(line)


def semidefinite(line: ProgramLine) -> bool:
    """Whether P, with the lacks that the line states, is proved positive semidefinite at both ends, and so between."""
    matrices = list(line.quadratics)
    if line.lacks is not None:
        more = sp.diags_array(line.lacks)
        matrices = [sp.csc_array(matrix) + more for matrix in matrices]
    return all(bool(least_curvature(matrix, signs=True).min(initial=0.0) >= 0.0) for matrix in matrices)


def lost(line: ProgramLine, sides: Array | None = None) -> float:
    """The most that negative curvature of P may cost at any t; infinite where its variables have no bounds.

    Parameters
    ----------
    line : ProgramLine
    sides : array of shape (k, m), optional
        Right hand sides between which those are that matter, in place of those at both ends.
    """
    if line.lacks is None or not line.lacks.any():
        return 0.0
    from paretoclf.proof.bands.negative_curvature import box_of, cost_on  # boxes, which few programs need

    return cost_on(line, box_of(line, sides))


def refusal(line: ProgramLine, why: str = "") -> InputError:
    """Make the error that refuses a line whose P is not positive semidefinite."""
    assert line.lacks is not None
    indefinite = [matrix for matrix in line.quadratics if least_curvature(matrix).min(initial=0.0) < 0.0]
    return not_convex(indefinite[0], line.lacks, line.column_name, why)


def refused_for(line: ProgramLine, error: Exception) -> Exception:
    """Return the error itself, or where P has a negative curvature, one that says how much that may cost."""
    return error if line.lacks is None else refusal(line, f", which may cost {lost(line):.2g}")


def share_of_shift(line: ProgramLine, t: Array, points: ProgramPoints, sizes: Array) -> float:
    """The most that the shift adds to the value, relative to what the gaps of k segments are relative to, (k,)."""
    if line.shift is None:
        return 0.0
    at, cost = np.zeros(len(points)), np.zeros(len(points))
    at[points.begin], at[points.begin + 1] = t[:-1], t[1:]
    for part in blocks(len(points), line.n + line.m):
        cost[part] = added(line, at[part], points.part(part)[0])
    most = np.maximum(cost[points.begin], cost[points.begin + 1])
    return largest_share(most, sizes)


def largest_share(amounts: Array, sizes: Array) -> float:
    """The largest of these amounts, each relative to its size."""
    sizes = np.maximum(sizes, np.finfo(float).tiny)
    return float(np.max(amounts / sizes, initial=0.0))


def added(line: ProgramLine, t: Array, x: Array) -> Array:
    """The amounts that the shift adds to the objective at points, a row for each t."""
    if line.shift is None:
        return np.zeros(len(x))
    shift = between(line.shift, t[:, None])
    return np.asarray(0.5 * (shift * x**2).sum(axis=1))


def said_of(line: ProgramLine, share: float, cost: float | None = None) -> str:
    """Explain how far P is from convex; nothing where it is positive semidefinite as it is.

    Parameters
    ----------
    line : ProgramLine
    share : float
        Share of the value that the shift adds.
    cost : float, optional
        Largest cost of the negative curvature, in the unit of the value; by default it is computed.
    """
    said = []
    if line.shift is not None:
        said.append(said_of_shift(share_of_diagonal(line), share))
    if line.lacks is not None:
        said.append(said_of_lack(line.lacks, lost(line) if cost is None else cost))
    return " ".join(said)


def share_of_diagonal(line: ProgramLine) -> float:
    """The largest share of a diagonal entry of the user's P that was added to it."""
    assert line.shift is not None
    shares = []
    for matrix, shift in zip(line.quadratics, (line.shift[0], line.shift[1]), strict=False):
        own = matrix.diagonal() - shift + (shift == 0.0)  # not 0 where nothing was added
        shares.append(np.where(shift > 0.0, shift / own, 0.0))
    return float(np.max(shares))
