"""Checks a certificate: an optimal solution of a convex quadratic program for every t in [0, 1], without rounding.

    python check.py FILE [--data OWN.csv | --standardised OWN.csv] [--positive LABEL] [--costs C+,C-,C+,C-[,WEIGHTS]]

The page docs/reference/certificate_files.md says what a file has and what it means. Its numbered sections are those
of this script, in the same order, so that one can be read beside the other. `check_ray.py` has section 9, and
`check_gap.py` section 10.

The program: minimise x'Px / 2 + q(t)'x + penalties. P is positive semidefinite. An item is a variable x_j or a row of
Ax, and v is its value. A unit of v below the lower bound costs `below`, a unit above the upper one `above`; where there
is no price the bound is hard. q, bounds and prices are affine in t.

Why letters are a proof: x is optimal if there are multipliers y with Px + q = y_x + A'y_r and, item by item, one of
    b  y = below     and  v <= lower
    l  v = lower     and  0 <= y <= below   (-above <= y <= below where lower = upper all along)
    i  y = 0         and  lower <= v <= upper
    u  v = upper     and  -above <= y <= 0
    a  y = -above    and  v >= upper
For any other x', f(x') - f(x) is then no less than the sum of penalty(v') - penalty(v) + y (v' - v), and no term of it
is below 0. The equations on the left have a solution that is affine in t; the inequalities on the right hold on an
interval. The intervals must follow one another from 0 to 1, or to where a ray begins.

`main` reads the file (section 1), has it checked, and prints the statement. `check` makes integers of the problem
(sections 2 to 6) and follows the segments (7 and 8). All is computed in integers: whatever is affine in t is a pair,
its value at t = 0 and its rate, and None stands for no bound, or for no price.
"""

import csv
import gzip
import hashlib
import json
import math
import statistics
import sys
from fractions import Fraction
from operator import mul
from typing import NamedTuple

LETTERS = ("b", "l", "i", "u", "a")
SIDES = ("lower", "upper", "below", "above")
ZERO = (0, 0)  # as a pair: 0 at every t

#: Rows and columns that a matrix may have whose rows are lists of entries: a small file would be a large matrix.
MOST_ENTRIES = 5_000

#: What a file of each kind is about, in words; of classifiers this is the problem whose dual the program is.
WORDS = {
    "program": "x'Px / 2 + q(t)'x + penalties",
    "2C-SVM": "|w|^2 / 2 + sum of caps_i(t) max(0, 1 - y_i (w.x_i + b))",
    "2nu-SVM": "|w|^2 / 2 - sums(t)'(rho - b, rho + b) + sum of caps_i(t) max(0, rho - y_i (w.x_i + b))",
    "quantile SVM": "|lam| |w|^2 / 2 + sum of caps_i(t) max(0, 1 - y_i w.x_i), x_i with a constant 1 if bias",
    "margins": "|w|^2 / 2 + sum of xi_i^2 / (2 diagonal_i) with y_i (w.x_i + b) >= -q_i(t) - xi_i, where 0 / 0 = 0",
}

#: Fields that each kind has beside the matrix and, of classifiers, the labels.
OWN_FIELDS = {
    "program": {"q", "A", *SIDES},
    "2C-SVM": {"caps"},
    "2nu-SVM": {"caps", "sums"},
    "quantile SVM": {"caps", "lam", "bias"},
    "margins": {"q"},
}

#: Which script checks files of each format.
READERS = {
    "exact certificate 1": "check.py",
    "bounded certificate 1": "check_gap.py",
    "band certificate 1": "check_band.py",
    "curve certificate 1": "check_curve.py",
    "map certificate 1": "check_map.py",
    "ranges certificate 1": "check_ranges.py",
}


def need(condition: object, text: str) -> None:
    """Refuse the file, for the reason that the text gives, unless the condition holds."""
    if not condition:
        raise ArithmeticError(text)


def dot(left, right) -> int:
    """Return the sum of products; of the longer list, only as much counts as the shorter has."""
    return sum(map(mul, left, right))


# ---- Section 1, File: read -------------------------------------------------------------------------------------------


def read(file: str, form: str, fields_of_form: set, *options: str) -> tuple[dict, str]:
    """Return the content of a file of one format, and what is printed about its problem."""
    with (gzip.open if file.endswith(".gz") else open)(file, "rb") as stream:
        raw = stream.read(1 << 28)  # no more than this: a small file may unpack to any size
    content = json.loads(raw, object_pairs_hook=without_twins)
    problem = content["problem"]
    asked = dict(zip(options[::2], options[1::2], strict=True))
    digest = digest_of(problem)
    said = [content["format"], content["sha256"]]
    reader = READERS.get(str(said[0])) if said[0] != form else None
    other = f"; {reader} checks files of the format {said[0]!r}" if reader else ""
    need(said == [form, digest], f"another hash, or another format than {form!r}{other}")
    need(content.keys() - fields_of_form == {"format", "problem", "sha256"}, "a field has no meaning")
    positive = asked.pop("--positive", "")
    compared = [same(problem, option, own, positive) for option, own in asked.items()]
    lines = numbers_in_words(problem)
    lines.append(f"Compared: {'; '.join(compared) or 'no data and no costs'}.")
    lines.append(f"sha256 of the problem: {digest}")
    data_compared = asked.keys() - {"--costs"}
    label = None if data_compared else problem.get("positive")  # what was compared is not said again as unchecked
    unchecked = {"label of +1": label, "about": problem.get("about")}
    lines.append(f"Said, not checked: {json.dumps(unchecked)}")
    return content, "\n".join(lines)


def without_twins(pairs: list) -> dict:
    """Return an object of JSON, in which no name may stand twice: readers differ in which one they take."""
    need(len(dict(pairs)) == len(pairs), "two of a name")
    return dict(pairs)


def digest_of(problem: dict) -> str:
    """Return the hash of the compact JSON of the problem with sorted keys."""
    text = json.dumps(problem, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def numbers_in_words(problem: dict) -> list[str]:
    """Return lines about those numbers of the problem that `WORDS` does not show."""
    diagonal = problem.get("diagonal", [0])
    integers([diagonal])
    largest = max(map(Fraction, diagonal))
    lines = []
    if largest > 0 and problem["kind"] != "margins":  # whose words say what the diagonal is
        lines.append(f"On the diagonal of the kernel matrix there is up to {largest} more.")
    for name in ("lam", "bias", "sums"):
        if name in problem:
            lines.append(f"{name} = {json.dumps(problem[name])}")
    return lines


# ---- Section 2, Numbers: integers, whole_rows ------------------------------------------------------------------------


def integers(rows: list) -> tuple[list[list[int]], int]:
    """Return lists of numbers times their common denominator, which are integers, and the denominator."""
    need(type(rows) is list, "no list of numbers")
    for row in rows:
        need(type(row) is list and all(map(is_number, row)), "no list of numbers")
    fractions = [[Fraction(each) for each in row] for row in rows]
    denominator = math.lcm(*(each.denominator for row in fractions for each in row))
    return [[int(each * denominator) for each in row] for row in fractions], denominator


def is_number(value: object) -> bool:
    """Return whether a value is an integer, a double, or a text of digits; true and null are none of these."""
    if type(value) is str:
        return set(value) <= set("-/0123456789")  # Fraction refuses what is no number in spite of that, as "1//2"
    return type(value) in (int, float)


def whole_rows(rows: list, widths) -> list:
    """Return the rows of a matrix; of one that is a list of entries [column, number], what is not there is 0."""
    result = []
    for row, width in zip(rows, widths, strict=True):
        need(type(row) is list, "no list of numbers")
        if row and type(row[0]) is not list:
            result.append(row)
            continue
        need(len(rows) <= MOST_ENTRIES and width <= MOST_ENTRIES, "a matrix of entries is too large")
        whole = [0] * width
        before = -1
        for entry in row:
            good = is_list(entry, 2) and type(entry[0]) is int and before < entry[0] < width
            need(good, "an entry is a column and a number, and columns increase")
            before, whole[entry[0]] = entry
        result.append(whole)
    return result


# ---- Section 3, Fields: fields ---------------------------------------------------------------------------------------


def fields(problem: dict) -> None:
    """Refuse a problem with a field too few, one too many, or one of another type."""
    kind = problem["kind"]
    if kind == "program":
        asked = {"K", *OWN_FIELDS[kind]}
        optional = {"kind", "about", "diagonal"}
    else:
        asked = {data_field(problem), "y", *OWN_FIELDS[kind]}
        optional = {"kind", "about", "diagonal", "positive"}
    need(asked <= problem.keys() <= asked | optional, "wrong fields")
    texts = [problem.get(name, "") for name in ("kind", "about", "positive")]
    need(all(type(text) is str for text in texts), "about and positive must be texts")
    weight = problem.get("lam", 1)
    # Here null is no number: it stands for "none" in the bounds and prices of a program alone.
    integers([*problem.get("caps", []), *problem.get("sums", []), *problem.get("q", []), [weight]])
    bias = problem.get("bias", True)
    need(Fraction(weight) != 0 and type(bias) is bool, "lam must not be 0, bias be true or false")


def data_field(problem: dict) -> str:
    """Return the name of the field with features, or with a matrix."""
    return "X" if "X" in problem else "K"


# ---- Section 4, Classifiers: classifier, classifier_sides ------------------------------------------------------------


def classifier(problem: dict, signs: list[int]) -> tuple[list, list, list]:
    """Return q at both ends, the rows A, and their right sides at both ends: x are a classifier's multipliers."""
    kind = problem["kind"]
    size = len(signs)
    if kind == "2C-SVM":
        return [[-1] * size, [-1] * size], [signs], [[0], [0]]
    if kind == "2nu-SVM":
        positives = [int(sign == 1) for sign in signs]
        negatives = [int(sign == -1) for sign in signs]
        return [[0] * size, [0] * size], [positives, negatives], problem["sums"]
    if kind == "quantile SVM":
        weight = str(-abs(Fraction(problem["lam"])))
        return [[weight] * size, [weight] * size], [], [[], []]
    return problem["q"], [signs], [[0], [0]]  # margins


def classifier_sides(problem: dict, size: int, rows: int, right_sides: list) -> dict:
    """Return hard bounds of multipliers, from 0 to their caps, and of rows, which are equations, at both ends."""
    caps = problem.get("caps", [[None] * size, [None] * size])
    need(len(caps) == len(right_sides), "shape of q, bounds or prices")
    lower = [[0] * size + right for right in right_sides]
    upper = [cap + right for cap, right in zip(caps, right_sides, strict=True)]
    no_prices = [[None] * (size + rows)] * 2
    return {"lower": lower, "upper": upper, "below": no_prices, "above": no_prices}


# ---- Section 5, Matrix: matrix, semidefinite -------------------------------------------------------------------------


def matrix(problem: dict, data: list, data_unit: int, signs: list, diagonal: list, diagonal_unit: int):
    """Return P times a unit, and the unit: P_ij = y_i y_j K_ij, and the diagonal is added; K = XX' or given."""
    size = len(data)
    kernel, kernel_unit = kernel_triangle(problem, data, data_unit)
    result = [[0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            sign = signs[i] * signs[j]
            entry = sign * diagonal_unit * kernel[i][j]
            if i == j:
                entry += kernel_unit * diagonal[i]
            result[i][j] = entry
            result[j][i] = entry
    # XX' is positive semidefinite by its form, and so is a diagonal without negative numbers.
    proved = min(diagonal) >= 0 and ("X" in problem or semidefinite(result))
    need(proved, "P is not proved positive semidefinite")
    return result, kernel_unit * diagonal_unit


def kernel_triangle(problem: dict, data: list, data_unit: int) -> tuple[list, int]:
    """Return the lower triangle of K times a unit, and the unit."""
    bias = problem.get("bias", False)
    if "X" in problem:
        if bias:
            data = [[*row, data_unit] for row in data]  # one more feature, which is 1
        triangle = [[dot(row, other) for other in data[: i + 1]] for i, row in enumerate(data)]
        return triangle, data_unit**2
    if bias:
        data = [[entry + data_unit for entry in row] for row in data]  # what that feature adds to each product
    return data, data_unit


def semidefinite(symmetric: list[list[int]]) -> bool:
    """Return whether a symmetric matrix is proved positive semidefinite: in one way, or else in the other."""
    return factorised(symmetric) or eliminated(symmetric)


def factorised(symmetric: list[list[int]]) -> bool:
    """Return whether the matrix, scaled, is LL' + R with R diagonally dominant: both are then semidefinite.

    The matrix is scaled to entries of at most 2^256. What the division for an entry of L leaves to R is no less than 0
    and less than the divisor, which is the root of a diagonal entry: 2^128 at most. R keeps 2^130 times its size on its
    diagonal, which is more than the sum of all other entries of a row.
    """
    size = len(symmetric)
    # With its sign: one that is larger and negative only makes what is left negative, and the answer no.
    largest = max(1, *map(max, symmetric))
    factor = []
    for number, whole_row in enumerate(symmetric):
        row = []
        for entry, earlier in zip(whole_row, factor, strict=False):  # the entries left of the diagonal
            scaled = (entry << 256) // largest
            row.append((scaled - dot(row, earlier)) // earlier[-1])
        scaled = (whole_row[number] << 256) // largest
        rest = scaled - dot(row, row) - (size << 130)
        if rest <= 0:
            return False
        row.append(math.isqrt(rest))
        factor.append(row)
    return True


def eliminated(symmetric: list[list[int]]) -> bool:
    """Return whether elimination meets no negative pivot, and no 0 in whose row something else is left.

    Entries stay integers: each is a minor of the matrix, and what it is divided by, the pivot before, leaves no rest.
    """
    rest = symmetric
    before = 1
    while rest:
        pivot, *top = rest[0]
        if pivot < 0 or (pivot == 0 and any(top)):
            return False
        below = rest[1:]
        if pivot == 0:  # no minor changes without this row: the pivot before stays the divisor
            rest = [row[1:] for row in below]
            continue
        reduced = []
        for first, *others in below:
            pairs = zip(others, top, strict=True)
            reduced.append([(pivot * entry - first * above) // before for entry, above in pairs])
        rest = reduced
        before = pivot
    return True


# ---- Section 6, Bounds and prices: program, bounds_and_prices --------------------------------------------------------


class WholeUnits(NamedTuple):
    """What numbers of the program are multiplied by, so that all are integers."""

    matrix: int  # P
    numbers: int  # q, bounds and prices, before they are multiplied by those of P and A as well
    rows: int  # A


class WholeProgram(NamedTuple):
    """A problem in integers.

    With units p of P, a of A and h of the numbers, x and bounds of variables are multiplied by h a, values and bounds
    of rows by h a^2, q and multipliers of variables by h a p, and multipliers of rows by h p. Equations hold as they
    are, and each product of a value and a multiplier, hence the objective, is multiplied by p (h a)^2.
    """

    variables: int  # how many there are; items from there on are rows
    matrix: list[list[int]]  # [[P, A'], [A, 0]]
    affine: dict[str, list]  # pairs of all items by name: q, lower, upper, below, and above with the opposite sign
    units: WholeUnits


def program(problem: dict) -> WholeProgram:
    """Return the problem of a file in integers: sections 3 to 6."""
    fields(problem)
    name = data_field(problem)
    data = problem[name]
    need(type(data) is list, "no list of numbers")
    size = len(data)
    if problem["kind"] == "program":
        data = whole_rows(data, range(1, size + 1))
    data, data_unit = integers(data)
    signs = problem.get("y", [1] * size)
    known_signs = [repr(sign) in ("1", "-1") for sign in signs]  # 1.0 and true are neither
    need(known_signs == [True] * size, "y must be 1 or -1, one a sample")
    if problem["kind"] == "program":
        linear = problem["q"]
        rows = problem["A"]
        need(type(rows) is list, "no list of numbers")
        rows = whole_rows(rows, [size] * len(rows))
        sides = {side: problem[side] for side in SIDES}
    else:
        linear, rows, right_sides = classifier(problem, signs)
        sides = classifier_sides(problem, size, len(rows), right_sides)
    rows, rows_unit = integers(rows)
    [diagonal], diagonal_unit = integers([problem.get("diagonal", [0] * size)])
    width = len(data[0]) if data else 0
    lengths = [width if name == "X" else number + 1 for number in range(size)]
    data_fit = [len(row) for row in data] == lengths
    others_fit = {len(row) for row in [diagonal, *rows]} == {size}
    need(data_fit and others_fit, f"shape of {name}, A or diagonal")
    P, matrix_unit = matrix(problem, data, data_unit, signs, diagonal, diagonal_unit)
    affine, unit = bounds_and_prices(linear, sides, size, len(rows), matrix_unit, rows_unit)
    upper_part = [P_row + [row[item] for row in rows] for item, P_row in enumerate(P)]
    lower_part = [row + [0] * len(rows) for row in rows]
    return WholeProgram(size, upper_part + lower_part, affine, WholeUnits(matrix_unit, unit, rows_unit))


def bounds_and_prices(linear: list, sides: dict, size: int, rows: int, matrix_unit: int, rows_unit: int):
    """Return pairs of q, bounds and prices of all items, and the unit of the numbers that the file has for them."""
    ends = {"q": [end + [0] * rows for end in linear], **sides}  # a row has no part in q
    for both in ends.values():
        both_fit = is_list(both, 2) and all(is_list(end, size + rows) for end in both)
        need(both_fit, "shape of q, bounds or prices")
    flat = []
    for first, last in ends.values():
        flat.append(null_as_0(first, last))
        flat.append(null_as_0(last, first))
    whole, unit = integers(flat)  # which refuses a null at one end alone
    value_units = [rows_unit] * size + [rows_unit**2] * rows
    multiplier_units = [rows_unit * matrix_unit] * size + [matrix_unit] * rows
    affine = {}
    for number, name in enumerate(ends):
        units = value_units if name in ("lower", "upper") else multiplier_units
        pairs = []
        first = whole[2 * number]
        last = whole[2 * number + 1]
        for item, unit_of_item in enumerate(units):
            pair = times(unit_of_item, (first[item], last[item] - first[item]))
            pairs.append(None if ends[name][0][item] is None else pair)
        affine[name] = pairs
    for pair in affine["below"] + affine["above"]:
        start, rate = pair or ZERO
        # It is affine: at no t is it below the lower of its two ends.
        need(min(start, start + rate) >= 0, "a price is negative")
    # With the opposite sign it is y above the upper bound, and the least that y is elsewhere.
    affine["above"] = [times(-1, pair) for pair in affine["above"]]
    return affine, unit


def is_list(value: object, length: int) -> bool:
    """Return whether a value is a list of this length."""
    return type(value) is list and len(value) == length


def null_as_0(numbers: list, at_other_end: list) -> list:
    """Return numbers with a 0 where null stands at both ends."""
    pairs = zip(numbers, at_other_end, strict=True)
    return [0 if number is None and other is None else number for number, other in pairs]


def minus(left: tuple, right: tuple) -> tuple:
    """Return the difference of two pairs."""
    return left[0] - right[0], left[1] - right[1]


def times(factor: int, pair: tuple | None) -> tuple | None:
    """Return a multiple of a pair; None of None."""
    return None if pair is None else (factor * pair[0], factor * pair[1])


# ---- Section 7, Letters: letter_equation, letter_inequalities --------------------------------------------------------


def letter_equation(letter: str, lower, upper, below, above):
    """Return what a letter says v is (l, u) or y is (b, i, a); None where there is no such bound or price."""
    if letter == "b":
        return None if lower is None else below
    if letter == "l":
        return ZERO if lower is None and upper is None else lower  # without bounds an item may wait at 0
    if letter == "u":
        return upper
    if letter == "a":
        return None if upper is None else above
    return ZERO


def letter_inequalities(letter: str, value, multiplier, lower, upper, below, above) -> list[tuple]:
    """Return what must not be negative where the letter holds, as pairs; `above` is minus the price."""
    asked = []
    if lower is not None and upper is not None:
        asked.append(minus(upper, lower))
    if letter == "b":
        asked.append(minus(lower, value))
    elif letter == "a":
        asked.append(minus(value, upper))
    elif letter == "i":
        if lower is not None:
            asked.append(minus(value, lower))
        if upper is not None:
            asked.append(minus(upper, value))
    elif letter == "u":
        asked.append(minus(ZERO, multiplier))
        if above is not None:
            asked.append(minus(multiplier, above))
    else:
        least = above if lower == upper else ZERO  # at two bounds in one y may have either sign
        if least is not None:
            asked.append(minus(multiplier, least))
        if below is not None:
            asked.append(minus(below, multiplier))
        if lower is None:  # without bounds: v = 0 is no bound, and y must be 0
            asked.append(multiplier)
            asked.append(minus(ZERO, multiplier))
    return asked


# ---- Section 8, Segments: check --------------------------------------------------------------------------------------


class LetterEquations:
    """The solution of the equations that the letters are, followed from segment to segment.

    With H = [[P, A'], [A, 0]], u = (x, -y_r) and w = Hu, w = (Px - A'y_r, Ax) = (y_x - q, v_r). A letter says of a
    variable what x or y is, and of a row what v or y is: hence of each item what u is, or what w is. The basis is the
    items of which it says w. There Hu = w is solved for the other u, by the inverse of H on the basis.

    The inverse need not be trusted: what it gives for u is put into the equations, and they must hold exactly.
    """

    def __init__(self, given: WholeProgram) -> None:
        items = len(given.matrix)
        self.given = given
        self.letters = [""] * items
        self.in_basis = [False] * items
        self.known = [ZERO] * items  # of each item u, or in the basis w
        self.load = [[0] * items, [0] * items]  # H times the u that are known, at t = 0 and its rate
        self.inverse = {}  # by rows, times the denominator
        self.denominator = 1

    def read_letters(self, changes, first: bool, where: str) -> list[int]:
        """Read the letters of a segment: all of them, or changes; return the items with another letter than before."""
        items = len(self.letters)
        if first:
            need(type(changes) is str and len(changes) == items, f"{where}there must be {items} letters")
            changes = enumerate(changes)
        before = list(self.letters)
        for item, letter in changes:
            good = type(item) is int and 0 <= item < items and letter in LETTERS
            need(good, f"{where}no item {item!r:.9} or letter {letter!r:.9}")
            self.letters[item] = letter
        return [item for item in range(items) if self.letters[item] != before[item]]

    def change_letters(self, changed: list[int], where: str) -> None:
        """Bring to the new letters what is known of the changed items, the load, and the inverse."""
        moved = []
        for item in changed:
            new, in_basis = self.said_of(item, where)
            was_in_basis = self.in_basis[item]
            for end in (0, 1):
                now = 0 if in_basis else new[end]
                before = 0 if was_in_basis else self.known[item][end]
                self.add_to_load(end, now - before, item)
            self.known[item] = new
            self.in_basis[item] = in_basis
            if in_basis != was_in_basis:
                moved.append(item)
        self.inverse, self.denominator = change(self.given.matrix, self.inverse, self.denominator, moved)

    def said_of(self, item: int, where: str) -> tuple[tuple, bool]:
        """Return what u or w of an item is by its letter, and whether it is w."""
        affine = self.given.affine
        letter = self.letters[item]
        said = letter_equation(letter, *(affine[side][item] for side in SIDES))
        need(said is not None, f"{where}item {item} has no bound or price for {letter}")
        is_variable = item < self.given.variables
        if letter in ("l", "u"):  # which say v
            return said, not is_variable
        if is_variable:
            return minus(said, affine["q"][item]), True
        return minus(ZERO, said), False

    def add_to_load(self, end: int, step: int, item: int) -> None:
        """Add a multiple of a column of H, which is symmetric, to the load."""
        if step:
            row = self.given.matrix[item]
            self.load[end] = plus_multiple(self.load[end], step, row)

    def solve(self, where: str) -> tuple[list, list]:
        """Return values and multipliers of all items, as pairs times the denominator."""
        basis = [item for item, inside in enumerate(self.in_basis) if inside]
        columns = [[row[item] for item in basis] for row in self.given.matrix]
        u_ends = []
        w_ends = []
        for end in (0, 1):
            u, w = self.solve_end(end, basis, columns, where)
            u_ends.append(u)
            w_ends.append(w)
        u_pairs = list(zip(*u_ends, strict=True))
        w_pairs = list(zip(*w_ends, strict=True))
        return self.values_and_multipliers(u_pairs, w_pairs)

    def solve_end(self, end: int, basis: list[int], columns: list, where: str) -> tuple[list, list]:
        """Return u and w of all items at t = 0, or their rates, times the denominator."""
        load = self.load[end]
        right = [self.known[item][end] - load[item] for item in basis]
        solved = []
        for item in basis:
            row = [self.inverse[item][other] for other in basis]
            solved.append(dot(row, right))
        u = [self.denominator * pair[end] for pair in self.known]
        for item, number in zip(basis, solved, strict=True):
            u[item] = number
        solved_part = [dot(solved, column) for column in columns]
        w = plus_multiple(solved_part, self.denominator, load)
        need(self.denominator > 0, f"{where}no solution")
        for item in basis:
            known = self.denominator * self.known[item][end]
            need(w[item] == known, f"{where}no solution")
        return u, w

    def values_and_multipliers(self, u_pairs: list, w_pairs: list) -> tuple[list, list]:
        """Return v and y of all items from u = (x, -y_r) and w = (y_x - q, v_r)."""
        count = self.given.variables
        values = u_pairs[:count] + w_pairs[count:]
        multipliers = []
        for item, (start, rate) in enumerate(w_pairs[:count]):
            q_start, q_rate = self.given.affine["q"][item]
            multipliers.append((start + self.denominator * q_start, rate + self.denominator * q_rate))
        multipliers += [minus(ZERO, pair) for pair in u_pairs[count:]]
        return values, multipliers

    def sides(self, item: int) -> list:
        """Return bounds and prices of an item times the denominator, in the order of `SIDES`."""
        return [times(self.denominator, self.given.affine[side][item]) for side in SIDES]

    def end_of_segment(self, values: list, multipliers: list, t: Fraction, where: str) -> tuple[Fraction, int | None]:
        """Return until when the letters hold that hold at t, but for 1, and the item that fails first thereafter."""
        until = Fraction(1)
        first_to_fail = None
        numerator, denominator = t.as_integer_ratio()
        for item, letter in enumerate(self.letters):
            asked = letter_inequalities(letter, values[item], multipliers[item], *self.sides(item))
            for start, rate in asked:
                holds = start * denominator + rate * numerator >= 0
                need(holds, f"{where}item {item} violates what {letter} asks")
                if rate < 0 and start * until.denominator < -rate * until.numerator:
                    until = Fraction(start, -rate)
                    first_to_fail = item
        return until, first_to_fail

    def objective(self, values: list, multipliers: list, t: Fraction) -> float:
        """Return the value of the solution at t, as the double next to it.

        As the sum of y v is x'Px + q'x, half the sum of (y + q) v is x'Px / 2 + q'x. The penalty of an item is
        y (bound - v), which is 0 where v is at the bound or y is 0.
        """
        twice = Fraction(0)
        for item, letter in enumerate(self.letters):
            lower, upper, _, _ = self.sides(item)
            bound = lower if letter in ("b", "l") else upper
            value = at(values[item], t)
            multiplier = at(multipliers[item], t)
            linear = self.denominator * at(self.given.affine["q"][item], t)
            twice += (multiplier + linear) * value
            twice += 2 * multiplier * (at(bound or ZERO, t) - value)
        units = self.given.units
        unit = units.matrix * (units.numbers * units.rows * self.denominator) ** 2
        return float(twice / (2 * unit))


def plus_multiple(numbers: list[int], factor: int, others: list[int]) -> list[int]:
    """Return a list of numbers with a multiple of another list added to it."""
    return [number + factor * other for number, other in zip(numbers, others, strict=True)]


def at(pair: tuple, t: Fraction) -> Fraction:
    """Return what a pair is at t."""
    return pair[0] + pair[1] * t


def check(problem: dict, segments: list, early: bool = False) -> tuple[list[float], Fraction]:
    """Return the values at both ends of what the segments cover, and where they end; `early`: that may be before 1."""
    equations = LetterEquations(program(problem))
    t = Fraction(0)
    ends = []
    for number, changes in enumerate(segments):
        where = f"segment {number}, from t = {float(t)!r}: "
        changed = equations.read_letters(changes, number == 0, where)
        equations.change_letters(changed, where)
        values, multipliers = equations.solve(where)
        until, failing = equations.end_of_segment(values, multipliers, t, where)
        # One segment may be a point: a path that ends where it begins.
        has_length = t < until or (early and len(segments) == 1)
        need(has_length, f"{where}item {failing} at once violates {equations.letters[failing or 0]}")
        if number == 0:
            ends.append(equations.objective(values, multipliers, t))
        if number == len(segments) - 1:
            ends.append(equations.objective(values, multipliers, until))
        t = until  # where the next segment must hold
    covered = type(segments) is list and segments and (t == 1 or early)
    need(covered, f"the segments cover t up to {float(t)!r} only")
    return ends, t


def change(H: list, inverse: dict, denominator: int, items: list[int]) -> tuple[dict, int]:
    """Return the inverse of H on another basis, which items enter or leave, and its denominator.

    No proof hangs on what is computed here: `LetterEquations` says why. The inverse is part of a table that has new
    items, too. In it the row of an item in the basis gives its u, that of another item its w, as linear functions of
    the w of the basis and the u of the others, times the denominator. An item enters or leaves the basis when its u and
    its w change places. As all entries are minors of H, no division leaves a rest.
    """
    inside = set(inverse)
    table = with_new_items(H, inverse, denominator, [item for item in items if item not in inverse])
    while items:
        row, column = choose_pivot(table, items)
        need(table[row][column], "the letters leave open what the solution is")
        table, denominator = exchange(table, denominator, row, column, inside)
        if row != column:
            table, denominator = exchange(table, denominator, column, row, inside)
            names = {row: column, column: row}  # each now stands in the row and in the column of the other
            table = renamed({item: renamed(entries, names) for item, entries in table.items()}, names)
        inside ^= {row, column}
        items = [item for item in items if item not in (row, column)]
    sign = 1 if denominator > 0 else -1
    result = {}
    for item, entries in table.items():
        if item in inside:
            result[item] = {other: sign * entry for other, entry in entries.items() if other in inside}
    return result, abs(denominator)


def with_new_items(H: list, inverse: dict, denominator: int, new: list[int]) -> dict:
    """Return the table of the basis and of new items, which are not in it yet."""
    right = {}
    for item, row in inverse.items():
        right[item] = {other: -combined(row, H[other]) for other in new}
    table = {item: row | right[item] for item, row in inverse.items()}
    for item in new:
        table[item] = {inner: -right[inner][item] for inner in inverse}
        for other in new:
            column = {inner: right[inner][other] for inner in inverse}
            own = denominator * H[item][other]
            table[item][other] = own + combined(column, H[item])
    return table


def combined(entries: dict, numbers: list) -> int:
    """Return the sum of entries, which are given by item, times the numbers of their items."""
    return sum(entry * numbers[item] for item, entry in entries.items())


def choose_pivot(table: dict, items: list[int]) -> tuple[int, int]:
    """Return a row and a column with an entry that is not 0, if there is one, on the diagonal if there is one there."""
    for item in items:
        if table[item][item]:
            return item, item
    for row in items:
        for column in items:
            if table[row][column]:
                return row, column
    return items[0], items[0]


def exchange(table: dict, denominator: int, row: int, column: int, inside: set) -> tuple[dict, int]:
    """Return the table, and its denominator, after what stands in a row was exchanged for what stands in a column.

    A table is symmetric, but for the sign between items inside of the basis and outside: after an exchange on the
    diagonal it is so again, and half of it need not be computed.
    """
    pivot = table[row][column]
    top = table[row]
    result = {}
    for item, entries in table.items():
        if item == row:
            result[item] = {other: -entry for other, entry in entries.items()}
            result[item][column] = denominator
            continue
        factor = entries[column]
        new = {}
        for other, entry in entries.items():
            if row == column and other in result and other != row:
                twin = result[other][item]
                new[other] = twin if (item in inside) == (other in inside) else -twin
            else:
                new[other] = (entry * pivot - factor * top[other]) // denominator
        new[column] = factor
        result[item] = new
    return result, pivot


def renamed(entries: dict, names: dict) -> dict:
    """Return a dictionary with other keys for some."""
    return {names.get(item, item): entry for item, entry in entries.items()}


# ---- Section 11, Your own data: same ---------------------------------------------------------------------------------


def same(problem: dict, option: str, own: str, positive: str) -> str:
    """Compare the problem with what the reader has; return in words what was compared."""
    signs = problem["y"]  # a program has no samples, and nothing to compare
    if option == "--costs":
        return same_costs(problem, signs, own)
    return same_data(problem, signs, option, own, positive)


def same_costs(problem: dict, signs: list[int], own: str) -> str:
    """Compare caps with C+, C- at t = 0, C+, C- at t = 1, times the weights in a file if one is named."""
    *costs, file = [*own.split(",", 4), ""][:5]
    caps, unit = integers(problem["caps"])
    weights = [1.0] * len(signs)
    if file:
        weights = [float(cell) for [cell] in table_of(file, len(signs), 1)]
    expected = []
    for of_positives, of_negatives in (costs[:2], costs[2:]):
        cost = {1: float(of_positives), -1: float(of_negatives)}
        # A cap is the double to which the product is rounded.
        expected.append([weight * cost[sign] for weight, sign in zip(weights, signs, strict=True)])
    need([[Fraction(cap, unit) for cap in end] for end in caps] == expected, "the costs differ")
    return f"caps_i are the costs {json.dumps(own)}"


def same_data(problem: dict, signs: list[int], option: str, own: str, positive: str) -> str:
    """Compare features, or the kernel matrix, and labels with a CSV file, whose last column has the labels."""
    data, unit = integers(problem[data_field(problem)])
    near = {"--data": 0, "--standardised": 2**-40}[option]  # sums of doubles depend on their order
    said = problem.get("positive", positive)
    label = positive or said
    width = len(data[-1])
    need(label, "the file does not say which label is +1: say it with --positive LABEL")
    rows = table_of(own, len(signs), width + 1)
    same_labels([row[-1] for row in rows], signs, label, said)
    for column in range(width):
        expected = [float(row[column]) for row in rows]
        if option == "--standardised":
            mean = statistics.fmean(expected)
            deviation = statistics.pstdev(expected) or 1.0
            expected = [(number - mean) / deviation for number in expected]
        for row, number in enumerate(expected):
            stated = entry_of(problem, data, row, column)
            off = abs(Fraction(stated, unit) - Fraction(number))
            need(off <= near, f"the certificate is about other data, in column {column}")
    words = f"X or K and y are those of {json.dumps(own)} ({option[2:]}), "
    return f"{words}+1 being the label {json.dumps(label)}"


def entry_of(problem: dict, data: list, row: int, column: int) -> int:
    """Return a feature, or an entry of the matrix, of which the file has the lower triangle alone."""
    if "X" in problem:
        return data[row][column]
    return data[max(row, column)][min(row, column)]


def same_labels(labels: list[str], signs: list[int], label: str, said: str) -> None:
    """Refuse labels that are not +1 exactly where one of them says so, which is not another than the file says."""
    plain = plain_cell(label)
    stated = plain_cell(said)
    need(stated == plain or stated not in labels, f"the file says that +1 is the label {said!r}, not {label!r}")
    positive = [each == plain for each in labels]
    need(positive == [sign > 0 for sign in signs], f"the labels differ, where +1 is {label!r}")


def plain_cell(cell: str) -> str:
    """Return a cell without blanks around it; 1.0 is the label 1."""
    return cell.strip().removesuffix(".0")


def table_of(file: str, count: int, width: int) -> list[list[str]]:
    """Return the rows of a CSV file, without its header: one row too many, which can be no sample."""
    with open(file, newline="", encoding="utf-8-sig") as stream:
        rows = [[plain_cell(cell) for cell in row] for row in csv.reader(stream) if row]
    if len(rows) == count + 1:
        header, *others = rows
        features = header[:-1] or header  # in a table of weights the only cell
        words = any(set(cell) - set("+-.0123456789eE") for cell in features)
        if words and header[-1] not in [row[-1] for row in others]:  # a sample with a value missing has a known label
            rows = others
    fits = len(rows) == count and {len(row) for row in rows} == {width}
    remedy = "; make of categories columns of 0 and 1, one for all but the first" if len(rows) == count else ""
    need(fits, f"{len(rows)} rows in {file!r}, not {count} of {width} cells each{remedy}")
    return rows


# ---- The statement: main ---------------------------------------------------------------------------------------------


def value(problem: dict, of_program: float) -> float:
    """Return the value of what the words say is minimised; a classifier is the dual, with the opposite value."""
    if problem["kind"] == "program":
        return of_program
    return -of_program / abs(Fraction(problem.get("lam", 1)))


def main(file: str, *options: str) -> str:
    """Return the statement that is proved; ArithmeticError, or what reading raises, where it is not."""
    content, about = read(file, "exact certificate 1", {"segments", "ray"}, *options)
    problem = content["problem"]
    segments = content["segments"]
    ends, t = check(problem, segments, "ray" in content)
    rounded_down = math.floor(t * 2**52) / 2**52
    where = f"for every t in [0, {rounded_down:.17g}], on {len(segments)} segments"
    words = WORDS[problem["kind"]]
    at_ends = [value(problem, end) for end in ends]
    return (
        f"PROVED without rounding: {where},\n"
        f"what the file states minimises {words}.\n"
        f"Values at both ends, as doubles: {at_ends}.\n"
        f"{about}"
    )


def why_not(error: Exception) -> str:
    """Return the line that says why a file is refused."""
    if isinstance(error, ArithmeticError):
        return f"NOT PROVED: {error}"
    return f"NOT PROVED: cannot be read, {error!r}"


if __name__ == "__main__":
    try:
        print(main(*sys.argv[1:]))
    except Exception as error:
        sys.exit(why_not(error))
