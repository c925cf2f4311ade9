"""Paths of convex problems as curves: polynomials in t between events."""
