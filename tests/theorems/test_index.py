"""docs/reference/reproduced.md: it is what `examples/papers/index.py` prints, and all that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from examples.papers import index
from tests.theorems.test_errata import ERRATA

ROOT = Path(__file__).resolve().parents[2]
SHOWN = [each for of_paper in index.SHOWN.values() for each in of_paper]
STATED = [each for of_paper in index.STATED.values() for each in of_paper]


def test_the_page_is_what_the_script_prints():
    assert (ROOT / "docs" / "reference" / "reproduced.md").read_text(encoding="utf-8") == index.page()


def test_every_item_of_the_papers_is_there():
    """34 tables and figures, 28 numbered statements, 3 algorithms; none twice."""
    assert len(SHOWN) == 34
    algorithms = [each for each in STATED if each.name.startswith("Algorithm")]
    assert (len(STATED) - len(algorithms), len(algorithms)) == (28, 3)
    for of_paper in (*index.SHOWN.values(), *index.STATED.values()):
        assert len({each.name for each in of_paper}) == len(of_paper)


@pytest.mark.parametrize("each", SHOWN, ids=lambda each: f"{each.name}-{each.command.split()[0]}")
def test_commands_and_pages_exist(each):
    script, *options = each.command.split()
    source = (ROOT / "examples" / "papers" / script).read_text(encoding="utf-8")
    for option in options:
        assert not option.startswith("--") or f'"{option}"' in source, option
    assert (ROOT / "docs" / "reference" / each.page).is_file()


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
