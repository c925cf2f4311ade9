"""Content of the files of paths and maps, those of older versions among them.

Before there was one text in bytes and one hash over all, each text was an array, and the hash of a path or map of a
program left out what its proof judges; the first files had none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.common.files import AnyFile, read_arrays, reading
from paretoclf.common.storage import CHANGED, content_of
from paretoclf.engine.reduction.points import ProgramPoints

#: What the older hash of each kind left out.
_JUDGED = {
    "of_problem": {"x", "z", "ray", "t"},
    "of_cones": {"t", "x", "y", "z", "ceiling", "ray", "inside"},
    "of_curve": {"t", "x", "z", "inner", "inner_y", "inner_z"},
    "of_map": {"polygon", "corners", "x", "z", "none_polygon", "none_corners", "rays", "contacts", "contact_ends"},
    "of_guarantees": {"q", "slopes"},
}

#: What the first files of a kind say that neither a hash nor a proof holds.
_UNCHECKED = {"of_problem": "names and constant", "of_guarantees": "moments and weights"}

#: Texts beside those of the kinds.
_TEXTS = ("kernel", "program_variables", "program_multipliers", "program_attributes")


def read_content(file: AnyFile, wrong: str) -> dict[str, Any]:
    """Read the content of a file; InputError, with the text ``wrong``, where it has none."""
    with reading(file, wrong):
        members = read_arrays(file, wrong)
        return content_of(members) if "json" in members else _older(members)


def _older(members: Mapping[str, Array]) -> dict[str, Any]:
    """Content of a file of an older version."""
    texts = {name: json.loads(str(members[name])) for name in (*_JUDGED, *_TEXTS) if name in members}
    content: dict[str, Any] = {**members, **texts}
    for kind in _JUDGED.keys() & texts.keys():
        if "sha256" in members or kind not in _UNCHECKED:
            _check_hash(members, kind, texts[kind])
        else:
            stopped = ", and that it was stopped" if texts[kind].get("status") == "limit" else ""
            content[kind]["unchecked"] = _UNCHECKED[kind] + stopped
    if "of_problem" in texts:
        points = ProgramPoints.of(members["x"], members["z"])
        content |= points.content()
    return content


def _check_hash(members: Mapping[str, Array], kind: str, told: Mapping[str, Any]) -> None:
    """Refuse a file without its older hash. Where a path was stopped no proof can tell."""
    judged = _JUDGED[kind] - {"t"} if kind == "of_problem" and told["status"] == "limit" else _JUDGED[kind]
    found = hashlib.sha256()
    for name in sorted({*members} - {*judged, "sha256"}):
        array = members[name]
        text = array.dtype.kind == "U"
        said = str(array) if text else array.dtype.kind
        found.update(json.dumps([name, array.shape, said]).encode())
        plain = array.astype("<f8" if array.dtype.kind == "f" else "<i8") if not text else np.zeros(0)
        found.update(plain.tobytes())
    if str(members["sha256"]) != found.hexdigest():
        raise InputError(CHANGED)
