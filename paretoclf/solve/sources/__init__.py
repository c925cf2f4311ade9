"""From problems, arrays and formulations to their programs along a line or over a rectangle."""
