"""Input checks. Each raises InputError with the argument, what was given and what is allowed; nothing is fixed."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import GRAM_SYMMETRY, KERNEL_ROUNDING, LARGEST_COST

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
State = npt.NDArray[np.int8]
Mask = npt.NDArray[np.bool_]

#: A seed, or what draws: equal seeds give equal numbers.
Rng = int | np.random.Generator

_ROWS = 256  # of a matrix that are compared with its columns at a time


def real_array(values: Any, name: str, *, copy: bool = False) -> Array:
    """Return numbers as a float64 array of any shape; with ``copy``, in memory of its own.

    What an object keeps must be a copy: its caller may write to the original later.
    """
    if np.ma.is_masked(values):
        raise InputError(f"{name} must have no masked entries, got {int(np.ma.getmaskarray(values).sum())}")
    try:
        A = np.asarray(values)
        if A.dtype.kind in "biufO":
            return np.array(A, dtype=np.float64, order="C", copy=copy or None)  # None: only where it must
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numeric and real, got {_not_numeric(values)}") from None
    raise InputError(f"{name} must be numeric and real, got {A.dtype}")


def _not_numeric(values: Any) -> str:
    """Name what is not numeric: of a DataFrame its first such column."""
    for column in values.columns if hasattr(values, "iloc") and hasattr(values, "columns") else ():
        cells = np.asarray(values[column])
        try:
            if cells.dtype.kind in "mM":
                raise TypeError("dates, which NumPy makes numbers of")
            cells.astype(np.float64)
        except (TypeError, ValueError):
            return (
                f"a DataFrame whose column {str(column)!r} has {cells[0]!r:.40}: leave it out, or make numbers of it "
                "(Dataset.from_frame does, with one_hot=; of texts OneHotEncoder in a Pipeline)"
            )
    return type(values).__name__


def number_from_text(text: str) -> float:
    """Return the number that a text holds; ValueError for what is none, and for digits in groups, as in 1_000."""
    if "_" in text:
        raise ValueError(f"could not convert string to float: {text!r}")
    return float(text)


def real_number(value: Any) -> float:
    """Return a float; TypeError or ValueError for what is no real number, and for the text of one."""
    if isinstance(value, str | bytes):
        raise TypeError("a text")
    if not isinstance(value, float | int) and np.iscomplexobj(value):  # of NumPy: `float` would drop a part
        raise TypeError("a complex number")
    return float(value)


def keep(owner: Any, *names: str) -> None:
    """Replace arrays that a frozen dataclass was given by copies: the caller may write to the originals later."""
    for name in names:
        given = getattr(owner, name)
        if given is not None:
            object.__setattr__(owner, name, given.copy() if hasattr(given, "toarray") else np.array(given))


def check_matrix(X: Any, name: str = "X", *, n_features: int | None = None, copy: bool = False) -> Array:
    """Return X as a float64 array of shape (n, d), with ``copy`` in memory of its own, or refuse it with the reason."""
    if hasattr(X, "toarray"):
        raise InputError(f"{name} must be a dense array, got a sparse matrix of shape {X.shape}")
    A = real_array(X, name, copy=copy)
    check_features(A.shape, name, n_features)
    finite = np.isfinite(A)
    if not finite.all():
        i, j = np.argwhere(~finite)[0]
        raise InputError(f"{name} must be finite, got {A[i, j]} at row {i}, column {j}")
    return A


def check_symmetric(K: Array, name: str, most: float, remedy: str = "") -> None:
    """Refuse a square matrix with entries that differ by more than rounding from their mirror images."""
    for first in range(0, K.shape[0], _ROWS):
        rows = slice(first, first + _ROWS)
        skew = np.abs(K[rows] - K[:, rows].T)
        if skew.max() > most:
            row, j = np.unravel_index(np.argmax(skew), skew.shape)
            i = first + row
            got = f"{K[i, j]} at ({i}, {j}) and {K[j, i]} at ({j}, {i})"
            raise InputError(f"{name} must be symmetric, got {got}{remedy}")


def check_semidefinite(K: Array, name: str) -> None:
    """Refuse a square matrix that is not symmetric, or not positive semidefinite, beyond rounding.

    One Cholesky factorisation, n**3 / 3 multiplications; a matrix that fails it costs its eigenvalues, too.
    """
    scale = max(float(K.max()), -float(K.min()))
    check_symmetric(K, name, GRAM_SYMMETRY * scale)
    shift = KERNEL_ROUNDING * K.shape[0] * scale
    if shift == 0.0:
        return
    shifted = K.copy()
    shifted.flat[:: K.shape[0] + 1] += shift
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        smallest = float(np.linalg.eigvalsh(K)[0])
        if smallest < -shift:
            raise InputError(
                f"{name} must be positive semidefinite, got smallest eigenvalue {smallest:.3g}: weak duality needs it, "
                "and without it nothing is proved"
            ) from None


def check_features(shape: tuple[int, ...], name: str, n_features: int | None) -> None:
    """Refuse a wrong shape of a matrix of samples."""
    if len(shape) != 2:
        raise InputError(f"{name} must have shape (n_samples, n_features), got shape {shape}")
    if 0 in shape:
        raise InputError(f"{name} must have at least one row and one column, got shape {shape}")
    if n_features is not None and shape[1] != n_features:
        raise InputError(f"{name} must have {n_features} columns as in training, got {shape[1]}")


def refuse_other_order(X: Any, y: Any, name: str = "y") -> None:
    """Refuse frames of samples and labels with one index in different orders: places count, not names.

    Examples
    --------
    Anything without an index is as it is:

    >>> from paretoclf.common.checks import refuse_other_order
    >>> refuse_other_order([[0.0], [1.0]], [-1, 1])
    """
    of_samples: Any = getattr(X, "index", None)
    of_labels: Any = getattr(y, "index", None)
    if not (hasattr(of_samples, "equals") and hasattr(of_labels, "equals")):
        return
    if len(of_samples) != len(of_labels) or of_samples.equals(of_labels):
        return
    pairs = list(zip(of_samples, of_labels, strict=True))
    places = [i for i, (sample, label) in enumerate(pairs) if sample != label]
    if places and Counter(of_samples) == Counter(of_labels):
        sample, label = pairs[places[0]]
        raise InputError(
            f"{name} must have its index in the order of the samples', got {label!r} beside {sample!r} at place "
            f"{places[0]}: take {name}.loc[X.index], or {name}.to_numpy() if places are what counts"
        )


def check_labels(y: Any, n: int | None = None, name: str = "y", *, of: Any = None) -> Array:
    """Return y as a float64 vector of -1 and +1 with both classes present; ``of`` are the samples as given."""
    refuse_other_order(of, y, name)
    v = np.asarray(y)
    if v.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, got shape {v.shape}")
    if n is not None and v.size != n:
        raise InputError(f"{name} must have one label per sample ({n}), got {v.size}")
    numeric = v.dtype.kind in "iuf"
    if numeric:
        positive = v == 1
        if (positive | (v == -1)).all() and 0 < np.count_nonzero(positive) < v.size:
            return v.astype(np.float64)
    values = np.unique(v)
    if not (numeric and np.isin(values, (-1, 1)).all()):
        shown = ", ".join(repr(u) for u in values[:5].tolist())  # '1' is no 1
        raise InputError(
            f"{name} must contain only the labels -1 and +1, got {{{shown}{', ...' if len(values) > 5 else ''}}}; "
            f"use for example numpy.where({name} == positive, 1, -1)"
        )
    raise InputError(f"{name} must contain both classes, got only {{{', '.join(f'{int(u):+d}' for u in values)}}}")


def check_weights(weights: Any, y: Array, name: str = "sample_weight") -> Array:
    """Return nonnegative finite weights of samples with labels y, some positive in each class; None means all ones."""
    if weights is None:
        return np.ones(y.size)
    v = real_array(weights, name, copy=True)
    if v.shape != y.shape:
        raise InputError(f"{name} must have shape ({y.size},), got {v.shape}")
    _refuse_any(~(np.isfinite(v) & (v >= 0)), v, name, "nonnegative and finite")
    for side, label in ((y > 0, "+1"), (y < 0, "-1")):
        if not (v[side] > 0).any():
            raise InputError(f"{name} must be positive for some samples of each class, got only 0 for label {label}")
    return v


def refuse_weights_of_0(weights: Array, where: str) -> None:
    """Refuse samples of weight 0, which count nothing, where they would count all the same."""
    if nothing := int(np.count_nonzero(weights == 0.0)):
        raise InputError(f"sample_weight must be positive {where}: leave out the {nothing} samples of weight 0")


def check_vector(values: Any, n: int, name: str) -> Array:
    """Return a finite float64 vector of length n."""
    v = real_array(values, name)
    if v.shape != (n,):
        raise InputError(f"{name} must have shape ({n},), got {v.shape}")
    _refuse_any(~np.isfinite(v), v, name, "finite")
    return v


def check_nonnegative(values: Any, n: int, name: str) -> Array:
    """Return a finite, nonnegative float64 vector of length n."""
    v = check_vector(values, n, name)
    _refuse_any(v < 0, v, name, "nonnegative")
    return v


def _refuse_any(wrong: Mask, values: Array, name: str, must: str) -> None:
    """Refuse a vector with wrong entries; the message has the first of them."""
    if wrong.any():
        i = int(np.argmax(wrong))
        raise InputError(f"{name} must be {must}, got {values[i]} at index {i}")


def require_scale_of_costs(largest: float, name: str, limit: float = LARGEST_COST) -> None:
    """Refuse costs whose squares would be infinite."""
    if largest > limit:
        raise InputError(f"{name} must be at most {limit:g}, got {largest:.3g}; use other units")


def check_number(value: Any, name: str, kind: str = "number") -> float:
    """Return a float; `kind` is for the message."""
    try:
        return real_number(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a {kind}, got {value!r}") from None


def check_pair(
    value: Any, name: str, form: str = "(lo, hi)", *, default: tuple[float | None, float | None] = (None, None)
) -> tuple[float, float]:
    """Return two numbers; for None in place of either its default, if there is one."""
    try:
        first, second = value
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a pair {form}, got {value!r}") from None
    given = [other if number is None else number for number, other in zip((first, second), default, strict=True)]
    return check_number(given[0], name), check_number(given[1], name)


def check_positive_number(value: Any, name: str) -> float:
    """Return a finite positive float."""
    number = check_number(value, name, "positive number")
    if not 0.0 < number < math.inf:
        raise InputError(f"{name} must be a finite positive number, got {value!r}")
    return number


def check_nonnegative_number(value: Any, name: str) -> float:
    """Return a finite float, 0 or more."""
    number = check_number(value, name, "nonnegative number")
    if not 0.0 <= number < math.inf:
        raise InputError(f"{name} must be a finite nonnegative number, got {value!r}")
    return number


def check_bool(value: Any, name: str) -> bool:
    """Return a truth value; a number is refused."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_share(value: Any, name: str) -> float:
    """Return a float strictly between 0 and 1."""
    share = check_one(value, name)
    if not 0 < share < 1:
        raise InputError(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return share


def check_inside(value: Any, name: str, low: float = 0.0, high: float = 1.0) -> float:
    """Return a float of a closed interval."""
    number = check_one(value, name)
    if not low <= number <= high:
        raise InputError(f"{name} must lie in [{low:g}, {high:g}], got {value!r}")
    return number


def is_whole(value: Any) -> bool:
    """Whether something is a whole number; a truth value is none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_count(value: Any, name: str, least: int) -> int:
    """Return a whole number that is large enough."""
    if not is_whole(value) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def check_rng(rng: Any, name: str = "rng") -> np.random.Generator:
    """Return a generator of random numbers: the one given, or a new one from a seed."""
    if isinstance(rng, np.random.Generator):
        return rng
    if not is_whole(rng) or rng < 0:
        raise InputError(f"{name} must be a seed (a whole number >= 0) or a numpy.random.Generator, got {rng!r}")
    return np.random.default_rng(int(rng))


def check_seed(rng: Any, name: str = "rng") -> int:
    """Return a seed for scikit-learn, which knows no generators: the one given, or one drawn from the generator."""
    made = check_rng(rng, name)
    return int(made.integers(2**31)) if made is rng else int(rng)


def check_one(value: Any, name: str) -> float:
    """Return a float; an array is refused in one line."""
    if isinstance(value, float):  # nearly always, and paths ask a thousand times
        return float(value)
    if np.ndim(value):
        raise InputError(f"{name} must be one number, got {np.size(value)} of them: take one at a time")
    return check_number(value, name)


def the_one_given(**arguments: Any) -> tuple[str, Any]:
    """Name and value of the one argument that is not None; InputError unless there is exactly one."""
    given = [name for name, value in arguments.items() if value is not None]
    if len(given) != 1:
        *others, last = arguments
        allowed = f"{', '.join(others)} and {last}"
        raise InputError(f"exactly one of {allowed} must be given, got {', '.join(given) or 'none'}")
    return given[0], arguments[given[0]]


def what_it_is(given: Any) -> str:
    """Describe an argument that is no object of ours in a few words: a class, an array with its shape, or a type.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.common.checks import what_it_is
    >>> what_it_is(np.ones((3, 2))), what_it_is(dict), what_it_is(3)
    ('an array of shape (3, 2)', 'the class dict: make one first, dict(...)', 'int')
    """
    if isinstance(given, type):
        return f"the class {given.__name__}: make one first, {given.__name__}(...)"
    return f"an array of shape {given.shape}" if isinstance(given, np.ndarray) else type(given).__name__


def check_increasing(given: Any, name: str, top: float = np.inf) -> Array:
    """Return an array of increasing positive numbers, none above top."""
    values = np.atleast_1d(real_array(given, name, copy=True))
    where = "positive and finite" if top == np.inf else f"within (0, {top:g}]"
    if values.ndim != 1 or values.size == 0:
        raise InputError(f"{name} must be one or more numbers, got {given!r}")
    if not (np.isfinite(values) & (values > 0) & (values <= top)).all():
        raise InputError(f"{name} must be {where}, got {given!r}")
    if (np.diff(values) <= 0).any():
        raise InputError(f"{name} must be increasing, got {given!r}")
    return values


def check_positions(given: Any, name: str, n: int) -> Index:
    """Positions of samples, of n: one or several whole numbers from 0 to n - 1, or a mask; None stands for all."""
    if given is None:
        return np.arange(n)
    if np.asarray(given).dtype == np.bool_:  # as numbers True would be the sample at position 1
        if np.shape(given) != (n,):
            raise InputError(f"{name} must be a mask of {n} samples or their positions, got {given!r:.100}")
        return np.flatnonzero(given)
    values = check_vector(np.atleast_1d(given), np.size(given), name)
    which = values.astype(np.int64)
    if not (np.array_equal(which, values) and np.all((which >= 0) & (which < n))):
        raise InputError(f"{name} must be whole numbers from 0 to {n - 1}, got {given!r}")
    return which
