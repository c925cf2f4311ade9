"""Maps of two parameters beside ppopt's: the same programs, random points judged by Clarabel, and the time of both.

Run ``python tests/benchmarks/maps_peer.py`` where ``ppopt`` is installed (``pip install ppopt``; no requirement of
anything here, and without it that is said). Programs are those of ``maps.py``. ``none`` counts points that have an
optimum and lie in no region, ``wrong`` those at which the value is off by more than 1e-6; ``failed`` programs for which
ppopt raised, ``late`` those for which it took more than ``--limit`` seconds.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2]))

import paretoclf as pc
from tests.oracles import planar_programs as planar

FAMILIES: dict[str, Callable[[int], pc.QP]] = {
    "quadratic": lambda seed: planar.ordinary(seed, 4, 8),
    "linear": lambda seed: planar.ordinary(seed, 4, 8, True),
    "whole numbers": lambda seed: planar.degenerate_linear(seed, 4, 8),
    "degenerate": planar.degenerate,
}


def ppopt_map(qp: pc.QP) -> Callable[[Any], float | None]:
    """What ppopt says of the value at a point; None where no region holds it."""
    from ppopt.mp_solvers.solve_mpqp import mpqp_algorithm, solve_mpqp
    from ppopt.mplp_program import MPLP_Program
    from ppopt.mpqp_program import MPQP_Program

    A, moves = qp.A.toarray(), [qp.moves[name] for name in planar.SQUARE]
    rows, right, by = [], [], []
    for side, sign in (("u", 1.0), ("l", -1.0)):
        bound = np.asarray(getattr(qp, side))
        finite = np.isfinite(bound)
        rows.append(sign * A[finite])
        right.append(sign * bound[finite])
        by.append(sign * np.stack([move[side][finite] for move in moves], axis=1))
    H = np.stack([move["q"] for move in moves], axis=1)
    square = np.vstack([np.eye(2), -np.eye(2)]), np.ones((4, 1))
    P = qp.P.toarray()
    data = [np.vstack(rows), np.concatenate(right)[:, None], qp.q[:, None], H, *square, np.vstack(by)]
    program = MPQP_Program(*data[:3], data[3], P, *data[4:]) if P.any() else MPLP_Program(*data)
    program.process_constraints()
    solution = solve_mpqp(program, mpqp_algorithm.combinatorial)

    def value(place: Any) -> float | None:
        x = solution.evaluate(np.asarray(place)[:, None])
        if x is None:
            return None
        x = np.ravel(x)
        return float(0.5 * x @ P @ x + (qp.q + H @ place) @ x + qp.constant)

    return value


def judged(qp: pc.QP, value: Callable[[Any], float | None], places: Any) -> tuple[int, int]:
    """Points with an optimum in no region, and points with a wrong value."""
    none = wrong = 0
    for place in places:
        theirs = planar.solved(qp, dict(zip(planar.SQUARE, place.tolist(), strict=True)))
        own = value(place)
        if isinstance(theirs, str):
            wrong += own is not None and "Infeasible" in theirs
        elif own is None:
            none += 1
        else:
            wrong += abs(own - theirs) > 1e-6 * (1.0 + abs(theirs))
    return none, wrong


def ours(qp: pc.QP) -> Callable[[Any], float | None]:
    """The same of our map, which is proved."""
    found = pc.plane(qp, planar.SQUARE, progress=False)

    def value(place: Any) -> float | None:
        try:
            return float(found.value(dict(zip(planar.SQUARE, place.tolist(), strict=True))))
        except pc.InputError:
            return None

    return value


def late(*_: Any) -> None:
    raise TimeoutError


def main() -> None:
    """A line a family and code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="programs of each kind; default: 20")
    parser.add_argument("--points", type=int, default=100, help="random points of each; default: 100")
    parser.add_argument("--limit", type=int, default=20, help="seconds that ppopt may take; default: 20")
    parser.add_argument("--smoke", action="store_true", help="one program of each kind")
    args = parser.parse_args()
    if find_spec("ppopt") is None:
        print("ppopt is not installed: nothing to set beside")
        return
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, late)
    print(
        f"{'programs':<15}{'code':<11}{'maps':>6}{'failed':>8}{'late':>6}{'points':>8}{'none':>6}{'wrong':>7}{'seconds':>9}"
    )
    for family, make in FAMILIES.items():
        for code, mapped in (("paretoclf", ours), ("ppopt", ppopt_map)):
            maps = failed = slow = points = none = wrong = 0
            seconds = 0.0
            for seed in range(1 if args.smoke else args.seeds):
                qp, places = make(seed), np.random.default_rng(seed).uniform(-1, 1, (args.points, 2))
                began = time.process_time()
                signal.alarm(args.limit)
                try:
                    value = mapped(qp)
                except pc.InputError:  # no optimum anywhere
                    continue
                except TimeoutError:
                    slow += 1
                    continue
                except Exception:  # whatever it raises
                    failed += 1
                    continue
                finally:
                    signal.alarm(0)
                    seconds += time.process_time() - began
                missed = judged(qp, value, places)
                maps, points, none, wrong = maps + 1, points + len(places), none + missed[0], wrong + missed[1]
            print(
                f"{family:<15}{code:<11}{maps:>6}{failed:>8}{slow:>6}{points:>8}{none:>6}{wrong:>7}{seconds:>9.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
