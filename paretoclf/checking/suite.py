"""A solver against the hard cases: what it says of each, next to the exact optimum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from paretoclf.checking.between import stretches
from paretoclf.checking.estimators import is_estimator
from paretoclf.checking.given import read_given
from paretoclf.checking.judged_solutions import verdict_of
from paretoclf.checking.judging import certificate_of, exact_objective
from paretoclf.checking.of_classifiers import stretches_of
from paretoclf.checking.rows import Row, rows_of
from paretoclf.common.checks import check_positive_number, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.common.tables import Tabular
from paretoclf.common.tolerances import CERTIFY
from paretoclf.datasets.hard_cases import HardCase, hard_cases
from paretoclf.formulations.two_c_svm import TwoCSVM
from paretoclf.problem.costs import CostLine
from paretoclf.problem.samples import same_samples
from paretoclf.proof.certificates import Certificate
from paretoclf.proof.exact import ExactBounds, ExactCertificate, exactly
from paretoclf.proof.solution import Solution

#: What a trial can end in, the worst first.
ENDS = ("not optimal", "failed", "undecided", "optimal")


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
class SuiteReport(Tabular, Sequence[Trial]):
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

    def passes(self) -> bool:
        """Whether every trial is optimal."""
        return all(trial.end == "optimal" for trial in self.trials)

    def counts(self, case: str | None = None) -> dict[str, int]:
        """Trials by their end, of one case or of all."""
        mine = [trial.end for trial in self.trials if case in (None, trial.case)]
        return {end: mine.count(end) for end in ENDS}

    @property
    def summary(self) -> str:
        """How many there are of each end."""
        said = ", ".join(f"{count} {end}" for end, count in self.counts().items() if count)
        return f"{self.name}: {len(self)} trials at tolerance {self.tol:g}: {said}"

    def _title(self) -> str:
        return self.summary

    def _rows(self) -> Iterator[dict[str, Any]]:
        """One for each trial."""
        yield from (dict(vars(trial)) for trial in self.trials)

    def __repr__(self) -> str:
        lines = [
            f"{'case':<26} {' '.join(f'{end:>11}' for end in reversed(ENDS))} {'value off by':>13}  first that is not"
        ]
        for case in dict.fromkeys(trial.case for trial in self.trials):
            counts, mine = self.counts(case), [trial for trial in self.trials if trial.case == case]
            errors = [abs(trial.value_error) for trial in mine if not np.isnan(trial.value_error)]
            bad = [t for end in ENDS[:-1] for t in mine if t.end == end]
            worst = f"{max(errors):.1e}" if errors else "-"
            first = f"  at {tuple(float(f'{c:.3g}') for c in bad[0].costs)}: {bad[0].words}" if bad else ""
            lines.append(f"{case:<26} {' '.join(f'{counts[end]:>11}' for end in reversed(ENDS))} {worst:>13}{first}")
        return "\n".join([*lines, self.summary])


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
        By default `paretoclf.datasets.hard_cases`.
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
    plus, minus = (float(c) for c in case.line.at(t))
    asked, problem = {"C_plus": plus, "C_minus": minus}, TwoCSVM(case.X, case.y)
    try:
        row = _answer(solver(case.X.copy(), case.y.copy(), plus, minus), problem)
        certificate = _against(case.optimum(t).value, problem, Row(asked, row.numbers))
    except Exception as error:  # whatever a stranger's code raises
        return _failed(case, (plus, minus), error)
    words = verdict_of(certificate, tol)
    if row.values and row.values != asked and not certificate.passes(tol):
        words += f" (its own costs are {_shown(row.values)})"
    return Trial(case.name, (plus, minus), certificate.verdict(tol), _off(certificate), words)


def _answer(given: Any, problem: TwoCSVM) -> Row:
    """What a solver returned, with the costs that it says this is of, if it says any."""
    if isinstance(given, Solution | Mapping) or is_estimator(given):
        rows, _ = _of_problem(given, problem)
        if len(rows) != 1:
            raise InputError(f"solver must return one solution, got {len(rows)}")
        return rows[0]
    pair = given if isinstance(given, tuple) and len(given) == 2 and np.ndim(given[0]) == 1 else (given,)
    return replace(rows_of([(0.0, 0.0, *pair)], tuple(problem.domain))[0], values={})


def _of_problem(given: Any, problem: TwoCSVM) -> tuple[list[Row], Any]:
    """Rows of the problem that was asked about, not of another one; and the path of ours that they are of."""
    found = read_given(problem.X, problem.y, given, problem.kernel, None, {})
    rows = []
    for made, row in found.rows:
        if not isinstance(made, TwoCSVM):
            raise InputError(f"solver must solve the TwoCSVM it was given, got a {type(made).__name__}")
        if not same_samples(made.gram.X, problem.gram.X):
            raise InputError("solver must solve the TwoCSVM it was given, got one of transformed samples")
        rows.append(row)
    return rows, found.path


def _against(optimum: Fraction, problem: TwoCSVM, row: Row) -> Certificate:
    """The certificate of a row, whose gap is without rounding: between its objective and the exact optimal value."""
    found = certificate_of(problem, row)
    if not np.isfinite(found.primal_value):
        return found
    certificate = exactly(found, ExactBounds(optimum, exact_objective(problem, row)))
    # Against the optimum itself an open gap refutes, whoever the multipliers are from; so does their own gap.
    return replace(certificate, shortfall=None, certain=found.certain)


def _off(certificate: Certificate) -> float:
    """By how much the objective exceeds the optimal value, relative to that, or to the costs where it is 0."""
    if not isinstance(certificate, ExactCertificate):
        return float("nan")
    optimum, mine = certificate.bounds
    return float((mine - optimum) / (optimum or Fraction(certificate.scale)))


def _line(solver: Callable[..., Any], case: HardCase, tol: float) -> Trial:
    start, problem = _pair(case.line.start), TwoCSVM(case.X, case.y)
    try:
        rows, path = _of_problem(solver(case.X.copy(), case.y.copy(), start, _pair(case.line.stop)), problem)
        places = [_place(case.line, row) for row in rows]
        knots = [_against(case.optimum(t).value, problem, row) for (t, _), row in zip(places, rows, strict=True)]
        between = stretches(problem, rows, tol) if path is None else stretches_of(path)
    except Exception as error:
        return _failed(case, start, error)
    off = max((_off(c) for c in knots), key=lambda each: (np.isnan(each), abs(each)))
    wrong = _off_the_line(case.line, rows, places, tol)
    if wrong:
        return Trial(case.name, start, ENDS[0], off, wrong)
    bad = next((k for k, c in enumerate(knots) if not c.passes(tol)), None)
    if bad is not None:
        return Trial(case.name, start, knots[bad].verdict(tol), off, f"knot {bad}: {verdict_of(knots[bad], tol)}")
    open_ = next((s for s in between if s.status != "optimal"), None)
    if open_ is not None:
        end = open_.certificate.verdict(tol)
        where = f"between knots {open_.first} and {open_.last}"
        return Trial(case.name, start, end, off, f"{where}: {verdict_of(open_.certificate, tol)}")
    return Trial(case.name, start, "optimal", off, "optimal")


def _off_the_line(line: CostLine, rows: Sequence[Row], places: Sequence[tuple[Fraction, float]], tol: float) -> str:
    """What is wrong with the costs of a path's knots; nothing where it follows the line from end to end.

    The optimal value changes by no more than the share by which costs change: a tolerance for one is one for the other.
    """
    for k, (_, apart) in enumerate(places):
        if apart > tol:
            return f"knot {k} is off the line: its costs {_shown(rows[k].values)} are off by {apart:.0e}"
    first, last = (_apart(rows[k].values, end) for k, end in ((0, line.start), (-1, line.stop)))
    if max(first, last) > tol:
        return f"the path goes from {_shown(rows[0].values)} to {_shown(rows[-1].values)}"
    return ""


def _place(line: CostLine, row: Row) -> tuple[Fraction, float]:
    """Where on the line the costs of a row are, and by how much they are off it, relative to themselves."""
    if "costs" in row.values:
        raise InputError("solver must return solutions of the costs C_plus and C_minus, got costs of the samples")
    names, (start, stop) = ("C_plus", "C_minus"), (tuple(map(Fraction, end)) for end in (line.start, line.stop))
    mine = [Fraction(row.values[name]) for name in names]
    moving = [(c - a) / (b - a) for c, a, b in zip(mine, start, stop, strict=True) if a != b]
    at = [min(max(t, Fraction(0)), Fraction(1)) for t in moving] or [Fraction(0)]
    found = [(t, _apart(row.values, [(1 - t) * a + t * b for a, b in zip(start, stop, strict=True)])) for t in at]
    return min(found, key=lambda each: each[1])


def _apart(values: Mapping[str, Any], asked: Iterable[Any]) -> float:
    """By how much costs differ from those that are asked for, relative to these."""
    pairs = [(Fraction(values[name]), Fraction(c)) for name, c in zip(("C_plus", "C_minus"), asked, strict=True)]
    return max(float(abs(mine / c - 1)) if c else (0.0 if mine == c else np.inf) for mine, c in pairs)


def _shown(values: Mapping[str, Any]) -> str:
    if "costs" in values:
        return str(values["costs"])
    return f"({', '.join(f'{values[name]:.6g}' for name in ('C_plus', 'C_minus'))})"


def _pair(costs: Any) -> tuple[float, float]:
    return float(costs.C_plus), float(costs.C_minus)


def _failed(case: HardCase, costs: tuple[float, float], error: Exception) -> Trial:
    return Trial(
        case.name, costs, "failed", float("nan"), f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    )
