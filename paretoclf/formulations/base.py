"""What every formulation has: parameters, a primal and a dual model, and the way back from numbers to a classifier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import cvxpy as cp

from paretoclf.errors import InputError
from paretoclf.solution import Solution
from paretoclf.solve.model import Form, Model, Point, check_form


class Formulation(ABC):
    """A pair of convex problems in named parameters. Builds models; solving is done elsewhere.

    A subclass states its parameters and two models, and says how to read a point and how to complete it.
    """

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, cp.Parameter]:
        """Parameters of both problems, by name."""

    @property
    @abstractmethod
    def primal_model(self) -> Model:
        """The primal problem, with names for its variables and constraints."""

    @property
    @abstractmethod
    def dual_model(self) -> Model:
        """The dual problem, with names for its variables and constraints."""

    @abstractmethod
    def read(self, form: Form, numbers: Mapping[str, Any]) -> Point:
        """Return the point that named variables and multipliers of one solved form describe."""

    @abstractmethod
    def complete(
        self,
        values: Mapping[str, float],
        point: Point,
        *,
        polish: bool,
        source: str,
        status: str,
        timing: Mapping[str, float],
    ) -> Solution:
        """Certify the point, and polish it on request."""

    @property
    def primal(self) -> cp.Problem:
        """The primal problem: a minimisation, DPP in the parameters."""
        return self.primal_model.problem

    @property
    def dual(self) -> cp.Problem:
        """The dual problem, written as a minimisation: its value is minus that of the primal. DPP."""
        return self.dual_model.problem

    def model(self, form: Form) -> Model:
        """Return the model of one form, ``"dual"`` or ``"primal"``."""
        return self.dual_model if check_form(form) == "dual" else self.primal_model

    def closed_form(self, values: Mapping[str, float]) -> Point | None:
        """Return the solution where it needs no solver, else None."""
        return None

    def check_values(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return the parameter values as floats, in the order of `parameters`.

        Raises
        ------
        InputError
            If a parameter is missing, unknown or no number.
        """
        names = list(self.parameters)
        for name in values:
            if name not in names:
                raise InputError(f"{name} must be one of the parameters {', '.join(names)}")
        for name in names:
            if name not in values:
                raise InputError(f"{name} must be given: the parameters are {', '.join(names)}")
        numbers = {}
        for name in names:
            try:
                numbers[name] = float(values[name])
            except (TypeError, ValueError):
                raise InputError(f"{name} must be a number, got {values[name]!r}") from None
        return numbers
