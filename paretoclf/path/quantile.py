r"""The quantile SVM as a parametric box QP in tau, and how to start on it without a solver.

Divided by lam, with multipliers :math:`a=\alpha/\lambda`, the dual is :math:`\min\frac12a^\top Qa-1^\top a` within
:math:`0\le a\le c/\lambda`, without any equation. Near cost zero every multiplier is at its cap, whatever the ratio of
the two costs. So the solution is followed from nothing up to the wanted lam at tau = 1/2 (or at the end of the interval
that is nearest), and from there along tau to both ends of the interval. At tau = 0 and tau = 1 the caps of one class
vanish; there the path is followed in stages, like a line of costs that ends on an axis.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from paretoclf.checks import Array, check_number, check_pair
from paretoclf.errors import InputError
from paretoclf.gram import Gram
from paretoclf.path.build import Leg, assemble
from paretoclf.path.engines import Tracker, make_tracker
from paretoclf.path.forms import FeatureForm, GramForm
from paretoclf.path.legs import Walk, meter, straight
from paretoclf.path.pieces import Pieces, prove
from paretoclf.path.quantile_path import QuantilePath
from paretoclf.path.segments import Log
from paretoclf.path.sets import LEFT


class QuantileProblem(Protocol):
    """What is needed of a formulation: samples, labels, and whether there is a constant feature."""

    @property
    def gram(self) -> Gram:
        """Kernel values, without the constant feature."""
        ...

    @property
    def y(self) -> Array:
        """Labels."""
        ...

    @property
    def bias(self) -> bool:
        """Whether a constant feature 1 is added."""
        ...


def trace_quantile(
    svm: QuantileProblem,
    tau: Any,
    lam: Any,
    *,
    engine: str | None = None,
    certify: bool = True,
    max_events: int | None = None,
    progress: bool | None = None,
) -> QuantilePath:
    """Solve the quantile SVM at every tau of an interval, exactly.

    Parameters
    ----------
    svm : QuantileSVM
        The problem; only its samples, labels and bias are used, no solver.
    tau : pair (lo, hi)
        Interval within [0, 1]; both ends may be reached.
    lam : float
        Weight of the squared norm, positive.
    engine, certify, max_events, progress
        As for `paretoclf.path.tracing.trace`.

    Returns
    -------
    QuantilePath

    Raises
    ------
    InputError
        If tau is no such interval, or lam is not positive.
    DegeneratePathError
        If the path cannot be continued, or fails its certificate. No doubtful path is returned.

    References
    ----------
    Yu et al., section 3 and Algorithm 1, which calls a solver for its start and assumes single events.

    Examples
    --------
    >>> from paretoclf.formulations.quantile_svm import QuantileSVM
    >>> from paretoclf.path.quantile import trace_quantile
    >>> path = trace_quantile(QuantileSVM([[2.0], [-1.0]], [1, -1]), tau=(0, 1), lam=0.25)
    >>> path.worst_certificate.passes(1e-12), [round(float(path.slope(t)[0]), 9) for t in (0, 0.5, 1)]
    (True, [0.5, 1.0, 1.0])
    """
    lo, hi = _interval(tau)
    lam = check_number(lam, "lam")
    if not 0 < lam < np.inf:
        raise InputError(f"lam must be positive and finite, got {lam!r}")
    began = time.perf_counter()
    with meter(progress) as update:
        pieces = _trace(svm, lo, hi, lam, engine, max_events, update)
    path = QuantilePath(svm.gram, svm.y, lam, svm.bias, pieces, time.perf_counter() - began)
    if certify:
        prove(path)
    return path


def _interval(tau: Any) -> tuple[float, float]:
    lo, hi = check_pair(tau, "tau")
    if not 0 <= lo < hi <= 1:
        raise InputError(f"tau must be a pair (lo, hi) with 0 <= lo < hi <= 1, got ({lo!r}, {hi!r})")
    return lo, hi


def _trace(
    svm: QuantileProblem,
    lo: float,
    hi: float,
    lam: float,
    engine: str | None,
    max_events: int | None,
    progress: Callable[[float], Any] | None,
) -> Pieces:
    n, y = svm.y.size, svm.y
    total, bases = 2 / (n * lam), np.stack([y > 0, y < 0]).astype(np.float64)

    def costs(tau: float) -> Array:
        return np.array([(1 - tau) * total, tau * total])

    problem = make_tracker(engine, _quadratic(svm), np.ones(n), np.ones(n), np.full(n, -1, dtype=np.int64), 0)
    inside = np.ones(n, dtype=np.bool_)
    middle = min(max(0.5, lo), hi)
    _go_up(problem, svm, bases, costs(middle), max_events)
    walk = Walk(problem, bases, inside, max_events, None if progress is None else lambda s: progress(s / (hi - lo)))
    here = problem.snapshot()
    problem.record_from_here()
    upwards = walk.legs(costs(middle), costs(hi), 1 - middle, 1 - hi) if middle < hi else []
    log = problem.log
    forward: list[Leg] = [_FromOne(**vars(leg)) for leg in upwards]
    for leg in forward:
        _move_to_doubles(log, leg)
    problem.restore(here)
    problem.record_from_here()
    backward = walk.legs(costs(middle), costs(lo), middle, lo) if lo < middle else []
    pieces = assemble(log, forward, problem.log, backward, None, svm.gram.features is not None)
    return _in_the_papers_scale(pieces, lam, svm.bias)


@dataclass(frozen=True)
class _FromOne(Leg):
    """A leg that was traced in 1 - tau, which has more digits than tau where the cost of the positives vanishes."""

    def t(self, u: Array) -> Array:
        return 1.0 - super().t(u)


def _move_to_doubles(log: Log, leg: Leg) -> None:
    """Move what the log has at the ends of its segments along them, to where tau is a double.

    At a small lam the largest cost times the rounding of tau is visible in the multipliers.
    """
    part, u = slice(leg.first, leg.last), log.t[:, leg.first : leg.last]
    tau = leg.t(u)
    exact = Leg.t(leg, u) - (1.0 - tau)  # tau minus where the solution is known; no rounding, as tau >= 1/2
    length = u[1] - u[0]
    share = np.where(length > 0, exact / ((leg.t_from - leg.t_to) * np.where(length > 0, length, 1.0)), 0.0)
    entries = slice(int(log.ptr[leg.first]), int(log.ptr[leg.last]))
    log.a[:, entries] += np.repeat(share, np.diff(log.ptr[leg.first : leg.last + 1]), axis=1) * (
        log.a[1, entries] - log.a[0, entries]
    )
    if log.w.shape[2]:
        log.w[part] += share.T[:, :, None] * (log.w[part, 1] - log.w[part, 0])[:, None, :]


def _quadratic(svm: QuantileProblem) -> GramForm | FeatureForm:
    X = svm.gram.features
    if X is None:
        return GramForm(svm.gram.matrix + 1.0 if svm.bias else svm.gram.matrix, svm.y)
    if svm.bias:
        ones = np.ones((X.shape[0], 1))
        X = sp.csr_array(sp.hstack([X, ones], format="csr")) if sp.issparse(X) else np.hstack([X, ones])
    return FeatureForm(X, svm.y)


def _go_up(problem: Tracker, svm: QuantileProblem, bases: Array, to: Array, max_events: int | None) -> None:
    """Bring the basis from cost zero, where every multiplier is at its cap, to the costs `to`."""
    coef = svm.y * (to @ bases)
    push = svm.y * (svm.gram.matvec(coef) + (coef.sum() if svm.bias else 0.0))
    problem.start(np.full(svm.y.size, LEFT), [], straight(problem, bases, np.zeros(2), to))
    # At the origin itself everything is zero: look at the solution half way to the first event, or to the end.
    problem.ahead = 0.5 / max(float(push.max()), 1.0)
    problem.record_from_here(keep=False)
    problem.follow(max_events)


def _in_the_papers_scale(pieces: Pieces, lam: float, bias: bool) -> Pieces:
    """Multipliers and value times lam; and the weight of the constant feature, the last of w, as the intercept."""
    w, b0, b1 = pieces.w, np.zeros_like(pieces.b0), np.zeros_like(pieces.b1)
    if bias and w is not None:
        w, b = np.ascontiguousarray(w[:, :-1]), w[:, -1].copy()
        b0, b1 = b[:-1], b[1:]
    return replace(pieces, a0=lam * pieces.a0, a1=lam * pieces.a1, value=lam * pieces.value, w=w, b0=b0, b1=b1)
