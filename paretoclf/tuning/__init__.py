"""Tuning for minimax and Neyman-Pearson: cross-validated error rates, smoothed, searched, and guaranteed."""

from paretoclf.roc.criteria import ExpectedCost as ExpectedCost
from paretoclf.roc.criteria import Minimax as Minimax
from paretoclf.roc.criteria import NeymanPearson as NeymanPearson
from paretoclf.roc.criteria import NeymanPearsonScore as NeymanPearsonScore
from paretoclf.tuning.bandwidths import bandwidth_grid as bandwidth_grid
from paretoclf.tuning.bandwidths import judge_bandwidths as judge_bandwidths
from paretoclf.tuning.error_arrays import ErrorArrays as ErrorArrays
from paretoclf.tuning.guarantee import Guarantee as Guarantee
from paretoclf.tuning.guarantee import ShiftedRule as ShiftedRule
from paretoclf.tuning.guarantee import guaranteed as guaranteed
from paretoclf.tuning.guarantee import negatives_needed as negatives_needed
from paretoclf.tuning.guarantee import order_statistic as order_statistic
from paretoclf.tuning.held_out import HeldOutLoss as HeldOutLoss
from paretoclf.tuning.held_out import LeastLoss as LeastLoss
from paretoclf.tuning.held_out import cross_validated_loss as cross_validated_loss
from paretoclf.tuning.search import Step as Step
from paretoclf.tuning.search import choose as choose
from paretoclf.tuning.search import coordinate_descent as coordinate_descent
from paretoclf.tuning.search import grid_search as grid_search
from paretoclf.tuning.smoothing import GaussianWindow as GaussianWindow
from paretoclf.tuning.smoothing import MedianWindow as MedianWindow
from paretoclf.tuning.smoothing import smooth as smooth
from paretoclf.tuning.tune import Chosen as Chosen
from paretoclf.tuning.tune import Tuned as Tuned
from paretoclf.tuning.tune import Tuning as Tuning
from paretoclf.tuning.tune import tune as tune
