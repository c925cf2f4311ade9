"""A compiled formulation, solved at many parameter values, every answer certified."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from paretoclf.common.checks import Array, real_array
from paretoclf.common.errors import InputError, SolveError
from paretoclf.common.progress import counted
from paretoclf.common.tables import Tabular
from paretoclf.common.tolerances import CERTIFY
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.compiled import Compiled, NotUpdatable
from paretoclf.solve.formulation import Formulation, found_of, less_accurate, with_clarabel
from paretoclf.solve.given_problem import GivenProblem, as_formulation
from paretoclf.solve.judging.given_values import proved
from paretoclf.solve.models.model import Accuracy, Claim, Form, conic_settings, form_of, having, worst

if TYPE_CHECKING:
    from paretoclf.roc.grid import GridErrorCurve


@dataclass(frozen=True)
class Missing:
    """Parameter values of a sweep at which a problem has no solution, or none was found.

    Attributes
    ----------
    number : int
        Their place among the values that were asked for, from 0.
    values : mapping
        The parameter values.
    status : {"infeasible", "unbounded", "undecided"}
        What is proved: that no point is feasible, that the objective has no bound, or nothing.
    words : str
        What the proof, or the solver, says.
    error : SolveError, optional
        What the solver said.
    """

    number: int
    values: Mapping[str, float]
    status: str
    words: str = field(repr=False)
    error: SolveError | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, repr=False)
class Sweep(Tabular, Sequence[Solution]):
    """The solutions of a sweep, in the order of the parameter values that were asked for.

    Attributes
    ----------
    solutions : tuple of Solution
        One for each parameter value.
    form : str
        Which problem the solver saw, ``"dual"`` or ``"primal"``, or ``"search"`` where it saw many.
    timing : mapping
        Seconds: ``build`` (once), ``solve``, ``polish`` and ``proof`` (all values together).
    setups : int
        How often the solver had to be set up from scratch.
    recompiled : tuple of str
        Parameters that stand in a matrix of the compiled program. Where there is one, CVXPY fills the matrices in and
        a solver is set up at every value; all other parameters are moved inside a solver that stays set up.
    missing : tuple of Missing
        Of a ``cvxpy.Problem``: the values at which there is no solution. They have no part in ``solutions``,
        ``parameters`` and ``values``.
    """

    solutions: tuple[Solution, ...]
    form: str
    timing: Mapping[str, float] = field(default_factory=dict)
    setups: int = 0
    recompiled: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()

    def __len__(self) -> int:
        return len(self.solutions)

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    @overload
    def __getitem__(self, index: int) -> Solution: ...

    @overload
    def __getitem__(self, index: slice) -> Sweep: ...

    def __getitem__(self, index: int | slice) -> Solution | Sweep:
        if isinstance(index, slice):
            return replace(self, solutions=self.solutions[index])
        return self.solutions[index]

    @property
    def costs(self) -> Array:
        """Costs (C_plus, C_minus), shape (k, 2); InputError where the formulation has none."""
        if any(s.costs is None for s in self.solutions):
            raise InputError(f"this sweep has no costs, only the parameters {', '.join(self.parameters)}")
        return np.array([tuple(s.costs) for s in self.solutions], dtype=float).reshape(-1, 2)

    @property
    def parameters(self) -> dict[str, Array]:
        """Values of each parameter, shape (k,)."""
        names = self.solutions[0].values if self.solutions else {}
        return {name: np.array([s.values[name] for s in self.solutions]) for name in names}

    @property
    def values(self) -> Array:
        """Primal objectives, shape (k,): upper bounds of the optimal values."""
        return np.array([s.value for s in self.solutions])

    @property
    def dual_values(self) -> Array:
        """Dual objectives, shape (k,): lower bounds of the optimal values."""
        return np.array([s.dual_value for s in self.solutions])

    @property
    def certificates(self) -> list[Certificate]:
        """One certificate for each value."""
        return [s.certificate for s in self.solutions]

    @property
    def alpha(self) -> Array:
        """Multipliers, shape (k, n)."""
        return np.array([s.alpha for s in self.solutions])

    @property
    def b(self) -> Array:
        """Intercepts, shape (k,)."""
        return np.array([s.classifier.b for s in self.solutions])

    def scores(self, X: Any) -> Array:
        """Scores of each classifier, shape (k, m).

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            Samples, as for `Classifier.decision_function`.
        """
        if not self.solutions:
            raise InputError("a sweep must have at least one solution to score with, got an empty part of one")
        return np.array([s.classifier.decision_function(X) for s in self.solutions])

    def error_curve(self, X: Any, y: Any, *, pos_label: Any = None) -> GridErrorCurve:
        """False positives and false negatives on (held-out) samples at each point: a grid curve.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            Samples.
        y : array of shape (m,)
            Labels -1 and +1, or any two with pos_label; both present.
        pos_label : object, optional
            Which of the two labels of y is positive, where they are not -1 and +1.
        """
        from paretoclf.roc.grid import errors_of_sweep  # a room above

        return errors_of_sweep(self, X, y, pos_label)

    def plot(self, ax: Any = None, *, xscale: str | None = None) -> Any:
        """Draw coefficients and gaps; see `paretoclf.plotting.SweepDisplay`."""
        from paretoclf.plotting.sweep import SweepDisplay  # matplotlib only when a picture is wanted

        return SweepDisplay.from_sweep(self).plot(ax, xscale=xscale)

    @property
    def worst(self) -> float:
        """Largest residual or gap of all certificates."""
        return max((worst(c) for c in self.certificates), default=0.0)

    def _rows(self) -> Iterator[dict[str, Any]]:
        """One for each solution: parameters, bounds, gap, residual, intercept (or a problem's variables), and who."""
        for s in self.solutions:
            yield s.summary()

    def __repr__(self) -> str:
        passed = sum(c.passes() for c in self.certificates)
        seconds = sum(self.timing.values())
        names = ", ".join(self.recompiled)
        how = "by search" if self.form == "search" else f"of the {self.form}"
        return (
            f"Sweep({len(self)} solutions {how}, {passed} certified, "
            f"worst residual or gap {self.worst:.1e}, {seconds:.2f} s"
            f"{f'; set up at every value: {names} in a matrix' if names else ''}{self._without()})"
        )

    def _without(self) -> str:
        """Say where there is no solution."""
        if not self.missing:
            return ""
        few = [f"{each.status} at {dict(each.values)}" for each in self.missing[:3]]
        more = f" and {len(self.missing) - 3} more" if len(self.missing) > 3 else ""
        return f"; none where it is {', '.join(few)}{more}"


def sweep(
    formulation: Any,
    values: Mapping[Any, Any] | None = None,
    *,
    form: Form | None = None,
    accuracy: Accuracy = "reference",
    polish: bool = True,
    certify: bool = True,
    progress: bool | None = None,
    product: bool = False,
    n_jobs: int | None = None,
    **grid: Any,
) -> Sweep:
    """Solve a formulation at many parameter values: compiled once, moved in place, each answer certified.

    Parameters
    ----------
    formulation : TwoCSVM or another formulation, or cvxpy.Problem
        What to solve: of a problem a minimisation, DPP in what moves. `MEMPM`, which is a search over convex programs,
        is searched at every value.
    values : mapping, optional
        Values of parameters, by the parameter itself or by name, as ``{lam: [1.0, 2.0]}``: the same as ``**grid``.
    form : {"dual", "primal"}, optional
        Which problem the solver sees; by default what the formulation prefers. For `TwoCSVM` that is the dual, which is
        the faster and is immune to the scale of the costs.
    accuracy : {"reference", "fast"}
        Tolerance of the conic solver, 1e-12 or 1e-8. The polish makes up for most of the difference.
    polish : bool
        Whether to refine each answer on its active set. A refined answer is kept only where its certificate is down to
        rounding, or the better one; ``Solution.status`` says which one was kept, and why.
    certify : bool
        Whether to prove each answer. Without, a formulation that is proved by its dual, or by the cone program that
        CVXPY compiles, has its primal solved and no more: its certificates say that there is no bound. One that
        completes its solutions in its own way (`TwoCSVM` and others) is certified all the same.
    progress : bool, optional
        Progress bar; by default on a terminal only.
    product : bool
        Whether to solve at every combination of the values, the last parameter changing fastest.
    n_jobs : int, optional
        Processes at work, as for joblib, each with eight values at a time, for which it compiles and sets up anew. The
        result does not depend on how many; beside that of a sweep in one it may differ by rounding.
    **grid : array of shape (k,), or number
        Values of every parameter, for `TwoCSVM` ``C_plus`` and ``C_minus``: all of one length, unless every combination
        is asked for. A single number stands for that many equal ones.

    Raises
    ------
    InputError
        If formulation is none, a parameter is missing, unknown, out of range or without values, or the lengths differ.
    SolveError
        If the solver returns no point. Of a ``cvxpy.Problem`` what was solved is kept, if anything was: the values
        without a solution are in ``missing``, with what is proved of them.

    Notes
    -----
    What is saved is compiling and setting up: no iterate is used again, a solver begins anew at each value. With 60 to
    500 samples of a 2C-SVM, 20 values took half the processor time of as many calls of `solve` of one formulation, and
    a third to a sixth of that of a new formulation for each.

    References
    ----------
    The problem is that of Bach, Heckerman & Horvitz (2006), section 3. Stale scaling of updated interior-point
    solvers, which is why the solver is set up anew when the objective moves far: cvxpy pull request 2697.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.formulations.two_c_svm import TwoCSVM
    >>> from paretoclf.solve.sweep import sweep
    >>> svm = TwoCSVM(np.array([[-1.0], [1.0]]), [-1, 1])
    >>> two = sweep(svm, C_plus=[0.25, 4.0], C_minus=1.0)
    >>> [round(float(s.classifier.w[0]), 9) for s in two]
    [0.5, 1.0]

    A problem in CVXPY:

    >>> import cvxpy as cp
    >>> x, lam = cp.Variable(name="x"), cp.Parameter(nonneg=True, name="lam")
    >>> problem = cp.Problem(cp.Minimize(cp.square(x - 3) / 2 + lam * cp.abs(x)))
    >>> sweep(problem, {lam: [0.0, 1.0, 4.0]}).values.round(9).tolist()
    [0.0, 2.5, 4.5]

    One of the values may be out of reach:

    >>> least = cp.Parameter(name="least")
    >>> found = sweep(cp.Problem(cp.Minimize(cp.square(x)), [x >= least, x <= 1]), {least: [0.5, 2.0, 1.0]})
    >>> found.values.round(9).tolist(), found.parameters["least"].tolist()
    ([0.25, 1.0], [0.5, 1.0])
    >>> found.missing
    (Missing(number=1, values={'least': 2.0}, status='infeasible'),)
    """
    formulation, grid = as_formulation(formulation, {**(values or {}), **grid})
    points = _points(formulation, grid, product)
    if not hasattr(formulation, "searches"):
        form = form_of(formulation, form)
        conic_settings(accuracy)
    task = _SweepTask(formulation, form, accuracy, polish, certify)
    given = formulation.parameters.values() if isinstance(formulation, GivenProblem) else ()
    if given:
        formulation.primal_model.check_continuous()
    with having({parameter: parameter.value for parameter in given}):  # the user's: they keep their values
        if n_jobs is None:
            found = task(counted(points, "sweep", len(points), progress))
        else:
            from paretoclf.solve.sweep_parts import side_by_side  # few sweeps are so long

            found = side_by_side(task, points, n_jobs, progress)
    if found.missing and not found.solutions and found.missing[0].error is not None:
        raise found.missing[0].error
    return found


@dataclass(frozen=True)
class _SweepTask:
    """How each value of a sweep is solved."""

    formulation: Any
    form: Form | None
    accuracy: Accuracy
    polish: bool
    certify: bool

    @property
    def bare(self) -> bool:
        """Whether the primal is solved and no more."""
        return not self.certify and not self.formulation.has_judge

    def __call__(self, points: Iterable[Mapping[str, float]]) -> Sweep:
        """Solve at some values, one after the other; without an error where there is no solution at any."""
        formulation, form = self.formulation, self.form
        if hasattr(formulation, "searches"):  # no convex program, but a search over some: nothing to compile
            return self._searched(points)
        assert form is not None
        solver = _Solver(formulation, ("primal",) if self.bare else formulation.needs(form), self.accuracy)
        missing: list[Missing] = []
        claims = solver.claims(points, self.polish, missing)
        started = time.perf_counter()
        if self.bare:
            solutions = [formulation.uncertified(claim) for claim in claims]
        else:
            solutions = formulation.complete_many(claims)
        if isinstance(formulation, GivenProblem):
            from paretoclf.solve.problem_solution import with_variables  # few sweeps are of a problem

            solutions = with_variables(solutions, formulation)
        for solution in solutions:
            _ = solution.certificate  # some are computed when first asked for
        seconds = {stage: sum(s.timing.get(stage, 0.0) for s in solutions) for stage in ("solve", "polish")}
        timing = {"build": solver.seconds, **seconds}
        timing["proof"] = max(0.0, time.perf_counter() - started - sum(timing.values()))
        seen = "primal" if self.bare else form
        return Sweep(tuple(solutions), seen, timing, solver.setups, solver.recompiled, tuple(missing))

    def _searched(self, points: Iterable[Mapping[str, float]]) -> Sweep:
        """Search at some values, one after the other."""
        started = time.perf_counter()
        options: dict[str, Any] = {"accuracy": self.accuracy, "polish": self.polish}
        if self.form is not None:
            options["form"] = self.form
        solutions = tuple(self.formulation.solve(**values, **options) for values in points)
        return Sweep(solutions, "search", {"solve": time.perf_counter() - started})


class _Solver:
    """A formulation, compiled at the first point that needs a solver."""

    def __init__(self, formulation: Formulation, forms: tuple[Form, ...], accuracy: Accuracy) -> None:
        self._formulation, self._forms, self._accuracy = formulation, forms, accuracy
        self._compiled: dict[Form, Compiled] | None = None
        self.seconds = 0.0
        self.recompiled: tuple[str, ...] = ()

    @property
    def setups(self) -> int:
        """How often a solver was set up."""
        return sum(problem.setups for problem in (self._compiled or {}).values())

    def claims(self, steps: Iterable[Mapping[str, float]], polish: bool, missing: list[Missing]) -> Iterator[Claim]:
        """Points at all parameter values; where a given problem has none, what is proved goes to ``missing``."""
        for number, values in enumerate(steps):
            try:
                claim = self.claim(values, polish)
            except SolveError as error:
                found = self._second(number, values, polish, error)
                if isinstance(found, Missing):
                    missing.append(found)
                    continue
                claim = found
            yield claim

    def _second(self, number: int, values: Mapping[str, float], polish: bool, error: SolveError) -> Claim | Missing:
        """Return a point at less accuracy, where Clarabel has missed its tolerance; of a given problem what is proved.

        What CVXPY fills in anew at each value was tried at less accuracy already.
        """
        formulation = self._formulation
        none = _missing(formulation, number, values, error) if isinstance(formulation, GivenProblem) else None
        if (none is None or none.status == "undecided") and self._compiled and self._accuracy == "reference":
            with suppress(SolveError):
                return less_accurate(formulation, values, self._forms).claim(formulation, values, polish)
        if none is None:
            raise error
        return none

    def claim(self, values: Mapping[str, float], polish: bool) -> Claim:
        """Return the point at the given parameter values, not certified yet."""
        formulation, direct = self._formulation, self._formulation.direct
        known = formulation.closed_form(values)
        if known is not None:
            return Claim(values, known, False, direct, direct, {"solve": 0.0})
        if self._compiled is None:
            started = time.perf_counter()
            self._compiled = self._compile(values)
            self.seconds = time.perf_counter() - started
        if self._compiled:
            found = found_of({form: problem.solve(values) for form, problem in self._compiled.items()})
        else:
            found = with_clarabel(formulation, values, self._forms, self._accuracy)
        return found.claim(formulation, values, polish)

    def _compile(self, values: Mapping[str, float]) -> dict[Form, Compiled]:
        """Compile each form; nothing where a matrix moves with the parameters, and CVXPY must fill it in each time."""
        model, parameters = self._formulation.model, self._formulation.parameters
        try:
            return {form: Compiled(model(form), parameters, self._accuracy, values) for form in self._forms}
        except NotUpdatable as error:
            self.recompiled = error.names
            return {}


def _missing(given: GivenProblem, number: int, values: Mapping[str, float], error: SolveError) -> Missing:
    """Return what is proved of a problem where no solution was found; its parameters keep their own values."""
    before = {name: parameter.value for name, parameter in given.parameters.items()}
    try:
        for name, parameter in given.parameters.items():
            parameter.value = values[name]
        proof = proved(given.primal, CERTIFY)
    finally:
        for name, parameter in given.parameters.items():
            parameter.value = before[name]
    if proof.status in ("infeasible", "unbounded"):
        return Missing(number, dict(values), proof.status, proof.words, error)
    return Missing(number, dict(values), "undecided", str(error), error)


def _points(formulation: Any, grid: Mapping[str, Any], product: bool) -> list[dict[str, float]]:
    columns: dict[str, Any] = {}
    for name, given in grid.items():
        column = real_array(given, name)
        if column.ndim > 1:
            raise InputError(f"{name} must be a number or one-dimensional, got shape {column.shape}")
        if column.size == 0:
            raise InputError(f"{name} must have at least one value, got {given!r}")
        columns[name] = column
    if product:
        every = np.meshgrid(*columns.values(), indexing="ij")
        columns = {name: column.ravel() for name, column in zip(columns, every, strict=True)}
    lengths = {name: column.size for name, column in columns.items() if column.ndim == 1}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InputError(f"all parameters must have the same length, got {shown}; product=True is every combination")
    count = next(iter(lengths.values()), 1)
    points = []
    for k in range(count):
        values = {name: float(column[k] if column.ndim else column) for name, column in columns.items()}
        try:
            points.append(formulation.check_values(values))
        except InputError as error:
            error.args = (f"{error} (value {k} of the sweep)",)
            raise
    return points
