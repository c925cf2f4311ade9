"""The rules that were applied to a program, in their order."""

from __future__ import annotations

from dataclasses import dataclass

from paretoclf.engine.reduction.rules.stage import ReductionRule, ReductionStage, StagePoints


@dataclass(frozen=True, repr=False)
class Chain:
    """Rules one after the other; it prints what each of them did."""

    rules: tuple[ReductionRule, ...] = ()

    @classmethod
    def applied(cls, stage: ReductionStage, rules: tuple[type[ReductionRule], ...]) -> tuple[ReductionStage, Chain]:
        """Apply each rule that accepts what is left; one that changes nothing is left out."""
        done = []
        for rule in rules:
            if not rule.accepts(stage):
                continue
            after, each = rule.apply(stage)
            if after is not stage:
                done.append(each)
            stage = after
        return stage, cls(tuple(done))

    def __repr__(self) -> str:
        return ", ".join(map(str, self.rules)) or "nothing to reduce"

    def invert(self, point: StagePoints) -> None:
        """Make points of the compiled program of points of what is left of it, in place."""
        for rule in reversed(self.rules):
            rule.invert(point)
