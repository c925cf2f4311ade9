r"""The conditions of Karush, Kuhn and Tucker at a point and multipliers that somebody worked out, one by one.

Stationarity says that 0 is in the subdifferential of the Lagrangian at the point. Its residual is the least element of
that set: the gradient where there is one. At a kink it is that of

.. math:: \min_d\; g^\top d+\tau^{-1}[h(x+\tau d)-h(x)]+\tfrac12|d|^2,

where h are the terms with a kink and g is the gradient of the others: for a small step :math:`\tau` minus the least
element. With any step it never says more than that element, and is 0 only where that is.

Multipliers of signs and bounds that were not given are chosen: those that make the residual least, at least 0, and 0
where there is room.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from paretoclf.common.checks import Array
from paretoclf.common.tables import SHOWN, Tabular, listing
from paretoclf.common.tolerances import SOLVER_FAST, SOLVER_MIDDLE, SOLVER_REFERENCE
from paretoclf.proof.verdicts.evidence import Condition
from paretoclf.solve.judging.primal_and_dual import evaluate
from paretoclf.solve.models.attributes import attribute_constraints
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Model, dense, settings_at

PRIMAL, DUAL, SLACKNESS = "primal feasibility", "dual feasibility", "complementary slackness"
STATIONARITY = "stationarity"
CONDITIONS = (PRIMAL, DUAL, SLACKNESS, STATIONARITY)

#: Atoms that have a gradient wherever they have a finite value of their arguments' interior.
_SMOOTH = {"exp", "log", "log1p", "logistic", "entr", "kl_div", "rel_entr", "xexp", "huber", "log_sum_exp", "log_det"}
_SMOOTH |= {"Power", "PowerApprox", "quad_over_lin", "QuadForm", "SymbolicQuadForm", "GeoMean", "GeoMeanApprox"}

#: Atoms with kinks where an argument, or the atom itself, is 0.
_KINKED_AT_0 = {"abs", "norm1", "Pnorm", "PnormApprox"}

#: How many entries a sentence names; more are counted.
NAMED = 6

#: What counts as a kink's place, relative to 1 + the point.
_AT_KINK = 1e-6

#: The steps by which a kink is looked at, relative to 1 + the point.
_STEPS = (1.0, 1e-2, 1e-4)

#: Residuals of this share of their terms are rounding, and shown as 0.
_ROUNDING = 16.0 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class KKTResidual:
    """One of the conditions, of a constraint or a variable: the entry that misses it most, and all that miss it.

    Attributes
    ----------
    condition : {"primal feasibility", "dual feasibility", "complementary slackness", "stationarity"}
    of : str
        A constraint's label or, of stationarity, a variable's name.
    entry : str
        The entry that misses it most, ``low[1]``; the name alone of a number.
    by : float
        The violation of the constraint; the size of a multiplier of the wrong sign; the product of slack and
        multiplier; the entry of the Lagrangian's gradient. nan where it is not known.
    relative : float
        The share of 1 + the largest term; of complementary slackness the smaller of the shares of slack and multiplier.
    missed_by : tuple of str
        All entries that miss it by more than the table's ``tol``, or of which it is not known.
    size : int
        How many entries there are.
    """

    condition: str
    of: str
    entry: str
    by: float
    relative: float
    missed_by: tuple[str, ...] = ()
    size: int = 1

    def holds(self, tol: float) -> bool:
        """Whether the condition holds to a tolerance."""
        return bool(self.relative <= tol)

    @property
    def words(self) -> str:
        """The part of a sentence on a condition that fails."""
        if np.isnan(self.relative):
            return f"{self.condition} of {self.of} is not known"
        by = f"by {self.by:.4g} ({self.relative:.2g} of its terms)"
        if len(self.missed_by) < 2:
            return f"{self.condition} of {self.entry} fails {by}"
        return f"{self.condition} of {self.which} fails, most in {self.entry}, {by}"

    @property
    def which(self) -> str:
        """The entries that miss it, by name where they are few and have names, else counted."""
        names = dict.fromkeys(self.missed_by)
        if len(names) == len(self.missed_by) <= NAMED:
            return ", ".join(names)
        every = "all" if len(self.missed_by) == self.size else f"{len(self.missed_by)} of"
        return f"{every} {self.size} entries of {self.of}"


@dataclass(frozen=True, repr=False)
class KKTTable(Tabular):
    """Conditions of Karush, Kuhn and Tucker by constraint and variable; prints as a table, with what fails below it.

    Attributes
    ----------
    residuals : tuple of KKTResidual
        All conditions, in the order of the constraints.
    tol : float
        What counts, relative to the terms.
    inferred : mapping of str to array
        Multipliers of signs and bounds that were not given, by the names of these constraints: those that stationarity
        leaves. Empty where there is a kink, at which none is computed.
    """

    residuals: tuple[KKTResidual, ...]
    tol: float
    inferred: Mapping[str, Any]

    @property
    def fails(self) -> tuple[KKTResidual, ...]:
        """The residuals that are too large, or not known."""
        return tuple(each for each in self.residuals if not each.holds(self.tol))

    @property
    def holds(self) -> bool:
        """Whether all conditions hold to ``tol``; then the point and the multipliers are optimal, to that."""
        return not self.fails

    def _rows(self) -> Iterator[dict[str, Any]]:
        for name in dict.fromkeys(each.of for each in self.residuals):
            own = {each.condition: _shown(each) for each in self.residuals if each.of == name}
            wrong = [each for each in self.fails if each.of == name]
            told = {"fails": ", ".join(each.condition for each in wrong)}
            told["fails_of"] = "; ".join(dict.fromkeys(each.which for each in wrong))
            yield {"of": name, **{kind: own.get(kind, np.nan) for kind in CONDITIONS}, **told}

    def _title(self) -> str:
        return " ".join(filter(None, [self._what_fails(), self._chosen()]))

    def _what_fails(self) -> str:
        """The sentence on conditions that fail."""
        told = "; ".join(each.words for each in self.fails)
        if not told:
            return f"All conditions hold to {self.tol:.0e}."
        others = f"; the others hold to {self.tol:.0e}" if len(self.fails) < len(self.residuals) else ""
        return f"{told[0].upper()}{told[1:]}{others}."

    def _chosen(self) -> str:
        """The sentence on multipliers that were not given."""
        told = [
            f"{name} = {np.round(value, 4).tolist()}" for name, value in self.inferred.items() if np.size(value) < 7
        ]
        more = f": {', '.join(told)}" if len(told) == len(self.inferred) else ""
        return f"Multipliers that were not given are those that stationarity leaves{more}." if self.inferred else ""

    def __repr__(self) -> str:
        rows = list(self._rows())
        width = max(10, *(len(row["of"]) for row in rows))
        head = "  ".join([f"{'':<{width}}", *CONDITIONS])
        lines = []
        for row in rows[:SHOWN]:
            cells = [_cell(row[kind], kind in row["fails"]).rjust(len(kind)) for kind in CONDITIONS]
            lines.append("  ".join([f"{row['of']:<{width}}", *cells]).rstrip())
        return listing(head, lines, len(rows), self._title())


def _shown(residual: KKTResidual) -> float:
    """A residual without rounding."""
    return 0.0 if residual.relative <= _ROUNDING else residual.by


def _cell(value: float, fails: bool) -> str:
    """A number, with a star where the condition fails; nothing where there is no such condition."""
    if np.isnan(value):
        return "? *" if fails else "-  "
    return f"{value:.4g}{' *' if fails else '  '}"


def kkt_table(model: Model, numbers: Mapping[str, Any], left_out: Set[str], tol: float) -> KKTTable:
    """The conditions at given numbers, which the variables hold after that; multipliers of some were not given.

    Parameters
    ----------
    model : Model
        A problem; its variables' attributes are constraints whose multipliers were not given.
    numbers : mapping of str to array
        Values of all variables, and multipliers of all constraints but those that were left out.
    left_out : set of str
        Inequalities, entry by entry, whose multipliers are chosen.
    tol : float
        What counts, relative to the terms.
    """
    for name, variable in model.variables.items():
        variable.save_value(np.asarray(numbers[name]))
    _, conditions = evaluate(model, numbers)
    attributes = {n: c for v in model.variables.values() for n, c in attribute_constraints(v).items()}
    free = {**{name: c for name, c in model.constraints.items() if name in left_out}, **attributes}
    found = list[KKTResidual]()
    for c in conditions:
        shape = model.constraints[c.name].shape if c.name in model.constraints else None
        own = list(_of_constraint(c, shape, tol, alone=c.alone or c.name in free))
        if c.name in model.constraints or c.name in free or not own[0].holds(tol):  # symmetry and domains, if missed
            found += own
    stationary = _Stationarity(model, numbers, free, {c.name: c for c in conditions}, tol)
    residuals, inferred = stationary.residuals()
    return KKTTable((*found, *residuals), tol, inferred)


def _of_constraint(c: Condition, shape: tuple[int, ...] | None, tol: float, alone: bool) -> Iterator[KKTResidual]:
    """Three residuals of a constraint; of an equation, and where no multiplier was given, the first."""
    missed = np.abs(c.slack) if c.equation else np.maximum(-c.slack, 0.0)
    yield _residual(PRIMAL, c.name, shape, tol, missed, c.infeasibility)
    if c.equation or alone:
        return
    yield _residual(DUAL, c.name, shape, tol, np.maximum(-c.multiplier, 0.0), c.wrong_sign)
    if c.product is not None:
        yield _residual(SLACKNESS, c.name, shape, tol, np.abs(c.product), c.not_complementary)
        return
    both = np.minimum(np.abs(c.slack / c.slack_unit), np.abs(c.multiplier / c.multiplier_unit))
    yield _residual(SLACKNESS, c.name, shape, tol, np.abs(c.products), both)


def _residual(
    condition: str, of: str, shape: tuple[int, ...] | None, tol: float, by: Array, relative: Array
) -> KKTResidual:
    """A condition's residual from those of its entries."""
    by, relative = np.ravel(by), np.ravel(relative)
    if not relative.size:
        return KKTResidual(condition, of, of, 0.0, 0.0, (), 0)
    fits = shape is not None and int(np.prod(shape)) == relative.size

    def entry(k: int) -> str:
        place = [int(each) for each in np.unravel_index(k, shape)] if shape and fits else []
        return f"{of}{place or ''}"

    k = int(np.argmax(np.where(np.isnan(relative), np.inf, relative)))
    missed = tuple(entry(k) for k in np.flatnonzero(~(relative <= tol)).tolist())
    return KKTResidual(condition, of, entry(k), float(by[k]), float(relative[k]), missed, relative.size)


def _unknown(name: str, variable: Any) -> KKTResidual:
    """The stationarity in a variable where it is not known."""
    nothing = np.full(variable.size, np.nan)
    return _residual(STATIONARITY, name, variable.shape, 0.0, nothing, nothing)


class _LagrangianTerm(NamedTuple):
    """A term of the Lagrangian: a weighted sum of entries, and what `_gradient` returns of it."""

    weight: Any
    expression: Any
    gradient: dict[str, Array]

    @property
    def is_smooth(self) -> bool:
        """Whether the gradient is known to be one, and not a subgradient of several."""
        has_one = bool(self.gradient) or not self.expression.variables()
        return has_one and _has_gradient(self.expression)


@dataclass(frozen=True)
class _Stationarity:
    """The Lagrangian at a point: its multipliers, and constraints whose multipliers are free."""

    model: Model
    numbers: Mapping[str, Any]
    free: Mapping[str, Any]
    conditions: Mapping[str, Condition]
    tol: float

    def residuals(self) -> tuple[list[KKTResidual], dict[str, Any]]:
        """The residual of each variable, and the multipliers that were chosen."""
        terms = self._terms()
        if terms is None:
            return [_unknown(name, variable) for name, variable in self.model.variables.items()], {}
        least, inferred = self._least(terms)
        units = self._units(terms)
        return [self._residual_in(name, least[name], units[name]) for name in self.model.variables], inferred

    def _terms(self) -> list[_LagrangianTerm] | None:
        """The terms of the Lagrangian; None where a variable, a constraint or an atom is not covered."""
        variables, weighted = self.model.variables, self._weighted()
        if weighted is None or any(v.is_complex() for v in variables.values()):
            return None
        found = []
        for weight, expression in weighted:
            gradient = _gradient(weight, expression, variables)
            if gradient is None:
                return None
            found.append(_LagrangianTerm(weight, expression, gradient))
        return found

    def _weighted(self) -> list[tuple[Any, Any]] | None:
        """The Lagrangian as weights of expressions; None of a kind of constraint that is not covered."""
        found = _summands(float(self.model.sense), self.model.problem.objective.expr)
        for name, constraint in self.model.constraints.items():
            if name in self.free:
                continue
            own = _products(constraint, self.numbers[name])
            if own is None:
                return None
            found += own
        return found

    def _units(self, terms: list[_LagrangianTerm]) -> dict[str, Array]:
        """1 + the largest term of each entry of the gradient, by variable."""
        units = {name: np.ones(v.size) for name, v in self.model.variables.items()}
        for term in terms:
            for name, part in term.gradient.items():
                units[name] = np.maximum(units[name], 1.0 + np.abs(part))
        return units

    def _least(self, terms: list[_LagrangianTerm]) -> tuple[dict[str, Array], dict[str, Any]]:
        """The least element of the subdifferential by variable, and the multipliers that were chosen for it."""
        smooth, kinked = list[_LagrangianTerm](), list[_LagrangianTerm]()
        for term in terms:
            (smooth if term.is_smooth else kinked).append(term)
        gradient = _sum([term.gradient for term in smooth], self.model.variables)
        if kinked or not all(isinstance(c, cp.constraints.Inequality) for c in self.free.values()):
            return _at_kink(gradient, kinked, self.free, self.model.variables), {}
        return self._chosen(gradient)

    def _chosen(self, gradient: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, Any]]:
        """The gradient with the multipliers of free inequalities that make it least, and these."""
        variables = self.model.variables
        found = {name: np.zeros(constraint.shape) for name, constraint in self.free.items()}
        places = list(self._without_room())
        whole = _joined(gradient, variables)
        if places:
            matrix = np.stack([_joined(self._gradient_of_entry(*place), variables) for place in places], axis=1)
            chosen, _ = nnls(matrix, -whole)
            whole = whole + matrix @ chosen
            for (name, entry), multiplier in zip(places, chosen.tolist(), strict=True):
                found[name].flat[entry] = multiplier
        ends = np.cumsum([v.size for v in variables.values()])[:-1]
        return dict(zip(variables, np.split(whole, ends), strict=True)), found

    def _without_room(self) -> Iterator[tuple[str, int]]:
        """Entries of free inequalities, by name and number: the others have the multiplier 0."""
        for name in self.free:
            c = self.conditions[name]
            active = np.ravel(c.slack <= self.tol * c.slack_unit)
            yield from ((name, entry) for entry in np.flatnonzero(active).tolist())

    def _gradient_of_entry(self, name: str, entry: int) -> dict[str, Array]:
        """The gradient of one entry of a free inequality by variable."""
        constraint = self.free[name]
        weight = np.zeros(constraint.shape)
        weight.flat[entry] = 1.0
        return _gradient(weight, constraint.expr, self.model.variables) or {}

    def _residual_in(self, name: str, least: Array, unit: Array) -> KKTResidual:
        """The residual in a variable of the least element of the subdifferential."""
        variable = self.model.variables[name]
        by = _in_numpys_order(np.abs(least), variable)
        return _residual(STATIONARITY, name, variable.shape, self.tol, by, by / _in_numpys_order(unit, variable))


def _summands(sign: float, expression: Any) -> list[tuple[Any, Any]]:
    """The terms of a sum, each with its sign: one with a kink says nothing of the others."""
    if type(expression).__name__ == "AddExpression" and all(e.shape == expression.shape for e in expression.args):
        return [term for e in expression.args for term in _summands(sign, e)]
    if type(expression).__name__ == "NegExpression":
        return _summands(-sign, expression.args[0])
    return [(np.full(expression.shape, sign), expression)]


def _products(constraint: Any, multiplier: Any) -> list[tuple[Any, Any]] | None:
    """The terms that a constraint adds to the Lagrangian, as weights of expressions; None of other kinds."""
    kinds = cp.constraints
    if isinstance(constraint, kinds.Zero | kinds.Equality | kinds.Inequality | kinds.NonPos):
        return [(multiplier, constraint.expr)]
    if isinstance(constraint, kinds.PSD | kinds.NonNeg):
        return [(-np.asarray(multiplier), constraint.args[0])]
    if isinstance(constraint, kinds.SOC):
        return [(-np.reshape(m, a.shape), a) for m, a in zip(multiplier, constraint.args, strict=True)]
    return None


def _gradient(weight: Any, expression: Any, variables: Mapping[str, Any]) -> dict[str, Array] | None:
    """The gradient of a weighted sum of entries by variable, in CVXPY's order; None where there is none.

    At a kink it is one of several: only sizes are taken from it. Of an atom of which CVXPY has none it is empty.
    """
    found = {}
    with np.errstate(all="ignore"):
        try:
            jacobians = expression.grad
        except NotImplementedError:
            return {}
    for name, variable in variables.items():
        if variable not in jacobians:
            continue
        jacobian = jacobians[variable]
        if jacobian is None:
            return None
        matrix = np.reshape(dense(jacobian), (variable.size, expression.size))
        own = matrix @ np.ravel(dense(weight), order="F")
        if not np.isfinite(own).all():
            return None
        if variable.is_symmetric() and variable.ndim == 2:
            square = own.reshape(variable.shape)
            own = np.ravel(0.5 * (square + square.T))
        if variable.attributes["diag"]:
            own = np.where(np.ravel(np.eye(*variable.shape)), own, 0.0)
        found[name] = own
    return found


def _sum(gradients: list[dict[str, Array]], variables: Mapping[str, Any]) -> dict[str, Array]:
    """The sum of gradients."""
    return {name: sum((g[name] for g in gradients if name in g), np.zeros(v.size)) for name, v in variables.items()}


def _joined(gradient: Mapping[str, Array], variables: Mapping[str, Any]) -> Array:
    """A gradient as one vector, variable after variable."""
    return np.concatenate([gradient.get(name, np.zeros(v.size)) for name, v in variables.items()])


def _has_gradient(expression: Any) -> bool:
    """Whether an expression is known to have a gradient at the values that its variables hold."""
    if not expression.args:
        return True
    name = type(expression).__name__
    if name in _KINKED_AT_0:
        looked_at = expression.args[0] if name in ("abs", "norm1") else expression
        size = np.abs(dense(looked_at.value))
        own = bool((size > _AT_KINK * (1.0 + size.max(initial=0.0))).all())
    else:
        own = name in _SMOOTH or isinstance(expression, cp.atoms.affine.affine_atom.AffAtom)
    return own and all(map(_has_gradient, expression.args))


def _at_kink(
    gradient: Mapping[str, Array], kinked: list[_LagrangianTerm], free: Mapping[str, Any], variables: Mapping[str, Any]
) -> dict[str, Array]:
    """The least element of the subdifferential, by the problem of the module's text; nan where it is not found.

    The first step is as long as the point: there the problem is well scaled. Shorter ones follow where 0 is not least.
    """
    found = {name: np.full(v.size, np.nan) for name, v in variables.items()}
    size = 1.0 + max(float(np.max(np.abs(v.value), initial=0.0)) for v in variables.values())
    for step in _STEPS:
        nearer = _moved_least(step * size, gradient, kinked, free, variables)
        if nearer is None:
            return found
        found = nearer
        if not any(entries.any() for entries in found.values()):
            return found
    return found


def _moved_least(
    step: float,
    gradient: Mapping[str, Array],
    kinked: list[_LagrangianTerm],
    free: Mapping[str, Any],
    variables: Mapping[str, Any],
) -> dict[str, Array] | None:
    """The solution of the problem of the module's text; None where it is not convex, or a solver is not sure of it."""
    moves = {name: _same_shape(v) for name, v in variables.items()}
    moved = {id(v): cp.Constant(dense(v.value)) + step * moves[name] for name, v in variables.items()}
    squares = [0.5 * cp.sum_squares(d) for d in moves.values()]
    linear = [cp.sum(cp.multiply(gradient[name].reshape(d.shape, order="F"), d)) for name, d in moves.items()]
    try:
        there = [term.expression.tree_copy(moved) for term in kinked]
    except AssertionError:  # of a perspective, which CVXPY cannot copy
        return None
    weights = [np.reshape(term.weight, term.expression.shape) for term in kinked]
    beyond = [cp.sum(cp.multiply(*pair) / step) for pair in zip(weights, there, strict=True)]
    rows = [_still_kept(constraint, moved, step) for constraint in free.values()]
    problem = cp.Problem(cp.Minimize(sum([*squares, *linear, *beyond])), rows)
    if not problem.is_dcp():  # a multiplier of the wrong sign
        return None
    for accuracy in (SOLVER_REFERENCE, SOLVER_MIDDLE, SOLVER_FAST):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of what is inaccurate, and not taken
                problem.solve(solver="CLARABEL", **settings_at(accuracy))
        except cp.SolverError:
            continue
        if problem.status == cp.OPTIMAL:
            return {name: _without_noise(np.ravel(dense(d.value), order="F")) for name, d in moves.items()}
    return None


def _same_shape(variable: Any) -> Any:
    """A variable of the same shape, symmetric or diagonal as the given one is."""
    if variable.attributes["diag"]:
        return cp.Variable(variable.shape, diag=True)
    return cp.Variable(variable.shape, symmetric=variable.ndim == 2 and variable.is_symmetric())


def _still_kept(constraint: Any, moved: Mapping[int, Any], step: float) -> Any:
    """A free constraint a step on, divided by the step; what is violated at the point may be violated as much there."""
    here, there = np.asarray(constraint.expr.value), constraint.expr.tree_copy(moved)
    if isinstance(constraint, cp.constraints.PSD):
        violated = max(0.0, -float(np.linalg.eigvalsh(0.5 * (here + here.T)).min()))
        return there / step + violated / step * np.eye(len(here)) >> 0
    return (there - np.maximum(here, 0.0)) / step <= 0


def _without_noise(entries: Array) -> Array:
    """Entries of a solver, in which what is below its noise after the division by the step is 0."""
    return np.where(np.abs(entries) < _AT_KINK, 0.0, entries)


def _in_numpys_order(entries: Array, variable: Any) -> Array:
    """Entries in CVXPY's order, in NumPy's."""
    return np.ravel(np.reshape(entries, variable.shape, order="F"))
