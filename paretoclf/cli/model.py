"""A chosen classifier as a file: everything from the columns of a table to a label."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import paretoclf as pc
from paretoclf.cli.files import to_json
from paretoclf.common.checks import Array, check_matrix, check_number, check_vector
from paretoclf.common.errors import InputError
from paretoclf.common.files import reading
from paretoclf.datasets import Dataset
from paretoclf.datasets.cells import GROUPS, Column, number_of
from paretoclf.problem.classifiers import GramRule, KernelRule, LinearRule, Rule
from paretoclf.problem.gram import Gram
from paretoclf.problem.kernels import kernel_from_spec, kernel_spec
from paretoclf.problem.samples import dense
from paretoclf.roc.rules import PathRule
from paretoclf.tuning.guarantee import ShiftedRule
from paretoclf.tuning.tune import TransformedRule

#: What a file says that it is.
KIND = "paretoclf model 1"


@dataclass(frozen=True, eq=False)
class TableClassifier:
    """A classifier of tables: ``f(x) = rule((x - mean) / scale) + shift``, positive where ``f(x) >= 0``.

    Attributes
    ----------
    recipe : tuple of Column
        How the columns of a table become features.
    positive, negative : str
        What the classes are called.
    mean, scale : array of shape (d,)
        Means and standard deviations of the training samples.
    rule : Rule
        The rule for scaled samples.
    shift : float
        Infinite where every sample gets the same label.
    chosen : dict
        What it was chosen for, and by what.
    """

    recipe: tuple[Column, ...]
    positive: str
    negative: str
    mean: Array = field(repr=False)
    scale: Array = field(repr=False)
    rule: Rule
    shift: float
    chosen: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(
        cls, data: Dataset, rule: Rule, chosen: Mapping[str, Any] | None = None, scaler: Any = None
    ) -> TableClassifier:
        """Make the model of a rule that was trained on a data set, for `save`.

        Parameters
        ----------
        data : Dataset
        rule : Rule
            A rule of the linear kernel, or of one with a name: a path's, tuned, shifted.
        chosen : dict, optional
            What it was chosen for, in numbers and texts.
        scaler : StandardScaler, optional
            Scaler that transformed the samples; that of a tuned rule is known.

        Examples
        --------
        The file that ``paretoclf predict`` reads, and the same classifier in Python:

        >>> import tempfile
        >>> import paretoclf as pc
        >>> from paretoclf.cli.model import TableClassifier
        >>> data = pc.datasets.make_bimodal(60)
        >>> rule = pc.trace(pc.TwoCSVM(data.X, data.y), (0.1, 1.9), (1.9, 0.1)).at(0.5).classifier
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     TableClassifier.of(data, rule).save(f"{folder}/model.json")
        ...     again = TableClassifier.load(f"{folder}/model.json")
        >>> bool(abs(again.scores(data.X) - rule.decision_function(data.X)).max() < 1e-12)
        True
        """
        base, shift, own = _taken_apart(rule)
        scaler = own if scaler is None else scaler
        recipe = recipe_of(data)
        mean, scale = np.zeros(data.d), np.ones(data.d)
        if scaler is not None:
            mean, scale = scaler.mean_, scaler.scale_
        if isinstance(base, GramRule) and not base.gram.quadratic.width:
            support = np.flatnonzero(base.coef)
            gram = Gram(dense(base.gram.X)[support], base.gram.kernel)
            base = KernelRule(gram, base.coef[support], base.b_at_origin)
        elif isinstance(base, GramRule):
            mean = mean if base.gram.origin is None else mean + scale * base.gram.origin
            base = LinearRule(base.w, base.b_at_origin)
        return cls(recipe, data.positive, data.negative, mean, scale, base, shift, {} if chosen is None else chosen)

    @classmethod
    def load(cls, file: str | Path) -> TableClassifier:
        """Read a file of `save`; InputError if it is none."""
        with reading(file, "not a saved model"):
            stored = json.loads(Path(file).read_text(encoding="utf-8"))
            if stored["kind"] != KIND:
                raise ValueError(f"its kind is {stored['kind']!r}, not {KIND!r}")
            recipe = tuple(map(column_of, stored["columns"]))
            d = sum(len(column.features) for column in recipe)
            mean, scale = (check_vector(stored[name], d, name) for name in ("mean", "scale"))
            if not (scale > 0).all():
                raise ValueError(f"scale must be positive, got {scale.min()}")
            given = stored["rule"]
            rule: Rule
            if "w" in given:
                rule = LinearRule(check_vector(given["w"], d, "w"), _finite(given["b"], "b"))
            else:
                gram = Gram(check_matrix(given["samples"], "samples"), kernel_from_spec(given["kernel"]))
                rule = KernelRule(gram, check_vector(given["coef"], gram.n, "coef"), _finite(given["b"], "b"))
                if gram.X.shape[1] != d:
                    raise ValueError(f"{d} features, but samples of {gram.X.shape[1]}")
            shift = check_number(float(stored["shift"]), "shift")
            if np.isnan(shift):
                raise ValueError("shift must be a number, got nan")
            positive, negative = (_text(stored[name], name) for name in ("positive", "negative"))
            if same_label(positive, negative):
                raise ValueError(f"positive and negative must be two classes, got {positive!r} and {negative!r}")
            return cls(recipe, positive, negative, mean, scale, rule, shift, stored["chosen"])

    def save(self, file: str | Path) -> None:
        """Write the model as JSON."""
        rule: dict[str, Any]
        if isinstance(self.rule, KernelRule):
            gram = self.rule.gram
            rule = {"kernel": kernel_spec(gram.kernel), "b": self.rule.b, "coef": self.rule.coef, "samples": gram.X}
        else:
            rule = {"b": self.rule.b, "w": self.rule.w}
        stored: dict[str, Any] = {"kind": KIND, "version": pc.__version__, "chosen": self.chosen}
        stored |= {"positive": self.positive, "negative": self.negative}
        stored["columns"] = [asdict(column) for column in self.recipe]
        stored |= {"mean": self.mean, "scale": self.scale, "shift": number(self.shift), "rule": rule}
        Path(file).write_text(to_json(stored) + "\n", encoding="utf-8")

    def scores(self, X: Any) -> Array:
        """Scores f of samples of shape (m, d), in the units of the table.

        Raises
        ------
        InputError
            If X has other features, or a score is too large for a number.
        """
        if np.shape(X)[1:] != self.mean.shape:
            raise InputError(f"X must have the {self.mean.size} features of the model, got shape {np.shape(X)}")
        if not len(X):
            return np.zeros(0)
        scaled = (X - self.mean) / self.scale
        return np.asarray(self.rule.decision_function(scaled) + self.shift)

    def labels(self, scores: Array) -> list[str]:
        """Predicted labels, in the words of the table."""
        return [self.positive if score >= 0 else self.negative for score in scores.tolist()]


def same_label(name: str, text: str) -> bool:
    """Whether two texts say the same label: 1.0 says 1."""
    values = number_of(name), number_of(text)
    return name == text if None in values else values[0] == values[1]


def recipe_of(data: Dataset) -> tuple[Column, ...]:
    """Return how the columns of a table become the features of a data set, also of one that comes from no table."""
    if data.recipe:
        return data.recipe
    medians = np.median(data.X, axis=0).tolist()
    return tuple(Column(name, None, fill) for name, fill in zip(data.feature_names, medians, strict=True))


def column_of(stored: Mapping[str, Any]) -> Column:
    """Read a column of a file; ValueError if it is none."""
    name, categories, fill, decimal = stored["name"], stored["categories"], stored["fill"], stored.get("decimal")
    thousands = stored.get("thousands")
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal must be '.' or ',', got {decimal!r}")
    if thousands not in (None, *GROUPS):
        raise ValueError(f"thousands must be one of {GROUPS}, got {thousands!r}")
    if categories is None:
        return Column(_text(name, "name"), None, None if fill is None else _finite(fill, "fill"), decimal, thousands)
    known = tuple(_text(category, "categories") for category in categories)
    if fill is not None and fill not in known:
        raise ValueError(f"fill must be one of the categories of {name!r}, got {fill!r}")
    return Column(_text(name, "name"), known, fill, decimal)


def _text(value: Any, name: str) -> str:
    """Check a text of a file; ValueError if it is none."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a text, got {value!r:.100}")
    return value


def _finite(value: Any, name: str) -> float:
    """Check a finite number of a file; ValueError if it is none."""
    if isinstance(value, str) or not np.isfinite(number_ := check_number(value, name)):
        raise ValueError(f"{name} must be a finite number, got {value!r:.100}")
    return number_


def number(value: float) -> float | str:
    """Write a number as JSON has it: infinite ones are texts."""
    return value if np.isfinite(value) else str(value)


def _taken_apart(rule: Rule) -> tuple[Rule, float, Any]:
    """Rule of a solver or path, the shift of its scores, and the transformer of samples before it."""
    if isinstance(rule, TransformedRule):
        base, shift, _ = _taken_apart(rule.rule)
        return base, shift, rule.transformer
    if isinstance(rule, ShiftedRule):
        base, shift, transformer = _taken_apart(rule.rule)
        return base, shift + rule.shift, transformer
    if isinstance(rule, PathRule):
        base = rule.path.at(rule.t).classifier
        own = PathRule(rule.path, rule.t, rule.swept)
        return base, (own.b - base.b) + rule.shift, None
    return rule, 0.0, None
