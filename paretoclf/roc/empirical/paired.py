r"""Two families on the same splits, and whether one area is larger.

Splits overlap, so their differences are not independent, and a test that takes them for independent rejects too often.
Nadeau & Bengio (2003) correct the variance of the mean of R differences for the share of samples that two test parts
have in common: :math:`\widehat{\mathrm{Var}}(\bar d)=\big(\tfrac1R+\tfrac{n_{test}}{n_{train}}\big)s_d^2`. That test
does not reject more readily with more splits; the signed-rank test does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import t as student
from scipy.stats import wilcoxon

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.roc.empirical.tradeoff import EmpiricalTradeoff


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
