"""Reports on fitted models: verdicts, and in words what each model was, where it was found, and what it minimises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from paretoclf.checking.judged_solutions import Verification
from paretoclf.common.tables import SHOWN, and_more


class JudgedModel(NamedTuple):
    """A fitted model that was judged: its class, where it was found if in a search, and its objective in words."""

    name: str
    found: str
    objective: str


@dataclass(frozen=True, repr=False)
class ModelVerification(Verification):
    """Certificates of fitted models; prints as a table, with the objective of each kind of model below.

    Attributes
    ----------
    models : sequence of JudgedModel
        The model of each row.
    """

    models: Sequence[JudgedModel] = field(default_factory=tuple)

    @classmethod
    def of(cls, report: Verification, models: Sequence[JudgedModel]) -> ModelVerification:
        """Add the models to the verdicts on them."""
        own = {each.name: getattr(report, each.name) for each in fields(Verification)}
        return cls(**own, models=tuple(models))

    @property
    def note(self) -> str:
        """Say which model of a search was judged, and name the objectives, each once."""
        found = [f"judged {self._of([k])}{each.found}" for k, each in enumerate(self.models) if each.found]
        rows: dict[tuple[str, str], list[int]] = {}
        for k, model in enumerate(self.models):
            rows.setdefault((model.name, model.objective), []).append(k)
        objectives = [f"objective {self._of(own)}of {name}: {words}" for (name, words), own in rows.items()]
        return "\n".join([*_first(found), *_first(objectives)])

    def _of(self, rows: Sequence[int]) -> str:
        """Numbers of some rows, where they are not all."""
        if len(rows) == len(self.models):
            return ""
        shown = ", ".join(f"#{k}" for k in rows[:3])
        return f"({shown}{', ...' if len(rows) > 3 else ''}) "

    def _title(self) -> str:
        return "; ".join([self.summary, *self.note.splitlines()])

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Rows of the table, with the model and its objective."""
        for row, model in zip(super()._rows(), self.models, strict=True):
            yield row | {"model": model.found or model.name, "objective": model.objective}

    def __repr__(self) -> str:
        return f"{super().__repr__()}\n{self.note}"


def _first(lines: list[str]) -> list[str]:
    """As many lines as are shown, and how many more there are."""
    return [*lines[:SHOWN], and_more(len(lines) - SHOWN)] if len(lines) > SHOWN else lines


def with_positive(verdicts: Sequence[str], with_it: Sequence[str]) -> str:
    """Say of how many coefficients ``positive=True`` makes optima, if of more than without it; else nothing.

    Examples
    --------
    >>> from paretoclf.checking.fitted_reports import with_positive
    >>> with_positive(["optimal", "not optimal"], ["optimal", "optimal"])
    'All coefficients are at least 0: with positive=True 2 of 2 are optimal.'
    """
    right, before = with_it.count("optimal"), verdicts.count("optimal")
    said = f"All coefficients are at least 0: with positive=True {right} of {len(with_it)} are optimal."
    return said if right > before else ""
