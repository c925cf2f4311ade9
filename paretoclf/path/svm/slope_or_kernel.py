"""Decision functions of optima that may have a slope, may have coefficients of a kernel, or both."""

from __future__ import annotations

from typing import Any

from paretoclf.common.checks import Array
from paretoclf.problem.classifiers import KernelRule, LinearRule, Rule
from paretoclf.problem.gram import Gram


def linear_or_kernel(gram: Gram, coef: Array, slope: Array | None, b: float, interval: Any = None) -> Rule:
    """Return the rule of a slope, where it is known and holds for the features as they are; else that of a kernel."""
    if slope is None or not gram.linear or gram.origin is not None:
        return KernelRule(gram, coef, b, interval, slope)
    return LinearRule(slope, b, interval, gram.names)
