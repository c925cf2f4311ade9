"""What the optimum would be if samples were not there, or cost something else: ends of lines that leave from it."""

from paretoclf.deletion.conformal_labels import ConformalRanks as ConformalRanks
from paretoclf.deletion.conformal_labels import conformal_ranks as conformal_ranks
from paretoclf.deletion.conformal_targets import TargetPValues as TargetPValues
from paretoclf.deletion.conformal_targets import target_p_values as target_p_values
from paretoclf.deletion.weighing import Influence as Influence
from paretoclf.deletion.weighing import influence as influence
