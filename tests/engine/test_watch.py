"""Which samples may go unwatched (docs/explanation/tracker.md): the invariant, by brute force on random lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from paretoclf.engine.sets import LEFT, MARGIN
from tests.engine.test_box_qp import GROUPS, problem, whole_way
from tests.oracles.box_problems import FORMS

core = pytest.importorskip("paretoclf.engine._core", reason="built without a C++ compiler")
N = 90


@dataclass(frozen=True)
class Epoch:
    """Steps of a line from a basis on: what is known where they begin, and what became of it at the ends of all."""

    side: Any  # of each sample: 1, -1, and 0 in the margin set
    group: Any
    rate: Any  # of g
    spread: Any  # squared distance of each sample from the centre of its row's margin set
    times: Any  # since the beginning
    g: Any  # shape (times, n)
    way: Any  # |V|, shape (times,)
    centre: Any  # the largest |m_h|, shape (times,)


def ends_of(found, s):
    """The sets on a step, and at both of its ends t, a and g."""
    log, p, state = found.log, found.problem, found.log.state.copy()
    for segment, sample, _, new in log.changes.T:
        if segment <= s:
            state[sample] = new
    solved, part = [], slice(log.ptr[s], log.ptr[s + 1])
    for end, inside in enumerate((log.a0, log.a1)):
        t = found.ends[s + end]
        a = np.where(state == LEFT, found.line.caps(t), 0.0)
        a[log.index[part]] = inside[part]
        solved.append((t, a, p.Q @ a - p.p + p.A.T @ log.eta[s, end]))
    return state, solved


def epochs(groups, seed):
    """Up to 20 steps in which no eta jumps, from each of some bases of a random line."""
    p = problem(groups, n=N, d=3, seed=seed)
    found = whole_way(p, FORMS[seed % len(FORMS)], np.ones(N), 0.3)[-1]
    log, count = found.log, found.log.segments
    jumps = np.abs(log.eta[1:, 0] - log.eta[:-1, 1]).max(axis=1, initial=0.0) > 1e-9
    for first in range(0, count, 7):
        last = first
        while last + 1 < min(count, first + 20) and not jumps[last]:
            last += 1
        steps = [ends_of(found, s) for s in range(first, last + 1)]
        state = steps[0][0]
        times, a, g = (np.array(each) for each in zip(*(end for _, ends in steps for end in ends), strict=True))
        times = times - times[0]
        V = a - a[0] - times[:, None] * (a[1] - a[0]) / times[1]
        spread, centre = np.diag(p.Q).copy(), np.zeros(times.size)
        for h in range(p.m):
            own = (state == MARGIN) & (p.group == h)
            mean = np.where(own, p.kappa, 0.0) / own.sum()
            spread += np.where(p.group == h, mean @ p.Q @ mean - 2.0 * p.kappa * (p.Q @ mean), 0.0)
            centre = np.maximum(centre, np.abs(g @ mean))
        way = np.sqrt(np.maximum(np.einsum("ti,ij,tj->t", V, p.Q, V), 0.0))
        side = np.select([state == MARGIN, state == LEFT], [0.0, -1.0], 1.0)
        yield Epoch(side, p.group, (g[1] - g[0]) / times[1], np.maximum(spread, 0.0), times, g, way, centre)


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("seed", range(3))
def test_no_margin_leaves_its_course_by_more(groups, seed):
    """The bound is within a third of what some margin really does, so a part of it that is missing shows."""
    nearest = 0.0
    for epoch in epochs(groups, seed):
        off = np.abs(epoch.g - epoch.g[0] - epoch.times[:, None] * epoch.rate)
        allowed = np.sqrt(epoch.spread) * epoch.way[:, None] + (epoch.group >= 0) * epoch.centre[:, None]
        assert (off <= allowed + 1e-8).all()
        nearest = max(nearest, float((off / (allowed + 1e-6)).max()))
    assert nearest > 0.7


@pytest.mark.parametrize("groups", GROUPS)
def test_who_is_not_watched_stays_on_its_side(groups):
    """Of the core's own choice, with what each epoch really needed as its budgets."""
    spared = arrived = 0
    for epoch in (epoch for seed in range(4) for epoch in epochs(groups, seed)):
        state = np.select([epoch.side > 0, epoch.side < 0], [0, 1], 2).tolist()
        table = np.stack([epoch.g[0], epoch.rate, np.ones(N), epoch.spread])
        budgets = [epoch.times[-1], epoch.way.max(), epoch.centre.max(), 1e-9, 0.0]
        watched = np.array(core.parts.reachable(state, epoch.group.tolist(), table, budgets), dtype=bool)
        spare, sides = ~watched & (epoch.side != 0), epoch.side * epoch.g
        assert (sides[:, spare] > 0.0).all()
        spared += int(spare.sum())
        arrived += int((sides.min(axis=0) < 1e-9)[watched].sum())
    assert spared > 300
    assert arrived >= 20
