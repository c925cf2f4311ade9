"""Somebody's optimal values along a path of a program, without points: each beside the proved value there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.checking.beside import column_of_t, numbers_along, open_along, scales_along
from paretoclf.common.checks import Array, real_array
from paretoclf.common.errors import InputError
from paretoclf.common.tables import SHOWN, listing
from paretoclf.common.tolerances import STRANGERS
from paretoclf.path.base.points import those
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.report import Certified
from paretoclf.proof.verdicts.scale import Scale

#: What a value of the objective is called where it stands alone beside t.
VALUES = ("value", "objective")


@dataclass(frozen=True, repr=False)
class JudgedValues(Certified):
    """Somebody's values beside the optimal ones of a proved path; prints as a table.

    Attributes
    ----------
    t, values : array of shape (k,)
        Where, and what was given.
    bounds : array of shape (k, 2)
        Between which the optimal value is proved to lie.
    tol : float
    scales : tuple of Scale
        What differences are relative to at each t.
    parameters : mapping of str to array of shape (k,)
        The numbers among the parameters that move, at each t.
    """

    t: Array
    values: Array
    bounds: Array
    tol: float
    scales: tuple[Scale, ...] = field(repr=False)
    parameters: dict[str, Array] = field(default_factory=dict)

    @property
    def off(self) -> Array:
        """The most that each value can be off the optimal one, with its sign, relative to the scale there."""
        ends = self.values[:, None] - self.bounds
        most = np.take_along_axis(ends, np.abs(ends).argmax(axis=1)[:, None], axis=1)[:, 0]
        return np.asarray(most / np.array([scale.size for scale in self.scales]))

    @cached_property
    def certificates(self) -> tuple[Certificate, ...]:
        """Certificate of each value: it is refuted by as much as it is off its bounds."""
        found = []
        for value, (low, high), scale in zip(self.values.tolist(), self.bounds.tolist(), self.scales, strict=True):
            own = {"primal_value": high, "dual_value": low, "scale": scale.size, "relative_to": scale, "tol": self.tol}
            gap = max(abs(value - low), abs(value - high)) / scale.size
            found.append(Certificate(gap=gap, shortfall=max(value - high, low - value, 0.0), **own))
        return tuple(found)

    @cached_property
    def verdicts(self) -> list[str]:
        """Verdict on each value: whether it is the optimal one to ``tol``."""
        return [certificate.verdict(self.tol) for certificate in self.certificates]

    def explain(self, k: int | None = None) -> str:
        """Say in words what was found of one value; by default of the one that is furthest off."""
        k = range(len(self))[self.worst if k is None else k]
        low, high = self.bounds[k].tolist()
        known = f"is {low:.10g}" if low == high else f"lies in [{low:.10g}, {high:.10g}]"
        return (
            f"At {self._where(k)} the value {self.values[k]:.10g} is {self._said(k)} (tolerance {self.tol:.0e}): the "
            f"optimal value {known}, and it is off by at most {abs(self.off[k]):.1e} of {self.scales[k]}. {ALONE}"
        )

    def _said(self, k: int) -> str:
        """The verdict on value k, and on which side it is off."""
        verdict = self.verdicts[k]
        if verdict == "undecided":
            return "undecided: the optimal value is not known so closely"
        side = "too large" if self.off[k] > 0 else "too small"
        return verdict if verdict == "optimal" else f"{verdict}: {side}"

    def _where(self, k: int) -> str:
        return f"t = {self.t[k]:.6g}{those({name: each[k] for name, each in self.parameters.items()})}"

    def _title(self) -> str:
        k = self.worst
        said = f"{self.verdicts.count('optimal')} of {len(self)} values are the optimal ones to {self.tol:g}"
        at_most = f"{abs(self.off[k]):.1e} of {self.scales[k].number}, at {self._where(k)}"
        return f"{said}; the largest error is at most {at_most}. {ALONE}"

    def __repr__(self) -> str:
        names = (column_of_t(self.parameters), *self.parameters, "value", "off by")
        head = " ".join([*(f"{name:>10}" for name in names), f"{'relative to':>16}", " verdict"])
        rows = []
        for k in range(min(len(self), SHOWN)):
            numbers = (self.t[k], *(each[k] for each in self.parameters.values()), self.values[k])
            cells = " ".join(f"{number:10.6g}" for number in numbers)
            rows.append(f"{cells} {self.off[k]:10.1e} {self.scales[k].briefly:>16}  {self._said(k)}")
        return listing(head, rows, len(self), self._title())

    def _rows(self) -> Iterator[dict[str, Any]]:
        for k, verdict in enumerate(self.verdicts):
            moving = {name: float(each[k]) for name, each in self.parameters.items()}
            low, high = self.bounds[k].tolist()
            numbers = {"t": float(self.t[k]), "value": float(self.values[k]), "lower": low, "upper": high}
            yield {**moving, **numbers, "off": float(self.off[k]), "scale": self.scales[k].size, "verdict": verdict}


#: What a report of values says of all else.
ALONE = "Values alone were judged, where they were given: nothing is said of points that have them, or of other t."


def judge_values(path: Any, t: Any, values: Any, *, tol: float = STRANGERS) -> JudgedValues:
    """Judge values of the objective beside the proved ones of a path of the same problem.

    Parameters
    ----------
    path : ProblemPath, ConePath or CurvePath
    t, values : array of shape (k,)
        Where on the path, from 0 to 1, and the value of the objective there, in its own sense.
    tol : float
        Largest error of a value, relative to its scale (`Scale`).

    Raises
    ------
    InputError
        If there is not one finite value for each t, or a t is not on the path.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.checking.beside_values import judge_values
    >>> qp = pc.QP([[1.0]], [0.0], [[1.0]], [0.0], None, moves={"a": {"l": [1.0]}})
    >>> path = pc.trace(qp, start={"a": 0}, stop={"a": 2}, progress=False)
    >>> judge_values(path, [0.5, 1.0], [0.5, 2.01]).verdicts
    ['optimal', 'not optimal']
    """
    at, given = real_array(t, "t").ravel(), real_array(values, "value")
    if not at.size or given.shape != at.shape or not np.isfinite(given).all():
        raise InputError(f"value must have one finite number for each t, {at.size}, got shape {given.shape}")
    if not ((at >= 0) & (at <= path.t[-1])).all():
        raise InputError(f"t must hold numbers from 0 to {path.t[-1]:.10g}, got {at.min():.10g} to {at.max():.10g}")
    best = np.array([path.value(each) for each in at.tolist()])
    scales = scales_along(path, at, best)
    bounds = _bounds(path, at, best, scales)
    return JudgedValues(at.copy(), given.copy(), bounds, tol, scales, numbers_along(path, at))


def _bounds(path: Any, at: Array, best: Array, scales: tuple[Scale, ...]) -> Array:
    """Bounds (k, 2) on the optimal value at each t, infinite where the path is not proved."""
    if not hasattr(path, "bounds"):
        left = open_along(path, at, scales) * [scale.size for scale in scales]
        return np.stack([best - left, best + left], axis=1)
    if path.proof.why:
        return np.tile([-np.inf, np.inf], (at.size, 1))
    return np.array([path.bounds(each) for each in at.tolist()])
