"""Expressions in the words of their author, and why CVXPY's rules refuse a problem."""

from __future__ import annotations

import re
import warnings

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.solve.models.as_written import spoken
from paretoclf.solve.models.refused_models import why_not_convex

w, r = cp.Variable(2, name="w"), cp.Variable(name="r")
tau, g = cp.Parameter(nonneg=True, name="tau"), cp.Parameter(name="g")
DATA = np.linspace(0.1, 1.7, 6).reshape(3, 2)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        (cp.norm(w, 2), "norm(w, 2)"),
        (cp.norm(w, 3), "norm(w, 3)"),
        (cp.sum_squares(w), "sum_squares(w)"),
        (cp.sum(cp.sum_squares(w - 1)), "sum(sum_squares(w - 1))"),
        (cp.quad_over_lin(w, tau), "quad_over_lin(w, tau, None, False)"),
        (cp.power(r, 1.5), "power(r, 1.5)"),
        (cp.sum(w) == g, "sum(w) == g"),
        (cp.norm(DATA @ w, 2), "norm([...] @ w, 2)"),
        (w[0] + 10.0 * w[1], "w[0] + 10 * w[1]"),
    ],
)
def test_atoms_are_called_as_users_call_them(expression, said):
    assert spoken(expression) == said


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (
            cp.Minimize(cp.sum(tau * cp.pos(w) + (1 - tau) * cp.neg(w))),
            r"^1 - tau has no sign .* start=\{tau: a, rest: 1 - a\}, and likewise stop$",
        ),
        (cp.Minimize(g * cp.abs(r)), r"^g has no sign .* cp.Parameter\(nonneg=True, name='g'\)$"),
        (cp.Minimize(cp.square(r) - cp.abs(r)), r"^power\(r, 2\) - \(abs\(r\)\) is neither convex nor concave"),
        (cp.Maximize(cp.square(r)), r"^What is maximised must be concave, got convex: power\(r, 2\)$"),
        (cp.Minimize(cp.sqrt(r)), "^What is minimised must be convex, got concave"),
        (cp.square(r) >= 1, "^The smaller side must be convex and the larger one concave"),
        (cp.square(r) == 1, "^Both sides of an equation must be affine"),
        (
            cp.Minimize(cp.quad_form(w, np.diag([1.0, 2.0]) + tau * np.eye(2))),
            r"CVXPY does not know whether .*, which depends on tau, is positive semidefinite\. Where it is, write "
            r"cp\.quad_form\(w, cp\.psd_wrap\(\.\.\.\)\)",
        ),
        (cp.Minimize(r * w[0]), r"^r \* w\[0\] is neither convex nor concave"),
    ],
)
def test_the_cause_of_a_refusal_is_named_with_the_way_out(part, said):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = (
            cp.Problem(part) if isinstance(part, cp.Minimize | cp.Maximize) else cp.Problem(cp.Minimize(r), [part])
        )
        assert not problem.is_dcp()
    words = why_not_convex(part)
    assert re.search(said, words), words
    with pytest.raises(pc.InputError) as error:
        pc.trace(problem, {tau: 0.1}, {tau: 0.9})
    assert words in str(error.value)


def test_both_ways_out_for_a_matrix_that_moves_are_ways():
    """Values are those of the optimum of x'(D + tau I)x with x summing to 1, in closed form."""
    diagonal = np.diag([1.0, 2.0])
    whole = cp.quad_form(w, cp.psd_wrap(diagonal + tau * np.eye(2)))
    in_parts = cp.quad_form(w, diagonal) + tau * cp.sum_squares(w)
    for form in (whole, in_parts):
        path = pc.trace(cp.Problem(cp.Minimize(form), [cp.sum(w) == 1]), {tau: 0}, {tau: 1}, curve=True)
        assert path.value(tau=0.5) == pytest.approx(1 / (1 / 1.5 + 1 / 2.5), rel=1e-9)


def test_a_geometric_program_is_told_its_own_sense():
    x, p = cp.Variable(2, pos=True, name="x"), cp.Parameter(pos=True, name="p")
    for objective, verb in ((cp.Minimize(1 / (x[0] * x[1])), "minimise"), (cp.Maximize(x[0] * x[1]), "maximise")):
        with pytest.raises(pc.InputError, match=f"geometric program.* {verb} the logarithm of the objective"):
            pc.trace(cp.Problem(objective, [x[0] + x[1] <= p, x[0] * x[1] <= p]), {p: 1}, {p: 2}, eps=1e-3)


def test_constraints_without_a_label_are_told_by_their_text():
    x = cp.Variable(3, name="x")
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(x)), [x <= 1, cp.sum(x) == g]), {g: 0}, {g: 9})
    assert "constraint 1 (sum(x) == g), constraint 0 (x <= 1) together" in path.beyond.explain()
    assert set(path.beyond.blame) == {"constraint 0", "constraint 1"}  # the keys of duals
    with pytest.raises(pc.InputError, match=r"got norm\(x, 2\) in constraint 0 \(norm\(x, 2\) <= g\)"):
        pc.trace(cp.Problem(cp.Minimize(cp.sum(x)), [cp.norm(x, 2) <= g]), {g: 1}, {g: 9})


def test_a_key_that_is_no_parameter_of_the_problem_is_answered_with_those_there_are():
    problem = cp.Problem(cp.Minimize(cp.square(r) + tau * cp.abs(r - 1)))
    said = r"must have parameters of the problem, or their names, for keys, got .*: the problem has tau"
    for key in ("rho", g):
        with pytest.raises(pc.InputError, match=said):
            pc.trace(problem, {key: 0.1}, {key: 0.9})


def test_a_geometric_program_is_refused_with_the_logarithms_in_which_it_is_convex():
    """The remedy works: the largest box of given walls has the same optimum by CVXPY's rules of geometric programs."""
    h, d, walls = cp.Variable(pos=True, name="h"), cp.Variable(pos=True, name="d"), cp.Parameter(pos=True, name="walls")
    box = cp.Problem(cp.Maximize(h * d * d), [(4 * h * d <= walls).set_label("sides"), d <= 2 * h])
    walls.value = 36.0
    for door in (
        lambda: pc.trace(box, {walls: 1.0}, {walls: 9.0}, eps=1e-3),
        lambda: pc.verify(box),
        lambda: pc.dual(box),
    ):
        with pytest.raises(pc.InputError, match=r"geometric program, .* logarithms of its variables.*cp\.log_sum_exp"):
            door()
    with pytest.raises(pc.InputError) as caught:
        pc.verify(cp.Problem(cp.Minimize(r * w[0])))  # signs are not known: no geometric program
    assert "geometric" not in str(caught.value)
    u, v, size = (cp.Variable(name="log h"), cp.Variable(name="log d"), cp.Parameter(name="log walls"))
    sides = cp.log_sum_exp(cp.hstack([np.log(2) + u + v, np.log(2) + u + v])) <= size
    band = pc.trace(cp.Problem(cp.Maximize(u + 2 * v), [sides, v <= np.log(2) + u]), {size: 0.0}, {size: 5.0}, eps=1e-4)
    low, high = np.exp(band.bounds({size: np.log(36.0)}))
    assert low <= box.solve(gp=True, solver="CLARABEL") * (1 + 1e-6) <= high * (1 + 2e-6)
    assert high - low < 1e-2
