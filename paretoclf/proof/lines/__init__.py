"""Proofs of lines of classifiers, a file for each family, and the one entry to them."""
