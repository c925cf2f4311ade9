"""What every solver of ours returns: a Classifier, inside a Solution that carries its own certificate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from paretoclf.checks import Array, Mask, keep
from paretoclf.classifiers import GramRule, Rule
from paretoclf.costs import Costs
from paretoclf.errors import InputError
from paretoclf.gram import Gram
from paretoclf.judges.two_c import certify_many, certify_precisely
from paretoclf.low_rank import Approximation
from paretoclf.proof import Certificate
from paretoclf.proof.evidence import Condition, DualityTable
from paretoclf.tables import Tabular
from paretoclf.tolerances import FLAT
from paretoclf.units import balanced_units


@dataclass(frozen=True, repr=False)
class Classifier(GramRule):
    """The decision function of a 2C-SVM, ``f(x) = sum_i y_i alpha_i k(x_i, x) + b``; +1 exactly where ``f(x) >= 0``.

    Attributes
    ----------
    gram : Gram
        Training samples and kernel.
    y : array of shape (n,)
        Training labels.
    caps : array of shape (n,)
        Upper bounds of the multipliers.
    alpha : array of shape (n,)
        Multipliers.
    b_at_origin : float
        Intercept of features as the Gram measures them; `b` unless they lie far from 0.
    slope : array of shape (d,) or None
        w, where it was computed apart from the multipliers (a Gram with features).
    """

    gram: Gram = field(repr=False)
    y: Array = field(repr=False)
    caps: Array = field(repr=False)
    alpha: Array = field(repr=False)
    b_at_origin: float
    slope: Array | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        keep(self, "y", "caps", "alpha", "slope")

    @classmethod
    def best(cls, gram: Gram, y: Array, caps: Array, alpha: Array, slope: Array | None = None) -> Classifier:
        """With the best intercept for the slope: the middle of the optimal ones, or the finite end of a half-line."""
        scores = gram.quadratic.scores(y * alpha, slope)
        return cls(gram, y, caps, alpha, point_of(best_intercepts(y, caps, scores)), slope)

    @property
    def coef(self) -> Array:  # type: ignore[override]  # computed, where the base has an array
        """``y_i alpha_i``, shape (n,)."""
        return self.y * self.alpha

    @cached_property
    def training_scores(self) -> Array:
        """``w . x_i``, without intercept, shape (n,)."""
        return self.gram.quadratic.scores(self.coef, self.slope)

    @cached_property
    def interval_at_origin(self) -> tuple[float, float]:
        """All optimal intercepts of features as the Gram measures them."""
        b = self.b_at_origin
        left, right = sides(self.y, self.caps, self.alpha, self.training_scores + b)
        at_bounds = np.where(left, self.caps, np.where(right, 0.0, self.alpha))
        lo, hi = intercept_interval(self.y, self.caps, at_bounds, self.training_scores)
        return min(lo, b), max(hi, b)


class Evidence(Protocol):
    """What stands behind a solution: `paretoclf.proof.evidence.Judged`, or what computes the same when asked."""

    @property
    def certificate(self) -> Certificate:
        """The proof."""
        ...

    @property
    def conditions(self) -> Sequence[Condition]:
        """The primal constraints, with their multipliers."""
        ...

    @property
    def numbers(self) -> Mapping[str, Any]:
        """Variables and multipliers by name."""
        ...


@dataclass(frozen=True, repr=False)
class Solution(Tabular):
    """A solved problem, whoever solved it.

    Attributes
    ----------
    classifier : Rule
        Decision function, with w, b and the interval of all optimal b.
    evidence : Evidence
        Certificate, optimality conditions and named numbers.
    source : str
        Who computed it: ``"path"``, ``"CLARABEL"``, ...
    status : str
        What the source claimed about it. Never trusted; see the certificate.
    timing : mapping
        Seconds by stage, such as ``build``, ``solve``, ``polish``.
    values : mapping of str to float
        Parameters of the formulation.
    costs : Costs, optional
        Where in the cost plane: for the 2C-SVM, and for solutions that are one of it too.
    notes : tuple of str
        What a reader must know of this solution, such as that it is not the only one.
    """

    classifier: Rule
    evidence: Evidence = field(repr=False)
    source: str
    status: str = "optimal"
    timing: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    costs: Any = None
    notes: tuple[str, ...] = ()

    @property
    def certificate(self) -> Certificate:
        """The proof: bounds on the optimal value and KKT residuals."""
        return self.evidence.certificate

    @property
    def numbers(self) -> Mapping[str, Any]:
        """Variables and multipliers by name."""
        return self.evidence.numbers

    @property
    def alpha(self) -> Array:
        """Multipliers of the margin constraints, shape (n,)."""
        return np.asarray(self._number("alpha"))

    @property
    def xi(self) -> Array:
        """Slacks, shape (n,)."""
        return np.asarray(self._number("xi"))

    @property
    def approximation(self) -> Approximation | None:
        """What the kernel that was solved for gives up, with ``low_rank``; None where it is the kernel itself."""
        gram: Gram | None = getattr(self.classifier, "gram", None)
        return None if gram is None else gram.approximation

    @property
    def value(self) -> float:
        """Primal objective at a feasible point (an upper bound on the optimal value)."""
        return self.certificate.primal_value

    @property
    def dual_value(self) -> float:
        """Dual objective at a feasible point (a lower bound on the optimal value)."""
        return self.certificate.dual_value

    def __repr__(self) -> str:
        c, at = self.certificate, ", ".join(f"{name}={value:g}" for name, value in self.values.items())
        return (
            f"Solution({at + ': ' if at else ''}value {c.primal_value:.10g}, optimal value in "
            f"[{c.dual_value:.10g}, {c.primal_value:.10g}], gap {c.gap:.1e}, by {self.source})"
        )

    def summary(self) -> dict[str, Any]:
        """Parameters, value with its proved bounds, gap, largest residual, intercept, and who found it."""
        c = self.certificate
        proved = {"lower": c.dual_value, "upper": c.primal_value, "gap": c.gap, "residual": c.residual}
        return {**self.values, **proved, "b": self.classifier.b, "source": self.source}

    def _rows(self) -> Iterator[dict[str, Any]]:
        """One row: the summary."""
        yield self.summary()

    def duality_table(self) -> DualityTable:
        """Tabulate slack, multiplier and product of every primal constraint, the largest violation first."""
        return DualityTable.of(self.evidence.conditions)

    def _number(self, name: str) -> Any:
        if name not in self.numbers:
            raise InputError(f"this solution has no {name}, only {', '.join(self.numbers)}")
        return self.numbers[name]


@dataclass(frozen=True)
class BoxEvidence:
    """Evidence of a 2C-SVM, computed when first asked for.

    Attributes
    ----------
    classifier : Classifier
    alpha_lo : array of shape (n,), optional
        What the classifier's multipliers miss of those that are judged.
    known : Certificate, optional
        The certificate, where it was computed together with others.
    """

    classifier: Classifier = field(repr=False)
    alpha_lo: Array | None = field(default=None, repr=False)
    known: Certificate | None = field(default=None, repr=False)

    @cached_property
    def certificate(self) -> Certificate:
        """The proof: bounds on the optimal value and KKT residuals."""
        if self.known is not None:
            return self.known
        c = self.classifier
        if self.alpha_lo is None:
            return certify_rules([c])[0]
        both, W = np.stack([c.alpha, self.alpha_lo]), None if c.slope is None else c.slope[:, None]
        found = certify_precisely(c.y, c.caps, both, c.b_at_origin, W=W, note=c.gram.note, Q=c.gram.quadratic)
        return replace(found, kernel_rounding=float(c.gram.value_rounding(c.alpha)))

    @property
    def numbers(self) -> dict[str, Any]:
        """Multipliers alpha in [0, cap], slacks ``xi = max(0, 1 - y f)``, intercept b of the features of the Gram."""
        c = self.classifier
        low = {} if self.alpha_lo is None else {"alpha_lo": self.alpha_lo}
        xi = np.maximum(0.0, 1.0 - c.y * (c.training_scores + c.b_at_origin))
        return {"alpha": c.alpha, "xi": xi, "b": c.b_at_origin} | low

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Margins and nonnegative slacks, with their multipliers alpha and c - alpha."""
        c, xi = self.classifier, self.numbers["xi"]
        f = c.training_scores + c.b_at_origin
        units: dict[str, Any] = {
            "slack_unit": 1.0 + np.abs(f),
            "multiplier_unit": balanced_units(c.y, c.caps),
        }
        return (
            Condition("margin", c.y * f - 1.0 + xi, c.alpha, **units),
            Condition("slack", xi, c.caps - c.alpha, **units),
        )


def certify_rules(rules: Sequence[Classifier]) -> list[Certificate]:
    """Certificates of classifiers of the same samples, all with a slope of their own or none, computed together."""
    if not rules:
        return []
    gram, y = rules[0].gram, rules[0].y
    caps, alpha = np.stack([rule.caps for rule in rules], axis=1), np.stack([rule.alpha for rule in rules], axis=1)
    slopes = [rule.slope for rule in rules if rule.slope is not None]
    W = np.stack(slopes, axis=1) if slopes else None
    b = np.array([rule.b_at_origin for rule in rules])
    found = certify_many(y, caps, alpha, b, W=W, note=gram.note, Q=gram.quadratic)
    unknown = gram.value_rounding(alpha)
    return [replace(each, kernel_rounding=float(value)) for each, value in zip(found, unknown, strict=True)]


def make_solution(
    classifier: Classifier,
    costs: Any,
    *,
    alpha_lo: Array | None = None,
    certificate: Certificate | None = None,
    source: str,
    status: str = "optimal",
    timing: Mapping[str, float] | None = None,
) -> Solution:
    """Complete a classifier to a Solution.

    Parameters
    ----------
    classifier : Classifier
    costs : Costs or SampleCosts
        Those it was trained for.
    alpha_lo : array of shape (n,), optional
        What its multipliers miss of those that the certificate is for.
    certificate : Certificate, optional
        Its certificate, where that is known; by default computed when first asked for.
    source, status, timing
        Passed on.
    """
    return Solution(
        classifier=classifier,
        evidence=BoxEvidence(classifier, alpha_lo, certificate),
        source=source,
        status=status,
        timing=dict(timing or {}),
        values={name: float(cost) for name, cost in vars(costs).items()} if isinstance(costs, Costs) else {},
        costs=costs,
    )


def sides(y: Array, caps: Array, alpha: Array, scores: Array) -> tuple[Mask, Mask]:
    """Masks (left, right) of the samples that belong at their cap and at zero; the rest is the margin set.

    A sample belongs at a bound when its multiplier is closer to that bound (in units of what it can reach) than its
    margin is to 1 on that bound's side; ``scores`` include the intercept. An interior-point answer is a little inside
    every bound, so the distance to the bound alone does not tell.
    """
    slack, unit = y * scores - 1.0, balanced_units(y, caps)
    return (slack < 0) & (caps - alpha < -slack * unit), (slack > 0) & (alpha < slack * unit)


def intercept_interval(y: Array, caps: Array, alpha: Array, scores: Array, tol: float = 1e-9) -> tuple[float, float]:
    """All optimal intercepts for the multipliers alpha, given scores ``w . x_i`` without intercept.

    ``b_lo`` is the largest ``y_i - w.x_i`` over positives below their cap and negatives above zero, ``b_hi`` the
    smallest over positives above zero and negatives below their cap. A multiplier within ``tol`` of a bound
    (relative to what it can reach, `balanced_units`) counts as at it. Half-lines have an infinite end.
    """
    F, unit = y - scores, balanced_units(y, caps)
    above = alpha > tol * unit
    below = caps - alpha > tol * unit
    lower = np.where(y > 0, below, above)
    upper = np.where(y > 0, above, below)
    lo = float(F[lower].max()) if lower.any() else -np.inf
    hi = float(F[upper].min()) if upper.any() else np.inf
    if lo > hi:  # rounding only: the two ends are one point
        lo = hi = 0.5 * (lo + hi)
    return lo, hi


def best_intercepts(y: Array, caps: Array, scores: Array) -> tuple[float, float]:
    """Ends of the interval of b that minimise ``sum_i c_i max(0, 1 - y_i (scores_i + b))``, for any scores.

    The sum is convex and piecewise linear in b; its slope grows by ``c_i`` at ``y_i - scores_i``, from minus the
    positives' costs on the far left.
    """
    kinks = y - scores
    order = np.argsort(kinks, kind="stable")
    cost, positive = caps[order], y[order] > 0
    # Between kinks[k - 1] and kinks[k] the slope is the costs of the negatives below less those of the positives above:
    # either sum is of one sign, so that their difference has its sign however small one class's costs are.
    below = np.concatenate([[0.0], np.cumsum(np.where(positive, 0.0, cost))])
    above = np.concatenate([np.cumsum(np.where(positive, cost, 0.0)[::-1])[::-1], [0.0]])
    slope, flat = below - above, FLAT * np.maximum(below, above)
    first = int(np.argmax(slope >= -flat))
    last = slope.size - 1 - int(np.argmax((slope <= flat)[::-1]))
    ends = np.concatenate([[-np.inf], kinks[order], [np.inf]])
    return float(ends[first]), float(ends[max(last + 1, first)])


def point_of(interval: tuple[float, float]) -> float:
    """Middle of a finite interval, finite end of a half-line, 0 for the whole line."""
    lo, hi = interval
    if np.isfinite(lo) and np.isfinite(hi):
        return 0.5 * (lo + hi)
    if np.isfinite(lo):
        return lo
    return hi if np.isfinite(hi) else 0.0
