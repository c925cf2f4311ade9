"""Programs in MPS, QPS and LP files, read by HiGHS: an optional package."""

from __future__ import annotations

import shutil
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.errors import InputError

#: Endings that are read, each under the name that HiGHS knows its format by.
ENDINGS = {".mps": ".mps", ".qps": ".mps", ".lp": ".lp"}


def read_program(file: Path) -> dict[str, Any]:
    """What a `paretoclf.QP` is made of.

    Raises
    ------
    InputError
        If the file cannot be read, or has integers.
    """
    try:
        highspy: Any = import_module("highspy")
    except ImportError:
        raise InputError("from_file needs highspy: pip install 'paretoclf[mps]'") from None
    if file.suffix.lower() not in ENDINGS:
        raise InputError(f"file must end in {', '.join(ENDINGS)}, got {file.name}")
    if not file.is_file():
        raise InputError(f"file must be there, got {file}")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    with tempfile.TemporaryDirectory() as folder:
        known = Path(folder, f"program{ENDINGS[file.suffix.lower()]}")
        shutil.copyfile(file, known)
        status = solver.readModel(str(known))
    if status == highspy.HighsStatus.kError:
        raise InputError(f"file must be a program that HiGHS reads, got {file}")
    model = solver.getModel()
    return _arrays(model.lp_, model.hessian_, highspy, file)


def _arrays(lp: Any, hessian: Any, highspy: Any, file: Path) -> dict[str, Any]:
    """Matrices, vectors and names; bounds of variables are the last rows."""
    n, m = lp.num_col_, lp.num_row_
    columns = list(lp.col_names_) or [f"x{j}" for j in range(n)]
    rows = list(lp.row_names_) or [f"row{i}" for i in range(m)]
    whole = [columns[j] for j, kind in enumerate(lp.integrality_) if kind != highspy.HighsVarType.kContinuous]
    if whole:
        raise InputError(f"file must hold a convex program, got the integer {whole[0]} in {file}")
    entries = (np.array(lp.a_matrix_.value_), np.array(lp.a_matrix_.index_), np.array(lp.a_matrix_.start_))
    by_columns = lp.a_matrix_.format_ == highspy.MatrixFormat.kColwise
    A = sp.csc_array(entries, shape=(m, n)) if by_columns else sp.csc_array(sp.csr_array(entries, shape=(m, n)))
    low, high = np.array(lp.col_lower_), np.array(lp.col_upper_)
    for j in np.flatnonzero(low > high).tolist():  # of a negative upper bound alone readers say 0 below it, or nothing
        raise InputError(
            f"file must say both bounds of {columns[j]}, got {low[j]:g} and {high[j]:g}: readers differ in what an "
            "upper bound below 0 makes of a lower bound that is not said"
        )
    bounded = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
    return {
        "P": _symmetric(hessian, n),
        "q": np.array(lp.col_cost_),
        "A": sp.vstack([A, sp.eye_array(n, format="csr")[bounded]], format="csc"),
        "l": np.concatenate([lp.row_lower_, low[bounded]]),
        "u": np.concatenate([lp.row_upper_, high[bounded]]),
        "constant": float(lp.offset_),
        "maximise": lp.sense_ == highspy.ObjSense.kMaximize,
        "names": (columns, [*rows, *(f"bound of {columns[j]}" for j in bounded.tolist())]),
    }


def _symmetric(hessian: Any, n: int) -> Any:
    """P from the lower triangle that HiGHS keeps."""
    if not hessian.dim_:
        return None
    entries = (np.array(hessian.value_), np.array(hessian.index_), np.array(hessian.start_))
    lower = sp.csc_array(entries, shape=(n, n))
    return lower + sp.tril(lower, -1).T
