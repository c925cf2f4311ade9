"""Homework: values, multipliers, claims and duals that somebody worked out by hand, judged."""
