"""The certificate file of a path within eps, which takes a solver: for points well inside its cones."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.files import AnyFile
from paretoclf.proof.bands.band_certificate import Insides, band_certificate, save_made, wide_pieces
from paretoclf.solve.eps.interior import Inner, deep_multipliers, inner_points

#: Where a matrix moves, pieces of a certificate that are wider than eps by this factor get the pairs of finer paths.
_WIDER, _FINER = 2.0, (8,)


def save_certificate(path: Any, file: AnyFile, level: str | None, progress: bool | None, positive: Any) -> None:
    """Write the certificate file of the compiled program of a path, or raise an InputError that says why not."""
    save_made(lambda: _certificate(path, progress), file, level, positive)


def _certificate(path: Any, progress: bool | None) -> dict[str, Any]:
    """Make the content of the certificate; where a matrix moves with more pairs, until it is as close as eps.

    There the points of a file must be inside all along without the corrections that the path has between pairs.
    """
    line, insides = path.program, _insides(path)
    points = path.t, path.x, path.y, path.z
    about = f"traced within {path.eps:g}"
    if line.A_stop is None:
        return band_certificate(line, points, insides, about=about, progress=progress)
    best: dict[str, Any] | None = None
    why = ArithmeticError("there are no pairs")
    for finer in (*_FINER, 0):
        wide = [(0.0, 1.0)]
        try:
            best = band_certificate(line, points, insides, about=about, progress=progress)
            wide = wide_pieces(best, _WIDER * path.eps)
        except ArithmeticError as error:
            why = error
        if not wide or not finer:
            break
        points = _with_pairs(points, path.refine(path.eps / finer, progress=False), wide)
    if best is None:
        raise why
    return best


def _insides(path: Any) -> Insides:
    """Points and multipliers well inside the cones, at t = 0 and on straight lines at t = 1."""
    line, stop = path.program, float(path.t[-1])
    x, z = (1.0 + float(np.abs(each).max(initial=0.0)) for each in (path.x, path.z))
    points = None if path.inside is None else path.inside
    if points is None:
        found = inner_points(line, stop, x)
        points = None if found is None else found.ends
    multipliers = deep_multipliers(line, stop, z)
    if points is None or multipliers is None:
        which = "point is inside all inequalities and cones" if points is None else "multipliers are stationary"
        raise ArithmeticError(f"no {which} at both ends of the line")
    both, depth = multipliers
    ends = Inner((both[0], both[1]), stop).ends
    return Insides(points, ends[:, : line.n], ends[:, line.n :], depth)


def _with_pairs(points: Any, path: Any, pieces: Any) -> tuple[Array, Array, Array, Array]:
    """Pairs with those of another path that lie inside of some pieces, in their order."""
    inside = np.zeros(path.t.size, dtype=bool)
    for first, last in pieces:
        inside |= (path.t > first) & (path.t < last)
    inside &= ~np.isin(path.t, points[0])
    others = path.t, path.x, path.y, path.z
    order = np.argsort(np.concatenate([points[0], path.t[inside]]))
    t, x, y, z = (np.concatenate([own, more[inside]])[order] for own, more in zip(points, others, strict=True))
    return t, x, y, z
