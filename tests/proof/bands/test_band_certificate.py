"""Certificates of paths within eps: of all cones, as CVXPY compiles them, and why there is none."""

from __future__ import annotations

import gzip
import json

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.cli import main
from paretoclf.common.errors import InputError
from paretoclf.proof import check_band
from paretoclf.proof.bands.band_certificate import plain, relative_width, sparse_rows
from paretoclf.solve.eps.interior import deep_multipliers

X = np.random.default_rng(5).normal(size=(14, 3))
y = np.where(X[:, 0] - X[:, 1] + 0.5 * np.random.default_rng(6).normal(size=14) > 0, 1.0, -1.0)
EPS = 1e-3


def root_lasso():
    w, lam = cp.Variable(3, name="w"), cp.Parameter(nonneg=True, name="lam")
    return cp.Problem(cp.Minimize(cp.norm2(X @ w - y) + lam * cp.norm1(w))), lam, 1.0, 0.2


def logistic():
    w, lam = cp.Variable(3, name="w"), cp.Parameter(nonneg=True, name="lam")
    loss = cp.sum(cp.logistic(cp.multiply(-y, X @ w)))
    return cp.Problem(cp.Minimize(loss + lam * cp.sum_squares(w))), lam, 2.0, 0.5


def eigenvalue():
    v, t = cp.Variable(2, name="v"), cp.Parameter(name="t")
    F = [
        np.diag([1.0, -1, 0.5]),
        np.array([[0, 1.0, 0], [1, 0, 1], [0, 1, 0]]),
        np.array([[1.0, 0, 1], [0, 2, 0], [1, 0, 0]]),
    ]
    return (
        cp.Problem(cp.Minimize(cp.lambda_max(F[0] + v[0] * F[1] + v[1] * F[2]) + cp.sum_squares(v) + t * v[0])),
        t,
        -1,
        1,
    )


def power():
    x, t = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="t")
    above = [
        cp.PowCone3D(x[0:1], np.ones(1), cp.reshape(t * np.ones(1), (1,), order="F"), 0.25),
        x >= 0.1,
        cp.sum(x) <= 40,
    ]
    return cp.Problem(cp.Minimize(x[0] + x[1]), above), t, 1.0, 2.0


def robust():
    """The radius of the noise is in the matrix of the constraints."""
    w, b, radius = cp.Variable(3, name="w"), cp.Variable(name="b"), cp.Parameter(nonneg=True, name="radius")
    loss = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b) + radius * cp.norm2(w)))
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + loss)), radius, 0.1, 0.4


def elastic():
    """The weight of the squares is in P."""
    w, mu = cp.Variable(3, name="w"), cp.Parameter(nonneg=True, name="mu")
    return (
        cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) / 2 + cp.norm1(w) + mu / 2 * cp.sum_squares(w))),
        mu,
        1.0,
        9.0,
    )


def largest_sum():
    """A maximum, with an equation."""
    p, m = cp.Variable(4, name="p"), cp.Parameter(name="m")
    v = np.array([0.0, 1, 2, 4])
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [cp.sum(p) == 1, v @ p == m]), m, 1.0, 2.5


CASES = [root_lasso, logistic, eigenvalue, power, robust, elastic, largest_sum]


@pytest.mark.parametrize("case", CASES)
def test_what_is_proved_holds_the_values_that_a_solver_finds(case, tmp_path):
    problem, parameter, first, last = case()
    band = pc.trace(problem, start={parameter: first}, stop={parameter: last}, eps=EPS)
    band.proof.save(tmp_path / "band.json.gz")
    content = json.loads(gzip.decompress((tmp_path / "band.json.gz").read_bytes()))
    _, pieces = check_band.band(content["problem"], *(content[name] for name in check_band.PARTS))
    t = [point[0] for point in content["points"]]
    assert {*band.t.tolist()} <= {*t} if band.program.A_stop is not None else t == band.t.tolist()
    sense = band.program.sense
    for number in np.linspace(0, len(pieces) - 1, 7).astype(int):
        middle = 0.5 * (t[number] + t[number + 1])
        parameter.value = first + middle * (last - first)
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        value, piece = sense * problem.value, pieces[number]
        assert float(piece.low) - 1e-8 <= value <= float(piece.high) + 1e-8
    widths = np.array([float(piece.width) for piece in pieces])
    wider = 30 if band.program.A_stop is not None else 1.02
    assert widths.max() <= wider * band.proof.difference.max()
    assert "PROVED without rounding" in check_band.main(str(tmp_path / "band.json.gz"))


def test_points_go_the_least_share_inside(tmp_path):
    """To 1e-8: a fixed share of the way inside, as 2^-24, would add more than that."""
    problem, parameter, first, _ = root_lasso()
    band = pc.trace(problem, start={parameter: first}, stop={parameter: 0.995 * first}, eps=1e-8)
    band.proof.save(tmp_path / "band.json")
    content = json.loads((tmp_path / "band.json").read_text())
    assert relative_width(content) < 1.01e-8


def test_a_path_that_ends_early_is_proved_up_to_there(tmp_path):
    """The length of x is at least 1 in the second entry: there is no point below tau = 1."""
    x, tau = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="tau")
    problem = cp.Problem(cp.Minimize(cp.norm2(x - [3.0, 2.0])), [cp.norm2(x) <= tau, x[1] >= 1])
    band = pc.trace(problem, start={tau: 2.0}, stop={tau: 0.5}, eps=1e-2)
    assert band.status == "infeasible"
    band.proof.save(tmp_path / "band.json")
    words = check_band.main(str(tmp_path / "band.json"))
    assert f"for every t in [0, {float(band.t[-1]):.17g}]" in words


def test_a_loaded_path_is_saved_and_checked_by_commands(tmp_path, capsys):
    problem, parameter, first, last = root_lasso()
    pc.trace(problem, start={parameter: first}, stop={parameter: last}, eps=EPS).save(tmp_path / "band.npz")
    out = str(tmp_path / "band.proof.json")
    assert main(["prove", str(tmp_path / "band.npz"), "--json", "--out", out]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["level"] == "band"
    assert report["check"] == "python check_band.py band.proof.json"
    assert {*report["files"]} == {out, str(tmp_path / "check.py"), str(tmp_path / "check_band.py")}
    assert main(["check", out]) == 0
    assert capsys.readouterr().out.startswith("PROVED without rounding")
    content = json.loads((tmp_path / "band.proof.json").read_text())
    content["points"].pop()
    (tmp_path / "band.proof.json").write_text(json.dumps(content))
    assert main(["check", out, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report == {"proved": False, "checker": "check_band.py", "statement": report["statement"]}
    assert "end at `until`" in report["statement"]
    assert main(["check", str(tmp_path / "band.npz")]) == 2
    assert main(["prove", str(tmp_path / "band.npz"), "--positive", "sick", "--out", out]) == 2
    assert main(["prove", str(tmp_path / "band.npz"), "--level", "exact", "--out", out]) == 2


def test_no_file_where_there_is_no_certificate(tmp_path):
    x, t = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="t")
    irrational = cp.PowCone3D(x[0:1], np.ones(1), cp.reshape(t * np.ones(1), (1,), order="F"), 1 / np.pi)
    problem = cp.Problem(cp.Minimize(x[0] + x[1]), [irrational, x >= 0.1, cp.sum(x) <= 40])
    band = pc.trace(problem, start={t: 1.0}, stop={t: 1.5}, eps=1e-2)
    with pytest.raises(InputError, match="q at most 64"):
        band.proof.save(tmp_path / "band.json")
    with pytest.raises(InputError, match="level must be"):
        band.proof.save(tmp_path / "band.json", level="exact")
    with pytest.raises(InputError, match="no labels"):
        band.proof.save(tmp_path / "band.json", positive="1")
    assert not list(tmp_path.iterdir())


def test_matrices_are_stated_without_what_is_0():
    rows = sparse_rows(np.array([[0.0, 0.5], [2.0, 0.0]]), np.array([[0.0, 0.5], [0.0, 3.0]]))
    assert rows == [[[1, 0.5]], [[0, 2, 0], [1, 0, 3]]]
    assert repr([plain(2.0), plain(0.1), plain(2.0**60)]) == "[2, 0.1, 1.152921504606847e+18]"


def test_multipliers_are_as_deep_as_they_can_be_each():
    """Stationary, inside the dual cones where there are such, and with the depth that is said."""
    problem, parameter, first, last = root_lasso()
    line = pc.trace(problem, start={parameter: first}, stop={parameter: last}, eps=1e-2).program
    both, depth = deep_multipliers(line, 1.0, 5.0)
    for t, found in zip((0.0, 1.0), both, strict=True):
        program = line.at(t)
        y_, z = found[: line.n], found[line.n :]
        assert np.abs(program.P @ y_ + program.q + program.A.T @ z).max() < 1e-6
        for cone, rows in _blocks(line):
            if cone.kind == "nonnegative":
                assert (z[rows] >= depth[rows] - 1e-7).all()
            elif cone.kind == "second-order":
                inside = z[rows][0] - np.linalg.norm(z[rows][1:])
                assert inside >= depth[rows][0] - 1e-6
    assert depth.min() > 0.01


def _blocks(line):
    begin = 0
    for cone in line.cones:
        yield cone, slice(begin, begin + cone.size)
        begin += cone.size
