"""The sets that a path divides the samples into."""

from __future__ import annotations

#: Multiplier 0; at its cap; in the working margin set; or its cap is zero all along, and it takes no part.
RIGHT, LEFT, MARGIN, OUT = 0, 1, 2, 3
