r"""Several methods on several data sets: whether they differ, and which ones.

On each of :math:`N` data sets the :math:`k` methods are ranked, 1 for the smallest score. The Friedman test asks
whether the mean ranks :math:`R_j` differ at all,

.. math:: \chi^2_F=\frac{12N}{k(k+1)}\Big[\sum_jR_j^2-\frac{k(k+1)^2}4\Big],\qquad
   F_F=\frac{(N-1)\chi^2_F}{N(k-1)-\chi^2_F},

corrected for ties; the second form (Iman & Davenport 1980) is the less conservative one. Two methods differ where their
mean ranks are at least the critical difference of Nemenyi apart, :math:`q\sqrt{k(k+1)/(6N)}`, :math:`q` the quantile of
the studentised range of :math:`k` groups, infinitely many degrees of freedom, divided by :math:`\sqrt2`.

**Reference.** J. Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7, section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Rational
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, rankdata, studentized_range
from scipy.stats import f as f_distribution

from paretoclf.common.checks import Array, check_share
from paretoclf.common.errors import InputError
from paretoclf.roc.criteria import as_fraction


@dataclass(frozen=True, eq=False)
class RankComparison:
    """Mean ranks of methods, and what can be said of their differences.

    Attributes
    ----------
    names : tuple of str
    ranks : array of shape (k,)
        Mean ranks, 1 the best.
    sets : int
        N.
    chi_square, p_friedman : float
        Of the Friedman test.
    iman_davenport, p_iman_davenport : float
        Of its second form.
    critical_difference : float
        Of mean ranks, at the level.
    level : float
    """

    names: tuple[str, ...]
    ranks: Array = field(repr=False)
    sets: int
    chi_square: float
    p_friedman: float
    iman_davenport: float
    p_iman_davenport: float
    critical_difference: float
    level: float

    def different(self, first: str, second: str) -> bool:
        """Whether two mean ranks differ by at least the critical difference."""
        a, b = (self.ranks[self.names.index(name)] for name in (first, second))
        return bool(abs(a - b) >= self.critical_difference)

    def detectable_difference(self, power: float = 0.8) -> float:
        r"""The expected difference of two mean ranks that so many sets show to be significant with this probability.

        What "not significant" means: an expected difference up to about this size may well be there. Simulated (4000
        draws, one seed): scores with normal noise, the two methods apart, the others in their middle.

        Parameters
        ----------
        power : float
            Strictly between 0 and 1.

        Returns
        -------
        float
            At most k - 1; infinite where that is below the critical difference: so few sets show nothing.

        Examples
        --------
        >>> import paretoclf as pc
        >>> found = pc.empirical.compare_ranks([[1, 2, 3], [2, 1, 3], [1, 3, 2], [1, 2, 3]] * 2, ["a", "b", "c"])
        >>> round(found.critical_difference, 2), round(found.detectable_difference(), 1)
        (1.17, 1.4)
        """
        power = check_share(power, "power")
        k = len(self.names)
        if self.critical_difference > k - 1:
            return np.inf
        noise = np.random.default_rng(0).normal(size=(4000, self.sets, k))
        better, worse, others = noise[..., :1], noise[..., 1:2], noise[..., 2:]

        def differences(apart: float) -> Array:
            """Differences of the mean ranks: a step over the other method, and over each between the two."""
            low, high = better - apart / 2, worse + apart / 2
            steps = (high > low) * 2.0 - 1.0 + ((others < high) * 1.0 - (others < low)).sum(axis=-1, keepdims=True)
            return np.asarray(steps.mean(axis=(1, 2)))

        found = brentq(lambda apart: np.mean(differences(apart) >= self.critical_difference) - power, -40.0, 40.0)
        return float(differences(found).mean())

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Largest sets of methods, in the order of their ranks, no two of which differ."""
        order = np.argsort(self.ranks, kind="stable")
        found: list[tuple[int, int]] = []
        for i in range(order.size):
            within = np.flatnonzero(self.ranks[order] - self.ranks[order[i]] < self.critical_difference)
            if not found or within[-1] > found[-1][1]:
                found.append((i, int(within[-1])))
        return tuple(tuple(self.names[k] for k in order[i : j + 1]) for i, j in found if j > i)

    def plot(self, ax: Any = None) -> Any:
        """Draw the critical-difference diagram; see `paretoclf.plotting.RankDisplay`."""
        from paretoclf.plotting.ranks import RankDisplay  # matplotlib only when a picture is wanted

        return RankDisplay.from_comparison(self).plot(ax=ax)


def nemenyi_difference(methods: int, sets: int, level: float = 0.05) -> float:
    """Return the critical difference of mean ranks.

    Examples
    --------
    >>> from paretoclf.roc.empirical import nemenyi_difference
    >>> round(nemenyi_difference(3, 11), 3), round(nemenyi_difference(5, 11), 3)
    (0.999, 1.839)
    """
    q = float(studentized_range.ppf(1 - level, methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * sets)))


def compare_ranks(scores: Any, names: Sequence[str], level: float = 0.05) -> RankComparison:
    """Compare methods by their ranks on several data sets.

    Parameters
    ----------
    scores : array of shape (N, k)
        Of each method (column) on each data set (row); small is good. Equal scores share their ranks: whole numbers and
        fractions in an array of objects, such as means of counts; floats as the fractions that they stand for.
    names : sequence of k str
    level : float
        Of the critical difference, in (0, 1).

    Raises
    ------
    InputError
        If there are fewer than 2 data sets or 3 methods, or scores are not finite.

    Examples
    --------
    >>> import paretoclf as pc
    >>> found = pc.empirical.compare_ranks([[0.1, 0.2, 0.4], [0.1, 0.3, 0.2], [0.2, 0.3, 0.5]], ["a", "b", "c"])
    >>> found.ranks.round(3), round(found.chi_square, 3)
    (array([1.   , 2.333, 2.667]), 4.667)
    """
    given = np.asarray(scores)
    rational = given.dtype == object and all(isinstance(x, Rational) for x in given.flat)
    table = given if rational else np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 3:
        raise InputError(f"scores must have at least 2 rows (data sets) and 3 columns (methods), got {table.shape}")
    if len(names) != table.shape[1]:
        raise InputError(f"names must have one name per column ({table.shape[1]}), got {len(names)}")
    if not (rational or np.isfinite(table).all()):
        raise InputError("scores must be finite: leave out data sets on which a method has none")
    level = check_share(level, "level")
    exact = table if rational else np.array([[as_fraction(x) for x in row] for row in table.tolist()], dtype=object)
    ranks = rankdata(np.unique(exact, return_inverse=True)[1].reshape(table.shape), axis=1)
    n, k = table.shape
    # With ties: the variance of the ranks as they are, n k (k + 1) (k - 1) / 12 without.
    spread = float(((ranks - (k + 1) / 2) ** 2).sum())
    between = float(((ranks.mean(axis=0) - (k + 1) / 2) ** 2).sum())
    statistic = 0.0 if spread == 0 else n**2 * (k - 1) * between / spread
    return _compared(ranks.mean(axis=0), names, n, statistic, level)


def compare_mean_ranks(ranks: Any, names: Sequence[str], sets: int, level: float = 0.05) -> RankComparison:
    """Say the same of mean ranks that somebody printed, as if there were no ties."""
    mean = np.array(ranks, dtype=np.float64)
    k = mean.size
    # Of deviations: printed ranks are rounded, do not quite add up to k (k + 1) / 2, and squares would magnify that.
    statistic = 12 * sets / (k * (k + 1)) * float(((mean - (k + 1) / 2) ** 2).sum())
    return _compared(mean, names, sets, statistic, level)


def _compared(ranks: Array, names: Sequence[str], n: int, statistic: float, level: float) -> RankComparison:
    k = ranks.size
    room = n * (k - 1) - statistic
    F = np.inf if room <= 0 else (n - 1) * statistic / room
    return RankComparison(
        tuple(names), ranks, n, float(statistic), float(chi2.sf(statistic, k - 1)), float(F),
        float(f_distribution.sf(F, k - 1, (k - 1) * (n - 1))), nemenyi_difference(k, n, level), level,
    )  # fmt: skip
