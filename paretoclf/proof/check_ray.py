"""Checks a certificate whose path ends before t = 1: it is optimal up to there, and beyond there is no minimum.

    python check_ray.py FILE [the options of check.py, which must lie beside it and says what the program is]

This is section 9 of docs/reference/certificate_files.md. Each of three kinds of ray proves that there is no minimum
where a number is negative, and this number is affine in t. It falls, and at the end of the path it is 0 or less: hence
it is negative at every later t.
"""

import os
import sys
from fractions import Fraction

if __package__:
    from paretoclf.proof import check as exact
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import check as exact
need = exact.need
dot = exact.dot

# ---- Section 9, Ray: beyond ------------------------------------------------------------------------------------------


def beyond(problem: dict, t: Fraction, kind: str, ray: list) -> None:
    """Refuse a ray that does not prove that there is no minimum beyond t."""
    terms = terms_of(exact.program(problem), kind, ray)
    need(all(pair is not None for pair, _ in terms), "the ray needs a bound or price that there is not")
    start = sum(pair[0] * factor for pair, factor in terms)
    rate = sum(pair[1] * factor for pair, factor in terms)
    need(rate < 0 and start + rate * t <= 0, "the ray proves nothing")


def terms_of(given: exact.WholeProgram, kind: str, ray: list) -> list[tuple]:
    """Return the terms, pairs and factors, of the number that proves that there is no minimum where it is negative."""
    [numbers], _ = exact.integers([ray])  # a multiple, which is no other ray
    items = len(given.matrix)
    asked = {"unbounded": given.variables, "infeasible": items - given.variables, "crossing": 1}
    need(kind in asked, f"no ray {kind!r:.20}")
    need(len(numbers) == asked[kind], f"{asked[kind]} numbers are asked for, and the ray has {len(numbers)}")
    if kind == "unbounded":
        return unbounded(given, numbers)
    if kind == "infeasible":
        return infeasible(given, numbers)
    return crossing(given, ray)


def unbounded(given: exact.WholeProgram, direction: list[int]) -> list[tuple]:
    """Return the terms of what a step along a direction of x costs in the end, far away: it never ends if that is < 0.

    Px must not change, so that the objective is linear along it. Each item that moves leaves its bound on that side, if
    it has one, behind; from there on it costs the price of that side, and where that bound is hard there is no way.
    """
    moves = [dot(row, direction) for row in given.matrix]  # (Pd, Ad)
    need(not any(moves[: given.variables]), "the ray changes Px")
    terms = list(zip(given.affine["q"], direction, strict=False))  # rows have no part in q
    for item, step in enumerate(direction + moves[given.variables :]):
        bound, price = ("upper", "above") if step > 0 else ("lower", "below")
        if step and given.affine[bound][item] is not None:
            # Upwards minus the price, which `above` is, times minus the step; downwards the price times minus the step.
            terms.append((given.affine[price][item], -step))
    return terms


def infeasible(given: exact.WholeProgram, multipliers: list[int]) -> list[tuple]:
    """Return the terms of a contradiction between hard bounds: 0 is at least minus their sum.

    With y = (-A'r, r) the sum of y v is 0 whatever x is. It is at least the sum of y times the lower bound where y > 0
    and of y times the upper bound where y < 0.
    """
    weights = [-dot(row[given.variables :], multipliers) for row in given.matrix[: given.variables]]
    return of_hard_bounds(given, enumerate(weights + multipliers))


def crossing(given: exact.WholeProgram, ray: list) -> list[tuple]:
    """Return the terms of upper - lower of one item, both of whose bounds must be hard."""
    [item] = ray
    need(type(item) is int and 0 <= item < len(given.matrix), f"no item {item!r:.9}")
    return of_hard_bounds(given, [(item, 1), (item, -1)])


def of_hard_bounds(given: exact.WholeProgram, weights) -> list[tuple]:
    """Return the bound that limits each weighted item from below, and minus its weight; none may have a price."""
    terms = []
    for item, weight in weights:
        bound, price = ("lower", "below") if weight > 0 else ("upper", "above")
        if weight:
            need(given.affine[price][item] is None, "a bound of the ray is soft")
            terms.append((given.affine[bound][item], -weight))
    return terms


# ---- The statement: main ---------------------------------------------------------------------------------------------


def main(file: str, *options: str) -> str:
    """Return the statement that is proved; ArithmeticError, or what reading raises, where it is not."""
    content, _ = exact.read(file, "exact certificate 1", {"segments", "ray"})
    kind, ray = content["ray"]
    _, t = exact.check(content["problem"], content["segments"], early=True)
    need(t < 1, "the path ends at t = 1, and a ray is for what is beyond")
    beyond(content["problem"], t, kind, ray)
    why = "unbounded where any point is feasible" if kind == "unbounded" else kind
    return f"{exact.main(file, *options)}\nPROVED, too: for no later t there is a minimum ({why})."


if __name__ == "__main__":
    try:
        print(main(*sys.argv[1:]))
    except Exception as error:
        sys.exit(exact.why_not(error))
