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

import paretoclf as pc
import paretoclf.cli.lesson as command
from paretoclf.cli import main
from paretoclf.cli.sheet import what_is_said

PAGES = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "lessons"
NAMES = [*command.all_lessons()]
SHEETS = [*command.all_sheets()]


def written(tmp_path, *arguments):
    assert main(["lesson", *arguments, "--out", str(tmp_path)]) == 0
    books = {file.stem: nbformat.read(file, as_version=4) for file in tmp_path.glob("*.ipynb")}
    for book in books.values():
        nbformat.validate(book)
    return books


def test_without_a_number_it_lists_what_there_is(capsys):
    assert main(["lesson"]) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = [line.split()[:2] for line in lines[: len(NAMES)]]
    assert listed == [[str(k), name] for k, name in enumerate(NAMES, 1)]
    assert [line.split()[0] for line in lines[len(NAMES) :]] == SHEETS == [f"week_{k}" for k in range(1, 7)]
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


def test_a_copy_for_students_has_all_but_the_solutions_and_runs(tmp_path, capsys):
    written(tmp_path, "kkt", "--no-run")
    written(tmp_path, "kkt", "--no-run", "--student")
    capsys.readouterr()
    whole, copy = written(tmp_path, "2")["weak_duality"], written(tmp_path, "2", "--student")["weak_duality_student"]
    assert "weak_duality_student.ipynb: 23 cells, run in" in capsys.readouterr().out
    for here, there in zip(whole.cells, copy.cells, strict=True):
        if "hide-cell" in here.metadata.get("tags", []):
            assert (there.source, there.outputs, dict(there.metadata)) == ("# Your answer:", [], {})
        elif here.cell_type == "code":
            assert (there.source, said(there)) == (here.source, said(here))
        else:
            assert there.source == here.source.replace(".ipynb", "_student.ipynb")
    assert "](kkt_student.ipynb)" in copy.cells[-1].source
    assert "](kkt.ipynb)" in whole.cells[-1].source  # the other file is as it was


def test_links_of_a_notebook_lead_to_notebooks_that_are_there(tmp_path):
    def links(folder, *given):
        books = written(tmp_path / folder, *given, "--no-run")
        prose = "\n".join(cell.source for book in books.values() for cell in book.cells)
        return set(re.findall(r"\]\(([^)]*)\)", prose)), prose

    alone, prose = links("alone", "2")
    assert alone == set()
    assert "3. KKT as a table one can read." in prose
    assert links("sheet", "week_1", "--student")[0] == set()
    assert links("both", "2", "3", "--student")[0] == {"kkt_student.ipynb", "weak_duality_student.ipynb"}


@pytest.mark.parametrize("name", NAMES)
def test_nothing_but_solutions_comes_after_the_first_solution(name):
    """So a copy without them runs, whatever they define."""
    cells = command.cells_of((PAGES / f"{name}.md").read_text(encoding="utf-8"))
    solutions = ["hide-cell" in cell["metadata"].get("tags", []) for cell in cells if cell["cell_type"] == "code"]
    assert any(solutions)
    assert sorted(solutions) == solutions
    assert not any(cell["metadata"].get("tags") == ["hide-cell"] for cell in command.without_solutions(cells))


@pytest.fixture(scope="module")
def lesson_and_solutions():
    """The names that a lesson has defined when its exercises begin, and the sources of their solutions."""
    known = {}

    def of(name):
        if name not in known:
            cells = command.cells_of((PAGES / f"{name}.md").read_text(encoding="utf-8"))
            code = [cell for cell in cells if cell["cell_type"] == "code"]
            solutions = [cell["source"] for cell in code if "hide-cell" in cell["metadata"].get("tags", [])]
            namespace = {"__name__": "__main__"}
            for cell in code[: -len(solutions)]:
                exec(cell["source"], namespace)
            plt.close("all")
            known[name] = namespace, solutions
        return known[name]

    return of


WRONG = [
    ("farkas", 0, "ray = [1, 0.5, 0.5]", "ray = [1, 0.5, 1]"),
    ("farkas", 0, "ray = [1, 0.5, 0.5]", "ray = [-1, -0.5, -0.5]"),
    ("farkas", 0, "[30, 30]", "[40, 20]"),
    ("farkas", 1, "{bread: 20, cake: 40}", "{bread: 0, cake: 60}"),
    ("farkas", 1, '"oven": 2, "orders": 3', '"oven": 1, "orders": 2.5'),
    ("farkas", 2, "limit, [1])", "limit, [0])"),
    ("cones", 0, "[[0.5, -0.5], [-0.5, 0.5]]", "[[1, 0], [0, 0]]"),
    ("cones", 0, "exercise, {t: 1}", "exercise, {t: 0.9}"),
    ("cones", 1, "forces[2] = -forces[:2].sum(axis=0)", "forces[2] = forces[:2].sum(axis=0)"),
    ("strong_duality", 0, '{"between": 2}).verdict', '{"between": 1}).verdict'),
    ("dual_step_by_step", 0, "cp.sum_squares(y) / 4", "cp.sum_squares(y) / 2"),
    ("dual_step_by_step", 1, "a @ pull", "a @ -pull"),
    ("dual_step_by_step", 2, "cp.square(s) / 4", "cp.square(s) / 2"),
    ("strong_duality", 2, "np.diag([1.0, 0.0, 1.0])", "np.diag([1.0, 0.0, 0.5])"),
    ("certificates", 0, "[2, 1]}, {total: -4}))", "[1, 2]}, {total: -4}))"),
    ("certificates", 1, "abs(v[0] - v[1])", "-abs(v[0] - v[1])"),
    ("certificates", 2, "Fraction(-1, 3)", "Fraction(-1, 4)"),
    ("conditions", 0, "(2.0, 4.5, 2)", "(2.0, 4.0, 3)"),
    ("conditions", 1, "7 / 3 * 4", "7 / 3 * 3"),
    ("conditions", 2, "level = 0.5", "level = 1.0"),
    ("matrix_game", 0, "[0.25, 0.25, 0.5]", "[0.5, 0.25, 0.25]"),
    ("matrix_game", 1, "practice * p[1]", "practice * p[2]"),
    ("matrix_game", 2, "(1 - x_) ** 2", "(1 + x_) ** 2"),
]


@pytest.mark.parametrize(("name", "exercise", "right", "wrong"), WRONG)
def test_solutions_pass_and_wrong_answers_do_not(name, exercise, right, wrong, lesson_and_solutions, capsys):
    namespace, solutions = lesson_and_solutions(name)
    source = solutions[exercise]
    assert right in source
    exec(source, {**namespace})
    with pytest.raises(AssertionError):
        exec(source.replace(right, wrong), {**namespace})


@pytest.fixture(scope="module")
def sheet():
    """The names that a sheet has defined at its end, and the sources of its cells."""
    known = {}

    def of(name):
        if name not in known:
            cells = [cell for cell in command.cells_of(command.text_of(name)) if cell["cell_type"] == "code"]
            namespace = {"__name__": "__main__"}
            for cell in cells:
                exec(cell["source"], namespace)
            known[name] = namespace, cells
        return known[name]

    return of


@pytest.mark.parametrize("name", SHEETS)
def test_every_exercise_of_a_sheet_is_solved_and_all_but_the_solutions_is_in_the_copy(name, sheet, tmp_path, capsys):
    namespace, cells = sheet(name)
    count = len(namespace["exercises"])
    assert capsys.readouterr().out.splitlines()[-1] == f"{count} of {count} are right"
    assert [*namespace["answers"]] == [*namespace["exercises"]]
    book = written(tmp_path, name, "--student")[f"{name}_student"]
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert [cell.source == command.YOURS for cell in code] == [
        "hide-cell" in c["metadata"].get("tags", []) for c in cells
    ]
    names = ", ".join(namespace["exercises"])
    assert said(code[-1]) == [("stream", f"No answer yet: {names}.\n0 of {count} are right\n")]
    marks = [k for k, cell in enumerate(book.cells) if cell.source == command.YOURS]
    assert all("exercises[" in book.cells[k - 1].source for k in marks)  # each belongs to an exercise
    headings = re.findall(r"^## \d+\. (.*)$", command.text_of(name), re.MULTILINE)
    assert [heading.lower() for heading in headings] == [*namespace["exercises"]]


def test_the_last_cell_of_a_sheet_takes_what_grade_takes_and_goes_on_after_errors(sheet):
    """Of six answers three are right; the others are told, and the exercises without one."""
    namespace, _ = sheet("week_2")
    right = namespace["answers"]
    given = {
        "trucks": "infeasible",
        "A diet": right["a diet"],
        "weights": {"values": {"y": "one half"}},
        "equations": right["equations"],
        "two depots": right["two depots"],
        "a workshop": 3,
    }
    lines = what_is_said(namespace["exercises"], given).splitlines()
    starts = [
        "trucks: Right: ",
        "A diet: no exercise has this name: did you mean a diet?",
        "weights: not judged, ",
        "equations: It has the same value as the primal",
        "two depots: Right: ",
        'a workshop: not judged, an answer must be {"values": ...}',
        "No answer yet: a diet, the highest of four lines, a flow and a cut.",
        "3 of 8 are right",
    ]
    assert [line[: len(start)] for line, start in zip(lines, starts, strict=True)] == starts
    with pytest.raises(pc.InputError, match="answers must be a dict by the names of exercises, got 'infeasible'"):
        what_is_said(namespace["exercises"], "infeasible")


def test_a_sheet_that_is_handed_in_with_its_solutions_has_all_points(tmp_path, capsys):
    """Those of week 4, which have values, multipliers and duals."""
    written(tmp_path / "in", "week_4", "--no-run")
    (tmp_path / "in" / "week_4.ipynb").rename(tmp_path / "in" / "ada.ipynb")
    capsys.readouterr()
    assert main(["grade", "week_4", str(tmp_path / "in"), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert len(rows) == 6
    assert all(row["points"] == row["of"] for row in rows)


def test_the_course_has_sixty_exercises_and_a_third_of_them_are_duals(sheet):
    """Those of the sheets, the ten duals of a lesson, and three or two of each other lesson of programs."""
    answers = [answer for name in SHEETS for answer in sheet(name)[0]["answers"].values()]
    duals = sum("dual" in answer for answer in answers)
    assert (len(answers), duals) == (44, 16)
    lessons = "certificates farkas strong_duality matrix_game conditions how_far cones between_two_proofs"
    folded = sum(command.text_of(name).count(":tags: [hide-cell]") for name in lessons.split())
    whole = len(answers) + folded + 10
    assert whole == 75
    assert duals + 10 + 1 >= whole / 3


#: Sheet, exercise, and a wrong answer to it.
WRONG_ANSWERS = [
    ("week_1", "a road", {"values": {"x": [3, 1]}, "duals": {"road": -2}}),
    ("week_1", "four shops", {"values": {"place": 7.5}}),
    ("week_1", "too much", {"values": {"x": [1, 2]}}),
    ("week_1", "no end", {"ray": {"x": [1, 0]}}),
    ("week_2", "two depots", {"values": {"x": [[0, 6], [4, 0]]}}),
    ("week_2", "a diet", {"values": {"x": [3, 2]}, "duals": {"protein": 1 / 3, "fibre": 4 / 3, "signs": [0, 0]}}),
    ("week_3", "a disc", {"values": {"x": [-1, -1]}, "duals": {"disc": 1}}),
    ("week_4", "two coins", {"values": {"q": [0.5, 0.5], "v": 0.5}}),
    ("week_4", "tight, and free", {"values": {"x": [0, 1]}, "duals": {"line": 1, "sign": 1}}),
    ("week_5", "at the kink", {"values": {"x": [4, 0]}, "duals": {"demand": 6, "cheap": 4, "signs": [0, -1]}}),
    ("week_6", "the largest eigenvalue", {"values": {"t": 5}, "duals": {"above": [[0.5, 0.5], [0.5, 0.5]]}}),
    ("week_6", "out of reach", {"values": {"x": [1, 1], "t": 1}}),
]


@pytest.mark.parametrize(("name", "exercise", "answer"), WRONG_ANSWERS)
def test_a_wrong_answer_to_an_exercise_of_a_sheet_is_not_right(name, exercise, answer, sheet):
    assert pc.grade(sheet(name)[0]["exercises"][exercise], **answer).verdict not in ("right", "same value")


#: Sheet, exercise, and a slip in its dual.
SLIPS = [
    ("week_1", "the shortest", "25 / 4", "25 / 2"),
    ("week_2", "equations", "u[0] + u[1] <= 3", "u[0] - u[1] <= 3"),
    ("week_2", "the highest of four lines", "s * p[2]", "s * p[3]"),
    ("week_2", "a flow and a cut", "r * fall[4]", "2 * fall[4]"),
    ("week_3", "outliers", "norm_inf(y) <= 2", "norm_inf(y) <= 1"),
    ("week_3", "a quantile", "tau - 1", "-tau"),
    ("week_3", "an elastic net", "- lam)) / 2", "- lam))"),
    ("week_3", "a bet", "-r * cp", "-2 * r * cp"),
    ("week_3", "a ball", "- r * m", "- m"),
    ("week_4", "the smallest circle", "h * p[0]", "h * p[1]"),
    ("week_4", "a player who likes to mix", "log_sum_exp(-g)", "log_sum_exp(g)"),
    ("week_5", "two demands", "pull / 2", "pull"),
    ("week_5", "the level itself", "b * lam", "2 * b * lam"),
    ("week_6", "the shortest vector", "norm2(pull) <= 1", "norm1(pull) <= 1"),
    ("week_6", "ones on the diagonal", "C - cp.diag(y) >> 0", "C + cp.diag(y) >> 0"),
    ("week_6", "with a safety margin", "rho * m", "m"),
]


@pytest.mark.parametrize(("name", "exercise", "right", "slip"), SLIPS)
def test_a_slip_in_a_dual_of_a_sheet_is_seen(name, exercise, right, slip, sheet):
    namespace, cells = sheet(name)
    index = [*namespace["exercises"]].index(exercise)
    stated, solved = (cell["source"] for cell in cells[1 + 2 * index : 3 + 2 * index])
    assert right in solved
    own = {**namespace, "answers": {}, "exercises": {}}
    exec(stated, own)
    exec(solved.replace(right, slip), own)
    assert pc.grade(own["exercises"][exercise], **own["answers"][exercise]).verdict != "same value"


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
    allowed = f"a number from 1 to {len(NAMES)}, a name, week_1 to week_6, or alone all or duality"
    assert f"LESSON must be {allowed}, got" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("given", "end"),
    [
        ("week2", "got 'week2': did you mean week_2?"),
        ("Farkas", "got 'Farkas': did you mean farkas?"),
        ("week_7", "got 'week_7'"),  # as near to each of the six
        ("zzz", "got 'zzz'"),
    ],
)
def test_a_name_that_is_near_is_proposed(given, end, capsys):
    assert main(["lesson", given]) == 2
    assert capsys.readouterr().err.endswith(f"{end}\n")
