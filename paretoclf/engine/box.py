"""Boxes by the engine of any program: lines of caps, and the log of a line that paths are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, State
from paretoclf.common.errors import DegeneratePathError, StoppedError
from paretoclf.common.tolerances import SCORE_ROUNDING
from paretoclf.engine.general import follow
from paretoclf.engine.segments import Line, Log
from paretoclf.engine.sets import LABELS, MARGIN, OUT, sets_of
from paretoclf.problem.operator import Features
from paretoclf.problem.parametric_qp import LOWER, ParametricQP
from paretoclf.problem.piecewise import Piecewise
from paretoclf.problem.samples import dense

_REMEDY = "Use the fast engine, which knows more remedies, or standardise the features."
_MORE = "Raise max_events, or max_seconds, or trace the line in parts."
_CAUSES = {"unbounded": "the kernel matrix is not PSD", "infeasible": "no sample can balance the group"}


class AnyBox:
    """A box that no compiled engine follows: along each of its lines `follow` does, on its own.

    Parameters
    ----------
    problem : ParametricQP
        Its P is a `Signed`. Bounds and right-hand sides are those of the lines.
    engine : str, optional
    max_events : int, optional
        Limit for each line.
    deadline : float, optional
        When to stop, by ``time.monotonic()``.
    """

    path: Piecewise | None = None  #: of the last line
    basis: tuple[State, Index]  #: sets at its end, and the margin set

    def __init__(
        self, problem: ParametricQP, engine: str | None, max_events: int | None = None, deadline: float | None = None
    ) -> None:
        self.problem, self.engine, self.max_events, self.deadline = problem, engine, max_events, deadline
        self.m = problem.A.shape[0]
        self._dense = problem.dense()

    def along(
        self, line: Line, basis: tuple[State, Index] | None = None, progress: Callable[[float], Any] | None = None
    ) -> Log:
        """The log of a line.

        Parameters
        ----------
        line : Line
        basis : pair of arrays, optional
            A guess of the sets at its beginning, and of the margin set.
        progress : callable, optional
            Told by how much of the line each step has advanced.

        Raises
        ------
        DegeneratePathError
            If there are more exchanges than allowed, or a step cannot be taken.
        """
        caps = np.stack([line.caps(0.0), line.caps(1.0)])
        sums = np.stack([line.e0, line.e_end])
        own, linear = self._dense, -self._dense.q[0]
        # In units of the largest cap, lest rounding of a gradient of 1 is more than a small cap.
        unit = float(caps[np.isfinite(caps)].max(initial=0.0)) or 1.0
        scaled_caps, scaled_sums = caps / unit, sums / unit
        scaled = ParametricQP.box(unit * own.P, linear, own.A, scaled_caps, scaled_sums)
        labels = None
        if basis is not None:
            state = np.array(basis[0])
            state[basis[1]] = MARGIN
            labels = np.append(LABELS[state], np.full(self.m, LOWER))
        how: dict[str, Any] = {"engine": self.engine, "deadline": self.deadline, "scaled": True}
        found = follow(scaled, labels, self.max_events, progress or False, **how)
        if found.status == "interrupted":
            raise KeyboardInterrupt
        if found.status == "limit":
            cause = f"more than {found.exchanges} exchanges, or no time is left"
            raise StoppedError(cause, t=float(found.t[-1]), costs="", n_margin=None, remedy=_MORE)
        if found.status != "end":
            cause = _CAUSES[found.status]
            raise DegeneratePathError(cause, t=float(found.t[-1]), costs="", n_margin=None, remedy=_REMEDY)
        problem = ParametricQP.box(self.problem.P, linear, own.A, caps, sums)
        self.path = path = found.path.scaled(problem, np.full(problem.n, unit), np.ones(problem.items))
        log = log_of(path, own.P)
        last = path.labels_at(path.segments - 1)[: self.problem.n]
        state = np.where(caps.any(axis=0), sets_of(last), OUT)
        self.basis = state, np.flatnonzero(state == MARGIN)
        return _until_zero(log, sums) if line.to_zero else log

    def weights(self, t: float) -> Array:
        """Multipliers at t on the last line, shape (n,); before there is one, the caps of the problem."""
        if self.path is None:
            return np.asarray(self.problem.upper[0, : self.problem.n])
        return np.asarray(self.path.at(t)[0])


def log_of(path: Piecewise, P: Array | None = None) -> Log:
    """The log of the path of a box, as paths are made of it; P as an array, where it is known."""
    problem: Any = path.problem
    n, form = problem.n, problem.P
    sets = sets_of(path.labels()[:, :n])
    sets[:, ~problem.upper[:, :n].any(axis=0)] = OUT
    begin, end = path.ends.T
    multipliers, of_items = path.points()
    segment, index = np.nonzero(sets == MARGIN)
    sizes = np.bincount(segment, minlength=len(sets))
    before, sample = np.nonzero(sets[1:] != sets[:-1])
    old, new = sets[before, sample], sets[before + 1, sample]
    quadratic, features = form.quadratic, np.zeros((n, 0))
    if isinstance(quadratic, Features) and form.stored_width:
        features = form.sign[:, None] * dense(quadratic.X)
    products = multipliers @ (form.whole() if P is None else P)
    return Log(
        state=sets[0],
        t=np.stack([path.t[:-1], path.t[1:]]),
        ptr=np.append(0, np.cumsum(sizes)),
        index=index,
        a0=multipliers[begin[segment], index],
        a1=multipliers[end[segment], index],
        eta=-of_items[:, n:][path.ends],
        value=_values(path, multipliers, products, -problem.q[0]),
        w=(multipliers @ features)[path.ends],
        changes=np.stack([before + 1, sample, old, new]),
        outside=np.arange(len(sets)),
    )


def _values(path: Piecewise, multipliers: Array, products: Array, linear: Array) -> Array:
    """Coefficients (k, 3) of the optimal value by the share of a segment, from products of the multipliers with P."""
    begin, end = path.ends.T
    first, product = multipliers[begin], products[begin]
    change = multipliers[end] - first
    constant = first @ linear - 0.5 * _inner(first, product)
    slope = _inner(change, linear - product)
    curvature = -0.5 * _inner(change, products[end] - product)
    return np.stack([constant, slope, curvature], axis=1)


def no_log(n: int, m: int) -> Log:
    """A log without segments."""
    none, index = np.zeros(0), np.zeros(0, dtype=np.int64)
    return Log(
        state=np.zeros(n, dtype=np.int8),
        t=np.zeros((2, 0)),
        ptr=np.zeros(1, dtype=np.int64),
        index=index,
        a0=none,
        a1=none,
        eta=np.zeros((0, 2, m)),
        value=np.zeros((0, 3)),
        w=np.zeros((0, 2, 0)),
        changes=np.zeros((4, 0), dtype=np.int64),
        outside=index,
    )


def _inner(left: Array, right: Array) -> Array:
    """Products of rows, shape (k,)."""
    return np.asarray(np.einsum("ki,ki->k", left, right))


def _until_zero(log: Log, sums: Array) -> Log:
    """The log as far as the multipliers of the groups add up to less than 0; there the hulls meet."""
    first, last = -log.eta.sum(axis=2).T
    whole = np.stack([1.0 - log.t, log.t], axis=2) @ sums.max(axis=1)
    zero = SCORE_ROUNDING * whole
    if log.segments == 0 or first[0] <= zero[0, 0]:
        return log.until(0)
    met = np.flatnonzero((last <= zero[1]) & (whole[1] > 0.0))
    return log.until(int(met[0]) + 1) if met.size else log
