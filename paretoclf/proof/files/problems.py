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
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import LineOfCosts, LineOfNu, LineOfTau, LineOfTheta, lines_of, sizes_of
from paretoclf.problem.nu import caps_of, to_asymmetry
from paretoclf.problem.parametric_qp import INSIDE, LOWER, UPPER, ParametricQP
from paretoclf.problem.samples import dense
from paretoclf.proof.solution import Solution

#: What a certificate states in exact numbers, as the file has it.
Stated = dict[str, Any]
#: What is at t = 0 and at t = 1.
Ends = tuple[Any, Any]

#: Multipliers this near to a bound, relative to it, are taken to be at it.
UNTOUCHED = 1e-7


def stated(v: Any) -> int | float | str | None:
    """A number as the file has it; None for one that is infinite."""
    if isinstance(v, Fraction):
        return int(v) if v.denominator == 1 else str(v)
    if isinstance(v, int | np.integer):
        return int(v)
    return float(v) if math.isfinite(v) else None


def costs_problem(gram: Gram, y: Array, caps: Ends) -> Stated:
    """That of a 2C-SVM between caps of the multipliers."""
    return _of_samples(gram, y, {"kind": "2C-SVM", "caps": [np.asarray(cap).tolist() for cap in caps]})


def nu_problem(gram: Gram, y: Array, caps: Ends, halves: Ends, about: str = "") -> Stated:
    """That of a 2nu-SVM: multipliers of either class add up to ``halves``, or to all that their caps, doubles, do."""
    most = [min(sum(map(Fraction, cap[y == side])) for side in (1, -1)) for cap in caps]
    sums = [[str(min(pair))] * 2 for pair in zip(halves, most, strict=True)]
    own = {"kind": "2nu-SVM", "caps": [cap.tolist() for cap in caps], "sums": sums}
    return _of_samples(gram, y, own, about)


def quantile_problem(gram: Gram, y: Array, tau: Ends, lam: float, bias: bool, about: str = "") -> Stated:
    """That of a quantile SVM between two tau."""
    caps = [np.where(y > 0, 2 * (1 - each) / y.size, 2 * each / y.size).tolist() for each in tau]
    return _of_samples(gram, y, {"kind": "quantile SVM", "lam": lam, "bias": bias, "caps": caps}, about)


def margins_problem(gram: Gram, y: Array, shares: Ends, slack_costs: Any, about: str = "") -> Stated:
    """Half the objective of two margins, 2 share and 2 (1 - share), with costs (C_plus, C_minus) of squares or None."""
    q = [[str(-2 * (share if label > 0 else 1 - share)) for label in y] for share in map(Fraction, shares)]
    costs = [0, 0] if slack_costs is None else [str(1 / Fraction(c)) for c in slack_costs]
    diagonal = [costs[0] if label > 0 else costs[1] for label in y]
    return _of_samples(gram, y, {"kind": "margins", "q": q, "diagonal": diagonal}, about)


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
    lines, values, gram, y = lines_of(svm), solution.values, svm.gram, svm.y
    about = ", ".join(f"{name} = {value!r}" for name, value in values.items())
    alpha: Array = solution.alpha
    if lines is LineOfCosts and isinstance(solution.classifier, Classifier):
        return costs_problem(gram, y, (solution.classifier.caps,) * 2), alpha, 1
    if lines is LineOfNu and {*values} in ({"nu", "asymmetry"}, {"nu_plus", "nu_minus"}):
        if "nu" in values:
            nu, asymmetry = values["nu"], values["asymmetry"]
        else:
            nu, asymmetry = to_asymmetry(values["nu_plus"], values["nu_minus"], *sizes_of(y))
        return nu_problem(gram, y, (caps_of(asymmetry, y),) * 2, (Fraction(nu) / 2,) * 2, about), alpha, 2
    if lines is LineOfTau and {*values} == {"tau", "lam"}:
        return quantile_problem(gram, y, (values["tau"],) * 2, values["lam"], svm.bias, about), alpha, 0
    if lines is LineOfTheta and "theta" in values:
        theta = Fraction(values["theta"])
        costs = (values["C_plus"], values["C_minus"]) if svm.soft else None
        weighed = np.where(y > 0, alpha, values["theta"] * alpha)
        return margins_problem(gram, y, (theta / (1 + theta),) * 2, costs, f"{about}; twice the value"), weighed, 1
    raise InputError(f"solution must be one of the {type(svm).__name__} that is given, got {solution!r:.200}")


def labels_of(problem: Stated, alpha: Array, equations: int) -> Index:
    """Where multipliers are, and so many equations: a guess from doubles, labelled as `ParametricQP` does."""
    caps = np.array(problem["caps"][0]) if "caps" in problem else np.full(alpha.size, np.inf)
    small = UNTOUCHED * (caps if "caps" in problem else np.abs(alpha).max(initial=0.0))
    labels = np.where(alpha <= small, LOWER, np.where(alpha >= caps * (1 - UNTOUCHED), UPPER, INSIDE))
    return np.append(labels, np.full(equations, LOWER))
