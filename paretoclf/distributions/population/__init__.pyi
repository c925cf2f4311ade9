"""Two classes whose distributions are known: what a convex loss does to a linear classifier without any sample."""

from .classes import Mixture as Mixture
from .classes import Population as Population
from .curve import InterceptCurve as InterceptCurve
from .curve import PopulationCurve as PopulationCurve
from .curve import intercept_curve as intercept_curve
from .curve import population_curve as population_curve
from .expansions import Expansion as Expansion
from .expansions import population_expansion as population_expansion
from .likelihood_ratio import LikelihoodRatioCurve as LikelihoodRatioCurve
from .likelihood_ratio import LikelihoodRatioRule as LikelihoodRatioRule
from .likelihood_ratio import likelihood_ratio_curve as likelihood_ratio_curve
from .regimes import Regimes as Regimes
from .regimes import population_regimes as population_regimes
from .solution import PopulationSolution as PopulationSolution
from .solution import hinge_thresholds as hinge_thresholds
from .solution import population_solution as population_solution
