from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.sparse import csr_array

import paretoclf as pc
from paretoclf.common.checks import (
    check_bool,
    check_inside,
    check_labels,
    check_matrix,
    check_nonnegative,
    check_nonnegative_number,
    check_number,
    check_positive_number,
    check_share,
    check_vector,
    check_weights,
    number_from_text,
    the_one_given,
)
from paretoclf.common.errors import InputError, ParetoclfError
from paretoclf.problem.class_margins import object_margins
from paretoclf.problem.costs import CostLine, Costs, as_costs
from paretoclf.problem.kernels import Polynomial
from paretoclf.roc.delong import area_interval
from paretoclf.roc.of_path import roc_of_scores

GOOD = [[1.0, 2.0], [3.0, 4.0]]


def fails(words, function, *arguments, **keywords):
    with pytest.raises(InputError) as error:
        function(*arguments, **keywords)
    assert isinstance(error.value, ValueError)
    assert isinstance(error.value, ParetoclfError)
    for word in words:
        assert word in str(error.value), str(error.value)


class TestMatrix:
    def test_good(self):
        A = check_matrix([[1, 2], [3, 4]])
        assert A.dtype == np.float64
        assert A.flags.c_contiguous
        np.testing.assert_array_equal(A, GOOD)
        np.testing.assert_array_equal(check_matrix(np.asfortranarray(GOOD)), GOOD)
        np.testing.assert_array_equal(check_matrix(np.array(GOOD, dtype=np.float32)), GOOD)

    @pytest.mark.parametrize(
        ("X", "words"),
        [
            ([1.0, 2.0], ["shape (2,)"]),
            (3.0, ["shape ()"]),
            (np.zeros((2, 2, 2)), ["shape (2, 2, 2)"]),
            (np.zeros((0, 2)), ["at least one row", "(0, 2)"]),
            (np.zeros((2, 0)), ["at least one row", "(2, 0)"]),
            ([[1.0, np.nan], [1.0, 1.0]], ["finite", "nan", "row 0", "column 1"]),
            ([[1.0, 2.0], [-np.inf, 1.0]], ["finite", "-inf", "row 1", "column 0"]),
            ([["a", "b"]], ["numeric"]),
            ([[1.0, 2.0], [3.0]], ["numeric"]),
            (csr_array(np.eye(2)), ["dense", "sparse", "(2, 2)"]),
            (None, ["X"]),
            (np.array([[1 + 1j], [2]]), ["real", "complex128"]),
            ([[1 + 0j], [2]], ["real", "complex128"]),
            (np.array([["1", "2"]]), ["numeric", "<U1"]),
            (np.array([["2020-01-01"]], dtype="datetime64[D]"), ["numeric", "datetime64"]),
            (np.ma.masked_greater([[1.0, 2.0]], 1.5), ["masked", "1"]),
        ],
    )
    def test_bad(self, X, words):
        fails(["X", *words], check_matrix, X)

    def test_names_and_features(self):
        fails(["new", "3 columns", "got 2"], check_matrix, GOOD, "new", n_features=3)


class TestLabels:
    @pytest.mark.parametrize("y", [[1, -1, 1], [1.0, -1.0, 1.0], np.array([1, -1, 1], dtype=np.int8)])
    def test_good(self, y):
        v = check_labels(y, 3)
        assert v.dtype == np.float64
        np.testing.assert_array_equal(v, [1, -1, 1])

    @pytest.mark.parametrize(
        ("y", "words"),
        [
            ([1, 1, 1], ["both classes", "+1"]),
            ([-1, -1, -1], ["both classes", "-1"]),
            ([0, 1, 1], ["-1 and +1", "0, 1", "numpy.where"]),
            ([1, -1, 2], ["-1 and +1", "2"]),
            (["a", "b", "a"], ["-1 and +1", "'a', 'b'"]),
            ([True, False, True], ["-1 and +1"]),
            ([1, -1], ["(3)", "2"]),
            ([[1, -1, 1]], ["one-dimensional", "(1, 3)"]),
            ([1.0, np.nan, -1.0], ["-1 and +1", "nan"]),
            ([1 + 1j, 1, -1], ["-1 and +1", "1+1j"]),
            (np.array([1 + 0j, 1, -1]), ["-1 and +1", "1+0j"]),
            ([], ["(3)", "0"]),
        ],
    )
    def test_bad(self, y, words):
        fails(["y", *words], check_labels, y, 3)

    def test_no_labels_at_all(self):
        fails(["y", "both classes"], check_labels, [])

    def test_many_values_are_not_all_listed(self):
        fails(["0, 1, 2, 3, 4, ..."], check_labels, np.arange(100))


class TestNumbers:
    @pytest.mark.parametrize("text", ["1", b"1", np.str_("1"), "nan"])
    def test_the_text_of_a_number_is_none(self, text):
        fails(["C_plus must be a number", "1" if text != "nan" else "nan"], check_number, text, "C_plus")
        svm = pc.TwoCSVM([[0.0], [1.0]], [-1, 1])
        for call in (
            lambda: svm.solve(text, 1.0),
            lambda: pc.Costs(1.0, text),
            lambda: pc.trace(svm, (text, 1.0), (1.0, 1.0)),
            lambda: pc.RBF(text),
        ):
            with pytest.raises(pc.InputError, match=f"must be .*number, got {re.escape(repr(text))}"):
                call()

    @pytest.mark.parametrize("text", ["1_5e-1", "1_000", "_1", "", "0x10", "1,5"])
    def test_texts_of_no_number(self, text):
        with pytest.raises(ValueError, match="could not convert string to float"):
            number_from_text(text)

    def test_texts_of_numbers(self):
        assert [number_from_text(text) for text in ("15e-2", " 1 ", "+.5")] == [0.15, 1.0, 0.5]


class TestVectors:
    def test_weights(self):
        y = np.array([1.0, -1.0, 1.0])
        np.testing.assert_array_equal(check_weights(None, y), [1, 1, 1])
        given = np.array([0.0, 1.0, 2.0])
        assert check_weights(given, y) is not given
        np.testing.assert_array_equal(check_weights(given, y), given)

    @pytest.mark.parametrize(
        ("weights", "words"),
        [
            ([1, 2], ["shape (3,)", "(2,)"]),
            ([1, 0, 1], ["positive for some samples of each class", "only 0 for label -1"]),
            ([0, 1, 0], ["positive for some samples of each class", "only 0 for label +1"]),
            ([1, 1, -2], ["nonnegative", "-2.0", "index 2"]),
            ([np.nan, 1, 1], ["nonnegative", "index 0"]),
            ([np.inf, 1, 1], ["finite", "index 0"]),
            ("abc", ["numeric"]),
            (np.array([1, 1 + 1j, 1]), ["real", "complex128"]),
        ],
    )
    def test_bad_weights(self, weights, words):
        fails(["sample_weight", *words], check_weights, weights, np.array([1.0, -1.0, 1.0]))

    @pytest.mark.parametrize(
        ("check", "values", "words"),
        [
            (check_vector, [1.0, np.nan], ["finite", "index 1"]),
            (check_vector, [1.0], ["shape (2,)"]),
            (check_vector, ["a", "b"], ["numeric"]),
            (check_vector, [1.0, 2j], ["real", "complex128"]),
            (check_vector, None, ["shape"]),
            (check_nonnegative, [0.0, -1e-300], ["nonnegative", "index 1"]),
            (check_nonnegative, [0.0, np.inf], ["finite", "index 1"]),
        ],
    )
    def test_bad_vectors(self, check, values, words):
        fails(["v", *words], check, values, 2, "v")

    def test_good_vectors(self):
        np.testing.assert_array_equal(check_vector([1, -2], 2, "v"), [1, -2])
        np.testing.assert_array_equal(check_nonnegative([0, 2], 2, "v"), [0, 2])

    @pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, None, "x", 1 + 1j, np.complex128(1)])
    def test_bad_positive_numbers(self, value):
        fails(["width", "positive number"], check_positive_number, value, "width")


class TestCosts:
    def test_good(self):
        costs = Costs(3, 1)
        assert (costs.C_plus, costs.C_minus, costs.total, costs.asymmetry) == (3.0, 1.0, 4.0, 0.75)
        assert tuple(costs) == (3.0, 1.0)
        assert Costs.from_asymmetry(0.75, 4.0) == costs
        assert np.isnan(Costs(0, 0).asymmetry)

    @pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, None, "much", [1.0, 2.0], np.complex128(1 + 1j)])
    @pytest.mark.parametrize("name", ["C_plus", "C_minus"])
    def test_bad(self, name, bad):
        fails([name, "nonnegative"], Costs, **{"C_plus": 1.0, "C_minus": 1.0, name: bad})

    @pytest.mark.parametrize("asymmetry", [-0.1, 1.1, np.nan])
    def test_bad_asymmetry(self, asymmetry):
        fails(["asymmetry", "[0, 1]"], Costs.from_asymmetry, asymmetry, 1.0)

    def test_line(self):
        line = CostLine(Costs(0.1, 0.2), Costs(0.7, 0.3))
        assert line.at(0) == line.start
        assert line.at(1) == line.stop
        assert line.at(0.5).C_plus == pytest.approx(0.4)
        fails(["t", "[0, 1]"], line.at, 1.5)
        fails(["t", "[0, 1]"], line.at, np.nan)


class TestIntervals:
    def test_good(self):
        assert check_share(np.float64(0.25), "share") == 0.25
        assert [check_inside(end, "t") for end in (0, 1)] == [0.0, 1.0]
        assert check_inside(-2, "t", -2.0, 3.0) == -2.0
        assert the_one_given(tnr=None, fpr=0.0) == ("fpr", 0.0)

    @pytest.mark.parametrize("bad", [0.0, 1.0, -0.1, 1.1, np.nan])
    def test_shares(self, bad):
        fails(["share", "strictly between 0 and 1", repr(bad)], check_share, bad, "share")

    @pytest.mark.parametrize("bad", [-2.5, 3.5, np.nan])
    def test_closed(self, bad):
        fails(["t must lie in [-2, 3]", repr(bad)], check_inside, bad, "t", -2.0, 3.0)

    @pytest.mark.parametrize("check", [check_share, check_inside])
    @pytest.mark.parametrize(("bad", "words"), [("half", "number"), (None, "number"), (1j, "number"), ([0.5], "one")])
    def test_no_number(self, check, bad, words):
        fails(["share", words], check, bad, "share")

    def test_callers_say_so(self):
        """Each compared what it was given as it was: a text was a TypeError, an array a ValueError of NumPy's."""
        fails(["level", "number"], area_interval, [-1, 1, -1, 1], [0.1, 0.2, 0.3, 0.4], level="95 %")
        fails(["t must be a number"], CostLine(Costs(1, 2), Costs(2, 1)).at, "half")
        fails(["asymmetry must be one number"], Costs.from_asymmetry, np.array([0.2, 0.4]), 1.0)

    def test_nonnegative_numbers(self):
        assert check_nonnegative_number(0, "offset") == 0.0
        for bad in (-1.0, np.nan, np.inf):
            fails(["offset must be a finite nonnegative number", repr(bad)], check_nonnegative_number, bad, "offset")
        fails(["offset must be a nonnegative number, got 'much'"], Polynomial, 2, offset="much")  # was a TypeError

    def test_truth(self):
        assert check_bool(np.True_, "soft") is True
        fails(["soft must be True or False, got 1"], check_bool, 1, "soft")

    def test_one_of_several(self):
        fails(["exactly one of a, b and c", "got none"], the_one_given, a=None, b=None, c=None)
        fails(["exactly one of a and b", "got a, b"], the_one_given, a=1, b=0.0)

    def test_pairs_of_costs(self):
        """Where a pair was unpacked as it came, another number of costs was a TypeError."""
        assert as_costs((1, 2)) == as_costs(Costs(1, 2)) == Costs(1.0, 2.0)
        fails(["costs must be a pair (C_plus, C_minus)"], as_costs, 3.0)
        fails(
            ["slack_costs must be a pair"],
            object_margins,
            [[0.0], [1.0]],
            [-1, 1],
            [1.0],
            0.0,
            xi=[0, 0],
            slack_costs=1,
        )
        fails(["criterion must be a pair"], roc_of_scores([0.1, 0.4, 0.4, 0.8], [-1, 1, -1, 1]).best, (1, 2, 3))


def test_a_column_of_texts_is_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1.0, 2.0], "city": ["Rome", "Oslo"]})
    with pytest.raises(InputError, match="X must be numeric and real, got a DataFrame whose column 'city' has 'Rome'"):
        pc.TwoCSVM(frame, [-1, 1])
