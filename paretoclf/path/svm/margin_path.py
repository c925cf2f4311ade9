r"""Paths of the biobjective margin problem: without a solver, from the hard margin at the end of a path of costs.

Its solutions at every theta follow from that at theta = 1, where it is the hard-margin SVM; with squared slacks, that
of the kernel :math:`k+\mathrm{diag}(1/C)`. Where a hyperplane separates the classes, the balanced ray of the 2C-SVM
reaches it: from some cost on no multiplier is at its cap, and nothing moves any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, check_positive_number
from paretoclf.common.errors import DegeneratePathError, StoppedError
from paretoclf.common.progress import NO_LIMITS, PathLimits
from paretoclf.engine.sets import LEFT, MARGIN, RIGHT
from paretoclf.path.base.path import Rates
from paretoclf.path.svm.cost_path import Path, trace_costs
from paretoclf.path.svm_lines.svm_path import OnPieces, proved
from paretoclf.problem.class_margins import ClassMargins, class_margins
from paretoclf.problem.costs import Costs
from paretoclf.problem.exact_sums import total
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import LabelledSamples, LineOfTheta, Ratio
from paretoclf.problem.pieces import Pieces
from paretoclf.problem.touching import by_the_nearest
from paretoclf.proof.lines.margin_lines import prove_margins
from paretoclf.proof.points.margins import judge_margins
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.segments.line_proof import LineProof
from paretoclf.proof.verdicts.evidence import Evidence, Judged
from paretoclf.proof.verdicts.exact_bounds import ExactBounds
from paretoclf.proof.verdicts.solution import Solution

_FURTHER = 16.0  # the ray is followed so much further each time that a multiplier is still at its cap
_TIMES = 30


def trace_margins(
    svm: Ratio,
    theta: Any,
    C_plus: Any = None,
    C_minus: Any = None,
    *,
    engine: str | None = None,
    certify: bool = True,
    limits: PathLimits = NO_LIMITS,
    progress: bool | None = None,
) -> MarginPath:
    """Solve the biobjective margin problem at every theta of an interval, exactly.

    For the arguments see `paretoclf.path.tracing.trace`; theta is between 1e-12 and 1e12. Only samples, labels and
    kernel of the problem are used, no solver but a linear program that decides whether the classes of a hard problem
    can be separated.

    Raises
    ------
    InseparableError
        If the problem is hard and no hyperplane separates the classes.

    References
    ----------
    Carrizosa & Martin-Barragan (2006), Theorem 5, Corollary 6, Theorem 7.

    Examples
    --------
    >>> from paretoclf.formulations.biobjective_margin import BiobjectiveMargin
    >>> from paretoclf.path.svm.margin_path import trace_margins
    >>> path = trace_margins(BiobjectiveMargin([[2.0], [-1.0]], [1, -1], soft=False), theta=(0.25, 4))
    >>> path.worst_certificate.passes(1e-12), [round(path.intercept(s), 9) for s in path.breakpoints]
    (True, [-0.933333333, 0.266666667])
    """
    line = LineOfTheta.of(svm, theta, C_plus, C_minus)
    began = time.perf_counter()

    def solve(gram: Gram, y: Array) -> Path:
        """Balanced ray of some samples, up to their hard margin."""
        return _hard_margin(gram, y, engine=engine, limits=limits, progress=progress)

    found = _by_the_nearest(line, solve)
    if found is None:
        ray = solve(line.augmented, line.y)
        state, margin = ray.basis(1.0)
        alpha, b, w = ray.alpha(1.0), ray._intercept(1.0), _slope(line.gram, ray)
    else:
        (alpha, b), w = found, None
        margin = np.flatnonzero(alpha)
        state = np.where(alpha > 0, MARGIN, RIGHT).astype(np.int8)
    weighed = 2.0 * alpha[margin]  # the objective is |w|^2, not half of it
    ends = np.array(line.ends)
    value = 0.5 * float(weighed.sum())
    pieces = Pieces.still(ends, margin, weighed, b + 2 * ends - 1, value, w, state)
    path = MarginPath(line.gram, line.y, line.slack_costs, pieces=pieces, seconds=time.perf_counter() - began)
    if found is None and not path.soft and not path.proof.holds():
        path = _precisely(path, ray)
    return proved(path) if certify else path


def _precisely(path: MarginPath, ray: Path) -> MarginPath:
    """Path with multipliers in two doubles, on the basis that the ray ends with; as it is if there are none."""
    P = path.pieces
    found = ray._solve(1.0, ray.pieces.t.size - 2)
    if found is None:
        return path
    weighed, b = 2.0 * found.alpha, found.b + (2.0 * P.t - 1.0)
    high, low = weighed
    value = 0.5 * total(weighed)
    w = None if P.w is None or found.w is None else np.stack([found.w, found.w])
    pieces = Pieces.still(P.t, P.index, high[P.index], b, value, w, P.state)
    return replace(path, pieces=pieces, low=low)


def _by_the_nearest(line: LineOfTheta, solve: Callable[[Gram, Array], Path]) -> tuple[Array, float] | None:
    """Multipliers and intercept of a hard problem whose classes nearly touch; None for others."""

    def few(Z: Array, y: Array) -> tuple[Array, float]:
        """Multipliers and intercept of a few samples."""
        ray = solve(Gram(Z), y)
        return ray.alpha(1.0), ray.intercept(1.0)

    return None if line.nearest is None else by_the_nearest(line.gram, line.y, line.nearest, few)


def _slope(gram: Gram, ray: Path) -> Array | None:
    """Slope at both ends of the one piece, as precise as the tracker has it; None where it does not keep it."""
    w = ray.pieces.w
    width = gram.quadratic.width
    return None if w is None or not width else np.repeat(w[-1:, :width], 2, axis=0)


def _hard_margin(gram: Gram, y: Array, **how: Any) -> Path:
    """Trace the balanced ray up to where no multiplier is at its cap; no part of it is a path of theta."""
    svm = LabelledSamples(gram, y)
    plus, minus = int((y > 0).sum()), int((y < 0).sum())
    means = y / np.where(y > 0, plus, minus)
    distance2 = float(means @ gram.matvec(means))  # squared, of the class means: at least that of the hulls
    at_margin = 2.0 / max(distance2, np.finfo(float).tiny)  # sum of the multipliers of a class there, at least
    total = _FURTHER * at_margin
    for _ in range(_TIMES):
        stop = total / plus, total / minus
        try:
            ray = trace_costs(svm, (0.0, 0.0), stop, certify=False, **how)
        except StoppedError as stopped:
            stopped.path = None
            raise
        if (ray.sets(1.0) != LEFT).all():
            return ray
        total *= _FURTHER
    raise DegeneratePathError(
        "the classes are too close to each other: some multipliers are still at their cap",
        t=None, costs=f"C_plus={stop[0]:.3g}, C_minus={stop[1]:.3g}", n_margin=int(ray.n_margin[-1]),
        remedy="Standardise the features, or use the soft problem.",
    )  # fmt: skip


# ---- the path --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MarginPath(OnPieces):
    r"""Solutions of the biobjective margin problem at every theta of an interval.

    The parameter is the positives' share of the margin, ``share = theta / (1 + theta)``, in which all is affine: the
    positives are to keep the distance ``2 share / |w|`` from the hyperplane, the negatives ``2 (1 - share) / |w|``. One
    piece has it all: w is the same everywhere, and ``b = b_1 + 2 share - 1``, b_1 being that of theta = 1.

    Attributes
    ----------
    gram : Gram
    y : array of shape (n,)
    slack_costs : Costs or None
        Costs of the squared slacks; None for the hard problem.
    pieces : Pieces
        The stored solution: its ``t`` is the share, its multipliers are those of theta = 1, where
        :math:`|\bar y_i|\lambda_i` is the same at every theta.
    seconds : float
        Time that tracing took, certificates excluded.
    low : array of shape (n,), optional
        Second halves of the stored multipliers, where they need two doubles each: of classes that a wide kernel hardly
        tells apart.

    References
    ----------
    Carrizosa & Martin-Barragan (2006), Theorem 5, Corollary 6, Theorem 7: at the ends 0 and 1 of the share, which are
    not reached, a margin would vanish.

    Examples
    --------
    >>> import paretoclf as pc
    >>> hard = pc.BiobjectiveMargin([[1.0], [-1.0]], [1, -1], soft=False)
    >>> path = pc.trace(hard, theta=(0.01, 100))
    >>> path.margins(path.share(3.0))
    (1.5..., 0.5...)
    """

    slack_costs: Costs | None
    low: Array | None = field(default=None, repr=False, kw_only=True)

    no_page = "of margins, along which no sample changes its set"

    @property
    def parameter(self) -> str:
        """Name of t in messages: ``"share"``."""
        return "share"

    def __repr__(self) -> str:
        kind = f"soft, {self.slack_costs}" if self.soft else "hard"
        lo, hi = (self.theta(float(share)) for share in self.breakpoints)
        return (
            f"MarginPath(theta {lo:.6g} to {hi:.6g}, {kind}, {self.y.size} samples, {self.n_margin[0]} on their margin)"
        )

    @property
    def soft(self) -> bool:
        """Whether margins may be missed."""
        return self.slack_costs is not None

    def share(self, theta: float) -> float:
        """Path parameter of a ratio of margins: ``theta / (1 + theta)``."""
        theta = check_positive_number(theta, "theta")
        return theta / (1.0 + theta)

    def theta(self, share: float) -> float:
        """Ratio of the margins at a path parameter: ``share / (1 - share)``."""
        self._inside(share)
        return float(share / (1.0 - share))

    @property
    def _whole_line(self) -> LineOfTheta:
        lo, hi = (float(share) for share in self.pieces.t)
        return LineOfTheta(self.gram, self.y, self.slack_costs, (lo, hi))

    @property
    def _about(self) -> str:
        ends = self._whole_line.ends
        return "t = 0 and t = 1 are the shares {!r} and {!r} of the margin; twice the value".format(*ends)

    def costs(self, share: float) -> Costs | None:
        """Costs of the squared slacks, the same at every share; None for the hard problem."""
        self._inside(share)
        return self.slack_costs

    def caps(self, share: float) -> Array:
        """Upper bounds of the multipliers, shape (n,): there are none."""
        self._inside(share)
        return np.full(self.y.size, np.inf)

    def alpha(self, share: float) -> Array:
        """Multipliers of the margin constraints as the paper has them, shape (n,)."""
        return np.where(self.y > 0, self._weighed, self._weighed / self.theta(share))

    @cached_property
    def _weighed(self) -> Array:
        r"""Multipliers times :math:`|\bar y_i|`, shape (n,)."""
        alpha = np.zeros(self.y.size)
        alpha[self.pieces.index] = self.pieces.a0
        return alpha

    def _coef(self, share: float) -> Array:
        return np.asarray(0.5 * self.y * self._weighed)

    def slope(self, share: float) -> Array:
        """Slope w, shape (d,), linear kernel only; it is the same at every share."""
        self._inside(share)
        w = self.pieces.w
        return super().slope(share) if w is None else w[0].copy()

    def margins(self, share: float) -> tuple[float, float]:
        """Margins of the positive and of the negative class; in the soft problem with the slacks, as in (28)."""
        self._inside(share)
        return 2 * share / self._norm, 2 * (1 - share) / self._norm

    @property
    def slacks(self) -> Array:
        """Slacks xi, shape (n,), in units of the score, the same at every share; zeros in the hard problem."""
        if self.slack_costs is None:
            return np.zeros(self.y.size)
        return np.asarray(0.5 * self._weighed / np.where(self.y > 0, *self.slack_costs))

    def hyperplane(self, w: Any, b: float, xi: Any = None) -> ClassMargins:
        """Grade any hyperplane: its two margins, whether it is Pareto-optimal, and one that is better in both.

        Parameters
        ----------
        w : array of shape (d,)
            Slope; linear kernel only.
        b : float
            Intercept.
        xi : array of shape (n,), optional
            Slacks, in the soft problem; default none.

        Raises
        ------
        InputError
            If an argument is not as above, the kernel is not linear, or slacks are given to the hard problem.

        References
        ----------
        Carrizosa & Martin-Barragan (2006), Definition 2, equation (28), Theorem 5, Corollary 6, Theorem 7.
        """
        return class_margins(self.gram, self.y, w, b, xi, self.slack_costs, 2.0 / self._norm)

    @cached_property
    def _norm(self) -> float:
        """Norm of w; in the soft problem that of (w, xi), the slacks weighed by their costs."""
        return float(np.sqrt(self.value(float(self.breakpoints[0]))))

    def _at(self, share: float) -> Solution:
        costs = {} if self.slack_costs is None else vars(self.slack_costs)
        values = {"theta": self.theta(share), **costs}
        evidence = Evidence(partial(self.judged, share))
        return Solution(self._rule_at(share), evidence, "path", values=values)

    def _where(self, t: Any, parameter: Mapping[str, Any]) -> float:
        if t is None and [*parameter] == ["theta"]:
            t, parameter = self.share(parameter["theta"]), {}
        return super()._where(t, parameter)

    @property
    def bent(self) -> tuple[str, ...]:
        """Names of the multipliers: those of the negatives are in proportion to (1 - share) / share."""
        return self.duals

    def parameters(self, t: float) -> dict[str, Any]:
        """Values at t of the share, and of the ratio of the margins."""
        return {"share": t, "theta": self.theta(t)}

    def _value_unit(self, t: float) -> float:
        return 2.0

    def _rates(self, j: int, t: float) -> Rates:
        value, variables, _ = super()._rates(j, t)
        falls = np.where(self.y > 0, 0.0, -self._weighed / t**2)  # of the negatives: in proportion to (1 - t) / t
        return value, variables, {"alpha": falls}

    def _knot_coef(self, knots: Array) -> Array:
        return np.repeat(self._coef(float(knots[0]))[:, None], knots.size, axis=1)

    def judged(self, share: float) -> Judged:
        """Judge the solution at a share."""
        w, b = self._stored_slope(share), self._intercept(share)
        theta = self.theta(share)
        alpha = self.alpha(share)
        if self.low is None:
            return judge_margins(self.soft_margin, theta, alpha, b, w)
        weighed = np.where(self.y > 0, alpha, theta * alpha)
        low = (self._weighed - weighed) + self.low
        return judge_margins(self.soft_margin, theta, alpha, b, w, low)

    def _proved(self) -> LineProof:
        return prove_margins(self.soft_margin, self.pieces, self.parameter, self.low)

    def _exact_bounds(self, share: float) -> ExactBounds:
        p: Any = Fraction(share)
        b, w = self._intercept(share), self._stored_slope(share)
        parts = [self._weighed] if self.low is None else [self._weighed, self.low]
        targets = np.where(self.y > 0, 2 * p, 2 * (1 - p))
        return self.soft_margin.bounds(np.stack(parts), b, w, targets)

    @property
    def soft_margin(self) -> SoftMargin:
        """Equivalent problem of one margin, with squared slacks or none."""
        of_class = self.slack_costs
        costs = None if of_class is None else np.where(self.y > 0, of_class.C_plus, of_class.C_minus)
        return SoftMargin.of(self.gram, self.y, squares=costs, lam=2.0)

    def _arrays(self) -> Mapping[str, Any]:
        costs = () if self.slack_costs is None else tuple(self.slack_costs)
        low = {} if self.low is None else {"low": self.low}
        return {**super()._arrays(), "slack_costs": np.array(costs), **low}
