"""Laws beside maps: what they cost against solves of CVXPY in which the law's numbers are held."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc


def controller():
    """A mass that is to come to rest in five steps, with a limit of its speed."""
    A, B = np.array([[1.0, 0.5], [0.0, 1.0]]), np.array([0.125, 0.5])
    s, u = cp.Variable((2, 6), name="s"), cp.Variable(5, name="u")
    x0 = cp.Parameter(2, name="x0")
    rows = [s[:, 0] == x0, (cp.abs(u) <= 1).set_label("force"), (cp.abs(s[1]) <= 1).set_label("speed")]
    rows += [s[:, k + 1] == A @ s[:, k] + B * u[k] for k in range(5)]
    return cp.Problem(cp.Minimize(cp.sum_squares(s) + 0.1 * cp.sum_squares(u)), rows), x0, u


PROBLEM, X0, U = controller()


@pytest.fixture(scope="module")
def found():
    return pc.plane(PROBLEM, {X0[0]: (-3, 3), X0[1]: (-1.5, 1.5)}, progress=False)


def test_the_price_of_a_law_is_that_of_a_solve_in_which_it_is_held(found):
    places = np.array([[1.0, 0.5], [-2.0, 0.3], [0.3, -0.9], [2.5, 0.9], [0.1, 0.1]])
    first = np.array([-0.4, 0.2, -1.0, 0.5, 0.0])
    judged = pc.verify(found, {"x0[0]": places[:, 0], "x0[1]": places[:, 1], "u[0]": first})
    how = {"solver": "CLARABEL", "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    for k, (place, number) in enumerate(zip(places, first, strict=True)):
        X0.value = place
        best = PROBLEM.solve(**how)
        theirs = cp.Problem(PROBLEM.objective, [*PROBLEM.constraints, U[0] == number]).solve(**how)
        if np.isinf(theirs):
            assert np.isinf(judged.excess[k])
            assert judged.reasons[k].startswith("no plan that begins so satisfies ")
            assert "speed" in judged.reasons[k]
        else:  # the law's number is held within 1e-6
            assert judged.excess[k] * judged.scales[k].size == pytest.approx(theirs - best, rel=1e-3, abs=1e-8)
    assert np.isinf(judged.excess).sum() == 2
    assert not judged.passes()
    assert judged.explain() in repr(judged)


def test_the_own_law_passes_and_others_are_found_out(found):
    space = {}
    exec(found.to_python(of=["u[0]"]), space)
    own = pc.verify(found, space["law"])
    assert own.passes()
    assert len(own) > len(found.regions)
    places = np.random.default_rng(0).uniform(-0.8, 0.8, (6, 2))
    late = {"x0[0]": places[:, 0], "x0[1]": places[:, 1], "u": 0.99 * found.values("u", places)}
    judged = pc.verify(found, late, tol=1e-9)
    assert "there is a better plan" in judged.reasons
    assert set(judged.to_frame().columns) == {"x0[0]", "x0[1]", "excess", "verdict", "reason"}
    none = pc.verify(found, lambda a, b: None)
    assert set(none.reasons) == {"the law has no control, and there is an optimum here"}
    outside = pc.verify(found, {"x0[0]": [0.0, 0.0], "x0[1]": [1.4, 1.4], "u[0]": [np.nan, 0.0]})
    assert outside.reasons == ("", "there is no optimum here, and the law has a control")
    assert pc.verify(found).passes()


@pytest.mark.parametrize(
    ("law", "said"),
    [
        (lambda a, b: 1.0, r"law must return a mapping of variables or their entries .*; the variables are s, u"),
        (
            lambda a, b: {"v": 1.0},
            r"law must be of variables, s of shape \(2, 6\), u of shape \(5,\), or their entries",
        ),
        (lambda a, b: {"u[0]": np.inf}, r"law must have finite numbers, got inf for u\[0\]"),
        ({"u[0]": [1.0]}, r"law must be a function of x0\[0\] and x0\[1\], or a table with columns of these names"),
        ({"x0[0]": [9.0], "x0[1]": [0.0], "u[0]": [0.0]}, r"law must be asked within the map, .* got x0\[0\] = 9"),
        ({"x0[0]": [1.0], "x0[1]": [0.0, 1.0], "u[0]": [0.0]}, r"columns of law must be of one length, got \[1, 2\]"),
        ({"x0[0]": [], "x0[1]": [], "u[0]": []}, r"law must have at least one place"),
    ],
)
def test_what_is_no_law_is_refused(found, law, said):
    with pytest.raises(pc.InputError, match=said):
        pc.verify(found, law)
