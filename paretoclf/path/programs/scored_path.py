"""What the path of a program says of samples, where its problem has a classifier: scores, errors, each sample left out.

Between two breakpoints w and b are affine in t, and with them the score of every sample: all that is read off the paths
of support vector machines is read off any path whose problem has variables ``w`` and ``b``, or whose formulation has a
classifier that is linear in its variables or multipliers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoclf.common.checks import Array, Rng
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import AFFINE, CERTIFY, SCORE_TIE, SCORE_ZERO
from paretoclf.path.programs.program_path import OnLine
from paretoclf.roc.scores import PathScores

if TYPE_CHECKING:
    from paretoclf.path.deletion.along_line import LeaveOneOutPath
    from paretoclf.problem.classifiers import Rule


@dataclass(frozen=True)
class _NumbersAt(Mapping[str, Any]):
    """Variables and multipliers at one of many places; a name is read along the path when it is first asked for."""

    tables: Mapping[str, Callable[[], Array]]
    row: int

    def __getitem__(self, name: str) -> Any:
        return self.tables[name]()[self.row]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def __contains__(self, name: object) -> bool:
        return name in self.tables


class Scored(OnLine):
    """A path of a program that may have a classifier at every t."""

    def rule(self, t: float | Mapping[Any, Any] | None = None, /, **parameter: float) -> Rule:
        """The classifier at t; where as for `at`.

        It is read from variables called ``w`` and ``b`` (or w alone), or as the formulation's own ``classifier`` says.

        Where there is none it is a `NoRule`: who asks it for scores is told what to name.

        Raises
        ------
        InputError
            As for `at`.
        """
        point = self.at(t, **parameter)
        return self._with_source("rule").rule(point.t, {**point.duals, **point.variables})  # type: ignore[no-any-return]

    def scores(self, X: Any) -> PathScores:
        """Scores of samples as an exact piecewise affine function of t.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            Samples, as the classifier takes them.

        Raises
        ------
        InputError
            If there is no classifier, or the path is from a file, without the problem; or scores are not affine between
            breakpoints, as of a classifier that is scaled to unit length, or where a moving parameter stands next to w.

        Examples
        --------
        >>> import cvxpy as cp
        >>> import numpy as np
        >>> import paretoclf as pc
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, -1, 1])
        >>> w, b, lam = cp.Variable(1, name="w"), cp.Variable(name="b"), cp.Parameter(nonneg=True, name="lam")
        >>> hinge = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
        >>> path = pc.trace(cp.Problem(cp.Minimize(hinge + lam * cp.norm1(w))), start={lam: 5.0}, stop={lam: 0.5})
        >>> path.scores([[0.0], [3.0]])(1.0)
        array([-1.,  1.])
        >>> path.error_curve(X, y).minimax()[0].fpr
        0.5
        """
        rule, t, long = self._with_source("scores").rule, self.t, np.flatnonzero(np.diff(self.t) > 0.0)
        if not long.size:
            raise InputError("path must go on from its start to have scores along it: read rule(t) there")
        names = (*self.program.all_multipliers, *self.program.variables)
        tables = {name: cache(partial(self._at_three, name)) for name in names}
        places = np.array([t[long], 0.5 * (t[long] + t[long + 1]), t[long + 1]])

        def rules_at(k: int) -> list[Rule]:
            """The classifiers where pieces start (0), in their middles (1), where they end (2)."""
            pieces = zip(long.tolist(), places[k].tolist(), strict=True)
            return [rule(at, _NumbersAt(tables, 3 * j + k)) for j, at in pieces]

        rules = [rules_at(k) for k in range(3)]
        start, middle, end = (np.array([each.decision_function(X) for each in some]).T for some in rules)
        _check_affine(X, (start, middle, end), rules)
        own = np.maximum(np.abs(start), np.abs(end)).max(axis=1, initial=0.0)
        size = own.max(initial=0.0)
        typical = np.median(own) if own.size else 0.0  # some samples may have nothing but noise
        known_to = SCORE_ZERO * np.maximum(own, typical)[:, None]
        for each in (start, end):
            each[np.abs(each) <= known_to] = 0.0
            each[:, np.abs(each).max(axis=0, initial=0.0) <= SCORE_TIE * size] = 0.0  # where w = 0 all are
        return PathScores(np.append(t[long], t[-1]), start, end)

    def _at_three(self, name: str) -> Array:
        """A variable or multipliers at both ends and in the middle of each piece."""
        return self.along(name, 3)[1]

    def leave_one_out(
        self,
        *,
        groups: Any = None,
        cv: Any = None,
        rng: Rng = 0,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> LeaveOneOutPath:
        """Score every sample by the path of its formulation without it, traced anew and proved.

        Parameters
        ----------
        groups, cv, rng
            As for `leave_one_out`: samples that are left out together.
        n_jobs : int, optional
            Processes, as for joblib. The result does not depend on it.
        progress : bool, optional
            As for `trace`.

        Raises
        ------
        InputError
            If the path is not that of a `SampleFormulation` (or that must say how samples are taken out of it, see
            `SampleFormulation.without`); without some samples there is one class, or the path ends elsewhere.
        """
        from paretoclf.path.deletion.retraced import leave_out_traced  # which traces paths

        return leave_out_traced(self, groups, cv, rng, n_jobs=n_jobs, progress=progress)

    def like(self, formulation: Any) -> Any:
        """Trace the same line of another formulation, in the same way."""
        raise NotImplementedError


def _check_affine(X: Any, scores: tuple[Array, Array, Array], rules: Sequence[Sequence[Rule]]) -> None:
    """InputError unless all scores in the middles of pieces are on the chords of their own piece.

    A score may be off by CERTIFY of itself on that piece, or by the rounding of the terms that it is a sum of there.
    What it is on other pieces, or the scores of other samples, have no part in it.

    Parameters
    ----------
    X : array or sparse matrix of shape (m, d)
        Samples.
    scores : three arrays of shape (m, k)
        Where k pieces start, in their middles, and where they end.
    rules : three sequences of k rules
        The classifiers there.
    """
    start, middle, end = scores
    off = np.abs(middle - 0.5 * (start + end))
    own = np.maximum.reduce([np.abs(each) for each in scores])
    for piece in np.flatnonzero((off > CERTIFY * own).any(axis=0)).tolist():
        terms = np.maximum.reduce([some[piece].terms(X) for some in rules])
        room = np.maximum(CERTIFY * own[:, piece], AFFINE * terms)
        bent = off[:, piece] > room
        if bent.any():
            raise InputError(
                "path must have a classifier whose scores are affine between breakpoints, got one that bends by "
                f"{off[bent, piece][0]:.3g} for sample {np.flatnonzero(bent)[0]}: use sweep"
            )
