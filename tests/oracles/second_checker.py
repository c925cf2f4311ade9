"""A second checker of certificate files, written from the page of the format alone: fractions, by points.

Nothing is followed here. A problem becomes a list of items with functions of t; a segment's letters give linear
equations, which Gauss's elimination solves at two values of t; conditions are affine functions between them. Slow, and
in another style than `paretoclf.proof.check`.
"""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from itertools import pairwise

ZERO, ONE = Fraction(0), Fraction(1)


def objection(file) -> str:
    """Why the file is no proof; empty if it is one."""
    raw = file.read_bytes()
    return objection_to(json.loads(gzip.decompress(raw) if str(file).endswith(".gz") else raw))


def objection_to(content) -> str:
    """The same of what is in a file."""
    why, t, program = followed(content["problem"], content["segments"])
    if why or t == 1:
        return why
    if "ray" not in content:
        return "not all of [0, 1]"
    return "" if gains(program, t, *content["ray"]) else "the ray"


def followed(problem, segments):
    """Why not, up to which t the segments go, and the program."""
    program = stated(problem)
    if isinstance(program, str):
        return program, ZERO, None
    n, m = len(program["P"]), len(program["A"])
    letters, t = list(segments[0]), ZERO
    for number, changes in enumerate(segments):
        if number:
            for item, letter in changes:
                letters[item] = letter
        if len(letters) != n + m or not set(letters) <= set("bliua"):
            return f"letters of segment {number}", t, program
        ends = []
        for at in (ZERO, ONE):
            solution = solve(program, letters, at)
            if solution is None:
                return f"equations of segment {number}", t, program
            ends.append(slacks(program, letters, at, *solution))
        until = ONE
        for first, last in zip(*ends, strict=True):
            if first + (last - first) * t < 0:
                return f"a condition of segment {number}", t, program
            if last < first:
                until = min(until, first / (first - last))
        if until <= t and not (t == 0 and len(segments) == 1):
            return f"segment {number} has no length", t, program
        t = until
    return "", t, program


def stated(problem):
    """P, A, and of all items what is affine in t at both ends; a text where it is no problem."""
    kind = problem["kind"]
    n = len(problem["X" if "X" in problem else "K"])
    y = [Fraction(v) for v in problem.get("y", [1] * n)]
    if len(y) != n or any(v * v != 1 for v in y):
        return "labels"
    K = gram(problem, n)
    P = [[y[i] * y[j] * K[i][j] for j in range(n)] for i in range(n)]
    for i, v in enumerate(problem.get("diagonal", [0] * n)):
        P[i][i] += Fraction(v)
        if Fraction(v) < 0:
            return "diagonal"
    if not semidefinite([row[:] for row in P]):
        return "semidefinite"
    if kind == "program":
        numbers = {k: [[None if v is None else Fraction(v) for v in end] for end in problem[k]] for k in SIDES}
        q = [[Fraction(v) for v in row] for row in problem["q"]]
        A = [[Fraction(v) for v in dense(row, n)] for row in problem["A"]]
    else:
        A = {"2C-SVM": [y], "margins": [y], "quantile SVM": []}.get(kind)
        if kind == "2nu-SVM":
            A = [[ONE if v == side else ZERO for v in y] for side in (1, -1)]
        sums = [[Fraction(v) for v in end] for end in problem.get("sums", [[ZERO] * len(A)] * 2)]
        linear = {"2C-SVM": -ONE, "2nu-SVM": ZERO}
        if kind == "margins":
            q = [[Fraction(v) for v in end] for end in problem["q"]]
        else:
            q = [[-abs(Fraction(problem["lam"])) if kind == "quantile SVM" else linear[kind]] * n] * 2
        caps = [[Fraction(v) for v in end] for end in problem["caps"]] if kind != "margins" else [[None] * n] * 2
        numbers = {
            "lower": [[ZERO] * n + end for end in sums],
            "upper": [cap + end for cap, end in zip(caps, sums, strict=True)],
            "below": [[None] * (n + len(A))] * 2,
            "above": [[None] * (n + len(A))] * 2,
        }
    if any((v is None) != (w is None) for k in SIDES for v, w in zip(*numbers[k], strict=True)):
        return "null at one end"
    if any(v is not None and v < 0 for k in SIDES[2:] for end in numbers[k] for v in end):
        return "prices"
    return {"P": P, "A": A, "q": q, **numbers}


SIDES = ("lower", "upper", "below", "above")


def dense(row, width):
    """A row that may be a list of entries."""
    entries = dict(row) if row and isinstance(row[0], list) else dict(enumerate(row))
    if [*entries] != sorted(entries) or not all(type(k) is int and 0 <= k < width for k in entries):
        raise ValueError("columns")
    return [entries.get(k, 0) for k in range(width)] if not row or isinstance(row[0], list) else row


def gram(problem, n):
    """The matrix in fractions."""
    extra = ONE if problem.get("bias") else ZERO
    if "X" in problem:
        X = [[Fraction(v) for v in row] for row in problem["X"]]
        return [[sum((a * b for a, b in zip(p, q, strict=True)), extra) for q in X] for p in X]
    low = [[Fraction(v) for v in dense(row, i + 1)] for i, row in enumerate(problem["K"])]
    return [[low[max(i, j)][min(i, j)] + extra for j in range(n)] for i in range(n)]


def semidefinite(K) -> bool:
    """By symmetric elimination."""
    for k in range(len(K)):
        if K[k][k] < 0 or (K[k][k] == 0 and any(K[k][k:])):
            return False
        for i in range(k + 1, len(K)):
            if K[i][k]:
                share = K[i][k] / K[k][k]
                K[i] = [a - share * b for a, b in zip(K[i], K[k], strict=True)]
    return True


def at_(program, name, i, t):
    """What is affine in t, at t; None where there is none."""
    first, last = (end[i] for end in program[name])
    return None if first is None or last is None else (1 - t) * first + t * last


def solve(program, letters, t):
    """Values and multipliers of all items from the letters, by Gauss; None where they are not determined.

    Unknowns are all x, and the multipliers of all rows. Each item gives one equation: its value or its multiplier is
    known.
    """
    P, A = program["P"], program["A"]
    n, m = len(P), len(A)
    rows = []
    for i, letter in enumerate(letters):
        value = letter in "lu"
        name = {"b": "below", "a": "above", "l": "lower", "u": "upper"}.get(letter)
        known = ZERO if letter == "i" else at_(program, name, i, t)
        if letter in "ba" and at_(program, "lower" if letter == "b" else "upper", i, t) is None:
            return None
        if known is None and letter == "l" and at_(program, "upper", i, t) is None:
            known = ZERO  # a free item that waits at 0
        if known is None:
            return None
        known = -known if letter == "a" else known
        if i < n:
            if value:
                row = [ONE if j == i else ZERO for j in range(n + m)]
            else:  # y_x = Px + q - A'r
                row, known = [*P[i], *(-A[r][i] for r in range(m))], known - at_(program, "q", i, t)
        elif value:
            row = [*A[i - n], *[ZERO] * m]
        else:
            row = [ONE if j == i else ZERO for j in range(n + m)]
        rows.append([*row, known])
    solution = gauss(rows)
    if solution is None:
        return None
    x, r = solution[:n], solution[n:]
    y = [
        sum((p * v for p, v in zip(P[i], x, strict=True)), at_(program, "q", i, t))
        - sum((A[k][i] * r[k] for k in range(m)), ZERO)
        for i in range(n)
    ]
    return x + [sum((a * v for a, v in zip(row, x, strict=True)), ZERO) for row in A], y + r


def gauss(rows):
    """The solution of equations whose right side is the last column; None where it is not the only one."""
    for k in range(len(rows)):
        pivot = next((r for r in range(k, len(rows)) if rows[r][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for r in range(len(rows)):
            if r != k and rows[r][k]:
                rows[r] = [a - rows[r][k] * b for a, b in zip(rows[r], rows[k], strict=True)]
    return [row[-1] for row in rows]


def slacks(program, letters, t, v, y):
    """What must not be negative, in the same order whatever t is."""
    out = []
    for i, letter in enumerate(letters):
        low, up, below, above = (at_(program, name, i, t) for name in SIDES)
        fixed = all(
            a is not None and a == b for a, b in zip(*[[e[i] for e in program[k]] for k in SIDES[:2]], strict=True)
        )
        out.append(ZERO if low is None or up is None else up - low)
        if letter == "l" and low is None:
            out += [y[i], -y[i]]
        elif letter == "l":
            out.append((ZERO if above is None else y[i] + above) if fixed else y[i])
            out.append(ZERO if below is None else below - y[i])
        elif letter == "u":
            out += [-y[i], ZERO if above is None else y[i] + above]
        elif letter == "i":
            out += [ZERO if low is None else v[i] - low, ZERO if up is None else up - v[i]]
        elif letter == "b":
            out.append(low - v[i])
        else:
            out.append(v[i] - up)
    return out


def gains(program, t, kind, given) -> bool:
    """Whether a ray proves that no t' > t has a minimum: something affine is at most 0 at t and falls."""
    P, A = program["P"], program["A"]
    n, numbers = len(P), [Fraction(v) for v in given]

    def total(at):
        if kind == "crossing":
            if any(at_(program, name, int(given[0]), at) is not None for name in SIDES[2:]):
                raise ValueError
            return at_(program, "upper", int(given[0]), at) - at_(program, "lower", int(given[0]), at)
        if kind == "infeasible":
            y = [-sum((A[k][i] * r for k, r in enumerate(numbers)), ZERO) for i in range(n)] + numbers
            if any(at_(program, "below" if w > 0 else "above", i, at) is not None for i, w in enumerate(y) if w):
                raise ValueError
            return -sum((w * at_(program, "lower" if w > 0 else "upper", i, at) for i, w in enumerate(y) if w), ZERO)
        moves = numbers + [sum((a * d for a, d in zip(row, numbers, strict=True)), ZERO) for row in A]
        if any(sum((p * d for p, d in zip(row, numbers, strict=True)), ZERO) for row in P):
            raise ValueError
        cost = sum((at_(program, "q", i, at) * d for i, d in enumerate(numbers)), ZERO)
        for i, d in enumerate(moves):
            if d and at_(program, "upper" if d > 0 else "lower", i, at) is not None:
                cost += abs(d) * at_(program, "above" if d > 0 else "below", i, at)
        return cost

    try:
        first, last = total(ZERO), total(ONE)
    except (TypeError, ValueError):
        return False
    return last < first and (1 - t) * first + t * last <= 0


def gap_of(content) -> Fraction:
    """A lower bound on the largest gap of a bounded file, from its definition at 5 points of each stretch of knots.

    ArithmeticError where a point is not feasible or its dual value is not finite.
    """
    program = stated(content["problem"])
    if isinstance(program, str):
        raise ArithmeticError(program)
    n, m = len(program["P"]), len(program["A"])
    e, letters, knots = Fraction(content["stretch"]), ["l"] * n, []
    for t, changes, rows in content["points"]:
        for i, v in changes:
            letters[i] = v
        at = Fraction(t)
        names = {"l": "lower", "u": "upper"}
        x = [at_(program, names[v], i, at) if v in ("l", "u") else Fraction(v) for i, v in enumerate(letters)]
        knots.append((at, x, [Fraction(r) for r in rows]))
    if knots[0][0] != 0 or knots[-1][0] != 1 or any(len(r) != m for _, _, r in knots):
        raise ArithmeticError("knots")
    worst = ZERO
    for (t0, x0, r0), (t1, x1, r1) in pairwise(knots):
        if t1 < t0:
            raise ArithmeticError("knots fall")
        for share in (ZERO, Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), ONE):
            t, x, r = (blend(a, b, share) for a, b in ((t0, t1), (x0, x1), (r0, r1)))
            worst = max(worst, gap_at(program, t, x, r, e))
    return worst


def blend(a, b, share):
    """What is affine between two ends."""
    if isinstance(a, list):
        return [blend(p, q, share) for p, q in zip(a, b, strict=True)]
    return (1 - share) * a + share * b


def gap_at(program, t, x, r, e):
    """f(x) minus the dual value at (1 + e) x and r, both from their definitions."""
    P, A, n = program["P"], program["A"], len(x)
    Px = [sum((p * v for p, v in zip(row, x, strict=True)), ZERO) for row in P]
    q = [at_(program, "q", i, t) for i in range(n)]
    v = x + [sum((a * w for a, w in zip(row, x, strict=True)), ZERO) for row in A]
    y = [(1 + e) * Px[i] + q[i] - sum((A[k][i] * r[k] for k in range(len(A))), ZERO) for i in range(n)] + r
    dual = -((1 + e) ** 2) * sum((a * b for a, b in zip(x, Px, strict=True)), ZERO) / 2
    for i, w in enumerate(y):
        low, up = at_(program, "lower", i, t), at_(program, "upper", i, t)
        if (low is not None and v[i] < low) or (up is not None and v[i] > up):
            raise ArithmeticError("not feasible")
        if w:
            bound = low if w > 0 else up
            if bound is None:
                raise ArithmeticError("no dual value")
            dual += w * bound
    return sum((a * (b / 2 + c) for a, b, c in zip(x, Px, q, strict=True)), ZERO) - dual
