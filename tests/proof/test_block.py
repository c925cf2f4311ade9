"""Tests of `paretoclf.proof.block`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paretoclf.proof import block
from tests.proof.test_proving import BY_KERNEL, of_every_kind, with_pieces


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
