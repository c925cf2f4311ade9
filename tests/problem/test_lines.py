"""What a formulation says of its paths is data: its value at any t is CVXPY's; and a new kind of path is small."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.engine.box import log_of
from paretoclf.engine.general import follow
from paretoclf.path.svm_lines.stages import Stage, assemble
from paretoclf.path.svm_lines.svm_path import OnPieces
from paretoclf.problem.lines import LabelledSamples, LineOfCosts
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import ParametricQP
from tests.oracles.parametric import solve_at
from tests.oracles.two_classes import samples

T = 0.375


def between(lo, hi):
    return (1 - T) * lo + T * hi


def costs(X, y, kernel):
    svm = pc.TwoCSVM(X, y, kernel, np.where(np.arange(y.size) % 3 == 0, 2.0, 1.0))
    return svm, svm.line((0.25, 2.0), (1.5, 0.5)), {"C_plus": between(0.25, 1.5), "C_minus": between(2.0, 0.5)}, -1.0


def nu(X, y, kernel):
    svm = pc.TwoNuSVM(X, y, kernel)
    return svm, svm.line(nu=(0.2, 0.25), asymmetry=0.4), {"nu": between(0.2, 0.25), "asymmetry": 0.4}, -1.0


def hulls(X, y, kernel):
    svm = pc.TwoNuSVM(X, y, kernel)
    line = svm.line((1.0, 0.9), (0.8, 0.7))
    now, asymmetry = line.along.nu(T)
    return svm, line, {"nu": now, "asymmetry": asymmetry}, -((now / 2) ** 2)


def tau(X, y, kernel):
    svm = pc.QuantileSVM(X, y, kernel, bias=True)
    return svm, svm.line(tau=(0.1, 0.8), lam=0.25), {"tau": between(0.1, 0.8), "lam": 0.25}, -0.25


def theta(X, y, kernel):
    svm = pc.BiobjectiveMargin(X, y, kernel)
    line = svm.line((0.25, 4), 0.7, 3.0)
    share = between(*line.ends)
    return svm, line, {"theta": share / (1 - share), "C_plus": 0.7, "C_minus": 3.0}, -2.0


@pytest.mark.filterwarnings("ignore::paretoclf.common.errors.HomogeneousWarning")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kernel", [None, pc.RBF(0.7)], ids=["linear", "rbf"])
@pytest.mark.parametrize("kind", [costs, nu, hulls, tau, theta])
def test_the_problem_of_a_line_has_the_value_of_its_formulation(kind, kernel, seed):
    svm, line, values, unit = kind(*samples(seed), kernel)
    stated = unit * solve_at(line.problem.dense(), T, tol=1e-10)[0]
    for form in ("primal", "dual"):
        assert stated == pytest.approx(svm.solve(**values, form=form, polish=False).value, rel=1e-6, abs=1e-9), form


def test_a_path_states_the_problem_of_its_line():
    X, y = samples(0)
    for make, given in (
        (pc.TwoCSVM, {"start": (0.25, 2.0), "stop": (1.5, 0.5)}),
        (pc.QuantileSVM, {"tau": (0.1, 0.8), "lam": 0.25}),
        (pc.TwoNuSVM, {"start": (1.0, 1.0), "stop": (0.9, 0.9)}),
    ):
        svm = make(X, y)
        line, path = svm.line(**given).problem.dense(), pc.trace(svm, **given).problem.dense()
        for name in ("P", "A", "q", "lower", "upper"):
            np.testing.assert_allclose(getattr(path, name), getattr(line, name), rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("seed", range(3))
def test_the_engine_of_any_program_follows_the_same_line(seed):
    """It knows nothing of samples: no class means, no ray, no equation of an intercept."""
    X, y = samples(seed)
    svm = pc.TwoCSVM(X, y, pc.RBF(0.7))
    ends = (0.25, 2.0), (1.5, 0.5)
    path, found = pc.trace(svm, *ends), follow(svm.line(*ends).problem, progress=False)
    assert found.status == "end"
    for j, (lo, hi) in enumerate(pairwise(found.t)):
        for k, t in enumerate((lo, hi)):
            mine, theirs = (svm.gram.matvec(y * a) for a in (path.alpha(float(t)), found.v[j, k, :18]))
            np.testing.assert_allclose(theirs, mine, atol=1e-9)  # of copies the multipliers are not unique


def test_any_other_formulation_has_the_line_of_its_program():
    X, y = samples(2)
    line = pc.SurrogateRisk(X, y, loss="hinge").line(C_plus=(0.25, 1.5), C_minus=(2.0, 0.5), ridge=1.0)
    stated = solve_at(line.problem, T)[0]
    costs = {"C_plus": between(0.25, 1.5), "C_minus": between(2.0, 0.5)}
    assert stated == pytest.approx(pc.TwoCSVM(X, y).solve(**costs).value, rel=1e-6)


# ---- a new kind of path ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OneClassPath(OnPieces):
    """One-class SVM (Schoelkopf et al. 2001): weights of samples that add up to 1, below a cap that goes down."""

    ends: tuple[float, float]

    equations = 1

    @property
    def problem(self):
        n = self.y.size
        return problem_of_one_class(self.gram, np.outer(self.ends, np.ones(n)))

    def caps(self, t):
        return np.full(self.y.size, (1 - t) * self.ends[0] + t * self.ends[1])


def problem_of_one_class(gram, caps):
    n = caps.shape[1]
    return ParametricQP.box(Signed(gram.quadratic, np.ones(n)), np.zeros(n), np.ones((1, n)), caps, 1.0)


def trace_one_class(X, kernel, last):
    """From the mean of all samples (caps of 1/n) to caps of ``last``."""
    gram = pc.Gram(X, kernel)
    n = gram.n
    caps = np.outer((1 / n, last), np.ones(n))
    problem = problem_of_one_class(gram, caps)
    log = log_of(follow(problem, progress=False).path)
    pieces = assemble((log, [Stage(0, log.segments, 0.0, 1.0)], log, []), None, bool(gram.quadratic.width))
    return OneClassPath(gram, np.ones(n), (1 / n, last), pieces=pieces)


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)], ids=["linear", "rbf"])
def test_a_new_kind_of_path_is_small(kernel):
    X = np.random.default_rng(3).normal(size=(25, 2)) + 2.0
    path = trace_one_class(X, kernel, 0.2)
    assert path.breakpoints.size > 8
    for t in (*path.breakpoints[1:-1].tolist(), 0.3, 0.9):
        stated, v, _ = solve_at(path.problem.dense(), t)
        assert path.value(t) == pytest.approx(-stated, rel=1e-7)
        np.testing.assert_allclose(path.gram.matvec(path.alpha(t)), path.gram.matvec(v[: X.shape[0]]), atol=1e-5)
    assert len(path.events) >= 8
    scores = path.gram.matvec(path.alpha(0.3)) + path.intercept(0.3)
    np.testing.assert_allclose(path.scores(X)(0.3), scores, atol=1e-12)


def test_samples_alone_have_weights_of_1():
    X, y = samples(0)
    data = LabelledSamples(pc.Gram(X), y)
    assert LineOfCosts.of(data, (1, 2), (2, 1)).caps.tolist() == [[1.0] * 6 + [2.0] * 12, [2.0] * 6 + [1.0] * 12]
