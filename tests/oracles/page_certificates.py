"""Certificates of what the code of a page leaves in its names: paths, maps, ranges and derivatives."""

from __future__ import annotations

from pathlib import Path

from paretoclf.common.errors import InputError
from paretoclf.path.base.path import OnSegments
from paretoclf.path.cost_plane.cost_plane import CostPlane
from paretoclf.path.problem_map.problem_map import ProblemMap
from paretoclf.path.sensitivity.derivatives import Derivatives
from paretoclf.path.sensitivity.ranges import Ranges
from paretoclf.plotting.certificate_panel import SMALL, _work
from tests.proof.test_check_js import NODE, of_javascript, of_python, proved

#: Regions of a map, and numbers of ranges, up to which their certificates are made here.
MOST_REGIONS, MOST_NUMBERS = 60, 60


def has_small_certificate(made):
    """Whether something is a path, a map or ranges whose certificate is written in a moment, if there is one."""
    if isinstance(made, OnSegments):
        return hasattr(made.proof, "writer") and made.proof.writer is not None and _work(made) <= SMALL
    if isinstance(made, CostPlane | ProblemMap):
        return len(made.regions) <= MOST_REGIONS
    if isinstance(made, Ranges | Derivatives):
        return made.optimum is not None and (isinstance(made, Derivatives) or len(made) <= MOST_NUMBERS)
    return False


def texts_of(made, folder):
    """The text of each certificate that there is; why there is none, of the others."""
    texts, without = {}, {}
    for name, each in made.items():
        file = Path(folder, "certificate.json")
        try:
            each.proof.save(file, progress=False)
        except InputError as error:
            without[name] = str(error)
            continue
        texts[name] = file.read_text()
        file.unlink()
    return texts, without


def assert_proved(texts, folder):
    """Assert that both checkers prove all of these; where there is no Node, the one in Python."""
    texts = list(texts)
    for text in texts:
        assert proved(words := of_python(text, folder)), words
    for words in of_javascript(texts) if NODE else ():
        assert proved(words), words
