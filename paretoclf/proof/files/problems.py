"""What a certificate file is about: the problem in exact numbers, of a path, of a single point, or of any program.

docs/reference/certificate_files.md has the fields; `paretoclf.proof.check` reads them.
"""

from __future__ import annotations

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
from paretoclf.proof.solution import Solution

#: What a certificate states in exact numbers, as the file has it.
Stated = dict[str, Any]

#: Multipliers this near to a bound, relative to it, are taken to be at it.
UNTOUCHED = 1e-7


def stated(v: Any) -> int | float | str | None:
    """A number as the file has it; None for one that is infinite."""
    if isinstance(v, Fraction):
        return int(v) if v.denominator == 1 else str(v)
    if isinstance(v, int | np.integer):
        return int(v)
    return float(v) if math.isfinite(v) else None


def path_problem(path: Any) -> Stated:
    """That of a path of classifiers, from one end to the other."""
    return line_problem(path._whole_line, path._about)


def line_problem(line: SampleLine, about: str = "") -> Stated:
    """That of a line of parameters, or of a point, at which such a line begins and ends; and what is said of it.

    In the units of the formulation: caps along tau are not over lam, and margins are not rounded.
    """
    y = line.y
    if isinstance(line, LineOfTheta):
        slacks = [0, 0] if line.slack_costs is None else [str(1 / Fraction(c)) for c in line.slack_costs]
        q = [[str(-margin) for margin in end] for end in line.margins]
        own: Stated = {"kind": "margins", "q": q, "diagonal": by_class(y, *slacks).tolist()}
    elif isinstance(line, LineOfTau):
        own = {"kind": "quantile SVM", "lam": line.lam, "bias": line.bias, "caps": line.caps.tolist()}
    else:
        caps, sums = np.split(line.problem.upper, [y.size], axis=1)
        own = {"kind": "2C-SVM", "caps": caps.tolist()}
        if isinstance(line, LineOfNu):  # no more than all caps, doubles, add up to
            most = [min(sum(map(Fraction, cap[y == side])) for side in (1, -1)) for cap in caps]
            rows = [[str(min(Fraction(sum_), all_)) for sum_ in end] for end, all_ in zip(sums, most, strict=True)]
            own |= {"kind": "2nu-SVM", "sums": rows}
    return _of_samples(line.gram, y, own, about)


def _of_samples(gram: Gram, y: Array, own: Mapping[str, Any], about: str = "") -> Stated:
    """Samples or kernel values, labels, ``own``, and what is said of them."""
    problem: Stated = {**own, "y": [int(v) for v in y], "positive": "1"}
    said = [about] if about else []
    features = gram.X if gram.linear else gram.features
    if features is not None:
        problem["X"] = dense(features).tolist()
        said += [f"X are features of an approximated kernel ({gram.approximation})"] if gram.approximation else []
    else:
        problem["K"] = [row[: i + 1] for i, row in enumerate(gram.matrix.tolist())]
        rounding = 0.0 if gram.rounding is None else float(gram.rounding.max()) ** 2
        off = f", each at most {rounding:.1e} from the kernel's own" if rounding else ""
        said.append(f"K are the values of the kernel {gram.kernel!r} in doubles{off}")
    return {**problem, **({"about": "; ".join(said)} if said else {})}


def labelled(problem: Stated, positive: Any) -> Stated:
    """The same, with the label that y = +1 stands for in the reader's data, if one is given."""
    if positive is None:
        return problem
    text = str(positive).strip() if isinstance(positive, str | int | float | np.generic) else ""
    if not text or not text.isprintable():
        raise InputError(
            f"positive must be the label of y = +1, a text that can be printed or a number, got {positive!r}"
        )
    return {**problem, "positive": text}


def program_problem(problem: ParametricQP) -> Stated:
    """That of any parametric program; its constant is left out.

    Parameters
    ----------
    problem : ParametricQP
        In doubles or in fractions.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.files.file import certificate
    >>> from paretoclf.proof.files.problems import program_problem
    >>> from paretoclf.problem.parametric_qp import ParametricQP
    >>> from paretoclf.proof import check
    >>> q, one = np.array([[-2.0], [2.0]]), np.ones((2, 1))
    >>> line = ParametricQP.hard(np.eye(1), np.zeros((0, 1)), q, -one, one)
    >>> found = certificate(program_problem(line), guide=[])  # x = 2 - 4 t, but within [-1, 1]
    >>> found["segments"], check.check(found["problem"], found["segments"])
    (['u', [[0, 'i']], [[0, 'l']]], ([-1.5, -1.5], Fraction(1, 1)))
    """
    P = [[stated(v) for v in row[: i + 1]] for i, row in enumerate(problem.P)]
    names = ("A", "q", "lower", "upper", "below", "above")
    parts = {name: [[stated(v) for v in row] for row in getattr(problem, name)] for name in names}
    return {"kind": "program", "K": P, **parts}


def point_problem(svm: Any, solution: Solution) -> tuple[Stated, Array, int]:
    """That of one solution of a formulation with exact paths, its multipliers, and how many equations there are."""
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
    """Where multipliers are, and so many equations: a guess from doubles, labelled as `ParametricQP` does."""
    caps = np.array(problem["caps"][0]) if "caps" in problem else np.full(alpha.size, np.inf)
    small = UNTOUCHED * (caps if "caps" in problem else np.abs(alpha).max(initial=0.0))
    labels = np.where(alpha <= small, LOWER, np.where(alpha >= caps * (1 - UNTOUCHED), UPPER, INSIDE))
    return np.append(labels, np.full(equations, LOWER))
