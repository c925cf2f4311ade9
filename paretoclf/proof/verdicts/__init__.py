"""Verdicts: of a point, of many cells, and the scale that their numbers are relative to."""
