"""Reports: tables of what was judged, a row each, with one of the verdicts of `Certificate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from paretoclf.common.tables import Tabular
from paretoclf.proof.verdicts.certificate import VERDICTS, Certificate


class Report(Tabular):
    """Rows that were judged, each by itself; prints as a table.

    A kind of report implements `verdicts`, and what `Tabular` asks for.
    """

    #: The verdict on a row with which nothing is wrong.
    passing = "optimal"

    @property
    def verdicts(self) -> Sequence[str]:
        """Verdict on each row; whatever is not ``passing`` is a failure."""
        raise NotImplementedError

    def first_failure(self) -> int | None:
        """Index of the first row that does not pass, or None."""
        failing = (k for k, verdict in enumerate(self.verdicts) if verdict != self.passing)
        return next(failing, None)

    def passes(self) -> bool:
        """Whether every row passes."""
        return self.first_failure() is None


class Certified(Report):
    """A report that has a certificate of each row, in ``certificates``; its rows are counted and taken by these."""

    if TYPE_CHECKING:  # no attribute of this class, which would be the default of a field

        @property
        def certificates(self) -> Sequence[Certificate]:
            """Certificate of each row."""

    def __len__(self) -> int:
        return len(self.certificates)

    def __getitem__(self, k: int) -> Certificate:
        return self.certificates[k]

    @property
    def worst(self) -> int:
        """Index of the row that is furthest from optimal, by `Certificate.off_by`."""
        return int(np.argmax([each.off_by for each in self.certificates]))

    @property
    def classes(self) -> dict[str, tuple[int, ...]]:
        """Indices of the rows by their verdict (`Certificate.verdict`), the worst class first."""
        verdicts = self.verdicts
        return {name: tuple(k for k, verdict in enumerate(verdicts) if verdict == name) for name in VERDICTS}
