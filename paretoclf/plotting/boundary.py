"""The picture of one classifier: samples, decision boundary, margins, and the sets L, M and R."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paretoclf.common.checks import Array, Mask, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import SCORE_TIE
from paretoclf.plotting.base import NEGATIVE, POSITIVE, Display, new_axes, of_estimator, plain
from paretoclf.plotting.slices import Slice, points_of
from paretoclf.problem.intercepts import sides

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GRID = 201


@dataclass(eq=False)
class BoundaryDisplay(Display):
    """A classifier over two features: where f = 0, where f = 1 and f = -1, and the samples by class and set.

    Samples with more than two features are shown on a plane, with their score on it: they stand where they fall
    on the plane, which need not be on their side of the boundary. The title says so.

    Parameters
    ----------
    rule : Classifier
        That of a `Solution` of the 2C-SVM, with its samples, caps and multipliers.
    features : pair of int, optional
        The two features to show, the others at their mean. Default: both of two; of more, the two leading principal
        directions, through the mean.
    feature_names : sequence of str, optional
        Default: those of the frame, or x1, x2, ...

    Raises
    ------
    InputError
        If there are no two features, or features or feature_names do not fit them, or a solution has no caps.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.plotting import BoundaryDisplay
    >>> svm = pc.TwoCSVM([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 2.0]], [-1, -1, 1, 1])
    >>> display = BoundaryDisplay.from_solution(pc.trace(svm, (0, 0), (1, 1)).at(1.0))
    >>> display.slice.names  # display.plot() draws it
    ('x1', 'x2')
    """

    rule: Any
    features: Sequence[int] | None = None
    feature_names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        self.slice = Slice.through(self.rule.gram, self.features, self.feature_names)

    @classmethod
    def from_solution(
        cls, solution: Any, features: Sequence[int] | None = None, feature_names: Sequence[str] | None = None
    ) -> Self:
        """Make the display of a solution: ``path.at(t)``, or one of a solver."""
        rule = getattr(solution, "classifier", None)
        if not hasattr(rule, "caps"):
            raise InputError(f"solution must be one of a 2C-SVM, with its samples and caps, got {what_it_is(solution)}")
        return cls(rule, features, feature_names)

    @classmethod
    def from_estimator(cls, estimator: Any, features: Sequence[int] | None = None) -> Self:
        """Make the display of a fitted `CostPathSVC` or `CostPathSVCCV`, or of a pipeline that ends in one.

        Features have the names of the frame that it was fitted to; after other steps of a pipeline they are what these
        made of them.

        Raises
        ------
        InputError
            For an estimator that is no 2C-SVM, or has another threshold, as `NeymanPearsonSVC` does.
        """
        solution, names = of_estimator(estimator, "solution_")
        made = cls.from_solution(solution, features, names)
        used, _ = of_estimator(estimator, "_used")
        if used.b != solution.classifier.b:
            raise InputError("estimator must have the threshold of its solution_: draw that, by from_solution")
        return made

    def sets(self) -> dict[str, Mask]:
        """Masks of the samples in L, M and R, shape (n,) each."""
        rule = self.rule
        left, right = sides(rule.y, rule.caps, rule.alpha, rule.training_scores + rule.b_at_origin)
        return {"L": left, "M": ~(left | right), "R": right}

    def plot(self, ax: Axes | None = None, *, title: str | None = None) -> Self:
        """Draw it, with the legend beside the axes."""
        ax = new_axes(ax, 8.2, 5.2)
        X, y = self.rule.gram.X, self.rule.y
        first, second = self.slice.grid(X, _GRID)
        samples = self.slice.samples(points_of(first, second))
        scores = self.rule.decision_function(samples).reshape(_GRID, _GRID)
        ax.contourf(first, second, scores, levels=[-np.inf, 0.0, np.inf], colors=[NEGATIVE, POSITIVE], alpha=0.07)
        for level, color, style, label in _LEVELS:
            # Where w = 0 all scores are the same but for rounding, of which there is no boundary.
            if min(level - scores.min(), scores.max() - level) > SCORE_TIE * np.abs(scores).max():
                ax.contour(first, second, scores, levels=[level], colors=[color], linestyles=[style], linewidths=1.4)
                ax.plot([], [], color=color, linestyle=style, linewidth=1.4, label=label)
        self._samples(ax, self.slice.place(X), y)
        ax.set(xlabel=plain(self.slice.names[0]), ylabel=plain(self.slice.names[1]))
        ax.set(xlim=first[[0, -1]], ylim=second[[0, -1]])
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize="small")
        if title is None and not self.slice.whole:
            title = "scores on this plane; samples projected on it"
        return self._drawn(ax, title)

    def _samples(self, ax: Axes, at: Array, y: Array) -> None:
        for name, mask in self.sets().items():
            for sign, called, color, marker in ((1, "positive", POSITIVE, "o"), (-1, "negative", NEGATIVE, "s")):
                mine = at[mask & (y == sign)]
                if not mine.size:
                    continue
                meaning, size, face, edge = _LOOKS[name]
                text, order = f"{called}, in {name} ({meaning}): {len(mine)}", 3 if name == "M" else 2
                ax.scatter(
                    mine[:, 0], mine[:, 1], s=size, marker=marker, facecolor=face or color, edgecolor=edge or color,
                    zorder=order, label=text,
                )  # fmt: skip


_LEVELS = (
    (0.0, "black", "-", "boundary, f = 0"),
    (1.0, POSITIVE, "--", "margin of the positives, f = 1"),
    (-1.0, NEGATIVE, "--", "margin of the negatives, f = -1"),
)
#: Meanings, sizes, faces and edges ("": the colour of the class): what holds the boundary up is full, the rest hollow.
_LOOKS = {
    "L": ("margin violated", 18, "", ""),
    "M": ("on the margin", 46, "", "black"),
    "R": ("beyond it", 14, "none", ""),
}
