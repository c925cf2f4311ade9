"""Data sets of OpenML: with a fetcher of our own in place of the network."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
from sklearn import datasets as sklearn_datasets

from paretoclf.common.errors import InputError
from paretoclf.datasets import fetch, list_fetched, load, openml
from paretoclf.datasets.load import FOLDER_VARIABLE

DATA = os.environ.get(FOLDER_VARIABLE)


def answer(X, target, categories=None):
    names = [f"f{j}" for j in range(np.shape(X)[1])]
    return SimpleNamespace(
        data=np.array(X, dtype=float), target=np.array(target, dtype=object), feature_names=names, categories=categories
    )


@pytest.fixture
def network(monkeypatch, tmp_path):
    """What the fetcher answers, or the error it raises; and what it was asked."""
    state = SimpleNamespace(answer=None, asked=[])

    def fetcher(**arguments):
        state.asked.append(arguments)
        if isinstance(state.answer, Exception):
            raise state.answer
        return state.answer

    monkeypatch.setattr(sklearn_datasets, "fetch_openml", fetcher)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    return state


@pytest.fixture
def sonar(monkeypatch):
    """A sonar of four rows: 1/3, -0, rows of another class, and one with a missing value."""
    X = np.array([[1 / 3, 2.0], [-0.0, 1.0], [5.0, 5.0], [np.nan, 1.0], [0.5, 1.0]])
    target = ["Mine", "Rock", "Boat", "Mine", "Rock"]
    known = openml.checksum(X[[4, 1, 0]], np.array([-1.0, -1.0, 1.0]))
    monkeypatch.setitem(openml.SOURCES, "sonar", replace(openml.SOURCES["sonar"], sha256=known))
    return answer(X, target)


def test_rows_are_chosen_and_labelled_and_checked(network, sonar, tmp_path):
    network.answer = sonar
    data = fetch("sonar", data_home=tmp_path)
    assert data.X.tolist() == [[1 / 3, 2.0], [0.0, 1.0], [0.5, 1.0]]
    assert data.y.tolist() == [1, -1, -1]
    assert (data.name, data.positive, data.negative, data.feature_names) == ("sonar", "Mine", "Rock", ("f0", "f1"))
    [asked] = network.asked
    assert asked["data_id"] == 40
    assert asked["data_home"] == str(tmp_path)


@pytest.mark.parametrize("change", ["value", "label", "column", "row"])
def test_other_data_are_refused(network, sonar, change):
    if change == "value":
        sonar.data[0, 0] = np.nextafter(sonar.data[0, 0], 1.0)
    if change == "label":
        sonar.target[0] = "Rock"
    if change == "column":
        sonar.data = sonar.data[:, ::-1]
    if change == "row":
        sonar.data, sonar.target = np.repeat(sonar.data, 2, axis=0), np.repeat(sonar.target, 2)
    network.answer = sonar
    with pytest.raises(InputError, match=r"sonar: what OpenML sent as data set 40 is not the one that is meant"):
        fetch("sonar")


def test_the_order_of_the_rows_does_not_matter(network, sonar):
    sonar.data, sonar.target = sonar.data[::-1], sonar.target[::-1]
    network.answer = sonar
    assert fetch("sonar").y.tolist() == [-1, -1, 1]


def test_declared_values_are_meant_not_their_positions(network, monkeypatch):
    X, y = np.array([[3.0, 0.5], [0.0, 0.25]]), np.array([1.0, -1.0])
    network.answer = answer([[1, 0.5], [0, 0.25], [np.nan, 1.0]], ["Mine", "Rock", "Rock"], {"f0": ["0", "3"]})
    monkeypatch.setitem(openml.SOURCES, "sonar", replace(openml.SOURCES["sonar"], sha256=openml.checksum(X, y)))
    assert np.array_equal(fetch("sonar").X, X)


@pytest.mark.parametrize("error", [URLError("no route to host"), TimeoutError("timed out"), ValueError("412")])
def test_without_a_network_the_error_says_what_to_do(network, tmp_path, error):
    network.answer = error
    with pytest.raises(InputError) as caught:
        fetch("pima")
    words = str(caught.value)
    assert "pima: data set 37 of OpenML could not be fetched" in words
    assert str(tmp_path / "home") in words
    assert "paretoclf.datasets.load" in words


def test_unknown_names_are_refused_before_anything_is_asked(network):
    with pytest.raises(InputError, match=r"name must be one of breast_w, .* got 'wdbc'"):
        fetch("wdbc")
    assert network.asked == []


def test_who_looks_for_one_as_a_file_is_told_where_it_is(monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    with pytest.raises(
        InputError, match=r"'sonar' is not a built-in data set .*fetch\('sonar'\) has it from OpenML; give"
    ):
        load("sonar")


@pytest.mark.skipif(DATA is None, reason=f"{FOLDER_VARIABLE} is not set")
@pytest.mark.parametrize("name", list_fetched())
def test_checksums_are_those_of_copies_from_elsewhere(network, name):
    if not Path(DATA, f"{name}.csv").is_file():
        pytest.skip(f"no {name}.csv in the data folder")
    data, source = load(name, data_dir=DATA, positive="1"), openml.SOURCES[name]
    network.answer = answer(data.X, np.where(data.y > 0, source.positive[0], source.negative[-1]))
    assert np.array_equal(fetch(name).X, data.X)
