"""Names of `paretoclf.path.deletion`: where each is, for type checkers and for whoever imports it."""

from .conformal_labels import ConformalRanks as ConformalRanks
from .conformal_labels import conformal_ranks as conformal_ranks
from .conformal_targets import TargetPValues as TargetPValues
from .conformal_targets import target_p_values as target_p_values
from .weighing import Influence as Influence
from .weighing import influence as influence
