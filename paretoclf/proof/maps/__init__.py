"""Proofs of maps: every pair of parameters, region by region."""
