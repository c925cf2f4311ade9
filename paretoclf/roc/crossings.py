r"""Exact sign changes of held-out scores along a path.

On a piece :math:`[t_k,t_{k+1}]` a score is affine, :math:`f_k\to f_{k+1}`, and changes sign at
:math:`t^\dagger=t_k+(t_{k+1}-t_k)\,f_k/(f_k-f_{k+1})`. Where the intercept jumps every b between the two values is
optimal, so b is swept through the interval at fixed t and samples cross one after another. A position on the path is
therefore a pair (t, swept), ordered lexicographically: *swept* is the share of the jump at t already behind, and 1
away from jumps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from paretoclf.common.checks import Array, Index, Mask, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.common.tables import Tabular
from paretoclf.common.tolerances import ONE_CHANGE
from paretoclf.roc.scores import PathScores

#: Entries of a score matrix that are worked on at once: bounds the memory of temporaries to some tens of MB.
BLOCK = 1 << 20

Found = tuple[Array, Array, npt.NDArray[np.intp], Mask]


@dataclass(frozen=True, eq=False, repr=False)
class LabelChanges(Tabular):
    """Changes of the labels of m samples along a path, in no particular order; a table has them by t.

    Attributes
    ----------
    first : bool array of shape (m,)
        Which samples are labelled +1 just after t = 0.
    t, swept : array of shape (e,)
        Positions of the changes.
    sample : int array of shape (e,)
        Sample whose label changes.
    up : bool array of shape (e,)
        True where the label becomes +1, False where it becomes -1.
    """

    first: Mask
    t: Array
    swept: Array
    sample: npt.NDArray[np.intp]
    up: Mask

    def __repr__(self) -> str:
        return f"LabelChanges({self.t.size} changes of {np.unique(self.sample).size} of {self.first.size} samples)"

    def _rows(self) -> Iterator[dict[str, Any]]:
        """One for each change, along the path; label is the one after it."""
        for k in np.lexsort((self.sample, self.swept, self.t)).tolist():
            sample, label = int(self.sample[k]), 1 if self.up[k] else -1
            yield {"t": float(self.t[k]), "sample": sample, "label": label, "swept": float(self.swept[k])}


def label_changes(scores: PathScores) -> LabelChanges:
    """All t at which a sample's label changes: +1 where its score is >= 0, on the open stretches between changes.

    A score that only touches zero does not change its label. A score that stays at zero is labelled +1. There is at
    most one change for each sample, piece and jump, and one for each end of a piece.

    Parameters
    ----------
    scores : PathScores
        Scores of m samples along a path, ``path.scores(X)``.

    Returns
    -------
    LabelChanges

    Raises
    ------
    InputError
        If it is anything else.

    Examples
    --------
    >>> import paretoclf as pc
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]
    >>> path = pc.trace(pc.TwoCSVM(X, y), start=(1, 3), stop=(3, 1))
    >>> scores = path.scores([[1.2], [2.9]])
    >>> changes = pc.roc.label_changes(scores)
    >>> changes
    LabelChanges(2 changes of 2 of 2 samples)
    >>> [(round(row["t"], 4), row["sample"], row["label"]) for row in changes.records()]
    [(0.1954, 1, 1), (0.787, 0, 1)]

    Between t = 0 and t = 0.5 the labels of so many samples differ:

    >>> int(((scores(0.0) >= 0) != (scores(0.5) >= 0)).sum())
    1
    """
    if not isinstance(scores, PathScores):
        raise InputError(f"scores must be PathScores, as path.scores(X) returns them, got {what_it_is(scores)}")
    m, k = scores.start.shape
    width = max(1, BLOCK // max(m, 1))
    found: list[Found] = []
    for low in range(0, k, width):
        high = min(low + width, k)
        found += _in_pieces(scores, low, high)
        found += _at_breakpoints(scores, low, min(high, k - 1))
    t, swept, sample, up = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return LabelChanges(just_after(scores.start[:, 0], scores.end[:, 0]), t, swept, sample, up)


def scores_at(scores: PathScores, t: Array | float, swept: Array | float = 1.0) -> Array:
    """Scores at the positions (t, swept): within a jump, after the given share of it.

    Parameters
    ----------
    scores : PathScores
        Scores of m samples along a path.
    t, swept : array of shape (q,) or float
        Positions.

    Returns
    -------
    array of shape (m, q)

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.roc.scores import PathScores
    >>> from paretoclf.roc import scores_at
    >>> jump = PathScores(np.array([0.0, 0.5, 1.0]), np.array([[0.0, 2.0]]), np.array([[0.0, 2.0]]))
    >>> scores_at(jump, 0.5, np.array([0.0, 0.25, 1.0]))
    array([[0. , 0.5, 2. ]])
    """
    at = np.atleast_1d(np.asarray(t, dtype=float))
    at, share = np.broadcast_arrays(at, np.asarray(swept, dtype=float))
    values = scores(np.ascontiguousarray(at))
    inner = scores.t[1:-1]
    if inner.size == 0:
        return np.asarray(values)
    nearest = np.minimum(np.searchsorted(inner, at), inner.size - 1)
    within = np.flatnonzero((share < 1) & (inner[nearest] == at))
    jump, share = nearest[within], share[within]
    before, after = scores.end[:, jump], scores.start[:, jump + 1]
    values[:, within] = (1 - share) * before + share * after
    return np.asarray(values)


def _in_pieces(scores: PathScores, low: int, high: int) -> list[Found]:
    """Find the changes strictly inside the pieces low to high - 1."""
    start, end = scores.start[:, low:high], scores.end[:, low:high]
    first = just_after(start, end)
    sample, piece = np.nonzero(first != just_after(end, start))
    t = zeros_of_pieces(scores, sample, low + piece)
    right = scores.t[low + piece + 1]
    # Rounding may put a change of this piece on its right end, where a jump of b is still to come.
    swept = np.where(t < right, 1.0, 0.0)
    return [(t, swept, sample, ~first[sample, piece])]


def _at_breakpoints(scores: PathScores, low: int, high: int) -> list[Found]:
    """Find the changes at the right ends of the pieces low to high - 1: before, within and after a jump."""
    if high <= low:
        return []
    before, after = scores.end[:, low:high], scores.start[:, low + 1 : high + 1]
    last = just_after(before, scores.start[:, low:high])
    next_first = just_after(after, scores.end[:, low + 1 : high + 1])
    no_jump = before == after  # nothing happens within it, not even to a score of zero
    jump_first = np.where(no_jump, last, just_after(before, after))
    jump_last = np.where(no_jump, last, just_after(after, before))
    t = scores.t[low + 1 : high + 1]
    found = []
    for old, new, swept in ((last, jump_first, 0.0), (jump_first, jump_last, None), (jump_last, next_first, 1.0)):
        sample, jump = np.nonzero(old != new)
        if swept is None:
            start, end = before[sample, jump], after[sample, jump]
            known_to = scores.rounding[sample] / np.abs(start - end)
            share = coincide(zero_share(start, end), jump, known_to)
        else:
            share = np.full(len(jump), swept)
        found.append((t[jump], share, sample, new[sample, jump]))
    return found


def just_after(value: Array, other_end: Array) -> Mask:
    """Labels (True: +1) on an open affine stretch, next to the end that has the given value."""
    return np.asarray((value > 0) | ((value == 0) & (other_end >= 0)))


def zero_share(start: Array, end: Array) -> Array:
    """Zero, in [0, 1], of the affine function with values of opposite signs at 0 and at 1."""
    left, right = np.abs(start), np.abs(end)
    return np.asarray(left / (left + right))


def zeros_of_pieces(scores: PathScores, sample: Index, piece: Index) -> Array:
    """Zeros of the scores of some samples, each on a piece at whose ends it has opposite signs."""
    start, end = scores.start[sample, piece], scores.end[sample, piece]
    left, right = scores.t[piece], scores.t[piece + 1]
    width = right - left
    t = np.minimum(left + width * zero_share(start, end), right)
    known_to = width * scores.rounding[sample] / np.abs(start - end)
    return coincide(t, piece, known_to)


def coincide(position: Array, group: Index, width: Array) -> Array:
    """Positions, equal within a group where they are closer than the widths to which they are known.

    Equal samples change their labels together, though rounding has put their zeros apart.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.roc.crossings import coincide
    >>> np.unique(coincide(np.array([0.3, 0.1 + 0.2, 0.4]), np.array([0, 0, 0]), np.full(3, 1e-15))).size
    2
    """
    order = np.lexsort((position, group))
    ordered, known_to = position[order], width[order]
    other_group = np.diff(group[order]) != 0
    distinct = np.diff(ordered) > known_to[:-1] + known_to[1:]
    ends_run = np.ones(ordered.size, dtype=bool)
    ends_run[:-1] = other_group | distinct
    last = np.flatnonzero(ends_run)
    out = np.empty_like(ordered)
    out[order] = np.repeat(ordered[last], np.diff(last, prepend=-1))
    return out


def distinct_changes(t: Array) -> tuple[Array, Index]:
    """Distinct t, increasing, and the position of each given t among them; those that rounding put apart are one.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.roc.crossings import distinct_changes
    >>> distinct_changes(np.array([0.0, 1.0, 0.3, 0.1 + 0.2]))
    (array([0. , 0.3, 1. ]), array([0, 2, 1, 1]))
    """
    knots, place = np.unique(t, return_inverse=True)
    ends_run = np.append(np.diff(knots) > ONE_CHANGE * np.abs(knots).max(), True)
    last = knots[ends_run]
    last[0] = knots[0]  # both ends stay what they are
    run = np.cumsum(ends_run) - ends_run
    return last, run[place]
