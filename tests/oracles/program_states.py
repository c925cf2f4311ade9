"""States of the rows and variables of small programs, in fractions: the oracle of events. Nothing of paths is used."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np

import paretoclf as pc
from tests.oracles.small_programs import dot, optima, solved

INF = np.inf
FREE, PRICELESS = "free", " without a price"


@dataclass(frozen=True)
class SmallProgram:
    """A program in whole numbers: ``low <= A x <= high``, bounds of variables, and what moves by a unit of s."""

    P: np.ndarray
    q: np.ndarray
    A: np.ndarray
    low: np.ndarray
    high: np.ndarray
    least: np.ndarray
    most: np.ndarray
    moves: Mapping[str, np.ndarray]
    maximise: bool
    ends: tuple[int, int]

    @property
    def columns(self):
        return [f"v{k}" for k in range(self.q.size)]

    @property
    def rows(self):
        return [f"r{k}" for k in range(self.low.size)]

    @classmethod
    def drawn(cls, seed: int) -> SmallProgram:
        """Of 2 or 3 variables, up to 2 columns that pay for the violation of a row, and rows of every kind."""
        rng = np.random.default_rng(seed)
        core, m = int(rng.integers(2, 4)), int(rng.integers(2, 4))
        A = rng.integers(-1, 4, (m, core)).astype(float)
        low, high = np.full(m, -INF), np.full(m, INF)
        for i, kind in enumerate(rng.integers(0, 4, m)):
            side = float(rng.integers(1, 7))
            if kind in (0, 2):
                high[i] = side + 3.0 * (kind == 2)
            if kind in (1, 2):
                low[i] = side if kind == 1 else side - 2.0
            if kind == 3 and i == 0:
                low[i] = high[i] = side
            elif kind == 3:
                low[i] = side
        least, most = np.zeros(core), np.full(core, 8.0)
        for j in range(core):
            least[j] = (0.0, -INF, -5.0)[int(rng.choice(3, p=[0.6, 0.2, 0.2]))]
            most[j] = INF if rng.random() < 0.5 else most[j]
        q = rng.integers(0, 5, core).astype(float)
        curved = rng.random() < 0.4
        P = np.diag(rng.integers(1, 4, core).astype(float)) * curved
        maximise = bool(rng.random() < 0.3)
        # Columns that cost: what a row lacks, or has too much of.
        for i in rng.permutation(m)[: int(rng.integers(0, 3))]:
            if low[i] == high[i]:
                continue
            column = np.zeros((m, 1))
            column[i] = 1.0 if np.isfinite(low[i]) else -1.0
            A, q = np.hstack([A, column]), np.append(q, float(rng.integers(3, 12)))
            least, most = np.append(least, 0.0), np.append(most, INF)
            P = np.pad(P, (0, 1))
        extra = int(rng.integers(0, 3))  # rows of one entry, beside each other and beside bounds
        for _ in range(extra):
            row = np.zeros((1, q.size))
            row[0, int(rng.integers(0, core))] = float(rng.choice([1, 2, -1]))
            A = np.vstack([A, row])
            low, high = np.append(low, -INF), np.append(high, INF)
            side = float(rng.integers(1, 7))
            if rng.random() < 0.5:
                high[-1] = 2.0 * side
            else:
                low[-1] = -side
        if rng.random() < 0.2:  # a row twice
            A, low, high = np.vstack([A, A[:1]]), np.append(low, low[0]), np.append(high, high[0])
        moves = {"q": np.zeros(q.size), "l": np.zeros(low.size), "u": np.zeros(low.size)}
        if rng.random() < 0.4:
            moves["q"][:core] = rng.integers(-1, 2, core)
        for i in range(low.size):
            step = float(rng.integers(0, 3)) if rng.random() < 0.6 else 0.0
            if np.isfinite(low[i]):
                moves["l"][i] = step
            if np.isfinite(high[i]):
                moves["u"][i] = step
        sign = -1.0 if maximise else 1.0
        made = cls(sign * P, sign * q, A, low, high, least, most, moves, maximise, (0, 9))
        if not any(each.any() for each in moves.values()):
            moves["q"][0] = 1.0
        return made

    # ---- the same program at three doors ----

    def arrays(self, named: bool = True) -> pc.QP:
        """Rows and bounds as a `QP`, as it is read from a file where it has names."""
        bounded = np.flatnonzero(np.isfinite(self.least) | np.isfinite(self.most))
        rows = np.vstack([self.A, np.eye(self.q.size)[bounded]])
        low, high = (
            np.concatenate(pair) for pair in ((self.low, self.least[bounded]), (self.high, self.most[bounded]))
        )
        moves = {
            key: np.append(each, np.zeros(bounded.size)) if key != "q" else each for key, each in self.moves.items()
        }
        names = (self.columns, [*self.rows, *(f"bound of {self.columns[j]}" for j in bounded)]) if named else None
        how = {"moves": {"s": moves}, "maximise": self.maximise, "names": names}
        return pc.QP(self.P if self.P.any() else None, self.q, rows, low, high, **how)

    def cvxpy(self) -> tuple[cp.Problem, cp.Parameter]:
        """Constraints with labels, one a side of a row; bounds as attributes of the variables."""
        s = cp.Parameter(name="s")
        x = [
            cp.Variable(name=name, bounds=[None if np.isinf(a) else a, None if np.isinf(b) else b])
            if np.isfinite(a) or np.isfinite(b)
            else cp.Variable(name=name)
            for name, a, b in zip(self.columns, self.least, self.most, strict=True)
        ]
        cost = sum((self.q[j] + self.moves["q"][j] * s) * x[j] for j in range(self.q.size))
        sign = -1.0 if self.maximise else 1.0
        squares = sum(abs(self.P[j, j]) / 2 * cp.square(x[j]) for j in range(self.q.size) if self.P[j, j])
        objective = cp.Maximize(cost - squares) if self.maximise else cp.Minimize(cost + squares)
        assert (sign * np.diag(self.P) >= 0).all()
        rows = []
        for i, name in enumerate(self.rows):
            left = sum(self.A[i, j] * x[j] for j in range(self.q.size) if self.A[i, j])
            low, high = self.low[i] + self.moves["l"][i] * s, self.high[i] + self.moves["u"][i] * s
            if self.is_equation(i):
                rows.append((left == high).set_label(name))
                continue
            if np.isfinite(self.low[i]):
                rows.append((left >= low).set_label(f"{name} from below"))
            if np.isfinite(self.high[i]):
                rows.append((left <= high).set_label(f"{name} from above"))
        return cp.Problem(objective, rows), s

    def linear(self, ranges: bool = True) -> SmallProgram:
        """The same program without squares, and perhaps without lower sides of ranges, which an LP file has not."""
        low, moves = self.low.copy(), {key: each.copy() for key, each in self.moves.items()}
        if not ranges:
            both = np.isfinite(self.low) & np.isfinite(self.high)
            gone = both & ~np.array([self.is_equation(i) for i in range(low.size)])
            low[gone], moves["l"][gone] = -INF, 0.0
        return replace(self, P=0.0 * self.P, low=low, moves=moves)

    def lp(self) -> str:
        """The program as an LP file, at s = 0."""

        def terms(values, zeros=False):
            return " ".join(f"{v:+g} {c}" for v, c in zip(values, self.columns, strict=True) if v or zeros)

        lines = ["Maximize" if self.maximise else "Minimize", f" obj: {terms(self.q, zeros=True)}", "Subject To"]
        for i, name in enumerate(self.rows):
            sign = "=" if self.is_equation(i) else "<=" if np.isfinite(self.high[i]) else ">="
            lines.append(f" {name}: {terms(self.A[i])} {sign} {self.low[i] if sign == '>=' else self.high[i]:g}")
        lines.append("Bounds")
        for name, a, b in zip(self.columns, self.least, self.most, strict=True):
            lines.append(f" {a:g} <= {name} <= {b:g}")
        return "\n".join([*lines, "End", ""])

    def mps(self) -> str:
        """The program as an MPS file, at s = 0."""
        lines, tail = ["NAME", "OBJSENSE", f" {'MAX' if self.maximise else 'MIN'}", "ROWS", " N obj"], []
        sides = []
        for i, name in enumerate(self.rows):
            sign = "E" if self.is_equation(i) else "L" if np.isfinite(self.high[i]) else "G"
            lines.append(f" {sign} {name}")
            sides.append(f" RHS {name} {self.low[i] if sign == 'G' else self.high[i]:g}")
            if sign == "L" and np.isfinite(self.low[i]):
                tail.append(f" RNG {name} {self.high[i] - self.low[i]:g}")
        lines.append("COLUMNS")
        for j, name in enumerate(self.columns):
            lines.append(f" {name} obj {self.q[j]:g}")
            lines += [f" {name} {row} {self.A[i, j]:g}" for i, row in enumerate(self.rows) if self.A[i, j]]
        lines += ["RHS", *sides, *(["RANGES", *tail] if tail else []), "BOUNDS"]
        for name, a, b in zip(self.columns, self.least, self.most, strict=True):
            lines.append(f" MI BND {name}" if np.isinf(a) else f" LO BND {name} {a:g}")
            lines += [f" UP BND {name} {b:g}"] if np.isfinite(b) else []
        return "\n".join([*lines, "ENDATA", ""])

    def file_moves(self) -> tuple[dict[str, str], dict[str, float], dict[str, float]]:
        """What moves in the file, by the command line's words for it, and its values at both ends."""
        words, begin = dict[str, str](), dict[str, float]()
        steps = dict[str, float]()
        for j, name in enumerate(self.columns):
            words[f"q{j}"], begin[f"q{j}"], steps[f"q{j}"] = f"cost:{name}", self.q[j], self.moves["q"][j]
        for i, name in enumerate(self.rows):
            if self.is_equation(i):
                words[f"u{i}"], begin[f"u{i}"], steps[f"u{i}"] = f"rhs:{name}", self.high[i], self.moves["u"][i]
                continue
            for key, kind, side, move in (("l", "lower", self.low, "l"), ("u", "upper", self.high, "u")):
                if np.isfinite(side[i]):
                    own = f"{key}{i}"
                    words[own], begin[own], steps[own] = f"{kind}:{name}", side[i], self.moves[move][i]
        moving = [key for key, step in steps.items() if step]
        ends = ({key: float(begin[key] + s * steps[key]) for key in moving} for s in self.ends)
        return {key: words[key] for key in moving}, *ends

    def is_equation(self, i: int) -> bool:
        """Whether both sides of a row are one number all along."""
        return bool(self.low[i] == self.high[i] and self.moves["l"][i] == self.moves["u"][i])

    # ---- its optimum in fractions ----

    def at(self, t: float) -> Point | None:
        """The only optimum at t of the line; None where there are more, or none."""
        s = self.ends[0] + Fraction(t) * (self.ends[1] - self.ends[0])
        sign = -1 if self.maximise else 1
        exact = np.vectorize(lambda v: Fraction(v) if np.isfinite(v) else v, otypes=[object])
        q = [sign * (a + s * b) for a, b in zip(exact(self.q), exact(self.moves["q"]), strict=True)]
        P = (sign * exact(self.P)).tolist()
        sides = []  # name, whether it is an upper bound, row, right-hand side, whether it is an equation
        for i, name in enumerate(self.rows):
            row = exact(self.A[i]).tolist()
            if np.isfinite(self.high[i]):
                sides.append((name, True, row, Fraction(self.high[i]) + s * Fraction(self.moves["u"][i]), i))
            if np.isfinite(self.low[i]):
                down = [-v for v in row]
                sides.append((name, False, down, -Fraction(self.low[i]) - s * Fraction(self.moves["l"][i]), i))
        for j, name in enumerate(self.columns):
            unit = [Fraction(int(k == j)) for k in range(len(q))]
            if np.isfinite(self.most[j]):
                sides.append((name, True, unit, Fraction(self.most[j]), -1))
            if np.isfinite(self.least[j]):
                sides.append((name, False, [-v for v in unit], -Fraction(self.least[j]), -1))
        A, b = [each[2] for each in sides], [each[3] for each in sides]
        found = optima(P, q, A, b)
        if isinstance(found, str) or len(found[1]) != 1:
            return None
        x = found[1][0]
        slack = [side - dot(row, x) for row, side in zip(A, b, strict=True)]
        return Point(self, [(each[0], each[1], each[4]) for each in sides], slack, self._prices(P, q, A, slack, x))

    def _prices(self, P: Any, q: Any, A: Any, slack: Any, x: Any) -> list[Fraction] | None:
        """The only multipliers of all sides; None where there are more."""
        tight = [k for k, own in enumerate(slack) if own == 0]
        kept = [k for k in tight if not any(self._opposite(A[k], A[j]) for j in tight if j < k)]
        gradient = [-(dot(row, x) + cost) for row, cost in zip(P, q, strict=True)]
        gram = [[dot(A[i], A[j]) for j in kept] for i in kept]
        z = solved(gram, [dot(A[i], gradient) for i in kept])
        if z is None:
            return None
        found = [Fraction(0)] * len(A)
        for k, price in zip(kept, z, strict=True):
            found[k] = price
        return found

    @staticmethod
    def _opposite(a: Any, b: Any) -> bool:
        """Whether one is minus the other: the two sides of an equation."""
        return all(u == -v for u, v in zip(a, b, strict=True))


@dataclass(frozen=True)
class Point:
    """The optimum at one t: slacks of all sides, and their prices where these are known."""

    program: SmallProgram
    sides: list[tuple[str, bool, int]]
    slack: list[Fraction]
    prices: list[Fraction] | None

    def states(self, door: str) -> dict[str, str]:
        """Words for all constraints and variables that are no equations, by the names that they have at a door."""
        own: dict[str, list[tuple[bool, int]]] = {}
        for k, (name, upper, i) in enumerate(self.sides):
            if i >= 0 and self.program.is_equation(i):
                continue
            called, is_upper = self._called(k, name, upper, i, door)
            own.setdefault(called, []).append((is_upper, k))
        return {called: self._word(each, called, door) for called, each in own.items()}

    def _called(self, k: int, name: str, upper: bool, i: int, door: str) -> tuple[str, bool]:
        """A row of one entry is its variable's where there is no other on that side; else it has its own name."""
        entries = np.flatnonzero(self.program.A[i]) if i >= 0 else np.zeros(0)
        if i >= 0 and entries.size == 1:
            j = int(entries[0])
            above = upper == (self.program.A[i, j] > 0)
            others = 0
            for number, (_, their_upper, row) in enumerate(self.sides):
                if number == k:
                    continue
                if row < 0:
                    others += self.sides[number][0] == self.program.columns[j] and their_upper == above
                elif np.flatnonzero(self.program.A[row]).tolist() == [j]:
                    others += (their_upper == (self.program.A[row, j] > 0)) == above
            if not others:
                return self.program.columns[j], above
        if i >= 0 and door == "cvxpy":
            return f"{name} from {'above' if upper else 'below'}", upper
        return name, upper

    def _word(self, sides: list[tuple[bool, int]], called: str, door: str) -> str:
        tight = [(upper, k) for upper, k in sides if self.slack[k] == 0]
        if not tight:
            return FREE
        if door == "cvxpy" and "from" in called:
            word = "tight"
        else:
            both = {upper for upper, _ in tight}
            word = "at both its bounds" if len(both) == 2 else f"at its {'upper' if both == {True} else 'lower'} bound"
        if self.prices is None:
            return f"{word}?"
        return word if any(self.prices[k] != 0 for _, k in tight) else word + PRICELESS


def same(said: str, state: str) -> bool:
    """Whether words are those of a state; of a price that is not the only one nothing is asked."""
    return said.removesuffix(PRICELESS) == state[:-1] if state.endswith("?") else said == state


def compared(program: SmallProgram, path: Any, door: str, events: Any = None, prices: bool = True) -> list[str]:
    """What of the events of a path is false, and what is missing; and how many were looked at, in the first entry."""
    knots = path.breakpoints
    middles = [float(0.5 * (a + b)) for a, b in itertools.pairwise(knots)]
    points = [program.at(t) for t in middles]
    wrong, looked = [], 0
    changes = path.events if events is None else events
    for j, t in enumerate(knots[1:-1].tolist()):
        own = {event.name: event for event in changes if event.t == t}
        if points[j] is None or points[j + 1] is None:
            continue
        before, after = (each.states(door) for each in points[j : j + 2])
        if not prices:
            before, after = (
                {k: w.removesuffix(PRICELESS).removesuffix("?") for k, w in each.items()} for each in (before, after)
            )
        for name, event in own.items():
            looked += 1
            known = name in before and same(event.before, before[name]) and same(event.after, after[name])
            if not known:
                wrong.append(f"false: {event}; in truth {before.get(name)} -> {after.get(name)}")
        for name in before:
            a, b = before[name], after[name]
            unsure = a.endswith("?") or b.endswith("?")
            changed = (
                a.removesuffix(PRICELESS).rstrip("?") != b.removesuffix(PRICELESS).rstrip("?") if unsure else a != b
            )
            if changed and name not in own:
                wrong.append(f"missing at t = {t}: {name} {a} -> {b}")
    return [str(looked), *wrong]
