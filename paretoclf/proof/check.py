"""Checks a certificate: an optimal solution of a convex quadratic program for every t in [0, 1], without rounding.
    python check.py FILE [--data YOURS.csv | --standardised YOURS.csv] [--costs C+,C-,C+,C-[,WEIGHTS]]
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
a classifier x are multipliers, P_ij = y_i y_j K_ij (+ diagonal), K = XX' or given. All is found in integers."""
import csv, gzip, hashlib, json, math, statistics, sys
from fractions import Fraction
from operator import add, mul
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
    one = math.lcm(*(Fraction(v).denominator for row in rows for v in row))
    return [[int(Fraction(v) * one) for v in row] for row in rows], one

def program(p: dict) -> tuple[int, list[list[int]], dict, tuple]:
    """Number of variables, the matrix [[P, A'], [A, 0]], pairs (at t = 0, rate) of all else, units."""
    (M, S), g = integers(p[name := "X" if "X" in p else "K"]), p
    n, s = len(M), p.get("y", [1] * len(M))
    need({repr(v) for v in s} <= {"1", "-1"} and len(s) == n, "y must be 1 or -1, one a sample")
    if p["kind"] != "program":
        q, A, ends = KINDS[p["kind"]][2](p, s)
        caps, none = p.get("caps", [[None] * n] * 2), [[None] * (n + len(A))] * 2
        g = {"q": q, "A": A, **dict(zip(SIDES, ([[0] * n + e for e in ends], [*map(add, caps, ends)], none, none)))}
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
        p, *_ = top = P[0]
        P, d = [[(p * v - r[0] * f) // d if p else v for v, f in zip(r, top)][1:] for r in P[1:]], p or d
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
    (n, H, g, (U, h, R)), t, T, D, values, no = program(p), Fraction(0), {}, 1, [], (0, 0)
    sides, N = list(zip(*(g[k] for k in SIDES), strict=True)), len(H)
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
        u, w, points, rows, hi, last = [], [], [], [[h[i] for i in T] for h in H], Fraction(1), None
        for s in (0, 1):
            some = {i: sum(v * (known[j][s] - load[s][j]) for j, v in row.items()) for i, row in T.items()}
            u.append([some.get(i, D * e[s]) for i, e in enumerate(known)])
            w.append([D * a + sum(map(mul, some.values(), h)) for a, h in zip(load[s], rows, strict=True)])
        need(D and all(w[s][i] == D * known[i][s] for i in T for s in (0, 1)), where + "no solution")
        for i, (a, b, c, d) in enumerate(zip(*u, *w, strict=True)):
            q, lower, upper, below, above = (e and (D * e[0], D * e[1]) for e in (g["q"][i], *sides[i]))
            v, y = ((a, b), (c + q[0], d + q[1])) if i < n else ((c, d), (-a, -b))
            asked = {"b": [(lower, v)], "l": [(y, above if lower == upper else no), (below, y)], "a": [(v, upper)],
                     "i": [(v, lower), (upper, v)], "u": [(no, y), (y, above)]}[letters[i]]
            for e, f in [(upper, lower), *asked] + [(y, no), (no, y)] * (letters[i] == "l" and not lower):
                a, b = (e[0] - f[0], e[1] - f[1]) if e and f else no
                need(a * t.denominator + b * t.numerator >= 0, f"{where}item {i} violates what {letters[i]} asks")
                if b < 0 and a * hi.denominator < -b * hi.numerator:
                    hi, last = Fraction(a, -b), i
            points.append((y, v, (lower if letters[i] in "bl" else upper) or no, q))
        need(t < hi or (early and len(segments) == 1), f"{where}item {last} at once violates {letters[last or 0]}")
        for s in [t] * (k == 0) + [hi] * (k == len(segments) - 1):
            lines = ([a + b * s for a, b in point] for point in points)
            values.append(float(sum(y * (2 * e - v) + q * v for y, v, e, q in lines) / (2 * U * (h * R * D) ** 2)))
        t = hi
    need(segments and (t == 1 or early), f"the segments cover t up to {float(t)!r} only")
    return values, t

def same(p: dict, option: str, own: str) -> None:
    y, get = p["y"], lambda file: (r := list(csv.reader(open(file, newline=""))))[-len(y):] * (len(r) < len(y) + 2)
    if option == "--costs" and (c := own.split(",")):  # C+, C- at t = 0, C+, C- at t = 1, a file of weights or none
        w = [float(r[-1]) for r in (get(c[4]) if c[4:] else "1" * len(y))]
        return need(p["caps"] == [[a * float(c[k + (s < 0)]) for a, s in zip(w, y)] for k in (0, 2)], "costs differ")
    given, standardise, rows = p["X"] if "X" in p else p["K"], ["--data", "--standardised"].index(option), get(own)
    need({*map(len, rows)} == {len(given[-1]) + 1}, "there are other rows or columns")
    need(len({r[-1] for r in rows}) == len({(r[-1], s) for r, s in zip(rows, y, strict=True)}), "the labels differ")
    for k in range(len(given[-1])):
        c = [float(row[k]) for row in rows]
        mean, by = (statistics.fmean(c), statistics.pstdev(c) or 1.0) if standardise else (0.0, 1.0)
        near = (abs(row[k] - (v - mean) / by) <= standardise * 2**-40 for row, v in zip(given, c) if k < len(row))
        need(all(near), f"the certificate is about other data, in column {k}")

def read(file: str, form: str, *options: str) -> tuple[dict, str]:
    content = json.loads((gzip.open if file.endswith(".gz") else open)(file, "rb").read(1 << 28))
    sha = hashlib.sha256(json.dumps(p := content["problem"], sort_keys=True, separators=(",", ":")).encode()).hexdigest
    need([content["format"], content["sha256"]] == [form, sha()], f"another hash, or another format than {form!r}")
    _ = [same(p, *pair) for pair in zip(options[::2], options[1::2], strict=True)]
    more = max(map(Fraction, p.get("diagonal", [0]))) * (p["kind"] != "margins")  # whose words have it
    return content, (f"On the diagonal of the kernel matrix there is up to {float(more):.2g} more.\n" * (more > 0) +
                     f"sha256 of the problem: {sha()}\nSaid, not checked: {p.get('about', 'nothing')}")

def main(file: str, *options: str) -> str:
    content, about = read(file, "exact certificate 1", *options)
    ends, t = check(p := content["problem"], content["segments"], "ray" in content)
    return (f"PROVED without rounding: for every t in [0, {float(t):.17g}], on {len(content['segments'])} segments,\n"
            f"what the file states minimises {KINDS[p['kind']][0]}.\n"
            f"Values at both ends: {[KINDS[p['kind']][1](p, v) for v in ends]}. {about}")

if __name__ == "__main__":
    try:
        print(main(*sys.argv[1:]))
    except Exception as error:
        sys.exit(f"NOT PROVED: {error if isinstance(error, ArithmeticError) else f'cannot be read, {error!r}'}")
