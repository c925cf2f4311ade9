"""Twenty certificate files of all kinds, and what changes one of their digits, labels or segments."""

from __future__ import annotations

import copy
import json

import numpy as np

import paretoclf as pc
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.proof import check, check_gap, check_ray
from paretoclf.proof.files.certificate_file import bounded, certificate
from paretoclf.proof.files.stated_problems import path_problem, program_problem
from tests.oracles.random_programs import fractions, program
from tests.oracles.second_checker import gap_of, objection_to

#: Random programs that have an optimum all along; that end infeasible, unbounded, and where bounds cross.
PROGRAMS = (3, 8, 12, 17)


def samples(seed=33, n=10):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)), np.where(np.arange(n) < n // 2, 1.0, -1.0)


def paths():
    """A path of each kind, linear and not."""
    X, y = samples()
    for kernel in (None, pc.RBF(0.7)):
        yield pc.trace(pc.TwoCSVM(X, y, kernel), start=(0.25, 0.75), stop=(1.5, 0.5))
        yield pc.trace(pc.TwoNuSVM(X + y[:, None], y, kernel), nu=(0.1, 0.45), asymmetry=0.5)
        yield pc.trace(pc.QuantileSVM(X, y, kernel), tau=(0, 1), lam=0.25)
        yield pc.trace(pc.BiobjectiveMargin(X, y, kernel), theta=(0.25, 4), C_plus=0.7, C_minus=3.0)


def files():
    """Contents of twenty files: eight paths exactly and bounded, and four programs, with rays among them."""
    for path in paths():
        labels, problem = list(path._labels(path.equations)), path_problem(path)
        yield plain(certificate(problem, labels, progress=False))
        yield plain(bounded(problem, path.pieces, labels))
    found, seed = 0, -1
    kinds = [None, "infeasible", "unbounded", "crossing"]
    while found < len(PROGRAMS):
        seed += 1
        if (raw := program(seed)) is None:
            continue
        try:
            content = certificate(program_problem(ParametricQP(*map(fractions, raw))), [], progress=False)
        except ArithmeticError:
            continue
        kind = content.get("ray", [None])[0]
        if kind in kinds:
            kinds.remove(kind)
            found += 1
            yield plain(content)


def plain(content):
    """As it is read from a file."""
    return json.loads(json.dumps(content))


def leaves(node, at=()):
    """Where numbers and letters are."""
    if isinstance(node, dict | list):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            if key not in ("about", "positive", "kind", "format", "sha256", "names"):
                yield from leaves(value, (*at, key))
    elif node is not None and not isinstance(node, bool):
        yield at


def mutated(content, rng):
    """A copy with a digit, a letter, or the order changed, and what it was."""
    new = copy.deepcopy(content)
    rows = next(new[name] for name in ("segments", "points", "sides") if name in new)
    what = str(rng.choice(["leaf", "leaf", "leaf", "leaf", "leaf", "swap", "drop", "double", "cut"]))
    k = int(rng.integers(len(rows)))
    if what == "swap":
        j = int(rng.integers(len(rows)))
        rows[k], rows[j] = rows[j], rows[k]
    elif what == "drop":
        del rows[k]
    elif what == "double":
        rows.insert(k, copy.deepcopy(rows[k]))
    elif what == "cut":
        del rows[k:]
    else:
        part = [at for at in leaves(new) if (at[0] in ("problem", "stretch")) == (rng.random() < 0.4)]
        at = part[int(rng.integers(len(part)))]
        node = new
        for key in at[:-1]:
            node = node[key]
        node[at[-1]] = other(node[at[-1]], rng)
    return what, new


def other(value, rng):
    """A letter or digit of it changed."""
    text = value if isinstance(value, str) else repr(value)
    places = [k for k, c in enumerate(text) if c.isdigit() or c in "bliua"]
    k = int(rng.choice(places)) if places else 0
    symbols = "0123456789" if text[k].isdigit() else "bliua"
    changed = text[:k] + str(rng.choice([c for c in symbols if c != text[k]])) + text[k + 1 :]
    if isinstance(value, str):
        return changed
    try:
        return int(changed) if isinstance(value, int) else float(changed)
    except ValueError:
        return changed


def verdicts(content):
    """What our checker says, and the other one: empty where all is proved; of bounds, whether they agree."""
    try:
        if "points" in content:
            most = check_gap.gap(content["problem"], content["points"], content["stretch"])[1]
            ours = ""
        else:
            _, end = check.check(content["problem"], content["segments"], "ray" in content)
            if end < 1:
                check_ray.beyond(content["problem"], end, *content["ray"])
            ours = ""
    except Exception as error:
        ours = str(error) or repr(error)
    try:
        if "points" not in content:
            return ours, objection_to(content)
        return ours, "" if ours == "" and gap_of(content) <= most else "gap"
    except Exception as error:
        return ours, str(error) or repr(error)
