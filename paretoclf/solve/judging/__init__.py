"""Judges of problems in CVXPY: from a problem, and points of anybody, to bounds in its own names."""
