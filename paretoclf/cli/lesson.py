"""``paretoclf lesson``: a lesson as a Jupyter notebook, made from its text and run here; or the duality picture."""

from __future__ import annotations

import argparse
import ast
import base64
import io
import json
import os
import re
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from paretoclf.cli.files import to_json
from paretoclf.cli.spelling import did_you_mean
from paretoclf.common.errors import InputError, ParetoclfError
from paretoclf.common.files import replacing
from paretoclf.common.progress import counted
from paretoclf.plotting import duality_page

#: The texts of the lessons: beside the package where it is installed, in the documentation of a clone.
FOLDERS = (Path(__file__).parents[1] / "lessons", Path(__file__).parents[2] / "docs" / "tutorials" / "lessons")

#: The folder of sheets of exercises in that of the lessons.
SHEETS = "exercises"

#: The end of the names of copies without solutions: they do not write over those that have them.
STUDENT = "_student"

#: What stands in such a copy where a solution was.
YOURS = "# Your answer:"

Cell = dict[str, Any]

_CODE = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
_FOLDED = {
    "hide-cell": {"source_hidden": True, "outputs_hidden": True},
    "hide-input": {"source_hidden": True},
}


def run_lesson(args: argparse.Namespace) -> int:
    """Run the subcommand; return its exit status."""
    lessons = all_lessons()
    if not args.lesson:
        entries = [{"number": k, "name": name, "title": title} for k, (name, title) in enumerate(lessons.items(), 1)]
        sheets = [{"name": name, "title": title} for name, title in all_sheets().items()]
        lines = [f"{each['number']}  {each['name']:<18} {each['title']}" for each in entries]
        lines += [f"{each['name']:<18}  {each['title']}" for each in sheets]
        print(to_json({"lessons": entries, "sheets": sheets}) if args.json else "\n".join(lines))
        return 0
    if args.lesson == ["duality"]:
        return _picture(args)
    report = []
    names, out = _asked(args.lesson, list(lessons)), Path(args.out)
    for name in names:
        kind = STUDENT if args.student else ""
        there = {each for each in lessons | all_sheets() if each in names or (out / f"{each}{kind}.ipynb").is_file()}
        began, cells = time.perf_counter(), cells_of(text_of(name), there)
        if args.student:
            cells, name = without_solutions(cells), f"{name}{STUDENT}"
        pictures = run_cells(cells, name) if args.run else []
        out.mkdir(parents=True, exist_ok=True)
        files = {out / f"{name}.ipynb": json.dumps(notebook(cells), indent=1).encode()}
        if args.png:
            files |= {out / f"{name}_{k}.png": picture for k, picture in enumerate(pictures, 1)}
        for file, content in files.items():
            with replacing(file) as temporary:
                temporary.write_bytes(content)
        seconds = time.perf_counter() - began
        report.append({"name": name, "files": [str(file) for file in files], "run": args.run, "seconds": seconds})
        if not args.json:
            how = f"run in {seconds:.1f} s" if args.run else "not run"
            print(f"wrote          {', '.join(map(str, files))}: {len(cells)} cells, {how}")
    if args.json:
        print(to_json({"lessons": report}))
    return 0


def _picture(args: argparse.Namespace) -> int:
    """Write the page to play with that goes with lessons 2 and 3."""
    out = Path(args.out) / "duality.html"
    out.parent.mkdir(parents=True, exist_ok=True)
    duality_page(out)
    print(to_json({"files": [str(out)]}) if args.json else f"wrote          {out}, for any browser")
    return 0


def _folder() -> Path:
    for folder in FOLDERS:
        if (folder / "index.md").is_file():
            return folder
    raise ParetoclfError(f"the texts of the lessons are not in {FOLDERS[0]}: install the package again")


def all_lessons() -> dict[str, str]:
    """Name -> title of each lesson, in order.

    Examples
    --------
    >>> from paretoclf.cli.lesson import all_lessons
    >>> list(all_lessons().items())[1]
    ('weak_duality', 'Weak duality as a picture')
    """
    found = {}
    for file in _folder().glob("*.md"):
        title = re.search(r"^# (\d+)\. (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
        if title:
            found[int(title[1])] = (file.stem, title[2])
    return dict(found[number] for number in sorted(found))


def all_sheets() -> dict[str, str]:
    """Name -> title of each sheet of exercises, in order.

    Examples
    --------
    >>> from paretoclf.cli.lesson import all_sheets
    >>> list(all_sheets().items())[0]
    ('week_1', 'Week 1: convex problems and certificates')
    """
    found = {}
    for file in sorted(_folder().joinpath(SHEETS).glob("week_*.md")):
        title = re.search(r"^# (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
        found[file.stem] = title[1] if title else file.stem
    return found


def text_of(name: str) -> str:
    """Return the text of a lesson or of a sheet."""
    folder = _folder() / SHEETS if name in all_sheets() else _folder()
    return folder.joinpath(f"{name}.md").read_text(encoding="utf-8")


def _asked(given: list[str], names: list[str]) -> list[str]:
    """Names of lessons that are asked for by number, by name, or all; and of sheets, by name."""
    if given == ["all"]:
        return names
    numbers = {str(k): name for k, name in enumerate(names, 1)}
    sheets = list(all_sheets())
    known = {*numbers, *names, *sheets}
    for each in given:
        if each not in known:
            allowed = f"a number from 1 to {len(names)}, a name, {sheets[0]} to {sheets[-1]}, or alone all or duality"
            raise InputError(f"LESSON must be {allowed}, got {each!r}{did_you_mean(each, [*names, *sheets])}")
    return [numbers.get(each, each) for each in given]


def cells_of(text: str, there: Collection[str] = ()) -> list[Cell]:
    """Cells of a page that is a notebook kept as text; links to those lessons that are there lead to their notebooks.

    Other links to pages and to headings are words.
    """
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    cells, end = [], 0
    for found in [*_CODE.finditer(text), None]:
        prose = text[end : found.start() if found else None].strip()
        if prose:
            for each in there:
                prose = re.sub(rf"\]\({each}\.md(#[^)]*)?\)", f"]({each}.ipynb)", prose)
            prose = re.sub(r"\[([^\]]*)\]\((?:(?:\w|\.\./)[\w./]*\.md)?(?:#[^)]*)?\)", r"\1", prose)
            cells.append({"cell_type": "markdown", "metadata": {}, "source": prose})
        if found:
            options, source = re.fullmatch(r"((?::\w[^\n]*\n)*)(.*)", found[1], re.DOTALL).groups()  # type: ignore[union-attr]
            tags = re.findall(r"hide-\w+", options)
            hidden = {key: value for tag in tags for key, value in _FOLDED[tag].items()}
            metadata = {"tags": tags, "jupyter": hidden} if tags else {}
            cells.append({"cell_type": "code", "metadata": metadata, "source": source.strip(), "outputs": []})
            end = found.end()
    return cells


def without_solutions(cells: list[Cell]) -> list[Cell]:
    """Return the cells of a copy to hand out: empty ones in place of solutions, links to other such copies."""
    answer = {"cell_type": "code", "metadata": {}, "source": YOURS, "outputs": []}
    links = re.compile(r"\]\((\w+)\.ipynb")
    copy = []
    for cell in cells:
        if "hide-cell" in cell["metadata"].get("tags", []):
            copy.append({**answer})
        else:
            source = links.sub(rf"](\1{STUDENT}.ipynb", cell["source"])
            copy.append({**cell, "source": source})
    return copy


def run_cells(cells: list[Cell], name: str) -> list[bytes]:
    """Run a notebook's code from top to bottom, put what it prints and draws into its outputs, return the pictures."""
    from matplotlib import pyplot as plt

    plt.switch_backend("Agg")
    plt.close("all")  # figures of before are none of the lesson's
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    namespace: dict[str, Any] = {"__name__": "__main__"}
    pictures = []
    with TemporaryDirectory() as room, chdir(room), _words_of_solvers_aside():
        for number, cell in enumerate(counted(code, f"lesson {name}", len(code), None), 1):
            try:
                cell["outputs"] = list(_outputs(cell["source"], namespace, number))
            except Exception as error:
                raise ParetoclfError(f"lesson {name}, cell {number}: {type(error).__name__}: {error}") from error
            finally:
                plt.close("all")
            cell["execution_count"] = number
            shown = [each["data"] for each in cell["outputs"] if "data" in each]
            pictures += [base64.b64decode(data["image/png"]) for data in shown if "image/png" in data]
    return pictures


@contextmanager
def _words_of_solvers_aside() -> Iterator[None]:
    """Send the output of compiled code to stderr: stdout is for our report."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _outputs(source: str, namespace: dict[str, Any], number: int) -> Iterator[Cell]:
    """Run a cell, and yield its output, the value of its last expression, and its figures."""
    from matplotlib import pyplot as plt

    tree = ast.parse(source)
    last: ast.stmt | None = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        last = tree.body.pop()
    printed, value = io.StringIO(), None
    with redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), namespace)
    if printed.getvalue():
        yield {"output_type": "stream", "name": "stdout", "text": printed.getvalue()}
    if value is not None:
        data = {"text/plain": repr(value)}
        for kind, method in (("text/html", "_repr_html_"), ("text/markdown", "_repr_markdown_")):
            if hasattr(value, method):
                data[kind] = getattr(value, method)()
        yield {"output_type": "execute_result", "execution_count": number, "data": data, "metadata": {}}
    for figure in map(plt.figure, plt.get_fignums()):
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=100, bbox_inches="tight", metadata={"Software": None})
        data = {"image/png": base64.b64encode(picture.getvalue()).decode(), "text/plain": repr(figure)}
        yield {"output_type": "display_data", "data": data, "metadata": {}}


def notebook(cells: list[Cell]) -> dict[str, Any]:
    """The file's content: Jupyter's format 4.5."""
    language = {"name": "python", "version": ".".join(map(str, sys.version_info[:3]))}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": kernel, "language_info": language},
        "cells": [
            {"id": f"cell-{k}", **({"execution_count": None} if cell["cell_type"] == "code" else {}), **cell}
            for k, cell in enumerate(cells, 1)
        ],
    }
