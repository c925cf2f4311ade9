r"""A convex quadratic or linear program as raw arrays, as OSQP and qpsolvers state it, affine in parameters.

.. math::

   \min_x\ \tfrac12x^\top Px+q^\top x+c\quad\text{s.t. } l\le Ax\le u,

with :math:`P\succeq0` (negative semidefinite where the objective is maximised). Multipliers y, one a row, have the
signs of OSQP: :math:`Px+q+A^\top y=0`, with :math:`y_i\ge0` where the upper bound holds and :math:`y_i\le0` where the
lower one does; of a maximisation they are those of minus the objective.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, check_number, check_vector, real_array
from paretoclf.common.errors import InputError
from paretoclf.common.files import AnyFile
from paretoclf.common.tolerances import SAME_MIRRORED

#: Bounds of this size are infinite for OSQP: a bound of this size is none.
INFINITE = 1e30

#: Formula of the whole matrix from a triangle, dense or sparse.
_WHOLE = "P + P.T - diag, with diag = np.diag(np.diag(P)), or scipy.sparse.diags_array(P.diagonal()) of a sparse P"

#: The vectors that may depend on parameters.
_MOVE = ("q", "l", "u")


@dataclass(frozen=True, repr=False)
class QP:
    """A quadratic or linear program as arrays: a problem for `trace`, `verify`, `ranges` and `derivatives`.

    Parameters
    ----------
    P : array or sparse matrix of shape (n, n), or None
        Symmetric and positive semidefinite (negative, where ``maximise``); None is 0. Of entries that differ from
        their mirror images by rounding the mean is taken. Functions that are given the QP prove that it is
        semidefinite, up to rounding (`paretoclf.problem.convex`), or refuse it.
    q : array of shape (n,)
        Costs.
    A : array or sparse matrix of shape (m, n), or None
        Rows; bounds of variables are rows with one entry. None: no rows.
    l, u : arrays of shape (m,), optional
        Bounds of the rows, equal for an equation; infinite where there is none, which 1e30 is, too. By default there
        are none.
    moves : mapping of str to mapping, optional
        Parameters by name, each with the changes of ``"q"``, ``"l"`` and ``"u"`` by a unit of it.
    values : mapping of str to float, optional
        Values that the parameters have in the arrays above, where they stay unless they are told to move; 0 by default.
    constant : float
        Added to the objective.
    maximise : bool
    names : pair of sequences of str, optional
        Names of the variables and of the rows, different ones in each; results then have a number for each. A variable
        and a row of one name are told apart as ``x:NAME`` and ``row:NAME`` there. Without names numbers are the entries
        of ``x`` and of ``y``.
    integers : mapping of str to float or None, optional
        Variables that are integers in what this program was made of, and where they are fixed; None of one that may be
        any number between its bounds here. `from_file` says so, and `verify`.

    Raises
    ------
    InputError
        If shapes do not fit, a number is not finite, P is not symmetric, a lower bound is above the upper one, or names
        are the same.

    Notes
    -----
    Multipliers have the signs of OSQP: ``P x + q + A' y = 0``, y at least 0 where the upper bound of a row holds, and
    at most 0 where the lower one does. Those of a maximisation are those of minus the objective.

    Examples
    --------
    The dearest of two goods is bought when the budget grows:

    >>> import numpy as np
    >>> import paretoclf as pc
    >>> A, l, u = [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]], [-np.inf, 0.0, 0.0], [0.0, 2.0, np.inf]
    >>> qp = pc.QP(None, [-2.0, -1.0], A, l, u, moves={"budget": {"u": [1.0, 0.0, 0.0]}})
    >>> path = pc.trace(qp, start={"budget": 0}, stop={"budget": 5})
    >>> path.at(budget=3).variables["x"].round(9).tolist(), path.at(budget=3).duals["y"].tolist()
    ([2.0, 1.0], [1.0, 1.0, 0.0])
    """

    P: Any = field(repr=False)
    q: Any = field(repr=False)
    A: Any = field(default=None, repr=False)
    l: Any = field(default=None, repr=False)  # noqa: E741 -- OSQP's name
    u: Any = field(default=None, repr=False)
    moves: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    values: Mapping[str, float] = field(default_factory=dict, repr=False, kw_only=True)
    constant: float = 0.0
    maximise: bool = False
    names: Any = field(default=None, repr=False)
    integers: Mapping[str, float | None] = field(default_factory=dict, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        q = np.array(check_vector(self.q, np.size(self.q), "q"))
        n = q.size
        if n == 0:
            raise InputError("q must have an entry for each variable, got none")
        A = _matrix(self.A, "A", (None, n))
        m = A.shape[0]
        low, high = (_bounds(getattr(self, name), m, name) for name in "lu")
        for i in np.flatnonzero(~(low <= high)).tolist():
            raise InputError(f"l must be at most u, got {low[i]:g} and {high[i]:g} in row {i}")
        P = _matrix(self.P, "P", (n, n))
        found = {"P": P, "q": q, "A": A, "l": low, "u": high}
        found["moves"] = _moves(self.moves, found)
        found["values"] = _values(self.values, found["moves"])
        found["constant"] = float(check_vector([check_number(self.constant, "constant")], 1, "constant")[0])
        if not isinstance(self.maximise, bool | np.bool_):
            raise InputError(f"maximise must be True or False, got {self.maximise!r:.100}")
        found["names"] = None if self.names is None else _names(self.names, (n, m))
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_file(
        cls,
        file: AnyFile,
        moves: Mapping[str, str | Mapping[str, float | str]] | None = None,
        integers: Literal["relax"] | Mapping[str, float] | None = None,
    ) -> QP:
        r"""Read a linear or quadratic program from an MPS, QPS or LP file, by HiGHS (``pip install paretoclf[mps]``).

        Bounds of variables become the last rows, which are called ``bound of`` the variable. A bound of 1e20 is none,
        as in HiGHS.

        Parameters
        ----------
        file : path
            Ends in ``.mps``, ``.qps`` or ``.lp``, or one of these and ``.gz``.
        moves : mapping of str to str or mapping, optional
            Parameters by name, each with the number of the file that it is: ``"rhs:ROW"``, ``"cost:VARIABLE"``,
            ``"lower:NAME"`` or ``"upper:NAME"`` of a row or a variable. Its value in the file is where it stays. A
            mapping is a direction: ``{"rhs:CAP1": 10, "rhs:N*": "5%"}`` adds 10 to one right-hand side in a unit, and
            to those whose names begin with N 5 % of what they are; the parameter is 0 in the file.
        integers : "relax", or mapping of str to float, optional
            Integers, which have no path, may be any number between their bounds, or are fixed where a solution has
            them; by default they are refused.

        Raises
        ------
        InputError
            If it cannot be read, or has integers of which nothing is said; or if it would be read as something else
            than what it says: HiGHS warns of it, a name is not defined, a number is there twice or is none. The message
            has the line. If moves name a number that the file does not have.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import paretoclf as pc
        >>> text = "Maximize\n 3 x + 2 y\nSubject To\n CAP: x + y <= 6\nBounds\n x <= 4\nEnd\n"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "goods.lp").write_text(text)
        ...     qp = pc.QP.from_file(f"{folder}/goods.lp", moves={"cap": "rhs:CAP"})
        >>> path = pc.trace(qp, start={"cap": 2}, stop={"cap": 8})
        >>> path.value(cap=2), path.value(cap=6), dict(qp.values)
        (6.0, 16.0, {'cap': 6.0})
        """
        from paretoclf.problem.mps import read_program  # few programs come in files

        return cls(**read_program(Path(file), {} if moves is None else moves, integers))

    @property
    def sense(self) -> int:
        """-1 where it is maximised."""
        return -1 if self.maximise else 1

    @property
    def keys(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of variables and of rows in results, ``x:NAME`` and ``row:NAME`` where both have one name.

        MPS files may have a row and a column of one name. Without names there are none.
        """
        return ((), ()) if self.names is None else _keys(*self.names)

    @property
    def equations(self) -> Any:
        """Rows whose two bounds are equal whatever the parameters are, bool array of shape (m,)."""
        same = self.l == self.u
        for move in self.moves.values():
            same &= move["l"] == move["u"]
        return same

    @property
    def above(self) -> Any:
        """Rows that are no equations and have an upper bound, bool array of shape (m,)."""
        return ~self.equations & np.isfinite(self.u)

    @property
    def below(self) -> Any:
        """Rows that are no equations and have a lower bound, bool array of shape (m,)."""
        return ~self.equations & np.isfinite(self.l)

    def row(self, i: int) -> str:
        """Name of a row in messages."""
        return f"row {i}" if self.names is None else str(self.names[1][i])

    def at(self, values: Mapping[str, float]) -> dict[str, Array]:
        """Vectors q, l and u at values of the parameters; missing ones stay where they are."""
        away = {name: value - self.values[name] for name, value in values.items()}
        found = {}
        for key in _MOVE:
            changes = [distance * self.moves[name][key] for name, distance in away.items()]
            found[key] = getattr(self, key) + sum(changes)
        return found

    def __repr__(self) -> str:
        m, n = self.A.shape
        sense = ", maximised" if self.maximise else ""
        moving = f", moved by {', '.join(self.moves)}" if self.moves else ""
        kind = "QP" if self.P.nnz else "LP"
        relaxed = sum(value is None for value in self.integers.values())
        sense += f", {relaxed} integers relaxed" * bool(relaxed)
        sense += f", {len(self.integers) - relaxed} integers fixed" * (relaxed < len(self.integers))
        return f"{kind}({n} variables, {m} rows, {int(self.equations.sum())} of them equations{sense}{moving})"


def _matrix(given: Any, name: str, shape: tuple[int | None, int]) -> Any:
    """A sparse array of this shape; P symmetric."""
    if given is None:
        return sp.csc_array((shape[0] or 0, shape[1]))
    dense = given if sp.issparse(given) else np.atleast_2d(real_array(given, name))
    try:
        M = sp.csc_array(dense, dtype=np.float64, copy=True)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold real numbers, got {given!r:.100}") from None
    rows, columns = shape
    if M.shape[1] != columns or rows not in (None, M.shape[0]):
        raise InputError(f"{name} must have shape ({'m' if rows is None else rows}, {columns}), got {M.shape}")
    if not np.isfinite(M.data).all():
        raise InputError(f"{name} must be finite, got {float(M.data[~np.isfinite(M.data)][0])}")
    M.sum_duplicates()
    M.eliminate_zeros()
    return _mirrored(M) if name == "P" else M


def _mirrored(P: Any) -> Any:
    """Replace each entry of P and its mirror image, which may differ by rounding, by their mean."""
    difference = sp.coo_array(abs(P - P.T))
    if not difference.nnz or difference.max() == 0.0:
        return P
    size = np.sqrt(np.abs(P.diagonal()))
    i, j = difference.coords
    if (difference.data <= SAME_MIRRORED * size[i] * size[j]).all():
        return sp.csc_array(0.5 * (P + P.T))
    got = f"got entries that differ by {difference.max():.1e} from their mirror images"
    for rest, triangle in ((sp.tril(P, -1), "an upper"), (sp.triu(P, 1), "a lower")):
        if not rest.nnz:
            raise InputError(f"P must be symmetric, {got}: it is {triangle} triangle. Pass {_WHOLE}")
    raise InputError(f"P must be symmetric, {got}")


def _bounds(given: Any, m: int, name: str) -> Array:
    """Bounds of rows; infinite where there is none."""
    none = -np.inf if name == "l" else np.inf
    if given is None:
        return np.full(m, none)
    found = np.array(real_array(given, name))
    if found.shape != (m,):
        raise InputError(f"{name} must have shape ({m},), got {found.shape}")
    found[np.sign(none) * found >= INFINITE] = none
    for i in np.flatnonzero(~np.isfinite(found) & (found != none)).tolist():
        raise InputError(f"{name} must be finite or {none:g}, got {found[i]} in row {i}")
    return found


class Moves(dict[str, Any]):
    """Moves of a `QP`, which were checked when it was made: none can be put in later.

    Examples
    --------
    >>> import paretoclf as pc
    >>> qp = pc.QP(None, [1.0], [[1.0]], [0.0], None, moves={"r": {"l": [1.0]}})
    >>> qp.moves["r"] = 1
    Traceback (most recent call last):
    ...
    paretoclf.common.errors.InputError: moves must be given to QP(..., moves={...}), which checks them, got 'r' later...
    """

    def __setitem__(self, *given: Any, **named: Any) -> None:
        """Refuse."""
        raise InputError(
            f"moves must be given to QP(..., moves={{...}}), which checks them, got {(*given, named)[0]!r:.100} later: "
            "dataclasses.replace(qp, moves={...}) makes another QP"
        )

    update = setdefault = __ior__ = __setitem__  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Moves, (dict(self),)


def _values(given: Any, moves: Mapping[str, Any]) -> dict[str, float]:
    """Values of all parameters in the arrays."""
    if not isinstance(given, Mapping):
        raise InputError(f"values must map names of parameters to numbers, got {given!r:.100}")
    for name in given:
        if name not in moves:
            known = ", ".join(moves) or "none"
            raise InputError(f"values must have parameters among moves for keys, got {name!r:.100}; it has {known}")
    found = {name: check_number(given.get(name, 0.0), f"values[{name!r}]") for name in moves}
    for name, value in found.items():
        if not np.isfinite(value):
            raise InputError(f"values[{name!r}] must be finite, got {value}")
    return found


def _moves(given: Any, of: Mapping[str, Any]) -> Moves:
    """Changes of all vectors by a unit of each parameter; an infinite bound has none."""
    if not isinstance(given, Mapping):
        raise InputError(f"moves must map names of parameters to what they change, got {given!r:.100}")
    found = {}
    for name, move in given.items():
        if not isinstance(name, str) or not name or name == "t":
            raise InputError(f"moves must have names of parameters for keys, other than t, got {name!r:.100}")
        if not isinstance(move, Mapping) or not move or not set(move) <= set(_MOVE):
            got = ", ".join(map(str, move)) if isinstance(move, Mapping) else repr(move)
            raise InputError(f"moves[{name!r}] must map some of q, l and u to vectors, got {got or 'none':.100}")
        own = {}
        for key in _MOVE:
            size = of[key].size
            own[key] = np.zeros(size)
            if key in move:
                own[key] += check_vector(move[key], size, f"moves[{name!r}][{key!r}]")
            for i in np.flatnonzero(~np.isfinite(of[key]) & (own[key] != 0.0)).tolist():
                raise InputError(f"moves[{name!r}][{key!r}] must be 0 in row {i}, which has no such bound")
        found[name] = own
    return Moves(found)


def _keys(variables: Sequence[str], rows: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of variables and of rows, with a prefix where a variable and a row have one name."""
    both = set(variables) & set(rows)
    of_variables = tuple(f"x:{name}" if name in both else name for name in variables)
    of_rows = tuple(f"row:{name}" if name in both else name for name in rows)
    return of_variables, of_rows


def _names(given: Any, sizes: tuple[int, int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Check names of variables and of rows."""
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
        raise InputError(f"names must be a pair, those of the variables and those of the rows, got {given!r:.100}")
    pair = tuple(tuple(map(str, own)) for own in given)
    for what, own, size in zip(("variables", "rows"), pair, sizes, strict=True):
        if len(own) != size:
            raise InputError(f"names must have {size} {what}, got {len(own)}")
        if len(set(own)) < size:
            raise InputError(f"names of {what} must be different, got {max(own, key=own.count)} twice")
    keys = [*_keys(*pair)[0], *_keys(*pair)[1]]
    if len(set(keys)) < len(keys):
        twice = max(keys, key=keys.count)
        raise InputError(f"names must tell variables from rows, got {twice!r} beside one that is called so in results")
    return pair[0], pair[1]
