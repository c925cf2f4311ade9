"""``paretoclf verify``: rows, verdicts, exit status, conventions, formats, and what it says about bad files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.checking.solution_files import read_solutions
from paretoclf.cli import main

N = 16


@pytest.fixture
def problem(gaussians, tmp_path, monkeypatch):
    """Samples in files, and a right path of them: costs, multipliers, intercepts."""
    monkeypatch.chdir(tmp_path)
    X, y = gaussians(N, 2, seed=3)
    np.savez("samples.npz", X=X, y=y)
    with open("samples.csv", "w") as out:
        out.write("a,b,y\n" + "".join(f"{float(u)!r},{float(v)!r},{int(c)}\n" for (u, v), c in zip(X, y, strict=True)))
    path = pc.trace(pc.TwoCSVM(X, y), (0.5, 0.5), (2.0, 2.0))
    t = path.breakpoints
    return (
        X,
        y,
        np.array([tuple(path.costs(s)) for s in t]),
        np.array([path.alpha(s) for s in t]),
        np.array([path.intercept(s) for s in t]),
    )


def write_csv(file, **columns):
    """Write columns; a matrix becomes one column for each sample."""
    names, values = [], []
    for name, column in columns.items():
        for j, each in enumerate(np.atleast_2d(np.asarray(column).T)):
            names.append(name if np.ndim(column) == 1 else f"{name}{j}")
            values.append(each)
    rows = [",".join(repr(float(v)) for v in row) for row in zip(*values, strict=True)]
    with open(file, "w") as out:
        out.write("\n".join([",".join(names), *rows]) + "\n")


def test_a_right_path_passes_in_every_form(problem, capsys):
    _, _, costs, alpha, b = problem
    C = costs[:, 0]
    np.savez("costs.npz", costs=costs, alpha=alpha, b=b)
    np.savez("pair.npz", C_plus=C, C_minus=C, alpha=alpha)
    np.savez("lambda.npz", alpha=alpha / C[:, None], b=b, **{"lambda": 1 / C})
    write_csv("costs.csv", C_plus=C, a=alpha, C_minus=C, b=b)
    write_csv("lambda.csv", **{"lambda": 1 / C}, alpha0=b / C, a=alpha / C[:, None])
    for file in ("costs.npz", "pair.npz", "lambda.npz", "costs.csv", "lambda.csv"):
        for data in ("samples.npz", "samples.csv"):
            assert main(["verify", file, "--data", data]) == 0, file
            printed = capsys.readouterr()
            assert printed.err == ""
            assert printed.out.splitlines()[-1] == f"{len(C)} of {len(C)} optimal to 1e-08"
            assert printed.out.count("not optimal") == 0


def test_the_first_failure_row_is_named_and_explained(problem, capsys):
    X, y, costs, alpha, b = problem
    wrong = alpha.copy()
    wrong[3, 0] += 0.1
    wrong[5, 1] -= 0.1
    np.savez("wrong.npz", costs=costs, alpha=wrong, b=b)
    assert main(["verify", "wrong.npz", "--data", "samples.npz"]) == 1
    lines = capsys.readouterr().out.splitlines()
    expected = pc.verify(X, y, [(*costs[3], wrong[3], b[3])])[0]
    assert [k for k, line in enumerate(lines[1:-2]) if not line.endswith("  optimal")] == [3, 5]
    assert lines[4].endswith("  not optimal: a sample off its margin is not at its bound (by 4e-01), sample 0")
    assert lines[-2] == f"2 not optimal, {len(b) - 2} of {len(b)} optimal to 1e-08"
    assert lines[-1] == f"first not optimal: #3: {expected.explain()}"
    assert main(["verify", "wrong.npz", "--data", "samples.npz", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [row["row"] for row in report["rows"] if not row["optimal"]] == [3, 5]
    assert report["verdicts"] == {"not optimal": 2, "undecided": 0, "optimal": len(b) - 2}
    assert report["first_failure"]["verdict"] == "not optimal"
    assert report["first_failure"]["off_by"] == expected.off_by
    assert report["first_failure"] == report["rows"][3]
    assert report["first_failure"]["gap"] == expected.gap
    assert report["data"]["samples"] == N
    assert main(["verify", "wrong.npz", "--data", "samples.npz", "--tol", "10"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{len(b)} of {len(b)} optimal to 10"


def test_kernels(problem, capsys):
    X, y, *_ = problem
    np.savez("gram.npz", X=pc.RBF(2.0)(X, X), y=y)
    poly = pc.Polynomial(2, 0.5, 2.0)
    for kernel, options, data in (
        (pc.RBF(2.0), ["--kernel", "rbf", "--bandwidth", "2"], "samples.npz"),
        (pc.RBF(2.0), ["--kernel", "precomputed"], "gram.npz"),
        (poly, ["--kernel", "poly", "--degree", "2", "--scale", ".5", "--offset", "2"], "samples.npz"),
    ):
        solution = pc.trace(pc.TwoCSVM(X, y, kernel), (1, 1), (1, 2)).at(1.0)
        np.savez("one.npz", C_plus=[1.0], C_minus=[2.0], alpha=solution.alpha[None], b=[solution.classifier.b])
        assert main(["verify", "one.npz", "--data", data, *options]) == 0
        assert main(["verify", "one.npz", "--data", data if data == "gram.npz" else "samples.npz"]) == 1
    capsys.readouterr()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": None}, "there is no array 'alpha'; arrays: costs, b"),
        ({"costs": None}, "must have C_plus and C_minus, or lambda, got none of them"),
        ({"costs": None, "C_plus": np.ones(2)}, "must have C_plus and C_minus, or lambda, got C_plus"),
        ({"costs": np.ones(2)}, "costs must have shape (k, 2), got (2,)"),
        ({"lambda": np.ones(2)}, "costs stands for C_plus and C_minus; there must not be"),
        ({"alpha": np.ones((2, 3))}, "alpha must have one row per solution and 16 columns, got shape (2, 3)"),
        ({"b": np.ones(3)}, "b must have shape (2,), got (3,)"),
        ({"b": [1.0, np.nan]}, "b must be finite, got nan at index 1"),
        ({"alpha0": np.ones(2)}, "alpha0 belongs to lambda, in place of b"),
        ({"costs": None, "lambda": [1.0, 0.0]}, "lambda must be positive, got 0 in row 1"),
        ({"costs": -np.ones((2, 2))}, "solutions[0]: C_plus must be a finite nonnegative number, got -1.0"),
        ({"alpha": np.array([["a"] * N] * 2)}, "cannot be read (could not convert string to float"),
    ],
)
def test_bad_npz_files(problem, change, message, capsys):
    arrays = {"costs": np.ones((2, 2)), "alpha": np.zeros((2, N)), "b": np.zeros(2), **change}
    np.savez("bad.npz", **{name: values for name, values in arrays.items() if values is not None})
    assert main(["verify", "bad.npz", "--data", "samples.npz"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert message in printed.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("C_plus,C_minus,a\n1,1,0\n", "must have 2 columns of multipliers besides C_plus, C_minus, got 1"),
        ("C_plus,C_minus,a,b\n1,1,0,0\n", "must have 2 columns of multipliers besides C_plus, C_minus, b, got 1"),
        ("C_plus,C_plus,p,q\n1,1,0,0\n", "a column name occurs twice in C_plus, C_plus"),
        ("C_plus,C_minus,p,q\n1,1,0\n", "row 2 must have 4 cells like the header, got 3"),
        ("C_plus,C_minus,p,q\n1,1,0,x\n", "row 2: could not convert string to float: 'x'"),
        ("C_plus,C_minus,p,q\n", "alpha must have one row per solution and 2 columns, got shape (0, 2)"),
        ("lambda,C_minus,p,q\n1,1,0,0\n", "must have C_plus and C_minus, or lambda, got C_minus, lambda"),
    ],
)
def test_bad_csv_files(tmp_path, text, message):
    file = tmp_path / "bad.csv"
    file.write_text(text)
    with pytest.raises(pc.InputError) as error:
        read_solutions(file, 2)
    assert message in str(error.value)
    assert str(file) in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["verify", "missing.npz", "--data", "samples.npz"], "missing.npz: no such file"),
        (["verify", "path.txt", "--data", "samples.npz"], "must end in .csv or .npz"),
        (["verify", "samples.csv"], "--data"),
        (["verify", "x.npz", "--data", "samples.npz", "--tol", "0"], "--tol must be a finite positive number, got 0"),
        (["verify", "x.npz", "--data", "samples.npz", "--kernel", "rbf"], "--bandwidth or --gamma is required"),
        (["verify", "x.npz", "--data", "samples.npz", "--degree", "2"], "--degree belongs to --kernel poly"),
    ],
)
def test_bad_arguments(problem, arguments, message, capsys):
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1


def test_a_damaged_npz_file(problem, capsys):
    with open("damaged.npz", "wb") as out:
        out.write(b"PK no archive")
    assert main(["verify", "damaged.npz", "--data", "samples.npz"]) == 2
    assert "damaged.npz: cannot be read" in capsys.readouterr().err


def test_one_cost_and_no_header(problem, capsys):
    X, _, costs, alpha, b = problem
    C = costs[:, 0]
    write_csv("one.csv", C=C, a=alpha, b=b)
    np.savez("one.npz", C=C, alpha=alpha, b=b)
    layouts = {
        "pair": [costs, alpha],
        "all": [costs, alpha, b[:, None]],
        "single": [C[:, None], alpha],
        "single_b": [C[:, None], alpha, b[:, None]],
    }
    for name, parts in layouts.items():
        np.savetxt(f"{name}.csv", np.hstack(parts), delimiter=",", fmt="%.17g")
    with open("samples.csv") as stream:
        rows = stream.readlines()[1:]
    with open("bare.csv", "w") as out:
        out.writelines(rows)
    for file in ("one.csv", "one.npz", *(f"{name}.csv" for name in layouts)):
        assert main(["verify", file, "--data", "bare.csv", "--label", "3"]) == 0, file
        assert main(["verify", file, "--data", "bare.csv", "--label", "3", "--no-header"]) == 0
    capsys.readouterr()
    write_csv("named.csv", C_plus=C, C_minus=C, **{f"{'abC'[j % 3]}{j or ''}": alpha[:, j] for j in range(N)})
    assert main(["verify", "named.csv", "--data", "samples.csv"]) == 0  # samples may be called anything
    for change, message in (
        ({"C": C, "costs": costs}, "C stands for C_plus and C_minus; there must not be C_plus too"),
        ({"C": C, "lambda": C}, "C stands for C_plus and C_minus; there must not be lambda too"),
    ):
        np.savez("twice.npz", alpha=alpha, **change)
        assert main(["verify", "twice.npz", "--data", "samples.npz"]) == 2
        assert message in capsys.readouterr().err
    np.savetxt("wide.csv", np.hstack([costs, costs, alpha]), delimiter=",")
    assert main(["verify", "wide.csv", "--data", "samples.npz"]) == 2
    assert (
        f"C_plus, C_minus, {N} multipliers and, if given, b, or one cost and the multipliers, got"
        in capsys.readouterr().err
    )
    assert main(["verify", "one.csv", "--data", "bare.csv"]) == 2
    assert "label must be the number of its column, 1 to 3" in capsys.readouterr().err
    assert main(["verify", "one.csv", "--data", "bare.csv", "--no-header", "--label", "y"]) == 2
    assert "--no-header: --label must be the number of a column, from 1, got y" in capsys.readouterr().err
    assert X.shape == (N, 2)


def test_gamma_in_place_of_a_bandwidth_or_a_scale(problem, capsys):
    X, y, *_ = problem
    for kernel, options in (
        (pc.RBF(2.0), ["--kernel", "rbf", "--gamma", "0.125"]),
        (pc.Polynomial(2, 0.5, 2.0), ["--kernel", "poly", "--degree", "2", "--gamma", ".5", "--offset", "2"]),
    ):
        solution = pc.trace(pc.TwoCSVM(X, y, kernel), (1, 1), (1, 2)).at(1.0)
        np.savez("one.npz", C_plus=[1.0], C_minus=[2.0], alpha=solution.alpha[None], b=[solution.classifier.b])
        assert main(["verify", "one.npz", "--data", "samples.npz", *options]) == 0
    capsys.readouterr()
    for options, message in (
        (["--kernel", "rbf", "--gamma", "1", "--bandwidth", "1"], "--gamma stands for --bandwidth: give one of them"),
        (["--kernel", "poly", "--gamma", "1", "--scale", "1"], "--gamma stands for --scale: give one of them"),
        (["--kernel", "rbf", "--gamma", "0"], "--gamma must be a finite positive number, got 0"),
        (["--gamma", "1"], "--gamma belongs to --kernel rbf or poly, but the kernel is linear"),
    ):
        assert main(["verify", "one.npz", "--data", "samples.npz", *options]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--standardise", "--standardize"])
def test_features_that_the_solver_scaled(problem, option, capsys):
    X, y, *_ = problem
    fit = SVC(kernel="linear", tol=1e-10).fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    alpha = np.zeros(N)
    alpha[fit.support_] = y[fit.support_] * fit.dual_coef_[0]
    np.savez("scaled.npz", C=[1.0], alpha=alpha[None], b=fit.intercept_)
    assert main(["verify", "scaled.npz", "--data", "samples.npz", "--tol", "1e-6", option]) == 0
    assert main(["verify", "scaled.npz", "--data", "samples.npz", "--tol", "1e-6"]) == 1
    capsys.readouterr()
    np.savez("gram.npz", X=X @ X.T, y=y)
    assert main(["verify", "scaled.npz", "--data", "gram.npz", "--kernel", "precomputed", option]) == 2
    assert "--standardize is about features: --kernel precomputed has none" in capsys.readouterr().err


def test_a_model_file_with_the_data_it_was_trained_on(problem, capsys):
    """The files of LIBSVM as they are, at the tolerance that LIBSVM stops at: exit status 1 means something."""
    folder = Path(__file__).parents[1] / "oracles" / "models"
    command = ["verify", str(folder / "c_rbf.model"), "--data", str(folder / "train.libsvm")]
    assert main([*command, "--costs", "3", "2"]) == 0
    assert "1 of 1 optimal to 0.001" in capsys.readouterr().out
    assert main([*command, "--costs", "3", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tolerance"] == 1e-3
    assert main([*command, "--costs", "3", "3"]) == 1
    assert main([*command, "--costs", "3", "2", "--tol", "1e-15"]) == 1


def test_help(capsys):
    assert main(["verify", "--help"]) == 0
    out = capsys.readouterr().out
    for word in ("FILE", "--data", "lambda", "alpha0", "--json", "exit status"):
        assert word in out


def test_model_files_formulations_and_paths_between_their_knots(problem, capsys):
    X, y, costs, alpha, b = problem
    np.savez("right.npz", costs=costs, alpha=alpha, b=b)
    assert main(["verify", "right.npz", "--data", "samples.npz", "--between"]) == 0
    assert "between: " in capsys.readouterr().out
    np.savez("ends.npz", costs=costs[[0, -1]], alpha=alpha[[0, -1]], b=b[[0, -1]])
    assert main(["verify", "ends.npz", "--data", "samples.npz"]) == 0
    assert main(["verify", "ends.npz", "--data", "samples.npz", "--between"]) == 1
    assert "first not optimal: from #0 to #1" in capsys.readouterr().out
    solution = pc.TwoNuSVM(X, y).solve(nu=0.3, asymmetry=0.5)
    np.savez("nu.npz", nu=[0.3], asymmetry=[0.5], alpha=solution.alpha[None], b=[solution.classifier.b])
    assert main(["verify", "nu.npz", "--data", "samples.npz", "--formulation", "TwoNuSVM"]) == 0
    solution = pc.TwoCSVM(X, y).solve(1.0, 2.0)
    write_csv("slopes.csv", C_plus=[1.0], C_minus=[2.0], b=[solution.classifier.b], w=solution.classifier.w[None])
    assert main(["verify", "slopes.csv", "--data", "samples.npz"]) == 0
    folder = Path(__file__).parents[1] / "oracles" / "models"
    table = [line.split() for line in (folder / "train.libsvm").read_text().splitlines()]
    rows = [{int(k): float(v) for k, v in (pair.split(":") for pair in line[1:])} for line in table]
    np.savez("train.npz", X=[[row.get(j, 0.0) for j in (1, 2)] for row in rows], y=[int(line[0]) for line in table])
    model = ["verify", str(folder / "c_rbf.model"), "--data", "train.npz"]
    capsys.readouterr()
    assert main([*model, "--costs", "3", "2", "--tol", "1e-5"]) == 0
    assert main([*model, "--costs", "3", "3", "--tol", "1e-5"]) == 1
    capsys.readouterr()
    assert main(model) == 2
    assert "C_plus must be given: a model file does not say it" in capsys.readouterr().err


def test_a_model_of_samples_that_r_has_scaled(problem, capsys):
    """R's svm() scales by default, with variances over n - 1, and write.svm writes what it has scaled."""
    X, y = problem[0] * [1.0, 100.0] + [0.0, 1e4], problem[1]
    X = np.column_stack([X, np.full(N, 7.0)])  # a constant feature is as it was, but for its mean
    np.savez("raw.npz", X=X, y=y)
    scaled = np.column_stack([(X[:, :2] - X[:, :2].mean(axis=0)) / X[:, :2].std(axis=0, ddof=1), np.zeros(N)])
    fit = SVC(kernel="linear", C=2.0, tol=1e-9).fit(scaled, y)
    rows = [
        f"{coef:.17g} " + " ".join(f"{k}:{v:.8g}" for k, v in enumerate(scaled[i], 1) if v)
        for i, coef in zip(fit.support_, fit.dual_coef_[0], strict=True)
    ]
    head = ["svm_type c_svc", "kernel_type linear", "nr_class 2", f"total_sv {len(rows)}"]
    head += [f"rho {-fit.intercept_[0]:.17g}", "label 1 -1", f"nr_sv {(fit.dual_coef_ > 0).sum()} 0", "SV"]
    Path("r.model").write_text("\n".join([*head, *rows]) + "\n")
    asked = ["verify", "r.model", "--data", "raw.npz", "--costs", "2", "2", "--tol", "1e-5"]
    for more in ([], ["--standardise"]):
        assert main([*asked, *more]) == 2
        assert (
            "; of X scaled as R's svm() does by default, one is: give (X - X.mean(axis=0))" in capsys.readouterr().err
        )
    assert main([*asked, "--standardise", "--ddof", "1"]) == 0
    assert pc.verify(scaled, y, "r.model", C_plus=2.0, C_minus=2.0, tol=1e-5).passes()
    np.savez("other.npz", X=X**3, y=y)
    capsys.readouterr()
    assert main([*asked[:3], "other.npz", *asked[4:]]) == 2
    assert "R's svm()" not in capsys.readouterr().err
    assert main([*asked, "--ddof", "1"]) == 2
    assert "--ddof belongs to --standardise" in capsys.readouterr().err


def test_values_beside_a_saved_path(tmp_path, capsys):
    """The least x that is at least a, for a from 1 to 3."""
    qp = pc.QP(None, [1.0], [[1.0]], [1.0], None, moves={"a": {"l": [1.0]}})
    path, table = tmp_path / "path.npz", tmp_path / "values.csv"
    pc.trace(qp, start={"a": 0}, stop={"a": 2}, progress=False).save(path)
    table.write_text("a,value\n0,1\n2,3\n")
    assert main(["verify", str(path), str(table)]) == 0
    assert "2 of 2 values are the optimal ones to 1e-06" in capsys.readouterr().out
    table.write_text("a,value\n0,1\n2,3.01\n")
    assert main(["verify", str(path), str(table), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["verdicts"] == {"not optimal": 1, "undecided": 0, "optimal": 1}
    table.write_text("a,x[0]\n0,1\n2,3\n")
    assert main(["verify", str(path), str(table)]) == 2
    assert "are judged without it" in capsys.readouterr().err
    pc.trace(pc.TwoCSVM([[0.0], [1.0]], [-1, 1]), (0, 0), (1, 1), progress=False).save(path)
    assert main(["verify", str(path), str(table)]) == 2
    assert "got a Path in" in capsys.readouterr().err
