"""The dual of anybody's convex problem, in their own names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import check_bool, check_positive_number
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import CERTIFY
from paretoclf.solve.duals.compiled_dual import dual_of_compiled
from paretoclf.solve.duals.construction.dual_parts import Parts, checked, parts_of
from paretoclf.solve.duals.dual_page import derivation_of, latex_of, text_of
from paretoclf.solve.duals.elimination import simplified
from paretoclf.solve.duals.recovery import Recovered, recovered
from paretoclf.solve.duals.strong_duality import StrongDuality, strong_duality
from paretoclf.solve.duals.weak_duality import WeakDuality, judged, judged_dual, weak_duality
from paretoclf.solve.judging.cone_proof import is_problem
from paretoclf.solve.judging.given_values import by_name, kept
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Model


@dataclass(frozen=True, repr=False, eq=False)
class Dual:
    """The dual of a problem, as `dual` returns it.

    Attributes
    ----------
    primal : cvxpy.Problem
        The user's.
    problem : cvxpy.Problem
        The dual, of the other sense, with the same parameters; DPP where the primal is. Its equations are labelled
        ``coefficient of x`` by the variables of the primal.
    of : mapping of cvxpy.Constraint to cvxpy.Variable
        The multiplier of each constraint, with the sign that CVXPY gives its own; a tuple of variables for a cone. What
        `simplified` eliminated is an expression.
    multipliers : mapping of str to cvxpy.Variable
        The same by labels (``constraint k`` without one); those of attributes are ``x: nonneg``, ``x: lower bound``.
    names : mapping of str to array
        The user's arrays, by the names that a page gives them.
    """

    primal: cp.Problem
    problem: cp.Problem
    of: Mapping[Any, Any]
    multipliers: Mapping[str, Any]
    names: Mapping[str, Any] = field(default_factory=dict)
    _parts: Parts | None = None
    _first: Parts | None = None

    def _known(self) -> Parts:
        """The parts; InputError where there is a compiled program only."""
        if self._parts is None:
            raise InputError("the dual of the compiled program has numbers, and no names: pc.dual(problem) has a page")
        return self._parts

    def text(self) -> str:
        """The dual as a textbook writes it, in plain text.

        Examples
        --------
        >>> import cvxpy as cp, paretoclf as pc
        >>> x = cp.Variable(2, name="x")
        >>> mass = (cp.sum(x) == 1).set_label("mass")
        >>> print(pc.dual(cp.Problem(cp.Minimize(cp.sum_squares(x)), [mass])).text())
        maximise    - nu_mass - |y_1|^2 / 4
        over        nu_mass, y_1
        subject to  nu_mass 1 + y_1 = 0    (coefficient of x)
        """
        return text_of(self._known(), dict(self.names))

    def latex(self) -> str:
        r"""The page in LaTeX: an ``aligned`` environment, to stand in a display.

        Examples
        --------
        >>> import cvxpy as cp, paretoclf as pc
        >>> x = cp.Variable(name="x")
        >>> print(pc.dual(cp.Problem(cp.Minimize(cp.exp(x) - x))).latex())
        \begin{aligned}
        \text{maximise} \quad & - (y_{1} \log(y_{1}) - y_{1}) \\
        \text{subject to} \quad & - 1 + y_{1} = 0 \\
        & y_{1} \ge 0
        \end{aligned}
        """
        return latex_of(self._known(), dict(self.names))

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"

    def derivation(self) -> str:
        """How the dual comes about: Lagrangian, each conjugate with its inequality, coefficients, what was eliminated.

        Examples
        --------
        >>> import cvxpy as cp, paretoclf as pc
        >>> x = cp.Variable(name="x")
        >>> told = pc.dual(cp.Problem(cp.Minimize(cp.exp(x) - x))).derivation()
        >>> "y_1'u_1 <= 1 [exp(u_1)] + (y_1 log(y_1) - y_1)  if y_1 >= 0" in told
        True
        """
        known = self._known()
        if self._first is None:
            return derivation_of(known, dict(self.names))
        return derivation_of(self._first, dict(self.names), known)

    def simplified(self) -> Dual:
        """Eliminate the multipliers that a linear equation gives: an equal dual in fewer of them.

        Examples
        --------
        >>> import cvxpy as cp, numpy as np, paretoclf as pc
        >>> X, b = np.array([[1.0, 2.0], [3.0, 1.0], [0.0, 1.0]]), np.array([1.0, 2.0, 3.0])
        >>> w = cp.Variable(2, name="w")
        >>> lasso = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - b) / 2 + 3 * cp.norm1(w)))
        >>> print(pc.dual(lasso, names={"X": X, "b": b}).simplified().text())
        maximise    - b'y_1 - |y_1|^2 / 2
        over        y_1
        subject to  |X'y_1|_inf <= 3    (norm1)
        """
        first = self._first or self._known()
        parts = simplified(self._known())
        return replace(_of_parts(self.primal, parts, self.names), _first=first)

    def holds(self, tol: float = CERTIFY) -> StrongDuality:
        """Say how primal and dual compare at the values of the parameters: a theorem, or a measured gap.

        The dual never passes the primal. They are equal, and the dual is attained, where the value is finite and the
        primal is a linear or quadratic program, or a Slater point was found and checked. Nothing is assigned.

        Examples
        --------
        >>> import cvxpy as cp, paretoclf as pc
        >>> x = cp.Variable(name="x")
        >>> pc.dual(cp.Problem(cp.Minimize(cp.square(x - 3)), [x <= 1])).holds().kind
        'equal'
        """
        atoms = (self._first or self._known()).atoms
        return strong_duality(
            Model.of(self.primal, maximise=True, moving=False), self.problem, atoms, check_positive_number(tol, "tol")
        )

    def bound(self, x: Mapping[Any, Any], y: Mapping[Any, Any], tol: float = 1e-6) -> WeakDuality:
        """Weak duality at a pair of points, by the judge of `verify`: feasible points bound the optimal value.

        Parameters
        ----------
        x : dict from cvxpy.Variable or str to array
            A point of the primal.
        y : dict from cvxpy.Variable, cvxpy.Constraint or str to array
            A point of the dual: by its variables, their names, or the labels of constraints. What is not given is
            chosen, best for the dual; where nothing fits, that is said, and there is no bound.
        tol : float
            Feasibility, relative to the terms of each constraint.

        Examples
        --------
        >>> import cvxpy as cp, paretoclf as pc
        >>> x = cp.Variable(name="x")
        >>> top = (x <= 1).set_label("top")
        >>> dual = pc.dual(cp.Problem(cp.Minimize(cp.square(x - 3)), [top]))
        >>> found = dual.bound({"x": 0}, {"top": 2})
        >>> print(f"{found.dual_value:.4f} {found.primal_value:.4f} {found.gap:.4f}")
        3.0000 9.0000 6.0000
        """
        tol = check_positive_number(tol, "tol")
        primal = {v.name(): v for v in self.primal.variables()}
        points = by_name(x, primal, "x")
        own = {v.name(): v for v in self.problem.variables()}
        labelled = {label: part for label, part in self.multipliers.items() if isinstance(part, cp.Variable)}
        renamed = {}
        for key, value in y.items():
            part = self.of.get(key) if isinstance(key, cp.Constraint) else labelled.get(key, key)
            renamed[part.name() if isinstance(part, cp.Variable) else str(part)] = value
        duals = by_name(renamed, own, "y")
        sense = 1 if isinstance(self.primal.objective, cp.Minimize) else -1
        proof = judged(self.primal, points, tol, "x")
        dual_proof, why = judged_dual(self.problem, duals, tol)
        return weak_duality(proof, dual_proof, sense, tol, why)

    def primal_from(self, values: Mapping[Any, Any] | None = None) -> Recovered:
        """A primal point from multipliers: stationarity and complementary slackness, where they determine it.

        Parameters
        ----------
        values : dict from cvxpy.Variable or str to array, optional
            Values of all variables of ``problem`` that a page names; by default those that they hold.

        Examples
        --------
        >>> import cvxpy as cp, paretoclf as pc
        >>> x = cp.Variable(2, name="x")
        >>> mass = (cp.sum(x) == 1).set_label("mass")
        >>> dual = pc.dual(cp.Problem(cp.Minimize(cp.sum_squares(x)), [mass]))
        >>> found = dual.primal_from({"nu_mass": -1, "y_1": [1, 1]})
        >>> print(found, found.values["x"])
        x is determined by stationarity and complementary slackness. [0.5 0.5]
        """
        parts, first = self._known(), self._first or self._known()
        own = {v.name(): v for v in self.problem.variables()}
        given = {} if values is None else by_name(values, own, "values")
        variables = [*_variables(parts), *_variables(first)]
        with kept(self.problem, cp.Problem(cp.Minimize(0), [v == 0 for v in variables] or [])):
            for name, value in given.items():
                own[name].save_value(value)
            eliminated = {name: expression for name, expression, _ in parts.eliminated}
            for variable in _variables(first):
                if variable.name() in eliminated and variable.name() not in own:
                    variable.save_value(np.asarray(eliminated[variable.name()].value))
            missing = [v.name() for v in _variables(first) if v.value is None]
            if missing:
                raise InputError(f"values must have all multipliers, or the dual must be solved: {missing[0]} has none")
            return recovered(first)

    def __repr__(self) -> str:
        count = sum(v.size for v in self.problem.variables())
        sense = "maximise" if isinstance(self.problem.objective, cp.Maximize) else "minimise"
        return f"Dual({sense}, {count} numbers, multipliers of {', '.join(self.multipliers) or 'no constraint'})"


def _variables(parts: Parts) -> list[Any]:
    """Multipliers of constraints and of arguments."""
    places = [part for multiplier in parts.multipliers for part in multiplier.parts]
    places += [y for atom in parts.atoms for y in atom.ys]
    places += [parts.value, *(atom.w for atom in parts.atoms)]
    return list({v.id: v for place in places for v in place.variables()}.values())


def dual(problem: cp.Problem, names: Mapping[str, Any] | None = None, *, compiled: bool = False) -> Dual:
    """Derive the dual of a convex problem, in the user's names and with the user's parameters.

    Each atom that is not affine gets a variable v above it; with multipliers y of its arguments and w of v, the dual is
    the part of the Lagrangian without variables, less the conjugates ``(w a)*(y)`` of the atoms, where the coefficient
    of every variable is 0. No epigraph of the user's atoms and no compiled cone is in it.

    Parameters
    ----------
    problem : cvxpy.Problem
        Convex by CVXPY's rules. It need not be solved, and is left as it is.
    names : dict from str to array, optional
        Names for arrays in it, by which a page says them: ``{"X": X, "b": b}``.
    compiled : bool
        Derive the dual of the cone program that CVXPY compiles instead, at the values that parameters have: of atoms
        without a conjugate here, too, but in numbers without names.

    Returns
    -------
    Dual

    Raises
    ------
    InputError
        If the problem is not convex, has integers or complex numbers, or an atom or a cone that has no conjugate here:
        the message names it.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> X, b = np.array([[1.0, 2.0], [3.0, 1.0], [0.0, 1.0]]), np.array([1.0, 2.0, 3.0])
    >>> w, lam = cp.Variable(2, name="w"), cp.Parameter(nonneg=True, value=3.0, name="lam")
    >>> lasso = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - b) / 2 + lam * cp.norm1(w)))
    >>> dual = pc.dual(lasso, names={"X": X, "b": b})
    >>> print(dual.text())
    maximise    - b'y_1 - |y_1|^2 / 2
    over        y_1, y_2
    subject to  X'y_1 + y_2 = 0     (coefficient of w)
                |y_2|_inf <= lam    (norm1)
    >>> values = lasso.solve("CLARABEL"), dual.problem.solve("CLARABEL")
    >>> bool(abs(values[0] - values[1]) < 1e-6), dual.problem.is_dcp(dpp=True)
    (True, True)
    """
    if not is_problem(problem):
        raise InputError(f"problem must be a cvxpy.Problem, got {problem!r:.200}")
    model = Model.of(problem, maximise=True, moving=False)
    if check_bool(compiled, "compiled"):
        model.check_parameters()
        model.check_continuous()
        return Dual(problem, dual_of_compiled(model), {}, {}, _checked_names(names))
    arrays = _checked_names(names)
    return _of_parts(problem, parts_of(model, arrays), arrays)


def _checked_names(names: Mapping[str, Any] | None) -> dict[str, Any]:
    """Arrays by their names."""
    if names is None:
        return {}
    if not isinstance(names, Mapping) or not all(isinstance(name, str) for name in names):
        raise InputError(f'names must be a dict from names to arrays, {{"X": X}}, got {names!r:.200}')
    found = {}
    for name, given in names.items():
        try:
            dense = given.toarray() if sp.issparse(given) else given
            found[name] = np.asarray(dense, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"names must be of arrays of numbers, got {given!r:.100} for {name}") from None
    return found


def _of_parts(problem: cp.Problem, parts: Parts, names: Mapping[str, Any]) -> Dual:
    """The dual that these parts make."""
    made = checked(parts.built(), problem)
    whole, of = {}, {}
    for multiplier in parts.multipliers:
        own = multiplier.parts
        whole[multiplier.label] = own[0] if len(own) == 1 else own
        if multiplier.constraint is not None:
            of[multiplier.constraint] = whole[multiplier.label]
    return Dual(problem, made, of, whole, names, parts)
