"""Formulations of one data set: samples, labels, a kernel; `paretoclf.solve.formulation` is their base."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np

from paretoclf.common.checks import Array, check_labels
from paretoclf.common.errors import InputError
from paretoclf.problem.classifiers import FeatureRule, LinearRule, NoRule, Rule
from paretoclf.problem.gram import Gram
from paretoclf.problem.kernels import Kernel, Precomputed
from paretoclf.problem.samples import Samples, signed
from paretoclf.solve.formulation import NONNEGATIVE as NONNEGATIVE
from paretoclf.solve.formulation import POSITIVE as POSITIVE
from paretoclf.solve.formulation import Formulation as Formulation
from paretoclf.solve.formulation import Range as Range
from paretoclf.solve.formulation import within as within
from paretoclf.solve.models.model import Form


class SampleFormulation(Formulation):
    """A formulation that is given samples and labels.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d), or array of shape (n, n) if kernel is "precomputed"
        Samples.
    y : array of shape (n,)
        Labels -1 and +1, both present.
    kernel : optional
        None (linear), ``"rbf"`` (`RBF.scale`), ``"precomputed"``, another scikit-learn kernel name, a callable
        ``f(X, Z)``, or a kernel object.
    low_rank : int, float or sequence of int, optional
        Replace the kernel by features; see `paretoclf.problem.low_rank`.

    Attributes
    ----------
    X, y, kernel
        Copies of what was given, checked; a sparse X as a canonical ``scipy.sparse.csr_array``.
    gram : Gram
        The kernel values.
    n, n_plus, n_minus : int
        Number of samples, and of those of each class.

    Raises
    ------
    InputError
        If an argument is not what it must be; the message names it.

    Examples
    --------
    A formulation is a subclass with parameters and a primal; see `paretoclf.solve.formulation`.

    >>> from functools import cached_property
    >>> import cvxpy as cp
    >>> import paretoclf as pc
    >>> class Ridge(pc.SampleFormulation):
    ...     "Least squares with a ridge."
    ...
    ...     domain = {"lam": pc.POSITIVE}
    ...
    ...     @cached_property
    ...     def primal(self):
    ...         w = cp.Variable(self.X.shape[1], name="w")
    ...         loss = cp.sum_squares(self.X @ w - self.y)
    ...         return cp.Problem(cp.Minimize(loss + self.parameters["lam"] * cp.sum_squares(w)))
    >>> ridge = Ridge([[1.0], [-1.0]], [1, -1])
    >>> round(float(ridge.solve(lam=2.0).classifier.w[0]), 9)
    0.5
    """

    #: Whether all samples may be moved without a change of the problem: an intercept is free, and costs nothing.
    free_origin = False

    def __init__(self, X: Any, y: Any, kernel: Any = None, *, low_rank: Any = None) -> None:
        self.gram: Gram = Gram(X, kernel, low_rank, free_origin=self.free_origin)
        self.X: Samples = self.gram.X
        self.kernel: Kernel = self.gram.kernel
        self.y: Array = check_labels(y, self.gram.n, of=X)
        self.n: int = self.gram.n
        self.n_plus = int((self.y > 0).sum())
        self.n_minus = int((self.y < 0).sum())

    @property
    def signed(self) -> Samples:
        """Rows of the Gram's factor (linear kernel: of X; ``low_rank``: its features) times their labels, (n, k)."""
        return signed(self.gram.factor, self.y)

    @property
    def thin(self) -> bool:  # type: ignore[override]  # computed only when a model is built
        """Whether simple sparse linear algebra is fastest."""
        return self.gram.thin

    def classifier(self, values: Mapping[str, float], numbers: Mapping[str, Any]) -> Rule:
        """Read the classifier from named numbers: ``w . x + b`` from the variables ``w`` and ``b`` (or no b).

        Where the features of the Gram are not the samples, w is of those that the primal is written with: of the
        features where it has `signed` or the Gram's factor, of the samples where it has ``X``. Its number of entries
        decides, and where there are as many features as columns, the matrix that stands in the primal itself. Where
        neither does, or new samples have no features (a kernel without ``low_rank``), it is a `NoRule`.
        """
        rule = super().classifier(values, numbers)
        features_are_samples = self.gram.linear and self.gram.origin is None
        if features_are_samples or not isinstance(rule, LinearRule):
            return rule
        of_samples, of_features = self._written_with(rule.w.size)
        if of_samples and of_features:
            return NoRule(
                f"{type(self).__name__} must override classifier(values, numbers): its w may be of the columns of X or "
                f"of the features of its kernel, {rule.w.size} both. Return LinearRule(numbers['w'], numbers['b']), or "
                "FeatureRule(self.gram, numbers['w'], numbers['b']), of paretoclf.results"
            )
        if not of_features:
            return rule
        if self.gram.features is None:
            return NoRule(
                f"{type(self).__name__} must have features of new samples to have a classifier: its w is of a factor "
                "of the kernel matrix. Pass low_rank=1e-8, or override classifier(values, numbers)"
            )
        return FeatureRule(self.gram, rule.w, rule.b)

    def _written_with(self, width: int) -> tuple[bool, bool]:
        """Whether a slope of so many entries may be one of the columns of X, and one of the Gram's factor."""
        fits = self.X.shape[1] == width, self.gram.factor.shape[1] == width
        return self._constant_of_primal if all(fits) and any(self._constant_of_primal) else fits

    @cached_property
    def _constant_of_primal(self) -> tuple[bool, bool]:
        """Whether X is a constant of the primal, up to signs, and whether the Gram's factor is."""
        constants = [constant.value for constant in self.primal.constants()]
        of_samples = any(_equal_up_to_signs(each, self.X) for each in constants)
        of_features = any(_equal_up_to_signs(each, self.gram.factor) for each in constants)
        return of_samples, of_features

    def without(self, samples: Any) -> Self:
        """Return the formulation of all other samples.

        A class that is given more than X, y and a kernel overrides this, to take what belongs to the others.

        Parameters
        ----------
        samples : int array of shape (g,)
            Positions of the samples that are left out.

        Raises
        ------
        InputError
            If the others are of one class, or it is not known how to take samples out.
        """
        whole = isinstance(self.kernel, Precomputed) or self.gram.pivots is not None
        if whole or type(self).__init__ is not SampleFormulation.__init__:
            more = "a kernel that is given for all samples" if whole else "more than samples and labels"
            raise InputError(f"{type(self).__name__} must override without(samples): it has {more}")
        rest = np.setdiff1d(np.arange(self.n), samples)
        return type(self)(self.X[rest], self.y[rest], self.kernel)

    def __repr__(self) -> str:
        sizes = f"{self.n} samples ({self.n_plus} positive, {self.n_minus} negative)"
        return f"{type(self).__name__}({sizes}, {self.X.shape[1]} columns, {self.kernel})"


def _equal_up_to_signs(constant: Any, matrix: Samples) -> bool:
    """Whether two arrays or sparse matrices have the same entries but for their signs."""
    if np.shape(constant) != matrix.shape:
        return False
    return not (abs(constant) != abs(matrix)).sum()


def margins_read(gram: Gram, found: Mapping[Form, Mapping[str, Any]]) -> dict[str, Any]:
    """Multipliers, intercept and slope of margins ``y f``: the intercept is the multiplier of the dual's balance."""
    ((form, numbers),) = found.items()
    if form == "dual":
        return {"alpha": np.asarray(numbers["alpha"]), "b": float(numbers["balance"]), "w": None}
    w = gram.quadratic.own(numbers["w"])
    return {"alpha": np.asarray(numbers["margin"]), "b": float(numbers["b"]), "w": w}
