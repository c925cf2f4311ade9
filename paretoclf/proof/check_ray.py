"""Checks a certificate whose path ends before t = 1: it is optimal up to there, and beyond there is no minimum.

    python check_ray.py FILE [the options of check.py, which must lie beside it and says what the program is]
A ray is a direction d of x with Pd = 0 that may be followed for ever and costs less than nothing beyond the end; or
multipliers r of the rows with y = (-A'r, r), so that the sum of y v is 0 whatever x is, while hard bounds ask for more;
or an item whose bounds, both hard, cross. What is below 0 is affine in t, hence one check does for every later t.
"""

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


def beyond(p: dict, t: Fraction, kind: str, ray: list) -> None:
    """No minimum beyond t: a sum of bounds and prices (pairs e, with weights w), affine in t, becomes negative."""
    (n, H, g, _), ([*d],), sides = exact.program(p), exact.integers([ray])[0], (("upper", "above"), ("lower", "below"))
    length = {"unbounded": n, "infeasible": len(H) - n, "crossing": 1}
    need(len(d) == length[kind], f"{length[kind]} numbers are asked for, and the ray has {len(d)}")
    if kind == "unbounded":
        rest = [sum(map(mul, row, d)) for row in H]
        need(not any(rest[:n]), "the ray changes Px")
        past = [(*sides[w < 0], i, -w) for i, w in enumerate(d + rest[n:]) if w]
        parts = [*zip(g["q"], d, strict=False), *((g[price][i], w) for side, price, i, w in past if g[side][i])]
    else:
        if kind == "crossing":
            [i] = ray
            need(type(i) is int and 0 <= i < len(H), f"no item {i!r:.9}")
            y = [(i, 1), (i, -1)]
        else:
            y = [*enumerate([-sum(map(mul, row[n:], d)) for row in H[:n]] + d)]
        need(not any(g[sides[w > 0][1]][i] for i, w in y if w), "a bound of the ray is soft")
        parts = [(g[sides[w > 0][0]][i], -w) for i, w in y if w]
    need(all(e for e, _ in parts), "the ray needs a bound or price that there is not")
    a, b = (sum(e[s] * w for e, w in parts) for s in (0, 1))
    need(b < 0 and a + b * t <= 0, "the ray proves nothing")


def main(file: str, *options: str) -> str:
    content, _ = exact.read(file, "exact certificate 1", {"segments", "ray"})
    kind, ray = content["ray"]
    _, t = exact.check(content["problem"], content["segments"], early=True)
    need(t < 1, "the path ends at t = 1, and a ray is for what is beyond")
    beyond(content["problem"], t, kind, ray)
    why = "unbounded where any point is feasible" if kind == "unbounded" else kind
    return f"{exact.main(file, *options)}\nPROVED, too: for no later t there is a minimum ({why})."


if __name__ == "__main__":
    try:
        print(main(*sys.argv[1:]))
    except Exception as error:
        sys.exit(f"NOT PROVED: {error if isinstance(error, ArithmeticError) else f'cannot be read, {error!r}'}")
