"""Costs times kernel values so large that the rounding of a multiplier moves margins: sums rounded once, and paths."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import paretoclf as pc
from paretoclf.path.svm_lines.stages import CapsWalk
from paretoclf.path.svm_lines.svm_path import OnPieces
from paretoclf.problem import exact_sums
from paretoclf.proof.points.soft_margin import PRECISELY
from paretoclf.proof.points.two_c import certify
from tests.benchmarks.other_solvers import Exact
from tests.oracles.exact import fractions, integer_kernel
from tests.oracles.exact_criss_cross import criss_cross

DOUBLES = st.floats(-1e12, 1e12) | st.integers(-40, 40).map(lambda e: 3.0**e) | st.sampled_from([0.0, 1.0, -1.0])


# ---- sums that are rounded once ------------------------------------------------------------------------------------


@given(st.integers(1, 4), st.integers(1, 5), st.data())
def test_products_are_the_exact_ones_rounded(m, k, data):
    A = np.array(data.draw(st.lists(DOUBLES, min_size=m * k, max_size=m * k))).reshape(m, k)
    x = np.array(data.draw(st.lists(DOUBLES, min_size=k, max_size=k)))
    x = np.stack([x, 1e-17 * x])
    whole = fractions(x).sum(axis=0)
    exact = [float(sum((Fraction(a) * v for a, v in zip(row, whole, strict=True)), Fraction(0))) for row in A]
    for given_A in (A, sp.csr_array(A), sp.csc_array(A), A.T.copy().T):
        found = exact_sums.product(given_A, x)
        np.testing.assert_allclose(found, exact, rtol=2.3e-16, atol=1e-300 + 1e-31 * float(np.abs(A * x[0]).max()))
    assert exact_sums.inner(x, A[0]) == exact_sums.product(A, x)[0]
    assert exact_sums.total(x) == float(sum(whole, Fraction(0)))


# ---- certificates --------------------------------------------------------------------------------------------------


def steep(seed, n=9):
    """Whole features of size 1e7, whose kernel values are exact in double precision as features only."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) < int(rng.integers(3, n - 3)), 1.0, -1.0)
    return rng.integers(-(10**7), 10**7, (n, 2)) + 5 * 10**6 * y[:, None], y


LINES = {
    "ray": lambda y: ((0.0, 0.0), ((y < 0).sum() / 2, (y > 0).sum() / 2)),
    "asymmetry": lambda y: ((1 / 8, 15 / 8), (15 / 8, 1 / 8)),
    "into an axis": lambda y: ((2.0, 1.0), (0.0, 0.5)),
}


def judged(X, y, ends):
    caps = [fractions(np.where(y > 0, *end)) for end in ends]
    return criss_cross(integer_kernel(X), y, caps[0], caps[1] - caps[0])


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("seed", range(4))
def test_steep_paths_have_the_exact_values(seed, line):
    X, y = steep(seed)
    ends = LINES[line](y)
    path, judge = pc.trace(pc.TwoCSVM(X.astype(float), y), *ends), judged(X, y, ends)
    for t in [*path.certificate_points, 0.3, 0.7]:
        value, solution = float(judge.value(Fraction(float(t)))), path.at(float(t))
        assert solution.certificate.passes(), solution.certificate.explain()
        rounded = 1e-12 * float(path.caps(float(t)).sum())
        assert path.value(float(t)) == pytest.approx(value, rel=1e-9, abs=rounded)
        assert solution.value == pytest.approx(value, rel=1e-9, abs=rounded)
        assert solution.dual_value <= value * (1 + 1e-12) + rounded


def test_a_segment_that_is_wrong_keeps_no_other_from_being_proved():
    """All need two doubles; one is spoilt, which says nothing of the others."""
    X, y = steep(1, n=14)
    K = (X @ X.T).astype(float)  # whole numbers, and no slopes to store: with these one is enough
    path = pc.trace(pc.TwoCSVM(K, y, "precomputed"), *LINES["asymmetry"](y))
    P, k = path.pieces, path.pieces.t.size // 2
    assert OnPieces._proved(path).failures().size > 20
    largest = max(P.index[P.ptr[k] : P.ptr[k + 1]].tolist(), key=path.alpha(float(P.t[k])).__getitem__)
    a0, a1 = P.a0.copy(), P.a1.copy()
    at = P.ptr[k] + P.index[P.ptr[k] : P.ptr[k + 1]].tolist().index(largest)
    a0[at] *= 1.001
    a1[at] *= 1.001
    spoilt = replace(path, pieces=replace(P, a0=a0, a1=a1))
    assert spoilt.proof.failures().tolist() == [k]


@pytest.mark.parametrize("ends", [((0.04, 1.96), (1.96, 0.04)), ((1.2, 0.8), (0.0, 0.5)), ((1.5, 0.7), (1.5, 0.7))])
@pytest.mark.parametrize("seed", range(3))
def test_features_of_a_million_at_costs_of_one(seed, ends):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(30) < 12, 1.0, -1.0)
    X = 1e6 * (rng.normal(size=(30, 3)) + 0.4 * y[:, None] + 1.0)
    path = pc.trace(pc.TwoCSVM(X, y), *ends)
    for t in rng.random(5):
        solution = path.at(float(t))
        assert solution.certificate.passes(), solution.certificate.explain()
        assert path.value(float(t)) == pytest.approx(solution.value, rel=1e-8)


@pytest.fixture(scope="module")
def points():
    """Solutions of a steep path with a kernel, the costs at them, and the path."""
    X, y = steep(0, n=20)
    path = pc.trace(pc.TwoCSVM(X.astype(float) * 1e-6, y, pc.Polynomial(3)), (1e4, 3e6), (3e6, 1e4))
    return path, [(path.caps(float(t)), path.at(float(t))) for t in path.certificate_points]


def test_the_second_half_of_the_multipliers_is_needed_and_enough(points):
    path, solutions = points
    needed = [(caps, s) for caps, s in solutions if "alpha_lo" in s.numbers]
    assert len(needed) > 0.5 * len(solutions)
    for caps, s in needed:
        low = s.numbers["alpha_lo"]
        assert (np.abs(low) <= 2.0**-53 * np.abs(s.alpha) + 1e-300).all()
        data = {"K": path.gram.matrix}
        assert not certify(path.y, caps, s.alpha, s.classifier.b, **data).passes()
        proved = certify(path.y, caps, s.alpha, s.classifier.b, alpha_lo=low, **data)
        assert proved.passes()
        assert PRECISELY in proved.explain()
        assert s.certificate.primal_value == proved.primal_value
        assert not certify(path.y, caps, s.alpha, s.classifier.b, alpha_lo=-low, **data).passes()


def test_the_values_of_a_precise_certificate_are_those_of_exact_sums(points):
    path, solutions = points
    caps, s = next((caps, s) for caps, s in solutions[len(solutions) // 2 :] if "alpha_lo" in s.numbers)
    low, y = s.numbers["alpha_lo"], path.y
    norm2, scores = Exact(path.gram.matrix, False).slope(y * s.alpha, y * low)
    slacks = np.maximum(0.0, 1 - y * (scores + s.classifier.b))
    assert s.certificate.primal_value == pytest.approx(0.5 * norm2 + caps @ slacks, rel=1e-13)
    assert s.certificate.dual_value == pytest.approx((s.alpha + low).sum() - 0.5 * norm2, rel=1e-9)
    assert s.certificate.dual_value <= s.certificate.primal_value * (1 + 1e-13)


def test_a_precise_certificate_sees_what_is_wrong(points):
    path, solutions = points
    caps, s = next((caps, s) for caps, s in solutions if "alpha_lo" in s.numbers)
    low, one = s.numbers["alpha_lo"], np.eye(path.y.size)[0]

    def of(alpha=s.alpha, b=s.classifier.b, low=low, caps=caps):
        return certify(path.y, caps, alpha, b, K=path.gram.matrix, alpha_lo=low)

    assert of().passes()
    assert not of(b=s.classifier.b + 1e-7).passes()
    assert not of(caps=0.9 * caps).passes()
    assert not of(low=low + 1e-12 * one).passes()
    assert of(alpha=s.alpha - 2 * s.alpha.max() * one).conditions["box"] > 0.1
    assert of(alpha=s.alpha + caps.max() * one).conditions["balance"] > 1e-3
    with pytest.raises(pc.InputError, match="alpha_lo"):
        of(low=low[1:])
    with pytest.raises(pc.InputError, match="alpha_lo"):
        of(low=np.nan * low)


def numbers(c):
    return {"primal value": c.primal_value, "dual value": c.dual_value, "gap": c.gap, **c.conditions}


def test_where_double_precision_is_enough_nothing_changes():
    data = pc.datasets.make_gaussians(30, rng=0)
    path = pc.trace(pc.TwoCSVM(data.X, data.y), (0.1, 1.0), (1.0, 0.1))
    for t in (0.2, 0.8):
        s, caps = path.at(t), path.caps(t)
        assert "alpha_lo" not in s.numbers
        usual = certify(data.y, caps, s.alpha, s.classifier.b, X=data.X, w=s.classifier.w)
        precise = certify(data.y, caps, s.alpha, s.classifier.b, X=data.X, w=s.classifier.w, alpha_lo=np.zeros(30))
        assert numbers(usual) == pytest.approx(numbers(precise), abs=1e-12)
        for wrong in (1.001 * s.alpha, s.alpha * np.where(data.y > 0, 1.001, 1.0), s.alpha - 1e-3):  # made feasible
            usual = certify(data.y, caps, wrong, s.classifier.b, X=data.X)
            precise = certify(data.y, caps, wrong, s.classifier.b, X=data.X, alpha_lo=np.zeros(30))
            assert usual.dual_value == pytest.approx(precise.dual_value, rel=1e-12)


@pytest.mark.parametrize("kernel", [pc.Polynomial(3), None], ids=["cubic", "linear"])
@pytest.mark.parametrize("seed", [5, 9, 10])
def test_single_certificates_of_steep_paths_hold_in_fractions(seed, kernel):
    """Scores of cubic kernels at costs of a million, or of features of a million, summed in double are not exact."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, size=(7, 2)).astype(float), np.array([1.0, 1, 1, 1, -1, -1, -1])
    if kernel is None:
        X = 1e6 * (X + 0.1 * rng.normal(size=X.shape))
    path = pc.trace(
        pc.TwoCSVM(X, y, kernel), *(((1.5, 0.5), (0.5, 2.0)) if kernel is None else ((1.5e6, 5e5), (0, 2e6)))
    )
    for t in (0.1, 0.3, 0.5, 0.7, 0.9):
        certificate = path.certificate(t)
        dual, primal = path.certificate(t, exact=True).bounds
        assert certificate.holds()  # of the kernel values as they are rounded
        assert float(primal - dual) <= 1e-8 * float(primal) + certificate.rounding


# ---- costs from 1e-8 to 1e6: what `at` gives, and what is proved ---------------------------------------------------

LOW, HIGH = 1e-8, 1e6
COSTS = {
    "across": ((LOW, HIGH), (HIGH, LOW)),
    "back": ((HIGH, LOW), (LOW, HIGH)),
    "up": ((LOW, LOW), (HIGH, HIGH)),
    "down": ((HIGH, HIGH), (LOW, LOW)),
    "from an axis": ((0.0, HIGH), (LOW, HIGH)),
}
DOWN = ((0.0, HIGH), (LOW, LOW))
KERNELS = {"linear": None, "narrow": pc.RBF(0.1), "rbf": pc.RBF(1.0)}


def cheap_samples(seed):
    """Labels and samples of unequal classes that are more or less apart."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 24))
    y = np.where(np.arange(n) < max(2, n // 3), 1.0, -1.0)
    return y, rng.normal(size=(n, 2)) + rng.choice([0.2, 0.6, 1.5]) * y[:, None]


def cheap(seed, kernel, ends):
    """A path along a line of costs, or None where it is refused: next to t = 1 few digits are left."""
    y, X = cheap_samples(seed)
    try:
        return pc.trace(pc.TwoCSVM(X, y, kernel), *ends)
    except pc.DegeneratePathError:
        return None


KINDS = {f"{line}-{name}": (ends, kernel) for line, ends in COSTS.items() for name, kernel in KERNELS.items()}
KINDS |= {"down, from an axis": (DOWN, KERNELS["narrow"])}
KINDS |= {f"up, to an axis-{name}": (DOWN[::-1], kernel) for name, kernel in KERNELS.items()}


@pytest.mark.parametrize(("ends", "kernel"), KINDS.values(), ids=KINDS)
def test_where_a_path_is_proved_its_solutions_are(ends, kernel):
    """To the same tolerance, however close to an end: a cheap class has all its events there."""
    traced = [path for seed in range(12) if (path := cheap(seed, kernel, ends)) is not None]
    assert len(traced) > 6
    for seed, path in enumerate(traced):
        share = 10.0 ** np.random.default_rng(seed).uniform(-12, 0, 12)
        for tol in (1e-8, 1e-9, 1e-10):
            if path.proof.passes(tol):
                for t in (*share.tolist(), *(1.0 - share).tolist()):
                    certificate = path.at(t).certificate
                    assert certificate.passes(tol), (seed, t, certificate.explain(tol))


@pytest.mark.parametrize("seed", [3, 5, 8, 10])
def test_stages_end_where_a_cost_is_no_number_any_more(seed, monkeypatch):
    """And where all multipliers go to 0 on their basis: events are rounding there, down to costs of 1e-323."""
    stages, follow = [], CapsWalk.stage

    def counted(self, t_from, t_to, *others):
        stages.append((t_from, t_to))
        return follow(self, t_from, t_to, *others)

    monkeypatch.setattr(CapsWalk, "stage", counted)
    y, X = cheap_samples(seed)
    svm = pc.TwoCSVM(X, y, KERNELS["rbf"])
    with pytest.raises(pc.DegeneratePathError, match="from its other end"):  # next to t = 1 no digits are left
        pc.trace(svm, *DOWN)
    assert len(stages) <= 12
    assert min(t for t, _ in stages) >= 1e-9
    assert pc.trace(svm, *DOWN[::-1]).proof.passes()


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)], ids=["linear", "rbf"])
@pytest.mark.parametrize("line", ["across", "back", "up"])
def test_what_is_stored_is_what_is_proved_however_large_the_largest_cost(line, kernel):
    """Multipliers, intercepts and slopes are off by 1e-5. Next to t = 1 no digits are left to say so."""
    seen = 0
    for path in (cheap(seed, kernel, COSTS[line]) for seed in range(3)):
        P = path.pieces
        wide = np.flatnonzero((np.diff(P.t) > 1e-9 * P.t[1:]) & (P.t[1:] < 0.9999))
        for j in wide[:: max(1, wide.size // 4)].tolist():
            inside, cap = slice(P.ptr[j], P.ptr[j + 1]), path.caps(float(0.5 * (P.t[j] + P.t[j + 1])))
            half = 0.5 * (P.a0[inside] + P.a1[inside])
            free = np.minimum(half, cap[P.index[inside]] - half)
            if not free.max(initial=0.0) > 1e-6 * cap.min():
                continue  # b is not unique
            changed = {name: (int(P.ptr[j] + free.argmax()), 1e-5 * half.max()) for name in ("a0", "a1")}
            changed |= {name: (j, 1e-5 * (1.0 + abs(getattr(P, name)[j]))) for name in ("b0", "b1")}
            if P.w is not None:
                changed["w"] = (j, 0), 1e-5 * float(np.linalg.norm(P.w[j])) + 1e-5
            for name, (at, by) in changed.items():
                stored = getattr(P, name).copy()
                stored[at] += by
                assert not replace(path, pieces=replace(P, **{name: stored})).proof.passes(), (j, name, by)
                seen += 1
    assert seen > 20


def test_sets_that_contradict_each_other_are_not_proved():
    """As elsewhere: solved again they would be no basis."""
    path = cheap(0, KERNELS["rbf"], COSTS["across"])
    P = path.pieces
    listed, several = P.index[: P.ptr[1]], int(np.flatnonzero(np.diff(P.ptr) > 1)[0])
    state, index, changes, ptr = (np.array(each) for each in (P.state, P.index, P.changes, P.ptr))
    state[np.setdiff1d(np.arange(state.size), listed)[0]] = 2
    index[ptr[several] + 1] = index[ptr[several]]
    changes[2] = 2
    ptr[1] += 1
    for name, wrong in {"state": state, "index": index, "changes": changes, "ptr": ptr}.items():
        assert not replace(path, pieces=replace(P, **{name: wrong})).proof.passes(), name
