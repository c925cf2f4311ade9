"""Strong duality of one problem: proved where a theorem holds whose conditions were checked; else measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from paretoclf.common.tolerances import SLATER_AFFINE, SLATER_STRICT
from paretoclf.solve.duals.construction.tree import Occurrence
from paretoclf.solve.judging.cone_proof import ProblemProof
from paretoclf.solve.judging.given_values import kept, proved, solved
from paretoclf.solve.judging.slater import no_slater_point, polyhedral, tightened
from paretoclf.solve.judging.value_words import told
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Model


@dataclass(frozen=True, repr=False)
class StrongDuality:
    """The relation of a problem and its dual, at the values that the parameters have.

    Attributes
    ----------
    kind : {"equal", "unbounded", "infeasible", "open"}
        ``equal``: the values are, and the dual is attained (the primal need not be). ``open``: nothing is known but
        what is measured.
    primal, dual : float
        Values of feasible points of both, best bounds in hand: the upper one of a minimised primal, the lower one of
        its dual.
    gap : float
        The true gap is at most this; infinite where nothing is proved.
    point : mapping of str to array
        A Slater point, by the names of the variables; empty where none was needed, or found.
    sentence : str
    """

    kind: str
    primal: float
    dual: float
    gap: float
    point: Mapping[str, Any] = field(default_factory=dict)
    sentence: str = ""

    def __str__(self) -> str:
        return self.sentence

    __repr__ = __str__


ALWAYS = "The dual never passes the primal (Fenchel-Young)."


def strong_duality(model: Model, dual: cp.Problem, atoms: tuple[Occurrence, ...], tol: float) -> StrongDuality:
    """The first theorem whose conditions are met, or what is measured."""
    sense = model.sense
    primal = proved(model.problem, tol)
    if primal.status == "unbounded":
        words = f"The dual is infeasible, and the primal unbounded if it is feasible. {primal.words}"
        return StrongDuality("unbounded", -sense * np.inf, np.nan, np.inf, {}, words)
    if primal.status == "infeasible":
        words = f"{primal.words} The dual is then unbounded, or infeasible too."
        return StrongDuality("infeasible", sense * np.inf, np.nan, np.inf, {}, words)
    other = proved(dual, tol)
    found = _measured(primal, other, sense, tol)
    # A feasible point of the dual bounds the primal, too.
    bound = primal.lower if sense > 0 else primal.upper
    bounded = np.isfinite(bound) or np.isfinite(found.dual)
    if not (bounded and np.isfinite(found.primal)):
        words = f"{found.sentence} {_OPEN.format('that the value is finite was not proved')} {no_slater_point(model)}"
        return replace(found, sentence=words.rstrip())
    if model.problem.is_qp():
        words = f"{ALWAYS} They are equal, and the dual is attained: a feasible LP or QP with a finite value."
        return replace(found, kind="equal", sentence=f"{words} {_told(primal, other)}.")
    point = slater_point(model, atoms)
    if point is not None:
        words = (
            f"{ALWAYS} They are equal, and the dual is attained: a Slater point was found and checked, strict in the "
            "constraints that are not polyhedral and inside the domain of every atom whose argument could leave it."
        )
        return replace(found, kind="equal", point=point, sentence=f"{words} {_told(primal, other)}.")
    words = f"{found.sentence} {_OPEN.format('no Slater point was found')} {no_slater_point(model)}"
    return replace(found, sentence=words.rstrip())


_OPEN = "No theorem is known to hold ({}): the gap may be real, or the dual unattained."


def _told(primal: ProblemProof, dual: ProblemProof) -> str:
    """Both values, each as far as its own proof goes."""
    return f"The primal's value is {_between(primal)}, the dual's {_between(dual)}"


def _between(proof: ProblemProof) -> str:
    """The value of a problem, as far as it is proved."""
    if not np.isfinite([proof.lower, proof.upper]).any():
        return "not bounded by a proof"
    if np.isfinite(proof.lower) and proof.upper - proof.lower <= 1e-5 * (1 + abs(proof.lower)):
        return told(proof.lower, proof)
    if not np.isfinite(proof.lower):
        return f"at most {proof.upper:.6g}"
    return (
        f"at least {proof.lower:.6g}" if not np.isfinite(proof.upper) else f"in [{proof.lower:.6g}, {proof.upper:.6g}]"
    )


def _value_at_point(proof: ProblemProof, bound: float, tol: float) -> tuple[float, bool]:
    """A value that a problem takes, and whether that is proved; else it is of a point that is feasible to tol."""
    if np.isfinite(bound):
        return bound, True
    known = proof.certificate
    if known is None or any(c.infeasibility.max(initial=0.0) > tol for c in proof.conditions):
        return float("inf"), False
    return float(known.primal_value), False


def _measured(primal: ProblemProof, dual: ProblemProof, sense: int, tol: float) -> StrongDuality:
    """The gap between points of both."""
    at, safe = _value_at_point(primal, primal.upper if sense > 0 else primal.lower, tol)
    bound, dual_safe = _value_at_point(dual, dual.lower if sense > 0 else dual.upper, tol)
    gap = np.inf
    if np.isfinite([at, bound]).all():
        gap = max(0.0, sense * (at - bound))
    how = "by proved bounds" if safe and dual_safe else f"at points that are feasible to {tol:.0e}"
    size = (
        f"{'at most' if safe and dual_safe else 'about'} {gap:.2g} here, {how}" if np.isfinite(gap) else "not bounded"
    )
    words = f"{ALWAYS} {_told(primal, dual)}; the gap is {size}."
    return StrongDuality("open", at, bound, gap, {}, words)


# --- A Slater point ------------------------------------------------------------------------------------------------


def slater_point(model: Model, atoms: tuple[Occurrence, ...]) -> dict[str, Any] | None:
    """A feasible point, strict in constraints that are not polyhedral and inside every atom's domain; None of none.

    It is searched with one slack for all of these, and checked with half of it.
    """
    slack = cp.Variable(name="slack")
    affine: list[Any] = []
    strict: list[Any] = []
    for constraint in model.constraints.values():
        (affine if polyhedral(constraint) else strict).append(constraint)
    for atom in atoms:
        for constraint in [] if _keeps_its_domain(atom.atom) else atom.atom._domain():
            (affine if type(constraint).__name__ in ("Equality", "Zero") else strict).append(constraint)
        if atom.row.name == "perspective":
            strict.append(atom.atom.args[0] >= 0)
    inner = [tightened(constraint, slack) for constraint in strict]
    for variable in model.variables.values():
        for attribute, sign in (("PSD", 1), ("NSD", -1)):
            if variable.attributes[attribute]:
                room = slack * np.eye(variable.shape[0])
                inner.append([sign * variable - room >> 0])
    if any(each is None for each in inner):
        return None
    moved = [c for each in inner if each for c in each]
    problem = cp.Problem(cp.Maximize(slack), [*affine, *moved, slack <= 1])
    if not problem.is_dcp():
        return None
    with kept(model.problem):
        try:
            status = solved(problem).status
        except cp.SolverError:
            return None
        if status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE) or float(slack.value) < SLATER_STRICT:
            return None
        slack.save_value(np.asarray(0.5 * float(slack.value)))
        sizes = [float(np.abs(variable.value).max(initial=0)) for variable in problem.variables()]
        size = 1 + max(sizes, default=0.0)
        if not all(_inside(c) for c in moved):
            return None
        if any(np.max(c.violation(), initial=0.0) > SLATER_AFFINE * size for c in affine):
            return None
        values = {name: v.value for name, v in model.variables.items()}
    point = {}
    for name, value in values.items():
        if value is None:  # a variable of the objective alone may be anything
            value = np.zeros(model.variables[name].shape)
        point[name] = np.array(value)
    return point


def _keeps_its_domain(atom: Any) -> bool:
    """Whether an atom of one argument takes what is at least 0, has an argument of that sign, and grows with it.

    So does abs(x)^1.5. It is the same function as with a finite atom in its place, max(s, 0)^1.5, which is convex and
    grows: no point need be inside a domain. A bound of an argument that is not concave could not be tightened, too.
    """
    if len(atom.args) != 1 or not (atom.is_atom_convex() and atom.is_incr(0) and atom.args[0].is_nonneg()):
        return False
    return all(
        type(bound).__name__ == "Inequality" and bound.args[0].is_zero() and bound.args[1] is atom.args[0]
        for bound in atom._domain()
    )


def _inside(constraint: Any) -> bool:
    """Whether a constraint is kept exactly at the values that its variables have."""
    kind = type(constraint).__name__
    if kind not in ("ExpCone", "PowCone3D"):
        with np.errstate(divide="ignore", invalid="ignore"):  # CVXPY divides by the length of a vector, which may be 0
            return bool(np.max(constraint.violation(), initial=0.0) <= 0)
    x, y, z = (np.asarray(arg.value, dtype=float) for arg in constraint.args[:3])
    if (y <= 0).any():
        return False
    if kind == "ExpCone":
        if (z <= 0).any():
            return False
        return bool((x / y <= np.log(z / y)).all())
    alpha = np.asarray(constraint.alpha.value, dtype=float)
    if (x <= 0).any():
        return False
    mean = x**alpha * y ** (1 - alpha)
    return bool((mean >= np.abs(z)).all())
