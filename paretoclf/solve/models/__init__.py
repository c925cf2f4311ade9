"""What the solving side asks of a formulation, and CVXPY, imported when it is first needed."""
