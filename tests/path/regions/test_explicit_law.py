"""The law of a map as source text: it runs alone, and says what the map says."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from tests.oracles import planar_programs as planar


@pytest.fixture(scope="module")
def found():
    return pc.plane(planar.ordinary(0, 4, 6), planar.SQUARE, progress=False)


def test_it_runs_without_anything_else(found, tmp_path):
    text = found.to_python(function="control")
    (tmp_path / "law.py").write_text(text, encoding="utf-8")
    places = np.random.default_rng(0).uniform(-1, 1, (20, 2)).tolist()
    code = f"import sys\nfrom law import control\nprint([control(*p)['x'] for p in {places}], 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    theirs = np.array(eval(done.stdout.rsplit("]", 1)[0] + "]"))
    assert done.stdout.endswith("False\n")
    own = np.array([found.at(a=a, b=b).variables["x"] for a, b in places])
    np.testing.assert_allclose(theirs, own, atol=1e-13)


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no compiler of C")
def test_a_compiler_makes_the_same_law_of_c(found, tmp_path):
    places = np.random.default_rng(0).uniform(-1, 1, (40, 2))
    (tmp_path / "law.c").write_text(found.to_c(function="control"), encoding="utf-8")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "law.c", "-o", "law.so"], cwd=tmp_path, check=True)
    control = ctypes.CDLL(str(tmp_path / "law.so")).control
    control.argtypes, out = [ctypes.c_double, ctypes.c_double, ctypes.POINTER(ctypes.c_double)], (ctypes.c_double * 4)()
    for a, b in places.tolist():
        region = control(a, b, out)
        assert 0 <= region < len(found.regions)
        np.testing.assert_allclose([*out], found.at(a=a, b=b).variables["x"], atol=1e-13)
    out[0] = 7.0
    assert control(1.001, 0.0, out) == control(float("nan"), 0.0, out) == -1  # beyond the rectangle
    assert out[0] == 7.0


def test_the_law_in_c_names_its_numbers_and_refuses_what_is_no_name_there(found):
    text = found.to_c(of=["x[2]", "x[0]"])
    assert "double out[2])" in text
    assert "out[0], out[1], ...: x[2], x[0];" in text
    assert "x[0] to x[3];" in found.to_c()
    for function in ("double", "größe", "2", ""):
        with pytest.raises(pc.InputError, match="function must be a name of C"):
            found.to_c(function=function)
    with pytest.raises(pc.InputError, match="of must be among the variables"):
        found.to_c(of=["y"])


def test_where_there_is_no_optimum_it_says_none_and_matrices_keep_their_shape():
    x, a, b = cp.Variable((2, 3), name="x"), cp.Parameter(name="a"), cp.Parameter(name="b")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x) + cp.sum(x)), [x[1] >= a, x[1] <= b, x[0, 2] >= 3 * a])
    found = pc.plane(problem, {a: (0, 1), b: (0, 1)}, progress=False)
    space: dict = {}
    exec(found.to_python(["x"]), space)
    assert space["law"](0.8, 0.2) is None
    np.testing.assert_allclose(space["law"](0.2, 0.8)["x"], found.at(a=0.2, b=0.8).variables["x"], atol=1e-13)


def test_the_law_ends_where_the_optimum_does():
    """At the border of what is feasible, and at that of the rectangle, up to rounding: not a thousandth beyond."""
    x, a, b = cp.Variable(name="x"), cp.Parameter(name="a"), cp.Parameter(name="b")
    found = pc.plane(cp.Problem(cp.Minimize(cp.square(x)), [x >= a, x <= b]), {a: (0, 1), b: (0, 1)}, progress=False)
    space: dict = {}
    exec(found.to_python(), space)
    assert space["law"](0.5, 0.5) == {"x": pytest.approx(0.5, abs=1e-12)}
    assert space["law"](1.0, 1.0) == {"x": pytest.approx(1.0, abs=1e-12)}
    for beyond in (1e-3, 1e-5):
        assert space["law"](0.5 + beyond, 0.5) is None
        assert space["law"](0.5, 1.0 + beyond) is None


def test_names_that_are_none(found):
    for names, function, match in (
        (["y"], "law", r"of must be among the variables x of shape \(4,\), or an entry"),
        (None, "for", "function must be a name"),
    ):
        with pytest.raises(pc.InputError, match=match):
            found.to_python(names, function)


def test_arguments_are_called_as_the_parameters():
    x, state = cp.Variable(2, name="x"), cp.Parameter(2, name="x0")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - state)), [cp.abs(x) <= 1])
    found = pc.plane(problem, {state[0]: (-2, 2), state[1]: (-2, 2)}, progress=False)
    space: dict = {}
    exec(found.to_python(), space)
    assert space["law"](x0_0=1.5, x0_1=-0.25)["x"] == pytest.approx([1.0, -0.25])
    exec(found.to_python(function="x0_1"), space)  # a name that is taken
    assert space["x0_1"](p0=1.5, p1=-0.25)["x"] == pytest.approx([1.0, -0.25])
    moves = {"rhs:A": {"l": [1.0, 0.0]}, "for": {"l": [0.0, 1.0]}}
    other = pc.plane(pc.QP(np.eye(2), [0, 0], np.eye(2), [0, 0], moves=moves), dict.fromkeys(moves, (0, 1)))
    assert "def law(p0, p1):" in other.to_python()


def test_an_entry_alone_is_a_shorter_text():
    x, a, b = cp.Variable((2, 3), name="x"), cp.Parameter(name="a"), cp.Parameter(name="b")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x) + cp.sum(x)), [x[1] >= a, x[0, 2] >= 3 * b])
    found = pc.plane(problem, {a: (0, 1), b: (0, 1)}, progress=False)
    whole, entry = found.to_python(of=["x"]), found.to_python(of=["x[0, 2]", "x[1,0]"])
    regions = [len(text.partition("_REGIONS = ")[2].partition("def law")[0]) for text in (whole, entry)]
    assert regions[1] < 0.8 * regions[0]
    space: dict = {}
    exec(entry, space)
    own = np.asarray(found.at(a=0.3, b=0.7).variables["x"])
    assert space["law"](0.3, 0.7) == {"x[0, 2]": pytest.approx(own[0, 2]), "x[1,0]": pytest.approx(own[1, 0])}
    with pytest.raises(
        pc.InputError,
        match=r"of must be among the variables x of shape .*, or an entry as x\[0, 0\], got 'x\[2, 0\]'",
    ):
        found.to_python(of=["x[2, 0]"])
