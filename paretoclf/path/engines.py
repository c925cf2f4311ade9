"""The choice of the tracker that follows a path, in one place."""

from __future__ import annotations

from paretoclf.checks import Array, Index
from paretoclf.path.tracker import FeatureForm, GramForm, Tracker


def make_tracker(
    engine: str | None, quadratic: GramForm | FeatureForm, p: Array, kappa: Array, group: Index, m: int
) -> Tracker:
    """A tracker of a parametric box QP; parameters after the first as for `Tracker`."""
    return Tracker(quadratic, p, kappa, group, m)
