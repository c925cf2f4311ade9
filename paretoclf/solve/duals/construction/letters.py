"""Letters for what a derivation adds to a problem, which the user's names leave free."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import chain, count

#: What is said by which letter, with a number behind it, and the letter in its place where the user has such a name:
#: multipliers of arguments, variables above atoms, their weights, copies of arguments, of second ones, halves of forms.
LETTERS: Mapping[str, str] = {"y": "q", "v": "t", "w": "k", "u": "a", "r": "o", "h": "g"}


def free_letters(taken: Collection[str]) -> dict[str, str]:
    """A letter for each of `LETTERS`, so that the letter with a number is none of the names that are taken."""

    def free(letter: str) -> bool:
        return not any(re.fullmatch(rf"{letter}_?\d+[a-z]?", name) for name in taken)

    found = {}
    for letter, other in LETTERS.items():
        longer = (letter * size for size in count(2))
        found[letter] = next(each for each in chain((letter, other), longer) if free(each))
    return found


def free_suffix(suffix: str, heads: Collection[str], taken: Collection[str]) -> str:
    """The part of a multiplier's name behind ``lambda_``: the name of its constraint, or ``of_`` and that."""
    while any(f"{head}_{suffix}" in taken for head in heads):
        suffix = f"of_{suffix}"
    return suffix
