r"""The best weighted guarantee of two classes at every weight, within eps: MEMPM along an interval of theta.

:math:`V(\theta)=\max_q\theta\Psi(u(q))+(1-\theta)\Psi(q)` is a maximum of affine functions of :math:`\theta`, and so
convex. Each hyperplane that is known gives one of them, a straight line below V. At some :math:`\theta_k` the chords of
the curve u (`paretoclf.distributions.gaussian.outer_search`) prove that nothing is above :math:`U_k`; between two of
these V is below the chord. What is known at one weight serves at all others: a point of u does not depend on theta.

A path is moments, weights, and slopes with the distance of the positives that each was made for. All that is said of it
is computed from these: a slope has a distance of the negatives, and proves that none is larger
(`paretoclf.distributions.gaussian.bounds.fixed_distance`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, check_number, check_share
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.common.files import AnyFile, write_file
from paretoclf.common.progress import meter
from paretoclf.common.storage import yes_or_no
from paretoclf.common.tables import Tabular
from paretoclf.distributions.gaussian.bounds import fixed_distance
from paretoclf.distributions.gaussian.family import Family
from paretoclf.distributions.gaussian.judges import judge_fixed_distance, largest_distances
from paretoclf.distributions.gaussian.moments import Moments, chebyshev
from paretoclf.distributions.gaussian.outer_search import Node, Search, chord_maximum, search
from paretoclf.problem.classifiers import LinearRule
from paretoclf.proof.verdicts.evidence import Evidence, judge
from paretoclf.proof.verdicts.solution import Solution

#: Largest rounding of a guarantee, which is at most 1.
_ROUNDING = 1e-14

#: A search at one weight ends when value and bound are as close as this share of what is asked for.
_OWN = 0.1

#: No two weights are closer.
_SHORTEST = 1e-9

#: Points of the curve that one search may ask for.
_MOST = 400

#: Arrays in a file of such a path.
_STORED = ("mu_plus", "root_plus", "mu_minus", "root_minus", "theta", "q", "slopes", "eps")


@dataclass(frozen=True, repr=False)
class GuaranteePath(Tabular):
    """The best weighted guarantee at every weight of an interval, within eps.

    Attributes
    ----------
    moments : Moments
        Means and roots of the covariances.
    theta : array of shape (k,)
        Weights at which bounds are computed.
    q : array of shape (m,)
        Distances of the positives' mean from a hyperplane, increasing, strictly inside the curve.
    slopes : array of shape (m, d)
        Slope of a hyperplane for each distance, which is best or nearly so.
    eps : float
        Largest allowed distance of the two bounds, relative to the guarantee.
    linear : bool
        Whether slopes are those of the features that were given, not of a kernel.
    machine : MEMPM, optional
        Formulation that the path was traced from; None for a path that was loaded.
    unchecked : str
        Names of what a file of an older version says and no hash protects; empty for every other path.

    Examples
    --------
    >>> import paretoclf as pc
    >>> path = pc.trace(pc.MEMPM.from_moments([4.0], [[1.0]], [0.0], [[1.0]]), theta=(0.4, 0.6), eps=1e-2)
    >>> path.passes()
    True
    >>> low, high = path.bounds(0.5)
    >>> low <= -0.8 <= high
    True
    """

    moments: Moments = field(repr=False)
    theta: Array
    q: Array = field(repr=False)
    slopes: Array = field(repr=False)
    eps: float
    linear: bool = True
    machine: Any = field(default=None, repr=False)
    unchecked: str = ""

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Points of the curve of both distances, each reached by a hyperplane, with the bound that it proves."""
        last, first = largest_distances(self.moments)
        nodes = [Node(0.0, first, first)]
        for q, slope in zip(self.q.tolist(), self.slopes, strict=True):
            nodes.append(Node(q, *distance_at(self.moments, q, slope)))
        return (*nodes, Node(last, 0.0, 0.0))

    @cached_property
    def most(self) -> Array:
        """Upper bound on every guarantee, at each weight of ``theta``."""
        pairs = list(zip(self.nodes, self.nodes[1:], strict=False))
        largest = [max(chord_maximum(theta, *pair)[0] for pair in pairs) for theta in self.theta.tolist()]
        return np.array(largest)

    @cached_property
    def _rates(self) -> tuple[Array, Array]:
        """Guarantees of the hyperplane of each node, for negatives and for positives."""
        minus = [chebyshev(node.lower) for node in self.nodes]
        plus = [chebyshev(node.q) for node in self.nodes]
        return np.array(minus, dtype=float), np.array(plus, dtype=float)

    def bounds(self, theta: float) -> tuple[float, float]:
        """Two numbers between which the optimal value is at this weight: minus the best weighted guarantee.

        It is the value of ``solve(theta)``, a minimisation. The larger one is that of a hyperplane.
        """
        theta = self._within(theta)
        high = float(np.interp(theta, self.theta, self.most)) + _ROUNDING
        return -high, -self._best(theta)[0]

    def value(self, theta: float) -> float:
        """Minus the weighted guarantee of the path's own hyperplane at this weight."""
        return self.bounds(theta)[1]

    def at(self, theta: float) -> Solution:
        """The best hyperplane that is known at this weight.

        On a path that was traced, it is moved to where the guarantee is stationary.

        Raises
        ------
        InputError
            If theta is outside of the path; or if the path was loaded, and its classifiers are those of a kernel.
        """
        theta = self._within(theta)
        value, best = self._best(theta)
        bound = max(-self.bounds(theta)[0], value)
        node = self.nodes[best]
        if self.machine is not None:
            found: Solution = self.machine.found(theta, Search(node.q, value, bound, self.nodes))
            return found
        if not self.linear:
            raise InputError("at needs the samples of a kernel's classifier, which are not in a file: trace it again")
        slope = self.slopes[best - 1] if 0 < best <= self.q.size else self._end(best == 0)
        numbers = {**judge_fixed_distance(self.moments, slope, float(node.q)).numbers, "theta": theta}
        judged = judge(-value, -bound, [], numbers, stationarity={}, scale=1.0).revised(shortfall=0.0)
        rule = LinearRule(numbers["w"], numbers["b"])
        return Solution(rule, Evidence(judged), "path", values={"theta": theta})

    def _end(self, first: bool) -> Array:
        """The slope at an end of the curve: best for one class alone."""
        family = Family.of(self.moments)
        member = family.of_negatives() if first else family.of_ratio(0.0)
        return family.slopes(member.y)

    def _best(self, theta: float) -> tuple[float, int]:
        """The largest guarantee of a node, and its index."""
        minus, plus = self._rates
        values = theta * minus + (1.0 - theta) * plus
        best = int(np.argmax(values))
        return float(values[best]) - _ROUNDING, best

    def _within(self, theta: Any) -> float:
        """Return a weight as a number; InputError where it is outside of the path."""
        number = check_number(theta, "theta")
        low, high = self.theta[[0, -1]].tolist()
        if not low <= number <= high:
            raise InputError(f"theta must lie between {low:g} and {high:g}, got {number!r}")
        return number

    @property
    def worst(self) -> float:
        """The largest distance of both bounds, relative to the guarantee."""
        return max(self._gap(j) for j in range(self.theta.size - 1))

    def _gap(self, j: int) -> float:
        """Largest relative distance of both bounds between weights j and j + 1.

        The bound is linear there and the guarantee convex and piecewise linear: the distance is largest at an end, or
        where the best hyperplane changes.
        """
        ends = self.theta[j : j + 2]
        bounds = self.most[j : j + 2]
        gaps = []
        for theta, value in self._corners(*ends.tolist()):
            distance = float(np.interp(theta, ends, bounds)) - value + 2 * _ROUNDING
            gaps.append(distance / max(value, np.finfo(float).tiny))
        return max(gaps)

    def _corners(self, start: float, stop: float) -> list[tuple[float, float]]:
        """Both ends and where the best hyperplane changes between them, with the guarantee there."""
        minus, plus = self._rates
        excess = minus - plus  # slope in theta of each hyperplane's guarantee
        at_start, first = self._best(start)
        at_stop, last = self._best(stop)
        corners = [(start, at_start), (stop, at_stop)]
        todo = [(first, last)]
        while todo:
            left, right = todo.pop()
            rise = excess[right] - excess[left]
            if not rise > 0.0:
                continue
            meeting = float(np.clip((plus[left] - plus[right]) / rise, start, stop))
            value, best = self._best(meeting)
            there = meeting * minus[left] + (1.0 - meeting) * plus[left]
            if best in (left, right) or value <= there:
                corners.append((meeting, value))
            else:
                todo += [(left, best), (best, right)]
        return corners

    def passes(self, tol: float | None = None) -> bool:
        """Whether both bounds are within ``tol``, by default eps, at every weight."""
        return self.worst <= (self.eps if tol is None else tol)

    def explain(self, tol: float | None = None) -> str:
        """Say in words what is proved."""
        tol = self.eps if tol is None else tol
        low, high = self.theta[[0, -1]].tolist()
        if not self.passes(tol):
            return f"Not proved to {tol:.0e} at every theta in [{low:g}, {high:g}]. Largest distance: {self.worst:.1e}"
        return (
            f"Within {tol:.0e} of the best guarantee at every theta in [{low:g}, {high:g}]: {self.q.size} hyperplanes "
            f"reach it, and the same slopes prove that none reaches more. Largest distance: {self.worst:.1e}"
            + (f"; {self.unchecked}: said, not checked" if self.unchecked else "")
        )

    @property
    def proof(self) -> GuaranteePath:
        """The path itself: all its bounds are computed from moments and slopes, so that it is its own proof."""
        return self

    def refine(self, eps: float, *, progress: bool | None = None) -> GuaranteePath:
        """The path to a smaller eps, from what is there.

        Examples
        --------
        >>> import paretoclf as pc
        >>> path = pc.trace(pc.MEMPM.from_moments([4.0], [[1.0]], [0.0], [[1.0]]), theta=(0.4, 0.6), eps=1e-2)
        >>> path.refine(1e-4).passes(1e-4)
        True
        """
        return cover_weights(replace(self, eps=check_share(eps, "eps")), progress)

    def save(self, file: AnyFile) -> None:
        """Write the path to an npz file, for `paretoclf.load`, which judges it anew; samples are not part of it."""
        held = {**vars(self.moments), **vars(self)}
        told = {"linear": self.linear, "unchecked": self.unchecked}
        write_file(file, {**{name: held[name] for name in _STORED}, "of_guarantees": told})

    def plot(self, ax: Any = None) -> Any:
        """Draw the guarantee between its bounds, and both classes; see `paretoclf.plotting.GuaranteePathDisplay`."""
        from paretoclf.plotting.guarantees import GuaranteePathDisplay  # matplotlib only when a picture is wanted

        return GuaranteePathDisplay.from_path(self).plot(ax=ax)

    def guarantees(self, theta: float) -> tuple[float, float]:
        """Guarantees of the path's own hyperplane at this weight, for negatives and for positives."""
        _, best = self._best(self._within(theta))
        minus, plus = self._rates
        return float(minus[best]), float(plus[best])

    def _rows(self) -> Iterator[dict[str, Any]]:
        for theta in self.theta.tolist():
            low, high = self.bounds(theta)
            yield {"theta": theta, "lower": low, "upper": high}

    def __repr__(self) -> str:
        low, high = self.theta[[0, -1]].tolist()
        return (
            f"GuaranteePath(theta {low:g} to {high:g}, within {self.eps:g} everywhere, {self.theta.size} searches, "
            f"{len(self.nodes)} points)"
        )


def distance_at(moments: Moments, q: float, slope: Array) -> tuple[float, float]:
    """Bounds of the largest distance of the negatives where that of the positives is q; the slope reaches the lower."""
    found = fixed_distance(moments, slope, q)
    return -found.primal_value, max(-found.dual_value, -found.primal_value)


def trace_weights(moments: Moments, ends: tuple[float, float], eps: float, progress: bool | None) -> GuaranteePath:
    """The path over an interval of weights.

    Raises
    ------
    DegeneratePathError
        If a search does not come as close as eps.
    """
    no_distances = np.zeros(0)
    no_slopes = np.zeros((0, moments.d))
    path = GuaranteePath(moments, np.array(ends), no_distances, no_slopes, eps)
    return cover_weights(path, progress)


def cover_weights(path: GuaranteePath, progress: bool | None) -> GuaranteePath:
    """The path with all the points and weights that its eps needs."""
    moments = path.moments
    eps = path.eps
    family = Family.of(moments)
    last, first = largest_distances(moments)
    slope_at = dict(zip(path.q.tolist(), path.slopes, strict=True))
    bounds_at = {q: distance_at(moments, q, slope) for q, slope in slope_at.items()}
    bound_at: dict[float, float] = {}

    def inner(q: float) -> tuple[float, float]:
        """Bounds of the largest distance of the negatives, which are computed once."""
        if q not in bounds_at:
            slope_at[q] = family.slopes(family.of_u_plus(q).y)
            bounds_at[q] = distance_at(moments, q, slope_at[q])
        return bounds_at[q]

    def search_at(theta: float) -> None:
        """Search the whole curve at one weight, and note the bound."""
        tol = _OWN * eps * max(theta, 1 - theta) / 2
        bound_at[theta] = search(theta, inner, (first, last), tol=tol, most=_MOST).bound

    def so_far() -> GuaranteePath:
        """Path of the weights and slopes that are known."""
        theta = sorted(bound_at)
        q = sorted(slope_at)
        slopes = np.array([slope_at[each] for each in q]).reshape(len(q), moments.d)
        found = replace(path, theta=np.array(theta), q=np.array(q), slopes=slopes)
        found.__dict__["most"] = np.array([bound_at[each] for each in theta])  # not computed again at each step
        return found

    begin, end = path.theta[[0, -1]].tolist()
    for theta in path.theta.tolist():
        search_at(theta)
    with meter(progress) as update:
        j = 0
        now = so_far()
        while j < now.theta.size - 1:
            left, right = now.theta[j : j + 2].tolist()
            if now._gap(j) <= eps:
                if update is not None:
                    update((right - left) / (end - begin))
                j += 1
                continue
            if right - left <= _SHORTEST:
                raise DegeneratePathError(
                    f"bounds stay {now._gap(j):.1e} apart", t=0.5 * (left + right), costs="", n_margin=None,
                    remedy="Ask for a larger eps.",
                )  # fmt: skip
            search_at(0.5 * (left + right))
            now = so_far()
    del now.__dict__["most"]  # what is proved of the path follows from its slopes alone
    check_guarantees(now)
    return now


def check_guarantees(path: GuaranteePath) -> None:
    """DegeneratePathError unless the bounds are within eps at every weight."""
    if path.passes():
        return
    worst = max(range(path.theta.size - 1), key=path._gap)
    left, right = path.theta[worst : worst + 2].tolist()
    raise DegeneratePathError(
        f"bounds are {path._gap(worst):.1e} apart, more than {path.eps:.1e}, between theta = {left:g} and {right:g}",
        t=left, costs="", n_margin=None, remedy="Ask for a larger eps.",
    )  # fmt: skip


def read_guarantees(stored: Mapping[str, Any]) -> GuaranteePath:
    """A path from the arrays of its file; InputError, or what NumPy raises, where these do not fit each other."""
    told = stored["of_guarantees"]
    arrays = {name: np.asarray(stored[name]) for name in _STORED}
    for name, each in arrays.items():
        if each.dtype.kind not in "fiu" or not np.isfinite(each).all():
            raise InputError(f"{name} must hold finite numbers")
    q, theta, slopes = arrays["q"], arrays["theta"], arrays["slopes"]
    eps = float(arrays["eps"])
    _check_shapes(arrays)
    for name in ("root_plus", "root_minus"):
        if np.tril(arrays[name], -1).any() or not np.diag(arrays[name]).all():
            raise InputError(f"{name} must be an upper triangle without a 0 on its diagonal")
    moments = Moments(*(arrays[name].astype(float) for name in _STORED[:4]))
    moments.require_difference()
    if theta.ndim != 1 or theta.size < 2 or not _increases_inside(theta, 0.0, 1.0):
        raise InputError("theta must increase, strictly between 0 and 1")
    farthest, _ = largest_distances(moments)
    if q.ndim != 1 or not _increases_inside(q, 0.0, farthest) or not slopes.any(axis=1).all():
        raise InputError("q must increase, strictly between 0 and the largest distance, and no slope be 0")
    linear = yes_or_no(told["linear"], "linear")
    unchecked = str(told.get("unchecked", ""))
    return GuaranteePath(moments, theta, q, slopes, check_share(eps, "eps"), linear=linear, unchecked=unchecked)


def _check_shapes(arrays: Mapping[str, Array]) -> None:
    """InputError unless the arrays of a file fit each other."""
    d = arrays["mu_plus"].size
    shapes = {
        "mu_plus": (d,),
        "mu_minus": (d,),
        "root_plus": (d, d),
        "root_minus": (d, d),
        "slopes": (arrays["q"].size, d),
    }
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise InputError(f"{name} must have shape {shape}, got {arrays[name].shape}")


def _increases_inside(values: Array, low: float, high: float) -> bool:
    """Whether an array increases, strictly between two numbers."""
    return bool((np.diff(np.concatenate([[low], values, [high]])) > 0).all())
