"""From the program that CVXPY compiles to the few items that an engine follows, and back: NumPy only."""
