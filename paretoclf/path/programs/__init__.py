"""Paths of programs: exact ones of quadratic and linear programs, and within eps of any convex problem."""
