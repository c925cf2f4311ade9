"""Families of random cases, the first few of which are part of the default run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def mostly_slow(cases: Iterable[Any], few: int) -> list[Any]:
    """Sets of parameters for ``parametrize``: so many of them spread over all, and the rest marked slow."""
    cases = list(cases)
    kept = {round(k * (len(cases) - 1) / max(few - 1, 1)) for k in range(few)}
    return [case if k in kept else _slow(case) for k, case in enumerate(cases)]


def _slow(case: Any) -> Any:
    """The same set of parameters, marked."""
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
