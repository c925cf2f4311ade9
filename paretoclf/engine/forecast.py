"""What a long run will take, said before it begins: one line in the log "paretoclf", and on a terminal.

An estimate from sizes alone: right to a factor of three where data are like those that it was measured on, and seldom
wrong by more than ten. Nothing hangs on it.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from tqdm import tqdm

from paretoclf.common.progress import logger, shows_progress
from paretoclf.problem.parametric_qp import ParametricQP

if TYPE_CHECKING:
    from paretoclf.problem.gram import Gram

#: A run is long from so many seconds, or bytes, on.
LONG, LARGE = 10.0, 2.0**30

# Measured in November 2026 on one core at 2 to 3 GHz; each path from end to end, without its proof.
#
# Exchanges an item. Lassos of 200 to 1 000 columns made 0.3 to 0.7, quantile regressions 1.4, portfolios 0.9, fused
# lassos 0.5, dense quadratic programs with two rows a column 1.2 to 1.9: about one. Random sparse linear programs made
# 0.55, 0.81 and 1.03 with 1 141, 2 274 and 4 279 items, plans of a factory 0.38 and 0.69 with 700 and 2 800: they grow
# like the root.
_ONE_AN_ITEM = 4_000
# Seconds an exchange. Sparse: 0.2 to 0.6 us an item, from 600 to 4 300 items. Dense: 2.5 ns for each entry of the
# inverse of the basis (dense programs of 300, 900 and 1 800 items: 0.1, 1.0 and 4.8 ms), half of one for each entry of
# the matrices (lassos and portfolios), 30 ns for each item, and 30 us.
_SPARSE_ITEM, _INVERSE, _ENTRY, _ITEM, _STEP = 0.4e-6, 2.5e-9, 0.5e-9, 30e-9, 30e-6
# Bytes of a path for each exchange and item: 1.2 numbers, with their places, and copies in other units (a linear
# program of 2 274 items took 175 MB for 1 839 exchanges).
_OF_PATH = 30
#
# Support vector machines. Exchanges a sample: linear ones with 5, 10, 20 and 50 features 1.5 to 1.8 up the ray, and
# 1.7, 2.1, 3.0 and 4.5 across it; RBF kernels 1.0 to 1.4: about two.
_A_SAMPLE = 2
# Seconds an exchange: 3 us, 0.15 ns for each number of the samples (2 000 to 20 000 of them with 5 to 50 features: 4 to
# 138 us), and 2 ns for each entry of the factor of the margin set, which has at most a member for each feature (192 of
# them: 87 us). With an RBF kernel it had 46, 66 and 84 for 500, 1 000 and 2 000 samples: two roots of n.
_STEP_OF_BOX, _NUMBER, _FACTOR, _ROOTS = 3e-6, 0.15e-9, 2e-9, 2.0
# Copies of a path while it is put together (20 000 samples with 50 features: 0.5 GB above the first).
_COPIES = 4


@dataclass(frozen=True)
class Forecast:
    """What a run is expected to take.

    Attributes
    ----------
    size : str
        What there is, in words.
    exchanges : int
    seconds, bytes : float
    """

    size: str
    exchanges: int
    seconds: float
    bytes: float

    @property
    def is_long(self) -> bool:
        """Whether somebody who waits wants to know."""
        return self.seconds > LONG or self.bytes > LARGE

    def __str__(self) -> str:
        half_decades = round(2 * math.log10(max(self.seconds, 1.0)))
        exchanges, seconds = (_in_one_digit(each) for each in (self.exchanges, 10.0 ** (half_decades / 2)))
        memory = _in_one_digit(max(self.bytes / 2**30, 0.1))
        estimate = f"an estimate: some {exchanges} exchanges, {memory} GiB, in the order of {seconds} s"
        return f"a long run: {self.size}; {estimate}"


def _in_one_digit(number: float) -> str:
    """A number rounded to one digit, without an exponent."""
    return f"{float(f'{number:.1g}'):.15g}"


def of_program(problem: ParametricQP) -> Forecast:
    """Forecast of the path of a program, as it is when it was reduced."""
    n, items, sparse = problem.n, problem.items, sp.issparse(problem.P)
    linear = not (problem.P.nnz if sparse else np.any(problem.P))
    exchanges = items * (math.sqrt(items / _ONE_AN_ITEM) if linear else 1.0)
    if sparse:
        step, held = _SPARSE_ITEM * items, 12.0 * (problem.P.nnz + problem.A.nnz)
    else:
        basis = 2.0 * min(n, items - n) or n / 4.0
        step = _INVERSE * basis**2 + _ENTRY * n * items + _ITEM * items + _STEP
        held = 8.0 * (3 * n + 4 * (items - n)) * n
    size = f"{items} items ({n} columns, {items - n} rows), {'sparse' if sparse else 'dense'}"
    return Forecast(size, int(exchanges), step * exchanges, held + _OF_PATH * exchanges * items)


def of_samples(gram: Gram) -> Forecast:
    """Forecast of a path of samples; their kernel matrix need not be there yet."""
    n, features = gram.n, gram.features
    exchanges, root = _A_SAMPLE * n, _ROOTS * math.sqrt(n)
    if features is None:
        margin, numbers, held, width = root, n * root, 8.0 * n * n, 0
        size = f"{n} samples with a kernel matrix"
    else:
        sparse, width = sp.issparse(features), features.shape[1]
        numbers = features.nnz if sparse else features.size
        margin, held = min(root, float(width)), 24.0 * numbers
        size = f"{n} samples, {width} features, {'sparse' if sparse else 'dense'}"
    step = _STEP_OF_BOX + _NUMBER * numbers + _FACTOR * margin**2
    return Forecast(size, exchanges, step * exchanges, held + _COPIES * exchanges * (24 * margin + 8 * width))


def foretell(work: ParametricQP | Gram, progress: bool | None) -> None:
    """Say what a long run will take: in the log, and where progress is shown.

    Parameters
    ----------
    work : ParametricQP or Gram
    progress : bool, optional
        As for `paretoclf.trace`: by default it is shown on a terminal.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from paretoclf.engine.forecast import of_samples
    >>> print(of_samples(pc.Gram(np.ones((40_000, 50)))))
    a long run: 40000 samples, 50 features, dense; an estimate: some 80000 exchanges, 0.5 GiB, in the order of 30 s
    """
    expected = of_program(work) if isinstance(work, ParametricQP) else of_samples(work)
    if not expected.is_long:
        return
    logger.info("%s", expected)
    if shows_progress(progress):
        tqdm.write(str(expected), file=sys.stderr)
