"""The large products of the tracker: combinations of rows of a matrix, compiled to run at the speed of memory."""

from __future__ import annotations

from paretoclf.checks import Array, Index
from paretoclf.path.jit import compiled

FAST = frozenset(
    {"reassoc", "contract", "nsz"}
)  # lets the compiler vectorise dot products; nothing exact depends on it
_CHUNK = 512  # columns at a time: four rows of them stay in the first-level cache for all combinations


@compiled()
def copy(x: Array, to: Array) -> None:
    """``to[:] = x``, without the machinery for shapes that differ."""
    for j in range(x.shape[0]):
        to[j] = x[j]


@compiled()
def fill(x: Array, value: float) -> None:
    """``x[:] = value``."""
    for j in range(x.shape[0]):
        x[j] = value


@compiled(fastmath=FAST)
def dot(x: Array, y: Array) -> float:
    """Inner product."""
    s = 0.0
    for j in range(x.shape[0]):
        s += x[j] * y[j]
    return s


@compiled(fastmath=FAST)
def add_rows(flat: Array, start: Index, k: int, a: Array, n: int, out: Array) -> None:
    """``out_q += sum_j a_qj row_j`` for the leading k of start: row j is the n numbers in `flat` from start_j on."""
    for first in range(0, n, _CHUNK):
        size = min(_CHUNK, n - first)
        j = 0
        while j + 3 < k:
            r0, r1 = flat[start[j] + first :], flat[start[j + 1] + first :]
            r2, r3 = flat[start[j + 2] + first :], flat[start[j + 3] + first :]
            for q in range(out.shape[0]):
                o, a0, a1, a2, a3 = out[q, first:], a[q, j], a[q, j + 1], a[q, j + 2], a[q, j + 3]
                for i in range(size):
                    o[i] += (a0 * r0[i] + a1 * r1[i]) + (a2 * r2[i] + a3 * r3[i])
            j += 4
        while j < k:
            r0 = flat[start[j] + first :]
            for q in range(out.shape[0]):
                o, a0 = out[q, first:], a[q, j]
                for i in range(size):
                    o[i] += a0 * r0[i]
            j += 1
