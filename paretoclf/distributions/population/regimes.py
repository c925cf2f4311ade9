"""The regimes of Bach, Heckerman & Horvitz (2006), section 4.2, of two classes: both losses, both ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import what_it_is
from paretoclf.common.errors import InputError
from paretoclf.common.tables import Tabular
from paretoclf.distributions.population.classes import Population
from paretoclf.distributions.population.expansions import EXPANDED, Expansion, population_expansion


@dataclass(frozen=True, eq=False)
class Regimes(Tabular):
    """Regimes of two classes at extreme asymmetries: a row for each loss and end. Made by `population_regimes`.

    Attributes
    ----------
    population : Population
        The two classes.
    expansions : tuple of Expansion
        Square loss at 0 and 1, erf loss at 0 and 1.
    """

    population: Population = field(repr=False)
    expansions: tuple[Expansion, ...]

    def at(self, loss: str, end: int) -> Expansion:
        """Return the expansion of one loss ("square" or "erf") at one end (0 or 1).

        Parameters
        ----------
        loss : str
            "square" or "erf".
        end : int
            0 or 1.
        """
        for each in self.expansions:
            if (each.loss, each.end) == (loss, end):
                return each
        raise InputError(f"loss and end must be of {', '.join(EXPANDED)} and 0, 1, got {loss!r} and {end!r}")

    @property
    def follow(self) -> bool:
        """Whether training asymmetry should follow testing asymmetry at both ends with both losses: hardly ever."""
        return all(each.training == "the same" for each in self.expansions)

    def _rows(self) -> Iterator[dict[str, Any]]:
        for each in self.expansions:
            yield {
                "loss": each.loss, "asymmetry to": each.end, "slope w along": np.round(each.a, 4).tolist(),
                "A": each.A, "B": each.B, "ROC slope": each.roc_slope, "regime": each.regime, "train": each.training,
            }  # fmt: skip

    def __str__(self) -> str:
        lines = []
        for each in self.expansions:
            end = each.end
            slope = {np.inf: "vertical", 0.0: "horizontal"}.get(each.roc_slope, "undecided")
            _, _, limit = each.regime.partition(": ")
            lines.append(
                f"{each.loss} loss, asymmetry to {end}: A = {each.A:.3g}, B = {each.B:.3g}, "
                f"ROC curve {slope} at ({end}, {end}); {limit}; train {each.training}"
            )
        return "\n".join(lines)


def population_regimes(population: Population) -> Regimes:
    r"""Say in which regime two classes are: what training does at extreme asymmetries, and how extreme to train.

    Bach, Heckerman & Horvitz (2006) leave to the reader which regime applies: "estimate class conditional Gaussian
    mixture densities" and evaluate the sign of A. That is ``population_regimes(Population.fit(X, y, components))``. It
    holds for extreme asymmetries; for a given one `PopulationCurve.best` has the training asymmetry that is best.

    Parameters
    ----------
    population : Population
        The two classes; of samples, `Population.fit`. A is then an estimate like any other: fit resampled data, too,
        and see whether its sign stays.

    Returns
    -------
    Regimes
        Printed, it says for both losses and both ends: A and B, how the ROC curve reaches the corner, where the testing
        asymmetry goes, and how extreme to train for an extreme testing asymmetry.

    Raises
    ------
    InputError
        If it is no population, or the two means are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.distributions.population import Mixture, Population, population_regimes
    >>> pair = Population(Mixture([0.5, 0.0], np.diag([4.0, 1.0])), Mixture([0.0, 0.0], np.eye(2)))
    >>> found = population_regimes(pair)
    >>> print(found.at("square", 0).training, found.at("square", 0).roc_slope, found.follow)
    less extreme inf False
    >>> str(found).splitlines()[0].rpartition("; ")[2]
    'train less extreme'
    """
    if not isinstance(population, Population):
        raise InputError(f"population must be a Population, got {what_it_is(population)}")
    expansions = tuple(population_expansion(population, loss, end) for loss in EXPANDED for end in (0, 1))
    return Regimes(population, expansions)
