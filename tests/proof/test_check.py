"""Each field of a certificate file that is wrong, with its hash renewed, is refused, and what is printed is true.

The counterpart of tests/proof/files/test_certificate_file.py: there solutions are broken, here what they are solutions
of, and what a reader compares a file with.
"""

from __future__ import annotations

import copy
import itertools
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.cli import main
from paretoclf.proof import check, check_gap, check_ray
from paretoclf.proof.files.bounded_points import one_point
from paretoclf.proof.files.certificate_file import bounded, certificate, digest, save_solution, write_content
from paretoclf.proof.files.stated_problems import labels_of

CHECKERS = {"check": check, "check_gap": check_gap, "check_ray": check_ray}
EXACT = ("program", "2C-SVM", "2nu-SVM", "quantile SVM", "margins")

LINE = [[0.0], [1.0], [2.0], [3.0]]
LABELS = [-1, 1, -1, 1]
NONE = [[None], [None]]


def problem_of(kind):
    """A small problem of each kind."""
    samples = {"y": LABELS, "positive": "1", "about": "by hand"}
    caps = [[0.25] * 4, [1.0] * 4]
    return {
        "2C-SVM": {"kind": kind, "X": LINE, "caps": caps, **samples},
        "2nu-SVM": {"kind": kind, "X": LINE, "caps": caps, "sums": [["1/4"] * 2, [1, 1]], **samples},
        "quantile SVM": {"kind": kind, "X": LINE, "caps": caps, "lam": 0.5, "bias": True, **samples},
        "margins": {"kind": kind, "X": LINE, "q": [[-1] * 4, [-2] * 4], "diagonal": [0.5] * 4, **samples},
        "program": {
            "kind": kind,
            "K": [[1], [0, 2]],
            "A": [[1, 1]],
            "q": [[-1, -2], [1, "1/2"]],
            "lower": [[0, None, 0], [0, None, 0]],
            "upper": [[2, 3, None], [2, 3, None]],
            "below": [[1, None, 2], [1, None, 3]],
            "above": [[2, 2, None], [1, 2, None]],
            "about": "by hand",
        },
    }[kind]


@pytest.fixture(scope="module")
def files():
    """A valid file of each kind, and a bounded one."""
    found = {kind: certificate(problem_of(kind), [], progress=False) for kind in EXACT}
    problem, alpha = problem_of("2C-SVM"), np.array([0.125, 0.25, 0.25, 0.125])
    problem["caps"] = [[0.25] * 4] * 2
    labels = labels_of(problem, alpha, 1)
    found["bounded"] = bounded(problem, one_point(alpha, labels), [labels])
    hard = {**problem_of("program"), "below": [[None] * 3] * 2, "above": [[None] * 3] * 2}
    hard |= {"q": [[-1, -2]] * 2, "lower": [[0, 0, 0]] * 2, "upper": [[2, 3, 5]] * 2}
    points = [[0, [[0, 1], [1, 1]], [0]], [1, [], [0]]]
    content = {"format": "bounded certificate 1", "problem": hard, "stretch": 0, "points": points}
    found["bounded program"] = {**content, "sha256": digest(hard)}
    return json.loads(json.dumps(found))


def said(content, folder, *options, script=None):
    """What the checker prints of a content, with its hash renewed."""
    script = script or ("check" if content["format"].startswith("exact") else "check_gap")
    text = json.dumps({**content, "sha256": digest(content["problem"])})
    return said_of_text(text, folder, *options, script=script)


def said_of_text(text, folder, *options, script="check"):
    """The same of the text of a file."""
    (folder / "file.json").write_text(text)
    try:
        return CHECKERS[script].main(str(folder / "file.json"), *map(str, options))
    except Exception as error:
        return f"NOT PROVED: {error!r}"


def proved(words):
    """Whether it says so, and nothing that is no line of ours."""
    return words.startswith("PROVED without rounding: ")


def changed(content, **fields):
    """A copy with other fields of its problem; those that are `...` are left out."""
    new = copy.deepcopy(content)
    new["problem"] = {k: v for k, v in {**new["problem"], **fields}.items() if v is not ...}
    return new


def own(folder, rows, name="own.csv"):
    """A CSV file of the reader."""
    (folder / name).write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return folder / name


def test_the_files_of_this_test_are_proved(files, tmp_path):
    for kind, content in files.items():
        assert proved(said(content, tmp_path)), kind


# ---- fields ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*EXACT, "bounded", "bounded program"])
def test_a_field_that_is_missing_or_has_no_meaning_is_refused(kind, files, tmp_path):
    content = files[kind]
    optional = {"about", "positive", "diagonal"} - ({"diagonal"} if kind == "margins" else set())
    for field in content["problem"]:
        if field not in optional:
            assert not proved(said(changed(content, **{field: ...}), tmp_path)), field
    n = 2 if "program" in kind else 4
    every = {
        "X": LINE[:n],
        "K": [[1] * (i + 1) for i in range(n)],
        "y": [1] * n,
        "positive": "1",
        "caps": [[1] * n] * 2,
        "sums": [[1, 1]] * 2,
        "lam": 1,
        "bias": False,
        "q": [[1] * n] * 2,
        "A": [],
        "lower": [[0] * n] * 2,
        "upper": [[1] * n] * 2,
        "below": [[None] * n] * 2,
        "above": [[None] * n] * 2,
        "Diagonal": [0] * n,
    }
    for field, value in every.items():
        if field not in content["problem"]:
            assert not proved(said(changed(content, **{field: value}), tmp_path)), field
    assert proved(said(changed(content, about=...), tmp_path))
    for field in ("ray" if "bounded" in kind else "points", "stretch" if "bounded" not in kind else "segments", "note"):
        assert "a field has no meaning" in said({**content, field: []}, tmp_path), field


def places(node, at=()):
    """Where a problem has a number."""
    if isinstance(node, list | dict):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from places(value, (*at, key))
    elif at[0] not in ("kind", "about", "positive", "bias"):
        yield at


def put(content, at, value):
    """A copy with another value in one place of the problem."""
    new = copy.deepcopy(content)
    node = new["problem"]
    for key in at[:-1]:
        node = node[key]
    node[at[-1]] = value
    return new


@pytest.mark.parametrize(
    "value", ["", [], {}, False, True, "1e0", " 1", "1.0", "x", "-", "1/0", float("nan")], ids=repr
)
@pytest.mark.parametrize("kind", [*EXACT, "bounded"])
def test_nothing_else_counts_as_a_number(kind, value, files, tmp_path):
    for at in places(files[kind]["problem"]):
        assert not proved(said(put(files[kind], at, value), tmp_path)), at


@pytest.mark.parametrize("kind", EXACT)
def test_null_is_no_number_but_of_a_bound_or_price_at_both_ends(kind, files, tmp_path):
    for at in places(files[kind]["problem"]):
        assert not proved(said(put(files[kind], at, None), tmp_path)) or put(files[kind], at, None) == files[kind], at


def test_null_at_one_end_of_a_bound_or_price_is_refused(tmp_path):
    """min (x - 0)^2 / 2 with x >= 5 at t = 1 alone: the value there is 12.5, not 0."""
    one = {"kind": "program", "K": [[1]], "A": [], "q": [[0], [0]]}
    free = {"lower": NONE, "upper": NONE, "below": NONE, "above": NONE}
    segments = {"format": "exact certificate 1", "segments": ["i"]}
    assert proved(said({**segments, "problem": {**one, **free}}, tmp_path))
    for side in check.SIDES:
        for ends in ([[None], [5]], [[5], [None]]):
            assert not proved(said({**segments, "problem": {**one, **free, side: ends}}, tmp_path)), (side, ends)


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("2C-SVM", "caps", {"0": [1] * 4, "1": [1] * 4}),
        ("2C-SVM", "caps", ["1111", "1111"]),
        ("2C-SVM", "caps", [[0.25] * 4, [1.0] * 4, [2.0] * 4]),
        ("2C-SVM", "X", ["0", "1", "2", "3"]),
        ("2C-SVM", "X", {"0": 1}),
        ("2C-SVM", "y", [1, -1, 1]),
        ("2C-SVM", "y", ["1", "-1", "1", "-1"]),
        ("2C-SVM", "y", [1.0, -1.0, 1.0, -1.0]),
        ("2C-SVM", "y", [True, -1, 1, -1]),
        ("2C-SVM", "diagonal", "1111"),
        ("2C-SVM", "diagonal", [-1, 0, 0, 0]),
        ("2C-SVM", "diagonal", [0, 0, 0]),
        ("2C-SVM", "diagonal", []),
        ("2C-SVM", "positive", 1),
        ("2C-SVM", "positive", True),
        ("2C-SVM", "about", ["PROVED"]),
        ("2nu-SVM", "sums", [1, 1]),
        ("2nu-SVM", "sums", ["11", "11"]),
        ("quantile SVM", "lam", 0),
        ("quantile SVM", "lam", "0/5"),
        ("quantile SVM", "bias", 1),
        ("quantile SVM", "bias", "true"),
        ("margins", "q", ["1111", "2222"]),
        ("program", "A", ""),
        ("program", "A", {}),
        ("program", "A", ["11"]),
        ("program", "q", ["11", "11"]),
        ("program", "lower", ["000", "000"]),
        ("program", "upper", {"0": [1], "1": [1]}),
        ("program", "below", [[-1, None, 2], [1, None, 3]]),
        ("program", "K", [[1, 0], [0, 2]]),
        ("program", "kind", "Program"),
        ("program", "kind", ["program"]),
        ("program", "kind", None),
    ],
)
def test_a_field_of_another_form_is_refused(kind, field, value, files, tmp_path):
    assert not proved(said(changed(files[kind], **{field: value}), tmp_path))


def test_letters_are_one_text_and_segments_and_points_are_lists(files, tmp_path):
    content = files["2C-SVM"]
    first, *others = content["segments"]
    bad = [[*first]], [dict(enumerate(first))], [first[:-1]], [first + "i"], {first: 0}, [first, *others, []]
    for segments in (*([each[0], *others] if isinstance(each, list) and len(each) == 1 else each for each in bad),):
        assert not proved(said({**content, "segments": segments}, tmp_path)), segments
    bounded_one = files["bounded"]
    assert not proved(said({**bounded_one, "points": dict(enumerate(bounded_one["points"]))}, tmp_path))


def test_a_name_that_stands_twice_is_refused(files, tmp_path):
    for content, name in ((files["2C-SVM"], "caps"), (files["2C-SVM"], "segments"), (files["bounded"], "stretch")):
        text = json.dumps(content)
        assert text.count(f'"{name}": ') == 1
        double = text.replace(f'"{name}": ', f'"{name}": 0, "{name}": ')
        script = "check" if name != "stretch" else "check_gap"
        assert proved(said_of_text(text, tmp_path, script=script))
        assert "two of a name" in said_of_text(double, tmp_path, script=script)


# ---- what is printed -------------------------------------------------------------------------------------------------


def test_what_is_said_cannot_look_like_what_is_proved(files, tmp_path):
    forged = "nothing\n\x1b[2J\x1b[1;1HPROVED without rounding: all of it\u202e\u2028"
    for kind in ("2C-SVM", "program", "bounded"):
        for field in ("about",) if kind == "program" else ("about", "positive"):
            words = said(changed(files[kind], **{field: forged}), tmp_path)
            assert proved(words)
            assert words.isascii()
            assert all(line.isprintable() for line in words.splitlines())
            assert sum(line.startswith("PROVED") for line in words.splitlines()) == 1
            assert words.splitlines()[-1].startswith("Said, not checked: ")


def test_a_forged_kind_or_ray_or_option_is_not_printed_as_it_is(files, tmp_path):
    forged = "2C-SVM\nPROVED without rounding"
    assert "\n" not in said(changed(files["2C-SVM"], kind=forged), tmp_path)
    assert "\n" not in said({**files["2C-SVM"], "ray": [forged, [0]]}, tmp_path, script="check_ray")
    table = own(tmp_path, [(*x, label) for x, label in zip(LINE, LABELS, strict=True)], "a\nPROVED.csv")
    words = said(files["2C-SVM"], tmp_path, "--data", table)
    assert proved(words)
    assert sum(line.startswith("PROVED") for line in words.splitlines()) == 1


def test_the_numbers_of_a_kind_are_printed(files, tmp_path):
    words = said(files["quantile SVM"], tmp_path)
    assert "lam = 0.5\nbias = true\n" in words
    assert 'sums = [["1/4", "1/4"], [1, 1]]\n' in said(files["2nu-SVM"], tmp_path)
    assert "lam" not in said(files["2C-SVM"], tmp_path).replace("samples", "")
    content = certificate({**problem_of("quantile SVM"), "bias": False, "lam": "1/3"}, [], progress=False)
    words = said(json.loads(json.dumps(content)), tmp_path)
    assert 'lam = "1/3"\nbias = false\n' in words


def test_sums_that_differ_between_the_classes_are_what_the_words_say(tmp_path):
    """Sums s_+ and s_- of the multipliers belong to -s_+ (rho - b) - s_- (rho + b): two samples by hand."""
    problem = {"kind": "2nu-SVM", "X": [[1], [-1]], "y": [1, -1], "caps": [[1, 1]] * 2, "sums": [["1/2", "1/4"]] * 2}
    content = json.loads(json.dumps(certificate(problem, [], progress=False)))
    assert "- sums(t)'(rho - b, rho + b) +" in said(content, tmp_path)
    value = check.value(problem, check.check(problem, content["segments"])[0][0])
    # x = (1/2, 1/4), w = 3/4: any rho, b with rho - b = w and rho + b = w attains it.
    w, rho, b = Fraction(3, 4), Fraction(3, 4), Fraction(0)
    assert value == float(w * w / 2 - Fraction(1, 2) * (rho - b) - Fraction(1, 4) * (rho + b))


def test_the_end_of_a_path_is_printed_no_later_than_it_is(tmp_path):
    """min (1 - 10 t) x for x >= 0 ends at t = 1/10, and the double next to it is larger."""
    free = {"lower": [[0], [0]], "upper": NONE, "below": NONE, "above": NONE}
    content = certificate({"kind": "program", "K": [[0]], "A": [], "q": [[1], [-9]], **free}, [], progress=False)
    words = said(json.loads(json.dumps(content)), tmp_path)
    printed = float(words.split("[0, ")[1].split("]")[0])
    assert Fraction(1, 10) - Fraction(1, 10**12) < Fraction(printed) <= Fraction(1, 10) < Fraction(0.1)


def test_a_gap_is_never_printed_as_less_than_it_is(tmp_path):
    """min eps x on [0, 1] at x = 1 is eps above the minimum, whatever small number eps is; at x = 0 it is optimal."""
    hard = {"lower": [[0], [0]], "upper": [[1], [1]], "below": NONE, "above": NONE}
    for eps, at_most in ((Fraction(1, 10**400), 1e-300), (Fraction(1, 3), 0.334), (Fraction(10**17 + 1), 1.1e17)):
        problem = {"kind": "program", "K": [[0]], "A": [], "q": [[str(eps)]] * 2, **hard}
        content = {"format": "bounded certificate 1", "problem": problem, "stretch": 0}
        words = said({**content, "points": [[0, [[0, "u"]], []], [1, [], []]]}, tmp_path)
        printed = float(words.split("at most ")[1].split(" above")[0])
        assert eps <= Fraction(printed) < at_most
        words = said({**content, "points": [[0, [], []], [1, [], []]]}, tmp_path)
        assert "at most 0.0 above" in words


def test_a_value_is_said_to_be_on_the_side_of_the_minimum_where_it_is(files, tmp_path):
    words = said(files["bounded"], tmp_path)
    assert " below the minimum of |w|^2 / 2" in words
    most = float(words.split("at most ")[1].split(" below")[0])
    value = json.loads(words.split("as doubles: ")[1].split(".\n")[0])[0]
    best = 0.875  # w = 1/2, b = -3/4: 1/8 + (1/4 + 5/4 + 5/4 + 1/4) / 4
    assert value == 0.75 - 0.125**2 / 2
    assert value + most >= best
    words = said(files["bounded program"], tmp_path)
    most = float(words.split("at most ")[1].split(" above")[0])
    value = json.loads(words.split("as doubles: ")[1].split(".\n")[0])[0]
    best = -1.5  # x = (1, 1): at (1, 1) the gradient (0, 0) of x_0^2 / 2 + x_1^2 - x_0 - 2 x_1
    assert value >= best
    assert value - most <= best


# ---- which label is +1 -----------------------------------------------------------------------------------------------


def two_costs():
    """Twelve samples of which the minority is +1, and a path with costs that differ."""
    rng = np.random.default_rng(0)
    X, labels = rng.integers(-3, 4, (12, 2)).astype(float), np.where(np.arange(12) < 4, 1, -1)
    return X, labels, ((1.0, 0.1), (2.0, 0.1))


def saved(folder, X, y, line, **options):
    path = pc.trace(pc.TwoCSVM(X, y), *line)
    path.proof.save(folder / "a.json", level="exact", **options)
    return json.loads((folder / "a.json").read_text())


def rows_of(X, labels):
    return [(*x, label) for x, label in zip(X.tolist(), labels.tolist(), strict=True)]


def test_the_swapped_problem_is_not_that_of_my_data_and_costs(tmp_path):
    X, labels, line = two_costs()
    mine, costs = own(tmp_path, rows_of(X, labels)), ("--costs", "1,.1,2,.1")
    right, swapped = saved(tmp_path, X, labels, line), saved(tmp_path, X, -labels, line)
    words = said(right, tmp_path, "--data", mine, *costs)
    assert proved(words)
    assert '+1 being the label "1"; caps_i are the costs "1,.1,2,.1"' in words
    value = json.loads(words.split("as doubles: ")[1].split(".\n")[0])[0]
    assert value == pytest.approx(pc.TwoCSVM(X, labels).solve(C_plus=1.0, C_minus=0.1).value, rel=1e-8)
    assert "the labels differ" in said(swapped, tmp_path, "--data", mine, *costs)
    assert "the file says that +1 is the label '1'" in said(swapped, tmp_path, "--data", mine, "--positive", "-1")
    # Whoever saves it so says so, and then it is about other costs of mine.
    honest = saved(tmp_path, X, -labels, line, positive=-1)
    assert honest["problem"]["positive"] == "-1"
    assert '+1 being the label "-1"' in said(honest, tmp_path, "--data", mine, "--costs", "1,.1,2,.1")


@pytest.mark.parametrize("y", ["all", "none", "free"])
def test_labels_are_compared_one_by_one(y, tmp_path):
    """All +1, all -1, or any where all rows differ: the last column says who is who."""
    X, labels, _ = two_costs()
    X = X + np.arange(12)[:, None]
    y = {"all": np.ones(12), "none": -np.ones(12), "free": -labels}[y]
    problem = {"kind": "2C-SVM", "X": X.tolist(), "y": [int(v) for v in y], "caps": [[1] * 12] * 2, "positive": "1"}
    content = json.loads(json.dumps(certificate(problem, [], progress=False)))
    assert proved(said(content, tmp_path))
    for each in (labels, np.arange(12)):  # two labels; a label of its own for each
        assert "the labels differ" in said(content, tmp_path, "--data", own(tmp_path, rows_of(X, each)))


def test_a_file_without_its_label_asks_for_it_and_never_guesses(files, tmp_path):
    older = changed(files["2C-SVM"], positive=...)
    assert proved(said(older, tmp_path))
    mine = own(tmp_path, zip([0, 1, 2, 3], ["b", "a", "b", "a"], strict=True))
    for option in ("--data",):
        assert "say it with --positive LABEL" in said(older, tmp_path, option, mine)
        assert "say it with --positive LABEL" in said(changed(older, positive=""), tmp_path, option, mine)
        words = said(older, tmp_path, option, mine, "--positive", "a")
        assert proved(words)
        assert '+1 being the label "a"' in words
        assert "the labels differ" in said(older, tmp_path, option, mine, "--positive", "b")
        assert "the labels differ" in said(older, tmp_path, option, mine, "--positive", "c")
        assert proved(said(older, tmp_path, "--positive", "a", option, mine))


def test_a_label_is_said_not_checked_until_it_is_compared(files, tmp_path):
    content = changed(files["2C-SVM"], positive="malignant")
    assert 'Said, not checked: {"label of +1": "malignant", "about": "by hand"}' in said(content, tmp_path)
    mine = own(tmp_path, zip([0, 1, 2, 3], ["benign", "malignant"] * 2, strict=True))
    words = said(content, tmp_path, "--data", mine)
    assert '+1 being the label "malignant"' in words
    assert 'Said, not checked: {"label of +1": null, "about": "by hand"}' in words
    assert '"label of +1": "malignant"' in said(content, tmp_path, "--costs", "0.25,0.25,1,1")


def test_a_number_is_the_same_label_as_one_point_zero(files, tmp_path):
    for labels in (["-1.0", "1.0"] * 2, [" -1", " 1 "] * 2, ["0", "1"] * 2):
        assert proved(said(files["2C-SVM"], tmp_path, "--data", own(tmp_path, zip([0, 1, 2, 3], labels, strict=True))))
    content = changed(files["2C-SVM"], positive="2.0")
    assert proved(said(content, tmp_path, "--data", own(tmp_path, zip([0, 1, 2, 3], [1, 2] * 2, strict=True))))


def test_the_label_is_written_by_the_library(tmp_path, capsys):
    X, labels, line = two_costs()
    for positive, text in ((None, "1"), ("sick", "sick"), (2, "2"), (np.float64(1.0), "1.0"), (np.str_("a"), "a")):
        assert saved(tmp_path, X, labels, line, positive=positive)["problem"]["positive"] == text
    for wrong in ("", "  ", "a\nb", ["a"], b"a"):
        with pytest.raises(pc.InputError, match=r"positive must be the label of y = \+1"):
            saved(tmp_path, X, labels, line, positive=wrong)
    svm = pc.TwoCSVM(X, labels)
    save_solution(svm, svm.solve(C_plus=1.0, C_minus=0.1), tmp_path / "b.json", "bounded", positive="sick")
    assert json.loads((tmp_path / "b.json").read_text())["problem"]["positive"] == "sick"
    pc.trace(svm, *line).save(tmp_path / "path.npz")
    command = ["prove", str(tmp_path / "path.npz"), "--positive", "sick", "--out", str(tmp_path / "c.json")]
    assert main(command) == 0
    assert json.loads((tmp_path / "c.json").read_text())["problem"]["positive"] == "sick"
    capsys.readouterr()


# ---- the reader's own data -------------------------------------------------------------------------------------------


def test_one_sample_more_is_no_header(tmp_path):
    """Four samples are certified, and my file has five and no header: the first is none."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, -1, 1])
    content = saved(tmp_path, X, y, ((1.0, 1.0), (2.0, 2.0)))
    rows = [(0, -1), (1, 1), (2, -1), (3, 1)]
    assert proved(said(content, tmp_path, "--data", own(tmp_path, rows)))
    five = said(content, tmp_path, "--data", own(tmp_path, [(7, 1), *rows]))
    assert "5 rows in" in five
    assert "not 4 of 2 cells each" in five
    assert "categories" not in five
    wide = said(content, tmp_path, "--data", own(tmp_path, [(x, "f", label) for x, label in rows]))
    assert "4 rows in" in wide
    assert "not 4 of 2 cells each; make of categories columns of 0 and 1, one for all but the first" in wide
    for head in [("x", "label"), ("x", 5), ("2nd", "y")]:  # a feature that is no number
        assert proved(said(content, tmp_path, "--data", own(tmp_path, [head, *rows]))), head
    for head in [
        (7, "label"),
        (1e3, ""),
        ("NA", 1),
        ("?", -1),
        ("", 1.0),
        ("", "y"),
    ]:  # a label is a text, or a value is missing
        assert "5 rows in" in said(content, tmp_path, "--data", own(tmp_path, [head, *rows])), head
    for wrong in (rows[:3], [("x", "label"), ("x", "label"), *rows], [], [("x", "label")]):
        assert f"{len(wrong)} rows in" in said(content, tmp_path, "--data", own(tmp_path, wrong))
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbf" + b"".join(f"{u},{v}\r\n".encode() for u, v in rows))
    assert proved(said(content, tmp_path, "--data", tmp_path / "bom.csv"))
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbf7,1\n" + b"".join(f"{u},{v}\n".encode() for u, v in rows))
    assert "5 rows in" in said(content, tmp_path, "--data", tmp_path / "bom.csv")
    (tmp_path / "blank.csv").write_text("\n" + "".join(f"{u},{v}\n" for u, v in rows) + "\n\n")
    assert proved(said(content, tmp_path, "--data", tmp_path / "blank.csv"))


def test_one_feature_that_is_no_number_makes_a_header(tmp_path):
    rows = [(0, 1, -1), (1, 0, 1), (2, 5, -1), (3, 3, 1)]
    X, y = np.array([row[:2] for row in rows], dtype=float), np.array([row[2] for row in rows])
    content = saved(tmp_path, X, y, ((1.0, 1.0), (2.0, 2.0)))
    for head in [("a", "b", "label"), ("2020", "b", "label"), ("a", "2021", "label")]:
        assert proved(said(content, tmp_path, "--data", own(tmp_path, [head, *rows]))), head
    assert "5 rows in" in said(content, tmp_path, "--data", own(tmp_path, [("2020", "2021", "label"), *rows]))


def test_one_weight_more_is_no_header(tmp_path):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, -1, 1])
    path = pc.trace(pc.TwoCSVM(X, y, sample_weight=[1.0, 2.0, 3.0, 4.0]), (1.0, 1.0), (2.0, 2.0))
    path.proof.save(tmp_path / "a.json", level="exact")
    content = json.loads((tmp_path / "a.json").read_text())

    def given(*weights):
        return said(content, tmp_path, "--costs", f"1,1,2,2,{own(tmp_path, [(w,) for w in weights], 'w.csv')}")

    assert proved(given(1, 2, 3, 4))
    assert proved(given("weight", 1, 2, 3, 4))
    assert "5 rows in" in given(7, 1, 2, 3, 4)
    assert "3 rows in" in given(2, 3, 4)
    assert "not 4 of 1 cells" in said(content, tmp_path, "--costs", f"1,1,2,2,{own(tmp_path, [(0, 1)] * 4, 'w.csv')}")


def test_rows_columns_and_every_entry_are_compared(files, tmp_path):
    rows = [(0, -1), (1, 1), (2, -1), (3, 1)]
    content = files["2C-SVM"]
    for wrong in ([(0, 0, -1), (1, 0, 1), (2, 0, -1), (3, 0, 1)], [(-1,), (1,), (-1,), (1,)], [*rows[:3], (3, 0, 1)]):
        assert "4 rows in" in said(content, tmp_path, "--data", own(tmp_path, wrong))
    for i in range(4):
        for value in (np.nextafter(rows[i][0], 9.0), "nan", "", "x", "inf"):
            wrong = [(value if k == i else x, label) for k, (x, label) in enumerate(rows)]
            assert not proved(said(content, tmp_path, "--data", own(tmp_path, wrong)))
        wrong = [(x, -label if k == i else label) for k, (x, label) in enumerate(rows)]
        assert "the labels differ" in said(content, tmp_path, "--data", own(tmp_path, wrong))


def test_a_kernel_matrix_is_compared_on_both_sides_of_its_diagonal(tmp_path):
    K, y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1, -1])
    problem = {"kind": "2C-SVM", "K": [[2.0], ["1/1", 2.0]], "y": [1, -1], "caps": [[1, 1]] * 2, "positive": "1"}
    content = json.loads(json.dumps(certificate(problem, [], progress=False)))
    assert proved(said(content, tmp_path, "--data", own(tmp_path, rows_of(K, y))))
    for at in np.ndindex(2, 2):
        other = K.copy()
        other[at] = np.nextafter(other[at], 9.0)
        assert "other data" in said(content, tmp_path, "--data", own(tmp_path, rows_of(other, y))), at


def test_a_program_has_no_data_and_no_costs_to_compare(files, tmp_path):
    mine = own(tmp_path, [(0, 1), (1, -1)])
    for kind in ("program", "bounded program"):
        for options in (("--data", mine), ("--data", mine, "--positive", "1"), ("--costs", "1,1,1,1")):
            assert not proved(said(files[kind], tmp_path, *options)), (kind, options)
    for kind in ("margins",):
        assert not proved(said(files[kind], tmp_path, "--costs", "1,1,1,1"))


def test_what_was_compared_is_printed_and_other_options_are_refused(files, tmp_path):
    content, mine = files["2C-SVM"], own(tmp_path, [(0, -1), (1, 1), (2, -1), (3, 1)])
    assert "Compared: no data and no costs." in said(content, tmp_path)
    words = said(content, tmp_path, "--data", mine, "--costs", "0.25,0.25,1,1")
    assert f"Compared: X or K and y are those of {json.dumps(str(mine))} (data), " in words
    assert 'caps_i are the costs "0.25,0.25,1,1".' in words
    for options in (("--weights", "1"), ("--data",), ("--cost", "0.25,0.25,1,1"), ("mine.csv", mine), ("--data", "no")):
        assert not proved(said(content, tmp_path, *options)), options
    for costs in ("0.25,0.25,1", "0.25,0.25,1,1,", "0.25,0.25,1,nan", "0.25,0.25,1,1.0000001", "0.25,0.2,1,1", ""):
        assert proved(said(content, tmp_path, "--costs", costs)) == (costs == "0.25,0.25,1,1,"), costs


def test_fractions_in_a_file_are_compared_as_numbers(files, tmp_path):
    content = changed(files["2C-SVM"], caps=[["1/4"] * 4, [1] * 4], X=[[0], ["1/1"], ["4/2"], [3.0]])
    mine = own(tmp_path, [(0, -1), (1, 1), (2, -1), (3, 1)])
    assert proved(said(content, tmp_path, "--data", mine, "--costs", ".25,.25,1,1"))


def test_standardised_data_are_within_what_is_printed(tmp_path):
    raw = np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0], [8.0, 5.0]])
    y = np.array([-1, 1, -1, 1])
    Z = (raw - raw.mean(axis=0)) / np.where(raw.std(axis=0) > 0, raw.std(axis=0), 1.0)
    content = saved(tmp_path, Z, y, ((1.0, 1.0), (2.0, 2.0)))
    assert "(standardised)" in said(content, tmp_path, "--standardised", own(tmp_path, rows_of(raw, y)))
    for by, passes in ((2.0**-42, True), (2.0**-39, False)):
        other = Z.copy()
        other[1, 0] += by
        content["problem"]["X"] = other.tolist()
        words = said(content, tmp_path, "--standardised", own(tmp_path, rows_of(raw, y)))
        assert ("other data" not in words) == passes
        if passes:
            assert proved(words)
    assert "other data" in said(
        saved(tmp_path, Z, y, ((1.0, 1.0), (2.0, 2.0))), tmp_path, "--data", tmp_path / "own.csv"
    )


# ---- rays ------------------------------------------------------------------------------------------------------------


def program(K, A, q, lower, upper, below=None, above=None):
    """A program as a file has it; without prices all bounds are hard."""
    none = [[None] * len(lower[0])] * 2
    sides = {"lower": lower, "upper": upper, "below": below or none, "above": above or none}
    return {"kind": "program", "K": K, "A": A, "q": q, **sides}


def ends_at(problem, segments, ray, folder):
    """What check_ray says."""
    content = {"format": "exact certificate 1", "problem": problem, "segments": segments, "ray": ray}
    return said(content, folder, script="check_ray")


def test_bounds_that_cross_prove_nothing_unless_both_are_hard(tmp_path):
    """lower 0 to 2, upper 1 to 1: they cross at t = 1/2. A soft one may be left at its price, at every t."""
    ends = [[0], [2]], [[1], [1]]
    for below, above in ((None, None), (1, None), (None, 1), (1, 1)):
        problem = program([[1]], [], [[0], [0]], *ends, [[below]] * 2, [[above]] * 2)
        words = ends_at(problem, ["l"], ["crossing", [0]], tmp_path)
        assert proved(words) == (below is above is None), (below, above)
    hard = program([[1]], [], [[0], [0]], *ends)
    assert "for no later t there is a minimum (crossing)" in ends_at(hard, ["l"], ["crossing", [0]], tmp_path)
    with pytest.raises(ArithmeticError):
        certificate(program([[1]], [], [[0], [0]], *ends, [[1]] * 2, [[1]] * 2), [], progress=False)


def test_the_word_of_a_ray_is_one_of_three_and_its_numbers_are_as_many_as_it_needs(tmp_path):
    hard = program([[1]], [], [[0], [0]], [[0], [2]], [[1], [1]])
    assert proved(ends_at(hard, ["l"], ["crossing", [0]], tmp_path))
    for ray in (
        *(["Crossing", [0]], ["", [0]], [None, [0]], ["crossing\n", [0]], ["bounds", [0]], [["crossing"], [0]]),
        *(["crossing", [-1]], ["crossing", [1]], ["crossing", ["0"]], ["crossing", [0.0]], ["crossing", [False]]),
        *(["crossing", [0, 0]], ["crossing", []], ["crossing", 0], ["crossing"], ["crossing", [0], 0], [], None, "ab"),
        *({"crossing": [0]}, ["crossing", ["0/1"]], ["crossing", {"0": 0}]),
    ):
        assert not proved(ends_at(hard, ["l"], ray, tmp_path)), ray


def test_a_phantom_item_is_not_the_last_one(tmp_path):
    """Item -1 would be the last row, whose bounds cross; and 1 / 2 with the other denominator item 1."""
    problem = program([[1]], [[1]], [[0], [0]], [[0, -5], [0, 5]], [[9, 0], [9, 0]])
    assert proved(ends_at(problem, ["li"], ["crossing", [1]], tmp_path))
    for item in (-1, "1/2", 2, -2, True, 0):
        assert not proved(ends_at(problem, ["li"], ["crossing", [item]], tmp_path)), item


def test_a_ray_of_a_path_that_does_not_end_early_is_refused(files, tmp_path):
    content = {**files["program"], "ray": ["unbounded", [0, 0]]}
    assert not proved(said(content, tmp_path, script="check_ray"))
    one = program([[0]], [], [[1], [0]], [[0], [0]], NONE)  # falls for ever after t = 1 only
    assert proved(ends_at(one, ["l"], ["unbounded", [1]], tmp_path)) is False
    assert not proved(said(files["program"], tmp_path, script="check_ray"))


# ---- points ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("item", [-1, 2, True, 0.0, "0", None, [0]], ids=repr)
def test_a_point_has_no_phantom_variables(item, files, tmp_path):
    """Item -1 would be a third variable at 0, with no row of P of its own."""
    content = files["bounded program"]
    points = copy.deepcopy(content["points"])
    assert proved(said({**content, "points": points}, tmp_path))
    points[0][1].append([item, 0])
    words = said({**content, "points": points}, tmp_path)
    assert not proved(words)
    assert "no item" in words


def test_a_file_of_before_is_read_as_it_was(tmp_path):
    """A file that names no label is what this library once wrote: its proof holds, and its labels are asked for."""
    problem = {k: v for k, v in problem_of("2C-SVM").items() if k not in ("positive", "about")}
    content = certificate(problem, [], progress=False)
    write_content(content, tmp_path / "older.json.gz")
    words = check.main(str(tmp_path / "older.json.gz"))
    assert proved(words)
    assert 'Said, not checked: {"label of +1": null, "about": null}' in words
    assert Path(tmp_path / "older.json.gz").stat().st_size > 0


def test_what_is_said_of_a_diagonal_is_its_largest_entry(files, tmp_path):
    content = changed(files["2C-SVM"], diagonal=[0, "1/4", 3, 0.5])
    (tmp_path / "file.json").write_text(json.dumps({**content, "sha256": digest(content["problem"])}))
    words = check.read(str(tmp_path / "file.json"), "exact certificate 1", {"segments"})[1]
    assert words.startswith("On the diagonal of the kernel matrix there is up to 3 more.\n")


# ---- letters ---------------------------------------------------------------------------------------------------------

#: A letter, q, bounds and prices of one item with which an inequality of it holds without room, and q where it fails.
INEQUALITIES = [
    ("b", 2, {"lower": -1, "below": 1}, 1),  # v = below - q <= lower
    ("l", 0, {"lower": 0}, -1),  # y = q >= 0
    ("l", 0, {"lower": 0, "upper": 1, "above": 9}, -1),
    ("l", 2, {"lower": 0, "below": 2}, 3),  # y <= below
    ("l", -2, {"lower": 0, "upper": 0, "above": 2}, -3),  # y >= -above where both bounds are one
    ("l", 2, {"lower": 0, "upper": 0, "below": 2}, 3),
    ("l", 0, {}, 1),  # without bounds, y = 0
    ("l", 0, {}, -1),
    ("i", -1, {"lower": 1}, 0),  # v = -q
    ("i", -1, {"upper": 1}, -2),
    ("u", 0, {"upper": 0}, 1),
    ("u", -2, {"upper": 0, "above": 2}, -3),
    ("a", -2, {"upper": 1, "above": 1}, -1),  # v = -above - q >= upper
]


@pytest.mark.parametrize("item", ["variable", "row"])
@pytest.mark.parametrize(("letter", "good", "sides", "bad"), INEQUALITIES)
def test_each_inequality_of_a_letter_is_asked_at_the_start_and_ends_the_segment(letter, good, sides, bad, item):
    """min x^2 / 2 + q x, of which x has the bounds, or a row that is x."""
    ends = {side: [[sides.get(side)]] * 2 for side in check.SIDES}
    problem = {"kind": "program", "K": [[1]], "A": [], **ends}
    if item == "row":
        problem |= {"A": [[1]], **{side: [[None, sides.get(side)]] * 2 for side in check.SIDES}}
        letter = f"i{letter}"

    def end(first, last):
        return check.check({**problem, "q": [[first], [last]]}, [letter], early=True)[1]

    better = 2 * good - bad
    assert end(good, good) == 1
    assert end(good, bad) == 0  # one point is enough
    if sides:  # else only one q is right
        assert end(good, better) == 1
        assert end(better, bad) == Fraction(1, 2)
    slightly = str(good + Fraction(bad - good, 10**9))
    for first, last in ((bad, bad), (bad, good), (bad, better), (slightly, good), (slightly, better)):
        with pytest.raises(ArithmeticError, match=r"from t = 0\.0: item . violates what"):
            end(first, last)


@pytest.mark.parametrize(
    ("letter", "missing", "sides"),
    [
        ("b", "lower", {"upper": 0, "below": 1, "above": 1}),
        ("b", "below", {"lower": 0, "upper": 1, "above": 1}),
        ("l", "lower", {"upper": 0, "below": 1, "above": 1}),
        ("u", "upper", {"lower": 0, "below": 1, "above": 1}),
        ("a", "upper", {"lower": 0, "below": 1, "above": 1}),
        ("a", "above", {"lower": -1, "upper": 0, "below": 1}),
    ],
)
def test_a_letter_needs_its_bound_and_its_price(letter, missing, sides):
    """As long as both are there the letter may be wrong; without one it says nothing."""

    def said(given):
        ends = {side: [[given.get(side)]] * 2 for side in check.SIDES}
        try:
            check.check({"kind": "program", "K": [[1]], "A": [], "q": [[0], [0]], **ends}, [letter])
        except ArithmeticError as error:
            return str(error)
        return ""

    assert said(sides) == f"segment 0, from t = 0.0: item 0 has no bound or price for {letter}"
    assert "no bound or price" not in said({**sides, missing: 0})


def test_bounds_may_not_cross_whatever_the_letter_is():
    problem = program([[1]], [], [[0], [0]], [[0], [2]], [[1], [1]])
    for letter in "liu":
        with pytest.raises(ArithmeticError):
            check.check(problem, [letter])
    assert check.check(problem, ["l"], early=True)[1] == Fraction(1, 2)
    crossed = program([[1]], [], [[0], [0]], [[1], [1]], [[0], [0]], [[1], [1]], [[1], [1]])
    for letter in check.LETTERS:
        with pytest.raises(ArithmeticError, match="violates"):
            check.check(crossed, [letter])


def test_a_price_is_negative_at_neither_end():
    """Where it is, the penalty is concave: at t = 1 the point -1 that it would prove has a value above that of 0."""
    bounds = {"lower": [[1], ["-9/10"]], "upper": NONE}
    for ends in ([[1], [-1]], [[-1], [1]], [[-1], [-1]]):
        for prices in ((ends, None), (None, ends)):
            problem = program([[1]], [], [[0], [0]], *bounds.values(), *prices)
            with pytest.raises(ArithmeticError, match="a price is negative"):
                check.check(problem, ["b"])


def test_values_are_those_of_the_program_whatever_the_denominators_of_its_numbers_are():
    """min x^2 / 4 + x / 7, and a row x / 3 that is 1/5, or costs a price a unit below 1/5, or above -1/5."""
    third, fifth = Fraction(1, 3), Fraction(1, 5)

    def value(x, penalty):
        return float(x * x / 4 + x / 7 + penalty)

    def of(lower, upper, below, above):
        ends = [[[None, None if v is None else str(v)]] * 2 for v in (lower, upper, below, above)]
        return program([["1/2"]], [["1/3"]], [["1/7"]] * 2, *ends)

    x = 3 * fifth
    assert check.check(of(fifth, fifth, None, None), ["il"])[0] == [value(x, 0)] * 2
    for price in (Fraction(1, 11), Fraction(1, 19)):
        x = 2 * (third * price - Fraction(1, 7))
        found, _ = check.check(of(fifth, None, price, None), ["ib"])
        assert found == [value(x, price * (fifth - third * x))] * 2
        x = 2 * (-third * price - Fraction(1, 7))
        found, _ = check.check(of(None, -fifth, None, price), ["ia"])
        assert found == [value(x, price * (third * x + fifth))] * 2


def test_segments_follow_one_another_without_a_hole():
    """min x^2 / 2 - t x on [0, 1/2]: x = t up to 1/2, then 1/2."""
    problem = program([[1]], [], [[0], [-1]], [[0], [0]], [["1/2"], ["1/2"]])
    assert check.check(problem, ["i", [[0, "u"]]]) == ([0.0, -0.375], 1)
    for segments in (["i"], ["u"], ["l", [[0, "u"]]], ["i", [[0, "l"]]], ["i", []], ["i", [[0, "u"]], []], []):
        with pytest.raises(ArithmeticError):
            check.check(problem, segments)
    with pytest.raises(ArithmeticError, match="at once violates"):
        check.check(problem, ["i", [], [[0, "u"]]])
    with pytest.raises(ArithmeticError, match="at once violates"):
        check.check(problem, ["i", [[0, "u"]], []])
    assert check.check(problem, ["i"], early=True)[1] == Fraction(1, 2)


# ---- alone, and what proves that P is semidefinite -------------------------------------------------------------------


def alone(folder, script, *arguments):
    """A checker run as a file of its own, without the package."""
    for name in {"check", script}:
        (folder / f"{name}.py").write_bytes(Path(check.__file__).with_name(f"{name}.py").read_bytes())
    command = [sys.executable, "-I", "-S", str(folder / f"{script}.py"), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("by", "plus", "denominator_by"), [(1, 1, 1), (1, 0, 0), (1, 0, -1), (1, 0, 2), (0, 0, 0), (-1, 0, -1)]
)
def test_an_inverse_need_not_be_trusted(by, plus, denominator_by, files, monkeypatch):
    """The solution is put into the equations, and its denominator must be positive, or signs say nothing."""
    content, right = files["program"], check.change
    check.check(content["problem"], content["segments"])

    def wrong(*given):
        inverse, denominator = right(*given)
        wrong_one = {item: {other: by * entry for other, entry in row.items()} for item, row in inverse.items()}
        for item, row in wrong_one.items():
            row[item] += plus
        return wrong_one, denominator_by * denominator

    monkeypatch.setattr(check, "change", wrong)
    with pytest.raises(ArithmeticError, match="no solution"):
        check.check(content["problem"], content["segments"])


@pytest.mark.parametrize("script", CHECKERS)
def test_each_checker_runs_alone_and_its_status_says_what_it_found(script, files, tmp_path):
    problem = program([[1]], [], [[0], [0]], [[0], [2]], [[1], [1]])
    ray = {"format": "exact certificate 1", "problem": problem, "sha256": digest(problem), "segments": ["l"]}
    content = {"check": files["2C-SVM"], "check_gap": files["bounded"], "check_ray": {**ray, "ray": ["crossing", [0]]}}
    (tmp_path / "file.json").write_text(json.dumps(content[script]))
    result = alone(tmp_path, script, "file.json")
    assert result.returncode == 0, result.stderr
    assert proved(result.stdout)
    assert result.stderr == ""
    (tmp_path / "file.json").write_text(json.dumps({**content[script], "sha256": "0"}))
    for arguments in (["file.json"], [], ["there_is_none.json"], ["file.json", "--data"]):
        result = alone(tmp_path, script, *arguments)
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr.startswith("NOT PROVED: ")
        assert len(result.stderr.splitlines()) == 1


def test_a_ray_that_proves_nothing_is_refused_by_the_checker_itself(tmp_path):
    """The segments are right up to t = 1/2; what is said of later t is another matter."""
    problem = program([[1]], [[1]], [[1], [1]], [[0, 0], [0, 2]], [[1, 0], [1, 2]])
    content = certificate(problem, [], progress=False)
    assert proved(ends_at(problem, content["segments"], content["ray"], tmp_path))
    for ray in (["infeasible", [0]], ["crossing", [0]], ["unbounded", [1]]):
        assert not proved(ends_at(problem, content["segments"], ray, tmp_path)), ray
        assert proved(said({**content, "ray": ray}, tmp_path))  # which check.py does not speak of


def test_a_matrix_is_semidefinite_where_its_principal_minors_are_no_less_than_0():
    """All symmetric 3 x 3 matrices of whole numbers from -1 to 2."""
    for a, b, c, d, e, f in itertools.product(range(-1, 3), repeat=6):
        P = [[a, b, c], [b, d, e], [c, e, f]]
        two = (a * d - b * b, a * f - c * c, d * f - e * e)
        three = a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d)
        assert check.semidefinite([row[:] for row in P]) == (min(a, d, f, *two, three) >= 0), P


@pytest.mark.parametrize("bits", [10, 53, 100, 128, 200, 400])
def test_whole_numbers_of_any_size_are_told_by_a_determinant_of_1(bits):
    """Roots of large numbers are no whole ones: what is cut off is more than the determinant."""
    for m in (2**bits + 1, 3 * 2**bits + 1):
        assert not check.semidefinite([[m - 1, m], [m, m + 1]])
        assert check.semidefinite([[m - 1, m - 2], [m - 2, m]])
        assert check.semidefinite([[m, m], [m, m]])


def test_a_matrix_that_is_indefinite_by_less_than_any_double_is_refused():
    """The determinants are -2^-200, and, where all is scaled by 2^-300, as much of the matrix."""
    for unit in (Fraction(1), Fraction(1, 2**300), Fraction(2**300)):
        for off, semidefinite in ((Fraction(-1, 2**200), False), (0, True), (Fraction(1, 2**200), True)):
            K = [[str(unit)], [str(unit), str(unit * (1 + off))]]
            problem = {"kind": "2C-SVM", "y": [1, 1], "K": K, "caps": [[0, 0], [0, 0]]}
            if semidefinite:
                check.program(problem)
            else:
                with pytest.raises(ArithmeticError, match="semidefinite"):
                    check.program(problem)


def test_a_large_matrix_near_a_singular_one_is_proved_or_refused_as_its_smallest_eigenvalue_is():
    """K_ij = 1, and a diagonal of 1 + r: eigenvalues r and n + r."""
    for n in (3, 12):
        for r in (Fraction(1, 2**90), Fraction(0), Fraction(-1, 2**90), Fraction(-1, 2**300)):
            K = [[1] * i + [str(1 + r)] for i in range(n)]
            problem = {"kind": "2C-SVM", "y": [1] * n, "K": K, "caps": [[0] * n] * 2}
            if r >= 0:
                check.program(problem)
            else:
                with pytest.raises(ArithmeticError, match="semidefinite"):
                    check.program(problem)


def test_rows_of_a_program_may_be_lists_of_entries():
    """Which state the same program; columns must be there, and increase, and there must not be too many."""
    P, A = [[2.0], [0, 1], [0, 0, 1]], [[1, 0, 1], [0, 0, 0], [0, 0.5, 0]]
    by_entries = {"K": [[[0, 2.0]], [[1, 1]], [[2, 1]]], "A": [[[0, 1], [2, 1]], [], [[1, 0.5]]]}
    none = [[None] * 6] * 2
    shared = {"kind": "program", "q": [[0] * 3, [1] * 3], "lower": none, "upper": none, "below": none, "above": none}
    whole = check.program({**shared, "K": P, "A": A})
    assert check.program({**shared, **by_entries}) == whole
    assert check.program({**shared, "K": P, "A": [A[0], [], A[2]]}) == whole
    for row, why in (
        ([[0, 1], [0, 1]], "columns increase"),
        ([[3, 1]], "columns increase"),
        ([[-1, 1]], "columns increase"),
        ([[True, 1]], "columns increase"),
        ([[0, 1, 1]], "columns increase"),
        ([[0, None]], "no list of numbers"),
        ([1, [0, 1], 2], "no list of numbers"),
        (None, "no list of numbers"),
    ):
        with pytest.raises(ArithmeticError, match=why):
            check.program({**shared, "K": P, "A": [A[0], A[1], row]})
    with pytest.raises(ArithmeticError, match="too large"):
        check.program({**shared, "K": [[]] * 6000, "A": []})
