r"""Full conformal prediction of a number: the p-value of every target that a new sample may have, exactly.

The target z of the new sample enters a fit that is a quadratic or linear program: lasso, ridge, quantile regression.
Along the line of z every coefficient is piecewise affine, and so is every residual. The p-value of z is the share of
samples, the new one included, whose absolute residual is at least that of the new one: a step function of z, whose
steps are where two residuals cross, ``r_i(z) = ±r(z)``. Others try values of z on a grid, with a fit for each.

References
----------
Lei (2019), "Fast exact conformalization of the lasso using piecewise linear homotopy", Biometrika 106; Nouretdinov,
Melluish & Vovk (2001), ICML (ridge); Vovk, Gammerman & Shafer (2005), section 2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Rng, check_number, check_rng, check_share, keep, real_array, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.common.tables import Tabular
from paretoclf.common.tolerances import AFFINE, TIED_RESIDUALS
from paretoclf.engine.reduction.program import between
from paretoclf.path.programs.problem_path import ProblemPath
from paretoclf.path.programs.program_points import ProblemPoint, moves

#: Of one point of a path the residuals of all samples, that of the new one last; affine in variables and parameters.
Residuals = Callable[[ProblemPoint], Any]


@dataclass(frozen=True, repr=False)
class TargetPValues(Tabular):
    """The p-value of a new sample's target z, as an exact step function, by full conformal prediction.

    It is the share of samples, the new one included, whose absolute residual in the fit to all of them, with that z, is
    at least that of the new one; of equal ones, where `target_p_values` was given rng, a share drawn at random counts.

    Attributes
    ----------
    z : array of shape (k + 1,)
        Where it steps, and the two ends of what was traced; increasing.
    p : array of shape (k,)
        Its values between.
    path : ProblemPath
        The fits at every z, which ``path.proof`` proves.
    """

    z: Array
    p: Array
    path: ProblemPath = field(repr=False)

    def __post_init__(self) -> None:
        keep(self, "z", "p")

    def __repr__(self) -> str:
        traced = f"z from {self.z[0]:g} to {self.z[-1]:g}"
        return f"TargetPValues(full conformal, {traced}, {self.p.size} steps, up to {self.p.max():.3g})"

    def __call__(self, z: float) -> float:
        """The p-value of a target; at a step the larger of the two beside it."""
        at = check_number(z, "z")
        if not self.z[0] <= at <= self.z[-1]:
            raise InputError(f"z must lie between {self.z[0]:g} and {self.z[-1]:g}, which were traced, got {z!r}")
        first, last = (int(np.searchsorted(self.z, at, side)) for side in ("left", "right"))
        return float(self.p[max(first - 1, 0) : min(last, self.p.size)].max())

    def interval_set(self, alpha: float) -> Array:
        """All targets whose p-value is above alpha: a union of closed intervals.

        With exchangeable samples it misses the true target with probability at most alpha.

        Parameters
        ----------
        alpha : float
            In (0, 1).

        Returns
        -------
        array of shape (j, 2)
            Their ends, increasing. One that is an end of what was traced may go on beyond it (`cut_off`).
        """
        alpha = check_share(alpha, "alpha")
        edges = np.flatnonzero(np.diff(self.p > alpha, prepend=False, append=False))
        return np.asarray(self.z[edges].reshape(-1, 2))

    def cut_off(self, alpha: float) -> bool:
        """Whether the set reaches an end of what was traced: then trace more."""
        found = self.interval_set(alpha)
        return bool(found.size) and bool(found[0, 0] == self.z[0] or found[-1, 1] == self.z[-1])

    def _rows(self) -> Iterator[dict[str, Any]]:
        for start, stop, p in zip(self.z[:-1].tolist(), self.z[1:].tolist(), self.p.tolist(), strict=True):
            yield {"start": start, "stop": stop, "p": p}


def target_p_values(path: ProblemPath, residuals: Residuals, *, rng: Rng | None = None) -> TargetPValues:
    """The p-value of every target of a new sample, from the path of a fit along it.

    Parameters
    ----------
    path : ProblemPath
        ``trace(problem, start={y: ...}, stop={y: ...})``, where the parameters at both ends differ in one number, the
        target z of the new sample. The problem must treat it as it treats the other samples.
    residuals : callable
        ``residuals(point)`` of a point of the path, with ``point.variables`` and ``point.parameters`` by name: those of
        all samples, the new one last, shape (n + 1,). They must be affine in variables and parameters.
    rng : int or numpy.random.Generator, optional
        What decides ties, so that the p-value of the true target is uniform. Without it they count whole.

    Returns
    -------
    TargetPValues
        ``interval_set(alpha)``, a union of intervals; the result itself is called for one target, ``found(z)``.

    Raises
    ------
    InputError
        If more than one number moves along the path, or residuals are not finite numbers, one a sample, or not affine.

    Notes
    -----
    A single z at which residuals only touch is no interval. Where a fit is not unique (quantile regression without a
    penalty) the path goes through one of them, which may depend on the order of the samples.

    Examples
    --------
    The lasso of three samples, and a fourth one at x = 4.

    >>> import cvxpy as cp
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from paretoclf.path.deletion import target_p_values
    >>> x, known = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.1, 1.9, 3.2])
    >>> beta, y = cp.Variable(name="beta"), cp.Parameter(4, name="y")
    >>> lasso = cp.Problem(cp.Minimize(cp.sum_squares(y - beta * x) / 2 + 0.1 * cp.abs(beta)))
    >>> path = pc.trace(lasso, start={y: np.append(known, -10.0)}, stop={y: np.append(known, 20.0)})
    >>> found = target_p_values(path, lambda at: at.parameters["y"] - at.variables["beta"] * x)
    >>> found.interval_set(0.25).round(3)
    array([[2.4, 4.9]])
    """
    first, last = _moving(path)
    share = 1.0 if rng is None else 1.0 - float(check_rng(rng).random())
    t = np.stack([path.t[:-1], path.t[1:]], axis=1)

    def at(j: int, u: float) -> Array:
        """Residuals on segment j, so far along."""
        here = float(between(t[j], u))
        variables = path.program.values(between(path.x[j], u), here)
        found = real_array(residuals(ProblemPoint(here, path.value(here), path.parameters(here), variables, {})), "r")
        if found.ndim != 1 or found.size < 2 or not np.isfinite(found).all():
            raise InputError(f"residuals must be finite numbers, one a sample, at least two, got {found!r:.100}")
        return found

    knots, values = [np.array([first + path.t[0] * (last - first)])], []
    for j in range(len(t)):
        ends = np.stack([at(j, 0.0), at(j, 1.0)])
        size = float(np.abs(ends).max())
        if np.abs(at(j, 0.5) - ends.mean(axis=0)).max() > AFFINE * size:
            bent = ", ".join(path.program.parabolas)
            why = f": no straight lines are {bent}, next to which a moving parameter stands" if bent else ""
            raise InputError(f"residuals must be affine in variables and parameters, which these are not{why}")
        steps, p = _steps(ends, TIED_RESIDUALS * size, share)
        knots.append(first + between(t[j], steps) * (last - first))
        values.append(p)
    z, p = np.concatenate(knots), np.concatenate(values)
    order = np.sign(last - first)
    kept = order * np.diff(z) > 0.0  # not so short that both ends are one number
    z, p = np.append(z[:1], z[1:][kept]), p[kept]
    changes = np.append(np.flatnonzero(np.diff(p)), p.size - 1)
    z, p = np.append(z[:1], z[1:][changes]), p[changes]
    return TargetPValues(z[:: int(order)], p[:: int(order)], path)


def _moving(path: ProblemPath) -> tuple[float, float]:
    """The one number that moves along a path, at both ends of its line."""
    if not isinstance(path, ProblemPath):
        raise InputError(f"path must be one of a problem of CVXPY, as trace returns it, got {what_it_is(path)}")
    moving = moves(path.ends)
    ends = [np.concatenate([np.ravel(each[k]) for each in moving.values()] or [np.zeros(0)]) for k in (0, 1)]
    which = np.flatnonzero(ends[0] != ends[1])
    if which.size != 1:
        raise InputError(f"path must be one along which one number moves, the target, got {which.size} that move")
    return float(ends[0][which[0]]), float(ends[1][which[0]])


def _steps(ends: Array, tied: float, share: float) -> tuple[Array, Array]:
    """Where on a segment the p-value steps, in (0, 1], the last at 1; and its value before each of these places.

    ``ends`` (2, n + 1) are residuals at both ends; ``tied`` is what of a difference is rounding; ties count so much.
    """
    crossings = []
    for sign in (-1.0, 1.0):
        a, b = ends[:, :-1] + sign * ends[:, -1:]  # (n,) each: zero where the two residuals are equal, or opposite
        cross = (a < 0.0) != (b < 0.0)
        crossings.append(a[cross] / (a[cross] - b[cross]))
    steps = np.unique(np.clip(np.concatenate([*crossings, [1.0]]), 0.0, 1.0))
    steps = steps[steps > 0.0]
    middle = 0.5 * (np.append(0.0, steps[:-1]) + steps)
    r = np.abs(between(ends, middle[:, None]))  # (places, n + 1)
    apart = r[:, :-1] - r[:, -1:]
    greater, same = np.count_nonzero(apart > tied, axis=1), np.count_nonzero(np.abs(apart) <= tied, axis=1)
    return steps, (greater + share * (same + 1)) / ends.shape[1]
