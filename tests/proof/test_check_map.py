"""Maps: what is proved is true at every point that is tried, and covers with holes or overlaps are refused."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import time
from fractions import Fraction

import numpy as np
import pytest

from paretoclf.proof import check_map
from paretoclf.proof.files.certificate_file import digest
from tests.oracles.broken_certificates import leaves, other
from tests.oracles.maps import MAPS, content_of, is_optimal, letters_of, places


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """The certificate of each map."""
    return {name: content_of(make(), tmp_path_factory.mktemp(name)) for name, make in MAPS.items()}


def refused(content):
    """Why a content is refused; empty if it is not."""
    try:
        check_map.check_map(content["problem"], content["regions"], content["outside"])
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def said(content, folder, *flags):
    """What the script prints, with the hash renewed."""
    file = folder / "map.json"
    file.write_text(json.dumps({**content, "sha256": digest(content["problem"])}))
    done = subprocess.run([sys.executable, *flags, check_map.__file__, file], capture_output=True, text=True)
    assert (done.returncode == 0) == done.stdout.startswith("PROVED without rounding: ")
    return done.stdout or done.stderr


def inside(corners, place):
    """Whether a point is in a convex polygon of the checker."""
    s, t = map(Fraction, map(float, place))
    points = [(Fraction(x, w), Fraction(y, w)) for w, x, y in corners]
    for (x, y), (u, v) in zip(points, points[1:] + points[:1], strict=True):
        if (u - x) * (t - y) < (v - y) * (s - x):
            return False
    return True


@pytest.mark.parametrize("name", MAPS)
def test_what_is_proved_is_so_at_every_point(name, contents):
    content = contents[name]
    problem, regions = content["problem"], letters_of(content["regions"])
    _, _, whole = check_map.check_map(problem, content["regions"], content["outside"])
    seen = [0, 0]
    for place in places(np.random.default_rng(0), 40):
        optimal = any(is_optimal(problem, letters, place) for letters in regions)
        assert optimal == inside(whole, place)
        seen[optimal] += 1
    assert seen[1] > 5
    assert (seen[0] > 0) == bool(content["outside"])


def test_the_statement_is_printed(contents, tmp_path):
    content = copy.deepcopy(contents["linear"])
    words = said(content, tmp_path)
    assert (
        "for all s and t of the polygon with corners near [[0.0, 0.75], [0.0, 0.0], [0.75, 0.0], [0.75, 0.75]]" in words
    )
    assert "on 2 polygons, minimises x'Px / 2" in words
    content["regions"].pop()
    for flags in ((), ("-O",)):
        assert "NOT PROVED: the regions do not cover" in said(content, tmp_path, *flags)
    assert "of the unit square,\n" in said(contents["costs"], tmp_path)


@pytest.mark.parametrize("name", MAPS)
def test_holes_overlaps_and_other_rays_are_refused(name, contents):
    content = contents[name]
    regions = letters_of(content["regions"])
    for number in range(len(regions)):
        fewer = regions[:number] + regions[number + 1 :]
        assert refused({**content, "regions": stated(fewer)}), number
        assert "do not cover" in refused({**content, "regions": stated([*regions, regions[number]])}), number
    for number in range(len(content["outside"])):
        fewer = content["outside"][:number] + content["outside"][number + 1 :]
        assert "do not cover" in refused({**content, "outside": fewer})
        kind, ray = content["outside"][number]
        opposite = [kind, [-each if type(each) is not str else f"-{each}".replace("--", "") for each in ray]]
        assert refused({**content, "outside": [*content["outside"][:number], opposite]})


def stated(words):
    """Regions as the file has them, all letters as changes."""
    return [words[0], *([[item, letter] for item, letter in enumerate(each)] for each in words[1:])]


def test_a_letter_that_is_wrong_is_refused(contents):
    """But for one of a row without slack and without a multiplier all over a region: there both letters hold."""
    rng, tried, kept = np.random.default_rng(1), 0, 0
    for content in contents.values():
        regions = letters_of(content["regions"])
        for number, letters in enumerate(regions):
            for item, letter in enumerate(letters):
                wrong = letters[:item] + ("i" if letter != "i" else "u") + letters[item + 1 :]
                changed = [*regions[:number], wrong, *regions[number + 1 :]]
                tried += 1
                if not refused({**content, "regions": stated(changed)}):
                    kept += 1
                    here = [place for place in places(rng, 60) if is_optimal(content["problem"], letters, place)]
                    assert all(is_optimal(content["problem"], wrong, place) for place in here)
    assert kept < tried / 10


# ---- cover -----------------------------------------------------------------------------------------------------------


def square(x, y=0, size=1):
    return [(1, x, y), (1, x + size, y), (1, x + size, y + size), (1, x, y + size)]


LEFT, RIGHT = square(0), square(1)
WHOLE = [(1, 0, 0), (1, 2, 0), (1, 2, 1), (1, 0, 1)]
LOW, HIGH = [(1, 1, 0), (1, 2, 0), (1, 2, 1), (2, 2, 1)], [(2, 2, 1), (1, 2, 1), (1, 1, 1)]
COVERS = {
    "two squares": ([LEFT, RIGHT], True),
    "one edge against two": ([LEFT, LOW, HIGH], True),
    "in any order": ([HIGH, LEFT[2:] + LEFT[:2], LOW], True),
    "the left square twice": ([LEFT, LEFT], False),
    "a square moved out of the whole": ([square(-1), RIGHT], False),
    "one turned the other way, and two more": ([LEFT, RIGHT, RIGHT, RIGHT[::-1]], True),
    "a hole": ([LEFT, LOW], False),
    "both and one more inside": ([LEFT, RIGHT, [(2, 2, 0), (2, 3, 0), (2, 3, 1)]], False),
    "nothing": ([], False),
}


@pytest.mark.parametrize("name", COVERS)
def test_covers(name):
    """Three of a kind, of which one is turned, cancel: the checker makes no polygon that turns that way."""
    polygons, covered = COVERS[name]
    assert (check_map.uncovered(polygons, WHOLE) == "") == covered


def test_polygons_are_cut_exactly():
    corners = check_map.cut(list(check_map.SQUARE), (-1, 3, 0))  # s >= 1/3
    assert corners == [(3, 1, 0), (1, 1, 0), (1, 1, 1), (3, 1, 3)]
    assert check_map.cut(corners, (-1, 1, 0)) == []  # the side s = 1 alone
    assert check_map.cut(corners, (2, -1, -1)) == corners  # up to the corner (1, 1)
    assert check_map.cut(corners, (-2, 1, 1)) == []
    assert check_map.cut(corners, (1, -1, -1)) == [(3, 1, 2), (3, 1, 0), (1, 1, 0)]
    assert check_map.cut([], (1, 0, 0)) == []


# ---- files of strangers ----------------------------------------------------------------------------------------------

DEEP = json.loads("[" * 200 + "]" * 200)
STRANGE = [
    {"kind": "margins"},
    {"kind": []},
    {"q": [[1, 1, 1]] * 2},
    {"q": [[10**500, 1, 1]] * 3},
    {"q": [["1" * 500, 1, 1]] * 3},
    {"q": DEEP},
    {"A": [[0] * 3] * 6000},
    {"lower": None},
    {"K": DEEP},
    {"regions": []},
    {"regions": "iii"},
    {"regions": ["i"] * 200_000},
    {"regions": [["i"]]},
    {"outside": 0},
    {"outside": [["infeasible"]]},
    {"outside": [["infeasible", [1]]]},
    {"outside": [["nothing", [1]]]},
    {"outside": [["crossing", [0.0]]]},
    {"outside": [["crossing", [10**500]]]},
]


@pytest.mark.parametrize("fields", STRANGE, ids=range(len(STRANGE)))
def test_files_of_strangers_are_refused_at_once(fields, contents):
    content = copy.deepcopy(contents["quadratic"])
    for name, value in fields.items():
        (content if name in check_map.PARTS else content["problem"])[name] = value
    begin = time.process_time()
    assert refused(content)
    assert time.process_time() - begin < 5


def test_what_is_proved_of_changed_files_is_true(contents):
    """A digit or a letter changed: what is still proved is optimal wherever it is looked at."""
    rng = np.random.default_rng(5)
    proved = 0
    for number in range(60):
        content = copy.deepcopy(contents[list(MAPS)[number % len(MAPS)]])
        at = [each for each in leaves(content) if each[0] not in ("format", "sha256")]
        at = at[int(rng.integers(len(at)))]
        node = content
        for key in at[:-1]:
            node = node[key]
        node[at[-1]] = other(node[at[-1]], rng)
        if refused(content):
            continue
        proved += 1
        _, _, whole = check_map.check_map(content["problem"], content["regions"], content["outside"])
        regions = letters_of(content["regions"])
        for place in places(rng, 4):
            optimal = any(is_optimal(content["problem"], letters, place) for letters in regions)
            assert optimal or not inside(whole, place), at
    assert proved >= 5


def test_bounds_that_are_equal_along_one_line_alone():
    """0 <= x <= t where x is to be as large as can be: x = t, and at t = 0 both bounds hold, at every s."""
    none = [[None, None]] * 3
    problem = {"kind": "program", "K": [[0], [0, 1]], "A": [], "q": [[-1, 0]] * 3, "below": none, "above": none}
    problem |= {"lower": [[0, -1]] * 3, "upper": [[0, 1], [0, 1], [1, 1]]}
    assert check_map.check_map(problem, ["ui"], [])[0] == 1
    problem["q"] = [[1, 0]] * 3  # as small as can be: at its lower bound with a multiplier of one sign
    assert check_map.check_map(problem, ["li"], [])[0] == 1
    problem["q"] = [[1, 0], [1, 0], [-1, 0]]  # x = 0 is right up to t = 1/2
    assert check_map.check_map(problem, ["li", [[0, "u"]]], [])[0] == 2
    with pytest.raises(ArithmeticError, match="do not cover"):
        check_map.check_map(problem, ["li"], [])
