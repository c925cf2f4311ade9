"""A solver against the hard cases: what it says of each, next to the exact optimum."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from paretoclf.checking.estimators import is_estimator
from paretoclf.checking.verification import Verification, verdict_of, verify
from paretoclf.checks import check_positive_number, what_it_is
from paretoclf.datasets.hard_cases import HardCase, hard_cases
from paretoclf.errors import InputError
from paretoclf.proof import Certificate
from paretoclf.solution import Solution
from paretoclf.tables import Tabular
from paretoclf.tolerances import CERTIFY

#: What a trial can end in, the worst first.
ENDS = ("wrong", "failed", "undecided", "loose", "optimal")


@dataclass(frozen=True)
class Trial:
    """One call of a solver.

    Attributes
    ----------
    case : str
        Name of the hard case.
    costs : (float, float)
        C_plus and C_minus; of a path those of its beginning.
    end : {"wrong", "failed", "undecided", "loose", "optimal"}
        Failed: it raised an error, or returned nothing that can be judged.
    value_error : float
        The objective at what was returned less the exact optimal value, relative to that; nan if it failed. For a path
        the largest of its knots.
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
        Of the solver.
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
            f"{'case':<26} {' '.join(f'{end:>9}' for end in reversed(ENDS))} {'value off by':>13}  first that is not"
        ]
        for case in dict.fromkeys(trial.case for trial in self.trials):
            counts, mine = self.counts(case), [trial for trial in self.trials if trial.case == case]
            errors = [abs(trial.value_error) for trial in mine if not np.isnan(trial.value_error)]
            bad = [t for end in ENDS[:-1] for t in mine if t.end == end]
            worst = f"{max(errors):.1e}" if errors else "-"
            first = f"  at {tuple(float(f'{c:.3g}') for c in bad[0].costs)}: {bad[0].words}" if bad else ""
            lines.append(f"{case:<26} {' '.join(f'{counts[end]:>9}' for end in reversed(ENDS))} {worst:>13}{first}")
        return "\n".join([*lines, self.summary])


def verify_solver(
    solver: Callable[..., Any], *, path: bool = False, cases: Sequence[HardCase] | None = None, tol: float = CERTIFY
) -> SuiteReport:
    """Run a solver on problems that are hard, and judge what it returns against their exact optima.

    Parameters
    ----------
    solver : callable
        ``solver(X, y, C_plus, C_minus)`` for the 2C-SVM with the linear kernel, which returns alpha, ``(alpha, b)``, a
        mapping with ``w`` and ``b`` (or ``alpha``), a fitted estimator, or a `Solution`. With ``path=True``
        ``solver(X, y, start, stop)`` for a whole line of costs, from one pair to another: the knots of a path that is
        affine between them, in any form that `verify` takes.
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
    try:
        report = _judged(solver(case.X.copy(), case.y.copy(), plus, minus), case, plus, minus, tol)
    except Exception as error:  # whatever a stranger's code raises
        return Trial(case.name, (plus, minus), "failed", float("nan"), f"{type(error).__name__}: {_line_of(error)}")
    certificate, error_ = report[0], _off(report[0], case.optimum(t).value)
    return Trial(case.name, (plus, minus), certificate.verdict(tol), error_, verdict_of(certificate, tol))


def _judged(given: Any, case: HardCase, plus: float, minus: float, tol: float) -> Verification:
    if is_estimator(given) or isinstance(given, Solution):
        return verify(case.X, case.y, given, tol=tol)
    if isinstance(given, dict):
        return verify(case.X, case.y, {**given, "C_plus": plus, "C_minus": minus}, tol=tol)
    pair = given if isinstance(given, tuple) and len(given) == 2 and np.ndim(given[0]) == 1 else (given,)
    return verify(case.X, case.y, [(plus, minus, *pair)], tol=tol)


def _line(solver: Callable[..., Any], case: HardCase, tol: float) -> Trial:
    start, stop = _pair(case.line.start), _pair(case.line.stop)
    try:
        given = solver(case.X.copy(), case.y.copy(), start, stop)
        report = verify(case.X, case.y, given, tol=tol, between=True)
    except Exception as error:
        return Trial(case.name, start, "failed", float("nan"), f"{type(error).__name__}: {_line_of(error)}")
    ends = _pair(report.costs[0]), _pair(report.costs[-1])
    if ends != (start, stop):
        return Trial(case.name, start, "wrong", float("nan"), f"the path goes from {ends[0]} to {ends[1]}")
    bad = report.first_failure()
    open_ = next((s for s in report.stretches if s.status != "proved"), None)
    errors = [_off(report[k], case.optimum(t).value) for k, t in ((0, 0), (-1, 1))]
    off = max(errors, key=abs)
    if bad is not None:
        return Trial(case.name, start, report[bad].verdict(tol), off, f"knot {bad}: {report.verdict(bad)}")
    if open_ is not None:
        end = "undecided" if open_.status == "open" else open_.certificate.verdict(tol)
        where = f"between knots {open_.first} and {open_.last}"
        return Trial(case.name, start, end, off, f"{where}: {verdict_of(open_.certificate, tol)}")
    return Trial(case.name, start, "optimal", off, "optimal")


def _pair(costs: Any) -> tuple[float, float]:
    return float(costs.C_plus), float(costs.C_minus)


def _off(certificate: Certificate, value: Fraction) -> float:
    if not np.isfinite(certificate.primal_value):
        return float("nan")
    difference = Fraction(certificate.primal_value) - value
    return float(difference / value) if value else float(difference)


def _line_of(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
