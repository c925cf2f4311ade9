"""Versions and the tracker that runs: a report of a fault should say them."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

import paretoclf
from paretoclf.engine.engines import DEFAULT

DEPENDENCIES = (
    "numpy",
    "scipy",
    "cvxpy",
    "clarabel",
    "scikit-learn",
    "joblib",
    "threadpoolctl",
    "matplotlib",
    "tqdm",
)


def versions() -> dict[str, str]:
    """Versions of the package, of Python and of every dependency, the system, and the tracker that `trace` takes."""
    found = {"paretoclf": paretoclf.__version__, "python": sys.version.split()[0], "system": platform.platform()}
    for name in DEPENDENCIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found | {"tracker": DEFAULT}


def show_versions() -> None:
    """Print what a report of a fault should say of the machine.

    Versions of the package, of Python and of every dependency, the system, and the tracker that `trace` takes unless
    another is named: "fast", "careful" or "textbook".

    Examples
    --------
    >>> import paretoclf as pc
    >>> pc.show_versions()
    paretoclf ...
    python ...
    system ...
    """
    found = versions()
    width = max(map(len, found))
    sys.stdout.write("".join(f"{name:{width}}  {value}\n" for name, value in found.items()))
