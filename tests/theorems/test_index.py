"""docs/research/reproduced.md: it is what `examples/papers/index.py` prints, and all that it names is there."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from examples.papers import index
from tests.theorems.test_errata import ERRATA

ROOT = Path(__file__).resolve().parents[2]
SHOWN = [each for of_paper in index.SHOWN.values() for each in of_paper]
STATED = [each for of_paper in index.STATED.values() for each in of_paper]


def test_the_page_is_what_the_script_prints():
    assert (ROOT / "docs" / "research" / "reproduced.md").read_text(encoding="utf-8") == index.page()


def test_every_item_of_the_papers_is_there():
    """34 tables and figures, 28 numbered statements, 3 algorithms; none twice."""
    assert len(SHOWN) == 34
    algorithms = [each for each in STATED if each.name.startswith("Algorithm")]
    assert (len(STATED) - len(algorithms), len(algorithms)) == (28, 3)
    for of_paper in (*index.SHOWN.values(), *index.STATED.values()):
        assert len({each.name for each in of_paper}) == len(of_paper)


def test_what_is_whole_and_what_is_in_part():
    """Ten rows lack something of the paper's protocol or data, and say what; the page counts them."""
    part = {(paper, each.name) for paper, shown in index.SHOWN.items() for each in shown if each.part}
    assert part == {
        *((index.BACH, f"Table {k}") for k in (1, 2)),
        *((index.DAVENPORT, name) for name in ("Figure 2", "Table 1", "Table 2", "Table 3", "Table 4")),
        *((index.YU, name) for name in ("Figure 2", "Table 1", "Table 2")),
    }
    page = index.page()
    assert "34 tables and figures: 24 whole, 10 in part." in page
    assert page.count("| in part; missing: ") == 10
    assert page.count("| whole |") == 24
    for each in SHOWN:  # numbers, and not the same words twice
        assert not re.fullmatch(r"\d+ rows|ranks of \d+ sets", each.ours)


@pytest.mark.parametrize("table", index.RANKS)
def test_ranks_and_significances_are_those_of_the_study(table):
    """The best mean rank in print and here, and p of the Friedman test, from the study's own file."""
    printed, _, ours, p = index.RANKS[table]
    file = ROOT / "docs" / "_static" / "davenport2010" / "table_1_2_3.csv"
    with file.open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["table"] == str(table)]
    for k, kind in enumerate([(c, d) for c in ("minimax", "np") for d in ("balanced", "unbalanced")]):
        own = [row for row in rows if (row["criterion"], row["data"]) == kind]
        assert min(float(row["printed"]) for row in own) == printed[k]
        assert min(float(row["rank"]) for row in own) == ours[k]
        assert float(f"{float(own[0]['p']):.2g}") == p[k]


@pytest.mark.parametrize("each", SHOWN, ids=lambda each: f"{each.name}-{each.command.split()[0]}")
def test_commands_and_pages_exist(each):
    script, *options = each.command.split()
    source = (ROOT / "examples" / "papers" / script).read_text(encoding="utf-8")
    for option in options:
        assert not option.startswith("--") or f'"{option}"' in source, option
    assert (ROOT / "docs" / "research" / each.page).is_file()


@pytest.mark.parametrize("each", STATED, ids=lambda each: each.test)
def test_tests_and_errata_exist(each):
    file, name = each.test.split("::")
    assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    for erratum in filter(None, each.erratum.split(", ")):
        assert f"| {erratum} |" in ERRATA


def test_the_gallery_shows_the_picture_of_every_figure():
    text = (ROOT / "docs" / "reference" / "gallery.md").read_text(encoding="utf-8")
    for paper, shown in index.SHOWN.items():
        figures = {each.name for each in shown if each.name.startswith("Figure")}
        assert set(index.PICTURES[paper]) == figures
        for picture in index.PICTURES[paper].values():
            assert (ROOT / "docs" / "_static" / picture).is_file()
            assert f":img-top: ../_static/{picture}" in text
            assert f":link: ../_static/{picture}" in text
