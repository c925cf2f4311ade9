"""Labels as other packages have them: any two, of which the larger one is positive."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.common.checks import Array, check_labels
from paretoclf.common.errors import InputError


def signs_of(y: Any, classes: Any = None, owner: str = "") -> Array:
    """Labels -1 and +1 of two labels of any kind: the second in sorted order is +1, as scikit-learn has it.

    Parameters
    ----------
    y : array of shape (n,)
        -1 and +1, 0 and 1, False and True, two texts or two numbers.
    classes : pair, optional
        Labels that a machine was fitted on, of its negatives and of its positives. Then y has these, or -1 and +1.
    owner : str
        Name of the machine, for errors.

    Raises
    ------
    InputError
        If there are not two labels, or others than those of the machine.

    Examples
    --------
    >>> from paretoclf.checking.labels import signs_of
    >>> signs_of([0, 1, 1]), signs_of(["sick", "well", "sick"])
    (array([-1.,  1.,  1.]), array([-1.,  1., -1.]))
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        return check_labels(labels)  # which says so
    try:
        values = np.unique(labels)
    except TypeError:
        kinds = sorted({type(each).__name__ for each in labels.ravel()})
        raise InputError(f"y must hold labels of one kind, got {kinds}") from None
    found = set(values.tolist())
    usual = labels.dtype.kind in "iuf" and found <= {-1, 1}
    known = None if classes is None else np.asarray(classes).tolist()
    if known is not None and found <= set(known):
        return check_labels(np.where(labels == known[1], 1, -1))
    if known is not None and not usual:
        raise InputError(
            f"y must hold the classes of {owner}, {known[0]!r} and {known[1]!r}, or -1 and +1, got {_some(values)}"
        )
    if usual or values.size < 2:
        return check_labels(labels)
    if values.size > 2 or (labels.dtype.kind == "f" and not np.isfinite(labels).all()):
        raise InputError(f"y must hold two labels, got {_some(values)}")
    return check_labels(np.where(labels == values[1], 1, -1))


def _some(values: Any) -> str:
    """At most five values, for a message."""
    shown = ", ".join(repr(value) for value in values[:5].tolist())
    more = ", ..." if values.size > 5 else ""
    return f"{{{shown}{more}}}"
