"""What the fast road needs of the samples it watches, in the three forms of Q (see `rows`).

It stands together in memory: of a kernel matrix its rows of the margin set, of dense features their rows, each from
`slot` on, in the whole matrix or in a block that holds the columns of the watched samples only. The slots of a kernel
matrix behind the first k are free.
"""

from __future__ import annotations

from typing import Any

from paretoclf.checks import Array, Index
from paretoclf.path.jit import compiled
from paretoclf.path.layout import CAP_DG, DA, DG, DW, DW_CAP, NEAR, SIGN
from paretoclf.path.rows import DenseRows, GramRows, SparseRows, add_sample, by_form, times
from paretoclf.path.vectors import add_rows, copy, fill


def _block_size_gram(Q: GramRows, rows: int, base: int) -> int:
    return rows * base


def _block_size_dense(Q: DenseRows, rows: int, base: int) -> int:
    return int(Q.tall.shape[1] * base)


def _block_size_sparse(Q: SparseRows, rows: int, base: int) -> int:
    return 0


#: Numbers in a block for `rows` slots of length `base`.
block_size = by_form(_block_size_gram, _block_size_dense, _block_size_sparse)


def _watch_all_gram(Q: GramRows, index: Index, k: int, slot: Index) -> None:
    for j in range(k):
        slot[j] = index[j] * Q.K.shape[0]


def _watch_all_dense(Q: DenseRows, index: Index, k: int, slot: Index) -> None:
    for f in range(Q.tall.shape[1]):
        slot[f] = f * Q.tall.shape[0]


#: Slots in the whole matrix.
watch_all = by_form(_watch_all_gram, _watch_all_dense, None)


def _watch_some_gram(
    Q: GramRows, which: Index, count: int, base: int, index: Index, k: int, slot: Index, block: Array
) -> None:
    near = which[NEAR]
    for j in range(slot.shape[0]):
        slot[j] = j * base
    for j in range(k):
        row, to = Q.K[index[j]], block[j * base :]
        for c in range(count):
            to[c] = row[near[c]]


def _watch_some_dense(
    Q: DenseRows, which: Index, count: int, base: int, index: Index, k: int, slot: Index, block: Array
) -> None:
    n, near = Q.tall.shape[0], which[NEAR]
    for f in range(Q.tall.shape[1]):
        slot[f] = f * base
        row, to = Q.flat[f * n :], block[f * base :]
        for c in range(count):
            to[c] = row[near[c]]


#: Fill a block for these samples.
watch_some = by_form(_watch_some_gram, _watch_some_dense, None)


def _slot_enters_gram(
    Q: GramRows, i: int, k: int, everything: bool, which: Index, count: int, slot: Index, block: Array
) -> None:
    if everything:
        slot[k] = i * Q.K.shape[0]
        return
    near, row, to = which[NEAR], Q.K[i], block[slot[k] :]
    for c in range(count):
        to[c] = row[near[c]]


#: Sample i becomes member k of the margin set.
slot_enters = by_form(_slot_enters_gram, None, None)


def _slot_leaves_gram(Q: GramRows, r: int, k: int, slot: Index) -> None:
    own = slot[r]
    for j in range(r, k):
        slot[j] = slot[j + 1]
    slot[k] = own


#: Member r leaves, k are left; its slot becomes the first free one.
slot_leaves = by_form(_slot_leaves_gram, None, None)


def _widen_gram(Q: GramRows, i: int, index: Index, k: int, to: int, slot: Index, block: Array) -> None:
    row = Q.K[i]
    for j in range(k):
        block[slot[j] + to] = row[index[j]]
    block[slot[k] + to] = row[i]


def _widen_dense(Q: DenseRows, i: int, index: Index, k: int, to: int, slot: Index, block: Array) -> None:
    z = Q.tall[i]
    for f in range(z.shape[0]):
        block[slot[f] + to] = z[f]


#: Column `to` of the block becomes that of sample i, who just left the margin set.
widen = by_form(_widen_gram, _widen_dense, None)


def _watched_rates_gram(
    Q: GramRows, index: Index, k: int, members: Array, w: Array, side: Array, slot: Index, which: Index, count: int,
    watched: Array,
) -> None:  # fmt: skip
    coef, da = members[:1], members[DA]
    sign, cap, dg = watched[SIGN], watched[CAP_DG], watched[DG]
    for j in range(k):
        coef[0, j] = Q.sign[index[j]] * da[j]
    fill(dg[:count], 0.0)
    add_rows(side, slot, k, coef, count, watched[DG : DG + 1])
    for c in range(count):
        dg[c] = sign[c] * dg[c] + cap[c]


@compiled()
def _rate_of_w(Q: Any, index: Index, k: int, members: Array, w: Array) -> None:
    rate, da = w[DW], members[DA]
    copy(w[DW_CAP], rate)
    for j in range(k):
        add_sample(Q, index[j], da[j], rate)


def _watched_rates_dense(
    Q: DenseRows, index: Index, k: int, members: Array, w: Array, side: Array, slot: Index, which: Index, count: int,
    watched: Array,
) -> None:  # fmt: skip
    _rate_of_w(Q, index, k, members, w)
    fill(watched[DG, :count], 0.0)
    add_rows(side, slot, w.shape[1], w[DW : DW + 1], count, watched[DG : DG + 1])


def _watched_rates_sparse(
    Q: SparseRows, index: Index, k: int, members: Array, w: Array, side: Array, slot: Index, which: Index, count: int,
    watched: Array,
) -> None:  # fmt: skip
    _rate_of_w(Q, index, k, members, w)
    near, dg, rate = which[NEAR], watched[DG], w[DW]
    for c in range(count):
        dg[c] = times(Q, near[c], rate)


#: Rates of ``Q a`` of the watched samples; members[0] is room for coefficients.
watched_rates = by_form(_watched_rates_gram, _watched_rates_dense, _watched_rates_sparse)


def _cap_rate_gram(Q: GramRows, slope: Array, sums: Array, i: int) -> float:
    s0, s1 = sums[0, 0, i] + sums[0, 1, i], sums[1, 0, i] + sums[1, 1, i]
    return float(Q.sign[i] * (slope[0, 0] * s0 + slope[0, 1] * s1))


def _cap_rate_features(Q: Any, slope: Array, sums: Array, i: int) -> float:
    return 0.0


#: What those at their cap contribute to the rate of sample i, where it is not in the rate of w.
cap_rate = by_form(_cap_rate_gram, _cap_rate_features, _cap_rate_features)


def _cap_rate_changes_gram(
    Q: GramRows, i: int, rate: float, row: Array, which: Index, count: int, base: int, last: int, watched: Array,
    w: Array,
) -> None:  # fmt: skip
    rate *= Q.sign[i]
    near, own, cap_dg, all_of = which[NEAR], watched[SIGN], watched[CAP_DG], Q.K[i]
    for c in range(count):
        cap_dg[c] += rate * own[c] * row[c]
    for c in range(base, last):
        cap_dg[c] += rate * own[c] * all_of[near[c]]


def _cap_rate_changes_features(
    Q: Any, i: int, rate: float, row: Array, which: Index, count: int, base: int, last: int, watched: Array, w: Array
) -> None:
    add_sample(Q, i, rate, w[DW_CAP])


#: The cap of sample i, moving at this rate, joins those that contribute. ``row`` holds its products with the watched
#: samples, columns up to count; those of the margin set are in columns base to last - 1.
cap_rate_changes = by_form(_cap_rate_changes_gram, _cap_rate_changes_features, _cap_rate_changes_features)
