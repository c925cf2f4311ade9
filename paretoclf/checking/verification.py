"""Judging somebody else's solutions: certificates for each, and the first that is not proved optimal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from paretoclf.checking.elsewhere import is_estimator, is_of_another
from paretoclf.common.checks import check_positive_number, refuse_other_order, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.common.threads import count, on_one_thread, one_thread
from paretoclf.common.tolerances import CERTIFY

if TYPE_CHECKING:
    from paretoclf.checking.beside import JudgedPoints
    from paretoclf.checking.beside_values import JudgedValues
    from paretoclf.checking.judged_laws import JudgedLaw
    from paretoclf.checking.judged_solutions import Verification
    from paretoclf.path.programs.eps_path import ConePath
    from paretoclf.path.programs.problem_path import ProblemPath
    from paretoclf.problem.qp import QP
    from paretoclf.proof.verdicts.proof import Proof
    from paretoclf.solve.judging.cone_proof import ProblemProof

    #: What judging returns, by what was given.
    Judged = Verification | ProblemProof | JudgedPoints | JudgedValues | JudgedLaw | Proof[Any]


@overload
def verify(
    path: ProblemPath | ConePath, theirs: Any, /, *, tol: float | None = None, between: bool | None = None
) -> JudgedPoints | JudgedValues: ...


@overload
def verify(problem: Any, /, *, tol: float | None = None) -> Any: ...


@overload
def verify(qp: QP, x: Any, y: Any = None, /, *, tol: float | None = None) -> ProblemProof: ...


@overload
def verify(problem: Any, values: Mapping[Any, Any] | str, duals: Any = None, /, *, tol: float | None = None) -> Any: ...


@overload
def verify(
    X: Any,
    y: Any,
    solutions: Any = None,
    kernel: Any = None,
    sample_weight: Any = None,
    *,
    tol: float | None = None,
    between: bool | None = None,
    **parameters: Any,
) -> Verification: ...


def verify(
    X: Any,
    y: Any = None,
    solutions: Any = None,
    kernel: Any = None,
    sample_weight: Any = None,
    *,
    tol: float | None = None,
    between: bool | None = None,
    **parameters: Any,
) -> Judged:
    """Certify solutions that somebody else computed, whatever they are in.

    ``verify(X, y, solutions)`` judges solutions of the 2C-SVM, or of the problem that a fitted machine solves;
    ``verify(formulation, solutions)`` those of any formulation, or of ``Moments`` (hyperplanes that should be Pareto
    optimal for two Gaussian classes); ``verify(problem)`` what a solved ``cvxpy.Problem`` holds, whatever it is about,
    and ``verify(problem, values)`` values of your own. No dual is needed for that: its cone program is solved once
    more, and safe bounds on the optimal value are computed from the raw arrays (`paretoclf.proof.cones.cone_judge` has
    the argument and its assumptions).

    Paths of other programs that another code computed are judged at their knots and between them, beside the exact path
    of the same problem: ``verify(path, (t, x))`` plain arrays, a DataFrame or a function, of any path that `trace` made
    of a program (and ``verify(path)`` that path itself);
    ``verify(X, y, lars_path(X, y))`` or a fitted ``LassoLars``; ``verify(cla)`` an object of cvxcla or PyPortfolioOpt;
    ``verify(X, y, file, of="quantreg")`` and ``of="glmnet"`` tables that R wrote. A control law is judged beside a map
    of `plane`: ``verify(map, law)``, a function of both parameters or a table (`paretoclf.checking.judged_laws`).

    Parameters
    ----------
    X, y, kernel, sample_weight
        The problem, as for `TwoCSVM`; y may have any two labels, of which the larger (the second in sorted order) is
        positive.
    solutions
        - Rows ``(C_plus, C_minus, alpha)`` or ``(C_plus, C_minus, alpha, b)``, at least one; of another formulation
          its parameters, in the order of its `domain`, then alpha (of moments: w) and b. Or mappings with these names,
          which may have ``w`` in place of alpha. Multipliers alpha are nonnegative. Where b is missing (or None), the
          best one is used.
        - A mapping of arrays, or the name of a CSV or npz file with them: k rows of parameters (k,) (``C`` stands for
          both costs), ``alpha`` (k, n)
          or ``w`` (k, d), ``b`` (k,).
        - A `Solution`, `Sweep`, `Path` or other exact path, or a `TradeoffCurve`.
        - A fitted ``SVC``, ``NuSVC``, ``LinearSVC`` or ``SGDClassifier`` of scikit-learn, whose ``classes_[1]`` is
          positive; ``Lasso``, ``ElasticNet``, ``MultiTaskElasticNet``, ``QuantileRegressor``, ``SVR``, ``OneClassSVM``
          (y is None) or ``LogisticRegression`` (`paretoclf.checking.fitted_problems`); or a ``Pipeline`` that ends in
          one, or a search (``GridSearchCV``), by its ``best_estimator_``; or a list of them, each judged by the problem
          that it solves, which the report names.
        - What ``lasso_path`` or ``enet_path`` returned, with its ``l1_ratio`` if that is not 1; with
          ``positive=True``, as with ``lars_path``, if that was said there.
        - The name of a model file of LIBSVM or LIBLINEAR; ``C_plus`` and ``C_minus`` (or ``nu``) must then be given, as
          such a file does not say them.
        - For a `ProblemPath`, `ConePath` or `CurvePath` in place of X nothing: it is judged anew from its arrays, and
          its proof returned. Or (then second; of the first two): ``(t, x)`` or ``(t, x, y)``, with knots t (k,), the
          variable (k, ...) and the multipliers of the constraint (k, ...); or a mapping, with ``t`` or the parameter
          that moves, and variables and constraints by name; or a CSV file or a DataFrame of these columns, entries as
          ``x[0]``, as ``path.to_frame()`` has them; or a function of t that returns the variable, or a mapping, and is
          asked at every breakpoint and in the middle of every segment. Or (of all three) values of the objective alone,
          ``{"t": t, "value": v}`` or a table of these.
        - For a ``cvxpy.Problem`` (second) values by variables or their names, then if you like multipliers by
          constraints or their names, in CVXPY's signs; or a claim, ``"infeasible"`` or ``"unbounded"``, then if you
          like its proof: multipliers of constraints that contradict each other, or the ray by variables.
        - For a `QP` (second) the point as an array or by names, then its multipliers; or, with both, a solution file of
          HiGHS, Gurobi, CPLEX, CBC, GLPK or SCIP, a CSV file or DataFrame of names and numbers, or what
          ``linprog`` or OSQP returned; or a claim as above, then its proof as an array, multipliers in OSQP's signs.
        - With ``of="quantreg"`` a CSV file of ``t(rq(y ~ X, tau = -1)$sol)``, or of coefficients at some ``tau``; with
          ``of="glmnet"`` one of ``data.frame(lambda = fit$lambda, t(as.matrix(coef(fit))))``. Columns of a DataFrame X
          are found by their names.
    tol : float, optional
        Largest residual and gap of a solution that counts as optimal. Default: 1e-8; of fitted models the largest
        ``tol`` of theirs, at which they stopped, but no more than 1e-3; of a model file 1e-3, where LIBSVM stops; of
        paths of other programs 1e-6. LIBSVM's tol is about violated margins, not about the gap, and others of
        scikit-learn have a unit of their own, too: unless tol is given, a solution with a larger gap is optimal "as its
        tol asks" where it keeps its own rule (`paretoclf.checking.libsvm`, `paretoclf.checking.stopping_rules`), and
        its certificate says by how much the value can be off.
    between : bool, optional
        Whether the rows are the knots of a path, affine from one to the next, to be proved or refuted between them.
        By default only knots of a path as such (lars_path, a critical line, knots beside a `ProblemPath`) are judged
        so; False judges the knots alone.
    **parameters
        Parameters that a file does not say. With ``of="glmnet"``: ``alpha``, above 0, by default 1, the lasso; of an
        elastic net each row is judged by itself. ``standardize``, by default True, as there. With
        ``standardize_response=False`` the ridge is that of scikit-learn; by default it is divided by the standard
        deviation of y, by which glmnet scales y (``paretoclf.checking.r_tables``).

    Returns
    -------
    Verification, ProblemProof of a ``cvxpy.Problem``, or JudgedPoints (JudgedValues) beside the path of a program, and
    its own proof, or JudgedLaw beside a map

    Raises
    ------
    InputError
        If there is no solution, or one has the wrong form, naming its index; tol is not positive; a machine was fitted
        on other data or with another kernel, or its file does not say its parameters; or if a ``cvxpy.Problem`` is not
        convex, has integers, holds no values, or has a cone that is not covered.
    SolveError
        If a slope is given without multipliers, and none that prove its value can be found; or if a compiled program
        cannot be solved.

    Notes
    -----
    Where a slope w and an intercept are given alone, only the value is judged: the problem is solved for the best
    multipliers, whose dual value is a lower bound, and the gap is by how much the given point is worse than optimal.

    Multipliers that are given with a point of a `QP` or of a ``cvxpy.Problem``, or beside the path of a program, are
    part of the answer: where they are wrong it is not optimal. Those that a ``cvxpy.Problem`` holds are told apart, and
    no verdict is about them. Values are judged by the objective and the constraints alone, here and in every command:
    `grade` compares their digits, too, which next to an optimum are fewer than those of the value.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> X, y = np.array([[-1.0], [1.0]]), [-1, 1]
    >>> report = pc.verify(X, y, [(1, 1, [0.5, 0.5]), (1, 1, [0.4, 0.4]), (1, 1, [0.49999, 0.49999])])
    >>> report.first_failure(), report.classes["not optimal"], report.summary
    (1, (1, 2), '2 not optimal, 1 of 3 optimal to 1e-08')
    >>> pc.verify(X, y, {"w": [1.0], "b": 0.0, "C_plus": 1.0, "C_minus": 1.0}).passes()
    True
    >>> pc.verify(pc.TwoNuSVM(X, y), [(0.5, 0.5, [0.25, 0.25], 0.0)]).passes()
    True
    >>> import cvxpy as cp
    >>> x = cp.Variable(2, name="x")
    >>> problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(cp.sum(x) >= 1).set_label("mass")])
    >>> value = problem.solve("CLARABEL")
    >>> pc.verify(problem, tol=1e-6).status
    'optimal'
    >>> pc.verify(problem, {"x": [0.5, 0.5]}, {"mass": 1.0}).status, pc.verify(problem, {"x": [0.6, 0.5]}).status
    ('optimal', 'not optimal')
    >>> pc.verify(problem, "infeasible").status
    'not optimal'

    Somebody's lasso, right at its three knots, and wrong after the second: it knows nothing of the kink at 1.

    >>> w, lam = cp.Variable(2, name="w"), cp.Parameter(nonneg=True, name="lam")
    >>> path = pc.trace(
    ...     cp.Problem(cp.Minimize(cp.sum_squares(w - [3, -1]) / 2 + lam * cp.norm1(w))), {lam: 3}, {lam: 0}
    ... )
    >>> pc.verify(path, {"lam": [3, 2, 0], "w": [[0, 0], [1, 0], [3, -1]]}).verdicts
    ['optimal', 'optimal', 'optimal', 'not optimal', 'not optimal', 'not optimal', 'optimal']
    """
    if solutions is None and is_estimator(y):
        y, solutions = None, y
    kind = _kind(X, y, solutions, parameters)
    chosen = None if tol is None else check_positive_number(tol, "tol")
    if kind in ("problem", "values", "arrays"):
        if kernel is not None or sample_weight is not None or between or parameters:
            raise InputError(
                "verify(problem, values, duals, tol=...), of a cvxpy.Problem or a QP, judges numbers or the claim "
                "'infeasible' or 'unbounded', and takes nothing else"
            )
        given = (X,) if kind == "problem" else (X, y, solutions)
        return on_one_thread(_door(kind))(*given, chosen or CERTIFY)
    if not isinstance(between, bool | np.bool_ | None):
        raise InputError(f"between must be True or False, got {between!r}")
    refuse_other_order(X, y)
    if kind == "of another code":
        asked = chosen, None if between is None else bool(between)
        return on_one_thread(_door(kind))((X, y, solutions), (kernel, sample_weight), asked, parameters)
    if y is None and solutions is None:
        raise InputError(
            f"problem must be a cvxpy.Problem, got {what_it_is(X)}; other solutions are given with what they solve, as "
            "verify(formulation, solutions) or verify(X, y, solutions)"
        )
    with one_thread(count(getattr(X, "y", y))):
        return _door(kind)((X, y, solutions, kernel, sample_weight, parameters), chosen, bool(between))


def _kind(X: Any, y: Any, solutions: Any, parameters: Mapping[str, Any]) -> str:
    """The kind of what `verify` is given, as `_door` knows it: told by names, so that nothing is imported for it."""
    classes = {(each.__module__, each.__name__) for each in type(X).__mro__}
    if ("cvxpy.problems.problem", "Problem") in classes:
        return "problem" if y is None and solutions is None else "values"
    if ("paretoclf.problem.qp", "QP") in classes:
        return "arrays"
    return "of another code" if is_of_another(X, y, solutions, parameters) else "classifiers"


def _door(kind: str) -> Callable[..., Judged]:
    """The function that judges this kind, imported when it is asked for."""
    if kind == "problem":
        from paretoclf.checking.of_problem import judge_problem

        return judge_problem
    if kind == "values":
        from paretoclf.checking.of_values import judge_given

        return judge_given
    if kind == "arrays":
        from paretoclf.checking.of_arrays import judge_arrays

        return judge_arrays
    if kind == "of another code":
        from paretoclf.checking.strangers import judge_stranger

        return judge_stranger
    from paretoclf.checking.of_classifiers import judge_classifiers

    return judge_classifiers
