"""Cross-validation of a regression along the path of its program: the held-out loss at every value of a parameter.

Along the path of a program coefficients are affine between breakpoints, so the residuals of samples that were held out
are, too, and the sum of their squares is a parabola on each piece. Added up over folds it is known at every t, and its
minimum is that of the pieces' vertices and ends: nothing is searched. Nor is anything where the loss is within one
standard error of the least: there the parabolas have their roots.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.polynomial import polyval
from scipy.spatial import cKDTree

from paretoclf.common.checks import Array, Rng, check_count, check_matrix, check_rng, real_array
from paretoclf.common.errors import InputError
from paretoclf.path.tracing import trace
from paretoclf.roc.folds import GivenFolds, given_parts
from paretoclf.solve.models.written_kinks import SAME, directions


class LeastLoss(NamedTuple):
    """Chosen place of a held-out loss: its t, the parameter there (t if several depend on t), and the loss."""

    t: float
    parameter: float
    loss: float


@dataclass(frozen=True, repr=False)
class HeldOutLoss:
    """Mean squared error on samples that were held out, at every t of a line of parameters.

    Attributes
    ----------
    t : array of shape (k + 1,)
        Ends of the pieces.
    pieces : array of shape (k, 3)
        The loss on a piece is ``c0 + c1 s + c2 s**2`` where s goes from 0 to 1 on it.
    parameter : str
        The one parameter that depends on t, if it is a number, else ``"t"``.
    ends : (float, float)
        Its values at t = 0 and t = 1.
    paths : tuple of ProblemPath
        Paths of the folds.
    of_folds : array of shape (folds, k, 3)
        The same of the mean of each fold.
    """

    t: Array
    pieces: Array
    parameter: str
    ends: tuple[float, float]
    paths: tuple[Any, ...] = field(repr=False)
    of_folds: Array = field(repr=False)

    def value(self, t: float | None = None, /, **parameter: float) -> float:
        """Loss at t, or at a value of the parameter: ``loss.value(lam=3.0)``."""
        j, share = self._place(self._t_of(t, parameter))
        return float(polyval(share, self.pieces[j]))

    def _t_of(self, t: float | None, parameter: dict[str, float]) -> float:
        """The t that was given as itself, or as a value of the parameter."""
        if (t is None) == (not parameter) or not {self.parameter}.issuperset(parameter):
            raise InputError(f"t or {self.parameter} must be given, got {', '.join(parameter) or 'none'}")
        if t is None:
            first, last = self.ends
            at = float(parameter[self.parameter] - first) / (last - first) + 0.0  # no -0.0
        else:
            at = float(t)
        low, high = self.t[0], self.t[-1]
        if not low <= at <= high:
            raise InputError(f"t must lie between {low:g} and {high:g}, got {at:g}")
        return at

    def _place(self, t: float) -> tuple[int, float]:
        """Piece on which t is, and the share of it that is behind."""
        last_piece = len(self.pieces) - 1
        j = int(np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, last_piece))
        left, right = self.t[j : j + 2]
        return j, float((t - left) / (right - left))

    def standard_error(self, t: float | None = None, /, **parameter: float) -> float:
        """Standard error of the loss at t, or at a value of the parameter: from the spread of the folds' means.

        Raises
        ------
        InputError
            If there is one fold, which has no spread.
        """
        folds = len(self.of_folds)
        if folds < 2:
            raise InputError(f"folds must be at least 2 for a standard error, got {folds}")
        j, share = self._place(self._t_of(t, parameter))
        means = polyval(share, self.of_folds[:, j].T)
        return float(np.std(means, ddof=1) / np.sqrt(folds))

    def one_se(self, t: float | None = None, /, **parameter: float) -> LeastLoss:
        """Find the t nearest to a given one whose loss is within one standard error of the least, exactly.

        The given one is the end that is preferred where the data do not decide: of a penalty its largest value,
        ``loss.one_se(lam=3.0)``, which leaves the fewest coefficients. The standard error is that of the least loss.

        Parameters
        ----------
        t : float
            Preferred t; or the preferred value of the parameter, by its name.

        Raises
        ------
        InputError
            If the preferred one is not on the line, or there is one fold, which has no standard error.

        Examples
        --------
        Two folds, whose losses are 1 + (t - 0.5)^2 and 1.5 + (t - 0.5)^2: at t = 0.5 they are 0.25 from their mean.

        >>> import numpy as np
        >>> from paretoclf.tuning import HeldOutLoss
        >>> folds = np.array([[[1.25, -1.0, 1.0]], [[1.75, -1.0, 1.0]]])
        >>> loss = HeldOutLoss(np.array([0.0, 1.0]), folds.mean(axis=0), "lam", (2.0, 0.0), (), folds)
        >>> loss.minimum(), loss.standard_error(0.5)
        (LeastLoss(t=0.5, parameter=1.0, loss=1.25), 0.25)
        >>> loss.one_se(lam=2.0)
        LeastLoss(t=0.0, parameter=2.0, loss=1.5)
        """
        wished = self._t_of(t, parameter)
        least = self.minimum()
        limit = least.loss + self.standard_error(least.t)
        nearest = [least.t]
        for piece, left, right in zip(self.pieces, self.t[:-1], self.t[1:], strict=True):
            for first, last in _shares_within(piece, limit):
                nearest.append(float(np.clip(wished, left + first * (right - left), left + last * (right - left))))
        return self._at(min(nearest, key=lambda at: abs(at - wished)))

    def _at(self, t: float) -> LeastLoss:
        """Return a t with its parameter and loss."""
        first, last = self.ends
        return LeastLoss(t, (1.0 - t) * first + t * last, self.value(t))

    def minimum(self) -> LeastLoss:
        """Find the least loss, exactly; of several t with the same loss the first.

        It was chosen on the labels that judge it, so the loss there flatters it a little.
        """
        _, linear, quadratic = self.pieces.T
        vertex = np.divide(-0.5 * linear, quadratic, out=np.zeros_like(linear), where=quadratic > 0.0).clip(0.0, 1.0)
        shares = np.stack([np.zeros_like(vertex), vertex, np.ones_like(vertex)], axis=1)
        powers = np.stack([np.ones_like(shares), shares, shares**2], axis=2)
        losses = np.einsum("ksp,kp->ks", powers, self.pieces)
        best = np.unravel_index(int(losses.argmin()), losses.shape)
        left, right = self.t[best[0] : best[0] + 2]
        t = float(left + shares[best] * (right - left))
        return self._at(t)._replace(loss=float(losses[best]))

    def __repr__(self) -> str:
        least = self.minimum()
        where = f"{self.parameter} = {least.parameter:.6g}"
        return f"HeldOutLoss({len(self.paths)} folds, {len(self.pieces)} pieces, least {least.loss:.6g} at {where})"


def cross_validated_loss(
    build: Callable[[Any], tuple[Any, Any, Any]],
    X: Any,
    y: Any,
    folds: GivenFolds = 5,
    *,
    coef: str = "w",
    intercept: str | None = None,
    rng: Rng = 0,
) -> HeldOutLoss:
    """Held-out squared loss of a linear regression, at every value of a parameter of its program.

    Parameters
    ----------
    build : callable
        Takes the rows to train on, an index array, and returns ``(problem, start, stop)``, as `paretoclf.trace` takes
        them: a ``cvxpy.Problem`` on these rows and the two ends of the line, the same for all folds.
    X : array of shape (n, d)
        Features of all samples.
    y : array of shape (n,)
        Targets.
    folds : int, splitter or iterable of (train, test)
        How many shuffled folds; or a splitter of scikit-learn, or index arrays.
    coef, intercept : str
        Names of the variables that are the coefficients, of shape (d,), and the intercept, if there is one.
    rng : int or numpy.random.Generator
        Seed of the folds.

    Raises
    ------
    InputError
        If an argument is not as above, or coefficients are parabolas in the parameter; if another variable stands
        beside ``X @ w`` in the model, which predictions would leave out, or the intercept is not added to it there.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 5))
    >>> y = X[:, 0] + rng.standard_t(3, size=40)
    >>> def build(rows):
    ...     w, lam = cp.Variable(5, name="w"), cp.Parameter(nonneg=True, name="lam")
    ...     loss = cp.sum_squares(X[rows] @ w - y[rows]) / (2 * len(rows)) + lam * cp.norm1(w)
    ...     return cp.Problem(cp.Minimize(loss)), {lam: 2.0}, {lam: 0.0}
    >>> pc.tuning.cross_validated_loss(build, X, y)
    HeldOutLoss(5 folds, 26 pieces, least 2.45555 at lam = 0.218789)
    """
    X = check_matrix(X)
    y = real_array(y, "y")
    if y.shape != (len(X),):
        raise InputError(f"y must have one target per row of X, {len(X)}, got shape {y.shape}")
    parts = _parts(y, folds, rng)
    paths, residuals = [], []
    for train, test in parts:
        path = trace(*build(train))
        paths.append(path)
        residuals.append(_residuals(path, X[test], y[test], coef, intercept))
        _check_prediction(path, X[train], coef, intercept)
    first_line = _line_of(paths[0])
    if any(_line_of(path) != first_line for path in paths):
        raise InputError("build must return the same start and stop for every fold")
    last = min(float(path.t[-1]) for path in paths)
    knots = np.unique(np.concatenate([path.breakpoints for path in paths]).clip(0.0, last))
    sums = np.array([_parabolas(knots, t, values) for t, values in residuals])
    sizes = np.array([len(test) for _, test in parts])
    parameter, ends = _the_parameter(paths[0])
    of_folds = sums / sizes[:, None, None]
    return HeldOutLoss(knots, sums.sum(axis=0) / sizes.sum(), parameter, ends, tuple(paths), of_folds)


def _line_of(path: Any) -> list[tuple[str, list[float]]]:
    """Parameters at both ends of a path, to be compared with those of another one."""
    return [(name, np.ravel(value).tolist()) for end in path.ends for name, value in end.items()]


def _the_parameter(path: Any) -> tuple[str, tuple[float, float]]:
    """Name and end values of the one parameter that depends on t, if it is a number; else ``"t"``, 0 and 1."""
    (name, value), *others = path.parameters(0.0).items()
    if others or np.ndim(value) > 0:
        return "t", (0.0, 1.0)
    start, stop = path.ends
    return name, (float(start[name]), float(stop[name]))


def _parts(y: Array, folds: Any, rng: Rng) -> list[tuple[Any, Any]]:
    """Training and test rows of each fold."""
    n = y.size
    if isinstance(folds, int | np.integer):
        count = check_count(folds, "folds", 2)
        if count > n:
            raise InputError(f"folds must be at most the number of samples, {n}, got {count}")
        tests = np.array_split(check_rng(rng).permutation(n), count)
        return [(np.setdiff1d(np.arange(n), test), np.sort(test)) for test in tests]
    parts = given_parts(y, folds)
    if not parts or not all(train.size and test.size for train, test in parts):
        raise InputError("folds must be at least one (train, test), each with samples to train on and to test")
    return parts


def _residuals(path: Any, X: Array, y: Array, coef: str, intercept: str | None) -> tuple[Array, Array]:
    """Ends t of each segment of a path, and the residuals of samples there, shapes (k, 2) and (k, 2, n)."""
    for name in (coef, *([] if intercept is None else [intercept])):
        if name in path.program.parabolas:
            raise InputError(f"{name} must be affine along the path: it is a parabola, whose squared loss is no piece")
    t, w = path.along(coef)
    if w.shape[1:] != (X.shape[1],):
        raise InputError(f"coef must name a variable of shape ({X.shape[1]},), got {coef!r} of shape {w.shape[1:]}")
    predicted = w @ X.T
    if intercept is not None:
        predicted = predicted + path.along(intercept)[1].reshape(-1, 1)
    return t.reshape(-1, 2), (y - predicted).reshape(-1, 2, y.size)


def _check_prediction(path: Any, X: Array, coef: str, intercept: str | None) -> None:
    """InputError if rows of samples show that the model's prediction is not ``X @ coef``, with the intercept added.

    What stands beside a sample in each of its rows, with one factor, and beside another sample, too, is part of the
    prediction: residuals and slacks are one for each sample, and what bounds a residual on both sides changes its sign.
    """
    line = path.program
    variable_of = {int(place): name for name, each in line.variables.items() for place in np.ravel(each.place)}
    for column, factors in _beside_samples(line, X, coef).items():
        name = variable_of.get(column, coef)
        of_one = all(np.ptp(own) <= SAME * abs(own[0]) for own in factors.values())
        if name == coef or len(factors) < 2 or not of_one:
            continue
        if name != intercept:
            single = intercept is None and line.variables[name].place.size == 1
            remedy = (
                f"name it, intercept={name!r}" if single else f"make what it multiplies columns of X, and it of {coef}"
            )
            raise InputError(
                f"predictions must be all that the model predicts, but it has {name} beside X @ {coef}, which would be "
                f"left out: {remedy}"
            )
        factor = next((own[0] for own in factors.values() if abs(own[0] - 1.0) > SAME), 1.0)
        if factor != 1.0:
            raise InputError(
                f"intercept must be added to X @ {coef} as it is, but the model has {factor:.6g} times {name} there: "
                f"write X @ {coef} + {name}"
            )


def _beside_samples(line: Any, X: Array, coef: str) -> dict[int, dict[int, list[float]]]:
    """For each column of a program and each sample, the column's factors in rows of the sample, where its own are 1."""
    places = np.ravel(line.variables[coef].place)
    rows = line.rows[:, places]
    # Of one feature each row is a multiple of each sample: there it must be the sample, or minus it.
    scaled = directions if X.shape[1] > 1 else np.asarray
    drawn = np.random.default_rng(0).normal(size=(X.shape[1], 3))
    samples = cKDTree(scaled(np.concatenate([X, -X]) @ drawn))
    found = defaultdict[int, dict[int, list[float]]](lambda: defaultdict(list))
    for row in np.flatnonzero(np.diff(rows.indptr)).tolist():
        own = rows[[row]].toarray()[0]
        near = samples.query_ball_point(scaled(own @ drawn), SAME)
        if not near:
            continue
        sample = min(near) % len(X)
        factor = float(own @ X[sample] / (X[sample] @ X[sample]))
        part = slice(line.rows.indptr[row], line.rows.indptr[row + 1])
        for column, value in zip(line.rows.indices[part].tolist(), line.rows.data[part].tolist(), strict=True):
            found[column][sample].append(value / factor)
    return found


def _parabolas(knots: Array, t: Array, residuals: Array) -> Array:
    """Sum of squares of affine residuals between knots: three coefficients in the share of the way to the next knot."""
    long = np.flatnonzero(t[:, 1] > t[:, 0])
    t, residuals = t[long], residuals[long]
    middle = 0.5 * (knots[:-1] + knots[1:])
    segment = np.clip(np.searchsorted(t[:, 0], middle, side="right") - 1, 0, len(t) - 1)
    begin, end = t[segment].T
    slope = residuals[segment, 1] - residuals[segment, 0]
    before = (knots[:-1] - begin) / (end - begin)
    first = residuals[segment, 0] + before[:, None] * slope
    change = (np.diff(knots) / (end - begin))[:, None] * slope
    constant = (first**2).sum(axis=1)
    linear = 2.0 * (first * change).sum(axis=1)
    quadratic = (change**2).sum(axis=1)
    return np.stack([constant, linear, quadratic], axis=1)


def _shares_within(piece: Array, limit: float) -> list[tuple[float, float]]:
    """Shares of a piece, in [0, 1], on which its parabola (open upwards) is at most a limit: an interval, or none."""
    constant, linear, quadratic = piece.tolist()
    roots = np.sort(np.roots([quadratic, linear, constant - limit]))
    cuts = [0.0, *(root for root in roots.real[np.isreal(roots)].tolist() if 0.0 < root < 1.0), 1.0]
    inside = [pair for pair in pairwise(cuts) if polyval(0.5 * (pair[0] + pair[1]), piece) <= limit]
    return [(inside[0][0], inside[-1][1])] if inside else []
