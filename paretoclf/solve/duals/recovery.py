"""A primal point for given multipliers: linear equations for x, where conjugates have one maximiser, and slackness.

At optimal multipliers every argument of an atom maximises ``y'u - w a(u)``. Where that has one solution, or a ray of
them, it is a linear equation in x and in the values v of the atoms. Constraints with a positive multiplier hold as
equations. What these leave open, other conditions may still decide; it is said which part is open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg

from paretoclf.common.tolerances import ACTIVE_MULTIPLIER, RECOVERED_RANK
from paretoclf.solve.duals.construction.conjugates import is_number, number
from paretoclf.solve.duals.construction.dual_parts import Parts
from paretoclf.solve.duals.construction.multipliers import NONNEGATIVE, PSD, SECOND_ORDER
from paretoclf.solve.duals.construction.tree import Occurrence
from paretoclf.solve.models.lazily import cp

#: Equations ``B u = value + d v`` for an argument u (all in a row) and the values v of its atom.
Equations = list[tuple[int, Any, Any, Any]]


@dataclass(frozen=True, repr=False)
class Recovered:
    """A primal point from multipliers.

    Attributes
    ----------
    values : mapping of str to array
        By the names of the variables; ``nan`` at entries that are not determined.
    unique : bool
        Whether every entry is.
    missed : float
        What the equations miss, relative to their size: multipliers that are not optimal contradict each other.
    sentence : str
    """

    values: Mapping[str, Any]
    unique: bool
    missed: float
    sentence: str = field(default="")

    def __str__(self) -> str:
        return self.sentence

    __repr__ = __str__


def recovered(parts: Parts) -> Recovered:
    """The primal point that the values of the dual's variables determine."""
    unknowns = [*parts.variables.values(), *(atom.v for atom in parts.atoms)]
    starts = np.cumsum([0, *(v.size for v in unknowns)])
    bounds = zip(unknowns, starts[:-1], starts[1:], strict=True)
    where = {unknown.id: slice(begin, end) for unknown, begin, end in bounds}
    rows, sides, sizes = [], [], []

    def equal(left: Any, side: Any, constant: Any) -> None:
        """Take up equations ``left x + constant = side``; terms of either side are what a rounding is relative to."""
        rows.append(left)
        sides.append(side - constant)
        sizes.append(np.abs(side) + np.abs(constant))

    for atom in parts.atoms:
        for k, B, value, direction in equations_of(atom):
            matrix, constant = _linear(atom.args[k], unknowns, where)
            left = B @ matrix
            left[:, where[atom.v.id]] -= direction
            equal(left, value, B @ constant)
    for expression in (*_tight(parts), *_patterns(parts)):
        matrix, constant = _linear(expression, unknowns, where)
        equal(matrix, np.zeros(constant.shape), constant)
    total = int(starts[-1])
    A = np.vstack(rows) if rows else np.zeros((0, total))
    b = np.concatenate(sides) if sides else np.zeros(0)
    x, open_entries, missed = _solved(A, b, np.concatenate(sizes) if sizes else np.zeros(0))
    values, named = {}, []
    for name, variable in parts.variables.items():
        own = x[where[variable.id]].copy()
        free = open_entries[where[variable.id]]
        own[free] = np.nan
        values[name] = own.reshape(variable.shape, order="F")
        if free.any():
            part = f"{int(free.sum())} of {free.size} entries of " if free.size > 1 else ""
            named.append(f"{part}{name}")
    contradiction = "" if missed <= 1e-4 else f" The equations contradict each other by {missed:.1g} of their size."
    if not named:
        sentence = f"x is determined by stationarity and complementary slackness.{contradiction}"
    else:
        sentence = f"Not determined by stationarity and complementary slackness: {', '.join(named)}.{contradiction}"
    return Recovered(values, not named, missed, sentence)


def _linear(expression: Any, unknowns: list[Any], where: Mapping[int, slice]) -> tuple[Any, Any]:
    """Matrix and constant of an affine expression, by its values at unit vectors; nothing is assigned to variables.

    A variable with a pattern of zeros counts all entries: it has as many columns as others of its shape.
    """
    inside = {each.id for each in expression.variables()}
    own = [v for v in unknowns if v.id in inside]
    places = {id(v): cp.Parameter(v.shape) for v in own}
    for place in places.values():
        place.save_value(np.zeros(place.shape))
    moving = expression.tree_copy(places)
    constant = number(moving).ravel(order="F")
    matrix = np.zeros((expression.size, max(s.stop for s in where.values())))
    for v in own:
        place, begin = places[id(v)], where[v.id].start
        for entry in range(v.size):
            unit = np.zeros(v.size)
            unit[entry] = 1.0
            place.save_value(unit.reshape(v.shape, order="F"))
            matrix[:, begin + entry] = number(moving).ravel(order="F") - constant
        place.save_value(np.zeros(v.shape))
    return matrix, constant


def _solved(A: Any, b: Any, terms: Any) -> tuple[Any, Any, float]:
    """A least-squares solution, which entries are open, and what is missed relative to the equations' size."""
    size = np.abs(A).max(axis=1, initial=0.0) + terms
    used = size > 0
    size = size[used]
    A, b = A[used] / size[:, None], b[used] / size
    if not len(A):
        return np.zeros(A.shape[1]), np.ones(A.shape[1], dtype=bool), 0.0
    x = scipy.linalg.lstsq(A, b, cond=RECOVERED_RANK)[0]
    free = scipy.linalg.null_space(A, rcond=RECOVERED_RANK)
    size = 1 + np.abs(x).max(initial=0.0)
    missed = float(np.abs(A @ x - b).max() / size)
    return x, (np.abs(free).max(axis=1, initial=0.0) > np.sqrt(RECOVERED_RANK)), missed


def _tight(parts: Parts) -> list[Any]:
    """Expressions that vanish: equations, and constraints with a positive multiplier."""
    found = []
    for multiplier in parts.multipliers:
        values = [number(part) for part in multiplier.parts]
        size = max(float(np.abs(value).max(initial=0.0)) for value in values)
        if multiplier.cone == "free":
            found.append(multiplier.added[0])
        elif multiplier.cone == NONNEGATIVE:
            body, positive = multiplier.added[0], values[0].ravel(order="F") > ACTIVE_MULTIPLIER * (1 + size)
            if positive.any():
                found.append(cp.reshape(body, (body.size,), order="F")[np.flatnonzero(positive)])
        elif multiplier.cone == PSD:
            own = values[0]
            kept = np.where(np.abs(own) > ACTIVE_MULTIPLIER * (1 + size), own, 0.0)
            if kept.any():
                found.append(kept @ multiplier.added[0])
        elif multiplier.cone == SECOND_ORDER and values[0].size == 1 and size > 0:
            found += _on_ray(multiplier, values)
    return found


def _on_ray(multiplier: Any, values: list[Any]) -> list[Any]:
    """A point of a second-order cone that is orthogonal to a multiplier: on one ray, or 0."""
    s, z = float(values[0].ravel()[0]), values[1].ravel(order="F")
    minus_t, minus_X = (cp.reshape(e, (e.size,), order="F") for e in multiplier.added)
    if np.linalg.norm(z) < s * (1 - ACTIVE_MULTIPLIER):
        return [minus_t, minus_X]
    if s <= 0:
        return []
    minus_radius = cp.promote(minus_t[0], z.shape)
    return [minus_X + cp.multiply(z / s, minus_radius)]


def _patterns(parts: Parts) -> list[Any]:
    """Equations that attributes of variables are: symmetry, a diagonal, a pattern of zeros."""
    found = []
    for variable in parts.variables.values():
        said = variable.attributes
        if said["symmetric"] or said["PSD"] or said["NSD"]:
            found.append(variable - variable.T)
        if said["diag"]:
            found.append(cp.multiply(1 - np.eye(variable.shape[0]), variable))
        if said["sparsity"]:
            outside = np.ones(variable.shape)
            outside[variable.sparse_idx] = 0.0
            found.append(cp.multiply(outside, variable))
    return found


# --- What the maximisers of y'u - w a(u) are ------------------------------------------------------------------------


def equations_of(atom: Occurrence) -> Equations:
    """Linear equations for the arguments of an atom, where its weight and multipliers have values."""
    make = _ARGUMENTS.get(atom.row.name)
    if make is None or atom.numbers.get("turned"):
        return []
    w, ys = number(atom.w), [number(y) for y in atom.ys]
    if not np.isfinite(w).all():
        return []
    if not is_number(atom.w):  # of a weight that a solver left of 0 nothing follows
        size = 1 + max(float(np.abs(each).max(initial=0.0)) for each in (w, *ys))
        w = np.where(w > ACTIVE_MULTIPLIER * size, w, 0.0)
    return make(atom, w, ys)


def _entries(value: Any, known: Any, atom: Occurrence, with_v: Any | None = None, k: int = 0) -> Equations:
    """Entries of argument k that are known, or known multiples of the values of the atom."""
    known = np.broadcast_to(known, value.shape).ravel(order="F")
    places = np.flatnonzero(known)
    if not places.size:
        return []
    B = np.zeros((places.size, value.size))
    B[np.arange(places.size), places] = 1.0
    direction = np.zeros((places.size, atom.v.size))
    if with_v is not None:
        of_slice = _slice_of(atom, value.shape).ravel(order="F")
        multiples = np.ravel(with_v, order="F")[places]
        direction[np.arange(places.size), of_slice[places]] = multiples
    return [(k, B, np.nan_to_num(value.ravel(order="F"))[places], direction)]


def _slice_of(atom: Occurrence, shape: tuple[int, ...]) -> Any:
    """The number of the value of the atom that each entry of its argument belongs to."""
    if atom.v.size == 1:
        return np.zeros(shape, dtype=int)
    if atom.v.shape == shape:
        return np.arange(atom.v.size).reshape(shape, order="F")
    axis = atom.numbers["axis"]
    line = np.arange(atom.v.size)
    return np.broadcast_to(line[None, :] if axis == 0 else line[:, None], shape)


def _at_entries(w: Any, atom: Occurrence, shape: tuple[int, ...]) -> Any:
    """The weight at every entry of an argument."""
    return np.broadcast_to(w, atom.v.shape).ravel(order="F")[_slice_of(atom, shape)]


def _pointwise(inverse: Callable[..., Any]) -> Callable[..., Equations]:
    """Rows whose conjugate is smooth: the argument is a function of multiplier and weight."""

    def make(atom: Occurrence, w: Any, ys: list[Any]) -> Equations:
        y = ys[0]
        weight = _at_entries(w, atom, y.shape)
        with np.errstate(all="ignore"):
            u, known = inverse(y, weight, atom.numbers)
        return _entries(np.where(known, u, 0.0), known & np.isfinite(u), atom)

    return make


def _near(y: Any, edge: Any) -> Any:
    """Whether a multiplier is at the edge of its domain."""
    return np.abs(y - edge) <= ACTIVE_MULTIPLIER * (1 + np.abs(edge))


def _abs(atom: Occurrence, w: Any, ys: list[Any]) -> Equations:
    y, weight = ys[0], _at_entries(w, atom, ys[0].shape)
    edge = _near(np.abs(y), weight)
    inside = _entries(0 * y, ~edge, atom)
    return inside + _entries(0 * y, edge & (weight > 0), atom, np.sign(y))


def _pos(atom: Occurrence, w: Any, ys: list[Any]) -> Equations:
    y, weight = ys[0], _at_entries(w, atom, ys[0].shape)
    at_0, at_w = _near(y, 0 * y), _near(y, weight)
    inside = ~at_0 & ~at_w
    equal = _entries(0 * y, at_w & ~at_0, atom, np.ones(y.shape))
    return _entries(0 * y, inside, atom) + equal


def _norm1(atom: Occurrence, w: Any, ys: list[Any]) -> Equations:
    y = ys[0]
    edge = _near(np.abs(y), _at_entries(w, atom, y.shape))
    return _entries(0 * y, ~edge, atom)


def _norm_inf(atom: Occurrence, w: Any, ys: list[Any]) -> Equations:
    y = ys[0]
    return _entries(0 * y, ~_near(y, 0 * y), atom, np.sign(y))


def _norm2(atom: Occurrence, w: Any, ys: list[Any]) -> Equations:
    y = ys[0]
    axis = atom.numbers["axis"]
    long = np.sqrt((y**2).sum(axis=axis))
    edge = _at_entries(_near(long, w).astype(float), atom, y.shape) > 0
    weight = np.maximum(_at_entries(w, atom, y.shape), 1e-300)
    inside = _entries(0 * y, ~edge, atom)
    return inside + _entries(0 * y, edge & (weight > 1e-200), atom, y / weight)


def _max(atom: Occurrence, w: Any, ys: list[Any]) -> Equations:
    found: Equations = []
    for k, y in enumerate(ys):
        positive = ~_near(y, 0 * y)
        found += _entries(0 * y, positive, atom, np.ones(y.shape), k)
    return found


def _log_sum_exp(atom: Occurrence, w: Any, ys: list[Any]) -> Equations:
    y, weight = ys[0], _at_entries(w, atom, ys[0].shape)
    known = (y > 0) & (weight > 0)
    with np.errstate(all="ignore"):
        u = np.where(known, np.log(y / weight), 0.0)
    return _entries(u, known, atom, np.ones(y.shape))


def _quad_form(atom: Occurrence, w: Any, ys: list[Any]) -> Equations:
    if not np.all(w > 0):
        return []
    y, P = ys[0].ravel(order="F"), atom.numbers["P"]
    P = number(P) if isinstance(P, cp.Expression) else P
    return [(0, P, y / (2 * float(w)), np.zeros((y.size, atom.v.size)))]


def _eigenvalue(atom: Occurrence, w: Any, ys: list[Any]) -> Equations:
    """(u - v I) Y = 0."""
    Y = (ys[0] + ys[0].T) / 2
    n = Y.shape[0]
    matrix, direction = np.kron(Y.T, np.eye(n)), Y.ravel(order="F")[:, None]
    return [(0, matrix, np.zeros(n * n), direction)]


def _log_det(atom: Occurrence, w: Any, ys: list[Any]) -> Equations:
    Y = -(ys[0] + ys[0].T) / 2
    if not np.all(w > 0) or np.linalg.eigvalsh(Y)[0] <= 0:
        return []
    u = float(w) * np.linalg.inv(Y)
    return _entries(u, np.ones(u.shape, dtype=bool), atom)


def _tr_inv(atom: Occurrence, w: Any, ys: list[Any]) -> Equations:
    values, vectors = np.linalg.eigh(-(ys[0] + ys[0].T) / 2)
    if not np.all(w > 0) or values[0] <= 0:
        return []
    halves = np.sqrt(float(w)) * (vectors / np.sqrt(values))
    u = halves @ vectors.T
    return _entries(u, np.ones(u.shape, dtype=bool), atom)


def _power(y: Any, w: Any, numbers: Mapping[str, Any]) -> tuple[Any, Any]:
    p = numbers["p"]
    if p > 1:
        slope = np.abs(y) / (p * w)
        u = np.sign(y) * slope ** (1 / (p - 1))
        return u, (w > 0) & ((y > 0) | (np.log2(p) % 1 == 0))
    slope = -y / (np.abs(p) * w)
    return slope ** (1 / (p - 1)), (w > 0) & (y < 0)


def _half(y: Any, w: Any, numbers: Mapping[str, Any]) -> tuple[Any, Any]:
    """Maximiser u of y u - w a(u) for the atom a(u) = u^2, and where it is the only one."""
    return y / (2 * w), w > 0


def _huber(y: Any, w: Any, numbers: Mapping[str, Any]) -> tuple[Any, Any]:
    """Maximiser u of y u - w a(u) for the quadratic part of a Huber loss, and where it is the only one."""
    edge = _near(np.abs(y), 2 * numbers["M"] * w)
    return y / (2 * w), (w > 0) & ~edge


def _exp(y: Any, w: Any, numbers: Mapping[str, Any]) -> tuple[Any, Any]:
    """Maximiser u of y u - w a(u) for exp(u), and where it is the only one."""
    return np.log(y / w), (w > 0) & (y > 0)


def _logistic(y: Any, w: Any, numbers: Mapping[str, Any]) -> tuple[Any, Any]:
    """Maximiser u of y u - w a(u) for the logistic loss, and where it is the only one."""
    return np.log(y / (w - y)), (y > 0) & (y < w)


def _log(y: Any, w: Any, numbers: Mapping[str, Any]) -> tuple[Any, Any]:
    """Maximiser u of y u - w a(u) for -log(u), and where it is the only one."""
    return -w / y, (w > 0) & (y < 0)


def _log1p(y: Any, w: Any, numbers: Mapping[str, Any]) -> tuple[Any, Any]:
    """Logarithms of 1 and more."""
    return -w / y - 1, (w > 0) & (y < 0)


def _entropy(y: Any, w: Any, numbers: Mapping[str, Any]) -> tuple[Any, Any]:
    """Maximiser u of y u - w a(u) for u log(u), and where it is the only one."""
    return np.exp(y / w - 1), w > 0


_ARGUMENTS: dict[str, Callable[..., Equations]] = {
    "square": _pointwise(_half),
    "sum_squares": _pointwise(_half),
    "huber": _pointwise(_huber),
    "exp": _pointwise(_exp),
    "logistic": _pointwise(_logistic),
    "-log": _pointwise(_log),
    "-log1p": _pointwise(_log1p),
    "-entr": _pointwise(_entropy),
    "power even": _pointwise(_power),
    "power above 1": _pointwise(_power),
    "-power below 1": _pointwise(_power),
    "power below 0": _pointwise(_power),
    "abs": _abs,
    "pos": _pos,
    "norm1": _norm1,
    "norm_inf": _norm_inf,
    "norm2": _norm2,
    "max": _max,
    "maximum": _max,
    "log_sum_exp": _log_sum_exp,
    "quad_form": _quad_form,
    "lambda_max": _eigenvalue,
    "-log_det": _log_det,
    "tr_inv": _tr_inv,
}
