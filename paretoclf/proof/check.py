"""Checks a certificate: an optimal solution of a convex quadratic program for every t in [0, 1], without rounding.
    python check.py FILE [--data YOURS.csv | --standardised YOURS.csv]
The program: minimise x'Px / 2 + q(t)'x + penalties. An item is a variable x_j or a row of Ax, v its value. A unit of v
below the lower bound costs `below`, above the upper one `above`; null is no bound, or no price that allows it. q,
bounds and prices are affine in t, P is positive semidefinite. x is optimal if there are multipliers y, one an item,
with Px + q = y_x + A'y_r and, item by item, one of
    b  y = below     and v <= lower
    l  v = lower     and 0 <= y <= below   (-above <= y <= below where lower = upper all along)
    i  y = 0         and lower <= v <= upper
    u  v = upper     and -above <= y <= 0
    a  y = -above    and v >= upper
for then f(x') - f(x) >= sum of (penalty(v') - penalty(v) + y (v' - v)) >= 0 whatever x' is. The file has a letter for
each item on each segment. The first column are then linear equations, whose solution is affine in t: what the second
asks holds on an interval. All is found in integers; the intervals must cover [0, 1]. Of a classifier the program is
the dual: x are multipliers, P_ij = y_i y_j K_ij (+ diagonal), K = XX' or the matrix of the file."""
import csv, gzip, hashlib, json, math, sys
from fractions import Fraction
from operator import mul
SIDES = ("lower", "upper", "below", "above")
KINDS = {  # what is minimised, its value from that of the program; the program's q at both ends, A, bounds of its rows
    "program": ("x'Px / 2 + q(t)'x + penalties", lambda p, v: v, None),
    "2C-SVM": ("|w|^2 / 2 + sum of caps_i(t) max(0, 1 - y_i (w.x_i + b))", lambda p, v: -v,
               lambda p, y: ([[-1] * len(y)] * 2, [y], [[0], [0]])),
    "2nu-SVM": ("|w|^2 / 2 - sums(t)'(1, 1) rho + sum of caps_i(t) max(0, rho - y_i (w.x_i + b))", lambda p, v: -v,
                lambda p, y: ([[0] * len(y)] * 2, [[int(v == s) for v in y] for s in (1, -1)], p["sums"])),
    "quantile SVM": ("|lam| |w|^2 / 2 + sum of caps_i(t) max(0, 1 - y_i w.x_i)", lambda p, v: -v / abs(p["lam"]),
                     lambda p, y: ([[-abs(p["lam"])] * len(y)] * 2, [], [[], []])),
    "margins": ("|w|^2 / 2 + sum of xi_i^2 / (2 diagonal_i) with y_i (w.x_i + b) >= -q_i(t) - xi_i", lambda p, v: -v,
                lambda p, y: (p["q"], [y], [[0], [0]])),
}

def need(condition: object, text: str) -> None:
    if not condition:
        raise ArithmeticError(text)

def integers(rows: list) -> tuple[list[list[int]], int]:  # numbers, doubles, fractions as text; over one denominator
    need(all(type(v) in (int, float) or set(v) <= set("-/0123456789") for row in rows for v in row), "not a number")
    numbers = [[Fraction(v) for v in row] for row in rows]
    one = math.lcm(*(v.denominator for row in numbers for v in row))
    return [[int(v * one) for v in row] for row in numbers], one

def program(p: dict) -> tuple[int, list[list[int]], dict, int]:
    """Number of variables, the matrix [[P, A'], [A, 0]], pairs (at t = 0, rate) of all else, unit of the objective."""
    (M, S), g = integers(p[name := "X" if "X" in p else "K"]), p
    n, s = len(M), p.get("y", [1] * len(M))
    need({repr(v) for v in s} <= {"1", "-1"} and len(s) == n, "y must be 1 or -1, one a sample")
    if p["kind"] != "program":
        q, A, ends = KINDS[p["kind"]][2](p, s)
        none, caps = [[None] * (n + len(A))] * 2, p.get("caps", [[None] * n] * 2)
        sides = [[0] * n + e for e in ends], [c + e for c, e in zip(caps, ends, strict=True)], none, none
        g = {"q": q, "A": A, **dict(zip(SIDES, sides, strict=True))}
    (A, R), ([more], U), m = integers(g["A"]), integers([p.get("diagonal", [0] * n)]), len(g["A"])
    shape = [len(M[0]) if name == "X" else i + 1 for i in range(n)]
    need([*map(len, M)] == shape and {n} == {len(r) for r in [more, *A]}, f"shape of {name}, A or diagonal")
    M = [[*r, S] if name == "X" else [v + S for v in r] for r in M] if p.get("bias") else M  # a feature 1
    at = (lambda i, j: sum(map(mul, M[i], M[j]))) if name == "X" else (lambda i, j: M[max(i, j)][min(i, j)])
    P, S = [[at(i, j) for j in range(n)] for i in range(n)], S ** (2 if name == "X" else 1)
    P = [[s[i] * s[j] * U * v + (i == j) * S * more[i] for j, v in enumerate(row)] for i, row in enumerate(P)]
    need(min(more) >= 0 and (name == "X" or semidefinite(P)), "P is not proved positive semidefinite")
    ends, U, pairs = {"q": [[*end, *[0] * m] for end in g["q"]], **{k: g[k] for k in SIDES}}, U * S, {}
    whole, H = integers([[v or 0 for v in end] for k in ends for end in ends[k]])
    for j, (k, (first, last)) in enumerate(ends.items()):
        units = [R] * n + [R * R] * m if k in SIDES[:2] else [R * U] * n + [U] * m
        rows = zip(first, last, whole[2 * j], whole[2 * j + 1], units, strict=True)
        pairs[k] = [None if None in (x, z) else (a * u, (b - a) * u) for x, z, a, b, u in rows]
    need(all(e is None or min(e[0], sum(e)) >= 0 for k in SIDES[2:] for e in pairs[k]), "a price is negative")
    pairs["above"] = [e and (-e[0], -e[1]) for e in pairs["above"]]  # what y is there
    return n, [a + [r[i] for r in A] for i, a in enumerate(P)] + [r + [0] * m for r in A], pairs, U * (H * R) ** 2

def semidefinite(P: list) -> bool:  # LL' + (diagonally dominant), L found in floats, judged exactly; or elimination
    n, one, L = len(P), max(1, *map(max, P)), []
    for i in range(n):
        row = []
        for j in range(i + 1):
            rest = (P[i][j] - (i == j) * (one * n >> 44)) / one - math.fsum(map(mul, row, L[j] if j < i else row))
            row.append(math.sqrt(max(rest, 0.0)) if i == j else rest / (L[j][j] or math.inf))
        L.append(row)
    N = [[round(v * 2**60) for v in row] + [0] * (n - len(row)) for row in L]
    left = ([P[i][j] * 2**120 - one * sum(map(mul, N[i], N[j])) for j in range(n)] for i in range(n))
    done = all(2 * r[i] >= sum(map(abs, r)) for i, r in enumerate(left))
    while not done and P and (P[0][0] > 0 or not any(P[0])):
        p, d, top = P[0][0], one if len(P) < n else 1, P[0]
        P, one = [[(p * v - r[0] * f) // d if p else v for v, f in zip(r, top, strict=True)][1:] for r in P[1:]], p or d
    return done or not P

def change(H, T: dict, D: int, items: list[int]) -> tuple[dict, int]:
    """Items enter the basis or leave it; T / D is the inverse of H on the basis, and no division leaves a rest."""
    new = [i for i in items if i not in T]
    keep = [i for i in [*T, *new] if (i in T) != (i in items)]
    right = {b: {j: -sum(v * H[k][j] for k, v in row.items()) for j in new} for b, row in T.items()}
    low = {i: {j: D * H[i][j] + sum(H[i][b] * right[b][j] for b in T) for j in new} for i in new}
    T = {b: T[b] | right[b] for b in T} | {i: {b: -right[b][i] for b in T} | low[i] for i in new}
    while items:
        r, s = max(((r, s) for r in items for s in items), key=lambda at: (T[at[0]][at[1]] != 0, at[0] == at[1]))
        need(T[r][s], "the letters leave open what the solution is")
        for a, b in dict.fromkeys([(r, s), (s, r)]):
            p, top = T[a][b], T[a]
            T = {i: {j: (v * p - f[b] * top[j]) // D if j != b else v for j, v in f.items()} for i, f in T.items()}
            T[a], D = {j: D if j == b else -v for j, v in top.items()}, p
        other = {r: s, s: r}
        T = {other.get(i, i): {other.get(j, j): v for j, v in f.items()} for i, f in T.items()}
        items = [i for i in items if i not in (r, s)]
    return {i: {j: T[i][j] if D > 0 else -T[i][j] for j in keep} for i in keep}, abs(D)

def check(p: dict, segments: list) -> list[float]:  # the values at t = 0 and t = 1, if all is proved
    (n, H, g, unit), t, T, D, values, no = program(p), Fraction(0), {}, 1, [], (0, 0)
    sides, N = list(zip(*(g[k] for k in SIDES), strict=True)), len(H)
    need(all(not (a and b) or (a[0] <= b[0] and sum(a) <= sum(b)) for a, b, *_ in sides), "bounds cross")
    level = {"b": [e[0] and e[2] for e in sides], "l": [e[0] or (None if e[1] else no) for e in sides], "i": [no] * N}
    level |= {"u": g["upper"], "a": [e[1] and e[3] for e in sides]}
    letters, known, load = [""] * N, [no] * N, [[0] * N, [0] * N]  # load: H times what is known outside of the basis
    for k, changes in enumerate(segments):
        where, before, moved = f"segment {k}, from t = {float(t)!r}: ", list(letters), []
        for i, new in changes if k else enumerate(changes):
            need(type(i) is int and 0 <= i < N and new in [*level], f"{where}no item {i!r:.9} or letter {new!r:.9}")
            letters[i] = new
        for i in (i for i in range(N) if letters[i] != before[i]):
            (a, b), q, now = level[letters[i]][i] or (None, None), g["q"][i], (letters[i] in "lu") == (i >= n)
            need(a is not None, f"{where}item {i} has no bound or price for {letters[i]}")
            new = (a - q[0], b - q[1]) if now else (a, b) if i < n else (-a, -b)
            for s in (0, 1):
                by = (not now) * new[s] - (i not in T) * known[i][s]
                load[s] = [a + by * h for a, h in zip(load[s], H[i], strict=True)] if by else load[s]
            known[i], moved = new, moved + [i] * (now != (i in T))
        T, D = change(H, T, D, moved)
        u, w, rows = [[D * e[s] for e in known] for s in (0, 1)], [], [[h[i] for i in T] for h in H]
        for s in (0, 1):
            right = [known[i][s] - load[s][i] for i in T]
            some = {i: sum(map(mul, row.values(), right)) for i, row in T.items()}
            u[s] = [some.get(i, v) for i, v in enumerate(u[s])]
            w.append([D * a + sum(map(mul, some.values(), h)) for a, h in zip(load[s], rows, strict=True)])
        need(D and all(w[s][i] == D * known[i][s] for i in T for s in (0, 1)), where + "no solution")
        hi, last, points = Fraction(1), None, []
        for i, (a, b, c, d) in enumerate(zip(*u, *w, strict=True)):
            q, lower, upper, below, above = (e and (D * e[0], D * e[1]) for e in (g["q"][i], *sides[i]))
            v, y = ((a, b), (c + q[0], d + q[1])) if i < n else ((c, d), (-a, -b))
            asked = {"b": [(lower, v)], "l": [(y, above if lower == upper else no), (below, y)], "a": [(v, upper)],
                     "i": [(v, lower), (upper, v)], "u": [(no, y), (y, above)]}[letters[i]]
            for e, f in asked + [(y, no), (no, y)] * (letters[i] == "l" and not lower):
                a, b = (e[0] - f[0], e[1] - f[1]) if e and f else no
                need(a * t.denominator + b * t.numerator >= 0, f"{where}item {i} violates what {letters[i]} asks")
                if b < 0 and a * hi.denominator < -b * hi.numerator:
                    hi, last = Fraction(a, -b), i
            points.append((y, v, (lower if letters[i] in "bl" else upper) or no, q))
        need(t < hi, f"{where}item {last} violates what {letters[last or 0]} asks, at once")
        for now in [t] * (k == 0) + [hi] * (hi == 1):
            lines = ([a + b * now for a, b in point] for point in points)
            values.append(float(sum(y * (2 * e - v) + q * v for y, v, e, q in lines) / (2 * D * D * unit)))
        t = hi
    need(t == 1, f"the segments cover t up to {float(t)!r} only")
    return values

def same(p: dict, file: str, standardise: bool) -> None:  # as a CSV file with X or K, and the labels in the last column
    given, y = p["X"] if "X" in p else p["K"], p["y"]
    rows = list(csv.reader(open(file, newline="")))[-len(y):]  # without a header
    need(len({r[-1] for r in rows}) == len({(r[-1], s) for r, s in zip(rows, y, strict=True)}), "the labels differ")
    columns = [[float(v) for v in c] for c in list(zip(*rows, strict=True))[:-1]]
    for k, c in enumerate(columns) if standardise else ():
        mean = math.fsum(c) / len(c)
        columns[k] = [(v - mean) / (math.sqrt(math.fsum((v - mean) ** 2 for v in c) / len(c)) or 1) for v in c]
    for row, mine in zip(given, zip(*columns, strict=True), strict=True):
        for a, b in zip(row, mine, strict="X" in p):
            need(abs(a - b) <= standardise * 2**-40, f"the certificate is about other data: {a!r}, not {b!r}")

def main(file: str, option: str = "", own: str = "") -> str:
    content = json.loads((gzip.open if file.endswith(".gz") else open)(file, "rb").read(1 << 28))
    p, (words, value, _) = content["problem"], KINDS[content["problem"]["kind"]]
    sha = hashlib.sha256(json.dumps(p, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    need([content["format"], content["sha256"]] == ["exact certificate 1", sha], "another format or hash")
    _ = option and same(p, own, ["--data", "--standardised"].index(option) == 1)
    first, last = (value(p, v) for v in check(p, content["segments"]))
    return (f"PROVED without rounding: for every t in [0, 1], on {len(content['segments'])} segments, what the file\n"
            f"states minimises {words}.\nValue {first!r} at t = 0, {last!r} at t = 1. sha256 of the problem: {sha}\n"
            f"Said, not checked: {p.get('about', 'nothing')}")

if __name__ == "__main__":
    try:
        print(main(*sys.argv[1:]))
    except Exception as error:
        sys.exit(f"NOT PROVED: {error if isinstance(error, ArithmeticError) else f'cannot be read, {error!r}'}")
