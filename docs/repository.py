"""Where the project is published: one setting, from which every link of a release is made.

The build of the package takes its addresses and its page on PyPI from here (``pyproject.toml``), and the documentation
its links to the sources (``conf.py``). While the setting is empty nothing is published, and nothing says that it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

REPOSITORY = ""  # of a release: https://github.com/OWNER/NAME

#: What README says of a clone, and what its page on PyPI says in its place.
FROM_A_CLONE = (
    ", from a fresh clone (Python 3.11 or later; compiling takes about a minute):\n\n"
    "```bash\npython3 -m venv .venv && .venv/bin/pip install -q '.[mps]'\n```"
)
FROM_PYPI = (
    " (Python 3.11 or later):\n\n```bash\npython3 -m venv .venv && .venv/bin/pip install -q 'paretoclf[mps]'\n```"
)


def pages(repository: str) -> str:
    """Address of the documentation: a folder a version, and a list of them."""
    found = re.fullmatch(r"https://github\.com/([\w-]+)/([\w.-]+[\w-])", repository)
    if found is None:
        raise ValueError(
            f"REPOSITORY is {repository!r}: give https://github.com/OWNER/NAME, or nothing before a release"
        )
    return f"https://{found[1].lower()}.github.io/{found[2]}/"


def urls(repository: str) -> dict[str, str]:
    """Addresses of the project, for ``[project.urls]``."""
    if not repository:
        return {}
    return {
        "Documentation": pages(repository),
        "Source": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
    }


def on_pypi(readme: str, repository: str, version: str) -> str:
    """README as its page on PyPI: files are those of the release, and it is installed from there."""
    if not repository:
        return readme
    if readme.count(FROM_A_CLONE) != 1:
        raise ValueError("README no longer says how to install as docs/repository.py knows it: change FROM_A_CLONE")
    readme = readme.replace(FROM_A_CLONE, FROM_PYPI)
    readme = re.sub(r"(<img src=\")(?!https?:)", rf"\1{repository}/raw/v{version}/", readme)
    return re.sub(r"(\]\()(?!https?:|#)", rf"\1{repository}/blob/v{version}/", readme)


def theme(repository: str) -> dict[str, str]:
    """Options of the documentation's theme: each page leads to its source."""
    if not repository:
        return {}
    return {"source_repository": f"{repository}/", "source_branch": "main", "source_directory": "docs/"}


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of ``[project]`` that depend on the setting; called by scikit-build-core."""
    text = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
    page = on_pypi(text, REPOSITORY, project["version"])
    return {"urls": urls(REPOSITORY), "readme": {"content-type": "text/markdown", "text": page}}
