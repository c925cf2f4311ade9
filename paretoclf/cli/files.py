"""Files that appear complete or not at all, and JSON without NaN."""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paretoclf.errors import InputError


@contextmanager
def staged(out: Path) -> Iterator[Path]:
    """Give a temporary folder whose files move to out at the end, and vanish after an error.

    Parameters
    ----------
    out : Path
        Folder for the files; made (with its parents) only at the end.

    Raises
    ------
    InputError
        If out is not a folder or cannot be written to.
    """
    place = _place(out)
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{out.name or 'out'}.", suffix=".tmp", dir=place))
    except OSError as error:
        raise InputError(f"--out {out}: cannot be written to ({error.strerror})") from None
    try:
        yield folder
        try:
            out.mkdir(parents=True, exist_ok=True)
            for file in sorted(folder.iterdir()):
                os.replace(file, out / file.name)
        except OSError as error:
            raise InputError(f"--out {out}: cannot be written to ({error.strerror})") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _place(out: Path) -> Path:
    """Where the temporary folder goes: beside out, or inside where only that can be renamed from or written to."""
    if os.path.lexists(out) and not out.is_dir():
        raise InputError(f"--out {out}: must be a folder, but there is a file of this name")
    if out.is_dir():
        if not os.access(out, os.W_OK | os.X_OK):
            raise InputError(f"--out {out}: cannot be written to (permission denied)")
        beside = out.resolve().parent
        fits = os.access(beside, os.W_OK | os.X_OK) and beside.stat().st_dev == out.stat().st_dev
        return beside if fits else out
    above = next(folder for folder in out.absolute().parents if os.path.lexists(folder))
    if not above.is_dir():
        raise InputError(f"--out {out}: cannot be made, since {above} is not a folder")
    return above


def to_json(value: Any) -> str:
    """Text of a report; numbers that are not finite become null."""
    return json.dumps(_finite(value), indent=2, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if hasattr(value, "tolist"):
        return _finite(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
