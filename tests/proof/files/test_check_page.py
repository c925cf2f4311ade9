"""The page that checks certificates: complete, and in a browser it says what the checkers say."""

from __future__ import annotations

import json
import time

import pytest

from paretoclf.cli import main
from paretoclf.common.errors import InputError
from paretoclf.proof.files.certificate_file import digest
from paretoclf.proof.files.check_page import check_page
from tests.oracles.bands import half_line
from tests.oracles.browser import Browser, needs_browser


def test_the_page_is_one_file_without_a_network(tmp_path):
    assert main(["check", "--page", str(tmp_path / "check.html")]) == 0
    text = (tmp_path / "check.html").read_text(encoding="utf-8")
    assert "function checkText" in text
    assert "CHECKER" not in text
    assert "http" not in text
    assert "</script" not in text.split('id="checker">')[1].split("\n</script>")[0]


def test_a_page_ends_in_html(tmp_path, capsys):
    with pytest.raises(InputError, match=r"file must end in \.html, got .*page.txt"):
        check_page(tmp_path / "page.txt")
    assert main(["check", "--page", str(tmp_path / "page.txt")]) == 2
    assert not list(tmp_path.iterdir())


@needs_browser
def test_the_page_checks_files_in_a_browser(tmp_path):
    check_page(tmp_path / "check.html")
    content = half_line()
    good = json.dumps({**content, "sha256": digest(content["problem"])})
    content["points"][0][1] = [1]
    bad = json.dumps({**content, "sha256": digest(content["problem"])})
    with Browser(tmp_path / "profile") as page:
        page.open(tmp_path / "check.html")
        for text, verdict in ((good, "PROVED without rounding"), (bad, "NOT PROVED: point 0: b - Ax leaves")):
            page.value(f"checkFile(new File([{json.dumps(text)}], 'band.json')) && 0")
            deadline = time.monotonic() + 60
            while page.value("element('said').hidden") and time.monotonic() < deadline:
                time.sleep(0.05)
            assert page.value("element('said').textContent").startswith(verdict)
