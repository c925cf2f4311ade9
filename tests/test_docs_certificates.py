"""Every certificate of the documentation is proved by both checkers: those that its code writes, and of its paths.

Paths of all pages are checked where their code runs (`tests/test_readme.py`); here are the front pages, and pages whose
code writes a file. That which the README writes by a command is checked by both in `.ci/run`.
"""

from __future__ import annotations

import json
import re

import matplotlib as mpl
import pytest

from paretoclf.proof.bands import band_certificate
from paretoclf.proof.files import certificate_file
from tests.oracles.page_certificates import assert_proved, texts_of
from tests.test_readme import PAGES, ROOT, blocks

#: Calls that write a certificate, in the code of a page.
WRITES = re.compile(r"proof\.save\(|save_point\(|save_solution\(")
#: Bytes that certificates of the first blocks of the README may take.
MOST = {"path": 20_000, "band": 200_000}


def named(pages):
    return [page.relative_to(ROOT).as_posix() for page in pages]


def run(code, page, folder, monkeypatch):
    """Run blocks of a page in a folder; return its names, and the text of every certificate that it writes."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    texts = []
    for module in (certificate_file, band_certificate):
        write = module.write_content

        def noted(content, file, write=write):
            texts.append(json.dumps(content))
            write(content, file)

        monkeypatch.setattr(module, "write_content", noted)
    monkeypatch.chdir(folder)
    namespace = {"__name__": "__main__"}
    try:
        for line, source in code:
            exec(compile("\n" * line + source, str(page), "exec"), namespace)
    finally:
        plt.close("all")
    return namespace, texts


WRITING = [page for page in PAGES if any(WRITES.search(source) for _, source in blocks(page))]


def test_pages_that_write_certificates_are_found():
    """A new page is among these by itself, as long as its code names the call."""
    assert {"docs/reference/certificate_files.md", "docs/tutorials/lessons/what_a_proof_is.md"} <= {*named(WRITING)}


@pytest.mark.parametrize("page", WRITING, ids=named(WRITING))
def test_certificates_that_a_page_writes_are_proved_by_both(page, tmp_path, monkeypatch):
    _, texts = run(blocks(page), page, tmp_path, monkeypatch)
    calls = sum(len(WRITES.findall(source)) for _, source in blocks(page))
    assert len(texts) >= calls
    assert_proved(texts, tmp_path)


@pytest.mark.slow
def test_the_lasso_and_the_band_of_the_readme_have_small_certificates(tmp_path, monkeypatch):
    page = ROOT / "README.md"
    front = [block for block in blocks(page) if any(call in block[1] for call in ("lasso = ", "band = "))]
    names, _ = run(front, page, tmp_path, monkeypatch)
    made = {name: names[name] for name in MOST}
    texts, without = texts_of(made, tmp_path)
    assert without == {}
    assert_proved(texts.values(), tmp_path)
    for name, most in MOST.items():
        assert len(texts[name]) <= most


def test_ci_checks_the_certificate_of_the_readme_by_both():
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    python = lines.index("(cd out && python3 -I check.py shop.proof.json)")
    assert lines[python + 1] == "! command -v node > /dev/null || node paretoclf/proof/check.js out/shop.proof.json"
