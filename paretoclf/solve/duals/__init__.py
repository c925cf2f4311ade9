"""Duals of anybody's convex problem: the table of conjugates, the walk of its tree, and what is read from it."""
