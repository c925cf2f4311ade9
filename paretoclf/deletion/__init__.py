"""What the optimum would be if samples were not there, or cost something else: ends of lines that leave from it."""

from paretoclf.deletion.influence import Influence as Influence
from paretoclf.deletion.influence import influence as influence
