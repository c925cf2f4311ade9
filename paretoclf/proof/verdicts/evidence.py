"""What proves a solution: its certificate, and its optimality conditions one by one.

A judge is a function from raw arrays to `Judged`: it makes the given point feasible, evaluates the primal and the dual
objective there, and lists the conditions that the point must satisfy. Judges know no solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.tables import SHOWN, Tabular, and_more
from paretoclf.proof.verdicts.certificate import Certificate


@dataclass(frozen=True)
class Condition:
    """A block of primal constraints with their multipliers.

    Attributes
    ----------
    name : str
        As in the statement of the formulation.
    slack : array
        What must be at least 0 (exactly 0 for an equation), one number for each constraint of the block.
    multiplier : array
        Has the same shape; at least 0 unless the block is an equation.
    equation : bool
        Whether the slack must be 0, and the multiplier is free.
    slack_unit, multiplier_unit : array or float
        Sizes against which the two are judged.
    product : array, optional
        Slack times multiplier; for a cone their inner product.
    alone : bool
        Whether there is no multiplier: of what is told of a variable by its attributes, or where the solver gave none.
        Then it is no row of a duality table.
    """

    name: str
    slack: Array = field(repr=False)
    multiplier: Array = field(repr=False)
    equation: bool = False
    slack_unit: Any = field(default=1.0, repr=False)
    multiplier_unit: Any = field(default=1.0, repr=False)
    product: Array | None = field(default=None, repr=False)
    alone: bool = False

    @property
    def products(self) -> Array:
        """Slack times multiplier; they add up to the duality gap."""
        return self.slack * self.multiplier if self.product is None else self.product

    @property
    def infeasibility(self) -> Array:
        """Violation of each constraint, in its unit."""
        wrong = np.abs(self.slack) if self.equation else np.maximum(-self.slack, 0.0)
        return np.atleast_1d(wrong / self.slack_unit)

    @property
    def wrong_sign(self) -> Array:
        """Negative part of each multiplier, in its unit; 0 for an equation."""
        wrong = np.zeros_like(self.slack) if self.equation else np.maximum(-self.multiplier, 0.0)
        return np.atleast_1d(wrong / self.multiplier_unit)

    @property
    def not_complementary(self) -> Array:
        """The smaller of slack and multiplier, each in its unit (for a cone, their product); 0 for an equation."""
        if self.equation:
            return np.zeros(np.size(self.slack))
        if self.product is not None:
            return np.atleast_1d(np.abs(self.product) / (self.slack_unit * self.multiplier_unit))
        both = np.minimum(self.slack / self.slack_unit, self.multiplier / self.multiplier_unit)
        return np.atleast_1d(np.maximum(both, 0.0))


#: Slacks of this share of their unit are printed as 0: so much is rounding.
_ROUNDED = 4.0 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class DualityRow:
    """One constraint: how much room it leaves, what its multiplier is, and their product.

    A slack of no more than ``rounding`` is that of the constraint's own terms: it is printed as 0.
    """

    constraint: str
    index: int
    slack: float
    multiplier: float
    product: float
    violation: float
    rounding: float = 0.0

    @property
    def shown(self) -> float:
        """The slack as it is printed."""
        return 0.0 if abs(self.slack) <= self.rounding else self.slack


@dataclass(frozen=True, repr=False)
class DualityTable(Tabular, Sequence[DualityRow]):
    """Every constraint with slack, multiplier and product, the largest violation first; prints as a table.

    The violation is the largest of infeasibility, wrong sign and failing complementarity, each in its unit. Among equal
    violations, larger multipliers come first.
    """

    rows: tuple[DualityRow, ...]

    @classmethod
    def of(cls, conditions: Sequence[Condition]) -> DualityTable:
        """Tabulate conditions."""
        rows = []
        for c in conditions:
            if c.alone:
                continue
            violation = np.maximum.reduce([c.infeasibility, c.wrong_sign, c.not_complementary])
            rounding = _ROUNDED * np.broadcast_to(c.slack_unit, c.slack.shape)
            columns = (np.ravel(a) for a in (c.slack, c.multiplier, c.products, violation, rounding))
            rows += [
                DualityRow(c.name, i, *(float(v) for v in numbers))
                for i, numbers in enumerate(zip(*columns, strict=True))
            ]
        rows.sort(key=lambda row: (-row.violation, -abs(row.multiplier)))
        return cls(tuple(rows))

    @property
    def total(self) -> float:
        """Sum of all products: by how much the multipliers miss the primal value."""
        return float(sum(row.product for row in self.rows))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[DualityRow]:
        return iter(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return DualityTable(self.rows[index]) if isinstance(index, slice) else self.rows[index]

    def __repr__(self) -> str:
        width = max([10, *(len(r.constraint) for r in self.rows[:SHOWN])])
        lines = [
            f"{'constraint':<{width}} {'index':>6} {'slack':>13} {'multiplier':>13} {'product':>10} {'wrong by':>9}"
        ]
        lines += [
            f"{r.constraint:<{width}} {r.index:>6} {r.shown:>13.6g} {r.multiplier:>13.6g} {r.product:>10.1e} "
            f"{r.violation:>9.1e}"
            for r in self.rows[:SHOWN]
        ]
        if len(self) > SHOWN:
            lines.append(and_more(len(self) - SHOWN))
        return "\n".join([*lines, self._title()])

    def _title(self) -> str:
        return f"sum of the products: {self.total:.1e}"

    def _rows(self) -> Iterator[dict[str, Any]]:
        """One for each constraint."""
        for row in self.rows:
            yield {name: value for name, value in vars(row).items() if name != "rounding"}


@dataclass(frozen=True)
class Judged:
    """What a judge returns.

    Attributes
    ----------
    certificate : Certificate
        The proof.
    conditions : sequence of Condition
        The primal constraints, with their multipliers.
    numbers : mapping of str to array or float
        Variables and multipliers by name.
    """

    certificate: Certificate
    conditions: Sequence[Condition] = field(repr=False)
    numbers: Mapping[str, Any] = field(repr=False)

    def revised(self, **changes: Any) -> Judged:
        """Replace fields of the certificate, such as `certain` or `shortfall`."""
        return replace(self, certificate=replace(self.certificate, **changes))


@dataclass(frozen=True)
class Evidence:
    """What stands behind a solution: what a judge says of it, computed when first asked for.

    Parameters
    ----------
    source : Judged or callable
        What a judge said, or what asks it.
    known : Certificate, optional
        The certificate, where it is known before.
    """

    source: Judged | Callable[[], Judged] = field(repr=False)
    known: Certificate | None = None

    @cached_property
    def judged(self) -> Judged:
        """All that the judge says."""
        return self.source if isinstance(self.source, Judged) else self.source()

    @property
    def certificate(self) -> Certificate:
        """The proof: bounds on the optimal value and KKT residuals."""
        return self.judged.certificate if self.known is None else self.known

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The primal constraints, with their multipliers."""
        return tuple(self.judged.conditions)

    @property
    def numbers(self) -> dict[str, Any]:
        """Variables and multipliers by name."""
        return dict(self.judged.numbers)

    @property
    def alpha(self) -> Any:
        """Multipliers of the margin constraints; None where there are none."""
        return self.judged.numbers.get("alpha")

    @property
    def primal_value(self) -> float:
        """Objective at a feasible primal point."""
        return self.certificate.primal_value


def judge(
    primal_value: float,
    dual_value: float,
    conditions: Sequence[Condition],
    numbers: Mapping[str, Any],
    *,
    stationarity: Mapping[str, float] | None = None,
    scale: float | None = None,
    rounding: float = 0.0,
    note: str = "",
) -> Judged:
    """Put values and conditions together.

    Each condition ``name`` gives the residuals ``name`` (primal), ``name: sign`` (dual) and ``name: slackness``; an
    equation, or what has no multiplier, gives the first only.

    Parameters
    ----------
    primal_value, dual_value : float
        Objectives at feasible points.
    conditions : sequence of Condition
        Primal constraints with multipliers.
    numbers : mapping
        Variables and multipliers by name.
    stationarity : mapping of str to float, optional
        Residuals of stationarity and of whatever else the multipliers must satisfy.
    scale : float, optional
        What the gap is relative to; by default the larger of the two values.
    rounding : float
        What rounding alone can make of the difference of the values.
    note : str
        Passed on.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.verdicts.evidence import Condition, judge
    >>> margin = Condition("margin", slack=np.array([0.0, 1.0]), multiplier=np.array([0.5, 0.0]))
    >>> judge(2.0, 2.0, [margin], {}).certificate
    Certificate(optimal, gap=0.0e+00, residual=0.0e+00)
    """
    scale = max(abs(primal_value), abs(dual_value), np.finfo(float).tiny) if scale is None else scale
    primal: dict[str, float] = {}
    dual = dict(stationarity or {})
    slackness: dict[str, float] = {}
    worst: tuple[float, str, str] = (0.0, "", "")
    for c in conditions:
        parts: list[tuple[dict[str, float], str, Array]] = [(primal, c.name, c.infeasibility)]
        if not (c.equation or c.alone):
            parts += [(dual, f"{c.name}: sign", c.wrong_sign), (slackness, f"{c.name}: slackness", c.not_complementary)]
        for kind, name, values in parts:
            kind[name] = float(np.max(values, initial=0.0))
            if not kind[name] <= worst[0]:
                i = int(np.argmax(values))
                numbers_there = f"slack {np.ravel(c.slack)[i]:.3g}"
                numbers_there += "" if c.alone else f", multiplier {np.ravel(c.multiplier)[i]:.6g}"
                worst = (kind[name], f"{c.name} {i}", numbers_there)
    certificate = Certificate(
        primal_value=float(primal_value),
        dual_value=float(dual_value),
        gap=float((primal_value - dual_value) / scale),
        scale=float(scale),
        primal=primal,
        dual=dual,
        slackness=slackness,
        rounding=float(rounding),
        worst=worst[1],
        worst_side=worst[2],
        note=note,
    )
    return Judged(certificate, tuple(conditions), numbers)
