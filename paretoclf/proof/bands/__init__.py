"""Proofs of paths within eps: bounds between pairs of points of a line of cone programs."""
