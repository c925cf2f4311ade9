"""The formulations: one file each, the mathematics first, then the CVXPY model."""
