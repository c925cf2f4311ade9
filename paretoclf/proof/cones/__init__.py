"""Safe bounds of the optimal value of a cone program, from points and multipliers of any solver."""
