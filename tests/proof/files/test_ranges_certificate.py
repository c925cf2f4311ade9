"""Files of ranges and derivatives: of random programs, against what was found in doubles and values in fractions."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.cli import main
from paretoclf.common.errors import InputError
from paretoclf.path.sensitivity.derivatives import Derivatives
from paretoclf.path.sensitivity.ranges import Ranges
from paretoclf.proof import check_ranges
from paretoclf.proof.files.ranges_certificate import _same
from tests.oracles.small_programs import value
from tests.path.sensitivity.test_ranges import fractions, program


def proved_of(found, folder):
    """What the checker derives from the file."""
    found.proof.save(folder / "ranges.json.gz", progress=False)
    content = json.loads(gzip.decompress((folder / "ranges.json.gz").read_bytes()))
    return check_ranges.check_ranges(content["problem"], content["letters"], content["sides"])


@pytest.mark.parametrize("seed", range(14))
def test_ranges_of_random_programs_are_proved(seed, tmp_path):
    """Prices and ends of the file are those that were found, and values in between are those of every basis tried."""
    P, q, A, b = program(seed)
    n, qp = len(q), pc.QP(P, q, A, np.full(len(b), -np.inf), b)
    if isinstance(here := value(*fractions(P, q, A, b)), str):
        pytest.skip("no optimum")
    found = pc.ranges(qp, progress=False)
    proved = proved_of(found, tmp_path)
    assert proved.value == here
    tried = 0
    for row, both in zip(found, proved.sides, strict=True):
        ends = (-1, row.price_below, row.value - row.lower), (1, row.price, row.upper - row.value)
        for (direction, price, end), side in zip(ends, both, strict=True):
            if side.price is None:
                assert np.isinf(price)
                assert end == 0.0
                continue
            assert direction * side.price == pytest.approx(price, rel=1e-9, abs=1e-9)
            assert (np.inf if side.until is None else side.until) == pytest.approx(end, rel=1e-9, abs=1e-9)
            vector, place, sign = row.place
            s = Fraction(3) if side.until is None else side.until * Fraction(2, 3)
            moved = fractions(P, q, A, b)
            moved[1 if vector == "q" else 3][place] += direction * s * Fraction(sign)
            assert value(*moved) == here + s * side.price + s**2 * side.bend / 2
            tried += 1
    assert tried > n


def problem_of_two(seed):
    rng = np.random.default_rng(seed)
    x, p = cp.Variable(3, name="x"), cp.Parameter(2, name="p", value=rng.integers(-2, 3, 2) / 4)
    A, B = rng.integers(-3, 4, (4, 3)), rng.integers(-2, 3, (4, 2))
    objective = cp.sum_squares(x[: seed % 4]) / 2 if seed % 4 else 0
    cost = rng.integers(-3, 4, 3) @ x + p[0] * x[1] + 2 * p[1]
    rows = [A @ x <= B @ p + 3, x >= -2, x <= 2, cp.sum(x) == p[1]]
    return cp.Problem(cp.Minimize(objective + cost), rows), p


@pytest.mark.parametrize("seed", range(8))
def test_derivatives_of_random_programs_are_proved(seed, tmp_path):
    problem, p = problem_of_two(seed)
    found = pc.derivatives(problem, {p: [1.0, -0.5]})
    [(below, above)] = proved_of(found, tmp_path).sides
    for direction, own, side in ((-1, found.left, below), (1, found.right, above)):
        assert direction * side.price == pytest.approx(own.value, rel=1e-9, abs=1e-9)
        if side.first.only_x and "x" not in own.undefined:
            count = np.size(own.variables["x"])
            rates = [[float(direction * each) for each in side.first.x]]
            optimum = found.optimum.line.values(np.array(rates[0]), 0.0)["x"]
            assert count == 3
            np.testing.assert_allclose(optimum, own.variables["x"], rtol=1e-9, atol=1e-9)


def test_a_side_where_a_parameter_may_not_go_is_left_out(tmp_path):
    x, a = cp.Variable(name="x"), cp.Parameter(name="a", nonneg=True, value=0.0)
    found = pc.derivatives(cp.Problem(cp.Minimize(x), [x >= a]), {a: 1.0})
    [(below, above)] = proved_of(found, tmp_path).sides
    assert below is None
    assert above.price == 1


def test_what_rounding_hides_is_named(tmp_path):
    """Two rows that are one up to rounding: of the data as they are stored the second is 1e-16 away."""
    x = cp.Variable(name="x")
    rows = [(x <= 0.3).set_label("one"), (x <= 0.1 + 0.2).set_label("other"), (x >= 0).set_label("sign")]
    found = pc.ranges(cp.Problem(cp.Maximize(x), rows), progress=False)
    with pytest.raises(InputError, match=r"the price below of other \(bound\) is .* as they are stored, and"):
        found["other"].proof.save(tmp_path / "ranges.json")
    assert not list(tmp_path.iterdir())
    found["sign"].proof.save(tmp_path / "ranges.json")


@pytest.mark.parametrize(
    ("stored", "exact", "same"),
    [
        (1.0, 1.0 + 1e-7, True),
        (1.0, 1.00001, False),
        (0.0, 1e-10, True),
        (0.0, 1e-8, False),
        (np.inf, np.inf, True),
        (-np.inf, np.inf, True),
        (np.inf, 3.0, False),
        (3.0, np.inf, False),
        (np.nan, 3.0, True),
    ],
)
def test_numbers_in_doubles_are_compared_with_the_exact_ones(stored, exact, same):
    assert _same(stored, exact, 1.0) == same


def test_levels_and_results_by_hand_are_refused(tmp_path):
    x = cp.Variable(name="x")
    found = pc.ranges(cp.Problem(cp.Minimize(x), [x >= 1]), progress=False)
    with pytest.raises(InputError, match="level must be None or 'exact' for ranges and derivatives"):
        found.proof.save(tmp_path / "ranges.json", level="bounded")
    found.proof.save(tmp_path / "ranges.json", level="exact")
    for by_hand in (Ranges(0.0, ()), Derivatives({}, 0.0, None, None, None)):
        with pytest.raises(InputError, match="made by hand"):
            by_hand.proof  # noqa: B018


def test_commands_write_and_check_files(tmp_path, capsys):
    (tmp_path / "model.mps").write_text(MODEL)
    out = str(tmp_path / "ranges.proof.json")
    assert main(["ranges", str(tmp_path / "model.mps"), "--prove", out]) == 0
    assert "python check_ranges.py ranges.proof.json" in capsys.readouterr().out
    assert main(["check", out]) == 0
    assert "PROVED without rounding: V, minus the minimum" in capsys.readouterr().out
    for name in ("check", "check_ray", "check_ranges"):
        assert (tmp_path / f"{name}.py").exists()
    out = str(tmp_path / "rates.proof.json")
    assert main(["derivatives", str(tmp_path / "model.mps"), "--move", "rhs:CAP", "--prove", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["proof"] == "python check_ranges.py rates.proof.json"
    assert main(["check", out]) == 0
    assert "rates of x, the only one" in capsys.readouterr().out


MODEL = """NAME GOODS
OBJSENSE
    MAX
ROWS
 N OBJ
 L CAP
 L ALL
COLUMNS
    X1 OBJ 3 CAP 1
    X1 ALL 1
    X2 OBJ 2 ALL 1
RHS
    RHS CAP 4 ALL 6
ENDATA
"""
