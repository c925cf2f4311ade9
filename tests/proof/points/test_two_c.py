from __future__ import annotations

import ast
import inspect
from decimal import Decimal, getcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.problem import exact_sums
from paretoclf.problem import operator as quadratic
from paretoclf.problem.classifiers import Classifier
from paretoclf.problem.costs import Costs
from paretoclf.problem.gram import Gram
from paretoclf.problem.intercepts import intercept_interval, point_of
from paretoclf.problem.kernels import RBF
from paretoclf.problem.operator import Features
from paretoclf.proof import points as judges
from paretoclf.proof.points.hinge import certify_hinges
from paretoclf.proof.points.judged_classifiers import make_solution
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.points.two_c import certify

# An exact optimum: five points on a line, C_plus = 3/4, C_minus = 1/2, w = 1, b = 0.
# Positives at 2 (beyond the margin) and 1 (on it), negatives at 0 (inside), -1 (on it) and -3 (beyond).
# Balance: a_1 = 1/2 + a_3; slope: a_1 + a_3 = 1, so a_1 = 3/4 (its cap) and a_3 = 1/4.
X = np.array([[2.0], [1.0], [0.0], [-1.0], [-3.0]])
Y = np.array([1, 1, -1, -1, -1])
CAPS = np.array([0.75, 0.75, 0.5, 0.5, 0.5])
ALPHA = np.array([0.0, 0.75, 0.5, 0.25, 0.0])
VALUE = 0.5 + 0.5 * 1.0  # half the squared slope, and the slack 1 of the sample at 0 at cost 1/2


def test_an_exact_optimum_passes_with_its_value():
    c = certify(Y, CAPS, ALPHA, 0.0, X=X)
    assert c.primal_value == VALUE
    assert c.dual_value == VALUE
    assert c.gap == 0
    assert c.residual == 0
    assert c.dual_residual == 0
    assert c.passes(0)
    assert "Optimal" in c.explain()
    assert repr(c).startswith("Certificate(optimal")


def numbers(c):
    return {"primal value": c.primal_value, "dual value": c.dual_value, "gap": c.gap, **c.conditions}


def test_the_kernel_matrix_gives_the_same_certificate():
    linear, kernel = certify(Y, CAPS, ALPHA, 0.1, X=X), certify(Y, CAPS, ALPHA, 0.1, K=X @ X.T)
    assert numbers(linear) == pytest.approx(numbers(kernel), abs=1e-15)


def test_values_against_their_definitions():
    """At a point that is neither feasible nor optimal: both bounds, computed by hand in plain Python."""
    alpha, b = [0.3, 0.8, 0.1, 0.2, -0.05], 0.4
    c = certify(Y, CAPS, alpha, b, X=X)
    w = sum(a * y * x for a, y, x in zip(alpha, Y, X[:, 0], strict=True))
    hinge = sum(cap * max(0, 1 - y * (w * x + b)) for cap, y, x in zip(CAPS, Y, X[:, 0], strict=True))
    assert c.primal_value == pytest.approx(0.5 * w * w + hinge, rel=1e-14)
    clipped = [0.3, 0.75, 0.1, 0.2, 0.0]  # into the box; then the positives are scaled from 1.05 down to 0.3
    feasible = [a * (0.3 / 1.05 if y > 0 else 1) for a, y in zip(clipped, Y, strict=True)]
    v = sum(a * y * x for a, y, x in zip(feasible, Y, X[:, 0], strict=True))
    assert c.dual_value == pytest.approx(sum(feasible) - 0.5 * v * v, rel=1e-14)
    assert c.dual_value <= VALUE <= c.primal_value
    assert c.conditions["box"] == pytest.approx(0.1)
    assert c.conditions["balance"] == pytest.approx(abs(1.1 - 0.25) / 1.5)


def perturbed(index, by):
    alpha = ALPHA.copy()
    alpha[index] += by
    return alpha


@pytest.mark.parametrize(
    ("arguments", "residual", "text"),
    [
        ({"alpha": perturbed(3, 1e-3)}, "balance", "balance"),
        ({"alpha": perturbed(0, -1e-3)}, "box", "leaves its box"),
        ({"alpha": perturbed(1, 1e-3)}, "box", "leaves its box"),
        ({"alpha": ALPHA + np.array([1e-3, 0, 0, 0, 1e-3])}, "complementarity", "off its margin"),
        ({"alpha": ALPHA - np.array([0, 1e-3, 1e-3, 0, 0])}, "complementarity", "off its margin"),
        ({"b": 1e-3}, "complementarity", "off its margin"),
        ({"b": -1e-3}, "complementarity", "off its margin"),
        ({"w": [1.001]}, "stationarity in w", "w is not the combination"),
        ({"xi": [0, 0, 0.999, 0, 0]}, "margin", "a margin constraint is violated"),
        ({"xi": [0, 0, 1, -1e-3, 0]}, "margin", "a margin constraint is violated"),
    ],
)
def test_a_perturbed_optimum_fails_and_says_why(arguments, residual, text):
    given_point = {"alpha": ALPHA, "b": 0.0, **arguments}
    c = certify(Y, CAPS, X=X, **given_point)
    assert not c.passes()
    assert c.conditions[residual] > 1e-5
    assert text in c.explain()
    assert "Not optimal" in c.explain()
    assert c.verdict() == "not optimal"
    assert "Certificate(not optimal, " in repr(c)
    assert c.passes(1.0)


def test_a_gap_alone_fails_and_says_so():
    """Tiny costs in a large margin violation: no residual is large in a box of its own, the gap is."""
    c = certify([1, -1], [1.0, 1.0], [0.5, 0.5], 0.0, X=np.array([[1.0], [-1.0]]))
    shrunk = type(c)(**{**c.__dict__, "gap": 1e-3})
    assert not shrunk.passes()
    assert "duality gap exceeds" in shrunk.explain()


def test_not_a_number_never_passes():
    c = certify(Y, CAPS, ALPHA, 0.0, X=X)
    assert not type(c)(**{**c.__dict__, "gap": float("nan")}).passes(np.inf)
    assert not type(c)(**{**c.__dict__, "dual": {"box": float("nan")}}).passes()


@pytest.mark.parametrize("worst", range(5))
def test_explain_names_the_worst_sample(worst):
    alpha = ALPHA.copy()
    alpha[worst] += 0.3 if worst in (0, 4) else -0.9  # far out of its box, or at the wrong bound
    c = certify(Y, CAPS, alpha, 0.0, X=X)
    assert c.worst == worst
    assert f"Worst sample: {worst} (" in c.explain()


def test_separate_slope_and_slacks_of_an_optimum_pass():
    assert certify(Y, CAPS, ALPHA, 0.0, X=X, w=[1.0], xi=[0, 0, 1, 0, 0]).passes(0)


@given(st.integers(0, 10**6))
def test_weak_duality_holds_for_any_point(seed):
    """Lower bound <= the optimum <= upper bound, whatever the multipliers and the intercept are."""
    rng = np.random.default_rng(seed)
    alpha, b = rng.normal(scale=0.5, size=5), float(rng.normal())
    c = certify(Y, CAPS, alpha, b, X=X)
    assert c.dual_value <= VALUE + 1e-12
    assert c.primal_value >= VALUE - 1e-12
    assert c.gap >= -1e-12
    assert c.passes() == (c.residual <= 1e-8 and c.gap <= 1e-8)


@given(st.integers(0, 10**6))
def test_many_are_the_same_as_one_by_one(seed):
    rng = np.random.default_rng(seed)
    n, k = 7, 3
    samples, y = rng.normal(size=(n, 2)), np.array([1.0, -1, 1, -1, 1, -1, 1])
    caps, alpha, b = rng.uniform(0.5, 2, (n, k)), rng.uniform(-0.1, 2, (n, k)), rng.normal(size=k)
    together = certify_hinges(SoftMargin(y, Features(samples), caps), alpha, b)
    for j, many in enumerate(together):
        one = certify(y, caps[:, j], alpha[:, j], b[j], X=samples)
        assert one.worst == many.worst
        assert numbers(one) == pytest.approx(numbers(many), abs=1e-12)


def test_scaling_costs_up_and_kernel_down_changes_no_residual():
    one = certify(Y, CAPS, ALPHA + 0.01, 0.05, K=X @ X.T)
    other = certify(Y, 100 * CAPS, 100 * (ALPHA + 0.01), 0.05, K=X @ X.T / 100)
    assert {"gap": one.gap, **one.conditions} == pytest.approx({"gap": other.gap, **other.conditions}, rel=1e-12)


def test_zero_caps():
    c = certify(Y, [0, 0, 1, 1, 1], np.zeros(5), -1.0, X=X)
    assert c.passes(0)
    assert c.primal_value == 0
    assert not certify(Y, [0, 0, 1, 1, 1], np.zeros(5), -0.9, X=X).passes()
    assert not certify(Y, [0, 0, 1, 1, 1], [0.1, 0, 0.1, 0, 0], -1.0, X=X).passes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"y": [1, 1, 1, 1, 1]}, ["y", "both classes"]),
        ({"y": [1, 0, 1, 0, 1]}, ["y", "-1 and +1"]),
        ({"caps": -CAPS}, ["caps", "nonnegative"]),
        ({"caps": CAPS[:4]}, ["caps", "shape"]),
        ({"alpha": ALPHA[:4]}, ["alpha", "shape"]),
        ({"alpha": ALPHA * np.nan}, ["alpha", "finite", "index 0"]),
        ({"alpha": ["a"] * 5}, ["alpha", "numeric"]),
        ({"b": np.nan}, ["b", "finite"]),
        ({"X": None}, ["exactly one of K and X"]),
        ({"K": np.eye(5)}, ["exactly one of K and X"]),
        ({"X": X[:4]}, ["X", "5 rows"]),
        ({"X": None, "K": np.eye(4)}, ["K", "5 rows"]),
        ({"X": None, "K": np.eye(5)[:, :4]}, ["K", "5 rows"]),
        ({"X": None, "K": np.eye(5), "w": [1.0]}, ["w", "together with X"]),
        ({"w": [1.0, 2.0]}, ["w", "shape"]),
        ({"xi": [0.0]}, ["xi", "shape"]),
    ],
)
def test_bad_input(arguments, words):
    full = {"y": Y, "caps": CAPS, "alpha": ALPHA, "b": 0.0, "X": X, **arguments}
    with pytest.raises(InputError) as error:
        certify(**full)
    for word in words:
        assert word in str(error.value)


class TestKernelMatrix:
    """Weak duality needs a kernel matrix that is symmetric and positive semidefinite."""

    @pytest.mark.parametrize(
        ("K", "words"),
        [
            (-np.eye(5), ["K must be positive semidefinite", "smallest eigenvalue -1", "nothing is proved"]),
            (np.eye(5) - 2 * np.outer(np.eye(5)[0], np.eye(5)[0]), ["smallest eigenvalue -1"]),
            (X @ X.T - 1e-6 * np.eye(5), ["smallest eigenvalue -1e-06"]),
            (X @ X.T + np.outer(Y, 1e-6 * np.arange(5)), ["K must be symmetric"]),
            (np.full((5, 5), 0.0) + np.fliplr(np.eye(5)), ["smallest eigenvalue -1"]),
        ],
    )
    def test_what_is_none_is_refused(self, K, words):
        with pytest.raises(InputError) as error:
            certify(Y, CAPS, ALPHA, 0.0, K=K)
        for word in words:
            assert word in str(error.value)
        assert certify(Y, CAPS, ALPHA, 0.0, K=K, psd=True) is not None

    @pytest.mark.parametrize("scale", [1e-300, 1e-8, 1.0, 1e12])
    @pytest.mark.parametrize("name", ["rank 1", "zero", "duplicates", "smooth", "features", "one row"])
    def test_rounding_is_not_taken_for_an_eigenvalue(self, name, scale):
        rng = np.random.default_rng(0)
        Z = {
            "duplicates": np.repeat(rng.normal(size=(20, 3)), 10, axis=0),
            "smooth": np.linspace(0, 1, 200)[:, None],
            "features": rng.normal(size=(200, 3)) + 1e3,
        }.get(name, rng.normal(size=(200, 1)))
        K = {"zero": np.zeros((200, 200)), "one row": np.diag(np.eye(200)[0])}.get(name)
        if K is None:
            K = RBF(1.0)(Z, Z) if name in ("duplicates", "smooth") else Z @ Z.T
        y = np.where(np.arange(200) % 3, 1, -1)
        assert certify(y, np.ones(200), np.zeros(200), 1.0, K=scale * K).dual_value == 0.0


ROOMS = [Path(inspect.getsourcefile(room)).parent for room in (judges, quadratic)]
JUDGES = sorted([Path(inspect.getsourcefile(exact_sums)), *(file for room in ROOMS for file in room.glob("*.py"))])


@pytest.mark.parametrize("file", JUDGES, ids=lambda f: f.name)
def test_the_judge_knows_neither_cvxpy_nor_the_tracker(file):
    imported = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module)
    arrays = {"__future__", "collections.abc", "dataclasses", "typing", "numpy"}
    ours = {
        "paretoclf.common.checks",
        "paretoclf.common.errors",
        "paretoclf.problem.samples",
        "paretoclf.common.tolerances",
        "paretoclf.problem.units",
    }
    ours |= {"paretoclf.proof.verdicts.certificate", "paretoclf.proof.points.soft_margin"}
    if file.name == "hulls.py":
        ours |= {"paretoclf.proof.verdicts.scale"}  # of NumPy alone, too
    if file.name == "two_c.py":
        more = {"paretoclf.proof.points.hinge", "paretoclf.proof.verdicts.exact_bounds", "paretoclf.problem.operator"}
        assert imported - arrays == ours - {"paretoclf.problem.units"} | more
    elif file.name in ("soft_margin.py", "judged_classifiers.py"):  # the problem, and solutions: no judges themselves
        rooms = {name.split(".")[1] for name in imported - arrays if name.startswith("paretoclf.")}
        assert rooms <= {"common", "problem", "proof"}
    elif file.name == "exact_sums.py":
        assert imported - arrays == {"math", "scipy.sparse", "paretoclf.common.checks", "paretoclf.problem.samples"}
    else:
        also = {
            "__future__",
            "scipy.linalg",
            "scipy.special",
            "scipy.sparse",
            "scipy.sparse.linalg",
            "paretoclf.proof.verdicts.evidence",
            "paretoclf.proof.lines.refined_lines",
            "paretoclf.problem.definite",
            "paretoclf.problem.gram",
            "abc",
            "paretoclf.problem.exact_sums",
        }
        also |= {"paretoclf.problem.kernels", "functools", "itertools", "math", "contextlib", "fractions"}
        also |= {"paretoclf.common.linear_programs", "scipy.sparse.csgraph"}
        assert {
            name for name in imported if not name.startswith(("paretoclf.proof.points", "paretoclf.problem.operator"))
        } <= arrays | ours | also


class TestIntercept:
    """The interval of all optimal intercepts, and the solutions made from it."""

    def test_unique(self):
        assert intercept_interval(Y, CAPS, ALPHA, X[:, 0]) == (0.0, 0.0)

    def test_an_interval_where_no_sample_is_free(self):
        # Two points at +-1 at cost 1/4: w = 1/2, and every b that keeps both inside is optimal.
        interval = intercept_interval(np.array([1, -1]), np.full(2, 0.25), np.full(2, 0.25), np.array([0.5, -0.5]))
        assert interval == (-0.5, 0.5)
        assert point_of(interval) == 0

    def test_every_b_of_the_interval_is_optimal_and_none_outside(self):
        y, caps, points = np.array([1, -1]), np.full(2, 0.25), np.array([[1.0], [-1.0]])
        for b, optimal in [(-0.5, True), (0.3, True), (0.5, True), (0.51, False), (-0.51, False)]:
            assert certify(y, caps, caps, b, X=points).passes() == optimal

    @pytest.mark.parametrize(
        ("interval", "b"),
        [((-1.0, 3.0), 1.0), ((-np.inf, -1.0), -1.0), ((1.0, np.inf), 1.0), ((-np.inf, np.inf), 0.0)],
    )
    def test_the_point_of_an_interval(self, interval, b):
        assert point_of(interval) == b

    def test_make_solution_completes_multipliers(self):
        s = make_solution(Classifier.best(Gram(X), Y.astype(float), CAPS, ALPHA), Costs(0.75, 0.5), source="by hand")
        assert s.value == VALUE
        assert s.dual_value == VALUE
        assert s.certificate.passes(0)
        assert s.classifier.b_interval == (0.0, 0.0)
        np.testing.assert_array_equal(s.xi, [0, 0, 1, 0, 0])
        np.testing.assert_array_equal(s.classifier.w, [1.0])
        np.testing.assert_array_equal(s.classifier.predict([[0.0], [-1e-9]]), [1, -1])  # f = 0 is labelled +1
        np.testing.assert_array_equal(s.classifier.decision_function([[2.0]]), [2.0])

    def test_a_kernel_classifier_has_no_w(self):
        gram = Gram(X, RBF(1.0))
        c = Classifier(gram, Y, np.full(5, 2.0), np.ones(5), 0.5)
        with pytest.raises(InputError, match="linear kernel and with low_rank only"):
            _ = c.w
        np.testing.assert_allclose(c.decision_function(X), gram.matrix @ Y + 0.5, rtol=1e-14)
        with pytest.raises(InputError, match="1 columns"):
            c.decision_function(np.ones((2, 3)))


# ---- of the kernel values as rounded -------------------------------------------------------------------------------


def _exact_polynomial(X, degree):
    """Values of (1 + x.z)^degree as fractions."""
    rows = [[Fraction(float(v)) for v in row] for row in X]
    return [[(1 + sum(u * v for u, v in zip(a, b, strict=True))) ** degree for b in rows] for a in rows]


@pytest.mark.parametrize(("degree", "unit", "known"), [(2, 1e3, False), (2, 1.0, True), (3, 1.0, True)])
def test_a_certificate_says_what_rounding_of_the_kernel_values_can_do(degree, unit, known):
    """With features around 1e3 products cancel: the bound for the kernel itself is not known to 1e-8."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(12) % 2, 1.0, -1.0)
    X = unit * (rng.normal(0, 1, (12, 2)) + 0.5 * y[:, None])
    path = pc.trace(pc.TwoCSVM(X, y, pc.Polynomial(degree)), (0, 0), (1, 1))
    certificate, coef = path.certificate(0.9), [Fraction(float(v)) for v in path.alpha(0.9) * y]
    K, rounded = _exact_polynomial(X, degree), path.gram.matrix
    off = sum(coef[i] * coef[j] * (K[i][j] - Fraction(float(rounded[i, j]))) for i in range(12) for j in range(12))
    assert abs(off) / 2 <= certificate.kernel_rounding <= 1e3 * max(abs(off) / 2, 1e-16)
    assert (certificate.kernel_rounding <= 1e-8 * certificate.scale) == known
    assert ("All this is of the kernel values as rounded" in certificate.explain()) != known
    assert certificate.holds()  # of the values as rounded
    assert certificate.verdict() == ("optimal" if known else "undecided")
    assert certificate.passes() == known
    assert certificate.off_by >= certificate.kernel_rounding / certificate.scale


@pytest.mark.parametrize("kernel", [None, "precomputed", lambda A, B: (1 + A @ B.T) ** 2])
def test_kernel_values_that_are_the_data_are_not_rounded(kernel):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(12) % 2, 1.0, -1.0)
    X = 1e3 * rng.normal(0, 1, (12, 2))
    gram = pc.Gram(X @ X.T if kernel == "precomputed" else X, kernel)
    assert SoftMargin.of(gram, y).value_rounding(y) == 0.0


@pytest.mark.parametrize("kernel", [pc.RBF(0.7), pc.RBF(1e3), pc.Polynomial(3, scale=0.3)], ids=str)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_entries_of_a_kernel_matrix_are_within_their_stated_rounding(kernel, offset):
    """Against fractions, and for the exponential 60 digits."""
    rng = np.random.default_rng(1)
    X = offset + rng.normal(size=(8, 3))
    gram = pc.Gram(X, kernel)
    bound = np.multiply.outer(gram.rounding, gram.rounding)
    rows = [[Fraction(float(v)) for v in row] for row in X]
    getcontext().prec = 60
    for i, j in np.ndindex(8, 8):
        if isinstance(kernel, pc.RBF):
            q = sum((u - v) ** 2 for u, v in zip(rows[i], rows[j], strict=True)) / Fraction(kernel.bandwidth) ** 2 / 2
            true = (-Decimal(q.numerator) / Decimal(q.denominator)).exp()
        else:
            inner = sum(u * v for u, v in zip(rows[i], rows[j], strict=True))
            power = (Fraction(kernel.scale) * inner + Fraction(kernel.offset)) ** kernel.degree
            true = Decimal(power.numerator) / Decimal(power.denominator)
        assert abs(true - Decimal(float(gram.matrix[i, j]))) <= Decimal(float(bound[i, j]))
