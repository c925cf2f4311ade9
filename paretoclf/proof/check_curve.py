"""Checks a curve: how far polynomials in t are from the minimum of a convex cone program, for all t from 0 to 1.

    python check_curve.py FILE      (check.py and check_band.py must lie beside it)

These are sections 25 to 27 of docs/reference/certificate_files.md, in the same order. The program, its cones and both
inverses are those of a band: sections 12 to 14, in check_band.py. So is the proof, section 16. But here points x and
multipliers y, z are polynomials between two t, and u goes from 0 to 1 there.

A polynomial of degree d is a list of whole numbers c_0 to c_d: the sum of c_i u^i (1 - u)^(d - i). Then a product is
that of the lists, and all is in integers. It is a mean of c_i / C(d, i), its Bernstein coefficients, with weights that
depend on u. So it is nowhere below the least of these, nor above the largest.
"""

import math
import os
import sys
from fractions import Fraction
from typing import NamedTuple

if __package__:
    from paretoclf.proof import check as exact
    from paretoclf.proof import check_band as band
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import check as exact
    import check_band as band
need = exact.need

PARTS = ("stretches",)

#: Sizes beyond which a file is refused before any work.
MOST_DEGREE = 30
MOST_PIECES = 10_000

#: How often a piece is halved before a vector is not proved to be in its cone.
HALVINGS = 7


# ---- Section 25, Stretches: polynomials, on_part, stretches_of -------------------------------------------------------


class PolynomialPiece(NamedTuple):
    """Polynomials between two t: vectors are lists of them. Numbers are in 1 / unit, those of t in 1 / grid."""

    first: int
    last: int
    x: list
    y: list
    z: list
    frames: list  # of each semidefinite cone two: of the slack and of z


class Frame(NamedTuple):
    """How a matrix of polynomials is eliminated: rows of a core, all others, and what is taken of the core's."""

    core: list
    rest: list
    mixture: list  # of each row of the core a polynomial for each other row, in 1 / unit
    unit: int


def polynomials(lists: list, size: int, unit: int) -> list:
    """Return a vector of polynomials from lists of Bernstein coefficients, of all entries."""
    need(type(lists) is list and 2 <= len(lists) <= MOST_DEGREE + 1, "a polynomial has the wrong degree")
    rows = band.numbers_at(lists, len(lists), size, unit)
    degree = len(lists) - 1
    return [[math.comb(degree, i) * number for i, number in enumerate(entry)] for entry in zip(*rows, strict=True)]


def product(left: list, right: list) -> list:
    """Return the product of two polynomials."""
    result = [0] * (len(left) + len(right) - 1)
    for i, factor in enumerate(left):
        if factor:
            for j, other in enumerate(right):
                result[i + j] += factor * other
    return result


def lifted(polynomial: list, length: int) -> list:
    """Return a polynomial with as many numbers: it is multiplied by a power of u + (1 - u), which is 1."""
    more = length - len(polynomial)
    return product(polynomial, constant(1, more + 1)) if more else polynomial


def constant(number: int, length: int) -> list:
    """Return a constant as a polynomial with as many numbers."""
    return [number * math.comb(length - 1, i) for i in range(length)]


def plus(left: list, right: list, sign: int = 1) -> list:
    """Return the sum of two polynomials, or their difference."""
    length = max(len(left), len(right))
    pairs = zip(lifted(left, length), lifted(right, length), strict=True)
    return [one + sign * other for one, other in pairs]


def dot(left: list, right: list) -> list:
    """Return the sum of products of two vectors of polynomials; empty of empty ones."""
    total = []
    for one, other in zip(left, right, strict=True):
        total = plus(total, product(one, other)) if total else product(one, other)
    return total


def size(polynomial: list) -> int:
    """Return a whole number that the polynomial is nowhere larger than, by its absolute value."""
    degree = len(polynomial) - 1
    return max(band.rounded_up(abs(number), math.comb(degree, i)) for i, number in enumerate(polynomial))


def derivative(polynomial: list) -> list:
    """Return the derivative by u."""
    degree = len(polynomial) - 1
    return [(i + 1) * polynomial[i + 1] - (degree - i) * polynomial[i] for i in range(degree)]


def halves(polynomial: list) -> tuple[list, list]:
    """Return the polynomial on both halves of the piece, 2^d times as large.

    On the left u is U / 2 and 1 - u is (U + 2 (1 - U)) / 2; the right half is the left one from the other side.
    """
    return left_half(polynomial), left_half(polynomial[::-1])[::-1]


def left_half(polynomial: list) -> list:
    """Return the sum of c_i U^i (U + 2 (1 - U))^(d - i)."""
    result = []
    for number in polynomial:
        result = [2 * one + other for one, other in zip([*result, 0], [0, *result], strict=True)]
        result[-1] += number
    return result


def on_part(given: band.WholeLine, first: int, last: int, grid: int) -> band.WholeLine:
    """Return the problem between two t, affine in u, which goes from 0 to 1 there: in 1 / (unit grid)."""

    def entries(matrix: list) -> list:
        return [[(column, *moved(start, rate)) for column, start, rate in row] for row in matrix]

    def vector(affine: tuple) -> tuple:
        both = [moved(start, rate) for start, rate in zip(*affine, strict=True)]
        return [start for start, _ in both], [rate for _, rate in both]

    def moved(start: int, rate: int) -> tuple[int, int]:
        return grid * start + first * rate, (last - first) * rate

    matrices = {name: entries(getattr(given, name)) for name in ("P", "A")}
    vectors = {name: vector(getattr(given, name)) for name in ("q", "b", "constant")}
    return given._replace(unit=given.unit * grid, **matrices, **vectors)


def piece_of(given: band.WholeLine, stated: list, first: int, grid: int, where: str) -> PolynomialPiece:
    """Return a piece of the file, which begins where the one before ends; y is x where the file has null."""
    need(exact.is_list(stated, 5), f"{where}a piece is t, x, y, z and frames")
    last, x, y, z, frames = stated
    last = band.whole(last, grid)
    need(first < last <= grid, f"{where}t must increase, up to 1")
    unit = given.unit * grid
    columns = len(given.P)
    x = polynomials(x, columns, unit)
    y = x if y is None else polynomials(y, columns, unit)
    z = polynomials(z, len(given.A), unit)
    orders = [block.order for block in given.blocks if block.kind == "semidefinite"]
    need(exact.is_list(frames, len(orders)), f"{where}there are two frames for each semidefinite cone")
    return PolynomialPiece(first, last, x, y, z, list(map(frames_of, frames, orders)))


def frames_of(stated: list, order: int) -> list:
    """Return the two frames of a semidefinite cone; None where the file has null."""
    need(exact.is_list(stated, 2), "there are two frames for each semidefinite cone")
    return [None if each is None else frame_of(each, order) for each in stated]


def frame_of(stated: list, order: int) -> Frame:
    """Return a frame: rows of the core, and Bernstein coefficients of its mixture, a row for each of these."""
    need(exact.is_list(stated, 2), "a frame is a core and its mixture")
    core, mixture = stated
    need(type(core) is list and 0 < len(core) < order, "the core of a frame has some rows, and not all")
    need(all(type(row) is int and 0 <= row < order for row in core), "a frame has a row that there is not")
    need(len(set(core)) == len(core), "a frame has a row twice")
    rest = sorted(set(range(order)) - set(core))
    need(type(mixture) is list and all(exact.is_list(each, len(core)) for each in mixture), "a frame has wrong rows")
    unit = band.unit_of(mixture)
    rows = [polynomials([each[row] for each in mixture], len(rest), unit) for row in range(len(core))]
    return Frame(core, rest, rows, unit)


# ---- Section 26, Inside: inside --------------------------------------------------------------------------------------


def inside(block: band.ConeRows, vector: list, radius: list, dual: bool, frame: Frame | None = None) -> bool:
    """Return whether all vectors within a radius of polynomials are in a cone, or in its dual, all over the piece.

    A part of it on which that is not proved is halved. To save time it is given up where an end of a part is outside.
    """
    if block.kind == "zero":
        return dual
    parts = [(vector, radius, frame)]
    for _ in range(HALVINGS + 1):
        open_parts = [part for part in parts if not proved_inside(block, *part, dual)]
        if not open_parts:
            return True
        parts = [half for part in open_parts for half in halved_part(*part)]
        if not all(inside_at_ends(block, half, reach, dual) for half, reach, _ in parts):
            return False
    return False


def inside_at_ends(block: band.ConeRows, vector: list, radius: list, dual: bool) -> bool:
    """Return whether all vectors within the radius are inside at both ends of a part."""
    return all(band.inside(block, [entry[end] for entry in vector], radius, dual) for end in (0, -1))


def halved_part(vector: list, radius: list, frame: Frame | None) -> list[tuple]:
    """Return both halves of a part, with vector and radius 2^d times as large, which are in the same cones."""
    both = [halves(entry) for entry in vector]
    degree = len(vector[0]) - 1
    wider = [number << degree for number in radius]
    frames = halved_frame(frame) if frame else (None, None)
    return [([entry[side] for entry in both], wider, frames[side]) for side in (0, 1)]


def halved_frame(frame: Frame) -> list[Frame]:
    """Return a frame on both halves of the piece."""
    both = [[halves(entry) for entry in row] for row in frame.mixture]
    unit = frame.unit << (len(frame.mixture[0][0]) - 1)
    sides = [[[entry[side] for entry in row] for row in both] for side in (0, 1)]
    return [Frame(frame.core, frame.rest, mixture, unit) for mixture in sides]


def proved_inside(block: band.ConeRows, vector: list, radius: list, frame: Frame | None, dual: bool) -> bool:
    """Return whether that is proved of a part without halving it."""
    if block.kind == "nonnegative":
        return all(min(lowered(entry, reach)) >= 0 for entry, reach in zip(vector, radius, strict=True))
    if block.kind == "second-order":
        return proved_second_order(vector, radius)
    if block.kind == "semidefinite":
        return proved_semidefinite(block.order, vector, radius, frame)
    return proved_exponential(vector, radius, dual)


def lowered(polynomial: list, number: int) -> list:
    """Return a polynomial less a number."""
    return plus(polynomial, constant(number, len(polynomial)), -1)


def proved_second_order(vector: list, radius: list) -> bool:
    """Return whether v_0 less all radii, and its square less those of the other entries, have no number below 0.

    The length of the others grows by no more than that of their radii.
    """
    length = math.isqrt(sum(reach**2 for reach in radius[1:])) + 1 if any(radius[1:]) else 0
    height = lowered(vector[0], radius[0] + length)
    others = dot(vector[1:], vector[1:]) or [0]
    return min(height) >= 0 and min(plus(product(height, height), others, -1)) >= 0


def proved_exponential(vector: list, radius: list, dual: bool) -> bool:
    """Return whether both extreme corners are above the exponential; of the dual (u - v, -u, w) is in the cone."""
    first, second, third = vector
    of_first, of_second, of_third = radius
    height = lowered(third, of_third)
    for sign in (1, -1):
        if dual:
            end = lowered(first, sign * of_first)
            corner = (plus(end, lowered(second, of_second), -1), [-number for number in end], height)
        else:
            corner = (lowered(first, -of_first), lowered(second, sign * of_second), height)
        if not above_exponential(*corner):
            return False
    return True


def above_exponential(a: list, c: list, d: list) -> bool:
    """Return whether c > 0 and c e^(a/c) <= d is proved.

    g = log(d/c) - a/c must not be negative. Its derivative is (c (d'c - dc') - d (a'c - ac')) / (c^2 d), and half of
    the largest size of that is how far g can fall from the nearer end of the part.
    """
    least_c = least(c)
    least_d = least(d)
    if least_c <= 0 or least_d <= 0:
        return False
    slope = plus(product(c, turned(d, c)), product(d, turned(a, c)), -1)
    fall = Fraction(size(slope), 2 * least_c**2 * least_d)
    ends = [(Fraction(a[end], c[end]), Fraction(d[end], c[end])) for end in (0, -1)]
    return all(band.exponential_at_most(power + fall, limit) for power, limit in ends)


def turned(left: list, right: list) -> list:
    """Return the derivative of one polynomial times another one, less the same the other way round."""
    return plus(product(derivative(left), right), product(left, derivative(right)), -1)


def least(polynomial: list) -> int:
    """Return a whole number that the polynomial is nowhere below."""
    degree = len(polynomial) - 1
    return min(number // math.comb(degree, i) for i, number in enumerate(polynomial))


def proved_semidefinite(order: int, vector: list, radius: list, frame: Frame | None) -> bool:
    """Return whether all numbers of C'(S - largest change I)C, which are matrices, are semidefinite.

    As at a point, a root of 1/2, rounded down, takes its place in S, and what it misses joins the radius. Without a
    frame C is I.
    """
    scale = 1 << band.ROOT_BITS
    root = math.isqrt(scale * scale // 2)  # of 1/2, times scale; less than 1 too small
    matrix = [[[]] * order for _ in range(order)]
    change = [0] * order
    place = 0
    for column in range(order):
        for row in range(column + 1):
            entry = vector[place]
            reach = radius[place]
            place += 1
            if row == column:
                matrix[row][row] = [number * scale for number in entry]
                change[row] += reach * scale
                continue
            matrix[row][column] = matrix[column][row] = [number * root for number in entry]
            most = size(entry) + reach * (root + 1)
            change[row] += most
            change[column] += most
    largest = max(change)
    for row in range(order):
        matrix[row][row] = lowered(matrix[row][row], largest)
    if frame:
        matrix = framed(matrix, frame)
    length = len(matrix[0][0])
    return all(exact.semidefinite([[entry[i] for entry in row] for row in matrix]) for i in range(length))


def framed(matrix: list, frame: Frame) -> list:
    """Return C'SC, C = [[I, V], [0, I]] with the rows of the core first, times the square of the frame's unit.

    C is never singular: C'SC is semidefinite where, and only where, S is.
    """
    columns = columns_of(frame)
    across = list(
        zip(*[[combined(row, column) for column in columns] for row in matrix], strict=True)
    )  # SC, by columns
    length = len(matrix[0][0]) + 2 * len(frame.mixture[0][0]) - 2
    return [[lifted(combined(entries, column), length) for entries in across] for column in columns]


def columns_of(frame: Frame) -> list[dict]:
    """Return the columns of C times the frame's unit: of each the entries that are not 0, by their rows."""
    columns = [{row: [frame.unit]} for row in frame.core]
    for number, row in enumerate(frame.rest):
        mixture = [polynomials[number] for polynomials in frame.mixture]
        columns.append({row: [frame.unit], **dict(zip(frame.core, mixture, strict=True))})
    return columns


def combined(entries: list, column: dict) -> list:
    """Return the sum of products of polynomials with the entries of a column."""
    total = [0]
    for row, polynomial in column.items():
        total = plus(total, product(entries[row], polynomial))
    return total


# ---- Section 27, Pieces of polynomials: curve ------------------------------------------------------------------------


class Corrected(NamedTuple):
    """Polynomials that must be in their cones, of points or of multipliers, and radii of corrections in 1 / unit."""

    vector: list  # the slacks b - Ax, in 1 / unit^2; or z
    radius: list  # of x; or of y
    reach: list  # of the slacks; or of z


def times(matrix: list, vector: list) -> list:
    """Return the product of a matrix, which is affine in u, and a vector of polynomials: of one degree more."""
    result = []
    for row in matrix:
        total = [0] * (len(vector[0]) + 1)
        for column, start, rate in row:
            add_product(total, start, rate, vector[column])
        result.append(total)
    return result


def times_transposed(matrix: list, vector: list, columns: int) -> list:
    """Return the product of the transposed matrix and a vector of polynomials."""
    result = [[0] * (len(vector[0]) + 1) for _ in range(columns)]
    for row, polynomial in zip(matrix, vector, strict=True):
        for column, start, rate in row:
            add_product(result[column], start, rate, polynomial)
    return result


def add_product(total: list, start: int, rate: int, polynomial: list) -> None:
    """Add the product of (1 - u) start + u (start + rate) and a polynomial."""
    for i, number in enumerate(polynomial):
        if number:
            total[i] += start * number
            total[i + 1] += (start + rate) * number


def affine(pair: tuple) -> list:
    """Return what is affine in u as a vector of polynomials."""
    return [[start, start + rate] for start, rate in zip(*pair, strict=True)]


def corrected_points(given: band.WholeLine, both: band.Inverses, x: list) -> Corrected:
    """Return the slacks of x, and how far x and they are from others with which all equations hold."""
    unit = given.unit
    sides = [[unit * number for number in side] for side in affine(given.b)]
    slacks = [plus(side, entry, -1) for side, entry in zip(sides, times(given.A, x), strict=True)]
    missed = [2 * unit * size(slacks[row]) for row in given.equations]
    radius = band.correction(both.C, missed, [1] * len(missed), both.more_of_equations, unit)
    reach = [band.rounded_up(each, unit) for each in band.times_absolute(given.A, radius)]
    return Corrected(slacks, radius, reach)


def corrected_multipliers(given: band.WholeLine, both: band.Inverses, y: list, z: list) -> Corrected:
    """Return z, and how far y and z are from others that are stationary."""
    unit = given.unit
    columns = len(given.P)
    costs = [[unit * number for number in cost] for cost in affine(given.q)]
    gradient = zip(times(given.P, y), times_transposed(given.A, z, columns), costs, strict=True)
    missed = [2 * unit * size(plus(plus(one, other), cost)) for one, other, cost in gradient]
    radius = band.correction(both.B, missed, both.scale, both.more, unit)
    return Corrected(z, radius[:columns], radius[columns:])


def leaves(given: band.WholeLine, corrected: Corrected, dual: bool, frames: list) -> str:
    """Return the kind and the rows of the first cone that something within the reach of a vector may leave."""
    unit = 1 if dual else given.unit  # slacks have a unit more than their reach
    frames = iter(frames)
    for block in given.blocks:
        frame = next(frames)[dual] if block.kind == "semidefinite" else None
        for begin, end in row_by_row(block):
            radius = [unit * reach for reach in corrected.reach[begin:end]]
            if block.kind != "zero" and not inside(block, corrected.vector[begin:end], radius, dual, frame):
                return f"{block.kind} cone of rows {begin} to {end - 1}"
    return ""


def row_by_row(block: band.ConeRows) -> list[tuple[int, int]]:
    """Return the rows of a cone, from one to another; of nonnegative ones each by itself."""
    if block.kind == "nonnegative":
        return [(row, row + 1) for row in range(block.begin, block.end)]
    return [(block.begin, block.end)]


def width_of(
    given: band.WholeLine, piece: PolynomialPiece, points: Corrected, multipliers: Corrected
) -> band.ProvedPiece:
    """Return what is proved of a piece whose points and multipliers are in their cones."""
    unit = given.unit
    apart = [plus(one, other, -1) for one, other in zip(piece.x, piece.y, strict=True)]
    slacks = [points.vector[row] for row in given.others]
    of_slacks = dot([piece.z[row] for row in given.others], slacks) or [0]
    gap = plus([2 * number for number in of_slacks], dot(apart, times(given.P, apart)))
    linear = dot(affine(given.q), piece.x)
    [end] = affine(given.constant)
    terms = plus([2 * unit * number for number in linear], [2 * unit**2 * number for number in end])
    objective = plus(dot(piece.x, times(given.P, piece.x)), terms)
    more = what_corrections_add(given, piece, apart, points, multipliers)
    moved = what_x_moves(given, piece, points)
    scale = 2 * unit**3
    width = most(gap, scale) + more + moved
    low = -most([-number for number in objective], scale)
    return band.ProvedPiece(low - width, most(objective, scale) + moved, width)


def most(polynomial: list, scale: int) -> Fraction:
    """Return an upper bound of a polynomial in 1 / scale: the largest of its coefficients on each of 16 parts."""
    degree = len(polynomial) - 1
    parts = [polynomial]
    for _ in range(band.HALVED):
        parts = [half for part in parts for half in halves(part)]
    largest = [Fraction(max(numbers), math.comb(degree, i)) for i, numbers in enumerate(zip(*parts, strict=True))]
    return max(largest) / (scale << (band.HALVED * degree))


def what_corrections_add(
    given: band.WholeLine, piece: PolynomialPiece, apart: list, points: Corrected, multipliers: Corrected
) -> Fraction:
    """Return how much larger z's + (x - y)'P(x - y) / 2 of the corrected points can be."""
    unit = given.unit
    of_slacks = 0  # in 1 / unit^3
    for row in given.others:
        reach = multipliers.reach[row]
        largest = size(piece.z[row]) + reach
        of_slacks += reach * size(points.vector[row])
        of_slacks += unit * largest * points.reach[row]
    both = band.plus(points.radius, multipliers.radius)
    of_apart = exact.dot(both, band.times_absolute(given.P, [size(each) for each in apart]))
    energy = exact.dot(both, band.times_absolute(given.P, both))
    return Fraction(2 * of_slacks + 2 * of_apart + energy, 2 * unit**3)


def what_x_moves(given: band.WholeLine, piece: PolynomialPiece, points: Corrected) -> Fraction:
    """Return how far f of the corrected points can be from that of x."""
    unit = given.unit
    slopes = band.times_absolute(given.P, [size(each) for each in piece.x])
    costs = [unit * size(each) for each in affine(given.q)]
    first_order = exact.dot(points.radius, band.plus(slopes, costs))
    second_order = exact.dot(points.radius, band.times_absolute(given.P, points.radius))
    return Fraction(2 * first_order + second_order, 2 * unit**3)


def proved_piece(given: band.WholeLine, both: band.Inverses, piece: PolynomialPiece, where: str) -> band.ProvedPiece:
    """Return what is proved of a piece, on the problem between its ends."""
    points = corrected_points(given, both, piece.x)
    multipliers = corrected_multipliers(given, both, piece.y, piece.z)
    out = leaves(given, points, False, piece.frames)
    need(not out, f"{where}b - Ax leaves the {out}")
    out = leaves(given, multipliers, True, piece.frames)
    need(not out, f"{where}z leaves the dual of the {out}")
    return width_of(given, piece, points, multipliers)


def curve(problem: dict, stretches: list) -> list[band.ProvedPiece]:
    """Return what is proved on each piece; the pieces cover [0, 1]."""
    pieces = bound_sizes(problem, stretches)
    unit = unit_of_all(problem, stretches, pieces)
    grid = max(band.unit_of(piece[0]) for piece in pieces)
    given = band.line(problem, unit)
    need(given.until == unit, "a curve goes until t = 1")
    need(all(block.kind != "power" for block in given.blocks), "a curve has no power cones")
    found = []
    first = 0
    for B, C, scale, stated in stretches:
        last = band.whole(stated[-1][0], grid)
        need(first < last, f"piece {len(found)}: t must increase")
        both = band.inverses(on_part(given, first, last, grid), B, C, scale)
        for each in stated:
            where = f"piece {len(found)}, from t = {first / grid!r}: "
            piece = piece_of(given, each, first, grid, where)
            found.append(proved_piece(on_part(given, first, piece.last, grid), both, piece, where))
            first = piece.last
    need(first == grid, "the pieces must end at t = 1")
    return found


def bound_sizes(problem: dict, stretches: list) -> list:
    """Return all pieces of a file; one that would take too long is refused before any work."""
    need(type(stretches) is list and all(exact.is_list(each, 4) for each in stretches), "wrong stretches")
    need(all(type(stretch[3]) is list and stretch[3] for stretch in stretches), "a stretch without pieces")
    pieces = [piece for stretch in stretches for piece in stretch[3]]
    need(0 < len(pieces) <= MOST_PIECES and all(exact.is_list(piece, 5) for piece in pieces), "wrong pieces")
    vectors = [part for piece in pieces for part in piece[1:4] if type(part) is list]
    band.bound_sizes(problem, [coefficient for vector in vectors for coefficient in vector])
    return pieces


def unit_of_all(problem: dict, stretches: list, pieces: list) -> int:
    """Return the largest denominator of the numbers in a file, but for t and frames."""
    of_stretches = [part for stretch in stretches for part in stretch[:3]]
    of_pieces = [part for piece in pieces for part in piece[1:4]]
    return max(map(band.unit_of, [*problem.values(), *of_stretches, *of_pieces]))


# ---- The statement: main ---------------------------------------------------------------------------------------------


def main(file: str, *options: str) -> str:
    """Return the statement that is proved; ArithmeticError, or what reading raises, where it is not."""
    content, about = exact.read(file, "curve certificate 1", set(PARTS), *options)
    pieces = curve(content["problem"], content["stretches"])
    width = max(each.width for each in pieces)
    share = band.share_of(pieces)
    relative = "nothing relative to V, which may be 0" if share is None else f"{band.rounded(share, math.inf)!r} of |V|"
    ends = [[band.rounded(each.low, -math.inf), band.rounded(each.high, math.inf)] for each in (pieces[0], pieces[-1])]
    return (
        f"PROVED without rounding: for every t in [0, 1], on {len(pieces)} pieces,\n"
        f"the file's polynomials are within {band.rounded(width, math.inf)!r} of the minimum V of\n"
        f"{band.WORDS}.\n"
        f"That is {relative}. V is between these numbers on the first piece, and on the last one: {ends}.\n"
        f"{about}"
    )


if __name__ == "__main__":
    try:
        print(main(*sys.argv[1:]))
    except Exception as error:
        sys.exit(exact.why_not(error))
