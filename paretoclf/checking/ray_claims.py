"""Somebody's proof that linear constraints contradict each other: a multiplier for each, judged as it stands."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Mask
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.path.sensitivity.conflict import contradict
from paretoclf.problem.exact_sums import inner
from paretoclf.proof.programs.rays import judge_ray
from paretoclf.solve.judging.cone_proof import ProblemProof
from paretoclf.solve.judging.contradiction import together

#: So many rows are named each by itself.
FEW = 4

#: What is left of a column in a sum of rows is rounding up to this share of its terms for each row. Of more nothing is
#: proved: a point far away may make up for it.
_EPS = float(np.finfo(float).eps)


def judge_contradiction(line: ProgramLine, duals: Mapping[str, Array], tol: float) -> ProblemProof:
    r"""Judge multipliers of constraints whose sum should say that a number below 0 is at least 0 (Farkas).

    Of rows ``Ax <= b`` and ``Ax == b`` the sum with multipliers z is :math:`z^\top Ax\le z^\top b`. It is a
    contradiction where :math:`A^\top z=0`, no multiplier of an inequality is negative, and :math:`b^\top z<0`. Rows
    without a multiplier have 0; of bounds that attributes of variables say, what makes up for the others. Where the sum
    vanishes to tol, but not to rounding, the same rows must have other multipliers with which it does.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from paretoclf.checking.ray_claims import judge_contradiction
    >>> from paretoclf.engine.reduction.of_arrays import line_of
    >>> line = line_of(pc.QP(None, [0.0], [[1.0], [2.0]], [3.0, -np.inf], [np.inf, 4.0]), {}, {})
    >>> [judge_contradiction(line, {"y": [-2.0, y]}, 1e-8).status for y in (1.0, 2.0)]
    ['infeasible', 'not optimal']
    """
    is_equation = np.arange(line.m) < line.equations
    z = np.zeros(line.m)
    for name, value in duals.items():
        place, entries = line.all_multipliers[name].spread(np.asarray(value, dtype=np.float64), is_equation)
        z[place] = entries
    z = z + _of_bounds(line, duals, line.A.T @ z)
    used = np.flatnonzero(z).tolist()
    names = dict.fromkeys(_owner(line, row) for row in used)
    found = judge_ray(line, "infeasible", z, 0.0)
    told = list(map(line.row_name, used)) if len(used) <= FEW else list(names)
    rounding = _EPS * len(used)
    rounded = found.residual <= rounding
    if found.passes(tol) and (rounded or contradict(line, np.array(used))):
        how = f"It holds to {found.residual:.1e} of its terms, and contradicts itself by {found.gain:.1e} of them."
        how += "" if rounded else " With other multipliers of the same rows it holds to rounding."
        words = f"Infeasible, proved by the multipliers: no point satisfies {together(told)}. {how}"
        blame = {name: float(np.abs(duals[name]).max()) for name in names if name in duals}
        return ProblemProof("infeasible", line.sense * np.inf, line.sense * np.inf, blame=blame, words=words, tol=tol)
    why, thin = _why(line, z, is_equation, min(tol, rounding)), found.residual <= tol and 0.0 < found.gain <= tol
    words = f"The multipliers of {' and '.join(told) or 'no constraint'} prove nothing: {why}."
    return ProblemProof("undecided" if thin else "not optimal", -np.inf, np.inf, words=words, tol=tol)


def _of_bounds(line: ProgramLine, duals: Mapping[str, Array], left: Array) -> Array:
    """Multipliers of bounds that attributes say, where none are given, that take away what is left of columns."""
    rows = sp.csr_array(line.A)
    z = np.zeros(line.m)
    left = left.copy()
    own = [r for name, r in line.attributes.items() if name not in duals]
    for row in np.unique(np.concatenate([r.place[r.factor != 0.0] for r in own] or [np.zeros(0, int)])).tolist():
        entries = slice(*rows.indptr[row : row + 2])
        if rows.indptr[row + 1] - rows.indptr[row] == 1:
            (column,), (factor,) = rows.indices[entries], rows.data[entries]
            z[row] = max(-left[column] / factor, 0.0)
            left[column] += factor * z[row]
    return z


def _owner(line: ProgramLine, row: int) -> str:
    """The constraint or attribute that a row belongs to."""
    return line.row_name(row).partition("[")[0]


def _why(line: ProgramLine, z: Array, is_equation: Mask, tol: float) -> str:
    """Say what is wrong with a sum of rows: a sign, what is left of a variable, or that nothing contradicts."""
    size = float(np.abs(z).max(initial=0.0))
    if size == 0.0:
        return "all are 0"
    signs = np.where(is_equation, 0.0, -z)
    worst = int(np.argmax(signs))
    if signs[worst] > tol * size:
        return f"that of {line.row_name(worst)} has the wrong sign, by {signs[worst]:.4g} of {size:.4g}"
    left, terms = line.A.T @ z, abs(line.A.T) @ np.abs(z)
    column = int(np.argmax(np.abs(left)))
    if np.abs(left[column]) > tol * terms[column]:
        what, by = line.column_name(column), left[column]
        of = f"where terms of {terms[column]:.4g} should cancel"
        return f"their sum is no contradiction, as it has {what} with the coefficient {by:.4g}, {of}"
    most = inner(np.stack([line.b[0], np.zeros(line.m)]), z)
    if most >= 0.0:
        return f"their sum says 0 <= {most:.4g}, which is no contradiction"
    share = -most / float(np.abs(line.b[0]) @ np.abs(z))
    return f"their sum says 0 <= {most:.4g}, {share:.1e} of its terms, by which a feasible point may miss its rows"
