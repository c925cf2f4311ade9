"""What a map of a program consists of, in the user's names: points, regions, and parts without an optimum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Mask
from paretoclf.engine.reduction.plane import ProgramPlane
from paretoclf.path.base.points import shown, those
from paretoclf.path.base.uniqueness import undetermined
from paretoclf.path.programs.program_points import listed, reason_of, verdict_of
from paretoclf.path.regions.polygon import area, centroid
from paretoclf.proof.programs.rays import RayProof


@dataclass(frozen=True)
class MapPoint:
    """The optimum at one pair of parameters.

    Attributes
    ----------
    value : float
        The optimal value of the objective as it was written.
    parameters, variables, duals : mapping of str to number or array
        By name; duals have the signs and shapes of CVXPY's ``dual_value``.
    region : int
        Number of the region.
    """

    value: float
    parameters: Mapping[str, Any]
    variables: Mapping[str, Any]
    duals: Mapping[str, Any]
    region: int

    def __repr__(self) -> str:
        head = f"optimum{those(self.parameters)}: value {self.value:.10g}, region {self.region}"
        return "\n".join([head, *listed(self.variables, self.duals)])


@dataclass(frozen=True, repr=False)
class MapRegion:
    """A convex polygon of two parameters on which x and multipliers are affine, and the value is quadratic.

    Attributes
    ----------
    plane : ProgramPlane
        The program on the unit square.
    frame : array of shape (2, 2)
        The rectangle: both parameters' first value, then their widths.
    square : array of shape (k, 2)
        The polygon in the unit square.
    x, z : arrays of shape (n, 3), (m, 3)
        Columns and multipliers of the compiled program by ``(1, s, t)``, s and t in the unit square.
    active : bool array of shape (m,)
        Rows of the compiled program that are tight here, by the active set.
    """

    plane: ProgramPlane
    frame: Array
    square: Array
    x: Array
    z: Array
    active: Mask

    @property
    def polygon(self) -> Array:
        """Its corners, counterclockwise, as values of the two parameters, shape (k, 2)."""
        return np.asarray(self.frame[0] + self.frame[1] * self.square)

    @property
    def area(self) -> float:
        """Area of the polygon."""
        return float(area(self.polygon))

    @property
    def centroid(self) -> Array:
        """Centre of mass of the polygon."""
        return centroid(self.polygon)

    @property
    def tight(self) -> tuple[str, ...]:
        """Inequalities that hold with equality here, entry by entry, in the user's names; and bounds of variables.

        Of a bound on an absolute value of a variable the side is said, too.
        """
        line, found = self.plane.line, dict[str, None]()
        rows = sp.csr_array(line.A)
        inequalities = np.flatnonzero(self.active & (np.arange(line.m) >= line.equations)).tolist()
        terms = {i: _terms(rows, i) for i in inequalities}
        for i, own in terms.items():
            only = next(iter(own)) if len(own) == 1 else None
            if line.label(i):
                side = "" if only is None or line.is_named(only) else self._side(only, terms.values())
                found[f"{line.row_name(i)}{side}"] = None
            elif only is not None and line.is_named(only):
                found[f"{'upper' if own[only] > 0.0 else 'lower'} bound of {line.column_name(only)}"] = None
        return tuple(found)

    def _side(self, added: int, tight: Iterable[Mapping[int, float]]) -> str:
        """Which bound a variable is at whose absolute value is a column that CVXPY added; empty where that is none."""
        line = self.plane.line
        own = [terms for terms in tight if added in terms and len(terms) == 2]
        if len(own) != 1:
            return ""
        column, number = next((column, number) for column, number in own[0].items() if column != added)
        if not line.is_named(column) or own[0][added] >= 0.0:
            return ""
        return f" ({line.column_name(column)} at its {'upper' if number > 0.0 else 'lower'} bound)"

    @cached_property
    def several(self) -> tuple[str, ...]:
        """Entries of variables that are not the same at all optima, inside of the region; the map has one of them.

        Which rows have room, and which a price, is the same all over the inside: so what is found in the middle holds
        there.
        """
        middle = centroid(self.square)
        line = self.plane.between(middle, middle)
        columns, _ = undetermined(line, 0.0, *self.at(middle))
        return tuple(
            name + entry
            for name, reading in line.variables.items()
            for entry, place, factor in zip(reading.entries, reading.place, reading.factor, strict=True)
            if factor and columns[place]
        )

    @cached_property
    def variables(self) -> dict[str, Array]:
        """Each variable as an affine function: ``variables[name] @ (1, a, b)``, a and b the two parameters."""
        return {
            name: _stacked(each.of, self._by_parameters(self.x)) for name, each in self.plane.line.variables.items()
        }

    @cached_property
    def duals(self) -> dict[str, Array]:
        """Multipliers of each constraint, likewise."""
        return {
            name: _stacked(each.of, self._by_parameters(self.z))
            for name, each in self.plane.line.all_multipliers.items()
        }

    @cached_property
    def value_map(self) -> Array:
        """The optimal value as a quadratic function: ``(1, a, b) @ value_map @ (1, a, b)``, symmetric."""
        plane, line = self.plane, self.plane.line
        q, constant = (_by_coordinates(each) for each in (plane.q, plane.constant))
        M = 0.5 * self.x.T @ (line.P @ self.x) + q @ self.x
        M[0] += constant
        M = 0.5 * line.sense * (M + M.T)
        return np.asarray(self._shift.T @ M @ self._shift)

    @property
    def _shift(self) -> Array:
        """Matrix that takes (1, a, b) to (1, s, t)."""
        (low, width), found = self.frame, np.eye(3)
        found[1:, 0] = -low / width
        found[[1, 2], [1, 2]] = 1.0 / width
        return found

    def _by_parameters(self, own: Array) -> Array:
        return np.asarray(own @ self._shift)

    def at(self, place: Array) -> tuple[Array, Array]:
        """Columns and multipliers at a point of the unit square."""
        one = np.array([1.0, *place])
        return self.x @ one, self.z @ one

    def __repr__(self) -> str:
        tight = self.tight
        named = ", ".join(tight[:6]) or "nothing"
        more = f", ... {len(tight)} in all" if len(tight) > 6 else ""
        return f"MapRegion({len(self.square)} corners around ({shown(self.centroid)[1:-1]}), tight: {named}{more})"


def _terms(rows: Any, i: int) -> dict[int, float]:
    """Numbers of a row by their columns."""
    own = slice(rows.indptr[i], rows.indptr[i + 1])
    return dict(zip(rows.indices[own].tolist(), rows.data[own].tolist(), strict=True))


@dataclass(frozen=True)
class Outside:
    """A convex polygon of two parameters without an optimum, and why.

    Attributes
    ----------
    polygon : array of shape (k, 2)
        Its corners as values of the two parameters.
    status : {"infeasible", "unbounded"}
    blame : tuple of str
        Constraints that contradict each other, or variables along which the objective improves for ever from any point
        that is feasible; that there is one is not proved.
    ray : mapping of str to array
        Multipliers of the constraints, or a direction of the variables, that show it.
    proof : RayProof
        What of the ray is checked, in the middle of the polygon.
    """

    polygon: Array = field(repr=False)
    status: str
    blame: tuple[str, ...]
    ray: Mapping[str, Any] = field(repr=False)
    proof: RayProof = field(repr=False)

    @property
    def verdict(self) -> str:
        """Name what is proved, in a word or two: ``"infeasible"`` or ``"no optimum"``."""
        return verdict_of(self.status, feasible=False)

    def explain(self) -> str:
        """Say in words why there is none."""
        return reason_of(self.status, ", ".join(self.blame) or "what CVXPY added", feasible=False)


def _stacked(read: Any, maps: Array) -> Array:
    """Stack the readings of each column of maps along the last axis."""
    return np.stack([read(column) for column in maps.T], axis=-1)


def _by_coordinates(rows: Array) -> Array:
    """Coefficients of 1, s, t from values at three corners."""
    return np.stack([rows[0], rows[1] - rows[0], rows[2] - rows[0]])
