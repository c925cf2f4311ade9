"""Frames there and back, and CSV files with other separators, encodings and categories."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder

import paretoclf as pc
from paretoclf.cli import main
from paretoclf.common.errors import InputError
from paretoclf.datasets import Dataset, load, read_csv

pd = pytest.importorskip("pandas")

PEOPLE = "age;stadt;plan;bought\n30;Köln;1;no\n50,5;Wien;2;yes\n40;Köln;1;no\n".replace(",", ".")


@pytest.mark.parametrize("name", ["wdbc", "twonorm", "waveform"])
def test_a_data_set_goes_to_a_frame_and_back(name):
    data = load(name, n=40, rng=0)
    frame = data.to_frame()
    assert list(frame.columns) == [*data.feature_names, "label"]
    assert set(frame["label"]) == {data.positive, data.negative}
    back = Dataset.from_frame(frame, positive=data.positive, name=name)
    assert np.array_equal(back.X, data.X)
    assert np.array_equal(back.y, data.y)
    assert (back.name, back.feature_names) == (name, data.feature_names)
    assert (back.positive, back.negative) == (data.positive, data.negative)


def test_values_are_not_rounded_on_the_way():
    X = np.array([[1 / 3, 1e-300], [np.nextafter(1.0, 2.0), -1e300]])
    data = Dataset("d", X, np.array([-1.0, 1.0]), ("a", "b"), "1", "-1")
    assert np.array_equal(Dataset.from_frame(data.to_frame()).X, X)


def test_categories_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=30), "c": rng.choice(["x", "zz", "y"], 30), "k": rng.integers(0, 4, 30)})
    frame["label"] = np.arange(30) % 2
    data = Dataset.from_frame(frame, one_hot=["c", "k"])
    encoder = OneHotEncoder(drop="first", sparse_output=False).fit(frame[["c", "k"]])
    assert np.array_equal(data.X[:, 1:], encoder.transform(frame[["c", "k"]]))
    assert np.array_equal(data.X[:, 0], frame["a"])
    assert data.feature_names == ("a", "c=y", "c=zz", "k=1", "k=2", "k=3")


def test_types_of_pandas_do_not_matter():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [True, False, True], "y": ["u", "v", "u"]})
    plain = Dataset.from_frame(frame, positive="u", one_hot=["b"])
    extended = frame.astype({"a": "Float32", "b": "boolean", "y": "category"})
    other = Dataset.from_frame(extended, positive="u", one_hot=["b"])
    assert np.array_equal(plain.X, other.X)
    assert plain.feature_names == other.feature_names == ("a", "b=True")


def test_frames_of_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": [1.5, 2.0, 3.0], "c": ["x", "y", "x"], "label": [1, 0, 1]})
    assert Dataset.from_frame(frame, one_hot=["c"]).X.tolist() == [[1.5, 0], [2, 1], [3, 0]]


@pytest.mark.parametrize(
    ("change", "arguments", "words"),
    [
        ({"a": [1.0, None, 2.0]}, {}, "people: row 11, column 'a': the value is missing"),
        ({"a": [1.0, float("inf"), 2.0]}, {}, "row 11, column 'a': the value must be finite"),
        ({"a": ["1", "x", "2"]}, {}, "row 11, column 'a': the value must be a number, got 'x'"),
        ({"a": ["1", None, "2"]}, {"one_hot": ["a"]}, "row 11, column 'a': the value is missing"),
        ({"label": [0, None, 1]}, {}, "row 11, column 'label': the label is missing"),
        ({"label": [0, 0, 0]}, {}, "must have two values"),
        ({}, {"one_hot": ["b"]}, "one_hot: there is no feature 'b'; features: a"),
        ({}, {"one_hot": ["label"]}, "one_hot: there is no feature 'label'"),
        ({}, {"one_hot": "a"}, "one_hot must be a list of names, got 'a'"),
        ({}, {"label": "b"}, "there is no column 'b'; columns: a, label"),
    ],
)
def test_bad_frames_are_refused_with_row_and_column(change, arguments, words):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "label": [0, 1, 1]} | change, index=[10, 11, 12])
    with pytest.raises(InputError, match=re.escape(words)):
        Dataset.from_frame(frame, name="people", **arguments)


@pytest.mark.parametrize("frame", [None, [[1, 2]], pd.Series([1.0])])
def test_what_is_no_frame_is_refused(frame):
    with pytest.raises(InputError, match="frame must be a DataFrame of pandas or polars, got "):
        Dataset.from_frame(frame)
    with pytest.raises(InputError, match="two columns have one name: a, a, label"):
        Dataset.from_frame(pd.DataFrame([[1, 2, 0], [1, 2, 1]], columns=["a", "a", "label"]))
    with pytest.raises(InputError, match="label must not be the name of a feature, got 'x1'"):
        load("twonorm", n=10).to_frame(label="x1")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
@pytest.mark.parametrize("separator", [";", "|", "\t", " "])
def test_separators_and_encodings(tmp_path, encoding, separator):
    file = tmp_path / "people.csv"
    file.write_text(PEOPLE.replace(";", separator), encoding=encoding)
    expected = pd.read_csv(file, sep=separator, encoding=encoding)
    data = load(file, label="bought", positive="yes", encoding=encoding, separator=separator, one_hot=["stadt", "plan"])
    assert data.feature_names == ("age", "stadt=Wien", "plan=2")
    assert data.X.tolist() == [[30, 0, 0], [50.5, 1, 1], [40, 0, 0]]
    assert data.X[:, 0].tolist() == expected["age"].tolist()


def test_bad_ways_of_reading_are_refused(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text(PEOPLE, encoding="latin-1")
    for arguments, words in (
        ({}, "cannot be read as a CSV file in utf-8-sig"),
        (
            {"encoding": "latin-7000"},
            "encoding must be one that Python knows, such as utf-8 or latin-1, got 'latin-7000'",
        ),
        ({"encoding": "latin-1", "separator": ";;"}, "separator must be one character, got ';;'"),
        (
            {"encoding": "latin-1"},
            "row 2, column 'stadt': the value must be a number, got 'Köln' (and 2 rows more); ready: one_hot=['stadt']",
        ),
    ):
        with pytest.raises(InputError, match=re.escape(words)):
            read_csv(file, label="bought", positive="yes", **arguments)
    with pytest.raises(InputError, match=r"separator and one_hot: for CSV files only, and twonorm is none"):
        load("twonorm", separator=";", one_hot=["x1"])
    np.savez(tmp_path / "d.npz", X=[[1.0], [2.0]], y=[0, 1])
    with pytest.raises(InputError, match=r"encoding: for CSV files only, and .*d\.npz is none"):
        load(tmp_path / "d.npz", encoding="latin-1")


def test_the_command_line_reads_them_too(tmp_path, capsys):
    file = tmp_path / "people.csv"
    rows = [f"{k % 7}\tKöln\tno\n{k % 5 + 1}\tWien\tyes\n" for k in range(8)]
    file.write_text("age\tstadt\tbought\n" + "".join(rows), encoding="latin-1")
    arguments = ["page", str(file), "--label", "bought", "--positive", "yes", "--out", str(tmp_path / "page.html")]
    assert main(arguments) == 2
    assert "name its encoding; ready: --encoding latin-1" in capsys.readouterr().err
    own = [arguments[0], arguments[1], "--encoding", "latin-1", "--one-hot", "stadt"]
    assert main(own) == 2
    assert "name the label column, with label= (--label): no column is called" in capsys.readouterr().err
    assert main([*own, "--label", "bought"]) == 2
    assert "the two are 'no' (8), 'yes' (8); ready: --positive yes" in capsys.readouterr().err
    assert main([*arguments, "--encoding", "latin-1", "--separator", "tab", "--one-hot", "stadt"]) == 0
    assert ", 2 features" in capsys.readouterr().out


class TestOrder:
    """Frames and series of one index, in one order or in two."""

    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.5]}, index=["p", "q", "r", "s"])
    y = pd.Series([-1, 1, -1, 1], index=["p", "q", "r", "s"])

    def test_the_same_order_other_labels_and_no_index_are_taken(self):
        expected = pc.TwoCSVM(self.X.to_numpy(), self.y.to_numpy()).solve(1.0, 1.0).value
        for X, y in (
            (self.X, self.y),
            (self.X, self.y.reset_index(drop=True)),  # other labels: places count
            (self.X.to_numpy(), self.y),
            (self.X, self.y.tolist()),
        ):
            assert pc.TwoCSVM(X, y).solve(1.0, 1.0).value == expected

    def test_another_order_is_refused_wherever_both_are_given(self):
        other = self.y.loc[["q", "p", "s", "r"]]
        path = pc.trace(pc.TwoCSVM(self.X, self.y), (1.0, 1.0), (2.0, 1.0))
        calls = (
            lambda: pc.TwoCSVM(self.X, other),
            lambda: pc.QuantileSVM(self.X, other),
            lambda: pc.Moments.from_samples(self.X, other),
            lambda: pc.MEMPM(self.X, other),
            lambda: pc.roc_of_path(path, self.X, other),
            lambda: pc.verify(self.X, other, [(1.0, 1.0, np.zeros(4), 0.0)]),
            lambda: pc.CostPathSVC().fit(self.X, other),
            lambda: pc.roc.roc_of_scores(self.X["a"], other),
            lambda: pc.roc.area_interval(other, self.X["a"]),
        )
        for call in calls:
            with pytest.raises(pc.InputError, match="in the order of the samples', got 'q' beside 'p' at place 0"):
                call()
        assert pc.TwoCSVM(self.X, other.loc[self.X.index]).y.tolist() == self.y.tolist()
        assert pc.TwoCSVM(self.X, other.to_numpy()).y.tolist() == other.tolist()

    def test_labels_that_stand_twice(self):
        twice = self.X.set_axis(["p", "p", "r", "s"])
        pc.TwoCSVM(twice, self.y)  # they are not the same ones
        with pytest.raises(pc.InputError, match="got 'r' beside 'p' at place 1"):
            pc.TwoCSVM(twice, self.y.set_axis(["p", "r", "p", "s"]))
