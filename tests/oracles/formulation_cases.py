"""One case for each variant of each registered formulation: data, parameters, signs, and what must be refused.

The discipline of tests/formulations/test_registry.py runs over all of them; a registered formulation without a case
fails it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import paretoclf as pc
from paretoclf.distributions.population import Mixture, Population
from paretoclf.formulations import (
    BiasedMinimaxProbabilityMachine,
    ExtremeAsymmetry,
    MarginInNorm,
    ParetoGaussianQP,
)


@dataclass(frozen=True)
class Case:
    """A formulation on random data.

    Attributes
    ----------
    name : str
        Of the formulation, as registered.
    make : callable
        From a random generator to an instance.
    values : sequence of mapping
        At least two parameter values; one without numbers for a formulation without parameters.
    nonnegative : sequence of (form, name)
        Variables and multipliers of the programs whose stated sign is nonnegative.
    scale : callable
        From parameter values to what a program's objective must be multiplied by to give the solution's value. (Where
        that depends on the data the formulation has it as its ``unit``.)
    bad : sequence of mapping
        Parameter values that must be refused before anything is solved.
    some : callable
        From an instance to samples that its classifier can be asked about.
    """

    name: str
    make: Callable[[np.random.Generator], Any]
    values: tuple[Mapping[str, float], ...]
    nonnegative: tuple[tuple[str, str], ...] = ()
    scale: Callable[[Mapping[str, float]], float] = field(default=lambda values: 1.0)
    bad: tuple[Mapping[str, Any], ...] = ()
    variant: str = ""
    tol: float = 1e-11  # cone programs end short of what quadratic ones reach
    some: Callable[[Any], Any] = field(default=lambda formulation: formulation.X[:5])

    @property
    def id(self) -> str:
        return f"{self.name}{'-' if self.variant else ''}{self.variant}"


def samples(rng, n=36, d=3, shift=0.5):
    y = np.where(np.arange(n) < n // 3, 1.0, -1.0)
    return rng.normal(size=(n, d)) + shift * y[:, None], y


def population(rng, d=3):
    """Three components each, none of them near another."""
    classes = []
    for shift in (0.7, -0.7):
        roots = rng.normal(size=(3, d, d))
        covariances = [R @ R.T / d + 0.3 * np.eye(d) for R in roots]
        weights = rng.dirichlet(np.full(3, 5.0))
        classes.append(Mixture(rng.normal(size=(3, d)) + shift, covariances, weights))
    return Population(*classes, prior_plus=0.3)


KERNELS = {"linear": None, "rbf": pc.RBF(1.5)}
NOT_NUMBERS = ("one", float("nan"), float("inf"), -1.0)


def bad(values, **wrong):
    """Every parameter missing, not a number and out of range; an unknown one."""
    out = [{k: v for k, v in values.items() if k != name} for name in values]
    out += [{**values, name: w} for name in values for w in NOT_NUMBERS]
    return (*out, {**values, "unknown": 1.0}, *({**values, **{k: v}} for k, v in wrong.items()))


def cases():
    costs = ({"C_plus": 1.5, "C_minus": 0.7}, {"C_plus": 0.02, "C_minus": 0.4})
    box = (("primal", "margin"), ("primal", "slack"), ("primal", "xi"), ("dual", "alpha"), ("dual", "upper"))
    for kernel_name, kernel in KERNELS.items():
        yield Case(
            "TwoCSVM",
            lambda rng, k=kernel: pc.TwoCSVM(*samples(rng), k),
            costs,
            (*box, ("dual", "lower")),
            bad=bad(costs[0]),
            variant=kernel_name,
        )
        for by, values in (
            ("asymmetry", ({"nu": 0.3, "asymmetry": 0.5}, {"nu": 0.25, "asymmetry": 0.7})),
            ("classes", ({"nu_plus": 0.7, "nu_minus": 0.45}, {"nu_plus": 0.4, "nu_minus": 0.9})),
        ):
            out_of_range = {"nu": 0.9, "nu_plus": 1.01} if by == "asymmetry" else {"nu_plus": 1.01, "nu_minus": 0.0}
            yield Case(
                "TwoNuSVM",
                lambda rng, k=kernel, by=by: pc.TwoNuSVM(*samples(rng), k, by=by),
                values,
                (*box, ("primal", "rho"), ("dual", "total")),  # the multiplier of rho >= 0 is 0
                bad=bad(values[0], **out_of_range),
                variant=f"{kernel_name}-{by}",
            )
        for bias in (False, True):
            values = ({"tau": 0.3, "lam": 0.05}, {"tau": 0.8, "lam": 0.4})
            yield Case(
                "QuantileSVM",
                lambda rng, k=kernel, bias=bias: pc.QuantileSVM(*samples(rng), k, bias=bias),
                values,
                (*box, ("dual", "lower")),
                scale=lambda values: values["lam"],
                bad=bad(values[0], tau=1.1, lam=0.0),
                variant=f"{kernel_name}{'-bias' if bias else ''}",
            )
        for soft in (False, True):
            values = ({"theta": 0.4, **costs[0]}, {"theta": 3.0, **costs[1]})
            values = values if soft else tuple({"theta": v["theta"]} for v in values)
            signs = (("primal", "margin"), ("dual", "alpha"), ("dual", "sign"))
            yield Case(
                "BiobjectiveMargin",
                lambda rng, k=kernel, soft=soft: pc.BiobjectiveMargin(*samples(rng, shift=2.5), k, soft=soft),
                values,
                (*signs, ("primal", "xi")) if soft else signs,
                bad=bad(values[0], theta=0.0),
                variant=f"{kernel_name}-{'soft' if soft else 'hard'}",
            )
        for norm in ("l1", "l2", "linf") if kernel is None else ():
            values = (
                {"theta": 0.4, "radius": 0.05, "C_plus": 0.8, "C_minus": 0.5},
                {"theta": 3.0, "radius": 0.0, "C_plus": 0.6, "C_minus": 1.4},
            )
            signs = (("primal", "margin"), ("primal", "slack"), ("primal", "xi"), ("dual", "alpha"), ("dual", "upper"))
            yield Case(
                "MarginInNorm",
                lambda rng, norm=norm: MarginInNorm(*samples(rng), norm=norm),
                values,
                signs,
                bad=bad(values[0], theta=0.0, C_plus=0.0),
                variant=norm,
                tol=1e-9,
            )
        for loss in ("square", "hinge", "logistic", "erf"):
            values = ({**costs[0], "ridge": 0.8}, {**costs[1], "ridge": 2.0})
            signs = {"square": (), "hinge": box, "logistic": (("primal", "margin"), ("dual", "alpha"))}
            yield Case(
                "SurrogateRisk",
                lambda rng, k=kernel, loss=loss: pc.SurrogateRisk(*samples(rng), k, loss=loss),
                values,
                signs.get(loss, (("primal", "margin"),)),
                bad=tuple(b for b in bad(values[0], C_plus=0.0, ridge=0.0) if len(b) > 2 or "ridge" in b),
                variant=f"{kernel_name}-{loss}",
            )
    yield from gaussian_cases()


def gaussian_cases():
    cone = (("primal", "normalisation"), ("primal", "positives"), ("primal", "negatives"), ("primal", "s_plus"))
    balls = (("dual", "ball of the positives"), ("dual", "ball of the negatives"), ("dual", "value"))
    for kernel_name, kernel in KERNELS.items():
        reg = 0.0 if kernel is None else 0.1
        for cls, values, signs, wrong in (
            (pc.ParetoGaussian, ({"lam": 0.6}, {"lam": 3.0}), (*cone, *balls), {"lam": 0.0}),
            (
                ParetoGaussianQP,
                ({"t": 0.6}, {"t": 3.0}),
                (("primal", "normalisation"), ("dual", "nu")),
                {},
            ),
            (pc.MinimaxProbabilityMachine, ({},), (*cone, *balls), {}),
            (
                BiasedMinimaxProbabilityMachine,
                ({"u_plus": 0.3}, {"u_plus": 0.6}),
                (("primal", "unit deviation of the negatives"), ("dual", "ball of the positives"), ("dual", "size")),
                {"u_plus": 99.0},
            ),
        ):
            yield Case(
                cls.__name__,
                lambda rng, k=kernel, reg=reg, cls=cls: cls(*samples(rng), k, reg=reg),
                values,
                signs,
                bad=bad(values[0], **wrong),
                variant=kernel_name,
                tol=1e-9,
            )
    for end in (0, 1):
        yield Case(
            "ExtremeAsymmetry",
            lambda rng, end=end: ExtremeAsymmetry(population(rng), end),
            ({},),
            (("primal", "xi"),),
            bad=bad({}),
            variant=f"asymmetry to {end}",
            tol=1e-9,
            some=lambda formulation: formulation.mixture.means,
        )
    zeta = ({"zeta": 20.0}, {"zeta": 80.0})
    yield Case(
        "SProcedure",
        lambda rng: pc.SProcedure(*samples(rng)),
        zeta,
        (
            ("primal", "squares"),
            ("primal", "bound on the positives"),
            ("primal", "V"),
            ("dual", "tau"),
            ("dual", "s"),
        ),
        bad=bad(zeta[0], zeta=1e-6),
        tol=1e-9,
    )


CASES = tuple(cases())

#: Those of one convex problem; the others search over such.
FORMULATIONS = tuple(case for case in CASES if isinstance(case.make(np.random.default_rng(5)), pc.Formulation))
