"""Checks a certificate whose path ends before t = 1: it is optimal up to there, and beyond there is no minimum.
    python check_ray.py FILE [the options of check.py, which must lie beside it and says what the program is]
A ray is a direction d of x with Pd = 0 that may be followed for ever and costs less than nothing beyond the end; or
multipliers r of the rows with y = (-A'r, r), so that the sum of y v is 0 whatever x is, while hard bounds ask for more;
or an item whose bounds cross. What is below 0 is affine in t, hence one check does for every later t."""
import os, sys
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
    rest = [sum(map(mul, row if kind == "unbounded" else row[n:], d)) for row in H]
    if kind == "unbounded":
        need(len(d) == n and not any(rest[:n]), "the ray changes Px")
        past = [(*sides[w < 0], i, -w) for i, w in enumerate(d + rest[n:]) if w]
        parts = [*zip(g["q"], d), *((g[price][i], w) for side, price, i, w in past if g[side][i])]
    else:
        y = [*enumerate([-w for w in rest[:n]] + d)] if kind == "infeasible" else [(d[0], 1), (d[0], -1)]
        need(kind != "infeasible" or not any(g[sides[w > 0][1]][i] for i, w in y if w), "a bound of the ray is soft")
        parts = [(g[sides[w > 0][0]][i], -w) for i, w in y if w]
    need(all(e for e, _ in parts), "the ray needs a bound or price that there is not")
    a, b = (sum(e[s] * w for e, w in parts) for s in (0, 1))
    need(b < 0 and a + b * t <= 0, "the ray proves nothing")

def main(file: str, *options: str) -> str:
    content, _ = exact.read(file, "exact certificate 1")
    _, t = exact.check(content["problem"], content["segments"], early=True)
    beyond(content["problem"], t, *content["ray"])
    return f"{exact.main(file, *options)}\nPROVED, too: for no later t there is a minimum ({content['ray'][0]})."

if __name__ == "__main__":
    try:
        print(main(*sys.argv[1:]))
    except Exception as error:
        sys.exit(f"NOT PROVED: {error if isinstance(error, ArithmeticError) else f'cannot be read, {error!r}'}")
