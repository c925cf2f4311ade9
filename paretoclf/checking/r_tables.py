r"""Tables that R's quantreg and glmnet wrote, each with the objective that the code minimises.

glmnet's, for a Gaussian response, with :math:`s_j` the standard deviations of the columns (1 where they are not
standardised), and :math:`s_y` that of y, all over n:

.. math::

   \frac1{2n}\|y-b-Xw\|^2+\lambda\sum_j\Bigl(\alpha s_j|w_j|+\frac{1-\alpha}{2s_y}s_j^2w_j^2\Bigr)

The objective that its help prints has no :math:`s_y`: y is scaled to variance 1, as the help says in a note, and
:math:`\lambda` with it, which leaves the lasso as it is, and divides the ridge. At one :math:`\lambda` that is a
quadratic program, and each row is judged by its own; the path between rows is curved but for a lasso.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paretoclf.checking import known
from paretoclf.checking.beside import JudgedPoints
from paretoclf.checking.strangers_paths import StrangersPath, joined, nothing_else, read_table, shares_of
from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError

#: Names that R gives an intercept, as it is and in a data frame.
_INTERCEPTS = ("(Intercept)", "X.Intercept.", "Intercept", "intercept", "b")

#: Columns that R's quantreg writes beside tau and coefficients.
_ASIDE = ("Qbar", "Obj.Fun", "Obj Fun", "ObjFun")

#: What writes a table that is read, by the parameter that moves.
_WRITES = {
    "tau": "write.csv(data.frame(tau = fit$tau, t(coef(fit))), file)",
    "lambda": "write.csv(data.frame(lambda = fit$lambda, t(as.matrix(coef(fit)))), file)",
}

#: Another objective is looked at where its conditions hold to this share of their terms.
_LIKELY = 1e-2


@dataclass(frozen=True)
class _CoefficientTable:
    """Parameter, intercept and coefficients of the rows, the columns besides, and what is to be said of names."""

    at: Array
    values: dict[str, Array]
    aside: list[str]
    note: str


def _coefficients(file: Any, moving: str, X: Array, names: list[str]) -> _CoefficientTable:
    """Read a table of coefficients; they are put into the order of the columns of X where their names are the same."""
    if not isinstance(file, str | os.PathLike):
        raise InputError(f"solutions must be the name of a CSV file, got {file!r:.100}")
    file = os.fspath(file)
    header, table = read_table(file)
    if moving not in header:
        raise InputError(
            f"{file}: must have a column {moving}, got {', '.join(header)}; {_WRITES[moving]} writes one in R"
        )
    aside = [name for name in header if name.replace(" ", ".") in _ASIDE]
    constant = [name for name in _INTERCEPTS if name in header][:1]  # a column of X may be called b
    others = [name for name in header if name not in (moving, *aside, *constant)]
    if len(constant) != 1 or len(others) != X.shape[1]:
        raise InputError(
            f"{file}: must have a column (Intercept) and {X.shape[1]} of coefficients, got {', '.join(header)}"
        )
    order, note = _in_order(file, others, names)
    values = {"w": table[:, [header.index(name) for name in order]], "b": table[:, header.index(constant[0])]}
    return _CoefficientTable(table[:, header.index(moving)], values, aside, note)


def _in_order(file: str, theirs: list[str], names: list[str]) -> tuple[list[str], str]:
    """Columns of a file in the order of X, and what is to be said where no name is the same."""
    own = names or [f"V{k}" for k in range(1, len(theirs) + 1)]  # R's names of the columns of a matrix
    for known_as in (own, [re.sub(r"[^\w.]", ".", name) for name in own]):  # and as a data frame of R has them
        if sorted(known_as) == sorted(theirs):
            return known_as, ""
    both = [name for name in own if name in theirs]
    if names and both:
        other = next(name for name in theirs if name not in own)
        raise InputError(
            f"{file}: coefficients must have the names of the columns of X, {', '.join(own)}, got {other!r:.100}; "
            "with X.to_numpy() they are taken in their order"
        )
    said = f" Coefficients {', '.join(theirs):.60} were taken for the columns {', '.join(own):.60} of X in their order."
    return theirs, said if names else ""


def quantreg(samples: tuple[Array, Array, list[str]], file: Any, options: dict[str, Any]) -> StrangersPath:
    """``t(rq(y ~ X, tau = -1)$sol)``, where each solution holds up to the next tau; or fits at some tau.

    ``samples`` are X, y and the names of the columns of X, if it has some.
    """
    nothing_else(options, "quantreg")
    X, y, names = samples
    table = _coefficients(file, "tau", X, names)
    tau, values = table.at, table.values
    outside = (tau < 0) | (tau > 1)
    if outside.any():
        raise InputError(f"tau must be from 0 to 1, got {tau[outside][0]}")
    problem, parameter = known.quantile_regression(X, y)
    note = f"The objective is sum_i max(tau r_i, (tau - 1) r_i) with r = y - b - X w.{table.note}"
    if not table.aside or tau.size == 1:
        return StrangersPath(problem, parameter, tau, values, between=False, note=note)
    # A jump at each inner tau: the solution before it, and the one after it.
    at = np.repeat(tau, 2)[1:-1]
    both = {name: np.repeat(each[:-1], 2, axis=0) for name, each in values.items()}
    numbers = np.repeat(np.arange(tau.size - 1), 2)
    return StrangersPath(problem, parameter, at, both, numbers=numbers, note=note)


@dataclass(frozen=True)
class _Penalty:
    """Penalty of glmnet, by the arguments that it is fitted with."""

    alpha: float = 1.0
    standardize: bool = True
    standardize_response: bool = True

    @classmethod
    def of(cls, options: dict[str, Any]) -> _Penalty:
        """Read and take out the options."""
        flags = {}
        for name in ("standardize", "standardize_response"):
            flags[name] = options.pop(name, True)
            if not isinstance(flags[name], bool | np.bool_):
                raise InputError(f"{name} must be True or False, got {flags[name]!r:.100}")
        alpha = options.pop("alpha", 1.0)
        if isinstance(alpha, bool) or not isinstance(alpha, int | float | np.number) or not 0.0 < alpha <= 1.0:
            raise InputError(
                f"alpha must be more than 0 and at most 1, got {alpha!r:.100}; a ridge regression, alpha = 0, is "
                "judged row by row as cp.Problem(cp.Minimize(cp.sum_squares(y - b - X @ w) / (2 * n) + "
                'ridge * cp.sum_squares(w) / 2)), by verify(problem, {"w": w, "b": b})'
            )
        nothing_else(options, "glmnet")
        return cls(float(alpha), **flags)

    def weights(self, X: Array, y: Array) -> tuple[Array, Array]:
        """Weights of the absolute values and of half the squares, without alpha."""
        s = X.std(axis=0) if self.standardize else np.ones(X.shape[1])
        return s, s**2 / ((y.std() or 1.0) if self.standardize_response else 1.0)

    @property
    def options(self) -> str:
        """The options of a call that have another value than by default."""
        own = {"alpha": self.alpha, "standardize": self.standardize, "standardize_response": self.standardize_response}
        default = vars(_Penalty())
        return ", ".join(f"{name}={value!r}" for name, value in own.items() if value != default[name]) or "alpha=1"

    @property
    def words(self) -> str:
        """The objective in words."""
        s = "s_j " if self.standardize else ""
        absolute, square = f"{s}|w_j|", f"{s.strip()}{'^2 ' if s else ''}w_j^2"
        over = " / s_y" if self.standardize_response else ""
        lasso = self.alpha == 1.0
        inner = absolute if lasso else f"({self.alpha:g} {absolute} + {(1 - self.alpha) / 2:g} {square}{over})"
        known_as = [
            *["s_j the standard deviation of column j"] * self.standardize,
            *["s_y that of y, by which glmnet scales"] * (self.standardize_response and not lasso),
        ]
        where = f", {', '.join(known_as)}" if known_as else ""
        name = "the lasso's" if lasso else "the elastic net's"
        flags = f"alpha={self.alpha:g}, standardize={bool(self.standardize)}"
        return f"The objective is {name} ({flags}): |y - b - X w|^2 / (2n) + lambda sum_j {inner}{where}."


@dataclass(frozen=True)
class _Glmnet:
    """Rows of glmnet with their data; `judged` has the verdicts."""

    X: Array
    y: Array
    table: _CoefficientTable
    penalty: _Penalty

    def judged(self, tol: float, between: bool | None) -> JudgedPoints:
        """Judge every row, and say what was minimised; and where a row fails, with which options they would not."""
        if between and self.penalty.alpha < 1.0:
            raise InputError(
                "between must be left out with alpha < 1: the path of an elastic net is curved. Its own path is that "
                "of cp.Minimize(cp.sum_squares(y - b - X @ w) / (2 * n) + lam * (alpha * cp.norm1(w) + "
                "(1 - alpha) / 2 * cp.sum_squares(w))), by trace(problem, {lam: 1.0}, {lam: 0.1}, curve=True)"
            )
        found = self._judged(self.penalty, tol, bool(between))
        note = f"{self.penalty.words}{self.table.note}"
        return replace(found, note=f"{note} {self._remedy(found, tol)}".strip())

    def _judged(self, penalty: _Penalty, tol: float, between: bool) -> JudgedPoints:
        """Verdicts for one penalty."""
        at, values = self.table.at, self.table.values
        sizes, squares = penalty.weights(self.X, self.y)
        given: dict[str, Any] = {"intercept": True, "nonneg": False, "scale": float(self.y.size)}
        if penalty.alpha == 1.0:
            problem, lam = known.lasso(self.X, self.y, weights=sizes, **given)
            return StrangersPath(problem, lam, at, values, between=between).judged(tol, None)
        t = shares_of(at, "lambda")
        parts = []
        for k, size in enumerate(at.tolist()):
            ridge = size * (1.0 - penalty.alpha) * squares
            problem, lam = known.lasso(self.X, self.y, weights=penalty.alpha * sizes, ridge=ridge, **given)
            row = {name: each[k : k + 1] for name, each in values.items()}
            parts.append(StrangersPath(problem, lam, at[k : k + 1], row, between=False).judged(tol, None))
        return joined(parts, t, "")

    def _remedy(self, found: JudgedPoints, tol: float) -> str:
        """Say which other penalty makes more rows optimal, if one of those that are tried does."""
        pairs = zip(found.verdicts, found.given.tolist(), strict=True)
        verdicts = [verdict for verdict, given in pairs if given]
        if "not optimal" not in verdicts:
            return ""
        right = verdicts.count("optimal")
        used = (self.table.values["w"] != 0.0).sum(axis=1)
        wrong = [k for k, verdict in enumerate(verdicts) if verdict == "not optimal"]
        for penalty in self._likely(max(wrong, key=used.__getitem__)):
            count = self._judged(penalty, tol, False).verdicts.count("optimal")
            if count > right:
                return f"With {penalty.options} {count} of {self.table.at.size} are optimal."
        return ""

    def _likely(self, row: int) -> list[_Penalty]:
        """Penalties for which a row keeps the conditions of an optimum of its nonzero coefficients, the best first.

        With g the correlations of columns and residuals, g_j = lambda (alpha s_j sign w_j + (1 - alpha) c_j w_j), so
        that alpha is found by least squares.
        """
        lam, w, b = self.table.at[row], self.table.values["w"][row], self.table.values["b"][row]
        active = w != 0.0
        found = []
        g = self.X.T @ (self.y - b - self.X @ w) / self.y.size
        for standardize in (self.penalty.standardize, not self.penalty.standardize):
            for response in (True, False):
                penalty = _Penalty(1.0, standardize, response)
                sizes, squares = penalty.weights(self.X, self.y)
                lasso, ridge = lam * sizes * np.sign(w), lam * squares * w
                slope = (lasso - ridge)[active]
                alpha = float(slope @ (g - ridge)[active] / (slope @ slope or 1.0))
                alpha = round(alpha, 3)
                off = (g - alpha * lasso - (1.0 - alpha) * ridge)[active]
                penalty = replace(penalty, alpha=alpha, standardize_response=response or alpha == 1.0)
                share = float(np.abs(off).max(initial=0.0) / (np.abs(g).max(initial=0.0) or 1.0))
                if 0.0 < alpha <= 1.0 and share <= _LIKELY and penalty != self.penalty:
                    found.append((share, penalty))
        return [penalty for _, penalty in sorted(found, key=lambda each: each[0])]


def glmnet(samples: tuple[Array, Array, list[str]], file: Any, options: dict[str, Any]) -> _Glmnet:
    """``data.frame(lambda = fit$lambda, t(as.matrix(coef(fit))))`` of a Gaussian fit: solutions, at its grid only.

    ``samples`` are as for `quantreg`.
    """
    penalty = _Penalty.of(options)
    X, y, names = samples
    table = _coefficients(file, "lambda", X, names)
    if (table.at < 0.0).any():
        raise InputError(f"lambda must not be negative, got {table.at.min()}")
    return _Glmnet(X, y, table, penalty)


#: Readers of tables, by what R's package is called.
R_TABLES: Mapping[str, Callable[..., StrangersPath | _Glmnet]] = {"quantreg": quantreg, "glmnet": glmnet}
