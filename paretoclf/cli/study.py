"""The computations behind ``paretoclf trace``: two lines, their checks, and held-out ROC curves. Prints nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from paretoclf.cli.curves import summary
from paretoclf.cli.data import describe, scaling
from paretoclf.cli.duration import expected_seconds, foretold, seconds_of_first
from paretoclf.cli.model import TableClassifier, number, recipe_of
from paretoclf.common.checks import check_positive_number
from paretoclf.common.errors import InputError
from paretoclf.datasets import Dataset
from paretoclf.problem.kernels import Kernel, kernel_spec
from paretoclf.results import Agreement, CostLine
from paretoclf.roc.empirical.nested import NestedPoint
from paretoclf.roc.folds import outer_folds
from paretoclf.roc.of_path import Vary
from paretoclf.roc.rules import PathRule
from paretoclf.tuning.cross_validation import AlongLine, Samples

MEAN_COST = 10.0
ASYMMETRY = (0.02, 0.98)
FOLDS = 5
#: The asymmetry line is symmetric: its middle has asymmetry 1/2.
MIDDLE = 0.5
#: Costs at which the paths are compared with CVXPY, shared between the two lines.
COMPARED = 20

RAY, ASYMMETRY_LINE = "ray", "asymmetry line"

Stage = Callable[[str], object]


@dataclass(frozen=True)
class Options:
    """Options of a study besides the data; InputError if one is out of range or belongs to another kernel.

    Kernels are linear, rbf (bandwidth: a number, or "median", the median distance of two samples after scaling; default
    `RBF.scale`) and poly, ``(x . z / d + 1) ** degree`` (default 3). ``total`` is ``C_plus + C_minus`` on the asymmetry
    line, ``repeats`` counts partitions into folds, ``costs`` are those of use.
    """

    kernel: str = "linear"
    bandwidth: float | str | None = None
    degree: int | None = None
    total: float = 2.0
    standardize: bool = True
    seed: int = 0
    repeats: int = 3
    costs: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        for name, owner in (("bandwidth", "rbf"), ("degree", "poly")):
            if getattr(self, name) is not None and self.kernel != owner:
                raise InputError(f"--{name} belongs to --kernel {owner}, but the kernel is {self.kernel}")
        for name in ("bandwidth", "total"):
            value = getattr(self, name)
            if isinstance(value, float):
                check_positive_number(value, f"--{name}")
        if self.repeats < 1:
            raise InputError(f"--repeats must be at least 1, got {self.repeats}")
        if not (np.isfinite(self.costs).all() and min(self.costs) >= 0 and max(self.costs) > 0):
            raise InputError(
                f"--costs must be two numbers from 0 on, not both 0, got {' '.join(map('{:g}'.format, self.costs))}"
            )
        if self.degree is not None and self.degree < 1:
            raise InputError(f"--degree must be at least 1, got {self.degree}")

    def make_kernel(self, X: Any) -> Kernel:
        """Kernel for the (scaled) samples of the whole data set."""
        if self.kernel == "rbf" and self.bandwidth == "median":
            return pc.RBF.median(X)
        if self.kernel == "rbf":
            if self.bandwidth is None:
                return pc.RBF.scale(X)
            return pc.RBF(float(self.bandwidth))
        if self.kernel == "poly":
            return pc.Polynomial(3 if self.degree is None else self.degree, scale=1.0 / X.shape[1])
        return pc.Linear()


@dataclass(frozen=True)
class Study:
    """Results of ``paretoclf trace``: paths and agreements with CVXPY by the name of their line, curves.

    ``nested`` are held-out curves, by the names of their choices, which were made on validation folds inside of the
    training parts (none where a class has too few samples), ``curves`` those of the first partition, on the labels that
    judge them; the scaler is that of the whole data set.
    """

    data: Dataset
    options: Options
    kernel: Kernel
    scaler: StandardScaler | None
    paths: dict[str, pc.Path]
    agreements: dict[str, Agreement]
    nested: dict[str, pc.empirical.NestedRoc]
    curves: dict[str, pc.RocCurve]
    folds: int

    def report(self) -> dict[str, Any]:
        """All numbers, for JSON."""
        found: dict[str, Any] = {"version": pc.__version__, "data": describe(self.data)}
        found["kernel"] = {**kernel_spec(self.kernel), "chosen": self._origin()}
        found["columns"] = [asdict(column) for column in recipe_of(self.data)]
        found["scaling"] = scaling(self.scaler)
        found["seed"] = self.options.seed
        found["total"] = self.options.total
        found["lines"] = {name: self._line(name, path) for name, path in self.paths.items()}
        compared = sum(each.n for each in self.agreements.values())
        worst = max(each.worst for each in self.agreements.values())
        found["cvxpy"] = {"costs": compared, "worst_relative_difference": worst}
        found["chosen"] = None if self.chosen is None else self._chosen(*self.chosen)
        found["held_out"] = {
            "folds": self.folds,
            "repeats": self.options.repeats,
            "scaling": "fitted on the training part of each fold" if self.options.standardize else "none",
            "kernel": "fixed from the whole data set",
            "curves": summary(self.curves, self.nested),
            "cost": self._cost(),
        }
        return found

    @cached_property
    def chosen(self) -> tuple[str, NestedPoint] | None:
        """Choice to use (threshold, t or both) that costs least where it was not made; None without such costs."""
        points = {name: each.select(self.options.costs) for name, each in self.nested.items()}
        return min(points.items(), key=lambda item: item[1].cost, default=None)

    @property
    def model(self) -> TableClassifier | None:
        """The chosen classifier, trained on all samples."""
        if self.chosen is None:
            return None
        rule = PathRule.of(self.paths[ASYMMETRY_LINE], self.chosen[1].chosen)
        return TableClassifier.of(self.data, rule, self._chosen(*self.chosen), self.scaler)

    def _chosen(self, name: str, at: NestedPoint) -> dict[str, Any]:
        """Numbers of the chosen classifier, for the report."""
        point = at.chosen
        assert point.t is not None
        trained = self.paths[ASYMMETRY_LINE].costs(point.t)
        found: dict[str, Any] = {"by": name, "t": point.t, "swept": point.swept, "shift": number(point.shift)}
        found["trained_at"] = {"C_plus": trained.C_plus, "C_minus": trained.C_minus}
        found["for"] = self._costs_of_use()
        found["rates"] = {"fpr": at.fpr, "fnr": at.rates[1]}
        found["cost"] = at.cost
        found["where_it_was_chosen"] = {"fpr": point.fpr, "fnr": point.rates[1], "cost": point.cost}
        return found

    def _costs_of_use(self) -> dict[str, float]:
        """Costs where the classifier is used, for the report."""
        return dict(zip(("C_plus", "C_minus"), self.options.costs, strict=True))

    def _cost(self) -> dict[str, Any]:
        """Cost of a sample where the classifier was not chosen, by the name of the choice."""
        elsewhere = {}
        for name, each in self.nested.items():
            at = each.select(self.options.costs)
            elsewhere[name] = {"cost": at.cost, "cost_band": at.cost_band, "fpr": at.fpr, "tpr": at.tpr}
        prior = self.data.n_plus / self.data.n
        return {**self._costs_of_use(), "prior_plus": prior, "chosen_elsewhere": elsewhere}

    def _origin(self) -> str:
        """Origin of the parameters of the kernel, in words."""
        if self.options.bandwidth == "median":
            return "median distance of the whole data set"
        given = self.options.bandwidth is not None or self.options.degree is not None
        if given or self.options.kernel == "linear":
            return "given"
        return "gamma='scale' on the whole data set" if self.options.kernel == "rbf" else "default"

    def _line(self, name: str, path: pc.Path) -> dict[str, Any]:
        """Numbers of the path along one line, for the report."""
        proof, agreement = path.proof, self.agreements[name]
        found: dict[str, Any] = {"start": list(path.line.start), "stop": list(path.line.stop)}
        found["breakpoints"] = int(path.breakpoints.size)
        found["seconds"] = path.seconds
        found["largest_margin_set"] = int(path.n_margin.max())
        found["segments"] = len(proof)
        found["worst_residual"] = float(proof.residual.max())
        found["worst_gap"] = float(proof.gap.max())
        worst = proof.worst
        t = 0.5 * sum(worst.interval)
        costs = path.costs(t)
        place = {"t": t, "C_plus": costs.C_plus, "C_minus": costs.C_minus}
        found["worst_certificate"] = {
            **place,
            "residual": worst.residual,
            "gap": worst.gap,
            "explanation": worst.explain(),
        }
        found["cvxpy"] = {"costs": agreement.n, "worst_relative_difference": agreement.worst}
        return found


def lines_of(data: Dataset, total: float) -> dict[str, CostLine]:
    """Return the two lines of the cost plane, by name."""
    of_class = 0.5 * MEAN_COST * data.n
    top = pc.Costs(of_class / data.n_plus, of_class / data.n_minus)
    first, last = (pc.Costs.from_asymmetry(asymmetry, total) for asymmetry in ASYMMETRY)
    return {RAY: CostLine(pc.Costs(0.0, 0.0), top), ASYMMETRY_LINE: CostLine(first, last)}


def run_study(
    data: Dataset, options: Options, *, progress: bool = False, stage: Stage = lambda _: None,
    foretell: Stage = lambda _: None,
) -> Study:  # fmt: skip
    """Trace both lines, check them, and cross-validate the ROC curves.

    ``stage`` is called with each stage as it begins, and ``foretell`` at first with the duration, if that is long.
    """
    folds = min(FOLDS, data.n_plus, data.n_minus)
    if folds < 2:
        raise InputError(
            f"{data.name}: held-out curves need at least 2 samples of each class, "
            f"got {data.n_plus} of {data.positive!r} and {data.n_minus} of {data.negative!r}"
        )
    scaler = StandardScaler().fit(data.X) if options.standardize else None
    X = data.X if scaler is None else scaler.transform(data.X)
    kernel = options.make_kernel(X)
    svm = pc.TwoCSVM(X, data.y, kernel=kernel)
    lines = lines_of(data, options.total)
    seconds = expected_seconds(data.n, seconds_of_first(svm, lines[RAY]), options.repeats)
    if words := foretold(data.n, data.X.shape[1], seconds):
        foretell(words)
    paths, agreements = {}, {}
    for name, line in lines.items():
        stage(f"trace the {name}")
        paths[name] = pc.trace(svm, line.start, line.stop, progress=progress)
    for name, path in paths.items():
        stage(f"CVXPY on the {name}")
        agreements[name] = pc.compare(path, svm, n=COMPARED // len(paths), rng=options.seed)
    line = lines[ASYMMETRY_LINE]
    raw, transformer = pc.TwoCSVM(data.X, data.y, kernel=kernel), StandardScaler() if options.standardize else None
    curves = _held_out(raw, transformer, options, line, folds, stage)
    stage("held-out choices")
    nested: dict[str, pc.empirical.NestedRoc] = {}
    if min(data.n_plus, data.n_minus) >= 4:  # two of a class in each training part, to be validated on
        nested = pc.cross_validated_roc(
            raw, line.start, line.stop, get_args(Vary), folds=folds, repeats=options.repeats, t=MIDDLE,
            rng=options.seed, transformer=transformer, progress=progress,
        )  # fmt: skip
    return Study(data, options, kernel, scaler, paths, agreements, nested, curves, folds)


def stages(data: Dataset) -> tuple[str, ...]:
    """Names of the stages that `run_study` reports, in their order."""
    folds = min(FOLDS, data.n_plus, data.n_minus)
    lines = (RAY, ASYMMETRY_LINE)
    return (
        *(f"trace the {name}" for name in lines),
        *(f"CVXPY on the {name}" for name in lines),
        *(f"fold {k + 1} of {folds}" for k in range(folds)),
        "held-out choices",
        "pictures and files",
    )


def _held_out(
    svm: pc.TwoCSVM, scaler: StandardScaler | None, options: Options, line: CostLine, folds: int, stage: Stage
) -> dict[str, pc.RocCurve]:
    """The curves of the first partition into folds."""
    trained = AlongLine(Samples.of(svm, scaler), line.start, line.stop)
    scores, labels = [], []
    for k, (train, test, _) in enumerate(outer_folds(svm.y, folds, 1, options.seed)[0]):
        stage(f"fold {k + 1} of {folds}")
        scores.append(trained(train)(test))
        labels.append(svm.y[test])
    return {vary: pc.roc.roc_of_scores(scores, labels, vary, t=MIDDLE) for vary in get_args(Vary)}
