"""The reader of verify's arguments: results of ours, and whether they are of the problem that is asked about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.checking.given import one_problem, read_given

FOUR = np.array([[2.0, 0.0], [0.5, 1.0], [-1.0, 0.5], [-0.5, -1.0], [0.2, 0.1], [-2.0, 1.0]]), [1, 1, -1, -1, 1, -1]


def test_results_of_ours():
    X, y = FOUR
    svm = pc.TwoCSVM(X, y)
    path = pc.trace(svm, (0.2, 1.0), (1.0, 0.2))
    sweep = pc.sweep(svm, C_plus=[0.5, 1.0], C_minus=1.0)
    for given in (sweep, sweep[0], list(sweep), path):
        assert pc.verify(X, y, given).passes()
    report = pc.verify(X, y, path, between=True)
    assert report.passes()
    assert len(report.stretches) == len(path.proof)
    nu = pc.TwoNuSVM(X, y)
    assert pc.verify(nu, pc.trace(nu, nu=(0.2, 0.5), asymmetry=0.5)).passes()
    tau = pc.QuantileSVM(X, y)
    assert pc.verify(tau, pc.trace(tau, tau=(0.1, 0.9), lam=0.1)).passes()
    theta = pc.BiobjectiveMargin(X, y)
    assert pc.verify(theta, pc.trace(theta, theta=(0.5, 2.0), C_plus=1.0, C_minus=1.0)).passes()
    with pytest.raises(pc.InputError, match="X and y must be what the Path was made for"):
        pc.verify(X + 1, y, path)
    with pytest.raises(pc.InputError, match="kernel must be that of the Path"):
        pc.verify(X, y, path, pc.RBF(1.0))


def test_a_path_of_ours_is_of_its_weights_and_its_variant():
    """Before: with between=True its own proof stood for the problem that was asked about."""
    X, y = FOUR
    weights = np.linspace(1.0, 2.0, 6)
    path = pc.trace(pc.TwoCSVM(X, y, sample_weight=weights), (0.2, 1.0), (1.0, 0.2))
    assert pc.verify(X, y, path, sample_weight=weights, between=True).passes()
    with pytest.raises(pc.InputError, match="sample_weight must be that of the Path"):
        pc.verify(X, y, path, between=True)
    path = pc.trace(pc.QuantileSVM(X, y, bias=True), tau=(0.1, 0.9), lam=0.1)
    with pytest.raises(pc.InputError, match="bias must be that of the QuantilePath, True, got False"):
        pc.verify(pc.QuantileSVM(X, y), path)


def test_bad_calls():
    svm = pc.TwoCSVM(*FOUR)
    with pytest.raises(pc.InputError, match=r"verify takes \(formulation, solutions\) or \(X, y, solutions\)"):
        pc.verify(svm, [(1, 1, np.zeros(6))], [1])
    with pytest.raises(pc.InputError, match="between must be True or False"):
        pc.verify(svm, [(1, 1, np.zeros(6))], between=3)
    with pytest.raises(pc.InputError, match=r"between needs at least two knots, got 1"):
        pc.verify(svm, [(1, 1, np.zeros(6), 0.0)], between=True)
    with pytest.raises(pc.InputError, match=r"solutions\[0\]: b must be given for between=True"):
        pc.verify(svm, [(1, 1, np.zeros(6))] * 2, between=True)
    with pytest.raises(pc.InputError, match="a slope w alone belongs to the linear kernel"):
        pc.verify(*FOUR, {"w": [1.0, 1.0], "b": 0.0, "C_plus": 1, "C_minus": 1}, pc.RBF(1.0))
    with pytest.raises(pc.InputError, match="BiobjectiveMargin has no path that is affine between knots"):
        pc.verify(pc.BiobjectiveMargin(*FOUR), [(1, 1, 1, np.ones(6), 0.0)] * 2, between=True)


def given(X, y, solutions=None, kernel=None, weight=None, **parameters):
    return read_given(X, y, solutions, kernel, weight, parameters)


def test_everything_becomes_rows_each_with_its_problem():
    X, y = FOUR
    row = (1.0, 2.0, np.zeros(6), 0.5)
    read = given(X, y, [row, row], pc.RBF(1.0), np.ones(6))
    assert (read.tol, read.hint, read.path) == (1e-8, "", None)
    (first, one), (second, _) = read.rows
    assert first is second
    assert first.kernel == pc.RBF(1.0)
    assert one.values == {"C_plus": 1.0, "C_minus": 2.0}
    assert one.numbers["b"] == 0.5
    moments = pc.Moments.from_covariances([2.0, 0.0], np.eye(2), [0.0, 1.0], np.eye(2))
    tradeoff = pc.gaussian_tradeoff(moments)
    curve = tradeoff.curve(3)
    for what in (moments, tradeoff):
        rows = list(given(what, curve).rows)
        assert all(problem is moments for problem, _ in rows)
        assert [row.numbers["w"].tolist() for _, row in rows] == curve.w.tolist()
    machine = pc.ParetoGaussian.from_moments([2.0], [[1.0]], [0.0], [[1.0]])
    ((_, row),) = given(machine, [(0.5, [1.0], -0.2)]).rows
    assert row.numbers == {"w": [1.0], "b": -0.2}
    path = pc.trace(pc.TwoCSVM(X, y), (0.2, 1.0), (1.0, 0.2))
    assert given(X, y, path).path is path
    assert given(X, y, path.at(0.3)).path is None


def test_parameters_belong_to_files():
    X, y = FOUR
    with pytest.raises(pc.InputError, match="nu belongs to a model file only"):
        pc.verify(X, y, SVC(kernel="linear").fit(X, y), nu=0.5)
    with pytest.raises(pc.InputError, match="nu belongs to a model file only"):
        given(X, y, [(1, 1, np.zeros(6))], nu=0.5)


@pytest.mark.parametrize("more", [{"solutions": [1]}, {"kernel": pc.RBF(1.0)}, {"weight": np.ones(6)}])
def test_a_formulation_has_its_data(more):
    with pytest.raises(pc.InputError, match="the formulation has its data"):
        given(pc.TwoCSVM(*FOUR), [(1, 1, np.zeros(6))], **more)


def test_files(tmp_path):
    X, y = FOUR
    np.savez(tmp_path / "some.npz", C=[2.0], alpha=np.zeros((1, 6)))
    ((_, row),) = given(X, y, str(tmp_path / "some.npz")).rows
    assert row.values == {"C_plus": 2.0, "C_minus": 2.0}
    models = Path(__file__).parents[1] / "oracles" / "models"
    X, y = load_svmlight_file(str(models / "train.libsvm"))
    read = given(X.toarray(), y, models / "c_lin.model", C_plus=0.5, C_minus=0.5)
    assert read.tol == 1e-3
    ((problem, row),) = read.rows
    assert problem.n == y.size
    assert row.values == {"C_plus": 0.5, "C_minus": 0.5}


def test_problems_that_are_one_up_to_their_parameters():
    X, y = FOUR
    svm = pc.TwoCSVM(X, y)
    assert one_problem(svm, svm)
    assert one_problem(svm, pc.TwoCSVM(X, y))
    assert not one_problem(svm, pc.TwoCSVM(X, y, pc.RBF(1.0)))
    assert not one_problem(svm, pc.TwoCSVM(X + 1, y))
    assert not one_problem(svm, pc.TwoNuSVM(X, y))
    risk = pc.SurrogateRisk(X, y)
    assert not one_problem(risk, pc.SurrogateRisk(X, y))
    assert one_problem(risk, risk)


def test_results_of_ours_of_other_problems():
    X, y = FOUR
    solution = pc.TwoCSVM(X, y).solve(1.0, 2.0)
    for samples, labels in ((X[:5], y[:5]), (X + 1, y), (X, [1, 1, -1, -1, -1, 1])):
        with pytest.raises(
            pc.InputError, match="X and y must be what the Solution was made for: its samples are others"
        ):
            given(samples, labels, solution)
    with pytest.raises(pc.InputError, match=r"kernel must be that of the Solution, Linear\(\), got RBF"):
        given(X, y, solution, pc.RBF(1.0))
    path = pc.trace(pc.BiobjectiveMargin(X, y), theta=(0.5, 2.0), C_plus=1.0, C_minus=1.0)
    with pytest.raises(pc.InputError, match="soft must be that of the MarginPath, True, got False"):
        given(pc.BiobjectiveMargin(X, y, soft=False), path)
    assert len(list(given(pc.BiobjectiveMargin(X, y), path).rows)) == len(path.certificate_points)
