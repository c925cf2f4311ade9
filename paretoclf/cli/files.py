"""Files that appear complete or not at all, JSON without NaN, and reports as a page."""

from __future__ import annotations

import base64
import html
import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from paretoclf.common.errors import InputError
from paretoclf.common.files import claimed, remove_leftovers, replacing


@contextmanager
def staged(out: Path) -> Iterator[Path]:
    """Give a temporary folder whose files move to out, made only then, at the end, and vanish after an error."""
    place, name = _place(out), out.name or "out"
    with ExitStack() as stack:
        with _writing(out):
            remove_leftovers(place, f".{name}.", ".tmp")
            make = claimed(lambda: Path(tempfile.mkdtemp(prefix=f".{name}.", suffix=".tmp", dir=place)))
            folder = stack.enter_context(make)
        try:
            yield folder
            with _writing(out):
                out.mkdir(parents=True, exist_ok=True)
                for file in sorted(folder.iterdir()):
                    with replacing(out / file.name) as temporary:  # as the permissions and links there want it
                        shutil.copyfile(file, temporary)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _writing(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"--out {out}: cannot be written to ({error.strerror})") from None


def _place(out: Path) -> Path:
    """Choose the folder of the temporary one: beside out, or inside where only that is writable or on its device."""
    if os.path.lexists(out) and not out.is_dir():
        raise InputError(f"--out {out}: must be a folder, but there is a file of this name")
    if out.is_dir():
        if not os.access(out, os.W_OK | os.X_OK):
            raise InputError(f"--out {out}: cannot be written to (permission denied)")
        beside = out.resolve().parent
        writable = os.access(beside, os.W_OK | os.X_OK)
        same_device = beside.stat().st_dev == out.stat().st_dev
        return beside if writable and same_device else out
    above = next(folder for folder in out.absolute().parents if os.path.lexists(folder))
    if not above.is_dir():
        raise InputError(f"--out {out}: cannot be made, since {above} is not a folder")
    return above


def to_json(value: Any) -> str:
    """Text of a report; numbers that are not finite become null."""
    return json.dumps(_finite(value), indent=2, allow_nan=False)


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }}
pre {{ font-size: 13px; line-height: 1.4; overflow-x: auto; background: #f6f6f4; padding: 1rem; }}
figure {{ margin: 2rem 0; }}
img {{ max-width: 100%; }}
figcaption {{ color: #555; }}
</style>
</head>
<body>
<h1>{title}</h1>
<pre>{headlines}</pre>
<p><a href="{link}">The path to play with</a>: a slider along it, with the boundary, the margins and the events.</p>
{figures}
<h2>All numbers</h2>
<pre>{numbers}</pre>
</body>
</html>
"""


def html_page(title: str, headlines: Sequence[str], pictures: Mapping[str, Path], numbers: str, link: str) -> str:
    """Return a report as one page: headlines, pictures (PNG files by their captions), numbers, a link to another."""
    figures = []
    for caption, file in pictures.items():
        text = html.escape(caption)
        picture = base64.b64encode(file.read_bytes()).decode()
        image = f'<img alt="{text}" src="data:image/png;base64,{picture}">'
        figures.append(f"<figure>{image}<figcaption>{text}</figcaption></figure>")
    texts = {"title": title, "headlines": "\n".join(headlines), "link": link, "numbers": numbers}
    escaped = {name: html.escape(text) for name, text in texts.items()}
    return _PAGE.format(figures="\n".join(figures), **escaped)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if hasattr(value, "tolist"):
        return _finite(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
