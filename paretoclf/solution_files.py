r"""Files of solutions that another solver computed: npz or CSV, with costs or with lambda.

Two ways to say where a solution is:

- ``C_plus`` and ``C_minus`` (npz: also ``costs`` of shape (k, 2)): the problem of `TwoCSVM`, multipliers alpha from 0
  to the cost of the class, :math:`f(x)=\sum_iy_i\alpha_ik(x_i,x)+b`.
- ``lambda``: :math:`\tfrac\lambda2\|w\|^2+\sum_i\max(0,1-y_if(x_i))` (Hastie, Rosset, Tibshirani & Zhu 2004),
  multipliers from 0 to 1, :math:`f(x)=\tfrac1\lambda\sum_iy_i\alpha_ik(x_i,x)+b`. Both costs are then
  :math:`1/\lambda`, and so is the factor of the multipliers. In place of b there may be ``alpha0`` =
  :math:`\lambda b`, as R's svmpath writes it.

The intercept may be left out. An npz file has ``alpha`` of shape (k, n), a CSV file a header and n further columns, in
the order of the samples, whatever they are called.
"""

from __future__ import annotations

import csv
import os
import zipfile
from typing import Any

import numpy as np

from paretoclf.checks import Array, check_vector
from paretoclf.errors import InputError

_PLACES = ("C_plus", "C_minus", "lambda")
_INTERCEPTS = ("b", "alpha0")

Row = tuple[float, float, Array, float | None]


def read_solutions(file: str | os.PathLike[str], n: int) -> list[Row]:
    """Read solutions for n samples, as `paretoclf.verify` takes them.

    Parameters
    ----------
    file : path
        Ending in .csv or .npz.
    n : int
        Number of samples.

    Returns
    -------
    list of (C_plus, C_minus, alpha, b)
        With b None where the file has no intercepts.

    Raises
    ------
    InputError
        If the file is not as described above; with the column or array at fault.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from paretoclf.solution_files import read_solutions
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "path.csv"
    ...     _ = file.write_text("lambda,alpha0,a1,a2" + chr(10) + "2.0,0.5,1,1")
    ...     read_solutions(file, 2)
    [(0.5, 0.5, array([0.5, 0.5]), 0.25)]
    """
    name = os.fspath(file)
    if not name.endswith((".csv", ".npz")):
        raise InputError(f"{name}: must end in .csv or .npz")
    try:
        columns, alpha = _read_csv(name, n) if name.endswith(".csv") else _read_npz(name)
    except FileNotFoundError:
        raise InputError(f"file not found: {name}") from None
    except InputError:
        raise
    except (OSError, ValueError, EOFError, TypeError, csv.Error, zipfile.BadZipFile) as error:
        raise InputError(f"{name}: cannot be read ({error})") from None
    if alpha.ndim != 2 or alpha.shape[1] != n or not len(alpha):
        raise InputError(f"{name}: alpha must have one row per solution and {n} columns, got shape {alpha.shape}")
    if not np.isfinite(alpha).all():
        k, i = (int(v) for v in np.argwhere(~np.isfinite(alpha))[0])
        raise InputError(f"{name}: alpha must be finite, got {alpha[k, i]} in row {k}, sample {i}")
    known = {key: check_vector(values, len(alpha), f"{name}: {key}") for key, values in columns.items()}
    return _rows(name, known, alpha)


def _rows(name: str, known: dict[str, Array], alpha: Array) -> list[Row]:
    places = [key for key in _PLACES if key in known]
    if places not in (["C_plus", "C_minus"], ["lambda"]):
        raise InputError(f"{name}: must have C_plus and C_minus, or lambda, got {', '.join(places) or 'none of them'}")
    by_lambda = places == ["lambda"]
    if "alpha0" in known and ("b" in known or not by_lambda):
        raise InputError(f"{name}: alpha0 belongs to lambda, in place of b, got {', '.join(known)}")
    b = known.get("b")
    if by_lambda:
        lam = known["lambda"]
        if not (lam > 0).all():
            raise InputError(f"{name}: lambda must be positive, got {lam.min():g} in row {int(np.argmin(lam))}")
        plus, minus, alpha = 1 / lam, 1 / lam, alpha / lam[:, None]
        b = known["alpha0"] / lam if "alpha0" in known else b
    else:
        plus, minus = known["C_plus"], known["C_minus"]
    return [(float(plus[k]), float(minus[k]), alpha[k], None if b is None else float(b[k])) for k in range(len(alpha))]


def _read_csv(name: str, n: int) -> tuple[dict[str, Array], Array]:
    with open(name, newline="", encoding="utf-8-sig") as stream:
        reader = csv.reader(stream)
        table = [(reader.line_num, row) for row in reader if row]
    if not table:
        raise InputError(f"{name}: the file is empty")
    header = [cell.strip() for cell in table[0][1]]
    named = [j for j, cell in enumerate(header) if cell in (*_PLACES, *_INTERCEPTS)]
    if len({header[j] for j in named}) < len(named):
        raise InputError(f"{name}: a column name occurs twice in {', '.join(header[j] for j in named)}")
    if len(header) - len(named) != n:
        raise InputError(
            f"{name}: must have {n} columns of multipliers besides {', '.join(header[j] for j in named) or 'costs'}, "
            f"got {len(header) - len(named)}"
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
    return {header[j]: values[:, j] for j in named}, np.delete(values, named, axis=1)


def _read_npz(name: str) -> tuple[dict[str, Any], Array]:
    with open(name, "rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        stored = {key: arrays[key] for key in arrays}
    if "alpha" not in stored:
        raise InputError(f"{name}: there is no array 'alpha'; arrays: {', '.join(stored)}")
    known = {key: stored[key] for key in (*_PLACES, *_INTERCEPTS) if key in stored}
    if "costs" in stored:
        if known.keys() & set(_PLACES):
            raise InputError(f"{name}: costs stands for C_plus and C_minus; there must not be {', '.join(known)} too")
        costs = stored["costs"]
        if costs.ndim != 2 or costs.shape[1] != 2:
            raise InputError(f"{name}: costs must have shape (k, 2), got {costs.shape}")
        known |= {"C_plus": costs[:, 0], "C_minus": costs[:, 1]}
    return known, np.asarray(stored["alpha"], dtype=np.float64)
