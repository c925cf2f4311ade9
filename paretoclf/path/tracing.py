"""The one entry to exact paths: which path it is, is declared by the formulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from paretoclf.errors import InputError
from paretoclf.path.cost import CostProblem, Path, trace_costs
from paretoclf.path.declared import path_problem
from paretoclf.path.margins import MarginPath, MarginProblem, trace_margins
from paretoclf.path.nu import NuPath, NuProblem, trace_hulls, trace_nu
from paretoclf.path.quantile import QuantilePath, QuantileProblem, trace_quantile
from paretoclf.progress import logger


@overload
def trace(
    svm: NuProblem,
    *,
    nu: Any,
    asymmetry: Any,
    engine: str | None = None,
    certify: bool = True,
    max_events: int | None = None,
    progress: bool | None = None,
) -> NuPath: ...


@overload
def trace(
    svm: CostProblem,
    start: Any,
    stop: Any,
    *,
    hub: Path | None = None,
    engine: str | None = None,
    certify: bool = True,
    max_events: int | None = None,
    progress: bool | None = None,
) -> Path: ...


@overload
def trace(
    svm: QuantileProblem,
    *,
    tau: Any,
    lam: Any,
    engine: str | None = None,
    certify: bool = True,
    max_events: int | None = None,
    progress: bool | None = None,
) -> QuantilePath: ...


@overload
def trace(
    svm: MarginProblem,
    *,
    theta: Any,
    C_plus: Any = None,
    C_minus: Any = None,
    engine: str | None = None,
    certify: bool = True,
    max_events: int | None = None,
    progress: bool | None = None,
) -> MarginPath: ...


def trace(
    svm: Any,
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
    hub: Path | None = None,
    engine: str | None = None,
    certify: bool = True,
    max_events: int | None = None,
    progress: bool | None = None,
    **others: Any,
) -> Path | QuantilePath | MarginPath | NuPath:
    """Every optimal classifier along a line of parameters, exactly.

    Parameters
    ----------
    svm : TwoCSVM, QuantileSVM, BiobjectiveMargin or TwoNuSVM
        The problem; only its samples, labels and weights are used, no solver. A formulation of your own that is one of
        these problems says so by its ``path_problem``; any other has no exact path.
    start, stop : Costs or pair (C_plus, C_minus), or SampleCosts
        For `TwoCSVM`: the ends of a segment of the cost plane, anywhere in the closed quadrant, the origin and the
        axes included; or one cost per sample. If one of the two is a SampleCosts, the costs of each sample move
        linearly from one to the other.
        For `TwoNuSVM`: pairs (nu_plus, nu_minus) within (0, 1], on the line between which their inverses move linearly.
        The path ends where the reduced hulls meet.
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
        nu_max. The path ends at nu_star, below which every solution is trivial, if that is above lo.
    asymmetry : float
        For `TwoNuSVM`: in (0, 1).
    hub : Path, optional
        For `TwoCSVM`: a path of the same problem to set out from, instead of the origin of the balanced ray: where the
        two lines cross or come closest. Saves the way up the ray; the result is the same.
    engine : "fast" or "textbook", optional
        The tracker: the fast one by default, or that of `paretoclf.path.textbook`, which is there to be read, solves
        every step afresh, and knows no remedy where the margin system is ill-conditioned.
    certify : bool
        Whether to prove the whole line, for every t on it, and refuse a path that fails (the default); the proof can
        also be asked for later, as ``path.proof``.
    max_events : int, optional
        Limit on the number of exchanges per line; by default 200 n + 10 000.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal.
    **others
        Parameters of no exact path: refused, whatever they are.

    Returns
    -------
    Path, QuantilePath, MarginPath or NuPath

    Raises
    ------
    InputError
        If svm is no formulation or has no exact path; if a parameter is missing, does not belong to the formulation, or
        is out of its range; or hub belongs to another problem.
    DegeneratePathError
        If the path cannot be continued, or fails its certificate. No doubtful path is returned.

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
    >>> pc.trace(pc.QuantileSVM(X, y, bias=True), tau=(0, 1), lam=0.1)
    QuantilePath(tau 0 to 1, lam=0.1, 4 samples, 5 kinks, margin sets of up to 2)
    >>> round(pc.trace(pc.TwoNuSVM(X, y), nu=(0, None), asymmetry=0.5).star.nu, 9)
    0.333333333
    """
    given = {"start": start, "stop": stop, "hub": hub, "tau": tau, "lam": lam, "theta": theta}
    given |= {"C_plus": C_plus, "C_minus": C_minus, "nu": nu, "asymmetry": asymmetry}
    problem = path_problem(svm)
    follower: Callable[..., Any]
    names: tuple[str, ...] = ("start", "stop")
    optional: tuple[str, ...] = ()
    instead = ""
    if problem == "quantile":
        follower, names = trace_quantile, ("tau", "lam")
    elif problem == "margins":
        follower, names = trace_margins, ("theta", "C_plus", "C_minus") if svm.soft else ("theta",)
    elif problem == "costs":
        follower, optional = trace_costs, ("hub",)
    elif nu is None and asymmetry is None:
        follower, instead = trace_hulls, ", or with nu and asymmetry"
    else:
        follower, names, instead = trace_nu, ("nu", "asymmetry"), ", or with start and stop"
    missing = [name for name in names if given[name] is None]
    foreign = [*others, *(name for name in given if given[name] is not None and name not in (*names, *optional))]
    how = f"a {type(svm).__name__}, which is traced with {' and '.join(names)}{instead}"
    if foreign:
        raise InputError(f"{foreign[0]} must be left out for {how}, got {(others | given)[foreign[0]]!r}")
    if missing:
        raise InputError(f"{missing[0]} must be given for {how}, got None")
    own = {name: given[name] for name in (*names, *optional)}
    path: Path | QuantilePath | MarginPath | NuPath = follower(
        svm, **own, engine=engine, certify=certify, max_events=max_events, progress=progress
    )
    logger.info("traced in %.2f s: %r", path.seconds, path)
    return path
