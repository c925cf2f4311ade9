"""From one row of a formulation to its certificate, in NumPy: nothing that was given is corrected first.

Where there are no multipliers (a slope and an intercept alone), those of an optimal solution are found by solving the
formulation. The gap between the objective at the given point and their dual value is by how much the point can be off,
and by how much the solution found is better refutes it.
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
from paretoclf.distributions.gaussian.judges import judge_pareto
from paretoclf.distributions.gaussian.moments import Moments
from paretoclf.distributions.gaussian.tradeoff import gaussian_tradeoff
from paretoclf.formulations.base import Formulation
from paretoclf.formulations.on_moments import MomentFormulation, MomentSlope
from paretoclf.formulations.surrogate_risk import SurrogateRisk
from paretoclf.problem.costs import SampleCosts, per_sample
from paretoclf.problem.gram import Gram
from paretoclf.problem.intercepts import best_intercepts, point_of
from paretoclf.problem.lines import LineOfCosts, LineOfNu, LineOfTau, LineOfTheta
from paretoclf.problem.nu import caps_of
from paretoclf.proof.certificates import Certificate
from paretoclf.proof.points.hinge import certify_hinge
from paretoclf.proof.points.hulls import grade_hulls
from paretoclf.proof.points.margins import judge_margins
from paretoclf.proof.points.risk import judge_risk
from paretoclf.proof.points.two_c import sign_hint
from paretoclf.proof.soft_margin import SoftMargin
from paretoclf.solve.cone_proof import judge_alone

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
    return by_value(certify(formulation, values, {**row.numbers, "alpha": best.alpha}), best.certificate)


def by_value(certificate: Certificate, best: Certificate) -> Certificate:
    """What is proved of a point without multipliers: feasibility and gap. Other residuals are none of its own.

    Parameters
    ----------
    certificate : Certificate
        That of the point, with the multipliers of a solution that was found.
    best : Certificate
        That of this solution: it refutes what is worse.
    """
    return _of_point_alone(against(certificate, best))


def _of_point_alone(certificate: Certificate) -> Certificate:
    return replace(certificate, dual={}, slackness={}, note=" ".join(filter(None, (FOUND, certificate.note))))


def against(certificate: Certificate, best: Certificate) -> Certificate:
    """The certificate of a point, told of another feasible point of the same problem."""
    rounding = certificate.rounding + best.rounding
    return replace(certificate, shortfall=max(0.0, certificate.primal_value - best.primal_value - rounding))


def _pareto(moments: Moments, w: Array, b: float) -> Certificate:
    """A hyperplane that should be Pareto optimal, against the Pareto-optimal one with the same negatives."""
    certificate = judge_pareto(moments, w, b).certificate
    found, mine = gaussian_tradeoff(moments), moments.distances(w, b)
    best = found._point(found.family.at(found.family.at_u_minus(mine.u_minus)))
    theirs = moments.distances(best.w, best.b)
    gain = theirs.u_plus - mine.u_plus - certificate.rounding
    kept = theirs.u_minus >= mine.u_minus - certificate.rounding
    return replace(certificate, shortfall=max(0.0, gain) if kept else 0.0)


def _check_names(row: Row, formulation: Any) -> None:
    if not row.numbers.keys() & {"alpha", "w"}:
        raise InputError(f"alpha must be given, or w and b, got {', '.join(row.numbers) or 'nothing'}")


def _number(row: Row, name: str) -> float:
    return _finite(row.numbers, name)


def _finite(numbers: Mapping[str, Any], name: str) -> float:
    if name not in numbers:
        raise InputError(f"{name} must be given, got {', '.join(numbers) or 'nothing'}")
    value = check_number(numbers[name], name)
    if not np.isfinite(value):
        raise InputError(f"{name} must be finite, got {value!r}")
    return value


def _vector(row: Row, name: str, size: int) -> Array:
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
    gram, y = formulation.gram, formulation.y
    alpha, w = _multipliers(formulation, numbers)
    caps = _caps(formulation, values)
    b = _intercept_of_costs(formulation, caps, alpha, w, numbers)
    low = None if numbers.get("alpha_lo") is None else check_vector(numbers["alpha_lo"], gram.n, "alpha_lo")
    problem = SoftMargin.of(gram, y, caps)
    noted = replace(problem, note=" ".join(filter(None, (gram.note, sign_hint(y, alpha)))))
    return certify_hinge(noted, alpha, b, w, low)


def _caps(formulation: Any, values: Mapping[str, Any]) -> Array:
    """Upper bounds of the multipliers of a 2C-SVM."""
    y, weight = formulation.y, getattr(formulation, "sample_weight", np.ones(formulation.gram.n))
    if isinstance(values.get("costs"), SampleCosts):
        return np.asarray(weight * check_vector(per_sample(values["costs"], y), y.size, "costs of the samples"))
    return np.asarray(weight * np.where(y > 0, values["C_plus"], values["C_minus"]))


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
    n, values, numbers = formulation.gram.n, row.values, row.numbers
    alpha, w = _multipliers(formulation, {"alpha": np.zeros(n), **numbers})
    caps = _caps(formulation, values)
    b = _intercept_of_costs(formulation, caps, alpha, w, numbers)
    parts = [part for name in ("alpha", "alpha_lo") if (part := numbers.get(name)) is not None] or [alpha]
    return SoftMargin(formulation.y, formulation.gram.quadratic, caps).bounds(np.stack(parts), b, w).primal


def _nu(formulation: Any, values: Mapping[str, Any], numbers: Mapping[str, Any]) -> Certificate:
    gram, y = formulation.gram, formulation.y
    alpha, w = _multipliers(formulation, numbers)
    pair = values if "nu" in values else dict(zip(("nu", "asymmetry"), formulation.to_asymmetry(**values), strict=True))
    own = None
    if numbers.keys() & {"b", "b_at_origin"}:
        b = intercept(gram, y * alpha, w, numbers)
        rho = best_margin(formulation, pair, numbers) if numbers.get("rho") is None else _finite(numbers, "rho")
        own = np.array([b]), np.array([rho])
    problem = SoftMargin.of(gram, y, caps_of(np.array([pair["asymmetry"]]), y), nu=np.array([pair["nu"]]))
    return grade_hulls(problem, alpha[:, None], W=None if w is None else w[:, None], own=own).judged(0).certificate


def best_margin(formulation: Any, values: Mapping[str, float], numbers: Mapping[str, Any]) -> float:
    """The margin rho of a 2nu-SVM that goes best with a slope and an intercept, at given nu and asymmetry.

    It minimises ``sum_i c_i max(0, rho - y_i f_i) - nu rho`` over rho >= 0.
    """
    gram, y = formulation.gram, formulation.y
    alpha, w = _multipliers(formulation, numbers)
    scores = gram.quadratic.scores(y * alpha, w)
    margins = y * (scores + intercept(gram, y * alpha, w, numbers))
    order = np.argsort(margins, kind="stable")
    caps = np.where(y > 0, values["asymmetry"], 1 - values["asymmetry"]) / gram.n
    first = int(np.searchsorted(np.cumsum(caps[order]), values["nu"] * (1 - ROUNDING)))
    return max(0.0, float(margins[order[min(first, gram.n - 1)]]))


def _quantile(formulation: Any, values: Mapping[str, Any], numbers: Mapping[str, Any]) -> Certificate:
    alpha, w = _multipliers(formulation, numbers)
    b = 0.0
    if formulation.bias:
        b = np.nan if numbers.get("b") is None else _finite(numbers, "b")
    elif numbers.get("b"):
        raise InputError(f"b must be 0 or left out: there is no intercept without bias=True, got {numbers['b']!r}")
    return certify_hinge(formulation.soft_margin(values["tau"], values["lam"]), alpha, b, w)


def _margins(formulation: Any, values: Mapping[str, Any], numbers: Mapping[str, Any]) -> Certificate:
    alpha, w = _multipliers(formulation, numbers)
    y, costs = formulation.y, None
    if "C_plus" in values:
        costs = np.where(y > 0, values["C_plus"], values["C_minus"])
    size = np.where(y > 0, 1.0, values["theta"])
    b = intercept(formulation.gram, 0.5 * y * size * alpha, w, numbers)
    problem = SoftMargin.of(formulation.gram, y, squares=costs, lam=2.0)
    return judge_margins(problem, values["theta"], alpha, b, w).certificate


def _risk(formulation: Any, values: Mapping[str, Any], numbers: Mapping[str, Any]) -> Certificate:
    alpha, w = _multipliers(formulation, numbers)
    gram, y, loss, costs = formulation.gram, formulation.y, formulation.loss, formulation.costs(values)
    b = intercept(gram, y * alpha / values["ridge"], w, numbers)
    return judge_risk(gram, y, costs, values["ridge"], loss, alpha, b, w=w).certificate


_JUDGES: dict[Any, Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Certificate]] = {
    LineOfCosts: _costs,
    LineOfNu: _nu,
    LineOfTau: _quantile,
    LineOfTheta: _margins,
}


def _of_slope(formulation: MomentFormulation, values: Mapping[str, Any], row: Row) -> Certificate:
    """A hyperplane for moments: its slope, and its intercept against the one that belongs to it."""
    moments, w = formulation.moments, _vector(row, "w", formulation.moments.d)
    if not float(w @ moments.delta) > 0:
        raise InputError("w must point from the negatives' mean to the positives': w . (mu_plus - mu_minus) is not > 0")
    judged = formulation.judge(values, MomentSlope(w, row.numbers.get("tau")))
    certificate = against(judged.certificate, formulation.solve(**values).certificate)
    if row.numbers.get("b") is None:
        return certificate
    given, best = moments.distances(w, _number(row, "b")), judged.numbers
    off = max(abs(given.u_plus - best["u_plus"]), abs(given.u_minus - best["u_minus"]))
    residual = off / max(1.0, abs(best["u_plus"]), abs(best["u_minus"]))
    primal = {**certificate.primal, "intercept: the distances of the means": residual}
    return replace(certificate, primal=primal, worst="")


def _of_programs(formulation: Formulation, values: Mapping[str, Any], row: Row) -> Certificate:
    """A formulation without a judge that takes raw numbers: its programs, by the names of their variables."""
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
    """A formulation with a judge of its own that reads the numbers of either program."""
    for form in ("dual", "primal"):
        try:
            point = formulation.read({form: row.numbers})
        except KeyError:
            continue
        return formulation.judge(values, point).certificate
    wanted = " or ".join(", ".join(formulation.model(form).variables) for form in ("dual", "primal"))
    raise InputError(f"{wanted} must be given, got {', '.join(row.numbers) or 'nothing'}")
