"""Multipliers that a linear equation gives are eliminated, as a textbook does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paretoclf.solve.duals.construction.adjoint import total
from paretoclf.solve.duals.construction.conjugates import EVEN, is_number, number
from paretoclf.solve.duals.construction.dual_parts import Parts
from paretoclf.solve.models.lazily import cp


@dataclass(frozen=True)
class _Term:
    """A term of an equation: a number times an expression."""

    factor: float
    expression: Any


def simplified(parts: Parts) -> Parts:
    """Parts of an equal dual in fewer multipliers."""
    tried: set[str] = set()
    while True:
        found = _next_elimination(parts, tried)
        if found is None:
            return _with_log_sum_exp(parts)
        name, variable, expression = found
        tried.add(name)
        equations = {other: g for other, g in parts.equations.items() if other != name}
        done = (*parts.eliminated, (variable.name(), expression, name))
        parts = put(replace(parts, equations=equations, eliminated=done), {id(variable): expression})


def _next_elimination(parts: Parts, tried: set[str]) -> tuple[str, Any, Any] | None:
    """An equation that gives one of its multipliers, with it and what it is.

    Slack multipliers come first, then those of norms and squares, whose sign does not matter.
    """
    candidates: list[tuple[Any, str, Any, Any]] = []
    even_atoms = [atom for atom in parts.atoms if atom.row.name in EVEN]
    even = {variable.id for atom in even_atoms for variable in atom.ys[0].variables()}
    for name, equation in parts.equations.items():
        if name in tried:
            continue
        terms = terms_of(equation)
        for k, term in enumerate(terms):
            variable = term.expression
            if not isinstance(variable, cp.Variable) or variable.shape != equation.shape or term.factor == 0:
                continue
            rest = terms[:k] + terms[k + 1 :]
            if any(_stands_in(variable, other.expression) for other in rest):
                continue
            slack = variable.id in _slack_multipliers(parts)
            sign = variable.is_nonneg() or bool(variable.attributes["PSD"])
            if sign and not slack:
                continue
            shares = [_scaled(-other.factor / term.factor, other.expression) for other in rest]
            solved = total(shares or [_zeros(variable)])
            rank = (not slack, variable.id not in even, len(solved.variables()))
            candidates.append((rank, name, variable, solved))
    if not candidates:
        return None
    _, name, variable, solved = min(candidates, key=lambda each: each[0])
    return name, variable, solved


def _stands_in(variable: Any, expression: Any) -> bool:
    """Whether a variable is one of those of an expression."""
    return variable.id in {each.id for each in expression.variables()}


def _zeros(variable: Any) -> Any:
    return cp.Constant(np.zeros(variable.shape))


def _scaled(factor: float, expression: Any) -> Any:
    """A number times an expression, without a factor 1."""
    if factor == 1:
        return expression
    if is_number(expression):
        return cp.Constant(factor * number(expression))
    return -expression if factor == -1 else factor * expression


def _slack_multipliers(parts: Parts) -> set[int]:
    """Multipliers with a sign that stand in one equation only, and in no other place: they say that it has a sign."""
    others = [parts.value, *(e for atom in parts.atoms for e in (atom.w, *atom.ys))]
    elsewhere = {v.id for e in others for v in e.variables()}
    counts: dict[int, int] = {}
    for equation in parts.equations.values():
        for variable in equation.variables():
            counts[variable.id] = counts.get(variable.id, 0) + 1
    once = {own for own, count in counts.items() if count == 1} - elsewhere
    every = [part for multiplier in parts.multipliers for part in multiplier.parts]
    return {part.id for part in every if isinstance(part, cp.Variable) and part.id in once}


def terms_of(expression: Any, factor: float = 1.0) -> list[_Term]:
    """The terms of a sum, each with its number."""
    kind = type(expression).__name__
    if kind == "AddExpression":
        return [term for arg in expression.args for term in terms_of(arg, factor)]
    if kind == "NegExpression":
        return terms_of(expression.args[0], -factor)
    if kind in ("multiply", "MulExpression"):
        left, right = expression.args
        plain = left.args[0] if type(left).__name__ == "Promote" else left
        if is_number(plain) and plain.size == 1 and right.shape == expression.shape:
            return terms_of(right, factor * float(number(plain).ravel()[0]))
    return [_Term(factor, expression)]


def put(parts: Parts, given: Mapping[int, Any]) -> Parts:
    """The parts with expressions in place of variables, by the id of the object."""

    def changed(expression: Any) -> Any:
        if not any(id(v) in given for v in expression.variables()):
            return expression
        if isinstance(expression, cp.Variable):
            return given[id(expression)]
        return expression.tree_copy(dict(given))

    atoms = []
    for atom in parts.atoms:
        ys = tuple(changed(y) for y in atom.ys)
        atoms.append(replace(atom, w=changed(atom.w), ys=ys))
    multipliers = [replace(m, parts=tuple(changed(part) for part in m.parts)) for m in parts.multipliers]
    equations = {name: changed(g) for name, g in parts.equations.items()}
    done = tuple((name, changed(e), of) for name, e, of in parts.eliminated)
    return replace(
        parts,
        value=changed(parts.value),
        atoms=tuple(atoms),
        equations=equations,
        multipliers=tuple(multipliers),
        eliminated=done,
    )


# --- Entropy: the multiplier of the sum is eliminated by its own minimum ---------------------------------------------


def _with_log_sum_exp(parts: Parts) -> Parts:
    """Parts without a free number that shifts all exponents of an entropy and stands nowhere else.

    The largest value of ``a t - w sum exp((r + t) / w - 1)`` over t is ``a w log a - a w log sum exp(r / w)``.
    """
    for k, atom in enumerate(parts.atoms):
        if atom.row.name != "-entr" or not is_number(atom.w) or np.ptp(number(atom.w)) or not number(atom.w).all():
            continue
        others = parts.atoms[:k] + parts.atoms[k + 1 :]
        for term in terms_of(atom.ys[0]):
            t = _shift(term)
            if t is None or abs(term.factor) != 1 or not _stands_nowhere_else(t, atom.ys[0], parts, others):
                continue
            in_value = [each for each in terms_of(parts.value) if each.expression is t]
            a = sum(each.factor for each in in_value) * term.factor
            if a <= 0:
                continue
            w = float(number(atom.w).ravel()[0])
            exponents = [each for each in terms_of(atom.ys[0]) if each.expression is not term.expression]
            rest = [_scaled(each.factor, each.expression) for each in exponents]
            r = total(rest or [_zeros(atom.ys[0])])
            level = cp.log_sum_exp(r if w == 1 else r / w)
            others_of_value = [each for each in terms_of(parts.value) if each.expression is not t]
            kept = [_scaled(each.factor, each.expression) for each in others_of_value]
            kept += [cp.Constant(a * w * np.log(a))] if a != 1 else []
            value = total([*kept, -level if a * w == 1 else -(a * w) * level])
            shift = term.factor * w * (1 + float(np.log(a)) - level)
            done = (*parts.eliminated, (t.name(), shift, f"{t.name()}: largest value"))
            free = tuple(m for m in parts.multipliers if all(part is not t for part in m.parts))
            return replace(parts, value=value, atoms=others, eliminated=done, multipliers=free)
    return parts


def _shift(term: _Term) -> Any | None:
    """The scalar variable that a term has at every entry, or None."""
    e = term.expression
    while type(e).__name__ in ("multiply", "MulExpression", "Promote", "reshape"):
        moving = [arg for arg in e.args if not is_number(arg)]
        still = [arg for arg in e.args if is_number(arg)]
        if len(moving) != 1 or any((number(arg) != 1).any() for arg in still):
            return None
        e = moving[0]
    return e if isinstance(e, cp.Variable) and e.size == 1 and not e.is_nonneg() else None


def _stands_nowhere_else(t: Any, exponents: Any, parts: Parts, others: tuple[Any, ...]) -> bool:
    """Whether a variable is only in the value, linearly, and once in these exponents."""
    places = [*parts.equations.values(), *(e for atom in others for e in (atom.w, *atom.ys))]
    if any(_stands_in(t, each) for each in places):
        return False
    linear = [each for each in terms_of(parts.value) if _stands_in(t, each.expression)]
    inside = [each for each in terms_of(exponents) if _stands_in(t, each.expression)]
    return len(inside) == 1 and all(each.expression is t for each in linear) and bool(linear)
