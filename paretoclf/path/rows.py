"""Q in the three forms that compiled code knows: a kernel matrix, dense features, sparse features.

Each operation stands here once per form, one below the other. `by_form` makes one function of them: compiled code that
calls it gets the one that belongs to the class of its first argument, so a path compiles nothing for other forms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from paretoclf.checks import Array, Index
from paretoclf.path import extended
from paretoclf.path.extended import Columns
from paretoclf.path.jit import by_class, compiled
from paretoclf.path.layout import DW, DW_CAP, W
from paretoclf.path.vectors import add_rows, copy, dot, fill
from paretoclf.tolerances import TWINS

Part: TypeAlias = Callable[..., Any] | None


class GramRows(NamedTuple):
    """``Q_ij = sign_i K_ij sign_j``."""

    K: Array  # (n, n)
    flat: Array  # the same, (n * n,)
    sign: Array
    diagonal: Array
    reach: Array  # sqrt(Q_ii)
    length: Array  # sqrt(Q_ii + shift), never zero
    longest: float  # the largest reach
    shift: float


class DenseRows(NamedTuple):
    """``Q_ij = z_i . z_j``."""

    tall: Array  # (n, d)
    flat: Array  # (d * n,): feature by feature
    ptr: Index  # the same as for sparse features, for sums in double-double
    columns: Columns
    values: Array
    sign: Array  # ones: labels are folded into the features
    diagonal: Array
    reach: Array
    length: Array
    longest: float
    shift: float


class SparseRows(NamedTuple):
    """``Q_ij = z_i . z_j``, features by their nonzeros."""

    ptr: Index  # sample i has columns[ptr[i]:ptr[i + 1]]
    columns: Columns
    values: Array
    flat: Array  # empty
    sign: Array
    diagonal: Array
    reach: Array
    length: Array
    longest: float
    shift: float


Rows: TypeAlias = GramRows | DenseRows | SparseRows


def by_form(gram: Part, dense: Part, sparse: Part) -> Callable[..., Any]:
    """One function for compiled code, which takes the implementation for the class of its first argument.

    None for a form that has nothing to do.
    """
    return by_class({GramRows: gram, DenseRows: dense, SparseRows: sparse})


# ---- samples and a vector of features ----------------------------------------------------------------------------


def _add_dense(Q: DenseRows, i: int, scale: float, w: Array) -> None:
    z = Q.tall[i]
    for c in range(z.shape[0]):
        w[c] += scale * z[c]


def _add_sparse(Q: SparseRows, i: int, scale: float, w: Array) -> None:
    for c in range(Q.ptr[i], Q.ptr[i + 1]):
        w[Q.columns[c]] += scale * Q.values[c]


#: ``w += scale z_i``.
add_sample = by_form(None, _add_dense, _add_sparse)


def _times_dense(Q: DenseRows, i: int, w: Array) -> float:
    return float(dot(Q.tall[i], w))


def _times_sparse(Q: SparseRows, i: int, w: Array) -> float:
    s = 0.0
    for c in range(Q.ptr[i], Q.ptr[i + 1]):
        s += Q.values[c] * w[Q.columns[c]]
    return s


#: ``z_i . w``.
times = by_form(None, _times_dense, _times_sparse)


# ---- one sample and others ---------------------------------------------------------------------------------------


def _column_gram(Q: GramRows, index: Index, k: int, i: int, zero: Array, out: Array) -> None:
    row, s = Q.K[i], Q.sign[i]
    for j in range(k):
        r = index[j]
        out[j] = s * row[r] * Q.sign[r]


def _column_dense(Q: DenseRows, index: Index, k: int, i: int, zero: Array, out: Array) -> None:
    z = Q.tall[i]
    for j in range(k):
        out[j] = dot(z, Q.tall[index[j]])


def _column_sparse(Q: SparseRows, index: Index, k: int, i: int, zero: Array, out: Array) -> None:
    add_sample(Q, i, 1.0, zero)
    for j in range(k):
        out[j] = times(Q, index[j], zero)
    for c in range(Q.ptr[i], Q.ptr[i + 1]):
        zero[Q.columns[c]] = 0.0


#: ``Q_Fi`` for the leading k samples of index, into `out`; `zero` (d,) is zero before and after.
column = by_form(_column_gram, _column_dense, _column_sparse)


def _alike_gram(Q: GramRows, i: int, j: int) -> bool:
    most, x, y, c = TWINS * Q.longest * Q.longest, Q.K[i], Q.K[j], 0
    while c < x.shape[0] and abs(x[c] - y[c]) <= most:
        c += 1
    return bool(c == x.shape[0] and Q.sign[i] == Q.sign[j])


def _alike_dense(Q: DenseRows, i: int, j: int) -> bool:
    x, y, c = Q.tall[i], Q.tall[j], 0
    while c < x.shape[0] and x[c] == y[c]:
        c += 1
    return bool(c == x.shape[0])


def _alike_sparse(Q: SparseRows, i: int, j: int) -> bool:
    a, b, size, c = Q.ptr[i], Q.ptr[j], Q.ptr[i + 1] - Q.ptr[i], 0
    if Q.ptr[j + 1] - b != size:
        return False
    while c < size and Q.columns[a + c] == Q.columns[b + c] and Q.values[a + c] == Q.values[b + c]:
        c += 1
    return bool(c == size)


#: Whether the rows of Q of two samples are the same; those of a kernel matrix up to rounding.
alike = by_form(_alike_gram, _alike_dense, _alike_sparse)


def _change_cap_gram(Q: GramRows, bases: Array, sums: Array, i: int, sign: float) -> None:
    for b in range(2):
        scale = sign * bases[b, i] * Q.sign[i]
        if scale != 0.0:
            extended.accumulate(sums[b, 0], sums[b, 1], scale, Q.K[i])


def _change_cap_dense(Q: DenseRows, bases: Array, sums: Array, i: int, sign: float) -> None:
    for b in range(2):
        scale = sign * bases[b, i]
        if scale != 0.0:
            extended.accumulate(sums[b, 0], sums[b, 1], scale, Q.tall[i])


def _change_cap_sparse(Q: SparseRows, bases: Array, sums: Array, i: int, sign: float) -> None:
    first, last = Q.ptr[i], Q.ptr[i + 1]
    for b in range(2):
        scale = sign * bases[b, i]
        if scale != 0.0:
            extended.accumulate_sparse(sums[b, 0], sums[b, 1], scale, Q.columns[first:last], Q.values[first:last])


#: Sample i joins (+1) or leaves (-1) those at their cap: `sums` (2, 2, width) holds, for either base, hi and lo of
#: ``K_L' (sign base)_L`` (a kernel matrix) or ``Z_L' base_L``.
change_cap = by_form(_change_cap_gram, _change_cap_dense, _change_cap_sparse)


def _of_capped_gram(Q: GramRows, i: int, at_cap: Array) -> tuple[float, float, float]:
    s = Q.sign[i]
    return s * at_cap[0, 0, i], s * at_cap[0, 1, i], s * at_cap[1, 0, i]


def _of_capped_features(Q: Any, i: int, at_cap: Array) -> tuple[float, float, float]:
    return times(Q, i, at_cap[0, 0]), times(Q, i, at_cap[0, 1]), times(Q, i, at_cap[1, 0])


#: What the samples at their cap add to ``(Q a)_i``: hi, lo, and its rate; `at_cap` (2, 2, width) is value and rate.
of_capped = by_form(_of_capped_gram, _of_capped_features, _of_capped_features)


# ---- all samples -------------------------------------------------------------------------------------------------


def _all_products_gram(
    Q: GramRows, index: Index, k: int, coef: Array, at_cap: Array, w: Array, start: Index, out: Array
) -> None:
    n = out.shape[1]
    copy(at_cap[0, 0], out[0])
    copy(at_cap[1, 0], out[1])
    for q in range(2, out.shape[0]):
        fill(out[q], 0.0)
    for j in range(k):
        start[j] = index[j] * n
        s = Q.sign[index[j]]
        for q in range(coef.shape[0]):
            coef[q, j] *= s
    add_rows(Q.flat, start, k, coef, n, out)
    for q in range(out.shape[0]):
        o = out[q]
        for i in range(n):
            o[i] *= Q.sign[i]


@compiled()
def _slopes(Q: Any, index: Index, k: int, coef: Array, at_cap: Array, w: Array) -> None:
    copy(at_cap[0, 0], w[W])
    copy(at_cap[1, 0], w[DW])
    copy(at_cap[1, 0], w[DW_CAP])
    for q in range(2, coef.shape[0]):
        fill(w[W + q], 0.0)
    for j in range(k):
        for q in range(coef.shape[0]):
            add_sample(Q, index[j], coef[q, j], w[W + q])


def _all_products_dense(
    Q: DenseRows, index: Index, k: int, coef: Array, at_cap: Array, w: Array, start: Index, out: Array
) -> None:
    _slopes(Q, index, k, coef, at_cap, w)
    for q in range(out.shape[0]):
        fill(out[q], 0.0)
    for f in range(w.shape[1]):
        start[f] = f * out.shape[1]
    add_rows(Q.flat, start, w.shape[1], w[W:], out.shape[1], out)


def _all_products_sparse(
    Q: SparseRows, index: Index, k: int, coef: Array, at_cap: Array, w: Array, start: Index, out: Array
) -> None:
    _slopes(Q, index, k, coef, at_cap, w)
    for q in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[q, i] = times(Q, i, w[W + q])


#: Products of all samples with combinations of the margin set (rows of coef, which may be changed), to the first two
#: of which those at their cap are added: ``Q a``, its rate, and the products with the centres.
all_products = by_form(_all_products_gram, _all_products_dense, _all_products_sparse)
