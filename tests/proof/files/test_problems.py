"""The parametric QP that a path states of itself has, at any t, the optimal value of the formulation's CVXPY model.

A problem stated wrongly would be proved wrongly: here Clarabel solves what the certificate file states, and CVXPY what
the formulation does, with no path between.
"""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.proof import check
from paretoclf.proof.files.file import integer_data
from paretoclf.proof.files.problems import path_problem
from tests.oracles.parametric import solve_at
from tests.oracles.two_classes import samples

STORED = Path(__file__).resolve().parents[2] / "stored"
SIDES = ("lower", "upper", "below", "above")
SHARE = 0.375


def stated_value(problem, t):
    """The optimal value at t of what a certificate file states, in the units of its formulation."""
    whole = integer_data(problem).problem
    *_, (U, H, R) = check.program(dict(problem))
    unit = U * (H * R) ** 2
    # Integers of a hundred digits: variables in units of the largest bound, or of what q and P make of them.
    steep = max(Fraction(v) for v in whole.P.diagonal())
    bounds = [Fraction(v) for side in SIDES[:2] for v in np.ravel(getattr(whole, side)) if abs(v) != np.inf]
    x = max(map(abs, bounds)) or max(abs(Fraction(v)) for v in np.ravel(whole.q)) / steep
    worth = x * x * steep

    def scaled(numbers, by):
        flat = [float(Fraction(v) * by) if abs(v) != np.inf else float(v) for v in np.ravel(numbers)]
        return np.array(flat).reshape(np.shape(numbers))

    sides = [scaled(getattr(whole, side), 1 / x) for side in SIDES[:2]]
    prices = [scaled(getattr(whole, side), x / worth) for side in SIDES[2:]]
    program = ParametricQP(
        scaled(whole.P, x * x / worth), scaled(whole.A, 1), scaled(whole.q, x / worth), *sides, *prices
    )
    found = solve_at(program, t)[0]
    return check.value(problem, found * float(worth / unit))


def between(lo, hi):
    return (1 - SHARE) * lo + SHARE * hi


def costs(X, y, kernel):
    svm = pc.TwoCSVM(X, y, kernel, np.where(np.arange(y.size) % 3 == 0, 2.0, 1.0))
    return svm, pc.trace(svm, (0.25, 2.0), (1.5, 0.5)), {"C_plus": between(0.25, 1.5), "C_minus": between(2.0, 0.5)}


def nu(X, y, kernel):
    svm = pc.TwoNuSVM(X, y, kernel)
    path = pc.trace(svm, nu=(0.1, 0.9 * 2 * 0.4 * 6 / 18), asymmetry=0.4)  # begins where the hulls part
    return svm, path, {"nu": between(*path.pieces.t[[0, -1]]), "asymmetry": 0.4}


def quantile(X, y, kernel):
    svm = pc.QuantileSVM(X, y, kernel, bias=True)
    return svm, pc.trace(svm, tau=(0.1, 0.8), lam=0.25), {"tau": between(0.1, 0.8), "lam": 0.25}


def quantile_through_the_origin(X, y, kernel):
    svm = pc.QuantileSVM(X, y, kernel)
    return svm, pc.trace(svm, tau=(0, 1), lam=0.5), {"tau": between(0, 1), "lam": 0.5}


def soft_margins(X, y, kernel):
    svm = pc.BiobjectiveMargin(X, y, kernel)
    path = pc.trace(svm, theta=(0.25, 4), C_plus=0.7, C_minus=3.0)
    theta = path.theta(between(*path.pieces.t[[0, -1]]))
    return svm, path, {"theta": theta, "C_plus": 0.7, "C_minus": 3.0}


def hard_margins(X, y, kernel):
    svm = pc.BiobjectiveMargin(np.where(X * y[:, None] > 0, X, -X) + 0.5 * y[:, None], y, kernel, soft=False)
    path = pc.trace(svm, theta=(0.25, 4))
    return svm, path, {"theta": path.theta(between(*path.pieces.t[[0, -1]]))}


@pytest.mark.filterwarnings("ignore::paretoclf.common.errors.HomogeneousWarning")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kernel", [None, pc.RBF(0.7)], ids=["linear", "rbf"])
@pytest.mark.parametrize(
    ("kind", "factor"),
    [(costs, 1), (nu, 1), (quantile, 1), (quantile_through_the_origin, 1), (soft_margins, 2), (hard_margins, 2)],
)
def test_a_path_states_the_problem_of_its_formulation(kind, factor, kernel, seed):
    svm, path, values = kind(*samples(seed), kernel)
    stated = factor * stated_value(path_problem(path), SHARE)
    for form in ("primal", "dual"):
        solved = svm.solve(**values, form=form, polish=False).value
        assert stated == pytest.approx(solved, rel=1e-6, abs=1e-9), form


@pytest.mark.parametrize(
    "name",
    [
        "costs_from_0",
        "costs_of_samples",
        "costs_rbf",
        "hulls",
        "margins",
        "margins_hard",
        "nu",
        "quantile",
        "quantile_bias",
    ],
)
def test_a_path_states_what_an_older_version_wrote_to_its_file(name):
    """Number by number and letter by letter; since then a file says which label is positive, too.

    Kernel values are computed again, and rounded as this processor does.
    """
    content = json.loads(gzip.decompress((STORED / f"{name}.exact.json.gz").read_bytes()))
    stated = path_problem(pc.load(STORED / f"{name}.npz", prove=False))
    written = {"positive": "1"} | content["problem"]
    for own, theirs in zip(stated.get("K", []), written.get("K", []), strict=True):
        np.testing.assert_allclose(own, theirs, rtol=1e-14)
        own[:] = theirs
    assert json.dumps(stated, sort_keys=True) == json.dumps(written, sort_keys=True)
