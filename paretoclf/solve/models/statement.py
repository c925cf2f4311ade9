"""What a formulation says of itself: primal, Lagrangian, dual, KKT conditions, signs, recovery, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_SHOWN = 3  # entries of a long vector at either end
_VECTOR = re.compile(r"\[([^\[\]]+)\]")
_SQUARES = "quad_over_lin("


@dataclass(frozen=True)
class Statement:
    r"""A textbook page about one formulation. Every formula is LaTeX, without dollar signs.

    Parameters
    ----------
    title : str
        Name of the problem.
    data : str
        Markdown: what is given, and which parameters there are.
    primal, lagrangian, dual : str
        The problems.
    kkt : mapping of str to str
        Conditions at an optimum, by the names that the certificate gives to their residuals.
    signs : mapping of str to str
        Multiplier to the sign it has.
    recovery : str
        Markdown: the classifier, from a solution of either problem.
    remarks : sequence of str
        Markdown: special cases.
    reference : str
        Paper and equation numbers.

    Examples
    --------
    >>> from paretoclf.solve.models.statement import Statement
    >>> page = Statement("Least squares", "A, b.", r"\min_x\|Ax-b\|^2", "", "", {"stationarity": "A^T(Ax-b)=0"}, {}, "")
    >>> print(page.markdown().splitlines()[0])
    # Least squares
    """

    title: str
    data: str
    primal: str
    lagrangian: str
    dual: str
    kkt: Mapping[str, str]
    signs: Mapping[str, str]
    recovery: str
    remarks: tuple[str, ...] = field(default=())
    reference: str = ""

    def __post_init__(self) -> None:
        for name, kind in (("kkt", dict), ("signs", dict), ("remarks", tuple)):
            object.__setattr__(self, name, kind(getattr(self, name)))

    def markdown(self) -> str:
        """Render the page."""
        parts = [f"# {self.title}", self.data]
        for name in ("primal", "lagrangian", "dual"):
            formula = getattr(self, name)
            if formula:
                parts += [f"## {name.capitalize()}", f"$$\n{formula}\n$$"]
        if self.kkt:
            rows = [f"| {name} | ${formula}$ |" for name, formula in self.kkt.items()]
            parts += ["## KKT conditions", "\n".join(["| condition | |", "| --- | --- |", *map(_escaped, rows)])]
        if self.signs:
            rows = [f"| ${name}$ | {sign} |" for name, sign in self.signs.items()]
            parts += ["## Signs", "\n".join(["| multiplier | |", "| --- | --- |", *map(_escaped, rows)])]
        if self.recovery:
            parts += ["## Recovery", self.recovery]
        if self.remarks:
            parts += ["## Special cases", "\n".join(f"- {remark}" for remark in self.remarks)]
        if self.reference:
            parts += [f"Reference: {self.reference}"]
        return "\n\n".join(parts) + "\n"


def _escaped(row: str) -> str:
    r"""Norms would end a cell of the table: write them with ``\Vert`` and ``\vert``."""
    cells = row.removeprefix("| ").removesuffix(" |").split(" | ")
    inner = [cell.replace(r"\|", r"\Vert ").replace("|", r"\vert ") for cell in cells]
    return f"| {' | '.join(inner)} |"


def printed(problem: Any) -> str:
    """A problem as CVXPY prints it, but for squares, and for long vectors: their ends, and how many entries there are.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import numpy as np
    >>> from paretoclf.solve.models.statement import printed
    >>> x = cp.Variable(50, name="x")
    >>> print(printed(cp.Problem(cp.Minimize(np.arange(50.0) @ x), [x[np.arange(50) > 9] >= 1])))
    minimize [ 0.  1.  2. ... 47. 48. 49.] @ x
    subject to 1.0 <= x[False, False, False, ..., True, True, True (50 entries)]
    >>> print(printed(cp.Problem(cp.Minimize(cp.sum_squares(x) / 2))))
    minimize ||x||^2 / 2.0
    """
    with np.printoptions(threshold=4 * _SHOWN, edgeitems=_SHOWN):
        return _squares(_VECTOR.sub(_abbreviated, str(problem)))


def _squares(text: str) -> str:
    """Write ``||w||^2`` for ``quad_over_lin(w, 1.0, None, False)``, and ``||w||^2 / t`` for that of (w, t)."""
    before, found, after = text.partition(_SQUARES)
    if not found:
        return text
    depth, commas = 1, []
    for end, character in enumerate(after):
        depth += (character in "([") - (character in ")]")
        if depth == 1 and character == ",":
            commas.append(end)
        if depth == 0:
            break
    parts = [after[i:j].strip() for i, j in zip([0, *(c + 1 for c in commas)], [*commas, end], strict=True)]
    rest = _squares(after[end + 1 :])
    if depth or len(parts) < 2 or any(part not in ("None", "False") for part in parts[2:]):  # squares along an axis
        return before + found + _squares(after)
    over = "" if parts[1] in ("1.0", "1") else f" / {parts[1]}" if parts[1].isidentifier() else f" / ({parts[1]})"
    squares = f"||{_squares(parts[0])}||^2{_squares(over)}"
    return before + (f"({squares})" if over else squares) + rest


def _abbreviated(vector: re.Match[str]) -> str:
    entries = vector[1].split(", ")
    if len(entries) <= 4 * _SHOWN:
        return vector[0]
    return f"[{', '.join([*entries[:_SHOWN], '...', *entries[-_SHOWN:]])} ({len(entries)} entries)]"
