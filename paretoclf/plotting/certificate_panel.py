"""The certificate of a path in its page, with a button that checks it in the reader's browser."""

from __future__ import annotations

import html
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from paretoclf.common.checks import what_it_is
from paretoclf.common.errors import InputError
from paretoclf.plotting.page import filled, script_of

#: Bytes of a certificate that a page may hold.
MOST_BYTES = 1_000_000
#: Units of work (`_work`) up to which a page holds a certificate unasked: it is written in a second or two.
SMALL = 500_000
#: So many units are one: of the inverse of a program in integers; and of a band whose rows move a piece has as many.
_INVERSE, _MOVING = 200, 20

#: Format of a file -> what compares its data with those of a reader.
_COMMANDS = {"exact": "check.py --data", "bounded": "check_gap.py --data"}


def certificate_panel(path: Any, wanted: bool | None) -> str:
    """Write the part of a page that has the certificate of its path, as HTML.

    Parameters
    ----------
    path : path
    wanted : bool, optional
        Whether the page has one; by default where the path is small. Then the page says why it has none.

    Raises
    ------
    InputError
        If one is asked for that there is not, or that is too large for a page.
    """
    if wanted is not None and not isinstance(wanted, bool):
        raise InputError(f"certificate must be True, False or None, got {what_it_is(wanted)}")
    if wanted is False:
        return ""
    if wanted is None and _work(path) > SMALL:
        return _without("the path is large. page(file, certificate=True) has one, if it takes less than 1 MB")
    try:
        text = _text(path)
    except InputError as error:
        if wanted:
            raise
        return _without(str(error))
    level = text[len('{"format":"') :].split(" ")[0]
    parts = {
        "FILE": text.replace("<", "\\u003c"),
        "SIZE": f"{len(text) / 1000:.0f}",
        "COMMAND": _COMMANDS.get(level, "no script"),
        "CHECKER": script_of("check.js"),
        "WORKER": script_of("check_worker.js"),
    }
    return filled("certificate.html", parts)


def _work(path: Any) -> float:
    """Units of work that a certificate takes: pieces times samples squared, or for programs as much as was measured."""
    pieces = path.t.size - 1
    if not hasattr(path, "program"):
        return float(pieces * path.y.size**2)
    items = path.program.n + path.program.m
    if hasattr(path, "bounds"):
        return float(pieces * items**2 * (1 if path.program.A_stop is None else _MOVING))
    return float(pieces * items**4 / _INVERSE)


def _text(path: Any) -> str:
    """Text of the certificate file; InputError where there is none, or it is too long."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "path.proof.json")
        path.proof.save(file, progress=False)
        text = file.read_text(encoding="utf-8")
    if len(text) > MOST_BYTES:
        raise InputError(
            f"certificate must take no more than {MOST_BYTES} bytes in a page, and this one takes {len(text)}: "
            "path.proof.save(file) writes it beside the page"
        )
    return text


def _without(why: str) -> str:
    """Write the part of a page that has no certificate."""
    return f'<section><h2>certificate</h2><div class="note">None is in this page: {html.escape(why)}.</div></section>'
