"""The Gram of the training samples: products, rows, and a factor.

Where there are features (linear kernel: the samples; with ``low_rank``: those of the approximated kernel), no n x n
matrix is formed: products go through the features.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import lapack, solve_triangular

from paretoclf.common.checks import Array, Index, check_matrix, check_symmetric
from paretoclf.common.errors import InputError
from paretoclf.common.memory import BLOCK_ROWS, empty_on_line, require_memory
from paretoclf.common.tolerances import FACTOR_RANK, GRAM_PSD, GRAM_SYMMETRY
from paretoclf.problem.kernels import RBF, Function, Kernel, Linear, Precomputed, as_kernel
from paretoclf.problem.low_rank import Approximation, Factorised, check_low_rank, pivoted_cholesky
from paretoclf.problem.operator import Features, Matrix, Quadratic
from paretoclf.problem.samples import (
    Names,
    Samples,
    check_samples,
    distinct,
    dot,
    far_origin,
    moved,
    names_of,
    require_scale,
)


class Gram:
    """Kernel values among the training samples.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d), or array of shape (n, n) if kernel is "precomputed"
        Training samples, or their kernel matrix.
    kernel : optional
        As in `paretoclf.problem.kernels.as_kernel`; None is linear, ``"rbf"`` is ``RBF.scale(X)``.
    low_rank : int, float or sequence of int, optional
        Replace the kernel by features (`paretoclf.problem.low_rank`): at most so many; or as many as leave out no more
        than this share, below 1, of the trace; or those of the samples at these positions, in this order. Not for the
        linear kernel. A kernel that is not known to be positive semidefinite is then tested on the chosen columns only.
    free_origin : bool
        Whether the problem stays the same when all samples are translated, as it does where an intercept is free.
        Features of the linear kernel far from 0 (map coordinates, time stamps) are then measured from ``origin``.

    Attributes
    ----------
    X : array or scipy.sparse.csr_array
        A checked copy of the given samples; a sparse matrix in canonical CSR form.
    kernel : Kernel
        As given, with its parameters where a name left them to the samples.
    n : int
        Number of samples.
    names : tuple of str or None
        Names of the features, if X was a frame: new samples in a frame must have them, in their order.
    origin : array of shape (d,) or None
        Point from which ``features`` are measured, if not from 0.
    pivots : array of shape (rank,) or None
        With ``low_rank``, the samples whose kernel columns span the features: ``Gram(X, kernel, low_rank=pivots)`` is
        this Gram again.
    approximation : Approximation or None
        With ``low_rank``, the error of the approximation.

    Raises
    ------
    InputError
        If X is not finite, the kernel matrix is not symmetric or not positive semidefinite, or there is no memory for
        it.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf import RBF, Gram
    >>> Gram(np.array([[1.0], [2.0]])).matvec(np.array([1.0, 1.0]))
    array([3., 6.])
    >>> Gram(np.linspace(0, 1, 500)[:, None], RBF(bandwidth=1.0), low_rank=1e-6).features.shape
    (500, 5)
    """

    def __init__(self, X: Any, kernel: Any = None, low_rank: Any = None, *, free_origin: bool = False) -> None:
        precomputed = isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")
        self.X: Samples = (check_matrix if precomputed else check_samples)(X, copy=True)
        self.names: Names = None if precomputed else names_of(X)
        self.kernel: Kernel = as_kernel(kernel, self.X)
        self.n: int = self.X.shape[0]
        if precomputed and self.X.shape[1] != self.n:
            raise InputError(f"X must be a square kernel matrix for kernel='precomputed', got shape {self.X.shape}")
        if self.linear:
            require_scale(self.X)
        elif precomputed:
            require_scale(np.diagonal(self.X), "the diagonal of X", squared=True)
        self.origin: Array | None = far_origin(self.X) if free_origin and self.linear else None
        self._factorised: Factorised | None = None
        if low_rank is not None:
            if self.linear:
                raise InputError("low_rank must be left out for the linear kernel: its features are the samples")
            rank = check_low_rank(low_rank, self.n)
            diagonal, name = self._kernel_diagonal(), type(self.kernel).__name__
            self._factorised = pivoted_cholesky(lambda i: self._columns(self.X, [i])[:, 0], diagonal, rank, name)
        elif not self.kernel.psd:
            _check_psd(self.matrix, type(self.kernel).__name__)

    @property
    def linear(self) -> bool:
        """True where the features are the samples themselves."""
        return isinstance(self.kernel, Linear)

    @property
    def features(self) -> Samples:
        """Features F with F F' = Gram, or None where there is only the kernel matrix.

        The samples (an array, or CSR) for the linear kernel, measured from ``origin``; an array of shape (n, rank) with
        ``low_rank``.
        """
        if self._factorised is not None:
            return self._factorised.G
        if self.origin is not None:
            return self._near
        return self.X if self.linear else None

    @cached_property
    def _near(self) -> Samples:
        """Samples measured from the origin."""
        assert self.origin is not None
        return moved(self.X, self.origin)

    def intercept(self, b: float, w: Any) -> float:
        """Intercept b of ``w . x + b``, from that of ``w . (x - origin) + b``; w is a function of no arguments."""
        return float(b if self.origin is None else b - w() @ self.origin)

    def at_origin(self, b: float, w: Any) -> float:
        """Intercept b of ``w . (x - origin) + b``, from that of ``w . x + b``; w is a function of no arguments."""
        return float(b if self.origin is None else b + w() @ self.origin)

    @property
    def pivots(self) -> Index | None:
        """Samples whose kernel columns span the features; None without ``low_rank``."""
        return None if self._factorised is None else self._factorised.pivots

    @property
    def approximation(self) -> Approximation | None:
        """Error of the approximation; None without ``low_rank``."""
        return None if self._factorised is None else self._factorised.approximation

    @property
    def note(self) -> str:
        """Note of this Gram in a certificate: empty, unless the kernel is an approximation."""
        return "" if self.approximation is None else f"For the approximated kernel ({self.approximation})."

    @cached_property
    def matrix(self) -> Array:
        """The whole kernel matrix, shape (n, n); InputError where there is no memory for it."""
        F = self.features
        if isinstance(self.kernel, Precomputed) and F is None:
            return np.asarray(self.X)
        # Blocks of rows come on top; and where semidefiniteness is tested, the copy that LAPACK takes apart.
        copies = 1 if self.kernel.psd else 2
        require_memory(
            8 * self.n * (self.n * copies + 2 * BLOCK_ROWS),
            f"the kernel matrix of {self.n} samples",
            "use low_rank=, the linear kernel (without asking for its matrix) or fewer samples",
        )
        if F is not None:
            return _in_blocks(Linear(), F)
        name = type(self.kernel).__name__
        if isinstance(self.kernel, Function):
            K = _finite(np.ascontiguousarray(_values(self.kernel, self.X, self.X)), name)
        else:
            K = _equal_for_equals(_in_blocks(self.kernel, self.X), distinct(self.X))
        require_scale(np.diagonal(K), f"the diagonal of the kernel matrix ({name})", squared=True)
        return K

    @cached_property
    def quadratic(self) -> Quadratic:
        """Gram as an operator: through its features, or the kernel matrix where there is only that."""
        return Matrix(self.matrix) if self.features is None else Features(self.features)

    def matvec(self, v: Array) -> Array:
        """Gram times v; v has shape (n,) or (n, k)."""
        return self.quadratic.times(v)

    @cached_property
    def rounding(self) -> Array | None:
        """Bounds on the rounding of kernel values, shape (n,), as of `Kernel.rounding`; None where none is rounded."""
        if self.quadratic.width:  # products of features are rounded where they are summed
            return None
        found = self.kernel.rounding(self.X, self.diagonal())
        return found if found.any() else None

    def rows(self, index: Any) -> Array:
        """Rows of the Gram, shape (len(index), n)."""
        return self.quadratic.rows(index)

    def block(self, index: Any) -> Array:
        """Gram of some of the samples, shape (len(index), len(index))."""
        return self.quadratic.block(index)

    def diagonal(self) -> Array:
        """Diagonal of the Gram, shape (n,)."""
        return self.quadratic.diagonal()

    def part(self, index: Any) -> Gram:
        """Gram of some of the samples, of the values that are known here: of the features, or precomputed.

        New samples of it are features, or kernel values against its samples, as `part_of_new` returns them.
        """
        return Gram.of(self.quadratic.part(index))

    @classmethod
    def of(cls, quadratic: Quadratic) -> Gram:
        """Gram of a quadratic that is known to be positive semidefinite: of features, or of a precomputed kernel."""
        ((name, values),) = quadratic.raw.items()
        if name == "X":
            return cls(values)
        out: Gram = object.__new__(cls)  # not tested once more
        out.kernel, out.X, out._factorised, out.origin, out.names = Precomputed(), values, None, None, None
        out.n = quadratic.n
        return out

    def part_of_new(self, index: Any, rows: Any) -> Samples:
        """Samples of this Gram (rows) as new samples of one of its parts (index)."""
        return self.quadratic.new_in_part(index, rows)

    def mapped_rows(self, index: Any) -> Samples:
        """Training samples at some positions as `mapped` returns new ones."""
        return self.rows(index) if self.features is None else self.features[index]

    def mapped(self, X: Any) -> Samples:
        """New samples as the quadratic takes them: their features, or kernel values against the training samples."""
        if self.features is not None:
            return self.cross_features(X)
        values = _values(self.kernel, self.check_new(X), self.X)
        return _finite(values, f"{type(self.kernel).__name__}, new samples")

    def cross(self, X: Any) -> Array:
        """Kernel values of new samples against the training samples, shape (m, n).

        For a precomputed kernel X must already be that matrix.
        """
        Z = self.mapped(X)
        return Z if self.features is None else dot(Z, self.features)

    def scores(self, X: Any, coef: Array) -> Array:
        """Scores of new samples, without intercept, for coefficients (n,) or (n, k): shape (m,) or (m, k)."""
        return self.quadratic.scores_of(self.mapped(X), coef)

    def cross_features(self, X: Any) -> Samples:
        """New samples as features: as they are (linear kernel), or ``k(x, pivots)`` through the factor of the pivots.

        Shape (m, d) or (m, rank). For a precomputed kernel X holds the values against the training samples.
        """
        new = self.check_new(X)
        if self._factorised is not None:
            G, pivots = self._factorised.G, self._factorised.pivots
            values = _finite(self._columns(new, pivots), f"{type(self.kernel).__name__}, new samples")
            return np.ascontiguousarray(solve_triangular(G[pivots], values.T, lower=True).T)
        if self.linear:
            return new if self.origin is None else moved(new, self.origin)
        raise InputError("there are features for the linear kernel and with low_rank only; use cross")

    @cached_property
    def factor(self) -> Samples:
        """Matrix L with L L' = Gram: the features, else pivoted Cholesky (n, rank) at FACTOR_RANK."""
        if self.features is not None:
            return self.features
        scale = float(np.max(self.diagonal(), initial=0.0))
        if scale == 0.0:
            return np.zeros((self.n, 1))
        c, pivots, rank, _ = lapack.dpstrf(self.matrix, lower=1, tol=FACTOR_RANK * scale)
        L = np.tril(c[:, : max(rank, 1)])
        out: Array = np.empty_like(L)
        out[pivots - 1] = L
        return out

    def coordinates(self) -> tuple[Samples, Array] | None:
        """Coordinates of the samples, of dense ones from their mean, and the rounding of each column: (n, r), (r,).

        None where the kernel matrix has no plain rank.
        """
        return self.quadratic.coordinates(lambda: np.asarray(self.factor))

    @property
    def strict(self) -> bool:
        """Whether distinct samples are independent: RBF kernels are strictly positive definite (Micchelli 1986)."""
        return isinstance(self.kernel, RBF) and self.features is None

    @property
    def by_factor(self) -> bool:
        """Whether a model is better written with the factor than with the kernel matrix."""
        return self.features is not None or self.thin

    @property
    def thin(self) -> bool:
        """True where the factor is much thinner than the kernel matrix: fewer than n / 4 columns."""
        return bool(self.factor.shape[1] < self.n / 4)

    def check_new(self, X: Any) -> Samples:
        """New samples, checked: for a precomputed kernel their values against the training samples."""
        if isinstance(self.kernel, Precomputed):
            return check_matrix(X, n_features=self.X.shape[1])
        return check_samples(X, n_features=self.X.shape[1], names=self.names)

    def _columns(self, X: Samples, index: Any) -> Array:
        """Kernel values of checked samples against some training samples."""
        if isinstance(self.kernel, Precomputed):
            return np.asarray(X[:, index])
        return _values(self.kernel, X, self.X[index])

    def _kernel_diagonal(self) -> Array:
        """Diagonal of the kernel itself, without its matrix."""
        if isinstance(self.kernel, Precomputed):
            return np.diagonal(self.X).copy()
        blocks = (self.X[first : first + _DIAGONAL_ROWS] for first in range(0, self.n, _DIAGONAL_ROWS))
        return np.concatenate([np.diagonal(_values(self.kernel, block, block)) for block in blocks])


#: Rows of the square blocks from which only the diagonal is kept.
_DIAGONAL_ROWS = 32


def _in_blocks(kernel: Kernel, X: Samples) -> Array:
    """Kernel matrix, symmetric to the last bit: blocks of rows left of the diagonal, and their mirror images."""
    n = X.shape[0]
    K = empty_on_line(n, n)
    for first in range(0, n, BLOCK_ROWS):
        rows, part = slice(first, first + BLOCK_ROWS), X[first : first + BLOCK_ROWS]
        K[rows, rows] = _values(kernel, part, part)
        if first:
            K[rows, :first] = _values(kernel, part, X[:first])
            K[:first, rows] = K[rows, :first].T
        _finite(K[rows, : first + BLOCK_ROWS], type(kernel).__name__, first)
    return K


def _equal_for_equals(K: Array, which: Index) -> Array:
    """Give equal samples (``which``, of `distinct`) one value: elsewhere in a product it is rounded otherwise."""
    if which.max() == which.size - 1:  # no two are
        return K
    _, first = np.unique(which, return_index=True)
    copies = np.flatnonzero(first[which] != np.arange(which.size))
    K[copies] = K[first[which[copies]]]
    K[:, copies] = K[:, first[which[copies]]]
    return K


def _values(kernel: Kernel, X: Samples, Z: Samples) -> Array:
    """Kernel values, without warnings of overflow: `_finite` refuses it."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(kernel(X, Z))


def _finite(K: Array, name: str, first: int = 0) -> Array:
    """Return kernel values, or refuse them if one is not finite; ``first`` is the number of the first row."""
    finite = np.isfinite(K)
    if not finite.all():
        i, j = (int(v) for v in np.argwhere(~finite)[0])
        raise InputError(f"kernel matrix ({name}) must be finite, got {K[i, j]} at ({first + i}, {j})")
    return K


_REMEDY = "; if that is rounding (of single precision, say), compute it in float64 or take paretoclf.nearest_psd of it"


def nearest_psd(K: Any) -> Array:
    r"""Find the symmetric positive semidefinite matrix that is nearest to a square one, in the Frobenius norm.

    The eigenvalues of :math:`(K+K^\top)/2` that are negative become 0. For kernel matrices that rounding made
    indefinite: computed in single precision, read from a file with few digits. For a function that is no kernel it
    makes another problem; the distance says which it is.

    Parameters
    ----------
    K : array of shape (n, n)
        Kernel values among the training samples.

    Returns
    -------
    array of shape (n, n)
        In float64; for ``kernel="precomputed"``. Values of new samples against the training samples stay as they are.

    Raises
    ------
    InputError
        If K is not square or not finite.

    References
    ----------
    N. Higham, Linear Algebra and its Applications 103 (1988), Theorem 2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf import nearest_psd
    >>> nearest_psd([[1.0, 2.0], [2.0, 1.0]])
    array([[1.5, 1.5],
           [1.5, 1.5]])
    """
    A = check_matrix(K, "K")
    if A.shape[0] != A.shape[1]:
        raise InputError(f"K must be a square matrix, got shape {A.shape}")
    values, vectors = np.linalg.eigh(0.5 * (A + A.T))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(root @ root.T)


def _check_psd(K: Array, name: str) -> None:
    """Refuse a kernel matrix that is not symmetric or not positive semidefinite, up to rounding."""
    scale = max(float(K.max()), -float(K.min()))
    check_symmetric(K, f"kernel matrix ({name})", GRAM_SYMMETRY * scale, _REMEDY)
    smallest = float(np.linalg.eigvalsh(K)[0])
    if smallest < -GRAM_PSD * max(scale * K.shape[0], 1e-300):
        raise InputError(
            f"kernel matrix ({name}) must be positive semidefinite, got smallest eigenvalue {smallest:.3g}{_REMEDY}"
        )
