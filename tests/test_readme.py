"""Every Python block of the README and the documentation runs, and so does every example."""

from __future__ import annotations

import math
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

from paretoclf.cli import main
from paretoclf.cli.lesson import cells_of
from tests.oracles.page_certificates import assert_proved, has_small_certificate, texts_of

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))


def blocks(page: Path) -> list[tuple[int, str]]:
    """First line and source of each Python block of a page."""
    text = page.read_text(encoding="utf-8")
    # Of a cell of a lesson without its options, lines as `:tags: [hide-cell]`.
    found = re.finditer(
        r"^```(?:python|\{code-cell\})[^\n]*\n(?::\w[^\n]*\n)*(.*?)^```", text, re.MULTILINE | re.DOTALL
    )
    return [(text.count("\n", 0, match.start(1)), match[1]) for match in found]


NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]\d+)?(?![\w])")


def agrees(printed: str, shown: str) -> bool:
    """Whether a page shows what its code prints, but for what is rounding: numbers below 1e-9 need only be that."""
    found, stated = (NUMBER.findall(text) for text in (printed, shown))
    same = len(found) == len(stated) and NUMBER.sub("#", printed).split() == NUMBER.sub("#", shown).split()
    near = lambda a, b: math.isclose(a, b, rel_tol=1e-5) or max(abs(a), abs(b)) < 1e-9  # noqa: E731
    return same and all(near(float(a), float(b)) for a, b in zip(found, stated, strict=True))


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "index.md"], ids=lambda p: p.name)
def test_a_front_page_begins_with_cvxpy_a_path_and_its_proof_in_twelve_lines(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    code = re.search(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
    shown = re.search(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
    assert len(code.splitlines()) <= 12
    assert all(word in code for word in ("import cvxpy", "pc.trace(", "path.proof"))
    assert not re.search("svm|svc|classif|margin", text[: text.index("```python")].split(". ")[0] + code, re.IGNORECASE)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert agrees(done.stdout, shown), done.stdout


def test_the_readme_shows_what_its_code_prints(tmp_path):
    """Each block of Python that is followed by a block of text, in order and in one process."""
    pytest.importorskip("daqp")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(found) >= 5
    code = "\n".join(source for source, _ in found)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert agrees(done.stdout, "".join(shown for _, shown in found)), done.stdout + done.stderr


def test_the_readme_shows_what_its_commands_print(tmp_path, capsys, monkeypatch):
    """Those of the workshop, from a folder that has the examples, and the checker in its own process."""
    pytest.importorskip("highspy")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.findall(
        r"^```bash\n([^`]*examples/shop[^`]*)```(?:\n\n```text\n(.*?)^```)?", text, re.MULTILINE | re.DOTALL
    )
    commands = [line for block, _ in found for line in block.splitlines()]
    assert [line.split()[1] for line in commands] == ["verify", "trace", "prove"]
    (tmp_path / "examples").mkdir()
    for name in ("shop.mps", "shop.csv"):
        (tmp_path / "examples" / name).write_bytes((ROOT / "examples" / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    status = main(shlex.split(commands[0].split(" ||")[0])[1:])
    assert agrees(f"{capsys.readouterr().out}exit status {status}\n", found[0][1])
    assert [main(shlex.split(line)[1:]) for line in commands[1:]] == [0, 0]
    shown = text[text.index("python3 -I check.py shop.proof.json") :].split("```text\n")[1].split("```")[0]
    check = [sys.executable, "-I", "check.py", "shop.proof.json"]
    assert subprocess.run(check, cwd="out", capture_output=True, text=True, check=True).stdout == shown


LESSONS = [p for p in PAGES if p.parent.name == "lessons" and p.stem != "index"]


def test_the_readme_the_tutorial_and_every_lesson_have_code():
    assert blocks(ROOT / "README.md")
    assert blocks(ROOT / "docs" / "tutorials" / "tutorial.md")
    assert len(LESSONS) == 18
    assert len(WORKED) == 18
    assert all(blocks(page) for page in LESSONS)


WORKED = [p for p in PAGES if p.parent.name == "examples" and p.stem != "index"]


@pytest.mark.parametrize("page", WORKED, ids=lambda p: p.name)
def test_an_example_has_formula_code_picture_and_proof_and_is_a_notebook(page):
    text = page.read_text(encoding="utf-8")
    assert text.startswith("---\nfile_format: mystnb\n")
    assert re.search(r"^\$\$\n.+\n\$\$$", text, re.MULTILINE)
    code = "".join(source for _, source in blocks(page))
    assert all(word in code for word in ("pc.trace(", "path.plot(", "path.proof", "path.compare("))
    assert f'<a href="{page.stem}.ipynb" download>' in text
    cells = cells_of(runpy.run_path(str(ROOT / "docs" / "pages.py"))["for_download"](text))
    assert sum(cell["cell_type"] == "code" for cell in cells) == len(blocks(page)) >= 3
    assert not any("download" in cell["source"] or "All examples" in cell["source"] for cell in cells)
    assert f"\n{page.stem}\n" in (page.parent / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", LESSONS, ids=lambda p: p.name)
def test_a_lesson_is_a_notebook_with_exercises_that_ends_with_the_way_on(page):
    text = page.read_text(encoding="utf-8")
    assert text.startswith("---\nfile_format: mystnb\n")  # otherwise the page shows no outputs
    assert "```python" not in text  # nor those of a block that is no cell
    exercises = text.split("## Exercises")[1]
    assert exercises.count(":tags: [hide-cell]") in (2, 3)  # the folded solutions
    assert re.search(r"\]\(\w+\.md\)[^\n]*\n*$", text)


#: Why a path, a map or ranges of a page may have no certificate.
NO_CERTIFICATE = (
    # Of the cart in how_to/maps.md: in fractions a border of the regions is not that of the rays beside it.
    "the regions do not cover what rays leave of the square",
)


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: p.name)
def test_the_code_of_a_page_runs_in_order(page, tmp_path, monkeypatch):
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT / "examples")
    namespace: dict[str, object] = {"__name__": "__main__"}
    try:
        for line, source in blocks(page):
            # Blank lines in front: a traceback then names the line of the page.
            exec(compile("\n" * line + source, str(page), "exec"), namespace)
    finally:
        plt.close("all")
    small = {name: made for name, made in namespace.items() if has_small_certificate(made)}
    texts, without = texts_of(small, tmp_path)
    assert_proved(texts.values(), tmp_path)
    for why in without.values():
        assert any(reason in why for reason in NO_CERTIFICATE), why


def test_there_is_an_example():
    assert EXAMPLES


@pytest.mark.slow
@pytest.mark.parametrize("script", EXAMPLES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_an_example_runs(script, tmp_path):
    environment = {**os.environ, "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
