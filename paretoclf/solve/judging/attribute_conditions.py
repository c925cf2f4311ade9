"""Conditions that the attributes of a variable are for a point that is judged, and their multipliers.

Nobody gives the multipliers, as CVXPY keeps none: they are chosen to go with those that were given. They are shown, and
no verdict is about them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.engine.reduction.program import Reading
from paretoclf.proof.verdicts.evidence import Condition
from paretoclf.solve.judging.conditions import condition, parts_in_a_row, told
from paretoclf.solve.models.attributes import attribute_constraints, bounded_entries
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Model, dense


@dataclass(frozen=True)
class Attributes:
    """The attributes of the variables of a problem, some of which have one."""

    model: Model

    def conditions(self, values: Mapping[str, Any]) -> list[Condition]:
        """Conditions that they put on values of the variables."""
        found = []
        for name, variable in self.model.variables.items():
            if variable.num_attributes:
                found += _conditions_of(name, variable, values[name])
        return found

    def with_multipliers(
        self, conditions: Sequence[Condition], numbers: Mapping[str, Any], readings: Mapping[str, Reading], z: Array
    ) -> tuple[Condition, ...]:
        """The conditions of a point, those of attributes with their multipliers in z."""
        found: dict[str, Condition] = {}
        for name, variable in self.model.variables.items():
            value = np.reshape(dense(numbers[name]), variable.shape, order="F")
            constant = {id(variable): cp.Constant(value)}
            for label, constraint in attribute_constraints(variable).items():
                if label in readings:
                    own = _of_entries(readings[label].of(z), variable, label)
                    found[label] = replace(condition(label, constraint.tree_copy(constant), own), alone=False)
        return tuple(found.get(each.name, each) for each in conditions)


def _of_entries(multipliers: Any, variable: Any, name: str) -> Any:
    """The multipliers of those entries that a constraint of attributes is of."""
    entries = bounded_entries(variable, name)
    return multipliers if entries.size == variable.size else np.ravel(multipliers)[entries]


def _conditions_of(name: str, variable: Any, V: Any) -> list[Condition]:
    """Conditions that the attributes of a variable put on its value V."""
    said, fixed = variable.attributes, {id(variable): cp.Constant(V)}
    found = [condition(label, c.tree_copy(fixed)) for label, c in attribute_constraints(variable).items()]
    pattern = np.zeros(V.shape, dtype=bool)
    if said["sparsity"]:
        pattern[variable.sparse_idx] = True
    mirror = V.T if V.ndim < 2 else np.swapaxes(V, -2, -1)
    wrong: dict[str, Callable[[], Any]] = {
        "symmetric": lambda: V - mirror,
        "hermitian": lambda: V - np.conj(mirror),
        "diag": lambda: V - np.eye(V.shape[-1]) * V,
        "sparsity": lambda: np.where(pattern, 0.0, V),
        "imag": lambda: np.real(V),
    }
    mirrored = "hermitian" if variable.is_complex() else "symmetric"
    wanted = {kind for kind in wrong if said[kind]} | ({mirrored} if said["PSD"] or said["NSD"] else set())
    unit = 1.0 + np.ravel(np.maximum(np.abs(V), np.abs(mirror)) if mirror.shape == V.shape else np.abs(V))
    for kind in sorted(wanted):
        slack = parts_in_a_row(wrong[kind]())
        units = np.tile(unit, slack.size // unit.size)
        found.append(replace(told(f"{name}: {kind}", slack), equation=True, slack_unit=units))
    return found


def attributes_of(model: Model) -> Attributes | None:
    """The attributes of the variables of a problem; None where no variable has one."""
    has_some = any(variable.num_attributes for variable in model.variables.values())
    return Attributes(model) if has_some else None
