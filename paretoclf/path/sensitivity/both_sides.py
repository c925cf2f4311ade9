r"""Both sides of a point of a program, read off one certified basis: rates, how far they hold, and what ends them.

Where the data move, the levels of a basis (`paretoclf.path.sensitivity.optimal_basis`) move at rates; the first that
reaches 0 ends what holds. There the value bends, always, if only slacks reach 0, or only multipliers, and no other
level is 0:

- Before, the optimum is that of the rows of the basis alone. If their multipliers are positive at the end, it is their
  only one, and leaves the program with the slack: the value beyond is above the parabola.
- If slacks are positive at the end and a multiplier falls below 0, the row lets the optimum go to a better one: the
  value beyond is below the parabola.

Whether there is an optimum beyond, one more column of the factor says: what a slack that ends it is made of, or where
the optimum goes that a row lets go. Where levels are 0 to begin with, or several end at once, a side may be left open
(None): a path decides it (`paretoclf.path.sensitivity.one_sided`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.tolerances import CERTIFY
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.path.base.term_names import TermNames
from paretoclf.path.base.user_rows import LOWER, PRICED, UPPER, UserRows
from paretoclf.path.programs.path_ends import beyond_of
from paretoclf.path.sensitivity.optimal_basis import Basis, Movement, Within
from paretoclf.proof.programs.rays import judge_ray

#: Where nothing ends what holds, rounding alone must not be able to before so many units.
_FAR = 1e9

#: An end is known to this share of its distance, or not at all.
_KNOWN = 1e-8


@dataclass(frozen=True)
class OneSide:
    """One side of a point.

    Attributes
    ----------
    rate, bend : float
        How fast the user's optimal value grows in this direction, for a unit, and by how much that rate grows;
        the rate is infinite where there is no optimum beside the point.
    until : float
        In units: the value is one parabola from the point to there.
    after : str
        What happens there; empty where it holds for ever.
    """

    rate: float
    bend: float
    until: float
    after: str


@dataclass(frozen=True)
class Reach:
    """How far the levels of a basis let k movements go, in one direction.

    Attributes
    ----------
    until : array of shape (k,)
        Infinite where no level falls.
    known : bool array of shape (k,)
        Whether that is certain, and the basis optimal up to there.
    events : bool array of shape (m, k)
        Rows whose levels reach 0 there.
    still : bool array of shape (m, k)
        Rows whose levels are 0 all the way.
    """

    until: Array
    known: Mask
    events: Mask
    still: Mask

    @classmethod
    def of(cls, basis: Basis, rates: Within, sign: float, unit: Array) -> Reach:
        """The reach of movements, in units of which natural ones have ``unit`` (k,), along them or against them."""
        levels, weak = basis.optimum.rates, basis.weak[:, None]
        strict = (basis.inequality & ~basis.weak)[:, None]
        falls = Within(-sign * rates.middle, rates.radius)
        falling = strict & falls.is_positive
        with np.errstate(divide="ignore", invalid="ignore"):
            earliest = (levels.middle - levels.radius) / (np.abs(falls.middle) + falls.radius)
            latest = (levels.middle + levels.radius) / (falls.middle - falls.radius)
            about = levels.middle / falls.middle
        first, last, until = (_first_of(each, falling) for each in (earliest, latest, about))
        with np.errstate(invalid="ignore"):
            narrow = ~np.isfinite(until) | (last - first <= _KNOWN * until)
        maybe = strict & falls.is_zero & (falls.radius > 0.0)
        rounded = _first_of(earliest, maybe)
        certain = rounded > np.where(np.isfinite(last), last, _FAR * unit)
        stays = ~(weak & falls.is_positive).any(axis=0)
        known = narrow & certain & stays
        events = falling & (earliest <= last)
        still = weak & falls.is_zero
        return cls(until, known, events, still)


def _first_of(distances: Array, rows: Mask) -> Array:
    """The smallest distance of these rows for each movement; infinite where it has none of them."""
    return np.asarray(np.where(rows, distances, np.inf).min(axis=0, initial=np.inf))


@dataclass(frozen=True)
class Sequel:
    """The state beyond the point at which the level of a row has reached 0.

    Attributes
    ----------
    status : str
        ``"infeasible"`` or ``"unbounded"``, which is proved; ``"optimum"``; empty where it is not known.
    names : tuple of str
        Rows and variables because of which there is no optimum.
    falls : array of shape (m,), optional
        Without curvature: how fast levels fall in exchange. The row whose level is 0 first takes the other's place.
    """

    status: str
    names: tuple[str, ...] = ()
    falls: Array | None = None

    @property
    def none(self) -> bool:
        """Whether there is no optimum."""
        return self.status in ("infeasible", "unbounded")


def beyond_each(basis: Basis, rows: Index) -> dict[int, Sequel]:
    """Find the state beyond the point at which the level of each of these rows has reached 0.

    The slack of row k is of the others' if :math:`A_k` is a combination of the basis, and of nobody's else. Where a row
    of the basis lets the optimum go, it goes along a direction; another row may hold it.
    """
    line = basis.line
    q = np.zeros((line.n, rows.size))
    b = np.zeros((line.m, rows.size))
    inside = basis.active[rows]
    columns = np.arange(rows.size)
    q[:, ~inside] = -line.rows[rows[~inside]].toarray().T
    b[rows[inside], columns[inside]] = -1.0
    moved = basis.moved(q, b)
    found = {}
    for column, row in enumerate(rows.tolist()):
        after = _let_go if basis.active[row] else _met
        found[row] = after(basis, row, _column(moved, column))
    return found


def _column(moved: Movement, column: int) -> Movement:
    """One of the movements."""
    place = (slice(None), [column])
    return Movement(moved.x[place], moved.z[place], moved.rates[place])


def _met(basis: Basis, row: int, own: Movement) -> Sequel:
    """After a row that is not in the basis has become tight; ``own`` is what holds it."""
    if (-own.rates)[row].is_positive.any():  # the optimum gives way, against the curvature
        return Sequel("optimum")
    shares = own.z
    giving = (basis.inequality & basis.active) & shares.is_positive[:, 0]
    if (giving & basis.weak).any() or (giving.any() and basis.resting.any()):
        return _OPEN
    if giving.any():
        return Sequel("optimum", falls=np.where(giving, shares.middle[:, 0], 0.0))
    ray = np.where(shares.is_zero, 0.0, -shares.middle)[:, 0]
    ray[row] = 1.0
    return _none(basis.line, "infeasible", ray)


def _let_go(basis: Basis, row: int, own: Movement) -> Sequel:
    """After the multiplier of a row of the basis has become 0; ``own`` is where the optimum goes."""
    falls = -own.rates
    holding = (basis.inequality & ~basis.active) & falls.is_positive[:, 0]
    left = basis.dependent & ~falls.is_zero[:, 0]  # an equation that the row helped to imply holds it, too
    if (holding & basis.weak).any() or left.any():
        return _OPEN
    if own.rates[row].is_positive.any():  # not far, against the curvature
        return Sequel("optimum")
    if holding.any():
        return Sequel("optimum", falls=np.where(holding, falls.middle[:, 0], 0.0))
    ray = np.where(own.x.is_zero, 0.0, own.x.middle)[:, 0]
    return _none(basis.line, "unbounded", ray)


_OPEN = Sequel("")


def _partner(levels: Array, falls: Array | None) -> int:
    """The row whose level is 0 first where it falls; -1 where there is none, or more than one."""
    rows = np.zeros(0, dtype=np.int64) if falls is None else np.flatnonzero(falls)
    if falls is None or not rows.size:
        return -1
    steps = levels[rows] / falls[rows]
    first = rows[steps <= steps.min() * (1.0 + _KNOWN)]
    return int(first[0]) if first.size == 1 else -1


def _none(line: ProgramLine, status: str, ray: Array) -> Sequel:
    """The state in which there is no optimum, as far as a ray proves it."""
    proof = judge_ray(line, status, ray)
    if proof.residual > CERTIFY:
        return _OPEN
    return Sequel(status, beyond_of(line, status, ray, 0.0, proof).blame)


def sides(
    basis: Basis, q: Array, b: Array, unit: Array, terms: Callable[[], TermNames] = dict
) -> Iterator[tuple[OneSide | None, OneSide | None]]:
    """Both sides of k movements of the data, against and along them; None where the basis does not decide.

    Parameters
    ----------
    basis : Basis
    q, b : arrays of shape (n, k), (m, k)
        By what a unit changes the data.
    unit : array of shape (k,)
        A length that is natural for each.
    terms : callable
        Gives names of rows that are expressions of a largest or smallest one; it is asked where a text has need of it.

    Examples
    --------
    The least 2 x0 with x0 >= 3, and its bound moved:

    >>> import numpy as np
    >>> from paretoclf.engine.reduction.of_arrays import line_of
    >>> from paretoclf.path.sensitivity.optimal_basis import basis_at
    >>> from paretoclf.path.sensitivity.both_sides import sides
    >>> from paretoclf.problem.qp import QP
    >>> line = line_of(QP(None, [2.0], [[1.0]], [3.0], None), {}, {})
    >>> basis = basis_at(line, np.array([3.0]), np.array([2.0]))
    >>> list(sides(basis, np.zeros((1, 1)), np.array([[-1.0]]), np.ones(1)))[0][1]
    OneSide(rate=2.0, bend=0.0, until=inf, after='')
    """
    moved = basis.moved(q, b)
    sense = basis.line.sense
    levels = basis.optimum.rates.middle[:, 0]
    rates = sense * basis.rate(q, b).shown[:, 0] + 0.0
    of_costs = np.einsum("ij,ij->j", q, moved.x.shown)
    of_bounds = np.einsum("ij,ij->j", b, moved.z.shown)
    bends = sense * (of_costs - of_bounds) + 0.0
    both = tuple(Reach.of(basis, moved.rates, sign, unit) for sign in (-1.0, 1.0))
    met = np.any([(ends.events & ends.known).any(axis=1) for ends in both], axis=0)
    # Equations that the others imply, until the data move apart what they say: there is no optimum beside the point.
    apart = basis.dependent[:, None] & ~moved.rates.is_zero
    beyond = beyond_each(basis, np.flatnonzero(met | apart.any(axis=1)))
    words = Words(basis, terms)
    for k in range(q.shape[1]):
        if apart[:, k].any():
            first = int(np.flatnonzero(apart[:, k])[0])
            after, alone = beyond[first], not basis.resting[first]
            own = OneSide(sense * np.inf, 0.0, 0.0, words.none(after)) if after.none and alone else None
            yield own, own
            continue
        found = list[OneSide | None]()
        for sign, ends in zip((-1.0, 1.0), both, strict=True):
            until = float(ends.until[k])
            to_there = sign * until if np.isfinite(until) else 0.0
            levels_there = levels + to_there * moved.rates.middle[:, k]
            said = _after(basis, ends, k, beyond, words, levels_there)
            rate = float(sign * rates[k]) + 0.0
            found.append(None if said is None else OneSide(rate, float(bends[k]), until, said))
        yield found[0], found[1]


def _after(basis: Basis, ends: Reach, k: int, beyond: Mapping[int, Sequel], words: Words, levels: Array) -> str | None:
    """Say what ends the k-th movement, with these levels there; empty if nothing does, None if that is not decided."""
    if not ends.known[k]:
        return None
    events, still = np.flatnonzero(ends.events[:, k]), ends.still[:, k]
    inside = basis.active[events]
    if not events.size:
        return ""
    if inside.any() and not inside.all():  # a multiplier may pass from one row to another, and the value go on
        return None
    for row in events.tolist():
        if beyond[row].none:
            return words.none(beyond[row])
    own = beyond[int(events[0])]
    if events.size > 1 or own.status != "optimum":
        return None
    kind = basis.active if inside[0] or own.falls is None else ~basis.active
    if (still & kind).any() or (not inside[0] and (still & ~basis.active).any()):
        return None
    return words.exchange(int(events[0]), _partner(levels, own.falls))


@dataclass(frozen=True)
class Words:
    """Sentences on what becomes tight or free, in the user's names."""

    basis: Basis
    terms: Callable[[], TermNames] = dict

    @cached_property
    def rows(self) -> UserRows:
        """The user's rows and bounds."""
        return UserRows.of(self.basis.line)

    def none(self, beyond: Sequel) -> str:
        """Say that there is no optimum."""
        return f"{beyond.status} ({', '.join(beyond.names)})" if beyond.names else beyond.status

    def exchange(self, row: int, partner: int) -> str:
        """Text that says which of two rows becomes tight or free.

        The slack or multiplier of ``row`` has reached 0, that of ``partner`` (-1: none) grows from 0 in exchange.
        """
        said = [self._changed(each) for each in (row, partner) if each >= 0]
        return "; ".join(dict.fromkeys(said))

    def _changed(self, row: int) -> str:
        """Say what becomes of a row whose level reaches 0, or was 0 and grows: they change places."""
        rows, active = self.rows, bool(self.basis.active[row])
        place = rows.place(row)
        if place < 0:  # one that CVXPY has added
            return self._added(row, active)
        state = 0 if active else PRICED | (LOWER if rows.sides[place] < 0 else UPPER)
        owner = int(rows.owners[place])
        return f"{rows.name(owner)} {rows.words(owner, state)}"

    def _added(self, row: int, active: bool) -> str:
        """Say what becomes of a row that CVXPY has added: of an expression, whether it is the largest one."""
        terms = self.terms()
        if row not in terms:
            return f"{self.basis.line.row_name(row)} {'free' if active else 'tight'}"
        name, sign = terms[row]
        beside, among = ("below", "largest") if sign > 0 else ("above", "smallest")
        return f"{name} {beside if active else 'among'} the {among}"
