"""Tests of `paretoclf.proof.check_gap`."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.cli import main
from paretoclf.proof import check, check_gap
from tests.oracles.second_checker import gap_of as second_gap_of
from tests.proof.test_check import program


def test_a_phantom_variable_moves_no_point(tmp_path):
    """min (x - 3)^2 / 2 on [0, 9]: x = 0 is 4.5 above the minimum, whatever other items a point names."""
    problem = program([[1]], [], [[-3], [-3]], [[0], [0]], [[9], [9]])
    assert check_gap.gap(problem, [[0, [], []], [1, [], []]], 0)[1] == 27  # the bound, on the way up to 9
    for item in (-1, 1, True):
        with pytest.raises(ArithmeticError, match="no item"):
            check_gap.gap(problem, [[0, [[item, 3]], []], [1, [], []]], 0)


def test_a_point_leaves_no_bound_and_knots_go_from_0_to_1():
    problem = program([[1]], [[1]], [[-3], [-3]], [[0, 0], [0, 0]], [[1, 9], [3, 9]])
    good = [[0, [[0, 1]], [0]], [1, [[0, 3]], [0]]]
    ends, most = check_gap.gap(problem, good, 0)
    assert ends == [Fraction(-5, 2), Fraction(-9, 2)]
    # x = 1 + 2 t, y = x - 3 = -2 (1 - t), upper - x = 0.
    assert most == 0
    bad = [
        [[0, [[0, 1]], [0]], [1, [[0, "301/100"]], [0]]],
        [[0, [[0, -1]], [0]], [1, [[0, 3]], [0]]],
        [[0, [[0, 1]], [0]], [0.5, [[0, 3]], [0]], [1, [], [0]]],
        [[0.5, [[0, 1]], [0]], [1, [[0, 3]], [0]]],
        [[0, [[0, 1]], [0]], [2, [[0, 3]], [0]]],
        [[0, [[0, 1]], [0]], [0.75, [[0, 1]], [0]], [0.5, [], [0]], [1, [], [0]]],
        [[0, [[0, 1]], [0]]],
        [],
        [[0, [[0, 1]], []], [1, [], []]],
        [[0, [[0, 1]], [0, 0]], [1, [], [0, 0]]],
        [[0, [[0, "a"]], [0]], [1, [], [0]]],
        [[0, [[0, "b"]], [0]], [1, [], [0]]],
    ]
    for points in bad:
        with pytest.raises((ArithmeticError, ValueError, IndexError)):
            check_gap.gap(problem, points, 0)
    for stretch in (-1, "-1/2", "", None):
        with pytest.raises((ArithmeticError, ValueError)):
            check_gap.gap(problem, good, stretch)


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_of_points_that_stand_still_is_the_gap_from_its_definition(seed):
    """Programs in fractions with bounds on either side of 0, any multipliers and a stretch; moving ones are bounded."""
    rng = np.random.default_rng(seed)

    def some(*shape, least=-9):
        flat = [
            str(Fraction(int(rng.integers(least, 10)), int(rng.choice([1, 2, 3, 5])))) for _ in range(np.prod(shape))
        ]
        return np.array(flat, dtype=object).reshape(shape).tolist()

    B = [[Fraction(v) for v in row] for row in some(2, 2)]
    K = [[str(sum(a * b for a, b in zip(B[i], B[j], strict=True))) for j in range(i + 1)] for i in range(2)]
    A, x = some(1, 2), [[Fraction(v) for v in row] for row in some(2, 2)]
    v = [[*each, sum(Fraction(a) * b for a, b in zip(A[0], each, strict=True))] for each in x]
    room = [[Fraction(w) for w in row] for row in some(4, 3, least=0)]
    lower = [[str(a - b) for a, b in zip(*pair, strict=True)] for pair in zip(v, room[:2], strict=True)]
    upper = [[str(a + b) for a, b in zip(*pair, strict=True)] for pair in zip(v, room[2:], strict=True)]
    q, (first, last), stretch = some(2, 2), some(2, 1), ["0", "1/3"][seed % 2]
    for k in (0, 1):  # standing still at either end, then from one to the other
        still = program(K, A, [q[k]] * 2, [lower[k]] * 2, [upper[k]] * 2)
        at = [[i, str(w)] for i, w in enumerate(x[k])]
        points = [[0, at, first], ["1/3", [], first], [1, [], first]]
        ends, most = check_gap.gap(still, points, stretch)
        assert most == second_gap_of({"problem": still, "points": points, "stretch": stretch})
        P = [[Fraction(K[max(i, j)][min(i, j)]) for j in (0, 1)] for i in (0, 1)]
        half = sum(a * P[i][j] * b for i, a in enumerate(x[k]) for j, b in enumerate(x[k])) / 2
        assert ends == [half + sum(Fraction(a) * b for a, b in zip(q[k], x[k], strict=True))] * 2
    moving = program(K, A, q, lower, upper)
    points = [
        [0, [[i, str(w)] for i, w in enumerate(x[0])], first],
        [1, [[i, str(w)] for i, w in enumerate(x[1])], last],
    ]
    _, most = check_gap.gap(moving, points, stretch)
    assert most >= second_gap_of({"problem": moving, "points": points, "stretch": stretch})
    on_bounds = [[0, [[0, "l"], [1, "u"]], first], ["1/2", [[1, "l"]], first], [1, [[0, "u"]], last]]
    wide = program(K, A, q, [[*e[:2], -9999] for e in lower], [[*e[:2], 9999] for e in upper])
    _, most = check_gap.gap(wide, on_bounds, stretch)
    assert most >= second_gap_of({"problem": wide, "points": on_bounds, "stretch": stretch})


def test_between_two_knots_either_end_of_a_multiplier_meets_the_other_of_a_room():
    """min (1 - t) x and min t x on [0, 1], by points that are optimal at both ends: t (1 - t) above it in between."""
    for q, first, last in (([[1], [0]], "l", "u"), ([[0], [1]], "u", "l")):
        problem = program([[0]], [], q, [[0], [0]], [[1], [1]])
        _, most = check_gap.gap(problem, [[0, [[0, first]], []], [1, [[0, 1 if last == "u" else 0]], []]], 0)
        assert most == Fraction(1, 2)  # the middle coefficient of 2 t (1 - t) / 2, whose largest value is 1 / 4
    for q, first, last in (([[-1], [0]], 1, 0), ([[0], [-1]], 0, 1)):
        problem = program([[0]], [], q, [[0], [0]], [[1], [1]])
        assert check_gap.gap(problem, [[0, [[0, first]], []], [1, [[0, last]], []]], 0)[1] == Fraction(1, 2)


def test_a_bound_or_price_that_a_point_needs_must_be_there():
    free = program([[1]], [[1]], [[-3], [-3]], [[None, None]] * 2, [[None, 9]] * 2)
    for letter in ("l", "u"):
        with pytest.raises(ArithmeticError, match="no such bound"):
            check_gap.gap(free, [[0, [[0, letter]], [0]], [1, [], [0]]], 0)
    at = {"lower": [[0, None]] * 2}
    points = [[0, [[0, 3]], [0]], [1, [], [0]]]
    assert check_gap.gap({**free, **at}, points, 0)[1] == 0
    with pytest.raises(ArithmeticError, match="not finite"):
        check_gap.gap({**free, **at}, [[0, [[0, 3]], [1]], [1, [], [1]]], 0)
    for side in ("below", "above"):
        for prices in ([1, None], [None, 1], [1, 1]):
            with pytest.raises(ArithmeticError, match="hard"):
                check_gap.gap({**free, **at, side: [prices] * 2}, points, 0)


def test_how_wide_is_enough_is_said_by_who_asks(tmp_path):
    X, y = np.array([[2.0], [1.0], [0.0], [-1.0], [-3.0]]), np.array([1, 1, -1, -1, -1.0])
    file = str(tmp_path / "five.json")
    pc.trace(pc.TwoCSVM(X, y), (0.5, 1.5), (1.5, 0.5)).proof.save(file, level="bounded")
    stated = json.loads(Path(file).read_text())
    gap = check_gap.gap(stated["problem"], stated["points"], stated["stretch"])[1]
    assert gap < Fraction("1e-9")
    assert check_gap.main(file, "--within", "1e-9") == check_gap.main(file)
    for enough in ("-1", "-1e-40"):  # a gap may be 0
        with pytest.raises(ArithmeticError, match=r"the bound, .*, is wider than --within"):
            check_gap.main(file, "--within", enough)
    with pytest.raises((ArithmeticError, ValueError, IndexError)):
        check_gap.main(file, "--within")


def test_the_command_passes_on_how_wide_is_enough_and_a_checker_names_the_one_that_reads_a_file(tmp_path, capsys):
    svm = pc.TwoCSVM(np.array([[2.0], [1.0], [0.0], [-1.0], [-3.0]]), [1, 1, -1, -1, -1])
    path, bounded, exact = (
        pc.trace(svm, (0.5, 1.5), (1.5, 0.5)),
        *(str(tmp_path / f"{level}.json") for level in ("bounded", "exact")),
    )
    for level, file in (("bounded", bounded), ("exact", exact)):
        path.proof.save(file, level=level)
    assert main(["check", bounded, "--within", "1e-9"]) == 0
    assert main(["check", bounded, "--within", "1e-40"]) == 1
    assert "is wider than --within" in capsys.readouterr().out
    assert main(["check", exact, "--within", "1e-9"]) == 2
    assert "--within belongs to a bounded certificate" in capsys.readouterr().err
    with pytest.raises(ArithmeticError, match=r"; check_gap\.py checks files of the format 'bounded certificate 1'"):
        check.main(bounded)
    with pytest.raises(ArithmeticError, match=r"; check\.py checks files of the format 'exact certificate 1'"):
        check_gap.main(exact)
