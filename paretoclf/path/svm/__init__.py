"""Paths of support vector machines, one file for each of their parameters."""
