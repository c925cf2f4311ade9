"""The sets that a path divides the samples into."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.common.checks import State
from paretoclf.problem.parametric_qp import INSIDE, LOWER, UPPER

#: Multiplier 0; at its cap; in the working margin set; or its cap is zero all along, and it takes no part.
RIGHT, LEFT, MARGIN, OUT = 0, 1, 2, 3

#: Labels of the multipliers by the set that a sample is in, and back.
LABELS = np.array([LOWER, UPPER, INSIDE, LOWER])
SETS = {LOWER: RIGHT, INSIDE: MARGIN, UPPER: LEFT}


def sets_of(labels: Any) -> State:
    """The set that each multiplier with a label is in."""
    return np.asarray(np.vectorize(SETS.get, otypes=[np.int8])(labels))
