"""Three classic faults of path solvers, planted in a right path, and what the certificate says about each.

Run it with ``python examples/verify_your_solver.py``. Nothing is written. For a file of your own solver there is
``paretoclf verify FILE --data FILE``.
"""

from __future__ import annotations

import numpy as np

import paretoclf as pc

Solutions = list[tuple[float, float, np.ndarray, float]]


def samples(n_plus: int, n_minus: int) -> tuple[np.ndarray, np.ndarray]:
    """Two noisy classes, one the mirror image of the other as far as both reach."""
    noise = np.random.default_rng(0).normal(size=(max(n_plus, n_minus), 2)) + 0.7
    return np.vstack([noise[:n_plus], -noise[:n_minus]]), np.repeat([1.0, -1.0], [n_plus, n_minus])


def right(X: np.ndarray, y: np.ndarray) -> Solutions:
    """What a path solver hands over: costs, multipliers and intercept at every breakpoint after the first."""
    path = pc.trace(pc.TwoCSVM(X, y), start=(0.2, 0.2), stop=(4.0, 4.0))
    return [(*path.costs(t), path.alpha(t), path.intercept(t)) for t in path.breakpoints]


def past_an_event(solutions: Solutions, missed: int) -> Solutions:
    """Fault 1: one event is overlooked, and everything moves on as it did before it."""
    C_before, _, alpha_before, b_before = solutions[missed - 1]
    C_event, _, alpha_event, b_event = solutions[missed]
    wrong = list(solutions[: missed + 1])
    for C_plus, C_minus, _, _ in solutions[missed + 1 :]:
        share = (C_plus - C_before) / (C_event - C_before)
        alpha = alpha_before + share * (alpha_event - alpha_before)
        wrong.append((C_plus, C_minus, alpha, b_before + share * (b_event - b_before)))
    return wrong


def wrong_sign(solutions: Solutions) -> Solutions:
    """Fault 2: the intercept has the wrong sign. With classes that mirror each other it is zero, and nobody notices."""
    return [(C_plus, C_minus, alpha, -b) for C_plus, C_minus, alpha, b in solutions]


def drift(solutions: Solutions, growth: float = 10.0) -> Solutions:
    """Fault 3: multipliers are updated and never computed afresh, so that each event multiplies the rounding error."""
    rng = np.random.default_rng(0)
    return [
        (C_plus, C_minus, alpha + 1e-16 * growth**k * C_plus * rng.normal(size=alpha.size), b)
        for k, (C_plus, C_minus, alpha, b) in enumerate(solutions)
    ]


def main() -> None:
    """Judge the right path and the three wrong ones."""
    for n_minus in (12, 18):
        X, y = samples(12, n_minus)
        solutions = right(X, y)
        print(f"\n12 positives, {n_minus} negatives: {len(solutions)} solutions")
        for name, given in {
            "no fault": solutions,
            "past event 5": past_an_event(solutions, 5),
            "wrong sign": wrong_sign(solutions),
            "drift": drift(solutions),
        }.items():
            report = pc.verify(X, y, given)
            first = report.first_failure()
            verdict = (
                "all optimal"
                if first is None
                else f"first failure: row {first}, {report.verdict(first)}. {report[first].explain()}"
            )
            print(f"  {name:<13} {verdict}")


if __name__ == "__main__":
    main()
