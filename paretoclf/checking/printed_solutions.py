"""Solution files of HiGHS, Gurobi, CPLEX, CBC, GLPK and SCIP, each as it writes them, with duals where it does.

All of them write, as the dual of a row and the reduced cost of a variable, the derivative of the optimal value as the
model states it (also of a maximisation) with respect to the right-hand side, and to the bound that holds. So there is
one form, `PrintedSolution`, and one function for each kind of file that makes it of the lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from paretoclf.common.checks import number_from_text
from paretoclf.common.errors import InputError

_READ = "solution files of HiGHS, Gurobi, CPLEX, CBC, GLPK and SCIP, and CSV files of names and numbers"
#: A line of a GLPK report: what is read of it has columns of its own.
_GLPK_NAME = slice(7, 19)
_GLPK_VALUE = slice(23, 36)
_GLPK_MARGINAL = slice(65, 78)


@dataclass(frozen=True)
class PrintedSolution:
    """A solution as a solver printed it.

    Attributes
    ----------
    values : mapping of str to float
        By the names of the variables.
    prices, reduced_costs : mapping of str to float
        By the names of rows and of variables; empty where the file has none.
    zeros : bool
        Whether variables that are 0 are left out.
    objective : float
        Its value where the file says it and its sense may be another than the program's; nan elsewhere. CPLEX writes a
        maximisation as the minimisation of minus its objective into an MPS file, and solves it as it was.
    """

    values: Mapping[str, float]
    prices: Mapping[str, float] = field(default_factory=dict)
    reduced_costs: Mapping[str, float] = field(default_factory=dict)
    zeros: bool = False
    objective: float = float("nan")


def printed_solution(text: str, names: tuple[Sequence[str], Sequence[str]]) -> PrintedSolution | None:
    r"""Read the text of a solution file; None where it is that of no solver that is known here.

    Parameters
    ----------
    text : str
    names : pair of sequences of str
        Variables and rows of the program in the order of the file that it was read from: GLPK's short form numbers
        them.

    Raises
    ------
    InputError
        If the file holds no solution, or one that is torn.

    Examples
    --------
    >>> from paretoclf.checking.printed_solutions import printed_solution
    >>> found = printed_solution("Optimal - objective value 5\n      0 x    2    0\n", (["x", "y"], []))
    >>> dict(found.values), found.zeros
    ({'x': 2.0}, True)
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    head = lines[0] if lines else ""
    for begins, read in _FORMS:
        if re.match(begins, head):
            return read(lines, names)
    return None


def _highs(lines: Sequence[str], names: Any) -> PrintedSolution:
    """The raw style of HiGHS: sections of names and numbers, and a basis."""
    parts = {"# Primal solution values": dict[str, dict[str, float]](), "# Dual solution values": {}}
    own = part = None
    zeros = False
    for line in lines:
        if line.startswith(("# Primal", "# Dual", "# Basis")):
            own, part = parts.get(line), None
        elif own is not None and re.match(r"# (Columns|Rows) -?\d+", line):
            part = own.setdefault(line.split()[1], {})
            zeros = zeros or int(line.split()[2]) < 0
        elif part is not None:
            name, number = line.split()[:2]
            part[name] = _number(number, line)
    primal, dual = parts.values()
    if "Columns" not in primal:
        raise _none(f"its model status is {lines[1] if len(lines) > 1 else 'missing'}")
    return PrintedSolution(primal["Columns"], dual.get("Rows", {}), dual.get("Columns", {}), zeros)


def _highs_table(lines: Sequence[str], names: Any) -> PrintedSolution:
    """The pretty style of HiGHS: two tables."""
    found = {"Columns": dict[str, tuple[float, float]](), "Rows": {}}
    part, where = None, list[str]()
    for line in lines:
        if line in found:
            part = found[line]
        elif line.split()[0] == "Index":
            where = line.split()
        elif part is not None and re.match(r"\s*\d+ ", line):
            words = line.split(maxsplit=len(where) - 1)
            own = dict(zip(reversed(where), reversed(words), strict=False))
            if "Primal" not in own:
                raise _none(f"it has no values: {line}")
            part[own["Name"]] = _number(own["Primal"], line), _number(own.get("Dual", "0"), line)
    columns, rows = found.values()
    if not any("Dual" in line for line in lines if line.split()[0] == "Index"):
        return PrintedSolution(_first(columns))
    return PrintedSolution(_first(columns), _second(rows), _second(columns))


def _gurobi(lines: Sequence[str], names: Any) -> PrintedSolution:
    """Gurobi's ``.sol``: names and values."""
    found = dict[str, float]()
    for line in lines:
        if not line.startswith("#"):
            name, number = _pair(line)
            found[name] = number
    return PrintedSolution(_without_ranges(found, names[1]))


def _gurobi_json(lines: Sequence[str], names: Any) -> PrintedSolution | None:
    """Gurobi's ``.json``, which has duals where ``JSONSolDetail`` is 1."""
    try:
        said = json.loads("\n".join(lines))
        variables, rows = said["Vars"], said.get("Constrs", [])
        values = {each["VarName"]: float(each.get("X", 0.0)) for each in variables}
        reduced = {each["VarName"]: float(each["RC"]) for each in variables if "RC" in each}
        prices = {each["ConstrName"]: float(each["Pi"]) for each in rows if "Pi" in each}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    values, reduced = (_without_ranges(each, names[1]) for each in (values, reduced))
    return PrintedSolution(values, prices, reduced, zeros=True)


def _without_ranges(found: Mapping[str, float], rows: Sequence[str]) -> dict[str, float]:
    """Values without those of variables that Gurobi adds for rows with two sides."""
    added = {f"MPS_Rg{name}" for name in rows} | {f"Rg{name}" for name in rows}
    return {name: number for name, number in found.items() if name not in added}


def _cplex(lines: Sequence[str], names: Any) -> PrintedSolution:
    """CPLEX's XML: values and reduced costs of variables, duals of rows; ``writeLevel`` 3 leaves out zeros."""
    try:
        root = ElementTree.fromstring("\n".join(lines))
    except ElementTree.ParseError as error:
        raise InputError(f"solution must be whole, got XML that ends or breaks: {error}") from None
    several = root.findall("CPLEXSolution") if root.tag == "CPLEXSolutions" else [root]
    if len(several) != 1:
        raise InputError(f"solution must be one, got a pool of {len(several)}: keep one <CPLEXSolution> in the file")
    root = several[0]
    if root.tag != "CPLEXSolution":
        raise InputError(
            f"solution must be a file of a solver that is known, got XML of <{root.tag}>; read are {_READ}"
        )
    header = root.find("header")
    said = {} if header is None else header.attrib
    variables, rows = root.findall("variables/variable"), root.findall("linearConstraints/constraint")
    if not variables:
        raise _none(f"its status is {said.get('solutionStatusString', 'missing')}")
    values = _attributes(variables, "value")
    prices, reduced = _attributes(rows, "dual"), _attributes(variables, "reducedCost")
    objective = _number(said.get("objectiveValue", "nan"), "objectiveValue")
    return PrintedSolution(values, prices, reduced, zeros=said.get("writeLevel") == "3", objective=objective)


def _attributes(elements: Iterable[ElementTree.Element], key: str) -> dict[str, float]:
    """Numbers of elements by their names, where they have one."""
    held = (each.attrib for each in elements if key in each.attrib)
    return {each.get("name", "?"): _number(each[key], f"{key}={each[key]}") for each in held}


def _scip(lines: Sequence[str], names: Any) -> PrintedSolution:
    """SCIP's: names, values that are not 0, and their costs."""
    found = dict[str, float]()
    for line in lines:
        if line.startswith("no solution"):
            raise _none(line)
        if not line.startswith(("solution status:", "objective value:")):
            name, number = _pair(line)
            found[name] = number
    return PrintedSolution(found, zeros=True)


def _cbc(lines: Sequence[str], names: Any) -> PrintedSolution:
    """CBC's: numbers, names, values and duals; where everything is printed, rows come first."""
    if not lines[0].startswith(("Optimal", "Stopped")):
        raise _none(lines[0])
    parts = [dict[str, tuple[float, float]]()]
    last = -1
    for line in lines[1:]:
        words = line.removeprefix("**").split()
        if len(words) != 4:
            raise InputError(f"solution must have a number, a name, a value and a dual in each line, got {line!r:.100}")
        if int(words[0]) <= last:
            parts.append({})
        last = int(words[0])
        parts[-1][words[1]] = _number(words[2], line), _number(words[3], line)
    columns = parts[-1]
    if len(parts) == 1 and not set(columns) <= set(names[0]):
        raise InputError(f"solution must have variables of the program, got {next(iter(columns))!r:.100}")
    if len(parts) == 1:  # of rows nothing is printed
        return PrintedSolution(_first(columns), zeros=True)
    return PrintedSolution(_first(columns), _second(parts[0]), _second(columns), zeros=True)


def _glpk(lines: Sequence[str], names: Any) -> PrintedSolution:
    """The report of glpsol: two tables with fixed columns; a long name has a line of its own."""
    tables = list[dict[str, tuple[float, float]]]()
    name = ""
    for line in lines:
        if re.match(r" +No\. ", line):
            tables.append({})
        elif line.startswith("Karush"):
            break
        elif tables and not line.startswith("------"):
            if re.fullmatch(r" *\d+ \S+", line):  # the next line has its numbers
                name = line.split()[1]
                continue
            name = line[_GLPK_NAME].strip() or name
            marginal = line[_GLPK_MARGINAL].strip()
            price = 0.0 if marginal in ("", "< eps") else _number(marginal, line)
            tables[-1][name] = _number(line[_GLPK_VALUE], line), price
    if len(tables) != 2 or not tables[1]:
        raise _none("it has no table of columns with their statuses")
    rows, columns = tables
    return PrintedSolution(_first(columns), _second(rows), _second(columns))


def _glpk_raw(lines: Sequence[str], names: Any) -> PrintedSolution:
    """The short form of glpsol: rows and columns by their numbers; that of the objective may be a row, too."""
    kinds = {"i": dict[int, tuple[float, float]](), "j": {}}
    objective = float("nan")
    for line in lines:
        words = line.split()
        if words[0] == "s":
            objective = _number(words[-1], line)
        if words[0] in kinds and len(words) >= 4:
            value, *price = words[3:] if words[2].isalpha() else words[2:]
            kinds[words[0]][int(words[1])] = _number(value, line), _number(price[0], line) if price else 0.0
    rows, columns = kinds.values()
    variables, own_rows = names
    if len(columns) != len(variables):
        raise InputError(f"solution must have the {len(variables)} variables of the program, got {len(columns)}")
    place = dict(enumerate(variables, 1))
    values, reduced = ({place[k]: pair[side] for k, pair in columns.items()} for side in (0, 1))
    of_rows = [pair for _, pair in sorted(rows.items())]
    if len(rows) == len(own_rows) + 1:
        of_rows = _without_objective(of_rows, objective)
    if len(of_rows) != len(own_rows):
        return PrintedSolution(values)
    return PrintedSolution(values, dict(zip(own_rows, (price for _, price in of_rows), strict=True)), reduced)


def _without_objective(rows: list[tuple[float, float]], objective: float) -> list[tuple[float, float]]:
    """Values and prices of rows, without the row of the objective; nothing where it is open which that is.

    It stands where the model file has it, or last, and has the objective's value and no price. Where no row has that
    value, since a constant is in one of the two only, it is the first.
    """
    near = 1e-9 * max(1.0, abs(objective))
    alike = [k for k, (value, price) in enumerate(rows) if price == 0.0 and abs(value - objective) <= near] or [0]
    others = [rows[:k] + rows[k + 1 :] for k in alike]
    prices = {tuple(price for _, price in each) for each in others}
    return others[0] if len(prices) == 1 else []


def _first(table: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    return {name: pair[0] for name, pair in table.items()}


def _second(table: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    return {name: pair[1] for name, pair in table.items()}


def _pair(line: str) -> tuple[str, float]:
    """A name and a number."""
    words = line.split()
    if len(words) < 2:
        raise InputError(f"solution must have a name and a number in each line, got {line!r:.100}; read are {_READ}")
    return words[0], _number(words[1], line)


def _number(text: str, line: str) -> float:
    try:
        return number_from_text(text)
    except ValueError:
        raise InputError(f"solution must have numbers, got {text.strip()!r} in {line.strip()!r:.100}") from None


def _none(why: str) -> InputError:
    return InputError(f"solution must be there, got a file without one: {why}")


#: How the first line begins, and who reads such a file.
_FORMS: Iterable[tuple[str, Callable[..., PrintedSolution | None]]] = (
    (r"Model status$", _highs),
    (r"Columns$", _highs_table),
    (r"# (Solution|Objective)", _gurobi),
    (r"\{", _gurobi_json),
    (r"<(\?xml|CPLEXSolution)", _cplex),
    (r"solution status:|objective value:|no solution", _scip),
    (r"(Optimal|Stopped|Infeasible|Integer infeasible|Unbounded)\b.*objective value", _cbc),
    (r"Problem:", _glpk),
    (r"c Problem:|s (bas|ipt)", _glpk_raw),
)
