"""The duality picture as a page: a classifier and multipliers to be moved by hand, two bounds, and their gap."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from paretoclf.common.checks import check_labels, check_matrix, check_pair, check_positive_number
from paretoclf.common.errors import InputError
from paretoclf.plotting.page import EDITED, html_file, script, text_of, write_template

#: Six points on which samples of every kind are seen: those of lesson 2.
LESSON_X = ((3.0, 3.5), (0.0, 3.5), (2.0, 2.0), (3.0, 1.5), (4.5, 0.5), (1.5, 2.0))
LESSON_Y = (-1, -1, -1, 1, 1, 1)


def duality_page(
    file: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    costs: tuple[float, float] = (0.3, 0.9),
    feature_names: Sequence[str] = ("x1", "x2"),
) -> None:
    """Write a page on which weak duality is seen and moved by hand.

    Any classifier is an upper bound of the optimal value of the 2C-SVM, all multipliers are a lower one. The page has
    a line to drag and to turn, a bar for each multiplier, the two bounds from move to move, and the three sums that
    their gap is made of; steps uphill in the multipliers close it. Samples, labels and costs can be changed. It is one
    file, which needs no server and no network.

    Parameters
    ----------
    file : path
        Ends in .html; it appears complete or not at all.
    X : array of shape (n, 2), optional
        At most 30 samples in the plane. Default: the six of lesson 2.
    y : array of shape (n,), optional
        Labels, 1 and -1.
    costs : (float, float)
        C_plus and C_minus, both positive.
    feature_names : (str, str)
        Names of the axes.

    Raises
    ------
    InputError
        If an argument is not what it must be.

    References
    ----------
    docs/explanation/duality.md; lesson 2 has the identity with its proof.

    Examples
    --------
    >>> import paretoclf as pc
    >>> pc.plotting.duality_page("duality.html")  # doctest: +SKIP
    """
    out = html_file(file)
    if (X is None) != (y is None):
        raise InputError("X and y must be given together, or neither")
    samples = check_matrix(LESSON_X if X is None else X)
    if samples.shape[1] != 2:
        raise InputError(f"X must have 2 features, for a picture, got {samples.shape[1]}")
    if len(samples) > EDITED:
        raise InputError(f"X must have at most {EDITED} samples, for a picture, got {len(samples)}")
    labels = check_labels(LESSON_Y if y is None else y, len(samples))
    pair = [check_positive_number(each, "costs") for each in check_pair(costs, "costs", "(C_plus, C_minus)")]
    names = [str(name) for name in feature_names]
    if len(names) != 2:
        raise InputError(f"feature_names must be two names, got {feature_names!r}")
    data = {"X": samples.tolist(), "y": labels.astype(int).tolist(), "costs": pair, "names": names}
    write_template(out, "duality.html", {"DATA": script(data), "DUALITY": text_of("duality.js")})
