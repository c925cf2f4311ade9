"""Proofs of quadratic and linear programs along a line: rows, convexity, and why there is no optimum."""
