r"""The biobjective margin problem without a solver: the hard margin at the end of a path of costs.

Its solutions at every theta follow from that at theta = 1, where it is the hard-margin SVM; with squared slacks, that
of the kernel :math:`k+\mathrm{diag}(1/C)`. Where a hyperplane separates the classes, the balanced ray of the 2C-SVM
reaches it: from some cost on no multiplier is at its cap, and nothing moves any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from paretoclf.checks import Array, Index, check_pair
from paretoclf.costs import Costs
from paretoclf.errors import DegeneratePathError, InputError
from paretoclf.gram import Gram
from paretoclf.path.lines import trace_costs
from paretoclf.path.margin_path import MarginPath
from paretoclf.path.pieces import Pieces, prove
from paretoclf.path.result import Path
from paretoclf.path.sets import LEFT, MARGIN, RIGHT
from paretoclf.touching import by_the_nearest

_FURTHER = 16.0  # the ray is followed so much further each time that a multiplier is still at its cap
_TIMES = 30
_EXTREME = 1e12  # the largest ratio of two margins, either way: beyond it b is at its limit up to rounding


class MarginProblem(Protocol):
    """What is needed of a formulation: samples, labels, whether it is soft, and its own check of parameters."""

    @property
    def gram(self) -> Gram:
        """Kernel values."""
        ...

    @property
    def y(self) -> Array:
        """Labels."""
        ...

    @property
    def soft(self) -> bool:
        """Whether margins may be missed."""
        ...

    @property
    def nearest(self) -> Index | None:
        """Of a hard problem whose classes nearly touch, the samples where they do."""
        ...

    def check_values(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Parameters as floats; raises where the classes must be separable and are not."""
        ...


@dataclass(frozen=True)
class _Problem:
    """A 2C-SVM."""

    gram: Gram
    y: Array
    sample_weight: Array


def trace_margins(
    svm: MarginProblem,
    theta: Any,
    C_plus: Any = None,
    C_minus: Any = None,
    *,
    engine: str | None = None,
    certify: bool = True,
    max_events: int | None = None,
    progress: bool | None = None,
) -> MarginPath:
    """Solve the biobjective margin problem at every theta of an interval, exactly.

    Parameters
    ----------
    svm : BiobjectiveMargin
        The problem; only its samples, labels and kernel are used, no solver but a linear program that decides whether
        the classes of a hard problem can be separated.
    theta : pair (lo, hi)
        Ratios of the margin of the positives to that of the negatives, between 1e-12 and 1e12.
    C_plus, C_minus : float
        Costs of the squared slacks, in the soft problem.
    engine, certify, max_events, progress
        As for `paretoclf.path.tracing.trace`.

    Returns
    -------
    MarginPath

    Raises
    ------
    InputError
        If theta is no such interval, or a cost is not positive.
    InseparableError
        If the problem is hard and no hyperplane separates the classes.
    DegeneratePathError
        If the way to the margin cannot be followed, or a certificate fails. No doubtful path is returned.

    References
    ----------
    Carrizosa & Martin-Barragan (2006), Theorem 5, Corollary 6, Theorem 7.

    Examples
    --------
    >>> from paretoclf.formulations.biobjective_margin import BiobjectiveMargin
    >>> from paretoclf.path.margins import trace_margins
    >>> path = trace_margins(BiobjectiveMargin([[2.0], [-1.0]], [1, -1], soft=False), theta=(0.25, 4))
    >>> path.worst_certificate.passes(1e-12), [round(path.intercept(s), 9) for s in path.breakpoints]
    (True, [-0.933333333, 0.266666667])
    """
    lo, hi = _interval(theta)
    costs = {"C_plus": C_plus, "C_minus": C_minus} if svm.soft else {}
    values = svm.check_values({"theta": lo, **costs})
    slack_costs = Costs(values["C_plus"], values["C_minus"]) if svm.soft else None
    began = time.perf_counter()

    def solve(gram: Gram, y: Array) -> Path:
        return _hard_margin(gram, y, engine, max_events, progress)

    found = _by_the_nearest(svm, solve)
    if found is None:
        ray = solve(_augmented(svm, slack_costs), svm.y)
        state, margin = ray.basis(1.0)
        alpha, b, w = ray.alpha(1.0), ray._intercept(1.0), _slope(svm.gram, ray)
    else:
        (alpha, b), w = found, None
        margin, state = np.flatnonzero(alpha), np.where(alpha > 0, MARGIN, RIGHT).astype(np.int8)
    weighed = 2.0 * alpha[margin]  # the objective is |w|^2, not half of it
    ends, value = np.array([lo / (1 + lo), hi / (1 + hi)]), 0.5 * float(weighed.sum())
    pieces = Pieces(
        t=ends, ptr=np.array([0, margin.size]), index=margin, a0=weighed, a1=weighed,
        b0=b + 2 * ends[:1] - 1, b1=b + 2 * ends[1:] - 1, value=np.array([[value, value, 0.0]]), w=w,
        state=state, changes=np.zeros((3, 0), dtype=np.int64),
    )  # fmt: skip
    path = MarginPath(svm.gram, svm.y, slack_costs, pieces, time.perf_counter() - began)
    if certify:
        prove(path)
    return path


def _interval(theta: Any) -> tuple[float, float]:
    lo, hi = check_pair(theta, "theta")
    if not (1 / _EXTREME <= lo < hi <= _EXTREME and lo / (1 + lo) < hi / (1 + hi)):
        raise InputError(
            f"theta must be a pair (lo, hi) with {1 / _EXTREME:g} <= lo < hi <= {_EXTREME:g}, got ({lo!r}, {hi!r})"
        )
    return lo, hi


def _by_the_nearest(svm: MarginProblem, solve: Callable[[Gram, Array], Path]) -> tuple[Array, float] | None:
    """Multipliers and intercept of a hard problem whose classes nearly touch; None for others."""

    def few(Z: Array, y: Array) -> tuple[Array, float]:
        ray = solve(Gram(Z), y)
        return ray.alpha(1.0), ray.intercept(1.0)

    nearest = svm.nearest
    return None if nearest is None else by_the_nearest(svm.gram, svm.y, nearest, few)


def _augmented(svm: MarginProblem, slack_costs: Costs | None) -> Gram:
    """The kernel for which the problem is the hard one: one more feature for each sample, of length 1 / sqrt(C)."""
    if slack_costs is None:
        return svm.gram
    square = 1.0 / np.where(svm.y > 0, slack_costs.C_plus, slack_costs.C_minus)
    features = svm.gram.features
    if features is None:
        return Gram(svm.gram.matrix + np.diag(square), "precomputed")
    return Gram(sp.hstack([sp.csr_array(features), sp.diags_array(np.sqrt(square))], format="csr"))


def _slope(gram: Gram, ray: Path) -> Array | None:
    """The slope at both ends of the one piece, as sharp as the tracker has it; None where it does not keep it."""
    w = ray.pieces.w
    return None if w is None or gram.features is None else np.repeat(w[-1:, : gram.features.shape[1]], 2, axis=0)


def _hard_margin(gram: Gram, y: Array, engine: str | None, max_events: int | None, progress: bool | None) -> Path:
    """The balanced ray up to where no multiplier is at its cap."""
    svm, plus, minus = _Problem(gram, y, np.ones(y.size)), int((y > 0).sum()), int((y < 0).sum())
    means = y / np.where(y > 0, plus, minus)
    apart = float(means @ gram.matvec(means))  # squared distance of the class means, at least that of the hulls
    total = _FURTHER * 2.0 / max(apart, np.finfo(float).tiny)  # sum of a class's multipliers at the margin: 2 / dist^2
    for _ in range(_TIMES):
        stop = total / plus, total / minus
        ray = trace_costs(svm, (0.0, 0.0), stop, engine=engine, certify=False, max_events=max_events, progress=progress)
        if (ray.sets(1.0) != LEFT).all():
            return ray
        total *= _FURTHER
    raise DegeneratePathError(
        "the classes are too close to each other: some multipliers are still at their cap",
        t=None, costs=f"C_plus={stop[0]:.3g}, C_minus={stop[1]:.3g}", n_margin=int(ray.n_margin[-1]),
        remedy="Standardise the features, or use the soft problem.",
    )  # fmt: skip
