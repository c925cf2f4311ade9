"""Checks a certificate: an optimal solution of a convex quadratic program for every t in [0, 1], without rounding.

    python check.py FILE [--data OWN.csv | --standardised OWN.csv] [--positive LABEL] [--costs C+,C-,C+,C-[,WEIGHTS]]
The program: minimise x'Px / 2 + q(t)'x + penalties. An item is a variable x_j or a row of Ax, v its value. A unit of v
below the lower bound costs `below`, above the upper one `above`; null is no bound or no price. q, bounds and prices are
affine in t, P is positive semidefinite. x is optimal if for some y, Px + q = y_x + A'y_r and, item by item, one of
    b  y = below     and v <= lower
    l  v = lower     and 0 <= y <= below   (-above <= y <= below where lower = upper all along)
    i  y = 0         and lower <= v <= upper
    u  v = upper     and -above <= y <= 0
    a  y = -above    and v >= upper
for then f(x') - f(x) >= sum of (penalty(v') - penalty(v) + y (v' - v)) >= 0 whatever x' is. Letters are thus equations
with a solution affine in t, optimal on an interval. These must cover [0, 1], or [0, t] with a ray (check_ray.py). Of
a classifier x are multipliers, P_ij = y_i y_j K_ij (+ diagonal), K = XX' or given. All is found in integers.
"""

import csv
import gzip
import hashlib
import json
import math
import statistics
import sys
from fractions import Fraction
from operator import add, mul

SIDES = ("lower", "upper", "below", "above")
WORDS = {
    "program": "x'Px / 2 + q(t)'x + penalties",
    "2C-SVM": "|w|^2 / 2 + sum of caps_i(t) max(0, 1 - y_i (w.x_i + b))",
    "2nu-SVM": "|w|^2 / 2 - sums(t)'(rho - b, rho + b) + sum of caps_i(t) max(0, rho - y_i (w.x_i + b))",
    "quantile SVM": "|lam| |w|^2 / 2 + sum of caps_i(t) max(0, 1 - y_i w.x_i), x_i with a constant 1 if bias",
    "margins": "|w|^2 / 2 + sum of xi_i^2 / (2 diagonal_i) with y_i (w.x_i + b) >= -q_i(t) - xi_i, where 0 / 0 = 0",
}
OWN = {"2C-SVM": {"caps"}, "2nu-SVM": {"caps", "sums"}, "quantile SVM": {"caps", "lam", "bias"}, "margins": {"q"}}
LINEAR = {  # the program's q at both ends, A, bounds of its rows
    "2C-SVM": lambda p, y: ([[-1] * len(y)] * 2, [y], [[0], [0]]),
    "2nu-SVM": lambda p, y: ([[0] * len(y)] * 2, [[int(v == s) for v in y] for s in (1, -1)], p["sums"]),
    "quantile SVM": lambda p, y: ([[str(-abs(Fraction(p["lam"])))] * len(y)] * 2, [], [[], []]),
    "margins": lambda p, y: (p["q"], [y], [[0], [0]]),
}


def need(condition: object, text: str) -> None:
    if not condition:
        raise ArithmeticError(text)


def integers(rows: list) -> tuple[list[list[int]], int]:  # from numbers, doubles, fractions as text; one denominator
    good = (type(v) in (int, float) or (type(v) is str and set(v) <= set("-/0123456789")) for row in rows for v in row)
    need(all(type(row) is list for row in [rows, *rows]) and all(good), "no list of numbers")
    one = math.lcm(*(Fraction(v).denominator for row in rows for v in row))
    return [[int(Fraction(v) * one) for v in row] for row in rows], one


def value(p: dict, v: float) -> float:  # that of what is minimised, from that of the program
    return v if p["kind"] == "program" else -v / abs(Fraction(p.get("lam", 1)))


def program(p: dict) -> tuple[int, list[list[int]], dict, tuple]:
    """Number of variables, the matrix [[P, A'], [A, 0]], pairs (at t = 0, rate) of all else, units."""
    own, name, g, A = p["kind"] != "program" and OWN[p["kind"]], "X" if "X" in p else "K", p, p.get("A")
    fields = {name, "y", *own} if own else {"K", "q", "A", *SIDES}
    need(fields <= p.keys() <= fields | {"kind", "about", "diagonal", "positive" if own else "kind"}, "wrong fields")
    need({type(p.get(k, "")) for k in ("kind", "about", "positive")} == {str}, "about and positive must be texts")
    integers([*p.get("caps", []), *p.get("sums", []), *p.get("q", []), [lam := p.get("lam", 1)]])  # no null
    need(Fraction(lam) and type(p.get("bias", True)) is bool, "lam must not be 0, bias be true or false")
    (M, S), n, s = integers(p[name]), len(p[name]), p.get("y", [1] * len(p[name]))
    need([repr(v) in ("1", "-1") for v in s] == [True] * n, "y must be 1 or -1, one a sample")
    if own:
        q, A, ends = LINEAR[p["kind"]](p, s)
        caps, no = p.get("caps", [[None] * n] * 2), [[None] * (n + len(A))] * 2
        g = {"q": q, "lower": [[0] * n + e for e in ends], "upper": [*map(add, caps, ends)], "below": no, "above": no}
    (A, R), ([more], U), m, pairs = integers(A), integers([p.get("diagonal", [0] * n)]), len(A), {}
    shape = [len(M[0]) if name == "X" else i + 1 for i in range(n)]
    need([*map(len, M)] == shape and {n} == {len(r) for r in [more, *A]}, f"shape of {name}, A or diagonal")
    M = [[*r, S] if name == "X" else [v + S for v in r] for r in M] if p.get("bias") else M  # a feature 1
    at = (lambda i, j: sum(map(mul, M[i], M[j]))) if name == "X" else (lambda i, j: M[max(i, j)][min(i, j)])
    P, S = [[at(i, j) for j in range(n)] for i in range(n)], S ** (2 if name == "X" else 1)
    P = [[s[i] * s[j] * U * v + (i == j) * S * more[i] for j, v in enumerate(row)] for i, row in enumerate(P)]
    need(min(more) >= 0 and (name == "X" or semidefinite(P)), "P is not proved positive semidefinite")
    ends, U = {"q": [end + [0] * m for end in g["q"]], **{k: g[k] for k in SIDES}}, U * S
    need(all([*map(list.__len__, both)] == [n + m] * 2 for both in ends.values()), "shape of q, bounds or prices")
    twins = [pair for a, b in ends.values() for pair in (zip(a, b, strict=True), zip(b, a, strict=True))]
    whole, H = integers([[0 if v is other is None else v for v, other in pair] for pair in twins])  # null at both ends
    for k, x, z in zip(ends, whole[::2], whole[1::2], strict=True):
        by = [R] * n + [R * R] * m if k in SIDES[:2] else [R * U] * n + [U] * m
        pairs[k] = [v if v is None else (a * u, (b - a) * u) for v, a, b, u in zip(ends[k][0], x, z, by, strict=True)]
    need(all(not e or min(e[0], sum(e)) >= 0 for k in SIDES[2:] for e in pairs[k]), "a price is negative")
    pairs["above"] = [e and (-e[0], -e[1]) for e in pairs["above"]]  # what y is there
    return n, [a + [r[i] for r in A] for i, a in enumerate(P)] + [r + [0] * m for r in A], pairs, (U, H, R)


def semidefinite(P: list) -> bool:  # 2^256 P / one = LL' + R, R diagonally dominant; or elimination without a rest
    n, one, d, L = len(P), max(1, *map(max, P)), 1, []
    for each in P:
        row = []
        for v, other in zip(each, L, strict=False):  # what the division leaves to R is less than other[-1] <= 2^128
            row.append(((v << 256) // one - sum(map(mul, row, other))) // other[-1])
        rest = (each[len(L)] << 256) // one - sum(map(mul, row, row)) - (n << 130)
        if rest <= 0:
            break
        L.append([*row, math.isqrt(rest)])
    while len(L) < n and P and (P[0][0] > 0 or not any(P[0])):
        p, *top = P[0]
        P, d = [[(p * v - r[0] * f) // d if p else v for v, f in zip(r[1:], top, strict=True)] for r in P[1:]], p or d
    return len(L) == n or not P


def change(H, T: dict, D: int, items: list[int]) -> tuple[dict, int]:
    """Items enter the basis or leave it; T / D is the inverse of H on the basis, and no division leaves a rest."""
    new, now = [i for i in items if i not in T], set(T)  # now: what is in the basis
    right = {b: {j: -sum(v * H[k][j] for k, v in row.items()) for j in new} for b, row in T.items()}
    low = {i: {j: D * H[i][j] + sum(H[i][b] * right[b][j] for b in T) for j in new} for i in new}
    T = {b: T[b] | right[b] for b in T} | {i: {b: -right[b][i] for b in T} | low[i] for i in new}
    while items:
        r, s = max(((r, s) for r in items for s in items), key=lambda at: (T[at[0]][at[1]] != 0, at[0] == at[1]))
        need(T[r][s], "the letters leave open what the solution is")
        for a, b in dict.fromkeys([(r, s), (s, r)]):
            p, top, old, T = T[a][b], T[a], T, {}
            for i, f in old.items():  # T[i][j] = T[j][i], or minus that if one of the two is in the basis
                twin = {j: T[j][i] if (i in now) == (j in now) else -T[j][i] for j in T if r == s and j != b}
                T[i] = {j: v if j == b else twin.get(j) or (v * p - f[b] * top[j]) // D for j, v in f.items()}
            T[a], D = {j: D if j == b else -v for j, v in top.items()}, p
        other, now = {r: s, s: r}, now ^ {r, s}
        T = {other.get(i, i): {other.get(j, j): v for j, v in f.items()} for i, f in T.items()}
        items = [i for i in items if i not in (r, s)]
    return {i: {j: v if D > 0 else -v for j, v in T[i].items() if j in now} for i in T if i in now}, abs(D)


def check(p: dict, segments: list, early: bool = False) -> tuple[list[float], Fraction]:  # values; last t
    n, H, g, (U, h, R) = program(p)
    sides, N, no = list(zip(*(g[k] for k in SIDES), strict=True)), len(H), (0, 0)
    level = {"b": [e[0] and e[2] for e in sides], "l": [e[0] or (None if e[1] else no) for e in sides], "i": [no] * N}
    level |= {"u": g["upper"], "a": [e[1] and e[3] for e in sides]}
    letters, known, Hu = [""] * N, [no] * N, [[0] * N, [0] * N]  # Hu: H times what is known outside of the basis
    t, T, D, values = Fraction(0), {}, 1, []
    for k, changes in enumerate(segments):
        where, before, moved = f"segment {k}, from t = {float(t)!r}: ", list(letters), []
        need(k or (type(changes) is str and len(changes) == N), f"{where}there must be {N} letters")
        for i, new in changes if k else enumerate(changes):
            need(type(i) is int and 0 <= i < N and new in [*level], f"{where}no item {i!r:.9} or letter {new!r:.9}")
            letters[i] = new
        for i in (i for i in range(N) if letters[i] != before[i]):
            (a, b), q, now = level[letters[i]][i] or (None, None), g["q"][i], (letters[i] in "lu") == (i >= n)
            need(a is not None, f"{where}item {i} has no bound or price for {letters[i]}")
            new = (a - q[0], b - q[1]) if now else (a, b) if i < n else (-a, -b)
            by = [(not now) * new[s] - (i not in T) * known[i][s] for s in (0, 1)]
            Hu = [[a + b * h for a, h in zip(x, H[i], strict=True)] if b else x for x, b in zip(Hu, by, strict=True)]
            known[i], moved = new, moved + [i] * (now != (i in T))
        T, D = change(H, T, D, moved)
        u, w, points, rows, until, last = [], [], [], [[h[i] for i in T] for h in H], Fraction(1), None
        for s in (0, 1):
            some = {i: sum(v * (known[j][s] - Hu[s][j]) for j, v in row.items()) for i, row in T.items()}
            u.append([some.get(i, D * e[s]) for i, e in enumerate(known)])
            w.append([D * a + sum(map(mul, some.values(), h)) for a, h in zip(Hu[s], rows, strict=True)])
        need(D and all(w[s][i] == D * known[i][s] for i in T for s in (0, 1)), where + "no solution")
        for i, (a, b, c, d) in enumerate(zip(*u, *w, strict=True)):
            q, lower, upper, below, above = (e and (D * e[0], D * e[1]) for e in (g["q"][i], *sides[i]))
            v, y = ((a, b), (c + q[0], d + q[1])) if i < n else ((c, d), (-a, -b))
            asked = {"b": [(lower, v)], "a": [(v, upper)], "i": [(v, lower), (upper, v)], "u": [(no, y), (y, above)]}
            asked["l"] = [(y, above if lower == upper else no), (below, y), *[(y, no), (no, y)] * (not lower)]
            for e, f in [(upper, lower), *asked[letters[i]]]:
                a, b = (e[0] - f[0], e[1] - f[1]) if e and f else no
                need(a * t.denominator + b * t.numerator >= 0, f"{where}item {i} violates what {letters[i]} asks")
                if b < 0 and a * until.denominator < -b * until.numerator:
                    until, last = Fraction(a, -b), i
            points.append((y, v, (lower if letters[i] in "bl" else upper) or no, q))
        need(t < until or (early and len(segments) == 1), f"{where}item {last} at once violates {letters[last or 0]}")
        for s in [t] * (k == 0) + [until] * (k == len(segments) - 1):
            lines = ([a + b * s for a, b in point] for point in points)
            values.append(float(sum(y * (2 * e - v) + q * v for y, v, e, q in lines) / (2 * U * (h * R * D) ** 2)))
        t = until
    need(type(segments) is list and segments and (t == 1 or early), f"the segments cover t up to {float(t)!r} only")
    return values, t


def table(file: str, n: int, width: int) -> list[list[str]]:
    """Rows of a CSV file; a header is one row too many, some feature in it no number, and its last cell no label."""
    with open(file, newline="", encoding="utf-8-sig") as stream:
        rows = [[v.strip().removesuffix(".0") for v in row] for row in csv.reader(stream) if row]
    header = len(rows) == n + 1 and any({*v} - {*"+-.0123456789eE"} for v in rows[0][:-1] or rows[0])
    rows = rows[1:] if header and rows[0][-1] not in [row[-1] for row in rows[1:]] else rows
    need([len(rows), {*map(len, rows)}] == [n, {width}], f"{len(rows)} rows in {file!r}, not {n} of {width} cells each")
    return rows


def same(p: dict, option: str, own: str, positive: str) -> str:  # what is as the reader has it
    y, said, (given, one) = p["y"], p.get("positive", positive), integers(p["X"] if "X" in p else p["K"])
    if option == "--costs":  # C+, C- at t = 0, C+, C- at t = 1, a file of weights or none
        (*c, file), (caps, one) = [*own.split(",", 4), ""][:5], integers(p["caps"])
        w = [float(v) for (v,) in table(file, len(y), 1)] if file else [1.0] * len(y)
        costs = [[a * float(c[k + (s < 0)]) for a, s in zip(w, y, strict=True)] for k in (0, 2)]
        need([[Fraction(v, one) for v in end] for end in caps] == costs, "the costs differ")
        return f"caps_i are the costs {json.dumps(own)}"
    near, label, width = {"--data": 0, "--standardised": 2**-40}[option], positive or said, len(given[-1])
    need(label, "the file does not say which label is +1: say it with --positive LABEL")
    rows = table(own, len(y), width + 1)
    labels, (plain, stated) = [row[-1] for row in rows], (v.strip().removesuffix(".0") for v in (label, said))
    need(stated == plain or stated not in labels, f"the file says that +1 is the label {said!r}, not {label!r}")
    need([v == plain for v in labels] == [s > 0 for s in y], f"the labels differ, where +1 is {label!r}")
    at = (lambda i, k: given[i][k]) if "X" in p else lambda i, k: given[max(i, k)][min(i, k)]
    for k in range(width):
        c = [float(row[k]) for row in rows]
        mean, by = (statistics.fmean(c), statistics.pstdev(c) or 1.0) if near else (0.0, 1.0)
        off = (abs(Fraction(at(i, k), one) - Fraction((v - mean) / by)) for i, v in enumerate(c))
        need(max(off) <= near, f"the certificate is about other data, in column {k}")
    return f"X or K and y are those of {json.dumps(own)} ({option[2:]}), +1 being the label {json.dumps(label)}"


def read(file: str, form: str, fields: set, *options: str) -> tuple[dict, str]:
    with (gzip.open if file.endswith(".gz") else open)(file, "rb") as stream:
        raw = stream.read(1 << 28)
    content = json.loads(raw, object_pairs_hook=lambda s: need(len(dict(s)) == len(s), "two of a name") or dict(s))
    p, own = content["problem"], dict(zip(options[::2], options[1::2], strict=True))
    sha = hashlib.sha256(json.dumps(p, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    need([content["format"], content["sha256"]] == [form, sha], f"another hash, or another format than {form!r}")
    need(content.keys() - fields == {"format", "problem", "sha256"}, "a field has no meaning")
    label = own.pop("--positive", "")
    compared = "; ".join(same(p, *pair, label) for pair in own.items()) or "no data and no costs"
    more = integers([d := p.get("diagonal", [0])]) and max(map(Fraction, d)) * (p["kind"] != "margins")  # its words do
    words = f"On the diagonal of the kernel matrix there is up to {more} more.\n" * (more > 0)
    words += "".join(f"{k} = {json.dumps(p[k])}\n" for k in ("lam", "bias", "sums") if k in p)
    said = {"label of +1": None if own.keys() - {"--costs"} else p.get("positive"), "about": p.get("about")}
    return content, f"{words}Compared: {compared}.\nsha256 of the problem: {sha}\nSaid, not checked: {json.dumps(said)}"


def main(file: str, *options: str) -> str:
    content, about = read(file, "exact certificate 1", {"segments", "ray"}, *options)
    ends, t = check(p := content["problem"], content["segments"], "ray" in content)
    where = f"for every t in [0, {math.floor(t * 2**52) / 2**52:.17g}], on {len(content['segments'])} segments"
    words = f"minimises {WORDS[p['kind']]}.\nValues at both ends, as doubles: {[value(p, v) for v in ends]}"
    return f"PROVED without rounding: {where},\nwhat the file states {words}.\n{about}"


if __name__ == "__main__":
    try:
        print(main(*sys.argv[1:]))
    except Exception as error:
        sys.exit(f"NOT PROVED: {error if isinstance(error, ArithmeticError) else f'cannot be read, {error!r}'}")
