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

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, check_number, check_share
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.common.files import AnyFile, write_file
from paretoclf.common.progress import meter
from paretoclf.common.storage import check_hash, hash_of, yes_or_no
from paretoclf.common.tables import Tabular
from paretoclf.distributions.gaussian.bounds import fixed_distance
from paretoclf.distributions.gaussian.family import Family
from paretoclf.distributions.gaussian.judges import judge_fixed_distance, largest_distances
from paretoclf.distributions.gaussian.moments import Moments, chebyshev
from paretoclf.distributions.gaussian.outer_search import Node, Search, chord_maximum, search
from paretoclf.problem.classifiers import LinearRule
from paretoclf.proof.evidence import Evidence, judge
from paretoclf.proof.solution import Solution

#: What rounding can add to a guarantee, which is at most 1.
_ROUNDING = 1e-14

#: A search at one weight ends when value and bound are as close as this share of what is asked for.
_OWN = 0.1

#: No two weights are closer.
_SHORTEST = 1e-9

#: Points of the curve that one search may ask for.
_MOST = 400

#: What a file of such a path holds, beside a text.
_STORED = ("mu_plus", "root_plus", "mu_minus", "root_minus", "theta", "q", "slopes", "eps")


#: What a proof looks at; all else is bound by a hash: of which classes it is the path, from where to where.
_PROVED = {"q", "slopes"}

#: What files of older versions do not bind.
_UNBOUND = "moments and weights"


@dataclass(frozen=True, repr=False)
class GuaranteePath(Tabular):
    """The best weighted guarantee at every weight of an interval, within eps.

    Attributes
    ----------
    moments : Moments
        Means and roots of the covariances.
    theta : array of shape (k,)
        Where bounds are computed.
    q : array of shape (m,)
        Distances of the positives' mean from a hyperplane, increasing, strictly inside the curve.
    slopes : array of shape (m, d)
        That of a hyperplane for each, which is best or nearly so.
    eps : float
        How far the bounds may be apart, relative to the guarantee.
    linear : bool
        Whether slopes are those of the features that were given, not of a kernel.
    machine : MEMPM, optional
        None of a path that was loaded.
    unchecked : str
        Said by a file of an older version, and bound by no hash; empty of every other path.

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
        inner = [Node(q, *distance_at(self.moments, q, a)) for q, a in zip(self.q.tolist(), self.slopes, strict=True)]
        return (Node(0.0, first, first), *inner, Node(last, 0.0, 0.0))

    @cached_property
    def most(self) -> Array:
        """What no guarantee is above, at each weight of ``theta``."""
        pairs = list(zip(self.nodes, self.nodes[1:], strict=False))
        return np.array([max(chord_maximum(theta, *pair)[0] for pair in pairs) for theta in self.theta.tolist()])

    @cached_property
    def _rates(self) -> tuple[Array, Array]:
        """What the hyperplane of each node guarantees for negatives and positives."""
        rates = [(chebyshev(node.lower), chebyshev(node.q)) for node in self.nodes]
        minus, plus = np.array(rates, dtype=float).T
        return minus, plus

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

        Of a path that was traced, it is moved to where the guarantee is stationary.

        Raises
        ------
        InputError
            If theta is outside of the path; or if the path was loaded, and its classifiers are those of a kernel.
        """
        theta = self._within(theta)
        (value, k), most = self._best(theta), -self.bounds(theta)[0]
        if self.machine is not None:
            found: Solution = self.machine.found(theta, Search(self.nodes[k].q, value, max(most, value), self.nodes))
            return found
        if not self.linear:
            raise InputError("at needs the samples of a kernel's classifier, which are not in a file: trace it again")
        q, a = (self.q[k - 1], self.slopes[k - 1]) if 0 < k <= self.q.size else (self.nodes[k].q, self._end(k == 0))
        numbers = {**judge_fixed_distance(self.moments, a, float(q)).numbers, "theta": theta}
        judged = judge(-value, -max(most, value), [], numbers, stationarity={}, scale=1.0).revised(shortfall=0.0)
        rule = LinearRule(numbers["w"], numbers["b"])
        return Solution(rule, Evidence(judged), "path", values={"theta": theta})

    def _end(self, first: bool) -> Array:
        """The slope at an end of the curve: best for one class alone."""
        family = Family.of(self.moments)
        return family.slopes((family.of_negatives() if first else family.of_ratio(0.0)).y)

    def _best(self, theta: float) -> tuple[float, int]:
        """The largest guarantee of a node, and its index."""
        minus, plus = self._rates
        values = theta * minus + (1.0 - theta) * plus
        k = int(np.argmax(values))
        return float(values[k]) - _ROUNDING, k

    def _within(self, theta: Any) -> float:
        number, low, high = check_number(theta, "theta"), float(self.theta[0]), float(self.theta[-1])
        if not low <= number <= high:
            raise InputError(f"theta must lie between {low:g} and {high:g}, got {number!r}")
        return number

    @property
    def worst(self) -> float:
        """The largest distance of both bounds, relative to the guarantee."""
        return max(self._gap(j) for j in range(self.theta.size - 1))

    def _gap(self, j: int) -> float:
        """The same between two weights: at the ends, and where the lines of two hyperplanes meet."""
        ends = self.theta[j : j + 2]
        found = [
            (float(np.interp(theta, ends, self.most[j : j + 2])) - value + 2 * _ROUNDING)
            / max(value, np.finfo(float).tiny)
            for theta, value in self._corners(*ends.tolist())
        ]
        return max(found)

    def _corners(self, a: float, b: float) -> list[tuple[float, float]]:
        """Both ends and where the best hyperplane changes between them, with the guarantee there."""
        minus, plus = self._rates
        (first, k), (last, i) = self._best(a), self._best(b)
        corners, todo = [(a, first), (b, last)], [(k, i)]
        while todo:
            k, i = todo.pop()
            rise = (minus[i] - plus[i]) - (minus[k] - plus[k])
            if not rise > 0.0:
                continue
            at = float(np.clip((plus[k] - plus[i]) / rise, a, b))
            value, best = self._best(at)
            if best in (k, i) or value <= at * minus[k] + (1.0 - at) * plus[k]:
                corners.append((at, value))
            else:
                todo += [(k, best), (best, i)]
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
        """What is proved of it: all of it is computed from moments and slopes, so that it is its own proof."""
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
        arrays = {name: held[name] for name in _STORED}
        arrays["of_guarantees"] = np.array(json.dumps({"linear": self.linear}))
        if not self.unchecked:
            arrays["sha256"] = np.array(hash_of(arrays, _PROVED))
        write_file(file, arrays)

    def plot(self, ax: Any = None) -> Any:
        """Draw the guarantee between its bounds, and both classes; see `paretoclf.plotting.GuaranteePathDisplay`."""
        from paretoclf.plotting.guarantees import GuaranteePathDisplay  # matplotlib only when a picture is wanted

        return GuaranteePathDisplay.from_path(self).plot(ax=ax)

    def guarantees(self, theta: float) -> tuple[float, float]:
        """What the path's own hyperplane guarantees at this weight for negatives and for positives."""
        k = self._best(self._within(theta))[1]
        return float(self._rates[0][k]), float(self._rates[1][k])

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


def distance_at(moments: Moments, q: float, a: Array) -> tuple[float, float]:
    """Bounds of the largest distance of the negatives where that of the positives is q; a slope reaches the lower."""
    found = fixed_distance(moments, a, q)
    return -found.primal_value, max(-found.dual_value, -found.primal_value)


def trace_weights(moments: Moments, ends: tuple[float, float], eps: float, progress: bool | None) -> GuaranteePath:
    """The path over an interval of weights.

    Raises
    ------
    DegeneratePathError
        If a search does not come as close as eps.
    """
    nothing = np.zeros(0)
    path = GuaranteePath(moments, np.array(ends), nothing, np.zeros((0, moments.d)), eps)
    return cover_weights(path, progress)


def cover_weights(path: GuaranteePath, progress: bool | None) -> GuaranteePath:
    """The path with all the points and weights that its eps needs."""
    moments, eps, family = path.moments, path.eps, Family.of(path.moments)
    last, first = largest_distances(moments)
    known = {q: (a, distance_at(moments, q, a)) for q, a in zip(path.q.tolist(), path.slopes, strict=True)}

    def inner(q: float) -> tuple[float, float]:
        if q not in known:
            a = family.slopes(family.of_u_plus(q).y)
            known[q] = a, distance_at(moments, q, a)
        return known[q][1]

    def bound(theta: float) -> float:
        return search(theta, inner, (first, last), tol=_OWN * eps * max(theta, 1 - theta) / 2, most=_MOST).bound

    begin, end = path.theta[[0, -1]].tolist()
    most = {theta: bound(theta) for theta in path.theta.tolist()}
    with meter(progress) as update:
        j = 0
        while True:
            theta, q = np.array(sorted(most)), np.array(sorted(known))
            slopes = np.array([known[each][0] for each in q.tolist()]).reshape(q.size, moments.d)
            now = replace(path, theta=theta, q=q, slopes=slopes)
            if j == theta.size - 1:
                break
            now.__dict__["most"] = np.array([most[each] for each in theta.tolist()])
            if now._gap(j) <= eps:
                if update is not None:
                    update(float(theta[j + 1] - theta[j]) / (end - begin))
                j += 1
                continue
            middle = float(0.5 * (theta[j] + theta[j + 1]))
            if theta[j + 1] - theta[j] <= _SHORTEST:
                raise DegeneratePathError(
                    f"bounds stay {now._gap(j):.1e} apart", t=middle, costs="", n_margin=None,
                    remedy="Ask for a larger eps.",
                )  # fmt: skip
            most[middle] = bound(middle)
    check_guarantees(now)
    return now


def check_guarantees(path: GuaranteePath) -> None:
    """DegeneratePathError unless the bounds are within eps at every weight."""
    if not path.passes():
        j = max(range(path.theta.size - 1), key=path._gap)
        raise DegeneratePathError(
            f"bounds are {path._gap(j):.1e} apart, more than {path.eps:.1e}, between theta = {path.theta[j]:g} and "
            f"{path.theta[j + 1]:g}",
            t=float(path.theta[j]), costs="", n_margin=None, remedy="Ask for a larger eps.",
        )  # fmt: skip


def check_stored(path: GuaranteePath, stored: Mapping[str, Any]) -> None:
    """DegeneratePathError or InputError unless the path is proved, of the classes and weights that were saved."""
    check_guarantees(path)
    if not path.unchecked:
        check_hash(stored, hash_of(stored, _PROVED), "moments, weights or eps")


def read_guarantees(stored: Mapping[str, Any]) -> GuaranteePath:
    """A path from the arrays of its file; InputError, or what NumPy raises, where these do not fit each other."""
    told = json.loads(str(stored["of_guarantees"]))
    arrays = {name: np.asarray(stored[name]) for name in _STORED}
    for name, each in arrays.items():
        if each.dtype.kind not in "fiu" or not np.isfinite(each).all():
            raise InputError(f"{name} must hold finite numbers")
    d, q, theta, eps = arrays["mu_plus"].size, arrays["q"], arrays["theta"], float(arrays["eps"])
    shapes = {"mu_plus": (d,), "mu_minus": (d,), "root_plus": (d, d), "root_minus": (d, d), "slopes": (q.size, d)}
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise InputError(f"{name} must have shape {shape}, got {arrays[name].shape}")
    for name in ("root_plus", "root_minus"):
        if np.tril(arrays[name], -1).any() or not np.diag(arrays[name]).all():
            raise InputError(f"{name} must be an upper triangle without a 0 on its diagonal")
    moments = Moments(*(arrays[name].astype(float) for name in _STORED[:4]))
    moments.require_difference()
    if theta.ndim != 1 or theta.size < 2 or not (np.diff(theta) > 0).all() or not 0 < theta[0] <= theta[-1] < 1:
        raise InputError("theta must increase, strictly between 0 and 1")
    inside = np.concatenate([[0.0], q, [largest_distances(moments)[0]]])
    if q.ndim != 1 or not (np.diff(inside) > 0).all() or not np.abs(arrays["slopes"]).sum(axis=1).all():
        raise InputError("q must increase, strictly between 0 and the largest distance, and no slope be 0")
    linear, unchecked = yes_or_no(told["linear"], "linear"), "" if "sha256" in stored else _UNBOUND
    return GuaranteePath(
        moments, theta, q, arrays["slopes"], check_share(eps, "eps"), linear=linear, unchecked=unchecked
    )
