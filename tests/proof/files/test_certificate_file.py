"""Certificate files: written, checked alone, checked by a second checker, and broken in every way we can think of."""

from __future__ import annotations

import ast
import copy
import csv
import gzip
import hashlib
import json
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.cli import main
from paretoclf.engine.general import follow
from paretoclf.path.programs.problem_certificate import tight_labels
from paretoclf.path.tracing import save_point
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.proof import check, check_gap, check_ray
from paretoclf.proof.files.certificate_file import bounded_program, certificate, integer_data, save_solution, windows
from paretoclf.proof.files.stated_problems import path_problem, program_problem
from tests.oracles.broken_certificates import files, mutated, verdicts
from tests.oracles.random_programs import fractions, off, program
from tests.oracles.second_checker import gap_of as second_gap_of
from tests.oracles.second_checker import objection

RNG = np.random.default_rng(33)
X = RNG.normal(size=(24, 2))
Y = np.where(np.arange(24) < 9, 1.0, -1.0)
LINE = {"start": (0.25, 0.75), "stop": (1.5, 0.5)}
FEW = X[4:14], Y[4:14]  # where the second checker, which is slow, looks at many files


def traced(X=X, y=Y, kernel=None, line=LINE, **options):
    return pc.trace(pc.TwoCSVM(X, y, kernel, **options), **line)


def saved(path, folder, name="a.proof.json.gz"):
    path.proof.save(folder / name)
    return folder / name


def content_of(file):
    return json.loads(gzip.decompress(file.read_bytes()))


def verdict(content):
    """What the checker says of a content, its hash renewed; empty where all is proved."""
    try:
        check.check(content["problem"], content["segments"])
    except ArithmeticError as error:
        return str(error)
    except Exception as error:
        return f"cannot be read: {error!r}"
    return ""


def alone(folder, *arguments, script="check"):
    """A checker run as a file of its own, without the package."""
    for name in ("check", script):
        (folder / f"{name}.py").write_bytes(Path(check.__file__).with_name(f"{name}.py").read_bytes())
    command = [sys.executable, "-I", "-S", str(folder / f"{script}.py"), *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    return content_of(saved(traced(), tmp_path_factory.mktemp("linear")))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return content_of(saved(traced(*FEW), tmp_path_factory.mktemp("small")))


# ---- what is written is proved ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["check", "check_gap", "check_ray"])
def test_the_checkers_have_short_functions_and_need_the_standard_library_only(name):
    text = Path(check.__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 120
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    assert names - ({"check", "paretoclf.proof"} if name != "check" else set()) <= sys.stdlib_module_names
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno - node.lineno < 60, node.name


@pytest.mark.parametrize("kernel", [None, pc.RBF(0.5), pc.Polynomial(2)], ids=["linear", "rbf", "polynomial"])
def test_a_path_is_proved_by_the_checker_alone_and_by_the_second_one(kernel, tmp_path):
    path = traced(X[1:17], Y[1:17], kernel)
    file = saved(path, tmp_path)
    result = alone(tmp_path, file)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("PROVED without rounding: for every t in [0, 1]")
    assert objection(file) == ""
    content = content_of(file)
    found = [-v for v in check.check(content["problem"], content["segments"])[0]]
    np.testing.assert_allclose(found, path.value([0.0, 1.0]), rtol=1e-8)  # 2^-39 on the diagonal, for one kernel
    assert content["sha256"] in result.stdout


def test_the_number_of_segments_is_that_of_the_path_in_doubles():
    path = traced()
    problem, guide = path_problem(path), path._labels()
    assert len(certificate(problem, guide)["segments"]) == path.breakpoints.size - 1


def degenerate(kind, rng):
    """Data on which paths usually break."""
    n = 12
    X = rng.integers(-2, 3, (n, 2)).astype(float)
    y = np.where(rng.permutation(n) < 5, 1.0, -1.0)
    line = {"start": (0.5, 0.25), "stop": (0.25, 2.0)}
    if kind == "duplicates":
        X[6:] = X[:6]
        y[6:] = y[:6]
    elif kind == "opposite labels":
        X[6:] = X[:6]
        y[6:] = -y[:6]
    elif kind == "one sample a class":
        X, y = np.array([[0.0, 1.0], [1.0, 5.0 + rng.integers(3)]]), np.array([1.0, -1.0])
    elif kind == "one positive":
        y[:] = -1.0
        y[3] = 1.0
    elif kind == "all in one point":
        X[:] = 1.0
    elif kind == "from nothing":
        line = {"start": (0.0, 0.0), "stop": (1.0, 1.0)}
    elif kind == "axis to axis":
        line = {"start": (0.0, 1.0), "stop": (1.0, 0.0)}
    elif kind == "on an axis":
        line = {"start": (0.0, 1.0), "stop": (0.0, 2.0)}
    elif kind == "one point":
        line = {"start": (1.0, 0.5), "stop": (1.0, 0.5)}
    elif kind == "balanced":
        y = np.tile([1.0, -1.0], n // 2)
        line = {"start": (0.1, 0.1), "stop": (0.9, 0.9)}
    elif kind == "thirds":
        X = X / 3
        line = {"start": (1 / 3, 0.7), "stop": (7 / 3, 0.1)}
    elif kind == "collinear":
        X[:, 1] = 0.1 * X[:, 0]
    return X, y, line


KINDS = (
    *("ties", "duplicates", "opposite labels", "one sample a class", "one positive", "all in one point"),
    *("from nothing", "axis to axis", "on an axis", "one point", "balanced", "thirds", "collinear"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_degenerate_data_have_exact_certificates_which_both_checkers_accept(kind, tmp_path):
    for seed in range(4):
        X, y, line = degenerate(kind, np.random.default_rng(seed))
        file = saved(traced(X, y, line=line), tmp_path, f"{seed}.json.gz")
        assert alone(tmp_path, file).returncode == 0, (kind, seed)
        assert objection(file) == "", (kind, seed)


def test_sample_weights_are_part_of_the_problem(tmp_path):
    weight = np.where(np.arange(24) % 5 == 0, 0.25, 1.0 + np.arange(24) % 3)
    file = saved(traced(sample_weight=weight), tmp_path)
    caps = content_of(file)["problem"]["caps"]
    np.testing.assert_array_equal(caps[0], weight * np.where(Y > 0, 0.25, 0.75))
    assert alone(tmp_path, file).returncode == 0
    assert objection(file) == ""


def test_a_matrix_that_is_not_semidefinite_as_stored_has_its_diagonal_raised_and_says_so(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(rng.random(60) < 0.4, 1.0, -1.0)
    path = traced(X, y, pc.RBF(3.0), {"start": (0.5, 0.5), "stop": (0.6, 0.5)})
    content = content_of(saved(path, tmp_path))
    add = set(content["problem"]["diagonal"])
    assert len(add) == 1
    assert np.frexp(add.pop())[0] == 0.5
    assert "is added to the diagonal" in alone(tmp_path, tmp_path / "a.proof.json.gz").stdout
    without = copy.deepcopy(content)
    del without["problem"]["diagonal"]
    assert "semidefinite" in verdict(without)


def test_a_diagonal_that_is_raised_is_said_by_the_checker_and_not_by_the_file_alone(tmp_path):
    """My data and my costs, and another problem: 50 on the diagonal is an SVM with squared slacks besides."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [-1, 1, -1, 1]
    raised = {"kind": "2C-SVM", "caps": [[0.25] * 4, [1.0] * 4], "X": X.tolist(), "y": y, "diagonal": [50.0] * 4}
    raised["positive"] = "1"
    (tmp_path / "raised.json").write_text(json.dumps(certificate(raised, guide=[])))
    (tmp_path / "mine.csv").write_text("".join(f"{x},{label}\n" for [x], label in zip(X.tolist(), y, strict=True)))
    mine = ("--data", "mine.csv", "--costs", "0.25,0.25,1,1")
    assert (
        "On the diagonal of the kernel matrix there is up to 50 more." in alone(tmp_path, "raised.json", *mine).stdout
    )
    plain = {**raised, "diagonal": [0.0] * 4}
    (tmp_path / "plain.json").write_text(json.dumps(certificate(plain, guide=[])))
    printed = alone(tmp_path, "plain.json", *mine).stdout
    assert "PROVED" in printed
    assert "diagonal" not in printed


def test_an_indefinite_matrix_is_refused_by_the_checker():
    problem = {"kind": "2C-SVM", "y": [1, -1], "K": [[1], [2, 1]], "caps": [[1, 1], [2, 2]]}
    assert "semidefinite" in verdict({"problem": problem, "segments": ["iil"]})


def test_two_samples_by_hand():
    """At -1 and 1 with costs from 0 to 1: both at their cap until w = 1, which is at t = 1/2."""
    problem = {"kind": "2C-SVM", "y": [1, -1], "X": [[1], [-1]], "caps": [[0, 0], [1, 1]]}
    assert verdict({"problem": problem, "segments": ["uil", [[0, "i"], [1, "i"]]]}) == ""
    assert check.check(problem, ["uil", [[0, "i"]]]) == ([0, Fraction(-1, 2)], 1)
    assert "at once" in verdict({"problem": problem, "segments": ["iil"]}) or verdict(
        {"problem": problem, "segments": ["iil"]}
    )


Z = X + 2.5 * Y[:, None]


@cache
def other_kinds(kernel):
    """Paths of other kinds, and by how much their value is that of the file."""
    return list(traced_kinds(kernel))


def traced_kinds(kernel):
    nu = pc.TwoNuSVM(X + 0.8 * Y[:, None], Y, kernel)
    yield "nu", pc.trace(nu, nu=(0.05, 0.28), asymmetry=0.4), 1
    yield "largest nu", pc.trace(nu, nu=(0.1, 2 * 0.4 * 9 / 24), asymmetry=0.4), 1
    yield "hulls", pc.trace(nu, start=(0.9, 0.9), stop=(0.75, 0.8)), 0  # values are those of other multiples
    for bias in (True, False):
        yield f"quantile, bias {bias}", pc.trace(pc.QuantileSVM(X, Y, kernel, bias=bias), tau=(0, 1), lam=0.25), 1
    yield "hard margins", pc.trace(pc.BiobjectiveMargin(Z, Y, kernel, soft=False), theta=(0.25, 4)), 2
    soft = pc.BiobjectiveMargin(X, Y, kernel)
    yield "soft margins", pc.trace(soft, theta=(0.25, 4), C_plus=0.7, C_minus=3.0), 2


@pytest.mark.filterwarnings("ignore::paretoclf.common.errors.HomogeneousWarning")
@pytest.mark.parametrize("kernel", [None, pc.RBF(0.7)], ids=["linear", "rbf"])
def test_paths_of_other_kinds_are_proved(kernel, tmp_path):
    for name, path, factor in other_kinds(kernel):
        file = saved(path, tmp_path)
        result = alone(tmp_path, file)
        assert result.returncode == 0, (name, result.stderr)
        content = content_of(file)
        problem = content["problem"]
        found = [check.value(problem, v) for v in check.check(problem, content["segments"])[0]]
        if factor:
            expected = path.value(path.pieces.t[[0, -1]])
            np.testing.assert_allclose(factor * np.array(found), expected, rtol=1e-8, atol=1e-12, err_msg=name)
        for field in set(problem) - {"kind", "about", "positive"}:  # what is not there is not made up
            without = {k: v for k, v in problem.items() if k != field}
            if field in ("bias", "diagonal") and not np.any(np.array(problem[field], dtype=object) != 0):
                continue
            assert verdict({**content, "problem": without}), (name, field)


def test_letters_of_another_kind_are_no_proof(tmp_path):
    contents = {}
    for name, path, _ in other_kinds(None):
        contents[name] = content_of(saved(path, tmp_path))
    for a, one in contents.items():
        for b, other in contents.items():
            if a != b and one["segments"] != other["segments"]:
                assert verdict({**one, "segments": other["segments"]}), (a, b)


@pytest.mark.parametrize("block", range(2))
def test_any_program_in_fractions_has_a_certificate_or_no_optimum_at_the_start(block):
    """Random degenerate programs: linear ones, singular, soft bounds, dependent rows; the guide is none or exact."""
    proved, soft, rays = 0, 0, set()
    for seed in range(60 * block, 60 * (block + 1)):
        if (raw := program(seed)) is None:
            continue
        problem = ParametricQP(*map(fractions, raw))
        found = follow(problem, progress=False)
        stated = json.loads(json.dumps(program_problem(problem)))
        for guide in ([], found.labels):
            if not len(found.labels):
                with pytest.raises(ArithmeticError, match="no optimum at t = 0"):
                    certificate(stated, guide)
                continue
            if soft_crossing(problem, found.t[-1]):
                with pytest.raises(ArithmeticError, match=r"the bounds of .* cross at t = .*, where one of them has a"):
                    certificate(stated, guide)
                soft += 1
                continue
            content = certificate(stated, guide)
            assert "diagonal" not in content["problem"], seed
            assert ("ray" in content) == (found.status != "end"), seed
            values, end = check.check(content["problem"], content["segments"], found.status != "end")
            assert end == found.t[-1], seed
            if found.status != "end":
                rays.add(content["ray"][0])
                check_ray.beyond(content["problem"], end, *content["ray"])
                with pytest.raises(ArithmeticError):
                    check_ray.beyond(content["problem"], end - Fraction(1, 1000), *content["ray"])
                with pytest.raises(ArithmeticError):
                    check.check(content["problem"], content["segments"])
            for t, value, k in ((0, values[0], 0), (found.t[-1], values[1], -1)):
                v = found.v[k, k]
                assert off(problem, Fraction(t), v, found.y[k, k]) == 0
                assert value == pytest.approx(float(objective_of(problem, t, v)), rel=1e-12, abs=1e-12), seed
            proved += 1
    assert proved > 20
    assert soft
    assert rays >= {"unbounded", "crossing"}


def soft_crossing(problem, end):
    """Whether a path ends where bounds cross of which one has a price: what a letter says ends there, a minimum not."""
    (low, low_1), (up, up_1) = problem.lower, problem.upper
    crossed = []
    for i in range(problem.items):
        if max(abs(v) for v in (low[i], low_1[i], up[i], up_1[i])) < np.inf and low_1[i] > up_1[i]:
            t = Fraction(up[i] - low[i]) / (up[i] - low[i] + low_1[i] - up_1[i])
            crossed.append((t, min(problem.below[0, i], problem.above[0, i]) < np.inf))
    return bool(crossed) and min(crossed)[0] == end < 1 and min(crossed)[1]


def test_a_path_that_ends_early_is_proved_up_to_there_and_that_nothing_is_beyond(tmp_path):
    """By hand: x in [0, 1] and x = 2 t in a row has no point from t = 1/2 on; without the row x >= 0 alone is free."""
    bounds = {
        "lower": [[0, 0], [0, 2]],
        "upper": [[1, 0], [1, 2]],
        "below": [[None] * 2] * 2,
        "above": [[None] * 2] * 2,
    }
    rows = {"kind": "program", "K": [[1]], "A": [[1]], "q": [[1], [1]], **bounds}
    one = {"lower": [[0], [0]], "upper": [[None], [None]], "below": [[None]] * 2, "above": [[None]] * 2}
    free = {"kind": "program", "K": [[0]], "A": [], "q": [[1], [-2]], **one}
    for problem, kind, end in ((rows, "infeasible", Fraction(1, 2)), (free, "unbounded", Fraction(1, 3))):
        content = certificate(problem, [])
        assert content["ray"][0] == kind
        assert check.check(problem, content["segments"], early=True)[1] == end
        (tmp_path / "a.json").write_text(json.dumps(content))
        found = alone(tmp_path, "a.json", script="check_ray")
        assert "for no later t there is a minimum" in found.stdout, found.stderr
        for ray in ([kind, ["0"]], [kind, ["-1"]], [kind, [1, 1]], ["crossing", [0]], [kind, []], None):
            if ray != content["ray"]:
                (tmp_path / "b.json").write_text(json.dumps({**content, "ray": ray}))
                assert alone(tmp_path, "b.json", script="check_ray").returncode == 1, (kind, ray)


def objective_of(problem, t, v):
    """The value of a point at t, in fractions."""

    def at(ends):
        return [a if abs(a) == np.inf else (1 - t) * a + t * b for a, b in zip(*ends, strict=True)]

    x = v[: problem.n]
    total = x.dot(problem.P).dot(x) / 2 + np.dot(at(problem.q), x)
    for side, price, sign in ((problem.lower, problem.below, -1), (problem.upper, problem.above, 1)):
        for value, bound, cost in zip(v, at(side), at(price), strict=True):
            beyond = sign * (value - bound) if abs(bound) < np.inf else 0
            total += cost * beyond if beyond > 0 else 0
    return total


# ---- bounded ---------------------------------------------------------------------------------------------------------


def bounded_file(path, folder):
    path.proof.save(folder / "a.proof.json.gz", level="bounded")
    return folder / "a.proof.json.gz"


@pytest.mark.filterwarnings("ignore::paretoclf.common.errors.HomogeneousWarning")
@pytest.mark.parametrize("kernel", [None, pc.RBF(0.7)], ids=["linear", "rbf"])
def test_paths_of_all_kinds_are_bounded_as_they_are_stored(kernel, tmp_path):
    for name, path, _ in [("costs", traced(kernel=kernel), -1), *other_kinds(kernel)]:
        file = bounded_file(path, tmp_path)
        result = alone(tmp_path, file, script="check_gap")
        assert result.returncode == 0, (name, result.stderr)
        assert alone(tmp_path, file).returncode == 1  # it is not exact
        content = content_of(file)
        problem, points = content["problem"], content["points"]
        ends, most = check_gap.gap(problem, points, content["stretch"])
        path.proof.save(tmp_path / "exact.json.gz", level="exact")
        exact = content_of(tmp_path / "exact.json.gz")
        best, _ = check.check(exact["problem"], exact["segments"])
        size = max(map(abs, best))
        assert 0 <= most <= 1e-9 * size, name
        if "diagonal" not in problem or problem == exact["problem"]:
            for end, value in zip(ends, best, strict=True):
                assert -1e-14 * size <= float(end) - value <= float(most) + 1e-14 * size, name
        first = next((k for k, v in points[0][1] if not isinstance(v, str)), points[0][1][0][0])
        for change in ({"points": points[:-1]}, {"points": points[1:]}, {"stretch": "-1/2"}, {"points": points[::-1]}):
            assert refused({**content, **change}), (name, list(change))
        changed = copy.deepcopy(points)
        changed[0][1] = [[i, v if i != first else 5.0] for i, v in changed[0][1]]
        assert refused({**content, "points": changed}) or gap_of(content, changed) > 1e6 * most, name


def refused(content):
    """Whether no bound is found, whatever it is."""
    try:
        check_gap.gap(content["problem"], content["points"], content["stretch"])
    except Exception:
        return True
    return False


def gap_of(content, points):
    return check_gap.gap(content["problem"], points, content["stretch"])[1]


def test_a_gap_is_the_largest_between_the_knots_too():
    """min x^2 / 2 - x on [0, 1] with points that are off by s (1 - s) at most: two knots, at 0 and at 1 - t."""
    one = {"lower": [[0], [0]], "upper": [[1], [1]], "below": [[None]] * 2, "above": [[None]] * 2}
    problem = {"kind": "program", "K": [[1]], "A": [], "q": [[-1], [0]], **one}  # the solution is 1 - t
    assert check_gap.gap(problem, [[0, [[0, "u"]], []], [1, [[0, "l"]], []]], 0) == ([Fraction(-1, 2), 0], 0)
    bent = [[0, [[0, "u"]], []], [0.5, [[0, "3/4"]], []], [1, [[0, "l"]], []]]
    _, most = check_gap.gap(problem, bent, 0)
    truth = max((x - (1 - t)) * x for t in np.linspace(0, 1, 4001) for x in [np.interp(t, [0, 0.5, 1], [1, 0.75, 0])])
    assert truth <= most <= 1.5 * truth  # y (x - 0) for y = x - (1 - t) >= 0


def test_the_level_is_what_ends_within_a_minute(monkeypatch, tmp_path):
    path = traced()
    path.proof.save(tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text())["format"] == "exact certificate 1"
    monkeypatch.setattr("paretoclf.proof.files.certificate_file._MINUTE", 0.0)
    path.proof.save(tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text())["format"] == "bounded certificate 1"


# ---- and nothing else is ---------------------------------------------------------------------------------------------


def mutations(content, rng, count):
    """Copies with one thing changed each, and what was changed."""
    for _ in range(count):
        new, problem = copy.deepcopy(content), content["problem"]
        what = rng.choice(["letter", "change", "drop", "swap", "label", "digit", "cap", "double"])
        if what == "letter":
            i = int(rng.integers(len(new["segments"][0])))
            first = new["segments"][0]
            other = rng.choice([c for c in "bliua" if c != first[i]])
            new["segments"][0] = first[:i] + str(other) + first[i + 1 :]
        elif what in ("change", "drop", "double"):
            k = int(rng.integers(1, len(new["segments"])))
            if what == "drop":
                del new["segments"][k]
            elif what == "double":
                new["segments"].insert(k, new["segments"][k])
            else:
                item = new["segments"][k][0]
                item[int(rng.integers(2))] = (
                    int(rng.integers(len(problem["y"]))) if rng.random() < 0.5 else str(rng.choice(list("bliua")))
                )
                if new == content:
                    continue
        elif what == "swap":
            k = int(rng.integers(1, len(new["segments"]) - 1))
            new["segments"][k], new["segments"][k + 1] = new["segments"][k + 1], new["segments"][k]
        elif what == "label":
            i = int(rng.integers(len(problem["y"])))
            new["problem"]["y"][i] *= -1
        elif what == "digit":
            i, j = int(rng.integers(len(problem["X"]))), int(rng.integers(2))
            new["problem"]["X"][i][j] = float(np.nextafter(problem["X"][i][j], np.inf))
        else:
            end, i = int(rng.integers(2)), int(rng.integers(len(problem["y"])))
            new["problem"]["caps"][end][i] = float(np.nextafter(problem["caps"][end][i], np.inf))
        yield str(what), new


def test_the_hash_notices_every_change_of_the_problem(content, tmp_path):
    for what, new in mutations(content, np.random.default_rng(1), 30):
        if new["problem"] != content["problem"]:
            (tmp_path / "new.json").write_text(json.dumps(new))
            assert "another hash, or another format" in alone(tmp_path, "new.json").stderr
        else:
            assert what not in ("label", "digit", "cap")


def test_what_passes_after_a_change_with_the_hash_renewed_is_true_of_the_changed_problem(small, tmp_path):
    """Two checkers that share nothing agree on every mutation: those that pass are certificates of what they state."""
    proved = 0
    for number, (what, new) in enumerate(mutations(small, np.random.default_rng(2), 120)):
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(new))
        found = verdict(new)
        if not set(new["segments"][0]) <= set("lui") or "cannot be read" in found:
            assert found
            continue
        try:
            second = objection(file)
        except (IndexError, TypeError):
            second = "no item"
        assert bool(found) == bool(second), (what, found, second)
        proved += not found
        if not found:  # letters say another thing only where the problem is another one, or where they are ties
            assert what in ("digit", "cap", "label", "letter", "change", "swap", "drop")
    assert proved > 0


def test_a_message_names_segment_item_and_condition(content):
    new = copy.deepcopy(content)
    letters = new["segments"][0]
    i = letters.index("l")
    new["segments"][0] = letters[:i] + "u" + letters[i + 1 :]
    said = verdict(new)
    assert said.startswith("segment 0, from t = 0.0: item ")
    assert "violates what" in said


FIELDS = ("format", "problem", "sha256", "segments")


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", [None, 0, "", [], {}, "x", [[[]]], True], ids=repr)
def test_no_field_can_be_replaced(content, field, value, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({**content, field: value}))
    result = alone(tmp_path, "a.json")
    assert result.returncode == 1
    assert result.stderr.startswith("NOT PROVED: ")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("field", ["kind", "y", "X", "caps"])
@pytest.mark.parametrize("value", [None, [], "program", [1.5], [[True]], [["1e9"]], [["nan"]], [[2**70]]], ids=repr)
def test_no_field_of_the_problem_can_be_replaced(content, field, value):
    assert verdict({**content, "problem": {**content["problem"], field: value}})


def test_files_that_are_damaged_or_bombs_are_refused_in_one_line(content, tmp_path):
    text = json.dumps(content)
    bad = {
        "truncated.json": text[: len(text) // 2].encode(),
        "empty.json": b"",
        "nested.json": b"[" * 100_000,
        "nan.json": text.replace(str(content["problem"]["X"][0][0]), "NaN").encode(),
        "infinite.json": text.replace(str(content["problem"]["X"][0][0]), "1e999").encode(),
        "digits.json": text.replace(str(content["problem"]["X"][0][0]), "9" * 10_000).encode(),
        "damaged.json.gz": gzip.compress(text.encode())[:-20],
        "no_gzip.json.gz": text.encode(),
        "zeros.json.gz": gzip.compress(bytes(1 << 22)),
        "binary.json": bytes(range(256)),
    }
    for name, raw in bad.items():
        (tmp_path / name).write_bytes(raw)
        result = alone(tmp_path, name)
        assert result.returncode == 1, name
        assert len(result.stderr.splitlines()) == 1, (name, result.stderr)
    assert alone(tmp_path, "there_is_no_such_file").returncode == 1
    assert alone(tmp_path).returncode == 1


# ---- the reader's own data -------------------------------------------------------------------------------------------


def table(file, X, labels, header=False):
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        if header:
            writer.writerow([*(f"x{k}" for k in range(X.shape[1])), "label"])
        writer.writerows([*map(repr, map(float, row)), label] for row, label in zip(X, labels, strict=True))
    return file


def test_the_data_are_compared_with_the_readers_own(tmp_path):
    file = saved(traced(), tmp_path)
    words = np.where(Y > 0, "malignant", "benign")
    own = table(tmp_path / "own.csv", X, words, header=True)
    result = alone(tmp_path, file, "--data", own, "--positive", "malignant")
    assert result.returncode == 0, result.stderr
    assert '+1 being the label "malignant"' in result.stdout
    other = X.copy()
    other[3, 1] = np.nextafter(other[3, 1], 9.0)
    result = alone(tmp_path, file, "--data", table(tmp_path / "other.csv", other, words), "--positive", "malignant")
    assert result.returncode == 1
    assert "about other data" in result.stderr
    longer = table(tmp_path / "longer.csv", np.vstack([X[:2], X]), np.append(words[:2], words))
    result = alone(tmp_path, file, "--data", longer)  # about the last of my samples only
    assert f"26 rows in {str(longer)!r}, not 24 of 3 cells" in result.stderr
    words[2] = "benign"
    result = alone(tmp_path, file, "--data", table(tmp_path / "labels.csv", X, words), "--positive", "malignant")
    assert "labels differ" in result.stderr
    assert alone(tmp_path, file, "--data", table(tmp_path / "short.csv", X[:-1], words[:-1])).returncode == 1


def test_standardised_data_are_compared_with_what_they_were(tmp_path):
    raw = 100.0 + 7.0 * X
    Z = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    file = saved(traced(Z), tmp_path)
    own = table(tmp_path / "own.csv", raw, Y)
    assert alone(tmp_path, file, "--standardised", own).returncode == 0
    assert alone(tmp_path, file, "--data", own).returncode == 1
    raw[5, 0] *= 1 + 1e-9
    assert alone(tmp_path, file, "--standardised", table(tmp_path / "other.csv", raw, Y)).returncode == 1


def test_kernel_values_are_compared_too(tmp_path):
    K = pc.RBF(0.5)(X, X)
    file = saved(traced(K, Y, "precomputed"), tmp_path)
    assert alone(tmp_path, file, "--data", table(tmp_path / "own.csv", K, Y)).returncode == 0
    K[7, 2] += 1e-15
    assert alone(tmp_path, file, "--data", table(tmp_path / "other.csv", K, Y)).returncode == 1


# ---- the writer ------------------------------------------------------------------------------------------------------


def test_files_are_the_same_whenever_they_are_written(tmp_path):
    path = traced()
    a, b = saved(path, tmp_path, "a.json.gz"), saved(path, tmp_path, "b.json.gz")
    assert hashlib.sha256(a.read_bytes()).digest() == hashlib.sha256(b.read_bytes()).digest()


def test_no_file_is_left_where_there_is_no_certificate(tmp_path):
    path = traced()
    with pytest.raises(pc.InputError, match="level must be"):
        path.proof.save(tmp_path / "a.json", level="about")
    with pytest.raises(pc.InputError, match="no folder"):
        path.proof.save(tmp_path / "nowhere" / "a.json")
    assert list(tmp_path.iterdir()) == []


def test_a_guide_that_is_wrong_costs_time_only(content):
    path, rng = traced(), np.random.default_rng(0)
    right = list(path._labels())
    wrong = [np.append(rng.integers(-1, 2, Y.size), -1) for _ in range(5)]
    for guide in ([], wrong, right[::-1], right[::3]):
        found = certificate(content["problem"], guide)
        assert verdict(found) == ""


@pytest.mark.parametrize("seed", [0, 2])
def test_tight_rows_without_a_multiplier_belong_to_the_guide(seed):
    """Of a column that the reduction left out: rows with a multiplier alone are no basis of the whole program."""
    rng = np.random.default_rng(seed)
    Z, targets = rng.integers(-4, 5, size=(6, 1)).astype(float), rng.integers(-4, 5, size=6).astype(float)
    w, b, p = cp.Variable(1, name="w"), cp.Variable(name="b"), cp.Parameter(nonneg=True, name="p")
    over, under = cp.Variable(6, nonneg=True), cp.Variable(6, nonneg=True)
    residual = targets - Z @ w - b
    loss = p * cp.sum(over) + cp.sum(under) + cp.sum_squares(w) / 2
    problem = cp.Problem(cp.Minimize(loss), [over >= residual, under >= -residual])
    path = pc.trace(problem, {p: 0.25}, {p: 2.0}, progress=False)
    found = list(windows(integer_data(program_problem(path.program.problem)), list(tight_labels(path))))
    # The labels of each segment are a basis that is optimal on a part of it: multipliers need not be unique there.
    lo, hi = np.array([(float(a), float(b)) for a, b in found]).T
    assert lo.size == path.t.size - 1
    assert (lo < hi).all()
    assert (lo > path.t[:-1] - 1e-12).all()
    assert (hi < path.t[1:] + 1e-12).all()


# ---- any program, single points, the command line --------------------------------------------------------------------


def cvxpy_lines():
    """A lasso, a transport without room in the end, and a price that falls below 0."""
    A, b = np.random.default_rng(0).normal(size=(12, 6)), np.random.default_rng(1).normal(size=12)
    x, z = cp.Variable(6, name="x"), cp.Variable(2, name="z", nonneg=True)
    lam, c = cp.Parameter(nonneg=True, name="lam"), cp.Parameter(name="c")
    lasso = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(A @ x - b) + lam * cp.norm1(x)))
    full = cp.Problem(cp.Minimize(cp.sum(z)), [z[0] + z[1] == c, z[0] <= 1, z[1] <= 1])
    falling = cp.Problem(cp.Minimize(z[0] + c * z[1]))
    yield lasso, {lam: 5.0}, {lam: 0.1}, None
    yield full, {c: 0.0}, {c: 3.0}, "infeasible"
    yield falling, {c: 1.0}, {c: -1.0}, "unbounded"


def test_paths_of_problems_of_cvxpy_are_proved_with_their_rays(tmp_path):
    for problem, start, stop, ray in cvxpy_lines():
        path = pc.trace(problem, start, stop)
        path.proof.save(tmp_path / "a.json")
        content = json.loads((tmp_path / "a.json").read_text())
        assert content.get("ray", [None])[0] == ray
        script = "check" if ray is None else "check_ray"
        assert alone(tmp_path, "a.json", script=script).returncode == 0
        values, end = check.check(content["problem"], content["segments"], ray is not None)
        assert float(end) == pytest.approx(path.t[-1], abs=1e-12)
        for t, value in zip((0.0, path.t[-1]), values, strict=True):
            assert value == pytest.approx(path.value(t), rel=1e-9, abs=1e-9)
        if ray is not None:
            with pytest.raises(pc.InputError, match="the path ends before t = 1"):
                path.proof.save(tmp_path / "b.json", level="bounded")
            continue
        path.proof.save(tmp_path / "a.json", level="bounded")
        assert alone(tmp_path, "a.json", script="check_gap").returncode == 0
        content = json.loads((tmp_path / "a.json").read_text())
        ends, most = check_gap.gap(content["problem"], content["points"], content["stretch"])
        assert second_gap_of(content) <= most <= 1e-10
        for end, value in zip(ends, values, strict=True):  # of a program that is a little wider
            assert -1e-9 <= float(end) - value <= float(most) + 1e-12


def test_what_takes_long_without_rounding_is_bounded_by_default(tmp_path):
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(60, 30)), rng.normal(size=60)
    x, lam = cp.Variable(30, name="x"), cp.Parameter(nonneg=True, name="lam")
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(A @ x - b) + lam * cp.norm1(x)))
    pc.trace(problem, {lam: 20.0}, {lam: 0.1}).proof.save(tmp_path / "a.json")
    content = json.loads((tmp_path / "a.json").read_text())
    assert content["format"] == "bounded certificate 1"
    assert float(check_gap.gap(content["problem"], content["points"], "0")[1]) < 1e-8
    assert "wider than asked" in content["problem"]["about"]
    x = ParametricQP(*map(fractions, program(3)))
    with pytest.raises(ArithmeticError, match="has a price, and a gap is of hard bounds"):
        bounded_program(x, (np.zeros(1), np.zeros((1, x.n)), np.zeros((1, x.items - x.n))))


def points(kernel):
    """Formulations with exact paths, and parameters."""
    X, Y = FEW
    yield pc.TwoCSVM(X, Y, kernel), {"C_plus": 1.5, "C_minus": 0.5}
    nu = pc.TwoNuSVM(X + 0.8 * Y[:, None], Y, kernel)
    for by in ("asymmetry", "classes"):
        nu = pc.TwoNuSVM(X + 0.8 * Y[:, None], Y, kernel, by=by)
        yield nu, {"nu": 0.2, "asymmetry": 0.4}
        yield nu, {"nu_plus": 0.7, "nu_minus": 0.8}
        yield nu, {"nu_plus": 1.0, "nu_minus": 1.0}
    yield pc.TwoNuSVM(np.vstack([X[:6], X[:6]]), np.repeat([1.0, -1.0], 6), kernel), {"nu": 0.3, "asymmetry": 0.5}
    for bias in (True, False):
        yield pc.QuantileSVM(X, Y, kernel, bias=bias), {"tau": 0.3, "lam": 0.25}
    yield pc.BiobjectiveMargin(X + 2.5 * Y[:, None], Y, kernel, soft=False), {"theta": 2.0}
    yield pc.BiobjectiveMargin(X, Y, kernel), {"theta": 2.0, "C_plus": 0.7, "C_minus": 3.0}


@pytest.mark.filterwarnings("ignore::paretoclf.common.errors.HomogeneousWarning")
@pytest.mark.parametrize("kernel", [None, pc.RBF(0.7)], ids=["linear", "rbf"])
def test_a_point_of_a_solver_has_a_certificate_of_both_levels_which_both_checkers_accept(kernel, tmp_path):
    for svm, values in points(kernel):
        name, solution = (type(svm).__name__, values), svm.solve(**values)
        save_solution(svm, solution, tmp_path / "a.json")
        assert alone(tmp_path, "a.json").returncode == 0, name
        assert objection(tmp_path / "a.json") == "", name
        content = json.loads((tmp_path / "a.json").read_text())
        problem, factor = content["problem"], 2 if "theta" in values else 1
        found, _ = check.check(problem, content["segments"])
        assert found[0] == found[1]
        value = factor * check.value(problem, found[0])
        assert value == pytest.approx(solution.value, rel=1e-8, abs=1e-15), name
        save_solution(svm, solution, tmp_path / "b.json", "bounded")
        assert alone(tmp_path, "b.json", script="check_gap").returncode == 0, name
        content = json.loads((tmp_path / "b.json").read_text())
        most = check_gap.gap(content["problem"], content["points"], content["stretch"])[1]
        assert second_gap_of(content) <= most <= 1e-10 * (1e-3 + abs(value)), name


def test_points_of_paths_have_certificates_and_another_formulation_is_refused(tmp_path):
    svm = pc.QuantileSVM(X, Y, bias=True)
    save_solution(svm, pc.trace(svm, tau=(0.1, 0.9), lam=0.25).at(0.4), tmp_path / "a.json")
    assert alone(tmp_path, "a.json").returncode == 0
    for other in (pc.TwoCSVM(X, Y), pc.TwoNuSVM(X, Y), pc.BiobjectiveMargin(X, Y)):
        with pytest.raises(pc.InputError, match=f"must be one of the {type(other).__name__} that is given"):
            save_solution(other, svm.solve(tau=0.4, lam=0.25), tmp_path / "b.json")
    with pytest.raises(pc.InputError, match="no exact path for ParetoGaussianQP"):
        save_solution(pc.formulations.ParetoGaussianQP(X, Y), None, tmp_path / "b.json")
    assert not (tmp_path / "b.json").exists()


def test_any_program_has_a_certificate_at_a_point_or_is_refused_by_name(tmp_path):
    for problem, start, _, _ in cvxpy_lines():
        for parameter, value in start.items():
            parameter.value = value
        for level, script in (("exact", "check"), ("bounded", "check_gap")):
            save_point(problem, tmp_path / "a.json", level)
            assert alone(tmp_path, "a.json", script=script).returncode == 0
        save_point(problem, tmp_path / "a.json")
        assert objection(tmp_path / "a.json") == ""
        content = json.loads((tmp_path / "a.json").read_text())
        value = problem.solve(solver="CLARABEL")
        assert check.check(content["problem"], content["segments"])[0][0] == pytest.approx(value, rel=1e-7, abs=1e-9)
    svm = pc.TwoCSVM(X[::3], Y[::3])
    save_point(svm, tmp_path / "a.json", C_plus=1.5, C_minus=0.5)
    content = json.loads((tmp_path / "a.json").read_text())
    value = check.check(content["problem"], content["segments"])[0][0]
    assert value == pytest.approx(svm.solve(C_plus=1.5, C_minus=0.5).value, rel=1e-9)
    x, c = cp.Variable(2, name="x"), cp.Parameter(name="c")
    for problem, said in (
        (cp.Problem(cp.Minimize(cp.norm(x - [1, 2]))), "needs a cone"),
        (cp.Problem(cp.Minimize(c * x[0]), [x == 1]), "parameter c must have a value"),
        (pc.SurrogateRisk(X, Y, loss="logistic"), "must be given|missing|no program with a certificate"),
        (3, "must be a cvxpy.Problem or a formulation"),
    ):
        with pytest.raises(pc.InputError, match=said):
            save_point(problem, tmp_path / "b.json")


@pytest.mark.parametrize("level", ["exact", "bounded"])
def test_the_same_bytes_are_written_by_any_number_of_processes(level, tmp_path):
    path = traced(kernel=pc.RBF(0.5))
    for n_jobs in (1, 2, 3):
        path.proof.writer(tmp_path / f"{n_jobs}.json", level=level, n_jobs=n_jobs)
    one, *others = ((tmp_path / f"{n_jobs}.json").read_bytes() for n_jobs in (1, 2, 3))
    assert others == [one, one]
    problem = path_problem(path)
    guide = [labels for k, labels in enumerate(path._labels()) if k % 3]  # where exact exchanges must go on between
    found = [certificate(problem, guide, n_jobs=n_jobs) for n_jobs in (1, 3)]
    assert found[0] == found[1]
    assert verdict(found[0]) == ""


def test_costs_are_compared(tmp_path):
    file = saved(traced(), tmp_path)
    assert alone(tmp_path, file, "--costs", "0.25,0.75,1.5,0.5").returncode == 0
    assert "costs differ" in alone(tmp_path, file, "--costs", "0.25,0.75,1.5,0.50000001").stderr
    own = table(tmp_path / "own.csv", X, Y)
    assert alone(tmp_path, file, "--data", own, "--costs", "0.25,0.75,1.5,0.5").returncode == 0
    assert alone(tmp_path, file, "--costs").returncode == 1


def test_costs_of_weighted_samples_are_compared(tmp_path):
    weight = np.where(np.arange(24) % 5 == 0, 0.1, 1.0 + np.arange(24) % 3)
    file, costs = saved(traced(sample_weight=weight), tmp_path), "0.25,0.75,1.5,0.5"

    def given(weights, name="w.csv", header=True, costs=costs):
        (tmp_path / name).write_text("weight\n" * header + "".join(f"{w!r}\n" for w in weights))
        return alone(tmp_path, file, "--data", own, "--costs", f"{costs},{tmp_path / name}")

    own = table(tmp_path / "own.csv", X, Y)
    for header in (True, False):
        assert given(weight.tolist(), header=header).returncode == 0
    assert "costs differ" in alone(tmp_path, file, "--costs", costs).stderr
    for i in (0, 3, 23):  # neighbours: another double, another order
        other = weight.copy()
        other[i] = np.nextafter(other[i], 9.0)
        assert "costs differ" in given(other.tolist()).stderr
    assert "costs differ" in given(weight[::-1].tolist()).stderr
    assert "costs differ" in given(weight.tolist(), costs="0.25,0.75,1.5,0.51").stderr
    assert given(weight[1:].tolist(), header=False).returncode == 1
    assert given(weight.tolist(), costs="0.25,0.75,1.5").returncode == 1
    assert "the labels differ" in alone(tmp_path, file, "--data", table(tmp_path / "b.csv", X, Y[::-1])).stderr
    plain = saved(traced(), tmp_path, "plain.json")  # the same samples and costs, all of one weight
    assert alone(tmp_path, plain, "--costs", f"{costs},{tmp_path / 'w.csv'}").returncode == 1


def test_the_command_line_writes_a_certificate_and_its_checker(tmp_path, capsys):
    traced().save(tmp_path / "path.npz")
    for level, script in (("exact", "check"), ("bounded", "check_gap")):
        out = tmp_path / level / "a.json"
        out.parent.mkdir()
        assert main(["prove", str(tmp_path / "path.npz"), "--level", level, "--out", str(out)]) == 0
        assert f"python {script}.py a.json" in capsys.readouterr().out
        command = [sys.executable, "-I", f"{script}.py", "a.json"]
        assert subprocess.run(command, cwd=out.parent, capture_output=True, timeout=60).returncode == 0
    assert (
        main(["prove", str(tmp_path / "path.npz"), "--jobs", "2", "--json", "--out", str(tmp_path / "a.json.gz")]) == 0
    )
    assert json.loads(capsys.readouterr().out)["level"] == "exact"
    assert main(["prove", str(tmp_path / "nowhere.npz")]) == 2


# ---- broken files of all kinds; the 1000 of each kind are in tests/benchmarks/certificates.py ------------------------


def test_what_breaks_a_file_of_any_kind_is_caught_or_harmless_as_the_second_checker_says_too():
    contents, rng, passed = list(files()), np.random.default_rng(1), 0
    assert len(contents) == 20
    for content in contents:
        assert verdicts(content) == ("", "")
        for _ in range(3):
            what, new = mutated(content, rng)
            ours, others = verdicts(new)
            assert ours or not others, (what, others)
            passed += not ours
    assert passed < 30
