"""Curves: what is false is refused, each cone against numbers of its own, and what is proved is true."""

from __future__ import annotations

import copy
import itertools
import json
import math
import subprocess
import sys
import time
from fractions import Fraction as F

import numpy as np
import pytest

from paretoclf.proof import check_band, check_curve
from paretoclf.proof.files.certificate_file import digest
from tests.oracles.bands import value_of
from tests.oracles.broken_certificates import leaves, other
from tests.oracles.curve_certificates import HONEST, changed, curve_of, ends_of, half_line, worst_distance
from tests.proof.test_check_band import DEEP, INSIDE, INSIDE_DUAL
from tests.proof.test_check_band import SEVEN as SEVEN_BANDS
from tests.proof.test_check_band import STRANGE as STRANGE_BANDS


def said(content, folder, *flags):
    """What the script prints of a content, with its hash renewed."""
    file = folder / "curve.json"
    file.write_text(json.dumps({**content, "sha256": digest(content["problem"])}))
    done = subprocess.run([sys.executable, *flags, check_curve.__file__, file], capture_output=True, text=True)
    assert (done.returncode == 0) == done.stdout.startswith("PROVED without rounding: ")
    return done.stdout or done.stderr


def proved(content):
    """What is proved of each piece."""
    return check_curve.curve(content["problem"], content["stretches"])


def refused(content):
    """Why a content is refused; empty if it is not."""
    try:
        proved(content)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize("name", HONEST)
def test_each_cone_has_a_curve_that_holds_its_minimum(name):
    """Known in closed form: all of V is between the numbers of its piece, and the width is that of degree 8."""
    content, truth = curve_of(name)
    pieces, t = proved(content), ends_of(content)
    for (first, last), piece in zip(itertools.pairwise(t), pieces, strict=True):
        for share in np.linspace(0, 1, 21).tolist():
            value = truth(first + share * (last - first))
            rounding = F(abs(value)) / 2**50
            assert piece.low - rounding <= value <= piece.high + rounding
        assert 0 <= piece.width < 1e-6


def test_the_statement_is_printed(tmp_path):
    content, _ = curve_of("second-order")
    words = said(content, tmp_path)
    assert "for every t in [0, 1], on 2 pieces" in words
    assert words == said(content, tmp_path, "-O")
    content["stretches"][0][3][1][1][4][0] -= 0.5
    for flags in ((), ("-O",)):
        assert "NOT PROVED: piece 1, from t = 0.5: b - Ax leaves the second-order" in said(content, tmp_path, *flags)


# ---- what is false ---------------------------------------------------------------------------------------------------

ONE = {"x": [[1.0], [1.0]], "z": [[1.0, 0.0], [1.0, 0.0]]}
SEVEN = {name: {k: v for k, v in each.items() if k != "points"} | ONE for name, each in SEVEN_BANDS.items()}
FALSE = {
    "a multiplier that is negative in the middle": {"z": [[0.0, 1.0], [6.0, -5.0], [0.0, 1.0]]},
    "a slack that is negative in the middle": {"x": [[2.0], [1.0], [2.0]]},
    "a multiplier that is negative": {"z": [[-1.0, 2.0], [-1.0, 2.0]]},
    "the cone of other rows": {"cones": [["nonnegative", 1], ["zero", 1]]},
    "equations where there are none": {"cones": [["zero", 2]]},
    "a second-order cone": {"cones": [["second-order", 2]], "b": [[-3.0, -2.0]] * 2},
    "another cost": {"q": [[1.0], [-1.0]]},
}


def test_the_honest_file_that_is_falsified():
    [piece] = proved(half_line())
    assert piece.low == piece.high == 2


@pytest.mark.parametrize("name", SEVEN)
def test_files_with_a_point_below_the_minimum_are_refused(name):
    assert refused(changed(half_line(), **SEVEN[name]))


@pytest.mark.parametrize("name", FALSE)
def test_false_files_are_refused_or_say_what_is_true(name):
    content = changed(half_line(), **FALSE[name])
    assert refused(content) or worst_distance(content, proved(content)) <= 1e-7


def test_a_multiplier_that_is_negative_between_fine_ends_is_refused():
    """Half the way between 2 and 2 the middle coefficient -6 makes it -2, and -1 makes it .5."""
    rows = {"A": [[[0, -1.0]], [[0, 1.0]]], "b": [[-1.0, 9.0]] * 2, "q": [[2.0], [2.0]], "B": [[], [[0, -1]], []]}
    fine = changed(half_line(), **rows, z=[[2.0, 0.0]] * 2, x=[[1.0]] * 2)
    assert not refused(fine)
    for middle, wrong in ((-6.0, "leaves the dual of the nonnegative cone of rows 1 to 1"), (-1.0, "")):
        z = [[4.0, 2.0], [2.0 + middle, middle], [4.0, 2.0]]
        assert wrong in (found := refused(changed(fine, z=z)))
        assert bool(found) == bool(wrong)


def test_a_field_without_a_meaning_is_refused():
    content = half_line()
    content["problem"]["Q"] = [[10.0]]
    assert "wrong fields" in refused(content)
    del content["problem"]["Q"]
    assert not refused(content)
    for field in check_band.FIELDS:
        problem = {name: value for name, value in content["problem"].items() if name != field}
        assert refused({**content, "problem": problem}), field


def test_pieces_must_cover_the_line():
    content, _ = curve_of("exponential", 4)
    pieces = content["stretches"][0][3]
    assert not refused(content)
    for wrong in (pieces[:-1], pieces[::-1], [], [*pieces, pieces[-1]]):
        assert refused(changed(content, pieces=wrong))
    for t in (0, -1, 1.5, None, "1", True, [1]):
        last = [*pieces[:-1], [t, *pieces[-1][1:]]]
        assert refused(changed(content, pieces=last)), t
    for until in (0.5, 2, None):
        assert refused(changed(content, until=until)), until


def test_pieces_that_are_left_out_or_stretched_are_refused_or_say_what_is_true():
    """The next piece then goes on from where one ends, or a little later than its own polynomials."""
    accepted = 0
    for name in HONEST:
        content, _ = curve_of(name, 4)
        honest = proved(content)
        for change in (None, 2.0**-30, -(2.0**-20)):
            new = copy.deepcopy(content)
            pieces = new["stretches"][0][3]
            if change is None:
                del pieces[1]
            else:
                pieces[1][0] += change
            if refused(new):
                continue
            accepted += 1
            found = proved(new)
            assert worst_distance(new, found) <= 1e-7
            assert max(piece.width for piece in found) > max(piece.width for piece in honest)
    assert accepted > 3


def test_inverses_hold_for_their_own_stretch():
    """1 + 20 t has no inverse for all t, and one for each part."""
    slope, ends = 20.0, [0.0, 0.02, 0.07, 0.2, 0.5, 1.0]
    content = half_line(A=[[[0, -1.0, -1.0 - slope]], [[0, -1.0]]], b=[[-1.0, 5.0]] * 2)
    stretches = []
    for first, last in itertools.pairwise(ends):
        inverse = 1 / (1 + slope * (first + last) / 2)
        x, z = [[2.0], [2.0]], [[inverse, 0.0]] * 2
        stretches.append([[[], [[0, -inverse]], []], [[]], [1], [[last if last < 1 else 1, x, None, z, []]]])
    assert not refused({**content, "stretches": stretches})
    wide = [[*stretches[2][:3], [each for stretch in stretches for each in stretch[3]]]]
    assert "B is no left inverse" in refused({**content, "stretches": wide})
    equation, _ = curve_of("zero")
    assert "C is no right inverse" in refused(changed(equation, C=[[[0, 3.0]]]))


def test_a_point_that_misses_an_equation_is_counted():
    """min x, x = 1 + t, with .75 of the point: V is no less than 1, and .75 is no bound of it from above."""
    content, truth = curve_of("zero", 1)
    [piece] = content["stretches"][0][3]
    [found] = proved(changed(content, x=[[0.75 * entry for entry in row] for row in piece[1]]))
    assert found.low <= truth(0) <= truth(1) <= found.high
    assert found.width >= 0.2


def test_a_residual_is_counted():
    """min x, x >= 1 + t, with a multiplier of .9: what is missing of it may cost a tenth of the slack's place."""
    content, _ = curve_of("nonnegative", 1)
    for wrong in (0.9, 1.1):
        new = changed(content, z=[[wrong], [wrong]])
        assert refused(new) or worst_distance(new, proved(new)) <= 1e-8


#: Of each part of the width a file of which V is exactly f less the width: with less of it V would be below.
TIGHT = {
    "a residual times a slack": {
        "A": [[[0, -1]], [[0, 1]]],
        "b": [[0, 5]] * 2,
        "q": [[-0.25]] * 2,
        "B": [[], [], [[0, 1]]],
        "x": [[0]] * 2,
        "z": [[0, 0.125]] * 2,
        "V": F(-5, 4),
    },
    "a multiplier times what moves of a slack": {
        "P": [[], []],
        "A": [[[0, 1]], [[0, -1], [1, 1]]],
        "b": [[1, 4]] * 2,
        "q": [[0, -1]] * 2,
        "cones": [["zero", 1], ["nonnegative", 1]],
        "B": [[], [], [[0, 1], [1, 1]], [[1, 1]]],
        "C": [[[0, 1]], []],
        "scale": [1, 1],
        "x": [[0.5, 0]] * 2,
        "z": [[1, 1]] * 2,
        "V": F(-5),
    },
    "x apart from y": {
        "P": [[[0, 1]]],
        "A": [[[0, 1]]],
        "b": [[5]] * 2,
        "q": [[-1]] * 2,
        "cones": [["nonnegative", 1]],
        "B": [[[0, 1]], []],
        "x": [[0]] * 2,
        "y": [[1]] * 2,
        "z": [[0]] * 2,
        "V": F(-1, 2),
    },
}
TIGHT["y not stationary"] = TIGHT["x apart from y"] | {"y": [[0.5]] * 2}


@pytest.mark.parametrize("name", TIGHT)
def test_each_part_of_the_width_is_needed(name):
    parts = dict(TIGHT[name])
    truth = parts.pop("V")
    [piece] = proved(changed(half_line(), **parts))
    assert piece.low == truth


def test_negative_curvature_is_refused():
    content, _ = curve_of("square")
    content["problem"]["P"][0][0][1:] = [1.0, -1e-9]
    assert "P is not proved positive semidefinite" in refused(content)


def test_powers_are_refused_by_name():
    content = changed(half_line(), cones=[["power", "1/2"]], b=[[1.0, 1.0, 0.0]] * 2, A=[[], [], [[0, 1.0]]])
    assert "no power cones" in refused(changed(content, B=[[]] * 4, z=[[0.0] * 3] * 2))


# ---- polynomials -----------------------------------------------------------------------------------------------------


def value(polynomial, u):
    """The value of a list of numbers at u."""
    degree = len(polynomial) - 1
    return sum(c * u**i * (1 - u) ** (degree - i) for i, c in enumerate(polynomial))


def test_polynomials_are_computed_with_as_their_values_are():
    rng = np.random.default_rng(0)
    places = [F(0), F(1, 7), F(1, 2), F(5, 6), F(1)]
    for _ in range(40):
        p, q = ([int(c) for c in rng.integers(-99, 99, size=int(rng.integers(2, 7)))] for _ in range(2))
        left, right = check_curve.halves(p)
        scale = 2 ** (len(p) - 1)
        for u in places:
            assert value(check_curve.product(p, q), u) == value(p, u) * value(q, u)
            assert value(check_curve.plus(p, q, -1), u) == value(p, u) - value(q, u)
            assert value(check_curve.lifted(p, len(p) + 3), u) == value(p, u)
            assert value(check_curve.lowered(p, 5), u) == value(p, u) - 5
            assert value(left, u) == scale * value(p, u / 2)
            assert value(right, u) == scale * value(p, (1 + u) / 2)
            assert abs(value(p, u)) <= check_curve.size(p)
            assert check_curve.least(p) <= value(p, u) <= check_curve.most(p, 1)
            step = F(1, 10**9)
            slope = value(check_curve.derivative(p), u)
            assert abs((value(p, u + step) - value(p, u)) / step - slope) < F(1, 10**4)
        sampled = max(value(p, F(i, 64)) for i in range(65))
        assert check_curve.most(p, 1) - sampled < 3


def block(kind, order=3):
    size = order * (order + 1) // 2 if kind == "semidefinite" else order
    return check_band.ConeRows(kind, 0, size, order, (1, 2))


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("kind", ["nonnegative", "second-order", "semidefinite", "exponential"])
def test_what_is_inside_is_so_at_every_u_and_corner(kind, dual):
    """Each way, against doubles: what is proved holds at many u, and what is far inside is proved."""
    rng = np.random.default_rng(1)
    each = block(kind, 2 if kind == "semidefinite" else 3)
    tests = {**(INSIDE_DUAL if dual else INSIDE), "nonnegative": lambda v: min(v) >= 0}
    center = {"semidefinite": [1, 0, 1], "nonnegative": [1, 1, 1], "second-order": [1, 0, 0]}.get(kind, [-dual, 1, 2])
    u = np.linspace(0, 1, 33)
    rows = np.array([[math.comb(3, i) * v**i * (1 - v) ** (3 - i) for i in range(4)] for v in u])
    found = [0, 0]
    for _ in range(100):
        coefficients = center + rng.normal(size=(4, 3)) * rng.choice([0.3, 1.0])
        radius = np.abs(rng.normal(size=3)) * rng.choice([0, 0.02])
        whole = [[round(float(x) * 2**40) for x in row] for row in coefficients]
        vector = [[math.comb(3, i) * row[k] for i, row in enumerate(whole)] for k in range(3)]
        reach = [round(float(x) * 2**40) for x in radius]
        ours = check_curve.inside(each, vector, reach, dual)
        corners = [radius * signs for signs in np.array(np.meshgrid(*[[-1, 1]] * 3)).T.reshape(-1, 3)]
        values = [row + corner for row in rows @ coefficients for corner in corners]
        truth = all(tests[kind](v) for v in values)
        assert truth or not ours
        deep = all(tests[kind](v - 0.15 * np.array(center)) for v in values)
        assert ours or not deep, (coefficients, radius)
        found[ours] += 1
    assert min(found) > 15


OUTSIDE = [
    ("exponential", [[0, 0, 0], [1, -3, 1], [10, 10, 10]], [0, 0, 0], False),  # y e^(x/y) with y < 0 in the middle
    ("exponential", [[-1, -1, -1], [-1, -1, -1], [9, 9, 9]], [0, 0, 0], False),
    ("exponential", [[-1, -1, -1], [1, 1, 1], [2, 2, 2]], [0, 3, 0], True),  # v = -2: e <= 2
    ("exponential", [[10] * 3, [10] * 3, [32] * 3], [2, 0, 0], False),
    ("exponential", [[10] * 3, [10] * 3, [32] * 3], [0, 5, 0], False),
    ("exponential", [[10] * 3, [10] * 3, [32] * 3], [0, 0, 8], False),
    ("exponential", [[-10] * 3, [10] * 3, [3] * 3], [8, 0, 0], True),
    ("second-order", [[-5, -5, -5], [3, 3, 3], [0, 0, 0]], [0, 0, 0], False),
    ("second-order", [[5, 5, 5], [3, 3, 3], [3, 3, 3]], [0, 1, 1], False),
    ("semidefinite", [[10, 10, 10], [13, 13, 13], [10, 10, 10]], [0, 2, 0], False),
    ("semidefinite", [[10, 10, 10], [13, 13, 13], [10, 10, 10]], [1, 0, 1], False),
    ("nonnegative", [[1, -2, 1], [9, 9, 9], [9, 9, 9]], [0, 0, 0], False),
]


@pytest.mark.parametrize("case", OUTSIDE, ids=range(len(OUTSIDE)))
def test_the_nearest_vectors_that_are_outside_are_seen(case):
    """Bernstein coefficients of each entry, and the radius: without it, or with better signs, some are inside."""
    kind, coefficients, radius, dual = case
    vector = [[math.comb(2, i) * number for i, number in enumerate(entry)] for entry in coefficients]
    each = block(kind, 2 if kind == "semidefinite" else 3)
    assert not check_curve.inside(each, vector, radius, dual)
    if any(radius):
        assert check_curve.inside(each, vector, [number // 2 for number in radius], dual)


def matrices(coefficients):
    """Entries of a matrix of polynomials as the checker has them; those off the diagonal times the root of 2."""
    degree, order = len(coefficients) - 1, len(coefficients[0])
    root = math.isqrt(2 << 400)
    vector = []
    for column in range(order):
        for row in range(column + 1):
            factor = 1 << 200 if row == column else root
            vector.append([math.comb(degree, i) * M[row][column] * factor for i, M in enumerate(coefficients)])
    return vector


def test_a_matrix_whose_kernel_turns_is_proved_by_its_frame_alone():
    """v v' + 2^-60 with v = (1, 1 + u): V = -(1 + u) takes the second column by what it has of the first."""
    big = 1 << 60
    squares = [
        [[big, big], [big, big]],
        [[big, 3 * big // 2], [3 * big // 2, 2 * big]],
        [[big, 2 * big], [2 * big, 4 * big]],
    ]
    for more, is_inside in ((1, True), (-1, False)):
        shifted = [[[M[i][j] + more * (i == j) for j in (0, 1)] for i in (0, 1)] for M in squares]
        frame = check_curve.frame_of([[0], [[[-1]], [[-2]]]], 2)
        arguments = block("semidefinite", 2), matrices(shifted), [0, 0, 0], False
        assert check_curve.inside(*arguments, frame) is is_inside
        assert not check_curve.inside(*arguments)


def test_no_frame_makes_an_indefinite_matrix_semidefinite():
    rng = np.random.default_rng(2)
    for _ in range(40):
        roots = rng.integers(-5, 6, size=(3, 3, 3))
        coefficients = [(root @ root.T - 2 * np.eye(3, dtype=int)).tolist() for root in roots]
        u = np.linspace(0, 1, 33)
        weights = np.stack([(1 - u) ** 2, 2 * u * (1 - u), u**2], axis=1)
        truth = np.linalg.eigvalsh(np.tensordot(weights, np.array(coefficients, float), 1)).min() >= 0
        core = sorted(rng.choice(3, size=int(rng.integers(1, 3)), replace=False).tolist())
        mixture = rng.normal(size=(int(rng.integers(2, 5)), len(core), 3 - len(core))).tolist()
        frame = check_curve.frame_of([core, mixture], 3)
        assert truth or not check_curve.inside(block("semidefinite", 3), matrices(coefficients), [0] * 6, False, frame)


def test_frames_of_strangers_are_refused():
    content, _ = curve_of("rank one")
    [slack, multipliers] = content["stretches"][0][3][0][4][0]
    core, mixture = multipliers
    assert not refused(content)
    strange = [
        [[], mixture],
        [[0, 1, 2], mixture],
        [[3], mixture],
        [[-1], mixture],
        [[0.0], mixture],
        [[True], mixture],
        [core * 2, mixture],
        [core * 2, [row * 2 for row in mixture]],
        [core, []],
        [core, mixture[:1]],
        [core, [row * 2 for row in mixture]],
        [core, [[row[0][:1]] for row in mixture]],
        [core, DEEP],
        [core],
        0,
        "J",
    ]
    for wrong in strange:
        assert refused(changed(content, frames=[[slack, wrong]])), wrong
    for frames in ([], [[slack]], [[slack, multipliers]] * 2, None):
        assert refused(changed(content, frames=frames))


# ---- files of strangers ----------------------------------------------------------------------------------------------

STRANGE = [fields for fields in STRANGE_BANDS if "points" not in fields] + [
    {"x": [[2.0]]},
    {"x": [[2.0]] * 32},
    {"x": [[2.0], [2.0, 1.0]]},
    {"x": [[2.0], None]},
    {"x": DEEP},
    {"y": [[2.0, 2.0]] * 2},
    {"y": []},
    {"z": [[0.0], [1.0]]},
    {"z": [[float("nan"), 1.0]] * 2},
    {"z": [[1e-200, 1.0]] * 2},
    {"z": None},
    {"frames": [[None, None]]},
    {"t": 0.5},
    {"t": 1e-300},
    {"pieces": []},
    {"pieces": None},
    {"pieces": [[1, [[2.0]] * 2, None, [[0.0, 1.0]] * 2]]},
    {"pieces": [[1, [[2.0]] * 2, None, [[0.0, 1.0]] * 2, []]] * 20_000},
    {"stretches": []},
    {"stretches": {}},
    {"stretches": [[]]},
    {"stretches": [[[[], [[0, -1]], []], [[]], [1]]]},
]


@pytest.mark.parametrize("fields", STRANGE, ids=range(len(STRANGE)))
def test_files_of_strangers_are_refused_at_once(fields):
    begin = time.process_time()
    content = half_line()
    content["problem"]["about"] = ""
    assert refused(changed(content, **fields))
    assert time.process_time() - begin < 5  # a second, and room for a slow machine


def test_what_is_proved_of_changed_files_is_true():
    """A digit of the polynomials, the inverses or the problem changed: what is still proved is solved again."""
    rng = np.random.default_rng(3)
    count = 0
    honest = {name: curve_of(name, 1)[0] for name in HONEST}
    for number in range(90):
        content = copy.deepcopy(honest[list(HONEST)[number % len(HONEST)]])
        places = [at for at in leaves(content) if at[0] not in ("format", "sha256") and "cones" not in at]
        at = places[int(rng.integers(len(places)))]
        node = content
        for key in at[:-1]:
            node = node[key]
        node[at[-1]] = other(node[at[-1]], rng)
        if refused(content):
            continue
        count += 1
        assert worst_distance(content, proved(content)) <= 1e-7, at
    assert count >= 15


def test_the_second_opinion_sees_what_is_false():
    content = half_line()
    assert value_of(content["problem"], 0.5) == pytest.approx(2, abs=1e-7)
    wrong = [check_band.ProvedPiece(F(1), F(3, 2), F(0))]
    assert worst_distance(content, wrong) > 0.1
