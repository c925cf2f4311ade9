r"""Full conformal prediction of labels: ranks of new samples among all others, under the optimum with them among it.

A new sample x with a label z enters the 2C-SVM at cost 0, where nothing changes, and goes to the full cost of z: a line
that leaves from the optimum of the training samples. At its end every sample has a nonconformity, the new one, too, and
its rank among them is the p-value of z: of exchangeable samples it is uniform, whatever their distribution.

What is ranked must not depend on the order of the samples, the new one included. The margin does not: w is unique, and
of an interval of optimal intercepts the middle is taken. Multipliers are unique where the kernel is strictly positive
definite, but for copies of a sample, whose mean is taken; under other kernels they may not be.

References
----------
Vovk, Gammerman & Shafer (2005), Algorithmic Learning in a Random World, sections 2.2, 4.5 (label-conditional).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Rng, check_rng, keep
from paretoclf.common.errors import InputError
from paretoclf.common.tables import Tabular
from paretoclf.common.tolerances import TIED_SCORES
from paretoclf.engine.sets import OUT
from paretoclf.path.deletion.departures import Departures, Ends, Move
from paretoclf.path.svm.cost_path import Path, trace_costs
from paretoclf.path.svm_lines.stages import BasisAt
from paretoclf.problem.costs import Costs, SampleCosts, as_costs
from paretoclf.problem.gram import Gram
from paretoclf.problem.intercepts import point_of
from paretoclf.problem.kernels import Precomputed
from paretoclf.problem.lines import LabelledSamples, LineOfCosts, Weighted, by_class, lines_of
from paretoclf.problem.samples import Samples
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.roc.folds import each

#: What is ranked: minus the margin ``y f(x)``, or the multiplier as a share of the cost.
Nonconformity = Literal["margin", "multiplier"]


@dataclass(frozen=True, repr=False)
class ConformalRanks(Tabular):
    """Ranks of m new samples with either label, in numbers of samples.

    Columns are the labels -1 and +1.

    Attributes
    ----------
    greater : int array of shape (m, 2)
        How many are stranger than the new sample.
    tied : int array of shape (m, 2)
        How many are as strange, itself included.
    among : int array of shape (2,)
        How many are ranked: all, or those of the label; itself included.
    worst : Certificate
        Among all ends of lines, each of which is proved, that with the largest gap.
    """

    greater: Index
    tied: Index
    among: Index
    worst: Certificate = field(repr=False)

    def __post_init__(self) -> None:
        keep(self, "greater", "tied", "among")

    def __repr__(self) -> str:
        return f"ConformalRanks({self.greater.shape[0]} samples with both labels, {self.among.tolist()} ranked)"

    def p_values(self, rng: Rng | None = None) -> Array:
        """The p-value of either label, shape (m, 2).

        Parameters
        ----------
        rng : int or numpy.random.Generator, optional
            What decides ties, so that p-values are uniform. Without it ties count whole, which is never too small.
        """
        share = 1.0 if rng is None else 1.0 - check_rng(rng).random(self.greater.shape)
        return np.asarray((self.greater + share * self.tied) / self.among)

    def _rows(self) -> Iterator[dict[str, Any]]:
        for greater, tied in zip(self.greater.tolist(), self.tied.tolist(), strict=True):
            one = {"greater, -1": greater[0], "tied, -1": tied[0]}
            yield one | {"greater, +1": greater[1], "tied, +1": tied[1]}


def conformal_ranks(
    svm: Weighted,
    costs: Any,
    X: Any,
    *,
    nonconformity: Nonconformity = "margin",
    by_label: bool = False,
    n_jobs: int | None = None,
) -> ConformalRanks:
    """Rank new samples, with either label, among the training samples, under the optimum of all of them and itself.

    Parameters
    ----------
    svm : TwoCSVM
        The training samples, of equal weights; neither a precomputed kernel nor ``low_rank``.
    costs : Costs or pair (C_plus, C_minus)
        The point of the cost plane, both positive.
    X : array or sparse matrix of shape (m, d)
        New samples.
    nonconformity : {"margin", "multiplier"}
        What is ranked: minus the margin ``y f(x)``, or the multiplier as a share of the sample's cost.
    by_label : bool
        Whether a sample is ranked among those of its label only (Mondrian): p-values are uniform for either class.
    n_jobs : int, optional
        Processes; the result does not depend on it.

    Returns
    -------
    ConformalRanks
        ``p_values(rng)`` of shape (m, 2).

    Raises
    ------
    InputError
        If an argument is not what it must be.
    DegeneratePathError
        If an optimum cannot be found and proved.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.path.deletion import conformal_ranks
    >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, -1, 1, 1])
    >>> conformal_ranks(svm, (1.0, 1.0), [[0.5], [1.4], [3.5]]).p_values()
    array([[0.8, 0.2],
           [0.4, 0.4],
           [0.2, 1. ]])
    """
    start, point = optimum_to_rank_with(svm, costs)
    return ranks_from(start, point, X, nonconformity=nonconformity, by_label=by_label, n_jobs=n_jobs)


def optimum_to_rank_with(svm: Weighted, costs: Any) -> tuple[Path, Costs]:
    """The optimum of the training samples, a path of one point, and its costs; InputError as for `conformal_ranks`."""
    lines_of(svm, only=LineOfCosts)
    point = as_costs(costs)
    if not min(point) > 0.0:
        raise InputError(f"costs must both be positive, got {costs!r}")
    gram = svm.gram
    if isinstance(gram.kernel, Precomputed) or gram.approximation is not None:
        what = "a precomputed kernel" if isinstance(gram.kernel, Precomputed) else "low_rank"
        raise InputError(f"svm must have its samples and its kernel, got {what}: a new sample's own value is unknown")
    if np.ptp(svm.sample_weight) > 0.0:
        raise InputError("svm must have samples of equal weights: others are not exchangeable")
    point = Costs(*(svm.sample_weight[0] * cost for cost in point))
    return trace_costs(LabelledSamples(gram, svm.y), point, point, progress=False), point


def ranks_from(
    start: Path,
    point: Costs,
    X: Any,
    *,
    nonconformity: Nonconformity = "margin",
    by_label: bool = False,
    n_jobs: int | None = None,
) -> ConformalRanks:
    """`conformal_ranks` from the optimum of the training samples that is there already."""
    if nonconformity not in get_args(Nonconformity):
        raise InputError(f"nonconformity must be 'margin' or 'multiplier', got {nonconformity!r}")
    gram, y = start.gram, start.y
    new = gram.check_new(X)
    m, size = new.shape[0], max(64, gram.n // 2)
    blocks = [(start, point, new[first : first + size], nonconformity, by_label) for first in range(0, m, size)]
    found = each(_ranked, blocks, n_jobs=n_jobs)
    among = np.array([np.count_nonzero(y == z) if by_label else gram.n for z in (-1.0, 1.0)]) + 1
    greater, tied = (np.concatenate([part[k] for part in found]) for k in (0, 1))
    worst = max((part[2] for part in found), key=lambda c: c.gap)
    return ConformalRanks(greater, tied, among, worst)


def _ranked(start: Path, point: Costs, new: Samples, nonconformity: str, by_label: bool) -> Any:
    """Numbers of greater and of tied nonconformities of some new samples, (m, 2) each, and the worst certificate."""
    gram, n, m = start.gram, start.gram.n, new.shape[0]
    both = sp.vstack([gram.X, new], format="csr") if sp.issparse(gram.X) else np.vstack([gram.X, new])
    joined = Gram(both, gram.kernel, free_origin=True)
    state, margin = start.basis(0.0)
    basis = BasisAt(0.0, np.append(state, np.full(m, OUT, dtype=state.dtype)), margin)
    greater, tied = (np.zeros((m, 2), dtype=np.int64) for _ in range(2))
    worst = start.certificate(0.0)
    for column, z in enumerate((-1.0, 1.0)):
        y = np.append(start.y, np.full(m, z))
        costs = SampleCosts(np.append(by_class(start.y, *point), np.zeros(m)))
        path = trace_costs(LabelledSamples(joined, y), costs, costs, hub=basis, certify=False, progress=False)
        table = _Nonconformities(Departures(path, 0.0), n, nonconformity, by_label)
        cost = np.array([point.C_plus if z > 0 else point.C_minus])
        within = table.largest_margins(z)[n:] < 1.0
        stays, enter = n + np.flatnonzero(~within), n + np.flatnonzero(within)
        moves = [Move(np.array([i]), cost) for i in enter]
        done = 0
        for ends in (table.unmoved(stays, cost), *table.leaving.ends(moves)):
            new = (np.append(stays, enter))[done : done + ends.b.size]
            done += new.size
            greater[new - n, column], tied[new - n, column] = table.counted(ends, new)
            worst = max([worst, *ends.certificates], key=lambda c: c.gap)
    return greater, tied, worst


class _Nonconformities:
    """Nonconformities of the first n samples and of one new one, at ends of lines."""

    def __init__(self, leaving: Departures, n: int, nonconformity: str, by_label: bool) -> None:
        self.leaving, self.n, self.nonconformity, self.by_label = leaving, n, nonconformity, by_label
        self.Q, self.y = leaving.gram.quadratic, leaving.y

    def margins(self, ends: Ends) -> Array:
        """Margins y f(x) of all samples, (n + m, k)."""
        if ends.w is not None:
            return np.asarray(self.y[:, None] * (np.asarray(self.leaving.gram.features @ ends.w) + ends.b))
        return np.asarray(self.y[:, None] * (self.Q.times(self.y[:, None] * ends.alpha) + ends.b))

    def largest_margins(self, z: float) -> Array:
        """Margins under the optimum of the first n samples, (n + m,): of those with label z at their best intercept."""
        here = self.leaving.here
        end = here.high if z > 0 else -here.low  # the ends of the interval of optimal ones
        return np.asarray(self.margins(here)[:, 0] + end - z * here.b)

    def unmoved(self, new: Index, cost: Array) -> Ends:
        """The optimum of the first n samples as that of each new one that some optimal intercept puts at its margin.

        Where there is an interval of these, the new sample may bound it.
        """
        here, k = self.leaving.here, new.size
        caps = here.caps.repeat(k, axis=1)
        caps[new, np.arange(k)] = cost
        w = None if here.w is None else here.w.repeat(k, axis=1)
        b, low, high = (each.repeat(k) for each in (here.b, here.low, here.high))
        if here.low[0] < here.high[0]:
            scores = self.leaving.scores(here, 0, slice(None))
            for j in range(k):
                low[j], high[j] = self.leaving.interval_of(caps[:, j], here.alpha[:, 0], scores)
                b[j] = point_of((low[j], high[j]))
        return Ends(caps, here.alpha.repeat(k, axis=1), w, b, low, high, here.certificates)

    def counted(self, ends: Ends, new: Index) -> tuple[Index, Index]:
        """How many are greater than each new sample at its end, and how many are tied with it."""
        k = np.arange(new.size)
        if self.nonconformity == "margin":
            values, sizes = -self.margins(ends), self._sizes(ends)
        else:
            values, sizes = self._shares(ends), np.ones(ends.alpha.shape)
        apart = values[: self.n] - values[new, k]
        near = TIED_SCORES * np.maximum(sizes[: self.n], sizes[new, k])
        ranked = self.y[: self.n, None] == self.y[new] if self.by_label else np.ones((self.n, 1), dtype=np.bool_)
        greater = np.count_nonzero((apart > near) & ranked, axis=0)
        return greater, np.count_nonzero((np.abs(apart) <= near) & ranked, axis=0) + 1

    def _sizes(self, ends: Ends) -> Array:
        """Size that rounding of scores is relative to: at least the sum of terms, the intercept, the margin's 1."""
        length = np.sqrt(self.Q.diagonal())
        return np.asarray(1.0 + np.abs(ends.b) + length[:, None] * (length @ ends.alpha))

    def _shares(self, ends: Ends) -> Array:
        """Multipliers as shares of costs, the mean of all copies of a sample that have the label."""
        shares = np.where(ends.caps > 0.0, ends.alpha / np.where(ends.caps > 0.0, ends.caps, 1.0), 0.0)
        X = self.leaving.gram.X
        seen = np.unique(np.column_stack([X.toarray() if sp.issparse(X) else X, self.y]), axis=0, return_inverse=True)
        copies = seen[1].ravel()
        groups = sp.csr_array((np.ones(copies.size), (copies, np.arange(copies.size))))
        there = groups @ (ends.caps > 0.0)
        return np.asarray(((groups @ shares) / np.maximum(there, 1.0))[copies])
