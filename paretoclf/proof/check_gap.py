"""Checks a bounded certificate: how far points are from the minimum of a convex quadratic program, for all t in [0, 1].

    python check_gap.py FILE [the options of check.py, which must lie beside it and says what the program is]
The file has points x of the program, and multipliers r of its rows, at knots; between two they are affine in t. Bounds
are hard and hold exactly. With v = (x, Ax), y = ((1 + e) Px + q - A'r, r) and e the `stretch`,
    f(x) - minimum <= sum of max(y, 0) (v - lower) + max(-y, 0) (upper - v)  +  e^2 x'Px / 2,
as the minimum is no less than the dual value at (1 + e) x and r. From knot to knot max(y, 0) is below its chord, hence
the sum below a quadratic polynomial in t, and this below its largest Bernstein coefficient. All in integers.
"""

import math
import os
import sys
from fractions import Fraction
from operator import mul

if __package__:
    from paretoclf.proof import check as exact
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import check as exact
need = exact.need


def number(v: object) -> Fraction:
    [[a]], one = exact.integers([[v]])
    return Fraction(a, one)


def gap(p: dict, points: list, stretch: object) -> tuple[list[Fraction], Fraction]:  # values at both ends, the bound
    (n, H, g, (U, h, R)), (e, E) = exact.program(p), number(stretch).as_integer_ratio()
    need(not any(g["below"] + g["above"]) and e >= 0, "bounds must be hard, and the stretch no less than 0")
    at, values, gaps, bent, old, last, N = {}, [], [Fraction(0)], Fraction(0), None, Fraction(0), len(H)
    load, unit = [[0] * N, [0] * N], U * (h * R) ** 2  # load: H times what of x is at bounds, and its rate
    for k, (t, changes, rows) in enumerate(points):
        t, where, r = number(t), f"at knot {k}: ", [number(v) * h * U for v in rows]
        need(last <= t <= 1 and (k or t == 0) and len(r) == N - n, f"{where}wrong t, or number of multipliers")
        for i, new in changes if k else [*enumerate("l" * n), *changes]:
            need(type(i) is int and 0 <= i < n, f"{where}no item {i!r:.9}")
            ends = [{"l": g["lower"][i], "u": g["upper"][i]}.get(which, (0, 0)) for which in (new, at.get(i))]
            need(ends[0], f"{where}item {i} has no such bound")
            for s, by in enumerate(a - b for a, b in zip(*ends, strict=True)):
                load[s] = [v + by * f for v, f in zip(load[s], H[i], strict=True)] if by else load[s]
            at[i] = new
        x, last = {i: number(v) * h * R for i, v in at.items() if v not in ("l", "u")}, t
        scale = t.denominator * math.lcm(*(v.denominator for v in [*x.values(), *r]))
        x, r, step = {i: int(v * scale) for i, v in x.items()}, [int(v * scale) for v in r], int(scale * t)
        bounds = g["lower"], g["upper"], g["q"], zip(*load, strict=True)
        low, up, q, w = ([f and scale * f[0] + step * f[1] for f in each] for each in bounds)
        w = [v + sum(map(mul, x.values(), map(f.__getitem__, x))) for v, f in zip(w, H, strict=True)]
        v = [x[i] if i in x else low[i] if at[i] == "l" else up[i] for i in range(n)] + w[n:]
        y = [(E + e) * w[i] + E * (q[i] - sum(map(mul, r, H[i][n:]))) for i in range(n)] + [E * f for f in r]
        rooms = [0 if a is None else b - a for a, b in zip(low, v, strict=True)]
        rooms += [0 if b is None else b - a for a, b in zip(v, up, strict=True)]
        new = scale, [max(f, 0) for f in y] + [max(-f, 0) for f in y], rooms
        need(min(rooms) >= 0, f"{where}x leaves its bounds")
        finite = all(b is not None for f, b in zip(new[1], low + up, strict=True) if f)
        need(finite, f"{where}the dual value is not finite")
        bent = max(bent, Fraction(e * e * sum(map(mul, v, w[:n])), 2 * E * E * unit * scale**2))
        twice = sum(a * (b + 2 * c) for a, b, c in zip(v[:n], w[:n], q[:n], strict=True))
        values.append(Fraction(twice, 2 * unit * scale**2))
        for (a, f, _), (b, _, c) in [(new, new), (old, new), (new, old)][: 3 if old else 1]:
            gaps.append(Fraction(sum(map(mul, f, c)), a * b * E * unit))
        gaps[-2:] = [sum(gaps[-2:]) / 2] if old else gaps[-2:]  # the middle coefficient is the mean of the two
        old = new
    need(last == 1, f"the knots cover t up to {float(last)!r} only")
    return [values[0], values[-1]], max(gaps) + bent


def main(file: str, *options: str) -> str:
    content, about = exact.read(file, "bounded certificate 1", {"points", "stretch"}, *options)
    p, points = content["problem"], content["points"]
    need(type(points) is list, "points must be a list")
    ends, most = gap(p, points, content["stretch"])
    most, ends = abs(exact.value(p, most)), [exact.value(p, float(v)) for v in ends]
    most = math.nextafter(float(most), math.inf) if most else 0.0
    side = "above" if p["kind"] == "program" else "below"  # of multipliers
    words = f"{most!r} {side} the minimum of {exact.WORDS[p['kind']]}.\nValues at both ends, as doubles: {ends}"
    where = f"for every t in [0, 1], with {len(points)} knots"
    return f"PROVED without rounding: {where}, the value of the file is\nat most {words}.\n{about}"


if __name__ == "__main__":
    try:
        print(main(*sys.argv[1:]))
    except Exception as error:
        sys.exit(f"NOT PROVED: {error if isinstance(error, ArithmeticError) else f'cannot be read, {error!r}'}")
