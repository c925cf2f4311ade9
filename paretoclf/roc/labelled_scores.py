"""Scores and labels of the same samples, as a user gives them: which are the labels, and which label is positive.

Labels -1 and +1 are told apart from scores in either order, unless the scores are two whole numbers only. Any other two
labels stand first, unless both have their names, and are made -1 and +1 by ``pos_label``, which is the positive one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.common.checks import refuse_other_order
from paretoclf.common.errors import InputError


def scores_and_labels(given: tuple[Any, Any], scores: Any, y: Any, pos_label: Any = None) -> tuple[Any, Any]:
    """Tell scores and labels apart, which were given by their names or one after the other; labels become -1 and +1.

    Raises
    ------
    InputError
        If one is missing or given twice; if neither has a name and nothing tells which holds the labels: where
        neither holds -1 and +1 only, or where the other holds two labels, too; or if pos_label is no label.

    Examples
    --------
    >>> from paretoclf.roc.labelled_scores import scores_and_labels
    >>> scores_and_labels(([-1, 1], [0.2, 0.7]), None, None)
    ([0.2, 0.7], [-1, 1])
    >>> scores_and_labels(([0, 1], [0.2, 0.7]), None, None, pos_label=1)
    ([0.2, 0.7], array([-1.,  1.]))
    """
    unnamed = [each for each in given if each is not None]
    if len(unnamed) + (scores is not None) + (y is not None) != 2:
        raise InputError("scores and y must be given, each once: by their names, or one after the other")
    if scores is not None or y is not None:
        found = scores if scores is not None else unnamed[0], y if y is not None else unnamed[0]
    elif pos_label is not None:
        found = unnamed[1], unnamed[0]
    else:
        found = _told_apart(*unnamed)
    refuse_other_order(*found)
    return found[0], signs_of(found[1], pos_label)


def signs_of(y: Any, pos_label: Any) -> Any:
    """Return labels as -1 and +1, which is for pos_label; without one as they are given.

    Raises
    ------
    InputError
        If y has not two labels, or pos_label is none of them.

    Examples
    --------
    >>> from paretoclf.roc.labelled_scores import signs_of
    >>> signs_of(["ill", "well", "ill"], "ill")
    array([ 1., -1.,  1.])
    """
    if pos_label is None:
        return y
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise InputError(f"y must be one-dimensional where pos_label is given, got shape {labels.shape}")
    if np.ndim(pos_label):
        raise InputError(f"pos_label must be one label of y, got {pos_label!r:.100}")
    try:
        values = np.unique(labels).tolist()
    except TypeError:  # of several kinds
        values = list(dict.fromkeys(labels.tolist()))
    if len(values) != 2:
        raise InputError(f"y must have two labels where pos_label is given, y before scores, got {_shown(values)}")
    if pos_label not in values:
        raise InputError(f"pos_label must be one of the labels of y, {_shown(values)}, got {pos_label!r}")
    return np.where(labels == pos_label, 1.0, -1.0)


def _told_apart(first: Any, second: Any) -> tuple[Any, Any]:
    """Scores and labels in either order, where one is -1 and +1 only and the other cannot be labels."""
    signs = [_of_two_values(each) for each in (first, second)]
    few = [_values(each) for each in (first, second)]
    if signs[0] != signs[1]:
        other = few[1] if signs[0] else few[0]
        if other is None or not _like_labels(other):
            return (second, first) if signs[0] else (first, second)
        why = f"one holds -1 and +1 only, the other {_shown(other)}"
    elif signs[0]:
        why = "both hold -1 and +1 only"
    else:
        two = [each for each in few if each is not None and _like_labels(each)]
        if len(two) == 1:
            raise InputError(
                f"y must contain only the labels -1 and +1, got {_shown(two[0])}: say which one is positive, y before "
                f"scores, as in f(y, scores, pos_label={two[0][1]!r})"
            )
        why = "neither holds -1 and +1 only"
    raise InputError(
        f"scores and y must be told apart by their names, scores= and y=: {why}; write f(y=..., scores=...), with "
        "pos_label= where labels are not -1 and +1"
    )


def _values(given: Any) -> list[Any] | None:
    """Distinct values of one vector; None of anything else."""
    try:
        vector = np.asarray(given)
        return list(np.unique(vector).tolist()) if vector.ndim == 1 and vector.dtype != object else None
    except (TypeError, ValueError):
        return None


def _like_labels(values: list[Any]) -> bool:
    """Whether these could be two labels: anything but fractions."""
    return len(values) == 2 and all(not isinstance(each, float) or each.is_integer() for each in values)


def _shown(values: list[Any]) -> str:
    """The first values of a set."""
    return f"{{{', '.join(map(repr, values[:5]))}{', ...' if len(values) > 5 else ''}}}"


def _of_two_values(given: Any) -> bool:
    """Whether these are labels: -1 and +1 only, in one vector or in one for each fold."""
    several = isinstance(given, list | tuple) and any(np.ndim(each) for each in given)
    parts = given if several else [given]
    try:
        vectors = [np.asarray(each, dtype=np.float64) for each in parts]
    except (TypeError, ValueError):  # scores along paths
        return False
    return bool(vectors) and all(np.isin(vector, (-1, 1)).all() for vector in vectors)
