r"""Kernel functions: linear, RBF, polynomial, precomputed, any callable, any scikit-learn kernel name.

The width of the Gaussian kernel is its bandwidth :math:`\sigma`, :math:`k(x, z) = \exp(-\|x-z\|^2 / (2\sigma^2))`.
scikit-learn's ``gamma`` is :math:`1 / (2\sigma^2)`, and ``kernel="rbf"`` is that of its ``SVC``: ``RBF.scale(X)``.

Samples may be sparse (`scipy.sparse`) for every kernel but a precomputed one. The values come from sparse products; the
matrix of values is dense. A callable receives sparse samples as a ``scipy.sparse.csr_array``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, check_nonnegative_number, check_positive_number
from paretoclf.common.errors import InputError
from paretoclf.common.memory import BLOCK_ROWS, require_memory
from paretoclf.common.tolerances import CANCELLED
from paretoclf.problem.distances import squared_distances
from paretoclf.problem.samples import Samples, check_samples, dot, largest, require_scale


class Kernel(Protocol):
    """Interface of a kernel: the rest of the package asks for nothing else."""

    @property
    def psd(self) -> bool:
        """True where positive semidefiniteness is a theorem, so that no Gram needs a test."""
        ...

    def __call__(self, X: Samples, Z: Samples) -> Array:
        """Kernel values of shape (rows of X, rows of Z)."""
        ...

    def rounding(self, X: Samples, diagonal: Array) -> Array:
        """Bounds r (n,) on rounding: the values for i and j are off by no more than ``r_i r_j``.

        They are 0 where the values are the data; nothing is known of a function, so its values are.
        """
        ...


class _OfData:
    """Kernels whose values are the data, or are never made."""

    def rounding(self, X: Samples, diagonal: Array) -> Array:
        """Zeros: nothing is rounded."""
        return np.zeros_like(diagonal)


@dataclass(frozen=True)
class Linear(_OfData):
    """The linear kernel: the inner product of x and z."""

    psd = True

    def __call__(self, X: Samples, Z: Samples) -> Array:
        """Kernel values of shape (rows of X, rows of Z)."""
        return dot(X, Z)


@dataclass(frozen=True)
class RBF:
    r"""Gaussian kernel :math:`\exp(-\|x-z\|^2 / (2\sigma^2))`.

    Parameters
    ----------
    bandwidth : float
        :math:`\sigma > 0`, in the units of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf import RBF
    >>> float(RBF(bandwidth=1.0)(np.array([[0.0]]), np.array([[1.0]]))[0, 0])
    0.6065306597126334
    """

    bandwidth: float
    psd = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", check_positive_number(self.bandwidth, "bandwidth"))

    def __call__(self, X: Samples, Z: Samples) -> Array:
        """Kernel values of shape (rows of X, rows of Z)."""
        values = squared_distances(X, Z, unit=self.bandwidth, floor=1.0)
        values *= -0.5
        return np.exp(values, out=values)

    def rounding(self, X: Samples, diagonal: Array) -> Array:
        """Bounds on rounding, as of `Kernel.rounding`.

        A squared distance q is off by (d + 6) u times at most CANCELLED (q + 1), and ``exp(-q/2) (q + 1)`` is below
        1.3. The exponential itself is off by 2 u, u half a unit in the last place.
        """
        units = 0.65 * CANCELLED * (_terms(X) + 6) + 2
        return np.full(diagonal.size, np.sqrt(_UNIT * units))

    @classmethod
    def scale(cls, X: Any) -> RBF:
        r"""RBF with the ``gamma="scale"`` of scikit-learn's ``SVC``: :math:`\sigma^2=\frac d2\mathrm{Var}(X)`.

        The variance is that of all numbers in X, whatever their feature: features should be on one scale and about one
        mean, standardised for instance. Where all numbers are equal gamma is 1, as there. This is what
        ``kernel="rbf"`` means.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Training samples.

        Examples
        --------
        >>> from paretoclf import RBF
        >>> RBF.scale([[-1.0, 2.0], [1.0, -2.0]])
        RBF(bandwidth=1.58...)
        """
        samples = check_samples(X)
        require_scale(samples)
        count, features = samples.shape
        size = count * features
        stored = samples.data if sp.issparse(samples) else samples
        mean = float(stored.sum()) / size
        of_stored = float(np.sum((stored - mean) ** 2))
        of_zeros = (size - stored.size) * mean**2
        variance = (of_stored + of_zeros) / size
        return cls(float(np.sqrt(0.5 * features * variance or 0.5)))

    @classmethod
    def median(cls, X: Any) -> RBF:
        """RBF whose bandwidth is the median distance between two distinct samples (the median heuristic)."""
        return cls(median_bandwidth(X))


@dataclass(frozen=True)
class Polynomial:
    """Polynomial kernel ``(scale * <x, z> + offset) ** degree`` (scale > 0, offset >= 0, whole degree >= 1)."""

    degree: int = 3
    scale: float = 1.0
    offset: float = 1.0
    psd = True

    def __post_init__(self) -> None:
        if int(self.degree) != self.degree or self.degree < 1:
            raise InputError(f"degree must be a whole number >= 1, got {self.degree!r}")
        check_positive_number(self.scale, "scale")
        check_nonnegative_number(self.offset, "offset")

    def __call__(self, X: Samples, Z: Samples) -> Array:
        """Kernel values of shape (rows of X, rows of Z)."""
        values = dot(X, Z)
        values *= self.scale
        values += self.offset
        power = values.copy()
        for bit in f"{int(self.degree):b}"[1:]:  # products are the same on every processor, powers are not
            power *= power
            if bit == "1":
                power *= values
        return power

    def rounding(self, X: Samples, diagonal: Array) -> Array:
        """Bounds on rounding, as of `Kernel.rounding`.

        A product of d terms is off by d u times their absolute sum, u half a unit in the last place; a power p times
        so. By Cauchy and Schwarz that sum is no more than the root of the two values on the diagonal. With whole
        numbers that fit a double nothing is rounded.
        """
        given = [X.data if sp.issparse(X) else X, self.scale, self.offset]
        if all((np.mod(x, 1.0) == 0.0).all() for x in given) and diagonal.max() < _WHOLE:
            return np.zeros_like(diagonal)
        units = self.degree * (_terms(X) + 3) + 4
        return np.asarray(np.sqrt(1.01 * _UNIT * units * diagonal))


@dataclass(frozen=True)
class Named(_OfData):
    """A kernel of ``sklearn.metrics.pairwise.pairwise_kernels`` with that function's default parameters."""

    name: str
    psd = False

    def __call__(self, X: Samples, Z: Samples) -> Array:
        """Kernel values of shape (rows of X, rows of Z)."""
        from sklearn.metrics.pairwise import pairwise_kernels  # here, since it takes half a second to import

        try:
            return np.asarray(pairwise_kernels(X, Z, metric=self.name), dtype=np.float64)
        except TypeError as error:
            if not (sp.issparse(X) or sp.issparse(Z)):
                raise
            raise InputError(f"kernel {self.name!r} must be given dense samples, got sparse ones ({error})") from None


@dataclass(frozen=True)
class Precomputed(_OfData):
    """The "samples" are rows of kernel values against the training samples already."""

    psd = False

    def __call__(self, X: Samples, Z: Samples) -> Array:
        """Kernel values of shape (rows of X, rows of Z)."""
        return np.asarray(X)


@dataclass(frozen=True)
class Function(_OfData):
    """Any callable ``f(X, Z)`` that returns the array of kernel values; sparse samples reach it as CSR arrays."""

    function: Callable[[Samples, Samples], Any]
    psd = False

    def __call__(self, X: Samples, Z: Samples) -> Array:
        """Kernel values of shape (rows of X, rows of Z)."""
        values = np.asarray(self.function(X, Z), dtype=np.float64)
        wanted = rows, columns = X.shape[0], Z.shape[0]
        if values.shape != wanted:
            raise InputError(
                f"kernel must return an array of shape {wanted} for X of {rows} and Z of {columns} rows, got shape "
                f"{values.shape}"
            )
        return values


_UNIT = 0.5 * float(np.finfo(float).eps)
_WHOLE = 2.0**53  # whole numbers below it are doubles


def _terms(X: Samples) -> int:
    """Largest number of terms of a product of two samples."""
    if sp.issparse(X):
        return int(np.diff(X.indptr).max())
    return int(X.shape[1])


def as_kernel(kernel: Any, X: Samples = None) -> Kernel:
    """Make a kernel from a name, a callable or a kernel object.

    Parameters
    ----------
    kernel : None, str, callable or kernel object
        None or ``"linear"``; ``"precomputed"``; ``"rbf"``, which is ``RBF.scale(X)``; ``"poly"``, which is
        ``Polynomial(3, scale=1 / d)``; the name of another function of ``sklearn.metrics.pairwise``, with its default
        parameters; a callable ``f(X, Z)``; or one of the kernels of this module.
    X : array or scipy.sparse.csr_array of shape (n, d), optional
        The training samples, checked: for the kernels whose parameters depend on them.

    Raises
    ------
    InputError
        If it is none of these.
    """
    if kernel is None:
        return Linear()
    if isinstance(kernel, Linear | RBF | Polynomial | Named | Precomputed | Function):
        return kernel
    if isinstance(kernel, str):
        if kernel in _NAMES:
            return _NAMES[kernel]()
        if kernel in ("rbf", "poly", "polynomial"):
            if X is None:
                raise InputError(
                    f"kernel {kernel!r} depends on the samples: give RBF(bandwidth) or Polynomial(...) here"
                )
            return RBF.scale(X) if kernel == "rbf" else Polynomial(scale=1.0 / X.shape[1])
        from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

        if kernel in PAIRWISE_KERNEL_FUNCTIONS:
            return Named(kernel)
        names = ", ".join(sorted(PAIRWISE_KERNEL_FUNCTIONS))
        raise InputError(f"kernel must be 'precomputed' or one of {names}, got {kernel!r}")
    if isinstance(kernel, type):
        raise InputError(f"kernel must be an instance such as {kernel.__name__}(...), got the class itself")
    if callable(kernel):
        return Function(kernel)
    raise InputError(f"kernel must be None, a name, a callable or a kernel object, got {kernel!r}")


_NAMES: dict[str, Callable[[], Kernel]] = {"linear": Linear, "precomputed": Precomputed}


def median_bandwidth(X: Any) -> float:
    """Median Euclidean distance between two distinct samples.

    Raises
    ------
    InputError
        If all samples are the same point.
    """
    A = check_samples(X)
    n = A.shape[0]
    require_memory(
        8 * n**2,
        f"X has {n} samples: the median over all pairs",
        "take it over some of them, such as RBF.median(X[::10])",
    )
    unit = float(largest(A).max()) or 1.0
    distances = np.empty(n * (n - 1) // 2)
    filled = 0
    for first in range(0, n, BLOCK_ROWS):
        block = squared_distances(A[first : first + BLOCK_ROWS], A[: first + BLOCK_ROWS], unit)
        pairs = block[np.tril(np.ones(block.shape, dtype=bool), k=first - 1)]  # each with the samples before it
        distances[filled : filled + pairs.size] = np.sqrt(pairs)
        filled += pairs.size
    positive = distances[distances > 0]
    if positive.size == 0:
        raise InputError("X must hold at least two different samples for the median bandwidth")
    return unit * float(np.median(positive, overwrite_input=True))


def kernel_spec(kernel: Kernel) -> dict[str, Any]:
    """Describe a kernel by its name and parameters, for files."""
    if isinstance(kernel, Function):
        return {"kernel": "Function"}
    return {"kernel": type(kernel).__name__, **asdict(kernel)}  # type: ignore[call-overload]


def kernel_from_spec(spec: dict[str, Any], function: Any = None) -> Kernel:
    """Invert `kernel_spec`; a user's own function cannot be stored and must be given again."""
    known: dict[str, Any] = {c.__name__: c for c in (Linear, RBF, Polynomial, Named, Precomputed)}
    match spec:
        case {"kernel": "Function"}:
            if function is None:
                raise InputError("kernel must be given: the file was saved with a user's own kernel function")
            return as_kernel(function)
        case {"kernel": str(name), **parameters} if name in known:
            try:
                kernel: Kernel = known[name](**parameters)
            except TypeError as error:
                raise InputError(f"kernel {name} must have its own parameters, got {parameters} ({error})") from None
            return as_kernel(kernel.name) if isinstance(kernel, Named) else kernel
    raise InputError(f"kernel must be one of {', '.join(known)} with its parameters, or Function, got {spec!r}")
