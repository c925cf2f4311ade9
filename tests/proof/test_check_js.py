"""The checker in JavaScript, written from the page, and those in Python say the same of true and of false files."""

from __future__ import annotations

import copy
import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from paretoclf.proof import check, check_band, check_curve, check_gap, check_map, check_ranges, check_ray
from paretoclf.proof.files.certificate_file import digest
from tests.oracles import curve_certificates as curves
from tests.oracles.bands import HONEST, band_of, half_line
from tests.oracles.broken_certificates import files, leaves, mutated, other
from tests.oracles.maps import MAPS, content_of
from tests.oracles.ranges import MADE, content_of_ranges
from tests.proof import test_check_curve as of_curves
from tests.proof.test_check_band import SEVEN, STRANGE, changed

NODE = shutil.which("node") or shutil.which("nodejs")
SCRIPT = Path(check.__file__).with_name("check.js")
CHECKERS = {
    "exact certificate 1": check,
    "bounded certificate 1": check_gap,
    "band certificate 1": check_band,
    "map certificate 1": check_map,
    "ranges certificate 1": check_ranges,
    "curve certificate 1": check_curve,
}
DRIVER = """
const { checkText } = require(process.argv[1]);
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
const said = texts.map((text) => {
  try { return checkText(text); } catch (error) { return `NOT PROVED: ${error.message}`; }
});
console.log(JSON.stringify(said));
"""

#: Where a statement has a bound or a width.
BOUND = r"(?:at most|within)(?: about)?\s([-+.e0-9]+)"

pytestmark = pytest.mark.skipif(NODE is None, reason="no node on this machine")


def text_of(content):
    """A content as the text of a file, with its hash renewed."""
    return json.dumps({**content, "sha256": digest(content["problem"])})


def of_javascript(texts):
    """What the checker in JavaScript says of each."""
    command = [NODE, "-e", DRIVER, str(SCRIPT)]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def of_python(text, folder):
    """What the checkers in Python say."""
    (folder / "file.json").write_text(text)
    try:
        content = json.loads(text)
        script = check_ray if "ray" in content else CHECKERS[content["format"]]
        return script.main(str(folder / "file.json"))
    except Exception as error:
        return check.why_not(error)


def proved(words):
    return words.startswith("PROVED without rounding: ")


def agree(texts, folder):
    """Assert that both say the same of all; return how many are proved."""
    theirs = of_javascript(texts)
    ours = [of_python(text, folder) for text in texts]
    for text, one, two in zip(texts, ours, theirs, strict=True):
        assert proved(one) == proved(two), f"{one}\n{two}\n{text[:3000]}"
    return sum(map(proved, ours))


@pytest.fixture(scope="module")
def exact_files():
    return list(files())


@pytest.fixture(scope="module")
def bands():
    return [band_of(name)[0] for name in HONEST]


@pytest.fixture(scope="module")
def maps(tmp_path_factory):
    return [content_of(make(), tmp_path_factory.mktemp(name)) for name, make in MAPS.items()]


@pytest.fixture(scope="module")
def ranges():
    return [content_of_ranges(name) for name in MADE]


@pytest.fixture(scope="module")
def curve_files():
    return [curves.curve_of(name)[0] for name in curves.HONEST]


def test_both_prove_files_of_all_kinds(exact_files, bands, maps, ranges, curve_files, tmp_path):
    texts = [text_of(each) for each in (*exact_files, *bands, *maps, *ranges, *curve_files)]
    assert agree(texts, tmp_path) == len(texts)
    assert {json.loads(text)["format"] for text in texts} == {*CHECKERS}


def test_both_state_the_same_numbers(exact_files, bands, curve_files, tmp_path):
    """Bounds of bounded files, and widths of bands and of curves, to 14 digits."""
    bounded = [each for each in exact_files if each["format"].startswith("bounded")]
    for content in (*bounded, *bands, *curve_files):
        text = text_of(content)
        [theirs], ours = of_javascript([text]), of_python(text, tmp_path)
        one, two = (float(re.search(BOUND, words).group(1)) for words in (ours, theirs))
        assert two == pytest.approx(one, rel=1e-13, abs=1e-300)
        assert digest(content["problem"]) in theirs


def test_both_derive_the_same_prices(ranges, tmp_path):
    """Prices and ends of both sides of each movement, to 14 digits."""
    number = r"price ([-+.e0-9]+)|, for ([-+.e0-9]+)|(without end|at once|nothing is said)"
    for content in ranges:
        text = text_of(content)
        [theirs], ours = of_javascript([text]), of_python(text, tmp_path)
        own, other = (re.findall(number, re.sub(r"\n    rates of .*", "", words)) for words in (ours, theirs))
        assert len(own) == len(other) >= 2 * len(content["sides"])
        for (*numbers, word), (*others, other_word) in zip(own, other, strict=True):
            assert word == other_word
            one, two = (float("".join(each) or 0) for each in (numbers, others))
            assert one == pytest.approx(two, rel=1e-13, abs=1e-300)


def test_both_refuse_the_seven_false_files_and_the_map_with_a_hole(maps, tmp_path):
    texts = [text_of(changed(half_line(), **fields)) for fields in SEVEN.values()]
    texts += [text_of({**each, "regions": each["regions"][:-1]}) for each in maps if len(each["regions"]) > 1]
    texts += [text_of({**each, "regions": [*each["regions"], []]}) for each in maps]
    assert agree(texts, tmp_path) == 0
    assert agree([text_of(half_line())], tmp_path) == 1


def test_both_refuse_files_of_strangers(tmp_path):
    texts = []
    for fields in STRANGE:
        content = half_line()
        content["problem"]["about"] = ""
        texts.append(text_of(changed(content, **fields)))
    texts += ["", "[]", "{", '{"format": 1}', '{"format": "exact certificate 1"}', "1" * 10**6, "[" * 10**5]
    texts += [text_of(half_line()).replace('"kind"', '"kind": "cone program", "kind"', 1)]
    assert agree(texts, tmp_path) == 0


def test_both_refuse_false_curves_and_those_of_strangers(tmp_path):
    parts = [*of_curves.SEVEN.values(), *of_curves.STRANGE]
    content = curves.half_line()
    content["problem"]["about"] = ""
    assert agree([text_of(curves.changed(content, **each)) for each in parts], tmp_path) == 0
    falsified = [curves.changed(curves.half_line(), **each) for each in of_curves.FALSE.values()]
    agree([text_of(each) for each in falsified], tmp_path)
    assert agree([text_of(curves.half_line())], tmp_path) == 1


def test_both_say_the_same_of_changed_curves(curve_files, tmp_path):
    """300 with a digit changed; and with a piece left out, repeated, or put in another place, or a frame taken away."""
    rng = np.random.default_rng(9)
    texts = changed_texts(curve_files, 300, rng)
    count = agree(texts, tmp_path)
    assert 60 < count < 240
    texts = []
    for content in (*curve_files, *curve_files):
        new = copy.deepcopy(content)
        pieces = new["stretches"][0][3]
        how = int(rng.integers(4))
        if how == 0:
            del pieces[int(rng.integers(2))]
        elif how == 1:
            pieces[0][0] = float(rng.choice([0.5 + 2.0**-30, 0.75, 0.25]))
        elif how == 2:
            pieces[0], pieces[1] = [pieces[0][0], *pieces[1][1:]], [1, *pieces[0][1:]]
        else:
            pieces[1][4] = [[None, None] for _ in pieces[1][4]]
        texts.append(text_of(new))
    agree(texts, tmp_path)


KINDS = ["exact", "bounded", "band", "map", "ranges"]


@pytest.mark.parametrize("kind", KINDS)
def test_both_say_the_same_of_changed_files(kind, exact_files, bands, maps, ranges, tmp_path):
    """50 of a kind; `tests/benchmarks/bands.py second` has 1 000."""
    originals = [each for each in (*exact_files, *bands, *maps, *ranges) if each["format"].startswith(kind)]
    texts = changed_texts(originals, 50, np.random.default_rng(7))
    count = agree(texts, tmp_path)
    assert 0 < count < 50


def changed_texts(originals, count, rng):
    """So many texts of files, each with a digit, a letter or the order changed."""
    texts = []
    for number in range(count):
        content = originals[number % len(originals)]
        if {"segments", "stretch", "sides"} & content.keys():
            _, content = mutated(content, rng)
        else:
            content = _with_leaf_changed(content, rng)
        texts.append(text_of(content))
    return texts


def _with_leaf_changed(content, rng):
    content = copy.deepcopy(content)
    places = [at for at in leaves(content) if at[0] not in ("format", "sha256")]
    at = places[int(rng.integers(len(places)))]
    node = content
    for key in at[:-1]:
        node = node[key]
    node[at[-1]] = other(node[at[-1]], rng)
    return content


def test_doubles_and_texts_are_hashed_as_python_writes_them(tmp_path):
    """Exponents of two digits, whole doubles, those of 1e16 and more, letters beyond ASCII."""
    content = half_line()
    for number in (1e-07, 1e16, 1.5e16, 123456789012345680.0, 1e15, 0.0001, 0.00001, -0.0, 5e-5, 1.25e100):
        content["problem"]["about"] = f'{number} \u00e9 \U0001f600 \x7f " \\'
        content["problem"]["constant"] = [number, number]
        text = text_of(content)
        [theirs] = of_javascript([text])
        assert digest(content["problem"]) in theirs
        assert proved(theirs) == proved(of_python(text, tmp_path))


def test_the_script_reads_files_and_says_how_it_ended(bands, tmp_path):
    good, bad = tmp_path / "good.json.gz", tmp_path / "bad.json"
    good.write_bytes(gzip.compress(text_of(bands[0]).encode()))
    bad.write_text(text_of(bands[0])[:-1])
    for file, code in ((good, 0), (bad, 1), (tmp_path / "nowhere", 1)):
        done = subprocess.run([NODE, SCRIPT, file], capture_output=True, text=True, check=False)
        assert done.returncode == code
        assert proved(done.stdout) == (code == 0)
