"""Proofs of smooth pieces: polynomials in t that are near the optimum at every t between two ends."""
