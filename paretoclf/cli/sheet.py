"""What the last cell of a sheet of exercises says: each answer judged as `paretoclf grade` judges it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paretoclf.cli.answers import dual_judged, has_dual
from paretoclf.cli.grade import RIGHT, Left, judged
from paretoclf.cli.spelling import did_you_mean
from paretoclf.common.errors import InputError


def what_is_said(exercises: Mapping[str, Any], answers: Mapping[str, Any]) -> str:
    """Return a line on each answer, the names of exercises without one, and how many are right.

    Parameters
    ----------
    exercises : mapping of str to cvxpy.Problem
        Problems by name.
    answers : mapping of str to answer
        ``{"values": ...}`` (and ``"duals"``), ``{"ray": ...}``, ``{"dual": a problem}`` or ``"infeasible"`` by the
        names of exercises. What cannot be judged has a line that says why.

    Raises
    ------
    InputError
        If ``answers`` is no dictionary.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.cli.sheet import what_is_said
    >>> x = cp.Variable(name="x")
    >>> low = cp.Problem(cp.Minimize(x), [(x >= 2).set_label("low")])
    >>> none = cp.Problem(cp.Minimize(x), [x >= 2, x <= 1])
    >>> print(what_is_said({"low": low, "none": none}, {"None": "infeasible", "low": {"values": {"x": 2}}}))
    None: no exercise has this name: did you mean none?
    low: Right: the values are optimal (value 2).
    No answer yet: none.
    1 of 2 are right
    """
    if not isinstance(answers, Mapping):
        raise InputError(f"answers must be a dict by the names of exercises, got {answers!r:.100}")
    lines, right = [], 0
    for name, answer in answers.items():
        if name not in exercises:
            lines.append(f"{name}: no exercise has this name{did_you_mean(str(name), exercises)}")
            continue
        duals = {name: dual_judged(exercises[name], answer["dual"])} if has_dual(answer) else {}
        verdict, sentence, _ = judged(name, exercises[name], Left(answers, duals))
        right += verdict in RIGHT
        lines.append(f"{name}: {'not judged, ' if verdict == 'not judged' else ''}{sentence}")
    missing = [name for name in exercises if name not in answers]
    if missing:
        lines.append(f"No answer yet: {', '.join(missing)}.")
    return "\n".join([*lines, f"{right} of {len(exercises)} are right"])
