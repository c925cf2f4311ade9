"""The command line's words: helps, defaults and examples say what the parser does, and bad arguments have one line."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from types import SimpleNamespace

import pytest

from paretoclf.cli.options import COMMANDS, build_parser
from paretoclf.common.errors import InputError

PARSER = build_parser("1.2.3")
SUBPARSERS = next(a for a in PARSER._actions if isinstance(a, argparse._SubParsersAction)).choices


def parsed(line):
    return PARSER.parse_args(shlex.split(line))


def commands_of(examples):
    """Command lines of an example text, without what the shell does with them."""
    for line in examples.splitlines()[1:]:
        for part in re.split(r"&&|\||;(?=\s)", line):
            words = part.strip().strip("()").split(" > ")[0]
            if words.startswith("paretoclf "):
                yield words.removeprefix("paretoclf ")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_of_a_help_is_accepted(name):
    examples = list(commands_of(COMMANDS[name][2]))
    assert examples
    assert SUBPARSERS[name].epilog == COMMANDS[name][2]
    for example in examples:
        args = parsed(example)
        assert args.command in COMMANDS


def said_defaults():
    """Options whose help says a default: command, option, the word, and what the parser takes."""
    for name, parser in SUBPARSERS.items():
        for action in parser._actions:
            found = re.search(r"default: ([^;)]+)", action.help or "")
            if found and isinstance(action.default, int | float | str | list | tuple) and action.dest != "help":
                yield name, action.dest, found[1].strip(), action.default


@pytest.mark.parametrize(("name", "option", "word", "default"), list(said_defaults()))
def test_the_default_of_an_option_is_the_one_that_its_help_says(name, option, word, default):
    if isinstance(default, bool):
        assert word == ("yes" if default else "no")
        return
    values = default if isinstance(default, list | tuple) else (default,)
    if (option, word) == ("out", "this one"):
        word = "."
    assert " ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values) == word.split(" (")[0].rstrip(":")


def test_helps_that_say_a_default_are_many():
    assert len(list(said_defaults())) > 30


#: Command lines with the values that they set.
SET = {
    "trace a.csv": {"source": "a.csv", "costs": (1.0, 1.0), "repeats": 3, "html": False, "quiet": False, "json": False},
    "trace a --costs 20 1 --total 3.5 --repeats 5 --html": {"costs": [20.0, 1.0], "total": 3.5, "repeats": 5},
    "trace a --kernel rbf --bandwidth 0.5": {"kernel": "rbf", "bandwidth": 0.5},
    "trace a --bandwidth median": {"bandwidth": "median"},
    "trace a --kernel poly --degree 2 --n 10 --seed 4": {"degree": 2, "n": 10, "seed": 4},
    "trace a --no-standardise": {"standardize": False},
    "trace a --standardize": {"standardize": True},
    "trace a --label y --positive M --features a,b --drop c --one-hot d": {
        **{"label": "y", "positive": "M", "features": "a,b", "drop": "c", "one_hot": "d"},
    },
    "trace a --missing median --decimal , --separator ; --encoding latin-1 --data-dir d --no-header": {
        **{"missing": "median", "decimal": ",", "separator": ";", "encoding": "latin-1", "data_dir": "d"},
        "no_header": True,
    },
    "predict m.json new.csv --label y --out t.csv": {"model": "m.json", "source": "new.csv", "out": "t.csv"},
    "roc p.npz a.csv --out r.png": {"path": "p.npz", "source": "a.csv", "out": "r.png"},
    "page a --held-out 0.5": {"held_out": 0.5, "out": "page.html"},
    "prove p.npz --level bounded --jobs 2 --positive yes": {"level": "bounded", "jobs": 2, "positive": "yes"},
    "lesson": {"lesson": [], "out": ".", "run": True, "png": False, "student": False},
    "lesson 2 3 --no-run --png --student": {"lesson": ["2", "3"], "run": False, "png": True, "student": True},
    "tradeoff a --rates kl student --delta 0.05 --df 4 --points 11": {
        **{"rates": ["kl", "student"], "delta": 0.05, "df": 4.0, "points": 11},
    },
    "tradeoff a": {"rates": ["gaussian"], "max_fpr": 0.05, "reg": 0.0, "standardize": True},
    "tune a --criterion cost --costs 10 1 0.01": {"costs": [10.0, 1.0, 0.01]},
    "tune a --bandwidth 1 2 3 --bandwidths 4 --points 9 --folds 3 --jobs 2": {
        **{"bandwidth": [1.0, 2.0, 3.0], "bandwidths": 4, "points": 9, "folds": 3, "jobs": 2},
    },
    "tune a --alpha 0.1 --delta 0.2 --method exact-lines --smoothing 2d --resume e.npz": {
        **{"alpha": 0.1, "delta": 0.2, "method": "exact-lines", "smoothing": "2d", "resume": "e.npz"},
    },
    "verify rows.csv --data a --ddof 1 --standardise --between": {
        **{"file": "rows.csv", "solution": None, "source": "a", "ddof": 1, "standardize": True, "between": True},
    },
    "verify m.mps s.csv": {"file": "m.mps", "solution": "s.csv", "standardize": False, "tol": None, "ddof": 0},
    "verify m --costs 2 1 --nu 0.3 --gamma 0.1 --scale 2 --offset 3 --degree 4 --tol 1e-6": {
        **{"costs": [2.0, 1.0], "nu": 0.3, "gamma": 0.1, "scale": 2.0, "offset": 3.0, "degree": 4, "tol": 1e-6},
    },
    "verify --suite f.py:g --path": {"file": None, "suite": "f.py:g", "path": True},
    "formulations": {"name": None, "origin": None},
    "formulations TwoNuSVM --from f.py --json": {"name": "TwoNuSVM", "origin": "f.py", "json": True},
}


@pytest.mark.parametrize("line", SET)
def test_options_set_what_they_say(line):
    found = vars(parsed(line))
    assert {name: found[name] for name in SET[line]} == SET[line]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "the following arguments are required: COMMAND (see paretoclf --help)"),
        ("trace", "the following arguments are required: SOURCE (see paretoclf trace --help)"),
        ("trace a --costs 1", "argument --costs: expected 2 arguments (see paretoclf trace --help)"),
        ("trace a --bandwidth wide", "argument --bandwidth: must be a number or 'median', got 'wide'"),
        ("trace a --tot 3", "unrecognized arguments: --tot 3"),
        ("trace a --kernel cubic", "argument --kernel: invalid choice: 'cubic'"),
        ("verify m --kernel sigmoid", "argument --kernel: invalid choice: 'sigmoid'"),
        ("verify m --ddof 2", "argument --ddof: invalid choice: 2"),
        ("tune a --costs 1 1", "argument --costs: expected 3 arguments"),
        ("tune a --method best", "argument --method: invalid choice: 'best'"),
        ("tradeoff a --rates normal", "argument --rates: invalid choice: 'normal'"),
        ("prove p --level half", "argument --level: invalid choice: 'half'"),
        ("trace a --missing zero", "argument --missing: invalid choice: 'zero'"),
        ("solve a", "argument COMMAND: invalid choice: 'solve'"),
    ],
)
def test_bad_arguments_are_one_line_that_says_where_to_look(line, words):
    with pytest.raises(InputError) as refused:
        parsed(line)
    assert words in str(refused.value)
    assert re.search(r"\(see paretoclf( \w+)? --help\)$", str(refused.value))


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit) as stopped:
        parsed("--version")
    assert stopped.value.code == 0
    assert capsys.readouterr().out == "paretoclf 1.2.3\n"


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_a_help_has_every_option_and_keeps_its_lines(name, capsys):
    with pytest.raises(SystemExit):
        parsed("--help" if name is None else f"{name} --help")
    said = capsys.readouterr().out
    if name is None:
        assert all(f"    {command} " in said for command in COMMANDS)
        assert "exit status: 0 success" in said
        return
    short, description, examples, _ = COMMANDS[name]
    assert description in said
    assert examples in said
    for action in SUBPARSERS[name]._actions:
        assert all(option in said for option in action.option_strings)
        assert action.help is not None
    for group in SUBPARSERS[name]._action_groups[2:]:
        assert group.title in said
    assert short


class TestCompletion:
    def test_a_shell_is_told_which_arguments_are_files(self, monkeypatch, capsys):
        asked = []
        shtab = SimpleNamespace(FILE="a file", DIRECTORY="a folder")
        shtab.complete = lambda parser, shell: asked.append((parser, shell)) or "words for a shell"
        monkeypatch.setitem(sys.modules, "shtab", shtab)
        parser = build_parser("1")
        with pytest.raises(SystemExit) as stopped:
            parser.parse_args(["--print-completion", "zsh"])
        assert stopped.value.code == 0
        assert capsys.readouterr().out == "words for a shell\n"
        assert asked == [(parser, "zsh")]
        trace = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction)).choices["trace"]
        kinds = {action.metavar: getattr(action, "complete", None) for action in trace._actions}
        assert (kinds["SOURCE"], kinds["DIR"], kinds["SIGMA"]) == ("a file", "a folder", None)

    def test_without_shtab_the_remedy_is_said(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "shtab", None)
        with pytest.raises(InputError, match=r"needs shtab: pip install 'paretoclf\[completion\]'"):
            parsed("--print-completion bash")

    def test_other_shells_are_refused(self):
        with pytest.raises(InputError, match="invalid choice: 'fish'"):
            parsed("--print-completion fish")
