"""Reports: tables of what was judged, a row each, with one of the verdicts of `Certificate`."""

from __future__ import annotations

from collections.abc import Sequence

from paretoclf.common.tables import Tabular


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
