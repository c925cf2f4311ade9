"""Optimal values of small programs in fractions, by trying every basis: nothing of the package is used."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

Row = Sequence[Fraction]


def solved(M: Sequence[Row], right: Sequence[Fraction]) -> list[Fraction] | None:
    """The solution of M x = right by elimination; None where M is singular."""
    n = len(M)
    rows = [[Fraction(v) for v in row] + [Fraction(r)] for row, r in zip(M, right, strict=True)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k] != 0), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[n] for row in rows]


def dot(a: Row, b: Row) -> Fraction:
    """The inner product."""
    return sum((u * v for u, v in zip(a, b, strict=True)), Fraction(0))


def value(P: Sequence[Row], q: Row, A: Sequence[Row], b: Row) -> Fraction | str:
    """The least of ``x'Px/2 + q'x`` where ``A x <= b``, which must hold no line; or why there is none."""
    found = optima(P, q, A, b)
    return found if isinstance(found, str) else found[0]


def optima(P: Sequence[Row], q: Row, A: Sequence[Row], b: Row) -> tuple[Fraction, list[list[Fraction]]] | str:
    """The least value and the vertices (of a curved objective the point) where it is; or why there is none.

    P is positive definite, or all 0.
    """
    n, m = len(q), len(A)
    curved = any(v != 0 for row in P for v in row)
    found: list[tuple[Fraction, list[Fraction]]] = []
    for size in range(n + 1) if curved else (n,):
        for chosen in combinations(range(m), size):
            own = [A[i] for i in chosen]
            if curved:  # the least on the rows that hold with equality
                top = [[*P[j], *(row[j] for row in own)] for j in range(n)]
                low = [[*row, *([Fraction(0)] * size)] for row in own]
                x = solved([*top, *low], [*(-v for v in q), *(b[i] for i in chosen)])
            else:
                x = solved(own, [b[i] for i in chosen])
            if x is None or any(dot(row, x[:n]) > side for row, side in zip(A, b, strict=True)):
                continue
            x = x[:n]
            found.append((dot(x, [dot(row, x) for row in P]) / 2 + dot(q, x), x))
    if not found:
        return "infeasible"
    if not curved and _falls(q, A):
        return "unbounded"
    least = min(own for own, _ in found)
    points: list[list[Fraction]] = []
    for own, x in found:
        if own == least and x not in points:
            points.append(x)
    return least, points


def _falls(q: Row, A: Sequence[Row]) -> bool:
    """Whether q falls along an extreme ray of the directions with ``A d <= 0``."""
    n = len(q)
    for chosen in combinations(range(len(A)), n - 1):
        for j in range(n):  # a direction whose entry j is 1 or -1
            for sign in (1, -1):
                unit = [Fraction(int(k == j)) for k in range(n)]
                d = solved([*(A[i] for i in chosen), unit], [*([Fraction(0)] * (n - 1)), Fraction(sign)])
                if d is not None and all(dot(row, d) <= 0 for row in A) and dot(q, d) < 0:
                    return True
    return False
