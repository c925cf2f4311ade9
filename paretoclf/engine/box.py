"""Boxes by the engine of any program: lines of caps, and the log of a line that paths are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, State
from paretoclf.common.errors import DegeneratePathError
from paretoclf.common.tolerances import SCORE_ROUNDING
from paretoclf.engine.general import follow
from paretoclf.engine.segments import Line, Log
from paretoclf.engine.sets import LABELS, MARGIN, OUT, sets_of
from paretoclf.problem.operator import Features
from paretoclf.problem.parametric_qp import LOWER, ParametricQP, Trace
from paretoclf.problem.samples import dense

_REMEDY = "Use the fast engine, which knows more remedies, or standardise the features."
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
    """

    found: Trace | None = None  #: of the last line
    basis: tuple[State, Index]  #: sets at its end, and the margin set

    def __init__(self, problem: ParametricQP, engine: str | None, max_events: int | None = None) -> None:
        self.problem, self.engine, self.max_events = problem, engine, max_events
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
        caps, e = np.stack([line.caps(0.0), line.caps(1.0)]), np.stack([line.e0, line.e_end])
        own, unit = self._dense, float(caps[np.isfinite(caps)].max(initial=0.0)) or 1.0
        # In units of the largest cap, lest what is rounding of a gradient of 1 is more than a small cap.
        scaled = ParametricQP.box(unit * own.P, -own.q[0], own.A, caps / unit, e / unit)
        labels = None
        if basis is not None:
            state = np.array(basis[0])
            state[basis[1]] = MARGIN
            labels = np.append(LABELS[state], np.full(self.m, LOWER))
        found = follow(scaled, labels, self.max_events, progress or False, self.engine, scaled=True)
        if found.status != "end":
            limit = found.status == "limit"
            cause = f"more than {found.exchanges} exchanges" if limit else _CAUSES[found.status]
            remedy = "Raise max_events, or trace the line in parts." if limit else _REMEDY
            raise DegeneratePathError(cause, t=float(found.t[-1]), costs="", n_margin=None, remedy=remedy)
        found.values[...] *= unit
        self.found = found
        log = log_of(ParametricQP.box(self.problem.P, -own.q[0], own.A, caps, e), found, own.P)
        last = found.labels[-1, : self.problem.n]
        state = np.where(caps.any(axis=0), sets_of(last), OUT)
        self.basis = state, np.flatnonzero(state == MARGIN)
        return _until_zero(log, e) if line.to_zero else log

    def weights(self, t: float) -> Array:
        """Multipliers at t on the last line, shape (n,); before there is one, the caps of the problem."""
        found = self.found
        if found is None:
            return np.asarray(self.problem.upper[0, : self.problem.n])
        j = min(max(int(np.searchsorted(found.t, t, side="right")) - 1, 0), len(found.labels) - 1)
        share = (t - found.t[j]) / (found.t[j + 1] - found.t[j])
        start, end = found.v[j, :, : self.problem.n]
        return np.asarray((1.0 - share) * start + share * end)


def log_of(problem: ParametricQP, found: Trace, P: Array | None = None) -> Log:
    """What was found of a box, as paths are made of it; P as an array, where it is known."""
    n, form = problem.n, problem.P
    sets = sets_of(found.labels[:, :n])
    sets[:, ~problem.upper[:, :n].any(axis=0)] = OUT
    (i, j), a, p = found.ends.T, found.values[:, :n], -problem.q[0]
    at, change = a @ (form.whole() if P is None else P), a[j] - a[i]
    value = [a[i] @ p - 0.5 * _inner(a[i], at[i]), _inner(change, p - at[i]), -0.5 * _inner(change, at[j] - at[i])]
    piece, index = np.nonzero(sets == MARGIN)
    after, sample = np.nonzero(sets[1:] != sets[:-1])
    Q, width = form.quadratic, form.stored_width
    Z = form.sign[:, None] * dense(Q.X) if isinstance(Q, Features) and width else np.zeros((n, 0))
    return Log(
        state=sets[0],
        t=np.stack([found.t[:-1], found.t[1:]]),
        ptr=np.append(0, np.cumsum(np.bincount(piece, minlength=len(sets)))),
        index=index,
        a0=a[i[piece], index],
        a1=a[j[piece], index],
        eta=-found.y[:, :, n:],
        value=np.stack(value, axis=1),
        w=(a @ Z)[found.ends],
        changes=np.stack([after + 1, sample, sets[after, sample], sets[after + 1, sample]]),
        outside=np.arange(len(sets)),
    )


def no_log(n: int, m: int) -> Log:
    """A log without segments."""
    none, index = np.zeros(0), np.zeros(0, dtype=np.int64)
    state, at, changes = np.zeros(n, dtype=np.int8), np.zeros((0, 2, m)), np.zeros((4, 0), dtype=np.int64)
    ends = np.zeros((2, 0)), np.zeros(1, dtype=np.int64), index, none, none
    return Log(state, *ends, at, np.zeros((0, 3)), np.zeros((0, 2, 0)), changes, index)


def _inner(a: Array, b: Array) -> Array:
    """Products of rows, shape (k,)."""
    return np.asarray(np.einsum("ki,ki->k", a, b))


def _until_zero(log: Log, sums: Array) -> Log:
    """The log as far as the multipliers of the groups add up to less than 0; there the hulls meet."""
    first, last = -log.eta.sum(axis=2).T
    whole = np.stack([1.0 - log.t, log.t], axis=2) @ sums.max(axis=1)
    zero = SCORE_ROUNDING * whole
    if log.segments == 0 or first[0] <= zero[0, 0]:
        return log.until(0)
    met = np.flatnonzero((last <= zero[1]) & (whole[1] > 0.0))
    return log.until(int(met[0]) + 1) if met.size else log
