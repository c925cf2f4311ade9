"""Generators against their published Bayes errors; files, good and bad in every way."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from paretoclf import datasets
from paretoclf.common.errors import InputError
from paretoclf.datasets import Dataset, list_datasets, load
from paretoclf.datasets.load import FOLDER_VARIABLE

A = 2 / np.sqrt(20)
N = 100_000
DATA = os.environ.get(FOLDER_VARIABLE)


def log_density(X, mean, variance=1.0):
    d = X.shape[1]
    return -0.5 * ((X - mean) ** 2).sum(axis=1) / variance - 0.5 * d * np.log(2 * np.pi * variance)


def error_of(y, discriminant):
    return np.mean(np.where(discriminant >= 0, 1.0, -1.0) != y)


def within(error, published):
    return abs(error - published) < 4 * np.sqrt(published * (1 - published) / N) + 5e-5  # published to 2 digits


# --- Generators ------------------------------------------------------------------------------------------------------


def test_twonorm_has_its_bayes_error():
    data = datasets.make_twonorm(N)
    assert within(error_of(data.y, data.X.sum(axis=1)), norm.cdf(-2))
    other = datasets.make_twonorm(N, a=1 / np.sqrt(20))
    assert within(error_of(other.y, other.X.sum(axis=1)), norm.cdf(-1))


@pytest.mark.parametrize(("a", "bayes"), [(A, 0.0124), (1 / np.sqrt(20), 0.0151)])
def test_ringnorm_has_its_bayes_error_for_either_a(a, bayes):
    data = datasets.make_ringnorm(N, a=a)
    assert within(error_of(data.y, log_density(data.X, 0.0, 4.0) - log_density(data.X, a)), bayes)


def test_ringnorm_is_by_default_that_of_the_files():
    assert f"a = {A:.6g}" in datasets.make_ringnorm(10).notes


def test_threenorm_has_its_bayes_error():
    data = datasets.make_threenorm(N)
    alternating = A * np.where(np.arange(20) % 2 == 0, 1, -1)
    plus = np.logaddexp(log_density(data.X, A), log_density(data.X, -A)) + np.log(0.5)
    error = error_of(data.y, plus - log_density(data.X, alternating))
    assert abs(error - 0.105) < 0.003
    plus, minus = data.X[data.y > 0], data.X[data.y < 0]
    assert np.allclose(plus.mean(axis=0), 0, atol=0.03)
    assert np.allclose(np.cov(plus.T), np.eye(20) + A**2, atol=0.06)
    assert np.allclose(minus.mean(axis=0), alternating, atol=0.03)
    assert np.allclose(np.cov(minus.T), np.eye(20), atol=0.06)


def test_waveform_has_its_class_means_and_noise():
    # E u = 1/2 and var u = 1/12: means and covariances in closed form.
    i = np.arange(1, 22)
    h = {1: np.maximum(6 - np.abs(i - 11), 0)}
    h[2] = np.maximum(6 - np.abs(i - 4 - 11), 0)
    h[3] = np.maximum(6 - np.abs(i + 4 - 11), 0)
    waves = {1: (1, 2), 2: (1, 3), 3: (2, 3)}
    for positive, against in ((1, 2), (3, 1)):
        data = datasets.make_waveform(40_000, 1, positive=positive, against=against)
        for label, c in ((1, positive), (-1, against)):
            X, (p, q) = data.X[data.y == label], waves[c]
            assert np.allclose(X.mean(axis=0), (h[p] + h[q]) / 2, atol=0.06)
            assert np.allclose(np.cov(X.T), np.eye(21) + np.outer(h[p] - h[q], h[p] - h[q]) / 12, atol=0.12)


def test_waveform_is_by_default_one_class_against_two():
    data = datasets.make_waveform(30_000)
    assert data.n_plus / data.n == pytest.approx(1 / 3, abs=0.01)
    assert data.negative == "class 2 or 3"


def test_gaussians_have_their_moments_and_prior():
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    singular = np.array([[1.0, 1.0], [1.0, 1.0]])
    data = datasets.make_gaussians(
        N, 3, mean_plus=[1, 2], mean_minus=[-1, 0], cov_plus=cov, cov_minus=singular, prior_plus=0.2
    )
    plus, minus = data.X[data.y > 0], data.X[data.y < 0]
    assert data.n_plus / N == pytest.approx(0.2, abs=0.006)
    assert np.allclose(plus.mean(axis=0), [1, 2], atol=0.04)
    assert np.allclose(np.cov(plus.T), cov, atol=0.06)
    assert np.allclose(minus[:, 0] + 1, minus[:, 1], atol=1e-12)


def test_gaussians_have_the_linear_bayes_error():
    data = datasets.make_gaussians(N)
    assert within(error_of(data.y, data.X[:, 0]), norm.cdf(-1))


def test_bimodal_classes_are_the_mixtures_asked_for():
    plus = [(0.9, [0.0, 0.0], 1.0), (0.1, [5.0, 0.0], 0.25)]
    minus = [(1.0, [0.0, 3.0], [[1.0, 0.3], [0.3, 0.5]])]
    data = datasets.make_bimodal(N, plus=plus, minus=minus)
    corner = np.array([2.5, 0.0])  # probability of x <= 2.5, y <= 0, in closed form
    expected = sum(p * multivariate_normal(m, v * np.eye(2)).cdf(corner) for p, m, v in plus)
    X = data.X[data.y > 0]
    assert np.mean((X - corner <= 0).all(axis=1)) == pytest.approx(expected, abs=0.006)
    assert np.allclose(np.cov(data.X[data.y < 0].T), [[1, 0.3], [0.3, 0.5]], atol=0.03)


@pytest.mark.parametrize("name", [name for name in list_datasets() if name != "wdbc"])
def test_equal_seeds_give_equal_data(name):
    make = getattr(datasets, f"make_{name}")
    one, same, other = make(30, 5), make(30, np.random.default_rng(5)), make(30, 6)
    assert np.array_equal(one.X, same.X)
    assert np.array_equal(one.y, same.y)
    assert not np.array_equal(one.X, other.X)
    assert one.name == name
    assert (load(name, n=30, rng=5).X == one.X).all()
    assert load(name).n == 400
    for seed in range(20):
        assert make(2, seed).n_plus == 1  # both classes, however few the samples


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("twonorm", {"n": 1}, "n must be a whole number of at least 2, got 1"),
        ("twonorm", {"n": 10.5}, "n must be a whole number"),
        ("ringnorm", {"a": 0.0}, "a must be a finite positive number"),
        ("waveform", {"positive": 4}, "different classes out of 1, 2, 3"),
        ("waveform", {"positive": 2, "against": (1, 2)}, "different classes"),
        ("gaussians", {"prior_plus": 1.0}, "prior_plus"),
        ("gaussians", {"mean_plus": (1.0, 0.0, 0.0)}, "mean of minus must have shape"),
        ("gaussians", {"cov_plus": [[1.0, 2.0], [2.0, 1.0]]}, "covariance of plus must be positive semidefinite"),
        ("gaussians", {"cov_minus": [[1.0, 2.0], [0.0, 1.0]]}, "covariance of minus must be a symmetric"),
        ("bimodal", {"plus": [(0.5, (0.0, 0.0), None)]}, "plus: weights must be positive and sum to 1"),
        ("bimodal", {"minus": []}, "minus: weights"),
        ("bimodal", {"plus": []}, "plus: weights"),
    ],
)
def test_bad_arguments_of_generators_are_refused(name, arguments, words):
    with pytest.raises(InputError, match=words):
        getattr(datasets, f"make_{name}")(**arguments)


# --- Built in --------------------------------------------------------------------------------------------------------


def test_wdbc_calls_malignant_positive():
    data = load("wdbc")
    assert (data.n, data.d, data.n_plus, data.n_minus) == (569, 30, 212, 357)
    assert (data.positive, data.negative) == ("malignant", "benign")
    assert data.X[data.y > 0, 0].mean() > data.X[data.y < 0, 0].mean()  # malignant nuclei are larger
    assert data.feature_names[0] == "mean_radius"
    assert repr(data) == "Dataset('wdbc': 569 samples, 30 features, 212 of +1 (malignant), 357 of -1 (benign))"
    swapped = load("wdbc", positive="benign")
    assert np.array_equal(swapped.y, -data.y)
    assert swapped.positive == "benign"


def test_some_rows_are_the_first_or_drawn():
    data = load("wdbc")
    assert np.array_equal(load("wdbc", n=100).X, data.X[:100])
    drawn = load("wdbc", n=100, rng=1)
    assert drawn.n == 100
    assert not np.array_equal(drawn.X, data.X[:100])
    rows = [int(np.flatnonzero((x == data.X).all(axis=1))[0]) for x in drawn.X]
    assert rows == sorted(set(rows))  # without replacement, in the file's order
    assert np.array_equal(drawn.X, load("wdbc", n=100, rng=1).X)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"source": "wdbc", "n": 570}, "n must be a whole number from 2 to the size of wdbc (569), got 570"),
        ({"source": "wdbc", "label": "y"}, "label is for files; wdbc is built in"),
        ({"source": "twonorm", "label": "y"}, "label is for files; twonorm is built in"),
        ({"source": "wdbc", "positive": "M"}, "positive must be 'malignant' or 'benign', got 'M'"),
        ({"source": "wdbc", "n": 10}, "the 10 chosen rows must hold both classes, got only 'malignant' (+1)"),
    ],
)
def test_bad_requests_for_built_in_data_are_refused(arguments, words):
    with pytest.raises(InputError, match=re.escape(words)):
        load(**arguments)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"X": [[1.0], [np.nan]]}, "X must be finite"),
        ({"y": [1, 1]}, "both classes"),
        ({"y": [1, -1, 1]}, "one label per sample"),
        ({"feature_names": ("a", "b")}, "one name per column (1), got 2"),
    ],
)
def test_bad_datasets_are_refused(change, words):
    good = {"name": "d", "X": [[0.0], [1.0]], "y": [1, -1], "feature_names": ("a",), "positive": "p", "negative": "n"}
    with pytest.raises(InputError, match=re.escape(words)):
        Dataset(**{**good, **change})


# --- Files -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)

    def _write(text, name="data.csv"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    return _write


GOOD = "a,label,b\n1,yes,2\n3,no,4\n5.5e0,no,-6\n"


def test_csv_is_read_by_column_name(write):
    data = load(write(GOOD), positive="yes")
    assert data.X.tolist() == [[1, 2], [3, 4], [5.5, -6]]
    assert data.y.tolist() == [1, -1, -1]
    assert data.feature_names == ("a", "b")
    assert (data.name, data.positive, data.negative) == ("data", "yes", "no")
    assert load(write(GOOD), positive="no").y.tolist() == [-1, 1, 1]


@pytest.mark.parametrize("column", ["label", "class", "y", "target", "Label"])
@pytest.mark.parametrize("values", [("-1", "1"), ("0", "1"), ("-1.0", "+1"), ("0", "1.0")])
def test_usual_labels_need_no_options(write, column, values):
    data = load(write(f"{column},x\n{values[0]},1\n{values[1]},2\n{values[0]},3\n"))
    assert data.y.tolist() == [-1, 1, -1]
    assert data.positive == "1"


@pytest.mark.parametrize("positive", ["2", 2, 2.0, "2.0", np.int64(2)])
def test_positive_may_be_number_or_text(write, positive):
    assert load(write("x,label\n0,1\n0,2\n"), positive=positive).y.tolist() == [-1, 1]


def test_numbers_that_are_close_are_different_labels(write):
    assert load(write("x,label\n0,1000001\n0,1000002\n"), positive=1000002).y.tolist() == [-1, 1]


def test_byte_order_mark_blank_lines_quotes_and_windows_line_ends_are_read(write):
    text = '\ufeff"a, in cm",class\r\n1,0\r\n\r\n" 2 ",1\r\n'
    data = load(write(text))
    assert data.feature_names == ("a, in cm",)
    assert data.X.tolist() == [[1], [2]]


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("", {}, "the file is empty"),
        ("\n\n", {}, "the file is empty"),
        ("a,label\n", {}, "a header but no row of data"),
        ("a,label\n1,0\n2\n3,1\n", {}, "row 3 must have 2 cells like the header, got 1"),
        ("a,label\n1,0\n2,1,9\n", {}, "row 3 must have 2 cells like the header, got 3"),
        ("a,label\n1,0\n\nx,1\n", {}, "row 4, column 'a': the value must be a number, got 'x'"),
        ("a,label,b\n1,0,1\n1,1,1_0\n", {}, "row 3, column 'b': the value must be a number, got '1_0'"),
        ("a,label,b\n1,0,1\n1,1,\n", {}, "row 3, column 'b': the value is missing, got ''"),
        ("a,label\n1,0\nNA,1\n", {}, "row 3, column 'a': the value is missing, got 'NA'"),
        ("a,label\n?,0\n1,1\n", {}, "row 2, column 'a': the value is missing, got '?'"),
        ("a,label\nnan,0\n1,1\n", {}, "row 2, column 'a': the value is missing, got 'nan'"),
        (
            "a,label\n1,0\n-inf,1\n",
            {},
            "the value must be finite; empty the cell, and missing= (--missing) drops its row or fills it, got '-inf'",
        ),
        ("a,label\n1,0\n1e999,1\n", {}, "row 3, column 'a'"),
        ("a,label\n1,0\n2,\n", {}, "row 3, column 'label': the label is missing, got ''"),
        ("a,label\n1,0\n2,0\n", {}, "label column 'label' must have two values, got 1: '0' (2)"),
        ("a,label\n1,0\n2,1\n3,2\n4,2\n", {}, "must have two values, got 3: '0' (1), '1' (1), '2' (2)"),
        ("a,label\n1,1\n2,2\n", {}, "say which value is positive; the two are '1' (1), '2' (1)"),
        ("a,label\n1,b\n2,a\n", {}, "say which value is positive; the two are 'a' (1), 'b' (1); ready: positive='b'"),
        ("a,label\n1,b\n2,a\n", {"positive": "c"}, "positive must be one of its two values 'a' (1), 'b' (1), got 'c'"),
        (
            "a,b\n1,0\n2,1\n",
            {},
            "name the label column, with label= (--label): no column is called label, class, y, target; columns: a, b",
        ),
        ("y,class\n1,0\n2,1\n", {}, "2 columns are called label, class, y, target; columns: y, class"),
        ("a,label\n1,0\n2,1\n", {"label": "c"}, "there is no column 'c'; columns: a, label"),
        ("1,2\n1,0\n2,1\n", {}, "there is no header: label must be the number of its column, 1 to 2"),
        ("1,2\n1,0\n2,1\n", {"label": "y"}, "there is no column 'y'; columns: 1, 2"),
        ("3,a\n1,b\n2,a\n", {"label": 3, "positive": "a"}, "there is no column '3'; columns: 1, 2"),
        ("a|label\n1|0\n", {}, "separated by commas, semicolons or tabs, got ['a|label']"),
        (",a,label\n1,1,0\n2,2,1\n", {}, "row 1: column 1 has no name"),
        ("a,a,label\n1,1,0\n2,2,1\n", {}, "row 1: there are two columns named 'a'"),
        (b"a,label\n1,0\n\xff\xfe,1\n", {}, "cannot be read as a CSV file"),
    ],
)
def test_bad_csv_is_refused_with_file_row_and_column(write, text, arguments, words):
    file = write(text)
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        load(file, **arguments)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


def test_csv_without_header(write):
    for label in ("2", 2):
        data = load(write("0.5,-1,2\n1.5,1,4\n2.5,1,6\n"), label=label)
        assert data.X.tolist() == [[0.5, 2], [1.5, 4], [2.5, 6]]
        assert data.y.tolist() == [-1, 1, 1]
        assert data.feature_names == ("1", "3")
    data = load(write("m;3;ill\nf;4;well\n"), label=3, positive="ill", one_hot=["1"])
    assert data.feature_names == ("1=m", "2")
    assert data.y.tolist() == [1, -1]


SPARSE = "# made by hand\n+1 1:0.5 3:2 # a comment\n-1 2:-1e-3\n+1\n"


@pytest.mark.parametrize("name", ["data.libsvm", "data.txt", "heart_scale", "a1a.t"])
def test_files_of_svmlight_by_any_name(tmp_path, name):
    file = tmp_path / name
    file.write_text(SPARSE)
    for data in (load(file), load(name, data_dir=tmp_path)):
        assert data.X.tolist() == [[0.5, 0, 2], [0, -1e-3, 0], [0, 0, 0]]
        assert data.y.tolist() == [1, -1, 1]
        assert data.feature_names == ("x1", "x2", "x3")
    assert load(file, positive=-1, features=["x2"]).X.tolist() == [[0], [-1e-3], [0]]


def test_every_digit_of_a_file_of_svmlight(tmp_path):
    from sklearn.datasets import dump_svmlight_file

    X, y = np.random.default_rng(0).normal(size=(20, 5)), np.arange(20) % 2
    dump_svmlight_file(X, y, str(tmp_path / "f.svm"), zero_based=False)
    data = load(tmp_path / "f.svm")
    assert np.abs(data.X / X - 1).max() < 1e-15
    assert np.array_equal(data.y, 2 * y - 1)


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("+1 1:1\n-1 1:x\n", {}, "cannot be read as a file of LIBSVM"),
        ("+1 1:1\n-1 2:1 1:1\n", {}, "cannot be read as a file of LIBSVM"),
        ("+1 1:nan\n-1 1:1\n", {}, "must be finite, got nan at row 0, column 0"),
        ("1 1:1\n2 1:1\n", {}, "say which value is positive; the two are '1' (1), '2' (1)"),
        ("1 1:1\n1 1:1\n", {}, "must have two values, got 1"),
        ("+1 1:1\n-1 1:2\n", {"label": "y"}, "label must be left out"),
        ("+1 1:1\n-1 1:2\n", {"separator": ";"}, "separator: for CSV files only"),
        (
            "some words\n",
            {},
            ".dta, .xlsx, .xls, .ods, or be one of LIBSVM (label index:value ...)",
        ),
        (
            "",
            {},
            "a data file must end in .csv, .tsv, .npz, .parquet, .feather, ",
        ),
        ("+1 1:1\n-1 999999999999:1\n", {}, "cannot be read as a file of LIBSVM"),
    ],
)
def test_bad_files_of_svmlight(tmp_path, text, arguments, words):
    file = tmp_path / "bad.libsvm"
    file.write_text(text)
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        load(file, **arguments)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_dense_samples_that_do_not_fit_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("paretoclf.common.memory.available_memory", lambda: 2**26)
    (tmp_path / "wide.svm").write_text("+1 1:1\n-1 10000000:1\n")
    with pytest.raises(
        InputError, match=r"wide\.svm: a dense matrix of its samples needs 0\.149 GiB of memory, and 0\.0625 GiB are"
    ):
        load(tmp_path / "wide.svm")


def test_npz_is_read(tmp_path):
    file = tmp_path / "set.npz"
    X = np.arange(6.0).reshape(3, 2)
    np.savez(file, X=X, y=np.array([1, -1, 1], dtype=np.int8), color=np.array(["red", "red", "blue"]))
    data = load(file)
    assert np.array_equal(data.X, X)
    assert data.y.tolist() == [1, -1, 1]
    assert data.feature_names == ("x1", "x2")
    assert load(file, label="color", positive="blue").y.tolist() == [-1, -1, 1]


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"x": np.zeros((2, 1)), "y": [1, -1]}, "there is no array 'X'; arrays: x, y"),
        ({"X": np.zeros((2, 1))}, "there is no array 'y'; arrays: X"),
        ({"X": np.zeros(2), "y": [1, -1]}, "array 'X' must have shape (n_samples, n_features)"),
        ({"X": [[0.0], [np.nan]], "y": [1, -1]}, "array 'X' must be finite, got nan at row 1, column 0"),
        ({"X": np.zeros((2, 1)), "y": [1, -1, 1]}, "array 'y' must have shape (2,), got (3,)"),
        ({"X": np.zeros((3, 1)), "y": [1, 2, 3]}, "must have two values, got 3: '1' (1), '2' (1), '3' (1)"),
        ({"X": np.array([["a"], ["b"]]), "y": [1, -1]}, "array 'X' must be numeric and real, got <U1"),
        ({"X": np.array([[None], [1]], dtype=object), "y": [1, -1]}, "cannot be read as an npz file"),
    ],
)
def test_bad_npz_is_refused(tmp_path, arrays, words):
    file = tmp_path / "bad.npz"
    np.savez(file, **arrays)
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        load(file)
    assert str(caught.value).startswith(str(file))


@pytest.mark.parametrize("content", [b"", b"not a zip file", b"PK\x03\x04 broken"])
def test_broken_npz_is_refused(write, content):
    with pytest.raises(InputError, match="cannot be read as an npz file"):
        load(write(content, "bad.npz"))


def test_an_array_saved_alone_is_no_npz(tmp_path):
    with open(tmp_path / "alone.npz", "wb") as stream:
        np.save(stream, np.zeros(3))
    with pytest.raises(InputError, match="cannot be read as an npz file"):
        load(tmp_path / "alone.npz")


# --- Finding files ---------------------------------------------------------------------------------------------------


def test_names_are_looked_up_in_the_data_folder(write, tmp_path, monkeypatch):
    write("x,label\n0,0\n1,1\n", "mine.csv")
    (tmp_path / "raetsch").mkdir()
    np.savez(tmp_path / "raetsch" / "other.npz", X=[[0.0], [1.0]], y=[1, -1])
    for name in ("mine", "mine.csv", "other", "raetsch/other", "raetsch/other.npz"):
        assert load(name, data_dir=tmp_path).n == 2
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert load("mine").name == "mine"
    np.savez(tmp_path / "mine.npz", X=[[0.0], [1.0], [2.0]], y=[1, -1, 1])
    assert load("mine").n == 2  # CSV first
    with pytest.raises(InputError, match=r"has none of nothing\.csv, nothing\.npz, raetsch/nothing\.npz"):
        load("nothing")
    with pytest.raises(InputError, match=r"file not found: nothing\.csv or "):
        load("nothing.csv")


def test_unknown_sources_are_refused(write, tmp_path, monkeypatch):
    write("text", "data.txt")
    with pytest.raises(InputError, match=r"'nothing' is not a built-in data set \(wdbc, twonorm.*data_dir or PARETO"):
        load("nothing")
    with pytest.raises(InputError, match="file not found: "):
        load(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match=r"must end in \.csv, \.tsv, \.npz, "):
        load(tmp_path / "data.txt")
    with pytest.raises(InputError, match="data_dir must be a folder"):
        load("nothing", data_dir=tmp_path / "absent")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "absent"))
    with pytest.raises(InputError, match="PARETOCLF_DATA must be a folder"):
        load("nothing")
    assert load("wdbc").n == 569  # built-in sets need no folder


def test_first_rows_of_a_sorted_file_are_refused(write):
    file = write("x,label\n" + "0,1\n" * 5 + "0,0\n" * 5)
    with pytest.raises(InputError, match=r"the 4 chosen rows must hold both classes.* draw them at random"):
        load(file, n=4)
    assert load(file, n=6).n_minus == 1
    assert load(file, n=4, rng=0).n == 4


@pytest.mark.skipif(DATA is None, reason=f"{FOLDER_VARIABLE} is not set")
def test_every_file_of_the_data_folder_is_read():
    folder = Path(DATA or "")
    files = sorted([*folder.glob("*.csv"), *folder.glob("raetsch/*.npz")])
    for file in files:
        data = load(file.stem if file.stem not in list_datasets() else file)
        assert data.n_plus >= 1
        assert data.n_minus >= 1
        assert (data.positive, data.negative) == ("1", "-1")


@pytest.mark.skipif(DATA is None or not (Path(DATA) / "wdbc.csv").is_file(), reason="no wdbc.csv in the data folder")
def test_wdbc_of_the_folder_is_the_built_in_one():
    file, built_in = load("wdbc.csv"), load("wdbc")
    assert np.allclose(file.X, built_in.X, rtol=1e-12)
    assert np.array_equal(file.y, built_in.y)


# --- Separators, columns, splits, names ------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_cells_are_separated_by_what_the_header_has(tmp_path, separator):
    file = tmp_path / "three.csv"
    rows = [("a", "b (x, y)", "label"), ("1", "2.5", "yes"), ("3", "-4", "no")]
    if separator == ",":
        rows[0] = ("a", '"b (x, y)"', "label")
    file.write_text("\n".join(separator.join(row) for row in rows))
    data = load(file, positive="yes")
    assert data.feature_names == ("a", "b (x, y)")
    assert data.X.tolist() == [[1.0, 2.5], [3.0, -4.0]]


def test_columns_are_chosen_and_left_out(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("name,age,label,fare\nAnn,30,1,7\nBob,40,0,8\n")
    with pytest.raises(InputError, match=r"row 2, column 'name': the value must be a number, got 'Ann'"):
        load(file)
    assert load(file, drop=["name"]).feature_names == ("age", "fare")
    chosen = load(file, features=["fare", "age"])
    assert chosen.X.tolist() == [[7.0, 30.0], [8.0, 40.0]]
    assert load(file, features=["fare", "age"], drop=["age"]).feature_names == ("fare",)
    assert load("wdbc", features=[load("wdbc").feature_names[2]]).d == 1
    assert load("twonorm", n=20, drop=["x1"]).d == 19
    for how, message in (
        ({"drop": ["nick"]}, r"drop: there is no column 'nick'; columns: name, age, label, fare"),
        ({"features": ["label"]}, r"features: the column 'label' is the label"),
        ({"features": "age"}, r"features must be a list of names, got 'age'"),
        ({"drop": ["name", "age", "fare"]}, r"no feature is left of name, age, label, fare"),
    ):
        with pytest.raises(InputError, match=message):
            load(file, **how)


def test_splits_of_an_npz_file_are_kept(tmp_path):
    file, X = tmp_path / "four.npz", np.arange(8.0).reshape(4, 2)
    train, test = np.array([[0, 1], [2, 3]], dtype=np.int16), np.array([[2, 3], [0, 1]], dtype=np.int16)
    np.savez(file, X=X, y=[1, -1, 1, -1], train_idx=train, test_idx=test)
    data = load(file)
    assert [(a.tolist(), b.tolist()) for a, b in data.splits] == [([0, 1], [2, 3]), ([2, 3], [0, 1])]
    assert load(file, drop=["x1"]).splits
    assert not load(file, n=2).splits  # of other rows
    for wrong, message in (
        ({"train_idx": train}, "train_idx and test_idx must be two arrays with a row for each split"),
        ({"train_idx": train, "test_idx": test + 2}, "array 'test_idx' must hold row numbers from 0 to 3"),
        ({"train_idx": train * 1.0, "test_idx": test}, "array 'train_idx' must hold row numbers from 0 to 3"),
    ):
        np.savez(file, X=X, y=[1, -1, 1, -1], **wrong)
        with pytest.raises(InputError, match=message):
            load(file)


def test_a_file_in_the_folder_that_is_named_is_meant(tmp_path, monkeypatch):
    (tmp_path / "ringnorm.csv").write_text("a,label\n1,1\n2,0\n")
    assert load("ringnorm", data_dir=tmp_path).n == 2
    assert load("twonorm", data_dir=tmp_path, n=10).n == 10  # there is no such file
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert load("ringnorm", n=10).n == 10


def test_labels_that_are_text_are_shown_as_text():
    with pytest.raises(InputError, match=r"^y must contain only the labels -1 and \+1, got \{'-1', '1'\}"):
        Dataset("two", [[1.0], [2.0]], ["1", "-1"], ("a",), "1", "-1")
