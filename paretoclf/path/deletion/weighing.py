"""What a sample does to the optimum: every score if its cost or its label were another, and the slope at the full cost.

A sample of cost 0 is not there, one of twice its cost is there twice. The slope is what influence functions have in
place of the exact change; the two part where sets change on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import (
    Array,
    Index,
    check_nonnegative_number,
    check_positions,
    check_vector,
    keep,
    what_it_is,
)
from paretoclf.common.errors import InputError
from paretoclf.common.tables import Tabular
from paretoclf.path.deletion.departures import Departures, Ends, Move
from paretoclf.path.deletion.proofs import Proofs
from paretoclf.path.svm.cost_path import Path, trace_costs
from paretoclf.problem.classifiers import Classifier
from paretoclf.problem.costs import Costs, SampleCosts, per_sample
from paretoclf.problem.lines import LabelledSamples, LineOfCosts, Weighted, costs_of, lines_of
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.solution import Solution

_SHARE = 2.0**-20  # of its cost that a sample loses for the slope: affine so far, but where a breakpoint is as near


@dataclass(frozen=True, repr=False)
class Influence(Tabular):
    """What the optimum becomes, for each of k samples, if that sample had another cost, or the other label.

    Attributes
    ----------
    factor : float
        What its cost is multiplied by. 0: the sample is not there; 2: it is there twice.
    relabelled : bool
        Whether it has the other label.
    samples : int array of shape (k,)
    scores : array of shape (m, k)
        Change of the score of each of m samples.
    slopes : array of shape (m, k)
        The same in proportion, from the slope at the full cost: what an influence function says. nan where the sample
        is relabelled.
    w : array of shape (d, k), optional
        Change of the slope of the classifier, where there are features.
    b, value : arrays of shape (k,)
        Change of the intercept (of features as the Gram measures them), and of the optimal value.
    errors : int array of shape (2, k), optional
        Change of the numbers of false positives and of false negatives among the m samples; where these have labels.
    proof : Proofs
        One certificate for each.
    """

    factor: float
    relabelled: bool
    samples: Index = field(repr=False)
    scores: Array = field(repr=False)
    slopes: Array = field(repr=False)
    w: Array | None = field(repr=False)
    b: Array = field(repr=False)
    value: Array = field(repr=False)
    errors: Index | None = field(repr=False)
    proof: Proofs = field(repr=False)

    def __post_init__(self) -> None:
        keep(self, "samples", "scores", "slopes", "w", "b", "value", "errors")

    def __repr__(self) -> str:
        first = self.samples[self.ranking[:3]].tolist()
        label = ", relabelled" if self.relabelled else ""
        return f"Influence({self.samples.size} samples, cost times {self.factor:g}{label}; most by {first})"

    @property
    def size(self) -> Array:
        """Root mean square of the exact changes of scores, shape (k,)."""
        return np.asarray(np.sqrt(np.mean(self.scores**2, axis=0)))

    @property
    def slope_size(self) -> Array:
        """Root mean square of each sample's slopes."""
        return np.asarray(np.sqrt(np.mean(self.slopes**2, axis=0)))

    @property
    def off_slope(self) -> Array:
        """Root mean square of what slopes miss, shape (k,): more than rounding where sets change on the way."""
        return np.asarray(np.sqrt(np.mean((self.scores - self.slopes) ** 2, axis=0)))

    @property
    def ranking(self) -> Index:
        """Positions in ``samples`` from the most influential, exactly; ties in their order."""
        return np.argsort(-self.size, kind="stable")

    def _rows(self) -> Iterator[dict[str, Any]]:
        exact, slope = self.size, self.slope_size
        for j in self.ranking:
            row = {"sample": int(self.samples[j]), "exact": float(exact[j]), "by slope": float(slope[j])}
            row |= {"b": float(self.b[j]), "value": float(self.value[j])}
            if self.errors is not None:
                row |= {"false positives": int(self.errors[0, j]), "false negatives": int(self.errors[1, j])}
            yield row


def influence(
    svm: Weighted | Solution,
    costs: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    factor: float | None = None,
    relabelled: bool = False,
    samples: Any = None,
) -> Influence:
    """Change of the optimum if the cost, or the label, of one sample were another: exactly, and each proved.

    Parameters
    ----------
    svm : TwoCSVM, or Solution of one
    costs : Costs, pair (C_plus, C_minus), or SampleCosts
        The point of the cost plane; None for a solution, which has its own.
    X, y : arrays of shape (m, d) and (m,), optional
        Whose scores, and their labels for the numbers of errors; by default the training samples.
    factor : float, optional
        What the cost of a sample is multiplied by: 0 (removed, the default) or more (2: doubled).
    relabelled : bool
        Whether the sample has the other label instead, and so the cost of the other class (with a cost per sample, its
        own), times factor (1 by default). Each is solved anew.
    samples : int array of shape (k,), optional
        Which; default all.

    Raises
    ------
    InputError
        If svm is no 2C-SVM, costs are none of its, factor is negative or no finite number, samples are none of its, or
        y does not fit X.
    DegeneratePathError
        If an optimum cannot be found and proved.

    References
    ----------
    Koh & Liang (2017), "Understanding black-box predictions via influence functions", ICML: the slopes.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.path.deletion import influence
    >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    >>> found = influence(svm, (1.0, 1.0))
    >>> found.proof.passes(), found.scores.shape
    (True, (4, 4))
    >>> solution = svm.solve(C_plus=1.0, C_minus=1.0)
    >>> influence(solution, relabelled=True, samples=[1])
    Influence(1 samples, cost times 1, relabelled; most by [1])
    """
    if isinstance(svm, Solution):
        svm, costs = _problem_of(svm, costs)
    lines_of(svm, only=LineOfCosts)
    point, n = costs_of(costs, "costs", svm.y), svm.y.size
    factor = check_nonnegative_number((1.0 if relabelled else 0.0) if factor is None else factor, "factor")
    which = check_positions(samples, "samples", n)
    whole = trace_costs(svm, point, point, progress=False)
    judged = _Reference(whole, X, y)
    if relabelled:
        return _relabelled(judged, point, svm.sample_weight, factor, which)
    leaving = judged.leaving

    def moved(share: float) -> Iterator[tuple[Ends, int]]:
        for ends in leaving.ends([Move(np.array([i]), share * leaving.caps[[i]]) for i in which]):
            yield from ((ends, k) for k in range(ends.b.size))

    points = [judged.point(ends, k) for ends, k in moved(factor)]
    near = [judged.score(ends, k) - judged.own for ends, k in moved(1.0 - _SHARE)]
    return judged.changes(factor, which, points, np.column_stack(near) * ((1.0 - factor) / _SHARE) if near else None)


def _problem_of(solution: Solution, costs: Any) -> tuple[LabelledSamples, Any]:
    """The samples with their weights, and the costs, that a solution is for."""
    rule = solution.classifier
    if not isinstance(rule, Classifier):
        raise InputError(f"svm must be a TwoCSVM or a solution of one, got a solution of {what_it_is(rule)}")
    if costs is not None:
        raise InputError(f"costs must be None for a solution, which has its own, got {costs!r}")
    own = SampleCosts(rule.caps) if solution.costs is None else solution.costs
    each = per_sample(own, rule.y)
    weight = np.where(each > 0.0, rule.caps / np.where(each > 0.0, each, 1.0), 1.0)
    return LabelledSamples(rule.gram, rule.y, weight), own


@dataclass(frozen=True)
class _Changed:
    """Another optimum: its scores, slope and intercept, and how the labels that are asked for count against it."""

    scores: Array
    w: Array | None
    b: float
    certificate: Certificate


class _Reference:
    """The optimum that others are held against, and the samples that are scored by both."""

    def __init__(self, whole: Path, X: Any, y: Any) -> None:
        self.leaving, self.gram = Departures(whole, 0.0), whole.gram
        self.here = self.leaving.here
        self.Z = self.gram.mapped_rows(slice(None)) if X is None else self.gram.mapped(X)
        self.y = whole.y if X is None and y is None else None
        if y is not None:
            self.y = check_vector(y, self.Z.shape[0], "y")
            if not np.isin(self.y, (-1.0, 1.0)).all():
                raise InputError("y must be labels -1 and +1")
        self.own = self.score(self.here, 0)

    def score(self, ends: Ends, k: int) -> Array:
        """Scores at an end of a line."""
        slope = self.Z @ ends.w[:, k] if ends.w is not None else self.Z @ (self.leaving.y * ends.alpha[:, k])
        return np.asarray(slope + ends.b[k])

    def point(self, ends: Ends, k: int) -> _Changed:
        """The optimum there."""
        w = None if ends.w is None else ends.w[:, k]
        return _Changed(self.score(ends, k), w, float(ends.b[k]), ends.certificates[k])

    def changes(
        self, factor: float, which: Index, points: Sequence[_Changed], slopes: Array | None, relabelled: bool = False
    ) -> Influence:
        """Changes from the present optimum to these optima."""
        first, none = self.point(self.here, 0), np.zeros((self.own.size, 0))
        scores = np.column_stack([none, *(each.scores - first.scores for each in points)])
        w = None
        if first.w is not None:
            w = np.column_stack(
                [np.zeros((first.w.size, 0)), *(each.w - first.w for each in points if each.w is not None)]
            )
        errors = None
        if self.y is not None:
            before, after = (counts_of(x, self.y) for x in (self.own[:, None], scores + self.own[:, None]))
            errors = after - before
        value = np.array([each.certificate.primal_value - first.certificate.primal_value for each in points])
        return Influence(
            factor,
            relabelled,
            which,
            scores,
            np.full(scores.shape, np.nan) if relabelled else none if slopes is None else slopes,
            w,
            np.array([each.b - first.b for each in points]),
            value,
            errors,
            Proofs(tuple(each.certificate for each in points), which),
        )


def counts_of(scores: Array, y: Array) -> Index:
    """Numbers of false positives and of false negatives, (2, k), of scores (m, k)."""
    wrong = (scores >= 0.0) != (y > 0.0)[:, None]
    return np.stack([np.count_nonzero(wrong[side], axis=0) for side in (y < 0.0, y > 0.0)])


def _relabelled(
    judged: _Reference, point: Costs | SampleCosts, weight: Array, factor: float, which: Index
) -> Influence:
    """Each sample in turn with the other label, solved anew."""
    gram, y, points = judged.gram, judged.leaving.y, []
    for i in which.tolist():
        other = np.where(np.arange(y.size) == i, -y, y)
        caps = weight * per_sample(point, other)
        caps[i] *= factor
        ends = SampleCosts(caps)
        solution = trace_costs(LabelledSamples(gram, other), ends, ends, progress=False).at(0.0)
        rule: Any = solution.classifier
        w = rule.w if gram.quadratic.width else None
        slope = judged.Z @ (rule.coef if w is None else w)
        points.append(_Changed(np.asarray(slope + rule.b_at_origin), w, rule.b_at_origin, solution.certificate))
    return judged.changes(factor, which, points, None, relabelled=True)
