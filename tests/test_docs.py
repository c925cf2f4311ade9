"""What the pages say that can be checked without building them."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

from tests.oracles.public import everything

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if not {"_build", "_generated", "generated"} & set(page.parts)]
COMMANDS = re.compile(r"^```(?:bash|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PLACE = re.compile(r"(?<![\w/.])(?:docs|tests|examples|paretoclf|\.ci)/[\w/.-]+")
PICTURE = re.compile(r"!\[[^\]]*\]\((\S+\.png)\)|^:img-top: (\S+\.png)|<img src=\"(\S+\.png)\"", re.MULTILINE)


def listed(page):
    """Names in the tables of a page of the reference."""
    text = (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")
    return re.findall(r"^   ([a-zA-Z_][\w.]*)$", text, re.MULTILINE)


def test_every_public_name_has_a_page_of_its_own():
    names = listed("api.md")
    assert len(names) == len(set(names))
    assert set(names) == set(everything())


def test_the_pages_of_the_modules_are_of_modules():
    for name in listed("modules.md"):
        path = ROOT.joinpath(*name.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__init__.py").is_file(), name


def test_every_picture_is_there_and_has_its_command_beside_it():
    there = set((ROOT / "docs" / "_static").rglob("*.png"))
    if not there and not (ROOT / ".git").exists():
        pytest.skip("a source distribution has no pictures")
    seen = set()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in PICTURE.finditer(text):
            name = next(filter(None, found.groups()))
            file = (page.parent / name).resolve()
            assert file.is_file(), f"{page.name}: {name}"
            seen.add(file)
            after = text[found.end() :].split("\n![")[0].split("\n:::{")[0][:600]
            assert re.search(r"`[^`]*(python examples|paretoclf|chromium|savefig)[^`]*`", after), f"{page.name}: {name}"
    assert seen == there, "pictures that no page shows"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_pages_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists() or target.startswith("_generated"), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_name_files_that_are_there(page):
    for commands in COMMANDS.findall(page.read_text(encoding="utf-8")):
        for place in PLACE.findall(commands):
            assert (ROOT / place).exists() or place.startswith("docs/_build"), f"{page.name}: {place}"


def test_every_thread_that_is_told_has_a_command_and_something_asserted():
    """Links are the addresses of public threads; a verdict on another code is printed, and not asserted."""
    text = (ROOT / "docs" / "reference" / "asked.md").read_text(encoding="utf-8")
    sections = text.split("\n## ")[1:]
    assert len(sections) == 10
    for section in sections:
        assert re.search(r"\]\(https://github\.com/[\w.-]+/[\w.-]+/issues/\d+\)", section), section[:80]
        code = "".join(re.findall(r"^```\{code-cell\}\n(.*?)^```", section, re.MULTILINE | re.DOTALL))
        assert "pc.trace(" in code or "pc.verify(" in code, section[:80]
    assert not re.search(r"^> ", text, re.MULTILINE)  # nothing is quoted


#: What a user has to read, at most: README, the first page, how-tos, and tutorials but for the lessons.
A_USERS_WAY = [
    ROOT / "README.md",
    ROOT / "docs" / "index.md",
    *(each for folder in ("how_to", "tutorials") for each in (ROOT / "docs" / folder).glob("*.md")),
]


def test_a_users_way_is_short_and_does_not_lead_through_research_notes():
    texts = {page: page.read_text(encoding="utf-8") for page in A_USERS_WAY}
    assert len(texts) <= 45
    assert sum(len(text.split()) for text in texts.values()) <= 40_000
    notes = [page.name for page, text in texts.items() if page.parent.name != "docs" and "](../research/" in text]
    assert notes == []
    benchmarks = (ROOT / "docs" / "research" / "benchmarks.md").read_text(encoding="utf-8")
    assert len(benchmarks.split()) <= 2000


WORDS = runpy.run_path(str(ROOT / "docs" / "pages.py"))["WORDS"]


@pytest.mark.parametrize("word", WORDS)
def test_what_people_look_for_stands_at_the_top_of_the_page_that_answers_it(word):
    """In its title, a heading or its first paragraph, and in its index; a build holds its place in the search."""
    text = (ROOT / "docs" / f"{WORDS[word]}.md").read_text(encoding="utf-8")
    plain = re.sub(r"^```.*?^```|^---.*?^---", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", plain, re.MULTILINE)
    first = next(part for part in re.split(r"\n{2,}", plain.strip()) if not part.startswith("#"))
    assert word.lower() in " | ".join([*headings, first]).lower()
    assert re.search(rf"^```\{{index\}}.*! {re.escape(word)}(,|$)", text, re.MULTILINE | re.IGNORECASE)


def test_every_page_of_the_two_trees_is_in_them_once():
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    trees = re.findall(r"^```\{toctree\}\n:hidden:\n:caption: ([^\n]*)\n\n([^`]*)^```", text, re.MULTILINE)
    assert [name for name, _ in trees] == ["Programs", "Classifiers", "Learn, and look up", "Research notes"]
    pages = [page for _, tree in trees for page in tree.split()]
    assert len(pages) == len(set(pages))
    assert {page.stem for page in A_USERS_WAY if page.parent.name == "how_to"} == {
        page.removeprefix("how_to/") for page in pages if page.startswith("how_to/")
    }
    assert all(f"]({page}.md)" in text for page in pages if page not in ("reference/index",))


def test_the_readme_comes_to_results_on_the_first_screens():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    for shown, at in {"Optimal at every t": 25, "not optimal to": 60}.items():
        assert next(i for i, line in enumerate(lines) if shown in line) < at
    for who in ("For modellers", "For authors of path solvers", "For lecturers"):
        assert next(i for i, line in enumerate(lines) if who in line) < 30
    table = [line for line in lines if line.startswith("| ") and "`" in line]
    assert len(table) == 9
    assert all("](docs/" in line for line in table)


def test_ci_runs_the_commands_of_the_readme_as_they_stand():
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [
        line
        for block in re.findall(r"^```bash\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        for line in block.splitlines()
    ]
    assert len(commands) >= 5
    for command in commands:
        assert command in run


def test_the_documentation_is_that_of_the_installed_package(monkeypatch):
    """The checkout has no compiled tracker: a build that imports it traces with the textbook's, and warns."""
    conf = ROOT / "docs" / "conf.py"
    lines = conf.read_text(encoding="utf-8").splitlines()
    last = next(k for k, line in enumerate(lines) if line.startswith("sys.path[:] = "))
    assert not any("import paretoclf" in line for line in lines[: last + 1])
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", ["", str(ROOT), "/elsewhere", str(ROOT / "docs" / "..")])
    exec("\n".join(lines[: last + 1]), {"__file__": str(conf)})
    assert sys.path == [str(ROOT / "docs"), "/elsewhere"]
