"""Problems of certificate files in exact numbers: of a path, of a single point, or of any program.

docs/reference/certificate_files.md has the fields; `paretoclf.proof.check` reads them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import InputError
from paretoclf.problem.classifiers import Classifier
from paretoclf.problem.costs import CostLine, Costs, SampleCosts
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import (
    FixedAsymmetry,
    LineOfCosts,
    LineOfNu,
    LineOfTau,
    LineOfTheta,
    SampleLine,
    by_class,
    lines_of,
    sizes_of,
)
from paretoclf.problem.nu import to_asymmetry
from paretoclf.problem.parametric_qp import INSIDE, LOWER, UPPER, ParametricQP
from paretoclf.problem.samples import dense
from paretoclf.proof.verdicts.solution import Solution

#: A problem in exact numbers, as the file has it.
Stated = dict[str, Any]

#: Multipliers this near to a bound, relative to it, are taken to be at it.
UNTOUCHED = 1e-7


#: Doubles below this are written as integers where they are whole.
_WHOLE = 2**53
#: A matrix whose text is shorter than this is written as it is.
_LONG = 1000


def stated(number: Any) -> int | float | str | None:
    """State a number as the file has it; None for one that is infinite."""
    if isinstance(number, Fraction):
        return int(number) if number.denominator == 1 else str(number)
    if isinstance(number, int | np.integer):
        return int(number)
    if not math.isfinite(number):
        return None
    whole = number == int(number) and abs(number) < _WHOLE
    return int(number) if whole else float(number)


def by_entries(problem: Stated) -> Stated:
    """State the matrices of a program by their entries where most of them are 0, so that this is shorter."""
    if problem["kind"] != "program":
        return problem
    found = dict(problem)
    for name in ("K", "A"):
        rows = [[[place, entry] for place, entry in enumerate(row) if entry != 0] for row in problem[name]]
        if max(_LONG, len(json.dumps(rows))) < len(json.dumps(problem[name])):
            found[name] = rows
    return found


def path_problem(path: Any) -> Stated:
    """State the problem of a path of classifiers, from one end to the other."""
    return line_problem(path._whole_line, path._about)


def line_problem(line: SampleLine, about: str = "") -> Stated:
    """State the problem of a line of parameters, or of a point, at which such a line begins and ends; with a note.

    In the units of the formulation: caps along tau are not over lam, and margins are not rounded.
    """
    y = line.y
    if isinstance(line, LineOfTheta):
        slacks = [0, 0] if line.slack_costs is None else [str(1 / Fraction(cost)) for cost in line.slack_costs]
        q = [[str(-margin) for margin in end] for end in line.margins]
        own: Stated = {"kind": "margins", "q": q, "diagonal": by_class(y, *slacks).tolist()}
    elif isinstance(line, LineOfTau):
        own = {"kind": "quantile SVM", "lam": line.lam, "bias": line.bias, "caps": line.caps.tolist()}
    else:
        caps, sums = np.split(line.problem.upper, [y.size], axis=1)
        own = {"kind": "2C-SVM", "caps": caps.tolist()}
        if isinstance(line, LineOfNu):
            rows = [_at_most_all_caps(*end, y) for end in zip(sums, caps, strict=True)]
            own |= {"kind": "2nu-SVM", "sums": rows}
    return _of_samples(line.gram, y, own, about)


def costs_problem(gram: Gram, y: Array, caps: Any) -> Stated:
    """State a 2C-SVM with caps, at as many places as there are lists of them."""
    return _of_samples(gram, y, {"kind": "2C-SVM", "caps": [each.tolist() for each in caps]})


def _at_most_all_caps(sums: Array, caps: Array, y: Array) -> list[str]:
    """State sums of multipliers, no more than the caps of either class, which are doubles, add up to."""
    most = min(sum(map(Fraction, caps[y == side])) for side in (1, -1))
    return [str(min(Fraction(own), most)) for own in sums]


def _of_samples(gram: Gram, y: Array, own: Mapping[str, Any], about: str = "") -> Stated:
    """State samples or kernel values, labels, ``own``, and a note about them."""
    problem: Stated = {**own, "y": [int(label) for label in y], "positive": "1"}
    said = [about] if about else []
    features = gram.X if gram.linear else gram.features
    if features is not None:
        problem["X"] = dense(features).tolist()
        said += [f"X are features of an approximated kernel ({gram.approximation})"] if gram.approximation else []
    else:
        problem["K"] = _lower_rows(gram.matrix.tolist())
        rounding = 0.0 if gram.rounding is None else float(gram.rounding.max()) ** 2
        off = f", each at most {rounding:.1e} from the kernel's own" if rounding else ""
        said.append(f"K are the values of the kernel {gram.kernel!r} in doubles{off}")
    return {**problem, **({"about": "; ".join(said)} if said else {})}


def labelled(problem: Stated, positive: Any) -> Stated:
    """Add the label that y = +1 stands for in the reader's data, if one is given."""
    if positive is None:
        return problem
    has_text = isinstance(positive, str | int | float | np.generic)
    text = str(positive).strip() if has_text else ""
    if not text or not text.isprintable():
        raise InputError(
            f"positive must be the label of y = +1, a text that can be printed or a number, got {positive!r}"
        )
    return {**problem, "positive": text}


def program_problem(problem: ParametricQP) -> Stated:
    """State any parametric program; its constant is left out.

    Parameters
    ----------
    problem : ParametricQP
        In doubles or in fractions.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.files.certificate_file import certificate
    >>> from paretoclf.proof.files.stated_problems import program_problem
    >>> from paretoclf.problem.parametric_qp import ParametricQP
    >>> from paretoclf.proof import check
    >>> q, one = np.array([[-2.0], [2.0]]), np.ones((2, 1))
    >>> line = ParametricQP.hard(np.eye(1), np.zeros((0, 1)), q, -one, one)
    >>> found = certificate(program_problem(line), guide=[])  # x = 2 - 4 t, but within [-1, 1]
    >>> found["segments"], check.check(found["problem"], found["segments"])
    (['u', [[0, 'i']], [[0, 'l']]], ([-1.5, -1.5], Fraction(1, 1)))
    """
    quadratic = _stated_rows(_lower_rows(problem.P))
    names = ("A", "q", "lower", "upper", "below", "above")
    parts = {name: _stated_rows(getattr(problem, name)) for name in names}
    return {"kind": "program", "K": quadratic, **parts}


def _lower_rows(matrix: Any) -> list[Any]:
    """Rows of the lower triangle of a matrix, each as long as it is."""
    return [row[:length] for length, row in enumerate(matrix, 1)]


def _stated_rows(rows: Any) -> list[list[Any]]:
    """State the numbers of some rows."""
    return [[stated(number) for number in row] for row in rows]


def point_problem(svm: Any, solution: Solution) -> tuple[Stated, Array, int]:
    """State one solution of a formulation with exact paths: problem, multipliers, and the number of equations."""
    lines, values, samples, alpha = lines_of(svm), solution.values, (svm.gram, svm.y), solution.alpha
    about = ", ".join(f"{name} = {value!r}" for name, value in values.items())
    line: SampleLine
    if lines is LineOfCosts and isinstance(solution.classifier, Classifier):
        costs, about = SampleCosts(solution.classifier.caps), ""
        line = LineOfCosts(*samples, np.ones(alpha.size), CostLine(costs, costs))
    elif lines is LineOfNu and {*values} in ({"nu", "asymmetry"}, {"nu_plus", "nu_minus"}):
        sizes = sizes_of(svm.y)
        if "nu" in values:
            nu, asymmetry = values["nu"], values["asymmetry"]
        else:
            nu, asymmetry = to_asymmetry(values["nu_plus"], values["nu_minus"], *sizes)
        line = LineOfNu(*samples, FixedAsymmetry(asymmetry, *sizes), (nu, nu))
    elif lines is LineOfTau and {*values} == {"tau", "lam"}:
        line = LineOfTau(*samples, svm.bias, values["lam"], (values["tau"],) * 2)
    elif lines is LineOfTheta and "theta" in values:
        theta, about = Fraction(values["theta"]), f"{about}; twice the value"
        slacks = Costs(values["C_plus"], values["C_minus"]) if svm.soft else None
        line = LineOfTheta(*samples, slacks, (theta / (1 + theta),) * 2)
        alpha = np.where(svm.y > 0, alpha, values["theta"] * alpha)
    else:
        raise InputError(f"solution must be one of the {type(svm).__name__} that is given, got {solution!r:.200}")
    return line_problem(line, about), alpha, len(line.problem.A)


def labels_of(problem: Stated, alpha: Array, equations: int) -> Index:
    """Label multipliers, and so many equations, as `ParametricQP` does: a guess from doubles."""
    if "caps" in problem:
        caps: Array = np.array(problem["caps"][0])
        small = UNTOUCHED * caps
    else:
        caps = np.full(alpha.size, np.inf)
        small = UNTOUCHED * np.abs(alpha).max(initial=0.0)
    above_lower = np.where(alpha >= caps * (1 - UNTOUCHED), UPPER, INSIDE)
    labels = np.where(alpha <= small, LOWER, above_lower)
    return np.append(labels, np.full(equations, LOWER))
