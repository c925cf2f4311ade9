r"""What is proved of a path of a compiled program: every t, by two points a segment.

On a segment x and z are affine in t, as are q and b. Feasibility, signs and stationarity :math:`Px+q+A^\top z=0` are
then largest at an end; the products :math:`(b-Ax)_iz_i`, whose sum is the duality gap, are quadratic and nowhere above
the largest of their Bernstein coefficients. Where P is positive semidefinite, which is proved apart, a feasible x whose
gradient is :math:`-A^\top z` is no further above the optimal value than that gap.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.checks import Array
from paretoclf.errors import InputError
from paretoclf.judges.definite import least_curvature
from paretoclf.reduction.program import ProgramLine, along, between, blocks, for_products
from paretoclf.tolerances import CERTIFY, PRODUCT_ROUNDING


@dataclass(frozen=True, repr=False)
class CompiledProof:
    """Bounds that hold at every t of each segment, on the program as CVXPY compiled it.

    Attributes
    ----------
    t : array of shape (k + 1,)
        Ends of the segments.
    residuals : mapping of str to array of shape (k,)
        ``"rows"``: equations and inequalities, each against the largest that its terms can be (its right hand side at
        either end of the line, and its coefficients times the largest column anywhere on the path);
        ``"stationarity"``: each entry of the gradient, likewise; ``"signs"`` of multipliers, against the largest term
        of the gradient.
    gap : array of shape (k,)
        The duality gap, relative to the optimal value: to no less than a thousandth of the terms that this is a sum of,
        and to no less than ``PRODUCT_ROUNDING / CERTIFY`` of what multipliers times the terms of their rows can be.
    indefinite : float
        By how much P is not proved positive semidefinite, relative to its largest entry.
    writer : callable, optional
        Writes the certificate file of what was proved.
    """

    t: Array = field(repr=False)
    residuals: Mapping[str, Array]
    gap: Array
    indefinite: float = 0.0
    writer: Callable[..., None] | None = field(default=None, repr=False, compare=False)

    def save(
        self,
        file: str | os.PathLike[str],
        level: str | None = None,
        progress: bool | None = None,
        n_jobs: int | None = None,
    ) -> None:
        """Write a certificate file of the program as CVXPY compiled it, with the ray where the path ends early.

        As for the proof of a path of classifiers. A bounded one states bounds that are wider by what doubles miss, and
        keeps variables without bounds within a box; of a path that ends early there is none.
        """
        if self.writer is None:
            raise InputError("no certificate file can be written of this proof: it does not belong to a path")
        self.writer(file, level, progress, n_jobs)

    @cached_property
    def worst(self) -> float:
        """The largest of all: residuals, gap, and what P lacks."""
        numbers = [*self.residuals.values(), self.gap, np.array([self.indefinite])]
        largest = float(np.max(np.concatenate(numbers)))
        return largest if np.isfinite(largest) else float("inf")

    def passes(self, tol: float = CERTIFY) -> bool:
        """Whether every residual and gap is at most tol."""
        return self.worst <= tol

    def explain(self, tol: float = CERTIFY) -> str:
        """Say in words what is proved, and where it is worst."""
        named = {**self.residuals, "duality gap": self.gap}
        name = max(named, key=lambda key: float(named[key].max(initial=0.0)))
        j = int(np.argmax(named[name])) if self.gap.size else 0
        where = f", on [{self.t[j]:.6g}, {self.t[j + 1]:.6g}]" if self.gap.size else ""
        said = f"{name}, {float(named[name].max(initial=0.0)):.1e}{where}"
        if self.indefinite > tol:
            return f"Not proved: P is not proved positive semidefinite, by {self.indefinite:.1e}. Largest: {said}"
        if not self.passes(tol):
            return f"Not proved to {tol:.0e} on all of {self.gap.size} segments. Largest: {said}"
        return (
            f"Optimal at every t in [{self.t[0]:.6g}, {self.t[-1]:.6g}], to {tol:.0e}, on each of {self.gap.size} "
            f"segments of the compiled program. Largest: {said}"
        )

    def __repr__(self) -> str:
        verdict = "optimal" if self.passes() else "not proved"
        residual = max((float(each.max(initial=0.0)) for each in self.residuals.values()), default=0.0)
        gap = float(self.gap.max(initial=0.0))
        return f"CompiledProof({self.gap.size} segments, {verdict}, gap={gap:.1e}, residual={residual:.1e})"


def judge_line(line: ProgramLine, t: Array, x: Array, z: Array) -> CompiledProof:
    """Judge points x (k, 2, n) and multipliers z (k, 2, m) at both ends of k segments, which are between t (k + 1,)."""
    k, times = x.shape[0], np.stack([t[:-1], t[1:]], axis=1).ravel()
    X, Z = x.reshape(2 * k, -1), z.reshape(2 * k, -1)
    # Along the whole path: at a point where all columns are 0 but for rounding, that rounding would be the unit.
    wide, tall = (max(float(each.max(initial=0.0)), -float(each.min(initial=0.0))) for each in (X, Z))
    row_sums, column_sums, sums = (np.asarray(abs(M).sum(axis=1)).ravel() for M in (line.A, line.A.T, line.P))
    terms = np.abs(line.q).max(axis=0) + wide * sums + tall * column_sums
    units = [np.abs(line.b).max(axis=0) + wide * row_sums, terms.max(initial=0.0), terms]
    units = [np.where(size > 0, size, 1.0) for size in units]  # what has none is as wrong as it is
    matrices = for_products(line.P), for_products(line.A), for_products(line.A.T)
    parts = [
        _judged(line, matrices, units, times[part], X[part].T, Z[part].T) for part in blocks(2 * k, line.n + line.m)
    ]
    rows, signs, stationarity, gap = np.concatenate(parts, axis=1) if parts else np.zeros((4, 0))
    largest = float(abs(line.P).max()) if line.P.nnz else 0.0
    lacking = max(0.0, -float(least_curvature(line.P).min(initial=0.0)))
    residuals = {"rows": rows, "signs": signs, "stationarity": stationarity}
    return CompiledProof(t, residuals, gap, lacking / largest if largest else 0.0)


def _judged(
    line: ProgramLine, matrices: tuple[Any, Any, Any], units: list[Array], t: Array, X: Array, Z: Array
) -> Array:
    """Residuals of rows, signs and stationarity, and the gap (4, k), of k segments: two points each, in columns."""
    (P, A, transposed), (rows, largest, terms), e = matrices, units, line.equations
    q, X, Z = along(line.q, t), np.ascontiguousarray(X), np.ascontiguousarray(Z)
    PX, slack = P @ X, along(line.b, t) - A @ X
    share, gradient = slack / rows[:, None], PX + q + transposed @ Z
    equations, inequalities = np.abs(share[:e]).max(axis=0, initial=0.0), -share[e:].min(axis=0, initial=0.0)
    signs = -Z[e:].min(axis=0, initial=0.0) / largest
    stationarity = np.abs(gradient / terms[:, None]).max(axis=0, initial=0.0)
    value = np.einsum("ij,ij->j", X, 0.5 * PX + q) + along(line.constant[:, None], t)[0]
    unit = np.maximum(np.abs(value), 1e-3 * np.einsum("ij,ij->j", np.abs(X), 0.5 * np.abs(PX) + np.abs(q)))
    prices = np.abs(Z)
    unit = np.maximum(unit, PRODUCT_ROUNDING / CERTIFY * (rows @ prices))
    products = np.einsum("ij,ij->j", np.abs(slack), prices).reshape(-1, 2).max(axis=1)
    middle = 0.5 * np.abs(slack[:, ::2] * Z[:, 1::2] + slack[:, 1::2] * Z[:, ::2]).sum(axis=0)
    found = np.stack([np.maximum(equations, inequalities), signs, stationarity]).reshape(3, -1, 2).max(axis=2)
    gap = np.maximum(products, middle) / np.maximum(unit.reshape(-1, 2).max(axis=1), np.finfo(float).tiny)
    return np.vstack([found, gap]) + 0.0  # no -0.0


@dataclass(frozen=True, repr=False)
class RayProof:
    r"""Why there is no optimum at the end of a line, on the program as CVXPY compiled it.

    Attributes
    ----------
    residual : float
        By how much the ray is none, relative to the largest of its terms: of multipliers z, that :math:`A^\top z=0`
        and their signs; of a direction x, that :math:`Px=0` and that no row is left along it.
    gain : float
        What it gains there, relative to the sum of its terms, positive: :math:`-b^\top z`, or :math:`-q^\top x`.
    """

    residual: float
    gain: float

    def passes(self, tol: float = CERTIFY) -> bool:
        """Whether it gains something, and more than by what it misses."""
        return bool(self.residual <= tol and self.gain > self.residual)

    def __repr__(self) -> str:
        verdict = "proved" if self.passes() else "not proved"
        return f"RayProof({verdict}, gain={self.gain:.1e}, residual={self.residual:.1e})"


def judge_ray(line: ProgramLine, status: str, ray: Array, t: float = 1.0) -> RayProof:
    """Judge a ray at one t: multipliers where a program is infeasible, a direction of x where it is unbounded."""
    e, largest = line.equations, max(float(np.abs(ray).max(initial=0.0)), np.finfo(float).tiny)
    r = ray / largest

    def share(wrong: list[Array], terms: Array) -> float:
        size = float(terms.max(initial=0.0))
        return max(float(np.abs(each).max(initial=0.0)) for each in wrong) / size if size else 0.0

    if status == "infeasible":
        cost, terms = between(line.b, t), abs(line.A).T @ np.abs(r)
        residual = max(share([line.A.T @ r], terms), float(-np.minimum(r[e:], 0.0).min(initial=0.0)))
    else:
        cost, rows = between(line.q, t), line.A @ r
        residual = max(
            share([line.P @ r], abs(line.P) @ np.abs(r)),
            share([rows[:e], np.maximum(rows[e:], 0.0)], abs(line.A) @ np.abs(r)),
        )
    size = float(np.abs(cost) @ np.abs(r))
    return RayProof(residual, -float(cost @ r) / size if size else 0.0)
