"""The map of a quadratic or linear program in two parameters."""
