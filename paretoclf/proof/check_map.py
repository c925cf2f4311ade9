"""Checks a map: optimal solutions of a convex quadratic program for all pairs of two parameters, without rounding.

    python check_map.py FILE      (check.py and check_ray.py must lie beside it)

These are sections 17 to 20 of docs/reference/certificate_files.md, in the same order. The program is that of check.py,
but its data are affine in two numbers s and t, each from 0 to 1. The file has letters for each region, and the checker
finds out where they are optimal: the letters are linear equations, whose solution is affine in s and t, and the
inequalities that they ask for leave a convex polygon of the unit square. The file has rays, too; each rules out a part
of the square. What is left of the square must be covered by the polygons, once.

All is computed in integers. Whatever is affine in s and t is known from two lines, from (0, 0) to (1, 0) and from
(0, 0) to (0, 1), on which check.py solves the equations. A point is three integers (w, x, y) without a common divisor,
w > 0, and stands for (x / w, y / w).
"""

import math
import os
import sys
from fractions import Fraction
from itertools import pairwise

if __package__:
    from paretoclf.proof import check as exact
    from paretoclf.proof import check_ray
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import check as exact
    import check_ray
need = exact.need

PARTS = ("regions", "outside")

#: Fields that are affine in both numbers, and have three lists: at (0, 0), at (1, 0), at (0, 1).
AFFINE_OF = {"program": ("q", *exact.SIDES), "2C-SVM": ("caps",)}

#: Sizes beyond which a file is refused before any work.
MOST_ITEMS = 5_000
MOST_REGIONS = 100_000
MOST_DIGITS = 400

#: The unit square, counterclockwise.
SQUARE = ((1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1))


# ---- Section 17, Planes: lines ---------------------------------------------------------------------------------------


def lines(problem: dict) -> tuple[exact.WholeProgram, exact.WholeProgram]:
    """Return the program on both lines from (0, 0), in integers of the same units."""
    kind = problem.get("kind")
    need(kind in AFFINE_OF, "a map is of a program or of a 2C-SVM")
    first = dict(problem)
    second = dict(problem)
    for name in AFFINE_OF[kind]:
        need(exact.is_list(problem.get(name), 3), f"{name} must have three lists")
        begin, along_s, along_t = problem[name]
        first[name] = [begin, along_s]
        second[name] = [begin, along_t]
    made = [exact.program(first), exact.program(second)]
    unit = math.lcm(*(each.units.numbers for each in made))
    return tuple(in_unit(each, unit) for each in made)


def in_unit(given: exact.WholeProgram, unit: int) -> exact.WholeProgram:
    """Return a program with its bounds, prices and q as multiples of a finer unit."""
    factor = unit // given.units.numbers
    affine = {name: [exact.times(factor, pair) for pair in pairs] for name, pairs in given.affine.items()}
    return given._replace(affine=affine, units=given.units._replace(numbers=unit))


def plane_of(pairs: list[tuple]) -> tuple[int, int, int]:
    """Return what is affine in s and t, from its pairs on both lines: its value at (0, 0), and both rates."""
    (start, along_s), (same, along_t) = pairs
    need(start == same, "both lines begin in one point")
    return start, along_s, along_t


def bound_sizes(problem: dict, regions: list, outside: list) -> None:
    """Refuse a file that would take too long, before any work."""
    lists = type(regions) is list and type(outside) is list
    need(lists and 0 < len(regions) <= MOST_REGIONS and len(outside) <= MOST_REGIONS, "no regions, or too many")
    rows = [problem.get(name, []) for name in ("X", "K", "A", "y")]
    need(all(type(each) is list and len(each) <= MOST_ITEMS for each in rows), "too many items")
    need(short([*problem.values(), outside], 0), "a number has too many digits, or lists are too deep")


def short(value: object, depth: int) -> bool:
    """Return whether all numbers in a value have few digits, and lists are not deep."""
    if type(value) is list:
        return depth < 6 and all(short(each, depth + 1) for each in value)
    if type(value) is str:
        return depth == 1 or len(value) <= MOST_DIGITS  # a text of the problem itself may be long
    return type(value) is not int or abs(value) < 10**MOST_DIGITS


# ---- Section 18, Polygons: polygon -----------------------------------------------------------------------------------


class Regions:
    """Where letters are optimal: followed from region to region on both lines."""

    def __init__(self, problem: dict) -> None:
        self.lines = [exact.LetterEquations(each) for each in lines(problem)]

    def next_polygon(self, changes: object, first: bool, where: str) -> list[tuple]:
        """Return the polygon of the unit square on which the next letters are optimal; it may be empty."""
        solved = []
        for equations in self.lines:
            changed = equations.read_letters(changes, first, where)
            equations.change_letters(changed, where)
            solved.append(equations.solve(where))
        corners = list(SQUARE)
        for item in range(len(self.lines[0].letters)):
            for plane in self.asked(item, solved):
                corners = cut(corners, plane)
        return corners

    def asked(self, item: int, solved: list) -> list[tuple]:
        """Return what must not be negative where the letter of an item holds."""
        letter = self.lines[0].letters[item]
        sides = [equations.sides(item) for equations in self.lines]
        equal = all(lower == upper for lower, upper, _, _ in sides)
        on_lines = []
        for (values, multipliers), (lower, upper, below, above) in zip(solved, sides, strict=True):
            if letter == "l" and lower == upper and not equal:
                above = exact.ZERO  # the bounds are equal along this line alone: y has one sign
            on_lines.append(
                exact.letter_inequalities(letter, values[item], multipliers[item], lower, upper, below, above)
            )
        same_scale = self.lines[0].denominator == self.lines[1].denominator
        need(same_scale, "both lines have one inverse")
        return [plane_of(pairs) for pairs in zip(*on_lines, strict=True)]


def cut(corners: list[tuple], plane: tuple[int, int, int]) -> list[tuple]:
    """Return the part of a convex polygon in which a plane is not negative."""
    heights = [sum(factor * entry for factor, entry in zip(plane, corner, strict=True)) for corner in corners]
    if all(height >= 0 for height in heights):
        return corners
    result = []
    for number, (corner, height) in enumerate(zip(corners, heights, strict=True)):
        before = corners[number - 1]
        height_before = heights[number - 1]
        if min(height, height_before) < 0 < max(height, height_before):
            result.append(between(before, height_before, corner, height))
        if height >= 0:
            result.append(corner)
    distinct = [corner for number, corner in enumerate(result) if corner != result[number - 1]]
    return distinct if len(distinct) > 2 else []  # a point or a segment has no area


def between(first: tuple, height: int, last: tuple, other_height: int) -> tuple:
    """Return the point between two points where what has heights of opposite signs at them is 0."""
    up = abs(other_height)
    down = abs(height)
    return primitive([up * one + down * other for one, other in zip(first, last, strict=True)])


def primitive(numbers: list[int]) -> tuple:
    """Return integers divided by their greatest common divisor."""
    divisor = math.gcd(*numbers)
    return tuple(number // divisor for number in numbers)


# ---- Section 19, Outside: domain -------------------------------------------------------------------------------------


def domain(problem: dict, outside: list) -> tuple[list[tuple], int]:
    """Return what rays leave of the unit square, one after the other, and how many rays rule something out."""
    left = list(SQUARE)
    given = lines(problem)
    count = 0
    for number, ray in enumerate(outside):
        need(exact.is_list(ray, 2), f"ray {number}: a ray is its kind and its numbers")
        loss = loss_of(given, *ray)
        need(loss is not None, f"ray {number} needs a bound or price that there is not")
        kept = cut(left, loss)
        count += kept != left
        left = kept
    return left, count


def loss_of(given: tuple, kind: str, ray: list) -> tuple | None:
    """Return the number whose sign is proof that there is no minimum, where it is negative."""
    on_lines = []
    for each in given:
        terms = check_ray.terms_of(each, kind, ray)
        if any(pair is None for pair, _ in terms):
            return None
        start = sum(pair[0] * factor for pair, factor in terms)
        rate = sum(pair[1] * factor for pair, factor in terms)
        on_lines.append((start, rate))
    return plane_of(on_lines)


# ---- Section 20, Cover: uncovered ------------------------------------------------------------------------------------


def uncovered(polygons: list[list[tuple]], whole: list[tuple]) -> str:
    """Return where polygons do not cover a polygon once; empty where they do.

    All edges are directed, with their polygon on the left, those of the whole against their direction. On each straight
    line they must cancel: where an edge begins, 1 is added along the line, and where it ends, 1 is taken away, and
    nothing may be left in any place.
    """
    lines_of_edges = {}
    for corners, sign in [*((each, 1) for each in polygons), (whole, -1)]:
        for first, last in pairwise([*corners, corners[0]] if corners else []):
            line = line_through(first, last)
            places = lines_of_edges.setdefault(line, {})
            for corner, step in ((first, sign), (last, -sign)):
                place = place_on(line, corner)
                places[place] = places.get(place, 0) + step
    for line, places in lines_of_edges.items():
        for place, total in places.items():
            if total:
                name = "s" if line[2] else "t"
                return f"edges on the line {rounded_line(line)} do not cancel at {name} = {float(place)!r}"
    return ""


def line_through(first: tuple, last: tuple) -> tuple:
    """Return the line through two points, as three integers that do not depend on which points of it they are."""
    (w, x, y), (other_w, other_x, other_y) = first, last
    line = primitive([x * other_y - y * other_x, y * other_w - w * other_y, w * other_x - x * other_w])
    last_entry = line[2] or line[1]
    return line if last_entry > 0 else tuple(-entry for entry in line)


def place_on(line: tuple, corner: tuple) -> Fraction:
    """Return where on a line a point is: its s, or on a line along which s does not change its t."""
    w, x, y = corner
    return Fraction(x if line[2] else y, w)


def rounded_line(line: tuple) -> str:
    """Return a line in words, with doubles."""
    size = max(map(abs, line))
    start, along_s, along_t = (float(Fraction(entry, size)) for entry in line)
    return f"{start!r} + {along_s!r} s + {along_t!r} t = 0"


# ---- The statement: main ---------------------------------------------------------------------------------------------


def check_map(problem: dict, regions: list, outside: list) -> tuple[int, int, list[tuple]]:
    """Return how many regions have an area, how many rays rule something out, and the polygon that is covered."""
    bound_sizes(problem, regions, outside)
    whole, rays = domain(problem, outside)
    walk = Regions(problem)
    polygons = []
    for number, changes in enumerate(regions):
        corners = walk.next_polygon(changes, number == 0, f"region {number}: ")
        if corners:
            polygons.append(corners)
    need(polygons, "no region has an area")
    why = uncovered(polygons, whole)
    need(not why, f"the regions do not cover what rays leave of the square, once: {why}")
    return len(polygons), rays, whole


def main(file: str, *options: str) -> str:
    """Return the statement that is proved; ArithmeticError, or what reading raises, where it is not."""
    content, about = exact.read(file, "map certificate 1", set(PARTS), *options)
    problem = content["problem"]
    count, rays, whole = check_map(problem, *(content[name] for name in PARTS))
    where = "of the unit square"
    if rays:
        shown = [[float(Fraction(entry, corner[0])) for entry in corner[1:]] for corner in whole]
        where = f"of the polygon with corners near {shown} (on the rest of the unit square there is no minimum)"
    return (
        f"PROVED without rounding: for all s and t {where},\n"
        f"what the file states, on {count} polygons, minimises {exact.WORDS[problem['kind']]}.\n"
        f"What is affine in t there is affine in s and t here, and given at (0, 0), at (1, 0) and at (0, 1).\n"
        f"{about}"
    )


if __name__ == "__main__":
    try:
        print(main(*sys.argv[1:]))
    except Exception as error:
        sys.exit(exact.why_not(error))
