r"""The tests with which the papers are compared: methods over data sets, families over splits, choices over folds.

``python examples/papers/comparisons.py`` prints the example of Demsar's section 3.2.2.

**Several methods on several data sets.** On each of :math:`N` data sets the :math:`k` methods are ranked, 1 for the
smallest score. The Friedman test asks whether the mean ranks :math:`R_j` differ at all,

.. math:: \chi^2_F=\frac{12N}{k(k+1)}\Big[\sum_jR_j^2-\frac{k(k+1)^2}4\Big],\qquad
   F_F=\frac{(N-1)\chi^2_F}{N(k-1)-\chi^2_F},

corrected for ties; the second form (Iman & Davenport 1980) is the less conservative one. Two methods differ where their
mean ranks are at least the critical difference of Nemenyi apart, :math:`q\sqrt{k(k+1)/(6N)}`, :math:`q` the quantile of
the studentised range of :math:`k` groups, infinitely many degrees of freedom, divided by :math:`\sqrt2`.

**Two families on the same splits.** Splits overlap, so their differences are not independent, and a test that takes
them for independent rejects too often. Nadeau & Bengio (2003) correct the variance of the mean of R differences for the
share of samples that two test parts have in common:
:math:`\widehat{\mathrm{Var}}(\bar d)=\big(\tfrac1R+\tfrac{n_{test}}{n_{train}}\big)s_d^2`. That test does not reject
more readily with more splits; the signed-rank test does.

**Costs on folds.** The signed-rank test of Wilcoxon, one-tailed and exact. Differences that are zero are left out, the
sizes of the others are ranked (mean ranks for ties), and :math:`W_+` is the sum of the ranks of the positive ones. If
their signs are coin flips, each of the :math:`2^n` sums is equally likely: p is the share of them that are at least
:math:`W_+`, counted by convolution, given the ties that there are.

**References.** J. Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7, section 3.2.
C. Nadeau & Y. Bengio (2003), Inference for the generalization error, Machine Learning 52:239-281, section 3.2.
M. Hollander & D. Wolfe (1999), Nonparametric Statistical Methods, section 3.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Rational
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, rankdata, studentized_range, wilcoxon
from scipy.stats import f as f_distribution
from scipy.stats import t as student

from paretoclf.common.checks import Array, check_share, real_array
from paretoclf.common.errors import InputError
from paretoclf.plotting.base import new_axes
from paretoclf.roc.criteria import as_fraction
from paretoclf.roc.empirical import EmpiricalTradeoff


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
        """Draw the critical-difference diagram: the best to the left, a bar over methods that do not differ."""
        k, order = self.ranks.size, np.argsort(self.ranks, kind="stable")
        groups, half = self.groups, (self.ranks.size + 1) // 2
        depth = 0.5 + 0.35 * len(groups)
        ax = new_axes(ax, 7.0, 1.3 + 0.28 * (half + depth))
        ax.set_axis_off()
        ax.set_xlim(1 - 0.45 * (k - 1), k + 0.45 * (k - 1))
        ax.set_ylim(depth + half + 0.3, -2.4)
        ax.plot([1, k], [0, 0], "k-", linewidth=1)
        for rank in range(1, k + 1):
            ax.plot([rank, rank], [0, -0.2], "k-", linewidth=1)
            ax.text(rank, -0.35, str(rank), ha="center", va="bottom", fontsize="small")
        cd = self.critical_difference
        ax.plot([1, 1 + cd], [-1.5, -1.5], "k-", linewidth=2)
        ax.text(1 + cd / 2, -1.65, f"critical difference {cd:.2f}", ha="center", va="bottom", fontsize="small")
        for place, j in enumerate(order):
            left = place < half
            row = depth + (place if left else k - 1 - place)
            edge, align = (1 - 0.05 * (k - 1), "right") if left else (k + 0.05 * (k - 1), "left")
            ax.plot([self.ranks[j], self.ranks[j], edge], [0, row, row], color="0.4", linewidth=0.8)
            name, shown = self.names[j], f"{self.ranks[j]:.2f}"
            ax.text(edge, row, f"{name}  {shown} " if left else f" {shown}  {name}", ha=align, va="center")
        for level, group in enumerate(groups):
            ends = [self.ranks[self.names.index(name)] for name in (group[0], group[-1])]
            ax.plot([ends[0] - 0.04, ends[1] + 0.04], [0.4 + 0.35 * level] * 2, color="#D55E00", linewidth=3.5)
        return ax


def nemenyi_difference(methods: int, sets: int, level: float = 0.05) -> float:
    """Return the critical difference of mean ranks."""
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


@dataclass(frozen=True, eq=False)
class PairedAreas:
    """Differences of areas over the same splits, and two tests of "no difference".

    Attributes
    ----------
    differences : array of shape (splits,)
        First minus second.
    mean : float
        Their mean.
    wins : int
        Splits in which the first is larger.
    losses : int
        Splits in which the second is larger.
    p_corrected : float
        Two-sided p of the corrected resampled t-test (Nadeau & Bengio 2003).
    p_wilcoxon : float
        Two-sided p of the signed-rank test, as if splits were independent. They are not: it is too small.
    interval : (float, float)
        95 % interval for the mean difference, of the corrected test.
    """

    differences: Array = field(repr=False)
    mean: float
    wins: int
    losses: int
    p_corrected: float
    p_wilcoxon: float
    interval: tuple[float, float]


def paired_areas(
    first: EmpiricalTradeoff, second: EmpiricalTradeoff, *, both: bool = False, nested: bool = False
) -> PairedAreas:
    """Compare the areas of two families over the same splits.

    Parameters
    ----------
    first, second : EmpiricalTradeoff
        Made with the same samples, `splits`, `train_share` and `rng`.
    both : bool
        Compare `hull_areas` in place of `areas`: upper envelopes, which flatter the family of more classifiers.
    nested : bool
        Compare `nested_areas`: the same choices, made on validation folds.

    Raises
    ------
    InputError
        If the splits differ, there are fewer than two, or areas are wanted that were not computed.

    References
    ----------
    Nadeau & Bengio (2003), Machine Learning 52:239-281, section 3.2. Wilcoxon (1945).
    """
    same = len(first.parts) == len(second.parts) and all(
        np.array_equal(a.test, b.test) for a, b in zip(first.parts, second.parts, strict=True)
    )
    if not (same and np.array_equal(first.y, second.y)):
        raise InputError("first and second must come from the same splits of the same samples, got different ones")
    if len(first.parts) < 2:
        raise InputError("first and second must have at least 2 splits, got 1")
    if both and nested:
        raise InputError("both and nested must not both be True: one kind of area is compared")
    kind = "nested_areas" if nested else "hull_areas" if both else "areas"
    areas = [getattr(each, kind) for each in (first, second)]
    if areas[0] is None or areas[1] is None:
        option = "nested=True" if nested else "both=True"
        raise InputError(f"{option} needs {kind.replace('_', ' ')}: pass {option} to empirical_tradeoff as well")
    # An area is a whole number of halves of a pair of a positive and a negative: equal ones are made equal.
    pairs = np.array([2 * int(part.positive.sum()) * int((~part.positive).sum()) for part in first.parts], dtype=object)
    whole = [
        np.array([round(area * pair) for area, pair in zip(each, pairs, strict=True)], dtype=object) for each in areas
    ]
    common = math.lcm(*pairs)
    exact = (whole[0] - whole[1]) * (common // pairs)
    d = (exact / common).astype(np.float64)
    held = first.parts[0].test.size
    error = float(np.sqrt((1 / d.size + held / (first.y.size - held)) * d.var(ddof=1)))
    mean, law = float(d.mean()), student(d.size - 1)
    # Where all differences are equal there is no error; t is then 0 or infinite.
    p = 2 * float(law.sf(abs(mean) / error)) if error > 0 else float(mean == 0)
    half = float(law.ppf(0.975)) * error
    return PairedAreas(
        differences=d,
        mean=mean,
        wins=int((d > 0).sum()),
        losses=int((d < 0).sum()),
        p_corrected=p,
        p_wilcoxon=float(wilcoxon(exact.astype(np.float64)).pvalue) if d.any() else 1.0,
        interval=(mean - half, mean + half),
    )


def signed_rank_greater(differences: Any) -> Array:
    """p-values of "the differences are not positive" against "they tend to be positive".

    Parameters
    ----------
    differences : array of shape (n,) or (k, n)
        One sample, or k of them, of at most 200 differences: floats, or whole numbers and fractions of any size in an
        array of objects. Ties are what is equal: differences of rounded costs seldom are, so costs of counts are to be
        compared in whole numbers (`paretoclf.roc.counts.exact_costs`).

    Returns
    -------
    array of shape () or (k,)
        1 where all differences are zero.

    Raises
    ------
    InputError
        If there are none or more than 200, or one of them is not finite.
    """
    given = np.asarray(differences)
    if not (given.dtype == object and all(isinstance(x, Rational) for x in given.flat)):
        given = real_array(differences, "differences")
    finite = given.dtype == object or bool(np.isfinite(given).all())
    if given.ndim not in (1, 2) or not 1 <= given.shape[-1] <= 200 or not finite:
        raise InputError(f"differences must be 1 to 200 finite numbers a sample, got an array of shape {given.shape}")
    d = np.atleast_2d(given)
    codes = np.stack([np.unique(np.abs(each), return_inverse=True)[1].reshape(-1) for each in d])
    zero = d == 0
    sizes = np.where(zero, d.shape[1], codes)  # zeros rank last, and do not count
    doubled = np.where(zero, 0, np.rint(2 * rankdata(sizes, axis=1))).astype(np.int64)  # whole numbers, ties or not
    k, n = d.shape
    sums = np.arange(n * (n + 1) + 1)
    shares = np.zeros((k, sums.size))
    shares[:, 0] = 1.0
    for rank in doubled.T[:, :, None]:
        moved = np.take_along_axis(shares, np.maximum(sums - rank, 0), axis=1)
        shares = 0.5 * (shares + np.where(sums >= rank, moved, 0.0))
    seen = np.where(d > 0, doubled, 0).sum(axis=1)
    p = np.where(sums >= seen[:, None], shares, 0.0).sum(axis=1)
    return np.asarray(np.minimum(p, 1.0).reshape(given.shape[:-1]))


def main() -> None:
    """Print the example of Demsar's section 3.2.2: four methods on 14 data sets."""
    found = compare_mean_ranks([3.143, 2.000, 2.893, 1.964], ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"], 14)
    print(f"chi square {found.chi_square:.2f} (printed 9.28), F {found.iman_davenport:.2f} (printed 3.69), ", end="")
    print(f"critical difference {found.critical_difference:.2f} (printed 1.25)")


if __name__ == "__main__":
    main()
