"""Entry to maps of two parameters: of the costs of a 2C-SVM, or of any quadratic or linear program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

from paretoclf.common.errors import InputError
from paretoclf.common.progress import logger
from paretoclf.common.threads import one_thread
from paretoclf.path.cost_plane.cost_plane import CostPlane, map_costs
from paretoclf.path.problem_map.problem_map import ProblemMap, map_problem
from paretoclf.problem.lines import Weighted
from paretoclf.solve.sources.problem_plane import plane_source


@overload
def plane(
    problem: Any,
    ranges: Mapping[Any, Any],
    *,
    certify: bool = True,
    progress: bool | None = None,
    n_jobs: int | None = None,
) -> ProblemMap: ...


@overload
def plane(
    problem: Weighted,
    ranges: tuple[float, float] | None = None,
    C_minus: tuple[float, float] | None = None,
    *,
    C_plus: tuple[float, float] | None = None,
    certify: bool = True,
    progress: bool | None = None,
) -> CostPlane: ...


def plane(
    problem: Any,
    ranges: Any = None,
    C_minus: Any = None,
    *,
    C_plus: Any = None,
    certify: bool = True,
    progress: bool | None = None,
    n_jobs: int | None = None,
    **others: Any,
) -> CostPlane | ProblemMap:
    """Map every optimal classifier, or optimum of a quadratic or linear program, on a rectangle of two parameters.

    Parameters
    ----------
    problem : TwoCSVM, cvxpy.Problem, QP or formulation
        From a 2C-SVM only samples, labels and weights are used, no solver; the kernel matrix is formed. For anything
        else: a quadratic or linear program in which both parameters move the objective's linear terms and right hand
        sides.
    ranges : mapping, or pair (lo, hi)
        Two parameters, each with a pair (lo, hi): those of a ``cvxpy.Problem`` themselves, or entries as ``x0[0]`` (or
        ``"x0[0]"``), of a `QP` or a formulation by their names. Others keep their values, or have the number that is
        given; a formulation's must all be there. A parameter that is no number moves linearly from one array to
        another, and its coordinate is the share of the way. For `TwoCSVM` a pair: that of ``C_plus``.
    C_plus, C_minus : pair (lo, hi)
        For `TwoCSVM`: ranges of the two costs, ``0 <= lo < hi``.
    certify : bool
        Whether to prove every region and refuse a map that fails (the default).
    progress : bool, optional
        Whether to show a progress bar (share of the area); by default on a terminal.
    n_jobs : int, optional
        Where ``ranges`` is a mapping: processes at work, as for joblib, on eight strips of the rectangle. The result
        does not depend on how many; beside that of a map in one it may differ by rounding.
    **others
        Refused with what to do instead: parameters of a problem stand in ``ranges``, and maps are exact, without eps.

    Returns
    -------
    CostPlane, or ProblemMap where ``ranges`` is a mapping

    Raises
    ------
    InputError
        If problem is no such problem, ranges are none of two parameters, a parameter moves a matrix (with the term), or
        there is no optimum anywhere.
    DegeneratePathError
        If a region cannot be found, the regions do not add up to the rectangle, or a region is not proved. No doubtful
        map is returned.

    References
    ----------
    Bach, Heckerman & Horvitz (2006), JMLR 7, section 3. Critical regions: Bemporad, Morari, Dua & Pistikopoulos
    (2002), Automatica 38.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> svm = pc.TwoCSVM(np.array([[0.0], [1.0], [2.0], [3.0]]), [-1, 1, -1, 1])
    >>> found = pc.plane(svm, C_plus=(0.05, 2), C_minus=(0.05, 2))
    >>> len(found.regions)
    5
    >>> found.at(1.0, 1.0).certificate.passes(1e-12)
    True

    A lasso with a weight for all coefficients and a level that one of them must not exceed:

    >>> import cvxpy as cp
    >>> w, lam, level = cp.Variable(2, name="w"), cp.Parameter(nonneg=True, name="lam"), cp.Parameter(name="level")
    >>> problem = cp.Problem(cp.Minimize(cp.sum_squares(w - [3, -1]) / 2 + lam * cp.norm1(w)), [w[0] <= level])
    >>> found = pc.plane(problem, {lam: (0, 4), level: (0.5, 5)})
    >>> found
    ProblemMap(lam 0 to 4, level 0.5 to 5, 5 regions, 6 columns and 7 rows)
    >>> found.at(lam=0.5, level=2).variables["w"].round(9).tolist(), found.proof.passes()
    ([2.0, -0.5], True)
    """
    eps = others.pop("eps", None)
    if eps is not None:
        raise InputError(
            f"eps must be left out, got {eps!r:.100}: maps are exact, and there is none within eps. Trace along lines, "
            "trace(problem, start, stop, eps=...), or use sweep"
        )
    if others:
        name, value = next(iter(others.items()))
        raise InputError(
            f"{name} is no argument of plane: two parameters of a problem stand in one mapping, as plane(problem, "
            f"{{{name!r}: {value!r:.100}, ...}}), and the costs of a TwoCSVM are C_plus and C_minus"
        )
    if isinstance(ranges, Mapping):
        for name, value in (("C_plus", C_plus), ("C_minus", C_minus)):
            if value is not None:
                raise InputError(f"{name} must be left out where ranges is a mapping, got {value!r:.100}")
        with one_thread():
            found = map_problem(plane_source(problem, ranges), certify=certify, progress=progress, n_jobs=n_jobs)
        logger.info("mapped in %.2f s: %r", sum(found.seconds.values()), found)
        return found
    if n_jobs is not None:
        raise InputError(
            f"n_jobs must be left out for a map of costs, got {n_jobs!r:.100}: its regions are found many at a time, "
            "which processes would not make faster"
        )
    if ranges is not None and C_plus is not None:
        raise InputError(f"C_plus must be given once, got {ranges!r:.100} and {C_plus!r:.100}")
    with one_thread():
        return map_costs(problem, C_plus if ranges is None else ranges, C_minus, certify=certify, progress=progress)
