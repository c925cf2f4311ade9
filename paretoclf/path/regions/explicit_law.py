"""The explicit law of a map as source text: a function of two numbers that needs nothing but Python.

It looks for the region that the point lies deepest in, and evaluates what is affine there. Numbers are written with all
their digits.
"""

from __future__ import annotations

import keyword
import pprint
import re
from typing import Any

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
    known = found.plane.line.variables
    given = known if names is None else [names] if isinstance(names, str) else names
    wanted = [name if isinstance(name, str) else str(getattr(name, "name", str)()) for name in given]
    readings = {name: _reading(known, name) for name in wanted}
    if not isinstance(function, str) or not function.isidentifier() or keyword.iskeyword(function):
        raise InputError(f"function must be a name of Python, got {function!r:.100}")
    first, second = _arguments(list(found.ranges), function)
    regions = [
        (
            [tuple(each) for each in borders(piece.polygon)],
            [(name, shape, _laws(reading, piece.x)[own]) for name, (reading, shape, own) in readings.items()],
        )
        for piece in found.pieces
    ]
    named = zip(found.ranges, (first, second), strict=True)
    said = [name if name == each else f"{name} ({each})" for name, each in named]
    low, width = (tuple(each) for each in found.frame.tolist())
    return _TEXT.format(
        title=f"The optimum of a program in {said[0]} and {said[1]}, on {len(regions)} regions.",
        function=function,
        first=first,
        second=second,
        names=", ".join(wanted),
        low=low,
        width=width,
        regions=pprint.pformat(regions, width=118, compact=True),
        near=1e-8,
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
