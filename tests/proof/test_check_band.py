"""Bands: what is false is refused, each cone against numbers of its own, and what is proved is true."""

from __future__ import annotations

import copy
import json
import math
import subprocess
import sys
import time
from decimal import Decimal, localcontext
from fractions import Fraction as F

import numpy as np
import pytest

from paretoclf.proof import check_band
from paretoclf.proof.files.certificate_file import digest
from tests.oracles.bands import HONEST, band_of, half_line, value_of, worst_distance
from tests.oracles.broken_certificates import leaves, other


def said(content, folder, *flags):
    """What the script prints of a content, with its hash renewed."""
    file = folder / "band.json"
    file.write_text(json.dumps({**content, "sha256": digest(content["problem"])}))
    done = subprocess.run([sys.executable, *flags, check_band.__file__, file], capture_output=True, text=True)
    assert (done.returncode == 0) == done.stdout.startswith("PROVED without rounding: ")
    return done.stdout or done.stderr


def pieces_of(content):
    """What is proved of each piece."""
    return check_band.band(content["problem"], *(content[name] for name in check_band.PARTS))[1]


def refused(content):
    """Why a content is refused; empty if it is not."""
    try:
        pieces_of(content)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def changed(content, **fields):
    """A copy with other fields, of the problem where it has them."""
    new = copy.deepcopy(content)
    for name, value in fields.items():
        (new if name in new else new["problem"])[name] = value
    return new


@pytest.mark.parametrize("name", HONEST)
def test_each_cone_has_a_band_that_holds_its_minimum(name):
    """Known in closed form: all of V is between the numbers of its piece, and these are near."""
    content, truth = band_of(name)
    pieces = pieces_of(content)
    t = [point[0] for point in content["points"]]
    for first, last, piece in zip(t, t[1:], pieces, strict=False):
        for share in (0, 0.25, 0.5, 0.75, 1):
            value = truth(first + share * (last - first))
            rounding = F(value) / 2**50
            assert piece.low - abs(rounding) <= value <= piece.high + abs(rounding)
        assert piece.width < 0.2


def test_the_statement_is_printed(tmp_path):
    content, _ = band_of("nonnegative")
    words = said(content, tmp_path)
    assert "for every t in [0, 1], on 1 pieces" in words
    assert words == said(content, tmp_path, "-O")
    content["points"][0][1] = [0.5]
    for flags in ((), ("-O",)):
        assert "NOT PROVED: point 0, at t = 0.0: b - Ax leaves the nonnegative cone" in said(content, tmp_path, *flags)


# ---- what is false ---------------------------------------------------------------------------------------------------

ONE = {"points": [[0, [1.0], None, [1.0, 0.0]], [1, [1.0], None, [1.0, 0.0]]]}
SEVEN = {
    "x = 1 where x >= 2": ONE,
    "cones that cover one row of two": {"cones": [["nonnegative", 1]], **ONE},
    "b with one number for two rows": {"b": [[-1.0], [-1.0]], **ONE},
    "sizes that overlap": {"cones": [["nonnegative", 1], ["zero", 0], ["nonnegative", 1], ["zero", -1]], **ONE},
    "a row with an entry of a second column": {"A": [[[0, -1.0]], [[0, -1.0], [1, 9.0]]]},
    "an unknown cone": {"cones": [["psd", 2]]},
    "another unknown cone": {"cones": [["exp", 2]]},
}


def test_the_honest_file_that_is_falsified():
    [piece] = pieces_of(half_line())
    assert piece.low == piece.high == 2


@pytest.mark.parametrize("name", SEVEN)
def test_false_files_are_refused(name):
    assert refused(changed(half_line(), **SEVEN[name]))


def test_a_field_without_a_meaning_is_refused():
    content = half_line()
    content["problem"]["Q"] = [[10.0]]
    assert "wrong fields" in refused(content)
    del content["problem"]["Q"]
    assert not refused(content)
    for field in check_band.FIELDS:
        problem = {name: value for name, value in content["problem"].items() if name != field}
        assert refused({**content, "problem": problem}), field


def test_no_width_is_relative_to_a_value_that_may_be_0(tmp_path):
    """V = 2t - 1 with points .1 above: the width is .1, and V is 0 at t = 1/2."""
    content = half_line(b=[[1.0, 3.0], [-1.0, 3.0]], A=[[[0, -1.0]], [[0, 1.0]]])
    content["points"] = [[0, [-0.9], None, [1, 0]], [1, [1.1], None, [1, 0]]]
    [piece] = pieces_of(content)
    assert float(piece.width) == pytest.approx(0.1, rel=1e-6)
    assert piece.low <= -1
    assert piece.high >= 1
    assert "nothing relative to V" in said(content, tmp_path)


def test_a_slack_that_bends_is_looked_at_in_the_middle():
    """-.1 - (1 - 2t) x >= 0 with x from -1 to 1: .9 at both ends, and -.1 in the middle."""
    content = half_line(A=[[[0, 1.0, -1.0]], [[0, 1.0]]], b=[[-0.1, 5.0], [-0.1, 5.0]], q=[[0.0], [0.0]])
    content["B"] = [[], [], [[0, 1]]]
    content["points"] = [[0, [-1.0], None, [0, 0]], [1, [1.0], None, [0, 0]]]
    assert "middle coefficient" in refused(content)


def test_matrices_that_move_out_of_reach_are_refused():
    content = half_line(A=[[[0, -1.0, 1.5]], [[0, -1.0]]])
    content["B"] = [[], [[0, -1.0]], []]
    assert "B is no left inverse" in refused(content)
    equation, _ = band_of("zero")
    equation["C"] = [[[0, 3.0]] for _ in equation["C"]]
    assert "C is no right inverse" in refused(equation)


def test_a_point_that_misses_an_equation_is_counted():
    """min x, x = 1, with the point .999: V is 1, and .999 is no bound of it from above."""
    content, truth = band_of("zero")
    content["points"] = [[t, [0.75 * entry for entry in x], y, z] for t, x, y, z in content["points"]]
    [piece, *_] = pieces_of(content)
    assert piece.low <= truth(0) <= piece.high
    assert piece.width >= 0.2


def test_negative_curvature_is_refused():
    content, _ = band_of("square")
    content["problem"]["P"][0][0][1] = -1.0
    assert "P is not proved positive semidefinite" in refused(content)
    content["problem"]["P"][0][0][1:] = [1.0, -1e-9]
    assert "P is not proved positive semidefinite" in refused(content)


def test_pieces_must_cover_what_is_stated():
    content, _ = band_of("second-order")
    for points in (content["points"][1:], content["points"][:-1], content["points"][::-1], content["points"][:1], []):
        assert refused(changed(content, points=points))
    assert "until" in refused(changed(content, until=0.5))
    assert refused(changed(content, until=2))
    for until in (0, -1, None, "1", True):
        assert refused(changed(content, until=until)), until


# ---- each cone -------------------------------------------------------------------------------------------------------


def block(kind, order=3, power=(1, 2)):
    size = order * (order + 1) // 2 if kind == "semidefinite" else order
    return check_band.ConeRows(kind, 0, size, order, power)


def test_e_to_a_fraction_is_bounded_from_above_and_closely():
    rng = np.random.default_rng(0)
    with localcontext() as context:
        context.prec = 80
        for _ in range(300):
            r = F(int(rng.integers(-(10**6), 10**6)), int(rng.integers(1, 10 ** int(rng.integers(3, 8)))))
            r = max(F(-900), min(r, F(900)))
            truth = F((Decimal(r.numerator) / Decimal(r.denominator)).exp())
            assert check_band.exponential_at_most(r, truth * (1 + F(1, 10**40)))
            assert not check_band.exponential_at_most(r, truth * (1 - F(1, 10**40)))
    assert not check_band.exponential_at_most(F(10**9), F(2**800))
    assert check_band.exponential_at_most(F(-(10**9)), F(1, 2**800))
    assert check_band.exponential_at_most(F(0), F(1) + F(1, 2**100))
    assert not check_band.exponential_at_most(F(0), F(1) - F(1, 2**100))


INSIDE = {
    "second-order": lambda v: v[0] >= math.hypot(*v[1:]),
    "semidefinite": lambda v: np.linalg.eigvalsh([[v[0], v[1] / 2**0.5], [v[1] / 2**0.5, v[2]]])[0] >= 0,
    "exponential": lambda v: v[1] > 0 and v[1] * math.exp(min(v[0] / v[1], 700)) <= v[2],
    "power": lambda v: min(v[:2]) >= 0 and v[0] ** (1 / 3) * v[1] ** (2 / 3) >= abs(v[2]),
}
INSIDE_DUAL = {
    "second-order": INSIDE["second-order"],
    "semidefinite": INSIDE["semidefinite"],
    "exponential": lambda v: v[0] < 0 and -v[0] * math.exp(min(v[1] / v[0] - 1, 700)) <= v[2],
    "power": lambda v: min(v[:2]) >= 0 and (3 * v[0]) ** (1 / 3) * (1.5 * v[1]) ** (2 / 3) >= abs(v[2]),
}


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("kind", INSIDE)
def test_what_is_inside_is_so_at_every_corner(kind, dual):
    """Each way: all corners are inside in doubles where the checker says so, and one is not where it does not."""
    rng = np.random.default_rng(1)
    each = block(kind, 2 if kind == "semidefinite" else 3, (1, 3))
    inside = (INSIDE_DUAL if dual else INSIDE)[kind]
    found = [0, 0]
    for _ in range(600):
        v = rng.normal(size=3) * 3 + ([2, 0, 2] if kind == "semidefinite" else [-dual, 1, 2])
        radius = np.abs(rng.normal(size=3)) * rng.choice([0, 0.05, 0.3])
        corners = [v + radius * signs for signs in np.array(np.meshgrid(*[[-1, 1]] * 3)).T.reshape(-1, 3)]
        truth = all(inside(corner) for corner in corners)
        whole = [[round(float(x) * 2**40) for x in vector] for vector in (v, radius)]
        ours = check_band.inside(each, *whole, dual)
        if kind == "semidefinite":  # where the radius is taken from the diagonal, which is more than is needed
            assert truth or not ours
            assert ours or not truth or radius.any()
        else:
            assert ours == truth, (v, radius)
        found[ours] += 1
    assert min(found) > 30


def test_borders_of_the_cones_belong_to_them():
    zero = [0, 0, 0]
    assert check_band.inside(block("exponential"), [-1, 0, 1], zero, False)
    assert check_band.inside(block("exponential"), [0, 0, 0], zero, False)
    assert not check_band.inside(block("exponential"), [1, 0, 10], zero, False)
    assert not check_band.inside(block("exponential"), [0, 0, -1], zero, False)
    assert check_band.inside(block("exponential"), [0, 1, 1], zero, True)
    assert not check_band.inside(block("exponential"), [0, -1, 1], zero, True)
    assert not check_band.inside(block("exponential"), [1, 1, 1], zero, True)
    assert check_band.inside(block("power"), [4, 1, -2], zero, False)
    assert not check_band.inside(block("power"), [4, 1, 3], zero, False)
    assert not check_band.inside(block("power"), [-4, -1, 2], zero, False)
    assert check_band.inside(block("power"), [4, 1, 4], zero, True)
    assert not check_band.inside(block("power"), [4, 1, 5], zero, True)
    assert check_band.inside(block("second-order"), [5, 3, -4], zero, False)
    assert not check_band.inside(block("second-order"), [5, 3, 4], [0, 0, 1], False)
    assert not check_band.inside(block("second-order"), [-5, 3, 4], zero, False)
    assert check_band.inside(block("zero"), [5, 3, 4], zero, True)
    assert not check_band.inside(block("zero"), [0, 0, 1], zero, False)


# ---- files of strangers ----------------------------------------------------------------------------------------------

DEEP = json.loads("[" * 200 + "]" * 200)
STRANGE = [
    {"q": [[10**200], [1.0]]},
    {"q": [[1e-200], [1.0]]},
    {"q": [[float("nan")], [1.0]]},
    {"q": [[float("inf")], [1.0]]},
    {"q": [["1"], [1.0]]},
    {"q": [[True], [1.0]]},
    {"q": [[None], [1.0]]},
    {"q": DEEP},
    {"q": []},
    {"q": [[], []]},
    {"b": {"0": [1]}},
    {"A": DEEP},
    {"A": [[[0, -1.0], [0, -1.0]], [[0, -1.0]]]},
    {"A": [[[0.0, -1.0]], [[0, -1.0]]]},
    {"A": [[[-1, -1.0]], [[0, -1.0]]]},
    {"P": [[[0, 1.0, 2.0, 3.0]]]},
    {"cones": [["semidefinite", 10**9]]},
    {"cones": [["power", "1/65"]]},
    {"cones": [["power", "1/1"]]},
    {"cones": [["power", "\u0661/3"]]},
    {"cones": [["power", 0.5]]},
    {"cones": [["exponential", 2]]},
    {"cones": [["nonnegative", 2, 3]]},
    {"cones": [["nonnegative", 2.0]]},
    {"scale": [0]},
    {"scale": [-1]},
    {"scale": [1, 1]},
    {"B": [[[0, 1]]]},
    {"B": [[[0, 1]], [[0, 1, 2]], []]},
    {"points": "01"},
    {"points": [[0, [2.0], None, [0, 1]]] * 200_000},
    {"points": [[0, [2.0], None, [0, 1], 1], [1, [2.0], None, [0, 1]]]},
    {"points": [[0, [2.0], [2.0, 2.0], [0, 1]], [1, [2.0], None, [0, 1]]]},
    {"constant": [0]},
    {"about": 1},
]


@pytest.mark.parametrize("fields", STRANGE, ids=range(len(STRANGE)))
def test_files_of_strangers_are_refused_at_once(fields):
    begin = time.process_time()
    content = half_line()
    content["problem"]["about"] = ""
    assert refused(changed(content, **fields))
    assert time.process_time() - begin < 5  # a second, and room for a slow machine


def test_what_is_proved_of_changed_files_is_true():
    """A digit of the points, the inverses or the problem changed: what is still proved is solved again."""
    rng = np.random.default_rng(3)
    proved = 0
    for number in range(60):
        content, _ = band_of(list(HONEST)[number % len(HONEST)])
        places = [at for at in leaves(content) if at[0] not in ("format", "sha256") and "cones" not in at]
        at = places[int(rng.integers(len(places)))]
        node = content
        for key in at[:-1]:
            node = node[key]
        node[at[-1]] = other(node[at[-1]], rng)
        if refused(content):
            continue
        proved += 1
        assert worst_distance(content, pieces_of(content)) <= 1e-7, at
    assert proved >= 10


def test_the_second_opinion_sees_what_is_false():
    content = half_line()
    assert value_of(content["problem"], 0.5) == pytest.approx(2, abs=1e-7)
    wrong = [check_band.ProvedPiece(F(1), F(3, 2), F(0))]
    assert worst_distance(content, wrong) > 0.1
