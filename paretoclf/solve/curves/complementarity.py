r"""Complementarity of slacks and multipliers as equations, their derivatives, and what must stay positive.

A pair s, z is complementary where :math:`s\circ z=0`: the product of entries, for a second-order cone
:math:`(s^\top z,\ s_1z_2+z_1s_2)`, for matrices :math:`(SZ+ZS)/2`. For an exponential cone both are on the border, or
:math:`s_3=s_2e^r,\ z=z_3(-e^r,(r-1)e^r,1)` with :math:`r=s_1/s_2`.

On a smooth piece some eigenvalues of s are positive and those of z are 0, or the other way round; the *label* of each
says which. Where those of an entry, or of a cone, are all of one kind, the equation is :math:`z=0`, or :math:`s=0`: it
is regular at events, too. A piece ends at the first root of a number that must stay positive:

=============  ====================================================================================================
nonnegative    the slack, or the multiplier
second-order   both eigenvalues of s, or of z; where both are on the border :math:`s_1` and :math:`z_1`, as
               :math:`s_1-|s_2|` does not change its sign where s goes through 0
semidefinite   eigenvalues of S on the kernel of Z, and of Z on that of S: in sorted eigenvalues a change of sign hides
=============  ====================================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.proof.cones.cone_kinds import Alike, Cones, matrix, vector

#: How many eigenvalues a cone has, where that is not its order.
_EIGENVALUES = {"zero": 0, "exponential": 0, "second-order": 2}

#: Kinds of cones each of whose entries is a cone.
_OF_ENTRIES = ("zero", "nonnegative")

#: The largest exponent.
_LARGEST = 300.0


@dataclass(frozen=True)
class CurveEvent:
    """Change of a cone: how many of its eigenvalues are positive in the slack before t, and behind it."""

    t: float
    row: int
    before: int
    after: int


@dataclass(frozen=True)
class Complementarity:
    """Products of complementary vectors, and their derivatives in both: rows of cones, and a block for each cone."""

    value: Array
    in_slack: list[tuple[Index, Array]]
    in_multiplier: list[tuple[Index, Array]]


def labelled(cones: Cones, label: Mask) -> Iterator[tuple[Alike, Mask]]:
    """Groups of alike cones with the labels of each cone, in a row; equations and exponential cones have none."""
    first = 0
    for each in cones.alike:
        size = (
            each.rows.size if each.kind == "nonnegative" else len(each.rows) * _EIGENVALUES.get(each.kind, each.order)
        )
        yield each, label[first : first + size].reshape(len(each.rows), -1)
        first += size


def free_rows(cones: Cones, label: Mask) -> Mask:
    """Whether each row has the multiplier 0, as it is one of an entry or a cone whose slack is inside."""
    found = np.zeros(sum(cone.size for cone in cones), dtype=bool)
    for each, mine in labelled(cones, label):
        if mine.size:
            found[each.rows] = mine if each.kind == "nonnegative" else mine.all(axis=1, keepdims=True)
    return found


def products(cones: Cones, s: Array, z: Array, label: Mask | None) -> Complementarity:
    """Numbers that are 0 where s and z are complementary, as labels say if there are any; slacks, for equations.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.cones.cone_kinds import Cone, Cones
    >>> from paretoclf.solve.curves.complementarity import products
    >>> on_border = np.array([False, True])
    >>> s, z = np.array([2.0, 2.0]), np.array([1.0, -1.0])
    >>> products(Cones([Cone("second-order", 2)]), s, z, on_border).value.tolist()
    [0.0, 0.0]
    """
    value = np.zeros_like(s)
    in_slack, in_multiplier = [], []
    none = np.zeros(0, dtype=bool)
    for each, mine in ((each, none) for each in cones.alike) if label is None else labelled(cones, label):
        order = 1 if each.kind in _OF_ENTRIES else each.order
        rows = each.rows.reshape(-1, 1) if order == 1 else each.rows
        slack, multiplier = s[rows], z[rows]
        found = _OF_KIND[each.kind](slack, multiplier, order)
        if mine.size:
            found = _pure(slack, multiplier, mine.reshape(len(rows), -1), found)
        value[rows] = found[0]
        in_slack.append((rows, found[1]))
        in_multiplier.append((rows, found[2]))
    return Complementarity(value, in_slack, in_multiplier)


def _pure(s: Array, z: Array, label: Mask, found: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """Numbers and their derivatives, with those of cones whose labels are all of one kind in their place."""
    value, first, second = found
    free, tight = label.all(axis=1), ~label.any(axis=1)
    for which, vectors, own, others in ((free, z, second, first), (tight, s, first, second)):
        value[which] = vectors[which]
        own[which], others[which] = np.eye(s.shape[1]), 0.0
    return value, first, second


def _of_equations(s: Array, z: Array, order: int) -> tuple[Array, Array, Array]:
    one = np.broadcast_to(np.eye(order), (len(s), order, order))
    return s, one, np.zeros_like(one)


def _of_entries(s: Array, z: Array, order: int) -> tuple[Array, Array, Array]:
    return s * z, z[:, :, None], s[:, :, None]


def _of_second_order(s: Array, z: Array, order: int) -> tuple[Array, Array, Array]:
    first, second = _arrow(z), _arrow(s)
    return (second @ z[:, :, None])[:, :, 0], first, second


def _arrow(v: Array) -> Array:
    """Matrices of products with vectors of second-order cones."""
    found = v[:, :1, None] * np.eye(v.shape[1])
    found[:, 0, 1:] = found[:, 1:, 0] = v[:, 1:]
    return found


def _of_matrices(s: Array, z: Array, order: int) -> tuple[Array, Array, Array]:
    S, Z = matrix(s, order), matrix(z, order)
    basis = matrix(np.eye(s.shape[1]), order)

    def half(M: Array) -> Array:
        both = np.einsum("wij,cjk->cwik", basis, M)
        rows = vector(0.5 * (both + np.swapaxes(both, 2, 3)))
        return np.swapaxes(rows, 1, 2)

    product = S @ Z
    return vector(0.5 * (product + np.swapaxes(product, 1, 2))), half(Z), half(S)


def _of_exponentials(s: Array, z: Array, order: int) -> tuple[Array, Array, Array]:
    first, scale, height = s.T
    u, v, w = z.T
    with np.errstate(all="ignore"):
        rate = np.minimum(first / scale, _LARGEST)
        power = np.exp(rate)
        in_first, in_scale = 1 / scale, -first / scale**2
    value = np.stack([u + w * power, v - w * (rate - 1) * power, height - scale * power], axis=1)
    in_slack, in_multiplier = np.zeros((len(s), 3, 3)), np.zeros((len(s), 3, 3))
    for column, speed in enumerate((in_first, in_scale)):
        in_slack[:, 0, column] = w * power * speed
        in_slack[:, 1, column] = -w * rate * power * speed
        in_slack[:, 2, column] = -scale * power * speed
    in_slack[:, 2, 1] -= power
    in_slack[:, 2, 2] = 1.0
    in_multiplier[:, 0, 0] = in_multiplier[:, 1, 1] = 1.0
    in_multiplier[:, 0, 2], in_multiplier[:, 1, 2] = power, -(rate - 1) * power
    return value, in_slack, in_multiplier


_OF_KIND = {
    "zero": _of_equations,
    "nonnegative": _of_entries,
    "second-order": _of_second_order,
    "psd": _of_matrices,
    "exponential": _of_exponentials,
}


def eigenvalues(cones: Cones, s: Array, z: Array) -> tuple[Array, Array, Index]:
    """Eigenvalues of s, those of z beside them (small where those are large), and the cone of each."""
    of_s, of_z, which = [np.zeros(0)], [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
    for each in cones.alike:
        found = _eigenvalues_of(each, s[each.rows], z[each.rows])
        if found is not None:
            of_s.append(found[0].ravel())
            of_z.append(found[1].ravel())
            which.append(_numbers(each, found[0].shape))
    return np.concatenate(of_s), np.concatenate(of_z), np.concatenate(which)


def _numbers(each: Alike, shape: tuple[int, ...]) -> Index:
    """First row of each cone, or the row itself, beside each eigenvalue."""
    if each.kind == "nonnegative":
        return each.rows.ravel()
    return np.repeat(each.rows[:, 0], shape[1])


def _eigenvalues_of(each: Alike, s: Array, z: Array) -> tuple[Array, Array] | None:
    if each.kind == "nonnegative":
        return s, z
    if each.kind == "second-order":
        pairs = [np.stack([v[:, 0] - _length(v), v[:, 0] + _length(v)], axis=1) for v in (s, z)]
        return pairs[0], pairs[1][:, ::-1]
    if each.kind == "psd":
        both = [np.asarray(np.linalg.eigvalsh(matrix(v, each.order)), dtype=np.float64) for v in (s, z)]
        return both[0], both[1][:, ::-1]
    return None


def _length(v: Array) -> Array:
    return np.asarray(np.linalg.norm(v[:, 1:], axis=1))


def labels(cones: Cones, s: Array, z: Array) -> Mask:
    """Whether each eigenvalue of s is the positive one of the two."""
    of_s, of_z, _ = eigenvalues(cones, s, z)
    return np.asarray(of_s > of_z)


def watched(cones: Cones, s: Array, z: Array, label: Mask) -> Array:
    """Numbers that must stay positive while labels are as they are, one for each eigenvalue."""
    of_s, of_z, _ = eigenvalues(cones, s, z)
    found = np.where(label, of_s, of_z)
    first = 0
    for each, mine in labelled(cones, label):
        part = slice(first, first + mine.size)
        first = part.stop
        change = _WATCHED.get(each.kind)
        if change is not None:
            found[part] = change(found[part].reshape(mine.shape), s[each.rows], z[each.rows], mine).ravel()
    return found


def _watched_norms(found: Array, s: Array, z: Array, label: Mask) -> Array:
    both = (label[:, 0] != label[:, 1])[:, None]
    return np.where(both, np.stack([s[:, 0], z[:, 0]], axis=1), found)


def _watched_matrices(found: Array, s: Array, z: Array, label: Mask) -> Array:
    out = np.zeros_like(found)
    order = label.shape[1]
    for k, (mine, slack, multiplier) in enumerate(zip(label, s, z, strict=True)):
        rank = int(mine.sum())
        S, Z = matrix(slack, order), matrix(multiplier, order)
        image, rest = _smallest(Z, rank), _smallest(S, order - rank)
        parts = [np.linalg.eigvalsh(image.T @ S @ image), np.linalg.eigvalsh(rest.T @ Z @ rest)]
        out[k] = np.concatenate(parts)
    return out


def _smallest(M: Array, count: int) -> Array:
    """Eigenvectors of the eigenvalues of least size."""
    values, vectors = np.linalg.eigh(M)
    return np.asarray(vectors[:, np.argsort(np.abs(values))[:count]])


_WATCHED = {"second-order": _watched_norms, "psd": _watched_matrices}
