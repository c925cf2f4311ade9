"""One interface for all ways of tuning a 2nu-SVM for minimax, Neyman-Pearson or expected cost."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from paretoclf.common.checks import (
    Array,
    Mask,
    Rng,
    check_increasing,
    check_labels,
    check_matrix,
    check_pair,
    check_rng,
    check_share,
)
from paretoclf.common.errors import InputError
from paretoclf.path.svm.cost_path import trace_costs
from paretoclf.path.svm.nu_grid import nu_grid
from paretoclf.problem.classifiers import Rule
from paretoclf.problem.gram import Gram
from paretoclf.problem.kernels import RBF, Precomputed, as_kernel
from paretoclf.problem.lines import LabelledSamples, sizes_of
from paretoclf.problem.nu import to_asymmetry
from paretoclf.problem.samples import check_samples
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.roc.criteria import Criterion, Minimax, NeymanPearson
from paretoclf.roc.folds import FoldSamples, GivenFolds, folds_of
from paretoclf.tuning.bandwidths import bandwidth_grid, warn_of_bandwidths
from paretoclf.tuning.cost_plane import plane_errors
from paretoclf.tuning.error_arrays import CountGrid, CrossValidation, ErrorArrays, count_errors
from paretoclf.tuning.exact_lines import LineMinimum, best_on_lines, best_on_smoothed_lines, line_errors
from paretoclf.tuning.guarantee import Guarantee, ShiftedRule, guaranteed, order_statistic
from paretoclf.tuning.one_nu import CountBalanced, CountShifted, best_shift, classes_of, held_out_scores
from paretoclf.tuning.search import Cell, Look, Step, choose, coordinate_descent, grid_search, nearest
from paretoclf.tuning.smoothing import GaussianWindow, Window, as_window, needed, smooth

#: Methods of `tune`, each with what it searches.
METHODS: dict[str, str] = {
    "grid": "every cell of the grid (3D-SGS)",
    "coordinate-descent-2d": "lines through one cell of the grid in (nu_plus, nu_minus), for each bandwidth",
    "coordinate-descent-3d": "lines through one cell of the whole grid",
    "balanced": "nu_plus = nu_minus",
    "bias-shift": "the nu-SVM with equal caps, its intercept shifted",
    "exact-lines": "all nu_plus on each line of fixed nu_minus",
    "cost-plane": "the cost plane of the 2C-SVM, mapped (small data)",
}


@dataclass(frozen=True)
class TransformedRule(Rule):
    """A rule for samples as a fitted transformer returns them."""

    rule: Rule
    transformer: Any

    @property
    def b(self) -> float:  # type: ignore[override]
        """Intercept of the rule."""
        return self.rule.b

    def decision_function(self, X: Any) -> Array:
        """Scores of the rule, shape (m,)."""
        return self.rule.decision_function(self.transformer.transform(X))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Chosen:
    """Choice of a method of `tune`.

    Attributes
    ----------
    parameters : dict
        The chosen ones: ``bandwidth`` (of the Gaussian kernel), ``nu_plus`` and ``nu_minus`` or ``C_plus`` and
        ``C_minus``, and ``shift`` where the intercept was shifted.
    fpr, fnr : float
        Cross-validated rates that the choice was made on: smoothed, where there is a window.
    raw_fpr, raw_fnr : float
        Rates of the choice, as counted; equal to fpr and fnr without a window.
    objective : float
        Value of the criterion at (fpr, fnr); where nothing was allowed, its score.
    allowed : bool
        Whether the criterion allows the choice.
    classifier : Rule
        Trained on all samples (all but the negatives left out for the guarantee).
    solution : Solution
        Solution that the classifier comes from, with its certificate. Its own classifier is the one without shift.
    arrays : ErrorArrays or None
        Errors of all cells that were evaluated; None for ``"exact-lines"`` and ``"cost-plane"``.
    trace : tuple of Step
        Steps of the search.
    cell : tuple of int or None
        Indices of the choice in arrays.
    skipped : tuple of tuple of int
        Better cells that have a classifier in every fold but none on all samples.
    """

    parameters: dict[str, float]
    fpr: float
    fnr: float
    raw_fpr: float
    raw_fnr: float
    objective: float
    allowed: bool
    classifier: Rule
    solution: Solution
    problem: LabelledSamples
    arrays: ErrorArrays | None = None
    trace: tuple[Step, ...] = ()
    cell: Cell | None = None
    skipped: tuple[Cell, ...] = ()

    @classmethod
    def of(
        cls, best: Step | LineMinimum, parameters: Mapping[str, float], solution: Solution, problem: LabelledSamples,
        raw: tuple[float, float] | None = None, **more: Any,
    ) -> Chosen:  # fmt: skip
        """Build the result of a search, with raw rates (if they differ) and without parameters that are nan."""
        raw_fpr, raw_fnr = (best.fpr, best.fnr) if raw is None else raw
        seen = {name: getattr(best, name) for name in ("fpr", "fnr", "objective", "allowed")}
        more.setdefault("classifier", solution.classifier)
        return cls(
            parameters={name: value for name, value in parameters.items() if not np.isnan(value)},
            raw_fpr=float(raw_fpr),
            raw_fnr=float(raw_fnr),
            solution=solution,
            problem=problem,
            **seen,
            **more,
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Tuned(Chosen):
    """Choice of tuning, and how it was made: a `Chosen` with the arguments of `tune`.

    Attributes
    ----------
    method : str
    criterion : Criterion
    window : GaussianWindow, MedianWindow or None
        Window that smoothed the rates.
    guarantee : Guarantee or None
        With ``delta``.
    seconds : float
        Time of the whole call.
    transformer : scikit-learn transformer or None
        As fitted; ``classifier`` applies it to given samples, ``solution.classifier`` wants samples transformed by it.
    """

    method: str
    criterion: Criterion
    window: Window | None
    guarantee: Guarantee | None
    seconds: float
    transformer: Any = None

    def __repr__(self) -> str:
        chosen = ", ".join(f"{name}={value:.4g}" for name, value in self.parameters.items())
        looked = "" if self.arrays is None else f", {self.arrays.cells} of {self.arrays.evaluated.size} cells"
        if self.arrays is not None and self.arrays.without:
            looked += f" ({self.arrays.without} without classifier)"
        return (
            f"Tuned({self.criterion}, {self.method}: {chosen}; cross-validated fpr {self.fpr:.4f}, fnr {self.fnr:.4f}"
            f"{'' if self.allowed else ' (not allowed)'}{looked}, {self.seconds:.1f} s)"
        )

    def predict(self, X: Any) -> Array:
        """Labels -1 and +1 of shape (m,)."""
        return self.classifier.predict(X)

    def rates(self, X: Any, y: Any) -> tuple[float, float]:
        """False positive and false negative rate on samples of both classes, independent ones to be fair."""
        labels = check_labels(y)
        positive = self.classifier.decision_function(X) >= 0
        fpr = positive[labels < 0].mean()
        fnr = (~positive)[labels > 0].mean()
        return float(fpr), float(fnr)

    @property
    def smoothed(self) -> tuple[Array, Array]:
        """Cross-validated false positive and false negative rates over the grid, smoothed by the window, if any."""
        arrays = self._gridded()
        return smooth(arrays.fpr, self.window), smooth(arrays.fnr, self.window)

    def held_out(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Rates on other samples of the classifiers of the whole grid at the chosen bandwidth, shape (p, m) each.

        They are trained on all samples. Tuning would choose by these rates if it knew them.

        Raises
        ------
        InputError
            For methods without a grid in (nu_plus, nu_minus).
        """
        arrays, labels = self._gridded(), check_labels(y)
        if "nu_plus" not in arrays.axes:
            raise InputError(f"held_out is for methods with a grid in (nu_plus, nu_minus), not for {self.method!r}")
        grid = nu_grid(self.problem, arrays.axes["nu_plus"], arrays.axes["nu_minus"], progress=False)
        samples = X if self.transformer is None else self.transformer.transform(X)
        fp, fn = count_errors(grid, self.problem.gram.check_new(samples), labels)
        no_classifier = grid.trivial | grid.refused
        n_plus = np.count_nonzero(labels > 0)
        fpr, fnr = fp / (labels.size - n_plus), fn / n_plus
        return np.where(no_classifier, np.nan, fpr), np.where(no_classifier, np.nan, fnr)

    def _gridded(self) -> ErrorArrays:
        """Error arrays of the grid; InputError for methods without one."""
        if self.arrays is None:
            raise InputError(f"there are no error arrays for method {self.method!r}")
        return self.arrays

    def plot(self, X_test: Any = None, y_test: Any = None) -> Any:
        """Draw the criterion as counted, smoothed, and on test samples; see `paretoclf.plotting.TuningDisplay`."""
        from paretoclf.plotting.tuning import TuningDisplay  # matplotlib only when a picture is wanted

        return TuningDisplay.from_tuned(self, X_test, y_test).plot()


@dataclass(frozen=True, eq=False)
class Tuning:
    """Settings of tuning: the keyword arguments of `tune`.

    Parameters
    ----------
    transformer : scikit-learn transformer, optional
        Such as ``StandardScaler()``: fitted once, on all samples that are tuned on (it sees no labels; test parts of
        folds are among them), and not on negatives left out. Bandwidths are in its units.
    kernel : optional
        A kernel without a bandwidth to be chosen, such as ``"linear"``. Default: Gaussian kernels of all bandwidths.
    bandwidths : int or array, optional
        How many (`bandwidth_grid` chooses them, 12 by default), or which; increasing.
    nu_plus, nu_minus : int or array
        How many values k / count, or which, increasing and within (0, 1]. Default of nu_minus: the same as nu_plus.
        ``"balanced"`` and ``"bias-shift"`` have one nu, ``nu_plus``: nu_plus = nu_minus, and the share of the largest
        feasible nu.
    smoothing : "auto", "none", "2d", "3d", GaussianWindow or MedianWindow
        How both rates are smoothed before the criterion is formed. ``"auto"``: ``"3d"`` where there is a grid.
    folds : int, splitter or iterable of (train, test)
        How many stratified, shuffled folds; or a splitter of scikit-learn, or index arrays.
    delta : float, optional
        For `NeymanPearson`: guarantee that the false positive rate is above alpha with probability at most delta.
        Part of the negatives is left out, and the threshold is set on them (`guaranteed`).
    left_out : float
        Share of the negatives left out for that.
    costs : pair (lo, hi)
        For ``"cost-plane"``: range of both costs.
    rng : int or numpy.random.Generator
        Draws the folds, and which negatives are left out.
    n_jobs : int, optional
        Processes, each with one bandwidth at a time, as for joblib. The result does not depend on it.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal.
    resume : str or Path, optional
        File of error arrays, written after each bandwidth: what was computed before is read from it.
    """

    transformer: Any = None
    kernel: Any = None
    bandwidths: Any = None
    nu_plus: Any = 50
    nu_minus: Any = None
    smoothing: Any = "auto"
    folds: GivenFolds = 5
    delta: float | None = None
    left_out: float = 0.5
    costs: tuple[float, float] = (0.01, 10.0)
    rng: Rng = 0
    n_jobs: int | None = None
    progress: bool | None = None
    resume: str | os.PathLike[str] | None = None

    def window(self, method: str) -> Window | None:
        """Window that smooths the rates for a method."""
        if isinstance(self.smoothing, str) and self.smoothing == "auto":
            return None if method == "cost-plane" else GaussianWindow(3)
        window = as_window(self.smoothing)
        if method == "cost-plane" and window is not None:
            raise InputError(f"smoothing must be 'auto' or 'none' for method 'cost-plane', got {self.smoothing!r}")
        return window

    def negatives(self, y: Array, criterion: Criterion) -> Any:
        """Rows of the negatives that are left out for the guarantee; none without."""
        if self.delta is None:
            return np.zeros(0, dtype=np.intp)
        if not isinstance(criterion, NeymanPearson):
            raise InputError(f"delta must be left out for {criterion}: the guarantee is for NeymanPearson(alpha)")
        check_share(self.delta, "delta")
        negatives = np.flatnonzero(y < 0)
        count = round(check_share(self.left_out, "left_out") * negatives.size)
        order_statistic(count, criterion.alpha, self.delta)  # enough of them?
        return np.sort(check_rng(self.rng).permutation(negatives)[:count])

    def validation(self, X: Any, y: Array, kernel: Any, method: str, criterion: Criterion) -> CrossValidation:
        """Cross-validation over the grid of a method, with the counter of the errors of its cells."""
        folds = folds_of(y, self.folds, self.rng)
        bandwidths = _bandwidths(X, kernel, self.bandwidths)
        plus = _shares(self.nu_plus, "nu_plus")
        count: Any
        if method in ("balanced", "bias-shift"):
            if self.nu_minus is not None:
                raise InputError(
                    f"nu_minus must be left out for method {method!r}, which has one nu, got {self.nu_minus!r}"
                )
            axes = {"bandwidth": bandwidths, "nu": plus}
            count = CountBalanced(plus) if method == "balanced" else CountShifted(plus, criterion)
        else:
            minus = plus if self.nu_minus is None else _shares(self.nu_minus, "nu_minus")
            axes = {"bandwidth": bandwidths, "nu_plus": plus, "nu_minus": minus}
            count = CountGrid(plus, minus)
        return CrossValidation(X, y, axes, kernel, folds, count, self.n_jobs, self.progress, self.resume)


def tune(X: Any, y: Any, criterion: Criterion | None = None, method: str = "grid", **options: Any) -> Tuned:
    r"""Choose the parameters of a 2nu-SVM by cross-validated error rates, and train it.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Samples, in comparable units (the Gaussian kernel sees distances only); or, with ``kernel="precomputed"``,
        their kernel matrix.
    y : array of shape (n,)
        Labels -1 and +1.
    criterion : Minimax, NeymanPearson, NeymanPearsonScore or ExpectedCost, optional
        Objective to be minimised; default: `Minimax`. A function object with the same methods will do.
    method : str
        ``"grid"``, ``"coordinate-descent-2d"``, ``"coordinate-descent-3d"``, ``"balanced"``, ``"bias-shift"``,
        ``"exact-lines"``, ``"cost-plane"``: see ``paretoclf.tuning.tune.METHODS``.
    **options
        Fields of `paretoclf.tuning.Tuning`: transformer, kernel, bandwidths, nu_plus, nu_minus, smoothing, folds,
        delta, left_out, costs, rng, n_jobs, progress, resume.

    Raises
    ------
    InputError
        If an argument is not as above, a class has fewer samples than folds, there are too few negatives for the
        guarantee (the message says how many are needed), or there is no classifier at any cell.

    Warns
    -----
    BandwidthWarning
        If given bandwidths make an identity or a constant of the Gram; it names them.

    Notes
    -----
    The choice: `choose` says which of equal cells. A cell with a classifier in every fold but none on all samples is
    skipped for the next best; it stands in ``skipped``. Rates that were minimised are optimistic, smoothed ones less
    so: use independent samples to report errors, or delta for a guarantee.

    References
    ----------
    Davenport, Baraniuk & Scott (2010), sections 3 and 4; Tong, Feng & Li (2018).

    Examples
    --------
    >>> import paretoclf as pc
    >>> data = pc.datasets.load("twonorm", n=80)
    >>> tuned = pc.tune(data.X, data.y, pc.tuning.NeymanPearson(0.1), "coordinate-descent-3d", bandwidths=4, nu_plus=10)
    >>> tuned.allowed, tuned.solution.certificate.passes(1e-9)
    (True, True)
    >>> tuned.arrays.cells < tuned.arrays.evaluated.size
    True
    """
    began, how = time.perf_counter(), _options(options)
    criterion = Minimax() if criterion is None else _criterion(criterion)
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    window = how.window(method)
    everything, labels, kernel = _samples(X, y, how.kernel)
    left = how.negatives(labels, criterion)
    kept = np.setdiff1d(np.arange(labels.size), left)
    samples = _rows(everything, kernel, kept, kept) if left.size else everything
    fitted = None
    if how.transformer is not None:
        whole = FoldSamples(samples, how.transformer, isinstance(kernel, Precomputed))
        fitted = whole.part(np.arange(kept.size)).fitted
        samples = check_samples(fitted.transform(samples))
    cross = how.validation(samples, labels[kept], kernel, method, criterion)
    if method == "cost-plane":
        choice = _on_planes(cross, criterion, how.costs)
    elif method == "exact-lines":
        choice = _on_lines(cross, criterion, window)
    else:
        choice = _on_grid(cross, criterion, window, method)
    rule = choice.classifier if fitted is None else TransformedRule(choice.classifier, fitted)
    guarantee = None
    if how.delta is not None:
        assert isinstance(criterion, NeymanPearson)
        rule = guaranteed(rule, _rows(everything, kernel, left, kept), criterion.alpha, how.delta)
        guarantee = rule.guarantee
    made = {**vars(choice), "classifier": rule, "guarantee": guarantee, "transformer": fitted}
    seconds = time.perf_counter() - began
    return Tuned(**made, method=method, criterion=criterion, window=window, seconds=seconds)


# ---- the methods ----------------------------------------------------------------------------------------------------


def _on_grid(cross: CrossValidation, criterion: Criterion, window: Window | None, method: str) -> Chosen:
    """Search the grid, and train the best cell on all samples: the best one that has a classifier there."""
    shape = cross.arrays.shape
    look = looker(cross, window)
    if method == "coordinate-descent-3d":
        steps = coordinate_descent(look, shape, criterion, centre(cross.axes), (0, 1, 2))
    elif method == "coordinate-descent-2d":
        steps = descent_2d(look, cross.axes, criterion)
    else:
        steps = grid_search(look, shape, criterion)
    best, skipped = steps[-1], list[Cell]()
    arrays = cross.arrays
    smoothed = smooth(arrays.fpr, window), smooth(arrays.fnr, window)
    candidates = arrays.evaluated.copy()
    while True:
        problem = cross.problem(best.cell[0])
        parameters = arrays.at(best.cell)
        if "nu" in parameters:
            plus, minus = classes_of(parameters.pop("nu"), method == "balanced", cross.y)
            parameters |= {"nu_plus": plus, "nu_minus": minus}
        solution = fit(problem, parameters["nu_plus"], parameters["nu_minus"])
        if solution is not None:
            break
        skipped.append(best.cell)
        candidates[best.cell] = False
        best = choose(criterion, *smoothed, candidates)
    rule = solution.classifier
    if method == "bias-shift":
        parameters["shift"] = shift_of(cross, criterion, best.cell, parameters)
        rule = ShiftedRule(rule, parameters["shift"])
    raw = arrays.fpr[best.cell], arrays.fnr[best.cell]
    search = {"arrays": arrays, "trace": steps, "cell": best.cell, "skipped": tuple(skipped)}
    return Chosen.of(best, parameters, solution, problem, raw, classifier=rule, **search)


def looker(cross: CrossValidation, window: Window | None) -> Look:
    """Return the function that gives smoothed rates to a search; it evaluates cells of the window if necessary."""

    def look(cells: Mask) -> tuple[Array, Array]:
        arrays = cross.evaluate(needed(cells, window))
        return smooth(arrays.fpr, window), smooth(arrays.fnr, window)

    return look


def centre(axes: Mapping[str, Array]) -> Cell:
    """Cell in which coordinate descent starts: the middle bandwidth (of two, the larger), nu nearest to 1/2."""
    cell = {name: nearest(values, 0.5) for name, values in axes.items() if name != "bandwidth"}
    return axes["bandwidth"].size // 2, *cell.values()


def descent_2d(look: Look, axes: Mapping[str, Array], criterion: Criterion) -> tuple[Step, ...]:
    """Descend by coordinates in (nu_plus, nu_minus) for each bandwidth; the last step is the best of their ends.

    Bandwidths with no classifier on the lines through the start are left out.
    """
    shape = tuple(values.size for values in axes.values())
    steps, ends = list[Step](), np.zeros(shape, dtype=np.bool_)
    for k in range(shape[0]):
        try:
            steps += coordinate_descent(look, shape, criterion, (k, *centre(axes)[1:]), (1, 2))
        except InputError:
            continue
        ends[steps[-1].cell] = True
    return (*steps, choose(criterion, *look(ends), ends))


def fit(problem: LabelledSamples, nu_plus: float, nu_minus: float) -> Solution | None:
    """Return the certified solution at one pair; None where there is no classifier, or none that passes."""
    grid = nu_grid(problem, [nu_plus], [nu_minus], progress=False)
    return None if grid.trivial[0, 0] or grid.refused[0, 0] else grid.at(0, 0)


def shift_of(cross: CrossValidation, criterion: Criterion, cell: Cell, parameters: Mapping[str, float]) -> float:
    """Shift of the intercept that the folds want at a cell, in the units of the solution on all samples."""
    bandwidth, k = cell
    gram = Gram(cross.X, cross.kernel_of(bandwidth))
    held = held_out_scores(gram, cross.y, cross.folds, cross.axes["nu"][k : k + 1], balanced=False)
    shift, _, _ = best_shift(held.scores[:, 0], held.y, criterion)
    nu_there, _ = to_asymmetry(parameters["nu_plus"], parameters["nu_minus"], *sizes_of(cross.y))
    return float(0.5 * nu_there * shift)


def _on_lines(cross: CrossValidation, criterion: Criterion, window: Window | None) -> Chosen:
    """Minimise the criterion over all nu_plus on the lines of the grid, and train the best point on all samples."""
    nu_plus = cross.axes["nu_plus"]
    lines = line_errors(cross, float(nu_plus[0]) if nu_plus[0] < 1 else 0.5)
    if window is None:
        best = best_on_lines(lines, criterion)
    elif isinstance(window, GaussianWindow):
        step = float(np.ptp(nu_plus)) / max(1, nu_plus.size - 1)
        best = best_on_smoothed_lines(lines, criterion, window, step)
    else:
        raise InputError(f"smoothing must be 'none' or a GaussianWindow for method 'exact-lines', got {window}")
    k = cross.number_of(best.bandwidth)
    problem = cross.problem(k)
    solution = fit(problem, best.nu_plus, best.nu_minus)
    if solution is None:
        raise InputError(
            f"there is no classifier on all samples at nu_plus = {best.nu_plus:g}, nu_minus = {best.nu_minus:g}, "
            "although there is one in every fold: use method='grid'"
        )
    line = next(each for each in lines[k] if each is not None and each.nu_minus == best.nu_minus)
    last = line.fpr.size - 1
    j = int(np.clip(np.searchsorted(line.nu_plus, best.nu_plus) - 1, 0, last))
    named = {"bandwidth": best.bandwidth, "nu_plus": best.nu_plus, "nu_minus": best.nu_minus}
    return Chosen.of(best, named, solution, problem, (line.fpr[j], line.fnr[j]))


def _on_planes(cross: CrossValidation, criterion: Criterion, costs: Any) -> Chosen:
    """Minimise the criterion over a square of the cost plane, and train the best point on all samples."""
    lo, hi = check_pair(costs, "costs")
    if not 0 < lo < hi < np.inf:
        raise InputError(f"costs must be a pair with 0 < lo < hi, both finite; got {costs!r}")
    errors = plane_errors(cross, (lo, hi))
    k, step = errors.best(criterion)
    named = {name: float(getattr(errors, name)[k]) for name in ("bandwidth", "C_plus", "C_minus")}
    problem = cross.problem(cross.number_of(named["bandwidth"]))
    solution = trace_costs(problem, (0, 0), (named["C_plus"], named["C_minus"]), progress=False).at(1.0)
    return Chosen.of(step, named, solution, problem)


# ---- arguments ------------------------------------------------------------------------------------------------------


def _options(given: Mapping[str, Any]) -> Tuning:
    """Settings from keyword arguments; TypeError, as for any function, if there is an unknown one."""
    known = [each.name for each in fields(Tuning)]
    for name in given:
        if name not in known:
            raise TypeError(f"tune() got an unexpected keyword argument {name!r}: its options are {', '.join(known)}")
    return Tuning(**given)


def _criterion(given: Any) -> Criterion:
    """Return a criterion, or refuse an object without its methods."""
    if isinstance(given, type) or not (callable(given) and hasattr(given, "score") and hasattr(given, "level")):
        raise InputError(
            "criterion must be Minimax(), NeymanPearson(alpha), NeymanPearsonScore(alpha), ExpectedCost(...) or an "
            f"object with their methods, got {given!r}"
        )
    criterion: Criterion = given
    return criterion


def _samples(X: Any, y: Any, kernel: Any) -> tuple[Any, Array, Any]:
    """Check samples, labels and kernel; without a kernel, Gaussian ones are meant."""
    precomputed = isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")
    samples = check_matrix(X) if precomputed else check_samples(X)
    kernel = None if kernel is None else as_kernel(kernel, samples)
    if isinstance(kernel, RBF):
        raise InputError(f"kernel must be left out for Gaussian kernels: give bandwidths=[{kernel.bandwidth:g}]")
    if isinstance(kernel, Precomputed):
        Gram(samples, kernel)  # square, symmetric, positive semidefinite
    return samples, check_labels(y, samples.shape[0], of=X), kernel


def _rows(X: Any, kernel: Any, rows: Any, among: Any) -> Any:
    """Rows of the samples, or their kernel values with the samples that are trained on."""
    return X[np.ix_(rows, among)] if isinstance(kernel, Precomputed) else X[rows]


def _bandwidths(X: Any, kernel: Any, given: Any) -> Array:
    """Bandwidths of the grid: given ones, or so many chosen from the samples; nan for a kernel without bandwidth."""
    if kernel is not None:
        if given is not None:
            raise InputError(f"bandwidths must be left out with kernel {kernel}: they are for Gaussian kernels")
        return np.array([np.nan])
    if given is None or isinstance(given, int | np.integer):
        return bandwidth_grid(X, 12 if given is None else int(given))
    values = check_increasing(given, "bandwidths")
    warn_of_bandwidths(X, values)
    return values


def _shares(given: Any, name: str) -> Array:
    """Values k / count for a given count, or the given values."""
    if isinstance(given, bool):
        raise InputError(f"{name} must be a whole number or an array, got {given!r}")
    if isinstance(given, int | np.integer):
        if given < 1:
            raise InputError(f"{name} must be at least 1, or an array, got {given!r}")
        return np.arange(1, given + 1) / given
    return check_increasing(given, name, 1.0)
