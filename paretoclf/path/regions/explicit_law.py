"""The explicit law of a map as source text, of Python or of C: a function of two numbers that needs nothing else.

It looks for the region that the point lies deepest in, and evaluates what is affine there. Numbers are written with all
their digits.
"""

from __future__ import annotations

import keyword
import pprint
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.path.regions.polygon import borders

_TEXT = '''"""{title}

Written by paretoclf. {function}({first}, {second}) returns a dict of {names}; None where there is no optimum.
"""

# For each region its borders, d + u s + v t >= 0, and of each variable name, shape, and (offset, gains) by entries.
_LOW, _WIDTH = {low}, {width}
_REGIONS = {regions}


def {function}({first}, {second}):
    s, t = ({first} - _LOW[0]) / _WIDTH[0], ({second} - _LOW[1]) / _WIDTH[1]
    depth, laws = max((min(d + u * s + v * t for d, u, v in borders), k) for k, (borders, _) in enumerate(_REGIONS))
    if not depth >= -{near}:
        return None
    return {{name: _shaped([c + g * s + h * t for c, g, h in rows], shape) for name, shape, rows in _REGIONS[laws][1]}}


def _shaped(entries, shape):
    if not shape:
        return entries[0]
    if len(shape) == 1:
        return entries
    step = len(entries) // shape[0] if shape[0] else 0
    return [_shaped(entries[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]
'''

_C = """/* {title}

   Written by paretoclf. {function}({first}, {second}, out) returns the region, and in out[0], out[1], ...: {names};
   -1 where there is no optimum, and out stays as it was. No library is needed, and no memory but these tables. */

/* The borders of region k, d + u s + v t >= 0, are rows {function}_first[k] to {function}_first[k + 1] - 1. */
static const int {function}_first[{count} + 1] = {first_rows};
static const double {function}_borders[][3] = {borders};

/* Offset and gains of each number of each region. */
static const double {function}_laws[{count}][{size}][3] = {laws};

int {function}(double {first}, double {second}, double out[{size}])
{{
    const double s = ({first} - ({low[0]!r})) / {width[0]!r}, t = ({second} - ({low[1]!r})) / {width[1]!r};
    double deepest = -{near};
    int found = -1;
    for (int k = 0; k < {count}; k++) {{
        double depth = 1e300;
        for (int j = {function}_first[k]; j < {function}_first[k + 1]; j++) {{
            const double *row = {function}_borders[j];
            const double inside = row[0] + row[1] * s + row[2] * t;
            if (!(inside >= depth)) depth = inside;
        }}
        if (depth >= deepest) {{
            deepest = depth;
            found = k;
        }}
    }}
    for (int i = 0; found >= 0 && i < {size}; i++) {{
        const double *row = {function}_laws[found][i];
        out[i] = row[0] + row[1] * s + row[2] * t;
    }}
    return found;
}}
"""

#: Words of C that are no names there.
_LISTED = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long main "
    "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while"
)
_WORDS_OF_C = frozenset(_LISTED.split())

#: Names of the text in C that are no arguments.
_OWN_NAMES_IN_C = {"s", "t", "out"}

#: Arguments whose own names cannot be written.
_PLAIN_ARGUMENTS = ("p0", "p1")

#: A point this near to a region, in the unit square, is in it.
_NEAR = 1e-8


class _RegionLaw(NamedTuple):
    """The law in one region: its borders (d, u, v), and of each output the offset and gains of its numbers."""

    borders: list[tuple[float, ...]]
    outputs: list[list[tuple[float, ...]]]


class _Law(NamedTuple):
    """A law, ready to be written: title, arguments, shapes of what it returns, and the frame of the unit square."""

    title: str
    arguments: list[str]
    shapes: dict[str, tuple[int, ...]]
    low: tuple[float, float]
    width: tuple[float, float]
    regions: list[_RegionLaw]


def python_law(found: Any, names: Any, function: str) -> str:
    """Source text of a function of both parameters of a `ProblemMap`.

    Parameters
    ----------
    found : ProblemMap
    names : sequence of str or of CVXPY's own, or None for all
        Variables that it returns, as numbers or nested lists of them; or entries of one, as ``u[0]``.
    function : str
        What it is called. Its arguments are called as the parameters, an entry ``x0[1]`` as ``x0_1``.

    Examples
    --------
    >>> import paretoclf as pc
    >>> qp = pc.QP([[1.0]], [0.0], [[1.0]], [0.0], None, moves={"a": {"q": [1.0]}, "b": {"l": [1.0]}})
    >>> text = pc.plane(qp, {"a": (-2, 2), "b": (0, 1)}).to_python()
    >>> space = {}
    >>> exec(text, space)
    >>> space["law"](-1.5, 0.5)
    {'x': [1.5]}
    """
    if not isinstance(function, str) or not function.isidentifier() or keyword.iskeyword(function):
        raise InputError(f"function must be a name of Python, got {function!r:.100}")
    law = _law(found, names, function)
    regions = [
        (region.borders, list(zip(law.shapes, law.shapes.values(), region.outputs, strict=True)))
        for region in law.regions
    ]
    return _TEXT.format(
        **_both(law, function, law.arguments),
        names=", ".join(law.shapes),
        regions=pprint.pformat(regions, width=118, compact=True),
    )


def c_law(found: Any, names: Any, function: str) -> str:
    """Source text in C (C99, without any library) of a function of both parameters of a `ProblemMap`.

    Parameters
    ----------
    found, names
        As for `python_law`. The numbers stand in one array, one variable after the other, matrices row by row.
    function : str
        What it is called.

    Examples
    --------
    >>> import paretoclf as pc
    >>> qp = pc.QP([[1.0]], [0.0], [[1.0]], [0.0], None, moves={"a": {"q": [1.0]}, "b": {"l": [1.0]}})
    >>> text = pc.plane(qp, {"a": (-2, 2), "b": (0, 1)}).to_c()
    >>> "int law(double a, double b, double out[1])" in text
    True
    """
    if not isinstance(function, str) or not re.fullmatch("[A-Za-z_][A-Za-z_0-9]*", function) or function in _WORDS_OF_C:
        raise InputError(f"function must be a name of C, got {function!r:.100}")
    law = _law(found, names, function)
    fine = all(name.isascii() and name not in _WORDS_OF_C | _OWN_NAMES_IN_C for name in law.arguments)
    first_rows = np.cumsum([0, *(len(region.borders) for region in law.regions)]).tolist()
    numbers = [[row for rows in region.outputs for row in rows] for region in law.regions]
    return _C.format(
        **_both(law, function, law.arguments if fine else _PLAIN_ARGUMENTS),
        names=", ".join(_entries_in_c(name, shape) for name, shape in law.shapes.items()),
        count=len(law.regions),
        size=len(numbers[0]),
        first_rows=_braces(first_rows),
        borders=_braces([row for region in law.regions for row in region.borders]),
        laws=_braces(numbers),
    )


def _both(law: _Law, function: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Fields that the texts of both languages have."""
    first, second = arguments
    named = {"title": law.title, "function": function, "first": first, "second": second}
    return {**named, "low": law.low, "width": law.width, "near": _NEAR}


def _entries_in_c(name: str, shape: tuple[int, ...]) -> str:
    """Name the numbers of an output: the first and the last, or the only one."""
    indices = [f"{name}{[*index]}" if index else name for index in np.ndindex(shape)]
    return indices[0] if len(indices) == 1 else f"{indices[0]} to {indices[-1]}"


def _braces(numbers: Any) -> str:
    """Write numbers, or lists of them, as an initialiser of C."""
    if not isinstance(numbers, list | tuple):
        return repr(numbers)
    between = ",\n    " if isinstance(numbers[0], list | tuple) else ", "
    return f"{{{between.join(map(_braces, numbers))}}}"


def _law(found: Any, names: Any, function: str) -> _Law:
    """Read the law of a map for some of its variables, or for entries of them."""
    known = found.plane.line.variables
    readings = {name: _reading(known, name) for name in _wanted(known, names)}
    arguments = _arguments(list(found.ranges), function)
    said = [name if name == own else f"{name} ({own})" for name, own in zip(found.ranges, arguments, strict=True)]
    title = f"The optimum of a program in {said[0]} and {said[1]}, on {len(found.pieces)} regions."
    shapes = {name: shape for name, (_, shape, _) in readings.items()}
    low, width = (tuple(each) for each in found.frame.tolist())
    regions = [
        _RegionLaw(
            [tuple(border) for border in borders(piece.polygon)],
            [_rows(reading, piece.x)[own] for reading, _, own in readings.values()],
        )
        for piece in found.pieces
    ]
    return _Law(title, arguments, shapes, low, width, regions)


def _wanted(known: Any, names: Any) -> list[str]:
    """Names of variables or entries that somebody asks for, each once; all variables where nobody does."""
    given = known if names is None else [names] if isinstance(names, str) else names
    return list(dict.fromkeys(name if isinstance(name, str) else str(getattr(name, "name", str)()) for name in given))


def _arguments(parameters: list[str], function: str) -> list[str]:
    """Names of Python for parameters, ``x0_1`` for ``x0[1]`` and ``rhs_CAP`` for ``rhs:CAP``, or p0 and p1."""
    names = [re.sub(r"\W+", "_", name).strip("_") for name in parameters]
    fine = all(name.isidentifier() and not keyword.iskeyword(name) for name in names)
    return names if fine and len({*names, function}) == 3 else list(_PLAIN_ARGUMENTS)


def _reading(known: Any, name: str) -> tuple[Any, tuple[int, ...], slice]:
    """Where a variable or an entry of one is read, of which shape it is, and which of the entries it has."""
    if name in known:
        return known[name], known[name].shape, slice(None)
    for variable, reading in known.items():
        entries = [(variable + entry).replace(" ", "") for entry in reading.entries]
        if name.replace(" ", "") in entries:
            place = entries.index(name.replace(" ", ""))
            return reading, (), slice(place, place + 1)
    shapes = ", ".join(f"{variable} of shape {reading.shape}" for variable, reading in known.items())
    example = next((variable + reading.entries[0] for variable, reading in known.items() if reading.shape), "x[0]")
    raise InputError(f"of must be among the variables {shapes}, or an entry as {example}, got {name!r:.100}")


def _rows(reading: Any, x: Any) -> list[tuple[float, ...]]:
    """Offset and gains of each entry of a variable."""
    return [tuple(row) for row in np.stack([reading.of(column).ravel() for column in x.T], axis=1).tolist()]
