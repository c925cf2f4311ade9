"""Problems on which SVM solvers and path trackers go wrong, small, named, and with their exact optima.

Every sample and cost is a double, so every optimum is a rational number: multipliers, intercept and value come from the
textbook's engine in fractions, and primal and dual value are equal, without any rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, keep
from paretoclf.engine.general import follow
from paretoclf.engine.in_fractions import as_fractions
from paretoclf.problem.costs import CostLine, Costs
from paretoclf.problem.parametric_qp import ParametricQP

#: A solver is asked where t is a multiple of 1 / this: t is a double, and so are the costs there.
POINTS = 8


@dataclass(frozen=True)
class ExactOptimum:
    """An optimum in fractions.

    Attributes
    ----------
    value : Fraction
        Optimal value of the primal and of the dual.
    alpha : tuple of Fraction
        Multipliers; where there are several, some.
    b : Fraction
        Intercept; where there are several, one.
    """

    value: Fraction
    alpha: tuple[Fraction, ...] = field(repr=False)
    b: Fraction


@dataclass(frozen=True)
class Segment:
    """Piece of an exact path from t0 to t1: at both ends multipliers a, shape (2, n), and intercept eta, (2, 1)."""

    t0: Fraction
    t1: Fraction
    a: Any
    eta: Any


@dataclass(frozen=True, eq=False)
class HardCase:
    """A 2C-SVM with the linear kernel along a line of costs, and its exact optima.

    Attributes
    ----------
    name : str
    why : str
        Reason why it is hard.
    X, y : arrays of shape (n, d) and (n,)
        Samples and labels.
    line : CostLine
        Costs at t = 0 and at t = 1.

    Examples
    --------
    >>> import paretoclf as pc
    >>> case = pc.datasets.hard_cases()[0]
    >>> case
    HardCase('two points': one sample of each class, from (0, 0) to (1, 1))
    >>> print(case.optimum(0.5).value, *case.breakpoints)
    1/2 0 1/2 1
    """

    name: str
    why: str
    X: Array = field(repr=False)
    y: Array = field(repr=False)
    line: CostLine = field(repr=False)

    def __post_init__(self) -> None:
        keep(self, "X", "y")

    def __repr__(self) -> str:
        ends = (f"({c.C_plus:g}, {c.C_minus:g})" for c in (self.line.start, self.line.stop))
        return f"HardCase({self.name!r}: {self.why}, from {' to '.join(ends)})"

    @property
    def t(self) -> Array:
        """Parameters t at which a solver is asked, shape (9,): from 0 to 1."""
        return np.arange(POINTS + 1) / POINTS

    @property
    def costs(self) -> Array:
        """Costs (C_plus, C_minus) at these t, shape (9, 2)."""
        return np.array([tuple(self.line.at(float(t))) for t in self.t])

    @cached_property
    def segments(self) -> list[Segment]:
        """Segments of the exact path: multipliers and intercept are affine on each of them."""
        y, X = as_fractions(self.y), as_fractions(self.X)
        caps = np.array([self._caps(Fraction(0)), self._caps(Fraction(1))])
        signed_kernel = y[:, None] * (X @ X.T) * y
        problem = ParametricQP.box(signed_kernel, as_fractions(np.ones(y.size)), y[None], caps)
        found = follow(problem, progress=False)
        alpha, of_items = found.path.spread()
        eta = -of_items[..., y.size :]
        ends = zip(found.t[:-1], found.t[1:], alpha, eta, strict=True)
        return [Segment(*each) for each in ends]

    @property
    def breakpoints(self) -> list[Fraction]:
        """Ends of the segments."""
        return [self.segments[0].t0, *(s.t1 for s in self.segments)]

    def optimum(self, t: Any) -> ExactOptimum:
        """Exact optimum at t, from 0 to 1: a float, int or Fraction.

        Parameters
        ----------
        t : float or Fraction
        """
        at = Fraction(t)
        caps, positive = self._caps(at), self.y > 0
        sums = [sum(caps[side], Fraction(0)) for side in (positive, ~positive)]
        if not all(sums):  # a class costs nothing: w = 0, and every sample of the other is right
            b = Fraction(int(sums[0] > 0) - int(sums[1] > 0))
            return ExactOptimum(Fraction(0), (Fraction(0),) * self.y.size, b)
        segment = next(each for each in self.segments if each.t0 <= at <= each.t1)
        share = (at - segment.t0) / (segment.t1 - segment.t0)
        alpha, eta = ((1 - share) * ends[0] + share * ends[1] for ends in (segment.a, segment.eta))
        w = as_fractions(self.X).T @ (alpha * as_fractions(self.y))
        value = sum(alpha, Fraction(0)) - w @ w / 2
        return ExactOptimum(value, tuple(alpha), eta[0])

    def _caps(self, t: Fraction) -> Any:
        """Caps of the multipliers at t, in fractions."""
        start = [Fraction(cost) for cost in self.line.start]
        stop = [Fraction(cost) for cost in self.line.stop]
        plus, minus = ((1 - t) * first + t * last for first, last in zip(start, stop, strict=True))
        return np.array([plus if label > 0 else minus for label in self.y], dtype=object)


def hard_cases() -> tuple[HardCase, ...]:
    """Degenerate 2C-SVMs with exact rational optima, to test any solver on.

    Ties, duplicates, both labels on one point, one sample against a hundred, empty margin sets, jumps of the intercept,
    samples on one line, huge and tiny scales. `paretoclf.verify_solver` runs a solver on all of them.

    Returns
    -------
    tuple of HardCase

    Examples
    --------
    >>> import paretoclf as pc
    >>> len(pc.datasets.hard_cases())
    16
    """
    unequal = [[2, 1], [1, 3], [-1, 0], [0, -2], [-2, 1], [-3, -1], [1, -1], [-1, -3]]
    two_of_eight = [1, 1, *[-1] * 6]
    grid = [[i, j] for i in range(3) for j in range(4)]
    mixed_up = [(2 * i + 3 * j + i * j) % 5 for i, j in grid]
    on_grid = [1 if number < 2 else -1 for number in mixed_up]
    overlap = [[0, 0], [1, 1], [0, 1], [1, 0], [2, 2], [2, 0]]
    twins, mixed = [[0, 0], [0, 0], [1, 1], [1, 1], [2, 0]], [1, -1] * 3
    many = np.array([[3, 4], *np.random.default_rng(7).integers(-6, 7, (100, 2))]) / 16
    apart = [[3, 1], [4, 2], [-3, 0], [-4, 1], [-3, 2]]
    line = [[k, 2 * k] for k in (-3, -2, -1, 0, 1, 2, 3, 4)]
    return (
        _case("two points", "one sample of each class", [[-1], [1]], [-1, 1], (0, 0), (1, 1)),
        _case("jumps of b", "alternating labels", [[0], [1], [2], [3]], [-1, 1, -1, 1], (0.125, 1), (1, 0.125)),
        _case("unequal classes", "no start on the balanced ray", unequal, two_of_eight, (2**-6, 2**-6), (0.25, 0.125)),
        _case("empty margin sets", "wide gaps", [[-9], [-1], [1], [9]], [1, -1, 1, -1], (2**-9, 2**-7), (2**-3, 2**-9)),
        _case("duplicates", "singular margin systems", [*unequal, *unequal], two_of_eight * 2, (0, 0), (2, 2)),
        _case("both labels on one point", "no unique multipliers", twins, [*mixed[:4], 1], (0.5, 2), (2, 0.5)),
        _case("all on one point", "w = 0, and b jumps", [[1, 2]] * 5, [1, 1, -1, -1, -1], (0.25, 1), (2, 1)),
        _case("ties on a grid", "many margins are met at once", grid, on_grid, (2**-6, 2**-5), (0.5, 0.25)),
        _case("one against a hundred", "1 positive", many, [1, *[-1] * 100], (0.5, 2**-8), (4, 2**-6)),
        _case("collinear", "more margins than dimensions", line, [-1, -1, 1, -1, 1, -1, 1, 1], (0.25, 1), (1, 0.25)),
        _case(
            "constant feature", "it says nothing", [[x, 5] for x, _ in unequal], two_of_eight, (2**-6, 2**-6), (1, 0.25)
        ),
        _case("separable", "costs that no sample pays", apart, [1, 1, -1, -1, -1], (0, 0), (1024, 1024)),
        _case("from an axis", "the positives cost nothing at first", overlap, mixed, (0, 1), (2, 1)),
        _case("a cheap class", "costs a million times apart", overlap, mixed, (1, 2**-20), (1, 2**-10)),
        _case(
            "huge features",
            "costs of 1e-12",
            np.array(unequal) * 2.0**20,
            two_of_eight,
            (2**-44, 2**-44),
            (2**-36, 2**-37),
        ),
        _case(
            "tiny features", "costs of 1e12", np.array(unequal) * 2.0**-20, two_of_eight, (2**36, 2**36), (2**42, 2**41)
        ),
    )


def _case(name: str, why: str, X: Any, y: Any, start: tuple[float, float], stop: tuple[float, float]) -> HardCase:
    """Case of samples and labels along the line between two pairs of costs."""
    samples, labels = np.array(X, dtype=float), np.array(y, dtype=float)
    return HardCase(name, why, samples, labels, CostLine(Costs(*start), Costs(*stop)))
