"""The name that somebody meant who wrote another."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

#: How much of two names is the same where one is said to be meant.
_LIKE = 0.7


def meant(given: str, names: Iterable[str]) -> str:
    """Return the one name that is nearest to what was given, without regard to case; "" where none or several are.

    Examples
    --------
    >>> from paretoclf.cli.spelling import meant
    >>> meant("week2", ["week_1", "week_2", "farkas"])
    'week_2'
    >>> meant("week_7", ["week_1", "week_2", "farkas"])
    ''
    """
    like = {name: SequenceMatcher(None, given.lower(), name.lower()).ratio() for name in names}
    best = max(like.values(), default=0.0)
    nearest = [name for name, share in like.items() if share == best]
    return nearest[0] if best >= _LIKE and len(nearest) == 1 else ""


def did_you_mean(given: str, names: Iterable[str]) -> str:
    """Return the end of a sentence on a name that is not there: ": did you mean a diet?", or nothing."""
    name = meant(given, names)
    return f": did you mean {name}?" if name else ""
