"""The certificate file of the exact path of a program: its data, and the rows that are tight on each segment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from paretoclf.common.checks import Index
from paretoclf.common.files import AnyFile
from paretoclf.path.base.uniqueness import tight_rows
from paretoclf.proof.files.certificate_file import save_program
from paretoclf.proof.files.tight_labels import labels_of_rows
from paretoclf.proof.programs.row_units import Sizes


def save_certificate(
    path: Any, file: AnyFile, level: str | None, progress: bool | None, n_jobs: int | None, about: str
) -> None:
    """Write the certificate file of the compiled program, guided by the rows that are tight on each segment."""
    k, whole = 2 * len(path.labels), path.status == "end" and path.t[-1] == 1
    t = np.stack([path.t[:-1], path.t[1:]], axis=1).ravel()
    knots = (t, path.x.reshape(k, -1), -path.z.reshape(k, -1)) if whole else None
    save_program(path.program.problem, tight_labels(path), file, level, progress, n_jobs, knots, about)


def tight_labels(path: Any) -> Iterator[Index]:
    """Labels of columns and rows of the compiled program on each segment."""
    line, sizes = path.program, Sizes(path.program)
    for j in range(len(path.labels)):
        x, z = path.points.segment(j)
        tight, priced = tight_rows(line, path.t[j : j + 2], x, z, sizes)
        yield labels_of_rows(line, priced, tight)
