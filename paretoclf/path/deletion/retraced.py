"""Leave one out along the path of any formulation of samples: each problem without some of them is traced anew.

Nothing is known of who has a part in the solution, as it is of a support vector machine, so that every part takes a
path of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from paretoclf.common.checks import Index, Rng
from paretoclf.common.errors import InputError
from paretoclf.path.deletion.along_line import LeaveOneOutPath
from paretoclf.path.deletion.left_out import parts_of
from paretoclf.roc.folds import each
from paretoclf.roc.scores import PathScores


@dataclass(frozen=True)
class PathWithout:
    """The path of all other samples.

    Attributes
    ----------
    samples : int array of shape (g,)
        Who is out.
    path : ProblemPath
    """

    samples: Index
    path: Any = field(repr=False)

    @property
    def proof(self) -> Any:
        """The proof of the path of all others."""
        return self.path.proof

    @property
    def start(self) -> float:
        """Where it begins."""
        return float(self.path.t[0])

    @property
    def stop(self) -> float:
        """Where it ends."""
        return float(self.path.t[-1])

    @property
    def segments(self) -> int:
        """How many pieces it has."""
        return self.path.t.size - 1  # type: ignore[no-any-return]

    @property
    def gap(self) -> float:
        """The worst of what its proof is about."""
        return float(self.proof.worst.off_by)


def leave_out_traced(
    path: Any, groups: Any, cv: Any, rng: Rng, *, n_jobs: int | None, progress: bool | None
) -> LeaveOneOutPath:
    """Every sample scored by the path of its formulation without its part; see `ProblemPath.leave_one_out`."""
    svm: Any = getattr(path.source, "formulation", None)
    if not hasattr(svm, "without"):
        raise InputError(
            "path must be that of a SampleFormulation to leave samples out of it, as paretoclf.trace returns it"
        )
    parts = parts_of(svm.y, groups, cv, rng, None)
    found = each(_without, [(path, part) for part in parts], "paths", n_jobs=n_jobs, progress=progress)
    scores: list[Any] = [None] * svm.n
    for one, known in found:
        if one.stop != path.t[-1]:
            raise InputError(
                f"path must end where all do that leave samples out, got one to t = {path.t[-1]:.6g}; without samples "
                f"{one.samples.tolist()} it ends at {one.stop:.6g}"
            )
        for row, i in enumerate(one.samples.tolist()):
            scores[i] = PathScores(known.t, known.start[row : row + 1], known.end[row : row + 1])
    return LeaveOneOutPath(path, svm.y, path.scores(svm.X), tuple(scores), tuple(one for one, _ in found))


def _without(path: Any, part: Index) -> tuple[PathWithout, PathScores]:
    """The path without a part, and its scores of the part."""
    svm = path.source.formulation
    found = PathWithout(part, path.like(svm.without(part)))
    return found, found.path.scores(svm.X[part])
