"""One saved file of every kind, and what it says: ``python -m tests.stored.make FOLDER``.

The files beside this script were made by the first tree that is promised to be read for ever, before 0.1.0 was out.
They are never made again: a later tree must read them and find the same numbers. Those of programs whose names begin
with ``bound`` are of the versions that wrote points at both ends of each segment, and a hash of what no proof judges.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from pathlib import Path

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.proof import check, check_gap, check_ray

AT = (0.0, 0.3, 0.62, 1.0)


def samples(n=8, apart=0.0):
    rng = np.random.default_rng(4)
    y = np.where(np.arange(n) < 3, 1.0, -1.0)
    return np.round(rng.normal(size=(n, 2)) + (0.7 + apart) * y[:, None], 2), y


def of_classifiers():
    X, y = samples()
    far = samples(apart=1.2)
    shares = np.linspace(0.25, 2.0, 8)
    return {
        "costs_from_0": pc.trace(pc.TwoCSVM(X, y), (0, 0), (1, 3)),
        "costs_line": pc.trace(pc.TwoCSVM(X, y, sample_weight=shares), (0.25, 1), (1, 0.5)),
        "costs_of_samples": pc.trace(pc.TwoCSVM(X, y), pc.SampleCosts(shares), pc.SampleCosts(shares[::-1].copy())),
        "costs_rbf": pc.trace(pc.TwoCSVM(X, y, pc.RBF(1.0)), (0.25, 1), (1, 0.5)),
        "costs_polynomial": pc.trace(pc.TwoCSVM(X, y, pc.Polynomial(2)), (0.25, 1), (1, 0.5)),
        "costs_precomputed": pc.trace(pc.TwoCSVM(X @ X.T + np.eye(8), y, "precomputed"), (0.25, 1), (1, 0.5)),
        "costs_callable": pc.trace(pc.TwoCSVM(X, y, own_kernel), (0.25, 1), (1, 0.5)),
        "costs_sparse": pc.trace(pc.TwoCSVM(sp.csr_array(X), y), (0.25, 1), (1, 0.5)),
        "costs_low_rank": pc.trace(pc.TwoCSVM(X, y, pc.RBF(1.0), low_rank=4), (0.25, 1), (1, 0.5)),
        "nu": pc.trace(pc.TwoNuSVM(X, y), nu=(0, None), asymmetry=0.4),
        "hulls": pc.trace(pc.TwoNuSVM(*far), (1, 1), (0.4, 0.5)),
        "quantile": pc.trace(pc.QuantileSVM(X, y), tau=(0, 1), lam=0.25),
        "quantile_bias": pc.trace(pc.QuantileSVM(X, y, bias=True), tau=(0, 1), lam=0.25),
        "margins": pc.trace(pc.BiobjectiveMargin(*far), theta=(0.1, 10), C_plus=1.0, C_minus=2.0),
        "margins_hard": pc.trace(pc.BiobjectiveMargin(*far, soft=False), theta=(0.1, 10)),
    }


def own_kernel(X, Z):
    return X @ Z.T + 1.0


def of_programs():
    x, v, w = (cp.Variable(size, name=name) for size, name in ((2, "x"), ((), "v"), ((), "w")))
    s = cp.Parameter(name="s")
    two = cp.Parameter(2, name="two")
    mass = (cp.sum(x) == s).set_label("mass")
    A = np.array([[2.0, 1.0], [1.0, 3.0], [-1.0, 1.0], [0.5, 2.0]])
    r = np.array([1.0, 2.0, 0.5, -1.0]) - A @ x
    lam, tau = cp.Parameter(nonneg=True, name="lam"), cp.Parameter(name="tau")
    beside = [(v >= s * w).set_label("steep"), v >= (s - 1) * w]
    lines = {
        "end": (cp.Minimize(cp.sum_squares(x) / 2), [mass, x[0] - 2 * x[1] <= -0.5], {s: 0.0}, {s: 2.0}),
        "lasso": (cp.Minimize(cp.sum_squares(r) / 2 + lam * cp.norm1(x)), [], {lam: 9.0}, {lam: 0.0}),
        "maximise": (
            cp.Maximize(two @ x - cp.sum_squares(x)),
            [mass, x >= 0],
            {two: [1, 0], s: 1},
            {two: [0, 3], s: 2},
        ),
        "moved": (cp.Minimize(cp.sum(cp.maximum(tau * r, (tau - 1) * r))), [x >= -1], {tau: 0.1}, {tau: 0.9}),
        "moved_variable": (cp.Minimize(v + cp.square(w - 3) / 2), beside, {s: 0.0}, {s: 1.0}),
        "infeasible": (cp.Minimize(cp.sum(x)), [(x <= 3).set_label("cap"), cp.sum(x) >= s], {s: 0.0}, {s: 8.0}),
        "crossing": (cp.Minimize(v), [(v >= s).set_label("floor"), v <= 1 - s], {s: 0.0}, {s: 1.0}),
        "unbounded": (cp.Minimize(x[0] - s * x[1]), [x[0] >= 0, x[0] >= x[1] - 1, x[1] >= 0], {s: 0.0}, {s: 2.0}),
        "limit": (cp.Minimize(cp.sum_squares(r) / 2 + lam * cp.norm1(x)), [], {lam: 9.0}, {lam: 0.0}),
    }
    return {
        f"program_{name}": pc.trace(cp.Problem(aim, rows), *ends, max_events=1 if name == "limit" else None)
        for name, (aim, rows, *ends) in lines.items()
    }


def of_cones():
    """Paths within eps; their proofs write no certificate files."""
    x, s = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="s")
    near = [(cp.norm2(x) <= s).set_label("ball"), (cp.sum(x) >= 1).set_label("mass")]
    entropy = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, x[0] - x[1] == 0.8 * s])
    return {
        "cones_infeasible": pc.trace(cp.Problem(cp.Minimize(3 * x[0] + x[1]), near), {s: 2.0}, {s: 0.25}, eps=0.01),
        "cones_maximise": pc.trace(entropy, {s: 0.0}, {s: 1.0}, eps=0.01),
    }


def of_curves():
    """Curves; P, A and an equation move. They were added when curves were."""
    x, s = cp.Variable(3, name="x"), cp.Parameter(nonneg=True, name="s")
    rows = [(x[0] + s * x[1] <= 1).set_label("row"), (x[2] + s * x[0] == 1).set_label("equation")]
    objective = cp.sum_squares(x - np.array([2.0, 1.0, 0.5])) + s * cp.square(x[1]) + cp.norm2(x)
    return {"curve": pc.trace(cp.Problem(cp.Minimize(objective), rows), {s: 0.25}, {s: 2.0}, curve=True)}


def guarantees():
    """The path of MEMPM over weights."""
    machine = pc.MEMPM.from_moments([2.0, 1.0], [[1.0, 0.25], [0.25, 2.0]], [0.0, 0.0], [[1.5, 0.0], [0.0, 0.5]])
    return pc.trace(machine, theta=(0.25, 0.75), eps=0.01)


def said_of(path):
    """The numbers that a path answers."""
    if hasattr(path, "guarantees"):
        theta = [float(at) for at in (0.25, 0.3, 0.62, 0.75)]
        said = {"kind": type(path).__name__, "theta": theta, "bounds": [list(path.bounds(at)) for at in theta]}
        return {**said, "w": [path.at(at).classifier.w.tolist() for at in theta]}
    t = [float(path.breakpoints[-1]) * at for at in AT] if hasattr(path, "program") else inner(path)
    found = {"kind": type(path).__name__, "t": t, "value": [float(path.value(at)) for at in t]}
    found["breakpoints"] = path.breakpoints.tolist()
    if hasattr(path, "program"):
        points = [path.at(at) for at in t]
        found |= {"status": path.status, "parameters": [plain(p.parameters) for p in points]}
        found |= {key: [plain(getattr(p, key)) for p in points] for key in ("variables", "duals")}
        found["beyond"] = path.beyond and [path.beyond.status, list(path.beyond.blame)]
        return found
    return {**found, "alpha": [path.at(at).alpha.tolist() for at in t]}


def inner(path):
    first, last = float(path.breakpoints[0]), float(path.breakpoints[-1])
    return [first + at * (last - first) for at in AT]


def said_of_plane(plane):
    points = [(0.3, 0.4), (0.9, 0.2), (0.55, 0.95)]
    values = [float(plane.at(*point).value) for point in points]
    alpha = [plane.at(*point).alpha.tolist() for point in points]
    return {
        "kind": type(plane).__name__,
        "points": points,
        "value": values,
        "alpha": alpha,
        "areas": plane.areas.tolist(),
    }


def plain(named):
    return {name: np.asarray(value).tolist() for name, value in named.items()}


def proved(file):
    """The values at both ends that a checker proves."""
    content = json.loads(gzip.decompress(file.read_bytes()))
    checker = check_gap if "points" in content else check_ray if "ray" in content else check
    text = checker.main(str(file))
    assert text.startswith("PROVED without rounding")
    assert ("PROVED, too" in text) == ("ray" in content)
    return [float(v) for v in re.search(r"Values at both ends[^:]*: \[(.*?)\]", text)[1].split(", ")]


def main(folder):
    folder, said = Path(folder), {}
    paths = {**of_classifiers(), **of_programs()}
    for name, path in paths.items():
        path.save(folder / name)
        said[name] = said_of(path)
    for name, path in of_cones().items():
        path.save(folder / name)
        said[name] = said_of(path)
    for name, path in of_curves().items():
        path.save(folder / name)
        said[name] = said_of(path)
    guarantees().save(folder / "guarantees")
    said["guarantees"] = said_of(pc.load(folder / "guarantees.npz"))
    plane = pc.plane(pc.TwoCSVM(*samples(5)), (0.1, 1), (0.1, 1))
    plane.save(folder / "plane")
    said["plane"] = said_of_plane(plane)
    for name, path in paths.items():
        early = getattr(path, "status", "end") != "end"
        for level in ["exact"] if early else ["exact", "bounded"]:
            file = f"{name}.{level}.json.gz"
            path.proof.save(folder / file, level=level)
            said[file] = proved(folder / file)
    (folder / "said.json").write_text(json.dumps(said), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
