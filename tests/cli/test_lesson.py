"""``paretoclf lesson``: the notebook has the code of the page, and what that prints and draws."""

from __future__ import annotations

import base64
import json
import re
from itertools import groupby
from pathlib import Path

import nbformat
import pytest
from matplotlib import pyplot as plt

import paretoclf.cli.lesson as command
from paretoclf.cli import main

PAGES = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "lessons"
NAMES = [*command.all_lessons()]


def written(tmp_path, *arguments):
    assert main(["lesson", *arguments, "--out", str(tmp_path)]) == 0
    books = {file.stem: nbformat.read(file, as_version=4) for file in tmp_path.glob("*.ipynb")}
    for book in books.values():
        nbformat.validate(book)
    return books


def test_without_a_number_it_lists_what_there_is(capsys):
    assert main(["lesson"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [[str(k), name] for k, name in enumerate(NAMES, 1)]
    assert len(NAMES) == len([*PAGES.glob("*.md")]) - 1  # all but the index
    assert main(["lesson", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lessons"][1]["title"] == "Weak duality as a picture"


def test_a_notebook_has_the_outputs_of_its_cells_and_its_solutions_are_folded(tmp_path, capsys):
    plt.figure()  # somebody else's
    book = written(tmp_path, "2", "--png")["weak_duality"]
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == [*range(1, len(code) + 1)]
    printed = "".join(each.text for cell in code for each in cell.outputs if each.output_type == "stream")
    low, high = re.search(r"between (\S+) and (\S+)\n", printed).groups()
    assert low == high
    drawn = [each.data["image/png"] for cell in code for each in cell.outputs if "image/png" in each.get("data", {})]
    assert len(drawn) == 2
    for k, picture in enumerate(drawn, 1):
        content = (tmp_path / f"weak_duality_{k}.png").read_bytes()
        assert content == base64.b64decode(picture)
        assert content.startswith(b"\x89PNG")
    assert [dict(cell.metadata.jupyter) for cell in code if "hide-cell" in cell.metadata.get("tags", [])] == [
        {"source_hidden": True, "outputs_hidden": True}
    ] * 3
    assert "23 cells, run in" in capsys.readouterr().out


def test_every_page_is_a_notebook_with_the_same_code_and_text(tmp_path):
    for name, book in written(tmp_path, "all", "--no-run").items():
        page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
        cells = re.findall(r"^```\{code-cell\}\n(?::\w[^\n]*\n)*(.*?)^```", page, re.MULTILINE | re.DOTALL)
        assert [cell.source for cell in book.cells if cell.cell_type == "code"] == [each.strip() for each in cells]
        assert not any(cell.outputs for cell in book.cells if cell.cell_type == "code")
        prose = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
        first = page.split("---\n", 2)[2].partition("```{code-cell}")[0]
        words = [re.sub(r"[^\w\s]|\b(md|ipynb)\b", "", text).split() for text in (book.cells[0].source, first)]
        assert words[0] == words[1]
        assert "{code-cell}" not in prose
        assert set(re.findall(r"\]\(([^)]*)\)", prose)) <= {f"{each}.ipynb" for each in NAMES}
    assert sorted(file.stem for file in tmp_path.iterdir()) == sorted(NAMES)


def test_code_that_only_draws_is_folded():
    """Ten lines or more of it are in the way of whoever reads; what others need is never folded."""
    drawing = re.compile(r"plt\.|\bax\.|figure|legend|annotate|\.plot\(|label=|color=")
    for name in NAMES:
        for cell in command.cells_of((PAGES / f"{name}.md").read_text(encoding="utf-8")):
            if cell["cell_type"] == "code" and "tags" not in cell["metadata"]:
                lines = [line for line in cell["source"].splitlines() if drawing.search(line)]
                assert len(lines) < 10, (name, lines)


@pytest.mark.slow
def test_jupyter_itself_prints_the_same(tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.delenv("MPLBACKEND", raising=False)  # a kernel then shows its figures
    mine = written(tmp_path, "kkt")["kkt"]
    theirs = nbclient.NotebookClient(nbformat.read(tmp_path / "kkt.ipynb", as_version=4)).execute()
    for here, there in zip(mine.cells, theirs.cells, strict=True):
        if here.cell_type == "code":
            assert said(here) == said(there)


def said(cell):
    """What a cell puts out, by kind: a kernel may send what is printed in several parts."""
    parts = [(each.output_type, each.get("text")) for each in cell.outputs]
    together = groupby(parts, key=lambda part: part[0])
    return [
        (kind, "".join(text or "" for _, text in own) if kind == "stream" else len([*own])) for kind, own in together
    ]


def test_the_duality_picture_is_one_command(tmp_path, capsys):
    assert main(["lesson", "duality", "--out", str(tmp_path / "new")]) == 0
    assert capsys.readouterr().out.startswith("wrote")
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["duality.html"]


def test_a_cell_that_fails_is_named_and_nothing_is_written(tmp_path, monkeypatch, capsys):
    (tmp_path / "index.md").write_text("", encoding="utf-8")
    cells = "```{code-cell}\n1 + 1\n```\n```{code-cell}\nassert 1 == 2, 'no'\n```\n"
    (tmp_path / "odd.md").write_text(f"# 1. Odd\n\n{cells}", encoding="utf-8")
    monkeypatch.setattr(command, "FOLDERS", (tmp_path / "none", tmp_path))
    out = tmp_path / "out"
    assert main(["lesson", "1", "--out", str(out)]) == 1
    assert capsys.readouterr().err == "paretoclf: error: lesson odd, cell 2: AssertionError: no\n"
    assert not out.exists()


@pytest.mark.parametrize("given", [["0"], ["99"], ["weak"], ["2", "all"]])
def test_what_is_no_lesson_is_refused_in_one_line(given, tmp_path, capsys):
    assert main(["lesson", *given, "--out", str(tmp_path / "out")]) == 2
    assert "LESSON must be a number from 1 to 10, a name, all or duality, got" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
