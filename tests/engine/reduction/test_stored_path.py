"""Points of a path from the plan of its way back: those of before, to the last bit; what is forged is refused."""

from __future__ import annotations

import copy
import pickle

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.files import members_of, write_file
from paretoclf.engine.reduction.presolve import reduce
from paretoclf.engine.reduction.stored_path import _RULES
from paretoclf.solve.sources.problem_line import program_line
from tests.oracles.lines import FAMILIES
from tests.oracles.stored_files import STORED, content_of_file, rewritten


def names_of(chain):
    """Names of its rules."""
    return [type(rule).__name__ for rule in chain.rules]


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_points_are_made_from_the_plan_as_they_were_before(family, tmp_path):
    """To the last bit: labels, columns and multipliers, and with them all that a path answers."""
    path = pc.trace(*FAMILIES[family](), certify=False)
    path.save(tmp_path / "path")
    content = content_of_file(tmp_path / "path.npz")
    assert not {"x", "z", "labels"} & content.keys()
    assert content["rules"] == names_of(path.points._make.way.chain)
    again = pc.load(tmp_path / "path.npz", prove=False)
    assert repr(again.points._make.way.chain) == repr(path.points._make.way.chain)
    np.testing.assert_array_equal(again.labels, path.labels)
    for name in ("t", "x", "z", "kinks"):
        np.testing.assert_array_equal(getattr(again, name), getattr(path, name))
    again.save(tmp_path / "again")
    for name, each in members_of(content).items():
        np.testing.assert_array_equal(members_of(content_of_file(tmp_path / "again.npz"))[name], each)


def test_all_rules_are_stored(tmp_path):
    """Those of the families, and a column that is fixed."""
    names = {name for family in FAMILIES.values() for name in names_of(reduce(program_line(*family())).chain)}
    x, s = cp.Variable(2, name="x"), cp.Parameter(name="s")
    fixed = cp.Problem(cp.Minimize(cp.sum_squares(x - s)), [x[0] == 1, cp.sum(x) <= 2])
    path = pc.trace(fixed, {s: 0.0}, {s: 3.0})
    path.save(tmp_path / "path")
    assert repr(pc.load(tmp_path / "path.npz").at(0.7)) == repr(path.at(0.7))
    assert names | set(content_of_file(tmp_path / "path.npz")["rules"]) == set(_RULES)


def forged(content, key, rng):
    """Content with one number of one array of the plan, or of the path, changed, or with other sizes."""
    array = content[key].copy()
    how, flat = int(rng.integers(6)), array.reshape(-1)
    if how == 0 or not flat.size:
        return {**content, key: np.append(array, array, axis=-1) if array.ndim else array[None]}
    k = int(rng.integers(flat.size))
    if array.dtype.kind == "b":
        flat[k] = not flat[k]
    elif array.dtype.kind in "iu":
        flat[k] = [flat[k] + 1, flat[k] - 1, 0, np.iinfo(array.dtype).max, flat[-1]][how - 1]
    else:
        flat[k] = [flat[k] * (1 + 1e-3), -flat[k], 0.0, 1e300, flat[k] + 1.0][how - 1]
    return {**content, key: array}


@pytest.mark.parametrize("family", ["lasso", "quantile, maximum", "svm, slacks", "tube", "frontier, target"])
def test_a_plan_that_was_forged_is_refused_in_words_or_leads_to_the_same_values(family, tmp_path):
    """With the hash that belongs to it: what is made of it is judged on the compiled program."""
    path, rng, accepted = pc.trace(*FAMILIES[family]()), np.random.default_rng(0), 0
    path.save(tmp_path / "path")
    content = content_of_file(tmp_path / "path.npz")
    own = ("begin", "ptr", "place", "number", "first", "changes")
    keys = [key for key in content if key in own or key.startswith(("reduced_", "rule_"))]
    keys = [key for key in keys if isinstance(content[key], np.ndarray)]
    assert len(keys) > 15
    at = np.linspace(0.0, 1.0, 7).tolist()
    for key in [key for key in keys for _ in range(2)]:
        write_file(tmp_path / "forged.npz", forged(content, key, rng))
        try:
            again = pc.load(tmp_path / "forged.npz")
        except pc.InputError:
            continue
        accepted += 1
        for t in at:
            assert again.value(t) == pytest.approx(path.value(t), rel=1e-7, abs=1e-7), key
    assert 0 < accepted < 1.5 * len(keys)


@pytest.mark.parametrize("name", STORED)
def test_sizes_that_no_memory_holds_are_refused(name, tmp_path):
    pc.trace(*STORED[name]()).save(tmp_path / "path")
    content, tried = content_of_file(tmp_path / "path.npz"), 0
    for key, array in content.items():
        whole = isinstance(array, np.ndarray) and array.size > 0 and array.dtype.kind in "iu"
        if whole and not key.startswith("program_"):
            with pytest.raises(pc.InputError, match="not a saved path"):
                pc.load(
                    rewritten(
                        tmp_path / "path.npz", tmp_path / "large.npz", **{key: lambda a: a.astype(np.int64) + 2**40}
                    )
                )
            tried += 1
    assert tried > 8
    for key in [key for key in content if key.endswith(("_costs", "_gone", "_empty"))]:
        with pytest.raises(pc.InputError, match="must be a whole number and not negative, got -1"):
            pc.load(rewritten(tmp_path / "path.npz", tmp_path / "large.npz", **{key: lambda _: -1}))


def test_a_path_of_a_plan_can_be_copied_and_pickled(tmp_path):
    pc.trace(*STORED["svm"]()).save(tmp_path / "path")
    path = pc.load(tmp_path / "path.npz")
    for other in (copy.deepcopy(path), pickle.loads(pickle.dumps(path))):
        assert repr(other.at(0.4)) == repr(path.at(0.4))
        assert other.proof.explain() == path.proof.explain()
