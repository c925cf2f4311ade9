"""Both bounds of a problem with box constraints in exact rational arithmetic: theorems about the given numbers.

A double is an integer times a power of two. So sums of products of doubles are integers times a power of two, and the
two objectives at the given points are rational numbers: weak duality then holds without any rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from paretoclf.proof.verdicts.certificate import Certificate


class ExactBounds(NamedTuple):
    """Objectives at a feasible dual and at a feasible primal point: the optimal value lies between them."""

    dual: Fraction
    primal: Fraction


@dataclass(frozen=True, repr=False, kw_only=True)
class ExactCertificate(Certificate):
    """A certificate whose two bounds are theorems about the given numbers: computed in rational arithmetic.

    Attributes
    ----------
    bounds : pair of Fraction
        The dual and the primal objective. ``dual_value`` and ``primal_value`` are these, rounded outwards.
    """

    bounds: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))


def exactly(certificate: Certificate, found: ExactBounds) -> ExactCertificate:
    """Replace the bounds of a certificate by ones that are not rounded."""
    primal, dual = float(found.primal), float(found.dual)
    if primal < found.primal:
        primal = float(np.nextafter(primal, np.inf))
    if dual > found.dual:
        dual = float(np.nextafter(dual, -np.inf))
    given = {f.name: getattr(certificate, f.name) for f in fields(certificate)}
    gap = float((found.primal - found.dual) / Fraction(certificate.scale)) if certificate.scale else 0.0
    given |= {"primal_value": primal, "dual_value": dual, "gap": gap, "rounding": 0.0, "certain": None}
    return ExactCertificate(**given, bounds=(found.dual, found.primal))
