"""Where lines end, in closed form, and what is said and proved of what lies beyond."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.proof.bands.band_proof import judge_cone_ray
from paretoclf.proof.cones.cone_kinds import Cone
from paretoclf.solve.eps.ends import (
    ending,
    furthest_multipliers,
    furthest_point,
    inside,
    last_inside,
    on_grid,
)
from paretoclf.solve.eps.solver import ConeSolver
from tests.oracles.array_lines import array_line

GONE = {"infeasible": "PrimalInfeasible", "unbounded": "DualInfeasible"}

#: x between 0 and 1 - 3t, and the same as a ball whose radius that is: no point beyond 1/3.
SHRINKS = array_line([[1.0], [-1.0]], [[1.0, 0.0], [-2.0, 0.0]], [1.0])
BALL = array_line([[0.0, 0], [-1, 0], [0, -1]], [[1.0, 0, 0], [-2, 0, 0]], [0.6, 0.8], cones=[Cone("second-order", 3)])
#: Minimise q x for x >= 0 with q from 1 to -3: no optimum beyond 1/4. The same of s + 2t x, s above the norm of (1, x),
#: beyond 1/2.
FALLS = array_line([[-1.0]], [0.0], [[1.0], [-3.0]])
TILTS = array_line([[-1.0, 0], [0, 0], [0, -1]], [0.0, 1, 0], [[1.0, 0.0], [1.0, 2.0]], cones=[Cone("second-order", 3)])
ENDS = {
    "shrinks": (SHRINKS, "infeasible", 1 / 3),
    "ball": (BALL, "infeasible", 1 / 3),
    "falls": (FALLS, "unbounded", 1 / 4),
    "tilts": (TILTS, "unbounded", 1 / 2),
}


def words(status, border):
    """What a solver would say at five t."""
    return {t: "Solved" if t <= border else GONE[status] for t in (0.0, 0.25, 0.5, 0.75, 1.0)}


def test_the_grid_is_of_doubles_whose_rest_to_1_is_one():
    t = on_grid(np.array([0.0, 0.1, 1 / 3, 0.999999999, 1.0]))
    assert (t <= [0.0, 0.1, 1 / 3, 0.999999999, 1.0]).all()
    assert np.abs(t - [0.0, 0.1, 1 / 3, 0.999999999, 1.0]).max() < 1e-13
    assert (1.0 - (1.0 - t) == t).all()
    assert t[-1] == 1.0


@pytest.mark.parametrize("name", ENDS)
def test_a_line_ends_where_it_must_and_the_ray_says_so(name):
    line, status, border = ENDS[name]
    found, ray, stop = ending(line, words(status, border))
    assert found == status
    assert stop == pytest.approx(border, abs=1e-6)
    proof = judge_cone_ray(line, status, ray)
    assert proof.passes()
    assert border - 1e-9 <= proof.since <= border + 1e-4
    far = (furthest_point if status == "infeasible" else furthest_multipliers)(line)
    assert far[0] == pytest.approx(border, abs=1e-6)


def test_a_line_that_has_solutions_goes_on_to_its_end():
    line = array_line([[1.0], [-1.0]], [[1.0, 0.0], [3.0, 0.0]], [1.0])
    assert ending(line, dict.fromkeys((0.0, 0.5, 1.0), "Solved")) == ("end", None, 1.0)
    assert ending(line, {0.0: "Solved", 0.5: "AlmostSolved", 1.0: "InsufficientProgress"}) == ("end", None, 1.0)


def test_a_solver_that_is_wrong_is_not_believed():
    """It says infeasible, or unbounded, of lines that have solutions everywhere: no ray proves that."""
    fine = array_line([[1.0], [-1.0]], [[1.0, 0.0], [3.0, 0.0]], [1.0])
    for status in GONE:
        with pytest.raises(DegeneratePathError, match=f"it seems {status} there, and that is not proved"):
            ending(fine, words(status, 0.5))


def test_the_first_claim_along_the_line_counts():
    line = array_line([[-1.0], [1.0]], [[0.0, 1.0], [0.0, 1.0]], [[1.0], [-3.0]])  # bounded everywhere
    with pytest.raises(DegeneratePathError, match="it seems infeasible there"):
        ending(line, {0.0: "Solved", 0.5: GONE["infeasible"], 1.0: GONE["unbounded"]})


def test_a_direction_is_asked_for_only_where_matrices_stand_still():
    line = array_line([[-1.0]], [0.0], [[1.0], [-3.0]], A_stop=[[-2.0]])
    with pytest.raises(DegeneratePathError, match="would have to be one for every matrix on the way"):
        ending(line, words("unbounded", 0.25))


def test_a_chain_ends_a_line_whose_coefficients_move():
    """a x >= 1 with |x| <= 1/2 and a from 4 to 1: no point where a < 2, beyond t = 2/3."""
    line = array_line([[-4.0], [1.0], [-1.0]], [-1.0, 0.5, 0.5], [1.0], A_stop=[[-1.0], [1.0], [-1.0]])
    status, rays, stop = ending(line, words("infeasible", 2 / 3))
    assert status == "infeasible"
    assert 2 / 3 - 1e-5 <= stop <= 2 / 3 + 1e-9
    proof = judge_cone_ray(line, "infeasible", rays)
    assert proof.passes()
    assert 2 / 3 <= proof.since <= 2 / 3 + 2e-4


#: Shrunk to nothing at the start, and growing; rows that contradict each other everywhere; and falling at the start.
GROWS = array_line([[1.0], [-1.0]], [[-2.0, 0.0], [1.0, 0.0]], [1.0])
EMPTY = array_line([[1.0], [-1.0]], [-1.0, 0.0], [1.0])
RISES = array_line([[-1.0]], [0.0], [[-3.0], [1.0]])


def test_a_chain_gets_as_many_rows_as_it_needs():
    """(1 - t) x0 + t x1 >= .9 + .12 t in the unit ball: none beyond where the length of (1 - t, t) is less."""
    rest = [[0.0, 0], [-1, 0], [0, -1]]
    line = array_line(
        [[-1.0, 0], *rest],
        [[-0.9, 1, 0, 0], [-1.02, 1, 0, 0]],
        np.zeros(2),
        cones=[Cone("nonnegative", 1), Cone("second-order", 3)],
        A_stop=[[0, -1.0], *rest],
    )
    border = float(np.roots([2 - 0.12**2, -2 - 2 * 0.9 * 0.12, 1 - 0.9**2]).min())
    status, rays, stop = ending(line, words("infeasible", border))
    assert status == "infeasible"
    assert border - 1e-6 <= stop <= border
    assert len(rays) > 3
    assert (np.diff(rays[:, 0]) > 0).all()
    assert rays[-1, 0] == 1.0
    assert border <= judge_cone_ray(line, "infeasible", rays).since <= border + 2e-4


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        (GROWS, "infeasible", r"is infeasible, as is every t before 0.66\d*; there is one from about t = 0.66\d* on"),
        (EMPTY, "infeasible", r"it is infeasible, as the solver says$"),
        (RISES, "unbounded", r"at no t before 0.75 is there one, .* for ever; there is one from about t = 0.75 on"),
        (SHRINKS, "unbounded", r"it is unbounded, as the solver says$"),
        (FALLS, "infeasible", r"it is infeasible, as the solver says$"),
    ],
)
def test_what_is_said_of_a_start_without_a_solution(line, status, said):
    with pytest.raises(InputError, match=said):
        ending(line, {0.0: GONE[status], 1.0: "Solved"})


def test_nothing_inside_is_refused_and_the_rows_are_named():
    flat = array_line([[1.0], [-1.0]], [0.0, 0.0], [1.0])
    with pytest.raises(InputError, match=r"at both ends of the line, and none was found: see rows that CVXPY added"):
        inside(flat, 1.0, 2.0)
    meets = array_line([[1.0], [-1.0]], [[1.0, 0.0], [0.0, 0.0]], [1.0])  # 0 <= x <= 1 - t
    with pytest.raises(InputError, match=r"at stop \(there is one at start\), .* or end a little earlier$"):
        inside(meets, 1.0, 2.0)
    parts = array_line([[1.0], [-1.0]], [[0.0, 0.0], [1.0, 0.0]], [1.0])
    with pytest.raises(InputError, match=r"at start \(there is one at the other end\), .* begin a little further on$"):
        inside(parts, 1.0, 2.0)
    moving = array_line([[1.0], [-1.0]], [0.0, 0.0], [1.0], A_stop=[[2.0], [-2.0]])
    with pytest.raises(InputError, match=r"with the coefficients of both ends of the line.*trace shorter lines"):
        inside(moving, 1.0, 2.0)
    assert inside(SHRINKS, 0.25, 2.0).stop == 0.25


@pytest.mark.parametrize("name", ["shrinks", "ball", "falls"])
def test_a_line_is_cut_a_little_before_its_border(name):
    line, _, border = ENDS[name]
    end, inner = last_inside(line, border, 2.0, ConeSolver(line, 1e-10))
    assert border - 1e-4 <= end < border
    assert inner.stop == end
    slack = line.at(end).b - line.at(end).A @ inner.at(end)
    if name != "ball":
        assert slack.min() > 0
    else:
        assert slack[0] > np.linalg.norm(slack[1:])
