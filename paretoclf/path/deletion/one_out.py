"""Leave one out: the exact score of every sample under the optimum of all others, from one solution."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask, Rng, keep
from paretoclf.common.progress import PathLimits
from paretoclf.common.tables import Tabular
from paretoclf.common.threads import on_one_thread
from paretoclf.common.tolerances import SLACK_ROUNDING
from paretoclf.path.deletion.departures import Departures, Move, free
from paretoclf.path.deletion.left_out import leave_one_class, parts_of
from paretoclf.path.deletion.proofs import Proofs
from paretoclf.path.deletion.shares import CapShares, ShareDepartures, shares_of
from paretoclf.path.svm.cost_path import trace_costs
from paretoclf.path.svm_lines.svm_path import check_certificates
from paretoclf.problem.costs import Costs, SampleCosts
from paretoclf.problem.intercepts import point_of
from paretoclf.problem.lines import LineOfCosts, Weighted, costs_of, lines_of
from paretoclf.roc.curve import RocCurve
from paretoclf.roc.of_path import roc_of_scores
from paretoclf.roc.scores import PathScores


@dataclass(frozen=True, repr=False)
class LeaveOneOut(Tabular):
    """Every sample scored by the optimum of all others.

    Attributes
    ----------
    costs : Costs, SampleCosts, or mapping
        The point; of a formulation without costs its parameters by name.
    y : array of shape (n,)
    scores : array of shape (n,)
        With the middle of all intercepts that are optimal without the sample (of a half-line its end). Where the sample
        was the only one of its class with a cost, the rule of the other class: -1 or +1.
    intervals : array of shape (n, 2)
        The scores with the least and the largest of these intercepts: equal where there is one.
    own : array of shape (n,)
        The scores when all are there, in the same sense.
    moved : int array of shape (k,)
        The samples whose part goes with multipliers: without it the slope is another.
    proof : Proofs
        One certificate for each such part, by its number, and that of all for the others.
    parts : tuple of int arrays
        The samples that are left out together: each by itself, or groups, or folds.
    constant : int array
        The samples without whose part one class has nobody left: their scores are -1 or +1, the rule of the other.
    """

    costs: Any
    y: Array = field(repr=False)
    scores: Array = field(repr=False)
    intervals: Array = field(repr=False)
    own: Array = field(repr=False)
    moved: Index = field(repr=False)
    proof: Proofs = field(repr=False)
    parts: tuple[Index, ...] = field(repr=False)
    constant: Index = field(repr=False)

    def __post_init__(self) -> None:
        keep(self, "y", "scores", "intervals", "own", "moved", "constant")

    def __repr__(self) -> str:
        fp, fn = self.counts
        plus = int(np.count_nonzero(self.y > 0))
        return (
            f"LeaveOneOut({fn} of {plus} positives and {fp} of {self.y.size - plus} negatives wrong, "
            f"{self.moved.size} of {self.y.size} samples traced"
            f"{f', {self.constant.size} by a constant rule' if self.constant.size else ''})"
        )

    @property
    def wrong(self) -> Mask:
        """Which samples get the other label from the optimum of all others; +1 is predicted where the score is >= 0."""
        return np.asarray((self.scores >= 0) != (self.y > 0))

    @property
    def counts(self) -> tuple[int, int]:
        """Numbers of false positives and of false negatives."""
        return int(np.count_nonzero(self.wrong & (self.y < 0))), int(np.count_nonzero(self.wrong & (self.y > 0)))

    @property
    def rates(self) -> tuple[float, float]:
        """``(false positive rate, false negative rate)``."""
        fp, fn = self.counts
        return fp / int(np.count_nonzero(self.y < 0)), fn / int(np.count_nonzero(self.y > 0))

    @property
    def flipped(self) -> Index:
        """The samples whose label depends on whether they are there themselves."""
        return np.flatnonzero((self.scores >= 0) != (self.own >= 0))

    def roc(self) -> RocCurve:
        """ROC curve of the scores, varying the intercept; scores that differ by rounding alone are ties."""
        still = PathScores(np.array([0.0, 1.0]), self.scores[:, None], self.scores[:, None])
        return roc_of_scores(still, self.y, t=0.0)

    def _rows(self) -> Iterator[dict[str, Any]]:
        moved = np.isin(np.arange(self.y.size), self.moved)
        for i in range(self.y.size):
            one = {"sample": i, "label": float(self.y[i]), "own": float(self.own[i]), "without": float(self.scores[i])}
            yield one | {"moved": bool(moved[i]), "wrong": bool(self.wrong[i])}


@on_one_thread
def leave_one_out(
    svm: Weighted,
    costs: Any,
    *,
    groups: Any = None,
    cv: Any = None,
    rng: Rng = 0,
    transformer: Any = None,
    engine: str | None = None,
    max_events: int | None = None,
) -> LeaveOneOut:
    """Score every sample by the optimum of all others, exactly: each is the end of a line on which its cost goes to 0.

    Where a sample has no multiplier the optimum of all is that of the others. For the rest the solution is followed
    from the one of all, which takes a few exchanges a sample, and nothing is solved anew. The same of groups and of
    folds, the costs of which go to 0 together.

    Parameters
    ----------
    svm : TwoCSVM, TwoNuSVM or QuantileSVM
        Samples, labels, weights and kernel; a kernel's bandwidth, low-rank features and scaling are taken as they are.
    costs : Costs, pair (C_plus, C_minus), SampleCosts, or mapping of str to float
        The point of the cost plane. For a `TwoNuSVM` or `QuantileSVM` its parameters by name: the others are fitted
        with the same ones, as anybody would. Their caps are shares of n, so all of them move, and every part is traced.
    groups : array of shape (n,), optional
        Samples of one value are left out together.
    cv : int, splitter or iterable of (train, test), optional
        So many stratified, shuffled folds in place of groups, a splitter of scikit-learn, or index arrays:
        each sample is tested once, and trained on everywhere else.
    rng : int or numpy.random.Generator
        Seed of the folds.
    transformer : None
        What is fitted anew in each fold is refused: `cross_validated_errors` fits it.
    engine, max_events
        As for `trace`.

    Returns
    -------
    LeaveOneOut
        ``scores`` of shape (n,), ``rates``, ``roc()``, and ``proof``.

    Raises
    ------
    InputError
        If svm is none of these or costs are none of its; nu is infeasible without a part, or gives no classifier;
        groups or folds leave out nobody, everybody, or a sample twice; a transformer is given.
    DegeneratePathError
        If the solution of all, or one without a sample, cannot be found and proved. No doubtful score is returned.

    References
    ----------
    Cauwenberghs & Poggio (2001), "Incremental and decremental support vector machine learning", NIPS 13, which has one
    step of such a line; Hastie et al. (2004), JMLR 5.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    >>> out = pc.leave_one_out(svm, (1.0, 1.0))
    >>> out
    LeaveOneOut(2 of 2 positives and 2 of 2 negatives wrong, 4 of 4 samples traced)
    >>> out.rates, out.proof.passes()
    ((1.0, 1.0), True)
    >>> pc.leave_one_out(svm, (1.0, 1.0), groups=["a", "a", "b", "b"])
    LeaveOneOut(1 of 2 positives and 1 of 2 negatives wrong, 4 of 4 samples traced)
    >>> pc.leave_one_out(pc.TwoNuSVM(svm.X, svm.y), {"nu": 0.45, "asymmetry": 0.5}, groups=["a", "b", "b", "a"])
    LeaveOneOut(2 of 2 positives and 2 of 2 negatives wrong, 4 of 4 samples traced)
    """
    shares = shares_of(svm, costs)
    if shares is not None:
        return _of_shares(shares, parts_of(svm.y, groups, cv, rng, transformer), engine, max_events)
    lines_of(svm, only=LineOfCosts)
    point, parts = costs_of(costs, "costs", svm.y), parts_of(svm.y, groups, cv, rng, transformer)
    whole = trace_costs(svm, point, point, engine=engine, limits=PathLimits(max_events), certify=False, progress=False)
    leaving = Departures(whole, 0.0, engine=engine, max_events=max_events)
    if not leaving.here.certificates[0].holds():
        check_certificates(whole)  # which says what is wrong
    return _at(leaving, point, parts)


def _at(leaving: Departures, costs: Costs | SampleCosts, parts: tuple[Index, ...]) -> LeaveOneOut:
    """Leave parts out at the point that a departure is made for."""
    y, here = leaving.y, leaving.here
    slopes = leaving.scores(here, 0, slice(None))
    intercepts = _others(leaving, slopes, parts)
    loaded = here.alpha[:, 0] > 0.0
    alone = leave_one_class(y, here.caps[:, 0] > 0.0, parts)
    moved = [k for k, part in enumerate(parts) if loaded[part].any() or k in alone]
    sizes = leaving.sizes(here, 0, slice(None))
    own = _without_rounding(slopes + here.b[0], sizes)
    without, certificates, which = slopes.copy(), [here.certificates[0]], iter(moved)
    for ends in leaving.ends([Move(parts[k], np.zeros(parts[k].size)) for k in moved]):
        for j in range(ends.b.size):
            part = parts[next(which)]
            without[part], sizes[part] = leaving.scores(ends, j, part), leaving.sizes(ends, j, part)
            intercepts[part] = ends.b[j], ends.low[j], ends.high[j]
        certificates += ends.certificates
    middle, low, high = intercepts.T
    return LeaveOneOut(
        costs,
        y,
        _without_rounding(without + middle, sizes),
        np.stack([without + low, without + high], axis=1),
        own,
        _samples_of(parts, moved),
        Proofs(tuple(certificates), np.array([-1, *moved])),
        parts,
        _samples_of(parts, alone),
    )


def _of_shares(shares: CapShares, parts: tuple[Index, ...], engine: str | None, max_events: int | None) -> LeaveOneOut:
    """Leave parts out of a problem whose caps are shares of the number of samples."""
    y, everybody = shares.y, np.arange(shares.y.size)
    alone = leave_one_class(y, np.ones(y.size, dtype=np.bool_), parts)
    moved = [k for k in range(len(parts)) if k not in alone]
    for k in moved:
        shares.caps(~np.isin(everybody, parts[k]))  # says at once where the others have no solution
    leaving = ShareDepartures(shares, engine, max_events)
    own, certificate = leaving.without(np.zeros(0, dtype=np.int64))
    scores, certificates = np.empty((3, y.size)), [certificate]
    for k in moved:
        found, certificate = leaving.without(parts[k])
        scores[:, parts[k]] = found[:, parts[k]]
        certificates.append(certificate)
    for k in alone:
        scores[:, parts[k]] = y[np.setdiff1d(everybody, parts[k])[0]]
    return LeaveOneOut(
        shares.values,
        y,
        scores[0],
        scores[1:].T,
        own[0],
        _samples_of(parts, moved),
        Proofs(tuple(certificates), np.array([-1, *moved])),
        parts,
        _samples_of(parts, alone),
    )


def _samples_of(parts: Sequence[Index], which: Iterable[int]) -> Index:
    """The samples of some parts, increasing."""
    return np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *(parts[k] for k in which)]))


def _without_rounding(scores: Array, sizes: Array) -> Array:
    """Scores; those that are nothing but rounding are 0, and so predicted +1."""
    return np.where(np.abs(scores) <= SLACK_ROUNDING * sizes, 0.0, scores)


def _others(leaving: Departures, slopes: Array, parts: Sequence[Index]) -> Array:
    """Optimal intercepts that remain without each part of multipliers 0: middle, least, largest; (n, 3)."""
    here, y = leaving.here, leaving.y
    alpha, caps = here.alpha[:, 0], here.caps[:, 0]
    out = np.repeat([[here.b[0], here.low[0], here.high[0]]], y.size, axis=0)
    if free(here.alpha, here.caps)[0]:
        return out
    # Such a sample may be the one that bounds the interval: a positive from below, a negative from above.
    F, near = y - slopes, SLACK_ROUNDING * leaving.sizes(here, 0, slice(None))
    ends = (caps > 0.0) & np.where(y > 0, here.low[0] - near <= F, here.high[0] + near >= F)
    for part in parts:
        if ends[part].any() and not alpha[part].any():
            without = caps.copy()
            without[part] = 0.0
            interval = leaving.interval_of(without, alpha, slopes)
            out[part] = point_of(interval), *interval
    return out
