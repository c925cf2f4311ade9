"""Certificates of curves: of all cones, as CVXPY compiles them, and of matrices that move."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.cli import main
from paretoclf.common.errors import InputError
from paretoclf.proof import check_band, check_curve
from paretoclf.proof.curves.curve_certificate import curve_certificate
from tests.oracles.curve_certificates import curve_of, ends_of, pieces_of
from tests.oracles.curve_lines import LINES, move
from tests.path.curves.test_curve_path import proved_interval, traced


@pytest.mark.parametrize("name", LINES)
def test_what_is_proved_holds_the_values_that_a_solver_finds(name, tmp_path):
    line, path = LINES[name](), traced(name)
    path.proof.save(tmp_path / "curve.json.gz", progress=False)
    content = json.loads(gzip.decompress((tmp_path / "curve.json.gz").read_bytes()))
    pieces = check_curve.curve(content["problem"], content["stretches"])
    t = ends_of(content)
    assert t == path.t.tolist()
    sense = path.program.sense
    for number in np.linspace(0, len(pieces) - 1, 4).astype(int):
        begin, end = t[number], t[number + 1]
        for share in (0.29, 0.91):
            interval = proved_interval(move(line, begin + share * (end - begin)))
            least, most = sorted(sense * each for each in interval)
            assert float(pieces[number].low) <= most
            assert least <= float(pieces[number].high)
    widths = np.array([float(piece.width) for piece in pieces])
    wider = 1.5 if name == "robust_plan" else 1.05  # its bounds of 1e-9 are rounding, which a file counts otherwise
    assert (widths <= wider * path.proof.difference).all()
    assert check_band.share_of(pieces) <= 1.5 * path.eps  # of the least |V| on a piece, where eps is of |V| at each t


def test_the_width_is_that_of_the_polynomials():
    """Of degree 8 on shorter pieces: 1 / (1 + t) is 2^-9 times as far off on halves, and what is proved is so, too."""
    widths = []
    for count in (1, 2, 4):
        content, _ = curve_of("square", count)
        pieces = check_curve.curve(content["problem"], content["stretches"])
        widths.append(max(float(piece.width) for piece in pieces))
    assert all(last < first / 30 for first, last in pairwise(widths))


def test_points_go_the_least_share_inside():
    """x = e^t up to 2e-10 of polynomials: the inner point, 9, is 8 away, and a share of 2^-24 would add 5e-7."""
    content, _ = curve_of("exponential")
    pieces = check_curve.curve(content["problem"], content["stretches"])
    assert max(float(piece.width) for piece in pieces) < 1e-11


def test_a_line_whose_rows_move_far_has_several_inverses(tmp_path):
    """(1 + 60 t) x >= 1: no inverse is near all of them."""
    x, t = cp.Variable(name="x"), cp.Parameter(nonneg=True, name="t")
    problem = cp.Problem(cp.Minimize(x), [x + 60 * t * x >= 1])
    path = pc.trace(problem, {t: 0.0}, {t: 1.0}, curve=True, progress=False)
    path.proof.save(tmp_path / "curve.json", progress=False)
    content = json.loads((tmp_path / "curve.json").read_text())
    assert len(content["stretches"]) > 1
    pieces = check_curve.curve(content["problem"], content["stretches"])
    for (first, last), piece in zip(pairwise(ends_of(content)), pieces, strict=True):
        assert float(piece.low) <= 1 / (1 + 60 * last) <= 1 / (1 + 60 * first) <= float(piece.high)


def test_a_loaded_curve_is_saved_and_checked_by_commands(tmp_path, capsys):
    traced("two_norms").save(tmp_path / "curve.npz")
    out = str(tmp_path / "curve.proof.json")
    assert main(["prove", str(tmp_path / "curve.npz"), "--json", "--out", out]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["level"] == "curve"
    assert report["check"] == "python check_curve.py curve.proof.json"
    scripts = {str(tmp_path / f"{name}.py") for name in ("check", "check_band", "check_curve")}
    assert {*report["files"]} == {out, *scripts}
    assert main(["check", out]) == 0
    assert capsys.readouterr().out.startswith("PROVED without rounding")
    content = json.loads((tmp_path / "curve.proof.json").read_text())
    content["stretches"][0][3].pop()
    (tmp_path / "curve.proof.json").write_text(json.dumps(content))
    assert main(["check", out, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report == {"proved": False, "checker": "check_curve.py", "statement": report["statement"]}
    assert "must end at t = 1" in report["statement"]
    assert main(["prove", str(tmp_path / "curve.npz"), "--positive", "sick", "--out", out]) == 2
    assert main(["prove", str(tmp_path / "curve.npz"), "--level", "band", "--out", out]) == 2


def test_no_file_where_there_is_no_certificate(tmp_path):
    path = traced("two_norms")
    with pytest.raises(InputError, match="level must be None or 'curve'"):
        path.proof.save(tmp_path / "curve.json", level="exact")
    with pytest.raises(InputError, match="no labels"):
        path.proof.save(tmp_path / "curve.json", positive="1")
    assert not list(tmp_path.iterdir())


def test_pieces_that_are_not_proved_have_no_certificate():
    line, [piece, *others], _ = pieces_of("second-order")
    for wrong in (replace(piece, inner=-piece.inner), replace(piece, inner_z=-piece.inner_z)):
        with pytest.raises(ArithmeticError, match="well inside"):
            curve_certificate(line, [wrong, *others], progress=False)
