"""Checks a bounded certificate: how far points are from the minimum of a convex quadratic program, for all t in [0, 1].

    python check_gap.py FILE [--within GAP] [the options of check.py, which must lie beside it and says what it is]

This is section 10 of docs/reference/certificate_files.md. The file has points x of the program, and multipliers r of
its rows, at knots; between two knots they are affine in t. Bounds are hard and hold exactly. With v = (x, Ax),
y = ((1 + e) Px + q - A'r, r) and e the `stretch`,

    f(x) - minimum <= sum of max(y, 0) (v - lower) + max(-y, 0) (upper - v)  +  e^2 x'Px / 2,

as the minimum is no less than the dual value at (1 + e) x and r. All is computed in integers. A bound may be true and
wide: what is more than --within is not proved to be near enough.
"""

import math
import os
import sys
from fractions import Fraction
from typing import NamedTuple

if __package__:
    from paretoclf.proof import check as exact
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import check as exact
need = exact.need
dot = exact.dot

SIDE_OF = {"l": "lower", "u": "upper"}  # the bound that a letter names

# ---- Section 10, Points: gap -----------------------------------------------------------------------------------------


class BoundedPoint(NamedTuple):
    """A point and its multipliers in integers.

    Numbers are multiplied by the units of the program and by `scale`, and multipliers by the denominator of e as well.
    """

    scale: int
    multipliers: list[int]  # max(y, 0) of all items, then max(-y, 0) of all items
    slacks: list[int]  # v - lower of all items, then upper - v; 0 where there is no bound
    quadratic: int  # x'Px
    linear: int  # q'x


def gap(problem: dict, points: list, stretch: object) -> tuple[list[Fraction], Fraction]:
    """Return the values of the first and the last point, and a bound on how far any is from the minimum."""
    given = exact.program(problem)
    e = number(stretch)
    soft = any(pair is not None for pair in given.affine["below"] + given.affine["above"])
    need(not soft and e >= 0, "bounds must be hard, and the stretch no less than 0")
    units = given.units
    unit = units.matrix * (units.numbers * units.rows) ** 2  # of what is a value times a multiplier
    reader = PointReader(given, e)
    values = []
    largest_gap = Fraction(0)
    largest_bend = Fraction(0)
    before = None
    for index, (t, changes, rows) in enumerate(points):
        where = f"at knot {index}: "
        reader.go_to(number(t), index == 0, [number(each) for each in rows], where)
        reader.place(changes, index == 0, where)
        point = reader.point(where)
        # x'Px is convex along a line: between two knots it is no larger than at one of them.
        bend = e**2 * Fraction(point.quadratic, 2 * unit * point.scale**2)
        largest_bend = max(largest_bend, bend)
        twice = point.quadratic + 2 * point.linear
        values.append(Fraction(twice, 2 * unit * point.scale**2))
        for coefficient in bernstein(before, point):
            largest_gap = max(largest_gap, coefficient / (e.denominator * unit))
        before = point
    need(reader.t == 1, f"the knots cover t up to {float(reader.t)!r} only")
    return [values[0], values[-1]], largest_gap + largest_bend


def bernstein(before: BoundedPoint | None, point: BoundedPoint) -> list[Fraction]:
    """Return coefficients that bound the sum of multipliers times slacks from the knot before to this one.

    Between two knots max(y, 0) is no larger than its chord, and slacks are affine: the sum is below a product of two
    functions that are affine in t, a quadratic polynomial, and this below its largest Bernstein coefficient. The middle
    one is the mean of the two products across.
    """
    own = product(point, point)
    if before is None:
        return [own]
    middle = (product(before, point) + product(point, before)) / 2
    return [middle, own]  # the first is that of the knot before


def product(first: BoundedPoint, second: BoundedPoint) -> Fraction:
    """Return the sum of multipliers of one knot times slacks of another."""
    return Fraction(dot(first.multipliers, second.slacks), first.scale * second.scale)


def number(value: object) -> Fraction:
    """Return a number of the file."""
    [[whole]], denominator = exact.integers([[value]])
    return Fraction(whole, denominator)


class PointReader:
    """The points of a file, one after the other: where each variable is, and what follows from it."""

    def __init__(self, given: exact.WholeProgram, stretch: Fraction) -> None:
        items = len(given.matrix)
        self.given = given
        self.stretch = stretch
        self.t = Fraction(0)
        self.rows = []  # multipliers of the rows, in the units of the program
        self.places = {}  # of each variable "l", "u", or its value in the units of the program
        self.load = [[0] * items, [0] * items]  # H times what of x is at bounds, at t = 0 and its rate

    def go_to(self, t: Fraction, first: bool, rows: list[Fraction], where: str) -> None:
        """Take t and the multipliers of the rows of the next knot: t begins at 0 and never falls."""
        count = len(self.given.matrix) - self.given.variables
        in_order = self.t <= t <= 1 and (t == 0 or not first)
        need(in_order and len(rows) == count, f"{where}wrong t, or number of multipliers")
        units = self.given.units
        self.t = t
        self.rows = [each * units.numbers * units.matrix for each in rows]

    def place(self, changes: list, first: bool, where: str) -> None:
        """Put variables elsewhere; before the first point all are at their lower bounds."""
        if first:
            changes = [*enumerate("l" * self.given.variables), *changes]
        units = self.given.units
        for item, new in changes:
            need(type(item) is int and 0 <= item < self.given.variables, f"{where}no item {item!r:.9}")
            now = self.at_bound(item, new)
            need(now is not None, f"{where}item {item} has no such bound")
            before = self.at_bound(item, self.places.get(item))
            for end, step in enumerate(exact.minus(now, before)):
                if step:
                    row = self.given.matrix[item]
                    self.load[end] = exact.plus_multiple(self.load[end], step, row)
            if new in ("l", "u"):
                self.places[item] = new
            else:
                self.places[item] = number(new) * units.numbers * units.rows

    def at_bound(self, item: int, place: object) -> tuple | None:
        """Return the bound at which a place is, as a pair; 0 where it is at none, None where there is no such bound."""
        if place in ("l", "u"):
            return self.given.affine[SIDE_OF[place]][item]
        return exact.ZERO

    def point(self, where: str) -> BoundedPoint:
        """Return the point here with its multipliers; refuse it if it leaves a bound, or if they prove nothing."""
        variables = self.given.variables
        inside = {item: place for item, place in self.places.items() if place not in ("l", "u")}
        numbers = [*inside.values(), *self.rows]
        scale = self.t.denominator * math.lcm(*(each.denominator for each in numbers))
        inside = {item: int(place * scale) for item, place in inside.items()}
        rows = [int(each * scale) for each in self.rows]
        lower, upper, linear = (self.here(self.given.affine[name], scale) for name in ("lower", "upper", "q"))
        products = self.products(inside, scale)  # (Px, Ax)
        x = []
        for item in range(variables):
            place = self.places[item]
            bounds = {"l": lower, "u": upper}.get(place)
            x.append(inside[item] if bounds is None else bounds[item])
        values = x + products[variables:]
        multipliers = self.multipliers(products, linear, rows)
        slacks = [0 if bound is None else value - bound for value, bound in zip(values, lower, strict=True)]
        slacks += [0 if bound is None else bound - value for value, bound in zip(values, upper, strict=True)]
        need(min(slacks) >= 0, f"{where}x leaves its bounds")
        for multiplier, low, high in zip(multipliers, lower, upper, strict=True):
            bound = low if multiplier > 0 else high
            need(multiplier == 0 or bound is not None, f"{where}the dual value is not finite")
        parts = [max(each, 0) for each in multipliers] + [max(-each, 0) for each in multipliers]
        return BoundedPoint(scale, parts, slacks, dot(x, products), dot(x, linear))

    def here(self, pairs: list, scale: int) -> list:
        """Return what pairs are at t, times a scale that makes them integers; None of None."""
        step = int(scale * self.t)
        return [None if pair is None else scale * pair[0] + step * pair[1] for pair in pairs]

    def products(self, inside: dict, scale: int) -> list[int]:
        """Return Hx for H = [[P, A'], [A, 0]]: what of x is at bounds is in the load."""
        load = self.here(list(zip(*self.load, strict=True)), scale)
        free = list(inside)
        numbers = list(inside.values())
        pairs = zip(load, self.given.matrix, strict=True)
        return [own + dot(numbers, [row[item] for item in free]) for own, row in pairs]

    def multipliers(self, products: list, linear: list, rows: list) -> list[int]:
        """Return y = ((1 + e) Px + q - A'r, r), times the denominator of e."""
        e, denominator = self.stretch.as_integer_ratio()
        variables = self.given.variables
        result = []
        for item in range(variables):
            of_rows = dot(rows, self.given.matrix[item][variables:])
            unstretched = products[item] + linear[item] - of_rows
            result.append(denominator * unstretched + e * products[item])
        return result + [denominator * row for row in rows]


# ---- The statement: main ---------------------------------------------------------------------------------------------


def main(file: str, *options: str) -> str:
    """Return the statement that is proved; ArithmeticError, or what reading raises, where it is not."""
    others, within = list(options), None
    if "--within" in others:
        place = others.index("--within")
        within = Fraction(others[place + 1])
        del others[place : place + 2]
    content, about = exact.read(file, "bounded certificate 1", {"points", "stretch"}, *others)
    problem = content["problem"]
    points = content["points"]
    need(type(points) is list, "points must be a list")
    ends, most = gap(problem, points, content["stretch"])
    most = abs(exact.value(problem, most))
    rounded_up = math.nextafter(float(most), math.inf) if most else 0.0
    need(within is None or most <= within, f"the bound, {rounded_up!r}, is wider than --within {float(within or 0)!r}")
    # A classifier's points are multipliers, with values of the dual.
    side = "above" if problem["kind"] == "program" else "below"
    at_ends = [exact.value(problem, float(end)) for end in ends]
    return (
        f"PROVED without rounding: for every t in [0, 1], with {len(points)} knots, the value of the file is\n"
        f"at most {rounded_up!r} {side} the minimum of {exact.WORDS[problem['kind']]}.\n"
        f"Values at both ends, as doubles: {at_ends}.\n"
        f"{about}"
    )


if __name__ == "__main__":
    try:
        print(main(*sys.argv[1:]))
    except Exception as error:
        sys.exit(exact.why_not(error))
