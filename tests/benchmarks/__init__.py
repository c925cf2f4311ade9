"""Benchmarks, run by hand: ``python tests/benchmarks/NAME.py``."""
