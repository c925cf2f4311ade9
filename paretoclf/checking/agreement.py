"""Comparison of an exact path, or of a sweep, with CVXPY solutions of the same problem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from paretoclf.common.checks import Array, Rng, check_count, check_rng, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.common.tables import SHOWN, Tabular, listing
from paretoclf.common.tolerances import AGREE_OBJECTIVE
from paretoclf.formulations.base import Formulation
from paretoclf.formulations.biobjective_margin import BiobjectiveMargin
from paretoclf.formulations.quantile_svm import QuantileSVM
from paretoclf.formulations.two_c_svm import TwoCSVM
from paretoclf.formulations.two_nu_svm import TwoNuSVM
from paretoclf.path.svm.cost_path import Path
from paretoclf.path.svm.margin_path import MarginPath
from paretoclf.path.svm.nu_path import NuPath
from paretoclf.path.svm.quantile_path import QuantilePath
from paretoclf.problem.costs import SampleCosts
from paretoclf.problem.lines import LineOfCosts, LineOfNu, LineOfTau, LineOfTheta, lines_of
from paretoclf.problem.samples import same_samples
from paretoclf.solve.compiled import moved
from paretoclf.solve.given_problem import GivenProblem
from paretoclf.solve.judging.cone_proof import refuse_not_convex
from paretoclf.solve.sweep import Sweep, sweep


@dataclass(frozen=True)
class Comparison:
    """One point: the path's optimal value against CVXPY's best feasible primal value."""

    t: float
    kind: str
    C_plus: float
    C_minus: float
    path_value: float
    cvxpy_value: float
    cvxpy_gap: float

    @property
    def difference(self) -> float:
        """``(path - cvxpy) / max(|cvxpy|, tiny)``: positive where CVXPY's point is better than the path's."""
        return _relative(self.path_value, self.cvxpy_value)


def _relative(value: float, other: float) -> float:
    """Difference of two values, relative to the second."""
    return (value - other) / max(abs(other), np.finfo(float).tiny)


class Compared(Tabular):
    """Points, each with the relative ``difference`` of two objectives: the base of both kinds of agreement."""

    points: Sequence[Any]

    def _title(self) -> str:
        return f"worst relative difference over {self.n} points: {self.worst:.1e}"

    @property
    def n(self) -> int:
        """Number of points compared."""
        return len(self.points)

    @property
    def worst(self) -> float:
        """Largest relative difference of objectives, either way."""
        return float(np.max([abs(point.difference) for point in self.points])) if self.points else 0.0

    def agrees(self, tol: float = AGREE_OBJECTIVE) -> bool:
        """Whether every difference is at most tol."""
        return bool(self.worst <= tol)


@dataclass(frozen=True, repr=False)
class Agreement(Compared):
    """A path compared with CVXPY at some of its breakpoints, midpoints and random parameters; prints as a table."""

    points: Sequence[Comparison] = field(default_factory=tuple)

    @property
    def cvxpy_better(self) -> float:
        """Largest relative advantage of CVXPY's feasible point over the path's; 0 if it is never better."""
        return float(np.max([point.difference for point in self.points] + [0.0]))

    def __repr__(self) -> str:
        head = f"{'t':>10} {'point':<10} {'C_plus':>11} {'C_minus':>11} {'path':>17} {'CVXPY':>17} {'difference':>10}"
        rows = []
        for point in self.points[:SHOWN]:
            where = f"{point.t:10.6f} {point.kind:<10} {point.C_plus:11.5g} {point.C_minus:11.5g}"
            values = f"{point.path_value:17.10g} {point.cvxpy_value:17.10g} {point.difference:10.1e}"
            rows.append(f"{where} {values}")
        return listing(head, rows, self.n, self._title())

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Numbers of each point, by name."""
        yield from ({**vars(point), "difference": point.difference} for point in self.points)


@dataclass(frozen=True)
class ValueComparison:
    """One parameter value: the optimal value that a sweep found against that of another formulation."""

    values: Mapping[str, float]
    value: float
    other_value: float
    other_gap: float

    @property
    def difference(self) -> float:
        """``(first - other) / max(|other|, tiny)``."""
        return _relative(self.value, self.other_value)


@dataclass(frozen=True, repr=False)
class ValueAgreement(Compared):
    """Optimal values of a sweep or a path, and of another solution of the same problem; prints as a table."""

    points: Sequence[ValueComparison] = field(default_factory=tuple)

    def __repr__(self) -> str:
        names = list(self.points[0].values) if self.points else []
        head = "".join(f"{name:>12}" for name in names) + f"{'value':>18}{'other':>18}{'difference':>12}"
        rows = []
        for point in self.points[:SHOWN]:
            parameters = "".join(f"{value:12.5g}" for value in point.values.values())
            rows.append(f"{parameters}{point.value:18.10g}{point.other_value:18.10g}{point.difference:12.1e}")
        return listing(head, rows, self.n, self._title())

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Parameters of each point, both values, and the gap of the other, by name."""
        for point in self.points:
            found = {"value": point.value, "other_value": point.other_value, "other_gap": point.other_gap}
            yield {**point.values, **found, "difference": point.difference}


@overload
def compare(path: Path, svm: TwoCSVM, n: int = 20, rng: Rng = 0) -> Agreement: ...


@overload
def compare(path: QuantilePath, svm: QuantileSVM, n: int = 20, rng: Rng = 0) -> ValueAgreement: ...


@overload
def compare(path: MarginPath, svm: BiobjectiveMargin, n: int = 20, rng: Rng = 0) -> ValueAgreement: ...


@overload
def compare(path: NuPath, svm: TwoNuSVM, n: int = 20, rng: Rng = 0) -> ValueAgreement: ...


@overload
def compare(path: Sweep, svm: Formulation, n: int = 20, rng: Rng = 0) -> ValueAgreement: ...


def compare(
    path: Path | QuantilePath | MarginPath | NuPath | Sweep, svm: Any, n: int = 20, rng: Rng = 0
) -> Agreement | ValueAgreement:
    """Compare a path with CVXPY (reference accuracy) at n parameters, or a sweep with another formulation.

    The parameters of a path are breakpoints, middles of pieces, and uniform random numbers, a third each; those of a
    sweep are its own, or n of them. The objective is compared, never the weights: optima can be flat.

    Parameters
    ----------
    path : Path, QuantilePath, MarginPath, NuPath or Sweep
    svm : TwoCSVM, QuantileSVM, BiobjectiveMargin, TwoNuSVM or another formulation
        For a path: the same samples, labels, kernel and weights (or constant feature, or slacks). For a sweep: a
        formulation of the same problem, with the same parameters, such as yours against ours.
    n : int
        Number of points, at most.
    rng : int or numpy.random.Generator
        Seed of the choice.

    Returns
    -------
    Agreement or ValueAgreement

    Raises
    ------
    InputError
        If n is not positive, the problem is not convex, svm declares another path or holds other data than the path, or
        has other parameters than the sweep.
    """
    if isinstance(path, Sweep):
        return _compare_sweep(path, svm, n, rng)
    check_count(n, "n", 1)
    if isinstance(path, QuantilePath):
        return _compare_quantiles(path, svm, n, rng)
    if isinstance(path, MarginPath):
        return _compare_margins(path, svm, n, rng)
    if isinstance(path, NuPath):
        return _compare_nu(path, svm, n, rng)
    if not isinstance(path, Path):
        raise InputError(f"path must be what trace or sweep returns, got {_or_how(path)}")
    lines_of(svm, only=LineOfCosts)
    if not (_same(path, svm) and np.array_equal(svm.sample_weight, path.sample_weight)):
        raise InputError("svm must hold the samples, labels and weights that the path was traced on")
    if not np.array_equal(svm.gram.pivots, path.gram.pivots):  # type: ignore[arg-type]  # None equals None
        raise InputError("svm must have the low_rank that the path was traced with: the same approximated kernel")
    if isinstance(path.line.start, SampleCosts):
        raise InputError("path must be one of two costs: a sweep has no costs per sample to compare with")
    chosen = _points(path.breakpoints, n, rng)
    costs = [path.costs(t) for t, _ in chosen]
    plus = [each.C_plus for each in costs]
    minus = [each.C_minus for each in costs]
    reference = sweep(svm, C_plus=plus, C_minus=minus, progress=False)
    points = []
    for (t, kind), at, theirs in zip(chosen, costs, reference, strict=True):
        value = path.at(t).value
        points.append(Comparison(t, kind, at.C_plus, at.C_minus, value, theirs.value, theirs.certificate.gap))
    return Agreement(tuple(points))


def _points(ends: Array, n: int, rng: Rng, some: Array | None = None) -> list[tuple[float, str]]:
    """Breakpoints (or some of them), middles of pieces and random parameters, a third each, in order."""
    rng = check_rng(rng)
    n_breakpoints, n_middles, n_random = (n + 2) // 3, (n + 1) // 3, n // 3
    breakpoints = rng.choice(ends if some is None else some, n_breakpoints)
    pieces = rng.integers(0, ends.size - 1, n_middles)
    middles = 0.5 * (ends[pieces] + ends[pieces + 1])
    random = ends[0] + rng.random(n_random) * (ends[-1] - ends[0])
    found = [(t, "breakpoint") for t in breakpoints.tolist()]
    found += [(t, "midpoint") for t in middles.tolist()]
    found += [(t, "random") for t in random.tolist()]
    return sorted(found)


def _same(path: Any, svm: Any) -> bool:
    """Whether a path is of the samples and labels of a formulation."""
    return np.array_equal(svm.y, path.y) and same_samples(svm.X, path.gram.X)


def _compare_quantiles(path: QuantilePath, svm: QuantileSVM, n: int, rng: Rng) -> ValueAgreement:
    """Compare a path of quantiles with its formulation."""
    lines_of(svm, only=LineOfTau)
    if not (_same(path, svm) and svm.bias == path.bias):
        raise InputError("svm must hold the samples, labels and bias that the path was traced on")
    taus = [tau for tau, _ in _points(path.breakpoints, n, rng)]
    return _values(path, taus, sweep(svm, tau=taus, lam=path.lam, progress=False))


def _compare_margins(path: MarginPath, svm: BiobjectiveMargin, n: int, rng: Rng) -> ValueAgreement:
    """Compare a path of both margins with its formulation."""
    lines_of(svm, only=LineOfTheta)
    if not (_same(path, svm) and svm.soft == path.soft):
        raise InputError("svm must hold the samples, labels and softness of the path")
    shares = [share for share, _ in _points(path.breakpoints, n, rng)]
    thetas = [path.theta(share) for share in shares]
    costs = {} if path.slack_costs is None else vars(path.slack_costs)
    return _values(path, shares, sweep(svm, theta=thetas, **costs, progress=False))


def _compare_nu(path: NuPath, svm: TwoNuSVM, n: int, rng: Rng) -> ValueAgreement:
    """Compare a path of nu with its formulation."""
    lines_of(svm, only=LineOfNu)
    if not _same(path, svm):
        raise InputError("svm must hold the samples and labels that the path was traced on")
    # Where the hulls meet there is no classifier, and nu_star is only known to CVXPY's accuracy.
    proper = np.array([t for t in path.breakpoints if path.rho(float(t)) > 0.0])
    chosen = [t for t, _ in _points(path.breakpoints, n, rng, proper)]
    nu, asymmetry = zip(*(path.line.nu(t) for t in chosen), strict=True)
    given = {"nu": nu, "asymmetry": asymmetry}
    if svm.by == "classes":
        nu_plus, nu_minus = zip(*(path.line.classes(t) for t in chosen), strict=True)
        given = {"nu_plus": nu_plus, "nu_minus": nu_minus}
    columns: dict[str, Any] = {name: list(values) for name, values in given.items()}
    return _values(path, chosen, sweep(svm, **columns, progress=False))


def _values(path: QuantilePath | MarginPath | NuPath, at: list[float], reference: Sweep) -> ValueAgreement:
    """Values of a path beside those of a sweep at the same parameters."""
    points = []
    for t, theirs in zip(at, reference, strict=True):
        points.append(ValueComparison(theirs.values, path.at(t).value, theirs.value, theirs.certificate.gap))
    return ValueAgreement(tuple(points))


def _compare_sweep(first: Sweep, other: Formulation, n: int, rng: Rng) -> ValueAgreement:
    """Compare a sweep with another formulation of the same problem."""
    check_count(n, "n", 1)
    if not isinstance(other, Formulation):
        raise InputError(f"svm must be a formulation, got {what_it_is(other)}")
    if len(first) == 0:
        raise InputError("path must have at least one solution, got an empty part of a sweep")
    names = list(first.parameters)
    if set(names) != set(other.domain):
        raise InputError(
            f"svm must have the parameters of the sweep ({', '.join(names)}), got {', '.join(other.domain)}"
        )
    if isinstance(other, GivenProblem):
        with moved(other.parameters, first[0].values):
            refuse_not_convex(other.primal_model)
    chosen = np.arange(len(first))
    if n < len(first):
        chosen = np.sort(check_rng(rng).choice(len(first), n, replace=False))
    solutions = [first[int(k)] for k in chosen]
    columns: dict[str, Any] = {name: [solution.values[name] for solution in solutions] for name in names}
    reference = sweep(other, **columns, progress=False)
    points = []
    for mine, theirs in zip(solutions, reference, strict=True):
        points.append(ValueComparison(mine.values, mine.value, theirs.value, theirs.certificate.gap))
    return ValueAgreement(tuple(points))


def _or_how(path: Any) -> str:
    """Say what is no path of samples; that of a program compares itself."""
    return f"{what_it_is(path)}; it compares itself: path.compare(n)" if hasattr(path, "compare") else what_it_is(path)
