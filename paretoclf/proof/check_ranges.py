"""Checks ranges: what the minimum of a convex quadratic program does where its data move, without rounding.

    python check_ranges.py FILE      (check.py and check_ray.py must lie beside it)

These are sections 21 to 24 of docs/reference/certificate_files.md, in the same order. The program is that of check.py
at one point. The file has movements of its data, each to be made alone, and letters: at the point, and for each
movement to both sides. The checker derives from them the price, which is the derivative of the minimum, how far the
minimum is one polynomial, and what changes there.

All is computed in integers. Along a movement the data are affine in s, which counts from 0 at the point; on the other
side the data move backwards. Whatever is affine in s is a pair, as in check.py.
"""

import copy
import json
import math
import os
import sys
from fractions import Fraction
from typing import NamedTuple

if __package__:
    from paretoclf.proof import check as exact
    from paretoclf.proof import check_ray
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import check as exact
    import check_ray
need = exact.need
Pair = tuple[int, int]

FORMAT = "ranges certificate 1"
PARTS = ("letters", "sides")

#: Fields with one list, at the point; and those that a file of ranges has beside the fields of a program.
AT_POINT = ("q", *exact.SIDES)
OWN_FIELDS = ("constant", "sign", "names", "moves")

#: Sizes beyond which a file is refused before any work.
MOST_ITEMS = 5_000
MOST_MOVES = 100_000
MOST_DIGITS = 400


def bound_sizes(problem: dict, sides: list) -> None:
    """Refuse a file that would take too long, before any work."""
    moves = problem.get("moves")
    need(type(moves) is list and 0 < len(moves) <= MOST_MOVES, "no movements, or too many")
    need(exact.is_list(sides, len(moves)), "each movement must have two sides")
    rows = [problem.get(name) for name in ("K", "A")]
    need(all(type(each) is list and len(each) <= MOST_ITEMS for each in rows), "too many items")
    need(short([*problem.values(), sides], 0), "a number has too many digits, or lists are too deep")


def short(value: object, depth: int) -> bool:
    """Return whether all numbers in a value have few digits, and lists are not deep."""
    if depth > 8:
        return False
    if type(value) is dict:
        return all(short(each, depth + 1) for each in value.values())
    if type(value) is list:
        return all(short(each, depth + 1) for each in value)
    if type(value) is str:
        return depth == 1 or len(value) <= MOST_DIGITS  # a text of the problem itself may be long
    return type(value) is not int or abs(value) < 10**MOST_DIGITS


# ---- Section 21, Movements: standing, movement -----------------------------------------------------------------------


class Standing(NamedTuple):
    """The problem where its data stand."""

    given: exact.WholeProgram  # nothing moves in it; its numbers are in a unit that is fine enough for all movements
    constant: Fraction
    sign: int  # of what the file calls the value
    names: list[str]  # what it calls the items, which is said, not checked


class MovedData(NamedTuple):
    """Data that move on one side of the point."""

    affine: dict[str, list]
    constant: Fraction  # its rate


def standing(problem: dict) -> Standing:
    """Return the problem of a file where its data stand, in integers."""
    need(problem.get("kind") == "program", "ranges are of a program")
    plain = {name: value for name, value in problem.items() if name not in OWN_FIELDS}
    for name in AT_POINT:
        need(exact.is_list(problem.get(name), 1), f"{name} must have one list")
        plain[name] = problem[name] * 2  # nothing moves
    given = exact.program(plain)
    rates = [rates_of(move) for move in problem["moves"]]
    [[constant], *_], unit = exact.integers([[problem.get("constant", 0)], *rates])
    sign = problem.get("sign", 1)
    need(repr(sign) in ("1", "-1"), "sign must be 1 or -1")
    items = len(given.matrix)
    names = problem.get("names", [""] * items)
    need(exact.is_list(names, items) and all(type(name) is str for name in names), "names must be texts, one an item")
    return Standing(in_unit(given, unit), Fraction(constant, unit), sign, names)


def rates_of(move: object) -> list:
    """Return the rates of a movement, which is a name and a list of entries: a field, an item, a rate."""
    need(exact.is_list(move, 2) and type(move[0]) is str, "a movement is a name and its entries")
    entries = move[1]
    need(type(entries) is list and all(exact.is_list(entry, 3) for entry in entries), "an entry is a list of three")
    return [rate for _, _, rate in entries]


def in_unit(given: exact.WholeProgram, unit: int) -> exact.WholeProgram:
    """Return a program with its bounds, prices and q as multiples of a unit that is fine enough for others, too."""
    finer = math.lcm(unit, given.units.numbers)
    factor = finer // given.units.numbers
    affine = {name: [exact.times(factor, pair) for pair in pairs] for name, pairs in given.affine.items()}
    return given._replace(affine=affine, units=given.units._replace(numbers=finer))


def movement(at: Standing, entries: list, direction: int) -> MovedData:
    """Return the data with the rates of a movement, forwards (direction 1) or backwards (-1)."""
    given = at.given
    affine = {name: list(pairs) for name, pairs in given.affine.items()}
    constant = Fraction(0)
    seen = set()
    for field, item, rate in entries:
        known = type(item) is int and type(field) is str and (field, item) not in seen
        need(known, f"no item {item!r:.9}, or one that moves twice")
        seen.add((field, item))
        step = direction * Fraction(rate)
        if field == "constant":
            need(item == 0, "the constant is item 0")
            constant = step
            continue
        count = given.variables if field == "q" else len(given.matrix)
        need(field in ("q", "lower", "upper") and 0 <= item < count, f"nothing moves as {field!r:.9} of item {item}")
        start = affine[field][item]
        need(start is not None, f"item {item} has no {field} bound to move")
        affine[field][item] = (start[0], int(step * unit_of(given, field, item)))
    return MovedData(affine, constant)


def unit_of(given: exact.WholeProgram, field: str, item: int) -> int:
    """Return what a number of an item is multiplied by (`check.WholeProgram`)."""
    units = given.units
    if field == "q":
        return units.numbers * units.rows * units.matrix
    return units.numbers * units.rows * (1 if item < given.variables else units.rows)


# ---- Section 22, Sides: check_side -----------------------------------------------------------------------------------


class RangeSegment(NamedTuple):
    """A segment beside the point."""

    until: Fraction | None  # where the letters end to hold; None where they hold for ever
    minimum: tuple  # three coefficients, by powers of s
    failing: list[int]  # items that end it
    x: list[Fraction]  # rates of the variables
    y: list[Fraction]  # rates of the multipliers
    only_x: bool  # whether x is proved the only optimum inside of the segment
    only_y: bool  # and y


class RangeSide(NamedTuple):
    """What is proved of one side."""

    price: Fraction | None  # the rate of the value for a step away from the point; None where there is no minimum
    bend: Fraction
    until: Fraction | None  # None where it has no end
    after: str  # what changes at the end
    first: RangeSegment | None


def moving(base: exact.LetterEquations, affine: dict) -> exact.LetterEquations:
    """Return the equations of the letters at the point, for data that move."""
    result = copy.copy(base)
    result.given = base.given._replace(affine=affine)
    result.letters = list(base.letters)
    result.in_basis = list(base.in_basis)
    result.known = list(base.known)
    result.load = [list(numbers) for numbers in base.load]  # its rates are 0: at the point nothing moves
    for item, inside in enumerate(base.in_basis):
        said, _ = result.said_of(item, "")
        result.known[item] = said
        if not inside:
            result.add_to_load(1, said[1], item)
    return result


def check_side(at: Standing, base: exact.LetterEquations, moved: MovedData, side: object, where: str) -> RangeSide:
    """Return what is proved of one side of the point."""
    known = type(side) is dict and set(side) in ({"segments"}, {"segments", "next"}, {"segments", "ray"})
    need(known and type(side["segments"]) is list, f"{where}a side has segments, and next or a ray at most")
    equations = moving(base, moved.affine)
    until = Fraction(0)
    segments = []
    for number, changes in enumerate(side["segments"]):
        segment = next_segment(equations, changes, until, f"{where}segment {number}: ")
        need(
            not segments or segment.minimum == segments[0].minimum, f"{where}the minimum bends before the last segment"
        )
        segments.append(segment)
        until = segment.until
        need(until is not None or number == len(side["segments"]) - 1, f"{where}a segment before the last has no end")
    if "ray" in side:
        need(until is not None, f"{where}a ray is for what is beyond an end")
        after = beyond(equations.given, side["ray"], until, where)
    elif "next" in side:
        need(segments and until is not None, f"{where}what comes next is for what is beyond an end")
        before = list(equations.letters)
        found = next_segment(equations, side["next"], until, f"{where}next: ")
        need(found.minimum != segments[-1].minimum, f"{where}the minimum does not bend at the end")
        after = in_words(at.names, before, equations.letters)
    else:
        need(segments and until is None, f"{where}the last segment has an end")
        after = ""
    if not segments:
        return RangeSide(None, Fraction(0), until, after, None)
    _, rate, half_bend = segments[0].minimum
    return RangeSide(at.sign * (rate + moved.constant), at.sign * 2 * half_bend, until, after, segments[0])


def next_segment(equations: exact.LetterEquations, changes: object, s: Fraction, where: str) -> RangeSegment:
    """Return what holds with the next letters from s on; they must hold at s, and on a length."""
    need(type(changes) is list and all(exact.is_list(each, 2) for each in changes), f"{where}changes are a list")
    changed = equations.read_letters(changes, False, where)
    equations.change_letters(changed, where)
    values, multipliers = equations.solve(where)
    until, failing = end_of(equations, values, multipliers, s, where)
    need(until is None or s < until, f"{where}item {min(failing, default=0)} at once violates what its letter asks")
    units = equations.given.units
    unit = units.numbers * units.rows * equations.denominator
    count = equations.given.variables
    x = [Fraction(rate, unit) for _, rate in values[:count]]
    y_units = [unit * units.matrix] * count + [unit * units.matrix // units.rows] * (len(multipliers) - count)
    y = [Fraction(rate, own) for (_, rate), own in zip(multipliers, y_units, strict=True)]
    only_x, only_y = uniqueness(equations, values, multipliers)
    return RangeSegment(until, minimum(equations, values, multipliers), failing, x, y, only_x, only_y)


def end_of(equations: exact.LetterEquations, values: list, multipliers: list, s: Fraction, where: str):
    """Return until when the letters hold that hold at s, None for ever, and the items that end it."""
    until = None
    failing = []
    for item, letter in enumerate(equations.letters):
        sides = equations.sides(item)
        for start, rate in exact.letter_inequalities(letter, values[item], multipliers[item], *sides):
            need(start + rate * s >= 0, f"{where}item {item} violates what {letter} asks")
            if rate >= 0:
                continue
            end = Fraction(start, -rate)
            if until is None or end < until:
                until, failing = end, []
            if end == until:
                failing.append(item)
    return until, failing


def beyond(given: exact.WholeProgram, ray: object, s: Fraction, where: str) -> str:
    """Refuse a ray that does not prove that there is no minimum beyond s; say which kind it is."""
    need(exact.is_list(ray, 2), f"{where}a ray is its kind and its numbers")
    kind, numbers = ray
    terms = check_ray.terms_of(given, kind, numbers)
    need(all(pair is not None for pair, _ in terms), f"{where}the ray needs a bound or price that there is not")
    start = sum(pair[0] * factor for pair, factor in terms)
    rate = sum(pair[1] * factor for pair, factor in terms)
    need(rate < 0 and start + rate * s <= 0, f"{where}the ray proves nothing")
    return f"there is no minimum ({kind})"


def in_words(names: list[str], before: list[str], after: list[str]) -> str:
    """Return which letters change, item by item."""
    changes = []
    for item, (old, new) in enumerate(zip(before, after, strict=True)):
        if old != new:
            name = f" {json.dumps(names[item])}" if names[item] else ""
            changes.append(f"item {item}{name} goes from {old} to {new}")
    return ", ".join(changes)


# ---- Section 23, Values: minimum, uniqueness -------------------------------------------------------------------------


def minimum(equations: exact.LetterEquations, values: list, multipliers: list) -> tuple:
    """Return the minimum as a polynomial in s: three coefficients.

    As the sum of y v is x'Px + q'x, twice the objective is the sum of q v + y v, and twice the penalty of an item is
    2 y (bound - v): q v + y (2 bound - v) item by item.
    """
    twice = [0, 0, 0]
    for item, letter in enumerate(equations.letters):
        lower, upper, _, _ = equations.sides(item)
        bound = (lower if letter in ("b", "l") else upper) or exact.ZERO
        linear = exact.times(equations.denominator, equations.given.affine["q"][item])
        other = exact.minus(exact.times(2, bound), values[item])
        for (start, rate), (factor, slope) in ((linear, values[item]), (multipliers[item], other)):
            twice[0] += start * factor
            twice[1] += start * slope + rate * factor
            twice[2] += rate * slope
    units = equations.given.units
    unit = 2 * units.matrix * (units.numbers * units.rows * equations.denominator) ** 2
    return tuple(Fraction(each, unit) for each in twice)


def uniqueness(equations: exact.LetterEquations, values: list, multipliers: list) -> tuple[bool, bool]:
    """Return whether x, and whether y, is proved to be the only one: nothing that is asked for is 0 all along."""
    only_x = True
    only_y = True
    for item, letter in enumerate(equations.letters):
        lower, upper, below, above = equations.sides(item)
        asked = exact.letter_inequalities(letter, values[item], multipliers[item], lower, upper, below, above)
        if lower is not None and upper is not None:
            asked = asked[1:]  # the first is that the bounds do not cross
        if exact.ZERO not in asked:
            continue
        if letter in ("l", "u"):  # what is asked for is about y
            only_x = False
        else:
            only_y = False
    return only_x, only_y


# ---- The statement: main ---------------------------------------------------------------------------------------------


class Proved(NamedTuple):
    """What is proved: the value at the point, and of each movement both sides, None where the file says nothing."""

    value: Fraction
    sides: list[tuple[RangeSide | None, RangeSide | None]]


def check_ranges(problem: dict, letters: object, sides: list) -> Proved:
    """Return what is proved of each movement."""
    bound_sizes(problem, sides)
    at = standing(problem)
    base = exact.LetterEquations(at.given)
    base.change_letters(base.read_letters(letters, True, "at the point: "), "at the point: ")
    values, multipliers = base.solve("at the point: ")
    end_of(base, values, multipliers, Fraction(0), "at the point: ")
    found = []
    for number, ((_, entries), both) in enumerate(zip(problem["moves"], sides, strict=True)):
        need(exact.is_list(both, 2), f"movement {number} must have two sides")
        of_both = []
        for direction, side in zip((-1, 1), both, strict=True):
            where = f"movement {number}, {'below' if direction < 0 else 'above'}: "
            moved = movement(at, entries, direction)
            of_both.append(None if side is None else check_side(at, base, moved, side, where))
        found.append(tuple(of_both))
    return Proved(at.sign * (minimum(base, values, multipliers)[0] + at.constant), found)


def side_in_words(side: RangeSide | None, direction: int, with_rates: bool) -> str:
    """Return what is proved of one side, with the doubles next to it."""
    name = "below" if direction < 0 else "above"
    if side is None:
        return f"{name}: nothing is said"
    if side.price is None:
        return f"{name}: {side.after} at once"
    price = float(direction * side.price) + 0.0
    bend = f", which changes by {float(side.bend)!r} a unit" if side.bend else ""
    if side.until is None:
        words = f"{name}: price {price!r}{bend}, without end"
    else:
        words = f"{name}: price {price!r}{bend}, for {float(side.until)!r}, where {side.after}"
    if not with_rates:
        return words
    end = "without end" if side.first.until is None else f"for {float(side.first.until)!r}"
    for vector, rates, only in (("x", side.first.x, side.first.only_x), ("y", side.first.y, side.first.only_y)):
        shown = [float(direction * rate) + 0.0 for rate in rates]
        alone = "the only one" if only else "not proved the only one"
        words += f"\n    rates of {vector}, {alone}, {end}: {shown}"
    return words


def main(file: str, *options: str) -> str:
    """Return the statement that is proved; ArithmeticError, or what reading raises, where it is not."""
    content, about = exact.read(file, FORMAT, set(PARTS), *options)
    problem = content["problem"]
    proved = check_ranges(problem, *(content[name] for name in PARTS))
    lines = []
    for (name, _), both in zip(problem["moves"], proved.sides, strict=True):
        lines.append(f"{json.dumps(name)}:")
        for direction, side in zip((-1, 1), both, strict=True):
            lines.append(f"  {side_in_words(side, direction, len(proved.sides) == 1)}")
    of_value = "minus the minimum" if problem.get("sign", 1) < 0 else "the minimum"
    listed = "\n".join(lines)
    count = len(proved.sides)
    return (
        f"PROVED without rounding: V, {of_value} of x'Px / 2 + q'x + penalties + constant,\n"
        f"is {float(proved.value)!r}, as a double, where the data of the file stand. Along each of {count} movements\n"
        f"V is one polynomial for so many units, and the price is its derivative at the point:\n"
        f"{listed}\n"
        f"What movements and items are called is said, not checked.\n"
        f"{about}"
    )


if __name__ == "__main__":
    try:
        print(main(*sys.argv[1:]))
    except Exception as error:
        sys.exit(exact.why_not(error))
