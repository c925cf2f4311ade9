"""The explicit law of a map as source text, of Python or of C: a function of two numbers that needs nothing else.

It looks for the region that the point lies deepest in, and evaluates what is affine there. Numbers are written with all
their digits.
"""

from __future__ import annotations

import keyword
import pprint
import re
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
_WORDS_OF_C = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long main "
    "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while"
)

#: A point this near to a region, in the unit square, is in it.
_NEAR = 1e-8


class _Law(NamedTuple):
    """A law, ready to be written: names of its arguments, what they are called, borders and affine maps by region."""

    names: list[str]
    arguments: list[str]
    title: str
    shapes: list[tuple[int, ...]]
    borders: list[list[tuple[float, ...]]]
    laws: list[list[list[tuple[float, ...]]]]


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
        (borders, [*zip(law.names, law.shapes, laws, strict=True)])
        for borders, laws in zip(law.borders, law.laws, strict=True)
    ]
    low, width = (tuple(each) for each in found.frame.tolist())
    return _TEXT.format(
        title=law.title,
        function=function,
        first=law.arguments[0],
        second=law.arguments[1],
        names=", ".join(law.names),
        low=low,
        width=width,
        regions=pprint.pformat(regions, width=118, compact=True),
        near=_NEAR,
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
    taken = _WORDS_OF_C.split()
    if not isinstance(function, str) or not re.fullmatch("[A-Za-z_][A-Za-z_0-9]*", function) or function in taken:
        raise InputError(f"function must be a name of C, got {function!r:.100}")
    law = _law(found, names, function)
    first, second = law.arguments
    if not all(name.isascii() and name not in (*taken, "s", "t", "out") for name in law.arguments):
        first, second = "p0", "p1"
    numbers = [[row for rows in laws for row in rows] for laws in law.laws]
    size, entries = len(numbers[0]), []
    for name, shape in zip(law.names, law.shapes, strict=True):
        indices = [f"{name}{[*index]}" if index else name for index in np.ndindex(shape)]
        entries.append(indices[0] if len(indices) == 1 else f"{indices[0]} to {indices[-1]}")
    first_rows = np.cumsum([0, *map(len, law.borders)]).tolist()
    low, width = found.frame.tolist()
    return _C.format(
        title=law.title,
        function=function,
        first=first,
        second=second,
        names=", ".join(entries),
        count=len(law.borders),
        size=size,
        first_rows=_braces(first_rows),
        borders=_braces([row for rows in law.borders for row in rows]),
        laws=_braces(numbers),
        low=low,
        width=width,
        near=_NEAR,
    )


def _braces(numbers: Any) -> str:
    """Write numbers, or lists of them, as an initialiser of C."""
    if not isinstance(numbers, list | tuple):
        return repr(numbers)
    between = ",\n    " if isinstance(numbers[0], list | tuple) else ", "
    return f"{{{between.join(map(_braces, numbers))}}}"


def _law(found: Any, names: Any, function: str) -> _Law:
    """Read the law of a map for some of its variables, or for entries of them."""
    known = found.plane.line.variables
    given = known if names is None else [names] if isinstance(names, str) else names
    wanted = [name if isinstance(name, str) else str(getattr(name, "name", str)()) for name in given]
    readings = [_reading(known, name) for name in dict.fromkeys(wanted)]
    first, second = _arguments(list(found.ranges), function)
    named = zip(found.ranges, (first, second), strict=True)
    said = [name if name == each else f"{name} ({each})" for name, each in named]
    return _Law(
        [*dict.fromkeys(wanted)],
        [first, second],
        f"The optimum of a program in {said[0]} and {said[1]}, on {len(found.pieces)} regions.",
        [shape for _, shape, _ in readings],
        [[tuple(each) for each in borders(piece.polygon)] for piece in found.pieces],
        [[_laws(reading, piece.x)[own] for reading, _, own in readings] for piece in found.pieces],
    )


def _arguments(parameters: list[str], function: str) -> list[str]:
    """Names of Python for parameters, ``x0_1`` for ``x0[1]`` and ``rhs_CAP`` for ``rhs:CAP``, or p0 and p1."""
    names = [re.sub(r"\W+", "_", name).strip("_") for name in parameters]
    fine = all(name.isidentifier() and not keyword.iskeyword(name) for name in names)
    return names if fine and len({*names, function}) == 3 else [f"p{k}" for k in range(2)]


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


def _laws(reading: Any, x: Any) -> list[tuple[float, ...]]:
    """Offset and gains of each entry of a variable."""
    return [tuple(row) for row in np.stack([reading.of(column).ravel() for column in x.T], axis=1).tolist()]
