"""The nested experiment: against fits with LIBSVM, thresholds tried one by one, and a run that is killed."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

import paretoclf as pc
from examples.papers import bach2006_asymmetry as paper
from examples.papers.bach2006_asymmetry import KINDS, asymmetry_study
from examples.papers.comparisons import signed_rank_greater

TOTALS = (0.01, 0.1, 1.0)

G = np.linspace(0.05, 0.95, 7)
FOLDS, INNER = 4, 3


def samples():
    """Two clouds, one of them tilted, of unequal sizes."""
    rng = np.random.default_rng(3)
    y = np.where(np.arange(90) < 36, 1.0, -1.0)
    X = rng.normal(size=(90, 2)) @ np.array([[1.0, 0.6], [0.0, 0.7]])
    return X + np.where(y[:, None] > 0, [0.9, 0.2], [-0.5, 0.4]) + np.where(y[:, None] > 0, X[:, ::-1], 0.0), y


def run(**options):
    X, y = samples()
    given = {
        "folds": FOLDS,
        "inner": INNER,
        "transformer": StandardScaler(),
        "progress": False,
        "totals": TOTALS,
    } | options
    return asymmetry_study(pc.TwoCSVM(X, y), G, **given)


@pytest.fixture(scope="module")
def study():
    return run()


def scores(X, y, train, test, g, total):
    """Scores of LIBSVM on standardised samples."""
    scaler = StandardScaler().fit(X[train])
    model = SVC(kernel="linear", C=total, class_weight={1: g, -1: 1 - g}, tol=1e-5, max_iter=10**6)
    model.fit(scaler.transform(X[train]), y[train])
    return model.decision_function(scaler.transform(X[test]))


def cost(f, y, g):
    return float(2 * g * np.mean((f < 0) & (y > 0)) + 2 * (1 - g) * np.mean((f >= 0) & (y < 0)))


def test_costs_are_those_of_fits_with_libsvm(study):
    X, y = samples()
    splits = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))
    for k in (0, 2):
        train, test = splits[k]
        for j in range(G.size):
            for kind in range(3):
                f = scores(X, y, train, test, study.training[k, kind, j], study.totals[k])
                expected = cost(f + study.shifts[k, kind, j], y[test], G[j])
                assert study.raw_costs[kind, j, k] == pytest.approx(expected), (k, j, KINDS[kind])


def test_choices_on_the_inner_folds_are_those_of_trying_all(study):
    X, y = samples()
    drawn = np.random.default_rng(0).integers(2**31, size=(1, FOLDS + 1))[0, 1:]
    k, j = 1, 4
    train, _ = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))[k]
    inner = [
        (train[rest], train[held])
        for rest, held in StratifiedKFold(INNER, shuffle=True, random_state=int(drawn[k])).split(train, y[train])
    ]
    labels = np.concatenate([y[held] for _, held in inner])

    def best(f, g):
        between = np.concatenate([[-np.inf], np.sort(f), [np.inf]])
        return min(cost(np.where(f > threshold, 1.0, -1.0), labels, g) for threshold in between)

    def pooled(g):
        return np.concatenate([scores(X, y, rest, held, g, study.totals[k]) for rest, held in inner])

    def found(kind):
        at = study.training[k, kind, j]
        return cost(pooled(at) + study.shifts[k, kind, j], labels, G[j])

    assert found(0) == pytest.approx(cost(pooled(G[j]), labels, G[j]))
    assert found(1) == pytest.approx(best(pooled(G[j]), G[j]))
    assert found(2) == pytest.approx(min(best(pooled(g), G[j]) for g in G))


def test_the_total_of_the_ray_has_the_fewest_errors_there():
    X, y = samples()
    drawn = np.random.default_rng(0).integers(2**31, size=(1, FOLDS + 1))[0, 1:]
    train, _ = next(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))
    inner = StratifiedKFold(INNER, shuffle=True, random_state=int(drawn[0])).split(train, y[train])
    parts = [(train[rest], train[held]) for rest, held in inner]
    share = float((y[train] < 0).mean())

    def errors(total):
        return sum(np.sum((scores(X, y, rest, held, share, total) >= 0) != (y[held] > 0)) for rest, held in parts)

    total = run(totals="ray").totals[0]
    assert all(errors(other) >= errors(total) for other in np.geomspace(1e-3, 10.0, 12))


def test_of_several_totals_the_one_is_taken_with_which_one_does_best(study):
    X, y = samples()
    drawn = np.random.default_rng(0).integers(2**31, size=(1, FOLDS + 1))[0, 1:]
    train, _ = next(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))
    inner = StratifiedKFold(INNER, shuffle=True, random_state=int(drawn[0])).split(train, y[train])
    parts = [(train[rest], train[held]) for rest, held in inner]

    def mean_cost(total):
        return np.mean([
            [len(held) * cost(scores(X, y, rest, held, g, total), y[held], g) for g in G] for rest, held in parts
        ])  # fmt: skip

    costs = {total: mean_cost(total) for total in TOTALS}
    assert costs[study.totals[0]] == pytest.approx(min(costs.values()))


def test_one_is_taken_where_nothing_is_significant(study):
    kept, costs = study.kept, study.costs()
    assert not kept[:, 0].any()
    assert np.array_equal(costs[0], study.raw_costs[0])
    for kind in (1, 2):
        for k in range(FOLDS):
            expected = np.where(kept[k, kind], study.raw_costs[kind, :, k], study.raw_costs[0, :, k])
            assert np.array_equal(costs[kind, :, k], expected)


def test_one_over_all_means_that_all_costs_less():
    """Six folds in which "all" is always cheaper: a p of 1/64 for one>all, none for all>one."""
    X, y = samples()
    study = asymmetry_study(pc.TwoCSVM(X, y), [0.3, 0.7], folds=6, inner=2, totals=[1.0], progress=False)
    counts = study.counts.copy()
    counts[0], counts[1], counts[2] = 50, 40, 30 - np.arange(6)[:, None]
    made = dataclasses.replace(study, counts=counts)
    assert made.acceptances(fall_back=False) == {
        "one>all": 1.0, "all>one": 0.0, "int>all": 1.0, "all>int": 0.0, "one>int": 1.0, "int>one": 0.0
    }  # fmt: skip


def test_the_mismatch_is_where_all_gains_most_on_the_first_fold(study):
    gain = study.costs()[0, :, 0] - study.costs()[2, :, 0]
    at = study.mismatch
    j = int(np.argmin(np.abs(G - at.testing)))
    assert gain[j] == pytest.approx(gain.max())
    assert at.costs[:, 0] == pytest.approx(study.costs()[:, j, 0])
    X, y = samples()
    for k, (train, test) in enumerate(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y)):
        f = scores(X, y, train, test, at.training, study.totals[k])
        shift = study.shifts[0, 2, j] if study.kept[0, 2, j] else 0.0
        assert at.costs[2, k] == pytest.approx(cost(f + shift, y[test], at.testing))


def test_processes_and_a_given_total_change_nothing_else(study):
    same = run(n_jobs=2)
    assert np.array_equal(same.raw_costs, study.raw_costs)
    fixed = run(totals=[0.3])
    assert np.array_equal(fixed.totals, np.full(FOLDS, 0.3))


LONG = """
import sys
sys.path.insert(0, {tests!r})
from test_paper_bach2006_asymmetry import run
run(state={state!r}, folds=8, inner=3)
"""


def test_a_run_that_is_killed_goes_on_and_ends_with_the_same_table(tmp_path):
    code = LONG.format(tests=str(Path(__file__).parent), state=str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", code], env=os.environ, cwd=Path(__file__).parents[2])
    try:
        deadline = time.monotonic() + 60
        while len(list(tmp_path.glob("fold-[0-9]*.npz"))) < 2 and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.002)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = {file.name: file.stat().st_mtime_ns for file in tmp_path.glob("fold-[0-9]*.npz")}
    assert 2 <= len(done) < 8
    found = run(state=tmp_path, folds=8, inner=3)
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in done} == done  # nothing was done again
    whole = run(folds=8, inner=3)
    assert np.array_equal(found.raw_costs, whole.raw_costs)
    assert np.array_equal(found.p, whole.p)
    assert np.array_equal(found.mismatch.costs, whole.mismatch.costs)
    assert found.acceptances() == whole.acceptances()


def test_the_state_of_another_run_is_refused(tmp_path, study):
    run(state=tmp_path)
    with pytest.raises(pc.InputError, match="state must be of the same samples, folds and options"):
        run(state=tmp_path, totals=[1.0])
    np.savez(tmp_path / "fold-01.npz", X=np.eye(2))  # somebody's, and not damaged
    with pytest.raises(pc.InputError, match=r"fold-01\.npz: there is no array 'problem'"):
        run(state=tmp_path)


def test_arguments_that_are_wrong_are_refused_in_one_line():
    X, y = samples()
    svm = pc.TwoCSVM(X, y)
    for g in ([0.0, 0.5], [0.5, 1.0], [0.5, 1.2]):
        with pytest.raises(pc.InputError, match="asymmetries must be numbers strictly between 0 and 1"):
            asymmetry_study(svm, g)
    with pytest.raises(pc.InputError, match="asymmetries must be at least two different numbers"):
        asymmetry_study(svm, [0.5])
    with pytest.raises(
        pc.InputError, match=r"folds must be at least 2 and at most the size of the smaller class \(36\)"
    ):
        asymmetry_study(svm, G, folds=40)
    with pytest.raises(pc.InputError, match=r"inner must be at most the size of the smaller class of each .* \(18\)"):
        asymmetry_study(svm, G, folds=2, inner=20)
    with pytest.raises(pc.InputError, match="level must lie strictly between 0 and 1"):
        asymmetry_study(svm, G, level=0.0)
    for totals in ((), (1.0, 0.0), "line"):
        with pytest.raises(pc.InputError, match=r'totals \(or "ray"\) must|totals must be positive numbers'):
            asymmetry_study(svm, G, totals=totals)


def test_a_class_of_many_copies_and_hardly_any_positives_are_no_obstacle():
    X = np.repeat([[0.0], [1.0], [1.0], [3.0]], [10, 5, 3, 3], axis=0)
    y = np.repeat([-1.0, -1.0, 1.0, 1.0], [10, 5, 3, 3])
    study = asymmetry_study(pc.TwoCSVM(X, y), [0.1, 0.5, 0.9], folds=2, inner=2, progress=False)
    assert np.isfinite(study.raw_costs).all()
    assert (study.raw_costs <= 2.0).all()


def scaled(X):
    return 1e-3 * X


def same(X):
    return X


OPTIONS = {
    "totals": ({"totals": "ray"}, {"totals": paper.RAY}),
    "inner": ({}, {"inner": 4}),
    "level": ({}, {"level": 0.1}),
    "transformer": ({"transformer": FunctionTransformer(same)}, {"transformer": FunctionTransformer(scaled)}),
    "after a transformer": (
        {"transformer": FunctionTransformer(scaled), "inner": 4}, {"transformer": FunctionTransformer(scaled)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", OPTIONS)
def test_a_resumed_study_forgets_no_option(what, tmp_path):
    one, two = OPTIONS[what]
    run(state=tmp_path, **one)
    run(state=tmp_path, **one)
    with pytest.raises(pc.InputError, match="state must be of the same samples, folds and options"):
        run(state=tmp_path, **two)


def wide(U, V, width):
    return width * U @ V.T


def test_a_kernel_of_ones_own_is_an_option(tmp_path):
    X, y = samples()

    def study(kernel):
        svm = pc.TwoCSVM(X, y, kernel)
        return asymmetry_study(svm, [0.3, 0.6], folds=3, inner=3, totals=[1.0], state=tmp_path)

    study(partial(wide, width=1.0))
    study(partial(wide, width=1.0))
    with pytest.raises(pc.InputError, match=r"state must be of the same .*width: 1.0 there, 2.0 here"):
        study(partial(wide, width=2.0))
    with pytest.raises(pc.InputError, match=r"<lambda> cannot be told from another one"):
        study(lambda U, V: U @ V.T)


def test_a_transformer_that_cannot_be_told_from_another_one_is_refused(tmp_path):
    with open(__file__, encoding="utf-8") as stream:
        odd = FunctionTransformer(lambda X: X if stream else -X)
        with pytest.raises(pc.InputError, match="<lambda> cannot be told from another one"):
            run(state=tmp_path, transformer=odd)
        assert run(transformer=odd).totals.size == FOLDS  # without files it does


def test_a_damaged_piece_is_computed_again(tmp_path, study, caplog):
    run(state=tmp_path)
    pieces = {file: file.read_bytes() for file in sorted(tmp_path.iterdir())}
    rng = np.random.default_rng(0)
    for whole, content in pieces.items():
        torn = bytearray(content)
        torn[rng.integers(len(torn) // 2)] ^= 255
        whole.write_bytes([b"torn", b"", content[: len(content) // 2], bytes(torn)][rng.integers(4)])
    again = run(state=tmp_path)
    assert np.array_equal(again.raw_costs, study.raw_costs)
    assert "it is computed again" in caplog.text
    assert sorted(tmp_path.iterdir()) == sorted(pieces)


def test_pieces_of_other_shapes_are_refused_by_name(tmp_path):
    run(state=tmp_path)
    file = tmp_path / "fold-00.npz"
    with np.load(file) as arrays:
        known = dict(arrays)
    for change in ({"counts": known["counts"][:1]}, {"p": known["p"].astype(str)}, {"more": np.ones(1)}):
        np.savez(file, **{**known, **change})
        with pytest.raises(pc.InputError, match=r"fold-00\.npz: state must hold files of this run"):
            run(state=tmp_path)


def test_equal_costs_are_ties_in_the_study(study):
    """Counts with one difference on folds of one size, at a testing asymmetry at which costs round differently."""
    folds, g = 6, np.array([0.9555])
    counts = np.zeros((3, 1, folds, 2), dtype=np.int64)
    counts[0, 0] = [[1, 7], [3, 5], [0, 4], [2, 9], [6, 3], [4, 2]]
    counts[2, 0] = counts[0, 0] - [[0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [-1, -1]]
    made = dataclasses.replace(study, asymmetries=g, counts=counts, sizes=np.full(folds, 20))
    one, best = made.raw_costs[0], made.raw_costs[2]
    assert np.unique((one - best)[0, :5]).size > 1  # rounded, they are none
    p = signed_rank_greater(np.array([[1, 1, 1, 1, 1, -2]]))
    assert made.acceptances(fall_back=False)["one>all"] == float(p[0] <= made.level)
