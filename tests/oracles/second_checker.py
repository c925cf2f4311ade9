"""A second checker of certificate files of the 2C-SVM, written from the page of the format alone: fractions, by points.

Nothing is followed here. A segment's letters give linear equations, which Gauss's elimination solves at two values of
t; conditions are functions on them. Slow, and in another style than `paretoclf.proof.check`.
"""

from __future__ import annotations

import gzip
import json
from fractions import Fraction

ZERO, ONE = Fraction(0), Fraction(1)


def objection(file) -> str:
    """Why the file is no proof; empty if it is one."""
    raw = file.read_bytes()
    content = json.loads(gzip.decompress(raw) if str(file).endswith(".gz") else raw)
    problem = content["problem"]
    y = [Fraction(v) for v in problem["y"]]
    if any(v * v != 1 for v in y):
        return "labels"
    n = len(y)
    K = gram(problem, n)
    if not semidefinite([row[:] for row in K]):
        return "semidefinite"
    start, stop = ([Fraction(v) for v in caps] for caps in problem["caps"])
    still = {i for i in range(n) if start[i] == stop[i] == 0}
    letters = list(content["segments"][0])
    t = ZERO
    for number, changes in enumerate(content["segments"]):
        if number:
            for item, letter in changes:
                letters[item] = letter
        if len(letters) != n + 1 or not set(letters) <= set("lui") or letters[n] not in "li":
            return f"letters of segment {number}"
        ends = []
        for at in (ZERO, ONE):
            caps = [(1 - at) * a + at * b for a, b in zip(start, stop, strict=True)]
            solution = solve(K, y, caps, letters)
            if solution is None:
                return f"equations of segment {number}"
            ends.append(slacks(K, y, caps, still, letters, *solution))
        until = ONE
        for first, last in zip(*ends, strict=True):
            here = first + (last - first) * t
            if here < 0:
                return f"a condition of segment {number}"
            if last < first:
                until = min(until, first / (first - last))
        if until <= t:
            return f"segment {number} has no length"
        t = until
    return "" if t == 1 else "not all of [0, 1]"


def gram(problem, n):
    """The matrix in fractions."""
    if "X" in problem:
        X = [[Fraction(v) for v in row] for row in problem["X"]]
        K = [[sum((a * b for a, b in zip(p, q, strict=True)), ZERO) for q in X] for p in X]
    else:
        low = [[Fraction(v) for v in row] for row in problem["K"]]
        K = [[low[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]
    for i, v in enumerate(problem.get("diagonal", [0] * n)):
        K[i][i] += Fraction(v)
    return K


def semidefinite(K) -> bool:
    """By symmetric elimination."""
    for k in range(len(K)):
        if K[k][k] < 0 or (K[k][k] == 0 and any(K[k][k:])):
            return False
        for i in range(k + 1, len(K)):
            share = K[i][k] / K[k][k] if K[k][k] else ZERO
            K[i] = [a - share * b for a, b in zip(K[i], K[k], strict=True)]
    return True


def solve(K, y, caps, letters):
    """Multipliers and b from the letters, by Gauss; None where they are not determined."""
    n = len(y)
    fixed = {i: ZERO if letter == "l" else caps[i] for i, letter in enumerate(letters[:n]) if letter != "i"}
    unknown = [i for i in range(n) if i not in fixed] + ([n] if letters[n] == "l" else [])
    rows = []
    for i in unknown:
        if i < n:
            row = [y[i] * y[j] * K[i][j] if j < n else y[i] for j in unknown]
            right = 1 - sum((y[i] * y[j] * K[i][j] * a for j, a in fixed.items()), ZERO)
        else:
            row = [y[j] if j < n else ZERO for j in unknown]
            right = -sum((y[j] * a for j, a in fixed.items()), ZERO)
        rows.append([*row, right])
    for k in range(len(rows)):
        pivot = next((r for r in range(k, len(rows)) if rows[r][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for r in range(len(rows)):
            if r != k and rows[r][k]:
                rows[r] = [a - rows[r][k] * b for a, b in zip(rows[r], rows[k], strict=True)]
    found = {i: row[-1] for i, row in zip(unknown, rows, strict=True)}
    return [found.get(i, fixed.get(i)) for i in range(n)], found.get(n, ZERO)


def slacks(K, y, caps, still, letters, alpha, b):
    """What must not be negative; ``still`` are samples whose cap is 0 all along."""
    n = len(y)
    balance = sum((a * s for a, s in zip(alpha, y, strict=True)), ZERO)
    out = [balance, -balance]
    for i in range(n):
        margin = y[i] * (sum((K[i][j] * y[j] * alpha[j] for j in range(n)), ZERO) + b) - 1
        out += [alpha[i], caps[i] - alpha[i]]
        if letters[i] == "l":
            out.append(ZERO if i in still else margin)
        elif letters[i] == "u":
            out.append(-margin)
        else:
            out += [margin, -margin]
    return out
