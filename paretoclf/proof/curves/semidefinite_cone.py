r"""Multiples of the identity with which a symmetric matrix of polynomials is semidefinite all over a piece.

With C(u) any matrix that is never singular, :math:`S+\sigma I\succeq0` if and only if
:math:`C^\top(S+\sigma I)C\succeq0`. Near the end of a path S has eigenvalues that are 0, up to rounding, and others.
Let T, K be eigenvectors of both kinds in the middle of the piece, and :math:`C=[T,K+TV]` with a polynomial matrix V
for which the columns :math:`K+TV` span the kernel of S(u), nearly. Then :math:`C^\top SC` is
:math:`\mathrm{diag}(T^\top ST,0)` plus a rest, which is tiny, and

.. math:: \sigma=\frac{\max|\text{rest}|+\max(-\lambda_{\min}(T^\top ST),0)}{\min\lambda_{\min}(C^\top C)}

is enough. Each number is a bound over coefficients: a matrix whose coefficients have no eigenvalue below a number has
none anywhere on the piece. A positive denominator proves that C is never singular; V may be anything. Eigenvalues are
bounded from below by Cholesky's algorithm (`paretoclf.problem.definite.least_eigenvalue`).
"""

from __future__ import annotations

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.problem.definite import least_eigenvalue
from paretoclf.proof.cones.cone_kinds import matrix
from paretoclf.proof.curves.polynomials import UNIT, UP, Polynomials, evaluation

#: Degree of the polynomial matrix V.
_DEGREE = 8

_NODES = 0.5 * (1.0 - np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1)))
_TO_COEFFICIENTS = np.linalg.inv(evaluation(_DEGREE, _NODES))


def matrices(vectors: Polynomials, order: int) -> Polynomials:
    """Symmetric matrices of vectors (degree + 1, entries), with the rounding of the division by the root of 2."""
    value = matrix(vectors.value, order)
    radius = np.abs(matrix(vectors.radius, order)) + 4 * UNIT * np.abs(value)
    return Polynomials(value, radius * UP)


def depth_of_matrix(vectors: Polynomials, order: int) -> float:
    """Lower bound of all eigenvalues, anywhere on the piece.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.curves.polynomials import Polynomials
    >>> from paretoclf.proof.curves.semidefinite_cone import depth_of_matrix
    >>> round(depth_of_matrix(Polynomials.of(np.array([[1.0, 0, 2.0], [3.0, 0, 2.0]])), 2), 9)
    1.0
    """
    return _least(matrices(vectors, order))


def shift_of_matrix(vectors: Polynomials, partner: Polynomials, order: int) -> float:
    """Multiple of the identity with which a matrix is semidefinite all over a piece; infinite where none is found.

    ``partner`` is the matrix that is complementary to it, from which the kernel is read where its rank is the more
    certain one.
    """
    whole, other = matrices(vectors, order), matrices(partner, order)
    least = _least(whole)
    if least >= 0.0:
        return 0.0
    if not (np.isfinite(whole.value).all() and np.isfinite(other.value).all()):
        return np.inf
    frame, rank = _frame(whole.value, other.value)
    turned = _matmul(_transposed(frame), _matmul(whole, frame))
    core = turned[:rank, :rank]
    lack = max(0.0, -_least(core)) if rank else 0.0
    rest = turned.size()
    rest[:, :rank, :rank] = 0.0
    largest = float(np.sqrt((rest**2).sum(axis=(1, 2))).max()) * UP
    length = _least(_matmul(_transposed(frame), frame))
    by_frame = (largest + lack) / length * UP if length > 0.0 else np.inf
    return float(min(by_frame, -least))


def _frame(whole: Array, other: Array) -> tuple[Polynomials, int]:
    """Frame C, with the kernel in its last columns, and how many there are before; anything is right."""
    order = whole.shape[1]
    middle, other_middle = (np.tensordot(evaluation(len(M) - 1, np.array([0.5]))[0], M, 1) for M in (whole, other))
    eigenvalues, vectors = np.linalg.eigh(middle)
    partners = np.linalg.eigvalsh(other_middle)
    rank = int((eigenvalues > partners[::-1]).sum())
    kernel, image = vectors[:, : order - rank], vectors[:, order - rank :]
    if rank in (0, order):
        columns = np.concatenate([image, kernel], axis=1)
        return Polynomials.of(columns[None]), rank
    mixture = np.tensordot(_TO_COEFFICIENTS, _mixture(whole, other, image, kernel), 1)
    tail = kernel + image @ mixture
    first = np.broadcast_to(image, (len(tail), order, rank))
    return Polynomials.of(np.concatenate([first, tail], axis=2)), rank


def _mixture(whole: Array, other: Array, image: Array, kernel: Array) -> Array:
    """Values of V at the nodes, from the matrix itself or from its partner."""
    mine, theirs = (np.tensordot(evaluation(len(M) - 1, _NODES), M, 1) for M in (whole, other))
    own, partner = image.T @ mine @ image, kernel.T @ theirs @ kernel
    if _condition(own) > _condition(partner):
        return np.asarray(-np.linalg.solve(own, image.T @ mine @ kernel))
    crossed = np.swapaxes(image.T @ theirs @ kernel, 1, 2)
    return np.swapaxes(np.linalg.solve(partner, crossed), 1, 2)


def _condition(blocks: Array) -> float:
    """Smallest quotient of the least and the largest eigenvalue of some matrices."""
    eigenvalues = np.linalg.eigvalsh(blocks)
    with np.errstate(over="ignore"):  # of a matrix without a positive eigenvalue
        return float((eigenvalues[:, 0] / np.maximum(eigenvalues[:, -1], np.finfo(float).tiny)).min())


def _least(whole: Polynomials) -> float:
    """Lower bound of all eigenvalues of symmetric matrices of polynomials."""
    value = 0.5 * (whole.value + np.swapaxes(whole.value, 1, 2))
    radius = whole.radius + UNIT * np.abs(value)
    off = np.sqrt((radius**2).sum(axis=(1, 2))) * UP
    bounds = [least_eigenvalue(each) for each in value]
    return float((np.array(bounds) - off).min())


def _transposed(frame: Polynomials) -> Polynomials:
    return Polynomials(np.swapaxes(frame.value, 1, 2), np.swapaxes(frame.radius, 1, 2))


def _matmul(first: Polynomials, second: Polynomials) -> Polynomials:
    """Products of matrices of polynomials."""
    rows, columns = first[:, None, :], _transposed(second)[None, :, :]
    return rows.dot(columns)
