"""A page that checks certificate files of all kinds in the reader's browser, with no network: one file."""

from __future__ import annotations

from pathlib import Path

from paretoclf.common.errors import InputError
from paretoclf.common.files import AnyFile, replacing
from paretoclf.proof import check

#: Where scripts go in the page.
_MARKS = {"/* CHECKER */": "check.js", "/* WORKER */": "check_worker.js"}


def check_page(file: AnyFile) -> None:
    """Write the page: drop a certificate file on it, and read what is proved.

    Parameters
    ----------
    file : path
        Ends in .html; it appears complete or not at all.

    Raises
    ------
    InputError
        If the name has another ending.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from paretoclf.proof.files.check_page import check_page
    >>> with TemporaryDirectory() as folder:
    ...     check_page(Path(folder, "check.html"))
    ...     "function checkText" in Path(folder, "check.html").read_text(encoding="utf-8")
    True
    """
    target = Path(file)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"file must end in .html, got {str(target)!r}")
    beside = Path(check.__file__)
    page = beside.with_name("check.html").read_text(encoding="utf-8")
    for mark, name in _MARKS.items():
        page = page.replace(mark, beside.with_name(name).read_text(encoding="utf-8"))
    with replacing(target) as temporary:
        temporary.write_text(page, encoding="utf-8")
