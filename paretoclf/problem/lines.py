"""Lines of parameters, along which a formulation has exact paths, and the one problem that each of them follows.

A formulation declares by ``lines`` which of these its paths are along; ``svm.line(...)`` is one of them, with the
`ParametricQP` of its multipliers as data. The package's four kinds are followed by `paretoclf.trace` without CVXPY.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from paretoclf.common.checks import Array, Index, check_pair, check_positive_number, check_share, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import NU_ROUNDING
from paretoclf.problem.costs import CostLine, Costs, SampleCosts, as_costs, per_sample
from paretoclf.problem.gram import Gram
from paretoclf.problem.nu import caps_of, nu_max, to_asymmetry, to_classes
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import ParametricQP

_EXTREME = 1e12  # the largest ratio of two margins: beyond it, and below its inverse, b is at its limit up to rounding


class Labelled(Protocol):
    """Samples and labels, of a formulation or alone."""

    @property
    def gram(self) -> Gram:
        """Kernel values."""
        ...

    @property
    def y(self) -> Array:
        """Labels."""
        ...


class Weighted(Labelled, Protocol):
    """Samples, labels and weights, of a formulation or alone."""

    @property
    def sample_weight(self) -> Array:
        """Weights of the samples' costs."""
        ...


class Ratio(Labelled, Protocol):
    """Interface of a formulation of two margins."""

    @property
    def soft(self) -> bool:
        """Whether margins may be violated."""
        ...

    @property
    def nearest(self) -> Index | None:
        """Samples at which the classes of a hard problem nearly touch, else None."""
        ...

    def check_values(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Parameters as floats; raises where the classes must be separable and are not."""
        ...


@dataclass(frozen=True)
class LabelledSamples:
    """Samples without a formulation, as those of a fold or of an estimator: all that a path needs.

    Attributes
    ----------
    gram : Gram
    y : array of shape (n,)
        Labels -1 and +1.
    sample_weight : array of shape (n,), optional
        Weights of the samples' costs; default 1.
    """

    gram: Gram
    y: Array = field(repr=False)
    sample_weight: Array = field(default_factory=lambda: np.zeros(0), repr=False)

    def __post_init__(self) -> None:
        if not self.sample_weight.size:
            object.__setattr__(self, "sample_weight", np.ones(self.y.size))


@dataclass(frozen=True)
class SampleLine(ABC):
    """A line of parameters of a formulation of labelled samples.

    Attributes
    ----------
    gram : Gram
    y : array of shape (n,)
    """

    gram: Gram = field(repr=False)
    y: Array = field(repr=False)

    #: Name of the formulation that has these lines.
    of_formulation: ClassVar[str]
    #: Attributes that a formulation must have for them.
    needs: ClassVar[tuple[str, ...]] = ("gram", "y")

    @classmethod
    def ways(cls, svm: Any) -> tuple[tuple[str, ...], ...]:
        """Names of the parameters that `of` takes; where there are several ways to state a line, of each."""
        raise NotImplementedError

    @classmethod
    @abstractmethod
    def of(cls, svm: Any, *ends: Any) -> Self:
        """Line of a formulation between parameters, which are checked."""

    @property
    @abstractmethod
    def problem(self) -> ParametricQP:
        """Problem that a path follows: the dual of the formulation, t in [0, 1]; its values are minus the primal's."""

    @property
    def _signed(self) -> Signed:
        """Quadratic term of the dual: that of the samples, with the signs of their labels."""
        return Signed(self.gram.quadratic, self.y)


@dataclass(frozen=True)
class LineOfCosts(SampleLine):
    """A line of the 2C-SVM: its caps, the upper bounds of the multipliers, go from one pair of costs to another.

    Attributes
    ----------
    sample_weight : array of shape (n,)
    ends : CostLine
    """

    sample_weight: Array = field(repr=False)
    ends: CostLine

    of_formulation = "TwoCSVM"
    needs = ("gram", "y", "sample_weight")

    @classmethod
    def ways(cls, svm: Any) -> tuple[tuple[str, ...], ...]:
        """One way: the costs at both ends."""
        return (("start", "stop"),)

    @classmethod
    def of(cls, svm: Weighted, start: Any, stop: Any) -> LineOfCosts:
        """Line from start to stop, pairs (C_plus, C_minus), Costs or SampleCosts."""
        ends = [costs_of(start, "start", svm.y), costs_of(stop, "stop", svm.y)]
        if any(isinstance(costs, SampleCosts) for costs in ends):
            ends = [SampleCosts(per_sample(costs, svm.y)) for costs in ends]
        return cls(svm.gram, svm.y, svm.sample_weight, CostLine(*ends))

    @property
    def caps(self) -> Array:
        """Caps at both ends, shape (2, n)."""
        ends = self.ends.start, self.ends.stop
        return np.stack([self.sample_weight * per_sample(end, self.y) for end in ends])

    @property
    def problem(self) -> ParametricQP:
        """Dual of the 2C-SVM: one equation, that of the intercept."""
        return problem_of_costs(self._signed, self.caps)


def problem_of_costs(form: Signed, caps: Array) -> ParametricQP:
    """Dual of the 2C-SVM with caps (2, n) at both ends, of samples as they are measured."""
    return ParametricQP.box(form, np.ones(form.sign.size), form.sign[None], caps)


def costs_of(given: Any, name: str, y: Array) -> Costs | SampleCosts:
    """Check costs of these samples, one for each class or for each sample."""
    costs = given if isinstance(given, SampleCosts) else as_costs(given, name)
    if isinstance(costs, SampleCosts) and costs.values.size != y.size:
        raise InputError(f"{name} must give {y.size} samples their costs, got {costs.values.size}")
    return costs


@dataclass(frozen=True)
class FixedAsymmetry:
    """Line whose parameter is nu, at one asymmetry; multipliers are those of the 2nu-SVM."""

    asymmetry: float
    n_plus: int
    n_minus: int

    def classes(self, t: float) -> tuple[float, float]:
        """``(nu_plus, nu_minus)`` at t."""
        return to_classes(t, self.asymmetry, self.n_plus, self.n_minus)

    def nu(self, t: float) -> tuple[float, float]:
        """``(nu, asymmetry)`` at t."""
        return t, self.asymmetry


@dataclass(frozen=True)
class HullLine:
    """Line on which 1/nu_plus and 1/nu_minus are affine in the parameter, from 0 to 1; multipliers are hull weights.

    ``start`` and ``stop`` are pairs (nu_plus, nu_minus).
    """

    start: tuple[float, float]
    stop: tuple[float, float]
    n_plus: int
    n_minus: int

    def classes(self, t: float) -> tuple[float, float]:
        """``(nu_plus, nu_minus)`` at t."""
        (start_plus, start_minus), (stop_plus, stop_minus) = self.start, self.stop
        plus = 1.0 / ((1.0 - t) / start_plus + t / stop_plus)
        minus = 1.0 / ((1.0 - t) / start_minus + t / stop_minus)
        return plus, minus

    def nu(self, t: float) -> tuple[float, float]:
        """``(nu, asymmetry)`` at t."""
        return to_asymmetry(*self.classes(t), self.n_plus, self.n_minus)


@dataclass(frozen=True)
class LineOfNu(SampleLine):
    """A line of the 2nu-SVM: of nu at fixed asymmetry, or of the inverses of nu_plus and nu_minus.

    Attributes
    ----------
    along : FixedAsymmetry or HullLine
    ends : pair of float
        The path parameter at t = 0 and t = 1: nu, or 0 and 1.
    """

    along: FixedAsymmetry | HullLine
    ends: tuple[float, float]

    of_formulation = "TwoNuSVM"

    @classmethod
    def ways(cls, svm: Any) -> tuple[tuple[str, ...], ...]:
        """Two ways: the pairs at both ends, or an interval of nu at an asymmetry."""
        return ("start", "stop"), ("nu", "asymmetry")

    @classmethod
    def of(  # type: ignore[override]
        cls, svm: Labelled, start: Any = None, stop: Any = None, *, nu: Any = None, asymmetry: Any = None
    ) -> LineOfNu:
        """Line from start to stop, pairs (nu_plus, nu_minus); or an interval of nu at an asymmetry."""
        if start is None and stop is None:
            return cls._of_nu(svm, nu, asymmetry)
        first, last = _nu_pair(start, "start"), _nu_pair(stop, "stop")
        if first == last:
            raise InputError(f"stop must differ from start, got {last} for both")
        along = HullLine(first, last, *sizes_of(svm.y))
        return cls(svm.gram, svm.y, along, (0.0, 1.0))

    @classmethod
    def _of_nu(cls, svm: Labelled, nu: Any, asymmetry: Any) -> LineOfNu:
        """Line over an interval (lo, hi) of nu at an asymmetry: None for hi is the largest feasible nu, for lo 0."""
        sizes, asymmetry = sizes_of(svm.y), check_share(asymmetry, "asymmetry")
        top = nu_max(asymmetry, *sizes)
        lo, hi = check_pair(nu, "nu", default=(0.0, top))
        if not 0 <= lo < hi <= top * (1 + NU_ROUNDING):
            raise InputError(
                f"nu must be a pair (lo, hi) with 0 <= lo < hi <= {top:.9g} (the largest feasible nu at asymmetry "
                f"{asymmetry:.6g}), got ({lo!r}, {hi!r})"
            )
        return cls(svm.gram, svm.y, FixedAsymmetry(asymmetry, *sizes), (lo, min(hi, top)))

    @property
    def problem(self) -> ParametricQP:
        """Dual of the 2nu-SVM: two equations, the multipliers of either class sum to nu / 2, or hull weights to 1."""
        if isinstance(self.along, HullLine):
            nus = np.array([self.along.classes(t) for t in self.ends])
            of_classes = 1.0 / (nus * sizes_of(self.y))
            caps = np.stack([by_class(self.y, *each) for each in of_classes])
            sums = np.ones((2, 1))
        else:
            caps = np.stack([caps_of(self.along.asymmetry, self.y)] * 2)
            sums = 0.5 * np.array(self.ends)[:, None]
        rows = sides_of(self.y)
        return ParametricQP.box(self._signed, np.zeros(self.y.size), rows, caps, sums)


def by_class(y: Array, plus: Any, minus: Any) -> Array:
    """Array of a number for each sample, by its class."""
    return np.asarray(np.where(y > 0, plus, minus))


def sides_of(y: Array) -> Array:
    """Ones for the samples of either class, shape (2, n)."""
    return np.stack([y > 0, y < 0]).astype(np.float64)


def sizes_of(y: Array) -> tuple[int, int]:
    """Numbers of positives and of negatives."""
    return int(np.count_nonzero(y > 0)), int(np.count_nonzero(y < 0))


def _nu_pair(given: Any, name: str) -> tuple[float, float]:
    """Check a pair (nu_plus, nu_minus)."""
    pair = check_pair(given, name, "(nu_plus, nu_minus)")
    if not (0 < pair[0] <= 1 and 0 < pair[1] <= 1):
        raise InputError(f"{name} must be a pair (nu_plus, nu_minus) within (0, 1], got {given!r}")
    return pair


class Homogeneous(Labelled, Protocol):
    """Interface of a formulation without a free intercept."""

    @property
    def bias(self) -> bool:
        """Whether a constant feature 1 is added."""
        ...


@dataclass(frozen=True)
class LineOfTau(SampleLine):
    """A line of the quantile SVM: the cost goes from the positives to the negatives.

    Attributes
    ----------
    bias : bool
        Whether there is a constant feature 1.
    lam : float
        Weight of the squared norm.
    ends : pair of float
        tau at t = 0 and t = 1.
    """

    bias: bool
    lam: float
    ends: tuple[float, float]

    of_formulation = "QuantileSVM"
    needs = ("gram", "y", "bias")

    @classmethod
    def ways(cls, svm: Any) -> tuple[tuple[str, ...], ...]:
        """One way: an interval of tau at a lam."""
        return (("tau", "lam"),)

    @classmethod
    def of(cls, svm: Homogeneous, tau: Any, lam: Any) -> LineOfTau:
        """Line over an interval of tau, a pair (lo, hi), at a lam."""
        lo, hi = check_pair(tau, "tau")
        if not 0 <= lo < hi <= 1:
            raise InputError(f"tau must be a pair (lo, hi) with 0 <= lo < hi <= 1, got ({lo!r}, {hi!r})")
        return cls(svm.gram, svm.y, svm.bias, check_positive_number(lam, "lam"), (lo, hi))

    @property
    def caps(self) -> Array:
        """Caps of the formulation's multipliers at both ends, shape (2, n)."""
        n = self.y.size
        of_classes = [(2 * (1 - tau) / n, 2 * tau / n) for tau in self.ends]
        return np.stack([by_class(self.y, *each) for each in of_classes])

    def costs(self, tau: float) -> Array:
        """Caps of the positives and of the negatives in `problem` at tau, shape (2,)."""
        total = 2 / (self.y.size * self.lam)
        return np.array([(1 - tau) * total, tau * total])

    @property
    def problem(self) -> ParametricQP:
        """Dual over lam, of multipliers over lam: no equation, the bias is a feature."""
        Q, n = self.gram.quadratic, self.y.size
        form = Signed(Q.plus_constant() if self.bias else Q, self.y)
        caps = np.stack([by_class(self.y, *self.costs(tau)) for tau in self.ends])
        return ParametricQP.box(form, np.ones(n), np.zeros((0, n)), caps)


@dataclass(frozen=True)
class LineOfTheta(SampleLine):
    """A line of the biobjective margin, of the positives' share of the margin.

    Attributes
    ----------
    slack_costs : Costs or None
        Costs of the squared slacks; None for the hard problem.
    ends : pair of float or Fraction
        ``theta / (1 + theta)`` at t = 0 and t = 1.
    nearest : int array, optional
        In a hard problem whose classes nearly touch, the samples at which they do.
    """

    slack_costs: Costs | None
    ends: tuple[float | Fraction, float | Fraction]
    nearest: Index | None = field(default=None, repr=False)

    of_formulation = "BiobjectiveMargin"
    needs = ("gram", "y", "soft", "check_values")

    @classmethod
    def ways(cls, svm: Any) -> tuple[tuple[str, ...], ...]:
        """One way: an interval of theta; with costs of squared slacks where the problem is soft."""
        return (("theta", "C_plus", "C_minus") if svm.soft else ("theta",),)

    @classmethod
    def of(cls, svm: Ratio, theta: Any, C_plus: Any = None, C_minus: Any = None) -> LineOfTheta:
        """Line over an interval of theta, a pair (lo, hi); with costs of squared slacks where the problem is soft."""
        lo, hi = check_pair(theta, "theta")
        if not (1 / _EXTREME <= lo < hi <= _EXTREME and lo / (1 + lo) < hi / (1 + hi)):
            raise InputError(
                f"theta must be a pair (lo, hi) with {1 / _EXTREME:g} <= lo < hi <= {_EXTREME:g}, got ({lo!r}, {hi!r})"
            )
        given = {"C_plus": C_plus, "C_minus": C_minus} if svm.soft else {}
        values = svm.check_values({"theta": lo, **given})
        costs = Costs(values["C_plus"], values["C_minus"]) if svm.soft else None
        shares = lo / (1 + lo), hi / (1 + hi)
        return cls(svm.gram, svm.y, costs, shares, svm.nearest)

    @property
    def margins(self) -> Any:
        """Margins: 2 share of positives and 2 (1 - share) of negatives, fractions, at both ends, shape (2, n)."""
        shares = [Fraction(end) for end in self.ends]
        return np.stack([by_class(self.y, 2 * share, 2 * (1 - share)) for share in shares])

    @property
    def augmented(self) -> Gram:
        """Kernel for which the problem is a hard one: one more feature a sample, of length 1 / sqrt(C)."""
        if self.slack_costs is None:
            return self.gram
        return Gram.of(self.gram.quadratic.plus_diagonal(1.0 / by_class(self.y, *self.slack_costs)))

    @property
    def problem(self) -> ParametricQP:
        """Half the dual: margins of 2 share and of 2 (1 - share), no caps, one equation."""
        margins = self.margins.astype(np.float64)
        form = Signed(self.augmented.quadratic, self.y)
        no_caps = np.full(margins.shape, np.inf)
        box = ParametricQP.box(form, margins[0], self.y[None], no_caps)
        return replace(box, q=-margins)


def lines_of(svm: Any, only: type[SampleLine] | None = None) -> type[SampleLine]:
    """Return the lines along which a formulation declares its exact paths.

    Parameters
    ----------
    svm : formulation
    only : type, optional
        Lines that the caller needs.

    Raises
    ------
    InputError
        If svm is no formulation, declares none or others, or lacks what they need.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.problem.lines import lines_of
    >>> lines_of(pc.QuantileSVM([[1.0], [-1.0]], [1, -1])).__name__
    'LineOfTau'
    """
    name = type(svm).__name__
    if isinstance(svm, LabelledSamples) and only is not None:  # alone they are samples of any problem
        return only
    if isinstance(svm, type) or not hasattr(svm, "lines"):
        raise InputError(f"svm must be a formulation of your samples, such as TwoCSVM(X, y), got {what_it_is(svm)}")
    declared = svm.lines
    if declared is None:
        raise InputError(f"no exact path for {name}: use sweep")
    if not (isinstance(declared, type) and issubclass(declared, SampleLine)):
        known = ", ".join(each.__name__ for each in (LineOfCosts, LineOfTau, LineOfTheta, LineOfNu))
        raise InputError(f"lines of {name} must be one of {known} or None, got {declared!r}")
    if only is not None and not issubclass(declared, only):
        raise InputError(f"svm must be a {only.of_formulation}, or declare lines = {only.__name__}, got a {name}")
    missing = [attribute for attribute in declared.needs if not hasattr(svm, attribute)]
    if missing:
        raise InputError(f"{name} declares lines = {declared.__name__} and must have {', '.join(missing)} for it")
    return declared
