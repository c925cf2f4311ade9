"""A data set: counts, parts, exchanged roles, and frames there and back, beside plain loops."""

from __future__ import annotations

import re

import numpy as np
import pytest

from paretoclf.common.errors import InputError
from paretoclf.datasets.dataset import Dataset, texts_of

pd = pytest.importorskip("pandas")

X = np.arange(12.0).reshape(4, 3)
Y = np.array([1.0, -1.0, -1.0, 1.0])
SPLIT = (np.array([0, 1]), np.array([2, 3]))


def small(**changes):
    """Four samples of three features; the roles of the classes are not those of their names in order."""
    given = {"X": X, "y": Y, "feature_names": ["a", "b", "c"], "positive": "ill", "negative": "well"}
    return Dataset("patients", **(given | changes))


class TestWhatItHolds:
    def test_numbers_are_counted(self):
        data = small(y=np.array([1.0, -1.0, -1.0, -1.0]))
        assert (data.n, data.d, data.n_plus, data.n_minus) == (4, 3, 1, 3)
        assert repr(data) == "Dataset('patients': 4 samples, 3 features, 1 of +1 (ill), 3 of -1 (well))"

    def test_a_notebook_shows_both_classes(self):
        shown = small(y=np.array([1.0, -1.0, -1.0, -1.0]))._repr_html_()
        cells = re.findall("<td>([^<]*)</td>", shown)
        assert cells == ["1", "ill", "1", "-1", "well", "3"]

    def test_samples_are_copied_and_names_are_a_tuple(self):
        given = X.copy()
        data = small(X=given)
        given[0, 0] = 99.0
        assert data.X[0, 0] == 0.0
        assert data.feature_names == ("a", "b", "c")

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"feature_names": ["a", "b"]}, "one name per column (3), got 2"),
            ({"y": np.ones(4)}, "y must"),
            ({"y": Y[:3]}, "y must"),
            ({"X": X * np.nan}, "X must"),
        ],
    )
    def test_parts_that_do_not_fit_are_refused(self, change, words):
        with pytest.raises(InputError) as refused:
            small(**change)
        assert words in str(refused.value)


class TestParts:
    def test_rows_are_those_that_were_asked_for(self):
        part = small(splits=(SPLIT,)).rows(np.array([3, 1]))
        assert part.X.tolist() == [X[3].tolist(), X[1].tolist()]
        assert part.y.tolist() == [1.0, -1.0]
        assert part.splits == ()  # row numbers of a split are those of all rows
        assert small().rows(slice(1, None)).n == 3
        assert (part.name, part.positive, part.negative) == ("patients", "ill", "well")

    def test_rows_of_one_class_are_refused_with_its_name(self):
        for rows, words in (([0, 3], "only 'ill' (+1)"), ([1], "only 'well' (-1)"), ([], "no sample")):
            with pytest.raises(InputError) as refused:
                small().rows(np.array(rows, dtype=int))
            assert f"patients: the {len(rows)} chosen rows must hold both classes, got {words};" in str(refused.value)

    def test_columns_keep_their_names(self):
        part = small(recipe=("as it was read",)).columns([2, 0])
        assert part.feature_names == ("c", "a")
        assert part.X.tolist() == [[row[2], row[0]] for row in X.tolist()]
        assert part.recipe == ()  # it would make other features of a new table
        assert part.y.tolist() == Y.tolist()

    def test_roles_are_exchanged_and_exchanged_back(self):
        data = small()
        other = data.swapped()
        assert other.y.tolist() == [-1.0, 1.0, 1.0, -1.0]
        assert (other.positive, other.negative) == ("well", "ill")
        assert (other.n_plus, other.n_minus) == (data.n_minus, data.n_plus)
        assert other.swapped().y.tolist() == data.y.tolist()
        assert other.swapped().positive == "ill"


class TestFrames:
    FRAME = pd.DataFrame({"age": [30, 50, 40], "ill": ["no", "yes", "no"], "sex": ["f", "m", "f"]})

    def test_a_data_set_goes_to_a_frame_and_back(self):
        data = small()
        frame = data.to_frame("state")
        assert list(frame.columns) == ["a", "b", "c", "state"]
        assert frame["state"].tolist() == ["ill", "well", "well", "ill"]
        back = Dataset.from_frame(frame, label="state", positive="ill", name="patients")
        assert back.X.tolist() == X.tolist()
        assert back.y.tolist() == Y.tolist()
        assert (back.positive, back.negative, back.name) == ("ill", "well", "patients")
        assert back.notes == "from a frame"

    def test_a_label_with_the_name_of_a_feature_is_refused(self):
        with pytest.raises(InputError, match="label must not be the name of a feature, got 'b'"):
            small().to_frame("b")

    def test_columns_are_chosen_and_categories_become_zeros_and_ones(self):
        data = Dataset.from_frame(self.FRAME, label="ill", positive="yes", one_hot=["sex"])
        assert data.feature_names == ("age", "sex=m")
        assert data.X.tolist() == [[30, 0], [50, 1], [40, 0]]
        assert data.y.tolist() == [-1, 1, -1]
        for how in ({"features": ["age"]}, {"drop": ["sex"]}):
            assert Dataset.from_frame(self.FRAME, label="ill", positive="yes", **how).feature_names == ("age",)
        assert len(data.recipe) == 2

    def test_what_is_missing_is_left_out_or_filled(self):
        frame = self.FRAME.drop(columns="sex").astype({"age": float})
        frame.loc[2, "age"] = np.nan
        frame = pd.concat([frame, pd.DataFrame({"age": [10.0], "ill": ["no"]})], ignore_index=True)
        dropped = Dataset.from_frame(frame, label="ill", positive="yes", missing="drop")
        assert dropped.X[:, 0].tolist() == [30, 50, 10]
        filled = Dataset.from_frame(frame, label="ill", positive="yes", missing="median")
        assert filled.X[:, 0].tolist() == [30, 50, 30, 10]

    @pytest.mark.parametrize("given", [[[1, 2]], X, pd.Series([1.0, 2.0]), {"a": [1]}])
    def test_what_is_no_frame_is_refused(self, given):
        with pytest.raises(InputError, match="frame must be a DataFrame of pandas or polars, got"):
            Dataset.from_frame(given)

    def test_a_fault_is_told_with_the_index_of_its_row(self):
        frame = pd.DataFrame({"age": ["30", "x"], "ill": ["no", "yes"]}, index=["Ann", "Bob"])
        with pytest.raises(InputError, match="Bob"):
            Dataset.from_frame(frame, label="ill", positive="yes")


class TestTexts:
    def test_cells_are_texts_by_the_index_of_their_row(self):
        frame = pd.DataFrame({" a ": [1, 2], 3: [0.5, None]}, index=["u", "v"])
        names, rows = texts_of("it", frame)
        assert names == ["a", "3"]
        assert list(rows) == [("u", ("1", "0.5")), ("v", ("2", "nan"))]

    def test_a_frame_without_an_index_has_numbers(self):
        class Column(list):
            to_list = list.copy

        class Frame:
            columns = ("a", "b")

            def __len__(self):
                return 2

            def __getitem__(self, name):
                return Column([1, 2] if name == "a" else ["x", "y"])

        assert list(texts_of("it", Frame())[1]) == [(0, ("1", "x")), (1, ("2", "y"))]

    def test_two_columns_of_one_name_are_refused(self):
        frame = pd.DataFrame([[1, 2, 3]], columns=["b", "a", "a "])
        with pytest.raises(InputError, match="it: two columns have one name: a, a, b"):
            texts_of("it", frame)
