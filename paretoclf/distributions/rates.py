"""Rates: what an error of a half-space is at most, by its distance from the mean of a class."""

from paretoclf.distributions.gaussian.rates import ChebyshevRate as ChebyshevRate
from paretoclf.distributions.gaussian.rates import GaussianRate as GaussianRate
from paretoclf.distributions.gaussian.rates import KLRate as KLRate
from paretoclf.distributions.gaussian.rates import Rate as Rate
from paretoclf.distributions.gaussian.rates import ScaleMixtureRate as ScaleMixtureRate
from paretoclf.distributions.gaussian.rates import StudentRate as StudentRate
