"""MarginPath: the Pareto set of the two class margins, as data."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from paretoclf.checks import Array, check_positive_number
from paretoclf.class_margins import ClassMargins, class_margins
from paretoclf.classifiers import Rule, gram_scores, gram_slope, linear_or_kernel
from paretoclf.costs import Costs
from paretoclf.evidence import Deferred, Judged
from paretoclf.gram import Gram
from paretoclf.judges.margins import judge_margins
from paretoclf.path.pieces import OnPieces, Pieces
from paretoclf.path.scores import PathScores
from paretoclf.path.storage import write
from paretoclf.proof import Certificate, LineProof, prove_margins
from paretoclf.proof.exact import ExactBounds, exact_margin_bounds
from paretoclf.solution import Solution


@dataclass(frozen=True)
class MarginPath(OnPieces):
    r"""The solutions of the biobjective margin problem at every theta of an interval.

    The parameter is the positives' share of the margin, ``share = theta / (1 + theta)``, in which all is affine: the
    positives are to keep the distance ``2 share / |w|`` from the hyperplane, the negatives ``2 (1 - share) / |w|``. One
    piece has it all: w is the same everywhere, and ``b = b_1 + 2 share - 1``, b_1 being that of theta = 1.

    Attributes
    ----------
    gram : Gram
    y : array of shape (n,)
    slack_costs : Costs or None
        Costs of the squared slacks; None for the hard problem.
    pieces : Pieces
        The stored solution: its ``t`` is the share, its multipliers are those of theta = 1, where
        :math:`|\bar y_i|\lambda_i` is the same at every theta.
    seconds : float
        Time that tracing took, certificates excluded.

    References
    ----------
    Carrizosa & Martin-Barragan (2006), Theorem 5, Corollary 6, Theorem 7: at the ends 0 and 1 of the share, which are
    not reached, a margin would vanish.

    Examples
    --------
    >>> import paretoclf as pc
    >>> hard = pc.BiobjectiveMargin([[1.0], [-1.0]], [1, -1], soft=False)
    >>> path = pc.trace(hard, theta=(0.01, 100))
    >>> path.margins(path.share(3.0))
    (1.5..., 0.5...)
    """

    gram: Gram = field(repr=False)
    y: Array = field(repr=False)
    slack_costs: Costs | None
    pieces: Pieces = field(repr=False)
    seconds: float = 0.0

    no_page = "along which neither multipliers nor slope move"

    @property
    def parameter(self) -> str:
        """What messages call t."""
        return "share"

    def __repr__(self) -> str:
        kind = f"soft, {self.slack_costs}" if self.soft else "hard"
        lo, hi = (self.theta(float(share)) for share in self.breakpoints)
        return (
            f"MarginPath(theta {lo:.6g} to {hi:.6g}, {kind}, {self.y.size} samples, {self.n_margin[0]} on their margin)"
        )

    @property
    def soft(self) -> bool:
        """Whether margins may be missed."""
        return self.slack_costs is not None

    def share(self, theta: float) -> float:
        """The path parameter of a ratio of margins: ``theta / (1 + theta)``."""
        theta = check_positive_number(theta, "theta")
        return theta / (1.0 + theta)

    def theta(self, share: float) -> float:
        """The ratio of the margins at a path parameter: ``share / (1 - share)``."""
        self._locate(share)
        return float(share / (1.0 - share))

    def costs(self, share: float) -> Costs | None:
        """Costs of the squared slacks, the same at every share; None for the hard problem."""
        self._inside(share)
        return self.slack_costs

    def caps(self, share: float) -> Array:
        """Upper bounds of the multipliers, shape (n,): there are none."""
        self._inside(share)
        return np.full(self.y.size, np.inf)

    def alpha(self, share: float) -> Array:
        """Multipliers of the margin constraints as the paper has them, shape (n,)."""
        return np.where(self.y > 0, self._weighed, self._weighed / self.theta(share))

    @cached_property
    def _weighed(self) -> Array:
        r"""Multipliers times :math:`|\bar y_i|`, shape (n,)."""
        alpha = np.zeros(self.y.size)
        alpha[self.pieces.index] = self.pieces.a0
        return alpha

    @property
    def _coef(self) -> Array:
        return np.asarray(0.5 * self.y * self._weighed)

    def _intercept(self, share: float) -> float:
        _, where = self._locate(share)
        return float(where.between(self.pieces.b0[0], self.pieces.b1[0]))

    def slope(self, share: float) -> Array:
        """The slope w, shape (d,), linear kernel only; the same at every share."""
        self._locate(share)
        return gram_slope(self.gram, self._coef) if self.pieces.w is None else self.pieces.w[0].copy()

    def rule(self, share: float) -> Rule:
        """The classifier at a share of the margin."""
        w = self.slope(share) if self.gram.linear else None
        return linear_or_kernel(self.gram, self._coef, w, self._intercept(share))

    def margins(self, share: float) -> tuple[float, float]:
        """Margins of the positive and of the negative class; in the soft problem with the slacks, as in (28)."""
        self._locate(share)
        return 2 * share / self._norm, 2 * (1 - share) / self._norm

    @property
    def slacks(self) -> Array:
        """The slacks xi, shape (n,), in units of the score, the same at every share; zeros in the hard problem."""
        if self.slack_costs is None:
            return np.zeros(self.y.size)
        return np.asarray(0.5 * self._weighed / np.where(self.y > 0, *self.slack_costs))

    def hyperplane(self, w: Any, b: float, xi: Any = None) -> ClassMargins:
        """What any hyperplane is to the problem: its two margins, whether it is Pareto-optimal, what is better in both.

        Parameters
        ----------
        w : array of shape (d,)
            Slope; linear kernel only.
        b : float
            Intercept.
        xi : array of shape (n,), optional
            Slacks, in the soft problem; default none.

        Raises
        ------
        InputError
            If an argument is not as above, the kernel is not linear, or slacks are given to the hard problem.

        References
        ----------
        Carrizosa & Martin-Barragan (2006), Definition 2, equation (28), Theorem 5, Corollary 6, Theorem 7.
        """
        return class_margins(self.gram, self.y, w, b, xi, self.slack_costs, 2.0 / self._norm)

    @cached_property
    def _norm(self) -> float:
        """Norm of w; in the soft problem that of (w, xi), the slacks weighed by their costs."""
        return float(np.sqrt(self.value(float(self.breakpoints[0]))))

    def at(self, share: float) -> Solution:
        """Solution at a share of the margin; its certificate is computed when asked for.

        Parameters
        ----------
        share : float
            In the interval of the path; ``share(theta)`` of a theta.
        """
        share, costs = self._inside(share), {} if self.slack_costs is None else vars(self.slack_costs)
        return Solution(
            classifier=self.rule(share),
            evidence=Deferred(partial(self.judged, share)),
            source="path",
            values={"theta": self.theta(share), **costs},
        )

    def scores(self, X: object) -> PathScores:
        """Scores of new samples as an exact affine function of the share.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            For a precomputed kernel their values against the training samples, shape (m, n).
        """
        w = None if self.pieces.w is None else self.pieces.w[0]
        base = gram_scores(self.gram, self._coef, w, 0.0, X)[:, None]
        return PathScores(self.pieces.t, base + self.pieces.b0, base + self.pieces.b1)

    def judged(self, share: float) -> Judged:
        """What the judge of the margin problem says of the solution at a share."""
        c = self.slack_costs
        costs = None if c is None else np.where(self.y > 0, c.C_plus, c.C_minus)
        w, b = None if self.pieces.w is None else self.slope(share), self._intercept(share)
        return judge_margins(self.gram, self.y, self.theta(share), self.alpha(share), b, costs=costs, w=w)

    def _exact_bounds(self, share: float) -> ExactBounds:
        c = self.slack_costs
        costs = None if c is None else np.where(self.y > 0, c.C_plus, c.C_minus)
        w = None if self.pieces.w is None else self.slope(share)
        return exact_margin_bounds(self.y, share, self._weighed, self._intercept(share), costs, w=w, **self._data)

    @cached_property
    def proof(self) -> LineProof:
        """What is proved of every share of the interval."""
        c = self.slack_costs
        costs = None if c is None else np.where(self.y > 0, c.C_plus, c.C_minus)
        return prove_margins(self.pieces, self.y, costs, note=self.gram.note, **self._data)

    @cached_property
    def _certificates(self) -> list[Certificate]:
        return [self.judged(float(share)).certificate for share in self.certificate_points]

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the path to an npz file (to a temporary name first, then renamed); `load_path` reads it."""
        own = {"slack_costs": np.array([] if self.slack_costs is None else tuple(self.slack_costs))}
        write(file, self.gram, self.y, self.pieces, self.seconds, own)
