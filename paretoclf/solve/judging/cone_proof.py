"""From any convex ``cvxpy.Problem`` to a proof: safe bounds of its cone program, mapped back to its own names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, check_positive_number
from paretoclf.common.errors import InputError, SolveError
from paretoclf.common.tolerances import CERTIFY, SMALL_SIDES
from paretoclf.problem.convex import Convexity, not_convex, said_of_lack, said_of_shift
from paretoclf.proof.cones.cone_judge import (
    ConeBounds,
    ConeProgram,
    chosen_multipliers,
    cone_bounds,
)
from paretoclf.proof.cones.cone_kinds import Cone
from paretoclf.proof.cones.implied_bounds import implied_box
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.evidence import Condition, DualityTable, Judged, judge
from paretoclf.proof.verdicts.scale import Objective, Scale, largest_of_rows
from paretoclf.solve.judging.attribute_conditions import attributes_of
from paretoclf.solve.judging.candidates import numbers_of, other_points
from paretoclf.solve.judging.primal_and_dual import evaluate, finite, flat, held
from paretoclf.solve.models.attributes import readings_of_attributes
from paretoclf.solve.models.compiled_readings import raw
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Model, Numbers, conic_settings, problem_data

if TYPE_CHECKING:
    from paretoclf.solve.judging.unbounded import ProvedRay

#: What a variable is called that is not the user's, before the name of theirs that it was added for.
ADDED = "What CVXPY added for"


@dataclass(frozen=True, repr=False)
class ProblemProof:
    """What `verify` found of a ``cvxpy.Problem``.

    Attributes
    ----------
    status : {"optimal", "not optimal", "undecided", "infeasible", "unbounded"}
        The verdict on the point that the variables hold, at ``tol`` (see `Certificate.verdict`): it is not optimal only
        where a feasible point in hand is better, a constraint is violated, or the value is better than that of any
        feasible point; or where multipliers that were given with it are wrong. Or what is proved of a problem that has
        no solution.
    lower, upper : float
        Safe bounds on the optimal value; infinite where nothing is proved.
    certificate : Certificate or None
        That of the values that the problem holds: objective, gap to the lower bound, residual of every constraint by
        its label. Its ``multipliers`` are the residuals of those that the problem holds, which no verdict is about:
        who solves a problem for its values has not said anything of them.
        None where the problem has no solution.
    conditions : tuple of Condition
        The user's constraints, with their multipliers.
    unabsorbed : mapping of str to float
        Variables without a bound, and by how much the multipliers miss dual feasibility there; then there is no lower
        bound. The problem's own come first, then ``What CVXPY added for`` one of them.
    blame : mapping of str to float
        For an infeasible problem: constraints that contradict each other, with the size of their multipliers, the
        largest first.
    words : str
        What `explain` says where there is no certificate, and else of multipliers that were given.
    tol : float
        Tolerance of the verdict.
    dual : float
        How far multipliers that were given with the point are from those of any optimum; 0 where none were.
    of : str
        What was judged in place of a problem with integers, such as ``"the relaxation"``.
    ray : ProvedRay or None
        Of an unbounded problem: the direction, by variables, along which its objective has no bound.
    """

    status: str
    lower: float
    upper: float
    certificate: Certificate | None = None
    conditions: tuple[Condition, ...] = field(default=(), repr=False)
    unabsorbed: Mapping[str, float] = field(default_factory=dict)
    blame: Mapping[str, float] = field(default_factory=dict)
    words: str = ""
    tol: float = CERTIFY
    dual: float = 0.0
    of: str = ""
    ray: ProvedRay | None = None

    def passes(self) -> bool:
        """Whether the point is proved optimal to ``tol``, and multipliers that were given with it."""
        return self.status == "optimal"

    def with_multipliers(self, dual: float, words: str = "") -> ProblemProof:
        """The verdict on a point together with multipliers that are so far from optimal ones; nan is not known."""
        if self.status != "optimal" or dual <= self.tol:
            return replace(self, dual=dual, words=words)
        return replace(self, dual=dual, words=words, status="not optimal" if dual > self.tol else "undecided")

    @property
    def _wrong_dual(self) -> bool:
        """Whether the multipliers alone are why it does not pass."""
        return self.certificate is not None and self.dual > self.tol and self.certificate.verdict(self.tol) == "optimal"

    def duality_table(self) -> DualityTable:
        """Slack, multiplier and product of every constraint of the problem, the largest violation first."""
        return DualityTable.of(self.conditions)

    def explain(self, tol: float | None = None) -> str:
        """Say in words what is proved; at another tolerance than that of the verdict, if one is given."""
        if self.certificate is None:
            return self.words
        tol = self.tol if tol is None else tol
        said = f"{self.certificate.explain(tol)}{self._beside(tol)}"
        if self.dual > tol:
            by = f", multipliers that were given are off by {self.dual:.1e} of their terms" * (self.dual < np.inf)
            wrong = f"Not optimal: wrong dual{by}."
            said = f"Of the point alone: {said} Of both: {wrong}"
        elif not self.dual <= tol:
            said += " Undecided: the multipliers could not be judged."
        return f"{said} {self.words}".rstrip()

    def _beside(self, tol: float) -> str:
        """Name bounds of the optimal value from other points that are better than those of the point that is judged."""
        certificate = self.certificate
        if (
            certificate is None
            or certificate.verdict(tol) == "optimal"
            or not np.isfinite([self.lower, self.upper]).all()
        ):
            return ""
        return f" By other points the optimal value is proved to lie in [{self.lower:.10g}, {self.upper:.10g}]."

    def __repr__(self) -> str:
        at = "" if self.certificate is None else f" to {self.tol:.0e}{self._found()}"
        why = ": wrong dual" if self._wrong_dual else ""
        of = f" of {self.of}" if self.of else ""
        return f"ProblemProof({self.status}{of}{at}{why}, value in [{self.lower:.10g}, {self.upper:.10g}])"

    def _found(self) -> str:
        """Say how far off a point is that passes a larger tolerance than the default one, or is refuted."""
        if self.certificate is None or self.status == "undecided":
            return ""
        off_by, size = "off by", self.certificate.refuted
        if self.status == "optimal":
            off_by, size = "off by at most", self.certificate.off_by
        return f", {off_by} {size:.1e}" if CERTIFY < size < np.inf else ""


def is_problem(given: Any) -> bool:
    """Whether this is a ``cvxpy.Problem``."""
    return "cvxpy" in sys.modules and isinstance(given, cp.Problem)  # there is none before CVXPY is imported


def certify_problem(
    problem: cp.Problem, tol: float = CERTIFY, more: Callable[..., Iterable[tuple[Array, Array]]] | None = None
) -> ProblemProof:
    """Certify what a solved ``cvxpy.Problem`` holds, with safe bounds on its optimal value. No dual is needed.

    The problem is compiled to a cone program and that is solved once more, to 1e-12, for its multipliers (CVXPY keeps
    only those of the user's constraints). `paretoclf.proof.cones.cone_judge` makes bounds of them, without CVXPY, and
    has the argument and its assumptions. The values that the problem holds are then judged against these bounds,
    constraint by constraint; what the attributes of a variable say of it (``PSD=True``) is a constraint, too. Nothing
    is assigned to the variables. What is proved is about the compiled program: a mistake in the model stays one, and
    one in CVXPY's compiler too, unless the objective at the user's own values gives it away.

    Parameters
    ----------
    problem : cvxpy.Problem
        A convex problem that was solved, by whatever solver, or whose variables were given values. For a maximisation
        bounds and values have the signs that they have for the user; its multipliers those that CVXPY gives them, of
        minus the objective.
    tol : float
        Tolerance of the verdict.
    more : callable, optional
        Makes further points and multipliers of the compiled program, from it and those known; they are asked for where
        those leave it undecided.

    Returns
    -------
    ProblemProof

    Raises
    ------
    InputError
        If it is not convex, not solved, or has a cone that is not covered (power cones of more than three entries,
        integers).
    SolveError
        If the compiled program cannot be solved.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.judging.cone_proof import certify_problem
    >>> x = cp.Variable(2, name="x")
    >>> problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(cp.sum(x) >= 1).set_label("mass")])
    >>> value = problem.solve("CLARABEL")
    >>> proof = certify_problem(problem, tol=1e-6)
    >>> proof.status
    'optimal'
    >>> print(f"{proof.lower:.6f} {proof.upper:.6f} {proof.duality_table()[0].multiplier:.4f}")
    0.500000 0.500000 1.0000
    """
    tol = check_positive_number(tol, "tol")
    if not is_problem(problem):
        raise InputError(f"problem must be a cvxpy.Problem, got {problem!r:.200}")
    model = Model.of(problem, maximise=True, moving=False)
    model.check_parameters()
    model.check_continuous()
    if not model.variables:
        raise InputError("problem must have variables, got none")
    without_values = any(held(variable) is None for variable in model.variables.values())
    if problem.status is None and without_values:
        raise InputError(
            "problem must be solved first: call problem.solve(); or give every variable a value, or verify(problem, "
            "{'x': value}) its own"
        )
    compiled = _compile(model)
    compiled.check_convex(np.inf)
    if compiled.status in cp.settings.INF_OR_UNB:
        claim = _without_optimum(model, compiled)
        if claim.status != "undecided" or without_values:
            return _in_their_sense(claim, model.sense)
        # Not proved: what the problem holds may still be. Numbers of such a claim are a ray, and no point.
        compiled = replace(compiled, x=np.zeros_like(compiled.x), z=np.zeros_like(compiled.z))
    numbers = _held(model)
    bounds = cone_bounds(compiled.program, compiled.x, compiled.z, _others(compiled, numbers, more), 0.1 * tol)
    judged = judge_problem(model, numbers, compiled, bounds, tol)
    compiled.check_convex(tol * judged.certificate.scale)
    lower, upper = bounds.lower + compiled.offset, bounds.upper + compiled.offset
    certificate = replace(judged.certificate, tol=tol)
    unabsorbed = compiled.by_variable(bounds.unabsorbed)
    conditions = tuple(judged.conditions)
    proof = ProblemProof(certificate.verdict(tol), lower, upper, certificate, conditions, unabsorbed, tol=tol)
    return _in_their_sense(proof, model.sense)


def _without_optimum(model: Model, compiled: CompiledCone) -> ProblemProof:
    """Proof that there is no point, or a ray; undecided where neither is proved, though the solver says so."""
    if compiled.status.startswith("infeasible") or _without_points(model):  # with a ray besides, it may say either
        return _infeasible(_contradiction(model))
    from paretoclf.solve.judging.unbounded import proved_ray  # most problems have an optimum

    ray = proved_ray(compiled.program, compiled.x, compiled.columns, model)
    if ray is None:
        return _not_proved("unbounded")
    return ProblemProof("unbounded", -np.inf, np.inf, words=f"Unbounded {ray.side} if feasible: {ray}.", ray=ray)


def _others(
    compiled: CompiledCone, numbers: Mapping[str, Any], more: Callable[..., Iterable[tuple[Array, Array]]] | None
) -> Iterator[tuple[Array, Array]]:
    """Other points for the bounds, the user's own first; none is made before it is asked for."""
    others = compiled.others(numbers)
    own = next(others)
    yield own
    if more is not None:
        yield from more(compiled.program, [(compiled.x, compiled.z), own])
    yield from others


def _held(model: Model) -> dict[str, Any]:
    """Values and multipliers that the problem holds, as they are; multipliers may be missing."""
    numbers = {name: held(variable) for name, variable in model.variables.items()}
    missing = [name for name, value in numbers.items() if value is None]
    if missing:
        status = model.problem.status
        raise InputError(f"problem must hold a solution, got status {status!r} and no value of {missing[0]}")
    multipliers = {name: held(constraint) for name, constraint in model.constraints.items()}
    numbers |= {name: value for name, value in multipliers.items() if value is not None}
    infinite = [name for name, value in numbers.items() if not finite(value)]
    if infinite:
        raise InputError(f"problem must hold a solution, got a value of {infinite[0]} that is not finite")
    return numbers


def _in_their_sense(proof: ProblemProof, sense: int) -> ProblemProof:
    """Bounds on the optimal value of a maximisation, where those of minus its objective are known."""
    return proof if sense > 0 else replace(proof, lower=-proof.upper, upper=-proof.lower)


@dataclass(frozen=True)
class CompiledCone:
    """A cone program, the solver's raw point of it, and where the user's names and those of attributes are in it."""

    program: ConeProgram
    x: Array = field(repr=False)
    z: Array = field(repr=False)
    status: str
    offset: float
    columns: Mapping[str, Index]
    rows: Mapping[str, Index]
    convexity: Convexity | None = field(default=None, repr=False)
    attributes: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, model: Model, compiled: tuple[Any, Any, Any]) -> CompiledCone:
        """Cone program that CVXPY compiled (data, chain, inverse data), not solved yet."""
        data, chain, inverse = compiled
        n, m = data["c"].size, data["b"].size
        A, b, cones = data["A"], data["b"], cones_of(data)
        nothing = np.isposinf(b) & (np.repeat([c.kind for c in cones], [c.size for c in cones]) == "nonnegative")
        if nothing.any():  # x <= inf: a row that says 0 <= 1 has its place
            A, b = sp.diags_array(np.where(nothing, 0.0, 1.0)) @ sp.csc_array(A), np.where(nothing, 1.0, b)
        cost = data["c"]
        given = ConeProgram(data.get("P", sp.csc_array((n, n))), cost, A, b, cones)
        convexity = Convexity.of(given.P)
        program = given if convexity.shift is None else ConeProgram(convexity.P, cost, A, b, cones)
        starts = data["param_prob"].var_id_to_col
        # Symmetric variables are fewer numbers than entries: a block ends where the next begins.
        ends = dict(zip(sorted(starts.values()), [*sorted(starts.values())[1:], n], strict=True))
        renamed = chain.compose_var_id_map()  # a diagonal variable becomes a vector, a complex one two
        columns = {}
        for name, variable in model.variables.items():
            own = [starts[i] for i in renamed.get(variable.id, [variable.id]) if i in starts]
            if own:
                columns[name] = np.concatenate([np.arange(start, ends[start]) for start in own])
        offset, rows = float(inverse[-1][cp.settings.OFFSET]), _rows(model, chain, inverse, n, m)
        multipliers = readings_of_attributes(model, chain, inverse, n, m)
        return cls(program, np.zeros(n), np.zeros(m), "not solved", offset, columns, rows, convexity, multipliers)

    def solved(self, raw: Any, unit: tuple[float, float] = (1.0, 1.0)) -> CompiledCone:
        """With the numbers that Clarabel returned, in units of x and of z.

        Raises
        ------
        SolveError
            If they are none.
        """
        from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import CLARABEL

        x, z = unit[0] * np.asarray(raw.x), unit[1] * np.asarray(raw.z)
        if not (np.isfinite(x).all() and np.isfinite(z).all()):
            raise SolveError(f"CLARABEL returned {raw.status!s} and no numbers: try rescaled data")
        return replace(self, x=x, z=z, status=CLARABEL.STATUS_MAP.get(str(raw.status), cp.SOLVER_ERROR))

    def moved(self, q: Array, b: Array, offset: float) -> CompiledCone:
        """The program with other vectors; what was worked out of its matrices is kept."""
        return replace(self, program=self.program.moved(q, b), offset=offset)

    def others(self, numbers: Mapping[str, Any]) -> Iterator[tuple[Array, Array]]:
        """Other points for its bounds, the user's own first."""
        stalled = self.status != cp.OPTIMAL
        return other_points(self.program, (self.x, self.z), numbers, self.columns, self.rows, stalled)

    def check_convex(self, size: float) -> None:
        """InputError if P is not convex by more than rounding, and that may cost more than so much."""
        convexity = self.convexity
        if convexity is None or convexity.lacks is None:
            return
        cost = self.lost
        if not (np.isfinite(cost) and cost <= size):
            why = f", which may cost {cost:.2g}" if np.isfinite(cost) else ""
            raise not_convex(self.program.P, convexity.lacks, self.entry, why)

    @cached_property
    def lost(self) -> float:
        """The most that negative curvature of P may cost; infinite where the constraints do not bound its variables."""
        lacks = None if self.convexity is None else self.convexity.lacks
        if lacks is None:
            return 0.0
        low, high = implied_box(self.program)
        hollow = lacks > 0.0
        return 0.5 * float(lacks[hollow] @ (high - low)[hollow] ** 2) * (1 + 1e-9)

    def added(self, x: Array) -> float:
        """The amount that rounding took from the objective at a point, and that is added to it."""
        shift = None if self.convexity is None else self.convexity.shift
        return 0.0 if shift is None else 0.5 * float(shift @ x**2)

    def said_of(self, x: Array, scale: float) -> str:
        """Say how far P is from convex, at a point; nothing where it is proved convex as it is."""
        convexity, said = self.convexity, []
        if convexity is None:
            return ""
        if convexity.shift is not None:
            shift = convexity.shift
            own = self.program.P.diagonal() - shift
            share = shift / np.where(shift > 0, own, 1.0)
            said.append(said_of_shift(float(share.max()), self.added(x) / scale))
        if convexity.lacks is not None:
            said.append(said_of_lack(convexity.lacks, self.lost))
        return " ".join(said)

    def point_of(self, numbers: Mapping[str, Any]) -> Array:
        """The solver's point, with the entries that are known by name; what CVXPY added is the solver's."""
        x = self.x.copy()
        for name, at in self.columns.items():
            given = numbers_of(numbers.get(name), at.size)
            if given is not None:
                x[at] = given
        return x

    def entry(self, j: int) -> str:
        """Name of the entry of a variable that column j is; of one that CVXPY added, what it was added for."""
        for name, at in self.columns.items():
            if j in at:
                k = int(np.flatnonzero(at == j)[0])
                return f"{name}[{k}]" if at.size > 1 else name
        return self.variable(j)

    def variable(self, j: int) -> str:
        """Name of the variable that column j belongs to; of one that CVXPY added, the nearest of the user's."""
        own = {int(k): name for name, at in self.columns.items() for k in at}
        if j in own:
            return own[j]
        # Columns are neighbours where they are in one inequality or equation, or in one cone.
        program, entries = self.program, sp.coo_array(self.program.A)
        group = program.block_of_row
        shape = (int(group.max(initial=0)) + 1, program.q.size)
        used = sp.csr_array((np.ones(entries.nnz), (group[entries.row], entries.col)), shape)
        met = np.arange(program.q.size) == j
        for _ in range(program.q.size):
            near = used.T @ (used @ met) > 0
            if found := [own[k] for k in np.flatnonzero(near).tolist() if k in own]:
                return f"{ADDED} {found[0]}"
            met = near
        return f"auxiliary {j}"

    def by_variable(self, amounts: Mapping[int, float]) -> dict[str, float]:
        """Largest amount by name: the user's own variables, then what was added for them, the largest first."""
        found: dict[str, float] = {}
        for j, amount in amounts.items():
            name = self.variable(j)
            found[name] = max(found.get(name, 0.0), abs(amount))
        return dict(sorted(found.items(), key=lambda kv: (kv[0] not in self.columns, -kv[1])))

    def constraint(self, row: int) -> str:
        """Label of the constraint, or name of the attribute, that a row belongs to; empty where CVXPY added it."""
        known = {**self.rows, **{name: each.place for name, each in self.attributes.items()}}
        return next((name for name, at in known.items() if row in at), "")


def refuse_not_convex(model: Model) -> None:
    """InputError if the quadratic part of a problem, of which no solution is found, is not convex."""
    CompiledCone.of(model, _compiled_data(model)).check_convex(0.0)


def _in_units(data: Mapping[str, Any]) -> tuple[Mapping[str, Any], tuple[float, float]]:
    """CVXPY's data for Clarabel, and the units of x and of z in which they are neither small.

    A solver's tolerances are absolute. Sides that are all small are divided by the largest, and so is x. Of all cones
    the exponential one alone is another when its entries are divided.
    """
    length = float(np.abs(data["b"]).max(initial=0.0))
    if not 0.0 < length < SMALL_SIDES or data["dims"].exp:
        return data, (1.0, 1.0)
    moved = {key: length**power * data[key] for key, power in (("c", 1), ("P", 2)) if key in data}
    objective = max(float(abs(each).max()) for each in moved.values()) or 1.0
    costs = {key: each / objective for key, each in moved.items()}
    return {**data, **costs, "b": data["b"] / length}, (length, objective / length)


def _compile(model: Model) -> CompiledCone:
    found = _compiled_data(model)
    compiled, solver = CompiledCone.of(model, found), found[1].solver
    data, units = _in_units(found[0])
    raw = solver.solve_via_data(data, False, False, conic_settings("reference"))
    try:
        return compiled.solved(raw, units)
    except SolveError:
        compiled.check_convex(0.0)  # what is not convex has no numbers
        raise


def _compiled_data(model: Model) -> tuple[Any, Any, Any]:
    """Data, chain and inverse data."""
    try:
        # What is not DPP compiles with the values of its parameters in place of them: nobody moves them here.
        fixed = not model.problem.is_dcp(dpp=True)
        return problem_data(model.problem, ignore_dpp=fixed)
    except cp.SolverError as error:
        raise InputError(f"problem must compile to a cone program: {error}") from None


def cones_of(data: Mapping[str, Any]) -> list[Cone]:
    """The cones of what CVXPY compiled for Clarabel, in their order."""
    dims = data["dims"]
    if dims.pnd:
        raise InputError(
            "problem must have power cones of three entries only: write geo_mean or pnorm with approx=True"
        )
    plain = [Cone(kind, size) for kind, size in (("zero", dims.zero), ("nonnegative", dims.nonneg)) if size]
    stacked = [Cone("second-order", k) for k in dims.soc] + [Cone("psd", k) for k in dims.psd]
    powers = [Cone("power", 3, float(a)) for a in dims.p3d]
    return [*plain, *stacked, *[Cone("exponential")] * dims.exp, *powers]


def _rows(model: Model, chain: Any, inverse: Any, n: int, m: int) -> dict[str, Index]:
    """Where each constraint's multipliers stand: CVXPY's own inverse, applied to 1, ..., m."""
    duals = chain.invert(raw(np.zeros(n), np.arange(1.0, m + 1)), inverse).dual_vars or {}
    rows, kinds = {}, cp.constraints
    plain = kinds.Equality | kinds.Zero | kinds.Inequality | kinds.NonPos  # multipliers stand number by number
    for name, c in model.constraints.items():
        if isinstance(c, plain) and c.id in duals:
            at = flat(duals[c.id])
            if at.size and np.isfinite(at).all() and (at == at.round()).all() and at.min() >= 1:
                rows[name] = at.astype(int) - 1
    return rows


def judge_alone(model: Model, numbers: Mapping[str, Any], tol: float = CERTIFY) -> Judged:
    """Judge values and multipliers of a program that has no dual of its own; its parameters must have their values.

    Where they come with the cone program that they are the solution of, its raw point serves; else it is solved anew.
    Bounds need be no closer than tol.
    """
    known = numbers.cone if isinstance(numbers, Numbers) else None
    numbers = dict(numbers)
    try:
        compiled = _compile(model) if known is None else known()
        compiled.check_convex(np.inf)
        if compiled.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
            raise SolveError(f"CLARABEL calls the compiled program {compiled.status!r}")
    except (InputError, SolveError) as error:
        return _unproved(model, numbers, str(error))
    # A tenth of the tolerance is left to the value, which need not be that of the upper bound.
    bounds = cone_bounds(compiled.program, compiled.x, compiled.z, compiled.others(numbers), 0.9 * tol)
    return judge_problem(model, numbers, compiled, bounds, tol)


def judge_nothing(model: Model, numbers: Mapping[str, Any]) -> Judged:
    """Value and conditions of a point, and no bound."""
    return _unproved(model, dict(numbers), "No bound was asked for: certify=False.")


def _unproved(model: Model, numbers: Mapping[str, Any], why: str) -> Judged:
    value, conditions = evaluate(model, numbers)
    return _of_point(judge(value, -np.inf, conditions, numbers, scale=1.0, note=why), 0.0)


def judge_problem(
    model: Model, numbers: Mapping[str, Any], compiled: CompiledCone, bounds: ConeBounds, tol: float
) -> Judged:
    """Judge the values of a point by name against safe bounds; its multipliers are told apart."""
    try:
        theirs, conditions = evaluate(model, numbers)
    except TypeError as error:  # of CVXPY, whose indicator and suppfunc cannot be copied
        raise InputError(
            f"problem must hold no indicator and no suppfunc, write their constraints out: {error}"
        ) from None
    point = compiled.point_of(numbers)
    value = model.sense * theirs + compiled.added(point)
    stationarity, z = _stationarity(compiled, numbers, tol)
    stationarity = stationarity if model.constraints.keys() & numbers.keys() else {}  # of none that were given
    scale, (rounding, most) = _scale(compiled, point, value), _rounding(compiled, bounds, numbers)
    judged = judge(
        value,
        bounds.lower + compiled.offset,
        conditions,
        numbers,
        stationarity=stationarity,
        scale=scale.size,
        rounding=2.0 * rounding,
        note=f"{compiled.said_of(point, scale.size)} {_what_is_missing(compiled, bounds)}".strip(),
    )
    judged = judged.revised(
        primal_value=theirs,
        dual_value=model.sense * (bounds.lower + compiled.offset),
        relative_to=scale,
        residual_rounding=_residual_rounding(model, compiled, numbers, conditions),
    )
    beyond = value - bounds.upper - compiled.offset
    if judged.certificate.primal_residual > CERTIFY:  # what is bought by less, as solvers leave it, refutes nothing
        beyond = max(beyond, bounds.lower + compiled.offset - value)
    if attributes := attributes_of(model):
        judged = replace(judged, conditions=attributes.with_multipliers(conditions, numbers, compiled.attributes, z))
    return _of_point(judged, max(0.0, beyond - most))


def _rounding(compiled: CompiledCone, bounds: ConeBounds, numbers: Mapping[str, Any]) -> tuple[float, float]:
    """Bounds on the rounding of the point's value, and of that or of what multipliers make of rounded rows.

    Rows of the objective's own terms (of a maximum, of a norm) are rounded, too: all of them cost what the column costs
    that CVXPY added for the term. That is of the value. What each row costs by its multiplier is not: where multipliers
    are large it is a true error of a solver's point, and closes no gap.
    """
    program, terms, x = compiled.program, _terms(compiled), _reach(compiled, numbers)
    products = float(terms.sum() + np.abs(program.q) @ x + 0.5 * x @ (program.sizes[0] @ x))
    each = _row_rounding(program, x)
    of_sum, of_added = 4 * np.finfo(float).eps * terms.size * products, _rounding_of_added(compiled, each)
    return of_sum + of_added, of_sum + max(of_added, float(np.abs(bounds.z) @ each))


def _rounding_of_added(compiled: CompiledCone, of_rows: Array) -> float:
    """The most that rounding of rows can change columns that CVXPY added, times what these cost."""
    cost = np.abs(compiled.program.q)
    for own in compiled.columns.values():
        cost[own] = 0.0
    entries = sp.coo_array(compiled.program.A)
    rows, columns = entries.coords
    sizes = np.where(entries.data == 0.0, np.inf, np.abs(entries.data))
    moved = np.zeros(cost.size)
    np.maximum.at(moved, columns, of_rows[rows] / sizes)
    return float(cost @ moved)


def _what_is_missing(compiled: CompiledCone, bounds: ConeBounds) -> str:
    """Say why there is no lower bound: a variable without bounds."""
    if np.isfinite(bounds.lower):
        return ""
    names = compiled.by_variable(bounds.unabsorbed)
    worst = next(iter(names), "?")
    size, known = names.get(worst, np.nan), worst in compiled.columns
    rounding = np.finfo(float).eps * (1.0 + float(np.abs(compiled.program.q).max(initial=0.0)))
    by = f"miss dual feasibility there by {size:.1e}" if size > rounding else "are dual feasible there to rounding only"
    missed = f", and the multipliers {by}"
    what, remedy = f"The variable {worst}" if known else worst, "it" if known else worst.removeprefix(ADDED).strip()
    return f"{what} has no bounds that the constraints imply{missed}. Bound {remedy}."


def _of_point(judged: Judged, shortfall: float) -> Judged:
    """The verdict is about the point: what its multipliers miss is told apart."""
    c = judged.certificate
    return judged.revised(dual={}, slackness={}, multipliers={**c.dual, **c.slackness}, shortfall=shortfall)


def _residual_rounding(
    model: Model, compiled: CompiledCone, numbers: Mapping[str, Any], conditions: Sequence[Condition]
) -> dict[str, float]:
    """Bound on the rounding of each constraint's violation, by the terms that its rows are sums of."""
    terms = _row_rounding(compiled.program, _reach(compiled, numbers))
    largest, found = float(terms.max(initial=0.0)), {}
    for c in conditions:
        rows = compiled.rows.get(c.name)
        unit = np.atleast_1d(c.slack_unit)
        if rows is None:
            found[c.name] = 0.0 if c.alone else float(np.max(largest / unit, initial=0.0))
        elif unit.size == rows.size:  # units are in NumPy's order, rows in CVXPY's; of complex ones real parts first
            parts = unit.reshape(-1, *model.constraints[c.name].shape)
            found[c.name] = float(np.max(terms[rows] / np.concatenate([part.ravel(order="F") for part in parts])))
        else:
            found[c.name] = float(terms[rows].max()) / float(np.min(unit))
    return found


def _row_rounding(program: ConeProgram, x: Array) -> Array:
    """Bound on the rounding of each row of ``b - Ax``."""
    lengths = np.diff(program.A.indptr) + 2
    return np.asarray(lengths * np.finfo(float).eps * (program.sizes[1] @ x + np.abs(program.b)))


def _reach(compiled: CompiledCone, numbers: Mapping[str, Any]) -> Array:
    """How large each entry of x is, of the point that is judged and of the solver's."""
    x = np.abs(compiled.x)
    for name, at in compiled.columns.items():
        given = np.abs(flat(numbers[name]))
        x[at] = np.maximum(x[at], given if given.size == at.size else given.max(initial=0.0))
    return x


def _scale(compiled: CompiledCone, point: Array, value: float) -> Scale:
    """The scale that the gap of a point is relative to."""
    program = compiled.program
    rows = largest_of_rows(program.A)
    objective = Objective(program.P, program.q, compiled.offset, rows, program.b)
    return objective.scale(point, value)


def _terms(compiled: CompiledCone) -> Array:
    """Sizes of what the two values are sums of at the solver's point."""
    program, x = compiled.program, compiled.x
    squares = 0.5 * x * (program.P @ x)
    sums = [program.q * x, squares, program.b * compiled.z, [compiled.offset]]
    return np.asarray(np.abs(np.concatenate(sums)))


def _stationarity(compiled: CompiledCone, numbers: Mapping[str, Any], tol: float) -> tuple[dict[str, float], Array]:
    """Residuals of stationarity of the user's multipliers, by variable, and all of these; the others are chosen."""
    program, z = compiled.program, compiled.z.copy()
    given = np.zeros(z.size, dtype=bool)
    for name, rows in compiled.rows.items():
        if name in numbers and flat(numbers[name]).size == rows.size:
            z[rows] = flat(numbers[name])
            given[rows] = True
    z, missed = chosen_multipliers(program, compiled.x, z, given, tol)
    found = {f"stationarity in {name}": float(missed[at].max(initial=0.0)) for name, at in compiled.columns.items()}
    added = np.delete(missed, np.concatenate([*compiled.columns.values(), np.zeros(0, dtype=int)]))
    return found | {"stationarity in what CVXPY added": float(added.max(initial=0.0))}, z


def _contradiction(model: Model) -> CompiledCone | None:
    """The constraints without a target, less those that can be left out one by one and leave them infeasible.

    None where no constraint has a variable.
    """
    kept = dict(model.constraints)
    for name in list(kept):
        fewer = {other: c for other, c in kept.items() if other != name}
        rest = _feasibility(fewer)
        if rest.variables and _compile(rest).status == cp.INFEASIBLE:
            kept = fewer
    least = _feasibility(kept)
    return _compile(least) if least.variables else None


def _without_points(model: Model) -> bool:
    """Whether the solver finds no point at all, whatever the objective."""
    alone = _feasibility(model.constraints)
    return bool(alone.variables) and _compile(alone).status.startswith("infeasible")


def _feasibility(constraints: Mapping[str, Any]) -> Model:
    problem = cp.Problem(cp.Minimize(0), list(constraints.values()))
    return Model(problem, {v.name(): v for v in problem.variables()}, constraints)


def _not_proved(claim: str) -> ProblemProof:
    return ProblemProof("undecided", -np.inf, np.inf, words=f"The solver says {claim}, which is not proved.")


def _infeasible(compiled: CompiledCone | None) -> ProblemProof:
    if compiled is None:
        return _not_proved("infeasible")
    from paretoclf.solve.judging.contradiction import contradiction  # most problems have a point

    found = contradiction(compiled.program, compiled.z, compiled.columns, compiled.constraint)
    if found is None:
        return _not_proved("infeasible")
    status, words, blame = found
    return ProblemProof(status, np.inf if status == "infeasible" else -np.inf, np.inf, blame=blame, words=words)
