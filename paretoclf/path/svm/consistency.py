"""Whether arrays that were read from a file can be a path: types, shapes, ranges, and whether they fit each other."""

from __future__ import annotations

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.common.storage import finite, whole
from paretoclf.engine.sets import LEFT, MARGIN, RIGHT
from paretoclf.path.svm.cost_path import Path
from paretoclf.path.svm.margin_path import MarginPath
from paretoclf.path.svm.nu_path import NuPath
from paretoclf.path.svm_lines.svm_path import OnPieces


def check_pieces(path: OnPieces) -> None:
    """InputError unless the pieces of a path have the right types, shapes and ranges, and their sets fit each other."""
    P, n = path.pieces, path.y.size
    t = finite(P.t, "t", (None,))
    k = t.size - 1
    if k < 1 or not (np.diff(t) > 0).all():
        raise InputError("t must hold the increasing ends of at least one piece")
    low, high = (0.0, 1.0) if isinstance(path, Path) else (max(t[0], 0.0), min(t[-1], 1.0))
    if (t[0], t[-1]) != (low, high):
        raise InputError(f"t must go from {low:g} to {high:g}, got {t[0]:g} to {t[-1]:g}")
    if isinstance(path, MarginPath) and not 0.0 < t[0] < t[-1] < 1.0:
        raise InputError(f"t must lie between 0 and 1, got {t[0]:g} to {t[-1]:g}: at 0 and 1 a margin would vanish")
    index = whole(P.index, "index", (None,), 0, n)
    ptr = whole(P.ptr, "ptr", (k + 1,), 0, index.size + 1)
    if ptr[0] != 0 or ptr[-1] != index.size or not (np.diff(ptr) >= 0).all():
        raise InputError(f"ptr must increase from 0 to {index.size}, the length of index")
    for name in ("a0", "a1"):
        finite(getattr(P, name), name, (index.size,))
    margins = k if isinstance(path, NuPath) else 0
    for name, size in (("b0", k), ("b1", k), ("rho0", margins), ("rho1", margins)):
        finite(getattr(P, name), name, (size,))
    finite(P.value, "value", (k, 3))
    if P.w is not None:
        if not path.gram.quadratic.width:
            raise InputError("w must be left out, as there are no features")
        finite(P.w, "w", (k + 1, path.gram.quadratic.width))
    whole(P.state, "state", (n,), RIGHT, max(LEFT, MARGIN) + 1)
    changes = whole(P.changes, "changes", (3, None), 0, max(n, k, 3))
    for row, name, low_, stop in zip(changes, ("pieces", "samples", "sets"), (1, 0, RIGHT), (k, n, 3), strict=True):
        whole(row, f"changes ({name})", (None,), low_, stop)
    if not (np.diff(changes[0]) >= 0).all():
        raise InputError("changes must be in the order of the pieces")
    for j in range(k):
        state, members = path._basis(j)
        if not np.array_equal(np.sort(members), np.flatnonzero(state == MARGIN)):
            raise InputError(f"the margin set of piece {j} is not that of its sets")
