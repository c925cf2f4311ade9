"""How a path that was just traced is handed out: proved, and with the error that stopped it, if one did."""

from __future__ import annotations

from paretoclf.common.errors import DegeneratePathError, InterruptedPath, Stop
from paretoclf.path.svm_lines.svm_path import Kind, proved


def finished(path: Kind, certify: bool, stopped: Stop | None) -> Kind:
    """Return a path that was just traced, proved if that is asked for; raise what stopped it, with the path."""
    if stopped is None:
        return proved(path) if certify else path
    try:
        path = proved(path) if certify else path
    except DegeneratePathError:
        raise stopped from None
    if isinstance(stopped, KeyboardInterrupt):
        raise InterruptedPath(path) from None
    stopped.path = path
    raise stopped
