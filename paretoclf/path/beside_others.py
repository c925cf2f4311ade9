"""Somebody's path of a program, judged at its knots and between them beside one of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, real_array
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import AFFINE, STRANGERS
from paretoclf.engine.reduction.program import between
from paretoclf.path.along import JudgedPoints
from paretoclf.path.on_line import OnLine


class BesideOthers(OnLine):
    """A path of a program that judges those of others; its `proof` has a ``worst``."""

    def judge(
        self,
        t: Any,
        variables: Mapping[str, Any],
        duals: Mapping[str, Any] | None = None,
        *,
        tol: float = STRANGERS,
        between: bool = True,
    ) -> JudgedPoints:
        """Judge somebody's path of the same problem; `paretoclf.verify` takes it in the forms in which others write it.

        Parameters
        ----------
        t : array of shape (k,)
            Its knots, in this path; of two at one t the first is the end of the piece before.
        variables : mapping of str to array of shape (k, ...)
            Every variable of the problem at the knots.
        duals : mapping of str to array of shape (k, ...), optional
            Multipliers of constraints, by their names, with CVXPY's signs.
        tol : float
            How far objective, multipliers and each constraint may be off, relative to their size. Beside a path within
            eps, what is closer than that to its points is undecided where tol is smaller than eps.
        between : bool
            Whether it is linear between knots, and judged there: at every breakpoint of this path and in the middle
            of each two points. The excess is a parabola between them, so that no more than a quarter of what is found
            can hide, but where the other path goes through a kink of the objective.

        Raises
        ------
        InputError
            If a variable is missing or has another shape, or a knot is not on the path.
        """
        source = self._with_source("judge")
        knots = real_array(t, "t").ravel()
        if not knots.size or not ((knots >= 0) & (knots <= self.t[-1])).all() or (np.diff(knots) < 0).any():
            raise InputError(f"t must hold increasing numbers from 0 to {self.t[-1]:.10g}")
        given = {}
        for name, reading in self.program.variables.items():
            if name not in variables:
                raise InputError(f"variables must have {name}, got {', '.join(variables) or 'none'}")
            given[name] = _at_knots(variables[name], name, (knots.size, *reading.shape))
        theirs = {}
        for name, value in (duals or {}).items():
            if name not in self.program.multipliers:
                known = ", ".join(self.program.multipliers) or "none"
                raise InputError(f"duals must be of constraints whose multiplier is known, {known}, got {name!r:.100}")
            theirs[name] = _at_knots(value, name, (knots.size, *self.program.multipliers[name].shape))
        where = _places(knots, self.breakpoints if between else None)
        found, wrong = [], []
        for s, j, share in where:
            found.append(source.tried(s, _on_piece(given, j, share)))
            wrong.append(self._dual_error(s, _on_piece(theirs, j, share)) if theirs else 0.0)
        at, tried = np.array([s for s, _, _ in where]), np.array(found)
        best = np.array([self.value(s) for s, _, _ in where])
        unit = np.maximum(np.abs(best), 1e-3 * max(float(np.abs(best).max()), np.finfo(float).tiny))
        with np.errstate(over="ignore"):  # where the value is 0 all along
            excess = self.program.sense * (source.sign * tried[:, 0] - best) / unit
        there = [self.parameters(s) for s in at]
        moving = {name: np.array([p[name] for p in there]) for name, value in there[0].items() if np.ndim(value) == 0}
        return JudgedPoints(at, excess, tried[:, 1], tol, np.array(wrong), self.proof.worst.off_by, moving)

    def _dual_error(self, t: float, duals: Mapping[str, Array]) -> float:
        """How far multipliers are from those of any optimum."""
        raise NotImplementedError


def _at_knots(value: Any, name: str, shape: tuple[int, ...]) -> Array:
    """Values at knots, of the shape that they must have."""
    found = real_array(value, name)
    if found.shape != shape:
        raise InputError(f"{name} must have shape {shape}, got {found.shape}")
    if not np.isfinite(found).all():
        raise InputError(f"{name} must be finite at every knot, got {float(found[~np.isfinite(found)][0])}")
    return found


def _places(knots: Array, breakpoints: Array | None) -> list[tuple[float, int, float]]:
    """Where a path is judged: t, the piece (-1 - k at knot k itself), and how far along it."""
    found = []
    for k, knot in enumerate(knots.tolist()):
        found.append((knot, -1 - k, 0.0))
        if breakpoints is None or k + 1 == knots.size or knots[k + 1] <= knot:
            continue
        inside = breakpoints[(breakpoints > knot + AFFINE) & (breakpoints < knots[k + 1] - AFFINE)]
        ends = np.array([knot, *inside, knots[k + 1]])
        for at in np.sort(np.concatenate([inside, 0.5 * (ends[:-1] + ends[1:])])).tolist():
            found.append((at, k, (at - knot) / (float(knots[k + 1]) - knot)))
    return found


def _on_piece(values: Mapping[str, Array], j: int, share: float) -> dict[str, Any]:
    """What is linear between knots j and j + 1, so far along; of a negative j at knot -1 - j."""
    return {name: each[-1 - j] if j < 0 else between(each[j : j + 2], share) for name, each in values.items()}
