r"""Both margins of an arbitrary hyperplane, beside the biobjective margin problem, and what is better in both.

The margin of a sample is its distance from the hyperplane, negative on the wrong side; with slacks, the distance in the
space with one more feature for each sample, of length :math:`1/\sqrt{C_i}`. The margin of a class is the smallest of
its samples. For the slope w alone, the sum of both class margins does not depend on b, and no slope has a larger sum
than the distance D of the two convex hulls. So a hyperplane that keeps both margins positive is Pareto-optimal exactly
where its margins add up to D. Where they do not, the compromise at the same ratio of the margins is better in both: a
hyperplane is weakly Pareto-optimal only where it is Pareto-optimal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, check_labels, check_number, check_vector
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import CERTIFY
from paretoclf.problem.costs import Costs, as_costs
from paretoclf.problem.gram import Gram
from paretoclf.problem.samples import check_samples


def object_margins(
    X: Any, y: Any, w: Any, b: float, *, xi: Any = None, slack_costs: Costs | tuple[float, float] | None = None
) -> Array:
    """Margin of every sample: its signed distance from a hyperplane, with slacks or without.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Samples.
    y : array of shape (n,)
        Labels -1 and +1.
    w : array of shape (d,)
        Slope. With slacks it may be zero, as long as the slacks are not.
    b : float
        Intercept.
    xi : array of shape (n,), optional
        Slacks, in units of the score; without them the margins are plain distances.
    slack_costs : Costs or (C_plus, C_minus), optional
        Costs of the squared slacks, both positive; needed with ``xi``, and only there.

    Returns
    -------
    array of shape (n,)
        In the units of X.

    Raises
    ------
    InputError
        If an argument is not as above.

    References
    ----------
    Carrizosa & Martin-Barragan (2006), Definition 2, equations (3) and (28).

    Examples
    --------
    >>> from paretoclf.formulations import object_margins
    >>> X, y = [[0.0, 0.0], [3.0, 4.0]], [-1, 1]
    >>> object_margins(X, y, w=[3.0, 4.0], b=-5.0)
    array([1., 4.])
    >>> object_margins(X, y, w=[3.0, 4.0], b=-5.0, xi=[6.0, 0.0], slack_costs=(1.0, 4.0)).round(4)
    array([0.8462, 1.5385])
    """
    samples, b = check_samples(X), check_number(b, "b")
    labels = check_labels(y, samples.shape[0], of=X)
    slope = check_vector(w, samples.shape[1], "w")
    reached, direction = labels * (samples @ slope + b), slope
    if (xi is None) != (slack_costs is None):
        raise InputError("xi and slack_costs must be given together, or neither")
    if xi is not None and slack_costs is not None:
        slacks = check_vector(xi, labels.size, "xi")
        costs = as_costs(slack_costs, "slack_costs")
        if min(costs) <= 0:
            raise InputError(f"slack_costs must both be positive, got {costs}")
        reached = reached + slacks
        root = np.sqrt(np.where(labels > 0, *costs))
        direction = np.concatenate([slope, root * slacks])
    largest = float(np.abs(direction).max())
    if largest == 0:
        raise InputError(f"w must not be zero{'' if xi is None else ' where every slack is'}: there is no hyperplane")
    return np.asarray(reached / largest / np.linalg.norm(direction / largest))


@dataclass(frozen=True)
class ClassMargins:
    """The two margins of a hyperplane on the training samples, beside the best that can be had.

    Attributes
    ----------
    plus, minus : float
        Margin of each class: the smallest of its samples, negative where one of them is on the wrong side.
    best_sum : float
        The largest sum of both margins that any hyperplane has.

    References
    ----------
    Carrizosa & Martin-Barragan (2006), Definition 2, equations (4) and (28), Theorem 5, Corollary 6, Theorem 7.

    Examples
    --------
    >>> import paretoclf as pc
    >>> X, y = [[0.0, 0.0], [0.0, 4.0]], [-1, 1]
    >>> path = pc.trace(pc.BiobjectiveMargin(X, y, soft=False), theta=(0.01, 100))
    >>> path.hyperplane([0.0, 5.0], -15.0).is_efficient()
    True
    >>> tilted = path.hyperplane([3.0, 4.0], -4.0)
    >>> (tilted.plus, tilted.minus), tilted.is_weakly_efficient()
    ((2.4, 0.8), False)
    >>> tuple(round(margin, 9) for margin in path.margins(path.share(tilted.theta)))
    (3.0, 1.0)
    """

    plus: float
    minus: float
    best_sum: float

    @property
    def separates(self) -> bool:
        """Whether both margins are positive: else the hyperplane is no feasible point of the problem."""
        return self.plus > 0 and self.minus > 0

    @property
    def missing(self) -> float:
        """Best sum of the margins less their sum: zero exactly for multiples of the best slope."""
        return self.best_sum - (self.plus + self.minus)

    def is_efficient(self, tolerance: float = CERTIFY) -> bool:
        """Whether no hyperplane has one margin larger and the other no smaller (Corollary 6; Theorem 7 with slacks).

        Parameters
        ----------
        tolerance : float
            Share of ``best_sum`` that may be missing: by more than this nothing improves on the hyperplane.
        """
        return self.separates and self.missing <= tolerance * self.best_sum

    def is_weakly_efficient(self, tolerance: float = CERTIFY) -> bool:
        """Whether no hyperplane has both margins larger (Theorem 5): the same as `is_efficient` (Corollary 6)."""
        return self.is_efficient(tolerance)

    @property
    def theta(self) -> float:
        """Ratio of the margins: that of the compromise that is better in both by the same factor, or is this one.

        ``path.at(path.share(theta))`` and ``pareto_set.classifier(theta)`` are that compromise.
        """
        self._must_separate()
        return self.plus / self.minus

    @property
    def dominating(self) -> tuple[float, float]:
        """Every compromise whose margins are both no smaller, as an interval (lo, hi) of theta.

        For a Pareto-optimal hyperplane both ends are its own theta, up to rounding.
        """
        self._must_separate()
        missing = max(self.missing, 0.0)
        return self.plus / (self.minus + missing), (self.plus + missing) / self.minus

    def _must_separate(self) -> None:
        if not self.separates:
            raise InputError(
                f"the margins must both be positive, got {self.plus:.6g} and {self.minus:.6g}: the hyperplane does not "
                "separate the classes"
            )


def class_margins(
    gram: Gram, y: Array, w: Any, b: float, xi: Any, slack_costs: Costs | None, best_sum: float
) -> ClassMargins:
    """Both margins of a hyperplane among the samples of a problem, hard or (with costs) soft.

    Parameters
    ----------
    gram, y
        Samples and labels of the problem.
    w, b, xi
        The hyperplane; no slacks where xi is None.
    slack_costs : Costs or None
        None for the hard problem.
    best_sum : float
        Sum of the two margins on the Pareto set.

    Raises
    ------
    InputError
        If the kernel is not linear, slacks are given to the hard problem, or as for `object_margins`.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf import Gram
    >>> from paretoclf.problem.class_margins import class_margins
    >>> class_margins(Gram([[0.0], [4.0]]), np.array([-1.0, 1.0]), [1.0], -1.0, None, None, best_sum=4.0)
    ClassMargins(plus=3.0, minus=1.0, best_sum=4.0)
    """
    if not gram.linear:
        raise InputError(f"hyperplane needs the linear kernel, got {gram.kernel!r}: a slope w is one in the features")
    if xi is not None and slack_costs is None:
        raise InputError("xi must be left out: the hard problem has no slacks")
    margins = object_margins(gram.X, y, w, b, xi=xi, slack_costs=None if xi is None else slack_costs)
    plus, minus = margins[y > 0].min(), margins[y < 0].min()
    return ClassMargins(float(plus), float(minus), best_sum)
