"""Keys of mappings of parameters: a parameter itself, its name, or one entry of it, as ``x0[0]`` or ``"x0[0]"``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, check_number, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.solve.models.lazily import cp

#: The name of a parameter, and where in it an entry is.
_ENTRY = re.compile(r"(?P<name>.+)\[(?P<index>-?\d+(?:\s*,\s*-?\d+)*)\]")


@dataclass(frozen=True, eq=False)
class ParameterEntry:
    """One entry of a parameter, which moves while the others keep their values.

    Attributes
    ----------
    parameter : cvxpy.Parameter
    index : tuple of int
    """

    parameter: Any
    index: tuple[int, ...]
    shape: tuple[int, ...] = ()

    def name(self) -> str:
        """The name of the parameter, and the index."""
        return f"{self.parameter.name()}[{', '.join(map(str, self.index))}]"


def keys_of(problem: Any, given: Mapping[Any, Any], argument: str) -> dict[Any, Any]:
    """The mapping with each key replaced by the parameter, or the `ParameterEntry`, that is meant.

    Raises
    ------
    InputError
        If it is no cvxpy.Problem, or a key is no parameter of it or entry of one, nor the name of exactly one.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.sources.parameter_entries import keys_of
    >>> x, x0 = cp.Variable(2, name="x"), cp.Parameter(2, name="x0")
    >>> problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= x0])
    >>> [key.name() for key in keys_of(problem, {x0[0]: 1.0, "x0[1]": 2.0}, "start")]
    ['x0[0]', 'x0[1]']
    """
    if not isinstance(problem, cp.Problem):
        raise InputError(f"problem must be a cvxpy.Problem, got {what_it_is(problem)}")
    own = [p for p in problem.parameters() if not isinstance(p, cp.CallbackParam)]
    # A CallbackParam may follow any other parameter: its function is not looked into.
    follows = len(own) < len(problem.parameters())
    found = dict[Any, Any]()
    for key, value in given.items():
        meant = _meant(own, key, follows)
        if len(meant) != 1:
            raise InputError(f"{argument} must have {_keys_said(own, key, len(meant))}")
        if meant[0].name() in [each.name() for each in found if each is meant[0] or _is_entry(each)]:
            raise InputError(f"{argument} must have each parameter once, got {meant[0].name()} by itself and by name")
        found[meant[0]] = value
    for each in found:
        if _is_entry(each) and each.parameter in found:
            name = each.parameter.name()
            raise InputError(f"{argument} must have {name} as a whole or by its entries, got {name} and {each.name()}")
    return found


def by_parameter(problem: Any, given: Mapping[Any, Any], argument: str, zero: bool = False) -> dict[Any, Any]:
    """The mapping by the parameters of the problem; entries become parameters whose other entries keep their values.

    Parameters
    ----------
    problem : cvxpy.Problem
    given : mapping
        Keys as for `keys_of`.
    argument : str
        What it is called in messages.
    zero : bool
        Whether the other entries are 0, as in a direction.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.sources.parameter_entries import by_parameter
    >>> x, x0 = cp.Variable(2, name="x"), cp.Parameter(2, name="x0", value=[5.0, 6.0])
    >>> problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= x0])
    >>> by_parameter(problem, {x0[1]: 1.0}, "start")[x0].tolist()
    [5.0, 1.0]
    """
    return whole(keys_of(problem, given, argument), argument, zero)


def whole(values: Mapping[Any, Any], argument: str, zero: bool = False) -> dict[Any, Any]:
    """Values of parameters, from those of parameters and of entries."""
    found = dict[Any, Any]()
    left = dict[Any, set[tuple[int, ...]]]()
    for key, value in values.items():
        if not _is_entry(key):
            found[key] = value
            continue
        p = key.parameter
        if p not in found:
            found[p], left[p] = _others(p, zero), set(np.ndindex(*p.shape))
        found[p][key.index] = check_number(value, f"{argument}[{key.name()}]")
        left[p].discard(key.index)
    for p, missing in left.items():
        if missing and np.isnan(found[p][min(missing)]):
            entry = ParameterEntry(p, min(missing))
            raise InputError(f"parameter {p.name()} must have a value, as {entry.name()} keeps its own")
    return found


def named_values(keys: Mapping[Any, Any], values: Mapping[Any, Array]) -> dict[str, Array]:
    """Values at an end of a line by the names of what moves: of an entry it alone."""
    found = dict[str, Array]()
    for key in keys:
        if _is_entry(key):
            found[key.name()] = np.array(values[key.parameter][key.index])
        else:
            found[key.name()] = values[key]
    return found


def _is_entry(key: Any) -> bool:
    return isinstance(key, ParameterEntry)


def _others(p: Any, zero: bool) -> Array:
    """The entries of a parameter where none moves; nan where they have no value."""
    if zero or p.value is None:
        return np.full(p.shape, 0.0 if zero else np.nan)
    value = p.value.toarray() if hasattr(p.value, "toarray") else p.value
    return np.array(value, dtype=np.float64)


def _meant(own: list[Any], key: Any, follows: bool) -> list[Any]:
    """Parameters and entries that a key may mean."""
    if isinstance(key, str):
        named = [p for p in own if p.name() == key]
        return named or _entry_by_name(own, key)
    if isinstance(key, cp.Parameter) and not isinstance(key, cp.CallbackParam):
        return [key] if follows or any(key is p for p in own) else []
    p = key.args[0] if isinstance(key, cp.Expression) and len(key.args) == 1 else None
    if p is None or not any(p is each for each in own) or not hasattr(key, "get_data"):
        return []
    places = np.arange(p.size).reshape(p.shape)
    return _entry_at(p, places, key.get_data()[-1]) if type(key).__name__ in ("index", "special_index") else []


def _entry_by_name(own: list[Any], key: str) -> list[Any]:
    """The entries that a text such as ``x0[0]`` means."""
    said = _ENTRY.fullmatch(key)
    if said is None:
        return []
    index = tuple(int(each) for each in said["index"].split(","))
    found = list[Any]()
    for p in own:
        if p.name() == said["name"] and len(index) == len(p.shape):
            found += _entry_at(p, np.arange(p.size).reshape(p.shape), index)
    return found


def _entry_at(p: Any, places: Array, key: Any) -> list[Any]:
    """The entry of a parameter at a key of an array; none where it is not one entry."""
    try:
        chosen = np.ravel(places[key])
    except (IndexError, TypeError):
        return []
    if chosen.size != 1:
        return []
    return [ParameterEntry(p, tuple(int(each) for each in np.unravel_index(int(chosen[0]), p.shape)))]


def _keys_said(own: list[Any], key: Any, count: int) -> str:
    """The end of a message on a key that is not one parameter: what is allowed, and what was given."""
    given = key.name() if isinstance(key, cp.Parameter) else f"{key!r:.100}"
    if count > 1:
        return f"each parameter itself for a key where several have one name, got {given}, which {count} have"
    known = ", ".join(p.name() for p in own) or "none"
    return f"parameters of the problem, or their names, for keys, got {given}: the problem has {known}"
