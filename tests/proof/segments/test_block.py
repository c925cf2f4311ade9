"""Tests of `paretoclf.proof.segments.block`."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

import paretoclf as pc
from paretoclf.proof.segments import block
from tests.proof.lines.test_prove import BY_KERNEL, of_every_kind, with_pieces


@BY_KERNEL
def test_blocks_do_not_matter(kernel, monkeypatch):
    for path in of_every_kind(kernel)[:6]:
        wrong = with_pieces(path, b0=path.pieces.b0 + 1e-5, a1=0.9999 * path.pieces.a1)
        caps = []
        for size in (1, 7, 1000):
            monkeypatch.setattr(block, "_SEGMENTS", size)
            caps.append(replace(wrong).proof)
        for other in caps[1:]:
            np.testing.assert_allclose(other.residual, caps[0].residual, rtol=1e-6, atol=1e-11)
            np.testing.assert_allclose(other.gaps, caps[0].gaps, rtol=1e-4, atol=1e-12)
            assert other.failures().tolist() == caps[0].failures().tolist()


def test_groups_of_blocks_do_not_matter(monkeypatch):
    monkeypatch.setattr(block, "_SEGMENTS", 5)
    monkeypatch.setattr(block, "_GROUP", 150)
    for path in of_every_kind(None)[:6]:
        assert path.proof.passes(1e-9), path.proof.explain()


def adverse(seed):
    """What `_near` is given of a block of c columns, and the least and largest margins (c, n) that there may be."""
    rng = np.random.default_rng(seed)
    c, n, noise = int(rng.integers(3, 8)), 40, float(rng.choice([0.0, 0.5]))
    y, at_cap, reach = np.where(rng.random(n) < 0.5, 1.0, -1.0), rng.random(n) < 0.5, 3.0 * rng.random(n)
    share = np.sort(np.concatenate([[0.0, 1.0], rng.random(c - 2)]))
    between = np.stack([1.0 - share, share], axis=1)
    bends = rng.random(c) < rng.choice([0.0, 0.5], size=(2, 1))
    b, target = rng.normal(size=(2, 2)) @ between.T + bends * rng.normal(size=(2, c))
    inner = np.concatenate([[0.0], np.ones(c - 2), [0.0]])  # at the anchors w is what it is there
    deviation, shift = rng.random(c) * inner, rng.normal(size=c) * inner * (rng.random() < 0.7)
    at = 12.0 * rng.normal(size=(2, n))
    scores = between @ at + shift[:, None]
    room = deviation[:, None] * reach + noise
    margins = np.stack([y * (scores + b[:, None]) - target[:, None] + side * room for side in (-1.0, 1.0)])
    q = SimpleNamespace(y=y, products=SimpleNamespace(lengths=reach), problem=SimpleNamespace(nu=None))
    known = SimpleNamespace(deviation=deviation, shift=shift)
    ends = SimpleNamespace(anchors=SimpleNamespace(scores=at), at_cap=at_cap)
    return (q, ends, b, target, between, known, noise), margins


def test_who_is_not_looked_at_keeps_to_its_side_whatever_lies_between_two_anchors():
    """Slopes off their chord, intercepts and margins that bend, a common shift of scores, and scores that jump."""
    left = 0
    for seed in range(200):
        given, (lowest, highest) = adverse(seed)
        near, slack = block._near(*given)
        at_cap = given[1].at_cap
        wrong = np.where(at_cap, (highest > 0.0).any(axis=0), (lowest < 0.0).any(axis=0))
        assert not (wrong & ~near).any(), seed
        assert slack >= -lowest.min(), seed
        left += int((~near).sum())
    assert left > 500


def test_sizes_grow_to_the_largest_score_of_one_sign_at_both_ends():
    """Of three samples the last is largest but changes its sign; the second is smaller than the size at an end."""
    first, last, target = slice(0, -1), slice(1, None), np.array([0.5, 1.0])
    f = np.array([[-2.0, 9.0, 10.0], [-3.0, 0.2, -10.0]])
    for columns, wanted in (([0], [2.0, 3.0]), ([1], [1.0, 1.0]), ([2], [1.0, 1.0]), ([], [1.0, 1.0])):
        size = np.ones((1, 2))
        block._enlarge(size, f[:, columns] - target[:, None], target, first, last)
        assert size.tolist() == [wanted]


def test_a_stored_margin_alone_is_judged_at_both_ends_of_a_segment():
    """Of both hulls, up and down, next to segments on which nothing is wrong."""
    for path in of_every_kind(None)[4:6]:
        P = path.pieces
        assert path.proof.passes(1e-9)
        for j in (len(path.proof) // 3, len(path.proof) // 2, len(path.proof) - 1):
            for name in ("rho0", "rho1"):
                for factor in (1 - 1e-6, 1 + 1e-6):
                    rho = getattr(P, name).copy()
                    rho[j] *= factor
                    assert j in with_pieces(path, **{name: rho}).proof.failures(), (type(path).__name__, name, j)


@BY_KERNEL
def test_multipliers_are_judged_at_both_ends_of_a_segment_though_no_score_shows_them(kernel):
    """At costs of 1e-10 no score moves by 1e-12, and one that is changed by 1e-4 of itself puts classes off balance."""
    data, unit = pc.datasets.make_gaussians(20, rng=0), 1e-10
    path = pc.trace(pc.TwoCSVM(data.X, data.y, kernel), (unit, 3 * unit), (3 * unit, unit))
    P, seen = path.pieces, 0
    assert path.proof.passes()
    for j in range(1, len(path.proof) - 1):
        for name in ("a0", "a1"):
            for at in range(P.ptr[j], P.ptr[j + 1]):
                a = getattr(P, name).copy()
                a[at] *= 1 - 1e-4
                if abs(a[at] - getattr(P, name)[at]) > 1e-6 * unit:
                    seen += 1
                    assert j in with_pieces(path, **{name: a}).proof.failures(), (j, name, at)
    assert seen > 10
