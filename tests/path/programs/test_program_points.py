"""Tests of `paretoclf.path.programs.program_points`: what is said of a point, of changes and beyond an end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paretoclf.path.programs.program_points import (
    Beyond,
    ProblemPoint,
    events_of,
    listed,
    moves,
    reason_of,
    verdict_of,
    words_of,
)
from paretoclf.problem.parametric_qp import ABOVE, BELOW, INSIDE, LOWER, UPPER

LABELS = (BELOW, LOWER, INSIDE, UPPER, ABOVE)


def test_a_point_is_written_with_its_variables_and_multipliers():
    point = ProblemPoint(0.25, -1.5, {"lam": 2.0}, {"x": np.array([1.0, 2.0]), "b": 3.0}, {"row": 0.5})
    assert repr(point).splitlines() == [
        "optimum at t = 0.25 (lam = 2): value -1.5",
        "  x = [1, 2]",
        "  b = 3",
        "  dual of row = 0.5",
    ]
    assert listed({}, {}) == []


def test_words_of_a_kink_and_of_a_pair_of_bounds():
    kink, bounds, zero = words_of(np.array([1, 0, 2]))
    assert [zero[label] for label in LABELS] == ["not 0", "0", "free", "0", "not 0"]
    assert [kink[label] for label in LABELS] == [
        *("below its kink", "at its kink", "free", "at its kink", "above its kink")
    ]
    assert [bounds[label] for label in LABELS] == [
        "beyond its lower bound",
        "at its lower bound",
        "free",
        "at its upper bound",
        "beyond its upper bound",
    ]


def test_events_are_the_differences_of_labels_one_by_one():
    rng = np.random.default_rng(0)
    labels, kinks = rng.integers(-2, 3, (7, 4)), np.array([1, 0, 0, 2])
    labels[3] = labels[2]  # nothing changes there, and no parameters are asked for
    t, words = np.linspace(0.0, 1.0, 8) ** 2, words_of(kinks)
    items, asked = tuple("abcd"), []

    def parameters(at):
        asked.append(at)
        return {"lam": 2 * at}

    found = events_of(t, labels, items, words, parameters)
    expected = [
        (t[j], items[i], words[i][labels[j - 1, i]], words[i][labels[j, i]], i)
        for j in range(1, 7)
        for i in range(4)
        if labels[j, i] != labels[j - 1, i]
    ]
    assert [(each.t, each.name, each.before, each.after, each.item) for each in found] == expected
    assert [each.parameters["lam"] for each in found] == [2 * each[0] for each in expected]
    assert asked == [t[j] for j in (1, 2, 4, 5, 6)]
    assert events_of(t[:2], labels[:1], items, words, parameters) == ()


class Proof:
    """Proof of which only its text is asked for."""

    def __repr__(self):
        return "PROVED"


BEYOND = Beyond("infeasible", 0.5, {}, ("cap", "mass"), Proof(), 0.5)


def test_beyond_an_end_it_is_said_who_has_a_part_in_it():
    assert BEYOND.verdict == "infeasible"
    assert BEYOND.explain() == "beyond t = 0.5 no point satisfies cap, mass together: PROVED"
    named = replace(BEYOND, texts={"cap": "x <= 3"}, parameters={"lam": 2.0})
    assert named.explain() == "beyond t = 0.5 (lam = 2) no point satisfies x <= 3, mass together: PROVED"
    assert "no point satisfies what CVXPY added together" in replace(BEYOND, blame=()).explain()


def test_of_t_between_the_end_and_where_the_ray_refutes_nothing_is_said():
    more = "; from t = 0.25, where the path ends, to there nothing is known"
    assert replace(BEYOND, end=0.25).explain().endswith(f"PROVED{more}")
    assert more not in BEYOND.explain()
    assert replace(BEYOND, end=0.75).explain() == BEYOND.explain()
    near = replace(BEYOND, end=0.5 - 3e-8).explain()  # 0.5 both, in six digits
    assert near.endswith("from t = 0.49999997, where the path ends, to there nothing is known")


@pytest.mark.parametrize(
    ("status", "feasible", "verdict", "reason"),
    [
        ("infeasible", False, "infeasible", "no point satisfies x together"),
        ("infeasible", True, "infeasible", "no point satisfies x together"),
        ("unbounded", True, "unbounded", "the objective improves for ever, along x"),
        *[
            (
                *("unbounded", False, "no optimum"),
                "from any point that is feasible the objective improves for ever, along x",
            )
        ],
    ],
)
def test_unbounded_is_said_only_of_feasible_points(status, feasible, verdict, reason):
    assert verdict_of(status, feasible=feasible) == verdict
    assert reason_of(status, "x", feasible=feasible) == reason
    found = replace(BEYOND, status=status, feasible=feasible, blame=("x",))
    assert found.verdict == verdict
    assert f" {reason}: PROVED" in found.explain()


def test_what_moves_is_what_differs_anywhere():
    first = {"lam": np.array(1.0), "still": np.array(2.0), "shift": np.zeros(3), "zero": np.zeros(2)}
    last = {"lam": np.array(0.0), "still": np.array(2.0), "shift": np.array([0.0, 0.0, 1.0]), "zero": np.zeros(2)}
    found = moves((first, last))
    assert list(found) == ["lam", "shift"]
    assert found["lam"] == (1.0, 0.0)
    np.testing.assert_array_equal(found["shift"][0], first["shift"])
    np.testing.assert_array_equal(found["shift"][1], last["shift"])
    assert moves((first, first)) == {}
