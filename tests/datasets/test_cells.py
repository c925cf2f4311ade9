"""Tables as people have them: texts, missing values, decimal commas; one message names all, with what reads them."""

from __future__ import annotations

import json
import re
import shlex

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from paretoclf.cli import main
from paretoclf.common.errors import InputError
from paretoclf.datasets import Dataset, load
from paretoclf.datasets.cells import Column, ColumnsError, read_samples

MESSY = """\
id;age;city;weight;ill
ann;31;Rome;70,5;no
bob;;Oslo;81,25;yes
cid;47;Rome;;yes
dee;25;Bonn;64;no
eve;58;Oslo;90,5;yes
"""
GIVEN = {"label": "ill", "positive": "yes"}


@pytest.fixture
def messy(tmp_path):
    file = tmp_path / "messy.csv"
    file.write_text(MESSY)
    return file


def test_one_message_names_all_columns_and_the_arguments_that_read_them(messy):
    with pytest.raises(ColumnsError) as caught:
        load(messy, **GIVEN)
    for words in (
        "row 2, column 'id': the value must be a number, got 'ann' (and 4 rows more)",
        "row 3, column 'age': the value is missing, got ''",
        "row 2, column 'city': the value must be a number, got 'Rome' (and 4 rows more)",
        "row 2, column 'weight': the value must be a number, got '70,5' (and 3 rows more)",
    ):
        assert words in str(caught.value)
    assert caught.value.ways == {"one_hot": ["city"], "drop": ["id"], "missing": "median", "decimal": ","}
    data = load(messy, **GIVEN, **caught.value.ways)
    assert data.feature_names == ("age", "city=Oslo", "city=Rome", "weight")
    expected = SimpleImputer(strategy="median").fit_transform(
        [[31, 70.5], [np.nan, 81.25], [47, np.nan], [25, 64], [58, 90.5]]
    )
    assert np.array_equal(data.X[:, [0, 3]], expected)
    cities = np.array([["Rome"], ["Oslo"], ["Rome"], ["Bonn"], ["Oslo"]])
    assert np.array_equal(data.X[:, 1:3], OneHotEncoder(drop="first", sparse_output=False).fit_transform(cities))


def test_the_command_line_says_ready_flags(messy, tmp_path, capsys):
    ask = ["trace", str(messy), "--label", "ill", "--positive", "yes", "--out", str(tmp_path / "out")]
    assert main(ask) == 2
    said = capsys.readouterr().err
    flags = said.split("; ready: ")[1].strip()
    assert flags == "--one-hot city --drop id --missing median --decimal ,"
    assert main([*ask, *shlex.split(flags), "--repeats", "1"]) == 0
    assert "5 samples, 4 features" in capsys.readouterr().out


def test_flags_that_were_given_stay_and_odd_names_are_quoted(tmp_path, capsys):
    file = tmp_path / "odd.csv"
    file.write_text('"size, cm",my city,kind,label\n' + "x1,A,u,0\nx2,B,v,1\nx3,A,u,0\nx4,B,v,1\n")
    assert main(["trace", str(file), "--one-hot", "kind"]) == 2
    flags = capsys.readouterr().err.split("; ready: ")[1].strip()
    assert flags == """--one-hot 'kind,my city' --drop '"size, cm"'"""
    assert main(["trace", str(file), *shlex.split(flags), "--quiet", "--out", str(tmp_path / "out")]) == 0


def test_incomplete_rows_are_left_out(messy):
    ways = {"one_hot": ["city"], "drop": ["id"], "decimal": ","}
    data = load(messy, **GIVEN, **ways, missing="drop")
    assert data.X[:, 0].tolist() == [31, 25, 58]
    assert data.y.tolist() == [-1, -1, 1]
    assert len(load(messy, **GIVEN, drop=["id", "weight", "city"], missing="drop").X) == 4  # of columns that are used


@pytest.mark.parametrize(
    ("rows", "ways"),
    [
        ([f"{k},{k % 2}" for k in range(19)] + [",1"], {"missing": "drop"}),  # one of twenty
        ([f"{k},{k % 2}" for k in range(8)] + [",1", "?,0"], {"missing": "median"}),
        (["1,0", "2,1", "3,"], {"missing": "drop"}),  # a label is never filled
        (["1,0", "2,1", "NA,"], {"missing": "drop"}),
        ([f"{k},{k % 2}" for k in range(8)] + ["many,1"], {}),  # no feature would be left
        (["a,0", "b,1"], {}),
        (["a,0", "b,1", "a,1"], {"one_hot": ["a"]}),
        (["1,0", "2,1", "inf,1"], {}),
        ([",0", ",1"], {}),
        (['"1,5",0', '"2",1'], {"decimal": ","}),
        (['"1,5",0', "2.5,1"], {}),  # neither way reads both
        ([f"{k},{k % 2}" for k in range(30)] + ["many,1"], {}),  # a row is at fault, and not its column
    ],
)
def test_what_is_ready(tmp_path, rows, ways):
    file = tmp_path / "t.csv"
    file.write_text("\n".join(["a,label", *rows]) + "\n")
    with pytest.raises(ColumnsError) as caught:
        load(file)
    assert caught.value.ways == ways
    if ways:
        load(file, **ways)


@pytest.mark.parametrize("text", ["Dr. Who", "01.02.2026", "a.b"])
def test_a_point_in_a_text_hides_no_decimal_comma(tmp_path, text):
    file = tmp_path / "t.csv"
    file.write_text("x;name;label\n" + "".join(f"{k},5;{text}{k};{k % 2}\n" for k in range(4)))
    with pytest.raises(ColumnsError) as caught:
        load(file)
    assert caught.value.ways == {"decimal": ",", "drop": ["name"]}
    assert load(file, **caught.value.ways).X.ravel().tolist() == [0.5, 1.5, 2.5, 3.5]


def test_rows_of_cells_that_are_infinite_are_named(tmp_path):
    file = tmp_path / "t.csv"
    cells = ["1", "inf", "3", "4", "-Infinity", "6"]
    file.write_text("a,b,label\n" + "".join(f"{cell},{k},{k % 2}\n" for k, cell in enumerate(cells)))
    with pytest.raises(
        ColumnsError, match=r"row 3, column 'a': the value must be finite; .* fills it, got 'inf' \(and row 6\)$"
    ) as said:
        load(file)
    assert said.value.ways == {}  # a column of numbers is not to be dropped for that
    one = [f"{k},{k},{k % 2}\n" for k in range(60)]
    one[7] = one[9] = one[20] = "many,1,1\n"
    file.write_text("a,b,label\n" + "".join(one))
    with pytest.raises(ColumnsError, match=r"row 9, column 'a': .* got 'many' \(and rows 11, 22\)$"):
        load(file)


def test_a_column_whose_name_has_a_comma_can_be_named(tmp_path, capsys):
    file = tmp_path / "t.csv"
    file.write_text('"name, first",b,label\n' + "".join(f"{k % 5},{k},{k % 2}\n" for k in range(20)))
    assert load(file, features=["name, first"]).d == 1
    assert main(["trace", str(file), "--features", "name, first", "--out", str(tmp_path / "out")]) == 2
    columns = capsys.readouterr().err.strip().split("columns: ")[1]
    assert columns == '"name, first", b, label'  # as they can be given
    for option in ("--features", "--drop"):
        done = ["trace", str(file), option, '"name, first"', "--out", str(tmp_path / "out"), "--repeats", "1"]
        assert main([*done, "--quiet"]) == 0
        assert json.loads((tmp_path / "out" / "report.json").read_text())["data"]["features"] == 1


def test_bad_ways(messy):
    for given, words in (
        ({"missing": "mean"}, "missing must be 'drop' or 'median', got 'mean'"),
        ({"decimal": ";"}, "decimal must be '.' or ',', got ';'"),
    ):
        with pytest.raises(InputError, match=re.escape(words)):
            load(messy, **GIVEN, **given)
    with pytest.raises(InputError, match="no row is complete"):
        load(_written(messy, "a;label\n;0\n2;\n"), missing="drop")
    with pytest.raises(InputError, match=r"a decimal comma, got '1\.5'"):
        load(_written(messy, "a;label\n1.5;0\n2;1\n"), decimal=",")
    with pytest.raises(InputError, match="missing: for tables only, and twonorm is none"):
        load("twonorm", missing="drop")
    with pytest.raises(InputError, match="no feature is left: each column of categories holds one only"):
        load(_written(messy, "a;label\nu;0\nu;1\n"), one_hot=["a"])


def _written(file, text):
    file.write_text(text)
    return file


def test_new_samples_are_read_as_the_training_samples_were():
    recipe = (Column("age", None, 40.0), Column("city", ("Bonn", "Oslo", "Rome"), "Oslo"))
    header, rows = ["city", "more", "age"], [(2, ["Rome", "?", "30"]), (3, ["", "x", ""])]
    X, names = read_samples("new.csv", header, rows, recipe, missing="median")
    assert X.tolist() == [[30, 0, 1], [40, 1, 0]]
    assert names == [2, 3]
    X, names = read_samples("new.csv", header, rows, recipe, missing="drop")
    assert (X.tolist(), names) == ([[30, 0, 1]], [2])
    with pytest.raises(ColumnsError, match="row 3, column 'age': the value is missing") as caught:
        read_samples("new.csv", header, rows, recipe)
    assert caught.value.ways == {"missing": "median"}
    empty = [(2, ["", "", ""])]
    assert read_samples("new.csv", header, empty, recipe, missing="median")[0].tolist() == [[40, 1, 0]]
    assert read_samples("new.csv", header, empty, recipe, missing="drop")[0].shape == (0, 3)
    with pytest.raises(ColumnsError, match=r"'city': the value must be one of 'Bonn', 'Oslo', 'Rome', got 'Lima'$"):
        read_samples("new.csv", header, [(2, ["Lima", "", "3"])], recipe)
    with pytest.raises(InputError, match="there is no column 'age'; columns: city, b"):
        read_samples("new.csv", ["city", "b"], [], recipe)


@pytest.mark.parametrize("ending", [".dta", ".parquet", ".feather", ".xlsx"])
def test_pandas_reads_what_it_can(tmp_path, ending):
    pd = pytest.importorskip("pandas")
    pytest.importorskip({".xlsx": "openpyxl", ".dta": "pandas"}.get(ending, "pyarrow"))
    frame = pd.DataFrame({"age": [1.5, 2.0, np.nan, 4.0], "sex": ["f", "m", "f", "m"], "label": [0, 1, 0, 1]})
    file = tmp_path / f"people{ending}"
    writers = {".dta": frame.to_stata, ".xlsx": frame.to_excel}
    if ending in writers:
        writers[ending](file, **({"write_index": False} if ending == ".dta" else {"index": False}))
    else:
        getattr(frame, f"to_{ending[1:]}")(file)
    data, other = (
        load(file, one_hot=["sex"], missing="median"),
        Dataset.from_frame(frame, one_hot=["sex"], missing="median"),
    )
    assert np.array_equal(data.X, other.X)
    assert data.X[:, 0].tolist() == [1.5, 2, 2, 4]
    assert data.name == "people"
    with pytest.raises(InputError, match="separator: for CSV files only"):
        load(file, separator=";")
    file.write_bytes(b"not a table")
    with pytest.raises(InputError, match="cannot be read by pandas"):
        load(file)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (
            ["1,000", "2,500", "12,345,678.5"],
            "must be a number without commas between thousands (pandas.read_csv takes thousands=','), got '1,000'",
        ),
        (
            ["84%", "7%", "8.5%"],
            "must be a number without a per cent sign (replace % by nothing in the file), got '84%'",
        ),
    ],
)
def test_cells_of_a_spreadsheet_are_said_to_be_such(tmp_path, cells, said):
    lines = ["a;b;label", *(f"{k};{cell};{k % 2}" for k, cell in enumerate(cells))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.raises(ColumnsError, match=re.escape(said)) as caught:
        load(tmp_path / "t.csv")
    assert "decimal" not in str(caught.value)  # 1,000 would be 1


@pytest.mark.parametrize(
    ("cells", "options", "takes"),
    [
        (["1.000,5", "2.500,25", "12.345.678"], {"decimal": ","}, {"thousands": ".", "decimal": ","}),
        (["1 000.5", "2 500", "999"], {}, {"thousands": " "}),
        (["1'000.5", "2'500", "999"], {}, {"thousands": "'"}),
    ],
)
def test_what_groups_digits_is_named_with_what_reads_it(tmp_path, cells, options, takes):
    pandas = pytest.importorskip("pandas")
    lines = ["a;b;label", *(f"{k};{cell};{k % 2}" for k, cell in enumerate(cells))]
    file = tmp_path / "t.csv"
    file.write_text("\n".join(lines))
    remedy = f"pandas.read_csv takes {', '.join(f'{name}={value!r}' for name, value in takes.items())})"
    with pytest.raises(ColumnsError, match=re.escape(f"without {takes['thousands']!r} between thousands ({remedy}")):
        load(file, **options)
    read = pandas.read_csv(file, sep=";", **takes)["b"].tolist()
    assert read == [
        float(re.sub(r"[ ']", "", c) if not options else c.replace(".", "").replace(",", ".")) for c in cells
    ]
    with pytest.raises(ColumnsError) as caught:
        load(file, **options)
    assert caught.value.ways == takes
    data = load(file, **caught.value.ways)
    assert data.X[:, 1].tolist() == read
    # New samples are read as those of the recipe.
    lines = [line.split(";") for line in file.read_text().splitlines()]
    X, _ = read_samples("new", lines[0], list(enumerate(lines[1:])), data.recipe)
    assert X.tolist() == data.X.tolist()


def test_where_1000_may_be_1_no_sign_is_ready_and_groups_of_other_lengths_are_no_numbers(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("a;b;label\n1;1,000;0\n2;2,500;1\n3;3,125;0\n")
    with pytest.raises(ColumnsError) as caught:
        load(file)
    assert "thousands" not in caught.value.ways
    assert load(file, thousands=",").X[:, 1].tolist() == [1000.0, 2500.0, 3125.0]
    file.write_text("a;b;label\n1;1,000.5;0\n2;12,50;1\n3;3,125;0\n")
    with pytest.raises(ColumnsError, match="row 3, column 'b': the value must be a number, got '12,50'"):
        load(file, thousands=",")
    for wrong in (".", "x"):
        with pytest.raises(InputError, match=r"thousands must be ',' or ' ' or .*, got"):
            load(file, thousands=wrong)
