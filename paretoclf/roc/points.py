"""Points of a ROC curve: classifiers and mixtures of two, with their rates, and what they cost where they are used."""

from __future__ import annotations

from dataclasses import dataclass

from paretoclf.common.checks import check_inside
from paretoclf.problem.costs import Costs, as_costs
from paretoclf.roc.criteria import as_fraction


class RocPlace:
    """A place in the ROC plane, of one classifier or of a mixture of two: what it costs where it is used.

    Attributes
    ----------
    fpr, tpr : float
    """

    fpr: float
    tpr: float

    @property
    def rates(self) -> tuple[float, float]:
        """``(false positive rate, false negative rate)``."""
        return self.fpr, 1.0 - self.tpr

    def expected_cost(self, costs: Costs | tuple[float, float], prior_plus: float) -> float:
        """Expected cost of these rates for any costs and prior: those of use, whatever was chosen for.

        Parameters
        ----------
        costs : Costs or (C_plus, C_minus)
            Costs of a false negative and of a false positive.
        prior_plus : float
            Probability of a positive where the classifier is used, in [0, 1].

        Returns
        -------
        float
            ``prior_plus C_plus (1 - tpr) + (1 - prior_plus) C_minus fpr`` for one sample, computed in fractions.

        Raises
        ------
        InputError
            If a cost is negative or the prior is outside [0, 1].

        Examples
        --------
        >>> from paretoclf.roc import roc_of_scores
        >>> curve = roc_of_scores([0.1, 0.4, 0.4, 0.8], [-1, 1, -1, 1])
        >>> (point,) = curve.best((3, 1))  # half of the samples are positive
        >>> point.cost, point.expected_cost((3, 1), prior_plus=0.1)
        (0.25, 0.45)
        """
        at, prior = as_costs(costs), as_fraction(check_inside(prior_plus, "prior_plus"))
        misses = prior * (1 - as_fraction(self.tpr))
        alarms = (1 - prior) * as_fraction(self.fpr)
        return float(misses * as_fraction(at.C_plus) + alarms * as_fraction(at.C_minus))


@dataclass(frozen=True)
class RocPoint(RocPlace):
    """One classifier of a curve, as chosen by `RocCurve.best` and its kin: its rates and cost are those that chose it.

    Attributes
    ----------
    fpr, tpr : float
        Its place in the ROC plane.
    cost : float
        Objective that was minimised: the expected cost ``p_plus C_plus (1 - tpr) + p_minus C_minus fpr``; for
        `RocCurve.neyman_pearson` the false negative rate, for `RocCurve.minimax` the larger rate; nan where nothing
        was minimised. Costs and priors of use have `expected_cost`.
    t : float or None
        Path parameter (None for a curve that does not come from a path).
    swept : float
        Share of the jump of b at t that is already behind; 1 away from jumps.
    shift : float
        Number added to the score: the classifier predicts +1 where ``f(x) + shift >= 0``.
    index : int
        Position on the curve that was asked; -1 for an end point (0, 0) or (1, 1) that it did not have.
    costed : bool
        Whether `cost` is an expected cost, of costs that were given; it is printed then.
    """

    fpr: float
    tpr: float
    cost: float
    t: float | None
    swept: float
    shift: float
    index: int
    costed: bool = False

    def __repr__(self) -> str:
        cost = f"cost {self.cost:.6g}, " if self.costed else ""
        where = "" if self.t is None else f"t {self.t:.6g}, "
        return f"RocPoint(fpr {self.fpr:.4f}, fnr {1.0 - self.tpr:.4f}, {cost}{where}threshold {self.threshold:.6g})"

    @property
    def threshold(self) -> float:
        """Threshold of the score: the classifier predicts +1 where ``f(x)`` is at least this; minus the shift."""
        return 0.0 - self.shift


@dataclass(frozen=True)
class RocMixture(RocPlace):
    """A point of the upper hull: for each sample one of two classifiers, drawn at random.

    Between two classifiers every point of the segment can be attained, by no single one of a finite sample's
    (Bach et al. 2006, section 2.2). `paretoclf.results.RandomisedRule` is such a classifier.

    Attributes
    ----------
    first, second : RocPoint
        Two neighbouring vertices of the hull, by increasing fpr; twice the same where a vertex was asked for.
    share : float
        Probability of the second, in [0, 1).

    Examples
    --------
    >>> from paretoclf.roc import RocCurve
    >>> mixture = RocCurve([0, 0.5, 1], [0, 1, 1], n_plus=2, n_minus=2).at_rate(fpr=0.125)
    >>> mixture.share, mixture.rates
    (0.25, (0.125, 0.75))
    """

    first: RocPoint
    second: RocPoint
    share: float

    @property
    def fpr(self) -> float:  # type: ignore[override]
        """Expected false positive rate."""
        return (1.0 - self.share) * self.first.fpr + self.share * self.second.fpr

    @property
    def tpr(self) -> float:  # type: ignore[override]
        """Expected true positive rate."""
        return (1.0 - self.share) * self.first.tpr + self.share * self.second.tpr
