r"""Files of solutions that another solver computed: npz or CSV, with costs or with lambda.

Two ways to say where a solution is:

- ``C_plus`` and ``C_minus``, or ``C`` for both (npz: also ``costs`` of shape (k, 2)): the problem of `TwoCSVM`,
  multipliers alpha from 0 to the cost of the class, :math:`f(x)=\sum_iy_i\alpha_ik(x_i,x)+b`.
- ``lambda``: :math:`\tfrac\lambda2\|w\|^2+\sum_i\max(0,1-y_if(x_i))` (Hastie, Rosset, Tibshirani & Zhu 2004),
  multipliers from 0 to 1, :math:`f(x)=\tfrac1\lambda\sum_iy_i\alpha_ik(x_i,x)+b`. Both costs are then
  :math:`1/\lambda`, and so is the factor of the multipliers. In place of b there may be ``alpha0`` =
  :math:`\lambda b`, as R's svmpath writes it.

The intercept may be left out. An npz file has ``alpha`` of shape (k, n), a CSV file a header and n further columns, in
the order of the samples, whatever they are called. A CSV file of numbers only has no header: its columns are the
parameters (or one cost for both), the n multipliers, and the intercept, if there is one more. Of n + 2 numbers the
first two are costs, or the last is the intercept: where those of one class add up to those of the other.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from paretoclf.checking.rows import with_both_costs
from paretoclf.common.checks import Array, check_vector
from paretoclf.common.errors import InputError
from paretoclf.common.files import read_arrays, reading
from paretoclf.common.tolerances import LOOSE

_LAMBDA = "lambda"
_INTERCEPTS = ("b", "alpha0")
_COSTS = ("C_plus", "C_minus")
_WRONG = "cannot be read"


def read_solutions(
    file: str | os.PathLike[str], n: int, names: Sequence[str] = _COSTS, y: Array | None = None
) -> dict[str, Array]:
    """Read solutions for n samples, as arrays that `paretoclf.verify` takes.

    Parameters
    ----------
    file : path
        Name of a file, ending in .csv or .npz.
    n : int
        Number of samples.
    names : sequence of str
        Parameters of the formulation.
    y : array of shape (n,), optional
        Labels -1 and +1, which tell n + 2 numbers without a header apart.

    Returns
    -------
    dict of str to array
        Parameters (k,), ``alpha`` (k, n) or ``w`` (k, d), ``b`` (k,) and ``rho`` (k,) where the file has them.

    Raises
    ------
    InputError
        If the file is not as described above; with the column or array at fault.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from paretoclf.checking.solution_files import read_solutions
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "path.csv"
    ...     _ = file.write_text("lambda,alpha0,a1,a2" + chr(10) + "2.0,0.5,1,1")
    ...     read_solutions(file, 2)
    {'C_plus': array([0.5]), 'C_minus': array([0.5]), 'b': array([0.25]), 'alpha': array([[0.5, 0.5]])}
    """
    name = os.fspath(file)
    if not name.endswith((".csv", ".npz")):
        there = "" if os.path.exists(name) else "; there is no such file"
        raise InputError(f"{name}: must end in .csv or .npz, or be a model file of LIBSVM or LIBLINEAR{there}")
    places = (*names, "C", _LAMBDA) if tuple(names) == _COSTS else tuple(names)
    known_names = (*places, *_INTERCEPTS, "rho")
    with reading(name, _WRONG):
        if name.endswith(".csv"):
            columns, vectors, what = _read_csv(name, (n, y), names, known_names)
        else:
            columns, vectors, what = _read_npz(name, n, known_names)
        columns = with_both_costs(columns, names, f"{name}: ")
    if vectors.ndim != 2 or (what == "alpha" and vectors.shape[1] != n) or not len(vectors):
        wanted = f" and {n} columns" if what == "alpha" else ""
        raise InputError(f"{name}: {what} must have one row per solution{wanted}, got shape {vectors.shape}")
    if not np.isfinite(vectors).all():
        row, column = np.argwhere(~np.isfinite(vectors))[0].tolist()
        where = "sample" if what == "alpha" else "feature"
        raise InputError(f"{name}: {what} must be finite, got {vectors[row, column]} in row {row}, {where} {column}")
    known = {key: check_vector(values, len(vectors), f"{name}: {key}") for key, values in columns.items()}
    return _parameters(name, known, names, vectors, what)


def _parameters(
    name: str, known: dict[str, Array], names: Sequence[str], vectors: Array, what: str
) -> dict[str, Array]:
    """Parameters, with costs in place of lambda, and everything in their units."""
    by_lambda = _LAMBDA in known
    found = [key for key in (*names, _LAMBDA) if key in known]
    if found != [_LAMBDA] and found != list(names):
        wanted = " and ".join(names) + (", or lambda" if tuple(names) == _COSTS else "")
        raise InputError(f"{name}: must have {wanted}, got {', '.join(found) or 'none of them'}")
    if "alpha0" in known and ("b" in known or not by_lambda):
        raise InputError(f"{name}: alpha0 belongs to lambda, in place of b, got {', '.join(known)}")
    if not by_lambda:
        return {**known, what: vectors}
    lam = known[_LAMBDA]
    if not (lam > 0).all():
        raise InputError(f"{name}: lambda must be positive, got {lam.min():g} in row {int(np.argmin(lam))}")
    out = {"C_plus": 1 / lam, "C_minus": 1 / lam}
    if "b" in known or "alpha0" in known:
        out["b"] = known["alpha0"] / lam if "alpha0" in known else known["b"]
    return {**out, what: vectors / lam[:, None] if what == "alpha" else vectors}


def _read_csv(
    name: str, samples: tuple[int, Array | None], names: Sequence[str], known: Sequence[str]
) -> tuple[dict[str, Array], Array, str]:
    """Known columns of a CSV file, the other ones as rows of vectors, and the name of the vectors."""
    n, y = samples
    with open(name, newline="", encoding="utf-8-sig") as stream:
        reader = csv.reader(stream)
        table = [(reader.line_num, row) for row in reader if row]
    if not table:
        raise InputError(f"{name}: the file is empty")
    header = [cell.strip() for cell in table[0][1]]
    bare = all(map(_is_number, header))
    if bare:
        header = _positions(name, len(header), n, names)
        table.insert(0, (0, header))
    if {*_COSTS, _LAMBDA} & set(header):
        known = [key for key in known if key != "C"]  # then it is a sample that is called so
    named = [j for j, cell in enumerate(header) if cell in known]
    if len({header[j] for j in named}) < len(named):
        raise InputError(f"{name}: a column name occurs twice in {', '.join(header[j] for j in named)}")
    others = [cell for j, cell in enumerate(header) if j not in named]
    what = "w" if others and all(re.fullmatch(r"w\d*", cell) for cell in others) else "alpha"
    if what == "alpha" and len(others) != n:
        raise InputError(
            f"{name}: must have {n} columns of multipliers besides {', '.join(header[j] for j in named) or 'costs'}, "
            f"got {len(others)}"
        )
    rows = []
    for number, row in table[1:]:
        if len(row) != len(header):
            raise InputError(f"{name}: row {number} must have {len(header)} cells like the header, got {len(row)}")
        try:
            rows.append([float(cell) for cell in row])
        except ValueError as error:
            raise InputError(f"{name}: row {number}: {error}") from None
    values = np.array(rows, dtype=np.float64).reshape(len(rows), len(header))
    if bare and tuple(names) == _COSTS and len(header) == n + 2 and _with_one_cost(name, values, y):
        return {"C": values[:, 0], "b": values[:, -1]}, values[:, 1:-1], what
    return {header[j]: values[:, j] for j in named}, np.delete(values, named, axis=1), what


def _with_one_cost(name: str, values: Array, y: Array | None) -> bool:
    """Whether n + 2 columns are C, the multipliers and b, not C_plus, C_minus and the multipliers."""
    if y is not None:
        two, one = (np.abs(a @ y).max() <= LOOSE * np.abs(a).sum() for a in (values[:, 2:], values[:, 1:-1]))
        if one != two:
            return bool(one)
    raise InputError(
        f"{name}: a file without header may have C_plus, C_minus and multipliers, or C, multipliers and b, in "
        f"{values.shape[1]} columns, if those of either class have one sum in one of the two: begin it with a line "
        "C_plus,C_minus,a1,a2,... or C,a1,a2,...,b"
    )


def _is_number(cell: str) -> bool:
    """Whether a cell of a table is a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _positions(name: str, width: int, n: int, names: Sequence[str]) -> list[str]:
    """Names of the columns of a file without header: as in a row (*parameters, alpha[, b])."""
    alpha = [f"alpha{i + 1}" for i in range(n)]
    costs = tuple(names) == _COSTS
    layouts = [[*names, *alpha], [*names, *alpha, "b"], *([["C", *alpha]] if costs else [])]
    for layout in layouts:
        if len(layout) == width:
            return layout
    one = ", or one cost and the multipliers" if costs else ""
    raise InputError(
        f"{name}: a file without header must have the columns {', '.join(names)}, {n} multipliers and, if given, b"
        f"{one}, got {width} columns"
    )


def _read_npz(name: str, n: int, known: Sequence[str]) -> tuple[dict[str, Any], Array, str]:
    """Known arrays of an npz file, the vectors of the solutions, and their name."""
    stored = read_arrays(name, _WRONG)
    what = "w" if "w" in stored and "alpha" not in stored else "alpha"
    if what not in stored:
        raise InputError(f"{name}: there is no array 'alpha'; arrays: {', '.join(stored)}")
    columns = {key: stored[key] for key in known if key in stored}
    if "costs" in stored and "C_plus" in known:
        if columns.keys() & {*_COSTS, _LAMBDA}:
            raise InputError(f"{name}: costs stands for C_plus and C_minus; there must not be {', '.join(columns)} too")
        costs = stored["costs"]
        if costs.ndim != 2 or costs.shape[1] != 2:
            raise InputError(f"{name}: costs must have shape (k, 2), got {costs.shape}")
        columns |= {"C_plus": costs[:, 0], "C_minus": costs[:, 1]}
    return columns, np.asarray(stored[what], dtype=np.float64), what
