"""A page to play with: a path as one HTML file, exact at every t, since everything is affine between its knots.

The file holds what the path stores, and a small script that interpolates it: it needs no server, no network and no
other file. Scores over the plane are a matrix, points of a grid by knots; it is nearly of low rank, and is stored as
two thin ones. For few samples in the plane it holds the textbook tracker, too (tracker.js), and follows the path anew
when a sample, a label or a cost is changed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, check_labels
from paretoclf.common.errors import InputError
from paretoclf.common.files import replacing
from paretoclf.plotting.slices import Slice, points_of
from paretoclf.problem.costs import CostLine, Costs
from paretoclf.problem.kernels import RBF, Linear

#: Points of the grid along either axis: of an affine score the corners say all.
_AFFINE, _CURVED = 2, 33
#: Largest error of the curved scores over the plane, as a share of the largest: less than a screen shows.
_UNSEEN = 1e-4
_DIGITS = 6  # of their shapes

#: Of so many samples in the plane a path is followed anew in the page: a fraction of a second then.
EDITED = 30


def write_page(
    path: Any, file: str | os.PathLike[str], X: Any = None, y: Any = None, certificate: str = "", **options: Any
) -> None:
    """Write a path as a page; see `Path.page`, which has the options, too. ``certificate`` is HTML."""
    out = html_file(file)
    if (X is None) != (y is None):
        raise InputError("X and y must be given together, or neither")
    data = page_data(path, X, y, **options)
    tracker = text_of("tracker.js") if data["edit"] else ""
    write_template(out, "page.html", {"DATA": script(data), "TRACKER": tracker, "CERTIFICATE": certificate})


def html_file(file: str | os.PathLike[str]) -> Path:
    """Check the name of a page."""
    if Path(file).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"file must end in .html, got {os.fspath(file)!r}")
    return Path(file)


def script(data: Any) -> str:
    """Write data as JSON that may stand in a script: a "</script>" in a name would end the block."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def write_template(out: Path, template: str, parts: Mapping[str, str]) -> None:
    """Write a page: its template with these texts for __NAME__, and what all pages share for __DRAW__."""
    page = filled(template, {"DRAW": text_of("draw.js"), **parts})
    with replacing(out) as temporary:
        temporary.write_text(page, encoding="utf-8")


def filled(template: str, parts: Mapping[str, str]) -> str:
    """Text of a template, with these texts for __NAME__."""
    return re.sub(rf"__({'|'.join(parts)})__", lambda found: parts[found[1]], text_of(template))


def text_of(name: str) -> str:
    """Text of a template, or of a script for one."""
    return files("paretoclf").joinpath("plotting", name).read_text(encoding="utf-8")


def script_of(name: str) -> str:
    """Text of a script that checks certificates."""
    return files("paretoclf").joinpath("proof", name).read_text(encoding="utf-8")


def page_data(
    path: Any,
    X: Any = None,
    y: Any = None,
    *,
    features: Sequence[int] | None = None,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
    rates: str = "given samples",
) -> dict[str, Any]:
    """Data of a page of a path: its pieces, their proof, and the places of samples and scores in the plane."""
    P, proof, gram = path.pieces, path.proof, path.gram
    feature_names = gram.names if feature_names is None else feature_names
    cut = Slice.through(gram, features, feature_names)
    ends = [float(P.t[0]), float(P.t[-1])]
    d = gram.X.shape[1]
    linear = bool(gram.linear)
    slopes = np.stack([path.slope(float(t)) for t in P.t]) if linear else None
    data: dict[str, Any] = {
        "title": title or repr(path),
        "named": title is not None,
        "parameter": path.parameter,
        "t": P.t,
        **{name: getattr(P, name) for name in ("state", "changes", "ptr", "index", "a0", "a1", "value")},
        **dict(zip(("b0", "b1"), _intercepts(path), strict=True)),
        "caps": [path.caps(t) for t in ends],
        "costs": _costs(path),
        "w": slopes,
        "feature_names": [f"x{j + 1}" for j in range(d)] if feature_names is None else [str(n) for n in feature_names],
        "dual": proof.duals,
        "gaps": proof.gaps,
        "gap": proof.gap,
        "y": path.y.astype(int),
        "at": cut.place(gram.X),
        "names": cut.names,
        "whole": cut.whole,
        "grid": _grid(path, cut, _AFFINE if linear else _CURVED),
        "roc": None,
        "edit": _edit(path, cut),
    }
    if X is not None:
        errors = path.error_curve(X, y)
        data["roc"] = {"name": rates, "t": errors.t, "fpr": errors.fpr, "fnr": errors.fnr}
        if data["edit"] is not None:
            data["edit"]["held"] = {"X": cut.place(X), "y": check_labels(y).astype(int)}
    return {name: _plain(value) for name, value in data.items()}


def _intercepts(path: Any) -> Array:
    """Intercepts at both ends of each piece, of the features as they were given; 0 where there are none."""
    pieces = path.t.size - 1
    if "b" not in path.variables:
        return np.zeros((2, pieces))
    return np.asarray(path.along("b")[1].reshape(pieces, 2).T)


def _costs(path: Any) -> list[list[float]] | None:
    """C_plus and C_minus at both ends; None where there are none, or other ones for each sample."""
    line = getattr(path, "line", None)
    if not isinstance(line, CostLine) or not isinstance(line.start, Costs) or not isinstance(line.stop, Costs):
        return None
    return [list(line.start), list(line.stop)]


def _edit(path: Any, cut: Slice) -> dict[str, Any] | None:
    """Start of the tracker of the page; None where it does not follow such paths."""
    costs, kernel = _costs(path), path.gram.kernel
    if costs is None or np.min(costs) <= 0.0 or not isinstance(kernel, RBF | Linear):
        return None
    of_features = np.array_equal(cut.directions, np.eye(2))
    if path.y.size > EDITED or not of_features or _weighted(path):
        return None
    X, y = cut.place(path.gram.X), path.y.astype(int)
    bandwidth = kernel.bandwidth if isinstance(kernel, RBF) else None
    return {"X": X, "y": y, "bandwidth": bandwidth, "start": costs[0], "stop": costs[1], "held": None}


def _weighted(path: Any) -> bool:
    """Whether samples of one class have different caps."""
    caps = path.caps(0.5)
    return any(np.ptp(caps[side]) > 0.0 for side in (path.y > 0, path.y < 0))


def _grid(path: Any, cut: Slice, size: int) -> dict[str, Any]:
    """Scores over the plane: ``shapes @ start`` at the beginning of each piece, ``shapes @ end`` at its end."""
    first, second = cut.grid(path.gram.X, size)
    scores = path.scores(cut.samples(points_of(first, second)))
    both = np.concatenate([scores.start, scores.end], axis=1)
    largest = np.abs(both).max(initial=0.0)
    U, s, V = np.linalg.svd(both, full_matrices=False)
    V *= s[:, None]
    if size > _AFFINE:
        # The error of each entry is at most the largest singular value that is left out.
        kept = max(1, int((s > _UNSEEN * largest).sum()))
        U, V = U[:, :kept].round(_DIGITS), V[:kept]
        if largest > 0.0:
            power = int(np.floor(np.log10(largest)))
            V = V.round(_DIGITS - power - 1)
    start, end = np.split(V, 2, axis=1)
    return {"x": first, "y": second, "shapes": U, "start": start, "end": end}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
