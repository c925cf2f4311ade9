"""Random changes of what files store: accepted only where no answer is off by more than the proof allows.

Whether an accepted answer is right is asked of exact rational arithmetic, which shares nothing with the proof, and of
the answers of the file as it was. The problem itself (samples, labels, costs) is not changed: another is another.
"""

from __future__ import annotations

import zlib
from functools import cache

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.files import write_file
from tests.oracles.mostly_slow import mostly_slow
from tests.oracles.stored_files import content_of_file
from tests.path.test_load import PATHS, _apart, _data

#: What a file says of the problem, and what no answer depends on.
GIVEN = {
    "X", "y", "kernel", "line", "sample_costs", "sample_weight", "lam", "bias", "slack_costs", "asymmetry", "hulls",
    "rectangle", "seconds",
}  # fmt: skip

CHANGES = 40  # of each part
TOLERANCE = 3e-8  # gap and value may be off by 1e-8 each, and so may what a value is held against

KINDS = {
    **PATHS,
    "quantile without bias": lambda: pc.trace(pc.QuantileSVM(*_data(), bias=False), tau=(0, 1), lam=0.05),
    "quantile, kernel": lambda: pc.trace(pc.QuantileSVM(*_data(), kernel=pc.RBF(1.0), bias=True), tau=(0, 1), lam=0.05),
    "margins, kernel": lambda: pc.trace(
        pc.BiobjectiveMargin(*_apart(), kernel=pc.RBF(3.0)), theta=(0.1, 10), C_plus=1.0, C_minus=2.0
    ),
}


def arrays_of(path, folder):
    path.save(folder / "right")
    return content_of_file(folder / "right.npz")


def changed(arrays, rng):
    """One number of one stored array, changed by a little or a lot, to another one, or to 0."""
    keys = [key for key, a in arrays.items() if key not in GIVEN and a.size]
    key = str(rng.choice(keys))
    a = arrays[key].copy()
    flat = a.reshape(-1)
    i, how = int(rng.integers(flat.size)), int(rng.integers(5))
    if a.dtype.kind in "iu":
        flat[i] = flat[int(rng.integers(flat.size))] if how < 2 else flat[i] + int(rng.choice([-2, -1, 1, 2]))
    else:
        size = 10.0 ** rng.uniform(-14, 4) * rng.choice([-1.0, 1.0])
        unit = float(np.abs(flat).max()) or 1.0
        flat[i] = [
            flat[i] * (1.0 + size), flat[i] + size * unit, flat[i] + size, flat[int(rng.integers(flat.size))], 0.0
        ][how]  # fmt: skip
    return {**arrays, key: a}, f"{key}[{i}]: {arrays[key].reshape(-1)[i]!r} to {flat[i]!r}"


def loaded(arrays, folder, load):
    """What a file with these arrays holds; None if it is refused."""
    write_file(folder / "changed.npz", arrays)
    try:
        return load(folder / "changed.npz")
    except pc.InputError:
        return None


@cache
def traced(kind):
    """The path that the parts share."""
    return KINDS[kind]()


@pytest.mark.parametrize("part", mostly_slow(range(4), 1))
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_accepted_has_the_right_answers(kind, part, tmp_path):
    path, rng = traced(kind), np.random.default_rng([zlib.crc32(kind.encode()), part])
    arrays, new = arrays_of(path, tmp_path), np.random.default_rng(0).normal(size=(5, 2))
    refused = 0
    for _ in range(CHANGES):
        stored, what = changed(arrays, rng)
        found = loaded(stored, tmp_path, pc.load)
        if found is None:
            refused += 1
            continue
        assert not objections(found, path, new, rng), (what, objections(found, path, new, rng))
    assert CHANGES // 4 < refused < CHANGES


def objections(found, path, new, rng):
    """What is wrong with the answers of a path that was accepted, by name."""
    ends, t = found.pieces.t, path.pieces.t
    out = ["range"] if np.abs(ends[[0, -1]] - t[[0, -1]]).max() > TOLERANCE * max(1e-3, float(t[-1])) else []
    j = rng.integers(ends.size - 1, size=3)
    points = [*(ends[j] + rng.uniform(size=3) * (ends[j + 1] - ends[j])), ends[0], ends[-1]]
    steep = isinstance(found, pc.Path) and found._steep
    for u in map(float, points):
        if not t[0] <= u <= t[-1]:
            continue
        bounds = found.certificate(u, exact=True).bounds
        dual, primal = (float(bound) for bound in bounds)
        room = TOLERANCE * max(abs(primal), abs(dual)) + (1e-15 if primal * dual == 0.0 else 0.0)
        unit = found._unit(u) ** 2 if isinstance(found, pc.results.NuPath) else 1.0
        if not primal - dual <= room + 1e-14 * unit:
            out.append(f"optimality at {u!r}: {primal - dual:.1e} of {primal:.1e}")
        if not abs(found.value(u) - path.value(u)) <= room + 1e-14 * unit:
            out.append(f"value at {u!r}")
        solution, state = found.at(u), found.sets(u)
        alpha, caps = found.alpha(u), found.caps(u)
        held = np.abs(np.where(state == 1, np.where(np.isinf(caps), np.inf, caps - alpha), alpha) * (state != 2))
        if held.max() > TOLERANCE * np.where(np.isinf(caps), alpha.max(), caps).max():
            out.append(f"sets at {u!r}")
        try:
            given = solution.classifier.decision_function(new)
        except pc.InputError:  # the hulls meet
            continue
        scores = found.scores(new)(u)
        if isinstance(found, pc.results.NuPath):
            scores = scores * found._unit(u)
        low, high = getattr(solution.classifier, "b_interval", None) or (0.0, 0.0)
        if high > low:  # any intercept in between is optimal
            continue
        size = 1.0 + np.abs(given).max()
        if np.abs(scores - given).max() > (1e-5 if steep else 1e-6) * size:
            out.append(f"scores at {u!r}: {scores} instead of {given}")
    return out


def test_what_is_accepted_of_a_map_has_the_right_answers(tmp_path):
    X, y = _data(8)
    found = pc.plane(pc.TwoCSVM(X, y), (0.1, 1), (0.1, 1))
    rng = np.random.default_rng(0)
    arrays, new = arrays_of(found, tmp_path), rng.normal(size=(6, 2))
    labels = np.where(np.arange(6) % 2, 1.0, -1.0)
    right, refused = found.error_map(new, labels), 0
    for _ in range(CHANGES):
        stored, what = changed(arrays, rng)
        again = loaded(stored, tmp_path, pc.load)
        if again is None:
            refused += 1
            continue
        for costs in rng.uniform(0.1, 1.0, (4, 2)):
            solution = again.at(*costs)
            exact = pc.certify(
                y, again.caps(*costs), solution.alpha, solution.classifier.b, X=X, w=solution.classifier.w, exact=True
            )
            assert exact.gap <= TOLERANCE, what
            assert solution.value == pytest.approx(found.at(*costs).value, rel=TOLERANCE), what
        assert [r.facets for r in again.regions] == [r.facets for r in found.regions], what
        same = again.error_map(new, labels)
        np.testing.assert_array_equal(same.counts, right.counts, err_msg=what)
        np.testing.assert_array_equal(same.inside_counts, right.inside_counts, err_msg=what)
        for one, other in ((same.start, right.start), (same.stop, right.stop)):
            np.testing.assert_allclose(one, other, atol=1e-6, err_msg=what)
    assert CHANGES // 4 < refused < CHANGES
