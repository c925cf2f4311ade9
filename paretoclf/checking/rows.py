"""Rows: solutions to be judged, as parameters and named numbers, from lists, arrays and results of ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import real_array, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.path.svm_lines.svm_path import OnPieces
from paretoclf.problem.classifiers import Classifier
from paretoclf.problem.costs import Costs, SampleCosts
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.sweep import Sweep

#: Numbers that a row may have in arrays, and the number of dimensions of each.
ARRAYS = {"alpha": 1, "alpha_lo": 1, "w": 1, "xi": 1, "b": 0, "rho": 0}


@dataclass(frozen=True)
class Row:
    """One solution to be judged.

    Attributes
    ----------
    values : mapping of str to float
        Parameters of the formulation; ``{"costs": SampleCosts}`` where each sample has a cost of its own.
    numbers : mapping of str to array or float
        Multipliers ``alpha``, slope ``w``, intercept ``b``, margin ``rho``, or what the programs name.
    stop : optional
        Stopping rule of the code that it is from: its ``kept(formulation, row, certificate)`` says what that left, as
        that of `paretoclf.checking.libsvm.Stop` does.
    note : str
        Note of its certificate.
    """

    values: Mapping[str, Any]
    numbers: Mapping[str, Any] = field(repr=False)
    stop: Any = field(default=None, repr=False)
    note: str = field(default="", repr=False)


def rows_of(given: Any, names: Sequence[str], vector: str = "alpha") -> list[Row]:
    """Rows of a formulation with these parameters.

    Parameters
    ----------
    given
        A `Solution`, `Sweep` or path; a mapping of arrays, in which k rows have parameters (k,), ``alpha`` (k, n) or
        ``w`` (k, d), ``b`` (k,); or an iterable whose members are mappings with the numbers of one row, solutions, or
        ``(*parameters, alpha)`` or ``(*parameters, alpha, b)``.
    names : sequence of str
        The parameters.
    vector : {"alpha", "w"}
        Name of the vector behind the parameters of a tuple.

    Raises
    ------
    InputError
        If it is none of these, or holds no row; with the index of the row at fault.

    Examples
    --------
    >>> from paretoclf.checking.rows import rows_of
    >>> rows_of([(1.0, 2.0, [0.5, 0.5], 0.0)], ("C_plus", "C_minus"))
    [Row(values={'C_plus': 1.0, 'C_minus': 2.0})]
    """
    if isinstance(given, Solution):
        return [_of_solution(given, names)]
    if isinstance(given, Sweep):
        return [_of_solution(solution, names) for solution in given]
    if isinstance(given, OnPieces):
        return [_of_solution(given.at(float(t)), names) for t in given.certificate_points]
    if isinstance(given, Mapping):
        return _of_arrays(given, names)
    return _of_list(given, names, vector)


def form_of(names: Sequence[str], vector: str = "alpha") -> str:
    """Write the form of a row as a tuple, for messages."""
    return f"({', '.join((*names, vector))}[, b])"


def _of_solution(solution: Solution, names: Sequence[str]) -> Row:
    """Row of a solution of ours."""
    values: dict[str, Any] = dict(solution.values)
    if isinstance(solution.costs, SampleCosts):
        values = {"costs": solution.costs}
    elif isinstance(solution.costs, Costs) and set(names) == {"C_plus", "C_minus"}:
        values = {"C_plus": solution.costs.C_plus, "C_minus": solution.costs.C_minus}
    numbers = dict(solution.numbers)
    slope = solution.classifier.slope if isinstance(solution.classifier, Classifier) else None
    if getattr(getattr(solution.classifier, "gram", None), "origin", None) is not None and "b" in numbers:
        numbers["b_at_origin"] = numbers.pop("b")  # features are measured from there
    return Row(values, numbers if slope is None else {**numbers, "w": slope})


def _of_list(given: Any, names: Sequence[str], vector: str) -> list[Row]:
    """Rows of an iterable of tuples, mappings or solutions."""
    form = form_of(names, vector)
    try:
        members = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else None
    except InputError:
        raise
    except Exception as error:  # an iterator of the caller's
        raise InputError(f"solutions cannot be read: {type(error).__name__}: {error}") from None
    if members is None:
        raise InputError(f"solutions must be a list of {form}, got {what_it_is(given)}")
    if not members:
        raise InputError(f"solutions must hold at least one {form}, got none: nothing would be verified")
    rows = []
    for k, member in enumerate(members):
        if isinstance(member, Solution):
            rows.append(_of_solution(member, names))
            continue
        if isinstance(member, Mapping):
            some = _of_arrays(member, names, f"solutions[{k}]: ")
            if len(some) != 1:
                raise InputError(f"solutions[{k}] must be one solution, got arrays of {len(some)}")
            rows += some
            continue
        size = len(member) if hasattr(member, "__len__") and not isinstance(member, str) else None
        without_b = len(names) + 1
        if size not in (without_b, without_b + 1):
            got = f"{size} entries" if size is not None else repr(member)
            raise InputError(f"solutions[{k}] must be {form}, got {got}")
        numbers = {vector: member[len(names)]}
        if size != without_b and member[-1] is not None:
            numbers["b"] = one_number(member[-1])
        rows.append(Row(dict(zip(names, member, strict=False)), numbers))
    return rows


def one_number(value: Any) -> Any:
    """Take the number out of an array of one, such as scikit-learn's ``intercept_``; return anything else as it is."""
    return value.item() if isinstance(value, np.ndarray) and value.shape == (1,) else value


def with_both_costs(given: Mapping[str, Any], names: Sequence[str], where: str = "") -> dict[str, Any]:
    """Columns by name; one called C stands for both costs, where there are two."""
    columns = dict(given)
    if "C" not in columns or set(names) != {"C_plus", "C_minus"}:
        return columns
    others = [name for name in ("costs", *names, "lambda") if columns.get(name) is not None]
    if others:
        raise InputError(f"{where}C stands for C_plus and C_minus; there must not be {others[0]} too")
    both = columns.pop("C")
    return {"C_plus": both, "C_minus": both, **columns}


def _of_arrays(given: Mapping[str, Any], names: Sequence[str], where: str = "") -> list[Row]:
    """Rows of a mapping of arrays; a single one where no array has a row for each."""
    columns = with_both_costs(given, names, where)
    if columns.get("costs") is not None and set(names) == {"C_plus", "C_minus"}:
        costs = real_array(columns.pop("costs"), f"{where}costs")
        if costs.shape[-1:] != (2,) or costs.ndim > 2:
            raise InputError(f"{where}costs must have shape (k, 2), got {costs.shape}")
        twice = [name for name in names if columns.get(name) is not None]
        if twice:
            raise InputError(f"{where}costs stands for C_plus and C_minus; there must not be {twice[0]} too")
        columns |= {"C_plus": costs[..., 0], "C_minus": costs[..., 1]}
    columns = {name: value for name, value in columns.items() if value is not None}
    arrays = {name: real_array(columns[name], f"{where}{name}") for name in columns if name in (*ARRAYS, *names)}
    if not arrays.keys() & {"alpha", "w"} and not columns.keys() - arrays.keys():
        raise InputError(f"{where}solutions must hold alpha, or w and b, got {', '.join(columns) or 'nothing'}")
    extra = {name: value.ndim - ARRAYS.get(name, 0) for name, value in arrays.items()}  # dimensions beyond one row's
    counts = {name: value.shape[0] for name, value in arrays.items() if extra[name] == 1}
    wrong = [name for name in arrays if extra[name] > 1]
    if wrong:
        raise InputError(f"{where}{wrong[0]} has too many dimensions, got shape {arrays[wrong[0]].shape}")
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise InputError(f"{where}all arrays must have one row for each solution, got {shown}")
    others = {name: value for name, value in columns.items() if name not in arrays}
    rows = []
    for k in range(next(iter(counts.values()), 1)):
        numbers: dict[str, Any] = {}
        for name, value in arrays.items():
            entry = value[k] if name in counts else value
            numbers[name] = entry if np.ndim(entry) else float(entry)
        values = {name: numbers.pop(name) for name in names if name in numbers}
        rows.append(Row(values, {**numbers, **others}))
    if not rows:
        raise InputError(f"{where}solutions must hold at least one row, got none: nothing would be verified")
    return rows
