"""Bounds on a whole line: against quotients, sizes and stretches at many points of each segment."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.tolerances import CERTIFY, UNDECIDED
from paretoclf.proof.segments.line_proof import LineProof, SegmentCertificate

SHARE = np.linspace(0.0, 1.0, 401)
WEIGHTS = np.stack([(1 - SHARE) ** 2, 2 * SHARE * (1 - SHARE), SHARE**2])


def proof_of(gaps, sizes=None, rounding=None, **named) -> LineProof:
    """Segments of length 1 with these coefficients; sizes are 1, and rounding is 0."""
    gaps = np.array(gaps, dtype=float)
    sizes = np.ones_like(gaps) if sizes is None else np.array(sizes, dtype=float)
    rounding = np.zeros_like(gaps) if rounding is None else np.array(rounding, dtype=float)
    named = {"residuals": {"box": np.zeros(len(gaps))}, "samples": np.arange(len(gaps)), **named}
    return LineProof(np.arange(len(gaps) + 1.0), gaps, sizes, rounding, sizes - gaps, **named)


@pytest.mark.parametrize("seed", range(5))
def test_no_gap_on_a_segment_is_larger_than_the_one_that_is_said(seed):
    rng = np.random.default_rng(seed)
    gaps, sizes = rng.normal(size=(30, 3)), rng.random((30, 3))
    proof = proof_of(gaps, sizes)
    most = ((gaps @ WEIGHTS) / (sizes @ WEIGHTS)).max(axis=1)
    assert (proof.gap >= most - 1e-12).all()
    np.testing.assert_allclose(proof.gap, np.maximum(gaps / sizes, 0.0).max(axis=1))
    assert len(proof) == 30
    assert np.array_equal(proof.unexplained, proof.gap)


def test_where_rounding_explains_all_of_a_gap_it_is_relative_to_the_largest_size():
    """Where the size vanishes at one end, a gap there is no infinite one."""
    sizes, gaps = [[0.0, 1.0, 4.0]] * 3, [[1e-3, 1e-3, 1e-3]] * 3
    rounding = [[1e-3] * 3, [1e-3, 1e-3, 9e-4], [2e-3] * 3]
    proof = proof_of(gaps, sizes, rounding)
    np.testing.assert_allclose(proof.gap[[0, 2]], 1e-3 / 4.0)
    assert proof.gap[1] > 1e300
    assert proof_of([[0.0, -1.0, 0.0]], [[0.0, 1.0, 1.0]]).gap.tolist() == [0.0]


def test_a_gap_counts_unless_rounding_alone_can_make_it_and_it_is_not_too_large():
    sizes = np.array([[1.0, 2.0, 3.0]] * 4)
    gaps = np.array([[1.0, 2.0, 3.0]] * 4) * np.array([[0.5], [0.5], [1.5], [0.5]]) * UNDECIDED
    rounding = np.array([gaps[0], 0.9 * gaps[1], gaps[2], gaps[3]])
    rounding[3, 1] *= 0.9
    proof = proof_of(gaps, sizes, rounding)
    assert (proof.unexplained == 0.0).tolist() == [True, False, False, False]
    assert np.array_equal(proof.unexplained[1:], proof.gap[1:])


def test_a_segment_is_closed_by_the_tolerance_by_rounding_or_by_the_mean_of_the_two():
    tol, sizes = 2.0**-20, np.ones((6, 3))
    gaps = np.array([[1.0, 1, 1], [1, 1.1, 1], [5, 5, 5], [5, 5, 5.1], [3, 3, 0.5], [3.1, 3, 0.5]])
    rounding = np.array([[0.0, 0, 0], [0, 0, 0], [5, 5, 5], [5, 5, 5], [5, 5, 0], [5, 5, 0]])
    proof = proof_of(4 * tol * gaps, 4 * sizes, 4 * tol * rounding)
    assert proof.closed(tol).tolist() == [True, False, True, False, True, False]
    assert proof_of([[3e-3] * 3], [[1.0] * 3], [[4e-3] * 3]).closed().tolist() == [True]
    large = 1.01 * UNDECIDED
    assert proof_of([[large] * 3], [[1.0] * 3], [[1.0] * 3]).closed().tolist() == [False]  # too much to be explained
    assert proof_of([[4 * large] * 3], [[4.0] * 3], [[4.0] * 3]).closed().tolist() == [False]
    assert proof_of([[4 * UNDECIDED] * 3], [[4.0] * 3], [[4.0] * 3]).closed().tolist() == [True]
    assert proof_of([[UNDECIDED] * 3], [[1.0] * 3], [[1.0] * 3]).closed().tolist() == [True]
    assert proof_of([[CERTIFY] * 3]).closed().tolist() == [True]


@pytest.mark.parametrize("seed", range(5))
def test_stretches_up_to_rounding_are_those_where_too_much_is_left(seed):
    rng, tol = np.random.default_rng(seed), 0.1
    gaps, rounding, sizes = 0.1 * rng.random((12, 3)), 0.06 * rng.random((12, 3)), rng.random((12, 3)) + 0.4
    gaps[3:5], gaps[7] = 1.0, -1.0
    proof = proof_of(gaps, sizes, rounding)
    stretches = proof.rounded(tol)
    assert all(low < high for low, high in stretches)
    assert all(one[1] < other[0] for one, other in pairwise(stretches))
    for j in range(12):
        excess = (gaps + rounding - tol * sizes)[j] @ WEIGHTS[:, 1:-1]
        inside = np.array([any(low <= j + share <= high for low, high in stretches) for share in SHARE[1:-1]])
        assert ((excess > 0.0) == inside)[np.abs(excess) > 1e-9].all()
    # Across a breakpoint that is one stretch.
    assert any(low <= 3.0 and high >= 5.0 for low, high in stretches)


def test_stretches_are_named_and_three_at_most():
    gaps = np.zeros((10, 3))
    rounding = np.zeros((10, 3))
    rounding[::2] = 1e-3
    assert proof_of(gaps[:2], None, rounding[:2])._besides(CERTIFY) == (
        " With t in [0, 1] that is so up to rounding, which may be more than 1e-07 of what the gap is relative to."
    ).replace("1e-07", f"{CERTIFY:.0e}")
    said = proof_of(gaps, None, rounding, parameter="nu").explain()
    assert "With nu in [0, 1], [2, 3], [4, 5] and on 2 more stretches that is so up to rounding" in said
    assert "at every nu in [0, 10], on each of 10 segments" in said
    few = proof_of(gaps[:6], None, rounding[:6]).explain()
    assert "[0, 1], [2, 3], [4, 5] that is so" in few
    assert "rounding" not in proof_of(gaps).explain()


def test_the_certificate_of_a_segment_has_its_numbers():
    gaps, sizes = np.array([[0.0] * 3, [3e-9, 2e-9, 1e-9]]), np.array([[1.0] * 3, [1.0, 4.0, 2.0]])
    rounding = np.array([[0.0] * 3, [3e-9, 1e-9, 2e-9]])
    named = {"residuals": {"box": np.array([0.0, 1e-5]), "rows": np.array([0.0, 1e-6])}, "samples": np.array([7, 5])}
    proof = proof_of(
        gaps, sizes, rounding, parameter="nu", kernel_rounding=np.array([0.0, 0.5]), note="Noted.", **named
    )
    one = proof[-1]
    assert isinstance(one, SegmentCertificate)
    assert (one.segment, one.interval, one.parameter) == (1, (1.0, 2.0), "nu")
    assert (one.scale, one.rounding, one.kernel_rounding, one.worst) == (4.0, 1e-9, 0.5, 5)
    assert one.gap == proof.gap[1] == pytest.approx(3e-9)
    assert one.dual == {"box": 1e-5}
    assert one.primal == {"rows": 1e-6}
    assert np.isnan(one.primal_value)
    assert proof[0].kernel_rounding == 0.0
    assert proof_of(gaps)[0].kernel_rounding == 0.0
    with pytest.raises(IndexError):
        proof[2]
    said = one.explain()
    assert "segment 1, nu in [1, 2]" in said
    assert "differ by at most 3.0e-09" in said
    assert "and by rounding" not in said
    np.testing.assert_allclose(proof.kernel, [0.0, 0.125])
    assert proof_of(gaps).kernel is None


def test_the_certificate_of_a_segment_says_what_rounding_may_hide_and_how_long_it_is():
    proof = LineProof(
        np.array([1.0, 1.0 + 1e-9]),
        np.array([[2e-3] * 3]),
        np.ones((1, 3)),
        np.array([[1e-3, 1e-3, 3e-3]]),
        np.ones((1, 3)),
        {},
        None,
    )
    said = proof[0].explain()
    assert "t in [1, 1], 1.0e-09 long" in said
    assert "differ by at most 2.0e-03, and by rounding of 3.0e-03" in said
    assert "2.0e-03 of the value there" in said
    assert not proof[0].passes()


@pytest.mark.parametrize("gaps", [[1e-9] * 3, [2e-3] * 3, [2e-3, 1e-9, 2e-3], [np.nan] * 3])
@pytest.mark.parametrize("rounding", [0.0, 2e-3, 1e-3])
def test_a_segment_and_its_certificate_have_one_verdict(gaps, rounding):
    proof = proof_of([gaps], None, [[rounding] * 3])
    assert proof[0].passes() == proof.passes() == (proof.failures().size == 0)
    assert proof[0]._rounded == (np.array(gaps) <= rounding).all()
    assert proof.passes() == bool(np.all(np.array(gaps) <= max(rounding, CERTIFY)))


def test_values_in_another_unit_have_the_same_quotients():
    proof = proof_of([[1e-3, 2e-3, 3e-3]], [[1.0, 2.0, 4.0]], [[1e-4] * 3])
    other = proof.times(8.0)
    for name in ("gaps", "sizes", "rounding", "duals"):
        np.testing.assert_allclose(getattr(other, name), 8.0 * getattr(proof, name))
    np.testing.assert_allclose(other.gap, proof.gap)
    assert other.allowed is None


def test_a_proof_of_stored_values_holds_them_against_their_bounds():
    """The value is 1 + t on [0, 1], proved from 1 + t to 1.1 + t."""
    t = np.array([[0.0, 0.5], [0.5, 1.0]])
    duals = np.array([[1.0, 1.25, 1.5], [1.5, 1.75, 2.0]])
    gaps, sizes = np.full((2, 3), 0.1), np.full((2, 3), 2.0)
    bounds = gaps, sizes, np.zeros((2, 3)), duals
    right = np.array([[1.05, 1.55, 0.0], [1.55, 2.05, 0.0]])

    def made(value, **named):
        return LineProof.of(t, bounds, {"box": np.zeros(2)}, None, (value, (duals, gaps, sizes)), **named)

    proof = made(right)
    assert proof.t.tolist() == [0.0, 0.5, 1.0]
    assert proof.residuals["value"].tolist() == [0.0, 0.0]
    assert list(proof.residuals) == ["box", "value"]
    for change, wanted in (((0, 1, 0.45), 0.2), ((1, 0, -0.45), 0.2)):  # 0.4 beyond, of 2
        value = right.copy()
        value[change[:2]] += change[2]
        for found in (made(value, parameter="nu"), proof.with_values(value)):
            assert found.residuals["value"][change[0]] == pytest.approx(wanted)
            assert found.residuals["value"][1 - change[0]] == 0.0
            assert "box" in found.residuals
    assert made(value, parameter="nu").parameter == "nu"
    assert LineProof.of(t, bounds, {}, None).residuals == {}
    assert proof.times(2.0).with_values(right) is None
    # Breakpoints are rounded, but the ends of a path are not.
    value = right.copy()
    value[:, :2] = duals[:, [0, 2]] - 4e-16
    own_end = made(value).residuals["value"]
    assert own_end[0] > 0.0
    inner = made(value, ends=(-1.0, 2.0)).residuals["value"]
    assert inner.tolist() == [0.0, 0.0]
    assert proof.with_values(value).residuals["value"].tolist() == own_end.tolist()


def test_parts_of_another_proof_replace_bounds_and_forget_what_values_are_held_against():
    one = proof_of([[1.0] * 3, [2.0] * 3, [3.0] * 3], allowed=(1, 2, 3), kernel_rounding=None)
    other = proof_of([[5.0] * 3], residuals={"box": np.array([0.25])}, samples=np.array([9]))
    both = one.with_parts(np.array([1]), other)
    assert both.gaps[:, 0].tolist() == [1.0, 5.0, 3.0]
    assert both.duals[:, 0].tolist() == [0.0, -4.0, -2.0]
    assert both.residuals["box"].tolist() == [0.0, 0.25, 0.0]
    assert both.samples.tolist() == [0, 9, 2]
    assert both.allowed is None
    assert one.gaps[1, 0] == 2.0


def test_a_proof_without_a_path_writes_no_file(tmp_path):
    with pytest.raises(pc.InputError, match="does not belong to a path"):
        proof_of([[0.0] * 3]).save(tmp_path / "one.json")
    calls = []
    proof = proof_of([[0.0] * 3], writer=lambda *given, **named: calls.append((given, named)))
    proof.save("name", level="exact", progress=False, n_jobs=2, positive="yes")
    assert calls == [(("name",), {"level": "exact", "progress": False, "n_jobs": 2, "positive": "yes"})]


def test_what_is_said_of_a_whole_line():
    assert re.search(r"Optimal at every t in \[0, 2\], on each of 2 segments\.", proof_of([[0.0] * 3] * 2).explain())
