r"""Homework: values and multipliers that somebody worked out by hand, judged, with one sentence.

The value and the violations of an answer are judged by `certify_problem`, its multipliers by their Lagrangian. Three
digits of a value say little of an answer, though: next to an optimum the value hardly moves. So each entry is compared
with that of a solver, too, and where it is off, it is proved wrong or let be. Half way between the two there is a
bound, beyond which the answer is and the solver's number is not.

* An entry of a variable is wrong if the best value among points beyond the bound is proved to be worse than the optimal
  value: then no optimum is there.
* An entry of a multiplier is wrong if no multipliers beyond the bound h reach the optimal value in the dual. For every
  :math:`\lambda` with :math:`\lambda_e\ge h`, and every x, u with :math:`u\ge0` and
  :math:`c(x)+u\,e\le0`, the dual function is at most :math:`f(x)+\lambda^\top c(x)\le f(x)-hu`. One such
  point below the optimal value is the proof; likewise for the other side, with -u.

Where neither is proved, optima (or multipliers) may be many, and the answer is right to three digits of the value.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, overload

import numpy as np

from paretoclf.common.checks import check_positive_number
from paretoclf.common.errors import InputError, SolveError
from paretoclf.common.tolerances import CERTIFY, HOMEWORK
from paretoclf.problem.qp import QP
from paretoclf.proof.verdicts.evidence import Condition
from paretoclf.solve.grading.claims import Judgement, judge_infeasible, judge_ray
from paretoclf.solve.grading.digits import (
    DigitsGiven,
    allowed,
    count_in_words,
    digits_given,
    digits_that_count,
    largest_part,
    parts_of,
)
from paretoclf.solve.grading.homework import DualGrade, grade_dual
from paretoclf.solve.grading.kkt import KKTTable, kkt_table
from paretoclf.solve.grading.written_attributes import written_out
from paretoclf.solve.judging.cone_proof import ProblemProof, certify_problem, refuse_not_convex
from paretoclf.solve.judging.primal_and_dual import evaluate, held
from paretoclf.solve.judging.slater import no_slater_point
from paretoclf.solve.judging.value_words import told
from paretoclf.solve.models.attributes import attribute_constraints, bounded_entries
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Model, conic_settings, dense, having, without_values

Verdict = Literal["right", "infeasible", "not optimal", "wrong multipliers", "wrong claim", "undecided"]

#: What a solver leaves of a number that is 0, relative to the largest that it found.
_SOLVED = 1e-7

#: Slips that are named: what the answer is, beside what a solver found.
SLIPS = {-1.0: "has the opposite sign of", 2.0: "is twice", 0.5: "is half"}


#: Half the side of the box around an optimum in which its Lagrangian must be least, relative to the values.
BOX = 1e-2


@dataclass(frozen=True)
class Grade:
    """What `grade` says of an answer.

    Attributes
    ----------
    verdict : {"right", "infeasible", "not optimal", "wrong multipliers", "wrong claim", "undecided"}
        Values come first: multipliers are what is wrong only where the values are optimal. A wrong claim is that a
        problem is infeasible, or unbounded along a direction.
    sentence : str
        Why, in one sentence.
    values, multipliers : bool or None
        Whether each is right, for who counts points; None where it is undecided, or no multipliers were given. A claim
        counts as values.
    proof : ProblemProof
        The proof of the values, or of the claim: what `verify` says of them at the same tolerance, by the objective and
        the constraints alone. A grade is stricter: it compares the entries, too, and multipliers, of which the proof
        says nothing.
    """

    verdict: Verdict
    sentence: str
    values: bool | None
    multipliers: bool | None
    proof: ProblemProof = field(repr=False)
    _conditions: Callable[[], KKTTable] | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return self.sentence

    def kkt(self) -> KKTTable:
        """Tabulate the conditions of Karush, Kuhn and Tucker at the values and multipliers of the answer.

        They are looked at as they are, beside no solution: a row for each constraint has primal feasibility, dual
        feasibility and complementary slackness, one for each variable stationarity of the Lagrangian, each with by how
        much it fails.

        Raises
        ------
        InputError
            If the answer has no multipliers.

        Examples
        --------
        >>> import cvxpy as cp
        >>> import paretoclf as pc
        >>> x = cp.Variable(2, name="x")
        >>> low = (x[0] >= 0.75).set_label("low")
        >>> exercise = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(cp.sum(x) == 1).set_label("mass"), low])
        >>> pc.grade(exercise, {"x": [0.75, 0.25]}, {"mass": -0.5, "low": 2}).kkt()
                    primal feasibility  dual feasibility  complementary slackness  stationarity
        mass                       0                 -                        -             -
        low                        0                 0                        0             -
        x                          -                 -                        -             1 *
        Stationarity of x[0] fails by 1 (0.33 of its terms); the others hold to 1e-03.
        """
        if self._conditions is None:
            raise InputError("the answer must have values and multipliers: grade(problem, values, duals).kkt()")
        return self._conditions()


@overload
def grade(
    problem: cp.Problem,
    values: Mapping[Any, Any] | Literal["infeasible"] | None = None,
    duals: Mapping[Any, Any] | None = None,
    tol: float = HOMEWORK,
    *,
    ray: Mapping[Any, Any] | None = None,
) -> Grade: ...


@overload
def grade(
    problem: cp.Problem,
    *,
    tol: float = HOMEWORK,
    dual: cp.Problem,
    at: Sequence[Mapping[Any, Any]] | None = None,
) -> DualGrade: ...


def grade(
    problem: cp.Problem,
    values: Mapping[Any, Any] | Literal["infeasible"] | None = None,
    duals: Mapping[Any, Any] | None = None,
    tol: float = HOMEWORK,
    *,
    dual: cp.Problem | None = None,
    at: Sequence[Mapping[Any, Any]] | None = None,
    ray: Mapping[Any, Any] | None = None,
) -> Grade | DualGrade:
    """Grade an answer to a convex problem: values and multipliers, that there is no solution, or its dual.

    Values are judged by `certify_problem`, against proved bounds of the optimal value; multipliers by it, too, of the
    Lagrangian, which must be least at an optimum, whatever the values are. Each entry is compared with the solver's,
    too, and one that is off is wrong if it is proved that no optimum has it. Where optima or multipliers are many, each
    is right, to three digits of the value.

    Parameters
    ----------
    problem : cvxpy.Problem
        The exercise; it need not be solved, and holds what it held afterwards.
    values : dict from cvxpy.Variable or str to number or array, or "infeasible"
        By the variables, or by their names. Or the claim that no point satisfies the constraints: it is right if
        constraints are proved to contradict each other, and wrong if there is a feasible point.
    duals : dict from cvxpy.Constraint or str to number or array, optional
        By the constraints, or by their labels (``constraint k`` without one), with the signs of CVXPY; those of what
        attributes of variables say may be given, too, as ``x: nonneg``, ``x: upper bound``, ``M: PSD``. Those of signs,
        ``x >= 0``, may be left out: then there must be some that go with the others. The Lagrangian of a minimisation
        is the objective plus multiplier times (left - right) of ``left <= right`` and ``left == right``, (right - left)
        of ``left >= right``; that of a maximisation has minus the objective.
    tol : float
        What counts, relative to the terms, and of an entry to the largest of its variable (or half a unit of its last
        digit that counts): by default three digits, so that answers rounded to four are right. Numbers that are those
        of an optimum, rounded to these digits, are right whatever they violate.
    dual : cvxpy.Problem, optional
        In place of values: somebody's dual. It must have the other sense and the same value, by proved bounds of both,
        and never pass the primal. That is no proof that it is the dual, and is not said to be. Parameters are the same
        objects, or have the same names. If one change of a term (half, twice, the other sign, without) makes all values
        equal, it is named.
    at : sequence of dict from cvxpy.Parameter or str to number or array, optional
        Where a dual is compared. By default five places between the values that are set and twice them, at which the
        primal has a solution; without parameters one.
    ray : dict from cvxpy.Variable or str to number or array, optional
        In place of values: a direction along which the problem is claimed to be unbounded. It is taken as it is, not
        to digits.

    Returns
    -------
    Grade or DualGrade
        The latter of a dual.

    Raises
    ------
    InputError
        If a name is missing, unknown or given twice, a shape does not fit, or `certify_problem` does not take the
        problem; if not exactly one of values, dual and ray is given.
    SolveError
        If no solution of the problem is found.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import paretoclf as pc
    >>> x = cp.Variable(2, name="x")
    >>> low = (x[0] >= 0.75).set_label("low")
    >>> exercise = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(cp.sum(x) == 1).set_label("mass"), low])
    >>> print(pc.grade(exercise, {"x": [0.75, 0.25]}, {"mass": -0.5, "low": 1}))
    Right: the values are optimal (value 0.625), and the multipliers prove it.
    >>> print(pc.grade(exercise, {"x": [0.75, 0.25]}, {"mass": -0.5, "low": 2}))
    Wrong multipliers: the values are optimal, but the multiplier of low is twice the solver's.
    >>> print(pc.grade(exercise, {x: [0.75, 0.25]}, {"mass": -0.5, low: 0.5}))
    Wrong multipliers: the values are optimal, but the multiplier of low is half the solver's.
    >>> print(pc.grade(exercise, {x: [0.5, 0.5]}))
    Infeasible: low is violated by 0.25.
    >>> print(pc.grade(exercise, {"x": [1, 0]}))
    Not optimal: the value is 1, and 0.625 is possible.

    Claims that there is no solution, and a dual:

    >>> z = cp.Variable(name="z")
    >>> print(pc.grade(cp.Problem(cp.Maximize(z), [z >= 0, z <= 1]), "infeasible"))
    Wrong: it is feasible, since z = 0.5 satisfies all constraints.
    >>> print(pc.grade(cp.Problem(cp.Maximize(z), [z >= 0]), ray={z: 2}))
    Right: it is unbounded along z = 2: from z = 1 the objective rises for ever, and all constraints are kept.
    >>> r, y = cp.Parameter(value=1.0, name="r"), cp.Variable(name="y")
    >>> squares = cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == r])
    >>> print(pc.grade(squares, dual=cp.Problem(cp.Maximize(r * y - cp.square(y)))))
    Weaker: at r = 1 its value is 0.25, the primal's 0.5. With half of power(y, 2) in the objective, all are equal.
    """
    tol = check_positive_number(tol, "tol")
    if isinstance(problem, QP):
        raise InputError(
            f"problem must be a cvxpy.Problem, got {problem!r}: verify(qp, x, y, tol={tol:g}) judges a point of a QP "
            "and its multipliers, verify(qp, 'infeasible') and 'unbounded' such a claim"
        )
    _check_one_answer(values=values, dual=dual, ray=ray)
    if dual is not None:
        _check_alone("dual", duals=duals)
        return grade_dual(problem, dual, at, tol)
    _check_alone("values" if ray is None else "ray", at=at)
    if ray is not None or isinstance(values, str):
        _check_alone("a claim", duals=duals)
        return _of_claim(problem, values, ray, tol)
    return _of_numbers(problem, values, duals, tol)


def _check_one_answer(**given: Any) -> None:
    """InputError unless one of these is given."""
    named = [name for name, answer in given.items() if answer is not None]
    if len(named) != 1:
        listed = " and ".join(named) or "none"
        raise InputError(f"an answer must be one of {', '.join(given)}, got {listed}: grade each by itself")


def _check_alone(answer: str, **beside: Any) -> None:
    """InputError if an argument is given that says nothing of this answer."""
    named = [name for name, each in beside.items() if each is not None]
    if named:
        raise InputError(f"{named[0]} must not be given with {answer}, of which it says nothing: leave it out")


def _of_claim(problem: cp.Problem, claim: Any, ray: Mapping[Any, Any] | None, tol: float) -> Grade:
    """The grade of a claim that there is no solution."""
    model = Model.of(problem, maximise=True, moving=False)
    model.check_parameters()
    model.check_continuous()
    if ray is None:
        if claim != "infeasible":
            raise InputError(f"values must be a dict, or 'infeasible', got {claim!r:.200}; give ray= of one unbounded")
        return _grade_of(judge_infeasible(model, tol))
    given = _named(ray, model.variables, "ray", "variables")
    like = {name: np.zeros(variable.shape) for name, variable in model.variables.items()}
    return _grade_of(judge_ray(model, {name: _shaped(name, given[name], like[name]) for name in like}, tol))


def _grade_of(judgement: Judgement) -> Grade:
    """A claim's judgement as a grade."""
    verdicts: dict[bool | None, Verdict] = {True: "right", False: "wrong claim", None: "undecided"}
    return Grade(verdicts[judgement.right], judgement.sentence, judgement.right, None, judgement.proof)


def _of_numbers(problem: cp.Problem, values: Any, duals: Mapping[Any, Any] | None, tol: float) -> Grade:
    """The grade of values, and of multipliers."""
    if isinstance(values, Mapping) and isinstance(duals, Mapping):
        problem, values, duals = _with_attributes(problem, values, duals)
    model = Model.of(problem, maximise=True)
    model.check_continuous()
    given = _named(values, model.variables, "values", "variables")
    multipliers = None if duals is None else _named(duals, model.constraints, "duals", "constraints", _signs(model))
    own = cp.Problem(problem.objective, problem.constraints)  # its status and value are not those of the user's
    with _kept(model):
        try:
            _solve(own, **conic_settings("reference"))
        except cp.SolverError as error:
            refuse_not_convex(model)
            words = f"CLARABEL finds no solution of the problem itself: {error} {no_slater_point(model)}".rstrip()
            raise SolveError(f"{words} verify(problem, values) judges values without a solution beside them") from None
        reference = {name: held(part) for name, part in (*model.variables.items(), *model.constraints.items())}
        solved = certify_problem(own, tol)
        if solved.certificate is None or any(reference[name] is None for name in model.variables):
            return Grade("undecided", f"Undecided: the problem itself is {solved.status}.", None, None, solved)
        exercise = _Exercise(model, own, reference, solved, tol)
        shaped = {name: _shaped(name, value, reference[name]) for name, value in given.items()}
        hand = {name: _shaped(name, value, reference[name]) for name, value in (multipliers or {}).items()}
        only_signs_left_out = multipliers == {} and model.constraints
        lagrangian = None if multipliers is None or only_signs_left_out else _of_multipliers(exercise, hand)
        for name, value in shaped.items():
            model.variables[name].save_value(value)
        proof = _without_their_multipliers(certify_problem(own, tol))
        found = _graded(exercise, shaped, lagrangian, proof, _unused({**shaped, **hand}, exercise) if hand else "")
        return found if lagrangian is None else replace(found, _conditions=_looked_at(exercise, {**shaped, **hand}))


def _looked_at(exercise: _Exercise, numbers: Mapping[str, Any]) -> Callable[[], KKTTable]:
    """Return what tabulates the conditions at these numbers, and at the values that parameters have now."""
    model = exercise.model
    parameters = {parameter: parameter.value for parameter in model.problem.parameters()}

    def conditions() -> KKTTable:
        with having(parameters), _kept(model):
            return kkt_table(model, numbers, model.constraints.keys() - numbers.keys(), exercise.tol)

    return conditions


def _without_their_multipliers(proof: ProblemProof) -> ProblemProof:
    """The proof of an answer's values, which says that multipliers beside them are the solver's."""
    certificate = proof.certificate
    if certificate is None or not certificate.multipliers:
        return proof
    side, note = certificate.worst_side.replace("multiplier", "the solver's multiplier"), certificate.note
    if max(certificate.multipliers.values()) > proof.tol:
        own = "The solver's multipliers, which are of an optimum, do not fit these values"
        note = f"{note} {own}; the answer's own are not looked at here.".lstrip()
    return replace(proof, certificate=replace(certificate, multipliers={}, worst_side=side, note=note))


def _unused(numbers: Mapping[str, Any], exercise: _Exercise) -> str:
    """The entry of a constraint whose room at given values contradicts its given multiplier most; nothing for none."""
    _, conditions = evaluate(exercise.model, numbers)
    plain = [c for c in conditions if not c.alone and not c.equation and c.product is None]
    worst = max(plain, key=lambda c: float(c.not_complementary.max(initial=0.0)), default=None)
    if worst is None or worst.not_complementary.max(initial=0.0) <= exercise.tol:
        return ""
    k = int(np.argmax(np.ravel(worst.not_complementary)))
    shape = exercise.model.constraints[worst.name].shape
    place = str([int(each) for each in np.unravel_index(k, shape)]) if shape else ""
    slack, multiplier = np.ravel(worst.slack)[k], np.ravel(worst.multiplier)[k]
    return f"{worst.name}{place} has {slack:.6g} to spare, yet its multiplier is {multiplier:.6g}"


def _with_attributes(
    problem: cp.Problem, values: Mapping[Any, Any], duals: Mapping[Any, Any]
) -> tuple[cp.Problem, Mapping[Any, Any], Mapping[Any, Any]]:
    """The problem with those attributes as constraints whose multipliers are given, and both answers by names."""
    variable_of = {name: v for v in problem.variables() for name in attribute_constraints(v)}
    labels = {c.label for c in problem.constraints}
    asked = [key for key in duals if isinstance(key, str) and key in variable_of and key not in labels]
    if not asked:
        return problem, values, duals
    names = {id(v): v.name() for v in problem.variables()}
    names |= {id(c): c.label or f"constraint {k}" for k, c in enumerate(problem.constraints)}
    values, multipliers = ({names.get(id(key), key): value for key, value in each.items()} for each in (values, duals))
    for name in asked:
        variable, entries = variable_of[name], bounded_entries(variable_of[name], name)
        if entries.size < variable.size and np.shape(multipliers[name]) == variable.shape:
            multipliers[name] = np.ravel(multipliers[name])[entries]  # of entries without a bound there is none
    return written_out(problem, asked), values, multipliers


@dataclass(frozen=True)
class _Exercise:
    """A problem that was solved: its model, what the solver found by name, and the proof of that, at a tolerance."""

    model: Model
    problem: Any
    reference: Mapping[str, Any]
    solved: ProblemProof
    tol: float

    @property
    def digits(self) -> str:
        """How many digits count, in words."""
        return count_in_words(digits_that_count(self.tol), "digit")

    @property
    def bounds(self) -> tuple[float, float]:
        """The optimal value of the minimisation is between these."""
        return _minimised(self.solved, self.model.sense)


@dataclass(frozen=True)
class _Proving:
    """What is said of multipliers: whether they are right, None where nothing is proved, and in words."""

    right: bool | None
    words: str


def _graded(
    exercise: _Exercise, values: Mapping[str, Any], lagrangian: _Proving | None, proof: ProblemProof, unused: str
) -> Grade:
    """The grade of values of which this is the proof, and of multipliers; ``unused`` says where both contradict."""
    right = {"optimal": True, "not optimal": False}.get(proof.status)
    multipliers = None if lagrangian is None else lagrangian.right
    wrong = _of_values(exercise, proof, values, right)
    rounded = None if wrong is None or right is None else _rounded(exercise, values)
    if wrong is not None and not (rounded and rounded.enough):
        verdict, sentence = wrong
        sentence += f"; to {rounded.words} the values are those of an optimum" if rounded else ""
        known = None if right is None else False
        more = "; the multipliers are right" if known is False and multipliers else ""
        more += f"; {unused}" if verdict == "not optimal" and unused else ""
        return Grade(verdict, f"{sentence}{more}.", known, multipliers, proof)
    at = f"Right: {_optimal_in_words(exercise, proof, values)}"
    if rounded:
        at = f"Right to the digits given: an optimum has these values to {rounded.words} ({_as_they_stand(proof)})"
    if lagrangian is None:
        return Grade("right", f"{at}.", True, None, proof)
    if multipliers:
        return Grade("right", f"{at}, and the multipliers prove it{lagrangian.words}.", True, True, proof)
    if multipliers is None:
        said = f"Undecided: {at.removeprefix('Right: ')}, but of the multipliers nothing is proved."
        return Grade("undecided", said, True, None, proof)
    said = f"Wrong multipliers: the values are optimal, but {lagrangian.words}."
    return Grade("wrong multipliers", said, True, False, proof)


def _signs(model: Model) -> list[str]:
    """Constraints on the sign of a variable or of some of its entries, ``x >= 0``: of their multipliers nobody asks."""
    found = []
    for name, constraint in model.constraints.items():
        if isinstance(constraint, cp.constraints.Inequality):
            nothing = [isinstance(arg, cp.Constant) and not np.any(dense(arg.value)) for arg in constraint.args]
            if any(nothing) and any(map(_is_entries, constraint.args)):
                found.append(name)
    return found


def _is_entries(expression: Any) -> bool:
    """Whether an expression is a variable or some of its entries, with either sign."""
    if type(expression).__name__ in ("index", "special_index", "NegExpression", "Promote"):
        return _is_entries(expression.args[0])
    return isinstance(expression, cp.Variable)


def _named(
    given: Mapping[Any, Any], known: Mapping[str, Any], argument: str, what: str, spared: Collection[str] = ()
) -> dict[str, Any]:
    """Answers by name, for every name but those spared; a variable or constraint itself stands for its name."""
    if not isinstance(given, Mapping):
        raise InputError(f"{argument} must be a dict by the {what} or their names, got {given!r:.200}")
    own = {id(part): name for name, part in known.items()}
    names = [own.get(id(key), key if isinstance(key, str) else str(key)) for key in given]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{argument} must have each of the {what} once: {twice[0]} is given twice")
    given = dict(zip(names, given.values(), strict=True))
    odd = [name for name in (*known, *given) if name not in known or (name not in given and name not in spared)]
    if odd:
        is_wrong = "is missing" if odd[0] in known else "is none"
        is_wrong += f', add {{"{odd[0]}": ...}}' if argument == "duals" and odd[0] in known else ""
        spared_ones = f" (but {' and '.join(spared)} may be left out)" if spared else ""
        listed = f"{', '.join(known)}{spared_ones}"
        raise InputError(f"{argument} must have all {what}, {listed}: {odd[0]} {is_wrong}")
    return {name: given[name] for name in known if name in given}


def _shaped(name: str, value: Any, like: Any) -> Any:
    """A given value as an array like that of a solver; a multiplier of a cone is a list of such."""
    if isinstance(like, list):
        if not isinstance(value, list | tuple) or len(value) != len(like):
            raise InputError(f"{name} must be a list of {len(like)} arrays, got {value!r:.200}")
        return [_shaped(name, each, part) for each, part in zip(value, like, strict=True)]
    try:
        array = np.asarray(value, dtype=complex if np.iscomplexobj(like) else float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, got {value!r:.200}") from None
    if np.squeeze(array).shape != np.squeeze(like).shape or not np.isfinite(array).all():
        raise InputError(f"{name} must be finite numbers of shape {np.shape(like)}, got {value!r:.200}")
    return array.reshape(np.shape(like))


@contextmanager
def _kept(model: Model) -> Iterator[None]:
    """Give variables and constraints what they held back at the end; till then variables begin without values."""
    leaves = [v for c in model.constraints.values() for v in c.dual_variables]
    before = [leaf.value for leaf in leaves]
    with without_values(model.problem):
        try:
            yield
        finally:
            for leaf, value in zip(leaves, before, strict=True):
                leaf.save_value(value)


def _solve(problem: cp.Problem, **settings: Any) -> None:
    """Solve it from the beginning, with these settings or, where the solver fails, with its own."""
    for variable in problem.variables():
        variable.save_value(None)  # CVXPY compiles some atoms only then
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")  # what is proved of it is seen later
        warnings.filterwarnings("ignore", "Reading from a sparse CVXPY expression")
        try:
            problem.solve(solver="CLARABEL", **settings)
        except cp.SolverError:
            problem.solve(solver="CLARABEL")
        except TypeError:
            diagonal = [v.name() for v in problem.variables() if v.attributes["diag"]]
            if not diagonal:
                raise
            raise InputError(
                f"variable {diagonal[0]} must be written as cp.diag of a vector, got diag=True: CVXPY holds its value "
                "as a sparse matrix, of which it reads no entry"
            ) from None


def _minimised(proof: ProblemProof, sense: int) -> tuple[float, float]:
    """Bounds of the optimal value, of a maximisation those of minus its objective."""
    return (proof.lower, proof.upper) if sense > 0 else (-proof.upper, -proof.lower)


# ---- entries of an answer --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Entry:
    """An entry of a variable or of a multiplier: its name and place, what was given, and what the solver found."""

    name: str
    part: int | None
    index: tuple[int, ...]
    given: float
    reference: float

    @property
    def bound(self) -> float:
        """Half way between the two numbers."""
        return 0.5 * (self.given + self.reference)

    @property
    def side(self) -> float:
        """1 where what was given is above the bound, and -1 where it is below."""
        return 1.0 if self.given > self.reference else -1.0

    @property
    def words(self) -> str:
        """Both numbers, the solver's as 0 where it is nothing beside what was given."""
        own = 0.0 if abs(self.reference) < _SOLVED * abs(self.given) else self.reference
        return f"is {self.given:.6g}, and {own:.6g} at the optimum"

    def __str__(self) -> str:
        return f"{self.name}{list(self.index) if self.index else ''}"


def _rounded(exercise: _Exercise, answers: Mapping[str, Any]) -> DigitsGiven | None:
    """The digits to which an answer is that of a solver, where the solver's numbers are exact enough to say so."""
    if not _is_exact(exercise.solved):
        return None
    return digits_given(answers, exercise.reference, exercise.tol, _floor(exercise, answers))


def _entries_off(name: str, given: Any, reference: Any, tol: float, floor: float = 0.0) -> list[_Entry]:
    """Entries that are not the solver's to the digits that count, those that are off by most of these first.

    These are a share ``tol`` of the largest entry, or half a unit of the last of the digits of the entry itself; where
    all are 0, the floor.
    """
    parts = [tuple(map(np.asarray, pair)) for pair in zip(parts_of(given), parts_of(reference), strict=True)]
    largest = largest_part(reference)
    found = list[tuple[float, _Entry]]()
    for k, (answer, own) in enumerate(parts):
        apart = np.abs(np.subtract(answer, own)) / allowed(own, largest, tol, floor)
        for index in np.argwhere(apart > 1.0):
            place = tuple(index.tolist())
            part = k if isinstance(reference, list) else None
            found.append((float(apart[place]), _Entry(name, part, place, float(answer[place]), float(own[place]))))
    return [entry for _, entry in sorted(found, key=lambda each: -each[0])]


def _off(exercise: _Exercise, answers: Mapping[str, Any]) -> list[_Entry]:
    """Entries of answers that are not the solver's; of complex ones none is looked at."""
    reference = {name: exercise.reference[name] for name in answers}
    real = {name: own for name, own in reference.items() if not any(map(np.iscomplexobj, parts_of(own)))}
    floor = _floor(exercise, real)
    return [e for name, own in real.items() for e in _entries_off(name, answers[name], own, exercise.tol, floor)]


def _floor(exercise: _Exercise, names: Iterable[str]) -> float:
    """The size that a solver leaves of a number that is 0, by the largest of those with these names."""
    return _SOLVED * max((largest_part(exercise.reference[name]) for name in names), default=0.0)


def _proved_wrong(exercise: _Exercise, entry: _Entry) -> Verdict | None:
    """Whether no optimum has an entry of a variable beyond the bound, and if so what such a point is, else None."""
    model, variable = exercise.model, exercise.model.variables[entry.name]
    own = variable[entry.index] if entry.index else variable
    beyond = entry.side * (own - entry.bound) >= 0.0
    proof = _proof_of(cp.Problem(exercise.problem.objective, [*exercise.problem.constraints, beyond]))
    if proof is None:
        return None
    if proof.status == "infeasible":
        return "infeasible"
    return "not optimal" if _minimised(proof, model.sense)[0] > exercise.bounds[1] else None


def _proof_of(problem: cp.Problem) -> ProblemProof | None:
    """Proof of a problem that was made from another; None where no solver answers."""
    try:
        _solve(problem)
        return certify_problem(problem, 1e-6)
    except (SolveError, cp.SolverError, InputError):
        return None


def _multiplier_proved_wrong(exercise: _Exercise, entry: _Entry, box: list[Any]) -> bool:
    """Whether no optimal multipliers have an entry beyond the bound: a point of the module's text proves it."""
    model, u = exercise.model, cp.Variable(nonneg=True)
    objective = model.sense * model.problem.objective.expr - entry.side * entry.bound * u
    rows = [
        _moved(constraint, entry, u) if name == entry.name else constraint
        for name, constraint in model.constraints.items()
    ]
    proof = _proof_of(cp.Problem(cp.Minimize(objective), [*rows, *box]))
    return proof is not None and proof.upper < exercise.bounds[0]


def _moved(constraint: Any, entry: _Entry, u: Any) -> Any:
    """A constraint of which one entry is harder by u, or easier where what was given is below the bound."""
    kinds = cp.constraints
    if isinstance(constraint, kinds.SOC):
        arguments = [
            arg - _at(arg.shape, entry, u) if k == entry.part else arg for k, arg in enumerate(constraint.args)
        ]
        return cp.SOC(*arguments, axis=constraint.axis)
    step = _at(constraint.shape, entry, u)
    if isinstance(constraint, kinds.PSD):
        return constraint.expr - 0.5 * (step + step.T) >> 0
    if isinstance(constraint, kinds.Zero | kinds.Equality):
        return constraint.expr + step == 0
    return constraint.expr + step <= 0


def _at(shape: tuple[int, ...], entry: _Entry, u: Any) -> Any:
    """An array of 0 but for an entry of u, with the sign of the side."""
    if not shape:  # CVXPY's multiplier of a number may be an array of one
        return entry.side * u
    place = np.zeros(shape)
    place[entry.index] = entry.side
    return cp.multiply(place, u)


# ---- multipliers -----------------------------------------------------------------------------------------------------


def _of_multipliers(exercise: _Exercise, hand: Mapping[str, Any]) -> _Proving:
    """Verdict on multipliers beside optimal values."""
    numbers = {**exercise.reference, **hand}
    missed = _missed(exercise.model, numbers, exercise.tol, exercise.model.constraints.keys() - hand.keys())
    if missed is None:
        return _Proving(None, "")
    wrong = missed
    off = [] if missed else _off(exercise, hand)
    box = _box(exercise.model, numbers)[0]
    for entry in off:
        if _multiplier_proved_wrong(exercise, entry, box):
            wrong = f"the multiplier of {entry} {entry.words}"
            break
    if missed and (rounded := _rounded(exercise, hand)) and rounded.enough:
        return _Proving(True, f", to the digits given: optimal ones have these numbers to {rounded.words}")
    if wrong:
        return _Proving(False, _slip(hand, exercise.reference, "the multiplier of ") or wrong)
    return _Proving(True, f" to {exercise.digits} of the value" if off else "")


def _missed(model: Model, numbers: Mapping[str, Any], tol: float, left_out: Set[str] = frozenset()) -> str | None:
    """Reason why multipliers are wrong beside optimal values: an empty text if they are right, None if undecided.

    The Lagrangian has no terms of the signs that are left out: it must be least where these hold. Then they have
    multipliers that go with the others, as they are affine.

    They are optimal if their signs are right, those of constraints with room are 0, and the Lagrangian is least at the
    optimal values. It is convex, so a small box around these decides; what can be won in it is measured by what the
    objective and the constraints could win alone.
    """
    _, conditions = evaluate(model, numbers)
    for c in conditions:
        if not c.alone and c.wrong_sign.max(initial=0.0) > tol:
            allowed = "must not be negative" if c.product is None else "must lie in its cone"
            return f"the multiplier of {c.name} {allowed}"
        if not c.alone and c.not_complementary.max(initial=0.0) > tol:
            return f"the multiplier of {c.name} must be 0 where there is room"
    for name, constraint in model.constraints.items():
        if isinstance(constraint, cp.constraints.PSD) and _skew(numbers[name]) > tol:
            return f"the multiplier of {name} must be symmetric"
    objective = model.sense * model.problem.objective.expr
    priced_ones = {name: c for name, c in model.constraints.items() if name not in left_out}
    terms = [_term(constraint, numbers[name]) for name, constraint in priced_ones.items()]
    if any(term is None for term in terms) or any(v.is_complex() for v in model.variables.values()):
        return None
    box, radius = _box(model, numbers)
    priced = sum(terms, cp.Constant(0.0))
    won = sum(_won(part, box, model, numbers) for part in (objective, priced))
    size = BOX * radius + won
    box = [*box, *(constraint for name, constraint in model.constraints.items() if name in left_out)]
    both = cp.Problem(cp.Minimize(objective + priced), box)
    here = _value_at(both.objective.expr, model, numbers)
    _solve(both)
    proof = certify_problem(both, 1e-6)
    if here - proof.lower <= tol * size:
        return ""
    if here - proof.upper <= tol * size:
        return None
    falls = {
        name: _won(both.objective.expr, _alone(name, box, model, numbers), model, numbers) for name in model.variables
    }
    where = " and ".join(name for name, fall in falls.items() if fall > tol * size)
    at = f"stationary {f'in {where} ' if where else ''}at the optimum"
    signs = " and ".join(name for name in model.constraints if name in left_out)
    return f"no multipliers of {signs} make the Lagrangian {at}" if signs else f"the Lagrangian is not {at}"


def _skew(matrix: Any) -> float:
    """Deviation of a matrix, or a stack of them, from a hermitian one, relative to its largest entry."""
    M = np.asarray(matrix)
    apart = np.max(np.abs(M - np.conj(np.swapaxes(M, -2, -1))), initial=0.0)
    return float(apart / max(float(np.max(np.abs(M), initial=0.0)), np.finfo(float).tiny))


def _box(model: Model, numbers: Mapping[str, Any]) -> tuple[list[Any], float]:
    """Constraints that keep all variables near these numbers, and how near."""
    radius = BOX * (1.0 + max(float(np.max(np.abs(numbers[name]))) for name in model.variables))
    box = list[Any]()
    for name, variable in model.variables.items():
        box += [variable - numbers[name] <= radius, numbers[name] - variable <= radius]
    return box, radius


def _alone(name: str, box: list[Any], model: Model, numbers: Mapping[str, Any]) -> list[Any]:
    """The box in which one variable moves alone."""
    return box + [variable == numbers[other] for other, variable in model.variables.items() if other != name]


def _term(constraint: Any, multiplier: Any) -> Any:
    """Term that a constraint adds to the Lagrangian; None of kinds that are not covered."""
    kinds = cp.constraints
    if isinstance(constraint, kinds.Zero | kinds.Equality):
        return cp.sum(cp.multiply(multiplier, constraint.expr))
    if isinstance(constraint, kinds.Inequality | kinds.NonPos):
        return cp.sum(cp.multiply(np.maximum(multiplier, 0.0), constraint.expr))
    if isinstance(constraint, kinds.PSD):
        return -cp.sum(cp.multiply(multiplier, constraint.expr))
    if isinstance(constraint, kinds.SOC):
        return -sum(
            cp.sum(cp.multiply(np.reshape(m, a.shape), a)) for m, a in zip(multiplier, constraint.args, strict=True)
        )
    return None


def _value_at(expression: Any, model: Model, numbers: Mapping[str, Any]) -> float:
    """The value of an expression at these numbers, which the variables hold after that."""
    for name, variable in model.variables.items():
        variable.save_value(np.asarray(numbers[name], dtype=float))
    return float(np.squeeze(dense(expression.value)))


def _won(expression: Any, box: list[Any], model: Model, numbers: Mapping[str, Any]) -> float:
    """Decrease of an expression that is possible in a box around these numbers."""
    if not expression.variables():
        return 0.0
    here = _value_at(expression, model, numbers)
    problem = cp.Problem(cp.Minimize(expression), box)
    _solve(problem)
    return max(0.0, here - float(problem.value))


# ---- values ----------------------------------------------------------------------------------------------------------


def _of_values(
    exercise: _Exercise, proof: ProblemProof, values: Mapping[str, Any], right: bool | None
) -> tuple[Verdict, str] | None:
    """Grade of values that are wrong, or not proved; None where they are right."""
    certificate = proof.certificate
    assert certificate is not None
    if right is None:
        why = [certificate.missing(), no_slater_point(exercise.model)]
        return "undecided", f"Undecided: {'. '.join(filter(None, why))}".rstrip(".")
    slip = _slip(values, exercise.reference, "")
    hint = f" ({slip})" if slip else ""
    if right:
        for entry in [] if _is_exact(proof) else _off(exercise, values):
            verdict = _proved_wrong(exercise, entry)
            if verdict is not None:
                return verdict, f"{_wrong_entry(exercise, entry, proof, verdict)}{hint}"
        return None
    worst = max(proof.conditions, key=lambda c: float(c.infeasibility.max(initial=0.0)), default=None)
    if worst is not None and worst.infeasibility.max(initial=0.0) > exercise.tol:
        return "infeasible", f"Infeasible: {_violated(worst)}{hint}"
    best, value = proof.upper if np.isfinite(proof.upper) else proof.lower, certificate.primal_value
    if exercise.model.sense * (best - value) > 0.0 and _violation(proof):
        return (
            "infeasible",
            f"Infeasible: {_violation(proof)}, and the value, {told(value, proof)}, is better than the best{hint}",
        )
    best_told, value_told = told(best, proof), told(value, proof)
    if best_told == value_told:
        digits = next((k for k in range(6, 17) if f"{value:.{k}g}" != f"{best:.{k}g}"), 16) + 1
        best_told, value_told = f"{best:.{digits}g}", f"{value:.{digits}g}"
    return "not optimal", f"Not optimal: the value is {value_told}, and {best_told} is possible{hint}"


def _is_exact(proof: ProblemProof) -> bool:
    """Whether values are optimal to all digits of a certificate: then each entry is that of an optimum."""
    return proof.certificate is not None and proof.certificate.verdict(CERTIFY) == "optimal"


def _wrong_entry(exercise: _Exercise, entry: _Entry, proof: ProblemProof, verdict: Verdict) -> str:
    """Grade of an entry that is wrong where the value is right."""
    assert proof.certificate is not None
    violated = _violation(proof)
    more = f", and {violated}" if violated else ""
    if verdict == "infeasible":
        return f"Infeasible: {entry} {entry.words}; no feasible point has the first{more}"
    value = f"though the value, {told(proof.certificate.primal_value, proof)}, is right to {exercise.digits}"
    return f"Not optimal: {entry} {entry.words}, {value}{more}"


def _optimal_in_words(exercise: _Exercise, proof: ProblemProof, values: Mapping[str, Any]) -> str:
    """Sentence on right values: optimal, or to how many digits of what, and what they violate."""
    assert proof.certificate is not None
    violated, value = _violation(proof), told(proof.certificate.primal_value, proof)
    best = told(exercise.solved.certificate.primal_value, exercise.solved)  # type: ignore[union-attr]
    short = bool(violated) or (value != best and not _is_exact(proof))
    of_value = bool(_off(exercise, values))
    how_far = f" to {exercise.digits}{' of the value' if of_value else ''}" if of_value or short else ""
    where = f", where {best} is the best" if short else ""
    return f"the values are optimal{how_far} (value {value}{where}{f'; {violated}' if violated else ''})"


def _as_they_stand(proof: ProblemProof) -> str:
    """The value of rounded numbers, and what they violate."""
    assert proof.certificate is not None
    violated, value = _violation(proof), told(proof.certificate.primal_value, proof)
    return f"as they stand, the value is {value}{f' and {violated}' if violated else ''}"


def _violation(proof: ProblemProof) -> str:
    """The largest violation, where it is more than the rounding that certificates allow, else nothing."""
    worst = max(proof.conditions, key=lambda c: float(c.infeasibility.max(initial=0.0)), default=None)
    return "" if worst is None or worst.infeasibility.max(initial=0.0) <= CERTIFY else _violated(worst)


def _violated(condition: Condition) -> str:
    """Sentence on the size by which a condition is violated."""
    by = float(np.max(np.abs(condition.slack) if condition.equation else -condition.slack))
    return f"{condition.name} is violated by {by:.4g}"


def _slip(given: Mapping[str, Any], reference: Mapping[str, Any], what: str) -> str:
    """Which part of an answer is off by a sign or a factor 2, and nothing else is."""
    off = [name for name in given if not _near(given[name], reference[name])]
    for factor, words in SLIPS.items():
        if off and all(_near(given[name], _times(factor, reference[name])) for name in off):
            return f"{what}{' and '.join(off)} {words} the solver's"
    return ""


def _times(factor: float, value: Any) -> Any:
    return [_times(factor, part) for part in value] if isinstance(value, list) else factor * np.asarray(value)


def _near(a: Any, b: Any) -> bool:
    if isinstance(b, list):
        return all(map(_near, a, b))
    return bool(np.max(np.abs(a - b), initial=0.0) <= 1e-2 * (np.max(np.abs(b), initial=0.0) + 1e-6))
