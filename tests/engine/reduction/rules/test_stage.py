"""A program between two rules: bounds, costs with kinks, points and directions."""

import numpy as np
import scipy.sparse as sp

from paretoclf.engine.reduction.rules.stage import ItemBounds, Kinks, ReductionStage, StagePoints, ends_of, told
from tests.oracles.stages import line_of, stage_of


def some_bounds():
    lower = np.array([[0.0, -np.inf, 1.0], [1.0, -np.inf, 2.0]])
    return ItemBounds(lower, lower + 5.0, np.full((2, 3), 3.0), np.full((2, 3), 4.0))


class TestBounds:
    def test_none(self):
        found = ItemBounds.none(2)
        assert not (found.has_lower | found.has_upper).any()
        assert [each.tolist() for each in found.arrays[1:]] == [[[np.inf] * 2] * 2] * 3

    def test_which(self):
        assert some_bounds().has_lower.tolist() == [True, False, True]
        assert some_bounds().has_upper.tolist() == [True, False, True]

    def test_some_of_them_and_more(self):
        found = some_bounds().at([2, 0]).joined(ItemBounds.none(1))
        assert found.lower.tolist() == [[1, 0, -np.inf], [2, 1, -np.inf]]
        assert found.upper.tolist() == [[6, 5, np.inf], [7, 6, np.inf]]
        assert (found.below[0].tolist(), found.above[1].tolist()) == ([3, 3, np.inf], [4, 4, np.inf])

    def test_one_side_is_written(self):
        found, others = ItemBounds.none(3).copy(), some_bounds()
        found.write(np.array([1]), True, others.at([0]))
        found.write(np.array([2]), False, others.at([2]))
        assert found.lower[1].tolist() == [-np.inf, 1, -np.inf]
        assert (found.below[0].tolist(), found.above[0].tolist()) == ([np.inf, 3, np.inf], [np.inf, np.inf, 4])
        assert found.upper[0].tolist() == [np.inf, np.inf, 6]

    def test_a_copy_may_be_written(self):
        old = some_bounds()
        for each in old.copy().arrays:
            each[:] = 0.0
        assert all(np.array_equal(each, same) for each, same in zip(old.arrays, some_bounds().arrays, strict=True))


def three_costs():
    """Of x_0, x_1 and x_0 + x_1, with two, one and three pieces."""
    weights = sp.csr_array(np.arange(1.0, 25.0).reshape(6, 4))
    slope, offset = np.array([-1.0, 1, 5, 0, 1, 3]), np.array([[0.0, 2, 0, 0, 1, 7], [0.0, 4, 0, 0, 1, 7]])
    directions = sp.csr_array([[1.0, 0], [0, 1], [1, 1]])
    return Kinks(directions, np.ones((2, 3)), np.array([0, 2, 3, 6]), slope, offset, weights)


class TestKinks:
    def test_kinks_lie_between_two_pieces_of_a_cost(self):
        kinks = three_costs()
        assert (kinks.size, kinks.owner.tolist()) == (3, [0, 0, 1, 2, 2, 2])
        assert (kinks.left.tolist(), kinks.width.tolist()) == ([0, 3, 4], [2, 1, 2])
        assert kinks.at.tolist() == [[1, 1, 3], [2, 1, 3]]

    def test_some_pieces(self):
        found = three_costs().only(np.array([False, True, True, True, False, True]))
        assert (found.begin.tolist(), found.slope.tolist()) == ([0, 1, 2, 4], [1, 5, 0, 3])
        assert found.offset[1].tolist() == [4, 0, 0, 7]
        assert found.weights.toarray()[:, 0].tolist() == [5, 9, 13, 21]

    def test_joined(self):
        found = Kinks.joined([Kinks.none(2, 4), three_costs(), three_costs()])
        assert found.begin.tolist() == [0, 2, 3, 6, 8, 9, 12]
        assert (found.directions.shape, found.weights.shape, found.cost.shape) == ((6, 2), (12, 4), (2, 6))
        assert found.offset[0].tolist() == 2 * three_costs().offset[0].tolist()


class TestStage:
    def test_of_a_program(self):
        line = line_of([[0, 0], [0, 2]], [[1, 2], [3, 0]], [1, 2], [[4, 5], [6, 7]], 1)
        stage = ReductionStage.of(line)
        assert (stage.flat.tolist(), stage.equation.tolist()) == ([True, False], [True, False])
        assert stage.of_rows.lower.tolist() == [[4, -np.inf], [6, -np.inf]]
        assert stage.of_rows.upper.tolist() == [[4, 5], [6, 7]]
        assert np.isinf(stage.of_rows.below).all()
        assert stage.row_of_entry.tolist() == [0, 0, 1]
        assert not stage.in_kinks.any()
        assert stage.titled.tolist() == [-1, -1]
        assert stage.by_columns.toarray().tolist() == [[1, 2], [3, 0]]

    def test_zeros_are_no_entries(self):
        A = sp.csc_array((np.array([1.0, 0.0]), (np.array([0, 0]), np.array([0, 1]))), shape=(1, 2))
        line = line_of(np.zeros((2, 2)), np.zeros((1, 2)), [0, 0], [0])
        object.__setattr__(line, "A", A)
        assert ReductionStage.of(line).A.nnz == ReductionStage.of(line).by_columns.nnz == 1


def test_data_of_a_direction_are_zero():
    stage = stage_of(np.eye(1), [[1]], [0], [[2], [4]])
    nothing = [np.zeros((1, 2))] * 3
    t = np.array([0.0, 0.5])
    assert StagePoints(t, *nothing).along(stage.of_rows.upper).tolist() == [[2, 3]]
    assert StagePoints(t, *nothing, is_ray=True).along(stage.of_rows.upper).tolist() == [[0]]


def test_words_and_ends():
    assert (told(1, "row", "rows"), told(0, "row", "rows"), told(2, "row", "rows")) == ("1 row", "0 rows", "2 rows")
    assert ends_of([2, 0, 3]).tolist() == [0, 2, 2, 5]
