"""Entry to all exact paths: the formulation declares which kind of path it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, Unpack, overload

from paretoclf.common.checks import what_it_is
from paretoclf.common.errors import InputError, MovesMatrixError, NeedsConeError
from paretoclf.common.files import AnyFile
from paretoclf.common.progress import PathLimits, logger
from paretoclf.common.threads import one_thread
from paretoclf.problem.lines import (
    Homogeneous,
    Labelled,
    LineOfCosts,
    LineOfTau,
    LineOfTheta,
    Ratio,
    SampleLine,
    Weighted,
    lines_of,
)
from paretoclf.problem.qp import QP

if TYPE_CHECKING:
    from paretoclf.path.curves.curve_path import CurvePath
    from paretoclf.path.programs.eps_path import ConePath
    from paretoclf.path.programs.problem_path import ProblemPath
    from paretoclf.path.svm.cost_path import Path
    from paretoclf.path.svm.margin_path import MarginPath
    from paretoclf.path.svm.nu_path import NuPath
    from paretoclf.path.svm.quantile_path import QuantilePath
    from paretoclf.proof.verdicts.solution import Solution


#: Samples from which on a path may take so long that it is said before.
_MANY = 500


class Program(Protocol):
    """Attributes by which types tell a ``cvxpy.Problem``."""

    @property
    def objective(self) -> Any:
        """Objective that is minimised or maximised."""
        ...

    @property
    def constraints(self) -> Any:
        """List of the constraints."""
        ...


class _How(TypedDict, total=False):
    """Options of any exact path."""

    certify: bool
    max_events: int | None
    max_seconds: float | None
    progress: bool | None


class _HowInParts(_How, total=False):
    """Options of paths that may be followed in parts."""

    parts: int | None
    n_jobs: int | None


class _HowOfSamples(_How, total=False):
    """Options of the four paths that have a tracker of their own."""

    engine: str | None


class _HowOfCosts(_HowInParts, total=False):
    """Options of a path of costs, which has a tracker of its own and may be followed in parts."""

    engine: str | None


class Searching(Protocol):
    """Method by which types tell a search over formulations."""

    def trace_within(self, eps: float, given: Mapping[str, Any], progress: bool | None = None) -> Any:
        """Trace its path within eps."""
        ...


class Parametric(Protocol):
    """Attribute by which types tell a formulation."""

    @property
    def domain(self) -> Mapping[str, Any]:
        """Parameters of the formulation, with their ranges."""
        ...


@overload
def trace(
    problem: Program | QP, start: Mapping[Any, Any], stop: Mapping[Any, Any], **how: Unpack[_HowInParts]
) -> ProblemPath: ...


@overload
def trace(problem: Searching, *, eps: float, progress: bool | None = None, **others: Any) -> Any: ...


@overload
def trace(
    problem: Program | Parametric,
    start: Mapping[Any, Any] | None = None,
    stop: Mapping[Any, Any] | None = None,
    *,
    eps: float,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **others: Any,
) -> ConePath | CurvePath: ...


@overload
def trace(
    problem: Program | Parametric,
    start: Mapping[Any, Any] | None = None,
    stop: Mapping[Any, Any] | None = None,
    *,
    curve: Literal[True],
    progress: bool | None = None,
    **others: Any,
) -> CurvePath: ...


@overload
def trace(problem: Labelled, *, nu: Any, asymmetry: Any, **how: Unpack[_HowOfSamples]) -> NuPath: ...


@overload
def trace(
    problem: Weighted, start: Any, stop: Any, *, hub: Path | Solution | None = None, **how: Unpack[_HowOfCosts]
) -> Path: ...


@overload
def trace(problem: Homogeneous, *, tau: Any, lam: Any, **how: Unpack[_HowOfSamples]) -> QuantilePath: ...


@overload
def trace(
    problem: Ratio, *, theta: Any, C_plus: Any = None, C_minus: Any = None, **how: Unpack[_HowOfSamples]
) -> MarginPath: ...


@overload
def trace(
    problem: Parametric,
    *,
    certify: bool = True,
    max_events: int | None = None,
    max_seconds: float | None = None,
    progress: bool | None = None,
    **others: Any,
) -> ProblemPath: ...


def trace(
    problem: Any,
    start: Any = None,
    stop: Any = None,
    *,
    tau: Any = None,
    lam: Any = None,
    theta: Any = None,
    C_plus: Any = None,
    C_minus: Any = None,
    nu: Any = None,
    asymmetry: Any = None,
    hub: Path | Solution | None = None,
    engine: str | None = None,
    certify: bool = True,
    max_events: int | None = None,
    max_seconds: float | None = None,
    progress: bool | None = None,
    eps: float | None = None,
    parts: int | None = None,
    n_jobs: int | None = None,
    curve: bool = False,
    **others: Any,
) -> Path | QuantilePath | MarginPath | NuPath | ProblemPath | ConePath | CurvePath:
    """Trace every optimal classifier, or optimum of a quadratic or linear program, along a line of parameters, exactly.

    Parameters
    ----------
    problem : TwoCSVM, QuantileSVM, BiobjectiveMargin, TwoNuSVM, or any formulation, or a cvxpy.Problem or QP
        The problem. From the first four only samples, labels and weights are used, no solver; a formulation of your own
        that is one of these problems says so by its ``lines``. Any other formulation has an exact path where its
        primal or dual is a quadratic or linear program in what moves, with fixed matrices; so has a ``cvxpy.Problem``.
    start, stop : Costs or pair (C_plus, C_minus), or SampleCosts
        For `TwoCSVM`: the ends of a segment of the cost plane, anywhere in the closed quadrant, the origin and the
        axes included; or one cost per sample. If one of the two is a SampleCosts, the costs of each sample move
        linearly from one to the other.
        For `TwoNuSVM`: pairs (nu_plus, nu_minus) within (0, 1], on the line between which their inverses move linearly.
        The path ends where the reduced hulls meet.
        For a ``cvxpy.Problem``: mappings of its parameters to their values at both ends, between which they move
        linearly and together; parameters that are left out keep their values. A key may be one entry, ``x0[0]`` or
        ``"x0[0]"``. For a `QP`: of names of its ``moves``.
    tau : pair (lo, hi)
        For `QuantileSVM`: an interval within [0, 1], ends included.
    lam : float
        For `QuantileSVM`: the weight of the squared norm, positive.
    theta : pair (lo, hi)
        For `BiobjectiveMargin`: an interval of positive ratios of the two margins.
    C_plus, C_minus : float
        For the soft `BiobjectiveMargin`: costs of the squared slacks, positive.
    nu : pair (lo, hi)
        For `TwoNuSVM`, with asymmetry in place of start and stop: an interval within [0, nu_max], None for hi being
        nu_max. The path ends at nu_star, below which every solution is trivial, if that is above lo; with None for lo
        also where double precision can no longer tell.
    asymmetry : float
        For `TwoNuSVM`: in (0, 1).
    hub : Path or Solution, optional
        For `TwoCSVM`: a path, or a proved solution, of the same samples and kernel to set out from, instead of the
        origin of the balanced ray: where the two come closest. Saves the way up the ray; the result is the same. Where
        costs are per sample, too: many lines may leave from one solution.
    engine : "fast", "careful" or "textbook", optional
        For the first four. The tracker: the fast one; the same with every step in twice the precision, which follows
        what the fast one is refused; or that of `paretoclf.engine.textbook`, which is there to be read, solves every
        step from scratch, and knows no remedy where the margin system is ill-conditioned.
    certify : bool
        Whether to prove the whole line, for every t on it, and refuse a path that fails (the default); the proof can
        also be asked for later, as ``path.proof``.
    max_events : int, optional
        Limit on the number of exchanges per line; by default 200 n + 10 000. The path of a program that reaches it has
        status "limit" and ends there. Other paths are refused by a `StoppedError`, whose ``path`` is what there is of
        a line of costs, of tau or of nu, proved: a path on a shorter line, from which the rest can be traced (costs:
        ``hub``).
    max_seconds : float, optional
        Limit on the time that following takes, with what becomes of it as for ``max_events``; the proof comes after it.
        So does an interrupt from the keyboard: it raises `InterruptedPath`, a KeyboardInterrupt with such a ``path``.
        With eps that path is on all of the line, and its ``eps`` is what was reached; ``refine`` goes on from it.
    progress : bool, optional
        Whether to show a progress bar, and before what a long run is expected to take; by default on a terminal.
    eps : float, optional
        For a ``cvxpy.Problem`` or a formulation: strictly between 0 and 1. The path is then one of feasible points
        whose objective is proved to be within eps of the optimal value at every t, relative to that and to no less than
        a thousandth of the largest on the line. Any convex problem has such a path, with norms, logarithms, exponential
        functions, powers and semidefinite matrices, whatever parameters multiply. Where they multiply coefficients of
        an equation it is a `CurvePath`, relative to the value as that is, whose own points keep constraints up to what
        the bounds allow.
        Values of a formulation are those of its ``primal`` as it is written, which may be in another unit than
        those of ``solve``.
    parts : int, optional
        For a program and a line of costs: the number of parts of equal length that the line is cut into, each followed
        from an optimum of its own, and joined to the path that it is in one. A line out of the origin gains nothing.
    n_jobs : int, optional
        With parts, or eps: processes at work, as for joblib. The result does not depend on it.
    curve : bool
        For a ``cvxpy.Problem`` or a formulation: whether to trace polynomials between events, with bounds of the
        optimal value that are proved at every t, mostly within 1e-9, which ``path.eps`` says. All data must be affine
        in t; matrices may move, those of the objective, of inequalities and of equations.
    **others
        For a formulation of another problem: all of its parameters, by name, each a number or a pair (from, to). They
        may have the names above. Else: parameters of no exact path, which are refused, whatever they are.

    Returns
    -------
    Path, QuantilePath, MarginPath, NuPath, ProblemPath, ConePath with eps, CurvePath with curve (and with eps where
    coefficients of an equation move); of a search over formulations (`MEMPM`) a path of its own, with bounds at every
    weight

    Raises
    ------
    InputError
        If problem is no formulation or has no exact path; if a parameter is missing, does not belong to the
        formulation, or is out of its range; or hub belongs to another problem. For a program: if it is not DPP in what
        moves, has integers or cones, a parameter moves a matrix, nothing moves, or there is no optimum at the start.
    DegeneratePathError
        If the path cannot be continued, or fails its certificate. No doubtful path is returned.
    StoppedError
        If a limit is reached: with what there is of the path.

    References
    ----------
    Bach, Heckerman & Horvitz (2006), JMLR 7, section 3; Hastie et al. (2004), JMLR 5; Karasuyama et al. (2012); Yu et
    al., section 3; Carrizosa & Martin-Barragan (2006), Theorems 5 and 7; Davenport, Baraniuk & Scott (2010), section 2.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [-1, 1, -1, 1]
    >>> path = pc.trace(pc.TwoCSVM(X, y), start=(0, 0), stop=(1, 1))
    >>> path.worst_certificate.passes(1e-12)
    True
    >>> round(path.at(1.0).value, 6)
    2.888889
    >>> fewer = pc.SampleCosts([1, 1, 0, 1])  # the cost of one sample goes to 0, from what is solved already
    >>> round(pc.trace(pc.TwoCSVM(X, y), (1, 1), fewer, hub=path).value(1.0), 6)
    1.5
    >>> pc.trace(pc.QuantileSVM(X, y, bias=True), tau=(0, 1), lam=0.1)
    QuantilePath(tau 0 to 1, lam=0.1, 4 samples, 5 kinks, margin sets of up to 2)
    >>> round(pc.trace(pc.TwoNuSVM(X, y), nu=(0, None), asymmetry=0.5).star.nu, 9)
    0.333333333

    A lasso of two coefficients, which vanish where the weight is 3 and 1:

    >>> import cvxpy as cp
    >>> w, lam = cp.Variable(2, name="w"), cp.Parameter(nonneg=True, name="lam")
    >>> lasso = cp.Problem(cp.Minimize(cp.sum_squares(w - [3, -1]) / 2 + lam * cp.norm1(w)))
    >>> path = pc.trace(lasso, start={lam: 4}, stop={lam: 0})
    >>> path
    ProblemPath(lam 4 to 0, 4 breakpoints, 6 columns and 6 rows)
    >>> path.breakpoints.tolist(), path.at(lam=2).variables["w"].tolist(), path.proof.passes(1e-12)
    ([0.0, 0.25, 0.75, 1.0], [1.0, 0.0], True)
    """
    given = {"start": start, "stop": stop, "hub": hub, "tau": tau, "lam": lam, "theta": theta}
    given |= {"C_plus": C_plus, "C_minus": C_minus, "nu": nu, "asymmetry": asymmetry}
    how: dict[str, Any] = {"certify": certify, "max_events": max_events, "progress": progress}
    how["max_seconds"] = max_seconds
    words = {name: value for name, value in (given | {"engine": engine}).items() if value is not None} | others
    if curve is not False or eps is not None:
        from paretoclf.path.bounded import trace_bounded  # CVXPY, which other paths do without

        ends = _both_ends(words) if _of_cvxpy(problem) else None
        with one_thread():
            return trace_bounded(
                problem, words, ends, {"curve": curve, "eps": eps, "parts": parts, "n_jobs": n_jobs, **how}
            )
    split = None
    if parts is not None or n_jobs is not None:
        from paretoclf.engine.parts import split_of  # few paths are followed in parts

        split = split_of(parts, n_jobs, max_events, max_seconds)
    if _of_cvxpy(problem) or isinstance(problem, QP) or _by_its_own_names(problem, given | others):
        with one_thread():
            program = _trace_program(problem, words, how | {"split": split})
        logger.info("traced in %.2f s: %r", sum(program.seconds.values()), program)
        return program
    if not hasattr(problem, "lines"):
        raise InputError(
            "problem must be a formulation of your samples, such as TwoCSVM(X, y), a cvxpy.Problem or a QP, got "
            f"{what_it_is(problem)}"
        )
    way, own = _arguments(problem, given, others)
    with one_thread(problem.y.size):
        follower = _follower(lines_of(problem), way, split)
        if problem.y.size >= _MANY:
            from paretoclf.engine.forecast import foretell  # few have so many samples

            foretell(problem.gram, progress)
        own |= {"engine": engine, "certify": certify, "progress": progress}
        own |= {"split": split} if split else {"limits": PathLimits.of(max_events, max_seconds)}
        path: Path | QuantilePath | MarginPath | NuPath = follower(problem, **own)
    logger.info("traced in %.2f s: %r", path.seconds, path)
    return path


def _arguments(problem: Any, given: Mapping[str, Any], others: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """Way in which a formulation's line is stated, and the arguments of that way; InputError if they do not fit.

    Parameters
    ----------
    problem : formulation
        One with lines of its own, which may be stated in several ways: by other names.
    given : mapping
        All parameters that `trace` has names for; None where one was left out.
    others : mapping
        Parameters that no exact path has.
    """
    lines = lines_of(problem)
    ways = lines.ways(problem)
    named = [name for name, value in given.items() if value is not None]
    way = max((k for k, names in enumerate(ways) if not set(names).isdisjoint(named)), default=0)
    names = ways[way]
    known = (*names, "hub") if lines is LineOfCosts else names
    instead = "".join(f", or with {' and '.join(each)}" for each in ways if each is not names)
    called = f"a {type(problem).__name__}, which is traced with {' and '.join(names)}{instead}"
    foreign = {**others, **{name: given[name] for name in named if name not in known}}
    for name, value in foreign.items():
        raise InputError(f"{name} must be left out for {called}, got {value!r}")
    for name in names:
        if given[name] is None:
            raise InputError(f"{name} must be given for {called}, got None")
    return way, {name: given[name] for name in known}


def _follower(lines: type[SampleLine], way: int, split: tuple[int, int | None] | None = None) -> Callable[..., Any]:
    """Function that follows a kind of line in the way it is stated, in parts if it is split.

    It is imported when it is needed: a path of costs needs no other kind of path.
    """
    if split is not None:
        from paretoclf.path.svm.cost_parts import follower_in_parts

        return follower_in_parts(lines)
    if lines is LineOfCosts:
        from paretoclf.path.svm.cost_path import trace_costs

        return trace_costs
    if lines is LineOfTau:
        from paretoclf.path.svm.quantile_path import trace_quantile

        return trace_quantile
    if lines is LineOfTheta:
        from paretoclf.path.svm.margin_path import trace_margins

        return trace_margins
    from paretoclf.path.svm.nu_path import trace_hulls, trace_nu

    return (trace_hulls, trace_nu)[way]


def save_point(problem: Any, file: AnyFile, level: str | None = None, **values: Any) -> None:
    """Write the certificate of the optimum of one program, which the engine of any program finds.

    For a solution of a formulation with exact paths, whoever computed it:
    ``paretoclf.proof.files.certificate_file.save_solution``.

    Parameters
    ----------
    problem : cvxpy.Problem, QP or formulation
        A quadratic or linear program: a problem of CVXPY with the values that its parameters have, arrays, or the
        primal or dual of a formulation.
    file, level
        As for ``LineProof.save``.
    **values
        Those of the parameters of a formulation.

    Raises
    ------
    InputError
        If it is another program (with what needs a cone), has no optimum, or no certificate.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> import cvxpy as cp
    >>> from paretoclf.path.tracing import save_point
    >>> from paretoclf.proof import check
    >>> x = cp.Variable(2, name="x")
    >>> problem = cp.Problem(cp.Minimize(cp.sum_squares(x - [3, 1])), [cp.sum(x) <= 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_point(problem, f"{folder}/point.json")
    ...     content = json.loads(Path(folder, "point.json").read_text())
    >>> check.check(content["problem"], content["segments"])[0][0]
    2.0
    """
    if _of_cvxpy(problem) or isinstance(problem, QP):
        if values:
            raise InputError(f"{next(iter(values))} must be left out: parameters of a cvxpy.Problem have values")
        source = source_here(problem)
    else:
        if isinstance(problem, type) or not hasattr(type(problem), "primal_model"):
            raise InputError(f"problem must be a cvxpy.Problem or a formulation, got {what_it_is(problem)}")
        from paretoclf.solve.sources.formulation_line import source_at

        source = source_at(problem, values)
    _follow_program(source, progress=False).proof.save(file, level, progress=False)


def _of_cvxpy(problem: Any) -> bool:
    """Whether something is a cvxpy.Problem; nothing is imported for that."""
    if isinstance(problem, type):
        return False
    kinds = [(kind.__module__, kind.__name__) for kind in type(problem).mro()]
    return ("cvxpy.problems.problem", "Problem") in kinds


def _by_its_own_names(problem: Any, given: Mapping[str, Any]) -> bool:
    """Whether a formulation is traced in its own parameters: it declares no path, or these are not that one's."""
    if isinstance(problem, type) or not all(hasattr(type(problem), name) for name in ("lines", "primal_model")):
        return False
    if problem.lines is None:
        return True
    names = {name for name, value in given.items() if value is not None}
    return problem.lines is LineOfCosts and names == set(problem.domain)


def _trace_program(problem: Any, named: dict[str, Any], how: dict[str, Any]) -> ProblemPath:
    """Trace a cvxpy.Problem, or a formulation by the names of its parameters."""
    if not (_of_cvxpy(problem) or isinstance(problem, QP)):
        from paretoclf.solve.sources.formulation_line import source_of  # CVXPY, which other paths do without

        return _follow_program(source_of(problem, named), **how)
    ends = _both_ends(named, "QP" if isinstance(problem, QP) else "cvxpy.Problem")
    try:
        source = source_between(problem, *ends)
    except (NeedsConeError, MovesMatrixError) as error:
        from paretoclf.solve.sources.other_ways import other_ways

        raise InputError(f"{error}. {other_ways(problem, *ends)}") from None
    return _follow_program(source, **how)


def _both_ends(named: dict[str, Any], called: str = "cvxpy.Problem") -> tuple[Any, Any]:
    """Ends of the line of a cvxpy.Problem, or a `QP`; InputError for any other argument."""
    foreign = [name for name in named if name not in ("start", "stop")]
    if foreign:
        raise InputError(
            f"{foreign[0]} must be left out for a {called}, which is traced with start and stop, got "
            f"{named[foreign[0]]!r:.100}"
        )
    return named.get("start"), named.get("stop")


def _lines_of_program(problem: Any) -> Any:
    """Class of the lines of a cvxpy.Problem, or of a `QP`, imported when one is traced."""
    if isinstance(problem, QP):
        from paretoclf.solve.sources.array_line import LineOfArrays

        return LineOfArrays
    from paretoclf.solve.sources.problem_line import LineOfPrograms

    return LineOfPrograms


def source_here(problem: Any) -> Any:
    """Line on which nothing moves: a cvxpy.Problem, or a `QP`, at the values that its parameters have."""
    return _lines_of_program(problem).here(problem)


def source_between(problem: Any, start: Any, stop: Any, still: bool = False) -> Any:
    """Line of the parameters of a cvxpy.Problem, or of a `QP`; ``still``: it is allowed that nothing moves."""
    return _lines_of_program(problem)(problem, start, stop, still)


def _follow_program(source: Any, **how: Any) -> ProblemPath:
    """Trace a program by `trace_problem`, which is imported when one is traced."""
    from paretoclf.path.programs.problem_path import trace_problem

    return trace_problem(source, **how)
