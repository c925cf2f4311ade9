"""What a sample does to the optimum: every score if its cost were another, exactly, and the slope at the full cost.

A sample of cost 0 is not there, one of twice its cost is there twice. The slope is what influence functions have in
place of the exact change; the two part where sets change on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.checks import Array, Index, check_number, check_positions, keep
from paretoclf.deletion.departures import Departures, Ends, Move
from paretoclf.deletion.proofs import Proofs
from paretoclf.errors import InputError
from paretoclf.lines import LineOfCosts, Weighted, costs_of, lines_of
from paretoclf.path.cost import trace_costs
from paretoclf.tables import Tabular

_SHARE = 2.0**-20  # of its cost that a sample loses for the slope: affine so far, but where a breakpoint is as near


@dataclass(frozen=True, repr=False)
class Influence(Tabular):
    """What the optimum becomes, for each of k samples, if the cost of that sample were multiplied by a factor.

    Attributes
    ----------
    factor : float
        0: the sample is not there; 2: it is there twice.
    samples : int array of shape (k,)
    scores : array of shape (m, k)
        Change of the score of each of m samples.
    slopes : array of shape (m, k)
        The same in proportion, from the slope at the full cost: what an influence function says.
    b, value : arrays of shape (k,)
        Change of the intercept (of features as the Gram measures them), and of the optimal value.
    proof : Proofs
        One certificate for each.
    """

    factor: float
    samples: Index = field(repr=False)
    scores: Array = field(repr=False)
    slopes: Array = field(repr=False)
    b: Array = field(repr=False)
    value: Array = field(repr=False)
    proof: Proofs = field(repr=False)

    def __post_init__(self) -> None:
        keep(self, "samples", "scores", "slopes", "b", "value")

    def __repr__(self) -> str:
        first = self.samples[self.ranking[:3]].tolist()
        return f"Influence({self.samples.size} samples, cost times {self.factor:g}; most by {first})"

    @property
    def size(self) -> Array:
        """Root mean square of the exact changes of scores, shape (k,)."""
        return np.asarray(np.sqrt(np.mean(self.scores**2, axis=0)))

    @property
    def slope_size(self) -> Array:
        """The same of the changes in proportion."""
        return np.asarray(np.sqrt(np.mean(self.slopes**2, axis=0)))

    @property
    def ranking(self) -> Index:
        """Positions in ``samples`` from the most influential, exactly; ties in their order."""
        return np.argsort(-self.size, kind="stable")

    @property
    def slope_ranking(self) -> Index:
        """The same by slopes."""
        return np.argsort(-self.slope_size, kind="stable")

    def _rows(self) -> Iterator[dict[str, Any]]:
        exact, slope = self.size, self.slope_size
        for j in self.ranking:
            row = {"sample": int(self.samples[j]), "exact": float(exact[j]), "by slope": float(slope[j])}
            yield row | {"b": float(self.b[j]), "value": float(self.value[j])}


def influence(svm: Weighted, costs: Any, X: Any = None, *, factor: float = 0.0, samples: Any = None) -> Influence:
    """Change of the optimum if the cost of one sample were another: of each sample, exactly, each proved.

    Parameters
    ----------
    svm : TwoCSVM
    costs : Costs, pair (C_plus, C_minus), or SampleCosts
        The point of the cost plane.
    X : array of shape (m, d), optional
        Whose scores; by default the training samples'.
    factor : float
        What the cost of a sample is multiplied by: 0 (removed) or more (2: doubled).
    samples : int array of shape (k,), optional
        Which; default all.

    Raises
    ------
    InputError
        If svm is no 2C-SVM, costs are none of its, factor is negative or no finite number, or samples are none of its.
    DegeneratePathError
        If an optimum cannot be found and proved.

    References
    ----------
    Koh & Liang (2017), "Understanding black-box predictions via influence functions", ICML: the slopes.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.deletion import influence
    >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    >>> found = influence(svm, (1.0, 1.0))
    >>> found.proof.passes(), found.scores.shape
    (True, (4, 4))
    """
    lines_of(svm, only=LineOfCosts)
    point, n = costs_of(costs, "costs", svm.y), svm.y.size
    factor = check_number(factor, "factor")
    if not 0.0 <= factor < np.inf:
        raise InputError(f"factor must be a finite number >= 0, got {factor!r}")
    which = check_positions(samples, "samples", n)
    whole = trace_costs(svm, point, point, progress=False)
    leaving = Departures(whole, 0.0)
    here, gram = leaving.here, whole.gram
    features = gram.features
    Z = gram.mapped(X) if X is not None else gram.rows(np.arange(n)) if features is None else features

    def score(ends: Ends, k: int) -> Array:
        slope = Z @ ends.w[:, k] if ends.w is not None else Z @ (svm.y * ends.alpha[:, k])
        return np.asarray(slope + ends.b[k])

    own, value = score(here, 0), here.certificates[0].primal_value
    changes: list[Array] = []
    certificates, b = [], []
    for share in (factor, 1.0 - _SHARE):
        found = [np.zeros(0)]
        for ends in leaving.ends([Move(np.array([i]), share * leaving.caps[[i]]) for i in which]):
            found += [score(ends, k) - own for k in range(ends.b.size)]
            if share == factor and len(changes) == 0:
                certificates += ends.certificates
                b += (ends.b - here.b[0]).tolist()
        changes.append(np.stack(found[1:], axis=1) if which.size else np.zeros((own.size, 0)))
    values = np.array([each.primal_value - value for each in certificates])
    slopes = changes[1] * ((1.0 - factor) / _SHARE)
    return Influence(factor, which, changes[0], slopes, np.array(b), values, Proofs(tuple(certificates), which))
