"""Compiled programs as arrays of a file: they come back as they were, and what does not fit is refused by its name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.common.files import write_file
from paretoclf.engine.reduction.packed import packed, packed_matrix
from paretoclf.engine.reduction.program import Moved, ProgramLine, Reading
from paretoclf.engine.reduction.stored import unpacked, unpacked_matrix
from tests.oracles.stored_files import content_of_file

N, M = 4, 3


def program(**changed):
    """Four columns, three rows of which one is an equation, and two shifted columns."""
    rng = np.random.default_rng(0)
    line = ProgramLine(
        P=sp.csr_array(np.diag([2.0, 0.0, 1.0, 3.0])),
        A=sp.csr_array(np.array([[1.0, 0.0, -2.0, 0.0], [0.0, 3.0, 0.0, 0.0], [4.0, 0.0, 0.0, 5.0]])),
        q=rng.normal(size=(2, N)),
        b=rng.normal(size=(2, M)),
        constant=np.array([0.5, -1.5]),
        equations=1,
        sense=-1,
        variables={
            "x": Reading((2,), np.array([0, 3]), np.array([1.0, -2.0])),
            "one": Reading((), np.array([2]), np.array([0.0])),
        },
        multipliers={"c": Reading((3,), np.array([2, 0, 1]), np.array([1.0, 1.0, 3.0]))},
        moved=(
            Moved(1, np.array([0, 2]), np.array([0.25, 4.0]), np.array([0.0, 1.0])),
            Moved(3, np.array([1]), np.array([-7.0]), np.array([2.0, 5.0])),
        ),
    )
    return replace(line, **changed)


def same(one, other):
    for name in ("q", "b", "constant", "equations", "sense", "shift", "lacks"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in "PA":
        np.testing.assert_array_equal(getattr(one, name).toarray(), getattr(other, name).toarray(), err_msg=name)
    for name in ("variables", "multipliers"):
        before, after = getattr(one, name), getattr(other, name)
        assert list(before) == list(after)
        for each in before:
            assert before[each].shape == after[each].shape
            np.testing.assert_array_equal(before[each].place, after[each].place)
            np.testing.assert_array_equal(before[each].factor, after[each].factor)
    assert len(one.moved) == len(other.moved)
    for before, after in zip(one.moved, other.moved, strict=True):
        assert before.column == after.column
        assert type(after.column) is int
        for name in ("places", "values", "scale"):
            np.testing.assert_array_equal(getattr(before, name), getattr(after, name), err_msg=name)


TWO = {"c": Reading((2,), np.array([[2, 0], [1, 1]]), np.array([[1.0, -1.0], [0.0, 3.0]]))}
SHIFT, LACKS = np.arange(2.0 * N).reshape(2, N), np.array([0.0, 1e-9, 0.0, 2.0])
KINDS = {
    "plain": {},
    "nothing moves": {"moved": ()},
    "nobody reads": {"variables": {}, "multipliers": {}},
    "two multipliers an entry": {"multipliers": TWO},
    "shifted": {"shift": SHIFT, "lacks": LACKS},
    "all equations": {"equations": M, "sense": 1},
    "no rows": {
        "A": sp.csr_array((0, N)),
        "b": np.zeros((2, 0)),
        "equations": 0,
        "multipliers": {"c": Reading((2,), np.array([0, 0]), np.zeros(2))},
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_comes_back_as_it_was(kind, tmp_path):
    line = program(**KINDS[kind])
    same(unpacked(packed(line)), line)
    write_file(tmp_path / "program.npz", packed(line))
    same(unpacked(content_of_file(tmp_path / "program.npz")), line)


def test_only_what_a_program_has_is_stored():
    assert not {"program_shift", "program_lacks"} & {*packed(program())}
    arrays = packed(program(lacks=LACKS))
    assert "program_lacks" in arrays
    assert "program_shift" not in arrays
    assert arrays["program_moved"].tolist() == [[1, 2], [3, 1]]
    assert arrays["program_variables"] == {"x": (2,), "one": ()}
    assert arrays["program_variables_place"].dtype == np.int64


def changed(name, at, to):
    arrays = packed(program(**KINDS["shifted"]))
    arrays[name] = np.array(arrays[name])
    arrays[name][at] = to
    return arrays


WRONG = {
    "more equations than rows": (("program_signs", 0, M + 1), "equations at most"),
    "fewer than none": (("program_signs", 0, -1), "equations at most"),
    "a sense of 0": (("program_signs", 1, 0), "equations at most"),
    "a shift below 0": (("program_shift", (1, 2), -1e-300), "must not be negative"),
    "lacks below 0": (("program_lacks", 0, -1.0), "must not be negative"),
    "a place behind the last": (("program_variables_place", 0, N), "places of variables must lie between 0 and 3"),
    "a place before the first": (("program_multipliers_place", 0, -1), "places of multipliers"),
    "a multiplier's place behind the last": (("program_multipliers_place", 0, M), "between 0 and 2"),
    "a factor of nan": (("program_variables_factor", 0, np.nan), "variables of a program"),
    "a q of inf": (("program_q", (0, 0), np.inf), "q of a program"),
    "a constant of nan": (("program_constant", 0, np.nan), "constant of a program"),
    "an entry of nan": (("program_P_data", 0, np.nan), "P of a program"),
    "pointers that go back": (("program_A_indptr", 1, 9), "columns of A"),
    "a moved column too far": (("program_moved", (0, 0), N), "places of moved"),
    "a moved place too far": (("program_moved_places", 0, N), "places of moved"),
    "a moved value of nan": (("program_moved_values", 2, np.nan), "values of a program"),
    "a scale of inf": (("program_moved_scale", (1, 1), np.inf), "scale of a program"),
    "more moved than values": (("program_moved", (0, 1), 3), "places of moved"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_numbers_that_do_not_fit_are_refused(wrong):
    given, match = WRONG[wrong]
    with pytest.raises(pc.InputError, match=match):
        unpacked(changed(*given))


def test_arrays_of_other_shapes_are_refused():
    arrays = packed(program(shift=SHIFT, lacks=LACKS))
    for name, shape in (("shift", (1, N)), ("lacks", (N - 1,)), ("moved_scale", (1, 2))):
        key = f"program_{name}"
        with pytest.raises(pc.InputError, match=name.removeprefix("moved_")):
            unpacked({**arrays, key: np.ones(shape)})
    for name in "qb":
        three = np.vstack([arrays[f"program_{name}"], arrays[f"program_{name}"][:1]])
        with pytest.raises(pc.InputError):
            unpacked({**arrays, f"program_{name}": three})
    with pytest.raises(ValueError, match=r"."):
        unpacked({**arrays, "program_constant": np.ones(3)})
    for part in ("place", "factor"):
        key = f"program_variables_{part}"
        with pytest.raises(pc.InputError, match="variables must have 3 places and factors"):
            unpacked({**arrays, key: arrays[key][:-1]})
    row = np.array([[9, 1]])
    for index in (row, -row):
        with pytest.raises((pc.InputError, ValueError)):
            unpacked({**arrays, "program_P_indices": np.resize(index, arrays["program_P_indices"].shape)})


def test_a_program_without_rows_has_no_multiplier_but_0():
    arrays = packed(program(**KINDS["no rows"]))
    arrays["program_multipliers_factor"] = np.array([0.0, 1.0])
    with pytest.raises(pc.InputError, match="factors of multipliers must be 0"):
        unpacked(arrays)


def test_a_matrix_is_stored_by_columns():
    matrix = np.array([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0]])
    arrays = packed_matrix("program_B", sp.csr_array(matrix))
    assert arrays["program_B_indptr"].tolist() == [0, 1, 2]
    assert arrays["program_B_indices"].tolist() == [1, 0]
    np.testing.assert_array_equal(unpacked_matrix(arrays, "program_B", (3, 2)).toarray(), matrix)
    with pytest.raises(pc.InputError, match="columns of B"):
        unpacked_matrix({**arrays, "program_B_indptr": np.array([0, 1])}, "program_B", (3, 2))
    with pytest.raises(ValueError, match=r"."):
        unpacked_matrix(packed_matrix("E", sp.csr_array((3, 2))), "E", (3, 5))
