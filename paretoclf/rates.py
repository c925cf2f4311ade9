"""Rates: what an error of a half-space is at most, by its distance from the mean of a class."""

from paretoclf.gaussian.rates import ChebyshevRate as ChebyshevRate
from paretoclf.gaussian.rates import GaussianRate as GaussianRate
from paretoclf.gaussian.rates import KLRate as KLRate
from paretoclf.gaussian.rates import Rate as Rate
from paretoclf.gaussian.rates import ScaleMixtureRate as ScaleMixtureRate
from paretoclf.gaussian.rates import StudentRate as StudentRate
