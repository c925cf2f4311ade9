r"""Does it pay to train with other costs than those of use? The nested experiment of Bach et al. (2006), section 4.3.

Run it with ``python examples/papers/bach2006_asymmetry.py`` (seconds): a small study of ringnorm. `bach2006.py` runs
that of the paper. In Python: ``from examples.papers.bach2006_asymmetry import asymmetry_study``.

For each *testing asymmetry* g (a miss costs 2g, a false alarm 2(1 - g)) there are three classifiers:

====  ============================================================================================================
one   trained with the asymmetry g
int   the same, with its intercept shifted
all   trained with another asymmetry, and its intercept shifted
====  ============================================================================================================

Shifts and training asymmetries are chosen on inner folds of each training part, and the three are judged on the outer
folds. In the paper a choice is kept only where its costs on the inner folds are significantly below those of "one"
(one-tailed signed-rank test); else "one" takes its place. This is the *fall-back*; the study has both tables.

**The total.** The paper does not say what C_plus + C_minus is, and much depends on it: with a small one the classifier
trained for uneven costs gives one label to all. Here it is chosen in each outer training part, for all three alike and
for all g: of six totals the one with which "one" has the smallest mean cost on the inner folds, over all g. Or, as in
section 3.2, ``totals="ray"``: up the ray ``C_plus n_plus = C_minus n_minus`` the one with the fewest errors on the
inner folds (of several stretches of the ray that of the smallest total, its middle). Or it is given.

**Nothing is fitted for a g.** On the line of this total each fold has one exact path. The three classifiers of all
testing asymmetries are read off the scores along these paths (`ErrorSurface`): the shift among all shifts, the training
asymmetry among all testing ones, with all shifts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path as Folder
from typing import Any, Literal

import numpy as np
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from paretoclf.common.checks import Array, Index, check_count, check_share, real_array
from paretoclf.common.errors import InputError
from paretoclf.common.resume import Arrays, finish
from paretoclf.problem.costs import CostLine, Costs
from paretoclf.problem.lines import LineOfCosts, Weighted, lines_of
from paretoclf.roc.counts import exact_costs, exact_weights
from paretoclf.roc.error_surface import ErrorSurface, checked_asymmetries
from paretoclf.roc.folds import outer_folds, validation_folds
from paretoclf.roc.scores import PathScores
from paretoclf.tuning.cross_validation import Samples, TrainingPart

sys.path.append(str(Folder(__file__).resolve().parents[2]))  # behind the installed package, which has its core
from examples.papers.bach2006_explore import best_on_ray, ray_of
from examples.papers.comparisons import signed_rank_greater

KINDS = ("one", "int", "all")
#: Totals to choose from, and the part of the ray for ``totals="ray"``.
TOTALS = (1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0)
RAY = (1e-4, 1e2)
COMPARISONS = (("one", "all"), ("all", "one"), ("int", "all"), ("all", "int"), ("one", "int"), ("int", "one"))


@dataclass(frozen=True, eq=False)
class Mismatch:
    """The testing asymmetry at which "all" gains most over "one" on the first outer fold: a row of the paper's Table 2.

    Attributes
    ----------
    testing, training : float
        The two asymmetries; they are equal where "all" is nowhere better on the first fold.
    costs : array of shape (3, folds)
        Of "one", "int" and "all" as chosen on the first outer fold, with the same training asymmetry and shift in each
        fold, trained on its training part.
    """

    testing: float
    training: float
    costs: Array


@dataclass(frozen=True, eq=False, repr=False)
class AsymmetryStudy:
    """Costs of "one", "int" and "all" on outer folds, for many testing asymmetries.

    Attributes
    ----------
    asymmetries : array of shape (k,)
        Testing asymmetries.
    level : float
        Of all tests.
    totals : array of shape (folds,)
        C_plus + C_minus in each outer fold.
    training : array of shape (folds, 3, k)
        Training asymmetries of "one", "int" and "all".
    shifts : array of shape (folds, 3, k)
        Shifts of their intercepts; infinite where one label is given to all.
    p : array of shape (folds, 3, k)
        p-values of "its costs on the inner folds are below those of one".
    counts : int array of shape (3, k, folds, 2)
        False positives and false negatives on the outer folds, whether significant on the inner ones or not.
    sizes : int array of shape (folds,)
        Samples of the outer folds.
    mismatch : Mismatch
    seconds : array of shape (folds, 2)
        Processor time of each outer fold: for its paths, and to read off all choices and costs.
    """

    asymmetries: Array
    level: float
    totals: Array
    training: Array
    shifts: Array
    p: Array
    counts: Index
    sizes: Index
    mismatch: Mismatch
    seconds: Array

    def __repr__(self) -> str:
        found = self.acceptances()
        shown = ", ".join(f"{name} {100 * share:.1f} %" for name, share in found.items())
        return f"AsymmetryStudy({self.asymmetries.size} asymmetries, {self.totals.size} folds: {shown})"

    @property
    def kept(self) -> Any:
        """Where a choice is significantly better than "one" on the inner folds, shape (folds, 3, k)."""
        return self.p <= self.level

    @property
    def raw_costs(self) -> Array:
        """Costs on the outer folds, whether significant on the inner ones or not, shape (3, k, folds)."""
        g = self.asymmetries[:, None]
        return np.asarray(2 * (g * self.counts[..., 1] + (1 - g) * self.counts[..., 0]) / self.sizes)

    def costs(self, fall_back: bool = True) -> Array:
        """Costs on the outer folds, shape (3, k, folds); with "one" in place of what is not significantly better."""
        kept = np.moveaxis(self.kept, 0, 2) if fall_back else np.True_
        return np.asarray(np.where(kept, self.raw_costs, self.raw_costs[0]))

    def acceptances(self, fall_back: bool = True) -> dict[str, float]:
        """Share of the testing asymmetries at which one classifier costs significantly more than another.

        ``one>all`` means that the costs of "one" are larger: "all" wins. Differences of costs are ties where they are
        equal as fractions.
        """
        kept = np.moveaxis(self.kept, 0, 2)[..., None] if fall_back else np.True_
        counts, weights = np.where(kept, self.counts, self.counts[0]), exact_weights(self.asymmetries)
        costs = {kind: exact_costs(weights, each, self.sizes) for kind, each in zip(KINDS, counts, strict=True)}
        return {
            f"{a}>{b}": float((signed_rank_greater(costs[a] - costs[b]) <= self.level).mean()) for a, b in COMPARISONS
        }


def asymmetry_study(
    svm: Weighted,
    asymmetries: Any = None,
    *,
    folds: int = 10,
    inner: int = 10,
    totals: Sequence[float] | Literal["ray"] = TOTALS,
    level: float = 0.05,
    rng: int | np.random.Generator = 0,
    transformer: Any = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    state: str | Folder | None = None,
    name: str = "fold",
) -> AsymmetryStudy:
    """Compare classifiers trained with the asymmetry of use, with a shifted intercept, and with another asymmetry.

    Parameters
    ----------
    svm : TwoCSVM
        The whole problem, as for `cross_validated_roc`.
    asymmetries : array of shape (k,), optional
        Testing asymmetries, strictly between 0 and 1, at least two. Default: 1000, the middles of as many equal parts.
        The training asymmetries that "all" can choose from are the same.
    folds, inner : int
        Outer folds, and validation folds inside of each training part; stratified and shuffled.
    totals : sequence of float, or "ray"
        C_plus + C_minus: one of these, that with which "one" does best on the inner folds; or the best one of the ray.
    level : float
        Level of all tests, strictly between 0 and 1.
    rng, transformer, n_jobs, progress
        As for `cross_validated_roc`.
    state : str or Path, optional
        Folder in which each finished outer fold becomes a file, and from which a run that was stopped goes on.
    name : str
        How these files begin.

    Raises
    ------
    InputError
        If an asymmetry is not strictly between 0 and 1, a class has fewer samples than there are folds, or the state is
        of other samples or options.
    DegeneratePathError
        If a path cannot be followed.

    References
    ----------
    Bach, Heckerman & Horvitz (2006), JMLR 7, section 4.3, Tables 1 and 2.
    """
    lines_of(svm, only=LineOfCosts)
    g = checked_asymmetries((np.arange(1000) + 0.5) / 1000 if asymmetries is None else asymmetries)
    if g.size < 2 or g.min() == g.max():
        raise InputError(f"asymmetries must be at least two different numbers, got {g.size}: {g[0]:g}")
    level = check_share(level, "level")
    check_count(inner, "inner", 2)
    candidates = RAY if isinstance(totals, str) and totals == "ray" else _checked_totals(totals)
    samples = Samples.of(svm, transformer)
    (parts,) = outer_folds(svm.y, folds, 1, rng)
    for train, _, _ in parts:
        smaller = int(min((svm.y[train] > 0).sum(), (svm.y[train] < 0).sum()))
        if smaller < inner:
            raise InputError(
                f"inner must be at most the size of the smaller class of each training part ({smaller}), got {inner}"
            )
    judge = _Judge(samples, g, candidates, isinstance(totals, str), int(inner), level)
    tasks = {f"{name}-{k:02d}": partial(judge, *part) for k, part in enumerate(parts)}
    folder, rows = None if state is None else Folder(state), (len(KINDS), g.size)
    form = Arrays(
        {"total": (), "seconds": (2,), **dict.fromkeys(("training", "shifts", "p"), rows), "counts": (*rows, 2)}
    )
    found = list(finish(tasks, folder, form, n_jobs=n_jobs, progress=progress, desc=name).values())

    def stacked(key: str) -> Array:
        return np.stack([fold[key] for fold in found])

    counts: Index = np.moveaxis(np.stack([fold["counts"] for fold in found]), 0, 2)
    p, sizes = stacked("p"), np.array([test.size for _, test, _ in parts])
    one, _, best = (exact_costs(exact_weights(g), each[:, 0]) for each in counts)
    at = int(np.argmax(np.where(p[0, 2] <= level, one - best, 0)))
    chosen = np.stack([found[0][key][:, at] for key in ("training", "shifts")])
    lost = p[0, :, at] > level  # fallen back to "one"
    chosen[:, lost] = chosen[:, :1]
    again = {
        f"{name}-mismatch-{k:02d}": partial(judge.again, train, test, float(fold["total"]), at, chosen)
        for k, ((train, test, _), fold) in enumerate(zip(parts, found, strict=True))
    }
    form = Arrays({"costs": (len(KINDS),)})
    costs = [each["costs"] for each in finish(again, folder, form, n_jobs=n_jobs, progress=False).values()]
    return AsymmetryStudy(
        g, level, stacked("total"), stacked("training"), stacked("shifts"), p, counts, sizes,
        Mismatch(float(g[at]), float(chosen[0, 2]), np.stack(costs, axis=1)), stacked("seconds"),
    )  # fmt: skip


@dataclass(frozen=True)
class _Judge:
    """One outer fold: what is chosen in its training part, and what it costs on the test part."""

    samples: Samples = field(repr=False)
    asymmetries: Array
    totals: tuple[float, ...]
    on_ray: bool
    inner: int
    level: float

    def __call__(self, train: Index, test: Index, seed: int) -> dict[str, Any]:
        began, g = time.process_time(), self.asymmetries
        labels, weight = self.samples.y[train], self.samples.sample_weight[train]
        parts = validation_folds(self.samples.y, train, self.inner, seed)
        held = [(self.samples.part(rest), fold) for rest, fold in parts]
        y = [self.samples.y[rows] for _, rows in held]
        t = self._at(g)
        totals = self.totals
        if self.on_ray:
            ray = ray_of(labels, weight, (totals[0], totals[-1]))
            along = [_along(part, ray, rows) for part, rows in held]
            totals = (ray.at(best_on_ray(along, y, ray, Costs(1.0, 1.0)).t).total,)
        best, least, weights = None, None, exact_weights(g)
        for each in totals:
            line = self._line(each)
            surface = ErrorSurface(tuple(_along(part, line, rows) for part, rows in held), tuple(y), line)
            cost = exact_costs(weights, surface.counts(t).sum(axis=1)).sum()
            if least is None or cost < least:
                best, least = (each, line, surface), cost
        assert best is not None
        total, line, surface = best
        outer = self._outer(train, test, line)
        traced = time.process_time()
        where = {"one": (t, np.zeros(g.size)), "int": (t, surface.best_shifts(g, t)), "all": surface.best(g, t)}
        inside = {kind: surface.counts(*at) for kind, at in where.items()}
        pooled = {kind: exact_costs(weights, counts.sum(axis=1)) for kind, counts in inside.items()}
        # More freedom that gains nothing is not used: "all" is "int" there.
        better = (pooled["all"] < pooled["int"]).astype(bool)
        shifted, best_of_all = where["int"], where["all"]
        where["all"] = np.where(better, best_of_all[0], shifted[0]), np.where(better, best_of_all[1], shifted[1])
        inside["all"] = np.where(better[:, None, None], inside["all"], inside["int"])
        costs = {kind: exact_costs(weights, counts, surface.sizes) for kind, counts in inside.items()}
        return {
            "total": np.array(total),
            "training": np.stack([self._of(where[kind][0]) for kind in KINDS]),
            "shifts": np.stack([where[kind][1] for kind in KINDS]),
            "p": np.stack([signed_rank_greater(costs["one"] - costs[kind]) for kind in KINDS]),
            "counts": np.stack([outer.counts(*where[kind])[:, 0] for kind in KINDS]),
            "seconds": np.array([traced - began, time.process_time() - traced]),
        }

    def again(self, train: Index, test: Index, total: float, at: int, chosen: Array) -> dict[str, Any]:
        """Costs at one testing asymmetry of classifiers that were chosen in another fold."""
        outer = self._outer(train, test, self._line(total))
        g = np.repeat(self.asymmetries[at], len(KINDS))
        return {"costs": outer.costs(g, self._at(chosen[0]), chosen[1])[:, 0]}

    def _line(self, total: float) -> CostLine:
        ends = self.asymmetries.min(), self.asymmetries.max()
        return CostLine(*(Costs.from_asymmetry(float(end), total) for end in ends))

    def _outer(self, train: Index, test: Index, line: CostLine) -> ErrorSurface:
        return ErrorSurface((_along(self.samples.part(train), line, test),), (self.samples.y[test],), line)

    def _at(self, asymmetries: Array) -> Array:
        """Where on the line these asymmetries are."""
        low, high = self.asymmetries.min(), self.asymmetries.max()
        return np.asarray(np.clip((asymmetries - low) / (high - low), 0.0, 1.0))

    def _of(self, t: Array) -> Array:
        low, high = self.asymmetries.min(), self.asymmetries.max()
        return np.asarray(low + t * (high - low))


def _along(part: TrainingPart, line: CostLine, rows: Index) -> PathScores:
    return part.scores(part.trace(line.start, line.stop), rows)


def _checked_totals(totals: Any) -> tuple[float, ...]:
    values = real_array(totals, 'totals (or "ray")')
    if values.ndim != 1 or values.size == 0 or not ((values > 0) & np.isfinite(values)).all():
        raise InputError(f'totals must be positive numbers, at least one, or "ray", got {totals!r}')
    return tuple(sorted(values.tolist()))


def main() -> None:
    """Print a small study."""
    data = pc.datasets.make_ringnorm(200, d=2)
    grid = np.linspace(0.02, 0.98, 49)
    study = asymmetry_study(
        pc.TwoCSVM(data.X, data.y), grid, folds=5, inner=5, totals="ray", transformer=StandardScaler()
    )
    print(study)
    at = study.mismatch
    one, shifted, other = at.costs.mean(axis=1)
    print(f"testing asymmetry {at.testing:.2f}: trained with {at.training:.2f}, cost {other:.3f} in place of {one:.3f}")
    print(f"with a shifted intercept only: {shifted:.3f}")


if __name__ == "__main__":
    main()
