"""A solver against the hard cases: its answer to each, next to the exact optimum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from paretoclf.checking.between import stretches
from paretoclf.checking.elsewhere import is_estimator
from paretoclf.checking.fitted_models import read_fitted
from paretoclf.checking.given import read_given
from paretoclf.checking.judged_solutions import verdict_of
from paretoclf.checking.judging import certificate_of, exact_objective
from paretoclf.checking.of_classifiers import stretches_of
from paretoclf.checking.rows import Row, rows_of
from paretoclf.common.checks import check_positive_number, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import CERTIFY
from paretoclf.datasets.hard_cases import HardCase, hard_cases
from paretoclf.formulations.two_c_svm import TwoCSVM
from paretoclf.problem.costs import CostLine
from paretoclf.problem.samples import same_samples
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.exact_bounds import ExactBounds, ExactCertificate, exactly
from paretoclf.proof.verdicts.report import Report
from paretoclf.proof.verdicts.solution import Solution

#: Ends of a trial, the worst first.
ENDS = ("not optimal", "failed", "undecided", "optimal")


_COSTS = ("C_plus", "C_minus")


@dataclass(frozen=True)
class Trial:
    """One call of a solver.

    Attributes
    ----------
    case : str
        Name of the hard case.
    costs : (float, float)
        C_plus and C_minus; of a path those of its beginning.
    end : {"not optimal", "failed", "undecided", "optimal"}
        Failed: it raised an error, or returned nothing that can be judged.
    value_error : float
        The objective at what was returned, without rounding, less the exact optimal value, relative to that (where it
        is 0: to the sum of the costs); nan if it failed. For a path the largest of its knots.
    words : str
        Verdict, or error.
    """

    case: str
    costs: tuple[float, float]
    end: str
    value_error: float
    words: str


@dataclass(frozen=True, repr=False)
class SuiteReport(Report, Sequence[Trial]):
    """The trials of a solver; prints as a table, one line for each case.

    Attributes
    ----------
    name : str
        The solver's name.
    trials : tuple of Trial
    tol : float
        Largest residual and gap of what counts as optimal.
    """

    name: str
    trials: tuple[Trial, ...]
    tol: float = CERTIFY

    def __len__(self) -> int:
        return len(self.trials)

    def __getitem__(self, k: Any) -> Any:
        return self.trials[k]

    @property
    def verdicts(self) -> list[str]:
        """Verdict on each trial, or how it ended without one."""
        return [trial.end for trial in self.trials]

    def counts(self, case: str | None = None) -> dict[str, int]:
        """Trials by their end, of one case or of all."""
        mine = [trial.end for trial in self.trials if case in (None, trial.case)]
        return {end: mine.count(end) for end in ENDS}

    @property
    def summary(self) -> str:
        """Numbers of trials by their end."""
        counts = ", ".join(f"{count} {end}" for end, count in self.counts().items() if count)
        return f"{self.name}: {len(self)} trials at tolerance {self.tol:g}: {counts}"

    def _title(self) -> str:
        return self.summary

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Numbers and words of each trial, by name."""
        yield from (dict(vars(trial)) for trial in self.trials)

    def __repr__(self) -> str:
        lines = [
            f"{'case':<26} {' '.join(f'{end:>11}' for end in reversed(ENDS))} {'value off by':>13}  first that is not"
        ]
        for case in dict.fromkeys(trial.case for trial in self.trials):
            mine = [trial for trial in self.trials if trial.case == case]
            counts = self.counts(case)
            numbers = " ".join(f"{counts[end]:>11}" for end in reversed(ENDS))
            errors = [abs(trial.value_error) for trial in mine if not np.isnan(trial.value_error)]
            worst = f"{max(errors):.1e}" if errors else "-"
            lines.append(f"{case:<26} {numbers} {worst:>13}{self._first_failure(mine)}")
        return "\n".join([*lines, self.summary])

    def _first_failure(self, trials: Sequence[Trial]) -> str:
        """Costs and words of the first trial of the worst end; an empty text where all are optimal."""
        failures = [trial for end in ENDS[:-1] for trial in trials if trial.end == end]
        if not failures:
            return ""
        first = failures[0]
        costs = tuple(float(f"{cost:.3g}") for cost in first.costs)
        return f"  at {costs}: {first.words}"


def verify_solver(
    solver: Callable[..., Any], *, path: bool = False, cases: Sequence[HardCase] | None = None, tol: float = CERTIFY
) -> SuiteReport:
    """Run a solver on problems that are hard, and judge what it returns against their exact optima.

    Parameters
    ----------
    solver : callable
        ``solver(X, y, C_plus, C_minus)`` for the 2C-SVM with the linear kernel, which returns alpha, ``(alpha, b)``, a
        mapping with ``w`` and ``b`` (or ``alpha``), a fitted estimator, or a `Solution`: each is judged at the costs
        that were asked for, whatever it says it is of. With ``path=True`` ``solver(X, y, start, stop)`` for a whole
        line of costs, from one pair to another: the knots of a path that is affine between them, in any form that
        `verify` takes, all on that line.
    path : bool
        Whether the solver follows a line. Then it is judged between its knots, too.
    cases : sequence of HardCase, optional
        The cases, by default `paretoclf.datasets.hard_cases`.
    tol : float
        Largest residual and gap of what counts as optimal.

    Returns
    -------
    SuiteReport

    Raises
    ------
    InputError
        If solver cannot be called, cases are none, or tol is not positive. What the solver raises is reported, trial by
        trial.

    Examples
    --------
    >>> import paretoclf as pc
    >>> def mine(X, y, C_plus, C_minus):
    ...     return pc.TwoCSVM(X, y).solve(C_plus, C_minus)
    >>> report = pc.verify_solver(mine, cases=pc.datasets.hard_cases()[:2])
    >>> report.summary
    'mine: 18 trials at tolerance 1e-08: 18 optimal'
    """
    if not callable(solver):
        raise InputError(f"solver must be a callable, solver(X, y, C_plus, C_minus), got {type(solver).__name__}")
    tol = check_positive_number(tol, "tol")
    chosen = hard_cases() if cases is None else cases
    if not isinstance(chosen, Sequence) or not chosen or not all(isinstance(case, HardCase) for case in chosen):
        raise InputError(
            f"cases must be some of paretoclf.datasets.hard_cases(), at least one, got {what_it_is(chosen)}"
        )
    trials: list[Trial] = []
    for case in chosen:
        if path:
            trials.append(_line(solver, case, tol))
        else:
            trials += [_point(solver, case, float(t), tol) for t in case.t]
    return SuiteReport(getattr(solver, "__name__", type(solver).__name__), tuple(trials), tol)


def _point(solver: Callable[..., Any], case: HardCase, t: float, tol: float) -> Trial:
    """Ask a solver for one solution, and judge it."""
    plus, minus = (float(cost) for cost in case.line.at(t))
    asked = {"C_plus": plus, "C_minus": minus}
    problem = TwoCSVM(case.X, case.y)
    try:
        answer = solver(case.X.copy(), case.y.copy(), plus, minus)
        row = _answer(answer, problem)
        certificate = _against(case.optimum(t).value, problem, Row(asked, row.numbers))
    except Exception as error:  # whatever a stranger's code raises
        return _failed(case, (plus, minus), error)
    words = verdict_of(certificate, tol)
    if row.values and row.values != asked and not certificate.passes(tol):
        words += f" (its own costs are {_shown(row.values)})"
    return Trial(case.name, (plus, minus), certificate.verdict(tol), _value_error(certificate), words)


def _answer(given: Any, problem: TwoCSVM) -> Row:
    """Row of a solver's answer, with the costs that it says this is of, if it says any."""
    if isinstance(given, Solution | Mapping) or is_estimator(given):
        rows, _ = _of_problem(given, problem)
        if len(rows) != 1:
            raise InputError(f"solver must return one solution, got {len(rows)}")
        return rows[0]
    is_pair = isinstance(given, tuple) and len(given) == 2 and np.ndim(given[0]) == 1
    numbers = given if is_pair else (given,)
    row = rows_of([(0.0, 0.0, *numbers)], tuple(problem.domain))[0]
    return replace(row, values={})  # costs were not given: those are a place holder


def _of_problem(given: Any, problem: TwoCSVM) -> tuple[list[Row], Any]:
    """Rows of the problem that was asked about, not of another one; and the path of ours that they were taken from."""
    data = problem.X, problem.y, given, problem.kernel
    found = read_fitted(*data) if is_estimator(given) else read_given(*data, None, {})
    rows = []
    for made, row in found.rows:
        if not isinstance(made, TwoCSVM):
            raise InputError(f"solver must solve the TwoCSVM it was given, got a {type(made).__name__}")
        if not same_samples(made.gram.X, problem.gram.X):
            raise InputError("solver must solve the TwoCSVM it was given, got one of transformed samples")
        rows.append(row)
    return rows, found.path


def _against(optimum: Fraction, problem: TwoCSVM, row: Row) -> Certificate:
    """Certify a row with a gap without rounding: between its objective and the exact optimal value."""
    found = certificate_of(problem, row)
    if not np.isfinite(found.primal_value):
        return found
    certificate = exactly(found, ExactBounds(optimum, exact_objective(problem, row)))
    # Against the optimum itself an open gap refutes, whoever the multipliers are from; so does their own gap.
    return replace(certificate, shortfall=None, certain=found.certain)


def _value_error(certificate: Certificate) -> float:
    """Objective less the optimal value, relative to that, or to the costs where it is 0."""
    if not isinstance(certificate, ExactCertificate):
        return float("nan")
    optimum, mine = certificate.bounds
    return float((mine - optimum) / (optimum or Fraction(certificate.scale)))


def _line(solver: Callable[..., Any], case: HardCase, tol: float) -> Trial:
    """Ask a solver for a whole line of costs, and judge its knots, their costs, and the segments between them."""
    problem = TwoCSVM(case.X, case.y)
    start = _pair(case.line.start)
    stop = _pair(case.line.stop)
    knots = []
    try:
        answer = solver(case.X.copy(), case.y.copy(), start, stop)
        rows, path = _of_problem(answer, problem)
        places = [_place(case.line, row) for row in rows]
        for (t, _), row in zip(places, rows, strict=True):
            knots.append(_against(case.optimum(t).value, problem, row))
        segments = stretches(problem, rows, tol) if path is None else stretches_of(path)
    except Exception as error:  # whatever a stranger's code raises
        return _failed(case, start, error)
    value_error = max(map(_value_error, knots), key=lambda each: (np.isnan(each), abs(each)))

    def ended(end: str, words: str) -> Trial:
        return Trial(case.name, start, end, value_error, words)

    wrong = _wrong_costs(case.line, rows, places, tol)
    if wrong:
        return ended(ENDS[0], wrong)
    for k, knot in enumerate(knots):
        if not knot.passes(tol):
            return ended(knot.verdict(tol), f"knot {k}: {verdict_of(knot, tol)}")
    for segment in segments:
        if segment.status != "optimal":
            where = f"between knots {segment.first} and {segment.last}"
            found = segment.certificate
            return ended(found.verdict(tol), f"{where}: {verdict_of(found, tol)}")
    return ended("optimal", "optimal")


def _wrong_costs(line: CostLine, rows: Sequence[Row], places: Sequence[tuple[Fraction, float]], tol: float) -> str:
    """Say which costs of a path's knots are wrong; an empty text where it follows the line from end to end.

    The optimal value changes by no more than the share by which costs change: a tolerance for one is one for the other.
    """
    for k, (_, distance) in enumerate(places):
        if distance > tol:
            return f"knot {k} is off the line: its costs {_shown(rows[k].values)} are off by {distance:.0e}"
    first = rows[0].values
    last = rows[-1].values
    if max(_relative_difference(first, line.start), _relative_difference(last, line.stop)) > tol:
        return f"the path goes from {_shown(first)} to {_shown(last)}"
    return ""


def _place(line: CostLine, row: Row) -> tuple[Fraction, float]:
    """Position on the line that is nearest to the costs of a row, and their relative difference from it."""
    if "costs" in row.values:
        raise InputError("solver must return solutions of the costs C_plus and C_minus, got costs of the samples")
    start = [Fraction(cost) for cost in line.start]
    stop = [Fraction(cost) for cost in line.stop]
    mine = [Fraction(row.values[name]) for name in _COSTS]
    positions = []
    for cost, begin, end in zip(mine, start, stop, strict=True):
        if begin != end:
            t = (cost - begin) / (end - begin)
            positions.append(min(max(t, Fraction(0)), Fraction(1)))
    found = []
    for t in positions or [Fraction(0)]:
        there = [(1 - t) * begin + t * end for begin, end in zip(start, stop, strict=True)]
        found.append((t, _relative_difference(row.values, there)))
    return min(found, key=lambda each: each[1])


def _relative_difference(values: Mapping[str, Any], asked: Iterable[Any]) -> float:
    """Largest difference of costs from those that are asked for, relative to these."""
    differences = []
    for name, cost in zip(_COSTS, asked, strict=True):
        mine, wanted = Fraction(values[name]), Fraction(cost)
        if wanted:
            differences.append(float(abs(mine / wanted - 1)))
        else:
            differences.append(0.0 if mine == wanted else np.inf)
    return max(differences)


def _shown(values: Mapping[str, Any]) -> str:
    """Costs, for a message."""
    if "costs" in values:
        return str(values["costs"])
    numbers = ", ".join(f"{values[name]:.6g}" for name in _COSTS)
    return f"({numbers})"


def _pair(costs: Any) -> tuple[float, float]:
    """Costs as two numbers."""
    return float(costs.C_plus), float(costs.C_minus)


def _failed(case: HardCase, costs: tuple[float, float], error: Exception) -> Trial:
    """Trial of a solver that raised an error, or returned nothing that can be judged."""
    message = " ".join(str(error).split())[:200]
    return Trial(case.name, costs, "failed", float("nan"), f"{type(error).__name__}: {message}")
