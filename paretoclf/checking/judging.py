"""Certificates of rows of a formulation, in NumPy: nothing that was given is corrected first.

Where there are no multipliers (a slope and an intercept alone), those of an optimal solution are found by solving the
formulation. The gap between the objective at the given point and their dual value bounds the error of the point, and
the advantage of the solution found refutes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from paretoclf.checking.rows import Row
from paretoclf.common.checks import Array, check_number, check_vector
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import ROUNDING
from paretoclf.distributions.gaussian.closed_form import GaussianTradeoff
from paretoclf.distributions.gaussian.judges import judge_pareto
from paretoclf.distributions.gaussian.moments import Moments
from paretoclf.formulations.base import Formulation
from paretoclf.formulations.on_moments import MomentFormulation, MomentSlope
from paretoclf.formulations.surrogate_risk import SurrogateRisk
from paretoclf.problem.costs import SampleCosts, per_sample
from paretoclf.problem.gram import Gram
from paretoclf.problem.intercepts import best_intercepts, point_of
from paretoclf.problem.lines import LineOfCosts, LineOfNu, LineOfTau, LineOfTheta
from paretoclf.problem.nu import caps_of
from paretoclf.proof.points.hinge import certify_hinge
from paretoclf.proof.points.hulls import grade_hulls
from paretoclf.proof.points.margins import judge_margins
from paretoclf.proof.points.risk import judge_risk
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.points.two_c import sign_hint
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.solve.judging.cone_proof import judge_alone

FOUND = "No multipliers were given: the bound is of those of a solution that was found."


def certificate_of(formulation: Any, row: Row) -> Certificate:
    """Certify one row.

    Parameters
    ----------
    formulation : Formulation, or Moments
        The problem; `Moments` for hyperplanes that should be Pareto optimal for two Gaussian classes.
    row : Row

    Raises
    ------
    InputError
        If a number is missing, or has another shape than it must.
    SolveError
        If there are no multipliers, and none can be found.
    """
    if isinstance(formulation, Moments):
        return _pareto(formulation, _vector(row, "w", formulation.d), _number(row, "b"))
    values = row.values if "costs" in row.values else formulation.check_values(row.values)
    if isinstance(formulation, MomentFormulation):
        return _of_slope(formulation, values, row)
    certify = _JUDGES.get(formulation.lines)
    if isinstance(formulation, SurrogateRisk):
        certify = _risk
    if certify is None:
        return _of_programs(formulation, values, row)
    _check_names(row, formulation)
    if "alpha" in row.numbers:
        return certify(formulation, values, row.numbers)
    if not formulation.gram.quadratic.width:
        raise InputError("alpha must be given: a slope w alone belongs to the linear kernel")
    if "costs" in values:
        raise InputError("alpha must be given where each sample has a cost of its own")
    best = formulation.solve(**values)
    certificate = certify(formulation, values, {**row.numbers, "alpha": best.alpha})
    return by_value(certificate, best.certificate)


def by_value(certificate: Certificate, best: Certificate) -> Certificate:
    """Certificate of a point that came without multipliers: residuals of multipliers and slackness are dropped.

    Its ``shortfall`` is by how much the solution that was found is better, and a note says whose the bound is.

    Parameters
    ----------
    certificate : Certificate
        Certificate of the point, with the multipliers of a solution that was found.
    best : Certificate
        Certificate of the solution found: it refutes a point that is worse.
    """
    return _of_point_alone(against(certificate, best))


def _of_point_alone(certificate: Certificate) -> Certificate:
    """Drop the residuals that belong to multipliers, and note whose the bound is."""
    note = " ".join(filter(None, (FOUND, certificate.note)))
    return replace(certificate, dual={}, slackness={}, note=note)


def against(certificate: Certificate, best: Certificate) -> Certificate:
    """Add to the certificate of a point how much better another feasible point of the same problem is."""
    rounding = certificate.rounding + best.rounding
    return replace(certificate, shortfall=max(0.0, certificate.primal_value - best.primal_value - rounding))


def _pareto(moments: Moments, w: Array, b: float) -> Certificate:
    """Certify a hyperplane that should be Pareto optimal, against the Pareto-optimal one with the same negatives."""
    certificate = judge_pareto(moments, w, b).certificate
    mine = moments.distances(w, b)
    tradeoff = GaussianTradeoff(moments)
    family = tradeoff.family
    best = tradeoff._point(family.at(family.at_u_minus(mine.u_minus)))
    theirs = moments.distances(best.w, best.b)
    gain = theirs.u_plus - mine.u_plus - certificate.rounding
    kept = theirs.u_minus >= mine.u_minus - certificate.rounding
    return replace(certificate, shortfall=max(0.0, gain) if kept else 0.0)


def _check_names(row: Row, formulation: Any) -> None:
    """InputError where a row has neither multipliers nor a slope."""
    if not row.numbers.keys() & {"alpha", "w"}:
        raise InputError(f"alpha must be given, or w and b, got {', '.join(row.numbers) or 'nothing'}")


def _number(row: Row, name: str) -> float:
    """A finite number of a row."""
    return _finite(row.numbers, name)


def _finite(numbers: Mapping[str, Any], name: str) -> float:
    """A finite number by its name; InputError where there is none."""
    if name not in numbers:
        raise InputError(f"{name} must be given, got {', '.join(numbers) or 'nothing'}")
    value = check_number(numbers[name], name)
    if not np.isfinite(value):
        raise InputError(f"{name} must be finite, got {value!r}")
    return value


def _vector(row: Row, name: str, size: int) -> Array:
    """A vector of a row; InputError where there is none."""
    if name not in row.numbers:
        raise InputError(f"{name} must be given, got {', '.join(row.numbers) or 'nothing'}")
    return check_vector(row.numbers[name], size, name)


def _multipliers(formulation: Any, numbers: Mapping[str, Any]) -> tuple[Array, Array | None]:
    """Multipliers, and the slope where one is given apart from them."""
    gram = formulation.gram
    alpha = check_vector(numbers["alpha"], gram.n, "alpha")
    if numbers.get("w") is None:
        return alpha, None
    if not gram.quadratic.width:
        raise InputError("w must not be given: it belongs to the linear kernel")
    return alpha, check_vector(numbers["w"], gram.quadratic.width, "w")


def intercept(gram: Gram, coef: Array, w: Array | None, numbers: Mapping[str, Any]) -> float:
    """The intercept for features that are measured from the origin of the Gram."""
    if "b_at_origin" in numbers:
        return _finite(numbers, "b_at_origin")
    return gram.at_origin(_finite(numbers, "b"), lambda: gram.quadratic.slope(coef) if w is None else w)


def _costs(formulation: Any, values: Mapping[str, Any], numbers: Mapping[str, Any]) -> Certificate:
    """Certify a row of a 2C-SVM."""
    gram, y = formulation.gram, formulation.y
    alpha, w = _multipliers(formulation, numbers)
    caps = _caps(formulation, values)
    b = _intercept_of_costs(formulation, caps, alpha, w, numbers)
    low = None if numbers.get("alpha_lo") is None else check_vector(numbers["alpha_lo"], gram.n, "alpha_lo")
    note = " ".join(filter(None, (gram.note, sign_hint(y, alpha))))
    problem = replace(SoftMargin.of(gram, y, caps), note=note)
    return certify_hinge(problem, alpha, b, w, low)


def _caps(formulation: Any, values: Mapping[str, Any]) -> Array:
    """Upper bounds of the multipliers of a 2C-SVM."""
    y = formulation.y
    weight = getattr(formulation, "sample_weight", np.ones(formulation.gram.n))
    if isinstance(values.get("costs"), SampleCosts):
        costs = check_vector(per_sample(values["costs"], y), y.size, "costs of the samples")
    else:
        costs = np.where(y > 0, values["C_plus"], values["C_minus"])
    return np.asarray(weight * costs)


def _intercept_of_costs(
    formulation: Any, caps: Array, alpha: Array, w: Array | None, numbers: Mapping[str, Any]
) -> float:
    """The intercept that was given, or the best one for the slope."""
    gram, y = formulation.gram, formulation.y
    if numbers.keys() & {"b", "b_at_origin"}:
        return intercept(gram, y * alpha, w, numbers)
    scores = gram.quadratic.scores(y * alpha, w)
    return point_of(best_intercepts(y, caps, scores))


def exact_objective(formulation: Any, row: Row) -> Fraction:
    """The primal objective of a row of a 2C-SVM with the linear kernel, at its least slacks, without rounding.

    Parameters
    ----------
    formulation : TwoCSVM
    row : Row
        One that `certificate_of` has judged.
    """
    gram, numbers = formulation.gram, row.numbers
    alpha, w = _multipliers(formulation, {"alpha": np.zeros(gram.n), **numbers})
    caps = _caps(formulation, row.values)
    b = _intercept_of_costs(formulation, caps, alpha, w, numbers)
    parts = [part for name in ("alpha", "alpha_lo") if (part := numbers.get(name)) is not None] or [alpha]
    problem = SoftMargin(formulation.y, gram.quadratic, caps)
    return problem.bounds(np.stack(parts), b, w).primal


def _nu(formulation: Any, values: Mapping[str, Any], numbers: Mapping[str, Any]) -> Certificate:
    """Certify a row of a 2nu-SVM."""
    gram, y = formulation.gram, formulation.y
    alpha, w = _multipliers(formulation, numbers)
    pair = values if "nu" in values else dict(zip(("nu", "asymmetry"), formulation.to_asymmetry(**values), strict=True))
    own = None
    if numbers.keys() & {"b", "b_at_origin"}:
        b = intercept(gram, y * alpha, w, numbers)
        rho = best_margin(formulation, pair, numbers) if numbers.get("rho") is None else _finite(numbers, "rho")
        own = np.array([b]), np.array([rho])
    caps = caps_of(np.array([pair["asymmetry"]]), y)
    problem = SoftMargin.of(gram, y, caps, nu=np.array([pair["nu"]]))
    slopes = None if w is None else w[:, None]
    return grade_hulls(problem, alpha[:, None], W=slopes, own=own).judged(0).certificate


def best_margin(formulation: Any, values: Mapping[str, float], numbers: Mapping[str, Any]) -> float:
    """The best margin rho of a 2nu-SVM for a slope and an intercept, at given nu and asymmetry.

    It minimises ``sum_i c_i max(0, rho - y_i f_i) - nu rho`` over rho >= 0.
    """
    gram, y = formulation.gram, formulation.y
    alpha, w = _multipliers(formulation, numbers)
    scores = gram.quadratic.scores(y * alpha, w)
    margins = y * (scores + intercept(gram, y * alpha, w, numbers))
    order = np.argsort(margins, kind="stable")
    caps = np.where(y > 0, values["asymmetry"], 1 - values["asymmetry"]) / gram.n
    totals = np.cumsum(caps[order])  # minus the derivative of the objective, below each margin
    first = int(np.searchsorted(totals, values["nu"] * (1 - ROUNDING)))
    return max(0.0, float(margins[order[min(first, gram.n - 1)]]))


def _quantile(formulation: Any, values: Mapping[str, Any], numbers: Mapping[str, Any]) -> Certificate:
    """Certify a row of a quantile SVM."""
    alpha, w = _multipliers(formulation, numbers)
    b = 0.0
    if formulation.bias:
        b = np.nan if numbers.get("b") is None else _finite(numbers, "b")
    elif numbers.get("b"):
        raise InputError(f"b must be 0 or left out: there is no intercept without bias=True, got {numbers['b']!r}")
    return certify_hinge(formulation.soft_margin(values["tau"], values["lam"]), alpha, b, w)


def _margins(formulation: Any, values: Mapping[str, Any], numbers: Mapping[str, Any]) -> Certificate:
    """Certify a row of the biobjective margin problem."""
    alpha, w = _multipliers(formulation, numbers)
    y = formulation.y
    costs = np.where(y > 0, values["C_plus"], values["C_minus"]) if "C_plus" in values else None
    size = np.where(y > 0, 1.0, values["theta"])
    b = intercept(formulation.gram, 0.5 * y * size * alpha, w, numbers)
    problem = SoftMargin.of(formulation.gram, y, squares=costs, lam=2.0)
    return judge_margins(problem, values["theta"], alpha, b, w).certificate


def _risk(formulation: Any, values: Mapping[str, Any], numbers: Mapping[str, Any]) -> Certificate:
    """Certify a row of a surrogate risk."""
    gram, y = formulation.gram, formulation.y
    ridge = values["ridge"]
    alpha, w = _multipliers(formulation, numbers)
    b = intercept(gram, y * alpha / ridge, w, numbers)
    costs = formulation.costs(values)
    return judge_risk(gram, y, costs, ridge, formulation.loss, alpha, b, w=w).certificate


_Judge = Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Certificate]
_JUDGES: dict[Any, _Judge] = {LineOfCosts: _costs, LineOfNu: _nu, LineOfTau: _quantile, LineOfTheta: _margins}


def _of_slope(formulation: MomentFormulation, values: Mapping[str, Any], row: Row) -> Certificate:
    """Certify a hyperplane for moments: its slope, and its intercept against the one that belongs to it."""
    moments = formulation.moments
    w = _vector(row, "w", moments.d)
    if not float(w @ moments.delta) > 0:
        raise InputError("w must point from the negatives' mean to the positives': w . (mu_plus - mu_minus) is not > 0")
    judged = formulation.judge(values, MomentSlope(w, row.numbers.get("tau")))
    certificate = against(judged.certificate, formulation.solve(**values).certificate)
    if row.numbers.get("b") is None:
        return certificate
    given = moments.distances(w, _number(row, "b"))
    u_plus, u_minus = judged.numbers["u_plus"], judged.numbers["u_minus"]
    difference = max(abs(given.u_plus - u_plus), abs(given.u_minus - u_minus))
    residual = difference / max(1.0, abs(u_plus), abs(u_minus))
    primal = {**certificate.primal, "intercept: the distances of the means": residual}
    return replace(certificate, primal=primal, worst="")


def _of_programs(formulation: Formulation, values: Mapping[str, Any], row: Row) -> Certificate:
    """Certify a row of a formulation without a judge for raw numbers: by its programs, whose variables have names."""
    if type(formulation).judge is not Formulation.judge:
        return _of_point(formulation, values, row)
    model = formulation.primal_model
    missing = [name for name in model.variables if name not in row.numbers]
    if missing:
        name, own = type(formulation).__name__, ", ".join(model.variables)
        raise InputError(f"{missing[0]} must be given: the variables of {name} are {own}")
    for name, parameter in formulation.parameters.items():
        parameter.value = values[name]
    whole = all(name in row.numbers for name in model.constraints)
    numbers = {name: row.numbers[name] for name in (*model.variables, *(model.constraints if whole else ()))}
    certificate = judge_alone(model, numbers).certificate
    if not np.isfinite(certificate.dual_value):  # what the compiled program does not bound a dual by hand may
        lower = formulation.solve(**values).dual_value
        gap = (certificate.primal_value - lower) / certificate.scale
        certificate = replace(certificate, dual_value=lower, gap=gap, note="")
    if not whole:
        return _of_point_alone(replace(certificate, multipliers={}))
    theirs = {name: size for name, size in certificate.multipliers.items() if not name.startswith("stationarity")}
    return replace(certificate, dual=theirs, multipliers={})


def _of_point(formulation: Formulation, values: Mapping[str, Any], row: Row) -> Certificate:
    """Certify a row of a formulation with a judge of its own, which reads the numbers of either program."""
    for form in ("dual", "primal"):
        try:
            point = formulation.read({form: row.numbers})
        except KeyError:
            continue
        return formulation.judge(values, point).certificate
    wanted = " or ".join(", ".join(formulation.model(form).variables) for form in ("dual", "primal"))
    raise InputError(f"{wanted} must be given, got {', '.join(row.numbers) or 'nothing'}")
