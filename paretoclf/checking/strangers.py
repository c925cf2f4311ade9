"""Paths that other codes computed, in the form in which they have them, and the problem that each of them follows.

Known are the lasso of scikit-learn (``lars_path``, ``LassoLars``) and of cvxcla, the critical lines of cvxcla and
PyPortfolioOpt, and tables that R's quantreg and glmnet wrote; and plain arrays for any path of a program. The problem
is stated anew from the data (`paretoclf.checking.known`), traced, and the stranger's knots are judged beside that.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from paretoclf.checking import known
from paretoclf.checking.beside import JudgedPoints, judge_beside
from paretoclf.checking.beside_values import VALUES, JudgedValues, judge_values
from paretoclf.checking.elsewhere import is_critical_line, is_fitted, is_lars, is_minimiser
from paretoclf.checking.fitted_models import KNOWN, found_in, judge_fitted, lars_in
from paretoclf.checking.fitted_objectives import of_squares
from paretoclf.checking.fitted_reports import with_positive
from paretoclf.checking.judged_laws import JudgedLaw, judge_law
from paretoclf.checking.judged_solutions import Verification
from paretoclf.checking.not_judged import why_not
from paretoclf.checking.r_tables import R_TABLES
from paretoclf.checking.strangers_paths import StrangersPath, nothing_else, read_table
from paretoclf.common.checks import Array, check_matrix, check_vector, real_array, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import STRANGERS
from paretoclf.engine.reduction.program import beside_the_value, meant_by
from paretoclf.path.base.point_rows import EVENTS, SLOPES, column_of
from paretoclf.path.curves.curve_path import CurvePath
from paretoclf.path.problem_map.problem_map import ProblemMap
from paretoclf.path.programs.eps_path import ConePath
from paretoclf.path.programs.problem_path import ProblemPath
from paretoclf.proof.verdicts.proof import Proof

#: First lambda of the traced path over the largest of the knots: the first solution holds beyond its knot.
_BEYOND = 2.0

#: A last alpha of lars_path that is less than this share of the first is the rounding of 0.
_ROUNDING = 1e-13


def judge_stranger(
    given: tuple[Any, Any, Any],
    of_samples: tuple[Any, Any],
    asked: tuple[float | None, bool | None],
    parameters: Mapping[str, Any],
) -> JudgedPoints | JudgedValues | JudgedLaw | Proof[Any] | Verification:
    """Judge what `is_of_another` has recognised: the path of a program, or fitted models.

    ``given`` are X, y and the solutions, ``of_samples`` a kernel and weights, which belong to fitted models. ``asked``
    holds the tolerance, and whether segments between knots are judged, each None where it was not given. A
    path of ours alone is judged anew, from the program, its points and its multipliers.

    Raises
    ------
    InputError
        If it is torn, or of other data.
    """
    X, y, solutions = given
    fitted = is_fitted(solutions)
    held, seen = lars_in(solutions, X)
    for each in (X, y) if fitted else given:
        if is_minimiser(each):
            got = f"{what_it_is(each)}: {why_not(each)}"
            raise InputError(f"solutions must be after X and y, one of the estimators {KNOWN}, got {got}")
    if fitted and not is_lars(held):
        return judge_fitted(given, of_samples, asked, parameters)
    if any(each is not None for each in of_samples):
        raise InputError("kernel and sample_weight belong to classifiers, and not to the path of a program")
    options = dict(parameters)
    tol, between = asked
    how = (STRANGERS if tol is None else tol), between
    if isinstance(X, ProblemMap):
        nothing_else(options, "a map")
        if solutions is not None or between is not None:
            raise InputError("verify(map, law, tol=...) judges a law beside a map, and takes nothing else")
        return replace(X).proof if y is None else judge_law(X, y, how[0])
    if isinstance(X, ProblemPath | ConePath | CurvePath):
        nothing_else(options, "a path of a program")
        if y is None and solutions is None:
            if asked != (None, None):
                raise InputError("tol and between belong to points beside a path; of the path itself ask passes(tol)")
            return replace(X).proof
        return _on_path(X, y, *how)
    if is_critical_line(X):
        nothing_else(options, type(X).__name__)
        return _critical_line(X).judged(*how)
    columns = [str(name) for name in getattr(X, "columns", ())]
    X = check_matrix(seen)
    y = check_vector(y, X.shape[0], "y")
    if is_lars(held):
        positive = options.pop("positive", False) if isinstance(held, tuple) else False
        if not isinstance(positive, bool | np.bool_):
            raise InputError(f"positive must be True or False, got {positive!r:.100}")
        nothing_else(options, "lars_path")
        return _judged_lars((X, y, held), bool(positive), how, found_in(solutions))
    of = options.pop("of")
    if of not in R_TABLES:
        raise InputError(f"of must be one of {', '.join(map(repr, R_TABLES))}, got {of!r:.100}")
    return R_TABLES[of]((X, y, columns), solutions, options).judged(*how)


#: Paths of programs.
Traced = ProblemPath | ConePath | CurvePath


def _on_path(path: Traced, given: Any, tol: float, between: bool | None) -> JudgedPoints | JudgedValues:
    """Judge plain arrays (t, x[, y]), a mapping of them by name, a table of them, or a function, beside a path."""
    if isinstance(given, str | os.PathLike):
        given = _columns(os.fspath(given), *read_table(os.fspath(given)), path)
    elif hasattr(given, "columns") and hasattr(given, "to_numpy"):
        given = _columns("solutions", *_of_frame(given), path)
    of_places = isinstance(given, tuple | list)  # their t is none of the names of parameters
    if callable(given):
        given, of_places = _asked(path, given), True
        between = False  # a function says nothing of being affine
    names = list(path.program.variables)
    rows = list(path.program.all_multipliers)
    if isinstance(given, tuple | list) and len(given) in (2, 3):
        own = list(path.program.multipliers)
        if len(names) != 1 or (len(given) == 3 and len(own) != 1):
            raise InputError(f"solutions must be a mapping of names to arrays, as there are {', '.join(names + rows)}")
        given = dict(zip(("t", names[0], *own[:1]), given, strict=False))
    if not isinstance(given, Mapping):
        raise InputError(
            f"solutions must be (t, x), (t, x, y), a mapping, a table, a function of t or a file, got {given!r:.100}"
        )
    moving = {name for name in path.parameters(0.0) if np.ndim(path.ends[0][name]) == 0}
    at = [name for name in given if name == "t" or name in moving]
    alone = [name for name in given if name in VALUES and name not in {*names, *rows, *at}]
    if len(given) == 2 and len(at) == len(alone) == 1:
        if between:
            raise InputError("between must be left out beside values alone, which say nothing of what is between them")
        return judge_values(path, _share_of(path, given[at[0]], at[0]), given[alone[0]], tol=tol)
    if isinstance(path, CurvePath):
        raise InputError(
            "points must not be given beside a CurvePath, whose points are not optimal to the last digit: "
            "verify(path, {'t': t, 'value': values}) judges values of the objective, verify(path) the path anew, and "
            "verify(problem) what a cvxpy.Problem holds at one value"
        )
    keys = {name: name if name in at else meant_by(name, names, rows) for name in given}
    strange = [name for name, key in keys.items() if key is None]
    if len(at) != 1 or strange:
        known_names = ", ".join(sorted({"t", *moving}))
        raise InputError(
            f"solutions must have one of {known_names} and variables or constraints of the problem, "
            f"{', '.join(names + rows)}, or value alone beside it, got {', '.join(map(str, given))}"
        )
    knots = _share_of(path, given[at[0]], None if of_places else at[0])
    if not of_places and at[0] == "t" and "t" in moving and knots.size and (knots.min() < 0 or knots.max() > 1):
        ends = " to ".join(f"{float(path.ends[k]['t']):g}" for k in (0, 1))
        got = np.array2string(real_array(given["t"], "t").ravel(), threshold=6)
        raise InputError(f"t is the parameter here, from {ends}: got {got:.100}")
    given = {key: given[name] for name, key in keys.items() if name not in at}
    variables = {name: real_array(given[name], name) for name in names if name in given}
    duals = {name: real_array(given[name], name) for name in rows if name in given}
    numbers = np.arange(knots.size)
    if knots.size > 1 and (np.diff(knots) <= 0).all():
        knots, numbers = knots[::-1], numbers[::-1]
        variables = {name: each[::-1] for name, each in variables.items()}
        duals = {name: each[::-1] for name, each in duals.items()}
    return judge_beside(path, knots, variables, duals, tol=tol, between=between is not False, numbers=numbers)


def _share_of(path: Traced, knots: Any, name: str | None) -> Array:
    """Knots as t, which are given as such or, if it is one, as the parameter of this name."""
    at = real_array(knots, name or "t").ravel()
    if name is None or name not in path.ends[0] or np.ndim(path.ends[0][name]):
        return at
    first, last = (float(path.ends[k][name]) for k in (0, 1))
    return (at - first) / (last - first) + 0.0  # and not -0


def _columns(file: str, header: list[str], table: Array, path: Traced) -> dict[str, Array]:
    """A table of knots: t or the parameter, and the entries of variables and multipliers as ``x[0, 1]`` or ``x``.

    What `point_rows` writes beside them is left out: parameters where there is t, the value, its slopes and its bounds.
    An entry that has the name of a parameter is ``x:NAME`` or ``row:NAME``, as there.
    """
    column = {name: table[:, k] for k, name in enumerate(header)}
    parameters = [name for name in header if name == "t" or name in path.ends[0]]
    found = {name: column.pop(name) for name in dict.fromkeys(parameters)}
    told = frozenset({"t", *path.ends[0]})
    if "t" in found:
        found = {"t": found["t"]}
    alone = [name for name in column if name in VALUES and name not in path.program.variables]
    if len(column) == len(alone) == 1 and found:
        return {next(iter(found)): next(iter(found.values())), alone[0]: column[alone[0]]}
    if "t" in found:
        for name in ("value", "lower", "upper"):
            column.pop(name, None)
    for kind, readings in (("x", path.program.variables), ("row", path.program.all_multipliers)):
        for name, reading_of in readings.items():
            own = beside_the_value(name, kind)
            entries = [own + entry for entry in reading_of.entries]
            entries = [entry if entry in column else f"{kind}:{entry}" for entry in entries]
            if all(entry in column for entry in entries):
                values = np.stack([column.pop(entry) for entry in entries], axis=1)
                found[column_of(own, kind, told)] = values.reshape(-1, *reading_of.shape)
    if column:
        raise InputError(f"{file}: column {next(iter(column))!r} is no entry of a variable or constraint")
    return found


def _of_frame(given: Any) -> tuple[list[str], Array]:
    """Names and numbers of the columns of a DataFrame; an index with a name is one of them."""
    frame = given.reset_index() if getattr(getattr(given, "index", None), "name", None) else given
    names = [str(name) for name in frame.columns]
    kept = [k for k, name in enumerate(names) if name not in (EVENTS, *SLOPES)]
    columns = [real_array(np.asarray(frame[frame.columns[k]]), f"solutions[{names[k]!r}]") for k in kept]
    if not columns or not columns[0].size:
        raise InputError("solutions must be a DataFrame with a row for each knot, got an empty one")
    return [names[k] for k in kept], np.stack(columns, axis=1)


def _asked(path: Traced, function: Any) -> dict[str, Any]:
    """Answers of a function of t at every breakpoint and in the middle of every segment."""
    ends = path.breakpoints
    t = np.unique(np.concatenate([ends, 0.5 * (ends[:-1] + ends[1:])]))
    answers = [function(float(each)) for each in t]
    if all(isinstance(each, Mapping) for each in answers):
        return {"t": t} | {name: np.array([each[name] for each in answers]) for name in answers[0]}
    if len(path.program.variables) != 1:
        names = ", ".join(path.program.variables)
        raise InputError(
            f"solutions must return a mapping of names to values, as there are {names}, got {answers[0]!r:.100}"
        )
    return {"t": t, next(iter(path.program.variables)): np.array(answers)}


def _judged_lars(
    given: tuple[Array, Array, Any], positive: bool, how: tuple[float, bool | None], found: str
) -> JudgedPoints:
    """Judge a path of scikit-learn's lasso, and say what was minimised; and where it fails, if positive=True helps."""
    path, objective = _lars(*given, positive)
    report = path.judged(*how)
    hint = ""
    if isinstance(given[2], tuple) and not positive and not report.passes() and (path.variables["w"] >= 0.0).all():
        other = _lars(*given, True)[0].judged(how[0], False)
        hint = with_positive(_of_knots(report), _of_knots(other))
    judged = f"Judged {found}." if found else ""
    return replace(report, note=" ".join(filter(None, [judged, f"Objective: {objective}.", hint])))


def _of_knots(report: JudgedPoints) -> list[str]:
    """Verdicts on the points that were given."""
    pairs = zip(report.verdicts, report.given.tolist(), strict=True)
    return [verdict for verdict, given in pairs if given]


def _lars(X: Array, y: Array, given: Any, positive: bool) -> tuple[StrangersPath, str]:
    """The lasso of scikit-learn and its objective, which has 1/(2n); centring removes an intercept."""
    fitted = not isinstance(given, tuple)
    alphas, coefs = (given.alphas_, given.coef_path_) if fitted else (given[0], given[2])
    alphas = real_array(alphas, "alphas").ravel()
    w = real_array(coefs, "coefs").T
    if w.shape != (alphas.size, X.shape[1]):
        raise InputError(f"coefs must have shape ({X.shape[1]}, {alphas.size}), got {w.T.shape}")
    intercept = fitted and bool(given.fit_intercept)
    nonneg = positive or (fitted and bool(given.positive))
    if np.isfinite(alphas).all() and (np.diff(alphas) > 0).any():
        got = np.array2string(alphas, threshold=6)
        raise InputError(f"alphas must fall from knot to knot, as lars_path returns them, got {got:.100}")
    if alphas.size and abs(alphas[-1]) <= _ROUNDING * alphas[0]:  # of interpolating coefficients it is 0, with noise
        alphas = np.append(alphas[:-1], 0.0)
    problem, lam = known.lasso(X, y, intercept=intercept, nonneg=nonneg, scale=float(y.size))
    objective = of_squares({"l1_ratio": 1.0}, positive=nonneg, intercept=intercept)
    return _from_the_top(problem, lam, alphas, _with_intercept(X, y, w, intercept)), objective


def _with_intercept(X: Array, y: Array, w: Array, intercept: bool) -> dict[str, Array]:
    """Coefficients, and the best intercept of each."""
    return {"w": w, "b": y.mean() - w @ X.mean(axis=0)} if intercept else {"w": w}


def _from_the_top(problem: Any, parameter: Any, at: Array, variables: Mapping[str, Array]) -> StrangersPath:
    """Knots at falling lambda; the first finite one holds for all larger ones, as such codes state."""
    infinite = ~np.isfinite(at)
    if infinite[1:].any():
        raise InputError("lambda must be finite but at the first knot")
    start = _BEYOND * float(at[~infinite].max(initial=0.0)) or 1.0
    numbers = np.arange(at.size)
    if infinite.any():
        at = np.concatenate([[start], at[1:]])
    else:
        at, numbers = np.concatenate([[start], at]), np.append(-1, numbers)
        variables = {name: np.concatenate([each[:1], each]) for name, each in variables.items()}
    if at.size == 1:  # one portfolio for every lambda
        at, numbers = np.array([start, 0.0]), np.zeros(2, dtype=np.int64)
        variables = {name: np.concatenate([each, each]) for name, each in variables.items()}
    return StrangersPath(problem, parameter, at, variables, numbers=numbers)


def _critical_line(given: Any) -> StrangersPath:
    """The frontier, or cvxcla's lasso, from the object's own data."""
    package = type(given).__module__.split(".")[0]
    name = type(given).__name__
    if package == "pypfopt":
        return _frontier_of_pypfopt(given)
    strange = {"CLA": ("leverage", "stop"), "Lasso": ("a", "lower", "upper", "quad_form", "g")}[name]
    used = [key for key in strange if getattr(given, key, None) is not None]
    if used:
        raise InputError(f"solutions must be a {name} without {used[0]}: state that problem in CVXPY, and trace it")
    points = given.turning_points if name == "CLA" else given.path
    if not points:
        raise InputError(f"solutions must be a {name} with its path, got none")
    at = np.array([point.lamb if name == "CLA" else point.lam for point in points], dtype=np.float64)
    if name == "CLA":
        if not isinstance(given.covariance, np.ndarray):
            raise InputError("solutions must be a CLA whose covariance is an array")
        bounds = given.lower_bounds, given.upper_bounds
        rows = {key: getattr(given, key) for key in "abghq"}
        problem, lam = known.frontier(given.mean, given.covariance, bounds, **rows)
        return _from_the_top(problem, lam, at, {"w": np.array([point.weights for point in points])})
    problem, lam = known.lasso(given.x, given.y, intercept=False, nonneg=bool(given.nonneg), scale=1.0)
    return _from_the_top(problem, lam, at, {"w": np.array([point.beta for point in points])})


def _frontier_of_pypfopt(given: Any) -> StrangersPath:
    """The frontier of a CLA of PyPortfolioOpt, from its own data."""
    if not given.w:
        raise InputError("solutions must be a CLA that was solved: call efficient_frontier or max_sharpe first")
    at = np.array([np.inf if each is None else each for each in given.ls], dtype=np.float64)
    mean = np.ravel(given.mean)
    bounds = np.ravel(given.lB), np.ravel(given.uB)
    rows = {"a": np.ones((1, mean.size)), "b": np.ones(1)}
    problem, lam = known.frontier(mean, np.asarray(given.cov_matrix), bounds, **rows)
    portfolios = np.array([np.ravel(w) for w in given.w], dtype=np.float64)
    return _from_the_top(problem, lam, at, {"w": portfolios})
