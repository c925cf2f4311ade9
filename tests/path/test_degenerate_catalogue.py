"""A slice of the catalogue of degenerate data, and whether its judge judges."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import paretoclf as pc
from tests.benchmarks import degenerate, fuzz, other_solvers
from tests.benchmarks.degenerate import Job
from tests.oracles.families import FAMILIES
from tests.oracles.mostly_slow import mostly_slow


@cache
def rows_of(family):
    """Two instances with one kernel each, and two that the catalogue has not with all."""
    fresh = FAMILIES[family].instances
    jobs = [*(Job(family, seed, smoke=True) for seed in (0, 1)), *(Job(family, fresh + seed) for seed in (0, 1))]
    return [row for job in jobs for row in degenerate.run(job)]


@pytest.mark.parametrize("family", mostly_slow(FAMILIES, 12))
def test_no_path_is_wrong(family):
    rows = rows_of(family)
    assert len(rows) >= 6
    assert [degenerate.place_of(row) for row in rows if row["status"] == "wrong"] == []
    assert all(row["message"] for row in rows if row["status"] == "refused")


@pytest.mark.slow
def test_hardly_any_path_is_refused():
    rows = [row for family in FAMILIES for row in rows_of(family)]
    refused = [degenerate.place_of(row) for row in rows if row["status"] == "refused"]
    assert len(refused) <= 0.01 * len(rows), "\n".join(refused)


def test_the_catalogue_is_as_large_as_it_says():
    jobs = degenerate.family_jobs(smoke=False)
    assert len(jobs) >= 500
    assert len({job.family for job in jobs}) >= 15


@pytest.mark.parametrize(
    "family", ["features only * 1e6", "costs only * 1e6", "polynomial, * 1e6", "mixed scales * 1e3"]
)
def test_families_made_to_be_steep_are(family):
    assert all(case.steep for seed in range(4) for case in degenerate.cases(Job(family, seed)))


@pytest.mark.parametrize("family", FAMILIES)
def test_instances_are_the_same_every_time(family):
    for one, other in zip(FAMILIES[family].instance(3), FAMILIES[family].instance(3), strict=True):
        np.testing.assert_array_equal(one, other)
    X, y, _ = FAMILIES[family].instance(3)
    assert set(y) == {-1.0, 1.0}
    assert np.isfinite(X).all()


# ---- the judge ---------------------------------------------------------------------------------------------------


@pytest.fixture(params=["integer grid", "polynomial", "weights"])
def case(request):
    return next(iter(degenerate.cases(Job(request.param, 0))))


def test_another_solver_agrees_and_objects(case):
    path = pc.trace(case.svm, case.start, case.stop)
    y, caps = case.svm.y, 0.4 * case.caps[1]
    lower, upper = other_solvers.reference(case.K, case.Z, y, caps)
    assert upper - lower <= 1e-6 * upper
    assert lower - 1e-9 * upper <= path.value(0.4) <= upper * (1 + 1e-9)
    assert degenerate.disagreement(case, path, 0.4) == ("", True)
    for factor in (1.001, 0.999):
        objection, _ = degenerate.disagreement(replace(case, caps=[factor * c for c in case.caps]), path, 0.4)
        assert "outside of" in objection


def test_bounds_hold_for_whatever_multipliers(case):
    y, caps = case.svm.y, case.caps[1]
    lower, upper = other_solvers.reference(case.K, case.Z, y, caps)
    rng = np.random.default_rng(0)
    for a in (rng.normal(size=y.size), caps, 1e9 * caps, np.full(y.size, np.nan)):
        lo, hi = other_solvers.bounds(case.K, y, caps, a)
        assert lo <= upper * (1 + 1e-9)
        assert hi >= lower * (1 - 1e-9)


def test_a_crash_and_a_failed_certificate_are_wrong_and_a_refusal_is_not(case, monkeypatch):
    def refuse(*args, **kwargs):
        raise pc.DegeneratePathError("too hard", t=0.0, costs="", n_margin=0, remedy="")

    def crash(*args, **kwargs):
        raise ZeroDivisionError("division by zero")

    uncertified = pc.trace(case.svm, case.start, case.stop)
    uncertified.__dict__["_certificates"] = [
        replace(c, dual={**c.dual, "box": 1e-6}) for c in uncertified.certificates()
    ]
    expected = {"refused": (refuse, "too hard"), "wrong": (crash, "ZeroDivisionError")}
    for status, (trace, message) in expected.items():
        monkeypatch.setattr(pc, "trace", trace)
        row = degenerate.trace_case(case, ())
        assert row["status"] == status
        assert message in row["message"]
    monkeypatch.setattr(pc, "trace", lambda *args, **kwargs: uncertified)
    assert "a multiplier leaves its box" in degenerate.trace_case(case, ())["message"]


def test_a_value_that_is_not_the_certified_one_is_wrong(case, monkeypatch):
    path = pc.trace(case.svm, case.start, case.stop)
    wrong = replace(path, pieces=replace(path.pieces, value=path.pieces.value * (1 + 1e-5)))
    monkeypatch.setattr(pc, "trace", lambda *args, **kwargs: wrong)
    row = degenerate.trace_case(case, ())
    assert row["status"] == "wrong"
    assert row["message"].startswith("value")


def test_what_is_steep_is_known_before(case):
    scale = 1e-9 / np.finfo(float).eps / case.K.diagonal().max() / np.max(case.caps)
    for factor, steep in ((0.99, False), (1.01, True)):
        assert replace(case, caps=[factor * scale * c for c in case.caps]).steep == steep
        assert replace(case, K=factor * scale * case.K).steep == steep


def test_when_the_catalogue_fails():
    fine = {"paths": 200, "wrong": 0, "refused": 2}
    assert degenerate.passed(fine)
    assert not degenerate.passed(fine | {"refused": 3})
    assert not degenerate.passed(fine | {"wrong": 1})


# ---- the command -------------------------------------------------------------------------------------------------


def test_the_table_and_the_numbers(capsys):
    assert degenerate.main(["--smoke", "--family", "integer grid"]) == 0
    table = capsys.readouterr().out
    assert "integer grid" in table
    assert "total" in table
    assert degenerate.main(["--smoke", "--family", "integer grid", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["total"]["paths"] == report["total"]["finished"] > 0
    assert report["not_finished"] == []
    with pytest.raises(SystemExit):
        degenerate.main(["--family", "no such family"])


def test_a_folder_of_data_sets(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.where(np.arange(30) < 12, 1, -1)
    (tmp_path / "raetsch").mkdir()
    np.savez(tmp_path / "raetsch" / "small.npz", X=X, y=y)
    monkeypatch.delenv("PARETOCLF_DATA", raising=False)
    assert {job.family for job in degenerate.dataset_jobs(full=False)} == {"wdbc"}
    monkeypatch.setenv("PARETOCLF_DATA", str(tmp_path))
    assert {job.family for job in degenerate.dataset_jobs(full=False)} == {"wdbc", "raetsch/small"}
    assert degenerate.main(["--family", "raetsch/small"]) == 0
    assert "4 (8)" in capsys.readouterr().out


def test_large_data_sets_are_cut_down_with_the_shares_of_the_classes():
    y = np.where(np.arange(5000) < 500, 1.0, -1.0)
    rows = degenerate.stratified(y, 400)
    assert rows.size == np.unique(rows).size == 400
    assert (y[rows] > 0).sum() == 40
    np.testing.assert_array_equal(rows, degenerate.stratified(y, 400))


# ---- small instances by the ten thousands ------------------------------------------------------------------------


def test_small_instances_are_proved_and_counted(capsys):
    assert fuzz.main(["--instances", "70", "--seed", "3"]) == 0
    assert "70 instances: 70 proved, 0 refused, 0 wrong; 35 judged in fractions" in capsys.readouterr().out


def test_what_rounding_sees_on_the_last_stage_into_an_axis_does_not_happen():
    """A multiplier that was to leave 1e-12 before the end of the last stage: both vanish there."""
    assert fuzz.row_of(300, 1)["status"] == "proved"


def test_fractions_find_a_value_that_is_not_the_optimal_one(monkeypatch):
    for number in (0, 3):  # whole numbers; and not
        where, svm, start, stop, whole = fuzz.instance(number, 0)
        path = pc.trace(svm, start, stop)
        assert fuzz.objection(path, whole) == ""
        wrong = replace(path, pieces=replace(path.pieces, value=path.pieces.value * (1 + 1e-6)))
        assert fuzz.objection(wrong, whole) != "", where
