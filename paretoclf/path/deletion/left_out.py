"""Which samples are left out together: each by itself, groups, or folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask, Rng
from paretoclf.common.errors import InputError
from paretoclf.roc.folds import folds_of


def parts_of(y: Array, groups: Any, cv: Any, rng: Rng, transformer: Any) -> tuple[Index, ...]:
    """Positions of the samples that go together, each in one part; InputError where that is not what is asked for."""
    if transformer is not None:
        raise InputError(
            f"transformer must be None, got {transformer!r:.100}: what is fitted in a fold changes with it, and "
            "deletion follows the problem as it is; cross_validated_errors fits a transformer in each fold"
        )
    if groups is not None and cv is not None:
        raise InputError("cv must be None where groups are given: each says which samples are left out together")
    if cv is not None:
        return _of_folds(y, cv, rng)
    if groups is None:
        return tuple(np.arange(y.size)[:, None])
    names = np.asarray(groups)
    if names.shape != y.shape:
        raise InputError(f"groups must have shape ({y.size},), one for each sample, got {names.shape}")
    return _checked([np.flatnonzero(names == name) for name in np.unique(names)], "groups")


def _of_folds(y: Array, cv: Any, rng: Rng) -> tuple[Index, ...]:
    try:
        folds = folds_of(y, cv, rng)
    except InputError as error:  # which calls them folds
        raise InputError(str(error).replace("folds", "cv", 1)) from None
    for k, (train, test) in enumerate(folds):
        if not np.array_equal(np.sort(train), np.setdiff1d(np.arange(y.size), test)):
            raise InputError(f"cv[{k}] must train on all samples that it does not test, as deletion does")
    tested = np.bincount(np.concatenate([test for _, test in folds]), minlength=y.size)
    if (tested != 1).any():
        i = int(np.argmax(tested != 1))
        raise InputError(f"cv must test each sample once, got {tested[i]} times for sample {i}")
    return _checked([np.sort(test) for _, test in folds], "cv")


def _checked(parts: Sequence[Index], name: str) -> tuple[Index, ...]:
    if len(parts) < 2:
        raise InputError(f"{name} must make at least two parts, got {len(parts)}: without it there is no class left")
    return tuple(np.asarray(part, dtype=np.int64) for part in parts)


def leave_one_class(y: Array, there: Mask, parts: Sequence[Index]) -> Index:
    """Numbers of the parts that take the last of a class who is ``there``: without them a constant rule is optimal."""
    sides = [side & there for side in (y > 0, y < 0)]
    who, of = np.concatenate(parts), np.repeat(np.arange(len(parts)), [part.size for part in parts])
    left = np.stack([side.sum() - np.bincount(of[side[who]], minlength=len(parts)) for side in sides], axis=1)
    nobody = np.flatnonzero(~left.any(axis=1))
    if nobody.size and parts[nobody[0]].size > 1:
        part = parts[nobody[0]].tolist()
        raise InputError(f"groups must leave somebody with a cost, got {part}, without which there is no class")
    return np.flatnonzero((left == 0).any(axis=1)) if all(side.any() for side in sides) else np.zeros(0, dtype=np.int64)
