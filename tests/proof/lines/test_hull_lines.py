"""Lines and points of reduced hulls: against CVXPY, objectives in fractions, and conditions sample by sample."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.tolerances import LOOSE, SCORE_ROUNDING, UNDECIDED
from paretoclf.problem.nu import caps_of
from paretoclf.proof.lines.hull_lines import _larger, _least, _line_proof, _score_terms, prove_hulls
from paretoclf.proof.points.hulls import grade_hulls, moved_by_rounding
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.segments.block import ProofTask
from tests.oracles.stored_points import StoredPoint, with_errors
from tests.proof.lines.test_prove import BY_KERNEL, altered, data, with_pieces

X = np.random.default_rng(0).normal(size=(12, 2)) + 0.4 * np.repeat([1.0, -1.0], [5, 7])[:, None]
Y = np.repeat([1.0, -1.0], [5, 7])


def optimal_value(nu, cap_plus, cap_minus):
    alpha = cp.Variable(Y.size)
    within = [alpha >= 0, alpha <= np.where(Y > 0, cap_plus, cap_minus), Y @ alpha == 0, cp.sum(alpha) == nu]
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares((Y[:, None] * X).T @ alpha)), within)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return -problem.value


def test_points_judged_together_are_bounded_one_by_one_where_some_have_wrong_sums():
    svm, values = pc.TwoNuSVM(X, Y), np.array([0.6, 0.9])
    pairs = [svm.to_asymmetry(plus, minus) for plus in values for minus in values]
    nu, asymmetry = (np.array(x) for x in zip(*pairs, strict=True))
    caps = asymmetry / Y.size, (1 - asymmetry) / Y.size
    alpha = pc.nu_grid(svm, values, values).alpha.reshape(4, -1).T.copy()
    alpha[:, 1] *= 0.999  # too little: moved up, towards the caps
    alpha[:, 3] *= 1.001  # too much, and beyond the caps
    graded = grade_hulls(SoftMargin.of(svm.gram, Y, caps_of(asymmetry, Y), nu=nu), alpha)
    best = np.array([optimal_value(nu[j], caps[0][j], caps[1][j]) for j in range(4)])
    assert graded.dual_value[[0, 2]] == pytest.approx(best[[0, 2]], rel=1e-9)
    assert graded.primal_value[[0, 2]] == pytest.approx(best[[0, 2]], rel=1e-9)
    for j in (1, 3):  # bounds, and not far off
        assert 1.01 * best[j] < graded.dual_value[j] < best[j] * (1 + 1e-9)
        assert best[j] < graded.primal_value[j]
    assert list(graded.passes()) == [True, False, True, False]
    assert list(graded.residuals["complementarity"] > 1e-4) == [False, True, False, False]
    assert list(graded.residuals["box"] > 1e-4) == [False, False, False, True]


# ---- lines -----------------------------------------------------------------------------------------------------------

KINDS = {"implied": None, "kernel": pc.RBF(1.0), "stored": None}
BY_KIND = pytest.mark.parametrize("kind", [*KINDS, "two nus"])

#: Errors of what is stored: factors of multipliers, and of the margin; what is added to the intercept and the slope.
WRONG = {
    "nothing": {},
    "multipliers": {"alpha": 1.01},
    "one end": {"alpha": 0.97, "end": True},
    "margin": {"rho": 1.05},
    "intercept": {"b": 0.1},
    "slope": {"w": 0.05},
    "a sample": {"sample": -0.05},
}


@pytest.fixture(scope="module")
def traced():
    found = {
        kind: pc.trace(pc.TwoNuSVM(X, Y, kernel), nu=(0.15, 0.4), asymmetry=0.5, certify=False)
        for kind, kernel in KINDS.items()
    }
    return found | {"two nus": pc.trace(pc.TwoNuSVM(X, Y), start=(0.9, 0.8), stop=(0.4, 0.5), certify=False)}


@BY_KIND
@pytest.mark.parametrize("wrong", WRONG)
def test_no_gap_on_a_line_is_less_than_the_difference_of_objectives_in_fractions(traced, kind, wrong):
    path = traced[kind]
    P = with_errors(path, slopes=kind == "stored", **WRONG[wrong])
    proof = prove_hulls(path.soft_margin, P, "nu")
    assert proof.parameter == "nu"
    assert proof.passes() == (wrong == "nothing" or (wrong == "slope" and kind != "stored"))
    for j in range(len(proof)):
        for share in (0.0, 0.5, 1.0):
            at = StoredPoint(path, P, j, share)
            weights = [(1 - share) ** 2, 2 * share * (1 - share), share**2]
            primal, dual = at.objectives()
            gap = primal - dual
            found = proof.gaps[j] @ weights
            assert found >= gap - 1e-13
            assert found <= 8.0 * gap + 0.2 * (wrong != "nothing") + 1e-12
            assert proof.sizes[j] @ weights == pytest.approx(at.nu * at.rho, rel=1e-9)
            assert proof.duals[j] @ weights == pytest.approx(-0.5 * at.norm2, rel=1e-9)
            if wrong in ("nothing", "margin", "intercept"):
                assert proof.duals[j] @ weights == pytest.approx(dual, rel=1e-6)


@BY_KIND
@pytest.mark.parametrize("wrong", ["multipliers", "one end", "margin", "a sample", "slope"])
def test_residuals_on_a_line_are_those_of_both_ends(traced, kind, wrong):
    path = traced[kind]
    P = with_errors(path, slopes=kind == "stored", **WRONG[wrong])
    task = replace(ProofTask.of(path.soft_margin, P), one_column=0.0)
    proof = _line_proof(task, "t")
    for j in range(len(proof)):
        ends = [StoredPoint(path, P, j, share) for share in (0.0, 1.0)]
        found = {name: values[j] for name, values in proof.residuals.items()}
        balance = max(abs(Y @ at.alpha) / at.nu for at in ends)
        missing = max(abs(at.alpha.sum() - at.nu) / at.nu for at in ends)
        box = max((np.maximum(-at.alpha, at.alpha - at.caps) / np.minimum(at.caps, 0.5 * at.nu)).max() for at in ends)
        assert found["balance"] == pytest.approx(balance, rel=1e-6, abs=1e-12)
        assert found["rho"] == pytest.approx(missing, rel=1e-6, abs=1e-12)
        assert found["box"] == pytest.approx(max(box, 0.0), rel=1e-6, abs=1e-12)
        units = [np.minimum(at.caps, 0.5 * at.nu) for at in ends]
        inside = [np.clip(at.alpha, 0.0, at.caps) for at in ends]
        margins = [Y * at.scores() - at.rho for at in ends]
        largest = [max(at.rho, _largest_of_one_sign(ends, e)) for e, at in enumerate(ends)]
        scaled = [margin / size for margin, size in zip(margins, largest, strict=True)]
        load = np.max([a / u for a, u in zip(inside, units, strict=True)], axis=0)
        room = np.max([(at.caps - a) / u for at, a, u in zip(ends, inside, units, strict=True)], axis=0)
        above, below = np.minimum(load, np.max(scaled, axis=0)), np.minimum(room, -np.min(scaled, axis=0))
        wanted = max(0.0, above.max(), below.max())
        if (proof.gaps[j] > LOOSE * proof.sizes[j]).any():
            # Of a block the largest score among those that move is taken, and then of the others.
            assert found["complementarity"] == pytest.approx(wanted, rel=0.15 if kind == "kernel" else 1e-6, abs=1e-9)
        stationarity = 0.0
        if kind == "stored":
            implied = [at.implied for at in ends]
            size = np.abs(X).max(axis=0)
            off = max(
                (np.abs(at.w - w) * size / (1 + np.abs(w) * size)).max() for at, w in zip(ends, implied, strict=True)
            )
            stationarity = off
            assert found["stationarity in w"] <= stationarity + 1e-9
            assert (found["stationarity in w"] > 1e-5) == (off > 1e-4)
        else:
            assert found["stationarity in w"] == 0.0


def _largest_of_one_sign(ends, e):
    """Largest score at an end, of the sample that has the largest sum of sizes at both, with one sign."""
    scores = np.array([at.scores() for at in ends])
    one_sign = scores[0] * scores[1] > 0.0
    sums = np.where(one_sign, np.abs(scores).sum(axis=0), 0.0)
    best = int(np.argmax(sums))
    found = np.abs(scores[:, best])
    rhos = [at.rho for at in ends]
    return found[e] if one_sign[best] and (found >= rhos).all() else 0.0


def test_a_margin_below_0_is_a_residual_of_rho(traced):
    path = traced["implied"]
    P = path.pieces
    rho = P.rho0.copy()
    rho[2] = -0.5 * P.rho1[2]
    proof = prove_hulls(path.soft_margin, replace(P, rho0=rho), "t")
    right = prove_hulls(path.soft_margin, P, "t")
    assert proof.residuals["rho"][2] - right.residuals["rho"][2] == pytest.approx(0.5, rel=1e-9)
    assert not proof.passes()


def test_terms_of_scores_are_those_of_multipliers_or_of_slopes_that_are_stored(traced):
    path = traced["stored"]
    P = with_errors(path, slopes=True)
    task = ProofTask.of(path.soft_margin, P)
    nu = np.stack([np.full(len(P.t) - 1, 0.3), np.full(len(P.t) - 1, 0.4)], axis=1)
    terms = _score_terms(task, nu)
    size = np.abs(X).max(axis=0)
    moved = moved_by_rounding(P.t, np.abs(np.diff(P.w, axis=0)) @ size) / SCORE_ROUNDING
    at_knots = np.abs(P.w) @ size + moved
    by_multipliers = task.products.largest2 * nu
    own = np.stack([at_knots[:-1], at_knots[1:]], axis=1) + SCORE_ROUNDING * by_multipliers
    smaller = (own < by_multipliers).all(axis=1, keepdims=True)
    np.testing.assert_allclose(terms, np.where(smaller, own, by_multipliers))
    assert smaller.any()
    large = replace(P, w=1e6 * P.w)
    np.testing.assert_array_equal(_score_terms(ProofTask.of(path.soft_margin, large), nu), by_multipliers)
    without = ProofTask.of(path.soft_margin, with_errors(path))
    np.testing.assert_array_equal(_score_terms(without, nu), without.products.largest2 * nu)


def test_where_rho_vanishes_the_value_is_rounding():
    """The line ends where the hulls meet: sizes there are what rounding of scores makes of the value."""
    path = pc.trace(
        pc.TwoNuSVM([[2.0], [1.0], [-0.5], [0.0], [-1.0], [-3.0]], [1, 1, 1, -1, -1, -1]), nu=(0, None), asymmetry=0.5
    )
    P = path.pieces
    rho0, rho1 = P.rho0.copy(), P.rho1.copy()
    j = len(rho0) - 1
    rho1[j] = 0.0
    proof = prove_hulls(path.soft_margin, replace(P, rho0=rho0, rho1=rho1), "t")
    plain = prove_hulls(path.soft_margin, P, "t")
    if P.rho1[j] > 0.0:
        assert (proof.sizes[j] >= 0.5 * np.array([plain.sizes[j][0], 0.0, 0.0])).all()
    assert (proof.sizes[j] >= proof.rounding[j] / UNDECIDED).all()
    assert (proof.sizes[0] == plain.sizes[0]).all()


# ---- two reduced hulls ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [2.0**-12, 1.0, 2.0**12])
def test_a_stored_margin_below_0_and_a_wrong_value_of_hulls_are_seen_in_any_unit(unit):
    """What lies below is relative to the largest margin of the segment, what the value is off to the value."""
    X, y = data(3)
    path = pc.trace(pc.TwoNuSVM(unit * X, y), nu=(0, None), asymmetry=0.4, certify=False)
    P, j = path.pieces, int(np.argmax(path.pieces.rho1 > 0.0))
    assert P.rho0[j] == 0.0
    assert path.proof.residuals["rho"][j] <= 1e-12
    rho0 = P.rho0.copy()
    rho0[j] = -1e-3 * P.rho1[j]
    assert with_pieces(path, rho0=rho0).proof.residuals["rho"][j] == pytest.approx(1e-3, rel=1e-6)
    k = len(path.proof) - 1
    assert path.proof.residuals["value"][k] <= 1e-12
    value = P.value.copy()
    value[k, :2] *= 1.0 + 1e-4
    assert with_pieces(path, value=value).proof.residuals["value"][k] == pytest.approx(1e-4, rel=1e-2)


@BY_KERNEL
@pytest.mark.parametrize("factor", [0.999, 1.001], ids=["too small", "too large"])
def test_hulls_of_multipliers_of_a_wrong_sum_are_told_from_both_sides(kernel, factor):
    """Their sums are nu, up or down; the gap is no less than objective minus optimal value, which are computed here."""
    X, y = data(3)
    path = pc.trace(pc.TwoNuSVM(X, y, kernel), nu=(0, None), asymmetry=0.4, certify=False)
    P, K = path.pieces, path.gram.matrix
    wrong = with_pieces(path, a0=factor * P.a0, a1=factor * P.a1, w=None if P.w is None else factor * P.w)
    proof = wrong.proof
    assert proof.failures().tolist() == list(range(len(proof)))
    for j in (3, len(proof) // 2, len(proof) - 1):
        missing = []
        for column, share in ((0, 1e-9), (2, 1.0 - 1e-9)):
            t = float(P.t[j] + share * (P.t[j + 1] - P.t[j]))
            alpha, nu, b, rho = wrong.alpha(t), float(path.alpha(t).sum()), wrong.intercept(t), wrong.rho(t)
            stored = (P.a0, P.a1)[column // 2][P.ptr[j] : P.ptr[j + 1]]
            missing.append(abs(factor - 1.0) * stored.sum() / nu)
            coef = y * alpha if P.w is None else factor * y * path.alpha(t)
            slack = np.maximum(0.0, rho - y * (K @ coef + b))
            gap = 0.5 * coef @ K @ coef + wrong.caps(t) @ slack - nu * rho - path.value(t)
            assert 0.0 < gap <= 1.001 * proof.gaps[j, column]
        assert proof.residuals["rho"][j] == pytest.approx(max(missing), rel=1e-5)


@BY_KERNEL
def test_the_gap_of_hulls_is_the_sum_that_the_theorem_has(kernel):
    """At ends of segments, term by term: slacks, what sums and balance miss, and how far w is from its multipliers."""
    X, y = data(3)
    path = pc.trace(pc.TwoNuSVM(X, y, kernel), nu=(0, None), asymmetry=0.4, certify=False)
    P, K = path.pieces, path.gram.matrix
    stretch = 1e-3 if kernel is None else 0.0
    w = None if P.w is None else (1.0 + stretch) * P.w
    wrong = with_pieces(path, a0=0.999 * P.a0, a1=0.999 * P.a1, b0=P.b0 + 1e-3, b1=P.b1 + 1e-3, w=w)
    reach = 1.0 if kernel is not None else float(np.linalg.norm(X - X.mean(axis=0), axis=1).max())
    for j in (3, len(path.proof) // 2, len(path.proof) - 1):
        listed, proof = slice(P.ptr[j], P.ptr[j + 1]), wrong.proof
        for end, (stored, b, rho) in enumerate(((P.a0, P.b0, P.rho0), (P.a1, P.b1, P.rho1))):
            t = float(P.t[j + end])
            right, caps = path.alpha(t), path.caps(t)
            alpha = right.copy()
            alpha[P.index[listed]] = 0.999 * stored[listed]
            slope = y * (right if kernel is None else alpha) * (1.0 + stretch)
            margin = y * (K @ slope + b[j] + 1e-3) - rho[j]
            apart, own = slope - y * alpha, y * alpha
            missing, balance, size = abs(alpha.sum() - right.sum()), abs(alpha @ y), float(np.sqrt(own @ K @ own))
            moved = reach * (missing + balance)
            terms = (
                alpha @ np.maximum(margin, 0.0) + (caps - alpha) @ np.maximum(-margin, 0.0),
                rho[j] * missing + abs(b[j] + 1e-3) * balance,
                size * moved + 0.5 * moved**2 + 0.5 * float(apart @ K @ apart),
            )
            assert min(terms) > 1e-8
            assert proof.gaps[j, 2 * end] == pytest.approx(sum(terms), rel=1e-6)


@pytest.mark.parametrize("unit", [2.0**-12, 1.0, 2.0**12])
def test_where_a_margin_of_hulls_vanishes_rounding_is_allowed_for_and_nowhere_else(unit):
    """There the dual value is a small difference of terms that are not; elsewhere it is a bound as it stands."""
    X, y = data(3)
    proof = pc.trace(pc.TwoNuSVM(unit * X, y), nu=(0, None), asymmetry=0.4, certify=False).proof
    P = pc.trace(pc.TwoNuSVM(unit * X, y), nu=(0, None), asymmetry=0.4, certify=False).pieces
    vanishes = np.minimum(P.rho0, P.rho1) == 0.0
    assert 0 < vanishes.sum() < vanishes.size
    below, width, _ = proof.allowed
    lost = np.where(vanishes[:, None], proof.rounding, 0.0)
    np.testing.assert_array_equal(below, proof.duals - lost)
    np.testing.assert_array_equal(width, proof.gaps + proof.rounding + lost)


@BY_KERNEL
def test_the_gap_of_hulls_is_no_less_than_that_of_feasible_multipliers(kernel):
    """One multiplier beyond its cap, by little and by much: what it is off moves the slope, which moves every term."""
    X, y = data(3)
    path = pc.trace(pc.TwoNuSVM(X, y, kernel), nu=(0, None), asymmetry=0.4, certify=False)
    P, K = path.pieces, path.gram.matrix
    reach = float(
        np.sqrt(np.diagonal(K).max() if kernel is not None else ((X - X.mean(axis=0)) ** 2).sum(axis=1).max())
    )
    for j in (3, len(path.proof) // 2):
        e, t = int(P.ptr[j]), float(P.t[j])
        i, caps = int(P.index[e]), path.caps(t)
        for beyond in (1e-4, 1.0):
            wrong = with_pieces(path, w=None, a0=altered(P.a0, e, (1.0 + beyond) * caps[i] - P.a0[e]))
            alpha = path.alpha(t)
            stored, inside, nu = alpha.copy(), alpha.copy(), float(alpha.sum())
            stored[i], inside[i] = (1.0 + beyond) * caps[i], caps[i]
            slope = y * stored
            margin = y * (K @ slope + P.b0[j]) - P.rho0[j]
            off, missing, balance = beyond * caps[i], abs(stored.sum() - nu), abs(stored @ y)
            moved = reach * (missing + balance + 2.0 * off)
            terms = (
                inside @ np.maximum(margin, 0.0) + (caps - inside) @ np.maximum(-margin, 0.0),
                P.rho0[j] * missing + abs(P.b0[j]) * balance,
                float(np.sqrt(slope @ K @ slope)) * moved + 0.5 * moved**2,
            )
            assert wrong.proof.gaps[j, 0] >= sum(terms) * (1.0 - 1e-9)


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_the_unit_of_the_samples_is_of_no_account_to_a_proof_of_hulls(unit):
    """Powers of two round nothing: what is judged, and what rounding is allowed to make, are the same squared units."""
    X, y = data(3)
    one, other = (
        pc.trace(pc.TwoNuSVM(s * X, y), nu=(0, None), asymmetry=0.4, certify=False).proof for s in (1.0, unit)
    )
    np.testing.assert_array_equal(other.t, one.t)
    for name in ("sizes", "rounding", "duals"):
        np.testing.assert_allclose(getattr(other, name) / unit**2, getattr(one, name), rtol=1e-12)
    np.testing.assert_allclose(other.gaps / unit**2, one.gaps, rtol=1e-9, atol=1e-15 * one.sizes.max())
    for name, found in one.residuals.items():
        np.testing.assert_allclose(other.residuals[name], found, rtol=1e-9, atol=1e-14, err_msg=name)


def test_scores_of_hulls_next_to_their_meeting_are_measured_by_their_terms():
    nu = np.array([[0.2, 0.4], [0.0, 0.3], [0.5, 0.0]])
    wanted = 1e-6 * 9.0 * np.array([[0.2, 0.4], [0.3, 0.3], [0.5, 0.5]])
    np.testing.assert_allclose(_least(nu, 9.0 * nu), wanted, rtol=1e-15)


def test_what_takes_the_place_of_the_larger_of_two_is_nowhere_above_it():
    """Of two affine functions the larger, where one of them is; else their mean."""
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 200, 2))
    found, t = _larger(a, b), np.linspace(0.0, 1.0, 11)
    along = np.stack([1.0 - t, t])
    assert (found @ along <= np.maximum(a @ along, b @ along) * (1.0 + 1e-15)).all()
    for one, other in ((a, b), (b, a)):
        above = (one >= other).all(axis=1)
        assert above.any()
        np.testing.assert_array_equal(found[above], one[above])
    crossing = ((a - b)[:, 0] * (a - b)[:, 1]) < 0
    np.testing.assert_allclose(found[crossing], 0.5 * (a + b)[crossing])


@pytest.mark.parametrize("sample", [0.0, -0.05, -0.3])
def test_rounding_of_kernel_values_counts_the_sizes_of_all_multipliers(traced, sample):
    path = traced["kernel"]
    P = with_errors(path, sample=sample)
    weight = path.soft_margin.kernel_rounding
    assert weight is not None
    found = prove_hulls(path.soft_margin, P, "t").kernel_rounding
    for j in range(len(found)):
        wanted = max(0.5 * (weight @ np.abs(StoredPoint(path, P, j, share).alpha)) ** 2 for share in (0.0, 1.0))
        assert wanted * (1 - 1e-9) <= found[j] <= wanted * 1.01
