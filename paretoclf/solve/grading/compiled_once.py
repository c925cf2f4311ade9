"""A problem that CVXPY compiles once, whatever becomes of its parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from paretoclf.solve.models.lazily import cp


def compiled_once(problem: cp.Problem) -> cp.Problem:
    """An equal problem, with its own cache of what was compiled, and DPP wherever it can be written so.

    CVXPY compiles what is not DPP at every value of the parameters. So a function of parameters becomes a parameter of
    its own, which follows; a quotient becomes a product; and where a parameter is the argument of another atom, a
    variable with an equation stands for it. What is left, as ``lam * entr(x / lam)``, is returned as it is.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.grading.compiled_once import compiled_once
    >>> x, lam = cp.Variable(), cp.Parameter(pos=True, value=2.0)
    >>> problem = cp.Problem(cp.Minimize(cp.square(x - 1) / (4 * lam) + cp.quad_over_lin(x, lam)))
    >>> problem.is_dpp(), compiled_once(problem).is_dpp()
    (False, True)
    """
    own = cp.Problem(problem.objective, problem.constraints)
    if own.is_dcp(dpp=True):
        return own
    for with_variables in (False, True):
        rewriting = _Rewriting(with_variables)
        objective = type(problem.objective)(rewriting.of(problem.objective.expr))
        constraints = [c if c.is_dcp(dpp=True) else rewriting.of(c) for c in problem.constraints]
        moving = cp.Problem(objective, [*constraints, *rewriting.equations])
        if moving.is_dcp(dpp=True):
            return moving
    return own


@dataclass
class _Rewriting:
    """An expression written anew, and the equations of the variables that stand for parameters in it."""

    with_variables: bool
    equations: list[Any] = field(default_factory=list)

    def of(self, part: Any) -> Any:
        """An expression or a constraint in which parameters stand where they may move."""
        if not part.parameters():
            return part
        if not part.variables():
            return following(part)
        if isinstance(part, cp.atoms.affine.binary_operators.DivExpression) and not part.args[1].variables():
            return cp.multiply(following(1 / part.args[1]), self.of(part.args[0]))
        arguments = [self.of(argument) for argument in part.args]
        if self.with_variables and isinstance(part, cp.atoms.atom.Atom) and not part.is_atom_affine():
            arguments = [self._held(argument) for argument in arguments]
        return part.copy(arguments)

    def _held(self, argument: Any) -> Any:
        """A variable in place of an argument that has parameters alone."""
        if argument.variables() or not argument.parameters():
            return argument
        variable = cp.Variable(argument.shape)
        self.equations.append(variable == argument)
        return variable


def following(expression: Any) -> Any:
    """Make a parameter whose value is that of an expression in other parameters."""
    if isinstance(expression, cp.Parameter):
        return expression
    signs = {"nonneg": expression.is_nonneg(), "nonpos": expression.is_nonpos()}
    sign = next(({name: True} for name, holds in signs.items() if holds), {})
    return cp.CallbackParam(lambda: expression.value, expression.shape, **sign)
