r"""Mean and covariance of a class from its samples, with a ridge or shrunk.

.. math:: \hat\Sigma=(1-s)\,S+(s\,\tfrac{\mathrm{tr}S}d+\delta)\,I,\qquad S=\frac1n\sum(x_i-\hat\mu)(x_i-\hat\mu)^\top.

With the ridge :math:`\delta` alone this is Kim et al. (2006), section 6.1. The shrinkage s is a number, or one of two
estimates that need no tuning: Ledoit & Wolf (2004) for any distribution, OAS (Chen et al. 2010) for Gaussian ones. The
target is a multiple of the identity, so features should be on one scale.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from paretoclf.common.checks import Array, real_array
from paretoclf.common.errors import InputError, SmallSampleWarning
from paretoclf.common.tolerances import COVARIANCE_RANK

Shrinkage = float | Literal["ledoit-wolf", "oas"]
_NAMES: dict[str, Shrinkage] = {"ledoit-wolf": "ledoit-wolf", "oas": "oas"}


@dataclass(frozen=True, eq=False)
class Estimate:
    """Moments of one class: a root R with R'R = ``kept`` S + ``ridge`` I.

    Attributes
    ----------
    mean : array of shape (d,)
        Sample mean.
    root : array of shape (d, d)
        Upper triangular root of the estimated covariance.
    kept : float
        Weight 1 - s of the sample covariance.
    ridge : float
        Number added to its diagonal.
    """

    mean: Array = field(repr=False)
    root: Array = field(repr=False)
    kept: float
    ridge: float


def estimates(
    A: Array, y: Array, reg: tuple[float, float], shrinkage: tuple[Shrinkage, Shrinkage]
) -> tuple[Estimate, Estimate]:
    """Moments of the positives and of the negatives; InputError where a covariance is singular."""
    plus = _estimate(A[y == 1], reg[0], shrinkage[0], "positives")
    minus = _estimate(A[y == -1], reg[1], shrinkage[1], "negatives")
    return plus, minus


def _estimate(samples: Array, delta: float, rule: Shrinkage, name: str) -> Estimate:
    """Moments of one class; InputError where its covariance is singular."""
    n, d = samples.shape
    mean = samples.mean(axis=0)
    centred = (samples - mean) / np.sqrt(n)
    share = _share(rule, samples)
    ridge = share * float(np.sum(centred**2)) / d + delta
    # Stacked, the rows have the second moments (1 - s) S + ridge I: nothing is squared and square-rooted later.
    kept = np.sqrt(1 - share) * centred
    added = np.sqrt(ridge) * np.eye(d)
    root = np.asarray(np.linalg.qr(np.vstack([kept, added]), mode="r"))
    require_full_rank(root, f"the covariance of the {name} ({n} samples, {d} features)")
    return Estimate(mean, root, 1.0 - share, ridge)


def warn_of_small_samples(A: Array, y: Array) -> None:
    """SmallSampleWarning for each class whose sample covariance is singular, on the features that vary at all."""
    A = A[:, np.ptp(A, axis=0) > 0]
    for sign, name in ((1, "positives"), (-1, "negatives")):
        some = A[y == sign]
        rank = _rank(some - some.mean(axis=0))
        if rank < A.shape[1]:
            warnings.warn(
                f"the covariance of the {name} ({len(some)} samples, {A.shape[1]} features that vary) has rank {rank}: "
                f"in what is left of the space it is regularisation alone, and rates that follow "
                "from it are not those of new samples (empirical_tradeoff counts these)",
                SmallSampleWarning,
                stacklevel=3,
            )


def check_reg(reg: Any) -> tuple[float, float]:
    """Return the ridges of the positives and of the negatives, nonnegative and finite."""
    try:
        pair = np.broadcast_to(real_array(reg, "reg"), (2,))
    except (TypeError, ValueError):
        raise InputError(f"reg must be a nonnegative number, or a pair (positives, negatives), got {reg!r}") from None
    if not (np.isfinite(pair).all() and (pair >= 0).all()):
        raise InputError(f"reg must be nonnegative and finite, got {reg!r}")
    return float(pair[0]), float(pair[1])


def check_shrinkage(shrinkage: Any) -> tuple[Shrinkage, Shrinkage]:
    """Return the shrinkage of the positives and of the negatives: numbers in [0, 1], or names of estimates."""
    pair = shrinkage if isinstance(shrinkage, tuple | list) and len(shrinkage) == 2 else (shrinkage, shrinkage)
    first, second = (_checked(each) for each in pair)
    if first is None or second is None:
        raise InputError(
            f'shrinkage must be a number in [0, 1], "ledoit-wolf", "oas", or a pair (positives, negatives), '
            f"got {shrinkage!r}"
        )
    return first, second


def _checked(each: Any) -> Shrinkage | None:
    """Return the shrinkage of one class, or None where it is no such thing."""
    if isinstance(each, str):
        return _NAMES.get(each)
    if isinstance(each, bool) or not isinstance(each, float | int | np.floating | np.integer):
        return None
    return float(each) if 0 <= each <= 1 else None


def require_full_rank(root: Array, what: str) -> None:
    """InputError where a covariance is singular, judged in features of variance 1."""
    scale = np.linalg.norm(root, axis=0)
    if not (scale > 0).all() or np.linalg.svd(root / scale, compute_uv=False)[-1] ** 2 <= COVARIANCE_RANK * len(root):
        raise InputError(
            f"reg must be positive: {what} is singular, with smallest eigenvalue "
            f"{np.linalg.svd(root, compute_uv=False)[-1] ** 2:.3g} at the reg given"
        )


def _share(rule: Shrinkage, samples: Array) -> float:
    """Weight s of the multiple of the identity: the number given, or estimated from the samples of the class."""
    if not isinstance(rule, str):
        return float(rule)
    from sklearn.covariance import ledoit_wolf_shrinkage, oas  # here, since it takes half a second to import

    if len(samples) < 2:
        return 1.0
    return float(ledoit_wolf_shrinkage(samples) if rule == "ledoit-wolf" else oas(samples)[1])


def _rank(centred: Array) -> int:
    """Rank of centred samples, in features of variance 1."""
    scale = np.linalg.norm(centred, axis=0)
    varying = scale > 0
    scaled = centred[:, varying] / scale[varying]
    if scaled.size == 0:
        return 0
    values = np.linalg.svd(scaled, compute_uv=False) ** 2
    return int((values > COVARIANCE_RANK * max(scaled.shape)).sum())
