"""The large products of the tracker: combinations of rows of a matrix, compiled to run at the speed of memory."""

from __future__ import annotations

from paretoclf.checks import Array, Index
from paretoclf.path.jit import compiled

FAST = {"reassoc", "contract", "nsz"}  # lets the compiler vectorise dot products; nothing exact depends on it
_CHUNK = 1024  # columns at a time: four rows of them stay in the first-level cache for all combinations


@compiled(internal=True)
def copy(x: Array, to: Array) -> None:
    """``to[:] = x``, without the machinery for shapes that differ."""
    for j in range(x.shape[0]):
        to[j] = x[j]


@compiled(internal=True)
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
def add_rows(rows: Array, which: Index, k: int, a: Array, out: Array) -> None:
    """``out += sum_j a_j rows[which_j]`` over the leading k of which."""
    n = out.shape[0]
    for first in range(0, n, _CHUNK):
        last = min(first + _CHUNK, n)
        o = out[first:last]
        j = 0
        while j + 3 < k:
            r0, r1 = rows[which[j], first:last], rows[which[j + 1], first:last]
            r2, r3 = rows[which[j + 2], first:last], rows[which[j + 3], first:last]
            a0, a1, a2, a3 = a[j], a[j + 1], a[j + 2], a[j + 3]
            for i in range(last - first):
                o[i] += (a0 * r0[i] + a1 * r1[i]) + (a2 * r2[i] + a3 * r3[i])
            j += 4
        while j < k:
            r0, a0 = rows[which[j], first:last], a[j]
            for i in range(last - first):
                o[i] += a0 * r0[i]
            j += 1


@compiled(fastmath=FAST)
def add_rows_twice(rows: Array, which: Index, k: int, a: Array, out: Array) -> None:
    """`add_rows` for two combinations of the same rows, those in a (2, k), in one pass over them."""
    n = out.shape[1]
    for first in range(0, n, _CHUNK):
        last = min(first + _CHUNK, n)
        oa, ob = out[0, first:last], out[1, first:last]
        j = 0
        while j + 3 < k:
            r0, r1 = rows[which[j], first:last], rows[which[j + 1], first:last]
            r2, r3 = rows[which[j + 2], first:last], rows[which[j + 3], first:last]
            a0, a1, a2, a3 = a[0, j], a[0, j + 1], a[0, j + 2], a[0, j + 3]
            b0, b1, b2, b3 = a[1, j], a[1, j + 1], a[1, j + 2], a[1, j + 3]
            for i in range(last - first):
                x0, x1, x2, x3 = r0[i], r1[i], r2[i], r3[i]
                oa[i] += (a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3)
                ob[i] += (b0 * x0 + b1 * x1) + (b2 * x2 + b3 * x3)
            j += 4
        while j < k:
            r0, a0, b0 = rows[which[j], first:last], a[0, j], a[1, j]
            for i in range(last - first):
                oa[i] += a0 * r0[i]
                ob[i] += b0 * r0[i]
            j += 1


@compiled(fastmath=FAST)
def add_rows_thrice(rows: Array, which: Index, k: int, a: Array, out: Array) -> None:
    """`add_rows` for three combinations of the same rows, those in a (3, k), in one pass over them."""
    n = out.shape[1]
    for first in range(0, n, _CHUNK):
        last = min(first + _CHUNK, n)
        oa, ob, oc = out[0, first:last], out[1, first:last], out[2, first:last]
        j = 0
        while j + 1 < k:
            r0, r1 = rows[which[j], first:last], rows[which[j + 1], first:last]
            a0, a1, b0, b1, c0, c1 = a[0, j], a[0, j + 1], a[1, j], a[1, j + 1], a[2, j], a[2, j + 1]
            for i in range(last - first):
                x0, x1 = r0[i], r1[i]
                oa[i] += a0 * x0 + a1 * x1
                ob[i] += b0 * x0 + b1 * x1
                oc[i] += c0 * x0 + c1 * x1
            j += 2
        if j < k:
            r0, a0, b0, c0 = rows[which[j], first:last], a[0, j], a[1, j], a[2, j]
            for i in range(last - first):
                oa[i] += a0 * r0[i]
                ob[i] += b0 * r0[i]
                oc[i] += c0 * r0[i]
