r"""What is proved of a path of a compiled program: every t, by two points a segment.

It is the case of `paretoclf.proof.theorem` in which all bounds are rows :math:`Ax\le b`, and u = x. On a segment x and
z are affine in t, as are q and b. Feasibility, signs and stationarity :math:`Px+q+A^\top z=0` are then largest at an
end; the products :math:`(b-Ax)_iz_i`, whose sum is the duality gap, are quadratic and nowhere above the largest of
their Bernstein coefficients. That P is positive semidefinite is proved apart.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import CERTIFY, OWN_SIZE, OWN_TERMS, POINT, PRODUCT_ROUNDING, RESIDUAL_ROUNDING
from paretoclf.engine.reduction.products import blocks, plainly, turned
from paretoclf.engine.reduction.program import AnyPoints, Points, ProgramLine, between
from paretoclf.problem.definite import least_curvature
from paretoclf.problem.parametric_qp import shortest_stretch

_TINY = float(np.finfo(float).tiny)

_CLEAR = 0.01

#: What residuals are of.
CONDITIONS = ("rows", "stationarity", "signs", "complementarity")


@dataclass(frozen=True, repr=False)
class CompiledProof:
    """Bounds that hold at every t of each segment, on the program as CVXPY compiled it.

    Attributes
    ----------
    t : array of shape (k + 1,)
        Ends of the segments.
    residuals : mapping of str to array of shape (k,)
        ``"rows"``: equations and inequalities, each against its own terms on the segment: its right hand side, and its
        coefficients times the columns; ``"stationarity"``: each entry of the gradient, likewise; ``"signs"``: what each
        multiplier that is negative adds to a gradient, against the terms of that; ``"complementarity"``: of each
        inequality the smaller of its slack, against the terms of the row, and its multiplier, as for signs (where the
        slack is below ``RESIDUAL_ROUNDING``, the slack). No unit is less than ``OWN_TERMS`` (for slacks and multipliers
        ``OWN_SIZE``) of what it would be if all columns, or multipliers, were as large as the largest on the segment
        that equations or P connect with it: of that much doubles know nothing.
    gap : array of shape (k,)
        The duality gap, relative to the optimal value on the segment: to no less than a thousandth of the terms that
        this is a sum of, and to no less than ``PRODUCT_ROUNDING / CERTIFY`` of the terms of x'Px, and of what
        multipliers times those of their rows can be.
    indefinite : float
        By how much P is not proved positive semidefinite, relative to its largest entry.
    writer : callable, optional
        Writes the certificate file of what was proved.
    unchecked : str
        What the path says that nothing checks: of one that was loaded from an older file.
    """

    t: Array = field(repr=False)
    residuals: Mapping[str, Array]
    gap: Array
    indefinite: float = 0.0
    writer: Callable[..., None] | None = field(default=None, repr=False, compare=False)
    unchecked: str = ""

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
        where = f", on {_interval(*self.t[j : j + 2].tolist())}" if self.gap.size else ""
        said = f"{name}, {float(named[name].max(initial=0.0)):.1e}{where}"
        if self.indefinite > tol:
            return f"Not proved: P is not proved positive semidefinite, by {self.indefinite:.1e}. Largest: {said}"
        if not self.passes(tol):
            return f"Not proved to {tol:.0e} on all of {self.gap.size} segments. Largest: {said}"
        return (
            f"Optimal at every t in [{self.t[0]:.6g}, {self.t[-1]:.6g}], to {tol:.0e}, on each of {self.gap.size} "
            f"segments of the compiled program. Largest: {said}"
            + (f". {self.unchecked[0].upper()}{self.unchecked[1:]}: said, not checked" if self.unchecked else "")
        )

    def __repr__(self) -> str:
        verdict = "optimal" if self.passes() else "not proved"
        residual = max((float(each.max(initial=0.0)) for each in self.residuals.values()), default=0.0)
        gap = float(self.gap.max(initial=0.0))
        return f"CompiledProof({self.gap.size} segments, {verdict}, gap={gap:.1e}, residual={residual:.1e})"


def _interval(begin: float, end: float) -> str:
    """A segment in words; of one whose ends look alike its length."""
    ends = f"[{begin:.6g}, {end:.6g}]"
    return f"{ends}, {end - begin:.1e} long" if f"{begin:.6g}" == f"{end:.6g}" else ends


def judge_points(line: ProgramLine, t: Array, points: AnyPoints) -> CompiledProof:
    """Judge points, between which k segments lie, at t (k + 1,)."""
    residuals, gap = _residuals(line, t, points)
    return CompiledProof(t, residuals, gap, indefinite(line.P))


def indefinite(P: Any) -> float:
    """By how much a matrix is not proved positive semidefinite, relative to its largest entry."""
    largest = float(abs(P).max()) if P.nnz else 0.0
    lacking = max(0.0, -float(least_curvature(P, signs=True).min(initial=0.0)))
    return lacking / largest if largest else 0.0


def _residuals(line: ProgramLine, t: Array, points: AnyPoints) -> tuple[dict[str, Array], Array]:
    """Residuals by their names, and the gap, each of shape (k,); a stretch of no length is two points, judged apart."""
    at = np.zeros(len(points))
    at[points.begin], at[points.begin + 1] = t[:-1], t[1:]
    sizes, parts = Sizes(line), []
    for part in blocks(len(points) - 1, line.n + line.m):
        own = slice(part.start, part.stop + 1)
        parts.append(judged(line, sizes, _data(line, at[own]), *points.part(own), _Neighbours()))
    found = np.concatenate(parts, axis=1)[:, points.begin]  # of two points at a jump there is no segment
    for j in np.flatnonzero(np.diff(t) <= min(shortest_stretch(line.q, line.b), POINT)).tolist():
        place, (X, Z) = points.begin[j] + np.arange(2), (np.repeat(each, 2, axis=0) for each in points.segment(j))
        data = _data(line, np.repeat(at[place], 2))
        found[:, j] = judged(line, sizes, data, X, Z, _Neighbours())[:, ::2].max(axis=1)
    return dict(zip(CONDITIONS, found[:4], strict=True)), found[4]


class Sizes:
    """Coefficients of a program in absolute values: what units are made of.

    Rounding of one column reaches another only where rows, or P, connect the two.
    """

    def __init__(self, line: ProgramLine) -> None:
        P, A, _ = self.plain = line.products  # with P, A and A', and with their absolute values
        self.P, self.A, self.entries = P.of_sizes, A.of_sizes, line.rows
        self.transposed = self.A.T
        self.n, count = line.n, line.n + line.m
        (i, j), (row, column) = P.connected(), A.connected()
        edges = np.concatenate([i, row + line.n]), np.concatenate([j, column])
        graph = sp.coo_array((np.ones(edges[0].size), edges), shape=(count, count))
        _, self.part = connected_components(graph, directed=False)
        self.order = np.argsort(self.part, kind="stable")
        self.begin = np.flatnonzero(np.diff(self.part[self.order], prepend=-1))
        each = (self.P, line.n), (self.A, line.n), (self.transposed, line.m)
        self.sums = [(M @ np.ones((size, 1))).ravel() for M, size in each]
        columns = sp.csc_array(line.A)
        most, used = np.zeros(line.n), np.flatnonzero(np.diff(columns.indptr))
        if used.size:
            most[used] = np.maximum.reduceat(np.abs(columns.data), columns.indptr[used])
        self.balancing = np.where(most > 0.0, 1.0 / np.where(most > 0.0, most, 1.0), 0.0)
        curved = np.flatnonzero(self.sums[0] > 0.0)  # of others nobody asks what is natural
        self.curved, self.curvature = plainly(curved), P.of_rows(curved)
        self.equations = sp.csc_array(abs(columns[:, curved])[: line.equations])
        self.determined_columns = curved[np.diff(self.equations.indptr) > 0]

    def connected(self, columns: Array, rows: Array | None = None) -> tuple[Array, Array]:
        """The largest of all columns and rows that each has to do with, (k, n) and (k, m), or (k, 1) if that is one."""
        if self.begin.size == 1:
            parts = [each.max(axis=1, initial=0.0, keepdims=True) for each in (columns, rows) if each is not None]
            most = np.maximum(parts[0], parts[-1])
            return most, most
        every = np.zeros((len(columns), self.part.size))
        every[:, : self.n] = columns
        if rows is not None:
            every[:, self.n :] = rows
        every = np.maximum.reduceat(every[:, self.order], self.begin, axis=1)[:, self.part]
        return every[:, : self.n], every[:, self.n :]

    def determined(self, terms: Array) -> Array:
        """What columns of P would be if in the equations that say what they are nothing cancelled; 0 elsewhere."""
        M, found = self.equations, np.zeros((len(terms), self.n))
        if M.nnz:
            begin = M.indptr[:-1][np.diff(M.indptr) > 0]
            each = terms[:, M.indices] / M.data
            found[:, self.determined_columns] = np.minimum.reduceat(each, begin, axis=1)
        return found


@dataclass(frozen=True)
class Units:
    """What residuals are small against: of each its own terms on k segments, and no less than doubles can know.

    Attributes
    ----------
    sizes : Sizes
    rows, gradient : arrays of shape (k, m), (k, n)
        The unit of each row and of each entry of the gradient: its terms, and ``OWN_TERMS`` of what they would be if
        each were the largest column, or multiplier, connected with it.
    slacks : array of shape (k, m)
        What a slack is multiplied with to be its share of the row's terms, of which ``OWN_SIZE`` counts.
    shares : array of shape (k, n)
        The same for what multipliers add to the gradient.
    largest : array of shape (k, m)
        What the terms of each row would be if each were the largest column.
    squares : array of shape (k,)
        What the terms of x'Px would be if in each equation nothing cancelled.
    """

    sizes: Sizes
    rows: Array
    gradient: Array
    slacks: Array
    shares: Array
    largest: Array
    squares: Array

    @classmethod
    def of(cls, sizes: Sizes, q: Array, b: Array, x: Array, z: Array, *, none: float) -> Units:
        """The units of the largest that data, columns and multipliers are on each of k segments, in absolute values.

        They grow with each of these numbers. What has no size has the unit ``none``: is as wrong as it is.
        """
        P_sums, row_sums, column_sums = sizes.sums
        row_terms = b + sizes.A(x)
        # Where q and Px cancel, multipliers are their rounding: no less than the least that would balance one of them.
        natural = np.maximum(x, sizes.determined(row_terms[:, : sizes.equations.shape[0]]))
        curved, squared = sizes.P(natural), sizes.P(x)
        wide, tall = sizes.connected(x), sizes.connected((q + curved) * sizes.balancing, z)
        terms = sizes.transposed(z)
        terms += q + squared
        most_b, most_q = wide[1] * row_sums, wide[0] * P_sums
        most_q += tall[0] * column_sums
        return cls(
            sizes,
            _unit(row_terms, OWN_TERMS, most_b, none),
            _unit(terms, OWN_TERMS, most_q, none),
            np.reciprocal(_unit(row_terms, OWN_SIZE, most_b, none)),
            np.reciprocal(_unit(terms, OWN_SIZE, most_q, none)),
            np.add(most_b, b, out=most_b),
            np.einsum("ij,ij->i", natural, curved),
        )

    @classmethod
    def at(cls, line: ProgramLine, t: Array, x: Array, z: Array, sizes: Sizes | None = None) -> Units:
        """The units of one segment, or point: of what x and z, one at each of its t, are at most."""
        data = (np.abs(_at(ends, t)) for ends in (line.q, line.b))
        most = (np.abs(each).max(axis=0, keepdims=True) for each in (*data, x, z))
        return cls.of(sizes or Sizes(line), *most, none=1.0)

    def prices(self, asked: Any) -> Array:
        """What makes a multiplier its largest share of an entry of the gradient, where asked, of shape (k, m)."""
        A, found = self.sizes.entries, np.zeros(asked.shape)
        k, i = np.nonzero(asked & (np.diff(A.indptr) > 0))
        if k.size:
            count = np.diff(A.indptr)[i]
            begin = np.cumsum(count) - count
            place = np.arange(begin[-1] + count[-1]) + np.repeat(A.indptr[i] - begin, count)
            own = np.repeat(np.minimum(k, len(self.shares) - 1), count)
            each = np.abs(A.data[place]) * self.shares[own, A.indices[place]]
            found[k, i] = np.maximum.reduceat(each, begin)
        return found


def _unit(terms: Array, share: float, most: Array, none: float) -> Array:
    """Terms, and a share of what they could be; what has no size has this one."""
    size = share * most
    size += terms
    size[size == 0.0] = none
    return np.asarray(size)


class _Neighbours:
    """Each two points that follow each other."""

    def most(self, values: Array) -> Array:
        """The larger value of the two."""
        return np.maximum(values[:-1], values[1:])

    def least(self, values: Array) -> Array:
        """The smaller one."""
        return np.minimum(values[:-1], values[1:])

    def products(self, off: Array, prices: Array) -> Array:
        """The largest Bernstein coefficient of what is affine between the two, times the same."""
        begin, end = slice(0, -1), slice(1, None)
        own = self.most(np.einsum("ij,ij->i", off, prices))
        middle = sum(np.einsum("ij,ij->i", off[a], prices[b]) for a, b in ((begin, end), (end, begin)))
        return np.asarray(np.maximum(own, 0.5 * middle))


@dataclass(frozen=True)
class _Left:
    """What points of a program leave: slacks, their sizes, those of multipliers, columns and of the gradient."""

    line: ProgramLine
    slack: Array
    off: Array
    Z: Array
    prices: Array
    columns: Array
    gradient: Array
    data: tuple[Array, Array]

    def on_each(self, sizes: Sizes, of: Any, size: Array, products: Array) -> Array:
        """Residuals and gap (5, k) of each part, in units of its own."""
        e, inequality = self.line.equations, np.arange(self.line.m) >= self.line.equations
        room, largest, missed, least = of.most(self.off), of.most(self.prices), of.most(self.gradient), of.least(self.Z)
        q, b = (_largest(each, of) for each in self.data)
        units = Units.of(sizes, q, b, of.most(self.columns), largest, none=1.0)
        beyond = np.hstack([room[:, :e], -of.least(self.slack[:, e:])])
        violated, stationarity = (
            (left / unit).max(axis=1, initial=0.0) for left, unit in ((beyond, units.rows), (missed, units.gradient))
        )
        share = units.slacks * room
        price = units.prices(inequality & ((least < 0.0) | ((share > RESIDUAL_ROUNDING) & (largest > 0.0))))
        signs = -(price * least)[:, e:].min(axis=1, initial=0.0)
        both = _smaller(share, price, largest)[:, e:].max(axis=1, initial=0.0)
        rounding = np.einsum("ij,ij->i", largest, units.largest) + units.squares
        return np.stack([violated, stationarity, signs, both, _relative(products, size, rounding)]) + 0.0  # no -0.0

    def on_all(self, sizes: Sizes, of: Any, size: Array, products: Array) -> Array:
        """Bounds of the same: the largest that is left at any point, in the least units."""
        e, m = self.line.equations, self.line.m
        few = (_sizes(each).min(axis=0, keepdims=True) for each in self.data)
        least = (each.min(axis=0, keepdims=True) for each in (self.columns, self.prices))
        units = Units.of(sizes, *few, *least, none=_TINY)
        room, largest = (each.max(axis=0, initial=0.0, keepdims=True) for each in (self.off, self.prices))
        beyond = np.hstack([room[:, :e], -self.slack[:, e:].min(axis=0, keepdims=True)])
        left = [(beyond, units.rows), (self.gradient.max(axis=0, keepdims=True), units.gradient)]
        found = [(most / unit).max(initial=0.0) for most, unit in left]
        negative = self.Z.min(axis=0, keepdims=True)
        share = units.slacks * room
        meeting = (np.arange(m) >= e) & (share > 0.0) & (largest > 0.0)
        price = units.prices((np.arange(m) >= e) & ((negative < 0.0) | (meeting & (share > RESIDUAL_ROUNDING))))
        found.append(-(price * negative)[:, e:].min(initial=0.0))
        some = np.flatnonzero(meeting)
        own = units.slacks[:, some] * of.most(self.off[:, some])
        both = _smaller(own, price[:, some], of.most(self.prices[:, some])).max(axis=1, initial=0.0)
        rounding = self.prices.min(axis=0) @ units.largest[0] + units.squares
        gap = _relative(products, size, rounding)
        return np.stack([*(np.full(gap.size, each) for each in found), both, gap]) + 0.0


def _smaller(share: Array, price: Array, largest: Array) -> Array:
    """The smaller of a slack and its multiplier, as shares; the slack, where nobody asked for the other."""
    return np.where((price > 0.0) | (largest == 0.0), np.minimum(share, price * largest), share)


def _relative(products: Array, size: Array, rounding: Array) -> Array:
    """Gaps over the sizes of values, and no less than what of those is rounding."""
    return np.asarray(products / np.maximum(np.maximum(size, PRODUCT_ROUNDING / CERTIFY * rounding), _TINY))


def judged(line: ProgramLine, sizes: Sizes, data: Sequence[Array], X: Array, Z: Array, of: Any) -> Array:
    """Residuals of rows, stationarity, signs, complementarity, and the gap (5, k), of points and their q, b, constant.

    ``of`` says which points belong together, to each of k parts. Where the least units of all parts explain all that is
    left, as nearly always, no part is asked for its own: the bound is wider then, and no more than a hundredth of
    ``CERTIFY``.
    """
    (_, A, transposed), (q, b, constant), curved = sizes.plain, data, sizes.curved
    x, z = np.ascontiguousarray(X.T), np.ascontiguousarray(Z.T)
    Px, gradient = sizes.curvature @ x, transposed @ z
    gradient[curved] += Px
    gradient += q.T
    slack, missed = A @ x, turned(np.abs(gradient, out=gradient))
    slack = turned(np.subtract(b.T, slack, out=slack))
    left = _Left(line, slack, np.abs(slack), Z, np.abs(Z), np.abs(X), missed, (q, b))
    value = _dots(X, q) + 0.5 * np.einsum("ji,ji->i", x[curved], Px) + constant
    size = _dots(left.columns, _sizes(q)) + 0.5 * np.einsum("ij,ji->i", left.columns[:, curved], np.abs(Px))
    known = sizes, of, of.most(np.maximum(np.abs(value), 1e-3 * size)), of.products(left.off, left.prices)
    if known[2].size > 1:
        with np.errstate(over="ignore", invalid="ignore"):  # where there is no size
            found = left.on_all(*known)
        if (found <= _CLEAR * CERTIFY).all():
            return found
    return left.on_each(*known)


def _dots(X: Array, data: Array) -> Array:
    """Points times data there."""
    return np.asarray(X @ data[0] if data.strides[0] == 0 or len(data) < len(X) else np.einsum("ij,ij->i", X, data))


def _sizes(data: Array) -> Array:
    """The sizes of data at points; one row where they stand still."""
    return np.abs(data[:1] if data.strides[0] == 0 else data)


def _largest(data: Array, of: Any) -> Array:
    """The largest of them at the points of each part; one row where they stand still."""
    return _sizes(data) if data.strides[0] == 0 else np.asarray(of.most(_sizes(data)))


def _data(line: ProgramLine, t: Array) -> tuple[Array, Array, Array]:
    """The vectors q and b at points of a line, and the constant."""
    q, b = (np.broadcast_to(_at(ends, t), (t.size, ends.shape[1])) for ends in (line.q, line.b))
    return q, b, between(line.constant, t)


def _at(ends: Array, t: Array) -> Array:
    """What is affine in t at k points, (k, size), or (1, size) where it stands still."""
    if np.array_equal(ends[0], ends[1]):
        return ends[:1]
    return np.asarray(np.multiply.outer(1.0 - t, ends[0]) + np.multiply.outer(t, ends[1]))


@dataclass(frozen=True, repr=False)
class RayProof:
    r"""Why there is no optimum at the end of a line, on the program as CVXPY compiled it.

    Attributes
    ----------
    residual : float
        By how much the ray is none, in the units of `CompiledProof`: of multipliers z, that :math:`A^\top z=0` and
        their signs; of a direction x, that :math:`Px=0` and that no row is left along it.
    gain : float
        What it gains there, relative to the sum of its terms, positive: :math:`-b^\top z`, or :math:`-q^\top x`.
    since : float
        As that is affine in t, there is no optimum at any t of the line after this; infinite where it gains nothing at
        t = 1.
    """

    residual: float
    gain: float
    since: float = 0.0

    def passes(self, tol: float = CERTIFY) -> bool:
        """Whether it gains something, and more than by what it misses."""
        return bool(self.residual <= tol and self.gain > self.residual)

    def __repr__(self) -> str:
        verdict = "proved" if self.passes() else "not proved"
        return f"RayProof({verdict}, gain={self.gain:.1e}, residual={self.residual:.1e})"


def judge_ray(line: ProgramLine, status: str, ray: Array, t: float = 1.0) -> RayProof:
    """Judge a ray at one t: multipliers where a program is infeasible, a direction of x where it is unbounded."""
    r = ray / max(float(np.abs(ray).max(initial=0.0)), np.finfo(float).tiny)
    none = {name: np.zeros_like(getattr(line, name)) for name in ("q", "b", "constant")}
    x, z = (np.zeros(line.n), r) if status == "infeasible" else (r, np.zeros(line.m))
    misses, _ = _residuals(
        replace(line, **none), np.zeros(2), Points.of(x[None, None].repeat(2, 1), z[None, None].repeat(2, 1))
    )
    residual = max(float(misses[name][0]) for name in ("rows", "stationarity", "signs"))
    costs = line.b if status == "infeasible" else line.q
    first, last = (-float(each @ r) for each in costs)
    since = max(0.0, first / (first - last)) if last > max(first, 0.0) else 0.0 if last > 0.0 else float("inf")
    cost = between(costs, t)
    size = float(np.abs(cost) @ np.abs(r))
    return RayProof(residual, -float(cost @ r) / size if size else 0.0, since)
