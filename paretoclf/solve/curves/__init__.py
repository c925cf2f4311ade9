"""Smooth pieces of the path of a cone program, found by Newton's method between events."""
