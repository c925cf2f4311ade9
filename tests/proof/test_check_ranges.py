"""Ranges: what is proved Clarabel says, too; prices of degenerate optima; what is false is refused."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import time
from fractions import Fraction

import pytest

from paretoclf.proof import check_ranges
from paretoclf.proof.files.certificate_file import digest
from tests.oracles.ranges import MADE, content_of_ranges, objections


@pytest.fixture(scope="module")
def contents():
    return {name: content_of_ranges(name) for name in MADE}


def refused(content):
    """Why a content is refused; empty if it is not."""
    try:
        check_ranges.check_ranges(content["problem"], content["letters"], content["sides"])
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def said(content, folder, *flags):
    """What the script prints, with the hash renewed."""
    file = folder / "ranges.json"
    file.write_text(json.dumps({**content, "sha256": digest(content["problem"])}))
    done = subprocess.run([sys.executable, *flags, check_ranges.__file__, file], capture_output=True, text=True)
    assert (done.returncode == 0) == done.stdout.startswith("PROVED without rounding: ")
    return done.stdout or done.stderr


@pytest.mark.parametrize("name", MADE)
def test_clarabel_finds_the_same_values_on_both_sides_and_others_beyond(name, contents):
    assert objections(contents[name]) == []


def test_prices_of_a_degenerate_optimum_differ():
    """The least -x - 2y with x = y <= 1 and x + y <= 2: any of the three may be loosened for nothing."""
    content = content_of_ranges("degenerate")
    proved = check_ranges.check_ranges(content["problem"], content["letters"], content["sides"])
    prices = {}
    for (name, _), (below, above) in zip(content["problem"]["moves"], proved.sides, strict=True):
        prices[name] = (-below.price, above.price)
    assert prices["constraint 0 (right hand side)"] == (Fraction(-3, 2), 0)
    assert prices["constraint 1 (bound)"] == prices["constraint 2 (bound)"] == (-3, 0)


def test_the_statement_names_what_changes(contents, tmp_path):
    words = said(contents["goods"], tmp_path)
    assert "V, minus the minimum of" in words
    assert "is 17.0, as a double" in words
    assert (
        '"budget (right hand side)":\n  below: price 2.0, for 2.0, where item 3 "x: nonneg[1]" goes from i to u'
        in words
    )
    assert "where there is no minimum (infeasible)" in words
    alone = said(contents["least squares"], tmp_path)
    assert "rates of x, the only one, for " in alone


def test_rates_of_an_optimum_that_is_not_the_only_one_are_said_to_be_so(tmp_path, contents):
    content = copy.deepcopy(contents["jump"])
    content["problem"]["moves"][0][1] = [["constant", 0, 1]]
    content["sides"] = [[{"segments": [[]]}, {"segments": [[]]}]]
    words = said(content, tmp_path)
    assert "rates of x, not proved the only one, without end: [0.0]" in words
    assert words.count("price 1.0, without end") == 2


@pytest.mark.parametrize("flags", [(), ("-O",)])
def test_false_files_are_refused_without_assertions_too(flags, contents, tmp_path):
    content = copy.deepcopy(contents["goods"])
    budget = content["sides"][2]
    budget[1] = budget[0]  # it goes on without end above
    assert "NOT PROVED: movement 2, above: what comes next is for" in said(content, tmp_path, *flags)


def test_ends_that_are_no_ends_are_refused(contents):
    """Ends that are left out, too early, or where the value goes on; rays that come too early, or prove nothing."""
    goods, cost, cap = contents["goods"], contents["goods"]["sides"][0], contents["goods"]["sides"][3]

    def why(content, place, **side):
        other = copy.deepcopy(content)
        other["sides"][place[0]][place[1]] = side
        return refused(other)

    assert "the last segment has an end" in why(goods, (0, 0), segments=[[]])
    assert "next is for what is beyond an end" in why(goods, (0, 1), **cost[0])
    assert "a ray is for what is beyond an end" in why(goods, (2, 1), segments=[[]], ray=cap[0]["ray"])
    assert "the ray proves nothing" in why(goods, (3, 0), segments=[], ray=cap[0]["ray"])
    assert "the ray proves nothing" in why(goods, (3, 1), segments=[[]], ray=cap[0]["ray"])
    assert "at once violates" in why(goods, (0, 0), segments=[[]], next=[])
    assert "bends before the last segment" in why(goods, (0, 0), segments=[[], cost[0]["next"]], next=[])
    assert "a segment before the last has no end" in why(goods, (0, 1), segments=[[], []])
    assert "a side has segments" in why(goods, (0, 0), next=[])
    assert "a side has segments" in why(goods, (0, 0), segments=[[]], next=[], ray=[])


def test_a_value_that_goes_on_where_a_basis_ends_has_several_segments(contents):
    """The least x >= 1 with x + z >= b: first z is 0, then it gives way up to 3, and only then x does."""
    content = copy.deepcopy(contents["flat"])
    names = content["problem"]["names"]
    least, low, high, need = map(names.index, ("constraint 0", "constraint 1", "constraint 2", "need"))
    letters = list(content["letters"])
    letters[low], letters[high] = "u", "i"
    content["letters"] = "".join(letters)
    gives, ends = [[low, "i"], [need, "u"]], [[least, "i"], [high, "u"]]
    move = [name for name, _ in content["problem"]["moves"]].index("need (right hand side)")

    def of(**side):
        content["sides"] = [[None, None] for _ in content["problem"]["moves"]]
        content["sides"][move][1] = side
        return content

    whole = of(segments=[[], gives], next=ends)
    proved = check_ranges.check_ranges(whole["problem"], whole["letters"], whole["sides"]).sides[move][1]
    assert (proved.price, proved.until, proved.first.until) == (0, Fraction(7, 2), Fraction(1, 2))
    assert "bends before the last segment" in refused(of(segments=[[], gives, ends]))
    assert "the minimum does not bend at the end" in refused(of(segments=[[]], next=gives))


#: Fields of the problem of strangers, and what is said of them.
STRANGE = [
    ({"kind": "margins"}, "ranges are of a program"),
    ({"sign": 2}, "sign must be"),
    ({"sign": True}, "sign must be"),
    ({"sign": None}, "sign must be"),
    ({"names": ["x"]}, "names must be"),
    ({"names": None}, "names must be"),
    ({"constant": None}, "no list of numbers"),
    ({"constant": "1e5"}, "no list of numbers"),
    ({"q": [[-3.0, -2.0], [-3.0, -2.0]]}, "q must have one list"),
    ({"moves": []}, "no movements"),
    ({"moves": [["a", []]]}, "two sides"),
    ({"extra": 1}, "wrong fields"),
    ({"q": [[10**400, 1]]}, "too many digits"),
]


@pytest.mark.parametrize(("fields", "why"), STRANGE)
def test_problems_of_strangers_are_refused(fields, why, contents):
    content = copy.deepcopy(contents["goods"])
    content["problem"].update(fields)
    assert why in refused(content)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (["q", 0, None], "no list of numbers"),
        (["q", 2, 1], "nothing moves as 'q'"),
        (["q", True, 1], "no item"),
        (["q", -1, 1], "nothing moves as 'q'"),
        (["below", 0, 1], "nothing moves as 'below'"),
        (["lower", 4, 1], "has no lower bound"),
        (["constant", 1, 1], "the constant is item 0"),
        (["q", 0], "a list of three"),
        ([["q"], 0, 1], "no item"),
    ],
)
def test_entries_of_strangers_are_refused(entry, why, contents):
    content = copy.deepcopy(contents["goods"])
    content["problem"]["moves"][0][1] = [entry]
    assert why in refused(content)
    content["problem"]["moves"][0][1] = [["q", 0, -1], ["q", 0, 1]]
    assert "moves twice" in refused(content)


def test_large_files_are_refused_at_once(contents):
    content = copy.deepcopy(contents["goods"])
    began = time.perf_counter()
    deep = []
    for _ in range(50):
        deep = [deep]
    for fields in ({"K": [[0]] * 6000}, {"moves": [["a", []]] * 200_000}, {"moves": [["a", [deep]]]}):
        assert refused({**content, "problem": {**content["problem"], **fields}})
    assert time.perf_counter() - began < 5


def test_units_of_rates_are_kept_apart(contents):
    """A rate of a third in a program in halves: the price of twice the movement is twice the price."""
    content = copy.deepcopy(contents["priced"])
    proved = check_ranges.check_ranges(content["problem"], content["letters"], content["sides"])
    for _, entries in content["problem"]["moves"]:
        for entry in entries:
            entry[2] = str(Fraction(entry[2]) * 2)
    twice = check_ranges.check_ranges(content["problem"], content["letters"], content["sides"])
    for both, others in zip(proved.sides, twice.sides, strict=True):
        for side, other in zip(both, others, strict=True):
            if side is not None:
                assert (2 * side.price, 4 * side.bend) == (other.price, other.bend)
                assert side.until is None or side.until == 2 * other.until
                assert [2 * rate for rate in side.first.x + side.first.y] == other.first.x + other.first.y
