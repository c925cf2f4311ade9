"""Checks a band: how far the points of a file are from the minimum of a convex cone program, for all t from 0 on.

    python check_band.py FILE      (check.py must lie beside it)

These are sections 12 to 16 of docs/reference/certificate_files.md, in the same order. The program:

    minimise f(x) = x'Px / 2 + q'x + c   where   s = b - Ax is in K,

K a product of cones, and P, q, c, A, b affine in t. The file has points x and multipliers y, z at some t; between two
of them all three are affine in t. Nothing in it need hold exactly but for signs: what points miss of an equation, and
multipliers of Py + q + A'z = 0, is made good by a correction of which only the size is computed. Two matrices of the
file, B and C, say how large it can be; they need not be trusted, as it is checked that BN and A_e C are near I.

All is computed in integers: numbers of the file are multiplied by a power of two, the unit D, which makes all of them
whole. A product of k of them is then a whole number of 1 / D^k, and the comments say which k.
"""

import math
import os
import sys
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

if __package__:
    from paretoclf.proof import check as exact
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import check as exact
need = exact.need
dot = exact.dot

KINDS = ("zero", "nonnegative", "second-order", "semidefinite", "exponential")  # and "power"
FIELDS = {"kind", "P", "A", "q", "b", "constant", "cones", "until"}
PARTS = ("B", "C", "scale", "points")
WORDS = "x'Px / 2 + q(t)'x + constant(t) where b(t) - Ax is in the cones"

#: Sizes beyond which a file is refused before any work.
MOST_ROWS = 10_000
MOST_POINTS = 100_000
MOST_WORK = 10**9
MOST_ORDER = 200  # of a semidefinite cone
MOST_ROOT = 64  # denominator of a power
MOST_BITS = 400  # of a number, before and behind the point

#: Bits that are kept of bounds of e^r; and bits of the bounds of the root of 2.
KEPT = 192
ROOT_BITS = 256

#: Exponents beyond this are not computed: e to this is more than 2^2885.
MOST_EXPONENT = 2000

#: How often a polynomial is halved before its largest coefficient is taken.
HALVED = 4


# ---- Section 12, Cone programs: line ---------------------------------------------------------------------------------


class ConeRows(NamedTuple):
    """Rows of one cone."""

    kind: str
    begin: int
    end: int
    order: int  # of a semidefinite cone, the number of rows of the matrix
    power: tuple  # p and q of the exponent p / q of a power cone


class WholeLine(NamedTuple):
    """A problem in whole numbers of 1 / unit. What is affine in t is given at t = 0, with its rate."""

    unit: int
    P: list  # of each row entries (column, at t = 0, rate)
    A: list
    q: tuple
    b: tuple
    constant: tuple
    blocks: list
    equations: list  # numbers of the rows of equations
    others: list
    moves: bool  # whether a coefficient of A moves
    until: int


def line(problem: dict, unit: int) -> WholeLine:
    """Return the problem of a file in integers; P(0) and P(1) are proved positive semidefinite."""
    need(problem.keys() - {"about"} == FIELDS and problem["kind"] == "cone program", "wrong fields")
    need(type(problem.get("about", "")) is str, "about must be a text")
    columns = len(problem["q"][0])
    rows = len(problem["b"][0])
    blocks = blocks_of(problem["cones"], rows)
    P = sparse(problem["P"], columns, columns, unit)
    need(all(column <= row for row, entries in enumerate(P) for column, _, _ in entries), "P is a lower triangle")
    upper = [[] for _ in P]
    for row, entries in enumerate(P):
        for column, start, rate in entries:
            if column < row:
                upper[column].append((row, start, rate))
    P = [own + others for own, others in zip(P, upper, strict=True)]
    need(semidefinite(P, 0) and semidefinite(P, 1), "P is not proved positive semidefinite")
    A = sparse(problem["A"], rows, columns, unit)
    q = both_ends(problem["q"], columns, unit)
    b = both_ends(problem["b"], rows, unit)
    constant = both_ends([[end] for end in problem["constant"]], 1, unit)
    equations = [row for block in blocks if block.kind == "zero" for row in range(block.begin, block.end)]
    others = sorted(set(range(rows)) - set(equations))
    moves = any(rate for entries in A for _, _, rate in entries)
    until = whole(problem["until"], unit)
    need(0 < until <= unit, "until must be above 0, and 1 at most")
    return WholeLine(unit, P, A, q, b, constant, blocks, equations, others, moves, until)


def blocks_of(cones: list, rows: int) -> list[ConeRows]:
    """Return the cones with the rows of each, which are all rows, once."""
    need(type(cones) is list, "no list of cones")
    blocks = []
    begin = 0
    for cone in cones:
        need(exact.is_list(cone, 2), "a cone is a kind and a number")
        kind, given = cone
        order = size = 3
        power = (1, 2)
        if kind == "power":
            power = power_of(given)
        else:
            need(type(given) is int and 1 <= given <= MOST_ROWS, "the order of a cone must be a whole number")
            need(
                kind in ("zero", "nonnegative", "second-order", "semidefinite", "exponential"), f"no cone {kind!r:.20}"
            )
            need(kind != "semidefinite" or given <= MOST_ORDER, "a semidefinite cone is too large")
            need(kind != "exponential" or given == 3, "an exponential cone has 3 rows")
            order = given
            size = given * (given + 1) // 2 if kind == "semidefinite" else given
        blocks.append(ConeRows(kind, begin, begin + size, order, power))
        begin += size
    need(begin == rows, f"the cones have {begin} rows, and b has {rows}")
    return blocks


def power_of(text: object) -> tuple[int, int]:
    """Return p and q of an exponent p / q strictly between 0 and 1, with q not large."""
    need(type(text) is str and len(text) <= 5 and text.count("/") == 1, "a power must be a text such as 1/3")
    first, last = text.split("/")
    need(first.isdecimal() and last.isdecimal() and text.isascii(), "a power must be a text such as 1/3")
    need(0 < int(first) < int(last) <= MOST_ROOT, f"a power must lie between 0 and 1, with at most {MOST_ROOT} below")
    return int(first), int(last)


def sparse(rows: list, count: int, columns: int, unit: int) -> list:
    """Return rows of a matrix with entries `[column, number]`, or `[column, number at t = 0, number at t = 1]`."""
    need(exact.is_list(rows, count) and all(type(row) is list for row in rows), "a matrix has the wrong shape")
    result = []
    for row in rows:
        entries = []
        for entry in row:
            need(type(entry) is list and len(entry) in (2, 3), "an entry is a column and one number or two")
            column, first, *last = entry
            need(type(column) is int and 0 <= column < columns, "a matrix has the wrong shape")
            start = whole(first, unit)
            end = whole(last[0], unit) if last else start
            entries.append((column, start, end - start))
        need(len({column for column, _, _ in entries}) == len(entries), "two entries in one place")
        result.append(entries)
    return result


def both_ends(ends: list, size: int, unit: int) -> tuple:
    """Return a vector that is affine in t: at t = 0, and its rate."""
    first, last = numbers_at(ends, 2, size, unit)
    return first, [stop - start for start, stop in zip(first, last, strict=True)]


def numbers_at(lists: list, count: int, size: int, unit: int) -> list:
    """Return lists of numbers in whole numbers of 1 / unit; their count and length are asked for."""
    fit = exact.is_list(lists, count) and all(exact.is_list(each, size) for each in lists)
    need(fit, "a vector has the wrong length")
    return [[whole(number, unit) for number in each] for each in lists]


def whole(number: float, unit: int) -> int:
    """Return a number times the unit."""
    numerator, denominator = number.as_integer_ratio()
    return numerator * (unit // denominator)


def unit_of(value: object, depth: int = 0) -> int:
    """Return the largest denominator of the numbers in a value, all of which are powers of two and bounded."""
    need(depth < 6, "lists in lists in lists")
    if type(value) is list:
        return max((unit_of(each, depth + 1) for each in value), default=1)
    if type(value) is str or value is None:
        return 1
    need(type(value) in (int, float) and abs(value) < 2**MOST_BITS, "no number, or one that is too large")
    denominator = value.as_integer_ratio()[1]
    need(denominator <= 2**MOST_BITS, "a number has too many digits")
    return denominator


def semidefinite(P: list, end: int) -> bool:
    """Return whether P is proved positive semidefinite at t = 0 or at t = 1; rows without entries are left out."""
    used = [row for row, entries in enumerate(P) if entries]
    place = {row: number for number, row in enumerate(used)}
    dense = [[0] * len(used) for _ in used]
    for row in used:
        for column, start, rate in P[row]:
            dense[place[row]][place[column]] = start + end * rate
    return not used or exact.semidefinite(dense)


# ---- Section 13, Inverses: inverses ----------------------------------------------------------------------------------


class Inverses(NamedTuple):
    """B', in rows as N = [P; A] has them, and C, with what their distance from an inverse adds to a correction."""

    B: list
    C: list
    scale: list  # one number a column, above 0, in which residuals are measured
    more: Fraction  # theta / (1 - theta) of B
    more_of_equations: Fraction  # the same of C


def inverses(given: WholeLine, B: list, C: list, scale: list) -> Inverses:
    """Return both with their theta, which must be less than 1 at both ends of the line, hence everywhere on it."""
    unit = given.unit
    columns = len(given.P)
    B = sparse(B, columns + len(given.A), columns, unit)
    C = sparse(C, columns, len(given.equations), unit)
    need(not any(rate for row in B + C for _, _, rate in row), "an inverse does not move")
    [scale] = numbers_at([scale], 1, columns, unit)
    need(min(scale) > 0, "a scale must be above 0")
    ones = [1] * len(given.equations)
    thetas = [off_identity(left_product(given, B, end), scale, unit) for end in (0, 1)]
    thetas_of_equations = [off_identity(right_product(given, C, end), ones, unit) for end in (0, 1)]
    theta = max(thetas)
    theta_of_equations = max(thetas_of_equations)
    need(theta < 1, f"B is no left inverse of P above A: theta = {float(theta):.3g}")
    need(theta_of_equations < 1, f"C is no right inverse of the equations: theta = {float(theta_of_equations):.3g}")
    return Inverses(B, C, scale, theta / (1 - theta), theta_of_equations / (1 - theta_of_equations))


def left_product(given: WholeLine, B: list, end: int) -> list[dict]:
    """Return N'B' at t = 0 or 1, by rows."""
    rows = [{} for _ in given.P]
    for of_N, of_B in zip(given.P + given.A, B, strict=True):
        add_products(rows, of_N, of_B, end)
    return rows


def right_product(given: WholeLine, C: list, end: int) -> list[dict]:
    """Return A_e C at t = 0 or 1, by rows: A_e has the rows of equations."""
    rows = [{} for _ in given.equations]
    for number, equation in enumerate(given.equations):
        for column, start, rate in given.A[equation]:
            add_products(rows, [(number, start, rate)], C[column], end)
    return rows


def add_products(sums: list[dict], left: list, right: list, end: int) -> None:
    """Add to the sums, given by rows, each product of an entry at t = 0 or 1 on the left and one on the right."""
    for row, start, rate in left:
        factor = start + end * rate
        for column, other, _ in right:
            sums[row][column] = sums[row].get(column, 0) + factor * other


def off_identity(rows: list[dict], scale: list[int], unit: int) -> Fraction:
    """Return theta: of all rows of a matrix minus I the largest sum of absolute values, in the scale.

    The matrix is given in 1 / unit^2.
    """
    largest = Fraction(0)
    for number, row in enumerate(rows):
        total = 0
        for column, entry in (row | {number: row.get(number, 0) - unit**2}).items():
            total += abs(entry) * scale[column]
        largest = max(largest, Fraction(total, scale[number]))
    return largest / unit**2


def correction(matrix: list, missed: list[int], scale: list[int], more: Fraction, unit: int) -> list[int]:
    """Return bounds of a correction, |matrix| (missed + more max(missed)), rounded up to whole numbers of 1 / unit.

    The maximum is taken in the scale. `missed` is twice as large as what is missed, in 1 / unit^3.
    """
    largest = max((Fraction(each, of) for each, of in zip(missed, scale, strict=True)), default=Fraction(0))
    share = more * largest
    sizes = [each + rounded_up(share.numerator * of, share.denominator) for each, of in zip(missed, scale, strict=True)]
    result = []
    for row in matrix:
        total = sum(abs(entry) * sizes[column] for column, entry, _ in row)
        result.append(rounded_up(total, 2 * unit**3))
    return result


def rounded_up(numerator: int, denominator: int) -> int:
    """Return the least whole number that is no less than a quotient."""
    return -(-numerator // denominator)


# ---- Section 14, Cones: inside ---------------------------------------------------------------------------------------


def inside(block: ConeRows, values: list[int], radius: list[int], dual: bool) -> bool:
    """Return whether all vectors within a radius of the values, entry by entry, are in a cone, or in its dual.

    The units are of no matter, as multiples of a vector are in the same cones.
    """
    if block.kind == "zero":
        return dual or not (any(values) or any(radius))
    if block.kind == "nonnegative":
        return all(value >= reach for value, reach in zip(values, radius, strict=True))
    if block.kind == "second-order":
        return inside_second_order(values, radius)
    if block.kind == "semidefinite":
        return inside_semidefinite(block.order, values, radius)
    if block.kind == "exponential":
        return inside_exponential(values, radius, dual)
    return inside_power(block.power, values, radius, dual)


def inside_second_order(values: list[int], radius: list[int]) -> bool:
    """Return whether the least first entry is no less than the largest length of the others; it is its own dual."""
    least = values[0] - radius[0]
    squares = [(abs(value) + reach) ** 2 for value, reach in zip(values[1:], radius[1:], strict=True)]
    return least >= 0 and least**2 >= sum(squares)


def inside_semidefinite(order: int, values: list[int], radius: list[int]) -> bool:
    """Return whether the least eigenvalue is no less than what the radius can take away; it is its own dual.

    The vector has the upper triangle, column by column, with entries off the diagonal times the root of 2. A root of
    1/2, rounded down, takes its place, and what it misses joins the radius. No eigenvalue moves by more than the
    largest sum of a row of the changes.
    """
    scale = 1 << ROOT_BITS
    root = math.isqrt(scale * scale // 2)  # of 1/2, times scale; less than 1 too small
    matrix = [[0] * order for _ in range(order)]
    change = [0] * order
    place = 0
    for column in range(order):
        for row in range(column + 1):
            value = values[place]
            reach = radius[place]
            place += 1
            if row == column:
                matrix[row][row] = value * scale
                change[row] += reach * scale
                continue
            matrix[row][column] = matrix[column][row] = value * root
            most = abs(value) + reach * (root + 1)
            change[row] += most
            change[column] += most
    largest = max(change)
    for row in range(order):
        matrix[row][row] -= largest
    return exact.semidefinite(matrix)


def inside_exponential(values: list[int], radius: list[int], dual: bool) -> bool:
    """Return whether both extreme corners are inside: y e^(x/y) <= z, and of the dual -u e^(v/u - 1) <= w with u < 0.

    Less x, and more z, stay inside; of the dual more v, and more w. What is left is one entry between two ends, and a
    cone that has two vectors has all between them.
    """
    first, second, third = values
    of_first, of_second, of_third = radius
    if dual:
        corners = [(first + sign * of_first, second - of_second, third - of_third) for sign in (1, -1)]
        return all(in_dual_exponential(*corner) for corner in corners)
    corners = [(first + of_first, second + sign * of_second, third - of_third) for sign in (1, -1)]
    return all(in_exponential(*corner) for corner in corners)


def in_exponential(x: int, y: int, z: int) -> bool:
    """Return whether y > 0 and y e^(x/y) <= z is proved, or y = 0, x <= 0 and z >= 0."""
    if y == 0:
        return x <= 0 and z >= 0
    return y > 0 and z > 0 and exponential_at_most(Fraction(x, y), Fraction(z, y))


def in_dual_exponential(u: int, v: int, w: int) -> bool:
    """Return whether u < 0 and -u e^(v/u - 1) <= w is proved, or u = 0, v >= 0 and w >= 0."""
    if u == 0:
        return v >= 0 and w >= 0
    return u < 0 and w > 0 and exponential_at_most(Fraction(v, u) - 1, Fraction(w, -u))


def exponential_at_most(r: Fraction, limit: Fraction) -> bool:
    """Return whether e^r <= limit is proved.

    r is divided by a power of two until it is within 1/2, and rounded up; then e^r is at most a sum of Taylor's series
    and twice the next term's size, and it is squared as often as r was halved. Each number is rounded up to a mantissa
    of so many bits, with an exponent.
    """
    if r > MOST_EXPONENT:  # beyond what quotients of numbers of the file can be
        return False
    r = max(r, Fraction(-MOST_EXPONENT))
    halvings = 0
    while abs(r) > Fraction(1 << halvings, 2):
        halvings += 1
    scale = 1 << KEPT
    small = rounded_up(r.numerator * scale, r.denominator << halvings)  # r / 2^halvings in 1 / scale
    total = term = scale
    size = scale
    count = 0
    while size:
        count += 1
        term = rounded_up(term * small, scale * count)
        size = rounded_up(size * abs(small), scale * count) if size > 1 else 0
        total += term
    # Each term is off by 2 / scale at most, as half of what the one before is off goes into it, and its own rounding.
    mantissa = total + 2 * count + 2  # the terms that are left add up to less than 2
    exponent = KEPT
    for _ in range(halvings):
        mantissa = mantissa**2
        exponent *= 2
        spare = max(0, mantissa.bit_length() - KEPT)
        mantissa = rounded_up(mantissa, 1 << spare)
        exponent -= spare
    bound = Fraction(mantissa << max(0, -exponent), 1 << max(0, exponent))
    return bound <= limit


def inside_power(power: tuple, values: list[int], radius: list[int], dual: bool) -> bool:
    """Return whether x^p y^(q-p) >= |z|^q at the worst corner; of the dual x and y are divided by p/q and 1 - p/q."""
    p, q = power
    x, y = (value - reach for value, reach in zip(values[:2], radius[:2], strict=True))
    z = abs(values[2]) + radius[2]
    if x < 0 or y < 0:
        return False
    if dual:  # all three times p (q - p)
        x *= q * (q - p)
        y *= q * p
        z *= p * (q - p)
    return x**p * y ** (q - p) >= z**q


# ---- Section 15, Pairs: WholePair ------------------------------------------------------------------------------------


class WholePair(NamedTuple):
    """A point and multipliers at one t, and products with both matrices: at t = 0, and their rates, in 1 / unit^2."""

    t: int
    x: list
    z: list
    apart: list  # x - y
    Ax: tuple
    back: tuple  # Py + A'z
    Px: tuple
    P_apart: tuple


def pair_of(given: WholeLine, point: list, where: str) -> WholePair:
    """Return a point of the file with its products; y is x where the file has null."""
    need(exact.is_list(point, 4), f"{where}a point is t, x, y and z")
    t, x, y, z = point
    columns = len(given.P)
    t = whole(t, given.unit)
    [x] = numbers_at([x], 1, columns, given.unit)
    [y] = [x] if y is None else numbers_at([y], 1, columns, given.unit)
    [z] = numbers_at([z], 1, len(given.A), given.unit)
    apart = [left - right for left, right in zip(x, y, strict=True)]
    back = tuple(map(plus, times(given.P, y), times_transposed(given.A, z, columns)))
    return WholePair(t, x, z, apart, times(given.A, x), back, times(given.P, x), times(given.P, apart))


def times(matrix: list, vector: list) -> tuple[list, list]:
    """Return the product of a matrix and a vector: at t = 0, and its rate."""
    start = [sum(entry * vector[column] for column, entry, _ in row) for row in matrix]
    rate = [sum(entry * vector[column] for column, _, entry in row if entry) for row in matrix]
    return start, rate


def times_transposed(matrix: list, vector: list, columns: int) -> tuple[list, list]:
    """Return the product of a transposed matrix and a vector: at t = 0, and its rate."""
    start = [0] * columns
    rate = [0] * columns
    for row, factor in zip(matrix, vector, strict=True):
        if factor:
            for column, of_start, of_rate in row:
                start[column] += of_start * factor
                rate[column] += of_rate * factor
    return start, rate


def plus(left: list, right: list) -> list:
    """Return the sum of two vectors."""
    return [one + other for one, other in zip(left, right, strict=True)]


def at(affine: tuple, t: int, unit: int) -> list:
    """Return what is affine in t at t, in one more 1 / unit."""
    return [unit * start + t * rate for start, rate in zip(*affine, strict=True)]


def twice_slack(given: WholeLine, one: WholePair, other: WholePair) -> list:
    """Return b - Ax with b and A of each pair and x of the other, and their sum: in 1 / unit^3, twice what s is.

    Of a pair with itself this is twice its s. Of two it is twice the middle Bernstein coefficient of s between them.
    """
    unit = given.unit
    total = [0] * len(given.A)
    for of_data, of_point in ((one, other), (other, one)):
        sides = [unit * side for side in at(given.b, of_data.t, unit)]
        product = at(of_point.Ax, of_data.t, unit)
        total = [before + side - entry for before, side, entry in zip(total, sides, product, strict=True)]
    return total


def twice_residual(given: WholeLine, one: WholePair, other: WholePair) -> list:
    """Return Py + q + A'z in the same way."""
    unit = given.unit
    total = [0] * len(given.P)
    for of_data, of_point in ((one, other), (other, one)):
        costs = [unit * cost for cost in at(given.q, of_data.t, unit)]
        total = plus(total, plus(costs, at(of_point.back, of_data.t, unit)))
    return total


# ---- Section 16, Pieces: band ----------------------------------------------------------------------------------------


class Radii(NamedTuple):
    """Bounds of the corrections of a piece, at every t of it, in 1 / unit."""

    x: list
    slack: list  # of the rows that are no equations; 0 for equations
    y: list
    z: list


class ProvedPiece(NamedTuple):
    """What is proved of a piece: between which numbers V is, and how far the file's points are from it at most."""

    low: Fraction
    high: Fraction
    width: Fraction


def radii_of(given: WholeLine, both: Inverses, first: WholePair, last: WholePair) -> Radii:
    """Return bounds of the corrections between two pairs.

    Residuals are of degree two there, and no larger than the largest of their Bernstein coefficients.
    """
    unit = given.unit
    columns = len(given.P)
    slacks = [twice_slack(given, *each) for each in ((first, first), (first, last), (last, last))]
    residuals = [twice_residual(given, *each) for each in ((first, first), (first, last), (last, last))]
    missed = largest(residuals)
    missed_rows = largest(slacks)
    missed_rows = [missed_rows[row] for row in given.equations]
    ones = [1] * len(missed_rows)
    x = correction(both.C, missed_rows, ones, both.more_of_equations, unit)
    of_both = correction(both.B, missed, both.scale, both.more, unit)
    slack = [rounded_up(each, unit) for each in times_absolute(given.A, x)]
    for row in given.equations:
        slack[row] = 0
    return Radii(x, slack, of_both[:columns], of_both[columns:])


def largest(vectors: list) -> list:
    """Return the largest absolute values, entry by entry."""
    return [max(map(abs, entries)) for entries in zip(*vectors, strict=True)]


def times_absolute(matrix: list, vector: list) -> list:
    """Return the product of the larger absolute values of a matrix, at t = 0 and 1, and a vector."""
    result = []
    for row in matrix:
        terms = [max(abs(start), abs(start + rate)) * vector[column] for column, start, rate in row]
        result.append(sum(terms))
    return result


def leaves(given: WholeLine, values: list, radius: list, dual: bool) -> str:
    """Return the kind and the rows of the first cone that a vector within a radius of the values may leave."""
    for block in given.blocks:
        if block.kind == "zero":
            continue  # equations are met by the correction, and their multipliers are free
        rows = slice(block.begin, block.end)
        if not inside(block, values[rows], radius[rows], dual):
            return f"{block.kind} cone of rows {block.begin} to {block.end - 1}"
    return ""


def why_pair_fails(given: WholeLine, pair: WholePair, radii: list[Radii]) -> str:
    """Return what is wrong with a pair, given the radii of the pieces beside it; empty if nothing is."""
    of_slack = largest([each.slack for each in radii])
    of_z = largest([each.z for each in radii])
    out = slack_leaves(given, pair, pair, of_slack)
    if out:
        return f"b - Ax leaves the {out}"
    out = leaves(given, pair.z, of_z, True)
    return f"z leaves the dual of the {out}" if out else ""


def slack_leaves(given: WholeLine, first: WholePair, last: WholePair, radius: list) -> str:
    """Return which cone twice the slack of two pairs may leave."""
    scale = 2 * given.unit**2
    return leaves(given, twice_slack(given, first, last), [scale * each for each in radius], False)


def why_piece_fails(given: WholeLine, first: WholePair, last: WholePair, radii: Radii) -> str:
    """Return what is wrong between two pairs whose own slacks are in the cones; empty if nothing is."""
    if not given.moves:
        return ""  # s is affine: it is between those of the pairs
    out = slack_leaves(given, first, last, radii.slack)
    return f"the middle coefficient of b - Ax leaves the {out}" if out else ""


def piece(given: WholeLine, first: WholePair, last: WholePair, radii: Radii) -> ProvedPiece:
    """Return what is proved between two pairs that are in their cones."""
    gap = gap_coefficients(given, first, last)
    more, moved = corrections(given, first, last, radii)
    width = most(gap) + more + moved
    objective = objective_coefficients(given, first, last)
    low = -most([-each for each in objective])
    return ProvedPiece(low - width, most(objective) + moved, width)


def gap_coefficients(given: WholeLine, first: WholePair, last: WholePair) -> list[Fraction]:
    """Return the four Bernstein coefficients of e'Pe / 2 + z's between two pairs, e = x - y; of equations s is 0."""
    unit = given.unit
    slacks = [twice_slack(given, *each) for each in ((first, first), (first, last), (last, last))]
    slacks = [[slack[row] for row in given.others] for slack in slacks]
    z = [[pair.z[row] for row in given.others] for pair in (first, last)]
    of_slacks = [
        dot(z[0], slacks[0]),
        Fraction(dot(z[1], slacks[0]) + 2 * dot(z[0], slacks[1]), 3),
        Fraction(dot(z[0], slacks[2]) + 2 * dot(z[1], slacks[1]), 3),
        dot(z[1], slacks[2]),
    ]
    energy = cubic(given, first, last, "apart", "P_apart")
    return [Fraction(slack) / (2 * unit**4) + half for slack, half in zip(of_slacks, energy, strict=True)]


def cubic(given: WholeLine, first: WholePair, last: WholePair, vector: str, product: str) -> list[Fraction]:
    """Return the four Bernstein coefficients of v'Pv / 2 where v and P are affine between two pairs."""
    values = {}
    for one, v in enumerate((getattr(first, vector), getattr(last, vector))):
        for other, Pv in enumerate((getattr(first, product), getattr(last, product))):
            for at_end, t in enumerate((first.t, last.t)):
                values[one, other, at_end] = dot(v, at(Pv, t, given.unit))
    four = [
        values[0, 0, 0],
        Fraction(values[0, 0, 1] + 2 * values[0, 1, 0], 3),
        Fraction(values[1, 1, 0] + 2 * values[0, 1, 1], 3),
        values[1, 1, 1],
    ]
    return [Fraction(each) / (2 * given.unit**4) for each in four]


def objective_coefficients(given: WholeLine, first: WholePair, last: WholePair) -> list[Fraction]:
    """Return the four Bernstein coefficients of f(x) between two pairs."""
    unit = given.unit
    costs = [at(given.q, pair.t, unit) for pair in (first, last)]
    own = [dot(cost, pair.x) for cost, pair in zip(costs, (first, last), strict=True)]
    across = dot(costs[0], last.x) + dot(costs[1], first.x)
    linear = [own[0], Fraction(own[0] + across, 3), Fraction(own[1] + across, 3), own[1]]
    begin, end = (at(given.constant, pair.t, unit)[0] for pair in (first, last))
    constant = [begin, Fraction(2 * begin + end, 3), Fraction(begin + 2 * end, 3), end]
    result = []
    for of_linear, of_constant, half in zip(linear, constant, cubic(given, first, last, "x", "Px"), strict=True):
        result.append(Fraction(of_linear) / unit**3 + Fraction(of_constant) / unit**2 + half)
    return result


def corrections(given: WholeLine, first: WholePair, last: WholePair, radii: Radii) -> tuple[Fraction, Fraction]:
    """Return how much larger the gap of the corrected points can be, and how far f of theirs is from that of x."""
    unit = given.unit
    slacks = [twice_slack(given, *each) for each in ((first, first), (first, last), (last, last))]
    sizes = largest(slacks)
    multipliers = largest([first.z, last.z])
    of_slacks = Fraction(0)
    for row in given.others:
        reach = Fraction(radii.z[row] * sizes[row], 2 * unit**4)
        moved = Fraction((multipliers[row] + radii.z[row]) * radii.slack[row], unit**2)
        of_slacks += reach + moved
    both = plus(radii.x, radii.y)
    apart = largest([first.apart, last.apart])
    of_energy = dot(both, times_absolute(given.P, apart)) + Fraction(dot(both, times_absolute(given.P, both)), 2)
    slopes = times_absolute(given.P, largest([first.x, last.x]))
    costs = largest([at(given.q, pair.t, unit) for pair in (first, last)])  # in 1 / unit^2, as the slopes
    moved = dot(radii.x, plus(slopes, costs)) + Fraction(dot(radii.x, times_absolute(given.P, radii.x)), 2)
    return of_slacks + of_energy / unit**3, moved / unit**3


def most(coefficients: list[Fraction]) -> Fraction:
    """Return an upper bound of a polynomial on [0, 1]: the largest of its coefficients on each of 16 parts."""
    parts = [coefficients]
    for _ in range(HALVED):
        halves = []
        for part in parts:
            halves.extend(halved(part))
        parts = halves
    return max(max(part) for part in parts)


def halved(coefficients: list[Fraction]) -> tuple[list, list]:
    """Return the coefficients of a polynomial on both halves of its interval: means of neighbours, and so on."""
    left = []
    right = []
    row = coefficients
    while row:
        left.append(row[0])
        right.append(row[-1])
        row = [(one + other) / 2 for one, other in pairwise(row)]
    return left, right[::-1]


def band(problem: dict, B: list, C: list, scale: list, points: list) -> tuple[WholeLine, list[ProvedPiece]]:
    """Return the problem in integers, and what is proved on each piece; the pieces cover [0, until]."""
    need(type(points) is list and 2 <= len(points) <= MOST_POINTS, "there must be two points or more")
    bound_sizes(problem, points)
    unit = max(map(unit_of, [*problem.values(), B, C, scale, points]))
    given = line(problem, unit)
    both = inverses(given, B, C, scale)
    pairs = [pair_of(given, point, f"point {number}: ") for number, point in enumerate(points)]
    need(pairs[0].t == 0 and pairs[-1].t == given.until, "the points must begin at t = 0 and end at `until`")
    radii = []
    for number, (first, last) in enumerate(pairwise(pairs)):
        need(first.t < last.t, f"point {number + 1}: t must increase")
        radii.append(radii_of(given, both, first, last))
    for number, pair in enumerate(pairs):
        why = why_pair_fails(given, pair, radii[max(0, number - 1) : number + 1])
        need(not why, f"point {number}, at t = {pair.t / unit!r}: {why}")
    found = []
    for number, (first, last) in enumerate(pairwise(pairs)):
        why = why_piece_fails(given, first, last, radii[number])
        need(not why, f"behind point {number}, from t = {first.t / unit!r}: {why}")
        found.append(piece(given, first, last, radii[number]))
    return given, found


def bound_sizes(problem: dict, points: list) -> None:
    """Refuse a file that would take too long, before any work."""
    need(all(type(problem.get(name)) is list for name in ("P", "A", "q", "b")), "wrong fields")
    need(all(exact.is_list(problem[name], 2) and type(problem[name][0]) is list for name in ("q", "b")), "wrong fields")
    columns = len(problem["q"][0])
    rows = len(problem["b"][0])
    need(1 <= columns <= MOST_ROWS and 1 <= rows <= MOST_ROWS, "too many rows or columns, or none")
    entries = sum(len(row) for row in problem["P"] + problem["A"] if type(row) is list)
    need((entries + rows + columns) * len(points) <= MOST_WORK, "the file is too large")


# ---- The statement: main ---------------------------------------------------------------------------------------------


def share_of(pieces: list[ProvedPiece]) -> Fraction | None:
    """Return the largest width of a piece relative to the least |V| that it can have; None where that may be 0."""
    sizes = [max(each.low, -each.high) for each in pieces]
    if min(sizes) <= 0:
        return None
    return max(each.width / size for each, size in zip(pieces, sizes, strict=True))


def rounded(value: Fraction, towards: float) -> float:
    """Return a double on that side of a fraction."""
    near = float(value)
    return near if near == value else math.nextafter(near, towards)


def main(file: str, *options: str) -> str:
    """Return the statement that is proved; ArithmeticError, or what reading raises, where it is not."""
    content, about = exact.read(file, "band certificate 1", set(PARTS), *options)
    given, pieces = band(content["problem"], *(content[name] for name in PARTS))
    width = max(each.width for each in pieces)
    share = share_of(pieces)
    relative = "nothing relative to V, which may be 0" if share is None else f"{rounded(share, math.inf)!r} of |V|"
    ends = [[rounded(each.low, -math.inf), rounded(each.high, math.inf)] for each in (pieces[0], pieces[-1])]
    return (
        f"PROVED without rounding: for every t in [0, {given.until / given.unit:.17g}], on {len(pieces)} pieces,\n"
        f"the file's points are within {rounded(width, math.inf)!r} of the minimum V of\n"
        f"{WORDS}.\n"
        f"That is {relative}. V is between these numbers on the first piece, and on the last one: {ends}.\n"
        f"{about}"
    )


if __name__ == "__main__":
    try:
        print(main(*sys.argv[1:]))
    except Exception as error:
        sys.exit(exact.why_not(error))
