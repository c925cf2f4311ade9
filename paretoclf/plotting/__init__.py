"""Figures. Each is an object that holds what it shows, in the manner of scikit-learn's Display objects."""

from paretoclf.plotting.boundary import BoundaryDisplay as BoundaryDisplay
from paretoclf.plotting.duality import duality_page as duality_page
from paretoclf.plotting.empirical import EmpiricalDisplay as EmpiricalDisplay
from paretoclf.plotting.errors import ErrorCurveDisplay as ErrorCurveDisplay
from paretoclf.plotting.errors import GridErrorsDisplay as GridErrorsDisplay
from paretoclf.plotting.feasible_region import FeasibleRegionDisplay as FeasibleRegionDisplay
from paretoclf.plotting.guarantees import GuaranteePathDisplay as GuaranteePathDisplay
from paretoclf.plotting.hulls import HullsDisplay as HullsDisplay
from paretoclf.plotting.hulls import plot_hulls as plot_hulls
from paretoclf.plotting.nested import NestedRocDisplay as NestedRocDisplay
from paretoclf.plotting.nu_grid import NuGridDisplay as NuGridDisplay
from paretoclf.plotting.path import PathDisplay as PathDisplay
from paretoclf.plotting.path import plot_paths as plot_paths
from paretoclf.plotting.plane import PlaneDisplay as PlaneDisplay
from paretoclf.plotting.population import AsymmetryDisplay as AsymmetryDisplay
from paretoclf.plotting.population import DensityDisplay as DensityDisplay
from paretoclf.plotting.population import PopulationRocDisplay as PopulationRocDisplay
from paretoclf.plotting.problem import ProblemPathDisplay as ProblemPathDisplay
from paretoclf.plotting.problem_map import ProblemMapDisplay as ProblemMapDisplay
from paretoclf.plotting.ranges import RangesDisplay as RangesDisplay
from paretoclf.plotting.roc import RocDisplay as RocDisplay
from paretoclf.plotting.sweep import SweepDisplay as SweepDisplay
from paretoclf.plotting.sweep import plot_sweep as plot_sweep
from paretoclf.plotting.tradeoff import TradeoffDisplay as TradeoffDisplay
from paretoclf.plotting.tuning import TuningDisplay as TuningDisplay
from paretoclf.plotting.value import ValueDisplay as ValueDisplay
