"""Full conformal prediction, exactly: optima with one sample more, at ends of lines and along them."""

from paretoclf.conformal.labels import Ranks as Ranks
from paretoclf.conformal.labels import ranks as ranks
